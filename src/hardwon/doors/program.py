"""Which program the clients are told to start: the command as it is installed, by a path that stays over upgrades."""

from __future__ import annotations

import os
import shutil
import sys

from hardwon.errors import InvalidInput

NAME = "hardwon"
# Folders of environments that are made for one run, and gone with a cache.
_PASSING = ("/uv/archive-v", "/uv/environments-v", "/uv/builds-v", "/pipx/.cache/", "/pipx/run/")


def installed() -> str:
    """The absolute path of the command that runs now. Links are kept: installers let them lead to the newest version."""
    named = os.path.abspath(sys.argv[0]) if sys.argv and os.sep in sys.argv[0] else ""
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), NAME)
    on_path = shutil.which(NAME)
    choices = (named, on_path and os.path.abspath(on_path), beside)
    found = next((one for one in choices if one and os.path.basename(one) == NAME and is_program(one)), "")
    if not found:
        raise InvalidInput(
            "the command hardwon is not installed", field="program", remedy="pipx install hardwon, or uv tool install hardwon"
        )
    if any(part in os.path.realpath(found) for part in _PASSING):
        raise InvalidInput(
            f"{found} is there for one run only, and clients would not find it later",
            field="program",
            remedy="uv tool install hardwon, or pipx install hardwon; then again",
        )
    return found


def is_program(path: str) -> bool:
    """Whether a path leads to something that can be started."""
    return os.path.isfile(path) and os.access(path, os.X_OK)
