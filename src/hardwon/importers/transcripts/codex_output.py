"""What Codex tells with a call: how it ended, what it printed, what it changed."""

from __future__ import annotations

import re

from hardwon.capture.event import Edit
from hardwon.importers.transcripts.records import inner, parsed, plain, whole_number, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Ended

LONGEST_HEAD = 400  # characters before the output proper
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})\b", re.MULTILINE)
_OUTPUT = re.compile(r"^(?:Output|Total output lines: \d+):?\n", re.MULTILINE)
# The command failed in the sandbox, and no exit code is told (autumn of 2025); or the sandbox itself did, or says that it may have.
_IN_SANDBOX = re.compile(r"failed in sandbox(?:: ?| (?=\w+ with execution error))")
_OF_SANDBOX = re.compile(
    r"\w+ with execution error|sandbox error: |cannot set (?:privileged )?capabilities|\s*thread '[^'\n]{1,80}' panicked at linux-sandbox/"
)
_FAILED = ("apply_patch verification failed", "failed to ", "execution error", "unsupported call")
_LONGEST_JSON = 1 << 20


def is_over(text: str) -> bool:
    """Whether an output is of a call that has ended, also where nothing tells how."""
    return bool(_IN_SANDBOX.match(text))


def taken_apart(output: Any) -> tuple[str, dict[str, Any]]:
    """The words of an output, and what it tells besides: older versions wrote both as JSON into one text."""
    if isinstance(output, dict):
        return plain(output.get("content", output.get("output"))), output
    text = plain(output)
    if text.startswith('{"') and '"output"' in text[:_LONGEST_JSON]:
        found = parsed(text)
        if isinstance(found, dict) and isinstance(found.get("output"), str):
            return found["output"], found
    return text, {}


def ending(text: str, told: dict[str, Any]) -> tuple[Ended, int | None]:
    """How a call ended, and its exit code, by what stands before its output and beside it."""
    code = whole_number(inner(told, "metadata").get("exit_code"))
    head = text[:LONGEST_HEAD]
    found = _EXIT.search(head.partition("\nOutput:")[0])
    if code is None and found:
        code = whole_number(found[1])
    if code is not None:
        return ("failed" if code else "ok"), code
    if sandbox := _IN_SANDBOX.match(head):
        return "unknown" if _OF_SANDBOX.match(head, sandbox.end()) else "failed", None
    low = head.lstrip().lower()
    if low.startswith(("aborted by user", "aborted")):
        return "interrupted", None
    if "rejected by user" in low[:200] or low.startswith(("blocked by hook", "command blocked", "tool call blocked")):
        return "denied", None
    if told.get("success") is False or low.startswith(_FAILED):
        return "failed", None
    return ("ok", None) if told.get("success") is True or low.startswith("success. updated") else ("unknown", None)


def body(text: str) -> str:
    """An output without what Codex puts before it."""
    if text.startswith("failed in sandbox:"):
        return text.partition(":")[2].lstrip(" ")
    found = _OUTPUT.search(text[: LONGEST_HEAD * 2])
    return text[found.end() :] if found and text.startswith(("Chunk ID:", "Exit code:", "Wall time:")) else text


def changes(path: str, change: dict[str, Any]) -> Iterator[Edit]:
    """The edits of one file that an item tells."""
    kind = word(change, "type")
    if kind == "add":
        yield Edit(path, new=word(change, "content"), kind="whole")
    elif kind == "delete":
        yield Edit(path, old=word(change, "content"), kind="delete")
    elif kind == "update":
        for old, new in _hunks(word(change, "unified_diff")):
            yield Edit(path, old, new)
        if target := word(change, "move_path"):
            yield Edit(path, kind="move", target=target)


def _hunks(diff: str) -> Iterator[tuple[str, str]]:
    """The passages of a unified diff without its head, before and after."""
    old: list[str] = []
    new: list[str] = []
    for line in (*diff.splitlines(), "@@"):
        if line.startswith("@@"):
            if old != new:
                yield "\n".join(old), "\n".join(new)
            old, new = [], []
        elif line[:1] in ("-", "+", " ", ""):
            old += [line[1:]] * (line[:1] != "+")
            new += [line[1:]] * (line[:1] != "-")
