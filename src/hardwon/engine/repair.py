"""``repair``: what is intact of a damaged store becomes a store again; the damaged file is kept."""

from __future__ import annotations

import os

from hardwon.engine.changes import EDGE, SETTLED
from hardwon.engine.core import Engine
from hardwon.engine.erase import PENDING
from hardwon.engine.examination import examine
from hardwon.errors import Damaged, NoStore, SchemaOlder, StoreError
from hardwon.store import copying
from hardwon.store.checks import heads
from hardwon.store.checks.remedies import REFUSED
from hardwon.store.connection import Access
from hardwon.store.mending.damaged_copy import salvaged
from hardwon.store.mending.mend import mend
from hardwon.store.mending.rebuild import Writing, rebuild
from hardwon.store.sqlite import SqliteStore
from hardwon.store.swap import Locked, give_up, swap
from hardwon.types import Finding, Value
from hardwon.upkeep import replay
from hardwon.upkeep.revise import occurrence_statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardwon.store.mending.mend import Lost, Mended
    from hardwon.types import Scope


class RepairReport(Value):
    """What was wrong (``findings``), and what a repair made of it; not ``damaged``: nothing was done.

    ``kept``: intact rows by table; ``restored``: what was told from elsewhere or is gone, by a name; ``lost``: memories of which no
    words are left; ``gaps``: of the journal, as replica, first and last number; ``incomplete``: how many commits the next ``init``
    reads again; ``file``: where the damaged store lies now, "" where it has its place still; ``probes``: how many memories were asked for.
    """

    damaged: bool
    findings: tuple[Finding, ...] = ()
    kept: Mapping[str, int] = {}
    restored: Mapping[str, int] = {}
    lost: tuple[Lost, ...] = ()
    gaps: tuple[tuple[str, int, int], ...] = ()
    incomplete: int = 0
    file: str = ""
    probes: int = 0


def repair(engine: Engine, scope: Scope, *, dry_run: bool = False) -> RepairReport:
    """Keep every intact row of the store, in a new file that takes its place; nothing is done where nothing is damaged.

    Writers wait meanwhile. Done only after the new file was opened, checked and asked in a process of its own. Busy, DiskFull,
    StoreError where the disk cannot be read, Damaged where what is left does not make a store: the damaged one then stays in its place.
    With ``dry_run`` all of it but the last step is done, and the new file is thrown away.
    """
    store = local(engine)
    with Locked(store, engine.wait):
        findings = diagnose(store)
        if not findings:
            return RepairReport(False)
        access = access_of(store)
        work = copying.beside(store.path)
        try:
            found = salvaged(store.path, work, access)
            mended = mend(found, replay.row, occurrence_statuses, heads.read(store.head) if store.head else None)
            _make(engine, scope, mended, work, access)
            report = _checked(work, access, mended)
            if not dry_run:
                report = report.replace(file=_put(engine, store, work, access))
        except OSError as error:
            raise copying.refused(error, store.path) from error
        finally:
            give_up(store.path, work)
    told: RepairReport = report.replace(
        findings=tuple(findings), kept={name: len(rows) for name, rows in found.tables.items() if rows}
    )
    return told


def local(engine: Engine) -> SqliteStore:
    """The engine's store, which has a file; StoreError for any other."""
    if not isinstance(engine.store, SqliteStore):
        raise StoreError("this memory has no file", remedy="nothing is to be done")
    return engine.store


def access_of(store: SqliteStore) -> Access:
    """How the store's file is reached, its key looked up anew, for it may have been changed under a process that lives; of a file
    that does not open, by the first key that there is."""
    try:
        with store.read():
            return store.access
    except (Damaged, NoStore, SchemaOlder):
        found = next(iter(store.access.others()), store.access)
        found.vfs = store.access.vfs
        return found
    finally:
        store.let_go()


def diagnose(store: SqliteStore) -> list[Finding]:
    """What is wrong with the file, at a second look too: what went away by itself was none of its own. StoreError for a disk that
    cannot be read. The head outside says nothing of the file itself, and is left out."""
    found: list[Finding] = []
    for _ in range(2):
        with SqliteStore(store.path, make=False, access=store.access) as one:
            found = [finding for finding in one.check() if finding.level in ("error", "warning")]
        if not found:
            return []
    refused = next((finding for finding in found if finding.what.startswith(REFUSED)), None)
    if refused is not None:
        raise StoreError(f"{store.path}: {refused.what}", remedy=refused.remedy)
    return found


def _make(engine: Engine, scope: Scope, mended: Mended, work: str, access: Access) -> None:
    """The new store, whole and synced, in a file beside the old one."""
    from hardwon.store.ids import uuid7

    now = engine.clock()
    writing = Writing(uuid7(now, engine.entropy(10)), scope.origin, now, engine.entropy)
    incomplete = " ".join(mended.incomplete)
    with SqliteStore(work, "hardwon repair", engine.clock, access=access) as store:
        # The new file never had the words that were erased, so nothing of that is left to do in it.
        names = {"repository": engine.repository, SETTLED: "", EDGE: "", PENDING: ""}
        missing = rebuild(store, mended, writing, names)
        fresh = Engine(store, engine.repository, None, engine.clock, engine.entropy, engine.wait)
        _index(fresh, missing)
        with store.write() as writer:
            writer.set_setting(EDGE, incomplete)
        store.checkpoint()
    copying.sync(work)


def _index(engine: Engine, missing: Sequence[str]) -> None:
    """Entries of the search index that are gone, from what the rows say; of commits git tells more at the next ``init``."""
    from hardwon.search import terms

    with engine.store.write() as writer:
        for memory in writer.get(missing):
            change = writer.change(memory.id) if memory.kind == "change" else None
            writer.put(memory, b"", terms.of_change(change) if change else terms.of_memory(memory))


def _checked(work: str, access: Access, mended: Mended) -> RepairReport:
    """What the repair comes to, after the new file was seen to work in a process of its own."""
    seen = examine(work, access)
    if not seen.ok:
        wrong = next(finding for finding in seen.findings if finding.level in ("error", "warning"))
        raise Damaged(
            f"what is left does not make a store: {wrong.what} ({wrong.where})",
            remedy="nothing was changed; `hardwon restore` brings a backup back",
        )
    copying.sync(work)
    return RepairReport(
        True, restored=mended.counts, lost=mended.lost, gaps=mended.gaps, incomplete=len(mended.incomplete), probes=seen.probes
    )


def _put(engine: Engine, store: SqliteStore, work: str, access: Access) -> str:
    """The new file in the old one's place, and seen to answer there; where the old one is now."""
    kept = kept_name(store.path, engine.clock())
    heads.forget(store.head)
    swap(store.path, work, kept)
    settle(engine, store, kept, access)
    return kept


def kept_name(path: str, now: int) -> str:
    """Where the file that had the store's place goes: beside it, named by the time."""
    from datetime import UTC, datetime

    name = f"{path}.kept-{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%S}"
    number = 1
    while os.path.lexists(name if number == 1 else f"{name}-{number}"):
        number += 1
    return name if number == 1 else f"{name}-{number}"


def settle(engine: Engine, store: SqliteStore, kept: str, access: Access) -> None:
    """After another file took the store's place: what was derived from the old one goes, the head outside tells the new one's journal,
    and a fresh process opens it there. Damaged, with where the old one lies, when it does not answer."""
    from hardwon.engine.vectors import discard

    discard(engine)
    if store.head:
        heads.tell(store.head, store.path, access)
    seen = examine(store.path, access, whole=False)
    if not seen.ok:
        raise Damaged(
            f"{store.path} does not answer in its place: {seen.findings[0].what}",
            remedy=f"the file that was there before is {kept}; `hardwon restore` takes it back",
        )
