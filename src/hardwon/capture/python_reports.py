"""The reports of pytest and unittest."""

from __future__ import annotations

from hardwon.capture.report import LONGEST_NAME
from hardwon.code.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.report import Report

_COUNT = Pattern(r"(\d{1,7}) (failed|passed|errors?|xfailed|xpassed|skipped|deselected|warnings?|rerun)\b")
_PYTEST_END = Pattern(
    r"=*\s?(?:\d{1,7} (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)[, ]*)+ in [\d.]{1,12}s"
)
_PYTEST_LINE = Pattern(r"(FAILED|ERROR) (\S[^\n]{0,400}?)(?: - (.*))?$")
_PYTEST_VERBOSE = Pattern(
    r"(?:\[gw\d+\] \[ *\d+%\] )?(PASSED|FAILED|ERROR) (\S+::\S.{0,300})$|(\S+::\S.{0,300}?) (PASSED|FAILED|ERROR)(?:\s+\[ *\d+%\])?$"
)
_PYTEST_HEAD = Pattern(r"_{3,} (?:ERROR at (?:setup|teardown) of )?([\w.\[\]:/ -]{1,200}) _{3,}$")


_PYTEST_COLLECTING = Pattern(r"_{3,} ERROR collecting (\S{1,300}) _{3,}$")
_PYTEST_SAID = Pattern(r"E\s{2,8}([A-Z]\w{1,60}(?:Error|Exception)(?:: .*)?)$")


def read_pytest(lines: Sequence[str], report: Report) -> None:
    """Pytest: the short summary, else the verbose lines, else the heads of the failures."""
    heads: list[str] = []
    collecting = ""
    for line in lines:
        if line.startswith("___"):
            found = _PYTEST_COLLECTING.match(line)
            collecting = found[1] if found else ""
            if found := _PYTEST_HEAD.match(line):
                heads.append(found[1])
        elif collecting and (found := _PYTEST_SAID.match(line)):
            report.fail(collecting, found[1])
        elif line.startswith(("ERROR: file or directory not found", "ERROR: not found:")):
            return
        else:
            _line_of_pytest(line, report)
    for head in heads if not report.names else ():
        if not head.startswith("ERROR collecting"):
            report.fail(head.replace(".", "::"))
            report.told = True
    if report.failed and not report.passed and any("error" in line and "during collection" in line for line in lines):
        report.broken = True


def _line_of_pytest(line: str, report: Report) -> None:
    if " in " in line and _PYTEST_END.match(line):
        report.told = True
        counts = {word.rstrip("s"): int(number) for number, word in _COUNT.findall(line)}
        report.passed += counts.get("passed", 0)
        report.failed += counts.get("failed", 0) + counts.get("error", 0)
    elif line.startswith(("FAILED ", "ERROR ")) and (found := _PYTEST_LINE.match(line)):
        name = found[2]
        if "::" in name or (found[1] == "ERROR" and name.endswith(".py")):
            report.fail(name, found[3] or "")
            report.told = True
            report.broken = report.broken or "::" not in name
    elif "::" in line and (found := _PYTEST_VERBOSE.match(line)):
        name, word = found[2] or found[3], found[1] or found[4]
        if word == "PASSED":
            report.passing[name[:LONGEST_NAME]] = None
        else:
            report.fail(name)


_UNITTEST = Pattern(r"(FAIL|ERROR): (\w{1,200}) \(([\w.]{1,300})\)(?: .*)?$")
_RAN = Pattern(r"Ran (\d{1,7}) tests? in ")
_UNITTEST_END = Pattern(r"(OK|FAILED)(?: \((.*)\))?$")
_BAD = Pattern(r"(?:failures|errors)=(\d{1,7})")
_SKIPPED = Pattern(r"skipped=(\d{1,7})")
_UNITTEST_VERBOSE = Pattern(r"(\w{1,200}) \(([\w.]{1,300})\)(?: \S.*)? \.\.\. (ok|FAIL|ERROR)$")


def read_unittest(lines: Sequence[str], report: Report) -> None:
    """Unittest, and what is built on it."""
    ran = 0
    for line in lines:
        if found := _UNITTEST.match(line):
            owner = found[3].removesuffix(f".{found[2]}")
            if owner.startswith("unittest.loader."):
                report.broken = True
            report.fail(f"{owner}.{found[2]}")
        elif found := _UNITTEST_VERBOSE.match(line):
            if found[3] == "ok":
                report.passing[f"{found[2].removesuffix(f'.{found[1]}')}.{found[1]}"] = None
        elif found := _RAN.match(line):
            ran += int(found[1])
        elif ran and (found := _UNITTEST_END.match(line)):
            report.told = True
            bad = sum(int(number) for number in _BAD.findall(found[2] or ""))
            report.failed += bad
            report.passed += max(0, ran - bad - sum(int(number) for number in _SKIPPED.findall(found[2] or "")))
            ran = 0
