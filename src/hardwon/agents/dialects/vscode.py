"""VS Code's agent and GitHub Copilot: one file of hooks serves both, with different fields.

VS Code sends ``hookEventName`` and ``sessionId`` beside fields as Claude Code has them. A prompt takes no context there. Copilot's own
command line and cloud agent send no name of the event, so that it is told from the fields (``toolName``, ``toolResult``, ``prompt``);
arguments are a text that holds JSON, and answers are flat.
"""

from __future__ import annotations

from hardwon.agents import fields, outcomes
from hardwon.agents.answers import SILENCE, Answer, Say, written
from hardwon.agents.dialects import family
from hardwon.agents.tools import call
from hardwon.capture.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Ended, Moment, Tool

_TOOLS: dict[str, Tool] = {
    "editFiles": "edit", "replace_string_in_file": "edit", "multi_replace_string_in_file": "edit", "insert_edit_into_file": "edit",
    "apply_patch": "edit", "edit_notebook_file": "edit", "createFile": "write", "create_file": "write", "runTerminalCommand": "shell",
    "runInTerminal": "shell", "run_in_terminal": "shell", "runTests": "other", "readFile": "read", "read_file": "read",
    "grep_search": "search", "file_search": "search", "semantic_search": "search", "list_dir": "search", "runSubagent": "task",
    "manage_todo_list": "other", "get_terminal_output": "other", "bash": "shell", "powershell": "shell", "edit": "edit", "create": "write",
    "str_replace": "edit", "view": "read", "task": "task", "report_intent": "other", "read_bash": "other", "write_bash": "other",
    "stop_bash": "other",
}  # fmt: skip
_TAKE_CONTEXT = ("SessionStart", "SubagentStart", "PreToolUse", "PostToolUse")
_ENDED: dict[str, Ended] = {"success": "ok", "failure": "failed", "denied": "denied", "rejected": "denied"}


def _name(payload: Mapping[str, object]) -> str:
    return fields.word(payload, "hookEventName", "hook_event_name")


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name = _name(payload)
    if not name:
        return _of_copilot(payload, now)
    name = name[:1].upper() + name[1:]
    event = family.read(payload, name, "vscode", now, _TOOLS)
    if event is None or event.moment != "after":
        return event
    if name == "PostToolUseFailure":
        return family.failed(event, fields.text(payload, "error"), interrupted=False)
    output = fields.spoken(payload.get("tool_response"))
    code = outcomes.exit_code(output) if event.tool == "shell" else None
    ended = outcomes.ended(code) if event.tool == "shell" else "ok"  # the event fires when the tool has succeeded
    told: Event = event.replace(ended=ended, exit_code=code, output=output)
    return told


def _of_copilot(payload: Mapping[str, object], now: int) -> Event | None:
    moment = _moment(payload)
    if not moment:
        return None
    cwd = fields.path(payload, "cwd")
    told: dict[str, Any] = {
        "moment": moment,
        "client": "vscode",
        "session": fields.word(payload, "sessionId", "session_id") or f"copilot {cwd[-100:]}",  # older versions do not tell it
        "at": now,
        "cwd": cwd,
        "source": fields.word(payload, "source", "reason"),
        "text": fields.text(payload, "prompt") if moment == "prompt" else "",
    }
    if moment in ("before", "after"):
        told |= call(
            fields.word(payload, "toolName"), fields.mapping(payload, "toolArgs"), _TOOLS, fields.word(payload, "toolCallId")
        )
    if moment == "after":
        result = fields.mapping(payload, "toolResult")
        output = fields.text(result, "textResultForLlm")
        code = outcomes.exit_code(output) if told.get("tool") == "shell" else None
        told |= {"output": output, "exit_code": code}
        ended = _ENDED.get(fields.word(result, "resultType"), "unknown")
        told["ended"] = "failed" if code and ended == "ok" else ended
    return Event(**told)


def _moment(payload: Mapping[str, object]) -> Moment | None:
    if "toolName" in payload:
        return "after" if "toolResult" in payload else "before"
    if "source" in payload:
        return "start"
    if "prompt" in payload:
        return "prompt"
    return "end" if "reason" in payload else None


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What VS Code takes at this event, or what Copilot does."""
    name = _name(payload)
    if not name:
        return _for_copilot(event, say)
    name = name[:1].upper() + name[1:]
    if name == "PreToolUse" and say.refusal:
        return family.refusal(say)
    return family.context(name, say) if name in _TAKE_CONTEXT else SILENCE


def _for_copilot(event: Event, say: Say) -> Answer:
    if event.moment == "before" and say.refusal:
        return written({"permissionDecision": "deny", "permissionDecisionReason": say.refusal})
    if say.context and event.moment in ("start", "prompt", "before", "after"):
        return written({"additionalContext": say.context})
    return SILENCE
