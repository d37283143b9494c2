"""Which memory a folder means, and how it is opened or made: the composition root."""

from __future__ import annotations

import os

from hardwon.code import repo
from hardwon.engine.core import Engine, Place, wall_clock
from hardwon.errors import InvalidInput, NoStore
from hardwon.store.registry import Registry
from hardwon.store.sqlite import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.code.repo import Checkout
    from hardwon.store.base import Store
    from hardwon.store.identity import Entry, Match

VERSION = "0.1.0"
_NAMED = 10


def locate(cwd: str, home: str, project: str = "") -> Place:
    """Which registered repository a folder belongs to; NoStore when none, InvalidInput when more than one may be meant."""
    registry = Registry(home)
    checkout = repo.locate(cwd)
    # A name decides by itself: asking git for root commits would cost a process.
    match = registry.find(checkout, None if project else lambda: repo.root_commits(checkout))
    if project:
        entry = registry.named(project)
        if match.entry is None or match.entry.id != entry.id:
            return _elsewhere(entry, checkout, cwd)
        return Place(_within(entry, checkout), entry, "name", cwd)
    if match.entry is not None:
        return Place(_within(match.entry, checkout), match.entry, match.why, cwd)
    if match.candidates:
        names = ", ".join(entry.name for entry in match.candidates)
        raise InvalidInput(
            f"this folder may belong to more than one memory: {names}", field="project", remedy="say which with -p NAME"
        )
    known = ", ".join(entry.name for entry in registry.entries()[:_NAMED])
    also = f"; or name one that is known with -p: {known}" if known else ""
    raise NoStore("there is no memory for this folder yet", remedy=f"run `hardwon init` in the repository{also}")


def _within(entry: Entry, checkout: Checkout) -> Checkout:
    """Outside git a subfolder belongs to the registered folder above it: files are named from there."""
    if not checkout.git_dir:
        for folder in entry.folders:
            if checkout.root.startswith(folder.rstrip("/") + "/"):
                within: Checkout = checkout.replace(root=folder, prefix=os.path.relpath(checkout.root, folder))
                return within
    return checkout


def _elsewhere(entry: Entry, checkout: Checkout, cwd: str) -> Place:
    """A repository that was named from outside: its own folder gives the facts, not the one that we stand in."""
    for folder in entry.folders:
        root = os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder
        if os.path.isdir(root):
            return Place(repo.locate(root), entry, "name", root)
    return Place(checkout.replace(head="", branch="", git_dir="", common_dir=""), entry, "name", cwd)


def open_engine(
    cwd: str,
    home: str,
    project: str = "",
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    wait: float = 30.0,
) -> Engine:
    """The memory of a folder's repository, or of a registered name."""
    place = locate(cwd, home, project)
    store = SqliteStore(Registry(home).store_path(place.entry), f"hardwon {VERSION}", clock, make=False)
    return Engine(store, place.entry.id, place, clock, entropy, wait)


def create(
    cwd: str,
    home: str,
    name: str = "",
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    wait: float = 30.0,
) -> Engine:
    """Register the folder's repository if it is new, and make (or upgrade) its store; idempotent."""
    from hardwon.store.ids import uuid7

    registry = Registry(home)
    checkout = repo.locate(cwd)
    match = registry.find(checkout, lambda: repo.root_commits(checkout))
    now = clock()
    entry = _entry(registry, checkout, match, name)
    if entry is None:
        entry = registry.register(checkout, name or None, repo.root_commits(checkout), id=uuid7(now, entropy(10)), now=now)
    else:
        entry = registry.attach(entry, checkout)
    store = SqliteStore(registry.store_path(entry), f"hardwon {VERSION}", clock)
    engine = Engine(store, entry.id, Place(_within(entry, checkout), entry, match.why, cwd), clock, entropy, wait)
    prepare(store, entry.id, now, entropy, wait)
    return engine


def _entry(registry: Registry, checkout: Checkout, match: Match, name: str) -> Entry | None:
    """The entry that an ``init`` means; None for a new one; InvalidInput where only a person can tell."""
    if match.entry is not None:
        # Another name for a clone that was found by its remote keeps it apart; a folder that is known keeps its name.
        apart = name and match.why != "folder" and match.entry.name != name
        return None if apart else match.entry
    if match.candidates and not name:
        names = ", ".join(entry.name for entry in match.candidates)
        raise InvalidInput(
            f"this folder may belong to more than one memory: {names}", field="project", remedy="say which with -p NAME"
        )
    return next((entry for entry in match.candidates if entry.name == name), None)


def prepare(store: Store, repository: str, now: int, entropy: Callable[[int], bytes], wait: float = 30.0) -> None:
    """Make the store's tables and give it its own names, once."""
    from hardwon.store.ids import uuid7

    with store.write(wait) as writer:
        if not writer.setting("repository"):
            writer.set_setting("repository", repository)
            writer.set_setting("replica", uuid7(now, entropy(10)))
            writer.set_setting("created_at", str(now))


def open_folder(path: str = ".", home: str | None = None) -> Engine:
    """The memory of a folder's repository, as ``hardwon.open(".")``; NoStore before ``hardwon init``."""
    from hardwon import settings

    options = settings.load()
    return open_engine(os.path.abspath(path), home or options.home, wait=options.wait)


def open_store(
    path: str,
    repository: str = "00000000-0000-0000-0000-000000000000",
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    wait: float = 30.0,
) -> Engine:
    """A store in a file of the caller's choice, made if it is new, outside the registry: for benches, tests and embedding."""
    store = SqliteStore(os.path.abspath(path), f"hardwon {VERSION}", clock)
    prepare(store, repository, clock(), entropy, wait)
    return Engine(store, repository, None, clock, entropy, wait)
