"""Beginning and ending a transaction on a file beside the store, and what follows a commit."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Damaged
from hardwon.store.connection import CHECKPOINT_BYTES, translate, truncate_log
from hardwon.store.transaction import make_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Literal, TypeVar

    from hardwon.store.handle import Handle
    from hardwon.store.side.file import SideFile
    from hardwon.store.sqlite import StoreLock

    W = TypeVar("W")


class SideTransaction:
    """A kind of file makes a context of it. A file that turns out to be damaged is removed before Damaged is raised: trying again makes
    it anew."""

    def __init__(self, file: SideFile, timeout: float) -> None:
        self._file = file
        self._timeout = timeout
        self._lock: StoreLock | None = None
        self._handle: Handle | None = None

    def begun(self, writes: Callable[[Handle], W]) -> W:
        """Queue on the lock and begin; what ``writes`` makes of the connection."""
        file = self._file
        if file.is_writing():
            raise RuntimeError("a transaction of this thread is open already; use its writer")
        handle: Handle | None = None
        try:
            # First the lock, then the key: a store that is encrypted meanwhile removes the file when it has the lock, so that none in
            # the clear is begun behind its back.
            self._lock = file.lock(self._timeout)
            handle = file.current(readonly=False)
            make_room(handle.connection, file.path, self._timeout)
            handle.begin("BEGIN IMMEDIATE")
            file.refuse_others(handle.connection)
            writer = writes(handle)
        except BaseException as error:
            self._fail(handle, error)
            raise
        self._handle = handle
        return writer

    def before_commit(self) -> None:
        """What is still to be written."""

    def __del__(self) -> None:
        """Interrupted between its begin and the body of ``with``: nobody else will end it."""
        if self._handle is not None:
            self._handle.roll_back()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        handle, self._handle = self._handle, None
        if handle is None:
            raise RuntimeError("this transaction has ended")
        if error is None:
            try:
                self.before_commit()
                handle.connection.execute("COMMIT")
                handle.depth = 0
            except BaseException as at_commit:
                self._fail(handle, at_commit)
                raise
            _shorten_log(handle, self._file.path)
            self._release()
        else:
            self._fail(handle, error)
        return False

    def _fail(self, handle: Handle | None, error: BaseException) -> None:
        """Undo, let go, and raise our error for the engine's; returns for any other."""
        try:
            if handle is None:
                return
            errno = handle.connection.system_errno
            handle.roll_back()
            if not isinstance(error, apsw.Error):
                return
            handle.suspect = True
            ours = translate(error, self._file.path, errno, self._file.access())
            if isinstance(ours, Damaged):
                self._file.remove()
                ours = Damaged(f"{self._file.path} was damaged, and is removed: {error}", remedy=self._file.remedy)
            raise ours from error
        finally:
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def scrub(file: SideFile, statements: Sequence[str], timeout: float) -> bool:
    """Run statements that delete, and write the file anew, since pages keep copies of what was deleted; a damaged one is removed. False
    while a reader holds the log; Busy, DiskFull."""
    lock = file.lock(timeout)
    try:
        connection = file.current(readonly=False).connection
        try:
            for statement in (*statements, "VACUUM"):
                connection.execute(statement)
            truncate_log(connection, 1000)
        except apsw.Error as error:
            ours = translate(error, file.path, connection.system_errno, file.access())
            if not isinstance(ours, Damaged):
                raise ours from error
            file.remove()
        return not os.path.exists(file.path + "-wal") or os.path.getsize(file.path + "-wal") == 0
    finally:
        lock.release()


def _shorten_log(handle: Handle, path: str) -> None:
    """After the commit, which must not look undone: a checkpoint that fails leaves the log, and the next commit tries again."""
    try:
        if os.path.getsize(path + "-wal") > CHECKPOINT_BYTES:
            truncate_log(handle.connection)
    except (apsw.Error, OSError):
        handle.suspect = True  # closed and opened anew by the next
