"""Every error that Hardwon raises on purpose.

HardwonError
├── InvalidInput            the caller gave something that cannot be used
│   └── NoStore             there is no memory for this folder yet
├── NotFound                an id that names nothing
├── GitFailed               git is missing, or refused
├── Unavailable             an optional part is not installed, or broken
└── StoreError              the store could not do it
    ├── Busy                another process held the lock past the deadline
    ├── DiskFull            no room (or a size limit) for the write
    ├── ReadOnly            the file or its folder may not be written
    ├── Damaged             the file is not what was written
    ├── SchemaNewer         made by a later Hardwon; left untouched
    ├── SchemaOlder         needs an upgrade, which only a writer does
    ├── KeyMissing          the store is encrypted, and its key is not at hand
    ├── WrongKey            the key at hand is another store's
    └── EngineUnsafe        this SQLite can lose acknowledged commits
"""

from __future__ import annotations


def place_of(error: BaseException) -> str:
    """The module and line of ours from which an error came that nobody foresaw; what it says may quote what it was given."""
    place, step = "", error.__traceback__
    while step is not None:
        name = step.tb_frame.f_globals.get("__name__", "")
        if str(name).startswith("hardwon."):
            place = f"{name}:{step.tb_lineno}"
        step = step.tb_next
    return place


class HardwonError(Exception):
    """Root of the tree: ``kind`` is stable and machine-readable, ``field`` names the input, ``remedy`` says what to do."""

    kind = "error"

    def __init__(self, message: str, *, field: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.remedy = remedy


class InvalidInput(HardwonError):
    """The caller gave something that cannot be used."""

    kind = "invalid_input"


class NoStore(InvalidInput):
    """There is no memory for this folder yet."""

    kind = "no_store"


class NotFound(HardwonError):
    """An id that names nothing, or more than one memory."""

    kind = "not_found"


class GitFailed(HardwonError):
    """Git is missing, or refused."""

    kind = "git_failed"


class Unavailable(HardwonError):
    """An optional part is not installed, or broken; everything else works without it."""

    kind = "unavailable"


class StoreError(HardwonError):
    """The store could not do it; nothing was acknowledged."""

    kind = "store_error"


class Busy(StoreError):
    """Another process held the lock past the deadline; trying again is safe."""

    kind = "busy"


class DiskFull(StoreError):
    """No room, or a size limit, for the write."""

    kind = "disk_full"


class ReadOnly(StoreError):
    """The file or its folder may not be written."""

    kind = "read_only"


class Damaged(StoreError):
    """The file is not what was written; it is never deleted."""

    kind = "damaged"


class SchemaNewer(StoreError):
    """Made by a later Hardwon; left untouched."""

    kind = "schema_newer"


class SchemaOlder(StoreError):
    """Needs an upgrade, which only a writer does."""

    kind = "schema_older"


class KeyMissing(StoreError):
    """The store is encrypted, and its key is nowhere that was looked; the store itself may be well."""

    kind = "key_missing"


class WrongKey(StoreError):
    """The key at hand is another one than this was encrypted with; nothing is damaged."""

    kind = "wrong_key"


class EngineUnsafe(StoreError):
    """This SQLite can lose acknowledged commits (3.7.0 to 3.51.2)."""

    kind = "engine_unsafe"
