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
        if known is not None and not trust.lasts(known, origin.who, now):
            known = None
        if known is None:
            memory = new_memory(engine, clean, origin, now, writer.next_number())
            event = keep(engine, writer, "created", memory, origin, key, fresh=True)
        else:
            believed, trusted = trust.after_repeat(known.trust, origin.who, merge.says_all(known, clean))
            vouched = trusted != known.trust
            memory = merge.repeat(known, clean, now, believed=believed, vouched=vouched).replace(trust=trusted)
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
    origin = signed(scope.origin)
    own: Origin = origin.replace(session=draft.session or origin.session)
    return own


def signed(origin: Origin) -> Origin:
    """An origin as the journal keeps it: its names without secrets."""
    clean: Origin = origin.replace(**{name: redact(getattr(origin, name))[0] for name in ("client", "session", "tool")})
    return clean


def standing_at(engine: Engine) -> tuple[str, str]:
    """The branch, without secrets, and the commit of the checkout; "" for what it has not."""
    checkout = engine.place.checkout if engine.place else None
    return (redact(checkout.branch)[0], checkout.head) if checkout else ("", "")


def rejected_before(reader: Reader, draft: Draft | Memory, but: str = "") -> Memory | None:
    """The rejected memory that says what the draft says, if there is one other than ``but``."""
    return next((memory for memory in reader.rejected() if memory.id != but and merge.same_value(memory, draft)), None)


def new_memory(engine: Engine, draft: Draft, origin: Origin, now: int, number: int) -> Memory:
    """The memory that a draft becomes."""
    from hardwon.store.ids import uuid7

    branch, commit = standing_at(engine)
    return Memory(
        id=uuid7(now, engine.entropy(10)), number=number, kind=draft.kind, outcome=draft.outcome, text=draft.text,
        detail=draft.detail, code=draft.code, because=draft.because, rejected=draft.rejected, anchors=draft.anchors,
        tags=draft.tags, trust=trust.initial(origin.who), visibility=draft.visibility, origin=origin,
        branch=branch, commit=commit,
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
    branch, commit = standing_at(engine)
    writer.occur(Occurrence(memory.id, memory.updated_at, memory.outcome, "active", origin, branch, commit), event.seq)


def pinned(engine: Engine, draft: Draft) -> Draft:
    """The draft with paths as the store names them and the commit that they are of."""
    head = engine.place.checkout.head if engine.place else ""
    result: Draft = draft.replace(
        anchors=tuple(Anchor(engine.relative(anchor.path), anchor.symbol, head) for anchor in draft.anchors)
    )
    return result
