"""Installing and uninstalling: what was there is there again to the byte, and what others put there is never touched."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hardwon.agents import jsonc, lines, table, targets
from hardwon.agents.site import Site
from hardwon.doors import wired
from hardwon.settings import places
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

    Call = Callable[..., Result]

OTHERS_HOOK = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}]}}'
HOOKS_AROUND = """{
  // my hooks
  "model": "opus", /* the big one */
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "guard.sh", "timeout": 5 }, // keep
        ],
      },
    ],
    "Notification": [],
  },
  "permissions": { "allow": ["Bash(ls:*)"] },
}
"""

JSON_STATES: dict[str, bytes | None] = {
    "absent": None,
    "empty": b"",
    "blank": b" \n\n",
    "only a mark": "\ufeff".encode(),
    "empty object": b"{}",
    "empty object with a line end": b"{}\n",
    "empty object over lines": b"{\n}\n",
    "empty object with blanks": b"{   }\n",
    "only comments": b"// nothing yet\n",
    "only comments, no line end": b"/* nothing yet */",
    "empty hooks": b'{"hooks": {}}',
    "empty hooks over lines": b'{\n  "hooks": {\n  }\n}\n',
    "empty lists": b'{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [ ]\n  }\n}\n',
    "empty object with a comment in it": b'{\n  // here be hooks\n}\n',
    "minified": b'{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]},"mcpServers":{}}',
    "one line with blanks": b'{ "model": "opus" }\n',
    "others' hooks": OTHERS_HOOK.encode(),
    "others' hooks over lines": json.dumps(json.loads(OTHERS_HOOK), indent=2).encode(),
    "comments and trailing commas": HOOKS_AROUND.encode(),
    "tabs": HOOKS_AROUND.replace("  ", "\t").encode(),
    "four blanks": HOOKS_AROUND.replace("  ", "    ").encode(),
    "CRLF": HOOKS_AROUND.replace("\n", "\r\n").encode(),
    "CRLF and a mark": ("\ufeff" + HOOKS_AROUND.replace("\n", "\r\n")).encode(),
    "a mark": ("\ufeff" + OTHERS_HOOK).encode(),
    "no line end": HOOKS_AROUND.rstrip().encode(),
    "mixed line ends": b'{\r\n  "a": 1,\n  "b": 2\r\n}\n',
    "other servers": b'{\n  "mcpServers": {\n    "files": {"command": "npx", "args": ["-y", "files"]}\n  }\n}\n',
    "keys twice": b'{\n  "hooks": {"Stop": []},\n  "model": "a",\n  "hooks": {"PreToolUse": []},\n  "model": "b"\n}\n',
    "letters of all kinds": '{\n  "näme": "日本語 \U0001f600",\n  "esc\\u00e9": "\\"\\\\//*"\n}\n'.encode(),
    "signs of comments in texts": b'{"a": "// no", "b": "/* no */", "c": ",}", "url": "http://x//y"}',
    "last value has a comment": b'{\n  "a": 1 // note\n}\n',
    "last value has a comment before the end": b'{\n  "a": 1\n  // nothing more\n}\n',
    "a list at the end": b'{\n  "a": [\n    1,\n    2\n  ]\n}\n',
    "closing on the line": b'{\n  "a": 1,\n  "b": 2}\n',
    "opening on the line": b'{ "a": 1,\n  "b": 2\n}\n',
    "huge": json.dumps({"projects": {f"/p/{n}": {"history": ["x" * 50] * 20} for n in range(150)}}, indent=2).encode(),
}  # fmt: skip
TOML_STATES: dict[str, bytes | None] = {
    "absent": None,
    "empty": b"",
    "a comment": b"# mine\n",
    "keys": b'model = "o5"\napproval_policy = "never"\n',
    "no line end": b'model = "o5"',
    "CRLF": b'model = "o5"\r\n\r\n[projects."/a"]\r\ntrust_level = "trusted"\r\n',
    "a mark": '\ufeffmodel = "o5"\n'.encode(),
    "other servers": b'[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "files"]\n\n[mcp_servers.files.env]\nA = "1"\n\n\n',
    "inline servers": b'mcp_servers = { files = { command = "npx" } }  # all of them\nmodel = "o5"\n',
    "servers above": b"[mcp_servers]\n",
    "text like ours": b'notes = """\n[mcp_servers.hardwon]\ncommand = "no"\n"""\n',
    "letters of all kinds": '"schlüssel" = "日本語"\n'.encode(),
}
YAML_STATES: dict[str, bytes | None] = {
    "absent": None,
    "empty": b"",
    "comments": b"# my goose\n",
    "keys": b"GOOSE_MODEL: gpt\nGOOSE_MODE: auto\n",
    "no line end": b"GOOSE_MODEL: gpt",
    "other extensions": b"GOOSE_MODEL: gpt\nextensions:\n    # built in\n    developer:\n        enabled: true\nlast: 1\n",
    "extensions at the end": b"extensions:\n  developer:\n    enabled: true\n",
    "empty extensions": b"extensions: {}\nGOOSE_MODEL: gpt\n",
    "extensions of nothing": b"extensions:\nGOOSE_MODEL: gpt\n",
    "flow": b"extensions: {developer: {enabled: true}}\n",
    "CRLF": b"a: 1\r\nextensions:\r\n  developer:\r\n    enabled: true\r\n",
    "long texts": b"notes: |\n  extensions:\n    none\nextensions:\n  developer: {enabled: true}\n",
}
OF_GEMINI = ("absent", "empty", "others' hooks", "comments and trailing commas", "CRLF and a mark", "other servers")
STATES = [
    *(("claude-code", ".claude/settings.json", name, content) for name, content in JSON_STATES.items()),
    *(("gemini", ".gemini/settings.json", name, content) for name, content in JSON_STATES.items() if name in OF_GEMINI),
    *(("codex", ".codex/config.toml", name, content) for name, content in TOML_STATES.items()),
    *(("goose", ".config/goose/config.yaml", name, content) for name, content in YAML_STATES.items()),
]


def tree(folder: Path) -> dict[str, Any]:
    """Everything below a folder: kinds, rights, targets of links, contents."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        else:
            mode = stat.S_IMODE(path.stat().st_mode)
            found[name] = ("folder", mode) if path.is_dir() else ("file", mode, path.read_bytes())
    return found


def write(path: Path, content: bytes | None) -> Path:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def install(call: Call, client: str, *more: str) -> Result:
    done = call("install", client, "--yes", *more)
    assert done.code == 0, done
    return done


def uninstall(call: Call, client: str, *more: str) -> Result:
    done = call("uninstall", client, "--yes", *more)
    assert done.code == 0, done
    return done


def read_any(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text.removeprefix("\ufeff"))
    return yaml.safe_load(text) if path.suffix in (".yaml", ".yml") else jsonc.read(text)


# Identity


@pytest.mark.parametrize(("client", "name", "state", "content"), STATES, ids=[f"{one[0]}: {one[2]}" for one in STATES])
def test_install_and_uninstall_is_identity_and_twice_is_once(
    person: Path, call: Call, client: str, name: str, state: str, content: bytes | None
) -> None:
    path = write(person / name, content)
    before = tree(person)
    install(call, client)
    once = tree(person)
    assert "hardwon" in path.read_text()
    read_any(path)
    again = install(call, client, "--json").data
    assert {file["action"] for file in again["files"]} == {"unchanged"}
    assert tree(person) == once
    uninstall(call, client)
    assert tree(person) == before


# What a text alone does not tell: whether an object was empty, or not there.
UNTOLD = (
    "absent",
    "empty",
    "blank",
    "only a mark",
    "only comments",
    "empty hooks",
    "empty lists",
    "empty object",
    "no line end",
    "keys twice",
)
NOT_TO_THE_BYTE = ("minified", "servers above", "extensions of nothing", "comments", "text like ours")


@pytest.mark.slow
@pytest.mark.parametrize(("client", "name", "state", "content"), STATES, ids=[f"{one[0]}: {one[2]}" for one in STATES])
def test_without_our_list_the_entries_are_still_found_and_taken_out(
    person: Path, home: Path, call: Call, client: str, name: str, state: str, content: bytes | None
) -> None:
    path = write(person / name, content)
    install(call, client)
    shutil.rmtree(home / "configuration")
    uninstall(call, client)
    left = path.read_bytes()
    assert b"hook claude-code" not in left and (b"hardwon" not in left or state == "text like ours")
    if content is not None and not state.startswith(UNTOLD) and state not in NOT_TO_THE_BYTE:
        assert left == content


@pytest.mark.slow
@pytest.mark.parametrize("client", table.CLIENTS)
@pytest.mark.parametrize("scope", targets.SCOPES)
def test_every_client_leaves_nothing_behind(person: Path, bare: Path, call: Call, client: str, scope: str) -> None:
    if scope not in targets.scopes(client):
        refused = call("install", client, "--yes", "--scope", scope)
        assert refused.code == 2 and targets.scopes(client)[0] in refused.err
        return
    before = tree(person), tree(bare)
    done = call("install", client, "--yes", "--scope", scope, "--json").data
    assert all(file["action"] == "created" for file in done["files"])
    where = bare if scope == "project" else person
    assert all(Path(file["path"]).is_relative_to(where) for file in done["files"])
    for file in done["files"]:
        if Path(file["path"]).suffix in (".json", ".toml", ".yaml", ".yml"):
            read_any(Path(file["path"]))
    uninstall(call, client)
    assert (tree(person), tree(bare)) == before


def test_all_clients_together_leave_nothing_behind_and_share_files(person: Path, bare: Path, call: Call) -> None:
    before = tree(person), tree(bare)
    for client in table.CLIENTS:
        for scope in targets.scopes(client):
            install(call, client, "--scope", scope)
    instructions = bare / "AGENTS.md"
    call("uninstall", "zed", "--yes")
    call("uninstall", "goose", "--yes")
    assert "hardwon:begin" in instructions.read_text()  # Amp has the same block
    call("uninstall", "amp", "--yes")
    assert not instructions.exists()
    uninstall(call, "--all")
    assert (tree(person), tree(bare)) == before


# Files that are not as usual


def test_a_link_stays_a_link_and_its_target_changes(person: Path, call: Call) -> None:
    real = write(person / "dotfiles" / "settings.json", HOOKS_AROUND.encode())
    (person / ".claude").mkdir()
    (person / ".claude" / "settings.json").symlink_to(real)
    before = tree(person)
    install(call, "claude-code")
    assert (person / ".claude" / "settings.json").is_symlink()
    assert b"hook claude-code" in real.read_bytes()
    uninstall(call, "claude-code")
    assert tree(person) == before


def test_a_link_that_leads_nowhere_leads_nowhere_again(person: Path, call: Call) -> None:
    (person / ".claude").mkdir()
    (person / ".claude" / "settings.json").symlink_to(person / "gone" / "settings.json")
    before = tree(person)
    install(call, "claude-code")
    assert (person / "gone" / "settings.json").is_file()
    uninstall(call, "claude-code")
    assert tree(person) == before


def test_a_link_of_a_repository_that_leads_out_is_not_followed(person: Path, bare: Path, call: Call) -> None:
    target = write(person / "notes.md", b"mine\n")
    (bare / "AGENTS.md").symlink_to(target)
    done = call("install", "zed", "--scope", "project", "--yes")
    assert done.code == 2 and "leads out of the repository" in done.err
    assert target.read_bytes() == b"mine\n" and not (bare / ".zed").exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_rights_stay(person: Path, call: Call, mode: int) -> None:
    path = write(person / ".claude" / "settings.json", b"{}")
    path.chmod(mode)
    install(call, "claude-code")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    uninstall(call, "claude-code")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_program_that_a_client_starts_may_be_started(person: Path, call: Call) -> None:
    install(call, "cline")
    assert os.access(person / "Documents" / "Cline" / "Hooks" / "PreToolUse", os.X_OK)


REFUSED: dict[str, bytes] = {
    "no JSON": b'{"hooks": ',
    "two values": b"{} {}",
    "a comma alone": b'{"a": [,]}',
    "no object": b"[1, 2]",
    "a text": b'"settings"',
    "hooks is a text": b'{"hooks": "none"}',
    "hooks is a list": b'{"hooks": []}',
    "an event is an object": b'{"hooks": {"SessionStart": {}}}',
    "another encoding": '{"a": "é"}'.encode("latin-1"),
    "sixteen bits": '{"a": 1}'.encode("utf-16"),
    "too deep": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("state", REFUSED)
def test_what_cannot_be_read_is_named_and_nothing_is_changed(person: Path, call: Call, state: str) -> None:
    path = write(person / ".claude" / "settings.json", REFUSED[state])
    write(person / ".claude.json", b"{}")
    before = tree(person)
    done = call("install", "claude-code", "--yes", "--json")
    assert done.code == 2
    assert str(path) in done.error["message"] and "nothing was changed" in done.error["remedy"]
    assert tree(person) == before
    assert call("uninstall", "claude-code", "--yes").code in (0, 2)
    assert tree(person) == before


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_read_only_stays_as_it_is(person: Path, call: Call, what: str) -> None:
    path = write(person / ".claude" / "settings.json", b"{}")
    locked = path if what == "file" else path.parent
    locked.chmod(locked.stat().st_mode & ~0o222)
    before = tree(person)
    done = call("install", "claude-code", "--yes", "--json")
    assert done.code == 1 and done.error["kind"] == "read_only" and str(path.parent) in done.error["message"]
    assert tree(person) == before
    locked.chmod(0o755)


def test_a_folder_in_the_place_of_a_file_is_told(person: Path, call: Call) -> None:
    (person / ".claude" / "settings.json").mkdir(parents=True)
    done = call("install", "claude-code", "--yes")
    assert done.code == 2 and "is not a file" in done.err


def test_when_one_file_fails_those_before_it_are_put_back(person: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardwon.store import files

    write(person / ".claude" / "settings.json", HOOKS_AROUND.encode())
    before = tree(person)
    rewrite = files.rewrite

    def failing(path: str, content: bytes, *, mode: int = 0o644) -> None:
        if path.endswith("SKILL.md"):
            raise OSError(28, "No space left on device")
        rewrite(path, content, mode=mode)

    monkeypatch.setattr(files, "rewrite", failing)
    assert call("install", "claude-code", "--yes").code == 1
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(person))
    assert {name: one for name, one in tree(person).items() if one[0] == "file"} == {
        name: one for name, one in before.items() if one[0] == "file"
    }


def test_a_file_that_changes_in_between_is_not_overwritten(person: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardwon.doors import configuration

    path = write(person / ".claude" / "settings.json", b"{}")
    check = configuration.check_writable

    def meanwhile(where: str) -> None:
        path.write_bytes(b'{"model": "new"}')
        check(where)

    monkeypatch.setattr(configuration, "check_writable", meanwhile)
    done = call("install", "claude-code", "--yes")
    assert done.code == 2 and "meanwhile" in done.err
    assert path.read_bytes() == b'{"model": "new"}'


def test_new_files_in_the_home_folder_are_nobody_elses(person: Path, bare: Path, call: Call) -> None:
    install(call, "claude-code")
    install(call, "claude-code", "--scope", "project")
    assert stat.S_IMODE((person / ".claude.json").stat().st_mode) == 0o600
    assert (bare / ".mcp.json").stat().st_mode & 0o044


def test_a_file_of_an_earlier_version_is_given_back_too(person: Path, home: Path, call: Call) -> None:
    from hardwon.doors.configuration import Change, Shelf

    install(call, "codex")
    old = person / ".codex" / "instructions.md"
    with Shelf(str(home), 1.0) as shelf:
        shelf.apply([Change(str(old), None, b"of an earlier version", None, ("codex:user",))])
    uninstall(call, "codex")
    assert tree(person) == {}


def test_taking_out_needs_no_installed_command(person: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardwon.doors import program

    install(call, "claude-code")
    monkeypatch.setattr(program, "is_program", lambda path: False)
    assert call("install", "claude-code", "--yes").code == 2
    uninstall(call, "claude-code")
    assert tree(person) == {}


def test_two_at_once_leave_one_whole_list(person: Path, home: Path, run: Call, call: Call) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda client: run("install", client, "--yes"), ["claude-code", "codex", "gemini", "opencode"]))
    assert all(one.code == 0 for one in done), done
    uninstall(call, "--all")
    assert tree(person) == {}


def test_r49_after_uninstalling_in_use_no_process_is_left_and_the_memories_are(
    person: Path, project: Path, home: Path, call: Call
) -> None:
    """A server of tools and a hook are running when it is uninstalled: both end with the client that started them."""
    call("fail", "A.b", "kept over the installation")
    install(call, "claude-code")
    hook = jsonc.read((person / ".claude" / "settings.json").read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    server = jsonc.read((person / ".claude.json").read_text())["mcpServers"]["hardwon"]
    started = [
        subprocess.Popen([server["command"], *server["args"]], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE),
        subprocess.Popen(hook, shell=True, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE),
    ]
    assert wait_for(lambda: len(running(str(home))) >= 2)
    uninstall(call, "claude-code")
    for process in started:
        process.communicate(b"", timeout=60)  # the client is gone
    assert wait_for(lambda: running(str(home)) == [])
    assert "kept over the installation" in call("query", "A.b").out


def running(home: str) -> list[str]:
    """The processes that have this HARDWON_HOME in their environment, this one aside."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if f"HARDWON_HOME={home}".encode() in environment.split(b"\0") and int(process.name) != os.getpid() and command:
            found.append(command.decode())
    return found


# Edited since


def test_what_a_person_adds_after_us_stays(person: Path, call: Call) -> None:
    path = write(person / ".claude" / "settings.json", HOOKS_AROUND.encode())
    install(call, "claude-code")
    path.write_text(path.read_text().replace('"model": "opus"', '"model": "haiku"'))
    uninstall(call, "claude-code")
    assert path.read_text() == HOOKS_AROUND.replace('"model": "opus"', '"model": "haiku"')


def test_a_handler_that_somebody_put_into_our_group_stays(person: Path, call: Call) -> None:
    path = write(person / ".claude" / "settings.json", None)
    install(call, "claude-code")
    data = jsonc.read(path.read_text())
    data["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    path.write_text(json.dumps(data, indent=2))
    install(call, "claude-code")
    assert jsonc.read(path.read_text())["hooks"]["Stop"][0]["hooks"] == [{"type": "command", "command": "say done"}]
    uninstall(call, "claude-code")
    assert jsonc.read(path.read_text()) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}


def test_a_new_file_that_got_other_entries_stays_with_those(person: Path, call: Call) -> None:
    install(call, "codex")
    path = person / ".codex" / "config.toml"
    path.write_text(path.read_text() + '\n[projects."/a"]\ntrust_level = "trusted"\n')
    uninstall(call, "codex")
    assert tomllib.loads(path.read_text()) == {"projects": {"/a": {"trust_level": "trusted"}}}
    assert not (person / ".codex" / "hooks.json").exists()


def test_keys_that_a_client_adds_to_our_entry_stay_while_it_does(person: Path, call: Call) -> None:
    install(call, "codex")
    path = person / ".codex" / "config.toml"
    path.write_text(path.read_text() + 'required = true\n\n[mcp_servers.hardwon.tools.recall]\napproval_mode = "approve"\n')
    before = path.read_text()
    install(call, "codex")
    assert path.read_text() == before
    uninstall(call, "codex")
    assert not path.exists() or path.read_text() == ""


def test_an_entry_of_an_older_version_is_renewed_in_its_place(person: Path, call: Call) -> None:
    old = HOOKS_AROUND.replace('"guard.sh"', '"/old/venv/bin/hardwon hook claude-code"')
    path = write(person / ".claude" / "settings.json", old.encode())
    write(
        person / ".claude.json",
        b'{"mcpServers": {"hardwon": {"command": "/old/venv/bin/hardwon", "args": ["mcp"], "timeout": 9}}}',
    )
    install(call, "claude-code")
    text = path.read_text()
    assert "/old/" not in text and "// my hooks" in text
    entry = jsonc.read((person / ".claude.json").read_text())["mcpServers"]["hardwon"]
    assert entry["command"] != "/old/venv/bin/hardwon" and entry["timeout"] == 9
    uninstall(call, "claude-code")
    assert "hardwon" not in path.read_text() and "hardwon" not in (person / ".claude.json").read_text()
    assert jsonc.read(path.read_text())["model"] == "opus"


def test_the_same_hook_twice_becomes_one(person: Path, call: Call) -> None:
    install(call, "claude-code")
    path = person / ".claude" / "settings.json"
    data = jsonc.read(path.read_text())
    data["hooks"]["Stop"] *= 3
    path.write_text(json.dumps(data))
    install(call, "claude-code")
    assert len(jsonc.read(path.read_text())["hooks"]["Stop"]) == 1


def test_somebody_elses_file_in_our_place_is_left_and_told(person: Path, call: Call) -> None:
    path = write(person / "Documents" / "Cline" / "Hooks" / "PreToolUse", b"#!/bin/sh\nmy-guard\n")
    done = install(call, "cline")
    assert f"{path} is somebody else's" in done.out
    uninstall(call, "cline")
    assert path.read_bytes() == b"#!/bin/sh\nmy-guard\n"


OWN = (
    b"#!/bin/sh\n# mine: guards, then the memory (hardwon)\nmy-guard || exit 1\nhardwon hook cline\n",
    b"# How we use Hardwon here\n\nAsk `hardwon recall` first; `hardwon install cline` made the rest.\n",
    b'{"hooks": {"preToolUse": [{"command": "my-guard"}, {"command": "hardwon hook vscode"}]}}\n',
    b"\xff\xfe hardwon\n",
)


@pytest.mark.parametrize("own", OWN, ids=["program", "page", "settings", "bytes"])
def test_a_file_of_a_person_that_speaks_of_us_is_neither_replaced_nor_removed(
    person: Path, bare: Path, call: Call, own: bytes
) -> None:
    for client in table.CLIENTS:
        for scope in targets.scopes(client):
            site = Site(places(), scope, str(bare), "hardwon")
            paths = [Path(part.path) for part in targets.parts(client, site) if part.form in ("file", "script")]
            for path in paths:
                write(path, own)
            for said in (install(call, client, "--scope", scope), install(call, client, "--scope", scope)):
                assert [path for path in paths if f"{path} is somebody else's" not in said.out] == []
            assert [path for path in paths if path.read_bytes() != own] == []
            uninstall(call, client, "--scope", scope)
            assert [path for path in paths if not path.exists() or path.read_bytes() != own] == []
            for path in paths:
                path.unlink()


def test_a_file_of_ours_is_known_again_without_the_list_of_what_we_changed(
    person: Path, bare: Path, call: Call, home: Path
) -> None:
    for client, scope in (
        ("cline", "user"), ("vscode", "user"), ("vscode", "project"), ("opencode", "user"), ("hermes", "user"), ("continue", "user"),
        ("cursor", "project"), ("aider", "project"),
    ):  # fmt: skip
        install(call, client, "--scope", scope)
        shutil.rmtree(home / "configuration")
        done = install(call, client, "--scope", scope)
        assert "somebody else's" not in done.out
        uninstall(call, client, "--scope", scope)
        files = [path for top in (person, bare) for path in top.rglob("*") if path.is_file()]
        assert [path for path in files if path.stem == "hardwon" or b"Made by" in path.read_bytes()] == [], client


def test_a_program_of_a_persons_own_that_calls_us_counts_as_wired(person: Path, call: Call) -> None:
    write(person / "Documents" / "Cline" / "Hooks" / "PreToolUse", OWN[0])
    site = Site(places(), "user", "", "hardwon")
    (one,) = [one for one in wired.look({"user": site}, ["cline"]) if one.path.endswith("PreToolUse")]
    assert (one.programs, one.current) == (("hardwon",), True)


def test_another_memory_provider_of_hermes_stays_chosen(person: Path, call: Call) -> None:
    path = write(person / ".hermes" / "config.yaml", b"memory:\n  provider: mem0\n")
    install(call, "hermes")
    assert path.read_bytes() == b"memory:\n  provider: mem0\n"
    uninstall(call, "hermes")
    assert path.read_bytes() == b"memory:\n  provider: mem0\n"


# Shown, asked, found


def test_a_dry_run_shows_the_difference_and_changes_nothing(person: Path, call: Call) -> None:
    write(person / ".claude" / "settings.json", b'{\n  "model": "opus"\n}\n')
    before = tree(person)
    done = call("install", "claude-code", "--dry-run")
    assert done.code == 0
    assert f"+++ {person}/.claude/settings.json" in done.out and '-  "model": "opus"' in done.out and '+  "hooks": {' in done.out
    assert tree(person) == before


def test_a_dry_run_says_what_would_be_done_and_that_nothing_was(person: Path, call: Call) -> None:
    write(person / ".claude" / "settings.json", b"{}")
    lines = call("install", "claude-code", "--dry-run").out.splitlines()
    assert lines[-1] == "nothing was written"
    said = {path.name: line for line in lines for path in person.glob("**/*") if line.endswith(str(path))}
    assert not any(line.startswith(("created", "changed", "removed")) for line in lines), lines
    assert f"would be created {person}/.claude.json" in lines
    assert said["settings.json"].startswith("would be changed ")
    install(call, "claude-code")
    gone = call("uninstall", "claude-code", "--dry-run").out.splitlines()
    assert f"would be removed {person}/.claude.json" in gone and gone[-1] == "nothing was written"
    again = call("install", "claude-code", "--dry-run").out
    assert "would be" not in again and "everything is as it should be" in again
    assert "nothing was written" not in call("install", "claude-code", "--yes").out


def test_a_token_beside_our_entry_is_not_shown(person: Path, call: Call) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(person / ".claude.json", json.dumps({"env": {"GITHUB_TOKEN": token}}, indent=2).encode())
    done = call("install", "claude-code", "--dry-run", "--json")
    assert token not in done.out and "GITHUB_TOKEN" in done.out


def test_without_a_yes_nothing_happens(person: Path, call: Call) -> None:
    done = call("install", "claude-code")
    assert done.code == 2 and "--yes" in done.err
    assert tree(person) == {}


def test_without_a_client_those_of_this_machine_are_listed_and_nothing_is_done(person: Path, bare: Path, call: Call) -> None:
    nothing = call("install")
    assert nothing.code == 0 and "was found on this machine" in nothing.out and "claude-code" in nothing.out
    for name in (".gemini", ".cursor", ".config/zed", ".config/amp"):
        (person / name).mkdir(parents=True)
    install(call, "cursor")
    install(call, "zed", "--scope", "project")  # its AGENTS.md says nothing of Amp, which reads it too
    before = tree(person), tree(bare)
    listed = call("install")
    assert listed.code == 0 and listed.err == ""
    rows = {words[0]: line for line in listed.out.splitlines() if (words := line.split())}
    assert "not wired" in rows["gemini"] and "wired (user)" in rows["cursor"] and "hardwon install --all" in listed.out
    told = call("install", "--json").data
    assert [(one["client"], one["wired"]) for one in told["found"]] == [
        ("gemini", []), ("cursor", ["user"]), ("zed", ["project"]), ("amp", []),
    ]  # fmt: skip
    assert told["found"][0] == {"client": "gemini", "title": "Gemini CLI", "tier": "hooks", "wired": []}
    assert told["files"] == told["clients"] == [] and told["dry_run"] is False
    assert (tree(person), tree(bare)) == before


def test_the_plugin_of_claude_code_counts_as_wired(person: Path, call: Call) -> None:
    write(person / ".claude" / "settings.json", b'{"enabledPlugins": {"hardwon@hardwon": true}}')
    assert call("install", "--json").data["found"][0]["wired"] == ["plugin"]


def test_init_tells_of_clients_that_are_here_and_not_wired(person: Path, bare: Path, call: Call) -> None:
    silent = call("init", "--no-history")
    assert silent.code == 0 and "hardwon install" not in silent.out
    assert call("init", "--no-history", "--json").data["unwired"] == []
    (person / ".gemini").mkdir()
    line = "next: hardwon install gemini (on this machine and not wired: Gemini CLI)"
    assert line in call("init", "--no-history").out.splitlines()
    (person / ".claude").mkdir()
    (person / ".copilot").mkdir()  # which runs the hooks of Claude Code
    told = call("init", "--no-history", "--json").data
    assert told["unwired"] == ["claude-code", "gemini"]
    install(call, "gemini")
    install(call, "claude-code")
    assert "hardwon install" not in call("init", "--no-history").out


def test_init_does_not_mind_a_configuration_that_cannot_be_read(person: Path, bare: Path, call: Call) -> None:
    write(person / ".gemini" / "settings.json", b'{"hooks": ')
    done = call("init", "--no-history", "--json")
    assert done.code == 0, done


def test_a_folder_of_memories_that_only_this_shell_names_is_told(
    person: Path, bare: Path, home: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call("install", "gemini", "--yes", "--json").data
    assert any("HARDWON_HOME is set here" in note for note in done["notes"])
    for file in done["files"]:
        assert str(home) not in Path(file["path"]).read_text()
    call("init", "--no-history")
    assert "HARDWON_HOME is set here" in call("install", "git", "--dry-run").out
    monkeypatch.setenv("HARDWON_HOME", str(person / ".local" / "share" / "hardwon"))  # the usual one, said by name
    assert call("install", "codex", "--yes", "--json").data["notes"] == [
        "Codex runs new hooks only after you trust them: start codex, type /hooks, and trust those of hardwon."
    ]


def test_aider_is_told_nothing_that_it_cannot_do(person: Path, bare: Path, call: Call) -> None:
    install(call, "aider")
    text = (bare / ".aider.hardwon.md").read_text()
    assert "MCP" not in text and "server" not in text and "tool" not in text.split() and "hook" not in text
    assert "`hardwon export --format agents-md CONVENTIONS.md`" in text and "hardwon before --file" in text


def test_goose_is_told_of_it_in_a_project(person: Path, bare: Path, call: Call) -> None:
    install(call, "goose", "--scope", "project")
    assert "hardwon:begin" in (bare / "AGENTS.md").read_text() and not (person / ".config").exists()
    uninstall(call, "goose")
    assert not (bare / "AGENTS.md").exists()


def test_clients_that_are_here_are_found(person: Path, call: Call) -> None:
    (person / ".gemini").mkdir()
    (person / ".cursor").mkdir()
    done = call("install", "--all", "--yes", "--json").data
    assert [one["client"] for one in done["clients"]] == ["gemini", "cursor"]
    assert (person / ".cursor" / "hooks.json").exists() and not (person / ".claude").exists()


def test_a_client_that_does_not_exist_is_refused_with_the_nearest(person: Path, call: Call) -> None:
    done = call("install", "claude", "--yes")
    assert done.code == 2 and "did you mean claude-code?" in done.err


def test_the_clients_own_variables_are_followed(person: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, client, made in (
        ("CLAUDE_CONFIG_DIR", "claude-code", "settings.json"),
        ("CODEX_HOME", "codex", "hooks.json"),
        ("XDG_CONFIG_HOME", "opencode", "opencode/opencode.json"),
        ("GEMINI_CLI_HOME", "gemini", ".gemini/settings.json"),
        ("HERMES_HOME", "hermes", "config.yaml"),
    ):
        monkeypatch.setenv(variable, str(person / variable))
        install(call, client)
        assert (person / variable / made).is_file()


# The entries themselves


def site(person: Path, scope: Any = "user") -> Site:
    return Site(
        places({"HOME": str(person)}), scope, str(person / "shop"), "/opt/my tools/hardwon" if scope == "user" else "hardwon"
    )


@pytest.mark.parametrize("client", [client for client in table.CLIENTS if table.row(client).dialect])  # type: ignore[union-attr]
def test_hook_lines_are_known_again_and_name_their_program(person: Path, client: str) -> None:
    line = site(person).line(client)
    assert lines.client_of(line) == client
    assert lines.program_of(line) == "/opt/my tools/hardwon"
    shared = site(person, "project").line(client)
    assert lines.client_of(shared) == client and lines.program_of(shared) == "hardwon"
    assert lines.client_of(f"notify --about 'hardwon hook {client}' now") == ""


def test_a_shared_hook_line_is_silent_without_the_program_and_keeps_its_exit_code(person: Path) -> None:
    line = site(person, "project").line("codex")
    bare = subprocess.run(["/bin/sh", "-c", line], env={"PATH": "/nowhere"}, capture_output=True, check=False)
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, b"", b"")
    write(person / "bin" / "hardwon", b"#!/bin/sh\nexit 2\n").chmod(0o755)
    found = subprocess.run(["/bin/sh", "-c", line], env={"PATH": f"{person}/bin:/bin"}, check=False)
    assert found.returncode == 2


def test_hook_lines_do_not_name_a_version(person: Path) -> None:
    from hardwon.settings import VERSION

    for client in table.CLIENTS:
        for scope in targets.scopes(client):
            for part in targets.parts(client, site(person, scope)):
                if "hooks" in part.about:
                    assert VERSION not in json.dumps([entry.value for entry in part.entries]) + part.text


def test_every_event_that_is_asked_for_is_one_that_its_dialect_knows() -> None:
    from hardwon.agents import dialects, editor_clients, hook_events

    folder = Path(dialects.__path__[0])
    family = (folder / "family.py").read_text()
    asked = {
        name: list(getattr(hook_events, name)("x")) for name in ("claude", "codex", "gemini", "cursor", "windsurf", "openhands")
    }
    asked["cline"] = list(editor_clients.CLINE_EVENTS)
    for name, events in asked.items():
        text = (folder / f"{name}.py").read_text() + family
        unknown = [event for event in events if f'"{event}"' not in text and f'"{event.partition("_")[0]}_' not in text]
        assert not unknown, (name, unknown)


def test_the_page_names_each_client_with_its_tier_and_what_it_lacks() -> None:
    page = (Path(__file__).parent.parent / "docs" / "install.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", page, re.MULTILINE))
    assert tuple(rows) == table.CLIENTS
    for client, cells in rows.items():
        tier, user, project = cells.split(" | ")
        row = table.row(client)
        assert row is not None and tier == row.tier
        assert [scope for scope, cell in (("user", user), ("project", project)) if cell != "none"] == sorted(
            targets.scopes(client), reverse=True
        )
        assert f"\n## {client}\n" in page
