"""The export of beads (``.beads/issues.jsonl``): issues, one a line, and what was told to its ``remember``.

An issue is something to be done: an attempt that is open, or that worked when it was closed. Deleted ones and the lines of its own
book-keeping offer nothing.
"""

from __future__ import annotations

import json

from hardwon.errors import InvalidInput
from hardwon.importers.fields import Fields, parsed
from hardwon.importers.passages import headline, word
from hardwon.importers.source import Incoming, offered
from hardwon.types import Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.importers.source import Source
    from hardwon.types import Kind, Outcome

CLIENT = "beads"
_PARTS = (
    ("description", ""), ("design", "Design: "), ("acceptance_criteria", "Accepted when: "), ("notes", "Notes: "),
    ("close_reason", "Closed: "),
)  # fmt: skip
_NOTHING = ("tombstone", "deleted")
# Of an issue's own fields, those that no memory has a place for.
_KEPT = ("id", "status", "priority", "issue_type", "assignee", "external_ref", "dependencies", "closed_at")


def read(source: Source) -> Iterator[Incoming]:
    """What each line offers."""
    for number, raw in source.lines():
        if raw is not None and not raw.strip():
            continue
        where = f"line {number}"
        try:
            data = parsed(raw)
            kind = data.get("_type", "issue")
            if kind == "memory":
                yield _remembered(where, Fields(data))
            elif kind == "issue" and "title" in data and data.get("status") not in _NOTHING:
                yield _issue(where, data)
            elif kind == "issue" and "title" not in data and "id" in data:
                yield Incoming(where, wrong="it has no title")
        except InvalidInput as error:
            yield Incoming(where, wrong=error.message)


def _remembered(where: str, fields: Fields) -> Incoming:
    key, value = fields.text("key"), fields.text("value")
    if not value.strip():
        raise InvalidInput("a memory has no value", field="line", remedy="correct the line, or leave it out")
    text, detail = headline(value)
    memory = Memory("", None, "fact", None, text, detail=detail, trust="claimed", origin=Origin("agent", CLIENT, "", "import"))
    return offered(where, memory, *((f"{CLIENT}:memory/{key}",) if key else ()))


def _issue(where: str, data: dict[str, Any]) -> Incoming:
    fields = Fields(data)
    told = [mark + said for name, mark in _PARTS if (said := fields.text(name).strip())]
    told += [f"{inner.text('author')}: {said}" for inner in fields.inners("comments") if (said := inner.text("text").strip())]
    title = fields.text("title").strip()
    if not title:
        raise InvalidInput("its title is empty", field="line", remedy="correct the line, or leave it out")
    text, detail = headline(title, "\n\n".join(told))
    kind, outcome = _what(fields)
    created = fields.moment("created_at") or 0
    memory = Memory(
        "", None, kind, outcome, text, detail=detail, tags=_tags(fields), trust="claimed", created_at=created,
        updated_at=fields.moment("updated_at") or created, valid_from=created or None,
        metadata=json.dumps({name: data[name] for name in _KEPT if data.get(name) not in (None, "", [])}),
        origin=Origin("agent", CLIENT, "", "import"),
    )  # fmt: skip
    identifier = fields.text("id")
    return offered(where, memory, *((f"{CLIENT}:{identifier}",) if identifier else ()))


def _what(fields: Fields) -> tuple[Kind, Outcome | None]:
    if fields.text("issue_type") == "decision":
        return "decision", None
    return "attempt", "worked" if fields.text("status") == "closed" else "open"


def _tags(fields: Fields) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(word, (fields.text("issue_type"), *fields.texts("labels"))))))
