"""What each client takes as the answer of a hook, as far as its documentation, its schema or its source says so: to judge answers by.

``problem`` gives words for what is wrong, "" for a valid answer.
"""

from __future__ import annotations

import json
from typing import Any

_SPECIFIC = {"hookEventName", "additionalContext"}
_DENY = {"hookEventName", "permissionDecision", "permissionDecisionReason"}
_CONTEXT_BESIDE_DENIAL = ("claude-code", "codex")
_WITH_CONTEXT = {
    "claude-code": {"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"},
    "codex": {"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"},
    "vscode": {"SessionStart", "SubagentStart", "PreToolUse", "PostToolUse"},
    "gemini": {"SessionStart", "BeforeAgent", "AfterTool"},
}
# The keys of an answer that is one flat object, all of them texts but ``cancel``.
_FLAT: dict[str, tuple[set[str], ...]] = {
    "cursor": (set(), {"additional_context"}, {"permission", "user_message", "agent_message"}),
    "cline": ({"cancel"}, {"cancel", "contextModification"}),
    "opencode": ({"context"}, {"refuse"}),
    "openhands": ({"additionalContext"}, {"decision", "reason"}),
    "copilot": ({"additionalContext"}, {"permissionDecision", "permissionDecisionReason"}),
}
_MUST_SPEAK = ("cursor", "cline")  # what is no JSON stops a call, or is an error


def problem(client: str, name: str, out: str, err: str, code: int) -> str:
    """What is wrong with the answer of a process to the event ``name``."""
    if client == "windsurf":
        silent, refused = code == 0 and not err, code == 2 and bool(err) and name.startswith("pre_")
        return "" if not out and (silent or refused) else "not as Windsurf takes it"
    if code:
        return f"exit {code}"
    if err:
        return f"standard error: {err[:200]}"
    if not out.strip():
        return "nothing, where an object is asked for" if client in _MUST_SPEAK else ""
    if out.count("\n") != 1 or not out.endswith("\n"):
        return "not one line"
    try:
        value = json.loads(out)
    except ValueError as error:
        return f"no JSON: {error}"
    if not isinstance(value, dict):
        return "no object"
    if client == "vscode" and not name:
        client = "copilot"
    return _flat(client, value) if client in _FLAT else _specific(client, name, value)


def _flat(client: str, value: dict[str, Any]) -> str:
    if set(value) not in _FLAT[client]:
        return f"keys {sorted(value)}"
    if value.get("cancel", False) is not False:
        return "cancels"
    if not all(isinstance(item, str) and item for key, item in value.items() if key != "cancel"):
        return "no text"
    return (
        ""
        if value.get("permission", "deny") == value.get("decision", "deny") == value.get("permissionDecision", "deny")
        else "no denial"
    )


def _specific(client: str, name: str, value: dict[str, Any]) -> str:
    if client == "gemini" and set(value) == {"decision", "reason"}:
        return "" if name == "BeforeTool" and value["decision"] == "deny" and value["reason"] else "denies what it cannot"
    if set(value) != {"hookSpecificOutput"} or not isinstance(value["hookSpecificOutput"], dict):
        return f"keys {sorted(value)}"
    told = value["hookSpecificOutput"]
    if told.get("hookEventName") != name:
        return f"names the event {told.get('hookEventName')!r}"
    beside = {"additionalContext"} if client in _CONTEXT_BESIDE_DENIAL and told.get("additionalContext") else set()
    if set(told) == _DENY | beside and "permissionDecision" in told:
        return (
            ""
            if name == "PreToolUse" and told["permissionDecision"] == "deny" and told["permissionDecisionReason"]
            else "denies what it cannot"
        )
    if set(told) != _SPECIFIC:
        return f"keys {sorted(told)}"
    if name not in _WITH_CONTEXT[client]:
        return f"context at {name}"
    return "" if isinstance(told["additionalContext"], str) and told["additionalContext"] else "no context"


def event_name(client: str, payload: Any) -> str:
    """The name that a client gave the event, in the spelling that is answered with."""
    if not isinstance(payload, dict):
        return ""
    keys = {"cline": ("hookName",), "windsurf": ("agent_action_name",), "openhands": ("event_type", "hook_event_name")}
    for key in keys.get(client, ("hookEventName", "hook_event_name")):
        name = payload.get(key)
        if isinstance(name, str) and name.strip():
            name = " ".join(name[:200].split())
            return name[:1].upper() + name[1:] if client == "vscode" else name
    return ""
