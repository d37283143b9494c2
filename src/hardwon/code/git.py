"""Git as a process: quiet, offline, deaf to the user's settings and to the variables of a git around us, never a hook or a driver.

Objects are read as they are: replacements and grafts are local to one clone, while what is derived from a commit has to be the
same in every clone.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO

from hardwon.errors import GitFailed

__all__ = ["Died", "failure", "last_words", "local", "run", "stream"]

_SETTINGS = (
    "core.quotepath=off",
    f"core.attributesFile={os.devnull}",
    # Git holds a file of a diff in memory, both sides of it. What is larger than this was made by a program.
    "core.bigFileThreshold=64m",
    "diff.suppressBlankEmpty=false",
    # Commands that a repository's own configuration may name. Even diff-tree, which needs no working tree, asks the file monitor.
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
)
# A caller's own git (a hook, an alias) leaves variables that would point elsewhere or change the output; these may stay.
_KEPT = ("GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG_")
# A partial clone would fetch each missing file by itself, over the network.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1", "GIT_PAGER": "cat", "LC_ALL": "C"}
_TRUE = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/nonexistent/grafts"}
_PROMISES = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"
# diff-tree reads the index, which it does not need here, and dies if it is damaged.
_QUIET["GIT_INDEX_FILE"] = "/nonexistent/index"


class Died(Exception):
    """Git ended before it was asked to."""


def run(root: str, arguments: Sequence[str], stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    """Git in the folder ``root``, to its end; GitFailed only if it cannot be started."""
    try:
        return subprocess.run(
            _command(root, arguments), input=stdin.encode("ascii"), capture_output=True, env=_environment(), check=False
        )
    except OSError as error:
        raise _no_git(error) from None


@contextmanager
def stream(root: str, arguments: Sequence[str], lines: Sequence[str]) -> Generator[IO[bytes], None, None]:
    """What git prints while it is fed ``lines``; leaving the context ends git. Died at the end of the context if git failed by
    itself; its words are not kept. GitFailed if it cannot be started."""
    process = _start(root, arguments)
    assert process.stdin and process.stdout  # noqa: S101 - for mypy: both are pipes
    # A thread of its own, because git stops reading while its output is not read.
    feeder = Thread(target=_feed, args=(process.stdin, lines), daemon=True)
    feeder.start()
    try:
        yield process.stdout
        if process.wait():
            raise Died
    finally:
        process.kill()
        process.wait()
        feeder.join()
        process.stdout.close()


@contextmanager
def local(root: str) -> Generator[str, None, None]:
    """A folder in which git reads the objects of ``root`` without asking anybody for those that are missing.

    In a partial clone git looks for each missing object in all that the other side once promised: seconds for one, even where
    fetching is off, and it then dies instead of saying ``missing``. So a partial clone's objects are borrowed by a repository
    that promises nothing. Elsewhere it is ``root``.
    """
    if run(root, ["config", "--get-regexp", _PROMISES]).returncode:
        yield root
        return
    found = run(root, ["rev-parse", "--show-object-format", "--git-path", "objects"]).stdout.decode("utf-8", "surrogateescape")
    name, _, objects = found.rstrip("\n").partition("\n")
    with TemporaryDirectory(prefix="hardwon-") as folder:
        _borrow(os.path.join(folder, ".git"), name, os.path.abspath(os.path.join(root, objects)))
        yield folder


def _borrow(git_dir: str, object_format: str, objects: str) -> None:
    quoted = objects.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    config = f"[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = {object_format}\n"
    os.makedirs(os.path.join(git_dir, "refs"))
    os.makedirs(os.path.join(git_dir, "objects", "info"))
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", config), ("objects/info/alternates", f'"{quoted}"\n')):
        with open(os.path.join(git_dir, name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)


def _feed(pipe: IO[bytes], lines: Sequence[str]) -> None:
    try:
        with pipe:
            pipe.write("".join(f"{line}\n" for line in lines).encode("ascii"))
    except OSError:
        pass  # git is gone; whoever reads its output sees that


def _start(root: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
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


def _command(root: str, arguments: Sequence[str]) -> list[str]:
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    return ["git", "--no-pager", "-C", root, *settings, *arguments]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {**kept, **_QUIET, **_OFFLINE, **_TRUE}


def _no_git(error: OSError) -> GitFailed:
    return GitFailed(f"git could not be started: {error}", remedy="install git, and see that it is found on PATH")


def failure(root: str, stderr: bytes) -> GitFailed:
    """Git's own words as our error, with what to do about the usual ones."""
    words = last_words(stderr)
    if "dubious ownership" in words:
        remedy = f"if you trust it: git config --global --add safe.directory {os.path.abspath(root)}"
    elif "not a git repository" in words or "cannot change to" in words:
        remedy = "name a folder inside a git repository"
    else:
        remedy = f"see what this says: git -C {root} fsck --connectivity-only"
    return GitFailed(f"git: {words}", field="root", remedy=remedy)


def last_words(stderr: bytes) -> str:
    """The reason that git gave, one line without its ``fatal:``."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or ["git gave no reason"]
    return next((line for line in reversed(lines) if line.startswith("fatal:")), lines[-1]).removeprefix("fatal:").strip()
