"""The lines of an output that say why a test failed: its own, where others say the same or only name it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.results import Failing

_LONGEST = 300  # characters
_GO = "--- FAIL: "
_TURNS = ("=== RUN   ", "=== CONT  ", "=== NAME  ")  # of Go: whose lines follow
# What stands before the name of a failing test where its report begins (pytest, Jest, Cargo, unittest).
_HEADS = ("_ ", "● ", "---- ", "FAIL: ", "ERROR: ")


def passage(output: str, failing: Failing) -> str:
    """The lines of an output that say it, verbatim."""
    low, high = _own(output, failing.name) if failing.name else (0, len(output))
    for said in _sayings(failing):
        at = output.find(said, low, high)
        if at >= 0:
            first = output.rfind("\n", 0, at) + 1
            return output[first : min(first + _LONGEST, high)].strip()
    if failing.name and (low or high < len(output)):
        return output[low : min(low + _LONGEST, high)].strip()
    return ""


def _sayings(failing: Failing) -> list[str]:
    """By what the lines are known, the surest first. Of Go that is the place: what it says there may have been put together."""
    place = next((f"{path.rpartition('/')[2]}:{line}:" for path, line, _ in failing.frames if path.endswith("_test.go")), "")
    return [said for said in (place, failing.message[:40] or failing.kind, failing.name) if said]


def _own(output: str, name: str) -> tuple[int, int]:
    """From where to where an output speaks of one test; all of it where that cannot be told."""
    at = output.find(f"{_GO}{name} (")
    if at >= 0:
        return _own_of_go(output, at, name)
    function = name.partition("::")[2].replace("::", ".") or name
    for head in _HEADS:
        at = output.find(f"{head}{function}")
        if at >= 0:
            return at, len(output)
    return 0, len(output)


def _own_of_go(output: str, at: int, name: str) -> tuple[int, int]:
    """What is told below the line that says that it failed, and further in; where nothing is, what was told since its turn came."""
    start = output.rfind("\n", 0, at) + 1
    depth = at - start
    end = first = _after(output, at)
    while end < len(output):
        line = output[end : _after(output, end)]
        if line.strip() and (len(line) - len(line.lstrip()) <= depth or line.lstrip().startswith(_GO)):
            break
        end += len(line)
    if output[first:end].strip():
        return start, end
    turn = max(output.rfind(f"{one}{name}\n", 0, at) for one in _TURNS)
    return (_after(output, turn), first) if turn >= 0 else (start, first)


def _after(output: str, at: int) -> int:
    """Where the next line begins."""
    return output.find("\n", at) + 1 or len(output)
