"""Who is calling: a person at a terminal, or an agent. Decided here, never by what the caller says of itself."""

from __future__ import annotations

import os

from hardwon.doors.parse import plain
from hardwon.types import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.settings import Settings

# Variables that clients set for the commands they run, and the client's name.
MARKERS = (
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "cursor"),
    ("CLINE_ACTIVE", "cline"),
    ("GOOSE_TERMINAL", "goose"),
    ("AGENT", "agent"),
    ("AI_AGENT", "agent"),
)


def origin(environment: Mapping[str, str], settings: Settings) -> Origin:
    """The origin of what this process writes. An agent with a pseudo-terminal can pass for a person; docs/trust.md says so."""
    for variable, value in (("HARDWON_SESSION", settings.session), ("HARDWON_CLIENT", settings.client)):
        if value:
            plain(value, variable, variable)
    client = next((name for variable, name in MARKERS if environment.get(variable)), "")
    if client or settings.client or not has_terminal():
        return Origin("agent", settings.client or client, settings.session, "cli")
    return Origin("person", "", settings.session, "cli")


def has_terminal() -> bool:
    """Whether the process has a controlling terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
