"""What was recorded about a place whose history is asked for: what of it belongs there, and in which order it is told. Pure."""

from __future__ import annotations

from hardwon.code.names import dotted, same_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.types import Anchor, Hit

# What was decided, before what was noted.
_KINDS = ("decision", "rule", "lesson", "attempt", "howto", "fact", "summary")


def speaks_of(anchor: Anchor, paths: Iterable[str], symbol: str, former: Sequence[tuple[str, str]]) -> bool:
    """Whether an anchor is on the file as a whole, on the symbol (by whatever name), or on what that belongs to: what was learnt of the
    file's other symbols is another matter."""
    if (anchor.path, anchor.symbol) in former:
        return True
    if anchor.path not in paths:
        return False
    around = dotted(anchor.symbol)
    return not around or same_symbol(anchor.symbol, symbol) or dotted(symbol).startswith(f"{around}.")


def decisions_first(hit: Hit) -> tuple[float, int, int, str]:
    """A key to sort hits by: the nearest first, of these what was decided, then the newest."""
    memory = hit.memory
    rank = _KINDS.index(memory.kind) if memory.kind in _KINDS else len(_KINDS)
    return -hit.score, rank, -memory.updated_at, memory.id
