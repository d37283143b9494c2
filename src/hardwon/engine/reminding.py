"""The lessons of what a call has just touched, for clients that hand nothing on before a call: late for this one, in time for the next."""

from __future__ import annotations

from hardwon.engine.before import look
from hardwon.engine.code_index import Opened
from hardwon.engine.refusing import BUDGET
from hardwon.engine.telling import Telling
from hardwon.engine.touching import touched_since

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.types import Block, Scope


def remind(engine: Engine, event: Event, scope: Scope) -> tuple[Block | None, tuple[str, ...]]:
    """What to say of a call that has run, None for nothing; and what could not be told."""
    with Opened(engine):
        places = touched_since(engine, event)
        found = look(engine, scope, places) if places else None
    if found is None or not found.hits:
        return None, ()
    telling = Telling(engine, event)
    block = telling.block(found.hits, BUDGET)
    return block, (*found.degraded, *telling.degraded)
