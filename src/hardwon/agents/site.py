"""What the installation of a client is told, and what the files of several clients have in common."""

from __future__ import annotations

import json
import os

from hardwon.agents import lines
from hardwon.agents.parts import Entry, Part
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from hardwon.agents.hook_events import Hooks
    from hardwon.agents.parts import About
    from hardwon.settings import Places

    Scope = Literal["user", "project"]
    Parts = tuple[Part, ...]

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")


class Site(Value):
    """What a client's function is told. ``root``: the folder of the project, of scope project. ``program``: how we are called, an
    absolute path or, in files that colleagues share, a name. ``exists``: whether a file is there, where a client reads one of several."""

    places: Places
    scope: Scope
    root: str
    program: str
    exists: Callable[[str], bool] = os.path.isfile

    def line(self, client: str) -> str:
        """The hook line of a client."""
        return lines.hook(self.program, client)

    def at(self, user: str, project: str) -> str:
        """The path of this scope: the user's is absolute, the project's relative to its root."""
        return user if self.scope == "user" else os.path.join(self.root, project)


def static(name: str) -> str:
    """A text that comes with the package."""
    with open(os.path.join(FILES, name), encoding="utf-8") as file:
        return file.read()


def hooks(events: Hooks, client: str) -> tuple[Entry, ...]:
    """The entries of a file whose ``hooks`` are lists by event."""
    return tuple(Entry(("hooks", event), value, "hook", client) for event, value in events.items())


def server(site: Site, more: dict[str, Any] | None = None, key: str = "mcpServers", arguments: tuple[str, ...] = ()) -> Entry:
    """The entry of our server of tools, under the key that a client keeps servers under."""
    return Entry((key, lines.NAME), {**(more or {}), "command": site.program, "args": [*arguments, "mcp"]})


def skill(folder: str) -> Part:
    """Our skill in a folder of skills."""
    return page(os.path.join(folder, lines.NAME, "SKILL.md"), "skill", static("skill/SKILL.md"))


def page(path: str, about: About, text: str) -> Part:
    """A page that is ours as a whole, and says so."""
    return Part(path, "file", (about,), text=f"{text}\n<!-- {lines.REMARK} -->\n")


def block(path: str) -> Part:
    """Our block in a file of instructions."""
    return Part(path, "block", ("instructions",), text=static("instructions.md"))


def rule(path: str, head: dict[str, Any] | None = None) -> Part:
    """Our instructions in a file of their own, below what its client wants at the head."""
    front = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in (head or {}).items())
    return page(path, "instructions", (f"---\n{front}---\n\n" if front else "") + static("instructions.md"))


def own_json(path: str, about: tuple[Any, ...], value: Any) -> Part:
    """A JSON file that is ours as a whole."""
    return Part(path, "file", about, text=json.dumps(value, ensure_ascii=False, indent=2) + "\n")
