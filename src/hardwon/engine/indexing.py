"""Bringing the index of the code up to date with the working tree. Starts git and parses: not on the quick path."""

from __future__ import annotations

from hardwon.code import worktree
from hardwon.code.ground import Files
from hardwon.code.workers import Workers
from hardwon.digest import git_blob
from hardwon.engine.following import follow
from hardwon.errors import Damaged
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hardwon.code.index import CodeWriter
    from hardwon.code.outline import Outline
    from hardwon.code.worktree import Listing
    from hardwon.engine.code_index import TreeIndex
    from hardwon.engine.core import Engine

    Progress = Callable[[int, int], None]

# Bytes of code whose outlines are written in one transaction: others write in between, an interrupt keeps what is done, and the parsers
# do not run out of work meanwhile.
_BATCH = 1 << 20
# How often the files are listed while HEAD does not stand still.
_LISTINGS = 5
# A setting of the index: how many commits its pairs of files were counted over.
_COUNTED = "cochanges of"
# Files of a commit that changed together; one of more is a move, a licence or a format.
_TOGETHER = 20


class CodeReport(Value):
    """What a refresh did. ``files`` of code are in the tree, ``parsed`` of them now (``bytes`` in all), ``broken`` of those in part
    only; ``skipped`` files by reason; ``anchors`` of memories were followed now; ``removed`` contents that no tree has any more.
    ``seconds`` by the clock."""

    files: int = 0
    parsed: int = 0
    bytes: int = 0
    broken: int = 0
    skipped: tuple[tuple[str, int], ...] = ()
    anchors: int = 0
    removed: int = 0
    seconds: float = 0.0


class _Tally:
    def __init__(self, listing: Listing) -> None:
        self.skipped = dict(listing.skipped)
        self.parsed = self.bytes = self.broken = 0

    def count(self, outline: Outline, size: int) -> None:
        if outline.skipped:
            self.leave_out(outline.skipped)
            return
        self.parsed += 1
        self.bytes += size
        self.broken += outline.broken

    def leave_out(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def refresh(engine: Engine, progress: Progress | None = None, *, thorough: bool = False) -> CodeReport:
    """Bring the index up to date with the working tree, and find what became of the code that memories speak of. ``thorough``: every
    page of the index is read before, and the file made anew if one is damaged.

    What was parsed stays when it is interrupted. Two at once do the same work twice at worst. A report of nothing outside any
    repository or folder. GitFailed where git refuses.
    """
    index = engine.code
    if index is None:
        return CodeReport()
    if thorough:
        index.file.mend(engine.wait)  # a damaged page that only readers meet would stay for good
    try:
        return _refreshed(engine, index, progress)
    except Damaged:  # whoever meets it removes the file
        return _refreshed(engine, index, progress)


def _refreshed(engine: Engine, index: TreeIndex, progress: Progress | None) -> CodeReport:
    from time import perf_counter

    began = perf_counter()
    head, listing = _seen(engine)
    tally = _Tally(listing)
    with Workers() as workers:
        _parse_held(engine, index, workers)
        files = _parse(engine, index, listing.files, tally, workers, progress)
        with index.read() as code:
            before, since = code.files(), code.commit
        with index.write(engine.wait) as writer:
            writer.set_files(files, head, engine.clock())
            _count_pairs(engine, writer)
        changed = {path for path in {*before, *files} if before.get(path) != files.get(path)}
        followed = follow(engine, index, changed, since, head, workers)
    with index.write(engine.wait) as writer:
        removed = writer.prune(_pinned(engine))
    return CodeReport(
        len(files), tally.parsed, tally.bytes, tally.broken, tuple(sorted(tally.skipped.items())), followed, removed,
        round(perf_counter() - began, 3),
    )  # fmt: skip


def _seen(engine: Engine) -> tuple[str, Listing]:
    """HEAD, and the files that lie there under it: listed again while somebody checks out another."""
    head = engine.standing[1]
    for _ in range(_LISTINGS):
        listing = worktree.listing(engine.home.checkout)
        before, head = head, engine.standing[1]
        if head == before:
            return head, listing
    return "", listing  # of no commit, so that nothing is called gone


def _pinned(engine: Engine) -> set[str]:
    """The contents that anchors were pinned to: the code that they speak of is known by them."""
    with engine.store.read() as reader:
        return reader.pinned()


def _parse_held(engine: Engine, index: TreeIndex, workers: Workers) -> None:
    """Contents that no commit may have, to which something was pinned."""
    with index.write(engine.wait) as writer:
        held = writer.held()
    if not held:
        return
    # Not within the transaction: others wait for it.
    read = [(blob, workers.outline(path, content)) for blob, path, content in held]
    with index.write(engine.wait) as writer:
        for blob, outline in read:
            writer.add(blob, outline)
        writer.release([blob for blob, _ in read])


def _parse(
    engine: Engine,
    index: TreeIndex,
    listed: Mapping[str, str],
    tally: _Tally,
    workers: Workers,
    progress: Progress | None,
) -> dict[str, str]:
    """The files with their blobs, each of which the index knows now."""
    with index.write(engine.wait) as writer:
        known = writer.known(blob for blob in listed.values() if blob)
    files = {path: blob for path, blob in listed.items() if blob in known}
    unknown = {path: listed[path] for path in sorted(set(listed) - set(files))}
    done = 0
    for batch in _batches(engine, unknown, tally, workers):
        with index.write(engine.wait) as writer:
            for path, blob, outline in batch:
                files[path] = blob
                writer.add(blob, outline)
        done += len(batch)
        if progress:
            progress(done, len(unknown))
    return files


def _batches(
    engine: Engine, unknown: Mapping[str, str], tally: _Tally, workers: Workers
) -> Iterator[list[tuple[str, str, Outline]]]:
    blobs: dict[str, str] = {}
    batch: list[tuple[str, str, Outline]] = []
    size = 0
    for (path, content), found in workers.outlines(_contents(engine, unknown, blobs, tally)):
        tally.count(found, len(content))
        batch.append((path, blobs.pop(path), found))
        size += len(content)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _contents(engine: Engine, unknown: Mapping[str, str], blobs: dict[str, str], tally: _Tally) -> Iterator[tuple[str, bytes]]:
    """Path and content of the files that are there, one at a time; their blobs are put into ``blobs``."""
    ground = Files(engine.home.checkout.root)
    length = len(engine.standing[1]) or 40
    for path, named in unknown.items():
        try:
            content = ground.content(path)
        except OSError as error:
            tally.leave_out("unreadable" if error.errno else "large")
            continue
        if content is not None:
            blobs[path], content = _as_git_has_it(content, named, length)
            yield path, content


def _as_git_has_it(content: bytes, named: str, length: int) -> tuple[str, bytes]:
    """Blob and content of a file: with the line ends of git where only they differ from what lies there."""
    blob = git_blob(content, length)
    if blob != named and b"\r\n" in content:
        plain = content.replace(b"\r\n", b"\n")
        if named and git_blob(plain, length) == named:
            return named, plain
    return blob, content


def _count_pairs(engine: Engine, writer: CodeWriter) -> None:
    """How often files changed together, anew once a twentieth more commits are known."""
    with engine.store.read() as reader:
        known = reader.figures().get("change", 0)
        counted = int(writer.setting(_COUNTED) or -1)
        if counted >= 0 and 0 <= known - counted <= counted // 20:
            return
        pairs = _pairs(reader.touched_together(_TOGETHER))
    writer.set_cochanges(pairs)
    writer.set_setting(_COUNTED, str(known))


def _pairs(commits: Sequence[Sequence[str]]) -> list[tuple[str, str, int]]:
    """Pairs of files that changed together in two commits and more."""
    counts: dict[tuple[str, str], int] = {}
    for files in commits:
        ordered = sorted(files)
        for place, one in enumerate(ordered):
            for other in ordered[place + 1 :]:
                counts[one, other] = counts.get((one, other), 0) + 1
    return [(one, other, count) for (one, other), count in counts.items() if count > 1]
