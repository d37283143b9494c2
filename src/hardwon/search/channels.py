"""Where candidates come from: the words of the question, its meaning, and the place that it is about."""

from __future__ import annotations

from hardwon.code.names import last_part, same_symbol
from hardwon.search.terms import path_term, word_terms
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.search.ask import Weights
    from hardwon.search.dense import Dense
    from hardwon.store.base import Reader
    from hardwon.types import Filter, Memory, Neighbour, Query

WORD_CANDIDATES = 300
PLACE_CANDIDATES = 50
MOST_AROUND, AROUND_CANDIDATES = 20, 10


class Candidates(Value):
    """Keys of candidates. ``symbol`` and ``file``: written for the very place asked about; ``touched``: changes to
    the file, or that name the symbol; ``around``: written for a place near it, the nearest of several, ``only_around``: found by
    nothing else."""

    keys: tuple[int, ...]
    symbol: frozenset[int]
    file: frozenset[int]
    touched: frozenset[int]
    around: Mapping[int, Neighbour]
    only_around: frozenset[int]


def gather(reader: Reader, query: Query, weights: Weights, where: Filter, dense: Dense | None = None) -> Candidates:
    """Candidates of every channel, once each."""
    keys = dict.fromkeys(reader.candidates(weights.chosen, where, WORD_CANDIDATES))
    if dense is not None:
        keys.update(dict.fromkeys(dense.candidates(reader, where)))
    symbol = _written_for(reader, "", query.symbol, where) if query.symbol else frozenset()
    file = _written_for(reader, query.file, "", where) - symbol if query.file else frozenset()
    touched = _touched(reader, query, where) - file - symbol
    keys.update(dict.fromkeys(sorted(symbol | file | touched)))
    around = {key: near for key, near in _around(reader, query, where).items() if key not in symbol and key not in file}
    only_around = frozenset(around) - keys.keys()
    keys.update(dict.fromkeys(sorted(only_around)))
    return Candidates(tuple(keys), symbol, file, touched, around, only_around)


def _around(reader: Reader, query: Query, where: Filter) -> dict[int, Neighbour]:
    """Memories written for the places around, each with the nearest of those that it was written for."""
    found: dict[int, Neighbour] = {}
    for near in sorted(query.around, key=lambda near: -near.weight)[:MOST_AROUND]:
        # By the symbol, which few memories have, and its file thereafter: functions of one name stand in many files.
        written = reader.anchored("" if near.symbol else near.path, near.symbol, where, AROUND_CANDIDATES)
        kept = [memory.id for memory in written if not near.symbol or _is_there(memory, near)]
        for key in reader.keys(kept):
            found.setdefault(key, near)
    return found


def _is_there(memory: Memory, near: Neighbour) -> bool:
    return any(
        same_symbol(anchor.symbol, near.symbol)
        and (not anchor.path or not near.path or near.path in (anchor.path, anchor.now_path))
        for anchor in memory.anchors
        if anchor.symbol
    )


def _touched(reader: Reader, query: Query, where: Filter) -> frozenset[int]:
    """The newest changes that touched the file, or whose words or identifiers name the symbol."""
    terms = [path_term(query.file)] if query.file else []
    if query.symbol:
        terms += word_terms(last_part(query.symbol, fold=False))[-1:]
    return frozenset(key for term in terms for key in reader.with_term(term, where, PLACE_CANDIDATES))


def _written_for(reader: Reader, path: str, symbol: str, where: Filter) -> frozenset[int]:
    """Memories written for a place, as far as the question's filter lets them through."""
    return frozenset(reader.keys([memory.id for memory in reader.anchored(path, symbol, where, PLACE_CANDIDATES)]))
