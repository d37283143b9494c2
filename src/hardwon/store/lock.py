"""The kernel lock that writers queue on: fair, and gone with the process that held it."""

from __future__ import annotations

import fcntl
import os

from hardwon.errors import Busy


class FileLock:
    """An exclusive lock on a file of its own, between processes and between threads.

    Each ``acquire`` opens the file anew, because ``flock`` belongs to the open file: a shared descriptor would let two
    threads in at once. Waiting happens in the kernel's queue, not by polling, which starves the slow.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._held: int | None = None

    def acquire(self, timeout: float) -> None:
        """Take the lock, waiting at most ``timeout`` seconds; Busy when it stays taken."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            descriptor = _wait(descriptor, timeout, self.path)
        except BaseException:
            os.close(descriptor)
            raise
        self._held = descriptor

    def __del__(self) -> None:
        """A lock whose holder was interrupted between taking it and using it."""
        self.release()

    def release(self) -> None:
        """Give the lock back; closing the descriptor does it."""
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _wait(descriptor: int, timeout: float, path: str) -> int:
    """Block in the kernel in a thread of its own, since ``flock`` knows no deadline and a signal would need the main thread."""
    import threading

    state = threading.Condition()
    outcome = {"got": False, "abandoned": False}

    def block() -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with state:
            if outcome["abandoned"]:
                os.close(descriptor)
            outcome["got"] = True
            state.notify()

    threading.Thread(target=block, name="hardwon-lock", daemon=True).start()
    try:
        with state:
            state.wait_for(lambda: outcome["got"], timeout)
            if outcome["got"]:
                return descriptor
            outcome["abandoned"] = True
    except BaseException:  # an interrupt: the thread must not keep what it gets later
        with state:
            outcome["abandoned"] = True
            if outcome["got"]:
                os.close(descriptor)
        raise
    from hardwon.store.holders import owners, told

    who = told(owners(path), "")
    raise Busy(
        f"{who or 'another process'} has held {path} for more than {timeout:g} s",
        remedy=f"try again; if it stays so, see {'what it does' if who else 'which process holds the file'}",
    )
