"""The SQLite engine: one file a repository. Opening, the writers' queue, and the one place of begin, commit and rollback."""

from __future__ import annotations

import os
from _thread import get_ident
from errno import EROFS

import apsw

from hardwon.errors import Damaged, DiskFull, HardwonError, InvalidInput, NoStore, ReadOnly, SchemaNewer, SchemaOlder, StoreError
from hardwon.store.connection import (
    APPLICATION_ID,
    BUSY_MS,
    CHECKPOINT_BYTES,
    NO_SPACE,
    SCHEMA,
    open_connection,
    prepare_writer,
    translate,
)
from hardwon.store.lock import FileLock
from hardwon.store.sqlite_read import SqliteReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal

    from hardwon.store.sqlite_write import SqliteWriter
    from hardwon.types import Finding


class Handle:
    """A connection, how many of its views or transactions are open, and the term ids that it remembers."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.depth = 0
        self._ids_of: dict[str, int] = {}
        self._data_version = -1

    def begin(self, statement: str) -> None:
        """Begin what is not begun; an interrupt may have left something open, which nobody waits for any more."""
        if self.depth == 0:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            self.connection.execute(statement)
        self.depth += 1

    def roll_back(self) -> None:
        """Undo what is open, whatever it is. The engine itself may have done so already (a full disk does that)."""
        self.depth = 0
        self._data_version = -1
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def term_ids(self) -> dict[str, int]:
        """Term ids known from earlier transactions of this connection; forgotten when another has written, for it may have
        dropped some (data_version tells, and only within one connection)."""
        version = self.connection.pragma("data_version")
        if version != self._data_version:
            self._data_version = version
            self._ids_of = {}
        return self._ids_of


class SqliteStore:
    """One repository's file. Connections are per thread (and per process after a fork), opened when first used."""

    def __init__(self, path: str, made_by: str = "", clock: Callable[[], int] = lambda: 0, *, make: bool = True) -> None:
        """``made_by`` and ``clock`` (milliseconds) go into the record of a schema step.

        Without ``make`` a writer refuses to begin a new file, with NoStore: the memory that belongs there is gone.
        """
        self._make = make
        self.path = path
        self._made_by = made_by
        self._clock = clock
        self.failed_checkpoints = 0
        self._handles: dict[tuple[int, int, bool], Handle] = {}

    def read(self) -> _View:
        """A view that never waits for writers and never writes."""
        return _View(self)

    def write(self, timeout: float = 30.0) -> _Transaction:
        """A transaction: queue on the kernel lock, begin immediate, commit or roll back."""
        return _Transaction(self, timeout)

    def queue(self, work: str) -> FileLock:
        """The line for work that one process at a time should do: a kernel lock of its own beside the file."""
        return FileLock(f"{self.path}.{work}.lock")

    def checkpoint(self, timeout: float = 30.0) -> None:
        """Move what the log holds into the file, after much was written: else the next reader has to scan the log."""
        lock = self._acquire(timeout)
        try:
            connection = self.connection(readonly=False)
            _truncate_log(connection)
        except apsw.Error as error:
            raise translate(error, self.path, connection.system_errno) from error
        finally:
            lock.release()

    def compact(self, timeout: float = 30.0) -> tuple[int, int]:
        """Rewrite the file without free pages and the index without what is gone; bytes before and after.

        VACUUM writes the new content through the log, so a crash leaves the old store or the new one; it needs as much room again.
        """
        lock = self._acquire(timeout)
        try:
            connection = self.connection(readonly=False)
            _truncate_log(connection)
            before = os.path.getsize(self.path)
            connection.execute("INSERT INTO search (search) VALUES ('optimize')")
            connection.execute("VACUUM")
            _truncate_log(connection)
            return before, os.path.getsize(self.path)
        except apsw.Error as error:
            raise translate(error, self.path, connection.system_errno) from error
        finally:
            lock.release()

    def check(self) -> list[Finding]:
        """Everything that is wrong with the file; never writes."""
        from hardwon.store.check import check

        # A connection of its own: FTS5's integrity check trusts what an older one had cached before others wrote.
        with SqliteStore(self.path, make=False) as fresh, fresh.read():
            return check(fresh.connection(readonly=True))

    def close(self) -> None:
        """Let go of every connection that this process opened; idempotent."""
        for key in [key for key in self._handles if key[0] == os.getpid()]:
            self._handles.pop(key).connection.close()

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
            handle = self._handles[key] = Handle(self._open(readonly))
        return handle

    def _open(self, readonly: bool) -> apsw.Connection:
        if not readonly and self._make:
            _private_file(self.path)
        connection = open_connection(self.path, readonly=readonly, make=self._make)
        try:
            if readonly:
                self.check_schema(connection)
            else:
                self._refuse_others(connection)
                if not self._make and not connection.pragma("user_version"):
                    raise NoStore(f"{self.path} holds no memory", remedy="run `hardwon init` in the repository")
                prepare_writer(connection)
                self._upgrade(connection)
        except apsw.Error as error:
            errno = connection.system_errno
            connection.close()
            raise translate(error, self.path, errno) from error
        except HardwonError:
            connection.close()
            raise
        return connection

    def _acquire(self, timeout: float) -> FileLock:
        """The writers' lock, taken: Busy when it stays taken, NoStore, ReadOnly or DiskFull when its file cannot be made."""
        lock = FileLock(self.path + ".lock")
        try:
            lock.acquire(timeout)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoStore(f"there is no folder for {self.path}", remedy="run `hardwon init` in the repository") from error
        except OSError as error:
            raise _refused(error, lock.path) from error
        return lock

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
            raise NoStore(f"{self.path} holds no memory yet", remedy="run `hardwon init` in the repository")
        if schema > SCHEMA:
            raise SchemaNewer(
                f"{self.path} was made by a later Hardwon (schema {schema}, this one knows {SCHEMA}); it is left untouched",
                remedy="upgrade Hardwon",
            )
        raise SchemaOlder(
            f"{self.path} has schema {schema}; this Hardwon needs {SCHEMA}",
            remedy="run `hardwon init`, which upgrades it after a backup",
        )

    def _refuse_others(self, connection: apsw.Connection) -> None:
        """Before anything is set on the file: a database that is not ours stays as it is."""
        if connection.pragma("application_id") != APPLICATION_ID and connection.execute("SELECT count(*) FROM sqlite_schema").get:
            raise Damaged(f"{self.path} is a database of another program", remedy="move it away; Hardwon does not touch it")

    def _upgrade(self, connection: apsw.Connection) -> None:
        if connection.pragma("user_version") != SCHEMA:
            from hardwon.store.upgrade import upgrade

            upgrade(connection, self.path, self._made_by, self._clock())


class _View:
    """``with store.read() as reader``: one snapshot for all of its calls."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteReader:
        self._handle = self._store.handle(readonly=True)
        connection = self._handle.connection
        outermost = self._handle.depth == 0
        try:
            self._handle.begin("BEGIN")
            if outermost:
                self._store.check_schema(connection)  # reads, so that the snapshot begins here and not at the first question
        except BaseException as error:
            if outermost:
                self._handle.roll_back()
            if isinstance(error, apsw.Error):
                raise translate(error, self._store.path, connection.system_errno) from error
            raise
        return SqliteReader(connection)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        errno = self._handle.connection.system_errno
        self._handle.depth -= 1
        if self._handle.depth <= 0:  # a view inside a view of the same thread sees what the outer one sees, and ends with it
            self._handle.roll_back()
        if ours := _ours(error, self._store.path, errno):
            raise ours from error
        return False


class _Transaction:
    """``with store.write() as writer``: the only place that begins, commits and rolls back."""

    def __init__(self, store: SqliteStore, timeout: float) -> None:
        self._store = store
        self._timeout = timeout
        self._lock: FileLock | None = None
        self._handle: Handle | None = None

    def __enter__(self) -> SqliteWriter:
        from hardwon.store.sqlite_write import SqliteWriter

        if self._store.is_writing():
            raise RuntimeError("a transaction of this thread is open already; use its writer")
        if self._store._make:
            _private_folder(os.path.dirname(self._store.path))
        handle: Handle | None = None
        try:
            self._lock = self._store._acquire(self._timeout)
            handle = self._store.handle(readonly=False)
            handle.begin("BEGIN IMMEDIATE")
            self._store.check_schema(handle.connection)
            self._handle = handle
            self._writer = SqliteWriter(handle.connection, handle.term_ids())
        except BaseException as error:
            self._handle = None  # else this object, kept by a traceback, would roll back a later transaction when it goes
            if handle is not None:
                handle.roll_back()
            self._release()
            if isinstance(error, apsw.Error):
                raise translate(error, self._store.path) from error
            raise
        return self._writer

    def __del__(self) -> None:
        """Interrupted between its begin and the body of ``with``: nobody else will end it."""
        if self._handle is not None:
            self._handle.roll_back()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        handle = self._handle
        if handle is None:
            raise RuntimeError("this transaction has ended")
        try:
            self._finish(handle, error)
        finally:
            self._handle = None
            self._release()
        return False

    def _finish(self, handle: Handle, error: BaseException | None) -> None:
        connection = handle.connection
        failed = error
        try:
            if failed is None:
                self._writer.flush()
                connection.execute("COMMIT")
                handle.depth = 0
        except BaseException as at_commit:  # noqa: BLE001  # an interrupt too: nothing may stay open behind it; raised below
            failed = at_commit
        if failed is None:
            self._shorten_log(connection)
            return
        errno = connection.system_errno
        handle.roll_back()
        if ours := _ours(failed, self._store.path, errno):
            raise ours from failed
        if failed is not error:
            raise failed

    def _shorten_log(self, connection: apsw.Connection) -> None:
        """After the commit, which is safe already: a checkpoint that fails must not make it look undone. It leaves the log as it
        was, and the next commit tries again; what ails the disk is told by that write."""
        try:
            if os.path.getsize(self._store.path + "-wal") > CHECKPOINT_BYTES:
                _truncate_log(connection)
        except (apsw.BusyError, apsw.IOError, apsw.FullError, OSError):
            self._store.failed_checkpoints += 1


def _ours(error: BaseException | None, path: str, errno: int) -> HardwonError | None:
    """Our error for the engine's; None for what is to go on as it is."""
    if isinstance(error, apsw.Error):
        return translate(error, path, errno)
    if isinstance(error, UnicodeEncodeError):  # half a pair, of a name that nobody has shaped: no text here holds one
        return InvalidInput(f"{error.object[:60]!a} is no text", field="text", remedy="give text that can be written as UTF-8")
    return None


def _refused(error: OSError, path: str) -> StoreError:
    """Our error for the system's, on a file or folder of ours."""
    if error.errno in NO_SPACE:
        return DiskFull(f"no room left for {path}", remedy="free some space and try again")
    kind = ReadOnly if isinstance(error, PermissionError) or error.errno == EROFS else StoreError
    return kind(f"{path} cannot be made or opened: {error.strerror}", remedy="check the owner and mode of the folder")


def _truncate_log(connection: apsw.Connection) -> None:
    """Checkpoint, and cut the log to nothing, as far as readers allow it now; the caller holds the writers' lock."""
    connection.set_busy_timeout(0)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.set_busy_timeout(BUSY_MS)


def _private_folder(path: str) -> None:
    if os.path.isdir(path):
        return
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        os.chmod(path, 0o700)
    except OSError as error:
        raise _refused(error, path) from error


def _private_file(path: str) -> None:
    """Make the file ours to read before SQLite creates it with the process's umask; its side files take the same mode.

    Never opens an existing file: closing a raw descriptor would drop this process's POSIX locks on the database.
    """
    if os.path.exists(path):
        return
    _private_folder(os.path.dirname(path))
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise _refused(error, path) from error
