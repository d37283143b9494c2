"""A question into weighted terms."""

from __future__ import annotations

from math import log

from hardwon.search.terms import text_terms
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.types import Query

# The exact score hears the 80 rarest terms; the choice of candidates the 24 rarest, which finds as much as 40 for less.
SCORED_TERMS = 80
CANDIDATE_TERMS = 24
SUBJECT_FACTOR = 2.0
# The whole of a path or dotted name says little beyond its parts, which count as well: at full weight short tasks lost .009 nDCG@10.
NAME_FACTOR = 0.25
REPEAT_POWER = 0.25
# A term in more than a tenth of the memories chooses no candidates (it still scores): it costs most and tells least. At a
# twentieth short tasks lost .013 nDCG@10.
COMMON = 0.1
_LONGEST_TEXT = 20_000
# A store of five notes knows nothing about how rare a word is: it is taken for a part of a larger one that lacks the word.
BACKGROUND = 500


class Question(Value):
    """``repeats``: each term of the question and how often it occurs; ``subject``: those of its first line."""

    repeats: Mapping[str, int]
    subject: frozenset[str]


class Weights(Value):
    """``scored``: term -> weight in the exact score, rarest first; ``chosen``: term -> integer rarity for candidates;
    ``total``: the sum of all weights, unknown terms included: what a perfect match could reach."""

    scored: Mapping[str, float]
    chosen: Mapping[str, int]
    total: float


def read(query: Query) -> Question:
    """The terms of a question: its words, and those of the file and symbol that it is about."""
    text = query.text[:_LONGEST_TEXT]
    first, _, rest = text.strip().partition("\n")
    subject = text_terms(first)
    repeats: dict[str, int] = {}
    for term in subject + text_terms(rest):
        repeats[term] = repeats.get(term, 0) + 1
    return Question(repeats, frozenset(subject))


def idf(documents: int, frequency: int) -> float:
    """Robertson's inverse document frequency, in the form that stays positive."""
    return log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _emphasis(term: str, question: Question) -> float:
    factor = SUBJECT_FACTOR if term in question.subject else 1.0
    return factor * NAME_FACTOR if term[0] in "/." else factor


def weigh(question: Question, documents: int, frequencies: Mapping[str, int]) -> Weights:
    """Query term weight = idf x repeats^.25 x (2 if the term stands in the first line)."""
    rarity = {term: idf(documents + BACKGROUND, frequencies.get(term, 0)) for term in question.repeats}
    weight = {term: rarity[term] * count**REPEAT_POWER * _emphasis(term, question) for term, count in question.repeats.items()}
    order = sorted(rarity, key=lambda term: (-rarity[term], term))
    known = [term for term in order if term in frequencies]
    scored = {term: weight[term] for term in known[:SCORED_TERMS]}
    limit = max(documents * COMMON, 20)
    rare = [term for term in known if frequencies[term] <= limit] or known[:3]
    # By rarity alone, which both engines can sum as integers; the full weight changes nothing (.649 against .648).
    chosen = {term: max(1, round(rarity[term] * 10)) for term in rare[:CANDIDATE_TERMS]}
    return Weights(scored, chosen, sum(weight[term] for term in order[:SCORED_TERMS]))
