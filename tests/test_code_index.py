"""The code index in its file: every question and write, two trees, snapshots, damage of every kind, encryption, processes, a model."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.code.index import Declared, Site, Trail
from hardwon.code.module_names import last_part
from hardwon.code.outline import Call, Import, Outline, Symbol
from hardwon.engine import encryption
from hardwon.engine.encryption import KeyWish
from hardwon.engine.opening import create, open_engine
from hardwon.errors import Busy, Damaged, HardwonError, KeyMissing, StoreError
from hardwon.settings import KeySource
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.code.reads import Reads
from hardwon.store.connection import PLAIN, Access, open_connection, unlock
from hardwon.store.registry import Registry
from hardwon.types import Anchor, Draft, Filter, Origin, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.engine.core import Engine

ROOT = Path(__file__).parent.parent
TREE, OTHER = "shop/.git", "shop/.git/worktrees/two"  # not absolute: not looked for on the disk
AT = 1_700_000_000_000


def sha(number: int) -> str:
    return f"{number:040x}"


def symbol(qualified: str, first: int = 1, fingerprint: str = "00ff00ff00ff00ff", kind: str = "function") -> Symbol:
    return Symbol(
        qualified, kind, first, first + 3, f"def {qualified}()", "What it does.", fingerprint, 30, 4_000_000_000, 3, b"12345678"
    )


SERVICE = Outline(
    "python",
    lines=40,
    symbols=(symbol("Service", 1, "a" * 16, "class"), symbol("Service.validate", 3, "b" * 16), symbol("login", 20, "c" * 16)),
    calls=(Call("login", "validate", "service", 22), Call("login", "Service", "", 21), Call("", "login", "", 40)),
    imports=(Import("..pkg.mod", "Thing", "", 1), Import("os", "", "", 2), Import("json.decoder", "", "decoder", 3)),
)
HELPER = Outline(
    "typescript",
    lines=9,
    broken=True,
    symbols=(symbol("validate", 2, "b" * 16),),
    calls=(Call("validate", "login", "api", 4),),
    imports=(Import("./lib/mod.ts", "login", "enter", 1),),
)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[CodeIndex]:
    made = at(tmp_path / "s.db.code")
    yield made
    made.close()


def at(path: Path, access: Access = PLAIN) -> CodeIndex:
    return CodeIndex(str(path), lambda: access, lambda: AT)


def fill(index: CodeIndex) -> None:
    """Two trees: the second has another service, and the helper at two places."""
    with index.write(TREE) as writer:
        writer.add(sha(1), SERVICE)
        writer.add(sha(2), HELPER)
        writer.add(sha(3), Outline("", "binary"))
        writer.set_files({"src/service.py": sha(1), "web/helper.ts": sha(2), "logo.png": sha(3), "README": sha(4)}, "c1", AT)
    with index.write(OTHER) as writer:
        writer.add(sha(5), Outline("python", symbols=(symbol("Service", 7),)))
        writer.set_files({"src/service.py": sha(5), "web/a/helper.ts": sha(2), "helper.ts": sha(2)}, "c2", AT + 1)


# Every question


def test_a_blob_tells_what_it_declares(index: CodeIndex) -> None:
    fill(index)
    with index.read(TREE) as reader:
        assert reader.symbols(sha(1)) == list(SERVICE.symbols)
        assert reader.symbols(sha(3)) == []
        assert reader.symbols(sha(4)) is None  # in the tree, and not read
        assert reader.symbols(sha(99)) is None
        assert [reader.skipped(sha(number)) for number in (1, 3, 4, 99)] == ["", "binary", "", ""]


def test_each_tree_sees_its_own_files(index: CodeIndex) -> None:
    fill(index)
    with index.read(TREE) as reader:
        assert (reader.commit, reader.indexed_at, reader.trouble) == ("c1", AT, "")
        assert reader.paths() == ["README", "logo.png", "src/service.py", "web/helper.ts"]
        assert reader.blob_at("src/service.py") == sha(1)
        assert reader.blob_at("README") == sha(4)
        assert reader.blob_at("nowhere.py") == ""
        assert reader.ending("helper.ts") == ["web/helper.ts"]
    with index.read(OTHER) as reader:
        assert (reader.commit, reader.indexed_at) == ("c2", AT + 1)
        assert reader.blob_at("src/service.py") == sha(5)
        assert reader.blob_at("README") == ""
        assert reader.ending("helper.ts") == ["helper.ts", "web/a/helper.ts"]
        assert reader.ending("a/helper.ts") == ["web/a/helper.ts"]
        assert reader.ending("elper.ts") == reader.ending("") == []
    with index.read("/elsewhere") as reader:
        assert (reader.commit, reader.indexed_at, reader.paths(), reader.named("Service")) == ("", 0, [], [])
        assert reader.symbols(sha(1)) == list(SERVICE.symbols)


def test_names_fingerprints_calls_and_imports_are_those_of_the_trees_files(index: CodeIndex) -> None:
    fill(index)
    service, helper = SERVICE.symbols, HELPER.symbols[0]
    with index.read(TREE) as reader:
        assert reader.named("validate") == [Declared("src/service.py", service[1]), Declared("web/helper.ts", helper)]
        assert reader.named("validate", 1) == [Declared("src/service.py", service[1])]
        assert reader.named("Validate") == reader.named("Service.validate") == reader.named("") == []
        assert [one.path for one in reader.like("b" * 16)] == ["src/service.py", "web/helper.ts"]
        assert reader.like("") == reader.like("d" * 16) == []
        assert reader.calls_to("login") == [Site("src/service.py", SERVICE.calls[2]), Site("web/helper.ts", HELPER.calls[0])]
        assert reader.calls_to("login", 1) == [Site("src/service.py", SERVICE.calls[2])]
        assert reader.calls_in("src/service.py") == [SERVICE.calls[1], SERVICE.calls[0], SERVICE.calls[2]]
        assert reader.calls_in("nowhere.py") == reader.calls_in("README") == []
        assert reader.imports_of("src/service.py") == list(SERVICE.imports)
        assert reader.importers_of("mod") == [("src/service.py", SERVICE.imports[0]), ("web/helper.ts", HELPER.imports[0])]
        assert reader.importers_of("Thing") == [("src/service.py", SERVICE.imports[0])]
        assert reader.importers_of("login", 1) == [("web/helper.ts", HELPER.imports[0])]
        assert reader.importers_of("") == reader.importers_of("enter") == []
    with index.read(OTHER) as reader:
        assert [(one.path, one.symbol.first) for one in reader.named("Service")] == [("src/service.py", 7)]
        assert [one.path for one in reader.named("validate")] == ["helper.ts", "web/a/helper.ts"]


def test_files_that_change_leave_and_come(index: CodeIndex) -> None:
    fill(index)
    with index.write(TREE) as writer:
        writer.set_files({"src/service.py": sha(5), "web/helper.ts": sha(2), "new.py": sha(6)}, "c3", AT + 5)
        assert (writer.commit, writer.indexed_at) == ("c3", AT + 5)
        assert writer.paths() == ["new.py", "src/service.py", "web/helper.ts"]  # it sees what it wrote
    with index.read(TREE) as reader:
        assert reader.blob_at("src/service.py") == sha(5)
        assert reader.blob_at("logo.png") == ""
        assert reader.commit == "c3"
    with index.read(OTHER) as reader:
        assert len(reader.paths()) == 3


def test_only_what_differs_is_written(index: CodeIndex) -> None:
    fill(index)
    files = {f"f{number}.py": sha(number) for number in range(500)}
    with index.write(TREE) as writer:
        writer.set_files(files, "c", AT)
    with index.write(TREE) as writer:
        before = writer._db.total_changes()
        writer.set_files({**files, "f7.py": sha(8)}, "d", AT)
        assert writer._db.total_changes() - before == 2  # the file, and the tree


def test_companions_of_a_file_most_frequent_first(index: CodeIndex) -> None:
    with index.write(TREE) as writer:
        writer.set_cochanges([("a", "b", 3), ("c", "a", 5), ("a", "d", 3), ("b", "c", 1)])
    with index.read(OTHER) as reader:
        assert reader.cochanged("a") == [("c", 5), ("b", 3), ("d", 3)]
        assert reader.cochanged("a", 1) == [("c", 5)]
        assert reader.cochanged("b") == [("a", 3), ("c", 1)]
        assert reader.cochanged("z") == []
    with index.write(TREE) as writer:
        before = writer._db.total_changes()
        writer.set_cochanges([("a", "b", 4), ("c", "a", 5)])
        assert writer._db.total_changes() - before == 2 * 4  # two pairs went, one left its place and came elsewhere
        assert writer.cochanged("a") == [("c", 5), ("b", 4)]


def test_what_became_of_an_anchor_is_told_by_its_tree(index: CodeIndex) -> None:
    moved, gone = Trail("b.py", "f", "c9", AT, "renamed by git"), Trail("", "")
    with index.write(TREE) as writer:
        writer.set_trails([("a.py", "f", sha(1), "c1", moved), ("a.py", "g", sha(1), "c1", gone)])
    with index.write(OTHER) as writer:
        writer.set_trails([("a.py", "f", sha(1), "c1", gone)])
    with index.write(TREE) as writer:
        writer.set_trails([("a.py", "g", sha(1), "c1", None), ("a.py", "h", "", "", gone)])
    with index.read(TREE) as reader:
        assert reader.trail("a.py", "f", sha(1), "c1") == moved
        assert reader.trail("a.py", "g", sha(1), "c1") is None
        assert reader.trail("a.py", "h", "", "") == gone
        assert reader.trail("a.py", "f", sha(2), "c1") is reader.trail("a.py", "f", sha(1), "c2") is None
    with index.read(OTHER) as reader:
        assert reader.trail("a.py", "f", sha(1), "c1") == gone


def test_settings_and_contents_that_no_commit_has(index: CodeIndex) -> None:
    with index.write(TREE) as writer:
        writer.set_setting("one", "1")
        writer.set_setting("two", "2")
        writer.set_setting("one", "ü")
        writer.set_setting("two", "")
        writer.hold(sha(2), "b.py", b"x\0\xff" * 1000)
        writer.hold(sha(1), "a.py", b"")
        writer.hold(sha(1), "a.py", b"")
        assert writer.held() == [(sha(1), "a.py", b""), (sha(2), "b.py", b"x\0\xff" * 1000)]
        writer.release([sha(1), sha(9)])
    with index.read(OTHER) as reader:
        assert (reader.setting("one"), reader.setting("two"), reader.setting("three")) == ("ü", "", "")
    with index.write(TREE) as writer:
        assert [blob for blob, _, _ in writer.held()] == [sha(2)]


def test_known_blobs_are_put_in_once(index: CodeIndex) -> None:
    fill(index)
    with index.write(TREE) as writer:
        assert writer.known([sha(1), sha(3), sha(4), sha(5), sha(77)]) == {sha(1), sha(3), sha(5)}
        writer.add(sha(1), HELPER)
        assert writer.symbols(sha(1)) == list(SERVICE.symbols)
        writer.add(sha(4), HELPER)  # known as a file's, not read until now
        assert [one.path for one in writer.named("validate")] == ["README", "src/service.py", "web/helper.ts"]


def test_figures(index: CodeIndex) -> None:
    fill(index)
    with index.read(TREE) as reader:
        told = reader.figures()
        size = told.pop("bytes")
        assert told == {"files": 4, "blobs": 4, "symbols": 5, "calls": 4, "skipped": 1, "held": 0}
    assert size % 4096 == 0
    assert size > 0


def test_what_no_tree_has_is_removed_but_what_is_to_be_kept(index: CodeIndex) -> None:
    fill(index)
    with index.write(TREE) as writer:
        writer.set_files({"a.py": sha(5)}, "c", AT)
    with index.write(TREE) as writer:
        assert writer.prune([sha(1)]) == 2  # the picture, the page that was not read
        assert writer.known(map(sha, range(9))) == {sha(1), sha(2), sha(5)}
        assert writer.prune([]) == 1
        assert writer.symbols(sha(1)) is None
        assert [one.path for one in writer.named("Service")] == ["a.py"]
        assert writer.calls_to("Service") == []
        assert writer.symbols(sha(2)) == list(HELPER.symbols)
        assert writer.prune([]) == 0


def test_a_tree_whose_folder_is_gone_counts_no_more(index: CodeIndex, tmp_path: Path) -> None:
    folder = tmp_path / "worktree"
    folder.mkdir()
    for tree, blob in ((str(folder), 1), ("no folder", 2), (TREE, 5)):
        with index.write(tree) as writer:
            writer.add(sha(blob), SERVICE)
            writer.set_files({"a.py": sha(blob)}, "c", AT)
            writer.set_trails([("a.py", "f", "", "", Trail("", ""))])
    with index.write(TREE) as writer:
        assert writer.prune([]) == 0
    folder.rmdir()
    with index.write(TREE) as writer:
        assert writer.prune([]) == 1
        assert writer.known([sha(1), sha(2), sha(5)]) == {sha(2), sha(5)}
    with index.read(str(folder)) as reader:
        assert (reader.paths(), reader.commit, reader.trail("a.py", "f", "", "")) == ([], "", None)


def test_the_file_shrinks_as_blobs_go(index: CodeIndex) -> None:
    for start in (0, 1200):
        with index.write(TREE) as writer:
            for number in range(start, start + 1200):
                writer.add(sha(number), Outline("go", symbols=tuple(symbol(f"F{number}.m{place}", place) for place in range(20))))
            writer.set_files({f"{number}.go": sha(number) for number in range(start, start + 1200)}, "c", AT)
    before = os.path.getsize(index.path)
    removed = []
    while True:
        with index.write(TREE) as writer:
            removed.append(writer.prune([]))
        if not removed[-1]:
            break
    assert removed == [1000, 200, 0]
    for _ in range(5):  # pages are given back some at a time
        with index.write(TREE) as writer:
            writer.prune([])
    with index.read(TREE) as reader:
        assert reader.figures()["symbols"] == 24_000
        assert reader.figures()["bytes"] < 0.65 * before
        assert reader._rows("SELECT count(*) FROM uses") == [(21 * 1200,)]  # names, and the one fingerprint of each blob
        assert reader._rows("SELECT count(*) FROM paths") == [(1200,)]


HOSTILE = ("", "\0", "a\0b", "ä" * 5000, "\udcff.py", "a'b\"c`;--", "\U0001f600", "%_*?[", "../..", "a/b/", "\ud83d")


def test_names_of_every_kind_are_found_again(index: CodeIndex) -> None:
    with index.write(TREE) as writer:
        for number, name in enumerate(HOSTILE):
            told = Symbol(name, "function", 1, 2, name, name, name, 1)
            writer.add(
                sha(number),
                Outline("c", symbols=(told,), calls=(Call(name, name, name, 1),), imports=(Import(name, name, name, 1),)),
            )
            writer.set_setting(name, name or "x")
            writer.hold(name, name, b"x")
        writer.set_files({f"{name}/{name}": name for name in HOSTILE}, "\udcff", AT)
        writer.set_cochanges([(name, name + "x", 1) for name in HOSTILE])
        writer.set_trails([(name, name, name, name, Trail(name, name, name, 1, name)) for name in HOSTILE])
    with index.read(TREE) as reader:
        assert reader.trouble == ""
        assert len(reader.paths()) == len(HOSTILE)
        for number, name in enumerate(HOSTILE):
            assert len(reader.symbols(sha(number)) or ()) == 1
            assert reader.setting(name)
            assert len(reader.cochanged(name)) == 1
            assert reader.trail(name, name, name, name)
            assert reader.blob_at(f"{name}/{name}") == name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("module", "language", "word"),
    [
        ("..pkg.mod", "python", "mod"), ("..", "python", ""), ("os", "python", "os"), ("a.b.c", "python", "c"),
        ("./util", "typescript", "util"), ("./lib/util.js", "javascript", "util"), ("./x.test", "typescript", "x.test"),
        ("..", "typescript", ""), ("react", "tsx", "react"), ("@scope/name", "typescript", "name"),
        ("java.util.List", "java", "List"), ("crate::a::b", "rust", "b"), ("dir/file.h", "c", "file"), ("file.h", "cpp", "file"),
        ("github.com/gin-gonic/gin", "go", "gin"), ("gopkg.in/yaml.v3", "go", "yaml.v3"), ("", "", ""),
    ],
)  # fmt: skip
def test_the_last_part_of_a_module(module: str, language: str, word: str) -> None:
    assert last_part(module, language) == word


# One at a time, and snapshots


def test_a_reader_sees_one_state_while_others_write(index: CodeIndex, tmp_path: Path) -> None:
    fill(index)
    other = at(tmp_path / "s.db.code")
    with index.read(TREE) as reader:
        before = (reader.paths(), reader.named("validate"), reader.cochanged("a"))
        with other.write(TREE) as writer:  # does not wait for the reader
            writer.set_files({"x.py": sha(2)}, "c9", AT)
            writer.set_cochanges([("a", "b", 1)])
            writer.prune([])
        assert (reader.paths(), reader.named("validate"), reader.cochanged("a")) == before
        with index.read(TREE) as inner:  # within the other: the same state
            assert (inner.commit, inner.paths()) == ("c1", before[0])
        assert reader.paths() == before[0]
    with index.read(TREE) as reader:
        assert (reader.commit, reader.paths(), reader.trouble) == ("c9", ["x.py"], "")
    other.close()


def test_nothing_stays_of_a_transaction_that_fails(index: CodeIndex) -> None:
    fill(index)
    with pytest.raises(KeyError), index.write(TREE) as writer:
        writer.add(sha(8), SERVICE)
        writer.set_files({}, "c9", AT)
        raise KeyError
    with index.read(TREE) as reader:
        assert (reader.commit, len(reader.paths()), reader.symbols(sha(8))) == ("c1", 4, None)
    with index.write(TREE) as writer:
        assert not writer.known([sha(8)])


def test_writers_queue_and_are_told_when_it_takes_too_long(index: CodeIndex, tmp_path: Path) -> None:
    other = at(tmp_path / "s.db.code")
    with index.write(TREE):
        with pytest.raises(Busy), other.write(TREE, timeout=0.05):
            pass
        with pytest.raises(Busy):
            other.drop(timeout=0.05)
        with pytest.raises(RuntimeError), index.write(TREE):
            pass
        told = []
        waiting = threading.Thread(target=lambda: told.append(write_one(other)))
        waiting.start()
    waiting.join(10)
    assert told == [1]


def write_one(index: CodeIndex, number: int = 1) -> int:
    with index.write(TREE) as writer:
        writer.set_setting(f"n{number}", "x")
    index.close()
    return number


@pytest.mark.slow
def test_the_log_stays_small(index: CodeIndex) -> None:
    for number in range(30):
        with index.write(TREE) as writer:
            for place in range(40):
                writer.add(sha(1000 * number + place), SERVICE)
            writer.hold(sha(number), "x", random.Random(number).randbytes(200_000))
    assert os.path.getsize(index.path + "-wal") < 3 << 20
    assert stat.S_IMODE(os.stat(index.path).st_mode) == 0o600


def test_a_child_has_connections_of_its_own(index: CodeIndex) -> None:
    fill(index)
    with index.read(TREE) as reader:
        child = os.fork()
        if not child:
            try:
                with index.write(TREE) as writer:
                    writer.set_setting("child", "yes")
                with index.read(TREE) as own:
                    os._exit(0 if own.setting("child") == "yes" and own.symbols(sha(1)) else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert reader.setting("child") == ""  # the snapshot holds
        assert reader.symbols(sha(1))
    with index.read(TREE) as reader:
        assert reader.setting("child") == "yes"


WRITERS = """
import sys
from hardwon.code.outline import Call, Outline, Symbol
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.code.reads import Reads
from hardwon.store.connection import PLAIN
path, who, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
index = CodeIndex(path, lambda: PLAIN)
for number in range(rounds):
    blob = f"{who}-{number}"
    with index.write(f"tree {who}") as writer:
        symbols = tuple(Symbol(f"f{place}", "function", place, place, "", "", f"{who}", 1) for place in range(10))
        writer.add(blob, Outline("c", symbols=symbols, calls=(Call("", "f1", "", number),)))
        writer.add("shared", Outline("c", symbols=symbols[:1]))
        writer.set_files({**writer.files(), f"{number}.c": blob, "shared.c": "shared"}, str(number), number)
    with index.read(f"tree {who}") as reader:
        assert len(reader.files()) == number + 2, reader.files()
        assert len(reader.named("f1")) == number + 1
        assert not reader.trouble
"""


def test_four_processes_write_at_once(tmp_path: Path) -> None:
    path, rounds = tmp_path / "s.db.code", 12
    running = [subprocess.Popen([sys.executable, "-c", WRITERS, str(path), str(who), str(rounds)]) for who in range(4)]
    assert [one.wait(60) for one in running] == [0] * 4
    with at(path).read("tree 2") as reader:
        assert (reader.commit, reader.figures()["blobs"]) == (str(rounds - 1), 4 * rounds + 1)
        assert len(reader.calls_to("f1")) == rounds
    assert at(path).check() == ""


KILLED = """
import os, sys
from hardwon.code.outline import Outline, Symbol
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.code.reads import Reads
from hardwon.store.connection import PLAIN
index = CodeIndex(sys.argv[1], lambda: PLAIN)
print("ready", flush=True)
number = 0
while True:
    number += 1
    with index.write("t") as writer:
        for place in range(30):
            writer.add(f"{number}-{place}", Outline("c", symbols=(Symbol(f"f{number}", "function", 1, 1, "x" * 200, "", "", 1),)))
        writer.set_files({f"{place}.c": f"{number}-{place}" for place in range(30)}, str(number), number)
        if number % 7 == 0:
            writer.prune([])
    if number % 11 == 0:
        index.drop()
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_kill_leaves_an_index_that_is_whole(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "s.db.code"
    for delay in (0.001, 0.03 + 0.02 * seed, 0.1 + 0.01 * seed):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
        assert process.stdout
        process.stdout.readline()
        time.sleep(delay)
        process.kill()
        process.wait()
        process.stdout.close()
        index = at(path)
        assert index.check() == ""
        with index.read("t") as reader:
            assert not reader.trouble
            if reader.commit:
                assert reader.files() == {f"{place}.c": f"{reader.commit}-{place}" for place in range(30)}
                assert len(reader.named(f"f{reader.commit}")) == 30
        with index.write("t") as writer:
            writer.set_setting("after", "kill")
        index.close()


# Damage


def everything(index: CodeIndex) -> str:
    """Ask all there is to ask; the trouble that was told."""
    with index.read(TREE) as reader:
        for number in range(6):
            reader.symbols(sha(number))
            reader.skipped(sha(number))
        for path in (*reader.paths(), *reader.files(), "src/service.py", "web/helper.ts"):
            reader.blob_at(path)
            reader.ending(path)
            reader.calls_in(path)
            reader.imports_of(path)
            reader.cochanged(path)
            reader.trail(path, "f", "", "")
        for name in ("validate", "login", "Service", "mod", "a" * 16, "b" * 16):
            reader.named(name)
            reader.like(name)
            reader.calls_to(name)
            reader.importers_of(name)
        reader.figures()
        reader.setting("one")
        reader.knows(sha(1))
        return reader.trouble


def usable(index: CodeIndex) -> None:
    """It can be filled and asked."""
    with index.write(TREE) as writer:
        writer.add(sha(1), SERVICE)
        writer.set_files({"src/service.py": sha(1)}, "new", AT)
    with index.read(TREE) as reader:
        assert (reader.trouble, reader.commit) == ("", "new")
        assert [one.path for one in reader.named("login")] == ["src/service.py"]


def of_other_program(path: Path) -> None:
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE notes (text)")
    connection.close()


def of_other_version(path: Path) -> None:
    connection = open_connection(str(path), readonly=False, access=at(path).access())
    connection.execute("PRAGMA user_version = 99")
    connection.close()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbage": lambda path: path.write_bytes(random.Random(1).randbytes(path.stat().st_size)),
    "text": lambda path: path.write_text("no database\n" * 1000),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut to a page": lambda path: os.truncate(path, 4096),
    "of another program": of_other_program,
    "of another version": of_other_version,
    "head": lambda path: overwrite(path, 0, b"SQLITE FORMAT 4\0"),
    "schema": lambda path: overwrite(path, 100, b"\xff" * 200),
}


def overwrite(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_told_by_readers_and_made_anew_by_the_writer(index: CodeIndex, damage: str) -> None:
    fill(index)
    index.scrub()  # everything in the file, nothing in the log
    index.close()
    DAMAGES[damage](Path(index.path))
    fresh = at(Path(index.path))
    assert everything(fresh)
    assert fresh.check()
    usable_after(fresh)


def usable_after(index: CodeIndex) -> None:
    """At the second try at the latest: what is found while writing is told once."""
    try:
        usable(index)
    except Damaged as error:
        assert "ingest code" in error.remedy
        assert not os.path.exists(index.path)
        usable(index)
    index.close()


def test_an_empty_file_and_none_are_an_index_that_was_not_made_yet(index: CodeIndex) -> None:
    assert everything(index) == index.check() == ""
    assert index.scrub()
    index.drop()
    assert not os.path.exists(index.path)
    for content in (b"", b"x"):  # SQLite takes either for a database without tables
        Path(index.path).write_bytes(content)
        assert everything(index) == index.check() == ""
        usable(index)
        index.drop()


def test_a_folder_in_its_place_is_left_alone(index: CodeIndex) -> None:
    Path(index.path).mkdir()
    assert "not a file" in everything(index)
    with pytest.raises(StoreError) as told, index.write(TREE):
        pass
    assert "folder" in told.value.message
    assert Path(index.path).is_dir()


def test_a_log_of_garbage_is_passed_over(index: CodeIndex) -> None:
    fill(index)
    index.close()
    content = Path(index.path + "-wal").read_bytes()
    for tail in (content[: len(content) // 2], content[:32] + bytes(len(content)), b"x" * 5000, b""):
        Path(index.path + "-wal").write_bytes(tail)
        Path(index.path + "-shm").unlink(missing_ok=True)
        fresh = at(Path(index.path))
        everything(fresh)
        usable_after(fresh)


@pytest.mark.parametrize("copies", [50, pytest.param(2000, marks=pytest.mark.slow)])
def test_no_flipped_bit_makes_a_question_fail(index: CodeIndex, copies: int) -> None:
    fill(index)
    with index.write(TREE) as writer:
        for number in range(100, 160):
            writer.add(sha(number), SERVICE)
    index.scrub()
    with index.read(TREE) as reader:
        right = (reader.files(), reader.symbols(sha(1)), reader.named("validate"), reader.calls_to("login"))
    index.close()
    whole, dice = Path(index.path).read_bytes(), random.Random(7)
    for _ in range(copies):
        copy = bytearray(whole)
        for _ in range(dice.choice((1, 1, 8))):
            copy[dice.randrange(len(copy))] ^= 1 << dice.randrange(8)
        Path(index.path).write_bytes(copy)
        for end in ("-wal", "-shm"):
            Path(index.path + end).unlink(missing_ok=True)
        fresh = at(Path(index.path))
        everything(fresh)
        with fresh.read(TREE) as reader:
            told = (reader.files(), reader.symbols(sha(1)), reader.named("validate"), reader.calls_to("login"))
            assert told == right or reader.trouble
        assert fresh.mend()  # each flip is found, wherever it is
        usable(fresh)
        fresh.close()


def test_readers_go_on_while_the_file_is_made_anew(index: CodeIndex, tmp_path: Path) -> None:
    fill(index)
    other = at(tmp_path / "s.db.code")
    with other.read(TREE) as reader:
        index.drop()
        assert len(reader.paths()) == 4  # what it has open
    with other.read(TREE) as reader:
        assert (reader.paths(), reader.trouble) == ([], "")
    usable(index)
    with other.read(TREE) as reader:
        assert reader.paths() == ["src/service.py"]
    other.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(index: CodeIndex, tmp_path: Path) -> None:
    fill(index)
    index.close()
    tmp_path.chmod(0o500)
    try:
        everything(index)
        with pytest.raises(StoreError), index.write(TREE):
            pass
    finally:
        tmp_path.chmod(0o700)


def test_no_folder_for_it(tmp_path: Path) -> None:
    nowhere = at(tmp_path / "gone" / "s.db.code")
    assert everything(nowhere) == ""
    with pytest.raises(HardwonError), nowhere.write(TREE):
        pass


# A model


PATHS = ("a.py", "b/a.py", "b/c.py", "c.py")
BLOBS = ("b1", "b2", "b3")
NAMES = ("f", "g", "A", "A.f", "B.g")
symbols_of = st.lists(st.builds(symbol, st.sampled_from(NAMES), st.integers(1, 9), st.sampled_from(("aa", "bb"))), max_size=4)
calls_of = st.lists(
    st.builds(Call, st.sampled_from(NAMES), st.sampled_from(("f", "g")), st.just("x"), st.integers(1, 9)), max_size=4
)
imports_of = st.lists(
    st.builds(Import, st.sampled_from(("p.f", "g", "./x/f.js")), st.sampled_from(("", "g")), st.just(""), st.integers(1, 9)),
    max_size=3,
)
OUTLINES = st.builds(
    lambda *parts: Outline("python", symbols=tuple(parts[0]), calls=tuple(parts[1]), imports=tuple(parts[2])),
    symbols_of, calls_of, imports_of,
)  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(BLOBS), OUTLINES),
        st.tuples(
            st.just("files"), st.sampled_from((TREE, OTHER)), st.dictionaries(st.sampled_from(PATHS), st.sampled_from(BLOBS))
        ),
        st.tuples(st.just("prune"), st.frozensets(st.sampled_from(BLOBS)), st.none()),
        st.tuples(
            st.just("pairs"),
            st.dictionaries(st.sampled_from(list(itertools.combinations(PATHS, 2))), st.integers(1, 5)),
            st.none(),
        ),
    ),
    max_size=12,
)


def by_line(found: Iterable[Any]) -> list[Any]:
    return sorted(found, key=lambda one: one.line if hasattr(one, "line") else one.first)


class Model:
    """What the index should say, in dictionaries."""

    def __init__(self) -> None:
        self.blobs: dict[str, Outline] = {}
        self.files: dict[str, dict[str, str]] = {TREE: {}, OTHER: {}}
        self.pairs: dict[tuple[str, str], int] = {}

    def step(self, writer: Any, what: str, one: Any, other: Any) -> None:
        if what == "add":
            writer.add(one, other)
            self.blobs.setdefault(one, other)
        elif what == "files":
            self.files[one] = other
        elif what == "prune":
            used = {blob for files in self.files.values() for blob in files.values()} | one
            seen = set(self.blobs) - used
            assert writer.prune(one) >= len(seen)
            self.blobs = {blob: outline for blob, outline in self.blobs.items() if blob in used}
        else:
            self.pairs = one
            writer.set_cochanges((a, b, times) for (a, b), times in one.items())

    def compare(self, reader: Any, tree: str) -> None:
        files = self.files[tree]
        read = {path: self.blobs[blob] for path, blob in sorted(files.items()) if blob in self.blobs}
        assert reader.files() == files
        assert {blob for blob in BLOBS if reader.knows(blob)} == set(self.blobs)
        for blob in BLOBS:
            assert reader.symbols(blob) == (by_line(self.blobs[blob].symbols) if blob in self.blobs else None)
        for name in ("f", "g", "A", "aa", "bb", "x"):
            declared = [(path, one) for path, outline in read.items() for one in by_line(outline.symbols)]
            assert reader.named(name) == [Declared(path, one) for path, one in declared if one.name == name]
            assert reader.like(name) == [Declared(path, one) for path, one in declared if one.fingerprint == name]
            called = [(path, one) for path, outline in read.items() for one in by_line(outline.calls)]
            assert reader.calls_to(name) == [Site(path, one) for path, one in called if one.name == name]
            imported = [(path, one) for path, outline in read.items() for one in by_line(outline.imports)]
            assert reader.importers_of(name) == [
                (path, one) for path, one in imported if name in (last_part(one.module, "python"), one.name)
            ]
        for path in PATHS:
            assert reader.calls_in(path) == by_line(read[path].calls if path in read else ())
            assert reader.imports_of(path) == by_line(read[path].imports if path in read else ())
            assert reader.ending(path) == sorted(known for known in files if known == path or known.endswith("/" + path))
            near = [(b if a == path else a, times) for (a, b), times in self.pairs.items() if path in (a, b)]
            assert reader.cochanged(path) == sorted(near, key=lambda one: (-one[1], one[0]))
        figures = reader.figures()
        assert (figures["files"], figures["blobs"]) == (len(files), len(self.blobs))
        assert figures["calls"] == sum(len(outline.calls) for outline in self.blobs.values())
        assert reader.trouble == ""


@pytest.mark.slow
@given(STEPS)
@settings(max_examples=40, deadline=None)
def test_it_says_what_a_model_says(steps: list[tuple[str, Any, Any]]) -> None:
    follow(steps)


@pytest.mark.slow
@given(STEPS)
@settings(max_examples=2000, deadline=None)
def test_it_says_what_a_model_says_of_many(steps: list[tuple[str, Any, Any]]) -> None:
    follow(steps)


def follow(steps: list[tuple[str, Any, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index, model = at(Path(folder) / "s.db.code"), Model()
        for what, one, other in steps:
            with index.write(one if what == "files" else TREE) as writer:
                model.step(writer, what, one, other)
                if what == "files":
                    writer.set_files(other, "c", AT)
        with index.write(TREE) as writer:
            model.compare(writer, TREE)
        for tree in (TREE, OTHER):
            with index.read(tree) as reader:
                model.compare(reader, tree)
        assert index.check() == ""
        index.close()


# Encryption


SECRETS = ("quokkavault", "wombatlike", "platypuskey", "echidnacall", "numbatmodule")


def telling(number: int = 1) -> Outline:
    """An outline with words that are nowhere else."""
    one = symbol("Quokkavault.open", 1).replace(signature="def wombatlike(platypuskey)", doc="echidnacall")
    return Outline(
        "python", symbols=(one,), calls=(Call("f", "echidnacall", "x", number),), imports=(Import("numbatmodule", "", "", 1),)
    )


def write_telling(index: CodeIndex) -> None:
    with index.write(TREE) as writer:
        for number in range(50):
            writer.add(sha(number), telling(number))
        writer.hold(sha(1), "quokkavault.py", b"wombatlike")
        writer.set_setting("numbatmodule", "platypuskey")
        writer.set_trails([("quokkavault.py", "f", "", "", Trail("echidnacall", ""))])
        writer.set_files({f"quokkavault{number}.py": sha(number) for number in range(50)}, "c", AT)


def in_the_clear(folder: Path) -> list[str]:
    """Files with any of the words, those that SQLite would read, and indexes that anybody can read."""
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            content = path.read_bytes().lower() if path.is_file() else b""
        except FileNotFoundError:  # it just went
            continue
        telling = any(word.encode() in content for word in SECRETS) or b"create table" in content
        with at(path).read("") as reader:
            open_to_all = path.suffix == ".code" and isinstance(reader, Reads)
        if telling or content.startswith(b"sqlite format") or open_to_all:
            found.append(path.name)
    return found


def deciphered(index: CodeIndex) -> bytes:
    """Every byte of the file, in the clear."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        for end in ("", "-wal"):
            shutil.copy(index.path + end, copy + end)
        connection = apsw.Connection(copy)
        unlock(connection, index.access().key)
        connection.pragma("journal_mode", "delete")
        connection.pragma("rekey", "")
        connection.close()
        return Path(copy).read_bytes()


def test_the_index_of_an_encrypted_store_has_nothing_in_the_clear(tmp_path: Path) -> None:
    index = at(tmp_path / "s.db.code", Access(key=b"k" * 32, recipient="age1x"))
    write_telling(index)
    assert in_the_clear(tmp_path) == []
    with index.read(TREE) as reader:
        assert len(reader.named("open")) == 50
        assert in_the_clear(tmp_path) == []
    index.scrub()
    assert in_the_clear(tmp_path) == []
    write_telling(at(tmp_path / "plain.db.code"))
    assert in_the_clear(tmp_path) == ["plain.db.code"]  # this looks properly


def test_another_key_is_told_by_readers_and_the_writer_makes_it_anew(tmp_path: Path) -> None:
    ways = [Access(key=b"k" * 32, recipient="age1x"), Access(key=b"l" * 32, recipient="age1y"), PLAIN]
    for before, after in itertools.permutations(ways, 2):
        held = [before]
        index = CodeIndex(str(tmp_path / "s.db.code"), lambda held=held: held[0])
        write_telling(index)
        held[0] = after  # in one process that lives, as when another one changed the key
        assert everything(index)
        usable(index)
        assert bool(in_the_clear(tmp_path)) == (not after.key)
        held[0] = before
        assert everything(index)
        index.close()
        index.drop()


def test_a_key_that_is_missing_is_told(tmp_path: Path) -> None:
    def missing() -> Access:
        raise KeyMissing("no key", remedy="bring it")

    write_telling(at(tmp_path / "s.db.code"))
    index = CodeIndex(str(tmp_path / "s.db.code"), missing)
    assert everything(index) == "no key"
    with pytest.raises(KeyMissing), index.write(TREE):
        pass
    assert os.path.getsize(index.path)
    write_telling(at(tmp_path / "s.db.code"))  # the lock was given back


@pytest.mark.slow
def test_erased_memories_leave_nothing_in_it(index: CodeIndex) -> None:
    write_telling(index)
    with index.write(TREE) as writer:
        writer.hold(sha(2), "x", b"")
        writer.release([sha(1)])
        writer.set_trails([("plain.py", "g", "", "", Trail("", ""))])
        writer.set_setting("numbatmodule", "")
    assert b"quokkavault.py" in deciphered(index)
    assert index.scrub()
    content = deciphered(index)
    assert b"quokkavault.py" not in content
    assert b"echidnacall" not in content
    with index.read(TREE) as reader:
        assert reader.trail("plain.py", "g", "", "") is None
        assert len(reader.named("open")) == 50  # the code is that of the repository
        assert not index.scrub()  # this reader holds the log
    assert index.scrub()
    index.close()
    Path(index.path).write_bytes(b"quokkavault.py" * 900)
    assert index.scrub()
    assert b"quokkavault" not in Path(index.path).read_bytes()
    usable(index)


# Beside a store


@pytest.fixture
def engine(bare: Path, home: Path) -> Iterator[Engine]:
    made = create(str(bare), str(home))
    assert made.code
    write_telling_of(made)
    yield made
    made.close()


def write_telling_of(engine: Engine) -> None:
    assert engine.code
    with engine.code.write() as writer:
        writer.add(sha(1), telling())
        writer.hold(sha(2), "numbat.py", b"x = 1")
        writer.set_files({"quokkavault.py": sha(1)}, "c", AT)


def names(engine: Engine) -> list[str]:
    assert engine.code
    with engine.code.read() as reader:
        assert reader.trouble == ""
        return [one.symbol.qualified for one in reader.named("open")]


def beside(engine: Engine) -> list[str]:
    folder, base = os.path.split(engine.store.path + ".code")
    return sorted(name for name in os.listdir(folder) if name.startswith(base) and not name.endswith(".lock"))


def test_a_store_that_is_encrypted_leaves_no_plain_index_behind(engine: Engine, home: Path) -> None:
    pytest.importorskip("pyrage")
    registry, source = Registry(str(home)), KeySource()
    assert beside(engine)
    encryption.encrypt(engine, registry, KeyWish(), source)
    assert beside(engine) == []
    assert names(engine) == []
    write_telling_of(engine)
    assert names(engine) == ["Quokkavault.open"]
    assert in_the_clear(home) == []
    encryption.rekey(engine, registry, KeyWish(), source)
    assert beside(engine) == []
    write_telling_of(engine)
    assert in_the_clear(home) == []
    encryption.decrypt(engine, registry, source)
    assert beside(engine) == []
    write_telling_of(engine)
    assert in_the_clear(home)
    assert names(engine) == ["Quokkavault.open"]


def test_who_writes_while_the_store_is_encrypted_writes_nothing_in_the_clear(engine: Engine, bare: Path, home: Path) -> None:
    """Writers that live on in another thread with what they knew of the store, and begin the file anew at any moment."""
    pytest.importorskip("pyrage")
    other = open_engine(str(bare), str(home))
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            write_telling_of(other)
            assert other.code
            other.code.file.drop()
            other.code.file.close()

    writing = threading.Thread(target=go_on)
    writing.start()
    encryption.encrypt(engine, Registry(str(home)), KeyWish(), KeySource())
    time.sleep(0.1)
    assert [name for name in in_the_clear(home) if ".code" in name] == []
    stop.set()
    writing.join(30)
    write_telling_of(other)
    assert in_the_clear(home) == []
    assert names(engine) == names(other) == ["Quokkavault.open"]
    other.close()


def test_an_index_that_somebody_writes_puts_the_end_of_a_change_off(engine: Engine, home: Path) -> None:
    pytest.importorskip("pyrage")
    registry, source = Registry(str(home)), KeySource()
    assert engine.code
    engine.wait = 0.05
    with engine.code.write(), pytest.raises(Busy):
        encryption.encrypt(engine, registry, KeyWish(), source)
    assert encryption.encrypt(engine, registry, KeyWish(), source).done == "finished"
    assert in_the_clear(home) == []


def test_verify_notes_an_index_that_does_not_open(engine: Engine) -> None:
    assert engine.verify() == []
    assert engine.code
    engine.code.file.scrub()  # until now all of it stood in the log
    engine.code.close()
    Path(engine.code.file.path).write_bytes(b"no database" * 1000)
    (finding,) = engine.verify()
    assert (finding.level, finding.remedy) == ("note", "`hardwon ingest code` makes it anew")
    assert Path(engine.code.file.path).read_bytes().startswith(b"no database")  # looking changes nothing
    write_telling_of(engine)
    assert engine.verify() == []


def test_an_erasure_reaches_the_index(engine: Engine) -> None:
    person = Scope(Origin("person", "test", ""))
    kept = engine.record(Draft("Numbats are counted at night", anchors=(Anchor("quokkavault.py", "Quokkavault.open"),)), person)
    assert engine.code
    with engine.code.write() as writer:
        writer.set_trails([("night.py", "f", "", "", Trail("", ""))])
    done = engine.erase(Filter(ids=(kept.id,)), "secret", person, dry_run=False)
    assert (done.done, done.failed, done.log, done.files) == (True, "", False, ())
    with engine.code.write() as writer:
        assert writer.held() == []
        assert writer.trail("night.py", "f", "", "") is None
    assert names(engine) == ["Quokkavault.open"]


def test_backups_and_copies_do_not_carry_it(engine: Engine, tmp_path: Path) -> None:
    from hardwon.store import beside as names_beside
    from hardwon.store import copies

    assert names_beside.aside(engine.store.path) == []
    assert copies.holding(engine.store.path, "", ["00000000-0000-0000-0000-000000000001"]) == []


def test_a_refresh_makes_a_damaged_index_anew(engine: Engine) -> None:
    assert engine.code
    engine.refresh_code()
    with engine.code.read() as reader:
        files = reader.files()
        assert reader.named("validate")
    engine.code.file.scrub()
    engine.code.close()
    overwrite(Path(engine.code.file.path), os.path.getsize(engine.code.file.path) - 2000, b"x")  # where no writer comes by
    assert [finding.level for finding in engine.verify()] == ["note"]
    engine.refresh_code()
    assert engine.verify() == []
    with engine.code.read() as reader:
        assert reader.files() == files
        assert reader.named("validate")
