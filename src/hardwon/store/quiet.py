"""Whether nothing waits in a spool and no write failed, by one look at its first bytes: all that a command pays where that is so.

The layout of a spool's head is told here, for this is read by every command; ``spooling/header.py`` says what it means.
"""

from __future__ import annotations

import os

SECTOR = 512
MARK_AT = 2 * SECTOR
MAGIC = b"HWSPOOL1"
NUMBER = 8  # bytes
CAUSE = 16
# A slot: the magic, six numbers (the first counts the slots, the third and fourth are where the records begin and end), a cause.
SLOT = len(MAGIC) + 6 * NUMBER + CAUSE
_SEQUENCE = slice(len(MAGIC), len(MAGIC) + NUMBER)
_START, _END = (slice(len(MAGIC) + place * NUMBER, len(MAGIC) + (place + 1) * NUMBER) for place in (2, 3))


def is_quiet(path: str) -> bool:
    """True where the spool at ``path`` says so without a doubt; False for all that has to be looked at properly, as for no spool."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        raw = os.pread(descriptor, MARK_AT + SECTOR, 0)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    slots = [body for body in (once(raw[:SECTOR], MAGIC, SLOT), once(raw[SECTOR:MARK_AT], MAGIC, SLOT)) if body]
    if len(slots) != 2 or raw[MARK_AT:].strip(b"\0"):
        return False
    newest = max(slots, key=lambda body: int.from_bytes(body[_SEQUENCE], "little"))
    return newest[_START] == newest[_END]


def once(sector: bytes, magic: bytes, size: int) -> bytes | None:
    """What a sector says twice, as its check; None where the two differ, or it is of another kind."""
    body = sector[:size]
    return body if body.startswith(magic) and body == sector[size : 2 * size] else None
