"""What comes from elsewhere beside what is known: more of the same, the same, or something else. Pure."""

from __future__ import annotations

from hardwon.store.journal import content_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hardwon.types import Memory, Occurrence, Version

# Statuses of a memory that stands: only such ones can be the twin of another.
LIVING = ("active", "resolved", "inactive")
# A memory that was set aside here is not woken by what comes from elsewhere.
SET_ASIDE = ("forgotten", "rejected", "replaced", "quarantined")


def happened(one: Occurrence) -> tuple[Any, ...]:
    """What makes two occurrences the same one; what became of it since (its status) does not count."""
    origin = one.origin
    return one.at, one.outcome, origin.who, origin.client, origin.session, origin.tool, one.branch, one.commit


def newer_occurrences(ours: Sequence[Occurrence], theirs: Sequence[Occurrence]) -> list[Occurrence] | None:
    """Theirs beyond ours: nothing when they are equal or we have more, None when the two went different ways."""
    if any(happened(mine) != happened(other) for mine, other in zip(ours, theirs, strict=False)):
        return None
    return list(theirs[len(ours) :])


def newer_versions(ours: Sequence[Version], theirs: Sequence[Version]) -> list[Version] | None:
    """Their versions beyond ours, None when the two went different ways. What one side has erased says nothing against it, and a
    source that keeps no history says only what holds now."""
    if len(theirs) == 1 < len(ours) and _alike(ours[-1], theirs[0]):
        return []
    if not all(_alike(mine, other) for mine, other in zip(ours, theirs, strict=False)):
        return None
    return list(theirs[len(ours) :])


def _alike(mine: Version, other: Version) -> bool:
    erased = not (mine.content.text and other.content.text)
    return erased or content_values(mine.content) == content_values(other.content)


def missing(ours: Iterable[Occurrence], theirs: Iterable[Occurrence]) -> list[Occurrence]:
    """Those of theirs that we do not have; two that are alike in everything are two."""
    left: dict[tuple[Any, ...], int] = {}
    for one in ours:
        left[happened(one)] = left.get(happened(one), 0) + 1
    found = []
    for one in theirs:
        what = happened(one)
        if left.get(what):
            left[what] -= 1
        else:
            found.append(one)
    return found


def after(known: Memory, theirs: Memory, fresh: Sequence[Occurrence]) -> Memory:
    """The known memory when it has happened so many times more, as it would stand had they been recorded here: what happens
    again is active again, unless it was set aside."""
    awake = known.status not in SET_ASIDE and any(one.status == "active" for one in fresh)
    status = "active" if awake else known.status
    last = max((one.at for one in fresh), default=known.updated_at)
    result: Memory = known.replace(
        seen=known.seen + len(fresh), status=status, updated_at=max(known.updated_at, last, theirs.updated_at if fresh else 0)
    )
    return result
