"""What every store engine promises; the same suite runs on each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.store.ids import uuid5, uuid7
from hardwon.store.journal import GENESIS
from hardwon.store.memory import MemoryStore
from hardwon.store.rows import decode_list, decode_postings, encode_list, encode_postings, find_counts
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Change, Filter, Lexical, Memory, Occurrence, Origin, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.store.base import Store, Writer

AGENT = Origin("agent", "codex", "s1", "cli")
LENGTHS = (1, 2, 0, 0, 0, 0)


def an_id(number: int) -> str:
    return uuid7(1_000 + number, number.to_bytes(10, "big"))


def lesson(number: int, **changes: Any) -> Memory:
    base = Memory(an_id(number), number, "lesson", "failed", f"lesson {number}", origin=AGENT, created_at=1_000 + number)
    return base.replace(**{"anchors": (Anchor("a.py", "A.run"),), **changes})


def keep(writer: Writer, memory: Memory, *terms: str) -> None:
    writer.put(memory, memory.text.encode()[:16], Lexical(dict.fromkeys(terms, 1), LENGTHS))
    event = writer.log("created", memory, memory.origin, memory.created_at, b"salt" * 4)
    writer.occur(Occurrence(memory.id, memory.created_at, memory.outcome, "active", memory.origin), event.seq)


def change(sha: str, at: int, *relations: Relation, **more: Any) -> tuple[Memory, Change, Lexical]:
    value = Change(sha, at, f"subject {sha[:7]}", "body", "Ann", "main", relations=relations, **more)
    memory = Memory(
        uuid5("0" * 32, sha),
        None,
        "change",
        None,
        value.subject,
        trust="history",
        commit=sha,
        created_at=at,
        origin=Origin("history"),
    )
    return memory, value, Lexical({"word": 1, sha[:7]: 1}, LENGTHS, 7)


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Store]:
    made: Store = SqliteStore(str(tmp_path / "stores" / "a.db")) if request.param == "sqlite" else MemoryStore()
    with made.write() as writer:
        writer.set_setting("replica", "here")
    yield made
    made.close()


def test_what_was_put_comes_back_with_the_same_types(store: Store) -> None:
    memory = lesson(1, tags=("a", "b"), rejected=("x",), detail="d\nd", code="c", because="b", expires_at=9, replaced_by=an_id(2))
    with store.write() as writer:
        keep(writer, memory, "one")
    with store.read() as reader:
        (found,) = reader.get([memory.id])
    assert found == memory
    assert {name: type(value) for name, value in vars(found).items()} == {
        name: type(value) for name, value in vars(memory).items()
    }
    assert hash(found) == hash(memory)


def test_unknown_ids_are_left_out_and_order_is_kept(store: Store) -> None:
    with store.write() as writer:
        for number in (1, 2, 3):
            keep(writer, lesson(number), "one")
    with store.read() as reader:
        assert [memory.number for memory in reader.get([an_id(3), an_id(9), an_id(1)])] == [3, 1]


def test_an_exception_leaves_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write() as writer:
        keep(writer, lesson(1), "one")
        _ = 1 / 0
    with store.read() as reader:
        assert reader.figures()["memories"] == reader.figures()["events"] == 0
        assert reader.frequencies(["one"]) == {}
    with store.write() as writer:
        keep(writer, lesson(2), "one")
    with store.read() as reader:
        assert reader.frequencies(["one"]) == {"one": 1}


def test_a_view_keeps_what_it_began_with(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
    with store.read() as before:
        before.figures()
        with store.write() as writer:
            keep(writer, lesson(2), "one")
        assert before.figures()["memories"] == 1
    with store.read() as after:
        assert after.figures()["memories"] == 2


def test_a_view_inside_a_view_sees_the_same(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
    with store.read() as outer:
        assert outer.figures()["memories"] == 1
        with store.read() as inner:
            assert inner.figures()["memories"] == 1
        assert outer.get([an_id(1)]) == [lesson(1)]
    with store.write() as writer:
        keep(writer, lesson(2), "one")
    with store.read() as reader:
        assert reader.figures()["memories"] == 2


def test_a_writer_reads_its_own_writes(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one", "two")
        assert writer.frequencies(["one", "two", "three"]) == {"one": 1, "two": 1}
        assert writer.corpus().documents == 1
        assert writer.twin(b"lesson 1") == lesson(1)


def test_numbers_are_never_given_twice(store: Store) -> None:
    with store.write() as writer:
        first = [writer.next_number() for _ in range(3)]
    with pytest.raises(KeyError), store.write() as writer:
        writer.next_number()
        raise KeyError
    with store.write() as writer:
        assert [*first, writer.next_number()] == [1, 2, 3, 4]


def test_the_journal_is_a_chain(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
        keep(writer, lesson(2), "one")
    with store.write() as writer:
        writer.log("status", lesson(1), AGENT, 500, payload="active>resolved")
    with store.read() as reader:
        events = reader.events()
        assert [event.previous for event in events] == [GENESIS, events[0].hash, events[1].hash]
        assert [event.replica_seq for event in events] == [1, 2, 3]
        assert reader.events(an_id(1)) == [events[0], events[2]]
        assert reader.events(after=events[0].seq, limit=1) == [events[1]]


def test_the_clock_never_goes_back(store: Store) -> None:
    with store.write() as writer:
        clocks = [writer.log("status", lesson(1), AGENT, at).clock for at in (5_000, 4_000, 5_000, 0, 6_000)]
    assert clocks == sorted(set(clocks))


def test_versions_tell_when_they_were_believed(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
        newer = lesson(1, detail="more", version=2)
        writer.put(newer, lexical=Lexical({"more": 1}, LENGTHS))
        writer.log("repeated", newer, AGENT, 2_000, b"salt")
    with store.read() as reader:
        versions = reader.versions(an_id(1))
        assert [(v.version, v.content.detail, v.recorded_at, v.superseded_at) for v in versions] == [
            (1, "", 1_001, 2_000),
            (2, "more", 2_000, None),
        ]
        assert versions[0].content.anchors == lesson(1).anchors
        assert reader.frequencies(["one", "more"]) == {"more": 1}


def test_occurrences_are_settled_by_their_events(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
        event = writer.log("repeated", lesson(1), AGENT, 2_000)
        writer.occur(Occurrence(an_id(1), 2_000, "failed", "active", AGENT), event.seq)
        writer.settle_occurrences(an_id(1), {1: "resolved"})
        assert [item.status for item in writer.occurrences(an_id(1))] == ["resolved", "active"]
        writer.settle_occurrences(an_id(2), {event.seq: "resolved"})
        assert [item.status for item in writer.occurrences(an_id(1))] == ["resolved", "active"]


def test_experiences_match_a_part_of_the_symbol_literally(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
        keep(writer, lesson(2, anchors=(Anchor("b.py", "B%_run"),), outcome="worked"), "one")
        keep(writer, lesson(3, status="forgotten"), "one")
        keep(writer, lesson(4, kind="fact", outcome=None), "one")
    with store.read() as reader:
        assert [e.symbol for e in reader.experiences("RUN", "", False)] == ["A.run", "B%_run"]
        assert [e.symbol for e in reader.experiences("%", "", False)] == ["B%_run"]
        assert [e.symbol for e in reader.experiences("a.run", "", True)] == []
        assert [e.symbol for e in reader.experiences("", "b.py", False)] == ["B%_run"]


def test_lookup_knows_numbers_ids_and_commits(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "one")
        writer.add_change(*change("abcdef1234" + "0" * 30, 5))
        writer.add_change(*change("abcdef1299" + "0" * 30, 6))
    with store.read() as reader:
        commit = uuid5("0" * 32, "abcdef1234" + "0" * 30)
        assert (
            reader.lookup("1") == reader.lookup("#1") == reader.lookup(an_id(1)) == reader.lookup(an_id(1).upper()) == [an_id(1)]
        )
        assert reader.lookup("abcdef1234") == [commit]
        assert len(reader.lookup("abcdef12")) == 2
        assert reader.lookup("999") == reader.lookup("fffffff") == []


def test_changes_are_kept_once_and_tied_by_hash_or_number(store: Store) -> None:
    first = change("a1" * 20, 1, pull_request=7, files=("lib/url.c", 'we"ird\\.c'))
    revert = change("b2" * 20, 2, Relation("reverts", "a1" * 6), Relation("fixes", "#7"), Relation("mentions", "c3" * 6))
    with store.write() as writer:
        assert writer.add_change(*revert)
        assert writer.resolve_links() == []
        assert writer.add_change(*first)
        assert not writer.add_change(*first)
        assert {link.kind for link in writer.resolve_links()} == {"reverts", "fixes"}
        assert writer.resolve_links() == []
        writer.put(first[0].replace(outcome="failed", because="it broke"))
    with store.read() as reader:
        assert reader.known_commits() == {"a1" * 20, "b2" * 20}
        assert [link.target for link in reader.relations(("reverts",))] == [first[0].id]
        assert [memory.id for memory in reader.failed_changes("lib/url.c", 5)] == [first[0].id]
        assert [memory.id for memory in reader.failed_changes('we"ird\\.c', 5)] == [first[0].id]
        assert reader.failed_changes("url.c", 5) == []
        assert [memory.id for memory in reader.failed_changes("", 5)] == [first[0].id]
        assert len(reader.links(first[0].id)) == 2
        assert [link.target is None for link in reader.links(revert[0].id)] == [False, True, False]
        kept = reader.change(first[0].id)
        assert kept is not None
        assert (kept.sha, kept.files, kept.pull_request) == ("a1" * 20, first[1].files, 7)


def test_anchored_finds_symbols_at_a_border_and_active_ones_only(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1, anchors=(Anchor("a.py", "AuthService.validate"),)), "one")
        keep(writer, lesson(2, anchors=(Anchor("a.py", "Other.revalidate"),)), "one")
        keep(writer, lesson(3, anchors=(Anchor("a.py", "validate"),), status="resolved"), "one")
        keep(writer, lesson(4, anchors=(Anchor("a.py", ""),)), "one")
    alive = Filter(statuses=("active",))
    with store.read() as reader:
        assert [m.number for m in reader.anchored("", "validate", alive, 9)] == [1]
        assert [m.number for m in reader.anchored("", "auth.AuthService.validate", alive, 9)] == [1]
        assert [m.number for m in reader.anchored("a.py", "", alive, 9)] == [4, 2, 1]
        assert [m.number for m in reader.anchored("a.py", "", alive, 2)] == [4, 2]
        assert [m.number for m in reader.anchored("a.py", "", alive, -1)] == [4, 2, 1]
        assert [m.number for m in reader.anchored("a.py", "", Filter(statuses=("resolved",)), 1)] == [3]
        assert reader.anchored("b.py", "", alive, 9) == reader.anchored("", "idate", alive, 9) == []


def test_candidates_by_weight_then_newest(store: Store) -> None:
    with store.write() as writer:
        keep(writer, lesson(1), "rare", "common")
        keep(writer, lesson(2), "common")
        keep(writer, lesson(3), "common")
        keep(writer, lesson(4, status="resolved"), "rare")
    active = Filter(statuses=("active",))
    with store.read() as reader:
        ids = [memory.number for memory in reader.memories(reader.candidates({"rare": 9, "common": 1, "none": 5}, active, 9))]
        assert ids == [1, 3, 2]
        assert reader.candidates({"none": 1}, active, 9) == []
        assert [m.number for m in reader.memories(reader.with_term("rare", active, 9))] == [1]


def test_documents_give_the_counts_of_the_asked_terms(store: Store) -> None:
    with store.write() as writer:
        writer.put(lesson(1), b"", Lexical({"one": 3, "two": 2**30 - 1}, (1, 70_000, 3, 4, 5, 6), 12))
    with store.read() as reader:
        (key,) = reader.keys([an_id(1)])
        (document,) = reader.documents([key], ["two", "none"])
    assert (document.counts, document.size, document.at) == ({"two": 2**30 - 1}, 12, 1_001)
    assert document.lengths[0] == 1 and document.lengths[2:] == (3, 4, 5, 6)


@given(st.lists(st.text(max_size=12) | st.sampled_from(['a", "b', "a\\", '"', "", "x y", "\x00\n", "é", "\u2028"]), max_size=5))
def test_lists_come_back_and_are_json(items: list[str]) -> None:
    text = encode_list(items)
    assert decode_list(text) == tuple(items) == tuple(json.loads(text))


@given(
    st.dictionaries(st.integers(0, 70_000), st.integers(0, 2**30 - 1), max_size=40), st.lists(st.integers(0, 70_000), max_size=10)
)
def test_counts_are_found_in_the_bytes(postings: dict[int, int], others: list[int]) -> None:
    raw = encode_postings(list(postings), list(postings.values()))
    asked = [*postings, *others]
    expected = {str(number): postings[number] for number in asked if number in postings}
    assert find_counts(raw, {number: str(number) for number in asked}) == expected
    for number in asked:
        assert find_counts(raw, {number: str(number)}) == {key: expected[key] for key in (str(number),) if key in expected}
    assert decode_postings(raw) == (list(postings), list(postings.values()))


FILTERS = st.builds(
    Filter,
    kinds=st.sampled_from([(), ("lesson",), ("fact", "rule")]),
    statuses=st.sampled_from([(), ("active",), ("resolved", "inactive")]),
    outcomes=st.sampled_from([(), ("failed",), ("worked",)]),
    trusts=st.sampled_from([(), ("claimed",)]),
    tags=st.sampled_from([(), ("a",), ("a", "b")]),
    session=st.sampled_from(["", "s1", "s2"]),
    client=st.sampled_from(["", "codex", "gemini"]),
    who=st.sampled_from([None, "agent", "person"]),
    before=st.sampled_from([None, 1_002]),
    alive_at=st.sampled_from([None, 1_001, 5_000]),
)
MEMORIES = st.builds(
    lesson,
    st.integers(1, 6),
    kind=st.sampled_from(["lesson", "fact", "rule"]),
    status=st.sampled_from(["active", "resolved", "forgotten"]),
    outcome=st.sampled_from([None, "failed", "worked"]),
    tags=st.sampled_from([(), ("a",), ("b", "a"), ('"a"',)]),
    expires_at=st.sampled_from([None, 1_001, 3_000]),
    origin=st.sampled_from([AGENT, Origin("person", "", "s2"), Origin("agent", "gemini")]),
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(memories=st.lists(MEMORIES, max_size=6), filters=st.lists(FILTERS, min_size=1, max_size=8))
def test_both_engines_answer_alike(
    tmp_path_factory: pytest.TempPathFactory, memories: list[Memory], filters: list[Filter]
) -> None:
    sqlite: Store = SqliteStore(str(tmp_path_factory.mktemp("alike") / "a.db"))
    both: tuple[Store, Store] = (sqlite, MemoryStore())
    for one in both:
        with one.write() as writer:
            writer.set_setting("replica", "here")
            for memory in memories:
                if not writer.get([memory.id]):
                    keep(writer, memory, *memory.tags, "word")
    with both[0].read() as left, both[1].read() as right:
        for where in filters:
            assert left.find(where, -1) == right.find(where, -1)
            assert left.count(where) == right.count(where)
            assert left.memories(left.candidates({"word": 2, "a": 5}, where, 4)) == right.memories(
                right.candidates({"word": 2, "a": 5}, where, 4)
            )
        assert left.figures() == right.figures()
        assert left.corpus() == right.corpus()
        assert left.experiences("", "", False) == right.experiences("", "", False)
        assert [left.often_failed(least) for least in (1, 2, 3)] == [right.often_failed(least) for least in (1, 2, 3)]
        assert left.events() == right.events()
        assert [v for m in memories for v in left.versions(m.id)] == [v for m in memories for v in right.versions(m.id)]
    assert sqlite.check() == []
    sqlite.close()
