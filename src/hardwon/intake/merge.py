"""Whether a draft is something new or one more occurrence of what is known. Pure."""

from __future__ import annotations

from hardwon.code.names import same_symbol
from hardwon.digest import blake2b
from hardwon.intake.shape import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.types import Anchor, Draft, Memory


def twin_key(draft: Draft | Memory) -> bytes:
    """Digest of what makes two memories one: kind, outcome, visibility, place, and the text folded in case and spaces (digits count).

    Similar texts never meet here; merging them is for a person to decide.
    """
    parts = [draft.kind, draft.outcome or "", draft.visibility, fold(draft.text)]
    for anchor in draft.anchors:
        parts += (anchor.path, anchor.symbol)
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def same_value(rejected: Memory, draft: Draft | Memory) -> bool:
    """Whether a draft says what was rejected: the same folded text, and no other place.

    Kind, outcome and visibility do not count, or a rejected value would come back under another name. Place counts only where
    both name one: a lesson such as "worked" is about its symbol, however that is spelt and whether or not the file is named.
    """
    if fold(rejected.text) != fold(draft.text):
        return False
    ours, theirs = ([anchor for anchor in one.anchors if anchor.path or anchor.symbol] for one in (rejected, draft))
    return not ours or not theirs or any(_same_place(one, other) for one in ours for other in theirs)


def _same_place(one: Anchor, other: Anchor) -> bool:
    """Whether two anchors may mean one place: they share the file or the symbol, and differ in neither."""
    file = one.path == other.path
    symbol = bool(one.symbol and other.symbol) and same_symbol(one.symbol, other.symbol)
    if symbol:
        return file or not (one.path and other.path)
    return bool(one.path) and file and not (one.symbol and other.symbol)


def repeat(known: Memory, draft: Draft, now: int, *, believed: bool, vouched: bool = False) -> Memory:
    """The known memory after one more occurrence.

    What the draft says anew (another detail, code, reason) becomes the content; the old content stays as a version. ``believed``
    tells whether the writer is believed at least as far as the memory: otherwise only the occurrence counts, for an agent shall
    not put words into what a person confirmed, nor say how long they hold. A time of expiry that has passed ends with the new
    occurrence, and any other with ``vouched``: whoever confirms what was claimed means it until they say otherwise.
    """
    merged = known
    if believed:
        over = known.expires_at is not None and known.expires_at <= now
        ends = draft.expires_at or (None if vouched or over else known.expires_at)
        merged = known.replace(expires_at=ends)
        merged = merged.replace(
            detail=draft.detail or known.detail,
            code=draft.code or known.code,
            because=draft.because or known.because,
            rejected=_union(known.rejected, draft.rejected),
            tags=_union(known.tags, draft.tags),
            metadata=draft.metadata or known.metadata,
            anchors=_pinned_anew(known.anchors, draft.anchors),
        )
    version = known.version + 1 if merged != known else known.version
    result: Memory = merged.replace(seen=known.seen + 1, updated_at=now, status="active", version=version)
    return result


def _pinned_anew(known: tuple[Anchor, ...], told: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
    """The anchors of what happens once more: it speaks of the code as it is now, if that is another than it was."""
    if len(known) != len(told):
        return known
    return tuple(
        new
        if (new.fingerprint or new.blob) and (new.fingerprint != old.fingerprint or not new.fingerprint) and new.blob != old.blob
        else old
        for old, new in zip(known, told, strict=True)
    )


def says_all(known: Memory, draft: Draft) -> bool:
    """Whether the draft itself says everything that the memory says: then its writer vouches for all of it."""
    pairs = ((known.detail, draft.detail), (known.code, draft.code), (known.because, draft.because))
    return all(not old or old == new for old, new in pairs) and set(known.rejected) <= set(draft.rejected)


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return one + tuple(item for item in other if item not in one)
