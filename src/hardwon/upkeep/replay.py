"""A memory's current row as its journal tells it: for one whose row is damaged while its words and its events are not. Pure."""

from __future__ import annotations

from hardwon.types import Memory
from hardwon.upkeep import evidence, feedback, trust
from hardwon.upkeep.erasure import emptied
from hardwon.upkeep.evidence import UNDO
from hardwon.upkeep.revise import OCCURRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.types import Event, Occurrence, Status, Trust, Version

# Actions after which a memory says something new, or says it again.
_SAYING = (*OCCURRED, "revised")


def row(
    version: Version, events: Sequence[Event], occurrences: Sequence[Occurrence], number: int | None, replaced_by: str | None
) -> Memory:
    """The memory with the content of its last version; ``events`` and ``occurrences`` are its own, oldest first.

    Where the journal does not tell all (what a repetition vouched for, say), it is believed less rather than more.
    """
    first = next((event for event in events if event.action in OCCURRED), events[0] if events else None)
    useful, useless = feedback.counts(events, UNDO)
    status = _status(events)
    place = occurrences[0] if occurrences else None
    told: Memory = version.content.replace(
        number=number, status=status, trust=_trust(events), seen=max(1, len(occurrences)),
        created_at=min((event.at for event in events), default=version.recorded_at),
        updated_at=max((event.at for event in events if event.action in _SAYING), default=version.recorded_at),
        replaced_by=replaced_by if status == "replaced" else None,
        branch=place.branch if place else "", commit=place.commit if place else "", useful=useful, useless=useless,
    )  # fmt: skip
    told = told.replace(origin=first.origin) if first else told
    return emptied(told) if any(event.action == "erased" for event in events) else told


def _status(events: Sequence[Event]) -> Status:
    """A repetition makes active again; an undo gives back what was before."""
    status: Status = "active"
    before: list[Status] = []
    for event in events:
        if event.action in OCCURRED:
            status = "active"
            before.clear()
        elif event.action == "status" and event.payload.endswith(UNDO):
            status = before.pop() if before else status
        elif event.action == "status":
            before.append(status)
            status = event.payload.partition(">")[2] or status  # type: ignore[assignment]  # the words that we wrote
    return status


def _trust(events: Sequence[Event]) -> Trust:
    """What its first writer is believed, then each step that the journal names; of a repetition only what it lowers is sure."""
    known: Trust = "claimed"
    before: list[Trust] = []
    for event in events:
        if evidence.is_note(event):
            continue
        if event.action in ("created", "imported"):
            known = trust.initial("import" if event.action == "imported" else event.origin.who)
        elif event.payload.endswith(UNDO) and event.action in ("trust", "revised"):
            known = before.pop() if before else known
        elif event.action in ("trust", "revised"):
            before.append(known)
            _, moved, last = event.payload.partition(">")
            known = last.partition(" ")[0] if moved else known  # type: ignore[assignment]  # the words that we wrote
    return known
