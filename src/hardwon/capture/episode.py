"""A session as it unfolds: events into what is known, and now and then a lesson. A pure fold, the same for hooks and for transcripts.

A failure waits until a run that covers it passes. What was edited in between is what helped; where nothing was, nothing is learnt but
that the test is flaky. A run that never failed teaches nothing. All agents of a session work on the same files, so they share one state.

A hook brings one event: the rules of an edit, of a command and of what was said are loaded where there is one.
"""

from __future__ import annotations

from hardwon.capture import ours
from hardwon.capture.event import PROGRAM
from hardwon.capture.state import ASKED, DECIDED, PENDING, SEEN, Said, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.edited import Naming
    from hardwon.capture.event import Event
    from hardwon.capture.lesson import Lesson
    from hardwon.capture.speech import Remark

__all__ = ["State", "step"]

_ASKED = 400  # characters of a prompt
_MOST_PLACES = 3


def step(state: State, event: Event, named: Naming | None = None) -> tuple[State, tuple[Lesson, ...]]:
    """The state after an event, and what was learnt by it. ``named`` tells which symbols an edit touches; without it the passage's own
    declarations are taken. Never raises for an event of the right types; what is ours (capture/ours.py) is passed over."""
    kept = ours.clean(event)
    if kept is None or _was_told(state, kept):
        return state, ()
    state = _heard(state, kept)
    if kept.moment == "before":
        return _begun(state, kept), ()
    if kept.moment == "after":
        return _done(state, kept, named)
    if kept.moment == "prompt":
        return _prompted(state, kept)
    if kept.moment in ("said", "stop") and kept.text:
        return _spoken(state, kept)
    return state, ()


def _was_told(state: State, event: Event) -> bool:
    return bool(event.call) and _mark(event) in state.seen


def _mark(event: Event) -> str:
    return f"{event.moment[:1]}:{event.agent}:{event.call}"[:120]


def _heard(state: State, event: Event) -> State:
    changes: dict[str, object] = {"ended": max(state.ended, event.at), "branch": event.branch or state.branch}
    if not state.started:
        changes["started"] = event.at
    if not state.root and event.cwd:
        from hardwon.capture.edited import slashed

        changes["root"] = slashed(event.cwd)
    if event.call and event.moment in ("before", "after"):
        changes["seen"] = (*state.seen, _mark(event))[-SEEN:]
    heard: State = state.replace(**changes)
    return heard


def _begun(state: State, event: Event) -> State:
    if not event.command:
        return state
    begun = (_under_way(event), state.edited, state.world)
    others = tuple(one for one in state.pending if one[0] != begun[0])
    going: State = state.replace(pending=(*others, begun)[-PENDING:])
    return going


def _under_way(event: Event) -> str:
    return (event.call or f"{event.agent}:{event.command}")[:120]


def _done(state: State, event: Event, named: Naming | None) -> tuple[State, tuple[Lesson, ...]]:
    known = _edited(state, event, named) if event.edits else state
    if event.tool == "task" and event.ended != "denied":
        # What a subagent did is heard only where its client tells it: it may have changed anything. What was heard counts besides.
        return known.replace(world=known.world + 1), ()
    if event.tool not in ("shell", "") or not event.command:
        return known, ()
    name = _under_way(event)
    begun = next((one for one in known.pending if one[0] == name), None)
    after: State = known.replace(pending=tuple(one for one in known.pending if one[0] != name)) if begun else known
    # An edit that came while it ran may or may not have been seen by it.
    since, world = begun[1:] if begun and not event.edits else (after.edited, after.world)
    if since < after.edited:
        world = -1  # like no other state of the files
    from hardwon.capture.runs import ended

    return ended(after, event, since, world)


def _edited(state: State, event: Event, named: Naming | None) -> State:
    from hardwon.capture.edited import by_passage, edited

    return edited(state, event, named or by_passage)


def _prompted(state: State, event: Event) -> tuple[State, tuple[Lesson, ...]]:
    text = event.text.strip()
    if "</" in text:
        from hardwon.capture.prose import unwrapped

        text = unwrapped(text).strip()
    if not text or event.agent:  # what a subagent is asked comes from the agent
        return state, ()
    learnt, said = ((), ()) if event.source == PROGRAM else _listen(state, event, person=True)
    lines = (" ".join(line.split()) for line in text[: 2 * _ASKED].splitlines())
    asked = "\n".join(filter(None, lines))[:_ASKED]
    after: State = state.replace(
        turn=state.turn + 1, asked=(*state.asked[-ASKED + 1 :], asked), decided=_decided(state, learnt, said)
    )
    return after, learnt


def _spoken(state: State, event: Event) -> tuple[State, tuple[Lesson, ...]]:
    words = " ".join(event.text[-4 * _ASKED :].split())[-2 * _ASKED :]
    if words == state.words or event.agent:
        return state, ()
    learnt, said = _listen(state, event, person=False)
    after: State = state.replace(words=words, decided=_decided(state, learnt, said))
    return after, learnt


def _decided(state: State, learnt: Sequence[Lesson], said: Sequence[Said]) -> tuple[Said, ...]:
    over = {one.replaces for one in learnt}
    return (*(one for one in state.decided if one.text not in over), *said)[-DECIDED:]


def _listen(state: State, event: Event, *, person: bool) -> tuple[tuple[Lesson, ...], tuple[Said, ...]]:
    """What was decided, ruled or called wrong in a text."""
    from hardwon.capture import speech

    remarks = speech.heard(event.text, person=person)
    if not remarks:  # mostly
        return (), ()
    from hardwon.capture.lesson import Lesson

    lessons: list[Lesson] = []
    said: list[Said] = []
    for remark in remarks:
        if remark.kind == "wrong":
            lessons += _called_wrong(state, remark, event.at)
            continue
        known = [one for one in (*state.decided, *said) if one.kind == remark.kind]
        if any(one.text == remark.text for one in known):
            continue
        # Two sentences of one text go together.
        before = [one for one in reversed(known) if remark.kind == "decision" and one not in said]
        old = next((one.text for one in before if speech.amended(remark, one.subject)), "")
        said = [one for one in said if one.text != old]
        said.append(Said(remark.kind, remark.text, event.at, remark.subject))
        lessons.append(
            Lesson(
                remark.kind, remark.text, because=remark.because, rejected=remark.rejected,
                tags=("said",), passage=remark.passage[:300], replaces=old, at=event.at,
            )
        )  # fmt: skip
    return tuple(lessons), tuple(said)


def _called_wrong(state: State, remark: Remark, at: int) -> list[Lesson]:
    """The edits of the turn that has just ended were wrong; nothing where there were none, or too many to tell which."""
    from hardwon.capture.lesson import Place, called_wrong
    from hardwon.code.test_names import is_test

    changes = [change for change in state.changes if change.turn == state.turn and not change.undone and not change.undoes]
    code = [change for change in changes if not is_test(change.path)] or changes
    places = {
        (one.path, symbol): Place(one.path, symbol, one.lines, one.new) for one in code for symbol in one.symbols[:1] or ("",)
    }
    if not places or len(places) > _MOST_PLACES:
        return []
    return [called_wrong(remark.text, remark.passage, list(places.values()), code, at)]
