"""Cursor. Its hooks answer with an object in every case: before a tool, what is no JSON stops the call. Read from its documentation and
its program, not run.

Before a tool there is no place for context, only for a refusal. A prompt takes ``additional_context`` since the versions of September
2026, undocumented; earlier ones pass over it. ``continue`` is never sent: it would stop the turn or hide that nothing is wrong.
"""

from __future__ import annotations

from hardwon.agents import fields, outcomes
from hardwon.agents.answers import Answer, Say, written
from hardwon.agents.tools import call
from hardwon.capture.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Moment, Tool

_TOOLS: dict[str, Tool] = {
    "Shell": "shell", "Write": "write", "StrReplace": "edit", "MultiStrReplace": "edit", "Edit": "edit", "ApplyPatch": "edit",
    "Delete": "edit", "EditNotebook": "edit", "TabWrite": "edit", "Read": "read", "TabRead": "read", "Grep": "search", "Glob": "search",
    "LS": "search", "SemanticSearch": "search", "Task": "task", "TodoWrite": "other", "WebFetch": "other", "WebSearch": "other",
    "ReadLints": "other",
}  # fmt: skip
_MOMENTS: dict[str, Moment] = {
    "sessionStart": "start", "subagentStart": "start", "beforeSubmitPrompt": "prompt", "preToolUse": "before",
    "beforeShellExecution": "before", "beforeMCPExecution": "before", "postToolUse": "after", "postToolUseFailure": "after",
    "afterShellExecution": "after", "afterMCPExecution": "after", "afterFileEdit": "after", "afterAgentResponse": "said",
    "preCompact": "compact", "stop": "stop", "subagentStop": "stop", "sessionEnd": "end",
}  # fmt: skip
_TAKE_CONTEXT = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure")
NOTHING = Answer("{}")
_ENDED = {"permission_denied": "denied", "timeout": "interrupted"}


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name = fields.word(payload, "hook_event_name")
    session = fields.word(payload, "conversation_id", "session_id")
    if name not in _MOMENTS or not session:
        return None
    moment = _MOMENTS[name]
    told: dict[str, Any] = {
        "moment": moment,
        "client": "cursor",
        "session": session,
        "at": now,
        "cwd": _folder(payload, environment),
        "agent": fields.word(payload, "subagent_id", "agent_id"),
        "turn": fields.word(payload, "generation_id"),
        "source": "subagent" if name == "subagentStart" else fields.word(payload, "trigger", "reason", "status"),
        "text": fields.text(payload, "prompt")
        if moment == "prompt"
        else fields.text(payload, "text")
        if moment == "said"
        else "",
        "again": bool(fields.number(payload, "loop_count")),
        "transcript": fields.path(payload, "transcript_path"),
        "version": fields.word(payload, "cursor_version"),
        "model": fields.word(payload, "model"),
    }
    if moment in ("before", "after"):
        told |= _call(payload, name)
        if "tool" not in told:
            return None
    return _with_outcome(Event(**told), payload, name) if moment == "after" else Event(**told)


def _folder(payload: Mapping[str, object], environment: Mapping[str, str]) -> str:
    roots = fields.texts(payload, "workspace_roots")
    return fields.path(payload, "cwd") or (roots[0] if roots else environment.get("CURSOR_PROJECT_DIR", ""))


def _call(payload: Mapping[str, object], name: str) -> dict[str, Any]:
    identifier = fields.word(payload, "tool_use_id")
    if name in ("beforeShellExecution", "afterShellExecution"):
        return call("Shell", payload, _TOOLS, identifier)
    if name == "afterFileEdit":
        return call("Edit", payload, _TOOLS, identifier)
    tool = fields.word(payload, "tool_name")
    if "MCP" in name or tool.startswith("MCP:"):
        return {"tool": "mcp", "tool_name": tool, "call": identifier}
    return call(tool, fields.mapping(payload, "tool_input"), _TOOLS, identifier)


def _with_outcome(event: Event, payload: Mapping[str, object], name: str) -> Event:
    if name == "postToolUseFailure":
        error = fields.text(payload, "error_message", "error")
        ended = _ENDED.get(fields.word(payload, "failure_type"), "failed")
        if fields.flag(payload, "is_interrupt"):
            ended = "interrupted"
        if ended == "failed" and outcomes.is_denial(error):
            ended = "denied"
        failed: Event = event.replace(ended=ended, exit_code=outcomes.exit_code(error), output=fields.ends(error))
        return failed
    held = fields.mapping(payload, "tool_output")
    output = fields.spoken(held) or fields.spoken(payload.get("tool_output")) or fields.text(payload, "output", "result_json")
    code = fields.number(held, "exitCode", "exit_code")
    ended = outcomes.ended(code) if event.tool == "shell" else "ok"
    told: Event = event.replace(ended=ended, exit_code=code, output=output)
    return told


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What Cursor takes at this event."""
    name = fields.word(payload, "hook_event_name")
    if event.moment == "before" and say.refusal:
        return written({"permission": "deny", "user_message": say.refusal, "agent_message": say.refusal})
    if say.context and name in _TAKE_CONTEXT:
        return written({"additional_context": say.context})
    return NOTHING
