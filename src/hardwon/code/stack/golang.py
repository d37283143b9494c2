"""What Go prints: panics and fatal errors with their goroutine, and failed tests."""

from __future__ import annotations

import re

from hardwon.code.stack.frames import CUT, LOOK, Frame, indent, number

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
_TURN = re.compile(r"=== (RUN|PAUSE|CONT|NAME)\s+(\S{1,300})$")
_TYPES = re.compile(r"\[[^\[\]]{0,500}\]")  # of a generic function
_LABEL = re.compile(r"\s+(Error Trace|Error|Test|Messages):\s{0,40}(.*)$")  # of what an assertion library tells
_COMPARING = re.compile(r"\s*(?:got|want(?:ed)?|have|expected|actual|received)\b\s{0,10}[:=]", re.IGNORECASE)
_ASSERTING = re.compile(r"\b(?:got|want(?:ed)?|expected|actual|unexpected|mismatch|should|must)\b", re.IGNORECASE)
_PLEASED = re.compile(r"\b(?:success|successful|successfully|passed|completed)\b", re.IGNORECASE)
_OWN = 100  # lines of one thing that a test says
_VALUE = 120  # characters of one of the values that differ


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
    place = _below(lines, at)
    said: list[tuple[str, int, str]] = []
    for below in range(at + 1, place):
        _hear(lines, below, said)
    if not said:
        said = _heard_above(lines, at, name, traces)
    if said:
        telling = _telling(said)
        ordered = (telling, *(one for one in said if one != telling))
        frames = [Frame(path, line, name.partition("/")[0]) for path, line, _ in ordered]
        traces.add(LANGUAGE, "FAIL", f"{name}: {telling[2]}", frames)
    return place


def _telling(said: list[tuple[str, int, str]]) -> tuple[str, int, str]:
    """Of what a test said the part that most likely made it fail, for what it only logged looks the same: the last that compares, else the
    last that does not tell of a success."""
    asserting = (one for one in reversed(said) if _ASSERTING.search(one[2]))
    last = (one for one in reversed(said) if one[2] and not _PLEASED.search(one[2]))
    return next(asserting, None) or next(last, said[-1])


def _below(lines: Sequence[str], at: int) -> int:
    """The line after those that are further in than a line: what belongs to it. Blank ones among them do, other failed tests do not."""
    deep, place, after = indent(lines[at]), at + 1, at + 1
    while place < len(lines) and (not lines[place].strip() or indent(lines[place]) > deep) and not _FAIL.match(lines[place]):
        place += 1
        after = place if lines[place - 1].strip() else after
    return after


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
    below: list[str] = []
    for line in lines[at + 1 : at + _OWN]:
        if line.strip() and (indent(line) <= indent(lines[at]) or (".go:" in line and _SAID.match(line))):
            break
        below += [line] if line.strip() else []
    message = found[3].strip()
    if below and not message and (labelled := _labelled(below)):
        message = labelled
    else:
        compared = [_short(line) for line in below if _COMPARING.match(line)][:2]
        message = " ".join(filter(None, (message or (below[0].strip() if below and not compared else ""), *compared)))
    said.append((found[1], number(found[2]), message))


def _labelled(below: Sequence[str]) -> str:
    """What an assertion library tells below its place: the error with the values that differ, or with its own first line where it announces
    one, and what the test says of it."""
    deep, rows = indent(below[0]), []
    told: dict[str, list[str]] = {}
    for line in below:
        found = _LABEL.match(line) if indent(line) == deep else None
        if found:
            rows = told.setdefault(found[1], [])
        rows.append(found[2] if found else line)
    error = [_short(row) for row in told.get("Error", ())]
    if not error:
        return ""
    more = [row for row in error[1:] if _COMPARING.match(row)][:2] or (error[1:2] if error[0].endswith(":") else [])
    messages = [_short(row) for row in told.get("Messages", ())[:1]]
    return " ".join((*error[:1], *more, *(f"({one})" for one in messages if one)))


def _short(line: str) -> str:
    """A line of values without what only lines it up."""
    return " ".join(line.split()).replace(" :", ":", 1)[:_VALUE]


def _heard_above(lines: Sequence[str], at: int, name: str, traces: Traces) -> list[tuple[str, int, str]]:
    """What a test said as it ran, in turns with others where they run side by side; what stands at the top of an output of which only the
    end was kept belongs to the test that it leads up to. Each line is looked at once, whichever test asks."""
    whose, place = traces.turn
    for at_line in range(place, at):
        line = lines[at_line]
        turn = _TURN.match(line) if line.startswith("=== ") else None
        if turn:
            whose = turn[2] if turn[1] != "PAUSE" else ""
            if turn[1] == "RUN":
                traces.said[whose] = []  # what it said when it ran before is another failure's
        elif line.startswith("--- "):
            whose = ""
        elif whose:
            _hear(lines, at_line, traces.said.setdefault(whose, []))
    traces.turn = (whose, max(place, at))
    return traces.said.get(name) or (traces.said.get(CUT, []) if whose == CUT else [])
