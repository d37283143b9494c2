"""What the engine says at one moment of an agent's session. How a client is told is the door's."""

from __future__ import annotations

from hardwon.types import Block, SymbolReport, Value


class Advice(Value):
    """``block``: what to say as context, None for silence. ``refusal``: why the call that is about to run is to be stopped, "" to let it
    run; it says ``reports``: symbols with their lessons, riskiest first. ``degraded``: what could not be done in time or at all, for the
    log."""

    block: Block | None = None
    refusal: str = ""
    reports: tuple[SymbolReport, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def refuse(self) -> bool:
        """Whether the call is to be stopped."""
        return bool(self.refusal)
