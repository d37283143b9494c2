"""Which files and symbols of a working tree the frames of a stack trace went through."""

from __future__ import annotations

import os

from hardwon.code.anchor import within
from hardwon.code.names import same_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.anchor import Judge
    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Symbol
    from hardwon.code.stack.frames import Frame

_FRAMES = 8  # of one trace
_OUTSIDE = (
    "<", "node:", "/usr/lib/", "/usr/local/lib/", "/usr/local/go/", "/rustc/", "library/", "java/", "javax/", "jdk/", "sun/", "com/sun/",
    "kotlin/", "kotlinx/", "scala/",
)  # fmt: skip
# The standard library of Python, and the cache of Go's modules, wherever they lie.
_WITHIN = ("/lib/python", "/pkg/mod/")
_LIBRARIES = frozenset(
    (
        "site-packages",
        "dist-packages",
        "node_modules",
        "bower_components",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".cargo",
        ".rustup",
        "GOROOT",
    )
)


class Search:
    """Finds the files and symbols of frames in a working tree."""

    def __init__(self, root: str, code: CodeReader, judging: Judge) -> None:
        self.root = root.replace(os.sep, "/")
        self.code = code
        self.judging = judging

    def ours(self, frames: Sequence[Frame]) -> list[tuple[str, str]]:
        """The path and symbol of the frames in this repository, innermost first, each once."""
        found: dict[tuple[str, str], None] = {}
        for frame in frames:
            path = self.path(frame)
            if path:
                found[(path, self.symbol(path, frame))] = None
            if len(found) == _FRAMES:
                break
        return list(found)

    def path(self, frame: Frame) -> str:
        """The file of this tree that a frame's path means; "" for none, for a library's, and where several may be meant."""
        written = frame.path.replace("\\", "/")
        if written.startswith(self.root + "/"):
            written = written[len(self.root) + 1 :]
        elif written.startswith(_OUTSIDE):
            return ""
        parts = [part for part in written.split("/") if part not in ("", ".", "..")]
        if not parts or not _LIBRARIES.isdisjoint(parts) or any(word in written for word in _WITHIN):
            return ""
        for start in range(len(parts)):
            suffix = "/".join(parts[start:])
            if "\0" not in suffix and os.path.isfile(os.path.join(self.root, suffix)):
                return suffix
            several = self.code.ending(suffix)
            if several:
                return self._chosen(several, frame, sure=start == 0 or start < len(parts) - 1)
        return ""

    def _chosen(self, several: Sequence[str], frame: Frame, *, sure: bool) -> str:
        """Of files that end alike the one that declares the function. A name alone is not enough (``sure``): many folders elsewhere
        have such a file."""
        if len(several) == 1 and sure:
            return several[0]
        declaring = [path for path in several if frame.function and self._named(path, frame)]
        return declaring[0] if len(declaring) == 1 else ""

    def symbol(self, path: str, frame: Frame) -> str:
        """The symbol of a frame: by its function where the file declares it, for lines move; else by its line."""
        named = self._named(path, frame)
        if len(named) > 1:
            named = [symbol for symbol in named if symbol.first <= frame.line <= symbol.last] or named
        if not named and frame.line:
            named = within(self.declared(path), frame.line, frame.line)
        return named[-1].qualified if named else frame.function

    def _named(self, path: str, frame: Frame) -> list[Symbol]:
        return [symbol for symbol in self.declared(path) if frame.function and same_symbol(symbol.qualified, frame.function)]

    def declared(self, path: str) -> list[Symbol]:
        """What a file declares, as it lies there, else as it was indexed."""
        try:
            return self.judging.declared_at(path)
        except OSError:
            return self.code.symbols(self.code.blob_at(path)) or []
