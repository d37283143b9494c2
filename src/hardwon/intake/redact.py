"""The quick rules: each secret in a text becomes ``[redacted:KIND]`` before anything of it is written.

Four rules look at a text, each a generator of spans ``(start, end, kind)`` with a module of its own: shapes of vendors' tokens
(``vendor_tokens``), credentials in URLs and commands (``credentials``), a secret-like name followed by a value, prose included
(``named_secrets``), and words that look random (``random_words``). Names found in ordinary talk ("the token is expired") are the
hard part; ``candidates`` and ``stop_words`` hold what was learnt about it.

Every commit message of a repository passes here, and so does the quick path: neither a rule nor ``re`` is imported, and nothing
is compiled, before a cheap look (``in``) has found a reason. Every pattern is anchored or bounded, so that hostile input costs
linear time.
"""

from __future__ import annotations

from hardwon.intake.patterns import CLOSERS, LONG_WORD, MARK, MARKED, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span
    from hardwon.types import Draft

_ODD = r"[0-9]|[a-z][A-Z]+[a-z]{1,2}[A-Z]"
_NO_HEX = r"[g-zG-Z]"
_UNBROKEN = r"[A-Za-z0-9_-]{20,}"


def redact(text: str) -> tuple[str, int]:
    """``text`` with each secret replaced by ``[redacted:KIND]``, and how many were replaced.

    Idempotent, because it goes on until nothing more is found: taking one secret out can uncover another, and each round
    strictly shrinks what lies outside the marks.
    """
    total = 0
    while spans := _merge(text, _spans(text)):
        total += len(spans)
        parts: list[str] = []
        at = 0
        for start, end, kind in spans:
            parts += (text[at:start], MARK, kind, "]")
            at = end
        text = "".join(parts) + text[at:]
    return text, total


def redact_draft(draft: Draft) -> tuple[Draft, int]:
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
        anchors=tuple(anchor.replace(path=clean(anchor.path), symbol=clean(anchor.symbol)) for anchor in draft.anchors),
        tags=tuple("redacted" if clean(tag) != tag else tag for tag in draft.tags),
        session=clean(draft.session),
    )
    return redacted, count


def _spans(text: str) -> list[Span]:
    """What all rules find; the first one to find a place names its kind."""
    spans: list[Span] = []
    words = [word for word in text.split() if len(word) >= LONG_WORD]
    if words:
        odd, letter, unbroken = compiled(_ODD).search, compiled(_NO_HEX).search, compiled(_UNBROKEN).search
        words = [word for word in words if odd(word) and letter(word)]
        tokens = [word for word in words if unbroken(word)]
        if tokens:
            from hardwon.intake.vendor_tokens import vendor_tokens

            spans += vendor_tokens(text, " ".join(tokens))
    if "-----BEGIN" in text and "PRIVATE KEY" in text:
        from hardwon.intake.vendor_tokens import private_keys

        spans += private_keys(text)
    if "://" in text and ("@" in text or "?" in text):
        from hardwon.intake.credentials import url_credentials

        spans += url_credentials(text)
    if " -u " in text or "-user" in text or "sshpass" in text:
        from hardwon.intake.credentials import command_credentials

        spans += command_credentials(text)
    low = text.lower()
    if (
        "pass" in low or "token" in low or "key" in low or "secret" in low or "pw" in low or "bearer" in low
        or "authorization" in low or "cred" in low
    ):  # fmt: skip
        from hardwon.intake.named_secrets import named_secrets

        if len(low) != len(text):  # a few letters grow when lowered; positions must stay
            low = "".join(small if len(small := char.lower()) == 1 else char for char in text)
        spans += named_secrets(text, low)
    if words:
        from hardwon.intake.random_words import random_words

        spans += random_words(text, words)
    return spans


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
