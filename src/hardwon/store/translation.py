"""What the engine's errors are called here."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Busy, Damaged, DiskFull, NoStore, ReadOnly, SchemaOlder, StoreError
from hardwon.store.connection import NO_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.connection import Access


def translated(error: apsw.Error, path: str, errno: int = 0, access: Access | None = None) -> StoreError | NoStore:
    """As ``connection.translate``, which loads this."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Busy("the memory is in use by another process", remedy="try again")
    if isinstance(error, apsw.FullError) or (errno in NO_SPACE and isinstance(error, (apsw.IOError, apsw.CantOpenError))):
        return DiskFull(f"no room left to write {path}", remedy="free some space (or raise the file size limit) and try again")
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError)) or (
        isinstance(error, apsw.CantOpenError) and not _is_ours(path)
    ):
        return _read_only(error, path)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return _damage(error, path, access)
    if isinstance(error, (apsw.IOError, apsw.CantOpenError, apsw.NoMemError)):
        what = os.strerror(errno) if errno else str(error) or type(error).__name__
        return StoreError(f"{path} could not be read or written: {what}", remedy="try again; look at the disk if it stays so")
    return StoreError(f"the store failed: {error}", remedy="run `hardwon verify`")


def _read_only(error: apsw.Error, path: str) -> StoreError:
    # A journal of before the log was begun: a reader must not apply it, whatever its rights are.
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_READONLY_ROLLBACK:
        return SchemaOlder(f"the making of {path}, or its upgrade, was cut short", remedy="run `hardwon init`, which ends it")
    return ReadOnly(f"{path} cannot be opened for this: {error}", remedy="check the owner and mode of the file and its folder")


def _is_ours(path: str) -> bool:
    """Whether owner and mode let us read and write a file: then something else kept it from being opened."""
    return os.access(path, os.R_OK | os.W_OK) and os.access(os.path.dirname(path) or ".", os.W_OK | os.X_OK)


def _damage(error: apsw.Error, path: str, access: Access | None) -> StoreError:
    if access is not None:
        from hardwon.store.checks.doubt import is_intact

        if is_intact(path, access):
            return StoreError(f"{path} was misread once: {error}", remedy="it is intact; try again, and look at the disk")
    return Damaged(f"{path} is not an intact store: {error}", remedy="run `hardwon verify`; the file is kept as it is")
