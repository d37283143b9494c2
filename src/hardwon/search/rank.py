"""Candidates into hits: exact scores, nearness of meaning, evidence of the place, a probability, a floor."""

from __future__ import annotations

from bisect import bisect_left
from math import exp, log, log10

from hardwon.search import ask, bm25f
from hardwon.search.channels import gather
from hardwon.types import Hit, Signal, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardwon.search.ask import Weights
    from hardwon.search.channels import Candidates
    from hardwon.search.dense import Dense
    from hardwon.store.base import Reader
    from hardwon.types import Document, Filter, Query

# Provisional calibration (docs/search.md): log-odds = constant + share x ln(points reached of those possible) + size x ln(points).
CALIBRATION = (-6.94, 1.19, 1.94)
# A question of one word cannot collect many points: it is judged as if as much had been possible as in a short sentence.
LEAST_POSSIBLE = 40.0
# Evidence of the place, in log-odds: written for the very symbol, written for the file, a change that touched the file. What was
# written for the place counts from NO_WORDS even where no word matches: a lesson on the symbol alone stands at .6, one on the
# file at .35. A change that touched the file does so only where nothing else was asked.
AT_SYMBOL, AT_FILE, TOUCHED_FILE = 3.4, 2.4, 1.0
NO_WORDS = -3.0
# What was written for a place around carries its share of that evidence; but it stays this much below what was written for the very
# place and was ahead of it by itself.
BEHIND = 1e-6
# For who asked. On 21 questions in plain words, those with an answer in the history had their best hit at .017 and more, those
# without one at .013 and less (docs/search.md). Who was not asked should set .06.
FLOOR = 0.015
# The best hit has to reach the floor; others may come along from half of it.
COMPANY = 0.5
# The five newest candidates that hold a term share in its weight: a tenth for the newest, a twentieth for the next, and so on;
# for terms in at most 400 memories. Found on curl and dpdk (+.007 to +.034 nDCG@10), held on ovs (+.016 to +.019).
HOLDERS, HOLDER_SHARE, HELD_BY_MOST = 5, 0.1, 400
# What those who read it said, in log-odds: a word of praise lifts a little, one of blame lowers more, both bounded, so that nobody
# can hide a memory or push it up by saying it often. Not measured yet: there is no data of use.
USEFUL, USELESS, MOST_USEFUL, MOST_USELESS = 0.4, -0.5, 0.8, -1.5
# Nearness of meaning (docs/vectors.md), as points beside those of the words: this share of what is possible, times the cosine above
# what the best word hits of strangers have. Counted from 0 it ranks the same, but answers 14 % of foreign questions instead of 5.
MEANING_SHARE, MEANING_NEUTRAL = 0.12, 0.3
# Where no candidate's words reach half the floor, meaning alone may speak (where they reach more, they know better): log-odds rise
# with the cosine above the median that memories have with this question, and pass the floor at .26 above among 50 vectors, .1 more
# for each tenfold, as the best of many strangers rises; below ten it stays. Once there is more to go by than docs/vectors.md shows,
# this should be a fit.
ALONE_ABOVE, ALONE_PER_TENFOLD, ALONE_AMONG, ALONE_LEAST, ALONE_SLOPE = 0.26, 0.1, 50, 10, 8.0
_SHOWN_WORDS = 6


class Scored(Value):
    """A candidate: the log-odds of being relevant, the points of its words and of being the newest with them, what age and size
    changed, evidence of the place; ``meaning`` are the points of a near meaning."""

    document: Document
    odds: float
    words: Mapping[str, float]
    newest: float
    age: float
    size: float
    place: tuple[tuple[str, float], ...]
    meaning: float = 0.0

    def signals(self) -> tuple[Signal, ...]:
        """What made up the odds: points of words, age and size; log-odds of the place. Only made for what is shown."""
        order = sorted(self.words.items(), key=lambda item: (-item[1], item[0]))
        found = [(f"word {term.lstrip('=')}", points) for term, points in order[:_SHOWN_WORDS]]
        found.append(("other words", sum(points for _, points in order[_SHOWN_WORDS:])))
        found += [
            ("newest with these words", self.newest),
            ("meaning", self.meaning),
            ("age", self.age),
            ("size", self.size),
            *self.place,
        ]
        return tuple(Signal(name, points) for name, points in found if points)


def rank(reader: Reader, query: Query, where: Filter, now: int, dense: Dense | None = None) -> list[Hit]:
    """The best memories for a question, best first; empty when nothing reaches the floor. With ``dense`` by meaning as well."""
    question = ask.read(query)
    frequencies = reader.frequencies(sorted(question.repeats))
    corpus = reader.corpus()
    weights = ask.weigh(question, corpus.documents, frequencies)
    candidates = gather(reader, query, weights, where, dense)
    if not candidates.keys:
        return []
    means = bm25f.averages(corpus)
    documents = reader.documents(candidates.keys, list(weights.scored))
    # What only a place around brought shall take nothing from what the question itself found.
    asked_for = [document for document in documents if document.key not in candidates.only_around]
    newest = newest_holders(asked_for, weights.scored, frequencies)
    cosines = dense.cosines(reader, candidates.keys) if dense is not None else {}
    scored = [
        score(document, weights, means, candidates, newest.get(document.key, 0.0), now, cosines.get(document.key))
        for document in documents
    ]
    if dense is not None:
        scored = by_meaning_alone(scored, cosines, dense.population, lambda: dense.typical(reader))
    scored = widened(judged(scored, reader.feedback()), candidates)
    scored.sort(key=lambda item: (-item.odds, -item.document.at, -item.document.key))
    floor = FLOOR if query.floor is None else query.floor
    if not scored or probability(scored[0].odds) < floor:
        return []
    kept = [item for item in scored[: query.k] if probability(item.odds) >= floor * COMPANY]
    memories = reader.memories([item.document.key for item in kept])
    return [Hit(memory, probability(item.odds), item.signals()) for memory, item in zip(memories, kept, strict=True)]


def by_meaning_alone(
    scored: list[Scored], cosines: Mapping[int, float], population: int, typical: Callable[[], float]
) -> list[Scored]:
    """The candidates, those of a near meaning raised where nobody's words say enough.

    ``population`` vectors were compared; ``typical`` gives the median of their cosines with the question.
    """
    if not cosines or any(probability(item.odds) >= FLOOR * COMPANY for item in scored):
        return scored
    passing = typical() + ALONE_ABOVE + ALONE_PER_TENFOLD * log10(max(population, ALONE_LEAST) / ALONE_AMONG)
    if max(cosines.values()) < passing:
        return scored
    return [_raised(item, cosines.get(item.document.key, -1.0) - passing) for item in scored]


def _raised(item: Scored, above: float) -> Scored:
    """A candidate judged by its meaning, ``above`` what has to be passed, if that is at least what may come along."""
    odds = log(FLOOR / (1 - FLOOR)) + ALONE_SLOPE * above
    if odds <= item.odds or probability(odds) < FLOOR * COMPANY:
        return item
    raised: Scored = item.replace(odds=odds, place=(*item.place, ("meaning alone", odds - item.odds)))
    return raised


def judged(scored: list[Scored], feedback: Mapping[int, tuple[int, int]]) -> list[Scored]:
    """The candidates with what those who read them said as evidence; ``feedback`` by key."""
    if not feedback:
        return scored
    out = []
    for item in scored:
        useful, useless = feedback.get(item.document.key, (0, 0))
        said = min(useful * USEFUL, MOST_USEFUL) + max(useless * USELESS, MOST_USELESS)
        out.append(item.replace(odds=item.odds + said, place=(*item.place, ("feedback", said))) if said else item)
    return out


def widened(scored: list[Scored], candidates: Candidates) -> list[Scored]:
    """The candidates, with the evidence of places around the one asked about; none of them passes what was written for the very
    place."""
    if not candidates.around:
        return scored
    direct = sorted(
        item.odds for item in scored if item.document.key in candidates.symbol or item.document.key in candidates.file
    )
    out = []
    for item in scored:
        near = candidates.around.get(item.document.key)
        if near is not None:
            odds = max(item.odds, NO_WORDS) + near.weight * (AT_SYMBOL if near.symbol else AT_FILE)
            ahead = bisect_left(direct, item.odds)
            if ahead < len(direct):
                odds = min(odds, max(item.odds, direct[ahead] - BEHIND))
            out.append(item.replace(odds=odds, place=(*item.place, (near.why, odds - item.odds))))
        else:
            out.append(item)
    return out


def newest_holders(
    documents: Sequence[Document], weights: Mapping[str, float], frequencies: Mapping[str, int]
) -> dict[int, float]:
    """Points for holding a rather rare term as one of the newest that do: what a question speaks of is more often the last change
    that touched its words than the first."""
    held: dict[str, int] = {}
    points: dict[int, float] = {}
    for document in sorted(documents, key=lambda item: (-item.at, -item.key)):
        for term in document.counts:
            place = held.get(term, 0) + 1
            if place <= HOLDERS and frequencies[term] <= HELD_BY_MOST:
                held[term] = place
                points[document.key] = points.get(document.key, 0.0) + HOLDER_SHARE * weights[term] / place
    return points


def score(
    document: Document,
    weights: Weights,
    means: Sequence[float],
    candidates: Candidates,
    newest: float,
    now: int,
    cosine: float | None = None,
) -> Scored:
    """The exact score of one candidate; ``newest`` are its points as a newest holder of terms, ``cosine`` how near its meaning is
    (None without a vector, which neither helps nor harms)."""
    parts = bm25f.words(document, weights.scored, means)
    found = sum(parts.values()) + newest
    meaning = 0.0 if cosine is None else MEANING_SHARE * weights.total * (cosine - MEANING_NEUTRAL)
    total = max(0.0, found + meaning)
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
    return Scored(document, odds, parts, newest, aged - total, sized - aged, place, total - found)


def word_odds(points: float, possible: float) -> float:
    """Log-odds of being relevant by the words alone."""
    constant, share, size = CALIBRATION
    reached = points / max(possible, 0.01)
    reached = max(reached, 0.0001)
    return constant + share * log(reached) + size * log(reached * max(possible, LEAST_POSSIBLE))


def probability(odds: float) -> float:
    """Log-odds as a probability (0 to 1)."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))
