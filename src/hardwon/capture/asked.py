"""What a person has asked for, as far as it tells a fault from a wish."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# How words begin by which a person asks for something to be repaired ("red" alone: it is in "shared"), and what says so anywhere.
_REPAIR = (
    "fix", "bug", "debug", "hotfix", "broke", "break", "wrong", "fail", "error", "crash", "regress", "incorrect", "repair", "issue",
    "problem", "kaputt", "fehler", "falsch",
)  # fmt: skip
# Of these what is a thing to be made: "fixtures", "error messages", "issue 12" (which may be anything).
_MADE = ("fixture", "breakpoint", "breakdown", "failover")
_MADE_OF_ERRORS = ("handl", "messag", "page", "code", "type", "class", "boundar", "respon", "state", "report", "log")
_REPAIR_SAID = (
    "doesn't", "does not", "should not", "shouldn't", "not working", "not accessible", "버그", "오류", "고쳐", "错误", "修复", "问题",
)  # fmt: skip

_BEGINNING = 200  # characters of a prompt that say what it is about


def is_repair(asked: Sequence[str]) -> bool:
    """Whether the person asked for something to be repaired, or nothing is known of what they asked: a test that is written first then
    shows what is wrong, and not what is to be made. A prompt says so at its beginning, and not in the headings of a plan."""
    said = " ".join(_beginning(prompt) for prompt in asked[-3:]).lower()
    words = "".join(char if char.isalnum() else " " for char in said).split()
    named = any(_is_of_repair(word, after) for word, after in zip(words, (*words[1:], ""), strict=False))
    return not asked or named or any(one in said for one in _REPAIR_SAID)


def _is_of_repair(word: str, after: str) -> bool:
    if word.startswith("issue") and after.isdigit():
        return False
    if word.startswith("error") and after.startswith(_MADE_OF_ERRORS):
        return False
    return word == "red" or (word.startswith(_REPAIR) and not word.startswith(_MADE))


def _beginning(prompt: str) -> str:
    return " ".join(line for line in prompt.split("\n") if not line.startswith("#"))[:_BEGINNING]
