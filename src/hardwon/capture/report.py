"""What is found in the report of a test run while it is read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 40  # failing tests that are named
LONGEST_NAME = 200  # characters of a test's name
LONGEST_MESSAGE = 300


class Report:
    """What a reader finds. ``names``: each failing test with what was said of it and its file;
    ``uncounted``: the runner says nowhere how many failed, so that what was cut off is not missed."""

    def __init__(self) -> None:
        self.passed = self.failed = 0
        self.names: dict[str, tuple[str, str]] = {}  # name -> (message, file)
        self.passing: dict[str, None] = {}
        self.told = self.broken = self.uncounted = False

    def fail(self, name: str, message: str = "", file: str = "") -> None:
        """A test failed; what is told of it twice adds up."""
        name = name.strip()[:LONGEST_NAME]
        old = self.names.get(name, ("", ""))
        if name in self.names or len(self.names) < _MOST:
            self.names[name] = (message.strip()[:LONGEST_MESSAGE] or old[0], file or old[1])


def first_said(lines: Sequence[str], at: int) -> str:
    """The first line that says something, and where it is a matcher of Jest, what was expected and received."""
    said = [line.strip() for line in lines[at : at + 12] if line.strip()]
    if not said:
        return ""
    if said[0].startswith("expect("):
        values = [line for line in said[1:] if line.startswith(("Expected", "Received"))][:2]
        return " ".join([said[0].partition(" //")[0], *values])
    return said[0]
