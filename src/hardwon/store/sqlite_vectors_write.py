"""Vectors in the SQLite engine: the calls of store/base.py that change them. Apart, for readers need no checksums."""

from __future__ import annotations

from hardwon.store.checksums import insertion
from hardwon.store.rows import to_blob
from hardwon.store.sqlite_vectors import STAMP, VectorReads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SET = insertion("settings") + " ON CONFLICT (name) DO UPDATE SET value = excluded.value, crc = excluded.crc"
_PUT = (
    insertion("vectors")
    + " ON CONFLICT (model, memory) DO UPDATE SET digest = excluded.digest, vector = excluded.vector, crc = excluded.crc"
)


class VectorWrites(VectorReads):
    """Changes of vectors. The stamp is a running digest of all of them: equal stamps mean equal vectors, in copies too."""

    def put_vectors(self, model: str, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
        """Keep vectors: id, digest of the text, vector; unknown ids are passed over."""
        for identifier, digest, vector in rows:
            found = self._db.execute("SELECT key FROM memories WHERE id = ?", (to_blob(identifier),)).get
            if found is not None:
                self._db.execute(_PUT, (found, model, digest, vector))
                self._stir("put", found, model, vector)

    def supersede_vectors(self, model: str, limit: int) -> int:
        """Remove at most ``limit`` of other models' vectors of memories that have one of this; how many."""
        self._db.execute(
            "DELETE FROM vectors WHERE rowid IN (SELECT o.rowid FROM vectors o WHERE o.model <> ?1 AND EXISTS "
            "(SELECT 1 FROM vectors n WHERE n.model = ?1 AND n.memory = o.memory) LIMIT ?2)",
            (model, limit),
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
        self._db.execute(SET, (STAMP, running.hexdigest()))
