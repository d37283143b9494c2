"""Disks and stores that break the promise on purpose. Where nothing is noticed on one of these, the proof could not notice anything."""

from __future__ import annotations

from hardwon.store.sqlite import SqliteStore
from hardwon.store.transaction import Transaction
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal

    from hardwon.store.handle import Handle
    from hardwon.store.lock import FileLock

_ENGINE_FILES = (".db", "-wal", "-journal")


def honest(kind: str, path: str) -> bool:
    """A disk on which every sync is one."""
    return False


def no_sync(kind: str, path: str) -> bool:
    """A disk that does nothing on a sync of a file."""
    return kind == "sync"


def no_sync_of_ours(kind: str, path: str) -> bool:
    """Files that SQLite does not write are never synced, as if we had forgotten to."""
    return kind == "sync" and not path.endswith(_ENGINE_FILES)


def no_sync_of_folders(kind: str, path: str) -> bool:
    """Names are never synced."""
    return kind == "syncfolder"


class Setting(Value):
    """What a sequence runs on: which syncs the disk only claims, by kind and path, and the store."""

    name: str
    lies: Callable[[str, str], bool] = honest
    store: type[SqliteStore] = SqliteStore


class Unsynced(SqliteStore):
    """SQLite without a sync."""

    def handle(self, *, readonly: bool) -> Handle:
        """As ever, with the pragma that we never use."""
        handle = super().handle(readonly=readonly)
        if not readonly and handle.depth == 0:
            handle.connection.pragma("synchronous", "off")
        return handle


class Hasty(SqliteStore):
    """A store that says done before it commits, and commits when the next one begins."""

    _waiting: HastyTransaction | None = None

    def write(self, timeout: float = 30.0) -> HastyTransaction:
        """The one before is committed only now."""
        self.settle()
        self._waiting = HastyTransaction(self, timeout)
        return self._waiting

    def settle(self) -> None:
        """Commit what was acknowledged."""
        if self._waiting is not None:
            self._waiting.settle()

    def close(self) -> None:
        """Not without a commit."""
        self.settle()
        super().close()

    def _acquire(self, timeout: float) -> FileLock:
        """Whoever wants the lock gets it from the one that still holds it."""
        self.settle()
        return super()._acquire(timeout)


class HastyTransaction(Transaction):
    """Its end is put off."""

    _left = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self._left = error is None
        return False if self._left else super().__exit__(kind, error, trace)

    def settle(self) -> None:
        """The end."""
        if self._left:
            self._left = False
            super().__exit__(None, None, None)


CONTROLS = (
    Setting("synchronous off", store=Unsynced),
    Setting("the disk lies on sync", no_sync),
    Setting("no sync of our own files", no_sync_of_ours),
    Setting("no sync of folders", no_sync_of_folders),
    Setting("acknowledged before the commit", store=Hasty),
)
