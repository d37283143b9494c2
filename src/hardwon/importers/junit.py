"""Reports of tests in the XML that JUnit began and every runner writes in its own way: pytest, surefire, Gradle, Jest, Go, gotestsum.

Read as a stream, by a parser that refuses entities and document types: a report comes from wherever a job put it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from hardwon.capture.outcome import LONGEST_NAME, TestOutcome, cut
from hardwon.code.traces import parse
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO
    from xml.etree.ElementTree import Element

    Exists = Callable[[str], bool]

LARGEST = 200_000_000  # bytes
MOST = 200_000  # tests
_MESSAGE = 1_000
_BAD, _AGAIN = ("failure", "error"), ("rerunFailure", "rerunError", "rerun")
_FLAKY = ("flakyFailure", "flakyError")
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx")
_ROOTS = ("testsuites", "testsuite")
# Types that say no more than that it failed.
_NO_KINDS = ("", "failed", "failure", "error", "fail", "assertionfailed", "testcodefailure")


class JUnitReport(Value):
    """``tests`` in the order of the report; ``at``: when it was made in milliseconds, None where it does not say; ``broken``: why it could
    not be read to its end, "" if it could; ``left_out``: tests beyond the most that are read."""

    tests: tuple[TestOutcome, ...]
    at: int | None = None
    broken: str = ""
    left_out: int = 0


def read(file: BinaryIO, exists: Exists) -> JUnitReport:
    """The tests of a report; ``exists`` tells of a path whether the repository has such a file, by which a test of Python is named as
    pytest names it. InvalidInput for what is no such report; one that breaks off is read as far as it goes."""
    reading = _Reading(exists)
    try:
        for event, element in iterparse(file, events=("start", "end"), forbid_dtd=True):
            reading.take(event, element)
    except DefusedXmlException as error:
        raise InvalidInput(
            f"the report declares what reports do not need: {type(error).__name__}",
            field="file",
            remedy="give one without a DOCTYPE",
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        if not reading.began:
            raise _no_report(f"it is no XML: {error}") from error
        return reading.report(str(error))
    return reading.report("")


def _no_report(why: str) -> InvalidInput:
    return InvalidInput(
        f"this is no report of tests: {why}", field="file", remedy="give JUnit XML, as `pytest --junitxml FILE` writes it"
    )


class _Reading:
    def __init__(self, exists: Exists) -> None:
        self.began = False
        self._exists = exists
        self._files: dict[str, str] = {}
        self._tests: list[TestOutcome] = []
        self._at: int | None = None
        self._left_out = 0
        self._inside = 0  # how deep within a test
        self._open: list[Element] = []

    def report(self, broken: str) -> JUnitReport:
        return JUnitReport(tuple(self._tests), self._at, broken, self._left_out)

    def take(self, event: str, element: Element) -> None:
        name = _local(element.tag)
        if event == "start":
            if not self.began:
                if name not in _ROOTS:
                    raise _no_report(f"its first element is {name[:40]!r}")
                self.began = True
            self._open.append(element)
            self._inside += name == "testcase"
            if name == "testsuite" and self._at is None:
                self._at = _milliseconds(element.get("timestamp", ""))
            return
        self._open.pop()
        if name == "testcase":
            self._inside -= 1
            self._add(element)
        if not self._inside and self._open:  # so that a large report does not stay in memory
            self._open[-1].remove(element)

    def _add(self, case: Element) -> None:
        if len(self._tests) == MOST:
            self._left_out += 1
            return
        suites = [one for one in self._open if _local(one.tag) == "testsuite"]
        file = _file(case.get("file") or (suites[-1].get("file") if suites else None) or "")
        classname = case.get("classname") or ""
        if classname == "test":  # as Node says it of every one; its suites tell them apart
            classname = " > ".join(suite.get("name") or "" for suite in suites)
        test, file = self._named(classname, case.get("name") or "", file)
        found = {_local(child.tag): child for child in reversed(case)}
        bad = next((found[name] for name in (*_BAD, *_FLAKY, *_AGAIN) if name in found), None)
        if any(name in found for name in _BAD):
            went = "failed"
        elif "skipped" in found:
            went, bad = "skipped", None
        else:
            went = "flaky" if bad is not None else "passed"
        kind, message, log = _told(bad, found) if bad is not None else ("", "", "")
        self._tests.append(TestOutcome(test, went, file, kind, message, log))  # type: ignore[arg-type]  # words of the set

    def _named(self, classname: str, name: str, file: str) -> tuple[str, str]:
        """A test's name and file; of Python as pytest says it on its command line: ``tests/test_a.py::TestA::test_b[1]``."""
        if file.endswith(".py") or not file:
            path = file or self._python_file(classname)
            module = path.removesuffix(".py").replace("/", ".")
            if path and (classname == module or classname.startswith(module + ".") or not classname):
                classes = classname[len(module) + 1 :].split(".") if classname[len(module) + 1 :] else []
                return "::".join((path, *classes, name))[:LONGEST_NAME], path
        if classname.endswith(_SCRIPTS):  # Vitest has the file there
            return f"{classname} > {name}"[:LONGEST_NAME], file or _file(classname)
        if " > " in classname:
            return f"{classname} > {name}"[:LONGEST_NAME], file
        if not classname or name.startswith(classname):
            return name.strip()[:LONGEST_NAME], file
        return f"{classname}.{name}"[:LONGEST_NAME], file

    def _python_file(self, classname: str) -> str:
        """The file of the module that a dotted name begins with; "" where the repository has none."""
        if classname not in self._files:
            parts = classname.split(".")
            paths = ("/".join(parts[:count]) + ".py" for count in range(len(parts), 0, -1))
            plain = all(part.isidentifier() for part in parts)
            self._files[classname] = next((path for path in paths if self._exists(path)), "") if plain else ""
        return self._files[classname]


def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]


def _file(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _told(bad: Element, found: dict[str, Element]) -> tuple[str, str, str]:
    """Type, message and log of a failure. Surefire keeps the trace of a test that was tried again in an element of its own."""
    text = (bad.text or "").strip("\n\t ") or next((child.text or "" for child in bad if _local(child.tag) == "stackTrace"), "")
    printed = [found[name].text or "" for name in ("system-err", "system-out") if name in found]
    log = cut("\n".join((text.strip("\n"), *(one for one in printed if "Traceback" in one or "\tat " in one))))
    told = (bad.get("message") or "").strip()
    if told.lower() in _NO_KINDS:
        trace = next(iter(parse(text)), None)
        if trace is not None and trace.kind == "FAIL":  # of Go, whose message begins with the test's name
            return "", trace.message.partition(": ")[2] or trace.message, log
        told = next((line.strip() for line in text.splitlines() if line.strip()), "")
    kind = (bad.get("type") or "").strip()
    if kind.lower() in _NO_KINDS or " " in kind:
        kind = ""
    first = told.partition("\n")[0][:_MESSAGE]
    if not kind:
        head, colon, rest = first.partition(": ")
        if colon and head.replace(".", "").isidentifier() and head[-9:].lower().endswith(("error", "exception", "failure")):
            return head, rest.strip(), log
    return kind[:200], first.removeprefix(f"{kind}: ") if kind else first, log


def _milliseconds(stamp: str) -> int | None:
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000) if at.year >= 1971 else None
