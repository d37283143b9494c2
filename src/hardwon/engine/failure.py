"""What is known about a failure: a log into a question of its message and of the places in our code that it went through."""

from __future__ import annotations

from hardwon.engine import answer
from hardwon.engine.anchors import judge
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.stack.frames import Trace
    from hardwon.engine.core import Engine
    from hardwon.types import Block, Neighbour, Query, Scope

# Candidates that are looked at for the very failure; as many as come by their words and places at all.
_LOOKED_AT = 50
_NO_BUDGET = 1_000_000
_TRACES = 3
_PLAIN_LINES = 8


def recall(engine: Engine, query: Query, log: str, scope: Scope) -> Block:
    """Memories about the failures that a log tells of, those of the very failure first; ``query`` may narrow, and say more in words."""
    from hardwon.code.stack.signature import words
    from hardwon.code.traces import parse
    from hardwon.search.pack import pack
    from hardwon.search.same_failure import recognise

    if not log.strip():
        raise InvalidInput("the log is empty", field="error", remedy="give the output of what failed, with its stack trace")
    traces = parse(log)[:_TRACES]
    said = [words(trace.signature) for trace in traces] or _last_lines(log)
    frames = _places(engine, traces)
    inner = [f"{near.symbol} {near.path}" for near in frames[:1]]
    text = "\n".join((query.text, *said, *inner)).strip()
    wide = query.replace(text=text, around=(*query.around, *frames), k=max(query.k, _LOOKED_AT), budget=_NO_BUDGET, floor=0.0)
    found = answer.recall(engine, wide, scope)
    hits = recognise(found.hits, traces, query.k, query.floor)
    told = () if traces else ("no stack trace was recognised: asked by the log's last lines",)
    return pack(hits, query.budget, found.mode.replace(degraded=(*found.mode.degraded, *told)))


def places_of(engine: Engine, log: str) -> tuple[Neighbour, ...]:
    """The places in our code that the first failure of a log went through, the likeliest first."""
    from hardwon.code.traces import parse

    return _places(engine, parse(log)[:1])


def _last_lines(log: str) -> list[str]:
    """What a log without a trace ends with."""
    return [line.strip()[:300] for line in log.rsplit("\n", 200) if line.strip()][-_PLAIN_LINES:]


def _places(engine: Engine, traces: Sequence[Trace]) -> tuple[Neighbour, ...]:
    """The places in our code that the failures went through, the likeliest first."""
    from hardwon.code.stack.ours import Search
    from hardwon.search.same_failure import around

    index = engine.code
    if index is None:
        return ()
    with index.read() as code:
        search = Search(engine.home.checkout.root, code, judge(engine, code))
        return around(search.ours(trace.frames) for trace in traces)
