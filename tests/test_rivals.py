"""What other tools keep comes in whole, as imports; the interchange format goes out and comes back through its own package."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mif.models import MifDocument

from hardwon.engine.exchange import export, import_memories
from hardwon.importers import beads, claude_mem, mem0, mif
from hardwon.importers.source import BEADS, JSONL, MEM0, MIF, SERVER_MEMORY, Source, recognise
from hardwon.types import Anchor, Draft, Filter
from tests.test_exchange import AGENT, PERSON, SECRET, in_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hardwon.engine.core import Engine
    from hardwon.engine.exchange import ImportReport
    from hardwon.importers.source import Incoming
    from hardwon.types import Memory

MEM0_LIST = [
    {
        "id": "0a1b", "memory": "Uploads are retried twice", "hash": "9f", "user_id": "ann", "created_at": "2026-03-01T10:00:00-08:00",
        "updated_at": None, "metadata": {"category": "decision", "tags": ["net", "Upload Part"]}, "categories": ["backend"],
    },
    {"id": "0a1c", "memory": "The CI has no network", "created_at": "2026-03-02T10:00:00.123456"},
    {"id": "0a1d", "memory": ""},
    "no object",
]  # fmt: skip
BEADS_LINES = [
    {
        "id": "bd-1", "title": "Pool runs dry", "description": "Under load.", "design": "Cap it.", "status": "closed", "priority": 1,
        "issue_type": "bug", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z",
        "closed_at": "2026-01-02T00:00:00Z", "close_reason": "capped at 20", "labels": ["db"],
        "comments": [{"id": 1, "issue_id": "bd-1", "author": "ann", "text": "seen twice", "created_at": "2026-01-01T01:00:00Z"}],
    },
    {"_type": "issue", "id": "bd-2", "title": "Use Postgres", "status": "open", "priority": 2, "issue_type": "decision"},
    {"id": "bd-3", "title": "Gone", "status": "tombstone", "priority": 2, "issue_type": "task"},
    {"_type": "memory", "key": "race", "value": "Run the tests with -race"},
    {"id": "bd-4", "status": "open"},
]  # fmt: skip


def source(content: Any) -> Source:
    import io

    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Source(io.BytesIO(raw), "a file")


def told(found: list[Incoming]) -> tuple[list[Memory], list[str]]:
    return [one.item.memory for one in found if one.item], [one.wrong for one in found if one.wrong]


def taken(engine: Engine, found: Any) -> ImportReport:
    return import_memories(engine, found, AGENT)


def of_beads() -> bytes:
    return b"\n".join(json.dumps(line).encode() for line in BEADS_LINES)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (MEM0_LIST, MEM0),
        ({"results": MEM0_LIST[:2], "relations": []}, MEM0),
        (of_beads(), BEADS),
        ({"mif_version": "2.0", "memories": []}, MIF),
        (b'{"type": "entity", "name": "a", "entityType": "b", "observations": ["memory"]}', SERVER_MEMORY),
        (b'{"text": "a line of ours about \\"memory\\""}', JSONL),
    ],
)
def test_a_file_is_known_by_what_it_holds(content: Any, form: str) -> None:
    assert recognise(source(content)) == form


def test_what_mem0_keeps_comes_in_with_its_time_and_tags() -> None:
    memories, wrong = told(list(mem0.read(source(MEM0_LIST))))
    assert [(one.kind, one.text, one.tags) for one in memories] == [
        ("decision", "Uploads are retried twice", ("backend", "net", "upload-part")),
        ("fact", "The CI has no network", ()),
    ]
    assert memories[0].created_at == 1_772_388_000_000 and memories[1].created_at == 1_772_445_600_123
    assert json.loads(memories[0].metadata)["user_id"] == "ann"
    assert wrong == ["it says nothing: `memory` is missing or empty", "it is no object"]


def test_issues_of_beads_are_attempts_and_deleted_ones_nothing() -> None:
    memories, wrong = told(list(beads.read(source(of_beads()))))
    assert [(one.kind, one.outcome, one.text) for one in memories] == [
        ("attempt", "worked", "Pool runs dry"),
        ("decision", None, "Use Postgres"),
        ("fact", None, "Run the tests with -race"),
    ]
    assert memories[0].detail == "Under load.\n\nDesign: Cap it.\n\nClosed: capped at 20\n\nann: seen twice"
    assert memories[0].tags == ("bug", "db") and wrong == ["it has no title"]


def make_claude_mem(path: Path, *, old: bool = False) -> Path:
    """A database as its program makes it: of an early version with a text only, or of a later one with the columns added since."""
    connection = apsw.Connection(str(path))
    later = "" if old else ", title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_modified TEXT"
    connection.execute(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,"
        f" created_at_epoch INTEGER{later});"
        "CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT, learned TEXT,"
        " completed TEXT, next_steps TEXT, created_at_epoch INTEGER)"
    )
    if old:
        connection.execute("INSERT INTO observations VALUES (1, 's1', 'shop', 'The pool is capped', 'discovery', 1700000000000)")
    else:
        connection.execute(
            "INSERT INTO observations VALUES (1, 's1', 'shop', NULL, 'bugfix', 1700000000000, 'Cap the pool', 'at 20',"
            """ '["it ran dry", "under load"]', 'Connections were never given back.', '["Pooling"]', '["src/db.py"]')"""
        )
        connection.execute(
            "INSERT INTO observations (id, project, type, created_at_epoch) VALUES (2, 'shop', 'change', 1700000001)"
        )
        connection.execute(
            "INSERT INTO observations (id, project, type, text, created_at_epoch) VALUES (3, 'other', 'feature', 'x', 1)"
        )
    connection.execute(
        "INSERT INTO session_summaries VALUES (1, 's1', 'shop', 'make uploads fast', 'parts help', 'parts of 8 MB', 'tests', 1700000000000)"
    )
    connection.close()
    return path


def test_a_database_of_claude_mem_comes_in_project_by_project(tmp_path: Path) -> None:
    path = str(make_claude_mem(tmp_path / "claude-mem.db"))
    assert claude_mem.projects(path) == {"other": 1, "shop": 3}
    memories, wrong = told(list(claude_mem.read(path, "shop")))
    assert [(one.kind, one.outcome, one.text) for one in memories] == [
        ("lesson", "worked", "Cap the pool"),
        ("summary", None, "make uploads fast"),
    ]
    assert memories[0].detail == "at 20\n\nConnections were never given back.\n\n- it ran dry\n- under load"
    assert memories[0].anchors == (Anchor("src/db.py"),) and memories[0].origin.session == "s1"
    assert memories[1].detail == "Learned: parts help\n\nDone: parts of 8 MB\n\nLeft open: tests"
    assert wrong == ["it says nothing"]
    assert sorted(os.listdir(tmp_path)) == ["claude-mem.db"]


def test_an_early_database_of_claude_mem_is_read_as_well(tmp_path: Path) -> None:
    memories, _ = told(list(claude_mem.read(str(make_claude_mem(tmp_path / "old.db", old=True)), "shop")))
    assert [one.text for one in memories] == ["The pool is capped", "make uploads fast"]


def test_the_command_takes_one_project_of_claude_mem(project: Path, call: Callable[..., Any], tmp_path: Path) -> None:
    path = make_claude_mem(tmp_path / "claude-mem.db")
    done = call("import", str(path), "--only", "shop", "-p", "shop", "--json")
    assert done.code == 1 and done.data["projects"][0]["new"] == 2  # the empty observation is told
    again = call("import", str(path), "--only", "shop", "-p", "shop", "--json")
    assert (again.data["projects"][0]["new"], again.data["projects"][0]["known"]) == (0, 2)


@pytest.mark.parametrize(
    "read", [lambda: mem0.read(source(MEM0_LIST)), lambda: beads.read(source(of_beads()))], ids=["mem0", "beads"]
)
def test_what_comes_twice_is_known_and_never_comes_unasked(tmp_path: Path, read: Callable[[], Any]) -> None:
    engine = in_memory(tmp_path)
    first = taken(engine, read())
    assert first.new >= 2 and taken(engine, read()).new == 0
    with engine.store.read() as reader:
        assert {memory.trust for memory in reader.find(Filter(), -1)} == {"imported"}
    assert not engine.brief(AGENT).hits


def test_no_secret_of_another_tool_becomes_durable(tmp_path: Path) -> None:
    engine = in_memory(tmp_path)
    report = taken(engine, mem0.read(source([{"id": "1", "memory": f"the key is {SECRET}", "metadata": {"note": SECRET}}])))
    assert report.redacted == 2
    with engine.store.read() as reader:
        (memory,) = reader.find(Filter(), -1)
        assert SECRET not in memory.text + memory.metadata


# --- the interchange format


def exported(engine: Engine) -> dict[str, Any]:
    whole = json.loads("\n".join(mif.write(export(engine))))
    assert isinstance(whole, dict)
    return whole


words = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Co", "Cn"),
        exclude_characters="\u115f\u1160\u3164\uffa0",
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(words, words, st.sampled_from(["fact", "decision", "lesson"])), min_size=1, max_size=5))
def test_out_through_the_formats_own_package_and_in_again_nothing_is_lost(tmp_path_factory: Any, said: list[Any]) -> None:
    where = tmp_path_factory.mktemp("mif")
    engine = in_memory(where)
    for text, detail, kind in said:
        if text.strip():
            engine.record(Draft(text=text, detail=detail, kind=kind, because=detail, anchors=(Anchor("a/b.py", "f"),)), PERSON)
    document = exported(engine)
    passed = MifDocument.from_dict(document).to_dict()  # what another tool that knows the format does
    assert [one["content"] for one in passed["memories"]] == [one["content"] for one in document["memories"]]
    other = in_memory(where, seed=2, name="b")
    report = import_memories(other, mif.read(source(passed)), PERSON, keep_trust=True)
    assert report.new == len(document["memories"]) and not report.troubles
    assert exported(other) == document


def test_what_was_edited_elsewhere_comes_in_as_somebody_elses(tmp_path: Path) -> None:
    engine = in_memory(tmp_path)
    engine.record(Draft(text="Sessions live in Redis", kind="decision"), PERSON)
    document = exported(engine)
    document["memories"][0]["content"] = "Sessions live in Postgres"
    memories, _ = told(list(mif.read(source(document))))
    assert [(one.id, one.text, one.kind) for one in memories] == [("", "Sessions live in Postgres", "decision")]


def test_another_tools_document_needs_three_fields_only() -> None:
    document = {
        "mif_version": "2.0",
        "memories": [
            {
                "id": "x",
                "content": "Never rebase main",
                "created_at": "2026-01-01T00:00:00Z",
                "memory_type": "error",
                "tags": ["git"],
            },
            {"id": "y", "content": ""},
            7,
        ],
        "vendor_extensions": {"other": {}},
    }
    memories, wrong = told(list(mif.read(source(document))))
    assert [(one.kind, one.outcome, one.text, one.tags) for one in memories] == [
        ("lesson", "failed", "Never rebase main", ("git",))
    ]
    assert wrong == ["content is missing or empty", "it is no object"]


@pytest.mark.parametrize("reader", [mem0, beads, mif], ids=["mem0", "beads", "mif"])
@settings(max_examples=60, deadline=None)
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["memory", "memories", "mif_version", "title", "_type", "id", "content", "created_at", "metadata",
                                           "tags", "comments", "entities", "source", "results"]), inner, max_size=6),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_json_is_taken_or_told(reader: Any, content: Any) -> None:
    from hardwon.errors import InvalidInput

    try:
        list(reader.read(source(content)))
    except InvalidInput as error:
        assert error.message and error.remedy
