"""Which commits made lines of a file, and which changed them before. Git is asked, with a bound on its time; off the quick path."""

from __future__ import annotations

import subprocess

from hardwon.code import git
from hardwon.errors import GitFailed
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = 30.0  # seconds for one question
_FIELDS = "%H%x00%an%x00%at%x00%s%x00%b%x00"
_PER_COMMIT = 5


class Commit(Value):
    """What git says of a commit; ``at`` is the author's time in milliseconds."""

    sha: str
    author: str
    at: int
    subject: str
    body: str = ""


class Blamed(Value):
    """The lines of a place that one commit made. ``commit`` is None for lines that are not committed. ``path`` is what their file was
    called there; ``lines`` are (line there, line here), ``boundary``: a shallow clone ends there, so that it may have been another."""

    commit: Commit | None
    path: str
    lines: tuple[tuple[int, int], ...]
    boundary: bool = False


def blame(root: str, path: str, first: int, last: int, *, shallow: bool = False) -> list[Blamed]:
    """Who made lines ``first`` to ``last`` of a file as it is now, most lines first, then by the order of lines; white space does not
    count, moved and copied lines are followed. GitFailed, with git's words, also for a file that git does not know.

    The first commit of all is a boundary to git as well; only in a ``shallow`` clone does it hide older ones."""
    words = ["blame", "-w", "-M", "-C", *(() if shallow else ("--root",)), "--porcelain", "-L", f"{first},{last}", "--", path]
    return _grouped(_git(root, words).split("\n"))


def earlier(root: str, sha: str, path: str, line: int, most: int) -> list[Commit]:
    """The commits that changed a line, as git follows it back from a commit, that one first; at most ``most``. [] where it is too long
    ago for git to tell in time."""
    try:
        return _commits(_git(root, ["log", "-s", f"-n{most}", f"--format={_FIELDS}", "-L", f"{line},{line}:{path}", sha]))
    except GitFailed:
        return []  # an addition: what made the line is known without it


def commits(root: str, shas: Sequence[str]) -> list[Commit]:
    """What git says of commits."""
    if not shas:
        return []
    return _commits(_git(root, ["log", "--no-walk=unsorted", f"--format={_FIELDS}", *shas, "--"]))


def _commits(printed: str) -> list[Commit]:
    """The commits of what git printed, in its order."""
    fields = printed.split("\0")
    return [
        Commit(fields[at].strip(), fields[at + 1], _milliseconds(fields[at + 2]), fields[at + 3], fields[at + 4].strip())
        for at in range(0, len(fields) - _PER_COMMIT, _PER_COMMIT)
    ]


def _git(root: str, words: Sequence[str]) -> str:
    try:
        # By the list of what is tracked a file is known that was renamed or added, and not committed.
        done = git.run(root, words, index=True, patience=PATIENCE)
    except subprocess.TimeoutExpired:
        raise GitFailed(
            f"git {words[0]} took longer than {PATIENCE:g} seconds", field="place", remedy="ask for a line, or for fewer lines"
        ) from None
    if done.returncode:
        raise git.failure(root, done.stderr)
    return done.stdout.decode("utf-8", "replace")


def _grouped(lines: Sequence[str]) -> list[Blamed]:
    """Git's porcelain form: a head a line, the facts of a commit after its first one, the line itself behind a tab."""
    facts: dict[str, dict[str, str]] = {}
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    sha, there, here = "", 0, 0
    for line in lines:
        if line.startswith("\t"):
            found.setdefault((sha, facts[sha].get("filename", "")), []).append((there, here))
            continue
        word, _, rest = line.partition(" ")
        if len(word) in (40, 64) and rest[:1].isdigit():
            sha, there, here = word, *map(int, rest.split()[:2])
            facts.setdefault(sha, {})
        elif sha and word:
            facts[sha][word] = rest
    blamed = [_blamed(sha, path, facts[sha], numbers) for (sha, path), numbers in found.items()]
    return sorted(blamed, key=lambda one: (-len(one.lines), one.lines[0][1]))


def _blamed(sha: str, path: str, facts: dict[str, str], numbers: list[tuple[int, int]]) -> Blamed:
    if not sha.strip("0"):
        return Blamed(None, path, tuple(numbers))
    at = _milliseconds(facts.get("author-time", ""))
    commit = Commit(sha, facts.get("author", ""), at, facts.get("summary", ""))
    return Blamed(commit, path, tuple(numbers), "boundary" in facts)


def _milliseconds(seconds: str) -> int:
    return int(seconds) * 1000 if seconds.isascii() and seconds.isdigit() and len(seconds) < 12 else 0
