"""Writes to the SQLite engine, inside the transaction that store/sqlite.py opened."""

from __future__ import annotations

from hardwon.code.names import last_part
from hardwon.store.checksums import insertion, sealed
from hardwon.store.journal import GENESIS, content_digest, event_hash, row_hash, tick
from hardwon.store.rows import (
    COLUMNS,
    decode_lengths,
    decode_postings,
    encode_anchors,
    encode_list,
    encode_postings,
    memory_values,
    to_blob,
    to_text,
)
from hardwon.store.sqlite_read import SqliteReader
from hardwon.store.sqlite_vectors_write import SET, VectorWrites
from hardwon.types import LINKS, RELATIONS, Event, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from hardwon.types import Action, Change, Corpus, Lexical, Memory, Occurrence, Origin

_NAMES = COLUMNS.replace(" ", "").split(",")
_INSERT = f"INSERT INTO memories ({COLUMNS}, twin, row_hash) VALUES ({', '.join('?' * (len(_NAMES) + 2))})"
_UPDATE = (
    f"UPDATE memories SET {', '.join(name + ' = ?' for name in _NAMES)}, twin = coalesce(?, twin), row_hash = ? WHERE key = ?"
)
_MAX_LENGTH = 0xFFFF
_ADD_VERSION = insertion("versions")
_ADD_OCCURRENCE = insertion("occurrences")
_ADD_ALIAS = insertion("aliases") + " ON CONFLICT (alias) DO UPDATE SET memory = excluded.memory, crc = excluded.crc"
_ADD_LINK = insertion("links", "target") + " ON CONFLICT DO NOTHING"
_ADD_CHANGE = insertion("changes")
_ADD_DOCUMENT = insertion("documents")
_ADD_TERM = insertion("terms", "documents")
_SEAL_VERSION = sealed("versions", "memory = ? AND version = ?")
_SEAL_OCCURRENCE = sealed("occurrences", "id = ?")

# Term ids are remembered between the transactions of one process: a bulk ingest meets the same words again and again.
# Bounded, because 80,000 commits know a million words.
_CACHE_LIMIT = 300_000


class SqliteWriter(SqliteReader, VectorWrites):
    """A transaction (see store/base.py for what each call promises)."""

    def __init__(self, connection: apsw.Connection, ids_of: dict[str, int]) -> None:
        super().__init__(connection)
        self._ids_of = ids_of
        self._uses: dict[int, int] = {}
        self._totals: dict[str, int] = {}

    def next_number(self) -> int:
        """A short alias that was never given before."""
        number = int(self.setting("next_number") or 1)
        self.set_setting("next_number", str(number + 1))
        return number

    def put(self, memory: Memory, twin: bytes = b"", lexical: Lexical | None = None) -> None:
        """Insert or replace the current row with its anchors."""
        row = self._one("SELECT key FROM memories WHERE id = ?", (to_blob(memory.id),))
        values = (*memory_values(memory), twin or None, row_hash(memory))
        said = self._says(row[0]) if row and lexical is not None else None
        if row:
            key = row[0]
            self._db.execute(_UPDATE, (*values, key))
            self._db.execute("DELETE FROM anchors WHERE memory = ?", (key,))
        else:
            self._db.execute(_INSERT, values)
            key = self._db.last_insert_rowid()
        for position, anchor in enumerate(memory.anchors):
            self._db.execute(
                "INSERT INTO anchors (memory, position, path, symbol, name, commit_sha, blob, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key, position, anchor.path, anchor.symbol, last_part(anchor.symbol),
                    anchor.commit, anchor.blob, anchor.fingerprint,
                ),
            )  # fmt: skip
        if lexical is not None:
            self._index(key, memory.created_at, lexical)
            if said is not None and said != (memory.text, memory.because, memory.detail):
                self._drop_vectors(key)

    def log(
        self,
        action: Action,
        memory: Memory,
        origin: Origin,
        at: int,
        salt: bytes = b"",
        payload: str = "",
        recorded_at: int | None = None,
    ) -> Event:
        """Append to the journal; with a salt the memory's content becomes a version of its own."""
        replica = self.setting("replica")
        head = self._one(
            "SELECT replica_seq, clock, hash FROM events WHERE replica = ? ORDER BY replica_seq DESC LIMIT 1", (replica,)
        ) or (0, 0, GENESIS)
        replica_seq, previous = head[0] + 1, head[2]
        clock = tick(at, head[1])
        digest = content_digest(memory, salt) if salt else b""
        hashed = event_hash(previous, replica, replica_seq, clock, at, origin, action, memory.id, memory.version, payload, digest)
        self._db.execute(
            "INSERT INTO events (replica, replica_seq, clock, at, who, client, session, tool, action, memory, version, payload, "
            "digest, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                replica, replica_seq, clock, at, origin.who, origin.client, origin.session, origin.tool, action,
                to_blob(memory.id), memory.version, payload, digest, previous, hashed,
            ),
        )  # fmt: skip
        seq = self._db.last_insert_rowid()
        if salt:
            self._add_version(memory, seq, salt, at if recorded_at is None else recorded_at)
        return Event(
            seq, replica, replica_seq, clock, at, origin, action, memory.id, memory.version, payload, digest, previous, hashed
        )

    def _add_version(self, memory: Memory, event: int, salt: bytes, at: int) -> None:
        identifier = to_blob(memory.id)
        superseded = self._db.execute(
            "UPDATE versions SET superseded_at = ? WHERE memory = ? AND superseded_at IS NULL RETURNING version", (at, identifier)
        ).fetchall()
        for (version,) in superseded:
            self._db.execute(_SEAL_VERSION, (identifier, version))
        self._db.execute(
            _ADD_VERSION,
            (
                identifier, memory.version, event, salt, memory.kind, memory.outcome, memory.visibility, memory.valid_from,
                memory.valid_until, memory.expires_at, at, None, memory.text, memory.detail, memory.code, memory.because,
                encode_list(memory.rejected), encode_list(memory.tags), encode_anchors(memory.anchors), memory.metadata,
            ),
        )  # fmt: skip

    def erase_versions(self, memory: str, below: int) -> None:
        """Empty the content of the versions before that number, and destroy their salts."""
        self._db.execute(
            "UPDATE versions SET salt = NULL, text = '', detail = '', code = '', because = '', rejected = '[]', tags = '[]', "
            "anchors = '[]', metadata = '' WHERE memory = ? AND version < ?",
            (to_blob(memory), below),
        )
        self._db.execute(sealed("versions", "memory = ? AND version < ?"), (to_blob(memory), below))

    def erase(self, memory: str, event: int, digests: Sequence[bytes]) -> None:
        """Empty what belongs to a memory whose row is empty, and keep the digests of what it said."""
        from hardwon.store.erasure import erase

        self.erase_versions(memory, 1 << 62)
        erase(self._db, memory, event, digests)

    def occur(self, occurrence: Occurrence, event: int) -> None:
        """Add an occurrence that the event tells of."""
        origin = occurrence.origin
        self._db.execute(
            _ADD_OCCURRENCE,
            (
                self._key_of(occurrence.memory), event, occurrence.at, occurrence.outcome, occurrence.status,
                origin.who, origin.client, origin.session, origin.tool, occurrence.branch, occurrence.commit,
            ),
        )  # fmt: skip

    def _key_of(self, memory: str) -> int | None:
        row = self._one("SELECT key FROM memories WHERE id = ?", (to_blob(memory),))
        return int(row[0]) if row else None

    def settle_occurrences(self, memory: str, statuses: Mapping[int, str]) -> None:
        """Give a memory's occurrences their status, by the sequence of the event that told of each."""
        key = self._key_of(memory)
        for event, status in statuses.items():
            changed = self._rows(
                "UPDATE occurrences SET status = ?1 WHERE event = ?2 AND status <> ?1 AND memory = ?3 RETURNING id",
                (status, event, key),
            )
            for row in changed:
                self._db.execute(_SEAL_OCCURRENCE, row)

    # Names and relations

    def alias(self, name: str, memory: str) -> None:
        """Give a memory another name, or a name another memory."""
        self._db.execute(_ADD_ALIAS, (name, self._key_of(memory)))

    def link(self, source: str, kind: str, target: str) -> None:
        """Relate two memories."""
        self._db.execute(_ADD_LINK, (self._key_of(source), kind, target, self._key_of(target)))

    def unlink(self, source: str, kind: str, target: str) -> None:
        """Take a relation of two memories away."""
        self._db.execute(
            "DELETE FROM links WHERE source = (SELECT key FROM memories WHERE id = ?) AND kind = ? AND reference = ?",
            (to_blob(source), kind, target),
        )

    def drop(self, ids: Sequence[str]) -> list[str]:
        """Remove derived memories, but those that the journal speaks of."""
        gone = []
        kinds = ", ".join(f"'{kind}'" for kind in LINKS)
        for identifier in ids:
            row = self._one(
                "SELECT key FROM memories m WHERE id = ?1 AND number IS NULL AND NOT EXISTS (SELECT 1 FROM events WHERE memory = ?1) "
                f"AND NOT EXISTS (SELECT 1 FROM links WHERE target = m.key AND kind IN ({kinds}))",
                (to_blob(identifier),),
            )
            if row:
                self._unindex(row[0])
                self._drop_vectors(row[0])
                # A relation that another change's message told is open again; one that a memory has, it keeps open as well.
                self._db.execute("DELETE FROM memories WHERE key = ?", (row[0],))
                gone.append(identifier)
        return gone

    # History

    def add_change(self, memory: Memory, change: Change, lexical: Lexical) -> bool:
        """Insert a change that is not journaled; False when its commit is known already."""
        if self._one("SELECT 1 FROM changes WHERE sha = ?", (change.sha,)):
            return False
        self._db.execute(_INSERT, (*memory_values(memory), None, row_hash(memory)))
        key = self._db.last_insert_rowid()
        self._db.execute(
            _ADD_CHANGE,
            (
                key, change.sha, change.pull_request, change.lines_added, change.lines_removed,
                encode_list(change.files), encode_list(change.functions),
            ),
        )  # fmt: skip
        for relation in change.relations:
            self._db.execute(_ADD_LINK, (key, relation.kind, relation.target, None))
        self._index(key, memory.created_at, lexical)
        return True

    def refresh_change(self, memory: Memory, change: Change, lexical: Lexical) -> None:
        """Replace a change's files, functions, sizes and index."""
        self.put(memory, b"", lexical)
        self._db.execute(
            "UPDATE changes SET lines_added = ?, lines_removed = ?, files = ?, functions = ? WHERE sha = ?",
            (change.lines_added, change.lines_removed, encode_list(change.files), encode_list(change.functions), change.sha),
        )
        self._db.execute(sealed("changes", "sha = ?"), (change.sha,))

    def resolve_links(self) -> list[Link]:
        """Tie open references of changes to the one change that each names now, and open those that name several."""
        self._open_ambiguous()
        tied = []
        for source, kind, reference in self._rows("SELECT source, kind, reference FROM links WHERE target IS NULL"):
            target = self._referenced(reference)
            if target is not None and target != source:
                self._db.execute(
                    "UPDATE links SET target = ? WHERE source = ? AND kind = ? AND reference = ?",
                    (target, source, kind, reference),
                )
                ids = {
                    key: to_text(raw)
                    for key, raw in self._rows("SELECT key, id FROM memories WHERE key IN (?, ?)", (source, target))
                }
                tied.append(Link(ids[source], kind, reference, ids[target]))
        return tied

    def _open_ambiguous(self) -> None:
        """What named one change when it was tied may name several now; the order of arrival shall not matter."""
        marks = ", ".join("?" * len(RELATIONS))
        rows = self._rows(f"SELECT source, kind, reference FROM links WHERE target IS NOT NULL AND kind IN ({marks})", RELATIONS)
        self._db.executemany(
            "UPDATE links SET target = NULL WHERE source = ? AND kind = ? AND reference = ?",
            [row for row in rows if self._referenced(row[2]) is None],
        )

    def _referenced(self, reference: str) -> int | None:
        """The one change that is named; before those that no ref reaches any more, the living ones are looked at."""
        if reference.startswith("#"):
            which, values = "c.pull_request = ?", (int(reference[1:]),)
        else:
            which, values = "c.sha >= ? AND c.sha < ?", (reference, reference + "g")  # type: ignore[assignment]
        for status in ("m.status <> 'expired'", "m.status = 'expired'"):
            rows = self._rows(
                f"SELECT c.memory FROM changes c JOIN memories m ON m.key = c.memory WHERE {which} AND {status} LIMIT 2", values
            )
            if rows:
                return rows[0][0] if len(rows) == 1 else None
        return None

    def set_setting(self, name: str, value: str) -> None:
        """Keep a value about the store itself."""
        self._db.execute(SET, (name, value))

    # The index

    def corpus(self) -> Corpus:
        """Size of the index, with what this transaction added."""
        self.flush()
        return super().corpus()

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many memories each term occurs, with what this transaction added."""
        self.flush()
        return super().frequencies(terms)

    def clear_index(self) -> None:
        """Forget everything that is derived for search."""
        self._uses, self._totals = {}, {}
        for table in ("documents", "terms", "corpus"):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("INSERT INTO search (search) VALUES ('delete-all')")
        self._ids_of.clear()
        self._term_ids.clear()

    def _index(self, key: int, at: int, lexical: Lexical) -> None:
        self._unindex(key)
        ids = [self._counted(term) for term in lexical.counts]
        lengths = [min(length, _MAX_LENGTH) for length in lexical.lengths]
        packed = b"".join(length.to_bytes(2, "little") for length in lengths)
        self._db.execute(_ADD_DOCUMENT, (key, at, lexical.size, packed, encode_postings(ids, list(lexical.counts.values()))))
        self._db.execute("INSERT INTO search (rowid, terms) VALUES (?, ?)", (key, " ".join(map(str, ids))))
        self._count_corpus(1, lengths)

    def _unindex(self, key: int) -> None:
        row = self._one("SELECT lengths, postings FROM documents WHERE memory = ?", (key,))
        if not row:
            return
        ids, _ = decode_postings(row[1])
        self._db.execute("INSERT INTO search (search, rowid, terms) VALUES ('delete', ?, ?)", (key, " ".join(map(str, ids))))
        self._db.execute("DELETE FROM documents WHERE memory = ?", (key,))
        for term_id in ids:
            self._uses[term_id] = self._uses.get(term_id, 0) - 1
        self._count_corpus(-1, [-length for length in decode_lengths(row[0])])

    def _counted(self, term: str) -> int:
        """The term's id, with one more use noted; uses are written once a transaction, for common words stand in every memory."""
        term_id = self._ids_of.get(term)
        if term_id is None:
            row = self._one("SELECT id FROM terms WHERE term = ?", (term,))
            if row:
                term_id = int(row[0])
            else:
                self._db.execute(_ADD_TERM, (term, 0))
                term_id = self._db.last_insert_rowid()
            if len(self._ids_of) >= _CACHE_LIMIT:
                self._ids_of.clear()
            self._ids_of[term] = term_id
        self._uses[term_id] = self._uses.get(term_id, 0) + 1
        return term_id

    def _count_corpus(self, documents: int, lengths: list[int]) -> None:
        totals = self._totals
        totals["documents"] = totals.get("documents", 0) + documents
        for field, length in enumerate(lengths):
            totals[str(field)] = totals.get(str(field), 0) + length

    def flush(self) -> None:
        """Write the counts that were gathered; called before the commit and before they are asked for."""
        if not self._totals:
            return
        uses, self._uses = self._uses, {}
        self._db.executemany(
            "UPDATE terms SET documents = documents + ? WHERE id = ?", [(count, key) for key, count in uses.items()]
        )
        dropped = [(key,) for key, count in uses.items() if count < 0]
        if dropped:
            self._db.executemany("DELETE FROM terms WHERE id = ? AND documents = 0", dropped)
            self._ids_of.clear()
            self._term_ids.clear()
        totals, self._totals = self._totals, {}
        self._db.executemany(
            "INSERT INTO corpus (name, total) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET total = total + ?2",
            list(totals.items()),
        )
