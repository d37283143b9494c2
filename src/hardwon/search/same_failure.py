"""What is asked about a failure besides its words, and which of the memories found speak of the very same one. Pure."""

from __future__ import annotations

from hardwon.code.stack.python import error
from hardwon.code.stack.signature import signature
from hardwon.code.traces import parse
from hardwon.search.rank import COMPANY, FLOOR, probability
from hardwon.types import Hit, Neighbour, Signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.code.stack.frames import Trace
    from hardwon.types import Memory

# Provisional, in log-odds: the same failure in a memory's own words says more than the very symbol (3.4), for a symbol can fail in many
# ways. A type without a message is shared by many failures. A failure further from the root cause counts less.
SAME, SAME_KIND, PER_STEP = 5.0, 1.5, 0.6
# Evidence of the innermost frame of ours against that of a place that was asked about; further out, and further from the root cause,
# it falls. Provisional.
_INNERMOST, _PER_FRAME, _PER_TRACE = 0.9, 0.7, 0.6
WHY = "stack frame"
_LINES = 400  # of a memory that are looked at one by one


def around(traces: Iterable[Sequence[tuple[str, str]]]) -> tuple[Neighbour, ...]:
    """The places (path, symbol) that each of some traces went through, innermost first, as places around a question: the likeliest
    first."""
    found: dict[tuple[str, str], float] = {}
    for step, places in enumerate(traces):
        for depth, place in enumerate(places):
            found[place] = max(found.get(place, 0.0), _INNERMOST * _PER_TRACE**step * _PER_FRAME**depth)
    order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Neighbour(path, symbol, weight, WHY) for (path, symbol), weight in order)


def recognise(hits: Sequence[Hit], traces: Sequence[Trace], k: int, floor: float | None) -> list[Hit]:
    """The best ``k`` hits, those that tell of the same failure first by their evidence; empty when the best does not reach the floor."""
    found = sorted((_weighed(hit, traces) for hit in hits), key=lambda hit: (-hit.score, -hit.memory.created_at, hit.memory.id))
    least = FLOOR if floor is None else floor
    if not found or found[0].score < least:
        return []
    return [hit for hit in found if hit.score >= least * COMPANY][:k]


def _weighed(hit: Hit, traces: Sequence[Trace]) -> Hit:
    known = signatures(hit.memory)
    for step, trace in enumerate(traces):
        if trace.signature in known:
            points = (SAME if trace.message else SAME_KIND) * PER_STEP**step
            raised = probability(_odds(hit.score) + points)
            return Hit(hit.memory, raised, (*hit.why, Signal("same failure", points)), hit.contradicted)
    return hit


def signatures(memory: Memory) -> set[str]:
    """The failures that a memory tells of: by whole traces in it, and by lines that name a type and a message."""
    text = "\n".join((memory.text, memory.detail, memory.because))
    found = {trace.signature for trace in parse(text)}
    for line in text.split("\n", _LINES)[:_LINES]:
        told = error(line)
        if told:
            found.add(signature(*told))
    return found


def _odds(score: float) -> float:
    from math import log

    inner = min(max(score, 1e-9), 1 - 1e-9)
    return log(inner / (1 - inner))
