"""The reports of test runners, line by line: one reader each, and the words by which its report is known.

Patterns are bounded, and none repeats two things that could match the same text.
"""

from __future__ import annotations

from hardwon.capture.javascript_reports import read_bun, read_jest, read_mocha, read_node, read_vitest
from hardwon.capture.python_reports import read_pytest, read_unittest
from hardwon.capture.report import LONGEST_MESSAGE, Report, first_said
from hardwon.code.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_GO_FAIL = Pattern(r"(\s*)--- (FAIL|PASS|SKIP): (\S{1,300}) \(")
_GO_PACKAGE = Pattern(r"(ok|FAIL)\s+(\S+)(?:\s+(\[build failed\]|\[setup failed\]|[\d.]+s|\(cached\)).*)?$")


def _go(lines: Sequence[str], report: Report) -> None:
    # Of the package that is being told of: "PASS" above its line, its tests that passed, whether none was run.
    passed, ran, empty, failed = 0, 0, False, False
    for line in lines:
        failed = failed or line == "FAIL"  # the last word, where what failed is cut off above it
        if found := _GO_FAIL.match(line):
            if found[2] != "FAIL":
                ran += found[2] == "PASS"
                empty = not ran  # all were skipped
                report.passing.update({found[3]: None} if found[2] == "PASS" else {})
                continue
            parent = found[3].rpartition("/")[0]
            report.names.pop(parent, None)  # its subtest says more
            report.fail(found[3])
            report.told = True
        elif (found := _GO_PACKAGE.match(line)) and (found[3] or found[1] == "ok"):
            report.told = True
            report.broken = report.broken or "failed]" in (found[3] or "")
            if found[1] == "ok" and (empty or "[no test" in line):
                report.passed -= passed
            else:
                report.passed += found[1] == "ok"
            report.failed += found[1] == "FAIL"
            passed, ran, empty = 0, 0, False
        elif line.startswith("testing: warning: no tests to run"):
            empty = True
        elif line == "PASS":
            report.told = True
            passed += not empty
            report.passed += not empty
    if report.names:
        report.failed, report.uncounted = len(report.names), True
    elif failed and report.told and not report.failed:
        report.failed = 1


_CARGO_TEST = Pattern(r"test (\S{1,300}?)(?: - should panic)? \.\.\. (ok|FAILED)$")
_CARGO_END = Pattern(r"test result: (ok|FAILED)\. (\d+) passed; (\d+) failed;")


_CARGO_SAID = Pattern(r"---- (\S{1,300}) stdout ----$")


def _cargo(lines: Sequence[str], report: Report) -> None:
    for at, line in enumerate(lines):
        if found := _CARGO_SAID.match(line):
            report.fail(found[1], _panicked(lines, at + 1))
        elif found := _CARGO_TEST.match(line):
            if found[2] == "ok":
                report.passing[found[1]] = None
            else:
                report.fail(found[1])
        elif found := _CARGO_END.match(line):
            report.told = True
            report.passed += int(found[2])
            report.failed += int(found[3])
        elif line.startswith("error: could not compile"):
            report.told = report.broken = True


def _panicked(lines: Sequence[str], at: int) -> str:
    """What a thread said that panicked, on the line after its place; older compilers say it on the same line, in quotes."""
    for place in range(at, min(at + 20, len(lines) - 1)):
        if " panicked at " in lines[place]:
            quoted = lines[place].partition(" panicked at ")[2]
            return f"panic: {quoted[1:].rpartition(chr(39))[0] if quoted.startswith(chr(39)) else lines[place + 1].strip()}"
    return ""


_MAVEN_COUNT = Pattern(r"(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+)(?:, Skipped: (\d+))?\s*$")
_MAVEN_NONE = ("No tests to run", "Tests are skipped", "No tests were executed")
_MAVEN_TEST = Pattern(r"(?:\[ERROR\] )?\s{0,4}((?:[\w$]+\.)*[\w$]+)(?:\.|:)([\w$]+)(?:\(\S*\))?\s.{0,80}<<< (?:FAILURE|ERROR)!")
_MAVEN_OLD = Pattern(r"(?:\[ERROR\] )?(\w+)\(([\w.$]+)\)\s.{0,80}<<< (?:FAILURE|ERROR)!")
_MAVEN_SAID = Pattern(r"(?:\[ERROR\])?\s{0,4}([\w$]+)\.([\w$]+):(?:[\w$.>-]+:)?\d+(?:->\S+)?\s(?:» )?(.*)$")


def _maven(lines: Sequence[str], report: Report) -> None:
    counted = False
    for line in lines:
        if found := _MAVEN_OLD.match(line):
            report.fail(f"{found[2]}.{found[1]}")
        elif "<<< " in line and (found := _MAVEN_TEST.match(line)):
            report.fail(f"{found[1]}.{found[2]}")
        elif found := _MAVEN_SAID.match(line):
            known = next((name for name in report.names if name.endswith(f"{found[1]}.{found[2]}")), f"{found[1]}.{found[2]}")
            report.fail(known, found[3])
        elif found := _MAVEN_COUNT.match(line):
            report.told = counted = True
            bad = int(found[2]) + int(found[3])
            report.failed, report.passed = bad, int(found[1]) - bad - int(found[4] or 0)
        elif any(sign in line for sign in _MAVEN_NONE):
            counted = True
        elif "COMPILATION ERROR" in line or "Compilation failure" in line:
            report.told = report.broken = True
        elif "BUILD SUCCESS" in line:
            report.told = True
            report.passed = report.passed if counted else 1


_GRADLE_FAIL = Pattern(r"(\S.{0,200}?) > (\S.{0,200}?) FAILED$")
_GRADLE_COUNT = Pattern(r"(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?")
_GRADLE_TASK = Pattern(r"> Task (?::[\w.-]{1,100}){0,8}:\w{0,40}[tT]est(?: (NO-SOURCE|SKIPPED))?")


def _gradle(lines: Sequence[str], report: Report) -> None:
    tasks: list[bool] = []  # whether each task of tests had any
    for at, line in enumerate(lines):
        if found := _GRADLE_FAIL.match(line):
            report.fail(f"{found[1]}.{found[2].removesuffix('()')}", first_said(lines, at + 1))
        elif found := _GRADLE_COUNT.match(line):
            report.told = True
            report.failed += int(found[2])
            report.passed += int(found[1]) - int(found[2]) - int(found[3] or 0)
        elif found := _GRADLE_TASK.match(line):
            tasks.append(not found[1])
        elif line.startswith("BUILD SUCCESSFUL"):
            report.told = True
            report.passed = max(report.passed, int(any(tasks) or not tasks))
        elif "Compilation failed" in line:
            report.told = report.broken = True


_CTEST_END = Pattern(r"\d{1,3}% tests passed(?:, |; )(\d+) tests? failed out of (\d+)")
_CTEST_FAIL = Pattern(
    r"\s*\d+ - (\S.{0,200}?) \((?:Failed|Timeout|SEGFAULT|Exception|Not Run|Subprocess aborted|ILLEGAL)[^)]{0,60}\)"
)


def _ctest(lines: Sequence[str], report: Report) -> None:
    for line in lines:
        if found := _CTEST_END.match(line):
            report.told = True
            report.failed += int(found[1])
            report.passed += int(found[2]) - int(found[1])
        elif found := _CTEST_FAIL.match(line):
            report.fail(found[1])


_RSPEC_END = Pattern(r"(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside)?")
_RSPEC_FAIL = Pattern(r"rspec (\./\S+?:\d+|'?\./\S+?\[[\d:]+\]'?) # (.{1,300})$")


def _rspec(lines: Sequence[str], report: Report) -> None:
    for at, line in enumerate(lines):
        if found := _RSPEC_END.search(line):
            report.told = True
            report.failed += int(found[2])
            report.passed += int(found[1]) - int(found[2]) - int(found[3] or 0)
            report.broken = report.broken or bool(found[4])
        elif found := _RSPEC_FAIL.match(line):
            said = next((_rspec_said(lines, place) for place in range(at) if lines[place].rstrip().endswith(f") {found[2]}")), "")
            report.fail(found[2], said, found[1].strip("'").removeprefix("./").partition(":")[0].partition("[")[0])


def _rspec_said(lines: Sequence[str], at: int) -> str:
    said = [line.strip() for line in lines[at + 1 : at + 14]]
    start = next((place for place, line in enumerate(said) if line.startswith("Failure/Error:")), None)
    if start is None:
        return ""
    return " ".join(line for line in said[start + 1 : start + 8] if line and not line.startswith("#"))[:LONGEST_MESSAGE]


_DENO_END = Pattern(r"(?:(?:ok|FAILED) \| )?(\d+) passed.{0,40}? \| (\d+) failed")
_DOTNET_END = Pattern(r"\s*(?:Passed|Failed)!\s+- Failed:\s+(\d+), Passed:\s+(\d+)")
_DOTNET_FAIL = Pattern(r"\s*Failed (\S.{0,300}?) \[[^\]]{1,20}\]$")
_PHP_OK = Pattern(r"OK \((\d+) tests?, ")
_PHP_BAD = Pattern(r"Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?")
_PHP_NOT_RUN = Pattern(r", (?:Skipped|Incomplete): (\d+)")
_PHP_FAIL = Pattern(r"\d{1,5}\) ([\w\\]{1,200}::\w{1,200})")


def _count(report: Report, passed: str, failed: str) -> None:
    report.told, report.passed, report.failed = True, report.passed + int(passed), report.failed + int(failed)


def _others(lines: Sequence[str], report: Report) -> None:
    """Deno, Bun, .NET, PHPUnit: counts and names."""
    read_bun(lines, report)
    for at, line in enumerate(lines):
        if found := _DENO_END.match(line):
            _count(report, found[1], found[2])
        elif found := _DOTNET_END.match(line):
            _count(report, found[2], found[1])
        elif (found := _DOTNET_FAIL.match(line)) or (found := _PHP_FAIL.match(line)):
            report.fail(found[1], first_said(lines, at + 1))
        elif found := _PHP_OK.match(line):
            report.told, report.passed = True, report.passed + int(found[1])
        elif found := _PHP_BAD.match(line):
            bad_ones = int(found[2] or 0) + int(found[3] or 0)
            not_run = sum(int(number) for number in _PHP_NOT_RUN.findall(line))
            report.told, report.failed, report.passed = True, bad_ones, int(found[1]) - bad_ones - not_run


# By what runners say that a run had no test, whatever its exit code. Only where none counted any.
_NOTHING = (
    "No tests executed", "No test is available", "No test matches", "no tests to run", "No tests to run", "\n0 runs, ",
    "Executed 0 tests", "DONE 0 tests", " 0 tests run", "Ran 0 tests", "NO TESTS RAN", "no tests ran", "No tests ran", "collected 0 items",
    "No tests found", "No test files found", "no test files", "No test suite found", "No tests were found", "No tests were executed",
    "Result: NOTESTS", "Running 0 tests", "running 0 tests", "No examples found",
)  # fmt: skip


def _none(lines: Sequence[str], report: Report) -> None:
    """A run without a test has neither passed nor failed."""
    report.told = bool(lines)


READERS: tuple[tuple[tuple[str, ...], Callable[[Sequence[str], Report], None]], ...] = (
    (("test result: ", "error: could not compile", "running "), _cargo),
    (("Tests run: ", "BUILD SUCCESS\n", "COMPILATION ERROR", "[INFO] BUILD"), _maven),
    (("Tests:  ", "Test Suites:"), read_jest),
    (("Test Files ",), read_vitest),
    (("tests passed, ", "% tests passed"), _ctest),
    ((" examples, ", " example, "), _rspec),
    (("Ran ",), read_unittest),
    (("--- FAIL: ", "ok  \t", "FAIL\t", "--- PASS: ", "ok      ", "\nPASS"), _go),
    (("ℹ tests", "# tests ", "TAP version"), read_node),
    ((" passing",), read_mocha),
    ((" tests completed", "BUILD SUCCESSFUL", "Compilation failed"), _gradle),
    ((" passed", " failed", " skipped", " deselected", "FAILED ", "ERROR ", " error in ", " errors in ", "____"), read_pytest),
    ((" pass\n", "passed |", "Passed!", "Failed!", "OK (", "Tests: ", "passed ("), _others),
    (_NOTHING, _none),
)
