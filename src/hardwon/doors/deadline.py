"""The time that a hook may take: when it is over, the process answers with nothing and ends.

A thread watches, not a signal: Python runs a signal's handler only when the main thread comes back from C, so that a hook which waits
within SQLite for a disk or a lock would be late by as much (docs/decisions/0019). Ending in the middle of a write is what the
store is made for: a transaction is there as a whole or not at all.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Deadline:
    """``seconds`` from now. ``late`` is called in the thread when they are over, and must not import anything; then the process exits
    with 0. Whoever claims first, the hook or the deadline, is the one that answers."""

    def __init__(self, seconds: float, late: Callable[[], None]) -> None:
        self._begun = monotonic()
        self._end = self._begun + seconds
        self._late = late
        self._over = allocate_lock()
        self._over.acquire()
        self._claimed = allocate_lock()
        start_new_thread(self._watch, ())

    def set(self, seconds: float) -> None:
        """Another time, counted from the beginning."""
        self._end = self._begun + seconds

    def left(self) -> float:
        """Seconds that are left."""
        return self._end - monotonic()

    def claim(self) -> None:
        """Answer from now on: the deadline does not end the process any more. Does not return where it is over already."""
        if not self._claimed.acquire(blocking=False):
            while True:  # the other thread is ending the process
                sleep(1)
        self._over.release()

    def _watch(self) -> None:
        while (left := self.left()) > 0:
            if self._over.acquire(timeout=min(left, 0.05)):
                return
        if self._claimed.acquire(blocking=False):
            try:
                self._late()
            finally:
                os._exit(0)
