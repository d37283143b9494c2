"""Stack traces of the Java virtual machine: Java, Kotlin, Scala; with causes and suppressed exceptions."""

from __future__ import annotations

import re

from hardwon.code.stack.frames import LOOK, Frame, indent, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Trace, Traces

LANGUAGE = "java"
_FRAME = re.compile(
    r"\s*at ([^()]{1,500})\(((?:[^():]{1,200}\.(?:java|kts?|scala|groovy|clj)(?::(\d{1,9}))?)|Native Method|Unknown Source)\)"
)
_HEAD = re.compile(
    r"\s*(?:Exception in thread \"[^\"]{0,200}\" |Caused by: |Suppressed: |Wrapped by: )?"
    r"((?:[A-Za-z_][\w$]{0,80}\.){0,20}[A-Z][\w$]{0,100})(?::(?: (.*))?)?$"
)
_WITHIN = re.compile(
    r"(?<![\w.$])((?:[a-z_]\w{0,60}\.){1,20}[A-Z][\w$]{0,100}(?:Exception|Error|Throwable|Failure))(?::(?: (.*))?)?(?=\s|$)"
)
_LEADS = ("Caused by: ", "Suppressed: ", "Wrapped by: ")
_OF_THREAD = 'Exception in thread "'
_MORE = re.compile(r"\s*\.\.\. \d{1,6} (?:more|common frames omitted)")
_NUMBERED = re.compile(r"\$\d+")


def begins(line: str) -> bool:
    """Whether it is a frame of the virtual machine."""
    return bool(_FRAME.match(line))


def read(lines: Sequence[str], at: int, traces: Traces) -> int:
    """Read a trace with its causes; the line after it."""
    kind, message = _said(lines, at, traces.low)
    place = at
    depth = -1
    # The exceptions whose causes may follow, by how far their heads are indented.
    open_: list[tuple[int, Trace]] = []
    lead = ""
    while True:
        frames, place = _frames(lines, place)
        above = [trace for inside, trace in open_ if inside <= depth]
        trace = traces.add(LANGUAGE, kind, message, frames, above[-1] if above and lead == _LEADS[0] else None)
        open_ = [one for one in open_ if one[0] < depth]
        if trace is not None:
            open_.append((depth, trace))
        line = lines[place].lstrip() if place < len(lines) else ""
        lead = next((one for one in _LEADS if line.startswith(one)), "")
        head = _HEAD.match(lines[place]) if lead else None
        if head is None:
            return place
        kind, message, depth = head[1], head[2] or "", indent(lines[place])
        place = _first(lines, place + 1)


def function(name: str) -> str:
    """A method as symbols are spelt: ``com.acme.Main$Repo.load`` is ``Main.Repo.load``; a constructor is its class; lambdas and
    numbered classes are the method or class around them."""
    parts = name.rpartition("/")[2].split(".")
    classes = next((n for n, part in enumerate(parts[:-1]) if part[:1].isupper()), max(len(parts) - 2, 0))
    around = ".".join(parts[classes:-1])
    numbered = bool(_NUMBERED.search(around))
    owner = [part for part in _NUMBERED.sub("", around).replace("$", ".").split(".") if part]
    method = parts[-1]
    if method.startswith("lambda$"):
        method = method.split("$")[1]
    method = method.partition("$")[0]
    if owner and owner[0].endswith("Kt") and len(owner[0]) > 2:
        del owner[0]  # what Kotlin makes of the functions at a file's top
    if method in ("<init>", "<clinit>", "static", "new") or (
        numbered and method in ("invoke", "invokeSuspend", "run", "apply", "call")
    ):
        method = ""
    return ".".join([*owner, method] if method else owner)


def _frames(lines: Sequence[str], at: int) -> tuple[list[Frame], int]:
    frames, place = [], at
    while place < len(lines):
        found = _FRAME.match(lines[place])
        if found:
            name = found[1].rpartition("/")[2]
            file = found[2].partition(":")[0] if "." in found[2] else ""
            frames.append(Frame(_path(name, file), number(found[3] or "0"), function(name)))
        elif not _MORE.match(lines[place]) and not lines[place].lstrip().startswith("at "):  # of generated code
            break
        place += 1
    return frames, place


def _path(name: str, file: str) -> str:
    """The file with the folders of its package; the package alone of a native method."""
    parts = name.split(".")[:-1]
    package = [part for part in parts[:-1] if not part[:1].isupper() and "$" not in part]
    return "/".join([*package, file]) if file else "/".join(package) + "/"


def _first(lines: Sequence[str], at: int) -> int:
    """The first frame below a head, whose message may have several lines."""
    for place in range(at, min(at + LOOK, len(lines))):
        if _FRAME.match(lines[place]) or _MORE.match(lines[place]) or lines[place].lstrip().startswith(_LEADS):
            return place
    return at


def _said(lines: Sequence[str], at: int, low: int) -> tuple[str, str]:
    """Type and message above the first frame; the message may have several lines, of which the first counts."""
    for place in range(at - 1, max(low, at - LOOK) - 1, -1):
        line = lines[place]
        found = _HEAD.match(line)
        if found and (place == at - 1 or "." in found[1] or _OF_THREAD in line):
            return found[1], found[2] or ""
        within = _WITHIN.search(line)
        if within:
            return within[1], within[2] or ""
        if not line.strip() or _FRAME.match(line):
            break
    return "", lines[at - 1].strip() if at > low else ""
