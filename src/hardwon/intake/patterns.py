"""What several rules of redaction share: sets of characters, and patterns that are compiled when first needed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

    Span = tuple[int, int, str]  # start, end, kind

MARK = "[redacted:"
MARKED = r"\[redacted:[a-z0-9-]{2,24}\]"
LONG_WORD = 20  # characters of the shortest word that is looked at without a name beside it
CLOSERS = ".…,;:!?=\"'`()[]{}<>*_\\"
NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

DIGIT = r"[0-9]"
IDENTIFIER = r"\w+$"

_COMPILED: dict[str, Pattern[str]] = {}


def compiled(source: str) -> Pattern[str]:
    """The pattern, compiled when first asked for; not even ``re`` is imported sooner."""
    pattern = _COMPILED.get(source)
    if pattern is None:
        import re

        pattern = _COMPILED[source] = re.compile(source, re.ASCII)
    return pattern


def is_escaped(text: str, at: int) -> bool:
    """Whether the letter there belongs to an escape before the word: ``\\n``, ``\\t``, ``\\r``."""
    return text[at : at + 1] in ("n", "r", "t") and text[at - 1 : at] == "\\"
