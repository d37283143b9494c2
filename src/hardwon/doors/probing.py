"""Programs that the clients start, tried once: which version they are, and whether the server of tools answers."""

from __future__ import annotations

import json
import subprocess

_SECONDS = 10
_CALLS = (
    {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hardwon-doctor", "version": "1"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)  # fmt: skip


def version(program: str) -> str:
    """What ``program --version`` says behind its name; "" where it says nothing."""
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip().removeprefix("hardwon ")[:40] if done.returncode == 0 else ""


def tools(program: str, folder: str) -> tuple[list[str], str]:
    """The tools that ``program mcp`` offers in a folder, and why it offers none, "" where it answered. The process ends with its input."""
    lines = "".join(json.dumps(call) + "\n" for call in _CALLS)
    try:
        done = subprocess.run(
            [program, "mcp"], cwd=folder, input=lines.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return [], f"nothing within {_SECONDS} seconds"
    except OSError as error:
        return [], str(error.strerror)
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            return [], "it prints what is not JSON"
        if isinstance(answer, dict) and answer.get("id") == 2:
            listed = answer.get("result", {}).get("tools", [])
            return [str(tool.get("name")) for tool in listed], ""
    last = done.stderr.decode(errors="replace").strip().splitlines()
    return [], last[-1][:200] if last else f"it ended with {done.returncode}"
