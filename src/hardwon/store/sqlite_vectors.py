"""Vectors in the SQLite engine: the calls of store/base.py that read them."""

from __future__ import annotations

from hardwon.store.filters import condition
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

# The setting that changes with every change of a vector.
STAMP = "vectors"
_WAITING = "FROM memories m WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = ? AND v.memory = m.key)"


def _matching(where: Filter) -> tuple[str, list[Any]]:
    """Vectors of a model whose memories match, from ``FROM`` on."""
    if where == Filter():
        return "FROM vectors v WHERE v.model = ?", []
    matching, values = condition(where)
    # Vectors lead, memories follow by their key: the planner, without statistics, would walk every memory.
    return f"FROM vectors v CROSS JOIN memories m ON m.key = v.memory WHERE v.model = ? AND {matching}", values


class VectorReads:
    """Questions about vectors (see store/base.py for what each call promises)."""

    _db: apsw.Connection

    def vectors(self, model: str, where: Filter) -> Iterator[tuple[int, bytes]]:
        """Key and vector of every memory that matches, by key."""
        source, values = _matching(where)
        return self._db.execute(f"SELECT v.memory, v.vector {source} ORDER BY v.memory", (model, *values))

    def vector_keys(self, model: str, where: Filter, limit: int) -> list[int]:
        """Keys of the memories that match and have a vector, by key."""
        source, values = _matching(where)
        rows = self._db.execute(f"SELECT v.memory {source} ORDER BY v.memory LIMIT ?", (model, *values, limit))
        return [row[0] for row in rows]

    def vectors_of(self, model: str, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        """Key and vector of those of these keys that have one, by key."""
        marks = ", ".join(str(int(key)) for key in keys)
        return list(
            self._db.execute(
                f"SELECT memory, vector FROM vectors WHERE model = ? AND memory IN ({marks}) ORDER BY memory", (model,)
            )
        )

    def vector_digests(self, model: str) -> dict[int, bytes]:
        """Which text each vector was made of, by key."""
        return dict(self._db.execute("SELECT memory, digest FROM vectors WHERE model = ?", (model,)))

    def vector_models(self) -> dict[str, int]:
        """How many vectors there are of each model."""
        return dict(self._db.execute("SELECT model, count(*) FROM vectors GROUP BY model"))

    def matching(self, keys: Sequence[int], where: Filter) -> list[int]:
        """Those of these keys whose memories match, in this order."""
        matching, values = condition(where)
        marks = ", ".join(str(int(key)) for key in keys)
        found = {
            row[0] for row in self._db.execute(f"SELECT m.key FROM memories m WHERE m.key IN ({marks}) AND {matching}", values)
        }
        return [key for key in keys if key in found]

    def keys_without_vector(self, model: str, where: Filter, limit: int) -> list[int]:
        """Keys of the memories that match and have no vector of the model, newest first."""
        matching, values = condition(where)
        rows = self._db.execute(
            f"SELECT m.key {_WAITING} AND {matching} ORDER BY m.created_at DESC, m.id DESC LIMIT ?", (model, *values, limit)
        )
        return [row[0] for row in rows]

    def count_without_vector(self, model: str, where: Filter) -> int:
        """How many match and have no vector of the model."""
        matching, values = condition(where)
        return int(self._db.execute(f"SELECT count(*) {_WAITING} AND {matching}", (model, *values)).get)
