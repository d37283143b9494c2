"""OpenCode, through the plugin that we install: JavaScript that starts ``hardwon hook opencode`` with one object on standard input, waits
for at most two seconds, and acts on one object (or nothing) on standard output.

In: ``event`` (a word below), ``session``, and where it has them ``parent`` (the session that started this one as a subagent),
``directory``, ``version``, ``model``, ``branch``.

| ``event`` | when | besides | out |
|---|---|---|---|
| ``start`` | a session begins, goes on in a new process, or was compacted | ``source``: startup, clear, compact | ``context`` |
| ``prompt`` | chat.message | ``text``, ``message`` (its id) | ``context`` |
| ``before`` | tool.execute.before | ``tool``, ``call``, ``args`` | ``context``, or ``refuse``: to be thrown as an Error |
| ``after`` | tool.execute.after | the same, ``output``, ``metadata`` (with ``exit``), ``title`` | ``context``: to be added to the output |
| ``said`` | a text part of the agent is complete | ``text``, ``message`` | nothing |
| ``compact`` | experimental.session.compacting | | nothing |
| ``stop`` | session.idle | ``text``: the agent's last words | nothing |
| ``end`` | session.deleted, or OpenCode ends | ``reason`` | nothing |

``context`` is text for the model: of ``start`` and ``prompt`` for the system part of all calls that follow (not that of the call that
makes a title), until the session is compacted; a new process knows nothing of it, and is told anew. Of ``before`` for the output of the
same call. Empty output, output that is no JSON, another exit code, or none in time: go on as if there were no hook.
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

    from hardwon.capture.event import Moment, Tool

_TOOLS: dict[str, Tool] = {
    "bash": "shell", "edit": "edit", "multiedit": "edit", "patch": "edit", "apply_patch": "edit", "write": "write", "read": "read",
    "grep": "search", "glob": "search", "list": "search", "codesearch": "search", "lsp": "search", "task": "task", "webfetch": "other",
    "websearch": "other", "todowrite": "other", "todoread": "other", "skill": "other", "question": "other", "batch": "other",
    "invalid": "other",
}  # fmt: skip
_MOMENTS: dict[str, Moment] = {
    "start": "start", "prompt": "prompt", "before": "before", "after": "after", "said": "said", "compact": "compact", "stop": "stop",
    "end": "end",
}  # fmt: skip


def read(payload: Mapping[str, object], environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where there is nothing to do."""
    moment = _MOMENTS.get(fields.word(payload, "event"))
    session = fields.word(payload, "session")
    if moment is None or not session:
        return None
    parent = fields.word(payload, "parent")
    told: dict[str, Any] = {
        "moment": moment,
        "client": "opencode",
        "session": parent or session,
        "agent": session if parent else "",
        "at": now,
        "cwd": fields.path(payload, "directory", "cwd"),
        "turn": fields.word(payload, "message"),
        "source": "subagent" if parent and moment == "start" else fields.word(payload, "source", "reason"),
        "text": fields.text(payload, "text") if moment in ("prompt", "said", "stop") else "",
        "version": fields.word(payload, "version"),
        "model": fields.word(payload, "model"),
        "branch": fields.word(payload, "branch"),
    }
    if moment in ("before", "after"):
        told |= call(fields.word(payload, "tool"), fields.mapping(payload, "args"), _TOOLS, fields.word(payload, "call"))
        if "tool" not in told:
            return None
    return _with_outcome(Event(**told), payload) if moment == "after" else Event(**told)


def _with_outcome(event: Event, payload: Mapping[str, object]) -> Event:
    metadata = fields.mapping(payload, "metadata")
    error = fields.text(payload, "error") or fields.text(metadata, "error")
    output = fields.spoken(payload.get("output")) or error
    code = fields.number(metadata, "exit")
    ended = outcomes.ended(code) if event.tool == "shell" else "ok"
    if error:
        ended = "denied" if outcomes.is_denial(error) else "failed"
    told: Event = event.replace(ended=ended, exit_code=code, output=output)
    return told


def answer(payload: Mapping[str, object], event: Event, say: Say) -> Answer:
    """What our plugin takes at this event."""
    if event.moment == "before" and say.refusal:
        return written({"refuse": say.refusal})
    if say.context and event.moment in ("start", "prompt", "before", "after"):
        return written({"context": say.context})
    return SILENCE
