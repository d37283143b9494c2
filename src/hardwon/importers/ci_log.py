"""Logs of jobs of continuous integration: GitHub Actions and GitLab, as they are downloaded, or any other log. Which steps failed, which
tests, and with what.

Linear in what is read, which is bounded.
"""

from __future__ import annotations

import re

from hardwon.capture import results
from hardwon.capture.outcome import TestOutcome, cut, of_results, written
from hardwon.capture.routine import of_failure, of_text
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    Kind = Literal["github", "gitlab", "plain"]

LONGEST = 20_000_000  # bytes: the last of a longer log
_LINE = 4_000  # characters of a line
_NAME = 120
_MOST_STEPS = 500

_STAMP = r"\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z ?"
# `gh run view --log` puts job and step before each line, with tabs between.
_GITHUB = re.compile(rf"(?:([^\t\n]{{1,200}})\t([^\t\n]{{1,200}})\t)?{_STAMP}(.*)")
_GITLAB_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d\d[OE][ +]?")
_SECTION = re.compile(r"section_(start|end):\d{1,12}:([\w.-]{1,100})(?:\[[^\]\n]{0,200}\])?")
_ESCAPES = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]")
_COMMIT = re.compile(r"'?([0-9a-f]{40})'?$")
_CHECKED_OUT = re.compile(r"Checking out ([0-9a-f]{8,40}) as ")
_ENDED = re.compile(r"Process completed with exit code (\d{1,3})|The process '.{1,200}' failed with exit code (\d{1,3})")


class Step(Value):
    """A step that failed: its name, and what it said of that."""

    name: str
    said: str


class CiLog(Value):
    """``kind``: whose log it is; ``steps`` that failed; ``outcomes`` of tests, and of steps that failed otherwise; ``commit``: the one that
    the log says was checked out, "" where it says none."""

    kind: Kind
    steps: tuple[Step, ...]
    outcomes: tuple[TestOutcome, ...]
    commit: str = ""


class _Part:
    """The lines of one step. ``errors`` are what the runner itself says of its failure."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self.errors: list[str] = []


def read(text: str) -> CiLog:
    """What a log tells."""
    lines = [line[:_LINE] for line in text.split("\n")]
    kind: Kind = "github" if _is_github(lines) else "gitlab" if "section_start:" in text else "plain"
    parts = {"github": _github, "gitlab": _gitlab, "plain": _plain}[kind](lines)
    steps, outcomes = [], []
    for part in parts:
        found = _tests(part)
        outcomes += found
        if part.errors or (kind == "plain" and any(one.went == "failed" for one in found)):
            steps.append(Step(part.name, _said(part, found)))
        if part.errors and not any(one.went == "failed" for one in found):
            outcomes += _otherwise(part)
    return CiLog(kind, tuple(steps), _once(outcomes), _commit(parts))


def _is_github(lines: Sequence[str]) -> bool:
    some = [line for line in lines[:200] if line.strip()]
    return (
        bool(some) and sum(_GITHUB.match(line) is not None for line in some) * 2 > len(some) and not _GITLAB_STAMP.match(some[0])
    )


def _github(lines: Sequence[str]) -> list[_Part]:
    parts = [_Part("the job")]
    named = ""
    for line in lines:
        found = _GITHUB.match(line)
        job, step, said = (found[1] or "", found[2] or "", found[3]) if found else ("", "", line)
        told = f"{job}: {step}" if step and step != "UNKNOWN STEP" else ""
        if told and told != named and len(parts) < _MOST_STEPS:
            named = told
            parts.append(_Part(told[:_NAME]))
        said = said.rstrip("\r")
        if said.startswith("##[group]Run ") and not told and len(parts) < _MOST_STEPS:
            parts.append(_Part(said.removeprefix("##[group]Run ").strip()[:_NAME]))
        if said.startswith("##[error]"):
            parts[-1].errors.append(_bare(said.removeprefix("##[error]")))
        elif not said.startswith("##["):
            parts[-1].lines.append(_bare(said))
    return parts


def _gitlab(lines: Sequence[str]) -> list[_Part]:
    parts = [_Part("the job")]
    for raw in lines:
        for line in _sections(_GITLAB_STAMP.sub("", raw, count=1), parts):
            said = _bare(line)
            if said.startswith("ERROR: Job failed"):
                # Said behind the last section; what failed is the part with the script.
                script = next((part for part in parts if part.name in ("step_script", "build_script")), parts[-1])
                script.errors.append(said)
            elif said:
                parts[-1].lines.append(said)
    return parts


def _sections(line: str, parts: list[_Part]) -> Iterator[str]:
    """What is left of a line without the marks of sections, which begin and end parts."""
    place = 0
    for mark in _SECTION.finditer(line):
        yield line[place : mark.start()]
        if mark[1] == "start" and len(parts) < _MOST_STEPS:
            parts.append(_Part(mark[2][:_NAME]))
        place = mark.end()
    yield line[place:]


def _plain(lines: Sequence[str]) -> list[_Part]:
    part = _Part("the log")
    part.lines = [_bare(line) for line in lines]
    return [part]


def _bare(line: str) -> str:
    return _ESCAPES.sub("", line).replace("\r", "").rstrip()


def _tests(part: _Part) -> list[TestOutcome]:
    found = results.read("\n".join(part.lines))
    return list(of_results(found, of_failure)) if found else []


def _said(part: _Part, outcomes: Sequence[TestOutcome]) -> str:
    """What a step said of its failure: more than that its command ended, where there is more."""
    failed = [one for one in outcomes if one.went == "failed"]
    told = [error for error in part.errors if error and not _ENDED.search(error)]
    if told:
        return told[0][:300]
    if failed:
        return f"{failed[0].test}: {failed[0].said}"[:300]
    lines = [line.strip() for line in part.lines if line.strip()]
    return lines[-1][:300] if lines else next(iter(part.errors), "")


def _otherwise(part: _Part) -> list[TestOutcome]:
    """A step that failed without a test that did: a build, a check. Nothing where it failed for what is not the code's fault."""
    text = "\n".join((*part.lines, *part.errors))
    if of_text(text[-200_000:]):
        return []
    found = results.failure(text)
    if found is None or of_failure(found.kind, found.message):
        return []
    return [TestOutcome(part.name, "failed", found.file, found.kind, found.message, cut(written(found)))]


def _once(outcomes: Sequence[TestOutcome]) -> tuple[TestOutcome, ...]:
    """Each test once: a runner that is called for part after part may name it more than once; a failure counts."""
    found: dict[str, TestOutcome] = {}
    for one in outcomes:
        if one.test not in found or one.went == "failed":
            found[one.test] = one
    return tuple(found.values())


def _commit(parts: Sequence[_Part]) -> str:
    """The commit that was checked out: GitHub's action asks git for it, GitLab's runner says so."""
    for part in parts:
        for place, line in enumerate(part.lines):
            if "git log -1 --format=" in line and place + 1 < len(part.lines):
                found = _COMMIT.match(part.lines[place + 1].strip())
                if found:
                    return found[1]
            if line.startswith("Checking out ") and (told := _CHECKED_OUT.match(line)):
                return told[1]
    return ""
