"""Giving back the space of what is gone, in slices that other writers hardly notice.

Each slice is a transaction of its own, sized by how long the last one took, and followed by a pause in which whoever queues for the
lock gets it. First the parts of the full-text index are merged, which drops what removals left in them; then the file's last pages
are moved into its free ones, and cut off with the next checkpoint. What is done stays done: an interrupt loses one slice.

What slices cannot do is to fill up half-empty pages. ``full`` rewrites the whole file (VACUUM), under the lock, with as much room again.
"""

from __future__ import annotations

import time

import apsw

from hardwon.store.connection import INCREMENTAL, translate, truncate_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.store.base import Store
    from hardwon.store.sqlite import SqliteStore

    Progress = Callable[[int, int], None]

# Seconds: what a slice should take at most, sync and checkpoint included, and the pause after it. The kernel gives the lock to those
# who queue; the pause lets them come who arrive at every moment.
SLICE = 0.05
_PAUSE = 0.005
# Slices aim at half of that, for the disk may take its time, and grow by little: one that was quick may have met pages in memory.
_AIM = SLICE / 2
_GROWTH, _LEAST, _FIRST = 1.25, 4, 32


def next_size(pages: int, seconds: float) -> int:
    """How many pages the next slice takes, after one of so many took so long."""
    share = _AIM / max(seconds, 1e-6)
    return max(_LEAST, int(pages * min(_GROWTH, share)) + (share > 1))


class _Pace:
    """How many pages a slice takes, by how long the last one took."""

    def __init__(self) -> None:
        self.pages = _FIRST
        self._begun = 0.0

    def begin(self) -> None:
        """A slice has the lock."""
        self._begun = time.monotonic()

    def rest(self) -> None:
        """A slice is over: set the size of the next one, and let others have the lock."""
        self.pages = next_size(self.pages, time.monotonic() - self._begun)
        time.sleep(_PAUSE)


def compact(store: SqliteStore, timeout: float, progress: Progress | None, *, full: bool) -> tuple[int, int]:
    """Bytes of the store before and after; ``progress(done, of)`` in pages after each slice. Busy where a slice does not get the lock
    within ``timeout`` seconds: what the others did stays."""
    store.checkpoint(timeout)
    before, incremental = _bytes(store)
    if full or not incremental:  # an upgrade that was killed before its last step leaves the old kind of file
        _rewrite(store, timeout)
    else:
        told = _Told(progress, _pages(store))
        _merge(store, timeout, told)
        _shrink(store, timeout, told)
        store.checkpoint(timeout)
    return before, _bytes(store)[0]


class _Told:
    """Progress in pages: of the index that is to be merged, and of those that are free."""

    def __init__(self, progress: Progress | None, pages: int) -> None:
        self._progress = progress
        self._done, self._of = 0, pages

    def more(self, pages: int) -> None:
        """So many more are done."""
        self._done += pages
        if self._progress:
            self._progress(min(self._done, self._of), self._of)

    def left(self, pages: int) -> None:
        """So many are still to be done."""
        self._of = self._done + pages


def free_bytes(store: Store) -> int:
    """Bytes of pages that ``compact`` can give back; 0 of a store that has no file."""
    if not store.path:
        return 0
    with store.read() as reader:
        database = reader._db  # type: ignore[attr-defined]  # a store with a file is SQLite's
        free: int = database.pragma("freelist_count") * database.pragma("page_size")
        return free


def _pages(store: SqliteStore) -> int:
    with store.read() as reader:
        free: int = reader._db.pragma("freelist_count")
        return free + int(reader._db.execute("SELECT count(*) FROM search_data").get)


def _bytes(store: SqliteStore) -> tuple[int, bool]:
    """Bytes of the store's pages, those that the log still holds included; and whether it can be shortened in slices."""
    with store.read() as reader:
        database = reader._db
        size: int = database.pragma("page_count") * database.pragma("page_size")
        return size, database.pragma("auto_vacuum") == INCREMENTAL


def _merge(store: SqliteStore, timeout: float, told: _Told) -> None:
    """Merge the parts of the index into one; a negative number of pages begins that, positive ones go on with it."""
    pace = _Pace()
    begun = False
    while True:
        with store.write(timeout) as writer:
            pace.begin()
            database = writer._db
            before = database.total_changes()
            database.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (pace.pages if begun else -pace.pages,))
            worked = database.total_changes() - before > 1  # FTS5's own sign: below two there was nothing left to merge
        told.more(pace.pages)
        if not worked:
            return
        begun = True
        pace.rest()


def _shrink(store: SqliteStore, timeout: float, told: _Told) -> None:
    """Cut the free pages off, those that were free when it began: what others free meanwhile waits for the next time."""
    pace = _Pace()
    with store.read() as reader:
        left: int = reader._db.pragma("freelist_count")
    told.left(left)
    while left > 0:
        pages = min(left, pace.pages)
        with store.write(timeout) as writer:
            pace.begin()
            free: int = writer._db.pragma("freelist_count")
            writer._db.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
        if not free:
            return
        left -= pages
        told.more(pages)
        pace.rest()


def _rewrite(store: SqliteStore, timeout: float) -> None:
    """VACUUM writes the new content through the log, so a crash leaves the old store or the new one."""
    lock = store._acquire(timeout)
    try:
        connection = store.current(readonly=False).connection
        connection.execute("INSERT INTO search (search) VALUES ('optimize')")
        connection.pragma("auto_vacuum", INCREMENTAL)
        connection.execute("VACUUM")
        truncate_log(connection)
    except apsw.Error as error:
        raise translate(error, store.path, connection.system_errno) from error
    finally:
        lock.release()
