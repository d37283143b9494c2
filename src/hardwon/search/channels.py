"""Where candidates come from: the words of the question, and the place that it is about."""

from __future__ import annotations

from hardwon.search.terms import path_term
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.search.ask import Weights
    from hardwon.store.base import Reader
    from hardwon.types import Filter, Query

WORD_CANDIDATES = 300
PLACE_CANDIDATES = 50


class Candidates(Value):
    """Keys of candidates; those in ``symbol`` and ``file`` stand at the very place asked about."""

    keys: tuple[int, ...]
    symbol: frozenset[int]
    file: frozenset[int]


def gather(reader: Reader, query: Query, weights: Weights, where: Filter) -> Candidates:
    """Candidates of every channel, once each."""
    keys = reader.candidates(weights.chosen, where, WORD_CANDIDATES)
    by_symbol, by_file = _at_place(reader, query)
    if query.file:
        by_file |= set(reader.with_term(path_term(query.file), where, PLACE_CANDIDATES))
    if by_symbol or by_file:
        allowed = set(keys)
        keys = keys + [key for key in sorted(by_symbol | by_file) if key not in allowed]
    return Candidates(tuple(keys), frozenset(by_symbol), frozenset(by_file))


def _at_place(reader: Reader, query: Query) -> tuple[set[int], set[int]]:
    by_symbol: set[int] = set()
    by_file: set[int] = set()
    if query.symbol:
        by_symbol = set(reader.keys([memory.id for memory in reader.anchored("", query.symbol, PLACE_CANDIDATES)]))
    if query.file:
        by_file = set(reader.keys([memory.id for memory in reader.anchored(query.file, "", PLACE_CANDIDATES)]))
    return by_symbol, by_file
