"""One sequence of operations on a recorded disk, with what a reader sees after each: the moments to which a power loss may lead back."""

from __future__ import annotations

import os
from random import Random

from hardwon.proof import operations as ready
from hardwon.proof import workload
from hardwon.proof.controls import Setting
from hardwon.proof.observation import EXPORT, HEAD, NOTHING, STORE, access_with, observe, open_store
from hardwon.proof.recorder import Recording, RecordingDisk, RecordingVFS
from hardwon.proof.world import World
from hardwon.store import files
from hardwon.types import STATUSES, Filter, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from hardwon.proof.world import Operation
    from hardwon.store.sqlite import SqliteStore
    from hardwon.store.transaction import Transaction

FAITHFUL = Setting("")
_UPGRADES = 0.25  # the share of sequences that begin with a store of the version before
_MEMORIES, _COMMITS = 8, 4  # in such a store
_ALL = Filter(statuses=STATUSES)


class Moment(Value):
    """What was to be seen after the first ``at`` events. ``acknowledged``: the operation had returned; else it had committed a step.
    ``erased``: texts of which no byte may be found any more; ``damaged``: that it is, was done on purpose."""

    at: int
    operation: str
    parts: dict[str, str]
    acknowledged: bool = True
    erased: tuple[str, ...] = ()
    damaged: bool = False


class Performance(Value):
    """A sequence that was performed. ``wrong``: (number of the event, operation, what) of acknowledgements that were false at once."""

    seed: int
    recording: Recording
    moments: tuple[Moment, ...]
    wrong: tuple[tuple[int, str, str], ...]

    def allowed(self, at: int) -> tuple[Moment, ...]:
        """The moments that may be found after a power loss that follows the first ``at`` events: from the last one that was
        acknowledged to the next one that was on its way."""
        lower = max(place for place, moment in enumerate(self.moments) if moment.acknowledged and moment.at <= at)
        upper = next(
            (place for place, moment in enumerate(self.moments) if place >= lower and moment.at >= at), len(self.moments) - 1
        )
        return self.moments[lower : upper + 1]

    def doing(self, at: int) -> str:
        """The operation that was going on."""
        return next((moment.operation for moment in self.moments if moment.at >= at), "the end")


class _Stage:
    """The recorded folder with all that is done on it."""

    def __init__(self, root: str, seed: int, setting: Setting) -> None:
        rng = Random(seed)
        self.rng = rng
        os.makedirs(os.path.join(root, os.path.dirname(EXPORT)))
        self.upgrades = rng.random() < _UPGRADES
        facts = _older_store(root, seed) if self.upgrades else {}
        self.recording = Recording(root, setting.lies)
        self.vfs = RecordingVFS(self.recording)
        self.moments: list[Moment] = []
        self.wrong: list[tuple[int, str, str]] = []
        self._setting = setting
        self._operation = ""
        self._steps = False
        self.world = World(root, rng, self._make_store)
        self.world.facts.update(facts)
        self.world.commits = self.world.made = _COMMITS if self.upgrades else 0

    def _make_store(self, path: str, clock: Callable[[], int], key: bytes) -> SqliteStore:
        stage = self
        head = os.path.join(self.recording.root, HEAD)

        class Watched(self._setting.store):  # type: ignore[misc,name-defined]  # the class that the setting names
            def write(self, timeout: float = 30.0) -> Transaction:
                transaction: Transaction = super().write(timeout)
                return stage.watched(transaction) if stage._steps else transaction

        return Watched(path, "hardwon torture", clock, access=access_with(key, self.vfs.name), head=head)

    def watched(self, transaction: Transaction) -> Transaction:
        """A transaction after whose commit we look."""
        stage = self

        class Watching(type(transaction)):  # type: ignore[misc]
            def __exit__(self, kind: object, error: object, trace: object) -> Literal[False]:
                super().__exit__(kind, error, trace)
                if error is None:
                    stage.look(acknowledged=False)
                return False

        transaction.__class__ = Watching
        return transaction

    def look(self, *, acknowledged: bool = True) -> None:
        """Note what is there, and what should be and is not."""
        seen = observe(self.world.root)
        self.moments.append(
            Moment(
                len(self.recording.events),
                self._operation,
                seen.parts,
                acknowledged,
                tuple(self.world.erased),
                self.world.damaged,
            )
        )
        if self.world.damaged:
            return
        wrong = list(seen.wrong)
        if acknowledged and self._operation:
            with open_store(self.world.path) as store:
                wrong += self.world.unkept(store)
        self.wrong += [(len(self.recording.events), self._operation, what) for what in wrong]

    def act(self, operation: Operation) -> None:
        """Do one thing, and note what it acknowledged."""
        self._operation, self._steps = operation.name, operation.steps
        operation.run(self.world)
        self.look()


def _older_store(root: str, seed: int) -> dict[str, tuple[str, str]]:
    """A store of the schema before the last step, in its place; its facts."""
    folder = os.path.join(root, os.path.dirname(STORE))
    os.makedirs(folder)
    ready.fill(folder, seed, _MEMORIES, _COMMITS)
    with open_store(os.path.join(root, STORE)) as store, store.read() as reader:
        facts: dict[str, tuple[str, str]] = {
            memory.id: (memory.text, memory.status) for memory in reader.get(reader.ids(_ALL, derived=False))
        }
    older = next(one.before for one in ready.OPERATIONS if one.name == "migration")
    if older is not None:
        older(folder)
    return facts


def perform(
    root: str, seed: int, length: int, setting: Setting = FAITHFUL, operations: Sequence[Operation] | None = None
) -> Performance:
    """Do ``length`` operations, or those that are given, in an empty folder, and keep every event."""
    root = os.path.realpath(root)
    stage = _Stage(root, seed, setting)
    before = files.use(RecordingDisk(stage.recording))
    try:
        if stage.upgrades:
            _begin_with_older(stage)
        else:
            stage.moments.append(Moment(0, "", dict(NOTHING)))
            stage.act(workload.FIRST[0])
        for operation in operations if operations is not None else workload.sequence(stage.rng, length):
            stage.act(operation)
        return Performance(seed, stage.recording, tuple(stage.moments), tuple(stage.wrong))
    finally:
        stage.world.engine.close()
        files.use(before)
        stage.vfs.unregister()


def _begin_with_older(stage: _Stage) -> None:
    """Before and after the upgrade the same is told: whoever opens the older store sees it upgraded."""
    stage.act(workload.FIRST[1])
    after = stage.moments[-1]
    stage.moments.insert(0, after.replace(at=0, operation=""))
