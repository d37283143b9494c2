"""A filter as SQL."""

from __future__ import annotations

from hardwon.store.rows import encode_list, to_blob
from hardwon.types import SHARED, UNHEARD, Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_EMPTY = Filter()

# The files of a memory: those that its anchors name, and those that a change touched.
_FILES = (
    "SELECT a.path AS path FROM anchors a WHERE a.memory = m.key "
    "UNION ALL SELECT f.value FROM changes c, json_each(c.files) f WHERE c.memory = m.key"
)
_ALL_FILES = (
    "SELECT a.memory AS memory, a.path AS path FROM anchors a WHERE a.path <> '' "
    "UNION ALL SELECT c.memory, f.value FROM changes c, json_each(c.files) f"
)
# Of a path: its last part, and the extension of that with its dot (none for ".bashrc" and "Makefile").
_LAST = "replace(path, rtrim(path, replace(path, '/', '')), '')"
_EXTENSION = f"lower(replace({_LAST}, rtrim({_LAST}, replace({_LAST}, '.', '')), '.'))"

_LISTED = "SELECT value FROM json_each(?)"
# Of an occurrence ``o``: that it did not happen at one of these places.
HAPPENED_IN_SIGHT = f"o.commit_sha || ':' || o.branch NOT IN ({_LISTED})"
# Of an occurrence of a memory ``m``: that it did not come with the repository's files, or that these are approved.
HAPPENED_FOR_US = f"NOT (o.who = '{SHARED.who}' AND o.client = '{SHARED.client}' AND m.trust IN {UNHEARD})"
_IN_SIGHT = f"NOT (m.kind = 'change' AND m.commit_sha IN ({_LISTED}))"
# Its own place first: that looks at one row, while most memories are in sight and have no occurrence looked up.
_SOMEWHERE_IN_SIGHT = (
    f"NOT (m.number IS NOT NULL AND m.commit_sha || ':' || m.branch IN ({_LISTED}) "
    f"AND NOT EXISTS (SELECT 1 FROM occurrences o WHERE o.memory = m.key AND {HAPPENED_IN_SIGHT}))"
)

# What occurs in the columns that a filter looks at: value and number of memories, to be grouped by the first.
VALUES = {
    "kinds": "SELECT kind, count(*) FROM memories",
    "outcomes": "SELECT outcome, count(*) FROM memories WHERE outcome IS NOT NULL",
    "statuses": "SELECT status, count(*) FROM memories",
    "trusts": "SELECT trust, count(*) FROM memories",
    "tags": "SELECT t.value, count(*) FROM memories m, json_each(m.tags) t WHERE m.tags <> '[]'",
    "branches": "SELECT branch, count(*) FROM memories WHERE branch <> ''",
    "authors": "SELECT author, count(*) FROM memories WHERE author <> ''",
    "extensions": f"SELECT {_EXTENSION}, count(DISTINCT memory) FROM ({_ALL_FILES}) WHERE ltrim({_LAST}, '.') LIKE '%.%'",
    "paths": "SELECT substr(path, 1, instr(path || '/', '/') - 1), count(DISTINCT memory) FROM (" + _ALL_FILES + ")",
}


def condition(where: Filter) -> tuple[str, list[Any]]:
    """A filter as SQL over ``memories m``; the words come as values, never as text."""
    if where == _EMPTY:
        return "1", []
    parts: list[str] = []
    values: list[Any] = []

    def add(part: str, *bound: Any) -> None:
        parts.append(part)
        values.extend(bound)

    def among(column: str, words: Iterable[Any]) -> None:
        items = list(words)
        if items:
            add(f"{column} IN ({', '.join('?' * len(items))})", *items)

    among("m.status", where.statuses)
    among("m.kind", where.kinds)
    among("m.outcome", where.outcomes)
    among("m.trust", where.trusts)
    among("m.branch", where.branches)
    among("m.id", (to_blob(identifier) for identifier in where.ids))
    if where.derived is not None:
        add("m.number IS NULL" if where.derived else "m.number IS NOT NULL")
    for tag in where.tags:
        add("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)", tag)
    for column, value in (("m.session", where.session), ("m.client", where.client), ("m.who", where.who)):
        if value:
            add(f"{column} = ? AND {column} <> ''", value)  # the second for the planner: the index of sessions leaves "" out
    if where.authors:
        add(_any("instr(lower(m.author), lower(?)) > 0", len(where.authors)), *where.authors)
    if where.extensions:
        test = _any("substr(lower(path), -length(?)) = ?", len(where.extensions))
        add(f"EXISTS (SELECT 1 FROM ({_FILES}) WHERE {test})", *(e for one in where.extensions for e in (_dotted(one),) * 2))
    if where.paths:
        test = _any("(path = ? OR substr(path, 1, length(?) + 1) = ? || '/')", len(where.paths))
        add(f"EXISTS (SELECT 1 FROM ({_FILES}) WHERE {test})", *(p for one in where.paths for p in (one.rstrip("/"),) * 3))
    if where.since is not None:
        add("m.created_at >= ?", where.since)
    if where.before is not None:
        add("m.created_at < ?", where.before)
    if where.alive_at is not None:
        alive = "(m.expires_at IS NULL OR m.expires_at > ?) AND (m.valid_until IS NULL OR m.valid_until > ?)"
        add(alive, where.alive_at, where.alive_at)
    for test, hidden in _in_sight(where):
        add(test, *(hidden,) * test.count("?"))
    return " AND ".join(parts) or "1", values


def _in_sight(where: Filter) -> Iterator[tuple[str, str]]:
    """Tests, each with the list that it is about: from JSON, for a branch may have tens of thousands of commits."""
    if where.hidden_commits:
        yield _IN_SIGHT, encode_list(where.hidden_commits)
    if where.hidden_records:
        yield _SOMEWHERE_IN_SIGHT, encode_list(where.hidden_records)


def _any(test: str, count: int) -> str:
    return "(" + " OR ".join([test] * count) + ")"


def _dotted(extension: str) -> str:
    """``py`` and ``.PY`` as ``.py``."""
    return "." + extension.lstrip(".").lower()
