"""The clients that Hardwon is wired into: one row each. Quick to load: every hook reads it."""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    # How well a client is supported. hooks: hooks, tools and a skill, tried with the real client; fixtures: hooks, tried on recorded
    # payloads (of Hermes its memory provider, over a stand-in); basic: tools and instructions only.
    Tier = Literal["hooks", "fixtures", "basic"]


class Client(Value):
    """``dialect``: the module of agents/dialects that reads its hooks and answers them, "" where it has none."""

    name: str
    title: str
    tier: Tier
    dialect: str = ""


_ROWS: tuple[Client, ...] = (
    Client("claude-code", "Claude Code", "hooks", "claude"),
    Client("codex", "Codex CLI", "hooks", "codex"),
    Client("gemini", "Gemini CLI", "hooks", "gemini"),
    Client("opencode", "OpenCode", "hooks", "opencode"),
    Client("cursor", "Cursor", "fixtures", "cursor"),
    Client("vscode", "VS Code and Copilot", "fixtures", "vscode"),
    Client("windsurf", "Windsurf", "fixtures", "windsurf"),
    Client("cline", "Cline", "fixtures", "cline"),
    Client("openhands", "OpenHands", "fixtures", "openhands"),
    Client("hermes", "Hermes Agent", "fixtures"),
    Client("zed", "Zed", "basic"),
    Client("goose", "Goose", "basic"),
    Client("continue", "Continue", "basic"),
    Client("amp", "Amp", "basic"),
    Client("aider", "Aider", "basic"),
)
CLIENTS = tuple(client.name for client in _ROWS)


def row(name: str) -> Client | None:
    """The row of a client; None where there is none of that name."""
    return next((client for client in _ROWS if client.name == name), None)
