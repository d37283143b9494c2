"""Which hooks an installation asks of each client: the events, what they are limited to, and how long the client may wait.

Our own deadline is a fraction of a second (docs/hooks.md); the client's is there for a machine that stands still.
"""

from __future__ import annotations

from hardwon.agents import lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # By event: the items of its list.
    Hooks = dict[str, dict[str, Any]]

SECONDS = 10
# Tools that change files or run commands, by the client's names. Reading and searching teach nothing, and would cost a process each time.
_CLAUDE_TOOLS = "Edit|MultiEdit|Write|NotebookEdit|Bash"
_CODEX_TOOLS = "Bash|apply_patch|Edit|Write"
_CURSOR_TOOLS = "^(Shell|Write|StrReplace|MultiStrReplace|Edit|ApplyPatch|Delete|EditNotebook)$"
_GEMINI_TOOLS = "replace|write_file|edit|run_shell_command"


def claude(line: str) -> Hooks:
    """Claude Code: groups with a matcher, seconds."""
    tools = _CLAUDE_TOOLS
    return {
        "SessionStart": _group(line),
        "UserPromptSubmit": _group(line),
        "PreToolUse": _group(line, tools),
        "PostToolUse": _group(line, tools),
        "PostToolUseFailure": _group(line, tools),
        "SubagentStart": _group(line),
        "PreCompact": _group(line),
        "Stop": _group(line),
        "SessionEnd": _group(line),
    }


def codex(line: str) -> Hooks:
    """Codex: the same form. It tells of a failure in PostToolUse, and cuts the end of a session to three seconds."""
    tools = _CODEX_TOOLS
    return {
        "SessionStart": _group(line),
        "UserPromptSubmit": _group(line),
        "PreToolUse": _group(line, tools),
        "PostToolUse": _group(line, tools),
        "SubagentStart": _group(line),
        "PreCompact": _group(line),
        "Stop": _group(line),
        "SessionEnd": _group(line, seconds=3),
    }


def plugin(line: str) -> Hooks:
    """One folder for Claude Code and Codex: Codex passes over the event that it does not know."""
    return claude(line)


def gemini(line: str) -> Hooks:
    """Gemini CLI: groups with a matcher, milliseconds, a name for its list of hooks."""
    names = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd")
    return {name: _gemini_group(line, _GEMINI_TOOLS if name.endswith("Tool") else "") for name in names}


def cursor(line: str) -> Hooks:
    """Cursor: flat entries, seconds. An event that it does not know would have it refuse the whole file. Edits are told by an event of
    their own, with the passages, so that the one behind a tool is for commands only: both would tell of one edit twice."""
    names = (
        "sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "afterFileEdit", "preCompact",
        "stop", "sessionEnd",
    )  # fmt: skip
    matchers = {"preToolUse": _CURSOR_TOOLS, "postToolUse": "^Shell$", "postToolUseFailure": _CURSOR_TOOLS}
    entry = {"command": line, "timeout": SECONDS}
    return {name: {**entry, "matcher": matchers[name]} if name in matchers else entry for name in names}


def vscode(line: str) -> Hooks:
    """VS Code's agent and Copilot's command line, which read the same file. VS Code takes Copilot's names for its own, so that those that
    both have are there once, in Copilot's form; the last three are VS Code's alone."""
    both = ("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "sessionEnd")
    names = ("SubagentStart", "PreCompact", "Stop")
    entry = {"type": "command", "command": line, "timeout": SECONDS}
    return {**{name: {"type": "command", "bash": line, "timeoutSec": SECONDS} for name in both}, **dict.fromkeys(names, entry)}


def windsurf(line: str) -> Hooks:
    """Windsurf: flat entries, shown to nobody."""
    names = (
        "pre_user_prompt",
        "pre_write_code",
        "pre_run_command",
        "post_write_code",
        "post_run_command",
        "post_cascade_response",
    )
    return {name: {"command": line, "show_output": False} for name in names}


def openhands(line: str) -> Hooks:
    """OpenHands: Claude's form, without what it lacks."""
    names = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    return {name: _group(line, "*" if name.endswith("ToolUse") else "") for name in names}


def _group(line: str, matcher: str = "", seconds: int = SECONDS) -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}
    return {"matcher": matcher, **group} if matcher else group


def _gemini_group(line: str, matcher: str) -> dict[str, Any]:
    handler = {"type": "command", "name": lines.NAME, "command": line, "timeout": SECONDS * 1000}
    return {"matcher": matcher, "hooks": [handler]} if matcher else {"hooks": [handler]}
