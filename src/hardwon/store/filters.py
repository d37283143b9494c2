"""A filter as SQL."""

from __future__ import annotations

from hardwon.store.rows import to_blob
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_EMPTY = Filter()


def condition(where: Filter) -> tuple[str, list[Any]]:
    """A filter as SQL over ``memories m``; the words come as values, never as text."""
    if where == _EMPTY:
        return "1", []
    parts: list[str] = []
    values: list[Any] = []

    def among(column: str, words: Iterable[Any]) -> None:
        items = list(words)
        if items:
            parts.append(f"{column} IN ({', '.join('?' * len(items))})")
            values.extend(items)

    among("m.status", where.statuses)
    among("m.kind", where.kinds)
    among("m.outcome", where.outcomes)
    among("m.trust", where.trusts)
    among("m.id", (to_blob(identifier) for identifier in where.ids))
    for tag in where.tags:
        parts.append("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)")
        values.append(tag)
    for column, value in (("m.session", where.session), ("m.client", where.client), ("m.who", where.who)):
        if value:
            parts.append(f"{column} = ?")
            values.append(value)
    if where.before is not None:
        parts.append("m.created_at < ?")
        values.append(where.before)
    if where.alive_at is not None:
        parts.append("(m.expires_at IS NULL OR m.expires_at > ?) AND (m.valid_until IS NULL OR m.valid_until > ?)")
        values += [where.alive_at, where.alive_at]
    return " AND ".join(parts) or "1", values
