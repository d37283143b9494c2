"""What anybody can put into a repository's files changes nothing of what is believed here, until a person approves it.

A clone of a stranger's repository, or a branch of a colleague's, comes with ``.hardwon/memories``; it is read without being asked for.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.capture.event import Edit, Event
from hardwon.doors.backends.collection import Collection, Put
from hardwon.doors.backends.files import Files
from hardwon.engine import refusing
from hardwon.importers.lines import to_line
from hardwon.importers.shared import FOLDER, names
from hardwon.types import Anchor, Draft, ExportedMemory, Filter, Origin, Query, Scope
from tests.gitmaker import GitRepo

if TYPE_CHECKING:
    from collections.abc import Iterator

PERSON, AGENT = Scope(Origin("person")), Scope(Origin("agent", "codex", "s1"))
PLACE = Anchor("cart.py", "total")
SETTLED = "Settlement batches reconcile ledger postings nightly before invoices leave"
NAMES = ["1", "12", "HEAD", "own:openai-agents:0", "cart.py"]
STRANGER = "01a22d4a-0000-7000-8000-{:012x}"


class Ground:
    """A repository with what a person, an agent and programs kept of it."""

    def __init__(self, where: str) -> None:
        self.repo = GitRepo(where)
        self.repo.commit("start", {"cart.py": "def total(items):\n    return sum(items)\n"})
        self.memory = hardwon.open(where, make=True)
        self.engine = self.memory.engine
        self.engine.refresh_code(None)
        self.values, self.files = Collection(self.memory, "openai-agents"), Files(self.memory)
        failed = Draft("sum overflows", "lesson", "failed", anchors=(PLACE,))
        settled = Draft(SETTLED, "decision")
        rule = Draft("Money is counted in cents", "rule", because="floats lose pennies")
        claimed = Draft("tried decimals", "attempt", "open", anchors=(PLACE,))
        worked = Draft("integers work", "lesson", "worked", anchors=(PLACE,))
        said = ((failed, PERSON), (rule, PERSON), (settled, PERSON), (claimed, AGENT), (worked, AGENT), (failed, PERSON))
        self.own = list(dict.fromkeys(self.engine.record(draft, scope).id for draft, scope in said))
        self.engine.record(Draft("We count money now", "summary"), AGENT)
        for number, word in enumerate(["proxy", "cookie", "mailer", "thumbnail", "locale", "webhook", "sitemap"] * 4):
            self.engine.record(Draft(f"The {word} waits {number} seconds", "fact"), AGENT)
        self.values.put([Put(("user-7",), "0", {"role": "user", "content": "hello"}, "hello")])
        self.files.create("/memories/notes.md", "mine\n")

    @property
    def folder(self) -> str:
        return os.path.join(self.repo.path, FOLDER)

    def share(self, data: dict[str, Any]) -> None:
        """A file that somebody else put there."""
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, f"{data['id']}.json"), "w", encoding="utf-8") as file:
            json.dump({"hardwon": 1, **data}, file)

    def line(self, identifier: str) -> dict[str, Any]:
        """All that belongs to a memory of ours."""
        with self.engine.store.read() as reader:
            (known,) = reader.get([identifier])
            versions, occurrences = reader.versions(identifier), reader.occurrences(identifier)
        line: dict[str, Any] = json.loads(to_line(ExportedMemory(known, tuple(versions), tuple(occurrences), (), ())))
        return line

    def take_in(self) -> None:
        """What happens by itself, in the background."""
        self.engine.ingest_shared(Scope(Origin("import", "", "", "refresh")))
        for name in names(self.repo.path):
            os.unlink(os.path.join(self.folder, name))

    def told(self) -> Any:
        """Everything that is believed here, and what is said of it unasked."""
        with self.engine.store.read() as reader:
            kept = [
                (
                    memory,
                    reader.occurrences(memory.id),
                    reader.versions(memory.id),
                    reader.aliases(memory.id),
                    reader.links(memory.id),
                )
                for memory in reader.get(self.own)
            ]
        blocks = [self.engine.brief(scope, 2_000).block for scope in (PERSON, AGENT)]
        blocks += [self.engine.before("cart.py", "total", scope, 2_000).block for scope in (PERSON, AGENT)]
        blocks += [self.engine.recall_unasked(Query(SETTLED), PERSON).block]
        assert all(blocks)
        edit = Edit("cart.py", "    return sum(items)\n", "    return len(items)\n")
        call = Event(
            "before", "codex", "s9", self.engine.clock(), cwd=self.repo.path, tool="edit", edits=(edit,), paths=("cart.py",)
        )
        risks = [(one.symbol, one.score, one.fails, one.successes) for one in self.engine.risks("", PERSON)]
        everything = [report.risk.replace(impact=None) for report in self.engine.query("", "", PERSON, everything=True)]
        programs = [[one.value for one in self.values.listed(prefix)] for prefix in ((), ("user-7",))]
        found = [one.value for one in self.values.search((), "hello attacker", 5)]
        with self.engine.store.read() as reader:
            named = [reader.aliased(name) for name in NAMES]
        files = (self.files.view("/memories"), self.files.view("/memories/notes.md"))
        return (
            kept,
            blocks,
            risks,
            everything,
            programs,
            found,
            named,
            files,
            refusing.before(self.engine, call, AGENT, "risk").refuse,
        )


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARDWON_HOME", str(tmp_path_factory.mktemp("home")))
        ground = Ground(str(tmp_path_factory.mktemp("shop")))
        with ground.memory:
            yield ground


@pytest.fixture
def ground(shop: Ground) -> Iterator[Ground]:
    """The same for every test: what the last one took in is forgotten."""
    yield shop
    with shop.engine.store.read() as reader:
        taken = [memory.id for memory in reader.find(Filter(trusts=("imported", "quarantined")), -1)]
    if taken:
        shop.engine.forget(Filter(ids=tuple(taken)), PERSON, dry_run=False)


def failures(count: int) -> list[dict[str, Any]]:
    return [{"at": f"2030-01-01T00:{one // 60:02}:{one % 60:02}Z", "status": "active", "who": "person"} for one in range(count)]


def test_failures_that_a_file_tells_of_raise_no_risk(ground: Ground) -> None:
    before = ground.told()
    said = {"kind": "lesson", "outcome": "failed", "text": "sum overflows", "anchors": [{"path": "cart.py", "symbol": "total"}]}
    line = ground.line(ground.own[0])
    ground.share({**line, "occurrences": [*line["occurrences"], *failures(300)], "seen": 302})
    for number in range(12):  # nor do files of their own
        ground.share({"id": STRANGER.format(number), **said, "text": f"total fails {number}", "origin": {"who": "person"}})
    ground.take_in()
    assert ground.told() == before
    taken = ground.engine.show(STRANGER.format(0), PERSON)[0]
    assert (taken.trust, taken.origin.who) == ("imported", "import")


def test_a_file_ties_what_is_believed_here_to_nothing(ground: Ground) -> None:
    before = ground.told()
    first, second = ground.own[:2]
    links = [{"kind": "replaces", "to": first}, {"kind": "contradicts", "to": second}]
    ground.share({"id": STRANGER.format(30), "text": "no", "links": links})
    ground.share({**ground.line(first), "links": [{"kind": "replaces", "to": STRANGER.format(30)}], "aliases": ["12"]})
    ground.share({**ground.line(second), "id": STRANGER.format(31), "links": [{"kind": "supports", "to": STRANGER.format(30)}]})
    ground.take_in()
    assert ground.told() == before


def test_a_lesson_of_a_file_counts_once_it_is_approved(ground: Ground) -> None:
    (before,) = [one for one in ground.engine.risks("", PERSON) if one.symbol == "total"]
    said = {"kind": "lesson", "outcome": "failed", "text": "empty carts", "anchors": [{"path": "cart.py", "symbol": "total"}]}
    ground.share({"id": STRANGER.format(40), **said})
    ground.take_in()
    ground.engine.approve(STRANGER.format(40), PERSON)
    (after,) = [one for one in ground.engine.risks("", PERSON) if one.symbol == "total"]
    assert after.fails == before.fails + 1
    again = ground.engine.record(Draft("empty carts", "lesson", "failed", anchors=(PLACE,)), PERSON)
    assert again.id == STRANGER.format(40)
    ground.engine.forget(Filter(ids=(again.id,)), PERSON, dry_run=False)


def test_what_is_recorded_here_does_not_become_one_more_occurrence_of_a_strangers(ground: Ground) -> None:
    said = {"kind": "lesson", "outcome": "worked", "text": "worked", "anchors": [{"path": "cart.py", "symbol": "total"}]}
    ground.share({"id": STRANGER.format(50), **said, "detail": "ATTACKER", "tags": ["openai-agents"]})
    ground.take_in()
    kept = ground.engine.record(Draft("worked", "lesson", "worked", anchors=(PLACE,)), PERSON)
    memory = ground.engine.show(kept.id, PERSON)[0]
    assert (memory.trust, memory.detail, memory.tags) == ("confirmed", "", ())
    ground.engine.forget(Filter(ids=(kept.id,)), PERSON, dry_run=False)


def test_a_file_gives_programs_no_values(ground: Ground) -> None:
    before = ground.told()
    memory_tool = Collection(ground.memory, "memory-tool")
    attack = {"kind": "fact", "text": "x y z", "trust": "claimed"}
    for number, (values, namespace, key) in enumerate(
        [(memory_tool, (), "notes.md"), (memory_tool, (), "todo.md"), (ground.values, ("user-7",), "1")]
    ):
        name = values._name(namespace, key)
        value = {"text": "ATTACKER"} if values is memory_tool else {"role": "system", "content": "ATTACKER"}
        ground.share(
            {
                **attack, "id": STRANGER.format(60 + number), "aliases": [f"own:{name}", name],
                "tags": [values._tag(()), values._tag(namespace)],
                "metadata": {"namespace": list(namespace), "key": key, "value": value, "silent": False},
            }
        )  # fmt: skip
    ground.take_in()
    assert ground.told() == before
    assert ground.values.get(("user-7",), "1") is None
    ground.files.create("/memories/todo.md", "mine as well\n")
    assert "mine as well" in ground.files.view("/memories/todo.md")
    ground.files.delete("/memories/todo.md")


def test_many_files_crowd_nothing_out_of_what_is_said_unasked(ground: Ground) -> None:
    before = ground.told()
    kinds = [("rule", None), ("decision", None), ("summary", None), ("attempt", "open"), ("lesson", "failed")]
    for number in range(260):
        kind, outcome = kinds[number % len(kinds)]
        ground.share(
            {
                "id": STRANGER.format(100 + number), "kind": kind, "outcome": outcome, "text": f"sum overflows, money in cents {number}",
                "created_at": "2099-01-01T00:00:00Z", "anchors": [{"path": "cart.py", "symbol": "total"}],
            }
        )  # fmt: skip
    ground.take_in()
    assert ground.told() == before
    assert ground.engine.show(STRANGER.format(100), PERSON)[0].created_at <= ground.engine.clock()


def test_many_files_crowd_nothing_out_of_what_a_prompt_brings_to_mind(ground: Ground) -> None:
    for number in range(24):  # more than are looked at
        ground.share({"id": STRANGER.format(500 + number), "kind": "decision", "text": f"{SETTLED} {SETTLED} {number}"})
    ground.take_in()
    assert SETTLED in ground.engine.recall_unasked(Query(SETTLED), PERSON).block


def shared_files(own: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Files with any fields: ids, words and names of what is here among them."""
    ids = st.sampled_from(every := [*own, *(STRANGER.format(1000 + number) for number in range(4))])
    texts = st.sampled_from(["sum overflows", "Money is counted in cents", "tried decimals", "integers work", "something else"])
    times = st.sampled_from(["1999-01-01T00:00:00Z", "2026-11-01T10:00:00Z", "2099-01-01T00:00:00Z"])
    kinds = st.sampled_from(["lesson", "attempt", "rule", "decision", "fact", "summary", "howto", "doc"])
    statuses = st.sampled_from(["active", "resolved", "inactive", "replaced", "rejected", "forgotten", "quarantined", "expired"])
    origin = st.fixed_dictionaries({"who": st.sampled_from(["person", "agent", "test", "history", "import"])}, optional={
        "client": st.sampled_from(["codex", "docs", "shared"]), "session": st.just("s1"),
    })  # fmt: skip
    anchors = st.lists(st.just({"path": "cart.py", "symbol": "total"}), max_size=1)
    links = st.lists(
        st.fixed_dictionaries({"kind": st.sampled_from(["replaces", "contradicts", "supports"]), "to": st.sampled_from(every)}),
        max_size=3,
    )
    version = st.fixed_dictionaries({"recorded_at": times}, optional={"text": texts, "erased": st.booleans(), "kind": kinds})
    versions = st.lists(version, max_size=3).map(lambda all_: [{"version": at, **one} for at, one in enumerate(all_, start=1)])
    names_ = st.lists(st.sampled_from([*own, *NAMES]), max_size=3)
    optional = {
        "kind": kinds, "outcome": st.sampled_from(["failed", "worked", "open"]), "status": statuses, "links": links, "anchors": anchors,
        "trust": st.sampled_from(["confirmed", "proven", "history", "claimed", "quarantined"]), "versions": versions, "aliases": names_,
        "occurrences": st.lists(st.fixed_dictionaries({"at": times, "status": statuses}), max_size=20), "origin": origin,
        "created_at": times, "updated_at": times, "valid_until": times, "expires_at": times, "replaced_by": st.sampled_from(own),
        "useful": st.integers(0, 50), "useless": st.integers(0, 50), "seen": st.integers(1, 500), "detail": st.just("ATTACKER"),
        "tags": st.just(["openai-agents"]), "visibility": st.sampled_from(["shared", "private"]),
        "metadata": st.just({"namespace": ["user-7"], "key": "0", "value": {"role": "system"}, "silent": False}),
    }  # fmt: skip
    return st.fixed_dictionaries({"id": ids, "text": texts}, optional=optional)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_file_says_what_is_believed_here_stays(ground: Ground, data: st.DataObject) -> None:
    before = ground.told()
    for said in data.draw(st.lists(shared_files(ground.own), min_size=1, max_size=6)):
        ground.share(said)
    ground.take_in()
    assert ground.told() == before
    receipt = ground.engine.record(Draft("something else", "fact"), PERSON)
    kept = ground.engine.show(receipt.id, PERSON)[0]
    assert (kept.trust, kept.detail, kept.tags) == ("confirmed", "", ())
    ground.engine.forget(Filter(ids=(receipt.id,)), PERSON, dry_run=False)
