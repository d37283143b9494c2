"""Tracebacks of Python, chained and grouped ones among them."""

from __future__ import annotations

import re

from hardwon.code.stack.frames import Frame, indent, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Trace, Traces

LANGUAGE = "python"
HEAD = "Traceback (most recent call last)"
FATAL = "(most recent call first)"  # what faulthandler prints
_FRAME = re.compile(r'\s*File "([^"]{1,1000})", line (\d{1,12})(?:,? in (.{1,300}))?')
_ERROR = re.compile(r"([^\W\d][\w.]{0,200})(?::(?: (.*))?)?$")
_BARS = re.compile(r" *[|+] ?")
_RULE = re.compile(r"[ |+-]{2,400}(?: \d{1,4} -+)?-*$")
_DIGITS = str.maketrans("123456789", "000000000")
_DEEPEST = 8  # groups within groups
_NAMELESS = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


def begins(line: str) -> bool:
    """Whether a traceback begins at this line; one of a syntax error may lack its head."""
    return HEAD in line or FATAL in line or ('File "' in line and bool(_FRAME.match(line)))


def read(lines: Sequence[str], at: int, traces: Traces, parent: Trace | None = None, depth: int = 0) -> int:
    """Read a traceback that begins at a line; the line after it."""
    head = lines[at]
    barred = head.lstrip().startswith(("+ ", "| "))
    cut = _cut(head, lines[at + 1] if at + 1 < len(lines) else "")
    frames: list[Frame] = []
    kind = message = ""
    base = indent(_plain(head, barred, cut)) if HEAD in head or FATAL in head else 0
    place = at + (HEAD in head or FATAL in head)
    while place < len(lines):
        line = _plain(lines[place], barred, cut)
        found = _FRAME.match(line)
        if found:
            frames.append(Frame(found[1], number(found[2]), function(found[3] or "")))
        elif line.strip() and indent(line) <= base:
            kind, message, taken = _error(line, frames)
            place += taken
            break
        elif not line.strip():
            break
        place += 1
    if FATAL in head:
        kind, message = _fatal(lines, at, traces.low)
    else:
        frames.reverse()
    trace = traces.add(LANGUAGE, kind, message, frames, parent) if frames or kind else None
    if barred and depth < _DEEPEST and trace is not None and "Group Traceback" in head:
        place = _members(lines, place, traces, trace, depth)
    return place


def function(name: str) -> str:
    """A function as symbols are spelt."""
    name = name.strip().rpartition("<locals>.")[2]
    return "" if name in _NAMELESS or not name.replace(".", "").isidentifier() else name


def error(line: str) -> tuple[str, str] | None:
    """Type and message of a line such as ``KeyError: 'x'``; None for what is none."""
    found = _ERROR.match(line.strip())
    if not found or not ("." in found[1] or found[1].rpartition(".")[2][:1].isupper()):
        return None
    return found[1], found[2] or ""


def _error(line: str, frames: Sequence[Frame]) -> tuple[str, str, bool]:
    found = error(line) if frames else None
    return (*found, True) if found else ("", "", False)


def _fatal(lines: Sequence[str], at: int, low: int) -> tuple[str, str]:
    """What stands above the threads that faulthandler lists."""
    for line in reversed(lines[max(low, at - 5) : at + 1]):
        if "Fatal Python error: " in line:
            return "Fatal Python error", line.partition("Fatal Python error: ")[2]
    return "", ""


def _cut(head: str, following: str) -> int:
    """How long the prefix of an unknown logger is, where the next line has the same but for digits."""
    before = head[: max(head.find("Exception Group " + HEAD), 0) or max(head.find(HEAD), 0)]
    if not before.strip(" |+"):
        return 0
    return len(before) if following[: len(before)].translate(_DIGITS) == before.translate(_DIGITS) else 0


def _plain(line: str, barred: bool, cut: int) -> str:
    line = line[cut:]
    if barred:
        found = _BARS.match(line)
        return line[found.end() :] if found else line
    return line


def _members(lines: Sequence[str], at: int, traces: Traces, group: Trace, depth: int) -> int:
    """The exceptions of a group, each as a cause of it."""
    place, opened = at, False
    while place < len(lines) and lines[place].lstrip()[:1] in ("|", "+"):
        line = _plain(lines[place], True, 0).strip()
        if _RULE.match(lines[place]):
            opened = True
        elif HEAD in line:
            place = max(read(lines, place, traces, group, depth + 1), place + 1)
            continue
        elif opened and line:
            found = error(line)
            if found:
                traces.add(LANGUAGE, *found, (), group)
            opened = False
        place += 1
    return place
