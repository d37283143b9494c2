"""A file that is written beside its place and takes it as a whole, so that a crash leaves the old one or the new one."""

from __future__ import annotations

import os
import stat

from hardwon.errors import DiskFull, HardwonError, InvalidInput, ReadOnly, StoreError
from hardwon.importers.source import made_by_us, open_file
from hardwon.store import files
from hardwon.store.connection import NO_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.importers.source import Source

_NO_RIGHT = {1, 13, 30}  # EPERM, EACCES, EROFS
_NO_PLACE = {2, 20, 22, 36, 40}  # ENOENT, ENOTDIR, EINVAL, ENAMETOOLONG, ELOOP
_ELSEWHERE = "name another file, or - for standard output"
# What an export without a memory may have: a header.
_EMPTY = 64
_BUFFER = 1 << 16  # bytes


class Replacement:
    """A place for an export. ``home`` is Hardwon's own folder, where nothing is to be put or replaced.

    Without ``force`` only an export of ours is replaced, and never by an empty one; a link is replaced itself, not what it leads
    to, and only with ``force``.
    """

    def __init__(self, path: str, home: str, *, force: bool = False) -> None:
        self._path = path
        self._home = home
        self._force = force

    def write(self, pieces: Iterable[str]) -> int:
        """Each piece as a line, then the new file in the place of the old one, durable on return; its bytes.

        InvalidInput for a place that is none or is not to be taken, DiskFull, ReadOnly or StoreError when the system refuses.
        """
        held = self._held()
        folder = os.path.dirname(os.path.abspath(self._path))
        part = os.path.join(folder, f".hardwon-{os.urandom(8).hex()}.part")
        disk = files.disk
        try:
            descriptor = disk.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except OSError as error:
            raise self._failed(error) from error
        try:
            size = _fill(descriptor, pieces)
            if held > _EMPTY and size <= _EMPTY and not self._force:
                raise InvalidInput(
                    f"{self._path} holds memories, and this export has none", field="file",
                    remedy="see `hardwon status` for which memory this is; --force replaces it all the same",
                )  # fmt: skip
            disk.replace(part, self._path)
            disk.sync_folder(folder)
        except BaseException as error:
            disk.unlink(part)
            if isinstance(error, OSError):
                raise self._failed(error) from error
            raise
        return size

    def _held(self) -> int:
        """The bytes that stand in the place now; InvalidInput where they are not ours to replace."""
        try:
            # Before anything is opened: closing it again would drop the locks that this process has on a store.
            if (os.path.realpath(os.path.dirname(self._path)) + os.sep).startswith(os.path.realpath(self._home) + os.sep):
                raise self._unusable("lies in Hardwon's own folder")
            state = os.lstat(self._path)
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise self._unusable(f"cannot be written: {getattr(error, 'strerror', None) or error}") from error
        if stat.S_ISLNK(state.st_mode):
            if self._force:
                return 0
            raise self._unusable("is a link; --force replaces the link itself")
        if not stat.S_ISREG(state.st_mode):
            raise self._unusable("is a folder" if stat.S_ISDIR(state.st_mode) else "is no regular file")
        source = self._opened()
        source.close()
        if source.head.startswith(b"SQLite format 3\0"):
            raise self._unusable("is a database")
        if source.head and not self._force and not made_by_us(source.head):
            raise InvalidInput(
                f"{self._path} is not an export of ours", field="file", remedy="name another file, or replace it with --force"
            )
        return state.st_size

    def _opened(self) -> Source:
        try:
            return open_file(self._path)
        except InvalidInput as error:
            raise self._unusable("cannot be read, and may be no export of ours") from error

    def _failed(self, error: OSError) -> HardwonError:
        what = f"cannot be written: {error.strerror or error}"
        if error.errno in _NO_PLACE:
            return self._unusable(what)
        kind = DiskFull if error.errno in NO_SPACE else ReadOnly if error.errno in _NO_RIGHT else StoreError
        return kind(f"{self._path} {what}", field="file", remedy=_ELSEWHERE)

    def _unusable(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self._path[:200]!r} {what}", field="file", remedy=_ELSEWHERE)


def _fill(descriptor: int, pieces: Iterable[str]) -> int:
    """Each piece as a line, synced; the descriptor is closed. Gathered, for a call to the system a line would double the time."""
    disk = files.disk
    size, waiting, held = 0, [], 0
    try:
        for piece in pieces:
            line = (piece + "\n").encode()
            waiting.append(line)
            held += len(line)
            if held >= _BUFFER:
                disk.write(descriptor, b"".join(waiting), size)
                size, waiting, held = size + held, [], 0
        disk.write(descriptor, b"".join(waiting), size)
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)
    return size + held
