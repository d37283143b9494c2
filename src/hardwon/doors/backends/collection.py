"""What the adapters share: JSON values of a program under a namespace and a key, as memories of a repository.

A value lies in its memory's metadata, without secrets; its words are what is searched. Putting a key again makes a new version; deleting is
a forgetting, which ``undo`` takes back. A namespace or key that looks like a secret is found by itself, and told without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from hardwon.digest import blake2b
from hardwon.doors.items import as_json
from hardwon.errors import InvalidInput
from hardwon.types import Draft, Filter, Query, Value
from hardwon.upkeep.trust import HEARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from hardwon.doors.api import Repository
    from hardwon.types import Kind, Memory

    Namespace = tuple[str, ...]

_TEXT, _DETAIL = 300, 19_000  # characters of the words that are searched: the headline, and the rest
_NO_BUDGET = 1_000_000


class Entry(Value):
    """A value as it is kept. Times are milliseconds since 1970; ``score`` (0 to 1) of what was searched, None of what was listed."""

    namespace: Namespace
    key: str
    value: Any
    memory: str
    created_at: int
    updated_at: int
    score: float | None = None


class Put(Value):
    """A value to keep; ``words`` is what it is found by, "" for what is only fetched by its key."""

    namespace: Namespace
    key: str
    value: Any
    words: str = ""


class Collection:
    """The values of one interface in a repository's memory. Several threads may use it."""

    def __init__(self, repository: Repository, interface: str, kind: Kind = "fact") -> None:
        """``interface``: a short word that keeps the values of one program apart from those of others."""
        self._repository = repository
        self._interface = interface
        self._kind: Kind = kind

    def put(self, puts: Iterable[Put]) -> None:
        """Keep values, those that come together in one transaction; durable on return. InvalidInput for what is no JSON, too long
        (50,000 characters), or was rejected by a person."""
        drafts = [(self._name(one.namespace, one.key), self._draft(one)) for one in puts]
        for receipt in self._repository.engine.upsert(drafts, self._repository.scope):
            if receipt.action == "refused":
                raise InvalidInput(f"it was not kept: {receipt.why}", field="value", remedy="see `hardwon review`")

    def get(self, namespace: Namespace, key: str) -> Entry | None:
        """The value of a key; None where there is none."""
        memory = self._memory(namespace, key)
        return next(iter(_entries([memory])), None) if memory is not None and memory.status == "active" else None

    def was_deleted(self, namespace: Namespace, key: str) -> bool:
        """Whether there was a value that somebody has taken away."""
        memory = self._memory(namespace, key)
        return memory is not None and memory.status != "active"

    def _memory(self, namespace: Namespace, key: str) -> Memory | None:
        from hardwon.engine.naming import own_name

        with self._repository.engine.store.read() as reader:
            found = reader.aliased(own_name(self._name(namespace, key)))
            return next((memory for memory in reader.get([found]) if memory.trust in HEARD), None) if found else None

    def listed(self, prefix: Namespace = ()) -> list[Entry]:
        """Every value below a namespace, oldest first."""
        with self._repository.engine.store.read() as reader:
            memories = reader.find(self._below(prefix).replace(statuses=("active",)), -1)
        return list(_entries(sorted(memories, key=lambda one: one.number or 0)))

    def search(self, prefix: Namespace, query: str, most: int) -> list[Entry]:
        """At most so many values below a namespace that share words with a query, best first."""
        where = self._below(prefix)
        with self._repository.engine.store.read() as reader:
            if not reader.find(where.replace(statuses=("active",)), 1):
                return []
        asked = Query(query, where=where, k=max(1, most), budget=_NO_BUDGET, floor=0.0, all_branches=True)
        hits = self._repository.engine.recall(asked, self._repository.scope).hits
        found = ((entry, hit) for hit in hits for entry in _entries([hit.memory]))
        return [entry.replace(score=hit.score) for entry, hit in found if not _is_silent(hit.memory)]

    def delete(self, keys: Iterable[tuple[Namespace, str]]) -> int:
        """Take values out of every answer; how many there were."""
        return len(self._repository.delete([self._name(namespace, key) for namespace, key in keys]).ids)

    def remove(self, entries: Iterable[Entry]) -> int:
        """The same for what was got, listed or found."""
        ids = tuple(entry.memory for entry in entries)
        return len(self._repository.engine.forget(Filter(ids=ids), self._repository.scope, dry_run=False).ids) if ids else 0

    def _below(self, prefix: Namespace) -> Filter:
        """The values below a namespace. None that came from elsewhere, until it is approved: a program takes all for its own."""
        return Filter(tags=(self._tag(prefix),), derived=False, trusts=HEARD)

    def _name(self, namespace: Namespace, key: str) -> str:
        """The program's own id of a value."""
        return f"{self._interface}:{_digest([*namespace, key], 20)}"

    def _tag(self, prefix: Namespace) -> str:
        return f"{self._interface}:{_digest(prefix, 8)}" if prefix else self._interface

    def _draft(self, put: Put) -> Draft:
        words = put.words.strip()
        # Whose it is stands before: what is left of the words alone, once it is without secrets and hidden characters, may be nothing.
        head = f"{self._interface}: {' '.join(words[:_TEXT].split())}"
        above = [self._tag(put.namespace[:depth]) for depth in range(len(put.namespace) + 1)]
        kept = {"namespace": list(put.namespace), "key": put.key, "value": _checked(put.value), "silent": not words}
        return Draft(head, self._kind, detail=words[_TEXT : _TEXT + _DETAIL], tags=tuple(above), metadata=as_json(kept))


def words_of(value: Any) -> str:
    """Every text in a JSON value, a line each: what it is found by where nobody says otherwise."""
    return "\n".join(_texts(value))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _checked(value: Any) -> Any:
    """A value that JSON holds as it is; InvalidInput for one that it would change."""
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise InvalidInput("a name in the value is no text", field="value", remedy="use texts as names")
        return {name: _checked(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(one) for one in value]
    if isinstance(value, float) and value - value != 0:
        raise InvalidInput(f"JSON has no {value}", field="value", remedy="use numbers")
    return value


def _entries(memories: Iterable[Memory]) -> Iterator[Entry]:
    """The values that memories hold. What only has the tag of a collection, which anybody can give, holds none."""
    for memory in memories:
        try:
            kept = json.loads(memory.metadata)
            yield Entry(tuple(kept["namespace"]), kept["key"], kept["value"], memory.id, memory.created_at, memory.updated_at)
        except (ValueError, TypeError, KeyError):
            continue


def _is_silent(memory: Memory) -> bool:
    return bool(json.loads(memory.metadata).get("silent"))


def _digest(parts: Sequence[str], size: int) -> str:
    return blake2b(json.dumps(list(parts)).encode(), digest_size=size).hexdigest()
