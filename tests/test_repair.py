"""Repair: every intact row is kept, what can be told from elsewhere is, what is lost is named, and the damaged file stays."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from hardwon.engine import opening, repair
from hardwon.engine.core import Engine
from hardwon.engine.examination import look
from hardwon.errors import Busy, Damaged, StoreError
from hardwon.store.connection import PLAIN, Access
from hardwon.store.lock import FileLock
from hardwon.store.mending.log_frames import newest_pages
from hardwon.store.mending.mend import mend
from hardwon.store.mending.pages import PAGE, record, varint
from hardwon.store.mending.salvage import DERIVED, salvage, shapes
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Draft, Filter, Origin, Revision, Scope
from hardwon.upkeep import replay
from hardwon.upkeep.revise import occurrence_statuses
from tests.dying import CountingDisk, RefusingDisk, kills, used

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

PERSON = Scope(Origin("person"))
AGENT = Scope(Origin("agent", "tester", "s1"))
COUNT = 150
REPOSITORY = "00000000-0000-0000-0000-000000000000"
TRUTH = ("settings", "events", "versions", "memories", "anchors", "occurrences", "links", "aliases", "changes", "vectors")
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "rho", "sigma", "tau")


def fill(path: Path, seed: int, count: int) -> None:
    """A store of many memories with all that can happen to them, its last changes in the log."""
    rng = random.Random(seed)
    engine = opening.open_store(str(path))
    ids: list[str] = []
    for number in range(count):
        long = rng.choice((2, 20, 700))
        draft = Draft(
            text=f"note {number} " + " ".join(rng.choices(WORDS, k=6)),
            kind=rng.choice(("fact", "rule", "decision", "howto")),
            detail=" ".join(rng.choices(WORDS, k=long)),
            anchors=(Anchor(f"src/{number % 9}.py", f"S{number % 7}.run"),) * rng.randrange(2),
            tags=tuple(rng.sample(WORDS, k=rng.randrange(3))),
        )
        ids.append(engine.record(draft, rng.choice((PERSON, AGENT))).id)
        if number == count * 9 // 10:
            engine.persist()
    for one in rng.sample(ids, count // 5):
        _happen(engine, rng, one, ids)
    engine.persist()
    for one in rng.sample(ids, 20):
        _happen(engine, rng, one, ids)
    engine.close()


def _happen(engine: Engine, rng: random.Random, one: str, ids: list[str]) -> None:
    what = rng.randrange(8)
    if what == 0:
        engine.revise(one, Revision(text="revised " + " ".join(rng.choices(WORDS, k=5))), PERSON)
    elif what == 1:
        engine.set_status(one, rng.choice(("resolved", "inactive")), PERSON)
    elif what == 2:
        engine.forget(Filter(ids=(one,)), PERSON, dry_run=False)
    elif what == 3 and rng.choice(ids) != one:
        engine.link(one, rng.choice([other for other in ids if other != one]), "supports", PERSON)
    elif what == 4:
        engine.approve(one, PERSON)
    elif what == 5:
        engine.feedback(one, "useful", AGENT)
    else:
        engine.set_status(one, "inactive", PERSON)
        engine.undo(one, PERSON)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One such store for the module."""
    path = tmp_path_factory.mktemp("made") / "s.db"
    fill(path, 7, COUNT)
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    return copied(made, tmp_path / "stores")


def copied(path: Path, folder: Path) -> Path:
    shutil.copytree(path.parent, folder)
    for end in ("-shm", ".lock"):
        (folder / (path.name + end)).unlink(missing_ok=True)
    return folder / path.name


def engine_at(path: Path, access: Access = PLAIN) -> Engine:
    return Engine(SqliteStore(str(path), make=False, access=access), REPOSITORY)


def rows(path: Path, *tables: str) -> dict[str, set[Any]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = {table: set(connection.execute(f"SELECT * FROM {table}")) for table in tables or TRUTH}
    connection.close()
    return found


def whole(path: Path) -> None:
    """All of the log in the file, and no log."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


def damage(path: Path, seed: int, share: float) -> list[int]:
    """Some pages zeroed, filled with garbage, or with one bit changed; their numbers."""
    rng = random.Random(seed)
    pages = path.stat().st_size // PAGE
    chosen = rng.sample(range(1, pages + 1), max(2, round(pages * share)))
    with path.open("r+b") as file:
        for number in chosen:
            file.seek((number - 1) * PAGE)
            before = file.read(PAGE)
            how = rng.randrange(3)
            place = rng.randrange(PAGE)
            flipped = bytes([before[place] ^ 1 << rng.randrange(8)])
            after = (
                bytes(PAGE) if how == 0 else rng.randbytes(PAGE) if how == 1 else before[:place] + flipped + before[place + 1 :]
            )
            file.seek((number - 1) * PAGE)
            file.write(after)
    return chosen


def on_pages(path: Path, pages: list[int]) -> dict[str, int]:
    """At most how many rows of each table have a byte on these pages, as SQLite itself tells of the intact file."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found: dict[str, int] = {}
    marks = ", ".join(map(str, pages))
    for name, kind, cells in connection.execute(f"SELECT name, pagetype, ncell FROM dbstat WHERE pageno IN ({marks})"):
        found[name] = found.get(name, 0) + (1 if kind == "overflow" else cells)
    connection.close()
    return found


# Gates


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 200))])
def test_every_row_that_is_whole_is_kept_after_damage_to_the_pages(made: Path, tmp_path: Path, seed: int) -> None:
    path = copied(made, tmp_path / "stores")
    whole(path)
    shutil.copy(path, intact := tmp_path / "intact.db")
    hit = damage(path, seed, (0.01, 0.02, 0.05)[seed % 3])
    found = salvage(str(path))
    lost_at_most = on_pages(intact, hit)
    for table, found_before in rows(intact).items():
        written = found_before
        declared = [row[1] for row in apsw.Connection(str(intact)).execute(f"PRAGMA table_info({table})")]
        kept = {tuple(row[name] for name in declared) for row in found.tables[table]}
        if table == "occurrences":  # whose own number nothing refers to, nor covers
            written, kept = {row[1:] for row in written}, {row[1:] for row in kept}
        assert not kept - written, f"{table}: a row that was never written"
        missing = len(written - kept)
        allowed = lost_at_most.get(table, 0) + (lost_at_most.get("anchors", 0) if table in ("memories", "anchors") else 0)
        allowed += lost_at_most.get("memories", 0) if table == "anchors" else 0
        assert missing <= allowed, (table, missing, allowed)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_a_repaired_store_is_whole_and_names_what_it_lacks(made: Path, tmp_path: Path, seed: int) -> None:
    path = copied(made, tmp_path / "stores")
    whole(path)
    before = rows(path)
    damage(path, seed, 0.03)
    with_damage = path.read_bytes()
    with_engine = engine_at(path)
    report = repair.repair(with_engine, PERSON)
    assert report.damaged
    assert report.probes
    assert Path(report.file).read_bytes() == with_damage
    assert [item for item in with_engine.verify() if item.level != "note"] == []
    after = rows(path)
    ids = {row[1] for row in before["memories"]} - {row[1] for row in after["memories"]}
    assert {bytes.fromhex(item.id.replace("-", "")) for item in report.lost} == ids
    numbers = {row[1]: row[2] for row in before["memories"]}
    for item in report.lost:
        assert item.number in (None, numbers[bytes.fromhex(item.id.replace("-", ""))])
    assert with_engine.record(Draft(text="life goes on"), PERSON).number not in set(numbers.values())
    assert repair.repair(with_engine, PERSON).damaged is False
    with_engine.close()


# Kinds of damage


def repaired(path: Path) -> tuple[repair.RepairReport, dict[str, set[Any]]]:
    engine = engine_at(path)
    report = repair.repair(engine, PERSON)
    assert [item for item in engine.verify() if item.level != "note"] == []
    engine.close()
    return report, rows(path)


def test_a_first_page_that_is_gone_costs_no_memory(store: Path) -> None:
    whole(store)
    before = rows(store)
    with store.open("r+b") as file:
        file.write(bytes(PAGE))
    report, after = repaired(store)
    assert report.damaged
    assert not report.lost
    for table in ("memories", "versions", "occurrences", "links", "anchors"):
        assert after[table] == before[table], table
    assert before["events"] <= after["events"]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["magic", "page size", "schema number"])
def test_a_header_with_one_bad_field_costs_nothing(store: Path, what: str) -> None:
    whole(store)
    before = rows(store)
    with store.open("r+b") as file:
        file.seek({"magic": 0, "page size": 16, "schema number": 47}[what])
        file.write(b"\x63")
    report, after = repaired(store)
    assert report.damaged
    assert after["memories"] == before["memories"]


def test_a_file_that_was_cut_keeps_what_is_before_the_cut(store: Path) -> None:
    whole(store)
    before = rows(store)
    size = store.stat().st_size
    os.truncate(store, size * 7 // 10 // PAGE * PAGE + 1000)
    report, after = repaired(store)
    assert report.damaged
    assert len(after["memories"]) >= len(before["memories"]) * 6 // 10
    assert report.lost  # those of which the journal still speaks
    assert all(row[2] is not None for row in after["memories"])  # a number of its own, if not the one that it had


@pytest.mark.slow
def test_a_bad_frame_in_the_log_costs_only_itself(store: Path) -> None:
    """SQLite would drop all that was committed after it."""
    shutil.copy(store, intact := store.with_name("intact.db"))
    shutil.copy(f"{store}-wal", f"{intact}-wal")
    before = rows(intact)
    log = Path(f"{store}-wal")
    raw = bytearray(log.read_bytes())
    assert len(raw) > 40 * PAGE
    raw[32 + 5 * (24 + PAGE) + 24 + 2000] ^= 4
    log.write_bytes(raw)
    read = rows(store)  # as SQLite does
    for end in ("-shm",):
        Path(f"{store}{end}").unlink(missing_ok=True)
    report, after = repaired(store)
    assert report.damaged
    assert len(read["events"]) <= len(before["events"]) - 5
    assert len(before["events"] - after["events"]) <= 2
    assert len(before["memories"] - after["memories"]) <= 2
    assert not report.lost
    assert Path(f"{report.file}-wal").read_bytes() == bytes(raw)


@pytest.mark.parametrize("header", [b"\0" * 32, b"\xff" * 32])
def test_a_log_without_its_header_is_read_by_its_frames(store: Path, header: bytes) -> None:
    log = Path(f"{store}-wal").read_bytes()
    whole_pages = newest_pages(f"{store}-wal", PAGE)
    Path(f"{store}-wal").write_bytes(header + log[32:])
    assert len(newest_pages(f"{store}-wal", PAGE)) >= len(whole_pages) - 1


def test_damage_to_the_index_alone_is_made_whole(store: Path) -> None:
    before = rows(store)
    connection = apsw.Connection(str(store))
    connection.execute("DELETE FROM documents WHERE memory % 3 = 0; UPDATE terms SET documents = 5 WHERE id % 7 = 0")
    connection.close()
    report, after = repaired(store)
    assert report.damaged
    assert not report.lost
    assert after["memories"] == before["memories"]


# What is told from elsewhere


def broken(path: Path, table: str, where: str) -> int:
    """Rows of a table damaged as a flipped bit would: their words changed, their checksums not; how many."""
    column = {"memories": "text", "versions": "text", "events": "payload", "occurrences": "branch"}[table]
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE {table} SET {column} = {column} || '~' WHERE {where}")
    changed = connection.changes()
    connection.close()
    return changed


def test_a_row_is_told_from_its_versions_and_journal_to_the_letter(store: Path) -> None:
    before = rows(store)
    assert broken(store, "memories", "true") == COUNT
    report, after = repaired(store)
    assert report.restored["rows told from the journal"] == COUNT
    assert not report.lost
    assert after["memories"] == before["memories"]


@pytest.mark.slow
def test_a_version_is_told_from_the_row(store: Path) -> None:
    before = rows(store)
    broken(store, "versions", "true")
    report, after = repaired(store)
    assert not report.lost
    assert after["memories"] == before["memories"]
    assert {row[0] for row in after["versions"]} == {row[1] for row in before["memories"]}


@pytest.mark.slow
def test_an_occurrence_is_told_from_its_event_and_outlives_it(store: Path) -> None:
    before = rows(store)
    broken(store, "occurrences", "id % 2 = 0")
    broken(store, "events", "seq % 5 = 0")
    report, after = repaired(store)
    both = len([row for row in before["occurrences"] if row[0] % 2 == 0 and row[2] % 5 == 0])
    assert len(after["occurrences"]) == len(before["occurrences"]) - both
    assert report.restored["occurrences lost"] == both
    assert report.gaps
    assert not report.lost
    engine = engine_at(store)
    note = [item for item in engine.verify() if item.level == "note"]
    assert any("repair" in item.what for item in note)  # known, and told
    engine.close()


def test_a_memory_without_any_words_is_lost_and_named_by_its_number(store: Path) -> None:
    connection = apsw.Connection(str(store))
    raw = connection.execute("SELECT id FROM memories WHERE number = 42").get
    connection.close()
    broken(store, "memories", "number = 42")
    broken(store, "versions", f"memory = x'{raw.hex()}'")
    report, after = repaired(store)
    (lost,) = report.lost
    assert (lost.number, lost.id.replace("-", "")) == (42, raw.hex())
    assert "created" in lost.actions
    assert len(after["memories"]) == COUNT - 1
    engine = engine_at(store)
    assert engine.record(Draft(text="another"), PERSON).number == COUNT + 1
    engine.close()


@pytest.mark.slow
def test_status_changes_and_undo_go_on_after_a_repair(store: Path) -> None:
    broken(store, "events", "action = 'created' AND seq < 40")
    repaired(store)
    engine = engine_at(store)
    with pytest.raises(Exception, match="nothing"):
        engine.undo("", Scope(Origin("person", "nobody", "else")))
    engine.set_status("5", "resolved", PERSON)
    (receipt,) = engine.undo("", PERSON)
    assert receipt.number == 5
    assert [item for item in engine.verify() if item.level != "note"] == []
    engine.close()


@pytest.mark.slow
def test_damage_after_a_repair_is_damage_again(store: Path) -> None:
    broken(store, "events", "seq % 9 = 0")
    repaired(store)
    broken(store, "events", "seq % 11 = 0")
    broken(store, "versions", "version = 1")
    engine = engine_at(store)
    assert [item for item in engine.verify() if item.level == "error"]
    engine.close()
    report, _ = repaired(store)
    assert report.damaged


def test_the_journal_tells_each_row_of_a_busy_store(made: Path) -> None:
    """What the rule makes of a memory's journal is what its row says."""
    engine = engine_at(made)
    with engine.store.read() as reader:
        for memory in reader.find(Filter(), -1):
            last = reader.versions(memory.id)[-1]
            told = replay.row(last, reader.events(memory.id), reader.occurrences(memory.id), memory.number, memory.replaced_by)
            assert told == memory
    engine.close()


def test_every_table_of_the_schema_is_salvaged_or_made_anew() -> None:
    connection = apsw.Connection(":memory:")
    from hardwon.store.schema import RECORD, STEPS

    connection.execute(RECORD)
    for _, _, script in STEPS:
        connection.execute(script)
    tables = {
        name for (name,) in connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    }
    named = set(shapes()) | {name for name in tables if name.startswith(("sqlite_", *DERIVED))}
    assert tables == named
    assert set(shapes()) >= {*TRUTH, "erased", "terms", "documents"}


# What comes from git


def test_commits_that_are_bad_are_read_again_by_the_next_init(project: Path, call: Callable[..., Result], home: Path) -> None:
    (path,) = (home / "stores").glob("*.db")
    before = rows(path, "changes", "memories", "links")
    connection = apsw.Connection(str(path))
    connection.execute(
        "UPDATE changes SET files = files || ' ' WHERE memory IN (1, 3); DELETE FROM documents WHERE memory IN (2, 4)"
    )
    connection.close()
    done = call("repair", "--json")
    assert done.code == 0, done
    assert done.data["incomplete"] == 4
    assert call("init").code == 0
    assert rows(path, "changes")["changes"] == before["changes"]
    assert call("verify").code == 0
    assert call("recall", "retry uploads").out


# When it does nothing


def test_a_store_that_is_well_is_left_as_it_is(store: Path, project: Path, call: Callable[..., Result]) -> None:
    files = {file.name: file.read_bytes() for file in store.parent.iterdir() if not file.name.endswith("-shm")}
    engine = engine_at(store)
    assert repair.repair(engine, PERSON) == repair.RepairReport(False)
    engine.close()
    after = {file.name: file.read_bytes() for file in store.parent.iterdir() if not file.name.endswith("-shm")}
    assert {name: after[name] for name in files} == files
    assert call("repair").out == "nothing is damaged, and nothing was done\n"


@pytest.mark.slow
def test_dry_run_says_the_same_and_touches_nothing(store: Path) -> None:
    broken(store, "memories", "number < 30")
    whole(store)
    Path(f"{store}-wal").touch()
    content = store.read_bytes(), Path(f"{store}-wal").read_bytes()
    engine = engine_at(store)
    would = repair.repair(engine, PERSON, dry_run=True)
    assert (store.read_bytes(), Path(f"{store}-wal").read_bytes()) == content
    assert would.file == ""
    assert repair.repair(engine, PERSON).replace(file="", findings=()) == would.replace(findings=())
    engine.close()


class FlakyFile(apsw.VFSFile):
    """Fails its reads while it is told to."""

    left = 0
    skip = 0

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if FlakyFile.left and offset > 3 * PAGE:
            FlakyFile.skip -= 1
        if FlakyFile.left and offset > 3 * PAGE and FlakyFile.skip < 0:
            FlakyFile.left -= 1
            raise apsw.IOError("read")
        return bytes(super().xRead(amount, offset))


class Flaky(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("flaky", "unix")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return FlakyFile("unix", name, flags)


@pytest.mark.parametrize("skip", [0, 3, 40])
def test_a_read_that_fails_once_is_not_taken_for_damage(store: Path, skip: int) -> None:
    whole(store)
    vfs = Flaky()
    engine = engine_at(store, Access(vfs="flaky"))
    FlakyFile.left, FlakyFile.skip = 1, skip
    assert repair.repair(engine, PERSON).damaged is False
    assert FlakyFile.left == 0
    engine.close()
    del vfs


def test_a_disk_that_does_not_answer_is_an_error_and_not_damage(store: Path) -> None:
    whole(store)
    content = store.read_bytes()
    vfs = Flaky()
    engine = engine_at(store, Access(vfs="flaky"))
    FlakyFile.left = 1_000_000
    try:
        with pytest.raises(StoreError) as error:
            repair.repair(engine, PERSON)
        assert not isinstance(error.value, Damaged)
    finally:
        FlakyFile.left = 0
    engine.close()
    assert store.read_bytes() == content
    del vfs


def test_it_waits_for_writers_and_not_for_ever(store: Path) -> None:
    broken(store, "memories", "number < 30")
    lock = FileLock(f"{store}.lock")
    lock.acquire(1)
    engine = engine_at(store)
    engine.wait = 0.1
    with pytest.raises(Busy):
        repair.repair(engine, PERSON)
    lock.release()
    assert repair.repair(engine, PERSON).damaged
    engine.close()


# Done only when it is


class Spoiling(CountingDisk):
    """What is written beside the store is bad on the disk, whatever this process sees."""

    def at(self, number: int, name: str, words: tuple[Any, ...]) -> None:
        if name == "unlink" and str(words[0]).endswith(".part-wal") and os.path.exists(str(words[0])[:-4]):
            path = Path(str(words[0])[:-4])
            raw = bytearray(path.read_bytes())
            for place in range(5 * PAGE + 3000, len(raw), 3 * PAGE):
                raw[place] ^= 0xFF
            path.write_bytes(raw)


def test_a_repair_that_cannot_be_loaded_is_no_repair(store: Path) -> None:
    """Case R13: it says success, and what it made cannot be opened."""
    whole(store)
    broken(store, "memories", "number < 30")
    whole(store)
    content = store.read_bytes()
    engine = engine_at(store)
    with used(Spoiling()), pytest.raises(Damaged):
        repair.repair(engine, PERSON)
    assert store.read_bytes() == content
    assert sorted(file.name for file in store.parent.iterdir() if ".part" in file.name) == []
    engine.close()


def test_r13_a_repaired_store_answers_in_a_fresh_process(store: Path, run: Callable[..., Result]) -> None:
    """Case R13, the good way round: twenty questions after it."""
    broken(store, "memories", "number % 2 = 0")
    engine = engine_at(store)
    report = repair.repair(engine, PERSON)
    engine.close()
    assert report.probes == 20
    assert look(str(store), PLAIN, whole=True).ok


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_a_store_that_can_be_repaired(store: Path, tmp_path: Path) -> None:
    broken(store, "memories", "number < 30")
    whole(store)
    code = (
        "from hardwon.engine import repair; from hardwon.engine.core import Engine; from hardwon.store.sqlite import SqliteStore\n"
        "from hardwon.types import Scope, Origin\n"
        f"repair.repair(Engine(SqliteStore(sys.argv[2], make=False), '{REPOSITORY}'), Scope(Origin('person')))\n"
    )
    place = tmp_path / "killed"
    shutil.copytree(store.parent, place)
    for _ in kills(code, tmp_path, str(place / store.name)):
        engine = engine_at(place / store.name)
        repair.repair(engine, PERSON)
        assert engine.figures()["memories"] == COUNT
        assert [item for item in engine.verify() if item.level != "note"] == []
        engine.close()
        shutil.rmtree(place)
        shutil.copytree(store.parent, place)
    assert len(rows(place / store.name)["memories"]) == COUNT


@pytest.mark.slow
def test_a_disk_that_refuses_leaves_the_store_as_it_was(store: Path, tmp_path: Path) -> None:
    broken(store, "memories", "number < 30")
    counting = CountingDisk()
    with used(counting):
        engine = engine_at(copied(store, tmp_path / "count"))
        repair.repair(engine, PERSON)
        engine.close()
    for which in range(1, counting.calls + 1, 7):
        path = copied(store, tmp_path / str(which))
        engine = engine_at(path)
        with used(RefusingDisk(which, 28)):
            try:
                repair.repair(engine, PERSON)
            except StoreError:
                pass
        engine.close()
        engine = engine_at(path)
        repair.repair(engine, PERSON)
        assert engine.figures()["memories"] == COUNT, which
        engine.close()


# The format


def test_numbers_of_variable_length_are_read() -> None:
    for value, raw in ((0, b"\0"), (127, b"\x7f"), (128, b"\x81\0"), (16383, b"\xff\x7f"), (2**64 - 1, b"\xff" * 9)):
        assert varint(raw, 0) == (value, len(raw))


@pytest.mark.parametrize("payload", [b"", b"\x05", b"\x02\x0a", b"\x02\x01", b"\x03\x01\x17ab", b"\xff" * 9, b"\x02\x0f\xff"])
def test_bytes_that_are_no_record_are_refused(payload: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        record(payload)


def test_pages_of_noise_are_read_without_an_error(store: Path) -> None:
    whole(store)
    rng = random.Random(3)
    with store.open("r+b") as file:
        for number in range(store.stat().st_size // PAGE):
            file.seek(number * PAGE)
            file.write(bytes([rng.choice((2, 5, 10, 13))]) + rng.randbytes(PAGE - 1))
    found = salvage(str(store), PLAIN)
    assert not any(found.tables[table] for table in ("memories", "versions", "events", "occurrences"))
    assert mend(found, replay.row, occurrence_statuses).lost == ()
