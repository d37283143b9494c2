"""The format of SQLite's write-ahead log, as far as checks and repairs read it themselves (https://sqlite.org/fileformat.html#walformat).

A header of 32 bytes, then frames: 24 bytes and a page. Checksums are cumulative, and each frame keeps the sum up to itself.
"""

from __future__ import annotations

import sys

MAGIC = 0x377F0682  # with the lowest bit set, checksums are made of big-endian words
HEADER = 32
FRAME = 24  # bytes before each frame's page


def number(raw: bytes, at: int) -> int:
    """The 32-bit number at an offset."""
    return int.from_bytes(raw[at : at + 4], "big")


def sums(raw: bytes, at: int) -> tuple[int, int]:
    """The pair of running sums at an offset."""
    return number(raw, at), number(raw, at + 4)


def checksum(data: bytes, before: tuple[int, int], *, little: bool) -> tuple[int, int]:
    """SQLite's: two running sums of 32 bits over pairs of words, going on from those before."""
    from array import array

    words = array("I", data)
    if little != (sys.byteorder == "little"):
        words.byteswap()
    one, other = before
    pairs = iter(words)
    for first, second in zip(pairs, pairs, strict=True):
        one = one + first + other & 0xFFFFFFFF
        other = other + second + one & 0xFFFFFFFF
    return one, other
