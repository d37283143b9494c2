"""Gemini CLI. Before a tool it takes no context, only a refusal; the prompt that its hooks see already holds what we said at the start.

A shell call's result is text for the model, where the exit code stands only if it is not 0.
"""

from __future__ import annotations

from hardwon.agents import fields, outcomes
from hardwon.agents.answers import SILENCE, Answer, Say, written
from hardwon.agents.tools import call
from hardwon.capture.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Ended, Moment, Tool

_TOOLS: dict[str, Tool] = {
    "run_shell_command": "shell", "replace": "edit", "edit": "edit", "write_file": "write", "read_file": "read", "read_many_files": "read",
    "glob": "search", "search_file_content": "search", "grep_search": "search", "list_directory": "search", "web_fetch": "other",
    "google_web_search": "other", "save_memory": "other", "write_todos": "other", "delegate_to_agent": "task",
    "codebase_investigator": "task",
}  # fmt: skip
_MOMENTS: dict[str, Moment] = {
    "SessionStart": "start", "BeforeAgent": "prompt", "BeforeTool": "before", "AfterTool": "after", "PreCompress": "compact",
    "AfterAgent": "stop", "SessionEnd": "end",
}  # fmt: skip
_OPENING, _CLOSING = "<untrusted_context>", "</untrusted_context>"
_STOPPED = ("Command was cancelled", "Command was automatically cancelled")
_RUNS_ON = ("Command moved to background",)
_AROUND = ("Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ")
_TAKE_CONTEXT = ("SessionStart", "BeforeAgent", "AfterTool")


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name = fields.word(payload, "hook_event_name")
    session = fields.word(payload, "session_id")
    if name not in _MOMENTS or not session:
        return None
    moment = _MOMENTS[name]
    told: dict[str, Any] = {
        "moment": moment,
        "client": "gemini",
        "session": session,
        "at": now,
        "cwd": fields.path(payload, "cwd") or environment.get("GEMINI_PROJECT_DIR", ""),
        "source": fields.word(payload, "source", "trigger", "reason") if moment in ("start", "compact", "end") else "",
        "again": fields.flag(payload, "stop_hook_active"),
        "transcript": fields.path(payload, "transcript_path"),
    }
    if moment == "prompt":
        told["text"] = _own(fields.text(payload, "prompt"))
    elif moment == "stop":
        told["text"] = fields.text(payload, "prompt_response")
    elif moment in ("before", "after"):
        told |= call(fields.word(payload, "tool_name"), fields.mapping(payload, "tool_input"), _TOOLS)
        if "tool" not in told:
            return None
    return _with_outcome(Event(**told), payload) if moment == "after" else Event(**told)


def _own(prompt: str) -> str:
    """What the person wrote, without what we put before it."""
    from hardwon.capture.ours import strip

    return strip(prompt).strip()


def _with_outcome(event: Event, payload: Mapping[str, object]) -> Event:
    response = fields.mapping(payload, "tool_response")
    error = fields.spoken(response.get("error"))
    output = _unwrapped(fields.spoken(response.get("llmContent"))) or error or fields.spoken(response.get("returnDisplay"))
    if event.tool == "shell":
        code, ended = _of_shell(output, error) if response else (None, "unknown")
        output = _printed(output)
    else:
        code, ended = None, "failed" if error else "ok" if response else "unknown"
    if error and outcomes.is_denial(error):
        ended = "denied"
    told: Event = event.replace(ended=ended, exit_code=code, output=output)
    return told


def _unwrapped(output: str) -> str:
    """What a tool gave back, without the tag in which it is shown to the model."""
    opening, _, rest = output.partition("\n")
    return rest.removesuffix(f"\n{_CLOSING}") if opening == _OPENING else output


def _of_shell(output: str, error: str) -> tuple[int | None, Ended]:
    """The exit code of a command, and how it ended; no code among the last lines means 0."""
    if output.startswith(_STOPPED):
        return None, "interrupted"
    code = outcomes.exit_code(output[-400:])
    last = output[-400:].splitlines()[-6:]
    if output.startswith(_RUNS_ON) or any(line.startswith("Signal: ") for line in last):
        return code, "unknown"
    if code is None and not error and not any(line.startswith("Error: ") for line in last):
        return 0, "ok"
    return code, "failed"


def _printed(output: str) -> str:
    """What the command printed, without the words that Gemini CLI puts around it."""
    lines = output.removeprefix("Output: ").splitlines()
    while lines and lines[-1].startswith(_AROUND):
        lines.pop()
    return "\n".join(lines) if lines != ["(empty)"] else ""


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What Gemini CLI takes at this event."""
    name = fields.word(payload, "hook_event_name")
    if name == "BeforeTool" and say.refusal:
        return written({"decision": "deny", "reason": say.refusal})
    if say.context and name in _TAKE_CONTEXT:
        return written({"hookSpecificOutput": {"hookEventName": name, "additionalContext": say.context}})
    return SILENCE
