"""What ``install`` and ``uninstall`` say: the difference of the files, what was done, what is left to the person."""

from __future__ import annotations

import difflib
import os

from hardwon.agents import table
from hardwon.doors import render
from hardwon.intake.redact import redact
from hardwon.settings import default_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.agents.site import Site
    from hardwon.doors.configuration import Change
    from hardwon.doors.wired import Here

NOTHING_WRITTEN = "nothing was written"
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


def listed(found: Sequence[Here], paint: render.Paint) -> str:
    """Which clients are on this machine, which of them are wired, and how to go on."""
    if not found:
        known = ", ".join(table.CLIENTS)
        return f"no client that is known was found on this machine; next: hardwon install CLIENT, one of {known}"
    rows = [(one.client, f"{one.title}, {_state(one)}") for one in found]
    others = ", ".join(name for name in table.CLIENTS if all(name != one.client for one in found))
    next_ = "next: hardwon install CLIENT, or hardwon install --all for every client above"
    if all(one.wired for one in found):
        next_ = "`hardwon doctor` looks whether it works"
    return "\n".join((render.table(rows, paint), next_, *([f"known as well: {others}"] if others else ())))


def _state(one: Here) -> str:
    return f"wired ({', '.join(one.wired)})" if one.wired else "not wired"


def offered(waiting: Sequence[Here]) -> list[str]:
    """The line of ``init`` about clients that could be wired."""
    if not waiting:
        return []
    titles = ", ".join(one.title for one in waiting)
    how = f"hardwon install {waiting[0].client}" if len(waiting) == 1 else "hardwon install CLIENT, or --all"
    return [f"next: {how} (on this machine and not wired: {titles})"]


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


def report(
    verb: str, wanted: Sequence[tuple[str, Site]], changes: Sequence[Change], shown: str | None, paint: render.Paint
) -> str:
    """What was done, file by file; with a difference, be it empty, what would be."""
    if not changes:
        return "nothing of hardwon is installed there"
    lines = [painted(shown, paint)] if shown else []
    real = any(change.action != "unchanged" for change in changes)
    would = "" if shown is None or not real else "would be "
    width = max(len(_done(change, would)) for change in changes) + 1
    lines += [f"{_done(change, would):<{max(width, 10)}}{change.path}" for change in changes]
    if not real:
        lines.append("everything is as it should be" if verb == "install" else "nothing of hardwon was in these files")
    return "\n".join([*lines, *notes(verb, wanted, changes), *([NOTHING_WRITTEN] if shown is not None else [])])


def _done(change: Change, would: str) -> str:
    return change.action if change.action == "unchanged" else would + change.action


def notes(verb: str, wanted: Sequence[tuple[str, Site]], changes: Sequence[Change]) -> list[str]:
    """What is left to the person."""
    if verb != "install":
        return []
    lines = [_NOTES[key] for client, site in wanted if (key := (client, site.scope)) in _NOTES]
    if any(site.scope == "project" for _, site in wanted):
        lines.append(_SHARED)
    client = wanted[0][0] if len(wanted) == 1 else "CLIENT"
    lines += [_left(change, client) for change in changes if not change.owners]
    return [*lines, *of_home()] if wanted else lines


def _left(change: Change, client: str) -> str:
    """Of a file that is not ours, and how to have ours all the same."""
    also = f"have it call `hardwon hook {client}`, or " if "hooks" in change.about else ""
    return f"{change.path} is somebody else's and is left as it is: {also}move it away and install again."


def of_home() -> list[str]:
    """A note where this shell names a folder for the memories: the files that are written do not, and a client may be started elsewhere."""
    home, usual = (default_home(one) for one in (os.environ, {**os.environ, "HARDWON_HOME": ""}))
    if home == usual:
        return []
    return [
        f"HARDWON_HOME is set here, and is not written into these files: what starts without it, from the desktop or another shell, looks "
        f"into {usual}, finds no memory and says nothing. Set it for the whole login, not for this shell alone."
    ]
