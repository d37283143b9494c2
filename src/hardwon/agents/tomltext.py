"""TOML: one table is put in or taken out, and everything else stays as it is, to the byte where the table stands by itself.

A table of its own is text at the end; one inside an inline table is left to tomlkit. Either result is parsed again and compared before
it is given back, so that no guess about a text can damage it.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from contextlib import contextmanager

from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Path = tuple[str, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DEEP = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")  # a key of so many parts


def read(text: str) -> dict[str, Any]:
    """The value of a text; InvalidInput where it is no TOML."""
    if _DEEP.search(text):  # for which the parser takes memory by the square of its length
        raise _too_deep()
    with _readable():
        return tomllib.loads(text.removeprefix("\ufeff"))


@contextmanager
def _readable() -> Iterator[None]:
    """InvalidInput for what either parser cannot read."""
    try:
        yield
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # tomllib's and tomlkit's are such
        raise InvalidInput(f"is not TOML: {error}", field="toml", remedy="mend it, or move it away") from error


def _too_deep() -> InvalidInput:
    return InvalidInput("is not TOML that can be read: it is nested too deeply", field="toml", remedy="mend it, or move it away")


def at(data: Any, path: Path) -> Any:
    """The value at a path; None where there is none."""
    for step in path:
        if not isinstance(data, dict) or step not in data:
            return None
        data = data[step]
    return data


def put(text: str, path: Path, value: dict[str, Any]) -> str:
    """The text with a table of these values at a path. Other keys of a table that is there stay: a person has set them."""
    data = read(text)
    there = at(data, path)
    if isinstance(there, dict) and all(there.get(key) == item for key, item in value.items()):
        return text
    wanted = copy.deepcopy(data)
    below = wanted
    for step in path:
        below = below.setdefault(step, {})
        if not isinstance(below, dict):
            raise InvalidInput(f"{step} is not a table", field=step, remedy="mend it, or move the file away")
    below.update(value)
    for attempt in (_appended, _edited) if there is None else (_edited,):
        with _readable():
            result = attempt(text, path, value)
            if _same(result, wanted):
                return result
    raise InvalidInput(f"[{'.'.join(path)}] cannot be added safely", field="toml", remedy="add it by hand: docs/install.md")


def remove(text: str, path: Path, keep: Any = None) -> str:
    """The text without the table at a path and those below it; tables above it that held nothing else go too, but for those that
    ``keep`` (a value read from the text as it was) has."""
    data = read(text)
    if at(data, path) is None:
        return text
    wanted = copy.deepcopy(data)
    kept = max((length for length in range(1, len(path)) if at(keep, path[:length]) is not None), default=0)
    _drop(wanted, path, kept)
    for attempt in (_cut, _taken):
        with _readable():
            result = attempt(text, path)
            if _same(result, wanted):
                return result
    raise InvalidInput(f"[{'.'.join(path)}] cannot be removed safely", field="toml", remedy="remove it by hand")


def _same(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text.removeprefix("\ufeff")) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _drop(data: dict[str, Any], path: Path, kept: int) -> None:
    """Take a value out, and what is empty then above it, but for the first ``kept`` steps."""
    if len(path) > 1:
        _drop(data[path[0]], path[1:], kept - 1)
        if data[path[0]] == {} and kept < 1:
            del data[path[0]]
    else:
        del data[path[0]]


def _name(path: Path) -> str:
    return ".".join(step if _BARE.fullmatch(step) else json.dumps(step, ensure_ascii=False) for step in path)


def _appended(text: str, path: Path, value: dict[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{_name(path)}]", *(f"{key} = {json.dumps(item, ensure_ascii=False)}" for key, item in value.items()), ""]
    gap = "" if not text.removeprefix("\ufeff") else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines)


def _cut(text: str, path: Path) -> str:
    """Without the lines of the table and of those below it, and the empty line before."""
    header = re.compile(r"[ \t]*\[" + re.escape(_name(path)) + r"(\.[^\]]*)?\][ \t]*(#.*)?")
    lines = text.split("\n")
    kept: list[str] = []
    inside: list[str] | None = None
    for line in lines:
        bare = line.rstrip("\r")
        if bare.lstrip().startswith("["):
            kept += _left_over(inside) if inside else []
            ours = header.fullmatch(bare.removeprefix("\ufeff")) is not None
            if ours and kept and not kept[-1].strip("\r"):
                kept.pop()
            inside = [] if ours else None
        (kept if inside is None else inside).append(line)
    if inside:
        rest = _left_over(inside)
        kept += rest if any(rest) else [""]
    return "\n".join(kept)


def _left_over(lines: list[str]) -> list[str]:
    """What stands below a table and no longer belongs to it: comments and empty lines."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[end:]


def _edited(text: str, path: Path, value: dict[str, Any]) -> str:
    import tomlkit

    mark, body = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    document: Any = tomlkit.parse(body)
    table = document
    for step in path:
        if step not in table:
            table[step] = tomlkit.inline_table() if table is not document else tomlkit.table()
        table = table[step]
    for key, item in value.items():
        table[key] = item
    return mark + tomlkit.dumps(document)


def _taken(text: str, path: Path) -> str:
    import tomlkit

    mark, body = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    document: Any = tomlkit.parse(body)
    for length in range(len(path), 0, -1):
        table = document
        for step in path[: length - 1]:
            table = table[step]
        if length < len(path) and table[path[length - 1]]:
            break
        del table[path[length - 1]]
    return mark + tomlkit.dumps(document)
