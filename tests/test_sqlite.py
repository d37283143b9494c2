"""What only a real file can show: durability settings, modes, upgrades, damage, locks, several processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest

from hardwon.errors import Busy, Damaged, DiskFull, NoStore, ReadOnly, SchemaNewer, SchemaOlder
from hardwon.store import schema, upgrade
from hardwon.store.connection import CHECKPOINT_BYTES, SCHEMA, engine_is_safe, translate
from hardwon.store.handle import Handle
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Filter
from tests.test_store import keep, lesson


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "stores" / "a.db")


def make(path: str, *numbers: int) -> SqliteStore:
    store = SqliteStore(path)
    with store.write() as writer:
        writer.set_setting("replica", "here")
        for number in numbers:
            keep(writer, lesson(number), "one", f"word{number}")
    return store


def test_files_are_ours_alone(path: str) -> None:
    store = make(path, 1)
    folder = Path(path).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {entry.name: oct(stat.S_IMODE(entry.stat().st_mode)) for entry in folder.iterdir()} == dict.fromkeys(
        ("a.db", "a.db-wal", "a.db-shm", "a.db.lock"), "0o600"
    )
    store.close()


def test_every_commit_is_synced(path: str) -> None:
    store = make(path, 1)
    connection = store.connection(readonly=False)
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2
    assert connection.pragma("foreign_keys") == 1
    assert connection.pragma("secure_delete") == 2
    store.close()


@pytest.mark.parametrize(
    ("version", "safe"),
    [("3.40.1", False), ("3.44.5", False), ("3.44.6", True), ("3.45.0", False), ("3.50.6", False), ("3.50.7", True),
     ("3.51.2", False), ("3.51.3", True), ("3.54.0", True), ("4.0.0", True)],
)  # fmt: skip
def test_engines_that_can_lose_commits_are_refused(version: str, safe: bool) -> None:
    assert engine_is_safe(version) is safe


def test_the_log_stays_short_under_short_lived_writers(path: str) -> None:
    """Each process opens the store, writes once and goes, as commands and hooks do."""
    make(path).close()
    largest = 0
    for number in range(1, 80):
        store = SqliteStore(path)
        with store.write() as writer:
            keep(writer, lesson(number), *(f"word{number}x{i}" for i in range(20)))
        store.close()
        largest = max(largest, Path(path + "-wal").stat().st_size)
    assert largest < 2 * CHECKPOINT_BYTES
    assert SqliteStore(path).check() == []


def test_a_reader_that_stays_does_not_stop_writers(path: str) -> None:
    store = make(path, 1)
    reader = SqliteStore(path)
    with reader.read() as view:
        assert view.figures()["memories"] == 1
        for number in range(2, 60):
            with store.write() as writer:
                keep(writer, lesson(number), *(f"word{number}x{i}" for i in range(20)))
        assert view.figures()["memories"] == 1
    with store.write() as writer:
        keep(writer, lesson(60), "one")
    assert Path(path + "-wal").stat().st_size < CHECKPOINT_BYTES
    assert store.failed_checkpoints == 0
    reader.close()
    store.close()


def test_a_reader_makes_nothing(path: str) -> None:
    with pytest.raises(NoStore), SqliteStore(path).read():
        pass
    assert not Path(path).parent.exists()


def test_reading_changes_no_byte_of_a_quiet_store(path: str) -> None:
    make(path, 1, 2).close()
    before = Path(path).read_bytes(), Path(path + "-wal").read_bytes()
    store = SqliteStore(path)
    with store.read() as reader:
        reader.figures()
        reader.events()
    assert store.check() == []
    store.close()
    assert (Path(path).read_bytes(), Path(path + "-wal").read_bytes()) == before


def test_a_later_schema_is_left_untouched(path: str) -> None:
    store = make(path, 1)
    store.connection(readonly=False).pragma("user_version", SCHEMA + 1)
    store.close()
    before = Path(path).read_bytes()
    for attempt in (SqliteStore(path).read, SqliteStore(path).write):
        with pytest.raises(SchemaNewer), attempt():
            pass
    assert Path(path).read_bytes() == before


def test_readers_do_not_upgrade(path: str) -> None:
    store = make(path, 1)
    connection = store.connection(readonly=False)
    connection.pragma("user_version", SCHEMA - 1)
    store.close()
    with pytest.raises((SchemaOlder, NoStore)), SqliteStore(path).read():
        pass


NEXT = (*schema.STEPS, (SCHEMA + 1, "next", "CREATE TABLE next (a); INSERT INTO next VALUES (1)"))


def test_the_number_of_the_schema_is_that_of_its_last_step() -> None:
    assert [number for number, _, _ in schema.STEPS] == list(range(1, SCHEMA + 1))


def test_an_upgrade_backs_up_first_and_records_the_step(path: str) -> None:
    make(path, 1).close()
    connection = apsw.Connection(path)
    upgrade.upgrade(connection, path, "test", 77, NEXT)
    assert connection.pragma("user_version") == SCHEMA + 1
    assert connection.execute("SELECT name, applied_at, made_by FROM schema_steps ORDER BY step").get == (
        [*((name, 0, "") for _, name, _ in schema.STEPS), ("next", 77, "test")]
    )
    connection.close()
    saved = SqliteStore(f"{path}.before-step-{SCHEMA + 1}")
    with saved.read() as reader:
        assert reader.figures()["lesson"] == 1
    assert saved.check() == []
    saved.close()


def test_a_step_that_fails_leaves_the_old_schema(path: str) -> None:
    make(path, 1).close()
    connection = apsw.Connection(path)
    broken = (*schema.STEPS, (SCHEMA + 1, "broken", "CREATE TABLE next (a); INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(apsw.SQLError):
        upgrade.upgrade(connection, path, "test", 77, broken)
    assert connection.pragma("user_version") == SCHEMA
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'next'").get == 0
    connection.close()


def test_a_store_that_is_being_made_is_never_seen_half_made(path: str) -> None:
    """At each commit of the one that makes it, another connection sees no tables at all, or all of them."""
    Path(path).parent.mkdir()
    maker, beside = apsw.Connection(path), apsw.Connection(path)
    seen: list[int] = []

    def look() -> bool:
        seen.append(beside.pragma("user_version"))
        return False

    maker.pragma("journal_mode", "wal")
    maker.set_commit_hook(look)
    upgrade.upgrade(maker, path, "test", 0)
    seen.append(beside.pragma("user_version"))
    assert set(seen) == {0, SCHEMA}
    maker.close()
    beside.close()


def test_another_programs_database_is_not_touched(path: str) -> None:
    Path(path).parent.mkdir()
    other = apsw.Connection(path)
    other.execute("CREATE TABLE theirs (a)")
    other.close()
    with pytest.raises(Damaged), SqliteStore(path).write():
        pass
    check = apsw.Connection(path)
    assert check.execute("SELECT name FROM sqlite_schema").get == "theirs"


@pytest.mark.parametrize("content", [b"garbage" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_garbled_file_is_named_and_kept(path: str, content: bytes) -> None:
    Path(path).parent.mkdir()
    Path(path).write_bytes(content)
    for attempt in (SqliteStore(path).read, SqliteStore(path).write):
        with pytest.raises(Damaged), attempt():
            pass
    assert Path(path).read_bytes() == content


def test_errors_are_told_apart() -> None:
    assert isinstance(translate(apsw.BusyError(), "x"), Busy)
    assert isinstance(translate(apsw.FullError(), "x"), DiskFull)
    assert isinstance(translate(apsw.IOError(), "x", errno=27), DiskFull)
    assert isinstance(translate(apsw.ReadOnlyError(), "x"), ReadOnly)
    assert isinstance(translate(apsw.CorruptError(), "x"), Damaged)
    assert not isinstance(translate(apsw.IOError(), "x"), Damaged)


def test_the_second_writer_waits_and_gives_up_at_its_deadline(path: str) -> None:
    store = make(path)
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        other = SqliteStore(path)
        with other.write():
            entered.set()
            leave.wait(10)
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(10)
    with pytest.raises(Busy), store.write(timeout=0.05):
        pass
    with store.read() as reader:
        assert reader.figures()["memories"] == 0
    leave.set()
    with store.write(timeout=10) as writer:
        keep(writer, lesson(1), "one")
    thread.join()
    store.close()


def test_a_begin_that_was_interrupted_does_not_touch_a_later_transaction(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its object lives on in the traceback, and goes while the later transaction is open."""
    store = make(path)

    def interrupted(_handle: Handle) -> dict[str, int]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Handle, "term_ids", interrupted)
        transaction = store.write()
        with pytest.raises(KeyboardInterrupt):
            transaction.__enter__()
    with store.write() as writer:
        keep(writer, lesson(1), "one")
        del transaction
    with store.read() as reader:
        assert reader.figures()["memories"] == 1
    store.close()


def test_a_transaction_inside_a_transaction_is_a_mistake(path: str) -> None:
    store = make(path)
    with store.write(), pytest.raises(RuntimeError), store.write():
        pass
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("UPDATE memories SET detail = 'altered' WHERE number = 1", "memory"),
        ("UPDATE anchors SET path = 'other.py'", "memory"),
        ("UPDATE versions SET text = 'altered'", "version"),
        ("UPDATE events SET at = at + 1 WHERE seq = 1", "event 1"),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 2", "event"),
        ("PRAGMA foreign_keys = 0; DELETE FROM events WHERE seq = 1", "event 2"),
        ("PRAGMA foreign_keys = 0; DELETE FROM events WHERE seq = 2", "events"),
        ("UPDATE occurrences SET outcome = 'worked' WHERE id = 1", "memory"),
        ("DELETE FROM occurrences WHERE id = 1", "memory"),
        ("DELETE FROM versions WHERE memory = (SELECT id FROM memories WHERE key = 1)", "memory"),
        ("DELETE FROM memories WHERE key = 1", "memory"),
        ("UPDATE terms SET documents = documents + 1 WHERE term = 'one'", "terms"),
        ("DELETE FROM documents WHERE memory = 1", "search"),
        ("UPDATE corpus SET total = 9 WHERE name = 'documents'", "corpus"),
        ("INSERT INTO search (search, rowid, terms) VALUES ('delete', 1, '1 2')", "search"),
    ],
)
def test_verify_finds_what_was_altered(path: str, statement: str, where: str) -> None:
    store = make(path, 1, 2)
    assert store.check() == []
    store.connection(readonly=False).execute(statement)
    found = store.check()
    assert any(finding.where.startswith(where) for finding in found), found
    store.close()


def test_what_was_removed_from_the_index_leaves_no_word_in_the_file(path: str) -> None:
    from hardwon.types import Lexical

    store = make(path, 1, 2)
    with store.write() as writer:
        writer.put(lesson(2), b"", Lexical({"unmistakable": 1}, (1, 0, 0, 0, 0, 0)))
    with store.write() as writer:
        writer.put(lesson(2), b"", Lexical({"other": 1}, (1, 0, 0, 0, 0, 0)))
        assert writer.frequencies(["unmistakable"]) == {}
    store.connection(readonly=False).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    assert b"unmistakable" not in Path(path).read_bytes()
    assert SqliteStore(path).check() == []


WRITER = """
import sys
import hardwon
from hardwon.types import Anchor
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
engine = hardwon.open_store(path, wait=120)
for number in range(count):
    draft = hardwon.Draft(f"{name} lesson {number}", "lesson", "failed", anchors=(Anchor(f"{name}.py", f"{name}.run{number % 7}"),))
    receipt = engine.record(draft, hardwon.Scope())
    sys.stdout.write(receipt.id + "\\n")
    sys.stdout.flush()
"""


def start(path: str, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, path, name, str(count)], stdout=subprocess.PIPE, text=True)


def acknowledged(process: subprocess.Popen[str]) -> list[str]:
    """Ids that were printed whole: a last line without its end was not acknowledged to anybody."""
    output = process.communicate(timeout=600)[0]
    return [line for line in output.split("\n")[:-1] if line]


def _count(variable: str, default: int) -> int:
    return max(1, round(default * float(os.environ.get(variable, "1"))))


def write_together(path: str, count: int) -> None:
    import hardwon
    from hardwon.types import Query, Scope

    hardwon.open_store(path).close()
    writers = [start(path, name, count) for name in ("left", "right")]
    reader = hardwon.open_store(path)
    recalls = 0
    while any(writer.poll() is None for writer in writers):
        reader.recall(Query("lesson left right", floor=0.0), Scope())
        recalls += 1
        time.sleep(0.01)
        if recalls > 100_000:
            break
    ids = [identifier for writer in writers for identifier in acknowledged(writer)]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(set(ids)) == 2 * count
    with reader.store.read() as view:
        assert len(view.get(ids)) == 2 * count
    assert reader.verify() == []
    assert recalls > 0
    reader.close()


@pytest.mark.slow
def test_two_processes_write_while_a_third_recalls(path: str) -> None:
    write_together(path, 100)


@pytest.mark.slow
def test_two_processes_write_a_thousand_lessons_each_while_a_third_recalls(path: str) -> None:
    write_together(path, _count("HARDWON_SCALE", 1000))


def test_questions_about_a_place_read_an_index_and_not_every_memory(path: str) -> None:
    store = make(path, 1, 2, 3)
    connection = store.connection(readonly=True)
    asked: list[tuple[str, object]] = []

    def note(cursor: object, sql: str, values: object) -> bool:
        asked.append((sql, values))
        return True

    active = Filter(statuses=("active",))
    with store.read() as reader:
        connection.exec_trace = note
        reader.of_file("src/a.py", active, 10)
        reader.anchored("src/a.py", "f", active, 10)
        reader.experiences("f", "src/a.py", True)
        reader.spoken_of({"f"})
        reader.twin(b"x")
        reader.find(active.replace(session="s"), 10)
        connection.exec_trace = None
        plans = [(sql, str(row[3])) for sql, values in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert len(asked) >= 6
    assert [(sql, plan) for sql, plan in plans if plan.startswith("SCAN ") and "json_each" not in plan] == []
    store.close()
