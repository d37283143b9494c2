"""The code that memories speak of: pinned when something is recorded, judged against the files at hand when it is read."""

from __future__ import annotations

from hardwon.code.anchor import Judge
from hardwon.errors import HardwonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.code.index import CodeReader
    from hardwon.engine.core import Engine
    from hardwon.types import Anchor, Hit, Memory

# Seconds that a record waits to leave a content with the index. It is no more than a help: without it the code's state is unknown.
_PATIENCE = 0.2


def judge(engine: Engine, code: CodeReader) -> Judge:
    """What judges anchors against the files of this working tree."""
    from hardwon.code.ground import Files

    return Judge(code, Files(engine.home.checkout.root), engine.standing[1])


def pinned(engine: Engine, anchors: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """Anchors with the content and the code that they speak of, as they are now.

    What the index has not parsed yet is left with it, for the content may never be committed; best effort, for the memory itself
    is what has to be kept.
    """
    index = engine.code
    if index is None or not anchors:
        return tuple(anchors)
    found = []
    left: list[tuple[str, str, bytes]] = []
    with index.read() as code:
        judging = judge(engine, code)
        for anchor in anchors:
            pin, content = judging.pin(anchor)
            found.append(pin)
            if content and code.indexed_at:
                left.append((pin.blob, pin.path, content))
    if left:
        _leave(engine, left)
    return tuple(found)


def missing(engine: Engine, anchors: Sequence[Anchor]) -> tuple[tuple[str, str], ...]:
    """What pinned anchors name and the code at hand lacks, as far as that can be told: likely misspelt, and never to be followed."""
    doubtful = [anchor for anchor in anchors if anchor.path and not (anchor.fingerprint or (anchor.blob and not anchor.symbol))]
    index = engine.code
    if index is None or not doubtful:
        return ()
    found = []
    with index.read() as code:
        judging = judge(engine, code)
        for anchor in doubtful:
            try:
                place = judging.place(anchor.path)
            except OSError:
                continue
            if place is None:
                found.append((anchor.path, ""))
            elif anchor.symbol and place.symbols is not None and not place.is_broken:
                found.append((anchor.path, anchor.symbol))
    return tuple(found)


def _leave(engine: Engine, left: Sequence[tuple[str, str, bytes]]) -> None:
    from hardwon.code.source import language_of, skipped_content

    index = engine.code
    wanted = [one for one in left if language_of(one[1]) and not skipped_content(one[2])]
    if index is None or not wanted:
        return
    try:
        with index.write(_PATIENCE) as writer:
            for blob, path, content in wanted:
                writer.hold(blob, path, content)
    except HardwonError:
        return  # the anchor is still pinned to the content's name: a later commit that holds it tells the code


def judged(engine: Engine, memories: Iterable[Memory]) -> list[Memory]:
    """The memories with the state of their anchors, seen from here. Those that are derived from the repository stay as they are."""
    memories = list(memories)
    index = engine.code
    if index is None or not any(memory.anchors and memory.number is not None for memory in memories):
        return memories
    with index.read() as code:
        judging = judge(engine, code)
        return [_judged(judging, memory) for memory in memories]


def judged_hits(engine: Engine, hits: Sequence[Hit]) -> list[Hit]:
    """Hits whose memories' anchors have their state."""
    found = judged(engine, [hit.memory for hit in hits])
    return [hit.replace(memory=memory) for hit, memory in zip(hits, found, strict=True)]


def _judged(judging: Judge, memory: Memory) -> Memory:
    if memory.number is None or not memory.anchors:
        return memory
    seen: Memory = memory.replace(anchors=tuple(map(judging.judged, memory.anchors)))
    return seen


def former(engine: Engine, path: str, symbol: str) -> list[tuple[str, str]]:
    """File and name under which what is at a place now was spoken of before it came there or was renamed."""
    if engine.code is None or not (path or symbol):
        return []
    from hardwon.code.moves import Moves

    with engine.code.read() as code:
        return Moves(code.moves()).to(path, symbol)


def unsure(engine: Engine, hits: Iterable[Hit]) -> tuple[str, ...]:
    """Why the state of some hits' code could not be told, if that can be helped."""
    if not any(a.state == "unknown" and a.symbol for hit in hits if hit.memory.number for a in hit.memory.anchors):
        return ()
    index = engine.code
    if index is None:
        return ()
    with index.read() as code:
        if not code.indexed_at or code.commit == engine.standing[1]:
            return ()
    return ("code: the index is behind, so that it is not known whether all of this code is as it was: run `hardwon refresh`",)
