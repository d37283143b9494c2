"""Tools by their clients' names, and a tool call as a part of an event."""

from __future__ import annotations

from hardwon.agents import edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Edit, Tool

# A name that no table has is judged by the first of these that it contains; so new tools of a client are mostly understood.
_PARTS: tuple[tuple[str, Tool], ...] = (
    ("mcp", "mcp"), ("todo", "other"), ("patch", "edit"), ("replace", "edit"), ("edit", "edit"), ("delete_file", "edit"),
    ("insert", "edit"),
    ("write_stdin", "other"), ("writefile", "write"), ("write_file", "write"), ("write_to_file", "write"), ("create_file", "write"),
    ("bash", "shell"), ("shell", "shell"), ("terminal", "shell"), ("run_command", "shell"), ("exec", "shell"), ("grep", "search"),
    ("glob", "search"), ("search", "search"), ("find", "search"), ("list", "search"), ("read", "read"), ("view", "read"), ("task", "task"),
    ("agent", "task"),
)  # fmt: skip


def canonical(name: str, table: Mapping[str, Tool]) -> Tool:
    """Our word for a client's tool."""
    known = table.get(name)
    if known is not None or not name:
        return known or ""
    folded = name.lower()
    return next((tool for part, tool in _PARTS if part in folded), "other")


def call(name: str, given: Mapping[str, object], table: Mapping[str, Tool], identifier: str = "") -> dict[str, Any]:
    """The fields of an event that tell which tool is called with what; empty for no tool."""
    tool = canonical(name, table)
    if not tool:
        return {}
    changed: tuple[Edit, ...] = edits.changed(tool, name, given)
    return {
        "tool": tool,
        "tool_name": name,
        "call": identifier,
        "command": edits.command(given) if tool == "shell" else "",
        "edits": changed,
        "paths": edits.paths(given, changed),
    }
