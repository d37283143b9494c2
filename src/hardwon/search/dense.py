"""The dense channel: memories whose vector lies near the question's, and the cosine of any candidate."""

from __future__ import annotations

from hardwon.errors import StoreError, Unavailable
from hardwon.store.vectors import FlatIndex, rescored, typical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.store.base import Reader
    from hardwon.store.vectors import VectorIndex
    from hardwon.types import Filter

DENSE_CANDIDATES = 100


class Dense:
    """A question's vector and the index to look in, which holds ``population`` vectors. ``degraded`` gathers what could not
    take part, one line each; a list that was given is continued."""

    def __init__(self, model: str, vector: bytes, index: VectorIndex, population: int, degraded: list[str] | None = None) -> None:
        self._model = model
        self._vector = vector
        self._index = index
        self.population = population
        self.degraded = [] if degraded is None else degraded

    def candidates(self, reader: Reader, where: Filter) -> list[int]:
        """Keys of the nearest memories that match; by the flat scan where the index cannot answer."""
        try:
            found = self._index.nearest(reader, self._vector, where, DENSE_CANDIDATES)
        except (StoreError, Unavailable) as error:
            self.degraded.append(f"{self._index.name} gave no answer, all vectors were compared: {error.message}")
            found = FlatIndex(self._model).nearest(reader, self._vector, where, DENSE_CANDIDATES)
        return [key for key, _ in found]

    def cosines(self, reader: Reader, keys: Sequence[int]) -> dict[int, float]:
        """The cosine of those of these memories that have a vector."""
        return dict(rescored(reader, self._model, keys, self._vector, len(keys)))

    def typical(self, reader: Reader) -> float:
        """The cosine that half of all memories reach with this question: what strangers have."""
        return typical(reader, self._model, self._vector)
