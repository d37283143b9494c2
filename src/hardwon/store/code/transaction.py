"""A transaction on the code index."""

from __future__ import annotations

from hardwon.store.code.writes import Writes
from hardwon.store.side.transaction import SideTransaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.code.codefile import CodeIndex
    from hardwon.store.handle import Handle


class CodeTransaction(SideTransaction):
    """``with index.write(tree) as writer``."""

    def __init__(self, index: CodeIndex, tree: str, timeout: float) -> None:
        super().__init__(index, timeout)
        self._tree = tree

    def __enter__(self) -> Writes:
        self._writer = self.begun(self._writes)
        return self._writer

    def before_commit(self) -> None:
        """What was gathered."""
        self._writer.flush()

    def _writes(self, handle: Handle) -> Writes:
        return Writes(handle, self._tree, self._file.path, self._file.clock())
