"""The log's ceiling: when it is reached, who hinders that the log is moved into the file, and which of our own reads give way.

A commit appends to the log; a checkpoint moves it into the file, but never over what an open snapshot may still look at. So one reader
that stays makes the log grow with every write. Ours are cut into short views, or end with Busy (``give_way``). Of any other, however
it is stuck, the log is kept from growing without end: the next transaction is refused (``make_room``), and says who is reading.
Nothing is lost by it, and writing goes on by itself once that reader is gone.
"""

from __future__ import annotations

import os

from hardwon.errors import Busy
from hardwon.store.connection import LOG_GIVE_WAY, LOG_REFUSED, truncate_log
from hardwon.store.holders import snapshots, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


_GROWN = 64 << 10  # bytes
_PATIENCE = 1000  # milliseconds that a transaction waits, at the ceiling, for readers of ours: their views are shorter


def log_bytes(path: str) -> int:
    """Size of a store's log, 0 without one."""
    try:
        return os.path.getsize(path + "-wal")
    except OSError:
        return 0


def readers(path: str) -> list[tuple[int, str]]:
    """Processes that hold a snapshot of the store, (id, name), by id; empty where the system does not tell."""
    return snapshots(path + "-shm")


def is_full(path: str) -> bool:
    """Whether the log is so large that the next transaction has to move it first."""
    return log_bytes(path) > LOG_REFUSED


def make_room(connection: apsw.Connection, path: str, timeout: float) -> None:
    """To be called before a transaction begins, with the writers' lock: nothing while the log is small; else it is moved into the file.

    Busy where a reader hinders that for longer than ``timeout`` seconds or a second; the engine's error where the disk does.
    """
    if not is_full(path):
        return
    truncate_log(connection, min(_PATIENCE, int(1000 * timeout)))
    if not is_full(path):
        return
    who = told(readers(path), "a reader")
    raise Busy(
        f"the log {path}-wal is full ({log_bytes(path) >> 20} MB): {who} has not let go of what it reads; nothing is lost",
        remedy=f"end {who}; writing then goes on by itself",
    )


def give_way(path: str, seen: int) -> int:
    """To be called by a read that has lasted, with what it returned the last time (-1 at first): Busy where half of the log is filled
    and writers go on. A large log that does not grow is no reason."""
    size = log_bytes(path)
    if seen < 0:
        return size
    if size > max(LOG_GIVE_WAY, seen + _GROWN):
        raise Busy(
            "the memory is written to faster than this can be read in one piece", remedy="try again when less is written to it"
        )
    return min(size, seen)
