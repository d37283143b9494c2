"""What lies in the folders of a client: entries in order, settings, first lines. What cannot be read is as if it were not there."""

from __future__ import annotations

import os
from itertools import islice

from hardwon.errors import InvalidInput
from hardwon.importers.source import open_file
from hardwon.importers.transcripts.records import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_FILES = 50_000  # that are looked at, of one client
_SMALL = 4 << 20  # bytes of a file of settings


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What lies in a folder, by name."""
    try:
        with os.scandir(folder) as found:
            return sorted(islice(found, MOST_FILES), key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def folders(folder: str) -> list[str]:
    """The folders in a folder, without those that are links."""
    return [entry.path for entry in entries(folder) if entry.is_dir(follow_symlinks=False)]


def settings(path: str, most: int = _SMALL) -> dict[str, Any]:
    """A file of settings as an object; {} for none."""
    try:
        source = open_file(path)
        try:
            found = parsed(source.text(most))
        finally:
            source.close()
    except InvalidInput:
        return {}
    return found if isinstance(found, dict) else {}


def first_line(path: str) -> str:
    """The first line of a file, "" for none."""
    try:
        source = open_file(path)
        try:
            return source.text(_SMALL).partition("\n")[0].strip()
        finally:
            source.close()
    except InvalidInput:
        return ""
