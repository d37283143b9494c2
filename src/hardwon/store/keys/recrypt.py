"""Giving a store another key, or none: a whole copy under the writers' lock, compared row by row, which then takes the store's place.

SQLite Multiple Ciphers can change the key within the file (``PRAGMA rekey``). Rejected: it writes every page through the journal or
the log, of which pages of both keys may be left by a crash; with a log it keeps the old salt; and every other process that has the
file open fails meanwhile. So the old file stays as it is until the new one is whole, and a crash leaves one or the other.
"""

from __future__ import annotations

import os
from itertools import zip_longest

import apsw

from hardwon.errors import Damaged
from hardwon.store import files
from hardwon.store.beside import unfinished
from hardwon.store.connection import Access, open_connection, translate, truncate_log
from hardwon.store.copying import copy, refused
from hardwon.store.swap import give_up, swap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.sqlite import SqliteStore

# Beside the store: the new file until it takes the place, and the old one afterwards.
PART, BEFORE = ".rekey", ".before-rekey"
# What stays when the rest goes: locks that others may be waiting for, the note of a swap, keys. The spool is emptied by its own rules.
_KEPT_ENDS = (".lock", ".swap", ".key")


def recrypt(store: SqliteStore, into: Access, timeout: float = 30.0) -> None:
    """Encrypt the store's file with the key of ``into`` (PLAIN's is none), whatever it was encrypted with.

    Returns when the new file is in force and synced; the old one lies beside it until ``remove_leftovers``. Killed at any point, the
    place holds the old file or the new one. Busy, DiskFull, Damaged (the copy is not equal: nothing was changed).
    """
    part = store.path + PART
    into.vfs = store.access.vfs
    lock = store._acquire(timeout)
    try:
        connection = store.current(readonly=False).connection  # finishes a swap that was begun, before what it needs is removed
        remove_leftovers(store.path, only=(PART, BEFORE))
        try:
            truncate_log(connection)
            copy(store.path, store.access, part, into)
            _compare(connection, part, into)
        except apsw.Error as error:
            raise translate(error, store.path, connection.system_errno, store.access) from error
        store.let_go()
        swap(store.path, part, store.path + BEFORE)
        store.access = into
    except BaseException as error:
        give_up(store.path, part)
        if isinstance(error, OSError):
            raise refused(error, store.path) from error
        raise
    finally:
        lock.release()


def _compare(connection: apsw.Connection, part: str, into: Access) -> None:
    """Damaged unless the copy is encrypted as it should be, whole, and has every row of every table alike."""
    with open(part, "rb") as file:
        plain = file.read(16) == b"SQLite format 3\0"
    if plain == bool(into.key):
        raise _unequal("its pages are not encrypted as they should be")
    made = open_connection(part, readonly=False, make=False, access=into)
    made.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)  # it leaves no log behind when it is closed
    try:
        for (told,) in made.execute("PRAGMA integrity_check(1)"):
            if told != "ok":
                raise _unequal(told)
        for name in ("user_version", "application_id", "auto_vacuum"):
            if made.pragma(name) != connection.pragma(name):
                raise _unequal(name)
        schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
        _same_rows(connection, made, schema, "the schema")
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")
        for (table,) in tables.fetchall():
            _same_rows(connection, made, f'SELECT * FROM "{table}"', str(table))
    finally:
        made.close()


def _same_rows(one: apsw.Connection, other: apsw.Connection, statement: str, what: str) -> None:
    if any(expected != found for expected, found in zip_longest(one.execute(statement), other.execute(statement))):
        raise _unequal(what)


def _unequal(what: str) -> Damaged:
    return Damaged(
        f"the copy is not equal to the store ({what}), and was not used",
        remedy="look at the store with `hardwon verify`, and try again",
    )


def leftovers(path: str) -> list[str]:
    """What else lies beside a store with its content in it, or a part of it: copies from before a step, side files of vectors, what a
    killed restore or repair had begun."""
    folder, base = os.path.split(path)
    names = (name for name in os.listdir(folder) if name.startswith((base + ".", unfinished(path))))
    return sorted(os.path.join(folder, name) for name in names if not name.endswith(_KEPT_ENDS) and ".spool" not in name)


def remove_leftovers(path: str, only: tuple[str, ...] = ()) -> list[str]:
    """Take those away (or ``only`` what begins so behind the store's name); their names. The caller holds the writers' lock, or
    knows that no other wants them. StoreError and its like where the system refuses."""
    wanted = [name for name in leftovers(path) if not only or name.startswith(tuple(path + one for one in only))]
    try:
        for name in wanted:
            if os.path.isdir(name):
                _remove_folder(name)
            else:
                files.disk.unlink(name)
        if wanted:
            files.disk.sync_folder(os.path.dirname(path))
    except OSError as error:
        raise refused(error, path) from error
    return wanted


def _remove_folder(path: str) -> None:
    for name in os.listdir(path):
        full = os.path.join(path, name)
        _remove_folder(full) if os.path.isdir(full) and not os.path.islink(full) else files.disk.unlink(full)
    os.rmdir(path)
