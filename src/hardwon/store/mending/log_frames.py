"""The frames of SQLite's write-ahead log, each judged for itself.

SQLite reads a log up to its first bad frame, for the checksums are cumulative. But each frame keeps the sum up to itself, so whether
the next one is whole can be told from the bad one's header: one flipped bit need not cost what was committed after it.
"""

from __future__ import annotations

from array import array
from sys import byteorder

_MAGIC = 0x377F0682  # with the last bit set, the checksums are of big-endian words
_HEAD, _FRAME = 32, 24  # bytes before the first frame, and before each frame's page


def newest_pages(path: str, size: int) -> dict[int, bytes]:
    """The newest whole state of each page of ``size`` bytes in a log's committed transactions; {} where there is no log."""
    try:
        with open(path, "rb") as file:
            log = file.read()
    except FileNotFoundError:
        return {}
    if len(log) < _HEAD + _FRAME + size:
        return {}
    magic = int.from_bytes(log[:4], "big")
    if magic & ~1 == _MAGIC and int.from_bytes(log[8:12], "big") == size:
        return _newest(log, size, log[16:24], "big" if magic & 1 else "little")
    salts = _usual_salts(log, size)
    return max((_newest(log, size, salts, order) for order in ("little", "big")), key=len)


def _newest(log: bytes, size: int, salts: bytes, order: str) -> dict[int, bytes]:
    newest: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    before = log[24:32]
    for at in range(_HEAD, len(log) - _FRAME - size + 1, _FRAME + size):
        head = log[at : at + _FRAME]
        if head[8:16] != salts:  # of an earlier round of the log, or damaged
            before = head[16:24]
            continue
        page = log[at + _FRAME : at + _FRAME + size]
        if _checksum(before, head[:8] + page, order) == head[16:24]:
            waiting[int.from_bytes(head[:4], "big")] = page
        before = head[16:24]
        if int.from_bytes(head[4:8], "big"):  # the last of a transaction: its pages count from here on
            newest.update(waiting)
            waiting.clear()
    newest.pop(0, None)
    return newest


def _usual_salts(log: bytes, size: int) -> bytes:
    """The salts that most frames have, where the header is gone."""
    counted: dict[bytes, int] = {}
    for at in range(_HEAD, len(log) - _FRAME - size + 1, _FRAME + size):
        salts = log[at + 8 : at + 16]
        counted[salts] = counted.get(salts, 0) + 1
    return max(counted, key=counted.__getitem__)


def _checksum(before: bytes, data: bytes, order: str) -> bytes:
    """SQLite's sum over pairs of words, going on from the one before."""
    words = array("I", data)
    if order != byteorder:
        words.byteswap()
    one, two = int.from_bytes(before[:4], "big"), int.from_bytes(before[4:], "big")
    numbers = words.tolist()
    for i in range(0, len(numbers), 2):
        one = (one + numbers[i] + two) & 0xFFFFFFFF
        two = (two + numbers[i + 1] + one) & 0xFFFFFFFF
    return one.to_bytes(4, "big") + two.to_bytes(4, "big")
