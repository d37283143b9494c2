"""Panics of Rust in the old and the new form, with their backtraces; errors that carry one."""

from __future__ import annotations

import re

from hardwon.code.stack.frames import LOOK, Frame, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Traces

LANGUAGE = "rust"
_NEW = re.compile(r".{0,300}? panicked at ([^'\s].{0,1000}?):(\d{1,9}):\d{1,9}:?$")
_OLD = re.compile(r".{0,300}? panicked at '(.*)$")
_OLD_END = re.compile(r"(.*)', (.{1,1000}?):(\d{1,9}):\d{1,9}$")
_STEP = re.compile(r"\s*\d{1,4}:\s+(?:0x[0-9a-f]{1,16} - )?(\S.*)$")
_PLACE = re.compile(r"\s+at (.{1,1000}?):(\d{1,9})(?::\d{1,9})?$")
_HASH = re.compile(r"::h[0-9a-f]{16}$")
_ERROR = re.compile(r"Error: (.*)$")
_MACHINERY = ("core::", "std::", "alloc::", "__rustc", "rust_begin_unwind", "<", "_")


def begins(line: str) -> bool:
    """Whether a panic or a backtrace begins at this line."""
    return " panicked at " in line or _is_backtrace(line)


def read(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read a panic, and the backtrace below it; the line after them."""
    new = _NEW.match(lines[at])
    kind, where = "panic", None
    if new:
        message = lines[at + 1].strip() if at + 1 < len(lines) else ""
        where, place = Frame(new[1], number(new[2]), ""), at + 2
    elif _is_backtrace(lines[at]):
        kind, message, place = _error_above(lines, at, traces.low)
    else:
        message, where, place = _old(lines, at)
        if where is None:
            return at + 1
    start = next((n for n in range(place, min(place + LOOK, len(lines))) if _is_backtrace(lines[n])), None)
    started = start is not None and not any(" panicked at " in line for line in lines[place:start])
    frames: list[Frame] = []
    name = ""
    if started and start is not None:
        frames, name, place = _frames(lines, start + 1)
    if where is not None:
        frames = _from(frames, where.replace(function=name))
    if frames or where:
        traces.add(LANGUAGE, kind, message, frames)
    return max(place, at + 1)


def function(name: str) -> str:
    """A function as symbols are spelt: ``app::Svc::at`` is ``Svc.at``, ``app::run`` is ``run``; a closure is the function around it."""
    name = _HASH.sub("", name.strip())
    if name.startswith("<"):
        inner, rest = _bracketed(name)
        owner = _plain(inner.partition(" as ")[0]).rpartition("::")[2]
        name = f"{owner}{_plain(rest)}"
    parts = [part for part in _plain(name).split("::") if part and not part.startswith("{")]
    if len(parts) > 1 and parts[-2][:1].isupper():
        return ".".join(parts[-2:])
    return parts[-1] if parts else ""


def _is_backtrace(line: str) -> bool:
    return line.strip().lower() == "stack backtrace:"


def _old(lines: Sequence[str], at: int) -> tuple[str, Frame | None, int]:
    """``panicked at 'message', src/x.rs:3:5``; the message may have several lines."""
    found = _OLD.match(lines[at])
    if not found:
        return "", None, at
    first = found[1]
    for place in range(at, min(at + LOOK, len(lines))):
        end = _OLD_END.match(first if place == at else lines[place])
        if end:
            return (end[1] if place == at else first), Frame(end[2], number(end[3]), ""), place + 1
    return "", None, at


def _error_above(lines: Sequence[str], at: int, low: int) -> tuple[str, str, int]:
    for place in range(at - 1, max(low, at - LOOK) - 1, -1):
        found = _ERROR.match(lines[place])
        if found:
            return "Error", found[1], at
    return "", "", at


def _frames(lines: Sequence[str], at: int) -> tuple[list[Frame], str, int]:
    """The frames, the first function of which no place is told, and the line after them."""
    frames: list[Frame] = []
    place, name, bare = at, "", ""
    while place < len(lines):
        step, where = _STEP.match(lines[place]), _PLACE.match(lines[place])
        if where:
            frames.append(Frame(where[1].removeprefix("./"), number(where[2]), function(name)))
            name = ""
        elif step:
            bare = bare or ("" if name.startswith(_MACHINERY) else function(name))
            name = step[1]
        else:
            break
        place += 1
    return frames, bare, place


def _from(frames: list[Frame], where: Frame) -> list[Frame]:
    """The frames from where it panicked; those before it are the machinery of panicking. Without a backtrace the place alone."""
    for place, frame in enumerate(frames):
        if frame.line == where.line and (frame.path.endswith(where.path) or where.path.endswith(frame.path)):
            return frames[place:]
    theirs = [place for place, frame in enumerate(frames) if not frame.path.startswith("/rustc/")]
    return [where.replace(path=where.path.removeprefix("./")), *(frames[theirs[0] :] if theirs else [])]


def _bracketed(name: str) -> tuple[str, str]:
    """What stands in the first angle brackets, and what follows them."""
    depth = 0
    for place, char in enumerate(name):
        depth += (char == "<") - (char == ">" and name[place - 1] != "-")
        if not depth:
            return name[1:place], name[place + 1 :]
    return name[1:], ""


def _plain(name: str) -> str:
    """A path without what stands in angle brackets."""
    out, depth = [], 0
    for place, char in enumerate(name):
        if char == "<":
            depth += 1
        elif char == ">" and name[place - 1 : place] != "-":
            depth = max(0, depth - 1)
        elif not depth:
            out.append(char)
    return "".join(out).replace("::::", "::")
