"""Spellings of symbols. Pure, and light enough for the quick path."""

from __future__ import annotations


def same_symbol(one: str, other: str) -> bool:
    """Whether two spellings may name one symbol: equal, or one is the end of the other at a border (``validate``, ``A.validate``)."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    longer, shorter = longer.casefold(), shorter.casefold()
    return longer == shorter or (longer.endswith(shorter) and longer[-len(shorter) - 1] in ".:#/>")
