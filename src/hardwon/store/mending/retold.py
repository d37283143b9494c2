"""Rows that are told from other rows, or chosen among them, and which are missing. Pure."""

from __future__ import annotations

from hardwon.store.rows import encode_anchors, encode_list, to_blob, to_text
from hardwon.types import Occurrence, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hardwon.store.checks.heads import Head
    from hardwon.store.mending.salvage import Row
    from hardwon.types import Event, Memory

# What is left of a version whose words were taken out.
EMPTY: dict[str, Any] = {
    "salt": None, "text": "", "detail": "", "code": "", "because": "", "rejected": "[]", "tags": "[]", "anchors": "[]", "metadata": "",
}  # fmt: skip


def newest(rows: Sequence[Row]) -> dict[bytes, Row]:
    """One row a memory: of two, which only an old page can bring, the later; one that was emptied, whatever the other says."""
    return {bytes(row["id"]): row for row in sorted(rows, key=lambda row: (not row["text"], row["version"], row["updated_at"]))}


def named(row: Row, keys: Mapping[Any, bytes]) -> Any:
    """The target of a change's reference, where it is there; which one a number means is settled by the next init."""
    return row["target"] if row["target"] in keys and row["target"] != row["source"] else None


def occurrence(raw: bytes, row: Row) -> Occurrence:
    """A row of occurrences as an occurrence of that memory."""
    origin = Origin(row["who"], row["client"], row["session"], row["tool"])
    return Occurrence(
        to_text(raw), row["at"], row["outcome"], row["status"], origin, str(row["branch"]), str(row["commit_sha"])
    )  # fmt: skip


def retold(key: Any, outcome: Any, event: Event, status: str) -> Row:
    """An occurrence as its event tells it; at which commit is not known any more."""
    origin = event.origin
    return {
        "id": None, "memory": key, "event": event.seq, "at": event.at, "outcome": outcome, "status": status, "who": origin.who,
        "client": origin.client, "session": origin.session, "tool": origin.tool, "branch": "", "commit_sha": "",
    }  # fmt: skip


def as_version(memory: Memory) -> Row:
    """The current content as the row of its version, without salt and event."""
    return {
        "memory": to_blob(memory.id), "version": memory.version, "event": None, "salt": None, "kind": memory.kind,
        "outcome": memory.outcome, "visibility": memory.visibility, "valid_from": memory.valid_from,
        "valid_until": memory.valid_until, "expires_at": memory.expires_at, "recorded_at": memory.updated_at,
        "superseded_at": None, "text": memory.text, "detail": memory.detail, "code": memory.code, "because": memory.because,
        "rejected": encode_list(memory.rejected), "tags": encode_list(memory.tags), "anchors": encode_anchors(memory.anchors),
        "metadata": memory.metadata,
    }  # fmt: skip


def gaps(events: Sequence[Row], head: Head | None = None) -> list[tuple[str, int, int]]:
    """Replica, first and last number of each run of entries that is missing before one that is there, or before the one that was the
    last when it was noted outside (``head``)."""
    numbers: dict[str, list[int]] = {head.replica: [head.replica_seq + 1]} if head else {}
    for row in events:
        numbers.setdefault(str(row["replica"]), []).append(int(row["replica_seq"]))
    found = []
    for replica, held in numbers.items():
        before = 0
        for number in sorted(held):
            if number > before + 1:
                found.append((replica, before + 1, number - 1))
            before = number
    return found
