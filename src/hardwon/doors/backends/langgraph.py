"""LangGraph's ``BaseStore``: long-term memory of a graph, kept in a repository's memory.

Searches are by words, with the ranking of ``recall``; ``index`` says which fields are searched, as LangGraph describes it. No time to live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp
from langgraph.store.base.embed import get_text_at_path

from hardwon.doors.api import Repository
from hardwon.doors.backends.collection import Collection, Entry, Put, words_of
from hardwon.errors import InvalidInput

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda one, other: bool(one == other),
    "$ne": lambda one, other: bool(one != other),
    "$gt": lambda one, other: one is not None and bool(one > other),
    "$gte": lambda one, other: one is not None and bool(one >= other),
    "$lt": lambda one, other: one is not None and bool(one < other),
    "$lte": lambda one, other: one is not None and bool(one <= other),
}


class HardwonStore(BaseStore):
    """``graph.compile(store=HardwonStore(hardwon.open(".")))``."""

    def __init__(self, repository: Repository) -> None:
        self._collection = Collection(repository, "langgraph")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Read everything, then write everything, the last of several writes to one key; the writes are one transaction."""
        asked = list(ops)
        results = [self._read(op) for op in asked]
        last = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        kept = [Put(op.namespace, op.key, dict(op.value), _words(op)) for op in last.values() if op.value is not None]
        gone = [where for where, op in last.items() if op.value is None]
        if kept:
            self._collection.put(kept)
        if gone:
            self._collection.delete(gone)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As ``batch``, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            entry = self._collection.get(op.namespace, op.key)
            return Item(**_fields(entry)) if entry else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        if isinstance(op, PutOp):
            return None
        raise ValueError(f"{type(op).__name__} is no operation of a store")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        end = op.offset + op.limit
        if op.query:
            found = self._collection.search(op.namespace_prefix, op.query, 1_000 if op.filter else max(1, end))
        else:
            found = self._collection.listed(op.namespace_prefix)
        kept = [entry for entry in found if _passes(entry.value, op.filter or {})]
        return [SearchItem(**_fields(entry), score=entry.score) for entry in kept[op.offset : end]]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {entry.namespace for entry in self._collection.listed()}
        matching = {namespace for namespace in found if all(_matches(namespace, one) for one in op.match_conditions or ())}
        cut = sorted({namespace[: op.max_depth] for namespace in matching})
        return cut[op.offset : op.offset + op.limit]


def _words(op: PutOp) -> str:
    if op.index is False:
        return ""
    if op.index is None:
        return words_of(op.value)
    return "\n".join(text for path in op.index for text in get_text_at_path(op.value, path))


def _fields(entry: Entry) -> dict[str, Any]:
    made, changed = (datetime.fromtimestamp(at / 1000, UTC) for at in (entry.created_at, entry.updated_at))
    return {"namespace": entry.namespace, "key": entry.key, "value": entry.value, "created_at": made, "updated_at": changed}


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_fits(value.get(name), one) for name, one in wanted.items())


def _fits(found: Any, wanted: Any) -> bool:
    """Whether a field is what a filter asks for: a value, a mapping of fields, or comparisons such as ``{"$gt": 4}``."""
    if not isinstance(wanted, Mapping):
        return bool(found == wanted)
    if any(name.startswith("$") for name in wanted):
        unknown = next((name for name in wanted if name not in _COMPARED), None)
        if unknown is not None:
            raise InvalidInput(f"{unknown[:40]!r} is no comparison", field="filter", remedy="one of: " + ", ".join(_COMPARED))
        return all(_COMPARED[name](found, one) for name, one in wanted.items())
    return isinstance(found, Mapping) and _passes(found, wanted)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", name) for wanted, name in zip(path, part, strict=True))
