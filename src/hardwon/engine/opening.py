"""Which memory a folder means, and how it is opened or made: the composition root."""

from __future__ import annotations

import os

from hardwon.code import repo
from hardwon.code.lineage import Lineage
from hardwon.engine.core import Engine, Place, wall_clock
from hardwon.engine.writing import head
from hardwon.errors import Busy, NoStore
from hardwon.settings import VERSION, KeySource
from hardwon.store.connection import PLAIN, Access
from hardwon.store.identity import question, related
from hardwon.store.registry import Registry
from hardwon.store.sqlite import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardwon.code.repo import Checkout
    from hardwon.engine.encryption import KeyWish
    from hardwon.store.base import Store
    from hardwon.store.identity import Entry
    from hardwon.store.keys.secret import Secret

# The file in HARDWON_HOME by which erased words are recognised (store/keys/erasure_key.py); no store and no backup has it.
ERASURE_KEY = "erasure.key"
_NAMED = 10


def locate(cwd: str, home: str, project: str = "") -> Place:
    """Which registered repository a folder belongs to; NoStore when none, InvalidInput when more than one may be meant."""
    registry = Registry(home)
    checkout = repo.locate(cwd)
    # A name decides by itself: asking git for root commits would cost a process.
    match = registry.find(checkout, Lineage(checkout, git=not project))
    if project:
        entry = registry.named(project)
        if match.entry is None or match.entry.id != entry.id:
            return _elsewhere(registry, entry, checkout, cwd)
        return Place(_within(entry, checkout), entry, "name", cwd)
    if match.entry is not None:
        return Place(_within(match.entry, checkout), match.entry, match.why, cwd)
    if match.candidates:
        raise question(match)
    known = ", ".join(entry.name for entry in registry.entries()[:_NAMED])
    also = f"; or name one that is known with -p: {known}" if known else ""
    raise NoStore("there is no memory for this folder yet", remedy=f"run `hardwon init` in the repository{also}")


def _within(entry: Entry, checkout: Checkout) -> Checkout:
    """Outside git a subfolder belongs to the registered folder above it: files are named from there."""
    if not checkout.git_dir:
        for folder in entry.paths:
            if checkout.root.startswith(folder.rstrip("/") + "/"):
                within: Checkout = checkout.replace(root=folder, prefix=os.path.relpath(checkout.root, folder))
                return within
    return checkout


def _elsewhere(registry: Registry, entry: Entry, checkout: Checkout, cwd: str) -> Place:
    """A repository that was named from outside: its own folder gives the facts, not the one that we stand in."""
    for folder in entry.paths:
        there = repo.at(folder)
        owner = registry.find(there, Lineage(there, git=False)).entry if there else None
        if there and owner and owner.id == entry.id:  # nothing else was put into its place
            return Place(_within(entry, there), entry, "name", there.root)
    return Place(checkout.replace(head="", branch="", git_dir="", common_dir=""), entry, "name", cwd)


def open_engine(
    cwd: str,
    home: str,
    project: str = "",
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    wait: float = 30.0,
    cache: str = "",
    *,
    keys: KeySource | None = None,
) -> Engine:
    """The memory of a folder's repository, or of a registered name. ``keys``: what the environment brings for encrypted stores."""
    place = locate(cwd, home, project)
    registry = Registry(home)
    access = access_to(registry, place.entry, keys)
    path, head = registry.store_path(place.entry), head_path(home, place.entry)
    store = SqliteStore(path, f"hardwon {VERSION}", clock, make=False, access=access, head=head)
    return Engine(store, place.entry.id, place, clock, entropy, wait, cache, erasure_key=os.path.join(home, ERASURE_KEY))


def create(
    cwd: str,
    home: str,
    name: str = "",
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    wait: float = 30.0,
    cache: str = "",
    *,
    link: str = "",
    split: str = "",
    keys: KeySource | None = None,
    encrypt: KeyWish | None = None,
    force: bool = False,
) -> Engine:
    """Register the folder's repository if it is new, and make (or upgrade) its store; idempotent.

    A memory that was there and is gone is not begun anew in silence: NoStore, which names the newest backup, without ``force``.

    ``link`` joins it to the memory of that name, ``split`` gives it one of its own, whatever it was found by. The place's ``why``
    is what was done (``linked``, ``split``, ``new``), else how it was found. ``encrypt``: a store that is made now is encrypted, with a
    key that is kept so; one that is there stays as it is.
    """
    from hardwon.store.filesystem import refuse_network
    from hardwon.store.ids import uuid7

    refuse_network(home)
    registry = Registry(home, wait)
    checkout = repo.locate(cwd)
    now = clock()
    why, entry = _registered(registry, checkout, (name, link, split), uuid7(now, entropy(10)), now)
    path = registry.store_path(entry)
    _check_gone(home, entry, path, force=force)
    if encrypt is not None and not entry.keys and not os.path.exists(path):
        from hardwon.engine.encryption import begin

        entry = begin(registry, entry, encrypt, keys or KeySource())
    store = SqliteStore(path, f"hardwon {VERSION}", clock, access=access_to(registry, entry, keys), head=head_path(home, entry))
    where = Place(_within(entry, checkout), entry, why, cwd)
    engine = Engine(store, entry.id, where, clock, entropy, wait, cache, erasure_key=os.path.join(home, ERASURE_KEY))
    prepare(store, entry.id, now, entropy, wait)
    _take_in_waiting(engine)
    return engine


def _check_gone(home: str, entry: Entry, path: str, *, force: bool) -> None:
    """NoStore for a memory that was there and is gone, unless another one is to begin in its place."""
    gone = _gone(home, entry, path)
    if gone is None:
        return
    if not force:
        raise gone
    from hardwon.store import files

    files.disk.unlink(head_path(home, entry))  # of a journal that nobody expects any more


def _take_in_waiting(engine: Engine) -> None:
    """What was spooled while there was no store that could take it."""
    if (waiting := head(engine)) is not None and waiting.waits:
        from hardwon.engine.spooling import drain

        drain(engine)


def _gone(home: str, entry: Entry, path: str) -> NoStore | None:
    """The error for a memory whose file is not there, or empty, although it is known outside that it was; None for any other."""
    if os.path.lexists(path) and (not os.path.isfile(path) or os.path.getsize(path)):  # what is no file is told when it is opened
        return None
    from hardwon.engine.backup import listed
    from hardwon.store.beside import aside

    copies = listed(os.path.join(home, "backups", entry.name)) or sorted(kept for kept in aside(path) if ".kept-" in kept)
    if not copies and not os.path.exists(head_path(home, entry)):
        return None  # it was never made, or nothing was ever said
    message = f"the memory of {entry.name} is gone: {path} " + ("is empty" if os.path.exists(path) else "is not there")
    if copies:
        remedy = f"`hardwon restore {os.path.basename(copies[-1])}` brings the newest backup back"
    else:
        remedy = "put the file back, or `hardwon restore FILE` a copy of it"
    return NoStore(message, remedy=f"{remedy}; `hardwon init --force` begins a new one")


def head_path(home: str, entry: Entry) -> str:
    """Where it is told, outside the store, how far its journal had come (store/checks/heads.py)."""
    return os.path.join(home, "heads", entry.id)


def access_to(registry: Registry, entry: Entry, keys: KeySource | None) -> Access:
    """How an entry's store is reached: its key is looked for when the store is first used, and again where it does not fit any more."""

    def others() -> Iterable[Access]:
        from hardwon.engine.unlocking import accesses

        return accesses(registry, entry.id, keys or KeySource())

    def secrets() -> Sequence[Secret]:
        from hardwon.engine.unlocking import secrets

        return secrets(registry, entry.id, keys or KeySource())

    def recipient_now() -> str:
        from hardwon.engine.unlocking import recipient

        return recipient(registry, entry.id)

    recipient = next((note.recipient for note in entry.keys if note.recipient), "")
    return Access(recipient=recipient, others=others, secrets=secrets, recipient_now=recipient_now)


def _registered(registry: Registry, checkout: Checkout, wanted: tuple[str, str, str], id: str, now: int) -> tuple[str, Entry]:
    """What was done, and the entry that the folder belongs to from now on; ``wanted``: name, link, split."""
    lineage = Lineage(checkout)
    name, link, split = wanted
    if link:
        return "linked", registry.link(link, checkout, lineage)
    if split:
        return "split", registry.split(split, checkout, lineage, id=id, now=now)
    found = registry.find(checkout, lineage)
    if found.why == "none" and checkout.origin:
        registry.refresh()  # perhaps a known folder got this remote since
        found = registry.find(checkout, lineage)
    entry = registry.register(checkout, lineage, name or None, id=id, now=now)
    return ("new" if entry.id == id else found.why if found.entry else "folder"), entry


def akin(engine: Engine, home: str) -> tuple[Entry, ...]:
    """The other registered repositories that have the same remote, or whose history begins alike."""
    place = engine.home
    return related(Registry(home).entries(), place.entry, place.checkout, Lineage(place.checkout))


def prepare(store: Store, repository: str, now: int, entropy: Callable[[int], bytes], wait: float = 30.0) -> None:
    """Make the store's tables and give it its own names, once."""
    from hardwon.store.ids import uuid7

    with store.write(wait) as writer:
        if not writer.setting("repository"):
            writer.set_setting("repository", repository)
            writer.set_setting("replica", uuid7(now, entropy(10)))
            writer.set_setting("created_at", str(now))
    if store.path and not os.path.exists(store.path + ".spool"):
        from hardwon.store.spooling.spool import Spool

        try:
            Spool(store.path).prepare()
        except (OSError, Busy):
            return  # the store is made all the same; the first write of the engine tries again


def open_store(
    path: str,
    repository: str = "00000000-0000-0000-0000-000000000000",
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    wait: float = 30.0,
    access: Access = PLAIN,
) -> Engine:
    """A store in a file of the caller's choice, made if it is new, outside the registry: for benches, tests and embedding.
    ``access``: how it is encrypted, if it is."""
    store = SqliteStore(os.path.abspath(path), f"hardwon {VERSION}", clock, access=access)
    prepare(store, repository, clock(), entropy, wait)
    return Engine(store, repository, None, clock, entropy, wait)
