"""What became of a change: taken back, fixed, followed up. Pure."""

from __future__ import annotations

from hardwon.types import Anchor, FieldChange, Value
from hardwon.upkeep.evidence import UNDO, is_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.types import Event, Link, Memory, Outcome

# Relations that tell what became of an earlier change.
AFTERWARDS = ("reverts", "fixes", "regression")
_MOST = 3
# Payloads: of a revision that took a secret out, and of an import that brought an older version and no occurrence.
REDACTED, VERSION = "redacted", "version"
# Actions that tell of an occurrence.
OCCURRED = ("created", "repeated", "imported")
# Actions that tell of the store itself, and change nothing that a memory says; nothing of them is undone.
KEEPING = ("restored", "repaired")
# How the payload of a repair begins that vouches for an occurrence whose own entry is gone; its status follows.
VOUCHED = "occurrence "


class Fate(Value):
    """The outcome of a change and, in words, why."""

    outcome: Outcome | None
    because: str


def standing(events: Iterable[Event]) -> list[Event]:
    """The changes of a memory that stand, oldest first: an undo takes back the last one of its kind; a new occurrence settles what
    was done to status and content before it, and so does a secret that was taken out."""
    changes: list[Event] = []
    for event in events:
        if event.action in KEEPING or is_note(event):
            continue
        if event.action in OCCURRED or (event.action, event.payload) == ("revised", REDACTED):
            changes = [change for change in changes if change.action not in ("status", "revised")]
        elif event.payload.endswith(UNDO):
            _take_last(changes, event)
        else:
            changes.append(event)
    return changes


def undone(events: Iterable[Event]) -> set[int]:
    """The journal entries that were taken back, and those that took them back."""
    changes: list[Event] = []
    found: set[int] = set()
    for event in events:
        if is_note(event):
            continue
        if event.payload.endswith(UNDO):
            found.update((event.seq, *_take_last(changes, event)))
        else:
            changes.append(event)
    return found


def _take_last(changes: list[Event], undo: Event) -> list[int]:
    """Remove what an undo takes back; not always the very last: what replaced a memory is taken back over what was said since."""
    for place in reversed(range(len(changes))):
        if changes[place].action == undo.action:
            return [changes.pop(place).seq]
    return []


def stroke(event: Event) -> tuple[int, str, str]:
    """What the changes have in common that were made at once: a forgetting of many, whatever their status was before."""
    return event.at, event.action, event.payload.rpartition(">")[2]


def apart(now: int, last: Event | None) -> int:
    """The time of a new stroke: now, but not that of the last entry, or the two would be one. A clock may stand still, or be set back."""
    return now + 1 if last is not None and last.at == now else now


def occurrence_statuses(events: Iterable[Event]) -> dict[int, str]:
    """The status of each occurrence (by the event that told of it), replayed from a memory's journal.

    An occurrence begins active, an imported one with the status that its event names; a change from one status to another moves
    those that have the first; an undo gives back what was before the change that it takes back. Forgetting is of the whole memory
    and moves none.
    """
    statuses: dict[int, str] = {}
    before: list[dict[int, str]] = []
    for event in events:
        if event.action in OCCURRED:
            if event.payload != VERSION:
                statuses[event.seq] = (event.payload if event.action == "imported" else "") or "active"
            before.clear()
        elif event.action == "repaired" and event.payload.startswith(VOUCHED):
            statuses[event.seq] = event.payload.removeprefix(VOUCHED)
        elif event.action != "status":
            continue
        elif event.payload.endswith(UNDO):
            statuses = before.pop() if before else statuses
        else:
            before.append(dict(statuses))
            old, _, new = event.payload.partition(">")
            if new != "forgotten":
                statuses = {seq: new if status == old else status for seq, status in statuses.items()}
    return statuses


def taken_back(reverts: Iterable[tuple[str, str]]) -> dict[str, bool]:
    """Which of the reverted are still taken back, from (reverter, reverted) pairs: a revert that was itself reverted undoes nothing.

    Chains of reverts can be thousands long, so this walks with a stack of its own; in a circle (which hashes cannot make, but
    numbers can) the change that closes it counts as standing.
    """
    by_target: dict[str, list[str]] = {}
    for reverter, reverted in reverts:
        by_target.setdefault(reverted, []).append(reverter)
    known: dict[str, bool] = {}
    for target in by_target:
        path = [target]
        while path:
            change = path[-1]
            waiting = [one for one in by_target.get(change, ()) if one not in known and one not in path]
            if waiting:
                path.append(waiting[0])
            else:
                known[change] = any(not known.get(one, False) for one in by_target.get(change, ()) if one not in path[:-1])
                path.pop()
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


def retold(memory: Memory, fate: Fate | None) -> Memory:
    """A change with the fate that is told now; without one nothing became of it, unless somebody revised what it says."""
    if fate is None and memory.version > 1:
        return memory
    told: Memory = memory.replace(outcome=fate.outcome if fate else None, because=fate.because if fate else "")
    return told


_COMPARED = (
    "kind",
    "outcome",
    "text",
    "detail",
    "code",
    "because",
    "rejected",
    "tags",
    "anchors",
    "visibility",
    "expires_at",
    "metadata",
)


def differences(before: Memory, after: Memory) -> tuple[FieldChange, ...]:
    """The fields of a memory's content that two versions have different."""
    pairs = ((name, _written(getattr(before, name)), _written(getattr(after, name))) for name in _COMPARED)
    return tuple(FieldChange(name, old, new) for name, old, new in pairs if old != new)


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return "\n".join(
            " ".join(part for part in (one.path, one.symbol) if part) if isinstance(one, Anchor) else one for one in value
        )
    return "" if value is None else str(value)
