"""Private spans: what stands between ``<private>`` and ``</private>`` is taken out before anything else looks at it."""

from __future__ import annotations

from hardwon.intake.patterns import MARK, compiled

# The tag's attributes belong to what is hidden, so its end is of no concern; ``<private/>`` encloses nothing.
_TAG = r"(?i:<(/?)private(?=[\s>/]|$)(?:\s*(/?)>)?)"
PRIVATE = MARK + "private]"


def without_private(text: str) -> tuple[str, int]:
    """``text`` with each private span replaced by one mark, and how many there were.

    In any case, with attributes, nested; one that is never closed reaches to the end. A closing tag alone stays.
    """
    parts: list[str] = []
    depth = at = count = 0
    for tag in compiled(_TAG).finditer(text):
        if tag[1]:
            depth -= depth > 0
            if depth == 0 and at < 0:
                at = tag.end() if tag[0].endswith(">") else _tag_end(text, tag.end())
        elif not tag[2]:
            if depth == 0:
                parts += (text[at : tag.start()], PRIVATE)
                count += 1
                at = -1
            depth += 1
    return "".join(parts) + (text[at:] if at >= 0 else ""), count


def _tag_end(text: str, at: int) -> int:
    """Behind the closing tag that holds more than its name; there it ends, or the text does."""
    return text.find(">", at) + 1 or len(text)
