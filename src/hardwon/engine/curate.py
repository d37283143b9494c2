"""What becomes of memories later: another status, other words, relations, the verdict of a person (``undo`` takes it back)."""

from __future__ import annotations

from hardwon.engine import record
from hardwon.engine.belief import settled
from hardwon.engine.naming import OWN, named
from hardwon.errors import InvalidInput, NotFound
from hardwon.intake import merge
from hardwon.types import SHARED, Difference, Draft, Receipt, Selection
from hardwon.upkeep import evidence, trust
from hardwon.upkeep import feedback as said
from hardwon.upkeep.evidence import UNDO
from hardwon.upkeep.revise import apart, differences, occurrence_statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.store.base import Writer
    from hardwon.types import Event, Filter, LinkKind, Memory, Origin, Revision, Scope, Status

# Memories of these statuses come back only the way that they went.
_SET_ASIDE = {
    "forgotten": "`hardwon undo {0}` brings it back",
    "rejected": "a person's `hardwon approve {0}` brings it back",
    "replaced": "`hardwon undo {1}` takes the replacing back",
}


def set_status(engine: Engine, reference: str, status: Status, scope: Scope) -> Receipt:
    """Give a memory another status (resolved, inactive, active), with its occurrences."""
    with engine.write() as writer:
        memory = named(writer, reference)
        if memory.status == status:
            return unchanged(memory, f"it is {status} already")
        refuse_erased(memory)
        if memory.status in _SET_ASIDE:
            raise InvalidInput(
                f"this memory is {memory.status}",
                field="id",
                remedy=_SET_ASIDE[memory.status].format(reference, memory.replaced_by),
            )
        if not trust.may_set_aside(memory, scope.origin.who):
            raise InvalidInput(
                f"this memory is {memory.trust}: an agent may not make it {status}",
                field="id",
                remedy="ask the person to do it, or say what you found: `hardwon record`, `hardwon link … --contradicts`",
            )
        event = to_status(engine, writer, memory, status, scope.origin)
    return Receipt(memory.id, memory.number, status, seq=event.seq)


def forget(engine: Engine, where: Filter, scope: Scope, *, dry_run: bool) -> Selection:
    """Mark everything that matches as forgotten, in one transaction; InvalidInput for a filter that names nothing."""
    from hardwon.upkeep.purge import forgettable, meant

    wanted = meant(where)
    if dry_run:
        with engine.store.read() as reader:
            memories = forgettable(where, reader.find(wanted, -1), scope.origin.who)
            return Selection(tuple(memory.id for memory in memories), False)
    with engine.write() as writer:
        memories = forgettable(where, writer.find(wanted, -1), scope.origin.who)
        now = _stroke(engine, writer)
        for memory in memories:
            to_status(engine, writer, memory, "forgotten", scope.origin, at=now)
    return Selection(tuple(memory.id for memory in memories), True)


def _stroke(engine: Engine, writer: Writer) -> int:
    """The time of something that is done now, at which nothing was done right before."""
    return apart(engine.clock(), next(iter(writer.latest_events(1)), None))


def to_status(
    engine: Engine, writer: Writer, memory: Memory, status: Status, origin: Origin, *, undo: bool = False, at: int | None = None
) -> Event:
    """Write another status with its event, and that of the occurrences which the journal then tells."""
    writer.put(memory.replace(status=status, replaced_by=memory.replaced_by if status == "replaced" else None))
    when = _stroke(engine, writer) if at is None else at
    event = writer.log("status", memory, record.signed(origin), when, payload=f"{memory.status}>{status}" + UNDO * undo)
    writer.settle_occurrences(memory.id, occurrence_statuses(writer.events(memory.id)))
    return event


# Content


def revise(engine: Engine, reference: str, revision: Revision, scope: Scope) -> Receipt:
    """Change a memory's words; the old ones stay as a version."""
    changes = {name: value for name, value in vars(revision).items() if value is not None}
    if not changes:
        raise InvalidInput("nothing was given to change", field="text", remedy="give a new text, or --detail, --because, …")
    with engine.write() as writer:
        memory = named(writer, reference)
        refuse_erased(memory)
        _refuse_derived(memory, "revised")
        if memory.status in ("forgotten", "rejected"):
            raise InvalidInput(f"this memory is {memory.status}", field="id", remedy=f"see `hardwon history {reference}`")
        if not trust.may_change(memory, scope.origin.who):
            raise InvalidInput(
                f"this memory is {memory.trust}: an agent may not change its words",
                field="id",
                remedy="ask the person to revise it, or record what you found and relate it with `hardwon link`",
            )
        clean, redacted = record.prepared(engine, record.own_words(draft_of(memory, changes), scope.origin, meant=True))
        if "anchors" not in changes:
            clean = clean.replace(anchors=memory.anchors)  # pinned to where they were seen, not to where we stand now
        revised = with_content(memory, clean, engine.clock()).replace(trust=trust.initial(scope.origin.who))
        if revised.replace(updated_at=memory.updated_at, version=memory.version) == memory:
            return unchanged(memory, "it says that already")
        key = meeting_key(writer, memory, clean)
        refuse_known(engine, writer, clean, key, memory)
        moved = "" if revised.trust == memory.trust else f"{memory.trust}>{revised.trust}"
        event = record.keep(engine, writer, "revised", revised, record.signed(scope.origin), key, fresh=True, payload=moved)
    return Receipt(memory.id, memory.number, "revised", redacted, event.seq, f"version {revised.version}")


def diff(engine: Engine, reference: str, older: int | None, newer: int | None) -> Difference:
    """What changed between two versions of a memory."""
    with engine.store.read() as reader:
        memory = engine.named(reader, reference)
        known = {item.version: item.content for item in reader.versions(memory.id)}
    if not known:
        raise NotFound(
            "this memory has no versions: it comes from the repository", field="id", remedy="see git's own history of it"
        )
    last = max(known) if newer is None else newer
    first = max(1, last - 1) if older is None else older
    for number, field in ((last, "to"), (first, "from")):
        if number not in known:
            raise InvalidInput(f"there is no version {number}", field=field, remedy=f"versions go from 1 to {max(known)}")
    return Difference(memory, first, last, differences(known[first], known[last]))


def draft_of(memory: Memory, changes: dict[str, Any]) -> Draft:
    """What a memory says, as a draft, with some of it changed."""
    return Draft(**{name: changes.get(name, getattr(memory, name)) for name in Draft._fields if name != "session"}, session="")


def with_content(memory: Memory, draft: Draft, now: int) -> Memory:
    """The memory's next version, with the draft's content; kind and outcome stay, for its occurrences had them."""
    content = {name: getattr(draft, name) for name in Draft._fields if name not in ("session", "kind", "outcome")}
    revised: Memory = memory.replace(**content, version=memory.version + 1, updated_at=now)
    return revised


def meeting_key(writer: Writer, memory: Memory, draft: Draft | Memory) -> bytes:
    """The key by which equal words meet; empty for an item with an id of its own, which meets none."""
    own = any(alias.startswith(OWN) for alias in writer.aliases(memory.id))
    return b"" if own else merge.twin_key(draft)


def refuse_known(engine: Engine, writer: Writer, draft: Draft, key: bytes, memory: Memory) -> None:
    """InvalidInput where the new words are another memory's, or were rejected or erased."""
    other = writer.twin(key) if key else None
    if other is not None and other.id != memory.id:
        raise InvalidInput(
            f"#{other.number} says that already",
            field="text",
            remedy=f"relate them: hardwon link {other.number} {memory.number} --replaces",
        )
    refused = record.rejected_before(writer, draft)
    if refused is not None:
        raise InvalidInput(f"#{refused.number} says that and was rejected", field="text", remedy="a person can approve it again")
    refused = record.erased_before(engine, writer, draft)
    if refused is not None:
        raise InvalidInput(f"{refused.called} said that and was erased", field="text", remedy="say something else")


def refuse_erased(memory: Memory) -> None:
    """InvalidInput for a memory of which nothing is left."""
    if memory.erased:
        raise InvalidInput(
            f"{memory.called} was erased: nothing of it is left", field="id", remedy=f"see `hardwon history {memory.called}`"
        )


def _refuse_derived(memory: Memory, done: str) -> None:
    if memory.number is None:
        raise InvalidInput(
            f"what comes from the repository cannot be {done}",
            field="id",
            remedy="record a memory of your own, and `hardwon link` the two",
        )


# Relations


def link(engine: Engine, source: str, target: str, kind: LinkKind, scope: Scope) -> Receipt:
    """Relate two memories; what ``replaces`` another takes its place, and the other is recalled no more."""
    with engine.write() as writer:
        one, other = named(writer, source), named(writer, target)
        if one.id == other.id:
            raise InvalidInput("a memory cannot be related to itself", field="other", remedy="name two different ones")
        for memory in (one, other):
            refuse_erased(memory)
            if memory.status in ("forgotten", "rejected"):
                raise InvalidInput(f"{memory.called} is {memory.status}", field="id", remedy="relate memories that are held")
        if any((known.source, known.kind, known.target) == (one.id, kind, other.id) for known in writer.links(one.id)):
            return unchanged(one, f"it {kind} {other.called} already")
        if kind == "replaces":
            _refuse_replacing(one, other, scope)
        origin = record.signed(scope.origin)
        if kind == "replaces" and scope.origin.who == "person" and one.trust in trust.UNCONFIRMED:
            # A person who puts a claim in another's place vouches for it: else the agent could take both away.
            one, _ = _confirm(engine, writer, one, origin)
        writer.link(one.id, kind, other.id)
        event = writer.log("linked", one, origin, engine.clock(), payload=f"{kind} {other.id}")
        if kind == "replaces":
            writer.put(other.replace(status="replaced", replaced_by=one.id))
            writer.log("status", other, origin, engine.clock(), payload=f"{other.status}>replaced")
            writer.settle_occurrences(other.id, occurrence_statuses(writer.events(other.id)))
    return Receipt(one.id, one.number, "linked", seq=event.seq, why=f"{kind} {other.called}")


def _refuse_replacing(one: Memory, other: Memory, scope: Scope) -> None:
    if other.status == "replaced":
        raise InvalidInput(f"{other.called} is replaced already", field="other", remedy=f"see `hardwon show {other.called}`")
    if one.status != "active":
        raise InvalidInput(f"{one.called} is {one.status} itself", field="id", remedy="replace by what holds")
    if not trust.may_change(other, scope.origin.who):  # nor by what a person confirmed: they did not say that it replaces this
        raise InvalidInput(
            f"{other.called} is {other.trust}: an agent cannot replace it",
            field="other",
            remedy="say --contradicts, and a person decides",
        )


# Verdicts


def approve(engine: Engine, reference: str, scope: Scope) -> Receipt:
    """A person vouches for a memory: it is confirmed, and active again if it was rejected."""
    _only_person(scope, "approve")
    with engine.write() as writer:
        memory = named(writer, reference)
        refuse_erased(memory)
        if memory.status == "forgotten":
            raise InvalidInput("this memory is forgotten", field="id", remedy=f"`hardwon undo {reference}` brings it back")
        back = memory.status in ("rejected", "quarantined")
        doubted = bool(evidence.doubt(writer.events(memory.id)))
        if memory.trust == "confirmed" and not back and not doubted:
            return unchanged(memory, "it is confirmed already")
        if memory.status == "replaced":
            raise InvalidInput(
                "this memory was replaced", field="id", remedy=_SET_ASIDE["replaced"].format(reference, memory.replaced_by)
            )
        confirmed, event = _confirm(engine, writer, memory, record.signed(scope.origin))
        if back:
            event = to_status(engine, writer, confirmed, "active", scope.origin)
    return Receipt(memory.id, memory.number, "approved", seq=event.seq, why=f"it was {memory.status if back else memory.trust}")


def _confirm(engine: Engine, writer: Writer, memory: Memory, origin: Origin) -> tuple[Memory, Event]:
    confirmed: Memory = memory.replace(trust="confirmed")
    # What came with the repository's files meets equal words from now on.
    writer.put(confirmed, meeting_key(writer, memory, memory) if memory.origin == SHARED else b"")
    settled(writer, memory.id)
    return confirmed, writer.log("trust", confirmed, origin, engine.clock(), payload=f"{memory.trust}>confirmed")


def reject(engine: Engine, reference: str, scope: Scope) -> Receipt:
    """A person turns a memory down: it is not shown, nor what says the same under another kind, and nothing that says it comes in
    until it is approved."""
    from hardwon.search.similar import same

    _only_person(scope, "reject")
    with engine.write() as writer:
        memory = named(writer, reference)
        if memory.status == "rejected":
            return unchanged(memory, "it is rejected already")
        refuse_erased(memory)
        if memory.status == "forgotten":
            raise InvalidInput("this memory is forgotten", field="id", remedy=f"`hardwon undo {reference}` brings it back first")
        now = _stroke(engine, writer)  # one, so that one undo brings all of it back
        event = to_status(engine, writer, memory, "rejected", scope.origin, at=now)
        others = same(writer, memory)
        for other in others:
            to_status(engine, writer, other, "rejected", scope.origin, at=now)
    also = f"; so are {', '.join(other.called for other in others)}, which say the same" if others else ""
    return Receipt(memory.id, memory.number, "rejected", seq=event.seq, why=f"it was {memory.status}{also}")


def _only_person(scope: Scope, verb: str) -> None:
    if scope.origin.who != "person":
        raise InvalidInput(
            f"only a person can {verb} a memory",
            field="who",
            remedy=f"ask them to run `hardwon {verb}` in a terminal of their own",
        )


def feedback(engine: Engine, reference: str, word: str, scope: Scope) -> Receipt:
    """Whoever read a memory found it ``useful`` or ``useless``; one word counts for each session of a client."""
    with engine.write() as writer:
        memory = named(writer, reference)
        # Another word of the same session replaces its first, so the counts are made anew from the journal.
        event = writer.log("feedback", memory, record.signed(scope.origin), engine.clock(), payload=word)
        count_feedback(writer, memory)
        counted = writer.get([memory.id])[0]
    return Receipt(memory.id, memory.number, word, seq=event.seq, why=f"useful {counted.useful}, useless {counted.useless}")


def count_feedback(writer: Writer, memory: Memory) -> None:
    """Write the counts that the journal tells."""
    useful, useless = said.counts(writer.events(memory.id), UNDO)
    writer.put(memory.replace(useful=useful, useless=useless))


def unchanged(memory: Memory, why: str) -> Receipt:
    """The receipt of what was left as it is."""
    return Receipt(memory.id, memory.number, "unchanged", why=why)
