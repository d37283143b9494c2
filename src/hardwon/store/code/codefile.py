"""The file of the code index: read in snapshots, written by one at a time.

It lies beside the store (``STORE.code``) and holds nothing that a command does not make again from the repository.
"""

from __future__ import annotations

import os

from hardwon.store.code import CODE
from hardwon.store.code.reads import Reads
from hardwon.store.side.file import SideFile, SideReading, beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.store.code.absent import NoReads
    from hardwon.store.code.transaction import CodeTransaction
    from hardwon.store.handle import Handle
    from hardwon.store.sqlite import SqliteStore


class CodeIndex(SideFile):
    """One repository's file, for all of its working trees."""

    # "HWCI" in ASCII, and the number of the tables (store/code/tables.py).
    application_id = 0x48574349
    version = 2
    what = "the code index"
    remedy = "`hardwon ingest code` makes it anew"

    @classmethod
    def of(cls, store: SqliteStore, clock: Callable[[], int] = lambda: 0) -> CodeIndex:
        """The index beside a store, encrypted with the store's key."""
        return cls(store.path + CODE, beside(store), clock)

    def tables(self) -> str:
        """As SQL."""
        from hardwon.store.code.tables import TABLES

        return TABLES

    def read(self, tree: str) -> Reading:
        """A view that never waits for writers, never writes and never fails."""
        return Reading(self, tree)

    def write(self, tree: str, timeout: float = 30.0) -> CodeTransaction:
        """A transaction: queue on the kernel lock, begin immediate, commit or roll back. The file is made where there is none to use."""
        from hardwon.store.code.transaction import CodeTransaction

        return CodeTransaction(self, tree, timeout)

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
        from hardwon.store.side.transaction import scrub

        return scrub(self, ("DELETE FROM held", "DELETE FROM trails"), timeout)


class Reading(SideReading):
    """``with index.read(tree) as reader``: one snapshot for all of its calls; where nothing can be read, a view of nothing."""

    def __init__(self, index: CodeIndex, tree: str) -> None:
        super().__init__(index)
        self._tree = tree

    def __enter__(self) -> Reads | NoReads:
        found = self.begun(self._reads)
        return _nothing(found) if isinstance(found, str) else found

    def _reads(self, handle: Handle) -> Reads:
        return Reads(handle, self._tree, self._file.path)


def _nothing(trouble: str) -> NoReads:
    from hardwon.store.code.absent import NoReads

    return NoReads(trouble)
