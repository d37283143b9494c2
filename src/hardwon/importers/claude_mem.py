"""Databases of claude-mem: what its observer noted of sessions, every project in one file. Read, never written.

Older versions hold a text for each observation; later ones a title, a narrative and lists of facts, concepts and files, as JSON.
"""

from __future__ import annotations

import json

from hardwon.importers import database, kinds
from hardwon.importers.database import DAMAGED, text
from hardwon.importers.passages import headline, word
from hardwon.importers.source import Incoming, offered, unusable
from hardwon.types import Anchor, Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

CLIENT = "claude-mem"
_TABLES = {
    "observations": ("id", "project", "type", "created_at_epoch"),
    "session_summaries": ("id", "project", "created_at_epoch"),
}
_OPTIONAL = {
    "observations": (
        "memory_session_id", "sdk_session_id", "text", "title", "subtitle", "facts", "narrative", "concepts", "files_modified",
    ),
    "session_summaries": (
        "memory_session_id", "sdk_session_id", "request", "investigated", "learned", "completed", "next_steps", "notes",
    ),
}  # fmt: skip
_SUMMARY = (
    ("investigated", "Looked into"), ("learned", "Learned"), ("completed", "Done"), ("next_steps", "Left open"), ("notes", "Notes"),
)  # fmt: skip
_FILES, _TAGS = 5, 20
# Seconds since 1970 stay below this for 3,000 years; larger numbers are milliseconds. Both were written.
_SECONDS = 100_000_000_000


def projects(path: str) -> dict[str, int]:
    """The projects of a database, with the number of their observations and summaries."""
    counts: dict[str, int] = {}
    with _open(path) as opened:
        try:
            for table in _TABLES:
                rows = opened.execute(f"SELECT CAST(project AS BLOB), count(*) FROM {table} GROUP BY 1 ORDER BY 1")  # noqa: S608
                for project, count in rows:
                    counts[text(project)] = counts.get(text(project), 0) + count
        except DAMAGED as error:
            raise unusable(path, f"is damaged: {error}") from error
    return counts


def read(path: str, project: str) -> Iterator[Incoming]:
    """What the observer noted of a project, oldest first; what cannot be read any more is told at the end."""
    with _open(path) as opened:
        try:
            for table, made in (("observations", _observation), ("session_summaries", _summary)):
                for row in _rows(opened, table, project):
                    where = f"{table} {row['id']}"
                    yield made(where, row) or Incoming(where, wrong="it says nothing")
        except DAMAGED as error:
            yield Incoming("database", wrong=f"it cannot be read from here on: {error}")
        if opened.changed():
            yield Incoming("database", wrong="it was written to while it was read: import it again")


def _open(path: str) -> database.Database:
    return database.Database(path, _TABLES, CLIENT)


def _rows(opened: database.Database, table: str, project: str) -> Iterator[dict[str, Any]]:
    names = [name for name in _OPTIONAL[table] if name in opened.columns[table]]
    wanted = ["id", "created_at_epoch", *(f"CAST({name} AS BLOB)" for name in names)]
    if table == "observations":
        wanted.append("CAST(type AS BLOB)")
    keys = ["id", "at", *names, *(["type"] if table == "observations" else [])]
    sql = f"SELECT {', '.join(wanted)} FROM {table} WHERE CAST(project AS BLOB) = ? ORDER BY created_at_epoch, id"  # noqa: S608
    for row in opened.execute(sql, (project.encode(),)):
        found = dict(zip(keys, row, strict=True))
        yield {name: value if name in ("id", "at") else text(value).strip() for name, value in found.items()}


def _observation(where: str, row: dict[str, Any]) -> Incoming | None:
    said = row.get("title") or row.get("text") or row.get("narrative") or ""
    if not said:
        return None
    facts = [f"- {fact}" for fact in _listed(row.get("facts"))]
    parts = [row.get("subtitle"), row.get("narrative") if row.get("title") else "", "\n".join(facts)]
    if row.get("title") and row.get("text"):
        parts.append(row["text"])
    line, detail = headline(said, "\n\n".join(part for part in parts if part))
    anchors = tuple(Anchor(path) for path in _listed(row.get("files_modified"))[:_FILES])
    tags = tuple(dict.fromkeys(filter(None, map(word, (row["type"], *_listed(row.get("concepts")))))))[:_TAGS]
    return _offered(
        where,
        row,
        Memory("", None, kinds.kind(row["type"]), kinds.outcome(row["type"]), line, detail=detail, anchors=anchors, tags=tags),
    )


def _summary(where: str, row: dict[str, Any]) -> Incoming | None:
    told = [f"{label}: {row[name]}" for name, label in _SUMMARY if row.get(name)]
    asked = row.get("request") or ""
    if not (asked or told):
        return None
    line, detail = headline(asked or told[0], "\n\n".join(told if asked else told[1:]))
    return _offered(where, row, Memory("", None, "summary", None, line, detail=detail))


def _offered(where: str, row: dict[str, Any], memory: Memory) -> Incoming:
    at = row["at"] if isinstance(row["at"], int) and row["at"] > 0 else 0
    created = at * 1000 if at < _SECONDS else at
    session = row.get("memory_session_id") or row.get("sdk_session_id") or ""
    whole = memory.replace(
        trust="claimed", origin=Origin("agent", CLIENT, session, "import"), created_at=created, valid_from=created or None
    )
    return offered(where, whole, f"{CLIENT}:{where.replace(' ', '/')}")


def _listed(value: str | None) -> list[str]:
    """A list of texts that stands as JSON in a column; older versions left other things there."""
    try:
        found = json.loads(value) if value else []
    except (ValueError, RecursionError):
        return []
    return [item.strip() for item in found if isinstance(item, str) and item.strip()] if isinstance(found, list) else []
