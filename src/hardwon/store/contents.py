"""All that a store holds, row by row: what two copies of one store have to agree in. What is derived and rebuilt is left out."""

from __future__ import annotations

from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import apsw

_TABLES = (
    "settings", "events", "versions", "memories", "anchors", "occurrences", "links", "aliases", "changes", "vectors", "erased",
)  # fmt: skip


# Settings that tell of work that is left to do, and not of what is kept.
_PASSING = ("erasing",)


def contents(connection: apsw.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of each table, in the order of its key."""
    rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in _TABLES}
    rows["settings"] = [row for row in rows["settings"] if row[0] not in _PASSING]
    return rows


def fingerprint(connection: apsw.Connection) -> str:
    """A digest (hex, 128 bits) of all that, to be compared within one version of Hardwon."""
    return blake2b(repr(contents(connection)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
