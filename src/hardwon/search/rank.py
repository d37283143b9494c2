"""Candidates into hits: exact scores, evidence of the place, a probability, a floor."""

from __future__ import annotations

from math import exp, log

from hardwon.search import ask, bm25f
from hardwon.search.channels import gather
from hardwon.types import Hit, Signal, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardwon.search.ask import Weights
    from hardwon.search.channels import Candidates
    from hardwon.store.base import Reader
    from hardwon.types import Document, Filter, Query

# Provisional calibration (docs/search.md): log-odds = constant + share x (points reached of those possible) + size x ln(points).
CALIBRATION = (-11.6, 6.9, 2.6)
# A question of one word cannot collect many points: it is judged as if as much had been possible as in a short sentence.
LEAST_POSSIBLE = 40.0
# Evidence of the place, in log-odds: written for the very symbol, written for the file, a change that touched the file. What was
# written for the place counts from NO_WORDS even where no word matches: a lesson on the symbol alone stands at .6, one on the
# file at .35. A change that touched the file does so only where nothing else was asked.
AT_SYMBOL, AT_FILE, TOUCHED_FILE = 3.4, 2.4, 1.0
NO_WORDS = -3.0
FLOOR = 0.05
_SHOWN_WORDS = 6


class Scored(Value):
    """A candidate: the log-odds of being relevant, the points of its words, what age and size changed, evidence of the place."""

    document: Document
    odds: float
    words: Mapping[str, float]
    age: float
    size: float
    place: tuple[tuple[str, float], ...]

    def signals(self) -> tuple[Signal, ...]:
        """What made up the odds: points of words, age and size; log-odds of the place. Only made for what is shown."""
        order = sorted(self.words.items(), key=lambda item: (-item[1], item[0]))
        found = [(f"word {term.lstrip('=')}", points) for term, points in order[:_SHOWN_WORDS]]
        found.append(("other words", sum(points for _, points in order[_SHOWN_WORDS:])))
        found += [("age", self.age), ("size", self.size), *self.place]
        return tuple(Signal(name, points) for name, points in found if points)


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
    scored = [score(document, weights, means, candidates, now) for document in documents]
    scored.sort(key=lambda item: (-item.odds, -item.document.at, -item.document.key))
    floor = FLOOR if query.floor is None else query.floor
    kept = [item for item in scored[: query.k] if probability(item.odds) >= floor]
    memories = reader.memories([item.document.key for item in kept])
    return [Hit(memory, probability(item.odds), item.signals()) for memory, item in zip(memories, kept, strict=True)]


def score(document: Document, weights: Weights, means: Sequence[float], candidates: Candidates, now: int) -> Scored:
    """The exact score of one candidate."""
    parts = bm25f.words(document, weights.scored, means)
    total = sum(parts.values())
    aged = total * bm25f.age_factor(document.at, now)
    sized = aged * bm25f.size_factor(document.size)
    place = tuple(
        (name, evidence)
        for name, evidence, keys in (
            ("symbol", AT_SYMBOL, candidates.symbol),
            ("file", AT_FILE, candidates.file),
            ("touched file", TOUCHED_FILE, candidates.touched),
        )
        if document.key in keys
    )
    odds = word_odds(sized, weights.total)
    written_here = document.key in candidates.symbol or document.key in candidates.file
    if written_here or (place and not weights.total):
        odds = max(odds, NO_WORDS)
    odds += sum(evidence for _, evidence in place)
    return Scored(document, odds, parts, aged - total, sized - aged, place)


def word_odds(points: float, possible: float) -> float:
    """Log-odds of being relevant by the words alone."""
    constant, share, size = CALIBRATION
    reached = points / max(possible, 0.01)
    return constant + share * reached + size * log(max(reached * max(possible, LEAST_POSSIBLE), 0.01))


def probability(odds: float) -> float:
    """Log-odds as a probability (0 to 1)."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))
