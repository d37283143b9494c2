"""Where candidates come from: the words of the question, its meaning, and the place that it is about."""

from __future__ import annotations

from hardwon.search.terms import path_term, word_terms
from hardwon.store.rows import last_part
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.search.ask import Weights
    from hardwon.search.dense import Dense
    from hardwon.store.base import Reader
    from hardwon.types import Filter, Query

WORD_CANDIDATES = 300
PLACE_CANDIDATES = 50


class Candidates(Value):
    """Keys of candidates. ``symbol`` and ``file``: written for the very place asked about; ``touched``: changes to
    the file, or that name the symbol."""

    keys: tuple[int, ...]
    symbol: frozenset[int]
    file: frozenset[int]
    touched: frozenset[int]


def gather(reader: Reader, query: Query, weights: Weights, where: Filter, dense: Dense | None = None) -> Candidates:
    """Candidates of every channel, once each."""
    keys = dict.fromkeys(reader.candidates(weights.chosen, where, WORD_CANDIDATES))
    if dense is not None:
        keys.update(dict.fromkeys(dense.candidates(reader, where)))
    symbol = _written_for(reader, "", query.symbol, where) if query.symbol else frozenset()
    file = _written_for(reader, query.file, "", where) - symbol if query.file else frozenset()
    touched = _touched(reader, query, where) - file - symbol
    keys.update(dict.fromkeys(sorted(symbol | file | touched)))
    return Candidates(tuple(keys), symbol, file, touched)


def _touched(reader: Reader, query: Query, where: Filter) -> frozenset[int]:
    """The newest changes that touched the file, or whose words or identifiers name the symbol."""
    terms = [path_term(query.file)] if query.file else []
    if query.symbol:
        terms += word_terms(last_part(query.symbol, fold=False))[-1:]
    return frozenset(key for term in terms for key in reader.with_term(term, where, PLACE_CANDIDATES))


def _written_for(reader: Reader, path: str, symbol: str, where: Filter) -> frozenset[int]:
    """Memories written for a place, as far as the question's filter lets them through."""
    return frozenset(reader.keys([memory.id for memory in reader.anchored(path, symbol, where, PLACE_CANDIDATES)]))
