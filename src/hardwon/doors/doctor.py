"""``doctor``: what keeps Hardwon from working in the agents, and what to do about it. Changes nothing."""

from __future__ import annotations

import os
import shutil

from hardwon.agents import table, targets, tomltext
from hardwon.doors import configuration, hook_log, probing, program, render, wiring
from hardwon.doors.handle import Answer
from hardwon.doors.shapes import moment
from hardwon.doors.wired import look, plugin
from hardwon.errors import HardwonError, NoStore
from hardwon.settings import VERSION, places
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.doors.handle import Call
    from hardwon.doors.wired import Wired
    from hardwon.engine.core import Engine
    from hardwon.store.sessions.reads import Heartbeat

_HOUR = 3_600_000


def doctor(call: Call) -> Answer:
    """Everything that can be seen from here."""
    mine, found = _program()
    sites = {scope: wiring.site_of(call, scope) for scope in targets.SCOPES} if mine else {}
    wired = look(sites)
    found += _of_files(wired, mine)
    found += _doubled(wired)
    engine, trouble = _engine(call)
    beats = _heartbeats(engine)
    now = engine.clock() if engine else 0
    found += trouble
    found += _of_hooks(wired, beats, now, known=engine is not None)
    found += _of_store(call, engine) if engine is not None else hook_log.findings(call.settings.home)
    found += _of_servers(wired, mine, call.cwd)
    ok = not any(item.level == "error" for item in found)
    data = {
        "ok": ok, "program": mine, "version": VERSION, "findings": [dict(vars(item)) for item in found],
        "wired": [{**vars(one), "about": list(one.about), "programs": list(one.programs)} for one in wired],
        "heartbeats": [{**vars(beat), "at": moment(beat.at)} for beat in beats],
    }  # fmt: skip
    return Answer(_text(wired, beats, found, call.paint), data, 0 if ok else 1)


def _text(wired: Sequence[Wired], beats: Sequence[Heartbeat], found: Sequence[Finding], paint: render.Paint) -> str:
    rows = []
    for client, scope in dict.fromkeys((one.client, one.scope) for one in wired):
        about = dict.fromkeys(word for one in wired if (one.client, one.scope) == (client, scope) for word in one.about)
        last = max((beat.at for beat in beats if beat.client == client), default=0)
        called = f"; last called {render.when(last)}" if last else ""
        rows.append((client, f"{scope}: {', '.join(about)}{called}"))
    for client in dict.fromkeys(beat.client for beat in beats if all(one.client != beat.client for one in wired)):
        last = max(beat.at for beat in beats if beat.client == client)
        rows.append((client, f"by a plugin, or by files that are not known here; last called {render.when(last)}"))
    parts = [render.table(rows, paint) if rows else "no client is wired in: `hardwon install CLIENT`"]
    parts.append(render.findings(found, paint) if found else "nothing is wrong that can be seen from here")
    return "\n".join(parts)


def _program() -> tuple[str, list[Finding]]:
    try:
        return program.installed(), []
    except HardwonError as error:
        return "", [Finding("error", error.message, "program", error.remedy)]


# Files


def _of_files(wired: Sequence[Wired], mine: str) -> list[Finding]:
    found = []
    for one in wired:
        again = f"`hardwon install {one.client} --scope {one.scope}`"
        if one.trouble:
            found.append(
                Finding("error", f"{one.client} cannot read its configuration: {one.trouble}", one.path, "mend the file")
            )
            continue
        for started in one.programs:
            found += _of_program(one, started, mine, again)
        if not one.current and not any(item.where == one.path for item in found):
            found.append(Finding("warning", f"the entries of {one.client} are those of another version", one.path, again))
    return found


def _of_program(one: Wired, started: str, mine: str, again: str) -> list[Finding]:
    absolute = os.sep in started
    where = started if absolute else shutil.which(started)
    if not where:
        what = f"{one.client} calls `{started}`, which is not on the PATH: nothing happens then"
        return [Finding("warning", what, one.path, "put its folder on the PATH, or install for the user: --scope user")]
    if not program.is_program(where):
        return [Finding("error", f"{one.client} starts {where}, which is gone", one.path, again)]
    if os.path.realpath(where) == os.path.realpath(mine):
        return []
    if one.scope == "project" and absolute:
        # A repository's files may be anybody's: what they name is not started to find out what it is.
        what = f"{one.client} starts {where} in this repository, which is not the hardwon that is installed"
        return [Finding("warning", what, one.path, f"look at the file; {again}")]
    version = probing.version(where)
    if version == VERSION:
        return []
    what = f"{one.client} starts {where}, which is version {version or 'unknown'}; this is {VERSION}"
    return [Finding("warning", what, one.path, again)]


def _doubled(wired: Sequence[Wired]) -> list[Finding]:
    """The same call told twice: it is counted once, but costs two processes."""
    hooked = {(one.client, one.scope): one.path for one in wired if {"hooks", "plugin"} & set(one.about)}
    found = []
    for client in table.CLIENTS:
        if all((client, scope) in hooked for scope in targets.SCOPES):
            what = f"the hooks of {client} are there twice: for the user and for this project"
            found.append(Finding("warning", what, hooked[client, "project"], f"`hardwon uninstall {client} --scope project`"))
    claude = [scope for scope in targets.SCOPES if ("claude-code", scope) in hooked]
    if claude and (plugged := plugin()):
        what = "the hooks of claude-code are there twice: in the settings, and in the plugin"
        found.append(
            Finding("warning", what, plugged, f"`hardwon uninstall claude-code --scope {claude[0]}`, or remove the plugin")
        )
    other = next((hooked["vscode", scope] for scope in targets.SCOPES if ("vscode", scope) in hooked), "")
    if claude and other:
        what = "VS Code reads Claude Code's hooks as well as its own: each call is told twice there"
        found.append(Finding("note", what, other, "`hardwon uninstall vscode` keeps those of Claude Code"))
    return found


# Calls


def _of_hooks(wired: Sequence[Wired], beats: Sequence[Heartbeat], now: int, *, known: bool) -> list[Finding]:
    """Hooks that are configured and never called in this repository."""
    found: list[Finding] = []
    if not known:
        return found
    called = {beat.client for beat in beats}
    for client in dict.fromkeys(one.client for one in wired if {"hooks", "plugin"} & set(one.about)):
        row = table.row(client)
        if client in called or row is None or not row.dialect:
            continue
        path = next(one.path for one in wired if one.client == client and {"hooks", "plugin"} & set(one.about))
        fresh = now - os.stat(path).st_mtime * 1000 < _HOUR
        what = f"our hooks in {row.title} were never called in this repository"
        remedy = "start a session here; if this stays, see docs/install.md"
        if client == "codex" and not _is_trusted(path):
            what, remedy = (
                "Codex does not trust our hooks yet, and passes over them in silence",
                "start codex, type /hooks, and trust them",
            )
        found.append(Finding("note" if fresh and client != "codex" else "warning", what, path, remedy))
    return found


def _is_trusted(path: str) -> bool:
    """Whether Codex has noted that a person trusts hooks of this file."""
    config = os.path.join(places().codex, "config.toml")
    try:
        content = configuration.read(config)
        state = tomltext.at(tomltext.read(content.decode()), ("hooks", "state")) if content else None
    except (HardwonError, UnicodeDecodeError):
        return False
    return isinstance(state, dict) and any(path in key for key in state)


# The store


def _engine(call: Call) -> tuple[Engine | None, list[Finding]]:
    from hardwon.store.connection import refuse_unsafe

    if call.request.text("project"):
        return call.engine, []  # what was asked about by name has to be there
    try:
        refuse_unsafe()
        return call.engine, []
    except NoStore as error:
        return None, [Finding("note", f"hooks say nothing here: {error.message}", call.cwd, error.remedy)]
    except HardwonError as error:
        return None, [Finding("error", error.message, "store", error.remedy)]


def _heartbeats(engine: Engine | None) -> list[Heartbeat]:
    from hardwon.engine import session_file

    return session_file.heartbeats(engine) if engine is not None else []


def _of_store(call: Call, engine: Engine) -> list[Finding]:
    """What ``status`` finds, and whether it can be written."""
    from hardwon.doors.condition import condition

    found = list(condition(engine, call.settings.home).findings)
    path = engine.store.path
    locked = [where for where in (path, os.path.dirname(path)) if not os.access(where, os.W_OK)]
    what, remedy = "the store cannot be written: nothing is kept", "see to its owner and permissions"
    found += [Finding("error", what, where, remedy) for where in locked]
    return found


def _of_servers(wired: Sequence[Wired], mine: str, folder: str) -> list[Finding]:
    """Whether the server of tools answers, of each program that a client starts for it; none that only a repository names by its path."""
    tools = [(one.scope, started) for one in wired if "tools" in one.about for started in one.programs]
    named = [started for scope, started in tools if scope == "user" or os.sep not in started]
    found = []
    for started in dict.fromkeys(shutil.which(name) or "" for name in named or [mine]):
        if not started:
            continue
        offered, trouble = probing.tools(started, folder)
        if trouble:
            found.append(
                Finding("error", f"the server of tools does not answer: {trouble}", started, "run `hardwon mcp` by hand")
            )
        elif not offered:
            found.append(Finding("error", "the server of tools has no tools", started, "reinstall hardwon"))
    return found
