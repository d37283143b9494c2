"""The state of a working tree, told as a commit and edits; what changed between two; and which branch is the repository's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.code import edits, repo
from hardwon.code.default_branch import Branch, contained, default_branch
from hardwon.code.edits import WorkingTree
from hardwon.code.symbols import outline
from hardwon.code.touched import differing, fingerprints, touches
from tests.gitmaker import GitRepo

if TYPE_CHECKING:
    from collections.abc import Callable


def state(made: GitRepo) -> WorkingTree:
    return edits.working_tree(repo.locate(made.path))


@pytest.fixture
def shop(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "shop")
    made.commit("Begin", {"a.py": "a = 1\n", "b.py": "b = 1\n", ".gitignore": "*.log\n"})
    return made


def test_a_clean_tree_is_its_commit(shop: GitRepo) -> None:
    assert state(shop) == WorkingTree(shop.head())
    assert state(shop).name == shop.head()


def test_edits_are_what_differs_from_the_commit_whether_staged_or_not(shop: GitRepo) -> None:
    shop.write({"a.py": "a = 2\n", "b.py": None, "new.py": "n\n", "seen.log": "ignored\n"})
    shop.git("add", "a.py")
    first = state(shop)
    assert [path for path, _ in first.edits] == ["a.py", "b.py", "new.py"]
    assert dict(first.edits)["b.py"] == ""
    assert dict(first.edits)["a.py"] == shop.git("hash-object", "a.py")
    shop.git("add", "-A")
    assert state(shop) == first
    assert first.name != shop.head() and first.name.startswith(shop.head() + "+")


def test_a_file_that_was_only_touched_is_no_edit(shop: GitRepo) -> None:
    os.utime(Path(shop.path) / "a.py", (1, 1))
    assert state(shop).edits == ()


def test_links_and_odd_names_are_files_like_others(shop: GitRepo) -> None:
    os.symlink("nowhere", Path(shop.path) / "link")
    shop.write({"with space.py": "x\n", "ünïcode.py": "x\n", "new\nline.py": "x\n"})
    assert [path for path, _ in state(shop).edits] == ["link", "new\nline.py", "with space.py", "ünïcode.py"]


def test_nothing_is_told_without_a_commit_outside_git_and_of_a_tree_gone_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state(GitRepo(tmp_path / "empty")) == WorkingTree()
    (tmp_path / "plain").mkdir()
    assert edits.working_tree(repo.locate(str(tmp_path / "plain"))) == WorkingTree()
    made = GitRepo(tmp_path / "many")
    made.commit("Begin")
    made.write({f"f{number}": "x" for number in range(5)})
    monkeypatch.setattr(edits, "MOST", 4)
    assert state(made) == WorkingTree()


def test_changes_between_states_go_over_commits_and_edits(shop: GitRepo) -> None:
    begun = state(shop)
    shop.write({"a.py": "a = 2\n", "new.py": "n\n"})
    edited = state(shop)
    assert edits.changed(shop.path, begun, edited).keys() == {"a.py", "new.py"}
    shop.commit("Keep", {"a.py": "a = 2\n", "new.py": "n\n"})
    assert edits.changed(shop.path, edited, state(shop)) == {}
    shop.write({"a.py": "a = 1\n"})
    assert edits.changed(shop.path, begun, state(shop)).keys() == {"new.py"}
    shop.write({"b.py": None})
    assert edits.changed(shop.path, begun, state(shop))["b.py"][1] == ""
    assert edits.changed(shop.path, WorkingTree("0" * 40), begun) is None


WRITES = st.lists(
    st.tuples(st.sampled_from(["a.py", "b.py", "c d.py"]), st.sampled_from(["1", "2", None]), st.booleans()), max_size=6
)


@settings(max_examples=8, deadline=None, suppress_health_check=(HealthCheck.too_slow,))
@given(first=WRITES, then=WRITES)
def test_what_changed_is_what_a_plain_look_at_the_files_says(
    first: list[tuple[str, str | None, bool]], then: list[tuple[str, str | None, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = GitRepo(tmp_path_factory.mktemp("looked") / "r")
    made.commit("Begin", {"a.py": "0", "b.py": "0"})
    seen = []
    for moves in (first, then):
        for name, text, commit in moves:
            path = Path(made.path) / name
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text)
            if commit:
                made.git("add", "-A")
                made.commit("Go on")
        files = {path.name: path.read_text() for path in Path(made.path).iterdir() if path.is_file()}
        seen.append((state(made), files))
    (before, old), (after, new) = seen
    changed = edits.changed(made.path, before, after)
    assert changed is not None
    assert set(changed) == {name for name in {*old, *new} if old.get(name) != new.get(name)}


# What a change touches


def test_a_change_touches_the_symbols_whose_code_is_other() -> None:
    before = fingerprints("a.py", b"def f():\n    return 1\n\n\nclass A:\n    def g(self):\n        return 2\n", outline)
    after = fingerprints(
        "a.py", b"# why\ndef f():\n\n    return  1  # one\n\n\nclass A:\n    def g(self):\n        return 3\n", outline
    )
    changed = differing(before, after)
    assert changed is not None and "f" not in changed and {"A", "A.g"} <= {*changed}
    assert [touches(one, changed) for one in ("g", "A.g", "A", "f", "nowhere", "")] == [True, True, True, False, False, True]


def test_where_symbols_are_not_known_the_file_has_to_do() -> None:
    assert fingerprints("notes.txt", b"x", outline) is None
    assert fingerprints("a.py", None, outline) == {}
    assert differing(None, {}) is None and touches("anything", None)
    assert differing({}, fingerprints("a.py", b"def f(): pass\n", outline)) == ["f"]


# The default branch


def found(made: GitRepo) -> Branch | None:
    return default_branch(repo.locate(made.path))


def remote(made: GitRepo, **branches: str) -> None:
    made.git("remote", "add", "origin", "https://example.org/shop.git")
    for name, sha in branches.items():
        made.git("update-ref", f"refs/remotes/origin/{name}", sha)


def _telling(made: GitRepo, name: str = "devel") -> None:
    remote(made, devel=made.head())
    _tell(made, name)


def _tell(made: GitRepo, name: str) -> None:
    made.git("symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{name}")


@pytest.mark.parametrize(
    ("situation", "make", "expected"),
    [
        ("no remote: main", lambda made: made.branch("topic"), "main"),
        ("no remote, two of the usual names", lambda made: made.git("branch", "master"), None),
        ("no remote, none of the usual names", lambda made: made.git("branch", "-m", "main", "devel"), "devel"),
        ("two of the usual names, and neither checked out", lambda made: (made.git("branch", "master"), made.branch("topic")), None),
        ("two of the usual names at the remote", lambda made: remote(made, main=made.head(), trunk=made.head()), None),
        ("the remote tells", _telling, "devel"),
        ("the remote tells, in one file", lambda made: (_telling(made), made.git("pack-refs", "--all")), "devel"),
        ("the remote does not tell, but has main", lambda made: remote(made, main=made.head(), topic=made.head()), "main"),
        ("the remote tells of a branch that is not here", lambda made: (remote(made), _tell(made, "devel")), None),
        ("a remote, and no usual name anywhere", lambda made: (_telling(made, "x"), made.git("branch", "-m", "main", "devel")), None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_the_default_branch(shop: GitRepo, situation: str, make: Callable[[GitRepo], object], expected: str | None) -> None:
    make(shop)
    branch = found(shop)
    assert (branch and branch.name) == expected, situation
    assert branch is None or branch.tip == shop.made[0]


def test_no_git_and_no_commit_have_no_default_branch(tmp_path: Path) -> None:
    assert found(GitRepo(tmp_path / "empty")) is None
    (tmp_path / "plain").mkdir()
    assert default_branch(repo.locate(str(tmp_path / "plain"))) is None


def test_a_worktree_has_the_default_branch_of_its_repository(shop: GitRepo, tmp_path: Path) -> None:
    shop.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "beside"))
    assert default_branch(repo.locate(str(tmp_path / "beside"))) == Branch("main", shop.head())


def test_contained_are_those_in_the_past_of_a_commit(shop: GitRepo) -> None:
    first = shop.head()
    second = shop.commit("More", {"a.py": "a = 2\n"})
    shop.branch("topic")
    third = shop.commit("Elsewhere", {"a.py": "a = 3\n"})
    absent = "1" * 40
    assert contained(shop.path, second, [first, second, third, absent]) == {first, second}
    assert contained(shop.path, third, [first, third]) == {first, third}
    assert contained(shop.path, second, []) == set()
    assert contained(shop.path, absent, [first]) is None
