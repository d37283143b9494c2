"""Connections with our habits: which engine is safe, how a file is opened, what its errors are called."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Busy, Damaged, DiskFull, EngineUnsafe, NoStore, ReadOnly, StoreError

# Bytes of log after which a commit moves it into the file. Small, because the log is kept between processes (closing does not
# checkpoint: that would cost each short command two more syncs) and the first to open a quiet store has to scan it. SQLite's own
# automatic checkpoint is off: a process that has just recovered the log never gets to start it anew, so that under short
# commands it grew without end.
CHECKPOINT_BYTES = 1 << 20
JOURNAL_BYTES = 4 << 20
BUSY_MS = 5000
# The file can be shortened in small steps, while others write (PRAGMA auto_vacuum).
INCREMENTAL = 2

# "HWON" in ASCII: tells a store from any other SQLite file. And the newest step of store/schema.py, which is not loaded to compare a
# number with it.
APPLICATION_ID = 0x48574F4E
SCHEMA = 3

# ChaCha20 with a Poly1305 tag on every page, so that a changed page is found by itself. Named, for the default may change.
CIPHER = "chacha20"

NO_SPACE = {27, 28, 122}  # EFBIG, ENOSPC, EDQUOT


class Access:
    """How the file of a store is reached. ``vfs``: the SQLite VFS under it ("" is the system's own; the proof of durability brings
    others); ``key``: the raw 32 bytes that it is encrypted with, b"" for a plain one. No Value: those are printed, and a key must not be.
    """

    __slots__ = ("key", "vfs")

    def __init__(self, vfs: str = "", key: bytes = b"") -> None:
        self.vfs = vfs
        self.key = key


PLAIN = Access()


def engine_is_safe(version: str) -> bool:
    """False for the SQLite releases that can lose a commit when it overlaps a checkpoint: 3.7.0 to 3.51.2, less two backports."""
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    if (major, minor) in ((3, 44), (3, 50)):
        return patch >= (6 if minor == 44 else 7)
    return (major, minor, patch) >= (3, 51, 3)


def open_connection(path: str, *, readonly: bool, make: bool = True, access: Access = PLAIN) -> apsw.Connection:
    """A connection with our habits; NoStore when there is no file and none is to be made."""
    version = apsw.sqlite_lib_version()
    if not engine_is_safe(version):
        raise EngineUnsafe(
            f"SQLite {version} can lose acknowledged writes (the WAL-reset race)",
            remedy="install apsw-sqlite3mc 3.54 or newer",
        )
    if (readonly or not make) and not os.path.exists(path):
        raise NoStore(
            f"the memory that belongs here is not at {path}",
            remedy="put it back from a backup, or run `hardwon init` to begin a new one",
        )
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited on, a device has no end
        raise Damaged(f"{path} is not a file", remedy="move it away, and put the store back from a backup")
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    name = path
    if readonly and not os.path.exists(path + "-wal") and not os.access(os.path.dirname(path), os.W_OK):
        # A copy on a medium that cannot be written: nobody can change it, and the log's index cannot be made.
        flags |= apsw.SQLITE_OPEN_URI
        name = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?immutable=1"
    try:
        connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_NOMUTEX, vfs=access.vfs or None)
        if access.key:
            unlock(connection, access.key)
        connection.set_busy_timeout(BUSY_MS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        if readonly:
            connection.pragma("query_only", 1)
    except apsw.Error as error:
        raise translate(error, path) from error
    return connection


def unlock(connection: apsw.Connection, key: bytes) -> None:
    """Give a connection the key of its file; it shows at the first read whether that fits. Raw, so that no derivation costs time."""
    connection.pragma("cipher", CIPHER)
    connection.pragma("key", "raw:" + key.hex())
    connection.pragma("temp_store", 2)  # in memory: temporary files are not encrypted


def prepare_writer(connection: apsw.Connection) -> None:
    """One pragma at a time: a script would stop at the first that answers with a row."""
    from hardwon.store.checksums import register

    register(connection)
    if not connection.pragma("page_count"):
        connection.pragma("auto_vacuum", INCREMENTAL)  # of a file that has tables it is changed by a VACUUM only
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", 1)
    connection.pragma("secure_delete", "fast")
    connection.pragma("journal_size_limit", JOURNAL_BYTES)
    connection.pragma("wal_autocheckpoint", 0)


def translate(error: apsw.Error, path: str, errno: int = 0) -> StoreError | NoStore:
    """Our error for the engine's: transient ones are never taken for damage."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Busy("the memory is in use by another process", remedy="try again")
    if isinstance(error, apsw.FullError) or errno in NO_SPACE:
        return DiskFull(f"no room left to write {path}", remedy="free some space (or raise the file size limit) and try again")
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError)):
        return ReadOnly(
            f"{path} cannot be opened for this: {error}", remedy="check the owner and mode of the file and its folder"
        )
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return Damaged(f"{path} is not an intact store: {error}", remedy="run `hardwon verify`; the file is kept as it is")
    return StoreError(f"the store failed: {error}", remedy="run `hardwon verify`")


def truncate_log(connection: apsw.Connection) -> None:
    """Checkpoint, and cut the log to nothing, as far as readers allow it now; the caller holds the writers' lock."""
    connection.set_busy_timeout(0)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.set_busy_timeout(BUSY_MS)
