"""Risk, as the first code-memory tool defined it: a model of that tool, kept in a plain list, and the engine beside it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.types import Anchor, Draft, Origin, Scope
from hardwon.upkeep.risk import INJECT_AT, level, recency

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardwon.engine.core import Engine

DAY = 86_400_000
START = 1_700_000_000_000
SCOPE = Scope(Origin("agent", "tester", "", "test"))


class Clock:
    """A clock that goes only when told."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


class FirstTool:
    """What the first tool's page says of its two tables: one row an experience, all figures from the active ones."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, symbol: str, kind: str, lesson: str, at: int) -> None:
        self.rows.append({"symbol": symbol, "type": kind, "lesson": lesson, "at": at, "status": "active"})

    def mark(self, lesson: str, status: str) -> None:
        for row in self.rows:
            if row["lesson"] == lesson and row["status"] == "active":
                row["status"] = status

    def figures(self, symbol: str, now: int) -> tuple[int, int, float]:
        """fail_count, success_count, risk_score."""
        active = [row for row in self.rows if row["symbol"] == symbol and row["status"] == "active"]
        fails = [row for row in active if row["type"] == "fail"]
        successes = [row for row in active if row["type"] == "success"]
        weight = 0.0
        if fails:
            days = (now - max(row["at"] for row in fails)) / DAY
            weight = 1.0 if days <= 7 else 0.5 if days <= 30 else 0.2
        last_success = max((place for place, row in enumerate(active) if row["type"] == "success"), default=-1)
        consecutive = sum(row["type"] == "fail" for row in active[last_success + 1 :])
        score = len(fails) * 1.0 + weight * 1.5 + consecutive * 1.5 - len(successes) * 0.3
        return len(fails), len(successes), round(max(0.0, score), 2)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tmp_path: Path, clock: Clock) -> Iterator[Engine]:
    made = open_engine(tmp_path, clock)
    yield made
    made.close()


def open_engine(where: Path, clock: Clock, seed: int = 1) -> Engine:
    return hardwon.open_store(str(where / f"store-{seed}.db"), clock=clock, entropy=random.Random(seed).randbytes)


def write(engine: Engine, symbol: str, outcome: Any, lesson: str, file: str = "") -> str:
    return engine.record(Draft(lesson, "lesson", outcome, anchors=(Anchor(file, symbol),)), SCOPE).id


def score(engine: Engine, symbol: str) -> float:
    found = engine.query(symbol, "", SCOPE, everything=True)
    return found[0].risk.score if found else 0.0


@pytest.mark.parametrize(
    ("days", "weight"), [(0, 1.0), (6.9, 1.0), (7, 1.0), (7.1, 0.5), (30, 0.5), (30.1, 0.2), (3650, 0.2), (-1, 1.0), (None, 0.0)]
)
def test_recency_has_three_steps(days: float | None, weight: float) -> None:
    assert recency(None if days is None else START - round(days * DAY), START) == weight


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0, "low"),
        (4.99, "low"),
        (5, "normal"),
        (9.99, "normal"),
        (10, "caution"),
        (14.99, "caution"),
        (15, "high"),
        (400, "high"),
    ],
)
def test_levels_begin_at_their_score(value: float, name: str) -> None:
    assert level(value) == name
    assert INJECT_AT == 10


def test_the_first_tools_own_example(engine: Engine, clock: Clock) -> None:
    write(engine, "AuthService.validate", "worked", "passed after UTC normalization")
    for number in range(4):
        clock.now += DAY
        write(engine, "AuthService.validate", "failed", f"lesson {number}")
    (report,) = engine.query("AuthService.validate", "", SCOPE)
    assert (report.risk.fails, report.risk.successes, report.risk.score, report.risk.level) == (4, 1, 11.2, "caution")


def test_a_success_ends_the_row_and_quiet_cools_down(engine: Engine, clock: Clock) -> None:
    for number in range(3):
        write(engine, "A.b", "failed", f"lesson {number}")
    assert score(engine, "A.b") == 9.0
    write(engine, "A.b", "worked", "fixed")
    assert score(engine, "A.b") == 4.2
    clock.now += 8 * DAY
    assert score(engine, "A.b") == 3.45
    clock.now += 30 * DAY
    assert score(engine, "A.b") == 3.0
    for number in range(20):
        write(engine, "A.b", "worked", f"again {number}")
    assert score(engine, "A.b") == 0


def test_equal_texts_count_each_time_and_are_marked_together(engine: Engine) -> None:
    """The one difference to the first tool: it would keep three rows, and resolve one of them."""
    for _ in range(3):
        identifier = write(engine, "A.b", "failed", "the same lesson")
    (report,) = engine.query("A.b", "", SCOPE)
    assert (report.risk.fails, report.risk.score) == (3, 9.0)
    assert [memory.seen for memory in report.memories] == [3]
    engine.set_status(identifier, "resolved", SCOPE)
    assert score(engine, "A.b") == 0


def test_a_resolved_lesson_that_comes_back_counts_from_anew(engine: Engine) -> None:
    for _ in range(3):
        identifier = write(engine, "A.b", "failed", "the same lesson")
    engine.set_status(identifier, "resolved", SCOPE)
    assert write(engine, "A.b", "failed", "The  same LESSON") == identifier
    (report,) = engine.query("A.b", "", SCOPE)
    assert (report.risk.fails, report.risk.score) == (1, 4.0)


def test_attempts_count_and_other_kinds_do_not(engine: Engine) -> None:
    engine.record(Draft("tried pooling", "attempt", "failed", anchors=(Anchor("", "A.b"),)), SCOPE)
    engine.record(Draft("an open attempt", "attempt", "open", anchors=(Anchor("", "A.b"),)), SCOPE)
    engine.record(Draft("a decision that failed", "decision", "failed", anchors=(Anchor("", "A.b"),)), SCOPE)
    engine.record(Draft("a lesson of a file only", "lesson", "failed", anchors=(Anchor("a.py"),)), SCOPE)
    (report,) = engine.query("", "", SCOPE)
    assert (report.risk.symbol, report.risk.fails) == ("A.b", 1)


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["fail", "fail", "fail", "success", "resolve", "deactivate", "wait"]),
        st.sampled_from(["A.run", "B.run"]),
        st.integers(0, 40),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS, seed=st.integers(0, 1 << 30))
def test_the_engine_agrees_with_the_first_tool_after_every_step(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]], seed: int
) -> None:
    """Every lesson has a text of its own here, since the first tool does not join equal ones."""
    clock = Clock()
    engine = open_engine(tmp_path_factory.mktemp("risk"), clock, seed)
    model = FirstTool()
    ids: dict[str, str] = {}
    for number, (action, symbol, amount) in enumerate(steps):
        lesson = f"lesson number {number}"
        if action in ("fail", "success"):
            ids[lesson] = write(engine, symbol, "failed" if action == "fail" else "worked", lesson)
            model.add(symbol, action, lesson, clock.now)
        elif action == "wait":
            clock.now += amount * DAY // 2
        elif ids:
            marked = list(ids)[amount % len(ids)]
            status: Any = "resolved" if action == "resolve" else "inactive"
            if any(row["lesson"] == marked and row["status"] == "active" for row in model.rows):
                engine.set_status(ids[marked], status, SCOPE)
                model.mark(marked, status)
        for name in ("A.run", "B.run"):
            found = engine.query(name, "", SCOPE, everything=True)
            ours = (found[0].risk.fails, found[0].risk.successes, found[0].risk.score) if found else (0, 0, 0.0)
            assert ours == model.figures(name, clock.now), (name, action)
    assert engine.verify() == []
    engine.close()
