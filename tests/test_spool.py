"""What waits while the store cannot be written: nothing that was told is lost, nothing is taken in twice, and status says so."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwon
from hardwon import Draft, Scope
from hardwon.doors import waiting
from hardwon.engine import spooling
from hardwon.errors import Busy, DiskFull, NotFound, StoreError
from hardwon.store import files
from hardwon.store.quiet import is_quiet
from hardwon.store.spooling import frames, header
from hardwon.store.spooling.header import SECTOR
from hardwon.store.spooling.spool import CEILING, RESERVE, Spool
from hardwon.types import Filter, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hardwon.engine.core import Engine
    from hardwon.types import Receipt
    from tests.conftest import Result

    Command = Callable[..., Result]

SCALE = float(os.environ.get("HARDWON_SCALE", "1"))
ME = Scope(Origin("agent", "tester", "s1", "test"))
# Where a kill is played, and no power loss, a disk in memory does.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
PERSON = Scope(Origin("person", "", "", "test"))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = hardwon.open_store(str(tmp_path / "a.db"))
    yield made
    made.close()


@contextmanager
def locked(engine: Engine) -> Iterator[None]:
    """Another process has the writers' lock, and nobody waits for it."""
    before, engine.wait = engine.wait, 0.0
    with open(engine.store.path + ".lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield
        finally:
            engine.wait = before


def say(engine: Engine, text: str, **more: Any) -> Receipt:
    return engine.record(Draft(text, **more), ME)


def texts(engine: Engine) -> list[str]:
    """What is kept, in the order of its numbers."""
    with engine.store.read() as reader:
        return [memory.text for memory in sorted(reader.find(Filter(), -1), key=lambda memory: memory.number or 0)]


def head(engine: Engine) -> header.Head:
    found = header.peek(engine.store.path + ".spool")
    assert found is not None
    return found


# --- told and kept


def test_a_record_that_meets_a_lock_waits_under_its_final_id(engine: Engine) -> None:
    with locked(engine):
        told = say(engine, "the cache is cold after a deploy")
        assert (told.action, told.number, told.seq) == ("spooled", None, None)
        assert "waits on the disk, in the spool" in told.why
    say(engine, "later")
    memory, occurrences, _ = engine.show(told.id, ME)
    assert (memory.id, memory.number, memory.text) == (told.id, 1, "the cache is cold after a deploy")
    assert len(occurrences) == 1
    assert texts(engine) == ["the cache is cold after a deploy", "later"]
    assert engine.verify() == []


def test_what_waited_keeps_when_where_and_by_whom_it_was_said(tmp_path: Path) -> None:
    now = [1_000_000]
    engine = hardwon.open_store(str(tmp_path / "a.db"), clock=lambda: now[0])
    draft = Draft("x", "decision", None, "d", "c", "b", ("r", "s"), tags=("t",), visibility="private", metadata='{"a":"\\ud800"}')
    with locked(engine):
        told = engine.record(draft, ME)
    now[0] = 9_000_000
    engine.record(Draft("later"), PERSON)
    memory, occurrences, _ = engine.show(told.id, ME)
    assert (memory.created_at, memory.updated_at, occurrences[0].at) == (1_000_000, 1_000_000, 1_000_000)
    assert (memory.origin, occurrences[0].origin, memory.trust) == (ME.origin, ME.origin, "claimed")
    kept = {
        name: getattr(memory, name)
        for name in ("kind", "detail", "code", "because", "rejected", "tags", "visibility", "metadata")
    }
    assert kept == {name: getattr(draft, name) for name in kept}


def test_a_secret_is_taken_out_before_the_spool_is_written(engine: Engine) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with locked(engine):
        told = say(engine, f"the token is {secret}")
    assert told.redacted == 1
    assert secret.encode() not in Path(engine.store.path + ".spool").read_bytes()


def test_a_twin_that_waited_is_one_more_occurrence_under_both_ids(engine: Engine) -> None:
    first = say(engine, "retry twice")
    with locked(engine):
        told = [say(engine, "retry twice"), say(engine, "Retry  twice")]
    say(engine, "later")
    for receipt in told:
        assert engine.show(receipt.id, ME)[0].id == first.id
    assert engine.show("1", ME)[0].seen == 3
    assert engine.feedback(told[0].id, "useful", ME).id == first.id


def test_what_was_rejected_while_it_waited_stays_out_and_its_id_leads_to_the_verdict(engine: Engine) -> None:
    say(engine, "use eval")
    engine.reject("1", PERSON)
    with locked(engine):
        told = say(engine, "use eval")
    say(engine, "later")
    assert engine.show(told.id, ME)[0].status == "rejected"
    assert engine.show("1", ME)[0].seen == 1


def test_curation_by_a_person_is_not_put_off(engine: Engine) -> None:
    say(engine, "one")
    with locked(engine), pytest.raises(Busy):
        engine.set_status("1", "resolved", PERSON)
    assert not head(engine).waits


def test_what_waits_is_not_found_and_says_so(engine: Engine) -> None:
    with locked(engine):
        told = say(engine, "it waits")
        for ask in (engine.show, engine.history):
            with pytest.raises(NotFound, match="waits in the spool") as refused:
                ask(told.id, ME)
            assert refused.value.field == "id"
        with pytest.raises(NotFound, match="waits in the spool"):
            engine.identify(told.id.upper())
        with pytest.raises(NotFound, match="no memory is called"):
            engine.show("01a22a25-82c0-71a9-8541-1ded73d60fe3", ME)
        answer = engine.recall(hardwon.Query("it waits"), ME)
        assert answer.hits == ()
        assert "1 memory waits in the spool" in answer.mode.degraded[0]
        assert "1 memory waits in the spool" in engine.brief(ME).mode.degraded[0]
    say(engine, "later")
    assert engine.recall(hardwon.Query("it waits"), ME).mode.degraded == ()


def test_another_writer_than_a_record_takes_it_in_as_well(engine: Engine) -> None:
    say(engine, "one")
    with locked(engine):
        told = say(engine, "two")
    engine.set_status("1", "resolved", ME)
    assert engine.show(told.id, ME)[0].number == 2


def test_init_takes_it_in(project: Path, call: Command, home: Path) -> None:
    engine = hardwon.open(str(project), home=str(home)).engine
    with locked(engine):
        say(engine, "it waits")
    assert call("init", "--no-history").code == 0
    assert "it waits" in texts(engine)


def test_a_store_of_an_earlier_version_gets_its_spool_with_the_first_write(engine: Engine) -> None:
    path = Path(engine.store.path + ".spool")
    path.unlink()
    say(engine, "one")
    assert path.stat().st_size == RESERVE


def test_a_store_without_a_file_has_no_spool() -> None:
    from hardwon.engine.core import Engine
    from hardwon.engine.opening import prepare
    from hardwon.store.memory import MemoryStore

    store = MemoryStore()
    prepare(store, "r", 0, os.urandom)
    engine = Engine(store, "r")
    assert say(engine, "one").action == "created"
    assert engine.verify() == []


# --- the file


def fill(spool: Spool, count: int, size: int = 100) -> list[bytes]:
    payloads = [b"%d " % number + b"x" * size for number in range(count)]
    for number, payload in enumerate(payloads):
        spool.append(payload, number + 1, "busy")
    return payloads


def payloads(spool: Spool) -> list[bytes | None]:
    batch = spool.waiting()
    return [record.payload for record in batch.records()] if batch else []


def test_records_come_back_in_order_and_emptying_leaves_no_byte(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    said = fill(spool, 20)
    assert payloads(spool) == said
    found = spool.head()
    assert found is not None and found.state is not None
    assert (found.state.count, found.state.since, found.state.cause) == (20, 1, "busy")
    batch = spool.waiting()
    assert batch is not None
    spool.append(b"meanwhile", 99, "busy")
    assert not spool.empty(batch)
    batch = spool.waiting()
    assert batch is not None
    assert spool.empty(batch)
    assert spool.waiting() is None
    assert Path(spool.path).read_bytes()[header.DATA :].strip(b"\0") == b""
    assert Path(spool.path).stat().st_size == RESERVE


def test_the_spool_grows_beyond_its_reserve_and_gives_it_back(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    said = fill(spool, 30, 100_000)
    assert Path(spool.path).stat().st_size > RESERVE
    assert payloads(spool) == said
    batch = spool.waiting()
    assert batch is not None
    assert spool.empty(batch)
    assert Path(spool.path).stat().st_size == RESERVE


def test_there_is_a_ceiling(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    spool.prepare()
    found = spool.head()
    assert found is not None and found.state is not None
    sector, at = header.encode(found.state.replace(sequence=9, start=CEILING - 500, end=CEILING - 500))
    with open(spool.path, "r+b") as file:
        file.seek(at)
        file.write(sector)
    spool.append(b"x" * 100, 1, "busy")
    with pytest.raises(DiskFull, match="ceiling"):
        spool.append(b"x" * 1000, 1, "busy")
    with pytest.raises(DiskFull, match="too large"):
        spool.append(b"x" * (frames.LARGEST + 1), 1, "busy")
    assert payloads(spool) == [b"x" * 100]


@pytest.mark.parametrize("at", range(0, 144, 7))
def test_a_damaged_byte_costs_the_one_record_that_it_is_in(tmp_path: Path, at: int) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    said: list[bytes | None] = list(fill(spool, 3, 105))
    size = frames.span(Path(spool.path).read_bytes()[header.DATA :], 1)
    assert size == 144
    with open(spool.path, "r+b") as file:
        file.seek(header.DATA + size + at)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 0x55]))
    found = payloads(spool)
    assert [found[0], found[-1]] == [said[0], said[2]]
    assert found[1] is None or found[1] == said[1]  # the padding counts for nothing


@pytest.mark.parametrize("what", ["one slot", "both slots", "the whole head"])
def test_records_are_found_when_the_head_is_damaged(tmp_path: Path, what: str) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    said = fill(spool, 5)
    found = spool.head()
    assert found is not None and found.state is not None
    newest = found.state.sequence % 2 * header.SECTOR
    wrong = {"one slot": (newest, 512), "both slots": (0, 1024), "the whole head": (0, 4096)}[what]
    with open(spool.path, "r+b") as file:
        file.seek(wrong[0])
        file.write(b"\xff" * wrong[1])
    found = spool.head()
    assert found is not None and found.waits
    assert (found.state is not None) == (what == "one slot")
    assert payloads(spool) == said
    spool.append(b"one more", 1, "busy")
    assert payloads(spool) == [*said, b"one more"]


def test_a_zeroed_head_does_not_hide_what_waits(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    said = fill(spool, 5)
    with open(spool.path, "r+b") as file:
        file.write(bytes(header.DATA))
    found = spool.head()
    assert found is not None and found.waits
    assert payloads(spool) == said


def test_a_record_of_an_earlier_generation_is_never_taken_for_one_that_waits(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    fill(spool, 5)
    whole = Path(spool.path).read_bytes()
    batch = spool.waiting()
    assert batch is not None
    spool.empty(batch)
    with open(spool.path, "r+b") as file:  # a power loss after the new slot, before the zeros
        file.seek(header.DATA)
        file.write(whole[header.DATA :])
    assert payloads(spool) == []
    spool.append(b"new", 1, "busy")
    assert payloads(spool) == [b"new"]
    batch = spool.waiting()
    assert batch is not None
    spool.empty(batch)
    assert Path(spool.path).read_bytes()[header.DATA :].strip(b"\0") == b""


# --- nothing is lost, nothing comes twice


class Killed(BaseException):
    """The process is gone: no call of it reaches the disk any more."""


class Mortal(files.Disk):
    """A disk whose process dies at its n-th call; of a write the first ``part`` bytes may still arrive."""

    def __init__(self, calls: int, part: int) -> None:
        self._left = calls
        self._part = part

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Killed

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        self._step()
        return super().open(path, flags, mode)

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        if self._left == 0:
            super().write(descriptor, data[: self._part], offset)
        self._step()
        super().write(descriptor, data, offset)

    def truncate(self, descriptor: int, size: int) -> None:
        self._step()
        super().truncate(descriptor, size)

    def allocate(self, descriptor: int, size: int) -> None:
        self._step()
        super().allocate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        self._step()
        super().sync(descriptor)

    def sync_folder(self, path: str) -> None:
        self._step()
        super().sync_folder(path)


@contextmanager
def mortal(calls: int, part: int = 0) -> Iterator[None]:
    before = files.use(Mortal(calls, part))
    try:
        yield
    except Killed:
        pass
    finally:
        files.use(before)


steps = st.lists(
    st.tuples(
        st.sampled_from(("spool", "spool", "write", "status")),
        st.integers(0, 5),  # which text
        st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 200))),  # killed at which call, after how many bytes
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=int(25 * SCALE), deadline=None)
@given(steps=steps)
def test_any_interleaving_of_spooling_draining_and_kills_keeps_each_once_and_in_order(
    steps: list[tuple[str, int, tuple[int, int] | None]],
) -> None:
    folder = tempfile.mkdtemp(dir=MEMORY)
    engine = hardwon.open_store(os.path.join(folder, "a.db"))
    told: list[tuple[str, str]] = []  # id and text, in order
    tried: dict[str, int] = {}

    def act(what: str, text: str) -> None:
        if what == "status":
            waiting.findings(engine)
            return
        tried[text] = tried.get(text, 0) + 1
        if what == "spool":
            with locked(engine):
                receipt = say(engine, text)
                assert receipt.action == "spooled"
        else:
            receipt = say(engine, text)
            assert receipt.action in ("created", "repeated")
        told.append((receipt.id, text))

    for what, number, death in steps:
        if death is None:
            act(what, f"text {number}")
        else:
            with mortal(*death):
                act(what, f"text {number}")
    say(engine, "the end")
    assert engine.verify() == []
    assert not head(engine).waits
    for identifier, text in told:
        assert engine.show(identifier, ME)[0].text == text
    acknowledged = [text for _, text in told]
    order = [text for text in texts(engine) if text in acknowledged]
    assert [text for text in dict.fromkeys(acknowledged) if tried[text] == acknowledged.count(text)] == [
        text for text in order if tried[text] == acknowledged.count(text)
    ]
    for text in texts(engine)[:-1]:
        with engine.store.read() as reader:
            seen = next(memory for memory in reader.find(Filter(), -1) if memory.text == text).seen
        assert acknowledged.count(text) <= seen <= tried[text]
    engine.close()
    shutil.rmtree(folder)


class Recorded(files.Disk):
    """What of the spool's file is surely on the disk, and what was written since the last sync."""

    def __init__(self, durable: bytes = b"") -> None:
        self.durable = durable
        self.since: list[tuple[str, int, bytes]] = []
        self._descriptors: set[int] = set()

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        descriptor = super().open(path, flags, mode)
        if path.endswith(".spool"):
            self._descriptors.add(descriptor)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._descriptors.discard(descriptor)
        super().close(descriptor)

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        super().write(descriptor, data, offset)
        if descriptor in self._descriptors:
            self.since.append(("write", offset, bytes(data)))

    def truncate(self, descriptor: int, size: int) -> None:
        super().truncate(descriptor, size)
        self.since.append(("truncate", size, b""))

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        if descriptor in self._descriptors:
            self.durable = os.pread(descriptor, CEILING, 0)
            self.since = []

    def after_power_loss(self, chance: random.Random) -> bytes:
        """One thing that may be on the disk: of what was not synced each sector or none, in the last write perhaps garbage."""
        image = bytearray(self.durable)
        for number, (what, at, data) in enumerate(self.since):
            if what == "truncate":
                image = image[:at] if chance.random() < 0.5 else image
                continue
            place = at
            while place < at + len(data):
                end = min((place // SECTOR + 1) * SECTOR, at + len(data))
                piece = data[place - at : end - at]
                if number == len(self.since) - 1 and chance.random() < 0.1:
                    piece = chance.randbytes(len(piece))
                if chance.random() < 0.5:
                    image.extend(bytes(max(end - len(image), 0)))
                    image[place:end] = piece
                place = end
        return bytes(image)


@settings(max_examples=int(60 * SCALE), deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(("append", "append", "big", "take", "empty", "power")), st.integers(0, 3)), max_size=30
    ),
    seed=st.integers(0, 1 << 32),
)
def test_after_any_power_loss_everything_that_was_told_waits_or_was_taken_in(steps: list[tuple[str, int]], seed: int) -> None:
    chance = random.Random(seed)
    folder = tempfile.mkdtemp(dir=MEMORY)
    spool = Spool(os.path.join(folder, "a.db"))
    tried: list[bytes] = []
    told: list[bytes] = []
    taken: set[bytes] = set()
    disk = Recorded()
    before = files.use(disk)
    try:
        for what, number in (*steps, ("power", 0)):
            if what in ("append", "big"):
                tried.append(b"%d " % len(tried) + b"x" * (number * 300 if what == "append" else 200_000))
                spool.append(tried[-1], len(tried), "busy")
                told.append(tried[-1])
            elif what == "take" and (batch := spool.waiting()):
                part = list(batch.records())[: number + 1]
                taken |= {record.payload for record in part if record.payload}
                spool.advance(batch, part[-1].end, len(part))
            elif what == "empty" and (batch := spool.waiting()):
                taken |= {record.payload for record in batch.records() if record.payload}
                spool.empty(batch)
            elif what == "power":
                image = disk.after_power_loss(chance)
                Path(spool.path).write_bytes(image)
                files.use(disk := Recorded(image))
                found = header.peek(spool.path)
                readable = [payload for payload in payloads(spool) if payload is not None]
                assert [one for one in told if one not in taken] == [one for one in readable if one in told and one not in taken]
                assert set(readable) <= set(tried)
                assert found is None or found.waits or not set(told) - taken
    finally:
        files.use(before)
        shutil.rmtree(folder)


def test_a_kill_between_the_commit_and_the_emptying_adds_nothing_twice(engine: Engine) -> None:
    say(engine, "one")
    with locked(engine):
        for text in ("one", "two", "three"):
            say(engine, text)
    spool = Spool(engine.store.path)
    kept = Path(spool.path).read_bytes()
    say(engine, "later")
    Path(spool.path).write_bytes(kept)
    say(engine, "later still")
    assert texts(engine) == ["one", "two", "three", "later", "later still"]
    assert [engine.show(number, ME)[0].seen for number in "12345"] == [2, 1, 1, 1, 1]


def test_a_commit_that_failed_and_came_to_the_disk_all_the_same_counts_once(engine: Engine) -> None:
    from hardwon.engine import record

    say(engine, "one")
    said = record.submitted(engine, record.prepared(engine, Draft("one"))[0], ME)
    with engine.write() as writer:  # what the caller was told of this is an error
        record.enter(engine, writer, said)
    told = spooling.spooled(engine, said, StoreError("the disk did not sync"))
    say(engine, "later")
    assert engine.show(told.id, ME)[0].id == engine.identify("1")
    assert engine.show("1", ME)[0].seen == 2


def test_a_record_that_cannot_be_taken_in_is_set_aside_and_blocks_nobody(engine: Engine) -> None:
    spool = Spool(engine.store.path)
    with locked(engine):
        first = say(engine, "before it")
        spool.append(b'{"version": 99, "id": "01a22a25-82c0-71a9-8541-1ded73d60fe3", "draft": {}}', 5, "busy")
        spool.append(b"no JSON at all", 6, "busy")
        last = say(engine, "behind it")
    say(engine, "later")
    assert [engine.show(one.id, ME)[0].text for one in (first, last)] == ["before it", "behind it"]
    lines = spooling.set_aside(engine)
    assert lines[0]["why"] == "a later Hardwon wrote it"
    assert len(lines) == 2
    found = waiting.findings(engine)
    assert [item.level for item in found] == ["warning"]
    assert "2 records" in found[0].what
    with pytest.raises(NotFound, match="set aside: a later Hardwon"):
        engine.show("01a22a25-82c0-71a9-8541-1ded73d60fe3", ME)


def test_a_damaged_record_is_reported_then_kept_aside(engine: Engine) -> None:
    with locked(engine):
        told = [say(engine, f"number {number}") for number in range(3)]
    path = Path(engine.store.path + ".spool")
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"number 1") + 3] ^= 1
    path.write_bytes(raw)
    assert [item.level for item in engine.verify()] == ["warning"]
    assert path.read_bytes() == raw  # verify writes nothing
    say(engine, "later")
    assert texts(engine) == ["number 0", "number 2", "later"]
    assert engine.show(told[2].id, ME)[0].number == 2
    assert engine.verify() == []
    (line,) = spooling.set_aside(engine)
    assert "cannot be read" in line["why"]
    assert len(line["bytes"]) > 100


def test_what_is_set_aside_is_kept_before_the_spool_is_emptied(engine: Engine) -> None:
    spool = Spool(engine.store.path)
    spool.append(b"poison", 1, "busy")
    Path(spool.rejected).mkdir()  # cannot be written
    assert say(engine, "later").action == "created"
    assert payloads(spool) == [b"poison"]
    Path(spool.rejected).rmdir()
    say(engine, "later still")
    assert payloads(spool) == []
    assert len(spooling.set_aside(engine)) == 1


def test_a_long_spool_goes_in_slices_and_the_rest_stays_before_what_comes_later(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 * spooling.SLICE
    monkeypatch.setattr(spooling, "LEAST", 0.0)
    with locked(engine):
        first = say(engine, "number 0")
    spool = Spool(engine.store.path)
    batch = spool.waiting()
    assert batch is not None
    (record,) = batch.records()
    assert record.payload is not None
    data = json.loads(record.payload)
    for number in range(1, count):
        data["id"] = f"01a22a25-82c0-71a9-8541-{number:012x}"
        data["draft"]["text"] = f"number {number}"
        spool.append(json.dumps(data).encode(), number, "busy")
    engine.wait = 0.0
    assert say(engine, "comes later").action == "spooled"  # its time is over after the first of them
    state = head(engine).state
    assert state is not None
    assert state.count == count  # one went, and one came
    assert engine.show(first.id, ME)[0].number == 1
    engine.wait = 30.0
    say(engine, "the last")
    assert texts(engine) == [*(f"number {number}" for number in range(count)), "comes later", "the last"]


# --- an encrypted store


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[Engine]:
    pytest.importorskip("pyrage")
    from hardwon.store.connection import Access
    from hardwon.store.keys.sealing import new_identity, recipient_of
    from hardwon.store.keys.secret import Secret

    secret = Secret(new_identity())
    access = Access(key=secret.raw(), recipient=recipient_of(secret), secrets=lambda: (secret,))
    made = hardwon.open_store(str(tmp_path / "a.db"), access=access)
    yield made
    made.close()


def test_what_waits_for_an_encrypted_store_is_sealed_to_its_key(encrypted: Engine) -> None:
    with locked(encrypted):
        told = say(encrypted, "tangerine", detail="pomegranate")
        assert told.action == "spooled"
        raw = Path(encrypted.store.path + ".spool").read_bytes()
        assert b"tangerine" not in raw
        assert b"pomegranate" not in raw
        assert told.id.encode() not in raw
        with pytest.raises(NotFound, match="tangerine"):
            encrypted.show(told.id, ME)
    say(encrypted, "later")
    assert encrypted.show(told.id, ME)[0].text == "tangerine"


def test_what_was_sealed_to_another_key_is_set_aside_as_it_is(encrypted: Engine) -> None:
    from hardwon.store.keys.sealing import new_identity, recipient_of, seal
    from hardwon.store.keys.secret import Secret

    other = seal(recipient_of(Secret(new_identity())), b"tangerine")
    Spool(encrypted.store.path).append(other, 1, "busy", sealed=True)
    say(encrypted, "later")
    (line,) = spooling.set_aside(encrypted)
    assert (line["sealed"], "another key" in line["why"]) == (True, True)


def test_an_encrypted_store_that_knows_no_recipient_writes_nothing_in_plain_text(tmp_path: Path) -> None:
    from hardwon.store.connection import Access

    engine = hardwon.open_store(str(tmp_path / "a.db"), access=Access(key=bytes(range(32))))
    with locked(engine), pytest.raises(Busy):
        say(engine, "tangerine")
    assert b"tangerine" not in Path(engine.store.path + ".spool").read_bytes()


# --- many processes


def start(script: str, *words: str) -> subprocess.Popen[str]:
    """A process that runs a script, told about on its standard output, one line a record."""
    return subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE, text=True)


WRITER = """
import sys, hardwon
from hardwon import Draft, Scope
path, name, count, wait = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
engine = hardwon.open_store(path)
engine.wait = wait
for number in range(count):
    receipt = engine.record(Draft(f"{name} says {number}"), Scope())
    print(receipt.id, receipt.action, receipt.number, flush=True)
"""


def told_by(process: subprocess.Popen[str]) -> list[list[str]]:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return [line.split() for line in out.splitlines()]


@pytest.mark.parametrize(("writers", "count"), [(4, 8), pytest.param(16, 60, marks=pytest.mark.slow)])
def test_many_processes_that_spool_and_drain_lose_nothing_and_add_nothing_twice(engine: Engine, writers: int, count: int) -> None:
    # Half of them wait for nobody, so that they spool whenever another writes; the others take in what they find.
    running = [
        start(WRITER, engine.store.path, f"w{number}", str(count), "0" if number % 2 else "60") for number in range(writers)
    ]
    said = [told_by(process) for process in running]
    say(engine, "the end")
    assert len(texts(engine)) == len(set(texts(engine))) == writers * count + 1
    for number, lines in enumerate(said):
        kept = [engine.show(identifier, ME)[0] for identifier, *_ in lines]
        assert [memory.text for memory in kept] == [f"w{number} says {one}" for one in range(count)]
        assert [memory.seen for memory in kept] == [1] * count
    assert engine.verify() == []
    assert not head(engine).waits


CLIENT = """
import sys, hardwon
with hardwon.open(sys.argv[1]) as memory:
    for number in range(8):
        receipt = memory.fail("Pool.get", f"{sys.argv[2]} saw {number}")
        print(receipt.id, receipt.action, flush=True)
"""


@pytest.mark.slow
def test_r15_three_clients_beside_a_lock_that_is_held_lose_no_event(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = hardwon.open(str(project), home=str(home)).engine
    monkeypatch.setenv("HARDWON_WAIT", "0.05")
    with locked(engine):
        running = [start(CLIENT, str(project), f"client {number}") for number in range(3)]
        told = [told_by(process) for process in running]
    assert [action for lines in told for _, action in lines] == ["spooled"] * 24
    say(engine, "the end")
    for number, lines in enumerate(told):
        assert [engine.show(one, ME)[0].text for one, _ in lines] == [f"client {number} saw {event}" for event in range(8)]


# --- a disk that is full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill_up(place: Path) -> Path:
    """A file that takes what room there is."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


@pytest.mark.slow
def test_on_a_full_disk_records_fit_into_the_reserve_then_fail_and_go_in_when_there_is_room(small_disk: Path) -> None:
    engine = hardwon.open_store(str(small_disk / "a.db"))
    say(engine, "retry uploads twice")
    filler = fill_up(small_disk)
    told, refused = [], None
    for number in range(1000):
        try:
            told.append(say(engine, f"number {number} {'x' * 1900}", detail="y" * 4000))
        except StoreError as error:
            refused = error
            break
    actions = [receipt.action for receipt in told]
    assert isinstance(refused, DiskFull)
    assert actions == sorted(actions)  # created while the log had room, then spooled
    assert actions.count("spooled") > 100
    levels = [(item.level, item.where) for item in waiting.findings(engine)]
    assert ("error", engine.store.path + ".spool") in levels  # what waits
    assert ("error", "disk_full") in levels  # what was lost
    assert engine.recall(hardwon.Query("retry uploads twice"), ME).hits
    filler.unlink()
    say(engine, "after")
    assert texts(engine) == ["retry uploads twice", *(f"number {number} {'x' * 1900}" for number in range(len(told))), "after"]
    assert all(engine.show(receipt.id, ME)[0].number for receipt in told)
    assert waiting.findings(engine) == []
    assert engine.verify() == []
    engine.close()


LIMITED = """
import resource, sys, hardwon
from hardwon import Draft, Scope
from hardwon.errors import DiskFull
engine = hardwon.open_store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 19, resource.RLIM_INFINITY))
for number in range(4000):
    try:
        receipt = engine.record(Draft(f"number {number} " + "x" * 1900, detail="y" * 9000), Scope())
    except DiskFull:
        break
    print(receipt.id, receipt.action, flush=True)
else:
    sys.exit("it never was full")
"""


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_is_a_full_disk(engine: Engine) -> None:
    told = told_by(start(LIMITED, engine.store.path))
    assert [action for _, action in told].count("spooled") > 50
    say(engine, "after")
    assert [engine.show(one, ME)[0].number for one, _ in told] == list(range(1, len(told) + 1))


def test_an_append_that_fails_leaves_the_spool_as_it_was(tmp_path: Path) -> None:
    class Full(files.Disk):
        def sync(self, descriptor: int) -> None:
            raise OSError(5, "Input/output error")

    spool = Spool(str(tmp_path / "a.db"))
    said = fill(spool, 3)
    before = files.use(Full())
    try:
        with pytest.raises(OSError, match="Input"):
            spool.append(b"never told", 9, "busy")
    finally:
        files.use(before)
    assert payloads(spool) == said
    assert b"never told" not in Path(spool.path).read_bytes()


def test_what_cannot_be_spooled_either_is_the_first_error_and_leaves_a_mark_until_a_write_succeeds(engine: Engine) -> None:
    class Refusing(files.Disk):
        def write(self, descriptor: int, data: bytes, offset: int) -> None:
            if offset >= header.DATA:
                raise OSError(28, "No space left on device")
            super().write(descriptor, data, offset)

    with locked(engine):
        before = files.use(Refusing())
        try:
            with pytest.raises(Busy):
                say(engine, "lost")
        finally:
            files.use(before)
        trouble = head(engine).trouble
        assert trouble is not None
        assert (trouble.kind, trouble.count) == ("busy", 1)
        (found,) = waiting.findings(engine)
        assert (found.level, "a write failed" in found.what) == ("error", True)
    say(engine, "kept")
    assert head(engine).trouble is None
    assert texts(engine) == ["kept"]


# --- damage, and what is not put off


def test_on_a_damaged_store_records_wait_and_status_is_red(project: Path, call: Command) -> None:
    store = Path(call("status", "--json").data["store"])
    with store.open("r+b") as file:
        file.write(b"no SQLite file at all")
    Path(f"{store}-wal").unlink()
    told = call("fail", "Pool.get", "it leaks", "--json")
    assert (told.code, told.data["action"], told.data["number"], told.data["seq"]) == (0, "spooled", None, None)
    assert (told.data["risk_score"], told.data["level"]) == (None, None)
    state = call("status", "--json")
    assert (state.code, state.data["ok"], state.data["memories"]) == (1, False, {})
    assert (state.data["spool"]["waiting"], state.data["spool"]["cause"]) == (1, "damaged")
    assert {"error"} <= {item["level"] for item in state.data["findings"]}
    assert "1 record waits in the spool" in call("status").out
    assert call("resolve", "1", "--json").error["kind"] == "damaged"
    assert state.data["spool"]["failed"] == 0
    assert call("status", "--json").data["spool"]["failed"] == 1


def test_a_person_is_told_on_standard_error_that_it_is_not_in_the_memory_yet(
    project: Path, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_WAIT", "0")
    with locked(hardwon.open(str(project)).engine):
        told = call("record", "use WAL")
        assert (told.code, told.out.split()[0]) == (0, "spooled")
        assert "saved" not in told.out + told.err
        assert "not in the memory yet" in told.err
        shown = call("show", told.out.split()[1], "--json")
        assert (shown.code, shown.error["kind"]) == (1, "not_found")
        assert "use WAL" in shown.error["message"]
        state = call("status", "--json")
        assert (state.code, state.data["ok"], state.data["findings"][0]["level"]) == (0, True, "warning")
        assert "waits in the spool" in call("brief").err
    monkeypatch.delenv("HARDWON_WAIT")
    assert call("show", told.out.split()[1]).code == 1  # nothing was written since
    assert call("ok", "Pool.get").code == 0
    assert "use WAL" in call("show", told.out.split()[1]).out


def test_what_waits_for_longer_than_a_quarter_of_an_hour_is_an_error(tmp_path: Path) -> None:
    now = [1_000_000]
    engine = hardwon.open_store(str(tmp_path / "a.db"), clock=lambda: now[0])
    with locked(engine):
        say(engine, "it waits")
    assert [item.level for item in waiting.findings(engine)] == ["warning"]
    now[0] += waiting.PATIENCE
    assert [item.level for item in waiting.findings(engine)] == ["error"]
    now[0] = 0  # a clock that was set back makes nothing old
    assert [item.level for item in waiting.findings(engine)] == ["warning"]


def test_what_no_later_writer_could_take_in_is_an_error(engine: Engine) -> None:
    import apsw

    say(engine, "one")
    with apsw.Connection(engine.store.path) as connection:
        connection.pragma("user_version", 99)
    with pytest.raises(StoreError) as refused:
        say(engine, "two")
    assert refused.value.kind == "schema_newer"
    assert not head(engine).waits


@pytest.mark.parametrize(("pragma", "wrong", "right"), [("application_id", 7, 0x48574F4E), ("user_version", 0, None)])
def test_r18_without_its_marker_a_store_refuses_or_keeps_what_was_said(
    project: Path, call: Command, pragma: str, wrong: int, right: int | None
) -> None:
    import apsw

    from hardwon.store.connection import SCHEMA

    store = call("status", "--json").data["store"]
    with apsw.Connection(store) as connection:
        connection.pragma(pragma, wrong)
    told = call("record", "kept for good", "--json")
    with apsw.Connection(store) as connection:
        connection.pragma(pragma, right or SCHEMA)
    if told.code == 0:
        assert told.data["action"] == "spooled"
        call("record", "later")
        assert call("show", told.data["id"]).code == 0
    else:
        assert told.error["remedy"]
        assert call("recall", "kept for good", "--json").data["hits"] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_an_error(engine: Engine) -> None:
    folder = Path(engine.store.path).parent
    folder.chmod(0o500)
    try:
        with pytest.raises(StoreError):
            say(engine, "two")
    finally:
        folder.chmod(0o700)


def test_the_quick_look_says_quiet_only_where_the_whole_one_does(tmp_path: Path) -> None:
    """Also where any sector is damaged: then it has to be looked at properly."""
    path = str(tmp_path / "a.db")
    spool = Spool(path)
    assert not is_quiet(spool.path)
    spool.prepare()
    assert is_quiet(spool.path)
    spool.append(b"{}", 1, "busy")
    assert not is_quiet(spool.path)
    batch = spool.waiting()
    assert batch is not None and spool.empty(batch) and is_quiet(spool.path)
    spool.mark("disk_full", "no room", 1)
    assert not is_quiet(spool.path)
    spool.clear_mark()
    whole = Path(spool.path).read_bytes()
    for at in (0, 20, 80, 512, 600):
        Path(spool.path).write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
        assert not is_quiet(spool.path), at


def test_a_store_that_fails_is_found_out_by_the_first_record_alone(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "a.db"))
    assert spool.first() is None
    for number in range(5):
        spool.append(b"%d" % number, 1, "busy")
    batch = spool.first()
    assert batch is not None and [record.payload for record in batch.records()] == [b"0"]
    spool.advance(batch, batch.end, 1)
    rest = spool.waiting()
    assert rest is not None and [record.payload for record in rest.records()] == [b"1", b"2", b"3", b"4"]
    assert not spool.empty(batch)
