"""What became of a change: taken back, fixed, followed up. Pure."""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardwon.types import Event, Link, Outcome

# Relations that tell what became of an earlier change.
AFTERWARDS = ("reverts", "fixes", "regression")
_MOST = 3


class Fate(Value):
    """The outcome of a change and, in words, why."""

    outcome: Outcome | None
    because: str


def standing(events: Iterable[Event]) -> list[Event]:
    """The changes of status that stand: an undo takes back the one before it, a new occurrence settles all before it."""
    changes: list[Event] = []
    for event in events:
        if event.action != "status":
            changes.clear()
        elif event.payload.endswith("(undo)"):
            changes[-1:] = []
        else:
            changes.append(event)
    return changes


def settled_before(events: Sequence[Event]) -> int:
    """The journal's place up to which occurrences keep the status they have: those of before the memory last came to life again.

    A lesson that was resolved, happened again and is resolved once more has two groups of occurrences; a change of status, and
    its undo, moves the last group only.
    """
    alive = max((event.seq for event in events if event.action != "status"), default=0)
    return max((event.seq for event in events if event.action == "status" and event.seq < alive), default=0)


def taken_back(reverts: Iterable[tuple[str, str]]) -> dict[str, bool]:
    """Which of the reverted are still taken back, from (reverter, reverted) pairs: a revert that was itself reverted undoes nothing."""
    by_target: dict[str, list[str]] = {}
    for reverter, reverted in reverts:
        by_target.setdefault(reverted, []).append(reverter)
    known: dict[str, bool] = {}

    def is_back(change: str, path: frozenset[str]) -> bool:
        if change not in known:
            known[change] = any(
                not is_back(reverter, path | {change}) for reverter in by_target.get(change, ()) if reverter not in path
            )
        return known[change]

    for target in by_target:
        is_back(target, frozenset({target}))
    return {target: known[target] for target in by_target}


def fates(links: Iterable[Link], tell: Callable[[str, str], str]) -> dict[str, Fate]:
    """The fate of every change that a later one speaks of; ``tell(kind, source id)`` words one of them."""
    known = [link for link in links if link.target is not None]
    back = taken_back((link.source, link.target or "") for link in known if link.kind == "reverts")
    words: dict[str, list[str]] = {}
    for link in known:
        target = link.target or ""
        # Only a revert that stands tells what became of its target.
        if link.kind == "reverts" and (not back.get(target) or back.get(link.source)):
            continue
        words.setdefault(target, []).append(tell(link.kind, link.source))
    return {
        target: Fate("failed" if back.get(target) else None, "; ".join(words.get(target, ())[:_MOST]))
        for target in {link.target or "" for link in known}
    }
