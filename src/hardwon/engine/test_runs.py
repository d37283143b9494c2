"""Tests as witnesses: what failed waits for the run that passes, and the change in between speaks for the claims that it touches.

What waits is kept in a setting of the store: runs are no memories, and most of them lead to nothing. What came of them is in the
journal, with the memories that it moved. Only runs of our own process count; a report that somebody hands in is read, and believed in
nothing that concerns trust.
"""

from __future__ import annotations

from contextlib import closing
from zlib import crc32

from hardwon.code import edits, git
from hardwon.code.edits import WorkingTree
from hardwon.code.ground import LARGEST, Files
from hardwon.code.touched import differing, fingerprints
from hardwon.code.workers import Workers
from hardwon.digest import git_blob
from hardwon.engine.belief import Judged, Step, take
from hardwon.engine.waiting_tests import MOST_CURES, MOST_EDITS, Book, read_book, write_book
from hardwon.errors import InvalidInput
from hardwon.intake.redact import redact
from hardwon.types import Filter, Origin, Value
from hardwon.upkeep import evidence
from hardwon.upkeep.cures import Changed, Cure, Symbols, code_of, is_test_changed, touches
from hardwon.upkeep.evidence import TestProof, TestRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Memory, Scope

_LONGEST_NAME = 300  # characters of a test's name that are kept
_MOST_READ = 100  # changed files whose symbols are compared; of the others the path has to do
_ACTIVE = Filter(derived=False, statuses=("active",))


class Observation(Value):
    """What was made of runs: why those that tell nothing were passed over (test, reason), how many of the rest failed and passed,
    what was judged by them, and which tests pass now that had failed, with what changed in between."""

    passed_over: tuple[tuple[str, str], ...] = ()
    failed: int = 0
    passed: int = 0
    judged: Judged = Judged()
    cures: tuple[Cure, ...] = ()


def observe(engine: Engine, runs: Sequence[TestRun], scope: Scope) -> Observation:
    """Take note of test runs, in the order in which they happened, and judge memories by them. One process at a time."""
    for run in runs:
        if not isinstance(run, TestRun):
            raise InvalidInput("a run must be a TestRun", field="runs", remedy="see hardwon.upkeep.evidence")
    now = engine.clock()
    told = [(run, _untold(run)) for run in runs]
    passed_over = tuple((run.test, reason) for run, reason in told if reason)
    heard = [_named(run, now) for run, reason in told if not reason]
    if not heard:
        return Observation(passed_over)
    queue = engine.store.queue("tests")
    queue.acquire(engine.wait)
    try:
        with Workers() as workers:
            observer = _Observer(engine, scope, workers)
            judged = observer.take(heard)
    finally:
        queue.release()
    failed = sum(not run.passed for run in heard)
    return Observation(passed_over, failed, len(heard) - failed, judged, tuple(observer.cured))


def changed_between(engine: Engine, scope: Scope, before: WorkingTree, after: WorkingTree) -> Changed | None:
    """What differs between two states: by path the blob now, and the symbols that are other (None where they are not known). None where
    git cannot tell."""
    with Workers() as workers:
        return _Observer(engine, scope, workers).changed(before, after)


def _untold(run: TestRun) -> str:
    """Why a run tells nothing, "" where it may."""
    known = bool(run.tree.commit) and len(run.tree.edits) <= MOST_EDITS
    return evidence.countable(run) or ("" if known else "no tree")


def _named(run: TestRun, now: int) -> TestRun:
    """The run with names that can be kept: without secrets, one printable line. It was not later than now."""
    test, file = redact(run.test)[0], redact(run.file)[0]
    if not test.isprintable() or len(test) > _LONGEST_NAME:
        shown = "".join(char for char in test if char.isprintable())[: _LONGEST_NAME - 10]
        test = f"{shown} {crc32(run.test.encode('utf-8', 'replace')):08x}"
    kept: TestRun = run.replace(test=test, file=file.replace("\\", "/"), at=min(run.at, now))
    return kept


class _Observer:
    def __init__(self, engine: Engine, scope: Scope, workers: Workers) -> None:
        self._engine = engine
        self._outline = workers.outline
        self._root = engine.home.checkout.root
        self._files = Files(self._root)
        self._origin = Origin("test", scope.origin.client, scope.origin.session, scope.origin.tool)
        self.cured: list[Cure] = []
        self._changes: dict[tuple[str, str], Changed | None] = {}
        self._symbols: dict[str, Symbols] = {}
        self._by_test: dict[str, list[tuple[Memory, Mapping[str, object]]]] | None = None
        self._earlier: dict[tuple[str, str, str], bool] = {}

    def take(self, runs: Sequence[TestRun]) -> Judged:
        now = self._engine.clock()
        with self._engine.store.read() as reader:
            book = read_book(reader, now)
        before = book.written()
        falls: list[Step] = []
        for run in runs:
            if run.passed:
                self._passed(book, run)
            else:
                falls += self._failed(book, run)
        book.remember(runs)
        steps = [*_once(falls), *self._rises(book)]
        judged = take(self._engine, steps, self._origin) if steps else Judged()
        if book.written() != before:
            with self._engine.write() as writer:
                write_book(writer, book)
        return judged

    # What failed

    def _failed(self, book: Book, run: TestRun) -> list[Step]:
        newly = run.test not in book.failures
        if book.passed_on(run.test, run.tree.name):
            book.flaky[run.test] = run.at
        if newly:  # what fails on and on failed once; the first tree is what the fix is compared with
            book.failures[run.test] = run
            book.symbols[run.tree.name] = self._edited_symbols(run.tree)
        return self._falls(run, newly=newly)

    def _falls(self, run: TestRun, *, newly: bool) -> list[Step]:
        """Memories that this very test had lifted, where it failed with their fix in place. A person is told once of a test that fails on
        and on."""
        doubt = {"by": "red", "test": run.test, "tree": run.tree.name}
        steps = []
        for memory, lifted in self._lifted().get(run.test, ()):
            if (memory.trust == "proven" or newly) and self._contains(memory, lifted, run.tree):
                steps.append(Step(memory, evidence.after_doubt(memory, lifted, doubt), doubt))
        return steps

    def _lifted(self) -> Mapping[str, Sequence[tuple[Memory, Mapping[str, object]]]]:
        """The memories that tests had lifted, by test, with the evidence; looked up once, for hundreds of tests may fail."""
        if self._by_test is None:
            self._by_test = {}
            with self._engine.store.read() as reader:
                for memory in reader.find(_ACTIVE.replace(trusts=("proven", "confirmed")), -1):
                    lifted = evidence.lifted_by(reader.events(memory.id))
                    if lifted.get("by") == "test":
                        self._by_test.setdefault(str(lifted["test"]), []).append((memory, lifted))
        return self._by_test

    def _contains(self, memory: Memory, lifted: Mapping[str, object], tree: WorkingTree) -> bool:
        """Whether the code that a memory speaks of is what it was when the test passed, in all that changed then."""
        paths = {anchor.path for anchor in memory.anchors if anchor.path}
        now, then = edits.blobs(self._root, tree, paths), lifted.get("code")
        if not now or not isinstance(then, list):
            return False
        edited = self._edited_symbols(tree)
        digests = list(now.values())
        with closing(git.Blobs(self._root)) as blobs:
            for path, blob in now.items():
                digests += (self._symbols_of(blobs, edited, path, blob) or {}).values()
        return evidence.contains(then, digests)

    # What passed

    def _passed(self, book: Book, run: TestRun) -> None:
        failure = book.failures.get(run.test)
        if failure is None:
            return
        restored = book.passed_on(run.test, run.tree.name)
        book.note_pass(run.test, run.tree.name)
        if failure.tree.name == run.tree.name:
            book.flaky[run.test] = run.at
        del book.failures[run.test]
        changed = self._changed(book, failure, run.tree)
        if changed is not None:
            there = bool(run.file and edits.blobs(self._root, run.tree, [run.file]))
            test_changed = not there or is_test_changed(run.file, changed)
            self.cured.append(Cure(failure, run, changed, test_changed, restored))
            book.cures.append(self.cured[-1])
            del book.cures[:-MOST_CURES]

    def _changed(self, book: Book, failure: TestRun, tree: WorkingTree) -> Changed | None:
        """What changed between a failure and the run that passed: path, its blob now, and the symbols that are other now (None where
        they are not known). None where git cannot tell."""
        pair = (failure.tree.name, tree.name)
        if pair not in self._changes:
            self._changes[pair] = self.changed(failure.tree, tree, book.symbols.get(pair[0], {}))
        return self._changes[pair]

    def changed(self, before: WorkingTree, after: WorkingTree, symbols: Symbols | None = None) -> Changed | None:
        """The same of two states; ``symbols``: those of the edited files of the first."""
        files = edits.changed(self._root, before, after)
        return None if files is None else self._by_symbol(symbols or {}, after, files)

    def _by_symbol(self, before: Symbols, tree: WorkingTree, files: Mapping[str, tuple[str, str]]) -> Changed:
        found: Changed = {}
        after = self._edited_symbols(tree)
        with closing(git.Blobs(self._root)) as blobs:
            for number, (path, (old, new)) in enumerate(sorted(files.items())):
                found[path] = (new, None)
                if number < _MOST_READ:
                    was, now = self._symbols_of(blobs, before, path, old), self._symbols_of(blobs, after, path, new)
                    symbols = differing(was, now)
                    found[path] = (new, None if symbols is None else {name: (now or {}).get(name, "") for name in symbols})
        return found

    def _edited_symbols(self, tree: WorkingTree) -> Symbols:
        """The symbols of files that no commit has: their contents are gone when the test passes. Those that were edited again since
        the test began are not known."""
        if tree.name not in self._symbols:
            found: Symbols = {}
            for path, blob in tree.edits[:_MOST_READ]:
                content = self._content(path) if blob else None
                same = content is not None and git_blob(content, len(tree.commit)) == blob
                found[path] = fingerprints(path, content, self._outline) if same or not blob else None
            self._symbols[tree.name] = found
        return self._symbols[tree.name]

    def _content(self, path: str) -> bytes | None:
        """What lies there now; None where that cannot be read, or waits for somebody who writes."""
        try:
            return self._files.content(path)
        except OSError:
            return None

    def _symbols_of(self, blobs: git.Blobs, edited: Symbols, path: str, blob: str) -> dict[str, str] | None:
        if path in edited:
            return edited[path]
        if not blob:
            return {}
        content = blobs.content(blob, LARGEST)
        return None if content is None else fingerprints(path, content, self._outline)

    # What may rise

    def _rises(self, book: Book) -> list[Step]:
        """Claims that what changed between a failure and a pass speaks for: known ones, and those that were recorded since."""
        steps: dict[str, Step] = {}
        with self._engine.store.read() as reader:
            for cure in book.cures:
                for memory in _about(reader, cure):
                    step = self._rise(reader, memory, cure, flaky=cure.green.test in book.flaky)
                    if step is not None:
                        steps.setdefault(memory.id, step)
        return list(steps.values())

    def _rise(self, reader: Reader, memory: Memory, cure: Cure, *, flaky: bool) -> Step | None:
        events = reader.events(memory.id)
        restored = cure.restored or self._is_restored(memory, cure)
        proof = TestProof(cure.red, cure.green, touches(memory, cure), cure.test_changed, flaky, restored)
        verdict = evidence.after_test(memory, proof, evidence.known_since(memory, events), evidence.used(events))
        if verdict.trust == memory.trust:
            return None
        return Step(memory, verdict, evidence.test_evidence(proof, code_of(memory, cure)))

    def _is_restored(self, memory: Memory, cure: Cure) -> bool:
        """Whether each file that changed and that the memory speaks of has a content now that it had in a commit before."""
        places = [(path, cure.changed[path][0]) for path in dict.fromkeys(a.path for a in memory.anchors) if path in cure.changed]
        return bool(places) and all(self._was_so(path, blob, cure.red.tree.commit) for path, blob in places)

    def _was_so(self, path: str, blob: str, commit: str) -> bool:
        known = self._earlier.get((path, blob, commit))
        if known is None:
            words = [
                "--literal-pathspecs",
                "log",
                "-1",
                "--format=%H",
                "--no-renames",
                f"--find-object={blob}",
                commit,
                "--",
                path,
            ]
            done = git.run(self._root, words) if blob else None  # of a content that git has not it says so by failing
            known = self._earlier[path, blob, commit] = done is not None and done.returncode == 0 and bool(done.stdout.strip())
        return known


def _once(steps: Iterable[Step]) -> list[Step]:
    found: dict[str, Step] = {}
    for step in steps:
        found.setdefault(step.memory.id, step)
    return list(found.values())


def _about(reader: Reader, cure: Cure) -> list[Memory]:
    """Claims that speak of what changed, by its files and symbols, each once."""
    claimed = _ACTIVE.replace(trusts=("claimed",), since=cure.red.at - evidence.NEAR_MS)
    found: dict[str, Memory] = {}
    for path, (_, symbols) in cure.changed.items():
        for memory in (
            *reader.anchored(path, "", claimed, -1),
            *(m for s in symbols or () for m in reader.anchored("", s, claimed, -1)),
        ):
            found.setdefault(memory.id, memory)
    return list(found.values())
