"""How tests went, made into memories: a failure that is new, what made it pass, tests that cannot be relied on; and what is known of
such a failure already.

What fails on and on failed once: a lesson is written when a test turns red, and another when it turns green by a change. Each report is
read once, however often it is handed in.
"""

from __future__ import annotations

import os

from hardwon.code.edits import WorkingTree
from hardwon.engine import failure as failures
from hardwon.engine import test_lessons as lessons
from hardwon.engine.test_history import KnownTest, TestHistory, read_history, write_history
from hardwon.engine.test_runs import Observation, changed_between, observe
from hardwon.errors import InvalidInput, NotFound
from hardwon.intake.redact import redact
from hardwon.types import Draft, Filter, Origin, Query, Scope, Value
from hardwon.upkeep import flaky, trust
from hardwon.upkeep.cures import is_test_changed
from hardwon.upkeep.evidence import TestRun
from hardwon.upkeep.flaky import Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardwon.capture.outcome import TestOutcome
    from hardwon.engine.core import Engine
    from hardwon.types import Hit
    from hardwon.upkeep.cures import Changed
    from hardwon.upkeep.evidence import Witness

# Failures of one run that are recorded: where more fail at once it is mostly one cause outside the code.
MOST_RECORDED = 5
# Failures of one run of which is told what is known.
_MOST_ASKED = 3
_HITS = 3
_NAMED = 10  # tests of one failure that are named
_SAME = "same failure"
_LONGEST_NAME = 1_000  # bytes of a commit's, more than any reference has


class RunOfTests(Value):
    """One run, however it is known. ``tree``: what lay there when it began; ``at``: when, in milliseconds; ``witness`` as in
    upkeep/evidence.py; ``job`` keeps runs in other surroundings apart; ``report``: a digest of the file that it was read from, "" for
    none; ``checks``: what the command checks, so that all that failed in it before passes now, where ``complete`` says that everything
    in it passed though it does not name what did; ``counts``: how many passed and failed, where that is told beside the names."""

    outcomes: tuple[TestOutcome, ...]
    tree: WorkingTree
    at: int
    witness: Witness = "file"
    job: str = ""
    report: str = ""
    checks: str = ""
    complete: bool = False
    counts: tuple[int, int] | None = None


class FailureNote(Value):
    """A failure of a run: the ``tests`` in which it shows (at most 10 named), ``count`` of them in all, what it ``said``, and the
    ``hits`` about the very same one, fixes among them. ``memory``: its id, "" where none was written; ``new``: none of the tests was
    red before."""

    tests: tuple[str, ...]
    count: int
    said: str
    signature: str
    new: bool
    memory: str = ""
    hits: tuple[Hit, ...] = ()


class OutcomeReport(Value):
    """What a run came to. ``fixed``: tests that pass now and had failed, with the id of the memory of it ("" where none was written);
    ``flaky``: tests of this run that go both ways; ``again``: this very report was read before, and nothing was written."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[FailureNote, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()
    flaky: tuple[str, ...] = ()
    observation: Observation = Observation()
    again: bool = False


def take(engine: Engine, run: RunOfTests, scope: Scope) -> OutcomeReport:
    """Record a run of tests, and tell what is known of what failed in it. One process at a time."""
    return _Taking(engine, run, scope).done()


def tree_at(engine: Engine, at: int) -> WorkingTree:
    """What lay in the working tree at a time (milliseconds): what lies there now, if nothing was edited or checked out since; else nothing
    is known."""
    tree: WorkingTree = engine.working_tree()
    checkout = engine.home.checkout
    moved = [os.path.join(checkout.git_dir, name) for name in (os.path.join("logs", "HEAD"), "HEAD")]
    touched = [*moved, *(os.path.join(checkout.root, path) for path, _ in tree.edits)]
    return tree if all(_modified(path) <= at for path in touched) else WorkingTree()


def tree_of(engine: Engine, commit: str) -> WorkingTree:
    """A commit that somebody names, as it is in git; InvalidInput where git does not know it."""
    from hardwon.code import git

    name = f"{commit[:_LONGEST_NAME]}^{{commit}}"
    asked = git.run(engine.home.checkout.root, ["rev-parse", "--quiet", "--verify", "--end-of-options", name])
    if asked.returncode or len(commit) > _LONGEST_NAME:
        raise InvalidInput(f"git knows no commit {commit[:60]!r}", field="commit", remedy="fetch it, or name another")
    return WorkingTree(asked.stdout.decode("ascii").strip())


def _modified(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0


class _Group:
    """Tests that fail alike."""

    def __init__(self, signature: str, first: TestOutcome) -> None:
        self.signature, self.first = signature, first
        self.tests: list[TestOutcome] = []


class _Taking:
    def __init__(self, engine: Engine, run: RunOfTests, scope: Scope) -> None:
        job = redact(run.job)[0]
        report = run.report.replace(run.job, job) if run.job else run.report
        self._engine, self._run = engine, run.replace(outcomes=_cleaned(run.outcomes), job=job, report=report)
        self._asking = scope
        self._scope = Scope(Origin("test", scope.origin.client, scope.origin.session, scope.origin.tool), scope.team)
        self._tree = run.tree.name
        self._fixed: dict[str, str] = {}
        self._changes: dict[str, Changed | None] = {}

    def done(self) -> OutcomeReport:
        engine, run = self._engine, self._run
        with engine.store.read() as reader:
            history = read_history(reader)
        again = bool(run.report) and run.report in history.reports
        outcomes = (*run.outcomes, *self._implied(history))
        groups = _groups(outcomes)
        notes = self._notes(groups, history)
        if again:
            return self._report(outcomes, notes, history, Observation(), again=True)
        observation = self._observed(outcomes) if run.witness == "ran" else Observation()
        queue = engine.store.queue("tests")
        queue.acquire(engine.wait)
        try:
            with engine.store.read() as reader:
                history = read_history(reader)
            before = history.written()
            self._record_fixes(outcomes, history, observation)
            recorded = self._recorded(groups, history)
            self._note_runs(outcomes, history, recorded)
            if run.report:
                history.reports[run.report] = None
            if run.checks:
                history.commands[run.checks] = [one.test for one in outcomes if one.went == "failed"][: MOST_RECORDED * 10]
            if history.written() != before:
                with engine.write() as writer:
                    write_history(writer, history)
        finally:
            queue.release()
        notes = [note.replace(memory=recorded.get(note.signature, "")) for note in notes]
        return self._report(outcomes, notes, history, observation)

    def _report(
        self,
        outcomes: Sequence[TestOutcome],
        notes: Sequence[FailureNote],
        history: TestHistory,
        seen: Observation,
        *,
        again: bool = False,
    ) -> OutcomeReport:
        now = self._engine.clock()
        shaky = [
            one.test for one in outcomes if one.test in history.tests and flaky.is_flaky(history.tests[one.test].flaky_at, now)
        ]
        found = self._run.counts
        count = {went: sum(one.went == went for one in outcomes) for went in ("passed", "failed", "skipped", "flaky")}
        passed, failed = found or (count["passed"] + count["flaky"], count["failed"])
        return OutcomeReport(
            passed, failed, count["skipped"], tuple(notes), tuple(self._fixed.items()),
            tuple(dict.fromkeys(shaky)), seen, again,
        )  # fmt: skip

    def _implied(self, history: TestHistory) -> list[TestOutcome]:
        """What failed when the same command last ran: all of it passes now, though the runner does not name what does."""
        from hardwon.capture.outcome import TestOutcome

        if not (self._run.complete and self._run.checks):
            return []
        told = {one.test for one in self._run.outcomes}
        names = [name for name in history.commands.get(self._run.checks, ()) if name not in told and name in history.tests]
        return [TestOutcome(name, "passed", history.tests[name].file) for name in names]

    def _observed(self, outcomes: Sequence[TestOutcome]) -> Observation:
        runs = []
        for one in outcomes:
            if one.went == "flaky":
                runs.append(TestRun(one.test, False, self._run.tree, self._run.at, one.file, "ran"))
            if one.went != "skipped":
                runs.append(TestRun(one.test, one.went != "failed", self._run.tree, self._run.at, one.file, "ran"))
        return observe(self._engine, runs, self._scope)

    # What is known

    def _notes(self, groups: Sequence[_Group], history: TestHistory) -> list[FailureNote]:
        notes = []
        for number, group in enumerate(groups):
            new = not any(history.tests.get(one.test, KnownTest()).red for one in group.tests)
            hits = self._known(group.first) if number < _MOST_ASKED else ()
            names = tuple(one.test for one in group.tests[:_NAMED])
            notes.append(FailureNote(names, len(group.tests), group.first.said, group.signature, new, "", hits))
        return notes

    def _known(self, outcome: TestOutcome) -> tuple[Hit, ...]:
        """Memories of the very same failure, those that tell of a success first."""
        log = "\n".join(filter(None, (outcome.log, outcome.said)))
        if not log.strip():
            return ()
        heard = Filter(trusts=trust.HEARD)
        found = failures.recall(self._engine, Query(k=_HITS * 3, where=heard), log, self._asking).hits
        # Nobody asked for them: what was only imported, or gives orders, is not said.
        sayable = [hit for hit in found if trust.unasked(hit.memory, self._asking.origin, at_symbol=True) != "no"]
        same = [hit for hit in sayable if any(part.signal == _SAME for part in hit.why)]
        return tuple(sorted(same, key=lambda hit: hit.memory.outcome != "worked")[:_HITS])

    # What is recorded

    def _recorded(self, groups: Sequence[_Group], history: TestHistory) -> dict[str, str]:
        """The memories of failures by signature, written for those that are new."""
        found: dict[str, str] = {}
        for group in groups:
            known = [history.tests.get(one.test, KnownTest()) for one in group.tests]
            red = next((one.failure for one in known if one.red and one.signature == group.signature and one.failure), "")
            if red:
                found[group.signature] = red
            elif (
                self._teaches(group)
                and len(found) < MOST_RECORDED
                and not any(one.red and one.signature == group.signature for one in known)
            ):
                found[group.signature] = self._engine.record(
                    lessons.failure(self._engine, group.first, len(group.tests) - 1, group.signature), self._scope
                ).id
        return found

    def _teaches(self, group: _Group) -> bool:
        """Whether a failure is about the code: not about the network, nor about what is not installed."""
        from hardwon.capture.routine import of_failure

        return not of_failure(group.first.kind, group.first.message)

    def _record_fixes(self, outcomes: Iterable[TestOutcome], history: TestHistory, observation: Observation) -> None:
        """What made tests pass that had failed: for runs of our own by what changed in the files, for reports by commits."""
        by_test: dict[str, Changed] = {cure.green.test: cure.changed for cure in observation.cures}
        written: dict[str, str] = {}
        for outcome in outcomes:
            known = history.tests.get(outcome.test) if outcome.went == "passed" else None
            if known is None or not known.red or flaky.goes_both_ways(known.seen, self._name, passed=True):
                continue  # it was not red, or was so on these very files
            changed = by_test.get(outcome.test) or self._between(known)
            if not self._is_named(outcome) and is_test_changed(known.file, changed or ()):
                continue  # it may have been taken out, or told not to run
            self._fixed[outcome.test] = ""
            if changed and known.signature and len(written) < MOST_RECORDED:
                if known.signature not in written:
                    written[known.signature] = self._engine.record(
                        lessons.fix(outcome, known, changed, self._run.tree), self._scope
                    ).id
                self._fixed[outcome.test] = written[known.signature]

    def _is_named(self, outcome: TestOutcome) -> bool:
        """Whether the run itself says that a test passed, and not only that all did."""
        return any(one.test == outcome.test for one in self._run.outcomes)

    def _between(self, known: KnownTest) -> Changed | None:
        """What changed since the test last failed, where both states are commits."""
        red = next((one.tree.partition(" ")[0] for one in reversed(known.seen) if not one.passed), "")
        if not red or "+" in red or not self._run.tree.commit or self._run.tree.edits:
            return None
        if red not in self._changes:
            self._changes[red] = changed_between(self._engine, self._scope, WorkingTree(red), self._run.tree)
        return self._changes[red]

    @property
    def _name(self) -> str:
        return f"{self._tree} {self._run.job}".strip() if self._tree else ""

    def _note_runs(self, outcomes: Sequence[TestOutcome], history: TestHistory, recorded: Mapping[str, str]) -> None:
        for one in outcomes:
            known = history.tests.get(one.test)
            if one.went == "skipped" or (one.went == "passed" and known is None):
                continue
            history.put(one.test, self._noted(one, known or KnownTest(), recorded))

    def _noted(self, one: TestOutcome, known: KnownTest, recorded: Mapping[str, str]) -> KnownTest:
        at, name = self._run.at, self._name
        seen = known.seen
        went = [False, True] if one.went == "flaky" else [one.went == "passed"]
        if name:
            for passed in went:
                seen = flaky.noted(seen, Seen(name, passed, at))
        both_ways = one.went == "flaky" or flaky.goes_both_ways(known.seen, name, passed=went[-1])
        signature = _signature(one) if one.went in ("failed", "flaky") else known.signature
        failure = recorded.get(signature, known.failure) if one.went == "failed" else known.failure
        now: KnownTest = known.replace(
            file=one.file or known.file, seen=seen, red=one.went == "failed", signature=signature, failure=failure,
            flaky_at=at if both_ways else known.flaky_at,
        )  # fmt: skip
        if self._fixed.get(one.test):
            now = now.with_fix(self._fixed[one.test])
        if both_ways:
            self._tell_flaky(one, now, known)
        return now

    def _tell_flaky(self, one: TestOutcome, now: KnownTest, known: KnownTest) -> None:
        """A memory of it, once; and its failure says nothing of the code that it went through."""
        if now.failure:
            try:
                self._engine.set_status(now.failure, "inactive", self._scope)
            except (InvalidInput, NotFound):
                pass  # what a person confirmed stays as it is, and what was erased is gone
        if not flaky.is_flaky(known.flaky_at, self._run.at):
            said = f": {now.signature}" if now.signature else ""
            text = f"`{one.test}` is flaky: it failed and passed on the same files"
            self._engine.record(
                Draft(
                    text,
                    "fact",
                    detail=f"when it fails{said}" if said else "",
                    anchors=lessons.anchors(now.file),
                    tags=("flaky",),
                ),
                self._scope,
            )


def _cleaned(outcomes: Sequence[TestOutcome]) -> tuple[TestOutcome, ...]:
    """Without secrets: names and signatures are kept outside of memories as well. Looked at together first, since nearly always there is
    none. And without blocks of ours, which tests may print that handle what agents are told."""
    from hardwon.capture import ours

    fields = ("test", "file", "kind", "message", "log")
    if ours.mentions("\n".join(getattr(one, name) for one in outcomes for name in fields)):
        outcomes = [one.replace(**{name: ours.strip(getattr(one, name)) for name in fields}) for one in outcomes]
    dirty = redact("\n".join(getattr(one, name) for one in outcomes for name in fields))[1]
    plain = all(one.test.isprintable() and one.file.isprintable() for one in outcomes)
    if not dirty and plain:
        return tuple(outcomes)
    return tuple(one.replace(**{name: _clean(getattr(one, name), name) for name in fields}) for one in outcomes)


def _clean(text: str, field: str) -> str:
    text = redact(text)[0]
    if field in ("log", "message") or text.isprintable():
        return text
    return "".join(char if char.isprintable() else "?" for char in text)


def _groups(outcomes: Iterable[TestOutcome]) -> list[_Group]:
    """The failures, each with the tests in which it shows, in the order of the run."""
    found: dict[str, _Group] = {}
    for one in outcomes:
        if one.went == "failed":
            said = _signature(one)
            found.setdefault(said or f"\0{one.test}", _Group(said, one)).tests.append(one)
    return list(found.values())


def _signature(outcome: TestOutcome) -> str:
    """What is the same when the test fails so again; "" where nothing was told."""
    from hardwon.code.stack.signature import signature
    from hardwon.code.traces import parse

    if outcome.kind or outcome.message:
        return signature(outcome.kind, outcome.message)
    traces = parse(outcome.log)
    return traces[0].signature if traces else ""
