"""Every row against the hash or the checksum that was written with it, and what a row says of another against that one."""

from __future__ import annotations

import apsw

from hardwon.code.names import last_part
from hardwon.store.checks.remedies import KEEP, REBUILD
from hardwon.store.checks.scan import UNREADABLE, Gaps, by_key, by_rowid
from hardwon.store.checksums import COVERED, of
from hardwon.store.journal import row_hash
from hardwon.store.rows import encode_list, to_text
from hardwon.store.sqlite_read import SqliteReader
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_NAMED = 5
TABLES = tuple(COVERED)
_DERIVED = {"terms", "documents"}
# Tables whose rows are numbered, with that column, and the one of the memory that a row belongs to ("" for none).
_NUMBERED = {
    "occurrences": ("id", "memory"), "changes": ("memory", "memory"), "terms": ("id", ""), "documents": ("memory", "memory"),
    "vectors": ("rowid", "memory"), "schema_steps": ("step", "step"),
}  # fmt: skip
# Of the others the primary key, and the column that names what a row is about.
_KEYED = {
    "settings": ("name", "name"), "versions": ("memory, version", "memory"), "links": ("source, kind, reference", "source"),
    "aliases": ("alias", "memory"), "erased": ("digest", "digest"),
}  # fmt: skip


def name_of(connection: apsw.Connection, memory: Any) -> str:
    """How a finding calls a memory, by its id (16 bytes) or its key; as much of its name as can still be read."""
    column = "id" if isinstance(memory, bytes) else "key"
    try:
        row = connection.execute(f"SELECT id, number FROM memories WHERE {column} = ?", (memory,)).fetchone()
        raw, number = row or (memory, None)
        name = to_text(raw) if isinstance(raw, bytes) and len(raw) == 16 else f"of row {raw}"
    except UNREADABLE:
        name, number = to_text(memory) if isinstance(memory, bytes) and len(memory) == 16 else f"of row {memory}", None
    return f"memory {name}" if number is None else f"memory #{number} ({name})"


def _named(connection: apsw.Connection, wrong: list[Any], *, memories: bool) -> str:
    """The first of the things that are affected, and how many more."""
    distinct = list(dict.fromkeys(wrong))
    names = [name_of(connection, item) if memories else _plain(item) for item in distinct[:_NAMED]]
    more = len(distinct) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _plain(item: Any) -> str:
    return item.hex() if isinstance(item, bytes) else f"{item}"


def memories(connection: apsw.Connection) -> Iterator[Finding]:
    """Every memory's current row with its anchors. Ids come from their index, so that those of lost rows are told as well."""
    reader = SqliteReader(connection)
    lost: list[Any] = []
    for raw, key in _identified(connection):
        try:
            right = _is_right(connection, reader, key)
        except (apsw.CorruptError, apsw.NotADBError):
            lost.append(raw)
            continue
        except UNREADABLE:
            right = False
        if not right:
            yield Finding("error", "the row is not what was written", name_of(connection, raw), KEEP)
    if lost:
        what = "1 memory cannot be read" if len(lost) == 1 else f"{len(lost):,} memories cannot be read"
        yield Finding("error", what, _named(connection, lost, memories=True), KEEP)


def _is_right(connection: apsw.Connection, reader: SqliteReader, key: int) -> bool:
    found = reader.memories([key])
    written = connection.execute("SELECT row_hash, tags, rejected FROM memories WHERE key = ?", (key,)).fetchone()
    # Reading a list takes its brackets for granted, so the text is compared as well.
    return bool(found) and written == (row_hash(found[0]), encode_list(found[0].tags), encode_list(found[0].rejected))


def _identified(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """(id, key) of each memory, from the index of ids alone; from the table where that is damaged."""
    try:
        return connection.execute("SELECT id, key FROM memories").fetchall()
    except UNREADABLE:
        gaps = Gaps()
        return [(raw, key) for key, raw in by_rowid(connection, "memories", "key", "id", gaps)]


def anchors(connection: apsw.Connection) -> Iterator[Finding]:
    """What an anchor is found by, which its memory's hash does not cover: the short name, and a position without gaps."""
    wrong: list[Any] = []
    gaps = Gaps()
    expected: dict[int, int] = {}
    for memory, position, symbol, name in by_key(
        connection, "anchors", "memory, position", "memory, position, symbol, name", gaps
    ):
        try:
            right = last_part(symbol) == name and (bool(gaps.found) or position == expected.get(memory, 0))
        except UNREADABLE:
            right = False
        expected[memory] = position + 1
        if not right:
            wrong.append(memory)
    if wrong:
        yield Finding("error", f"{len(wrong):,} anchors are not what was written", _named(connection, wrong, memories=True), KEEP)
    if gaps.found:
        yield Finding("error", "some anchors cannot be read", "anchors", KEEP)


def targets(connection: apsw.Connection) -> Iterator[Finding]:
    """Every link leads to what it names: a memory's id, a commit, or the number of a pull request."""
    wrong = connection.execute(
        "SELECT l.source FROM links l JOIN memories m ON m.key = l.target LEFT JOIN changes c ON c.memory = l.target WHERE NOT ("
        "replace(l.reference, '-', '') = lower(hex(m.id)) OR ifnull(substr(c.sha, 1, length(l.reference)) = l.reference, 0) "
        "OR ifnull('#' || c.pull_request = l.reference, 0))"
    ).fetchall()
    if wrong:
        where = _named(connection, [source for (source,) in wrong], memories=True)
        yield Finding("error", f"{len(wrong):,} links lead elsewhere than they say", where, KEEP)


def checksums_of(table: str) -> Callable[[apsw.Connection], Iterator[Finding]]:
    """The check of one table's checksums."""

    def check(connection: apsw.Connection) -> Iterator[Finding]:
        remedy = REBUILD if table in _DERIVED else KEEP
        gaps = Gaps()
        about = (_NUMBERED.get(table) or _KEYED[table])[1]
        wrong = [row[-3] for row in _summed(connection, table, gaps) if row[-2] != row[-1]]
        if wrong:
            rows = "1 row is" if len(wrong) == 1 else f"{len(wrong):,} rows are"
            which = _named(connection, wrong, memories=about in ("memory", "source"))
            yield Finding("error", f"{rows} not what was written", f"{table} of {which}" if about else table, remedy)
        if gaps.found:
            yield Finding("error", f"rows cannot be read{_told(gaps)}", table, KEEP)

    return check


def _summed(connection: apsw.Connection, table: str, gaps: Gaps) -> Iterator[tuple[Any, ...]]:
    """Rows that end with what they are about, their checksum, and the one that they should have."""
    if table in _NUMBERED:
        key, about = _NUMBERED[table]
        return by_rowid(connection, table, key, f"{about or key}, crc, {of(table)}", gaps)
    keys, about = _KEYED[table]
    return by_key(connection, table, keys, f"{about}, crc, {of(table)}", gaps)


def _told(gaps: Gaps) -> str:
    numbered = ((max(before, 0), "the end" if behind is None else behind) for before, behind in gaps.found if before is not None)
    places = [f"{before} and {behind}" for before, behind in numbered]
    return f": between {', between '.join(places[:_NAMED])}" if places else ""
