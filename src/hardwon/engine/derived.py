"""Ingest of the repository's own documents and dependencies: what HEAD holds becomes memories, and they follow it.

Such a memory is not journaled, as a change is not: its id is made of its name, and it can be made again at any time. What a person
did to it (a verdict, feedback, forgetting) stays; an approval holds for the words that were approved.

A run is a plan, made from one snapshot, and slices of one transaction each. The run that began last wins: it leaves its mark in the
store, and an earlier one that finds another's mark stops. So no run ever acts on a plan that another has overtaken, and one that
was killed is made good by the next.
"""

from __future__ import annotations

from hardwon.engine import sources
from hardwon.engine.changes import REDACTOR, SLICE_AWAY, slices
from hardwon.engine.namespace import derived_id
from hardwon.engine.record import erased_before
from hardwon.engine.sources import Reading, Source, Stamp
from hardwon.errors import InvalidInput
from hardwon.importers import snapshot
from hardwon.intake import merge
from hardwon.intake.redact import redact_branch
from hardwon.intake.shape import clean_text, fold, shape
from hardwon.search import terms
from hardwon.types import Filter, Memory, Origin, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hardwon.engine.changes import Redactor
    from hardwon.engine.core import Engine
    from hardwon.importers.snapshot import File, Folder, Tree
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Derived, Draft

    Progress = Callable[[int, int], None]


class DerivedReport(Value):
    """What an ingest of documents (``docs``) or dependencies (``deps``) did, or would do.

    ``files`` were looked at; ``memories`` are there now; ``added``, ``changed``, ``unchanged``, ``removed``, and ``expired`` (their
    source is gone, but the journal speaks of them) count memories; ``refused`` ones say what a person rejected. Of what was left
    out: ``too_large``, ``unreadable`` and ``broken`` files (or versions of files), and what was ``cut`` by the limits: passages, facts,
    commits, or whole files where no room was left.
    ``overtaken``: another run began meanwhile and does the rest.
    """

    source: str
    files: int = 0
    memories: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    expired: int = 0
    refused: int = 0
    redacted: int = 0
    too_large: int = 0
    unreadable: int = 0
    broken: int = 0
    cut: int = 0
    overtaken: bool = False


def ingest_documents(
    engine: Engine, progress: Progress | None = None, dry_run: bool = False, redactor: Redactor = REDACTOR
) -> DerivedReport:
    """Bring the passages of the repository's own documents up to date; ``progress(done, of)`` after each slice."""
    return _ingest(engine, sources.DOCUMENTS, progress, dry_run, redactor)


def ingest_dependencies(
    engine: Engine, progress: Progress | None = None, dry_run: bool = False, redactor: Redactor = REDACTOR
) -> DerivedReport:
    """Bring the facts on dependencies, and upgrades that were taken back, up to date; ``progress(done, of)`` after each slice."""
    return _ingest(engine, sources.DEPENDENCIES, progress, dry_run, redactor)


def _ingest(engine: Engine, source: Source, progress: Progress | None, dry_run: bool, redactor: Redactor) -> DerivedReport:
    place = _snapshot(engine)
    files = place.files(source.wanted) if place else []
    stamp = sources.stamp(source, place, files)
    mark = sources.MARK + engine.entropy(8).hex()
    with engine.store.read() as reader:
        before, known = sources.last(reader, source), _known(reader, source)
    if before is not None and stamp.as_before(before):
        return _untouched(source, files, known, before)
    if not dry_run:
        # In one transaction with what the plan is made of: whoever wrote before has stopped, whoever comes after stops us.
        with engine.write() as writer:
            before, known = sources.last(writer, source), _known(writer, source)
            writer.set_setting(source.setting, mark)
    reading = source.read(place, files, list(known.values()), before) if place else Reading()
    plan = _Plan(engine, source, reading, known, redactor)
    if dry_run:
        with engine.store.read() as reader:
            return plan.foretold(reader)
    return plan.carried_out(mark, stamp.replace(left_out=plan.left_out, crowded=reading.crowded, again=reading.again), progress)


def _snapshot(engine: Engine) -> Tree | Folder | None:
    """Where the files are read from; None in a repository without commits."""
    place = engine.home
    root = place.checkout.root
    if place.checkout.git_dir:
        return snapshot.at_head(root)
    if root not in place.entry.paths:  # a memory that was named from elsewhere, whose own folder is not there
        raise InvalidInput(
            f"no folder of {place.entry.name} is here to be read", field="project", remedy="run this in the repository itself"
        )
    return snapshot.of_folder(root)


def _known(reader: Reader, source: Source) -> dict[str, Memory]:
    """What was made of the source before. What was erased is not among them: it is not compared, and does not go."""
    found = reader.find(Filter(who="history", client=source.name), -1)
    return {memory.id: memory for memory in found if not memory.erased}


def _untouched(source: Source, files: Sequence[File], known: dict[str, Memory], before: Stamp) -> DerivedReport:
    """The report of files that are as they were: what is left out now is what was left out then."""
    living = sum(memory.status != "expired" for memory in known.values())
    return DerivedReport(source.name, len(files), memories=living, unchanged=living, **vars(before.left_out))


# --- the plan


class _Plan:
    """What has to be written so that the store says what the sources say."""

    def __init__(self, engine: Engine, source: Source, reading: Reading, known: dict[str, Memory], redactor: Redactor) -> None:
        self.engine, self.source, self.redactor = engine, source, redactor
        self.files, self.left_out = reading.files, reading.left_out
        self.changed: list[Memory] = []
        self.redacted: dict[str, int] = {}
        present = set(reading.kept)
        for derived in reading.derived:
            fresh = self._memory(derived)
            if fresh is None or fresh.id in present:
                continue
            present.add(fresh.id)
            if fresh.id not in known or _merged(known[fresh.id], fresh) != known[fresh.id]:
                self.changed.append(fresh)
        self.present = len(present)
        self.gone = [one for one, memory in known.items() if one not in present and memory.status != "expired"]

    def _memory(self, derived: Derived) -> Memory | None:
        """The memory that is to be, without secrets; None where nothing is left of it that could be shown."""
        try:
            names = (clean_text(derived.author, "author", len(derived.author) + 1),)
            draft, (author,), secrets = _cleaned(derived.draft, names, self.redactor)
        except InvalidInput:
            self.left_out = self.left_out.replace(unreadable=self.left_out.unreadable + 1)
            return None
        identifier = derived_id(self.engine, derived.name)
        self.redacted[identifier] = secrets
        return Memory(
            id=identifier, number=None, kind=draft.kind, outcome=draft.outcome, text=draft.text, detail=draft.detail,
            because=draft.because, anchors=draft.anchors, tags=draft.tags, trust="history", origin=Origin("history", self.source.name),
            author=author, branch=redact_branch(derived.branch, self.redactor), commit=derived.commit,
            created_at=derived.at, updated_at=derived.at, valid_from=derived.valid_from, valid_until=derived.valid_until,
        )  # fmt: skip

    def foretold(self, reader: Reader) -> DerivedReport:
        """What would be done; ``removed`` counts what would expire as well."""
        counts = _Counts()
        refused = _Refusals(self.engine, reader)
        for fresh in self.changed:
            self._count(counts, fresh, _written(reader, refused, fresh))
        counts.removed = len(self.gone)
        return self._report(counts)

    def carried_out(self, mark: str, stamp: Stamp, progress: Progress | None) -> DerivedReport:
        """Write it, unless another run begins meanwhile."""
        counts = _Counts()
        total, done = len(self.changed) + len(self.gone), 0
        planned: list[Sequence[Memory | str]] = [*_slices(self.changed), *slices(self.gone, SLICE_AWAY)]
        for batch in planned:
            with self.engine.write() as writer:
                if writer.setting(self.source.setting) != mark:
                    return self._report(counts, overtaken=True)
                self._write(writer, batch, counts)
            done += len(batch)
            if progress:
                progress(done, total)
        with self.engine.write() as writer:
            overtaken = writer.setting(self.source.setting) != mark
            if not overtaken:
                writer.set_setting(self.source.setting, stamp.written())
        if total:
            self.engine.store.checkpoint(self.engine.wait)
        return self._report(counts, overtaken=overtaken)

    def _write(self, writer: Writer, batch: Sequence[Memory | str], counts: _Counts) -> None:
        refused = _Refusals(self.engine, writer)
        gone = []
        for item in batch:
            if isinstance(item, str):
                gone.append(item)
                continue
            written = _written(writer, refused, item)
            self._count(counts, item, written)
            if written is not None:
                writer.put(written[1], b"", terms.of_memory(written[1]))
        dropped = set(writer.drop(gone))
        counts.removed += len(dropped)
        for memory in writer.get([one for one in gone if one not in dropped]):
            counts.expired += 1
            if memory.status == "active":  # a verdict of a person stays, also for when the source comes back
                writer.put(memory.replace(status="expired"))

    def _count(self, counts: _Counts, fresh: Memory, written: tuple[bool, Memory] | None) -> None:
        if written is None:
            counts.refused += 1
            return
        counts.redacted += self.redacted[fresh.id]
        if written[0]:
            counts.added += 1
        else:
            counts.changed += 1

    def _report(self, counts: _Counts, *, overtaken: bool = False) -> DerivedReport:
        return DerivedReport(
            self.source.name, self.files, memories=self.present - counts.refused, unchanged=self.present - len(self.changed),
            overtaken=overtaken, **vars(counts), **vars(self.left_out),
        )  # fmt: skip


class _Counts:
    def __init__(self) -> None:
        self.added = self.changed = self.removed = self.expired = self.refused = self.redacted = 0


def _slices(items: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    """Memories a transaction: of those that changed, the index has to let go of what it knew."""
    return (items[at : at + SLICE_AWAY] for at in range(0, len(items), SLICE_AWAY))


def _cleaned(draft: Draft, names: tuple[str, ...], redactor: Redactor) -> tuple[Draft, tuple[str, ...], int]:
    """The draft without secrets and without what a reader cannot see, the names likewise, and how many secrets there were."""
    from hardwon.capture import ours

    once, clean, first = _redacted(ours.of_draft(draft, whole=True), names, redactor)
    shaped = shape(once)
    # Hidden characters can cut a secret apart, and shaping joins it again.
    twice, clean, second = _redacted(shaped, clean, redactor) if shaped != once else (shaped, clean, 0)
    return twice, clean, first + second


def _redacted(draft: Draft, names: tuple[str, ...], redactor: Redactor) -> tuple[Draft, tuple[str, ...], int]:
    # Looked at together first, because nearly always there is none.
    said = (draft.text, draft.detail, draft.because, *(anchor.path for anchor in draft.anchors), *names)
    if not redactor("\n\n".join(said))[1]:
        return draft, names, 0
    texts = {name: redactor(getattr(draft, name)) for name in ("text", "detail", "because")}
    paths = [redactor(anchor.path) for anchor in draft.anchors]
    shown = [redactor(name) for name in names]
    anchors = tuple(anchor.replace(path=path) for anchor, (path, _) in zip(draft.anchors, paths, strict=True))
    clean: Draft = draft.replace(anchors=anchors, **{name: text for name, (text, _) in texts.items()})
    return clean, tuple(name for name, _ in shown), sum(count for _, count in (*texts.values(), *paths, *shown))


def _written(reader: Reader, refused: _Refusals, fresh: Memory) -> tuple[bool, Memory] | None:
    """(whether it is new, the row as it is to be written); None where a person rejected or erased what it says."""
    if refused.was_erased(fresh):
        return None
    for known in reader.get([fresh.id]):
        return None if known.erased else (False, _merged(known, fresh))
    return None if refused.speaks_of(fresh) else (True, fresh)


def _merged(known: Memory, fresh: Memory) -> Memory:
    """The known row with what its source says now. What people did to it stays, but an approval of other words."""
    content = ("kind", "outcome", "text", "detail", "because")
    same = all(getattr(known, name) == getattr(fresh, name) for name in content)
    follows = (*content, "anchors", "tags", "author", "branch", "commit", "created_at", "updated_at", "valid_from", "valid_until")
    merged: Memory = known.replace(
        **{name: getattr(fresh, name) for name in follows},
        status="active" if known.status == "expired" else known.status,
        trust=known.trust if same or known.trust == "quarantined" else "history",
    )
    return merged


class _Refusals:
    """What people rejected, by its words: it does not come back under another name (history rewritten, a heading moved)."""

    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine, self._reader = engine, reader
        self.by_text: dict[str, list[Memory]] = {}
        for memory in reader.rejected():
            self.by_text.setdefault(fold(memory.text), []).append(memory)

    def was_erased(self, memory: Memory) -> bool:
        """Whether what this memory says was erased, here or under another name."""
        return erased_before(self._engine, self._reader, memory) is not None

    def speaks_of(self, memory: Memory) -> bool:
        """Whether a person rejected what this memory says. Of passages the body counts as well: a heading alone says nothing."""
        found = self.by_text.get(fold(memory.text), ())
        return any(
            merge.same_value(rejected, memory) and (memory.kind != "doc" or rejected.detail == memory.detail)
            for rejected in found
        )


# --- what is not in the repository's files


def add(engine: Engine, name: str, told: Sequence[Derived], redactor: Redactor = REDACTOR) -> DerivedReport:
    """Keep what a source outside of the repository tells of it. What it told before and does not tell now stays: it tells the newest
    only."""
    source = Source(name, 1, lambda path: False, lambda *_: Reading())
    mark = sources.MARK + engine.entropy(8).hex()
    with engine.write() as writer:
        writer.set_setting(source.setting, mark)
        known = {memory.id: memory for memory in writer.get([derived_id(engine, one.name) for one in told])}
    return _Plan(engine, source, Reading(tuple(told)), known, redactor).carried_out(mark, Stamp(1, "", ""), None)
