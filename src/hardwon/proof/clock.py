"""Clock: a store that is written to while the clock jumps, back by an hour, ten years ahead, to zero and below, or stands still.

What has to hold whatever the clock says, each compared with a model that knows no time at all, only the order of the calls:

- the journal is in the order of the calls, its hybrid clock never goes back, its chain is whole;
- risk counts in the order of the calls; no age is below zero, so that no score is;
- an undo without an id takes back the last stroke and no other;
- what has no end does not end, and what ended is told so by the clock of the one who asks;
- ``recall``, ``query``, ``brief``, ``history``, a listing since a time, and ``verify`` answer.

Each sequence is a store of its own; every few calls another engine goes on, as another process would.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from itertools import pairwise

from hardwon.engine import opening
from hardwon.engine.core import Engine
from hardwon.errors import HardwonError, InvalidInput
from hardwon.proof.operations import SCOPE, Entropy
from hardwon.proof.report import Control, Outcome, Violation
from hardwon.types import Anchor, Draft, Filter, Query
from hardwon.upkeep.risk import assess_all, by_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardwon.proof.report import Plan, Progress

HOUR, DAY = 3_600_000, 86_400_000
START = 1_790_000_000_000
# What the clock does before a call: milliseconds that it moves by, or a time that it shows.
JUMPS: dict[str, int] = {
    "nothing": 0, "a millisecond": 1, "a second": 1000, "an hour back": -HOUR, "an hour ahead (summer time)": HOUR,
    "a day": DAY, "eight days": 8 * DAY, "ten years ahead": 3653 * DAY, "ten years back": -3653 * DAY, "thirty years back": -10957 * DAY,
}  # fmt: skip
SETTINGS: dict[str, int] = {"zero": 0, "one millisecond before 1970": -1, "the start": START}
CALLS = ("fail", "ok", "note", "expiring", "forget", "undo", "summary", "open again")
_SYMBOLS = ("Pool.get", "Retry.run")
_LONGEST = 24
_LASTS = DAY
# How much the days since the last failure may count: three levels, and none without a failure (upkeep/risk.py).
_RECENCY = (1.0, 0.5, 0.2)


class Told:
    """A clock that shows what it is told."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        """Milliseconds since 1970."""
        return self.now

    def jump(self, name: str) -> None:
        """Move, or be set."""
        self.now = SETTINGS[name] if name in SETTINGS else self.now + JUMPS[name]


class Model:
    """What the calls amount to, without a clock. ``strokes``: what was done last, newest at the end: ids of a forgetting, none for
    what cannot be taken back."""

    def __init__(self) -> None:
        self.journal: list[tuple[str, str]] = []
        self.outcomes: dict[str, list[str]] = {symbol: [] for symbol in _SYMBOLS}
        self.notes: list[str] = []
        self.strokes: list[tuple[str, ...]] = []
        self.ends: dict[str, int] = {}
        self.summary = ""

    def scores(self, symbol: str) -> set[float]:
        """The risk that a symbol may have, whatever the time."""
        outcomes = self.outcomes[symbol]
        fails = outcomes.count("failed")
        trailing = len(outcomes) - max((place + 1 for place, one in enumerate(outcomes) if one == "worked"), default=0)
        rest = fails + trailing * 1.5 - (len(outcomes) - fails) * 0.3
        return {round(max(0.0, rest + share * 1.5), 2) for share in (_RECENCY if fails else (0.0,))}


class Play:
    """One store, its clock, and the model of it."""

    def __init__(self, folder: str, seed: int) -> None:
        os.makedirs(folder)
        self._path = os.path.join(folder, "proof.db")
        self._entropy = Entropy(seed)
        self._source = random.Random(seed)
        self.clock, self.model = Told(), Model()
        self.engine = self._opened()
        self._count = 0

    def _opened(self) -> Engine:
        return opening.open_store(self._path, clock=self.clock, entropy=self._entropy)

    def step(self, jump: str, call: str) -> None:
        """The clock jumps, and something is done."""
        self.clock.jump(jump)
        self._count += 1
        if call == "open again":
            self.engine.close()
            self.engine = self._opened()
        elif call == "forget":
            self._forget()
        elif call == "undo":
            self._undo()
        else:
            self._record(call)

    def _record(self, call: str) -> None:
        model, text = self.model, f"{call} {self._count}: the pool was drained"
        symbol = _SYMBOLS[self._count % 2]
        if call in ("fail", "ok"):
            outcome = "failed" if call == "fail" else "worked"
            model.outcomes[symbol].append(outcome)
            draft = Draft(text, "lesson", outcome, anchors=(Anchor("src/pool.py", symbol),))  # type: ignore[arg-type]  # two of OUTCOMES
        else:
            draft = Draft(text, "summary" if call == "summary" else "fact")
        if call == "expiring":
            draft = draft.replace(expires_at=self.clock.now + _LASTS)
        if (draft.expires_at or 0) < 0:  # there is no such time, and the answer says so
            self._refused(draft)
            return
        identifier = self.engine.record(draft, SCOPE).id
        model.journal.append((identifier, "created"))
        model.strokes.append(())
        if call == "note":
            model.notes.append(identifier)
        elif call == "expiring":
            model.ends[identifier] = self.clock.now + _LASTS
        elif call == "summary":
            model.summary = identifier

    def _refused(self, draft: Draft) -> None:
        try:
            self.engine.record(draft, SCOPE)
        except InvalidInput:
            return
        raise Wrong("an end before 1970 was taken")

    def _forget(self) -> None:
        chosen = self._source.sample(self.model.notes, min(2, len(self.model.notes)))
        if chosen:
            done = self.engine.forget(Filter(ids=tuple(chosen)), SCOPE, dry_run=False)
            self.model.journal += [(identifier, "status") for identifier in done.ids]
            self.model.strokes.append(done.ids)
            self.model.notes = [one for one in self.model.notes if one not in chosen]

    def _undo(self) -> None:
        model = self.model
        expected = model.strokes[-1] if model.strokes else ()
        try:
            back = {receipt.id for receipt in self.engine.undo("", SCOPE)}
        except InvalidInput:
            back = set()
        if back != set(expected):
            raise Wrong(f"an undo brought {len(back)} memories back, and not the {len(expected)} of the last stroke")
        if expected:
            model.strokes.pop()
            model.notes += expected
            model.journal += [(identifier, "status") for identifier in expected]


class Wrong(Exception):
    """What does not hold."""


def play(folder: str, seed: int, steps: Sequence[tuple[str, str]]) -> list[str]:
    """What does not hold after these steps, each a jump of the clock and a call; [] when all does."""
    one = Play(folder, seed)
    try:
        for jump, call in steps:
            one.step(jump, call)
        return list(wrong(one))
    except (Wrong, HardwonError) as error:
        return [f"{type(error).__name__}: {error}"]
    finally:
        one.engine.close()


def wrong(one: Play) -> Iterator[str]:
    """Everything that does not hold now."""
    engine, model = one.engine, one.model
    with engine.store.read() as reader:
        events = reader.events()
        held = {memory.id: memory.status for memory in reader.find(Filter(), -1)}
    if sorted((event.memory, event.action) for event in events) != sorted(model.journal):
        yield "the journal tells other things than were done"
    if [event.action for event in events] != [action for _, action in model.journal]:
        yield "the journal is not in the order of the calls"
    if any(later.clock <= earlier.clock for earlier, later in pairwise(events)):
        yield "the hybrid clock went back"
    if any(held[note] != "active" for note in model.notes):
        yield "what was not forgotten is not there"
    yield from _risks(one)
    yield from _answers(one)
    yield from (f"verify: {finding.what} ({finding.where})" for finding in engine.verify())


def _risks(one: Play) -> Iterator[str]:
    for report in one.engine.query("", "", SCOPE, everything=True):
        risk = report.risk
        if risk.score not in one.model.scores(risk.symbol):
            yield f"{risk.symbol} has risk {risk.score}, and not one of {sorted(one.model.scores(risk.symbol))}"


def _answers(one: Play) -> Iterator[str]:
    engine, model, now = one.engine, one.model, one.clock.now
    found = engine.recall(Query("the pool was drained", k=100, budget=100_000, floor=0.0), SCOPE).hits
    if any(not 0.0 <= hit.score <= 1.0 for hit in found):
        yield "a score is no probability"
    if any(signal.signal == "age" and signal.points > 0 for hit in found for signal in hit.why):
        yield "an age is below zero"
    listed = {hit.memory.id for hit in engine.recall(Query(where=Filter(kinds=("fact",)), k=1000, budget=1_000_000), SCOPE).hits}
    if listed != set(model.notes) | {name for name, end in model.ends.items() if end > now}:
        yield "what ends is not told by the clock of who asks"
    since = engine.recall(Query(where=Filter(since=now - HOUR), k=1000, budget=1_000_000), SCOPE).hits
    if any(hit.memory.created_at < now - HOUR for hit in since):
        yield "a listing since an hour tells older things"
    brief = {hit.memory.id for hit in engine.brief(SCOPE).hits if hit.memory.kind == "summary"}
    if model.summary and brief != {model.summary}:
        yield "the summary of the last run is not the last one"
    for identifier in (*model.notes[-1:], *filter(None, [model.summary])):
        engine.history(identifier, SCOPE)


def run(plan: Plan, progress: Progress) -> Outcome:
    """Sequences of the seed's choice until the time is over, or ``plan.count`` of them were played."""
    began = time.monotonic()
    violations: list[Violation] = []
    played = steps_done = 0
    while (not played or time.monotonic() - began < plan.seconds) and not 0 < plan.count <= played:
        steps = chosen(random.Random(f"{plan.seed} {played}"))
        folder = os.path.join(plan.folder, f"clock-{played}")
        broken = play(folder, played, steps)
        again = f"hardwon torture --clock --seed {plan.seed}"
        violations += [Violation(what, str(steps), played, folder, again) for what in broken]
        if not broken:
            shutil.rmtree(folder)
        played, steps_done = played + 1, steps_done + len(steps)
        progress(played, plan.count)
    figures = {"sequences": played, "calls": steps_done}
    seconds = round(time.monotonic() - began, 1)
    return Outcome("clock", plan.seed, seconds, figures, tuple(violations), (_control(plan.folder),))


def chosen(source: random.Random) -> list[tuple[str, str]]:
    """A sequence of steps."""
    jumps = (*JUMPS, *SETTINGS)
    return [(source.choice(jumps), source.choice(CALLS)) for _ in range(source.randint(2, _LONGEST))]


def _control(folder: str) -> Control:
    """Risk that orders by the clock instead of by the calls has to be caught: two failures and a success, the clock set back before
    each."""
    one = Play(os.path.join(folder, "clock-control"), 0)
    for call in ("fail", "open again", "fail", "open again", "ok"):
        one.step("an hour back", call)
    with one.engine.store.read() as reader:
        experiences = [item.replace(imported=True) for item in reader.experiences("", "", False)]
    risks = assess_all(by_symbol(experiences), one.clock.now)
    one.engine.close()
    return Control("ordered by the clock", len(risks), sum(risk.score not in one.model.scores(risk.symbol) for risk in risks))
