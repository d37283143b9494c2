"""What a forgetting means. Pure."""

from __future__ import annotations

from hardwon.errors import InvalidInput
from hardwon.types import KINDS, Filter
from hardwon.upkeep.trust import may_set_aside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.types import Memory, Who

_HELD = ("active", "resolved", "inactive")
_RECORDED = tuple(kind for kind in KINDS if kind != "change")


def meant(where: Filter) -> Filter:
    """The filter of what may be forgotten by it: what is held, and commits only when they are named one by one.

    History is derived: whoever clears what is old, or a session's notes, does not mean the repository's past.
    InvalidInput for a filter that names nothing.
    """
    if where == Filter():
        raise InvalidInput(
            "nothing was named to forget", field="id", remedy="give an id, or --session, --source, --tag, --older-than"
        )
    wanted: Filter = where.replace(statuses=_HELD, kinds=where.kinds or (() if where.ids else _RECORDED))
    return wanted


def forgettable(where: Filter, found: Iterable[Memory], who: Who) -> list[Memory]:
    """Those of the found memories that a writer may forget; InvalidInput where another one was named."""
    memories = list(found)
    kept = [memory for memory in memories if not may_set_aside(memory, who)]
    if kept and where.ids:
        raise InvalidInput(
            f"#{kept[0].number} is {kept[0].trust}: an agent may not forget it", field="id", remedy="ask the person to forget it"
        )
    return [memory for memory in memories if memory not in kept] if kept else memories
