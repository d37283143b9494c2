"""Opening a file beside the store for writing: made where there is none, and made anew where it is of no use."""

from __future__ import annotations

import apsw

from hardwon.errors import Damaged, HardwonError
from hardwon.store.connection import INCREMENTAL, JOURNAL_BYTES, open_connection, translate
from hardwon.store.handle import Handle, file_at
from hardwon.store.sqlite import private_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.connection import Access
    from hardwon.store.side.file import SideFile

_CACHE = 64 << 10  # kilobytes of pages while it is written: with SQLite's 2,000 a first index writes each page many times


def opened(file: SideFile, access: Access) -> Handle:
    """A connection to write with; the caller holds the lock. ReadOnly, DiskFull, StoreError."""
    try:
        return _opened(file, access)
    except Damaged:
        file.remove()
        return _opened(file, access)


def _opened(side: SideFile, access: Access) -> Handle:
    private_file(side.path)
    file = file_at(side.path)
    connection = open_connection(side.path, readonly=False, access=access)
    try:
        is_new = not connection.execute("SELECT count(*) FROM sqlite_schema").get
        if not is_new:
            side.refuse_others(connection)
        _prepare(connection)
        if is_new:
            _make(side, connection)
    except apsw.Error as error:
        errno = connection.system_errno
        connection.close()
        raise translate(error, side.path, errno, access) from error
    except HardwonError:
        connection.close()
        raise
    return Handle(connection, file)


def _prepare(connection: apsw.Connection) -> None:
    """The habits of a writer. Nothing in here is promised to be durable: a commit may be lost with the power, the file stays whole."""
    if not connection.pragma("page_count"):
        connection.pragma("auto_vacuum", INCREMENTAL)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("journal_size_limit", JOURNAL_BYTES)
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("cache_size", -_CACHE)
    connection.pragma("temp_store", 2)
    connection.pragma("foreign_keys", 1)


def _make(side: SideFile, connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(side.tables())
        connection.pragma("application_id", side.application_id)
        connection.pragma("user_version", side.version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
