"""Copies of a store: from before an upgrade, kept by a repair or a restore, backups, leftovers of a process that was killed.

They were made so that nothing is lost, and nobody but a person deletes them; after an erasure it is told which of them still hold
what was erased.
"""

from __future__ import annotations

import os

import apsw

from hardwon.store.beside import is_beside, unfinished
from hardwon.store.code import CODE
from hardwon.store.rows import to_blob
from hardwon.store.sessions import WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Ends of names that hold no memory: the log and its index, locks, the spool that the next write empties, notes, the index of the code and
# the file of sessions (whatever these had of memories went with the erasure).
_OTHERS = ("-wal", "-shm", "-journal", ".lock", ".spool", ".swap", ".key", CODE, WORK)


def holding(path: str, backups: str, ids: Sequence[str]) -> list[str]:
    """Those copies beside the store, and in the folder of its backups ("" for none), that hold words of one of the memories, or of
    which that cannot be told (encrypted, damaged, unfinished)."""
    return [name for name in (*_beside(path), *_all_of(backups)) if _may_hold(name, ids)]


def _all_of(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.endswith(_OTHERS)] if folder else []
    except (FileNotFoundError, NotADirectoryError):
        return []


def _beside(path: str) -> Iterator[str]:
    folder, base = os.path.split(path)
    if not path or not os.path.isdir(folder):
        return
    for name in sorted(os.listdir(folder)):
        ours = name.startswith((base + ".", unfinished(path))) and not name.endswith(_OTHERS)
        if ours and not is_beside(path, name):
            yield os.path.join(folder, name)


def _may_hold(name: str, ids: Sequence[str]) -> bool:
    if not os.path.isfile(name) or os.path.getsize(name) == 0:
        return False
    if os.path.exists(name + "-wal") and os.path.getsize(name + "-wal"):
        return True
    quoted = name.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        copy = apsw.Connection(f"file:{quoted}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            return any(_says(copy, one) for one in ids)
        finally:
            copy.close()
    except apsw.Error:
        return True


def _says(copy: apsw.Connection, memory: str) -> bool:
    raw = to_blob(memory)
    tables = (("memories", "id"), ("versions", "memory"))
    return any(copy.execute(f"SELECT 1 FROM {table} WHERE {column} = ? AND text <> ''", (raw,)).get for table, column in tables)
