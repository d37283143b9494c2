"""The file as SQLite sees it: its pages, indexes and references, and whether its tables are those that we make."""

from __future__ import annotations

import re

import apsw

from hardwon.store.checks.remedies import KEEP
from hardwon.store.connection import SCHEMA
from hardwon.store.schema import RECORD, STEPS
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 20
_TREE = re.compile(r"Tree (\d+)(?: page (\d+))?")
# What FTS5 makes for itself: its wording is SQLite's, of whichever version made the store.
_SHADOW = "search_%"


def integrity(connection: apsw.Connection) -> Iterator[Finding]:
    """SQLite's own check of each page, each index against its table, and the full-text index's structure."""
    names = dict(connection.execute("SELECT rootpage, name FROM sqlite_schema WHERE rootpage > 0"))
    for (text,) in connection.execute(f"PRAGMA integrity_check({MOST})"):
        if text == "ok":
            continue
        for line in text.splitlines():
            if not line.startswith("***"):
                yield Finding("error", line, _place(line, names), KEEP)


def _place(line: str, names: dict[int, str]) -> str:
    """Which page of which table or index a line of the check speaks of."""
    found = _TREE.match(line)
    if not found:
        return "file"
    page = found[2] or found[1]
    return f"page {page} ({names.get(int(found[1]), 'sqlite_schema')})"


def schema(connection: apsw.Connection) -> Iterator[Finding]:
    """The tables, indexes and steps are those of a store made now: a statement changed by one letter makes other indexes."""
    fresh = apsw.Connection(":memory:")
    try:
        for statement in (RECORD, *(script for _, _, script in STEPS)):
            fresh.execute(statement)
        ours, theirs = _statements(fresh), _statements(connection)
    finally:
        fresh.close()
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            what = "is missing" if name not in theirs else "is not of ours" if name not in ours else "is not what was made"
            yield Finding("error", f"{name} {what}", "sqlite_schema", KEEP)
    made = connection.execute("SELECT step, name FROM schema_steps ORDER BY step").fetchall()
    if made != [(number, name) for number, name, _ in STEPS if number <= SCHEMA]:
        yield Finding("error", "the steps that made the tables are not what was written", "schema_steps", KEEP)


def _statements(connection: apsw.Connection) -> dict[str, str | None]:
    found = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE ? AND name NOT LIKE 'sqlite_autoindex%' AND name NOT LIKE 'sqlite_stat%'",
        (_SHADOW,),
    )
    return dict(found)


def references(connection: apsw.Connection) -> Iterator[Finding]:
    """Every row that speaks of another finds it."""
    for number, (table, rowid, parent, _) in enumerate(connection.execute("PRAGMA foreign_key_check")):
        if number == MOST:
            return
        row = f"row {rowid}" if rowid is not None else "a row"
        yield Finding("error", f"{row} points to a missing row of {parent}", table, KEEP)
