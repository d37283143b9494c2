"""The lessons of a place that is about to be edited, in the order that an agent should read them. Pure."""

from __future__ import annotations

from hardwon.intake.symbols import same_symbol
from hardwon.types import Hit, Signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.types import Memory

# Provisional: a lesson on the very symbol is nearly always to the point, one on the file more often than not, and a change
# to the file that was taken back about as often as not. Step 4 measures them.
_SYMBOL, _FILE, _TAKEN_BACK, _FAILED = 0.9, 0.6, 0.5, 0.05


def choose(
    written: Iterable[Memory],
    taken_back: Iterable[Memory],
    path: str,
    symbol: str,
    verdict: Callable[[Memory, bool], str],
    unverified_limit: int,
) -> list[Hit]:
    """Hits, best first: the symbol's own before the file's, failures before the rest, then the newest.

    ``verdict(memory, at_symbol)`` says whether it may come unasked: ``yes``, ``unverified`` or ``no``. Unverified ones of other
    places than the symbol at hand are at most ``unverified_limit``.
    """
    hits: list[Hit] = []
    unverified = 0
    for memory in [*written, *taken_back]:
        if memory.number is None and memory.kind != "change":
            continue  # passages and facts that were read from the very file at hand: whoever edits it sees it
        at_symbol = bool(symbol) and any(same_symbol(anchor.symbol, symbol) for anchor in memory.anchors if anchor.symbol)
        if symbol and not at_symbol and memory.kind != "change" and any(anchor.symbol for anchor in memory.anchors):
            continue  # a lesson on another symbol of the same file
        said = verdict(memory, at_symbol or not symbol)
        if said == "no":
            continue
        if said == "unverified" and not at_symbol and symbol:
            unverified += 1
            if unverified > unverified_limit:
                continue
        hits.append(_hit(memory, at_symbol, path))
    hits.sort(key=lambda hit: (-hit.score, -hit.memory.updated_at, hit.memory.id))
    return hits


def _hit(memory: Memory, at_symbol: bool, path: str) -> Hit:
    place = "symbol" if at_symbol else "file"
    base = _TAKEN_BACK if memory.kind == "change" else _SYMBOL if at_symbol else _FILE
    signals = [Signal("taken back" if memory.kind == "change" else place, base)]
    if memory.outcome == "failed" and memory.kind != "change":
        signals.append(Signal("failed", _FAILED))
    return Hit(memory, sum(signal.points for signal in signals), tuple(signals))
