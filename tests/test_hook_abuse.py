"""Hooks in the hands of who means no good, or of nobody at all: paths that lead out, other repositories, wrong clocks, killed processes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.capture.event import Edit
from hardwon.code.ground import leads_out
from hardwon.types import Filter
from tests.gitmaker import GitRepo
from tests.sessionground import DAY, FILES, GREEN, RED, SESSION, VALIDATE, SessionGround

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER = "0d9d3a52-5f0e-4c1e-9b0b-000000000002"


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[SessionGround]:
    made = SessionGround(tmp_path)
    yield made
    made.close()


class Watched:
    """Which files were opened since; what is loaded meanwhile, and Hardwon's own folder, are not counted."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.on = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event == "open" and isinstance(arguments[0], str | bytes):
            self.opened.append(os.fsdecode(arguments[0]))


WATCHED = Watched()


# Paths


@pytest.fixture
def leading(ground: SessionGround) -> SessionGround:
    """The repository with links that lead out of it, and files that are none."""
    outside = Path(ground.root).parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("class Secret:\n    def reveal(self):\n        return 1\n")
    root = Path(ground.root)
    links = {
        "link.py": outside / "secret.py", "folder": outside, "up.py": "../outside/secret.py", "zero.py": "/dev/zero",
        "env.py": "/proc/self/environ", "loop.py": "loop.py", "inner.py": "shop/prices.py",
    }  # fmt: skip
    for name, target in links.items():
        os.symlink(target, root / name)
    os.mkfifo(root / "pipe.py")
    with open(root / "huge.py", "wb") as file:
        file.truncate(3 << 30)
    return ground


LEAD_OUT = (
    "link.py", "folder/secret.py", "up.py", "zero.py", "env.py", "folder/../outside/secret.py", "../outside/secret.py",
    "auth/../../outside/secret.py", "{outside}/secret.py", "/etc/passwd", "/dev/zero", "/proc/self/environ", "folder/../../../etc/passwd",
)  # fmt: skip
NO_FILES = (
    "loop.py",
    "pipe.py",
    "huge.py",
    "auth",
    ".",
    "",
    "a\0b.py",
    "a\nb.py",
    "\ud800.py",
    "~/x.py",
    "a/" * 2_000 + "b.py",
    "n" * 4_000,
)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*LEAD_OUT, *NO_FILES])
@pytest.mark.parametrize("kind", ["change", "whole", "delete"])
def test_nothing_outside_of_the_repository_is_opened_and_what_is_no_file_stops_nobody(
    leading: SessionGround, path: str, kind: Any
) -> None:
    path = path.format(outside=Path(leading.root).parent / "outside")
    leading.fail("Secret.reveal", path="link.py", times=4)
    edit = Edit(path, "        return 1" if kind == "change" else "", "        return 2" if kind != "delete" else "", kind)
    WATCHED.opened.clear()
    WATCHED.on = True
    try:
        told = [
            leading.happens(moment, tool="edit", tool_name="Edit", edits=(edit,), paths=(path,), ended="ok")
            for moment in ("before", "after")
        ]
    finally:
        WATCHED.on = False
    assert not [one.degraded for one in told if one.degraded]
    inside = (os.path.realpath(leading.root), os.path.realpath(leading.home))
    touched = [os.path.realpath(one) for one in WATCHED.opened]
    wrong = [
        one
        for one in touched
        if not one.startswith(inside) and one.startswith((str(Path(leading.root).parent), "/etc", "/dev", "/proc"))
    ]
    assert not wrong
    assert "reveal" not in {anchor.symbol for memory in leading.memories() for anchor in memory.anchors}


def test_a_link_within_the_repository_is_read(leading: SessionGround) -> None:
    assert not leads_out(leading.root, "inner.py") and not leads_out(leading.root, "auth/service.py")
    assert (
        leads_out(leading.root, "up.py")
        and leads_out(leading.root, "folder/any.py")
        and leads_out(leading.root, "../x.py") is True
    )
    leading.fail("total", path="inner.py", times=4)
    edit = Edit("inner.py", "    return sum(items)", "    return 0")
    assert leading.happens("before", tool="edit", tool_name="Edit", edits=(edit,), paths=("inner.py",)).refuse


def test_ten_thousand_edits_in_one_call_are_taken_as_far_as_they_are_looked_at(ground: SessionGround) -> None:
    ground.fail("AuthService.validate", times=4)
    edits = (VALIDATE, *(Edit(f"f{number}.py", "a", "b") for number in range(10_000)))
    told = ground.happens("before", tool="edit", tool_name="Edit", edits=edits, paths=tuple(edit.path for edit in edits))
    assert told.refuse and not told.degraded
    assert not ground.happens("after", tool="edit", tool_name="Edit", edits=edits, paths=(), ended="ok").degraded


# Other repositories


def test_a_session_of_one_repository_leaves_another_as_it_is(tmp_path: Path) -> None:
    """Wherever it says that it stands, and whatever it says that it edits."""
    here, there = SessionGround(tmp_path / "here"), SessionGround(tmp_path / "there")
    before = (there.memories(), sorted(os.listdir(os.path.join(there.home, "stores"))))
    there.close()
    foreign = VALIDATE.replace(path=os.path.join(there.root, VALIDATE.path))
    for cwd in (here.root, there.root, "/", "../there/repo", ""):
        at = {"cwd": cwd, "session": f"{SESSION}{len(cwd)}"}
        here.tell(here.runs(RED, 1, **at))
        here.happens("after", tool="edit", tool_name="Edit", edits=(foreign,), paths=(foreign.path,), ended="ok", **at)
        here.tell(here.runs(GREEN, 0, **at))
        here.happens("end", **at)
    assert (there.memories(), sorted(os.listdir(os.path.join(there.home, "stores")))) == before
    places = [anchor.path for memory in here.memories() for anchor in memory.anchors]
    assert not [path for path in places if path.startswith(("/", ".."))]
    here.close()
    there.close()


# Marks of what was refused and said


def test_a_refusal_under_a_false_name_takes_no_lesson_from_another_session(ground: SessionGround) -> None:
    """Who forges a session can use up its refusal; what there is to know is said all the same."""
    ground.fail("AuthService.validate", times=4, text="naive datetimes break it")
    edit = {"tool": "edit", "tool_name": "Edit", "edits": (VALIDATE,), "paths": (VALIDATE.path,)}
    for number in range(50):
        ground.happens("before", session=f"forged-{number}", **edit)
    told = ground.happens("before", session=SESSION, **edit)
    assert told.refuse or "naive datetimes" in told.block.block
    ground.fail("AuthService.validate", text="naive datetimes break it")
    assert ground.happens("before", session=OTHER, **edit).refuse


# Tests that are made to pass


@pytest.mark.slow
@pytest.mark.parametrize("mended", [False, True])
@pytest.mark.parametrize("way", ["taken out", "skipped", "file deleted", "left alone"])
def test_a_test_that_was_taken_out_or_told_not_to_run_teaches_nothing(ground: SessionGround, way: str, mended: bool) -> None:
    test = "def test_validate():\n    assert AuthService().validate('x') == 'x'\n"
    ground.repo.commit("Tests", {"tests/test_auth.py": f"{test}\n\ndef test_b():\n    pass\n"})
    ground.happens("prompt", text="please fix the failing login test")
    ground.tell(ground.runs(RED, 1))
    if mended:
        ground.edits()
    if way == "file deleted":
        gone = Edit("tests/test_auth.py", kind="delete")
        ground.happens(
            "after", tool="shell", tool_name="Bash", command="rm tests/test_auth.py", edits=(gone,), ended="ok", exit_code=0
        )
    elif way != "left alone":
        ground.edits(Edit("tests/test_auth.py", test, "" if way == "taken out" else f"@pytest.mark.skip\n{test}"))
    ground.tell(ground.runs(GREEN, 0))
    found = [memory for memory in ground.memories() if memory.kind == "lesson"]
    assert len(found) == (mended and way == "left alone")


# Wrong clocks


def test_what_was_noted_while_the_clock_was_years_ahead_is_of_today_when_it_is_right_again(ground: SessionGround) -> None:
    ground.fail("AuthService.validate", times=4)
    right = ground.now
    ground.now += 3650 * DAY
    ground.edits(session=OTHER)
    ground.write(VALIDATE.path, FILES[VALIDATE.path])
    edit = {"tool": "edit", "tool_name": "Edit", "edits": (VALIDATE,), "paths": (VALIDATE.path,)}
    ground.happens("before", session=OTHER, **edit)
    ground.now = right
    ground.happens("start", session=SESSION, source="startup")  # from here on, what was ahead counts
    ground.now += 8 * DAY
    ground.happens("start", session="third", source="startup")
    summed = [memory for memory in ground.memories(kinds=("summary",)) if memory.origin.session == OTHER]
    assert len(summed) == 1
    ground.fail("AuthService.validate")
    assert ground.happens("before", session="third", **edit).refuse


def test_sessions_that_died_before_a_long_absence_are_summed_up_however_many(ground: SessionGround) -> None:
    for number in range(9):
        ground.edits(session=f"dead-{number}")
        ground.write(VALIDATE.path, FILES[VALIDATE.path])
    ground.now += 45 * DAY
    for number in range(4):
        ground.happens("start", session=f"new-{number}", source="startup")
    assert len(ground.memories(kinds=("summary",))) == 9


def test_a_clock_that_goes_back_lets_nothing_be_told_or_refused_twice(ground: SessionGround) -> None:
    ground.fail("AuthService.validate", times=4)
    edit = {"tool": "edit", "tool_name": "Edit", "edits": (VALIDATE,), "paths": (VALIDATE.path,)}
    assert ground.happens("before", **edit).refuse
    ground.now -= 3 * DAY
    told = ground.happens("before", **edit)
    assert not told.refuse and told.block is None
    red = ground.runs(RED, 1)
    for back in (0, 1, 3_600_000):
        ground.now -= back
        ground.tell(red.replace(at=ground.now))
    ground.edits()
    ground.tell(ground.runs(GREEN, 0))
    (lesson,) = [memory for memory in ground.memories() if "TypeError" in memory.text]
    assert lesson.seen == 1


# Killed processes


class Client:
    """A client that starts hooks, and may kill them."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo(folder / "repo")
        self.repo.commit("begin", FILES)
        self.home = folder / "home"
        self.environment = {**os.environ, "HARDWON_HOME": str(self.home)}
        made = self._start("init", "--json")
        made.communicate()
        assert made.returncode == 0

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "hardwon", *words], cwd=self.repo.path, env=self.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def hook(self, payload: dict[str, Any], killed_after: float | None = None) -> bool:
        """Whether it ended by itself."""
        process = self._start("hook", "claude-code")
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        process.stdin = None
        if killed_after is not None:
            try:
                process.wait(killed_after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        _, told = process.communicate()
        if process.returncode == -signal.SIGKILL:
            return False
        assert process.returncode == 0 and not told
        return True

    def payload(self, session: str, event: str, **more: Any) -> dict[str, Any]:
        return {"session_id": session, "transcript_path": "/t.jsonl", "cwd": self.repo.path, "hook_event_name": event, **more}

    def left(self) -> list[str]:
        """Processes that have our folder in their environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.home).encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_of_hooks_killed_at_any_moment_nothing_that_was_answered_is_lost_and_nothing_comes_twice(
    tmp_path: Path, seed: int
) -> None:
    """A hundred hooks of a green run, most of them killed on their way; half of them are told again, as a doubled hook would."""
    chance = random.Random(seed)
    client = Client(tmp_path)
    answered: set[str] = set()
    killed = 0
    for number in range(100):
        session, word = f"s-{number}", "".join(chance.choices("bcdfghjklm", k=12))
        edit = {"file_path": f"{client.repo.path}/auth/service.py", "old_string": VALIDATE.old, "new_string": VALIDATE.new}
        run = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
        red = RED.replace("can't compare", f"can't {word}")
        ends = [
            client.payload(session, "PostToolUseFailure", tool_use_id=f"{number}r", error=f"Exit code 1\n{red}", **run),
            client.payload(session, "PostToolUse", tool_use_id=f"{number}e", tool_name="Edit", tool_input=edit, tool_response={}),
        ]
        for payload in ends:
            assert client.hook(payload)
        green = client.payload(session, "PostToolUse", tool_use_id=f"{number}g", tool_response={"stdout": GREEN}, **run)
        lasted = client.hook(green, killed_after=chance.uniform(0.0, 0.15))
        killed += not lasted
        if number % 2:
            lasted = client.hook(green)
        if lasted:
            answered.add(word)
    assert killed >= 5  # how many depends on how quick the machine is
    time.sleep(0.1)
    assert not client.left()
    assert client.hook(client.payload("last", "SessionStart", source="startup"))
    from hardwon.engine import opening

    engine = opening.open_engine(client.repo.path, str(client.home))
    assert not [finding for finding in engine.verify() if finding.level in ("error", "warning")]
    assert engine.work is not None and not engine.work.check()
    with engine.store.read() as reader:
        found = [memory for memory in reader.find(Filter(derived=False), -1) if memory.kind == "lesson"]
    assert {memory.seen for memory in found} == {1}
    told = [word for memory in found for word in answered if f"can't {word}" in memory.text]
    assert sorted(told) == sorted(answered)
    engine.close()
