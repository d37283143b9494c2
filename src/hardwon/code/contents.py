"""Contents of whatever commit, and what they declare: from the index where that knows them, else from git and parsed. Starts git."""

from __future__ import annotations

from hardwon.code import git
from hardwon.code.ground import LARGEST, Files
from hardwon.code.source import language_of
from hardwon.digest import git_blob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Symbol
    from hardwon.code.workers import Workers

# Contents of one run that are remembered: a file in each of its versions.
_REMEMBERED = 2_000


class Contents:
    """Of one run, which remembers what it read. To be closed: it holds a git."""

    def __init__(self, root: str, code: CodeReader, workers: Workers) -> None:
        self._code = code
        self._workers = workers
        self._root = root
        self._blobs = git.Blobs(root)
        self._paths = {blob: path for path, blob in code.files().items()}
        self._symbols: dict[str, Sequence[Symbol]] = {}
        self._texts: dict[str, bytes] = {}

    def __enter__(self) -> Contents:
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.close()

    def blob_in(self, commit: str, path: str) -> str:
        """The blob that a file had in a commit; "" where it cannot be told."""
        content = self._blobs.content(f"{commit}:{path}", LARGEST) if commit else None
        return "" if content is None else git_blob(content, len(commit))

    def symbols(self, blob: str, path: str) -> Sequence[Symbol]:
        """What a blob declares; nothing where it cannot be read."""
        if not blob:
            return ()
        if blob not in self._symbols:
            known = self._code.symbols(blob)
            _make_room(self._symbols)
            self._symbols[blob] = self._parsed(blob, path) if known is None else known
        return self._symbols[blob]

    def like(self, fingerprint: str) -> list[tuple[str, str]]:
        """Path and symbol of the same code as it is now."""
        return [(one.path, one.symbol.qualified) for one in self._code.like(fingerprint)] if fingerprint else []

    def _parsed(self, blob: str, path: str) -> Sequence[Symbol]:
        return self._workers.outline(path, self.text(blob)).symbols if language_of(path) else ()

    def text(self, blob: str) -> bytes:
        """Its content; b"" where it cannot be read."""
        if not blob:
            return b""
        if blob not in self._texts:
            content = self._blobs.content(blob, LARGEST)
            if content is None and blob in self._paths:  # an edit that no commit has
                try:
                    content = Files(self._root).content(self._paths[blob])
                except OSError:
                    content = None
            _make_room(self._texts)
            self._texts[blob] = content or b""
        return self._texts[blob]


def _make_room(held: dict[str, object] | dict[str, bytes] | dict[str, Sequence[Symbol]]) -> None:
    if len(held) >= _REMEMBERED:
        held.clear()
