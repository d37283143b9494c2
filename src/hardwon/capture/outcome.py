"""How tests went, in one form for every source: a report in XML, the output of a runner, our own plugin, a log of CI."""

from __future__ import annotations

from hardwon.code.pattern import Pattern
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from hardwon.capture.results import Failing, Results

    Went = Literal["passed", "failed", "skipped", "flaky"]
else:
    Went = str

LONGEST_NAME = 300  # characters
LONGEST_LOG = 20_000  # characters of what a failing test printed: its trace stands at the end or the beginning
_HEAD, _NAMELESS = "Traceback (most recent call last):", "<module>"
_FRAME = Pattern(r'  File "([^"\n]+)", line (\d+), in (.+)')
_PYTHON = (".py", ".pyw", ".pyx", ".pyi")


class TestOutcome(Value):
    """One test of one run. ``test``: its name, as stable as the source allows; ``file``: the file that holds it, relative to where the
    tests ran, "" where that is not told; ``went``: ``flaky`` is one that failed and passed when it was tried again in the same run.
    ``kind`` and ``message`` of its failure, "" where none is told; ``log``: what it printed of that, with its trace. ``step``: of what is
    no test, but a step of a job or a command, what it does (build, types, lint, test; ``ci`` where that is not known); "" of a test."""

    __test__ = False  # for pytest, which would take the class for a test

    test: str
    went: Went
    file: str = ""
    kind: str = ""
    message: str = ""
    log: str = ""
    step: str = ""

    @property
    def said(self) -> str:
        """The failure in one line, as it is told."""
        return f"{self.kind}: {self.message}" if self.kind and self.message else self.kind or self.message


def cut(log: str) -> str:
    """A log with its beginning and its end, which is where failures are told."""
    if len(log) <= LONGEST_LOG:
        return log
    return f"{log[: LONGEST_LOG // 2]}\n{log[-LONGEST_LOG // 2 :]}"


def of_results(results: Results, routine: Callable[[str, str], str]) -> tuple[TestOutcome, ...]:
    """What a runner's output says, test by test: those that it names. ``routine`` says of a type and a message why such a failure teaches
    nothing, "" where it may teach something."""
    failed = [one for one in results.failing if one.name and not routine(one.kind, one.message)]
    return (
        *(TestOutcome(name[:LONGEST_NAME], "passed", _file(name)) for name in results.passing),
        *(TestOutcome(one.name[:LONGEST_NAME], "failed", one.file, one.kind, one.message, written(one)) for one in failed),
    )


def _file(name: str) -> str:
    path, colons, _ = name.partition("::")
    return path if colons and "." in path.rpartition("/")[2] else ""


def written(failing: Failing) -> str:
    """The trace of a failure in one form for all languages, as Python writes it: outermost first, what it said at the end."""
    said = ": ".join(filter(None, (failing.kind or "Error", failing.message)))
    if not failing.frames:
        return said if failing.kind or failing.message else ""
    frames = (f'  File "{path}", line {line}, in {function or _NAMELESS}' for path, line, function in reversed(failing.frames))
    return "\n".join((_HEAD, *frames, said))


def readable(log: str) -> str:
    """A trace that ``written`` wrote, for people: of another language than Python as what was said and its places, innermost first."""
    head, *lines = log.split("\n")
    if head != _HEAD:
        return log
    frames = [found for found in map(_FRAME.fullmatch, lines) if found]
    if not frames or lines[: len(frames)] != [frame[0] for frame in frames]:
        return log
    if any(frame[1].endswith(_PYTHON) for frame in frames):
        return log
    places = (f"{frame[1]}:{frame[2]}" + (f" in {frame[3]}" if frame[3] != _NAMELESS else "") for frame in reversed(frames))
    return "\n".join((*lines[len(frames) :], *places))


def placed(outcomes: Iterable[TestOutcome], prefix: str, exists: Callable[[str], bool]) -> tuple[TestOutcome, ...]:
    """Outcomes of tests that ran in the folder ``prefix`` of the repository, named as from its top. ``exists`` tells of a path from there
    whether it is a file."""
    if not prefix:
        return tuple(outcomes)
    return tuple(_placed(one, prefix, exists) for one in outcomes)


def _placed(one: TestOutcome, prefix: str, exists: Callable[[str], bool]) -> TestOutcome:
    file = f"{prefix}/{one.file}"
    if not one.file or not exists(file):
        return one
    test = f"{prefix}/{one.test}"[:LONGEST_NAME] if one.test.startswith(one.file) else one.test
    moved: TestOutcome = one.replace(test=test, file=file)
    return moved
