"""Memories out and in: a stream of all that belongs to each, and what comes from elsewhere joined with what is known.

Out: each memory whole, oldest first, in bounded memory and in short views, so that who reads slowly hinders nobody. In: slices of one
transaction each, each memory whole; a run that was killed is finished by running it again, for what is known is passed over
(docs/exchange.md).
"""

from __future__ import annotations

from hardwon.engine import arrival, screening
from hardwon.engine.changes import slices
from hardwon.engine.record import signed
from hardwon.errors import InvalidInput
from hardwon.intake.redact import redact_draft
from hardwon.search.narrow import check
from hardwon.types import LINKS, STATUSES, ExportedMemory, Filter, Link, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hardwon.engine.core import Engine
    from hardwon.engine.screening import Redact
    from hardwon.importers.source import Incoming
    from hardwon.store.base import Reader
    from hardwon.types import Memory, Scope, Version

# Memories a transaction, and journal entries: few enough that other writers hardly wait.
SLICE = 50
_ENTRIES = 250
_TOLD = 1000  # troubles that are kept for telling; all are counted
# A forgotten memory's words leave only when somebody asks for them by that status.
_KEPT = tuple(status for status in STATUSES if status != "forgotten")


class Trouble(Value):
    """Something that did not go in as it stood. ``kind``: bad, refused, conflicts, open_links (they lead to nothing that is here) or
    waiting (a verdict on a commit that is not here)."""

    where: str
    kind: str
    what: str


class ImportReport(Value):
    """What an import did or, ``dry``, would do. ``new`` memories; ``known`` ones that had nothing new; ``repeated`` known ones that
    got occurrences, versions or a verdict; ``refused``, because the same was rejected; ``conflicts``, left as they are here; ``bad``
    entries that cannot be used; ``waiting`` verdicts on what is not here yet; ``open_links`` likewise; ``redacted`` secrets."""

    new: int = 0
    known: int = 0
    repeated: int = 0
    refused: int = 0
    conflicts: int = 0
    bad: int = 0
    waiting: int = 0
    open_links: int = 0
    redacted: int = 0
    troubles: tuple[Trouble, ...] = ()
    dry: bool = False


# Out


def export(engine: Engine, where: Filter = Filter(), *, private: bool = False) -> Iterator[ExportedMemory]:  # noqa: B008 - frozen
    """Every memory that matches, with all that belongs to it, oldest first; then what was done to derived ones.

    Without statuses in the filter, forgotten ones stay; private ones stay unless asked for, and so does what a shared one said
    while it was private.
    """
    where = where.replace(paths=tuple(map(engine.relative, where.paths)))
    recorded = where if where.statuses else where.replace(statuses=_KEPT)
    with engine.store.read() as reader:
        check(reader, where)
        ids, derived = reader.ids(recorded, derived=False), reader.ids(where, derived=True)
    for batch in slices(ids, SLICE):
        yield from _exported(engine, batch, recorded, private)
    for batch in slices(derived, SLICE):
        yield from _verdicts(engine, batch, where, private)


def _exported(engine: Engine, ids: Sequence[str], where: Filter, private: bool) -> list[ExportedMemory]:
    """A slice, read before any of it is given out: who takes it may take hours, and a view would make the log grow meanwhile. What
    does not match any more, for it was forgotten, stays."""
    with engine.store.read() as reader:
        memories = reader.memories(reader.matching(reader.keys(ids), where))
        shown = [memory for memory in memories if not memory.erased and (private or memory.visibility == "shared")]
        return [_whole(reader, memory, private) for memory in shown]


def _verdicts(engine: Engine, ids: Sequence[str], where: Filter, private: bool) -> Iterator[ExportedMemory]:
    """What was done to derived memories; of those that nothing was done to, nothing."""
    with engine.store.read() as reader:
        found = [
            ExportedMemory(memory, (), (), _links(reader, memory, private), tuple(reader.aliases(memory.id)))
            for memory in reader.memories(reader.matching(reader.keys(ids), where))
            if not memory.erased
        ]
    for verdict in found:
        memory = verdict.memory
        if (memory.status, memory.trust) != ("active", "history") or memory.useful or memory.useless or verdict.links:
            yield verdict


def _whole(reader: Reader, memory: Memory, private: bool) -> ExportedMemory:
    versions = tuple(_shown(version, private) for version in reader.versions(memory.id))
    known = memory
    if memory.replaced_by and not (private or _is_shared(reader, memory.replaced_by)):
        known = memory.replace(replaced_by=None)
    links, aliases = _links(reader, memory, private), tuple(reader.aliases(memory.id))
    return ExportedMemory(known, versions, tuple(reader.occurrences(memory.id)), links, aliases)


def _shown(version: Version, private: bool) -> Version:
    """The version, emptied if it was private when it was said."""
    if private or version.content.visibility == "shared":
        return version
    emptied: Version = version.replace(content=version.content.replace(text=""))
    return emptied


def _links(reader: Reader, memory: Memory, private: bool) -> tuple[Link, ...]:
    """The relations that people and agents told; one to a commit by its hash, which is the same in every clone."""
    found = []
    for link in reader.links(memory.id):
        if link.source != memory.id or link.kind not in LINKS:
            continue
        target = reader.get([link.target])[0] if link.target else None
        if target is not None and not private and target.visibility == "private":
            continue
        commit = target.commit if target is not None and target.kind == "change" else ""
        found.append(Link(memory.id, link.kind, commit or (target.id if target else link.reference), link.target))
    return tuple(sorted(found, key=lambda link: (link.kind, link.reference)))


def _is_shared(reader: Reader, identifier: str) -> bool:
    return all(memory.visibility == "shared" for memory in reader.get([identifier]))


# In


def import_memories(
    engine: Engine,
    incoming: Iterable[Incoming],
    scope: Scope,
    *,
    keep_trust: bool = False,
    dry_run: bool = False,
    redact: Redact = redact_draft,
    progress: Callable[[int], None] | None = None,
    shared: bool = False,
) -> ImportReport:
    """Take in what a source offers; ``progress(entries)`` after each slice. ``shared``: from the repository's files.

    All of it is worth ``imported``, and carries no verdicts (rejections, feedback), unless a person says ``keep_trust``:
    InvalidInput for anybody else who does.
    """
    if keep_trust and scope.origin.who != "person":
        raise InvalidInput(
            "only a person can vouch for what is imported",
            field="keep-trust",
            remedy="leave it out: what comes in is `imported` then",
        )
    run = screening.Run(engine, signed(scope.origin), redact, keep_trust=keep_trust, dry=dry_run, shared=shared)
    troubles: list[Trouble] = []

    def tell(where: str, kind: str, what: str) -> None:
        run.counts[kind] += 1
        if len(troubles) < _TOLD:
            troubles.append(Trouble(where, kind, what))

    for batch in _batches(incoming):
        _take_batch(run, batch, tell)
        if progress:
            progress(len(batch))
    if not dry_run:
        _tie(run, tell)
        engine.store.checkpoint(engine.wait)
    return ImportReport(**run.counts, redacted=run.redacted, troubles=tuple(troubles), dry=dry_run)


def _batches(incoming: Iterable[Incoming]) -> Iterator[list[Incoming]]:
    batch: list[Incoming] = []
    entries = 0
    for one in incoming:
        batch.append(one)
        entries += len(one.item.versions) + len(one.item.occurrences) if one.item else 0
        if len(batch) >= SLICE or entries >= _ENTRIES:
            yield batch
            batch, entries = [], 0
    if batch:
        yield batch


def _take_batch(run: screening.Run, batch: list[Incoming], tell: Callable[[str, str, str], None]) -> None:
    """Clean a slice, then decide and write it in one transaction (in a view, where nothing is to be written)."""
    ready: list[tuple[str, ExportedMemory]] = []
    for one in batch:
        try:
            if one.item is None:
                tell(one.where, "bad", one.wrong)
            else:
                ready.append((one.where, screening.prepare(run, one.item)))
        except InvalidInput as error:
            tell(one.where, "bad", error.message)
    if run.dry:
        with run.engine.store.read() as reader:
            for where, item in ready:
                _take(run, reader, where, item, tell)
        return
    with run.engine.write() as writer:
        run.begin(writer)
        for where, item in ready:
            _take(run, writer, where, item, tell)


def _take(run: screening.Run, reader: Reader, where: str, item: ExportedMemory, tell: Callable[[str, str, str], None]) -> None:
    fate, why = arrival.take(run, reader, item)
    if why:
        tell(where, fate, why)
    else:
        run.counts[fate] += 1


def _tie(run: screening.Run, tell: Callable[[str, str, str], None]) -> None:
    """The relations whose other end came later in the source."""
    for start in range(0, len(run.untied), SLICE):
        with run.engine.write() as writer:
            for source, link in run.untied[start : start + SLICE]:
                if not arrival.tie(writer, source, link):
                    tell(f"memory {source}", "open_links", f"it {link.kind} {link.reference}, which is not here")
