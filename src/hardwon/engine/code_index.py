"""The index of the code at hand, opened for one working tree. Light: the quick path opens it too."""

from __future__ import annotations

from hardwon.types import Finding, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from hardwon.engine.core import Engine
    from hardwon.store.code.codefile import CodeIndex, Reading
    from hardwon.store.code.transaction import CodeTransaction


class IndexState(Value):
    """How far the index knows a working tree: ``files`` of code in it, as of ``commit`` ("" outside git) and the time ``at`` (None: never
    read); ``bytes`` of the index's file, all trees together. ``behind``: another commit is checked out now, or nothing was read yet;
    edits that are not committed do not count. ``trouble``: why it could not be read, "" while all is well."""

    files: int
    commit: str
    at: int | None
    bytes: int
    behind: bool
    trouble: str = ""


class TreeIndex:
    """The index, seen from one working tree."""

    def __init__(self, index: CodeIndex, tree: str) -> None:
        self.file = index
        self.tree = tree

    def read(self) -> Reading:
        """A view that never waits and never fails: of an index that is not there, an empty one."""
        return self.file.read(self.tree)

    def write(self, timeout: float = 30.0) -> CodeTransaction:
        """A transaction; Busy when the lock is not to be had in time."""
        return self.file.write(self.tree, timeout)

    def close(self) -> None:
        """Let go of files."""
        self.file.close()


class Opened:
    """``with Opened(engine):`` the index is opened once, and every look into it is a view inside this one. Nothing without an index."""

    def __init__(self, engine: Engine) -> None:
        self._view = engine.code.read() if engine.code is not None else None

    def __enter__(self) -> None:
        if self._view is not None:
            self._view.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if self._view is not None:
            self._view.__exit__(kind, error, trace)
        return False


def tree_index(engine: Engine) -> TreeIndex | None:
    """The index beside the engine's store, seen from the engine's working tree; None where the store is no file."""
    from hardwon.store.code.codefile import CodeIndex
    from hardwon.store.sqlite import SqliteStore

    if not isinstance(engine.store, SqliteStore):
        return None
    checkout = engine.home.checkout
    return TreeIndex(CodeIndex.of(engine.store, engine.clock), checkout.git_dir or checkout.root)


def scrub(engine: Engine) -> bool:
    """Leave nothing in the index that tells of memories that were erased; False while a reader holds its log. Busy while it is written."""
    return engine.code is None or engine.code.file.scrub(engine.wait)


def state(engine: Engine) -> IndexState | None:
    """How far this working tree is indexed; None outside any. Cheap: no file of the tree is read."""
    if engine.code is None:
        return None
    with engine.code.read() as code:
        at, commit, figures, trouble = code.indexed_at, code.commit, code.figures(), code.trouble
    behind = not at or commit != engine.standing[1]
    return IndexState(figures["files"] - figures["skipped"], commit, at or None, figures["bytes"], behind, trouble)


def findings(engine: Engine) -> list[Finding]:
    """A note where the index cannot be read: nothing is lost with it, though where memories stand in the code is not known until it is
    made anew."""
    wrong = engine.code.file.check() if engine.code is not None else ""
    return (
        [Finding("note", f"the index of the code: {wrong}", engine.store.path, "`hardwon ingest code` makes it anew")]
        if wrong
        else []
    )
