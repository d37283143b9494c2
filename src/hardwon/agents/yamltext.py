"""YAML: entries of mappings and lists of texts are put in and taken out by whole lines; everything else stays as it is.

PyYAML tells where a node begins and ends. What is written is JSON on one line, which is YAML as well; each result is parsed again and
compared before it is given back.
"""

from __future__ import annotations

import copy
import json

from hardwon.agents.tomltext import at
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import yaml

    Path = tuple[str, ...]


def read(text: str) -> Any:
    """The value of a text, an empty mapping where there is none; InvalidInput where it is no YAML, or no mapping."""
    import yaml

    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidInput(f"is not YAML: {' '.join(str(error).split())[:200]}", field="yaml", remedy="mend it") from error
    data = {} if data is None else data
    if not isinstance(data, dict):
        raise InvalidInput("is not a mapping", field="yaml", remedy="mend it, or move it away")
    return data


def put(text: str, path: Path, value: Any) -> str:
    """The text with a value at a path of one or two keys."""
    data = read(text)
    there = at(data, path)
    if there == value or (isinstance(there, dict) and isinstance(value, dict) and value.items() <= there.items()):
        return text
    wanted = copy.deepcopy(data)
    _set(wanted, path, value)
    if there is not None:
        text = remove(text, path, data)
    return _checked(_put(text, path, json.dumps(value, ensure_ascii=False)), wanted, path)


def put_item(text: str, path: Path, value: str) -> str:
    """The text with a text in the list at a path of one key; one text there becomes a list."""
    data = read(text)
    there = at(data, path)
    if there == value or (isinstance(there, list) and value in there):
        return text
    wanted = copy.deepcopy(data)
    before = [] if there is None else there if isinstance(there, list) else [there]
    wanted[path[0]] = [value, *before]
    written = json.dumps(value, ensure_ascii=False)
    node = _node(text, path)
    if node is None:
        return _checked(_put(text, path, f"[{written}]"), wanted, path)
    return _checked(_with_item(text, node, written, bool(before)), wanted, path)


def remove(text: str, path: Path, keep: Any = None) -> str:
    """The text without the value at a path, and without the mapping above it if that is empty then and not so in ``keep``."""
    data = read(text)
    if at(data, path) is None:
        return text
    wanted = copy.deepcopy(data)
    above = at(wanted, path[:-1])
    del above[path[-1]]
    if len(path) == 1 or above:
        return _checked(_without_lines(text, path), wanted, path)
    if not isinstance(keep, dict) or path[0] not in keep or keep[path[0]] not in ({}, None):
        del wanted[path[0]]
        return _checked(_without_lines(text, path[:1]), wanted, path)
    wanted[path[0]] = keep[path[0]]
    return _checked(_emptied(text, path, "{}" if keep[path[0]] == {} else ""), wanted, path)


def _emptied(text: str, path: Path, nothing: str) -> str:
    """The text with ``nothing`` for a mapping of one member."""
    import yaml

    found = _pair(text, path[:1])
    if found is None:
        return text
    key, value = found
    if isinstance(value, yaml.MappingNode) and value.flow_style:
        return text[: value.start_mark.index] + (nothing or "null") + text[value.end_mark.index :]
    text = _without_lines(text, path)
    colon = text.index(":", key.end_mark.index) + 1
    return text[:colon] + (f" {nothing}" if nothing else "") + text[colon:]


def remove_item(text: str, path: Path, value: str, keep: Any = None) -> str:
    """The text without a text in the list at a path; the list goes too if it is empty then, and is one text if it was so in ``keep``."""
    data = read(text)
    there = at(data, path)
    if not isinstance(there, list) or value not in there:
        return text
    wanted = copy.deepcopy(data)
    wanted[path[0]] = [one for one in there if one != value]
    if not wanted[path[0]] and at(keep, path) is None:
        return remove(text, path, keep)
    node = _node(text, path)
    item = next(one for one in node.value if one.value == value) if node is not None else None
    if node is None or item is None:
        return text
    if node.flow_style:
        end = item.end_mark.index
        while end < len(text) and text[end] in " ,":
            end += 1
        result = text[: item.start_mark.index] + text[end:]
        if len(wanted[path[0]]) == 1 and at(keep, path) == wanted[path[0]][0]:
            inner = result[node.start_mark.index + 1 : result.index("]", node.start_mark.index)]
            result = result[: node.start_mark.index] + inner + result[result.index("]", node.start_mark.index) + 1 :]
            wanted[path[0]] = wanted[path[0]][0]
    else:
        lines = text.splitlines(keepends=True)
        result = "".join(lines[: item.start_mark.line] + lines[item.end_mark.line + 1 :])
    return _checked(result, wanted, path)


def _set(data: Any, path: Path, value: Any) -> None:
    for step in path[:-1]:
        if data.get(step) is None:
            data[step] = {}
        data = data[step]
        if not isinstance(data, dict):
            raise InvalidInput(f"{step} is not a mapping", field=step, remedy="mend it, or move the file away")
    data[path[-1]] = value


def _checked(text: str, wanted: Any, path: Path) -> str:
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError:
        data = None
    if (data or {}) == wanted:
        return text
    name = ".".join(path)
    raise InvalidInput(f"{name} cannot be changed safely", field=name, remedy="change it by hand: docs/install.md")


def _pair(text: str, path: Path) -> tuple[yaml.Node, yaml.Node] | None:
    """The nodes of a key and its value; None where there are none."""
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    found = None
    for step in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        found = next(((key, value) for key, value in node.value if key.value == step), None)
        if found is None:
            return None
        node = found[1]
    return found


def _node(text: str, path: Path) -> Any:
    found = _pair(text, path)
    return found[1] if found else None


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _put(text: str, path: Path, written: str) -> str:
    """A key that is not there, with a value on one line: first below its parent, or at the end of the file."""
    import yaml

    newline = _newline(text)
    parent = _pair(text, path[:-1]) if len(path) > 1 else None
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if isinstance(root, yaml.MappingNode) and root.flow_style:
        return _put_flow(text, root, parent, path, written)
    if parent is None:
        lines = [f"{'  ' * depth}{step}:" for depth, step in enumerate(path)]
        lines[-1] += " " + written
        gap = "" if not text or text.endswith("\n") else newline
        return text + gap + newline.join(lines) + newline
    key, value = parent
    if isinstance(value, yaml.MappingNode) and value.value and not value.flow_style:
        first = value.value[0][0].start_mark
        column: int = first.column
        at = first.index - column
        return text[:at] + " " * column + f"{path[-1]}: {written}{newline}" + text[at:]
    if isinstance(value, yaml.MappingNode) and value.value:
        at = value.start_mark.index + 1
        return text[:at] + f"{path[-1]}: {written}, " + text[at:]
    indent = " " * (key.start_mark.column + 2)
    if isinstance(value, yaml.MappingNode) or value.end_mark.index > value.start_mark.index:  # {}, or null that is spelt out
        text = text[: value.start_mark.index].rstrip(" ") + text[value.end_mark.index :]
    at = text.find("\n", key.end_mark.index)
    end = len(text) if at < 0 else at + 1
    return text[:end] + (newline if at < 0 else "") + f"{indent}{path[-1]}: {written}{newline}" + text[end:]


def _put_flow(text: str, root: Any, parent: Any, path: Path, written: str) -> str:
    """The same where the whole file is one flow mapping."""
    import yaml

    if parent is not None and isinstance(parent[1], yaml.ScalarNode):  # a key of nothing
        start, end = parent[1].start_mark.index, parent[1].end_mark.index
        gap = "" if text[start - 1] == " " else " "
        return f"{text[:start]}{gap}{{{json.dumps(path[-1])}: {written}}}{text[end:]}"
    within = root
    if parent is not None:
        within, path = parent[1], path[-1:]
    for step in reversed(path[1:]):
        written = f"{{{json.dumps(step)}: {written}}}"
    at: int = within.start_mark.index + 1
    return text[:at] + f"{path[0]}: {written}" + (", " if within.value else "") + text[at:]


def _with_item(text: str, node: Any, written: str, others: bool) -> str:
    import yaml

    start, end = node.start_mark.index, node.end_mark.index
    if not isinstance(node, yaml.SequenceNode):
        return text[:start] + f"[{written}, {text[start:end]}]" + text[end:]
    if node.flow_style:
        return text[: start + 1] + written + (", " if others else "") + text[start + 1 :]
    column = node.start_mark.column
    at = start - column
    return text[:at] + " " * column + f"- {written}{_newline(text)}" + text[at:]


def _without_lines(text: str, path: Path) -> str:
    import yaml

    found = _pair(text, path)
    if found is None:
        return text
    key, value = found
    above: Any = yaml.compose(text, Loader=yaml.SafeLoader) if len(path) == 1 else _node(text, path[:-1])
    if above is not None and above.flow_style:
        end = value.end_mark.index
        while end < len(text) and text[end] in " ,":
            end += 1
        return text[: key.start_mark.index] + text[end:]
    lines = text.splitlines(keepends=True)
    return "".join(lines[: key.start_mark.line] + lines[_last_line(value) + 1 :])


def _last_line(node: Any) -> int:
    """The last line of what a node holds; the mark of a block's end is on the line of what follows it."""
    import yaml

    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        end: int = node.end_mark.line
        block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") and end > node.start_mark.line
        return end - 1 if block else end
    last = node.value[-1]
    return _last_line(last[1] if isinstance(last, tuple) else last)
