"""Candidates into hits: exact scores, evidence of the place, a probability, a floor."""

from __future__ import annotations

from math import exp, log

from hardwon.search import ask, bm25f
from hardwon.search.channels import gather
from hardwon.types import Filter, Hit, Signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.search.ask import Weights
    from hardwon.search.channels import Candidates
    from hardwon.store.base import Reader
    from hardwon.types import Document, Query

# Evidence of the place, as shares of what a perfect match of the words could reach: a lesson on the very symbol is worth
# half of it, one on the file a fifth.
SYMBOL_SHARE = 0.5
FILE_SHARE = 0.2

# Provisional calibration (docs/search.md): logistic in the reached share of the possible score and in the score itself.
CALIBRATION = (-6.0, 9.0, 0.5)
FLOOR = 0.15
_SHOWN_WORDS = 6


class Scored:
    """A candidate with the points that make up its score."""

    __slots__ = ("document", "points", "signals")

    def __init__(self, document: Document, signals: list[tuple[str, float]]) -> None:
        self.document = document
        self.signals = signals
        self.points = sum(points for _, points in signals)


def rank(reader: Reader, query: Query, where: Filter, now: int) -> list[Hit]:
    """The best memories for a question, best first; empty when nothing reaches the floor."""
    question = ask.read(query)
    frequencies = reader.frequencies(sorted(question.repeats))
    corpus = reader.corpus()
    weights = ask.weigh(question, corpus.documents, frequencies)
    candidates = gather(reader, query, weights, where)
    if not candidates.keys:
        return []
    means = bm25f.averages(corpus)
    documents = reader.documents(candidates.keys, list(weights.scored))
    scored = [_score(document, weights, means, candidates, now) for document in documents]
    scored.sort(key=lambda item: (-item.points, -item.document.at, -item.document.key))
    floor = FLOOR if query.floor is None else query.floor
    kept = [(item, probability(item.points, weights.total)) for item in scored[: query.k]]
    kept = [(item, score) for item, score in kept if score >= floor]
    memories = reader.memories([item.document.key for item, _ in kept])
    return [
        Hit(memory, score, tuple(Signal(name, points) for name, points in item.signals))
        for memory, (item, score) in zip(memories, kept, strict=True)
    ]


def _score(document: Document, weights: Weights, means: Sequence[float], candidates: Candidates, now: int) -> Scored:
    parts = bm25f.words(document, weights.scored, means)
    total = sum(parts.values())
    aged = total * bm25f.age_factor(document.at, now)
    sized = aged * bm25f.size_factor(document.size)
    signals = _word_signals(parts)
    signals.append(("age", aged - total))
    signals.append(("size", sized - aged))
    possible = max(weights.total, 1.0)
    if document.key in candidates.symbol:
        signals.append(("symbol", SYMBOL_SHARE * possible))
    if document.key in candidates.file:
        signals.append(("file", FILE_SHARE * possible))
    return Scored(document, [(name, points) for name, points in signals if points])


def _word_signals(parts: dict[str, float]) -> list[tuple[str, float]]:
    order = sorted(parts.items(), key=lambda item: (-item[1], item[0]))
    signals = [(f"word {term.lstrip('=')}", points) for term, points in order[:_SHOWN_WORDS]]
    rest = sum(points for _, points in order[_SHOWN_WORDS:])
    if rest:
        signals.append(("other words", rest))
    return signals


def probability(points: float, possible: float) -> float:
    """How likely a memory with these points is relevant (0 to 1)."""
    if points <= 0:
        return 0.0
    constant, share, size = CALIBRATION
    return 1 / (1 + exp(-(constant + share * points / max(possible, 1.0) + size * log(points))))
