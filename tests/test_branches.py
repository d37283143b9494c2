"""What is seen from which branch: a case for each thing that people do with git, made with real git (tests/branches/).

Each case says which of its memories have to be visible from where, before and after a new look at all branches; a memory of an unmerged
branch that shows is a leak, one of a merged branch that does not is lost.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.branches import beginnings, checkouts, commits, endings, merges, rebases, squashes, surroundings
from tests.branches.story import CASES, RARE, Story, lines

if TYPE_CHECKING:
    from pathlib import Path

MODULES = (merges, squashes, rebases, commits, endings, beginnings, checkouts, surroundings)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name in RARE else []) for name in CASES])
def test_what_is_seen_from_where(name: str, home: Path, tmp_path: Path) -> None:
    story = Story(home, tmp_path / "r")
    CASES[name](story)
    assert story.checks
    assert not story.wrong, "\n".join(f"{what}: leaked {leaked}, lost {lost}" for what, leaked, lost in story.wrong)


def test_there_are_cases_enough() -> None:
    assert len(CASES) >= 75
    assert len(CASES) - len(RARE) >= 40
    assert {case.__module__ for case in CASES.values()} == {module.__name__ for module in MODULES}


def random_story(story: Story, seed: int, steps: int) -> list[str]:
    """Commits, branches, merges, moves, recordings and looks in random order; what was seen that git's ancestry does not say, or the
    other way round. Recordings on a branch without a commit of its own are left out: where they belong is told by the cases."""
    rng = random.Random(seed)
    story.commit("base.py")
    story.init()
    own = {"main"}  # branches with a commit of their own
    places: dict[str, tuple[str, str]] = {}
    branch, wrong = "main", []
    for step in range(steps):
        what = rng.choices(("commit", "branch", "move", "merge", "record", "look", "detach"), (4, 2, 4, 2, 5, 1, 1))[0]
        if what == "commit":
            story.commit(f"file{step}.py", lines(f"one{step}", f"two{step}", f"three{step}"))
            own |= {branch} - {""}
        elif what == "branch":
            branch = f"b{step}"
            story.on(branch, "-b")
        elif what in ("move", "detach"):
            branch = rng.choice(sorted(own))
            story.on(branch, *(["--detach"] if what == "detach" else []))
            branch = "" if what == "detach" else branch
        elif what == "merge":
            other = rng.choice(sorted(own))
            story.git("merge", "-q", "--no-edit", *rng.choice(([], ["--no-ff"])), other)
        elif what == "record" and (branch in own or not branch):
            story.note(f"w{step}")
            places[f"w{step}"] = (story.head(), branch)
        elif what == "look":
            story.look()
        past = set(story.git("rev-list", "HEAD").split())
        expected = {word for word, (commit, at) in places.items() if commit in past or (branch and at == branch)}
        if (seen := story.seen()) != expected:
            wrong.append(f"step {step} ({what}): leaked {sorted(seen - expected)}, lost {sorted(expected - seen)}")
    return wrong


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))])
def test_random_stories_agree_with_ancestry(seed: int, home: Path, tmp_path: Path) -> None:
    assert random_story(Story(home, tmp_path / "r"), seed, 14 if seed < 3 else 30) == []
