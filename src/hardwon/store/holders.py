"""Which processes hold a lock on a file, so that an error can name them. Only Linux tells (/proc/locks); elsewhere the answer is empty.

Asked of the kernel, never by opening the file: closing it again would drop the locks that this process has on it.
"""

from __future__ import annotations

import os

_NAMED = 3


def snapshots(index: str) -> list[tuple[int, str]]:
    """Processes that hold a snapshot of a store, by its log's index (``…-shm``): (id, program's name), by id."""
    # WAL_READ_LOCK(0) to (4) of SQLite: bytes 120 + 3 and on, locked as shared.
    return _holders(index, "POSIX", "READ", range(123, 128))


def owners(path: str) -> list[tuple[int, str]]:
    """The process that has a lock file (see store/lock.py): (id, program's name)."""
    return _holders(path, "FLOCK", "WRITE", range(1))


def told(found: list[tuple[int, str]], unknown: str) -> str:
    """The processes in words; ``unknown`` for none."""
    names = [f"process {process}" + (f" ({name})" if name else "") for process, name in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(f"{len(found) - _NAMED} more")
    return ", ".join(names) or unknown


def _holders(path: str, kind: str, mode: str, place: range) -> list[tuple[int, str]]:
    try:
        inode = str(os.stat(path).st_ino)
        with open("/proc/locks", encoding="ascii") as table:
            lines = table.readlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = {int(words[4]) for words in map(str.split, lines) if _is_held(words, inode, kind, mode, place)}
    return [(process, _name_of(process)) for process in sorted(found) if process > 0]


def _is_held(words: list[str], inode: str, kind: str, mode: str, place: range) -> bool:
    """Whether a line tells of such a lock: number, kind, ADVISORY, mode, process, major:minor:inode, first byte, last byte.

    Lines of those who wait have an arrow more. A process's locks that touch are one line. Device numbers differ on some file
    systems from what stat says; the inode does not.
    """
    if len(words) != 8 or (words[1], words[3], words[5].rpartition(":")[2]) != (kind, mode, inode):
        return False
    return int(words[6]) < place.stop and (words[7] == "EOF" or int(words[7]) >= place.start)


def _name_of(process: int) -> str:
    """The program's name; not its arguments, which may hold secrets."""
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as name:
            return "".join(char if char.isprintable() else "?" for char in name.read().strip())
    except OSError:
        return ""
