"""What an erasure leaves of a memory, and which words it keeps out afterwards. Pure."""

from __future__ import annotations

from hardwon.errors import InvalidInput
from hardwon.intake.shape import fold
from hardwon.types import REASONS, STATUSES, Filter
from hardwon.upkeep.purge import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.types import Draft, Memory, Who

# Fewer words say nothing without their place: "worked", which is erased at one symbol, may be said of another.
_TELLING = 3
# Of these the text is a heading: two commits that "Fix a typo" are not the same.
_HEADED = ("change", "doc")


def erasable(where: Filter) -> Filter:
    """The filter of what may be erased by it: as for a forgetting, but whatever its status. InvalidInput where it names nothing."""
    wanted: Filter = meant(where).replace(statuses=STATUSES)
    return wanted


def check(reason: str, who: Who) -> None:
    """InvalidInput for a reason that is no code, and for anybody but a person."""
    if reason not in REASONS:
        raise InvalidInput("the reason of an erasure is a code", field="reason", remedy=f"one of: {', '.join(REASONS)}")
    if who != "person":
        raise InvalidInput(
            "only a person can erase: it cannot be undone",
            field="who",
            remedy="forget it (`hardwon forget ID`), and ask them to run `hardwon forget --erase ID` in a terminal of their own",
        )


def emptied(memory: Memory) -> Memory:
    """What is left of a memory: that it was there, when, and by whom."""
    left: Memory = memory.replace(
        text="", detail="", code="", because="", rejected=(), anchors=(), tags=(), metadata="", author="", branch="",
        status="forgotten",
    )  # fmt: skip
    return left


def saying(words: Draft | Memory) -> str:
    """The form in which words are recognised again: folded as twins are. Of a passage it is the body, for its heading names the file;
    of a commit the whole message; words that are too few to say anything by themselves go with their place."""
    if words.kind == "doc" and _tells(words.detail):
        return fold(words.detail)
    if words.kind in _HEADED and words.detail:
        return _whole(words)
    text = fold(words.text)
    if _tells(text):
        return text
    return "\0".join((text, *(part for anchor in words.anchors for part in (anchor.path, anchor.symbol))))


def sayings(contents: Iterable[Memory]) -> set[str]:
    """Every form in which the words of a memory (its versions) could come back: as a note, as a commit, as a passage."""
    found = set()
    for words in contents:
        if words.text:
            found |= {saying(words), _whole(words)}
            if _tells(words.text):
                found.add(fold(words.text))
    return found


def _tells(text: str) -> bool:
    return len(text.split()) >= _TELLING


def _whole(words: Draft | Memory) -> str:
    return f"{fold(words.text)}\n{fold(words.detail)}".rstrip("\n")
