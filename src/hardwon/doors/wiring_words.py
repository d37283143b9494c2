"""What ``install`` and ``uninstall`` say: the difference of the files, what was done, what is left to the person."""

from __future__ import annotations

import difflib

from hardwon.agents import table
from hardwon.doors import render
from hardwon.intake.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.agents.site import Site
    from hardwon.doors.configuration import Change

_NOTES = {
    ("claude-code", "project"): "Claude Code asks once whether the server of .mcp.json may be used: answer yes, or see /mcp.",
    ("codex", "user"): "Codex runs new hooks only after you trust them: start codex, type /hooks, and trust those of hardwon.",
    ("codex", "project"): "Codex reads a project's .codex only where the project is trusted, and its hooks only after /hooks.",
    ("gemini", "project"): "Gemini CLI runs a project's hooks only in a trusted folder, and warns of new ones once.",
    ("opencode", "user"): "OpenCode loads the plugin at its next start.",
    ("opencode", "project"): "OpenCode loads the plugin at its next start.",
}
_SHARED = (
    "These files call `hardwon` by name, for colleagues to share: it has to be on the PATH, and is passed over where it is not."
)


def found(clients: Sequence[str]) -> str:
    """Which clients are on this machine."""
    return "on this machine: " + (", ".join(clients) or "none that is known; known are " + ", ".join(table.CLIENTS))


def diff(changes: Sequence[Change]) -> str:
    """The changes as a unified difference. Lines around ours can hold a person's tokens: those are left out."""
    pieces = []
    for change in changes:
        before, after = (_lines(content) for content in (change.before, change.after))
        names = ("/dev/null" if change.before is None else change.path, "/dev/null" if change.after is None else change.path)
        pieces += [line.rstrip("\r\n") for line in difflib.unified_diff(before, after, *names)]
    return redact("\n".join(pieces))[0]


def _lines(content: bytes | None) -> list[str]:
    return content.decode().splitlines(keepends=True) if content else []


def painted(text: str, paint: render.Paint) -> str:
    """A difference in colours."""
    styles = {"+": "green", "-": "red", "@": "dim"}
    return "\n".join(paint(styles[line[0]], line) if line[:1] in styles else line for line in text.splitlines())


def question(changes: Sequence[Change]) -> str:
    """What the person is asked."""
    return f"change {render.plural(len(changes), 'file', 'files')}: {', '.join(change.path for change in changes)}?"


def report(verb: str, wanted: Sequence[tuple[str, Site]], changes: Sequence[Change], shown: str, paint: render.Paint) -> str:
    """What was done, file by file, or with a difference what would be."""
    if not changes:
        return "nothing of hardwon is installed there"
    lines = [painted(shown, paint)] if shown else []
    lines += [f"{change.action:<10}{change.path}" for change in changes]
    if all(change.action == "unchanged" for change in changes):
        lines.append("everything is as it should be" if verb == "install" else "nothing of hardwon was in these files")
    return "\n".join([*lines, *notes(verb, wanted, changes)])


def notes(verb: str, wanted: Sequence[tuple[str, Site]], changes: Sequence[Change]) -> list[str]:
    """What is left to the person."""
    if verb != "install":
        return []
    lines = [_NOTES[key] for client, site in wanted if (key := (client, site.scope)) in _NOTES]
    if any(site.scope == "project" for _, site in wanted):
        lines.append(_SHARED)
    lines += [f"{change.path} is somebody else's and was left as it is." for change in changes if not change.owners]
    return lines
