"""The bytes of a store's files as they lie on the disk, read through SQLite's own VFS: a descriptor of Python's, closed, would take the
locks away that this process has on the file."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Damaged, StoreError
from hardwon.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_ONCE = 1 << 20  # bytes
_TRIES = 3


def pieces(path: str, vfs: str = "") -> Iterator[bytes]:
    """A database or its log, from its first byte to its last; StoreError where the disk refuses to read it, after some tries, Damaged
    for what is no file: a device has no end, and a pipe would be waited on."""
    if not os.path.isfile(path):
        raise Damaged(f"{path} is not a file", remedy="move it away, and put the store back from a backup")
    kind = apsw.SQLITE_OPEN_WAL if path.endswith("-wal") else apsw.SQLITE_OPEN_MAIN_DB
    try:
        file = apsw.VFSFile(vfs or "unix", path, [kind | apsw.SQLITE_OPEN_READONLY, 0])
    except apsw.Error as error:
        raise StoreError(f"{path} cannot be opened: {error}", remedy="check its owner and mode") from error
    try:
        size = file.xFileSize()
        for offset in range(0, size, _AT_ONCE):
            yield _read(file, min(_AT_ONCE, size - offset), offset, path)
    finally:
        file.xClose()


def copy(path: str, target: str, vfs: str = "") -> None:
    """Those bytes in a file of their own; not synced, for work only."""
    files.write_whole(target, pieces(path, vfs), durable=False)


def _read(file: apsw.VFSFile, size: int, offset: int, path: str) -> bytes:
    for left in reversed(range(_TRIES)):
        try:
            return bytes(file.xRead(size, offset))
        except apsw.IOError as error:
            if not left:
                what = f"the disk refuses to read {path} at byte {offset:,}"
                raise StoreError(
                    what, remedy="copy the file to another disk with a tool for failing ones, and repair it there"
                ) from error
    raise AssertionError("unreachable")
