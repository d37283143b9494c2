"""Items that a program keeps under ids of its own: a part of the Python door."""

from __future__ import annotations

from collections.abc import Mapping

from hardwon.doors.arguments import checked
from hardwon.errors import InvalidInput
from hardwon.types import Draft, Filter, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.types import Kind, Memory, Receipt, Scope, Selection


@checked
class Items:
    """Known by the program's id: what comes later under the same id replaces what was."""

    engine: Engine
    scope: Scope

    def ingest(self, items: Iterable[tuple[str, str, Mapping[str, Any]]], *, kind: Kind = "fact") -> tuple[Receipt, ...]:
        """Keep ``(id, text, metadata)`` items; a known id is replaced. Durable on return, a slice of 200 a transaction."""
        drafts = ((name, Draft(text, kind, metadata=as_json(metadata))) for name, text, metadata in map(_item, items))
        return tuple(self.engine.upsert(drafts, self.scope))

    def recall_memory(self, task: str, k: int = 5) -> list[tuple[dict[str, Any], float]]:
        """The metadata of the best ``k`` of what was recorded or ingested, with their scores; ``id`` and ``text`` are added where the
        metadata has none."""
        found = self.engine.recall(Query(task, where=Filter(derived=False), k=k, budget=1_000_000), self.scope).hits
        return [(_described(hit.memory), round(hit.score, 3)) for hit in found]

    def delete(self, ids: Sequence[str]) -> Selection:
        """Take items out of every answer at once; unknown ids are passed over."""
        return self.engine.delete(ids, self.scope)

    def compact(self, *, full: bool = False) -> tuple[int, int]:
        """Give back the space of what is gone, in slices between which others write; the store's bytes before and after. ``full``
        gives back somewhat more, while other writers wait."""
        return self.engine.compact(full=full)

    def persist(self) -> None:
        """Return when everything lies in the store's own file, synced: the checkpoint to take before the file is copied."""
        self.engine.persist()


def _item(item: Any) -> tuple[str, str, Mapping[str, Any]]:
    """An item of the caller's own; InvalidInput for what has another form."""
    if isinstance(item, tuple | list) and len(item) == 3 and isinstance(item[2], Mapping):
        return item[0], item[1], item[2]
    raise InvalidInput(f"{ascii(item)[:80]} is no item", field="items", remedy="give (id, text, metadata) each")


def as_json(metadata: Mapping[str, Any] | None) -> str:
    """Metadata as text, "" for none; InvalidInput for what JSON cannot hold."""
    if not metadata:
        return ""
    import json

    try:
        return json.dumps(dict(metadata), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"metadata cannot be written as JSON: {error}", field="metadata", remedy="use texts, numbers, lists and mappings"
        ) from error


def _described(memory: Memory) -> dict[str, Any]:
    import json

    return {"id": memory.id, "text": memory.text, **(json.loads(memory.metadata) if memory.metadata else {})}
