"""Which lines of a text a change touches. Pure and light."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Lines = tuple[int, int]

_MOST_RANGES = 200  # separate places of one file; one that differs in more is written anew


def alike(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines at the beginning, and how many of the rest at the end, are the same in both."""
    most, first, last = min(len(old), len(new)), 0, 0
    while first < most and old[first] == new[first]:
        first += 1
    while last < most - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return first, last


def narrowed(found: Lines, old: str, new: str) -> Lines:
    """The lines of a passage, which stands at ``found``, without those around that stay as they are: agents send some along, to be found
    by."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) != found[1] - found[0] + 1:
        return found
    head, tail = alike(before, after)
    first, last = found[0] + head, found[1] - tail
    return (first, last) if first <= last else (min(first, found[1]), min(first, found[1]))


def differing(old: Sequence[str], new: Sequence[str]) -> list[Lines] | None:
    """First and last of the lines, from 1, of ``old`` that ``new`` changes; where it only adds, the line before. None for too many to be
    told apart. Linear; of lines that only changed places some may be missed."""
    head, tail = alike(old, new)
    inner, written = old[head : len(old) - tail], new[head : len(new) - tail]
    if not inner:
        return [(max(1, head), max(1, head))] if written else []
    left: dict[str, int] = {}
    for line in written:
        left[line] = left.get(line, 0) + 1
    ranges: list[Lines] = []
    for number, line in enumerate(inner, head + 1):
        if left.get(line, 0):
            left[line] -= 1
        elif ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    if len(ranges) > _MOST_RANGES:
        return None
    return ranges or [(head + 1, len(old) - tail)]
