"""The quick rules: each secret in a text becomes ``[redacted:KIND]`` before anything of it is written.

Rules look at a text, each a generator of spans ``(start, end, kind)``: shapes of vendors' tokens (``vendor_tokens``), credentials
in URLs, commands and the forms of programs (``credentials``, ``stored_credentials``), a secret-like name followed by a value,
prose included (``named_secrets``, ``other_languages``), and words that look random (``random_words``). Names found in ordinary
talk ("the token is expired") are the hard part; ``candidates`` and ``stop_words`` hold what was learnt about it. What somebody
marked as ``<private>`` goes first (``private``).

Every commit message of a repository passes here, and so does the quick path: neither a rule nor ``re`` is imported, and nothing
is compiled, before a cheap look (``in``) has found a reason. Every pattern is anchored or bounded, so that hostile input costs
linear time.
"""

from __future__ import annotations

from hardwon.intake.patterns import CLOSERS, LONG_WORD, MARK, MARKED, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hardwon.intake.patterns import Span
    from hardwon.types import Draft

_ODD = r"[0-9]|[a-z][A-Z]+[a-z]{1,2}[A-Z]|A[KSBC][IC]A[A-Z2-7]{16}"
_NO_HEX = r"[g-zG-Z]"
_UNBROKEN = r"[A-Za-z0-9_-]{20,}"
# For the look at long words before any pattern is compiled: what stands between the parts of a path or a call, signs of made-up
# passwords, and the least letters of a part in one case, of a part in both, and of all such parts, that a random word has.
_APART = str.maketrans(dict.fromkeys("+/.:=,;()[]{}<>|\"'`\\", " "))
_SCRAMBLING = "!#$%^&*@?~"
_PART, _MIXED_PART, _PARTS = 14, 5, 16
# Words that every report of tests holds, and that are no name of a secret.
_PASSING = ("passed", "passes", "passing")
RANDOM = f"{MARK}high-entropy]"
_ANCHOR = ("path", "symbol", "commit", "blob", "fingerprint")


def redact(text: str, scan: Callable[[str], list[Span]] | None = None) -> tuple[str, int]:
    """``text`` with each secret and each private span replaced by ``[redacted:KIND]``, and how many were replaced.

    ``scan`` finds more than the quick rules do (``bulk``). Idempotent, because it goes on until nothing more is found: taking one
    secret out can uncover another, and each round strictly shrinks what lies outside the marks.
    """
    total = 0
    if "<" in text and "private" in text.lower():
        from hardwon.intake.private import without_private

        text, total = without_private(text)
    while spans := _merge(text, _spans(text) + scan(text) if scan else _spans(text)):
        total += len(spans)
        parts: list[str] = []
        at = 0
        for start, end, kind in spans:
            parts += (text[at:start], MARK, kind, "]")
            at = end
        text = "".join(parts) + text[at:]
    return text, total


def redact_branch(name: str, redact: Callable[[str], tuple[str, int]] = redact) -> str:
    """A branch's name without secrets. A word that only looks random is none: agents end the names of their branches so, and without
    it all of those would be one branch, whose memories everybody sees."""
    clean = redact(name)[0] if name else ""
    return clean if MARK in clean.replace(RANDOM, "") else name


def redact_draft(draft: Draft, redact: Callable[[str], tuple[str, int]] = redact) -> tuple[Draft, int]:
    """The draft without secrets, and how many there were. What is no text is left for ``shape`` to refuse."""
    count = 0

    def clean(text: str) -> str:
        nonlocal count
        if not isinstance(text, str):
            return text
        cleaned, found = redact(text)
        count += found
        return cleaned

    redacted: Draft = draft.replace(
        text=clean(draft.text),
        detail=clean(draft.detail),
        code=clean(draft.code),
        because=clean(draft.because),
        rejected=tuple(map(clean, draft.rejected)),
        anchors=tuple(anchor.replace(**{name: clean(getattr(anchor, name)) for name in _ANCHOR}) for anchor in draft.anchors),
        tags=tuple("redacted" if clean(tag) != tag else tag for tag in draft.tags),
        session=clean(draft.session),
        metadata=_in_json(draft.metadata, clean) if draft.metadata else "",
    )
    return redacted, count


def _in_json(text: str, clean: Callable[[str], str]) -> str:
    """A JSON text whose strings are clean: one by one, and each with its key before it, so that the text stays JSON. What is none
    is cleaned as it is, for ``shape`` to refuse."""
    import json

    def walk(value: object, key: str) -> object:
        if isinstance(value, dict):
            return {clean(name): walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        head = f"{key}="
        if isinstance(value, int) and not isinstance(value, bool):
            named = clean(f"{head}{value}")
            return named.removeprefix(head) if named.startswith(head) and named != f"{head}{value}" else value
        if not isinstance(value, str):
            return value
        named = clean(head + value) if key else clean(value)
        return named.removeprefix(head) if named.startswith(head) else named

    try:
        return json.dumps(walk(json.loads(text), ""), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return clean(text)


def _spans(text: str) -> list[Span]:
    """What all rules find; the first one to find a place names its kind."""
    spans: list[Span] = []
    words = [word for word in text.split() if len(word) >= LONG_WORD and _may_be_token(word)]
    if words:
        odd = compiled(_ODD).search
        words = [word for word in words if odd(word) and compiled(_NO_HEX).search(word)]
    if words:
        unbroken = compiled(_UNBROKEN).search
        tokens = [word for word in words if unbroken(word)]
        if tokens:
            from hardwon.intake.vendor_tokens import vendor_tokens

            spans += vendor_tokens(text, " ".join(tokens))
    if "-" in text and "-----BEGIN" in text and ("PRIVATE KEY" in text or "Static key" in text):
        from hardwon.intake.vendor_tokens import private_keys

        spans += private_keys(text)
    if ":" in text and "://" in text and ("@" in text or "?" in text):
        from hardwon.intake.credentials import url_credentials

        spans += url_credentials(text)
    _named_spans(text, spans)
    if words:
        from hardwon.intake.random_words import random_words

        spans += random_words(text, words)
    return spans


def _may_be_token(word: str) -> bool:
    """Whether a long word may be a token or look random; quick, and never wrong with no: paths and names of code are none."""
    if not word.isascii() or any(sign in word for sign in _SCRAMBLING):
        return True
    if word == word.lower() and not any(map(str.isdigit, word)):
        return False
    parts = [part for part in word.translate(_APART).split() if len(part) >= _MIXED_PART]
    return sum(len(part) for part in parts if len(part) >= _PART or part.lower() != part != part.upper()) >= _PARTS


def _named_spans(text: str, spans: list[Span]) -> None:
    """Add what a word beside it gives away: options of commands, forms of programs, names in English and in other languages."""
    low = text.lower()
    if len(low) != len(text):  # a few letters grow when lowered; positions must stay
        low = "".join(small if len(small := char.lower()) == 1 else char for char in text)
    if " -" in text and (" -u " in text or "-user" in text or " -p" in text):
        from hardwon.intake.credentials import command_credentials

        spans += command_credentials(text)
    auth = "auth" in low
    if (
        ("/" in low and "login " in low)
        or (auth and (('"' in low and 'auth"' in low) or ("_" in low and "_auth" in low)))
        or (low.count(":") > 3 and ":5432:" in low)
        or ("'" in low and "identified by" in low)
    ):
        from hardwon.intake.stored_credentials import stored_credentials

        spans += stored_credentials(text, low)
    if "=" in low and "cookie" in low:
        from hardwon.intake.stored_credentials import cookies

        spans += cookies(text, low)
    if not text.isascii():
        from hardwon.intake.other_languages import foreign_passwords

        spans += foreign_passwords(text, low)
    if (
        low.count("pass") > sum(map(low.count, _PASSING)) or "token" in low or "key" in low or "secret" in low or "pw" in low
        or ("b" in low and "bearer" in low) or (auth and "authorization" in low) or "cred" in low
    ):  # fmt: skip
        from hardwon.intake.named_secrets import named_secrets

        spans += named_secrets(text, low)


def _merge(text: str, spans: list[Span]) -> list[Span]:
    """Disjoint spans in order; where some overlap, the one found first names the kind.

    A mark is swallowed whole by a span that touches it; a span that holds nothing else is no find.
    """
    if not spans:
        return spans
    marks = [m.span() for m in compiled(MARKED).finditer(text)] if MARK in text else []
    merged: list[tuple[int, int, int]] = []  # start, end, place in spans
    for start, end, place in sorted(_widened(spans, marks)):
        if merged and start < merged[-1][1]:
            first, last, earlier = merged[-1]
            merged[-1] = (first, max(last, end), min(place, earlier))
        elif not marks or compiled(MARKED).sub("", text[start:end]).strip(CLOSERS):
            merged.append((start, end, place))
    return [(start, end, spans[place][2]) for start, end, place in merged]


def _widened(spans: list[Span], marks: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """The spans, each widened to whole marks, with its place in the list instead of its kind."""
    from bisect import bisect_left

    starts = [start for start, _ in marks]
    for place, (start, end, _) in enumerate(spans):
        wide = [start, end]
        for at in (start, end):
            mark = bisect_left(starts, at) - 1
            if mark >= 0 and at < marks[mark][1]:
                wide = [min(wide[0], marks[mark][0]), max(wide[1], marks[mark][1])]
        yield wide[0], wide[1], place
