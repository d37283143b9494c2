"""The tools of the MCP door: a table. What a tool takes comes from the row of its verb, so that a change of the verb is one of the tool."""

from __future__ import annotations

import re

from hardwon.doors.parse import Request, convert, plain
from hardwon.doors.verbs import Option, row
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.doors.verbs import Verb

# Characters of an argument; what is longer is refused and never cut.
_LONGEST = {"name": 1_000, "text": 200_000}
_LONGEST_OF = {"diff": 10_000_000, "error": 2_000_000}
_MOST_ITEMS = 100
_REPOSITORY = Option("repository", "A folder in another repository, or its registered name. Default: the one at hand.", "name")
_TYPES = {"number": "integer", "flag": "boolean"}


class Tool(Value):
    """One row. ``takes``: arguments and options of the verb, by name; ``own``: what the tool takes besides, or in another form than the
    verb; ``required``: names of either; ``says``: words that fit better here than the verb's. ``reads``: changes nothing; ``repeats``:
    a second call with the same arguments does no more. ``gives``: the properties of its structured answer, as JSON Schema."""

    name: str
    title: str
    description: str
    verb: str
    takes: tuple[str, ...] = ()
    own: tuple[Option, ...] = ()
    required: tuple[str, ...] = ()
    says: Mapping[str, str] = {}
    reads: bool = True
    destroys: bool = False
    repeats: bool = True
    gives: Mapping[str, Any] = {}
    meta: Mapping[str, Any] = {}


_TEXT, _COUNT = {"type": "string"}, {"type": "integer"}
_LINES = {"type": "array", "items": _TEXT}
_HIT = {
    "type": "object",
    "properties": {"id": _TEXT, "kind": _TEXT, "outcome": _TEXT, "score": {"type": "number"}},
    "required": ["id", "kind", "score"],
}
_BLOCK = {"block": _TEXT, "hits": {"type": "array", "items": _HIT}, "left_out": _COUNT, "degraded": _LINES}
_RECEIPT = {
    "id": _TEXT, "number": {"type": ["integer", "null"]}, "action": _TEXT, "redacted": _COUNT, "seq": {"type": ["integer", "null"]},
    "why": _TEXT, "missing": {"type": "array", "items": {"type": "object"}},
}  # fmt: skip
_RISK = {"risk_score": {"type": ["number", "null"]}, "level": {"type": ["string", "null"]}}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "recall",
        "Recall what this repository has taught",
        "Call this before you decide how to do something, and when something fails. Returns what this repository has taught about a task, "
        "question or failure: decisions with their reasons, failed and successful attempts, rules, commits. Empty when nothing fits. "
        "`show` tells one of them in full.",
        "recall",
        ("task", "file", "symbol", "kind", "outcome", "tag", "path", "since", "k"),
        (Option("error", "What failed printed, with its stack trace: brings earlier fixes of that failure."),),
        says={
            "task": "The task or question, in words.",
            "k": "At most this many (default 10, at most 20).",
        },
        gives=_BLOCK,
        meta={"anthropic/alwaysLoad": True},
    ),
    Tool(
        "before",
        "Lessons of the code about to be edited",
        "Call this before you edit a file or function. Returns the lessons of that place and of its callers, failures first: what broke "
        "there, and what to do instead. Empty when there are none.",
        "before",
        ("file", "symbol", "lines"),
        (Option("diff", "A unified diff, as text: the lessons of all that it touches."),),
        gives=_BLOCK,
    ),
    Tool(
        "outcome",
        "Record how a change or test ended",
        "Call this after a test, build or command has shown whether a change to a function works. Keeps a lesson on that symbol; failures "
        "raise its risk. Not for typos, network failures, or what the code itself says.",
        "fail",
        ("symbol", "lesson", "detail", "file"),
        (Option("outcome", "Whether it failed or worked.", choices=("failed", "worked")),),
        ("symbol", "outcome"),
        {"lesson": "What it taught, in one line. Needed where it failed."},
        reads=False,
        repeats=False,
        gives=_RECEIPT | _RISK,
    ),
    Tool(
        "remember",
        "Remember a decision, rule, fact or how-to",
        "Call this when a decision was made, a rule was told, or something was learnt that the code does not say. Keeps it for every later "
        "session. Secrets are taken out. One memory a call, short.",
        "record",
        ("text", "kind", "outcome", "file", "symbol", "detail", "code", "tag", "because", "rejected", "expires", "private"),
        required=("text",),
        says={"text": "What to remember, in one sentence.", "code": "A snippet."},
        reads=False,
        repeats=False,
        gives=_RECEIPT,
    ),
    Tool(
        "show",
        "Show one memory in full",
        "Call this when a memory that was recalled matters and its short form is not enough. Returns all of it: text, reason, rejected "
        "alternatives, code, what became of the code since, how often it happened. Long ones come in parts.",
        "show",
        ("id",),
        (Option("start", "Where to go on in a long one: `next` of the last answer.", "number"),),
        ("id",),
        {"id": "A number (#12 or 12), an id, or a commit."},
        gives={"id": _TEXT, "page": _TEXT, "status": _TEXT, "trust": _TEXT, "next": {"type": ["integer", "null"]}},
    ),
    Tool(
        "forget",
        "Forget one memory",
        "Call this when a memory is wrong or no longer true, and say so to the person. It is not recalled any more; `hardwon undo` brings "
        "it back. What a person confirmed is left to them.",
        "forget",
        own=(Option("id", "The memory: a number (#12 or 12), or an id.", "name"),),
        required=("id",),
        reads=False,
        destroys=True,
        gives={"matched": _COUNT, "forgotten": _COUNT, "ids": _LINES},
    ),
    Tool(
        "status",
        "State of the memory",
        "Call this when an answer says that something did not take part, or to see which repository's memory this is. Returns its name, "
        "size and health, and what to do about what is wrong.",
        "status",
        gives={
            "ok": {"type": "boolean"}, "name": _TEXT, "root": _TEXT, "branch": _TEXT, "memories": {"type": "object"},
            "findings": {"type": "array", "items": {"type": "object"}}, "degraded": _LINES,
        },
    ),
)  # fmt: skip


def tool(name: object) -> Tool | None:
    """The row of that name, if there is one."""
    return next((one for one in TOOLS if one.name == name), None)


def fields(tool: Tool) -> dict[str, Option]:
    """What a tool takes, by the names that its callers use."""
    verb = row(tool.verb) if tool.takes else None
    known: dict[str, Option] = {}
    if verb is not None:
        known = {one.name: Option(one.name, one.help, one.form, many=one.many and not one.joined) for one in verb.arguments} | {
            one.name: one for one in verb.options
        }
    taken = [known[name] for name in tool.takes]
    return {one.name.replace("-", "_"): _worded(one, tool.says) for one in (*taken, *tool.own, _REPOSITORY)}


def _worded(option: Option, says: Mapping[str, str]) -> Option:
    """The option with words for who calls a tool: of several values there is a list."""
    told = says.get(option.name) or option.help.replace("; may be repeated", "").replace(", may be repeated", "")
    worded: Option = option.replace(help=told)
    return worded


def described(tool: Tool) -> dict[str, Any]:
    """The tool as ``tools/list`` tells it."""
    taken = fields(tool)
    schema = {
        "type": "object",
        "properties": {name: _schema(option) for name, option in taken.items()},
        "required": list(tool.required),
        "additionalProperties": False,
    }
    shown: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema,
        "outputSchema": {"type": "object", "properties": dict(tool.gives), "required": list(tool.gives)},
        "annotations": {
            "title": tool.title, "readOnlyHint": tool.reads, "destructiveHint": tool.destroys, "idempotentHint": tool.repeats,
            "openWorldHint": False,
        },
    }  # fmt: skip
    return shown | ({"_meta": dict(tool.meta)} if tool.meta else {})


def _schema(option: Option) -> dict[str, Any]:
    one: dict[str, Any] = {"type": _TYPES.get(option.form, "string")}
    if option.choices:
        one["enum"] = list(option.choices)
    if option.form == "number":
        one["minimum"] = 1
    return {"type": "array", "items": one, "description": option.help} if option.many else one | {"description": option.help}


def request(tool: Tool, arguments: Mapping[str, Any]) -> tuple[Request, str]:
    """The request to the verb that a call means, and the repository that it names; InvalidInput says which argument is wrong.

    Read generously where the meaning is plain: a number for a text, one value for a list, null for nothing.
    """
    taken = fields(tool)
    given: dict[str, object] = {}
    for name, value in arguments.items():
        if name not in taken:
            raise InvalidInput(
                f"`{tool.name}` has no argument {name[:60]!a}", field="arguments", remedy="it takes " + ", ".join(taken)
            )
        if value is not None:
            given[taken[name].name] = _value(name, taken[name], value)
    for name in tool.required:
        if not str(given.get(name) or "").strip():
            raise InvalidInput(f"`{tool.name}` needs `{name}`", field=name, remedy=taken[name].help)
    repository = str(given.pop(_REPOSITORY.name, ""))
    verb: Verb | None = row(tool.verb)
    return Request(verb, given), repository


def _value(name: str, option: Option, value: Any) -> object:
    if option.many:
        several = value if isinstance(value, list) else [value]
        if len(several) > _MOST_ITEMS:
            raise InvalidInput(f"`{name}` has {len(several)} values", field=name, remedy=f"give at most {_MOST_ITEMS}")
        return [_single(name, option, one) for one in several]
    return _single(name, option, value)


def _single(name: str, option: Option, value: Any) -> object:
    """One value, of the type that the option has."""
    if option.form == "flag":
        if value in (True, False, "true", "false"):
            return value in (True, "true")
        raise _wrong(name, value, "true or false")
    if option.form == "number":
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else value
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= 1_000_000_000:
            raise _wrong(name, value, "a whole number above 0")
        return number
    if isinstance(value, int) and not isinstance(value, bool) and option.form == "name":
        value = str(value) if abs(value) < 1 << 63 else value  # the number of a memory
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return _text(name, option, value)


def _text(name: str, option: Option, value: str) -> object:
    longest = _LONGEST_OF.get(option.name) or _LONGEST.get(option.form, _LONGEST["name"])
    if len(value) > longest:
        raise InvalidInput(f"`{name}` has {len(value):,} characters", field=name, remedy=f"give at most {longest:,}")
    if option.choices and value not in option.choices:
        raise _wrong(name, value, "one of " + ", ".join(option.choices))
    if option.form == "name":
        return plain(value, f"`{name}`", name)
    return convert(option, value)


def in_arguments(tool: Tool, text: str) -> str:
    """An error in the words of who called a tool: an option of the command line, of which it may speak, is an argument here. Commands stay
    as they are, in their backquotes."""
    taken = fields(tool)
    named = {option.name: name for name, option in taken.items()}
    return re.sub(
        r"`[^`]*`|(?<![\w-])--([a-z][a-z-]*)", lambda found: f"`{named[found[1]]}`" if found[1] in named else found[0], text
    )


def _wrong(name: str, value: Any, wanted: str) -> InvalidInput:
    return InvalidInput(f"`{name}` cannot be {value!a:.60}", field=name, remedy=f"give {wanted}")
