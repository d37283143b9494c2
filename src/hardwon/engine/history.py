"""Ingest of git history: commits into derived memories, and what became of each."""

from __future__ import annotations

from hardwon.intake.redact import redact
from hardwon.intake.shape import clean_text
from hardwon.search import terms
from hardwon.store.ids import uuid5
from hardwon.types import IngestReport, Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Change, Lexical

# Commits a transaction: few enough that other writers hardly wait (a slice takes tens of milliseconds).
SLICE = 200


def add_changes(engine: Engine, changes: Iterable[Change], progress: Callable[[int], None] | None) -> tuple[int, int]:
    """Keep commits as memories, in slices; (added, redacted)."""
    added = redacted = 0
    batch: list[tuple[Memory, Change, Lexical]] = []

    def store_batch() -> None:
        nonlocal added
        with engine.write() as writer:
            added += sum(writer.add_change(*item) for item in batch)
        if progress:
            progress(len(batch))
        batch.clear()

    for change in changes:
        clean, secrets = _clean(change)
        redacted += secrets
        batch.append((_memory(engine.repository, clean), clean, terms.of_change(clean)))
        if len(batch) >= SLICE:
            store_batch()
    if batch:
        store_batch()
    return added, redacted


def _clean(change: Change) -> tuple[Change, int]:
    """A commit without secrets, in the index neither, and without what a reader cannot see."""
    subject, first = _clean_text(change.subject)
    body, second = _clean_text(change.body)
    words = {name: _without_secrets(getattr(change, name)) for name in ("functions", "added", "removed")}
    count = first + second + sum(len(getattr(change, name)) - len(kept) for name, kept in words.items())
    return change.replace(subject=subject, body=body, **words), count


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


def _tell(reader: Reader, kind: str, source: str) -> str:
    from hardwon.importers.message import revert_reason

    change = reader.change(source)
    if change is None:
        return kind
    words = {"reverts": "taken back by", "fixes": "fixed by", "regression": "a regression, see"}[kind]
    reason = revert_reason(change) if kind == "reverts" else ""
    return f"{words} {change.sha[:10]} ({change.subject})" + (f": {reason}" if reason else "")
