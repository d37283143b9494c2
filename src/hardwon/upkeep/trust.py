"""How far a memory is believed, and what may be said without being asked. Pure."""

from __future__ import annotations

from hardwon.types import TRUSTS, UNHEARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from hardwon.types import Memory, Origin, Trust, Who

_INITIAL: dict[Who, Trust] = {
    "person": "confirmed",
    "agent": "claimed",
    "test": "claimed",
    "history": "history",
    "import": "imported",
}
UNVERIFIED_LIMIT = 3
# What waits for a person's verdict.
UNCONFIRMED: tuple[Trust, ...] = ("claimed", "imported", "quarantined")
# What may be said to who did not ask.
HEARD: tuple[Trust, ...] = tuple(trust for trust in TRUSTS if trust not in UNHEARD)

# Phrases of text that speaks to an agent instead of about the code. A flag, never the gate: the gate is provenance.
_ORDERS = (
    "ignore previous instructions", "ignore all previous", "ignore the above", "disregard previous", "disregard all",
    "system prompt", "you are now", "new instructions:", "do not tell the user", "without telling the user",
    "<system", "</system", "[system]", "assistant:", "as an ai",
)  # fmt: skip


def initial(who: Who) -> Trust:
    """What a memory is worth when it is written."""
    return _INITIAL[who]


def stronger(one: Trust, other: Trust) -> Trust:
    """The stronger of two: a person who records what an agent had claimed confirms it."""
    return min(one, other, key=TRUSTS.index)


def after_repeat(known: Trust, who: Who, says_all: bool) -> tuple[bool, Trust]:
    """Whether a writer who repeats a memory may change its content, and the trust of the memory afterwards.

    The content yields only to who is believed at least as far; trust rises only for who said all of it.
    """
    writer = initial(who)
    strongest = stronger(known, writer)
    return strongest == writer, strongest if says_all else known


def may_change(memory: Memory, who: Who) -> bool:
    """Whether a writer is believed at least as far as the memory: an agent shall not put words into what a person confirmed, nor
    replace it."""
    return stronger(memory.trust, initial(who)) == initial(who)


def lasts(known: Memory, who: Who, now: int) -> bool:
    """Whether what is said again is still the known memory: what a person let end is over, and the same from an agent is a claim of
    its own."""
    return known.expires_at is None or known.expires_at > now or may_change(known, who)


def may_set_aside(memory: Memory, who: Who) -> bool:
    """Whether a writer may put a memory out of sight: what a person confirmed, or events proved, only a person may."""
    return who == "person" or memory.trust not in ("confirmed", "proven")


def gives_orders(text: str) -> bool:
    """Whether a text looks like instructions to an agent."""
    folded = " ".join(text.lower().split())
    return any(phrase in folded for phrase in _ORDERS)


def unasked(memory: Memory, asker: Origin, at_symbol: bool = False) -> Literal["yes", "unverified", "no"]:
    """Whether a memory, its anchors judged where that can be done, may be shown to somebody who did not ask for it. ``at_symbol``: it
    speaks of the very symbol at hand.

    Confirmed, proven and history: yes. Claims: the asker's own, and those on the very symbol at hand; they are labelled and few.
    Imported and quarantined: never. Nor what is over, what speaks of code that is gone, and, unless a person confirmed it, what
    speaks like an order or hides something: a test that passed has read none of the words.
    """
    if memory.status != "active" or memory.erased or memory.is_astray:
        return "no"
    if memory.trust == "confirmed":
        return "yes"
    if memory.trust not in ("proven", "history", "claimed") or not _is_plain(memory):
        return "no"
    if memory.trust != "claimed":
        return "yes"
    own = memory.origin.who == asker.who and memory.origin.client == asker.client
    return "unverified" if own or at_symbol else "no"


def _is_plain(memory: Memory) -> bool:
    """Whether its words neither give orders to an agent nor hold what a reader cannot see."""
    words = (memory.text, memory.because, memory.detail, *memory.rejected)
    text = " ".join(words)
    if gives_orders(text):
        return False
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return True  # most often: what knows the characters that hide is not loaded then
    from hardwon.intake.shape import hides

    return not any(map(hides, words))
