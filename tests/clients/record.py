"""Records what each client really tells a hook: ``python -m tests.clients.record BIN OUT``; BIN holds the clients' commands.

A session with every sort of call is played; a hook that only writes down its standard input is asked at every event. What it saw is
kept under OUT/<client>/<event>.json, the first of its kind (and of each tool's), with the paths of the machine replaced. Transcripts of
the session are kept under OUT/../transcripts/<client>. Run it again when a client's version changes: the difference is what has changed.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.clients import run, table
from tests.clients.model import Model, Script
from tests.clients.wire import Say
from tests.gitmaker import GitRepo

if TYPE_CHECKING:
    from tests.clients.model import Reply
    from tests.clients.table import Client, Place

# The events that matter here, by client. Those of OpenCode are functions of a plugin.
EVENTS = {
    "claude-code": """SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch Stop SubagentStart SubagentStop
        PreCompact PostCompact SessionEnd""",
    "codex": """SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PreCompact PostCompact SubagentStart SubagentStop Stop""",
    "gemini": """SessionStart BeforeAgent BeforeTool AfterTool AfterAgent PreCompress SessionEnd""",
    "opencode": """chat.message tool.execute.before tool.execute.after experimental.chat.system.transform
        experimental.session.compacting""",
}
# Where the hooks of the other clients are set.
SETTINGS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
# Events of OpenCode that tell nothing of a session, or the same again at every word.
IDLE = ("catalog", "integration", "plugin", "reference", "file.watcher", "message.part.delta", "server", "lsp", "models")
TRANSCRIPTS = {
    "claude-code": (".claude/projects", "**/*.jsonl"),
    "codex": (".codex/sessions", "**/*.jsonl"),
    "gemini": (".gemini/tmp", "**/chats/**/*.json*"),
    "opencode": (".local/share/opencode", "opencode.db"),
}
# How long a conversation has to be, in tokens, for a client to shorten it.
FULL = {"claude-code": 199_000, "codex": 400_000, "gemini": 1_000_000, "opencode": 199_500}
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
SHOP = "def total(cart):\n    return sum(cart)\n"
TEST = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 4\n"


def hooks(client: Client, place: Place, log: Path) -> None:
    """Has the client tell every event to a script that writes its standard input to a file of its own."""
    script = place.home / "listen.sh"
    script.write_text(f'#!/bin/sh\nname={log}/$(date +%s%N)-$$\ncat > "$name.part" && mv "$name.part" "$name.json"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    entry = [{"hooks": [{"type": "command", "command": str(script)}]}]
    if client.name in SETTINGS:
        table.merge_json(place.home / SETTINGS[client.name], {"hooks": dict.fromkeys(EVENTS[client.name].split(), entry)})
    else:
        plugin(place.home / ".config" / "opencode" / "plugin" / "listen.js", log)


def server(client: Client, place: Place) -> None:
    """Adds a server with one tool, where the client keeps its servers."""
    command, arguments = sys.executable, [str(Path(__file__).with_name("stub_server.py"))]
    entry = {"mcpServers": {"scales": {"command": command, "args": arguments}}}
    if client.name == "claude-code":
        table.merge_json(place.home / ".claude.json", entry)
        allowed = {"permissions": {"allow": [*table.CLAUDE_ALLOWED, "mcp__scales"]}}
        table.merge_json(place.home / SETTINGS[client.name], allowed)
    elif client.name == "codex":
        with (place.home / ".codex" / "config.toml").open("a") as config:
            config.write(f'\n[mcp_servers.scales]\ncommand = "{command}"\nargs = {json.dumps(arguments)}\nrequired = true\n')
    elif client.name == "gemini":
        table.merge_json(place.home / SETTINGS[client.name], entry)
    else:
        local = {"type": "local", "command": [command, *arguments], "enabled": True}
        table.merge_json(place.home / ".config" / "opencode" / "opencode.json", {"mcp": {"scales": local}})


def plugin(path: Path, log: Path) -> None:
    """OpenCode has no command hooks: a plugin writes down what each of its functions is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = json.dumps(EVENTS["opencode"].split())
    path.write_text(
        f"""import {{ writeFileSync }} from "node:fs"
let count = 0
const keep = (hook, input, output) =>
  writeFileSync(`{log}/${{String(Date.now())}}-${{String(++count).padStart(6, "0")}}.json`, JSON.stringify({{ hook, input, output }}))
export const Listen = async (context) => {{
  const idle = {json.dumps(IDLE)}
  const event = async (input) => idle.some((name) => input.event.type.startsWith(name)) || keep("event." + input.event.type, input)
  const hooks = {{ event }}
  for (const name of {names}) hooks[name] = async (input, output) => keep(name, input, output)
  return hooks
}}
"""
    )


def story(client: Client, repo: Path) -> Script:
    """A session with every sort of call: a test that fails, a look, an edit that fails and one that does not, a green test, two calls
    at once, a new file, a subagent."""
    shop, test = str(repo / "shop.py"), f"{sys.executable} -m pytest -q -p no:cacheprovider"
    main: list[Reply] = [
        [Say("I run the tests first."), client.shell(test)],
        [client.read(shop)],
        [client.edit(shop, "    return prod(cart)", "    return sum(cart) + 1")],
        [client.edit(shop, "    return sum(cart)", "    return sum(cart) + 1")],
        [client.shell(test)],
        [client.shell("echo one"), client.shell("echo two; exit 3")],
        [client.write(str(repo / "notes.txt"), "one\ntwo\n")],
        [client.mcp("scales", "weigh", {"thing": "a cart"})],
        *client.tasks(["[[part]] Count the files."]),
        [Say("The total is right now: it needed one more.")],
    ]
    return Script({"main": main, "part": [[client.shell("ls | wc -l")], [Say("There are three files.")]]})


def kind(payload: dict[str, Any]) -> str:
    """The name of a payload's file: its event, and its tool where it has one."""
    event = payload.get("hook_event_name") or payload["hook"]
    tool = payload.get("tool_name") or (payload.get("input") or {}).get("tool") or ""
    source = payload.get("source") or payload.get("reason") or payload.get("trigger") or ""
    agent = "agent" if payload.get("agent_id") and not event.startswith("Subagent") else ""
    return "-".join(part for part in (event, tool, source, agent) if part)


def record(client: Client, commands: Path, out: Path) -> None:
    """Plays the session twice over (a new one, and one that goes on) and keeps what the hook saw."""
    with tempfile.TemporaryDirectory(prefix="clients-") as folder:
        base = Path(folder)
        home, log = base / "home", base / "log"
        home.mkdir()
        log.mkdir()
        repo = GitRepo(base / "shop")
        repo.write({"shop.py": SHOP, "test_shop.py": TEST})
        repo.git("add", "-A")
        repo.git("commit", "-qm", "Start the shop")
        with Model(story(client, base / "shop")) as model:
            place = table.Place(home, base / "shop", model.url, commands, base / "cache")
            client.configure(place)
            server(client, place)
            hooks(client, place, log)
            turns = [
                run.run(client, place, "Make the test of the total pass, please."),
                run.run(client, place, "Thank you.", goes_on=True),
            ]
            model.tokens = FULL[client.name]
            later = ("And the tests?", "/compact" if client.name == "claude-code" else "What is left?")
            turns += [run.run(client, place, prompt, goes_on=True) for prompt in later]
            failed = [turn for turn in turns if turn.code or turn.killed]
            if failed:
                raise RuntimeError(f"{client.label}: {failed[0]!r}")
        keep(client, base, log, out)


def keep(client: Client, base: Path, log: Path, out: Path) -> None:
    """Writes the payloads and the transcripts, with the folders of the run replaced."""
    label = client.label
    replaced = {
        f"{base}/home": "/home/ann",
        f"{base}/shop": "/home/ann/shop",
        str(base).replace("/", "-"): "-home-ann",
        sys.executable: "python3",
        str(Path(__file__).parent): "/home/ann",
    }

    def clean(text: str) -> str:
        for old, new in replaced.items():
            text = text.replace(old, new)
        return text

    folder = out / label
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted(log.glob("*.json")):
        payload = json.loads(clean(path.read_text()))
        names = [f"{kind(payload)}{number}.json" for number in ("", ".2", ".3")]
        name = next((name for name in names if not (folder / name).exists()), None)
        if name:
            (folder / name).write_text(json.dumps(payload, indent=1, ensure_ascii=False) + "\n")
    where, pattern = TRANSCRIPTS[client.name]
    transcripts = base / "home" / where
    for path in sorted(transcripts.glob(pattern)):
        target = out.parent / "transcripts" / label / clean(str(path.relative_to(transcripts)))
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".db":
            copy_database(path, target, replaced)
        else:
            target.write_text(clean(path.read_text()))


def copy_database(path: Path, target: Path, replaced: dict[str, str]) -> None:
    """A copy of a SQLite database in one file, with words replaced in every column of text."""
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        for (name,) in copy.execute(TABLES).fetchall():
            for column in copy.execute(f'PRAGMA table_info("{name}")').fetchall():
                for old, new in replaced.items():
                    where = f"WHERE typeof(\"{column[1]}\") = 'text'"
                    copy.execute(f'UPDATE "{name}" SET "{column[1]}" = replace("{column[1]}", ?, ?) {where}', (old, new))
        copy.commit()
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("VACUUM")


if __name__ == "__main__":
    chosen = sys.argv[3:]
    for each in table.CLIENTS:
        if not chosen or each.label in chosen:
            record(each, Path(sys.argv[1]), Path(sys.argv[2]))
