"""Scripts by which the agents of Codex call tools, in versions that tell of these calls nowhere else.

Read are scripts that make one call whose arguments all stand in them, or run several such commands at once and show each result by itself;
nothing is run, and what is put together at run time is no argument.
"""

from __future__ import annotations

import re
from itertools import islice

from hardwon.importers.transcripts.records import parsed, whole_number, word
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LONGEST = 1 << 20  # characters of a script
_LONGEST_REST = 4_000  # of it after the call
_DEEPEST = 20
_MOST_NAMES = 20
_COMMENTS = re.compile(r"(?:\s|//[^\n]*\n)*")
_NAMED = re.compile(r"(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*")
_END = re.compile(r"\s*;?")
_CALL = re.compile(
    r"(?:(?:const|let|var)\s*(?:[A-Za-z_$][\w$]*|\{[\w$,.:\s]{0,200}\})\s*=\s*)?(?:text\(\s*)?(?:JSON\.stringify\(\s*)?(?:\(\s*)?"
    r"await\s+tools\.([A-Za-z_]\w*)\(\s*"
)
_AT_ONCE = re.compile(r"(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*await\s+Promise\.all\(\s*\[\s*")
_COMMAND = re.compile(r"tools\.exec_command\(\s*")
_LOOP = re.compile(r"\bfor\b|\bwhile\b|\.(?:forEach|map|flatMap|reduce|filter|sort|reverse)\b")
_SHOWN = re.compile(r"\btext\b")
_MOST_AT_ONCE = 8
_ANY_CALL = re.compile(r"\btools\b")
_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"' r"|'((?:[^'\\\n]|\\.)*)'" r"|(String\.raw)?`((?:[^`\\]|\\.)*)`", re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?(?![\w$.])")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_MARK = re.compile(r"\s*([{}\[\]:,)])?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_TEMPLATE = re.compile(r"`((?:[^`\\]|\\.){1,2000})`", re.DOTALL)
_HOLE = re.compile(r"\$\{([^{}]{0,200})\}")
_MOST_TEMPLATES = 4
_MOST_BLOCKS = 8
_LONGEST_TOLD = 200  # characters of a text that tells a number


class Script(Value):
    """The one call of a script: the tool, what it is given, and what the script does with the result."""

    tool: str
    given: Any
    rest: str = ""


class Result(Value):
    """What a script printed of its call. ``session``: the number of a process that goes on, "" where none is told."""

    output: str = ""
    code: int | None = None
    session: str = ""
    has_failed: bool = False


class _NoLiteral(Exception):
    """What stands there is put together at run time."""


def runs_something(source: str) -> bool:
    """Whether a script may run commands or change files."""
    return any(name in source for name in ("exec_command", "write_stdin", "apply_patch", "tools["))


def read(source: str) -> Script | None:
    """The call of a script that makes one, with arguments that stand in it; None for any other script."""
    if len(source) > _LONGEST:
        return None
    try:
        names, at = _names(source)
        call = _CALL.match(source, at)
        if call is None:
            return None
        given, at = _value(source, call.end(), names, 0)
    except _NoLiteral:
        return None
    mark = _MARK.match(source, at)
    if mark is None or mark[1] != ")" or _ANY_CALL.search(source, mark.end()):
        return None
    return Script(call[1], given, source[mark.end() : mark.end() + _LONGEST_REST])


def read_several(source: str) -> tuple[Script, ...]:
    """The commands of a script that runs several at once, written out like the one of ``read``, and then shows something of each in their
    order, once; () for any other script."""
    try:
        names, at = _names(source[:_LONGEST])
        begun = _AT_ONCE.match(source, at)
        given, at = _commands(source, begun.end(), names) if begun else ([], at)
    except _NoLiteral:
        return ()
    rest = source[at:]
    if begun is None or len(given) < 2 or len(rest) > _LONGEST_REST or _ANY_CALL.search(rest):
        return ()
    name = re.escape(begun[1])
    shows = re.search(rf"(?<![\w$])(?:{name}\.forEach\(|of\s+{name}\s*\))", rest)
    if shows is None or len(_LOOP.findall(rest)) != 1 or len(_SHOWN.findall(rest)) != 1:
        return ()
    return tuple(Script("exec_command", one, rest) for one in given)


def _commands(source: str, at: int, names: Mapping[str, Any]) -> tuple[list[Any], int]:
    """What the commands of a list are given, and where its call ends."""
    given: list[Any] = []
    mark = ","
    while mark == ",":
        at = _past(_COMMENTS, source, at)
        call = _COMMAND.match(source, at)
        if call is None:  # after the last comma
            mark, at = _mark(source, at)
            break
        value, at = _value(source, call.end(), names, 0)
        given.append(value)
        end, at = _mark(source, at)
        if end != ")" or not word(value, "cmd", "command") or len(given) > _MOST_AT_ONCE:
            raise _NoLiteral
        mark, at = _mark(source, at)
    end, at = _mark(source, at)
    if (mark, end) != ("]", ")"):
        raise _NoLiteral
    return given, at


def results(scripts: tuple[Script, ...], blocks: list[str]) -> list[Result]:
    """What a script printed of each of several calls; [] where it is not one block each."""
    head, _, first = blocks[0].partition("\nOutput:\n") if blocks else ("", "", "")
    shown = [*([first] if first else []), *blocks[1:]]
    if len(shown) != len(scripts) or head.startswith("Script failed"):
        return []
    return [result(script, [f"{head}\nOutput:\n", block]) for script, block in zip(scripts, shown, strict=True)]


def result(script: Script, blocks: list[str]) -> Result:
    """What a script printed: first a line of Codex about the script, then what it asked to be shown, a block each."""
    head, _, first = blocks[0].partition("\nOutput:\n") if blocks else ("", "", "")
    shown = [one for one in (first, *blocks[1:]) if one]
    has_failed = head.startswith("Script failed")
    code: int | None = None
    session, output = "", []
    patterns = _told_by(script.rest)
    for number, block in enumerate(shown):
        told = _object(block, script.rest) if number < _MOST_BLOCKS else {}
        if told:
            code = whole_number(told.get("exit_code")) if code is None else code
            session = session or _process(told.get("session_id"))
            output.append(word(told, "output"))
            continue
        found = next(filter(None, (one.fullmatch(block) for one in patterns)), None) if len(block) < _LONGEST_TOLD else None
        if found is None:
            output.append(block.removeprefix("Script error:\n") if has_failed else block)
            continue
        told = found.groupdict()
        code = whole_number(told.get("exit_code")) if code is None else code
        session = session or _process(told.get("session_id"))
    return Result("\n".join(one for one in output if one), code, "" if code is not None else session, has_failed)


def _object(block: str, rest: str) -> Mapping[str, Any]:
    """The result of a call as it is; {} for what a command printed, which may be an object as well."""
    if not block.startswith("{") or not ('"chunk_id"' in block or "exit_code" in rest):
        return {}
    found = parsed(block)
    if not isinstance(found, dict) or not ("chunk_id" in found or "output" in found):
        return {}
    return found if "exit_code" in found or "session_id" in found else {}


def _process(value: Any) -> str:
    number = whole_number(value)
    return "" if number is None else str(number)


def _told_by(rest: str) -> list[re.Pattern[str]]:
    """Patterns of the texts by which a script tells numbers of its result, as ``exit=${r.exit_code}``."""
    patterns = []
    for template in islice(_TEMPLATE.finditer(rest), _MOST_TEMPLATES):
        holes = _HOLE.split(template[1])  # words, hole, words, …
        names = [hole.rpartition(".")[2].strip() for hole in holes[1::2]]
        if len(names) != 1 or names[0] not in ("exit_code", "session_id"):
            continue
        before, after = (re.escape(_unescaped(one)) for one in holes[::2])
        patterns.append(re.compile(rf"{before}(?P<{names[0]}>-?\d{{1,12}}|undefined|null){after}\s*"))
    return patterns


# --- literals


def _names(source: str) -> tuple[dict[str, Any], int]:
    """What a script names before it calls anything, and where that ends."""
    names: dict[str, Any] = {}
    at = _past(_COMMENTS, source, 0)
    for _ in range(_MOST_NAMES):
        found = None if _CALL.match(source, at) or _AT_ONCE.match(source, at) else _NAMED.match(source, at)
        if found is None:
            break
        names[found[1]], at = _value(source, found.end(), names, 0)
        at = _past(_COMMENTS, source, _past(_END, source, at))
    return names, at


def _past(pattern: re.Pattern[str], source: str, at: int) -> int:
    found = pattern.match(source, at)
    return found.end() if found else at


def _value(source: str, at: int, names: Mapping[str, Any], depth: int) -> tuple[Any, int]:
    """The value that begins here, and where it ends."""
    at = _past(_COMMENTS, source, at)
    if found := _TEXT.match(source, at):
        return _text(found), found.end()
    if found := _NUMBER.match(source, at):
        return (float(found[0]) if "." in found[0] else int(found[0])), found.end()
    if found := _NAME.match(source, at):
        known = _WORDS if found[0] in _WORDS else names
        if found[0] not in known or source[found.end() : found.end() + 1] in (".", "(", "["):
            raise _NoLiteral
        return known[found[0]], found.end()
    if depth < _DEEPEST and source[at : at + 1] == "[":
        return _list(source, at + 1, names, depth)
    if depth < _DEEPEST and source[at : at + 1] == "{":
        return _fields(source, at + 1, names, depth)
    raise _NoLiteral


def _text(found: re.Match[str]) -> str:
    double, single, raw, template = found.groups()
    words = next(one for one in (double, single, template) if one is not None)
    if template is not None and "${" in template.replace("\\\\", "").replace("\\$", ""):
        raise _NoLiteral
    return words if raw else _unescaped(words)


def _unescaped(words: str) -> str:
    if "\\" not in words:
        return words
    return _ESCAPE.sub(_character, words).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits is None:
        return _ESCAPED.get(found[4], found[4])
    number = int(digits, 16)
    return chr(number) if number < 0x110000 else "\ufffd"


def _mark(source: str, at: int) -> tuple[str, int]:
    at = _past(_COMMENTS, source, at)
    found = _MARK.match(source, at)
    if found is None or found[1] is None:
        raise _NoLiteral  # an operator, such as a plus
    return found[1], found.end()


def _list(source: str, at: int, names: Mapping[str, Any], depth: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    while True:
        at = _past(_COMMENTS, source, at)
        if source[at : at + 1] == "]":
            return values, at + 1
        value, at = _value(source, at, names, depth + 1)
        values.append(value)
        mark, at = _mark(source, at)
        if mark == "]":
            return values, at
        if mark != ",":
            raise _NoLiteral


def _fields(source: str, at: int, names: Mapping[str, Any], depth: int) -> tuple[dict[str, Any], int]:
    told: dict[str, Any] = {}
    while True:
        at = _past(_COMMENTS, source, at)
        if source[at : at + 1] == "}":
            return told, at + 1
        quoted = _TEXT.match(source, at)
        bare = None if quoted else _NAME.match(source, at)
        if quoted:
            name, at = _text(quoted), quoted.end()
        elif bare:
            name, at = bare[0], bare.end()
        else:
            raise _NoLiteral
        mark, at = _mark(source, at)
        if mark == ":":
            told[name], at = _value(source, at, names, depth + 1)
            mark, at = _mark(source, at)
        elif bare and name in names:  # {cmd}
            told[name] = names[name]
        else:
            raise _NoLiteral
        if mark == "}":
            return told, at
        if mark != ",":
            raise _NoLiteral
