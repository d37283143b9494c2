"""What lies around a symbol in the code at hand, for those who ask about risk, and for recall. Without an index: nothing, and no
failure."""

from __future__ import annotations

from hardwon.engine.naming import spelt
from hardwon.types import Neighbour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.code.graph import Graph
    from hardwon.engine.core import Engine
    from hardwon.types import Impact, Query, Risk

# Calls that one question looks at, for the impacts of the riskiest symbols first: about a second (docs/code-index.md).
MOST_LOOKED_AT = 6000


def impact(engine: Engine, symbol: str, file: str) -> Impact | None:
    """What depends on a symbol; None where there is no index, or the symbol is not in it."""
    if engine.code is None:
        return None
    from hardwon.code.graph import Graph

    with engine.code.read() as reader:
        return _of(Graph(reader), spelt(symbol), engine.relative(file))


def with_impact(engine: Engine, risks: Iterable[Risk]) -> list[Risk]:
    """Risks, riskiest first, with the impact of their symbols, in the order that follows from both."""
    from hardwon.upkeep.risk import by_impact

    risks = list(risks)
    if engine.code is None or not risks:
        return risks
    from hardwon.code.graph import Graph

    with engine.code.read() as reader:
        if not reader.indexed_at:
            return risks
        graph = Graph(reader)
        found = []
        for risk in risks:
            if graph.looked_at >= MOST_LOOKED_AT:
                break
            found.append(risk.replace(impact=_of(graph, risk.symbol, risk.file)))
    return by_impact(found) + risks[len(found) :]


def _of(graph: Graph, symbol: str, file: str) -> Impact | None:
    places = graph.places(symbol, file)
    return graph.impact(places) if places else None


def around(engine: Engine, query: Query) -> tuple[Neighbour, ...]:
    """The places around the one that a question names, nearest first; empty without an index."""
    if not (query.file or query.symbol) or engine.code is None:
        return ()
    with engine.code.read() as reader:
        if not reader.indexed_at:
            return ()
        from hardwon.code.graph import MOST_NEIGHBOURS, Graph

        graph = Graph(reader)
        places = graph.places(query.symbol, query.file) if query.symbol else []
        if len(places) != 1:  # of several of one name nobody knows which is meant
            return tuple(graph.neighbours(query.file, ""))
        found = graph.neighbours(*places[0])
    return tuple(found[:MOST_NEIGHBOURS])
