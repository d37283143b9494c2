"""The SQLite engine: one file a repository. Opening, the writers' queue, and the one place of begin, commit and rollback."""

from __future__ import annotations

import os
from _thread import get_ident
from errno import EROFS

import apsw

from hardwon.errors import Damaged, DiskFull, HardwonError, NoStore, ReadOnly, SchemaNewer, SchemaOlder, StoreError
from hardwon.store.connection import (
    APPLICATION_ID,
    NO_SPACE,
    PLAIN,
    SCHEMA,
    Access,
    open_connection,
    prepare_writer,
    refuse_unsafe,
    translate,
    truncate_log,
)
from hardwon.store.handle import Handle, file_at
from hardwon.store.lock import FileLock
from hardwon.store.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from hardwon.store.keys.secret import Secret
    from hardwon.store.transaction import Transaction
    from hardwon.types import Finding

_SWAP_WAIT = 5.0  # seconds that a reader waits for another process to put a file into the store's place; it takes milliseconds


class StoreLock(FileLock):
    """A lock beside a store; the system's errors are told as those of the store."""

    @classmethod
    def taken(cls, path: str, timeout: float) -> StoreLock:
        """The lock of the file at ``path``, which lies beside it; raises as ``acquire`` does."""
        lock = cls(f"{path}.lock")
        lock.acquire(timeout)
        return lock

    def acquire(self, timeout: float) -> None:
        """As ``FileLock``; NoStore, ReadOnly, DiskFull or StoreError when the lock's file cannot be made."""
        try:
            super().acquire(timeout)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoStore(f"there is no folder for {self.path}", remedy="run `hardwon init` in the repository") from error
        except OSError as error:
            raise _refused(error, self.path) from error


class SqliteStore:
    """One repository's file. Connections are per thread (and per process after a fork), opened when first used."""

    def __init__(
        self,
        path: str,
        made_by: str = "",
        clock: Callable[[], int] = lambda: 0,
        *,
        make: bool = True,
        access: Access = PLAIN,
        head: str = "",
    ) -> None:
        """``made_by`` and ``clock`` (milliseconds) go into the record of a schema step.

        Without ``make`` a writer refuses to begin a new file, with NoStore: the memory that belongs there is gone. ``head``: the
        file outside the store that tells how far its journal had come; "" for none.
        """
        self._make = make
        # The engine looks for the log beside the file that a link leads to, and so do we for everything that lies beside a store.
        self.path = os.path.realpath(path) if os.path.islink(path) else path
        self.access = access
        self.head = head
        self._made_by = made_by
        self._clock = clock
        self.failed_checkpoints = 0
        self._handles: dict[tuple[int, int, bool], Handle] = {}

    @property
    def recipient(self) -> str:
        """The public half of its key; "" for a plain one."""
        return self.access.recipient

    def secrets(self) -> Sequence[Secret]:
        """Every identity that something beside it may be sealed to; KeyMissing, WrongKey."""
        return self.access.secrets()

    def read(self) -> View:
        """A view that never waits for writers and never writes."""
        return View(self)

    def write(self, timeout: float = 30.0) -> Transaction:
        """A transaction: queue on the kernel lock, begin immediate, commit or roll back."""
        from hardwon.store.transaction import Transaction

        return Transaction(self, timeout)

    def queue(self, work: str) -> FileLock:
        """The line for work that one process at a time should do: a kernel lock of its own beside the file."""
        return StoreLock(f"{self.path}.{work}.lock")

    def checkpoint(self, timeout: float = 30.0) -> None:
        """Move what the log holds into the file, after much was written: else the next reader has to scan the log."""
        lock = self._acquire(timeout)
        try:
            connection = self.current(readonly=False).connection
            truncate_log(connection)
            if self.head:
                from hardwon.store.checks import heads

                heads.note(self.head, connection)
        except apsw.Error as error:
            raise translate(error, self.path, connection.system_errno, self.access) from error
        finally:
            lock.release()

    def compact(
        self, timeout: float = 30.0, progress: Callable[[int, int], None] | None = None, *, full: bool = False
    ) -> tuple[int, int]:
        """Give back the space of what is gone, in short slices between which others write; bytes before and after."""
        from hardwon.store.compaction import compact

        return compact(self, timeout, progress, full=full)

    def scrub(self, timeout: float = 30.0) -> bool:
        """Leave nothing of what was erased in the file and its log; False while a reader holds the log."""
        from hardwon.store.erasure import scrub

        return scrub(self, timeout)

    def check(self) -> list[Finding]:
        """Everything that is wrong with the file; never writes."""
        found = self._checked()
        # What a second look does not find was misread, not damaged.
        return self._checked() if any(finding.level == "error" for finding in found) else found

    def _checked(self) -> list[Finding]:
        from hardwon.store.checks.check import verify

        # A connection of its own: FTS5's integrity check trusts what an older one had cached before others wrote.
        with SqliteStore(self.path, make=False, access=self.access, head=self.head) as fresh:
            return verify(fresh)

    def check_quickly(self) -> list[Finding]:
        """What a few milliseconds tell: whether the journal was longer once, or its log ends in damage."""
        from hardwon.store.checks.check import quick

        return quick(self)

    def close(self) -> None:
        """Let go of every connection that this process opened; idempotent."""
        for key in [key for key in self._handles if key[0] == os.getpid()]:
            self._handles.pop(key).connection.close()

    def let_go(self) -> None:
        """Let go of this thread's connections, before another file takes the place: other threads may be reading, and see it then."""
        for readonly in (True, False):
            handle = self._handles.pop((os.getpid(), get_ident(), readonly), None)
            if handle is not None:
                handle.connection.close()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def connection(self, *, readonly: bool) -> apsw.Connection:
        """This thread's connection for reading or writing."""
        return self.handle(readonly=readonly).connection

    def handle(self, *, readonly: bool) -> Handle:
        """This thread's connection with what goes with it; another after a fork."""
        key = (os.getpid(), get_ident(), readonly)
        handle = self._handles.get(key)
        if handle is None:
            handle = self._handles[key] = self._open(readonly)
        return handle

    def current(self, *, readonly: bool) -> Handle:
        """The handle of the file that is there now: another one may have taken its place (a restore, a repair), or none is left,
        and what is written into a file without a name is lost."""
        handle = self.handle(readonly=readonly)
        if handle.depth == 0 and (handle.suspect or self.is_replaced(handle)):
            self._handles.pop((os.getpid(), get_ident(), readonly)).connection.close()
            handle = self.handle(readonly=readonly)
        return handle

    def make_place(self) -> None:
        """The folder of the file, where a new one may be begun."""
        refuse_unsafe()
        if self._make:
            _private_folder(os.path.dirname(self.path))

    def is_replaced(self, handle: Handle) -> bool:
        """Whether the path names another file by now than the one that the handle has open."""
        return handle.file != file_at(self.path)

    def _open(self, readonly: bool) -> Handle:
        """With the key that fits now: it is looked for when the store is first used, and may be changed under a process that lives."""
        tried = self.access
        try:
            if tried.key or not tried.recipient:
                return self._open_with(tried, readonly)
        except Damaged:
            for access in tried.others():
                if access.key != tried.key and (handle := self._fitting(access, readonly)):
                    return handle
            raise
        for access in tried.others():
            if handle := self._fitting(access, readonly):
                return handle
        raise Damaged(f"{self.path} is not an intact store, or its key was changed elsewhere", remedy="run `hardwon verify`")

    def _fitting(self, access: Access, readonly: bool) -> Handle | None:
        access.vfs = self.access.vfs
        try:
            handle = self._open_with(access, readonly)
        except Damaged:
            return None
        self.access = access
        return handle

    def _open_with(self, access: Access, readonly: bool) -> Handle:
        if os.path.exists(self.path + ".swap"):
            self._finish_swap(locked=not readonly)
        if not readonly and self._make:
            private_file(self.path)
        file = file_at(self.path)  # before it is opened: what takes its place in between is noticed, and opened instead
        connection = open_connection(self.path, readonly=readonly, make=self._make, access=access)
        try:
            if readonly:
                self.check_schema(connection)
            else:
                self._refuse_others(connection)
                if not self._make and not connection.pragma("user_version"):
                    raise self._empty()
                prepare_writer(connection)
                self._upgrade(connection, access)
        except apsw.Error as error:
            errno = connection.system_errno
            connection.close()
            raise translate(error, self.path, errno, access) from error
        except OSError as error:
            connection.close()
            raise _refused(error, self.path) from error
        except HardwonError:
            connection.close()
            raise
        handle = Handle(connection, file)
        if readonly:
            handle.watch(self.path)
        return handle

    def _finish_swap(self, *, locked: bool) -> None:
        """What another process began when it put a file into this place; Busy while it is at it. A writer holds the lock."""
        from hardwon.store.swap import finish

        lock = None if locked else self._acquire(_SWAP_WAIT)
        try:
            finish(self.path)
        except OSError as error:
            raise _refused(error, self.path) from error
        finally:
            if lock is not None:
                lock.release()

    def _acquire(self, timeout: float) -> FileLock:
        """The writers' lock, taken; raises as ``StoreLock.acquire`` does."""
        return StoreLock.taken(self.path, timeout)

    def is_writing(self) -> bool:
        """Whether this thread is inside a transaction."""
        handle = self._handles.get((os.getpid(), get_ident(), False))
        return handle is not None and handle.depth > 0

    def check_schema(self, connection: apsw.Connection) -> None:
        """Refuse a file of another schema: it may have changed under a connection that stays open."""
        schema = connection.pragma("user_version")
        if schema == SCHEMA:
            return
        self._refuse_others(connection)
        if schema == 0 and connection.pragma("application_id") != APPLICATION_ID:
            raise self._empty()
        if schema > SCHEMA:
            raise SchemaNewer(
                f"{self.path} was made by a later Hardwon (schema {schema}, this one knows {SCHEMA}); it is left untouched",
                remedy="upgrade Hardwon",
            )
        raise SchemaOlder(
            f"{self.path} has schema {schema}; this Hardwon needs {SCHEMA}",
            remedy="run `hardwon init`, which upgrades it after a backup",
        )

    def _empty(self) -> NoStore:
        """The error for a file without tables: emptied, where it is known outside that there was a journal."""
        if self.head and os.path.exists(self.head):
            remedy = "`hardwon restore FILE` brings a backup back, `hardwon init --force` begins a new one"
            return NoStore(f"{self.path} holds no memory any more", remedy=remedy)
        return NoStore(f"{self.path} holds no memory yet", remedy="run `hardwon init` in the repository")

    def _refuse_others(self, connection: apsw.Connection) -> None:
        """Before anything is set on the file: a database that is not ours stays as it is."""
        if connection.pragma("application_id") != APPLICATION_ID and connection.execute("SELECT count(*) FROM sqlite_schema").get:
            raise Damaged(f"{self.path} is a database of another program", remedy="move it away; Hardwon does not touch it")

    def _upgrade(self, connection: apsw.Connection, access: Access) -> None:
        if connection.pragma("user_version") != SCHEMA:
            from hardwon.store.upgrade import upgrade

            upgrade(connection, self.path, self._made_by, self._clock(), access=access)


def _refused(error: OSError, path: str) -> StoreError:
    """Our error for the system's, on a file or folder of ours."""
    if error.errno in NO_SPACE:
        return DiskFull(f"no room left for {path}", remedy="free some space and try again")
    kind = ReadOnly if isinstance(error, PermissionError) or error.errno == EROFS else StoreError
    return kind(f"{path} cannot be made or opened: {error.strerror}", remedy="check the owner and mode of the folder")


def _private_folder(path: str) -> None:
    if os.path.isdir(path):
        return
    from hardwon.store import files

    try:
        files.disk.make_folder(path)
        os.chmod(path, 0o700)
    except OSError as error:
        raise _refused(error, path) from error


def private_file(path: str) -> None:
    """Make the file ours to read before SQLite creates it with the process's umask; its side files take the same mode.

    Never opens an existing file: closing a raw descriptor would drop this process's POSIX locks on the database.
    """
    if os.path.exists(path):
        return
    from hardwon.store import files

    _private_folder(os.path.dirname(path))
    try:
        files.disk.close(files.disk.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        pass
    except OSError as error:
        raise _refused(error, path) from error
