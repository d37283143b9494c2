"""What the engine says at one moment of an agent's session. The wording, and how a client is told, are the door's."""

from __future__ import annotations

from hardwon.types import Block, SymbolReport, Value


class Advice(Value):
    """``block``: what to say as context, None for silence. ``refuse``: the call that is about to run is to be stopped, because of
    ``reports``: symbols with their lessons, riskiest first. ``degraded``: what could not be done in time or at all, for the log."""

    block: Block | None = None
    refuse: bool = False
    reports: tuple[SymbolReport, ...] = ()
    degraded: tuple[str, ...] = ()
