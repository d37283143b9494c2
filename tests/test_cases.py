"""Public bug reports of systems in this field, each as a test of the same kind of fault here. The ids are those of docs/cases.md.

Cases that another file looks at closer have their test there, with the id in its name; a test at the end holds that none is missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from hardwon.engine import opening
from hardwon.errors import SchemaOlder
from hardwon.store.schema import STEPS
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Draft, Filter, Origin, Query, Scope
from tests import hook_payloads
from tests.conftest import Result, git, make_repository
from tests.mcptalk import Server, hello, request

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
AGENT = Scope(Origin("agent", "codex", "s1", "cli"))
PERSON = Scope(Origin("person", "", "", "cli"))
SCALE = float(os.environ.get("HARDWON_SCALE", "1"))


def child(code: str, *words: str) -> subprocess.Popen[bytes]:
    """Python code in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended_well(process: subprocess.Popen[bytes]) -> str:
    """What the process printed; fails with its error otherwise."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err.decode()
    return out.decode()


# Corruption

_WRITER = """
import contextlib, sys, hardwon
from hardwon.types import Draft, Origin, Scope
with contextlib.closing(hardwon.open_store(sys.argv[1])) as engine:
    for turn in range(int(sys.argv[3])):
        engine.record(Draft(f"{sys.argv[2]} learnt {turn}"), Scope(Origin("agent", "c", sys.argv[2], "cli")))
"""

_COUNT = """
import sys
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Filter
with SqliteStore(sys.argv[1], make=False) as store, store.read() as reader:
    print(reader.count(Filter()))
"""


def test_r07_four_processes_on_one_store_never_set_it_aside(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    opening.open_store(path).close()
    for process in [child(_WRITER, path, f"server{n}", "20") for n in range(4)]:
        ended_well(process)
    assert sorted(name for name in os.listdir(tmp_path) if ".db" in name and not name.startswith("a.db")) == []
    counts = {ended_well(child(_COUNT, path)) for _ in range(4)}
    assert counts == {"80\n"}


_OTHER_BUILD = """
import sqlite3, sys
for _ in range(int(sys.argv[2])):
    connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    connection.execute("SELECT count(*), max(seq) FROM events").fetchone()
    connection.close()
print(sqlite3.sqlite_version)
"""


def test_r11_a_process_with_another_sqlite_comes_and_goes_while_ours_write(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    engine = opening.open_store(path)
    engine.record(Draft("the first"), AGENT)
    others = [child(_OTHER_BUILD, path, "100") for _ in range(2)]
    writers = [child(_WRITER, path, f"w{n}", "60") for n in range(2)]
    versions = {ended_well(process).strip() for process in others}
    for process in writers:
        ended_well(process)
    assert engine.verify() == []
    assert engine.figures()["fact"] == 121
    engine.close()
    if versions == {apsw.sqlite_lib_version()}:
        pytest.skip("the standard library has the same SQLite as we: nothing was shown")


def test_r04_reading_verbs_never_migrate(project: Path, home: Path, call: Callable[..., Result]) -> None:
    store = next((home / "stores").glob("*.db"))
    older = STEPS[-1][0] - 1
    for path in (home / "stores").iterdir():
        path.unlink()
    _older_store(str(store), older)
    before = store.read_bytes()
    for words in (
        ("recall", "why"),
        ("brief",),
        ("stats",),
        ("query",),
        ("verify",),
        ("status",),
        ("export",),
        ("before", "--file", "a"),
    ):
        said = call(*words)
        assert (said.code, "hardwon init" in said.err) == (1, True), (words, said)
        assert store.read_bytes() == before, words
    with SqliteStore(str(store), make=False) as held, pytest.raises(SchemaOlder, match="schema"), held.read():
        pass


def _older_store(path: str, steps: int) -> None:
    """A store as an earlier version made it."""
    from hardwon.store.connection import open_connection, prepare_writer
    from hardwon.store.upgrade import upgrade

    connection = open_connection(path, readonly=False)
    prepare_writer(connection)
    upgrade(connection, path, "hardwon earlier", 0, STEPS[:steps])
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()


# Silent loss


def test_r22_what_is_recorded_is_seen_at_once_from_every_place(
    project: Path, tmp_path: Path, call: Callable[..., Result]
) -> None:
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(project)
    places = [
        project,
        project / "auth",
        tmp_path / "tree",
        tmp_path / "tree" / "src",
        tmp_path / "link",
        tmp_path / "link" / "src",
    ]
    for number, place in enumerate(places):
        made = call("record", f"seen from everywhere number{number}", "--json", cwd=place)
        assert made.code == 0, made
        for other in places:
            shown = call("show", made.data["id"], "--json", cwd=other)
            assert shown.data["text"] == f"seen from everywhere number{number}", (place, other)
            found = call("recall", f"number{number}", "--kind", "fact", "--json", cwd=other)
            assert made.data["id"] in [hit["memory"]["id"] for hit in found.data["hits"]], (place, other)


@pytest.mark.parametrize("count", [999, 1000, 1001, pytest.param(10_000, marks=pytest.mark.slow)])
def test_r26_what_is_found_is_found_after_a_restart_at_any_size(tmp_path: Path, count: int) -> None:
    path = str(tmp_path / "a.db")
    engine = opening.open_store(path)
    engine.upsert(((f"id{n}", Draft(f"item {n} about word{n % 97} and word{n % 13}")) for n in range(count)), AGENT)
    asked = [Query(f"word{n} item {n * 7}", k=5) for n in range(0, 97, 9)]
    before = [[hit.memory.id for hit in engine.recall(query, AGENT).hits] for query in asked]
    engine.close()
    again = opening.open_store(path)
    assert again.figures()["fact"] == count
    assert [[hit.memory.id for hit in again.recall(query, AGENT).hits] for query in asked] == before
    assert all(before)
    again.close()


def test_r29_an_import_without_something_never_deletes_it(project: Path, tmp_path: Path, call: Callable[..., Result]) -> None:
    empty = tmp_path / "empty.jsonl"
    assert call("export", str(empty), "--kind", "howto").code == 0
    made = call("record", "this stays", "--json").data["id"]
    for _ in range(3):
        assert call("import", str(empty)).code == 0
    assert call("show", made, "--json").data["status"] == "active"


_REVISER = """
import sys, contextlib, hardwon
from hardwon.errors import InvalidInput
from hardwon.types import Origin, Revision, Scope
with contextlib.closing(hardwon.open_store(sys.argv[1])) as engine:
    scope = Scope(Origin("agent", "c", sys.argv[3], "cli"))
    for turn in range(int(sys.argv[4])):
        engine.revise(sys.argv[2], Revision(detail=f"{sys.argv[3]} {turn}"), scope)
"""


def test_r31_no_correction_is_lost_between_two_processes(tmp_path: Path) -> None:
    path, turns = str(tmp_path / "a.db"), int(60 * SCALE)
    engine = opening.open_store(path)
    made = engine.record(Draft("corrected by two", "lesson", anchors=(Anchor("a.py", "run"),)), AGENT)
    for process in [child(_REVISER, path, made.id, name, str(turns)) for name in ("one", "two")]:
        ended_well(process)
    memory, versions, _ = engine.history(made.id, AGENT)
    assert memory.version == len(versions) == 1 + 2 * turns
    said = [version.content.detail for version in versions[1:]]
    for name in ("one", "two"):
        assert [text for text in said if text.startswith(name)] == [f"{name} {turn}" for turn in range(turns)]
    assert engine.verify() == []
    engine.close()


# Upgrades


def test_r40_init_twice_and_after_an_upgrade_lists_everything(project: Path, home: Path, call: Callable[..., Result]) -> None:
    for number in range(20):
        assert call("record", f"kept {number}").code == 0
    store = next((home / "stores").glob("*.db"))
    assert str(store) in call("init").out
    assert call("stats", "--json").data["memories"]["fact"] == 20
    connection = apsw.Connection(str(store))  # back to the schema before the last
    last = STEPS[-1][0]
    for name, sql in list(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")):
        if name != "erased" and sql and re.search(r",\s*crc INTEGER NOT NULL DEFAULT 0", sql):
            connection.execute(f"ALTER TABLE {name} DROP COLUMN crc")
    connection.execute("DROP TABLE erased")
    connection.execute("DELETE FROM schema_steps WHERE step = ?", (last,))
    connection.pragma("user_version", last - 1)
    connection.close()
    assert call("stats").code == 1
    said = call("init")
    assert said.code == 0, said
    assert call("stats", "--json").data["memories"]["fact"] == 20
    assert call("verify").code == 0


# Isolation


def test_r69_folders_of_one_name_share_nothing_and_subfolders_everything(tmp_path: Path, call: Callable[..., Result]) -> None:
    one, other = (make_repository(tmp_path / place / "app") for place in ("a", "b"))
    git(other, "commit", "--allow-empty", "-qm", "it goes its own way")
    git(one, "remote", "add", "origin", "https://example.org/one/app.git")
    git(other, "remote", "add", "origin", "https://example.org/other/app.git")
    for place in (one, other):
        assert call("init", "--name", f"app-{place.parent.name}", cwd=place).code == 0
    made = call("record", "only of the first", "--json", cwd=one / "auth").data["id"]
    assert call("show", made, "--json", cwd=one).code == 0
    assert call("show", made, "--json", cwd=other).error["kind"] == "not_found"
    moved = one.rename(tmp_path / "renamed")
    assert call("show", made, "--json", cwd=moved / "src").data["id"] == made


def test_r71_what_a_worktree_wrote_outlives_it(project: Path, tmp_path: Path, call: Callable[..., Result]) -> None:
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    made = call("record", "written in the worktree", "--json", cwd=tmp_path / "tree").data["id"]
    git(project, "worktree", "remove", "--force", str(tmp_path / "tree"))
    git(project, "worktree", "prune")
    found = call("recall", "written worktree", "--kind", "fact", "--json", cwd=project).data["hits"]
    assert [hit["memory"]["id"] for hit in found] == [made]


def test_r73_paths_are_of_the_checkout_at_hand_never_of_a_sibling(
    project: Path, tmp_path: Path, call: Callable[..., Result]
) -> None:
    tree = tmp_path / "tree"
    git(project, "worktree", "add", "-q", str(tree))
    made = call("fail", "AuthService.validate", "expiry", "--file", str(tree / "auth" / "service.py"), "--json", cwd=tree)
    assert made.code == 0
    for place in (project, tree):
        block = call("before", "--file", "auth/service.py", cwd=place)
        assert "expiry" in block.out
        shown = call("show", made.data["id"], "--json", cwd=place).data
        assert [anchor["path"] for anchor in shown["anchors"]] == ["auth/service.py"]
        assert str(tmp_path) not in block.out + json.dumps(shown)
    # And what the sibling has changed since is marked there, and only there.
    (tree / "auth" / "service.py").write_text(
        "class AuthService:\n    def validate(self, token):\n        return token.fresh()\n"
    )
    call("ingest", "code", cwd=project)
    call("ingest", "code", cwd=tree)
    states = [call("show", made.data["id"], "--json", cwd=place).data["anchors"][0]["state"] for place in (project, tree)]
    assert states == ["same", "changed"]


def test_r61_r63_a_forgetting_needs_a_filter_that_names_something_and_takes_nothing_else(
    tmp_path: Path, call: Callable[..., Result], project: Path
) -> None:
    for tag in ("spike", "keep"):
        for number in range(5):
            assert call("record", f"{tag} {number}", "--tag", tag).code == 0
    refused: list[tuple[str, ...]] = [(), ("--tag", ""), ("--session", ""), ("--tag", "spikes"), ("--source", "nobody")]
    for words in refused:
        said = call("forget", *words, "--yes", "--json")
        assert said.code in (0, 2), words
        assert said.code == 2 or said.data["matched"] == 0, said
    assert call("forget", "--tag", "spike", "--json").error["field"] == "yes"  # nobody confirmed it
    assert call("stats", "--json").data["memories"]["fact"] == 10
    assert call("forget", "--tag", "spike", "--dry-run", "--json").data["matched"] == 5
    assert call("forget", "--tag", "spike", "--yes", "--json").data["forgotten"] == 5
    left = call("recall", "--kind", "fact", "-k", "50", "--json").data["hits"]
    assert {tuple(hit["memory"]["tags"]) for hit in left} == {("keep",)}
    assert call("undo").code == 0
    assert len(call("recall", "--kind", "fact", "-k", "50", "--json").data["hits"]) == 10


def test_r62_forgetting_in_one_memory_leaves_every_other_as_it_was(
    project: Path, tmp_path: Path, home: Path, call: Callable[..., Result]
) -> None:
    other = make_repository(tmp_path / "other")
    git(other, "commit", "--allow-empty", "-qm", "other")
    git(other, "remote", "add", "origin", "https://example.org/x/other.git")
    assert call("init", "--name", "other", cwd=other).code == 0
    for place in (project, other):
        for number in range(3):
            assert call("record", f"the same words {number}", "--tag", "bulk", cwd=place).code == 0
    before = call("export", "-", cwd=project).out
    assert call("forget", "--tag", "bulk", "--yes", cwd=project).code == 0
    assert call("undo", cwd=project).code == 0
    assert call("forget", "-p", "other", "--tag", "bulk", "--yes", cwd=project).code == 0
    assert call("export", "-", cwd=project).out.count("the same words") == before.count("the same words")
    assert call("recall", "same words", "--kind", "fact", "-p", "other", "--json", cwd=project).data["hits"] == []


# Attacks, input

_ODD_NAMES = (
    "../x",
    "/etc",
    "a/../../b",
    "x" * 65,
    "ａｐｐ",
    "app\u200b",
    "..",
    ".",
    "a\\b",
    "%2e%2e",
    "~",
    "app\0",
    "CON ",
    "a b",
)


@pytest.mark.parametrize("name", _ODD_NAMES)
def test_r77_the_name_of_a_project_is_never_a_path(bare: Path, home: Path, call: Callable[..., Result], name: str) -> None:
    said = call("init", "--name", name, "--json")
    assert said.error["kind"] == "invalid_input", said
    assert not (home / "stores").exists() or list((home / "stores").iterdir()) == []
    assert call("status", "-p", name, "--json").error["kind"] == "invalid_input"


_TRAVERSALS = (
    "../secret.txt", "../../secret.txt", "auth/../../secret.txt", "..\\secret.txt", "auth\\..\\..\\secret.txt", "/etc/passwd",
    "./../secret.txt", "auth/./../../secret.txt", "//etc/passwd", "/../etc/passwd", "....//secret.txt/../../..", "auth/../../../x",
)  # fmt: skip


@pytest.mark.parametrize("path", _TRAVERSALS)
def test_r76_a_path_outside_of_the_repository_is_refused_or_kept_as_mere_text(
    project: Path, tmp_path: Path, call: Callable[..., Result], path: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do-not-read-me")
    listing = sorted(str(file) for file in tmp_path.rglob("*") if ".git" not in file.parts)
    for words in (("fail", "S.run", "lesson", "--file", path), ("before", "--file", path), ("recall", "x", "--file", path)):
        said = call(*words, "--json")
        assert "do-not-read-me" not in said.out + said.err
        if said.code == 0 and words[0] == "fail":
            kept = call("show", said.data["id"], "--json").data["anchors"][0]["path"]
            assert not kept.startswith("/") and ".." not in kept.split("/"), kept
    assert sorted(str(file) for file in tmp_path.rglob("*") if ".git" not in file.parts) == listing


def test_r78_links_that_lead_out_are_not_followed(project: Path, tmp_path: Path, call: Callable[..., Result]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_text("# Outside\n\nthis must not come in\n")
    (outside / "held.jsonl").write_text("untouched\n")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "in.md").symlink_to(outside / "note.md")
    (notes / "folder").symlink_to(outside)
    (notes / "own.md").write_text("# Own\n\nthis comes in\n")
    (project / "docs").symlink_to(outside)
    (project / "README.md").symlink_to(outside / "note.md")
    call("import", str(notes), "--format", "markdown")
    call("ingest", "docs")
    target = tmp_path / "export.jsonl"
    target.symlink_to(outside / "held.jsonl")
    assert call("export", str(target), "--json").error["kind"] == "invalid_input"
    assert (outside / "held.jsonl").read_text() == "untouched\n"
    assert "must not come in" not in call("recall", "outside must come in", "-k", "50", "--trust", "imported", "--json").out
    assert "must not come in" not in call("export", "-").out


_WORDS = (
    "login-service", '"quoted', "a:b", "AND", "OR", "NEAR(", "*", "^", "(", ")", "-x", "col:term", "{", "\\", "%", "_", "'", ";--",
    "é", "🙂",
)  # fmt: skip


@pytest.mark.slow
def test_r90_any_text_may_be_asked(project: Path, call: Callable[..., Result]) -> None:
    import random

    made = call("record", "the login-service AND its NEAR(cache) * fails: (why?)", "--json").data["id"]
    random_words = random.Random(1)
    with_engine = opening.open_engine(str(project), os.environ["HARDWON_HOME"])
    for _ in range(int(2000 * min(SCALE, 1))):
        text = " ".join(random_words.choices(_WORDS, k=random_words.randint(1, 8)))
        with_engine.recall(Query(text), AGENT)
    with_engine.recall(Query("x " * 50_000), AGENT)
    hits = with_engine.recall(Query("login-service AND NEAR(cache) *", where=Filter(kinds=("fact",))), AGENT).hits
    with_engine.close()
    assert [hit.memory.id for hit in hits] == [made]


def test_r33_a_writer_that_dies_anywhere_leaves_a_store_that_is_written_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    opening.open_store(path).close()
    dies = """
import os, sys, hardwon, apsw
from hardwon.types import Draft, Origin, Scope
engine = hardwon.open_store(sys.argv[1])
count = 0
def progress():
    global count
    count += 1
    if count == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
    return False
engine.store.current(readonly=False).connection.set_progress_handler(progress, 20)
engine.record(Draft("never acknowledged " + sys.argv[2]), Scope(Origin("agent", "c", "s", "cli")))
print("done")
"""
    engine = opening.open_store(path)
    died = 0
    for point in range(1, 60, 6):
        process = child(dies, path, str(point))
        out, _ = process.communicate(timeout=600)
        died += process.returncode == -9
        assert process.returncode in (0, -9)
        assert bool(engine.record(Draft(f"after {point}"), AGENT).seq), out
    assert died >= 3
    assert engine.verify() == []
    engine.close()


def test_r44_vectors_of_another_model_are_never_compared(tmp_path: Path) -> None:
    engine = opening.open_store(str(tmp_path / "a.db"))
    first, second = (engine.record(Draft(f"memory {n}"), AGENT).id for n in range(2))
    raw = b"\0\0\x80?" + bytes(4 * 383)
    with engine.write() as writer:
        writer.put_vectors("model-a", [(first, b"d" * 16, raw)])
        writer.put_vectors("model-b", [(second, b"d" * 16, raw)])
    with engine.store.read() as reader:
        assert len(list(reader.vectors("model-a", Filter()))) == len(list(reader.vectors("model-b", Filter()))) == 1
        assert reader.count_without_vector("model-b", Filter()) == 1
        assert reader.vector_models() == {"model-a": 1, "model-b": 1}
    engine.close()


# Doors


@pytest.mark.slow
def test_r36_eight_servers_that_start_at_once_all_answer(project: Path) -> None:
    """How quickly is measured in bench/; here that each of them answers, and goes on to work."""
    with contextlib.ExitStack() as open_ones:
        servers = [open_ones.enter_context(Server(project)) for _ in range(8)]
        for number, server in enumerate(servers):
            server.send(hello(client=f"client{number}"))
        assert [server.read()["result"]["serverInfo"]["name"] for server in servers] == ["hardwon"] * 8
        for number, server in enumerate(servers):
            arguments = {"text": f"client {number} learnt it", "kind": "fact"}
            server.send(request(number, "tools/call", {"name": "remember", "arguments": arguments}))
        assert not [answer for answer in (server.read() for server in servers) if answer["result"]["isError"]]
        servers[0].send(request(100, "tools/call", {"name": "status", "arguments": {}}))
        assert servers[0].read()["result"]["structuredContent"]["memories"]["fact"] == 8


# Noted by every Python process below: whom it would talk to. Everything else that talks HTTP heeds the proxies.
_WATCH = """
import sys
def note(event, arguments):
    away = event == "socket.connect" and isinstance(arguments[1], tuple)
    if away or event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open({path!r}, "a") as file:
            file.write(f"{{event}} {{arguments[1:]!r}}\\n")
sys.addaudithook(note)
"""


@pytest.mark.slow
def test_r58_no_hook_of_any_client_sends_anything_away_and_no_planted_key_is_kept(
    project: Path, home: Path, tmp_path: Path, run: Callable[..., Result]
) -> None:
    key = "ghp_" + hashlib.sha256(b"planted").hexdigest()[:36]
    watch, noted = tmp_path / "watch", tmp_path / "noted"
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(_WATCH.format(path=str(noted)))
    with socket.create_server(("127.0.0.1", 0)) as sink:
        sink.settimeout(0.2)
        address = f"http://127.0.0.1:{sink.getsockname()[1]}"
        proxies = {name: address for plain in ("http_proxy", "https_proxy", "all_proxy") for name in (plain, plain.upper())}
        surroundings = {"PYTHONPATH": str(watch), **proxies}
        moments = set()
        for name, case in hook_payloads.cases():
            client, moment = name.partition("/")[0], (case["event"] or {}).get("moment")
            if not moment or (client, moment) in moments:
                continue
            moments.add((client, moment))
            payload = _planted(case["payload"], key, str(project))
            done = run("hook", client, stdin=json.dumps(payload), env={**surroundings, **case.get("environment", {})})
            assert done.code in (0, 2), (name, done)
            assert key not in done.out + done.err, name
        assert len(moments) > 40 and {moment for _, moment in moments} >= {"start", "prompt", "before", "after", "stop", "end"}
        assert run("refresh", env=surroundings).code == 0
        with pytest.raises(TimeoutError):
            sink.accept()
        assert not noted.exists(), noted.read_text()
        # The watch itself: an attempt is noted, and arrives.
        asked = f"import urllib.request; urllib.request.urlopen({address + '/x'!r}, timeout=0.2)"
        subprocess.run([sys.executable, "-c", asked], env={**os.environ, **surroundings}, capture_output=True, check=False)
        assert "socket.connect" in noted.read_text()
        sink.accept()[0].close()
    kept = [path for path in home.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert kept == []
    assert run("recall", "--kind", "summary", "--json").data["hits"]  # something was kept


def _planted(value: Any, key: str, folder: str) -> Any:
    """A payload of a session in a folder, with a key in everything that somebody said, ran or printed."""
    if isinstance(value, dict):
        return {name: _planted(one, key, folder) for name, one in value.items()}
    if isinstance(value, list):
        return [_planted(one, key, folder) for one in value]
    if not isinstance(value, str):
        return value
    moved = value.replace("/home/ann/shop", folder)
    return f"{moved}\nexport GITHUB_TOKEN={key}" if " " in value and not value.startswith("*** ") else moved


def test_every_case_has_its_test_or_says_what_it_waits_for() -> None:
    page = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (R\d+) \|.*\| ([^|]+) \|$", page, re.MULTILINE)
    assert len(rows) == len(dict(rows)) == 48
    names: dict[str, set[str]] = {}
    for file in sorted((ROOT / "tests").glob("test_*.py")):
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8")):
            for case in re.findall(r"_r(\d\d)(?=_)", name):
                names.setdefault(f"R{case}", set()).add(file.name)
    for case, where in rows:
        if where.startswith("waits for"):
            continue
        told = set(re.findall(r"`(test_\w+\.py)`", where))
        assert told, (case, where)
        assert told <= names.get(case, set()), (case, told, names.get(case))
    assert set(names) <= set(dict(rows))
