"""The file of sessions beside the engine's store. Light: every hook opens it."""

from __future__ import annotations

import os
import sys

from hardwon.errors import Busy, Damaged, HardwonError, StoreError
from hardwon.store.sessions import WORK
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.store.sessions.reads import Heartbeat
    from hardwon.store.sessions.workfile import WorkFile
    from hardwon.store.sessions.writes import WorkWrites

    T = TypeVar("T")

# A hook that has nothing to write notes that it runs only so often: that is enough to tell that it fires at all.
_BEAT_MS = 600_000
QUIET_MS = 600_000  # a session that goes on is heard of more often, as a rule


def session_file(engine: Engine) -> WorkFile | None:
    """The file beside the engine's store; None where the store is no file, or is not there: nothing is begun beside it then."""
    from hardwon.store.sessions.workfile import WorkFile
    from hardwon.store.sqlite import SqliteStore

    if not isinstance(engine.store, SqliteStore) or not os.path.exists(engine.store.path):
        return None
    return WorkFile.of(engine.store, engine.clock)


def noted(file: WorkFile, engine: Engine, note: Callable[[WorkWrites], T]) -> T:
    """Run a transaction on the file; once more where that was damaged and is made anew. StoreError, NoStore."""
    try:
        with file.write(engine.wait) as writer:
            return note(writer)
    except Damaged:
        with file.write(engine.wait) as writer:
            return note(writer)


def quiet(engine: Engine, since: int) -> set[tuple[str, str]]:
    """Client and session of those that hooks last heard of since a time, and not in the last minutes. Cheap; none where the file cannot be
    read, which `status` tells."""
    if engine.work is None:
        return set()
    try:
        with engine.work.read() as reader:
            return set() if isinstance(reader, str) else reader.quiet(since, engine.clock() - QUIET_MS)
    except StoreError:
        return set()


def trouble(error: StoreError, what: str = "the file of sessions") -> str:
    """What could not be done because of an error, for Advice.degraded: told with its kind, by which it counts as a failure; but that a file
    is busy is nothing that is wrong."""
    kind = "" if isinstance(error, Busy) else f"{error.kind}: "
    return f"{kind}{what}: {error.message}"


def scrub(engine: Engine) -> bool:
    """Forget what sessions said, which may be what was erased; what was learnt goes to the store before. False while a reader holds the
    file's log; Busy while it is written."""
    if engine.work is None:
        return True
    from hardwon.engine.capturing import take_in

    take_in(engine)
    return engine.work.scrub(engine.wait)


def findings(engine: Engine) -> list[Finding]:
    """A note where the file cannot be read: no memory is lost with it."""
    try:
        wrong = engine.work.check() if engine.work is not None else ""
    except HardwonError as error:
        wrong = error.message
    return [Finding("note", f"the file of sessions: {wrong}", engine.store.path, "the next hook makes it anew")] if wrong else []


def heartbeats(engine: Engine) -> list[Heartbeat]:
    """When the hook of which client and moment last ran; none where that cannot be told."""
    if engine.work is None:
        return []
    with engine.work.read() as reader:
        return [] if isinstance(reader, str) else reader.heartbeats()


def begun_as(event: Event) -> str:
    """What the beginning of a call is noted under."""
    return f"before {event.agent} {event.call}"


def beat(engine: Engine, event: Event) -> None:
    """Note that the hook ran, where nothing was noted lately. Nothing else needs to be written, so a file that is busy is left alone."""
    now = engine.clock()
    if _was_written(engine.store.path + WORK, now) or (file := engine.work) is None:
        return
    try:
        with file.read() as reader:
            if not isinstance(reader, str) and 0 <= now - reader.heartbeat(event.client, event.moment) < _BEAT_MS:
                return
        with file.write(0) as writer:
            writer.beat(beat_of(event, now))
    except StoreError:
        return


def _was_written(path: str, now: int) -> bool:
    """Whether a hook wrote to the file lately: then it need not be opened to know that hooks run."""
    try:
        return 0 <= now - os.stat(path + "-wal").st_mtime * 1000 < _BEAT_MS
    except OSError:
        return False


def beat_of(event: Event, now: int) -> Heartbeat:
    """The heartbeat of this process."""
    from hardwon.store.sessions.reads import Heartbeat

    return Heartbeat(event.client, event.moment, now, sys.argv[0] if sys.argv else "", event.version)
