"""What is bounded: the log beside readers, how long upkeep keeps others out, how long anybody waits, and the disk."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.engine import exchange, opening, rewritten, secrets, vectors
from hardwon.errors import Busy
from hardwon.importers.source import Incoming
from hardwon.store import ceiling, compaction, handle, holders, transaction
from hardwon.store.ceiling import log_bytes
from hardwon.store.connection import INCREMENTAL, LOG_CEILING
from hardwon.store.ids import uuid7
from hardwon.store.lock import FileLock
from hardwon.types import Change, Draft, ExportedMemory, Filter, Memory, Origin, Query, Scope, Version
from tests.conftest import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hardwon.engine.core import Engine

PERSON = Scope(Origin("person", "", "", "cli"))
SCALE = float(os.environ.get("HARDWON_SCALE", "1"))
# What a program does that knows nothing of us: it opens the file, reads, and stays.
STUCK = """
import apsw, sys
connection = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM settings").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""
needs_locks = pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="only Linux says who holds a lock")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = opening.open_store(str(tmp_path / "a.db"), wait=5.0)
    yield made
    made.close()


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> int:
    """A ceiling that a few writes reach; bytes."""
    size = 256 << 10
    for module in (ceiling, transaction):
        monkeypatch.setattr(module, "LOG_REFUSED", size)
    monkeypatch.setattr(ceiling, "LOG_GIVE_WAY", size // 2)
    monkeypatch.setattr(ceiling, "_PATIENCE", 0)
    return size


@contextmanager
def stuck_reader(engine: Engine) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", STUCK, engine.store.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"reading\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def write(engine: Engine, first: int, count: int = 20) -> None:
    """As a program does: a slice a transaction."""
    engine.upsert([(str(n), Draft(f"item {n}: {n * 7919}", detail="x" * 400)) for n in range(first, first + count)], PERSON)


def fill(engine: Engine, past: int) -> None:
    """Write until the log is larger than that."""
    first = 0
    while log_bytes(engine.store.path) <= past:
        write(engine, first, 4)
        first += 4


def changes(count: int, first: int = 0) -> list[Change]:
    return [
        Change(f"{n:040x}", 1_700_000_000_000 + n, f"Change {n} of the pool", files=(f"src/f{n % 9}.py",), added=(f"word{n}",))
        for n in range(first, first + count)
    ]


def offered(count: int, first: int = 0) -> Iterator[Incoming]:
    for n in range(first, first + count):
        at = 1_700_000_000_000 + n
        memory = Memory(
            id=uuid7(at, n.to_bytes(10, "big")), number=None, kind="fact", outcome=None, text=f"queue {n} is read in batches of {n % 7}",
            created_at=at, updated_at=at, valid_from=at, trust="claimed", tags=("bulk",), origin=Origin("agent"),
        )  # fmt: skip
        yield Incoming(f"line {n}", ExportedMemory(memory, (Version(memory.id, 1, memory, at, None),), ()), "")


def contents(engine: Engine) -> list[ExportedMemory]:
    return list(exchange.export(engine))


@needs_locks
def test_who_holds_the_lock_is_named(engine: Engine) -> None:
    lock, engine.wait = FileLock(engine.store.path + ".lock"), 0.2  # for less it is not looked for
    lock.acquire(0)
    with pytest.raises(Busy, match=f"process {os.getpid()} "):
        write(engine, 0)
    lock.release()
    for _ in range(500):  # who gave up waiting gets it for an instant, and lets go
        if not holders.owners(lock.path):
            break
        time.sleep(0.01)
    assert holders.owners(lock.path) == []


# The log beside readers


def test_r53_a_foreign_reader_that_stays_stops_writes_at_the_ceiling_and_nothing_is_lost(engine: Engine, low: int) -> None:
    write(engine, 0)
    with stuck_reader(engine) as reader:
        with pytest.raises(Busy) as caught:
            fill(engine, 100 * low)
        if os.path.exists("/proc/locks"):
            assert f"process {reader.pid}" in caught.value.message
            assert f"process {reader.pid}" in caught.value.remedy
        assert "-wal" in caught.value.message
        kept = engine.figures()["memories"]
        largest = log_bytes(engine.store.path)
        for _ in range(3):
            with pytest.raises(Busy):
                write(engine, 10_000)
        assert log_bytes(engine.store.path) == largest < 2 * low
        assert engine.figures()["memories"] == kept  # reading goes on, and shows all that was acknowledged
    write(engine, 10_000)  # by itself, once the reader is gone
    assert log_bytes(engine.store.path) < low
    assert engine.figures()["memories"] == kept + 20
    assert engine.verify() == []


def test_a_log_at_the_ceiling_that_nobody_reads_is_moved_by_the_next_write(engine: Engine, low: int) -> None:
    with engine.store.read():
        fill(engine, low)
    write(engine, 10_000)
    assert log_bytes(engine.store.path) < low


@needs_locks
def test_who_reads_is_named_by_process_and_program(engine: Engine) -> None:
    write(engine, 0)
    assert ceiling.readers(engine.store.path) == []
    with stuck_reader(engine) as reader:
        assert [process for process, _ in ceiling.readers(engine.store.path)] == [reader.pid]
        assert holders.told(ceiling.readers(engine.store.path), "").startswith(f"process {reader.pid} (python")
        with engine.store.read():
            assert sorted(process for process, _ in ceiling.readers(engine.store.path)) == sorted([reader.pid, os.getpid()])
    assert ceiling.readers(engine.store.path) == []
    assert ceiling.readers(engine.store.path + "-of-nobody") == []


def test_many_readers_are_counted_and_unknown_ones_are_a_reader() -> None:
    assert holders.told([], "a reader") == "a reader"
    assert holders.told([(7, "")], "a reader") == "process 7"
    assert holders.told([(n, "cat") for n in range(5)], "") == "process 0 (cat), process 1 (cat), process 2 (cat), 2 more"


def test_a_view_of_ours_that_lasts_gives_way_once_writers_have_filled_half_of_the_log(
    engine: Engine, low: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handle, "LONG_READ", 0.0)
    write(engine, 0)
    engine.persist()
    with pytest.raises(Busy, match="faster than this can be read"), engine.store.read() as reader:
        assert reader.figures()["memories"] == 20
        fill(engine, low // 2)
        reader.figures()
    monkeypatch.setattr(handle, "LONG_READ", 60.0)
    with engine.store.read() as reader:  # the same connection, another view
        assert reader.count(Filter()) > 20
    write(engine, 10_000)
    engine.persist()
    assert log_bytes(engine.store.path) == 0


def test_a_single_long_statement_gives_way_too(engine: Engine, low: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "LONG_READ", 0.0)
    monkeypatch.setattr(handle, "_STEPS", 1000)
    engine.persist()
    count = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT max(i) FROM n"
    with engine.store.read() as reader:
        rows = reader._db.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT i FROM n")
        next(rows)
        fill(engine, low // 2)
        with pytest.raises(Busy):
            list(rows)
    monkeypatch.setattr(handle, "LONG_READ", 60.0)
    with engine.store.read() as reader:
        assert reader._db.execute(count).get == 50_000


def test_a_short_view_is_left_alone_however_large_the_log_is(engine: Engine, low: int) -> None:
    with engine.store.read() as reader:
        before = reader.figures()
        fill(engine, low)
        assert reader.figures() == before


def test_an_export_holds_no_snapshot_while_its_reader_takes_its_time(engine: Engine) -> None:
    write(engine, 0, 150)
    taking = exchange.export(engine)
    first = list(islice(taking, 60))
    write(engine, 1000)
    engine.persist()
    assert log_bytes(engine.store.path) == 0  # an open view would have kept it
    rest = list(taking)
    assert len({item.memory.id for item in first + rest}) == len(first + rest) == 150


def test_what_is_forgotten_before_its_turn_stays_out_of_an_export(engine: Engine) -> None:
    write(engine, 0, 150)
    taking = exchange.export(engine)
    first = list(islice(taking, 1))
    with engine.store.read() as reader:
        last = max(memory.number or 0 for memory in reader.find(Filter(), -1))
    engine.forget(Filter(ids=(engine.identify(f"#{last}"),)), PERSON, dry_run=False)
    rest = list(taking)
    assert len(first + rest) == 149
    assert last not in {item.memory.number for item in rest}


def test_the_search_for_secrets_holds_no_snapshot_from_slice_to_slice(engine: Engine) -> None:
    write(engine, 0, 150)
    engine.add_changes(changes(150))
    logs = []

    def step(done: int, of: int) -> None:
        write(engine, 1000 + done)
        engine.persist()
        logs.append(log_bytes(engine.store.path))

    assert secrets.find(engine, progress=step) == []
    assert len(logs) >= 4
    assert set(logs) == {0}


# Upkeep in slices: while it reports, the lock is free


def emptied(engine: Engine) -> None:
    """A store much of which is gone."""
    engine.add_changes(changes(500))
    rewritten.apply(engine, rewritten.Rewritten(frozenset(change.sha for change in changes(400))))


def test_r17_compact_gives_back_what_is_gone_and_lets_writers_in_between_slices(engine: Engine) -> None:
    emptied(engine)
    engine.persist()
    size = os.path.getsize(engine.store.path)
    written = []

    def step(done: int, of: int) -> None:
        written.append(engine.record(Draft(f"written while compacting: {done} of {of}, {len(written)}"), PERSON))

    before, after = engine.compact(step)
    assert written
    assert (before, after) == (size, os.path.getsize(engine.store.path))
    assert after < 0.7 * before
    assert compaction.free_bytes(engine.store) < 0.05 * after
    assert log_bytes(engine.store.path) == 0
    with engine.store.read() as reader:
        assert [memory.id for memory in reader.get([one.id for one in written])] == [one.id for one in written]
    assert engine.verify() == []


def test_compact_stopped_anywhere_keeps_what_is_done_and_goes_on_the_next_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_FIRST", 4)
    monkeypatch.setattr(compaction, "_GROWTH", 1.0)
    emptied(engine)
    kept = contents(engine)
    free = compaction.free_bytes(engine.store)

    def stop(done: int, of: int) -> None:
        if compaction.free_bytes(engine.store) < free / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.compact(stop)
    assert 0 < compaction.free_bytes(engine.store) < free / 2
    assert engine.verify() == []
    before, after = engine.compact()
    assert after < before
    assert compaction.free_bytes(engine.store) == 0
    assert contents(engine) == kept


def test_a_reader_sees_the_same_while_the_file_is_made_smaller(engine: Engine) -> None:
    emptied(engine)
    write(engine, 0)
    with engine.store.read() as reader:
        before = [reader.figures(), reader.find(Filter(), -1)]
        engine.compact()
        assert [reader.figures(), reader.find(Filter(), -1)] == before
    assert engine.verify() == []


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_a_store_of_the_older_kind_of_file_becomes_one_that_can_be_shortened(engine: Engine, full: bool) -> None:
    emptied(engine)
    connection = engine.store.connection(readonly=False)  # type: ignore[attr-defined]  # SQLite's
    connection.pragma("auto_vacuum", 0)
    connection.execute("VACUUM")
    rewritten.apply(engine, rewritten.Rewritten(frozenset(change.sha for change in changes(100, 400))))
    before, after = engine.compact(full=full)
    assert after < before
    assert connection.pragma("auto_vacuum") == INCREMENTAL
    assert engine.verify() == []


def test_compact_ends_with_busy_where_it_never_gets_the_lock(engine: Engine) -> None:
    emptied(engine)
    engine.wait = 0.0
    lock = FileLock(engine.store.path + ".lock")
    lock.acquire(0)
    with pytest.raises(Busy):
        engine.compact()
    lock.release()
    engine.compact()


@given(pages=st.integers(4, 10**6), seconds=st.floats(0, 100))
def test_a_slice_that_took_long_is_followed_by_a_smaller_one(pages: int, seconds: float) -> None:
    size = compaction.next_size(pages, seconds)
    assert 4 <= size <= 1.25 * pages + 1
    if seconds > compaction.SLICE:
        assert size <= max(4, pages / 2)
    if seconds < compaction.SLICE / 4:
        assert size > pages


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(1, 60)), st.tuples(st.just("drop"), st.integers(1, 60)),
            st.tuples(st.just("write"), st.integers(1, 20)), st.tuples(st.just("compact"), st.booleans()),
        ),
        min_size=3, max_size=9,
    )
)  # fmt: skip
def test_compact_changes_nothing_that_is_kept(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any]]) -> None:
    engine = opening.open_store(str(tmp_path_factory.mktemp("compact") / "a.db"))
    added = dropped = 0
    for step, much in steps:
        if step == "add":
            engine.add_changes(changes(much, added))
            added += much
        elif step == "drop":
            gone = changes(min(much, added - dropped), dropped)
            rewritten.apply(engine, rewritten.Rewritten(frozenset(change.sha for change in gone)))
            dropped += len(gone)
        elif step == "write":
            write(engine, 0, much)
        else:
            before = [contents(engine), engine.figures(), engine.recall(Query("pool item", k=50), PERSON).block]
            engine.compact(full=much)
            assert [contents(engine), engine.figures(), engine.recall(Query("pool item", k=50), PERSON).block] == before
    assert engine.verify() == []
    engine.close()


@pytest.mark.parametrize("verb", ["rebuild", "import"])
def test_r17_others_write_between_the_slices_of(verb: str, engine: Engine) -> None:
    write(engine, 0, 150)
    engine.add_changes(changes(150))
    written = []

    def step(*_: int) -> None:
        written.append(engine.record(Draft(f"meanwhile {len(written)}"), PERSON))

    if verb == "rebuild":
        engine.rebuild(step)
    else:
        exchange.import_memories(engine, offered(150), PERSON, progress=step)
    assert len(written) >= 3
    assert engine.verify() == []
    assert engine.recall(Query("Change 149 of the pool"), PERSON).hits
    assert engine.recall(Query("meanwhile 1"), PERSON).hits


def test_old_vectors_go_in_slices(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_SUPERSEDED", 2)
    write(engine, 0, 5)
    with engine.write() as writer:
        ids = [memory.id for memory in writer.find(Filter(), -1)]
        for model in ("old", "new"):
            writer.put_vectors(model, [(one, b"d" * 16, os.urandom(16)) for one in ids])
    assert vectors._supersede(engine, "new") == 5
    with engine.store.read() as reader:
        assert reader.vector_models() == {"new": 5}
    assert engine.verify() == []


# Waiting ends


WRITING = (
    ("revise", "1", "other words"), ("resolve", "1"), ("deactivate", "1"), ("forget", "1", "--yes"), ("undo", "1"),
    ("link", "1", "2", "--supports"), ("useful", "1"), ("useless", "1"), ("import", "in.jsonl"), ("ingest", "docs"),
    ("ingest", "deps"), ("ingest", "git"), ("compact",), ("init",), ("init", "--rebuild"),
)  # fmt: skip


@pytest.fixture
def held(project: Path, home: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory with two lessons and something to ingest, whose writers wait for nothing; the store's path."""
    for symbol in ("Pool.get", "upload"):
        assert call("fail", symbol, f"{symbol} was exhausted").code == 0
    assert call("useful", "1").code == 0
    (project / "in.jsonl").write_text(call("export", "-").out.replace("was exhausted", "was lost"))
    for name, text in (("README.md", "# Shop\n\nA shop that sells things by the dozen.\n"), ("requirements.txt", "flask==3.0\n")):
        (project / name).write_text(text)
    from tests.conftest import git

    git(project, "add", ".")
    git(project, "commit", "-qm", "Say what it is", at=1_800_000_000)
    monkeypatch.setenv("HARDWON_WAIT", "0.05")
    return next(home.glob("stores/*.db"))


@pytest.mark.slow
@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_verb_that_writes_ends_with_busy_while_another_writes(
    held: Path, words: tuple[str, ...], call: Callable[..., Result]
) -> None:
    lock = FileLock(f"{held}.lock")
    lock.acquire(0)
    ended = call(*words, "--json")
    assert (ended.code, ended.error["kind"]) == (4, "busy"), ended
    assert "more than 0.05 s" in ended.error["message"]
    with pytest.raises(Busy):  # whoever had the lock has it still
        FileLock(f"{held}.lock").acquire(0)
    lock.release()
    assert call(*words).code == 0


@pytest.mark.parametrize("words", [("revise", "1", "other words"), ("compact",)], ids=" ".join)
def test_nor_does_it_wait_for_a_program_that_does_not_queue(
    held: Path, words: tuple[str, ...], call: Callable[..., Result]
) -> None:
    foreign = apsw.Connection(str(held))
    foreign.execute("BEGIN IMMEDIATE")
    ended = call(*words, "--json")
    assert (ended.code, ended.error["kind"]) == (4, "busy"), ended
    assert foreign.in_transaction
    foreign.execute("ROLLBACK")
    foreign.close()
    assert call(*words).code == 0


def test_a_transaction_waits_for_others_no_longer_than_it_was_told(engine: Engine) -> None:
    engine.wait = 0.25
    write(engine, 0)
    assert engine.store.connection(readonly=False).pragma("busy_timeout") == 250  # type: ignore[attr-defined]  # SQLite's


def test_waiting_for_the_registry_ends(held: Path, home: Path, tmp_path: Path, call: Callable[..., Result]) -> None:
    lock = FileLock(str(home / "registry.lock"))
    lock.acquire(0)
    (tmp_path / "new").mkdir()
    ended = call("init", "--json", cwd=tmp_path / "new")
    assert (ended.code, ended.error["kind"]) == (4, "busy"), ended
    assert "more than 0.05 s" in ended.error["message"]
    lock.release()
    assert call("init", cwd=tmp_path / "new").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("recall", "pool"), ("show", "1"), ("query", "Pool"), ("brief",), ("status",), ("export", "-")], ids=" ".join
)
def test_r37_reading_waits_for_no_writer(held: Path, words: tuple[str, ...], call: Callable[..., Result]) -> None:
    lock = FileLock(f"{held}.lock")
    lock.acquire(0)
    writer = apsw.Connection(str(held))
    writer.execute("BEGIN IMMEDIATE")
    for _ in range(5):
        ended = call(*words)
        assert ended.code == 0, ended
        assert ended.out
    assert writer.in_transaction
    writer.close()
    lock.release()


# The disk


def test_r55_the_same_again_and_again_keeps_the_disk_as_it_is(engine: Engine, tmp_path: Path) -> None:
    exchange.import_memories(engine, offered(20), PERSON)
    engine.add_changes(changes(20))
    before = [engine.figures(), contents(engine)]
    for _ in range(20):
        exchange.import_memories(engine, offered(20), PERSON)
        engine.add_changes(changes(20))
    assert [engine.figures(), contents(engine)] == before
    assert disk_ratio(engine, tmp_path) <= 2


def disk_ratio(engine: Engine, folder: Path) -> float:
    """Bytes on the disk against those of the same content in a file of its own."""
    copy = folder / "copy.db"
    copy.unlink(missing_ok=True)
    engine.store.connection(readonly=False).execute("VACUUM INTO ?", (str(copy),))  # type: ignore[attr-defined]  # SQLite's
    return (os.path.getsize(engine.store.path) + log_bytes(engine.store.path)) / copy.stat().st_size


# What `status` says of it


def findings(told: Result) -> list[Any]:
    """Those about the log and about space."""
    return [one for one in told.data["findings"] if " log " in one["what"] or " free" in one["what"]]


def test_status_tells_how_large_the_log_is_and_who_keeps_it_so(
    held: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, low: int
) -> None:
    from hardwon.doors import space

    monkeypatch.setattr(space, "_LONG_LOG", low // 4)
    engine = opening.open_store(str(held))
    engine.persist()
    assert findings(call("status", "--json")) == []
    with stuck_reader(engine) as reader:
        fill(engine, low // 4)
        told = call("status", "--json")
        assert (told.code, told.data["ok"]) == (0, True), told
        assert told.data["log"] == log_bytes(str(held))
        (finding,) = findings(told)
        assert finding["level"] == "warning"
        if os.path.exists("/proc/locks"):
            assert f"process {reader.pid}" in finding["what"]
        with pytest.raises(Busy):
            fill(engine, 100 * low)
        told = call("status", "--json")
        assert (told.code, findings(told)[0]["level"]) == (1, "error"), told
    write(engine, 10_000)
    engine.persist()
    told = call("status", "--json")
    assert (told.code, findings(told), told.data["log"]) == (0, [], 0)
    engine.close()


def test_status_says_what_compact_would_give_back(
    held: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardwon.doors import space

    engine = opening.open_store(str(held))
    emptied(engine)
    engine.persist()
    told = call("status", "--json")
    assert told.data["free"] == compaction.free_bytes(engine.store) > 0
    assert findings(told) == []  # little
    monkeypatch.setattr(space, "_MUCH", 30_000)
    told = call("status", "--json")
    (finding,) = findings(told)
    assert (finding["level"], finding["remedy"]) == ("note", "run `hardwon compact`")
    assert call("compact").code == 0
    told = call("status", "--json")
    assert told.data["free"] == 0
    assert findings(told) == []
    engine.close()


# Whole, and slow


def keep_writing(path: str, number: int, count: int, told: Any, hold: float) -> None:
    """Record so many, the first of these processes in transactions that it keeps open for ``hold`` seconds."""
    engine = opening.open_store(path)
    for n in range(count):
        if hold and n % 10 == 0:
            with engine.store.write() as writer:
                writer.set_setting("held", str(n))
                time.sleep(hold)
        receipt = engine.record(Draft(f"process {number} says {n}"), PERSON)
        told.put((receipt.action, receipt.id))
    engine.close()


@pytest.mark.slow
def test_r16_five_processes_one_of_which_keeps_the_lock_lose_nothing(engine: Engine) -> None:
    count = max(20, round(60 * SCALE))
    told: Any = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=keep_writing, args=(engine.store.path, number, count, told, 2.0 if not number else 0.0))
        for number in range(5)
    ]
    for process in processes:
        process.start()
    found = [told.get(timeout=600) for _ in range(5 * count)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert {action for action, _ in found} == {"created"}
    with engine.store.read() as reader:
        assert len(reader.get([one for _, one in found])) == 5 * count
    assert engine.verify() == []


@pytest.mark.slow
def test_r53_the_log_stays_below_the_ceiling_beside_readers_of_any_kind(engine: Engine, tmp_path: Path) -> None:
    """At the real ceiling: beside an export that is taken slowly all is written, beside a stuck reader it is refused in time."""
    path, largest = engine.store.path, 0
    write(engine, 0, 200)
    taking = exchange.export(engine)
    for first in range(0, round(20_000 * SCALE), 200):
        next(taking, None)
        write(engine, first, 200)
        largest = max(largest, log_bytes(path))
    assert largest <= LOG_CEILING
    assert disk_ratio(engine, tmp_path) <= 2
    with stuck_reader(engine):
        with pytest.raises(Busy):
            for first in range(10**6, 10**7, 200):
                write(engine, first, 200)
                largest = max(largest, log_bytes(path))
        assert LOG_CEILING // 2 < largest <= LOG_CEILING
    write(engine, 10**8, 200)
    assert log_bytes(path) < LOG_CEILING // 2
    assert engine.verify() == []


@pytest.mark.slow
def test_r55_a_thousand_equal_imports(engine: Engine, tmp_path: Path) -> None:
    exchange.import_memories(engine, offered(20), PERSON)
    before = engine.figures()
    for _ in range(round(1000 * SCALE)):
        exchange.import_memories(engine, offered(20), PERSON)
    assert engine.figures() == before
    assert disk_ratio(engine, tmp_path) <= 2


@pytest.mark.slow
def test_compact_killed_at_any_moment_leaves_a_whole_store(tmp_path: Path) -> None:
    engine = opening.open_store(str(tmp_path / "a.db"))
    emptied(engine)
    kept = contents(engine)
    code = "import sys; from hardwon.engine.opening import open_store; e = open_store(sys.argv[1]); print(1, flush=True); e.compact()"
    for delay in (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16):
        engine.add_changes(changes(100, 2000))
        rewritten.apply(engine, rewritten.Rewritten(frozenset(change.sha for change in changes(100, 2000))))
        process = subprocess.Popen([sys.executable, "-c", code, engine.store.path], stdout=subprocess.PIPE)
        assert process.stdout and process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert engine.verify() == []
        assert contents(engine) == kept
    engine.close()
