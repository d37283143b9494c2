"""The Python door: every verb a method, items under ids of their own, and the pages of docs/api.md run."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hardwon
from hardwon.doors.ingest import SOURCES
from hardwon.doors.verbs import VERBS
from hardwon.errors import InvalidInput, NoStore
from hardwon.types import Filter, Origin
from tests.hostile import REPORT

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PERSON = Origin("person")
# How a method is called where the verb's name would not do, and verbs that are not for a library.
NAMES = {
    "import": "import_",
    "init": "",  # hardwon.open(path, make=True)
    "torture": "",  # about stores of its own
    "run": "",  # takes over a terminal; what it records goes in by ingest_junit
    "mcp": "",  # takes over the streams of a process
    "hook": "",  # likewise: a client runs it and writes to it
    "install": "", "uninstall": "", "doctor": "",  # about files in a home folder
}  # fmt: skip
# What `ingest` reads, each by a method: `ingest` itself takes items of the program's own.
INGEST = {"git", "docs", "deps", "code", "prs", "junit", "log", "transcripts", "notes", "shared"}
# Options that are a matter of the command line, or another method's argument.
DOORS = {"json", "project", "folder", "exit-code", "yes", "block", "explain", "inject", "dry-run"}


@pytest.fixture
def memory(project: Path) -> Iterator[hardwon.Repository]:
    with hardwon.open(str(project)) as opened:
        yield opened


def test_without_a_memory_it_says_so_or_makes_one(bare: Path) -> None:
    with pytest.raises(NoStore):
        hardwon.open(str(bare))
    with hardwon.open(str(bare), make=True) as made:
        assert made.recall("why do we retry uploads twice?").hits


def test_every_verb_is_a_method() -> None:
    names = {NAMES.get(verb.name, verb.name) for verb in VERBS} - {""}
    assert {name for name in names if not callable(getattr(hardwon.Repository, name.replace("-", "_"), None))} == set()


def test_every_source_of_ingest_is_a_method() -> None:
    assert set(SOURCES) == INGEST
    assert all(callable(getattr(hardwon.Repository, f"ingest_{name}", None)) for name in INGEST)


def test_methods_say_what_they_take_and_give() -> None:
    for name, method in inspect.getmembers(hardwon.Repository, inspect.isfunction):
        if not name.startswith("_"):
            signature = inspect.signature(method)
            assert method.__doc__, name
            assert signature.return_annotation is not inspect.Signature.empty, name
            assert all(p.annotation is not inspect.Parameter.empty for n, p in signature.parameters.items() if n != "self"), name


def test_what_was_recorded_is_recalled_by_another_process(project: Path, memory: hardwon.Repository) -> None:
    receipt = memory.record("Sessions live in Redis", kind="decision", because="cookies were too large", metadata={"run": 7})
    assert receipt.action == "created"
    code = "import hardwon; print(hardwon.open('.').show(1).memory.metadata)"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '{"run":7}'


def test_the_verbs_work_together(memory: hardwon.Repository) -> None:
    memory.fail("Pool.get", "the pool runs dry", file="src/db.py", detail="return connections")
    memory.ok("Pool.get", file="src/db.py")
    assert memory.query("Pool")[0].risk.fails == 1
    assert memory.before(file="src/db.py", symbol="Pool.get").hits
    assert memory.recall("pool", paths=("src",), kinds=("lesson",)).hits
    assert memory.stats().symbols == 1
    assert memory.revise(1, "the pool ran dry").action == "revised"
    assert [version.content.text for version in memory.history(1).versions] == ["the pool runs dry", "the pool ran dry"]
    assert memory.link(2, 1, "supports").action == "linked"
    assert memory.show(1).links[0][0].kind == "supports"
    assert memory.useful(1).why == "useful 1, useless 0"
    assert [receipt.action for receipt in memory.undo()] == ["taken back"]
    assert memory.resolve(1).action == "resolved"
    assert memory.deactivate(2).action == "inactive"
    assert memory.forget(1, dry_run=True).done is False
    assert memory.forget(1).ids
    assert memory.verify() == ()
    with pytest.raises(InvalidInput):
        memory.approve(2)
    with pytest.raises(InvalidInput):
        memory.fail(" ", "x")


def test_a_person_may_approve(project: Path, memory: hardwon.Repository) -> None:
    memory.record("Only UTC in the database", kind="rule")
    assert [item.memory.number for item in memory.review()] == [1]
    with hardwon.open(str(project), origin=PERSON) as own:
        assert own.approve(1).action == "approved"
        assert own.reject(1).action == "rejected"
    assert memory.record("only utc in the database").action == "refused"


def test_what_is_confirmed_is_shared_and_comes_in_elsewhere(project: Path, tmp_path: Path, memory: hardwon.Repository) -> None:
    memory.record("Only UTC in the database", kind="rule")
    memory.record("only claimed", kind="rule")
    assert memory.share().written == ()
    with hardwon.open(str(project), origin=PERSON) as own:
        own.approve(1)
    assert len(memory.share(dry_run=True).written) == 1
    assert not (project / ".hardwon").exists()
    (name,) = memory.share(1).written
    assert (project / name).is_file()
    assert memory.share().unchanged == 1
    subprocess.run(["git", "clone", "-q", str(project), str(tmp_path / "clone")], check=True)
    shutil.copytree(project / ".hardwon", tmp_path / "clone" / ".hardwon")
    with hardwon.open(str(tmp_path / "clone"), make=True, home=str(tmp_path / "other")) as other:
        assert other.ingest_shared(dry_run=True).new == 1
        assert other.ingest_shared().new == 1
        assert other.ingest_shared().new == 0
        (hit,) = other.recall("UTC in the database", kinds=["rule"]).hits
        assert hit.memory.trust == "imported"


def test_reports_and_logs_of_tests_are_recorded(
    project: Path, memory: hardwon.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "report.xml").write_text(REPORT)
    (report,) = memory.ingest_junit("report.xml", job="linux")
    assert (report.outcome.failed, report.outcome.again, report.broken) == (1, False, "")
    assert memory.ingest_junit(str(project / "report.xml"), job="linux")[0].outcome.again
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert [memory.ingest_junit("report.xml", commit=name)[0].outcome.again for name in (head, head[:9])] == [False, True]
    (project / "build.log").write_text("FAILED tests/test_a.py::test_it - AssertionError: 1\n1 failed in 0.1s\n")
    found = memory.ingest_log("build.log")
    assert (found.kind, found.outcome.failed) == ("plain", 1)
    assert memory.flaky_tests() == ()
    (project / "report.xml").write_text('<testsuite><testcase classname="tests.test_a" name="test_it"/></testsuite>')
    assert memory.ingest_junit("report.xml", commit=head)[0].outcome.flaky
    assert [test.test for test in memory.flaky_tests()] == ["tests.test_a.test_it"]


# The first seed's core: ids and metadata of the caller's own.

ITEMS = [
    ("step-1", "moved the session store to Redis", {"outcome": "worked", "step": 1}),
    ("step-2", "tried to pool connections per request", {"outcome": "failed", "step": 2}),
]


def test_items_are_kept_under_their_own_ids(memory: hardwon.Repository) -> None:
    assert [receipt.action for receipt in memory.ingest(ITEMS)] == ["created", "created"]
    memory.persist()
    ((metadata, score), *_) = memory.recall_memory("session store", k=5)
    assert (metadata["step"], metadata["outcome"], metadata["text"]) == (1, "worked", ITEMS[0][1])
    assert 0 < score <= 1
    assert [receipt.action for receipt in memory.ingest(ITEMS)] == ["unchanged", "unchanged"]
    assert memory.show("own:step-1").memory.text == ITEMS[0][1]


def test_a_known_id_is_replaced(memory: hardwon.Repository) -> None:
    memory.ingest(ITEMS)
    memory.ingest([("step-1", "moved the session store to Valkey", {"step": 11})])
    assert [m["step"] for m, _ in memory.recall_memory("session store valkey")][:1] == [11]
    page = memory.history("own:step-1")
    assert [version.version for version in page.versions] == [1, 2]
    assert memory.engine.store.check() == []


def test_equal_texts_under_two_ids_stay_two(memory: hardwon.Repository) -> None:
    memory.ingest([("a", "same words", {"n": 1}), ("b", "same words", {"n": 2})])
    memory.ingest([("b", "other words", {"n": 3})])
    assert memory.show("own:a").memory.text == "same words"
    memory.delete(["a"])
    assert memory.show("own:b").memory.status == "active"
    assert memory.record("same words").action == "created"
    assert memory.revise("own:b", "same words").action == "revised"
    assert memory.undo("own:a")[0].action == "active"


def test_deleted_items_are_gone_at_once_and_back_when_written_again(memory: hardwon.Repository) -> None:
    memory.ingest(ITEMS)
    assert len(memory.delete(["step-1", "unknown"]).ids) == 1
    assert all(m.get("step") != 1 for m, _ in memory.recall_memory("session store redis"))
    assert memory.delete(["unknown"]).ids == ()
    memory.ingest(ITEMS[:1])
    assert memory.recall_memory("session store redis")[0][0]["step"] == 1
    before, after = memory.compact()
    assert 0 < after <= before
    assert memory.verify() == ()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["", "  ", "a\nb", "x" * 301, 7])
def test_an_id_that_cannot_be_one_is_refused_before_anything_is_written(memory: hardwon.Repository, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.ingest([("fine", "text", {}), (wrong, "text", {})])
    assert memory.engine.store.read().__enter__().find(Filter(kinds=("fact",)), -1) == []


def test_metadata_that_is_no_json_is_refused(memory: hardwon.Repository) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.record("x", metadata={"when": object()})
    assert error.value.field == "metadata"


def test_secrets_in_metadata_are_taken_out_and_it_stays_json(memory: hardwon.Repository) -> None:
    receipt = memory.record("deploys", metadata={"password": "hunter2-and-9", "n": [1, {"k": "ghp_" + "a1B2" * 9}]})
    assert receipt.redacted == 2
    assert "hunter2" not in memory.show(1).memory.metadata


# The second seed's engine


def test_the_agent_memory_engine_makes_a_memory_and_builds_a_context(bare: Path) -> None:
    engine = hardwon.AgentMemoryEngine(str(bare), session="s1")
    engine.remember("handlers wrap queries in the transaction manager", kind="rule")
    engine.remember("pooling per request exhausted the server", "episodic", outcome="failed", file="src/db.py", symbol="Pool.get")
    engine.remember("run `make db` before the tests", "procedural")
    text = engine.context("how do we get a pool connection", file="src/db.py", symbol="Pool.get")
    assert "pooling per request exhausted" in text
    assert "transaction manager" in text
    assert engine.recall("make db tests")
    with pytest.raises(InvalidInput):
        engine.remember("x", "sensory")
    engine.close()


def test_the_examples_of_the_page_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.S)
    assert len(blocks) >= 5
    monkeypatch.chdir(project)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "api.md", "exec"), names)
