"""Cleaning of what is recorded: one form of line ends and accents, nothing that a reader cannot see, and no field too long.

Hidden characters carry instructions past the person who approves a memory, so they go before anything is stored; escape
sequences of terminals go whole. Plain printable ASCII, which is nearly everything, passes without a single pattern.
"""

from __future__ import annotations

from hardwon.errors import InvalidInput
from hardwon.types import KINDS, OUTCOMES, VISIBILITIES, Anchor, Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    T = TypeVar("T")

# The most characters of each field. A text of several lines may be longer: all but its first line becomes detail.
LIMITS = {
    "text": 2_000, "detail": 20_000, "code": 50_000, "because": 4_000, "rejected": 2_000, "tag": 64, "session": 200,
    "path": 1_000, "symbol": 300, "commit": 200, "blob": 200, "fingerprint": 200, "metadata": 50_000,
}  # fmt: skip
_ONE_LINE = frozenset(("tag", "session", "path", "symbol", "commit", "blob", "fingerprint"))
_REQUIRED = frozenset(("text",))

_FAR = 253_402_300_800_000  # the year 10000
_LINE_ENDS = ("\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")
# A control sequence, a string (title, link) with its end, or one of the short sequences; a lone introducer at last.
_ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-~]|[\x1b\x90\x98\x9b-\x9f]"
)
_CONTROLS = frozenset("\x1b" + "".join(map(chr, range(0x80, 0xA0))))
_JOINERS = "\u200c\u200d"  # zero-width, yet part of the spelling in Persian or Hindi, and of composed emoji
_STYLES = "\ufe0e\ufe0f"  # choose the text or the emoji form of the character before
# Invisible, though Unicode does not count them as format characters: fillers of Hangul and Khmer, the grapheme joiner, selectors
# of variants (which can carry bytes), what is reserved for tags.
_HIDDEN = (
    ("\u034f", "\u034f"), ("\u115f", "\u1160"), ("\u17b4", "\u17b5"), ("\u180b", "\u180f"), ("\u2060", "\u206f"), ("\u3164", "\u3164"),
    ("\ufdd0", "\ufdef"), ("\ufe00", "\ufe0f"), ("\uffa0", "\uffa0"), ("\ufff0", "\ufffb"), ("\ufffe", "\uffff"),
    ("\U000e0000", "\U000e0fff"),
)  # fmt: skip
# Format characters that are seen: they enclose the numbers after them.
_SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")


def clean_text(text: str, field: str, limit: int) -> str:
    """``text`` without what cannot be seen, its ends stripped (of ``code`` only blank lines: its first line may be indented).

    InvalidInput, naming the field, where it is no text, longer than ``limit`` characters, or empty though it is required.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{field} must be text, not {type(text).__name__}", field=field, remedy="give it as a string")
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        text = _visible(text)
    text = _strip_blank_lines(text) if field == "code" else text.strip()
    if not text and field in _REQUIRED:
        raise InvalidInput(f"{field} is empty", field=field, remedy="say what was learnt, in one sentence")
    if len(text) > limit:
        raise InvalidInput(
            f"{field} has {len(text):,} characters; the most is {limit:,}", field=field, remedy=_SHORTEN.get(field, "shorten it")
        )
    if "\n" in text and field in _ONE_LINE:
        raise InvalidInput(f"{field} must be one line", field=field, remedy="leave the line breaks out")
    return text


_SHORTEN = {
    "text": "say it in one sentence and put the rest into detail",
    "detail": "keep what a reader needs, and name the file or commit for the rest",
    "code": "keep the lines that matter",
}


def shape(draft: Draft) -> Draft:
    """The draft, cleaned: see ``clean_text``. Of a text of several lines the first stays, the others go before the detail.

    Tags become lower case; empty and repeated tags, rejected values and anchors are dropped, the order is kept.
    """
    text, detail = _headline(draft)
    changes = {
        "text": text,
        "kind": _word("kind", draft.kind, KINDS),
        "outcome": draft.outcome if draft.outcome is None else _word("outcome", draft.outcome, OUTCOMES),
        "detail": detail,
        "code": _field("code", draft.code),
        "because": _field("because", draft.because),
        "rejected": _each(_field("rejected", value) for value in _many("rejected", draft.rejected)),
        "anchors": _each(_anchor(anchor) for anchor in _many("anchors", draft.anchors)),
        "tags": _each(_tag(tag) for tag in _many("tags", draft.tags)),
        "visibility": _word("visibility", draft.visibility, VISIBILITIES),
        "session": _field("session", draft.session),
        "metadata": _metadata(draft.metadata),
    }
    if draft.expires_at is not None and not 0 < draft.expires_at < _FAR:
        raise InvalidInput("expires_at is not a time in milliseconds", field="expires_at", remedy="give milliseconds since 1970")
    shaped: Draft = draft.replace(**changes)
    return shaped


def fold(text: str) -> str:
    """The form in which twins are compared: without case, each run of white space one space. Digits stay: they tell apart."""
    return " ".join(text.casefold().split())


def _field(name: str, text: str) -> str:
    return clean_text(text, name, LIMITS[name])


def _headline(draft: Draft) -> tuple[str, str]:
    """The first line of the text, and the detail with the other lines before it."""
    whole = clean_text(draft.text, "text", LIMITS["text"] + LIMITS["detail"])
    first, _, rest = whole.partition("\n")
    detail = _field("detail", draft.detail)
    if rest:
        detail = _field("detail", rest.strip("\n") + ("\n\n" + detail if detail else ""))
    return _field("text", first), detail


def _metadata(text: str) -> str:
    """The caller's own data in one spelling: a JSON object, its keys sorted; "" for none."""
    if not text:
        return ""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"metadata is no JSON: {error}", field="metadata", remedy='give an object, such as {"run": 7}'
        ) from error
    if not isinstance(value, dict):
        raise InvalidInput("metadata is no JSON object", field="metadata", remedy='give an object, such as {"run": 7}')
    plain = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=True)
    return _field("metadata", plain) if value else ""


def _tag(tag: str) -> str:
    """A tag of letters, digits and ``._:/-``, in lower case."""
    tag = _field("tag", tag).lower()
    if not all(char.isalnum() or char in "._:/-" or (char > "\u02ff" and _joins(char)) for char in tag):
        raise InvalidInput(f"tag {tag!r} has other characters than letters, digits and ._:/-", field="tag", remedy="rename it")
    return tag


def _anchor(anchor: Anchor) -> Anchor | None:
    """The anchor with its parts cleaned; None where it names nothing."""
    if not isinstance(anchor, Anchor):
        raise InvalidInput(f"anchors must be anchors, not {type(anchor).__name__}", field="anchors", remedy="give Anchor(path=…)")
    parts = {name: _field(name, getattr(anchor, name)) for name in ("path", "symbol", "commit", "blob", "fingerprint")}
    if not (parts["path"] or parts["symbol"] or parts["commit"]):
        return None
    cleaned: Anchor = anchor.replace(**parts)
    return cleaned


def _each(values: Iterable[T]) -> tuple[T, ...]:
    """The values that say something, each once."""
    return tuple(dict.fromkeys(value for value in values if value))


def _many(name: str, values: tuple[T, ...]) -> tuple[T, ...]:
    """The values of a field that holds several; one string is refused, for it would count as its letters."""
    if not isinstance(values, tuple | list):
        raise InvalidInput(f"{name} must be several values, not {type(values).__name__}", field=name, remedy="give a list")
    return tuple(values)


def _word(name: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise InvalidInput(f"{name} cannot be {word!r}", field=name, remedy=f"one of: {', '.join(words)}")
    return word


def _strip_blank_lines(text: str) -> str:
    lines = text.rstrip().split("\n")
    first = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:])


# --- what cannot be seen --------------------------------------------------------------------------------------------------


def _visible(text: str) -> str:
    """The text with plain line ends, without controls, escapes, hidden and direction-changing characters; NFC."""
    if not _CONTROLS.isdisjoint(text):
        import re

        text = re.sub(_ESCAPES, "", text)
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    if text.isascii():
        return "".join(char for char in text if char.isprintable() or char in "\n\t")
    from unicodedata import normalize

    text = _paired(text)
    if any(map(_is_hidden, set(text))):
        text = _seen(text)
    return normalize("NFC", text)


def _paired(text: str) -> str:
    """The text with halves of pairs joined, and those without another half replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _seen(text: str) -> str:
    """The characters that a reader can see, and the joiners and styles that shape their neighbours."""
    kept: list[str] = []
    for place, char in enumerate(text):
        if not _is_hidden(char) or (kept and _shapes(char, kept[-1], text[place + 1 : place + 2])):
            kept.append(char)
    return "".join(kept)


def hides(text: str) -> bool:
    """Whether a text holds what a reader cannot see: of what was kept before there were today's rules, and of what git tells."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return any(map(_is_hidden, set(text))) and _seen(text) != text


def _is_hidden(char: str) -> bool:
    """Whether a character leaves no trace of its own, or only turns the direction of the others."""
    if char < "\x7f":
        return char < " " and char not in "\n\t"
    from unicodedata import category

    if any(first <= char <= last for first, last in _HIDDEN):
        return True
    return category(char) in ("Cc", "Cf") and char not in _SEEN


def _shapes(char: str, before: str, after: str) -> bool:
    """Whether a hidden character has a meaning between its neighbours: a joiner within a word or an emoji, a style after one."""
    from unicodedata import category

    if char in _JOINERS:
        return (_joins(before) or before in _STYLES) and _joins(after)
    if char in _STYLES:
        return category(before) in ("So", "Sm", "Po") or (before in "0123456789#*" and after == "\u20e3")
    return False


def _joins(char: str) -> bool:
    """Whether a joiner has a meaning beside this character: letters and marks of scripts other than Latin, and emoji."""
    from unicodedata import category

    return char > "\u02ff" and (category(char)[0] in "LM" or category(char) in ("So", "Sk")) and not _is_hidden(char)
