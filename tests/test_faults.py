"""Disks that fail at every call, full disks, too little memory: what was acknowledged stays, and each error has its own name."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import hardwon
from hardwon.errors import Busy, Damaged, DiskFull, EngineUnsafe, ReadOnly, StoreError
from hardwon.proof import faults, limits
from hardwon.proof.faults import EVERY, Disks, Ready
from hardwon.proof.injection import ENGINE_CALLS, FAILURES, FILE_CALLS, NO_SPACE, SHORT_READ, Fault
from hardwon.proof.injection import faults as every
from hardwon.proof.operations import SCOPE, Operation, contents, draft, engine_at
from hardwon.proof.report import Plan
from hardwon.store import connection, files
from hardwon.store.connection import Access, engine_is_safe, translate
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Query

BY_NAME = {failure.name: failure for failure in FAILURES}


@pytest.fixture
def disks() -> Iterator[Disks]:
    with Disks() as made:
        yield made


def ready(tmp_path: Path, disks: Disks, *names: str) -> list[Ready]:
    return faults.prepare(str(tmp_path), disks, [one for one in EVERY if one.name in names])[0]


def some(one: Ready, count: int) -> list[Fault]:
    """So many of an operation's faults, spread over all of them."""
    found = list(every(one.calls))
    return found[:: max(1, len(found) // count)]


@pytest.mark.slow
def test_points_of_every_operation_break_no_promise(tmp_path: Path) -> None:
    outcome = faults.run(Plan(1, 19.0, str(tmp_path), count=20), lambda done, of: None)
    assert outcome.ok, outcome.violations[:5]
    assert outcome.figures["points"] > 0 and outcome.controls[0].found == outcome.controls[0].tried


@pytest.mark.slow
def test_a_read_that_fails_behind_a_commit_does_not_make_it_look_undone(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "compact")
    last = range(one.calls["read"] - 15, one.calls["read"] + 1)
    points = [fault for fault in every(one.calls) if fault.call == "read" and fault.number in last]
    assert {fault.failure.name for fault in points} >= {"EIO", "NOMEM"}
    for fault in points:
        assert (fault.label, faults.attempt(one, fault, disks, str(tmp_path / "attempt"))[0]) == (fault.label, [])


@pytest.mark.slow
def test_what_waits_in_a_spool_that_cannot_be_read_is_taken_in_by_a_later_write(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "drain")
    points = [fault for fault in every(one.calls) if fault.call in ("file open", "file write")]
    assert points
    for fault in points[::4]:
        assert (fault.label, faults.attempt(one, fault, disks, str(tmp_path / "attempt"))[0]) == (fault.label, [])


@pytest.mark.slow
def test_many_points_of_every_operation_break_no_promise(tmp_path: Path) -> None:
    seconds = 120 * float(os.environ.get("HARDWON_SCALE", "1"))
    outcome = faults.run(Plan(20261130, seconds, str(tmp_path)), lambda done, of: None)
    assert outcome.ok, outcome.violations[:5]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["record, files open", "forget", "undo"])
def test_a_transaction_is_there_or_it_is_not(tmp_path: Path, disks: Disks, name: str) -> None:
    (one,) = ready(tmp_path, disks, name)
    for fault in some(one, 12):
        assert faults.attempt(one, fault, disks, str(tmp_path / "attempt"))[0] == [], fault.label


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FULL", "EFBIG", "EDQUOT", "EIO"])
def test_an_upgrade_that_the_disk_refuses_is_told_so_and_done_later(tmp_path: Path, disks: Disks, name: str) -> None:
    (one,) = ready(tmp_path, disks, "migration")
    points = [fault for fault in every(one.calls) if fault.failure.name == name and fault.call in ("write", "file open")]
    for fault in points[:: max(1, len(points) // 8)]:
        assert faults.attempt(one, fault, disks, str(tmp_path / "attempt"))[0] == [], fault.label


@pytest.mark.slow
@pytest.mark.parametrize("call", ["folder sync", "file link", "file replace"])
def test_a_restore_that_stops_within_its_swap_is_finished_by_the_next(tmp_path: Path, disks: Disks, call: str) -> None:
    """The old log has lost its name by then: without the new file nothing would be whole."""
    (one,) = ready(tmp_path, disks, "restore")
    for number in range(1, one.calls[call] + 1):
        fault = Fault(call, number, BY_NAME["EIO"])
        assert faults.attempt(one, fault, disks, str(tmp_path / "attempt"))[0] == [], fault.label


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encrypt", "rekey", "erase", "export"])
def test_an_operation_on_whole_files_that_a_full_disk_stops_is_done_later(tmp_path: Path, disks: Disks, name: str) -> None:
    found = ready(tmp_path, disks, name)
    if not found:
        pytest.skip("encryption is not installed")
    for call in ("file write", "file sync", "file open"):
        fault = Fault(call, found[0].calls[call], BY_NAME["FULL"])
        assert faults.attempt(found[0], fault, disks, str(tmp_path / "attempt"))[0] == [], fault.label


@pytest.mark.slow
def test_a_disk_that_cannot_be_read_once_is_no_damage_of_a_backup(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "backup")
    for number in range(one.calls["size"] // 2, one.calls["size"], 6):  # while the copy is looked at
        broken, _ = faults.attempt(one, Fault("size", number, BY_NAME["EIO"]), disks, str(tmp_path / "attempt"))
        assert broken == [], number


def test_a_sync_that_fails_acknowledges_nothing(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "link")
    for number in range(1, one.calls["sync"] + 1):
        fault = Fault("sync", number, BY_NAME["EIO"])
        broken, refused = faults.attempt(one, fault, disks, str(tmp_path / "attempt"))
        assert (broken, refused) == ([], True)


def test_a_read_that_ends_early_once_is_not_damage(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "recall")
    told = []
    for number in range(1, one.calls["read"] + 1):
        with engine_at(one.template, disks.name, 1) as engine:
            disks.injector.arm(Fault("read", number, SHORT_READ))
            told.append(type(faults._tried(engine, one.operation).error))
            disks.injector.disarm()
        with engine_at(one.template, "", 1) as fresh:
            assert contents(fresh) == one.before
    assert StoreError in told and Damaged not in told


@pytest.mark.slow
def test_a_verify_that_misread_once_finds_nothing(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "verify")
    for number in range(1, one.calls["read"] + 1, max(1, one.calls["read"] // 6)):
        assert faults.attempt(one, Fault("read", number, SHORT_READ), disks, str(tmp_path / "attempt"))[0] == [], number


def test_a_file_that_is_damaged_indeed_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    engine = hardwon.open_store(str(path))
    engine.record(draft(__import__("random").Random(1), 1), SCOPE)
    engine.persist()
    engine.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = bytes(len(raw) - 4096)
    path.write_bytes(raw)
    store = SqliteStore(str(path), make=False)
    with pytest.raises(Damaged), store.read() as reader:
        reader.figures()
    store.close()


@pytest.mark.parametrize(
    ("error", "number", "kind"),
    [
        (apsw.FullError(), 0, DiskFull),
        (apsw.IOError(), errno.EFBIG, DiskFull),
        (apsw.IOError(), errno.ENOSPC, DiskFull),
        (apsw.IOError(), errno.EDQUOT, DiskFull),
        (apsw.IOError(), errno.EIO, StoreError),
        (apsw.IOError(), 0, StoreError),
        (apsw.NoMemError(), 0, StoreError),
        (apsw.BusyError(), errno.ENOSPC, Busy),
        (apsw.LockedError(), 0, Busy),
        (apsw.ReadOnlyError(), 0, ReadOnly),
        (apsw.CorruptError(), 0, Damaged),
        (apsw.NotADBError(), 0, Damaged),
    ],
)
def test_each_error_of_the_engine_has_its_name(tmp_path: Path, error: apsw.Error, number: int, kind: type[StoreError]) -> None:
    told = translate(error, str(tmp_path / "a.db"), number)
    assert type(told) is kind and told.remedy


def test_what_one_read_called_damaged_is_looked_at_again(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    engine = hardwon.open_store(path)
    engine.persist()
    engine.close()
    assert type(translate(apsw.CorruptError(), path, access=Access())) is StoreError
    Path(path).write_bytes(b"garbage" * 1000)
    assert type(translate(apsw.CorruptError(), path, access=Access())) is Damaged


def test_too_many_open_files_are_not_told_as_a_matter_of_rights(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    assert type(translate(apsw.CantOpenError(), str(path))) is StoreError


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in limits.LIMITS if name not in ("size limit", "little memory")])
def test_a_real_limit_of_the_system_breaks_no_promise(tmp_path: Path, name: str) -> None:
    meet(tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["size limit", "little memory"])
def test_a_real_limit_that_takes_seconds_breaks_no_promise(tmp_path: Path, name: str) -> None:
    meet(tmp_path, name)


def meet(tmp_path: Path, name: str) -> None:
    broken, acknowledged, skipped = limits.meet(name, str(tmp_path))
    if skipped:
        pytest.skip(skipped)
    assert broken == [] and acknowledged > 0


# The proof itself


def test_an_acknowledgement_in_spite_of_an_error_is_caught(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "record")
    assert faults._control(one, disks, str(tmp_path)).found == 12


def test_half_of_an_operation_is_caught(tmp_path: Path, disks: Disks) -> None:
    """A forgetting that is not one transaction."""

    def piecemeal(engine: hardwon.Engine) -> None:
        for number in ("3", "4", "5"):
            engine.set_status(number, "inactive", SCOPE)

    (one,) = faults.prepare(str(tmp_path), disks, [Operation("piecemeal", piecemeal)])[0]
    found = [
        faults.attempt(one, Fault("sync", number, BY_NAME["EIO"]), disks, str(tmp_path / "attempt"))[0]
        for number in range(1, one.calls["sync"] + 1)
    ]
    assert ["half of it is there"] in found


def test_an_error_of_another_tree_is_caught(tmp_path: Path, disks: Disks) -> None:
    def careless(engine: hardwon.Engine) -> None:
        files.disk.close(files.disk.open(engine.store.path + ".note", os.O_CREAT | os.O_WRONLY))

    (one,) = faults.prepare(str(tmp_path), disks, [Operation("careless", careless)])[0]
    broken, _ = faults.attempt(one, Fault("file open", 1, BY_NAME["FULL"]), disks, str(tmp_path / "attempt"))
    assert broken[0].startswith("raised OSError")


def test_a_fault_falls_on_the_call_that_it_names(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "link")
    for call in ("write", "sync", "read"):
        with engine_at(one.template, disks.name, 1) as engine:
            disks.injector.arm(Fault(call, 1, BY_NAME["EIO"]))
            with pytest.raises(StoreError):
                one.operation.run(engine)
            assert [hit[0] for hit in disks.injector.disarm()] == [call]


@pytest.mark.slow
def test_the_same_attempt_leaves_the_same_rows(tmp_path: Path, disks: Disks) -> None:
    """Else every comparison of the proof would be by chance."""
    first, second = (ready(tmp_path / name, disks, "ingest")[0] for name in ("one", "two"))
    assert first.after == second.after and first.calls["write"] == second.calls["write"]


def test_every_failure_names_calls_that_are_counted() -> None:
    for failure in FAILURES:
        assert set(failure.calls) <= {*ENGINE_CALLS, *FILE_CALLS}
        assert failure.full == (failure.errno in NO_SPACE)


# The engine


def test_r46_an_unsafe_engine_is_refused_before_a_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that Python's own module has here may be safe by now; one that is known to lose commits is not."""
    own = sqlite3.sqlite_version
    version = own if not engine_is_safe(own) else "3.40.1"
    monkeypatch.setattr(connection.apsw, "sqlite_lib_version", lambda: version)
    path = tmp_path / "stores" / "a.db"
    path.parent.mkdir()
    with pytest.raises(EngineUnsafe, match=version):
        connection.open_connection(str(path), readonly=False)
    with pytest.raises(EngineUnsafe, match=version):
        hardwon.open_store(str(path))
    assert list(path.parent.iterdir()) == []


def test_an_unsafe_engine_is_refused_on_a_store_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "a.db")
    hardwon.open_store(path).close()
    before = Path(path).read_bytes()
    monkeypatch.setattr(connection.apsw, "sqlite_lib_version", lambda: "3.51.2")
    for readonly in (True, False):
        with pytest.raises(EngineUnsafe) as told:
            connection.open_connection(path, readonly=readonly)
        assert "apsw" in told.value.remedy
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize(
    ("version", "safe"),
    [("3.7.0", False), ("3.40.1", False), ("3.44.5", False), ("3.44.6", True), ("3.45.3", False), ("3.50.6", False),
     ("3.50.7", True), ("3.51.2", False), ("3.51.3", True), ("3.54.0", True), ("3.54.1", True)],
)  # fmt: skip
def test_which_engines_are_safe(version: str, safe: bool) -> None:
    assert engine_is_safe(version) is safe


def test_status_names_the_engine_and_its_version(project: Path, call: object) -> None:
    data = call("status", "--json").data  # type: ignore[operator]
    assert apsw.sqlite_lib_version() in data["engine"] and apsw.apsw_version() in data["engine"]


def test_reading_goes_on_while_the_disk_is_full(tmp_path: Path, disks: Disks) -> None:
    (one,) = ready(tmp_path, disks, "link")
    with engine_at(one.template, disks.name, 1) as engine:
        disks.injector.arm(Fault("write", 1, BY_NAME["FULL"], lasting=True))
        with pytest.raises(DiskFull):
            one.operation.run(engine)
        assert engine.recall(Query("pool", floor=0.0), SCOPE).hits
        assert contents(engine) == one.before
        disks.injector.disarm()
        one.operation.run(engine)
