"""What a system refuses: no right to write, no room, no cache folder; and an interrupt in the middle of long work."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import apsw
import pytest

from tests.conftest import Result, git
from tests.gitgrower import make_large
from tests.hostile import VALID, WRITING, Kept, contents, make_kept, told_as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., Result]

READING = ("query", "stats", "recall", "before", "brief", "show", "history", "diff", "review", "status", "verify")


def texts(count: int) -> str:
    """So many lines of an export."""
    return "".join(f'{{"text": "imported words number {n}", "detail": "{"of some length " * 10}"}}\n' for n in range(count))


@pytest.fixture
def own(template: Path, tmp_path: Path) -> Kept:
    """A memory of this test's own."""
    return make_kept(template, tmp_path)


def hardwon(kept: Kept, *words: str, before: tuple[str, ...] = (), room: int | None = None, **variables: str) -> Result:
    """The real command with ``before`` it, as JSON; ``room`` is the most bytes that any file may have."""

    def limit() -> None:
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    done = subprocess.run(
        [*before, sys.executable, "-m", "hardwon", *words, "--json"],
        cwd=kept.project, env={**os.environ, "HARDWON_HOME": str(kept.home), **variables}, capture_output=True, text=True,
        timeout=600, check=False, stdin=subprocess.DEVNULL, preexec_fn=limit,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)


def sound(kept: Kept) -> None:
    """Nothing is wrong with the store, and nothing was left beside it."""
    found = hardwon(kept, "verify")
    assert found.code == 0, found
    assert not list(kept.project.rglob("*.part"))


# No right to write. The superuser may write anywhere, so it gives that right up.

_GIVE_UP = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
RIGHTS = _GIVE_UP if os.geteuid() == 0 else ()
needs_rights = pytest.mark.skipif(bool(RIGHTS) and not shutil.which("setpriv"), reason="the superuser may write anywhere")


@pytest.fixture
def sealed(own: Kept) -> Iterator[Kept]:
    """A home in which nothing may be written."""
    hardwon(own, "compact")
    items = [own.home, *own.home.rglob("*")]
    for item in items:
        item.chmod(0o500 if item.is_dir() else 0o400)
    yield own
    for item in items:
        if item.exists():
            item.chmod(0o700)


SOME = (("recall", "status"), ("record", "import", "compact"))


@needs_rights
@pytest.mark.parametrize("verbs", [SOME, pytest.param((READING, WRITING), marks=pytest.mark.slow)], ids=["some", "all"])
def test_a_home_that_cannot_be_written_answers_and_refuses_writers(
    sealed: Kept, verbs: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    before = contents(sealed.home)
    for verb in verbs[0]:
        found = hardwon(sealed, verb, *VALID[verb], before=RIGHTS)
        assert found.code == 0, (verb, found)
    for verb in verbs[1]:
        refused = hardwon(sealed, verb, *VALID[verb], before=RIGHTS)
        assert refused.code == 1, (verb, refused)
        told_as_json(refused)
        assert refused.error["kind"] == "read_only", (verb, refused)
    assert hardwon(sealed, "export", "out.jsonl", before=RIGHTS).code == 0
    assert contents(sealed.home) == before


@pytest.mark.slow
@needs_rights
def test_what_may_not_be_read_or_written_outside_is_named(own: Kept) -> None:
    secret, folder = own.project / "secret.jsonl", own.project / "sealed"
    secret.write_text('{"hardwon": 1}\n')
    folder.mkdir()
    secret.chmod(0)
    folder.chmod(0o500)
    for words, kind in (
        (("import", "secret.jsonl"), "invalid_input"),
        (("export", "secret.jsonl"), "invalid_input"),
        (("record", "x", "--code", "secret.jsonl"), "invalid_input"),
        (("export", "sealed/out.jsonl"), "read_only"),
    ):
        refused = hardwon(own, *words, before=RIGHTS)
        assert (refused.code, refused.error["kind"]) == (2 if kind == "invalid_input" else 1, kind), refused
        assert refused.error["field"] in ("file", "code")
    assert secret.stat().st_size == 15 and not list(folder.iterdir())
    sound(own)


# No room


FULL = (
    "import", "undo", "compact",
    *(pytest.param(verb, marks=pytest.mark.slow) for verb in ("ingest", "reembed", "record", "revise", "link", "forget", "useful")),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("verb", FULL)
def test_a_full_disk_is_told_and_the_store_stays_whole(own: Kept, verb: str) -> None:
    (own.project / "notes.jsonl").write_text(texts(400))
    (own.project / "docs").mkdir()
    (own.project / "docs" / "guide.md").write_text(
        "".join(f"# Heading {n}\n\n{'a passage of words ' * 40}\n\n" for n in range(200))
    )
    git(own.project, "add", "docs")
    git(own.project, "commit", "-qm", "A guide")
    hardwon(own, "compact")
    size = own.store.stat().st_size
    refused = hardwon(own, verb, *VALID[verb], room=size // 4096 * 4096 if verb == "compact" else 8_192)
    if verb == "record":  # it waits in what is allocated for that
        assert (refused.code, refused.data["action"]) == (0, "spooled"), refused
    elif verb != "compact":  # it may find that there is nothing to do
        assert refused.code == 1, refused
    if refused.code:
        told_as_json(refused)
        assert refused.error["kind"] == "disk_full", refused
    sound(own)
    assert hardwon(own, verb, *VALID[verb]).code == 0
    sound(own)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "markdown", "server-memory"])
def test_an_export_without_room_leaves_the_old_one(own: Kept, form: str) -> None:
    hardwon(own, "import", "notes.jsonl")
    assert hardwon(own, "export", "out", "--format", form).code == 0
    before = (own.project / "out").read_bytes()
    refused = hardwon(own, "export", "out", "--format", form, "--force", room=100)
    assert (refused.code, refused.error["kind"]) == (1, "disk_full"), refused
    assert (own.project / "out").read_bytes() == before
    assert not list(own.project.glob(".hardwon-*"))


# No cache folder: what is kept there can be made again, and is done without


def no_cache(how: str, where: Path) -> Path:
    if how == "a file":
        where.write_text("no folder")
    elif how == "a pipe":
        os.mkfifo(where)
    elif how == "a loop":
        where.symlink_to(where)
    return Path("/proc/no-such") if how == "nowhere" else where


@pytest.mark.slow  # without a place for them, the scanner's rules are compiled each time
@pytest.mark.parametrize("how", ["a file", "a pipe", "a loop", "nowhere"])
def test_without_a_cache_folder_everything_works_and_says_what_is_missing(own: Kept, tmp_path: Path, how: str) -> None:
    cache = {"XDG_CACHE_HOME": str(no_cache(how, tmp_path / "cache"))}
    for words in (
        ("ingest", "docs"),
        ("ingest", "deps"),
        ("ingest", "git"),
        ("verify", "--secrets"),
        ("init",),
        ("import", "notes.jsonl"),
    ):
        found = hardwon(own, *words, **cache)
        assert found.code == 0, (words, found)
        if words[0] == "verify":  # the others found nothing to look through
            assert "secret scanner" in found.data["degraded"][0], found
    for verb in (*READING, "record", "useful", "reembed", "compact"):
        assert hardwon(own, verb, *VALID[verb], **cache).code == 0, verb
    sound(own)


# An interrupt in the middle


class Running:
    """The real command at work, in a process group of its own."""

    def __init__(self, kept: Kept, *words: str, **variables: str) -> None:
        self._kept = kept
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hardwon", *words],
            cwd=kept.project, env={**os.environ, "HARDWON_HOME": str(kept.home), **variables}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def until(self, question: str, least: int) -> int:
        """Wait until the store holds that much; how much it held."""
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            if (found := count(self._kept, question)) >= least:
                return found
            time.sleep(0.005)
        raise AssertionError(self.process.communicate())

    def interrupt(self) -> Result:
        """Ctrl-C, as a terminal sends it: to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)
        out, err = self.process.communicate(timeout=600)
        assert "Traceback" not in err, err
        return Result(self.process.returncode, out, err)


def count(kept: Kept, question: str) -> int:
    connection = apsw.Connection(str(kept.store), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5_000)  # whoever comes after an interrupted writer may have to recover the log
    try:
        return int(connection.execute(question).get)
    finally:
        connection.close()


FACTS = "SELECT count(*) FROM memories WHERE kind = 'fact'"


@pytest.mark.slow
def test_an_interrupted_import_keeps_whole_slices_and_goes_on(own: Kept) -> None:
    (own.project / "notes.jsonl").write_text(texts(700))
    running = Running(own, "import", "-")
    assert running.process.stdin is not None
    running.process.stdin.write(texts(700))  # and no end: it waits for more
    running.process.stdin.flush()
    running.until(FACTS, 100)
    stopped = running.interrupt()
    assert stopped.code == 130
    kept = count(own, FACTS)
    assert 0 < kept < 700 and kept % 100 == 0
    sound(own)
    again = hardwon(own, "import", "notes.jsonl")
    assert (again.data["known"], again.data["new"]) == (kept, 700 - kept)


@pytest.mark.slow
def test_an_interrupted_reading_of_history_keeps_what_is_done_and_goes_on(own: Kept, tmp_path: Path) -> None:
    make_large(tmp_path / "large", 3_000)
    large = Kept(tmp_path / "large", own.home, own.store)
    hardwon(large, "init", "--no-history")
    (store,) = set((own.home / "stores").glob("*.db")) - {own.store}
    large = Kept(large.project, own.home, store)
    changes = "SELECT count(*) FROM changes"
    for words in (("ingest", "git"), ("init",)):
        running = Running(large, *words)
        running.until(changes, count(large, changes) + 1)
        assert running.interrupt().code == 130
        assert 0 < count(large, changes) < 3_000
        sound(large)
    before = count(large, changes)
    assert hardwon(large, "ingest", "git", "--limit", str(before)).code == 0
    sound(large)


@pytest.mark.slow
def test_an_interrupted_reading_of_documents_ends_as_if_it_had_not_been(own: Kept) -> None:
    (own.project / "docs").mkdir()
    for number in range(60):
        text = "".join(f"# Heading {n} of {number}\n\n{'a passage of words ' * 20}\n\n" for n in range(15))
        (own.project / "docs" / f"guide{number}.md").write_text(text)
    git(own.project, "add", "docs")
    git(own.project, "commit", "-qm", "Guides")
    passages = "SELECT count(*) FROM memories WHERE kind = 'doc' AND status = 'active'"
    running = Running(own, "ingest", "docs")
    running.until(passages, 1)
    stopped = running.interrupt()
    assert stopped.code in (0, 130)  # 0: it had just ended
    assert count(own, passages) > 0
    sound(own)
    assert hardwon(own, "ingest", "docs").data["memories"] == 900
    assert count(own, passages) == 900
    sound(own)


class Stuck(BaseHTTPRequestHandler):
    """An endpoint that answers three times, and then no more until the test is over."""

    asked: ClassVar[list[int]] = []
    over = threading.Event()

    def do_POST(self) -> None:  # the name that http.server asks for
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.asked.append(len(texts))
        if len(self.asked) > 3:
            self.over.wait(60)
        rows = [[1.0, 2.0, 3.0]] * len(texts)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"embeddings": rows}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.mark.slow
def test_an_interrupted_embedding_keeps_what_is_done_and_goes_on(own: Kept) -> None:
    (own.project / "notes.jsonl").write_text(texts(400))
    hardwon(own, "import", "notes.jsonl")
    server = HTTPServer(("127.0.0.1", 0), Stuck)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        running = Running(own, "reembed", HARDWON_EMBED_URL=f"http://127.0.0.1:{server.server_port}/api/embed")
        kept = running.until("SELECT count(*) FROM vectors", 64)
        stopped = running.interrupt()
    finally:
        Stuck.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
    assert stopped.code == 130
    assert count(own, "SELECT count(*) FROM vectors") >= kept
    sound(own)
