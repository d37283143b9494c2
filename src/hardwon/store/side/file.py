"""A SQLite file beside the store, that nobody misses for long: opened, made anew where it cannot be used, read in snapshots, written by
one at a time.

The index of the code is one, what sessions are doing is another. A file that is damaged, of another version, or encrypted with another
key than the store's is removed by the next writer, and never repaired.
"""

from __future__ import annotations

import os
from _thread import get_ident

import apsw

from hardwon.errors import Damaged, HardwonError, KeyMissing, NoStore, SchemaOlder, StoreError
from hardwon.store.connection import Access, open_connection, translate
from hardwon.store.handle import Handle, file_at
from hardwon.store.sqlite import StoreLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal, TypeVar

    from hardwon.store.sqlite import SqliteStore

    R = TypeVar("R")

# Beside a store in the clear the file is enciphered too, with this key, for the sake of the tag that each page then carries: a changed bit
# is noticed when its page is read, where SQLite's own check passes over most (docs/decisions/0015). No secret, and not meant as one.
_ANYBODY = b"hardwon: whole pages, no secret."
_SIDES = ("", "-wal", "-shm", "-journal")


class SideFile:
    """One file. Connections are per thread (and per process after a fork).

    A kind of file says what it is: ``application_id`` and ``version``, which go into it (the version is to be raised with any change of
    the tables or of what fills them); ``what`` it is in words, and the ``remedy`` for one that is of no use.
    """

    application_id = 0
    version = 0
    what = ""
    remedy = ""

    def __init__(self, path: str, store_access: Callable[[], Access], clock: Callable[[], int] = lambda: 0) -> None:
        """``store_access``: how the store beside it is reached at this moment (it may get a key, or another one, meanwhile); ``clock``:
        milliseconds."""
        self.path = path
        self._store_access = store_access
        self.clock = clock
        self._handles: dict[tuple[int, int, bool], tuple[Handle, bytes]] = {}

    def tables(self) -> str:
        """What makes its tables, as SQL."""
        raise NotImplementedError

    def access(self) -> Access:
        """How the file is reached: with the store's key, or that of anybody."""
        access = self._store_access()
        if access.recipient and not access.key:  # never under the key of anybody what belongs to an encrypted store
            raise KeyMissing("the key of the store was not looked for yet", remedy="open the store first")
        return access if access.key else Access(access.vfs, _ANYBODY)

    def drop(self, timeout: float = 30.0) -> None:
        """Remove the file; Busy while somebody writes it. The next writer makes another one."""
        if not any(os.path.lexists(self.path + end) for end in (*_SIDES, ".lock")):
            return  # no writer was ever here, nor is one now: it would have made the lock
        lock = self.lock(timeout)
        try:
            self.remove()
        finally:
            lock.release()

    def close(self) -> None:
        """Let go of every connection that this process opened; idempotent."""
        for key in [key for key in self._handles if key[0] == os.getpid()]:
            self._handles.pop(key)[0].connection.close()

    # For the views and transactions

    def lock(self, timeout: float) -> StoreLock:
        """The writers' lock, taken; Busy, NoStore, ReadOnly, DiskFull, StoreError."""
        return StoreLock.taken(self.path, timeout)

    def remove(self) -> None:
        """Take the file away; the caller holds the lock. The main file goes first: a new one pays no heed to an old log, while an old one
        without its log would be taken for whole."""
        from hardwon.store import files

        self._let_go()
        if os.path.isdir(self.path) and not os.path.islink(self.path):
            raise StoreError(f"{self.path} is a folder, where {self.what} belongs", remedy="move it away")
        try:
            for end in _SIDES:
                files.disk.unlink(self.path + end)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be removed: {error.strerror}", remedy="check the owner and mode of the folder"
            ) from error

    def current(self, *, readonly: bool) -> Handle:
        """This thread's connection to the file that is there now, under the key that is in force now. For reading: NoStore where there is
        none, Damaged where it is of no use. For writing, with the lock: one of no use is made anew."""
        access = self.access()
        key = (os.getpid(), get_ident(), readonly)
        handle, opened_with = self._handles.get(key, (None, b""))
        if handle is not None and handle.depth == 0:
            if not handle.suspect and handle.file == file_at(self.path) and opened_with == access.key:
                return handle
            self._handles.pop(key)[0].connection.close()
        elif handle is not None:
            return handle
        handle = self._open_to_read(access) if readonly else _opened_to_write(self, access)
        self._handles[key] = handle, access.key
        return handle

    def is_writing(self) -> bool:
        """Whether this thread is inside a transaction."""
        handle, _ = self._handles.get((os.getpid(), get_ident(), False), (None, b""))
        return handle is not None and handle.depth > 0

    def refuse_others(self, connection: apsw.Connection) -> None:
        """Damaged for a file that is none of ours, or has other tables; NoStore for one without any, which a writer has just begun."""
        if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
            raise NoStore(f"{self.path} holds nothing yet", remedy=self.remedy)
        if connection.pragma("application_id") != self.application_id or connection.pragma("user_version") != self.version:
            raise Damaged(f"{self.path} is of another version", remedy=self.remedy)

    def _let_go(self) -> None:
        for readonly in (True, False):
            handle, _ = self._handles.pop((os.getpid(), get_ident(), readonly), (None, b""))
            if handle is not None:
                handle.connection.close()

    def _open_to_read(self, access: Access) -> Handle:
        file = file_at(self.path)  # before it is opened: what takes its place in between is noticed
        return Handle(open_connection(self.path, readonly=True, access=access), file)


class SideReading:
    """The begin and the end of one snapshot; a kind of file makes a context of it."""

    def __init__(self, file: SideFile) -> None:
        self._file = file
        self._handle: Handle | None = None

    def begun(self, view: Callable[[Handle], R]) -> R | str:
        """What ``view`` makes of the connection; where nothing can be read, why: "" where no file was made yet."""
        if not os.path.exists(self._file.path):
            return ""
        for _ in range(3):  # another file takes the place: at most once, in the life of a file
            try:
                reader = self._begin(view)
            except HardwonError as error:
                self.end()
                # What a writer has begun, or a kill has left of that, is as good as none.
                return "" if isinstance(error, (NoStore, SchemaOlder)) else error.message
            if reader is not None:
                return reader
        return f"{self._file.path} is being made anew"

    def _begin(self, view: Callable[[Handle], R]) -> R | None:
        """A view; None where another file has taken the place since it was opened."""
        file = self._file
        handle = self._handle = file.current(readonly=True)
        outermost = handle.depth == 0
        try:
            handle.begin("BEGIN")
            if outermost:
                file.refuse_others(handle.connection)  # reads, so that the snapshot begins here
            reader = view(handle)
        except apsw.Error as error:
            handle.suspect = True
            raise translate(error, file.path, handle.connection.system_errno) from error
        if outermost and handle.file != file_at(file.path):
            self.end()
            return None
        return reader

    def end(self) -> None:
        """Let go of the snapshot; idempotent."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.depth -= 1
            if handle.depth <= 0:  # a view inside a view of the same thread sees what the outer one sees, and ends with it
                handle.roll_back()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.end()
        return False


def beside(store: SqliteStore) -> Callable[[], Access]:
    """How a file beside a store is reached at any moment: as the store itself."""

    def access() -> Access:
        # What is in force is known once the store is open, and what was known may be outdated: another process may have changed it.
        store.current(readonly=True)
        return store.access

    return access


def _opened_to_write(file: SideFile, access: Access) -> Handle:
    from hardwon.store.side.making import opened  # not loaded by those who read

    return opened(file, access)
