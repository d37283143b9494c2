"""Ingest of git history: commits into derived memories, and what became of each."""

from __future__ import annotations

from hardwon.engine.core import REBUILDING
from hardwon.intake.redact import redact
from hardwon.intake.shape import clean_text
from hardwon.search import terms
from hardwon.store.ids import uuid5
from hardwon.types import IngestReport, Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Change, Lexical

# Commits a transaction: few enough that other writers hardly wait (a slice takes tens of milliseconds).
SLICE = 200


def add_changes(engine: Engine, changes: Iterable[Change], progress: Callable[[int], None] | None) -> tuple[int, int]:
    """Keep commits as memories, in slices; (added, redacted)."""
    added = redacted = 0
    for batch in _batches(changes):
        ready: list[tuple[Memory, Change, Lexical]] = []
        for change in batch:
            clean, secrets = _clean(change)
            redacted += secrets
            ready.append((_memory(engine.repository, clean), clean, terms.of_change(clean)))
        with engine.write() as writer:
            added += sum(writer.add_change(*item) for item in ready)
        if progress:
            progress(len(batch))
    return added, redacted


def _clean(change: Change) -> tuple[Change, int]:
    """A commit without secrets, in the index neither, and without what a reader cannot see."""
    subject, first = _clean_text(change.subject)
    body, second = _clean_text(change.body)
    words = {name: _without_secrets(getattr(change, name)) for name in ("functions", "added", "removed")}
    count = first + second + sum(len(getattr(change, name)) - len(kept) for name, kept in words.items())
    author = clean_text(change.author, "author", len(change.author) + 1)
    files = tuple(map(_shown, change.files))
    return change.replace(subject=subject, body=body, author=author, files=files, **words), count


def _shown(path: str) -> str:
    """A file's name may hold line breaks and escapes: one that does is shown, not matched."""
    return path if path.isprintable() else "".join(char if char.isprintable() else "?" for char in path)


def _without_secrets(items: tuple[str, ...]) -> tuple[str, ...]:
    """The items that hold no secret; looked at together first, because nearly always none does."""
    if not redact("\n".join(items))[1]:
        return items
    return tuple(item for item in items if not redact(item)[1])


def _clean_text(text: str) -> tuple[str, int]:
    once, first = redact(text)
    # Hidden characters can cut a secret apart, and cleaning joins it again.
    shown = clean_text(once, "message", len(once) + 1)
    twice, second = redact(shown) if shown != once else (shown, 0)
    return twice, first + second


def _memory(repository: str, change: Change) -> Memory:
    return Memory(
        id=uuid5(repository, change.sha), number=None, kind="change", outcome=None, text=change.subject or change.sha[:10],
        detail=change.body, trust="history", origin=Origin("history", "git"), author=change.author, branch=change.branch,
        commit=change.sha, created_at=change.at, updated_at=change.at, valid_from=change.at,
    )  # fmt: skip


def settle(engine: Engine) -> int:
    """Tie references between changes and write what became of each; how many stand as taken back."""
    from hardwon.upkeep.revise import AFTERWARDS, fates

    with engine.write() as writer:
        writer.resolve_links()
        found = fates(writer.relations(AFTERWARDS), lambda kind, source: _tell(writer, kind, source))
        for identifier, fate in found.items():
            for memory in writer.get([identifier]):
                if (memory.outcome, memory.because) != (fate.outcome, fate.because):
                    writer.put(memory.replace(outcome=fate.outcome, because=fate.because))
    engine.store.checkpoint(engine.wait)
    return sum(fate.outcome == "failed" for fate in found.values())


def unread(engine: Engine, limit: int) -> int:
    """How many commits in reach are not memories yet."""
    from hardwon.importers import history

    if engine.place is None or not engine.place.checkout.git_dir:
        return 0
    with engine.store.read() as reader:
        known = reader.known_commits()
    return sum(sha not in known for sha in history.list_commits(engine.place.checkout.root, limit))


def ingest(engine: Engine, limit: int, progress: Callable[[int, int], None] | None) -> IngestReport:
    """Read the commits that are not known yet, newest first; ``progress(done, of)`` after each slice."""
    from hardwon.importers import history

    if engine.place is None or not engine.place.checkout.git_dir:
        return IngestReport(0, 0, 0)
    checkout = engine.place.checkout
    reachable = history.list_commits(checkout.root, limit)
    with engine.store.read() as reader:
        known = reader.known_commits()
        unfinished = reader.setting(REBUILDING)
    if unfinished:
        rebuild(engine, progress)
    missing = [sha for sha in reachable if sha not in known]
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done, len(missing))

    added = redacted = 0
    if missing:
        step(0)
        added, redacted = add_changes(engine, history.read_commits(checkout.root, missing, checkout.branch), step)
    return IngestReport(len(reachable), added, len(reachable) - len(missing), settle(engine), redacted)


def rebuild(engine: Engine, progress: Callable[[int, int], None] | None) -> int:
    """The index anew: notes from their rows, commits from git, and from their rows where git has lost them."""
    from hardwon.importers import history
    from hardwon.types import Filter

    with engine.write() as writer:
        writer.set_setting(REBUILDING, "yes")  # until the end, so that the next init goes on where this one was stopped
        writer.clear_index()
        notes = [memory for memory in writer.find(Filter(), -1) if memory.kind != "change"]
        for memory in notes:
            writer.put(memory, b"", terms.of_memory(memory))
        waiting = {sha: writer.lookup(sha)[0] for sha in sorted(writer.known_commits())}
    total, done = len(notes) + len(waiting), len(notes)
    place = engine.place.checkout if engine.place and engine.place.checkout.git_dir else None
    readable = history.read_commits(place.root, list(waiting), place.branch) if place else iter(())
    for batch in _batches(change for change in readable if change.sha in waiting):
        with engine.write() as writer:
            for change in batch:
                writer.put(writer.get([waiting.pop(change.sha)])[0], b"", terms.of_change(_clean(change)[0]))
        done += len(batch)
        if progress:
            progress(done, total)
    with engine.write() as writer:
        for identifier in waiting.values():
            kept = writer.change(identifier)
            if kept is not None:
                writer.put(writer.get([identifier])[0], b"", terms.of_change(kept))
        writer.set_setting(REBUILDING, "")
    engine.store.checkpoint(engine.wait)
    return total


def _batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    batch: list[Change] = []
    for change in changes:
        batch.append(change)
        if len(batch) >= SLICE:
            yield batch
            batch = []
    if batch:
        yield batch


def _tell(reader: Reader, kind: str, source: str) -> str:
    from hardwon.importers.message import revert_reason

    change = reader.change(source)
    if change is None:
        return kind
    words = {"reverts": "taken back by", "fixes": "fixed by", "regression": "a regression, see"}[kind]
    reason = revert_reason(change) if kind == "reverts" else ""
    return f"{words} {change.sha[:10]} ({change.subject})" + (f": {reason}" if reason else "")
