"""What ``verify`` looks at: the file, the index, the journal's chain, every row's hash. Reads only."""

from __future__ import annotations

import apsw

from hardwon.store.checksums import COVERED, of, register
from hardwon.store.journal import GENESIS, content_digest, event_hash, row_hash
from hardwon.store.rows import VERSION_COLUMNS, decode_postings, to_text, to_version
from hardwon.store.sqlite_read import SqliteReader
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REBUILD = "it is derived: `hardwon init --rebuild` makes it anew"
_KEEP = "keep the file, and restore the last backup beside it"
_MOST = 20


def check(connection: apsw.Connection) -> list[Finding]:
    """Every finding; an empty list means that the store is what was written."""
    findings: list[Finding] = []
    checks: tuple[Callable[[apsw.Connection], Iterator[Finding]], ...] = (
        _file, _foreign_keys, _chain, _versions, _whole, _rows, _checksums, _index,
    )  # fmt: skip
    for one in checks:
        try:
            findings += one(connection)
        except (apsw.CorruptError, apsw.NotADBError) as error:
            findings.append(Finding("error", f"the file cannot be read through: {error}", "file", _KEEP))
    return findings


def _file(connection: apsw.Connection) -> Iterator[Finding]:
    for (text,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if text != "ok":
            yield Finding("error", text, "file", _KEEP)


def _foreign_keys(connection: apsw.Connection) -> Iterator[Finding]:
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Finding("error", f"row {rowid} points to a missing row of {parent}", table, _KEEP)


def _chain(connection: apsw.Connection) -> Iterator[Finding]:
    """Every event's hash, and that each replica's events follow one another without a gap."""
    heads: dict[str, tuple[int, bytes]] = {}
    reader = SqliteReader(connection)
    after = 0
    while events := reader.events(after=after, limit=1000):
        for event in events:
            seq, previous = heads.get(event.replica, (0, GENESIS))
            expected = event_hash(
                event.previous, event.replica, event.replica_seq, event.clock, event.at, event.origin,
                event.action, event.memory, event.version, event.payload, event.digest,
            )  # fmt: skip
            if expected != event.hash:
                yield Finding("error", "this entry is not what was written", f"event {event.seq}", _KEEP)
            if event.replica_seq != seq + 1 or event.previous != previous:
                yield Finding("error", "an entry before this one is missing or altered", f"event {event.seq}", _KEEP)
            heads[event.replica] = (event.replica_seq, event.hash)
        after = events[-1].seq


def _versions(connection: apsw.Connection) -> Iterator[Finding]:
    """Every version's content against the keyed digest in its event."""
    columns = ", ".join("v." + name.strip() for name in VERSION_COLUMNS.split(","))
    rows = connection.execute(
        f"SELECT v.memory, v.salt, e.digest, {columns} FROM versions v JOIN events e ON e.seq = v.event WHERE v.salt IS NOT NULL"
    )
    for memory, salt, digest, *row in rows:
        version = to_version(to_text(memory), row)
        if content_digest(version.content, salt) != digest:
            yield Finding(
                "error", "the content is not what was acknowledged", f"version {version.version} of {version.memory}", _KEEP
            )


def _whole(connection: apsw.Connection) -> Iterator[Finding]:
    """Nothing is missing: every event has its memory, its version and its occurrence; counts are those of the journal."""
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM events").get
    told = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").get
    if last != told:
        yield Finding("error", f"the journal ends at {last}, but reached {told}", "events", _KEEP)
    for sql, what in (
        (
            "SELECT hex(e.memory) FROM events e LEFT JOIN memories m ON m.id = e.memory WHERE m.key IS NULL",
            "the memory is missing",
        ),
        (
            "SELECT hex(m.id) FROM memories m LEFT JOIN versions v ON v.memory = m.id WHERE m.number IS NOT NULL "
            "GROUP BY m.key HAVING count(v.version) <> m.version OR max(v.version) <> m.version",
            "a version is missing",
        ),
        (
            "SELECT hex(m.id) FROM memories m LEFT JOIN occurrences o ON o.memory = m.key WHERE m.number IS NOT NULL "
            "GROUP BY m.key HAVING count(o.id) <> m.seen",
            "an occurrence is missing",
        ),
        (
            "SELECT hex(m.id) FROM occurrences o JOIN memories m ON m.key = o.memory LEFT JOIN events e ON e.seq = o.event "
            "WHERE e.seq IS NULL OR e.memory <> m.id OR e.action NOT IN ('created', 'repeated', 'imported') OR o.outcome IS NOT m.outcome",
            "an occurrence is not what the journal tells",
        ),
    ):
        for (raw,) in connection.execute(f"SELECT DISTINCT * FROM ({sql}) LIMIT {_MOST}"):
            yield Finding("error", what, f"memory {to_text(bytes.fromhex(raw))}", _KEEP)


def _rows(connection: apsw.Connection) -> Iterator[Finding]:
    reader = SqliteReader(connection)
    for key, written in connection.execute("SELECT key, row_hash FROM memories"):
        memory = reader.memories([key])[0]
        if row_hash(memory) != written:
            yield Finding("error", "the row is not what was written", f"memory {memory.id}", _KEEP)


def _checksums(connection: apsw.Connection) -> Iterator[Finding]:
    """Every row that has a checksum against it."""
    register(connection)
    for table in COVERED:
        remedy = _REBUILD if table in ("terms", "documents") else _KEEP
        wrong = connection.execute(f"SELECT count(*) FROM {table} WHERE crc <> {of(table)}").get
        if wrong:
            yield Finding("error", f"{wrong} rows are not what was written", table, remedy)


def _index(connection: apsw.Connection) -> Iterator[Finding]:
    """The index against what lies beside each memory."""
    missing = connection.execute(
        "SELECT count(*) FROM memories m LEFT JOIN documents d ON d.memory = m.key WHERE d.memory IS NULL"
    ).get
    if missing:
        yield Finding("warning", f"{missing} memories are not indexed", "search", _REBUILD)
    counted: dict[int, int] = {}
    documents = 0
    for (postings,) in connection.execute("SELECT postings FROM documents"):
        documents += 1
        for term in decode_postings(postings)[0]:
            counted[term] = counted.get(term, 0) + 1
    stored = dict(connection.execute("SELECT id, documents FROM terms WHERE documents > 0"))
    wrong = sum(counted.get(term, 0) != stored.get(term, 0) for term in counted.keys() | stored.keys())
    if wrong:
        yield Finding("warning", f"{wrong} words have a wrong count", "terms", _REBUILD)
    total = connection.execute("SELECT total FROM corpus WHERE name = 'documents'").get or 0
    if total != documents:
        yield Finding("warning", f"{documents} memories are indexed, {total} are counted", "corpus", _REBUILD)
    # A sample of words against the full-text index, which keeps no copy of the text.
    for term, count in list(stored.items())[:: max(1, len(stored) // 500)]:
        found = connection.execute("SELECT count(*) FROM search WHERE search MATCH ?", (str(term),)).get
        if found != count:
            yield Finding("warning", f"word {term} is found {found} times, {count} are counted", "search", _REBUILD)
            return
