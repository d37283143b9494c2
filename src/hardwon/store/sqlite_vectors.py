"""Vectors in the SQLite engine: the calls of store/base.py that read and write them."""

from __future__ import annotations

from hardwon.store.filters import condition
from hardwon.store.rows import to_blob
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


class VectorWrites(VectorReads):
    """Changes of vectors. The stamp is a running digest of all of them: equal stamps mean equal vectors, in copies too."""

    def put_vectors(self, model: str, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
        """Keep vectors: id, digest of the text, vector; unknown ids are passed over."""
        for identifier, digest, vector in rows:
            found = self._db.execute("SELECT key FROM memories WHERE id = ?", (to_blob(identifier),)).get
            if found is not None:
                self._db.execute(
                    "INSERT INTO vectors (memory, model, digest, vector) VALUES (?1, ?2, ?3, ?4) "
                    "ON CONFLICT (model, memory) DO UPDATE SET digest = ?3, vector = ?4",
                    (found, model, digest, vector),
                )
                self._stir("put", found, model, vector)

    def supersede_vectors(self, model: str) -> int:
        """Remove other models' vectors of the memories that have one of this; how many."""
        self._db.execute(
            "DELETE FROM vectors WHERE model <> ?1 AND memory IN (SELECT memory FROM vectors WHERE model = ?1)", (model,)
        )
        gone = self._db.changes()
        if gone:
            self._stir("supersede", gone, model)
        return gone

    def _drop_vectors(self, key: int) -> None:
        self._db.execute("DELETE FROM vectors WHERE memory = ?", (key,))
        if self._db.changes():
            self._stir("drop", key)

    def _says(self, key: int) -> Any:
        """What a memory's vector may be made of."""
        return self._db.execute("SELECT text, because, detail FROM memories WHERE key = ?", (key,)).get

    def _stir(self, *change: str | int | bytes) -> None:
        from hashlib import sha256

        before = self._db.execute("SELECT value FROM settings WHERE name = ?", (STAMP,)).get or ""
        running = sha256(before.encode())
        for part in change:
            raw = part if isinstance(part, bytes) else str(part).encode()
            running.update(len(raw).to_bytes(4, "little") + raw)
        self._db.execute(
            "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
            (STAMP, running.hexdigest()),
        )
