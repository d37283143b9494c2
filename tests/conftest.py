"""What the tests share: a home of their own, a real repository, and two ways to run the command.

Nothing of the machine gets in: no configuration of git, no memory of the person who runs the tests, no sign of an agent. The
command is run as an agent called ``tester``, for whether there is a terminal depends on who started the tests.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from hardwon.code import ancestry
from hardwon.doors import actor, cli

# Started in the background of a script, the tests would pass on that Ctrl-C is ignored, and those of an interrupt would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# CI runs the same examples each time, so that a failure there is one here; elsewhere new ones are looked for.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hardwon.engine.core import Engine
    from tests.gitmaker import GitRepo

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}
AGENT = "tester"
CLIENT_FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "HERMES_HOME")
_LEAKS = ("HARDWON_", "_HARDWON_", "GIT_", "XDG_")
_SINGLE = (*(name for name, _ in actor.MARKERS), "CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED", "PYTHONUTF8")

# Subject, files. The last but one takes the third back.
COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Add the login service",
        {"auth/service.py": "class AuthService:\n    def validate(self, token):\n        return bool(token)\n"},
    ),
    ("Pool database connections", {"src/db.py": "class Pool:\n    def get(self):\n        return self.free.pop()\n"}),
    ("Cache sessions in Redis", {"auth/cache.py": "def remember(session):\n    redis.set(session.key, session)\n"}),
    ("Retry uploads twice", {"src/upload.py": "def upload(part):\n    for attempt in range(2):\n        send(part, attempt)\n"}),
)
BODIES = {"Retry uploads twice": "The storage gateway drops the first request after a restart."}


class Result:
    """What a run of the command gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def __repr__(self) -> str:
        return f"exit {self.code}\nout: {self.out[:2000]}\nerr: {self.err[:2000]}"

    @property
    def data(self) -> Any:
        """The answer as JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error as JSON."""
        return json.loads(self.err)["error"]


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder for all tests, kept from one run to the next: the scanner compiles its rules in five seconds, once."""
    keeper = getattr(pytestconfig, "cache", None)
    return Path(keeper.mkdir("rules")) if keeper else tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recall waits for git for some tenths of a second, which a busy machine may take for anything; whoever tests that sets it back."""
    monkeypatch.setattr(ancestry, "PATIENCE", 60.0)


@pytest.fixture(autouse=True)
def home(cache: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of every test: nothing of the machine's, and a folder for Hardwon that does not exist yet."""
    for name in list(os.environ):
        if name.startswith(_LEAKS) or name in _SINGLE:
            monkeypatch.delenv(name)
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)
    place = tmp_path_factory.mktemp("home") / "hardwon"
    for name in CLIENT_FOLDERS:  # what the clients of whoever runs the tests keep is nobody's business here
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(place.parent))
    monkeypatch.setenv("HARDWON_HOME", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("HARDWON_CLIENT", AGENT)
    monkeypatch.setenv("HARDWON_BACKGROUND", "off")  # a test that leaves a process behind asks for it
    monkeypatch.setenv(
        "HARDWON_HOOK_MS", "60000"
    )  # on a busy machine the usual times would be over; and a late hook ends its process
    return place


def git(where: Path, *words: str, at: int = 0) -> str:
    """Plain git."""
    when = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"} if at else {}
    command = ["git", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", *words]
    environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, **GIT, **when}
    return subprocess.run(command, cwd=where, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def make_repository(where: Path) -> Path:
    """The small repository: COMMITS, and one that takes the third of them back."""
    where.mkdir(parents=True)
    git(where, "init", "-q")
    at = 1_700_000_000
    for subject, files in COMMITS:
        for name, content in files.items():
            (where / name).parent.mkdir(exist_ok=True)
            (where / name).write_text(content)
        git(where, "add", ".")
        git(where, "commit", "-qm", subject, "-m", BODIES.get(subject, ""), at=at)
        at += 86_400
    git(where, "revert", "--no-edit", "HEAD~1", at=at)
    return where


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small repository, made once and copied."""
    return make_repository(tmp_path_factory.mktemp("template") / "shop")


@pytest.fixture
def bare(template: Path, tmp_path: Path) -> Path:
    """A small real repository, without a memory."""
    return Path(shutil.copytree(template, tmp_path / "shop", symlinks=True))


@pytest.fixture
def project(bare: Path, call: Callable[..., Result]) -> Path:
    """A small real repository with its memory; ``call`` and ``run`` start in it."""
    made = call("init", cwd=bare)
    assert made.code == 0, made
    return bare


@pytest.fixture
def run(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """``run(*words)``: the command in a process of its own, without a terminal."""

    def runner(
        *words: str, stdin: str | bytes | None = None, env: dict[str, str] | None = None, cwd: Path | str | None = None
    ) -> Result:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "hardwon", *words],
            cwd=cwd or _start(request),
            env={**os.environ, **(env or {})},
            input=raw if raw is not None else b"",
            capture_output=True,
            timeout=600,
            start_new_session=True,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return runner


@pytest.fixture
def call(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Result]]:
    """``call(*words)``: the command inside this process, which is quicker and also takes what no system would pass on."""
    with pytest.MonkeyPatch.context() as patch:

        def caller(*words: str, stdin: str | bytes = b"", cwd: Path | str | None = None) -> Result:
            raw = stdin.encode() if isinstance(stdin, str) else stdin
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
            patch.chdir(cwd or _start(request))
            capsys.readouterr()
            code = cli.main(list(words))
            out, err = capsys.readouterr()
            return Result(code, out, err)

        yield caller


def _start(request: pytest.FixtureRequest) -> Path:
    """Where a command starts: the test's repository if it has one, else its own folder."""
    name = next((name for name in ("project", "bare") if name in request.fixturenames), "tmp_path")
    return Path(request.getfixturevalue(name))


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """An empty repository to fill."""
    from tests.gitmaker import GitRepo

    return GitRepo(tmp_path / "repo")


@pytest.fixture
def open_at(home: Path) -> Iterator[Callable[[str], Engine]]:
    """``open_at(path)``: the memory of a folder, made if it is new."""
    from hardwon.engine import opening

    made: list[Engine] = []

    def make(path: str) -> Engine:
        made.append(opening.create(path, str(home)))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def person(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person who has no client yet."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME", "HERMES_HOME"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "ann"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder
