"""SQLite's file format, read page by page: what a damaged store still holds, whatever leads to it is broken.

SQLite itself reads down from the root of a table; one bad page near the root hides hundreds of good ones. Here each page is looked at
for itself, so that only what lies on bad pages is missing. The engine that we ship has no ``.recover`` (docs/decisions/0011).
Pages come through a VFS over the store's own, which decrypts them where the store is encrypted.
"""

from __future__ import annotations

import os

import apsw

from hardwon.store.connection import PLAIN, Access, unlock
from hardwon.store.mending.log_frames import newest_pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 4096  # bytes; SQLite's default, and ours
TABLE_LEAF, INDEX_LEAF, INDEX_INNER = 13, 10, 2
_TABLE_INNER = 5
_ROOT, _FREE, _NODE = 1, 2, 5  # entries of a pointer map
_HEADER = 100  # bytes of the file's own header, before the first page's content
_PENDING = 0x40000000  # the byte that SQLite locks; the page with it is never used

Value = int | float | str | bytes | None


class Cell:
    """One record of a b-tree page: its row number (0 in an index) and its values."""

    __slots__ = ("rowid", "values")

    def __init__(self, rowid: int, values: list[Value]) -> None:
        self.rowid = rowid
        self.values = values


class _Kept(apsw.VFSFile):
    """A file that SQLite opened, kept within reach."""


class _Window(apsw.VFS):
    """The VFS of a store, with its main file at hand: pages can be read one by one, deciphered."""

    def __init__(self, base: str) -> None:
        self.name = f"hardwon-window-{os.urandom(4).hex()}"
        self.base = base
        self.main: _Kept | None = None
        super().__init__(self.name, base)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _Kept:  # noqa: N802  # apsw's name
        """Open it as the base does; the first main file is kept."""
        kind = flags[0]
        file = _Kept(self.base, name, flags)
        if kind & apsw.SQLITE_OPEN_MAIN_DB and self.main is None:
            self.main = file
        return file


class Pages:
    """The pages of a store's file with those of its log laid over them; numbers begin at 1."""

    def __init__(self, path: str, access: Access = PLAIN) -> None:
        """Nothing is written. OSError or apsw.Error where the file cannot be opened at all."""
        self._window = _Window(access.vfs)
        self._connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=self._window.name)
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # it would ask for a lock that a reader does not get
        if access.key:
            unlock(self._connection, access.key)
        self._newest = {} if access.key else newest_pages(path + "-wal", PAGE)
        self.unreadable: set[int] = set()
        self.count = max(-(-os.path.getsize(path) // PAGE), max(self._newest, default=0))
        head = self.read(1) or bytes(PAGE)
        self._usable = PAGE - (32 if access.key else 0)  # the cipher keeps a nonce and a tag at the end of each
        self._free = self._freelist(head) | {number for number, (kind, _) in self._pointers() if kind == _FREE}

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def read(self, number: int) -> bytes | None:
        """A page, None where it is not whole: cut off, or not what was enciphered. Other errors of the disk are raised."""
        if number in self._newest:
            return self._newest[number]
        assert self._window.main is not None  # noqa: S101  # SQLite opens it with the connection
        try:
            page = self._window.main.xRead(PAGE, (number - 1) * PAGE)
        except (apsw.CorruptError, apsw.NotADBError):
            page = b""
        if len(page) == PAGE:
            return bytes(page)
        self.unreadable.add(number)
        return None

    def is_free(self, number: int) -> bool:
        """Whether the page holds nothing any more, though its old content may still lie there."""
        return number in self._free

    def cells(self, number: int) -> tuple[int, list[Cell]]:
        """The kind of a b-tree page with its whole records; 0 and none for any other page."""
        page = self.read(number)
        if page is None or self.is_free(number):
            return 0, []
        start = _HEADER if number == 1 else 0
        kind = page[start]
        if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INNER):
            return 0, []
        return kind, list(self._cells(page, start, kind))

    def parents(self) -> dict[int, int]:
        """Which page each b-tree page hangs from, 0 for a root, as the pointer maps tell."""
        return {number: parent if kind == _NODE else 0 for number, (kind, parent) in self._pointers() if kind in (_ROOT, _NODE)}

    def _cells(self, page: bytes, start: int, kind: int) -> Iterator[Cell]:
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        first = start + (12 if kind == INDEX_INNER else 8)
        for place in range(first, min(first + 2 * count, self._usable - 1), 2):
            cell = int.from_bytes(page[place : place + 2], "big")
            if cell >= first:
                found = self._cell(page, cell, kind)
                if found is not None:
                    yield found

    def _cell(self, page: bytes, at: int, kind: int) -> Cell | None:
        try:
            at += 4 if kind == INDEX_INNER else 0  # the child's number
            size, at = varint(page, at)
            rowid = 0
            if kind == TABLE_LEAF:
                rowid, at = varint(page, at)
                rowid -= (rowid >> 63) << 64
            payload = self._payload(page, at, size, kind)
            return None if payload is None else Cell(rowid, record(payload))
        except (IndexError, ValueError, OverflowError):
            return None

    def _payload(self, page: bytes, at: int, size: int, kind: int) -> bytes | None:
        """The bytes of a record, the rest of a long one from its overflow pages; None where it is not whole."""
        usable = self._usable
        most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return page[at : at + size] if at + size <= usable else None
        if size > self.count * PAGE:
            return None
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], size - local
        follow = int.from_bytes(page[at + local : at + local + 4], "big")
        while left > 0:
            more = self.read(follow) if 1 < follow <= self.count else None
            if more is None:
                return None
            parts.append(more[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            follow = int.from_bytes(more[:4], "big")
        return b"".join(parts)

    def _freelist(self, head: bytes) -> set[int]:
        """The free pages that the list from the first page leads to."""
        found: set[int] = set()
        trunk = int.from_bytes(head[32:36], "big")
        while 1 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.read(trunk)
            if page is None:
                break
            leaves = min(int.from_bytes(page[4:8], "big"), self._usable // 4 - 2)
            found |= {int.from_bytes(page[8 + 4 * i : 12 + 4 * i], "big") for i in range(leaves)}
            trunk = int.from_bytes(page[:4], "big")
        return found

    def _pointers(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Each page with its kind and parent in the pointer maps; nothing of maps that are not whole."""
        step = self._usable // 5 + 1
        for usual in range(2, self.count + 1, step):
            place = usual + ((usual - 1) * PAGE == _PENDING)
            page = self.read(place)
            if page is None or not self._is_map(page, place, step):
                continue
            for index in range(min(step - 1, self.count - place)):
                at = 5 * index
                yield place + 1 + index, (page[at], int.from_bytes(page[at + 1 : at + 5], "big"))

    def _is_map(self, page: bytes, place: int, step: int) -> bool:
        """Whether (nearly) all entries of a page make sense as a pointer map's."""
        entries = min(step - 1, self.count - place)
        good = sum(
            1 <= page[5 * i] <= _NODE and int.from_bytes(page[5 * i + 1 : 5 * i + 5], "big") <= self.count for i in range(entries)
        )
        return good >= entries - 2


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of SQLite's variable length (unsigned) and where it ends; IndexError at the end of the data."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9


def record(payload: bytes) -> list[Value]:
    """The values of a record; ValueError or IndexError for bytes that are none."""
    end, at = varint(payload, 0)
    if end > len(payload):
        raise ValueError("the header is longer than the record")
    values: list[Value] = []
    place = end
    while at < end:
        kind, at = varint(payload, at)
        size = _size(kind)
        if place + size > len(payload):
            raise ValueError("a value ends behind the record")
        values.append(_value(kind, payload[place : place + size]))
        place += size
    if at != end or place != len(payload):
        raise ValueError("the header does not tell the record's length")
    return values


_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)


def _size(kind: int) -> int:
    if kind < len(_SIZES):
        return _SIZES[kind]
    if kind < 12:
        raise ValueError("a kind of value that is reserved")
    return (kind - 12) // 2


def _value(kind: int, raw: bytes) -> Value:
    if kind == 0:
        return None
    if kind == 7:
        import struct

        return float(struct.unpack(">d", raw)[0])
    if kind < 7:
        return int.from_bytes(raw, "big", signed=True)
    if kind < 10:
        return kind - 8
    return raw if kind % 2 == 0 else raw.decode()
