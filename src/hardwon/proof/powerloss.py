"""Simulated power loss: at every event of what our own code and SQLite write, disks as they may come out are built, opened and judged.

A sequence of operations of the real engine is performed on a recorded disk (performance.py). At each event the power fails, in many
ways (images.py says which). Each image is laid into a folder and opened as the next user would (observation.py). It has to be intact,
and to hold what was acknowledged up to that event, wholly: what it shows must be one of the moments that may be found there. Then the
same is done on disks and stores that break the promise on purpose (controls.py): where that goes unnoticed, the run has failed.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

from hardwon.proof.controls import CONTROLS, Setting
from hardwon.proof.images import KINDS, DiskState, Image, images
from hardwon.proof.observation import STORE, Seen, observe
from hardwon.proof.performance import FAITHFUL, Performance, perform
from hardwon.proof.report import Control, Outcome, Violation
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from hardwon.proof.report import Plan, Progress

LENGTH = 25  # operations of a sequence: a store small enough to be checked a hundred times a second
_PROBED = 1 / 16  # the share of images that are written to as well
_CONTROL_IMAGES = 60
_CONTROL_SEQUENCES = 8  # at most; the first that shows something is enough
_CONTROL_SECONDS = 60.0  # at least, for each of them
_CONTROL_SHARE = 0.15  # of the seconds
_KEPT = 5  # images that are kept of what went wrong
_TOLD = 20
_MEMORY = "/dev/shm"  # noqa: S108 - images need no disk; a folder of our own is made in it
_ROOM = 512 << 20


class Task(Value):
    """One sequence to perform and judge. ``limit`` images at most (0: all); ``deadline`` of the monotonic clock; ``folder`` for
    evidence, "" for none; ``first``: events before that number are passed over."""

    seed: int
    setting: Setting = FAITHFUL
    limit: int = 0
    deadline: float = 0.0
    folder: str = ""
    first: int = 0


class Tally(Value):
    """What became of a task. ``images``: drawn, by kind; ``digests`` of the distinct ones; ``broken``: how many showed something;
    ``acknowledged`` operations; ``written``: images that were written to as well."""

    images: Counter[str]
    digests: frozenset[bytes]
    violations: tuple[Violation, ...]
    broken: int
    events: int
    acknowledged: int
    written: int
    lost: int


def run(plan: Plan, progress: Progress) -> Outcome:
    """Sequences from ``plan.seed`` on, until the seconds are over or ``plan.count`` images were judged; then the controls."""
    begun = monotonic()
    seconds = plan.seconds * (1 - _CONTROL_SHARE)
    with ProcessPoolExecutor(plan.processes, get_context("fork")) as pool:
        tallies = list(_sequences(pool, plan, begun + seconds, progress))
        judging = monotonic() - begun
        controls = tuple(pool.map(_control, ((setting, plan.seed, plan.seconds * _CONTROL_SHARE / len(CONTROLS) * plan.processes)
                                             for setting in CONTROLS)))  # fmt: skip
    return Outcome(
        "power-loss", plan.seed, monotonic() - begun, _figures(tallies, judging),
        tuple(violation for tally in tallies for violation in tally.violations)[:_TOLD], controls,
    )  # fmt: skip


def _sequences(pool: ProcessPoolExecutor, plan: Plan, deadline: float, progress: Progress) -> Iterator[Tally]:
    """The tallies of as many sequences as fit, as each is done."""
    running: dict[Future[Tally], int] = {}
    begun, number, judged = monotonic(), 0, 0
    while True:
        wanted = plan.count - judged - sum(running.values()) if plan.count else 1
        if wanted > 0 and len(running) < plan.processes and monotonic() < deadline:
            limit = min(wanted, _fair(plan)) if plan.count else 0
            running[pool.submit(judge, Task(plan.seed + number, FAITHFUL, limit, deadline, plan.folder))] = limit
            number += 1
            continue
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            limit = running.pop(future)
            tally = future.result()
            judged += len(tally.digests) or limit  # one that could not be done counts too: else a run of such never ends
            progress(*((judged, plan.count) if plan.count else (int(monotonic() - begun), int(deadline - begun))))
            yield tally


def _fair(plan: Plan) -> int:
    """Images a sequence where they are counted: few of many sequences rather than all of one."""
    return max(50, min(2000, plan.count // (2 * plan.processes)))


def _figures(tallies: list[Tally], seconds: float) -> dict[str, int | float]:
    kinds: Counter[str] = Counter()
    distinct: set[bytes] = set()
    for tally in tallies:
        kinds.update(tally.images)
        distinct |= tally.digests
    return {
        "sequences": len(tallies),
        "events": sum(tally.events for tally in tallies),
        "acknowledged": sum(tally.acknowledged for tally in tallies),
        "images": kinds.total(),
        "distinct": len(distinct),
        "written_to": sum(tally.written for tally in tallies),
        "violations": sum(tally.broken for tally in tallies),
        "lost": sum(tally.lost for tally in tallies),
        "images_per_second": round(len(distinct) / seconds, 1) if seconds else 0.0,
        **{f"images_{kind}": kinds[kind] for kind in KINDS},
    }


def _control(job: tuple[Setting, int, float]) -> Control:
    """A few images of a disk or store that breaks the promise; acknowledgements that are false at once count too. A short run waits for
    them as well: that a control was not given the time to show something would say nothing."""
    setting, seed, seconds = job
    tried = found = 0
    for number in range(_CONTROL_SEQUENCES):
        deadline = monotonic() + max(seconds, _CONTROL_SECONDS)
        tally = judge(Task(seed + number, setting, _CONTROL_IMAGES, deadline))
        tried, found = tried + tally.images.total() + tally.acknowledged, found + tally.broken
        if found:
            break
    return Control(setting.name, tried, found)


def judge(task: Task) -> Tally:
    """Perform one sequence, and judge the images of its events."""
    with TemporaryDirectory(prefix="hardwon-torture-", dir=_scratch(task.folder)) as folder:
        stage = os.path.join(folder, "stage")
        os.makedirs(stage)
        try:
            performance = perform(stage, task.seed, LENGTH, task.setting)
        except Exception as error:  # judged: one sequence that cannot be done must not end the run of all others
            if task.setting != FAITHFUL:
                raise  # of a control it would pass for something that was noticed
            return _undone(task, error)
        return judged(performance, Bench(os.path.join(folder, "image")), task)


def _undone(task: Task, error: Exception) -> Tally:
    """Of a sequence that ended in an error of its own."""
    what = f"the sequence could not be done: {type(error).__name__}: {error}"
    return Tally(Counter(), frozenset(), (Violation(what, "the sequence", again=_again(task)),), 1, 0, 0, 0, 0)


def _again(task: Task) -> str:
    return f"hardwon torture --power-loss --seed {task.seed}"


def judged(performance: Performance, bench: Bench, task: Task) -> Tally:
    """The images of a sequence that was performed, as far as the task's limits go."""
    verdict = _Verdict(task, performance)
    for at, image in _drawn(performance, task.limit, task.first):
        digest = image.digest
        if task.limit and len(verdict.seen) >= task.limit and digest not in verdict.seen:
            break
        if digest not in verdict.seen:
            write = digest[0] < 256 * _PROBED
            verdict.written += write
            verdict.seen[digest] = bench.look(image, write=write)
        verdict.add(at, image, verdict.seen[digest])
        if task.deadline and monotonic() > task.deadline:
            break
    return verdict.tally()


def _scratch(folder: str) -> str | None:
    """Memory for the images, where there is any; else beside the evidence."""
    if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
        return _MEMORY
    return folder or None


def _drawn(performance: Performance, limit: int = 0, first: int = 0) -> Iterator[tuple[int, Image]]:
    """Images with the number of events before them. What is drawn at an event hangs on the seed and the event alone, so that a run
    that draws fewer, or is repeated, draws the same there."""
    events = performance.recording.events
    chosen = Random(performance.seed)
    share = min(1.0, limit / (len(events) - first + 1)) if limit else 1.0
    state = DiskState(performance.recording)
    for at, event in enumerate((None, *events)):
        if event is not None:
            state.apply(event)
        if at >= first and (share == 1.0 or chosen.random() < share):
            rng = Random(performance.seed << 20 | at)
            for image in images(state, event, rng):
                yield at, image


class Bench:
    """A folder in which one image after the other is laid; files that stay the same are left lying."""

    def __init__(self, root: str) -> None:
        self.root = root
        os.makedirs(root)
        self._lies: dict[str, tuple[bytes, os.stat_result]] = {}

    def look(self, image: Image, *, write: bool = False) -> Seen:
        """Lay an image, and see what the next user finds."""
        self._lay(image)
        return observe(self.root, write=write)

    def _lay(self, image: Image) -> None:
        kept = {path for path, content in image.files.items() if self._is_there(path, content)}
        for folder, folders, names in os.walk(self.root, topdown=False):
            for name in names:
                if os.path.relpath(os.path.join(folder, name), self.root) not in kept:
                    os.unlink(os.path.join(folder, name))
            for name in folders:
                if os.path.relpath(os.path.join(folder, name), self.root) not in image.folders:
                    os.rmdir(os.path.join(folder, name))
        for name in sorted(image.folders):
            os.makedirs(os.path.join(self.root, name), exist_ok=True)
        for path, content in image.files.items():
            if path not in kept:
                whole = os.path.join(self.root, path)
                with open(whole, "wb") as file:
                    file.write(content)
                self._lies[path] = (content, os.stat(whole))

    def _is_there(self, path: str, content: bytes) -> bool:
        """Whether the file lies there as it was laid, and is what is wanted again."""
        known, before = self._lies.get(path, (b"", None))
        if before is None or known != content:
            return False
        try:
            now = os.stat(os.path.join(self.root, path))
        except FileNotFoundError:
            return False
        return (now.st_ino, now.st_size, now.st_mtime_ns, now.st_nlink) == (before.st_ino, before.st_size, before.st_mtime_ns, 1)


def _left(image: Image, erased: tuple[str, ...]) -> list[str]:
    """Texts that were erased and of which bytes are left, in the store or a file that belongs to it. What an erasure names as still
    holding them (backups, a store that was kept) is another matter."""
    own = [
        content
        for path, content in image.files.items()
        if path.startswith(STORE) and ".kept-" not in path and ".before-step" not in path
    ]
    return [
        f"{text!r} was erased, and is still on the disk" for text in erased if any(text.encode() in content for content in own)
    ]


class _Verdict:
    """What was seen of one sequence, and what of it should not be."""

    def __init__(self, task: Task, performance: Performance) -> None:
        self._task = task
        self._performance = performance
        self.seen: dict[bytes, Seen] = {}
        self.written = 0
        self._images: Counter[str] = Counter()
        self._violations: list[Violation] = []
        self._broken = 0
        self._lost = 0
        for at, operation, what in performance.wrong:
            self._broken += 1
            self._tell(Violation(what, operation, at))

    def add(self, at: int, image: Image, seen: Seen) -> None:
        """What was seen of an image after the first ``at`` events."""
        self._images[image.kind] += 1
        allowed = self._performance.allowed(at)
        wrong = [] if any(moment.damaged for moment in allowed) else list(seen.wrong)
        for part, value in seen.parts.items():
            if value not in {moment.parts[part] for moment in allowed}:
                wrong.append(self._explained(part, value, at))
        wrong += _left(image, allowed[0].erased)
        if wrong:
            self._broken += 1
            kept = self._keep(at, image, wrong)
            self._tell(Violation("; ".join(wrong[:3]), self._performance.doing(at), at, kept))

    def _explained(self, part: str, value: str, at: int) -> str:
        """Lost, half, or damaged: which of them shows in what was there at other times."""
        earlier = [moment for moment in self._performance.moments if moment.at <= at and moment.parts[part] == value]
        if earlier:
            self._lost += 1
            return f"{part}: what was acknowledged after {earlier[-1].operation or 'the beginning'} is gone"
        return f"{part}: {value[:200]}, which no whole operation has left"

    def _keep(self, at: int, image: Image, wrong: list[str]) -> str:
        if not self._task.folder or len(self._violations) >= _KEPT:
            return ""
        folder = os.path.join(self._task.folder, f"violation-{self._task.seed}-{at}-{image.kind}")
        Bench(os.path.join(folder, "image"))._lay(image)
        with open(os.path.join(folder, "violation.txt"), "w", encoding="utf-8") as file:
            doing = self._performance.doing(at)
            file.write(
                f"seed {self._task.seed}, event {at} ({doing}), image {image.kind}\n"
                + "\n".join(wrong)
                + f"\n{_again(self._task)}\n"
            )
        return folder

    def _tell(self, violation: Violation) -> None:
        if len(self._violations) < _TOLD:
            self._violations.append(violation.replace(again=_again(self._task)))

    def tally(self) -> Tally:
        """The sums."""
        moments = self._performance.moments
        return Tally(
            self._images, frozenset(self.seen), tuple(self._violations), self._broken, len(self._performance.recording.events),
            sum(moment.acknowledged for moment in moments), self.written, self._lost,
        )  # fmt: skip
