"""Test runs that wait for their other half, as a setting of the store keeps them: failures, what cured them lately, flaky tests.

Bounded in number and time: what is forgotten here proves nothing later, which is the safe side.
"""

from __future__ import annotations

import json
from zlib import crc32

from hardwon.code.edits import WorkingTree
from hardwon.upkeep.cures import Cure
from hardwon.upkeep.evidence import DAY_MS, NEAR_MS, TestRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hardwon.store.base import Reader, Writer
    from hardwon.upkeep.cures import Symbols

_SETTING = "tests"
_MOST_FAILURES = 500
_MOST_FLAKY = 1_000
MOST_CURES = 50
_MOST_PASSES = 3  # trees on which a test passed that had failed before
_MOST_TREES = 20  # states in which something failed
# Edited files of a state that is kept. A run with more is passed over: what changed since could not be told.
MOST_EDITS = 1_000
_MOST_LAST = 20_000  # tests of the last run
# A failure that nobody cured for so long says nothing of what changed since; a flaky test may have been mended.
_KEPT_MS = 90 * DAY_MS


class Book:
    """What waits: failures by test, with the symbols of the files that were edited then (by state and path); cures of the last day;
    flaky tests with when they were found so; states in which a test passed that had failed, newest last; and which tests passed in
    the last run's state, as checksums of their names."""

    def __init__(self) -> None:
        self.failures: dict[str, TestRun] = {}
        self.symbols: dict[str, Symbols] = {}
        self.cures: list[Cure] = []
        self.flaky: dict[str, int] = {}
        self.passes: dict[str, list[str]] = {}
        self.last: tuple[str, frozenset[int]] = ("", frozenset())

    def passed_on(self, test: str, tree: str) -> bool:
        """Whether a test is known to have passed on a tree."""
        return tree in self.passes.get(test, ()) or (self.last[0] == tree and _mark(test) in self.last[1])

    def note_pass(self, test: str, tree: str) -> None:
        """A test that had failed passed on a tree."""
        known = [one for one in self.passes.pop(test, []) if one != tree]
        self.passes[test] = [*known, tree][-_MOST_PASSES:]

    def remember(self, runs: Iterable[TestRun]) -> None:
        """What passed on the last tree: a test that fails on it later is flaky."""
        for run in runs:
            if run.passed:
                before = self.last[1] if self.last[0] == run.tree.name else frozenset()
                if len(before) < _MOST_LAST:
                    self.last = (run.tree.name, before | {_mark(run.test)})

    def written(self) -> str:
        """As JSON, within bounds: the newest stay."""
        failures = list(self.failures.values())[-_MOST_FAILURES:]
        trees = {run.tree.name: run.tree for run in failures}
        kept = list(trees)[-_MOST_TREES:]
        cures = self.cures[-MOST_CURES:]
        trees = {name: trees[name] for name in kept} | {run.tree.name: run.tree for one in cures for run in (one.red, one.green)}
        return json.dumps(
            {
                "trees": {name: [tree.commit, tree.edits] for name, tree in trees.items()},
                "symbols": {name: self.symbols.get(name, {}) for name in kept},
                "failures": [_written(run) for run in failures if run.tree.name in kept],
                "cures": [_cure(one) for one in cures],
                "flaky": dict(list(self.flaky.items())[-_MOST_FLAKY:]),
                "passes": dict(list(self.passes.items())[-_MOST_FAILURES:]),
                "last": [self.last[0], " ".join(f"{one:x}" for one in sorted(self.last[1]))],
            },
            separators=(",", ":"),
        )


def _mark(test: str) -> int:
    return crc32(test.encode("utf-8", "replace"))


def read_book(reader: Reader, now: int) -> Book:
    """What waits still; an empty book where nothing does, or another version wrote it."""
    text = reader.setting(_SETTING)
    try:
        return _as_book(json.loads(text), now) if text else Book()
    except (ValueError, KeyError, TypeError, AttributeError):
        return Book()


def _as_book(data: Mapping[str, Any], now: int) -> Book:
    book = Book()
    trees = {
        name: WorkingTree(commit, tuple((path, blob) for path, blob in edits)) for name, (commit, edits) in data["trees"].items()
    }
    failures = [_as_run(one, trees, passed=False) for one in data["failures"]]
    book.failures = {run.test: run for run in failures if run.at > now - _KEPT_MS}
    book.symbols = data["symbols"]
    book.cures = [one for one in (_as_cure(one, trees) for one in data["cures"]) if one.green.at > now - NEAR_MS]
    book.flaky = {test: int(at) for test, at in data["flaky"].items() if at > now - _KEPT_MS}
    book.passes = {test: list(known) for test, known in data["passes"].items()}
    tree, marks = data["last"]
    book.last = (tree, frozenset(int(one, 16) for one in marks.split()))
    return book


def write_book(writer: Writer, book: Book) -> None:
    """Keep what waits."""
    writer.set_setting(_SETTING, book.written())


def _cure(one: Cure) -> dict[str, Any]:
    return {
        "red": _written(one.red), "green": _written(one.green), "changed": one.changed, "test_changed": one.test_changed,
        "restored": one.restored,
    }  # fmt: skip


def _as_cure(data: Mapping[str, Any], trees: Mapping[str, WorkingTree]) -> Cure:
    changed = {path: (blob, symbols) for path, (blob, symbols) in data["changed"].items()}
    red, green = _as_run(data["red"], trees, passed=False), _as_run(data["green"], trees, passed=True)
    return Cure(red, green, changed, bool(data["test_changed"]), bool(data["restored"]))


def _written(run: TestRun) -> dict[str, Any]:
    return {"test": run.test, "file": run.file, "at": run.at, "tree": run.tree.name}


def _as_run(data: Mapping[str, Any], trees: Mapping[str, WorkingTree], *, passed: bool) -> TestRun:
    return TestRun(data["test"], passed, trees[data["tree"]], data["at"], data["file"], "ran")


def forget_said(writer: Writer, words: str) -> None:
    """Let go of all tests whose names stand in the words of a memory that is erased."""
    text = writer.setting(_SETTING)
    if not text:
        return
    book = read_book(writer, 0)  # whatever its age
    before = book.written()
    book.failures = {name: run for name, run in book.failures.items() if name not in words}
    book.cures = [one for one in book.cures if one.green.test not in words]
    book.flaky = {name: at for name, at in book.flaky.items() if name not in words}
    book.passes = {name: trees for name, trees in book.passes.items() if name not in words}
    if book.written() != before:
        write_book(writer, book)
