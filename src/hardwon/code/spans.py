"""Finding the lines of a symbol again in a text that nobody parsed: compared without blanks, by digests. Light: for the quick path."""

from __future__ import annotations

from zlib import crc32

from hardwon.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def folded(content: bytes) -> list[tuple[int, bytes]]:
    """The lines that are not blank, without their blanks, and their numbers from 1. Line ends of every system."""
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    bare = (b"".join(line.split()) for line in lines)
    return [(number, line) for number, line in enumerate(bare, 1) if line]


def measure(lines: Sequence[bytes]) -> tuple[int, int, bytes]:
    """Head, rows and span of a symbol's folded lines, as ``Symbol`` keeps them."""
    return (crc32(lines[0]) if lines else 0), len(lines), _digest(lines)


def find(text: Sequence[tuple[int, bytes]], head: int, rows: int, span: bytes, near: int = 0) -> tuple[int, int] | None:
    """First and last line of the place where those lines stand in a folded text, the nearest to line ``near``; None where they do
    not stand."""
    found = [
        (abs(number - near), number, text[place + rows - 1][0])
        for place, (number, line) in enumerate(text[: len(text) - rows + 1])
        if crc32(line) == head and _digest([one for _, one in text[place : place + rows]]) == span
    ]
    if not rows or not found:
        return None
    _, first, last = min(found)
    return first, last


def _digest(lines: Sequence[bytes]) -> bytes:
    return blake2b(b"\n".join(lines), digest_size=8).digest()
