"""Which files of code lie in a working tree, and which content each has. Starts git: off the quick path."""

from __future__ import annotations

import os

from hardwon.code import git
from hardwon.code.paths import is_text
from hardwon.code.source import language_of, skipped_path
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hardwon.code.repo import Checkout

# Outside git every file has to be read to know whether it changed.
MOST_OUTSIDE_GIT = 20_000
_FILE_MODES = (b"100644", b"100755")


class Listing(Value):
    """``files``: each file of code with its blob, "" where git does not know what lies there (edited, or not added). ``skipped``: files
    that are left out by their path, by reason."""

    files: Mapping[str, str]
    skipped: Mapping[str, int]


def listing(checkout: Checkout) -> Listing:
    """The files of code of a working tree; none in a bare repository. GitFailed where git refuses."""
    if not checkout.git_dir:
        return _sorted_out(_walked(checkout.root))
    if checkout.root == checkout.git_dir:
        return Listing({}, {})
    return _sorted_out(_tracked(checkout.root))


def _sorted_out(found: Iterable[tuple[str, str]]) -> Listing:
    files: dict[str, str] = {}
    skipped: dict[str, int] = {}
    for path, blob in found:
        if not language_of(path) or not is_text(path):
            continue
        reason = skipped_path(path)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
        else:
            files[path] = blob
    return Listing(files, skipped)


def _tracked(root: str) -> Iterator[tuple[str, str]]:
    """What git tracks, and what it would: with its blob where the file is as git has it."""
    edited = set(_names(root, ["diff-files", "--name-only", "-z"]))
    for line in _listed(root, ["ls-files", "--stage", "-z"]):
        head, _, name = line.partition(b"\t")
        mode, blob, stage = head.split(b" ")
        path = os.fsdecode(name)
        if mode not in _FILE_MODES or stage not in (b"0", b"2"):  # of a conflict, our side stands for the file
            continue
        if path not in edited and stage == b"0":
            yield path, blob.decode("ascii")
        elif os.path.isfile(os.path.join(root, path)):
            yield path, ""
    for path in _names(root, ["ls-files", "--others", "--exclude-standard", "-z"]):
        if os.path.isfile(os.path.join(root, path)) and not os.path.islink(os.path.join(root, path)):
            yield path, ""


def _names(root: str, arguments: list[str]) -> Iterator[str]:
    return map(os.fsdecode, _listed(root, arguments))


def _listed(root: str, arguments: list[str]) -> list[bytes]:
    done = git.run(root, arguments, index=True)
    if done.returncode:
        raise git.failure(root, done.stderr)
    return [line for line in done.stdout.split(b"\0") if line]


def _walked(root: str) -> Iterator[tuple[str, str]]:
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not skipped_path(f"{name}/x.py"))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if language_of(path):
                count += 1
                if count > MOST_OUTSIDE_GIT:
                    return
                yield path, ""
