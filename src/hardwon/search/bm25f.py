"""The exact score: BM25F over six fields (Robertson, Zaragoza, Taylor: "Simple BM25 extension to multiple weighted fields", 2004).

Each field's count is divided by its length norm and weighted, the fields are summed, and the sum saturates once.
The figures were tuned on two repositories' histories (dpdk and curl) and held on a third (docs/search.md).
"""

from __future__ import annotations

from hardwon.search.terms import unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardwon.types import Corpus, Document

# subject, body, path, context (functions around a change), added identifiers, removed identifiers
FIELD_WEIGHTS = (1.5, 0.5, 2.0, 0.5, 1.0, 0.2)
LENGTH_NORMS = (0.4, 0.4, 0.2, 0.5, 0.4, 0.5)
K1 = 2.0

AGE_POWER = 0.045
AGE_UNIT_DAYS = 7.0
SIZE_POWER = 0.05
SIZE_LIMIT = 1.4918  # exp(.4): beyond some 3,000 added lines a change is not more likely to be the cause
_DAY_MS = 86_400_000


def averages(corpus: Corpus) -> tuple[float, ...]:
    """Mean field lengths; 1 where a field is always empty."""
    return tuple(max(total / corpus.documents, 0.01) if corpus.documents else 1.0 for total in corpus.totals)


def words(document: Document, weights: Mapping[str, float], mean_lengths: Sequence[float]) -> dict[str, float]:
    """Each matching term's part of the score."""
    factors = [
        weight / (1 - norm + norm * length / mean)
        for weight, norm, length, mean in zip(FIELD_WEIGHTS, LENGTH_NORMS, document.lengths, mean_lengths, strict=True)
    ]
    parts = {}
    for term, packed in document.counts.items():
        count = 0.0
        for field, times in _unpacked(packed):
            count += factors[field] * times
        parts[term] = weights[term] * count / (K1 + count)
    return parts


def age_factor(at: int, now: int) -> float:
    """Mild discount of the old: (1 + days/7)^-.045. Stronger ones win on young links and lose as much on old ones."""
    days = max(0, now - at) / _DAY_MS
    return float((1 + days / AGE_UNIT_DAYS) ** -AGE_POWER)


def size_factor(added_lines: int) -> float:
    """(1 + added lines)^.05, bounded: what added more is more often what a later change speaks of."""
    return float(min((1 + added_lines) ** SIZE_POWER, SIZE_LIMIT))


_known: dict[int, list[tuple[int, int]]] = {}


def _unpacked(packed: int) -> list[tuple[int, int]]:
    found = _known.get(packed)
    if found is None:
        found = _known[packed] = unpack(packed)
    return found
