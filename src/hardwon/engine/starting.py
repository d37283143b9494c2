"""The start of a session, of a subagent, and a session that goes on with an empty context."""

from __future__ import annotations

from hardwon.agents.hearing import hears
from hardwon.engine.advice import Advice
from hardwon.engine.capturing import capture, take_in
from hardwon.engine.session_file import noted
from hardwon.engine.summing import sum_up_others
from hardwon.engine.telling import Telling
from hardwon.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.types import Scope

BUDGET, BUDGET_OF_SUBAGENT = 1_500, 500  # tokens
# Starts that leave the context as it was, with what it had been told.
_GOES_ON = ("resume",)


def start(engine: Engine, event: Event, scope: Scope) -> Advice:
    """The brief. What other sessions left behind is kept first, so that the brief tells of it."""
    telling = Telling(engine, event)
    degraded: tuple[str, ...] = ()
    if not event.agent:
        degraded += capture(engine, event, scope) + take_in(engine) + sum_up_others(engine, event) + _pruned(engine)
    if not hears(event.client, event.moment):
        return Advice(degraded=degraded)
    found = engine.brief(scope, BUDGET_OF_SUBAGENT if event.agent else BUDGET)
    if event.source in _GOES_ON:
        block = telling.block(found.hits, BUDGET, mode=found.mode)
    else:
        # Told again in any case: two hooks of one start are told the same, and a context that is gone knows nothing.
        block = found if found.block else None
        telling.mark([hit.memory.id for hit in found.hits if found.block])
    return Advice(block, degraded=(*found.mode.degraded, *degraded, *telling.degraded))


def _pruned(engine: Engine) -> tuple[str, ...]:
    if engine.work is None:
        return ()
    try:
        noted(engine.work, engine, lambda writer: writer.prune(engine.clock()))
    except StoreError:
        return ()  # the next start does it
    return ()
