"""Tool calls as transcripts tell them: understood as in hooks, and kept until their end is told."""

from __future__ import annotations

from hardwon.agents import fields, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.capture.event import Tool

    # The fields of an event that tell which tool is called with what.
    Call = dict[str, Any]

_MOST_WAITING = 2_000  # calls without an end: their clients were killed
_FOLDERS = ("workdir", "working_directory", "directory", "dir_path", "cwd")  # in which a command runs
# Names that tell too little by themselves; the rest is known by its parts. Lists of tasks are lists: no subagent works on them.
_TOOLS: dict[str, Tool] = {
    "Write": "write", "write": "write", "LS": "search", "ls": "search", "Glob": "search", "TaskCreate": "other", "TaskUpdate": "other",
    "TaskList": "other", "TaskGet": "other",
}  # fmt: skip


def begun(name: str, given: Mapping[str, Any], identifier: str) -> Call:
    """A call by the name that its client gives the tool, and by its arguments. With ``cwd`` where a command says itself in which folder it
    runs."""
    told = fields.word({"name": name}, "name") or "unknown"
    call = tools.call(told, given, _TOOLS, identifier)
    folder = fields.path(given, *_FOLDERS) if call["tool"] == "shell" else ""
    return call | {"cwd": folder} if folder.startswith("/") or folder[1:2] == ":" else call


def keep(waiting: dict[str, Call], call: Call) -> None:
    """Remember a call until its end is told; of too many the oldest go."""
    waiting[call["call"]] = call
    if len(waiting) > _MOST_WAITING:
        del waiting[next(iter(waiting))]
