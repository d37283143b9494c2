"""A checksum in every row that no other hash covers, so that ``verify`` finds a changed bit wherever it lies.

SQLite's own check found 5 % of single bits that were changed in a file. Memories have their row hash, the journal its chain; all other
tables have a column ``crc``: CRC-32 (as a signed number, which SQLite keeps in four bytes) over the columns that are named here. Found
are all changes of up to 32 bits in a row, of longer ones all but one in four billion; who means harm is not kept out, which is what the
chain is for.
"""

from __future__ import annotations

from zlib import crc32

from hardwon.store.journal import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

# What is covered. Left out is what can be told from elsewhere: row numbers (their order is SQLite's to check), counts of uses, and the
# target of a link, which its reference names.
COVERED: dict[str, tuple[str, ...]] = {
    "settings": ("name", "value"),
    "versions": (
        "memory", "version", "event", "salt", "kind", "outcome", "visibility", "valid_from", "valid_until", "expires_at",
        "recorded_at", "superseded_at", "text", "detail", "code", "because", "rejected", "tags", "anchors", "metadata",
    ),
    "occurrences": (
        "memory", "event", "at", "outcome", "status", "who", "client", "session", "tool", "branch", "commit_sha",
    ),
    "links": ("source", "kind", "reference"),
    "aliases": ("alias", "memory"),
    "changes": ("memory", "sha", "pull_request", "lines_added", "lines_removed", "files", "functions"),
    "terms": ("term",),
    "documents": ("memory", "at", "size", "lengths", "postings"),
    "vectors": ("memory", "model", "digest", "vector"),
    "erased": ("digest", "event"),
    "schema_steps": ("step", "name", "applied_at", "made_by"),
}  # fmt: skip


def checksum(*values: str | int | float | bytes | None) -> int:
    """CRC-32 of the values in a row's order, from -2^31 to 2^31 - 1."""
    found = crc32(canonical(values))
    return found - (1 << 32) if found >= 1 << 31 else found


def register(connection: apsw.Connection) -> None:
    """Let statements of this connection call ``checksum(…)``."""
    connection.create_scalar_function("checksum", checksum, deterministic=True)


def insertion(table: str, *also: str) -> str:
    """The statement that adds a row: bound are the values of the covered columns in their order, then those of ``also``."""
    columns = COVERED[table] + also
    marks = [f"?{number}" for number in range(1, len(columns) + 1)]
    covered = ", ".join(marks[: len(COVERED[table])])
    return f"INSERT INTO {table} ({', '.join(columns)}, crc) VALUES ({', '.join(marks)}, checksum({covered}))"


def of(table: str) -> str:
    """The expression that a row's ``crc`` has to equal."""
    return f"checksum({', '.join(COVERED[table])})"


def sealed(table: str, where: str) -> str:
    """The statement that brings the checksums of changed rows up to date."""
    return f"UPDATE {table} SET crc = {of(table)} WHERE {where}"
