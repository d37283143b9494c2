"""An agent's session, moment by moment: what it is told, and what is learnt from it."""

from __future__ import annotations

from hardwon.agents.hearing import hears
from hardwon.capture import ours
from hardwon.engine.advice import Advice
from hardwon.engine.session_names import named
from hardwon.errors import NoStore, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.types import Scope


def on_event(engine: Engine, event: Event, scope: Scope, deny: str) -> Advice:
    """Take note of a moment, and say what the agent should know then. Nothing that we ourselves put into the session is taken note of."""
    heard = ours.clean(event)
    if heard is None:
        return Advice()
    try:
        return _on_event(engine, named(heard), scope, deny)
    except (NoStore, StoreError) as error:
        return Advice(degraded=(f"{error.kind}: {error.message}",))


def _on_event(engine: Engine, event: Event, scope: Scope, deny: str) -> Advice:
    if event.moment == "before":
        from hardwon.engine.refusing import before

        return before(engine, event, scope, deny)
    if event.moment == "start":
        from hardwon.engine.starting import start

        return start(engine, event, scope)
    if event.moment == "prompt":
        from hardwon.engine.prompting import prompt

        return prompt(engine, event, scope)
    from hardwon.engine.capturing import capture

    degraded = capture(engine, event, scope)
    if event.moment in ("compact", "stop", "end"):
        from hardwon.engine.summing import sum_up

        degraded += sum_up(engine, event)
    if event.moment == "after" and _is_late(event):
        from hardwon.engine.reminding import remind

        block, also = remind(engine, event, scope)
        return Advice(block, degraded=(*degraded, *also))
    return Advice(degraded=degraded)


def _is_late(event: Event) -> bool:
    """Whether the agent could not hear before this call what there is to say of it, and can now."""
    done = event.ended not in ("denied", "interrupted") and bool(event.edits or event.command)
    return done and hears(event.client, "after") and not hears(event.client, "before")
