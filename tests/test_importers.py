"""Files of others: databases of the first code-memory tool, knowledge graphs, Markdown notes; and every way in which a file is bad."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import random
import shutil
import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path
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
from hardwon.engine import opening
from hardwon.engine.exchange import ImportReport, export, import_memories
from hardwon.errors import HardwonError, InvalidInput
from hardwon.importers import code_memory, lines, notes, server_memory, source
from hardwon.importers.source import Source
from hardwon.settings import Settings
from hardwon.types import Anchor, Draft, Origin, Query, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hardwon.engine.core import Engine
    from hardwon.importers.source import Incoming

PERSON = Scope(Origin("person", "", "", "cli"))
AGENT = Scope(Origin("agent", "codex", "s1", "cli"))
NOW = 1_800_000_000_000
DAY = 86_400_000

SCHEMA = """
CREATE TABLE symbols (
    id INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT NOT NULL, file TEXT NOT NULL DEFAULT '', name TEXT NOT NULL,
    fail_count INTEGER DEFAULT 0, success_count INTEGER DEFAULT 0, last_fail TEXT, last_success TEXT, risk_score REAL DEFAULT 0,
    UNIQUE (project, file, name)
);
CREATE TABLE experiences (
    id INTEGER PRIMARY KEY AUTOINCREMENT, symbol_id INTEGER NOT NULL REFERENCES symbols (id), type TEXT NOT NULL, lesson TEXT NOT NULL,
    detail TEXT, session_id TEXT, status TEXT NOT NULL DEFAULT 'active', created_at TEXT NOT NULL
);
PRAGMA user_version = 2;
"""
OLDER = """
CREATE TABLE symbols (id INTEGER PRIMARY KEY, project TEXT, name TEXT, fail_count INTEGER, success_count INTEGER);
CREATE TABLE experiences (id INTEGER PRIMARY KEY, symbol_id INTEGER, type TEXT, lesson TEXT, created_at TEXT);
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(tmp_path)
    yield made
    assert made.verify() == []
    made.close()


def open_engine(where: Path, name: str = "store") -> Engine:
    return hardwon.open_store(str(where / f"{name}.db"), clock=lambda: NOW, entropy=random.Random(1).randbytes)


def take(engine: Engine, incoming: Iterable[Incoming], **options: Any) -> ImportReport:
    return import_memories(engine, incoming, AGENT, **options)


def stream(content: str | bytes) -> Source:
    return Source(io.BytesIO(content.encode() if isinstance(content, str) else content), "a file")


# Databases of cm.py


def local(at: int) -> str:
    """A time as cm.py writes it: local, without a zone."""
    return datetime.fromtimestamp(at / 1000).isoformat()


class Seed:
    """A database of cm.py with its own formula, from what its page says."""

    def __init__(self, path: Path, schema: str = SCHEMA) -> None:
        self.path = path
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.executescript(schema)

    def add(
        self, project: str, file: str, name: str, kind: str, lesson: str, at: int, status: str = "active", detail: str = ""
    ) -> int:
        self.db.execute("INSERT OR IGNORE INTO symbols (project, file, name) VALUES (?, ?, ?)", (project, file, name))
        (symbol,) = self.db.execute(
            "SELECT id FROM symbols WHERE (project, file, name) = (?, ?, ?)", (project, file, name)
        ).fetchone()
        row = (symbol, kind, lesson, detail, "s1", status, local(at))
        made = self.db.execute(
            "INSERT INTO experiences (symbol_id, type, lesson, detail, session_id, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        self.db.commit()
        return int(made.lastrowid or 0)

    def figures(self, project: str, now: int) -> dict[tuple[str, str], tuple[int, int, float]]:
        """fail_count, success_count and risk_score of each symbol of a project that has active experiences."""
        found = {}
        for symbol, file, name in self.db.execute("SELECT id, file, name FROM symbols WHERE project = ?", (project,)).fetchall():
            rows = self.db.execute(
                "SELECT type, created_at FROM experiences WHERE symbol_id = ? AND status = 'active' ORDER BY created_at, id",
                (symbol,),
            ).fetchall()
            fails = [datetime.fromisoformat(at) for kind, at in rows if kind == "fail"]
            successes = len(rows) - len(fails)
            row = len(list(itertools.takewhile(lambda one: one[0] == "fail", reversed(rows))))
            quiet = datetime.fromtimestamp(now / 1000) - max(fails) if fails else None
            weight = 0.0 if quiet is None else 1.0 if quiet <= timedelta(7) else 0.5 if quiet <= timedelta(30) else 0.2
            score = len(fails) * 1.0 + weight * 1.5 + row * 1.5 - successes * 0.3
            if rows:
                found[name, file] = (len(fails), successes, round(max(0.0, score), 2))
        return found


def figures(engine: Engine) -> dict[tuple[str, str], tuple[int, int, float]]:
    return {(risk.symbol, risk.file): (risk.fails, risk.successes, risk.score) for risk in engine.risks("", PERSON)}


_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["shop", "api"]),
        st.sampled_from(["", "a.py", "src/b.py"]),
        st.sampled_from(["A.run", "B.run"]),
        st.sampled_from(["fail", "fail", "success"]),
        st.sampled_from(["it broke", "It  BROKE", "worked", "世界", "x" * 600, "two\nlines"]),
        st.integers(0, 60),
        st.sampled_from(["active", "active", "active", "resolved", "inactive"]),
        st.sampled_from(["", "do this", "do that"]),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=_ROWS)
def test_counts_and_risk_are_those_of_the_first_tool(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    where = tmp_path_factory.mktemp("seed")
    seed = Seed(where / "cm.db")
    for project, file, name, kind, lesson, days, status, detail in rows:
        seed.add(project, file, name, kind, lesson, NOW - days * DAY, status, detail)
    for project in ("shop", "api"):
        engine = open_engine(where, project)
        report = take(engine, code_memory.read(str(seed.path), project))
        assert not report.bad, report.troubles
        assert figures(engine) == seed.figures(project, NOW)
        assert engine.verify() == []
        for (number,) in seed.db.execute(
            "SELECT e.id FROM experiences e JOIN symbols s ON s.id = symbol_id WHERE project = ?", (project,)
        ):
            assert engine.show(f"cm:{project}/{number}", PERSON)[0].anchors
        again = take(engine, code_memory.read(str(seed.path), project))
        assert (again.new, again.repeated, again.conflicts) == (0, 0, 0)
        assert figures(engine) == seed.figures(project, NOW)
        engine.close()
    seed.db.close()


def test_equal_texts_are_one_memory_whose_occurrences_keep_their_status(tmp_path: Path, engine: Engine) -> None:
    seed = Seed(tmp_path / "cm.db")
    for number, (status, detail) in enumerate([("resolved", "one"), ("active", ""), ("inactive", "two")]):
        seed.add("shop", ".\\src\\..\\auth\\a.py", "A.run", "fail", "it broke", NOW - DAY + number, status, detail)
    assert take(engine, code_memory.read(str(seed.path), "shop")).new == 1
    memory, occurrences, _ = engine.show("cm:shop/2", PERSON)
    assert (memory.seen, memory.status, memory.detail, memory.version, memory.trust) == (3, "active", "two", 2, "imported")
    assert [(one.path, one.symbol) for one in memory.anchors] == [("auth/a.py", "A.run")]
    assert [one.status for one in occurrences] == ["resolved", "active", "inactive"]
    assert (memory.origin.who, memory.origin.client, memory.origin.session) == ("agent", "cm.py", "s1")
    seed.add("shop", "auth/a.py", "A.run", "fail", "it broke", NOW)
    seed.db.execute("UPDATE experiences SET symbol_id = 1")
    seed.db.commit()
    report = take(engine, code_memory.read(str(seed.path), "shop"))
    assert (report.new, report.repeated) == (0, 1) and engine.show("cm:shop/4", PERSON)[0].seen == 4
    seed.db.close()


def test_older_databases_have_no_status_and_no_file(tmp_path: Path, engine: Engine) -> None:
    db = sqlite3.connect(tmp_path / "cm.db")
    db.executescript(OLDER)
    db.execute("INSERT INTO symbols VALUES (1, 'shop', 'A.run', 1, 0)")
    db.executemany(
        "INSERT INTO experiences VALUES (?, 1, ?, ?, ?)",
        [(1, "fail", "it broke", "2026-07-24 09:30:00"), (2, "success", None, None)],
    )
    db.commit()
    db.close()
    assert code_memory.projects(str(tmp_path / "cm.db")) == {"shop": 2}
    assert take(engine, code_memory.read(str(tmp_path / "cm.db"), "shop")).new == 2
    assert engine.show("cm:shop/1", PERSON)[1][0].at == 1_784_885_400_000  # CURRENT_TIMESTAMP is UTC
    assert engine.show("cm:shop/2", PERSON)[0].text == "worked"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-07-24T09:30:00.125+02:00", 1_784_878_200_125), ("2026-07-24 09:30:00", 1_784_885_400_000),
        ("2026-07-24T09:30:00Z", 1_784_885_400_000),
        ("", None), ("yesterday", None), ("0001-01-01T00:00:00+00:00", None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_times_of_the_first_tool(text: str, at: int | None) -> None:
    assert code_memory.to_millis(text) == at


def test_a_time_without_a_zone_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        expected = datetime(2026, 7, 24, 0, 30, tzinfo=timezone.utc).timestamp() * 1000  # noqa: UP017
        assert code_memory.to_millis("2026-07-24T09:30:00") == expected
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def files(where: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in where.iterdir() if path.is_file()}


def test_a_database_is_read_beside_its_live_writer_and_never_written(tmp_path: Path) -> None:
    where = tmp_path / "theirs"
    where.mkdir()
    seed = Seed(where / "cm.db")
    seed.db.execute("PRAGMA journal_mode = WAL")
    seed.add("shop", "", "A.run", "fail", "in the log only", NOW)
    seed.db.execute("BEGIN IMMEDIATE")
    before = files(where)
    engine = open_engine(tmp_path)
    assert take(engine, code_memory.read(str(seed.path), "shop")).new == 1
    assert {name: raw for name, raw in files(where).items() if not name.endswith("-shm")} == {
        name: raw for name, raw in before.items() if not name.endswith("-shm")
    }
    seed.db.rollback()
    copy = tmp_path / "copy"  # of a running one: a log without its index
    copy.mkdir()
    shutil.copy(where / "cm.db", copy)
    shutil.copy(where / "cm.db-wal", copy)
    assert take(engine, code_memory.read(str(copy / "cm.db"), "shop")).known == 1
    assert files(copy).keys() == {"cm.db", "cm.db-wal"}
    seed.db.close()  # moves the log, and takes it away
    assert files(where).keys() == {"cm.db"}
    assert take(engine, code_memory.read(str(seed.path), "shop")).known == 1
    assert files(where).keys() == {"cm.db"}
    engine.close()


def test_a_database_in_a_folder_that_cannot_be_written(tmp_path: Path, engine: Engine) -> None:
    where = tmp_path / "theirs"
    where.mkdir()
    seed = Seed(where / "cm.db")
    seed.db.execute("PRAGMA journal_mode = WAL")
    seed.add("shop", "", "A.run", "fail", "it broke", NOW)
    seed.db.close()
    (where / "cm.db").chmod(0o400)
    where.chmod(0o500)
    try:
        assert take(engine, code_memory.read(str(where / "cm.db"), "shop")).new == 1
    finally:
        where.chmod(0o700)


# Projects


@pytest.fixture
def where(tmp_path: Path, home: Path) -> Path:
    """A folder called ``shop`` with a memory of its own."""
    folder = tmp_path / "shop"
    folder.mkdir()
    opening.create(str(folder), str(home)).close()
    return folder


@pytest.fixture
def shop(where: Path, home: Path) -> Callable[..., Answer]:
    """``shop("import", file="cm.db")``: a verb in that folder, by an agent."""

    def run(verb: str, scope: Scope = AGENT, **given: Any) -> Answer:
        named = {name.replace("_", "-"): value for name, value in given.items()}
        call = Call(Request(None, named), Settings(str(home)), scope, Paint(False), str(where))
        try:
            return (export_verb if verb == "export" else import_verb)(call)
        finally:
            call.close()

    return run


def test_each_project_goes_to_its_own_memory(shop: Any, call: Any, where: Path, tmp_path: Path) -> None:
    seed = Seed(tmp_path / "cm.db")
    for name in ("shop", "default", "payments", "Odd Name"):
        seed.add(name, "a.py", "A.run", "fail", f"of {name}", NOW)
    seed.db.close()
    would = shop("import", file=str(seed.path), dry_run=True).data["projects"]
    assert [(one["project"], one["name"], one["new"]) for one in would] == [
        ("shop", "shop", 1), ("default", "shop", 1), ("payments", "payments", 1), ("Odd Name", "odd-name", 1),
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match="no project is called"):
        shop("export", project="payments")
    done = shop("import", file=str(seed.path)).data["projects"]
    assert [{**one, "dry_run": True} for one in done] == would
    assert call("show", "cm:shop/1", "--json", cwd=where).data["text"] == "of shop"
    assert call("-p", "payments", "show", "cm:payments/3", "--json", cwd=where).data["text"] == "of payments"
    assert call("-p", "odd-name", "verify", cwd=where).code == 0
    again = shop("import", file=str(seed.path)).data["projects"]
    assert all((one["known"], one["new"]) == (1, 0) for one in again)


def test_projects_are_chosen_and_mapped(shop: Any, call: Any, where: Path, tmp_path: Path) -> None:
    seed = Seed(tmp_path / "cm.db")
    for name in ("one", "two", "a b", "a-b"):
        seed.add(name, "a.py", "A.run", "fail", f"of {name}", NOW)
    seed.db.close()
    path = str(seed.path)
    for wrong, options in (
        ("would both become", {}), ("no project 'three'", {"only": ["three"]}), ("-p names one memory", {"project": "shop"}),
        ("not OLD=NAME", {"project_map": ["one"]}), ("cannot be a project's name", {"project_map": ["one=../x"], "only": ["one"]}),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=wrong):
            shop("import", file=path, **options)
    assert shop("import", file=path, only=["one"], project="shop").data["projects"][0]["name"] == "shop"
    assert shop("import", file=path, only=["two"], project_map=["two=shop"]).data["projects"][0]["new"] == 1
    assert call("query", "--json", cwd=where).data["symbols"][0]["fail_count"] == 2


# Knowledge graphs

GRAPH = [
    {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["writes Rust", "two\nlines", "y" * 900]},
    {"type": "entity", "name": "Redis", "entityType": "data store", "observations": []},
    {"type": "relation", "from": "Ann", "to": "Redis", "relationType": "works_with"},
]


def graph_lines(graph: list[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in graph)


def test_a_graph_comes_in_as_facts_and_goes_out_as_it_was(engine: Engine) -> None:
    report = take(engine, server_memory.read(stream(graph_lines(GRAPH))))
    assert (report.new, report.bad) == (5, 0)
    texts = [item.memory.text for item in export(engine)]
    assert texts[0] == "Ann: writes Rust" and texts[-1] == "Ann works with Redis" and "Redis (data store)" in texts
    assert [json.loads(line) for line in server_memory.write(export(engine))] == GRAPH
    again = take(engine, server_memory.read(stream(graph_lines(GRAPH))))
    assert (again.new, again.known) == (0, 5)
    assert engine.recall(Query("Ann writes Rust?"), PERSON).hits[0].memory.text == "Ann: writes Rust"


# Hangul fillers are letters that nobody sees, and are taken out like other hidden characters.
_FILLERS = "\u115f\u1160\u3164\uffa0"
_SEEN = st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Z", "M"), exclude_characters=_FILLERS)


@settings(max_examples=20, deadline=None)
@given(observations=st.lists(st.text(_SEEN, min_size=1, max_size=40), max_size=5, unique_by=str.casefold))
def test_any_graph_goes_out_as_it_came(tmp_path_factory: pytest.TempPathFactory, observations: list[str]) -> None:
    from unicodedata import normalize

    graph = [
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": [normalize("NFC", one) for one in observations]}
    ]
    made = open_engine(tmp_path_factory.mktemp("graph"))
    report = take(made, server_memory.read(stream(graph_lines(graph))))
    if not report.redacted and len(set(map(str.casefold, graph[0]["observations"]))) == len(observations):  # type: ignore[call-overload]
        assert [json.loads(line) for line in server_memory.write(export(made))] == graph
    made.close()


def test_variants_of_the_graph_are_understood(engine: Engine) -> None:
    observation = {"content": "writes Go", "timestamp": "2026-01-02T03:04:05Z"}
    whole = {
        "entities": [{"name": "Ann", "entityType": "person", "observations": [observation]}],
        "relations": [{"from": "Ann", "to": "Go", "relationType": "likes"}],
    }
    for text in (json.dumps(whole, indent=2), json.dumps(whole)):
        assert source.recognise(stream(text)) == source.SERVER_MEMORY
        found = list(server_memory.read(stream(text)))
        assert [one.item.memory.text for one in found if one.item] == ["Ann: writes Go", "Ann likes Go"]
    assert found[0].item is not None and found[0].item.memory.created_at == 1_767_323_045_000


# Notes

NOTE = """---
title: Authentication Design
type: note
tags: [auth, Security]
created: 2026-01-02
---
# Authentication Design

Some words about logins.

## Observations
- [decision] Using JWT tokens for stateless sessions #security (measured)
- [requirement] Tokens expire after 15 minutes
- [x] a task that is done
- a plain item

```
- [decision] not this one, it is code
```

## Relations
- implements [[API Security Requirements]]
"""


def test_a_note_of_somebody_is_cut_into_observations_relations_and_passages(engine: Engine) -> None:
    report = take(engine, notes.read(Source(io.BytesIO(NOTE.encode()), "auth.md")))
    assert (report.new, report.bad) == (5, 0)
    found = {item.memory.text: item.memory for item in export(engine)}
    assert found["Using JWT tokens for stateless sessions (measured)"].kind == "decision"
    assert found["Using JWT tokens for stateless sessions (measured)"].tags == ("decision", "security", "auth")
    assert found["Tokens expire after 15 minutes"].kind == "rule"
    assert found["Authentication Design"].detail == "Some words about logins."
    assert "not this one" in found["Authentication Design › Observations"].detail
    assert "[x] a task" in found["Authentication Design › Observations"].detail
    assert found["Authentication Design implements API Security Requirements"].tags[0] == "relation"
    assert all(memory.created_at == 1_767_312_000_000 for memory in found.values())
    assert take(engine, notes.read(Source(io.BytesIO(NOTE.encode()), "auth.md"))).known == 5


def test_a_folder_of_notes(engine: Engine, tmp_path: Path) -> None:
    where = tmp_path / "notes"
    (where / "sub").mkdir(parents=True)
    (where / ".obsidian").mkdir()
    (where / "a.md").write_text("# A\n\nfirst")
    (where / "sub" / "b.md").write_bytes(b"# B\r\n\r\nsecond\r\n")
    (where / "bad.md").write_bytes(b"\xff\xfe\0")
    (where / "big.md").write_text("x" * 1_100_000)
    (where / "other.png").write_bytes(b"\x89PNG")
    (where / ".obsidian" / "c.md").write_text("# hidden\n\nnot this")
    (where / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(where / "pipe.md")
    report = take(engine, notes.read_folder(str(where)))
    assert (report.new, report.bad) == (2, 2)
    assert [trouble.where for trouble in report.troubles] == ["bad.md", "big.md"]
    with pytest.raises(InvalidInput, match="no Markdown notes"):
        take(engine, notes.read_folder(str(where / ".obsidian" / "..")[:0] or str(tmp_path / "nothing")))


_WORDS = ["a", "`", "-", "\\", "#", "\n", "\n", ":", " ", '"', "é", "hardwon: 1", "---", "```", "## Code"]
_LINES = st.lists(st.sampled_from(_WORDS), max_size=20).map("".join)


@settings(max_examples=150, deadline=None)
@given(text=_LINES, detail=_LINES, code=_LINES, because=_LINES, rejected=st.lists(_LINES, max_size=2))
def test_our_notes_come_back_whatever_they_say(text: str, detail: str, code: str, because: str, rejected: list[str]) -> None:
    """Nothing that a memory says can begin another note, or end its own parts."""
    from hardwon.intake.shape import shape
    from hardwon.types import ExportedMemory, Memory, Version

    draft = Draft("t " + text, "decision", None, detail, code, because, tuple(rejected), (Anchor("a.py", "A.b"),), ("x",))
    said = shape(draft)
    memory = Memory(
        "01a228f0-b8b3-752e-a4f8-193cf8bf2a73", 1, said.kind, None, said.text, detail=said.detail, code=said.code, because=said.because,
        rejected=said.rejected, anchors=said.anchors, tags=said.tags, created_at=NOW, metadata='{"a":"---"}',
    )  # fmt: skip
    both = [ExportedMemory(memory, (Version(memory.id, 1, memory, NOW, None),))] * 2
    written = "\n".join(notes.write(both)) + "\n"
    found = list(notes.read(stream(written)))
    assert len(found) == 2
    for one in found:
        assert one.item is not None, one.wrong
        back = one.item.memory
        shaped = shape(
            Draft(back.text, back.kind, None, back.detail, back.code, back.because, back.rejected, back.anchors, back.tags)
        )
        assert shaped == said.replace(metadata=""), (shaped, said)
        assert (back.id, back.trust, back.created_at) == (memory.id, memory.trust, NOW)


# Hostile files. Each kind of file is opened by name with its format forced, and (where it is a stream) read whole.


def valid_database(where: Path) -> bytes:
    return database(
        where,
        SCHEMA + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) "
        "INSERT INTO symbols (project, name) SELECT 'shop', 'A.m' || i FROM n;"
        "INSERT INTO experiences SELECT id, id, 'fail', 'it broke ' || id, '', 's1', 'active', '2026-07-24T09:30:00' FROM symbols;",
    )


def database(where: Path, script: str) -> bytes:
    path = where / "made.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript(script)
    db.commit()
    db.close()
    return path.read_bytes()


PLACES: dict[str, Callable[[Path], str]] = {
    "missing": lambda where: str(where / "missing"),
    "a folder without notes": str,
    "a pipe": lambda where: os.mkfifo(where / "pipe") or str(where / "pipe"),  # type: ignore[func-returns-value]
    "an endless device": lambda where: "/dev/zero",
    "a terminal or nothing": lambda where: "/dev/null",
    "a link": lambda where: (where / "link").symlink_to("/etc/passwd") or str(where / "link"),  # type: ignore[func-returns-value]
    "a loop of links": lambda where: (where / "loop").symlink_to("loop") or str(where / "loop"),  # type: ignore[func-returns-value]
    "a name with NUL": lambda where: "a\0b",
    "a long name": lambda where: "x" * 5000,
    "a name with SQL": lambda where: "x'; DROP TABLE memories; --",
    "a file as a folder": lambda where: "/etc/passwd/x",
}
FORMS = ("", *source.FORMATS)


@pytest.mark.parametrize("place", list(PLACES))
def test_a_bad_place_is_an_error_in_every_format(shop: Any, tmp_path: Path, place: str) -> None:
    path = PLACES[place](tmp_path)
    for form in FORMS:
        with pytest.raises(HardwonError):
            shop("import", file=path, format=form)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(shop: Any, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{}")
    (tmp_path / "x").chmod(0)
    with pytest.raises(InvalidInput, match="cannot be read"):
        shop("import", file=str(tmp_path / "x"))


CONTENTS: dict[str, Callable[[Path], bytes]] = {
    "empty": lambda where: b"",
    "blanks": lambda where: b" \r\n\t\n",
    "gzip": lambda where: gzip.compress(b'{"text": "x"}'),
    "zip": lambda where: b"PK\x03\x04" + bytes(100),
    "only NUL": lambda where: bytes(100_000),
    "noise": lambda where: random.Random(1).randbytes(100_000),
    "UTF-16": lambda where: '{"text": "x"}'.encode("utf-16"),
    "a database of somebody": lambda where: database(where, "CREATE TABLE t (a); INSERT INTO t VALUES (1);"),
    "a database header alone": lambda where: b"SQLite format 3\0",
    "a database header and noise": lambda where: b"SQLite format 3\0" + random.Random(2).randbytes(50_000),
    "a picture": lambda where: b"\x89PNG\r\n\x1a\n" + bytes(64),
    "an unclosed object": lambda where: b"{" * 100_000,
    "a deep list": lambda where: b"[" * 1_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("content", list(CONTENTS))
def test_bad_content_is_an_error_or_listed_in_every_format(shop: Any, tmp_path: Path, content: str) -> None:
    (tmp_path / "x").write_bytes(CONTENTS[content](tmp_path))
    for form in FORMS:
        try:
            answer = shop("import", file=str(tmp_path / "x"), format=form)
        except HardwonError as error:
            assert error.message and error.remedy
        else:
            assert form == source.MARKDOWN or answer.data.get("bad") or not answer.data.get("new")


@pytest.mark.parametrize("size", [100 << 20, pytest.param(1 << 30, marks=pytest.mark.slow)])
def test_a_large_sparse_file_is_bounded(shop: Any, tmp_path: Path, size: int) -> None:
    for form, begin in (("", b""), ("jsonl", b'{"text": "x"}\n'), ("markdown", b"# x"), ("cm", b"SQLite format 3\0")):
        with (tmp_path / "x").open("wb") as file:
            file.write(begin)
            file.truncate(size)
        try:
            assert shop("import", file=str(tmp_path / "x"), format=form).exit == 1
        except HardwonError as error:
            assert error.remedy


def test_a_stream_without_end_ends(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            memoryview(buffer)[:] = (b"\n" + b'{"text": 1}\n' * len(buffer))[: len(buffer)]
            return len(buffer)

    monkeypatch.setattr(source, "MOST_BYTES", 1 << 14)
    with pytest.raises(InvalidInput, match="longer than"):
        take(engine, lines.read(Source(io.BufferedReader(Endless()), "standard input").lines()))


GOOD = '{"text": "a good one"}'
BAD_LINES: dict[str, bytes] = {
    "no JSON": b"nonsense",
    "half a line": b'{"text": "x"',
    "a list": b'["text"]',
    "a number": b"7",
    "null": b"null",
    "no text": b"{}",
    "an empty text": b'{"text": " "}',
    "a text that cannot be seen": '{"text": "\u200b\u2060"}'.encode(),
    "a number as text": b'{"text": 1}',
    "a number as id": b'{"id": 12, "text": "x"}',
    "an id that is none": b'{"id": "12", "text": "x"}',
    "an id with capitals": b'{"id": "01A228F0-B8B3-752E-A4F8-193CF8BF2A73", "text": "x"}',
    "a kind that is none": b'{"kind": "idea", "text": "x"}',
    "a commit": b'{"kind": "change", "text": "x"}',
    "an outcome that is none": b'{"outcome": "maybe", "text": "x"}',
    "a status that is none": b'{"status": "new", "text": "x"}',
    "a trust that is none": b'{"trust": "root", "text": "x"}',
    "a visibility that is none": b'{"visibility": "all", "text": "x"}',
    "a key twice": b'{"text": "x", "text": "y"}',
    "NUL": b'{"text": "a\0b"}',
    "not UTF-8": b'{"text": "\xff"}',
    "NaN": b'{"text": "x", "useful": NaN}',
    "a huge number": b'{"text": "x", "useful": ' + b"9" * 5000 + b"}",
    "a fraction": b'{"text": "x", "useful": 1.5}',
    "below zero": b'{"text": "x", "useful": -1}',
    "true as a number": b'{"text": "x", "useful": true}',
    "a deep one": b'{"text": "x", "metadata": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    "metadata that is none": b'{"text": "x", "metadata": [1]}',
    "metadata too long": b'{"text": "x", "metadata": {"a": "' + b"x" * 51_000 + b'"}}',
    "5 MB": b'{"text": "' + b"x" * 5_000_000 + b'"}',
    "20 MB": b'{"text": "' + b"x" * 20_000_000 + b'"}',
    "a long detail": b'{"text": "x", "detail": "' + b"x" * 20_001 + b'"}',
    "a tag with blanks": b'{"text": "x", "tags": ["a b"]}',
    "a tag of numbers": b'{"text": "x", "tags": [1]}',
    "tags as text": b'{"text": "x", "tags": "ab"}',
    "null in a list": b'{"text": "x", "rejected": [null]}',
    "an anchor as text": b'{"text": "x", "anchors": ["a.py"]}',
    "a time without a zone": b'{"text": "x", "created_at": "2026-01-01T00:00:00"}',
    "a time as a number": b'{"text": "x", "created_at": 1}',
    "a time before 1970": b'{"text": "x", "created_at": "1900-01-01T00:00:00Z"}',
    "no time of an occurrence": b'{"text": "x", "occurrences": [{}]}',
    "an actor that is none": b'{"text": "x", "origin": {"who": "god"}}',
    "a client of two lines": b'{"text": "x", "origin": {"client": "a\\nb"}}',
    "a session too long": b'{"text": "x", "origin": {"session": "' + b"x" * 201 + b'"}}',
    "versions out of order": b'{"text": "x", "versions": [{"version": 2, "recorded_at": "2026-01-01T00:00:00Z"}]}',
    "a version without a time": b'{"text": "x", "versions": [{"version": 1}]}',
    "a link to nowhere": b'{"text": "x", "links": [{"kind": "supports", "to": "12"}]}',
    "a link of no kind": b'{"text": "x", "links": [{"to": "01a228f0-b8b3-752e-a4f8-193cf8bf2a73"}]}',
    "an alias of two lines": b'{"text": "x", "aliases": ["a\\nb"]}',
    "a verdict on nothing": b'{"derived": true}',
    "a verdict on a prefix": b'{"derived": true, "commit": "abcdef0"}',
}


@pytest.mark.parametrize("wrong", list(BAD_LINES))
def test_a_bad_line_is_listed_and_the_rest_goes_in(engine: Engine, wrong: str) -> None:
    text = b"\n".join([lines.HEADER.encode(), GOOD.encode(), BAD_LINES[wrong], b'{"text": "another"}'])
    report = take(engine, lines.read(stream(text).lines()))
    assert (report.new, report.bad, len(report.troubles)) == (2, 1, 1)
    assert report.troubles[0].where == "line 3" and 5 < len(report.troubles[0].what) < 400


def test_lines_as_editors_leave_them(engine: Engine) -> None:
    text = (
        b"\xef\xbb\xbf"
        + b'{"text": "one"}\r\n\r\n  {"text": "two \\u0000\\u200b\\ud83d"}  \r\n{"text": "three", "number": 7, "later": {}}'
    )
    report = take(engine, lines.read(stream(text).lines()))
    assert (report.new, report.bad) == (3, 0)
    assert [item.memory.text for item in export(engine)] == ["one", "two \ufffd", "three"]


def test_a_file_of_a_later_format_is_left_alone(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="later Hardwon"):
        take(engine, lines.read(stream('{"hardwon": 2}\n{"text": "x"}\n').lines()))
    assert engine.figures()["memories"] == 0


def test_an_id_that_stands_twice_is_bad(engine: Engine) -> None:
    line = '{"id": "01a228f0-b8b3-752e-a4f8-193cf8bf2a73", "text": "x"}\n'
    report = take(engine, lines.read(stream(line * 2).lines()))
    assert (report.new, report.bad) == (1, 1)


def test_names_that_lead_out_are_refused_in_a_repository(shop: Any, tmp_path: Path) -> None:
    paths = ("../x", "/etc/passwd", "a/../../b", "C:\\x", "..\\x")
    (tmp_path / "x").write_text("".join(json.dumps({"text": path, "anchors": [{"path": path}]}) + "\n" for path in paths))
    assert shop("import", file=str(tmp_path / "x")).data["bad"] == len(paths)


def test_what_drives_a_terminal_is_not_printed(shop: Any, tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"text": "x", "kind": "\\u001b[31mred"}\n{"id": "\\u001b]0;t\\u0007", "text": "x"}\n')
    assert "\x1b" not in shop("import", file=str(tmp_path / "x")).text


BAD_GRAPH: dict[str, bytes] = {
    "no JSON": b"nonsense",
    "a list": b"[]",
    "no type": b'{"name": "x"}',
    "another type": b'{"type": "thing", "name": "x"}',
    "no name": b'{"type": "entity", "entityType": "t", "observations": []}',
    "a number as name": b'{"type": "entity", "name": 1, "entityType": "t", "observations": []}',
    "an empty name": b'{"type": "entity", "name": "", "entityType": "t", "observations": []}',
    "no kind": b'{"type": "entity", "name": "x", "observations": []}',
    "observations as text": b'{"type": "entity", "name": "x", "entityType": "t", "observations": "abc"}',
    "no observations": b'{"type": "entity", "name": "x", "entityType": "t"}',
    "a number as observation": b'{"type": "entity", "name": "x", "entityType": "t", "observations": [1]}',
    "null as observation": b'{"type": "entity", "name": "x", "entityType": "t", "observations": [null]}',
    "an empty observation": b'{"type": "entity", "name": "x", "entityType": "t", "observations": [" "]}',
    "an object without content": b'{"type": "entity", "name": "x", "entityType": "t", "observations": [{}]}',
    "a time that is none": b'{"type": "entity", "name": "x", "entityType": "t", "observations": [{"content": "y", "timestamp": "now"}]}',
    "no from": b'{"type": "relation", "to": "b", "relationType": "r"}',
    "no to": b'{"type": "relation", "from": "a", "relationType": "r"}',
    "no relation type": b'{"type": "relation", "from": "a", "to": "b"}',
    "a list as from": b'{"type": "relation", "from": [], "to": "b", "relationType": "r"}',
    "a key twice": b'{"type": "entity", "type": "entity"}',
    "not UTF-8": b'{"type": "\xff"}',
    "NUL": b'{"type": "\0"}',
    "deep": b'{"type": ' + b"[" * 100_000,
    "20 MB": b'{"type": "' + b"x" * 20_000_000 + b'"}',
    "NaN": b'{"type": NaN}',
    "a name too long": b'{"type": "entity", "name": "' + b"x" * 51_000 + b'", "entityType": "t", "observations": []}',
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", list(BAD_GRAPH))
def test_a_bad_line_of_a_graph_is_listed_and_the_rest_goes_in(engine: Engine, wrong: str) -> None:
    text = b"\n".join([json.dumps(GRAPH[1]).encode(), BAD_GRAPH[wrong], json.dumps(GRAPH[2]).encode()])
    report = take(engine, server_memory.read(stream(text)))
    assert (report.new, report.bad) == (2, 1)
    assert report.troubles[0].where.startswith("line 2")


BAD_NOTES: dict[str, str] = {
    "front matter without end": "---\ntitle: x\n# y\ntext",
    "front matter alone": "---\ntitle: x\n---\n",
    "front matter of nonsense": "---\n: :\n - -\n[[[\n---\ntext",
    "a bomb of anchors": "---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\ntext",
    "a tag of YAML": "---\ntags: !!python/object/apply:os.system [id]\n---\ntext",
    "tags as an object": '---\ntags: {"a": 1}\n---\ntext',
    "tags as numbers": "---\ntags: [1, 2]\n---\ntext",
    "deep JSON": "---\ntags: " + "[" * 100_000 + "\n---\ntext",
    "a date that is none": "---\ncreated: yesterday\n---\ntext",
    "a date far away": "---\ncreated: 9999-99-99\n---\ntext",
    "a kind that is none": "---\ntype: [x]\n---\ntext",
    "a heading of 100 kB": "# " + "x" * 100_000 + "\n\ntext",
    "1,000 headings": "# x\n\ny\n\n" * 1_000,
    "one line of 500 kB": "x" * 500_000,
    "a fence without end": "# x\n```\n" + "code\n" * 1000,
    "nested quotes": ">" * 5_000 + " x",
    "nested lists": "\n".join("  " * i + "- x" for i in range(200)),
    "HTML": "<script>alert(1)</script>\n<!-- " + "x" * 1000,
    "brackets": "- [" * 20_000,
    "relations without end": "- implements [[" * 5_000,
    "many tags": "text " + "#tag" * 5_000 + " #a" * 500,
    "escapes": "# \x1b[31mred\x07\n\ntext\x9b31m",
    "hidden characters": "# \u202e\u200bx\n\n\U000e0041text",
    "our mark alone": "---\nhardwon: 1\n",
    "our mark and nonsense": "---\nhardwon: 1\nkind: [1]\n---\n# x\n",
    "ours with a wrong id": '---\nhardwon: 1\nid: "x"\n---\n# x\n',
    "ours of a commit": '---\nhardwon: 1\nkind: "change"\n---\n# x\n',
    "ours with bad files": "---\nhardwon: 1\nfiles: [[1]]\n---\n# x\n",
    "ours with much code": "---\nhardwon: 1\ncode: 99999999999999999999\n---\n# x\n",
    "ours without text": "---\nhardwon: 1\n---\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", list(BAD_NOTES))
def test_a_strange_note_is_read_or_listed(engine: Engine, wrong: str) -> None:
    report = take(engine, notes.read(Source(io.BytesIO(BAD_NOTES[wrong].encode()), "x.md")))
    assert report.new + report.bad + report.known + report.repeated >= 0
    assert all(len(trouble.what) < 400 for trouble in report.troubles)
    for item in export(engine):
        assert "\x1b" not in item.memory.text + item.memory.detail and "\u202e" not in item.memory.text


def symbol(columns: str, values: str) -> str:
    return f"INSERT INTO symbols ({columns}) VALUES ({values});"


def row(values: str) -> str:
    return f"INSERT INTO experiences VALUES ({values});"


_ONE = "1, 1, 'fail', 'x', '', '', 'active', ''"
_ROW = "INSERT INTO symbols (project, name) VALUES ('shop', 'A'); "
BAD_DATABASES: dict[str, Callable[[Path], bytes]] = {
    "cut to a page": lambda where: valid_database(where)[:4096],
    "cut in the middle": lambda where: valid_database(where)[:20_000],
    "cut by one byte": lambda where: valid_database(where)[:-1],
    "a flipped header": lambda where: valid_database(where).replace(b"SQLite format 3\0", b"SQLite format 3\0"[:15] + b"\1"),
    "noise in the middle": lambda where: (
        valid_database(where)[:8192] + random.Random(3).randbytes(8192) + valid_database(where)[16384:]
    ),
    "noise in the schema": lambda where: (
        valid_database(where)[:100] + random.Random(3).randbytes(3996) + valid_database(where)[4096:]
    ),
    "a store of ours": lambda where: (open_engine(where, "ours").close(), (where / "ours.db").read_bytes())[1],  # type: ignore[func-returns-value]
    "a later version": lambda where: database(where, SCHEMA + "PRAGMA user_version = 3;"),
    "no experiences": lambda where: database(where, "CREATE TABLE symbols (id, project, name);"),
    "no column": lambda where: database(where, SCHEMA.replace("lesson TEXT NOT NULL", "note TEXT")),
    "a view without end": lambda where: database(
        where,
        "CREATE TABLE symbols (id, project, file, name); CREATE VIEW experiences AS "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS id, 1 AS symbol_id, 'fail' AS type, 'x' AS lesson FROM n;",
    ),
    "a virtual table": lambda where: database(
        where,
        "CREATE TABLE symbols (id, project, name); CREATE VIRTUAL TABLE experiences USING fts5(id, symbol_id, type, lesson);",
    ),
    "a type that is none": lambda where: database(where, SCHEMA + _ROW + row("1, 1, 'maybe', 'x', '', '', 'active', ''")),
    "numbers as words": lambda where: database(where, SCHEMA + _ROW + row("1, 1, 'fail', 7, 8, 9, 10, 11")),
    "blobs as words": lambda where: database(where, SCHEMA + _ROW + row("1, 1, 'fail', x'ff00fe', x'00', x'ff', x'ff', x'ff'")),
    "words that are no UTF-8": lambda where: database(
        where, SCHEMA + _ROW + row("1, 1, 'fail', CAST(x'ffff' AS TEXT), '', '', 'active', ''")
    ),
    "NUL in words": lambda where: database(
        where, SCHEMA + _ROW + row("1, 1, 'fail', 'a' || char(0) || 'b', '', '', 'active', ''")
    ),
    "a value of 40 MB": lambda where: database(
        where, SCHEMA + _ROW + row("1, 1, 'fail', printf('%.*c', 40000000, 'x'), '', '', 'active', ''")
    ),
    "SQL in names": lambda where: database(
        where, SCHEMA + symbol("project, file, name", "'shop', '''; DROP TABLE memories; --', '\" OR 1=1'") + row(_ONE)
    ),
    "paths that lead out": lambda where: database(
        where, SCHEMA + symbol("project, file, name", "'shop', '/etc/../../passwd', 'A'") + row(_ONE)
    ),
    "a name of 5,000": lambda where: database(
        where, SCHEMA + symbol("project, name", "'shop', printf('%.*c', 5000, 'x')") + row(_ONE)
    ),
    "an empty name": lambda where: database(where, SCHEMA + symbol("project, name", "'shop', ''") + row(_ONE)),
    "orphans": lambda where: database(where, SCHEMA + row("1, 99, 'fail', 'x', '', '', 'active', ''")),
    "a time that is none": lambda where: database(where, SCHEMA + _ROW + row("1, 1, 'fail', 'x', '', '', 'active', 'tomorrow'")),
    "a status that is none": lambda where: database(
        where, SCHEMA + _ROW + row("1, 1, 'fail', 'x', '', '', 'ACTIVE;', '2026-01-01'")
    ),
    "a trigger": lambda where: database(
        where, SCHEMA + _ROW + "CREATE TRIGGER t AFTER INSERT ON experiences BEGIN DELETE FROM symbols; END;"
    ),
    "a project of two lines": lambda where: database(
        where, SCHEMA + symbol("project, name", "'a' || char(10) || 'b', 'A'") + row(_ONE)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", list(BAD_DATABASES))
def test_a_strange_database_is_read_or_told_and_stays_as_it_is(engine: Engine, tmp_path: Path, wrong: str) -> None:
    where = tmp_path / "theirs"
    where.mkdir()
    raw = BAD_DATABASES[wrong](tmp_path)
    (where / "cm.db").write_bytes(raw)
    try:
        for project in code_memory.projects(str(where / "cm.db")):
            report = take(engine, code_memory.read(str(where / "cm.db"), project))
            assert all(len(trouble.what) < 400 for trouble in report.troubles)
    except HardwonError as error:
        assert error.message and error.remedy
    assert files(where) == {"cm.db": raw}


def test_a_database_beside_a_link_or_under_one(shop: Any, tmp_path: Path) -> None:
    seed = Seed(tmp_path / "cm.db")
    seed.add("shop", "", "A.run", "fail", "it broke", NOW)
    seed.db.close()
    (tmp_path / "link.db").symlink_to(tmp_path / "cm.db")
    with pytest.raises(InvalidInput, match="is a link"):
        shop("import", file=str(tmp_path / "link.db"))
    (tmp_path / "folder").symlink_to(tmp_path)
    assert shop("import", file=str(tmp_path / "folder" / "cm.db")).data["projects"][0]["new"] == 1


def test_a_store_of_ours_is_not_opened_raw(shop: Any, call: Any, where: Path, home: Path) -> None:
    with pytest.raises(InvalidInput, match="own folder"):
        shop("import", file=str(next((home / "stores").glob("*.db"))))
    assert call("verify", cwd=where).code == 0
