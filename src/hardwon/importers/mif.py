"""Memory Interchange Format 2.0: one JSON document with a list of memories, each an id, a content and a time at least.

A memory of ours stands in it as a text that others can use, and whole in its metadata (as a line of docs/exchange.md), so that it
comes back as it was; unless its content was edited meanwhile, for then what was edited counts.
"""

from __future__ import annotations

import json

from hardwon.errors import InvalidInput
from hardwon.importers import kinds
from hardwon.importers.fields import Fields, moment, parsed, to_millis
from hardwon.importers.lines import from_object, to_line
from hardwon.importers.passages import headline, word
from hardwon.importers.source import Incoming, offered
from hardwon.types import Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from hardwon.importers.source import Source
    from hardwon.types import ExportedMemory

VERSION = "2.0"
CLIENT = "mif"
# How a document of ours begins: another export may replace it.
HEAD = '{"mif_version": "2.0", "generator": {"name": "hardwon"}, "memories": ['
_OURS = "hardwon"
_MOST_BYTES = 64 << 20
_TAGS = 20
# The words of the format for our kinds; a failed lesson is an error.
_TYPES = {"decision": "decision", "lesson": "learning", "attempt": "task", "summary": "conversation", "rule": "pattern"}


# --- writing


def write(items: Iterable[ExportedMemory]) -> Iterator[str]:
    """The document, a line for each memory."""
    yield HEAD
    held = ""
    for item in items:
        if not item.versions:
            continue  # a verdict on a commit: the format has no place for it
        if held:
            yield held + ","
        held = json.dumps(_entry(item))  # ASCII: half a pair can stand in metadata, and has no UTF-8
    if held:
        yield held
    yield "]}"


def _entry(item: ExportedMemory) -> dict[str, Any]:
    memory = item.memory
    origin = memory.origin
    entry: dict[str, Any] = {
        "id": memory.id, "content": _content(memory), "created_at": moment(memory.created_at), "memory_type": _type(memory),
        "updated_at": moment(memory.updated_at or memory.created_at), "tags": list(memory.tags),
        "source": {"source_type": origin.who, "session_id": origin.session, "agent_name": origin.client},
        "metadata": {_OURS: json.loads(to_line(item))},
    }  # fmt: skip
    entry["source"] = {name: value for name, value in entry["source"].items() if value}
    return entry


def _type(memory: Memory) -> str:
    return "error" if memory.outcome == "failed" else _TYPES.get(memory.kind, "observation")


def _content(memory: Memory) -> str:
    places = [" ".join(part for part in (anchor.path, anchor.symbol) if part) for anchor in memory.anchors]
    said = (
        memory.text, memory.detail, f"Because: {memory.because}" if memory.because else "",
        *(f"Rejected: {one}" for one in memory.rejected), *(f"At: {one}" for one in places if one), memory.code,
    )  # fmt: skip
    return "\n\n".join(part for part in said if part)


# --- reading


def read(source: Source) -> Iterator[Incoming]:
    """What each memory of a document offers; InvalidInput for another version."""
    document = parsed(source.text(_MOST_BYTES).encode())
    version = document.get("mif_version")
    if not (isinstance(version, str) and version.partition(".")[0] in ("1", "2")):
        raise InvalidInput(
            f"{source.name} is of version {version!r} of the format; 1 and 2 are known", field="file", remedy="convert it to 2.0"
        )
    listed = document.get("memories")
    if not isinstance(listed, list):
        raise InvalidInput(f"{source.name} lists no memories", field="file", remedy="a document has a list `memories`")
    for place, item in enumerate(listed, 1):
        where = f"memory {place}"
        try:
            if not isinstance(item, dict):
                raise _bad("it is no object")
            yield _ours(where, item) or _theirs(where, item)
        except InvalidInput as error:
            yield Incoming(where, wrong=error.message)


def _ours(where: str, item: dict[str, Any]) -> Incoming | None:
    """The memory that was exported here, where it still says what it said."""
    told = item.get("metadata")
    whole = told.get(_OURS) if isinstance(told, dict) else None
    if not isinstance(whole, dict):
        return None
    found = from_object(whole)
    same = found.memory.id == item.get("id") and _content(found.memory) == item.get("content")
    return Incoming(where, found) if same else None


def _theirs(where: str, item: dict[str, Any]) -> Incoming:
    fields = Fields(item)
    content = fields.text("content")
    if not content.strip():
        raise _bad("content is missing or empty")
    word_of = item.get("memory_type") or item.get("type")
    text, detail = headline(content)
    created = _moment(item.get("created_at"))
    told = fields.inner("source")
    memory = Memory(
        "", None, kinds.kind(word_of), kinds.outcome(word_of), text, detail=detail, trust="claimed", created_at=created,
        updated_at=_moment(item.get("updated_at")) or created, valid_from=created or None, tags=_tags(fields),
        metadata=json.dumps(_kept(item)), origin=Origin("agent", told.text("agent_name") or CLIENT, told.text("session_id"), "import"),
    )  # fmt: skip
    # Not an id of ours, though it may look like one: who wrote it is somebody else.
    identifier = fields.text("id").strip()
    return offered(where, memory, *((f"{CLIENT}:{identifier[:200]}",) if identifier else ()))


def _tags(fields: Fields) -> tuple[str, ...]:
    entities = (f"entity:{inner.text('name')}" for inner in fields.inners("entities"))
    return tuple(dict.fromkeys(filter(None, map(word, (*fields.texts("tags"), *entities)))))[:_TAGS]


def _kept(item: dict[str, Any]) -> dict[str, Any]:
    """What the format tells besides, but for vectors, which are of another model's space; the words are in the memory itself."""
    left_out = ("content", "tags", "embeddings", "created_at", "updated_at")
    return {name: value for name, value in item.items() if name not in left_out and value not in (None, "", [], {})}


def _moment(value: Any) -> int:
    """A time in milliseconds; 0 for none, or one that cannot be read."""
    try:
        return to_millis(value, "created_at") if isinstance(value, str) and value else 0
    except InvalidInput:
        return 0


def _bad(what: str) -> InvalidInput:
    return InvalidInput(what, field="memory", remedy="correct the entry, or leave it out")
