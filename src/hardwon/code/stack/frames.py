"""What a stack trace says, as values, and the lines of a log made ready for reading."""

from __future__ import annotations

from hardwon.code.pattern import Pattern
from hardwon.code.stack.signature import signature
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FRAMES = 200
LINE = 2_000  # characters of a line; longer ones hold data
LOOK = 30  # lines between a message's head and the first frame, or a frame and what belongs to it
_MESSAGE = 1_000  # characters
CUT = "?"  # a test whose turn began before what is left of an output
_MOST = 500  # traces, causes among them

_ESCAPES = Pattern(r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)|(?<!\r)\r++(?=\n|\Z)")
# What loggers, containers and test runners put before a line: times, levels, brackets, "name |". Bounded, without nested repetition.
_STAMP = (
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z|[ ]?[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|\[(?!Previous line|cause\]|errors\])[^\[\]]{1,60}\]|\(node:\d{1,10}\)|(?:stdout|stderr) [FP]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,60} \S{1,60}:"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)(?::|(?=[ \t]{1,8}[\[(\d]))"
    r"|[\w.-]{1,60} {0,20}\|)"
)
_PREFIX = Pattern(rf"{_STAMP}(?:[ \t]{{0,8}}{_STAMP}){{0,6}}[ \t]?")
# A trace inside a string of JSON, with its line breaks written as \n.
_WRITTEN = Pattern(r"\\n(?:\\t| {1,8})(?:at |File )|\\n\\ngoroutine ")
_QUOTE = Pattern(r"(?<!\\)\"")
_BREAK = Pattern(r"(?<!\\)\\n")


class Frame(Value):
    """A call that was under way. ``path`` as it is written, without the scheme, host and query of a URL; of Java with the folders of its
    package. ``line`` is 0 where it is not told. ``function``: its name as symbols are spelt here (``Service.load``), without package and
    argument list; "" at a file's top, for what has no name, and where it is not told."""

    path: str
    line: int
    function: str


class Trace(Value):
    """One failure. ``language`` is python, javascript, go, rust or java (which Kotlin and Scala share); ``kind`` the type of the exception
    as written (``panic`` in Go and Rust, ``FAIL`` of a test in Go), "" where none is told; ``message`` its first line; ``frames`` innermost
    first, at most 200."""

    language: str
    kind: str
    message: str
    frames: tuple[Frame, ...]
    signature: str


class Traces:
    """The traces of a log while it is read. ``low``: the first line that belongs to none yet. ``said``: what tests said that are told of
    as they run, each place with its message; ``turn``: whose turn it is at a line, up to which they are known."""

    def __init__(self) -> None:
        self.chains: list[list[Trace]] = []
        self.low = 0
        self.said: dict[str, list[tuple[str, int, str]]] = {}
        self.turn = (CUT, 0)
        self._count = 0

    def add(self, language: str, kind: str, message: str, frames: Sequence[Frame], cause_of: Trace | None = None) -> Trace | None:
        """Keep a trace, before the one that it is the cause of; None for one that says nothing, and
        where there are too many already."""
        if (not (kind or message) and not frames) or self._count == _MOST:
            return None
        self._count += 1
        text = message.strip()[:_MESSAGE]
        trace = Trace(language, kind, text, tuple(frames[:MOST_FRAMES]), signature(kind, text))
        if cause_of is not None:
            for chain in reversed(self.chains):
                for place, other in enumerate(chain):
                    if other is cause_of:
                        chain.insert(place, trace)
                        return trace
        self.chains.append([trace])
        return trace


def readied(text: str) -> list[str]:
    """The lines of a log without colours, and without what was put before them; traces within JSON on lines of their own."""
    if "\x1b" in text or "\r" in text:
        text = _ESCAPES.sub("", text)
    if "\\n" in text and _WRITTEN.search(text):
        text = "\n".join(_unwritten(line) if _WRITTEN.search(line) else line for line in text.split("\n"))
    return [bare(line[:LINE]) for line in text.split("\n")]


def _unwritten(line: str) -> str:
    """A line of JSON with each of its strings on lines of its own, as they were before they were written so."""
    lines = _BREAK.sub("\n", _QUOTE.sub("\n", line))
    return lines.replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")


def bare(line: str) -> str:
    """A line without the prefix of a log."""
    found = _PREFIX.match(line)
    return line[found.end() :].rstrip() if found else line.rstrip()


def indent(line: str) -> int:
    """How many blanks it begins with."""
    return len(line) - len(line.lstrip())


def number(digits: str) -> int:
    """A line number; 0 for one that no file has."""
    return int(digits) if len(digits) < 10 else 0
