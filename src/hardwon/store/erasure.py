"""Taking what a memory says out of every table, and then out of every byte of the store's files.

The rows come first, in one transaction with the journal's entry. Then the file is written anew: ``secure_delete`` keeps pages clean
that lose a cell, but not those that SQLite had copied from when it split or balanced them earlier, nor the pages that a longer text
left free (docs/erasure.md has the measurement). At last the log is cut, in which every page lies that was written lately. What is
still to be done is a setting of the store, so that a crash, or a reader that holds the log, delays it and does not lose it.
"""

from __future__ import annotations

import apsw

from hardwon.store.ceiling import log_bytes
from hardwon.store.checksums import insertion, sealed
from hardwon.store.connection import translate, truncate_log
from hardwon.store.rows import to_blob
from hardwon.store.sqlite_vectors import STAMP
from hardwon.store.sqlite_vectors_write import SET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.store.sqlite import SqliteStore

# A setting of the store: what is left to do after an erasure. The file is to be written anew, or only its log to be cut.
PENDING, FILE, LOG = "erasing", "file", "log"
_PATIENCE = 1000  # milliseconds for readers of ours to end: their views are short

_KEEP = insertion("erased") + " ON CONFLICT DO NOTHING"
_UNNAMED = (
    "length(alias) <> 36 OR lower(alias) GLOB '*[^0-9a-f-]*'"  # ids stay, so that what was told stays valid; all else is text
)
_STATEMENTS = (
    "UPDATE memories SET twin = NULL WHERE key = ?",
    "DELETE FROM vectors WHERE memory = ?",
    "DELETE FROM links WHERE source = ?",
    f"DELETE FROM aliases WHERE memory = ? AND ({_UNNAMED})",
    "UPDATE changes SET pull_request = NULL, lines_added = 0, lines_removed = 0, files = '[]', functions = '[]' WHERE memory = ?",
    sealed("changes", "memory = ?"),
    "UPDATE occurrences SET branch = '' WHERE memory = ?",
    sealed("occurrences", "memory = ?"),
)


def erase(connection: apsw.Connection, memory: str, event: int, digests: Sequence[bytes]) -> None:
    """Empty what belongs to a memory whose row is empty already, and keep the digests of what it said; within a transaction."""
    found = connection.execute("SELECT key FROM memories WHERE id = ?", (to_blob(memory),)).get
    for statement in _STATEMENTS:
        connection.execute(statement, (found,))
    for digest in digests:
        connection.execute(_KEEP, (digest, event))
    stamp = connection.execute("SELECT value FROM settings WHERE name = ?", (STAMP,)).get
    if stamp:  # it is made of the vectors that were, and would prove a guess at one; what differs from all others does as well
        connection.execute(SET, (STAMP, connection.execute("SELECT hex(randomblob(32))").get))
    connection.execute(SET, (PENDING, FILE))


def scrub(store: SqliteStore, timeout: float) -> bool:
    """Write the file anew and cut the log; False while a reader holds the log: the next writer tries again.

    VACUUM copies only what is there into fresh pages, through the log, so that a crash leaves the old file or the new one. It needs as
    much room again, and other writers wait.
    """
    lock = store._acquire(timeout)
    try:
        connection = store.current(readonly=False).connection
        truncate_log(connection)
        connection.execute("INSERT INTO search (search) VALUES ('optimize')")
        connection.execute("VACUUM")
        connection.execute(SET, (PENDING, LOG))
        return cut_log(store.path, connection, _PATIENCE)
    except apsw.Error as error:
        raise translate(error, store.path, connection.system_errno, store.access) from error
    finally:
        lock.release()


def cut_log(path: str, connection: apsw.Connection, patience: int = 0) -> bool:
    """Cut the log of a file that was written anew, and note that nothing is left to do; False while a reader holds the log. The caller
    holds the writers' lock."""
    truncate_log(connection, patience)
    if log_bytes(path):
        return False
    connection.execute("DELETE FROM settings WHERE name = ?", (PENDING,))
    return True
