"""Which client of the table speaks, by the name that a program gives itself over MCP."""

from __future__ import annotations

from hardwon.agents.table import CLIENTS

_LONGEST = 60
# Names that do not begin with the row's.
_OTHERS = (
    ("visual-studio-code", "vscode"),
    ("github-copilot", "vscode"),
    ("claude-ai", "claude-desktop"),
)


def client(name: str) -> str:
    """The row's name for ``codex-mcp-client`` or ``Visual Studio Code``; of a program that has no row its own name, in one word of plain
    letters; "" where nothing is left of it."""
    word = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    for begins, client in (*((one, one) for one in CLIENTS), *_OTHERS):
        if word == begins or word.startswith(f"{begins}-"):
            return client
    return "".join(char for char in word[:_LONGEST] if char.isascii() and (char.isalnum() or char in "-./"))
