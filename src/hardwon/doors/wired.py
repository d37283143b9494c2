"""What of ours stands in the clients' files now, read from them: for ``doctor``."""

from __future__ import annotations

import json
import re

from hardwon.agents import jsonc, lines, table, targets, tomltext, yamltext
from hardwon.agents import parts as texts
from hardwon.doors import configuration
from hardwon.errors import HardwonError
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from hardwon.agents.parts import Part
    from hardwon.agents.site import Scope, Site

_SHIM = re.compile(r'const PROGRAM = ("(?:[^"\\]|\\.)*")')


class Wired(Value):
    """One file that has something of ours for one client. ``programs``: what it starts; ``current``: it is as an installation would make
    it now; ``trouble``: why it cannot be read, "" where it can."""

    client: str
    scope: str
    path: str
    about: tuple[str, ...]
    programs: tuple[str, ...] = ()
    current: bool = True
    trouble: str = ""


def look(sites: Mapping[Scope, Site]) -> list[Wired]:
    """All that is installed, in the files of the scopes given."""
    found = []
    for client in table.CLIENTS:
        for scope in targets.scopes(client):
            if scope in sites:
                found += [one for part in targets.parts(client, sites[scope]) if (one := _of(client, sites[scope], part))]
    return found


def _of(client: str, site: Site, part: Part) -> Wired | None:
    try:
        content = configuration.read(part.path)
        if content is None:
            return None
        text = configuration.text(part.path, content)
        if not texts.has(part, text):
            return None
        programs = tuple(dict.fromkeys(_programs(part, client, text)))
        return Wired(client, site.scope, part.path, part.about, programs, texts.put(part, text) == text)
    except HardwonError as error:
        return Wired(client, site.scope, part.path, part.about, trouble=error.message)


def _programs(part: Part, client: str, text: str) -> Iterator[str]:
    if part.form == "file" and part.path.endswith(".js"):
        yield from (json.loads(word) for word in _SHIM.findall(text))
    elif part.form == "script":
        yield from (lines.program_of(line) for line in text.splitlines() if lines.client_of(line) == client)
    elif part.form == "file" and part.path.endswith(".json"):
        hooks = jsonc.at(jsonc.read(text), ("hooks",))
        for entries in hooks.values() if isinstance(hooks, dict) else ():
            yield from _started(entries, client)
    elif part.form in ("json", "toml", "yaml"):
        read = {"json": jsonc.read, "toml": tomltext.read, "yaml": yamltext.read}[part.form]
        for entry in part.entries:
            yield from _started(jsonc.at(read(text), entry.path), client)


def _started(value: Any, client: str) -> Iterator[str]:
    """The programs in an entry: of its hook lines, or of a server."""
    if isinstance(value, list):
        for item in value:
            yield from _started(item, client)
    elif isinstance(value, dict):
        if isinstance(value.get("hooks"), list):
            yield from _started(value["hooks"], client)
        elif lines.handler(value) == client:
            yield lines.program_of(str(value.get("command") or value.get("bash")))
        elif "args" in value and isinstance(value.get("command") or value.get("cmd"), str):
            yield str(value.get("command") or value.get("cmd"))
        elif isinstance(value.get("command"), list) and value["command"]:
            yield str(value["command"][0])
