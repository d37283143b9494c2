"""The resources of the MCP door: texts that a person attaches to what they say."""

from __future__ import annotations

from hardwon.doors.mcp_protocol import INVALID_PARAMS, NO_RESOURCE, Refusal
from hardwon.errors import NotFound
from hardwon.types import TRUSTS, Filter, Query, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.mcp_protocol import Asker
    from hardwon.doors.tool_answers import ToolCall

_SCHEME = "hardwon://"
_MARKDOWN = "text/markdown"
RESOURCES = (
    {
        "uri": "hardwon://brief", "name": "brief", "title": "What a session should know", "mimeType": _MARKDOWN,
        "description": "Rules that hold, open attempts, what the last run left, risky symbols, changes that were taken back.",
    },
    {
        "uri": "hardwon://rules", "name": "rules", "title": "The rules of this repository", "mimeType": _MARKDOWN,
        "description": "Every rule that holds, newest first.",
    },
)  # fmt: skip
TEMPLATES = (
    {
        "uriTemplate": "hardwon://memory/{id}", "name": "memory", "title": "One memory in full", "mimeType": _MARKDOWN,
        "description": "By its number (12), its id or, for a change, its commit.",
    },
)  # fmt: skip
_BUDGET = 1_500
_MOST_RULES = 50
_LONGEST = 100_000  # characters of one memory; its fields together can hold less
_IN_IDS = frozenset("0123456789abcdefABCDEF-")


class Address(Value):
    """What a ``hardwon://`` address names: ``brief``, ``rules``, or ``memory`` with an id."""

    uri: str
    kind: str
    id: str = ""


def address(uri: Any, asker: Asker) -> Address:
    """A resource's address, read; Refusal for any other text. An id is hexadecimal and short, so that no path can be meant by it."""
    if not isinstance(uri, str):
        raise Refusal(INVALID_PARAMS, "uri is no text")
    kind, slash, rest = uri.removeprefix(_SCHEME).partition("/")
    identifier = rest.replace("%23", "").lstrip("#")
    if uri.startswith(_SCHEME):
        if kind in ("brief", "rules") and not slash:
            return Address(uri, kind)
        if kind == "memory" and 0 < len(identifier) <= 40 and _IN_IDS.issuperset(identifier):
            return Address(uri, kind, identifier)
    raise absent(uri, asker)


def absent(uri: str, asker: Asker) -> Refusal:
    """The error for what is not there; the new era has no code of its own for it."""
    return Refusal(INVALID_PARAMS if asker.modern else NO_RESOURCE, f"there is no resource {uri[:100]!a}", {"uri": uri[:200]})


def text(call: ToolCall, address: Address, asker: Asker) -> str:
    """What a resource holds; a sentence where that is nothing."""
    if address.kind == "memory":
        try:
            return _memory(call, address.id)
        except NotFound as error:
            raise absent(address.uri, asker) from error
    if address.kind == "brief":
        return call.engine.brief(call.scope, _BUDGET).block or "Nothing is remembered yet that a session should know."
    return _rules(call) or "No rule is recorded."


def _rules(call: ToolCall) -> str:
    from hardwon.upkeep.trust import UNCONFIRMED

    believed = tuple(word for word in TRUSTS if word not in UNCONFIRMED or word == "claimed")
    where = Filter(kinds=("rule",), trusts=believed)
    return call.engine.recall(Query(where=where, k=_MOST_RULES, budget=2 * _BUDGET), call.scope).block


def _memory(call: ToolCall, identifier: str) -> str:
    from hardwon.doors.evidence import reasons
    from hardwon.doors.render import Paint, memory_page
    from hardwon.doors.tool_answers import fenced

    memory, occurrences, links = call.engine.show(identifier, call.scope)
    why = reasons(memory, call.engine.history(memory.id, call.scope)[2])
    return fenced(memory_page(memory, occurrences, links, Paint(False), why)[:_LONGEST])
