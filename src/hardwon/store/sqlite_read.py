"""Questions to the SQLite engine. Every call works inside one snapshot that store/sqlite.py opened."""

from __future__ import annotations

from hardwon.store.filters import VALUES, condition
from hardwon.store.rows import (
    COLUMNS,
    VERSION_COLUMNS,
    decode_lengths,
    decode_list,
    find_counts,
    reference_digits,
    to_blob,
    to_event,
    to_memory,
    to_text,
    to_version,
)
from hardwon.store.sqlite_anchors import AnchorReads
from hardwon.store.sqlite_occurrences import OccurrenceReads
from hardwon.store.sqlite_vectors import VectorReads
from hardwon.types import Anchor, Change, Corpus, Document, Event, Filter, Link, Memory, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import apsw

_MEMORY = ", ".join("m." + name.strip() for name in COLUMNS.split(","))
EVENT_COLUMNS = (
    "seq, replica, replica_seq, clock, at, who, client, session, tool, action, memory, version, payload, digest, previous, hash"
)


class SqliteReader(VectorReads, OccurrenceReads, AnchorReads):
    """One consistent view (see store/base.py for what each call promises)."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._term_ids: dict[str, int] = {}

    # Memories

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in this order."""
        return self.memories(self.keys(ids))

    def keys(self, ids: Sequence[str]) -> list[int]:
        """The store's keys of these ids."""
        found = []
        for identifier in ids:
            row = self._one("SELECT key FROM memories WHERE id = ?", (to_blob(identifier),))
            if row:
                found.append(row[0])
        return found

    def memories(self, keys: Sequence[int]) -> list[Memory]:
        """The memories of these keys, in this order."""
        loaded = []
        for key in keys:
            row = self._one(f"SELECT {_MEMORY} FROM memories m WHERE m.key = ?", (key,))
            if row:
                loaded.append(to_memory(row, self._anchors(key)))
        return loaded

    def _anchors(self, key: int) -> tuple[Anchor, ...]:
        rows = self._rows(
            "SELECT path, symbol, commit_sha, blob, fingerprint FROM anchors WHERE memory = ? ORDER BY position", (key,)
        )
        return tuple(Anchor(*row) for row in rows)

    def lookup(self, reference: str) -> list[str]:
        """Ids that a person's reference means; more than one is ambiguous."""
        number, digits = reference_digits(reference)
        found: list[str] = []
        if digits:
            found = self._ids(
                "SELECT m.id FROM changes c JOIN memories m ON m.key = c.memory WHERE c.sha >= ? AND c.sha < ? LIMIT 5",
                (digits, digits + "g"),
            )
        if digits and not found and len(digits) <= 32:
            bounds = (bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f")))
            found = self._ids("SELECT id FROM memories WHERE id BETWEEN ? AND ? LIMIT 5", bounds)
        if not found and number is not None:
            found = self._ids("SELECT id FROM memories WHERE number = ?", (number,))
        return found

    def _ids(self, sql: str, values: tuple[Any, ...]) -> list[str]:
        return [to_text(row[0]) for row in self._rows(sql, values)]

    def twin(self, key: bytes) -> Memory | None:
        """The memory that says the same at the same place."""
        row = self._one(
            "SELECT key FROM memories WHERE twin = ? AND status IN ('active', 'resolved', 'inactive') ORDER BY key DESC LIMIT 1",
            (key,),
        )
        return self.memories([row[0]])[0] if row else None

    def rejected(self) -> list[Memory]:
        """Every memory that a person rejected."""
        return self.memories([row[0] for row in self._rows("SELECT key FROM memories WHERE status = 'rejected' ORDER BY key")])

    def has_erased(self) -> bool:
        """Whether anything was erased."""
        return self._one("SELECT 1 FROM erased LIMIT 1") is not None

    def erased(self, digest: bytes) -> str:
        """The id of the memory whose erased words have this digest."""
        row = self._one("SELECT e.memory FROM erased x JOIN events e ON e.seq = x.event WHERE x.digest = ?", (digest,))
        return to_text(row[0]) if row else ""

    def digests(self) -> list[tuple[bytes, str]]:
        """Every digest of erased words, with the id of the memory whose they were."""
        rows = self._rows("SELECT x.digest, e.memory FROM erased x JOIN events e ON e.seq = x.event ORDER BY x.event, x.digest")
        return [(digest, to_text(raw)) for digest, raw in rows]

    def aliases(self, memory: str) -> list[str]:
        """The other names of a memory, sorted."""
        rows = self._rows(
            "SELECT a.alias FROM aliases a JOIN memories m ON m.key = a.memory WHERE m.id = ? ORDER BY a.alias",
            (to_blob(memory),),
        )
        return [row[0] for row in rows]

    def aliased(self, alias: str) -> str:
        """The id of the memory that has this other name."""
        row = self._one("SELECT m.id FROM aliases a JOIN memories m ON m.key = a.memory WHERE a.alias = ?", (alias,))
        return to_text(row[0]) if row else ""

    def feedback(self) -> dict[int, tuple[int, int]]:
        """How many found it useful and useless, by key."""
        rows = self._rows("SELECT key, useful, useless FROM memories WHERE useful > 0 OR useless > 0")
        return {key: (useful, useless) for key, useful, useless in rows}

    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """What a filter may name, with its number of memories."""
        return self._rows(f"{VALUES[field]} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?", (limit,))

    def find(self, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, newest first."""
        matching, values = condition(where)
        rows = self._rows(
            f"SELECT m.key FROM memories m WHERE {matching} ORDER BY m.created_at DESC, m.id DESC LIMIT ?", (*values, limit)
        )
        return self.memories([row[0] for row in rows])

    def last(self, where: Filter) -> Memory | None:
        """The match that was recorded last."""
        matching, values = condition(where)
        row = self._one(
            f"SELECT m.key FROM memories m WHERE {matching} AND m.number IS NOT NULL ORDER BY m.number DESC LIMIT 1",
            tuple(values),
        )
        return self.memories([row[0]])[0] if row else None

    def ids(self, where: Filter, *, derived: bool) -> list[str]:
        """Ids of the memories that match, oldest first."""
        matching, values = condition(where)
        spoken = (
            "m.number IS NULL AND EXISTS (SELECT 1 FROM events e WHERE e.memory = m.id)" if derived else "m.number IS NOT NULL"
        )
        return self._ids(f"SELECT m.id FROM memories m WHERE {matching} AND {spoken} ORDER BY m.created_at, m.id", tuple(values))

    def count(self, where: Filter) -> int:
        """How many match."""
        matching, values = condition(where)
        return int(self._value(f"SELECT count(*) FROM memories m WHERE {matching}", values))

    def anchored(self, path: str, symbol: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a path or a symbol, newest first."""
        keys: set[int] = set()
        if path:
            keys.update(row[0] for row in self._rows("SELECT memory FROM anchors WHERE path = ? AND path <> ''", (path,)))
        if symbol:
            from hardwon.code.names import last_part, same_symbol

            rows = self._rows("SELECT memory, symbol FROM anchors WHERE name = ? AND name <> ''", (last_part(symbol),))
            keys.update(row[0] for row in rows if same_symbol(row[1], symbol))
        return self._newest(keys, where, limit)

    def of_file(self, path: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a file as a whole, newest first."""
        # That it is not "" has to be said: the index leaves those out, and the planner does not know which path is asked for.
        rows = self._rows("SELECT memory FROM anchors WHERE path = ? AND path <> '' AND symbol = ''", (path,))
        keys = {row[0] for row in rows}
        return self._newest(keys, where, limit)

    def _newest(self, keys: set[int], where: Filter, limit: int) -> list[Memory]:
        if not keys:
            return []
        matching, values = condition(where)
        marks = ", ".join(str(int(key)) for key in keys)
        rows = self._rows(
            f"SELECT m.key FROM memories m WHERE m.key IN ({marks}) AND {matching} ORDER BY m.created_at DESC, m.id DESC LIMIT ?",
            (*values, limit),
        )
        return self.memories([row[0] for row in rows])

    def failed_changes(self, path: str, limit: int, hidden: Sequence[str] = ()) -> list[Memory]:
        """Changes that touched the path ("" means any) and were taken back."""
        unhidden, values = condition(Filter(hidden_commits=tuple(hidden)))
        # What tells of it are relations from later changes: one of them has to be in sight.
        taken_back = (
            "EXISTS (SELECT 1 FROM links l JOIN memories s ON s.key = l.source WHERE l.target = m.key "
            "AND s.kind = 'change' AND s.commit_sha NOT IN (SELECT value FROM json_each(?)))"
            if hidden
            else "1"
        )
        # The planner, without statistics, would walk every change.
        rows = self._rows(
            "SELECT m.key FROM memories m INDEXED BY memories_failed CROSS JOIN changes c ON c.memory = m.key "
            "WHERE m.kind = 'change' AND m.outcome = 'failed' AND m.status = 'active' "
            f"AND (? = '' OR instr(c.files, json_quote(?))) AND {unhidden} AND {taken_back} "
            "ORDER BY m.created_at DESC, m.id DESC LIMIT ?",
            (path, path, *values, *values, limit),
        )
        return self.memories([row[0] for row in rows])

    def change(self, memory: str) -> Change | None:
        """What history says of a change."""
        row = self._one(
            "SELECT c.sha, m.created_at, m.text, m.detail, m.author, m.branch, c.files, c.functions, c.lines_added, "
            "c.lines_removed, c.pull_request FROM changes c JOIN memories m ON m.key = c.memory WHERE m.id = ?",
            (to_blob(memory),),
        )
        if not row:
            return None
        sha, at, subject, body, author, branch, files, functions, added, removed, pull_request = row
        return Change(
            sha=sha, at=at, subject=subject, body=body, author=author, branch=branch, files=decode_list(files),
            functions=decode_list(functions), lines_added=added, lines_removed=removed, pull_request=pull_request,
        )  # fmt: skip

    # Occurrences, versions, events, links

    def versions(self, memory: str) -> list[Version]:
        """Every state of its content, oldest first."""
        rows = self._rows(
            f"SELECT {VERSION_COLUMNS} FROM versions WHERE memory = ? ORDER BY version",
            (to_blob(memory),),
        )
        return [to_version(memory, row) for row in rows]

    def events(self, memory: str = "", after: int = 0, limit: int = -1) -> list[Event]:
        """Journal entries in order of arrival."""
        condition, values = "seq > ?", [after, limit]
        if memory:
            condition, values = "seq > ? AND memory = ?", [after, to_blob(memory), limit]  # type: ignore[list-item]
        rows = self._rows(f"SELECT {EVENT_COLUMNS} FROM events WHERE {condition} ORDER BY seq LIMIT ?", tuple(values))
        return [to_event(row) for row in rows]

    def latest_events(self, limit: int) -> list[Event]:
        """The newest journal entries, newest first."""
        return [to_event(row) for row in self._rows(f"SELECT {EVENT_COLUMNS} FROM events ORDER BY seq DESC LIMIT ?", (limit,))]

    def links(self, memory: str) -> list[Link]:
        """Relations from and to the memory."""
        rows = self._rows(
            "SELECT s.id, l.kind, l.reference, t.id FROM links l JOIN memories s ON s.key = l.source "
            "LEFT JOIN memories t ON t.key = l.target WHERE s.id = ?1 OR t.id = ?1 ORDER BY s.created_at, l.kind, l.reference",
            (to_blob(memory),),
        )
        return [Link(to_text(row[0]), row[1], row[2], to_text(row[3]) if row[3] else None) for row in rows]

    def relations(self, kinds: Sequence[str]) -> list[Link]:
        """Every tied relation of these kinds."""
        marks = ", ".join("?" * len(kinds))
        rows = self._rows(
            "SELECT s.id, l.kind, l.reference, t.id FROM links l JOIN memories s ON s.key = l.source "
            f"JOIN memories t ON t.key = l.target WHERE l.kind IN ({marks}) ORDER BY t.id, s.created_at, s.id",
            tuple(kinds),
        )
        return [Link(to_text(row[0]), row[1], row[2], to_text(row[3])) for row in rows]

    # The index

    def corpus(self) -> Corpus:
        """Size of the index."""
        totals = dict(self._rows("SELECT name, total FROM corpus"))
        documents = totals.pop("documents", 0)
        return Corpus(documents, tuple(totals.get(str(field), 0) for field in range(len(totals))))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many memories each term occurs."""
        found = {}
        for term in terms:
            row = self._one("SELECT id, documents FROM terms WHERE term = ?", (term,))
            if row and row[1]:
                self._term_ids[term] = row[0]
                found[term] = row[1]
        return found

    def _term_id(self, term: str) -> int | None:
        if term not in self._term_ids:
            self.frequencies([term])
        return self._term_ids.get(term)

    def candidates(self, weights: Mapping[str, int], where: Filter, limit: int) -> list[int]:
        """Keys with the greatest sum of weights; one single-term match each, which the index answers without ranking."""
        known = [(self._term_id(term), weight) for term, weight in weights.items()]
        chosen = [(str(term_id), weight) for term_id, weight in known if term_id is not None]
        if not chosen:
            return []
        union = " UNION ALL ".join(
            f"SELECT rowid AS key, {int(weight)} AS weight FROM search WHERE search MATCH ?" for _, weight in chosen
        )
        matching, values = condition(where)
        rows = self._rows(
            f"SELECT m.key FROM (SELECT key, sum(weight) AS weight FROM ({union}) GROUP BY key) f JOIN memories m ON m.key = f.key "
            f"WHERE {matching} ORDER BY f.weight DESC, m.created_at DESC, m.id DESC LIMIT ?",
            (*(term for term, _ in chosen), *values, limit),
        )
        return [row[0] for row in rows]

    def with_term(self, term: str, where: Filter, limit: int) -> list[int]:
        """Keys that hold the term, newest first."""
        term_id = self._term_id(term)
        if term_id is None:
            return []
        matching, values = condition(where)
        rows = self._rows(
            f"SELECT m.key FROM search f JOIN memories m ON m.key = f.rowid WHERE search MATCH ? AND {matching} "
            "ORDER BY m.created_at DESC, m.id DESC LIMIT ?",
            (str(term_id), *values, limit),
        )
        return [row[0] for row in rows]

    def documents(self, keys: Sequence[int], terms: Sequence[str]) -> list[Document]:
        """What the exact score needs of these candidates."""
        wanted = {}
        for term in terms:
            term_id = self._term_id(term)
            if term_id is not None:
                wanted[term_id] = term
        # One statement for all: three hundred look-ups of their own take twice as long.
        marks = ", ".join(str(int(key)) for key in keys)
        rows = self._rows(f"SELECT memory, at, size, lengths, postings FROM documents WHERE memory IN ({marks})")
        found = {
            key: Document(key, at, size, decode_lengths(lengths), find_counts(postings, wanted))
            for key, at, size, lengths, postings in rows
        }
        return [found[key] for key in keys if key in found]

    # The store itself

    def judged_changes(self) -> list[str]:
        """The ids of all changes with an outcome or a reason."""
        return self._ids("SELECT id FROM memories WHERE kind = 'change' AND (outcome IS NOT NULL OR because <> '')", ())

    def known_commits(self) -> set[str]:
        """Hashes of all commits that are already changes here."""
        return {row[0] for row in self._rows("SELECT sha FROM changes")}

    def commits_since(self, key: int) -> list[tuple[int, str]]:
        """Keys and commits of the changes kept after that one."""
        return self._rows("SELECT memory, sha FROM changes WHERE memory > ? ORDER BY memory", (key,))

    def figures(self) -> dict[str, int]:
        """Counts for ``status``."""
        counts = dict(self._rows("SELECT kind, count(*) FROM memories GROUP BY kind ORDER BY kind"))
        for table in ("memories", "events", "versions", "occurrences", "links", "terms"):
            counts[table] = int(self._value(f"SELECT count(*) FROM {table}"))
        return counts

    def setting(self, name: str) -> str:
        """A value that the store keeps about itself."""
        row = self._one("SELECT value FROM settings WHERE name = ?", (name,))
        return row[0] if row else ""

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return list(self._db.execute(sql, values))

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        for row in self._db.execute(sql, values):
            return row
        return None

    def _value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._one(sql, values)[0]
