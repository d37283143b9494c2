"""What the hostile tests share: strange words, a memory that none of them may change, and what a refusal looks like."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import pytest

from hardwon.doors import cli
from hardwon.doors.verbs import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Result

MEGABYTE = "x" * 1_000_000
BAD_BYTES = os.fsdecode(b"\xff\xfe")
ESCAPE = "\x1b]0;title\x07\x1b[31m"
LESSON = ("A.b", "a lesson")
REPORT = (
    '<testsuite><testcase classname="tests.test_a" name="test_it"><failure message="AssertionError: 1"/></testcase></testsuite>'
)
TABLES = (
    "settings", "events", "versions", "memories", "anchors", "occurrences", "links", "aliases", "changes", "vectors", "terms", "documents",
    "corpus",
)  # fmt: skip

# A valid command line of each verb, for the repository of ``kept``; but of ``torture``, which works on stores of its own, and of
# ``mcp`` and ``hook``, which take over the streams of their process; ``install``,
# ``uninstall`` and ``doctor`` are about files in a home folder.
VALID: dict[str, tuple[str, ...]] = {
    "init": (), "record": ("a text",), "fail": LESSON, "ok": LESSON, "query": ("A.b",), "resolve": ("1",), "deactivate": ("1",),
    "stats": (), "recall": ("tokens expire",), "before": ("--symbol", "A.b"),
    "explain": ("auth/service.py:2",), "brief": (), "show": ("1",), "history": ("1",),
    "forget": ("1", "--yes"), "undo": ("1",), "revise": ("1", "other words"), "diff": ("1",), "link": ("2", "1", "--supports"),
    "approve": ("1",), "reject": ("1", "--yes"), "review": (), "useful": ("1",), "useless": ("1",), "ingest": ("docs",),
    "import": ("notes.jsonl",), "export": ("out.jsonl",), "reembed": (), "compact": (), "bench": ("vectors",), "status": (), "verify": (),
    "backup": (), "restore": ("kept.db", "--dry-run"), "repair": ("--dry-run",), "rekey": (),
    "run": ("--junit", "report.xml", "touch", "report.xml"), "refresh": (), "share": ("--dry-run",),
}  # fmt: skip
assert VALID.keys() == BY_NAME.keys() - {"install", "uninstall", "doctor", "torture", "mcp", "hook"}
# Those that write into the store.
WRITING = (
    "record", "fail", "ok", "resolve", "deactivate", "forget", "undo", "revise", "link", "useful", "useless", "ingest", "import",
    "reembed", "compact", "init",
)  # fmt: skip
# Those whose words wait beside a store that cannot take them.
SPOOLING = ("record", "fail", "ok")


class Kept(NamedTuple):
    """A repository with a memory of some things, shared by all cases: none of them may change it."""

    project: Path
    home: Path
    store: Path


def make_kept(template: Path, place: Path) -> Kept:
    """The repository with three commits' worth of files, a lesson (1, with two versions), a rule (2), and a file to import."""
    project = Path(shutil.copytree(template, place / "shop", symlinks=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARDWON_HOME", str(place / "home"))
        patch.setenv("HARDWON_CLIENT", "tester")
        patch.chdir(project)
        (project / "notes.jsonl").write_text('{"text": "imported words"}\n')
        (project / "report.xml").write_text(REPORT)
        for words in (
            ["init"],
            ["fail", "A.b", "tokens expire", "--file", "auth/service.py", "--session", "s1"],
            ["record", "Run the migrations first", "--kind", "rule", "--tag", "ci"],
            ["revise", "1", "tokens expire early"],
            ["backup", "kept.db"],
        ):
            assert cli.main(words) == 0
    (store,) = (place / "home" / "stores").glob("*.db")
    return Kept(project, place / "home", store)


@pytest.fixture(scope="module")
def kept(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """One memory for the module."""
    yield make_kept(template, tmp_path_factory.mktemp("hostile"))


def contents(home: Path) -> dict[str, bytes]:
    """Every byte that is kept, but for locks, what SQLite makes beside a store that is read, and the spool, which tells of failures."""
    if home.is_file():
        return {"": home.read_bytes()}
    files = (file for file in home.rglob("*") if file.is_file() and not file.name.endswith(("-shm", ".lock", ".spool")))
    found = {str(file.relative_to(home)): file.read_bytes() for file in files}
    return {name: held for name, held in found.items() if held or not name.endswith("-wal")}


def counted(kept: Kept) -> dict[str, Any]:
    """The row counts and the journal's head."""
    connection = apsw.Connection(str(kept.store), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5_000)
    found: dict[str, Any] = {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in TABLES}
    found["head"] = connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").get
    connection.close()
    return found


def only_file(kept: Kept, home: Path) -> Path:
    """A copy of the store, all of it in its one file."""
    shutil.copytree(kept.home, home)
    store = home / "stores" / kept.store.name
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for end in ("-wal", "-shm", ".lock"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    return store


def told(result: Result) -> None:
    """A message and a remedy, short and fit for a terminal; nothing else."""
    assert "Traceback" not in result.err
    assert result.err.startswith("hardwon: "), result
    assert "\n  " in result.err, result
    assert len(result.err) < 1_500, len(result.err)
    assert all(char.isprintable() or char == "\n" for char in result.err), ascii(result.err)


def told_as_json(result: Result) -> None:
    """The same as one object on standard error."""
    assert result.out == ""
    assert result.error.keys() == {"kind", "field", "message", "remedy"}
    assert result.error["kind"]
    assert result.error["message"]
    assert result.error["remedy"], result


def all_of(cases: dict[str, Callable[[], None]]) -> None:
    """Run each; what is wrong is told together."""
    wrong = []
    for name, case in cases.items():
        try:
            case()
        except Exception as error:  # noqa: BLE001 - all are told together
            wrong.append(f"{name}: {type(error).__name__} {str(error)[:600]}")
    assert not wrong, "\n\n".join(wrong)
