"""What the index of the code answers, and what is put into it. Implemented in the store; here, so that this room's rules can ask.

A *blob* is a file's content, named by git's hash of it; what a blob declares never changes, so it is parsed once, whatever branches and
worktrees hold it. A *tree* is a working tree, named by its git folder (outside git, by its root): which file has which blob there.
"""

from __future__ import annotations

from hardwon.code.outline import Call, Import, Outline, Symbol
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Protocol
else:
    Protocol = object  # typing costs the quick path, which reads these values, a sixth of an interpreter start


class Declared(Value):
    """A symbol and the file that declares it."""

    path: str
    symbol: Symbol


class Site(Value):
    """A call and the file that it stands in."""

    path: str
    call: Call


class Trail(Value):
    """What became of a symbol since a commit, found with git's help (code/trail.py) when the index was last brought up to date.

    ``path`` and ``symbol``: where it is now, "" where it is nowhere; ``changed_by`` and ``changed_at`` (milliseconds): the first commit
    since then that changed or removed it, where that is known; ``evidence``: in a few words, how it was followed; ``fingerprint``: of
    an anchor that was recorded without one, the code's at its commit.
    """

    path: str
    symbol: str
    changed_by: str = ""
    changed_at: int | None = None
    evidence: str = ""
    fingerprint: str = ""


class CodeReader(Protocol):
    """One consistent view of the index, seen from one tree. Empty answers are empty, never an error."""

    commit: str  # what HEAD was when the tree was last indexed; "" where it never was
    indexed_at: int  # milliseconds; 0 where it never was
    trouble: str  # why the index could not be read, now or since some question, so that answers are empty; "" while all is well

    def symbols(self, blob: str) -> list[Symbol] | None:
        """What a blob declares, by line; None for one that is not in the index."""

    def knows(self, blob: str) -> bool:
        """Whether a blob is in the index: read, or skipped."""

    def skipped(self, blob: str) -> str:
        """Why a blob was not read; "" where it was, or is not in the index."""

    def is_broken(self, blob: str) -> bool:
        """Whether a blob was read in part only, so that it may declare more than is known."""

    def blob_at(self, path: str) -> str:
        """The blob of a file of this tree; "" where there is none."""

    def paths(self) -> list[str]:
        """Every file of this tree, sorted."""

    def files(self) -> dict[str, str]:
        """Every file of this tree with its blob."""

    def ending(self, suffix: str) -> list[str]:
        """The files of this tree whose path is ``suffix`` or ends with ``/`` and it, sorted, at most 50."""

    def named(self, name: str, limit: int = 200) -> list[Declared]:
        """What this tree's files declare under that last part of a name (case counts), by path and line."""

    def like(self, fingerprint: str, limit: int = 50) -> list[Declared]:
        """What this tree's files declare with that fingerprint, by path and line."""

    def calls_to(self, name: str, limit: int = 2000) -> list[Site]:
        """The calls of that name in this tree's files, by path and line."""

    def calls_in(self, path: str) -> list[Call]:
        """The calls in a file of this tree, by line."""

    def imports_of(self, path: str) -> list[Import]:
        """What a file of this tree imports, by line."""

    def importers_of(self, word: str, limit: int = 500) -> list[tuple[str, Import]]:
        """The imports of this tree's files whose module's last part (after ``.``, ``/``, ``::``, without an extension), or whose name,
        is that word, by path and line."""

    def cochanged(self, path: str, limit: int = 20) -> list[tuple[str, int]]:
        """The files that changed in the same commits, with how often, most first."""

    def trail(self, path: str, symbol: str, blob: str, commit: str) -> Trail | None:
        """What was found to have become of an anchor by ``self.commit``; None where nobody looked."""

    def trails(self) -> dict[tuple[str, str, str, str], Trail]:
        """What became of every anchor of which anything was found, by path, symbol, blob and commit."""

    def lost(self) -> list[tuple[str, str]]:
        """The anchors (path, symbol) of which nothing was found any more, each once, sorted."""

    def moves(self) -> list[tuple[str, str, str, str]]:
        """Path and symbol of all anchors that were found in another file or under another name, and path and symbol of where that is;
        each once, sorted."""

    def now_at(self, path: str, symbol: str) -> list[tuple[str, str]]:
        """Path and symbol to which anchors on that symbol of that file were followed, each once, sorted: several where memories were pinned
        to it at several times."""

    def setting(self, name: str) -> str:
        """A value that is kept beside the index; "" when absent."""

    def figures(self) -> dict[str, int]:
        """Counts: files of this tree, blobs, symbols, calls, skipped files of this tree, held contents, bytes of the file."""


class CodeWriter(CodeReader, Protocol):
    """A transaction on the index."""

    def known(self, blobs: Iterable[str]) -> set[str]:
        """Those of the blobs that are in the index."""

    def add(self, blob: str, outline: Outline) -> None:
        """Put in what a blob declares; nothing new where it is known."""

    def set_files(self, files: Mapping[str, str], commit: str, at: int) -> None:
        """The files of this tree and their blobs, all of them, as of a commit and a time: only what differs is written."""

    def set_cochanges(self, pairs: Iterable[tuple[str, str, int]]) -> None:
        """How often two files changed in one commit: all pairs, each once, instead of those that were there."""

    def set_trails(self, trails: Iterable[tuple[str, str, str, str, Trail | None]]) -> None:
        """What became of anchors by this tree's commit (path, symbol, blob, commit, trail), instead of what was there of the same
        anchors; None removes it. Those of other anchors stay."""

    def set_setting(self, name: str, value: str) -> None:
        """Keep a value; "" removes it."""

    def hold(self, blob: str, path: str, content: bytes) -> None:
        """Keep a content that no commit has, until it is parsed: an anchor was pinned to it."""

    def held(self) -> list[tuple[str, str, bytes]]:
        """What is kept so: blob, path, content."""

    def release(self, blobs: Sequence[str]) -> None:
        """Let go of contents that were kept so."""

    def prune(self, keep: Iterable[str]) -> int:
        """Remove the blobs that no tree has a file of, but these; how many went. Trees whose folder is gone count no more."""
