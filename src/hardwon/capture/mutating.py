"""What a command does to the files that checks look at: changes them, puts others in their place, takes edits back or aside."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.commands import Work
    from hardwon.capture.event import Event
    from hardwon.capture.state import State

_READING_GIT = frozenset(
    (
        "status", "diff", "log", "show", "blame", "branch", "rev-parse", "remote", "config", "ls-files", "grep", "describe", "add",
        "commit", "push", "fetch", "tag", "shortlog", "reflog", "cat-file", "rev-list", "help", "--version",
    )
)  # fmt: skip
# What puts other files in place of those that were edited: mostly to see that a test notices, and then the old ones come back.
_MEDDLING = frozenset(("cp", "mv", "sed", "perl", "patch", "Copy-Item", "Move-Item", "-replace"))
_MEDDLING_GIT = frozenset(("checkout", "switch", "stash", "restore", "reset", "apply", "revert"))
_NOT_TAKING = frozenset(("-b", "-B", "--staged", "--orphan", "--detach", "--ours", "--theirs"))


def changes(work: Work) -> bool:
    """Whether the files or the machine may be others after it, whichever way it ended."""
    return _verb(work.shown.split())[0] not in _READING_GIT if work.kind == "git" else not work.harmless


def meddles(work: Work) -> bool:
    """Whether a command may have changed the code that a check behind it on the line looks at, other than by an edit of the session."""
    if work.kind == "git":
        verb, rest = _verb(work.shown.split())
        return verb in _MEDDLING_GIT and not (verb == "stash" and rest[:1] in (["list"], ["show"]))
    return work.inline or (work.kind == "other" and work.runner in _MEDDLING)


def is_aside(work: Work, aside: bool) -> bool:
    """Whether the session's own edits are stashed behind a command: what is checked then is not what the session made."""
    verb, rest = _verb(work.shown.split()) if work.kind == "git" else ("", [])
    if verb != "stash":
        return aside
    return not rest or rest[0].startswith("-") or rest[0] in ("push", "save")


def after_git(state: State, work: Work, event: Event) -> State:
    """What git takes back counts as taken back."""
    verb, rest = _verb(work.shown.split())
    if verb in _READING_GIT or event.ended in ("denied", "interrupted", "failed"):
        return state
    # What is stashed is put aside, mostly to see how it was before, and comes back.
    everything = (verb == "reset" and "--hard" in rest) or (verb in ("checkout", "restore") and "." in rest)
    taking = everything or (verb in ("checkout", "restore") and not (set(rest) & _NOT_TAKING))
    if taking:
        named = tuple(word.removeprefix("./") for word in rest if "." in word or "/" in word)
        state = state.replace(
            changes=tuple(
                change.replace(undone=True) if everything or _is_named(change.path, named) else change for change in state.changes
            )
        )
    return state


def _verb(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Git's verb, past its options, and the words behind it."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return (words[at] if at < len(words) else "", words[at + 1 :])


def _is_named(path: str, named: Sequence[str]) -> bool:
    return any(path == one or path.endswith(f"/{one}") or path.startswith(f"{one.rstrip('/')}/") for one in named)
