"""Failures as pytest prints them: blocks of ``path:line: in function`` and ``E   message``, long and short."""

from __future__ import annotations

import re

from hardwon.code.stack import python
from hardwon.code.stack.frames import Frame, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Traces

_PLACE = re.compile(r"([^\s:][^:\n]{0,500}\.pyx?|[A-Za-z]:[^:\n]{1,500}\.pyx?):(\d{1,9}):(?: (.*))?$")
_SAID = re.compile(r"E {2,}(\S.*)$")
_DEFINED = re.compile(r"\s*(?:async )?def ([^\W\d]\w{0,200})\(")
_SUMMARY = re.compile(r"(?:FAILED|ERROR) ([^\s:]{1,500}\.py)::(\S{1,500})(?: - (.*))?$")
_BREAKS = ("____", "====", "---- ", "-----", "During handling of the above", "The above exception was", "Traceback (most")
_DEF_ABOVE = 200  # lines of a function that are printed above the place


def begins(line: str) -> bool:
    """Whether a block may begin at this line."""
    return (line.startswith("E  ") and bool(_SAID.match(line))) or (".py" in line and _placed(line) is not None)


def read(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read a block; the line after it."""
    block = _Block(_defined_above(lines, at, traces.low))
    place = at
    while place < len(lines) and not lines[place].startswith(_BREAKS) and block.take(lines[place]):
        place += 1
    if block.frames and (block.kind or block.message):
        traces.add(python.LANGUAGE, block.kind, block.message, block.frames[::-1])
    return place + (block.whole and place < len(lines) and not lines[place].startswith(_BREAKS))


def summary(lines: Sequence[str], traces: Traces) -> None:
    """The lines of the short summary, for a report that has nothing else."""
    for line in lines:
        found = _SUMMARY.match(line)
        if found:
            kind, message = _told(found[3] or "")
            name = found[2].partition("[")[0].replace("::", ".")
            traces.add(python.LANGUAGE, kind, message, (Frame(found[1], 0, name),))


class _Block:
    """What was read of one failure."""

    def __init__(self, defined: str) -> None:
        self.frames: list[Frame] = []
        self.kind = self.message = ""
        self.defined = defined
        self.said = self.whole = self.short = False

    def take(self, line: str) -> bool:
        """Whether the line belongs to it, and others may follow."""
        said = _SAID.match(line)
        placed = None if said else _placed(line)
        if said and not self.said:
            self.kind, self.message = _told(said[1])
            self.said = True
        elif placed:
            return self._place(*placed)
        elif self.said and self.short and not line.startswith("E "):
            return False  # of a short block the message comes last
        else:
            defined = _DEFINED.match(line)
            self.defined = defined[1] if defined else self.defined
        return True

    def _place(self, path: str, line: int, rest: str) -> bool:
        if rest.startswith("in "):
            if self.said:
                return False
            self.short = True
            self.frames.append(Frame(path, line, python.function(rest[3:])))
            return True
        self.frames.append(Frame(path, line, self.defined))
        if not rest:
            return True
        self.whole = True  # of a long block the type comes last
        kind, message = _told(rest)
        self.kind = self.kind or kind
        self.message = self.message or message
        return False


def _placed(line: str) -> tuple[str, int, str] | None:
    found = _PLACE.match(line)
    if not found:
        return None
    rest = (found[3] or "").strip()
    if rest and not rest.startswith(("in ", "assert ")):
        named = python.error(rest)
        if not named or named[0].endswith("Warning"):
            return None
    return found[1], number(found[2]), rest


def _told(text: str) -> tuple[str, str]:
    """Type and message of what an ``E`` line says."""
    if text.startswith(("assert ", "assert(")):
        return "AssertionError", text
    found = python.error(text)
    return found if found else ("", text)


def _defined_above(lines: Sequence[str], at: int, low: int) -> str:
    for line in reversed(lines[max(low, at - _DEF_ABOVE) : at]):
        if line.startswith(_BREAKS) or line.startswith("_ _ "):
            break
        found = _DEFINED.match(line)
        if found:
            return found[1]
    return ""
