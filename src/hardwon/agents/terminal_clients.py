"""Clients of the terminal: which of their files get what."""

from __future__ import annotations

import json
import os

from hardwon.agents import hook_events, lines
from hardwon.agents.parts import Entry, Part
from hardwon.agents.site import block, hooks, page, server, skill, static

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.agents.site import Parts, Site


def claude_code(site: Site) -> Parts:
    """Hooks in the settings, the server in a file of its own."""
    places = site.places
    settings = site.at(os.path.join(places.claude, "settings.json"), ".claude/settings.json")
    return (
        Part(settings, "json", ("hooks",), hooks(hook_events.claude(site.line("claude-code")), "claude-code")),
        Part(site.at(places.claude_state, ".mcp.json"), "json", ("tools",), (server(site, {"type": "stdio"}),)),
        skill(site.at(os.path.join(places.claude, "skills"), ".claude/skills")),
    )


def codex(site: Site) -> Parts:
    """Hooks in a file of their own, the server in the configuration."""
    folder = site.at(site.places.codex, ".codex")
    return (
        Part(os.path.join(folder, "hooks.json"), "json", ("hooks",), hooks(hook_events.codex(site.line("codex")), "codex")),
        Part(os.path.join(folder, "config.toml"), "toml", ("tools",), (server(site, key="mcp_servers"),)),
        skill(site.at(os.path.join(folder, "skills"), ".agents/skills")),
    )


def gemini(site: Site) -> Parts:
    """Both in the settings."""
    folder = site.at(site.places.gemini, ".gemini")
    entries = (*hooks(hook_events.gemini(site.line("gemini")), "gemini"), server(site))
    return (
        Part(os.path.join(folder, "settings.json"), "json", ("hooks", "tools"), entries),
        skill(os.path.join(folder, "skills")),
    )


def opencode(site: Site) -> Parts:
    """The server in the configuration, and a plugin for what others do by hooks."""
    folder = site.at(os.path.join(site.places.config, "opencode"), ".opencode")
    base = folder if site.scope == "user" else site.root
    name = next((name for name in ("opencode.jsonc", "opencode.json") if site.exists(os.path.join(base, name))), "opencode.json")
    entry = {"type": "local", "command": [site.program, "mcp"], "enabled": True}
    plugin = static("opencode.js").replace('"HARDWON"', json.dumps(site.program, ensure_ascii=False))
    return (
        Part(os.path.join(base, name), "json", ("tools",), (Entry(("mcp", lines.NAME), entry),)),
        Part(os.path.join(folder, "plugin", "hardwon.js"), "file", ("plugin",), text=plugin),
        skill(os.path.join(folder, "skill")),
    )


def openhands(site: Site) -> Parts:
    """Hooks where it looks for them first; its servers are the user's."""
    folder = site.at(os.path.join(site.places.home, ".openhands"), ".openhands")
    entries = hooks(hook_events.openhands(site.line("openhands")), "openhands")
    parts = (
        Part(os.path.join(folder, "hooks.json"), "json", ("hooks",), entries),
        skill(site.at(os.path.join(site.places.home, ".agents", "skills"), ".agents/skills")),
    )
    if site.scope == "project":
        return parts
    return (*parts, Part(os.path.join(folder, "mcp.json"), "json", ("tools",), (server(site),)))


def hermes(site: Site) -> Parts:
    """A memory provider, chosen where no other one is, and a skill."""
    folder = site.places.hermes
    plugin = os.path.join(folder, "plugins", lines.NAME)
    provider = static("hermes/provider.txt").replace('"HARDWON"', json.dumps(site.program))
    return (
        Part(os.path.join(plugin, "__init__.py"), "file", ("plugin",), text=provider),
        Part(os.path.join(plugin, "plugin.yaml"), "file", ("plugin",), text=static("hermes/plugin.yaml")),
        Part(os.path.join(folder, "config.yaml"), "yaml", ("plugin",), (Entry(("memory", "provider"), lines.NAME, "needed"),)),
        skill(os.path.join(folder, "skills", "software-development")),
    )


def goose(site: Site) -> Parts:
    """An extension, which only the user has; in a project its instructions."""
    if site.scope == "project":
        return (block(os.path.join(site.root, "AGENTS.md")),)
    entry = {
        "name": "Hardwon", "type": "stdio", "cmd": site.program, "args": ["mcp"], "envs": {}, "timeout": 60, "enabled": True,
    }  # fmt: skip
    path = os.path.join(site.places.config, "goose", "config.yaml")
    return (Part(path, "yaml", ("tools",), (Entry(("extensions", lines.NAME), entry),)),)


def amp(site: Site) -> Parts:
    """A server, under a key that has a dot in it; in a project its instructions."""
    path = site.at(os.path.join(site.places.config, "amp", "settings.json"), ".amp/settings.json")
    settings = Part(path, "json", ("tools",), (server(site, key="amp.mcpServers"),))
    return (settings, block(os.path.join(site.root, "AGENTS.md"))) if site.scope == "project" else (settings,)


def aider(site: Site) -> Parts:
    """It has neither tools nor hooks: a file that it reads at its start, with words of its own."""
    folder = site.at(site.places.home, "")
    told = os.path.join(folder, ".aider.hardwon.md")
    listed = told if site.scope == "user" else ".aider.hardwon.md"
    entry = Entry(("read",), listed, "item")
    return (
        page(told, "instructions", static("aider.md")),
        Part(os.path.join(folder, ".aider.conf.yml"), "yaml", ("instructions",), (entry,)),
    )
