"""Memories that say much the same: proposed to a person, never merged by themselves."""

from __future__ import annotations

from hardwon.intake.merge import same_value
from hardwon.search.ask import idf
from hardwon.search.terms import text_terms
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.base import Reader
    from hardwon.types import Memory

# The share of weight that two texts have in common, of all that either has, from which they are worth a person's look.
ALIKE = 0.5
_CANDIDATES = 20
_SAID_ALIKE = 200
_MOST = 3
_RAREST = 8


def similar(reader: Reader, memory: Memory) -> list[tuple[Memory, float]]:
    """Held memories of the same kind whose text shares at least half of its weight with this one's: weighted Jaccard, the weights
    being the terms' rarity. Most alike first, at most three."""
    own = set(text_terms(memory.text))
    documents = reader.corpus().documents
    where = Filter(kinds=(memory.kind,), statuses=("active", "resolved"))
    found = []
    for other in _near(reader, own, where, _CANDIDATES):
        if other.id != memory.id:
            share = alike(reader, own, set(text_terms(other.text)), documents)
            if share >= ALIKE:
                found.append((other, round(share, 2)))
    return sorted(found, key=lambda item: (-item[1], -item[0].created_at))[:_MOST]


def same(reader: Reader, memory: Memory) -> list[Memory]:
    """Held memories that somebody recorded, of any kind, which say what this one says (see ``merge.same_value``)."""
    where = Filter(derived=False, statuses=("active", "resolved", "inactive"))
    found = _near(reader, set(text_terms(memory.text)), where, _SAID_ALIKE)
    return [other for other in found if other.id != memory.id and same_value(memory, other)]


def _near(reader: Reader, own: set[str], where: Filter, limit: int) -> list[Memory]:
    """Memories that hold the rarest of some terms, those with most of them first."""
    frequencies = reader.frequencies(sorted(own))
    documents = reader.corpus().documents
    rarest = sorted(frequencies, key=lambda term: (frequencies[term], term))[:_RAREST]
    weights = {term: max(1, round(10 * idf(documents, frequencies[term]))) for term in rarest}
    return reader.memories(reader.candidates(weights, where, limit)) if weights else []


def alike(reader: Reader, one: set[str], other: set[str], documents: int) -> float:
    """Weight of the shared terms over that of all of them (0 to 1)."""
    known = reader.frequencies(sorted(one | other))
    weight = {term: idf(documents, known.get(term, 0)) for term in one | other}
    total = sum(weight.values())
    return sum(weight[term] for term in one & other) / total if total else 0.0
