"""Logs of jobs of continuous integration: GitHub Actions and GitLab, as they are downloaded, or any other log. Which steps failed, which
tests, and with what.

Linear in what is read, which is bounded.
"""

from __future__ import annotations

import re

from hardwon.capture import results
from hardwon.capture.commands import works
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
_CHECKS = {"build", "types", "lint", "test"}
_UNKNOWN = "ci"
_MOST_STEPS = 500

_STAMP = r"\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z ?"
# `gh run view --log` puts job and step before each line, with tabs between.
_GITHUB = re.compile(rf"(?:([^\t\n]{{1,200}})\t([^\t\n]{{1,200}})\t)?{_STAMP}(.*)")
_GITLAB_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d\d[OE][ +]?")
_SECTION = re.compile(r"section_(start|end):\d{1,12}:([\w.-]{1,100})(?:\[[^\]\n]{0,200}\])?")
_AFTER = "Post job cleanup."  # what GitHub says before what the steps leave behind is tidied up
_SCRIPT = "\x1b[36;1m"  # how GitHub writes the lines of a step's script
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
    the log says was checked out, "" where it says none; ``counts``: how many passed and failed, None where no test run was recognised and
    no step that failed otherwise told why."""

    kind: Kind
    steps: tuple[Step, ...]
    outcomes: tuple[TestOutcome, ...]
    commit: str = ""
    counts: tuple[int, int] | None = None


class _Part:
    """The lines of one step. ``commands``: what it ran, as far as the log tells; ``errors`` are what the runner itself says of its
    failure."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.commands: list[str] = []
        self.lines: list[str] = []
        self.errors: list[str] = []


def read(text: str) -> CiLog:
    """What a log tells."""
    lines = [line[:_LINE] for line in text.split("\n")]
    kind: Kind = "github" if _is_github(lines) else "gitlab" if "section_start:" in text else "plain"
    parts = {"github": _github, "gitlab": _gitlab, "plain": _plain}[kind](lines)
    steps, outcomes = [], []
    told = passed = failed = 0
    for part in parts:
        run = results.read("\n".join(part.lines))
        found = list(of_results(run, of_failure)) if run else []
        outcomes += found
        if run:
            told += 1
            passed += max(run.passed, len(run.passing))
            failed += run.failed
        red = any(one.went == "failed" for one in found)
        other = _otherwise(part) if part.errors and not red else []
        if part.errors or (kind == "plain" and red):
            steps.append(Step(part.name, _said(part, [*found, *other])))
        outcomes += other
        told += len(other)
        failed += len(other) if not (run and run.failed) else 0
    return CiLog(kind, tuple(steps), _once(outcomes), _commit(parts), (passed, failed) if told else None)


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
        if said == _AFTER and not told and len(parts) < _MOST_STEPS:
            parts.append(_Part(_AFTER.rstrip(".")))
        if said.startswith("##[group]Run "):
            command = said.removeprefix("##[group]Run ").strip()
            if not told and len(parts) < _MOST_STEPS:
                parts.append(_Part(command[:_NAME]))
            parts[-1].commands.append(command)
        elif said.startswith(_SCRIPT):
            parts[-1].commands.append(_bare(said))
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
                if said.startswith("$ "):
                    parts[-1].commands = [said[2:]]  # said as each begins, so that the last one failed
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


def _said(part: _Part, outcomes: Sequence[TestOutcome]) -> str:
    """What a step said of its failure: more than that its command ended, where there is more."""
    failed = [one for one in outcomes if one.went == "failed"]
    told = [error for error in part.errors if error and not _ENDED.search(error)]
    if told:
        return told[0][:300]
    if failed:
        return (failed[0].said if failed[0].step else f"{failed[0].test}: {failed[0].said}")[:300]
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
    return [TestOutcome(part.name, "failed", found.file, found.kind, found.message, cut(written(found)), _what(part))]


def _what(part: _Part) -> str:
    """What a step does, by its commands, else by its name; ``ci`` where they do not say one thing."""
    named = part.name.rpartition(": ")[2].removeprefix("Run ")
    kinds = {work.kind for command in part.commands or [named] for work in works(command)} & _CHECKS
    return kinds.pop() if len(kinds) == 1 else _UNKNOWN


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
