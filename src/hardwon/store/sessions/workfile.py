"""The file of sessions: what agents are doing now, so that hook processes remember it from one call to the next.

It lies beside the store (``STORE.work``), so that a hook is never held up by a long write of the store. What is lost with it is no memory:
marks of what was said and refused, and what a session that goes on has not taught yet.
"""

from __future__ import annotations

import os

from hardwon.errors import Damaged
from hardwon.store.sessions import WORK
from hardwon.store.sessions.reads import WorkReads
from hardwon.store.side.file import SideFile, SideReading, beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.store.connection import Access
    from hardwon.store.sessions.transaction import WorkTransaction
    from hardwon.store.sqlite import SqliteStore

_SCRUBBED = (
    "DELETE FROM refusals", "DELETE FROM told", "DELETE FROM calls", "DELETE FROM waiting", "DELETE FROM sessions",
)  # fmt: skip


class WorkFile(SideFile):
    """One repository's file, for all of its sessions."""

    # "HWWK" in ASCII, and the number of the tables (store/sessions/tables.py).
    application_id = 0x4857574B
    version = 1
    what = "the file of sessions"
    remedy = "the next hook makes it anew"

    @classmethod
    def of(cls, store: SqliteStore, clock: Callable[[], int] = lambda: 0) -> WorkFile:
        """The file beside a store, encrypted with the store's key."""
        known = beside(store)

        def access() -> Access:
            try:
                return known()
            except Damaged:
                if store.recipient:
                    raise
                return store.access  # the sessions of a plain store that is damaged are told of all the same

        return cls(store.path + WORK, access, clock)

    def tables(self) -> str:
        """As SQL."""
        from hardwon.store.sessions.tables import TABLES

        return TABLES

    def read(self) -> WorkReading:
        """A view that never waits for writers, never writes and never fails."""
        return WorkReading(self)

    def write(self, timeout: float) -> WorkTransaction:
        """A transaction: queue on the kernel lock, begin immediate, commit or roll back. The file is made where there is none to use."""
        from hardwon.store.sessions.transaction import WorkTransaction

        return WorkTransaction(self, timeout)

    def check(self) -> str:
        """What is wrong with the file, "" where nothing is or there is no file. Reads all of it."""
        with self.read() as reader:
            return reader if isinstance(reader, str) else reader.check()

    def scrub(self, timeout: float = 30.0) -> bool:
        """Forget every session, for good: what was said in them may be what was erased. When which hook ran stays. False while a reader
        holds the log."""
        if not os.path.lexists(self.path):
            return True
        from hardwon.store.side.transaction import scrub

        return scrub(self, _SCRUBBED, timeout)


class WorkReading(SideReading):
    """``with file.read() as reader``: one snapshot for all of its calls; why there is none where nothing can be read ("" for no file)."""

    def __enter__(self) -> WorkReads | str:
        return self.begun(lambda handle: WorkReads(handle, self._file.path))
