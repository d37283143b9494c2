"""Where code was before it came to a place or got a name: what was recorded of it then still names that. Pure, and light."""

from __future__ import annotations

from hardwon.code.names import last_part, same_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Move = tuple[str, str, str, str]


class Moves:
    """All that is known to have moved: path and symbol as they were recorded, and as they are now (``CodeReader.moves``)."""

    def __init__(self, moves: Iterable[Move]) -> None:
        self._by_name: dict[str, list[Move]] = {}
        self._by_path: dict[str, list[Move]] = {}
        for move in moves:
            self._by_path.setdefault(move[2], []).append(move)
            if move[3]:
                self._by_name.setdefault(last_part(move[3]), []).append(move)

    def to(self, path: str, symbol: str) -> list[tuple[str, str]]:
        """The anchors (path, symbol) that are now at a place, under another name or from another file: of a symbol (in any file where
        ``path`` is "") its own and those on its file as a whole; of a file all."""
        found: list[tuple[str, str]] = []
        for old, name, now, now_name in self._by_name.get(last_part(symbol), ()) if symbol else ():
            if path in ("", now) and same_symbol(now_name, symbol):
                found.append((old, name))
        for old, name, now, _ in self._by_path.get(path, ()) if path else ():
            if old != now and not (symbol and name):
                found.append((old, name))
        return list(dict.fromkeys(found))
