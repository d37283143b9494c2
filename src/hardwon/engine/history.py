"""Ingest of git history: what is to be read, reading it once, and the index made anew."""

from __future__ import annotations

from hardwon.engine.changes import (
    EDGE,
    SETTLED,
    Tally,
    add,
    batches,
    clean,
    failed,
    identifier,
    note_ids,
    quick,
    refresh,
    settle,
    slices,
)
from hardwon.engine.core import REBUILDING
from hardwon.engine.rewritten import Rewritten, apply, compare, foresee
from hardwon.errors import Busy, StoreError
from hardwon.search import terms
from hardwon.types import Filter, IngestReport, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hardwon.engine.changes import Chooser
    from hardwon.engine.core import Engine
    from hardwon.importers.refs import Walk
    from hardwon.store.base import Queue, Writer
    from hardwon.types import Change, Lexical, Memory

    Progress = Callable[[int, int], None]

__all__ = ["add_changes", "ingest", "preview", "rebuild", "settle", "unread"]


class Plan(Value):
    """What an ingest has to do: commits to read whole, at the edge of a shallow clone (the message only), and again; refs to
    follow; whether fates have to be told."""

    walk: Walk
    known: int
    missing: tuple[str, ...]
    edge: tuple[str, ...]
    again: tuple[str, ...]
    rewritten: Rewritten
    unsettled: bool

    @property
    def idle(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.missing or self.edge or self.again or self.rewritten.lost or self.rewritten.found or self.unsettled)

    def report(self, tally: Tally, shallow: int) -> IngestReport:
        """The plan as far as a report repeats it."""
        listed = len(self.walk.shas)
        return IngestReport(
            listed, tally.added, listed - len(self.missing) - len(self.edge), redacted=tally.redacted, capped=tally.capped,
            unreadable=tally.unreadable - shallow, shallow=shallow, unseen=self.rewritten.unseen, windowed=self.walk.windowed,
            broken=self.walk.broken,
        )  # fmt: skip


def add_changes(engine: Engine, changes: Iterable[Change], progress: Callable[[int], None] | None) -> tuple[int, int]:
    """Keep commits as memories, in slices; (added, redacted)."""
    tally = Tally()
    add(engine, changes, tally, progress, quick)
    return tally.added, tally.redacted


def unread(engine: Engine, limit: int) -> int:
    """How many commits in reach are not memories yet."""
    from hardwon.importers import refs

    if engine.place is None or not engine.place.checkout.git_dir:
        return 0
    with engine.store.read() as reader:
        known = reader.known_commits()
    return sum(sha not in known for sha in refs.list_commits(engine.place.checkout.root, limit))


def ingest(engine: Engine, limit: int, progress: Progress | None, choose: Chooser = quick) -> IngestReport:
    """Read the commits that are not known yet, newest first, and follow the refs; ``progress(done, of)`` after each slice.

    Two at once do not do the same work: the second waits for the first. What was written stays when it is interrupted.
    """
    if engine.place is None or not engine.place.checkout.git_dir:
        return IngestReport(0, 0, 0)
    with engine.store.read() as reader:
        unfinished = reader.setting(REBUILDING)
    if unfinished:
        rebuild(engine, progress)
    plan = _plan(engine, limit)
    if plan.idle:
        return _judged(engine, plan.report(Tally(), 0).replace(failed=failed(engine)), note=False)
    turn = _turn(engine)
    try:
        if _count(engine) != plan.known:
            plan = _plan(engine, limit)
        return _judged(engine, _carry_out(engine, plan, progress, choose), note=True)
    finally:
        if turn is not None:
            turn.release()


def _judged(engine: Engine, report: IngestReport, *, note: bool) -> IngestReport:
    """What history tells of memories, now that it is known. Also where no commit is new: some have stood for longer."""
    from hardwon.engine.judging import judge

    judged = judge(engine, note=note)
    told: IngestReport = report.replace(proven=len(judged.risen), unproven=len(judged.fallen), doubted=len(judged.flagged))
    return told


def preview(engine: Engine, limit: int, progress: Progress | None = None, choose: Chooser = quick) -> IngestReport:
    """What an ingest would do, secrets counted, without writing anything; ``failed`` is not foretold."""
    if engine.place is None or not engine.place.checkout.git_dir:
        return IngestReport(0, 0, 0)
    plan = _plan(engine, limit)
    tally = Tally()
    step = _steps(progress, len(plan.missing) + len(plan.edge))
    for batch in batches(_read(engine, plan.missing, plan.edge)):
        for change in batch:
            tally.count(change, clean(change, choose)[1])
        step(len(batch))
    with engine.store.read() as reader:
        dropped = foresee(engine, reader, plan.rewritten)
    silent = len(plan.rewritten.lost) - dropped
    found = plan.report(tally, len(plan.edge))
    told: IngestReport = found.replace(
        completed=len(plan.again), dropped=dropped, silent=silent, restored=len(plan.rewritten.found)
    )
    return told


def _plan(engine: Engine, limit: int) -> Plan:
    from hardwon.importers import refs

    walk = refs.walk(engine.home.checkout.root, limit)
    with engine.store.read() as reader:
        known = reader.known_commits()
        partly = known.intersection(reader.setting(EDGE).split())
        rewritten = compare(engine, reader, known, walk.shas)
        unsettled = reader.setting(SETTLED) != "yes"
    missing = [sha for sha in walk.shas if sha not in known]
    return Plan(
        walk=walk,
        known=len(known),
        missing=tuple(sha for sha in missing if sha not in walk.edge),
        edge=tuple(sha for sha in missing if sha in walk.edge),
        again=tuple(sorted(partly - walk.edge - rewritten.lost)),
        rewritten=rewritten,
        unsettled=unsettled,
    )


def _carry_out(engine: Engine, plan: Plan, progress: Progress | None, choose: Chooser) -> IngestReport:
    step = _steps(progress, len(plan.missing) + len(plan.edge) + len(plan.again))
    tally = Tally()
    if plan.edge:
        _note_edge(engine, plan.edge)
    add(engine, _read(engine, plan.missing, plan.edge), tally, step, choose)
    completed = refresh(engine, _read(engine, plan.again, ()), choose) if plan.again else 0
    dropped, silent, restored = apply(engine, plan.rewritten)
    found: IngestReport = plan.report(tally, len(plan.edge)).replace(
        failed=settle(engine), completed=completed, dropped=dropped, silent=silent, restored=restored
    )
    return found


def _read(engine: Engine, whole: Sequence[str], edge: Sequence[str]) -> Iterator[Change]:
    from hardwon.importers import history

    checkout = engine.home.checkout
    yield from history.read_commits(checkout.root, whole, checkout.branch)
    yield from history.read_messages(checkout.root, edge, checkout.branch)


def _note_edge(engine: Engine, edge: Sequence[str]) -> None:
    """Before they are read, so that a kill in between forgets none; what is noted and not there does no harm."""
    with engine.write() as writer:
        writer.set_setting(EDGE, " ".join(sorted({*writer.setting(EDGE).split(), *edge})))


def _steps(progress: Progress | None, total: int) -> Callable[[int], None]:
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done, total)

    step(0)
    return step


def _turn(engine: Engine) -> Queue | None:
    """Our turn to read history; None when whoever has it does nothing any more: then it is safe to go on beside it, since what is
    known is passed over. An unwritable folder is told by the first write."""
    queue = engine.store.queue("history")
    before = -1
    while before != (before := _count(engine)):
        try:
            queue.acquire(engine.wait)
        except Busy:
            continue
        except StoreError:
            break
        return queue
    return None


def _count(engine: Engine) -> int:
    with engine.store.read() as reader:
        return reader.count(Filter(kinds=("change",)))


def rebuild(engine: Engine, progress: Progress | None, choose: Chooser = quick) -> int:
    """The index anew: notes from their rows, newest first, commits from git, and from their rows where git has lost them.

    In slices, between which others write; what is not indexed yet is not found by words meanwhile.
    """
    from hardwon.importers import history

    with engine.write() as writer:
        writer.set_setting(REBUILDING, "yes")  # until the end, so that the next init goes on where this one was stopped
        writer.clear_index()
    with engine.store.read() as reader:
        notes = note_ids(reader)
        waiting = {sha: identifier(engine, sha) for sha in sorted(reader.known_commits())}
        edge = frozenset(reader.setting(EDGE).split())
    place = engine.place.checkout if engine.place and engine.place.checkout.git_dir else None
    whole = [sha for sha in waiting if sha not in edge]
    readable = history.read_commits(place.root, whole, place.branch) if place else iter(())
    total = len(notes) + len(waiting)
    step = _steps(progress, total)
    _index_notes(engine, notes, step)
    # Of what git has not even the names of files, the row knows as much.
    for batch in batches(change for change in readable if change.sha in waiting and change.extent != "message"):
        cleaned = [clean(change, choose)[0] for change in batch]
        ready = [(waiting.pop(change.sha), change, terms.of_change(change)) for change in cleaned]
        with engine.write() as writer:
            for one, change, lexical in ready:
                for memory in writer.get([one]):
                    _reindex(writer, memory, change, lexical)
        step(len(batch))
    _index_rows(engine, list(waiting.values()), step)
    with engine.write() as writer:
        writer.set_setting(REBUILDING, "")
    engine.store.checkpoint(engine.wait)
    return total


def _reindex(writer: Writer, memory: Memory, change: Change, lexical: Lexical) -> None:
    """A commit as git tells it; of one that was erased, nothing."""
    if memory.erased:
        writer.put(memory, b"", terms.of_memory(memory))
    else:
        writer.refresh_change(memory, change, lexical)


def _index_notes(engine: Engine, notes: Sequence[str], step: Callable[[int], None]) -> None:
    for batch in slices(notes):
        with engine.write() as writer:
            for memory in writer.get(batch):
                writer.put(memory, b"", terms.of_memory(memory))
        step(len(batch))


def _index_rows(engine: Engine, changes: Sequence[str], step: Callable[[int], None]) -> None:
    """Changes from what their rows say."""
    for batch in slices(changes):
        with engine.write() as writer:
            for memory in writer.get(batch):
                kept = writer.change(memory.id)
                if kept is not None:
                    writer.put(memory, b"", terms.of_change(kept))
        step(len(batch))
