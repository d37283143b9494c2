"""A disk that dies at a chosen call, and processes that run on it: what a kill or a refusing system leaves is looked at afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from hardwon.store import files
from hardwon.store.files import Disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLS = ("open", "write", "truncate", "allocate", "sync", "close", "replace", "link", "unlink", "make_folder", "sync_folder")


class CountingDisk(Disk):
    """Calls ``at`` with the number (from 1) and name of each call, before it is made."""

    def __init__(self) -> None:
        self.calls = 0

    def at(self, number: int, name: str, words: tuple[Any, ...]) -> None:
        """What happens at a call."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in CALLS:
            return found

        def called(*words: Any) -> Any:
            self.calls += 1
            self.at(self.calls, name, words)
            return found(*words)

        return called


class DyingDisk(CountingDisk):
    """Kills the process before the n-th call."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self._last = last

    def at(self, number: int, name: str, words: tuple[Any, ...]) -> None:
        if number == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


class RefusingDisk(CountingDisk):
    """The n-th call fails with an error number."""

    def __init__(self, which: int, errno: int) -> None:
        super().__init__()
        self._which, self._errno = which, errno

    def at(self, number: int, name: str, words: tuple[Any, ...]) -> None:
        if number == self._which:
            raise OSError(self._errno, os.strerror(self._errno))


class LinklessDisk(Disk):
    """A file system that knows no second names."""

    def link(self, source: str, target: str) -> None:
        raise PermissionError(1, "Operation not permitted")


def kills(code: str, folder: Path, *words: str, last: int = 200) -> Iterator[int]:
    """Run ``code`` in processes of their own, killed before the first, second, … call of the disk, until one gets to its end; the number
    after each that was killed. ``code`` runs with ``words`` as ``sys.argv[2:]``."""
    begin = (
        "import sys; from hardwon.store import files; from tests.dying import DyingDisk; files.use(DyingDisk(int(sys.argv[1])))\n"
    )
    for number in range(1, last):
        command = [sys.executable, "-c", begin + code, str(number), *words]
        root = os.path.dirname(os.path.dirname(__file__))
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode == 0:
            return
        assert done.returncode == -signal.SIGKILL, done.stderr
        yield number
    raise AssertionError(f"it did not end within {last} calls")


class used:  # noqa: N801  # read as a word
    """``with used(disk)``: everything is written through it."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def __enter__(self) -> Disk:
        self._before = files.use(self._disk)
        return self._disk

    def __exit__(self, *_: object) -> None:
        files.use(self._before)
