"""Memories as rows and back. The text of a row stays what was written; ids are 16 bytes; lists are JSON."""

from __future__ import annotations

from sys import byteorder

from hardwon.errors import InvalidInput
from hardwon.types import Anchor, Event, Memory, Origin, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

COLUMNS = (
    "id, number, status, kind, outcome, trust, visibility, created_at, updated_at, valid_from, valid_until, expires_at, "
    "seen, version, who, client, session, tool, author, branch, commit_sha, replaced_by, tags, rejected, "
    "text, because, detail, code, metadata, useful, useless"
)
VERSION_COLUMNS = (
    "version, kind, outcome, visibility, valid_from, valid_until, expires_at, text, detail, code, because, rejected, tags, anchors, "
    "metadata, recorded_at, superseded_at"
)


def to_blob(identifier: str) -> bytes:
    """The 16 bytes of an id."""
    return bytes.fromhex(identifier.replace("-", ""))


def to_text(raw: bytes) -> str:
    """An id as it is shown."""
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def reference_digits(reference: str) -> tuple[int | None, str]:
    """What a person's reference may mean: a number (``12``, ``#12``), and hex digits of an id or a commit ("" for too few).

    InvalidInput when it can mean neither.
    """
    text = reference.strip().lower()
    plain = text.removeprefix("#")
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 16 else None
    digits = "" if text.startswith("#") else plain.replace("-", "")
    if len(digits) < 7 or len(digits) > 64 or not all(letter in "0123456789abcdef" for letter in digits):
        digits = ""
    if number is None and not digits:
        raise InvalidInput(
            f"{reference[:80]!r} is not the name of a memory",
            field="id",
            remedy="give a number (#12), an id, or a commit of 7 digits and more",
        )
    return number, digits


def encode_list(values: Iterable[str]) -> str:
    """A JSON list. Plain words are written without importing json, which would cost the quick path half an interpreter start."""
    items = list(values)
    if not items:
        return "[]"
    if all(item.isprintable() and '"' not in item and "\\" not in item for item in items):
        return '["' + '", "'.join(items) + '"]'
    import json

    return json.dumps(items, ensure_ascii=False)


def decode_list(text: str) -> tuple[str, ...]:
    """The other way. A quote inside an item has a backslash before it, so the separators are what they seem."""
    if text == "[]":
        return ()
    if "\\" not in text:
        return tuple(text[2:-2].split('", "'))
    plain = text.replace("\\\\", "\0").replace('\\"', "\1")
    if "\\" not in plain and text.startswith('["'):
        items = plain[2:-2].split('", "')
        return tuple(item.replace("\1", '"').replace("\0", "\\") for item in items)
    import json

    return tuple(json.loads(text))


def memory_values(memory: Memory) -> tuple[Any, ...]:
    """The values of COLUMNS."""
    origin = memory.origin
    return (
        to_blob(memory.id), memory.number, memory.status, memory.kind, memory.outcome, memory.trust, memory.visibility,
        memory.created_at, memory.updated_at, memory.valid_from, memory.valid_until, memory.expires_at,
        memory.seen, memory.version, origin.who, origin.client, origin.session, origin.tool,
        memory.author, memory.branch, memory.commit, to_blob(memory.replaced_by) if memory.replaced_by else None,
        encode_list(memory.tags), encode_list(memory.rejected), memory.text, memory.because, memory.detail, memory.code,
        memory.metadata, memory.useful, memory.useless,
    )  # fmt: skip


def to_memory(row: Sequence[Any], anchors: tuple[Anchor, ...]) -> Memory:
    """A memory from the values of COLUMNS."""
    (
        raw_id, number, status, kind, outcome, trust, visibility, created_at, updated_at, valid_from, valid_until, expires_at,
        seen, version, who, client, session, tool, author, branch, commit, replaced_by, tags, rejected, text, because, detail, code,
        metadata, useful, useless,
    ) = row  # fmt: skip
    return Memory(
        id=to_text(raw_id), number=number, kind=kind, outcome=outcome, text=text, detail=detail, code=code, because=because,
        rejected=decode_list(rejected), anchors=anchors, tags=decode_list(tags), status=status, trust=trust,
        visibility=visibility, origin=Origin(who, client, session, tool), author=author, branch=branch, commit=commit,
        seen=seen, version=version, created_at=created_at, updated_at=updated_at, valid_from=valid_from,
        valid_until=valid_until, expires_at=expires_at, replaced_by=to_text(replaced_by) if replaced_by else None,
        metadata=metadata, useful=useful, useless=useless,
    )  # fmt: skip


def encode_anchors(anchors: Iterable[Anchor]) -> str:
    """Anchors as a version keeps them."""
    return "[" + ", ".join(encode_list((a.path, a.symbol, a.commit, a.blob, a.fingerprint)) for a in anchors) + "]"


def decode_anchors(text: str) -> tuple[Anchor, ...]:
    """The other way."""
    if text == "[]":
        return ()
    import json

    return tuple(Anchor(*item) for item in json.loads(text))


def encode_postings(ids: Sequence[int], counts: Sequence[int]) -> bytes:
    """Term ids and packed counts as unsigned 32-bit little-endian numbers."""
    import sys
    from array import array

    numbers = array("I", ids)
    numbers.extend(counts)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def decode_postings(raw: bytes) -> tuple[list[int], list[int]]:
    """The other way: ids, counts."""
    import sys
    from array import array

    numbers = array("I")
    numbers.frombytes(raw)
    if sys.byteorder == "big":
        numbers.byteswap()
    values = numbers.tolist()
    half = len(values) // 2
    return values[:half], values[half:]


# From so many terms on, a memory's ids are intersected at once; fewer are searched for one by one in its bytes.
_MANY_TERMS = 12


def find_counts(raw: bytes, wanted: Mapping[int, str]) -> dict[str, int]:
    """The packed counts of some terms, given by their ids.

    A question knows a dozen terms, a memory a few hundred: searching its bytes is ten times as quick as decoding it. For long
    questions the numbers are read at once and intersected.
    """
    if len(wanted) > _MANY_TERMS and byteorder == "little":
        numbers = memoryview(raw).cast("I").tolist()
        half = len(numbers) // 2
        ids = numbers[:half]
        return {wanted[term_id]: numbers[half + ids.index(term_id)] for term_id in wanted.keys() & set(ids)}
    middle = len(raw) // 2
    found = {}
    for term_id, term in wanted.items():
        pattern = term_id.to_bytes(4, "little")
        at = raw.find(pattern, 0, middle)
        while at >= 0 and at & 3:  # a match across two ids
            at = raw.find(pattern, at + 1, middle)
        if at >= 0:
            found[term] = int.from_bytes(raw[middle + at : middle + at + 4], "little")
    return found


def decode_lengths(raw: bytes) -> tuple[int, ...]:
    """Field lengths, 16 bits each."""
    return (
        tuple(memoryview(raw).cast("H"))
        if byteorder == "little"
        else tuple(raw[i] | raw[i + 1] << 8 for i in range(0, len(raw), 2))
    )


def to_event(row: Sequence[Any]) -> Event:
    """An event from the columns of the journal."""
    (
        seq,
        replica,
        replica_seq,
        clock,
        at,
        who,
        client,
        session,
        tool,
        action,
        memory,
        version,
        payload,
        digest,
        previous,
        hashed,
    ) = row
    origin = Origin(who, client, session, tool)
    return Event(
        seq, replica, replica_seq, clock, at, origin, action, to_text(memory), version, payload, digest, previous, hashed
    )


def to_version(memory: str, row: Sequence[Any]) -> Version:
    """A version from VERSION_COLUMNS."""
    (
        version, kind, outcome, visibility, valid_from, valid_until, expires_at, text, detail, code, because,
        rejected, tags, anchors, metadata, recorded_at, superseded_at,
    ) = row  # fmt: skip
    content = Memory(
        id=memory, number=None, kind=kind, outcome=outcome, text=text, detail=detail, code=code, because=because,
        rejected=decode_list(rejected), tags=decode_list(tags), anchors=decode_anchors(anchors), visibility=visibility,
        valid_from=valid_from, valid_until=valid_until, expires_at=expires_at, version=version, metadata=metadata,
    )  # fmt: skip
    return Version(memory, version, content, recorded_at, superseded_at)
