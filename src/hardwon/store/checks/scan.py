"""Reading a table although parts of it cannot be read: what lies before and behind a damaged page, and where the gap is."""

from __future__ import annotations

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# What a damaged page or cell makes of a read: the engine's words for it (SQLError where a table's own description or the settings of
# the full-text index are broken), or values that are not what their column holds (bytes that are no UTF-8, a blob where a text should be).
# BUSY, IOERR and NOMEM are not among them: they say nothing of the file.
UNREADABLE = (
    apsw.CorruptError, apsw.NotADBError, apsw.MismatchError, apsw.SQLError, ValueError, TypeError, AttributeError, IndexError,
)  # fmt: skip
_FAR = 1 << 61


class Gaps:
    """Where rows could not be read: ``found`` holds (the last key before, the first key behind or None for the table's end)."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, Any]] = []


def by_rowid(connection: apsw.Connection, table: str, key: str, columns: str, gaps: Gaps) -> Iterator[tuple[Any, ...]]:
    """(key, *columns) of a table whose rows have a number, in its order; ``key`` is that column's name.

    The reader must not write meanwhile. Behind a gap it goes on with the first row that can be read again.
    """
    rows = f"SELECT {key}, {columns} FROM {table} NOT INDEXED WHERE {key} > ? ORDER BY {key}"
    last = -_FAR
    while True:
        try:
            for row in connection.execute(rows, (last,)):
                last = row[0]
                yield row
            return
        except UNREADABLE:
            behind = _behind(connection, rows + " LIMIT 1", last)
        gaps.found.append((last, behind))
        if behind is None:
            return
        last = behind - 1


def _behind(connection: apsw.Connection, row: str, last: int) -> int | None:
    """The first key that can be read behind a gap that begins after ``last``; None when there is none.

    One key after the other, then in steps of a part of the way so far, so that a good page between two bad ones is not stepped over;
    then halves between the last that failed and the first that did not. At most some 3,000 reads, a tenth of a second, for any gap.
    """

    def first(after: int) -> int | bool | None:
        """The key of the row after; None at the end, False where it cannot be read."""
        try:
            found = connection.execute(row, (after,)).fetchone()
        except UNREADABLE:
            return False
        return found[0] if found else None

    if last == -_FAR:
        last = 0  # row numbers begin with 1
    low, way = last, 1
    while (found := first(last + way)) is False:
        if way >= _FAR:
            return None
        low = last + way
        way += max(1, way // 64)
    high = last + way
    while low + 1 < high:
        middle = (low + high) // 2
        seen = first(middle)
        if seen is False:
            low = middle
        else:
            found, high = seen, middle
    return found


def by_key(connection: apsw.Connection, table: str, keys: str, columns: str, gaps: Gaps) -> Iterator[tuple[Any, ...]]:
    """(columns) of a table without row numbers, by its primary key (``keys``: one or more names): from its beginning up to a gap, then
    from its end back to one. What lies between two gaps is not seen; the gap tells None for both of its sides."""
    names = [name.strip() for name in keys.split(",")]
    seen = 0
    for order in ("", " DESC"):
        ordered = ", ".join(name + order for name in names)
        try:
            for row in connection.execute(f"SELECT {columns} FROM {table} NOT INDEXED ORDER BY {ordered}"):
                seen += not order
                yield row
            return
        except UNREADABLE:
            if not order:
                gaps.found.append((None, None))
