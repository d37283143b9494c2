"""How git is called, wherever it is started from: offline, deaf to the user's settings and to the variables of a git around us."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SETTINGS = (
    "core.quotepath=off",
    f"core.attributesFile={os.devnull}",
    # Git holds a file of a diff in memory, both sides of it. What is larger than this was made by a program.
    "core.bigFileThreshold=64m",
    "diff.suppressBlankEmpty=false",
    # Commands that a repository's own configuration may name. Even diff-tree, which needs no working tree, asks the file monitor.
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
)
# A caller's own git (a hook, an alias) leaves variables that would point elsewhere or change the output; these may stay.
_KEPT = ("GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG_")
# A partial clone would fetch each missing file by itself, over the network.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1", "GIT_PAGER": "cat", "LC_ALL": "C"}
# Into a pipe git would write each line by itself: a third of its time where it lists commits (curl's 39,000: .31 s for .42 s of the
# processor), and ten times that of whoever reads it. Nobody waits for single lines; where one does, git has a way of its own.
_QUIET["GIT_FLUSH"] = "0"
_TRUE = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/nonexistent/grafts"}
# diff-tree reads the index, which it does not need here, and dies if it is damaged.
_QUIET["GIT_INDEX_FILE"] = "/nonexistent/index"


def command(root: str, arguments: Sequence[str]) -> list[str]:
    """Git's command line for a question about the folder ``root``."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    return ["git", "--no-pager", "-C", root, *settings, *arguments]


def environment() -> dict[str, str]:
    """The process's environment without what belongs to another git, and with what keeps ours quiet."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {**kept, **_QUIET, **_OFFLINE, **_TRUE}
