"""Sign bits of all vectors in a file beside the store: a thirtieth of their size, scanned by counting the bits that differ.

The file is derived and never trusted: its header names the vectors' stamp and a checksum of everything. What differs is made anew,
under another name and renamed when it is whole, so that whoever reads meanwhile, or is killed, has the old file or the new one.
What the scan finds is scored by the store's own vectors.
"""

from __future__ import annotations

import os
import struct
from hashlib import blake2b

import numpy as np

from hardwon.errors import StoreError
from hardwon.store import files
from hardwon.store.beside import beside
from hardwon.store.lock import FileLock
from hardwon.store.vectors import EXACT_LIMIT, RESCORED, best, blocks, made_of, rescored
from hardwon.types import Filter, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.store.base import Reader

_MAGIC = b"HWSIGNS1"
# magic, checksum of all that follows, what it was made of (stamp and model), words a row, rows; little-endian
_HEADER = struct.Struct("<8s32s32sIQ")
_CHECKED_FROM = len(_MAGIC) + 32
_WAIT = 30.0  # seconds for another process that is making the file, unless told otherwise
_GROWTH = 4


class Signs(Value):
    """The file's rows: ``keys`` (n,) int64, ``bits`` (n, words) unsigned 64-bit."""

    keys: Any
    bits: Any


class SignIndex:
    """Approximate by its scan, exact by its scores; what a filter leaves small enough is scanned exactly."""

    name = "signs"

    def __init__(self, model: str, path: str, exact_limit: int = EXACT_LIMIT, wait: float = _WAIT) -> None:
        """``path`` is the store's; the file lies beside it. ``wait``: most seconds for another process that is making it."""
        self._model = model
        self.path = beside(path, model, "signs")
        self._exact_limit = exact_limit
        self._patience = wait

    def nearest(self, reader: Reader, vector: bytes, where: Filter, k: int) -> list[tuple[int, float]]:
        """The neighbours, as ``VectorIndex`` promises."""
        few = reader.vector_keys(self._model, where, self._exact_limit + 1)
        if len(few) <= self._exact_limit:
            return best(reader.vectors_of(self._model, few), vector, k)
        return self._scanned(reader, vector, where, k)

    def _scanned(self, reader: Reader, vector: bytes, where: Filter, k: int) -> list[tuple[int, float]]:
        """The best by bits, more of them until enough match the filter."""
        signs = self.signs(reader, len(vector) // 4)
        asked = _bits(np.frombuffer(vector, "<f4")[None])[0]
        distance = np.bitwise_count(signs.bits ^ asked).sum(axis=1, dtype=np.uint16)
        wanted = max(RESCORED, 2 * k)
        pool = wanted
        while True:
            nearest = np.argpartition(distance, pool)[:pool] if pool < len(distance) else np.arange(len(distance))
            matching = reader.matching(signs.keys[nearest].tolist(), where)
            # Half is enough: a filter that lets most through shall not cost a second round.
            if 2 * len(matching) >= wanted or pool >= len(distance):
                return rescored(reader, self._model, matching, vector, k)
            pool *= _GROWTH

    def refresh(self, reader: Reader, dimensions: int) -> None:
        """Make the file, unless it is of the view's vectors."""
        self.signs(reader, dimensions)

    def signs(self, reader: Reader, dimensions: int) -> Signs:
        """The rows of the view's vectors, from the file if it is theirs, else made anew; StoreError when that cannot be done."""
        source = made_of(reader, self._model)
        found = _load(self.path, source, _words(dimensions))
        return found if found is not None else self._make(reader, source, dimensions)

    def _make(self, reader: Reader, source: bytes, dimensions: int) -> Signs:
        lock = FileLock(self.path + ".lock")
        try:
            lock.acquire(self._patience)
            found = _load(self.path, source, _words(dimensions))  # another may have made it while we waited
            return found if found is not None else self._write(reader, source, dimensions)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror}", remedy="see to room and mode of its folder"
            ) from error
        finally:
            lock.release()

    def _write(self, reader: Reader, source: bytes, dimensions: int) -> Signs:
        keys, bits = [np.zeros(0, "<i8")], [np.zeros((0, _words(dimensions)), "<u8")]
        for some, matrix in blocks(reader.vectors(self._model, Filter()), dimensions):
            keys.append(np.array(some, "<i8"))
            bits.append(_bits(matrix))
        made = Signs(np.concatenate(keys), np.concatenate(bits))
        # Not synced: after a power loss the checksum tells, and the file is made again.
        files.write_whole(self.path, _pieces(made, source), durable=False)
        return made


def _words(dimensions: int) -> int:
    return -(-dimensions // 64)


def _bits(matrix: Any) -> Any:
    """(n, dimensions) to (n, words): a set bit for each positive number, the last word filled up with zeros."""
    packed = np.packbits(matrix > 0, axis=1, bitorder="little")
    rows = np.zeros((len(matrix), 8 * _words(matrix.shape[1])), np.uint8)
    rows[:, : packed.shape[1]] = packed
    return rows.view("<u8")


def _pieces(signs: Signs, source: bytes) -> tuple[bytes, ...]:
    keys, bits = signs.keys.tobytes(), signs.bits.tobytes()
    tail = _HEADER.pack(_MAGIC, b"", source, signs.bits.shape[1], len(signs.keys))[_CHECKED_FROM:]
    return _MAGIC + _checksum(tail, keys, bits) + tail, keys, bits


def _checksum(*parts: bytes | memoryview) -> bytes:
    running = blake2b(digest_size=32)
    for part in parts:
        running.update(part)
    return running.digest()


def _load(path: str, source: bytes, words: int) -> Signs | None:
    """The file's rows; None when there is none, when it is of other vectors, or when any byte differs.

    Read, not mapped: the checksum has to see every byte anyway, and what was checked cannot change any more.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            raw = file.read(_HEADER.size)
            if len(raw) < _HEADER.size:
                return None
            magic, checksum, origin, width, rows = _HEADER.unpack(raw)
            size = os.fstat(file.fileno()).st_size
            if (magic, origin, width) != (_MAGIC, source, words) or size != _HEADER.size + rows * 8 * (1 + width):
                return None
            raw += file.read(size - _HEADER.size)
    except OSError:
        return None
    if len(raw) != size or checksum != _checksum(memoryview(raw)[_CHECKED_FROM:]):
        return None
    keys = np.frombuffer(raw, "<i8", rows, _HEADER.size)
    return Signs(keys, np.frombuffer(raw, "<u8", rows * width, _HEADER.size + 8 * rows).reshape(rows, width))
