"""The reports of JavaScript's test runners: Jest, Vitest, Mocha, Node's own and Bun. Patterns are bounded, as in ``runners``."""

from __future__ import annotations

from hardwon.capture.helping import same_file
from hardwon.capture.report import LONGEST_NAME, Report, first_said, is_file
from hardwon.code.pattern import Pattern
from hardwon.code.stack.frames import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Frame = tuple[str, int, str]


def _frames(lines: Sequence[str], at: int, ends: Callable[[str], bool]) -> list[Frame]:
    """The places of JavaScript that are told below a line, up to one that ends what belongs to it. What else speaks of an error of the
    same words is another test's, which is why the traces of the whole output do not do."""
    found: list[Frame] = []
    for place in range(at, len(lines)):
        if ends(lines[place]):
            break
        if (frame := _placed(lines[place])) is not None:
            found.append(frame)
    return found


def _placed(line: str) -> Frame | None:
    """The place that a line of a trace tells: ``at f (a.ts:1:2)``, or as Vitest draws it ``❯ f a.ts:1:2``."""
    bare = line.strip()
    if not bare.startswith(("at ", "❯ ")):
        return None
    from hardwon.code.stack import javascript

    if bare.startswith("at "):
        frame = javascript.frame(bare)
        return (frame.path, frame.line, frame.function) if frame is not None and frame.path else None
    name, _, where = bare[2:].rpartition(" ")
    parts = where.rsplit(":", 2)
    if len(parts) < 3 or not (parts[0] and parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    function = javascript.function(name.strip().removeprefix("Module.").removeprefix("Proxy."))
    return javascript.location(parts[0]), number(parts[1]), function


_JEST_TESTS = Pattern(r"Tests:\s+(?:(\d+) failed, )?(?:\d+ skipped, )?(?:\d+ todo, )?(?:(\d+) passed, )?\d+ total")
_JEST_FAIL = Pattern(r"\s*● (?!Console|Validation|Deprecation|Cannot)(\S.{0,300}?)$")


def read_jest(lines: Sequence[str], report: Report) -> None:
    """Jest names a test with a bullet, and says below it what failed."""
    file = ""
    for at, line in enumerate(lines):
        if line.startswith("FAIL "):
            file = line[5:].strip().split(" (")[0]
        elif "●" in line and (found := _JEST_FAIL.match(line)):
            name = found[1]
            if name == "Test suite failed to run":
                report.broken = True
                continue
            report.fail(name, first_said(lines, at + 1), file)
            report.went(name, _frames(lines, at + 1, _is_of_another))
        elif found := _JEST_TESTS.match(line):
            report.told = True
            report.failed += int(found[1] or 0)
            report.passed += int(found[2] or 0)
        elif line.lstrip().startswith("✓ "):
            report.passing[line.strip()[2:].split(" (")[0][:LONGEST_NAME]] = None
    if report.broken and not report.told:
        report.told = True


def _is_of_another(line: str) -> bool:
    """Whether Jest goes on to another test or file."""
    return line.lstrip().startswith(("● ", "FAIL ", "PASS ", "Test Suites:"))


_VITEST_TESTS = Pattern(r"\s*Tests\s+(?:(\d+) failed(?: \| )?)?(?:(\d+) passed(?: \| )?)?(?:\d+ \w+(?: \| |(?= ?\()))* ?\(\d+\)")
_VITEST_FAIL = Pattern(r"\s*FAIL\s+(?:\|\w+\| )?(\S+\.\w+)(?: > (.{1,300}))?$")


def read_vitest(lines: Sequence[str], report: Report) -> None:
    """Vitest says what failed below the headings of all tests that it is said of."""
    # Tests whose headings stand one below the other: what is said below the last is said of all.
    alike: list[tuple[str, str]] = []
    for at, line in enumerate(lines):
        if "FAIL " in line and (found := _VITEST_FAIL.match(line)):
            if found[2] is None or found[2].startswith("["):
                report.broken = True
            else:
                alike.append((found[2].strip(), found[1]))
            if at + 1 < len(lines) and _VITEST_FAIL.match(lines[at + 1]):
                continue
            said, frames = first_said(lines, at + 1), _frames(lines, at + 1, _is_over)
            for name, file in alike:
                report.fail(name, said, file)
                report.went(name, frames)
            alike = []
        elif found := _VITEST_TESTS.match(line):
            report.told = True
            report.failed += int(found[1] or 0)
            report.passed += int(found[2] or 0)
        elif "Test Files " in line and "failed" in line and report.broken:
            report.told = True


def _is_over(line: str) -> bool:
    """Whether Vitest has said what it says of some tests."""
    return line.startswith("⎯") or bool(_VITEST_FAIL.match(line))


_TITLES = 12  # lines of a test's name, one for each of what it is nested in
_MOCHA_COUNT = Pattern(r"\s*(\d{1,7}) (passing|failing)\b")
_MOCHA_HEAD = Pattern(r"\s{1,4}(\d{1,4})\) (\S.{0,200})$")


def read_mocha(lines: Sequence[str], report: Report) -> None:
    """Mocha numbers what failed, with the parts of a name on lines of their own."""
    for at, line in enumerate(lines):
        if found := _MOCHA_COUNT.match(line):
            report.told = True
            if found[2] == "passing":
                report.passed += int(found[1])
            else:
                report.failed += int(found[1])
        elif report.told and report.failed and (found := _MOCHA_HEAD.match(line)):
            parts, place = [found[2].rstrip(":")], at + 1
            last = min(len(lines), at + _TITLES)
            while place < last and not parts[-1].endswith(":") and lines[place].strip() and not _ended(line):
                line = lines[place]  # noqa: PLW2901 - titles go on until the one that ends with a colon
                parts.append(line.strip())
                place += 1
            said = first_said(lines, place)
            name = " ".join(part.rstrip(":") for part in parts)
            report.fail(name, said)
            report.went(name, _frames(lines, place, lambda line: bool(_MOCHA_HEAD.match(line))))


def _ended(line: str) -> bool:
    return line.rstrip().endswith(":")


_TAP_LINES = 60  # of what is told of one test
_TAP = Pattern(r"\s*(not ok|ok) \d{1,7}(?: -)? (.{1,300}?)(?: # .*)?$")
_NODE_COUNT = Pattern(r"(?:#|ℹ) (pass|fail|tests) (\d+)$")
_NODE_MARK = Pattern(r"\s*✖ (\S.{0,300}?) \([\d.]+ms\)$")
_NODE_MARKS = ("✖ ", "✔ ", "▶ ", "ℹ ", "test at ")


def read_node(lines: Sequence[str], report: Report) -> None:
    """Node tells of its tests as TAP or with marks, and of a file beside them."""
    for at, line in enumerate(lines):
        if found := _NODE_COUNT.match(line):
            report.told = True
            if found[1] == "pass":
                report.passed += int(found[2])
            elif found[1] == "fail":
                report.failed += int(found[2])
        elif found := _TAP.match(line):
            if found[1] == "ok":
                report.passing[found[2][:LONGEST_NAME]] = None
            elif "subtestsFailed" not in " ".join(lines[at + 1 : at + 7]):
                said, file, frames = _tap_said(lines, at + 1)
                report.fail(found[2], said, file)
                report.went(found[2], frames)
        elif "✖" in line and (found := _NODE_MARK.match(line)):
            following = lines[at + 1].strip() if at + 1 < len(lines) else ""
            if following and not following.startswith(("ℹ", "✖", "▶", "✔")):
                place = lines[at - 1].strip() if at else ""
                file = place[8:].rsplit(":", 2)[0] if place.startswith("test at ") else ""
                report.fail(found[1], first_said(lines, at + 1), file)
                report.went(found[1], _frames(lines, at + 1, lambda one: one.lstrip().startswith(_NODE_MARKS)))
    _without_files(report)
    if report.names:
        report.failed = len(report.names)


def _without_files(report: Report) -> None:
    """Of a file that failed as a whole nothing, where its tests are named themselves; else nothing but its name, for ``test failed`` says
    no more. Tests of which older versions tell no file are those of the only file that failed; of several any may be one that could not
    be loaded, and counting it beside its test costs less than losing it."""
    tests = {file.replace("\\", "/") for name, (_, file) in report.names.items() if not is_file(name)}
    whole = [name for name, (said, _) in report.names.items() if is_file(name) and "test failed" in said]
    for name in whole:
        if (tests == {""} and len(whole) == 1) or any(one and same_file(one, name.replace("\\", "/")) for one in tests):
            del report.names[name]
        else:
            report.names[name] = ("", report.names[name][1] or name)


def _tap_said(lines: Sequence[str], at: int) -> tuple[str, str, list[Frame]]:
    """What is told of a test, its file, and the places of its trace, which lack their ``at``."""
    told: dict[str, str] = {}
    frames: list[Frame] = []
    stack = False
    for place in range(at, min(at + _TAP_LINES, len(lines))):
        name, colon, value = lines[place].strip().partition(": ")
        if lines[place].strip() == "...":
            break
        stack = stack or lines[place].strip() == "stack: |-"
        if stack and (frame := _placed(f"at {lines[place].strip()}")) is not None:
            frames.append(frame)
        elif colon and name in ("error", "name"):
            block = [line.strip() for line in lines[place + 1 : place + 6] if line.strip()] if value.startswith("|") else []
            told[name] = " ".join(block[:2]) if block else value.strip("'\"")
        elif colon and name == "location":
            told[name] = value.strip("'\"").rsplit(":", 2)[0]
    kind, file = told.get("name", ""), told.get("location", "")
    return f"{kind}: {told.get('error', '')}" if kind else told.get("error", ""), file, frames


_BUN_COUNT = Pattern(r"\s*(\d+) (pass|fail)$")
_BUN_FAIL = Pattern(r"\(fail\) (\S.{0,300}?)(?: \[[\d.]+m?s\])?$")
_BUN_MARKS = ("(fail) ", "(pass) ", "(skip) ", "(todo) ")


def read_bun(lines: Sequence[str], report: Report) -> None:
    """Bun counts, and names a test below what it says of it."""
    since = 0
    for at, line in enumerate(lines):
        if found := _BUN_COUNT.match(line):
            report.told = True
            report.passed += int(found[1]) * (found[2] == "pass")
            report.failed += int(found[1]) * (found[2] == "fail")
        elif found := _BUN_FAIL.match(line):
            report.fail(found[1], _bun_said(lines, since, at))
            report.went(found[1], _frames(lines[since:at], 0, lambda one: False))
        since = at + 1 if line.startswith(_BUN_MARKS) else since


def _bun_said(lines: Sequence[str], since: int, at: int) -> str:
    """What Bun says above the name of a test that failed."""
    for place in range(since, at):
        kind, colon, said = lines[place].partition(": ")
        if not colon or not (kind == "error" or (kind.isidentifier() and kind.endswith(("Error", "Exception")))):
            continue
        if said.startswith("expect("):
            values = [line.strip() for line in lines[place + 1 : at] if line.startswith(("Expected", "Received"))]
            return " ".join([said, *values[:2]])
        return said if kind == "error" else lines[place]
    return ""
