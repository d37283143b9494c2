"""What becomes of memories later: revised, related, approved, rejected, found useful; and all of it taken back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.errors import HardwonError, InvalidInput
from hardwon.types import Anchor, Change, Draft, Filter, Origin, Query, Revision, Scope
from tests.test_engine import AGENT, PERSON, Clock, clock, engine, lesson

if TYPE_CHECKING:
    from pathlib import Path

    from hardwon.engine.core import Engine
    from hardwon.types import Memory

__all__ = ["clock", "engine"]

OTHER = Scope(Origin("agent", "gemini", "s9", "cli"))
REDIS = Draft("Sessions live in Redis", "decision", because="cookies were too large", tags=("auth",))


def get(engine: Engine, reference: str) -> Memory:
    return engine.show(reference, AGENT)[0]


def texts(engine: Engine, question: str) -> list[str]:
    return [hit.memory.text for hit in engine.recall(Query(question), AGENT).hits]


# revise


def test_a_revision_is_a_version_and_the_old_words_stay(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    receipt = engine.revise("1", Revision(text="Sessions live in Valkey", tags=("auth", "storage")), AGENT)
    assert (receipt.action, receipt.why) == ("revised", "version 2")
    memory, versions, events = engine.history("1", AGENT)
    assert (memory.text, memory.because, memory.tags) == (
        "Sessions live in Valkey",
        "cookies were too large",
        ("auth", "storage"),
    )
    assert [version.content.text for version in versions] == ["Sessions live in Redis", "Sessions live in Valkey"]
    assert versions[0].superseded_at == versions[1].recorded_at
    assert [event.action for event in events] == ["created", "revised"]
    assert texts(engine, "where do sessions live: valkey") == ["Sessions live in Valkey"]
    assert "Sessions live in Redis" not in texts(engine, "redis sessions")


def test_a_revision_is_taken_back_step_by_step(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    for text in ("Sessions live in Valkey", "Sessions live in Postgres"):
        engine.revise("1", Revision(text=text), AGENT)
    assert [engine.undo("1", AGENT)[0].why for _ in range(2)] == ["as in version 2", "as in version 1"]
    memory = get(engine, "1")
    assert (memory.text, memory.version) == ("Sessions live in Redis", 5)
    with pytest.raises(InvalidInput, match="no change"):
        engine.undo("1", AGENT)


def test_the_same_words_recorded_after_a_revision_are_a_new_memory_and_then_in_its_way(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.revise("1", Revision(text="Sessions live in Valkey"), AGENT)
    assert engine.record(REDIS, AGENT).number == 2
    with pytest.raises(InvalidInput, match="#2 says that already"):
        engine.undo("1", AGENT)


def test_a_revision_that_says_what_another_says_is_refused(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(text="Sessions live in Valkey"), AGENT)
    with pytest.raises(InvalidInput, match="#2 says that already"):
        engine.revise("1", Revision(text="sessions  live in VALKEY"), AGENT)
    assert engine.revise("1", Revision(text="Sessions live in Redis"), AGENT).action == "unchanged"


def test_an_agent_does_not_change_the_words_of_a_person(engine: Engine) -> None:
    engine.record(REDIS, PERSON)
    with pytest.raises(InvalidInput, match="confirmed"):
        engine.revise("1", Revision(text="Sessions live in a file"), AGENT)
    engine.record(REDIS.replace(text="Uploads go to S3"), AGENT)
    engine.revise("2", Revision(text="Uploads go to the object store"), PERSON)
    assert get(engine, "2").trust == "confirmed"
    with pytest.raises(InvalidInput, match="only a person"):
        engine.undo("2", AGENT)
    engine.undo("2", PERSON)
    assert (get(engine, "2").text, get(engine, "2").trust) == ("Uploads go to S3", "claimed")


def test_a_revision_is_cleaned_like_a_record(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    receipt = engine.revise("1", Revision(detail="password=hunter2-and-more9"), AGENT)
    assert receipt.redacted == 1
    assert "hunter2" not in get(engine, "1").detail
    with pytest.raises(InvalidInput):
        engine.revise("1", Revision(), AGENT)
    with pytest.raises(InvalidInput):
        engine.revise("1", Revision(text=" "), AGENT)
    with pytest.raises(InvalidInput):
        engine.revise("1", Revision(metadata="[1]"), AGENT)


def test_a_revision_keeps_where_the_memory_was_pinned(engine: Engine) -> None:
    engine.record(lesson("one"), AGENT)
    engine.revise("1", Revision(detail="more"), AGENT)
    assert get(engine, "1").anchors == (Anchor("a.py", "A.run"),)
    engine.revise("1", Revision(anchors=(Anchor("b.py", "B.run"),)), AGENT)
    assert [report.risk.symbol for report in engine.query("", "", AGENT)] == ["B.run"]


# link


def test_what_is_replaced_is_not_recalled_and_names_its_successor(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), AGENT)
    assert engine.link("2", "1", "replaces", AGENT).why == "replaces #1"
    assert (get(engine, "1").status, get(engine, "1").replaced_by) == ("replaced", get(engine, "2").id)
    assert texts(engine, "where do sessions live") == ["Sessions live in Postgres"]
    assert engine.link("2", "1", "replaces", AGENT).action == "unchanged"
    with pytest.raises(InvalidInput, match="replaced"):
        engine.undo("1", AGENT)
    with pytest.raises(InvalidInput, match="replaced"):
        engine.set_status("1", "resolved", AGENT)
    assert engine.undo("2", AGENT)[0].action == "unlinked"
    assert (get(engine, "1").status, get(engine, "1").replaced_by) == ("active", None)
    assert engine.show("2", AGENT)[2] == []


def test_a_claim_does_not_replace_what_a_person_confirmed(engine: Engine) -> None:
    engine.record(REDIS, PERSON)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), AGENT)
    with pytest.raises(InvalidInput, match="confirmed"):
        engine.link("2", "1", "replaces", AGENT)
    engine.link("2", "1", "contradicts", AGENT)
    hits = engine.recall(Query("where do sessions live"), AGENT).hits
    assert {hit.memory.number: hit.contradicted for hit in hits} == {1: ("#2",), 2: ("#1",)}
    assert "contradicted by #2" in engine.recall(Query("where do sessions live"), AGENT).block
    engine.link("2", "1", "replaces", PERSON)
    assert get(engine, "1").status == "replaced"


def test_links_refuse_what_makes_no_sense(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), AGENT)
    with pytest.raises(InvalidInput, match="itself"):
        engine.link("1", "1", "supports", AGENT)
    engine.forget(Filter(ids=(get(engine, "2").id,)), AGENT, dry_run=False)
    with pytest.raises(InvalidInput, match="#2 is forgotten"):
        engine.link("1", "2", "supports", AGENT)


def test_replacing_in_a_circle_is_refused(engine: Engine) -> None:
    for text in ("one thing", "another thing"):
        engine.record(Draft(text, "decision"), AGENT)
    engine.link("2", "1", "replaces", AGENT)
    with pytest.raises(InvalidInput, match="replaced itself"):
        engine.link("1", "2", "replaces", AGENT)


def test_a_commit_can_be_named_in_a_link(engine: Engine) -> None:
    sha = "c" * 40
    engine.add_changes([Change(sha, 1_700_000_000_000, "Move sessions to Redis")])
    engine.record(REDIS, AGENT)
    engine.link("1", sha[:8], "supports", AGENT)
    assert [(link.kind, other.text) for link, other in engine.show(sha[:8], AGENT)[2]] == [("supports", REDIS.text)]


def test_a_person_who_lets_a_claim_replace_another_memory_vouches_for_it(engine: Engine) -> None:
    engine.record(REDIS, PERSON)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), AGENT)
    engine.link("2", "1", "replaces", PERSON)
    assert get(engine, "2").trust == "confirmed"
    with pytest.raises(InvalidInput):
        engine.revise("2", Revision(text="Sessions live in a file"), AGENT)
    assert [engine.undo("2", PERSON)[0].action for _ in range(2)] == ["unlinked", "claimed"]
    assert get(engine, "1").status == "active"


def test_what_was_replaced_is_not_approved_but_brought_back(engine: Engine) -> None:
    for text in ("Sessions live in Redis", "Sessions live in Postgres"):
        engine.record(Draft(text, "decision"), AGENT)
    engine.link("2", "1", "replaces", AGENT)
    with pytest.raises(InvalidInput, match="replaced"):
        engine.approve("1", PERSON)


# approve, reject


def test_only_a_person_approves_or_rejects(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    for give in (engine.approve, engine.reject):
        with pytest.raises(InvalidInput, match="only a person"):
            give("1", AGENT)
    assert engine.approve("1", PERSON).why == "it was claimed"
    assert get(engine, "1").trust == "confirmed"
    with pytest.raises(InvalidInput, match="only a person"):
        engine.undo("1", AGENT)
    assert engine.undo("1", PERSON)[0].action == "claimed"


@pytest.mark.parametrize(
    "again",
    [
        REDIS,
        REDIS.replace(kind="fact"),
        REDIS.replace(text="SESSIONS  live in redis", outcome="worked"),
        REDIS.replace(visibility="private"),
        REDIS.replace(anchors=(Anchor("auth/cache.py", ""),)),
        REDIS.replace(text="Sessions live in Red\u200bis"),
    ],
)
def test_a_rejected_value_stays_out_whatever_it_is_called(engine: Engine, again: Draft) -> None:
    engine.record(REDIS, AGENT)
    engine.reject("1", PERSON)
    receipt = engine.record(again, OTHER)
    assert (receipt.action, receipt.number, receipt.seq) == ("refused", 1, None)
    assert "#1 says the same and was rejected" in receipt.why
    assert texts(engine, "where do sessions live") == []


def test_what_says_the_same_under_another_kind_is_rejected_with_it_and_comes_back_with_it(engine: Engine) -> None:
    for draft in (REDIS, REDIS.replace(kind="fact"), Draft("Sessions live in Postgres", "decision")):
        engine.record(draft, AGENT)
    assert engine.reject("1", PERSON).why == "it was active; so are #2, which say the same"
    assert [get(engine, str(number)).status for number in (1, 2, 3)] == ["rejected", "rejected", "active"]
    assert sorted(receipt.number or 0 for receipt in engine.undo("", PERSON)) == [1, 2]
    assert texts(engine, "sessions redis").count(REDIS.text) == 2


def test_a_rejected_value_comes_in_through_no_other_verb(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(text="Sessions live in a file"), AGENT)
    engine.reject("1", PERSON)
    with pytest.raises(InvalidInput, match="rejected"):
        engine.revise("2", Revision(text="Sessions live in Redis"), AGENT)
    for undone in (lambda: engine.undo("1", AGENT), lambda: engine.set_status("1", "active", AGENT)):
        with pytest.raises(InvalidInput):
            undone()
    engine.approve("1", PERSON)
    assert (get(engine, "1").status, get(engine, "1").trust) == ("active", "confirmed")
    assert engine.record(REDIS, AGENT).action == "repeated"


def test_a_rejected_lesson_speaks_of_its_symbol_only(engine: Engine) -> None:
    engine.record(lesson("worked", "worked"), AGENT)
    engine.reject("1", PERSON)
    other = Draft("worked", "lesson", "worked", anchors=(Anchor("b.py", "B.run"),))
    assert engine.record(other, AGENT).action == "created"
    assert engine.record(lesson("worked", "worked"), AGENT).action == "refused"


def test_rejected_lessons_do_not_count_for_risk_until_approved(engine: Engine) -> None:
    for _ in range(4):
        engine.record(lesson("broke"), AGENT)
    before = engine.query("A.run", "", AGENT)[0].risk.score
    engine.reject("1", PERSON)
    assert engine.query("A.run", "", AGENT) == []
    engine.approve("1", PERSON)
    assert engine.query("A.run", "", AGENT)[0].risk.score == before


def test_a_commit_can_be_rejected_and_stays_so(engine: Engine) -> None:
    change = Change("d" * 40, 1_700_000_000_000, "Move sessions to Redis")
    engine.add_changes([change])
    engine.reject("d" * 8, PERSON)
    engine.add_changes([change])
    assert texts(engine, "sessions redis") == []
    engine.undo("d" * 8, PERSON)
    assert texts(engine, "sessions redis") == ["Move sessions to Redis"]


# feedback


def test_feedback_counts_each_session_once_and_its_last_word(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    for word, scope in (("useful", AGENT), ("useful", AGENT), ("useless", OTHER), ("useful", PERSON), ("useful", OTHER)):
        engine.feedback("1", word, scope)
    assert (get(engine, "1").useful, get(engine, "1").useless) == (3, 0)
    engine.undo("1", OTHER)
    assert (get(engine, "1").useful, get(engine, "1").useless) == (2, 1)


def test_feedback_moves_a_hit_a_little_and_never_out_of_reach(engine: Engine) -> None:
    for text in ("uploads are retried twice", "uploads are retried thrice"):
        engine.record(Draft(text), AGENT)

    def order() -> list[int | None]:
        return [hit.memory.number for hit in engine.recall(Query("how often are uploads retried"), AGENT).hits]

    assert order() == [2, 1]
    engine.feedback("1", "useful", AGENT)
    assert order() == [1, 2]
    for session in range(50):
        engine.feedback("1", "useless", Scope(Origin("agent", "spam", str(session))))
    assert order() == [2, 1]


# undo without a name


def test_undo_without_a_name_takes_back_the_last_stroke_of_this_actor(engine: Engine) -> None:
    for text in ("one", "two", "three"):
        engine.record(Draft(text, tags=("spike",)), AGENT)
    engine.record(Draft("four"), OTHER)
    engine.forget(Filter(tags=("spike",)), AGENT, dry_run=False)
    engine.set_status("4", "resolved", OTHER)
    assert sorted(receipt.number or 0 for receipt in engine.undo("", AGENT)) == [1, 2, 3]
    assert [get(engine, str(number)).status for number in range(1, 5)] == ["active", "active", "active", "resolved"]
    with pytest.raises(InvalidInput, match="nothing"):
        engine.undo("", AGENT)


def forget(engine: Engine, scope: Scope, *references: str) -> None:
    engine.forget(Filter(ids=tuple(map(engine.identify, references))), scope, dry_run=False)


def test_undo_without_a_name_never_takes_back_an_older_thing_or_that_of_another_session(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.set_status("1", "resolved", AGENT)
    with pytest.raises(InvalidInput, match="nothing that could be taken back"):
        engine.undo("", Scope(AGENT.origin.replace(session="s2")))
    engine.revise("1", Revision(detail="more"), OTHER)
    with pytest.raises(InvalidInput, match="not its last one any more"):
        engine.undo("", AGENT)
    engine.undo("", OTHER)
    engine.record(Draft("something new"), AGENT)
    with pytest.raises(InvalidInput, match="nothing since #2 was created"):
        engine.undo("", AGENT)
    assert engine.undo("1", AGENT)[0].why == "it was resolved"


@pytest.mark.slow
def test_a_forgetting_comes_back_as_a_whole_whatever_was_recorded_anew(engine: Engine) -> None:
    engine.upsert([(f"item {number}", Draft(f"note {number}", tags=("spike",))) for number in range(1200)], AGENT)
    engine.record(Draft("said again later", tags=("spike",)), AGENT)
    engine.set_status("3", "resolved", AGENT)
    engine.forget(Filter(tags=("spike",)), AGENT, dry_run=False)
    engine.record(Draft("said again later"), OTHER)
    done = engine.undo("", AGENT)
    assert len(done) == 1201
    assert [(receipt.number, receipt.why) for receipt in done if receipt.action == "unchanged"] == [
        (1201, "#1202 says the same and was recorded since")
    ]
    assert (get(engine, "3").status, get(engine, "1200").status) == ("resolved", "active")


def test_what_replaced_a_memory_is_taken_back_over_what_was_said_of_it_since(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), AGENT)
    engine.link("2", "1", "replaces", AGENT)
    engine.feedback("1", "useful", AGENT)
    engine.revise("1", Revision(detail="more"), AGENT)
    engine.undo("2", AGENT)
    assert (get(engine, "1").status, get(engine, "1").detail, get(engine, "1").useful) == ("active", "more", 1)
    engine.undo("1", AGENT)
    engine.undo("1", AGENT)
    assert (get(engine, "1").detail, get(engine, "1").useful) == ("", 0)


def test_a_rejection_of_what_was_replaced_is_taken_back_to_its_successor(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), AGENT)
    engine.link("2", "1", "replaces", AGENT)
    engine.reject("1", PERSON)
    with pytest.raises(InvalidInput, match="rejected after it was replaced"):
        engine.undo("2", AGENT)
    engine.undo("1", PERSON)
    assert (get(engine, "1").status, get(engine, "1").replaced_by) == ("replaced", get(engine, "2").id)
    engine.undo("2", AGENT)
    assert get(engine, "1").status == "active"


# what a person said stands


def test_an_agent_does_not_make_disappear_what_a_person_confirmed(engine: Engine, clock: Clock) -> None:
    engine.record(REDIS, PERSON)
    engine.record(Draft("Uploads go to S3", tags=("spike",)), PERSON)
    engine.record(Draft("a claim", tags=("spike",)), AGENT)
    for refused in (
        lambda: forget(engine, AGENT, "1"),
        lambda: engine.set_status("1", "inactive", AGENT),
        lambda: engine.set_status("1", "resolved", AGENT),
        lambda: engine.link("2", "1", "replaces", AGENT),  # with another confirmed one
    ):
        with pytest.raises(InvalidInput, match="confirmed"):
            refused()
    assert len(engine.forget(Filter(tags=("spike",)), AGENT, dry_run=True).ids) == 1
    assert len(engine.forget(Filter(tags=("spike",)), AGENT, dry_run=False).ids) == 1
    engine.record(REDIS.replace(expires_at=clock.now + 10), AGENT)
    clock.now += 1000
    assert texts(engine, "where do sessions live") == ["Sessions live in Redis"]
    assert [get(engine, number).status for number in "123"] == ["active", "active", "forgotten"]


def test_an_agent_does_not_say_how_long_a_person_s_words_hold(engine: Engine, clock: Clock) -> None:
    plain = Draft("Uploads go to S3", expires_at=clock.now + 100)
    engine.record(plain, AGENT)
    engine.record(plain.replace(expires_at=None), PERSON)
    assert (get(engine, "1").trust, get(engine, "1").expires_at) == ("confirmed", None)
    engine.record(Draft("Staging is frozen", expires_at=clock.now + 100), PERSON)
    clock.now += 1000
    assert engine.record(Draft("Staging is frozen"), AGENT).action == "created"
    assert get(engine, "2").expires_at is not None
    assert get(engine, "3").trust == "claimed"
    assert engine.record(Draft("Staging is frozen"), AGENT).number == 3


def test_what_a_person_did_is_taken_back_by_a_person_only(engine: Engine) -> None:
    engine.record(REDIS, PERSON)
    engine.record(REDIS.replace(text="Sessions live in Postgres"), PERSON)
    engine.reject("1", PERSON)
    engine.approve("1", PERSON)  # its second half is a change of status
    with pytest.raises(InvalidInput, match="only a person"):
        engine.undo("1", AGENT)
    engine.link("2", "1", "replaces", PERSON)
    with pytest.raises(InvalidInput, match="only a person"):
        engine.undo("2", AGENT)
    forget(engine, PERSON, "2")
    with pytest.raises(InvalidInput, match="only a person"):
        engine.undo("2", AGENT)
    engine.undo("2", PERSON)


def test_a_rejected_value_does_not_come_back_with_what_was_put_aside_before(engine: Engine) -> None:
    engine.record(REDIS, AGENT)
    engine.record(Draft("Sessions live in Postgres"), AGENT)
    engine.link("2", "1", "replaces", AGENT)
    engine.record(REDIS.replace(kind="rule"), AGENT)
    engine.set_status("3", "inactive", AGENT)
    engine.record(REDIS, AGENT)
    engine.record(REDIS.replace(kind="fact"), AGENT)
    forget(engine, AGENT, "5")
    engine.reject("4", PERSON)
    for reference, why in (
        ("2", "says the same and was rejected"),
        ("3", "only a person"),
        ("5", "says the same and was rejected"),
    ):
        with pytest.raises(InvalidInput, match=why):
            engine.undo(reference, AGENT)
    assert texts(engine, "where do sessions live") == ["Sessions live in Postgres"]


@pytest.mark.parametrize(("path", "symbol"), [("", "A.run"), ("a.py", ""), ("a.py", "a.RUN"), ("", "run"), ("a.py", "run")])
def test_a_rejected_lesson_does_not_come_back_under_another_spelling_of_its_place(engine: Engine, path: str, symbol: str) -> None:
    engine.record(lesson("the pool runs dry"), AGENT)
    engine.reject("1", PERSON)
    again = Draft("the pool runs dry", "lesson", "failed", anchors=(Anchor(path, symbol),))
    assert engine.record(again, AGENT).action == "refused"
    assert engine.record(again.replace(anchors=(Anchor("b.py", "A.run"),)), AGENT).action == "created"


def test_other_words_under_the_id_of_a_rejected_item_are_a_memory_of_their_own(engine: Engine) -> None:
    engine.upsert([("state", REDIS)], AGENT)
    engine.reject("1", PERSON)
    (receipt,) = engine.upsert([("state", Draft("Sessions live in Postgres"))], AGENT)
    assert (receipt.action, receipt.number, get(engine, "own:state").number) == ("created", 2, 2)
    assert (get(engine, "1").text, get(engine, "1").status) == (REDIS.text, "rejected")
    assert {engine.upsert([("state", REDIS)], AGENT)[0].action, engine.record(REDIS, AGENT).action} == {"refused"}


# secrets


SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_no_name_of_a_writer_or_of_an_item_carries_a_secret_to_the_disk(engine: Engine) -> None:
    scope = Scope(Origin("agent", SECRET, SECRET, SECRET))
    engine.upsert([(SECRET, REDIS), ("V1StGXR8_Z5jdHi6B-myT", Draft("an id that looks random"))], scope)
    assert [get(engine, name).number for name in (f"own:{SECRET}", "own:V1StGXR8_Z5jdHi6B-myT")] == [1, 2]
    engine.record(Draft("another", metadata='{"password": 12345678, "tokens": 12}'), scope)
    assert get(engine, "3").metadata == '{"password":"[redacted:password]","tokens":12}'
    engine.feedback("1", "useful", scope)
    engine.link("3", "1", "supports", scope)
    engine.revise("3", Revision(detail="more"), scope)
    engine.set_status("3", "resolved", scope)
    engine.undo("", scope)
    engine.delete([SECRET], scope)
    engine.persist()
    folder = os.path.dirname(engine.store.path)
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            assert SECRET.encode() not in file.read(), name


# review


def test_review_proposes_what_says_much_the_same_and_merges_nothing(engine: Engine) -> None:
    engine.record(Draft("JWT expiry not handled in validate", "rule"), AGENT)
    engine.record(Draft("JWT expiry is not handled by validate", "rule"), OTHER)
    engine.record(Draft("timezone-naive datetime comparison", "rule"), AGENT)
    engine.record(Draft("JWT expiry not handled in validate", "rule", detail="a person's"), PERSON)
    waiting = engine.review(PERSON)
    # The first is a person's own words by now, all of it; what was not confirmed waits.
    assert [(item.memory.number, [other.number for other, _ in item.similar]) for item in waiting] == [(3, []), (2, [1])]
    assert engine.figures()["memories"] == 3


# whatever happens


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["record", "repeat", "revise", "resolve", "deactivate", "forget", "approve", "reject", "useful", "useless",
             "replaces", "contradicts", "undo", "undo-last"]
        ),
        st.integers(1, 4), st.integers(1, 4), st.sampled_from([AGENT, OTHER, PERSON]),
    ),
    min_size=1, max_size=30,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_whatever_is_done_the_store_stays_whole_and_undo_leads_back(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int, Scope]]
) -> None:
    place: Path = tmp_path_factory.mktemp("curate")
    made = hardwon.open_store(str(place / "a.db"), clock=Clock())
    for number in range(1, 5):
        made.record(lesson(f"lesson {number}", "failed" if number % 2 else "worked"), AGENT)
    for step in steps:
        try:
            _do(made, *step)
        except HardwonError:
            pass
    assert made.verify() == []
    for number in range(1, 5):
        before = get(made, str(number)).status
        while True:
            try:
                made.undo(str(number), PERSON)
            except InvalidInput:
                break
        # Whatever was settled by an occurrence stays; everything after it is gone again, unless a twin has come in between.
        assert get(made, str(number)).status in ("active", "replaced", "resolved", "inactive", before)
    assert made.verify() == []
    made.close()


def _do(made: Engine, what: str, one: int, other: int, scope: Scope) -> None:
    reference = str(one)
    if what in ("record", "repeat"):
        made.record(lesson(f"lesson {one}" + (" revised" if what == "record" else ""), "failed" if one % 2 else "worked"), scope)
    elif what == "revise":
        made.revise(reference, Revision(text=f"lesson {other} revised", detail=f"by {scope.origin.who}"), scope)
    elif what in ("resolve", "deactivate"):
        made.set_status(reference, "resolved" if what == "resolve" else "inactive", scope)
    elif what == "forget":
        made.forget(Filter(ids=(get(made, reference).id,)), scope, dry_run=False)
    elif what in ("approve", "reject"):
        getattr(made, what)(reference, scope)
    elif what in ("useful", "useless"):
        made.feedback(reference, what, scope)  # type: ignore[arg-type]
    elif what in ("replaces", "contradicts"):
        made.link(reference, str(other), what, scope)  # type: ignore[arg-type]
    else:
        made.undo(reference if what == "undo" else "", scope)
