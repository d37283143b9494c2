"""A store in memory: the same promises but durability. For tests, and the measure of how narrow the protocol is."""

from __future__ import annotations

from threading import Lock, RLock

from hardwon.errors import Busy
from hardwon.store.memory_read import MemoryReader, State
from hardwon.store.memory_write import MemoryWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal

    from hardwon.store.keys.secret import Secret
    from hardwon.types import Finding


class MemoryStore:
    """A repository's memory that ends with the process."""

    path = ""
    recipient = ""

    def __init__(self) -> None:
        self._state = State()
        self._lock = RLock()
        self._queues: dict[str, Lock] = {}

    def read(self) -> _View:
        """A view of what is committed."""
        return _View(self)

    def write(self, timeout: float = 30.0) -> _Transaction:
        """A transaction; one at a time."""
        return _Transaction(self, timeout)

    def queue(self, work: str) -> _Queue:
        """The line for work that one thread at a time should do."""
        return _Queue(self._queues.setdefault(work, Lock()))

    def secrets(self) -> tuple[Secret, ...]:
        """Nothing is sealed."""
        return ()

    def checkpoint(self, timeout: float = 30.0) -> None:
        """Nothing to move."""

    def compact(
        self, timeout: float = 30.0, progress: Callable[[int, int], None] | None = None, *, full: bool = False
    ) -> tuple[int, int]:
        """Nothing to give back."""
        return 0, 0

    def scrub(self, timeout: float = 30.0) -> bool:
        """Nothing to write anew."""
        return True

    def check(self) -> list[Finding]:
        """Nothing can be damaged here."""
        return []

    def check_quickly(self) -> list[Finding]:
        """Nor quickly."""
        return []

    def close(self) -> None:
        """Nothing to let go of."""


class _Queue:
    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def acquire(self, timeout: float) -> None:
        if not self._lock.acquire(timeout=timeout):
            raise Busy(f"another thread has been at it for more than {timeout:g} s", remedy="try again")

    def release(self) -> None:
        self._lock.release()


class _View:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __enter__(self) -> MemoryReader:
        return MemoryReader(self._store._state)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        return False


class _Transaction:
    def __init__(self, store: MemoryStore, timeout: float) -> None:
        self._store = store
        self._timeout = timeout

    def __enter__(self) -> MemoryWriter:
        if not self._store._lock.acquire(timeout=self._timeout):
            raise Busy(f"another thread has been writing for more than {self._timeout:g} s", remedy="try again")
        self._state = self._store._state.copy()
        return MemoryWriter(self._state)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if error is None:
            self._store._state = self._state
        self._store._lock.release()
        return False
