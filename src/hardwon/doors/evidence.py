"""Why a memory is believed as far as it is, in words."""

from __future__ import annotations

from hardwon.search.pack import day
from hardwon.upkeep.evidence import DOUBTS, UNDO, doubt, lifted_by, step, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hardwon.types import Event, Memory


def told(event: Event) -> str:
    """What a journal entry says, in words where it carries evidence."""
    if event.action != "trust":
        return event.payload.replace(">", " -> ")
    old, new, found = step(event.payload)
    moved = f"{old} -> {new}" if old != new or not found else "note"
    back = UNDO if event.payload.endswith(UNDO) else ""
    return f"{moved}{': ' + words(found) if found else ''}{back}"


def words(found: Mapping[str, Any]) -> str:
    """A piece of evidence."""
    commit = str(found.get("commit", ""))[:10]
    branch = f" on {found['branch']}" if found.get("branch") else ""
    sentences = {
        "test": f"{found.get('test')} failed on {_tree(found.get('red'))} and passed on {_tree(found.get('green'))}",
        "survived": f"commit {commit} has stood{branch} since {_since(found)}",
        "landed": f"commit {commit} is{branch}",
        "reverted": f"commit {commit} was taken back",
        "lost": f"no branch or tag reaches commit {commit} any more",
        "red": f"{found.get('test')} failed again on {_tree(found.get('tree'))}",
    }
    return sentences.get(str(found.get("by")), str(found.get("by", "")))


def _since(found: Mapping[str, Any]) -> str:
    since = found.get("since")
    return day(since) if isinstance(since, int) else "then"


def _tree(name: object) -> str:
    commit, _, edited = str(name).partition("+")
    return f"{commit[:10]} with edits" if edited else commit[:10]


def reasons(memory: Memory, events: Sequence[Event]) -> list[str]:
    """Why it is believed as far as it is, a line each: what lifted it, what took that back, what a person should look at."""
    lines = []
    against = doubt(events) if memory.trust == "confirmed" else {}
    if memory.trust == "proven":
        lines.append(f"proven: {words(lifted_by(events))}")
    elif memory.trust == "claimed":
        fell: Mapping[str, Any] = next(
            (found for _, old, new, found in reversed(steps(events)) if (old, new) == ("proven", "claimed")), {}
        )
        if fell.get("by") in DOUBTS:
            lines.append(f"no longer proven: {words(fell)}")
    if against:
        lines.append(doubtful(memory, against))
    return lines


def doubtful(memory: Memory, against: Mapping[str, Any]) -> str:
    """What a person should look at, and what they can do."""
    return f"in doubt: {words(against)}; `hardwon approve {memory.called}` if it holds, `hardwon reject {memory.called}` if not"
