"""What Go prints: panics and fatal errors with their goroutine, and failed tests."""

from __future__ import annotations

import re

from hardwon.code.stack.frames import LOOK, Frame, indent, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Traces

LANGUAGE = "go"
_PANIC = re.compile(r"(panic|fatal error): (.*)$")
_SERVING = re.compile(r".{0,200}?\bpanic serving [^\s]{1,100}: (.*)$")
_ROUTINE = re.compile(r"goroutine \d{1,12} (?:gp=\S{1,40} )?(?:m=\S{1,40} )?(?:mp=\S{1,40} )?\[")
_PLACE = re.compile(r"\s+(\S.{0,1000}\.(?:go|s)):(\d{1,9})(?: \+0x[0-9a-f]{1,16})?$")
_FAIL = re.compile(r"\s*--- FAIL: (\S{1,300}) \(")
_SAID = re.compile(r"\s+([\w./\\-]{1,300}\.go):(\d{1,9}): ?(.*)$")
_CLOSURE = re.compile(r"(?:\.(?:func\d+|\d+|gowrap\d+|deferwrap\d+|init|-fm|\.dict))+$|-fm$")
_RUN = "=== RUN "
_TYPES = re.compile(r"\[[^\[\]]{0,500}\]")  # of a generic function
_TESTIFY = re.compile(r"\s+Error:\s{1,40}(\S.*)$")
_ABOVE = 100  # lines that a test may print before it fails


def begins(line: str) -> bool:
    """Whether a panic or a stack may begin at this line."""
    return bool(_PANIC.match(line) or _ROUTINE.match(line) or ("panic serving" in line and _SERVING.match(line)))


def begins_test(line: str) -> bool:
    """Whether a test failed at this line."""
    return bool(_FAIL.match(line))


def read(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read a panic with the goroutine that it happened in, past the others; the line after them."""
    head = _PANIC.match(lines[at]) or _SERVING.match(lines[at])
    kind = head[1] if head and head.re is _PANIC else "panic"
    message = head[head.re.groups] if head else lines[at - 1].strip() if at > traces.low else ""
    place = at
    while place < min(at + LOOK, len(lines)) and not _ROUTINE.match(lines[place]):
        place += 1
    if place == len(lines) or not _ROUTINE.match(lines[place]):
        traces.add(LANGUAGE, kind, _plain(message), ()) if head else None
        return at + 1
    frames, place = _frames(lines, place + 1)
    traces.add(LANGUAGE, kind, _plain(message), frames)
    while True:  # what the other goroutines did
        following = next((n for n in range(place, min(place + 3, len(lines))) if lines[n].strip()), len(lines))
        if following == len(lines) or not _ROUTINE.match(lines[following]):
            return place
        _, place = _frames(lines, following + 1)


def read_test(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read what a failed test said, after the line that says so or, where all is told as it runs, before."""
    found = _FAIL.match(lines[at])
    name = found[1] if found else ""
    deep, place = indent(lines[at]), at + 1
    said: list[tuple[str, int, str]] = []
    while place < len(lines) and indent(lines[place]) > deep and not _FAIL.match(lines[place]):
        _hear(lines, place, said)
        place += 1
    if not said:
        _hear_above(lines, at, name, said)
    if said:
        frames = [Frame(path, line, name.partition("/")[0]) for path, line, _ in said]
        traces.add(LANGUAGE, "FAIL", f"{name}: {said[0][2]}", frames)
    return place


def function(name: str) -> str:
    """A function as symbols are spelt: ``example.com/x/pkg.(*Svc).Name`` is ``Svc.Name``; a closure is the function around it."""
    name = _TYPES.sub("", _TYPES.sub("", name)).rpartition("/")[2].partition(".")[2]
    name = _CLOSURE.sub("", name)
    return name.replace("(*", "").replace("(", "").replace(")", "")


def _frames(lines: Sequence[str], at: int) -> tuple[list[Frame], int]:
    """The frames of a goroutine, from the panic on; what ran after it, in deferred functions, is left out."""
    frames: list[Frame] = []
    place = at
    while place + 1 < len(lines) and lines[place].strip():
        found = _PLACE.match(lines[place + 1])
        if found is None:
            if not lines[place].startswith("..."):  # "additional frames elided"
                break
            place += 1
            continue
        called = _called(lines[place])
        if called in ("panic", "runtime.gopanic"):
            frames.clear()
        else:
            frames.append(Frame(found[1], number(found[2]), function(called)))
        place += 2
    return frames, place


def _called(line: str) -> str:
    """A function without its arguments."""
    name = line.strip().removeprefix("created by ").partition(" in goroutine ")[0]
    if not name.endswith(")"):
        return name
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if not depth:
            return name[:place]
    return name


def _plain(message: str) -> str:
    return message.removesuffix(" [recovered]").removesuffix(" [recovered, repanicked]")


def _hear(lines: Sequence[str], at: int, said: list[tuple[str, int, str]]) -> None:
    found = _SAID.match(lines[at])
    if not found:
        return
    message = found[3].strip()
    if not message:  # an assertion library tells its own below
        below = filter(None, map(_TESTIFY.match, lines[at + 1 : at + LOOK]))
        message = next((one[1] for one in below), "")
    said.append((found[1], number(found[2]), message))


def _hear_above(lines: Sequence[str], at: int, name: str, said: list[tuple[str, int, str]]) -> None:
    for place in range(at - 1, max(0, at - _ABOVE) - 1, -1):
        if lines[place].startswith(_RUN) and lines[place].removeprefix(_RUN).strip() == name:
            for below in range(place + 1, at):
                if lines[below].startswith(("=== ", "--- ")):
                    return
                _hear(lines, below, said)
            return
