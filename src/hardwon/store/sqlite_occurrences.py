"""Each time that memories happened, in the SQLite engine: the calls of store/base.py that read occurrences."""

from __future__ import annotations

from hardwon.store.filters import HAPPENED_FOR_US, HAPPENED_IN_SIGHT
from hardwon.store.rows import encode_list, to_blob, to_text
from hardwon.types import Experience, Occurrence, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import apsw


class OccurrenceReads:
    """Questions about occurrences (see store/base.py for what each call promises)."""

    _db: apsw.Connection

    def experiences(self, symbol: str, path: str, exact: bool, hidden: Sequence[str] = ()) -> list[Experience]:
        """Lessons' and attempts' occurrences, in order of arrival."""
        # Said even of a symbol that is named: the index leaves "" out, and the planner does not know which one is asked for.
        condition = "a.symbol <> ''"
        values: list[Any] = []
        if symbol:
            condition += " AND a.symbol = ?" if exact else " AND instr(lower(a.symbol), lower(?))"
            values.append(symbol)
        if path:
            condition += " AND a.path = ? AND a.path <> ''"
            values.append(path)
        if hidden:
            condition += f" AND {HAPPENED_IN_SIGHT}"
            values.append(encode_list(hidden))
        rows = self._db.execute(
            "SELECT a.symbol, a.path, m.id, o.at, o.event, o.outcome, o.status, e.action = 'imported' FROM anchors a "
            "JOIN memories m ON m.key = a.memory JOIN occurrences o ON o.memory = m.key JOIN events e ON e.seq = o.event "
            f"WHERE {condition} AND m.kind IN ('lesson', 'attempt') AND o.outcome IN ('failed', 'worked') "
            f"AND m.status NOT IN ('forgotten', 'rejected', 'quarantined') AND {HAPPENED_FOR_US} ORDER BY o.event, o.id",
            tuple(values),
        )
        return [Experience(row[0], row[1], to_text(row[2]), row[3], row[4], row[5], row[6], bool(row[7])) for row in rows]

    def often_failed(self, least: int, hidden: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Every (symbol, path) with at least so many active failures."""
        in_sight = f"AND {HAPPENED_IN_SIGHT} " if hidden else ""
        rows = self._db.execute(
            "SELECT a.symbol, a.path FROM occurrences o JOIN memories m ON m.key = o.memory JOIN anchors a ON a.memory = m.key "
            "WHERE o.outcome = 'failed' AND o.status = 'active' AND a.symbol <> '' AND m.kind IN ('lesson', 'attempt') "
            f"AND m.status NOT IN ('forgotten', 'rejected', 'quarantined') AND {HAPPENED_FOR_US} {in_sight}"
            "GROUP BY 1, 2 HAVING count(*) >= ? ORDER BY 1, 2",
            (encode_list(hidden), least) if hidden else (least,),
        )
        return [(symbol, path) for symbol, path in rows]

    def recordings(self, after: int = 0) -> list[tuple[str, str, bool]]:
        """Where memories were recorded that events after this sequence tell of."""
        # From the events, for these are few: occurrences have no index by event.
        rows = self._db.execute(
            "SELECT o.commit_sha, o.branch, max(e.action = 'imported') FROM events e CROSS JOIN memories m ON m.id = e.memory "
            "JOIN occurrences o ON o.memory = m.key AND o.event = e.seq WHERE e.seq > ? AND o.commit_sha <> '' "
            "GROUP BY 1, 2 ORDER BY 1, 2",
            (after,),
        )
        return [(commit, branch, bool(imported)) for commit, branch, imported in rows]

    def occurrences(self, memory: str) -> list[Occurrence]:
        """Each time that the memory happened, oldest first."""
        rows = self._db.execute(
            "SELECT o.at, o.outcome, o.status, o.who, o.client, o.session, o.tool, o.branch, o.commit_sha "
            "FROM occurrences o JOIN memories m ON m.key = o.memory WHERE m.id = ? ORDER BY o.event, o.id",
            (to_blob(memory),),
        )
        return [Occurrence(memory, row[0], row[1], row[2], Origin(*row[3:7]), row[7], row[8]) for row in rows]
