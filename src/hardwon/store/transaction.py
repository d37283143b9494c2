"""Beginning, committing and rolling back a transaction, and what follows a commit."""

from __future__ import annotations

import os
from time import time

import apsw

from hardwon.store.connection import BUSY_MS, CHECKPOINT_BYTES, LOG_REFUSED, truncate_log
from hardwon.store.view import ours_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from hardwon.store.handle import Handle
    from hardwon.store.lock import FileLock
    from hardwon.store.sqlite import SqliteStore
    from hardwon.store.sqlite_write import SqliteWriter


_HEAD_SECONDS = 60.0


class Transaction:
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
        self._store.make_place()
        handle: Handle | None = None
        try:
            self._lock = self._store._acquire(self._timeout)
            handle = self._store.current(readonly=False)
            make_room(handle.connection, self._store.path, self._timeout)
            handle.connection.set_busy_timeout(min(BUSY_MS, int(1000 * self._timeout)))  # for writers that do not queue
            handle.begin("BEGIN IMMEDIATE")
            self._store.check_schema(handle.connection)
            self._handle = handle
            self._writer = SqliteWriter(handle.connection, handle.term_ids())
        except BaseException as error:
            self._handle = None  # else this object, kept by a traceback, would roll back a later transaction when it goes
            errno = 0
            if handle is not None:
                errno = handle.connection.system_errno
                handle.roll_back()
            self._release()
            if ours := ours_for(error, self._store, handle, errno):
                raise ours from error
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
            self._tell_head(connection, shortened=self._shorten_log(connection))
            self._cut_log(connection)
            return
        errno = connection.system_errno
        handle.roll_back()
        if ours := ours_for(failed, self._store, handle, errno):
            raise ours from failed
        if failed is not error:
            raise failed

    def _cut_log(self, connection: apsw.Connection) -> None:
        """What was erased stood in the log while a reader held it: try again. Looking whether there is such a thing comes after the
        commit as well, and must not make it look undone either."""
        try:
            if self._writer.setting("erasing") != "log":
                return
            from hardwon.store.erasure import cut_log

            cut_log(self._store.path, connection)
        except (apsw.Error, OSError):
            self._store.failed_checkpoints += 1

    def _shorten_log(self, connection: apsw.Connection) -> bool:
        """After the commit, which is safe already: a checkpoint that fails must not make it look undone. It leaves the log as it
        was, and the next commit tries again; what ails the disk is told by that write. Whether it was shortened."""
        try:
            if os.path.getsize(self._store.path + "-wal") > CHECKPOINT_BYTES:
                truncate_log(connection)
                return True
        except (apsw.Error, OSError):
            self._store.failed_checkpoints += 1
        return False

    def _tell_head(self, connection: apsw.Connection, *, shortened: bool) -> None:
        """Outside the store, how far the journal has come: with each checkpoint, and else at most once a minute (store/checks/heads.py)."""
        head = self._store.head
        if head and (shortened or _is_older(head, _HEAD_SECONDS)):
            from hardwon.store.checks import heads

            heads.note(head, connection)


def make_room(connection: apsw.Connection, path: str, timeout: float) -> None:
    """Refuse to begin on a log that a reader keeps from being moved, once it nears its ceiling."""
    try:
        if os.path.getsize(path + "-wal") <= LOG_REFUSED:
            return
    except OSError:
        return
    from hardwon.store import ceiling

    ceiling.make_room(connection, path, timeout)


def _is_older(path: str, seconds: float) -> bool:
    """Whether a file was written longer ago, or is not there. A time that lies ahead is one that a wrong clock left."""
    try:
        return not 0 <= time() - os.stat(path).st_mtime < seconds
    except OSError:
        return True
