"""What lies around a symbol in the code at hand, for those who ask about risk, and for recall. Without an index: nothing, and no
failure."""

from __future__ import annotations

from hardwon.code.moves import Moves
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
MOVED = "moved here"
# A symbol of a file that was asked about as a whole, against the symbol that was asked about: search/rank.py weighs them so.
IN_FILE = 0.7


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
    if not places and file:  # what was recorded on it stays under the name that it had
        places = [place for path, name in graph.reader.now_at(file, symbol) if name for place in graph.places(name, path)]
    return graph.impact(places) if places else None


def before_now(engine: Engine, query: Query) -> tuple[Neighbour, ...]:
    """The places from which code has come to those that a question names, with their weights: what was recorded of it names those."""
    places = [Neighbour(query.file, query.symbol, 1.0, MOVED)] if query.file or query.symbol else []
    places += [near.replace(why=f"{near.why}, {MOVED}") for near in query.around]
    if not places or engine.code is None:
        return ()
    with engine.code.read() as reader:
        moves = Moves(reader.moves())
    found: dict[tuple[str, str], Neighbour] = {}
    for near in places:
        for path, symbol in moves.to(near.path, near.symbol):
            # Of a file that was asked about as a whole, and of one whose symbol was, the other kind counts less.
            weight = near.weight if bool(near.symbol) == bool(symbol) else near.weight * IN_FILE
            if (path, symbol) not in found or found[path, symbol].weight < weight:
                found[path, symbol] = Neighbour(path, symbol, weight, near.why)
    return tuple(found.values())


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
