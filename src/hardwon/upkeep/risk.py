"""A symbol's risk, as the first code-memory tool defined it: agents of that tool find the same figures here.

risk = fails x 1.0 + recency x 1.5 + consecutive fails x 1.5 - successes x 0.3, at least 0, over active occurrences.
"""

from __future__ import annotations

from hardwon.types import Risk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hardwon.types import Experience

_DAY_MS = 86_400_000
INJECT_AT = 10.0
LEVELS = ("high", "caution", "normal", "low")
# Fewer active failures cannot reach it: n + 1.5 + 1.5 n.
LEAST_FAILS = 4


def recency(last_fail: int | None, now: int) -> float:
    """1.0 within 7 days of the last active failure, 0.5 within 30, else 0.2; 0 where there is none."""
    if last_fail is None:
        return 0.0
    days = max(0, now - last_fail) / _DAY_MS
    return 1.0 if days <= 7 else 0.5 if days <= 30 else 0.2


def level(score: float) -> str:
    """Below 5 low, below 10 normal, below 15 caution, else high."""
    return "low" if score < 5 else "normal" if score < 10 else "caution" if score < 15 else "high"


def in_order(experiences: Iterable[Experience]) -> list[Experience]:
    """In the order in which they happened. What was recorded here came in that order, whatever the clock said; an import brings old
    ones late, memory by memory, and each goes where its time belongs among the others."""
    placed: list[tuple[int, int, Experience]] = []
    reached: int | None = None
    for one in sorted(experiences, key=lambda one: one.seq):
        at = one.at
        if not one.imported:
            at = reached = at if reached is None else max(reached, at)  # a clock that was set back does not undo what came before
        placed.append((at, one.seq, one))
    return [one for _, _, one in sorted(placed, key=lambda item: item[:2])]


def assess(symbol: str, file: str, experiences: Iterable[Experience], now: int) -> Risk:
    """The risk of one symbol from its occurrences; computed when read, so that a quiet symbol cools down.

    They count in the order in which they happened (``in_order``).
    """
    fails = successes = consecutive = 0
    last_fail: int | None = None
    last_success: int | None = None
    for experience in in_order(experiences):
        if experience.status != "active":
            continue
        if experience.outcome == "failed":
            fails += 1
            consecutive += 1
            last_fail = experience.at if last_fail is None else max(last_fail, experience.at)
        else:
            successes += 1
            consecutive = 0
            last_success = experience.at if last_success is None else max(last_success, experience.at)
    score = max(0.0, fails * 1.0 + recency(last_fail, now) * 1.5 + consecutive * 1.5 - successes * 0.3)
    return Risk(symbol, file, round(score, 2), level(score), fails, successes, last_fail, last_success)


def by_symbol(experiences: Iterable[Experience]) -> dict[tuple[str, str], list[Experience]]:
    """Occurrences of each (symbol, file), in order of arrival."""
    groups: dict[tuple[str, str], list[Experience]] = {}
    for experience in experiences:
        groups.setdefault((experience.symbol, experience.path), []).append(experience)
    return groups


def by_impact(risks: Iterable[Risk]) -> list[Risk]:
    """In the order in which they should be looked at: the level of risk first, then the score and how much depends on the symbol.

    Within a level the score counts as often as it has decimal orders of dependents: ten of them double it, a hundred treble it. So
    the impact moves neighbours past each other, and never a symbol into another level. The score itself stays as it is.
    """
    return sorted(risks, key=lambda risk: (LEVELS.index(risk.level), -_weighed(risk), -risk.fails, risk.symbol, risk.file))


def _weighed(risk: Risk) -> float:
    from math import log10  # the risk of one symbol, which a hook asks for, needs none

    dependents = risk.impact.dependents if risk.impact is not None else 0
    return risk.score * (1 + log10(1 + dependents))


def assess_all(groups: Mapping[tuple[str, str], list[Experience]], now: int) -> list[Risk]:
    """Every symbol's risk, riskiest first."""
    risks = [assess(symbol, file, group, now) for (symbol, file), group in groups.items()]
    risks.sort(key=lambda risk: (-risk.score, -risk.fails, risk.symbol, risk.file))
    return risks
