"""The files of a repository as they were committed: what HEAD holds, not what somebody is editing. Outside git, a folder's files.

Both kinds answer alike, so whoever reads documents or manifests does not care. Only regular files are seen: a symbolic link could
lead out of the repository, and a submodule is a repository of its own.
"""

from __future__ import annotations

import os
import stat
from contextlib import closing
from hashlib import sha1

from hardwon.code import git
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from typing import IO

_REGULAR = (b"100644", b"100755")
_LONGEST_PATH = 1_000  # characters; what an anchor can hold
_CHUNK = 1 << 16  # bytes
_PATIENCE = 10  # unreadable objects in a row, after which the rest are taken for unreadable as well
_MOST_ENTRIES = 200_000  # of a folder outside git
_DEEPEST = 40  # folders below one another, outside git
_LATEST = 253_402_300_799_000  # milliseconds; the end of the year 9999
# Folders of other people's files, of what is made from sources, and of samples that tests feed to programs.
_FOREIGN = """
    .git .hg .svn .tox .nox .venv venv env .mypy_cache .pytest_cache .eggs node_modules bower_components jspm_packages vendor
    vendored _vendor third_party third-party thirdparty 3rdparty site-packages dist-packages dist build target out _build
    __pycache__ fixtures __fixtures__ testdata test-data __snapshots__ .terraform .gradle .cargo Pods Carthage
"""
FOREIGN = frozenset(_FOREIGN.split())


class File(Value):
    """A file of the snapshot: its path with slashes, and git's name for its content (outside git the same digest, made here)."""

    path: str
    blob: str


class Content(Value):
    """What was read of a file: ``data`` is None where it is larger than allowed (``size`` tells) or cannot be read (``size`` -1)."""

    file: File
    data: bytes | None
    size: int


class Touch(Value):
    """The last commit that changed a file; ``at`` in milliseconds. Outside git the time of the file, and no names."""

    at: int
    author: str = ""
    sha: str = ""


class Tree:
    """The files of one commit."""

    def __init__(self, root: str, commit: str) -> None:
        self.root = root
        self.commit = commit

    def files(self, wanted: Callable[[str], bool]) -> list[File]:
        """The regular files whose path is wanted, in git's order. GitFailed where git refuses.

        A name that is no UTF-8 or holds line breaks is left out: nothing could be asked about it.
        """
        done = git.run(self.root, ["ls-tree", "-r", "-z", "--full-tree", self.commit])
        if done.returncode:
            raise git.failure(self.root, done.stderr)
        found = []
        for entry in done.stdout.split(b"\0"):
            mode, _, rest = entry.partition(b" ")
            if mode in _REGULAR:
                blob, _, name = rest.partition(b" ")[2].partition(b"\t")
                path = name.decode("utf-8", "surrogateescape")
                if _can_be_named(path) and wanted(path):
                    found.append(File(path, blob.decode("ascii")))
        return found

    def read(self, files: Sequence[File], limit: int) -> Iterator[Content]:
        """Each file's content in this order, from one git process, a file at a time; more than ``limit`` bytes are passed over."""
        at = misses = 0
        while at < len(files):
            start = at
            try:
                with closing(_batch(self.root, files[at:], limit)) as contents:
                    for content in contents:
                        at += 1
                        yield content
                return
            except git.Died:
                # A partial clone or a damaged object: git ends at it. The next run begins behind it.
                misses = 0 if at > start else misses + 1
                if misses > _PATIENCE:
                    yield from (Content(file, None, -1) for file in files[at:])
                    return
                yield Content(files[at], None, -1)
                at += 1

    def touched(self, paths: Iterable[str]) -> dict[str, Touch]:
        """The last commit that changed each of these files, from one pass over history; a file is missing where git cannot tell."""
        waiting = set(paths)
        found: dict[str, Touch] = {}
        if not waiting:
            return found
        try:
            with closing(_log(self.root, self.commit, waiting)) as entries:
                for path, touch in entries:
                    if path in waiting:
                        waiting.discard(path)
                        found[path] = touch
                        if not waiting:
                            break
        except git.Died:
            pass  # trees are missing (a partial clone): what was found holds
        return found

    def time(self) -> int:
        """When the commit was made, in milliseconds."""
        done = git.run(self.root, ["show", "-s", "--no-show-signature", "--format=%at", self.commit])
        return milliseconds(done.stdout) if done.returncode == 0 else 0


class Folder:
    """The files of a folder that no git watches over."""

    commit = ""

    def __init__(self, root: str) -> None:
        self.root = root

    def files(self, wanted: Callable[[str], bool]) -> list[File]:
        """The regular files whose path is wanted, sorted; each is read for its digest."""
        names = sorted(path for path in _walk(self.root) if _can_be_named(path) and wanted(path))
        return [File(path, _blob_name(_read_file(os.path.join(self.root, path), None)[0] or b"")) for path in names]

    def read(self, files: Sequence[File], limit: int) -> Iterator[Content]:
        """Each file's content in this order."""
        for file in files:
            data, size = _read_file(os.path.join(self.root, file.path), limit)
            yield Content(file, data, size)

    def touched(self, paths: Iterable[str]) -> dict[str, Touch]:
        """The times of these files."""
        found = {}
        for path in paths:
            try:
                found[path] = Touch(max(0, min(os.lstat(os.path.join(self.root, path)).st_mtime_ns // 1_000_000, _LATEST)))
            except OSError:
                continue  # it went while we looked
        return found

    def time(self) -> int:
        """A folder has no time of its own."""
        return 0


def at_head(root: str) -> Tree | None:
    """What HEAD holds; None in a repository without commits. GitFailed where there is no repository or HEAD is broken."""
    done = git.run(root, ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])
    if done.returncode == 0:
        return Tree(root, done.stdout.decode("ascii").strip())
    symbolic = git.run(root, ["rev-parse", "--quiet", "--verify", "HEAD"])
    if symbolic.returncode == 1 and not symbolic.stdout:
        return None
    raise git.failure(root, symbolic.stderr or done.stderr)


def is_foreign(path: str) -> bool:
    """Whether a file lies in a folder of other people's or generated files."""
    return not FOREIGN.isdisjoint(path.split("/")[:-1])


def milliseconds(seconds: bytes | str) -> int:
    """Git's seconds as milliseconds, within what can be shown."""
    try:
        return max(0, min(int(seconds) * 1000, _LATEST))
    except ValueError:
        return 0


def _can_be_named(path: str) -> bool:
    return len(path) <= _LONGEST_PATH and path.isprintable()  # bytes that are no UTF-8 have become surrogates, which are not


# --- git


def _batch(root: str, files: Sequence[File], limit: int) -> Generator[Content, None, None]:
    with git.stream(root, ["cat-file", "--batch"], [file.blob for file in files]) as output:
        for file in files:
            head = output.readline().split()
            if len(head) < 2:
                break  # git is gone; the context tells why
            if head[1] == b"missing":
                yield Content(file, None, -1)
                continue
            size = int(head[2])
            data = _take(output, size, keep=size <= limit and head[1] == b"blob")
            if data is None and size <= limit:
                break
            yield Content(file, data, size)


def _take(output: IO[bytes], size: int, *, keep: bool) -> bytes | None:
    """The next ``size`` bytes and the line end behind them; None where they are not kept, or git ended in them."""
    if keep:
        data = output.read(size)
        return data if output.read(1) else None
    left = size + 1
    while left > 0:
        chunk = output.read(min(left, _CHUNK))
        if not chunk:
            break
        left -= len(chunk)
    return None


# User settings that would change what log shows.
_PLAIN = ["-c", "log.showRoot=true", "-c", "log.follow=false", "-c", "log.diffMerges=separate", "--literal-pathspecs", "log"]
_PLAIN += ["--raw", "-z", "--no-renames", "--no-abbrev", "--no-color", "--no-notes", "--no-show-signature", "--no-mailmap"]
_PLAIN += ["--encoding=UTF-8", "--no-decorate", "--ignore-submodules=none"]
_MOST_PLACES = 200  # top folders by which the log is narrowed; more would cost more than they save


def log_tokens(root: str, arguments: Sequence[str]) -> Generator[bytes, None, None]:
    """What ``git log`` prints, cut at its NULs; closing the iterator ends git. Died at the end if git failed."""
    with git.stream(root, [*_PLAIN, *arguments], []) as output:
        tail = b""
        while chunk := output.read(_CHUNK):
            *tokens, tail = (tail + chunk).split(b"\0")
            yield from tokens
        if tail:
            yield tail


def _log(root: str, commit: str, paths: set[str]) -> Generator[tuple[str, Touch], None, None]:
    """Every (path, commit) of the history, newest first, at least of these paths."""
    places = sorted({path.partition("/")[0] for path in paths})
    narrow = ["--", *places] if len(places) <= _MOST_PLACES else ["--"]
    with closing(log_tokens(root, ["--format=%H%x00%an%x00%at%x00", commit, *narrow])) as tokens:
        touch = Touch(0)
        for token in tokens:
            plain = token.lstrip(b"\n")
            if plain.startswith(b":"):
                path = next(tokens, b"").decode("utf-8", "surrogateescape")
                yield path, touch
            elif plain:
                author = next(tokens, b"").decode("utf-8", "replace")
                touch = Touch(milliseconds(next(tokens, b"0")), author, plain.decode("ascii", "replace"))


# --- folders


def _walk(root: str) -> Iterator[str]:
    """Paths of regular files, neither into links nor into foreign folders; bounded in number and depth."""
    folders = [("", 0)]
    seen = 0
    while folders:
        inner, depth = folders.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, inner)), key=lambda entry: entry.name)
        except OSError:
            continue  # not ours to read
        for entry in entries:
            seen += 1
            if seen > _MOST_ENTRIES:
                return
            path = f"{inner}/{entry.name}" if inner else entry.name
            if entry.is_file(follow_symlinks=False):
                yield path
            elif entry.is_dir(follow_symlinks=False) and entry.name not in FOREIGN and depth < _DEEPEST:
                folders.append((path, depth + 1))


def _read_file(path: str, limit: int | None) -> tuple[bytes | None, int]:
    """(data, size) of a regular file; no link is followed, and no pipe is waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None, -1
    with open(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            return None, -1
        most = _MOST_BYTES if limit is None else limit
        if state.st_size > most:
            return None, state.st_size
        try:
            return file.read(most), state.st_size
        except OSError:
            return None, -1


_MOST_BYTES = 1 << 26  # bytes that are read for a digest


def _blob_name(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def of_folder(root: str) -> Folder:
    """The files of a plain folder. InvalidInput where it is not there."""
    if not os.path.isdir(root):
        raise InvalidInput(f"{root} is not a folder", field="path", remedy="run this in the folder of the memory")
    return Folder(root)
