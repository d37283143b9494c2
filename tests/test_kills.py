"""Processes that are killed while they write, that write all at once, and that read what another has just written."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import hardwon
from hardwon.proof import kills
from hardwon.proof.acknowledged import Account, broken
from hardwon.proof.kills import Tally, round_of_kills, start, told
from hardwon.proof.report import Plan
from hardwon.proof.writer import Writer, sha_of
from hardwon.store.lock import FileLock
from hardwon.types import Change, Query, Scope

SCALE = float(os.environ.get("HARDWON_SCALE", "1"))
traced = kills.tracer()
needs_strace = pytest.mark.skipif(not traced, reason="strace is not installed, or may not trace")


@pytest.fixture
def path(tmp_path: Path) -> str:
    made = str(tmp_path / "a.db")
    hardwon.open_store(made).close()
    return made


def scaled(count: int) -> int:
    return max(1, round(count * SCALE))


def problems(path: str, accounts: list[Account]) -> list[str]:
    engine = hardwon.open_store(path)
    found = [*broken(accounts, engine), *(finding.what for finding in engine.verify() if finding.level != "note")]
    engine.close()
    return found


@pytest.mark.slow
def test_what_was_acknowledged_survives_kills(path: str) -> None:
    tally = Tally()
    accounts = round_of_kills(path, random.Random(3), tally, longest=0.5, most=4)
    assert tally.kills == 4 and tally.acknowledged >= 4
    assert problems(path, accounts) == []


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_hundred_kills(tmp_path: Path) -> None:
    outcome = kills.run(Plan(20261130, 280.0, str(tmp_path), count=scaled(100)), lambda done, of: None)
    print(outcome.figures)
    assert outcome.ok, outcome.violations[:5]
    assert outcome.figures["kills"] >= scaled(100) or outcome.seconds >= 280
    assert outcome.figures["slowest_reopen_ms"] <= 1000 or os.getloadavg()[0] > 4


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "ftruncate", "unlink"])
@pytest.mark.parametrize("number", [1, 2, 5, 17])
def test_a_kill_at_any_system_call_loses_nothing(tmp_path: Path, call: str, number: int) -> None:
    tally = Tally()
    kills.inject(Plan(1, 60.0, str(tmp_path)), call, "signal=SIGKILL", number, 11, tally, traced)
    assert tally.violations == []


@pytest.mark.slow
@needs_strace
@pytest.mark.parametrize("number", [3, 6])
def test_a_sync_that_the_system_refuses_acknowledges_nothing(tmp_path: Path, number: int) -> None:
    tally = Tally()
    kills.inject(Plan(1, 60.0, str(tmp_path)), "fdatasync", "error=EIO", number, 11, tally, traced)
    assert tally.violations == []


@needs_strace
def test_a_write_for_which_there_is_no_room_is_told_so(tmp_path: Path) -> None:
    tally = Tally()
    kills.inject(Plan(1, 60.0, str(tmp_path)), "pwrite64", "error=ENOSPC", 60, 11, tally, traced)
    assert tally.violations == []


# The account, which has to notice


def lines(path: str, count: int = 40) -> list[str]:
    engine = hardwon.open_store(path)
    writer = Writer(engine, "w", 5)
    found = [writer.step() for _ in range(count)]
    engine.close()
    return found


def test_an_account_of_what_was_done_is_right(path: str) -> None:
    said = lines(path, 80)
    assert {line.split()[0] for line in said} == {"new", "again", "revised", "forgot", "changes"}
    assert problems(path, [Account("w", said)]) == []


def test_an_account_notices_what_is_missing_altered_or_too_much(path: str) -> None:
    said = lines(path, 80)
    first = next(line for line in said if line.startswith("new")).split()[1]
    for more, what in (
        (["new 00000000-0000-7000-8000-000000000001 999"], "not there"),
        ([f"again {first} 0"] * 5, "happened"),
        ([f"revised {first} 0 7"], "something else"),
        ([f"forgot {first} 0"], "was forgotten"),
        (["changes 900 3"], "not there"),
    ):
        assert any(what in problem for problem in problems(path, [Account("w", [*said, *more])])), more
    assert any("one more each" in problem for problem in problems(path, [Account("w", said[:10])]))


def test_commits_that_were_refused_are_not_missed(path: str) -> None:
    engine = hardwon.open_store(path)
    engine.add_changes([Change(sha_of("w", number), 1_700_000_000_000 + number, f"change {number}") for number in (3, 4, 5)])
    assert list(broken([Account("w", ["error store_error", "changes 3 3"])], engine)) == []
    missing = list(broken([Account("w", ["changes 0 3", "changes 3 3"])], engine))
    assert [what.split(" of ")[0] for what in missing] == ["commit 0", "commit 1", "commit 2"]
    engine.close()


def test_a_commit_that_a_kill_cut_short_is_no_damage_and_one_that_was_acknowledged_is_missed(path: str, tmp_path: Path) -> None:
    engine = hardwon.open_store(path)
    writer = Writer(engine, "w", 5)
    said = [writer.step() for _ in range(3)]
    cut = tmp_path / "cut.db"
    for end in ("", "-wal"):
        shutil.copy(path + end, f"{cut}{end}")
    engine.close()
    with open(f"{cut}-wal", "r+b") as log:
        log.seek(-100, os.SEEK_END)
        log.write(bytes(100))
    engine = hardwon.open_store(str(cut))
    assert [finding.level for finding in engine.verify()] == ["note"] and kills._damage(engine) == []
    assert list(broken([Account("w", said[:-1])], engine)) == []
    assert list(broken([Account("w", said)], engine)) != []
    engine.close()


# Many at once


def write_together(path: str, processes: int, count: int) -> None:
    writers = {f"w{number}": start(path, f"w{number}", 1, count) for number in range(processes)}
    accounts = [Account(name, told(writer)) for name, writer in writers.items()]
    assert [writer.returncode for writer in writers.values()] == [0] * processes
    assert [account.errors for account in accounts] == [[]] * processes
    assert sum(account.count for account in accounts) == processes * count
    assert problems(path, accounts) == []


def test_eight_processes_write_at_once_without_an_error(path: str) -> None:
    write_together(path, 8, 6)


@pytest.mark.slow
def test_sixty_four_processes_write_at_once_without_an_error(path: str) -> None:
    write_together(path, scaled(64), 10)


HOLDER = """
import sys
import hardwon
store = hardwon.open_store(sys.argv[1]).store
with store.write() as writer:
    writer.set_setting("held", "yes")
    print("held", flush=True)
    sys.stdin.readline()
"""


def recall_while_the_lock_is_held(path: str, recalls: int, seconds: float) -> None:
    """Whoever waited for the writer would wait for ever: it lets go only when it is told to."""
    engine = hardwon.open_store(path)
    for number in range(20):
        engine.record(hardwon.Draft(f"the pool was drained, {number} times"), Scope())
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    begun = time.monotonic()
    for _ in range(recalls):
        assert engine.recall(Query("the pool was drained"), Scope()).hits
    command = [sys.executable, "-c", "import sys; from hardwon.store.sqlite import SqliteStore as S; "
               "print(S(sys.argv[1], make=False).read().__enter__().figures()['memories'])", path]  # fmt: skip
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "20\n"
    time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
    assert engine.recall(Query("the pool was drained"), Scope()).hits
    assert holder.poll() is None
    with pytest.raises(hardwon.errors.Busy):
        FileLock(path + ".lock").acquire(0.01)
    holder.communicate("go\n", timeout=600)
    engine.close()


def test_readers_do_not_wait_for_a_writer(path: str) -> None:
    recall_while_the_lock_is_held(path, 20, 0)


@pytest.mark.slow
def test_a_hundred_recalls_do_not_wait_for_a_writer_that_holds_the_lock_for_thirty_seconds(path: str) -> None:
    recall_while_the_lock_is_held(path, 100, 30 * min(1.0, SCALE))


# Read your write


READER = """
import os, sys
import hardwon
os.chdir(sys.argv[1])
repository = hardwon.open(".")
for line in sys.stdin:
    memory = repository.show(line.strip()).memory
    print(memory.text, flush=True)
"""


@pytest.mark.slow
def test_what_one_process_wrote_another_reads_in_the_same_moment(project: Path, tmp_path: Path) -> None:
    """From a worktree, a subfolder, through a symbolic link, and from the same folder."""
    from tests.conftest import git

    git(project, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    (tmp_path / "link").symlink_to(project)
    places = [project, project / "src", tmp_path / "tree", tmp_path / "link" / "auth"]
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for place in places
    ]
    with hardwon.open(str(project)) as repository:
        for number in range(scaled(250)):
            text = f"lesson {number} of the writer"
            identifier = repository.record(text).id
            for reader in readers:
                assert reader.stdin is not None and reader.stdout is not None
                reader.stdin.write(identifier + "\n")
                reader.stdin.flush()
            assert [reader.stdout.readline() if reader.stdout else "" for reader in readers] == [text + "\n"] * len(readers)
    for reader in readers:
        reader.communicate(timeout=600)


def test_a_command_sees_what_the_command_before_it_wrote(project: Path, run: Any) -> None:
    for number, folder in enumerate((project, project / "src", project)):
        assert run("record", f"note number {number} of the commands", cwd=folder).code == 0
        assert f"note number {number}" in run("recall", f"note number {number} of the commands", cwd=project / "auth").out
