"""What ``verify`` looks at: the log, the head outside, the file, the journal, every row, the index. Reads only.

Each check stands for itself: what one cannot read is a finding, and the others go on. Nothing here is told as damage that a second
look could take back: BUSY and a read that the disk refused are raised, or told as such.
"""

from __future__ import annotations

import os

import apsw

from hardwon.errors import Busy, Damaged, NoStore
from hardwon.store.checks import heads, log_tail, of_file, of_head, of_index, of_journal, of_rows
from hardwon.store.checks.remedies import KEEP, REFUSED, REPAIR
from hardwon.store.checks.scan import UNREADABLE
from hardwon.store.checksums import register
from hardwon.store.connection import translate
from hardwon.store.lock import FileLock
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hardwon.store.sqlite import SqliteStore

    Check = Callable[[apsw.Connection], Iterator[Finding]]

_WAIT = 5.0  # seconds for the writers' lock, to look once more at a log that seems broken

CHECKS: tuple[tuple[str, Check], ...] = (
    ("file", of_file.integrity),
    ("schema", of_file.schema),
    ("references", of_file.references),
    ("chain", of_journal.chain),
    ("versions", of_journal.versions),
    ("events", of_journal.whole),
    ("repairs", of_journal.repairs),
    ("memories", of_rows.memories),
    ("anchors", of_rows.anchors),
    ("links", of_rows.targets),
    *((table, of_rows.checksums_of(table)) for table in of_rows.TABLES),
    ("documents", of_index.documents),
    ("search", of_index.words),
    ("search", of_index.settings),
)


def verify(store: SqliteStore) -> list[Finding]:
    """Everything that is wrong with a store and its log. Busy when it is written to faster than it can be read."""
    found = log(store)
    outside = heads.read(store.head) if store.head else None

    def head(connection: apsw.Connection) -> Iterator[Finding]:
        yield from of_head.compare(store.head, outside, connection) if store.head else ()

    try:
        with store.read():
            found += [finding for _, finding in findings(store.connection(readonly=True), (("head", head), *CHECKS))]
    except Damaged as error:
        found.append(Finding("error", error.message, store.path, KEEP))
    except NoStore:
        if not os.path.exists(store.path):
            raise
        found.append(Finding("error", "the file holds no memory any more", store.path, KEEP))
    return found


def check(connection: apsw.Connection) -> list[Finding]:
    """Every finding in the file; an empty list means that the store is what was written. One snapshot: the caller has begun it."""
    return [finding for _, finding in findings(connection)]


def findings(connection: apsw.Connection, checks: Iterable[tuple[str, Check]] = CHECKS) -> Iterator[tuple[str, Finding]]:
    """Each finding with the name of the check that made it."""
    register(connection)
    for name, one in checks:
        try:
            for finding in one(connection):
                yield name, finding
        except UNREADABLE as error:
            yield name, Finding("error", f"it cannot be read through: {error}", name, KEEP)
        except apsw.IOError as error:
            what = f"{REFUSED}: {error}"
            yield name, Finding("error", what, name, "try again; if it stays so, the disk fails: copy the file to another")


def log(store: SqliteStore) -> list[Finding]:
    """What is wrong with the log. A commit in the making looks like a broken end, so what seems so is looked at again between two."""
    found = _log_tail(store)
    if not found:
        return found
    lock = FileLock(store.path + ".lock")
    try:
        lock.acquire(_WAIT)
    except OSError:  # a medium that cannot be written: nobody is writing
        return found
    except Busy:
        return [item.replace(level="warning", remedy=f"it was being written to: look again. {REPAIR}") for item in found]
    try:
        return _log_tail(store)
    finally:
        lock.release()


def _log_tail(store: SqliteStore) -> list[Finding]:
    try:
        return log_tail.findings(store.path, store.access.vfs)
    except apsw.Error as error:
        raise translate(error, store.path, access=store.access) from error


def quick(store: SqliteStore) -> list[Finding]:
    """What a look of a few milliseconds tells: a head that the store does not contain, a log that is not read to its end."""
    outside = heads.read(store.head) if store.head else None
    with store.read():
        connection = store.connection(readonly=True)
        found = of_head.compare(store.head, outside, connection) if store.head else []
    try:  # how many frames SQLite takes for whole; asked outside a transaction, and moves nothing
        (frames,) = [int(row[1]) for row in connection.execute("PRAGMA wal_checkpoint(NOOP)")]
    except apsw.ReadOnlyError:  # where nothing may be written SQLite does not tell: then every frame is looked at
        frames = 0
    except apsw.Error as error:
        raise translate(error, store.path, connection.system_errno, store.access) from error
    if log_tail.is_longer(store.path, store.access.vfs, frames):
        found += log(store)
    return [item for item in found if item.level != "note"]
