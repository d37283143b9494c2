"""Beginning and ending a transaction on the code index, and what follows a commit."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Damaged
from hardwon.store.code.writes import Writes
from hardwon.store.connection import CHECKPOINT_BYTES, translate, truncate_log
from hardwon.store.transaction import make_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from hardwon.store.code.codefile import CodeIndex
    from hardwon.store.handle import Handle
    from hardwon.store.sqlite import StoreLock


class CodeTransaction:
    """``with index.write(tree) as writer``. A file that turns out to be damaged is removed before Damaged is raised: trying again
    makes it anew."""

    def __init__(self, index: CodeIndex, tree: str, timeout: float) -> None:
        self._index = index
        self._tree = tree
        self._timeout = timeout
        self._lock: StoreLock | None = None
        self._handle: Handle | None = None

    def __enter__(self) -> Writes:
        index = self._index
        if index.is_writing():
            raise RuntimeError("a transaction of this thread is open already; use its writer")
        handle: Handle | None = None
        try:
            # First the lock, then the key: a store that is encrypted meanwhile removes its index when it has the lock, so that no file in
            # the clear is begun behind its back.
            self._lock = index.lock(self._timeout)
            handle = index.current(readonly=False)
            make_room(handle.connection, index.path, self._timeout)
            handle.begin("BEGIN IMMEDIATE")
            index.refuse_others(handle.connection)
            writer = Writes(handle, self._tree, index.path, index.clock())
        except BaseException as error:
            self._fail(handle, error)
            raise
        self._handle, self._writer = handle, writer
        return writer

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
                self._writer.flush()
                handle.connection.execute("COMMIT")
                handle.depth = 0
            except BaseException as at_commit:
                self._fail(handle, at_commit)
                raise
            _shorten_log(handle, self._index.path)
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
            ours = translate(error, self._index.path, errno, self._index.access())
            if isinstance(ours, Damaged):
                self._index.remove()
                ours = Damaged(
                    f"{self._index.path} was damaged, and is removed: {error}", remedy="`hardwon ingest code` makes it anew"
                )
            raise ours from error
        finally:
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def scrub(index: CodeIndex, timeout: float) -> bool:
    """As ``CodeIndex.scrub``; Busy, DiskFull."""
    lock = index.lock(timeout)
    try:
        handle = index.current(readonly=False)
        connection = handle.connection
        try:
            connection.execute("DELETE FROM held")
            connection.execute("DELETE FROM trails")
            connection.execute("VACUUM")
            truncate_log(connection, 1000)
        except apsw.Error as error:
            ours = translate(error, index.path, connection.system_errno, index.access())
            if not isinstance(ours, Damaged):
                raise ours from error
            index.remove()
        return not os.path.exists(index.path + "-wal") or os.path.getsize(index.path + "-wal") == 0
    finally:
        lock.release()


def _shorten_log(handle: Handle, path: str) -> None:
    """After the commit, which must not look undone: a checkpoint that fails leaves the log, and the next commit tries again."""
    try:
        if os.path.getsize(path + "-wal") > CHECKPOINT_BYTES:
            truncate_log(handle.connection)
    except (apsw.Error, OSError):
        handle.suspect = True  # closed and opened anew by the next
