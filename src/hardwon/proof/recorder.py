"""Everything that is written below one folder, in its order: by SQLite through a VFS of ours, by our own code through a disk of ours.

Not recorded: ``-shm`` (made anew at every first opening), temporary files without a name, and locks, which hold nothing.
"""

from __future__ import annotations

import os

import apsw

from hardwon.store.files import Disk
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Event(Value):
    """One change of the disk. ``kind`` and what goes with it:

    - write: ``data`` at ``at`` of ``file``; truncate, allocate: ``file`` to ``at`` bytes; sync: ``file``;
    - enter: ``folder`` gets the entry ``name`` for ``file`` (a new file, a link, the target of a rename); ``old`` is the name that a
      rename takes away in the same step, "" for none;
    - remove: ``folder`` loses ``name``;
    - folder: the folder ``name`` appears in ``folder``; syncfolder: ``folder``.

    Files are numbers, for a name may change hands; folders are absolute paths, for none is ever renamed.
    """

    kind: str
    file: int = -1
    folder: str = ""
    name: str = ""
    old: str = ""
    at: int = 0
    data: bytes = b""


class Recording:
    """The list of events, which folders and files lay there before (``base``: number and content), and which file each path names now.

    ``lies``: a test of the event's kind and path for syncs that are not to count: a disk that acknowledges what it has not done.
    """

    def __init__(self, root: str, lies: Callable[[str, str], bool] = lambda kind, path: False) -> None:
        self.root = os.path.realpath(root)
        self.events: list[Event] = []
        self._lies = lies
        self._files: dict[str, int] = {}
        self._next = 0
        self.base: dict[str, tuple[int, bytes]] = {}
        self.folders: list[str] = []
        for folder, _, names in os.walk(self.root):
            self.folders.append(folder)
            for name in names:
                path = os.path.join(folder, name)
                if self.is_seen(path):
                    with open(path, "rb") as file:
                        self.base[path] = (self._number(path), file.read())

    def is_seen(self, path: str) -> bool:
        """Whether a path is one that is recorded."""
        return path.startswith(self.root + os.sep) and not path.endswith(("-shm", ".lock"))

    def file(self, path: str) -> int:
        """The number of the file that the path names; one that just appeared is entered into its folder."""
        number = self._files.get(path)
        if number is None:
            number = self._number(path)
            self.add(Event("enter", number, os.path.dirname(path), os.path.basename(path)))
        return number

    def _number(self, path: str) -> int:
        number = self._files[path] = self._next
        self._next += 1
        return number

    def add(self, event: Event) -> None:
        """What happened, at the end of the list."""
        self.events.append(event)

    def sync(self, file: int, path: str) -> None:
        """A file's content is on the disk, unless the disk lies."""
        if not self._lies("sync", path):
            self.add(Event("sync", file))

    def sync_folder(self, path: str) -> None:
        """A folder's entries are on the disk, unless the disk lies."""
        if not self._lies("syncfolder", path):
            self.add(Event("syncfolder", folder=path))

    def rename(self, source: str, target: str) -> None:
        """One name becomes another, of the same folder: across folders it is not one step on every disk, so we never do it."""
        folder, old = os.path.split(source)
        if os.path.dirname(target) != folder:
            raise ValueError(f"{source} is renamed into another folder")
        self._files[target] = self._files.pop(source)
        self.add(Event("enter", self._files[target], folder, os.path.basename(target), old))

    def link(self, source: str, target: str) -> None:
        """A file gets a second name."""
        self._files[target] = self._files[source]
        self.add(Event("enter", self._files[target], os.path.dirname(target), os.path.basename(target)))

    def remove(self, path: str) -> None:
        """A name goes."""
        if self._files.pop(path, None) is not None:
            self.add(Event("remove", folder=os.path.dirname(path), name=os.path.basename(path)))


class RecordingFile(apsw.VFSFile):
    """A file of SQLite's."""

    def __init__(self, base: str, name: apsw.URIFilename | str, flags: list[int], recording: Recording, path: str) -> None:
        super().__init__(base, name, flags)
        self._recording = recording
        self._path = path
        self._file = recording.file(path)
        # As os_unix.c does: the first sync of a journal or log that may have been made by this opening syncs the folder too.
        kind = flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL)
        self._enter = bool(kind and flags[0] & apsw.SQLITE_OPEN_CREATE)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        """Record, then write: what is on its way when the power goes may be there."""
        self._recording.add(Event("write", self._file, at=offset, data=bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        """Record, then cut."""
        self._recording.add(Event("truncate", self._file, at=newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Sync, then record: only what has returned is on the disk."""
        super().xSync(flags)
        self._recording.sync(self._file, self._path)
        if self._enter:
            self._enter = False
            self._recording.sync_folder(os.path.dirname(self._path))


class RecordingVFS(apsw.VFS):
    """The system's VFS with a recording. Several may live at once, each under a name of its own; ``unregister`` ends it."""

    _made = 0

    def __init__(self, recording: Recording, base: str = "unix") -> None:
        RecordingVFS._made += 1
        self.name = f"hardwon-recording-{os.getpid()}-{RecordingVFS._made}"
        self._recording = recording
        self._base = base
        super().__init__(self.name, base)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """A file that records, if it has a name and lies in the folder."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or not self._recording.is_seen(path):
            return apsw.VFSFile(self._base, name, flags)
        return RecordingFile(self._base, name or path, flags, self._recording, path)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """A name goes, with its folder synced where SQLite asks for that."""
        super().xDelete(filename, syncdir)
        if self._recording.is_seen(filename):
            self._recording.remove(filename)
            if syncdir:
                self._recording.sync_folder(os.path.dirname(filename))


class RecordingDisk(Disk):
    """The disk of our own files, with a recording."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._open: dict[int, tuple[int, str]] = {}  # descriptor: number of the file, path

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """Open, and enter a file that was not there; opened to be cut, it is cut."""
        seen = self._recording.is_seen(path)
        cut = flags & os.O_TRUNC and seen and os.path.exists(path)
        descriptor = super().open(path, flags, mode)
        if seen:
            number = self._recording.file(path)
            self._open[descriptor] = (number, path)
            if cut:
                self._recording.add(Event("truncate", number))
        return descriptor

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        """Record, then write."""
        if descriptor in self._open:
            self._recording.add(Event("write", self._open[descriptor][0], at=offset, data=bytes(data)))
        super().write(descriptor, data, offset)

    def truncate(self, descriptor: int, size: int) -> None:
        """Record, then cut."""
        if descriptor in self._open:
            self._recording.add(Event("truncate", self._open[descriptor][0], at=size))
        super().truncate(descriptor, size)

    def allocate(self, descriptor: int, size: int) -> None:
        """Record, then have room."""
        if descriptor in self._open:
            self._recording.add(Event("allocate", self._open[descriptor][0], at=size))
        super().allocate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Sync, then record."""
        super().sync(descriptor)
        if descriptor in self._open:
            self._recording.sync(*self._open[descriptor])

    def close(self, descriptor: int) -> None:
        """The number may be given out again."""
        self._open.pop(descriptor, None)
        super().close(descriptor)

    def replace(self, source: str, target: str) -> None:
        """Record, then rename."""
        if self._recording.is_seen(target):
            self._recording.rename(source, target)
        super().replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Link, then record: where it is refused, nothing happened."""
        super().link(source, target)
        if self._recording.is_seen(target):
            self._recording.link(source, target)

    def unlink(self, path: str) -> None:
        """Record, then remove."""
        if self._recording.is_seen(path):
            self._recording.remove(path)
        super().unlink(path)

    def mkdir(self, path: str, mode: int = 0o700) -> None:
        """Make, then record: a new folder is an entry of the one above it."""
        if not os.path.isdir(path):
            super().mkdir(path, mode)
            if self._recording.is_seen(path):
                self._recording.add(Event("folder", folder=os.path.dirname(path), name=os.path.basename(path)))

    def sync_folder(self, path: str) -> None:
        """Sync, then record."""
        super().sync_folder(path)
        folder = os.path.abspath(path)
        if folder == self._recording.root or self._recording.is_seen(folder):
            self._recording.sync_folder(folder)
