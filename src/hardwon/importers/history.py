"""A repository's commits, read from git as a stream of changes.

One ``git diff-tree --stdin`` prints every commit asked for: message, names of files, patch without context. It is plumbing, so a
user's diff settings (prefixes, external tools, colours, algorithm) do not reach it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from heapq import merge

from hardwon.code import git
from hardwon.errors import InvalidInput
from hardwon.importers.message import revert_reason
from hardwon.importers.patch import FORMAT, parse
from hardwon.types import Change, Extent

__all__ = ["read_commits", "read_messages", "revert_reason"]

_TREE = ["diff-tree", "--stdin", "--root", "--always", "-r", "--raw", "--encoding=UTF-8", "--no-notes", FORMAT]
_TREE += ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none", "--submodule=short"]
# Full object names are quicker than short ones, which git must prove to be unique.
_WITH_PATCH = [*_TREE, "-p", "-U0", "--inter-hunk-context=0", "-M", "-l200", "--full-index"]
_WITH_PATCH += ["--diff-algorithm=myers", "--indent-heuristic"]
# What can be told without file contents, as a partial clone lacks them; and without trees.
_WITH_NAMES = [*_TREE, "-M100%"]
_MESSAGES = ["log", "--no-walk=unsorted", "--stdin", "--ignore-missing", "-s", "--encoding=UTF-8", "--no-notes", FORMAT]
_MESSAGES += ["--no-show-signature", "--no-color", "--no-decorate"]

_LEVELS: tuple[tuple[list[str], Extent], ...] = ((_WITH_PATCH, "whole"), (_WITH_NAMES, "names"))
_BLOBS = ["diff-tree", "--stdin", "--root", "--always", "-r", "--raw", "--no-abbrev", "--no-renames", "--format=%H"]
_NONE, _SUBMODULE = b"000000", b"160000"

_CHUNK = 1 << 16  # bytes; what a pipe holds
_PATIENCE = 10  # unreadable commits in a row that are looked at one by one
_MANY = 500  # commits that are told apart at once
_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def read_commits(root: str, shas: Sequence[str], branch: str = "") -> Iterator[Change]:
    """Each of ``shas`` (full hashes) as a change, in that order, parsed while git runs; closing the iterator ends git.

    A commit whose files cannot be read (a partial clone, a damaged object) has its message and, if possible, the names of its
    files, which its ``extent`` tells; one that git does not know is left out. Nothing is fetched. A merge has no diff.
    InvalidInput for a hash that is none; GitFailed if git is missing or refuses.
    """
    _check(shas)
    return _local(root, shas, branch) if shas else iter(())


def read_messages(root: str, shas: Sequence[str], branch: str = "") -> Iterator[Change]:
    """Each of ``shas`` as a change with nothing but its message; what git does not know is left out. Errors as above.

    For the edge of a shallow clone: git takes a commit whose parents it lacks for one that added every file.
    """
    _check(shas)
    return _messages(root, shas, branch) if shas else iter(())


def _check(shas: Sequence[str]) -> None:
    for sha in shas:
        if not _NAME.fullmatch(sha):
            raise InvalidInput(f"not a full commit hash: {sha!r}", field="shas", remedy="pass what list_commits returned")


def _local(root: str, shas: Sequence[str], branch: str) -> Iterator[Change]:
    with git.local(root) as place:
        yield from _read(place, shas, branch)


def _read(root: str, shas: Sequence[str], branch: str, level: int = 0, *, patient: bool = True) -> Iterator[Change]:
    """As much of each commit as can be read: of those that git dies of, what the next level tells."""
    command, extent = _LEVELS[level]
    at, misses = 0, 0
    while at < len(shas):
        if patient and misses > _PATIENCE:
            # Not every commit shall cost processes of its own: those that lack something are told apart first.
            batch = shas[at : at + _MANY]
            lacking = set(batch) if level else _lacking(root, batch)
            yield from _apart(root, batch, lacking, branch, level)
            at += len(batch)
            misses = misses if 2 * len(lacking) > len(batch) else 0
            continue
        start = at
        held: Change | None = None  # whole only when the next one begins, or git ends well
        try:
            with closing(_stream(root, command, shas[at:], branch)) as changes:
                for change in changes:
                    if held is not None:
                        at = shas.index(held.sha, at) + 1
                        yield _told(held, extent)
                    held = change
            if held is not None:
                yield _told(held, extent)
            return
        except git.Died:
            pass
        if at > start:  # read on from the one held back: git may have died in it, or of the next, or was killed
            misses = 0
            continue
        at = start if held is None else shas.index(held.sha, start)
        alone = _alone(root, command, shas[at], branch)
        if alone is None:
            misses += 1
            yield from _below(root, shas[at : at + 1], branch, level)
        else:
            yield from (_told(change, extent) for change in alone)
        at += 1


def _told(change: Change, extent: Extent) -> Change:
    told: Change = change if extent == "whole" else change.replace(extent=extent)
    return told


def _alone(root: str, command: list[str], sha: str, branch: str) -> list[Change] | None:
    """One commit by itself; None if git dies of it."""
    try:
        with closing(_stream(root, command, [sha], branch)) as changes:
            return list(changes)
    except git.Died:
        return None


def _below(root: str, shas: Sequence[str], branch: str, level: int) -> Iterator[Change]:
    return _read(root, shas, branch, level + 1) if level + 1 < len(_LEVELS) else _messages(root, shas, branch)


def _apart(root: str, shas: Sequence[str], lacking: set[str], branch: str, level: int) -> Iterator[Change]:
    whole = _read(root, [sha for sha in shas if sha not in lacking], branch, level, patient=False)
    part = _below(root, [sha for sha in shas if sha in lacking], branch, level)
    place = {sha: number for number, sha in enumerate(shas)}
    return merge(whole, part, key=lambda change: place[change.sha])


def _lacking(root: str, shas: Sequence[str]) -> set[str]:
    """Those whose files git cannot list, or whose contents before or after it does not have."""
    named: dict[str, set[str]] = {}
    blobs: set[str] = set()
    for line in git.run(root, _BLOBS, "".join(f"{sha}\n" for sha in shas)).stdout.split(b"\n"):
        if line.startswith(b":"):
            old_mode, new_mode, old, new = line[1:].split(b" ", 4)[:4]
            found = {blob.decode("ascii") for mode, blob in ((old_mode, old), (new_mode, new)) if mode not in (_NONE, _SUBMODULE)}
            blobs |= found
        elif line:
            blobs = named.setdefault(line.decode("ascii", "replace"), set())
    asked = sorted(set().union(*named.values()))
    done = git.run(root, ["cat-file", "--batch-check=%(objectname)"], "".join(f"{blob}\n" for blob in asked))
    missing = {line.split()[0] for line in done.stdout.decode("ascii", "replace").splitlines() if line.endswith(" missing")}
    return {sha for sha in shas if sha not in named or not missing.isdisjoint(named[sha])}


def _messages(root: str, shas: Sequence[str], branch: str) -> Iterator[Change]:
    done = git.run(root, _MESSAGES, "\n".join(shas))
    if done.returncode:
        raise git.failure(root, done.stderr)
    for change in parse(partial(io.BytesIO(done.stdout).read, _CHUNK), branch):
        yield change.replace(extent="message")


def _stream(root: str, command: list[str], shas: Sequence[str], branch: str) -> Generator[Change, None, None]:
    """The changes that one git process prints; Died after the last one if git failed."""
    with git.stream(root, command, shas) as output:
        yield from parse(partial(output.read1, _CHUNK), branch)  # type: ignore[attr-defined]
