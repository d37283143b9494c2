"""The disk, for every file of ours that SQLite does not write: the spool, marks, sidecars, exports, the registry, what replaces a store.

One object stands for it, so that the proof of durability sees every write, sync and rename in their order (and can refuse any of
them): nothing else in Hardwon opens a file of its own for writing.
"""

from __future__ import annotations

import fcntl
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


# On macOS fsync leaves the data in the drive's own cache, and this does not; no other system has it.
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
_ZEROS = 1 << 16  # bytes at a time


class Disk:
    """The system's calls under the system's names. Each raises OSError as the system does."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """A descriptor; never waits for the other end of a pipe, and is not inherited."""
        return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, mode)

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        """All of ``data`` at ``offset`` bytes from the start."""
        view = memoryview(data)
        while view:
            written = os.pwrite(descriptor, view, offset)
            view, offset = view[written:], offset + written

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut or lengthen the file to ``size`` bytes."""
        os.ftruncate(descriptor, size)

    def allocate(self, descriptor: int, size: int) -> None:
        """Have room for the first ``size`` bytes, so that writing them cannot fail for want of it."""
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
            return
        # macOS has no such call in Python: zeros behind what is there take the blocks as well.
        have = os.fstat(descriptor).st_size
        for at in range(have, size, _ZEROS):
            self.write(descriptor, bytes(min(_ZEROS, size - at)), at)

    def sync(self, descriptor: int) -> None:
        """Return when the file's content and size are on the disk."""
        if _FULL_SYNC is None:
            os.fsync(descriptor)
        else:
            fcntl.fcntl(descriptor, _FULL_SYNC)

    def close(self, descriptor: int) -> None:
        """Let go of a descriptor."""
        os.close(descriptor)

    def replace(self, source: str, target: str) -> None:
        """Give a file the place of another, in one step."""
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Give a file a second name."""
        os.link(source, target)

    def unlink(self, path: str) -> None:
        """Take a name away; nothing happens where there is none."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass

    def make_folder(self, path: str, mode: int = 0o700) -> None:
        """The folder and all above it, where they are missing; on the disk on return, for what is synced inside a folder without a
        name would be lost with it."""
        missing = []
        folder = os.path.abspath(path)
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for folder in reversed(missing):
            self.mkdir(folder, mode)
            try:
                self.sync_folder(os.path.dirname(folder))
            except PermissionError:  # the one above may be entered and written to, but not read: then only its owner can sync it
                pass

    def mkdir(self, path: str, mode: int = 0o700) -> None:
        """One folder; nothing happens where it is already."""
        try:
            os.mkdir(path, mode)
        except FileExistsError:
            if not os.path.isdir(path):
                raise

    def sync_folder(self, path: str) -> None:
        """Return when the folder's entries (new, renamed, removed ones) are on the disk."""
        descriptor = os.open(path or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


disk = Disk()


def use(other: Disk) -> Disk:
    """Have everything written through another disk from now on; the one before. For the proof of durability."""
    global disk
    before, disk = disk, other
    return before


def write_whole(path: str, pieces: Iterable[bytes], *, durable: bool = True) -> int:
    """Write a file beside its place and let it take that as a whole, so that a crash leaves the old one or the new one; its bytes.

    One writer at a time. ``durable``: it is on the disk on return; else only its wholeness is not promised after a power loss, and
    a checksum has to tell. OSError where the system refuses; the old file is then as it was.
    """
    part = path + ".part"
    descriptor = disk.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    size = 0
    try:
        try:
            for piece in pieces:
                disk.write(descriptor, piece, size)
                size += len(piece)
            if durable:
                disk.sync(descriptor)
        finally:
            disk.close(descriptor)
        disk.replace(part, path)
    except BaseException:
        disk.unlink(part)
        raise
    if durable:
        disk.sync_folder(os.path.dirname(path))
    return size


def rewrite(path: str, content: bytes, *, mode: int = 0o644) -> None:
    """Give a file that belongs to people new content in one step, durably, with its permissions and its owner; a link stays one, and its
    target changes. ``mode``: of a file that is made for it, less what the umask takes. OSError where the system refuses; the old file is
    then as it was."""
    target = os.path.realpath(path)
    disk.make_folder(os.path.dirname(target), 0o755)
    status: os.stat_result | None
    try:
        status = os.stat(target)
    except FileNotFoundError:
        status = None
    part = f"{target}.hardwon-{os.getpid()}"
    descriptor = disk.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        try:
            disk.write(descriptor, content, 0)
            _keep_rights(descriptor, status, mode)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
        disk.replace(part, target)
    except BaseException:
        disk.unlink(part)
        raise
    disk.sync_folder(os.path.dirname(target))


def _keep_rights(descriptor: int, status: os.stat_result | None, new: int) -> None:
    if status is None:
        os.fchmod(descriptor, new & ~_umask())
        return
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except PermissionError:  # another's file that our group may write: it is ours from now on, as with any editor
            pass
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
