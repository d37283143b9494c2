"""The arithmetic of the journal: canonical bytes, digests, the chain, the clock. Pure; shared by every engine."""

from __future__ import annotations

from hardwon.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.types import Memory, Origin

GENESIS = bytes(32)


def canonical(values: Iterable[str | int | float | bytes | None]) -> bytes:
    """One byte string for a row: each value with its type and length before it, so that no two rows share one encoding."""
    parts = []
    for value in values:
        if value is None:
            parts.append(b"n0:")
            continue
        if isinstance(value, str):
            tag, raw = b"s", value.encode("utf-8", "surrogatepass")
        elif isinstance(value, bytes):
            tag, raw = b"b", value
        else:
            tag, raw = b"i", repr(value).encode()
        parts.append(b"%s%d:%s" % (tag, len(raw), raw))
    return b"".join(parts)


def content_values(memory: Memory) -> list[str | int | float | bytes | None]:
    """The columns of a version: what somebody said, without what became of it later."""
    values: list[str | int | float | bytes | None] = [
        memory.kind, memory.outcome, memory.text, memory.detail, memory.code, memory.because, memory.visibility,
        memory.valid_from, memory.valid_until, memory.expires_at,
        len(memory.rejected), *memory.rejected, len(memory.tags), *memory.tags,
    ]  # fmt: skip
    for anchor in memory.anchors:
        values += (anchor.path, anchor.symbol, anchor.commit, anchor.blob, anchor.fingerprint)
    if memory.metadata:  # a sixth column that most rows lack: without it the digests of older stores stay what they were
        values.append(memory.metadata)
    return values


def content_digest(memory: Memory, salt: bytes) -> bytes:
    """Keyed digest of a version's content. Destroying the salt (at erasure) leaves a chain that proves nothing of the text."""
    return blake2b(canonical(content_values(memory)), key=salt, digest_size=32).digest()


def row_hash(memory: Memory) -> bytes:
    """Hash over everything that the current row says: finds a flipped bit that SQLite's own check does not (it finds 5 %)."""
    origin = memory.origin
    values = content_values(memory)
    values += (
        memory.id, memory.number, memory.status, memory.trust, memory.author, memory.branch, memory.commit, memory.seen,
        memory.version, memory.created_at, memory.updated_at, memory.replaced_by,
        origin.who, origin.client, origin.session, origin.tool,
    )  # fmt: skip
    if memory.useful or memory.useless:
        values += (memory.useful, memory.useless)
    return blake2b(canonical(values), digest_size=16).digest()


def event_hash(
    previous: bytes,
    replica: str,
    replica_seq: int,
    clock: int,
    at: int,
    origin: Origin,
    action: str,
    memory: str,
    version: int,
    payload: str,
    digest: bytes,
) -> bytes:
    """The link of the chain: over every column of the event and the hash of the replica's event before it."""
    values = (
        previous, replica, replica_seq, clock, at, origin.who, origin.client, origin.session, origin.tool,
        action, memory, version, payload, digest,
    )  # fmt: skip
    return blake2b(canonical(values), digest_size=32).digest()


def tick(now: int, last: int) -> int:
    """The hybrid logical clock: milliseconds in the upper bits, a counter in the lower 16; never goes back, whatever the wall does.

    After Kulkarni et al., "Logical Physical Clocks" (2014), in the one-integer form.
    """
    return max(now << 16, last + 1)
