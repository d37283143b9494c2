"""The history of HEAD as a chain of steps, from each commit to its first child, with what each did to files. Starts git."""

from __future__ import annotations

from hardwon.code import git
from hardwon.code.repo import is_hash
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Commits of the chain that are looked back at. Older anchors are compared with it as a whole.
LONGEST = 20_000
_FIRST = 200  # of which are looked at first: most questions are about the last few
# Files on either side among which a step's renames are looked for. Git's own thousand is less than a move of a whole source tree has.
_RENAMES = 4_000
_FORMAT = "--format=%H %ct %P"


class Entry(Value):
    """What one step did to one file: ``old_path`` and ``new_path`` differ where it was renamed; path and blob are "" where there was
    no file, or is none."""

    old_path: str
    new_path: str
    old_blob: str
    new_blob: str


class Step(Value):
    """One commit of the chain (``commit`` "" for what is not committed), its time in milliseconds, its parents, and what it did
    compared with the one before in the chain."""

    commit: str
    at: int | None
    parents: tuple[str, ...]
    entries: tuple[Entry, ...]


class Chain:
    """The first-parent history of a commit, newest ``LONGEST`` commits of it, oldest first."""

    def __init__(self, root: str, head: str) -> None:
        self._root = root
        self._head = head
        self._commits: list[tuple[str, int, tuple[str, ...]]] = []
        self._place: dict[str, int] = {}
        self._steps: dict[int, Step] = {}
        self._load(_FIRST)

    def _load(self, most: int) -> None:
        """The newest commits of the chain; steps that were compared belong to a shorter one."""
        self._commits, self._place, self._steps = [], {}, {}
        self._most = most
        done = git.run(self._root, ["log", "--first-parent", "--reverse", f"--max-count={most}", _FORMAT, self._head, "--"])
        for line in done.stdout.decode("ascii", "replace").splitlines() if not done.returncode else ():
            sha, at, *parents = line.split()
            self._place[sha] = len(self._commits)
            self._commits.append((sha, int(at) * 1000, tuple(parents)))

    def _find(self, commit: str) -> int | None:
        """Where a commit is in the chain; all of that is loaded if it is not among the newest."""
        if commit not in self._place and self._most < LONGEST and len(self._commits) == self._most:
            self._load(LONGEST)
        return self._place.get(commit)

    def has(self, commit: str) -> bool:
        """Whether a commit is in the chain."""
        return self._find(commit) is not None

    def since(self, commit: str) -> list[Step] | None:
        """The steps after a commit, oldest first; None where it cannot be told, for git has not the commit.

        A commit beside the chain (of a branch that was merged) is first compared with the commit that brought it in.
        """
        if not self._commits or not is_hash(commit):
            return None
        place = self._find(commit)
        if place is not None:
            return self._following(place + 1)
        joined = self._joined(commit)
        if joined is None:
            return None
        sha, at, parents = self._commits[joined]
        entries = self._compared([f"{sha} {commit}"]).get(sha)
        return None if entries is None else [Step(sha, at, parents, entries), *self._following(joined + 1)]

    def _joined(self, commit: str) -> int | None:
        """The first of the chain that reaches the commit; the last of the chain where none does."""
        head = self._commits[-1][0]
        done = git.run(self._root, ["rev-list", "--first-parent", head, f"^{commit}", "--"])
        if done.returncode:
            return None
        listed = done.stdout.decode("ascii").split()
        if not listed:
            return len(self._commits) - 1
        return self._place.get(listed[-1])

    def _following(self, first: int) -> list[Step]:
        missing = [place for place in range(max(1, first), len(self._commits)) if place not in self._steps]
        asked = [f"{self._commits[place][0]} {self._commits[place - 1][0]}" for place in missing]
        found = self._compared(asked) if asked else {}
        for place in missing:
            sha, at, parents = self._commits[place]
            self._steps[place] = Step(sha, at, parents, found.get(sha, ()))
        return [self._steps[place] for place in range(max(1, first), len(self._commits))]

    def _compared(self, asked: Sequence[str]) -> dict[str, tuple[Entry, ...]]:
        """What each commit did compared with the one named beside it."""
        done = git.run(
            self._root,
            ["diff-tree", "--stdin", "-r", "-M", f"-l{_RENAMES}", "--raw", "--no-abbrev", "-z", "--always"],
            "".join(f"{a}\n" for a in asked),
        )
        return {sha: tuple(entries) for sha, entries in parsed(done.stdout).items()}

    def inside(self, step: Step, path: str) -> list[Step]:
        """The single commits that a merge brought, oldest first, with what they did to a file; [] for any other commit."""
        if len(step.parents) < 2:
            return []
        span = [f"^{step.parents[0]}", step.commit]
        # As a literal name: brackets and stars in it are no pattern, nor is a colon before it magic.
        listing = [
            "--literal-pathspecs",
            "log",
            "--reverse",
            "--no-merges",
            "--max-count=500",
            "--topo-order",
            _FORMAT,
            *span,
            "--",
            path,
        ]
        found = []
        for line in git.run(self._root, listing).stdout.decode("ascii", "replace").splitlines():
            sha, at, *parents = line.split()
            if parents:
                entries = self._compared([f"{sha} {parents[0]}"]).get(sha, ())
                found.append(Step(sha, int(at) * 1000, tuple(parents), entries))
        return found


def parsed(raw: bytes) -> dict[str, list[Entry]]:
    """Entries by commit, of what ``diff-tree --stdin -z --raw`` prints."""
    found: dict[str, list[Entry]] = {}
    entries: list[Entry] = []
    fields = iter(raw.split(b"\0"))
    for field in fields:
        if field[:1] == b":":
            entries.append(entry(field, fields))
        elif len(field) >= 40:
            entries = found.setdefault(field.strip().decode("ascii", "replace"), [])
    return found


def entry(raw: bytes, fields: Iterator[bytes]) -> Entry:
    """The entry of a raw line of git (``:mode mode blob blob status``), whose paths are the next of the ``fields``."""
    _, _, old, new, status = raw[1:].split(b" ")
    letter = status[:1].decode("ascii")
    first = next(fields, b"").decode("utf-8", "surrogateescape")
    second = next(fields, b"").decode("utf-8", "surrogateescape") if letter in "RC" else first
    return Entry("" if letter == "A" else first, "" if letter == "D" else second, _blob(old), _blob(new))


def _blob(name: bytes) -> str:
    return "" if not name.strip(b"0") else name.decode("ascii")
