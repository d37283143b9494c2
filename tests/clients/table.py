"""The clients: how each is set up to reach the model, how a prompt is run, and what its own tools are called."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.clients.wire import Call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.clients.model import Reply, Request
    from tests.clients.wire import Block

# The packages, at the versions that the suite was written for.
VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.332",
    "@openai/codex": "0.171.0",
    "@google/gemini-cli": "0.61.0",
    "opencode-ai": "1.18.33",
}
KEY = "no-key-is-needed"


@dataclass(frozen=True)
class Place:
    """Where a client runs: a home, a repository, the model's address; ``bin``, the folder of the clients' commands, and ``cache``, a
    folder for what may be kept from test to test."""

    home: Path
    repo: Path
    url: str
    bin: Path
    cache: Path


@dataclass(frozen=True)
class Client:
    """One client: what we call it, its command, how it is set up and started, and its tools.

    ``configure`` writes what it needs to reach the model; ``command``: the arguments that run one prompt, or, with the second argument,
    that go on with the last session. ``shell``, ``write``, ``edit`` (path, old, new), ``read``, ``mcp`` (server, tool, arguments): calls
    of its own tools. ``tasks``: the replies that start one subagent for each task and wait for all of them. ``label``: what it is called
    in the names of tests and of folders.
    """

    name: str
    label: str
    program: str
    configure: Callable[[Place], None]
    environment: Callable[[Place], dict[str, str]]
    command: Callable[[str, bool], list[str]]
    shell: Callable[[str], Call]
    write: Callable[[str, str], Call]
    edit: Callable[[str, str, str], Call]
    read: Callable[[str], Call]
    tasks: Callable[[list[str]], list[Reply]]
    mcp: Callable[[str, str, dict[str, Any]], Call]


def merge_json(path: Path, more: dict[str, Any]) -> None:
    """Adds keys to a JSON file, which is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**old, **more}, indent=2) + "\n")


CLAUDE_ALLOWED = ("Bash", "Edit", "Write", "Read", "Agent", "mcp__hardwon")  # without a terminal, nobody can be asked


def claude_home(place: Place) -> None:
    merge_json(place.home / ".claude" / "settings.json", {"permissions": {"allow": list(CLAUDE_ALLOWED)}})
    trusted = {str(place.repo): {"hasTrustDialogAccepted": True}}
    merge_json(place.home / ".claude.json", {"hasCompletedOnboarding": True, "projects": trusted})


def claude_environment(place: Place) -> dict[str, str]:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return {"ANTHROPIC_BASE_URL": place.url, "ANTHROPIC_API_KEY": KEY, **quiet}


def claude_task(prompt: str) -> Call:
    task = {"description": "A part of it", "prompt": prompt, "subagent_type": "general-purpose"}
    return Call("Agent", {**task, "run_in_background": False})


CLAUDE = Client(
    name="claude-code",
    label="claude-code",
    program="claude",
    configure=claude_home,
    environment=claude_environment,
    command=lambda prompt, goes_on: ["-p", prompt, "--model", "sonnet", *(["--continue"] if goes_on else [])],
    shell=lambda command: Call("Bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: Call("Write", {"file_path": path, "content": text}),
    edit=lambda path, old, new: Call("Edit", {"file_path": path, "old_string": old, "new_string": new}),
    read=lambda path: Call("Read", {"file_path": path}),
    tasks=lambda prompts: [[claude_task(prompt) for prompt in prompts]],
    mcp=lambda server, tool, arguments: Call(f"mcp__{server}__{tool}", arguments),
)

# Codex offers a model its tools one by one, or, newer models, as functions of a script that a single tool runs; and its tool for edits
# only to models that it knows by name.
CODEX_MODEL, CODEX_SCRIPTING_MODEL = "gpt-5.5", "gpt-6-sol"


def codex_home(place: Place, model: str = CODEX_MODEL) -> None:
    path = place.home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"""model = "{model}"
model_provider = "loopback"

[model_providers.loopback]
name = "loopback"
base_url = "{place.url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."{place.repo}"]
trust_level = "trusted"
"""
    )


def codex_command(prompt: str, goes_on: bool) -> list[str]:
    # The trust in a hook is given in the client's own screen; here there is none. With this switch it runs those that it has not seen.
    free = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    return ["exec", *(["resume", "--last"] if goes_on else []), "--json", *free, prompt]


def codex_patch(head: str, lines: list[str]) -> str:
    return "\n".join(("*** Begin Patch", f"*** {head}", *lines, "*** End Patch"))


def codex_new(path: str, text: str) -> str:
    return codex_patch(f"Add File: {path}", [f"+{line}" for line in text.splitlines()])


def codex_change(path: str, old: str, new: str) -> str:
    changed = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
    return codex_patch(f"Update File: {path}", ["@@", *changed])


def codex_wait(request: Request) -> list[Block]:
    """Waits for the subagents that were started: their ids stand in the results of the calls."""
    agents = re.findall(r'"agent_id": ?"([^"]+)"', request.text)
    return [Call("wait_agent", {"targets": agents}, space="multi_agent_v1")]


CODEX = Client(
    name="codex",
    label="codex",
    program="codex",
    configure=codex_home,
    environment=lambda place: {"LOOPBACK_KEY": KEY},
    command=codex_command,
    shell=lambda command: Call("exec_command", {"cmd": command}),
    write=lambda path, text: Call("apply_patch", free=codex_new(path, text)),
    edit=lambda path, old, new: Call("apply_patch", free=codex_change(path, old, new)),
    read=lambda path: Call("exec_command", {"cmd": f"cat {path}"}),
    tasks=lambda prompts: [[Call("spawn_agent", {"message": prompt}, space="multi_agent_v1") for prompt in prompts], codex_wait],
    mcp=lambda server, tool, arguments: Call(tool, arguments, space=f"mcp__{server}"),
)


def codex_script(tool: str, argument: Any) -> Call:
    return Call("exec", free=f"text(await tools.{tool}({json.dumps(argument)}))", space="functions")


def codex_tasks(prompts: list[str]) -> list[Reply]:
    space = "collaboration"
    named = [{"message": prompt, "task_name": f"part_{index}", "fork_turns": "none"} for index, prompt in enumerate(prompts)]
    waits: list[Reply] = [[Call("wait_agent", {}, space=space)] for _ in prompts]
    return [[Call("spawn_agent", arguments, space=space) for arguments in named], *waits]


CODEX_SCRIPTS = replace(
    CODEX,
    label="codex-scripts",
    configure=lambda place: codex_home(place, CODEX_SCRIPTING_MODEL),
    shell=lambda command: codex_script("exec_command", {"cmd": command}),
    write=lambda path, text: codex_script("apply_patch", codex_new(path, text)),
    edit=lambda path, old, new: codex_script("apply_patch", codex_change(path, old, new)),
    read=lambda path: codex_script("exec_command", {"cmd": f"cat {path}"}),
    tasks=codex_tasks,
    mcp=lambda server, tool, arguments: codex_script(f"mcp__{server}__{tool}", arguments),
)


def gemini_home(place: Place) -> None:
    quiet = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
    merge_json(place.home / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}, **quiet})


GEMINI = Client(
    name="gemini",
    label="gemini",
    program="gemini",
    configure=gemini_home,
    environment=lambda place: {"GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_API_KEY": KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    command=lambda prompt, goes_on: ["-y", "-m", "gemini-2.5-flash", *(["--resume", "latest"] if goes_on else []), "-p", prompt],
    shell=lambda command: Call("run_shell_command", {"command": command, "description": "Run it"}),
    write=lambda path, text: Call("write_file", {"file_path": path, "content": text}),
    edit=lambda path, old, new: Call(
        "replace", {"file_path": path, "old_string": old, "new_string": new, "instruction": "Change it"}
    ),
    read=lambda path: Call("read_file", {"file_path": path}),
    tasks=lambda prompts: [[Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt}) for prompt in prompts]],
    mcp=lambda server, tool, arguments: Call(f"mcp_{server}_{tool}", arguments),
)


def opencode_home(place: Place) -> None:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    options = {"baseURL": f"{place.url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "options": options, "models": {"scripted": model}}
    chosen = {"model": "loopback/scripted", "small_model": "loopback/scripted"}
    path = place.home / ".config" / "opencode" / "opencode.json"
    merge_json(path, {"$schema": "https://opencode.ai/config.json", "provider": {"loopback": provider}, **chosen})


def opencode_task(prompt: str) -> Call:
    return Call("task", {"description": "A part of it", "prompt": prompt, "subagent_type": "general"})


OPENCODE = Client(
    name="opencode",
    label="opencode",
    program="opencode",
    configure=opencode_home,
    environment=lambda place: {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "npm_config_fetch_retries": "0",
    },
    command=lambda prompt, goes_on: ["run", *(["--continue"] if goes_on else []), prompt],
    shell=lambda command: Call("bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: Call("write", {"filePath": path, "content": text}),
    edit=lambda path, old, new: Call("edit", {"filePath": path, "oldString": old, "newString": new}),
    read=lambda path: Call("read", {"filePath": path}),
    tasks=lambda prompts: [[opencode_task(prompt) for prompt in prompts]],
    mcp=lambda server, tool, arguments: Call(f"{server}_{tool}", arguments),
)
CLIENTS = (CLAUDE, CODEX, CODEX_SCRIPTS, GEMINI, OPENCODE)
