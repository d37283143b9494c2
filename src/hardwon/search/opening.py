"""What a session should know at its start, in the order that it is cut off. Pure."""

from __future__ import annotations

from hardwon.types import Hit, Signal, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.types import Memory


# A change that was taken back half a year before the last commit is no news at the start of a session; `before` still tells of it
# at its file.
_RECENT_MS = 180 * 86_400_000


class Material(Value):
    """What the store has to offer: rules and decisions, open attempts, the last summary, lessons of risky symbols, and changes
    that were taken back lately."""

    rules: tuple[Memory, ...]
    attempts: tuple[Memory, ...]
    summaries: tuple[Memory, ...]
    lessons: tuple[Memory, ...]
    taken_back: tuple[Memory, ...]


def recent(taken_back: Iterable[Memory], newest: int) -> list[Memory]:
    """Those of the changes that are not old, seen from the newest change's time."""
    return [memory for memory in taken_back if memory.created_at >= newest - _RECENT_MS]


def choose(material: Material, verdict: Callable[[Memory], str], unverified_limit: int) -> list[Hit]:
    """Hits in the order of reading. The state of the last run (its summary, open attempts) always comes; the rest only as
    ``verdict`` allows, the unverified at most ``unverified_limit`` times."""
    hits: list[Hit] = []
    seen: set[str] = set()
    unverified = 0
    always = ("open attempt", "last run")
    for name, memories in (
        ("rule", material.rules), ("last run", material.summaries), ("open attempt", material.attempts),
        ("risk", material.lessons), ("taken back", material.taken_back),
    ):  # fmt: skip
        for memory in memories:
            said = "yes" if name in always and memory.trust not in ("imported", "quarantined") else verdict(memory)
            if said == "no" or memory.id in seen:
                continue
            unverified += said == "unverified"
            if said == "unverified" and unverified > unverified_limit:
                continue
            seen.add(memory.id)
            hits.append(Hit(memory, 1.0, (Signal(name, 1.0),)))
    return hits
