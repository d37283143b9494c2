"""Logs of jobs as GitHub Actions and GitLab hand them out: which steps failed, which tests, and what is kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.capture.outcome import readable, written
from hardwon.capture.results import Failing
from hardwon.importers import ci_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result

SHA = "4f1e2a9c0d8b7a6f5e4d3c2b1a0f9e8d7c6b5a43"
_PYTEST = """\
============================= test session starts ==============================
collected 2 items

tests/test_money.py F.                                                   [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([{"price": 1}]) == 1

tests/test_money.py:7:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
src/money.py:2: in total
    return sum(item["prize"] for item in items)
E   KeyError: 'prize'

src/money.py:2: KeyError
=========================== short test summary info ============================
FAILED tests/test_money.py::test_total - KeyError: 'prize'
========================= 1 failed, 1 passed in 0.12s ==========================
"""


def stamped(lines: list[str]) -> str:
    return "\ufeff" + "\n".join(f"2026-11-01T10:00:{n % 60:02}.1234567Z {line}" for n, line in enumerate(lines)) + "\n"


def github(body: str = _PYTEST, *, error: str = "Process completed with exit code 1.") -> str:
    return stamped(
        [
            "Current runner version: '2.319.1'",
            "##[group]Operating System", "Ubuntu", "##[endgroup]",
            "##[group]Run actions/checkout@v4", "with:", "  repository: ann/shop", "##[endgroup]",
            "[command]/usr/bin/git log -1 --format=%H", f"'{SHA}'",
            "##[group]Run pip install -e .", "\x1b[36;1mpip install -e .\x1b[0m", "##[endgroup]", "Successfully installed shop-1.0",
            "##[group]Run pytest", "\x1b[36;1mpytest\x1b[0m", "shell: /usr/bin/bash -e {0}", "##[endgroup]",
            *body.splitlines(),
            *([f"##[error]{error}"] if error else []),
            "Post job cleanup.",
        ]
    )  # fmt: skip


def gitlab(body: str = _PYTEST) -> str:
    script = "\n".join(body.splitlines())
    return (
        "\x1b[0KRunning with gitlab-runner 17.0.0 (44feccdf)\x1b[0;m\n"
        "section_start:1761991200:get_sources\r\x1b[0K\x1b[0K\x1b[36;1mGetting source from Git repository\x1b[0;m\n"
        f"\x1b[32;1mChecking out {SHA[:8]} as detached HEAD (ref is main)...\x1b[0;m\n"
        "section_end:1761991203:get_sources\r\x1b[0K"
        'section_start:1761991203:step_script\r\x1b[0K\x1b[36;1mExecuting "step_script" stage of the job script\x1b[0;m\n'
        f"\x1b[32;1m$ pytest\x1b[0;m\n{script}\n"
        "section_end:1761991210:step_script\r\x1b[0K"
        "\x1b[31;1mERROR: Job failed: exit code 1\n\x1b[0;m\n"
    )


@pytest.mark.parametrize(
    ("log", "kind", "step"), [(github(), "github", "pytest"), (gitlab(), "gitlab", "step_script"), (_PYTEST, "plain", "the log")]
)
def test_the_failing_step_its_tests_and_what_they_said_are_told(log: str, kind: str, step: str) -> None:
    found = ci_log.read(log)
    assert found.kind == kind
    assert [one.name for one in found.steps] == [step]
    failed = [one for one in found.outcomes if one.went == "failed"]
    assert [(one.test, one.file, one.said) for one in failed] == [
        ("tests/test_money.py::test_total", "tests/test_money.py", "KeyError: 'prize'")
    ]
    assert "src/money.py" in failed[0].log
    assert SHA.startswith(found.commit)
    assert bool(found.commit) == (kind != "plain")


def test_a_log_of_all_jobs_keeps_their_steps_apart() -> None:
    lines = []
    for job, body, error in (("linux", _PYTEST, "##[error]Process completed with exit code 1."), ("mac", "2 passed in 0.1s", "")):
        told = [*body.splitlines(), *([error] if error else [])]
        lines += [f"{job}\tRun pytest\t2026-11-01T10:00:00.1234567Z {line}" for line in told]
    found = ci_log.read("\n".join(lines))
    assert [one.name for one in found.steps] == ["linux: Run pytest"]


def test_a_step_that_fails_without_tests_tells_its_error_and_one_of_the_network_nothing() -> None:
    go = "# example.org/shop\n./cart.go:12:9: undefined: totl\n"
    built = ci_log.read(github(go))
    assert [one.went for one in built.outcomes] == ["failed"]
    assert "undefined: totl" in built.outcomes[0].said
    network = ci_log.read(github("curl: (6) Could not resolve host: pypi.example.org\n"))
    assert len(network.steps) == 1
    assert network.outcomes == ()


def test_a_log_of_a_job_that_passed_has_no_failure() -> None:
    found = ci_log.read(github("collected 2 items\n\n====== 2 passed in 0.10s ======\n", error=""))
    assert found.steps == ()
    assert not [one for one in found.outcomes if one.went == "failed"]


def test_the_counts_are_those_of_the_runner_and_a_log_without_anything_is_told_as_such(
    project: Path, call: Callable[..., Result]
) -> None:
    assert ci_log.read(github()).counts == (1, 1)
    assert ci_log.read("collected 2 items\n\n====== 2 passed in 0.10s ======\n").counts == (2, 0)
    assert ci_log.read("hello\nworld\n").counts is None
    told = call("ingest", "log", "-", stdin="hello\nworld\n")
    assert (told.code, told.out.strip()) == (0, "no failed step and no report of tests was recognised in it")
    assert call("ingest", "log", "-", "--json", stdin="hello\nworld\n").data["recognised"] is False
    told = call("ingest", "log", "-", stdin=github("\n====== 2 passed in 0.10s ======\n", error=""))
    assert told.out.strip() == "2 passed, 0 failed"


_TSC = "src/app.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."


@pytest.mark.parametrize(
    ("commands", "tag"),
    [
        (("npm run build",), "build"), (("npx tsc --noEmit",), "types"), (("npm ci", "npm run lint"), "lint"),
        (("make everything",), "ci"), (("npm run lint", "npm run build"), "ci"),
    ],
)  # fmt: skip
def test_a_step_is_told_as_a_step_with_the_place_as_people_write_it(
    project: Path, call: Callable[..., Result], commands: tuple[str, ...], tag: str
) -> None:
    log = stamped(
        [
            f"##[group]Run {commands[0]}", *(f"\x1b[36;1m{command}\x1b[0m" for command in commands), "##[endgroup]", _TSC,
            "##[error]Process completed with exit code 2.", "Post job cleanup.", "tidied up",
        ]
    )  # fmt: skip
    said = call("ingest", "log", "-", stdin=log).out
    assert said.startswith(f"failed: {commands[0]}: TS2322: Type 'string'")
    (hit,) = call("recall", "--kind", "lesson", "--json").data["hits"]
    memory = hit["memory"]
    assert memory["tags"] == [tag]
    assert memory["detail"].splitlines() == [
        f"seen in the step {commands[0]}", "TS2322: Type 'string' is not assignable to type 'number'.", "src/app.ts:3",
    ]  # fmt: skip
    # What is kept for people is still known again.
    assert "seen before" in call("ingest", "log", "-", stdin=log + "more\n").out


def test_the_last_command_that_gitlab_names_is_the_one_that_failed() -> None:
    (failed,) = ci_log.read(gitlab(f"x\n\x1b[32;1m$ npm run lint\x1b[0m\n\x1b[32;1m$ npm run build\x1b[0m\n{_TSC}\n")).outcomes
    assert (failed.test, failed.step) == ("step_script", "build")


def test_a_trace_of_python_stays_as_python_writes_it_and_others_are_lines_of_places() -> None:
    failing = Failing("t", "KeyError", "'prize'", "", (("src/money.py", 2, "total"), ("src/shop.py", 9, "")))
    assert readable(written(failing)) == written(failing)
    other = failing.replace(frames=(("src/money.ts", 2, "total"), ("src/shop.ts", 9, "")))
    assert readable(written(other)) == "KeyError: 'prize'\nsrc/money.ts:2 in total\nsrc/shop.ts:9"
    for text in ("", "KeyError: x", "Traceback (most recent call last):\nno frame", "at a.b(C.java:3)"):
        assert readable(text) == text


@given(st.text(st.sampled_from(list("2026-11-01T:Z#[]error\t \n\r\x1bsection_start:0KEF%é")), max_size=400))
def test_any_text_is_a_log(text: str) -> None:
    ci_log.read(text)


def test_a_large_log_is_read_in_time_that_grows_with_it() -> None:
    # Not timed: a pattern that went back and forth would not come to an end here.
    line = "2026-11-01T10:00:00.1234567Z " + "section_start:1:" * 200 + "##[group]" * 100
    assert ci_log.read("\n".join([line] * 3_000)).kind == "github"


def test_the_command_records_a_failure_once_and_shows_what_mended_it(project: Path, call: Callable[..., Result]) -> None:
    (project / "build.log").write_text(github())
    first = call("ingest", "log", "build.log", "--json").data
    assert (first["failed"], first["failures"][0]["new"], first["steps"][0]["name"]) == (1, True, "pytest")
    assert call("ingest", "log", "build.log", "--json").data["again"] is True
    call("ok", "total", "the key is price: KeyError: 'prize'", "--file", "src/money.py")
    call(
        "record",
        "--kind",
        "lesson",
        "--outcome",
        "worked",
        "The feed calls it price\nKeyError: 'prize'",
        "--file",
        "src/money.py",
    )
    told = call("ingest", "log", "-", stdin=github() + "more\n")
    assert "failed: pytest: tests/test_money.py::test_total: KeyError: 'prize'" in told.out
    assert "fixed before" in told.out
    assert [
        hit["memory"]["seen"] for hit in call("recall", "--kind", "lesson", "--outcome", "failed", "--json").data["hits"]
    ] == [1]
