"""What git's own logs tell of branches: where one began, which commits were made on it, what an amended commit became.

Files are read, git is not started. A log may be missing, cut or switched off: then there is nothing to tell, never an error.
"""

from __future__ import annotations

import os

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.code.repo import Checkout

_MOST = 524_288  # bytes of a log that are read, its newest; some four thousand entries
_MOVED = "checkout: moving from "
_CREATED = "branch: Created from "
_RENAMED = "Branch: renamed refs/heads/"
# How entries begin that tell of a commit made here, and not of one that HEAD or the branch was only moved to.
_MADE = ("commit", "cherry-pick", "revert", "am:", "rebase", "merge ", "pull")
_ONLY_MOVED = ("(start)", "Fast-forward", ": checkout ")


class Entry(Value):
    """One movement of HEAD or of a branch: full hashes (zeros for none), and git's words."""

    old: str
    new: str
    message: str

    @property
    def made(self) -> bool:
        """Whether ``new`` was made by this movement."""
        words = self.message
        if not words.startswith(_MADE) or any(word in words for word in _ONLY_MOVED):
            return False
        # A rebase that had nothing left to apply ends at the commit that it went onto, and says so.
        return self.old != self.new and not words.endswith(self.new)


def entries(path: str) -> list[Entry]:
    """A log, oldest first."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST))
            lines = os.fsdecode(file.read()).split("\n")
    except OSError:
        return []
    found = []
    for line in lines[1 if size > _MOST else 0 :]:
        head, _, message = line.partition("\t")
        words = head.split(" ", 2)
        if len(words) == 3:
            found.append(Entry(words[0], words[1], message))
    return found


class Logs:
    """The logs of one checkout, each read once."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self._heads: list[list[Entry]] | None = None

    def of_head(self) -> list[Entry]:
        """The movements of this working tree's HEAD, oldest first."""
        return entries(os.path.join(self._checkout.git_dir, "logs", "HEAD"))

    def of_heads(self) -> list[list[Entry]]:
        """The movements of the HEAD of every working tree."""
        if self._heads is None:
            folder = self._checkout.common_dir
            trees = os.path.join(folder, "worktrees")
            try:
                names = sorted(os.listdir(trees))
            except OSError:
                names = []
            places = [folder, *(os.path.join(trees, name) for name in names)]
            self._heads = [entries(os.path.join(place, "logs", "HEAD")) for place in places]
        return self._heads

    def of_branch(self, branch: str) -> list[Entry]:
        """The movements of a local branch; none where it is gone, for git removes its log with it."""
        if not branch:
            return []
        return entries(os.path.join(self._checkout.common_dir, "logs", "refs", "heads", *branch.split("/")))

    def grown(self, branch: str, commit: str) -> list[str] | None:
        """The commits made on a branch that began at ``commit``, oldest first (perhaps none yet); None where it did not begin there,
        or nobody knows. One that follows a remote branch of its own name began there, not here."""
        own = next(filter(None, map(self.of_branch, self._names(branch))), [])
        if own and own[0].message.startswith(_CREATED) and own[0].new == commit:
            return None if own[0].message.endswith("/" + branch) else [entry.new for entry in own if entry.made]
        if any(commit in (entry.old, entry.new) for entry in own):
            return None
        told = [_grown_in(log, branch, commit) for log in self.of_heads()]
        known = [made for made in told if made is not None]
        return [commit for made in known for commit in made] if known else None

    def tips(self, branch: str) -> list[str]:
        """Commits that a branch stood at once, newest last, be it there or gone."""
        found = []
        names = self._names(branch)
        for log in self.of_heads():
            for name, entry in _standing(log):
                if name in names and entry.made:
                    found.append(entry.new)
                elif any(entry.message.startswith(f"{_MOVED}{one} to ") for one in names):
                    found.append(entry.old)
        logs = map(self.of_branch, names)
        found += [one for log in logs for entry in log for one in (entry.old, entry.new) if one.strip("0")]
        return list(dict.fromkeys(reversed(found)))[::-1]

    def amended(self) -> dict[str, str]:
        """What amended commits became, as far as the logs of HEAD tell."""
        return {entry.old: entry.new for log in self.of_heads() for entry in log if entry.message.startswith("commit (amend)")}

    def _names(self, branch: str) -> list[str]:
        """A branch's name, and those that it was given later."""
        names = [branch]
        for log in self.of_heads():
            for entry in log:
                if entry.message.startswith(f"{_RENAMED}{names[-1]} to "):
                    names.append(entry.message.rpartition(" to refs/heads/")[2])
        return names


def _grown_in(log: list[Entry], branch: str, commit: str) -> list[str] | None:
    """The same of a branch that is gone, as the log of a HEAD tells it."""
    made: list[str] | None = None
    for name, entry in _standing(log):
        if name != branch:
            continue
        if entry.message.startswith(_MOVED):
            if entry.old == entry.new == commit and made is None:
                made = []
        elif entry.made:
            if entry.new == commit:
                return None
            if made is not None:
                made.append(entry.new)
    return made


def _standing(log: list[Entry]) -> Iterator[tuple[str, Entry]]:
    """Each entry with the branch that was checked out after it; "" where that is not told."""
    name = ""
    for entry in log:
        if entry.message.startswith(_MOVED):
            name = entry.message.rpartition(" to ")[2]
        yield name, entry


def made_since(log: list[Entry], head: str, known: tuple[str, ...]) -> list[str]:
    """``head`` and the commits before it down to one of the ``known``, if it was made on that one by plain commits alone, as the log of
    HEAD tells; [] where it does not.

    It spares the commonest question to git: a commit or two since the last time.
    """
    made = [head]
    for entry in reversed(log):
        if made[-1] in known:
            return made
        if entry.new != made[-1] or not (entry.old == entry.new or entry.message.startswith("commit: ")):
            return []
        if entry.old != entry.new:
            made.append(entry.old)
    return made if made[-1] in known else []
