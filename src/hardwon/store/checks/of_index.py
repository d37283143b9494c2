"""The full-text index against what lies beside each memory, from which it was made. All of it, not a sample: it keeps no copy of the
text, and SQLite's own check of it sees its structure only."""

from __future__ import annotations

import apsw

from hardwon.store.checks.remedies import KEEP, REBUILD
from hardwon.store.checks.scan import UNREADABLE, Gaps, by_rowid
from hardwon.store.rows import decode_lengths, decode_postings
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Which memories hold a word is compared by their number and by the sum of a scattered key of each: a key that changed changes the sum.
_SCATTER = 2_654_435_761
_MASK = 0xFFFFFFFF
_SOUGHT = 2000
# The version becomes 5 with the first removal.
_SETTINGS = ([("secure-delete", 1), ("version", 4)], [("secure-delete", 1), ("version", 5)])


def documents(connection: apsw.Connection) -> Iterator[Finding]:
    """Every memory is indexed, and the sizes of the index are the sums of its parts."""
    missing = connection.execute(
        "SELECT count(*) FROM memories m LEFT JOIN documents d ON d.memory = m.key WHERE d.memory IS NULL"
    ).get
    if missing:
        yield Finding("warning", f"{missing} memories are not indexed", "search", REBUILD)
    totals: dict[str, int] = {"documents": 0}
    for (raw,) in connection.execute("SELECT lengths FROM documents"):
        totals["documents"] += 1
        for field, length in enumerate(decode_lengths(raw)):
            totals[str(field)] = totals.get(str(field), 0) + length
    stored = dict(connection.execute("SELECT name, total FROM corpus"))
    if totals["documents"] != stored.get("documents", 0):
        what = f"{totals['documents']} memories are indexed, {stored.get('documents', 0)} are counted"
        yield Finding("warning", what, "corpus", REBUILD)
    elif totals["documents"] and totals != stored:
        yield Finding("warning", "the lengths of the fields are not what was counted", "corpus", REBUILD)


def words(connection: apsw.Connection) -> Iterator[Finding]:
    """Every word is counted as often as it occurs, and leads to the memories that hold it and to no others."""
    size = (connection.execute("SELECT max(id) FROM terms NOT INDEXED").get or 0) + 1
    counts, totals = _expected(connection, size)
    stored = dict(connection.execute("SELECT id, documents FROM terms NOT INDEXED WHERE documents > 0"))
    wrong = sum(count != stored.get(term, 0) for term, count in enumerate(counts))
    if wrong:
        yield Finding("warning", f"{wrong} words have a wrong count", "terms", REBUILD)
    found = _found(connection)
    wrong = sum(found.pop(str(term), (0, 0)) != (count, totals[term]) for term, count in enumerate(counts)) + len(found)
    if wrong:
        yield Finding("warning", f"{wrong} words lead to other memories than those that hold them", "search", REBUILD)
        return
    # What was found above was read from end to end. A question seeks; in the order of the index, so that all parts of it are sought in.
    terms = sorted(str(term) for term, count in enumerate(counts) if count)
    for term in terms[:: max(1, len(terms) // _SOUGHT)]:
        seen = connection.execute("SELECT count(*) FROM search WHERE search MATCH ?", (term,)).get
        if seen != counts[int(term)]:
            yield Finding("warning", f"word {term} is found {seen} times, {counts[int(term)]} are counted", "search", REBUILD)
            return


def _expected(connection: apsw.Connection, size: int) -> tuple[list[int], list[int]]:
    """By word, in how many memories it is and the sum of their scattered keys, as the documents tell; ``size``: one more than the
    greatest word. Rows that cannot be read, and words beyond, are for the checksums to tell."""
    counts, totals = [0] * size, [0] * size
    for key, postings in by_rowid(connection, "documents", "memory", "postings", Gaps()):
        scattered = key * _SCATTER & _MASK
        try:
            for term in decode_postings(postings)[0]:
                counts[term] += 1
                totals[term] += scattered
        except UNREADABLE:
            continue
    return counts, totals


def _found(connection: apsw.Connection) -> dict[str, tuple[int, int]]:
    """The same as the full-text index tells, all of it."""
    # A table of SQLite's own over the index, in the connection's temporary schema: query_only would refuse even that. It stays until the
    # connection goes: dropping it fails after a read that did.
    connection.pragma("query_only", 0)
    try:
        connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab('main', 'search', 'instance')")
    finally:
        connection.pragma("query_only", 1)
    rows = connection.execute(f"SELECT term, count(*), sum(doc * {_SCATTER} & {_MASK}) FROM temp.instances GROUP BY term")
    return {term: (count, total) for term, count, total in rows}


def settings(connection: apsw.Connection) -> Iterator[Finding]:
    """What is removed from the index leaves no trace in it: that this is switched on is a row of it."""
    if connection.execute("SELECT k, v FROM search_config ORDER BY k").fetchall() not in _SETTINGS:
        yield Finding("error", "the settings of the full-text index are not what was written", "search", KEEP)
