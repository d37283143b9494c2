"""Which commits a repository's refs reach: the window that is read, the edge of a shallow clone, and what no ref reaches any more."""

from __future__ import annotations

import os
from collections.abc import Iterable

from hardwon.code import git
from hardwon.types import Value

__all__ = ["Walk", "list_commits", "unreached", "walk"]

# Backups of rewritten branches keep everything alive; notes and replacements are no history.
_ALL = ["--exclude=refs/original/*", "--exclude=refs/notes/*", "--exclude=refs/replace/*", "--all"]


class Walk(Value):
    """The newest commits that HEAD reaches, merges left out.

    ``shas`` newest first; ``edge`` those whose parents a shallow clone lacks (merges and other branches' included); ``windowed``:
    there are more than were asked for; ``broken``: git's words where it could not walk to the end, "" where it could.
    """

    shas: tuple[str, ...] = ()
    edge: frozenset[str] = frozenset()
    windowed: bool = False
    broken: str = ""


def list_commits(root: str, limit: int = 100_000) -> list[str]:
    """The hashes of the newest commits (merges left out) that HEAD reaches, newest first; none in an empty repository.

    GitFailed if ``root`` is no repository, or git is missing or refuses.
    """
    return list(walk(root, limit).shas)


def walk(root: str, limit: int = 100_000) -> Walk:
    """The newest ``limit`` commits. A damaged commit ends the walk and is told; GitFailed where not even one can be listed."""
    listing = ["rev-list", "--no-merges", f"--max-count={limit + 1}"]
    done = git.run(root, [*listing, "--date-order", "HEAD", "--"])
    broken = ""
    if done.returncode:
        # Asked only now: a branch without commits fails like a broken one, but has no hash.
        if git.run(root, ["rev-parse", "--quiet", "--verify", "HEAD"]).returncode == 1:
            return Walk()
        broken = git.last_words(done.stderr)
        # Without an order by date git prints what it has walked, and dies when it comes to the damage.
        done = git.run(root, [*listing, "HEAD", "--"])
        if not done.stdout:
            raise git.failure(root, done.stderr)
    shas = done.stdout.decode("ascii").split()
    return Walk(tuple(shas[:limit]), _edge(root), len(shas) > limit, broken)


def _edge(root: str) -> frozenset[str]:
    done = git.run(root, ["rev-parse", "--git-path", "shallow"])
    path = os.path.join(root, os.fsdecode(done.stdout.rstrip(b"\n")))
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return frozenset(file.read().split())
    except OSError:
        return frozenset()


def unreached(folder: str, shas: Iterable[str]) -> set[str] | None:
    """Those of ``shas`` (full hashes) that no ref reaches here: no branch, remote branch, tag, stash or HEAD of any worktree.

    ``folder`` is git's own (its common one), or a plain folder, which has no refs. None where it cannot be told: the folder is
    not there or no repository any more, damaged, or git is missing or refuses. In a shallow clone a commit that is older than
    its edge may lie beyond it, and counts as reached.
    """
    asked = set(shas)
    if _is_plain(folder):
        return asked
    root = os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder
    present = _present(root, asked) if _is_home(root, folder) else None
    if present is None:
        return None
    edge = _edge(root)
    bound = _newest(root, edge) if edge else -1
    listed = _timed(root, [*present, *(f"^{sha}" for sha in _stashed(root))], "--not", *_ALL) if present else []
    if listed is None or bound is None:
        return None
    lost = {sha for time, sha in listed if sha in present and time > bound}
    return lost if edge else lost | (asked - present)


def _is_plain(folder: str) -> bool:
    """Whether something else than a repository lies there. An empty folder may be where a disk belongs."""
    if os.path.basename(folder) == ".git" or os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _is_home(root: str, folder: str) -> bool:
    """Whether git, started in ``root``, takes ``folder`` for the repository: where it is gone, git looks further up."""
    if not os.path.isdir(folder):
        return False
    done = git.run(root, ["rev-parse", "--git-common-dir"])
    found = os.path.join(root, os.fsdecode(done.stdout.rstrip(b"\n")))
    return done.returncode == 0 and os.path.realpath(found) == os.path.realpath(folder)


def _newest(root: str, shas: Iterable[str]) -> int | None:
    times = _timed(root, shas)
    return max(time for time, _ in times) if times else None


def _present(root: str, shas: Iterable[str]) -> set[str] | None:
    with git.local(root) as place:
        return git.present(place, shas)


def _stashed(root: str) -> list[str]:
    """All stashes but the last lie in the log of its ref only."""
    done = git.run(root, ["log", "--walk-reflogs", "--format=%H", "refs/stash", "--"])
    return done.stdout.decode("ascii").split() if done.returncode == 0 else []


def _timed(root: str, tips: Iterable[str], *without: str) -> list[tuple[int, str]] | None:
    """(Committer's time in seconds, hash) of what ``tips`` reach and ``without`` does not; of the tips alone without that.

    None if git had anything to complain of: it passes over refs that are damaged, and says so only there.
    """
    how = [] if without else ["--no-walk=unsorted"]
    done = git.run(root, ["rev-list", "--timestamp", "--stdin", *how, *without], "".join(f"{tip}\n" for tip in tips))
    if done.returncode or done.stderr:
        return None
    rows = (line.split() for line in done.stdout.decode("ascii").splitlines())
    return [(int(time), sha) for time, sha in rows]
