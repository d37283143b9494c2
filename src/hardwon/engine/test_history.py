"""What is known of tests that failed at some time, as a setting of the store keeps it: how they went lately, what was recorded of it.

Bounded: those that nobody has run for longest go first. A test that never failed is not kept.
"""

from __future__ import annotations

import json

from hardwon.types import Value
from hardwon.upkeep import flaky
from hardwon.upkeep.flaky import Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer

_SETTING = "test_history"
_MOST = 2_000  # tests
_MOST_READ = 500  # reports
_MOST_FIXES = 3


class KnownTest(Value):
    """``seen``: its last runs, oldest first; ``red``: whether it failed when it was last run, ``signature`` how (code/stack/signature.py);
    ``failure``: the memory of that, "" for none; ``fixes``: memories of what made it pass, newest first; ``flaky_at``: when it was last
    seen to go both ways on the same files, in milliseconds, 0 for never."""

    file: str = ""
    seen: tuple[Seen, ...] = ()
    red: bool = False
    signature: str = ""
    failure: str = ""
    fixes: tuple[str, ...] = ()
    flaky_at: int = 0

    def with_fix(self, memory: str) -> KnownTest:
        """The same with one more fix."""
        rest = [one for one in self.fixes if one != memory]
        more: KnownTest = self.replace(fixes=(memory, *rest)[:_MOST_FIXES])
        return more


class FlakyTest(Value):
    """A test that was seen to fail and to pass on the same files: when so last, how often it failed and passed of the runs that are
    kept, and the memories of its last failure and of what made it pass."""

    test: str
    file: str
    at: int
    failed: int
    passed: int
    signature: str
    failure: str
    fixes: tuple[str, ...]


class TestHistory:
    """``tests`` by name, the one that was run last at the end; ``reports``: digests of files that were read; ``commands``: what failed
    when a command last ran, by what it checks."""

    __test__ = False

    def __init__(self) -> None:
        self.tests: dict[str, KnownTest] = {}
        self.reports: dict[str, None] = {}
        self.commands: dict[str, list[str]] = {}

    def put(self, name: str, known: KnownTest) -> None:
        """What is known of a test now."""
        self.tests.pop(name, None)
        self.tests[name] = known

    def written(self) -> str:
        """As JSON, within bounds."""
        tests = dict(list(self.tests.items())[-_MOST:])
        return json.dumps(
            {
                "tests": {name: _written(known) for name, known in tests.items()},
                "reports": list(self.reports)[-_MOST_READ:],
                "commands": dict(list(self.commands.items())[-_MOST_READ:]),
            },
            separators=(",", ":"),
        )


def _written(known: KnownTest) -> list[Any]:
    seen = [[one.tree, int(one.passed), one.at] for one in known.seen]
    return [known.file, seen, int(known.red), known.signature, known.failure, list(known.fixes), known.flaky_at]


def read_history(reader: Reader) -> TestHistory:
    """What is known; nothing where another version wrote it."""
    history = TestHistory()
    text = reader.setting(_SETTING)
    try:
        data: Mapping[str, Any] = json.loads(text) if text else {}
        history.tests = {name: _as_test(row) for name, row in data.get("tests", {}).items()}
        history.reports = dict.fromkeys(map(str, data.get("reports", ())))
        history.commands = {str(key): [str(one) for one in names] for key, names in data.get("commands", {}).items()}
    except (ValueError, TypeError, AttributeError, KeyError):
        return TestHistory()
    return history


def _as_test(row: list[Any]) -> KnownTest:
    file, seen, red, signature, failure, fixes, flaky_at = row
    runs = tuple(Seen(str(tree), bool(passed), int(at)) for tree, passed, at in seen)
    return KnownTest(str(file), runs, bool(red), str(signature), str(failure), tuple(map(str, fixes)), int(flaky_at))


def write_history(writer: Writer, history: TestHistory) -> None:
    """Keep it."""
    writer.set_setting(_SETTING, history.written())


def forget_said(writer: Writer, ids: Iterable[str], words: str) -> None:
    """Let go of all tests that memories with these ids tell of, or whose name or failure stands in their words: they are erased."""
    if not writer.setting(_SETTING):
        return
    history, gone = read_history(writer), set(ids)
    before = history.written()

    def is_told(name: str, known: KnownTest) -> bool:
        return name in words or bool(known.signature and known.signature in words) or bool(gone & {known.failure, *known.fixes})

    history.tests = {name: known for name, known in history.tests.items() if not is_told(name, known)}
    history.commands = {key: [name for name in names if name not in words] for key, names in history.commands.items()}
    if history.written() != before:
        write_history(writer, history)


def flaky_tests(engine: Engine) -> list[FlakyTest]:
    """The tests that cannot be relied on, the one that showed it last first."""
    with engine.store.read() as reader:
        history = read_history(reader)
    now = engine.clock()
    found = [
        FlakyTest(
            name, known.file, known.flaky_at, sum(not one.passed for one in known.seen), sum(one.passed for one in known.seen),
            known.signature, known.failure, known.fixes,
        )
        for name, known in history.tests.items() if flaky.is_flaky(known.flaky_at, now)
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.at, one.test))


def flaky_through(engine: Engine, symbol: str) -> list[str]:
    """The names of flaky tests that failed in a symbol, which may be given in part."""
    found = flaky_tests(engine)
    with engine.store.read() as reader:
        failures = {one.id: one for one in reader.get(sorted({test.failure for test in found if test.failure}))}
    wanted = symbol.lower()
    through = {
        one.id for one in failures.values() if any(wanted in anchor.symbol.lower() for anchor in one.anchors if anchor.symbol)
    }
    return [test.test for test in found if test.failure in through]
