"""The prompts of the MCP door: messages that a person picks from a menu of the client."""

from __future__ import annotations

from hardwon.doors.mcp_protocol import INVALID_PARAMS, Refusal
from hardwon.doors.parse import plain
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.doors.mcp_protocol import Params
    from hardwon.doors.tool_answers import ToolCall

PROMPTS: tuple[dict[str, Any], ...] = (
    {
        "name": "start", "title": "Begin with what is known",
        "description": "What this repository's memory says at the start of a session.",
    },
    {
        "name": "review", "title": "Review what is not committed",
        "description": "The lessons of everything that is edited and not committed yet.",
    },
    {
        "name": "record-lesson", "title": "Keep a lesson of this session",
        "description": "Have the agent keep what it just learnt, on the symbol concerned.",
        "arguments": [
            {"name": "symbol", "description": "The function, method or class concerned.", "required": False},
            {"name": "lesson", "description": "What it taught, in your words.", "required": False},
        ],
    },
)  # fmt: skip
_BUDGET = 1_500
_LONGEST = 2_000

_START = """\
This is what the memory of this repository says. Take it into account, and check it against the code.

{block}

Before an edit call `before`, before a decision `recall`, and after a test `outcome`."""
_REVIEW = """\
These lessons are about what is edited here and not committed yet. Go through them one by one: does the change repeat a failure, break a \
rule, or undo a decision? Name the line where it does, and say what to do instead.

{block}"""
_RECORD = """\
Keep what this session has taught{about}, so that the next one does not learn it again. {said}
Use `outcome` for how a change to a function ended, `remember` for a decision, rule, fact or how-to. One memory a lesson, in one sentence; \
say what to do instead in `detail`. First call `recall` to see whether it is known. Do not keep what the code itself says."""


def chosen(params: Params) -> tuple[dict[str, Any], dict[str, str]]:
    """The prompt that is asked for, and its arguments; Refusal for what there is not."""
    prompt = next((one for one in PROMPTS if one["name"] == params.get("name")), None)
    if prompt is None:
        raise Refusal(INVALID_PARAMS, f"there is no prompt {params.get('name')!a:.80}")
    given, known = params.get("arguments") or {}, [one["name"] for one in prompt.get("arguments", ())]
    if not isinstance(given, dict) or not all(isinstance(value, str) and len(value) <= _LONGEST for value in given.values()):
        raise Refusal(INVALID_PARAMS, f"arguments of a prompt are texts of at most {_LONGEST} characters")
    for name in given:
        if name not in known:
            raise Refusal(INVALID_PARAMS, f"`{prompt['name']}` has no argument {name[:60]!a}")
    try:
        return prompt, {name: plain(value, f"`{name}`", name) for name, value in given.items() if value.strip()}
    except InvalidInput as error:
        raise Refusal(INVALID_PARAMS, error.message) from error


def text(call: ToolCall, name: str, given: Mapping[str, str]) -> str:
    """The message."""
    if name == "start":
        return _START.format(block=call.engine.brief(call.scope, _BUDGET).block or "(nothing yet)")
    if name == "review":
        return _review(call)
    about = f" about `{given['symbol']}`" if given.get("symbol") else ""
    said = (
        f"In the person's words: {given['lesson']}"
        if given.get("lesson")
        else "If there was nothing to learn, say so and keep nothing."
    )
    return _RECORD.format(about=about, said=said)


def _review(call: ToolCall) -> str:
    from hardwon.doors import places

    diff = call.engine.uncommitted()
    if not diff:
        return "Nothing is edited here that is not committed: there is nothing to review."
    block = places.edited(call.engine, "", "", "", diff, call.scope, _BUDGET).block
    return _REVIEW.format(block=block) if block else "No lesson is known about what is edited here. Review it as usual."
