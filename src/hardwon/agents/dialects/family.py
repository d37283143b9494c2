"""What the hooks of Claude Code, Codex, VS Code and OpenHands have in common: one family of events and fields."""

from __future__ import annotations

from hardwon.agents import fields
from hardwon.agents.answers import SILENCE, Answer, Say, written
from hardwon.capture.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Moment, Tool

MOMENTS: dict[str, Moment] = {
    "SessionStart": "start", "SubagentStart": "start", "UserPromptSubmit": "prompt", "PreToolUse": "before", "PostToolUse": "after",
    "PostToolUseFailure": "after", "PermissionDenied": "after", "PreCompact": "compact", "Stop": "stop", "StopFailure": "stop",
    "Interrupt": "stop", "SubagentStop": "stop", "SessionEnd": "end",
}  # fmt: skip


def common(payload: Mapping[str, object], name: str, client: str, now: int) -> dict[str, Any]:
    """The fields of an event that every payload of the family has."""
    return {
        "moment": MOMENTS[name],
        "client": client,
        "session": fields.word(payload, "session_id", "sessionId"),
        "at": now,
        "cwd": fields.path(payload, "cwd", "working_dir"),
        "agent": fields.word(payload, "agent_id"),
        "turn": fields.word(payload, "turn_id", "prompt_id"),
        "source": _source(payload, name),
        "text": _said(payload, name),
        "again": fields.flag(payload, "stop_hook_active"),
        "transcript": fields.path(payload, "agent_transcript_path", "transcript_path"),
        "model": fields.word(payload, "model"),
    }


def _source(payload: Mapping[str, object], name: str) -> str:
    """Why it started, was compacted or ended."""
    if name == "SubagentStart":
        return "subagent"
    return fields.word(payload, "source", "trigger", "reason") if name in ("SessionStart", "PreCompact", "SessionEnd") else ""


def _said(payload: Mapping[str, object], name: str) -> str:
    if name == "UserPromptSubmit":
        return fields.text(payload, "prompt", "message")
    return fields.text(payload, "last_assistant_message") if MOMENTS[name] == "stop" else ""


def read(payload: Mapping[str, object], name: str, client: str, now: int, tools: Mapping[str, Tool]) -> Event | None:
    """The event of a payload, without how a call ended; None for an event of no use, and where the session is not told."""
    if name not in MOMENTS:
        return None
    told = common(payload, name, client, now)
    if MOMENTS[name] in ("before", "after"):
        from hardwon.agents.tools import call

        given = fields.mapping(payload, "tool_input", "toolArgs")
        told |= call(fields.word(payload, "tool_name", "toolName"), given, tools, fields.word(payload, "tool_use_id"))
        if "tool" not in told:
            return None
    return Event(**told) if told["session"] else None


def failed(event: Event, error: str, *, interrupted: bool) -> Event:
    """The event of a call that failed: a wrong end of the program, or somebody stopped it, or nobody let it run."""
    from hardwon.agents import outcomes

    first, _, rest = error.partition("\n")
    code = outcomes.exit_code(first)
    ended = "interrupted" if interrupted else "denied" if code is None and outcomes.is_denial(error) else "failed"
    told: Event = event.replace(ended=ended, exit_code=code, output=fields.ends(error if code is None else rest))
    return told


def context(name: str, say: Say) -> Answer:
    """``additionalContext`` for an event that takes it."""
    if not say.context:
        return SILENCE
    return written({"hookSpecificOutput": {"hookEventName": name, "additionalContext": say.context}})


def refusal(say: Say, *, beside: bool = False) -> Answer:
    """The refusal of a call that is about to run; with what is to be said ``beside`` it, for a client that takes both."""
    told = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": say.refusal}
    if beside and say.context:
        told["additionalContext"] = say.context
    return written({"hookSpecificOutput": told})
