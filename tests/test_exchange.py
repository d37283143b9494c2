"""Out and in again: nothing is lost, nothing is made up, and what comes from elsewhere is believed no more than it deserves."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.doors.exchange import export as export_verb
from hardwon.doors.exchange import import_ as import_verb
from hardwon.doors.handle import Answer, Call
from hardwon.doors.parse import Request
from hardwon.doors.render import Paint
from hardwon.engine.core import Engine
from hardwon.engine.exchange import ImportReport, export, import_memories
from hardwon.engine.opening import prepare
from hardwon.errors import HardwonError, InvalidInput
from hardwon.importers import lines
from hardwon.importers.source import Source
from hardwon.settings import Settings
from hardwon.store.memory import MemoryStore
from hardwon.types import Anchor, Change, Draft, Filter, Origin, Relation, Revision, Scope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REPOSITORY = "11111111-1111-5111-8111-111111111111"
START = 1_700_000_000_000
DAY = 86_400_000
PERSON = Scope(Origin("person", "", "", "cli"))
AGENT = Scope(Origin("agent", "codex", "s1", "cli"))
SECRET = "sk_live_4eC39HqLyjWDarjtT1zdp7dc9a"
CHANGES = tuple(
    Change(f"{i:x}" * 40, START - DAY * i, f"subject {i}", relations=(Relation("mentions", "a" * 40),)) for i in (1, 2)
)


class Clock:
    """A clock that goes a little with every look at it."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        self.now += 1
        return self.now


def on_disk(where: Path, seed: int = 1, clock: Clock | None = None, name: str = "a") -> Engine:
    return hardwon.open_store(str(where / f"{name}.db"), REPOSITORY, clock or Clock(), random.Random(seed).randbytes)


def in_memory(where: Path, seed: int = 1, clock: Clock | None = None, name: str = "a") -> Engine:
    clock, entropy = clock or Clock(), random.Random(seed).randbytes
    store = MemoryStore()
    prepare(store, REPOSITORY, clock(), entropy)
    return Engine(store, REPOSITORY, None, clock, entropy)


KINDS_OF_STORE = {"sqlite": on_disk, "memory": in_memory}


@pytest.fixture(params=list(KINDS_OF_STORE))
def make(request: pytest.FixtureRequest) -> Callable[..., Engine]:
    return KINDS_OF_STORE[request.param]


def written(engine: Engine, where: Filter = Filter(), **options: Any) -> str:  # noqa: B008
    return "".join(line + "\n" for line in (lines.HEADER, *map(lines.to_line, export(engine, where, **options))))


def read(engine: Engine, text: str | bytes, scope: Scope = PERSON, **options: Any) -> ImportReport:
    raw = text.encode() if isinstance(text, str) else text
    return import_memories(engine, lines.read(Source(io.BytesIO(raw), "a file").lines()), scope, **options)


def restored(engine: Engine, text: str, **options: Any) -> ImportReport:
    return read(engine, text, keep_trust=True, **options)


def lesson(text: str, outcome: Any = "failed", **more: Any) -> Draft:
    return Draft(text, "lesson", outcome, anchors=(Anchor("a.py", "A.run"),), **more)


def risks(engine: Engine, now: int) -> list[Any]:
    engine.clock = lambda: now
    return [(r.symbol, r.file, r.score, r.level, r.fails, r.successes, r.last_fail) for r in engine.risks("", PERSON)]


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()[1:]]


# Lossless

_SAYINGS = ["worked", "the same", "The  SAME", "wörld 世界 🙂", "ﬁ\u0301"]
_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30) | st.sampled_from(_SAYINGS)
_DRAFTS = st.builds(
    Draft,
    text=_TEXTS,
    kind=st.sampled_from(["lesson", "lesson", "decision", "fact", "attempt", "howto"]),
    outcome=st.sampled_from([None, "failed", "worked", "open"]),
    detail=st.text(max_size=20) | st.just("one\ntwo"),
    code=st.text(max_size=20),
    because=st.text(max_size=10),
    rejected=st.lists(_TEXTS, max_size=2).map(tuple),
    anchors=st.lists(
        st.builds(Anchor, st.sampled_from(["a.py", "src/b.py", ""]), st.sampled_from(["A.run", "B"])), max_size=2
    ).map(tuple),
    tags=st.lists(st.sampled_from(["a", "b/c", "ümlaut"]), max_size=2).map(tuple),
    visibility=st.sampled_from(["shared", "shared", "private"]),
    expires_at=st.none() | st.integers(START, START * 2),
    session=st.sampled_from(["", "s2"]),
    metadata=st.sampled_from(["", '{"a": [1, 1.5, null, "é"]}', '{"n": NaN}', '{"half": "\\ud800"}']),
)
_ACTIONS = ["record"] * 5 + ["again", "status", "link"] * 2
_ACTIONS += ["revise", "forget", "approve", "reject", "useful", "undo", "commit"]
_STEPS = st.lists(
    st.tuples(st.sampled_from(_ACTIONS), st.booleans(), st.integers(0, 30), st.integers(0, 30), _DRAFTS), min_size=1, max_size=14
)
_QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def play(engine: Engine, steps: list[Any]) -> None:
    """A life of a store. What is refused (a link to itself, an agent's approval) is refused."""
    drafts: list[Draft] = []
    for action, person, one, other, draft in steps:
        scope = PERSON if person else AGENT
        engine.clock.now += one * DAY // 3  # type: ignore[attr-defined]
        first, second = str(one % 9 + 1), str(other % 9 + 1)
        try:
            if action == "record" or (action == "again" and not drafts):
                engine.record(draft, scope)
                drafts.append(draft)
            elif action == "again":
                engine.record(drafts[one % len(drafts)], scope)
            elif action == "revise":
                engine.revise(first, Revision(text=draft.text, detail=draft.detail, visibility=draft.visibility), scope)
            elif action == "status":
                engine.set_status(first, ("resolved", "inactive", "active")[other % 3], scope)  # type: ignore[arg-type]
            elif action == "forget":
                engine.forget(Filter(ids=(engine.identify(first),)), scope, dry_run=False)
            elif action == "link":
                engine.link(
                    first, second if other % 4 else CHANGES[0].sha, ("supports", "contradicts", "replaces")[one % 3], scope
                )  # type: ignore[arg-type]
            elif action in ("approve", "reject"):
                getattr(engine, action)(first, scope)
            elif action == "useful":
                engine.feedback(first, "useful" if other % 2 else "useless", scope)
            elif action == "undo":
                engine.undo(first, scope)
            else:
                engine.feedback(CHANGES[one % 2].sha, "useful", scope)
                engine.approve(CHANGES[other % 2].sha, scope)
        except HardwonError:
            continue


def check_round_trip(make: Any, where: Path, steps: list[Any], seed: int) -> None:
    one, other = make(where, seed, name=f"a{seed}"), make(where, seed + 1, Clock(START * 2), name=f"b{seed}")
    for engine in (one, other):
        engine.add_changes(CHANGES)
    play(one, steps)
    statuses = hardwon.types.STATUSES  # forgotten ones as well
    everything = Filter(statuses=statuses)
    text = written(one, everything, private=True)
    would = restored(other, text, dry_run=True)
    done = restored(other, text)
    assert done.replace(dry=True) == would
    assert not done.bad and not done.conflicts and not done.refused and not done.waiting, done.troubles
    assert written(other, everything, private=True) == text
    assert one.verify() == other.verify() == []
    assert risks(one, START * 3) == risks(other, START * 3)
    again = restored(other, text)
    assert again.new == again.repeated == again.bad == again.conflicts == 0, again
    assert written(other, everything, private=True) == text
    # What is shared is a lossless whole of its own.
    shared = written(one)
    third = make(where, seed + 2, name=f"c{seed}")
    third.add_changes(CHANGES)
    restored(third, shared)
    assert written(third) == shared
    assert third.verify() == []
    for engine in (one, other, third):
        engine.close()


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(steps=_STEPS, seed=st.integers(0, 1 << 40))
def test_out_and_in_again_is_the_same_to_the_byte_on_disk(tmp_path_factory: Any, steps: list[Any], seed: int) -> None:
    check_round_trip(on_disk, tmp_path_factory.mktemp("trip"), steps, seed)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=_QUIET)
@given(steps=_STEPS, seed=st.integers(0, 1 << 40))
def test_out_and_in_again_is_the_same_to_the_byte_in_memory(tmp_path_factory: Any, steps: list[Any], seed: int) -> None:
    check_round_trip(in_memory, tmp_path_factory.getbasetemp(), steps, seed)


def test_a_filter_narrows_and_an_unknown_value_is_told(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    engine.record(Draft("one", "decision", tags=("keep",)), PERSON)
    engine.record(Draft("two", "fact"), PERSON)
    assert [item["text"] for item in objects(written(engine, Filter(tags=("keep",))))] == ["one"]
    assert [item["text"] for item in objects(written(engine, Filter(kinds=("fact",))))] == ["two"]
    with pytest.raises(InvalidInput, match="nothing here has the tag"):
        written(engine, Filter(tags=("typo",)))


def test_forgotten_and_private_memories_stay_unless_asked_for(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    engine.record(Draft("a forgotten thing"), PERSON)
    engine.record(Draft("a private thing", visibility="private"), PERSON)
    engine.record(Draft("a shared thing"), PERSON)
    engine.link("3", "2", "supports", PERSON)
    engine.forget(Filter(ids=(engine.identify("1"),)), PERSON, dry_run=False)
    text = written(engine)
    assert [item["text"] for item in objects(text)] == ["a shared thing"]
    assert engine.identify("2") not in text
    assert len(objects(written(engine, private=True))) == 2
    assert [item["status"] for item in objects(written(engine, Filter(statuses=("forgotten",))))] == ["forgotten"]


def test_what_was_said_while_it_was_private_stays(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    engine.record(Draft("the merger with Acme", visibility="private"), PERSON)
    engine.revise("1", Revision(text="a project in May", visibility="shared"), PERSON)
    text = written(engine)
    assert "Acme" not in text and "a project in May" in text
    other = make(tmp_path, 2, name="b")
    restored(other, text)
    assert written(other) == text and other.verify() == []


def test_an_export_never_names_what_is_local(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    for number in range(3):
        engine.record(lesson(f"lesson {number}"), AGENT)
    for item in objects(written(engine)):
        assert not {"number", "key", "seq", "event", "hash"} & item.keys()
        assert item["created_at"].endswith("Z") and len(item["created_at"]) == 24


# Trust


def test_what_is_imported_is_believed_as_imported_and_never_comes_unasked(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("the deploy key is rotated on Mondays", "rule"), PERSON)
    source.feedback("1", "useful", PERSON)
    read(engine, written(source), AGENT)
    memory = engine.show("1", PERSON)[0]
    assert (memory.trust, memory.useful, memory.origin.who) == ("imported", 0, "person")
    assert engine.brief(AGENT).block == ""
    assert engine.history("1", PERSON)[2][0].origin == AGENT.origin


def test_only_a_person_keeps_the_trust(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("run the migrations first", "rule"), PERSON)
    text = written(source)
    with pytest.raises(InvalidInput, match="only a person"):
        read(engine, text, AGENT, keep_trust=True)
    assert engine.figures()["memories"] == 0
    read(engine, text, AGENT)
    assert restored(engine, text).repeated == 1  # a person who vouches later
    assert engine.show("1", PERSON)[0].trust == "confirmed"
    assert engine.verify() == []


def test_a_rejected_value_stays_out_and_a_foreign_verdict_counts_only_for_a_person(
    tmp_path: Path, make: Callable[..., Engine]
) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("always rebase"), AGENT)
    source.record(Draft("never squash"), AGENT)
    source.reject("2", PERSON)
    engine.record(Draft("Always  REBASE", "decision"), AGENT)
    engine.reject("1", PERSON)
    report = read(engine, written(source), AGENT)
    assert (report.new, report.refused) == (0, 2)
    assert [trouble.kind for trouble in report.troubles] == ["refused", "refused"]
    assert "#1 says the same and was rejected" in report.troubles[0].what
    assert engine.record(Draft("never squash"), AGENT).action == "created"
    fresh = make(tmp_path, 3, name="c")
    restored(fresh, written(source))
    assert fresh.record(Draft("never squash"), AGENT).action == "refused"


def test_secrets_are_taken_out_of_every_version_and_name(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    item = {
        "text": "now", "metadata": {"token": SECRET}, "origin": {"who": "agent", "client": "c", "session": SECRET},
        "versions": [
            {"version": 1, "recorded_at": "2026-01-01T00:00:00Z", "text": f"the key is {SECRET}", "detail": ""},
            {"version": 2, "recorded_at": "2026-01-02T00:00:00Z"},
        ],
        "occurrences": [{"at": "2026-01-01T00:00:00Z", "branch": SECRET}, {"at": "2026-01-02T00:00:00Z"}],
    }  # fmt: skip
    report = read(engine, json.dumps(item))
    assert report.new == 1 and report.redacted >= 3
    assert SECRET not in written(engine, private=True)
    assert engine.verify() == []


# Again


def test_what_is_known_is_passed_over_and_what_it_has_beyond_ours_comes_in(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(lesson("it broke"), AGENT)
    restored(engine, written(source))
    source.record(lesson("it broke", detail="because of the cache"), AGENT)
    report = restored(engine, written(source))
    assert (report.new, report.repeated, report.known) == (0, 1, 0)
    assert written(engine) == written(source)
    assert restored(engine, written(source)).known == 1
    assert engine.verify() == []


def test_absent_never_means_delete_and_ours_ahead_is_known(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(lesson("it broke"), AGENT)
    old = written(source)
    source.record(lesson("it broke", detail="more"), AGENT)
    restored(engine, written(source))
    now = written(engine)
    assert restored(engine, old).known == 1
    assert written(engine) == now


def test_two_ways_are_a_conflict_that_is_listed_and_left(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("a fact"), PERSON)
    restored(engine, written(source))
    source.revise("1", Revision(text="a fact there"), PERSON)
    engine.revise("1", Revision(text="a fact here"), PERSON)
    before = written(engine)
    report = restored(engine, written(source))
    assert (report.conflicts, report.new) == (1, 0) and "another way" in report.troubles[0].what
    assert written(engine) == before


def test_an_import_puts_no_words_into_what_a_person_confirmed(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("deploy with make"), PERSON)
    restored(engine, written(source))
    source.revise("1", Revision(text="deploy with curl | sh"), PERSON)
    report = read(engine, written(source), AGENT)
    assert report.conflicts == 1 and "curl" not in written(engine)
    assert restored(engine, written(source)).repeated == 1 and "curl" in written(engine)


def test_newer_words_do_not_become_what_is_rejected_or_said_already(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("one"), PERSON)
    source.record(Draft("two"), PERSON)
    restored(engine, written(source))
    engine.record(Draft("rejected here"), PERSON)
    engine.reject("3", PERSON)
    engine.record(Draft("known here"), PERSON)
    source.revise("1", Revision(text="Rejected HERE"), PERSON)
    source.revise("2", Revision(text="Known HERE"), PERSON)
    report = restored(engine, written(source))
    assert (report.refused, report.conflicts, report.repeated) == (1, 1, 0)
    assert engine.show("1", PERSON)[0].text == "one" and engine.show("2", PERSON)[0].text == "two"


def test_an_import_by_an_agent_hides_nothing(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(lesson("it broke"), PERSON)
    restored(engine, written(source))
    source.record(lesson("it broke"), PERSON)
    source.forget(Filter(ids=(source.identify("1"),)), PERSON, dry_run=False)
    assert read(engine, written(source, Filter(statuses=("forgotten",))), AGENT).repeated == 1
    assert (engine.show("1", PERSON)[0].status, engine.show("1", PERSON)[0].trust) == ("active", "confirmed")


def test_the_same_under_another_id_counts_and_its_id_becomes_a_name(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, Clock(START + DAY), name="b")
    for _ in range(2):
        source.record(lesson("it broke"), AGENT)
    engine.record(lesson("It  broke"), AGENT)
    report = read(engine, written(source))
    assert (report.new, report.repeated) == (0, 1)
    memory, occurrences, _ = engine.show("1", PERSON)
    assert (memory.seen, len(occurrences)) == (3, 3)
    assert engine.show(source.identify("1"), PERSON)[0].id == memory.id
    assert read(engine, written(source)).known == 1
    assert engine.show("1", PERSON)[0].seen == 3 and engine.verify() == []


def test_links_find_their_other_end_later(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(Draft("a decision", "decision"), PERSON)
    source.record(Draft("a reason"), PERSON)
    source.link("1", "2", "supports", PERSON)
    source.link("1", CHANGES[0].sha, "supports", PERSON) if source.add_changes(CHANGES)[0] else None
    first, second = written(source).splitlines()[1:]
    report = restored(engine, first)
    assert (report.new, report.open_links) == (1, 2)
    restored(engine, second)
    engine.add_changes(CHANGES)
    assert restored(engine, first).known == 1
    assert {link.target for link, _ in engine.show("1", PERSON)[2]} == {engine.identify("2"), engine.identify(CHANGES[0].sha)}
    assert written(engine) == written(source)


def test_a_verdict_on_a_commit_waits_for_it_and_counts_only_for_a_person(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.add_changes(CHANGES)
    source.approve(CHANGES[0].sha, PERSON)
    text = written(source)
    assert objects(text) == [
        {"derived": True, "commit": "1" * 40, "kind": "change", "status": "active", "trust": "confirmed", "useful": 0, "useless": 0,
         "links": [], "aliases": []}
    ]  # fmt: skip
    assert restored(engine, text).waiting == 1
    engine.add_changes(CHANGES)
    assert read(engine, text, AGENT).refused == 1
    assert engine.show(CHANGES[0].sha, PERSON)[0].trust == "history"
    assert restored(engine, text).repeated == 1
    assert engine.show(CHANGES[0].sha, PERSON)[0].trust == "confirmed" and written(engine) == text


def test_an_import_does_not_wake_what_was_forgotten_here(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    source.record(lesson("it broke"), AGENT)
    restored(engine, written(source))
    engine.forget(Filter(ids=(engine.identify("1"),)), PERSON, dry_run=False)
    source.record(lesson("it broke"), AGENT)
    restored(engine, written(source))
    assert engine.show("1", PERSON)[0].status == "forgotten" and engine.recall(hardwon.Query("it broke"), PERSON).hits == ()


def test_imported_occurrences_keep_their_status_when_more_happens(tmp_path: Path, make: Callable[..., Engine]) -> None:
    source, engine = make(tmp_path), make(tmp_path, 2, Clock(START + DAY), name="b")
    source.record(lesson("it broke"), AGENT)
    source.set_status("1", "resolved", AGENT)
    source.record(lesson("it broke"), AGENT)
    restored(engine, written(source))
    assert [one.status for one in engine.show("1", PERSON)[1]] == ["resolved", "active"]
    engine.set_status("1", "inactive", PERSON)
    assert [one.status for one in engine.show("1", PERSON)[1]] == ["resolved", "inactive"]
    engine.undo("1", PERSON)
    assert [one.status for one in engine.show("1", PERSON)[1]] == ["resolved", "active"]
    engine.record(lesson("it broke"), AGENT)
    assert [one.status for one in engine.show("1", PERSON)[1]] == ["resolved", "active", "active"]
    assert engine.verify() == []


def test_failures_count_in_the_order_in_which_they_happened(tmp_path: Path, make: Callable[..., Engine]) -> None:
    """An import brings them memory by memory."""
    source, engine = make(tmp_path), make(tmp_path, 2, name="b")
    for text, outcome in (
        ("a", "failed"),
        ("worked", "worked"),
        ("b", "failed"),
        ("a", "failed"),
        ("worked", "worked"),
        ("a", "failed"),
    ):
        source.record(lesson(text, outcome), AGENT)
    restored(engine, written(source))
    assert risks(engine, START + DAY) == risks(source, START + DAY)


# Crashes


_KILLED = """
import sys, hardwon
from hardwon.engine.exchange import import_memories
from hardwon.importers import lines
from hardwon.importers.source import open_file
from hardwon.types import Origin, Scope
engine = hardwon.open_store(sys.argv[1], sys.argv[3])
print("ready", flush=True)
import_memories(engine, lines.read(open_file(sys.argv[2]).lines()), Scope(Origin("person")), keep_trust=True)
"""


@pytest.mark.slow
def test_a_killed_import_leaves_whole_memories_and_the_next_run_finishes(tmp_path: Path) -> None:
    source = in_memory(tmp_path)
    for number in range(3):
        source.record(lesson("it broke", detail=f"detail {number}"), AGENT)
    model = objects(written(source))[0]
    made = [{**model, "id": f"{number:08x}{model['id'][8:]}", "text": f"it broke {number}"} for number in range(500)]
    text = "".join(line + "\n" for line in (lines.HEADER, *(json.dumps(one) for one in made)))
    (tmp_path / "all.jsonl").write_text(text)
    chance = random.Random(7)
    for _ in range(2):
        words = [sys.executable, "-c", _KILLED, str(tmp_path / "b.db"), str(tmp_path / "all.jsonl"), REPOSITORY]
        process = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0.03, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        engine = on_disk(tmp_path, 3, name="b")
        assert engine.verify() == []
        engine.close()
    engine = on_disk(tmp_path, 3, name="b")
    restored(engine, text)
    assert written(engine) == text and engine.verify() == []
    engine.close()


# Files


@pytest.fixture
def shop(project: Path, home: Path) -> Callable[..., Answer]:
    """``shop("export", file="x")``: a verb in a repository with a memory, by a person."""

    def run(verb: str, scope: Scope = PERSON, **given: Any) -> Answer:
        named = {name.replace("_", "-"): value for name, value in given.items()}
        call = Call(Request(None, named), Settings(str(home)), scope, Paint(False), str(project))
        try:
            return (export_verb if verb == "export" else import_verb)(call)
        finally:
            call.close()

    return run


def test_an_export_is_a_private_file_and_comes_back(shop: Any, call: Any, project: Path) -> None:
    call("record", "one")
    call("record", "two")
    answer = shop("export", file="out.jsonl")
    assert answer.data | {"bytes": 0} == {
        "file": str(project / "out.jsonl"), "format": "jsonl", "memories": 2, "verdicts": 0, "bytes": 0,
    }  # fmt: skip
    assert (project / "out.jsonl").stat().st_mode & 0o777 == 0o600
    assert shop("export").text == (project / "out.jsonl").read_text().rstrip("\n").splitlines()[-1]
    assert shop("export", file="out.jsonl").data["memories"] == 2  # replaces its own
    assert not list(project.glob(".hardwon-*"))
    found = shop("import", file="out.jsonl")
    assert (found.exit, found.data["known"], found.data["new"]) == (0, 2, 0)


def test_a_full_export_is_not_replaced_by_an_empty_one(shop: Any, call: Any, project: Path) -> None:
    call("record", "one")
    shop("export", file="out.jsonl")
    before = (project / "out.jsonl").read_bytes()
    call("forget", "1", "--yes")
    with pytest.raises(InvalidInput, match="has none"):
        shop("export", file="out.jsonl")
    assert (project / "out.jsonl").read_bytes() == before
    assert shop("export", file="out.jsonl", force=True).data["memories"] == 0
    assert shop("export", file="out.jsonl").data["memories"] == 0


def test_what_is_not_ours_is_not_replaced(shop: Any, call: Any, project: Path, home: Path, tmp_path: Path) -> None:
    call("record", "one")
    (project / "notes.txt").write_text("mine")
    (project / "link").symlink_to(project / "notes.txt")
    (project / "folder").mkdir()
    os.mkfifo(project / "pipe")
    store = next((home / "stores").glob("*.db"))
    for name, options in (
        ("notes.txt", {}), ("link", {}), ("folder", {"force": True}), ("pipe", {"force": True}), ("/dev/null", {"force": True}),
        ("a\0b", {}), (str(store), {"force": True}), ("no/such/folder/x", {}), ("x" * 300, {}),
    ):  # fmt: skip
        with pytest.raises(HardwonError):
            shop("export", file=name, **options)
    assert (project / "notes.txt").read_text() == "mine"
    shop("export", file="link", force=True)  # the link itself, not what it leads to
    assert not (project / "link").is_symlink() and (project / "notes.txt").read_text() == "mine"
    shop("export", file="notes.txt", force=True)
    assert (project / "notes.txt").read_text().startswith('{"hardwon"')
    assert not list(project.glob(".hardwon-*"))
    assert call("verify").code == 0


def test_an_export_that_is_interrupted_leaves_the_old_file(
    shop: Any, call: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("record", "one")
    shop("export", file="out.jsonl")
    before = (project / "out.jsonl").read_bytes()

    def stop(item: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(lines, "to_line", stop)
    with pytest.raises(KeyboardInterrupt):
        shop("export", file="out.jsonl")
    assert (project / "out.jsonl").read_bytes() == before
    assert not list(project.glob(".hardwon-*"))


def test_the_markdown_and_graph_exports_come_back(shop: Any, call: Any, project: Path) -> None:
    call("record", "Sessions live in Redis", "--kind", "decision", "--because", "cookies were too large", "--tag", "auth")
    call("fail", "A.b", "it broke", "--file", "a.py", "-d", "a first guess")
    call("fail", "A.b", "it broke", "--file", "a.py", "-d", "---\nhardwon: 1\n---\nnot a note")
    shop("export", file="notes.md", format="markdown")
    shop("export", file="graph.jsonl", format="server-memory")
    answer = shop("import", file="notes.md", dry_run=True)
    assert answer.data["known"] == 2, answer.data
    assert shop("import", file="graph.jsonl", dry_run=True).data["bad"] == 0
    with pytest.raises(InvalidInput, match="not an export of ours"):
        shop("export", file="graph.jsonl", format="server-memory")


def test_a_dry_run_writes_nothing(shop: Any, call: Any, project: Path) -> None:
    (project / "in.jsonl").write_text('{"text": "one"}\n{"text": 1}\n')
    before = call("status", "--json").data["memories"]
    answer = shop("import", file="in.jsonl", dry_run=True)
    assert (answer.exit, answer.data["new"], answer.data["bad"], answer.data["dry_run"]) == (1, 1, 1, True)
    assert "line 2: text must be text, not a number" in answer.text
    assert call("status", "--json").data["memories"] == before
    assert shop("import", file="in.jsonl").data["new"] == 1


def test_newer_words_for_a_rejected_memory_do_not_set_free_what_was_rejected(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    known = {"id": "0190a000-0000-7000-8000-000000000001", "text": "retry for ever"}
    recorded = "2026-01-01T00:00:00Z"
    said = [{"version": 1, "recorded_at": recorded, "text": "retry for ever"}]
    read(engine, json.dumps({**known, "versions": said}), AGENT)
    engine.reject("1", PERSON)
    newer = {**known, "text": "retry twice", "versions": [*said, {"version": 2, "recorded_at": recorded}]}
    assert read(engine, json.dumps(newer), AGENT).refused == 1
    assert engine.show("1", AGENT)[0].text == "retry for ever"
    assert engine.record(Draft("retry for ever"), AGENT).action == "refused"


def test_another_name_never_stands_for_what_has_that_number_or_id(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    engine.record(Draft("ours"), PERSON)
    engine.add_changes(CHANGES)
    names = ["1", "#1", engine.identify("1"), CHANGES[0].sha, CHANGES[0].sha[:8], "elsewhere/7"]
    read(engine, json.dumps({"text": "theirs", "aliases": names}), AGENT)
    found = [engine.show(name, AGENT)[0].text for name in names]
    assert found == ["ours", "ours", "ours", "subject 1", "subject 1", "theirs"]


def test_no_part_of_an_anchor_and_no_importer_carries_a_secret(tmp_path: Path, make: Callable[..., Engine]) -> None:
    engine = make(tmp_path)
    anchor = dict.fromkeys(("path", "symbol", "commit", "blob", "fingerprint"), SECRET)
    assert read(engine, json.dumps({"text": "one", "anchors": [anchor]}), Scope(Origin("agent", SECRET, SECRET))).redacted >= 5
    memory, _, events = engine.history("1", AGENT)
    assert SECRET not in f"{memory} {events}"
    assert SECRET not in "".join(lines.to_line(item) for item in export(engine, private=True))
