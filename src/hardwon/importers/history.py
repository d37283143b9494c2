"""A repository's commits, read from git as a stream of changes.

One ``git diff-tree --stdin`` prints every commit asked for: message, names of files, patch without context. It is plumbing, so a
user's diff settings (prefixes, external tools, colours, algorithm) do not reach it. A record begins with a NUL at the start of
a line, which neither a message nor a patch can contain: the lines of a patch begin with one of ``d i - + @ \\`` and so on.
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from threading import Thread
from typing import IO

from hardwon.errors import GitFailed, InvalidInput
from hardwon.importers.message import pull_request, relations, revert_reason, split_message
from hardwon.types import Change

__all__ = ["list_commits", "read_commits", "revert_reason"]

FILES_LIMIT = 40
FUNCTIONS_LIMIT = 40
FUNCTION_LENGTH = 120  # characters
IDENTIFIERS_LIMIT = 400
LINE_LENGTH = 400  # characters; longer lines are generated, and hold no names that somebody chose
DIFF_LIMIT = 200_000  # bytes of a commit's diff that are read for identifiers
LATEST = 253_402_300_799_000  # milliseconds; the end of the year 9999

# Git writes the message between NULs. The space keeps its last line break away from a NUL, where it would look like a record.
_FORMAT = "--format=%x00%H%x00%an%x00%at%x00%B%x20%x00"
_TREE = ["diff-tree", "--stdin", "--root", "--always", "-r", "--raw", "--encoding=UTF-8", "--no-notes", _FORMAT]
_TREE += ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none", "--submodule=short"]
# Full object names are quicker than short ones, which git must prove to be unique.
_WITH_PATCH = [*_TREE, "-p", "-U0", "--inter-hunk-context=0", "-M", "-l200", "--full-index"]
_WITH_PATCH += ["--diff-algorithm=myers", "--indent-heuristic"]
# What can be told without file contents, as a partial clone lacks them; and without trees.
_WITH_NAMES = [*_TREE, "-M100%"]
_MESSAGES = ["log", "--no-walk=unsorted", "--stdin", "--ignore-missing", "-s", "--encoding=UTF-8", "--no-notes", _FORMAT]
_MESSAGES += ["--no-show-signature", "--no-color", "--no-decorate"]

_SETTINGS = (
    "core.quotepath=off",
    f"core.attributesFile={os.devnull}",
    "core.bigFileThreshold=512m",
    "diff.suppressBlankEmpty=false",
)
# A caller's own git (a hook, an alias) leaves variables that would point elsewhere or change the output; these may stay.
_KEPT = ("GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG_")
# A partial clone would fetch each missing file by itself, over the network.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1", "GIT_PAGER": "cat", "LC_ALL": "C"}
# diff-tree reads the index, which it does not need here, and dies if it is damaged.
_QUIET["GIT_INDEX_FILE"] = "/nonexistent/index"

_FIELDS = 4  # hash, author, seconds, message; the diff follows
_NO_LINE_BREAK = b"\\ No newline at end of file"
_HEAD_LENGTH = 4_096  # bytes
_CHUNK = 1 << 16  # bytes; what a pipe holds
_PATIENCE = 10  # unreadable commits in a row that are passed over one by one
_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@(.*)")
_LATER_HUNK = re.compile(rb"\n@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@([^\n]*)(?=\n)")
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b'"': b'"', b"\\": b"\\"}


def list_commits(root: str, limit: int = 100_000) -> list[str]:
    """The hashes of the newest commits (merges left out) that HEAD reaches, newest first; none in an empty repository.

    GitFailed if ``root`` is no repository, or git is missing or refuses.
    """
    done = _run(root, ["rev-list", "--no-merges", "--date-order", f"--max-count={limit}", "HEAD", "--"])
    if done.returncode == 0:
        return done.stdout.decode("ascii").split()
    # Asked only now: a branch without commits fails like a broken one, but has no hash.
    if _run(root, ["rev-parse", "--quiet", "--verify", "HEAD"]).returncode == 1:
        return []
    raise _failure(root, done.stderr)


def read_commits(root: str, shas: Sequence[str], branch: str = "") -> Iterator[Change]:
    """Each of ``shas`` (full hashes) as a change, in that order, parsed while git runs; closing the iterator ends git.

    A commit whose files cannot be read (a partial clone, a damaged object) has its message and, if possible, the names of its
    files; one that git does not know is left out. Nothing is fetched. A merge has no diff. InvalidInput for a hash that is none;
    GitFailed if git is missing or refuses.
    """
    for sha in shas:
        if not _NAME.fullmatch(sha):
            raise InvalidInput(f"not a full commit hash: {sha!r}", field="shas", remedy="pass what list_commits returned")
    return _changes(root, shas, branch)


class _Died(Exception):
    """Git ended before it was asked to."""


def _changes(root: str, shas: Sequence[str], branch: str) -> Iterator[Change]:
    at, misses = 0, 0
    while at < len(shas):
        start = at
        held: Change | None = None  # whole only when the next one begins, or git ends well
        try:
            with closing(_stream(root, _WITH_PATCH, shas[at:], branch)) as changes:
                for change in changes:
                    if held is not None:
                        at = shas.index(held.sha, at) + 1
                        yield held
                    held = change
            if held is not None:
                yield held
            return
        except _Died:
            pass
        # The one held back lacks a part of its patch, or git was killed in it: it is read again, and if it is the first then, it is
        # the unreadable one.
        if at > start:
            misses = 0
            continue
        misses += 1
        # Where nothing can be read, not every commit shall cost processes of its own.
        batch = max(1, misses - _PATIENCE)
        yield from _without_patches(root, shas[at : at + batch], branch)
        at += batch


def _without_patches(root: str, shas: Sequence[str], branch: str) -> Iterator[Change]:
    at = 0
    try:
        with closing(_stream(root, _WITH_NAMES, shas, branch)) as changes:
            for change in changes:
                at = shas.index(change.sha, at) + 1
                yield change
    except _Died:
        done = _run(root, _MESSAGES, "\n".join(shas[at:]))
        if done.returncode:
            raise _failure(root, done.stderr) from None
        yield from _parse(partial(io.BytesIO(done.stdout).read, _CHUNK), branch)


def _stream(root: str, command: list[str], shas: Sequence[str], branch: str) -> Generator[Change, None, None]:
    """The changes that one git process prints. _Died after the last one if git failed; its words are not kept."""
    process = _start(root, command)
    assert process.stdin and process.stdout  # noqa: S101 - for mypy: both are pipes
    # A thread of its own, because git stops reading while its output is not read.
    feeder = Thread(target=_feed, args=(process.stdin, shas), daemon=True)
    feeder.start()
    try:
        yield from _parse(partial(process.stdout.read1, _CHUNK), branch)  # type: ignore[attr-defined]
        if process.wait():
            raise _Died
    finally:
        process.kill()
        process.wait()
        feeder.join()
        process.stdout.close()


def _feed(pipe: IO[bytes], shas: Sequence[str]) -> None:
    try:
        with pipe:
            pipe.write("".join(f"{sha}\n" for sha in shas).encode("ascii"))
    except OSError:
        pass  # git is gone; whoever reads its output sees that


def _start(root: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            _command(root, arguments), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=_environment()
        )
    except OSError as error:
        raise _no_git(error) from None
    _widen(process)
    return process


def _widen(process: subprocess.Popen[bytes]) -> None:
    """A megabyte of pipe, so that git goes on while a slice is written: a quarter of the time (6.1 s for 8.2 s on 5,000 commits)."""
    if process.stdout is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(process.stdout.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass  # the system allows less; 64 kB work too


def _run(root: str, arguments: list[str], stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    command = _command(root, arguments)
    try:
        return subprocess.run(command, input=stdin.encode("ascii"), capture_output=True, env=_environment(), check=False)
    except OSError as error:
        raise _no_git(error) from None


def _command(root: str, arguments: list[str]) -> list[str]:
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    return ["git", "--no-pager", "-C", root, *settings, *arguments]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {**kept, **_QUIET, **_OFFLINE}


def _no_git(error: OSError) -> GitFailed:
    return GitFailed(f"git could not be started: {error}", remedy="install git, and see that it is found on PATH")


def _failure(root: str, stderr: bytes) -> GitFailed:
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or ["git gave no reason"]
    words = next((line for line in reversed(lines) if line.startswith("fatal:")), lines[-1]).removeprefix("fatal:").strip()
    if "dubious ownership" in words:
        remedy = f"if you trust it: git config --global --add safe.directory {os.path.abspath(root)}"
    elif "not a git repository" in words or "cannot change to" in words:
        remedy = "name a folder inside a git repository"
    else:
        remedy = f"see what this says: git -C {root} fsck --connectivity-only"
    return GitFailed(f"git: {words}", field="root", remedy=remedy)


def _parse(read: Callable[[], bytes], branch: str) -> Iterator[Change]:
    for record in _records(read):
        if change := record.change(branch):
            yield change


def _records(read: Callable[[], bytes]) -> Iterator[_Record]:
    record = None
    tail = b"\n"
    while chunk := read():
        pieces = (tail + chunk).split(b"\n\0")
        tail = b""
        if pieces[-1].endswith(b"\n"):  # perhaps the first half of a boundary
            pieces[-1] = pieces[-1][:-1]
            tail = b"\n"
        if record:
            record.feed(pieces[0])
        for piece in pieces[1:]:
            if record:
                yield record
            record = _Record()
            record.feed(piece)
    if record:
        yield record


class _Record:
    """What git printed of one commit; the first 200 kB of its diff are held, of the rest only hunks are counted."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.limit = DIFF_LIMIT
        self.diff = _Diff()
        self.carry: bytes | None = None

    def feed(self, piece: bytes) -> None:
        """Takes the next part, of any size."""
        if self.carry is not None:
            self.carry = self.diff.skim(self.carry + piece)
            return
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size > self.limit:
            self._settle()

    def _settle(self) -> None:
        text = b"".join(self.pieces)
        *fields, diff = text.split(b"\0", _FIELDS)
        if len(fields) < _FIELDS:  # the message itself is that long
            self.pieces, self.limit = [text], 2 * self.size
        elif len(diff) <= DIFF_LIMIT:
            self.pieces, self.limit = [text], self.size - len(diff) + DIFF_LIMIT
        else:
            cut = diff.rfind(b"\n", 0, DIFF_LIMIT)
            self.pieces = [*(field + b"\0" for field in fields)]
            self.diff.read(diff[:cut])
            self.carry = self.diff.skim(diff[cut:])

    def change(self, branch: str) -> Change | None:
        """The commit as a change; None if git died within its message."""
        *fields, rest = b"".join(self.pieces).split(b"\0", _FIELDS)
        if len(fields) < _FIELDS:
            return None
        diff = self.diff
        diff.read(rest)
        sha, author, seconds, message = (field.decode("utf-8", "replace") for field in fields)
        subject, body = split_message(message)
        return Change(
            sha=sha,
            at=_milliseconds(seconds),
            subject=subject,
            body=body,
            author=author,
            branch=branch,
            files=tuple(diff.files),
            functions=tuple(diff.functions),
            added=_identifiers(diff.added),
            removed=_identifiers(diff.removed),
            lines_added=diff.lines_added,
            lines_removed=diff.lines_removed,
            pull_request=pull_request(subject, body),
            relations=relations(sha, message),
        )


class _Diff:
    """What counts of a commit's raw lines (``:mode mode blob blob status<TAB>names``) and of its patch without context."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.functions: dict[str, None] = {}
        self.added: list[bytes] = []
        self.removed: list[bytes] = []
        self.lines_added = 0
        self.lines_removed = 0

    def read(self, text: bytes) -> None:
        """Takes all of ``text``. Only heads of files and hunks are looked at singly: a hunk tells how many lines follow."""
        lines = text.split(b"\n")
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.startswith(b"@@"):
                removed, added = self._hunk(_HUNK.match(line))
                self.removed += lines[at : at + removed]
                at += removed
                if added and lines[at : at + 1] == [_NO_LINE_BREAK]:
                    at += 1
                self.added += lines[at : at + added]
                at += added
            elif line.startswith(b":") and len(self.files) < FILES_LIMIT:
                self.files.append(_file_name(line.rpartition(b"\t")[2]))

    def skim(self, text: bytes) -> bytes:
        """Takes the hunks' heads only, from whole lines after the first line break; returns what to put before the next text."""
        for head in _LATER_HUNK.finditer(text):
            self._hunk(head)
        # Of an unfinished line the start is enough: no hunk's head is longer.
        end = max(text.rfind(b"\n"), 0)
        return text[end : end + _HEAD_LENGTH]

    def _hunk(self, head: re.Match[bytes] | None) -> tuple[int, int]:
        if not head:
            return 0, 0
        removed, added = (1 if count is None else int(count) for count in head.group(1, 2))
        self.lines_removed += removed
        self.lines_added += added
        if len(self.functions) < FUNCTIONS_LIMIT and head[3]:
            text = head[3].decode("utf-8", "replace").strip()[:FUNCTION_LENGTH]
            if text:
                self.functions[text] = None
        return removed, added


def _identifiers(lines: list[bytes]) -> tuple[str, ...]:
    """The identifiers of lines (with their + or - before them), most frequent first, then by first appearance."""
    if not lines:
        return ()
    if max(map(len, lines)) > LINE_LENGTH:
        lines = [line for line in lines if len(line) <= LINE_LENGTH or len(line.decode("utf-8", "replace")) <= LINE_LENGTH]
    counts = Counter(_IDENTIFIER.findall(b"\n".join(lines)))
    return tuple(word.decode("ascii") for word, _ in counts.most_common(IDENTIFIERS_LIMIT))


def _file_name(name: bytes) -> str:
    """A name as git prints it: in C's quotes if it holds quotes, backslashes or control characters."""
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1])
    return name.decode("utf-8", "replace")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return _ESCAPED[code] if code in _ESCAPED else bytes([int(code, 8)])


def _milliseconds(seconds: str) -> int:
    """The time of a commit, kept between 1970 and 9999; 0 if git could not read it."""
    digits = seconds.strip().removeprefix("-")
    if not digits.isdecimal() or seconds.startswith("-"):
        return 0
    return min(int(digits) * 1000, LATEST)
