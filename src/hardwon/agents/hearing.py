"""At which moments a client hands on what a hook says. At others it is lost, so that nothing counts as told then."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Moment

_MOST: tuple[Moment, ...] = ("start", "prompt", "before", "after")
_FEWER: dict[str, tuple[Moment, ...]] = {
    "gemini": ("start", "prompt", "after"),
    "cursor": ("start", "prompt", "after"),
    "vscode": ("start", "before", "after"),
    "windsurf": (),
}
_BESIDE_REFUSAL = ("claude-code", "codex", "cline")


def hears(client: str, moment: Moment) -> bool:
    """Whether context reaches the agent at this moment; a refusal does before every tool."""
    return moment in _FEWER.get(client, _MOST)


def hears_beside_refusal(client: str) -> bool:
    """Whether context that is sent together with a refusal reaches the agent as well."""
    return client in _BESIDE_REFUSAL
