"""What the plugin of pytest does when it is on: it looks at the files before the tests, hears each result, and says what is known.

It never changes how a run ends: what goes wrong here is told in a line of the summary.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager

from hardwon.capture.outcome import LONGEST_NAME, TestOutcome, cut
from hardwon.errors import HardwonError, InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import pytest

    from hardwon.engine.core import Engine
    from hardwon.engine.outcomes import OutcomeReport


class Recorder:
    """One run of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self._root = str(config.rootpath)
        self._began = 0
        self._engine: Engine | None = None
        self._tree: Any = None
        self._found: dict[str, TestOutcome] = {}
        self._again: set[str] = set()
        self._report: OutcomeReport | None = None
        self._trouble = ""

    def pytest_sessionstart(self) -> None:
        """What lies there before any test can write."""
        self._began = time.time_ns() // 1_000_000
        with self._careful():
            self._engine = _opened(self._root)
            self._tree = self._engine.working_tree()

    @contextmanager
    def _careful(self) -> Iterator[None]:
        """A run of tests must not fail for its record: the first thing that goes wrong is told in the summary."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, pytest would end the whole run
            self._trouble = self._trouble or _said(error)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One step of one test. A failure in any of its steps counts, and stays unless the test is tried again."""
        with self._careful():
            self._hear(report)

    def _hear(self, report: pytest.TestReport) -> None:
        name, outcome = report.nodeid[:LONGEST_NAME], str(report.outcome)
        if outcome == "rerun":  # as pytest-rerunfailures says it
            self._again.add(name)
            return
        if outcome == "failed":
            self._found[name] = self._failed(name, report)
        elif outcome == "skipped":
            self._found.setdefault(name, TestOutcome(name, "skipped", self._file(name)))
        elif report.when == "call":
            self._found[name] = TestOutcome(name, "flaky" if name in self._again else "passed", self._file(name))

    def _failed(self, name: str, report: pytest.TestReport) -> TestOutcome:
        crash = getattr(report.longrepr, "reprcrash", None)
        told = str(getattr(crash, "message", "")) or str(report.longrepr or "").rpartition("\n")[2]
        first = told.strip().partition("\n")[0]
        kind, colon, message = first.partition(": ")
        if not colon or not kind.replace(".", "").isidentifier():
            kind, message = ("AssertionError", first) if first.startswith("assert") else ("", first)
        return TestOutcome(name, "failed", self._file(name), kind, message[:1_000], cut(report.longreprtext))

    def _file(self, name: str) -> str:
        """The file of a test, relative to the repository: pytest names it from its own top. "" for one that lies outside."""
        path = name.partition("::")[0]
        if self._engine is None:
            return path
        try:
            return self._engine.relative(os.path.join(self._root, path))
        except InvalidInput:
            return ""

    def pytest_sessionfinish(self) -> None:
        """Record all of it; nothing where not all of it was heard."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        with self._careful():
            try:
                if self._tree is not None and self._found and not self._trouble:
                    self._record(engine)
            finally:
                engine.close()

    def _record(self, engine: Engine) -> None:
        from hardwon.engine.outcomes import RunOfTests
        from hardwon.types import Scope

        run = RunOfTests(tuple(self._found.values()), self._tree, self._began, "ran", os.environ.get("HARDWON_JOB", ""))
        self._report = engine.take_outcomes(run, Scope(_origin()))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What is known of the failures; nothing where nothing is."""
        lines: list[str] = []
        with self._careful():
            lines = _known(self._report)
        if self._trouble:
            lines = [f"{'not all' if self._report else 'nothing'} was recorded: {self._trouble}"]
        if lines:
            terminalreporter.section("hardwon")
            for line in lines:
                terminalreporter.line(f"hardwon: {line}")  # so marked, nothing of it is captured (capture/ours.py)


def _opened(root: str) -> Engine:
    from hardwon import settings
    from hardwon.engine.opening import open_engine

    chosen = settings.load()
    return open_engine(root, chosen.home, wait=chosen.wait, cache=chosen.cache, keys=settings.key_source())


def _origin() -> Any:
    from hardwon import settings
    from hardwon.doors import actor

    return actor.origin(os.environ, settings.load()).replace(tool="pytest")


def _known(report: OutcomeReport | None) -> list[str]:
    from hardwon.doors import outcomes

    return outcomes.worth_a_line(report) if report else []


def _said(error: Exception) -> str:
    if isinstance(error, HardwonError):
        return f"{error.message}; {error.remedy}" if error.remedy else error.message
    return f"{type(error).__name__}: {error}"
