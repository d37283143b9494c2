"""What is done while the power may fail: the engine's own operations, in an order that a seed decides, on one recorded folder.

Another operation is a function of the world and a row in ``OPERATIONS``. It does one thing, and notes in ``world.facts`` what has to be
readable from the moment at which it returns.
"""

from __future__ import annotations

import os
from random import Random

from hardwon.engine import erase as erasing
from hardwon.engine import opening, spooling
from hardwon.engine.backup import backup
from hardwon.engine.core import Engine
from hardwon.engine.restore import candidate
from hardwon.proof.observation import BACKUP, DIMENSIONS, EXPORT, HOME, KEY, MODEL, STORE
from hardwon.proof.operations import SCOPE, changes
from hardwon.store.connection import Access
from hardwon.store.ids import uuid7
from hardwon.store.keys.recrypt import recrypt, remove_leftovers
from hardwon.store.registry import Registry
from hardwon.store.replacement import Replacement
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Draft, Filter, Revision, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = "00000000-0000-0000-0000-000000000000"
_BEGAN = 1_700_000_000_000
_PATIENCE = 5.0  # seconds for the writers' lock, which nobody else has here
_WORDS = (
    "pool", "retry", "token", "cache", "upload", "schema", "queue", "lock", "index", "page", "merge", "branch", "parser", "timeout",
    "worker", "socket", "header", "packet", "cursor", "buffer",
)  # fmt: skip
_KINDS = ("fact", "decision", "rule", "attempt", "howto")


class World:
    """The folder, the engine on it, and the facts: for each memory that was acknowledged its text and status."""

    def __init__(self, root: str, rng: Random, make_store: Callable[[str, Callable[[], int], bytes], SqliteStore]) -> None:
        """``make_store`` opens the store at a path, with a clock and a key (b"" for none): on the recorded disk."""
        self.root = root
        self.rng = rng
        self.facts: dict[str, tuple[str, str]] = {}
        self.drafts: dict[str, Draft] = {}
        self.commits = 0
        self.names: list[str] = []
        self.waiting: dict[str, str] = {}  # id and text of what is in the spool
        self.forgotten: list[str] = []  # whose last change was that they were forgotten
        self.erased: list[str] = []  # texts of which no byte is to be found any more
        self.saved: tuple[dict[str, tuple[str, str]], int] | None = None  # the facts and commits that the backup has
        self.key = b""
        self._now = _BEGAN
        self._make_store = make_store
        self.engine = self._opened()

    @property
    def path(self) -> str:
        """The store's file."""
        return os.path.join(self.root, STORE)

    def clock(self) -> int:
        """Milliseconds that go on by a random step."""
        self._now += self.rng.randrange(1, 3000)
        return self._now

    def _opened(self) -> Engine:
        store = self._make_store(self.path, self.clock, self.key)
        engine = Engine(store, REPOSITORY, None, self.clock, self.rng.randbytes, _PATIENCE)
        engine.erasure_key = os.path.join(self.root, HOME, "erasure.key")
        return engine

    def reopen(self) -> None:
        """As the next process does."""
        self.engine.close()
        self.engine = self._opened()

    def text(self, words: int = 8) -> str:
        """Something new to say."""
        return f"{' '.join(self.rng.choices(_WORDS, k=words))} {self.rng.randrange(10**6)}"

    def active(self) -> list[str]:
        """Ids of the recorded memories that are active."""
        return [identifier for identifier, (_, status) in self.facts.items() if status == "active"]

    def some(self) -> str:
        """One of them, "" where there is none. (Recording one here would make two transactions of an operation that is one.)"""
        known = self.active()
        return self.rng.choice(known) if known else ""

    def note(self, identifier: str, text: str, status: str = "active") -> None:
        """What has to be readable from now on."""
        self.facts[identifier] = (text, status)
        if identifier in self.forgotten:
            self.forgotten.remove(identifier)

    def unkept(self, store: SqliteStore) -> list[str]:
        """The facts that a store does not bear out, a sentence each."""
        with store.read() as reader:
            found = {memory.id: (memory.text, memory.status) for memory in reader.get(list(self.facts))}
            commits = reader.figures()["change"] if self.commits else 0
        wrong = [
            f"{identifier} was acknowledged as {fact}, and is {found.get(identifier, 'not there')}"
            for identifier, fact in self.facts.items()
            if found.get(identifier) != fact
        ]
        return wrong + ([f"{self.commits} commits were acknowledged, {commits} are there"] if commits != self.commits else [])


class Operation(Value):
    """One kind of thing that is done. ``share``: how often, among the others; ``steps``: it commits more than once, and a power loss may
    leave it after any of its commits; ``then``: what has to come next, for another operation would do it first on its way."""

    name: str
    run: Callable[[World], None]
    share: int = 1
    steps: bool = False
    then: tuple[Operation, ...] = ()


def create(world: World) -> None:
    """The registry's entry, then the store."""
    register(world)
    opening.prepare(world.engine.store, REPOSITORY, world.clock(), world.engine.entropy)


def upgrade(world: World) -> None:
    """The first writer of this version opens a store of the version before."""
    with world.engine.write():
        pass


def record(world: World) -> None:
    """A new memory, small or with all that it may have."""
    rng = world.rng
    draft = Draft(world.text(), rng.choice(_KINDS))  # type: ignore[arg-type]  # words of KINDS
    if rng.random() < 0.3:
        draft = draft.replace(
            detail=world.text(rng.choice((20, 200, 1500))), because=world.text(), tags=("proof", rng.choice(_WORDS)),
            rejected=(world.text(),), metadata='{"run": 1}', anchors=(Anchor("src/pool.py", "Pool.get"),),
        )  # fmt: skip
    _keep(world, draft)


def lesson(world: World) -> None:
    """What ``fail`` and ``ok`` record."""
    word = world.rng.choice(_WORDS)
    outcome = world.rng.choice(("failed", "worked"))
    _keep(world, Draft(world.text(), "lesson", outcome, anchors=(Anchor(f"src/{word}.py", f"{word.title()}.run"),)))  # type: ignore[arg-type]


def repeat(world: World) -> None:
    """What was said before, once more."""
    said = [identifier for identifier in world.active() if identifier in world.drafts]
    if said:
        _keep(world, world.drafts[world.rng.choice(said)])


def _keep(world: World, draft: Draft) -> None:
    receipt = world.engine.record(draft, SCOPE)
    world.drafts[receipt.id] = draft
    world.note(receipt.id, draft.text)


def revise(world: World) -> None:
    """Other words for a memory."""
    identifier, text = world.some(), world.text()
    if identifier:
        world.engine.revise(identifier, Revision(text=text), SCOPE)
        world.drafts.pop(identifier, None)
        world.note(identifier, text)


def resolve(world: World) -> None:
    """Another status."""
    identifier = world.some()
    status = world.rng.choice(("resolved", "inactive"))
    if identifier:
        world.engine.set_status(identifier, status, SCOPE)  # type: ignore[arg-type]  # words of STATUSES
        world.note(identifier, world.facts[identifier][0], status)


def approve(world: World) -> None:
    """A person's verdict."""
    identifier = world.some()
    if identifier:
        world.engine.approve(identifier, SCOPE)


def replace(world: World) -> None:
    """One memory takes another's place: two rows, two journal entries, one transaction."""
    one, other = world.some(), world.some()
    if one != other:
        world.engine.link(one, other, "replaces", SCOPE)
        world.note(other, world.facts[other][0], "replaced")


def feedback(world: World) -> None:
    """Somebody found it useful."""
    identifier = world.some()
    if identifier:
        world.engine.feedback(identifier, "useful", SCOPE)


def forget(world: World) -> None:
    """Several memories in one transaction."""
    gone = tuple(world.rng.sample(world.active(), min(len(world.active()), world.rng.randint(1, 4))))
    if not gone:
        return
    world.engine.forget(Filter(ids=gone), SCOPE, dry_run=False)
    for identifier in gone:
        world.note(identifier, world.facts[identifier][0], "forgotten")
        world.forgotten.append(identifier)


def undo(world: World) -> None:
    """A forgotten memory comes back."""
    if world.forgotten:
        identifier = world.rng.choice(world.forgotten)
        world.engine.undo(identifier, SCOPE)
        world.note(identifier, world.facts[identifier][0])


def upsert(world: World) -> None:
    """Several items under ids of the caller's own: new ones, and new content for known ones."""
    items = [(str(world.rng.randrange(12)), Draft(world.text())) for _ in range(3)]
    items = list(dict(items).items())
    for receipt, (_, draft) in zip(world.engine.upsert(items, SCOPE), items, strict=True):
        world.drafts.pop(receipt.id, None)
        world.note(receipt.id, draft.text)


def ingest(world: World) -> None:
    """Commits, and what became of them."""
    count = world.rng.choice((3, 8, 20))
    world.engine.add_changes(changes(world.commits, count))
    world.commits += count
    world.engine.settle_history()


def embed(world: World) -> None:
    """A vector for each memory, and the file of sign bits made of them."""
    from array import array

    rows = []
    for identifier in world.facts:
        values = [world.rng.gauss(0, 1) for _ in range(DIMENSIONS)]
        rows.append((identifier, world.rng.randbytes(16), array("f", values).tobytes()))
    with world.engine.write() as writer:
        writer.put_vectors(MODEL, rows)


def index(world: World) -> None:
    """The file of sign bits, where numpy is installed."""
    try:
        from hardwon.store.sidecar import SignIndex
    except ImportError:
        return
    with world.engine.store.read() as reader:
        if reader.vector_keys(MODEL, Filter(), 1):
            SignIndex(MODEL, world.path, 0).refresh(reader, DIMENSIONS)


def export(world: World) -> None:
    """A file that takes the place of the one before."""
    path = os.path.join(world.root, EXPORT)
    lines = (f"{identifier} {text} {status}" for identifier, (text, status) in world.facts.items())
    Replacement(path, os.path.join(world.root, HOME), force=True).write(lines)


def register(world: World) -> None:
    """Another repository."""
    name = f"project-{len(world.names)}"
    Registry(os.path.join(world.root, HOME)).add(name, id=uuid7(world.clock(), world.rng.randbytes(10)), now=world.clock())
    world.names.append(name)


def checkpoint(world: World) -> None:
    """The log moves into the file."""
    world.engine.persist()


def compact(world: World) -> None:
    """Space is given back."""
    world.engine.compact()


def rewrite(world: World) -> None:
    """The whole file is written anew."""
    world.engine.compact(full=True)


def reopen(world: World) -> None:
    """Another process goes on."""
    world.reopen()


def spool(world: World) -> None:
    """The store stays locked by another process: what is said waits in the spool."""
    engine, store = world.engine, world.engine.store
    if world.key or not isinstance(store, SqliteStore):
        return  # without a recipient nothing may wait of an encrypted store
    draft = Draft(world.text())
    lock = store._acquire(_PATIENCE)
    engine.wait = 0.0
    try:
        receipt = engine.record(draft, SCOPE)
    finally:
        engine.wait = _PATIENCE
        lock.release()
    world.waiting[receipt.id] = draft.text


def drain(world: World) -> None:
    """The next writer takes it in."""
    spooling.drain(world.engine)
    for identifier, text in world.waiting.items():
        world.note(identifier, text)
    world.waiting.clear()


def erase(world: World) -> None:
    """Two memories, for good, with every byte of theirs."""
    gone = tuple(world.rng.sample(world.active(), min(len(world.active()), 2)))
    if gone:
        erasing.erase(world.engine, Filter(ids=gone), "secret", SCOPE, dry_run=False)
        for identifier in gone:
            world.erased.append(world.facts[identifier][0])
            world.note(identifier, "", "forgotten")


def back_up(world: World) -> None:
    """A copy outside Hardwon's folder takes the place of the one before."""
    backup(world.engine, os.path.join(world.root, HOME), os.path.join(world.root, BACKUP), force=True)
    world.saved = (dict(world.facts), world.commits)


def restore(world: World) -> None:
    """The backup takes the store's place; the store is kept under another name."""
    if world.saved is None or world.key:
        return
    with candidate(world.engine, os.path.join(world.root, HOME), os.path.join(world.root, BACKUP)) as found:
        found.use(SCOPE)
    facts, world.commits = world.saved
    world.facts = dict(facts)
    world.drafts = {}
    world.forgotten = []
    world.erased = []  # a backup of earlier brings them back


def rekey(world: World) -> None:
    """Another file, encrypted or in the clear again, takes the store's place."""
    store = world.engine.store
    if isinstance(store, SqliteStore):
        world.key = b"" if world.key else KEY
        recrypt(store, Access(store.access.vfs, world.key), _PATIENCE)
        remove_leftovers(store.path)


# How a sequence begins: with nothing, or with a store of the version before.
FIRST = (Operation("create", create), Operation("upgrade", upgrade))
OPERATIONS = (
    Operation("record", record, 8),
    Operation("lesson", lesson, 6),
    Operation("repeat", repeat, 3),
    Operation("revise", revise, 3),
    Operation("resolve", resolve, 2),
    Operation("approve", approve),
    Operation("replace", replace, 2),
    Operation("feedback", feedback),
    Operation("forget", forget, 2),
    Operation("undo", undo, 2),
    Operation("upsert", upsert, 2),
    Operation("ingest", ingest, 2, steps=True),
    Operation("embed", embed),
    Operation("index", index),
    Operation("export", export, 2),
    Operation("register", register, 2),
    Operation("checkpoint", checkpoint, 2),
    Operation("compact", compact),
    Operation("rewrite", rewrite),
    Operation("reopen", reopen, 2),
    Operation("spool", spool, 2, then=(Operation("spool", spool), Operation("drain", drain, steps=True))),
    Operation("erase", erase, steps=True),
    Operation("backup", back_up),
    Operation("restore", restore),
    Operation("rekey", rekey),
)


def sequence(rng: Random, length: int) -> list[Operation]:
    """So many operations, drawn by their shares, each with what has to follow it."""
    drawn = rng.choices(OPERATIONS, [operation.share for operation in OPERATIONS], k=length)
    return [one for operation in drawn for one in (operation, *operation.then)]
