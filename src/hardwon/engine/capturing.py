"""What happens in a session, taken note of: the rules of capture/ remember it between calls, and what they learn enters the memory.

A lesson is written to the file of sessions together with the state that it comes from, under the id that it will have, and goes from there
into the store: a process that is killed in between loses nothing and tells nothing twice.
"""

from __future__ import annotations

import os

from hardwon.engine.redacting import clean
from hardwon.engine.session_file import beat_of, begun_as, noted, trouble
from hardwon.errors import InvalidInput, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.event import Event
    from hardwon.capture.lesson import Lesson
    from hardwon.capture.state import State
    from hardwon.engine.core import Engine
    from hardwon.engine.record import Submission
    from hardwon.store.sessions.writes import WorkWrites
    from hardwon.types import Draft, Scope

TOOL = "hook"
_MOST_TAKEN = 50  # lessons that one hook takes into the store
# A call without an id is the same as another only if it is told at the same time, as two hooks of one client do.
_AT_ONCE_MS = 3_000


def capture(engine: Engine, event: Event, scope: Scope) -> tuple[str, ...]:
    """Take note of an event, once; what could not be done."""
    file = engine.work
    if file is None:
        return ()
    event = clean(event)
    try:
        learnt, lost = noted(file, engine, lambda writer: _heard(engine, writer, event, scope))
    except StoreError as error:
        return (trouble(error),)
    told = take_in(engine) if learnt else ()
    return (*told, f"{StoreError.kind}: {lost} lessons were lost: too many wait beside the store") if lost else told


def _heard(engine: Engine, writer: WorkWrites, event: Event, scope: Scope) -> tuple[bool, int]:
    """Whether something was learnt, which waits now to be taken in; and how much had to go for it, because too much waits."""
    from hardwon.capture.state import State

    now = engine.clock()
    session = writer.touch(event.client, event.session, now)
    writer.beat(beat_of(event, now))
    if event.moment == "end":
        writer.end(session, now)
    if not writer.hears(session, *_call_of(event, now)):
        return False, 0
    known = writer.session(event.client, event.session)
    before = known.state if known else ""
    root = engine.place.checkout.root if engine.place else ""
    state = State.from_json(before) if before else State(root=root)
    if event.moment == "after" and event.command and (begun := writer.heard_at(session, begun_as(event))):
        state = _begun(state, event, begun)
    state, lessons = _stepped(engine, state, event)
    after = state.to_json()
    if after != before:
        writer.remember(session, after, changed=event.moment not in ("start", "end"))
    lost = 0
    for said, lesson in _submissions(engine, event, state.root, lessons, scope):
        from hardwon.engine.spooling import encode
        from hardwon.store.sessions.reads import Waiting

        lost += writer.put_out(Waiting(said.id, encode(said, TOOL), lesson.replaces))
    return bool(lessons), lost


def _begun(state: State, event: Event, at: int) -> State:
    """The state with the call under way since then: what was edited meanwhile the command may not have seen."""
    edited = min((change.number - 1 for change in state.changes if change.at > at), default=state.edited)
    begun: State = state.replace(pending=(*state.pending, (event.call, edited, state.world)))
    return begun


def _stepped(engine: Engine, state: State, event: Event) -> tuple[State, tuple[Lesson, ...]]:
    """The state after the event, and what was learnt. Only an edit has the index of the code opened."""
    from hardwon.capture.episode import step

    if not event.edits:
        return step(state, event)
    from hardwon.engine.code_index import Opened
    from hardwon.engine.touching import symbols_of

    with Opened(engine):
        return step(state, event, lambda edit: symbols_of(engine, event, edit))


def _call_of(event: Event, now: int) -> tuple[str, int, int]:
    """What tells an event from others of its session, when, and for how long it is the same again (0: for good)."""
    if event.call:
        return f"{event.moment} {event.agent} {event.call}", now, 0
    from hardwon.digest import blake2b

    words = (event.agent, event.turn, event.source, event.tool_name, event.command, event.text, event.output, repr(event.edits))
    told = blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=12).hexdigest()
    return f"{event.moment} {told}", now, _AT_ONCE_MS


def _submissions(
    engine: Engine, event: Event, root: str, lessons: Sequence[Lesson], scope: Scope
) -> list[tuple[Submission, Lesson]]:
    """Lessons as they will be recorded: clean, pinned to the code as it is now, with ids of their own. ``root``: the folder that their
    paths are relative to."""
    if not lessons:
        return []
    from hardwon.capture.drafts import draft_of
    from hardwon.engine.record import prepared, submitted

    origin = scope.origin.replace(who="agent", client=event.client, session=event.session, tool=TOOL)
    found = []
    for lesson in lessons:
        draft = draft_of(lesson)
        try:
            clean_draft, _ = prepared(engine, _rooted(draft, root))
        except InvalidInput:  # a place that cannot be kept: the words still can
            clean_draft, _ = prepared(engine, draft.replace(anchors=(), tags=()))
        found.append((submitted(engine, clean_draft, scope.replace(origin=origin)), lesson))
    return found


def _rooted(draft: Draft, root: str) -> Draft:
    """The draft with whole paths: the engine may stand in another folder by now than the session did when it began."""
    anchors = tuple(
        anchor.replace(path=os.path.join(root, anchor.path)) if anchor.path and root else anchor for anchor in draft.anchors
    )
    rooted: Draft = draft.replace(anchors=anchors)
    return rooted


def take_in(engine: Engine) -> tuple[str, ...]:
    """Bring into the store what was learnt and waits; what could not be done. Each once, under its id; where the store cannot take it, the
    spool does."""
    file = engine.work
    if file is None:
        return ()
    try:
        with file.read() as reader:
            waiting = [] if isinstance(reader, str) else reader.waiting(_MOST_TAKEN)
        if not waiting:
            return ()
        from hardwon.engine.admitting import admit

        told = admit(engine, waiting)
        noted(file, engine, lambda writer: writer.taken([one.id for one in waiting]))
    except StoreError as error:
        return (f"{error.kind}: {error.message}; what was learnt waits beside the store",)
    return told
