"""Calls to the disk that fail on purpose: a VFS under SQLite and a disk under our own files, with one counter for both.

A ``Fault`` says which call of which kind fails, how, and whether that one alone or all from then on. What fails is not done at all;
half-done writes are the matter of powerloss.py.
"""

from __future__ import annotations

import errno
import os

import apsw

from hardwon.store import files
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What SQLite calls a failure of each kind of call, where the failure itself is not one of its own codes.
_IOERR = {
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "open": apsw.SQLITE_CANTOPEN,
}
# The kinds of calls that the engine makes, and those that our own code makes beside it (store/files.py).
ENGINE_CALLS = tuple(_IOERR)
FILE_CALLS = (
    "file open",
    "file write",
    "file truncate",
    "file allocate",
    "file sync",
    "file replace",
    "file link",
    "folder sync",
)
NO_SPACE = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
# What needs no room on a full disk: reading, and cutting off.
_NEEDS_ROOM = frozenset({"write", "file write", "file allocate", "file open", "file link"})


class Failure(Value):
    """A way to fail. ``errno`` is the system's number; ``code`` SQLite's, where it does not follow from the call; ``calls`` the
    kinds of calls that fail so."""

    name: str
    errno: int
    calls: tuple[str, ...]
    code: int = 0

    @property
    def full(self) -> bool:
        """Whether it has to be told as a full disk."""
        return self.errno in NO_SPACE


# A read that ends early in the middle of a file, which the system's VFS never gives: SQLite takes what is missing for zeros, as beyond
# the end of a file. It is tried on what judges a store, which one misread page must not condemn. What else reads may answer wrongly by
# it, and what writes may keep the zeros: only a checksum of each page could tell (an encrypted store has one).
SHORT_READ = Failure("SHORT_READ", 0, ("read",), apsw.SQLITE_IOERR_SHORT_READ)
FAILURES = (
    Failure("FULL", errno.ENOSPC, ("write", "file open", "file write", "file allocate", "file sync"), apsw.SQLITE_FULL),
    # The system's own words for a limit: SQLite hands them on as a failed write with the number beside it.
    Failure("EFBIG", errno.EFBIG, ("write", "file write")),
    Failure("EDQUOT", errno.EDQUOT, ("write", "file open", "file write")),
    Failure("EIO", errno.EIO, (*ENGINE_CALLS, *FILE_CALLS)),
    SHORT_READ,
    Failure("NOMEM", errno.ENOMEM, ("read", "write", "open"), apsw.SQLITE_IOERR_NOMEM),
    Failure("EINTR", errno.EINTR, ("file open", "file write", "file sync")),
)


class Fault(Value):
    """The ``number``-th call (from 1) of the kind ``call`` fails; with ``lasting`` every one that the failure would meet after it."""

    call: str
    number: int
    failure: Failure
    lasting: bool = False

    @property
    def label(self) -> str:
        """As a report names it."""
        return f"{self.failure.name}{' lasting' if self.lasting else ''} at {self.call} {self.number}"


class Injector:
    """Counts calls, and lets those fail that the armed fault names. ``hits``: (call, path) of each failed one."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.hits: list[tuple[str, str]] = []
        self._fault: Fault | None = None

    def arm(self, fault: Fault | None) -> None:
        """Count anew, and fail as told; None repairs everything."""
        self.counts, self.hits, self._fault = {}, [], fault

    def disarm(self) -> list[tuple[str, str]]:
        """Repair everything; what had failed."""
        hits = self.hits
        self.arm(None)
        return hits

    @property
    def errno(self) -> int:
        """The system's number of the failure that is armed."""
        return self._fault.failure.errno if self._fault else 0

    def fails(self, call: str, path: str) -> Failure | None:
        """Note a call; how it has to fail, None if not."""
        self.counts[call] = number = self.counts.get(call, 0) + 1
        fault = self._fault
        if fault is None or not self._meets(fault, call, number):
            return None
        self.hits.append((call, path))
        return fault.failure

    def _meets(self, fault: Fault, call: str, number: int) -> bool:
        if not self.hits:
            return call == fault.call and number == fault.number
        if not fault.lasting:
            return False
        return call in _NEEDS_ROOM if fault.failure.full else call == fault.call


class FaultyVFS(apsw.VFS):
    """The system's VFS, with calls that fail as the injector says. Registered under its name until ``unregister``."""

    def __init__(self, name: str, injector: Injector) -> None:
        self.injector = injector
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's names
        """A file whose calls are counted."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        meet(self.injector, "open", path)
        return FaultyFile(self.injector, path, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Counted."""
        meet(self.injector, "delete", filename)
        super().xDelete(filename, syncdir)

    def xGetLastError(self) -> tuple[int, str | None]:  # noqa: N802
        """The number that the failing call left, so that a size limit can be told from a broken disk."""
        number = self.injector.errno
        return (number, os.strerror(number)) if self.injector.hits else super().xGetLastError()


class FaultyFile(apsw.VFSFile):
    """One file of SQLite's."""

    def __init__(self, injector: Injector, path: str, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._injector = injector
        self._path = path
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Counted. A short read gives nothing: SQLite's own file is asked first, for it may be shorter indeed."""
        data = super().xRead(amount, offset)
        failure = self._injector.fails("read", self._path)
        if failure is None:
            return data
        if failure.code == apsw.SQLITE_IOERR_SHORT_READ:
            return data[: len(data) // 2]
        raise refusal(failure, "read")

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Counted."""
        meet(self._injector, "write", self._path)
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        """Counted."""
        meet(self._injector, "truncate", self._path)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Counted."""
        meet(self._injector, "sync", self._path)
        super().xSync(flags)

    def xFileSize(self) -> int:  # noqa: N802
        """Counted."""
        meet(self._injector, "size", self._path)
        return super().xFileSize()


def meet(injector: Injector, call: str, path: str) -> None:
    """Note a call of the engine's, and raise what it has to fail with."""
    failure = injector.fails(call, path)
    if failure is not None:
        raise refusal(failure, call)


def refusal(failure: Failure, call: str) -> Exception:
    """What the engine is answered with."""
    return apsw.exception_for(failure.code or _IOERR[call])


class FaultyDisk(files.Disk):
    """Our own files, with calls that fail as the injector says."""

    def __init__(self, injector: Injector) -> None:
        self._injector = injector

    def _meet(self, call: str, path: str) -> None:
        failure = self._injector.fails(call, path)
        if failure is not None:
            raise OSError(failure.errno, os.strerror(failure.errno), path)

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """Counted."""
        self._meet("file open", path)
        return super().open(path, flags, mode)

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        """Counted."""
        self._meet("file write", "")
        super().write(descriptor, data, offset)

    def truncate(self, descriptor: int, size: int) -> None:
        """Counted."""
        self._meet("file truncate", "")
        super().truncate(descriptor, size)

    def allocate(self, descriptor: int, size: int) -> None:
        """Counted."""
        self._meet("file allocate", "")
        super().allocate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Counted."""
        self._meet("file sync", "")
        super().sync(descriptor)

    def replace(self, source: str, target: str) -> None:
        """Counted."""
        self._meet("file replace", target)
        super().replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Counted."""
        self._meet("file link", target)
        super().link(source, target)

    def sync_folder(self, path: str) -> None:
        """Counted."""
        self._meet("folder sync", path)
        super().sync_folder(path)


def faults(counts: dict[str, int], *, judges: bool = False) -> Iterator[Fault]:
    """Every fault that an operation can meet which makes so many calls of each kind, once and lasting."""
    for failure in FAILURES:
        for call in failure.calls if judges or failure is not SHORT_READ else ():
            for number in range(1, counts.get(call, 0) + 1):
                yield Fault(call, number, failure)
                if failure.full or failure.errno == errno.EIO:
                    yield Fault(call, number, failure, lasting=True)
