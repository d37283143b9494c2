"""Parsing in children: what a file does to its parser is that file's own harm. Real processes, real hostile texts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from hardwon.code import symbols
from hardwon.code.workers import Workers
from hardwon.errors import Unavailable
from hardwon.types import Anchor, Draft, Query
from tests.test_anchors import AGENT, Ground

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDINARY = b"def f():\n    return g(1)\n"
LONG = b"# what is read in no time\n" * 2000 + ORDINARY  # 52 kB
# Unfinished constructs of which the memory of the parser grows with the square of their number, or worse; comments keep them from being
# known by sight. A gigabyte and more each.
ARROWS = b"a/**/=>\n" * 2000
GENERICS = b"class A { int x = " + b"A/**/<\n" * 20_000


def children() -> set[int]:
    """The processes that this one has started and that are not buried."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(words[1]) == os.getpid():
                found.add(int(name))
    return found


linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(1) as made:
        yield made


def test_children_tell_what_the_parser_tells(workers: Workers) -> None:
    texts = [
        ("a.py", ORDINARY), ("b/é.ts", "export class A { b(): void { c.d() } } // é\n".encode()), ("a.go", b"package a\n"),
        ("a.md", b"# no code"), ("a.c", b"\0"), ("broken.py", b"def f(:\n"), ("a_pb2.py", b"x = 1"), ("e.py", b""),
        ("bad\udcff.py", b"def \xff(): pass\n"),
    ]  # fmt: skip
    found = dict(workers.outlines(texts))
    assert found == {(path, content): symbols.outline(path, content) for path, content in texts}
    assert workers.outline("a.py", ORDINARY) == symbols.outline("a.py", ORDINARY)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "content"), [("a.c", ARROWS), ("A.java", GENERICS)])
def test_a_text_that_takes_a_gigabyte_is_given_up_and_the_others_are_read(workers: Workers, path: str, content: bytes) -> None:
    texts = [("a.py", ORDINARY), (path, content), ("b.py", ORDINARY), ("c.py", ORDINARY)]
    found = {name: outline.skipped for (name, _), outline in workers.outlines(texts)}
    assert found == {"a.py": "", path: "failed", "b.py": "", "c.py": ""}
    assert workers.outline("d.py", ORDINARY).symbols


@pytest.mark.slow
def test_a_text_that_takes_too_long_is_given_up() -> None:
    with Workers(1, memory=8 << 30, processor=0) as workers:  # a second at most, then
        begun = time.monotonic()
        found = {name: outline.skipped for (name, _), outline in workers.outlines([("a.c", ARROWS), ("b.py", ORDINARY)])}
        assert found == {"a.c": "large", "b.py": ""}
        assert time.monotonic() - begun < 30


@pytest.mark.slow
@linux
def test_a_child_that_is_killed_costs_no_file() -> None:
    texts = [(f"{number}.py", LONG) for number in range(100)]
    before = children()
    with Workers(2) as workers:
        found = []
        for number, ((path, _), outline) in enumerate(workers.outlines(texts)):
            found.append((path, outline.skipped))
            if number in (3, 60):
                for child in children() - before:
                    os.kill(child, signal.SIGKILL)
        for child in children() - before:  # while they have nothing to do
            os.kill(child, signal.SIGKILL)
        assert workers.outline("a.py", ORDINARY).symbols
    assert sorted(found) == sorted((path, "") for path, _ in texts)
    assert children() == before


@linux
def test_whoever_stops_asking_leaves_nothing_behind() -> None:
    before = children()
    with Workers(2) as workers:
        for _ in workers.outlines([(f"{number}.py", ORDINARY) for number in range(40)]):
            break
        assert workers.outline("a.c", b"int f(void) { return 1; }\n").symbols[0].name == "f"
    assert children() == before


@pytest.mark.slow
@linux
def test_many_bytes_get_a_second_child_and_few_do_not() -> None:
    before = children()
    for texts, wanted in ((2, 1), (60, 2)):
        with Workers(2) as workers:
            most = 0
            for _ in workers.outlines((f"{number}.py", LONG) for number in range(texts)):
                most = max(most, len(children() - before))
            assert most == wanted
            for number in range(30):  # one after the other, of which another child would have nothing
                workers.outline(f"{number}.py", LONG)
            assert len(children() - before) == wanted


PARENT = """
import sys, time
from hardwon.code.workers import Workers
with Workers(2) as workers:
    for number, _ in enumerate(workers.outlines((f"{n}.py", b"# what is read in no time\\n" * 2000) for n in range(100_000))):
        if number == 60:
            print("under way", flush=True)
"""


def started(command: str) -> subprocess.Popen[bytes]:
    """A process of its own group that runs until it is ended; its children are there."""
    process = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, process_group=0)
    assert process.stdout and process.stdout.readline()
    return process


def group(leader: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[2]) == leader and words[0] != "Z":
            found.append(int(name))
    return found


@pytest.mark.slow
@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_children_end_with_their_parent(how: signal.Signals) -> None:
    process = started(PARENT)
    try:
        assert len(group(process.pid)) == 3
        if how == signal.SIGINT:
            os.killpg(process.pid, how)  # as a terminal does it
        else:
            process.send_signal(how)
        assert process.wait(timeout=20)
        limit = time.monotonic() + 20
        while group(process.pid) and time.monotonic() < limit:
            time.sleep(0.05)
        assert group(process.pid) == []
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_children_neither_see_our_key_nor_load_what_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: Workers
) -> None:
    for name in ("tree_sitter", "marshal", "operator", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDWON_KEY", "secret")
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    others = children()
    assert workers.outline("a.py", ORDINARY).symbols
    assert not (tmp_path / "loaded").exists()
    if os.path.isdir("/proc/self"):
        (child,) = children() - others
        assert b"HARDWON_KEY" not in Path("/proc", str(child), "environ").read_bytes()


def test_without_parsers_it_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(tmp_path / "nothing"))
        with Workers(1) as workers, pytest.raises(Unavailable, match="cannot be parsed"):
            workers.outline("a.py", ORDINARY)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", "/bin/false")
        with Workers(1) as workers, pytest.raises(Unavailable, match="ended at once"):
            workers.outline("a.py", ORDINARY)
    (tmp_path / "tree_sitter_c.py").write_text("raise ImportError('no grammar here')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with Workers(1) as workers, pytest.raises(Unavailable, match="no grammar here"):
        workers.outline("a.c", b"int f(void);\n")


@pytest.mark.slow
def test_a_hostile_file_costs_a_refresh_nothing_but_itself(ground: Ground) -> None:
    """It is read once, and told; what is beside it is known; what memories speak of in it is not called gone."""
    ground.write("evil.c", ARROWS)
    ground.commit("evil")
    engine = ground.engine()
    lesson = Draft("careful", "lesson", "failed", anchors=(Anchor("evil.c", "f"),))
    engine.record(lesson, AGENT)
    report = engine.refresh_code()
    assert report.files == 2 and report.parsed == 1 and report.skipped == (("failed", 1),)
    again = engine.refresh_code()
    assert again.parsed == 0 and again.skipped == ()
    assert engine.code
    with engine.code.read() as code:
        assert code.skipped(code.blob_at("evil.c")) == "failed" and code.named("add")
    (hit,) = engine.recall(Query("careful"), AGENT).hits
    assert hit.memory.anchors[0].state == "same"  # byte for byte
    ground.write("evil.c", ARROWS + b"int x;\n")
    for _ in range(2):
        (hit,) = engine.recall(Query("careful"), AGENT).hits
        assert hit.memory.anchors[0].state == "unknown"
        engine.refresh_code()
    engine.close()


def test_files_that_cannot_be_read_are_told_as_such(home: Path, tmp_path: Path) -> None:
    from hardwon.engine import opening

    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("def a():\n    return 1\n")
    (folder / "large.py").write_bytes(b"x = 1\n" * 200_000)
    (folder / "loop.py").symlink_to(folder / "loop.py")
    engine = opening.create(str(folder), str(home))
    report = engine.refresh_code()
    engine.close()
    assert report.parsed == 1 and report.skipped == (("large", 1), ("unreadable", 1))


def test_two_refreshes_at_once_leave_one_index(ground: Ground) -> None:
    for number in range(60):
        ground.write(f"m{number}.py", f"def f{number}():\n    return {number}\n" * 50)
    ground.commit("many")
    ground.engine().close()
    threads = [Thread(target=ground.refresh) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine = ground.engine()
    assert engine.refresh_code().parsed == 0
    assert engine.code
    with engine.code.read() as code:
        assert len(code.files()) == 61 and all(code.named(f"f{number}") for number in range(60))
    engine.close()


def test_two_threads_have_workers_of_their_own() -> None:
    found: dict[int, list[bool]] = {0: [], 1: []}

    def work(number: int) -> None:
        with Workers(1) as own:
            for (_, content), outline in own.outlines([(f"{n}.py", ORDINARY * (n + number)) for n in range(1, 60)]):
                found[number].append(len(outline.symbols) == content.count(b"def"))

    threads = [Thread(target=work, args=(number,)) for number in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [True] * 59, 1: [True] * 59}
