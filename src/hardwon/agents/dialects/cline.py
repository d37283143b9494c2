"""Cline. What a hook is about lies in an object named after it (``preToolUse``); the answer says whether to cancel, and what to add to the
context. Read from its documentation, not run.

A call that is cancelled ends the whole task there, which is too much for a lesson: a refusal is told as context, and the call runs.
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
    "execute_command": "shell", "write_to_file": "write", "new_file": "write", "replace_in_file": "edit", "apply_patch": "edit",
    "read_file": "read", "list_files": "search", "search_files": "search", "list_code_definition_names": "search", "use_mcp_tool": "mcp",
    "access_mcp_resource": "mcp", "new_task": "task", "attempt_completion": "other", "ask_followup_question": "other",
    "plan_mode_respond": "other", "web_fetch": "other", "browser_action": "other",
}  # fmt: skip
_MOMENTS: dict[str, Moment] = {
    "TaskStart": "start", "TaskResume": "start", "UserPromptSubmit": "prompt", "PreToolUse": "before", "PostToolUse": "after",
    "PreCompact": "compact", "TaskComplete": "stop", "TaskCancel": "stop",
}  # fmt: skip
_SOURCES = {"TaskStart": "startup", "TaskResume": "resume"}
_TAKE_CONTEXT = ("TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse")
NOTHING = Answer('{"cancel": false}')


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name = fields.word(payload, "hookName")
    session = fields.word(payload, "taskId")
    if name not in _MOMENTS or not session:
        return None
    moment = _MOMENTS[name]
    about = fields.mapping(payload, name[:1].lower() + name[1:])
    roots = fields.texts(payload, "workspaceRoots")
    told: dict[str, Any] = {
        "moment": moment,
        "client": "cline",
        "session": session,
        "at": now,
        "cwd": roots[0] if roots else "",
        "source": _SOURCES.get(name, ""),
        "text": fields.text(about, "prompt") if moment == "prompt" else fields.text(about, "result") if moment == "stop" else "",
        "version": fields.word(payload, "clineVersion"),
        "model": fields.word(fields.mapping(payload, "model"), "slug"),
    }
    if moment in ("before", "after"):
        told |= _call(about)
        if "tool" not in told:
            return None
    if moment == "after":
        output = fields.spoken(about.get("result"))
        failed = about.get("success") is False
        code = outcomes.exit_code(output) if told["tool"] == "shell" else None
        ended = "ok" if about.get("success") is True and not code else outcomes.ended(code, failed=failed)
        told |= {"output": output, "exit_code": code, "ended": "denied" if failed and outcomes.is_denial(output) else ended}
    return Event(**told)


def _call(about: Mapping[str, object]) -> dict[str, Any]:
    name, given = fields.word(about, "toolName", "tool"), fields.mapping(about, "parameters")
    told = call(name, given, _TOOLS)
    if told.get("tool") == "mcp":
        told["tool_name"] = "_".join(("mcp", fields.word(given, "server_name"), fields.word(given, "tool_name")))
    return told


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What Cline takes at this event."""
    told = "\n".join(filter(None, (say.refusal, say.context)))
    if told and fields.word(payload, "hookName") in _TAKE_CONTEXT:
        return written({"cancel": False, "contextModification": told})
    return NOTHING
