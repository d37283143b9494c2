"""What ``verify`` and ``status`` say of a store that is not what was written: bits, pages, side files, the journal, an earlier file."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.engine import opening
from hardwon.errors import HardwonError
from hardwon.store.checks import check, heads, log_tail
from hardwon.store.checksums import COVERED
from hardwon.store.connection import Access
from hardwon.store.journal import event_hash
from hardwon.store.rows import decode_postings, to_text
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Draft, Finding, Origin, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.engine.core import Engine
    from tests.conftest import Result

    Command = Callable[..., Result]

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import damage

AGENT = Scope(Origin("agent", "tester", "s1"))
LONG_AGO = 1_000_000_000


def verified(path: str, head: str = "") -> list[Finding]:
    """What a process that opens the store now finds."""
    return SqliteStore(path, make=False, head=head).check()


def worst(found: list[Finding]) -> str:
    levels = {finding.level for finding in found}
    return next((level for level in ("error", "warning", "note") if level in levels), "")


def alter(path: str, *statements: str) -> None:
    """Change a store past everything that Hardwon does."""
    connection = apsw.Connection(path)
    connection.pragma("foreign_keys", 0)
    for statement in statements:
        connection.execute(statement)
    connection.pragma("wal_checkpoint", "truncate")
    connection.close()


def filled(path: Path, count: int = 8) -> Engine:
    engine = hardwon.open_store(str(path))
    for number in range(count):
        engine.record(Draft(f"lesson {number}", "lesson", "failed", anchors=(Anchor("a.py", "A.run"),)), AGENT)
    return engine


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with rows in every table; who changes it puts it back."""
    path = str(tmp_path_factory.mktemp("rich") / "a.db")
    damage.make(path, 12, 7)
    return path


# Bits and pages


def test_a_sound_store_has_no_findings(rich: str) -> None:
    assert verified(rich) == []


def test_nearly_every_flipped_bit_of_a_live_row_is_found(rich: str) -> None:
    assert_found(damage.flips(rich, 30, 3))


@pytest.mark.slow
def test_nearly_every_flipped_bit_of_many_is_found(rich: str) -> None:
    assert_found(damage.flips(rich, 800, 4))


def assert_found(cases: list[damage.Case]) -> None:
    # The full-text index's signposts have no checksum, and may lie earlier.
    told = [case for case in cases if case.cell.tree != "search_idx"]
    assert [case for case in told if case.missed] == []
    assert [case for case in cases if case.cell.index and not case.found] == []


@pytest.mark.slow
def test_every_zeroed_page_is_found(rich: str) -> None:
    assert [one for one in damage.zeroed(rich) if not one[-1]] == []


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.99])
def test_a_truncated_file_is_found(tmp_path: Path, rich: str, share: float) -> None:
    path = tmp_path / "a.db"
    raw = Path(rich).read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    assert worst(verified(str(path))) == "error"


def test_what_is_affected_is_named(tmp_path: Path) -> None:
    engine = filled(tmp_path / "a.db")
    engine.close()
    alter(
        engine.store.path,
        "UPDATE memories SET text = 'other words' WHERE number = 3",
        "UPDATE occurrences SET who = 'person' WHERE memory = (SELECT key FROM memories WHERE number = 5)",
        "UPDATE versions SET detail = 'x' WHERE memory = (SELECT id FROM memories WHERE number = 6)",
    )
    where = " ".join(finding.where for finding in verified(engine.store.path))
    assert all(f"#{number} (" in where for number in (3, 5, 6))
    assert not any(f"#{number} (" in where for number in (1, 2, 4, 7, 8))


def test_a_page_that_cannot_be_read_hides_nothing_of_other_tables(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    damage.make(path, 40, 5)
    alter(path, "UPDATE aliases SET alias = 'other' WHERE alias = (SELECT min(alias) FROM aliases)")
    damage.remove_log(path)
    leaves = [page for tree, page, kind in damage.pages(path) if tree == "memories" and kind == "leaf"]
    size = 4096
    with open(path, "r+b") as file:
        for page in leaves[1:-1:2]:
            file.seek((page - 1) * size)
            file.write(bytes(size))
    found = verified(path)
    unread = next(finding for finding in found if finding.where.startswith("memory") and "cannot be read" in finding.what)
    assert unread.what.split()[1] in ("memory", "memories")
    assert any(finding.where.startswith("aliases of") for finding in found)
    assert any(finding.where == f"page {leaves[1]} (memories)" or f"page {leaves[1]}" in finding.what for finding in found)


def test_a_head_that_cannot_be_looked_up_hides_nothing(tmp_path: Path) -> None:
    engine = filled(tmp_path / "a.db")
    path, told = engine.store.path, str(tmp_path / "head")
    heads.write(told, engine.store.connection(readonly=False))  # type: ignore[attr-defined]
    engine.close()
    alter(path, "UPDATE memories SET text = 'other words' WHERE number = 3")
    damage.remove_log(path)
    (page,) = [page for tree, page, _ in damage.pages(path) if tree == "sqlite_autoindex_events_1"]
    with open(path, "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))
    found = verified(path, told)
    assert any(finding.where == "head" and "cannot be read" in finding.what for finding in found)
    assert any("#3 (" in finding.where for finding in found)


@pytest.mark.slow
def test_a_changed_bit_of_an_encrypted_store_is_found(tmp_path: Path) -> None:
    key = b"k" * 32
    engine = hardwon.open_store(str(tmp_path / "a.db"), access=Access(key=key))
    for number in range(20):
        engine.record(Draft(f"lesson {number}"), AGENT)
    path = engine.store.path
    tail = log_tail.read(path)
    assert tail is not None
    assert (tail.broken, tail.read) == (0, tail.frames)  # checksums of what is on the disk, which is encrypted
    engine.persist()
    engine.close()
    damage.remove_log(path)
    for at in range(300, os.path.getsize(path), os.path.getsize(path) // 6):
        copy = str(shutil.copy(path, tmp_path / "copy.db"))
        flip(copy, at, 1)
        store = SqliteStore(copy, make=False, access=Access(key=key))
        try:
            assert worst(store.check()) == "error", at
        except HardwonError as error:
            assert at < 4096, error  # the page that tells whether the key fits
        finally:
            store.close()


def test_rows_behind_several_gaps_are_still_checked(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    damage.make(path, 60, 5)
    last = "(SELECT max(memory) FROM documents)"
    alter(path, f"UPDATE documents SET size = size + 1 WHERE memory = {last}")
    damage.remove_log(path)
    leaves = [page for tree, page, kind in damage.pages(path) if tree == "documents" and kind == "leaf"]
    with open(path, "r+b") as file:
        for page in (leaves[0], leaves[2]):
            file.seek((page - 1) * 4096)
            file.write(bytes(4096))
    found = [finding for finding in verified(path) if finding.where.startswith("documents")]
    assert any(finding.what == "1 row is not what was written" for finding in found), found
    (gaps,) = [finding for finding in found if "cannot be read: between" in finding.what]
    assert gaps.what.count("between") == 2


def test_a_word_that_leads_to_another_memory_is_found(tmp_path: Path) -> None:
    engine = filled(tmp_path / "a.db")
    engine.close()
    connection = apsw.Connection(engine.store.path)
    raw = connection.execute("SELECT postings FROM documents WHERE memory = 3").get
    words = " ".join(map(str, decode_postings(raw)[0]))
    connection.execute("INSERT INTO search (search, rowid, terms) VALUES ('delete', 3, ?)", (words,))
    connection.execute("INSERT INTO search (rowid, terms) VALUES (77, ?)", (words,))  # as many memories as before
    connection.close()
    (finding,) = verified(engine.store.path)
    assert (finding.level, finding.where) == ("warning", "search")
    assert "lead to other memories" in finding.what
    assert "--rebuild" in finding.remedy


def test_checking_writes_nothing(rich: str) -> None:
    before = Path(rich).read_bytes()
    verified(rich)
    SqliteStore(rich, make=False).check_quickly()
    assert Path(rich).read_bytes() == before
    assert not os.path.exists(rich + "-wal") or os.path.getsize(rich + "-wal") == 0


class _Refusing(apsw.VFS):
    """A disk that refuses to read the store's file from its n-th page on."""

    name = "refusing"

    def __init__(self) -> None:
        super().__init__(self.name, "unix")

    def xOpen(self, name: Any, flags: Any) -> Any:  # noqa: N802  # apsw's name
        return _RefusingFile("unix", name, flags)


class _RefusingFile(apsw.VFSFile):
    def __init__(self, base: str, name: Any, flags: Any) -> None:
        self.main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__(base, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802  # apsw's name
        if self.main and offset > 40 * 4096:
            raise apsw.IOError("the disk refused")
        return super().xRead(amount, offset)


def test_a_read_that_the_disk_refuses_is_not_called_damage(tmp_path: Path, rich: str) -> None:
    path = str(shutil.copy(rich, tmp_path / "a.db"))
    shim = _Refusing()
    try:
        found = SqliteStore(path, make=False, access=Access(vfs=shim.name)).check()
    except HardwonError as error:
        assert error.kind == "store_error"
    else:
        assert found
        assert all("refused" in finding.what or "I/O" in finding.what for finding in found), found
    finally:
        shim.unregister()
    assert verified(path) == []


# The log


def a_log(folder: Path, count: int = 40) -> tuple[str, str]:
    """A store whose writer was killed: file and log as they were (a copy), and the log's path."""
    engine = filled(folder / "live.db", count)
    path = str(folder / "a.db")
    for end in ("", "-wal"):
        shutil.copy(engine.store.path + end, path + end)
    engine.close()
    return path, path + "-wal"


def flip(path: str, at: int, count: int = 64) -> None:
    with open(path, "r+b") as file:
        file.seek(at)
        raw = file.read(count)
        file.seek(at)
        file.write(bytes(byte ^ 0xFF for byte in raw))


def test_r01_a_damaged_end_of_the_log_is_found_and_what_is_before_it_is_read(tmp_path: Path) -> None:
    path, log = a_log(tmp_path)
    flip(log, os.path.getsize(log) * 5 // 6)
    tail = log_tail.read(path)
    assert tail is not None
    assert 0 < tail.read < tail.broken < tail.frames
    (finding,) = [finding for finding in verified(path) if finding.where.startswith(log)]
    assert finding.level == "error"
    assert f"{tail.commits} transactions" in finding.what
    assert f"frames {tail.broken:,} to {tail.frames:,}" in finding.where
    assert "repair" in finding.remedy
    assert [quick.level for quick in SqliteStore(path, make=False).check_quickly()] == ["error"]
    with SqliteStore(path, make=False).read() as reader:
        read = reader.figures()["lesson"]
    assert 20 <= read < 40


def test_the_last_transaction_cut_short_is_what_a_crash_leaves(tmp_path: Path) -> None:
    path, log = a_log(tmp_path)
    flip(log, os.path.getsize(log) - 2000)
    (finding,) = verified(path)
    assert (finding.level, finding.where.startswith(log)) == ("note", True)
    assert SqliteStore(path, make=False).check_quickly() == []


@pytest.mark.parametrize("cut", [1, 24, 4000, 4120, 4121])
def test_a_log_that_ends_within_a_transaction_is_whole_before_it(tmp_path: Path, cut: int) -> None:
    path, log = a_log(tmp_path)
    os.truncate(log, os.path.getsize(log) - cut)
    assert verified(path) == []
    with SqliteStore(path, make=False).read() as reader:
        assert reader.figures()["lesson"] == 39


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 5, 9, 14, 24, 30])
def test_a_damaged_header_of_the_log_is_found(tmp_path: Path, at: int) -> None:
    path, log = a_log(tmp_path)
    flip(log, at, 1)
    assert worst(verified(path)) == "error"
    assert worst(SqliteStore(path, make=False).check_quickly()) == "error"


def test_a_log_of_an_earlier_generation_is_no_damage(tmp_path: Path) -> None:
    engine = filled(tmp_path / "a.db", 40)
    # A checkpoint that leaves the log as long as it was: the next commit begins it anew, before what is left of the old one.
    engine.store.connection(readonly=False).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)  # type: ignore[attr-defined]
    engine.record(Draft("one more"), AGENT)
    tail = log_tail.read(engine.store.path)
    assert tail is not None
    assert tail.broken == 0
    assert (tail.frames + 1) * 4120 < os.path.getsize(engine.store.path + "-wal")
    assert engine.verify() == []
    assert engine.store.check_quickly() == []
    engine.close()


def test_checks_beside_a_writer_raise_no_alarm(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    filled(Path(path)).close()
    head = str(tmp_path / "head")
    code = (
        "import sys, hardwon\nfrom hardwon.types import *\n"
        "e = hardwon.open_store(sys.argv[1]); e.store.head = sys.argv[2]\n"
        "import itertools\nprint('on', flush=True)\n"
        "for n in itertools.count():\n"
        "    e.record(Draft(f'note {n} ' + 'word ' * 50), Scope(Origin('agent', 'w', 's')))\n"
        "    import os; os.utime(sys.argv[2], (0, 0))\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, path, head], stdout=subprocess.PIPE)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        for _ in range(8):
            store = SqliteStore(path, make=False, head=head)
            assert [finding for finding in store.check() if finding.level != "note"] == []
            assert store.check_quickly() == []
            store.close()
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
    assert [finding for finding in verified(path, head) if finding.level != "note"] == []


# Side files


def test_the_log_of_another_store_is_found(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    path, log = a_log(tmp_path / "one")
    _, other = a_log(tmp_path / "two", 25)
    before = SqliteStore(path, make=False)
    with before.read():
        head = heads.of(before.connection(readonly=True))
    before.close()
    assert head is not None
    told = tmp_path / "head"
    told.write_bytes(heads.encode(head))
    shutil.copy(other, log)
    assert worst(verified(path, str(told))) == "error"


def test_a_log_of_an_earlier_time_or_none_is_found(tmp_path: Path) -> None:
    engine = filled(tmp_path / "a.db", 10)
    path, told = engine.store.path, tmp_path / "head"
    engine.persist()
    for number in range(5):
        engine.record(Draft(f"early {number}"), AGENT)
    early = Path(path + "-wal").read_bytes()
    for number in range(5):
        engine.record(Draft(f"late {number}"), AGENT)
    heads.write(str(told), engine.store.connection(readonly=False))  # type: ignore[attr-defined]
    copy = tmp_path / "copy.db"
    for log in (early, b""):
        shutil.copy(path, copy)
        Path(f"{copy}-wal").write_bytes(log)
        Path(f"{copy}-shm").unlink(missing_ok=True)
        gone = 5 if log else 10
        (finding,) = verified(str(copy), str(told))
        assert finding.level == "error"
        assert finding.what.startswith(f"{gone} changes that were acknowledged are not in the store")
    engine.close()


def test_the_shared_memory_of_another_store_does_no_harm(tmp_path: Path) -> None:
    path, _ = a_log(tmp_path)
    other = filled(tmp_path / "b.db", 3)
    shutil.copy(other.store.path + "-shm", path + "-shm")
    assert verified(path) == []
    with SqliteStore(path, make=False).read() as reader:
        assert reader.figures()["lesson"] == 40
    other.close()


# An earlier file


class Registered:
    """A registered store through the command, and the head outside."""

    def __init__(self, home: Path, call: Command) -> None:
        assert call("init", "--no-history").code == 0
        self.home, self.call = home, call
        call("record", "the first")
        (store,) = (home / "stores").glob("*.db")
        self.store, self.told = str(store), home / "heads" / store.stem

    def record(self, text: str, *, late: bool = True) -> None:
        """One more memory; ``late``: a minute after the head was last written."""
        if late and self.told.exists():
            os.utime(self.told, (LONG_AGO, LONG_AGO))
        assert self.call("record", text).code == 0

    def keep(self) -> dict[str, bytes]:
        return {end: Path(self.store + end).read_bytes() for end in ("", "-wal") if os.path.exists(self.store + end)}

    def put_back(self, kept: dict[str, bytes]) -> None:
        for end in ("", "-wal", "-shm"):
            Path(self.store + end).unlink(missing_ok=True)
        for end, raw in kept.items():
            Path(self.store + end).write_bytes(raw)


@pytest.fixture
def registered(home: Path, project: Path, call: Command) -> Registered:
    return Registered(home, call)


def test_an_earlier_file_put_back_is_found(registered: Registered) -> None:
    kept = registered.keep()
    for number in range(3):
        registered.record(f"later {number}")
    registered.put_back(kept)
    data = registered.call("verify", "--json").data
    (finding,) = data["findings"]
    assert (data["ok"], finding["level"], finding["where"]) == (False, "error", "journal")
    assert "3 changes that were acknowledged are not in the store" in finding["what"]
    assert "ends with entry 1" in finding["what"]
    assert "hardwon restore" in finding["remedy"]
    status = registered.call("status", "--json")
    assert (status.code, status.data["ok"]) == (1, False)
    assert finding in status.data["findings"]


def test_writing_on_does_not_wipe_out_the_trace(registered: Registered) -> None:
    kept = registered.keep()
    registered.record("later")
    registered.put_back(kept)
    for number in range(3):
        registered.record(f"another {number}")
    data = registered.call("verify", "--json").data
    assert [finding["level"] for finding in data["findings"]] == ["error"]
    assert "written anew" in data["findings"][0]["what"]
    registered.told.unlink()  # what the remedy says, for who wanted it so
    assert registered.call("verify").code == 0
    registered.record("goes on", late=False)
    assert registered.call("verify").out.startswith("all is well")


def test_a_journal_that_lost_its_end_is_found(registered: Registered) -> None:
    registered.record("later")
    alter(
        registered.store,
        "DELETE FROM occurrences WHERE event = 2", "DELETE FROM versions WHERE event = 2", "DELETE FROM events WHERE seq = 2",
        "DELETE FROM documents WHERE memory = 2", "DELETE FROM memories WHERE number = 2",
        "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'events'",
    )  # fmt: skip
    data = registered.call("verify", "--json").data
    assert any("1 change that was acknowledged is not in the store" in finding["what"] for finding in data["findings"])


def test_a_log_that_was_cut_is_found(registered: Registered) -> None:
    kept = len(registered.keep()["-wal"])
    registered.record("later")
    files = registered.keep()
    registered.put_back({"": files[""], "-wal": files["-wal"][:kept]})
    assert registered.call("verify").code == 1


def test_an_older_head_is_normal(registered: Registered) -> None:
    os.utime(registered.told)
    before = registered.told.read_bytes()
    registered.record("at once", late=False)
    assert registered.told.read_bytes() == before
    assert registered.call("verify").out.startswith("all is well")
    registered.record("a minute later")
    assert registered.told.read_bytes() != before


def test_a_head_of_the_future_is_written_anew(registered: Registered) -> None:
    ahead = time.time() + 10 * 365 * 86400
    os.utime(registered.told, (ahead, ahead))
    before = registered.told.read_bytes()
    registered.record("later", late=False)
    assert registered.told.read_bytes() != before
    assert abs(registered.told.stat().st_mtime - time.time()) < 3600


def test_a_checkpoint_tells_the_head_at_once(tmp_path: Path, project: Path, home: Path) -> None:
    engine = opening.create(str(project), str(home))
    engine.record(Draft("one"), AGENT)
    told = next((home / "heads").iterdir())
    before = told.read_bytes()
    engine.record(Draft("two"), AGENT)
    assert told.read_bytes() == before
    engine.persist()
    assert heads.decode(told.read_bytes()).replica_seq == 2
    engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("raw", [b"", b"hardwon-head-1 x 1 00 1 1 00000000\n", b"\xff\xfe", b"x" * 10_000, None])
def test_a_missing_or_garbled_head_is_a_note(registered: Registered, raw: bytes | None) -> None:
    if raw is None:
        registered.told.unlink()
    else:
        registered.told.write_bytes(raw)
    found = registered.call("verify", "--json")
    assert (found.code, [finding["level"] for finding in found.data["findings"]]) == (0, ["note"])
    assert registered.call("status", "--json").data["ok"]
    registered.record("later")
    assert registered.call("verify", "--json").data["findings"] == []


def test_a_head_that_cannot_be_written_costs_no_write(registered: Registered) -> None:
    shutil.rmtree(registered.told.parent)
    registered.told.parent.write_text("in the way")
    assert registered.call("record", "later").code == 0
    assert registered.call("verify", "--json").data["findings"][0]["level"] == "note"


def test_a_head_of_another_replica_that_is_contained_is_fine(tmp_path: Path) -> None:
    engine = filled(tmp_path / "a.db", 3)
    told = tmp_path / "head"
    heads.write(str(told), engine.store.connection(readonly=False))  # type: ignore[attr-defined]
    with engine.write() as writer:
        writer.set_setting("replica", "another")
    engine.record(Draft("of the new replica"), AGENT)
    assert verified(engine.store.path, str(told)) == []
    engine.close()


# The journal, changed by somebody who knows SQL


def rehash(connection: apsw.Connection, seq: int) -> None:
    """The hash of one entry, as a forger computes it."""
    row = connection.execute(
        "SELECT previous, replica, replica_seq, clock, at, who, client, session, tool, action, memory, version, payload, digest "
        "FROM events WHERE seq = ?",
        (seq,),
    ).fetchone()
    if row is None:
        return
    previous, replica, replica_seq, clock, at, who, client, session, tool, action, memory, *rest = row
    origin = Origin(who, client, session, tool)
    hashed = event_hash(previous, replica, replica_seq, clock, at, origin, action, to_text(memory), *rest)
    connection.execute("UPDATE events SET hash = ? WHERE seq = ?", (hashed, seq))


def edit(connection: apsw.Connection, seq: int, other: int) -> None:
    connection.execute("UPDATE events SET payload = payload || 'x', who = 'person' WHERE seq = ?", (seq,))


def restamp(connection: apsw.Connection, seq: int, other: int) -> None:
    connection.execute("UPDATE events SET at = at - 86400000 WHERE seq = ?", (seq,))


def drop(connection: apsw.Connection, seq: int, other: int) -> None:
    connection.execute("DELETE FROM events WHERE seq = ?", (seq,))


def reorder(connection: apsw.Connection, seq: int, other: int) -> None:
    for old, new in ((seq, 10**6), (other, seq), (10**6, other)):
        connection.execute("UPDATE events SET seq = ?, replica_seq = ? WHERE seq = ?", (new, new, old))


def cut(connection: apsw.Connection, seq: int, other: int) -> None:
    connection.execute("DELETE FROM events WHERE seq >= ?", (seq,))
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'", (seq - 1,))


def forge(connection: apsw.Connection, seq: int, other: int) -> None:
    """Everything after an edit computed anew: whole in itself."""
    edit(connection, seq, other)
    rehash(connection, seq)
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM events").get
    for following in range(seq + 1, last + 1):
        connection.execute(
            "UPDATE events SET previous = coalesce((SELECT hash FROM events WHERE seq = ?), previous) WHERE seq = ?",
            (following - 1, following),
        )
        rehash(connection, following)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, int]:
    """A store without a log, the head outside, and the number of entries."""
    folder = tmp_path_factory.mktemp("journal")
    engine = filled(folder / "a.db", 3)
    # Most of the entries without content: nothing but the chain tells of those.
    for _ in range(3):
        engine.set_status("2", "resolved", AGENT)
        engine.set_status("2", "active", AGENT)
        engine.feedback("3", "useful", AGENT)
    engine.feedback("3", "useless", AGENT)
    told = str(folder / "head")
    heads.write(told, engine.store.connection(readonly=False))  # type: ignore[attr-defined]
    engine.persist()
    count = engine.figures()["events"]
    engine.close()
    return engine.store.path, told, count


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_row26_no_change_of_the_journal_goes_unseen(journal: tuple[str, str, int], data: st.DataObject) -> None:
    path, told, count = journal
    steps = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from([edit, restamp, drop, reorder, cut, forge]), st.integers(1, count), st.integers(1, count), st.booleans()
            ),
            min_size=1, max_size=3,
        )
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        copy = str(shutil.copy(path, folder))
        with contextlib.closing(apsw.Connection(copy)) as connection:
            before = connection.execute("SELECT * FROM events ORDER BY seq").fetchall()
            for change, seq, other, naive in steps:
                change(connection, seq, other)
                if naive:
                    rehash(connection, seq)
            changed = connection.execute("SELECT * FROM events ORDER BY seq").fetchall() != before
        assert (worst(verified(copy, told)) == "error") == changed


def test_row26_a_chain_forged_whole_is_told_by_the_head_outside_alone(journal: tuple[str, str, int], tmp_path: Path) -> None:
    path, told, _ = journal
    copy = str(shutil.copy(path, tmp_path / "a.db"))
    connection = apsw.Connection(copy)
    # Of an entry that carries no content: those are tied to the versions as well.
    seq = connection.execute("SELECT max(seq) FROM events WHERE action = 'feedback'").get
    forge(connection, seq, seq)
    connection.close()
    assert verified(copy) == []
    (finding,) = verified(copy, told)
    assert "written anew" in finding.what


# What no command does


READS = (
    ("status",), ("verify",), ("recall", "lesson"), ("show", "1"), ("history", "1"), ("query",), ("stats",), ("brief",),
    ("before", "--file", "a.py"), ("review",), ("diff", "1"), ("export", "-"),
)  # fmt: skip


def test_r03_reading_commands_leave_a_quiet_store_as_it_is(registered: Registered) -> None:
    registered.call("revise", "1", "other words")
    before, size = registered.keep(), os.path.getsize(registered.told)
    for words in READS:
        assert registered.call(*words).code == 0, words
    assert registered.keep() == before
    assert os.path.getsize(registered.told) == size


@pytest.mark.slow
def test_r03_reading_commands_beside_writers_do_no_damage(registered: Registered) -> None:
    code = (
        "import sys\nfrom hardwon.doors import cli\n"
        "for n in range(12):\n    assert cli.main(['record', f'writer {sys.argv[1]} note {n}']) == 0\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(n)], stdout=subprocess.DEVNULL) for n in range(4)]
    while any(writer.poll() is None for writer in writers):
        for words in READS:
            assert registered.call(*words).code == 0, words
    assert [writer.returncode for writer in writers] == [0] * 4
    assert registered.call("verify").code == 0
    assert registered.call("status", "--json").data["memories"]["fact"] == 49


# An audit hook cannot be taken away again: a process of its own.
_HOOKED = """
import os, sys
store = ""
opened = []
def hook(event, arguments):
    if event == "open" and store and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path in (store, store + "-wal", store + "-shm"):
            opened.append(path)
sys.addaudithook(hook)
from hardwon.doors import cli
assert cli.main(["init"]) == 0
store = os.path.realpath(sys.argv[1] and os.popen(sys.argv[1]).read().strip())
import hardwon
held = hardwon.open(".")
held.record("held open")
for line in sys.argv[2:]:
    code = cli.main(line.split("|"))
    assert code in (0, 1), (line, code)
held.verify()
held.close()
assert not opened, opened
assert store.endswith(".db")
"""


@pytest.mark.slow
def test_r05_no_command_opens_the_store_past_sqlite(home: Path, project: Path, call: Command) -> None:
    lines = [
        "record|one thing", "fail|A.b|went wrong|--file|a.py", "fail|A.b|went wrong|--file|a.py", "ok|A.b", "revise|1|other words",
        "resolve|2", "undo|2", "link|1|2|--supports", "useful|1", "forget|1|--yes", "ingest|docs", "ingest|deps", "export|out.jsonl",
        "import|out.jsonl", "compact", "verify|--secrets", "init|--rebuild", *("|".join(words) for words in READS),
    ]  # fmt: skip
    command = [sys.executable, "-c", _HOOKED, f"ls {home}/stores/*.db", *lines]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_every_table_has_its_check() -> None:
    assert {name for name, _ in check.CHECKS} >= {
        "file",
        "schema",
        "chain",
        "versions",
        "memories",
        "anchors",
        "search",
        *COVERED,
    }
