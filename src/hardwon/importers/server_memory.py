"""The knowledge graph of the reference memory server: entities with observations, and relations, one a line.

Each observation becomes a fact that begins with its entity's name; a relation becomes a fact as well, for its kinds are free words.
What they came from is kept in the metadata, so that the graph can be written again.
"""

from __future__ import annotations

import json
from hashlib import blake2b

from hardwon.errors import InvalidInput
from hardwon.importers.fields import parsed, to_millis
from hardwon.importers.passages import headline, shortened, word
from hardwon.importers.source import Incoming, offered
from hardwon.types import Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from hardwon.importers.source import Source
    from hardwon.types import ExportedMemory

CLIENT = "server-memory"
_MOST_BYTES = 64 << 20  # of a graph that is one JSON text
_NAME = 80
_TIMES = ("timestamp", "createdAt", "created_at")  # variants of the server add one of them


# --- reading


def read(source: Source) -> Iterator[Incoming]:
    """What each line offers; a file that is one JSON text with both lists is understood as well."""
    if b'"entities"' in source.head and not _is_object(source.head.partition(b"\n")[0]):
        yield from _whole(json_text(source))
        return
    for number, raw in source.lines():
        if raw is not None and not raw.strip():
            continue
        where = f"line {number}"
        try:
            yield from _of_object(where, parsed(raw))
        except InvalidInput as error:
            yield Incoming(where, wrong=error.message)


def json_text(source: Source) -> dict[str, Any]:
    """A source that is one object."""
    return parsed(source.text(_MOST_BYTES).encode())


def _is_object(line: bytes) -> bool:
    try:
        parsed(line)
    except InvalidInput:
        return False
    return True


def _whole(graph: dict[str, Any]) -> Iterator[Incoming]:
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        listed = graph.get(name)
        for place, item in enumerate(listed if isinstance(listed, list) else (), 1):
            where = f"{kind} {place}"
            try:
                yield from _of_object(where, {"type": kind, **item} if isinstance(item, dict) else {})
            except InvalidInput as error:
                yield Incoming(where, wrong=error.message)


def _of_object(where: str, data: dict[str, Any]) -> Iterator[Incoming]:
    if data.get("type") == "relation":
        yield _relation(where, _text(data, "from"), _text(data, "relationType"), _text(data, "to"))
    elif data.get("type") == "entity":
        yield from _entity(where, data)
    elif "entities" in data:
        yield from _whole(data)
    else:
        raise _bad("it is neither an entity nor a relation")


def _entity(where: str, data: dict[str, Any]) -> Iterator[Incoming]:
    name, kind = _text(data, "name"), _text(data, "entityType")
    observations = data.get("observations")
    if not isinstance(observations, list):
        raise _bad("observations is no list")
    if not observations:
        yield _fact(where, f"{name} ({kind})", kind, {"entity": name, "entityType": kind, "bare": True})
    for place, observation in enumerate(observations, 1):
        at = f"{where}, observation {place}"
        try:
            text, when = _observation(observation)
            yield _fact(at, f"{name}: {text}", kind, {"entity": name, "entityType": kind}, when)
        except InvalidInput as error:
            yield Incoming(at, wrong=error.message)


def _observation(value: Any) -> tuple[str, int]:
    """Its text and, in servers that keep it, its time (0 for none)."""
    if isinstance(value, dict):
        told = next((value[name] for name in _TIMES if isinstance(value.get(name), str)), "")
        return _text(value, "content"), to_millis(told, "timestamp") if told else 0
    return _text({"observation": value}, "observation"), 0


def _relation(where: str, source: str, kind: str, target: str) -> Incoming:
    words = " ".join(kind.replace("_", " ").split())
    return _fact(where, f"{source} {words} {target}", "relation", {"from": source, "relationType": kind, "to": target})


def _fact(where: str, said: str, tag: str, metadata: dict[str, Any], when: int = 0) -> Incoming:
    text, detail = headline(said)
    named = word(tag)
    memory = Memory(
        "", None, "fact", None, text, detail=detail, tags=(named,) if named else (), metadata=json.dumps(metadata), trust="claimed",
        origin=Origin("agent", CLIENT, "", "import"), created_at=when,
    )  # fmt: skip
    told = json.dumps([metadata, said], sort_keys=True).encode()
    return offered(where, memory, f"{CLIENT}:{blake2b(told, digest_size=12).hexdigest()}")


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _bad(f"{name} is no text")
    return value.strip()


def _bad(what: str) -> InvalidInput:
    return InvalidInput(what, field="line", remedy="correct the line, or leave it out")


# --- writing


def write(items: Iterable[ExportedMemory]) -> Iterator[str]:
    """The graph, a line each: entities first. All of it is gathered before the first line, for an entity stands once."""
    entities: dict[str, dict[str, Any]] = {}
    relations: list[tuple[str, str, str]] = []
    names: dict[str, str] = {}
    links: list[tuple[str, str, str]] = []
    for item in items:
        if not item.versions:
            continue
        memory = item.memory
        told: dict[str, Any] = json.loads(memory.metadata) if memory.metadata else {}
        if isinstance(told.get("from"), str) and isinstance(told.get("relationType"), str) and isinstance(told.get("to"), str):
            relations.append((told["from"], told["relationType"], told["to"]))
        elif isinstance(told.get("entity"), str):
            _observe(entities, told["entity"], str(told.get("entityType") or memory.kind), _observed(memory, told))
        else:
            names[memory.id] = _free(entities, shortened(memory.text, _NAME), memory.id)
            _observe(entities, names[memory.id], memory.kind, _sayings(memory))
        links += [(memory.id, link.kind, link.reference) for link in item.links]
    relations += [(names[one], kind, names[other]) for one, kind, other in links if one in names and other in names]
    for entity in entities.values():
        yield json.dumps({"type": "entity", **entity}, ensure_ascii=False)
    for one, kind, other in dict.fromkeys(relations):
        yield json.dumps({"type": "relation", "from": one, "to": other, "relationType": kind}, ensure_ascii=False)


def _observe(entities: dict[str, dict[str, Any]], name: str, kind: str, sayings: list[str]) -> None:
    entity = entities.setdefault(name, {"name": name, "entityType": kind, "observations": []})
    entity["observations"] += sayings


def _observed(memory: Memory, told: dict[str, Any]) -> list[str]:
    """The observation that a fact was made of."""
    if told.get("bare"):
        return []
    head = f"{told['entity']}: "
    if memory.text.endswith("…") and memory.detail:  # a long line stands whole in the detail
        return [memory.detail.removeprefix(head)]
    return ["\n".join(part for part in (memory.text.removeprefix(head), memory.detail) if part)]


def _sayings(memory: Memory) -> list[str]:
    places = [" ".join(part for part in (anchor.path, anchor.symbol) if part) for anchor in memory.anchors]
    said = [memory.text, memory.detail, memory.code, f"because {memory.because}" if memory.because else ""]
    return [
        text
        for text in (*said, *(f"rejected: {one}" for one in memory.rejected), *(f"at {one}" for one in places if one))
        if text
    ]


def _free(entities: dict[str, Any], name: str, identifier: str) -> str:
    return name if name not in entities else f"{name} ({identifier})"
