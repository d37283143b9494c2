"""OpenHands: events of Claude Code's names with fields of its own (``event_type``, ``working_dir``, ``tool_output``, ``message``), answers
with ``decision``, ``reason`` and ``additionalContext`` at the top. Read from the source of its SDK, not run."""

from __future__ import annotations

from hardwon.agents import fields, outcomes
from hardwon.agents.answers import SILENCE, Answer, Say, written
from hardwon.agents.dialects import family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.capture.event import Event, Tool

_TOOLS: dict[str, Tool] = {
    "terminal": "shell", "execute_bash": "shell", "bash": "shell", "file_editor": "edit", "str_replace_editor": "edit",
    "apply_patch": "edit",
    "planning_file_editor": "edit", "grep": "search", "glob": "search", "task_tracker": "other", "think": "other", "finish": "other",
    "delegate": "task",
}  # fmt: skip
_BY_COMMAND: dict[str, Tool] = {"view": "read", "create": "write"}


def _name(payload: Mapping[str, object]) -> str:
    return fields.word(payload, "event_type", "hook_event_name")


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name, tool = _name(payload), fields.word(payload, "tool_name")
    table = _TOOLS
    if table.get(tool) == "edit":  # one tool that reads and writes
        done = fields.word(fields.mapping(payload, "tool_input"), "command")
        table = {tool: _BY_COMMAND.get(done, "edit")}
    event = family.read(payload, name, "openhands", now, table)
    if event is None:
        return None
    if not event.cwd:
        event = event.replace(cwd=environment.get("OPENHANDS_PROJECT_DIR", ""))
    if event.moment != "after":
        return event
    output = fields.spoken(payload.get("tool_output") or payload.get("tool_response"))
    code = outcomes.exit_code(output) if event.tool == "shell" else None
    told: Event = event.replace(ended=outcomes.ended(code), exit_code=code, output=output)
    return told


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What OpenHands takes at this event."""
    if event.moment == "before" and say.refusal:
        return written({"decision": "deny", "reason": say.refusal})
    if say.context and event.moment in ("start", "prompt", "before", "after"):
        return written({"additionalContext": say.context})
    return SILENCE
