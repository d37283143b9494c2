"""What became of the code that memories speak of, found when the index is brought up to date, so that recalling only has to look it up."""

from __future__ import annotations

import os

from hardwon.code import git
from hardwon.code.anchor import Judge, code_of, meant
from hardwon.code.contents import Contents
from hardwon.code.edits import uncommitted
from hardwon.code.ground import Files
from hardwon.code.steps import Chain
from hardwon.code.trail import Start, Tracker, goes_on, may_be_outdated
from hardwon.types import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hardwon.code.index import Trail
    from hardwon.code.repo import Checkout
    from hardwon.code.steps import Step
    from hardwon.code.workers import Workers
    from hardwon.engine.code_index import TreeIndex
    from hardwon.engine.core import Engine

# A setting of the index: the newest memory (by number) whose anchors were followed in this tree.
_FOLLOWED = "followed"


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
        again = {anchor[0] for anchor, trail in known.items() if may_be_outdated(trail, changed, code)}
        with engine.store.read() as reader:
            placed = [(number, anchor) for number, anchor in reader.placed(seen, {*changed, *again}) if anchor.path]
        newest = max((number for number, _ in placed), default=seen)
        concerned = {anchor: number <= seen for number, anchor in placed}
        judge = Judge(code, Files(checkout.root), head)
        lost = [anchor for anchor in concerned if _is_lost(judge, anchor)]
        found: dict[Anchor, Trail | None] = dict.fromkeys(concerned)
        if lost and checkout.git_dir and head:
            with Contents(checkout.root, code, workers) as contents:
                chain = Chain(checkout.root, head)
                starts = {
                    anchor: since
                    if concerned[anchor] and chain.has(since) and goes_on(known.get(_key(anchor)))
                    else anchor.commit
                    for anchor in lost
                }
                edits = uncommitted(checkout.root, head, code.files())
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


def _is_lost(judge: Judge, anchor: Anchor) -> bool:
    """Whether it takes history to say what became of it. Judged without what was found before: that may be outdated."""
    return judge.judged(anchor).state != "same"


def _followed(
    chain: Chain,
    contents: Contents,
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


def _start(anchor: Anchor, contents: Contents) -> Start:
    """From where an anchor is followed. One that was recorded before anchors were pinned is taken to speak of its commit's code."""
    blob = anchor.blob or contents.blob_in(anchor.commit, anchor.path)
    declared = contents.symbols(blob, anchor.path) if anchor.symbol and blob else ()
    named = meant(declared, anchor.symbol)
    code = anchor.fingerprint or code_of(named)
    # Of a name that its file never declared only the file can be followed: it would seem to be taken away by the next edit.
    name = (named[0].qualified if named else anchor.symbol) if code else ""
    return Start(anchor.path, name, code, blob)
