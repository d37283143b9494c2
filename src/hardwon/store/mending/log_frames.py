"""The frames of SQLite's write-ahead log, each judged for itself.

SQLite reads a log up to its first bad frame, for the checksums are cumulative. But each frame keeps the sum up to itself, so whether
the next one is whole can be told from the bad one's header: one flipped bit need not cost what was committed after it.
"""

from __future__ import annotations

from hardwon.store.log_format import FRAME, HEADER, MAGIC, checksum, number, sums


def newest_pages(path: str, size: int) -> dict[int, bytes]:
    """The newest whole state of each page of ``size`` bytes in a log's committed transactions; {} where there is no log."""
    try:
        with open(path, "rb") as file:
            log = file.read()
    except FileNotFoundError:
        return {}
    if len(log) < HEADER + FRAME + size:
        return {}
    magic = number(log, 0)
    if magic & ~1 == MAGIC and number(log, 8) == size:
        return _newest(log, size, log[16:24], little=not magic & 1)
    salts = _usual_salts(log, size)
    return max((_newest(log, size, salts, little=little) for little in (True, False)), key=len)


def _newest(log: bytes, size: int, salts: bytes, *, little: bool) -> dict[int, bytes]:
    newest: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    before = sums(log, 24)
    for at in range(HEADER, len(log) - FRAME - size + 1, FRAME + size):
        head = log[at : at + FRAME]
        if head[8:16] != salts:  # of an earlier round of the log, or damaged
            before = sums(head, 16)
            continue
        page = log[at + FRAME : at + FRAME + size]
        if checksum(head[:8] + page, before, little=little) == sums(head, 16):
            waiting[number(head, 0)] = page
        before = sums(head, 16)
        if number(head, 4):  # the last of a transaction: its pages count from here on
            newest.update(waiting)
            waiting.clear()
    newest.pop(0, None)
    return newest


def _usual_salts(log: bytes, size: int) -> bytes:
    """The salts that most frames have, where the header is gone."""
    counted: dict[bytes, int] = {}
    for at in range(HEADER, len(log) - FRAME - size + 1, FRAME + size):
        salts = log[at + 8 : at + 16]
        counted[salts] = counted.get(salts, 0) + 1
    return max(counted, key=counted.__getitem__)
