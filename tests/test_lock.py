"""The writers' lock: taken by one, waited for until a deadline, and gone with whoever gave up, died or forked."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon.errors import Busy
from hardwon.store.lock import FileLock
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

# Takes the lock, says so, and gives it back when it is told to.
HOLDER = """
import sys
from hardwon.store.lock import FileLock
lock = FileLock(sys.argv[1])
lock.acquire(60)
print("held", flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a.lock")


@contextlib.contextmanager
def holder(path: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
        process.kill()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def is_free(path: str) -> bool:
    """Within seconds: a thread that had given up may be just about to close what it got."""
    lock = FileLock(path)
    try:
        lock.acquire(20)
    except Busy:
        return False
    lock.release()
    return True


def open_files(path: str) -> int:
    """How many descriptors of this process are of that file."""
    found = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return sum(os.path.exists(one) and os.path.realpath(one) == os.path.realpath(path) for one in found)


def test_a_lock_that_stays_taken_is_told_as_busy_and_names_who_has_it(path: str) -> None:
    with holder(path) as other:
        for timeout in (0, -1.0, 0.01, 0.2):
            with pytest.raises(Busy) as refused:
                FileLock(path).acquire(timeout)
        assert not Path("/proc/locks").exists() or f"process {other.pid} " in str(refused.value)


@pytest.mark.parametrize("timeout", [60.0, 1e9, float("inf")])
def test_whoever_waits_gets_it_when_it_is_given_back(path: str, timeout: float) -> None:
    with holder(path) as other:
        threading.Timer(0.05, tell, (other,)).start()
        lock = FileLock(path)
        lock.acquire(timeout)
        with pytest.raises(Busy):
            FileLock(path).acquire(0)
        lock.release()


def test_whoever_waits_gets_it_when_its_holder_is_killed(path: str) -> None:
    with holder(path) as other:
        threading.Timer(0.05, other.kill).start()
        FileLock(path).acquire(60)
        assert is_free(path)  # the one above was dropped at once


def test_who_gives_up_keeps_neither_the_lock_nor_an_open_file(path: str) -> None:
    with holder(path) as other:
        for _ in range(20):
            with pytest.raises(Busy):
                FileLock(path).acquire(0.001)
        tell(other)
        assert is_free(path)
    if Path("/proc/self/fd").exists():
        assert wait_for(lambda: not open_files(path), pause=0.002)


def test_deadlines_that_the_lock_just_meets_leave_it_to_one(path: str) -> None:
    """The lock comes at the very moment at which the other gives up."""
    got = 0
    for number in range(200):
        first, second = FileLock(path), FileLock(path)
        first.acquire(1)
        timer = threading.Timer(0.002, first.release)
        timer.start()
        with contextlib.suppress(Busy):
            second.acquire(0.0005 + number % 20 * 0.0002)
            got += 1
            with pytest.raises(Busy):
                FileLock(path).acquire(0)
        second.release()
        timer.join()
        assert is_free(path)
    assert got > 0


def test_an_interrupt_while_waiting_leaves_no_lock_behind(path: str) -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with holder(path) as other:
        for delay in (0.0, 0.001, 0.01, 0.05):
            with pytest.raises(KeyboardInterrupt):
                threading.Timer(delay, interrupt).start()
                FileLock(path).acquire(60)
                time.sleep(60)
        tell(other)
        assert is_free(path)
    if Path("/proc/self/fd").exists():
        assert wait_for(lambda: not open_files(path), pause=0.002)


def test_threads_take_turns(path: str) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            lock = FileLock(path)
            lock.acquire(60)
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.0002)
            inside.remove(number)
            lock.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1] * 160


FORKER = """
import os, signal, sys, threading, time
from hardwon.store.lock import FileLock
lock = FileLock(sys.argv[1])
waiting = threading.Thread(target=lock.acquire, args=(60,), daemon=True)
waiting.start()
waiting.join(0.3 if sys.argv[2] == "waits" else 60)
if os.fork() == 0:
    try:
        lock.release()
    except OSError as error:
        print(error, flush=True)
    print("forked", flush=True)
    time.sleep(60)
    os._exit(0)
waiting.join()
sys.stdin.readline()
if sys.argv[2] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
lock.release()
print("released", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ["releases", "dies", "waits"])
def test_a_child_that_lives_on_holds_nothing_of_its_parent(path: str, how: str) -> None:
    """A lock belongs to the open file, which a fork has as well: pools of workers outlive whoever made them."""
    own = FileLock(path)
    if how == "waits":
        own.acquire(1)
    command = [sys.executable, "-c", FORKER, path, how]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:  # fmt: skip
        assert parent.stdout is not None and parent.stdout.readline() == "forked\n"
        with pytest.raises(Busy):  # what the child closes and releases, its parent keeps
            FileLock(path).acquire(0.05)
        own.release()
        tell(parent)
        if how == "dies":
            assert parent.wait() == -signal.SIGKILL
        else:
            assert parent.stdout.readline() == "released\n"
        try:
            FileLock(path).acquire(5)
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
