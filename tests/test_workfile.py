"""The file of sessions beside the store: marks, bounds, many processes, encryption, damage."""

from __future__ import annotations

import multiprocessing
import os
import random

import pytest

from hardwon.errors import Busy, Damaged, KeyMissing
from hardwon.store.connection import PLAIN, Access
from hardwon.store.lock import FileLock
from hardwon.store.sessions.reads import Heartbeat, Waiting, WorkReads
from hardwon.store.sessions.workfile import WorkFile
from hardwon.store.sessions.writes import MOST_SESSIONS, MOST_WAITING

DAY = 86_400_000


@pytest.fixture
def file(tmp_path):
    made = WorkFile(str(tmp_path / "store.db.work"), lambda: PLAIN)
    yield made
    made.close()


def test_of_a_file_that_is_not_there_nothing_is_read_and_nothing_made(file):
    with file.read() as reader:
        assert reader == ""
    assert not os.path.exists(file.path)
    assert file.check() == ""
    assert file.scrub()
    file.drop()
    assert os.listdir(os.path.dirname(file.path)) == []


def test_marks_are_set_once(file):
    with file.write(1) as writer:
        one, other = writer.touch("c", "s1", 10), writer.touch("c", "s2", 11)
        assert one != other
        assert writer.touch("c", "s1", 12) == one
        assert writer.tell(one, "", ["m1", "m2"]) == ["m1", "m2"]
        assert writer.tell(one, "", ["m2", "m3"]) == ["m3"]
        assert writer.tell(one, "agent", ["m2"]) == ["m2"]
        assert writer.refuse(one, ("a.py", "f"), 5, 12)
        assert not writer.refuse(one, ("a.py", "f"), 6, 13)
        assert writer.refuse(other, ("a.py", "f"), 7, 14)
        assert writer.hears(one, "call", 12, 0)
        assert not writer.hears(one, "call", 99_999, 0)
        assert writer.hears(one, "loose", 12, 3_000)
        assert not writer.hears(one, "loose", 3_012, 3_000)
        assert writer.hears(one, "loose", 3_013, 3_000)
    with file.read() as reader:
        assert reader.told("c", "s1", "") == {"m1", "m2", "m3"}
        assert reader.told("c", "unknown", "") == set()
        assert reader.refused("c", "s1") == {("a.py", "f")}
        assert reader.last_refusals([("a.py", "f"), ("b.py", "g")], 12) == {("a.py", "f"): 7}
        assert reader.last_refusals([("a.py", "f")], 15) == {}


def test_a_transaction_that_fails_leaves_nothing(file):
    with pytest.raises(ZeroDivisionError), file.write(1) as writer:
        writer.touch("c", "s", 1)
        raise ZeroDivisionError
    with file.read() as reader:
        assert reader.session("c", "s") is None


def test_what_a_summary_tells_is_noted_unless_the_state_went_on(file):
    with file.write(1) as writer:
        key = writer.touch("c", "s", 1)
        writer.remember(key, "{1}", changed=True)
        seen = writer.session("c", "s")
        writer.remember(key, "{2}", changed=False)
        writer.summed(seen, "digest")
        assert writer.session("c", "s").changed
        writer.summed(writer.session("c", "s"), "digest")
        assert (writer.session("c", "s").changed, writer.session("c", "s").substance) == (False, "digest")
        assert writer.unsaid(10, 5) == []


def test_old_and_too_many_sessions_go_with_their_marks(file):
    with file.write(1) as writer:
        old = writer.touch("c", "old", 0)
        writer.tell(old, "", ["m"])
        writer.refuse(old, ("a.py", "f"), 1, 0)
        for number in range(MOST_SESSIONS + 20):
            writer.touch("c", f"s{number}", 31 * DAY + number)
        writer.hears(writer.touch("c", "s1000", 31 * DAY + 1000), "call", 31 * DAY, 0)
        writer.prune(33 * DAY)
        assert writer.figures()["sessions"] == MOST_SESSIONS
        assert writer.session("c", "s0") is None
        assert writer.last_refusals([("a.py", "f")], 0) == {}
        assert writer._rows("SELECT count(*) FROM told")[0][0] == 0
        assert writer._rows("SELECT count(*) FROM calls")[0][0] == 0


def test_what_waits_is_bounded_and_taken_in_order(file):
    with file.write(1) as writer:
        for number in range(MOST_WAITING + 3):
            assert writer.put_out(Waiting(f"{number:06}", b"said")) == (number >= MOST_WAITING)
        assert [one.id for one in writer.waiting(2)] == ["000003", "000004"]
        writer.taken(["000003"])
        assert writer.waiting(1)[0].id == "000004"


def _refuse(path, results):
    with WorkFile(path, lambda: PLAIN).write(30) as writer:
        results.put(sum(writer.refuse(writer.touch("c", "s", 1), ("a.py", f"f{number}"), 1, 1) for number in range(20)))


def test_of_many_processes_one_sets_each_mark(file):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    crowd = [context.Process(target=_refuse, args=(file.path, results)) for _ in range(8)]
    for process in crowd:
        process.start()
    counts = [results.get(timeout=60) for _ in crowd]
    for process in crowd:
        process.join(60)
    assert sum(counts) == 20


def test_a_writer_gives_up_in_time_and_a_reader_never_waits(file):
    with file.write(1) as writer:
        writer.beat(Heartbeat("c", "start", 5))
    lock = FileLock(file.path + ".lock")
    lock.acquire(1)
    try:
        with pytest.raises(Busy), file.write(0.05):
            pass
        with file.read() as reader:
            assert reader.heartbeats() == [Heartbeat("c", "start", 5)]
    finally:
        lock.release()


def test_under_a_key_nothing_is_readable_without_it(tmp_path):
    path = str(tmp_path / "store.db.work")
    key = Access(key=b"k" * 32, recipient="age1x")
    secret = WorkFile(path, lambda: key)
    with secret.write(1) as writer:
        writer.remember(writer.touch("c", "s", 1), "a very telling state", changed=True)
    with secret.read() as reader:
        assert reader.session("c", "s").state == "a very telling state"
    for end in ("", "-wal"):
        with open(path + end, "rb") as raw:
            assert b"telling" not in raw.read()
    with pytest.raises(KeyMissing), WorkFile(path, lambda: Access(recipient="age1x")).write(1):
        pass
    with WorkFile(path, lambda: PLAIN).read() as reader:
        assert isinstance(reader, str)
        assert reader
    secret.close()


def test_an_erasure_leaves_no_word_in_the_file(file):
    with file.write(1) as writer:
        writer.remember(writer.touch("c", "s", 1), "zebra " * 3000, changed=True)
        writer.put_out(Waiting("1", b"zebra"))
        writer.beat(Heartbeat("c", "start", 5))
    assert file.scrub()
    # The pages are enciphered, so they are asked and not searched: free ones would be counted.
    with file.read() as reader:
        assert reader._rows("PRAGMA freelist_count") == [(0,)]
        assert reader.figures() == {"sessions": 0, "open": 0, "waiting": 0}
        assert len(reader.heartbeats()) == 1
    assert os.path.getsize(file.path + "-wal") == 0


def test_a_changed_bit_is_noticed_and_the_next_writer_makes_it_anew(file):
    with file.write(1) as writer:
        for number in range(50):
            writer.remember(writer.touch("c", f"s{number}", 1), "state " * 500, changed=True)
    lock = file.lock(1)
    connection = file.current(readonly=False).connection
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    lock.release()
    file.close()
    size = os.path.getsize(file.path)
    chance = random.Random(7)
    noticed = 0
    with open(file.path, "rb") as raw:
        whole = raw.read()
    for _ in range(40):
        at = chance.randrange(size)
        with open(file.path, "wb") as raw:
            raw.write(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        noticed += bool(WorkFile(file.path, lambda: PLAIN).check())
    assert noticed == 40
    with open(file.path, "wb") as raw:
        raw.write(bytes([whole[0] ^ 4]) + whole[1:])  # in the page that every writer reads
    with file.write(1) as writer:
        writer.touch("c", "new", 1)
    with file.read() as reader:
        assert isinstance(reader, WorkReads)
        assert reader.check() == ""
        assert reader.figures()["sessions"] == 1


def test_damage_that_is_met_in_a_transaction_removes_the_file(file):
    with file.write(1) as writer:
        for number in range(50):
            writer.remember(writer.touch("c", f"s{number}", 1), "state " * 500, changed=True)
    lock = file.lock(1)
    file.current(readonly=False).connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    lock.release()
    file.close()
    with open(file.path, "r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (os.path.getsize(file.path) - 4096))
    with pytest.raises(Damaged), file.write(1) as writer:
        writer.touch("c", "new", 1)
    with file.write(1) as writer:
        writer.touch("c", "new", 1)
    assert file.check() == ""
