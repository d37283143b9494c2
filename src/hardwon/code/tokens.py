"""The tokens of a file, read once, and the fingerprints of the symbols in it.

A token is a word, an operator, or what stands in a string. Comments and Python's docstrings are none, white space between tokens is
none, nor is a comma before a closing bracket (formatters add and remove it), except where it makes a tuple; which quotes a string of
Python or JavaScript has is a formatter's business too, and so is whether a union of types begins with a bar. Where comments, strings and
blocks are is known from the tree; the rest is one regular expression, three times as quick as a walk over the leaves (measured: 80
against 250 ms a megabyte of TypeScript), and the fingerprints stay when a grammar names its nodes anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from hardwon.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_GROUPING = (b"type", b"var")
# Marks inside the digested text; a source that holds such bytes itself has a fingerprint all the same.
_NAME, _TEXT, _BEGIN, _END = b"\0\1\0", b"\2", b"\3", b"\4"
# Nothing that a formatter may write with a space or without one: ``**`` of pointers, ``>>`` of templates, ``||`` of closures.
_OPERATORS = rb"->|=>|::|==|!=|<=|:=|&&|\+\+|--|\+=|-="
_TOKEN = rb"\s*+(?:[\w$\x80-\xff]+|" + _OPERATORS + rb"|\S)"
_PLAIN_PREFIX = rb'\b[uU](?=")'  # of Python's strings, which are all of that kind now
_FIRST_BAR = rb"((?:=>|[=:(\[<,?])\s*+)[|&](?![|&=])"  # of TypeScript's unions, where each member has a line of its own
_LAST_COMMA = rb",(?=\s*[)\]}>])"


class Tokens:
    """The tokens of one file: where each ends (bytes), and its text with the marks of strings and blocks."""

    __slots__ = ("ends", "texts")

    def __init__(self, source: bytes, comments: Iterable[tuple[int, int]], ended: bool, alike: bool = False) -> None:
        """``ended``: a semicolon says no more than the end of a line does; ``alike``: nor does it matter which quotes a string has."""
        bare = re.sub(_LAST_COMMA, b" ", _blanked(source, comments).replace(b"\\\n", b"  "))
        if ended:
            bare = bare.replace(b";", b" ")
        if alike:
            bare = re.sub(_PLAIN_PREFIX, b" ", bare.replace(b"'", b'"'))
            bare = re.sub(_FIRST_BAR, rb"\1 ", bare)
        # With a last token of ours, so that white space at the end is not tried from each of its bytes.
        pieces = re.findall(_TOKEN, bare + b"\0")
        self.ends = list(accumulate(map(len, pieces)))
        self.texts: list[bytes] = list(map(bytes.strip, pieces))

    def keep(self, source: bytes, positions: Iterable[int]) -> None:
        """Count commas and semicolons that look like layout, at those positions (bytes)."""
        for position in positions:
            place = bisect_right(self.ends, position)
            self.texts[place] = source[position : position + 1] + self.texts[place]

    def join(self, source: bytes, strings: Iterable[tuple[int, int]]) -> None:
        """Take what stands in those ranges (bytes) as it is: neither names nor white space."""
        ends, texts = self.ends, self.texts
        for start, end in strings:
            low = bisect_right(ends, start)
            high = bisect_right(ends, end, low)
            text = _TEXT + source[start:end]
            if low < high:
                # Its other words stay as empty tokens: a long text is not a short one.
                texts[low:high] = [text, *[b""] * (high - low - 1)]
            else:
                texts[low] = text + texts[low]

    def mark(self, blocks: Iterable[tuple[int, int]]) -> None:
        """Mark the first and the last token of each block, for languages in which only indentation shows where it ends."""
        for start, end in blocks:
            low, high = bisect_right(self.ends, start), bisect_right(self.ends, end)
            if low < high:
                self.texts[low] = _BEGIN + self.texts[low]
                self.texts[high - 1] += _END

    def fingerprint(self, start: int, end: int, name: bytes) -> tuple[str, int]:
        """The digest of the tokens between two bytes, its own ``name`` left out, and how many they are. A word that only begins a group
        of declarations (``type (…)`` in Go) is none of them."""
        low, high = bisect_right(self.ends, start), bisect_right(self.ends, end)
        low += low < high and self.texts[low] in _GROUPING
        # A symbol that is the first or the last of the block around it has that block's mark too: it is not the symbol's.
        joined = b"\0".join(self.texts[low:high]).lstrip(_BEGIN)
        surplus = joined.count(_END) - joined.count(_BEGIN)
        if surplus > 0:
            joined = joined[:-surplus]
        joined, own = b"\0" + joined + b"\0", b"\0" + name + b"\0"
        # Twice, for of two neighbours the first takes the border.
        joined = joined.replace(own, _NAME).replace(own, _NAME)
        return blake2b(joined, digest_size=8).hexdigest(), high - low


def _blanked(source: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """The source with blanks in those ranges (bytes)."""
    parts: list[bytes] = []
    place = 0
    for start, end in sorted(ranges):
        if start >= place:
            parts += (source[place:start], b" " * (end - start))
            place = end
    return b"".join((*parts, source[place:]))
