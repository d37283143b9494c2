"""What somebody finds who opens what a power loss has left: the store, and the files beside it, each as one comparable value."""

from __future__ import annotations

import os
from hashlib import blake2b

from hardwon.engine import opening, spooling
from hardwon.engine.core import Engine
from hardwon.engine.erase import finish, is_pending
from hardwon.errors import HardwonError, NoStore, SchemaOlder
from hardwon.proof import keys
from hardwon.proof.operations import REPOSITORY, SCOPE, Entropy
from hardwon.store.checks import heads, of_head
from hardwon.store.checks.check import CHECKS
from hardwon.store.checks.scan import UNREADABLE
from hardwon.store.checksums import register
from hardwon.store.connection import Access
from hardwon.store.contents import fingerprint
from hardwon.store.registry import Registry
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Draft, Filter, Finding, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

# Below the recorded folder.
HOME = "home"
STORE = os.path.join(HOME, "stores", "proof.db")
EXPORT = os.path.join("exports", "memories.jsonl")
HEAD = os.path.join(HOME, "heads", REPOSITORY)
BACKUP = os.path.join("exports", "backup.db")
# The key of a store that a sequence has encrypted.
KEY = bytes(range(32))
MODEL = "proof-8"
DIMENSIONS = 8
ABSENT = "absent"
# What an empty folder shows.
NOTHING = {"store": ABSENT, "export": ABSENT, "backup": ABSENT, "registry": ""}
_BEGAN = 1_700_000_000_000
_MADE_BY = "hardwon torture"
# Without what costs as much as all of these: comparing the schema with a new one, and the log frame by frame in Python.
_CHECKS = tuple((name, one) for name, one in CHECKS if name != "schema")


class Seen(Value):
    """``parts``: the value of each part of the disk; ``wrong``: what must never be, whatever was going on, a sentence each."""

    parts: dict[str, str]
    wrong: tuple[str, ...] = ()


def observe(root: str, *, write: bool = False) -> Seen:
    """Open everything that lies in a folder as the next user would; with ``write``, also verify it in full, and write to it."""
    state, wrong = _store(os.path.join(root, STORE), whole=write)
    parts = {
        "store": state, "export": _file(os.path.join(root, EXPORT)), "backup": _file(os.path.join(root, BACKUP)),
        "registry": _registry(os.path.join(root, HOME)),
    }  # fmt: skip
    if state != ABSENT and not wrong:
        wrong += _sidecar(os.path.join(root, STORE))
        if write:
            wrong += _goes_on(os.path.join(root, STORE))
    return Seen(parts, tuple(wrong))


def open_store(path: str, *, make: bool = False) -> SqliteStore:
    """The store as any process opens it that has the key."""
    access = Access(others=lambda: [access_with(KEY)])
    head = os.path.join(path.removesuffix(STORE), HEAD)
    return SqliteStore(path, _MADE_BY, lambda: _BEGAN, make=make, access=access, head=head)


def access_with(key: bytes, vfs: str = "") -> Access:
    """How a store is reached that has this key (b"" for none); what waits beside an encrypted one is sealed, where that can be."""
    known = keys.secret() if key else None
    return Access(vfs, key, recipient=keys.recipient() if key else "", secrets=lambda: [known] if known else [])


def _store(path: str, *, whole: bool) -> tuple[str, list[str]]:
    """A digest of all that the store holds, and what its own check finds."""
    try:
        with open_store(path) as store:
            try:
                with store.read() as reader:
                    begun = bool(reader.setting("repository"))
            except SchemaOlder:  # an upgrade, or the making of a store, was cut short: who writes next goes on with it
                with store.write() as writer:
                    begun = bool(writer.setting("repository"))
            if not begun:
                return ABSENT, _begun_anew(path, whole=whole)
            waiting = _waiting(store)
            with store.read():
                state = f"{fingerprint(store.connection(readonly=True))}{waiting}"
            return state, _told(_found(store, whole=whole))
    except NoStore:
        return ABSENT, _begun_anew(path, whole=whole)
    except HardwonError as error:
        return f"{error.kind}: {error.message}", [f"the store cannot be opened: {error.message}"]


def _finish_erasure(store: SqliteStore) -> None:
    """An erasure that was cut short is told as unfinished until somebody compacts, which has to end it."""
    engine = Engine(store, REPOSITORY)
    if is_pending(engine):
        finish(engine)


def _waiting(store: SqliteStore) -> str:
    """The ids of what lies in the spool and was not taken in yet: with the store, all that was acknowledged."""
    engine = Engine(store, REPOSITORY)
    said = [submission.id for submission, _ in spooling.waiting(engine)]
    with store.read() as reader:
        return "".join(f" +{one}" for one in said if not reader.get([one]) and not reader.aliased(one))


def _begun_anew(path: str, *, whole: bool) -> list[str]:
    """A store whose making was cut short has to be one that ``init`` can finish."""
    try:
        with open_store(path, make=True) as store:
            opening.prepare(store, REPOSITORY, _BEGAN, Entropy(0), 5.0)
            return _told(_found(store, whole=whole))
    except HardwonError as error:
        return [f"a store that was not made yet cannot be made: {error.message}"]


def _found(store: SqliteStore, *, whole: bool) -> list[Finding]:
    """What is wrong with the store: by ``verify`` as it is, or by its checks of the content only."""
    if whole:
        _finish_erasure(store)
        return store.check()
    told = heads.read(store.head)
    with store.read():
        connection = store.connection(readonly=True)
        return _checked(connection) + of_head.compare(store.head, told, connection)


def _checked(connection: apsw.Connection) -> list[Finding]:
    """What the checks of ``verify`` find that look at the content."""
    register(connection)
    found: list[Finding] = []
    for name, one in _CHECKS:
        try:
            found += one(connection)
        except UNREADABLE as error:
            found.append(Finding("error", f"it cannot be read through: {error}", name))
    return found


def _told(findings: list[Finding]) -> list[str]:
    return [f"{finding.where}: {finding.what}" for finding in findings if finding.level in ("error", "warning")]


def _goes_on(path: str) -> list[str]:
    """One more memory goes in, is there, and nothing else changes for the worse."""
    text = "Written after the power came back"
    engine = Engine(open_store(path), REPOSITORY, None, lambda: _BEGAN, Entropy(1), 5.0)
    try:
        said = [submission.id for submission, _ in spooling.waiting(engine)]
        receipt = engine.record(Draft(text), SCOPE)
        with engine.store.read() as reader:
            if [memory.text for memory in reader.get([receipt.id])] != [text]:
                return ["what is written after the power loss cannot be read"]
            lost = [one for one in said if not reader.get([one]) and not reader.aliased(one)]
            if lost or spooling.waiting(engine):
                return [f"what waited in the spool was not taken in: {lost}"]
        return _told(engine.verify())
    except HardwonError as error:
        return [f"the store cannot be written to any more: {error.message}"]
    finally:
        engine.close()


def _file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return blake2b(file.read(), digest_size=16).hexdigest()
    except FileNotFoundError:
        return ABSENT


def _registry(home: str) -> str:
    try:
        return " ".join(entry.name for entry in Registry(home).entries())
    except HardwonError as error:
        return f"{error.kind}: {error.message}"


def _sidecar(path: str) -> list[str]:
    """The file of sign bits: what is left of it is what the store's vectors say, or it is made anew."""
    folder = os.path.dirname(path)
    if not any(name.endswith(".signs") for name in os.listdir(folder)):
        return []
    from hardwon.store.sidecar import SignIndex

    with open_store(path) as store, store.read() as reader:
        if not reader.vector_keys(MODEL, Filter(), 1):
            return []
        elsewhere = SignIndex(MODEL, os.path.join(folder, "elsewhere.db"), 0)
        kept, made = SignIndex(MODEL, path, 0).signs(reader, DIMENSIONS), elsewhere.signs(reader, DIMENSIONS)
    os.unlink(elsewhere.path)
    same = kept.keys.tolist() == made.keys.tolist() and kept.bits.tolist() == made.bits.tolist()
    return [] if same else ["the file of sign bits is taken for whole, and is not"]
