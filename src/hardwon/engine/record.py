"""What somebody says enters the memory: drafts into memories, occurrences, new versions."""

from __future__ import annotations

from hardwon.intake import merge
from hardwon.intake.redact import redact, redact_draft
from hardwon.intake.shape import shape
from hardwon.types import Anchor, Memory, Occurrence, Receipt
from hardwon.upkeep import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Action, Draft, Event, Origin, Scope


def record(engine: Engine, draft: Draft, scope: Scope) -> Receipt:
    """Keep a memory, or one more occurrence of a known one; refused where a person rejected what it says."""
    clean, redacted = prepared(engine, draft)
    now = engine.clock()
    key = merge.twin_key(clean)
    origin = written_by(scope, clean)
    with engine.write() as writer:
        refused = rejected_before(writer, clean)
        if refused is not None:
            why = f"#{refused.number} says the same and was rejected" if refused.number else "the same was rejected"
            return Receipt(refused.id, refused.number, "refused", redacted, None, why)
        known = writer.twin(key)
        if known is None:
            memory = new_memory(engine, clean, origin, now, writer.next_number())
            event = keep(engine, writer, "created", memory, origin, key, fresh=True)
        else:
            believed, trusted = trust.after_repeat(known.trust, origin.who, merge.says_all(known, clean))
            memory = merge.repeat(known, clean, now, believed=believed).replace(trust=trusted)
            event = keep(engine, writer, "repeated", memory, origin, b"", fresh=memory.version > known.version)
        occur(engine, writer, memory, origin, event)
    why = "" if known is None else f"seen {memory.seen} times"
    return Receipt(memory.id, memory.number, event.action, redacted, event.seq, why)


def prepared(engine: Engine, draft: Draft) -> tuple[Draft, int]:
    """The draft without secrets, shaped and pinned to the code; and how many secrets were taken out."""
    # Twice: hidden characters can cut a secret apart, and shaping joins it again.
    raw, first = redact_draft(draft)
    clean, second = redact_draft(shape(raw))
    return pinned(engine, clean), first + second


def written_by(scope: Scope, draft: Draft) -> Origin:
    """The scope's origin, with the draft's session before its own."""
    origin: Origin = scope.origin.replace(
        session=draft.session or redact(scope.origin.session)[0], client=redact(scope.origin.client)[0]
    )
    return origin


def rejected_before(reader: Reader, draft: Draft) -> Memory | None:
    """The rejected memory that says what the draft says, if there is one."""
    return next((memory for memory in reader.rejected() if merge.same_value(memory, draft)), None)


def new_memory(engine: Engine, draft: Draft, origin: Origin, now: int, number: int) -> Memory:
    """The memory that a draft becomes."""
    from hardwon.store.ids import uuid7

    checkout = engine.place.checkout if engine.place else None
    return Memory(
        id=uuid7(now, engine.entropy(10)), number=number, kind=draft.kind, outcome=draft.outcome, text=draft.text,
        detail=draft.detail, code=draft.code, because=draft.because, rejected=draft.rejected, anchors=draft.anchors,
        tags=draft.tags, trust=trust.initial(origin.who), visibility=draft.visibility, origin=origin,
        branch=checkout.branch if checkout else "", commit=checkout.head if checkout else "",
        created_at=now, updated_at=now, valid_from=now, expires_at=draft.expires_at, metadata=draft.metadata,
    )  # fmt: skip


def keep(
    engine: Engine, writer: Writer, action: Action, memory: Memory, origin: Origin, twin: bytes, *, fresh: bool, payload: str = ""
) -> Event:
    """Write the current row and the journal; with ``fresh`` content a new version and a new index entry as well."""
    from hardwon.search import terms

    writer.put(memory, twin, terms.of_memory(memory) if fresh else None)
    return writer.log(action, memory, origin, memory.updated_at, engine.entropy(16) if fresh else b"", payload)


def occur(engine: Engine, writer: Writer, memory: Memory, origin: Origin, event: Event) -> None:
    """One more time that the memory happened, here and now."""
    checkout = engine.place.checkout if engine.place else None
    branch, commit = (checkout.branch, checkout.head) if checkout else ("", "")
    writer.occur(Occurrence(memory.id, memory.updated_at, memory.outcome, "active", origin, branch, commit), event.seq)


def pinned(engine: Engine, draft: Draft) -> Draft:
    """The draft with paths as the store names them and the commit that they are of."""
    head = engine.place.checkout.head if engine.place else ""
    result: Draft = draft.replace(
        anchors=tuple(Anchor(engine.relative(anchor.path), anchor.symbol, head) for anchor in draft.anchors)
    )
    return result
