"""A wheel built from this tree, installed with nothing but its base: all works except vectors, and that is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import make_repository

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
MOST_MEGABYTES = 100


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bare environment that has the wheel."""
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(place), str(ROOT)], check=True)
    (wheel,) = place.glob("hardwon-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    bare = [str(place / "env" / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    before = _megabytes(place / "env")
    subprocess.run([*bare, "install", str(wheel)], check=True)
    assert _megabytes(place / "env") - before <= MOST_MEGABYTES
    return place / "env"


def _wheel(installed: Path) -> zipfile.ZipFile:
    (wheel,) = installed.parent.glob("hardwon-*.whl")
    return zipfile.ZipFile(wheel)


def test_every_file_of_the_package_is_in_the_wheel(installed: Path) -> None:
    """Grammars, skills, hooks in other languages, the parts of plugins: none of them is a module."""
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "hardwon").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with _wheel(installed) as wheel:
        names = set(wheel.namelist())
        (entries,) = (name for name in names if name.endswith("entry_points.txt"))
        assert b"[pytest11]\nhardwon = hardwon.doors.pytest_plugin" in wheel.read(entries)
    assert len([name for name in wanted if not name.endswith(".py")]) > 20
    assert wanted <= names
    assert "hardwon-0.1.0.data/scripts/hardwon" in {name for name in names if ".data/" in name}


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6


def test_everything_but_vectors_works(installed: Path, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "shop")
    (repository / "notes.md").write_text("# Rules\n\nOnly UTC in the database.\n")
    environment = {**os.environ, "HARDWON_HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(*words: str) -> dict[str, object]:
        command = [str(installed / "bin" / "hardwon"), *words, "--json"]
        done = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, (words, done.stderr)
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    run("init")
    for words in (
        ["ingest", "docs"], ["ingest", "deps"], ["ingest", "git", "--dry-run"], ["record", "Sessions live in Redis", "--kind", "decision"],
        ["fail", "Pool.get", "the pool runs dry", "--file", "src/db.py"], ["ok", "Pool.get"], ["query", "Pool.get"], ["stats"],
        ["before", "--file", "src/db.py"], ["brief"], ["show", "1"], ["revise", "1", "Sessions live in Valkey"],
        ["diff", "1"], ["history", "1"],
        ["link", "2", "1", "--supports"], ["review"], ["useful", "1"], ["undo"], ["resolve", "2"], ["export", "out.jsonl"],
        ["import", "out.jsonl"], ["import", "notes.md"], ["forget", "3", "--yes"], ["compact"], ["verify"], ["verify", "--secrets"],
        ["recall", "why do we retry uploads twice", "--path", "src", "--author", "ann"],
    ):  # fmt: skip
        assert not run(*words).get("degraded"), words
    told = run("recall", "why do we retry uploads twice", "--vectors")
    assert told["hits"]
    assert "vectors" in str(told["mode"])
    mode = run("status")["mode"]
    assert isinstance(mode, dict)
    assert mode["vectors"] is False
    assert any("hardwon[vectors]" in line for line in mode["degraded"])


def test_an_agent_is_wired_in_asked_told_and_taken_out(installed: Path, tmp_path: Path) -> None:
    """The whole way of a first user, with nothing but what is in the wheel."""
    repository, person = make_repository(tmp_path / "shop"), tmp_path / "ann"
    (person / ".claude").mkdir(parents=True)
    (person / ".claude" / "settings.json").write_text('{\n  // mine\n  "model": "opus",\n}\n')
    before = {path: path.read_bytes() for path in person.rglob("*") if path.is_file()}
    path = f"{installed / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(person), "HARDWON_HOME": str(tmp_path / "home"), "PATH": path}
    program = str(installed / "bin" / "hardwon")

    def run(*words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [program, *words], cwd=repository, env=environment, capture_output=True, text=True, check=False, input=stdin
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    run("init")
    run("install", "--all", "--yes")
    run("install", "git", "--yes")
    assert f"{program} hook claude-code" in (person / ".claude" / "settings.json").read_text()
    for client in ("opencode", "hermes", "cline", "aider"):  # files of theirs that come from the package
        assert json.loads(run("install", client, "--yes", "--json"))["files"]
    assert json.loads(run("doctor", "--json"))["ok"]
    for _ in range(4):
        run("fail", "AuthService.validate", "naive datetimes break it", "--file", "auth/service.py")
    edit = {"file_path": str(repository / "auth/service.py"), "old_string": "bool(token)", "new_string": "True"}
    payload = {
        "session_id": "s",
        "cwd": str(repository),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_use_id": "t",
        "tool_input": edit,
    }
    told = [run("hook", "claude-code", stdin=json.dumps(payload)) for _ in range(2)]
    assert ["deny" in one for one in told] == [True, False]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "before", "arguments": {"symbol": "AuthService.validate"}},
        },
    ]
    assert "naive datetimes" in run("mcp", stdin="".join(json.dumps(one) + "\n" for one in asked))
    assert "1 passed" in run("run", "--", "sh", "-c", "echo 1 passed")
    run("install", "--write-plugin", str(tmp_path / "plugin"))
    assert (tmp_path / "plugin" / "plugin" / "skills" / "hardwon" / "SKILL.md").is_file()
    run("uninstall", "git", "--yes")
    run("uninstall", "--all", "--yes")
    assert {path: path.read_bytes() for path in person.rglob("*") if path.is_file()} == before
