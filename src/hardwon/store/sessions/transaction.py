"""A transaction on the file of sessions."""

from __future__ import annotations

from hardwon.store.sessions.writes import WorkWrites
from hardwon.store.side.transaction import SideTransaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.handle import Handle


class WorkTransaction(SideTransaction):
    """``with file.write(timeout) as writer``."""

    def __enter__(self) -> WorkWrites:
        return self.begun(self._writes)

    def _writes(self, handle: Handle) -> WorkWrites:
        return WorkWrites(handle, self._file.path)
