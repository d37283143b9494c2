"""What waits in the spool and what failed, in words."""

from __future__ import annotations

from hardwon.doors.render import plural, when
from hardwon.doors.shapes import moment
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.engine.core import Engine
    from hardwon.store.spooling.header import Head, State

# Milliseconds that a record may wait because the store was in use, and no more: an agent was told an id that nobody can recall yet.
PATIENCE = 15 * 60_000

_CAUSES = {
    "busy": ("the store was in use", "the next write takes them in"),
    "disk_full": ("the disk was full", "make room; the next write takes them in"),
    "key_missing": ("the key of the store was not at hand", "the next write with the key takes them in"),
    "damaged": (
        "the store was damaged",
        "`hardwon verify` says whether it still is; the next write to an intact store takes them in",
    ),
}
_OTHER = ("the store failed", "`hardwon verify`; the next write that succeeds takes them in")


def findings(engine: Engine) -> list[Finding]:
    """What status says of the spool; nothing while all is well."""
    from hardwon.engine import spooling, writing

    head = writing.head(engine)
    if head is None:
        return []
    path = f"{engine.store.path}.spool"
    found = list(_head(head, engine.clock(), path))
    aside = len(spooling.set_aside(engine))
    if aside:
        what = f"{plural(aside, 'record', 'records')} of the spool could not be taken in"
        found.append(Finding("warning", what, f"{path}.rejected", "look at the file, which says why, and remove it"))
    return found


def _head(head: Head, now: int, path: str) -> list[Finding]:
    found = []
    if head.unreadable:
        found.append(
            Finding("error", f"the spool cannot be read: {head.unreadable}", path, "check the owner and mode of the file")
        )
    elif head.state is None:
        what = "the head of the spool is damaged: how much waits is not known"
        found.append(Finding("error", what, path, "the next write looks for it"))
    elif head.waits:
        found.append(_waiting(head.state, now, path))
    if head.trouble:
        trouble = head.trouble
        times = "a write failed" if trouble.count == 1 else f"{trouble.count:,} writes failed"
        what = f"{times} since {when(trouble.since)}, and nothing was written since: {trouble.message}"
        found.append(
            Finding("error", what, trouble.kind, "repeat them when the cause is gone; the next write that succeeds ends this")
        )
    return found


def _waiting(state: State, now: int, path: str) -> Finding:
    because, remedy = _CAUSES.get(state.cause, _OTHER)
    patient = state.cause == "busy" and now - state.since < PATIENCE
    what = f"{plural(state.count, 'record waits', 'records wait')} in the spool since {when(state.since)}, because {because}"
    return Finding("warning" if patient else "error", what, path, remedy)


def counted(engine: Engine) -> int:
    """How many records wait; 0 where that cannot be told."""
    from hardwon.engine import writing

    head = writing.head(engine)
    return head.state.count if head and head.state and head.waits else 0


def counts(engine: Engine) -> Mapping[str, object]:
    """The same for programs: how many records wait, since when and why; how many were set aside; how many writes failed in a row."""
    from hardwon.engine import spooling, writing

    head = writing.head(engine)
    state = head.state if head and head.waits else None
    return {
        "waiting": state.count if state else 0, "since": moment(state.since) if state else None,
        "cause": state.cause if state else "", "set_aside": len(spooling.set_aside(engine)) if head else 0,
        "failed": head.trouble.count if head and head.trouble else 0,
    }  # fmt: skip
