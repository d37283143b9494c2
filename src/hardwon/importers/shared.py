"""Memories as files of the repository (``.hardwon/memories/``), one each, so that branches merge and reviews read them.

A file holds what a line of docs/exchange.md holds, but for what changes with each use (how often and when it happened, who found it
useful) and what only one place can know of it: who said it, and its other names. So the same memory makes the same file in every clone.
What a file says of these all the same is not taken in: anybody who can propose a change to a repository writes it.
"""

from __future__ import annotations

import json
import os
import stat

from hardwon.errors import InvalidInput
from hardwon.importers.fields import is_identifier, parsed
from hardwon.importers.lines import from_object, to_line
from hardwon.importers.source import Incoming, open_file
from hardwon.types import SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.types import ExportedMemory

FOLDER = ".hardwon/memories"
END = ".json"
_NOT_OURS = ("occurrences", "seen", "useful", "useless", "updated_at", "replaced_by", "aliases", "origin")
_MOST_BYTES = 1 << 20
_MOST_FILES = 10_000


def write(item: ExportedMemory) -> str:
    """The text of a memory's file."""
    data = _without(json.loads(to_line(item)))
    return json.dumps({"hardwon": 1, **data}, ensure_ascii=False, indent=1) + "\n"


def _without(data: dict[str, Any]) -> dict[str, Any]:
    """What a file says that others may take over."""
    return {name: value for name, value in data.items() if name not in _NOT_OURS}


def names(root: str) -> list[str]:
    """The names of the files below a working tree, sorted; none where the folder is a link, or not there. What is no memory's name as
    well, so that it is told."""
    folder = os.path.join(root, FOLDER)
    for part in (os.path.dirname(folder), folder):
        try:
            if not stat.S_ISDIR(os.lstat(part).st_mode):  # a link could lead anywhere
                return []
        except OSError:
            return []
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(END))[:_MOST_FILES]
    except OSError:
        return []


def identifier(name: str) -> str:
    """The id of the memory that a file of that name holds; "" for a name that is none of ours."""
    stem = os.path.basename(name).removesuffix(END)
    return stem if is_identifier(stem) else ""


def read(root: str) -> Iterator[Incoming]:
    """What each file below a working tree offers."""
    for name in names(root):
        where = f"{FOLDER}/{name}"
        try:
            yield Incoming(where, read_one(os.path.join(root, FOLDER, name)))
        except InvalidInput as error:
            yield Incoming(where, wrong=error.message)


def read_one(path: str) -> ExportedMemory:
    """The memory of one file; InvalidInput says what is wrong with it."""
    source = open_file(path)
    try:
        text = source.text(_MOST_BYTES)
    finally:
        source.close()
    if text.startswith("<<<<<<<") or "\n<<<<<<<" in text:
        raise InvalidInput(
            "two branches changed it, and the conflict is not resolved yet", field="file", remedy="resolve it with git"
        )
    found = from_object({**_without(parsed(text.encode())), "origin": dict(vars(SHARED))})
    if not found.versions or not found.memory.id or found.memory.id != identifier(path):
        raise InvalidInput("its name is not the id of the memory that it holds", field="file", remedy="give it its name back")
    return found
