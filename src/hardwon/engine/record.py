"""What somebody says enters the memory: drafts into memories, occurrences, new versions."""

from __future__ import annotations

from hardwon.engine import anchors as _anchors
from hardwon.errors import StoreError
from hardwon.intake import merge
from hardwon.intake.redact import redact, redact_branch, redact_draft
from hardwon.intake.shape import shape
from hardwon.types import Anchor, Memory, Occurrence, Receipt, Value
from hardwon.upkeep import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Action, Draft, Event, Origin, Scope


class Submission(Value):
    """What somebody says, clean, with the id that it has from now on, and where and when it was said."""

    id: str
    at: int
    draft: Draft
    origin: Origin
    branch: str = ""
    commit: str = ""


def record(engine: Engine, draft: Draft, scope: Scope) -> Receipt:
    """Keep a memory, or one more occurrence of a known one; refused where a person rejected what it says.

    Where the store cannot take it now, it waits in the spool; the store's own error where that cannot either.
    """
    from hardwon.engine.guarded import Guarded

    told = own_words(draft, scope.origin, meant=True)
    clean, redacted = prepared(engine, told)
    said = submitted(engine, clean, scope)
    try:
        with Guarded(engine, marks=False) as writer:
            receipt = enter(engine, writer, said)
    except StoreError as error:
        from hardwon.engine.spooling import spooled

        receipt = spooled(engine, said, error)
    result: Receipt = receipt.replace(redacted=redacted, missing=_anchors.missing(engine, clean.anchors))
    return result if told == draft else left_out(result)


def left_out(receipt: Receipt) -> Receipt:
    """The receipt of a draft in which something of ours was found."""
    told: Receipt = receipt.replace(why="; ".join(filter(None, (receipt.why, "a block of Hardwon's own was left out"))))
    return told


def own_words(draft: Draft, origin: Origin, *, meant: bool = False) -> Draft:
    """The draft without blocks of ours, which an agent may have copied; a person's words are theirs, whatever they quote. ``meant``: it was
    handed over on purpose, and may speak of our tags."""
    if origin.who == "person":
        return draft
    from hardwon.capture import ours

    return ours.of_draft(draft, meant=meant)


def submitted(engine: Engine, clean: Draft, scope: Scope) -> Submission:
    """A clean draft here and now. The id is given before the store is asked, so that a record that was perhaps written, and was
    spooled because nobody knows, is known when it is taken in."""
    from hardwon.store.ids import uuid7

    now = engine.clock()
    return Submission(uuid7(now, engine.entropy(10)), now, clean, written_by(scope, clean), *standing_at(engine))


def enter(engine: Engine, writer: Writer, said: Submission) -> Receipt:
    """What is said becomes a memory, or one more occurrence of a known one, or is refused. The receipt's id is the memory's."""
    refused = kept_out(engine, writer, said.draft)
    if refused is not None:
        return refused
    key = merge.twin_key(said.draft)
    known = writer.twin(key)
    if known is None or not trust.lasts(known, said.origin.who, said.at):
        known = None
        memory = new_memory(said, writer.next_number())
        event = keep(engine, writer, "created", memory, said.origin, key, fresh=True)
    else:
        believed, trusted = trust.after_repeat(known.trust, said.origin.who, merge.says_all(known, said.draft))
        vouched = trusted != known.trust
        memory = merge.repeat(known, said.draft, said.at, believed=believed, vouched=vouched).replace(trust=trusted)
        fresh = memory.version > known.version
        event = keep(engine, writer, "repeated", memory, said.origin, b"", fresh=fresh, payload=said.id)
    occur(writer, memory, said, event)
    return Receipt(memory.id, memory.number, event.action, 0, event.seq, "" if known is None else f"seen {memory.seen} times")


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
    """The branch, without secrets, and the commit that are checked out; "" for what there is not."""
    branch, head = engine.standing
    return redact_branch(branch), head


def rejected_before(reader: Reader, draft: Draft | Memory, but: str = "") -> Memory | None:
    """The rejected memory that says what the draft says, if there is one other than ``but``."""
    return next((memory for memory in reader.rejected() if memory.id != but and merge.same_value(memory, draft)), None)


def erased_before(engine: Engine, reader: Reader, words: Draft | Memory) -> Memory | None:
    """The erased memory that said the same, if there is one; costs nothing where nothing was erased."""
    if not reader.has_erased():
        return None
    from hardwon.engine.erased import recognised

    return recognised(engine, reader, words)


def kept_out(engine: Engine, reader: Reader, words: Draft | Memory) -> Receipt | None:
    """The refusal of words that a person rejected or erased; None where they may come in."""
    for refused, what in ((rejected_before(reader, words), "rejected"), (erased_before(engine, reader, words), "erased")):
        if refused is not None:
            why = f"#{refused.number} says the same and was {what}" if refused.number else f"the same was {what}"
            return Receipt(refused.id, refused.number, "refused", why=why)
    return None


def new_memory(said: Submission, number: int) -> Memory:
    """The memory that a draft becomes."""
    draft, now = said.draft, said.at
    return Memory(
        id=said.id, number=number, kind=draft.kind, outcome=draft.outcome, text=draft.text,
        detail=draft.detail, code=draft.code, because=draft.because, rejected=draft.rejected, anchors=draft.anchors,
        tags=draft.tags, trust=trust.initial(said.origin.who), visibility=draft.visibility, origin=said.origin,
        branch=said.branch, commit=said.commit,
        created_at=now, updated_at=now, valid_from=now, expires_at=draft.expires_at, metadata=draft.metadata,
    )  # fmt: skip


def keep(
    engine: Engine, writer: Writer, action: Action, memory: Memory, origin: Origin, twin: bytes, *, fresh: bool, payload: str = ""
) -> Event:
    """Write the current row and the journal; with ``fresh`` content a new version and a new index entry as well."""
    from hardwon.search import terms

    writer.put(memory, twin, terms.of_memory(memory) if fresh else None)
    return writer.log(action, memory, origin, memory.updated_at, engine.entropy(16) if fresh else b"", payload)


def occur(writer: Writer, memory: Memory, said: Submission, event: Event) -> None:
    """One more time that the memory happened."""
    writer.occur(Occurrence(memory.id, said.at, memory.outcome, "active", said.origin, said.branch, said.commit), event.seq)


def pinned(engine: Engine, draft: Draft) -> Draft:
    """The draft with paths as the store names them, and the commit, content and code that they are of."""
    if not draft.anchors:
        return draft
    head = engine.standing[1]
    named = [Anchor(engine.relative(anchor.path), anchor.symbol, head) for anchor in draft.anchors]
    result: Draft = draft.replace(anchors=_anchors.pinned(engine, named))
    return result
