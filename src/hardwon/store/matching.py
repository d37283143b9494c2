"""A filter, and what it may name, told of one memory: for the store in memory."""

from __future__ import annotations

from hardwon.types import SHARED, UNHEARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.types import Change, Filter, Memory, Occurrence


def matches(memory: Memory, where: Filter, files: Sequence[str]) -> bool:
    """A filter, word by word; ``files`` are those of the memory's anchors and of its change."""
    extensions = ["." + one.lstrip(".").lower() for one in where.extensions]
    folders = [path.rstrip("/") for path in where.paths]
    return (
        (not where.statuses or memory.status in where.statuses)
        and (not where.kinds or memory.kind in where.kinds)
        and (not where.outcomes or memory.outcome in where.outcomes)
        and (not where.trusts or memory.trust in where.trusts)
        and (not where.ids or memory.id in where.ids)
        and (where.derived is None or where.derived == (memory.number is None))
        and all(tag in memory.tags for tag in where.tags)
        and (not where.branches or memory.branch in where.branches)
        and (not extensions or any(_folded(path).endswith(one) for one in extensions for path in files))
        and (not folders or any(path == one or path.startswith(one + "/") for one in folders for path in files))
        and (not where.authors or any(_folded(one) in _folded(memory.author) for one in where.authors))
        and (where.since is None or memory.created_at >= where.since)
        and (not where.session or memory.origin.session == where.session)
        and (not where.client or memory.origin.client == where.client)
        and (not where.who or memory.origin.who == where.who)
        and (where.before is None or memory.created_at < where.before)
        and (
            where.alive_at is None or all(end is None or end > where.alive_at for end in (memory.expires_at, memory.valid_until))
        )
    )


def _folded(text: str) -> str:
    """ASCII letters in lower case, as the engine's own ``lower`` has them."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def is_of_strangers(memory: Memory, occurrence: Occurrence) -> bool:
    """Whether something came with the repository's files, and nobody approved it (filters.HAPPENED_FOR_US is the same in SQL)."""
    origin = occurrence.origin
    return memory.trust in UNHEARD and (origin.who, origin.client) == (SHARED.who, SHARED.client)


def values_of(field: str, memory: Memory, files: Sequence[str]) -> list[str]:
    """What a filter on this field may name of a memory."""
    if field == "extensions":
        names = [path.rpartition("/")[2].lstrip(".") for path in files]
        return ["." + _folded(name.rpartition(".")[2]) for name in names if "." in name]
    if field == "paths":
        return [path.partition("/")[0] for path in files]
    if field == "tags":
        return list(memory.tags)
    one = {"branches": memory.branch, "authors": memory.author, "kinds": memory.kind, "outcomes": memory.outcome}
    value = one.get(field, memory.status if field == "statuses" else memory.trust)
    return [value] if value else []


def is_named(change: Change, reference: str) -> bool:
    """Whether a reference means the change."""
    if reference.startswith("#"):
        return change.pull_request == int(reference[1:])
    return change.sha.startswith(reference)
