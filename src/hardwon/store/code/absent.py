"""The view of a code index that is not there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.code.index import Declared, Site, Trail
    from hardwon.code.outline import Call, Import, Symbol


class NoReads:
    """The view of an index that is not there. ``trouble``: why it could not be opened, "" where none was made yet."""

    commit = ""
    indexed_at = 0

    def __init__(self, trouble: str = "") -> None:
        self.trouble = trouble

    def symbols(self, blob: str) -> list[Symbol] | None:
        """None: it is not in the index."""
        return None

    def knows(self, blob: str) -> bool:
        """It does not."""
        return False

    def skipped(self, blob: str) -> str:
        """Nothing."""
        return ""

    def is_broken(self, blob: str) -> bool:
        """It is not in the index."""
        return False

    def blob_at(self, path: str) -> str:
        """Nothing."""
        return ""

    def files(self) -> dict[str, str]:
        """Nothing."""
        return {}

    def paths(self) -> list[str]:
        """Nothing."""
        return []

    def ending(self, suffix: str) -> list[str]:
        """Nothing."""
        return []

    def named(self, name: str, limit: int = 200) -> list[Declared]:
        """Nothing."""
        return []

    def like(self, fingerprint: str, limit: int = 50) -> list[Declared]:
        """Nothing."""
        return []

    def calls_to(self, name: str, limit: int = 2000) -> list[Site]:
        """Nothing."""
        return []

    def calls_in(self, path: str) -> list[Call]:
        """Nothing."""
        return []

    def imports_of(self, path: str) -> list[Import]:
        """Nothing."""
        return []

    def importers_of(self, word: str, limit: int = 500) -> list[tuple[str, Import]]:
        """Nothing."""
        return []

    def cochanged(self, path: str, limit: int = 20) -> list[tuple[str, int]]:
        """Nothing."""
        return []

    def trail(self, path: str, symbol: str, blob: str, commit: str) -> Trail | None:
        """Nobody looked."""
        return None

    def trails(self) -> dict[tuple[str, str, str, str], Trail]:
        """Nothing."""
        return {}

    def lost(self) -> list[tuple[str, str]]:
        """Nothing."""
        return []

    def moves(self) -> list[tuple[str, str, str, str]]:
        """Nothing."""
        return []

    def now_at(self, path: str, symbol: str) -> list[tuple[str, str]]:
        """Nothing."""
        return []

    def setting(self, name: str) -> str:
        """Nothing."""
        return ""

    def figures(self) -> dict[str, int]:
        """All of them 0."""
        return dict.fromkeys(("files", "blobs", "symbols", "calls", "skipped", "held", "bytes"), 0)
