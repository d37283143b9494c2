"""Whether git has an object, told from its files: no process is started, so that the quick path can ask."""

from __future__ import annotations

import os

_PACKED = b"\377tOc\0\0\0\2"  # how the index of a pack begins
_FANOUT = 256 * 4  # bytes; how many objects begin with at most that byte
_FOLDERS = 50  # folders of objects that are looked into
_SMALL = 65_536  # bytes; a list of folders


def has_object(folder: str, sha: str) -> bool | None:
    """Whether the folder of objects, or one that it borrows from, holds ``sha`` (a full hash); None where that cannot be told."""
    answers: set[bool | None] = set()
    for place in _folders(folder):
        if os.path.lexists(os.path.join(place, sha[:2], sha[2:])):
            return True
        answers |= {_in_pack(index, bytes.fromhex(sha)) for index in _indexes(place)}
        answers.add(False if os.access(place, os.R_OK | os.X_OK) else None)
    return True if True in answers else None if None in answers else False


def _folders(folder: str) -> list[str]:
    """The folder, and those that it borrows from (``clone --shared``, ``--reference``), directly or through one another."""
    found = [folder]
    for place in found:
        for line in _lines(os.path.join(place, "info", "alternates")):
            other = os.path.normpath(os.path.join(place, line))
            if line and not line.startswith("#") and other not in found and len(found) < _FOLDERS:
                found.append(other)
    return found


def _lines(path: str) -> list[str]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        return os.fsdecode(os.read(descriptor, _SMALL).replace(b"\0", b"")).split("\n")
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _indexes(folder: str) -> list[str]:
    packs = os.path.join(folder, "pack")
    try:
        return [os.path.join(packs, name) for name in os.listdir(packs) if name.endswith(".idx")]
    except OSError:
        return []


def _in_pack(index: str, sha: bytes) -> bool | None:
    """Whether the index names the object, by bisection; None for an index that cannot be read."""
    try:
        descriptor = os.open(index, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        head = os.pread(descriptor, len(_PACKED) + _FANOUT, 0)
        if len(head) < len(_PACKED) + _FANOUT or not head.startswith(_PACKED):
            return None
        low, high = (_count(head, sha[0] - 1) if sha[0] else 0), _count(head, sha[0])
        while low < high:
            middle = (low + high) // 2
            found = os.pread(descriptor, len(sha), len(head) + middle * len(sha))
            if found == sha:
                return True
            low, high = (middle + 1, high) if found < sha else (low, middle)
        return False
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _count(head: bytes, first: int) -> int:
    at = len(_PACKED) + first * 4
    return int.from_bytes(head[at : at + 4], "big")
