"""The operations that are made to fail at every call: what each begins with, what it does, and whether it comes whole or in parts.

All are those of the engine, on a store that was filled through the engine. Clock and randomness are given anew to every attempt, so
that what an operation leaves can be compared row by row with what it leaves when nothing fails.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess

import apsw

from hardwon.code import repo
from hardwon.engine import history, opening
from hardwon.engine.core import Engine, Place
from hardwon.errors import Damaged, SchemaOlder, StoreError
from hardwon.proof import keys
from hardwon.store.checks.remedies import REFUSED
from hardwon.store.checksums import COVERED
from hardwon.store.connection import Access
from hardwon.store.journal import row_hash
from hardwon.store.registry import Registry
from hardwon.store.schema import STEPS
from hardwon.store.sqlite import SqliteStore
from hardwon.types import LINKS, RELATIONS, Anchor, Change, Draft, Filter, Origin, Query, Relation, Revision, Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    # What a store holds, by id; None for one of an older schema, which is read only once it is upgraded.
    Contents = dict[str, object] | None

STORE = "proof.db"
HOME = "home"  # beside the store, where it is a registered one
SCOPE = Scope(Origin("person", "proof", "", "torture"))
REPOSITORY = "00000000-0000-0000-0000-000000000000"
BEGAN = 1_700_000_000_000
_WORDS = ("pool", "retry", "token", "cache", "upload", "schema", "queue", "lock", "index", "page", "merge", "digest")


class Operation(Value):
    """One operation. ``run`` gets the engine; ``before`` prepares the store's folder; ``whole``: it is one transaction, of which all is
    there or nothing; ``warm``: the engine's files are open; ``needs``: ``git`` for one that reads a repository, or ``encryption``;
    ``judges``: it says whether the store is damaged; ``retries``: it goes on by itself after a failure; ``late``: what it
    finds in the spool may stay there where the spool's own files fail; ``made``: what it leaves beside
    the store in its folder, as one comparable value."""

    name: str
    run: Callable[[Engine], object]
    before: Callable[[str], None] | None = None
    whole: bool = True
    warm: bool = False
    needs: Literal["", "git", "encryption"] = ""
    judges: bool = False
    retries: bool = False
    late: bool = False
    made: Callable[[str], object] | None = None


class Entropy:
    """Randomness from a seed."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def __call__(self, size: int) -> bytes:
        """So many bytes."""
        return self._source.randbytes(size)


class Ticking:
    """A clock that goes on by a second at each look."""

    def __init__(self, at: int) -> None:
        self._at = at

    def __call__(self) -> int:
        """Milliseconds since 1970."""
        self._at += 1000
        return self._at


class ProofEngine(Engine):
    """An engine that lets go of its files at the end of a ``with``."""

    def __enter__(self) -> ProofEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def engine_at(folder: str, vfs: str, seed: int, place: Place | None = None) -> ProofEngine:
    """The engine of the store in a folder, over a VFS ("" is the system's), with clock and randomness from the seed."""
    clock = Ticking(BEGAN + seed % 1000 * 1_000_000)
    access = Access()
    if os.path.isdir(os.path.join(folder, HOME)):
        registry = Registry(os.path.join(folder, HOME))
        place = Place(repo.locate(folder), registry.entry(REPOSITORY), "name", folder)
        access = opening.access_to(registry, place.entry, keys.source())
    access.vfs = vfs
    store = SqliteStore(os.path.join(folder, STORE), "hardwon torture", clock, access=access)
    return ProofEngine(store, REPOSITORY, place, clock, Entropy(seed), wait=5.0)


def fill(folder: str, seed: int, memories: int = 24, commits: int = 12) -> None:
    """A store of ordinary content: notes of several kinds, some said twice, some forgotten, and commits."""
    with engine_at(folder, "", seed) as engine:
        opening.prepare(engine.store, engine.repository, engine.clock(), engine.entropy)
        source = random.Random(seed)
        for number in range(memories):
            engine.record(draft(source, number), SCOPE)
        engine.record(draft(random.Random(seed), 0), SCOPE)
        engine.revise("1", Revision(detail="said more of it"), SCOPE)
        engine.forget(Filter(ids=(engine.identify("2"),)), SCOPE, dry_run=False)
        engine.link("3", "4", "supports", SCOPE)
        engine.add_changes(changes(0, commits))
        engine.settle_history()


def draft(source: random.Random, number: int) -> Draft:
    """One of the things that an agent says."""
    words = " ".join(source.choices(_WORDS, k=8))
    kind = ("lesson", "fact", "decision", "attempt")[number % 4]
    anchors = (Anchor(f"src/{_WORDS[number % 12]}.py", f"{_WORDS[number % 12].title()}.run"),)
    return Draft(
        f"{kind} {number}: {words}", kind, "failed" if kind in ("lesson", "attempt") else None,  # type: ignore[arg-type]  # words of KINDS
        detail=f"detail {words}", anchors=anchors, tags=("proof",),
    )  # fmt: skip


def changes(first: int, count: int) -> list[Change]:
    """Commits; each tenth takes the one before it back."""
    made = []
    for number in range(first, first + count):
        source = random.Random(number)
        added = tuple(f"{source.choice(_WORDS)}_{source.choice(_WORDS)}_{source.randrange(50)}" for _ in range(12))
        relations = (Relation("reverts", _sha(number - 1)),) if number % 10 == 9 else ()
        body = f"This reverts commit {_sha(number - 1)}." if relations else " ".join(source.choices(_WORDS, k=20))
        subject, path = f"Change {number}: {source.choice(_WORDS)}", f"src/{source.choice(_WORDS)}.py"
        at = BEGAN + number * 60_000
        made.append(Change(_sha(number), at, subject, body, "Ann", "main", (path,), ("run",), added, (), 12, 0, None, relations))
    return made


def _sha(number: int) -> str:
    return f"{number + 1:040x}"


def contents(engine: Engine, made: Callable[[str], object] | None = None) -> Contents:
    """Everything that was acknowledged, so that two stores can be compared: each memory's row by its hash (``verify`` holds the versions
    and occurrences against it and the journal), the journal, the relations, the size of the index; what was made beside it."""
    try:
        with engine.store.read() as reader:
            kept: dict[str, object] = {memory.id: row_hash(memory) for memory in reader.find(Filter(), -1)}
            kept["journal"] = [(event.seq, event.hash) for event in reader.events()]
            kept["relations"] = [(link.source, link.kind, link.target) for link in reader.relations((*RELATIONS, *LINKS))]
            kept["corpus"] = reader.corpus()
    except SchemaOlder:
        return None
    return kept | {"made": made(os.path.dirname(engine.store.path))} if made else kept


# What is done


def _record(engine: Engine) -> object:
    return engine.record(draft(random.Random(99), 1001), SCOPE)


def _repeat(engine: Engine) -> object:
    return engine.record(draft(random.Random(99), 1001).replace(detail="seen again, with another detail"), SCOPE)


def _revise(engine: Engine) -> object:
    return engine.revise("5", Revision(text="The pool is drained before the lock is taken", detail="measured"), SCOPE)


def _forget(engine: Engine) -> object:
    return engine.forget(Filter(tags=("proof",)), SCOPE, dry_run=False)


def _undo(engine: Engine) -> object:
    return engine.undo("", SCOPE)


def _replace(engine: Engine) -> object:
    return engine.link("6", "7", "replaces", SCOPE)


def _add_changes(engine: Engine) -> object:
    engine.add_changes(changes(100, 120))  # a whole batch, and one more
    return engine.settle_history()


def _ingest(engine: Engine) -> object:
    return history.ingest(engine, 1000, None)  # by the quick rules: the scanner's own files are not the store's


def _compact(engine: Engine) -> object:
    return engine.compact()


def _checkpoint(engine: Engine) -> object:
    engine.persist()
    return None


def _upgrade(engine: Engine) -> object:
    with engine.write() as writer:
        return writer.figures()


def _rebuild(engine: Engine) -> object:
    return history.rebuild(engine, None)


def _recall(engine: Engine) -> object:
    return engine.recall(Query("pool retry token cache", floor=0.0), SCOPE)


def _verify(engine: Engine) -> object:
    """A finding is the answer of a verify; here, where nothing is damaged, it is an error."""
    findings = engine.verify()
    if any(finding.what.startswith(REFUSED) for finding in findings):
        raise StoreError(findings[0].what)
    if findings:
        raise Damaged(f"verify found {len(findings)} errors in an intact store: {findings[0].what}")
    return findings


# What it begins with


def _half_empty(folder: str) -> None:
    """Much that is gone, so that there is space to give back."""
    with engine_at(folder, "", 2) as engine:
        engine.add_changes(changes(1000, 60))
    _without_commits(folder)


def _without_commits(folder: str) -> None:
    """The made-up commits gone, which no ref of a real repository reaches."""
    with engine_at(folder, "", 2) as engine, engine.write() as writer:
        writer.drop([memory.id for memory in writer.find(Filter(kinds=("change",)), -1)])


def _waiting(folder: str) -> None:
    """Records in the spool, which the next write takes in."""
    with engine_at(folder, "", 5) as engine, engine_at(folder, "", 6) as late:
        late.wait = 0.0
        with engine.write():
            for number in range(3):
                late.record(draft(random.Random(number), 7000 + number), SCOPE)


def _full_log(folder: str) -> None:
    """A log that nobody has moved into the file yet."""
    with engine_at(folder, "", 2) as engine:
        engine.add_changes(changes(1000, 100))


def _older(folder: str) -> None:
    """The store as the schema before the last step had it: that step taken back, and no room kept for shortening."""
    connection = apsw.Connection(os.path.join(folder, STORE))
    for table in COVERED:
        connection.execute("DROP TABLE erased" if table == "erased" else f"ALTER TABLE {table} DROP COLUMN crc")
    number = STEPS[-1][0]
    connection.execute("DELETE FROM schema_steps WHERE step = ?", (number,))
    connection.pragma("user_version", number - 1)
    connection.pragma("auto_vacuum", 0)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.pragma("journal_mode", "delete")
    connection.execute("VACUUM")
    connection.close()


OPERATIONS = (
    Operation("recall", _recall),
    Operation("verify", _verify, _full_log, judges=True),
    Operation("record", _record),
    Operation("record, files open", _record, warm=True),
    Operation("record again", _repeat, lambda folder: _first(folder, _record)),
    Operation("revise", _revise, warm=True),
    Operation("link", _replace, warm=True),
    Operation("forget", _forget),
    Operation("undo", _undo, lambda folder: _first(folder, _forget)),
    Operation("ingest", _add_changes, whole=False),
    Operation("ingest git", _ingest, _without_commits, whole=False, needs="git"),
    Operation("rebuild", _rebuild, whole=False),
    Operation("drain", _record, _waiting, whole=False, late=True),
    Operation("compact", _compact, _half_empty, whole=False),
    Operation("checkpoint", _checkpoint, _full_log),
    Operation("migration", _upgrade, _older, whole=False),
)


def _first(folder: str, run: Callable[[Engine], object]) -> None:
    """Another operation, done before."""
    with engine_at(folder, "", 3) as engine:
        run(engine)


# A repository of its own


def repository(folder: str) -> Place | None:
    """A small real repository with what there is to read in it, registered; None where git is missing."""
    if not shutil.which("git"):
        return None
    checkout, home = os.path.join(folder, "repository"), os.path.join(folder, "home")
    os.makedirs(checkout)
    git(checkout, "init", "-q")
    for number in range(25):
        path = os.path.join(checkout, f"{_WORDS[number % 12]}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                "\n".join(f"def {word}_{number}(): return {number}" for word in random.Random(number).choices(_WORDS, k=6))
            )
        git(checkout, "add", ".")
        git(checkout, "commit", "-q", "-m", f"Change {number}: {_WORDS[number % 12]}")
    git(checkout, "revert", "--no-edit", "HEAD")
    engine = opening.create(checkout, home)
    engine.close()
    return engine.home


def git(folder: str, *words: str, stdin: bytes = b"") -> None:
    """Plain git, with none of the user's settings."""
    names = {
        name: value
        for role in ("AUTHOR", "COMMITTER")
        for name, value in ((f"GIT_{role}_NAME", "Ann"), (f"GIT_{role}_EMAIL", "a@b.c"))
    }
    names |= {f"GIT_{role}_DATE": "1700000000 +0000" for role in ("AUTHOR", "COMMITTER")}
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **names,
    }
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True, input=stdin)
