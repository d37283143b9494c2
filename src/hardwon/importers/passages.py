"""Long texts into the sizes that a memory takes: a line to find it by, and the rest below."""

from __future__ import annotations

_LINE = 500  # characters of a line that stands for more
_MOST = 19_000  # of a detail; what is longer is cut, for one memory is not the place for a book


def headline(text: str, detail: str = "") -> tuple[str, str]:
    """Text of any length as a line and its detail: of several lines the first; of a long one its beginning, and the whole again
    in the detail, so that nothing is lost in the middle of a word."""
    first, _, rest = text.strip().partition("\n")
    if len(first) > _LINE:
        first, rest = shortened(first, _LINE), text
    below = "\n\n".join(part for part in (rest.strip(), detail.strip()) if part)
    return first, below if len(below) <= _MOST else shortened(below, _MOST)


def shortened(text: str, most: int) -> str:
    """At most so many characters, cut between words where there are any."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"


def word(text: str) -> str:
    """A text as a tag: letters, digits and ``._:/-``, at most 64; "" where nothing is left."""
    kept = "".join(char if char.isalnum() or char in "._:/-" else "-" for char in text.strip().lower())
    return "-".join(part for part in kept.split("-") if part)[:64]
