"""What a forgetting means. Pure."""

from __future__ import annotations

from hardwon.errors import InvalidInput
from hardwon.types import KINDS, Filter

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
