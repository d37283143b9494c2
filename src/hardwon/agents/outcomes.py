"""How a call ended, where a client tells it in words only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Ended

# What stands before an exit code, in lower case.
_BEFORE = ("exited with exit code", "exit code:", "exit code", "exited with code", "exit status")
_NEAR = 400  # characters at either end
# How clients tell that nobody let the call run.
_DENIED = (
    "user doesn't want to proceed", "user rejected", "permission to use", "was blocked by a hook", "denied by the user", "hook denied",
    "permission denied by user", "user denied", "operation was cancelled by the user", "tool use was rejected", "has been denied",
)  # fmt: skip


def exit_code(output: str) -> int | None:
    """The exit code in the first or in the last lines of an output, on a line of its own (``Exit code 1``, ``Process exited with code 2``,
    ``[The command completed with exit code 1.]``); None where there is none."""
    if "xit" not in output:
        return None
    head, tail = output[:_NEAR].split("\n", 3)[:3], output[-_NEAR:].split("\n")[-6:]
    return next((code for line in (*head, *reversed(tail)) if (code := _in_line(line)) is not None), None)


def _in_line(line: str) -> int | None:
    """The number at the end of a short line that tells an exit code."""
    folded = line.strip().lower()
    if len(folded) > 100:
        return None
    for words in _BEFORE:
        _, found, rest = folded.rpartition(words)
        if found:
            return _number(rest.strip(" :.)]>"))
    return None


def _number(digits: str) -> int | None:
    positive = digits.removeprefix("-")
    if not (positive.isascii() and positive.isdigit() and len(positive) < 10):
        return None
    return int(digits)


def ended(code: int | None, *, failed: bool = False) -> Ended:
    """How a call ended that tells its exit code, or at least that it failed."""
    if code is not None:
        return "failed" if code or failed else "ok"
    return "failed" if failed else "unknown"


def is_denial(message: str) -> bool:
    """Whether a failure tells that a person or a rule did not let the call run."""
    folded = message[:_NEAR].lower()
    return any(words in folded for words in _DENIED)
