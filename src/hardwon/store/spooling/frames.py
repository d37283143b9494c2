"""How a record lies in the spool: a head with a checksum of its own, the payload, a trailing byte; to the next multiple of eight.

The head's checksum lets a damaged payload be passed over by its length; where the head itself is damaged, the next one is looked for.
Pure.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from hardwon.digest import blake2b
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A draft at all its limits, in a script of four bytes a letter, is a third of this.
LARGEST = 1 << 20
_MAGIC = b"HWSR"
# Magic, length of the payload, generation, flags, milliseconds, BLAKE2b of generation, flags and payload; then CRC-32 of these.
_HEAD = Struct("<4sIIIQ8s")
_CRC = Struct("<I")
HEAD = _HEAD.size + _CRC.size
SEALED = 1
_ALIGN = 8
_END = b"\x0a"


class Record(Value):
    """What lies from ``offset`` to ``end`` (bytes from the beginning of the file). ``payload`` is None where it is not what was
    written: a power loss cut it short before it was acknowledged, or it is damaged. ``sealed``: to the key of the store; ``raw``:
    the bytes as they lie there."""

    offset: int
    end: int
    payload: bytes | None
    sealed: bool
    at: int
    raw: bytes


def pack(payload: bytes, generation: int, at: int, *, sealed: bool) -> bytes:
    """The bytes of one record."""
    flags = SEALED if sealed else 0
    head = _HEAD.pack(_MAGIC, len(payload), generation & 0xFFFFFFFF, flags, max(at, 0), _digest(payload, generation, flags))
    frame = head + _CRC.pack(crc32(head)) + payload + _END
    return frame + bytes(-len(frame) % _ALIGN)


def span(head: bytes, generation: int) -> int:
    """How many bytes the record takes that begins with this head; 0 where it is none, or of another generation."""
    if len(head) < HEAD or not head.startswith(_MAGIC) or _CRC.unpack_from(head, _HEAD.size)[0] != crc32(head[: _HEAD.size]):
        return 0
    _, length, known, *_ = _HEAD.unpack_from(head)
    if known != generation & 0xFFFFFFFF or length > LARGEST:
        return 0
    size = HEAD + length + len(_END)
    return int(size + -size % _ALIGN)


def unpack(raw: bytes, offset: int, generation: int) -> Iterator[Record]:
    """The records of ``raw``, which lies at ``offset`` in the file, in their order; what is between them as unreadable ones."""
    at = 0
    while at < len(raw):
        size = span(raw[at : at + HEAD], generation)
        if not size:
            following = _next(raw, at + _ALIGN, generation)
            yield Record(offset + at, offset + following, None, False, 0, raw[at:following])
            at = following
            continue
        yield _record(raw[at : at + size], offset + at, size, generation)
        at += size


def generations(raw: bytes) -> set[int]:
    """Of which generations there are heads in ``raw``: for a spool whose own head is lost."""
    found = set()
    at = raw.find(_MAGIC)
    while at >= 0:
        if len(raw) - at >= HEAD:
            known = _HEAD.unpack_from(raw, at)[2]
            if span(raw[at : at + HEAD], known):
                found.add(known)
        at = raw.find(_MAGIC, at + 1)
    return found


def _record(frame: bytes, offset: int, size: int, generation: int) -> Record:
    _, length, _, flags, at, digest = _HEAD.unpack_from(frame)
    payload = frame[HEAD : HEAD + length]
    whole = len(payload) == length and digest == _digest(payload, generation, flags)
    return Record(offset, offset + size, payload if whole else None, bool(flags & SEALED), at, frame)


def _next(raw: bytes, at: int, generation: int) -> int:
    """Where the next head begins; the end of ``raw`` if there is none."""
    while (at := raw.find(_MAGIC, at)) >= 0:
        if span(raw[at : at + HEAD], generation):
            return at
        at += 1
    return len(raw)


def _digest(payload: bytes, generation: int, flags: int) -> bytes:
    return blake2b(payload, digest_size=8, key=b"%d.%d" % (generation & 0xFFFFFFFF, flags)).digest()
