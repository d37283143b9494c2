"""The lessons of the places that are about to be edited, in the order that an agent should read them. Pure."""

from __future__ import annotations

from hardwon.code.names import ending, same_symbol
from hardwon.types import Hit, Signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardwon.types import Anchor, Memory, Neighbour

# Provisional: a lesson on the very symbol is nearly always to the point, one on the file more often than not, and a change
# to the file that was taken back about as often as not.
_SYMBOL, _FILE, _TAKEN_BACK, _FAILED = 0.9, 0.6, 0.5, 0.05


def choose(
    written: Iterable[Memory],
    taken_back: Iterable[Memory],
    places: Sequence[Neighbour],
    verdict: Callable[[Memory, bool], str],
    unverified_limit: int,
) -> list[Hit]:
    """Hits, best first: the symbols' own before the files', those of what stands around after both, failures before the rest, then
    the newest.

    ``places``: what is edited has weight 1, what stands around it (callers) less. ``verdict(memory, at_place)`` says whether it may
    come unasked: ``yes``, ``unverified`` or ``no``. Unverified ones of other places than the ones at hand are at most
    ``unverified_limit``.
    """
    hits: list[Hit] = []
    unverified = 0
    near = _Near(places)
    for memory in [*written, *taken_back]:
        if memory.number is None and memory.kind != "change":
            continue  # passages and facts that were read from the very file at hand: whoever edits it sees it
        signal, at_place = _tie(memory, places if memory.kind == "change" else near.to(memory))
        if signal is None:
            continue
        said = verdict(memory, at_place)
        if said == "no":
            continue
        if said == "unverified" and not at_place:
            unverified += 1
            if unverified > unverified_limit:
                continue
        hits.append(_hit(memory, signal))
    hits.sort(key=lambda hit: (-hit.score, -hit.memory.updated_at, hit.memory.id))
    return hits


class _Near:
    """Places by what can tie an anchor to them: an edit of a whole file has thousands, and each may have hundreds of memories."""

    def __init__(self, places: Sequence[Neighbour]) -> None:
        self._places = places
        self._named: dict[str, list[int]] = {}
        self._of_file: dict[tuple[str, bool], list[int]] = {}
        for number, place in enumerate(places):
            if place.symbol:
                self._named.setdefault(ending(place.symbol), []).append(number)
            self._of_file.setdefault((place.path, bool(place.symbol)), []).append(number)

    def to(self, memory: Memory) -> list[Neighbour]:
        """Those that may be tied to a memory, in their order."""
        found: set[int] = set()
        for anchor in memory.anchors:
            for symbol in filter(None, (anchor.symbol, anchor.now_symbol)):
                found.update(self._named.get(ending(symbol), ()))
            for path in filter(None, (anchor.path, anchor.now_path)):
                found.update(self._of_file.get((path, False), ()))
                found.update(() if anchor.symbol else self._of_file.get((path, True), ()))
        return [self._places[number] for number in sorted(found)]


def _tie(memory: Memory, places: Sequence[Neighbour]) -> tuple[Signal | None, bool]:
    """What ties a memory to the places most strongly, and whether it is of the very symbol at hand (of the file, where no symbol is)."""
    if memory.kind == "change":
        return Signal("taken back", _TAKEN_BACK), not any(place.symbol for place in places)
    best: Signal | None = None
    at_place = False
    for place in places:
        tie = _strongest(memory.anchors, place)
        if tie is None:
            continue
        name, points = tie
        at_place = at_place or (place.weight == 1 and (name == "symbol" or not place.symbol))
        signal = Signal(name if place.weight == 1 else place.why, points * place.weight)
        if best is None or signal.points > best.points:
            best = signal
    return best, at_place


def _strongest(anchors: Iterable[Anchor], place: Neighbour) -> tuple[str, float] | None:
    ties = [tie for anchor in anchors for tie in (_one(anchor, place),) if tie is not None]
    return max(ties, key=lambda tie: tie[1], default=None)


def _one(anchor: Anchor, place: Neighbour) -> tuple[str, float] | None:
    here = place.path in (anchor.path, anchor.now_path) if place.path else True
    if place.symbol and anchor.symbol:
        named = same_symbol(anchor.now_symbol or anchor.symbol, place.symbol) or same_symbol(anchor.symbol, place.symbol)
        return ("symbol", _SYMBOL) if named and (here or not anchor.path) else None
    if not place.path or not here or (place.symbol and place.weight < 1):
        return None
    return "file", _FILE


def _hit(memory: Memory, signal: Signal) -> Hit:
    signals = [signal]
    if memory.outcome == "failed" and memory.kind != "change":
        signals.append(Signal("failed", _FAILED))
    return Hit(memory, sum(one.points for one in signals), tuple(signals))
