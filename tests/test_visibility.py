"""Branches as the doors and the store show them: what is left out, what is told of it, and what it costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.code import ancestry, places
from hardwon.code.git_settings import environment
from hardwon.code.patches import equal, holds, parse, shares
from hardwon.code.reflog import Entry, entries, made_since
from hardwon.code.repo import locate
from hardwon.engine.visibility import EVERYTHING, sight
from hardwon.types import Draft, Filter, Occurrence, Query
from tests.branches.story import SCOPE, Story, begin, feature
from tests.test_store import AGENT, change, lesson, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hardwon.store.base import Store
    from tests.conftest import Result

    Command = Callable[..., Result]

__all__ = ["store"]
FIRST, SECOND = "1" * 40, "2" * 40


@pytest.fixture
def story(home: Path, tmp_path: Path) -> Story:
    return Story(home, tmp_path / "r")


def lesson_at(number: int, commit: str, branch: str) -> Any:
    return lesson(number, commit=commit, branch=branch)


def put(store: Store, memory: Any, *times: tuple[str, str], action: str = "created") -> None:
    with store.write() as writer:
        writer.put(memory, memory.text.encode()[:16])
        for number, (commit, branch) in enumerate(times):
            salt = b"" if number else b"salt" * 4
            event = writer.log(action, memory, memory.origin, memory.created_at, salt)  # type: ignore[arg-type]
            writer.occur(Occurrence(memory.id, memory.created_at, "failed", "active", AGENT, branch, commit), event.seq)


# The stores


def test_what_was_recorded_at_hidden_places_only_is_left_out(store: Store) -> None:
    put(store, lesson_at(1, FIRST, "main"), (FIRST, "main"))
    put(store, lesson_at(2, SECOND, "feature"), (SECOND, "feature"))
    put(store, lesson_at(3, SECOND, "feature"), (SECOND, "feature"), (FIRST, "main"))
    put(store, lesson_at(4, "", ""), ("", ""))
    hidden = (f"{SECOND}:feature",)
    with store.read() as reader:
        seen = {memory.number for memory in reader.find(Filter(hidden_records=hidden), -1)}
        assert seen == {1, 3, 4}
        assert reader.count(Filter(hidden_records=(f"{SECOND}:main",))) == 4
        assert [m.number for m in reader.anchored("", "A.run", Filter(hidden_records=hidden), 9)] == [4, 3, 1]
        last = reader.last(Filter(hidden_records=(*hidden, ":")))
        assert last and last.number == 3


def test_what_happened_at_hidden_places_does_not_count(store: Store) -> None:
    put(store, lesson_at(1, FIRST, "main"), (FIRST, "main"), (SECOND, "feature"), (SECOND, "feature"))
    with store.read() as reader:
        assert len(reader.experiences("A.run", "", True)) == 3
        assert len(reader.experiences("A.run", "", True, [f"{SECOND}:feature"])) == 1
        assert reader.often_failed(2) == [("A.run", "a.py")]
        assert reader.often_failed(2, [f"{SECOND}:feature"]) == []


def test_hidden_commits_hide_changes_alone(store: Store) -> None:
    first, second = change(FIRST, 1_000), change(SECOND, 2_000)
    with store.write() as writer:
        writer.add_change(*first)
        writer.add_change(*second)
    put(store, lesson_at(1, SECOND, "feature"), (SECOND, "feature"))
    where = Filter(hidden_commits=(SECOND,))
    with store.read() as reader:
        assert [memory.commit for memory in reader.find(where.replace(kinds=("change",)), -1)] == [FIRST]
        assert reader.count(where) == 2
        assert reader.candidates({"word": 1}, where, 9) == reader.keys([first[0].id])
        assert reader.with_term("word", where, 9) == reader.keys([first[0].id])
        assert [sha for _, sha in reader.commits_since(-1)] == [FIRST, SECOND]
        assert [sha for _, sha in reader.commits_since(reader.commits_since(-1)[0][0])] == [SECOND]


def test_what_only_hidden_commits_took_back_is_not_taken_back(store: Store) -> None:
    from hardwon.types import Relation

    first = change(FIRST, 1_000, files=("a.py",))
    second = change(SECOND, 2_000, Relation("reverts", FIRST))
    with store.write() as writer:
        writer.add_change(*first)
        writer.add_change(*second)
        writer.resolve_links()
        writer.put(first[0].replace(outcome="failed"))
    with store.read() as reader:
        assert [memory.commit for memory in reader.failed_changes("a.py", 5)] == [FIRST]
        assert reader.failed_changes("a.py", 5, [SECOND]) == []
        assert reader.failed_changes("a.py", 5, [FIRST]) == []
        assert [memory.commit for memory in reader.failed_changes("", 5, ["3" * 40])] == [FIRST]


def test_where_memories_were_recorded(store: Store) -> None:
    put(store, lesson_at(1, FIRST, "main"), (FIRST, "main"), (FIRST, "main"))
    put(store, lesson_at(2, SECOND, "feature"), (SECOND, "feature"), action="imported")
    put(store, lesson_at(3, "", ""), ("", ""))
    with store.read() as reader:
        assert reader.recordings() == [(FIRST, "main", False), (SECOND, "feature", True)]
        assert reader.recordings(2) == [(SECOND, "feature", True)]
        assert reader.recordings(99) == []


# The doors


def test_recall_shows_other_branches_when_asked(story: Story, call: Command) -> None:
    begin(story)
    feature(story, "valkey")
    story.on("main")
    assert "valkey" not in call("recall", "which word is valkey", "--kind", "decision", cwd=story.path).out
    everything = call("recall", "which word is valkey", "--kind", "decision", "--all-branches", cwd=story.path)
    assert "The word is valkey" in everything.out
    named = call("recall", "--branch", "feature", "--json", cwd=story.path)
    assert [hit["memory"]["text"] for hit in named.data["hits"]] == ["The word is valkey"]
    number = named.data["hits"][0]["memory"]["number"]
    assert call("show", str(number), cwd=story.path).code == 0
    status = call("status", "--json", cwd=story.path).data
    assert status["silent"] == 1
    assert "of other branches" in call("status", cwd=story.path).out
    story.git("merge", "-q", "--no-edit", "feature")
    assert "valkey" in call("recall", "which word is valkey", "--kind", "decision", cwd=story.path).out


def test_lessons_of_an_unmerged_branch_do_not_count_for_risk(story: Story, call: Command) -> None:
    begin(story)
    call("fail", "Pool.get", "main ran dry", "--file", "db.py", cwd=story.path)
    feature(story, "f")
    for number in range(4):
        call("fail", "Pool.get", f"the branch ran dry {number}", "--file", "db.py", cwd=story.path)
    story.on("main")

    def fails(*words: str) -> list[int]:
        return [one["fail_count"] for one in call("query", "Pool.get", "--json", *words, cwd=story.path).data["symbols"]]

    assert (fails(), fails("--all")) == ([1], [5])
    assert call("stats", "--json", cwd=story.path).data["fail_count"] == 1
    assert call("query", "Pool.get", "--inject", cwd=story.path).out == ""
    before = call("before", "--symbol", "Pool.get", cwd=story.path).out
    assert "main ran dry" in before
    assert "the branch ran dry" not in before
    assert "Pool.get" not in call("brief", cwd=story.path).out
    story.on("feature")
    assert fails() == [5]
    assert "the branch ran dry" in call("before", "--symbol", "Pool.get", cwd=story.path).out


def test_changes_of_an_unmerged_branch_are_not_seen(story: Story) -> None:
    begin(story)
    feature(story, "f")
    story.look()
    assert story.changes() == {"Change app.py", "Change lib.py", "Change f.py"}
    story.on("main")
    assert story.changes() == {"Change app.py", "Change lib.py"}
    story.commit("later.py")
    assert story.changes() == {"Change app.py", "Change lib.py"}
    story.git("merge", "-q", "--no-edit", "feature")
    assert "Change f.py" in story.changes()


def test_a_change_that_only_a_branch_took_back_stands_on_main(story: Story, call: Command) -> None:
    begin(story)
    story.on("feature", "-b")
    story.git("revert", "--no-edit", "HEAD")
    story.look()
    assert "taken back" in call("before", "--file", "lib.py", cwd=story.path).out
    recalled = ("recall", "Change lib.py", "--kind", "change", "-k", "3")
    assert "taken back" in call(*recalled, cwd=story.path).out
    story.on("main")
    assert "taken back" not in call(*recalled, cwd=story.path).out
    assert "taken back" not in call("before", "--file", "lib.py", cwd=story.path).out


@pytest.mark.slow
def test_a_memory_from_elsewhere_whose_commit_is_not_here_is_seen(story: Story, tmp_path: Path, call: Command) -> None:
    begin(story)
    feature(story, "f")
    away = tmp_path / "away.jsonl"
    assert call("export", str(away), cwd=story.path).code == 0
    other = Story(tmp_path / "other-home", tmp_path / "other")
    other.commit("x.py")
    other.init()
    assert os.environ["HARDWON_HOME"] != str(other.home)
    done = subprocess.run(
        [sys.executable, "-m", "hardwon", "import", str(away)],
        cwd=other.path, env={**os.environ, "HARDWON_HOME": str(other.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    engine = other.open()
    for _ in range(2):  # before and after a look
        with engine.store.read() as reader:
            seen = {one.text for one in reader.find(sight(engine, reader).narrowed(Filter(derived=False)), -1)}
        assert seen == {"The word is main", "The word is f"}
        engine.refresh_branches()
    engine.close()


# What is asked of git


def test_a_head_that_is_damaged_hides_nothing(story: Story) -> None:
    begin(story)
    feature(story, "f")
    story.on("main")
    story.look()
    (story.path / ".git" / "refs" / "heads" / "main").write_text("f" * 40 + "\n")
    engine = story.open()
    with engine.store.read() as reader:
        assert sight(engine, reader) == EVERYTHING
    assert engine.refresh_branches().broken
    engine.close()


def test_git_that_does_not_answer_is_told_and_hides_what_it_was_asked_about(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(story)
    feature(story, "f")
    story.on("main")
    slow = story.path.parent / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 120\n")
    (slow / "git").chmod(0o755)
    engine = story.open()
    monkeypatch.setattr(ancestry, "PATIENCE", 0.3)
    monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
    began = time.monotonic()
    answer = engine.recall(Query("which word"), SCOPE)
    assert time.monotonic() - began < 60
    assert {hit.memory.text for hit in answer.hits if hit.memory.number} == {"The word is main"}
    assert any(line.startswith("branches: ") for line in answer.mode.degraded)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert any(line.startswith("branches: ") for line in engine.recall(Query("which word"), SCOPE).mode.degraded)
    engine.close()


def test_git_is_not_asked_while_commits_are_made_one_after_the_other(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(story)
    story.look()
    for number in range(3):
        story.commit(f"a{number}.py")
        story.note(f"a{number}")
    story.on("feature", "-b")
    story.commit("f.py")
    story.note("f")

    def refuse(*_: object) -> None:
        raise AssertionError("git was asked")

    monkeypatch.setattr(ancestry, "differences", refuse)
    assert story.seen() == {"main", "a0", "a1", "a2", "f"}


def test_a_store_that_was_restored_is_looked_at_anew(story: Story) -> None:
    """Another journal of the same length, whose entries nobody has compared."""
    begin(story)
    feature(story, "f")
    story.look()
    engine = story.open()
    assert engine.code is not None
    with engine.code.write() as index:
        from hardwon.engine.visibility import setting

        name = setting(locate(str(story.path)))
        known = places.read(index.setting(name))
        kept = {one: proofs for one, proofs in known.proofs.items() if not one.endswith(":feature")}
        index.set_setting(name, places.write(known.replace(mark="0" * 16, proofs=kept)))
    engine.close()
    story.on("main")
    assert story.seen() == {"main"}


def test_differences(story: Story) -> None:
    base = story.commit("a.py")
    story.on("feature", "-b")
    there = story.commit("f.py")
    story.on("main")
    here = story.commit("m.py")
    root = str(story.path)
    assert ancestry.differences(root, here, "", []) == (set(), set())
    assert ancestry.differences(root, here, there, []) == ({there}, {here})
    assert ancestry.differences(root, here, "", [there, base, "f" * 40]) == ({there}, set())
    assert ancestry.differences(root, here, "", ["e" * 40] * 20_001) is None
    assert ancestry.differences(str(story.path.parent / "nowhere"), here, base, []) is None
    assert not [name for name in environment() if name in ("GIT_DIR", "GIT_WORK_TREE")]


def test_init_looks_at_all_branches_once(bare: Path, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, folder = tmp_path / "asked", tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$@" >> "{asked}"\nexec "{shutil.which("git")}" "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    for arguments in (("init",), ("init", "--no-history"), ("ingest", "git"), ("ingest", "code")):
        asked.write_text("")
        call(*arguments, cwd=bare)
        assert asked.read_text().count("for-each-ref --sort=-committerdate") == 1, arguments


def test_outside_git_everything_is_seen(home: Path, tmp_path: Path) -> None:
    from hardwon.engine import opening

    engine = opening.create(str(tmp_path), str(home))
    engine.record(Draft("A fact"), SCOPE)
    with engine.store.read() as reader:
        assert sight(engine, reader) == EVERYTHING
    assert engine.refresh_branches().places == 0
    engine.close()


def test_the_quick_path_stays_light(story: Story) -> None:
    begin(story)
    feature(story, "f")
    story.on("main")
    code = (
        "import sys; from hardwon.doors import cli; cli.main(['recall', 'which word is main', '--block']); "
        "print(sorted({'subprocess', 'json', 'hashlib', 'tempfile', 'contextlib', 'threading'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; " + code],
        cwd=story.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


# The pure parts


def test_what_is_known_comes_back_from_its_text() -> None:
    known = places.Known(
        7, "ab" * 8, 9, (FIRST, SECOND), {f"{FIRST}:a/b": (FIRST, places.ALWAYS), f"{SECOND}:": (SECOND,)},
        {SECOND: FIRST}, {"a/b": (FIRST, SECOND)},
    )  # fmt: skip
    assert places.read(places.write(known)) == known
    assert places.read("") == places.NOTHING
    assert places.read("garbage\n\tx\nevent\tx\ty\tz") == places.NOTHING


def test_a_place_is_hidden_where_no_proof_holds() -> None:
    proofs = {"1:a": ("1",), "2:b": ("2", "3"), "4:": ("4",), "5:c": ("5", places.ALWAYS), "6:d": ()}
    assert places.hidden(proofs, {"1", "2", "4", "5"}, "a") == ("4:", "6:d")
    assert places.hidden(proofs, {"1", "2", "3", "4", "5"}, "") == ("1:a", "2:b", "4:", "6:d")


DIFF = b"""diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,5 @@
 context
+value = compute(request)
+other = compute(response)
+third = compute(session)
-value = nothing at all
"""


def test_patches_are_told_apart_by_lines_and_their_surroundings() -> None:
    one = parse(DIFF.splitlines())
    moved = parse(DIFF.replace(b"@@ -1,3", b"@@ -90,3").replace(b"1111111", b"3333333").splitlines())
    around = parse(DIFF.replace(b" context", b" otherwise").splitlines())
    other = parse(DIFF.replace(b"compute(session)", b"compute(nothing)").splitlines())
    elsewhere = parse(DIFF.replace(b"a.py", b"b.py").splitlines())
    small = parse(b"\n".join([*DIFF.splitlines()[:6], b"+}"]).splitlines())
    assert equal(one, moved)
    assert equal(one, around)
    assert not equal(one, other)
    assert shares(one, other)
    assert not equal(one, elsewhere)
    assert not shares(one, elsewhere)
    assert not equal(parse([]), parse([]))
    assert holds(one, one)
    assert not holds(other, one)
    assert not holds(one, small)
    assert not equal(small, parse(b"\n".join([*DIFF.splitlines()[:5], b" another", b"+}"]).splitlines()))


def test_a_log_tells_which_commits_were_made() -> None:
    made = [Entry(FIRST, SECOND, words).made for words in (
        "commit: x", "commit (amend): x", "commit (merge): x", "cherry-pick: x", "merge f: Merge made by the 'ort' strategy.",
        "rebase (pick): x", "revert: x", "am: x", "pull: Merge made by the 'ort' strategy.",
    )]  # fmt: skip
    assert all(made)
    moved = [Entry(FIRST, SECOND, words).made for words in (
        "checkout: moving from a to b", "reset: moving to HEAD~1", "merge f: Fast-forward", "pull: Fast-forward",
        "rebase (start): checkout main", "branch: Created from main", "clone: from x", f"rebase (finish): refs/heads/f onto {SECOND}",
    )]  # fmt: skip
    assert not any(moved)


def test_a_log_that_is_cut_or_no_log_tells_nothing(tmp_path: Path) -> None:
    assert entries(str(tmp_path / "none")) == []
    assert entries(str(tmp_path)) == []
    (tmp_path / "log").write_bytes(b"\0\xff\n" + b"x" * 100 + b"\n" + f"{FIRST} {SECOND} A <a> 1 +0000\tcommit: x\n".encode())
    assert [entry.new for entry in entries(str(tmp_path / "log"))] == [SECOND]
    assert made_since([], FIRST, (SECOND,)) == []
    assert made_since([Entry(FIRST, SECOND, "commit: x")], SECOND, (FIRST,)) == [SECOND, FIRST]
    assert made_since([Entry(FIRST, SECOND, "commit (amend): x")], SECOND, (FIRST,)) == []
