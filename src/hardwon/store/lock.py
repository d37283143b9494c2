"""The kernel lock that writers queue on: nobody starves, and it is gone with the process that held it."""

from __future__ import annotations

import _thread
import fcntl
import os

from hardwon.errors import Busy

# Every descriptor of a lock in this process, to be closed in a child that it forks.
_descriptors: set[int] = set()
# Seconds that somebody has to have waited before the holder is looked for: all locks of the machine are listed for it, which can take
# some ten milliseconds, and who does not wait has other plans than to read who it is.
_WORTH_A_LOOK = 0.1


class FileLock:
    """An exclusive lock on a file of its own, between processes and between threads.

    Each ``acquire`` opens the file anew, because ``flock`` belongs to the open file: a shared descriptor would let two
    threads in at once. Waiting happens in the kernel's queue, not by polling, which starves the slow. Whoever comes while a lock
    is being handed on may still be first; strict turns cost more than they gave (docs/decisions/0014).
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._held: int | None = None
        self._process = 0

    def acquire(self, timeout: float) -> None:
        """Take the lock, waiting at most ``timeout`` seconds; Busy when it stays taken."""
        self._process = os.getpid()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _descriptors.add(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _wait(descriptor, timeout, self.path)
        except BaseException:
            _close(descriptor)
            raise
        self._held = descriptor

    def __del__(self) -> None:
        """A lock whose holder was interrupted between taking it and using it."""
        self.release()

    def release(self) -> None:
        """Give the lock back; closing the descriptor does it. In a forked child it was closed when the child began."""
        held, self._held = self._held, None
        if held is not None and self._process == os.getpid():
            _close(held)


def _close(descriptor: int) -> None:
    _descriptors.discard(descriptor)
    os.close(descriptor)


def _close_in_child() -> None:
    """A child has the open files of its parent, and with them its locks: they would be held for as long as the child lives."""
    for descriptor in _descriptors:
        os.close(descriptor)
    _descriptors.clear()


os.register_at_fork(after_in_child=_close_in_child)


def _wait(descriptor: int, timeout: float, path: str) -> None:
    """Block in the kernel in a thread of its own, since ``flock`` knows no deadline and a signal would need the main thread.

    Returns with the lock taken; else the descriptor is closed, by the thread where that still waits. The thread and the lock that
    wakes the caller are bare ones: those of ``threading`` wait for the thread to have begun, and wake through a second lock.
    """
    if timeout <= 0:
        _close(descriptor)
        raise _busy(path, timeout)
    # Who has answered for the descriptor: the first of the two to say so. setdefault is one step, which no interrupt can halve.
    answers: dict[str, str] = {}
    failures: list[OSError] = []
    wake = _thread.allocate_lock()
    wake.acquire()

    def block() -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            failures.append(error)
        if answers.setdefault("first", "thread") == "thread":
            wake.release()
        else:
            _close(descriptor)

    try:
        _thread.start_new_thread(block, ())
    except RuntimeError as error:  # the system has no thread left
        _close(descriptor)
        raise _busy(path, 0) from error
    except BaseException:  # an interrupt, when it has begun
        _abandon(answers, descriptor)
        raise
    try:
        wake.acquire(True, min(timeout, _thread.TIMEOUT_MAX))  # the answer is the same at a deadline that the lock just met
        got = answers.setdefault("first", "caller") == "thread"
        if failures:
            raise failures[0]
    except BaseException:  # an interrupt: the thread must not keep what it gets later
        _abandon(answers, descriptor)
        raise
    if not got:
        raise _busy(path, timeout)


def _abandon(answers: dict[str, str], descriptor: int) -> None:
    """Nobody wants the lock any more: the thread closes its descriptor, or has answered for it and leaves that to the caller."""
    if answers.setdefault("first", "caller") == "thread":
        _close(descriptor)


def _busy(path: str, timeout: float) -> Busy:
    who = ""
    if timeout >= _WORTH_A_LOOK:
        from hardwon.store.holders import owners, told

        who = told(owners(path), "")
    return Busy(
        f"{who or 'another process'} has held {path} for more than {timeout:g} s",
        remedy=f"try again; if it stays so, see {'what it does' if who else 'which process holds the file'}",
    )
