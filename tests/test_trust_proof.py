"""Trust that rises and falls by proof, played with real git, real files and a test that is really run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon.engine import opening
from hardwon.types import Anchor, Draft, Origin, Revision, Scope
from hardwon.upkeep import evidence
from tests.gitmaker import GitRepo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.engine.core import Engine
    from hardwon.engine.test_runs import Observation
    from hardwon.types import Memory

DAY = evidence.DAY_MS
START = 1_800_000_000_000
AGENT = Scope(Origin("agent", "codex", "s1", "cli"))
PERSON = Scope(Origin("person", "", "", "cli"))

BROKEN = "def total(items):\n    return sum(items) + 1\n\n\ndef mean(items):\n    return sum(items) / len(items)\n"
FIXED = BROKEN.replace("sum(items) + 1", "sum(items)")
OTHER = BROKEN.replace("/ len(items)", "/ max(1, len(items))")
CHECK = "from calc import total\n\nassert total([1, 2]) == 3\n"
TEST = "check_calc.py::total"


class World:
    """A repository with its memory, a clock that stands still until it is moved, and a test that is really run."""

    def __init__(self, path: Path, home: Path) -> None:
        self.git = GitRepo(path / "shop")
        self.root = Path(self.git.path)
        self.home = home
        self.now = START
        self.git.commit("Begin", {"calc.py": BROKEN, "check_calc.py": CHECK, "notes.txt": "one\n"}, at=START // 1000 - 90_000)
        self.engine = self._open()
        self.engine.ingest_history()

    def _open(self) -> Engine:
        engine = opening.create(str(self.root), str(self.home))
        engine.clock = self._tick
        return engine

    def _tick(self) -> int:
        self.now += 1
        return self.now

    def reopen(self) -> None:
        """As the next command would find things."""
        self.engine.close()
        self.engine = self._open()

    def days(self, count: float) -> None:
        self.now += int(count * DAY)

    def commit(self, message: str, files: dict[str, str | bytes | None], *, after: int = 60, ingest: bool = True) -> str:
        sha = self.git.commit(message, files, at=self.now // 1000 + after)
        self.reopen()
        if ingest:
            self.ingest()
        return sha

    def ingest(self) -> object:
        self.reopen()
        return self.engine.ingest_history()

    def record(
        self, text: str = "total() must not count the empty slot", *anchors: Anchor, scope: Scope = AGENT, **more: object
    ) -> str:
        self.reopen()
        places = anchors or (Anchor("calc.py", "total"),)
        return self.engine.record(Draft(text, "lesson", "failed", anchors=places, **more), scope).id  # type: ignore[arg-type]

    def run(self, *, witness: evidence.Witness = "ran", test: str = TEST, file: str = "check_calc.py") -> Observation:
        """Run the test, as a door would that runs it: the tree before, then the test, then what came of it."""
        self.reopen()
        tree = self.engine.working_tree()
        done = subprocess.run(
            [sys.executable, "-B", str(self.root / "check_calc.py")], cwd=self.root, capture_output=True, check=False
        )
        return self.tell(done.returncode == 0, tree=tree, witness=witness, test=test, file=file)

    def tell(self, passed: bool, **more: object) -> Observation:
        self.now += 1000
        tree = more.pop("tree", None) or self.engine.working_tree()
        run = evidence.TestRun(
            **{"test": TEST, "passed": passed, "tree": tree, "at": self.now, "file": "check_calc.py", "witness": "ran", **more}  # type: ignore[arg-type]
        )
        return self.engine.observe([run], AGENT)

    def memory(self, reference: str) -> Memory:
        return self.engine.show(reference, AGENT)[0]

    def trust(self, reference: str) -> str:
        return self.memory(reference).trust

    def evidence(self, reference: str) -> list[dict[str, object]]:
        return [found for _, _, _, found in evidence.steps(self.engine.history(reference, AGENT)[2])]


@pytest.fixture
def world(tmp_path: Path, home: Path) -> Iterator[World]:
    made = World(tmp_path, home)
    yield made
    found = made.engine.verify()
    made.engine.close()
    assert found == []


# A test that failed and then passed


def test_a_test_that_failed_and_passes_after_a_change_of_the_symbol_proves_the_claim(world: World) -> None:
    assert world.run().failed == 1
    claim = world.record()
    other = world.record("mean() divides by zero for no items", Anchor("calc.py", "mean"))
    world.git.write({"calc.py": FIXED})
    seen = world.run()
    assert (seen.passed, seen.judged.risen) == (1, (claim,))
    assert (world.trust(claim), world.trust(other)) == ("proven", "claimed")
    (found,) = world.evidence(claim)
    assert found["by"] == "test" and found["test"] == TEST and found["red"] == world.git.head()
    assert str(found["green"]).startswith(world.git.head() + "+")


def test_a_pipe_in_place_of_a_file_keeps_no_run_waiting(world: World) -> None:
    (world.root / "notes.txt").unlink()
    os.mkfifo(world.root / "notes.txt")
    reference = world.record()
    assert world.run().failed == 1
    world.commit("Count right", {"calc.py": FIXED})
    assert world.run().judged.risen == (reference,)


def test_a_lesson_written_within_a_day_after_the_fix_is_proven_by_the_next_run(world: World) -> None:
    world.run()
    world.git.write({"calc.py": FIXED})
    world.run()
    soon = world.record("said at once")
    world.days(1.1)
    late = world.record("said the day after")
    world.tell(True, test="another")
    assert (world.trust(soon), world.trust(late)) == ("claimed", "claimed")  # the cure is over, nobody looked in time
    world.git.write({"calc.py": BROKEN})
    world.run()
    world.git.write({"calc.py": FIXED + "\n# better\n"})
    world.run()
    fresh = world.record("said at once as well")
    world.tell(True, test="another")
    assert world.trust(fresh) == "proven"


def test_red_again_with_the_fix_in_place_lowers_and_the_same_evidence_does_not_lift_again(world: World) -> None:
    world.run()
    claim = world.record()
    world.git.write({"calc.py": FIXED})
    world.run()
    assert world.trust(claim) == "proven"
    world.git.write({"check_calc.py": CHECK + "assert total([]) == 1\n"})  # found later: the fix was not right
    assert world.run().judged.fallen == (claim,)
    assert world.trust(claim) == "claimed"
    world.git.write({"check_calc.py": CHECK})
    assert world.run().judged.risen == ()
    assert world.trust(claim) == "claimed"


def test_red_on_files_without_the_fix_says_nothing_against_it(world: World) -> None:
    world.run()
    claim = world.record()
    world.git.write({"calc.py": FIXED})
    world.run()
    world.git.write({"calc.py": BROKEN})
    assert world.run().judged.fallen == ()
    assert world.trust(claim) == "proven"


@pytest.mark.slow
def test_red_on_a_later_commit_whose_symbol_has_the_fix_lowers(world: World) -> None:
    world.run()
    claim = world.record()
    world.commit("Fix total", {"calc.py": FIXED})
    world.run()
    assert world.trust(claim) == "proven"
    world.commit("Lose the fix", {"calc.py": FIXED.replace("sum(items)\n", "sum(items) * 2\n", 1)})
    assert world.run().judged.fallen == ()
    world.commit("Have it again, beside something else", {"calc.py": "import nothing_of_that_name\n\n\n" + FIXED})
    assert world.run().judged.fallen == (claim,)


def test_a_confirmed_memory_whose_test_fails_on_and_on_is_flagged_once(world: World) -> None:
    world.run()
    claim = world.record()
    world.git.write({"calc.py": FIXED})
    world.run()
    world.engine.approve(claim, PERSON)
    world.git.write({"check_calc.py": CHECK + "assert total([]) == 1\n"})
    assert world.run().judged.flagged == (claim,)
    assert [one.doubt["test"] for one in world.engine.review(PERSON) if one.doubt] == [TEST]
    world.engine.approve(claim, PERSON)
    world.git.write({"notes.txt": "two\n"})
    assert world.run().judged.flagged == ()
    assert (world.trust(claim), [one for one in world.engine.review(PERSON) if one.doubt]) == ("confirmed", [])


def test_a_commit_on_which_a_test_passed_is_reverted(world: World) -> None:
    world.run()
    claim = world.record()
    fix = world.commit("Fix total", {"calc.py": FIXED})
    world.run()
    assert world.trust(claim) == "proven"
    world.git.revert(fix, at=world.now // 1000 + 900)
    report = world.ingest()
    assert report.unproven == 1  # type: ignore[attr-defined]
    assert world.trust(claim) == "claimed"
    assert world.evidence(claim)[-1] == {"by": "reverted", "commit": fix}


# Time


def landed(world: World, text: str = "total() must not count the empty slot") -> tuple[str, str]:
    claim = world.record(text)
    world.now += 60_000
    return claim, world.commit("Fix total", {"calc.py": FIXED})


def test_a_commit_that_stood_thirty_days_on_the_default_branch_proves_the_claim(world: World) -> None:
    claim, fix = landed(world)
    assert world.evidence(claim) == [{"by": "landed", "commit": fix, "branch": "main"}]
    world.days(29.9)
    world.ingest()
    assert world.trust(claim) == "claimed"
    world.days(0.2)
    assert world.ingest().proven == 1  # type: ignore[attr-defined]
    assert world.trust(claim) == "proven"
    assert world.evidence(claim)[-1]["by"] == "survived"


def test_a_commit_reverted_on_day_29_proves_nothing_even_if_the_revert_is_reverted(world: World) -> None:
    claim, fix = landed(world)
    world.days(29)
    back = world.git.revert(fix, at=world.now // 1000)
    world.ingest()
    world.days(2)
    world.ingest()
    assert world.trust(claim) == "claimed"
    world.git.revert(back, at=world.now // 1000)
    world.days(40)
    world.ingest()
    assert world.trust(claim) == "claimed"


def test_reverted_later_it_falls_and_a_confirmed_one_is_flagged(world: World) -> None:
    claim, fix = landed(world)
    other = world.record("confirmed by a person")
    world.days(31)
    world.ingest()
    world.engine.approve(other, PERSON)
    assert (world.trust(claim), world.trust(other)) == ("proven", "confirmed")
    world.git.revert(fix, at=world.now // 1000)
    report = world.ingest()
    assert (report.unproven, report.doubted) == (1, 1)  # type: ignore[attr-defined]
    assert (world.trust(claim), world.trust(other)) == ("claimed", "confirmed")
    first = world.engine.review(PERSON)[0]
    assert (first.memory.id, first.doubt) == (other, {"by": "reverted", "commit": fix})
    world.engine.approve(other, PERSON)
    assert not any(item.doubt for item in world.engine.review(PERSON))
    world.ingest()
    assert not any(item.doubt for item in world.engine.review(PERSON))


def test_a_revert_without_a_word_is_seen_by_its_files(world: World) -> None:
    claim, _ = landed(world)
    world.commit("Tidy up", {"calc.py": BROKEN})
    world.days(31)
    world.ingest()
    assert world.trust(claim) == "claimed"


def test_backdated_commits_gain_nothing(world: World) -> None:
    claim = world.record()
    world.commit("Fix total", {"calc.py": FIXED}, after=-90 * 86_400)
    world.days(1)
    world.ingest()
    assert world.trust(claim) == "claimed"
    assert world.evidence(claim) == []
    world.days(40)
    world.ingest()
    assert world.trust(claim) == "claimed"


def test_a_commit_of_another_symbol_or_a_branch_that_never_lands_proves_nothing(world: World) -> None:
    claim = world.record()
    world.commit("Other symbol", {"calc.py": OTHER})
    lonely = world.record("said on a branch")
    world.git.branch("topic")
    world.commit("Fix total", {"calc.py": FIXED})
    world.days(31)
    world.ingest()
    assert (world.trust(claim), world.trust(lonely)) == ("claimed", "claimed")
    assert world.evidence(claim) == world.evidence(lonely) == []


def test_a_branch_that_is_merged_late_counts_from_when_it_was_seen_there(world: World) -> None:
    world.git.branch("topic")
    claim, fix = landed(world)
    world.days(35)
    world.ingest()
    assert world.evidence(claim) == []
    world.git.checkout("main")
    world.git.merge("topic", at=world.now // 1000)
    world.ingest()
    assert world.evidence(claim) == [{"by": "landed", "commit": fix, "branch": "main"}]
    world.days(29)
    world.ingest()
    assert world.trust(claim) == "claimed"
    world.days(2)
    world.ingest()
    assert world.trust(claim) == "proven"


def test_words_that_were_changed_begin_anew(world: World) -> None:
    claim, _ = landed(world)
    world.days(20)
    world.engine.revise(claim, Revision(text="total() must count the empty slot"), AGENT)
    world.days(11)
    world.ingest()
    assert world.trust(claim) == "claimed"
    world.days(31)
    world.ingest()
    assert world.trust(claim) == "proven"


def test_a_force_push_takes_the_proof_away(world: World) -> None:
    claim, fix = landed(world)
    world.days(31)
    world.ingest()
    assert world.trust(claim) == "proven"
    world.git.git("reset", "-q", "--hard", "HEAD~1")
    world.git.git("reflog", "expire", "--expire=now", "--all")
    world.ingest()
    assert world.trust(claim) == "claimed"
    assert world.evidence(claim)[-1] == {"by": "lost", "commit": fix}
