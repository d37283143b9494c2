"""What is put into the file of sessions, within one transaction. The caller takes secrets out before."""

from __future__ import annotations

from hardwon.store.sessions.reads import WorkQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.store.sessions.reads import Heartbeat, Session, Waiting

_DAY_MS = 86_400_000
# Sessions that were not heard of for so long go, and of the others all but the latest; calls are told twice at once, or never.
_FORGOTTEN_MS = 30 * _DAY_MS
MOST_SESSIONS = 1_000
_UNTOLD_MS = 365 * _DAY_MS  # the same where no summary tells of it yet: a start tells of a few only
_CALLS_MS = _DAY_MS
# What waits for a store that does not come back: more than the spool is ever asked to hold of one kind.
MOST_WAITING = 5_000


class WorkWrites(WorkQueries):
    """A view for writing. It sees what it wrote; what fails is raised, and nothing of the transaction stays."""

    def touch(self, client: str, session: str, now: int) -> int:
        """The key of a session, which is made where it is new, and is open from now on."""
        rows = self._rows(
            "INSERT INTO sessions (client, session, started, seen) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (client, session) DO UPDATE SET seen = max(seen, excluded.seen), ended = 0 RETURNING id",
            (client, session, now, now),
        )
        key: int = rows[0][0]
        return key

    def remember(self, session: int, state: str, *, changed: bool) -> None:
        """Keep a session's state; ``changed``: with something that no summary says yet."""
        self._rows("UPDATE sessions SET state = ?, changed = max(changed, ?) WHERE id = ?", (state, changed, session))

    def summed(self, session: Session, substance: str) -> None:
        """A summary tells what a session's state told; nothing is noted where the state has changed since."""
        self._rows(
            "UPDATE sessions SET changed = 0, substance = ? WHERE client = ? AND session = ? AND state = ?",
            (substance, session.client, session.session, session.state),
        )

    def end(self, session: int, now: int) -> None:
        """The session is over."""
        self._rows("UPDATE sessions SET ended = ? WHERE id = ?", (now, session))

    def hears(self, session: int, call: str, now: int, within: int) -> bool:
        """Whether this is news: it was not told in the last ``within`` milliseconds (0: never)."""
        rows = self._rows(
            "INSERT INTO calls (session, call, at) VALUES (?, ?, ?) "
            "ON CONFLICT (session, call) DO UPDATE SET at = excluded.at WHERE ? > 0 AND abs(excluded.at - at) > ? RETURNING 1",
            (session, call, now, within, within),
        )
        return bool(rows)

    def tell(self, session: int, agent: str, memories: Iterable[str]) -> list[str]:
        """Mark memories as told to an agent; those that were not before."""
        return [
            memory
            for memory in memories
            if self._rows("INSERT OR IGNORE INTO told VALUES (?, ?, ?) RETURNING 1", (session, agent, memory))
        ]

    def untell(self, session: int, agent: str) -> None:
        """An agent's context is gone, with what it was told."""
        self._rows("DELETE FROM told WHERE session = ? AND agent = ?", (session, agent))

    def refuse(self, session: int, place: tuple[str, str], last_fail: int, now: int) -> bool:
        """Mark that a call of the session is refused for a place (path, symbol); whether it was not before."""
        path, symbol = place
        return bool(
            self._rows(
                "INSERT OR IGNORE INTO refusals VALUES (?, ?, ?, ?, ?) RETURNING 1", (session, path, symbol, now, last_fail)
            )
        )

    def put_out(self, one: Waiting) -> int:
        """Keep what was learnt until it is in the store. Of too much the oldest goes: how many."""
        self._rows("INSERT OR IGNORE INTO waiting VALUES (?, ?, ?)", (one.id, one.said, one.replaces))
        lost = self._rows(
            "DELETE FROM waiting WHERE id IN (SELECT id FROM waiting ORDER BY id DESC LIMIT -1 OFFSET ?) RETURNING 1",
            (MOST_WAITING,),
        )
        return len(lost)

    def taken(self, ids: Iterable[str]) -> None:
        """It is in the store."""
        for id in ids:
            self._rows("DELETE FROM waiting WHERE id = ?", (id,))

    def beat(self, beat: Heartbeat) -> None:
        """A hook ran."""
        self._rows(
            "INSERT OR REPLACE INTO heartbeats VALUES (?, ?, ?, ?, ?)",
            (beat.client, beat.moment, beat.at, beat.program, beat.version),
        )

    def prune(self, now: int) -> None:
        """Let go of what nobody will ask for any more."""
        for table, column in (("sessions", "seen"), ("refusals", "at"), ("calls", "at")):  # noted while the clock was wrong
            self._rows(f"UPDATE {table} SET {column} = ? WHERE {column} > ?", (now, now + _DAY_MS))
        self._rows("DELETE FROM calls WHERE at < ?", (now - _CALLS_MS,))
        self._rows("DELETE FROM sessions WHERE seen < ? AND (NOT changed OR seen < ?)", (now - _FORGOTTEN_MS, now - _UNTOLD_MS))
        self._rows(
            "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY seen DESC LIMIT -1 OFFSET ?)", (MOST_SESSIONS,)
        )
        self._rows("PRAGMA incremental_vacuum(200)")
