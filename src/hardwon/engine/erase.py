"""Erasure: the words of memories are taken out of every table and every file, for good, and kept from coming back.

What stays is what the journal needs to stay whole: ids, times, who, and the code of a reason.
"""

from __future__ import annotations

import os

from hardwon.engine import record
from hardwon.engine.erased import note_keys
from hardwon.engine.writing import head
from hardwon.errors import InvalidInput, StoreError
from hardwon.search import terms
from hardwon.store import copies
from hardwon.store.keys import erasure_key
from hardwon.types import Filter, Value
from hardwon.upkeep.erasure import check, emptied, erasable, saying, sayings
from hardwon.upkeep.revise import AFTERWARDS, REDACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Memory, Origin, Reason, Scope

# A setting of the store (store/erasure.py): what is left to do.
PENDING = "erasing"


class Erasure(Value):
    """What an erasure means or, ``done``, did. ``ids`` are the memories, ``same`` of them those that were not named but say the same.

    What still holds their words: ``files`` beside the store and backups, which nobody but a person may delete; the ``log``, until
    whoever reads it ends; git, for ``derived`` of them. ``failed``: why the store's own file was not written anew, "" where it was.
    """

    ids: tuple[str, ...]
    done: bool = False
    same: int = 0
    derived: int = 0
    files: tuple[str, ...] = ()
    log: bool = False
    failed: str = ""


def erase(engine: Engine, where: Filter, reason: Reason, scope: Scope, *, dry_run: bool) -> Erasure:
    """Erase everything that matches and is not erased yet, in one transaction, then every trace of it."""
    check(reason, "person" if dry_run else scope.origin.who)
    wanted = erasable(where)
    if dry_run:
        with engine.store.read() as reader:
            named, same = _meant(reader, wanted)
        return _told(engine, named, same)
    return _carried_out(engine, wanted, reason, scope)


def _carried_out(engine: Engine, wanted: Filter, reason: str, scope: Scope) -> Erasure:
    if not engine.erasure_key:
        raise InvalidInput("this store has no place for the key of erasures", field="erase", remedy="keep it in a file")
    with engine.store.read() as reader:
        if not any(_meant(reader, wanted)):  # no key is made for nothing
            return Erasure(())
    key = erasure_key.obtain(engine.erasure_key, engine.entropy, engine.wait)
    origin, now = record.signed(scope.origin), engine.clock()
    with engine.write() as writer:
        named, same = _meant(writer, wanted)
        memories = (*named, *same)
        for memory in memories:
            take_out(engine, writer, memory, key, (reason, origin, now))
        if memories:
            said = {saying(memory) for memory in memories}
            empty_earlier(writer, lambda words: saying(words) in said)
            note_keys(writer, erasure_key.check_of(key))
    told = _told(engine, named, same)
    if not memories:
        return told
    done: Erasure = told.replace(done=True, **_finished(engine, settle=any(memory.kind == "change" for memory in named)))
    return done


def finish(engine: Engine) -> bool:
    """Every trace out of the files: what is derived beside the store, the store itself, their logs. False while a reader holds a log."""
    from hardwon.engine.code_index import scrub as scrub_code
    from hardwon.engine.session_file import scrub as scrub_sessions
    from hardwon.engine.vectors import discard

    discard(engine)  # sign bits of what was there; they are made anew when asked for
    cut = all([scrub_code(engine), scrub_sessions(engine)])
    return engine.store.scrub(engine.wait) and cut


def is_pending(engine: Engine) -> bool:
    """Whether an erasure was cut short."""
    with engine.store.read() as reader:
        return bool(reader.setting(PENDING))


def _finished(engine: Engine, *, settle: bool) -> dict[str, object]:
    """The rows are empty, whatever comes now: a disk that is full delays the rest, and is told."""
    try:
        if settle:  # what became of other commits is told anew
            engine.settle_history()
        whole = finish(engine)
        waiting = head(engine)
        if waiting is not None and waiting.waits:
            with engine.write():  # what others said while they waited for this, perhaps in the very words: those are refused now
                pass
        return {"log": not whole}
    except (StoreError, OSError) as error:
        return {"failed": str(error)}


def _told(engine: Engine, named: list[Memory], same: list[Memory]) -> Erasure:
    ids = tuple(memory.id for memory in (*named, *same))
    derived = sum(memory.number is None for memory in named)
    files = copies.holding(engine.store.path, backups(engine), ids) if ids and engine.store.path else ()
    return Erasure(ids, False, len(same), derived, tuple(files))


def backups(engine: Engine) -> str:
    """The folder of this memory's backups, which is where the key's is; "" for a store that is not registered."""
    home = os.path.dirname(engine.erasure_key)
    return os.path.join(home, "backups", engine.place.entry.name) if engine.place else ""


def _meant(reader: Reader, wanted: Filter) -> tuple[list[Memory], list[Memory]]:
    """What was named, and the notes of any status that say the same: their words are the ones that shall be gone."""
    named = [memory for memory in reader.find(wanted, -1) if not memory.erased]
    known, said = {memory.id for memory in named}, {saying(memory) for memory in named}
    notes = reader.find(Filter(derived=False), -1) if named else []
    return named, [one for one in notes if not one.erased and one.id not in known and saying(one) in said]


def take_out(
    engine: Engine, writer: Writer, memory: Memory, key: bytes, entry: tuple[str, Origin, int], also: Iterable[bytes] = ()
) -> None:
    """Erase one memory; ``entry``: the code of the reason, who, and when. ``also``: digests that are kept beside those of its words."""
    reason, origin, now = entry
    said = sayings([memory, *(version.content for version in writer.versions(memory.id))])
    _untell(engine, writer, memory, origin, now)
    _forget_tests(writer, memory)
    left = emptied(memory)
    writer.put(left, b"", terms.of_memory(left))
    event = writer.log("erased", left, origin, now, payload=reason)
    writer.erase(memory.id, event.seq, [*(erasure_key.digest(key, form) for form in sorted(said)), *also])


def _forget_tests(writer: Writer, memory: Memory) -> None:
    """What is kept of tests beside memories names them, and how they failed."""
    from hardwon.engine import test_history, waiting_tests

    kept = [memory, *(version.content for version in writer.versions(memory.id))]
    words = "\n".join(text for one in kept for text in (one.text, one.detail, one.because, one.code))
    test_history.forget_said(writer, [memory.id], words)
    waiting_tests.forget_said(writer, words)


def _untell(engine: Engine, writer: Writer, memory: Memory, origin: Origin, now: int) -> None:
    """What became of other commits is told in the words of the one that did it; it is told anew without them."""
    links = [link for link in writer.links(memory.id) if link.source == memory.id and link.kind in AFTERWARDS and link.target]
    for other in writer.get([link.target or "" for link in links]):
        told = other.replace(because="", outcome=None)
        if other.version == 1:
            writer.put(told)
        elif other.because:  # a secret was taken out of it once: its versions tell it as well
            told = told.replace(version=other.version + 1, updated_at=now)
            writer.put(told)
            writer.log("revised", told, origin, now, engine.entropy(16), REDACTED)
            writer.erase_versions(other.id, told.version)


def empty_earlier(writer: Writer, is_gone: Callable[[Memory], bool]) -> None:
    """Other memories that said the same once, and say something else now, keep what they say now."""
    for memory in writer.find(Filter(derived=False), -1):
        if memory.version > 1 and not memory.erased:
            versions = writer.versions(memory.id)
            last = max((one.version for one in versions if one.content.text and is_gone(one.content)), default=0)
            if 0 < last < memory.version:
                writer.erase_versions(memory.id, last + 1)
