"""``doctor``: what keeps Hardwon from working in the agents is found, and what works is not complained about."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.doors import hook_log, program

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

    Call = Callable[..., Result]

START = {"hook_event_name": "SessionStart", "session_id": "s-1", "source": "startup"}


@pytest.fixture
def project(tmp_path: Path, call: Call) -> Path:
    """A folder with a memory, without a history that would take its time to read."""
    folder = tmp_path / "shop"
    folder.mkdir()
    made = call("init", cwd=folder)
    assert made.code == 0, made
    return folder


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(autouse=True)
def quiet_servers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting the server of tools takes a process each time: one test does it."""
    if "server" not in request.node.name:
        from hardwon.doors import probing

        monkeypatch.setattr(probing, "tools", lambda *_: (["recall"], ""))


def findings(call: Call) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("doctor", "--json").data["findings"]
    return found


def named(found: list[dict[str, Any]], words: str) -> dict[str, Any] | None:
    return next((item for item in found if words in item["what"]), None)


def install(call: Call, *words: str) -> None:
    done = call("install", *words, "--yes")
    assert done.code == 0, done


def test_where_all_is_well_nothing_is_said(person: Path, project: Path, call: Call, run: Call) -> None:
    install(call, "claude-code")
    payload = json.dumps({**START, "cwd": str(project)})
    assert run("hook", "claude-code", stdin=payload).code == 0
    done = call("doctor", "--json")
    assert done.code == 0 and done.data["ok"]
    assert [item for item in done.data["findings"] if item["level"] != "note"] == []
    assert named(done.data["findings"], "never called") is None
    assert {beat["client"] for beat in done.data["heartbeats"]} == {"claude-code"}
    assert {one["client"] for one in done.data["wired"]} == {"claude-code"}
    assert "last called" in call("doctor").out


def test_hooks_that_never_ran_are_told(person: Path, project: Path, call: Call) -> None:
    install(call, "gemini")
    found = named(findings(call), "our hooks in Gemini CLI were never called")
    assert found and found["level"] == "note"  # it was installed just now
    os.utime(person / ".gemini" / "settings.json", (1_700_000_000, 1_700_000_000))
    found = named(findings(call), "our hooks in Gemini CLI were never called")
    assert found and found["level"] == "warning"


def test_hooks_that_codex_does_not_trust_are_told(person: Path, project: Path, call: Call) -> None:
    install(call, "codex")
    found = named(findings(call), "Codex does not trust our hooks yet")
    assert found and found["level"] == "warning" and "/hooks" in found["remedy"]
    config = person / ".codex" / "config.toml"
    key = f"{person}/.codex/hooks.json:session_start:0:0"
    config.write_text(config.read_text() + f'\n[hooks.state."{key}"]\ntrusted_hash = "abc"\n')
    assert named(findings(call), "Codex does not trust") is None
    assert named(findings(call), "never called")


def test_a_program_that_is_gone_is_an_error(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    settings = person / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(program.installed(), "/gone/bin/hardwon"))
    done = call("doctor", "--json")
    found = named(done.data["findings"], "claude-code starts /gone/bin/hardwon, which is gone")
    assert done.code == 1 and found and found["level"] == "error" and "hardwon install claude-code" in found["remedy"]
    install(call, "claude-code")
    assert call("doctor").code == 0


def test_another_version_is_told(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    other = person / "old" / "hardwon"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho 'hardwon 0.0.9'\n")
    other.chmod(0o755)
    settings = person / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(program.installed(), str(other)))
    found = named(findings(call), "which is version 0.0.9")
    assert found and found["level"] == "warning"


def test_entries_of_another_version_are_told(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    settings = person / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("NotebookEdit|", ""))
    assert named(findings(call), "the entries of claude-code are those of another version")


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode", "cursor"])
def test_hooks_of_user_and_project_are_doubled(person: Path, project: Path, call: Call, client: str) -> None:
    install(call, client)
    assert named(findings(call), "are there twice") is None
    install(call, client, "--scope", "project")
    assert named(findings(call), f"the hooks of {client} are there twice: for the user and for this project")


def test_settings_and_plugin_are_doubled(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    settings = person / ".claude" / "settings.json"
    data = json.loads(settings.read_text())
    settings.write_text(json.dumps({**data, "enabledPlugins": {"hardwon@hardwon": True}}))
    assert named(findings(call), "in the settings, and in the plugin")


def test_vs_code_reads_the_hooks_of_claude_code_too(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    install(call, "vscode")
    assert named(findings(call), "VS Code reads Claude Code's hooks")


def test_a_shared_line_without_the_program_on_the_path_is_told(
    person: Path, project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(call, "claude-code", "--scope", "project")
    assert named(findings(call), "not on the PATH") is None
    monkeypatch.setenv("PATH", f"{os.path.dirname(shutil.which('git') or '')}")
    if shutil.which("hardwon"):
        pytest.skip("git and hardwon are in one folder here")
    found = named(findings(call), "claude-code calls `hardwon`, which is not on the PATH")
    assert found and found["level"] == "warning"


def test_a_configuration_that_cannot_be_read_is_an_error(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    settings = person / ".claude" / "settings.json"
    settings.write_text(settings.read_text()[:-5])
    done = call("doctor", "--json")
    found = named(done.data["findings"], "claude-code cannot read its configuration")
    assert done.code == 1 and found and found["where"] == str(settings)


def test_failures_of_hooks_are_shown_here_and_by_status(person: Path, project: Path, home: Path, call: Call) -> None:
    hook_log.note(str(home), "codex", "before", "late", "no answer in time")
    for verb in ("doctor", "status"):
        found = [item for item in call(verb, "--json").data["findings"] if "hooks failed within a day" in item["what"]]
        assert len(found) == 1 and "codex before late (1)" in found[0]["what"], verb


def test_without_a_memory_it_says_that_hooks_are_silent(person: Path, bare: Path, call: Call) -> None:
    done = call("doctor", "--json")
    assert done.code == 0
    found = named(done.data["findings"], "hooks say nothing here")
    assert found and "hardwon init" in found["remedy"]


def test_a_store_that_cannot_be_opened_is_an_error(person: Path, project: Path, home: Path, call: Call) -> None:
    store = next(path for path in home.rglob("*") if path.is_file() and path.read_bytes()[:6] == b"SQLite")
    store.write_bytes(b"this is no database at all" * 1000)
    done = call("doctor", "--json")
    assert done.code == 1 and not done.data["ok"]
    assert any(item["level"] == "error" for item in done.data["findings"])


def test_a_store_that_nobody_may_write_is_an_error(
    person: Path, project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert named(findings(call), "cannot be written") is None
    store = call("status", "--json").data["store"]
    access = os.access
    # For root, as whom CI runs the tests, no permission of a file says no.
    monkeypatch.setattr(os, "access", lambda path, mode, **more: access(path, mode, **more) and path != store)
    done = call("doctor", "--json")
    item = named(done.data["findings"], "the store cannot be written")
    assert item is not None and (item["level"], item["where"]) == ("error", store) and "permissions" in item["remedy"]
    assert (done.code, done.data["ok"]) == (1, False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_store_without_the_right_to_write_is_an_error(person: Path, project: Path, call: Call) -> None:
    store = Path(call("status", "--json").data["store"])
    store.chmod(0o400)
    try:
        assert named(findings(call), "the store cannot be written") is not None
    finally:
        store.chmod(0o600)


def test_an_engine_that_can_lose_commits_is_an_error(
    person: Path, project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    import apsw

    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.45.0")
    for folder in (project, person):  # without a memory it is asked as well
        done = call("doctor", "--json", cwd=folder)
        item = named(done.data["findings"], "SQLite 3.45.0 can lose")
        assert item is not None and (item["level"], item["where"]) == ("error", "store") and "apsw" in item["remedy"]
        assert (done.code, done.data["ok"]) == (1, False)


def test_it_changes_nothing(person: Path, project: Path, call: Call) -> None:
    from tests.test_install import tree

    install(call, "claude-code")
    before = tree(person)
    call("doctor")
    assert tree(person) == before


def test_the_server_of_tools_answers(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    assert named(findings(call), "the server of tools") is None


def test_a_server_that_does_not_answer_is_an_error(person: Path, project: Path, call: Call) -> None:
    install(call, "claude-code")
    broken = person / "hardwon"
    broken.write_text("#!/bin/sh\n[ $1 = --version ] && echo hardwon 0.1.0 && exit\necho it broke >&2\nexit 3\n")
    broken.chmod(0o755)
    state = person / ".claude.json"
    state.write_text(state.read_text().replace(program.installed(), str(broken)))
    done = call("doctor", "--json")
    found = named(done.data["findings"], "the server of tools does not answer: it broke")
    assert done.code == 1 and found and found["level"] == "error"


def test_a_program_that_only_a_repository_names_is_told_of_and_never_started_by_the_server_check(
    person: Path, bare: Path, call: Call
) -> None:
    install(call, "claude-code", "--scope", "project")
    evil = bare / "tools" / "hardwon"
    evil.parent.mkdir()
    evil.write_text(f"#!/bin/sh\ntouch {person}/started\n")
    evil.chmod(0o755)
    servers = bare / ".mcp.json"
    servers.write_text(servers.read_text().replace('"hardwon",', f'"{evil}",'))
    settings = bare / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("! command -v hardwon >/dev/null || hardwon hook", f"{evil} hook"))
    found = [item for item in findings(call) if "which is not the hardwon that is installed" in item["what"]]
    assert {item["where"] for item in found} == {str(servers), str(settings)}
    assert not (person / "started").exists()


def test_a_program_of_one_run_is_not_written_anywhere(
    person: Path, bare: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    passing = tmp_path / "uv" / "archive-v0" / "x" / "bin" / "hardwon"
    passing.parent.mkdir(parents=True)
    passing.write_text("#!/bin/sh\n")
    passing.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(passing)])
    done = call("install", "claude-code", "--yes")
    assert done.code == 2 and "one run only" in done.err and "uv tool install" in done.err
    assert not (person / ".claude").exists()
