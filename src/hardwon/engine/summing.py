"""The summary of a session, made without a model: one memory, which is revised as the session goes on."""

from __future__ import annotations

from hardwon.engine.session_file import noted, trouble
from hardwon.engine.session_names import summary_name
from hardwon.errors import HardwonError, StoreError
from hardwon.types import Draft, Origin, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Event
    from hardwon.capture.state import State
    from hardwon.engine.core import Engine
    from hardwon.store.sessions.reads import Session

# A session that was not heard of for so long may have died, and is summed up by the next start; one that goes on is so again later.
_SILENT_MS = 60_000
_MOST_OTHERS = 3  # sessions that one start sums up; the rest is for the next
_TAGS = ("session",)


def sum_up(engine: Engine, event: Event) -> tuple[str, ...]:
    """Keep the summary of a session; what could not be done. But for the end only where something was done, decided or failed since: words
    alone wait for that."""
    if engine.work is None or event.agent:
        return ()
    try:
        with engine.work.read() as reader:
            session = None if isinstance(reader, str) else reader.session(event.client, event.session)
        return _sum_up(engine, session, lightly=event.moment != "end") if session and session.changed else ()
    except StoreError as error:
        return (trouble(error, "the summary of the session waits"),)


def sum_up_others(engine: Engine, event: Event) -> tuple[str, ...]:
    """Keep the summaries of sessions that ended without a word."""
    if engine.work is None:
        return ()
    try:
        with engine.work.read() as reader:
            found = [] if isinstance(reader, str) else reader.unsaid(engine.clock() - _SILENT_MS, _MOST_OTHERS + 1)
        others = [one for one in found if (one.client, one.session) != (event.client, event.session)]
        return tuple(line for one in others[:_MOST_OTHERS] for line in _sum_up(engine, one, lightly=False))
    except StoreError as error:
        return (trouble(error, "the summary of another session waits"),)


def _sum_up(engine: Engine, session: Session, *, lightly: bool) -> tuple[str, ...]:
    from hardwon.capture import summary
    from hardwon.capture.state import State

    state = State.from_json(session.state)
    substance = _substance(state)
    if lightly and substance == session.substance:
        return ()
    text = summary.of(state)
    if text:
        told = _keep(engine, session, text)
        if told:
            return told
    if engine.work is not None:
        noted(engine.work, engine, lambda writer: writer.summed(session, substance))
    return ()


def _substance(state: State) -> str:
    """A digest of what was changed, decided, learnt, and still fails."""
    from hardwon.digest import blake2b

    open_ = [(red.check, red.test) for red in state.open]
    said = repr((state.files, state.decided, state.told, open_))
    return blake2b(said.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _keep(engine: Engine, session: Session, text: str) -> tuple[str, ...]:
    """Record the summary under the session's name; why it cannot be, where that is not the store's fault and will not change."""
    scope = Scope(Origin("agent", session.client, session.session, "hook"))
    draft = Draft(text, "summary", tags=_TAGS, session=session.session)
    try:
        engine.upsert([(summary_name(session.client, session.session), draft)], scope)
    except StoreError:
        raise
    except HardwonError as error:
        return (f"the session cannot be summed up: {error.message}",)
    return ()
