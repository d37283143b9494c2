"""Which code memories speak of, in the SQLite engine: the calls of store/base.py that read anchors and the files of changes."""

from __future__ import annotations

from hardwon.store.rows import decode_list, encode_list
from hardwon.types import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw


_PLACED = "SELECT m.number, a.position, a.path, a.symbol, a.commit_sha, a.blob, a.fingerprint FROM memories m"
_HELD = "m.status IN ('active', 'resolved', 'inactive')"


class AnchorReads:
    """Questions about anchors (see store/base.py for what each call promises)."""

    _db: apsw.Connection

    def placed(self, after: int, paths: Collection[str]) -> list[tuple[int, Anchor]]:
        """Anchors of recorded memories above a number, and of those that speak of these paths."""
        rows = self._db.execute(
            f"{_PLACED} JOIN anchors a ON a.memory = m.key WHERE m.number > ? AND {_HELD} "
            f"UNION {_PLACED} JOIN anchors a ON a.memory = m.key WHERE m.number IS NOT NULL AND {_HELD} AND m.key IN "
            "(SELECT memory FROM anchors WHERE path IN (SELECT value FROM json_each(?)) AND path <> '') ORDER BY 1, 2",
            (after, encode_list(sorted(paths))),
        )
        return [(number, Anchor(*anchor)) for number, _, *anchor in rows]

    def pinned(self) -> set[str]:
        """The blobs that anchors were pinned to."""
        return {blob for (blob,) in self._db.execute("SELECT DISTINCT blob FROM anchors WHERE blob <> ''")}

    def spoken_of(self, names: set[str]) -> set[str]:
        """Those of the names that are the last part of a symbol that any memory is about."""
        return {
            name
            for name in names
            if name
            and self._db.execute("SELECT 1 FROM anchors WHERE name = ? AND name <> '' LIMIT 1", (name.casefold(),)).fetchall()
        }

    def touched_together(self, most: int) -> list[list[str]]:
        """The files of each living change that touched two and more, at most ``most``."""
        rows = self._db.execute(
            "SELECT c.files FROM changes c JOIN memories m ON m.key = c.memory WHERE m.status = 'active' "
            "AND json_array_length(c.files) BETWEEN 2 AND ?",
            (most,),
        )
        return [list(decode_list(files)) for (files,) in rows]
