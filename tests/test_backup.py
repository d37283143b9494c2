"""Backups: made while others write, checked before they count, and back again without a loss; whatever stops it, nothing is half."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from hardwon.engine import backup, opening, restore
from hardwon.engine.changes import identifier
from hardwon.engine.core import Engine
from hardwon.errors import Busy, Damaged, DiskFull, HardwonError, InvalidInput, SchemaNewer, StoreError, WrongKey
from hardwon.store import schema
from hardwon.store.contents import contents
from hardwon.store.keys import envelope
from hardwon.store.sqlite import SqliteStore
from hardwon.store.upgrade import upgrade
from hardwon.types import Change, Draft, Filter, Origin, Revision, Scope
from tests.conftest import git
from tests.dying import CountingDisk, RefusingDisk, kills, used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Result

PERSON = Scope(Origin("person"))
WRITER = """
import sys, time
from hardwon.engine import opening
from hardwon.types import Draft, Scope
engine = opening.open_engine(sys.argv[1], sys.argv[2], wait=60)
number = 0
while True:
    number += 1
    receipt = engine.record(Draft(text=f"writer {sys.argv[3]} note {number}"), Scope())
    print(receipt.id, flush=True)
"""


@pytest.fixture
def engine(project: Path, home: Path) -> Iterator[Engine]:
    """The memory of the small repository, with some things said."""
    opened = opening.open_engine(str(project), str(home))
    for number in range(1, 6):
        opened.record(Draft(text=f"note {number}", kind="rule"), PERSON)
    opened.revise("2", Revision(text="note two"), PERSON)
    yield opened
    opened.close()


def state(path: Path | str) -> dict[str, Any]:
    """All that a store says, without what is about the file."""
    with SqliteStore(str(path), make=False) as store, store.read():
        return contents(store.connection(readonly=True))


def texts(engine: Engine) -> set[str]:
    with engine.store.read() as reader:
        return {memory.text for memory in reader.find(Filter(kinds=("rule", "fact")), -1)}


def back(engine: Engine, home: Path, file: str | Path, **how: Any) -> restore.Restoration:
    with restore.candidate(engine, str(home), str(file), force=how.pop("force", False)) as found:
        return found.use(PERSON, **how)


def well(engine: Engine) -> bool:
    return not [item for item in engine.verify() if item.level != "note"]


def left_over(*folders: Path) -> list[str]:
    return sorted(file.name for folder in folders for file in folder.iterdir() if ".part" in file.name or ".swap" in file.name)


# Making


def test_a_backup_is_a_store_with_everything_in_one_file(engine: Engine, home: Path) -> None:
    done = backup.backup(engine, str(home))
    path = Path(done.file)
    assert path.parent == home / "backups" / "shop"
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600
    assert state(path) == state(engine.store.path)
    last = state(path)["events"][-1]
    assert (done.seq, bytes.fromhex(done.head)) == (last[0], last[-1])
    assert done.memories == engine.figures()["memories"]


@pytest.mark.slow
def test_the_newest_are_kept_and_the_one_just_made_always(engine: Engine, home: Path) -> None:
    made = [backup.backup(engine, str(home), keep=3).file for _ in range(4)]
    folder = Path(made[0]).parent
    assert sorted(str(file) for file in folder.iterdir()) == made[1:]
    (folder / "mine.txt").write_text("no backup")
    engine.clock = lambda: 1_000_000_000_000  # the clock went back by years
    done = backup.backup(engine, str(home), keep=1)
    assert {file.name for file in folder.iterdir()} == {Path(done.file).name, "mine.txt"}
    assert set(done.removed) == set(made[1:])


def test_a_file_of_ones_own_is_replaced_only_if_it_is_a_backup(engine: Engine, home: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.db"
    backup.backup(engine, str(home), str(target))
    engine.record(Draft(text="later"), PERSON)
    backup.backup(engine, str(home), str(target))
    assert state(target) == state(engine.store.path)
    mine = tmp_path / "mine.txt"
    mine.write_text("precious")
    with pytest.raises(InvalidInput, match="no backup"):
        backup.backup(engine, str(home), str(mine))
    assert mine.read_text() == "precious"
    backup.backup(engine, str(home), str(mine), force=True)
    assert state(mine) == state(engine.store.path)


@pytest.mark.parametrize("place", ["stores/x.db", "backups/x.db", "registry"])
def test_nothing_is_put_into_our_own_folder(engine: Engine, home: Path, place: str) -> None:
    (home / "backups").mkdir(exist_ok=True)
    before = (home / "registry").read_bytes()
    with pytest.raises(InvalidInput, match="own folder"):
        backup.backup(engine, str(home), str(home / place), force=True)
    assert (home / "registry").read_bytes() == before


def test_a_database_in_use_a_link_and_a_folder_are_never_replaced(engine: Engine, home: Path, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "other.db"))
    other.execute("PRAGMA journal_mode = wal; CREATE TABLE t (a)").fetchall()
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    (tmp_path / "folder").mkdir()
    for name in ("other.db", "link.db", "folder"):
        with pytest.raises(InvalidInput):
            backup.backup(engine, str(home), str(tmp_path / name), force=True)
    assert other.execute("SELECT name FROM sqlite_schema").get == "t"
    other.close()


def test_of_a_damaged_store_no_backup_is_made_and_none_is_lost(engine: Engine, home: Path) -> None:
    good = backup.backup(engine, str(home), keep=1)
    engine.close()
    connection = apsw.Connection(engine.store.path)
    connection.execute("UPDATE memories SET text = 'note 1~' WHERE number = 1")
    connection.close()
    with pytest.raises(Damaged):
        backup.backup(engine, str(home), keep=1)
    assert [file.name for file in Path(good.file).parent.iterdir()] == [Path(good.file).name]
    assert left_over(home / "stores", Path(good.file).parent) == []


class Spoiling(CountingDisk):
    """What was written is bad on the disk by the time that it is looked at from elsewhere."""

    def at(self, number: int, name: str, words: tuple[Any, ...]) -> None:
        if name == "sync":
            path = os.readlink(f"/proc/self/fd/{words[0]}")
            if path.endswith(".part"):
                with open(path, "r+b") as file:
                    file.seek(5 * 4096)
                    file.write(bytes(4096))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="names of open files are not to be had")
def test_a_copy_that_is_bad_on_the_disk_is_no_backup(engine: Engine, home: Path, tmp_path: Path) -> None:
    with used(Spoiling()), pytest.raises(Damaged):
        backup.backup(engine, str(home), str(tmp_path / "b.db"))
    assert list(tmp_path.glob("*.db")) == []
    assert left_over(tmp_path, home / "stores") == []


@pytest.mark.slow
def test_a_full_disk_is_told_and_leaves_the_old_backup(engine: Engine, home: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.db"
    backup.backup(engine, str(home), str(target))
    before = target.read_bytes()
    engine.record(Draft(text="later"), PERSON)
    counting = CountingDisk()
    with used(counting):
        backup.backup(engine, str(home), str(tmp_path / "count.db"))
    told = 0
    for which in range(1, counting.calls + 1):
        with used(RefusingDisk(which, errno.ENOSPC)):
            try:
                backup.backup(engine, str(home), str(target))
            except DiskFull:
                told += 1
        assert target.read_bytes() == before or state(target) == state(engine.store.path), which
    assert told >= 3


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_the_old_backup_or_the_new_one(
    engine: Engine, project: Path, home: Path, tmp_path: Path
) -> None:
    code = (
        "from hardwon.engine import backup, opening\n"
        "engine = opening.open_engine(sys.argv[2], sys.argv[3])\n"
        "backup.backup(engine, sys.argv[3], sys.argv[4])\n"
    )
    target = tmp_path / "b.db"
    backup.backup(engine, str(home), str(target))
    old = target.read_bytes()
    engine.record(Draft(text="later"), PERSON)
    new = state(engine.store.path)
    for number in kills(code, tmp_path, str(project), str(home), str(target)):
        assert target.read_bytes() == old or state(target) == new, number
    assert state(target) == new


# The drill


def _write_until(stop: Callable[[], bool], project: Path, home: Path, count: int) -> list[str]:
    """Several processes that record as fast as they can until ``stop`` says so; the ids that were acknowledged."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(project), str(home), str(number)], stdout=subprocess.PIPE, text=True, cwd=project
        )
        for number in range(count)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline()
    stop()
    acknowledged = []
    for writer in writers:
        writer.kill()
        acknowledged += writer.communicate()[0].split()
    return acknowledged


@pytest.mark.parametrize("rounds", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_backups_under_load_are_whole_and_come_back_as_they_were(
    engine: Engine, project: Path, home: Path, tmp_path: Path, rounds: int
) -> None:
    made: list[backup.Backup] = []

    def several() -> bool:
        made.extend(backup.backup(engine, str(home), str(tmp_path / f"{number}.db")) for number in range(rounds))
        return True

    acknowledged = _write_until(several, project, home, 4)
    journal = {row[0]: row[-1].hex() for row in state(engine.store.path)["events"]}
    assert len(acknowledged) > 4
    for one in made:
        assert journal[one.seq] == one.head  # a moment of this very journal
        assert state(one.file)["events"] == [row for row in state(engine.store.path)["events"] if row[0] <= one.seq]
    assert made[0].seq < made[-1].seq  # the writers went on
    done = back(engine, home, made[-1].file)
    assert (done.seq, done.head) == (made[-1].seq, made[-1].head)
    assert well(engine)
    restored, copy = state(engine.store.path), state(made[-1].file)
    assert restored["memories"] == copy["memories"]
    assert restored["versions"] == copy["versions"]
    assert restored["events"][:-1] == copy["events"]


@pytest.mark.slow
def test_r96_a_checkpoint_between_two_backups_costs_nothing(engine: Engine, home: Path) -> None:
    """Case R96: the log was moved and begun anew while nobody made a backup."""
    first = backup.backup(engine, str(home))
    for number in range(20):
        engine.record(Draft(text=f"since {number}"), PERSON)
    engine.persist()
    engine.compact()
    engine.record(Draft(text="in a new log"), PERSON)
    second = backup.backup(engine, str(home))
    whole = state(engine.store.path)
    assert back(engine, home, first.file).newer.memories == 21
    assert len(texts(engine)) == 5
    back(engine, home, second.file)
    assert state(engine.store.path)["memories"] == whole["memories"]
    assert well(engine)


# Bringing back


def test_a_restore_brings_all_back_and_keeps_what_was_there(engine: Engine, home: Path) -> None:
    done = backup.backup(engine, str(home))
    before = texts(engine)
    engine.record(Draft(text="newer", kind="rule"), PERSON)
    engine.forget(Filter(ids=(engine.identify("1"),)), PERSON, dry_run=False)
    now = state(engine.store.path)
    result = back(engine, home, Path(done.file).name)
    assert texts(engine) == before
    assert (result.newer.memories, result.newer.changed, result.newer.entries) == (1, 1, 2)
    assert state(result.kept)["memories"] == now["memories"]
    assert well(engine)
    again = back(engine, home, result.kept)  # the undo
    assert state(engine.store.path)["memories"] == now["memories"]
    assert texts(engine) == before | {"newer"}
    assert again.kept != result.kept
    assert left_over(home / "stores") == []


def test_a_restored_store_is_a_replica_of_its_own_and_the_journal_says_so(engine: Engine, home: Path) -> None:
    done = backup.backup(engine, str(home))
    with engine.store.read() as reader:
        before = reader.setting("replica")
    number = engine.record(Draft(text="newer"), PERSON).number
    back(engine, home, done.file)
    with engine.store.read() as reader:
        assert reader.setting("replica") != before
        (last,) = reader.latest_events(1)
        assert (last.action, last.replica_seq) == ("restored", 1)
        assert last.payload.startswith(before)
    assert engine.record(Draft(text="another"), PERSON).number == (number or 0) + 1  # never given twice
    assert well(engine)


def test_who_has_the_memory_open_goes_on_with_the_restored_one(engine: Engine, project: Path, home: Path) -> None:
    other = opening.open_engine(str(project), str(home))
    done = backup.backup(engine, str(home))
    other.record(Draft(text="newer", kind="rule"), PERSON)
    back(engine, home, done.file)
    assert "newer" not in texts(other)
    other.record(Draft(text="after it", kind="rule"), PERSON)
    assert "after it" in texts(engine)
    other.close()


def test_what_is_newer_can_be_taken_over(engine: Engine, home: Path) -> None:
    done = backup.backup(engine, str(home))
    engine.record(Draft(text="newer", kind="rule", detail="with a detail"), PERSON)
    result = back(engine, home, done.file, keep_newer=True)
    assert result.carried
    assert result.carried.new == 1
    (found,) = [memory for memory in engine.store.read().__enter__().find(Filter(kinds=("rule",)), -1) if memory.text == "newer"]
    assert (found.trust, found.detail) == ("confirmed", "with a detail")
    assert well(engine)


def test_what_is_said_while_somebody_is_asked_is_newer_too(engine: Engine, home: Path) -> None:
    done = backup.backup(engine, str(home))
    with restore.candidate(engine, str(home), done.file) as found:
        assert found.newer.memories == 0
        engine.record(Draft(text="said since", kind="rule"), PERSON)
        result = found.use(PERSON, keep_newer=True)
    assert result.newer.memories == 1
    assert "said since" in texts(engine)
    assert left_over(Path(engine.store.path).parent) == []


@pytest.mark.slow
def test_what_is_taken_over_is_there_whenever_the_system_stops_it(engine: Engine, home: Path, tmp_path: Path) -> None:
    done = backup.backup(engine, str(home), str(tmp_path / "b.db"))
    engine.record(Draft(text="newer", kind="rule"), PERSON)
    counting = CountingDisk()
    with restore.candidate(engine, str(home), done.file) as found, used(counting):
        found.use(PERSON, keep_newer=True)
    for which in range(1, counting.calls + 1, 2):
        with restore.candidate(engine, str(home), done.file) as found, used(RefusingDisk(which, errno.EIO)):
            try:
                found.use(PERSON, keep_newer=True)
            except StoreError:
                pass
        assert "newer" in texts(engine), which


@pytest.mark.slow
@pytest.mark.parametrize("change", [("rekey",), ("rekey", "--decrypt", "--yes"), ("init", "--encrypt", "--yes")])
def test_a_key_that_was_changed_while_somebody_was_asked_stops_the_restore(
    project: Path, home: Path, call: Callable[..., Result], change: tuple[str, ...]
) -> None:
    pytest.importorskip("pyrage")
    if change[0] == "rekey":
        assert call("init", "--encrypt", "--yes", cwd=project).code == 0
    engine = opening.open_engine(str(project), str(home))
    engine.record(Draft(text="first", kind="rule"), PERSON)
    done = backup.backup(engine, str(home))
    with restore.candidate(engine, str(home), done.file) as found:
        assert call(*change, cwd=project).code == 0
        with pytest.raises(Busy, match="key"):
            found.use(PERSON)
    assert call("recall", "first", cwd=project).code == 0  # else nobody could open the store any more
    back(engine, home, done.file)
    assert texts(engine) == {"first"}
    assert call("verify", cwd=project).code == 0
    engine.close()


def test_a_store_that_is_gone_or_damaged_is_restored_all_the_same(engine: Engine, home: Path) -> None:
    done = backup.backup(engine, str(home))
    whole = state(engine.store.path)
    engine.close()
    Path(engine.store.path).write_bytes(b"garbage" * 5000)
    Path(engine.store.path + "-wal").unlink(missing_ok=True)
    result = back(engine, home, done.file)
    assert result.newer.unknown
    assert Path(result.kept).read_bytes().startswith(b"garbage")
    assert state(engine.store.path)["memories"] == whole["memories"]
    engine.close()
    for file in Path(engine.store.path).parent.glob(Path(engine.store.path).name + "*"):
        file.unlink()
    assert back(engine, home, done.file).kept == ""
    assert state(engine.store.path)["memories"] == whole["memories"]
    assert well(engine)


def _spoilt(path: Path, how: str) -> None:
    raw = bytearray(path.read_bytes())
    if how == "a bit":
        connection = apsw.Connection(str(path))
        connection.execute("UPDATE versions SET text = text || '~' WHERE version = 2")
        connection.close()
        return
    if how == "cut":
        del raw[len(raw) * 2 // 3 :]
    if how == "a page":
        raw[6 * 4096 : 7 * 4096] = bytes(4096)
    if how == "head":
        raw[:100] = bytes(100)
    path.write_bytes(raw)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["a bit", "a page", "cut", "head"])
def test_a_backup_that_is_not_whole_is_refused_before_anything_is_touched(
    engine: Engine, home: Path, tmp_path: Path, how: str
) -> None:
    done = backup.backup(engine, str(home), str(tmp_path / "b.db"))
    _spoilt(Path(done.file), how)
    engine.record(Draft(text="newer"), PERSON)
    before = {file.name: file.read_bytes() for file in (home / "stores").iterdir() if file.name.endswith((".db", "-wal"))}
    with pytest.raises((Damaged, InvalidInput)):
        back(engine, home, done.file)
    assert {file.name: file.read_bytes() for file in (home / "stores").iterdir() if file.name.endswith((".db", "-wal"))} == before
    assert left_over(home / "stores") == []


def test_what_is_no_backup_of_this_memory_is_refused(engine: Engine, home: Path, tmp_path: Path) -> None:
    other = opening.open_store(str(tmp_path / "other.db"))
    other.record(Draft(text="theirs"), PERSON)
    other.close()
    with pytest.raises(InvalidInput, match="another repository"):
        back(engine, home, tmp_path / "other.db")
    (tmp_path / "text").write_text("hello")
    foreign = apsw.Connection(str(tmp_path / "foreign.db"))
    foreign.execute("CREATE TABLE t (a)")
    foreign.close()
    for name in ("text", "foreign.db", "missing", "."):
        with pytest.raises(InvalidInput):
            back(engine, home, tmp_path / name)
    with pytest.raises(InvalidInput, match="the store itself"):
        back(engine, home, engine.store.path)
    newer = backup.backup(engine, str(home), str(tmp_path / "b.db"))
    connection = apsw.Connection(newer.file)
    connection.pragma("user_version", schema.STEPS[-1][0] + 1)
    connection.close()
    with pytest.raises(SchemaNewer):
        back(engine, home, newer.file)
    assert len(texts(engine)) == 5


def test_force_takes_the_backup_of_another_machine(engine: Engine, home: Path, tmp_path: Path) -> None:
    other = opening.open_store(str(tmp_path / "other.db"))
    other.record(Draft(text="theirs"), PERSON)
    other.close()
    back(engine, home, tmp_path / "other.db", force=True)
    assert texts(engine) == {"theirs"}
    with engine.store.read() as reader:
        assert reader.setting("repository") == engine.repository
    assert well(engine)


def test_a_backup_of_an_earlier_schema_is_upgraded_on_the_way(engine: Engine, home: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    connection = apsw.Connection(str(old))
    upgrade(connection, str(old), "test", 0, schema.STEPS[:2])
    connection.execute("INSERT INTO settings VALUES ('repository', ?), ('replica', 'r')", (engine.repository,))
    connection.close()
    back(engine, home, old)
    assert texts(engine) == set()
    assert engine.record(Draft(text="on"), PERSON).action == "created"
    assert well(engine)
    assert not [file for file in (home / "stores").iterdir() if "before-step" in file.name]


def test_a_read_only_place_serves(engine: Engine, home: Path, tmp_path: Path) -> None:
    done = backup.backup(engine, str(home), str(tmp_path / "b.db"))
    Path(done.file).chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        before = sorted(file.name for file in tmp_path.iterdir())
        back(engine, home, done.file)
        assert sorted(file.name for file in tmp_path.iterdir()) == before
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.slow
def test_a_kill_at_any_step_of_a_restore_leaves_one_store_or_the_other(
    engine: Engine, project: Path, home: Path, tmp_path: Path
) -> None:
    code = (
        "from hardwon.engine import opening, restore; from hardwon.types import Scope\n"
        "engine = opening.open_engine(sys.argv[2], sys.argv[3])\n"
        "with restore.candidate(engine, sys.argv[3], sys.argv[4]) as found: found.use(Scope())\n"
    )
    done = backup.backup(engine, str(home), str(tmp_path / "b.db"))
    engine.record(Draft(text="newer", kind="rule"), PERSON)
    engine.close()
    shutil.copytree(home, saved := tmp_path / "saved")
    seen = set()
    for number in kills(code, tmp_path, str(project), str(home), done.file):
        held = len(texts(engine))
        assert held in (5, 6), number
        assert not [item for item in engine.verify() if item.level == "error" and item.where != "journal"], number
        seen.add(held)
        engine.close()
        shutil.rmtree(home)
        shutil.copytree(saved, home)
    assert seen == {5, 6}
    assert len(texts(engine)) == 5
    assert well(engine)


@pytest.mark.slow
def test_a_system_that_refuses_a_step_of_a_restore_loses_nothing(engine: Engine, home: Path, tmp_path: Path) -> None:
    done = backup.backup(engine, str(home), str(tmp_path / "b.db"))
    engine.record(Draft(text="newer", kind="rule"), PERSON)
    counting = CountingDisk()
    with used(counting), restore.candidate(engine, str(home), done.file):
        pass
    for which in range(counting.calls // 2, counting.calls + 45, 6):
        with used(RefusingDisk(which, errno.EIO)):
            try:
                back(engine, home, done.file, keep_newer=True)
            except StoreError:
                pass
        assert len(texts(engine)) in (5, 6), which
        engine.record(Draft(text="newer", kind="rule"), PERSON)


# Encryption


def test_a_backup_for_a_recipient_is_opened_by_any_age_tool(engine: Engine, home: Path, tmp_path: Path) -> None:
    age = pytest.importorskip("pyrage")
    key = age.x25519.Identity.generate()
    done = backup.backup(engine, str(home), str(tmp_path / "b.age"), envelope.Lock([str(key.to_public())]))
    raw = Path(done.file).read_bytes()
    assert raw.startswith(b"age-encryption.org/v1\n")
    assert b"note 1" not in raw
    (tmp_path / "plain.db").write_bytes(age.decrypt(raw, [key]))
    assert state(tmp_path / "plain.db") == state(engine.store.path)
    (tmp_path / "key").write_text(f"# public key: x\n{key}\n")
    from hardwon.store.keys.secret import parse

    opener = envelope.Opener(parse((tmp_path / "key").read_text()))
    with restore.candidate(engine, str(home), done.file, opener) as found:
        found.use(PERSON)
    assert well(engine)
    stranger = envelope.Opener(parse(str(age.x25519.Identity.generate())))
    with pytest.raises(WrongKey):
        restore.candidate(engine, str(home), done.file, stranger)
    Path(done.file).write_bytes(raw[: len(raw) // 2])
    with pytest.raises(Damaged):
        restore.candidate(engine, str(home), done.file, opener)
    assert left_over(home / "stores", tmp_path) == []


@pytest.mark.slow  # age makes a passphrase cost a second of all cores
def test_a_passphrase_comes_from_a_file_or_the_environment(
    project: Path, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyrage")
    call("record", "a fact")
    (tmp_path / "secret").write_text("correct horse battery staple\n")
    made = call("backup", str(tmp_path / "b.age"), "--passphrase-file", str(tmp_path / "secret"), "--json").data
    assert made["encrypted"] == "passphrase"
    assert call("restore", str(tmp_path / "b.age"), "--yes").code == 1
    monkeypatch.setenv("HARDWON_BACKUP_PASSPHRASE", "correct horse battery staple")
    assert call("restore", str(tmp_path / "b.age"), "--yes").code == 0
    made = call("backup", "--json").data
    assert made["file"].endswith(".db.age")
    monkeypatch.setenv("HARDWON_BACKUP_PASSPHRASE", "something else entirely")
    refused = call("restore", made["file"], "--yes", "--json")
    assert refused.error["kind"] == "wrong_key"
    monkeypatch.setenv("HARDWON_BACKUP_PASSPHRASE", "short")
    assert call("backup", "--json").error["field"] == "passphrase-file"
    assert "short" not in repr(envelope.Passphrase("a short passphrase"))


@pytest.mark.slow
def test_an_encrypted_store_has_encrypted_backups(bare: Path, call: Callable[..., Result], home: Path) -> None:
    pytest.importorskip("pyrage")
    assert call("init", "--encrypt").code == 0
    call("record", "a fact that nobody shall read")
    made = call("backup", "--json")
    assert made.code == 0, made
    assert made.data["encrypted"] == "key"
    raw = Path(made.data["file"]).read_bytes()
    assert b"SQLite format" not in raw
    assert b"nobody shall read" not in raw
    call("record", "a newer fact")
    done = call("restore", made.data["file"], "--yes", "--json")
    assert done.code == 0, done
    assert done.data["newer"]["memories"] == 1
    assert call("verify").code == 0
    assert call("recall", "newer fact").out == ""
    (store,) = (home / "stores").glob("*.db")
    assert not store.read_bytes().startswith(b"SQLite format")
    connection_damage = bytearray(store.read_bytes())
    connection_damage[7 * 4096 + 99] ^= 1
    for end in ("-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    store.write_bytes(connection_damage)
    mended = call("repair", "--json")
    assert mended.data["damaged"], mended
    assert call("verify").code == 0
    assert not store.read_bytes().startswith(b"SQLite format")


# The commands


def test_the_commands_say_what_they_did(project: Path, call: Callable[..., Result]) -> None:
    call("record", "a fact")
    made = call("backup")
    assert "another process opened it, checked every row and searched it" in made.out
    name = Path(made.out.split(":")[0].removeprefix("wrote ")).name
    call("record", "a newer fact")
    would = call("restore", name, "--dry-run")
    assert "#2 a newer fact" in would.out
    assert call("restore", name, "--json").error["field"] == "yes"
    assert "a newer fact" in call("recall", "newer fact").out  # nothing was done
    done = call("restore", name, "--yes")
    assert done.code == 0, done
    assert "not taken over: 1 newer memory" in done.out
    assert "a newer fact" not in call("recall", "newer fact").out
    kept = done.out.split("`hardwon restore ")[1].split("`")[0]
    assert call("restore", kept, "--yes").code == 0
    assert "a newer fact" in call("recall", "newer fact").out
    assert call("verify").code == 0
    assert "#2 was created" in call("undo").err  # the last thing done; a restore is nothing that a memory says


def test_r20_an_export_of_a_store_read_as_empty_replaces_nothing(
    project: Path, call: Callable[..., Result], tmp_path: Path
) -> None:
    """Case R20: a store that is another one, or has nothing in it, and then the good export is gone."""
    for number in range(30):
        call("record", f"fact {number}")
    assert call("export", "good.jsonl").code == 0
    before = (project / "good.jsonl").read_bytes()
    (tmp_path / "other").mkdir()
    assert call("init", cwd=tmp_path / "other").code == 0
    refused = call("export", str(project / "good.jsonl"), cwd=tmp_path / "other")
    assert refused.code == 2
    assert (project / "good.jsonl").read_bytes() == before


def test_writers_do_not_wait_for_a_backup(engine: Engine, home: Path) -> None:
    """It holds no lock: a transaction that is open all the while hinders it as little as it hinders that."""
    with engine.store.write() as writer:
        writer.set_setting("mark", "open")
        started = time.monotonic()
        assert backup.backup(engine, str(home)).memories
        assert time.monotonic() - started < 60
    with pytest.raises(HardwonError):
        engine.show("99", PERSON)


# On another machine


def derived(engine: Engine) -> dict[str, tuple[str, str]]:
    """What comes from the repository, by id: which status it has and what it says."""
    with engine.store.read() as reader:
        return {one.id: (one.status, one.text) for one in reader.find(Filter(), -1) if one.number is None}


@pytest.mark.slow
def test_elsewhere_commits_and_passages_keep_their_ids_and_are_not_read_twice(
    project: Path, home: Path, tmp_path: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "README.md").write_text("# Usage\n\nCall the pool first, and wait for it.\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Say how to use it", at=1_700_100_000)
    assert call("init").code == call("ingest", "docs").code == call("ingest", "deps").code == 0
    call("record", "a fact that was said at home")
    copy = str(tmp_path / "carried.db")
    assert call("backup", copy).code == 0
    there = opening.open_engine(str(project), str(home))
    before, id_there = derived(there), there.repository
    there.close()
    monkeypatch.setenv("HARDWON_HOME", str(tmp_path / "elsewhere"))
    assert call("init").code == call("ingest", "docs").code == 0
    assert call("restore", copy, "--yes", "--json").error["field"] == "file"
    assert call("restore", copy, "--yes", "--force").code == 0
    here = opening.open_engine(str(project), str(tmp_path / "elsewhere"))
    assert here.repository != id_there
    for step in (("init",), ("ingest", "docs"), ("init", "--rebuild"), ("ingest", "deps"), ("verify",)):
        assert call(*step).code == 0, step
        assert derived(here) == before, step
    assert "wait for it" in call("recall", "pool first wait").out
    assert [item["where"] for item in call("status", "--json").data["findings"] if ".kept-" not in item["where"]] == []
    # What git forgets goes, what it adds comes, as at home.
    git(project, "reset", "-q", "--hard", "HEAD~1")
    (project / "other.py").write_text("def other():\n    return 1\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Another file", at=1_700_200_000)
    git(project, "reflog", "expire", "--expire=now", "--all")
    assert call("init").code == call("ingest", "docs").code == 0
    texts = [text for status, text in derived(here).values() if status == "active"]
    assert (texts.count("Another file"), "Say how to use it" in texts) == (1, False)
    # A backup made here is one of here; and back home it is one of there.
    assert call("backup", copy).code == 0
    assert call("restore", copy, "--yes").code == 0
    assert derived(here).keys() == dict.fromkeys(derived(here)).keys()
    after = derived(here)
    here.close()
    monkeypatch.setenv("HARDWON_HOME", str(home))
    assert call("restore", copy, "--yes", "--force").code == 0
    assert call("init", "--rebuild").code == call("ingest", "docs").code == 0
    there = opening.open_engine(str(project), str(home))
    assert derived(there) == after
    assert well(there)
    there.close()


def test_who_has_it_open_derives_the_ids_of_the_restored_one(project: Path, home: Path, tmp_path: Path) -> None:
    other = opening.open_store(str(tmp_path / "other.db"), "11111111-1111-5111-8111-111111111111")
    other.add_changes([Change("a" * 40, 1_000, "Add a table", "", "Ann", "main")])
    known = next(iter(derived(other)))
    other.close()
    engine, second = (opening.open_engine(str(project), str(home)) for _ in range(2))
    assert identifier(second, "a" * 40) != known
    back(engine, home, tmp_path / "other.db", force=True)
    assert identifier(second, "a" * 40) == identifier(engine, "a" * 40) == known
    engine.close()
    second.close()


# Gone


def _lost(store: Path, how: str) -> None:
    for end in ("-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    store.unlink() if how == "missing" else store.write_bytes(b"")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_memory_that_is_gone_is_not_begun_anew_in_silence(
    project: Path, home: Path, call: Callable[..., Result], how: str
) -> None:
    call("record", "a fact that must not go")
    name = Path(call("backup", "--json").data["file"]).name
    (store,) = (home / "stores").glob("*.db")
    _lost(store, how)
    for verb in (("status",), ("record", "another"), ("recall", "fact"), ("verify",)):
        refused = call(*verb, "--json")
        if how == "missing" or verb[0] != "verify":
            assert refused.error["kind"] in ("no_store", "damaged"), (verb, refused)
            assert "hardwon restore" in refused.error["remedy"], (verb, refused)
    refused = call("init", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "no_store")
    assert f"`hardwon restore {name}`" in refused.error["remedy"]
    assert not store.exists() or store.stat().st_size == 0
    assert call("restore", name, "--yes").code == 0
    assert "must not go" in call("recall", "fact that must not go").out
    assert call("init").code == 0


def test_without_a_backup_the_journal_s_head_tells_that_it_was_there(
    project: Path, home: Path, call: Callable[..., Result]
) -> None:
    call("record", "a fact that must not go")
    (store,) = (home / "stores").glob("*.db")
    saved = store.read_bytes(), Path(f"{store}-wal").read_bytes()
    _lost(store, "missing")
    refused = call("init", "--json")
    assert refused.error["kind"] == "no_store"
    assert "put the file back" in refused.error["remedy"]
    store.write_bytes(saved[0])
    Path(f"{store}-wal").write_bytes(saved[1])
    assert call("init").code == 0
    assert "must not go" in call("recall", "fact that must not go").out
    _lost(store, "missing")
    assert call("init", "--force").code == 0
    assert call("recall", "fact that must not go").out == ""
    assert call("status").code == call("verify").code == call("init").code == 0


def test_init_goes_on_where_nothing_was_said_yet(bare: Path, home: Path, call: Callable[..., Result]) -> None:
    """An init that was killed between the registry and the file, or in the middle of the file."""
    assert call("init").code == 0
    (store,) = (home / "stores").glob("*.db")
    for file in (home / "heads").glob("*"):
        file.unlink()
    for how in ("missing", "empty"):
        _lost(store, how)
        assert call("init").code == 0


def test_status_names_what_was_put_aside_and_what_to_do(project: Path, home: Path, call: Callable[..., Result]) -> None:
    call("record", "a fact")
    made = call("backup", "--json").data["file"]
    assert call("status", "--json").data["findings"] == []
    kept = call("restore", made, "--yes", "--json").data["kept"]
    (store,) = (home / "stores").glob("*.db")
    old = [Path(f"{store}{end}") for end in (".before-step-3", ".part")] + [store.parent / f".hardwon-{store.name}-00.part"]
    for file in (*old, store.parent / f".hardwon-{store.name}-11.part"):
        file.write_bytes(b"x" * 300_000)
    for file in (*old, Path(kept)):
        os.utime(file, (time.time() - 3 * 86_400,) * 2)
    found = {item["where"]: item for item in call("status", "--json").data["findings"]}
    assert set(found) == {kept, *map(str, old)}
    assert all("MB, 3 days old" in item["what"] and item["level"] == "note" for item in found.values())
    assert f"`hardwon restore {Path(kept).name}`" in found[kept]["remedy"]
    assert call("status").code == 0
    for number in range(40):
        Path(f"{store}.kept-{number}").write_bytes(b"")
    assert len(call("status", "--json").data["findings"]) == 11
