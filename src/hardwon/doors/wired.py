"""What of ours stands in the clients' files now, read from them."""

from __future__ import annotations

import json
import os
import re

from hardwon.agents import jsonc, lines, table, targets, tomltext, yamltext
from hardwon.agents import parts as texts
from hardwon.doors import configuration
from hardwon.errors import HardwonError
from hardwon.settings import places
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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


class Here(Value):
    """A client that is used on this machine; ``wired``: the scopes in which it has something of ours, and ``plugin`` for our plugin."""

    client: str
    title: str
    tier: str
    wired: tuple[str, ...]


def here(sites: Mapping[Scope, Site]) -> list[Here]:
    """The clients that are used on this machine, and which of them know of us."""
    found = used()
    looked = look(sites, found)
    return [_here(name, looked, sites) for name in found]


def used() -> list[str]:
    """The clients that left signs of themselves on this machine."""
    return [name for name in table.CLIENTS if any(map(os.path.exists, targets.signs(name, places())))]


def _here(client: str, looked: Sequence[Wired], sites: Mapping[Scope, Site]) -> Here:
    row = table.row(client)
    scopes = [one.scope for one in looked if one.client == client and _is_its_own(one, sites)]
    if client == "claude-code" and plugin():
        scopes.append("plugin")
    return Here(client, row.title if row else "", row.tier if row else "", tuple(dict.fromkeys(scopes)))


def _is_its_own(one: Wired, sites: Mapping[Scope, Site]) -> bool:
    """Whether a file is a sign that this very client is wired. Instructions, which others may read too, are one where it has no more."""
    parts = targets.parts(one.client, next(site for scope, site in sites.items() if scope == one.scope))
    return "instructions" not in one.about or all("instructions" in part.about for part in parts)


def plugin() -> str:
    """The settings that enable our plugin of Claude Code; "" for none."""
    path = os.path.join(places().claude, "settings.json")
    try:
        content = configuration.read(path)
        plugins = jsonc.at(jsonc.read(content.decode()), ("enabledPlugins",)) if content else None
    except (HardwonError, UnicodeDecodeError):
        return ""  # told with the file itself
    enabled = isinstance(plugins, dict) and any(name.startswith(f"{lines.NAME}@") and on for name, on in plugins.items())
    return path if enabled else ""


def look(sites: Mapping[Scope, Site], clients: Sequence[str] = table.CLIENTS) -> list[Wired]:
    """All that is installed for these clients, in the files of the scopes given."""
    found = []
    for client in clients:
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
        current = texts.is_foreign(part, text) or texts.put(part, text) == text
        return Wired(client, site.scope, part.path, part.about, programs, current)
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
