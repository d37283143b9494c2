"""A new store from mended rows: what was intact as it was, what was told from elsewhere with a journal entry that vouches for it."""

from __future__ import annotations

from hardwon.store.checksums import COVERED, sealed
from hardwon.store.mending.mend import NIL
from hardwon.store.mending.salvage import shapes, version_of
from hardwon.store.rows import decode_lengths, decode_postings, to_text
from hardwon.store.sqlite_vectors import STAMP
from hardwon.types import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import apsw

    from hardwon.store.mending.mend import Mended, Note
    from hardwon.store.mending.salvage import Row
    from hardwon.store.sqlite import SqliteStore
    from hardwon.store.sqlite_write import SqliteWriter
    from hardwon.types import Origin

# In this order, so that what a row refers to is there before it.
_ORDER = (
    "events", "memories", "anchors", "versions", "occurrences", "links", "aliases", "changes", "vectors", "erased", "terms",
    "documents",
)  # fmt: skip
_SEQUENCE = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events'"


class Writing:
    """Who writes: as which replica, on whose behalf, when (milliseconds), with which randomness."""

    __slots__ = ("at", "entropy", "origin", "replica")

    def __init__(self, replica: str, origin: Origin, at: int, entropy: Callable[[int], bytes]) -> None:
        self.replica, self.origin, self.at, self.entropy = replica, origin, at, entropy


def rebuild(store: SqliteStore, mended: Mended, writing: Writing, names: dict[str, str]) -> list[str]:
    """Fill a store that does not exist yet; the ids of those memories that are not indexed.

    ``names``: settings that have to be right, whatever was salvaged. One transaction, and the journal's own words in it.
    """
    with store.write() as writer:
        connection = store.connection(readonly=False)
        kept = {str(row["name"]): str(row["value"]) for row in mended.tables["settings"]}
        for name, value in {**kept, **names, "replica": writing.replica, STAMP: writing.entropy(16).hex()}.items():
            writer.set_setting(name, value)
        for table in _ORDER:
            _insert(connection, table, mended.tables[table])
        _tell_steps(connection, mended.tables["schema_steps"])
        _number(writer, mended)
        referred = [row["event"] for table in ("versions", "occurrences") for row in mended.tables[table]]
        connection.execute(_SEQUENCE, (max((seq for seq in referred if isinstance(seq, int)), default=0),))
        for note in mended.notes:
            _note(connection, writer, note, writing)
        _index(connection, mended)
        rows: list[Any] = connection.execute("SELECT id FROM memories WHERE key NOT IN (SELECT memory FROM documents)").fetchall()
    return [to_text(raw) for (raw,) in rows]


def _insert(connection: apsw.Connection, table: str, rows: Sequence[Row]) -> None:
    """The rows as they are, their checksums computed anew."""
    if not rows:
        return
    names = [name for name in shapes()[table].names if name != "crc" and name in rows[0]]
    if table in ("vectors", "occurrences"):  # whose own numbers are nobody's business
        names = list(COVERED[table])
    seal = table in COVERED
    marks = [f":{name}" for name in names]
    columns = ", ".join([*names, *(["crc"] if seal else [])])
    covered = [f":{name}" if name in names else "NULL" for name in COVERED.get(table, ())]
    values = ", ".join([*marks, *([f"checksum({', '.join(covered)})"] if seal else [])])
    connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({values})", rows)


def _tell_steps(connection: apsw.Connection, rows: Sequence[Row]) -> None:
    """When and by which version the tables were first made, as far as that is known; the new file has a record of each step already."""
    for row in rows:
        connection.execute("UPDATE schema_steps SET applied_at = :applied_at, made_by = :made_by WHERE step = :step", row)
    connection.execute(sealed("schema_steps", "true"))


def _number(writer: SqliteWriter, mended: Mended) -> None:
    """Numbers go on behind the last that was given, to lost memories as well."""
    given = [row["number"] for row in mended.tables["memories"]] + [lost.number for lost in mended.lost]
    last = max((number for number in given if isinstance(number, int)), default=0)
    writer.set_setting("next_number", str(max(last + 1, int(writer.setting("next_number") or 1))))


def _note(connection: apsw.Connection, writer: SqliteWriter, note: Note, writing: Writing) -> None:
    """An entry of the journal, and the row that it vouches for."""
    content = Memory(to_text(note.memory), None, "fact", None, "", version=_version_of(note))
    salt = b""
    before: list[Any] = []
    if note.version is not None:
        content = version_of({**note.version}).content
        salt = bytes(note.version["salt"] or b"") or (writing.entropy(16) if note.version["event"] is None else b"")
        before = connection.execute("SELECT version, superseded_at FROM versions WHERE memory = ?", (note.memory,)).fetchall()
    event = writer.log("repaired", content, writing.origin, writing.at, salt, note.payload)
    if note.version is not None:
        if salt:
            connection.execute("DELETE FROM versions WHERE memory = ? AND version = ?", (note.memory, content.version))
        _insert(connection, "versions", [{**note.version, "event": event.seq, "salt": salt or None}])
        for version, superseded in before:  # the entry is new, what was believed when is not
            connection.execute(
                "UPDATE versions SET superseded_at = ? WHERE memory = ? AND version = ?", (superseded, note.memory, version)
            )
        connection.execute(sealed("versions", "memory = ?"), (note.memory,))
    if note.erased is not None:
        _insert(connection, "erased", [{**note.erased, "event": event.seq}])
    if note.occurrence is not None:
        _insert(connection, "occurrences", [{**note.occurrence, "event": event.seq}])


def _version_of(note: Note) -> int:
    """The version that a note speaks of, 0 for none."""
    word, _, number = note.payload.rpartition("version ")
    return int(number) if word in ("", "lost ") and number.isdecimal() and note.memory != NIL else 0


def _index(connection: apsw.Connection, mended: Mended) -> None:
    """The full text and the counts, from the entries that are whole."""
    uses: dict[int, int] = {}
    totals: dict[str, int] = {}
    for row in mended.tables["documents"]:
        ids, _ = decode_postings(bytes(row["postings"]))
        connection.execute("INSERT INTO search (rowid, terms) VALUES (?, ?)", (row["memory"], " ".join(map(str, ids))))
        for one in ids:
            uses[one] = uses.get(one, 0) + 1
        totals["documents"] = totals.get("documents", 0) + 1
        for field, length in enumerate(decode_lengths(bytes(row["lengths"]))):
            totals[str(field)] = totals.get(str(field), 0) + length
    connection.execute("UPDATE terms SET documents = 0")
    connection.executemany("UPDATE terms SET documents = ? WHERE id = ?", [(count, one) for one, count in uses.items()])
    connection.execute("DELETE FROM terms WHERE documents = 0")
    connection.executemany("INSERT INTO corpus (name, total) VALUES (?, ?)", list(totals.items()))
