"""What is found in the report of a test run while it is read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 40  # failing tests that are named
_FRAMES = 12  # places of a trace, the innermost
REST = " ++ "  # in a failure's signature, between what it says and the digest of what follows
_FOLLOWING = 60  # lines below one that ends in a colon
# How lines begin that say no more of an error: traces, rules, what a runner goes on with.
_NOT_SAID = (
    "at ", "❯ ", "⎯", 'File "', "Traceback (", "FAILED ", "ERROR ", "===", "___", "---", "● ", "FAIL ", "Node.js v", "npm ", "[cause]",
)  # fmt: skip
LONGEST_NAME = 200  # characters of a test's name
LONGEST_MESSAGE = 300


class Report:
    """What a reader finds. ``names``: each failing test with what was said of it and its file; ``frames``: of those whose trace stands
    with them its places, innermost first, (path, line, function);
    ``uncounted``: the runner says nowhere how many failed, so that what was cut off is not missed."""

    def __init__(self) -> None:
        self.passed = self.failed = 0
        self.names: dict[str, tuple[str, str]] = {}  # name -> (message, file)
        self.frames: dict[str, tuple[tuple[str, int, str], ...]] = {}
        self.passing: dict[str, None] = {}
        self.told = self.broken = self.uncounted = False

    def fail(self, name: str, message: str = "", file: str = "") -> None:
        """A test failed; what is told of it twice adds up."""
        name = name.strip()[:LONGEST_NAME]
        old = self.names.get(name, ("", ""))
        if name in self.names or len(self.names) < _MOST:
            self.names[name] = (message.strip()[:LONGEST_MESSAGE] or old[0], file or old[1])

    def went(self, name: str, frames: Sequence[tuple[str, int, str]]) -> None:
        """Through what a test that failed went."""
        name = name.strip()[:LONGEST_NAME]
        if frames and name in self.names:
            self.frames.setdefault(name, tuple(frames[:_FRAMES]))


def is_file(name: str) -> bool:
    """Whether what failed is a whole file, and no test of it."""
    return name.endswith((".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts")) and " " not in name


def following(lines: Sequence[str], at: int) -> list[str]:
    """The lines that follow one that ends in a colon and belong to it: up to an empty one, or a trace."""
    found: list[str] = []
    for line in lines[at : at + _FOLLOWING]:
        bare = (line[1:] if line.startswith("E  ") else line).strip()
        if bare.startswith(_NOT_SAID) or (found and not bare):
            break
        found += [bare] if bare else []
    return found


def first_said(lines: Sequence[str], at: int) -> str:
    """The first line that says something, and where it is a matcher of Jest, what was expected and received; one that ends in a colon
    says nothing without what follows."""
    said = [line.strip() for line in lines[at : at + 12] if line.strip()]
    if not said:
        return ""
    if said[0].endswith(":"):
        return " ".join([said[0], *following(lines, next(n for n in range(at, at + 12) if lines[n].strip()) + 1)])
    if said[0].startswith("expect("):
        values = [line for line in said[1:] if line.startswith(("Expected", "Received"))][:2]
        return " ".join([said[0].partition(" //")[0], *values])
    return said[0]
