"""What a damaged store still holds: every row that its own checksum, hash or place in the chain vouches for.

A row is known by its shape (how many values, of which types) and by its checksum, so neither the schema nor the way down a table's tree
has to be whole. Nothing is taken on trust: a row that does not fit its checksum is lost, and named as far as others speak of it.
"""

from __future__ import annotations

import apsw

from hardwon.code.names import last_part
from hardwon.intake.merge import twin_key
from hardwon.store.checksums import COVERED, checksum
from hardwon.store.connection import PLAIN, Access
from hardwon.store.journal import content_digest, event_hash, row_hash
from hardwon.store.mending.pages import TABLE_LEAF, Cell, Pages
from hardwon.store.rows import COLUMNS, VERSION_COLUMNS, to_event, to_memory, to_text, to_version
from hardwon.store.schema import RECORD, STEPS
from hardwon.types import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.types import Event, Memory, Version

    Row = dict[str, Any]

# What is made anew from the rest: the index's statistics, its full text.
DERIVED = ("corpus", "search")
_MEMORY = tuple(COLUMNS.replace(" ", "").split(","))
_VERSION = tuple(VERSION_COLUMNS.replace(" ", "").split(","))
_EVENT = (
    "seq", "replica", "replica_seq", "clock", "at", "who", "client", "session", "tool", "action", "memory", "version", "payload",
    "digest", "previous", "hash",
)  # fmt: skip
# SQLite's own indexes of the memories' ids and numbers, which know those of rows that are gone.
_IDS, _NUMBERS = "sqlite_autoindex_memories_1", "sqlite_autoindex_memories_2"
_TYPES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "TEXT": (str,), "BLOB": (bytes,), "REAL": (float, int)}


# What tells rows apart where their number, which no checksum covers, may be another than was written.
_KEYS = {"occurrences": ("memory", "event", "at")}


class Shape:
    """How the rows of a table look in the file."""

    def __init__(self, connection: apsw.Connection, table: str) -> None:
        columns: list[Any] = connection.execute(
            'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', (table,)
        ).fetchall()
        self.table = table
        self.by_key = not connection.execute("SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", (table,)).get
        ordered = columns if self.by_key else sorted(columns, key=lambda column: (not column[4], column[4] or 0))
        self.names = tuple(column[0] for column in ordered)
        self.key = tuple(name for name, *_, key in sorted(columns, key=lambda column: column[4]) if key)
        self.alias = self.key[0] if self.by_key and len(self.key) == 1 and _is_integer(columns, self.key[0]) else ""
        self._types = tuple(_TYPES[column[1]] for column in ordered)
        self._nullable = tuple(not column[2] for column in ordered)
        self._defaults = {column[0]: 0 if column[1] == "INTEGER" else "" for column in ordered if column[3] is not None}

    def row(self, cell: Cell) -> Row | None:
        """The record as a row of this table; None where it cannot be one. Columns that came later have their default."""
        missing = self.names[len(cell.values) :]
        if len(cell.values) > len(self.names) or any(name not in self._defaults for name in missing):
            return None
        for name, value, kinds, nullable in zip(self.names, cell.values, self._types, self._nullable, strict=False):
            if value is None:
                if not nullable and name != self.alias:
                    return None
            elif type(value) not in kinds:
                return None
        row: Row = dict(zip(self.names, cell.values, strict=False))
        row.update((name, self._defaults[name]) for name in missing)
        if self.alias:
            row[self.alias] = cell.rowid
        return row


def _is_integer(columns: list[Any], name: str) -> bool:
    return any(column[0] == name and column[1] == "INTEGER" for column in columns)


def shapes() -> dict[str, Shape]:
    """The shape of every table that is not derived, as this version's schema makes them."""
    connection = apsw.Connection(":memory:")
    for script in (RECORD, *(script for _, _, script in STEPS)):
        connection.execute(script)
    tables: list[Any] = connection.execute(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
    ).fetchall()
    found = {name: Shape(connection, name) for (name,) in tables if not name.startswith(("sqlite_", *DERIVED))}
    connection.close()
    return found


class Salvage:
    """The intact rows of a store, by table; a row is a mapping from column to value."""

    def __init__(self, tables: dict[str, list[Row]], numbers: dict[bytes, int], keys: dict[bytes, int], unreadable: int) -> None:
        """``numbers`` and ``keys``: what the indexes tell of memories, by id, also of those without a row."""
        self.tables = tables
        self.numbers = numbers
        self.keys = keys
        self.unreadable = unreadable

    def settings(self) -> dict[str, str]:
        """What the store kept about itself."""
        return {str(row["name"]): str(row["value"]) for row in self.tables["settings"]}


def salvage(path: str, access: Access = PLAIN) -> Salvage:
    """Read everything that is intact from a store and its log. Nothing is written; apsw.Error where the file cannot be read at all."""
    pages = Pages(path, access)
    try:
        collected = _Collected()
        for number in range(1, pages.count + 1):
            collected.take(number, *pages.cells(number))
        return collected.salvage(pages)
    finally:
        pages.close()


class _Collected:
    """Rows as they are found, in the order of pages."""

    def __init__(self) -> None:
        self._shapes = shapes()
        self._rows: dict[str, dict[tuple[Any, ...], Row]] = {table: {} for table in self._shapes}
        self._roots: dict[str, int] = {}
        self._pairs: dict[int, list[tuple[Any, Any]]] = {}

    def take(self, number: int, kind: int, cells: list[Cell]) -> None:
        """The rows of one page."""
        for cell in cells:
            values = cell.values
            if kind == TABLE_LEAF and len(values) == 5 and values[0] == "index" and values[1] in (_IDS, _NUMBERS):
                self._roots[str(values[1])] = int(str(values[3]))  # a row of the schema
            if kind != TABLE_LEAF and len(values) == 2:
                self._pairs.setdefault(number, []).append((values[0], values[1]))
            for shape in self._shapes.values():
                if shape.by_key == (kind == TABLE_LEAF) and (row := shape.row(cell)) is not None and _vouched(shape.table, row):
                    key = tuple(row[name] for name in _KEYS.get(shape.table, shape.key)) or (cell.rowid,)
                    # Of two, which only an old page can bring, the one that was emptied: that is for good.
                    if key not in self._rows[shape.table] or is_emptied(shape.table, row):
                        self._rows[shape.table][key] = row
                    break

    def salvage(self, pages: Pages) -> Salvage:
        """What stands, now that all is known: memories need their anchors, versions their events."""
        tables = {table: list(rows.values()) for table, rows in self._rows.items()}
        anchors: dict[Any, list[Row]] = {}
        for row in sorted(tables["anchors"], key=lambda row: (row["memory"], row["position"])):
            anchors.setdefault(row["memory"], []).append(row)
        for row in tables["anchors"]:
            row["name"] = last_part(row["symbol"])
        tables["events"] = _in_order(tables["events"])
        tables["memories"] = [row for row in tables["memories"] if _stands(row, anchors.get(row["key"], []))]
        _number(tables)
        for row in tables["memories"]:
            if row["twin"] is not None:
                row["twin"] = twin_key(memory_of(row, anchors.get(row["key"], [])))
        held = {row["key"] for row in tables["memories"]}
        tables["anchors"] = [row for row in tables["anchors"] if row["memory"] in held]
        digests = {row["seq"]: row["digest"] for row in tables["events"]}
        tables["versions"] = [row for row in tables["versions"] if _is_said(row, digests)]
        known, numbered = self._pairs_of(pages, _IDS), self._pairs_of(pages, _NUMBERS)
        keys = {raw: key for raw, key in known if isinstance(raw, bytes) and isinstance(key, int)}
        by_key = {key: number for number, key in numbered if isinstance(number, int)}
        numbers = {raw: by_key[key] for raw, key in keys.items() if key in by_key}
        return Salvage(tables, numbers, keys, len(pages.unreadable))

    def _pairs_of(self, pages: Pages, index: str) -> Iterator[tuple[Any, Any]]:
        """The entries of one of SQLite's indexes, as far as its pages are known to be its own."""
        root, parents = self._roots.get(index, 0), pages.parents()
        for number, pairs in self._pairs.items():
            page, steps = number, 0
            while parents.get(page) and steps < 20:
                page, steps = parents[page], steps + 1
            if root and page == root:
                yield from pairs


def _vouched(table: str, row: Row) -> bool:
    """Whether a row is what was written, as far as it can tell by itself."""
    if table == "events":
        event = event_of(row)
        right = event_hash(
            event.previous, event.replica, event.replica_seq, event.clock, event.at, event.origin, event.action, event.memory,
            event.version, event.payload, event.digest,
        )  # fmt: skip
        return event.hash == right
    if table in COVERED:
        right_sum = checksum(*(row[name] for name in COVERED[table]))
        return bool(right_sum == row["crc"])
    if table == "memories":
        return len(row["id"]) == 16 and len(row["row_hash"]) == 16
    return True  # anchors: with their memory


def is_emptied(table: str, row: Row) -> bool:
    """Whether the words of a row were taken out for good: of a memory when it was erased, of a version also with a secret."""
    return (table == "memories" and not row["text"]) or (table == "versions" and row["salt"] is None)


def _stands(row: Row, anchors: list[Row]) -> bool:
    try:
        right = row_hash(memory_of(row, anchors))
    except (ValueError, TypeError):  # a list that is none
        return False
    return bool(right == row["row_hash"])


def _in_order(events: list[Row]) -> list[Row]:
    """Entries without those whose number here is not between those before and after it in their chain: nothing else covers it."""
    kept: list[Row] = []
    chains: dict[str, list[Row]] = {}
    for row in sorted(events, key=lambda row: row["replica_seq"]):
        chains.setdefault(row["replica"], []).append(row)
    for chain in chains.values():
        for place, row in enumerate(chain):
            before = chain[place - 1]["seq"] if place else 0
            after = chain[place + 1]["seq"] if place + 1 < len(chain) else row["seq"] + 1
            if before < row["seq"] < after or before >= after:
                kept.append(row)
    return kept


def _number(tables: dict[str, list[Row]]) -> None:
    """Give memories the keys by which rows that have a checksum know them: their own is covered by none."""
    ids = {row["seq"]: row["memory"] for row in tables["events"]}
    right = {ids[row["event"]]: row["memory"] for row in tables["occurrences"] if row["event"] in ids}
    commits = {row["sha"]: row["memory"] for row in tables["changes"]}
    for row in tables["memories"]:
        row["key"] = right.get(row["id"]) or commits.get(row["commit_sha"] if row["kind"] == "change" else "") or row["key"]
    # Two rows of one key cannot be: the one that another row vouches for stays.
    sure = {row["key"] for row in tables["memories"] if row["id"] in right or row["commit_sha"] in commits}
    taken: set[int] = set()
    kept = []
    for row in sorted(tables["memories"], key=lambda row: row["id"] not in right):
        if row["key"] in taken or (row["key"] in sure and row["id"] not in right and row["commit_sha"] not in commits):
            continue
        taken.add(row["key"])
        kept.append(row)
    tables["memories"] = kept


def _is_said(row: Row, digests: dict[Any, Any]) -> bool:
    """Whether a version is what its event tells; one whose event is gone has its checksum only."""
    digest, salt = digests.get(row["event"]), row["salt"]
    try:
        return digest is None or not isinstance(salt, bytes) or content_digest(version_of(row).content, salt) == digest
    except (ValueError, TypeError):
        return False


def event_of(row: Row) -> Event:
    """A row of the journal as an event."""
    return to_event([row[name] for name in _EVENT])


def memory_of(row: Row, anchors: list[Row]) -> Memory:
    """A row of memories with its anchors' rows, in their order."""
    return to_memory(
        [row[name] for name in _MEMORY],
        tuple(Anchor(one["path"], one["symbol"], one["commit_sha"], one["blob"], one["fingerprint"]) for one in anchors),
    )


def version_of(row: Row) -> Version:
    """A row of versions as a version."""
    return to_version(to_text(bytes(row["memory"])), [row[name] for name in _VERSION])
