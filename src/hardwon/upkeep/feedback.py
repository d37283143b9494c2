"""What those who read a memory said of it. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.types import Event

USEFUL, USELESS = "useful", "useless"


def counts(events: Iterable[Event], undo: str) -> tuple[int, int]:
    """How many found it useful and useless, from a memory's journal: the last word of each (who, client, session) counts, so that
    nobody is heard twice; a payload that ends in ``undo`` takes the last standing word back."""
    said: list[tuple[tuple[str, str, str], str]] = []
    for event in events:
        if event.action != "feedback":
            continue
        if event.payload.endswith(undo):
            said[-1:] = []
        else:
            said.append(((event.origin.who, event.origin.client, event.origin.session), event.payload))
    words = list(dict(said).values())
    return words.count(USEFUL), words.count(USELESS)
