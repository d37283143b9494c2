"""What lies in a working tree, told as a commit and the edits over it; and what changed between two such states. Starts git."""

from __future__ import annotations

import os
import stat

from hardwon.code import git
from hardwon.code.ground import Files
from hardwon.code.steps import Entry, Step, entry
from hardwon.digest import blake2b, git_blob
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardwon.code.repo import Checkout

# More edited files than this are a checkout gone wrong, or a folder that should be ignored; nothing is told of such a tree.
MOST = 5_000
_LARGEST = 1 << 26  # bytes that are read for a digest
_DIRECTORY = "directory"


class WorkingTree(Value):
    """The state of a working tree. ``edits``: (path, blob) of each file that is not as the commit has it, sorted; ignored files are not
    among them; the blob of a removed one is "". ``commit`` is "" where there is none, or nothing can be told."""

    commit: str = ""
    edits: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The commit, with a digest of the edits behind it where there are any: equal for equal files."""
        if not self.edits:
            return self.commit
        written = "\0".join(f"{path}\0{blob}" for path, blob in self.edits)
        return f"{self.commit}+{blake2b(written.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"


def working_tree(checkout: Checkout) -> WorkingTree:
    """The state of a checkout now. Without a commit where there is no git, no commit, a bare repository, or too much is edited."""
    if not checkout.git_dir or checkout.root == checkout.git_dir:
        return WorkingTree()
    root = checkout.root
    head = git.run(root, ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])
    changed = git.run(root, ["diff-index", "--raw", "-z", "--no-renames", "--no-abbrev", "HEAD", "--"], index=True)
    added = git.run(root, ["ls-files", "--others", "--exclude-standard", "-z"], index=True)
    if head.returncode or changed.returncode or added.returncode:
        return WorkingTree()
    commit = head.stdout.decode("ascii").strip()
    had = {path: before for path, before, _ in _raw(changed.stdout)}
    had |= {os.fsdecode(name): "" for name in added.stdout.split(b"\0") if name}
    if len(had) > MOST:
        return WorkingTree()
    now = ((path, _blob(os.path.join(root, path), len(commit))) for path in sorted(had))
    return WorkingTree(commit, tuple((path, blob) for path, blob in now if blob != had[path]))


def _raw(output: bytes) -> list[tuple[str, str, str]]:
    """(path, blob before, blob after) of git's raw lines; "" where there is none."""
    fields = iter(output.split(b"\0"))
    entries = [entry(field, fields) for field in fields if field]
    return [(one.old_path or one.new_path, one.old_blob, one.new_blob) for one in entries]


def _blob(path: str, length: int) -> str:
    """Git's name for what lies there now, "" for nothing. Filters of line ends are not applied: what is compared is compared alike."""
    try:
        state = os.lstat(path)
        if stat.S_ISLNK(state.st_mode):
            return git_blob(os.fsencode(os.readlink(path)), length)
        if not stat.S_ISREG(state.st_mode):
            return _DIRECTORY  # a submodule
        if state.st_size > _LARGEST:
            return f"{state.st_size} bytes of {state.st_mtime_ns}"
        with open(path, "rb") as file:
            return git_blob(file.read(), length)
    except OSError:
        return ""


def changed(root: str, before: WorkingTree, after: WorkingTree) -> dict[str, tuple[str, str]] | None:
    """The files that differ: path and the blobs before and after, "" where there was no file. None where git lacks a commit."""
    found: dict[str, tuple[str, str]] = {}
    if before.commit != after.commit:
        done = git.run(root, ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", before.commit, after.commit, "--"])
        if done.returncode:
            return None
        found = {path: (old, new) for path, old, new in _raw(done.stdout)}
    edited = {path for path, _ in (*before.edits, *after.edits)}
    old, new = blobs(root, before, edited), blobs(root, after, edited)
    if old is None or new is None:
        return None
    found |= {path: (old.get(path, ""), new.get(path, "")) for path in edited}
    return {path: pair for path, pair in found.items() if pair[0] != pair[1]}


def blobs(root: str, tree: WorkingTree, paths: Iterable[str]) -> dict[str, str] | None:
    """What each of these files is in a state; a file that is not there is missing. None where git cannot tell."""
    edits: Mapping[str, str] = dict(tree.edits)
    asked = sorted(set(paths))
    committed = [path for path in asked if path not in edits]
    found = {path: edits[path] for path in asked if edits.get(path)}
    if committed:
        kept = _kept(root, tree.commit, committed)
        if kept is None:
            return None
        found |= kept
    return found


def uncommitted(root: str, head: str, files: Mapping[str, str]) -> list[Step]:
    """What lies in the working tree and in no commit, as a step of its own; none where nothing does. ``files`` of code with their blobs
    as they are; of all others only is told whether they are gone."""
    kept = _kept(root, head) or {}
    ground = Files(root)
    entries = [Entry(path, path, kept[path], blob) for path, blob in files.items() if path in kept and kept[path] != blob]
    entries += [Entry("", path, "", blob) for path, blob in files.items() if path not in kept]
    entries += [Entry(path, "", blob, "") for path, blob in kept.items() if path not in files and ground.is_gone(path)]
    return [Step("", None, (), tuple(entries))] if entries else []


def _kept(root: str, commit: str, paths: Sequence[str] = ()) -> dict[str, str] | None:
    """The files of a commit with their blobs, all without ``paths``; None where git cannot tell."""
    done = git.run(root, ["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths])
    if done.returncode:
        return None
    entries = (line.partition(b"\t") for line in done.stdout.split(b"\0") if line)
    return {os.fsdecode(name): about.split(b" ")[2].decode("ascii") for about, _, name in entries}
