"""Git's hooks with real git: what is put into scripts and taken out again, what they tell, and that nothing waits for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.code import repo
from hardwon.code.hook_block import HOOKS, block, has_block, with_block, without_block
from hardwon.doors import background
from hardwon.engine import git_hooks
from hardwon.engine.opening import create
from hardwon.errors import InvalidInput
from hardwon.store import git_events
from hardwon.types import Filter
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

IDENTITY = ("-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main", "-c", "gc.auto=0")


def git(where: Path, *words: str, env: dict[str, str] | None = None, check: bool = True) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, *words], cwd=where, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    assert not check or done.returncode == 0, (words, done.stderr)
    return done.stdout.strip()


def install(where: Path, program: str = "") -> git_hooks.HookPlan:
    checkout = repo.locate(str(where))
    plan = git_hooks.plan_install(checkout, program)
    git_hooks.carry_out(checkout, plan, install=True)
    return plan


def uninstall(where: Path) -> git_hooks.HookPlan:
    checkout = repo.locate(str(where))
    plan = git_hooks.plan_uninstall(checkout)
    git_hooks.carry_out(checkout, plan, install=False)
    return plan


def told(where: Path) -> list[str]:
    place = Path(git_events.folder(repo.locate(str(where)))) / "events"
    return place.read_text().splitlines() if place.exists() else []


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


# The text of scripts

SCRIPTS = [
    b"",
    b"#!/bin/sh",
    b"#!/bin/sh\n",
    b"#!/bin/sh\nexit 0\n",
    b"#!/usr/bin/env bash\nset -euo pipefail\nexec true\n",
    b"#!/bin/sh\r\necho hello\r\n",
    b"echo without an interpreter",
    b"#! /bin/bash -e\n\n\n# a comment\nls\n\n",
    b"#!/usr/bin/env -S zsh -f\nprint hi\n",
    b"#!C:/Program Files/Git/bin/sh.exe\necho hi\n",
    "#!/bin/sh\n# größe\n".encode("latin-1"),
]


@pytest.mark.parametrize("content", SCRIPTS)
@pytest.mark.parametrize("hook", HOOKS)
def test_a_script_is_the_same_byte_for_byte_once_the_block_is_out(content: bytes, hook: str) -> None:
    with_it = with_block(content, block(hook, "/opt/hardwon"))
    assert has_block(with_it)
    assert without_block(with_it) == content
    assert with_block(with_it, block(hook, "/opt/hardwon")) == with_it


@given(st.binary(max_size=200).filter(lambda raw: b"\0" not in raw and b">>> hardwon" not in raw), st.booleans())
def test_any_script_is_given_back_as_it_was(body: bytes, headed: bool) -> None:
    content = b"#!/bin/sh\n" + body if headed else body
    if content.startswith(b"#!") and not headed:
        return
    assert without_block(with_block(content, block("post-commit"))) == content


def test_what_was_written_around_the_block_since_stays() -> None:
    content = with_block(b"#!/bin/sh\nfirst\n", block("post-merge", "/old/hardwon"))
    edited = content.replace(b"first\n", b"second\n") + b"third\n"
    assert without_block(edited) == b"#!/bin/sh\nsecond\nthird\n"
    renewed = with_block(edited, block("post-merge", "/new/hardwon"))
    assert b"/new/hardwon" in renewed
    assert b"/old/hardwon" not in renewed


def test_a_file_that_was_made_for_the_block_goes_with_it_unless_somebody_added_to_it() -> None:
    made = with_block(None, block("post-commit"))
    assert without_block(made) is None
    assert without_block(made + b"echo mine\n") == b"#!/bin/sh\necho mine\n"
    assert without_block(with_block(b"#!/bin/sh\n", block("post-commit"))) == b"#!/bin/sh\n"


@pytest.mark.parametrize("content", [b"#!/usr/bin/env python3\nprint()\n", b"#!/usr/bin/node\n", b"\x7fELF\0\0", b"#!\n"])
def test_what_no_shell_reads_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        with_block(content, block("post-commit"))


def test_a_block_that_lost_its_end_is_not_guessed_at() -> None:
    with pytest.raises(InvalidInput, match="last line"):
        without_block(with_block(None, block("post-commit")).replace(b"# <<< hardwon <<<\n", b""))


# On the disk, with git


def test_hooks_tell_of_commits_merges_rewrites_and_branches(bare: Path) -> None:
    install(bare)
    git(bare, "commit", "--allow-empty", "-qm", "one")
    git(bare, "commit", "--amend", "--allow-empty", "-qm", "one again")
    git(bare, "checkout", "-qb", "side")
    (bare / "new.txt").write_text("x")
    git(bare, "add", ".")
    git(bare, "commit", "-qm", "two")
    git(bare, "checkout", "-q", "main")
    git(bare, "checkout", "-q", "--", "src/db.py")  # a file: nothing moves
    git(bare, "merge", "-q", "--no-ff", "side", "-m", "merged")
    words = [line.split()[0] for line in told(bare)]
    assert words == [
        "post-commit", "post-commit", "post-rewrite", "post-checkout", "post-commit", "post-checkout", "post-merge",
    ]  # fmt: skip
    assert git(bare, "status", "--porcelain") == ""


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 0\n", "#!/bin/bash -eu\nexec cat\n", "#!/bin/sh -e\nfalse\n"])
def test_a_script_that_ends_itself_runs_as_before_and_we_are_told(bare: Path, script: str) -> None:
    hook = bare / ".git/hooks/post-commit"
    hook.write_text(script)
    hook.chmod(0o755)
    install(bare)
    git(bare, "commit", "--allow-empty", "-qm", "one")
    assert [line.split()[0] for line in told(bare)] == ["post-commit"]


def test_the_arguments_and_the_input_of_a_rewrite_still_reach_the_script_behind(bare: Path) -> None:
    hook = bare / ".git/hooks/post-rewrite"
    hook.write_text('#!/bin/sh\necho "$1" >seen\ncat >>seen\n')
    hook.chmod(0o755)
    install(bare)
    before = git(bare, "rev-parse", "HEAD")
    git(bare, "commit", "--amend", "--allow-empty", "-qm", "other words")
    assert (bare / "seen").read_text().split() == ["amend", before, git(bare, "rev-parse", "HEAD")]


def test_install_twice_is_install_once_and_uninstall_leaves_what_was_there(bare: Path) -> None:
    hooks = bare / ".git/hooks"
    (hooks / "post-commit").write_bytes(b"#!/bin/sh\necho mine")
    (hooks / "post-commit").chmod(0o750)
    (hooks / "post-merge").write_bytes(b"#!/bin/sh\nexit 0\n")
    (hooks / "post-merge").chmod(0o755)
    before = snapshot(bare)
    install(bare)
    once = snapshot(bare)
    assert all(not file.changes for file in install(bare).files)
    assert snapshot(bare) == once
    assert once[".git/hooks/post-commit"][1] == before[".git/hooks/post-commit"][1]
    git(bare, "commit", "--allow-empty", "-qm", "one")
    assert told(bare)
    uninstall(bare)
    after = snapshot(bare)
    assert {name: after[name] for name in before if "/hooks/" in name} == {n: before[n] for n in before if "/hooks/" in n}
    assert not (bare / ".git/hardwon").exists()
    assert not (hooks / "post-checkout").exists()


def test_what_cannot_be_edited_is_refused_and_the_others_are_not(bare: Path) -> None:
    hooks = bare / ".git/hooks"
    (hooks / "post-commit").write_text("#!/usr/bin/env python3\n")
    (hooks / "post-merge").symlink_to("/bin/true")
    (hooks / "post-rewrite").write_text("#!/bin/sh\n")
    (hooks / "post-rewrite").chmod(0o644)
    refused = {file.hook: file.refused for file in install(bare).files}
    assert "python3" in refused["post-commit"]
    assert refused["post-merge"]
    assert "executable" in refused["post-rewrite"]
    assert not refused["post-checkout"]
    assert (hooks / "post-commit").read_text() == "#!/usr/bin/env python3\n"
    assert (hooks / "post-merge").is_symlink()


def test_hooks_of_a_folder_of_the_working_tree_name_no_path_of_this_machine(bare: Path) -> None:
    git(bare, "config", "core.hooksPath", ".githooks")
    plan = install(bare, "/opt/somewhere/hardwon")
    assert plan.tracked
    assert b"/opt/somewhere" not in (bare / ".githooks/post-commit").read_bytes()
    git(bare, "commit", "--allow-empty", "-qm", "one")
    assert told(bare)
    clone = bare.parent / "clone"
    git(bare, "add", ".githooks")
    git(bare, "commit", "-qm", "hooks")
    git(bare.parent, "clone", "-q", str(bare), str(clone))
    git(clone, "config", "core.hooksPath", ".githooks")
    git(clone, "commit", "--allow-empty", "-qm", "in a clone without a memory")
    assert not (clone / ".git/hardwon").exists()
    assert git(clone, "status", "--porcelain") == ""


def test_hooks_that_are_turned_off_are_told(bare: Path) -> None:
    git(bare, "config", "core.hooksPath", "/dev/null")
    with pytest.raises(InvalidInput, match="turned off"):
        git_hooks.plan_install(repo.locate(str(bare)), "")


def test_hooks_of_all_repositories_say_so(bare: Path, tmp_path: Path) -> None:
    git(bare, "config", "core.hooksPath", str(tmp_path / "global"))
    assert install(bare).shared
    uninstall(bare)
    assert not list((tmp_path / "global").iterdir())


def test_worktrees_and_submodules_tell_their_own_repository(bare: Path, tmp_path: Path) -> None:
    install(bare)
    git(bare, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    assert told(bare)[-1].startswith("post-checkout 0000")
    count = len(told(bare))
    git(tmp_path / "tree", "commit", "--allow-empty", "-qm", "from the tree")
    assert len(told(bare)) == count + 1
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(bare), "inner")
    install(top / "inner")
    git(top / "inner", "commit", "--allow-empty", "-qm", "in the submodule")
    assert [line.split()[0] for line in told(top / "inner")] == ["post-commit"]
    assert not told(top)


def test_a_repository_whose_git_folder_lies_elsewhere_is_told(tmp_path: Path) -> None:
    tree = tmp_path / "with space"
    tree.mkdir()
    git(tree, "init", "-q", f"--separate-git-dir={tmp_path / 'data dir'}")
    install(tree)
    git(tree, "commit", "--allow-empty", "-qm", "one")
    assert told(tree)


def test_every_commit_of_a_rebase_is_told_and_the_rebase_succeeds(bare: Path) -> None:
    install(bare)
    git(bare, "checkout", "-qb", "side", "HEAD~2")
    for number in range(3):
        (bare / f"{number}.txt").write_text("x")
        git(bare, "add", ".")
        git(bare, "commit", "-qm", f"side {number}")
    git(bare, "rebase", "-q", "main")
    assert told(bare)[-1].startswith("post-rewrite rebase")


# By the command


def test_the_command_installs_shows_and_takes_out(project: Path, call: Callable[..., Result]) -> None:
    assert call("install", "git", "--dry-run").out.endswith("nothing was written\n")
    dry = call("install", "git", "--dry-run", "--json")
    assert dry.code == 0, dry
    assert {one["action"] for one in dry.data["files"]} == {"created"}
    assert not (project / ".git/hardwon").exists()
    assert call("install", "git", "--json").error["field"] == "yes"
    assert not (project / ".git/hardwon").exists()
    assert call("install", "git", "--yes").code == 0
    git(project, "commit", "--allow-empty", "-qm", "seen by nobody")
    assert told(project)
    assert call("refresh").code == 0
    assert not git_events.waiting(repo.locate(str(project)))
    assert call("uninstall", "git", "--json").error["field"] == "yes"
    assert call("uninstall", "git", "-y").code == 0
    assert not (project / ".git/hooks/post-commit").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "wired"), [("y", True), ("n", False), ("", False)])
def test_a_person_at_a_terminal_is_asked_once_by_init(
    bare: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, answer: str, wired: bool
) -> None:
    from hardwon.doors import handle

    asked: list[str] = []
    monkeypatch.setattr(handle.Call, "can_ask", lambda self: True)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or answer)
    done = call("init", cwd=bare)
    assert done.code == 0, done
    assert len([question for question in asked if "git's hooks" in question]) == 1
    assert (bare / ".git/hooks/post-commit").exists() == wired
    assert ("later: hardwon install git" in done.out) != wired
    before = len(asked)
    call("init", "--json", cwd=bare)
    assert len([question for question in asked[before:] if "git's hooks" in question]) == 0


def test_what_was_told_waits_where_the_work_fails(
    project: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardwon.engine import indexing
    from hardwon.errors import GitFailed

    install(project)
    git(project, "commit", "--allow-empty", "-qm", "one")

    def fail(*_: Any, **__: Any) -> None:
        raise GitFailed("git: it refuses", remedy="mend it")

    with monkeypatch.context() as patch:
        patch.setattr(indexing, "refresh", fail)
        assert call("refresh").code == 1
    assert git_events.waiting(repo.locate(str(project)))
    assert call("refresh").code == 0
    assert not git_events.waiting(repo.locate(str(project)))


def test_documents_follow_a_refresh_where_they_were_read_before(project: Path, call: Callable[..., Result]) -> None:
    (project / "README.md").write_text("# Shop\n\nSessions live in Redis, for cookies were too large.\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "A README")
    assert call("refresh", "--json").data["derived"] == {}
    assert call("ingest", "docs").code == 0
    (project / "README.md").write_text("# Shop\n\nSessions live in Valkey, for the licence changed.\n")
    git(project, "commit", "-qam", "Another store")
    assert call("refresh", "--json").data["derived"]["docs"]["changed"] == 1


# In the background


def processes_of(home: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes()
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"HARDWON_HOME={home}".encode() in variables and b"refresh" in words:
                found.append(int(entry.name))
    return found


def known(where: Path, home: Path) -> set[str]:
    engine = create(str(where), str(home))
    try:
        with engine.store.read() as reader:
            return reader.known_commits()
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_a_commit_starts_one_process_that_reads_it_and_ends_and_holds_nothing_of_git(project: Path, home: Path) -> None:
    install(project, str(Path(sys.executable).with_name("hardwon")))
    environment = {**os.environ, "HARDWON_BACKGROUND": "on"}
    for number in range(5):
        # The end of a pipe of the caller's is waited for: whoever held it would hold up the commit.
        done = subprocess.run(
            ["git", *IDENTITY, "commit", "--allow-empty", "-qm", f"number {number}"], cwd=project, env=environment, capture_output=True,
            timeout=60, check=True,
        )  # fmt: skip
        assert done.stdout == done.stderr == b""
    head = git(project, "rev-parse", "HEAD")
    assert wait_for(lambda: head in known(project, home))
    assert wait_for(lambda: not processes_of(home))
    assert not git_events.waiting(repo.locate(str(project)))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_refresh_soon_starts_one_process_only_where_something_is_behind(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardwon.settings import load

    engine = create(str(project), str(home))
    try:
        assert not background.refresh_soon(engine, load())  # turned off
        monkeypatch.setenv("HARDWON_BACKGROUND", "on")
        assert not background.refresh_soon(engine, load())  # nothing is behind
        git(project, "commit", "--allow-empty", "-qm", "one")
        assert background.refresh_soon(engine, load())
        assert wait_for(lambda: git(project, "rev-parse", "HEAD") in known(project, home))
        assert wait_for(lambda: not processes_of(home))
        git(project, "commit", "--allow-empty", "-qm", "two")
        assert not background.refresh_soon(engine, load())  # one began just now
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_the_start_of_a_session_leaves_a_process_that_reads_what_is_new_and_ends(
    project: Path, home: Path, run: Callable[..., Result]
) -> None:
    git(project, "commit", "--allow-empty", "-qm", "while nobody looked")
    payload = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(project), "source": "startup"}
    done = run("hook", "claude-code", stdin=json.dumps(payload), env={"HARDWON_BACKGROUND": "on", "HARDWON_HOOK_MS": "20000"})
    assert done.code == 0, done
    assert wait_for(lambda: git(project, "rev-parse", "HEAD") in known(project, home))
    assert wait_for(lambda: not processes_of(home))


@pytest.mark.parametrize(
    ("variables", "starts"),
    [
        ({}, True),
        ({"HARDWON_BACKGROUND": "off"}, False),
        ({"CI": "true"}, False),
        ({"CI": "true", "HARDWON_BACKGROUND": "on"}, True),
        ({"CI": "", "HARDWON_BACKGROUND": ""}, True),
    ],
)
def test_a_hook_starts_a_process_where_the_settings_say_so(
    bare: Path, tmp_path: Path, variables: dict[str, str], starts: bool
) -> None:
    from hardwon.settings import load

    program, sign = tmp_path / "program", tmp_path / "started"
    program.write_text(f'#!/bin/sh\necho "$*" >"{sign}"\n')
    program.chmod(0o755)
    install(bare, str(program))
    environment = {name: value for name, value in os.environ.items() if name != "HARDWON_BACKGROUND"} | variables
    subprocess.run(["git", *IDENTITY, "commit", "--allow-empty", "-qm", "one"], cwd=bare, env=environment, check=True)
    assert load({"HARDWON_HOME": "/x", **variables}).background is starts
    assert wait_for(sign.exists, 60 if starts else 0.5) is starts
    assert told(bare) == ["post-commit "]


def test_in_ci_nothing_is_left_behind() -> None:
    from hardwon.settings import load

    assert load({"HARDWON_HOME": "/x", "CI": "true"}).background is False
    assert load({"HARDWON_HOME": "/x", "CI": "true", "HARDWON_BACKGROUND": "on"}).background is True
    assert load({"HARDWON_HOME": "/x"}).background is True


def test_a_failure_in_the_background_is_told_by_status(
    project: Path, home: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardwon.engine import indexing
    from hardwon.errors import GitFailed

    def fail(*_: Any, **__: Any) -> None:
        raise GitFailed("git: it refuses", remedy="mend it")

    monkeypatch.setattr(background, "detach", lambda: True)
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "refresh", fail)
        assert call("refresh", "--background").code == 1
    assert any("it refuses" in one["what"] for one in call("status", "--json").data["findings"])
    assert call("refresh").code == 0
    assert not any("it refuses" in one["what"] for one in call("status", "--json").data["findings"])


# The same by either way

ACTIONS = st.lists(
    st.sampled_from(["commit", "commit", "amend", "branch", "switch", "merge", "squash", "rebase", "revert", "reset", "refresh"]),
    min_size=3,
    max_size=12,
)


class History:
    """Random work in a real repository."""

    def __init__(self, where: Path) -> None:
        self.where, self.count, self.branches = where, 0, ["main"]
        where.mkdir()
        git(where, "init", "-q", "-b", "main")
        self.commit()

    def git(self, *words: str) -> bool:
        self.count += 1
        at = f"{1_700_000_000 + 60 * self.count} +0000"
        done = subprocess.run(
            ["git", *IDENTITY, *words], cwd=self.where, capture_output=True, check=False,
            env={**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_EDITOR": "true"},
        )  # fmt: skip
        return done.returncode == 0

    def commit(self) -> None:
        self.count += 1
        (self.where / f"file{self.count % 5}_{self.count}.py").write_text(f"def f{self.count}():\n    return {self.count}\n")
        self.git("add", ".")
        self.git("commit", "-qm", f"Change number {self.count}", "-m", f"Because of reason {self.count}.")

    def do(self, action: str) -> None:
        other = self.branches[self.count % len(self.branches)]
        if action == "commit":
            self.commit()
        elif action == "amend":
            self.git("commit", "--amend", "-qm", f"Amended {self.count}")
        elif action == "branch":
            self.branches.append(f"b{len(self.branches)}")
            self.git("checkout", "-qb", self.branches[-1])
        elif action == "switch":
            self.git("checkout", "-q", other)
        elif action == "merge":
            self.git("merge", "-q", "--no-ff", "--no-edit", other) or self.git("merge", "--abort")
        elif action == "squash":
            self.git("merge", "-q", "--squash", other) and self.git("commit", "-qm", f"Squashed {other} (#{self.count})")
        elif action == "rebase":
            self.git("rebase", "-q", other) or self.git("rebase", "--abort")
        elif action == "revert":
            self.git("revert", "--no-edit", "HEAD") or self.git("revert", "--abort")
        elif action == "reset":
            self.git("reset", "-q", "--hard", "HEAD~1")


def content(where: Path, home: str) -> list[dict[str, Any]]:
    engine = create(str(where), home)
    try:
        with engine.store.read() as reader:
            memories = reader.find(Filter(), -1)
        rows = [{k: v for k, v in vars(one).items() if k not in ("id", "branch", "updated_at", "version")} for one in memories]
        return sorted(rows, key=lambda row: row["commit"])
    finally:
        engine.close()


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS)
def test_the_store_is_the_same_with_hooks_and_without(actions: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("either")
    history = History(folder / "repo")
    with_hooks, without = str(folder / "hooks"), str(folder / "plain")
    engine = create(str(folder / "repo"), with_hooks)
    install(folder / "repo")
    try:
        for action in [*actions, "commit"]:
            if action == "refresh":
                engine.refresh()
            else:
                history.do(action)
        assert git_events.waiting(engine.home.checkout)
        # History is read from what is checked out: all branches have been at the end, so that both ways have seen all that is left.
        for branch in history.branches:
            history.git("checkout", "-q", branch)
            engine.refresh()
        assert not git_events.waiting(engine.home.checkout)
    finally:
        engine.close()
    plain = create(str(folder / "repo"), without)
    try:
        for branch in history.branches:
            git(folder / "repo", "-c", f"core.hooksPath={os.devnull}", "checkout", "-q", branch)
            plain.ingest_history()
    finally:
        plain.close()
    assert content(folder / "repo", with_hooks) == content(folder / "repo", without)


# One at a time, anywhere


def test_who_comes_second_leaves_it_to_the_first(project: Path, home: Path, call: Callable[..., Result]) -> None:
    install(project)
    git(project, "commit", "--allow-empty", "-qm", "one")
    engine = create(str(project), str(home))
    try:
        line = engine.store.queue("refresh")
        line.acquire(0)
        try:
            done = call("refresh", "--json")
            assert (done.code, done.data["rounds"]) == (0, 0)
            assert git_events.waiting(engine.home.checkout)
        finally:
            line.release()
    finally:
        engine.close()
    assert call("refresh", "--json").data["history"]["added"] == 1


def test_outside_git_and_by_name_there_is_nothing_of_git_to_do(
    project: Path, tmp_path: Path, call: Callable[..., Result]
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def f():\n    return 1\n")
    assert call("init", "--name", "notes", cwd=plain).code == 0
    assert call("refresh", "--json", cwd=plain).data["code"]["files"] == 1
    assert call("install", "git", cwd=plain).code == 2
    assert call("refresh", "-p", "shop", "--json", cwd=plain).code == 0
