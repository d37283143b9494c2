"""Our block beside real managers of git's hooks: pre-commit, husky and lefthook, whichever comes first.

pre-commit comes with the extra `test`; husky and lefthook are fetched from npm once and kept in pytest's cache.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon.code import repo
from hardwon.engine import git_hooks
from tests.test_git_hooks import git, install, snapshot, told, uninstall

pytestmark = pytest.mark.slow

_CONFIG = """\
repos:
- repo: local
  hooks:
  - {id: own, name: own, entry: touch ran-own, language: system, always_run: true, pass_filenames: false,
     stages: [post-commit, post-merge, post-checkout, post-rewrite]}
"""


def run(where: Path, *words: str) -> None:
    environment = {
        **os.environ,
        "HOME": str(where.parent),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(words, cwd=where, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def packages(pytestconfig: pytest.Config) -> Path:
    """A node_modules with husky and lefthook."""
    folder = Path(pytestconfig.cache.mkdir("hook-managers"))
    if not (folder / "node_modules/.bin/lefthook").exists():
        if not shutil.which("npm"):
            pytest.skip("npm is not here")
        done = subprocess.run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "husky@9", "lefthook@2"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            pytest.skip("npm cannot fetch packages here")
    return folder / "node_modules"


def commit(where: Path) -> list[str]:
    before = len(told(where))
    run(where, "git", "-c", "commit.gpgsign=false", "commit", "--allow-empty", "-qm", "a change")
    return [line.split()[0] for line in told(where)[before:]]


# pre-commit


def pre_commit_install(where: Path, *more: str) -> None:
    pytest.importorskip("pre_commit")
    (where / ".pre-commit-config.yaml").write_text(_CONFIG)
    types = [word for hook in ("post-commit", "post-checkout") for word in ("--hook-type", hook)]
    run(where, sys.executable, "-m", "pre_commit", "install", *types, *more)


def both_ran(where: Path) -> bool:
    (where / "ran-own").unlink(missing_ok=True)
    return commit(where) == ["post-commit"] and (where / "ran-own").exists()


def test_pre_commit_after_us_keeps_us(bare: Path) -> None:
    install(bare)
    pre_commit_install(bare)
    assert both_ran(bare)
    uninstall(bare)
    assert commit(bare) == []
    assert not [path for path in (bare / ".git/hooks").iterdir() if b"hardwon" in path.read_bytes()]


def test_pre_commit_before_us_keeps_us_also_when_it_is_installed_again(bare: Path) -> None:
    pre_commit_install(bare)
    before = snapshot(bare / ".git/hooks")
    assert install(bare).manager == "pre-commit"
    assert both_ran(bare)
    pre_commit_install(bare)
    assert both_ran(bare)
    uninstall(bare)
    assert snapshot(bare / ".git/hooks") == before


def test_pre_commit_that_goes_leaves_us(bare: Path) -> None:
    pre_commit_install(bare)
    install(bare)
    run(bare, sys.executable, "-m", "pre_commit", "uninstall", "--hook-type", "post-commit", "--hook-type", "post-checkout")
    assert commit(bare) == ["post-commit"]
    uninstall(bare)
    assert not (bare / ".git/hooks/post-commit").exists()


# husky


def husky(where: Path, packages: Path) -> None:
    (where / "node_modules").symlink_to(packages)
    run(where, "node", "node_modules/husky/bin.js")


def test_husky_runs_us_from_its_own_files_and_its_next_install_keeps_them(bare: Path, packages: Path) -> None:
    husky(bare, packages)
    (bare / ".husky/post-commit").write_text("touch ran-own\n")
    plan = install(bare, "/opt/hardwon")
    assert (plan.manager, plan.tracked) == ("husky", True)
    assert both_ran(bare)
    run(bare, "node", "node_modules/husky/bin.js")
    assert both_ran(bare)
    uninstall(bare)
    assert (bare / ".husky/post-commit").read_text() == "touch ran-own\n"
    assert sorted(path.name for path in (bare / ".husky").iterdir()) == ["_", "post-commit"]


# lefthook


def test_lefthook_is_not_written_over_and_its_snippet_tells_us(bare: Path, packages: Path, tmp_path: Path) -> None:
    program = packages / ".bin/lefthook"
    (bare / "lefthook.yml").write_text("post-commit:\n  commands:\n    own:\n      run: touch ran-own\n")
    run(bare, "node", str(program), "install")
    before = snapshot(bare / ".git/hooks")
    plan = git_hooks.plan_install(repo.locate(str(bare)), "/opt/hardwon")
    assert plan.manager == "lefthook"
    assert all(file.refused and not file.changes for file in plan.files)
    git_hooks.carry_out(repo.locate(str(bare)), plan, install=True)
    assert snapshot(bare / ".git/hooks") == before
    # The snippet is understood by lefthook itself, and calls us.
    (bare / "lefthook-local.yml").write_text(plan.snippet + "\n")
    called = tmp_path / "bin"
    called.mkdir()
    (called / "hardwon").write_text('#!/bin/sh\necho "$@" >>"$CALLS"\n')
    (called / "hardwon").chmod(0o755)
    run(bare, "node", str(program), "install")
    environment = {**os.environ, "PATH": f"{called}:{packages / '.bin'}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls")}
    git(bare, "commit", "--allow-empty", "-qm", "one", env=environment)
    assert (tmp_path / "calls").read_text() == "refresh --background\n"
    assert (bare / "ran-own").exists()
