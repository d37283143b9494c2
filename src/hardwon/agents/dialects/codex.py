"""Codex CLI. It drops an output that has one key too many as a whole, so each event gets exactly what its schema names.

Shell calls are reported as ``Bash``, and what comes back is the bare output: the exit code is unknown unless the text tells it (the
session's file, ``Event.transcript``, has it). Edits are ``apply_patch``, as a tool of its own or within a shell command.
"""

from __future__ import annotations

from hardwon.agents import fields, outcomes
from hardwon.agents.answers import SILENCE, Answer, Say
from hardwon.agents.dialects import family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.capture.event import Event, Tool

_TOOLS: dict[str, Tool] = {
    "Bash": "shell", "shell": "shell", "shell_command": "shell", "exec_command": "shell", "local_shell": "shell", "unified_exec": "shell",
    "apply_patch": "edit", "Edit": "edit", "Write": "edit", "view_image": "read", "read_file": "read", "list_dir": "search",
    "grep_files": "search", "update_plan": "other", "web_search": "other", "write_stdin": "other", "spawn_agent": "task",
}  # fmt: skip
_TAKE_CONTEXT = ("SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
# How Codex begins what it tells of a command, in the versions that do; what stands further below was printed by the command itself.
_HEADS = ("Exit code:", "Process exited with code", "Chunk ID:", "Wall time:")
_PATCHED = ("success. updated the following files", "done!")


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    name = fields.word(payload, "hook_event_name")
    event = family.read(payload, name, "codex", now, _TOOLS)
    if event is not None and event.moment == "prompt" and event.text.startswith("# "):
        from hardwon.capture.prose import requested

        asked: Event = event.replace(text=requested(event.text))
        return asked
    if event is None or event.moment != "after":
        return event
    response = payload.get("tool_response")
    output = fields.spoken(response)
    code = _exit_code(response)
    ended = outcomes.ended(code)
    if code is None and output.startswith(_HEADS):
        head, found, rest = output.partition("\nOutput:\n")
        code = outcomes.exit_code(head)
        ended, output = outcomes.ended(code), rest if found else output
    if event.tool == "edit" and code is None:
        folded = output[:400].lower()
        ended = (
            "ok"
            if any(words in folded for words in _PATCHED)
            else "failed"
            if "failed" in folded or "error" in folded
            else "unknown"
        )
    told: Event = event.replace(ended=ended, exit_code=code, output=output)
    return told


def _exit_code(response: object) -> int | None:
    if not isinstance(response, dict):
        return None
    code = fields.number(response, "exit_code", "exitCode")
    return code if code is not None else fields.number(fields.mapping(response, "metadata"), "exit_code")


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What Codex takes at this event."""
    name = fields.word(payload, "hook_event_name")
    if name == "PreToolUse" and say.refusal:
        return family.refusal(say, beside=True)
    return family.context(name, say) if name in _TAKE_CONTEXT else SILENCE
