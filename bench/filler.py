"""A store of a given size: real changes where there are some, mixed or invented ones beyond, and lessons on their files."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence

from hardwon.types import Anchor, Change, Draft, Outcome

_BEGIN = 1_500_000_000_000
_HOUR = 3_600_000
_VOCABULARY = 6_000
_STEMS = """
    read write parse lock cache token socket index retry header buffer queue stream digest timer path proxy event state pool
"""
_STEM_LIST = _STEMS.split()


def changes(real: Sequence[Change], count: int, seed: int) -> Iterator[Change]:
    """``count`` changes: the newest real ones; where they run out, first others put together from parts of real ones, or invented."""
    source = random.Random(seed)
    missing = max(0, count - len(real))
    first = real[0].at if real else _BEGIN + count * _HOUR
    for number in range(missing):
        at = first - (missing - number) * _HOUR
        yield _mixed(real, number, at, source) if real else _invented(number, at, source)
    yield from real[max(0, len(real) - count) :]


def _mixed(real: Sequence[Change], number: int, at: int, source: random.Random) -> Change:
    said, done = source.choice(real), source.choice(real)
    mixed: Change = done.replace(sha=_sha(number), at=at, subject=said.subject, body=said.body, relations=())
    return mixed


def _invented(number: int, at: int, source: random.Random) -> Change:
    words = [_word(source) for _ in range(70)]
    path = f"src/{words[0]}/{words[1]}.c"
    subject = f"{words[0]}: {words[1]} the {words[2]} before {words[3]}"
    body = " ".join(words[4:24])
    return Change(
        sha=_sha(number), at=at, subject=subject, body=body, author="A", files=(path,), functions=(f"int {words[24]}(void)",),
        added=tuple(words[25:60]), removed=tuple(words[60:]), lines_added=40, lines_removed=10,
    )  # fmt: skip


def _word(source: random.Random) -> str:
    """A few words are common and most are rare, as in code."""
    rank = int(_VOCABULARY ** source.random())
    return f"{_STEM_LIST[rank % len(_STEM_LIST)]}_{_STEM_LIST[rank // 7 % len(_STEM_LIST)]}{rank}"


def _sha(number: int) -> str:
    return hashlib.sha1(f"filler {number}".encode()).hexdigest()


def lessons(known: Sequence[Change], count: int, seed: int) -> Iterator[Draft]:
    """``count`` lessons on files and names of the changes."""
    source = random.Random(seed)
    named = [change for change in known if change.files and change.added]
    for number in range(count):
        change = source.choice(named)
        words = [source.choice(change.added) for _ in range(6)]
        text = f"{words[0]} fails when {words[1]} is {words[2]} (case {number})"
        anchor = Anchor(source.choice(change.files), source.choice(change.added))
        outcome: Outcome = "worked" if number % 4 == 0 else "failed"
        yield Draft(text, kind="lesson", outcome=outcome, detail=" ".join(words[3:]), anchors=(anchor,))
