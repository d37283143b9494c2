"""Where a commit that HEAD does not reach came into it all the same: cherry-picked, rebased, amended, or squashed with others.

Such a finding never changes: the other commit holds the change whatever branch is looked at. It is found once, off the quick path,
and kept. What was edited on its way (a conflict, a squash with additions) is found by who wrote it when, or by its lines.
"""

from __future__ import annotations

from hardwon.code import git, patches
from hardwon.code.patches import Patch
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MOST_COMMITS = 3_000  # of HEAD's side that are compared
MOST_ASKED = 100  # commits that are looked for at a time: some five processes each
_MOST_STEPS = 40  # commits of a branch that may be where it was squashed
_MOST_SQUASHES = 500  # such steps in all: each is a diff of a whole branch
_MOST_FILES = 400  # files by which commits are chosen for comparison; with more, all are compared
_MOST_BYTES = 67_108_864  # of patches that are read
_FORMAT = "%H%x1f%T%x1f%an%x1f%ae%x1f%at%x1f%s%x1f%b%x1e"
_DIFF = (
    "diff-tree", "--stdin", "--root", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "-U3",
    "--full-index", "--diff-algorithm=myers", "--no-indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_PICKED = "(cherry picked from commit "
_SQUASHED = "\ncommit "  # how git's own message of a squash lists what is in it


class Landings(Value):
    """``found``: the commit of HEAD's side that each commit came in with; ``asked``: those that were looked for; ``cut``: there was more to
    compare than is compared."""

    found: Mapping[str, str]
    asked: tuple[str, ...] = ()
    cut: bool = False


class _Commit(Value):
    """What a commit says of itself."""

    sha: str
    tree: str
    author: tuple[str, str, str]  # name, address, seconds
    subject: str
    body: str


class _Wanted(Value):
    """A commit that is looked for. ``steps``: commits of its branch from itself on, at which that may have been squashed; ``bases``:
    where the branch left HEAD's side; ``own``: the commits of the branch up to it, with it."""

    commit: _Commit
    patch: Patch
    steps: tuple[str, ...]
    bases: tuple[str, ...]
    own: tuple[_Commit, ...]


def find(root: str, head: str, wanted: Mapping[str, Sequence[str]], looked: Mapping[str, str]) -> Landings:
    """Where each of the ``wanted`` commits, which ``head`` does not reach, came in; left out where it did not. ``wanted`` names with
    each the commits at which its branch stood; ``looked`` names commits that ``head`` had when it was looked for in vain.
    """
    asked = sorted(wanted, key=lambda sha: sha in looked)[:MOST_ASKED]  # first those that nobody has looked for
    found: dict[str, str] = {}
    cut = len(asked) < len(wanted)
    groups: dict[str, list[str]] = {}
    for sha in asked:
        groups.setdefault(looked.get(sha, ""), []).append(sha)
    for since, shas in groups.items():
        side, left = _side(root, head, since, shas)
        cut |= left
        if not side:
            continue
        try:
            found |= _compared(root, side, [_described(root, head, sha, wanted[sha]) for sha in shas])
        except git.Died:  # something that it needs is damaged or missing
            cut = True
    return Landings(found, tuple(asked), cut)


def _side(root: str, head: str, since: str, shas: Sequence[str]) -> tuple[list[_Commit], bool]:
    """HEAD's commits, newest first, without merges, that a landing can be: since the last look, else since all of them parted."""
    without = since
    if not since:
        without = git.run(root, ["merge-base", "--octopus", head, *shas]).stdout.decode("ascii").strip()
    side = list(_listed(root, ["--no-merges", f"--max-count={MOST_COMMITS + 1}", head, *([f"^{without}"] if without else [])]))
    return side[:MOST_COMMITS], len(side) > MOST_COMMITS


def _listed(root: str, what: Sequence[str]) -> Iterator[_Commit]:
    done = git.run(root, ["log", "--no-show-signature", "--no-notes", "--encoding=UTF-8", f"--format={_FORMAT}", *what, "--"])
    if done.returncode:
        return
    for row in done.stdout.decode("utf-8", "replace").split("\x1e"):
        parts = row.lstrip("\n").split("\x1f")
        if len(parts) == 7:
            sha, tree, name, address, at, subject, body = parts
            yield _Commit(sha, tree, (name, address, at), subject, body)


def _described(root: str, head: str, sha: str, tips: Sequence[str]) -> _Wanted:
    """What there is to know of a commit that is looked for."""
    steps = [sha]
    if others := [tip for tip in tips if tip != sha]:
        listing = [
            "rev-list",
            "--ignore-missing",
            "--ancestry-path",
            f"--max-count={_MOST_STEPS}",
            *others,
            f"^{sha}",
            f"^{head}",
            "--",
        ]
        steps += git.run(root, listing).stdout.decode("ascii").split()
    bases = [git.run(root, ["merge-base", head, step]).stdout.decode("ascii").strip() for step in (sha, *steps[1:2])]
    commits = list(_listed(root, ["--no-merges", f"--max-count={_MOST_STEPS}", sha, f"^{head}"]))
    this = next((one for one in commits if one.sha == sha), _Commit(sha, "", ("", "", ""), "", ""))
    patch = dict(_patches(root, [sha])).get(sha, Patch())
    return _Wanted(this, patch, tuple(steps), tuple(dict.fromkeys(filter(None, bases))), tuple(commits))


def _compared(root: str, side: Sequence[_Commit], wanted: Sequence[_Wanted]) -> dict[str, str]:
    """The rules, from the surest on. Patches are read of those commits only that touch a file in question."""
    files = {path for one in wanted for path in one.patch.files}
    squashed = _squashes(root, wanted)
    files |= {path for several in squashed.values() for patch in several for path in patch.files}
    touching = _touching(root, [commit.sha for commit in side], files)
    there = dict(_patches(root, touching))
    found: dict[str, str] = {}
    for one in wanted:
        sha = one.commit.sha
        landed = _landed(side, there, one, squashed[sha])
        if landed:
            found[sha] = landed
    return found


def _landed(side: Sequence[_Commit], there: Mapping[str, Patch], one: _Wanted, squashed: Sequence[Patch]) -> str:
    """The commit of HEAD's side that a commit came in with; "" for none."""
    for commit in side:
        if f"{_PICKED}{one.commit.sha}" in commit.body or f"{_SQUASHED}{one.commit.sha}" in "\n" + commit.body:
            return commit.sha
    for commit in side:
        patch = there.get(commit.sha)
        if patch is None:
            continue
        if patches.equal(patch, one.patch) or any(patches.equal(patch, other) for other in squashed):
            return commit.sha
        if _rewritten(commit, patch, one) or _listed_in(commit, patch, one) or patches.holds(patch, one.patch):
            return commit.sha
    return ""


def _rewritten(commit: _Commit, patch: Patch, one: _Wanted) -> bool:
    """Whether a commit is another edition: of this one, by who wrote it when, or of one of its branch into which this was melded."""
    author = one.commit.author
    if commit.author == author and patch.files & one.patch.files:
        return commit.subject == one.commit.subject or patches.shares(patch, one.patch)
    melded = any(commit.author == other.author for other in one.own)
    return melded and patches.holds(patch, one.patch, all_of_it=True)


def _listed_in(commit: _Commit, patch: Patch, one: _Wanted) -> bool:
    """Whether the message of a squash lists the subjects of the branch as far as this commit, and touches a file of it."""
    lines = {
        line.strip().removeprefix("* ").removeprefix("- ")
        for line in commit.body.splitlines()
        if line.strip()[:2] in ("* ", "- ")
    }
    subjects = {other.subject for other in one.own}
    return len(one.commit.subject) > 1 and subjects <= lines and bool(patch.files & one.patch.files)


def _squashes(root: str, wanted: Sequence[_Wanted]) -> dict[str, list[Patch]]:
    """What each branch would be as one commit, at each of its steps, by the commit that is looked for. Commits of one branch share
    nearly all of them."""
    pairs = dict.fromkeys((base, step) for one in wanted for base in one.bases for step in one.steps)
    steps: dict[str, list[str]] = {}
    for base, step in list(pairs)[:_MOST_SQUASHES]:
        steps.setdefault(base, []).append(step)
    made = {
        (base, step): patch
        for base, several in steps.items()
        for step, patch in _patches(root, [f"{step} {base}" for step in several])
    }
    return {
        one.commit.sha: [made[base, step] for base in one.bases for step in one.steps if (base, step) in made] for one in wanted
    }


def _touching(root: str, shas: Sequence[str], files: set[bytes]) -> list[str]:
    """Those of the commits that touch one of the files (as a diff's head names them)."""
    if not files or len(files) > _MOST_FILES:
        return list(shas) if files else []
    names = {_second(path) for path in files}
    listing = ["diff-tree", "--stdin", "--root", "-r", "--name-only", "--no-renames"]
    found, at = [], ""
    with git.stream(root, listing, shas) as out:
        for raw in out:
            line = raw.rstrip(b"\n")
            if _is_sha(line):
                at = line.decode("ascii")
            elif at and line in names:
                found.append(at)
                at = ""
    return found


def _second(path: bytes) -> bytes:
    """``a/x b/x`` as ``x``: without renames both are the same."""
    if path.endswith(b'"'):  # quoted, both of them, and of one length
        return b'"' + path[len(path) // 2 + 4 :]
    return path[len(path) // 2 + 3 :]


def _patches(root: str, lines: Iterable[str]) -> Iterator[tuple[str, Patch]]:
    """The patch of each commit; a line may name after it the commit that it is compared with. Merges have none."""
    asked = list(lines)
    if not asked:
        return
    size, sha, diff = 0, "", list[bytes]()
    with git.stream(root, _DIFF, asked) as out:
        for raw in out:
            line = raw.rstrip(b"\r\n")
            size += len(raw)
            if _is_sha(line):
                if sha:
                    yield sha, patches.parse(diff)
                sha, diff = line.decode("ascii"), []
            elif size < _MOST_BYTES:  # what comes after counts as empty; git has to be read to its end
                diff.append(line)
    if sha:
        yield sha, patches.parse(diff)


def _is_sha(line: bytes) -> bool:
    return len(line) in (40, 64) and not line.strip(b"0123456789abcdef")
