"""Which key opens a store, and how a store gets one, another, or none.

A change is written down first: from then on the registry has two notes for the store, and either may be in force. Whoever opens it
tries both; whoever changes the key next, or runs into an error, settles which it is.
"""

from __future__ import annotations

import os

from hardwon.engine.unlocking import NONE, access_with, accesses, default_file, given, key_file
from hardwon.errors import HardwonError, InvalidInput, StoreError
from hardwon.store.code import CODE
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.connection import PLAIN
from hardwon.store.identity import KeyNote
from hardwon.store.keys.keyplace import NEW, OLD, KeyFile, KeyringItem, archive, place
from hardwon.store.keys.recrypt import BEFORE, PART, recrypt, remove_leftovers
from hardwon.store.keys.sealing import new_identity, recipient_of
from hardwon.store.keys.secret import Secret, written
from hardwon.store.sessions import WORK
from hardwon.store.sessions.workfile import WorkFile
from hardwon.store.spooling.spool import Spool
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.engine.core import Engine
    from hardwon.settings import KeySource
    from hardwon.store.identity import Entry
    from hardwon.store.registry import Registry

ENVIRONMENT = "environment"


class KeyWish(Value):
    """Where a new key is to be kept: in this ``file`` (a key that is there already is used), or in the system's ``keyring``; neither:
    where the old one was, else where the environment says, else in the folder ``keys`` of the home."""

    file: str = ""
    keyring: bool = False


class KeyReport(Value):
    """What was done (``encrypted``, ``rekeyed``, ``decrypted``, ``finished``), the new key's ``recipient`` and ``place`` as the registry
    has them, where the replaced key is kept ("" for nowhere of ours), and the files that were removed."""

    done: str
    recipient: str
    place: str
    archived: str = ""
    removed: tuple[str, ...] = ()


# A key for a new store, or for a plain one


def begin(registry: Registry, entry: Entry, wish: KeyWish, source: KeySource) -> Entry:
    """Give an entry whose store is not made yet a key, durably kept before it is noted; the entry with it."""
    note, _ = _first_key(registry, entry, wish, source)
    return registry.set_keys(entry, (note,))


def encrypt(engine: Engine, registry: Registry, wish: KeyWish, source: KeySource) -> KeyReport:
    """Encrypt a plain store. Whatever else lies beside it with its content in the clear is removed. InvalidInput where it is encrypted."""
    store = _store_of(engine)
    with Changing(store, engine.wait):
        entry, finished = _settled(registry, engine, source)
        if finished and entry.keys:
            return KeyReport("finished", entry.keys[0].recipient, entry.keys[0].place)
        if entry.keys:
            raise InvalidInput(
                f"the memory {entry.name} is encrypted already", field="encrypt", remedy="`hardwon rekey` gives it another key"
            )
        _refuse_set_aside(store)
        note, secret = _first_key(registry, entry, wish, source)
        return _change(registry, engine, source, entry, (NONE, note), secret, "encrypted")


def _refuse_set_aside(store: SqliteStore) -> None:
    """What the spool could not give to the store lies in the clear beside it, and only a person can say whether it is still wanted."""
    aside = Spool(store.path).rejected
    if os.path.exists(aside) and os.path.getsize(aside):
        raise InvalidInput(
            f"records that could not be taken in lie in the clear in {aside}",
            field="encrypt",
            remedy="look at them, and move the file away or remove it first",
        )


def _first_key(registry: Registry, entry: Entry, wish: KeyWish, source: KeySource) -> tuple[KeyNote, Secret]:
    if source.identity and wish == KeyWish():
        return _noted(ENVIRONMENT, given(source.identity, "HARDWON_KEY"))
    if source.file and wish == KeyWish():
        return _kept(key_file(source.file))
    return _kept(_wished(wish, entry) or KeyFile(default_file(registry.home, entry.id)))


def _wished(wish: KeyWish, entry: Entry) -> KeyFile | KeyringItem | None:
    if wish.keyring and wish.file:
        raise InvalidInput(
            "--keyring and --key-file exclude one another", field="keyring", remedy="say where to keep the key, once"
        )
    if wish.keyring:
        return KeyringItem(entry.id)
    return KeyFile(wish.file) if wish.file else None


def _kept(at: KeyFile | KeyringItem) -> tuple[KeyNote, Secret]:
    """The key that lies in a place, else a new one, which then lies there."""
    held = at.read()
    if len(held) > 1:
        raise InvalidInput(f"there are {len(held)} keys in {at.text}", field="key-file", remedy="name a file with one")
    if held:
        return _noted(at.text, held[0])
    secret = Secret(new_identity())
    at.begin(written(secret, recipient_of(secret)))
    return _noted(at.text, at.read()[0])  # as it lies there now, which another process may have been quicker to fill


def _noted(text: str, secret: Secret) -> tuple[KeyNote, Secret]:
    return KeyNote(text, recipient_of(secret), secret.check()), secret


# Another key, or none


def rekey(engine: Engine, registry: Registry, wish: KeyWish, source: KeySource) -> KeyReport:
    """Give an encrypted store a new key. A change that was interrupted after its new file was in force is finished instead."""
    store = _store_of(engine)
    with Changing(store, engine.wait):
        entry, finished = _settled(registry, engine, source)
        if finished and entry.keys:
            return KeyReport("finished", entry.keys[0].recipient, entry.keys[0].place)
        old = _only_key(entry)
        note, secret = _next_key(registry, entry, wish, source)
        if note.check == old.check:
            raise InvalidInput("the new key is the old one", field="key-file", remedy="name a place that holds none, or another")
        return _change(registry, engine, source, entry, (old, note), secret, "rekeyed")


def decrypt(engine: Engine, registry: Registry, source: KeySource) -> KeyReport:
    """Make a plain store of an encrypted one; its key is kept, since backups may need it."""
    store = _store_of(engine)
    with Changing(store, engine.wait):
        entry, finished = _settled(registry, engine, source)
        if finished and not entry.keys:
            return KeyReport("finished", "", NONE.place)
        return _change(registry, engine, source, entry, (_only_key(entry), NONE), None, "decrypted")


def _only_key(entry: Entry) -> KeyNote:
    if not entry.keys:
        raise InvalidInput(
            f"the memory {entry.name} is not encrypted", field="project", remedy="`hardwon init --encrypt` encrypts it"
        )
    return entry.keys[0]


def _next_key(registry: Registry, entry: Entry, wish: KeyWish, source: KeySource) -> tuple[KeyNote, Secret]:
    """A new key in its place, beside the old one where that stays."""
    old = entry.keys[0].place
    at = _wished(wish, entry)
    if at is not None:
        return _kept(KeyringItem(entry.id + NEW) if at.text == old and wish.keyring else at)
    if source.new:
        return _noted(ENVIRONMENT, given(source.new, "HARDWON_NEW_KEY"))
    beside = place(old + NEW)
    if beside is None or not _is_ours(registry, entry, old):
        raise InvalidInput(
            f"where to keep the new key? The old one is yours to keep: {old}",
            field="key-file",
            remedy="name another file with --key-file PATH, say --keyring, or give the new key in HARDWON_NEW_KEY",
        )
    _give_up(beside)
    return _kept(KeyringItem(entry.id + NEW) if old.startswith("keyring") else KeyFile(beside.text.partition(" ")[2]))


def _is_ours(registry: Registry, entry: Entry, text: str) -> bool:
    """Whether a place was made by us for this store alone, so that its key may be moved; a person's own file may serve others."""
    known = (f"file {default_file(registry.home, entry.id)}", f"keyring {entry.id}")
    return text.removesuffix(NEW) in known


# One change, and what is left of one


def _take_in(engine: Engine) -> None:
    """What was put off while the file was written anew, in the clear or sealed to the old key: it stays no longer than it has to."""
    try:
        with engine.write():
            pass
    except StoreError:
        return  # the change is done, and the next write takes it in


def _change(
    registry: Registry,
    engine: Engine,
    source: KeySource,
    entry: Entry,
    notes: tuple[KeyNote, KeyNote],
    secret: Secret | None,
    done: str,
) -> KeyReport:
    store = _store_of(engine)
    with engine.write():
        pass  # what waits in the spool enters, as with any writer: it is sealed to the old key, or not at all
    entry = registry.set_keys(entry, notes)
    try:
        recrypt(store, access_with(registry, entry, source, secret, notes[1]), engine.wait)
    except HardwonError:
        _settled(registry, engine, source)
        raise
    removed = _remove_old(store.path, notes[0], engine.wait)
    after = _finish(registry, entry)
    _take_in(engine)
    note = after.keys[0] if after.keys else NONE
    kept = notes[0].place + OLD if _is_ours(registry, entry, notes[0].place) else ""
    return KeyReport(
        done,
        note.recipient,
        note.place,
        kept,
        tuple(name for name in removed if not name.startswith((store.path + PART, store.path + BEFORE))),
    )


def _settled(registry: Registry, engine: Engine, source: KeySource) -> tuple[Entry, bool]:
    """The entry with one note or none: what was left of a change is finished (then True), or undone where the old file is in force."""
    entry = registry.entry(engine.repository)
    if len(entry.keys) < 2:
        return entry, False
    store = _store_of(engine)
    store.let_go()
    found = next(accesses(registry, entry.id, source))
    found.vfs, store.access = store.access.vfs, found
    with engine.write():
        in_force = store.access.recipient
    old, new = entry.keys
    if in_force == new.recipient:
        _remove_old(store.path, old, engine.wait)
        return _finish(registry, entry), True
    remove_leftovers(store.path, only=(PART, BEFORE))
    at = place(new.place)
    if at is not None and _is_ours(registry, entry, new.place):
        _give_up(at)
    return registry.set_keys(entry, () if old == NONE else (old,)), False


def _remove_old(path: str, old: KeyNote, wait: float) -> list[str]:
    """Take away what the old key opens: the file that was replaced, copies from before an upgrade, the index of the code and the file
    of sessions. Of a store that was plain, everything that is derived from it as well. Busy while somebody writes one of the two: the
    change is then finished by the next who changes the key."""
    # With their locks: whoever writes them looked at the store's key when he had that.
    CodeIndex(path + CODE, lambda: PLAIN).drop(wait)
    WorkFile(path + WORK, lambda: PLAIN).drop(wait)
    return remove_leftovers(path, only=() if old == NONE else (PART, BEFORE, ".before-step"))


def _finish(registry: Registry, entry: Entry) -> Entry:
    """The new key takes the old one's place, which is archived; each step may be done twice."""
    old, new = entry.keys
    if _is_ours(registry, entry, old.place):
        _retire(old)
    if new == NONE:
        return registry.set_keys(entry, ())
    target = new.place.removesuffix(NEW)
    beside, final = place(new.place), place(target)
    if target != new.place and beside and final and _is_ours(registry, entry, new.place):
        if held := beside.read():
            final.write(written(held[0], new.recipient))
        beside.remove()
        new = new.replace(place=target)
    return registry.set_keys(entry, (new,))


def _retire(old: KeyNote) -> None:
    at = place(old.place)
    if at is None:
        return
    for secret in at.read():
        if secret.check() == old.check:
            archive(at, secret, old.recipient)
            at.remove()


def _give_up(at: KeyFile | KeyringItem) -> None:
    """The key of a change that came to nothing goes to those that were replaced, never away: something may be sealed to it."""
    base = place(at.text.removesuffix(NEW)) or at
    for secret in at.read():
        archive(base, secret, recipient_of(secret))
    at.remove()


def _store_of(engine: Engine) -> SqliteStore:
    if not isinstance(engine.store, SqliteStore) or engine.place is None:
        raise InvalidInput("only a registered store has a key of its own", field="project", remedy="open it with hardwon.open()")
    return engine.store


class Changing:
    """The line of those who change a store's key, as a context."""

    def __init__(self, store: SqliteStore, wait: float) -> None:
        # Not named as the file in the making is (store/keys/recrypt.py): that one is removed with what lies beside it, locks too.
        self._lock = store.queue("key")
        self._wait = wait

    def __enter__(self) -> None:
        self._lock.acquire(self._wait)

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def places(keys: Sequence[KeyNote]) -> list[str]:
    """The files that hold keys in force, for looking at their modes."""
    return [note.place.partition(" ")[2] for note in keys if note.place.startswith("file ")]
