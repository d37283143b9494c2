"""What is handed out as folders: the plugin of Claude Code and Codex with its marketplace, the extension of Gemini CLI, the entry of the
registry of servers, the bundle of desktop clients, the feature of dev containers. Texts by their path; nothing is written here."""

from __future__ import annotations

import json

from hardwon.agents import hook_events
from hardwon.agents.site import static
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The registry's schema of server.json, and the manifest of .mcpb, that were current when this was written.
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
BUNDLE_VERSION = "0.4"
# The registry lets only the owner of a name publish under it.
SERVER_NAME = "io.github.hardwon/hardwon"
# At most 100 characters: the registry takes no more.
ABOUT = "What a repository has taught: decisions, failed attempts, rules, lessons. Local and crash-safe."
_AUTHOR = {"name": "The Hardwon authors"}


class File(Value):
    """One file; ``program``: it is to be started."""

    text: str
    program: bool = False


def files(version: str) -> dict[str, File]:
    """Everything, by its path below the folder."""
    return {
        **_plugin(version),
        **_gemini(version),
        **_feature(version),
        "server.json": _json(_server(version)),
        **{f"mcpb/{name}": file for name, file in bundle(version).items()},
    }


def _json(value: Any) -> File:
    return File(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _common() -> dict[str, File]:
    return {
        "README.md": File(static("bundle/README.md")),
        "LICENSE": File(static("LICENSE")),
        "scripts/run.sh": File(static("bundle/run.sh"), program=True),
        "skills/hardwon/SKILL.md": File(static("skill/SKILL.md")),
    }


def _plugin(version: str) -> dict[str, File]:
    """One folder for both. The hooks are shell lines: the form with a list of arguments is passed over by Codex."""
    run = '"${CLAUDE_PLUGIN_ROOT}"/scripts/run.sh'
    hooks = {event: [group] for event, group in hook_events.plugin(f"{run} hook").items()}
    plugin = {
        "name": "hardwon", "version": version, "description": ABOUT, "author": _AUTHOR, "license": "Apache-2.0",
        "keywords": ["memory", "hooks", "git"],
        "mcpServers": {"hardwon": {"command": "${CLAUDE_PLUGIN_ROOT}/scripts/run.sh", "args": ["mcp"]}},
    }  # fmt: skip
    market = {
        "name": "hardwon", "owner": _AUTHOR, "metadata": {"description": "Hardwon, from a folder of this machine"},
        "plugins": [{"name": "hardwon", "source": "./plugin", "description": ABOUT}],
    }  # fmt: skip
    return {
        ".claude-plugin/marketplace.json": _json(market),
        "plugin/.claude-plugin/plugin.json": _json(plugin),
        "plugin/hooks/hooks.json": _json({"description": "Hardwon tells and learns", "hooks": hooks}),
        **{f"plugin/{name}": file for name, file in _common().items()},
    }


def _gemini(version: str) -> dict[str, File]:
    run = "${extensionPath}/scripts/run.sh"
    hooks = {event: [group] for event, group in hook_events.gemini(f'"{run}" hook gemini').items()}
    extension = {
        "name": "hardwon", "version": version, "description": ABOUT,
        "mcpServers": {"hardwon": {"command": run, "args": ["mcp"]}},
    }  # fmt: skip
    return {
        "gemini-extension/gemini-extension.json": _json(extension),
        "gemini-extension/hooks/hooks.json": _json({"hooks": hooks}),
        **{f"gemini-extension/{name}": file for name, file in _common().items()},
    }


def _server(version: str) -> dict[str, Any]:
    return {
        "$schema": SERVER_SCHEMA,
        "name": SERVER_NAME,
        "title": "Hardwon",
        "description": ABOUT,
        "version": version,
        "packages": [
            {
                "registryType": "pypi", "identifier": "hardwon", "version": version, "runtimeHint": "uvx", "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "environmentVariables": [
                    {"name": "HARDWON_HOME", "description": "Where memories are kept (default: the XDG data folder).", "isRequired": False}
                ],
            }
        ],
    }  # fmt: skip


def bundle(version: str) -> dict[str, File]:
    """What a .mcpb archive holds: the server as a package that uv installs, for one repository that the person chooses."""
    manifest = {
        "manifest_version": BUNDLE_VERSION, "name": "hardwon", "display_name": "Hardwon", "version": version, "description": ABOUT,
        "author": _AUTHOR, "license": "Apache-2.0", "keywords": ["memory", "git"],
        "server": {
            "type": "uv", "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py", "-C", "${user_config.repository}", "mcp"],
            },
        },
        "user_config": {
            "repository": {
                "type": "directory", "title": "Repository", "description": "The one whose memory is asked; `hardwon init` makes one.",
                "required": True,
            }
        },
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": ">=3.11"}},
    }  # fmt: skip
    project = (
        f'[project]\nname = "hardwon-bundle"\nversion = "{version}"\n'
        f'requires-python = ">=3.11"\ndependencies = ["hardwon=={version}"]\n'
    )
    return {
        "manifest.json": _json(manifest),
        "pyproject.toml": File(project),
        "server.py": File(
            '"""Starts the server of tools."""\n\nimport sys\n\nfrom hardwon.doors.cli import main\n\nsys.exit(main())\n'
        ),
        "LICENSE": File(static("LICENSE")),
    }


def _feature(version: str) -> dict[str, File]:
    """A volume of its own keeps the memories where a container, or a codespace, is built anew."""
    feature = {
        "id": "hardwon", "version": version, "name": "Hardwon", "description": ABOUT, "licenseURL": "https://www.apache.org/licenses/LICENSE-2.0",
        "options": {
            "version": {"type": "string", "default": "latest", "description": "The version of hardwon."},
            "package": {"type": "string", "default": "hardwon", "description": "What pip installs: a name, a URL or a path."},
        },
        "containerEnv": {"HARDWON_HOME": "/var/lib/hardwon"},
        "mounts": [{"source": "hardwon-${devcontainerId}", "target": "/var/lib/hardwon", "type": "volume"}],
        "installsAfter": ["ghcr.io/devcontainers/features/common-utils", "ghcr.io/devcontainers/features/python"],
    }  # fmt: skip
    return {
        "devcontainer-feature/hardwon/devcontainer-feature.json": _json(feature),
        "devcontainer-feature/hardwon/install.sh": File(static("bundle/install.sh"), program=True),
        "devcontainer-feature/hardwon/LICENSE": File(static("LICENSE")),
    }
