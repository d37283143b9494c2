"""``backup``: a whole copy of the memory in one file, checked in a process of its own before it is called one."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from hardwon.engine.examination import examine
from hardwon.engine.repair import local
from hardwon.errors import Damaged, InvalidInput
from hardwon.store import copying, files
from hardwon.store.connection import Access
from hardwon.store.keys import envelope
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.engine.examination import Examination

KEEP = 7
_ENDS = (".db", ".db.age")


class Backup(Value):
    """A backup that was made: its ``file``, how many ``bytes`` and ``memories``; where its journal ends (``seq``, and the hash
    ``head``). ``encrypted``: "", ``key`` (the store's own), ``recipient`` or ``passphrase``. ``removed``: older ones that went."""

    file: str
    bytes: int
    memories: int
    seq: int
    head: str
    encrypted: str = ""
    removed: tuple[str, ...] = ()


def backup(
    engine: Engine, home: str, file: str = "", lock: envelope.Lock | None = None, *, keep: int = KEEP, force: bool = False
) -> Backup:
    """Write what the store holds now into ``file``, by default one of the ``keep`` newest below ``home``/backups.

    Writers go on meanwhile. The file appears whole, synced and checked, or not at all. InvalidInput for a place that is none,
    Damaged for a store that is not well, DiskFull, ReadOnly and StoreError where the system refuses.
    """
    store = local(engine)
    lock = lock or envelope.Lock()
    folder = "" if file else _folder(engine, home)
    if file:
        copying.check_place(file, home, force=force)
    with store.read():  # KeyMissing, WrongKey, NoStore, SchemaOlder, Damaged: before anything is written
        access = store.access
    if folder:
        _make_folder(folder)
    target = file or _free(folder, engine.clock(), _ENDS[1] if lock else _ENDS[0])
    part = copying.beside(target)
    # What is to be encrypted lies beside the store until then, and not on the disk that it is encrypted for.
    plain = copying.beside(store.path) if lock else part
    try:
        copying.copy(store.path, access, plain, Access(access.vfs, access.key))
        seen = _checked(plain, access)
        if lock:
            envelope.seal(plain, part, lock)
        copying.take_place(part, target)
    except OSError as error:
        raise copying.refused(error, target) from error
    finally:
        copying.discard(plain)
        copying.discard(part)
    size = os.path.getsize(target)
    encrypted = ("passphrase" if lock.passphrase else "recipient") if lock else "key" if access.key else ""
    removed = _prune(folder, target, keep) if folder else ()
    return Backup(target, size, seen.figures.get("memories", 0), seen.seq, seen.head, encrypted, removed)


def _checked(copy: str, access: Access) -> Examination:
    seen = examine(copy, access)
    if not seen.ok:
        wrong = next(finding for finding in seen.findings if finding.level in ("error", "warning"))
        raise Damaged(f"the store is not well: {wrong.what} ({wrong.where})", remedy="no backup was made; run `hardwon verify`")
    copying.sync(copy)
    return seen


def _folder(engine: Engine, home: str) -> str:
    if engine.place is None:
        raise InvalidInput("this store is not registered, so its backup needs a name", field="file", remedy="name a file")
    return os.path.join(home, "backups", engine.place.entry.name)


def _make_folder(folder: str) -> None:
    try:
        files.disk.make_folder(folder)
    except OSError as error:
        raise copying.refused(error, folder) from error


def _free(folder: str, now: int, end: str) -> str:
    """A name by the time, in UTC; a later one where two are made at once."""
    while True:
        name = f"{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%S}.{now % 1000:03}Z{end}"
        if not os.path.lexists(os.path.join(folder, name)):
            return os.path.join(folder, name)
        now += 1


def _prune(folder: str, made: str, keep: int) -> tuple[str, ...]:
    """Remove all but the newest; never the one that was just made, whatever a clock that went back has named it."""
    others = sorted((name for name in listed(folder) if name != os.path.basename(made)), reverse=True)
    gone = [os.path.join(folder, name) for name in others[max(keep, 1) - 1 :]]
    for path in gone:
        copying.discard(path)
    if gone:
        files.disk.sync_folder(folder)
    return tuple(gone)


def listed(folder: str) -> list[str]:
    """The names of the backups in a folder, oldest first."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if name.endswith(_ENDS) and name[:8].isdecimal())
