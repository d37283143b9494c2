"""Terms, scores, ranks, blocks."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.search import ask, bm25f, opening, pack, place, rank, terms
from hardwon.types import Anchor, Change, Corpus, Document, Filter, Hit, Memory, Mode, Neighbour, Origin, Query, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardwon.engine.core import Engine

NOW = 1_800_000_000_000
DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loadUserName", ["load", "user", "name", "=loadusername"]),
        ("HTTPServerError", ["http", "server", "error", "=httpservererror"]),
        ("curl_easy_init", ["curl", "easy", "init", "=curl_easy_init"]),
        ("_private", ["private", "=_private"]),
        ("http2", ["http", "=http2"]),
        ("SHA256sum", ["sha", "256", "sum", "=sha256sum"]),
        ("the crash", ["crash"]),
        ("x", []),
        ("lib/url.c", ["lib", "url", "/lib/url.c"]),
        ("AuthService.validate", ["auth", "service", "=authservice", "validate", ".authservice.validate"]),
        ("Größe überlauf", ["grosse", "uberlauf"]),
        ("メモリ", ["メモ", "モリ"]),
        ("로그인 실패", ["로그", "그인", "실패"]),
        ("", []),
        ('"-*^()', []),
    ],
)
def test_text_gives_parts_wholes_and_names(text: str, expected: list[str]) -> None:
    assert terms.text_terms(text) == expected


@given(st.text(max_size=300))
def test_any_text_gives_lower_case_terms_without_spaces(text: str) -> None:
    for term in terms.text_terms(text):
        assert term and not term.isspace() and " " not in term
        assert len(term) <= 2 * terms._LONGEST + 2


@given(st.lists(st.sampled_from(range(6)), max_size=80))
def test_packed_counts_come_back(fields: list[int]) -> None:
    lexical = terms._pack([["word"] * fields.count(field) for field in range(6)], 0)
    counts = dict(terms.unpack(lexical.counts.get("word", 0)))
    assert counts == {field: min(fields.count(field), 31) for field in set(fields)}
    assert lexical.counts.get("word", 0) < 2**32
    assert lexical.lengths == tuple(fields.count(field) for field in range(6))


def test_a_change_is_indexed_field_by_field() -> None:
    change = Change(
        "a" * 40,
        0,
        "fix leak",
        "body words",
        files=("lib/url.c",),
        functions=("parse_url(x)",),
        added=("newName",),
        removed=("old",),
    )
    lexical = terms.of_change(change)
    assert terms.unpack(lexical.counts["leak"]) == [(terms.SUBJECT, 1)]
    assert terms.unpack(lexical.counts["url"]) == [(terms.PATH, 1), (terms.CONTEXT, 1)]
    assert terms.unpack(lexical.counts["=newname"]) == [(terms.ADDED, 1)]
    assert terms.unpack(lexical.counts["old"]) == [(terms.REMOVED, 1)]
    assert terms.unpack(lexical.counts[terms.path_term("lib/url.c")]) == [(terms.PATH, 1)]


def test_the_subject_of_a_question_counts_twice() -> None:
    question = ask.read(Query("leak\nbody word word"))
    weights = ask.weigh(question, 10_000, {"leak": 5, "body": 5, "word": 5})
    assert weights.scored["leak"] == pytest.approx(2 * weights.scored["body"])
    assert weights.scored["word"] == pytest.approx(weights.scored["body"] * 2**0.25)


def test_unknown_words_count_for_what_could_be_reached() -> None:
    known = ask.weigh(ask.read(Query("leak")), 10_000, {"leak": 5})
    unknown = ask.weigh(ask.read(Query("leak zzzqqq")), 10_000, {"leak": 5})
    assert unknown.scored.keys() == {"leak"}
    assert unknown.total > 2 * known.total


def test_common_words_choose_no_candidates_unless_there_is_nothing_else() -> None:
    weights = ask.weigh(ask.read(Query("rare common")), 10_000, {"rare": 3, "common": 5_000})
    assert set(weights.chosen) == {"rare"} and set(weights.scored) == {"rare", "common"}
    assert set(ask.weigh(ask.read(Query("common")), 10_000, {"common": 5_000}).chosen) == {"common"}


def document(counts: dict[str, int], lengths: tuple[int, ...] = (5, 20, 3, 4, 30, 10), at: int = NOW, size: int = 0) -> Document:
    return Document(1, at, size, lengths, counts)


def test_the_score_is_the_formula() -> None:
    means = (5.0, 20.0, 3.0, 4.0, 30.0, 10.0)  # every norm is 1
    parts = bm25f.words(document({"leak": 1 | 2 << 5}), {"leak": 3.0}, means)
    weighted = 1.5 * 1 + 0.5 * 2
    assert parts["leak"] == pytest.approx(3.0 * weighted / (2.0 + weighted))


def test_longer_fields_count_less() -> None:
    means = (5.0, 20.0, 3.0, 4.0, 30.0, 10.0)
    short = bm25f.words(document({"leak": 1}, (2, 0, 0, 0, 0, 0)), {"leak": 3.0}, means)
    long = bm25f.words(document({"leak": 1}, (50, 0, 0, 0, 0, 0)), {"leak": 3.0}, means)
    assert short["leak"] > long["leak"]


def test_age_and_size_are_mild_and_bounded() -> None:
    assert bm25f.age_factor(NOW, NOW) == 1 == bm25f.age_factor(NOW + DAY, NOW)
    assert bm25f.age_factor(NOW - 7 * DAY, NOW) == pytest.approx(2**-0.045)
    assert bm25f.size_factor(0) == 1
    assert bm25f.size_factor(10**9) == pytest.approx(exp(0.4), rel=1e-3)


def test_averages_of_an_empty_store_divide_nothing() -> None:
    assert bm25f.averages(Corpus(0, ())) == ()
    assert min(bm25f.averages(Corpus(3, (0, 9)))) > 0


@given(points=st.floats(-5, 200), possible=st.floats(0, 300))
def test_a_score_is_a_probability(points: float, possible: float) -> None:
    assert 0 < rank.probability(rank.word_odds(points, possible)) < 1


@given(points=st.floats(0.1, 100), more=st.floats(0, 100), possible=st.floats(1, 300))
def test_more_points_never_lower_the_odds(points: float, more: float, possible: float) -> None:
    assert rank.word_odds(points + more, possible) >= rank.word_odds(points, possible)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    ticks = iter(range(NOW, NOW + 10**6))
    made = hardwon.open_store(str(tmp_path / "a.db"), clock=lambda: next(ticks))
    yield made
    made.close()


def history(engine: Engine, *subjects: str, **more: Any) -> None:
    changes = [
        Change(
            f"{i:040x}", NOW - (i + 1) * DAY, subject, files=(f"src/file{i}.py",), added=(f"ident{i}Name",), lines_added=i, **more
        )
        for i, subject in enumerate(subjects)
    ]
    engine.add_changes(changes)


FILLER = tuple(f"unrelated work number {i} on topic{i}" for i in range(60))


def test_recall_finds_by_words_parts_and_identifiers(engine: Engine) -> None:
    history(engine, "retry uploads twice because the proxy drops them", *FILLER)
    for text in ("why do we retry uploads?", "proxy drops uploads", "ident0Name retry", "src/file0.py proxy"):
        answer = engine.recall(Query(text), Scope())
        assert answer.hits and answer.hits[0].memory.text.startswith("retry uploads"), text
        assert answer.hits[0].memory.anchors[0].path == "src/file0.py"


def test_a_store_of_one_memory_answers_and_is_silent(engine: Engine) -> None:
    history(engine, "retry uploads twice because the proxy drops them")
    assert engine.recall(Query("why do we retry uploads"), Scope()).hits
    assert engine.recall(Query("banana bread recipe"), Scope()).hits == ()


def test_recall_is_silent_when_nothing_fits(engine: Engine) -> None:
    history(engine, "retry uploads twice because the proxy drops them", *FILLER)
    for text in ("banana bread recipe with walnuts", "the of and", "", "zzz", "kubernetes ingress annotations"):
        answer = engine.recall(Query(text), Scope())
        assert (answer.hits, answer.block, answer.tokens) == ((), "", 0), text


def test_an_empty_store_is_silent(engine: Engine) -> None:
    assert engine.recall(Query("anything at all", file="a.py", symbol="A.b"), Scope()).hits == ()


def test_signals_add_up_and_name_the_words(engine: Engine) -> None:
    history(engine, "retry uploads twice because the proxy drops them", *FILLER)
    hit = engine.recall(Query("retry uploads proxy"), Scope()).hits[0]
    names = [signal.signal for signal in hit.why]
    assert "word retry" in names and "word proxy" in names and "age" in names
    weights = ask.weigh(ask.read(Query("retry uploads proxy")), 61, {"retry": 1, "uploads": 1, "proxy": 1})
    odds = rank.word_odds(sum(signal.points for signal in hit.why), weights.total)
    assert rank.probability(odds) == pytest.approx(hit.score)


def test_the_place_brings_its_own_candidates_and_adds_to_the_words(engine: Engine) -> None:
    history(engine, "retry uploads twice because the proxy drops them", *FILLER)
    places = (
        ("first of all", "src/file0.py", ""),
        ("second", "src/file0.py", "Upload.retry"),
        ("third", "src/other.py", "Upload.retry"),
    )
    for text, path, symbol in places:
        engine.record(hardwon.Draft(text, "lesson", "failed", anchors=(Anchor(path, symbol),)), Scope())

    def asked(**query: Any) -> list[tuple[str, list[str]]]:
        answer = engine.recall(Query(**query), Scope())
        return [
            (hit.memory.text, [signal.signal for signal in hit.why if not signal.signal.startswith("word")])
            for hit in answer.hits
        ]

    assert asked(symbol="Upload.retry")[:2] == [("third", ["symbol"]), ("second", ["symbol"])]
    assert [signals for _, signals in asked(symbol="Upload.retry", where=Filter(kinds=("change",)))] == [["touched file"]]
    assert [text for text, _ in asked(file="src/file0.py", symbol="Upload.retry")][:3] == ["third", "second", "first of all"]
    assert [text for text, _ in asked(text="banana bread", file="src/file0.py")] == ["second", "first of all"]
    assert asked(file="src/file0.py", where=Filter(kinds=("change",)))[0][1] == ["touched file"]
    (top, signals), *_ = asked(text="proxy drops uploads", file="src/file0.py", where=Filter(kinds=("change",)))
    assert top.startswith("retry") and "touched file" in signals


def test_kinds_and_tags_narrow(engine: Engine) -> None:
    history(engine, "retry uploads twice because the proxy drops them", *FILLER)
    assert engine.recall(Query("retry uploads", where=Filter(kinds=("lesson",))), Scope()).hits == ()
    assert engine.recall(Query("retry uploads", where=Filter(kinds=("change",))), Scope()).hits
    engine.record(hardwon.Draft("something else", tags=("x",)), Scope())
    assert engine.recall(Query("retry uploads", where=Filter(tags=("x",))), Scope()).hits == ()


def test_both_stores_rank_alike(tmp_path: Path) -> None:
    from hardwon.engine.core import Engine
    from hardwon.engine.opening import prepare
    from hardwon.store.memory import MemoryStore

    memory = MemoryStore()
    prepare(memory, "0" * 32, NOW, lambda n: b"r" * n)
    one = Engine(memory, "0" * 32, clock=lambda: NOW)
    other = hardwon.open_store(str(tmp_path / "a.db"), "0" * 32, clock=lambda: NOW)
    for engine in (one, other):
        history(engine, "retry uploads twice", "uploads fail behind a proxy", "retry the proxy", *FILLER)
    for text in ("retry uploads proxy", "topic7 work", "src/file1.py", "unrelated"):
        query = Query(text, floor=0.0, k=20)
        left, right = one.recall(query, Scope()), other.recall(query, Scope())
        assert left == right and left.hits, text
    other.close()


LETTERS = st.characters(codec="utf-8")


@settings(max_examples=200, deadline=None)
@given(text=st.text(LETTERS, max_size=200), budget=st.integers(20, 400))
def test_a_block_stays_within_its_budget_and_cannot_be_closed_from_inside(text: str, budget: int) -> None:
    memory = Memory("0" * 32, 1, "lesson", "failed", text, detail=f"</{pack.TAG}> {text} <{pack.TAG}>", created_at=NOW)
    block = pack.pack([Hit(memory, 0.5), Hit(memory, 0.4)], budget, Mode())
    assert block.tokens == pack.tokens(block.block) <= budget or not block.hits
    assert len(block.hits) + block.left_out == 2
    if block.hits:
        assert block.block.count(f"</{pack.TAG}>") == 1 and block.block.endswith(f"</{pack.TAG}>")
        assert block.block.count(f"<{pack.TAG}") == 1


def test_a_block_names_id_origin_and_trust() -> None:
    memory = Memory(
        "0" * 32, 12, "lesson", "failed", "JWT expiry", detail="check first", anchors=(Anchor("a.py", "A.b"),), created_at=NOW, seen=3,
        origin=Origin("agent", "codex"),
    )  # fmt: skip
    line = pack.describe(memory)
    for part in ("#12", "lesson failed", "A.b", "2027-01-15", "seen 3x", "agent, unverified", "JWT expiry", "    check first"):
        assert part in line


def lesson(number: int, **changes: Any) -> Memory:
    base = Memory(
        f"{number:032x}", number, "lesson", "failed", f"l{number}", anchors=(Anchor("a.py", "A.run"),), updated_at=number
    )
    return base.replace(**changes)


def chosen(
    written: list[Memory], symbol: str = "A.run", path: str = "a.py", verdict: Any = lambda memory, at: "yes"
) -> list[int | None]:
    return [hit.memory.number for hit in place.choose(written, [], [Neighbour(path, symbol, 1.0, "")], verdict, 3)]


def test_before_puts_failures_and_the_symbol_first() -> None:
    written = [
        lesson(1, outcome="worked"),
        lesson(2),
        lesson(3, anchors=(Anchor("a.py"),)),
        lesson(4),
        lesson(5, anchors=(Anchor("a.py", "A.other"),)),
    ]
    assert chosen(written) == [4, 2, 1, 3]
    assert chosen(written, symbol="") == [5, 4, 3, 2, 1]


def test_before_obeys_the_verdict_and_bounds_the_unverified() -> None:
    written = [lesson(n, anchors=(Anchor("a.py"),)) for n in range(1, 7)]
    assert chosen(written, verdict=lambda memory, at: "no") == []
    assert len(chosen(written, verdict=lambda memory, at: "unverified")) == 3
    assert len(chosen([lesson(n) for n in range(1, 7)], verdict=lambda memory, at: "unverified")) == 6


def test_brief_shows_the_last_run_whatever_its_trust_and_each_memory_once() -> None:
    material = opening.Material(
        rules=(lesson(1, kind="rule"),), attempts=(lesson(2, kind="attempt"),), summaries=(lesson(3, kind="summary"),),
        lessons=tuple(lesson(n) for n in (4, 5, 6, 7, 4)), taken_back=(),
    )  # fmt: skip
    said = opening.choose(material, lambda memory: "unverified" if memory.kind != "rule" else "no", 3)
    assert [hit.memory.number for hit in said] == [3, 2, 4, 5, 6]
