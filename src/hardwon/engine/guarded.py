"""Every write of the engine: what waits in the spool goes first, and a write that fails is marked until the next one succeeds."""

from __future__ import annotations

from hardwon.engine.writing import head, quiet
from hardwon.errors import Damaged, DiskFull, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from hardwon.engine.core import Engine
    from hardwon.store.base import Writer
    from hardwon.store.spooling.header import Head


class Guarded:
    """A transaction as ``store.write`` gives it. Costs the quick path one look at the head of the spool."""

    def __init__(self, engine: Engine, *, marks: bool = True) -> None:
        """``marks``: a failure is marked; False for who keeps what it could not write in the spool."""
        self._engine = engine
        self._marks = marks
        self._quiet = False
        self._head: Head | None = None
        self._transaction = engine.store.write(engine.wait)

    def __enter__(self) -> Writer:
        try:
            self._quiet = quiet(self._engine)
            self._head = None if self._quiet else head(self._engine)
            if self._head is not None and self._head.waits:
                from hardwon.engine.spooling import drain

                drain(self._engine)
            writer = self._transaction.__enter__()
        except StoreError as error:
            self._note(error)
            raise
        return writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        try:
            self._transaction.__exit__(kind, error, trace)
        except StoreError as failed:
            self._note(failed)
            raise
        if error is None and not self._quiet and (self._head is None or self._head.trouble is not None):
            from hardwon.engine.spooling import succeeded

            succeeded(self._engine)
        return False

    def _note(self, error: StoreError) -> None:
        # Of the kinds that say something of the state of the store. Busy is none: whoever is told so tries again.
        if self._marks and (isinstance(error, (DiskFull, Damaged)) or type(error) is StoreError):
            from hardwon.engine.spooling import failed

            failed(self._engine, error)
