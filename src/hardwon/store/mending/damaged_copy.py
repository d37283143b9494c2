"""What is intact of a damaged store, read from a copy of its file and log: the file itself is only looked at."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Damaged
from hardwon.store import copying
from hardwon.store.connection import Access, open_connection, translate, truncate_log
from hardwon.store.mending import raw
from hardwon.store.mending.salvage import Salvage, salvage


def salvaged(path: str, work: str, access: Access) -> Salvage:
    """The intact rows of the store at ``path``; ``work`` is where the copy lies meanwhile. StoreError where the disk refuses, Damaged for
    what is no file, OSError where the copy cannot be written."""
    try:
        for end in ("", "-wal"):
            if os.path.exists(path + end):
                raw.copy(path + end, work + end, access.vfs)
        if access.key:
            _apply_log(work, access)
        return salvage(work, access)
    except apsw.Error as error:
        raise translate(error, path) from error
    finally:
        copying.discard(work)


def _apply_log(work: str, access: Access) -> None:
    """Of an encrypted copy, SQLite has to move the log into the file, as far as it can; what it cannot is lost, and found missing by
    the salvage."""
    try:
        connection = open_connection(work, readonly=False, make=False, access=access)
        try:
            truncate_log(connection)
        finally:
            connection.close()
    except (apsw.Error, Damaged):
        return
