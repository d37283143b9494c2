"""Windsurf (Devin Desktop). Its hooks take no context; a call is stopped by exit code 2, with the reason on standard error. A command's
exit code is not told. Read from its documentation, not run."""

from __future__ import annotations

import os

from hardwon.agents import fields
from hardwon.agents.answers import SILENCE, Answer, Say
from hardwon.agents.tools import call
from hardwon.capture.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Moment, Tool

_TOOLS: dict[str, Tool] = {"read_code": "read", "write_code": "edit", "run_command": "shell", "mcp_tool_use": "mcp"}
_BLOCKS = 2


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name = fields.word(payload, "agent_action_name")
    session = fields.word(payload, "trajectory_id")
    info = fields.mapping(payload, "tool_info")
    moment, tool = _meaning(name)
    if moment is None or not session:
        return None
    told: dict[str, Any] = {
        "moment": moment,
        "client": "windsurf",
        "session": session,
        "at": now,
        "cwd": _folder(payload, info, environment),
        "turn": fields.word(payload, "execution_id"),
        "text": fields.text(info, "user_prompt")
        if moment == "prompt"
        else fields.text(info, "response")
        if moment == "stop"
        else "",
        "transcript": fields.path(info, "transcript_path"),
        "model": fields.word(payload, "model_name", "model"),
    }
    if tool == "mcp_tool_use":
        told |= {
            "tool": "mcp",
            "tool_name": "_".join(("mcp", fields.word(info, "mcp_server_name"), fields.word(info, "mcp_tool_name"))),
        }
    elif tool:
        told |= call(tool, info, _TOOLS)
    if moment == "after":
        told |= {"ended": "unknown" if tool == "run_command" else "ok", "output": fields.spoken(info.get("mcp_result"))}
    return Event(**told)


def _meaning(name: str) -> tuple[Moment | None, str]:
    """The moment, and the tool if it is about one."""
    if name == "pre_user_prompt":
        return "prompt", ""
    if name.startswith("post_cascade_response"):
        return "stop", ""
    when, _, tool = name.partition("_")
    if tool in _TOOLS and when in ("pre", "post"):
        return ("before" if when == "pre" else "after"), tool
    return None, ""


def _folder(payload: Mapping[str, object], info: Mapping[str, object], environment: Mapping[str, str]) -> str:
    """The folder of the work: told, else that of the file at hand."""
    told = fields.path(info, "cwd", "workspace_path") or fields.path(payload, "cwd") or environment.get("ROOT_WORKSPACE_PATH", "")
    file = fields.path(info, "file_path")
    return told or (os.path.dirname(file) if os.path.isabs(file) else "")


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What Windsurf takes at this event."""
    if event.moment == "before" and say.refusal:
        return Answer(stderr=say.refusal, exit=_BLOCKS)
    return SILENCE
