"""Clients inside editors: which of their files get what."""

from __future__ import annotations

import os

from hardwon.agents import hook_events, lines
from hardwon.agents.parts import Entry, Part
from hardwon.agents.site import block, hooks, own_json, rule, server, skill, static

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.agents.site import Parts, Site
    from hardwon.settings import Places

# A server of the user's files is started in a folder of the editor's choice; these editors put in the one that is open.
_HERE = ("-C", "${workspaceFolder}")
CLINE_EVENTS = (
    "TaskStart",
    "TaskResume",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "TaskComplete",
    "TaskCancel",
)


def code_folder(places: Places) -> str:
    """Where VS Code keeps what belongs to the user."""
    above = os.path.join(places.home, "Library", "Application Support") if places.mac else places.config
    return os.path.join(above, "Code", "User")


def cursor(site: Site) -> Parts:
    """Hooks with the version that it asks for, a server; in a project a rule."""
    folder = site.at(os.path.join(site.places.home, ".cursor"), ".cursor")
    entries = (Entry(("version",), 1, "needed"), *hooks(hook_events.cursor(site.line("cursor")), "cursor"))
    said = {"description": "The memory of this repository: ask it before changing code", "alwaysApply": True}
    return (
        Part(os.path.join(folder, "hooks.json"), "json", ("hooks",), entries),
        Part(os.path.join(folder, "mcp.json"), "json", ("tools",), (server(site, arguments=_HERE),)),
        rule(os.path.join(folder, "rules", "hardwon.mdc"), said)
        if site.scope == "project"
        else skill(os.path.join(folder, "skills")),
    )


def vscode(site: Site) -> Parts:
    """A file of hooks for VS Code's agent and for Copilot's command line, and their servers."""
    copilot = os.path.join(site.places.home, ".copilot")
    events = hook_events.vscode(site.line("vscode"))
    told = own_json(
        site.at(os.path.join(copilot, "hooks", "hardwon.json"), ".github/hooks/hardwon.json"),
        ("hooks",),
        {"version": 1, "hooks": {event: [value] for event, value in events.items()}},
    )
    path = site.at(os.path.join(code_folder(site.places), "mcp.json"), ".vscode/mcp.json")
    servers = Part(path, "json", ("tools",), (server(site, {"type": "stdio"}, "servers", _HERE),))
    if site.scope == "project":
        return (told, servers, rule(os.path.join(site.root, ".github/instructions/hardwon.instructions.md"), {"applyTo": "**"}))
    entry = server(site, {"type": "local", "tools": ["*"]})
    return (told, servers, Part(os.path.join(copilot, "mcp-config.json"), "json", ("tools",), (entry,)))


def windsurf(site: Site) -> Parts:
    """Hooks that only listen and refuse; what is to be said goes into a rule or over the server."""
    folder = site.at(os.path.join(site.places.home, ".codeium", "windsurf"), ".windsurf")
    told = Part(
        os.path.join(folder, "hooks.json"), "json", ("hooks",), hooks(hook_events.windsurf(site.line("windsurf")), "windsurf")
    )
    if site.scope == "project":
        return (told, rule(os.path.join(folder, "rules", "hardwon.md"), {"trigger": "always_on"}))
    return (told, Part(os.path.join(folder, "mcp_config.json"), "json", ("tools",), (server(site),)))


def cline(site: Site) -> Parts:
    """One program a hook, named for its event; a rule in a project, a server for the user."""
    folder = site.at(os.path.join(site.places.home, "Documents", "Cline", "Hooks"), ".clinerules/hooks")
    script = static("cline.sh").replace("HARDWON", site.line("cline"))
    told = tuple(Part(os.path.join(folder, event), "script", ("hooks",), text=script) for event in CLINE_EVENTS)
    if site.scope == "project":
        return (*told, rule(os.path.join(site.root, ".clinerules", "hardwon.md")))
    kept = os.path.join(
        code_folder(site.places), "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"
    )
    alone = os.path.join(site.places.home, ".cline", "data", "settings", "cline_mcp_settings.json")
    return (*told, *(Part(path, "json", ("tools",), (server(site),)) for path in (kept, alone)))


def zed(site: Site) -> Parts:
    """A server; in a project its instructions."""
    path = site.at(os.path.join(site.places.config, "zed", "settings.json"), ".zed/settings.json")
    entry = {"command": site.program, "args": ["mcp"], "env": {}}
    settings = Part(path, "json", ("tools",), (Entry(("context_servers", lines.NAME), entry),))
    return (settings, block(os.path.join(site.root, "AGENTS.md"))) if site.scope == "project" else (settings,)


def continue_(site: Site) -> Parts:
    """A file for the server, and a rule."""
    folder = site.at(os.path.join(site.places.home, ".continue"), ".continue")
    value = {
        "name": "Hardwon", "version": "0.0.1", "schema": "v1",
        "mcpServers": [{"name": lines.NAME, "type": "stdio", "command": site.program, "args": ["mcp"]}],
    }  # fmt: skip
    return (
        own_json(os.path.join(folder, "mcpServers", "hardwon.yaml"), ("tools",), value),  # JSON is YAML
        rule(os.path.join(folder, "rules", "hardwon.md"), {"name": "Hardwon"}),
    )
