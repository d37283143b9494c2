"""Faults: every call to the disk that an operation makes fails once, and again for good, in each way that a disk can fail.

For each such point a fresh copy of a store is taken, the operation runs over a disk that fails there, and then is looked at:

- the operation succeeded, and everything that it does is there; or it raised an error of ours, and it is there as a whole or not at
  all (of one that takes several transactions: a part, each memory whole);
- a full disk (ENOSPC, EFBIG, EDQUOT) is told as one; a call that failed once is never told as damage; where the sync or the write of
  a commit failed, nothing was acknowledged;
- while a disk is full, reading goes on;
- once the disk works again the same engine, without a restart, reads, writes and does the operation;
- ``verify`` finds nothing, and a fresh engine sees the same.

Longer runs also meet the system's own limits (limits.py).

The control acknowledges in spite of the error: it has to be caught.
"""

from __future__ import annotations

import os
import random
import shutil
import time

from hardwon.errors import Damaged, DiskFull, HardwonError
from hardwon.proof import keys
from hardwon.proof.file_operations import FILE_OPERATIONS
from hardwon.proof.injection import FaultyDisk, FaultyVFS, Injector, faults
from hardwon.proof.limits import LIMITS, meet
from hardwon.proof.operations import OPERATIONS, SCOPE, Operation, contents, draft, engine_at, fill, repository
from hardwon.proof.report import Control, Outcome, Violation
from hardwon.store import files
from hardwon.store.keys.recrypt import BEFORE, PART
from hardwon.store.swap import NOTE
from hardwon.types import Query, Receipt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hardwon.engine.core import Engine, Place
    from hardwon.proof.injection import Fault
    from hardwon.proof.operations import Contents, ProofEngine
    from hardwon.proof.report import Plan, Progress
    from hardwon.store.sqlite import SqliteStore

EVERY = (*OPERATIONS, *FILE_OPERATIONS)
# Randomness and clock of the attempts, so that each leaves the same rows.
_ATTEMPT, _LATER = 7, 8
# Of the calls in a commit, those whose failure forbids to acknowledge it.
_COMMITTING = ("write", "sync")
_CONTROL_POINTS = 12
# How files end that are in the making, or tell of a change that is.
_UNDER_WAY = (".part", NOTE, PART, BEFORE)
# Seconds from which a run has time for the system's limits, which take some ten.
_LEAST_FOR_LIMITS = 20.0


class Ready(Value):
    """An operation with what it takes to try it: a folder to copy, the contents before and after it, and how many calls it makes."""

    operation: Operation
    template: str
    before: Contents
    after: Contents
    calls: dict[str, int]
    place: Place | None


class Disks:
    """The failing disk, for as long as a proof runs: under SQLite by its name, under our own files by taking the place of theirs."""

    def __init__(self) -> None:
        self.injector = Injector()
        self.name = f"faulty-{os.getpid()}-{id(self):x}"

    def __enter__(self) -> Disks:
        self._vfs = FaultyVFS(self.name, self.injector)
        self._before = files.use(FaultyDisk(self.injector))
        return self

    def __exit__(self, *_: object) -> None:
        files.use(self._before)
        self._vfs.unregister()


def run(plan: Plan, progress: Progress) -> Outcome:
    """Try points of every operation in an order that the seed gives, until the time is over or all were tried."""
    began = time.monotonic()
    violations: list[Violation] = []
    figures = {"points": 0, "of": 0, "refused": 0, "acknowledged": 0}
    limits_skipped = _limits(plan, violations, figures)
    with Disks() as disks:
        ready, skipped = prepare(plan.folder, disks)
        points = [(one, fault) for one in ready for fault in faults(one.calls, judges=one.operation.judges)]
        random.Random(plan.seed).shuffle(points)
        figures["of"] = len(points)
        points = points[: plan.count or None]
        for number, (one, fault) in enumerate(points):
            if number and time.monotonic() - began > plan.seconds:
                break
            found, refused = attempt(one, fault, disks, os.path.join(plan.folder, "attempt"))
            figures["points"] += 1
            figures["refused" if refused else "acknowledged"] += 1
            violations += _kept(plan, found, one, fault, number)
            progress(number + 1, len(points))
        control = _control(next(one for one in ready if one.operation.warm), disks, plan.folder)
    seconds = time.monotonic() - began
    return Outcome("faults", plan.seed, round(seconds, 1), figures, tuple(violations), (control,), (*skipped, *limits_skipped))


def _limits(plan: Plan, violations: list[Violation], figures: dict[str, int]) -> tuple[str, ...]:
    """The system's own limits, each in a process of its own; what was skipped."""
    skipped = []
    for name in LIMITS if plan.seconds >= _LEAST_FOR_LIMITS else ():
        broken, acknowledged, why = meet(name, plan.folder)
        violations += [Violation(what, name, again=f"hardwon torture --faults --seed {plan.seed}") for what in broken]
        figures[f"acknowledged, {name}"] = acknowledged
        skipped += [why] * bool(why)
    return tuple(skipped)


def prepare(folder: str, disks: Disks, operations: Sequence[Operation] = EVERY) -> tuple[list[Ready], tuple[str, ...]]:
    """Stores to begin with, and each operation done once without a fault; and what cannot be tried here."""
    place = repository(os.path.join(folder, "git"))
    at_hand = {"git": place is not None, "encryption": bool(keys.recipient())}
    filled = os.path.join(folder, "filled")
    os.makedirs(filled)
    fill(filled, 1)
    ready, skipped = [], []
    for operation in operations:
        if operation.needs and not at_hand[operation.needs]:
            skipped.append(f"{operation.name}: {operation.needs} is not installed")
            continue
        template = os.path.join(folder, f"template {operation.name}")
        shutil.copytree(filled, template)
        if operation.before:
            operation.before(template)
        ready.append(_measured(operation, template, place, disks))
    return ready, tuple(skipped)


def _measured(operation: Operation, template: str, place: Place | None, disks: Disks) -> Ready:
    """The operation without a fault, with its calls counted."""
    copy = template + " done"
    shutil.copytree(template, copy)
    with engine_at(copy, "", _ATTEMPT) as looking:
        before = contents(looking, operation.made)
    with _begin(operation, copy, disks, place) as engine:
        disks.injector.arm(None)
        operation.run(engine)
        calls = dict(disks.injector.counts)
        after = contents(engine, operation.made)
    shutil.rmtree(copy)
    return Ready(operation, template, before, after, calls, place)


def _begin(operation: Operation, folder: str, disks: Disks, place: Place | None) -> ProofEngine:
    """An engine before the operation; one that is warm has its files open for both reading and writing."""
    engine = engine_at(folder, disks.name, _ATTEMPT, place)
    if operation.warm:
        contents(engine)
        with engine.write():
            pass
    return engine


class Ended(Value):
    """How an operation ended: with an error, or with what it returned, which may be the receipt of something spooled."""

    error: Exception | None = None
    result: object = None

    @property
    def spooled(self) -> Receipt | None:
        """The receipt of what waits in the spool, and has to be there after the next write."""
        return self.result if isinstance(self.result, Receipt) and self.result.action == "spooled" else None


def attempt(
    one: Ready, fault: Fault, disks: Disks, folder: str, trying: Callable[[Engine, Operation], Ended] | None = None
) -> tuple[list[str], bool]:
    """One point, in a folder that is there afterwards only where a promise was broken: what was broken, and whether the operation
    was refused. ``trying`` does the operation, and says how it ended."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(one.template, folder)
    with _begin(one.operation, folder, disks, one.place) as engine:
        disks.injector.arm(fault)
        ended = (trying or _tried)(engine, one.operation)
        reads = fault.lasting and fault.failure.full and one.before
        reading = _tried(engine, _READING) if reads else Ended()
        hits = disks.injector.disarm()
        broken = [*_told(ended, fault, hits, one, engine), *_unread(reading)]
        waits = ended.spooled is not None or _spool_failed(one, ended, hits)
        broken += list(_left(engine, one, ended, waits=waits)) or list(_goes_on(engine, one, folder, waits=waits))
    if not broken:
        shutil.rmtree(folder)
    return broken, ended.error is not None


def _recall(engine: Engine) -> object:
    return engine.recall(Query("pool retry token", floor=0.0), SCOPE)


_READING = Operation("recall", _recall)


def _tried(engine: Engine, operation: Operation) -> Ended:
    """How an operation ended."""
    try:
        return Ended(None, operation.run(engine))
    except Exception as error:  # noqa: BLE001 - whatever comes out is judged: what is not an error of ours is a finding
        return Ended(error)


def _told(ended: Ended, fault: Fault, hits: list[tuple[str, str]], one: Ready, engine: Engine) -> Iterator[str]:
    """Whether the error is the right one."""
    error = ended.error
    if error is not None and not isinstance(error, HardwonError):
        yield f"raised {type(error).__name__}: {error}"
    elif error is not None and not hits:
        yield f"raised {type(error).__name__} though nothing failed: {error}"
    elif isinstance(error, Damaged) or (ended.spooled and "intact" in ended.spooled.why):
        yield f"a call that failed was told as damage: {error or ended.spooled}"
    elif error is not None and fault.failure.full and not isinstance(error, DiskFull):
        yield f"a full disk was told as {type(error).__name__}: {error}"
    # A checkpoint that fails behind a commit is counted there, and does not undo it.
    elif (
        error is None
        and not (ended.spooled or one.operation.retries or _store(engine).failed_checkpoints)
        and _commit_failed(hits)
    ):
        yield f"acknowledged though {hits[0][0]} failed"


def _commit_failed(hits: list[tuple[str, str]]) -> bool:
    return any(call in _COMMITTING for call, _ in hits)


def _unread(ended: Ended) -> Iterator[str]:
    if ended.error is not None:
        yield f"nothing could be read while the disk was full: {type(ended.error).__name__}: {ended.error}"


def _spool_failed(one: Ready, ended: Ended, hits: list[tuple[str, str]]) -> bool:
    """Whether what waited may still do so: the store took what came later, and the spool could not be read or written."""
    return one.operation.late and ended.error is None and any(call.startswith("file ") for call, _ in hits)


def _left(engine: Engine, one: Ready, ended: Ended, *, waits: bool) -> Iterator[str]:
    """Whether everything is there, or nothing, or of an operation in parts no less than before and no more than after. ``waits``:
    something of it lies in the spool."""
    try:
        found = contents(engine, one.operation.made)
    except HardwonError as unreadable:
        yield f"could not be read afterwards: {type(unreadable).__name__}: {unreadable}"
        return
    if isinstance(ended.result, Receipt) and not ended.spooled and ended.result.id not in (found or ()):
        yield "acknowledged, and not there"
    elif ended.error is None and not waits:
        if found != one.after:
            yield "acknowledged, and not there"
    elif one.operation.whole:
        if found not in (one.before, one.after):
            yield "half of it is there"
    elif found is not None and not _between(found, one):
        yield "refused, and what was there before is not"


def _between(found: Contents, one: Ready) -> bool:
    before, after = one.before or {}, one.after or {}
    if found is None or not before.keys() <= found.keys() <= after.keys():
        return False
    return all(found[key] == value for key, value in before.items() if after[key] == value)


def _goes_on(engine: Engine, one: Ready, folder: str, *, waits: bool) -> Iterator[str]:
    """Whether the same engine does the operation now, and another one more; and the store is what a fresh one sees."""
    if not waits and (contents(engine, one.operation.made) != one.after or any(_left_behind(folder))):
        anew = engine_at(folder, "", _ATTEMPT)
        engine.clock, engine.entropy = anew.clock, anew.entropy
        again = _tried(engine, one.operation)
        if again.error is not None:
            yield f"could not be done once the disk worked again: {type(again.error).__name__}: {again.error}"
            return
        if not _is_done(contents(engine, one.operation.made) or {}, one):
            yield "done once the disk worked again, and not the same"
    try:
        receipt = engine.record(draft(random.Random(4), 4000), SCOPE)
        figures, findings = engine.figures(), engine.verify()
    except HardwonError as error:
        yield f"the engine did not go on: {type(error).__name__}: {error}"
        return
    yield from (f"verify: {finding.what} ({finding.where})" for finding in findings)
    with engine_at(folder, "", _LATER) as fresh:
        found = contents(fresh, one.operation.made) or {}
        if fresh.figures() != figures or receipt.id not in found:
            yield "a fresh engine sees another store"
    whole = set(one.after or ()) <= found.keys() if waits and one.operation.late else _has_all(found, one.after or {})
    if not whole:
        yield "spooled, and not taken in" if waits else "lost by the next write"
    yield from (f"{path} was left behind" for path in _left_behind(folder))


def _left_behind(folder: str) -> Iterator[str]:
    """Files of what was under way and is done or given up."""
    for place, _, names in os.walk(folder):
        beside = (name for name in names if ".key." in name and not name.endswith((".old", ".lock")))
        yield from (os.path.join(place, name) for name in {*beside, *(name for name in names if name.endswith(_UNDER_WAY))})


def _is_done(found: dict[str, object], one: Ready) -> bool:
    """Whether it is as after the operation; what came in parts, with a fault in between, has drawn other salts."""
    after = one.after or {}
    if one.operation.whole:
        return found == after
    return found.keys() == after.keys() and _has_all(found, after)


def _has_all(found: dict[str, object], after: dict[str, object]) -> bool:
    """Whether every memory is as it should be; the journal has gone on, and what came by the spool has other salts in it."""
    return all(found.get(key) == after[key] for key in after.keys() - {"journal", "corpus"})


def _store(engine: Engine) -> SqliteStore:
    return engine.store  # type: ignore[return-value]  # the one that engine_at made


def _kept(plan: Plan, broken: list[str], one: Ready, fault: Fault, number: int) -> Iterator[Violation]:
    """What was broken, each with the folder as it was left and the way to see it again."""
    if not broken:
        return
    kept = os.path.join(plan.folder, f"violation-{number}")
    shutil.rmtree(kept, ignore_errors=True)
    os.rename(os.path.join(plan.folder, "attempt"), kept)
    again = f"hardwon torture --faults --seed {plan.seed}"
    for what in broken:
        yield Violation(what, f"{one.operation.name}: {fault.label}", number, kept, again)


def _control(one: Ready, disks: Disks, folder: str) -> Control:
    """Acknowledge in spite of the error: what is not there has to be missed."""
    points = [fault for fault in faults(one.calls) if fault.call == "write" and not fault.lasting][:_CONTROL_POINTS]
    place = os.path.join(folder, "control")

    def regardless(engine: Engine, operation: Operation) -> Ended:
        _tried(engine, operation)
        return Ended()

    caught = sum(bool(attempt(one, fault, disks, place, regardless)[0]) for fault in points)
    shutil.rmtree(place, ignore_errors=True)
    return Control("acknowledged in spite of an error", len(points), caught)
