"""A whole copy of a store in one file, made while others write, and the places where such a file may go."""

from __future__ import annotations

import os
import stat

import apsw

from hardwon.errors import Damaged, DiskFull, HardwonError, InvalidInput, ReadOnly, StoreError
from hardwon.store import files
from hardwon.store.beside import unfinished
from hardwon.store.connection import APPLICATION_ID, CIPHER, NO_SPACE, Access, ciphered, open_connection, translate

_MAGIC = b"SQLite format 3\0"
_IDENTIFIED = 68  # where SQLite's header has the application's own number
_LOGS = ("-wal", "-shm", "-journal")
_SIDES = (*_LOGS, ".lock", ".spool", ".spool.lock")
_NO_RIGHT = {1, 13, 30}  # EPERM, EACCES, EROFS


def copy(path: str, access: Access, target: str, into: Access) -> None:
    """Write what the store at ``path`` holds now, its log included, into a new file, encrypted with the key of ``into``; synced.

    One snapshot: writers go on meanwhile, and cannot starve it. VACUUM INTO, because it leaves out free pages, in which what was
    forgotten may still lie, and reads every row on the way; SQLite's backup API copies such pages, and bad ones unseen. While it
    runs the log is not begun anew. Damaged, Busy, DiskFull and the other errors of a store; then there is no file.
    """
    source = open_connection(path, readonly=True, access=access)
    try:
        source.pragma("query_only", 0)  # it would refuse this as a write, which the connection cannot do anyway
        source.pragma("temp_store", 2)  # in memory: temporary files are not encrypted
        source.execute("VACUUM INTO ?", (_named(target, access, into),))
        _settle(target, into)
    except apsw.Error as error:
        discard(target)
        # A new error of that type: the text may hold the name that was given, and that the key.
        raise translate(type(error)("the copy failed"), path, source.system_errno, access) from None
    except OSError as error:
        discard(target)
        raise refused(error, target) from error
    except BaseException:
        discard(target)
        raise
    finally:
        source.close()


def _named(target: str, access: Access, into: Access) -> str:
    """The name for VACUUM INTO, which takes another key as a part of it."""
    name = "file:" + target.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    wanted = []
    if into.key != access.key:
        wanted.append(f"cipher={CIPHER}&key=raw:{into.key.hex()}" if into.key else "key=")
    if into.vfs:
        wanted.append(f"vfs={ciphered(into)}")
    return name + ("?" + "&".join(wanted) if wanted else "")


def _settle(target: str, into: Access) -> None:
    """With a log from the first reader on, for one without would keep the first writer waiting; private, and on the disk."""
    made = open_connection(target, readonly=False, make=False, access=into)
    try:
        made.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        made.pragma("journal_mode", "wal")
    except apsw.Error as error:
        raise translate(error, target, made.system_errno) from error
    finally:
        made.close()
    sync(target)


def sync(target: str) -> None:
    """Have a finished file on the disk, and nothing beside it; nobody has it open."""
    disk = files.disk
    for end in _SIDES:
        disk.unlink(target + end)
    descriptor = disk.open(target, os.O_RDWR)
    try:
        os.fchmod(descriptor, 0o600)
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)


def discard(target: str) -> None:
    """Remove a file that did not come to be, with what lies beside it. Where the system refuses, it stays: that is no reason to call
    what was done undone, nor to hide why it was not."""
    for end in ("", *_SIDES):
        try:
            files.disk.unlink(target + end)
        except OSError:
            continue


def beside(path: str) -> str:
    """A name for a file in the making, in the same folder."""
    return os.path.join(os.path.dirname(os.path.abspath(path)), f"{unfinished(path)}{os.urandom(8).hex()}.part")


def take_place(part: str, path: str) -> None:
    """Give a finished and synced file its name, in one step, durable on return."""
    try:
        for end in _LOGS:  # what looking into an earlier one has left
            files.disk.unlink(path + end)
        files.disk.replace(part, path)
        files.disk.sync_folder(os.path.dirname(os.path.abspath(path)))
    except OSError as error:
        discard(part)
        raise refused(error, path) from error


def check_place(path: str, home: str, *, force: bool) -> None:
    """InvalidInput where a backup must not be put: in Hardwon's own folder, over a store that is in use, over what is no file; and,
    without ``force``, over what is no backup of ours."""
    try:
        folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
        if (folder + os.sep).startswith(os.path.realpath(home) + os.sep):
            raise _unusable(path, "lies in Hardwon's own folder")
        if not os.path.isdir(folder):
            raise _unusable(path, "is in no folder that exists")
        state = os.lstat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise _unusable(path, f"cannot be written: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(state.st_mode):
        raise _unusable(path, "is a folder" if stat.S_ISDIR(state.st_mode) else "is no regular file")
    if os.path.exists(path + "-wal") and os.path.getsize(path + "-wal"):  # it would be read on top of the new file
        raise _unusable(path, "is a database in use")
    if is_foreign(path):
        raise _unusable(path, "is a database of another program")
    if not force and not is_backup(path):
        raise InvalidInput(
            f"{path[:200]!r} is no backup of ours", field="file", remedy="name another file, or replace it with --force"
        )


def identity(path: str, access: Access) -> tuple[int, int]:
    """The application's number and the schema of a database that the key of ``access`` opens; zeros where it opens none."""
    try:
        connection = open_connection(path, readonly=True, access=access)
        try:
            return int(connection.pragma("application_id")), int(connection.pragma("user_version"))
        finally:
            connection.close()
    except (apsw.Error, Damaged):
        return 0, 0


def is_backup(path: str) -> bool:
    """Whether a file, which nobody has open as a database, is a store that is not encrypted."""
    return _application(path) == APPLICATION_ID


def is_foreign(path: str) -> bool:
    """Whether a file is a SQLite database that is none of ours."""
    return _application(path) not in (APPLICATION_ID, None)


def _application(path: str) -> int | None:
    """The application's number in a database's header, None for what is no database, or cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError:
        return None
    return int.from_bytes(head[_IDENTIFIED : _IDENTIFIED + 4], "big") if head.startswith(_MAGIC) else None


def refused(error: OSError, path: str) -> HardwonError:
    """Our error for the system's, on a file that was to be written or read."""
    what = f"{path} cannot be used: {error.strerror or error}"
    if error.errno in NO_SPACE:
        return DiskFull(what, field="file", remedy="free some space, or name a place on another disk")
    if error.errno in _NO_RIGHT:
        return ReadOnly(what, field="file", remedy="check the owner and mode of the file and its folder")
    return StoreError(what, field="file", remedy="name another place")


def _unusable(path: str, what: str) -> InvalidInput:
    return InvalidInput(f"{path[:200]!r} {what}", field="file", remedy="name another file")
