"""The journal against itself, and against what follows from it: the chain, the contents, and that nothing is missing."""

from __future__ import annotations

from datetime import UTC, datetime

import apsw

from hardwon.store.checks.of_file import MOST
from hardwon.store.checks.of_rows import name_of
from hardwon.store.checks.remedies import KEEP
from hardwon.store.checks.scan import UNREADABLE, Gaps, by_key, by_rowid
from hardwon.store.journal import GENESIS, content_digest, event_hash
from hardwon.store.rows import VERSION_COLUMNS, to_event, to_text, to_version
from hardwon.store.sqlite_read import EVENT_COLUMNS
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.types import Event


def chain(connection: apsw.Connection) -> Iterator[Finding]:
    """Every event's hash, and that each replica's events follow one another without a gap."""
    heads: dict[str, tuple[int, bytes]] = {}
    told = _told_gaps(connection)
    gaps = Gaps()
    for seq, *row in by_rowid(connection, "events", "seq", EVENT_COLUMNS.removeprefix("seq, "), gaps):
        try:
            event = to_event((seq, *row))
            altered = _hashed(event) != event.hash
        except UNREADABLE:
            yield Finding("error", "this entry cannot be read", f"event {seq}", KEEP)
            continue
        last, previous = heads.get(event.replica, (0, GENESIS))
        if altered:
            yield Finding("error", "this entry is not what was written", f"event {seq}", KEEP)
        follows = event.replica_seq == last + 1 and event.previous == previous
        if not follows and f"gap {event.replica} {last + 1}-{event.replica_seq - 1}" not in told:
            yield Finding("error", "an entry before this one is missing or altered", f"event {seq}", KEEP)
        heads[event.replica] = (event.replica_seq, event.hash)
    for before, behind in gaps.found:
        upto = "the end" if behind is None else f"{behind}"
        yield Finding("error", f"entries between {max(before, 0)} and {upto} cannot be read", "events", KEEP)


def _told_gaps(connection: apsw.Connection) -> set[str]:
    """Gaps that a repair named when it could not fill them: they are known, and told as a note."""
    try:
        rows = connection.execute("SELECT payload FROM events WHERE memory = zeroblob(16) AND action = 'repaired'")
        return {payload for (payload,) in rows}
    except UNREADABLE:
        return set()


def repairs(connection: apsw.Connection) -> Iterator[Finding]:
    """What repairs could not bring back, as they wrote it into the journal: known, and not to be passed over in silence."""
    for at, lost, gaps in connection.execute(
        "SELECT at, count(*) FILTER (WHERE payload LIKE 'lost%'), count(*) FILTER (WHERE payload LIKE 'gap %') FROM events "
        "WHERE action = 'repaired' GROUP BY at HAVING count(*) FILTER (WHERE payload LIKE 'lost%' OR payload LIKE 'gap %')"
    ):
        day = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")
        parts = [f"{count:,} {one if count == 1 else many}" for count, one, many in
                 ((lost, "loss", "losses"), (gaps, "gap of the journal", "gaps of the journal")) if count]  # fmt: skip
        what = f"a repair on {day} could not bring back all: {', '.join(parts)}"
        yield Finding("note", what, "journal", "`hardwon history ID` says what of a memory")


def _hashed(event: Event) -> bytes:
    return event_hash(
        event.previous, event.replica, event.replica_seq, event.clock, event.at, event.origin,
        event.action, event.memory, event.version, event.payload, event.digest,
    )  # fmt: skip


def versions(connection: apsw.Connection) -> Iterator[Finding]:
    """Every version's content against the keyed digest in its event."""
    gaps = Gaps()
    for memory, event, salt, *row in by_key(
        connection, "versions", "memory, version", f"memory, event, salt, {VERSION_COLUMNS}", gaps
    ):
        if salt is None:  # erased
            continue
        try:
            version = to_version(to_text(memory), row)
            digest = connection.execute("SELECT digest FROM events WHERE seq = ?", (event,)).get
            right = content_digest(version.content, salt) == digest
        except UNREADABLE:
            right = False
        if not right:
            where = f"version {row[0]} of {name_of(connection, memory)}"
            yield Finding("error", "the content is not what was acknowledged", where, KEEP)
    if gaps.found:
        yield Finding("error", "some contents cannot be read", "versions", KEEP)


# A repair found no words of it, and said so.
_NOT_LOST = "NOT EXISTS (SELECT 1 FROM events r WHERE r.memory = e.memory AND r.action = 'repaired' AND r.payload = 'lost')"
# What repairs told of versions and occurrences counts as if it were there.
_ABSENT = (
    (
        "SELECT DISTINCT e.memory FROM events e LEFT JOIN memories m ON m.id = e.memory WHERE m.key IS NULL "
        f"AND e.memory <> zeroblob(16) AND {_NOT_LOST}",
        "the memory is missing",
    ),
    (
        "SELECT m.id FROM memories m LEFT JOIN versions v ON v.memory = m.id WHERE m.number IS NOT NULL "
        "GROUP BY m.key HAVING max(v.version) <> m.version OR count(v.version) + (SELECT count(*) FROM events r WHERE r.memory = m.id "
        "AND r.action = 'repaired' AND r.payload LIKE 'lost version %') <> m.version",
        "a version is missing",
    ),
    (
        "SELECT m.id FROM memories m LEFT JOIN occurrences o ON o.memory = m.key WHERE m.number IS NOT NULL "
        "GROUP BY m.key HAVING count(o.id) <> m.seen AND count(o.id) + (SELECT total(CAST(substr(r.payload, 6) AS INTEGER)) FROM events r "
        "WHERE r.memory = m.id AND r.action = 'repaired' AND r.payload LIKE 'lost % occurrences') <> m.seen",
        "an occurrence is missing",
    ),
    (
        "SELECT DISTINCT m.id FROM occurrences o JOIN memories m ON m.key = o.memory LEFT JOIN events e ON e.seq = o.event "
        "WHERE e.seq IS NULL OR e.memory <> m.id OR e.action NOT IN ('created', 'repeated', 'imported', 'repaired') "
        "OR o.outcome IS NOT m.outcome",
        "an occurrence is not what the journal tells",
    ),
    (
        "SELECT DISTINCT e.memory FROM events e LEFT JOIN versions v ON v.memory = e.memory AND v.version = e.version "
        f"WHERE length(e.digest) > 0 AND v.event IS NOT e.seq AND {_NOT_LOST} AND NOT EXISTS (SELECT 1 FROM events r "
        "WHERE r.memory = e.memory AND r.action = 'repaired' AND r.version = e.version AND r.seq > e.seq)",
        "a version is not what the journal tells",
    ),
)


def whole(connection: apsw.Connection) -> Iterator[Finding]:
    """Nothing is missing: every event has its memory, its version and its occurrence; counts are those of the journal."""
    for sql, what in _ABSENT:
        try:
            for (raw,) in connection.execute(f"{sql} LIMIT {MOST}"):
                yield Finding("error", what, name_of(connection, raw), KEEP)
        except UNREADABLE as error:
            yield Finding("error", f"whether all is there cannot be told: {error}", "journal", KEEP)
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM events").get
    told = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").get
    if last != told:
        yield Finding("error", f"the journal ends at {last}, but reached {told}", "events", KEEP)
