"""What became of the code that memories speak of, found when the index is brought up to date, so that recalling only has to look it up."""

from __future__ import annotations

import os

from hardwon.code import git
from hardwon.code.anchor import Judge, code_of, meant
from hardwon.code.ground import Files
from hardwon.code.source import LARGEST
from hardwon.code.steps import Chain, Entry, Step
from hardwon.code.trail import UNCOMMITTED, Start, Tracker
from hardwon.types import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hardwon.code.index import CodeReader, Trail
    from hardwon.code.outline import Symbol
    from hardwon.code.repo import Checkout
    from hardwon.code.workers import Workers
    from hardwon.engine.code_index import TreeIndex
    from hardwon.engine.core import Engine

# A setting of the index: the newest memory (by number) whose anchors were followed in this tree.
_FOLLOWED = "followed"
# Contents of one run that are remembered: a file in each of its versions.
_REMEMBERED = 2_000


def follow(engine: Engine, index: TreeIndex, changed: Collection[str], since: str, head: str, workers: Workers) -> int:
    """Find what became of every anchor that a change of these files may concern, and of those that are new; how many were followed.

    ``since``: the commit of which the index was before; what it knew of then is followed from there. ``head``: of which it is now.
    """
    checkout = engine.home.checkout
    key = f"{_FOLLOWED}:{index.tree}"
    beside = _changed_beside(checkout, since, head)
    with index.read() as code:
        seen = int(code.setting(key) or 0) if since and beside is not None else 0
        changed = {*changed, *(beside or ())}
        known = code.trails()
        again = {anchor[0] for anchor, trail in known.items() if _may_be_outdated(code, trail, changed)}
        with engine.store.read() as reader:
            placed = [(number, anchor) for number, anchor in reader.placed(seen, {*changed, *again}) if anchor.path]
        newest = max((number for number, _ in placed), default=seen)
        concerned = {anchor: number <= seen for number, anchor in placed}
        judge = Judge(code, Files(checkout.root), head)
        lost = [anchor for anchor in concerned if _is_lost(judge, anchor)]
        found: dict[Anchor, Trail | None] = dict.fromkeys(concerned)
        if lost and checkout.git_dir and head:
            with _Contents(checkout.root, code, workers) as contents:
                chain = Chain(checkout.root, head)
                starts = {
                    anchor: since if concerned[anchor] and _goes_on(known, anchor, chain, since) else anchor.commit
                    for anchor in lost
                }
                edits = _edits(checkout.root, head, code.files())
                found |= _followed(chain, contents, starts, known, edits)
    with index.write(engine.wait) as writer:
        writer.set_trails((*_key(anchor), trail) for anchor, trail in found.items())
        writer.set_setting(key, str(max(seen, newest)))
    return len(lost)


def _changed_beside(checkout: Checkout, since: str, head: str) -> set[str] | None:
    """The files, of code or not, that differ between two commits: the index lists files of code only, and memories speak of documents
    and settings as well. None where git cannot tell, for it has lost the first one, say."""
    if not (checkout.git_dir and since and head) or since == head:
        return set()
    done = git.run(checkout.root, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", since, head, "--"])
    if done.returncode:
        return None
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def _key(anchor: Anchor) -> tuple[str, str, str, str]:
    return anchor.path, anchor.symbol, anchor.blob, anchor.commit


def _may_be_outdated(code: CodeReader, trail: Trail, changed: Collection[str]) -> bool:
    """Whether what was found may be another now: the place changed, what changed it was not committed then, or code that was gone has
    come up again."""
    if not trail.path:
        return bool(changed) and bool(trail.fingerprint) and bool(code.like(trail.fingerprint, 1))
    return trail.path in changed or trail.evidence == UNCOMMITTED


def _goes_on(known: Mapping[tuple[str, str, str, str], Trail], anchor: Anchor, chain: Chain, since: str) -> bool:
    """Whether an anchor can be followed from where it was left. What was gone and has come up again is followed from its beginning, and
    so is what was left where no commit has it."""
    trail = known.get(_key(anchor))
    return chain.has(since) and (trail is None or bool(trail.path and trail.evidence != UNCOMMITTED))


def _is_lost(judge: Judge, anchor: Anchor) -> bool:
    """Whether it takes history to say what became of it. Judged without what was found before: that may be outdated."""
    return judge.judged(anchor).state != "same"


def _followed(
    chain: Chain,
    contents: _Contents,
    starts: Mapping[Anchor, str],
    known: Mapping[tuple[str, str, str, str], Trail],
    edits: Sequence[Step],
) -> dict[Anchor, Trail]:
    found: dict[Anchor, Trail] = {}
    for commit in sorted(set(starts.values())):
        steps = chain.since(commit)
        if steps is None:
            continue
        tracker = Tracker([*steps, *edits], contents, chain.inside)
        for anchor, start in starts.items():
            if start == commit:
                before = known.get(_key(anchor)) if start != anchor.commit else None
                found[anchor] = tracker.follow(_start(anchor, contents), before)
    return found


def _start(anchor: Anchor, contents: _Contents) -> Start:
    """From where an anchor is followed. One that was recorded before anchors were pinned is taken to speak of its commit's code."""
    blob = anchor.blob or contents.blob_in(anchor.commit, anchor.path)
    declared = contents.symbols(blob, anchor.path) if anchor.symbol and blob else ()
    named = meant(declared, anchor.symbol)
    code = anchor.fingerprint or code_of(named)
    # Of a name that its file never declared only the file can be followed: it would seem to be taken away by the next edit.
    name = (named[0].qualified if named else anchor.symbol) if code else ""
    return Start(anchor.path, name, code, blob)


def _edits(root: str, head: str, files: Mapping[str, str]) -> list[Step]:
    """What lies in the working tree and in no commit, as a step of its own; none where nothing does."""
    done = git.run(root, ["ls-tree", "-r", "-z", head])
    kept: dict[str, str] = {}
    for line in done.stdout.split(b"\0") if not done.returncode else ():
        about, _, name = line.partition(b"\t")
        if about:
            kept[name.decode("utf-8", "surrogateescape")] = about.split()[2].decode("ascii")
    entries = [Entry("M", path, path, kept[path], blob) for path, blob in files.items() if path in kept and kept[path] != blob]
    entries += [Entry("A", "", path, "", blob) for path, blob in files.items() if path not in kept]
    entries += [Entry("D", path, "", blob, "") for path, blob in kept.items() if path not in files and _is_gone(root, path)]
    return [Step("", None, (), tuple(entries))] if entries else []


def _is_gone(root: str, path: str) -> bool:
    try:
        return Files(root).content(path) is None
    except OSError:
        return False


class _Contents:
    """What blobs declare, from the index where it knows them, else from git."""

    def __init__(self, root: str, code: CodeReader, workers: Workers) -> None:
        self._code = code
        self._workers = workers
        self._root = root
        self._blobs = git.Blobs(root)
        self._paths = {blob: path for path, blob in code.files().items()}
        self._symbols: dict[str, Sequence[Symbol]] = {}
        self._texts: dict[str, bytes] = {}

    def __enter__(self) -> _Contents:
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.close()

    def blob_in(self, commit: str, path: str) -> str:
        """The blob that a file had in a commit; "" where it cannot be told."""
        from hardwon.digest import git_blob

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
        from hardwon.code.source import language_of

        return self._workers.outline(path, self.text(blob, path)).symbols if language_of(path) else ()

    def text(self, blob: str, path: str) -> bytes:
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
