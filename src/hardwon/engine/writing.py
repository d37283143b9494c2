"""What waits to be written, as every answer has to tell it: one look at the head of the spool."""

from __future__ import annotations

from hardwon.store.quiet import is_quiet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.store.spooling.header import Head

_SPOOL = ".spool"


def quiet(engine: Engine) -> bool:
    """Whether there is nothing that ``head`` would tell of; False also where the spool is not made yet."""
    return not engine.store.path or is_quiet(engine.store.path + _SPOOL)


def head(engine: Engine) -> Head | None:
    """What the head of the engine's spool says; None where there is none (yet)."""
    from hardwon.store.spooling.header import peek

    return peek(engine.store.path + _SPOOL) if engine.store.path else None


def degraded(engine: Engine) -> tuple[str, ...]:
    """What an answer lacks, or may: a line each."""
    found = None if quiet(engine) else head(engine)
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
