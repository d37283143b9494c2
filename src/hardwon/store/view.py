"""Reading: one snapshot for all that is asked. Apart from transaction.py, so that a command that only reads loads no more than this."""

from __future__ import annotations

import apsw

from hardwon.errors import HardwonError, InvalidInput
from hardwon.store.connection import translate
from hardwon.store.sqlite_read import SqliteReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from hardwon.store.handle import Handle
    from hardwon.store.sqlite import SqliteStore

# After these a connection may hold what it should not: a page that was misread, the full-text index's own state from before a failure,
# by which it then calls an intact file malformed.
_DISTURBING = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.FullError, apsw.NoMemError)


class View:
    """``with store.read() as reader``: one snapshot for all of its calls."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteReader:
        while True:
            self._handle = self._store.current(readonly=True)
            outermost = self._handle.depth == 0
            self._begin(outermost)
            # Once more, now that the snapshot holds: another file may have taken the place in between.
            if not outermost or not self._store.is_replaced(self._handle):
                return SqliteReader(self._handle.connection)
            self._handle.roll_back()

    def _begin(self, outermost: bool) -> None:
        connection = self._handle.connection
        try:
            self._handle.begin("BEGIN")
            if outermost:
                self._store.check_schema(connection)  # reads, so that the snapshot begins here and not at the first question
        except BaseException as error:
            errno = connection.system_errno
            if outermost:
                self._handle.roll_back()
            if ours := ours_for(error, self._store, self._handle, errno):
                raise ours from error
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        errno = self._handle.connection.system_errno
        self._handle.depth -= 1
        if self._handle.depth <= 0:  # a view inside a view of the same thread sees what the outer one sees, and ends with it
            self._handle.roll_back()
        if ours := ours_for(error, self._store, self._handle, errno):
            raise ours from error
        return False


def ours_for(error: BaseException | None, store: SqliteStore, handle: Handle | None, errno: int) -> HardwonError | None:
    """Our error for the engine's; None for what is to go on as it is."""
    if isinstance(error, apsw.Error):
        if handle is not None and isinstance(error, _DISTURBING):
            handle.suspect = True
        return translate(error, store.path, errno, store.access)
    if isinstance(error, UnicodeEncodeError):  # half a pair, of a name that nobody has shaped: no text here holds one
        return InvalidInput(f"{error.object[:60]!a} is no text", field="text", remedy="give text that can be written as UTF-8")
    return None
