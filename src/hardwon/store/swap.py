"""Putting another file in the place of a store, while other processes may have the old one open, so that no crash loses either.

A restore, a repair and a new key end so. The steps are written down first (``PATH.swap``), and whoever opens the store next
finishes them; each may be done twice. The old store keeps all its content under another name: nothing suspect is ever deleted.

1. the note, synced;
2. the old file and its log get a second name (``kept``), synced;
3. the log and its index lose their first name, synced: else SQLite would read the old log on top of the new file;
4. the new file takes the place, synced;
5. the note goes.
"""

from __future__ import annotations

import os

from hardwon.errors import Damaged, StoreError
from hardwon.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from hardwon.store.sqlite import SqliteStore

_END = "\n"
NOTE = ".swap"
# What file systems answer that know no second names: EPERM, ENOSYS, EOPNOTSUPP; and EMLINK where a file has too many.
_NO_LINKS = {1, 31, 38, 95}


class Locked:
    """``with Locked(store, seconds)``: the store's file as a whole is ours, nobody writes meanwhile. Busy when that takes longer."""

    def __init__(self, store: SqliteStore, timeout: float) -> None:
        self._store = store
        self._timeout = timeout

    def __enter__(self) -> None:
        self._lock = self._store._acquire(self._timeout)
        try:
            self._store.let_go()
            finish(self._store.path)
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()


def swap(path: str, new: str, kept: str) -> None:
    """Let ``new``, a whole and synced store without a log in the same folder, take the place of ``path``; the old one is ``kept``.

    The caller holds the writers' lock, and has no connection open. StoreError for names that cannot be, OSError where the system
    refuses; what was done is finished by the next who opens the store, or was not begun.
    """
    for name in (new, kept):
        if os.path.dirname(name) != os.path.dirname(path) or _END in name:
            raise StoreError(f"{name!r} does not lie beside {path}", remedy="name a file of the same folder")
    if not os.path.isfile(new):  # else the note would promise what nobody can finish
        raise StoreError(f"{new} is gone, and was not put into the place of {path}", remedy="try again")
    if os.path.lexists(kept):
        raise StoreError(f"{kept} exists, and is not replaced", remedy="try again")
    files.write_whole(path + NOTE, [f"{os.path.basename(new)}{_END}{os.path.basename(kept)}{_END}".encode()])
    finish(path)


def give_up(path: str, new: str) -> None:
    """Remove a new file that is not wanted, or took the place already. Where a swap with it was begun and could not be ended, it stays:
    the old log may have lost its name by then, and whoever opens the store next has to find the new file."""
    if not unfinished(path):
        from hardwon.store.copying import discard

        discard(new)


def unfinished(path: str) -> bool:
    """Whether a swap was begun and is not done."""
    return os.path.exists(path + NOTE)


def finish(path: str) -> None:
    """Do what is left of a swap; nothing where none was begun. The caller holds the writers' lock."""
    folder = os.path.dirname(path)
    names = _noted(path)
    if names is None:
        return
    new, kept = (os.path.join(folder, name) for name in names)
    disk = files.disk
    if os.path.exists(new):
        for end in ("", "-wal"):
            if os.path.exists(path + end) and not os.path.exists(kept + end):
                _keep(path + end, kept + end)
        disk.sync_folder(folder)
        for end in ("-wal", "-shm"):
            disk.unlink(path + end)
        disk.sync_folder(folder)
        disk.replace(new, path)
        disk.sync_folder(folder)
    disk.unlink(path + NOTE)
    disk.sync_folder(folder)


def _noted(path: str) -> tuple[str, str] | None:
    """The names of a swap that was begun: of the new file, and for the old one; None where there is none."""
    try:
        with open(path + NOTE, "rb") as note:
            new, kept, *_ = note.read().decode().split(_END)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _garbled(path) from error
    if os.path.basename(new) != new or os.path.basename(kept) != kept:
        raise _garbled(path)
    return new, kept


def _garbled(path: str) -> Damaged:
    return Damaged(f"{path + NOTE} is not what was written", remedy="look at the files beside it before you move it away")


def _keep(path: str, kept: str) -> None:
    """A second name for a file; on file systems that know none, a copy that appears whole."""
    try:
        files.disk.link(path, kept)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        from hardwon.store.mending.raw import pieces

        files.write_whole(kept, pieces(path))
