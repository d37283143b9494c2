"""What upkeep costs those who write beside it, and how large log and file may grow.

``holds``: for each long operation on a repository's memory, how long it holds the writers' lock at a time, and how long each of some
writers beside it waits at worst. ``log``: many writes beside a reader of ours (an export that is taken slowly, and one view that is
held), and beside a foreign one that is stuck: size of the log, and whether writing goes on afterwards. ``disk``: what is imported,
ingested, indexed again and again, against the size of what lives.

Examples::

    python bench/bounds.py --repository ~/src/curl
    python bench/bounds.py --repository ~/src/curl --only log --writes 200000 --json bounds.json
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from typing import Any

from common import percentile, report, say, table, write_json
from hardwon.engine import exchange, rewritten, vectors
from hardwon.engine.core import Engine
from hardwon.engine.opening import create, open_engine
from hardwon.errors import Busy
from hardwon.importers.source import Incoming
from hardwon.store import lock
from hardwon.store.ceiling import log_bytes
from hardwon.store.ids import uuid7
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Draft, ExportedMemory, Filter, Memory, Origin, Scope, Version

_PERSON, _AGENT = Scope(Origin("person")), Scope(Origin("agent", "bench"))
_DIMENSIONS = 384
# A reader of another program's, on a snapshot that it keeps.
_STUCK = """
import apsw, sys
connection = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM settings").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""


class Holds:
    """How long this process holds a store's writers' lock, each time; and what it computes meanwhile, for on a machine that is busy
    with other work the clock tells more of that."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.cpu: list[float] = []
        acquire, release = lock.FileLock.acquire, lock.FileLock.release
        begun: dict[int, tuple[float, float]] = {}

        def acquired(this: lock.FileLock, timeout: float) -> None:
            acquire(this, timeout)
            if this.path.endswith(".db.lock"):
                begun[id(this)] = time.perf_counter(), time.process_time()

        def released(this: lock.FileLock) -> None:
            release(this)
            if (since := begun.pop(id(this), None)) is not None:
                self.seconds.append(time.perf_counter() - since[0])
                self.cpu.append(time.process_time() - since[1])

        lock.FileLock.acquire, lock.FileLock.release = acquired, released  # type: ignore[method-assign]


def write_beside(place: str, home: str, number: int, stop: Event, told: Any) -> None:
    """Record again and again, as an agent does; the waits in seconds, and how many were refused."""
    engine = open_engine(place, home)
    waits, refused = [], 0
    while not stop.is_set():
        begun = time.perf_counter()
        receipt = engine.record(Draft(f"writer {number}: the pool was exhausted, {os.urandom(6).hex()}"), _AGENT)
        refused += receipt.action == "spooled"
        waits.append(time.perf_counter() - begun)
        time.sleep(0.02)
    told.put((waits, refused))


class Writers:
    """Processes that write beside what is measured, as a context."""

    def __init__(self, place: str, home: str, count: int) -> None:
        self._stop, self._told = multiprocessing.Event(), multiprocessing.Queue()
        self._processes = [
            multiprocessing.Process(target=write_beside, args=(place, home, number, self._stop, self._told))
            for number in range(count)
        ]
        self.waits: list[float] = []
        self.refused = 0

    def __enter__(self) -> Writers:
        for process in self._processes:
            process.start()
        time.sleep(0.3 * len(self._processes))  # until all of them are at it
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for _process in self._processes:
            waits, refused = self._told.get()
            self.waits += waits
            self.refused += refused
        for process in self._processes:
            process.join()


def measured(name: str, engine: Engine, holds: Holds, writers: int, work: Callable[[], object]) -> dict[str, Any]:
    """One operation beside the writers."""
    say(f"  {name}")
    home = os.path.dirname(os.path.dirname(engine.store.path))
    with Writers(engine.home.cwd, home, writers) as beside:
        holds.seconds.clear()
        holds.cpu.clear()
        begun = time.perf_counter()
        work()
        seconds = time.perf_counter() - begun
        held, cpu = list(holds.seconds), list(holds.cpu)
    waits = beside.waits
    row = {
        "operation": name, "seconds": round(seconds, 2), "holds": len(held), "hold_p99_ms": round(1000 * percentile(held, 0.99), 1),
        "hold_max_ms": round(1000 * max(held, default=0.0), 1), "cpu_max_ms": round(1000 * max(cpu, default=0.0), 1),
        "wait_p50_ms": round(1000 * percentile(waits, 0.5), 1), "wait_max_ms": round(1000 * max(waits, default=0.0), 1),
        "writes": len(waits), "refused": beside.refused,
    }  # fmt: skip
    say(f"    {row}")
    return row


def incoming(count: int, tag: str = "bulk") -> Iterator[Incoming]:
    """Memories from elsewhere, the same each time."""
    for number in range(count):
        at = 1_700_000_000_000 + number
        memory = Memory(
            id=uuid7(at, number.to_bytes(10, "big")), number=None, kind="fact", outcome=None, created_at=at, updated_at=at, valid_from=at,
            text=f"service {number} reads its queue {number * 7919 % 1000} in batches of {number % 97}", tags=(tag,), trust="claimed",
            detail=f"module{number % 500}.worker_{number % 31} retries after {number % 13} seconds", origin=Origin("agent", "bench"),
        )  # fmt: skip
        yield Incoming(f"line {number}", ExportedMemory(memory, (Version(memory.id, 1, memory, at, None),), ()), "")


def embed(engine: Engine, model: str, count: int) -> None:
    """Vectors without a model: what is measured is how they are kept."""
    with engine.store.read() as reader:
        ids = [memory.id for memory in reader.find(Filter(statuses=()), count)]
    for begin in range(0, len(ids), 64):
        rows = [(one, os.urandom(16), os.urandom(4 * _DIMENSIONS)) for one in ids[begin : begin + 64]]
        with engine.write() as writer:
            writer.put_vectors(model, rows)


def holds_of(repository: str, home: str, writers: int, scale: float, wanted: list[str]) -> list[dict[str, Any]]:
    """Long operations, one after the other, on one memory."""
    holds = Holds()
    engine = create(repository, home)
    many, some = round(100_000 * scale), round(20_000 * scale)
    notes = min(many, 10_000)

    def lost() -> None:
        with engine.store.read() as reader:
            shas = sorted(reader.known_commits())[: round(2000 * scale)]
        rewritten.apply(engine, rewritten.Rewritten(frozenset(shas), frozenset(), ()))

    def forget() -> None:
        with engine.store.read() as reader:
            ids = tuple(memory.id for memory in reader.find(Filter(tags=("bulk",)), notes))
        engine.forget(Filter(ids=ids), _PERSON, dry_run=False)

    operations: tuple[tuple[str, Callable[[], object]], ...] = (
        ("ingest git", engine.ingest_history),
        ("settle history", engine.settle_history),
        ("ingest docs", engine.ingest_documents),
        ("ingest deps", engine.ingest_dependencies),
        (f"import of {many:,}", lambda: exchange.import_memories(engine, incoming(many), _PERSON)),
        ("the same again", lambda: exchange.import_memories(engine, incoming(many), _PERSON)),
        (f"embed {some:,}", lambda: embed(engine, "one", some)),
        (f"embed {some:,} anew", lambda: embed(engine, "two", some)),
        ("supersede vectors", lambda: vectors._supersede(engine, "two")),
        (f"forget {notes:,}", forget),
        (f"undo of {notes:,}", lambda: engine.undo("", _PERSON)),
        ("history rewritten", lost),
        ("rebuild", engine.rebuild),
        ("compact", engine.compact),
        ("compact --full", lambda: engine.compact(full=True)),
    )
    chosen = [(name, work) for name, work in operations if any(word in name for word in wanted)]
    return [measured(name, engine, holds, writers, work) for name, work in chosen]


def write_many(engine: Engine, count: int) -> tuple[int, int]:
    """Record without rest, by slices as a program does; bytes of the log at its largest, and how many were kept."""
    largest = kept = 0
    for begin in range(0, count, 100):
        items = [(str(number), Draft(f"{number}: {number * 7919}")) for number in range(begin, min(begin + 100, count))]
        try:
            kept += len(engine.upsert(items, _PERSON))
        except Busy:
            return max(largest, log_bytes(engine.store.path)), kept
        largest = max(largest, log_bytes(engine.store.path))
    return largest, kept


def log_of(home: str, writes: int) -> list[dict[str, Any]]:
    """The log beside readers."""
    rows = []
    for name, reading in (("no reader", None), ("our export, taken slowly", _export), ("our view, held", _view)):
        say(f"  {name}")
        engine = _fresh(home, name)
        if reading:
            write_many(engine, 2000)
        child = multiprocessing.Process(target=reading, args=(engine.home.cwd, home)) if reading else None
        if child:
            child.start()
            time.sleep(1)
        begun = time.perf_counter()
        largest, kept = write_many(engine, writes)
        if child:
            child.kill()
            child.join()
        rows.append(_log_row(name, engine, largest, kept, time.perf_counter() - begun))
    say("  a foreign reader, stuck")
    engine = _fresh(home, "foreign")
    stuck = subprocess.Popen([sys.executable, "-c", _STUCK, engine.store.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert stuck.stdout
    stuck.stdout.readline()
    begun = time.perf_counter()
    largest, kept = write_many(engine, writes)
    try:
        engine.upsert([("refused", Draft("refused"))], _PERSON)
        told = "nothing"
    except Busy as error:
        told = error.message
    rows.append(_log_row("a foreign reader, stuck", engine, largest, kept, time.perf_counter() - begun) | {"told": told})
    stuck.send_signal(signal.SIGKILL)
    stuck.wait()
    largest, more = write_many(engine, 1000)
    rows.append(_log_row("when it is gone", engine, largest, more, 0.0))
    return rows


def _fresh(home: str, name: str) -> Engine:
    place = os.path.join(home, "place", name.replace(" ", "-").replace(",", ""))
    os.makedirs(place)
    return create(place, home)


def _export(place: str, home: str) -> None:
    for _item in exchange.export(open_engine(place, home)):
        time.sleep(0.02)


def _view(place: str, home: str) -> None:
    """As a read that takes long: statement after statement in one snapshot, and anew when it was ended."""
    engine = open_engine(place, home)
    while True:
        try:
            with engine.store.read() as reader:
                while True:
                    reader.figures()
                    time.sleep(0.05)
        except Busy as error:
            say(f"    it gave way: {error.message}")
            time.sleep(1)


def _log_row(name: str, engine: Engine, largest: int, kept: int, seconds: float) -> dict[str, Any]:
    engine.persist()
    return {
        "beside": name, "kept": kept, "seconds": round(seconds, 1), "log_mb": round(largest / 1e6, 1),
        "after_mb": round(log_bytes(engine.store.path) / 1e6, 1), "disk_ratio": round(_ratio(engine), 2),
    }  # fmt: skip


def _ratio(engine: Engine) -> float:
    """Bytes on the disk against those of the same content in a file of its own."""
    assert isinstance(engine.store, SqliteStore)
    path = engine.store.path
    used = os.path.getsize(path) + log_bytes(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.db")
        engine.store.connection(readonly=False).execute("VACUUM INTO ?", (copy,))
        return used / os.path.getsize(copy)


def disk_of(repository: str, home: str, times: int) -> list[dict[str, Any]]:
    """What is done again: the memory stays what it was, and the disk bounded."""
    engine = create(repository, home)
    engine.ingest_history(2000)
    rows = []
    operations: tuple[tuple[str, Callable[[], object]], ...] = (
        ("ingest git", lambda: engine.ingest_history(2000)),
        ("ingest docs", engine.ingest_documents),
        ("ingest deps", engine.ingest_dependencies),
        ("rebuild", engine.rebuild),
        (f"the same import, {times} times", lambda: [_again(engine) for _ in range(times)]),
        ("vectors, twice", lambda: [embed(engine, "one", 2000) for _ in range(2)]),
    )
    for name, work in operations:
        say(f"  {name}")
        work()
        before = engine.figures()
        work()
        rows.append({"again": name, "same": engine.figures() == before, "disk_ratio": round(_ratio(engine), 2)})
    return rows


def _again(engine: Engine) -> object:
    return exchange.import_memories(engine, incoming(20, "again"), _PERSON)


def shown(rows: list[dict[str, Any]]) -> str:
    """Rows of a section as a table."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    return table(head, [[row.get(name, "") for name in head] for row in rows])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", default=".", help="whose history the memory is made of")
    parser.add_argument("--home", help="a HARDWON_HOME that has the repository's memory, to be copied; else one is made")
    parser.add_argument("--only", default="holds,log,disk", help="sections, separated by commas")
    parser.add_argument("--of", default="", help="in `holds`: only operations whose names contain one of these words")
    parser.add_argument("--writers", type=int, default=4, help="processes that write beside each operation")
    parser.add_argument("--writes", type=int, default=200_000, help="memories that are written beside a reader")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="of the counts in `holds`: import of 100,000, forget of 10,000, …"
    )
    parser.add_argument("--times", type=int, default=1000, help="how often the same is imported")
    parser.add_argument("--json", help="where to write the figures")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for section in options.only.split(","):
        say(section)
        with tempfile.TemporaryDirectory(prefix="bounds-") as home:
            if section == "holds":
                if options.home:
                    shutil.copytree(options.home, home, dirs_exist_ok=True)
                found[section] = holds_of(
                    os.path.abspath(options.repository), home, options.writers, options.scale, options.of.split(",")
                )
            elif section == "log":
                found[section] = log_of(home, options.writes)
            else:
                found[section] = disk_of(os.path.abspath(options.repository), home, options.times)
        print(f"\n{section}\n\n{shown(found[section])}", flush=True)
    write_json(options.json, report("bounds", 0, [], found))


if __name__ == "__main__":
    main()
