"""The gate of capture: excerpts of sessions with hand-set expectations. Lessons are right, and routine failures teach nothing."""

from __future__ import annotations

import pytest

from tests.excerpts.judge import cases, count

SETS = ("dev", "heldout", "fresh", "unseen")


@pytest.mark.parametrize("name", SETS)
def test_lessons_are_precise_and_routine_failures_teach_nothing(name: str) -> None:
    found = count(name)
    report = "\n".join(found.told)
    assert found.precision >= 0.8, report
    assert found.recall >= 0.6, report
    assert [case for case in found.noise if not case.split("none-")[-1].startswith("say-")] == [], report


def test_there_are_enough_of_either_kind() -> None:
    every = [case for name in SETS for case in cases(name)]
    routine = [case for case in every if not case["expect"]]
    assert len(every) >= 100
    assert len(routine) >= 50
    assert len(every) - len(routine) >= 50
    assert len({case["name"] for case in every}) == len(every)
