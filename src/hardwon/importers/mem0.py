"""What mem0 gives out (``get_all``, its export): a list of memories, each a sentence with an id, times, and free metadata."""

from __future__ import annotations

import json

from hardwon.errors import InvalidInput
from hardwon.importers import kinds
from hardwon.importers.fields import Fields, parsed_value, to_millis
from hardwon.importers.passages import headline, word
from hardwon.importers.source import Incoming, offered
from hardwon.types import Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.importers.source import Source

CLIENT = "mem0"
_MOST_BYTES = 64 << 20
_LISTS = ("results", "memories")  # the names under which versions of it hold the list
_TIMES = ("created_at", "updated_at")
_TAGS = 20


def read(source: Source) -> Iterator[Incoming]:
    """What each entry of the list offers; InvalidInput for what is no list of memories."""
    for place, item in enumerate(_listed(parsed_value(source.text(_MOST_BYTES).encode())), 1):
        where = f"memory {place}"
        try:
            if not isinstance(item, dict):
                raise _bad("it is no object")
            yield _memory(where, item)
        except InvalidInput as error:
            yield Incoming(where, wrong=error.message)


def _listed(found: Any) -> list[Any]:
    if isinstance(found, dict):
        found = next((found[name] for name in _LISTS if isinstance(found.get(name), list)), None)
    if not isinstance(found, list):
        raise InvalidInput("this holds no list of memories", field="file", remedy="give what `get_all` of mem0 answers, as JSON")
    return found


def _memory(where: str, item: dict[str, Any]) -> Incoming:
    fields = Fields(item)
    said = fields.text("memory") or fields.text("text") or fields.text("data")
    if not said.strip():
        raise _bad("it says nothing: `memory` is missing or empty")
    told = item.get("metadata") if isinstance(item.get("metadata"), dict) else {}
    category = told.get("category") if isinstance(told, dict) else None
    text, detail = headline(said)
    created = next((at for name in _TIMES if (at := _moment(item.get(name)))), 0)
    memory = Memory(
        "", None, kinds.kind(category), kinds.outcome(category), text, detail=detail, tags=_tags(item, told), trust="claimed",
        metadata=json.dumps(_kept(item)), origin=Origin("agent", CLIENT, _text(item.get("run_id")), "import"), created_at=created,
        valid_from=created or None,
    )  # fmt: skip
    identifier = _text(item.get("id"))
    return offered(where, memory, *((f"{CLIENT}:{identifier}",) if identifier else ()))


def _tags(item: dict[str, Any], told: Any) -> tuple[str, ...]:
    found: list[Any] = []
    for value in (item.get("categories"), told.get("tags") if isinstance(told, dict) else None):
        found += value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(filter(None, (word(tag) for tag in found if isinstance(tag, str)))))[:_TAGS]


def _kept(item: dict[str, Any]) -> dict[str, Any]:
    """Everything besides the sentence itself, so that nothing is lost."""
    return {name: value for name, value in item.items() if name not in ("memory", "text", "data") and value not in (None, {}, [])}


def _moment(value: Any) -> int:
    """A time in milliseconds, 0 for none that can be read; one without a zone is UTC, as mem0 writes it."""
    if not isinstance(value, str) or not value:
        return 0
    zoned = value[-1:] in "zZ" or "+" in value[10:] or "-" in value[10:]
    try:
        return to_millis(value if zoned else f"{value}Z", "created_at")
    except InvalidInput:
        return 0


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _bad(what: str) -> InvalidInput:
    return InvalidInput(what, field="memory", remedy="correct the entry, or leave it out")
