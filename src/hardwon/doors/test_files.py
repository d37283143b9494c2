"""Runs of tests as files tell of them, for the command line and for Python: reports in JUnit's XML, logs of CI."""

from __future__ import annotations

import os
import sys
from io import BytesIO

from hardwon.doors import observed
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from hardwon.code.edits import WorkingTree
    from hardwon.engine.core import Engine
    from hardwon.engine.outcomes import OutcomeReport
    from hardwon.types import Scope

_INPUT = "-"  # standard input


class ReadReport(Value):
    """A report that was taken in: ``broken`` says why it could not be read to its end, "" if it could; ``left_out`` counts tests beyond
    the most that are read."""

    file: str
    outcome: OutcomeReport
    broken: str = ""
    left_out: int = 0


class ReadLog(Value):
    """A log that was taken in: ``kind`` says whose it is (github, gitlab, plain); ``steps``: those that failed, with what each said;
    ``recognised``: whether there was a failed step or a report of tests in it at all."""

    kind: str
    steps: tuple[tuple[str, str], ...]
    outcome: OutcomeReport
    recognised: bool = True


def take_reports(engine: Engine, files: Iterable[str], commit: str, job: str, scope: Scope) -> Iterator[ReadReport]:
    """Take in reports, in the order in which they were made; - is standard input. InvalidInput for what is none, and for a commit that
    git does not know."""
    from hardwon.engine.outcomes import RunOfTests
    from hardwon.importers import junit

    for path in files:
        with _opened(path, junit.LARGEST) as file:
            digest = _digest(file, path, junit.LARGEST)
            report = junit.read(file, observed.exists(engine))
        made = _written(engine, path)
        tree = _tree(engine, commit, made)
        outcomes, key = observed.here(engine, report.tests), _key(digest, job, commit, tree)
        run = RunOfTests(outcomes, tree, min(report.at or made, made), "file", job, key)
        yield ReadReport(path, engine.take_outcomes(run, scope), report.broken, report.left_out)


def take_log(engine: Engine, name: str, commit: str, job: str, scope: Scope) -> ReadLog:
    """Take in the log of a job of CI; ``name``: its path, or - for standard input."""
    from hardwon.digest import blake2b
    from hardwon.doors import inputs
    from hardwon.engine.outcomes import RunOfTests
    from hardwon.importers import ci_log

    text = inputs.ending(name, "file", ci_log.LONGEST)
    if not text.strip():
        raise InvalidInput(f"{name[:200]!a} holds no text", field="file", remedy="give the log of a job, or - for standard input")
    found = ci_log.read(text)
    made = _written(engine, name)
    try:
        tree = _tree(engine, commit or found.commit, made)
    except InvalidInput:
        if commit:
            raise
        tree = _tree(engine, "", 0)  # the log names a commit that is not here
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
    run = RunOfTests(observed.here(engine, found.outcomes), tree, made, "file", job, f"{digest} {job}", counts=found.counts)
    steps = tuple((step.name, step.said) for step in found.steps)
    return ReadLog(found.kind, steps, engine.take_outcomes(run, scope), bool(steps or found.counts))


def reports_at(names: Iterable[str], cwd: str) -> list[str]:
    """The files that are named, those of a folder with all ``.xml`` below it, the oldest first, and standard input (-) at the end;
    InvalidInput for none."""
    found: list[str] = []
    for name in names:
        if name == _INPUT:
            found.append(name)
            continue
        path = os.path.join(cwd, os.path.expanduser(name))
        if name and os.path.isdir(path):
            found += [os.path.join(at, one) for at, _, within in os.walk(path) for one in within if one.endswith(".xml")]
        elif name and os.path.isfile(path):
            found.append(path)
        else:
            raise InvalidInput(f"{name[:200]!a} is no file", field="file", remedy="name the report that the runner wrote")
    if not found:
        raise InvalidInput("no report is named", field="file", remedy="hardwon ingest junit report.xml")
    return sorted(dict.fromkeys(found), key=_made)


def _written(engine: Engine, path: str) -> int:
    """When a file was written, in milliseconds; standard input is written now."""
    return engine.clock() if path == _INPUT else os.stat(path).st_mtime_ns // 1_000_000


def _made(path: str) -> float:
    if path == _INPUT:
        return float("inf")
    try:
        return os.path.getmtime(path)
    except OSError:  # a link that leads nowhere: told when it is read
        return 0.0


def _opened(path: str, largest: int) -> BinaryIO:
    """A report, to be read from its beginning more than once. InvalidInput for one that is too large or cannot be read."""
    try:
        # Not by way of a file: it may hold secrets, which are written nowhere.
        return BytesIO(sys.stdin.buffer.read(largest + 1)) if path == _INPUT else open(path, "rb")
    except OSError as error:
        raise _unreadable(path, error) from error


def _digest(file: BinaryIO, path: str, largest: int) -> str:
    from hardwon.digest import blake2b

    digest = blake2b(digest_size=16)
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size > largest:
            raise InvalidInput(
                f"{_called(path)} is larger than {largest:,} bytes",
                field="file",
                remedy="have the runner leave out what tests print",
            )
        while piece := file.read(1 << 20):
            digest.update(piece)
        file.seek(0)
    except OSError as error:
        raise _unreadable(path, error) from error
    return str(digest.hexdigest())


def _unreadable(path: str, error: OSError) -> InvalidInput:
    return InvalidInput(
        f"{_called(path)} cannot be read: {error.strerror}", field="file", remedy="name the report that the runner wrote"
    )


def _called(path: str) -> str:
    return "standard input" if path == _INPUT else f"{path[:200]!a}"


def _key(digest: str, job: str, commit: str, tree: WorkingTree) -> str:
    """The name of a report, by which it is read once: a commit that is named in two ways is one."""
    return f"{digest} {job} {tree.commit if commit else ''}"


def _tree(engine: Engine, commit: str, made: int) -> WorkingTree:
    from hardwon.engine.outcomes import tree_at, tree_of

    return tree_of(engine, commit) if commit else tree_at(engine, made)
