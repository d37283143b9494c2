"""What an installation puts where, by client: the second half of the table of clients, apart because every hook reads the first."""

from __future__ import annotations

import os

from hardwon.agents import editor_clients, terminal_clients
from hardwon.agents.site import Site
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.agents.site import Parts, Scope
    from hardwon.settings import Places

SCOPES: tuple[Scope, ...] = ("user", "project")


class Target(Value):
    """``make``: the parts of a client; ``signs``: what is there where the client is used on this machine; ``scopes``: its default first."""

    make: Callable[[Site], Parts]
    signs: Callable[[Places], tuple[str, ...]]
    scopes: tuple[Scope, ...] = SCOPES


def _at_home(*names: str) -> Callable[[Places], tuple[str, ...]]:
    return lambda places: tuple(os.path.join(places.home, name) for name in names)


def _in_config(*names: str) -> Callable[[Places], tuple[str, ...]]:
    return lambda places: tuple(os.path.join(places.config, name) for name in names)


TARGETS: dict[str, Target] = {
    "claude-code": Target(terminal_clients.claude_code, lambda places: (places.claude, places.claude_state)),
    "codex": Target(terminal_clients.codex, lambda places: (places.codex,)),
    "gemini": Target(terminal_clients.gemini, lambda places: (places.gemini,)),
    "opencode": Target(terminal_clients.opencode, _in_config("opencode")),
    "cursor": Target(editor_clients.cursor, _at_home(".cursor")),
    "vscode": Target(
        editor_clients.vscode, lambda places: (editor_clients.code_folder(places), os.path.join(places.home, ".copilot"))
    ),
    "windsurf": Target(editor_clients.windsurf, _at_home(".codeium/windsurf")),
    "cline": Target(
        editor_clients.cline,
        lambda places: (
            os.path.join(editor_clients.code_folder(places), "globalStorage", "saoudrizwan.claude-dev"),
            os.path.join(places.home, ".cline"),
        ),
    ),
    "openhands": Target(terminal_clients.openhands, _at_home(".openhands")),
    "hermes": Target(terminal_clients.hermes, lambda places: (places.hermes,), ("user",)),
    "zed": Target(editor_clients.zed, _in_config("zed")),
    "goose": Target(terminal_clients.goose, _in_config("goose")),
    "continue": Target(editor_clients.continue_, _at_home(".continue")),
    "amp": Target(terminal_clients.amp, _in_config("amp")),
    "aider": Target(terminal_clients.aider, _at_home(".aider.conf.yml", ".aider"), ("project", "user")),
}


def parts(client: str, site: Site) -> Parts:
    """All that an installation puts into files; InvalidInput where a client has no such scope."""
    target = TARGETS[client]
    if site.scope not in target.scopes:
        other = target.scopes[0]
        raise InvalidInput(
            f"{client} is installed for the {other} only", field="scope", remedy=f"hardwon install {client} --scope {other}"
        )
    return target.make(site)


def scopes(client: str) -> tuple[Scope, ...]:
    """The scopes that a client has, its default first."""
    return TARGETS[client].scopes


def signs(client: str, places: Places) -> tuple[str, ...]:
    """Files and folders that are there where the client is used on this machine."""
    return TARGETS[client].signs(places)
