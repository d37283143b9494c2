"""Stack traces of JavaScript and TypeScript: V8 (Node, Deno, browsers, Jest, Vitest), and Firefox and Safari."""

from __future__ import annotations

import re

from hardwon.code.stack.frames import LOOK, Frame, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Traces

LANGUAGE = "javascript"
_HEAD = re.compile(
    r"\s*(?:\[cause\]: |Uncaught |Unhandled |\(in promise\) |UnhandledPromiseRejectionWarning: |Caused by: |error: )*+"
    r"([A-Za-z_$][\w$.]{0,100})(?: \[[A-Z_0-9]{1,60}\])?(?:: ?(.*)|$)"
)
_ERRORS = ("Error", "Exception", "Rejection", "Failure", "Abort")
_JEST = ("●", "FAIL ")  # a test's name stands behind it, or after it the path of its file
_PLACE = re.compile(r"(.{1,1000}?):(\d{1,9})(?::\d{1,9})?$")
_INNER = re.compile(r"\(([^()]{1,1000}:\d{1,9}:\d{1,9})\)")
_URL = re.compile(r"([a-z][a-z0-9+.-]{1,30})://([^/?#]{0,300})(/[^?#]*)")
_SOURCE = re.compile(r"(\S.{0,500}):(\d{1,9})$")
_GECKO = re.compile(r"\s*([^@\s()]{0,300})@((?:[a-z][a-z-]{1,30}://|/|[A-Za-z]:[\\/])[^\s]{0,1000}?):(\d{1,9})(?::(\d{1,9}))?$")
_OWNERS = ("new ", "async ", "Object.", "exports.", "module.exports.", "Function.")
_NAME = re.compile(r"[\w$#]+(?:\.[\w$#]+)*\Z")


def begins(line: str) -> bool:
    """Whether it is a frame of V8."""
    return line.lstrip().startswith("at ") and frame(line) is not None


def begins_elsewhere(line: str) -> bool:
    """Whether it is a frame of Firefox or Safari."""
    return "@" in line and bool(_GECKO.match(line))


def read(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read a trace of V8, with its causes; the line after it."""
    place, parent = at, None
    kind, message = _said(lines, at, traces.low)
    printed = _printed(lines, at, traces.low) if kind == "SyntaxError" else None
    while True:
        frames, place = _frames(lines, place)
        if printed and not parent:
            frames.insert(0, printed)
        parent = traces.add(LANGUAGE, kind, message, frames, parent)
        head = _cause(lines, place)
        if head is None:
            return place
        kind, message = _headed(lines[head])
        place = next((n for n in range(head + 1, min(head + LOOK, len(lines))) if begins(lines[n])), head + 1)


def read_elsewhere(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read a trace of Firefox or Safari; the line after it."""
    frames, place = [], at
    while place < len(lines):
        found = _GECKO.match(lines[place])
        if not found:
            break
        name = found[1].rpartition("*")[2].removesuffix("/<")
        frames.append(Frame(location(found[2]), number(found[3]), function(name)))
        place += 1
    kind, message = _headed(lines[at - 1]) if at > traces.low else ("", "")
    if kind or len(frames) > 1:  # an address with a port, alone, is none
        traces.add(LANGUAGE, kind, message, frames)
    return place


def begins_listed(line: str) -> bool:
    """Whether a stack follows that stands as a value in a report of Node's test runner."""
    return line.strip() == "stack: |-"


def read_listed(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read the stack of such a report, whose lines lack their ``at``, with type and message from the lines before; the line after it."""
    said = {"name": "", "error": ""}
    for line in lines[max(traces.low, at - LOOK) : at]:
        name, colon, value = line.strip().partition(": ")
        if colon and name in said:
            said[name] = value.strip("'\"")
    frames, place = [], at + 1
    while place < len(lines):
        found = frame(f"at {lines[place].strip()}") if lines[place].strip() != "..." else None
        if found is None:
            break
        frames += [found] if found.path else []
        place += 1
    traces.add(LANGUAGE, said["name"], said["error"], frames)
    return place


def frame(line: str) -> Frame | None:
    """A frame of V8; one of built-in code, which has no place, is a frame without a path. None for what is none."""
    text = line.strip().removesuffix(" {")[3:].strip()
    name, opened, rest = text.partition(" (")
    if opened and text.endswith(")"):
        where = rest[:-1]
        inner = _INNER.search(where) if where.startswith("eval at ") else None
        where = inner[1] if inner else where
    else:
        name, where = "", text.removeprefix("async ")
    found = _PLACE.match(where)
    if found:
        return Frame(location(found[1]), number(found[2]), function(name))
    return Frame("", 0, "") if opened and (where in ("<anonymous>", "native") or where.startswith("index ")) else None


def function(name: str) -> str:
    """A function as symbols are spelt: without ``new``, ``async``, what it is called as, and the object of a module."""
    name = name.partition(" [as ")[0]
    for owner in _OWNERS:
        name = name.removeprefix(owner)
    return name if "<anonymous>" not in name and _NAME.match(name) else ""


def location(path: str) -> str:
    """A path without the scheme, host and query of a URL; ``webpack://app/./src/a.ts`` is ``src/a.ts``."""
    found = _URL.match(path)
    if not found:
        return path.partition("?")[0] if not path.startswith("node:") else path
    scheme, host, inner = found[1], found[2], found[3]
    if scheme.startswith(("webpack", "turbopack", "rollup", "vite")):
        return inner.lstrip("/").removeprefix("./").partition(" ")[0]
    if scheme == "file" and (re.match(r"/[A-Za-z]:[\\/]", inner) or host):
        inner = inner[1:] if not host else f"//{host}{inner}"
    if "%" not in inner:
        return inner
    from urllib.parse import unquote

    return unquote(inner)


def _frames(lines: Sequence[str], at: int) -> tuple[list[Frame], int]:
    frames, place = [], at
    while place < len(lines):
        line = lines[place].strip()
        found = frame(line) if line.startswith("at ") else None
        if found is None and not (line.startswith("... ") and "lines matching" in line):
            break
        if found is not None and found.path:
            frames.append(found)
        place += 1
    return frames, place


def _cause(lines: Sequence[str], at: int) -> int | None:
    """Where the cause of the error above is told, among its properties."""
    if at and not lines[at - 1].endswith("{"):
        return None
    for place in range(at, min(at + LOOK, len(lines))):
        line = lines[place].strip()
        if line.startswith("[cause]: "):
            return place if _headed(line) != ("", "") else None
        if line.startswith(("}", "at ")):
            break
    return None


def _said(lines: Sequence[str], at: int, low: int) -> tuple[str, str]:
    """Type and message above the first frame: the nearest head of an error, or what Jest says of the test."""
    above = range(at - 1, max(low, at - 2 * LOOK) - 1, -1)
    for place in above:
        line = lines[place]
        if line.lstrip().startswith("at "):
            break
        if line.lstrip().startswith(_JEST):
            return _tested(lines, place, at)
        kind, message = _headed(line)
        if kind.endswith(_ERRORS) or (kind and place == at - 1):
            return kind, message
    return "", ""


def _tested(lines: Sequence[str], head: int, at: int) -> tuple[str, str]:
    """Of a failed test its name and what was expected; of an error in a test the error."""
    name = lines[head].strip().lstrip("●").removeprefix("FAIL").strip()
    said = next((line.strip() for line in lines[head + 1 : at] if line.strip()), "")
    kind, message = _headed(said)
    if kind.endswith(_ERRORS):
        return kind, message
    return "", f"{name}: {said}" if said else name


def _printed(lines: Sequence[str], at: int, low: int) -> Frame | None:
    """The place that is printed above an error in the text of a script, which no frame has."""
    for place in range(at - 1, max(low, at - 8) - 1, -1):
        found = _SOURCE.match(lines[place])
        if found and "^" in "".join(lines[place + 1 : at]):
            return None if found[1].startswith(("node:", "<")) else Frame(location(found[1]), number(found[2]), "")
    return None


def _headed(line: str) -> tuple[str, str]:
    found = _HEAD.match(line)
    if not found or not (found[1][:1].isupper() or found[1].endswith(_ERRORS)):
        return "", ""
    if found[2] is None and not found[1].endswith(_ERRORS):
        return "", ""
    return found[1], (found[2] or "").removesuffix(" {").strip()
