"""The examples of the help pages run as they stand: those of the verbs that read from elsewhere, run something, or wire clients in."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon.doors import pages
from hardwon.doors.verbs import BY_NAME
from hardwon.engine import opening
from hardwon.types import Draft, Origin, Scope
from tests.conftest import git
from tests.hostile import REPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

    Command = Callable[..., Result]

VERBS = ("hook", "mcp", "ingest", "run", "refresh", "share", "install", "uninstall", "doctor")
# Those that take over descriptors, or leave a process.
_PROCESSES = ("hook", "mcp", "run")
_RUNNERS = {"pytest": "echo '1 passed in 0.1s'", "mvn": "cp made.xml report.xml", "tox": "echo '1 passed in 0.1s'"}


@pytest.fixture
def payments(bare: Path, person: Path, home: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository `payments` as the examples have it: a memory of fifteen things, reports, a log, and runners on the PATH."""
    assert call("init", "--name", "payments", cwd=bare).code == 0
    engine = opening.open_engine(str(bare), str(home))
    for number in range(15):
        engine.record(Draft(f"rule number {number} of the house", "rule" if number % 2 else "decision"), Scope(Origin("person")))
    engine.close()
    for name in ("report.xml", "made.xml"):
        (bare / name).write_text(REPORT)
    (bare / "build.log").write_text("FAILED tests/test_a.py::test_it - AssertionError: 1\n1 failed in 0.1s\n")
    programs = person / "bin"
    programs.mkdir()
    for name, line in _RUNNERS.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    (person / ".codex").mkdir()  # a client that --all finds
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return bare


@pytest.mark.parametrize("verb", VERBS)
def test_every_example_runs(payments: Path, person: Path, call: Command, run: Command, verb: str) -> None:
    payload = {
        "session_id": "s",
        "cwd": str(payments),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "rule number 3 of the house",
    }
    for example in BY_NAME[verb].examples:
        words = shlex.split(example.replace("4f1e2a9c", git(payments, "rev-parse", "HEAD")))[1:]
        if verb in ("install", "uninstall") and not {"--yes", "--dry-run", "--write-plugin"}.intersection(words):
            words.append("--yes")  # instead of an answer at a terminal
        stdin = json.dumps(payload) if verb == "hook" else ""
        apart = verb in _PROCESSES or "--background" in words
        done = (run if apart else call)(*words, cwd=payments, stdin=stdin)
        assert done.code == 0, (example, done)
        assert "Traceback" not in done.err
        if verb == "hook":
            assert "of the house" in done.out


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_page_has_every_option_and_example(call: Command, tmp_path: Path, verb: str) -> None:
    page = pages.help_page(BY_NAME[verb])
    for spelling in ((verb, "--help"), ("help", verb), ("--json", verb, "-h")):
        done = call(*spelling, cwd=tmp_path)
        assert (done.code, done.out, done.err) == (0, page + "\n", ""), spelling
    assert all(example in page for example in BY_NAME[verb].examples)
    assert all(f"--{option.name}" in page for option in BY_NAME[verb].options)


# Completion


def completed(run: Command, cwd: Path, line: str) -> list[str]:
    asked = {"_HARDWON_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = run(env=asked, cwd=cwd)
    assert done.code == 0
    return [one.partition(",")[2] for one in done.out.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("hardwon inst", ["install"]),
        ("hardwon in", ["ingest", "init", "install"]),
        ("hardwon install curs", ["cursor"]),
        ("hardwon install g", ["gemini", "git", "goose"]),
        ("hardwon uninstall claude", ["claude-code"]),
        ("hardwon hook ope", ["opencode", "openhands"]),
        ("hardwon ingest j", ["junit"]),
        ("hardwon ingest transcripts --client c", ["claude-code", "codex"]),
        ("hardwon install --scope p", ["project"]),
        ("hardwon refresh --ba", ["--background"]),
        ("hardwon share --dry", ["--dry-run"]),
        ("hardwon doctor --js", ["--json"]),
        ("hardwon run --ju", ["--junit"]),
        ("hardwon bench ", ["vectors"]),
    ],
)
def test_the_shell_completes(run: Command, tmp_path: Path, line: str, offered: list[str]) -> None:
    assert sorted(completed(run, tmp_path, line)) == offered
