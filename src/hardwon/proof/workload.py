"""What is done while the power may fail: the engine's own operations, in an order that a seed decides, on one recorded folder.

Another operation is a function of the world and a row in ``OPERATIONS``. It does one thing, and notes in ``world.facts`` what has to be
readable from the moment at which it returns.
"""

from __future__ import annotations

import os
import shutil
from tempfile import TemporaryDirectory

from hardwon.code import repo
from hardwon.engine import erase as erasing
from hardwon.engine import exchange, history, opening, spooling
from hardwon.engine.backup import backup
from hardwon.engine.core import Engine, Place
from hardwon.engine.repair import repair as mend
from hardwon.engine.restore import candidate
from hardwon.importers.lines import HEADER, read, to_line
from hardwon.proof.observation import BACKUP, DIMENSIONS, EXPORT, HOME, KEY, MODEL, access_with
from hardwon.proof.operations import REPOSITORY, SCOPE, changes, git
from hardwon.proof.world import PATIENCE, WORDS, Operation, World
from hardwon.store import files
from hardwon.store.identity import Entry
from hardwon.store.ids import uuid7
from hardwon.store.keys.recrypt import recrypt, remove_leftovers
from hardwon.store.memory import MemoryStore
from hardwon.store.registry import Registry
from hardwon.store.replacement import Replacement
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Draft, Filter, Revision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

_KINDS = ("fact", "decision", "rule", "attempt", "howto")


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
            detail=world.text(rng.choice((20, 200, 1500))), because=world.text(), tags=("proof", rng.choice(WORDS)),
            rejected=(world.text(),), metadata='{"run": 1}', anchors=(Anchor("src/pool.py", "Pool.get"),),
        )  # fmt: skip
    _keep(world, draft)


def lesson(world: World) -> None:
    """What ``fail`` and ``ok`` record."""
    word = world.rng.choice(WORDS)
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
    world.engine.add_changes(changes(world.made, count))
    world.made, world.commits = world.made + count, world.commits + count
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
    if not isinstance(store, SqliteStore) or (world.key and not store.recipient):
        return  # without a recipient nothing may wait of an encrypted store
    draft = Draft(world.text())
    lock = store._acquire(PATIENCE)
    engine.wait = 0.0
    try:
        receipt = engine.record(draft, SCOPE)
    finally:
        engine.wait = PATIENCE
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
            world.gone.add(identifier)
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
    # What was erased since the backup was made stays erased.
    world.facts = {known: ("", "forgotten") if known in world.gone else fact for known, fact in facts.items()}
    world.drafts = {}
    world.forgotten = []


def rekey(world: World) -> None:
    """Another file, encrypted or in the clear again, takes the store's place."""
    store = world.engine.store
    if isinstance(store, SqliteStore):
        world.key = b"" if world.key else KEY
        recrypt(store, access_with(world.key), PATIENCE)
        remove_leftovers(store.path)


def damage(world: World) -> None:
    """A file takes the store's place in which one bit is another one: what a bad disk gives back."""
    words = [text.encode() for text, _ in world.facts.values() if text]
    if world.key or not words:
        return
    world.engine.persist()
    with open(world.path, "rb") as file:
        content = bytearray(file.read())
    at = content.find(world.rng.choice(words))
    if at >= 0:
        content[at] ^= 1
        world.damaged = True
        _sync(f"{world.path}-wal")  # it was cut short, and a power loss might bring back what lay over the bit
        files.write_whole(world.path, [bytes(content)])


def _sync(path: str) -> None:
    descriptor = files.disk.open(path, os.O_RDWR)
    files.disk.sync(descriptor)
    files.disk.close(descriptor)


def repair(world: World) -> None:
    """What is intact makes a store again."""
    mend(world.engine, SCOPE)
    world.damaged = False


def import_lines(world: World) -> None:
    """What somebody else's memory has to say, in slices of a transaction each."""
    said = [Draft(world.text(), tags=("imported",)) for _ in range(world.rng.choice((1, 4)))]
    other = Engine(MemoryStore(), REPOSITORY, None, world.clock, world.rng.randbytes)
    opening.prepare(other.store, REPOSITORY, world.clock(), other.entropy)
    for draft in said:
        other.record(draft, SCOPE)
    items = list(exchange.export(other))
    lines = enumerate((line.encode() for line in (HEADER, *map(to_line, items))), start=1)
    exchange.import_memories(world.engine, read(lines), SCOPE)
    for item in items:
        world.note(item.memory.id, item.memory.text)


def ingest_git(world: World) -> None:
    """The commits of a small real repository; those of another one go."""
    if not shutil.which("git"):
        return
    with TemporaryDirectory(prefix="hardwon-torture-git-") as folder:
        grow(folder, world.rng)
        entry = Entry(REPOSITORY, "proof")
        world.engine.place = Place(repo.locate(folder), entry, "name", folder)
        try:
            history.ingest(world.engine, 1000, None)
        finally:
            world.engine.place = None
    world.commits = world.engine.figures()["change"]


def grow(folder: str, rng: Random) -> None:
    """Some commits in a new repository, the last of which takes one back; two processes of git."""
    lines = ["feature done"]
    for number in range(rng.choice((2, 5))):
        subject = f"Change {rng.choice(WORDS)} {rng.randrange(10**6)}"
        content = f"def {rng.choice(WORDS)}_{number}(): return {rng.randrange(99)}\n"
        lines += [
            "commit refs/heads/main", f"committer Ann <a@b.c> {1_700_000_000 + number} +0000", f"data {len(subject)}", subject,
            f"M 100644 inline {rng.choice(WORDS)}.py", f"data {len(content)}", content,
        ]  # fmt: skip
    lines += ["done", ""]
    git(folder, "init", "-q", "-b", "main")
    git(folder, "fast-import", "--quiet", stdin="\n".join(lines).encode())


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
    Operation("damage", damage, then=(Operation("repair", repair),)),
    Operation("import", import_lines, steps=True),
    Operation("ingest git", ingest_git, steps=True),
)


def sequence(rng: Random, length: int) -> list[Operation]:
    """So many operations, drawn by their shares, each with what has to follow it."""
    drawn = rng.choices(OPERATIONS, [operation.share for operation in OPERATIONS], k=length)
    return [one for operation in drawn for one in (operation, *operation.then)]
