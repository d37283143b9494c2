"""Another file in a store's place: whatever stops it, the place holds one whole store or the other, and none is lost."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from hardwon.engine import opening
from hardwon.errors import Damaged, HardwonError, StoreError
from hardwon.store import copying
from hardwon.store.connection import PLAIN
from hardwon.store.sqlite import SqliteStore
from hardwon.store.swap import Locked, finish, swap, unfinished
from hardwon.types import Draft, Filter, Scope
from tests.dying import CountingDisk, LinklessDisk, RefusingDisk, kills, used

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.store.files import Disk

SWAP = """
from hardwon.store.sqlite import SqliteStore
from hardwon.store.swap import Locked, swap
path = sys.argv[2]
if len(sys.argv) > 3:
    from tests.dying import LinklessDisk
    type(files.disk).link = LinklessDisk.link
with Locked(SqliteStore(path, make=False), 5):
    swap(path, path + ".new", path + ".kept")
"""


def texts(path: Path | str) -> list[str]:
    """What a store says."""
    with SqliteStore(str(path), make=False) as store:
        assert not [item for item in store.check() if item.level != "note"]
        with store.read() as reader:
            return [memory.text for memory in reader.find(Filter(), -1)]


def make(path: Path, *said: str) -> None:
    """A store, the last thing that it says in its log only."""
    engine = opening.open_store(str(path))
    for text in said:
        engine.persist()
        engine.record(Draft(text=text), Scope())
    engine.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An old store with a log, and the new one beside it."""
    folder = tmp_path_factory.mktemp("swap")
    make(folder / "s.db", "old", "old in the log")
    make(folder / "other.db", "new")
    copying.copy(str(folder / "other.db"), PLAIN, str(folder / "s.db.new"), PLAIN)
    for file in folder.glob("other.db*"):
        file.unlink()
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """Those two, to be worked with."""
    return Path(shutil.copytree(made, tmp_path / "stores")) / "s.db"


OLD = ["old in the log", "old"]


def run(store: Path) -> None:
    with Locked(SqliteStore(str(store), make=False), 5):
        swap(str(store), f"{store}.new", f"{store}.kept")


@pytest.mark.parametrize("disk", [CountingDisk(), LinklessDisk()], ids=["links", "no links"])
def test_the_new_store_has_the_place_and_the_old_one_is_kept_with_its_log(store: Path, disk: Disk) -> None:
    with used(disk):
        run(store)
    assert texts(store) == ["new"]
    assert texts(f"{store}.kept") == OLD
    assert not unfinished(str(store))


def test_who_has_the_store_open_goes_on_with_the_new_one(store: Path) -> None:
    with SqliteStore(str(store), make=False) as reader, SqliteStore(str(store), make=False) as writer:
        with reader.read() as before, writer.write():
            assert len(before.find(Filter(), -1)) == 2
        with reader.read() as before:
            run(store)
            assert len(before.find(Filter(), -1)) == 2  # a view is one moment
        with writer.write() as after:
            after.set_setting("mark", "here")
        with reader.read() as after:
            assert [memory.text for memory in after.find(Filter(), -1)] == ["new"]
            assert after.setting("mark") == "here"
    assert texts(f"{store}.kept") == OLD


@pytest.mark.parametrize("links", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["links", "no links"])
def test_a_kill_at_any_step_loses_neither(made: Path, tmp_path: Path, links: bool) -> None:
    left: Iterator[Path] = (Path(shutil.copytree(made, tmp_path / str(number))) / "s.db" for number in range(100))
    path = next(left)
    seen = set()
    for number in kills(SWAP, tmp_path, str(path), *([] if links else ["no links"])):
        begun = unfinished(str(path))
        held = texts(path)  # whoever opens it finishes what was begun
        assert held == (["new"] if begun or not Path(f"{path}.new").exists() else OLD), number
        assert not unfinished(str(path))
        if held == ["new"]:
            assert texts(f"{path}.kept") == OLD, number
        seen.add(held[0])
        shutil.rmtree(path.parent)
        shutil.copytree(made, path.parent)
    assert seen == {"new", OLD[0]}
    assert texts(path) == ["new"]


def test_a_system_that_refuses_a_step_leaves_it_to_the_next(made: Path, tmp_path: Path) -> None:
    counting = CountingDisk()
    with used(counting):
        run(Path(shutil.copytree(made, tmp_path / "all")) / "s.db")
    for which in range(1, counting.calls + 1):
        store = Path(shutil.copytree(made, tmp_path / str(which))) / "s.db"
        with used(RefusingDisk(which, errno.EIO)), pytest.raises(OSError, match="Input/output"):
            run(store)
        held = texts(store)
        assert held in (["new"], OLD), which
        if held == ["new"]:
            assert texts(f"{store}.kept") == OLD, which


def test_what_is_kept_already_is_never_replaced(store: Path) -> None:
    Path(f"{store}.kept").write_bytes(b"precious")
    with pytest.raises(StoreError):
        run(store)
    assert Path(f"{store}.kept").read_bytes() == b"precious"
    assert texts(store) == OLD


@pytest.mark.parametrize("name", ["/elsewhere/new.db", "{}x/new.db", "{}.a\nb"])
def test_only_names_beside_the_store_are_taken(store: Path, name: str) -> None:
    with pytest.raises(StoreError):
        swap(str(store), name.format(store), f"{store}.kept")
    with pytest.raises(StoreError):
        swap(str(store), f"{store}.new", name.format(store))
    assert texts(store) == OLD


@pytest.mark.parametrize("note", [b"", b"\xff\xfe", b"one", b"../up\nkept\n", b"s.db.new\n/etc/passwd\n"])
def test_a_note_that_is_not_what_was_written_is_told_and_touches_nothing(store: Path, note: bytes) -> None:
    Path(f"{store}.swap").write_bytes(note)
    with pytest.raises(Damaged):
        finish(str(store))
    Path(f"{store}.swap").unlink()
    assert texts(store) == OLD


def test_a_place_that_is_empty_is_taken(store: Path) -> None:
    for file in store.parent.glob("s.db*"):
        if not file.name.endswith(".new"):
            file.unlink()
    run(store)
    assert texts(store) == ["new"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("call", ["rename", "link", "unlink", "fsync"])
def test_what_the_kernel_refuses_is_finished_by_the_next(made: Path, tmp_path: Path, call: str) -> None:
    """The same through the system's own calls, which a disk of ours cannot hide."""
    for when in (1, 2, 3):
        store = Path(shutil.copytree(made, tmp_path / f"{call}{when}")) / "s.db"
        code = SWAP.replace("sys.argv[2]", repr(str(store))).replace("len(sys.argv) > 3", "False")
        names = {"rename": "rename,renameat,renameat2", "fsync": "fsync,fdatasync"}.get(call, f"{call},{call}at")
        traced = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={names}", "-e", f"inject={names}:error=EIO:when={when}"]
        subprocess.run(
            [*traced, sys.executable, "-c", "import sys\n" + code],
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            check=False,
        )
        try:
            held = texts(store)
        except HardwonError as error:
            raise AssertionError(f"{call} {when}: {error}") from error
        assert held in (["new"], OLD)
        if held == ["new"]:
            assert texts(f"{store}.kept") == OLD


def test_threads_go_on_reading_while_another_file_takes_the_place(tmp_path: Path) -> None:
    engine = opening.open_store(str(tmp_path / "s.db"))
    engine.record(Draft(text="before", kind="fact"), Scope())
    ready, go_on = Event(), Event()
    seen: list[str] = []

    def read() -> None:
        with engine.store.read() as reader:
            ready.set()
            go_on.wait(30)
            seen.extend(memory.text for memory in reader.find(Filter(), -1))
        with engine.store.read() as reader:
            seen.extend(memory.text for memory in reader.find(Filter(), -1))

    thread = Thread(target=read)
    thread.start()
    assert ready.wait(30)
    path = engine.store.path
    with Locked(engine.store, 5):
        copying.copy(path, PLAIN, path + ".new", PLAIN)
        swap(path, path + ".new", path + ".kept-1")
    engine.record(Draft(text="after", kind="fact"), Scope())
    go_on.set()
    thread.join(30)
    assert sorted(seen) == ["after", "before", "before"]
    engine.close()


def test_a_new_file_that_is_gone_is_told_and_nothing_is_begun(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    Path(path).write_bytes(b"old")
    with pytest.raises(StoreError, match="is gone"):
        swap(path, path + ".new", path + ".kept")
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]
