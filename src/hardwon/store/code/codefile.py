"""The file of the code index: opened, made anew where it cannot be used, read in snapshots, written by one at a time.

It lies beside the store (``STORE.code``) and holds nothing that a command does not make again from the repository. So a file that is
damaged, of another version, or encrypted with another key than the store's is removed by the next writer, and never repaired.
"""

from __future__ import annotations

import os
from _thread import get_ident

import apsw

from hardwon.errors import Damaged, HardwonError, KeyMissing, NoStore, SchemaOlder, StoreError
from hardwon.store.code import CODE
from hardwon.store.code.reads import Reads
from hardwon.store.connection import Access, open_connection, translate
from hardwon.store.handle import Handle, file_at
from hardwon.store.sqlite import StoreLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal

    from hardwon.store.code.absent import NoReads
    from hardwon.store.code.transaction import CodeTransaction
    from hardwon.store.sqlite import SqliteStore

# "HWCI" in ASCII, and the number of the tables (store/code/tables.py), to be raised with any change of them or of what fills them.
APPLICATION_ID = 0x48574349
VERSION = 2

# Beside a store in the clear the file is enciphered too, with this key, for the sake of the tag that each page then carries: a changed bit
# is noticed when its page is read, where SQLite's own check passes over most (docs/decisions/0015). No secret, and not meant as one.
_ANYBODY = b"hardwon: whole pages, no secret."
_SIDES = ("", "-wal", "-shm", "-journal")


class CodeIndex:
    """One repository's file, for all of its working trees. Connections are per thread (and per process after a fork)."""

    def __init__(self, path: str, store_access: Callable[[], Access], clock: Callable[[], int] = lambda: 0) -> None:
        """``store_access``: how the store beside it is reached at this moment (it may get a key, or another one, meanwhile); ``clock``:
        milliseconds."""
        self.path = path
        self._store_access = store_access
        self.clock = clock
        self._handles: dict[tuple[int, int, bool], tuple[Handle, bytes]] = {}

    @classmethod
    def of(cls, store: SqliteStore, clock: Callable[[], int] = lambda: 0) -> CodeIndex:
        """The index beside a store, encrypted with the store's key."""

        def access() -> Access:
            # What is in force is known once the store is open, and what was known may be outdated: another process may have changed it.
            store.current(readonly=True)
            return store.access

        return cls(store.path + CODE, access, clock)

    def access(self) -> Access:
        """How the file is reached: with the store's key, or that of anybody."""
        access = self._store_access()
        if access.recipient and not access.key:  # never under the key of anybody what belongs to an encrypted store
            raise KeyMissing("the key of the store was not looked for yet", remedy="open the store first")
        return access if access.key else Access(access.vfs, _ANYBODY)

    def read(self, tree: str) -> Reading:
        """A view that never waits for writers, never writes and never fails."""
        return Reading(self, tree)

    def write(self, tree: str, timeout: float = 30.0) -> CodeTransaction:
        """A transaction: queue on the kernel lock, begin immediate, commit or roll back. The file is made where there is none to use."""
        from hardwon.store.code.transaction import CodeTransaction

        return CodeTransaction(self, tree, timeout)

    def drop(self, timeout: float = 30.0) -> None:
        """Remove the file; Busy while somebody writes it. The next writer makes another one."""
        if not any(os.path.lexists(self.path + end) for end in (*_SIDES, ".lock")):
            return  # no writer was ever here, nor is one now: it would have made the lock
        lock = self.lock(timeout)
        try:
            self.remove()
        finally:
            lock.release()

    def check(self) -> str:
        """What is wrong with the file, "" where nothing is or there is no file. Reads all of it."""
        with self.read("") as reader:
            if not isinstance(reader, Reads):
                return reader.trouble
            rows = reader._rows("PRAGMA quick_check(1)")
            return reader.trouble or ("" if rows == [("ok",)] else f"{self.path} is damaged: {rows[0][0]}")

    def mend(self, timeout: float = 30.0) -> str:
        """Remove the file where something is wrong with it: what was. A writer by itself notices what it meets only."""
        wrong = self.check()
        if wrong:
            self.drop(timeout)
        return wrong

    def scrub(self, timeout: float = 30.0) -> bool:
        """Leave nothing that tells of memories that were erased: contents that were kept for anchors, and what became of anchors. The file
        is written anew, since pages keep copies of what was deleted; a damaged one is removed. False while a reader holds the log."""
        if not os.path.lexists(self.path):
            return True
        from hardwon.store.code.transaction import scrub

        return scrub(self, timeout)

    def close(self) -> None:
        """Let go of every connection that this process opened; idempotent."""
        for key in [key for key in self._handles if key[0] == os.getpid()]:
            self._handles.pop(key)[0].connection.close()

    # For the views and transactions

    def lock(self, timeout: float) -> StoreLock:
        """The writers' lock, taken; Busy, NoStore, ReadOnly, DiskFull, StoreError."""
        lock = StoreLock(self.path + ".lock")
        lock.acquire(timeout)
        return lock

    def remove(self) -> None:
        """Take the file away; the caller holds the lock. The main file goes first: a new one pays no heed to an old log, while an old one
        without its log would be taken for whole."""
        from hardwon.store import files

        self._let_go()
        if os.path.isdir(self.path) and not os.path.islink(self.path):
            raise StoreError(f"{self.path} is a folder, where the code index belongs", remedy="move it away")
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

    def _let_go(self) -> None:
        for readonly in (True, False):
            handle, _ = self._handles.pop((os.getpid(), get_ident(), readonly), (None, b""))
            if handle is not None:
                handle.connection.close()

    def _open_to_read(self, access: Access) -> Handle:
        file = file_at(self.path)  # before it is opened: what takes its place in between is noticed
        return Handle(open_connection(self.path, readonly=True, access=access), file)

    def refuse_others(self, connection: apsw.Connection) -> None:
        """Damaged for a file that is none of ours, or has other tables; NoStore for one without any, which a writer has just begun."""
        if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
            raise NoStore(f"{self.path} holds nothing yet", remedy="`hardwon ingest code` fills it")
        if connection.pragma("application_id") != APPLICATION_ID or connection.pragma("user_version") != VERSION:
            raise Damaged(f"{self.path} is of another version", remedy="`hardwon ingest code` makes it anew")


class Reading:
    """``with index.read(tree) as reader``: one snapshot for all of its calls; where nothing can be read, a view of nothing."""

    def __init__(self, index: CodeIndex, tree: str) -> None:
        self._index = index
        self._tree = tree
        self._handle: Handle | None = None

    def __enter__(self) -> Reads | NoReads:
        if not os.path.exists(self._index.path):
            return _nothing()
        for _ in range(3):  # another file takes the place: at most once, in the life of an index
            try:
                reader = self._begin()
            except HardwonError as error:
                self._end()
                # What a writer has begun, or a kill has left of that, is as good as none.
                return _nothing("" if isinstance(error, (NoStore, SchemaOlder)) else error.message)
            if reader is not None:
                return reader
        return _nothing(f"{self._index.path} is being made anew")

    def _begin(self) -> Reads | None:
        """A view; None where another file has taken the place since it was opened."""
        index = self._index
        handle = self._handle = index.current(readonly=True)
        outermost = handle.depth == 0
        try:
            handle.begin("BEGIN")
            if outermost:
                index.refuse_others(handle.connection)  # reads, so that the snapshot begins here
            reader = Reads(handle, self._tree, index.path)
        except apsw.Error as error:
            handle.suspect = True
            raise translate(error, index.path, handle.connection.system_errno) from error
        if outermost and handle.file != file_at(index.path):
            self._end()
            return None
        return reader

    def _end(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.depth -= 1
            if handle.depth <= 0:  # a view inside a view of the same thread sees what the outer one sees, and ends with it
                handle.roll_back()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self._end()
        return False


def _opened_to_write(index: CodeIndex, access: Access) -> Handle:
    from hardwon.store.code.making import opened  # not loaded by those who read

    return opened(index, access)


def _nothing(trouble: str = "") -> NoReads:
    from hardwon.store.code.absent import NoReads

    return NoReads(trouble)
