"""What the output of a test run or a build says: how many tests passed and failed, which failed, and the message that tells why.

Patterns are bounded and the output is cut, so that reading is linear. Loaded for the output of checks only, and with it
``re``, which is dear.
"""

from __future__ import annotations

from hardwon.capture.report import REST, Report, following, is_file
from hardwon.capture.runners import READERS
from hardwon.code.pattern import Pattern
from hardwon.code.stack.frames import readied
from hardwon.code.stack.signature import signature
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Trace

LONGEST = 200_000  # characters of an output that are read: its beginning and its end
_MESSAGE = 300
_BELOW = 12  # lines below what a bundler raises in which its first error stands


class Failing(Value):
    """One test that failed, or what failed where no test is named (``name`` ""). ``test`` is its name without parameters; ``file`` the file
    that the runner names, "" where it does not; ``frames`` innermost first, (path, line, function); ``signature`` is equal for the
    same failure in another run; ``compiled``: it came of what could not be built, or not be loaded, so that nothing ran."""

    name: str
    kind: str = ""
    message: str = ""
    file: str = ""
    frames: tuple[tuple[str, int, str], ...] = ()
    signature: str = ""
    compiled: bool = False


class Results(Value):
    """``passed`` and ``failed`` are counts as the runner tells them, ``passing`` names of tests that it tells to have passed; ``broken``:
    nothing could be run at all (it does not compile, a test file cannot be imported); ``verdict``: whether all that ran passed, None
    where the output does not say; ``counted``: it says how many failed."""

    passed: int = 0
    failed: int = 0
    failing: tuple[Failing, ...] = ()
    passing: tuple[str, ...] = ()
    broken: bool = False
    verdict: bool | None = None
    counted: bool = True


def read(output: str) -> Results | None:
    """What the output of a test run says; None where it is that of none."""
    text = _cut(output)
    lines = readied(text)
    for signs, parser in READERS:
        if any(sign in text for sign in signs):
            report = Report()
            parser(lines, report)
            if report.told:
                failed = report.names or report.failed or report.broken
                return _results(report, _traces(text) if failed else (), lines)
    return None


def failure(output: str) -> Failing | None:
    """The failure that an output without tests tells of: the root of its last trace, or a compiler's first error; None where there is
    nothing that tells."""
    text = _cut(output)
    traces = _traces(text)
    if traces and _COUNTED.match(traces[0].message):
        found = _bundler(traces[0].kind, readied(text)) or _of_trace("", traces[0]).replace(compiled=True)
        return _of_several(found, readied(text))
    if traces:
        return _with_what_follows(_of_trace("", traces[0]), readied(text))
    return _compiler(readied(text))


def _with_what_follows(failing: Failing, lines: Sequence[str], unique: bool = True) -> Failing:
    """The failure with what follows its message in its signature, where that ends in a colon and says nothing alone; without a signature
    where nobody knows what follows, for then it is like no other."""
    said = failing.message.rstrip()
    if not said.endswith(":"):
        return failing
    at = next((at for at, line in enumerate(lines) if line.rstrip().endswith(said)), -1) if unique else -1
    below = following(lines, at + 1) if at >= 0 else []
    return failing.replace(signature=_digested(failing.signature, below) if below else "")  # type: ignore[no-any-return]


def _of_several(failing: Failing, lines: Sequence[str]) -> Failing:
    """A compiler's first error with all of them in its signature: where there are fewer, it is being mended bit by bit."""
    errors = [line.strip() for line in lines if any(pattern.match(line) for pattern in _COMPILERS)]
    counts = [found[1] for line in lines if " error" in line and (found := _ERRORS.search(line)) and found[1] != "1"]
    if len(errors) < 2 and not counts:
        return failing
    digested = _digested(failing.signature, errors, counts[-1] if counts else "")
    return failing.replace(signature=digested)  # type: ignore[no-any-return]


def _digested(said: str, lines: Sequence[str], count: str = "") -> str:
    """A signature with a digest of more lines, in whichever order they stand."""
    from zlib import crc32

    told = "\n".join(sorted(signature("", line) for line in lines))
    return f"{said[: _MESSAGE - 40]}{REST}{len(lines)} {count} {crc32(told.encode('utf-8', 'replace')):x}"


def _traces(text: str) -> Sequence[Trace]:
    from hardwon.code.traces import parse  # not for a green run

    return parse(text)


def _cut(output: str) -> str:
    if len(output) <= LONGEST:
        return output
    return f"{output[: LONGEST // 2]}\n{output[-LONGEST // 2 :]}"


def _results(report: Report, traces: Sequence[Trace], lines: Sequence[str]) -> Results:
    failing = [_failing(name, report, traces) for name in report.names]
    failed = report.failed or len(report.names)
    if not failing and (failed or report.broken):
        alone = _of_trace("", traces[0]) if traces else _compiler(lines)
        failing = [alone] if alone else []
    said = [one.message for one in failing]
    failing = [_with_what_follows(one, lines, said.count(one.message) == 1) for one in failing]
    if report.broken:
        failing = [one if bare_name(one.name) else one.replace(compiled=True) for one in failing]
    verdict = None if not (failed or report.passed or report.broken) else not (failed or report.broken)
    return Results(report.passed, failed, tuple(failing), tuple(report.passing), report.broken, verdict, not report.uncounted)


def _failing(name: str, report: Report, traces: Sequence[Trace]) -> Failing:
    """A failing test with the trace that belongs to it: its own, else one that goes through the test, or that says what its summary says;
    of a file that alone failed, and says nothing, the first."""
    message, file = report.names[name]
    function = bare_name(name)
    file = file or _file(name)
    frames = report.frames.get(name, ())
    if frames and message:
        kind, text = _split(message)
        return Failing(name, kind, text, file, frames, signature(kind, text))
    if is_file(name) and not message and traces and len(report.names) == 1:
        return _of_trace(name, traces[0]).replace(file=file)  # type: ignore[no-any-return]
    chosen = next((trace for trace in traces if function and _goes_through(trace, function, file)), None)
    if chosen is None and message:
        start = message.rstrip(".… ")[:40]
        chosen = next((trace for trace in traces if start and start in f"{trace.kind}: {trace.message}"), None)
    if chosen is not None:
        told = _of_trace(name, chosen)
        return told.replace(file=file or told.file)  # type: ignore[no-any-return]
    kind, text = _split(message)
    return Failing(name, kind, text, file, (), signature(kind, text) if kind or text else "")


def _goes_through(trace: Trace, function: str, file: str) -> bool:
    named = any(frame.function.rpartition(".")[2] == function for frame in trace.frames)
    return named or trace.message.startswith((f"{function}:", f"{function}/")) or (not named and function in trace.message[:80])


def _of_trace(name: str, trace: Trace) -> Failing:
    message = trace.message
    if trace.kind == "FAIL":  # Go: "TestName: what it said"
        message = message.partition(": ")[2] or message
    frames = tuple((frame.path, frame.line, frame.function) for frame in trace.frames[:12])
    kind = "" if trace.kind == "FAIL" else trace.kind
    return Failing(name, kind, message[:_MESSAGE], "", frames, signature(kind, message), not name and kind in _COMPILING)


def bare_name(name: str) -> str:
    """A test's own function: ``test_x`` of ``tests/a.py::TestX::test_x[1]``, ``TestSum`` of ``TestSum/two``."""
    name = name.partition("[")[0]
    if is_file(name):
        return ""
    for sign in ("::", " › ", " > ", "#"):
        name = name.rpartition(sign)[2]
    name = name.partition("/")[0]
    return name.rpartition(".")[2].strip()


def _file(name: str) -> str:
    path = name.partition("::")[0]
    return path if "::" in name and "." in path.rpartition("/")[2] else ""


_KIND = Pattern(
    r"([A-Za-z_][\w.]{0,80}(?:Error|Exception|Failure|Warning|Exit|Interrupt|Timeout)|Error|panic|AssertionFailedError)"
    r"(?: \[[A-Z_0-9]{1,60}\])?: ?(.*)$"
)


def _split(message: str) -> tuple[str, str]:
    found = _KIND.match(message)
    if found:
        return found[1], found[2].strip()
    if message.startswith(("assert ", "assert(")):
        return "AssertionError", message
    return "", message


# --- compilers and interpreters

_COMPILING = frozenset(("TSError",))  # what is raised where code is compiled as it is loaded

_COMPILERS = (
    # rustc: the place stands on the next line
    Pattern(r"(?P<kind>error)\[(?P<code>E\d{4})\]: (?P<said>.{1,300})$"),
    # tsc
    Pattern(
        r"(?P<path>[^\s(:][^(:]{0,300})[(:](?P<line>\d{1,7})[,:]\d{1,6}\)?(?::| -) (?P<kind>error) "
        r"(?P<code>TS\d{1,6}): (?P<said>.{1,300})$"
    ),
    # gcc, clang, go, mypy, javac
    Pattern(
        r"(?P<path>(?:[A-Za-z]:)?[^\s:][^:]{0,300}\.\w{1,6}):(?P<line>\d{1,7})(?::\d{1,6})?: "
        r"(?P<kind>(?:fatal )?error|ERROR): (?P<said>.{1,300})$"
    ),
    Pattern(r"(?P<path>\.{0,2}/?[\w./-]{1,300}\.go):(?P<line>\d{1,7}):\d{1,6}: (?P<said>.{1,300})$"),
    Pattern(r"(?:\[ERROR\] )?(?P<path>/?[\w./-]{1,300}\.(?:java|kt)):\[(?P<line>\d{1,7}),\d{1,6}\] (?P<said>.{1,300})$"),
)  # fmt: skip
# Bundlers raise how many errors there were; the errors themselves stand below, each behind or under its place.
_COUNTED = Pattern(r".{0,100}failed with \d{1,6} errors?:?")
_ERRORS = Pattern(r"\b(\d{1,6}) (?:previous )?errors?\b")
_PLACE = Pattern(r"(?P<path>\.{0,2}/?[^\s:()]{1,300}\.\w{1,6}):(?P<line>\d{1,7}):\d{1,6}(?P<said>.{0,300})$")
_RUST_PLACE = Pattern(r"\s*--> (.{1,300}?):(\d{1,7}):\d{1,6}$")


def _bundler(kind: str, lines: Sequence[str]) -> Failing | None:
    """The first error that a bundler counted."""
    start = next((at for at, line in enumerate(lines) if _COUNTED.match(line)), len(lines))
    for at in range(start + 1, min(start + 1 + _BELOW, len(lines))):
        found = _PLACE.match(lines[at].strip())
        if found:
            under = next((line for line in lines[at + 1 : at + 3] if line.strip()), "")
            said = found["said"].strip(" :").removeprefix("ERROR").strip(" :") or under.strip()
            path, line = found["path"], int(found["line"])
            return Failing("", kind, said[:_MESSAGE], path, ((path, line, ""),), signature(kind, said), True)
    return None


def _compiler(lines: Sequence[str]) -> Failing | None:
    """A compiler's first error."""
    for at, line in enumerate(lines):
        for pattern in _COMPILERS:
            found = pattern.match(line)
            if not found:
                continue
            told = found.groupdict()
            path, number = told.get("path") or "", int(told.get("line") or 0)
            if not path and at + 1 < len(lines) and (place := _RUST_PLACE.match(lines[at + 1])):
                path, number = place[1], int(place[2])
            kind, said = told.get("code") or "", told["said"].strip()
            first = Failing("", kind, said, path, ((path, number, ""),) if path else (), signature(kind, said), True)
            return _of_several(first, lines)
    return None
