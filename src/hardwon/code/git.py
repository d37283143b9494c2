"""Git as a process: quiet, offline, deaf to the user's settings and to the variables of a git around us, never a hook or a driver.

Objects are read as they are: replacements and grafts are local to one clone, while what is derived from a commit has to be the
same in every clone.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO

from hardwon.code.git_settings import command, environment
from hardwon.code.pipes import widen
from hardwon.errors import GitFailed

__all__ = ["Died", "failure", "last_words", "local", "present", "run", "stream"]

_PROMISES = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"


class Died(Exception):
    """Git ended before it was asked to."""


def run(
    root: str, arguments: Sequence[str], stdin: str = "", *, index: bool = False, patience: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Git in the folder ``root``, to its end; GitFailed only if it cannot be started. ``index``: it needs the list of what is tracked;
    ``patience``: subprocess.TimeoutExpired after so many seconds."""
    variables = environment()
    if index:
        del variables["GIT_INDEX_FILE"]
    try:
        return subprocess.run(
            command(root, arguments),
            input=stdin.encode("ascii"),
            capture_output=True,
            env=variables,
            check=False,
            timeout=patience,
        )
    except OSError as error:
        raise _no_git(error) from None


def present(root: str, shas: Iterable[str]) -> set[str] | None:
    """Those of ``shas`` (full hashes) that git has as commits; None where it cannot tell. Of a partial clone ask where it is ``local``."""
    done = run(root, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], "".join(f"{sha}\n" for sha in shas))
    if done.returncode:
        return None
    rows = (line.split() for line in done.stdout.decode("ascii", "replace").splitlines())
    return {row[0] for row in rows if row[1:] == ["commit"]}


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


class Blobs:
    """Contents of objects by their names, one at a time, from one process of git. To be closed."""

    def __init__(self, root: str) -> None:
        self._process = _start(root, ["cat-file", "--batch"])

    def content(self, name: str, most: int) -> bytes | None:
        """The blob of that name (a hash, or ``commit:path``); None for what git has not, what is no blob, or what is larger."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked and told  # noqa: S101 - for mypy: both are pipes
        if "\n" in name:
            return None
        try:
            asked.write(name.encode("utf-8", "surrogateescape") + b"\n")
            asked.flush()
        except OSError:
            return None
        head = told.readline().split()
        if len(head) < 3 or not head[-1].isdigit():
            return None
        content = told.read(int(head[-1]) + 1)[:-1]
        return content if head[-2] == b"blob" and len(content) <= most else None

    def close(self) -> None:
        """End git."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    pass  # what was not sent is not needed any more


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
            command(root, arguments), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment()
        )
    except OSError as error:
        raise _no_git(error) from None
    if process.stdout is not None:
        widen(process.stdout.fileno())
    return process


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
