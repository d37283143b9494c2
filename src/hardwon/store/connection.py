"""Connections with our habits: which engine is safe, how a file is opened, what its errors are called."""

from __future__ import annotations

import fcntl
import os

import apsw

from hardwon.errors import Damaged, EngineUnsafe, NoStore, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardwon.store.keys.secret import Secret

# Bytes of log after which a commit moves it into the file. Small, because the log is kept between processes (closing does not
# checkpoint: that would cost each short command two more syncs) and the first to open a quiet store has to scan it. SQLite's own
# automatic checkpoint is off: a process that has just recovered the log never gets to start it anew, so that under short
# commands it grew without end.
CHECKPOINT_BYTES = 1 << 20
JOURNAL_BYTES = 4 << 20
# What a reader hinders piles up in the log, since nothing that it may still look at is overwritten. The log is to stay below the
# ceiling: no transaction begins on one that is larger than LOG_REFUSED, which leaves room for what a transaction itself adds, and a
# read of ours that has lasted for LONG_READ seconds ends where the log has passed LOG_GIVE_WAY.
LOG_CEILING = 64 << 20
LOG_REFUSED = 48 << 20
LOG_GIVE_WAY = LOG_CEILING // 2
LONG_READ = 5.0
BUSY_MS = 5000
# The file can be shortened in small steps, while others write (PRAGMA auto_vacuum).
INCREMENTAL = 2

# "HWON" in ASCII: tells a store from any other SQLite file. And the newest step of store/schema.py, which is not loaded to compare a
# number with it.
APPLICATION_ID = 0x48574F4E
SCHEMA = 3

# ChaCha20 with a Poly1305 tag on every page, so that a changed page is found by itself. Named, for the default may change.
CIPHER = "chacha20"

# Kilobytes of deciphered pages that a connection keeps, where SQLite's own 2,000 have a long-lived process decipher the same pages anew
# for each question. Plain pages are in the system's cache anyway.
CIPHERED_CACHE = 16_384

NO_SPACE = {27, 28, 122}  # EFBIG, ENOSPC, EDQUOT


class Access:
    """How the file of a store is reached. No Value: those are printed, and a key must not be.

    ``vfs``: the SQLite VFS under it ("" is the system's own; the proof of durability brings others). ``key``: the raw 32 bytes that
    it is encrypted with, b"" for a plain one, or for an encrypted one whose key was not looked for yet. ``recipient``: the public half
    (``age1…``) of an encrypted one's. ``others()``: what may fit where this does not, looked up anew: the key may have been changed
    since; KeyMissing, WrongKey. ``secrets()``: every identity that something of this store may be sealed to.
    ``recipient_now()``: the public half, looked up anew.
    """

    __slots__ = ("key", "others", "recipient", "recipient_now", "secrets", "vfs")

    def __init__(
        self,
        vfs: str = "",
        key: bytes = b"",
        *,
        recipient: str = "",
        others: Callable[[], Iterable[Access]] = tuple,
        secrets: Callable[[], Sequence[Secret]] = tuple,
        recipient_now: Callable[[], str] | None = None,
    ) -> None:
        self.vfs = vfs
        self.key = key
        self.recipient = recipient
        self.others = others
        self.secrets = secrets
        self.recipient_now = recipient_now or (lambda: recipient)


PLAIN = Access()


def engine_is_safe(version: str) -> bool:
    """False for the SQLite releases that can lose a commit when it overlaps a checkpoint: 3.7.0 to 3.51.2, less two backports."""
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    if (major, minor) in ((3, 44), (3, 50)):
        return patch >= (6 if minor == 44 else 7)
    return (major, minor, patch) >= (3, 51, 3)


def refuse_unsafe() -> None:
    """EngineUnsafe where the engine that is loaded can lose commits; asked before anything is made."""
    version = apsw.sqlite_lib_version()
    if not engine_is_safe(version):
        raise EngineUnsafe(
            f"SQLite {version} can lose acknowledged writes (the WAL-reset race)",
            remedy="install apsw-sqlite3mc 3.54 or newer",
        )


def open_connection(path: str, *, readonly: bool, make: bool = True, access: Access = PLAIN) -> apsw.Connection:
    """A connection with our habits; NoStore when there is no file and none is to be made."""
    refuse_unsafe()
    if (readonly or not make) and not os.path.exists(path):
        raise NoStore(
            f"the memory that belongs here is not at {path}",
            remedy="`hardwon restore FILE` brings a backup back, `hardwon init` begins a new one",
        )
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited on, a device has no end
        raise Damaged(f"{path} is not a file", remedy="move it away, and put the store back from a backup")
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    flags |= apsw.SQLITE_OPEN_URI  # paths are absolute, so that none is taken for one
    name = path
    if readonly and not os.path.exists(path + "-wal") and not os.access(os.path.dirname(path), os.W_OK):
        # A copy on a medium that cannot be written: nobody can change it, and the log's index cannot be made.
        name = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?immutable=1"
    try:
        connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_NOMUTEX, vfs=ciphered(access) or None)
        connection.set_busy_timeout(BUSY_MS)  # before the key, with which the file is read for the first time
        if access.key:
            unlock(connection, access.key)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        if readonly:
            connection.pragma("query_only", 1)
    except apsw.Error as error:
        raise translate(error, path) from error
    return connection


def ciphered(access: Access) -> str:
    """The VFS to open with. The engine's encryption lies in its own VFS, which is the default one; over another it has to be asked
    for, else the log of an encrypted store is written in the clear, without an error (seen with 2.6.1)."""
    return f"multipleciphers-{access.vfs}" if access.vfs and access.key else access.vfs


def unlock(connection: apsw.Connection, key: bytes) -> None:
    """Give a connection the key of its file; it shows at the first read whether that fits. Raw, so that no derivation costs time."""
    connection.pragma("cipher", CIPHER)
    connection.pragma("key", "raw:" + key.hex())
    connection.pragma("temp_store", 2)  # in memory: temporary files are not encrypted
    connection.pragma("cache_size", -CIPHERED_CACHE)


def prepare_writer(connection: apsw.Connection) -> None:
    """One pragma at a time: a script would stop at the first that answers with a row."""
    from hardwon.store.checksums import register

    register(connection)
    if not connection.pragma("page_count"):
        connection.pragma("auto_vacuum", INCREMENTAL)  # of a file that has tables it is changed by a VACUUM only
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    if hasattr(fcntl, "F_FULLFSYNC"):  # macOS, whose fsync leaves what it was given in the drive's own cache
        connection.pragma("fullfsync", 1)
        connection.pragma("checkpoint_fullfsync", 1)
    connection.pragma("foreign_keys", 1)
    connection.pragma("secure_delete", "fast")
    connection.pragma("journal_size_limit", JOURNAL_BYTES)
    connection.pragma("wal_autocheckpoint", 0)


def translate(error: apsw.Error, path: str, errno: int = 0, access: Access | None = None) -> StoreError | NoStore:
    """Our error for the engine's. ``errno``: what the system said of it, 0 where that is not known.

    Transient ones are never taken for damage; with ``access`` the file is looked at once more before it is called damaged.
    """
    from hardwon.store.translation import translated  # not loaded where nothing goes wrong

    return translated(error, path, errno, access)


def truncate_log(connection: apsw.Connection, patience: int = 0) -> None:
    """Checkpoint, and cut the log to nothing, as far as readers allow it within ``patience`` milliseconds; the caller holds the
    writers' lock."""
    connection.set_busy_timeout(patience)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.set_busy_timeout(BUSY_MS)
