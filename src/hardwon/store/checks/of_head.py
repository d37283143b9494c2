"""What the head outside (heads.py) says of a store. Apart from it, for every writer loads that one."""

from __future__ import annotations

import os

from hardwon.store.checks.heads import contains, of
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from hardwon.store.checks.heads import Head


def compare(path: str, head: Head | None, connection: apsw.Connection) -> list[Finding]:
    """What the head outside, read from ``path``, says of the store: nothing while it is contained; an error for a journal that was
    longer; a note where there is none and should be."""
    if head is not None:
        return [] if contains(connection, head) else [_lost(path, connection, head)]
    if of(connection) is None:
        return []
    state = "cannot be read" if os.path.exists(path) else "is not there"
    what = f"the copy of the journal's head {state}: whether the store was put back to an earlier time cannot be told"
    return [Finding("note", what, path, "the next commit writes it anew")]


def _lost(path: str, connection: apsw.Connection, head: Head) -> Finding:
    last, at = connection.execute(
        "SELECT replica_seq, at FROM events WHERE replica = ? ORDER BY replica_seq DESC LIMIT 1", (head.replica,)
    ).fetchone() or (0, 0)
    remedy = f"`hardwon restore` a backup that has them, or the newer file; if this one is what you want, remove {path}"
    if last >= head.replica_seq:
        what = f"entry {head.replica_seq} of the journal, of {_moment(head.at)}, is another one than had been written"
        return Finding("error", f"{what}: the journal was written anew", "journal", remedy)
    gone = head.replica_seq - last
    since = f"it ends with entry {last}, of {_moment(at)}" if last else "it has none of them"
    changes = "1 change that was acknowledged is" if gone == 1 else f"{gone:,} changes that were acknowledged are"
    what = f"{changes} not in the store, the last of {_moment(head.at)}: {since}"
    return Finding("error", f"{what}. An earlier file was put into its place, or it lost its end", "journal", remedy)


def _moment(at: int) -> str:
    """A time of the journal for people, in UTC; clocks may lie, so any number has to do."""
    from datetime import UTC, datetime, timedelta

    try:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return "an impossible time"
