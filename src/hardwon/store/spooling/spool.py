"""The spool: where a record waits that the store could not take (locked, damaged, on a full disk), until the next writer takes it in.

A file beside the store with a megabyte allocated beforehand, so that a record needs no new block when the disk is full. A record is
written behind the last one, the head tells of it, and both are synced before anybody hears of it. Emptying begins a new generation,
which ends what was there, and then overwrites it, so that nothing of the text stays. A database of its own was rejected: it would
need room for a journal when there is none, and fail where the store's own engine does.

A kernel lock of its own orders those who append and those who take in; it is held for a write or a look, never while the store is
waited for.
"""

from __future__ import annotations

import os

from hardwon.errors import DiskFull
from hardwon.store import files
from hardwon.store.lock import FileLock
from hardwon.store.quiet import MARK_AT, SECTOR
from hardwon.store.spooling import frames
from hardwon.store.spooling.header import DATA, Head, State, Trouble, encode, encode_mark, peek, read
from hardwon.types import Finding, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from hardwon.store.spooling.frames import Record

END = ".spool"
REJECTED = ".rejected"
# Bytes of the file that are allocated when it is made, and that it may grow to.
RESERVE = 1 << 20
CEILING = 64 << 20
# Seconds that one waits for another to append or to look; a sync lies in between, nothing longer.
WAIT = 1.0


class Batch(Value):
    """What waited at one moment: the bytes from ``start`` to before ``end`` of a generation."""

    generation: int
    start: int
    end: int
    raw: bytes

    def records(self) -> Iterator[Record]:
        """The records in their order; unreadable ones too."""
        return frames.unpack(self.raw, self.start, self.generation)


class Spool:
    """One store's spool. Calls raise OSError as the system does, and Busy where the lock stays taken."""

    def __init__(self, path: str, wait: float = WAIT) -> None:
        """``path``: the store's; ``wait``: seconds to queue for the spool's own lock."""
        self.path = path + END
        self.rejected = self.path + REJECTED
        self._wait = wait

    def head(self) -> Head | None:
        """What the head says; None where there is no spool yet."""
        return peek(self.path)

    def prepare(self) -> None:
        """Make the file, with its reserve allocated; nothing where it is there."""
        with self._locked() as descriptor:
            self._state(descriptor)

    def append(self, payload: bytes, at: int, cause: str, *, sealed: bool = False) -> None:
        """Keep a record; it is on the disk on return. DiskFull where the spool has reached its ceiling.

        ``at``: when it was said, in milliseconds; ``cause``: the kind of the error that brought it here.
        """
        if len(payload) > frames.LARGEST:
            raise DiskFull("this is too large for the spool", remedy="record it when the store can be written again")
        with self._locked() as descriptor:
            state = self._state(descriptor)
            frame = frames.pack(payload, state.generation, at, sealed=sealed)
            if state.end + len(frame) > CEILING:
                raise DiskFull(
                    f"{self.path} has reached its ceiling of {CEILING >> 20} MB", remedy="see why the store cannot be written"
                )
            first = {} if state.count else {"since": at, "cause": cause}
            size = os.fstat(descriptor).st_size
            try:
                files.disk.write(descriptor, frame, state.end)
                self._tell(descriptor, state.replace(end=state.end + len(frame), count=state.count + 1, **first))
                files.disk.sync(descriptor)
            except BaseException:
                self._take_back(descriptor, state, len(frame), size)
                raise

    def first(self) -> Batch | None:
        """The record that has waited longest, alone: to see whether the store takes it, without reading the others."""
        if not os.path.exists(self.path):
            return None
        with self._locked() as descriptor:
            state = self._state(descriptor)
            rest = state.end - state.start
            size = frames.span(os.pread(descriptor, frames.HEAD, state.start), state.generation)
            raw = _read(descriptor, state.start, min(size or rest, rest))
        return Batch(state.generation, state.start, state.start + len(raw), raw) if raw else None

    def waiting(self) -> Batch | None:
        """Everything that waits now; None where nothing does."""
        if not os.path.exists(self.path):
            return None
        with self._locked() as descriptor:
            state = self._state(descriptor)
            raw = _read(descriptor, state.start, state.end - state.start)
        return Batch(state.generation, state.start, state.end, raw) if raw else None

    def look(self) -> Batch | None:
        """The same for who only reads: waits for nobody and writes nothing, not even what a crash left undone."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            while (state := self._newest(descriptor)) is not None:
                raw = _read(descriptor, state.start, state.end - state.start)
                again = self._newest(descriptor)
                if again is not None and again.generation == state.generation:  # else it was emptied while we read
                    return Batch(state.generation, state.start, state.end, raw) if raw else None
            return None
        finally:
            os.close(descriptor)

    def check(self) -> list[Finding]:
        """What is wrong with the spool: records that nobody can read."""
        batch = self.look()
        broken = [record for record in batch.records() if record.payload is None] if batch else []
        what = "what is here cannot be read: a power loss cut it short before it was acknowledged, or the disk changed it"
        remedy = f"the next write takes in the others and keeps this in {self.rejected}"
        return [Finding("warning", what, f"{self.path}, bytes {one.offset} to {one.end}", remedy) for one in broken]

    def advance(self, batch: Batch, to: int, count: int) -> None:
        """So much of a batch was taken in: ``count`` records, up to the offset ``to``. Not synced: a record is known by its id, and
        is passed over the next time."""
        with self._locked() as descriptor:
            state = self._state(descriptor)
            if state.generation == batch.generation and state.start < to <= state.end:
                self._tell(descriptor, state.replace(start=to, count=max(state.count - count, 0)))

    def empty(self, batch: Batch) -> bool:
        """Let go of a batch that was taken in as a whole; False where more was appended meanwhile, which has to be taken in first."""
        with self._locked() as descriptor:
            state = self._state(descriptor)
            if state.generation != batch.generation:
                return True  # somebody else did
            if state.end > batch.end:
                return False
            self._begin(descriptor, state)
        return True

    def set_aside(self, line: bytes) -> None:
        """Keep for a person what cannot be taken in, one line of JSON; nothing new where it is kept already. Synced."""
        descriptor = files.disk.open(self.rejected, os.O_CREAT | os.O_RDWR)
        try:
            size = os.fstat(descriptor).st_size
            kept = _read(descriptor, 0, size)
            if line in kept.split(b"\n"):
                return
            start = b"" if not kept or kept.endswith(b"\n") else b"\n"  # a line that was cut short ends here
            files.disk.write(descriptor, start + line + b"\n", size)
            files.disk.sync(descriptor)
        finally:
            files.disk.close(descriptor)
        files.disk.sync_folder(os.path.dirname(self.rejected))

    def mark(self, kind: str, message: str, at: int) -> None:
        """Tell that a write failed and could not be kept anywhere."""
        with self._locked() as descriptor:
            head = read(descriptor)
            known = head.trouble if head else None
            count, since = (known.count, known.since) if known else (0, at)
            files.disk.write(descriptor, encode_mark(Trouble(kind, message, since, at, count + 1)), MARK_AT)
            files.disk.sync(descriptor)

    def clear_mark(self) -> None:
        """A write succeeded. Not synced: after a power loss the mark may be there again, until the next one."""
        with self._locked() as descriptor:
            files.disk.write(descriptor, bytes(SECTOR), MARK_AT)

    # Under the lock

    def _locked(self) -> AbstractContextManager[int]:
        return _Locked(self.path, self._wait)

    def _state(self, descriptor: int) -> State:
        """The newest slot, past the records that it does not tell of yet (or no more, where it was damaged)."""
        head = read(descriptor)
        if head is None:
            return self._make(descriptor)
        state = head.state
        if state is None:
            state = self._recovered(descriptor)
            self._tell(descriptor, state)
            state = state.replace(sequence=state.sequence + 1)
        while size := frames.span(os.pread(descriptor, frames.HEAD, state.end), state.generation):
            record = next(frames.unpack(os.pread(descriptor, size, state.end), state.end, state.generation))
            if record.payload is None:
                break  # cut short before it was acknowledged
            state = state.replace(end=record.end, count=state.count + 1, since=state.since or record.at)
        return state

    def _newest(self, descriptor: int) -> State | None:
        """As the slots tell it, without a write."""
        head = read(descriptor)
        return None if head is None else head.state or self._recovered(descriptor)

    def _make(self, descriptor: int) -> State:
        files.disk.allocate(descriptor, RESERVE)
        for sequence in (0, 1):  # each slot once
            self._tell(descriptor, State(sequence=sequence, generation=1))
        files.disk.sync(descriptor)
        files.disk.sync_folder(os.path.dirname(self.path))
        return State(sequence=2, generation=1)

    def _recovered(self, descriptor: int) -> State:
        """Both slots are damaged: everything of the newest generation waits. What of it was taken in before is known by its id."""
        raw = _read(descriptor, DATA, os.fstat(descriptor).st_size - DATA).rstrip(b"\0")
        if not raw:
            return State(sequence=1, generation=1)
        generation = max(frames.generations(raw), default=1)
        found = list(frames.unpack(raw, DATA, generation))
        readable = [record for record in found if record.payload is not None]
        since = readable[0].at if readable else 0
        return State(1, generation, DATA, found[-1].end, len(readable), since, "damaged")

    def _tell(self, descriptor: int, state: State) -> None:
        """Write the next slot."""
        sector, at = encode(state.replace(sequence=state.sequence + 1))
        files.disk.write(descriptor, sector, at)

    def _begin(self, descriptor: int, state: State) -> None:
        """The next generation, and zeros over this one's records: first the slot, synced, so that a crash in between revives none."""
        self._tell(descriptor, State(sequence=state.sequence, generation=state.generation + 1))
        files.disk.sync(descriptor)
        if os.fstat(descriptor).st_size > RESERVE:
            files.disk.truncate(descriptor, RESERVE)
        used = _read(descriptor, DATA, RESERVE - DATA).rstrip(b"\0")  # of earlier ones too, if that was cut short
        files.disk.write(descriptor, bytes(len(used)), DATA)
        files.disk.sync(descriptor)

    def _take_back(self, descriptor: int, state: State, length: int, size: int) -> None:
        """An append failed: leave the file as it was, as far as the system lets us. What raised is told to the caller."""
        within = max(min(state.end + length, size) - state.end, 0)
        try:
            files.disk.write(descriptor, bytes(within), state.end)
            self._tell(descriptor, state.replace(sequence=state.sequence + 1))
            if os.fstat(descriptor).st_size > size:
                files.disk.truncate(descriptor, size)
        except OSError:
            return


class _Locked:
    """The spool's file, open, while its lock is held."""

    def __init__(self, path: str, wait: float) -> None:
        self._path = path
        self._wait = wait
        self._lock = FileLock(path + ".lock")
        self._descriptor = -1

    def __enter__(self) -> int:
        self._lock.acquire(self._wait)
        try:
            self._descriptor = files.disk.open(self._path, os.O_CREAT | os.O_RDWR)
        except BaseException:
            self._lock.release()
            raise
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        try:
            files.disk.close(self._descriptor)
        finally:
            self._lock.release()


def _read(descriptor: int, at: int, size: int) -> bytes:
    """``size`` bytes from ``at``, fewer where the file ends; one call may give fewer."""
    parts = []
    while size > 0 and (part := os.pread(descriptor, size, at)):
        parts.append(part)
        at, size = at + len(part), size - len(part)
    return b"".join(parts)
