"""Changes taken back: of one memory step by step, or the last thing that somebody did as a whole."""

from __future__ import annotations

from hardwon.engine import record
from hardwon.engine.curate import count_feedback, draft_of, meeting_key, refuse_known, to_status, unchanged, with_content
from hardwon.engine.naming import named
from hardwon.errors import InvalidInput
from hardwon.types import Receipt
from hardwon.upkeep import trust
from hardwon.upkeep.evidence import UNDO
from hardwon.upkeep.incoming import LIVING
from hardwon.upkeep.revise import KEEPING, OCCURRED, standing, stroke, undone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.store.base import Writer
    from hardwon.types import Event, Memory, Origin, Scope, Status

# How many of the newest journal entries are looked at first for what an actor did last; the double each time that it is more.
_LATEST = 1000


def undo(engine: Engine, reference: str, scope: Scope) -> list[Receipt]:
    """Take back the last change of a memory that still stands; without a reference, the last thing that this actor did (a
    forgetting of many comes back as a whole)."""
    with engine.write() as writer:
        if reference:
            memory = named(writer, reference)
            changes = standing(writer.events(memory.id))
            if not changes:
                raise InvalidInput(
                    "there is no change of this memory to take back", field="id", remedy=f"see `hardwon history {reference}`"
                )
            return [_take_back(engine, writer, memory, changes[-1], scope)]
        last = _last_done(writer, record.signed(scope.origin))
        if not last:
            raise InvalidInput("you have changed nothing that could be taken back", field="id", remedy="name a memory")
        return [_take_back(engine, writer, writer.get([event.memory])[0], event, scope, many=len(last) > 1) for event in last]


def _last_done(writer: Writer, origin: Origin) -> list[Event]:
    """The newest change by this actor that was not taken back, with what was done to other memories in the same stroke.

    InvalidInput where the newest thing cannot be taken back: an older one is not meant by who names none.
    """
    found: list[Event] = []
    previous = 0
    for event in _newest_by(writer, origin):
        if found and (stroke(event) != stroke(found[0]) or event.seq != previous - 1):
            break
        previous = event.seq
        if not writer.get([event.memory]):  # of which a repair found no words
            continue
        events = writer.events(event.memory)
        if event.seq in undone(events) or (event.action == "status" and event.payload.endswith(">replaced")):
            continue
        changes = standing(events)
        if changes and changes[-1].seq == event.seq:
            found.append(event)
        elif not found:
            name = writer.get([event.memory])[0].called
            what = f"you have changed nothing since {name} was {event.action}"
            if event.action not in OCCURRED:
                what = f"your last change, of {name}, is not its last one any more"
            raise InvalidInput(what, field="id", remedy="name the memory whose last change you mean")
    return found


def _newest_by(writer: Writer, origin: Origin) -> Iterator[Event]:
    """The journal entries of an actor in one session, newest first."""
    limit, seen = _LATEST, 0
    while latest := writer.latest_events(limit)[seen:]:
        for event in latest:
            made = event.origin
            if event.action not in KEEPING and (made.who, made.client, made.session) == (
                origin.who,
                origin.client,
                origin.session,
            ):
                yield event
        limit, seen = 2 * limit, seen + len(latest)


def _take_back(engine: Engine, writer: Writer, memory: Memory, change: Event, scope: Scope, *, many: bool = False) -> Receipt:
    """``many``: one of a stroke, which does not fail for one that cannot come back."""
    if memory.erased:
        raise InvalidInput(
            f"{memory.called} was erased, which cannot be undone", field="id", remedy="name the memory whose last change you mean"
        )
    if change.origin.who == "person" or change.action == "trust":
        _refuse_agent(memory, scope)
    if change.action == "status":
        return _undo_status(engine, writer, memory, change, scope, many=many)
    if change.action == "revised":
        return _undo_revision(engine, writer, memory, change, scope)
    now = engine.clock()
    if change.action == "linked":
        return _undo_link(engine, writer, memory, change, scope, now)
    event = writer.log(change.action, memory, record.signed(scope.origin), now, payload=change.payload + UNDO)
    if change.action == "trust":
        before: Any = change.payload.partition(">")[0]
        writer.put(memory.replace(trust=before))
        return Receipt(memory.id, memory.number, before, seq=event.seq, why=f"it was {memory.trust}")
    count_feedback(writer, memory)
    return Receipt(memory.id, memory.number, "taken back", seq=event.seq, why=change.payload)


def _refuse_agent(memory: Memory, scope: Scope) -> None:
    if scope.origin.who != "person":
        raise InvalidInput(
            "only a person can take back what a person did",
            field="who",
            remedy=f"ask them to run `hardwon undo {memory.called}` in a terminal of their own",
        )


def _undo_status(engine: Engine, writer: Writer, memory: Memory, change: Event, scope: Scope, *, many: bool) -> Receipt:
    if memory.status == "replaced":
        raise InvalidInput(
            "this memory was replaced", field="id", remedy=f"`hardwon undo {memory.replaced_by}` takes the replacing back"
        )
    before: Any = change.payload.partition(">")[0]
    if before == "replaced":  # its successor is told by the relation, which is still there
        links = writer.links(memory.id)
        successor = next((link.source for link in links if (link.kind, link.target) == ("replaces", memory.id)), None)
        memory = memory.replace(replaced_by=successor)
    elif said := _said_since(engine, writer, memory):
        if many:
            return unchanged(memory, said)
        raise InvalidInput(said, field="id", remedy="nothing needs to be undone")
    event = to_status(engine, writer, memory, before, scope.origin, undo=True)
    return Receipt(memory.id, memory.number, before, seq=event.seq, why=f"it was {memory.status}")


def _said_since(engine: Engine, writer: Writer, memory: Memory) -> str:
    """Why a memory does not come back: the same was recorded, rejected or erased while it was away; "" where nothing hinders it."""
    key = b"" if memory.status in LIVING else meeting_key(writer, memory, memory)
    twin = writer.twin(key) if key else None
    if twin is not None:
        return f"#{twin.number} says the same and was recorded since"
    if memory.status == "rejected":  # it is the verdict itself that is taken back, and only by a person
        return ""
    refused = record.rejected_before(writer, memory, but=memory.id)
    if refused is not None:
        return f"{refused.called} says the same and was rejected"
    refused = record.erased_before(engine, writer, memory)
    return f"{refused.called} said the same and was erased" if refused is not None else ""


def _undo_revision(engine: Engine, writer: Writer, memory: Memory, change: Event, scope: Scope) -> Receipt:
    if not trust.may_change(memory, scope.origin.who):
        raise InvalidInput(f"this memory is {memory.trust}", field="id", remedy="ask the person to take the revision back")
    content = next(item.content for item in writer.versions(memory.id) if item.version == change.version - 1)
    if not content.text:
        raise InvalidInput(f"what it said in version {content.version} was erased", field="id", remedy="revise it instead")
    back: Any = change.payload.partition(">")[0] or memory.trust
    draft = draft_of(content, {})
    key = meeting_key(writer, memory, draft)
    refuse_known(engine, writer, draft, key, memory)
    restored = with_content(memory, draft, engine.clock()).replace(trust=back)
    origin = record.signed(scope.origin)
    event = record.keep(engine, writer, "revised", restored, origin, key, fresh=True, payload=change.payload + UNDO)
    return Receipt(memory.id, memory.number, "revised", seq=event.seq, why=f"as in version {content.version}")


def _undo_link(engine: Engine, writer: Writer, memory: Memory, change: Event, scope: Scope, now: int) -> Receipt:
    kind, _, target = change.payload.partition(" ")
    others = writer.get([target]) if kind == "replaces" else []
    for other in others:
        _refuse_unlinking(engine, writer, memory, other)
    event = writer.log("linked", memory, record.signed(scope.origin), now, payload=change.payload + UNDO)
    writer.unlink(memory.id, kind, target)
    for other in others:
        if other.status == "replaced" and other.replaced_by == memory.id:
            to_status(engine, writer, other, _before_replaced(writer, other), scope.origin, undo=True)
    return Receipt(memory.id, memory.number, "unlinked", seq=event.seq, why=f"{kind} {target}")


def _refuse_unlinking(engine: Engine, writer: Writer, memory: Memory, other: Memory) -> None:
    """InvalidInput where what was replaced could not come back as it was."""
    if other.status == "replaced" and other.replaced_by == memory.id and (said := _said_since(engine, writer, other)):
        raise InvalidInput(
            f"{other.called} would come back, but {said}", field="id", remedy=f"see `hardwon history {other.called}`"
        )
    changes = standing(writer.events(other.id))
    if other.status == "rejected" and any(one.payload == "replaced>rejected" for one in changes):
        raise InvalidInput(
            f"{other.called} was rejected after it was replaced", field="id", remedy=f"`hardwon undo {other.called}` first"
        )


def _before_replaced(writer: Writer, other: Memory) -> Status:
    payloads = [event.payload for event in writer.events(other.id) if event.payload.endswith(">replaced")]
    before: Status = payloads[-1].partition(">")[0] if payloads else "active"  # type: ignore[assignment]  # the journal's words
    return before
