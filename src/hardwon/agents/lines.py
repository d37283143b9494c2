"""How a client calls us, as text in its configuration: hook lines and server entries, and how ours are known again.

The line never names a version: Codex trusts a hook by the digest of its text, and would ask again after each upgrade.
"""

from __future__ import annotations

import re
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME = "hardwon"
# By this a file that is ours as a whole is known again.
MADE = f"Made by `{NAME} install"
REMARK = f"{MADE}`, removed by `{NAME} uninstall`; changes here are lost."
_HOOK = re.compile(r"""(?:^|[\s/\\"'])hardwon(?:\.exe)?["']?\s+hook\s+([a-z-]+)\s*$""")


def hook(program: str, client: str) -> str:
    """The shell's line for a hook. A program without a folder is one that the PATH is to find; where it does not (a colleague's clone of a
    repository with this line, who has no Hardwon), the line does nothing, in silence."""
    if "/" not in program and "\\" not in program:
        return f"! command -v {program} >/dev/null || {program} hook {client}"
    return f"{shlex.quote(program)} hook {client}"


def client_of(line: object) -> str:
    """The client that a hook line of ours speaks to; "" where it is not ours."""
    found = _HOOK.search(line) if isinstance(line, str) else None
    return found[1] if found else ""


def program_of(line: str) -> str:
    """The program that a hook line of ours starts."""
    try:
        words = shlex.split(line)
    except ValueError:
        return ""
    return words[-3] if len(words) >= 3 else ""


def handler(entry: Any) -> str:
    """The client that one hook entry speaks to, whatever key its client keeps the line under; "" where it is not ours."""
    if not isinstance(entry, dict):
        return ""
    return next((name for key in ("command", "bash") if (name := client_of(entry.get(key)))), "")


def is_group(entry: Any) -> bool:
    """Whether a hook entry is a group: a matcher and a list of handlers."""
    return isinstance(entry, dict) and isinstance(entry.get("hooks"), list)


def is_ours(entry: Any, client: str) -> bool:
    """Whether a hook entry is for this client and ours as a whole."""
    if is_group(entry):
        return bool(entry["hooks"]) and all(handler(one) == client for one in entry["hooks"])
    return handler(entry) == client


def started(value: Any) -> Iterator[dict[str, Any]]:
    """Whatever starts a program in a configuration: hooks and servers, however deep."""
    if isinstance(value, dict) and ("command" in value or "bash" in value):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from started(item)


def is_us(entry: dict[str, Any]) -> bool:
    """Whether what an entry starts is us: a hook of ours, or our server."""
    program, arguments = entry.get("command"), entry.get("args")
    server = isinstance(program, str) and isinstance(arguments, list) and arguments[-1:] == ["mcp"]
    return bool(handler(entry)) or (server and re.split(r"[/\\]", str(program))[-1].removesuffix(".exe") == NAME)
