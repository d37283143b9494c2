"""Every write of the engine: what waits in the spool goes first, and a write that fails is marked until the next one succeeds."""

from __future__ import annotations

from hardwon.errors import Damaged, DiskFull, StoreError
from hardwon.store.spooling.header import Head, peek

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from hardwon.engine.core import Engine
    from hardwon.store.base import Writer

_SPOOL = ".spool"


class Guarded:
    """A transaction as ``store.write`` gives it. Costs the quick path one look at the head of the spool."""

    def __init__(self, engine: Engine, *, marks: bool = True) -> None:
        """``marks``: a failure is marked; False for who keeps what it could not write in the spool."""
        self._engine = engine
        self._marks = marks
        self._head: Head | None = None
        self._transaction = engine.store.write(engine.wait)

    def __enter__(self) -> Writer:
        try:
            self._head = head(self._engine)
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
        if error is None and (self._head is None or self._head.trouble is not None):
            from hardwon.engine.spooling import succeeded

            succeeded(self._engine)
        return False

    def _note(self, error: StoreError) -> None:
        # Of the kinds that say something of the state of the store. Busy is none: whoever is told so tries again.
        if self._marks and (isinstance(error, (DiskFull, Damaged)) or type(error) is StoreError):
            from hardwon.engine.spooling import failed

            failed(self._engine, error)


def head(engine: Engine) -> Head | None:
    """What the head of the engine's spool says; None where there is none (yet)."""
    return peek(engine.store.path + _SPOOL) if engine.store.path else None


def degraded(engine: Engine) -> tuple[str, ...]:
    """What an answer lacks, or may: a line each."""
    found = head(engine)
    if found is None:
        return ()
    lines = []
    if found.waits:
        count = found.state.count if found.state else 0
        what = f"{count or 'some'} {'memory waits' if count == 1 else 'memories wait'}"
        lines.append(f"{what} in the spool until the next write, and could not be asked")
    if "damaged" in (found.state and found.state.cause if found.waits else "", found.trouble and found.trouble.kind):
        lines.append("the store is damaged: run `hardwon verify`")
    return tuple(lines)
