"""What a prompt brings to mind; most often nothing."""

from __future__ import annotations

from hardwon.agents.hearing import hears
from hardwon.engine.advice import Advice
from hardwon.engine.capturing import capture
from hardwon.engine.telling import Telling
from hardwon.types import Query
from hardwon.upkeep import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.types import Hit, Scope

BUDGET = 500  # tokens
# Nobody asked: the best hit has to be surer than for who did (docs/search.md).
FLOOR = 0.06
_LOOKED_AT, _TOLD = 20, 5  # hits
_NO_BUDGET = 1_000_000  # those that are said are chosen afterwards
_LEAST, _MOST = 12, 4_000  # characters of a prompt: of less nothing can be told, and of more the beginning and the end say it


def prompt(engine: Engine, event: Event, scope: Scope) -> Advice:
    """Memories that fit a prompt and were not told in this session."""
    degraded = capture(engine, event, scope)
    text = event.text.strip()
    # What begins with a slash is a command of the client.
    if len(text) < _LEAST or text.startswith("/") or not hears(event.client, event.moment):
        return Advice(degraded=degraded)
    if len(text) > _MOST:
        text = f"{text[: _MOST // 2]}\n{text[-_MOST // 2 :]}"
    found = engine.recall(Query(text, k=_LOOKED_AT, budget=_NO_BUDGET, floor=FLOOR), scope)
    telling = Telling(engine, event)
    block = telling.block(_unasked(found.hits, event, scope), BUDGET, mode=found.mode)
    return Advice(block, degraded=(*found.mode.degraded, *degraded, *telling.degraded))


def _unasked(hits: tuple[Hit, ...], event: Event, scope: Scope) -> list[Hit]:
    """The first of those that may be said to somebody who did not ask, and were not learnt in this very session: the prompt itself may have
    become one a moment ago."""
    kept: list[Hit] = []
    unverified = 0
    for hit in hits:
        if (hit.memory.origin.client, hit.memory.origin.session) == (event.client, event.session):
            continue
        verdict = trust.unasked(hit.memory, scope.origin)
        unverified += verdict == "unverified"
        if verdict != "no" and (verdict == "yes" or unverified <= trust.UNVERIFIED_LIMIT):
            kept.append(hit)
    return kept[:_TOLD]
