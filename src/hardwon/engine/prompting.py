"""What a prompt brings to mind, to somebody who did not ask; most often nothing."""

from __future__ import annotations

from hardwon.agents.hearing import hears
from hardwon.engine.advice import Advice
from hardwon.engine.capturing import capture
from hardwon.engine.telling import Telling
from hardwon.types import Block, Query
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
    if not hears(event.client, event.moment):
        return Advice(degraded=degraded)
    found = _brought_to_mind(engine, event, Query(event.text), scope)
    return Advice(found if found.block else None, degraded=(*found.mode.degraded, *degraded))


def unasked(engine: Engine, query: Query, scope: Scope) -> Block:
    """The same for a program that asks before each turn, in words that were not meant for us. Nothing of it is taken note of, but what was
    told in the session that the program names."""
    from hardwon.capture import ours
    from hardwon.capture.event import Event
    from hardwon.engine.session_names import named

    asker = scope.origin
    event = Event("prompt", asker.client, asker.session, engine.clock(), text=ours.strip(query.text))
    return _brought_to_mind(engine, named(event), query, scope)


def _brought_to_mind(engine: Engine, event: Event, query: Query, scope: Scope) -> Block:
    """What may be said unasked of what an event's words, and the filters of a question, find; empty when nothing fits."""
    text = event.text.strip()
    # What begins with a slash is a command of the client.
    if len(text) < _LEAST or text.startswith("/"):
        return Block()
    if len(text) > _MOST:
        text = f"{text[: _MOST // 2]}\n{text[-_MOST // 2 :]}"
    wanted = query.replace(text=text, k=_LOOKED_AT, budget=_NO_BUDGET, floor=FLOOR)
    found = engine.recall(wanted, scope)
    if not query.where.trusts and any(hit.memory.trust not in trust.HEARD for hit in found.hits):
        # What may not be said has taken the places of what may. Mostly nothing has, and the filter is spared.
        found = engine.recall(wanted.replace(where=query.where.replace(trusts=trust.HEARD)), scope)
    hits = _sayable(found.hits, event, scope)[: max(0, min(_TOLD, query.k))]
    budget = min(BUDGET, query.budget)
    if not event.session:  # nobody knows what it was told before
        from hardwon.search.pack import pack

        return pack(hits, budget, found.mode)
    telling = Telling(engine, event)
    block = telling.block(hits, budget, mode=found.mode) or Block(mode=found.mode)
    told: Block = block.replace(mode=block.mode.replace(degraded=(*block.mode.degraded, *telling.degraded)))
    return told


def _sayable(hits: tuple[Hit, ...], event: Event, scope: Scope) -> list[Hit]:
    """The first of those that may be said to somebody who did not ask, and were not learnt in this very session: the prompt itself may have
    become one a moment ago."""
    kept: list[Hit] = []
    unverified = 0
    for hit in hits:
        if event.session and (hit.memory.origin.client, hit.memory.origin.session) == (event.client, event.session):
            continue
        verdict = trust.unasked(hit.memory, scope.origin)
        unverified += verdict == "unverified"
        if verdict != "no" and (verdict == "yes" or unverified <= trust.UNVERIFIED_LIMIT):
            kept.append(hit)
    return kept
