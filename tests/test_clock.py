"""Time may lie: order comes from the calls, whatever the clock says before each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.doors import shapes
from hardwon.engine.core import Engine
from hardwon.proof import clock
from hardwon.proof.clock import CALLS, DAY, HOUR, JUMPS, SETTINGS, START, Told
from hardwon.proof.report import Plan
from hardwon.store.journal import tick
from hardwon.types import Anchor, Draft, Experience, Filter, Origin, Scope
from hardwon.upkeep import risk

PERSON = Scope(Origin("person", "tests", "", "pytest"))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def engine(tmp_path: Path, told: Told) -> Any:
    made = hardwon.open_store(str(tmp_path / "a.db"), clock=told)
    yield made
    made.close()


def lesson(number: int, outcome: str = "failed", **given: Any) -> Draft:
    return Draft(f"lesson {number}", "lesson", outcome, anchors=(Anchor("src/db.py", "Pool.get"),), **given)  # type: ignore[arg-type]


def note(engine: Engine, text: str) -> str:
    return engine.record(Draft(text), PERSON).id


def forget(engine: Engine, *ids: str) -> None:
    engine.forget(Filter(ids=ids), PERSON, dry_run=False)


steps = st.lists(st.tuples(st.sampled_from((*JUMPS, *SETTINGS)), st.sampled_from(CALLS)), min_size=1, max_size=14)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps, seed=st.integers(0, 1000))
def test_whatever_the_clock_does_the_calls_are_told_as_they_came(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]], seed: int
) -> None:
    assert clock.play(str(tmp_path_factory.mktemp("clock") / "one"), seed, steps) == []


def test_a_run_tells_its_seed_its_figures_and_a_control_that_was_caught(tmp_path: Path) -> None:
    outcome = clock.run(Plan(7, 30.0, str(tmp_path), count=3), lambda done, of: None)
    assert outcome.ok and outcome.seed == 7
    assert outcome.figures["sequences"] == 3
    assert [control.found for control in outcome.controls] == [1]


@pytest.mark.parametrize("jump", JUMPS)
def test_a_success_after_failures_ends_them_whatever_the_clock_says(engine: Engine, told: Told, jump: str) -> None:
    for number in range(3):
        engine.record(lesson(number), PERSON)
    told.jump(jump)
    engine.record(lesson(9, "worked"), PERSON)
    (report,) = engine.query("Pool.get", "", PERSON)
    assert report.risk.score == pytest.approx(3 + risk.recency(START, told.now) * 1.5 - 0.3)


def test_an_import_goes_where_its_time_belongs_among_what_was_recorded_here() -> None:
    def one(seq: int, at: int, *, imported: bool = False) -> Experience:
        return Experience("Pool.get", "", str(seq), at, seq, "failed", "active", imported)

    told = [one(1, 100), one(2, 50), one(3, 300), one(4, 10, imported=True), one(5, 200, imported=True)]
    assert [item.seq for item in risk.in_order(reversed(told))] == [4, 1, 2, 5, 3]


@pytest.mark.parametrize("now", [-1, 0, START, START - 3653 * DAY, START + 3653 * DAY])
def test_an_age_is_never_below_zero(now: int) -> None:
    assert risk.recency(START, now) in (1.0, 0.5, 0.2)
    assert 0 < risk.assess("a", "", [Experience("a", "", "x", START, 1, "failed", "active")], now).score <= 4


def test_the_hybrid_clock_never_goes_back() -> None:
    last = 0
    for now in (START, START - HOUR, 0, -5, START, START, START + 3653 * DAY, START):
        assert (last := tick(now, before := last)) > before


def test_two_strokes_at_one_moment_are_two(engine: Engine) -> None:
    """The clock stands still, as a coarse one does between two quick calls."""
    first, second, third = (note(engine, f"note {number}") for number in range(3))
    forget(engine, first)
    forget(engine, second, third)
    assert {receipt.id for receipt in engine.undo("", PERSON)} == {second, third}
    assert {receipt.id for receipt in engine.undo("", PERSON)} == {first}


def test_strokes_of_one_moment_with_somebody_elses_between_are_two(engine: Engine, told: Told) -> None:
    other = Scope(Origin("person", "other", "", "pytest"))
    mine = [note(engine, f"note {number}") for number in range(3)]
    forget(engine, mine[0])
    engine.forget(Filter(ids=(mine[1],)), other, dry_run=False)
    told.now += 1
    forget(engine, mine[2])
    assert [receipt.id for receipt in engine.undo("", PERSON)] == [mine[2]]


def test_a_summary_from_a_clock_ten_years_ahead_is_not_the_last_one_for_ten_years(engine: Engine, told: Told) -> None:
    told.jump("ten years ahead")
    engine.record(Draft("the run of the wrong clock", "summary"), PERSON)
    told.jump("ten years back")
    last = engine.record(Draft("the run after it", "summary"), PERSON).id
    assert [hit.memory.id for hit in engine.brief(PERSON).hits] == [last]


def test_what_ends_is_over_by_the_clock_of_who_asks(engine: Engine, told: Told) -> None:
    held = engine.record(Draft("holds for a day", expires_at=told.now + DAY), PERSON).id
    for jump, seen in (("an hour back", True), ("ten years ahead", False), ("ten years back", True), ("eight days", False)):
        told.jump(jump)
        found = engine.recall(hardwon.Query(where=Filter(kinds=("fact",))), PERSON).hits
        assert [hit.memory.id for hit in found] == [held] * seen


@pytest.mark.parametrize("now", [0, -1, -10_957 * DAY, START + 3653 * DAY])
def test_times_of_any_clock_can_be_shown(engine: Engine, told: Told, now: int) -> None:
    told.now = now
    identifier = note(engine, "written at a strange time")
    memory, versions, events = engine.history(identifier, PERSON)
    assert shapes.memory(memory)["created_at"].endswith("Z")
    assert [shapes.version(item) for item in versions] and [shapes.event(item) for item in events]
    assert engine.recall(hardwon.Query(where=Filter(since=now - HOUR)), PERSON).hits
    assert engine.verify() == []


def test_nothing_waits_for_files_whose_times_are_of_another_clock(project: Path, call: Any) -> None:
    """The store, its lock, its log and git's files, dated ten years ahead and then before everything else."""
    import os

    from hardwon import settings

    home = Path(settings.load().home)
    for moment in (4_000_000_000, 1):
        for top in (home, project):
            for path in (top, *top.rglob("*")):
                os.utime(path, (moment, moment), follow_symlinks=False)
        assert call("fail", "Pool.get", f"leaks at {moment}").code == 0
        assert "leaks" in call("query", "Pool.get").out
        for verb in (["recall", "pool"], ["ingest", "git"], ["ingest", "docs"], ["status"], ["verify"]):
            assert call(*verb).code == 0, verb


@pytest.mark.slow
def test_many_sequences_of_jumps(tmp_path: Path) -> None:
    import os

    count = max(1, round(150 * float(os.environ.get("HARDWON_SCALE", "1"))))
    outcome = clock.run(Plan(20261130, 3600.0, str(tmp_path), count=count), lambda done, of: None)
    assert outcome.ok, outcome.violations[:5]
