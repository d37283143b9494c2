"""The head of the spool: what waits in it, and whether a write failed. All that every command reads of it, so it is kept small.

Two slots take turns, each in a sector of its own: a write that a power loss cuts short leaves the other one. The mark of a failed write
has a third sector. Each says what it says twice: comparing the two finds damage as a checksum does, and loads nothing for it. All of it
lies in blocks that are allocated when the file is made: it can be written on a full disk.
"""

from __future__ import annotations

import os

from hardwon.store.quiet import CAUSE, MAGIC, MARK_AT, SECTOR, SLOT, once
from hardwon.types import Value

# Where the records begin: a page of its own for the head.
DATA = 4096

_MARK = b"HWTROUBL"
_MESSAGE = 190


class State(Value):
    """One slot. ``sequence`` counts the slots that were written; ``generation`` how often the spool was emptied, told by each record
    too. Records lie from ``start`` to before ``end`` (bytes from the beginning), ``count`` of them, since ``since`` (milliseconds)
    and because of ``cause`` (the kind of the first error)."""

    sequence: int = 0
    generation: int = 0
    start: int = DATA
    end: int = DATA
    count: int = 0
    since: int = 0
    cause: str = ""


class Trouble(Value):
    """A write that failed and could not be spooled: its error's ``kind`` and ``message``, the first and the last time (milliseconds),
    how many since the last that succeeded."""

    kind: str
    message: str
    since: int
    at: int
    count: int


class Head(Value):
    """``state``: None where no slot can be read; ``trouble``: None where no write failed. ``unreadable``: the system's words where
    the file cannot be opened."""

    state: State | None
    trouble: Trouble | None = None
    unreadable: str = ""

    @property
    def waits(self) -> bool:
        """Whether there is anything that a writer has to take in. A head that is damaged has to be looked behind."""
        return not self.unreadable and (self.state is None or self.state.end > self.state.start)


def peek(path: str) -> Head | None:
    """What the head of a spool says, by three system calls; None where there is no spool yet. Waits for nobody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Head(None, unreadable=f"{path}: {error.strerror}")
    try:
        return read(descriptor)
    except OSError as error:  # a folder, or a device
        return Head(None, unreadable=f"{path}: {error.strerror}")
    finally:
        os.close(descriptor)


def read(descriptor: int) -> Head | None:
    """The head of an open spool; None for one that was never made to its end: nothing was told of it yet."""
    raw = os.pread(descriptor, MARK_AT + SECTOR, 0)
    known = [state for state in (_decode(raw[:SECTOR]), _decode(raw[SECTOR:MARK_AT])) if state is not None]
    if not known and not raw.strip(b"\0") and not os.pread(descriptor, SECTOR, DATA).strip(b"\0"):
        return None
    newest = max(known, key=lambda state: state.sequence, default=None)
    return Head(newest, _decode_mark(raw[MARK_AT:]))


def encode(state: State) -> tuple[bytes, int]:
    """The sector of a slot, and where it belongs."""
    numbers = (state.sequence, state.generation, state.start, state.end, state.count, state.since)
    body = MAGIC + b"".join(number.to_bytes(8, "little") for number in numbers) + state.cause.encode()[:CAUSE].ljust(CAUSE, b"\0")
    return _twice(body), state.sequence % 2 * SECTOR


def _decode(sector: bytes) -> State | None:
    body = once(sector, MAGIC, SLOT)
    if body is None:
        return None
    numbers = [int.from_bytes(body[at : at + 8], "little") for at in range(len(MAGIC), len(MAGIC) + 48, 8)]
    sequence, generation, start, end, count, since = numbers
    return State(sequence, generation, start, end, count, since, body[-CAUSE:].rstrip(b"\0").decode("ascii", "replace"))


def encode_mark(trouble: Trouble) -> bytes:
    """The sector that tells of a failed write."""
    numbers = (trouble.since, trouble.at, trouble.count)
    message = trouble.message.encode("utf-8", "replace")[:_MESSAGE].decode("utf-8", "ignore").encode()
    body = _MARK + b"".join(number.to_bytes(8, "little") for number in numbers)
    return _twice(body + trouble.kind.encode()[:CAUSE].ljust(CAUSE, b"\0") + message.ljust(_MESSAGE, b"\0"))


def _decode_mark(sector: bytes) -> Trouble | None:
    body = once(sector, _MARK, len(_MARK) + 24 + CAUSE + _MESSAGE)
    if body is None:
        return None
    since, at, count = (int.from_bytes(body[at : at + 8], "little") for at in (8, 16, 24))
    kind, message = (part.rstrip(b"\0").decode("utf-8", "replace") for part in (body[32 : 32 + CAUSE], body[32 + CAUSE :]))
    return Trouble(kind, message, since, at, count)


def _twice(body: bytes) -> bytes:
    return (body + body).ljust(SECTOR, b"\0")
