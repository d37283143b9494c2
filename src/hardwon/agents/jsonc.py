"""JSON with comments and trailing commas: what is put in or taken out changes the fewest characters of the text; all others stay.

The standard library's decoder reads it, values and their places both, once comments and trailing commas are blanks
(docs/decisions/0020). A place is a path of keys and numbers, as ``("hooks", "Stop", 0)``.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Path = tuple[str | int, ...]

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_SPACES = " \t\r\n"
_DECODER = json.JSONDecoder()


class Member(Value):
    """One value of an object or array: ``start`` of its key (of itself in an array), ``value`` where the value begins, ``end`` behind
    it, ``comma`` behind its comma, or ``end`` where it has none. Characters from the start of the text."""

    key: str | int
    start: int
    value: int
    end: int
    comma: int


@lru_cache(maxsize=2)  # one entry after the other goes into the same text, and each asks several times what it holds
def _parsed(text: str) -> Text:
    return Text(text)


class Text:
    """A text with what is in it. ``plain`` is as long, with blanks for comments and trailing commas; InvalidInput where it is no JSON."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.uncommented = _COMMENT.sub(_blank, text)
        self.plain = _COMMA.sub(lambda found: _without_comma(found, self.uncommented), self.uncommented)
        self.empty = not self.plain.strip(_SPACES)
        self.data: Any = {} if self.empty else _read(self.plain, text)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._members: dict[int, list[Member]] = {}

    def root(self) -> tuple[int, int]:
        """Where the whole value begins and ends."""
        start, end = _skip(self.plain, 0), len(self.plain)
        while self.plain[end - 1] in _SPACES:
            end -= 1
        return start, end

    def members(self, start: int) -> list[Member]:
        """What the object or array that begins at ``start`` holds."""
        if start in self._members:
            return self._members[start]
        plain, number = self.plain, 0
        found = self._members[start] = []
        in_object = plain[start] == "{"
        at = _skip(plain, start + 1)
        while plain[at] not in "}]":
            begin, key = at, number
            if in_object:
                key, at = _DECODER.raw_decode(plain, at)
                at = _skip(plain, _skip(plain, at) + 1)
            value, end = at, _DECODER.raw_decode(plain, at)[1]
            after = _skip(self.uncommented, end)
            comma = after + 1 if self.uncommented[after] == "," else end
            found.append(Member(key, begin, value, end, comma))
            at, number = _skip(plain, max(end, comma)), number + 1
        return found

    def find(self, path: Path) -> tuple[int, int] | None:
        """Where the value at a path begins and ends; of a key that is there twice the last, which is the one that counts."""
        start, end = self.root()
        for step in path:
            if self.plain[start] not in "{[":
                return None
            here = next((one for one in reversed(self.members(start)) if one.key == step), None)
            if here is None or isinstance(step, int) != (self.plain[start] == "["):
                return None
            start, end = here.value, here.end
        return start, end


def read(text: str) -> Any:
    """The value of a text, an empty object where there is none; InvalidInput where it is no JSON."""
    return _parsed(text.removeprefix("\ufeff")).data


def at(data: Any, path: Path) -> Any:
    """The value at a path; None where there is none."""
    for step in path:
        in_list = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if not in_list and not (isinstance(data, dict) and step in data):
            return None
        data = data[step]
    return data


def put(text: str, path: Path, value: Any) -> str:
    """The text with ``value`` at a path of keys, as its last member if it was not there; objects on the way are made."""
    mark, body = _split(text)
    whole = _parsed(body)
    if whole.empty:
        return mark + _begun(whole, _nested(path, value))
    last = len(path)
    while (place := whole.find(path[:last])) is None:
        last -= 1
    if last == len(path):
        return mark + body[: place[0]] + _written(value, whole, _indent_of(body, place[0])) + body[place[1] :]
    if whole.plain[place[0]] != "{":
        raise _not_fitting(path[:last], "an object")
    return mark + _inserted(whole, place, _nested(path[last + 1 :], value), str(path[last]))


def append(text: str, path: Path, value: Any) -> str:
    """The text with ``value`` as the last item of the array at a path, which is made where there is none."""
    mark, body = _split(text)
    whole = _parsed(body)
    place = None if whole.empty else whole.find(path)
    if place is None:
        return put(text, path, [value])
    if whole.plain[place[0]] != "[":
        raise _not_fitting(path, "an array")
    return mark + _inserted(whole, place, value, None)


def remove(text: str, path: Path) -> str:
    """The text without the value at a path, which is there."""
    mark, body = _split(text)
    whole = _parsed(body)
    place = whole.find(path[:-1])
    if place is None:
        return text
    members = whole.members(place[0])
    index = max((number for number, one in enumerate(members) if one.key == path[-1]), default=-1)
    if index < 0:
        return text
    return mark + _cut(whole, place, members, index)


def take_items(text: str, path: Path, ours: Callable[[Any], bool]) -> str:
    """The text without those items of the array at a path that are ours."""
    items = at(read(text), path)
    if isinstance(items, list):
        for number in range(len(items) - 1, -1, -1):
            if ours(items[number]):
                text = remove(text, (*path, number))
    return text


def prune(text: str, path: Path, keep: Any = None) -> str:
    """The text without the object or array at a path and those above it, as far as they are empty; what ``keep`` (a value read from
    the text as it was) has at the same path stays."""
    for length in range(len(path), 0, -1):
        if at(read(text), path[:length]) not in ({}, []) or at(keep, path[:length]) is not None:
            break
        text = remove(text, path[:length])
    return text


def _split(text: str) -> tuple[str, str]:
    body = text.removeprefix("\ufeff")
    return text[: len(text) - len(body)], body


def _blank(found: re.Match[str]) -> str:
    word = found[0]
    return word if word[0] == '"' else " " * len(word)


def _without_comma(found: re.Match[str], text: str) -> str:
    """A blank for a trailing comma; one that follows no value stays, and is an error."""
    if found[0] != ",":
        return found[0]
    before = found.start() - 1
    while before >= 0 and text[before] in _SPACES:
        before -= 1
    return "," if before < 0 or text[before] in "{[,:" else " "


def _read(plain: str, text: str) -> Any:
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, error.pos) + 1
        raise InvalidInput(f"is not JSON: line {line}: {error.msg}", field="json", remedy="mend it, or move it away") from error
    except RecursionError as error:
        raise InvalidInput("is not JSON that can be read: it is nested too deeply", field="json") from error


def _skip(text: str, start: int) -> int:
    while start < len(text) and text[start] in _SPACES:
        start += 1
    return start


def _nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def _not_fitting(path: Path, wanted: str) -> InvalidInput:
    name = ".".join(map(str, path)) or "the whole"
    return InvalidInput(f"{name} is not {wanted}", field=name, remedy="mend it, or move the file away")


def _begun(whole: Text, value: Any) -> str:
    """An object in a text that has none yet, behind its comments."""
    text = whole.text
    gap = whole.newline if text.strip(_SPACES) and not text.endswith("\n") else ""
    return text + gap + _written(value, whole, "") + whole.newline


def _unit(whole: Text) -> str:
    """What one level is indented by: as the first line that is, else two blanks."""
    start, _ = whole.root() if not whole.empty else (0, 0)
    found = re.compile(r"\n([ \t]+)[\"{\[]").search(whole.uncommented, start)
    if not found:
        return "  "
    outer = _indent_of(whole.text, start)
    return found[1][len(outer) :] if found[1].startswith(outer) and len(found[1]) > len(outer) else found[1]


def _indent_of(text: str, position: int) -> str:
    """The white space that the line of a position begins with."""
    start = text.rfind("\n", 0, position) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]


def _written(value: Any, whole: Text, indent: str) -> str:
    """A value in the text's own manner, on one line where the text is."""
    start, end = whole.root() if not whole.empty else (0, 0)
    if end > start + 2 and "\n" not in whole.text[start:end]:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(whole)).split("\n")
    return (whole.newline + indent).join(lines)


def _inserted(whole: Text, place: tuple[int, int], value: Any, key: str | None) -> str:
    """A new last member of the object or array at a place."""
    text, (start, end) = whole.text, place
    members = whole.members(start)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    close = end - 1
    if not members:
        inner = "" if text[start + 1 : close].strip(_SPACES) else None
        outer = _indent_of(text, start)
        one_line = "\n" not in text[slice(*whole.root())] and len(text.strip(_SPACES)) > 2
        if one_line:
            return (
                text[: start + 1]
                + (text[start + 1 : close] if inner == "" else "")
                + name
                + _written(value, whole, outer)
                + text[close:]
            )
        indent = outer + _unit(whole)
        stem = text[: start + 1] if inner is None else text[: _behind(text, close)]
        return stem + whole.newline + indent + name + _written(value, whole, indent) + whole.newline + outer + text[close:]
    last = members[-1]
    trailing = last.comma > last.end
    if "\n" not in text[start : members[0].start] and "\n" not in text[last.end : close]:
        tail = text[last.comma : close]
        piece = (" " if trailing else ", ") + name + json.dumps(value, ensure_ascii=False) + ("," if trailing else "")
        return text[: last.comma] + piece + tail + text[close:]
    indent = _indent_of(text, last.start)
    behind = max(_behind(text, close), last.comma)
    piece = whole.newline + indent + name + _written(value, whole, indent) + ("," if trailing else "")
    comma = "" if trailing else ","
    return text[: last.end] + comma + text[last.end : behind] + piece + text[behind:]


def _behind(text: str, position: int) -> int:
    """Behind the last character before a position that is no white space."""
    while position and text[position - 1] in _SPACES:
        position -= 1
    return position


def _cut(whole: Text, place: tuple[int, int], members: list[Member], index: int) -> str:
    """The text without one member, its comma, and the white space that it stood behind."""
    text, one, close = whole.text, members[index], place[1] - 1
    if len(members) == 1 and not (text[place[0] + 1 : one.start] + text[one.comma : close]).strip(_SPACES):
        return text[: place[0] + 1] + text[close:]
    begin, end = _behind(text, one.start), one.comma
    if "\n" in text[begin : one.start] and "\n" not in text[end : _skip(text, end)] and end < close:
        begin, end = one.start, _skip(text, end)  # what follows on the same line takes its place
    elif index == 0 and "\n" not in text[begin : one.start]:
        begin, end = one.start, _skip(text, end)
    previous = members[index - 1] if index else None
    if previous is not None and index == len(members) - 1 and one.comma == one.end and previous.comma > previous.end:
        comma = whole.uncommented.index(",", previous.end)
        return text[:comma] + text[comma + 1 : max(begin, comma + 1)] + text[end:]
    return text[:begin] + text[end:]
