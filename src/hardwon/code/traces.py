"""Stack traces in a log: found among what surrounds them, in five languages, the root cause first.

Linear in what is read, which is bounded; each language's patterns are made when its first line is met.
"""

from __future__ import annotations

from hardwon.code.stack.frames import Traces, readied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardwon.code.stack.frames import Trace

    Reader = Callable[[Sequence[str], int, Traces], int]

LONGEST = 2_000_000  # characters: the last of a longer log
MOST = 50  # failures


def parse(text: str) -> tuple[Trace, ...]:
    """The failures that a log tells of, in its order, but an exception's cause before it; each once. () where there is none."""
    lines = readied(text[-LONGEST:])
    traces = Traces()
    place = 0
    while place < len(lines) and len(traces.chains) < MOST:
        reader = _reader(lines[place])
        after = reader(lines, place, traces) if reader else place
        if after > place:
            traces.low = after
        place = max(after, place + 1)
    if not traces.chains:
        from hardwon.code.stack import pytest_report

        pytest_report.summary(lines, traces)
    found = [trace for chain in traces.chains for trace in chain]
    return tuple({(trace.signature, trace.frames): trace for trace in found}.values())


def _reader(line: str) -> Reader | None:
    """Who reads on from a line, if a trace begins there; told by words first, so that an ordinary line costs little."""
    bare = line.lstrip()
    if bare.startswith("at "):
        from hardwon.code.stack import java, javascript

        return java.read if java.begins(line) else javascript.read if javascript.begins(line) else None
    if "Traceback (" in line or "(most recent call " in line or bare.startswith('File "'):
        from hardwon.code.stack import python

        return python.read if python.begins(line) else None
    if " panicked at " in line or (bare[:1] in ("s", "S") and bare.lower() == "stack backtrace:"):
        from hardwon.code.stack import rust

        return rust.read
    return _rarer(line, bare)


def _rarer(line: str, bare: str) -> Reader | None:
    if line.startswith(("panic: ", "fatal error: ", "goroutine ")) or "panic serving" in line or bare.startswith("--- FAIL: "):
        from hardwon.code.stack import golang

        return golang.read_test if golang.begins_test(line) else golang.read if golang.begins(line) else None
    if line.startswith("E  ") or ".py:" in line:
        from hardwon.code.stack import pytest_report

        return pytest_report.read if pytest_report.begins(line) else None
    if ("@" in line and line[-1:].isdigit()) or line.endswith("stack: |-"):
        from hardwon.code.stack import javascript

        if javascript.begins_listed(line):
            return javascript.read_listed
        return javascript.read_elsewhere if javascript.begins_elsewhere(line) else None
    return None
