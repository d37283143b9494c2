"""Ids: time-ordered ones for what is recorded, name-based ones for what is derived. Pure; randomness comes in as bytes."""

from __future__ import annotations

from hardwon.store.rows import to_text


def uuid7(now: int, random: bytes) -> str:
    """RFC 9562 version 7 from milliseconds and 10 random bytes: sorts by time."""
    number = (now & 0xFFFFFFFFFFFF) << 80 | int.from_bytes(random[:10], "big")
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return to_text(number.to_bytes(16, "big"))


def is_id(text: str) -> bool:
    """Whether a text has the form of an id, and so says nothing."""
    return len(text) == 36 and set(text.lower()) <= set("0123456789abcdef-")


def uuid5(namespace: str, name: str) -> str:
    """RFC 9562 version 5 of a name within a namespace: the same commit has the same id in every clone."""
    from hashlib import sha1

    digest = sha1(bytes.fromhex(namespace.replace("-", "")) + name.encode(), usedforsecurity=False).digest()[:16]
    number = int.from_bytes(digest, "big")
    number = number & ~(0xF << 76) | 0x5 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return to_text(number.to_bytes(16, "big"))
