"""How tests went, from a command to the memory: what is recorded once, what mended it, what is flaky, what proves nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.upkeep import flaky
from hardwon.upkeep.flaky import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

REPORTS = Path(__file__).parent / "reports"
MONEY = (
    'def total(items):\n    return sum(item["price"] for item in items)\n\n\ndef vat(amount, rate):\n    return amount * rate\n'
)
TESTS = (
    "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\nfrom src.money import total, vat\n\n\n"
    'def test_total():\n    assert total([{"price": 1}, {"price": 2}]) == 3\n\n\ndef test_vat():\n    assert vat(100, 2) == 200\n'
)
BROKEN = MONEY.replace('["price"]', '["prize"]')
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")


def git(where: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-c", "commit.gpgsign=false", *words], cwd=where, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(autouse=True)
def _plain_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "PYTEST_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # two edits within a second would be taken for the same
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two functions and their tests."""
    where = tmp_path_factory.mktemp("made") / "shop"
    (where / "src").mkdir(parents=True)
    (where / "tests").mkdir()
    (where / "src/money.py").write_text(MONEY)
    (where / "tests/test_money.py").write_text(TESTS)
    (where / ".gitignore").write_text("*.xml\n__pycache__\n")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Money"),
    ):
        git(where, *words)
    return where


@pytest.fixture
def project(made: Path, tmp_path: Path, call: Callable[..., Result]) -> Path:
    where = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    assert call("init", cwd=where).code == 0
    return where


def memories(call: Callable[..., Result], *filters: str) -> list[dict[str, Any]]:
    hits = call("recall", "--json", "-k", "100", *filters).data["hits"]
    return [hit["memory"] for hit in hits]


def lessons(call: Callable[..., Result]) -> list[tuple[str, int]]:
    return sorted((one["outcome"], one["seen"]) for one in memories(call, "--kind", "lesson"))


# run


@pytest.mark.slow
def test_a_failure_is_recorded_on_its_symbol_once_and_its_fix_with_what_changed(
    project: Path, run: Callable[..., Result]
) -> None:
    money = project / "src/money.py"
    assert run("run", "--json", "--", *PYTEST).data["exit"] == 0
    money.write_text(BROKEN)
    red = run("run", "--json", "--", *PYTEST)
    assert red.code == 1
    assert [one["tests"] for one in red.data["failures"]] == [["tests/test_money.py::test_total"]]
    assert red.data["failures"][0]["said"] == "KeyError: 'prize'"
    assert red.data["failures"][0]["known"] == []
    assert run("run", "--json", "--", *PYTEST).data["failures"][0]["new"] is False
    report = run("query", "total", "--json").data["symbols"][0]
    assert (report["file"], report["fail_count"], report["success_count"]) == ("src/money.py", 1, 0)
    money.write_text(MONEY)
    green = run("run", "--json", "--", *PYTEST)
    assert [one["test"] for one in green.data["fixed"]] == ["tests/test_money.py::test_total"]
    money.write_text(BROKEN)
    again = run("run", "--", *PYTEST)
    assert again.code == 1
    assert "fixed before: #2" in again.err
    assert "src/money.py (total)" in again.err
    assert "fixed before" not in again.out


@pytest.mark.slow
def test_a_claim_about_what_was_mended_is_proven_by_our_own_run(project: Path, run: Callable[..., Result]) -> None:
    money = project / "src/money.py"
    claim = run("record", "total reads the key price", "--file", "src/money.py", "--symbol", "total", "--json").data["id"]
    money.write_text(BROKEN)
    git(project, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "break")
    run("run", "--", *PYTEST)
    money.write_text(MONEY.replace("sum(item", "0 + sum(item"))
    done = run("run", "--json", "--", *PYTEST)
    assert done.out, done
    assert claim in done.data["proven"]
    assert run("show", claim, "--json").data["trust"] == "proven"


@pytest.mark.slow
def test_commands_that_are_no_tests_or_fail_for_nothing_in_the_code_record_nothing(
    project: Path, run: Callable[..., Result]
) -> None:
    for command in (
        ("true",), ("false",), ("sh", "-c", "echo '1 passed in 0.1s'; echo 'tests/test_money.py::test_vat PASSED'"),
        ("grep", "nothing", "src/money.py"),
        (*PYTEST, "tests/nowhere.py"), (*PYTEST, "--no-such-option"),
    ):  # fmt: skip
        done = run("run", "--json", "--", *command)
        assert done.data["exit"] == done.code
        assert done.data["recorded"] is False, command
    assert run("stats", "--json").data["memories"].get("lesson", 0) == 0


def test_without_a_memory_the_command_runs_and_it_is_told(made: Path, tmp_path: Path, run: Callable[..., Result]) -> None:
    done = run("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7", cwd=tmp_path)
    assert (done.code, done.out) == (7, "out\n")
    assert done.err.startswith("err\n")
    assert "hardwon init" in done.err


@pytest.mark.parametrize("way", ["> log 2>&1", "2> log >&2", "> log 2> log", "2>&1 | cat > log"])
def test_output_and_errors_that_go_to_one_place_keep_their_order(project: Path, home: Path, way: str) -> None:
    lines = "".join(f"echo {number} {'>&2' * (number % 2)}; " for number in range(40))
    command = f'"{sys.executable}" -m hardwon run -- sh -c "{lines}" {way}'
    subprocess.run(["sh", "-c", command], cwd=project, check=True)
    printed = (project / "log").read_text().split()
    assert [word for word in printed if word.isdigit()] == [str(number) for number in range(40)]


def test_what_cannot_be_started_has_the_exit_code_of_a_shell(project: Path, run: Callable[..., Result]) -> None:
    assert run("run", "--", "no-such-command-here").code == 127
    (project / "plain.txt").write_text("x")
    assert run("run", "--", "./plain.txt").code == 126


@pytest.mark.slow
def test_input_output_and_signals_pass_as_if_we_were_not_there(project: Path, run: Callable[..., Result]) -> None:
    assert run("run", "--", "cat", stdin="from outside").out == "from outside"
    assert run("run", "--", "sh", "-c", "kill -TERM $$").code == 143
    large = run("run", "--", sys.executable, "-c", "print('x' * 5_000_000)")
    assert len(large.out) == 5_000_001
    left = run("run", "--", "sh", "-c", "sleep 30 & echo done")  # who is left behind holds the pipe open
    assert left.out == "done\n"


@pytest.mark.slow
@pytest.mark.parametrize("pause", ["", "sleep 0.01;"])
def test_who_is_left_behind_and_prints_for_ever_does_not_hold_us(
    project: Path, run: Callable[..., Result], tmp_path: Path, pause: str
) -> None:
    loop = f"i=0; while [ ! -e {tmp_path}/stop ] && [ $i -lt 400000 ]; do echo x; {pause} i=$((i+1)); done"
    try:
        left = run("run", "--", "sh", "-c", f"({loop}) & echo done; exit 3")
    finally:
        (tmp_path / "stop").touch()
    assert left.code == 3
    assert "done\n" in left.out


def test_a_signal_that_is_sent_to_us_reaches_the_command(project: Path, home: Path) -> None:
    script = "trap 'echo stopped; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [sys.executable, "-m", "hardwon", "run", "--", "sh", "-c", script],
        cwd=project,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.stdout.read() == b"stopped\n"
        assert process.wait(30) == 5


def test_on_a_terminal_the_command_has_one_with_its_size(project: Path, home: Path) -> None:
    import pty

    script = "import os, sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty(), os.get_terminal_size(1))"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project)
        os.execv(sys.executable, [sys.executable, "-c", (
            "import fcntl, termios, struct, sys, runpy; fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 77, 0, 0));"
            f"sys.argv = ['hardwon', 'run', '--', sys.executable, '-c', {script!r}]; runpy.run_module('hardwon', run_name='__main__')"
        )])  # fmt: skip
    said = b""
    try:
        while piece := os.read(terminal, 4096):
            said += piece
    except OSError:
        pass  # how a terminal ends
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"True True True" in said, said
    assert b"columns=77, lines=33" in said
    assert b"\r\r\n" not in said


@pytest.mark.slow
def test_a_report_counts_only_if_this_very_run_wrote_it(project: Path, run: Callable[..., Result]) -> None:
    (project / "src/money.py").write_text(BROKEN)
    report = project / "r.xml"
    fresh = run("run", "--json", "--junit", "r.xml", "--", *PYTEST, "--junitxml", "r.xml")
    assert fresh.data["failed"] == 1
    os.utime(report, (1_700_000_000, 1_700_000_000))
    old = run("run", "--json", "--junit", "r.xml", "--", "true")
    assert old.data["recorded"] is False
    assert "older" in old.data["trouble"][0]


# flaky


@pytest.mark.slow
def test_a_test_that_goes_both_ways_on_the_same_files_is_flaky_and_its_failure_does_not_count(
    project: Path, run: Callable[..., Result]
) -> None:
    (project / "tests/test_luck.py").write_text(
        "import os\nfrom tests.test_money import total\n\n\ndef test_luck():\n"
        '    total([{"price": 1} if os.environ.get("LUCK") else {"cost": 1}])\n'
    )
    (project / "tests/__init__.py").write_text("")
    git(project, "add", ".")
    git(project, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "luck")
    red = run("run", "--json", "--", *PYTEST, "tests/test_luck.py")
    assert red.code == 1, red
    green = run("run", "--json", "--", *PYTEST, "tests/test_luck.py", env={"LUCK": "yes"})
    assert green.data["fixed"] == []
    assert green.data["flaky"] == ["tests/test_luck.py::test_luck"]
    listed = run("stats", "--flaky", "--json").data["flaky"]
    assert [(one["test"], one["failed"], one["passed"]) for one in listed] == [("tests/test_luck.py::test_luck", 1, 1)]
    assert run("query", "total", "--json").data == {"symbols": [], "flaky": ["tests/test_luck.py::test_luck"]}
    assert "test_luck" in run("query", "total").out
    again = run("run", "--", *PYTEST, "tests/test_luck.py")
    assert "is flaky" in again.err
    found = run("recall", "--error", "-", "--json", stdin="KeyError: 'price'\ntests/test_luck.py::test_luck failed").data["hits"]
    assert any("is flaky" in hit["memory"]["text"] for hit in found)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "a linux"]), st.booleans()), max_size=20))
def test_flaky_is_exactly_both_ways_on_one_tree(runs: list[tuple[str, bool]]) -> None:
    seen = [Seen(tree, passed, at) for at, (tree, passed) in enumerate(runs)]
    both = {tree for tree, passed in runs if passed} & {tree for tree, passed in runs if not passed}
    kept: tuple[Seen, ...] = ()
    found = set()
    for one in seen:
        found |= {one.tree} if flaky.goes_both_ways(kept, one.tree, passed=one.passed) else set()
        kept = flaky.noted(kept, one)
        assert not flaky.goes_both_ways(kept, "", passed=one.passed)
    assert len(kept) <= flaky.MOST_SEEN
    assert found <= both
    if len(runs) <= flaky.MOST_SEEN:
        assert found == both


# Reports


def test_a_report_is_read_once_and_a_later_one_tells_the_fix_by_commits(project: Path, call: Callable[..., Result]) -> None:
    (project / "src/money.py").write_text(BROKEN)
    git(project, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "Rename the key")
    shutil.copy(REPORTS / "pytest-xunit2.xml", project / "red.xml")
    claim = call("record", "total reads the key price", "--file", "src/money.py", "--symbol", "total", "--json").data["id"]
    first = call("ingest", "junit", "red.xml", "--commit", "HEAD", "--json").data["reports"][0]
    assert (first["passed"], first["failed"], first["again"]) == (1, 1, False)
    again = call("ingest", "junit", "red.xml", "--commit", "HEAD", "--json").data["reports"][0]
    assert again["again"] is True
    assert lessons(call) == [("failed", 1)]
    (project / "src/money.py").write_text(MONEY)
    git(project, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "Read the right key")
    green = '<testsuite><testcase classname="tests.test_money" name="test_total"/></testsuite>'
    (project / "green.xml").write_text(green)
    found = call("ingest", "junit", "green.xml", "--commit", "HEAD", "--json").data["reports"][0]
    assert found["fixed"][0]["test"] == "tests/test_money.py::test_total"
    assert call("show", claim, "--json").data["trust"] == "claimed"  # anybody can write a file
    fix = call("show", found["fixed"][0]["memory"], "--json").data
    assert [(one["path"], one["symbol"]) for one in fix["anchors"]] == [("src/money.py", "total")]
    shutil.copy(REPORTS / "pytest-xunit1.xml", project / "later.xml")
    told = call("ingest", "junit", "later.xml", "--commit", "HEAD")
    assert "fixed before" in told.out


def test_a_report_may_come_by_standard_input(project: Path, call: Callable[..., Result]) -> None:
    report = '<testsuite name="s" tests="1"><testcase classname="tests.test_money" name="test_total"/></testsuite>'
    first = call("ingest", "junit", "-", "--json", stdin=report).data["reports"]
    assert [(one["file"], one["passed"], one["again"]) for one in first] == [("-", 1, False)]
    (project / "same.xml").write_text(report)
    both = call("ingest", "junit", "-", "same.xml", "--json", stdin=report).data["reports"]
    assert [(one["file"].rpartition("/")[2], one["again"]) for one in both] == [("same.xml", True), ("-", True)]
    assert call("ingest", "junit", "-", stdin="").code == 2
    assert "standard input" in call("ingest", "junit", "-", stdin=b"<" + b" " * 200_000_000).err


def test_reports_of_a_folder_other_jobs_and_odd_commits(project: Path, call: Callable[..., Result]) -> None:
    folder = project / "out"
    folder.mkdir()
    for name in ("surefire", "jest", "vitest", "node", "gotestsum"):
        shutil.copy(REPORTS / f"{name}.xml", folder)
    found = call("ingest", "junit", "out", "--commit", "HEAD", "--job", "linux", "--json").data["reports"]
    assert len(found) == 5
    assert call("stats", "--flaky", "--json").data["flaky"][0]["test"] == "org.shop.CartTest.waits"
    # What fails in one job and passes in another at one commit is not flaky.
    (project / "ok.xml").write_text('<testsuite><testcase classname="org.shop.CartTest" name="sums"/></testsuite>')
    told = call("ingest", "junit", "ok.xml", "--commit", "HEAD", "--job", "windows", "--json").data["reports"][0]
    assert told["flaky"] == []
    for words in (("ok.xml", "--commit", "no-such"), ("nowhere.xml",), ()):
        assert call("ingest", "junit", *words).code == 2


def test_a_report_that_is_older_than_the_files_says_nothing_of_them(project: Path, call: Callable[..., Result]) -> None:
    shutil.copy(REPORTS / "pytest-xunit2.xml", project / "red.xml")
    os.utime(project / "red.xml", (1_700_000_000, 1_700_000_000))
    call("ingest", "junit", "red.xml")
    (project / "green.xml").write_text('<testsuite><testcase classname="tests.test_money" name="test_total"/></testsuite>')
    found = call("ingest", "junit", "green.xml", "--json").data["reports"][0]
    assert found["flaky"] == []  # the first was of other files, nobody knows which
    assert found["fixed"] == [{"test": "tests/test_money.py::test_total", "memory": None}]


def test_secrets_in_a_report_are_not_kept(project: Path, call: Callable[..., Result], home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / "r.xml").write_text(
        f'<testsuite><testcase classname="a" name="t"><failure message="ValueError: token {secret}">token {secret}</failure>'
        "</testcase></testsuite>"
    )
    assert call("ingest", "junit", "r.xml").code == 0
    for path in home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_an_erased_failure_leaves_no_word_beside_the_memories(project: Path, home: Path, run: Callable[..., Result]) -> None:
    from hardwon.doors.api import open_repository
    from hardwon.types import Filter, Origin, Scope

    (project / "r.xml").write_text(
        '<testsuite><testcase classname="q" name="zebrafish_waits"><failure message="ValueError: wombats"/></testcase>'
        '<testcase classname="q" name="other"><failure message="KeyError: \'lemur\'"/></testcase></testsuite>'
    )
    assert run("ingest", "junit", "r.xml").code == 0
    with open_repository(str(project)) as repository:
        engine = repository.engine
        with engine.store.read() as reader:
            (wanted,) = [one.id for one in reader.find(Filter(kinds=("lesson",)), -1) if "wombats" in one.text]
        engine.erase(Filter(ids=(wanted,)), "personal", Scope(Origin("person", "", "", "cli")), dry_run=False)
    everything = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"zebrafish" not in everything
    assert b"wombats" not in everything
    assert b"lemur" in everything


# The plugin of pytest


def pytest_there(where: Path, *more: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PYTEST, *more], cwd=where, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_plugin_is_off_unless_it_is_asked_for(project: Path, call: Callable[..., Result]) -> None:
    (project / "src/money.py").write_text(BROKEN)
    assert pytest_there(project).returncode == 1
    assert pytest_there(project, "--no-hardwon", env={"HARDWON_PYTEST": "on"}).returncode == 1
    assert lessons(call) == []
    assert pytest_there(project, env={"HARDWON_PYTEST": "on"}).returncode == 1
    assert lessons(call) == [("failed", 1)]


@pytest.mark.slow
def test_the_plugin_records_and_tells_what_is_known_by_configuration(project: Path, call: Callable[..., Result]) -> None:
    (project / "pytest.ini").write_text("[pytest]\nhardwon = true\n")
    (project / "src/money.py").write_text(BROKEN)
    first = pytest_there(project)
    assert first.returncode == 1
    assert "= hardwon =" not in first.stdout
    (project / "src/money.py").write_text(MONEY)
    assert pytest_there(project).returncode == 0
    (project / "src/money.py").write_text(BROKEN)
    assert "fixed before" in pytest_there(project).stdout
    assert lessons(call) == [("failed", 2), ("worked", 1)]


@pytest.mark.slow
def test_of_several_processes_one_writes_and_hears_of_all(project: Path, call: Callable[..., Result]) -> None:
    pytest.importorskip("xdist")
    (project / "src/money.py").write_text(BROKEN)
    done = pytest_there(project, "--hardwon", "-n", "2")
    assert done.returncode == 1
    assert lessons(call) == [("failed", 1)]


def test_the_plugin_never_changes_how_a_run_ends(made: Path, tmp_path: Path, home: Path) -> None:
    where = Path(shutil.copytree(made, tmp_path / "alone"))
    done = pytest_there(where, "--hardwon")
    assert done.returncode == 0
    assert "nothing was recorded" in done.stdout
    assert not home.exists()


@pytest.mark.slow
def test_tests_from_outside_the_repository_run_and_are_recorded_without_a_file(
    project: Path, call: Callable[..., Result], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "test_out.py").write_text("def test_red():\n    assert 1 == 2\n\n\ndef test_green():\n    pass\n")
    done = pytest_there(project, "--hardwon", f"--rootdir={project}", "tests/test_money.py", str(outside / "test_out.py"))
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert (done.returncode, "1 failed, 3 passed" in done.stdout) == (1, True)
    assert "recorded" not in done.stdout
    assert lessons(call) == [("failed", 1)]


@pytest.mark.slow
def test_whatever_goes_wrong_in_the_plugin_is_told_in_its_summary_only(project: Path, call: Callable[..., Result]) -> None:
    (project / "conftest.py").write_text(
        "from hardwon.doors import pytest_recorder\n\n\ndef broken(*_):\n    raise KeyError('of our own')\n\n\n"
        "pytest_recorder.cut = broken\n"
    )
    (project / "src/money.py").write_text(BROKEN)
    done = pytest_there(project, "--hardwon")
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True)
    assert "nothing was recorded: KeyError: 'of our own'" in done.stdout
    assert lessons(call) == []


def test_the_plugin_that_is_off_loads_nothing_of_ours() -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nimport hardwon.doors.pytest_plugin\n"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('hardwon')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['hardwon', 'hardwon.doors', 'hardwon.doors.pytest_plugin']"


# Pull requests, asked of a program


def fake_program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!{sys.executable}\nimport json, os, sys\n{script}\n")
    (folder / name).chmod(0o755)


def test_texts_of_pull_requests_come_from_gh_and_belong_to_their_commit(
    project: Path, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = git(project, "rev-parse", "HEAD")
    rows = [
        {
            "number": 12, "title": "Round half to even", "mergedAt": "2026-10-01T10:00:00Z", "mergeCommit": {"oid": head},
            "author": {"login": "ann"}, "body": "<!-- what? -->\r\nThe tax office rejects half up.\r\n- [x] tests",
        },
        {"number": 13, "title": "Bump", "mergedAt": "2026-10-02T10:00:00Z", "mergeCommit": None, "author": None, "body": ""},
    ]  # fmt: skip
    fake_program(
        tmp_path / "bin",
        "gh",
        f"open({str(tmp_path / 'asked')!r}, 'w').write(' '.join(sys.argv[1:])); print({json.dumps(rows)!r})",
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    first = call("ingest", "prs", "--json").data
    assert (first["program"], first["added"], first["trouble"]) == ("gh", 1, "")
    assert (tmp_path / "asked").read_text().startswith("pr list --state merged --limit 200 --json ")
    assert call("ingest", "prs", "--json").data["added"] == 0
    hit = call("recall", "why do we round half to even tax office", "--json").data["hits"][0]["memory"]
    assert (hit["text"], hit["commit"], hit["detail"]) == ("Round half to even (#12)", head, "The tax office rejects half up.")
    assert hit["trust"] == "history"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("print('not logged in', file=sys.stderr); sys.exit(4)", "not logged in"),
        ("print('<html>')", "no JSON"),
        ("print('{}')", "no list"),
    ],
)
def test_a_program_that_cannot_answer_is_told_and_no_error(
    project: Path, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    git(project, "remote", "add", "origin", "https://github.com/ann/shop.git")
    fake_program(tmp_path / "bin", "gh", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    found = call("ingest", "prs", "--json")
    assert found.code == 0
    assert told in found.data["trouble"]


def test_merge_requests_come_from_glab_page_by_page(
    project: Path, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "remote", "add", "origin", "https://gitlab.com/ann/shop.git")
    script = (
        "page = int(sys.argv[sys.argv.index('--page') + 1])\n"
        "count = 100 if page == 1 else 3\n"
        "print(json.dumps([{'iid': page * 1000 + n, 'title': f'Change {page} {n}', 'description': f'Reason {page} {n}',"
        " 'merged_at': '2026-10-01T10:00:00.000Z', 'merge_commit_sha': 'a' * 40, 'author': {'name': 'Ann'}} for n in range(count)]))"
    )
    fake_program(tmp_path / "bin", "glab", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert call("ingest", "prs", "--json", "--limit", "150").data["added"] == 103
    texts = [hit["memory"]["text"] for hit in call("recall", "Reason 2 1", "--json").data["hits"]]
    assert "Change 2 1 (!2001)" in texts


# Where tests run


@pytest.mark.slow
def test_tests_of_a_part_of_the_repository_are_named_from_its_top(project: Path, run: Callable[..., Result]) -> None:
    part = project / "pkg"
    shutil.copytree(project / "src", part / "src")
    shutil.copytree(project / "tests", part / "tests")
    (part / "src/money.py").write_text(BROKEN)
    red = run("run", "--json", "--", *PYTEST, cwd=part)
    assert red.data["failures"][0]["tests"] == ["pkg/tests/test_money.py::test_total"]
    shutil.copy(REPORTS / "pytest-xunit2.xml", part / "r.xml")
    told = run("ingest", "junit", "r.xml", "--json", cwd=part).data["reports"][0]
    assert told["failures"][0]["tests"] == ["pkg/tests/test_money.py::test_total"]
