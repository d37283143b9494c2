"""Claude Code. Other programs run its hooks too: Cursor does, and has hooks of its own, so that this one is silent there; VS Code and
Codex (a plugin's hooks are the same for both) do, and are answered as what they are.

A command that ends with another code than 0 fires PostToolUseFailure, with the code in the text. SessionEnd takes no output at all, and
what Stop is given makes the agent go on: it gets nothing.
"""

from __future__ import annotations

from hardwon.agents import fields
from hardwon.agents.answers import SILENCE, Answer, Say
from hardwon.agents.dialects import family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.capture.event import Edit, Event, Tool

_TOOLS: dict[str, Tool] = {
    "Bash": "shell", "PowerShell": "shell", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "Write": "write", "Read": "read",
    "NotebookRead": "read", "Grep": "search", "Glob": "search", "LS": "search", "ToolSearch": "search", "Task": "task", "Agent": "task",
    "BashOutput": "other", "KillShell": "other", "KillBash": "other", "TaskOutput": "other", "TaskStop": "other", "WebFetch": "other",
    "WebSearch": "other", "TodoWrite": "other", "TaskCreate": "other", "TaskUpdate": "other", "TaskList": "other", "TaskGet": "other",
    "Skill": "other", "SlashCommand": "other", "ExitPlanMode": "other", "EnterPlanMode": "other", "AskUserQuestion": "other",
    "ListMcpResources": "mcp", "ReadMcpResource": "mcp",
}  # fmt: skip
_ENDS_OF_TARGET = "\n;&|<>"
_TAKE_CONTEXT = ("SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")


def is_of_cursor(payload: Mapping[str, object], environment: Mapping[str, str]) -> bool:
    """Whether Cursor runs this hook."""
    return "cursor_version" in payload or bool(environment.get("CURSOR_VERSION"))


def _is_of_vscode(payload: Mapping[str, object]) -> bool:
    return "hookEventName" in payload and "hook_event_name" not in payload


def _is_of_codex(payload: Mapping[str, object], environment: Mapping[str, str]) -> bool:
    """Codex counts turns, sets PLUGIN_ROOT for hooks of plugins, and calls a session's file a rollout."""
    return "turn_id" in payload or "PLUGIN_ROOT" in environment or "rollout-" in fields.path(payload, "transcript_path")


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do, or where another hook of ours does it."""
    if is_of_cursor(payload, environment):
        return None
    if _is_of_vscode(payload):
        from hardwon.agents.dialects import vscode

        return vscode.read(payload, environment, now)
    if _is_of_codex(payload, environment):
        from hardwon.agents.dialects import codex

        return codex.read(payload, environment, now)
    name = fields.word(payload, "hook_event_name")
    event = family.read(payload, name, "claude-code", now, _TOOLS)
    if event is None:
        return None
    if not event.cwd:
        event = event.replace(cwd=environment.get("CLAUDE_PROJECT_DIR", ""))
    if event.moment != "after":
        return event
    began = _began_in(event.cwd, event.command, environment.get("CLAUDE_PROJECT_DIR", ""))
    return _with_outcome(event.replace(cwd=began), payload, name)


def _began_in(cwd: str, command: str, project: str) -> str:
    """The folder in which a command began that has ended: its client tells the one that it went to (``cd api && make`` leaves the session
    in ``api``), from where ``cd api`` would lead elsewhere. Never one above the project: there the client has gone back to it, and its
    own folder only has the name of the one below."""
    target = _target(command)
    if not target or target.startswith(("/", ".", "~", "$")) or not cwd.endswith(f"/{target}"):
        return cwd
    began, top = cwd[: -len(target) - 1], project.rstrip("/")
    return began if not top or began == top or began.startswith(f"{top}/") else cwd


def _target(command: str) -> str:
    """The folder that a command first goes to, "" for none."""
    if not command.startswith("cd "):
        return ""
    rest = command[3:].lstrip(" ")
    if rest[:1] in ("'", '"'):
        target = rest[1:].partition(rest[0])[0]
    else:
        for end in _ENDS_OF_TARGET:
            rest = rest.partition(end)[0]
        target = rest.partition(" ")[0]
    return target.strip().rstrip("/").removeprefix("./")


def _with_outcome(event: Event, payload: Mapping[str, object], name: str) -> Event:
    if name == "PermissionDenied":
        denied: Event = event.replace(ended="denied", output=fields.text(payload, "reason", "error"))
        return denied
    if name == "PostToolUseFailure":
        return family.failed(event, fields.text(payload, "error"), interrupted=fields.flag(payload, "is_interrupt"))
    response = payload.get("tool_response")
    told: Event = event.replace(ended="ok", output="" if event.edits or event.tool == "read" else fields.spoken(response))
    if isinstance(response, dict):
        if fields.flag(response, "interrupted"):
            return told.replace(ended="interrupted")  # type: ignore[no-any-return]
        if fields.word(response, "backgroundTaskId", "shellId"):
            return told.replace(ended="unknown")  # type: ignore[no-any-return]  # it has only begun
        told = told.replace(edits=_with_lines(told.edits, response))
    if told.tool == "shell" and told.ended == "ok":
        return told.replace(exit_code=0)  # type: ignore[no-any-return]
    return told


def _with_lines(edits: tuple[Edit, ...], response: dict[str, object]) -> tuple[Edit, ...]:
    """The lines that an edit replaced, as the client tells them afterwards."""
    hunks = fields.mappings(response, "structuredPatch")
    if len(edits) != 1 or not hunks:
        return edits
    starts = [fields.number(hunk, "oldStart") for hunk in hunks]
    ends = [(start or 0) + (fields.number(hunk, "oldLines") or 1) - 1 for start, hunk in zip(starts, hunks, strict=True)]
    if None in starts or min(start or 0 for start in starts) < 1:
        return edits
    first, last = min(start or 0 for start in starts), max(ends)
    return (edits[0].replace(lines=(first, last)),) if last >= first else edits


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What Claude Code takes at this event."""
    if event.client == "vscode":
        from hardwon.agents.dialects import vscode

        return vscode.answer(payload, event, say)
    if event.client == "codex":
        from hardwon.agents.dialects import codex

        return codex.answer(payload, event, say)
    name = fields.word(payload, "hook_event_name")
    if name == "PreToolUse" and say.refusal:
        return family.refusal(say, beside=True)
    return family.context(name, say) if name in _TAKE_CONTEXT else SILENCE
