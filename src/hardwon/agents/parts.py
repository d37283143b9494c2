"""What an installation puts into one file, and how that gets in and out of its text. Text in, text out: the disk is another's."""

from __future__ import annotations

from hardwon.agents import blocks, jsonc, lines, tomltext, yamltext
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    About = Literal["hooks", "tools", "skill", "instructions", "plugin"]
    # json, toml, yaml: entries among others; block: between marks in a text; file: all of it is ours; script: a program of ours.
    Form = Literal["json", "toml", "yaml", "block", "file", "script"]
    # member: a key of an object or mapping; hook: an item of a list of hooks; item: one of a list of texts; needed: a key that the
    # file has to have, whoever set it.
    How = Literal["member", "hook", "item", "needed"]


class Entry(Value):
    """One entry of a configuration file: ``value`` at ``path``, or as an item of the list there. ``client``: of a hook, whose it is."""

    path: tuple[str, ...]
    value: Any
    how: How = "member"
    client: str = ""


class Part(Value):
    """What goes into the file at ``path`` (absolute). ``text``: of a block or a file."""

    path: str
    form: Form
    about: tuple[About, ...]
    entries: tuple[Entry, ...] = ()
    text: str = ""


def put(part: Part, text: str) -> str:
    """The text with the part in it; the same text where it is in already. Of a file that is ours as a whole nothing stays, so that first
    it is to be asked whether it is (``is_foreign``). InvalidInput where the file cannot be read."""
    if part.form in ("file", "script"):
        return part.text
    if part.form == "block":
        return blocks.put(text, part.text)
    for entry in part.entries:
        text = _PUT[part.form](entry, text)
    return text


def take(part: Part, text: str, base: str | None = None) -> str:
    """The text without the part; nothing of a file that is ours as a whole (``is_foreign``). ``base``: as it was before us, where that is
    known; objects that are empty then stay if they were there in it, and what was blank is blank again."""
    if part.form in ("file", "script"):
        return ""
    if part.form == "block":
        return blocks.remove(text)
    if not text.strip("\ufeff \t\r\n"):
        return text
    before = text
    keep = _READ[part.form](base) if base is not None else None
    for entry in reversed(part.entries):
        text = _TAKE[part.form](entry, text, keep)
    if text != before and base is not None and _READ[part.form](text) == {} == keep and not base.strip("\ufeff \t\r\n"):
        return base
    return text


def is_foreign(part: Part, text: str) -> bool:
    """Whether a file that would be ours as a whole is somebody else's: it neither says that we made it nor is what we make. A person's own
    may well speak of us, or call us."""
    if part.form not in ("file", "script") or not text or lines.MADE in text:
        return False
    return text != part.text and not (lines.MADE not in part.text and _is_own_json(text))


def _is_own_json(text: str) -> bool:
    """Whether a file of JSON, which takes no remark, is one of ours in whatever version: all that it starts is us."""
    try:
        started = list(lines.started(jsonc.read(text)))
    except InvalidInput:
        return False
    return bool(started) and all(map(lines.is_us, started))


def has(part: Part, text: str) -> bool:
    """Whether anything of the part is in the text, in whatever version; a person's own program may call us."""
    if part.form == "script" and any(map(lines.client_of, text.splitlines())):
        return True
    if part.form in ("file", "script"):
        return bool(text) and not is_foreign(part, text)
    if part.form == "block":
        return blocks.find(text) is not None
    return take(part, text) != text


def _put_json(entry: Entry, text: str) -> str:
    there = jsonc.at(jsonc.read(text), entry.path)
    if entry.how == "needed":
        return jsonc.put(text, entry.path, entry.value) if there is None else text
    if entry.how == "hook":
        return _put_hook(entry, text, there)
    if entry.how == "item":
        return text if isinstance(there, list) and entry.value in there else jsonc.append(text, entry.path, entry.value)
    if isinstance(there, dict) and isinstance(entry.value, dict):
        for key, item in entry.value.items():  # other keys of the entry are a person's: an approval, a time limit
            text = text if there.get(key) == item else jsonc.put(text, (*entry.path, key), item)
        return text
    return text if there == entry.value else jsonc.put(text, entry.path, entry.value)


def _put_hook(entry: Entry, text: str, there: Any) -> str:
    if there is None:
        return jsonc.append(text, entry.path, entry.value)
    if not isinstance(there, list):
        name = ".".join(entry.path)
        raise InvalidInput(f"{name} is not an array", field=name, remedy="mend it, or move the file away")
    whole = [number for number, one in enumerate(there) if lines.is_ours(one, entry.client)]
    mixed = [number for number, one in enumerate(there) if number not in whole and _mixed(one, entry.client)]
    if len(whole) == 1 and not mixed:
        return text if there[whole[0]] == entry.value else jsonc.put(text, (*entry.path, whole[0]), entry.value)
    return jsonc.append(_take_hook(entry, text), entry.path, entry.value)


def _mixed(group: Any, client: str) -> bool:
    """Whether a group of somebody else holds a handler of ours as well."""
    return lines.is_group(group) and any(lines.handler(one) == client for one in group["hooks"])


def _take_json(entry: Entry, text: str, keep: Any) -> str:
    there = jsonc.at(jsonc.read(text), entry.path)
    if there is None or (entry.how == "needed" and (keep is None or jsonc.at(keep, entry.path) is not None)):
        return text
    before = text
    if entry.how == "hook":
        text = _take_hook(entry, text)
        return jsonc.prune(text, entry.path, keep) if text != before else text
    if entry.how == "item":
        text = jsonc.take_items(text, entry.path, lambda one: one == entry.value)
        return jsonc.prune(text, entry.path, keep) if text != before else text
    if entry.how == "needed" and (there != entry.value or _others(text, entry.path)):
        return text
    return jsonc.prune(jsonc.remove(text, entry.path), entry.path[:-1], keep)


def _others(text: str, path: tuple[str, ...]) -> bool:
    """Whether the object that holds the value at a path holds anything else."""
    return len(jsonc.at(jsonc.read(text), path[:-1])) > 1


def _take_hook(entry: Entry, text: str) -> str:
    text = jsonc.take_items(text, entry.path, lambda one: lines.is_ours(one, entry.client))
    groups = jsonc.at(jsonc.read(text), entry.path)
    for number, group in enumerate(groups if isinstance(groups, list) else []):
        if _mixed(group, entry.client):
            text = jsonc.take_items(text, (*entry.path, number, "hooks"), lambda one: lines.handler(one) == entry.client)
    return text


def _put_toml(entry: Entry, text: str) -> str:
    return tomltext.put(text, entry.path, entry.value)


def _take_toml(entry: Entry, text: str, keep: Any) -> str:
    return tomltext.remove(text, entry.path, keep)


def _put_yaml(entry: Entry, text: str) -> str:
    if entry.how == "needed" and tomltext.at(yamltext.read(text), entry.path):
        return text
    if entry.how == "item":
        return yamltext.put_item(text, entry.path, entry.value)
    return yamltext.put(text, entry.path, entry.value)


def _take_yaml(entry: Entry, text: str, keep: Any) -> str:
    if entry.how == "item":
        return yamltext.remove_item(text, entry.path, entry.value, keep)
    if entry.how == "needed" and tomltext.at(yamltext.read(text), entry.path) != entry.value:
        return text
    return yamltext.remove(text, entry.path, keep)


_PUT = {"json": _put_json, "toml": _put_toml, "yaml": _put_yaml}
_TAKE = {"json": _take_json, "toml": _take_toml, "yaml": _take_yaml}
_READ = {"json": jsonc.read, "toml": tomltext.read, "yaml": yamltext.read}
