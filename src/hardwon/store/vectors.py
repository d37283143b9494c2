"""Nearest neighbours among a store's vectors. The blobs in the store are the truth; every index is derived from them.

Importing this module imports numpy.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

import numpy as np

from hardwon.store.base import Reader
from hardwon.store.sqlite_vectors import STAMP
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# A filter that leaves at most so many vectors is answered by scanning just those, whatever the index.
EXACT_LIMIT = 20_000
# Of an index that approximates, so many of the best that match the filter are scored exactly.
RESCORED = 400
# Rows that a scan multiplies at once: 6 MB of 384 numbers each, which the processor's cache nearly holds.
_SLICE = 4096
_SAMPLE = 256


class VectorIndex(Protocol):
    """A way to find neighbours. ``name`` is what the setting calls it."""

    name: str

    def nearest(self, reader: Reader, vector: bytes, where: Filter, k: int) -> list[tuple[int, float]]:
        """At most ``k`` (key, cosine) of memories that match and whose vector the view knows, greatest cosine first, then by key.

        StoreError or Unavailable when this index cannot answer now; the flat one always can.
        """

    def refresh(self, reader: Reader, dimensions: int) -> None:
        """Bring what is derived to the view's vectors, which ``nearest`` does by itself; errors as there."""


class FlatIndex:
    """Every vector that matches is compared. Exact, and nothing to build."""

    name = "flat"

    def __init__(self, model: str) -> None:
        self._model = model

    def nearest(self, reader: Reader, vector: bytes, where: Filter, k: int) -> list[tuple[int, float]]:
        """The exact neighbours."""
        return best(reader.vectors(self._model, where), vector, k)

    def refresh(self, reader: Reader, dimensions: int) -> None:
        """Nothing is derived."""


def best(rows: Iterable[tuple[int, bytes]], vector: bytes, k: int) -> list[tuple[int, float]]:
    """The ``k`` rows (key, vector) with the greatest cosine, in one pass."""
    asked = np.frombuffer(vector, "<f4")
    found: list[tuple[float, int]] = []
    for keys, matrix in blocks(rows, len(asked)):
        found += zip((-cosines(matrix, asked)).tolist(), keys, strict=True)
        if len(found) > _SLICE + k:
            found = sorted(found)[:k]
    return [(key, -score) for score, key in sorted(found)[:k]]


def blocks(rows: Iterable[tuple[int, bytes]], dimensions: int) -> Iterable[tuple[list[int], Any]]:
    """Keys and a matrix (n, dimensions) of at most some thousand rows; a vector of another length is passed over."""
    keys: list[int] = []
    raw: list[bytes] = []
    for key, vector in rows:
        if len(vector) != 4 * dimensions:
            continue  # written by a damaged or foreign model: it has no place in this space
        keys.append(key)
        raw.append(vector)
        if len(keys) == _SLICE:
            yield keys, np.frombuffer(b"".join(raw), "<f4").reshape(-1, dimensions)
            keys, raw = [], []
    if keys:
        yield keys, np.frombuffer(b"".join(raw), "<f4").reshape(-1, dimensions)


def cosines(matrix: Any, vector: Any) -> Any:
    """Cosines of unit vectors, to six digits. Row by row: the product of a matrix may round a row by where it stands."""
    return np.round(np.vecdot(matrix, vector).astype(np.float64), 6)


def rescored(reader: Reader, model: str, keys: Sequence[int], vector: bytes, k: int) -> list[tuple[int, float]]:
    """The best of some keys by the store's own vectors; keys that the view does not know fall out."""
    return best(reader.vectors_of(model, keys), vector, k)


def typical(reader: Reader, model: str, vector: bytes) -> float:
    """The median cosine of a vector with the store's, by a sample of every n-th: what a stranger has; 0 without vectors."""
    keys = reader.vector_keys(model, Filter(), -1)
    found = rescored(reader, model, keys[:: max(1, len(keys) // _SAMPLE)][:_SAMPLE], vector, _SAMPLE)
    return float(np.median([cosine for _, cosine in found])) if found else 0.0


def made_of(reader: Reader, model: str) -> bytes:
    """32 bytes that name the view's vectors of a model: what was derived from them holds while they are the same."""
    return sha256(f"{reader.setting(STAMP)}\0{model}".encode()).digest()
