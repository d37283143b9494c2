"""Working trees that a command line adds beside the one it runs in. Pure and light."""

from __future__ import annotations

from posixpath import join, normpath

from hardwon.capture.programs import proper
from hardwon.capture.shell import handed_on, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WITH_VALUE = frozenset(("-b", "-B", "--reason"))
_OF_GIT = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))


def added(command: str, cwd: str, deepest: int = 3) -> tuple[tuple[str, str], ...]:
    """The folders that ``git worktree add`` makes working trees, each behind the folder that git runs in; both absolute. What a variable
    names is not known."""
    if "worktree" not in command:
        return ()
    found: list[tuple[str, str]] = []
    for simple in split(command):
        words = proper(simple.words)
        if words[:1] == ("cd",):
            cwd = _placed(words[1], cwd) if len(words) > 1 else ""
            continue
        text = handed_on(simple)
        if text and deepest:
            found += added(text, cwd, deepest - 1)
        elif words[:1] == ("git",):
            found += _of_git(words[1:], cwd)
    return tuple(found)


def _of_git(words: Sequence[str], cwd: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" and at + 1 < len(words):
            cwd = _placed(words[at + 1], cwd)
        at += 2 if words[at] in _OF_GIT else 1
    if tuple(words[at : at + 2]) != ("worktree", "add"):
        return
    at += 2
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    path = _placed(words[at], cwd) if at < len(words) else ""
    if path and cwd:
        yield cwd, path


def _placed(path: str, cwd: str) -> str:
    """A folder as an absolute path; "" for one that cannot be known."""
    whole = join(cwd, path)
    return normpath(whole) if whole.startswith("/") and path and not set(path) & set("$`~*?") and path != "-" else ""
