"""Questions to the file of sessions, within one snapshot."""

from __future__ import annotations

import apsw

from hardwon.store.connection import translate
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hardwon.store.handle import Handle

_SESSION = "SELECT id FROM sessions WHERE client = ? AND session = ?"


class Session(Value):
    """A session as it is remembered: ``state`` as JSON, "" for none yet; ``seen`` when it was last heard of, in milliseconds;
    ``changed``: it tells something that no summary says yet; ``substance``: a digest of what the last summary told of."""

    client: str
    session: str
    seen: int
    state: str
    changed: bool
    substance: str


class Waiting(Value):
    """Something that was learnt and is not in the store yet: ``said`` is a submission (engine/spooling.py) under ``id``; ``replaces``: the
    text of what it takes the place of, or ""."""

    id: str
    said: bytes
    replaces: str = ""


class Heartbeat(Value):
    """When the hook of a client and moment last ran, in milliseconds; ``program``: what was started, ``version``: the client's or ""."""

    client: str
    moment: str
    at: int
    program: str = ""
    version: str = ""


class WorkQueries:
    """The questions; what fails is raised as the engine raises it."""

    def __init__(self, handle: Handle, path: str) -> None:
        self._handle = handle
        self._db = handle.connection
        self._path = path

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def session(self, client: str, session: str) -> Session | None:
        """What is remembered of a session."""
        rows = self._rows(
            "SELECT client, session, seen, state, changed, substance FROM sessions WHERE client = ? AND session = ?",
            (client, session),
        )
        return _session(rows[0]) if rows else None

    def unsaid(self, before: int, limit: int) -> list[Session]:
        """Sessions last seen before a time that no summary tells all of, the latest first."""
        rows = self._rows(
            "SELECT client, session, seen, state, changed, substance FROM sessions WHERE changed AND seen < ? "
            "ORDER BY seen DESC LIMIT ?",
            (before, limit),
        )
        return [_session(row) for row in rows]

    def quiet(self, since: int, before: int) -> set[tuple[str, str]]:
        """Client and session of those that were last heard of between two times."""
        return set(self._rows("SELECT client, session FROM sessions WHERE seen >= ? AND seen < ?", (since, before)))

    def told(self, client: str, session: str, agent: str) -> set[str]:
        """The memories that an agent's context has."""
        rows = self._rows(f"SELECT memory FROM told WHERE session = ({_SESSION}) AND agent = ?", (client, session, agent))
        return {memory for (memory,) in rows}

    def refused(self, client: str, session: str) -> set[tuple[str, str]]:
        """Path and symbol of what a call of the session was refused for."""
        return set(self._rows(f"SELECT path, symbol FROM refusals WHERE session = ({_SESSION})", (client, session)))

    def last_refusals(self, places: Iterable[tuple[str, str]], since: int) -> dict[tuple[str, str], int]:
        """Of each place that any session was refused for since a time: the time of its latest failure at that moment."""
        found = {}
        for path, symbol in places:
            rows = self._rows(
                "SELECT max(last_fail) FROM refusals WHERE symbol = ? AND path = ? AND at >= ?", (symbol, path, since)
            )
            if rows and rows[0][0] is not None:
                found[path, symbol] = rows[0][0]
        return found

    def heartbeat(self, client: str, moment: str) -> int:
        """When this hook last ran, in milliseconds; 0 for never."""
        rows = self._rows("SELECT at FROM heartbeats WHERE client = ? AND moment = ?", (client, moment))
        return rows[0][0] if rows else 0

    def heartbeats(self) -> list[Heartbeat]:
        """When which hook last ran."""
        rows = self._rows("SELECT client, moment, at, program, version FROM heartbeats ORDER BY client, moment")
        return [Heartbeat(*row) for row in rows]

    def waiting(self, limit: int) -> list[Waiting]:
        """What was learnt and is not in the store yet, oldest first."""
        return [Waiting(*row) for row in self._rows("SELECT id, said, replaces FROM waiting ORDER BY id LIMIT ?", (limit,))]

    def heard_at(self, session: int, call: str) -> int:
        """When a call was heard, in milliseconds; 0 for never."""
        rows = self._rows("SELECT at FROM calls WHERE session = ? AND call = ?", (session, call))
        return rows[0][0] if rows else 0

    def figures(self) -> dict[str, int]:
        """How many sessions are remembered, and how many of them are not over; what waits."""
        counts = self._rows("SELECT count(*), sum(ended = 0) FROM sessions")[0]
        waiting = self._rows("SELECT count(*) FROM waiting")[0][0]
        return {"sessions": counts[0], "open": counts[1] or 0, "waiting": waiting}

    def check(self) -> str:
        """What is wrong with the file, "" where nothing is."""
        rows = self._rows("PRAGMA quick_check(1)")
        return "" if rows == [("ok",)] else f"{self._path} is damaged: {rows[0][0]}"


class WorkReads(WorkQueries):
    """A view for reading; StoreError where the file cannot be read."""

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return super()._rows(sql, values)
        except apsw.Error as error:
            self._handle.suspect = True
            raise translate(error, self._path, self._db.system_errno) from error


def _session(row: Sequence[Any]) -> Session:
    client, session, seen, state, changed, substance = row
    return Session(client, session, seen, state, bool(changed), substance)
