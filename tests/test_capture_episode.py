"""The fold of a session: what becomes a lesson, what does not, and that no order of events confuses it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.capture import summary
from hardwon.capture.edited import placed
from hardwon.capture.episode import State, step
from hardwon.capture.event import Edit, Event
from hardwon.capture.lesson import Lesson, stable
from hardwon.capture.state import LARGEST
from tests.excerpts.judge import cases, events

ROOT = "/home/dev/shop"
RED = "FAILED tests/test_a.py::test_x - ValueError: bad day\n1 failed, 2 passed in 0.12s\n"
OTHER_RED = "FAILED tests/test_a.py::test_x - KeyError: 'day'\n1 failed, 2 passed in 0.12s\n"
GREEN = "3 passed in 0.12s\n"
OLD, NEW = "def parse(text):\n    return 1\n", "def parse(text):\n    return 2\n"


class Session:
    """Events told one after the other, each through JSON as between two processes."""

    def __init__(self) -> None:
        self.state, self.lessons, self.at = State(root=ROOT), [], 0

    def tell(self, moment: str, **fields: object) -> Session:
        self.at += 1000
        self.state, learnt = step(self.state, Event(moment, "c", "s", self.at, cwd=ROOT, **fields))  # type: ignore[arg-type]
        self.state = State.from_json(self.state.to_json())
        self.lessons += learnt
        return self

    def run(self, output: str, command: str = "pytest -q", **fields: object) -> Session:
        ok = " failed" not in output
        told = {"ended": "ok" if ok else "failed", "exit_code": int(not ok), "call": f"run{self.at}", **fields}
        return self.tell("after", tool="shell", command=command, output=output, **told)

    def edit(self, old: str = OLD, new: str = NEW, path: str = f"{ROOT}/a.py", **fields: object) -> Session:
        return self.tell(
            "after", tool="edit", edits=(Edit(path, old, new),), **{"ended": "ok", "call": f"edit{self.at}", **fields}
        )

    @property
    def texts(self) -> list[str]:
        return [lesson.text for lesson in self.lessons]


def test_a_failure_a_fix_and_a_green_run_are_one_lesson() -> None:
    session = Session().run(RED).edit().run(GREEN)
    (lesson,) = session.lessons
    assert lesson.text == "`parse`: ValueError: bad day"
    assert (lesson.kind, lesson.outcome, lesson.tests) == ("lesson", "failed", ("tests/test_a.py::test_x",))
    assert [(place.path, place.symbol) for place in lesson.places] == [("a.py", "parse")]
    assert lesson.code == "a.py\n-    return 1\n+    return 2"
    assert "Green after an edit of `parse` in a.py" in lesson.detail
    assert (lesson.red_at, lesson.green_at) == (1000, 3000)
    assert "bad day" in lesson.passage


def test_symbols_are_those_that_the_index_names() -> None:
    state = State(root=ROOT)
    found: list[Lesson] = []
    told = [
        Event("after", "c", "s", 1, ROOT, tool="shell", command="pytest", ended="failed", exit_code=1, output=RED),
        Event("after", "c", "s", 2, ROOT, tool="edit", ended="ok", edits=(Edit("a.py", "1", "2"),)),
        Event("after", "c", "s", 3, ROOT, tool="shell", command="pytest", ended="ok", exit_code=0, output=GREEN),
    ]
    for event in told:
        state, learnt = step(state, event, lambda edit: ("Calendar.parse",))
        found += learnt
    assert [place.symbol for lesson in found for place in lesson.places] == ["Calendar.parse"]


@pytest.mark.parametrize(
    ("asked", "teaches"),
    [
        ("Fix the parser: it takes the wrong day", True),
        ("the build is red, look into it", True),
        ("Add a shared parser for rendered pages, ordered by day", False),
        ("Give every table a prefix and a suffix", False),
        ("Implement issue #12: days with dots", False),
        ("There is an issue with days", True),
        ("Add error handling, error messages and fixtures to the parser", False),
        ("Error on the first day of a month", True),
    ],
)
def test_a_test_ahead_of_its_code_teaches_only_where_something_was_to_be_repaired(asked: str, teaches: bool) -> None:
    session = Session().tell("prompt", text=asked)
    session.edit("", "def test_x():\n    assert parse('1') == 2\n", f"{ROOT}/tests/test_a.py").run(RED).edit().run(GREEN)
    assert bool(session.lessons) is teaches


def test_what_never_failed_teaches_nothing() -> None:
    assert Session().run(GREEN).edit().run(GREEN).lessons == []


def test_a_failure_that_stays_teaches_nothing_but_is_told_as_open() -> None:
    session = Session().run(RED).edit().run(RED)
    assert session.lessons == []
    assert [red.test for red in session.state.open] == ["tests/test_a.py::test_x"]


def test_red_and_green_without_an_edit_is_a_flaky_test() -> None:
    (lesson,) = Session().run(RED).run(GREEN).lessons
    assert (lesson.kind, lesson.outcome, lesson.tags) == ("fact", None, ("flaky",))
    assert lesson.text == "`tests/test_a.py::test_x` is flaky: it fails and passes on the same code"


def test_green_and_red_without_an_edit_is_a_flaky_test() -> None:
    assert Session().run(GREEN).run(RED).texts == ["`tests/test_a.py::test_x` is flaky: it fails and passes on the same code"]


@pytest.mark.parametrize("between", ["pip install x", "docker compose up -d", "git pull", "python load.py", "rm -rf build"])
def test_it_is_not_flaky_if_anything_else_changed_in_between(between: str) -> None:
    session = Session().run(RED).tell("after", tool="shell", command=between, ended="ok", exit_code=0, output="done").run(GREEN)
    assert session.lessons == []


@pytest.mark.parametrize("between", ["ls", "git status", "cat a.py", "grep -n x a.py"])
def test_looking_changes_nothing(between: str) -> None:
    session = Session().run(RED).tell("after", tool="shell", command=between, ended="ok", exit_code=0, output="done").run(GREEN)
    assert len(session.lessons) == 1


def test_the_same_failure_after_two_fixes_is_raised_and_counts_again_when_it_is_solved() -> None:
    session = (
        Session()
        .run(RED)
        .edit(new="def parse(text):\n    return 3\n")
        .run(RED)
        .edit(new="def parse(text):\n    return 4\n")
        .run(RED)
    )
    (raised,) = session.lessons
    assert raised.outcome == "failed" and raised.tags == ("repeated",)
    session.edit().run(GREEN)
    assert len(session.lessons) == 2
    first, last = session.lessons
    assert (first.kind, first.outcome, first.text, [(p.path, p.symbol) for p in first.places]) == (
        last.kind,
        last.outcome,
        last.text,
        [(p.path, p.symbol) for p in last.places],
    )


def test_another_failure_of_the_same_test_is_no_repetition() -> None:
    session = Session().run(RED).edit().run(OTHER_RED).edit(NEW, OLD.replace("1", "5")).run(RED)
    assert session.lessons == []


def test_a_regression_names_the_edit_before_which_it_had_passed() -> None:
    session = Session().run(GREEN).edit("def load(x):\n    a", "def load(x):\n    b", path="b.py").run(RED).edit().run(GREEN)
    (lesson,) = session.lessons
    assert "regression" in lesson.tags
    assert "It had passed before an edit of `load` in b.py." in lesson.detail


def test_a_change_that_is_taken_back_is_a_failed_attempt() -> None:
    session = Session().run(GREEN).edit().run(RED).edit(NEW, OLD).run(GREEN)
    (lesson,) = session.lessons
    assert (lesson.kind, lesson.outcome) == ("attempt", "failed")
    assert "taken back" in lesson.text and "+    return 2" in lesson.code


def test_changes_that_are_taken_back_together_are_known() -> None:
    step_one, step_two = OLD.replace("1", "7"), OLD.replace("1", "8")
    session = (
        Session().run(GREEN).edit(OLD, step_one).edit(step_one, step_two).run(RED).edit("    return 8", "    return 1").run(GREEN)
    )
    assert [lesson.kind for lesson in session.lessons] == ["attempt"]


def test_a_run_of_one_test_does_not_close_the_failure_of_another() -> None:
    session = Session().run(RED).edit().run("1 passed in 0.1s\n", "pytest tests/test_b.py")
    assert session.lessons == [] and len(session.state.open) == 1


@pytest.mark.parametrize(
    "command",
    ["pytest", "pytest tests", "pytest tests/test_a.py", "python -m pytest tests/test_a.py::test_x", "pytest -k test_x"],
)
def test_a_run_that_takes_the_test_in_closes_it(command: str) -> None:
    assert len(Session().run(RED).edit().run(GREEN, command).lessons) == 1


def test_a_run_that_stops_early_closes_nothing_that_it_did_not_get_to() -> None:
    other = "FAILED tests/test_a.py::test_a - ValueError: early\n1 failed in 0.1s\n"
    session = Session().run(RED).edit().run(other, "pytest -x")
    assert session.lessons == [] and {red.test for red in session.state.open} == {
        "tests/test_a.py::test_x",
        "tests/test_a.py::test_a",
    }


def test_an_edit_made_while_a_run_was_under_way_is_not_credited_with_it() -> None:
    session = Session().run(RED)
    session.tell("before", tool="shell", command="pytest -q", call="p")
    session.edit()
    session.tell("after", tool="shell", command="pytest -q", call="p", ended="ok", exit_code=0, output=GREEN)
    assert session.lessons == []


def test_an_event_told_twice_counts_once() -> None:
    session = Session()
    for _ in range(2):
        session.tell("after", tool="shell", command="pytest -q", call="a", ended="failed", exit_code=1, output=RED)
    for _ in range(3):
        session.tell("after", tool="edit", call="b", ended="ok", edits=(Edit("a.py", OLD, NEW),))
    assert (session.state.edited, session.state.failed) == (1, 1)


def test_calls_whose_end_is_never_told_are_forgotten_in_time() -> None:
    session = Session()
    for n in range(200):
        session.tell("before", tool="shell", command=f"sleep {n}", call=f"c{n}")
    session.run(RED).edit().run(GREEN)
    assert len(session.lessons) == 1 and len(session.state.pending) < 50


def test_an_unknown_exit_code_leaves_the_verdict_to_the_output() -> None:
    session = Session().run(RED, ended="unknown", exit_code=None).edit().run(GREEN, ended="unknown", exit_code=None)
    assert len(session.lessons) == 1


def test_the_edits_of_a_refused_call_were_not_made() -> None:
    session = Session().run(RED).edit(ended="denied").edit(ended="failed").run(GREEN)
    assert [lesson.tags for lesson in session.lessons] == [("flaky",)]


def test_an_amended_decision_replaces_the_earlier_one() -> None:
    session = (
        Session()
        .tell("prompt", text="Let's use Redis instead of memcached.")
        .tell("prompt", text="Actually, let's use Postgres instead of Redis.")
    )
    assert [lesson.replaces for lesson in session.lessons] == ["", "Let's use Redis instead of memcached"]
    assert [said.text for said in session.state.decided] == ["Let's use Postgres instead of Redis"]
    assert session.lessons[1].rejected == ("Redis",)


def test_what_the_person_calls_wrong_is_a_failed_attempt_on_the_last_edits() -> None:
    session = Session().tell("prompt", text="Speed it up.").edit().tell("prompt", text="That's wrong. Never cache the parser.")
    lesson, rule = session.lessons
    assert (lesson.kind, lesson.outcome, lesson.places[0].symbol) == ("attempt", "failed", "parse")
    assert "Never cache the parser" in lesson.text
    assert (rule.kind, rule.text) == ("rule", "Never cache the parser")


# --- any order, any size


@st.composite
def any_event(draw) -> Event:
    words = st.text(max_size=60) | st.sampled_from(
        [RED, GREEN, OTHER_RED, "No, that's wrong.", "Never use x.", OLD, NEW, "\x00", "\ud800"]
    )
    edits = st.builds(
        Edit,
        st.sampled_from(["a.py", "/x/b.js", "tests/test_a.py", "", "..", "C:\\a.py"]) | words,
        words,
        words,
        st.sampled_from(["change", "whole", "delete", "move"]),
    )
    return Event(
        draw(st.sampled_from(["start", "prompt", "before", "after", "said", "compact", "stop", "end"])),
        "c",
        "s",
        draw(st.integers(0, 2**45)),
        cwd=draw(st.sampled_from(["", ROOT, "/other", "rel"])),
        agent=draw(st.sampled_from(["", "a1"])),
        text=draw(words),
        tool=draw(st.sampled_from(["", "shell", "edit", "read"])),
        call=draw(st.sampled_from(["", "1", "2", "3"])),
        command=draw(
            words | st.sampled_from(["pytest", "pytest -x a.py", "go test ./...", "make", "git checkout a.py", "python a.py"])
        ),
        edits=tuple(draw(st.lists(edits, max_size=2))),
        ended=draw(st.sampled_from(["ok", "failed", "denied", "interrupted", "unknown"])),
        exit_code=draw(st.sampled_from([None, 0, 1, 2, 137])),
        output=draw(words),
    )


def test_a_file_whose_name_has_line_breaks_is_passed_over() -> None:
    session = Session().edit(path="a\nb.py").edit(path="\n").run(RED).edit(path="a\r.py").run(GREEN)
    assert session.lessons == [] and session.state.files == ()


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(any_event(), max_size=12))
def test_no_order_of_events_raises_and_every_state_survives_json(told) -> None:
    state = State()
    for event in told:
        state, lessons = step(state, event)
        text = state.to_json()
        assert len(text.encode()) <= LARGEST
        again = State.from_json(text)
        assert again.to_json() == text
        for lesson in lessons:
            assert lesson.text and "\n" not in lesson.text


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(cases("dev")))
def test_the_events_of_a_real_session_in_any_order_raise_nothing(random, case) -> None:
    told = events(case)
    random.shuffle(told)
    state = State()
    for event in told:
        state, _ = step(state, event)


def test_a_state_stays_small_however_long_the_session() -> None:
    state = State()
    for n in range(400):
        event = Event(
            "after",
            "c",
            "s",
            n,
            ROOT,
            tool="shell",
            command=f"pytest tests/test_{n}.py",
            ended="failed",
            exit_code=1,
            output=f"FAILED tests/test_{n}.py::test_x - ValueError: {'é' * 290}\n1 failed in 0.1s\n",
        )
        state, _ = step(state, event)
        state, _ = step(
            state,
            Event("after", "c", "s", n, ROOT, tool="edit", ended="ok", edits=(Edit(f"dir{n}/a.py", "é" * 5000, "ü" * 5000),)),
        )
        state, _ = step(state, Event("prompt", "c", "s", n, ROOT, text="ß" * 5000))
    assert len(state.to_json().encode()) <= LARGEST
    assert State.from_json(state.to_json()).open


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "1",
        '{"version": 99}',
        '{"version": 1, "open": [[1]]}',
        '{"version": 1, "edited": "x"}',
        "{" * 100_000,
        '{"version":1,"changes":[["a"]]}',
        '{"version":1,"pending":3}',
    ],
)
def test_what_is_no_state_is_an_empty_one(text: str) -> None:
    assert State.from_json(text) == State()


def test_a_state_is_plain_json() -> None:
    session = Session().tell("prompt", text="fix it").run(RED).edit()
    row = json.loads(session.state.to_json())
    assert row["edited"] == 1 and row["asked"] == ["fix it"]


def test_the_same_lesson_in_two_sessions_is_the_same_text() -> None:
    noise = [
        "2026-01-02T03:04:05.123Z",
        "/tmp/pytest-of-me/pytest-{}/test0/a.db",
        "0x7f3a{}b2c",
        "127.0.0.1:5{}321",
        "550e8400-e29b-41d4-a716-44665544{:04d}",
        "{}1234567890",
        "0.0123{}45s",
    ]
    one, other = ([entry.format(n) if "{" in entry else entry for entry in noise] for n in (1, 2))
    assert stable(" ".join(["cannot open", *one])) == stable(" ".join(["cannot open", *other]))
    assert stable("assert 401 == 200") == "assert 401 == 200"


@pytest.mark.parametrize(
    ("path", "cwd", "place"),
    [
        (f"{ROOT}/a/b.py", ROOT, "a/b.py"),
        ("a/b.py", ROOT, "a/b.py"),
        ("b.py", f"{ROOT}/a", "a/b.py"),
        ("..\\x\\b.py", f"{ROOT}/a", "x/b.py"),
        ("./a/../b.py", ROOT, "b.py"),
        ("/etc/hosts", ROOT, "/etc/hosts"),
        ("", "", ""),
    ],
)
def test_paths_are_told_from_the_top_of_the_project(path: str, cwd: str, place: str) -> None:
    assert placed(path, cwd, ROOT) == place


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("git checkout -- a.py", "attempt"),
        ("git restore a.py", "attempt"),
        ("git -C /home/dev/shop checkout .", "attempt"),
        ("git reset --hard", "attempt"),
        ("git stash", ""),
        ("git stash push -m before", ""),
        ("git clean -fd .", ""),
        ("git reset", ""),
        ("git restore --staged a.py", ""),
        ("git stash pop", ""),
        ("git checkout -b feature/a.py", ""),
        ("git checkout main", ""),
    ],
)
def test_git_that_takes_edits_back_is_known(command: str, kind: str) -> None:
    session = Session().run(GREEN).edit().run(RED)
    session.tell("after", tool="shell", command=command, ended="ok", exit_code=0, output="done").run(GREEN)
    assert "".join(lesson.kind for lesson in session.lessons) == kind


def test_what_is_put_aside_and_fetched_again_was_not_taken_back() -> None:
    session = Session().run(GREEN).edit().run(RED)
    session.run(GREEN, "git stash && pytest -q").tell(
        "after", tool="shell", command="git stash pop", ended="ok", exit_code=0, call="pop"
    )
    session.run(RED).edit(NEW, "def parse(text):\n    return 3\n").run(GREEN)
    assert [lesson.kind for lesson in session.lessons] == ["lesson"]


def test_what_a_subagent_is_asked_is_not_said_by_the_person() -> None:
    session = Session().tell("prompt", text="Never use floats.", agent="a1").tell("stop", text="done", agent="a1")
    assert session.lessons == [] and session.state.asked == () and session.state.words == ""


def test_of_the_symbols_that_are_named_those_count_that_differ() -> None:
    old = "    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    event = Event("after", "c", "s", 1, ROOT, tool="edit", ended="ok", edits=(Edit("a.py", old, old.replace("2", "3")),))
    state, _ = step(State(root=ROOT), event, lambda edit: ("A.f", "A.g"))
    assert state.changes[0].symbols == ("A.g",)


def test_what_clients_wrap_around_a_prompt_is_not_asked() -> None:
    for tag in ("system-reminder", "ide_opened_file", "ide_selection"):
        session = Session().tell("prompt", text=f"<{tag}>\nsecret advice\n</{tag}>\nfix the parser")
        assert session.state.asked == ("fix the parser",)


def test_a_file_outside_of_the_project_is_told_by_its_name_alone() -> None:
    session = Session().run(RED).edit("    return 1", "    return 2", path="/home/someone/else/a.py").run(GREEN)
    (lesson,) = session.lessons
    assert "someone" not in lesson.text + lesson.detail + lesson.code
    assert lesson.places[0].path == "/home/someone/else/a.py"


JEST_RED = "FAIL ./src/a.test.js\n  ● total › is zero\n\n    TypeError: x is null\n\nTests:       1 failed, 2 passed, 3 total\n"
JEST_GREEN = "Tests:       3 passed, 3 total\n"


@pytest.mark.parametrize(
    ("red", "green", "closed"),
    [
        ("npm test", "npx jest src/a.test.js", True),
        ("npx jest", "npm test", True),
        ("npm test", "npx jest a.test", True),
        ("npm test", "npx jest src/b.test.js", False),
        ("npm run test:unit", "npm run test:e2e", False),
        ("npm run test:unit", "npm run test:unit", True),
        ("npm run test:unit", "npm test", True),
        ("npm run test:e2e", "npm test", False),
        ("npm run integration-test", "npm test", False),
        ("npx jest", "npx vitest run", False),
        ("npm test", "npx jest src/", True),
        ("npm test", "npx jest lib/", False),
        ("cd web && npx jest", "cd web && npx jest src/a.test.js", True),
        ("cd web && npx jest", "cd web && npx jest a.test", True),
        ("cd web && npx jest src/a.test.js", "cd web && npx jest src/", True),
        ("npx jest", "cd web && npx jest src/b.test.js", False),
    ],
)
def test_which_command_takes_in_the_tests_of_another(red: str, green: str, closed: bool) -> None:
    session = Session().run(JEST_RED, red).edit(path="src/a.js").run(JEST_GREEN, green)
    assert bool(session.lessons) is closed


def test_listing_tests_closes_nothing() -> None:
    session = Session().run(RED).edit().run("tests/test_a.py::test_x\n3 tests collected in 0.01s\n", "pytest --collect-only -q")
    assert session.lessons == [] and len(session.state.open) == 1


@pytest.mark.parametrize("command", ["pytest -q --snapshot-update", "FOO=1 pytest -q", "pytest -q -p no:randomly"])
def test_another_way_of_running_them_does_not_make_tests_flaky(command: str) -> None:
    assert Session().run(RED).run(GREEN, command).lessons == []


@pytest.mark.parametrize(
    "command", ["pytest --ignore=tests/test_a.py", "pytest --deselect tests/test_a.py::test_x", "pytest -m 'not slow'"]
)
def test_a_run_that_leaves_tests_out_closes_none_of_them(command: str) -> None:
    assert Session().run(RED).edit().run(GREEN, command).lessons == []


# --- which edits helped, and against what

GO_RED = "--- FAIL: TestSum (0.00s)\n    a_test.go:9: got 0, want 2\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n"
GO_GREEN = "ok  \texample.com/a\t0.01s\n"
GO_TEST = f"{ROOT}/a_test.go"
BODY = "func TestSum(t *testing.T) {\n\tif Sum() != 2 {\n"


def go_session(**fields: object) -> Session:
    return Session().run(GO_RED, "go test ./...", ended="failed", exit_code=1, **fields)


@pytest.mark.parametrize(
    "command",
    [
        "git stash && pytest -q",
        "git checkout -q other; pytest -q",
        "git pull && pytest -q",
        "pip install x && pytest -q",
        "rm -rf build && pytest -q",
        "bash -c 'git switch other && pytest -q'",
    ],
)
def test_what_a_line_changes_before_its_check_is_not_the_same_code(command: str) -> None:
    assert Session().run(RED).run(GREEN, command).lessons == []
    assert Session().run(GREEN).run(RED, command).lessons == []
    assert Session().run(RED, command, exit_code=1, ended="failed").run(GREEN).lessons == []


@pytest.mark.parametrize("command", ["git status && pytest -q", "git diff; pytest -q", "ls && pytest -q"])
def test_what_a_line_only_looks_at_before_its_check_leaves_the_code_the_same(command: str) -> None:
    assert len(Session().run(RED).run(GREEN, command).lessons) == 1


def test_two_runs_of_which_nobody_knows_the_files_are_not_of_the_same_code() -> None:
    command = "pytest -q --snapshot-update"
    assert Session().run(RED, command).run(GREEN, command).lessons == []
    assert Session().run(GREEN, command).run(RED, command).lessons == []


def test_a_run_without_a_test_neither_ends_a_failure_nor_makes_it_flaky() -> None:
    command = "go test ./a -run TestSum"
    nothing = "testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.5s [no tests to run]\n"
    session = Session().run(GO_RED, command, ended="failed", exit_code=1).run(nothing, command)
    assert session.lessons == [] and len(session.state.open) == 1


@pytest.mark.parametrize(
    ("fields", "teaches"),
    [
        ({"old": f"{BODY}\t\tt.Fatal(1)", "new": f"{BODY}\t\tt.Fatal(2)"}, False),
        ({"old": '\tif !has("a") {', "new": '\tif has("a") {'}, False),  # of its file, nobody knows where
        ({"old": "func TestOther(t *testing.T) {\n\ta()", "new": "func TestOther(t *testing.T) {\n\tb()"}, True),
        ({"old": "func TestSumOfAll(t *testing.T) {\n\ta()", "new": "func TestSumOfAll(t *testing.T) {\n\tb()"}, True),
        ({"old": '\tif !has("a") {', "new": '\tif has("a") {', "path": f"{ROOT}/b_test.go"}, True),
    ],
)
def test_code_is_not_blamed_where_the_test_itself_was_written_anew(fields: dict[str, str], teaches: bool) -> None:
    session = go_session().edit("func Sum() int { return 0 }", "func Sum() int { return 2 }", f"{ROOT}/a.go")
    session.edit(**{"path": GO_TEST, **fields}).run(GO_GREEN, "go test ./...")
    assert bool(session.lessons) is teaches


def test_a_test_that_was_written_anew_does_not_speak_against_the_others_of_one_failure() -> None:
    red = "".join(f"FAILED tests/test_a.py::test_{name} - ValueError: bad day\n" for name in ("x", "y")) + "2 failed in 0.12s\n"
    body = "def test_x():\n    assert parse('1') == "
    session = Session().run(red).edit().edit(f"{body}1\n", f"{body}2\n", f"{ROOT}/tests/test_a.py").run(GREEN)
    assert [lesson.tests for lesson in session.lessons] == [("tests/test_a.py::test_y",)]


BUILT = (
    "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n    at run "
    "(file:///home/dev/shop/.dist/src/cart.test.js:7:20)\n    at main (file:///home/dev/shop/.dist/run-tests.js:3:13)\n"
)


@pytest.mark.parametrize("command", ["pnpm --filter shop test", "node .dist/run-tests.js"])
def test_a_test_that_a_script_runs_may_have_been_written_anew_too(command: str) -> None:
    session = (
        Session().run(BUILT, command, ended="failed", exit_code=1).edit("  return 1;\n", "  return 2;\n", f"{ROOT}/src/cart.ts")
    )
    session.edit("  equal(1, 2);\n", "  equal(2, 2);\n", f"{ROOT}/src/cart.test.ts").run("ok\n", command, ended="ok", exit_code=0)
    assert session.lessons == []


@pytest.mark.parametrize(("path", "teaches"), [("src/other.test.ts", True), ("src/cart.test.ts", False)])
def test_a_test_that_has_no_name_is_known_by_the_file_that_it_was_compiled_from(path: str, teaches: bool) -> None:
    written = Edit(f"{ROOT}/{path}", "", "export function run() {}\n", "whole")
    session = (
        Session().tell("prompt", text="Let carts be empty").tell("after", tool="write", edits=(written,), ended="ok", call="w")
    )
    session.run(BUILT, "pnpm --filter shop test", ended="failed", exit_code=1)
    session.edit("  return 1;\n", "  return 2;\n", f"{ROOT}/src/cart.ts")
    session.run("PASS cart\nAll tests passed (2)\n", "pnpm --filter shop test")
    assert bool(session.lessons) is teaches


def test_any_edit_of_tests_may_be_of_one_that_does_not_say_where_it_is() -> None:
    red = "--- FAIL: TestSum (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n"
    session = Session().run(red, "go test ./...", ended="failed", exit_code=1)
    session.edit("func Sum() int { return 0 }", "func Sum() int { return 2 }", f"{ROOT}/a.go")
    session.edit('\tif !has("a") {', '\tif has("a") {', f"{ROOT}/b_test.go").run(GO_GREEN, "go test ./...")
    assert session.lessons == []


def test_a_test_file_that_was_written_as_a_whole_is_written_anew() -> None:
    session = Session().run(RED).edit()
    whole = Edit(f"{ROOT}/tests/test_a.py", "", "def test_y():\n    pass\n", "whole")
    session.tell("after", tool="write", edits=(whole,), ended="ok", call="w").run(GREEN)
    assert session.lessons == []


PRINTS = [
    ("def parse(text):\n    return 1\n", "def parse(text):\n    print('parsing', text)\n    return 1\n"),
    ("def parse(text):\n    logger.debug('x %s', text)\n    return 1\n", "def parse(text):\n    return 1\n"),
    ("\tx := 1\n", '\t// see what comes\n\tfmt.Fprintf(os.Stderr, "[x] %d", 1)\n\tx := 1\n'),
    ("  const x = 1;\n", "  console.log(x);\n  const x = 1;\n  console.error(x);\n"),
]


@pytest.mark.parametrize(("old", "new"), PRINTS)
def test_an_edit_that_only_prints_something_is_no_help(old: str, new: str) -> None:
    assert Session().run(RED).edit(old, new).run(GREEN).lessons == []
    (lesson,) = Session().run(RED).edit(old, new, f"{ROOT}/b.py").edit().run(GREEN).lessons
    assert [place.path for place in lesson.places] == ["a.py"]
    assert "b.py" not in lesson.detail + lesson.code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    print(total)\n", "    print(total * 2)\n"),
        ("    print(total)\n", "    return total\n"),
        ("\tx := 1\n", '\tlog.Fatal("no")\n\tx := 1\n'),
        ("    total = 1\n", "    total = 2\n    print(total)\n"),
    ],
)
def test_an_edit_that_does_more_than_print_is_help(old: str, new: str) -> None:
    assert len(Session().run(RED).edit(old, new).run(GREEN).lessons) == 1


def test_having_something_printed_is_no_fix_that_did_not_help() -> None:
    session = Session().run(RED)
    for old, new in PRINTS[:2]:
        session.edit(old, new).run(RED)
    assert session.lessons == [] and session.state.open[0].tries == ()


COMPILERS = {
    "go, in a run of tests": (
        "go test -run TestSum .",
        "# example.com/a\n./a.go:9:6: no new variables on left side of :=\nFAIL\texample.com/a [build failed]\nFAIL\n",
        "a.go",
    ),
    "go, tests that are only compiled": (
        "go test -c -o /dev/null .",
        "# example.com/a\n./a.go:9:6: assignment mismatch: 1 variable but Sum returns 2 values\n",
        "a.go",
    ),
    "typescript, in a run of tests": (
        "npm test",
        "src/a.ts(11,7): error TS2741: Property 'props' is missing in type 'X' but required in type 'Y'.\n",
        "src/a.ts",
    ),
    "typescript, in a script": (
        "pnpm api:generate",
        "TSError: ⨯ Unable to compile TypeScript:\nsrc/a.ts(5,3): error TS2564: Property 'id' has no initializer.\n    at createTSError "
        "(/x/ts-node/src/index.ts:859:12)\n",
        "src/a.ts",
    ),
    "typescript, as a check": (
        "npx tsc --noEmit",
        "src/a.ts(5,3): error TS7006: Parameter 'p' implicitly has an 'any' type.\n",
        "src/a.ts",
    ),
}


@pytest.mark.parametrize("name", COMPILERS)
def test_what_a_compiler_says_of_the_sessions_own_writing_is_a_slip_however_it_was_run(name: str) -> None:
    command, red, path = COMPILERS[name]
    session = Session().edit("const x = 0", "const x = 1", f"{ROOT}/{path}").run(red, command, ended="failed", exit_code=1)
    for number in range(1, 4):
        session.edit(f"const x = {number}", f"const x = {number + 1}", f"{ROOT}/{path}").run(
            red, command, ended="failed", exit_code=1
        )
    session.edit("const x = 4", "const x = 5", f"{ROOT}/{path}").run("", command, ended="ok", exit_code=0)
    assert session.lessons == []


LOADING = (
    "FAIL src/a.test.ts\n  ● Test suite failed to run\n\n    TypeError: Cannot redefine property: x\n\n      at Object.<anonymous> "
    "(src/a.ts:3:1)\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n"
)


@pytest.mark.parametrize("came_back", [False, True])
def test_what_is_raised_as_code_is_loaded_is_a_slip_unless_it_comes_back(came_back: bool) -> None:
    session = (
        Session().edit("const x = 0", "const x = 1", f"{ROOT}/src/a.ts").run(LOADING, "npx jest", ended="failed", exit_code=1)
    )
    if came_back:
        session.edit("const x = 1", "const x = 2", f"{ROOT}/src/a.ts").run(LOADING, "npx jest", ended="failed", exit_code=1)
    session.edit("const x = 2", "const x = 3", f"{ROOT}/src/a.ts").run("", "npx jest", ended="ok", exit_code=0)
    assert bool(session.lessons) is came_back


def test_what_a_compiler_says_of_a_version_teaches() -> None:
    red = "vite.config.ts(5,13): error TS2769: No overload matches this call.\n"
    for command in ("npm run build", "pnpm --filter @shop/ui build", "npx tsc --noEmit"):
        session = Session().edit("const x = 0", "const x = 1", f"{ROOT}/vite.config.ts")
        session.run(red, command, ended="failed", exit_code=1)
        session.edit('"vite": "^6.0.5"', '"vite": "^5.4.21"', f"{ROOT}/package.json").run("", command, ended="ok", exit_code=0)
        (lesson,) = session.lessons
        assert lesson.text == "`package.json`: TS2769: No overload matches this call."


def test_a_lesson_says_why_or_where() -> None:
    red = "--- FAIL: TestSum (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n"
    session = Session().run(red, "go test ./...", ended="failed", exit_code=1)
    session.edit("\treturn 0\n", "\treturn 2\n", f"{ROOT}/a.go").run(GO_GREEN, "go test ./...")
    assert session.lessons == []


def many(*names: str) -> str:
    lines = "".join(f"FAILED tests/test_a.py::test_{name} - AssertionError: {name} is wrong\n" for name in names)
    return f"{lines}{len(names)} failed, 2 passed in 0.12s\n"


def test_one_cause_is_told_once_with_the_tests_of_all() -> None:
    session = Session().run(many("one", "two", "three"))
    session.edit().edit("def show(text):\n    return 1\n", "def show(text):\n    return 2\n").run(GREEN)
    (lesson,) = session.lessons
    assert [place.symbol for place in lesson.places] == ["parse", "show"]
    assert lesson.tests == tuple(f"tests/test_a.py::test_{name}" for name in ("one", "three", "two"))
    assert lesson.text == "`parse` and `show`: `tests/test_a.py::test_one` fails: one is wrong"
    assert lesson.detail.endswith(" Likewise `tests/test_a.py::test_three`, `tests/test_a.py::test_two`.")


def test_failures_whose_tests_are_named_after_different_code_are_different() -> None:
    session = Session().run(many("parse_of_a_day", "show_of_a_day"))
    session.edit().edit("def show(text):\n    return 1\n", "def show(text):\n    return 2\n").run(GREEN)
    assert sorted([place.symbol for place in one.places] for one in session.lessons) == [["parse"], ["show"]]


def test_a_test_is_named_after_code_by_whole_words() -> None:
    session = Session().run(many("reparsed_shows"))
    session.edit().edit("def show(text):\n    return 1\n", "def show(text):\n    return 2\n").run(GREEN)
    assert [place.symbol for one in session.lessons for place in one.places] == ["parse", "show"]


def test_edits_that_git_took_back_are_one_attempt_however_many_tests_they_broke() -> None:
    session = Session().run(GREEN).edit().run(many("one", "two", "three"))
    session.tell("after", tool="shell", command="git checkout a.py", ended="ok", exit_code=0, output="", call="git").run(GREEN)
    (lesson,) = session.lessons
    assert (lesson.kind, len(lesson.tests)) == ("attempt", 3)


@pytest.mark.parametrize(
    ("plan", "teaches"),
    [
        ("Implement this plan:\n\n# Fix: days with a dot\n\n## Context\n\nDays have dots in Germany. Read them.", False),
        ("Implement this plan:\n\n# Days with a dot\n\n## Context\n\nThe parser is broken: it takes the wrong day.", True),
        ("Add a parser for days with dots. " + "It reads them one by one. " * 8 + "What it cannot read is an error.", False),
    ],
)
def test_a_prompt_says_at_its_beginning_and_not_in_headings_that_something_is_to_be_repaired(plan: str, teaches: bool) -> None:
    session = Session().tell("prompt", text=plan)
    session.edit("", "def test_x():\n    assert parse('1') == 2\n", f"{ROOT}/tests/test_a.py").run(RED).edit().run(GREEN)
    assert bool(session.lessons) is teaches


@pytest.mark.parametrize(
    "new",
    [
        "func TestSum(t *testing.T) {\n\tt.Run(name, run)",
        '\t\t{"two of a kind", 1, 2},\n',
        "\t\tif a() {\n\t\t\tb()\n\t\t}\n" * 30,  # nobody knows how it goes on
    ],
)
def test_a_row_of_a_table_ahead_of_its_code_is_no_failure(new: str) -> None:
    red = GO_RED.replace("TestSum", "TestSum/two_of_a_kind")
    session = Session().tell("prompt", text="Let sums be read in pairs").edit("\t\t// more\n", new, GO_TEST)
    session.run(red, "go test ./...", ended="failed", exit_code=1)
    session.edit("func Sum() int { return 0 }", "func Sum() int { return 2 }", f"{ROOT}/a.go").run(GO_GREEN, "go test ./...")
    assert session.lessons == []


@pytest.mark.parametrize(
    ("pattern", "closed"),
    [
        ("TestSum", True),
        ("Sum", True),
        ("^TestSum", True),
        ("TestOther|TestSum", True),
        ("TestSumOfAll", True),
        ("^TestSumOfAll$", True),
        ("TestSumOfAll/two", False),
        ("TestSum$", False),
        ("^Sum", False),
        ("TestOther|TestSum$", False),
        ("^$", False),
    ],
)
def test_a_pattern_takes_in_the_tests_that_it_matches(pattern: str, closed: bool) -> None:
    session = Session().run(GO_RED.replace("TestSum", "TestSumOfAll"), "go test ./...", ended="failed", exit_code=1)
    session.edit("func Sum() int { return 0 }", "func Sum() int { return 2 }", f"{ROOT}/a.go")
    session.run(GO_GREEN, f"go test -run '{pattern}' ./...")
    assert bool(session.lessons) is closed


@pytest.mark.parametrize(
    ("output", "command", "begins", "lacks"),
    [
        (  # told as it runs
            "=== RUN   TestA\n    a_test.go:5: got 1, want 2\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:7: got 1, want 2\n"
            "--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n",
            "go test -v ./...",
            {"TestA": "a_test.go:5: got 1", "TestB": "b_test.go:7: got 1"},
            {"TestA": "TestB", "TestB": "TestA"},
        ),
        (  # all at the end
            "--- FAIL: TestA (0.00s)\n    a_test.go:5: got 1, want 2\n--- FAIL: TestB (0.00s)\n    b_test.go:7: got 1, want 2\nFAIL\n"
            "FAIL\texample.com/a\t0.01s\nFAIL\n",
            "go test ./...",
            {"TestA": "a_test.go:5: got 1", "TestB": "b_test.go:7: got 1"},
            {"TestA": "TestB", "TestB": "TestA"},
        ),
        (  # side by side
            "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== PAUSE TestB\n=== CONT  TestA\n=== CONT  TestB\n"
            "    b_test.go:7: b is bad\n--- FAIL: TestB (0.00s)\n=== NAME  TestA\n    a_test.go:5: a is bad\n--- FAIL: TestA (0.00s)\n"
            "FAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n",
            "go test -v ./...",
            {"TestA": "a_test.go:5: a is bad", "TestB": "b_test.go:7: b is bad"},
            {"TestA": "TestB", "TestB": "PAUSE"},
        ),
        (  # nothing but the name
            "=== RUN   TestA\n=== PAUSE TestA\n=== CONT  TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n",
            "go test -v ./...",
            {"TestA": "--- FAIL: TestA"},
            {"TestA": "PAUSE"},
        ),
        (
            "___________ test_a ___________\n\nE       ValueError: bad\n\n___________ test_b ___________\n\nE       ValueError: bad\n\n"
            "FAILED t.py::test_a - ValueError: bad\nFAILED t.py::test_b - ValueError: bad\n2 failed in 0.12s\n",
            "pytest",
            {
                "t.py::test_a": "E       ValueError: bad\n\n___________ test_b",
                "t.py::test_b": "E       ValueError: bad\n\nFAILED",
            },
            {"t.py::test_b": "test_b ___"},
        ),
    ],
)
def test_the_words_that_are_the_evidence_are_those_of_the_test(
    output: str, command: str, begins: dict[str, str], lacks: dict[str, str]
) -> None:
    said = {red.test: red.passage for red in Session().run(output, command, ended="failed", exit_code=1).state.open}
    assert {name: said[name][: len(start)] for name, start in begins.items()} == begins
    assert not [name for name, word in lacks.items() if word in said[name]]


def test_a_failure_that_an_older_version_kept_is_still_known() -> None:
    told = json.loads(Session().run(RED).state.to_json())
    told["open"] = [row[:-1] for row in told["open"]]
    assert [red.test for red in State.from_json(json.dumps(told)).open] == ["tests/test_a.py::test_x"]


GO_PROOF = "--- FAIL: TestSum (0.00s)\n    a_test.go:9: got 1, want 2\nFAIL\nFAIL\tshop/cart\t0.1s\n"


@pytest.mark.parametrize(
    "meddling",
    [
        "cp a.go /tmp/a.bak && sed -i s/x/y/ a.go",
        "mv a.go b.go",
        "git checkout HEAD~1 -- a.go",
        "git stash -q",
        "git restore --source=HEAD~2 a.go",
        "perl -pi -e s/x/y/ a.go",
        "python3 - <<'E'\nopen('a.go', 'w').write('x')\nE\n:",
        "node -e 'breakIt()'",
    ],
)
@pytest.mark.parametrize("behind", ["", "; cp /tmp/a.bak a.go"])
def test_code_that_a_line_breaks_on_purpose_and_tests_is_no_failure(meddling: str, behind: str) -> None:
    session = Session().run(GO_PROOF, f"{meddling}; go test ./cart -run TestSum{behind}", ended="failed", exit_code=1)
    assert session.state.open == ()
    session.edit(path=f"{ROOT}/web/page.js").run("ok  \tshop/cart\t0.1s\n", "go test ./...")
    assert session.lessons == []


@pytest.mark.parametrize("before", ["pip install -e .", "make build", "git pull", "git stash list", "cat a.py"])
def test_what_only_prepares_a_run_takes_nothing_from_its_failure(before: str) -> None:
    assert len(Session().run(RED, f"{before} && pytest -q").edit().run(GREEN).lessons) == 1


def test_a_failure_that_was_open_before_a_line_meddled_stays_as_it_was() -> None:
    session = Session().run(RED).edit().run(OTHER_RED, "sed -i s/1/2/ a.py && pytest -q")
    assert [(red.error, red.last) for red in session.state.open] == [("ValueError", 0)]


def test_what_is_tested_while_the_edits_are_stashed_neither_fails_nor_passes() -> None:
    session = Session().run(RED).edit().run(GREEN, "git stash && pytest -q")
    assert [red.test for red in session.state.open] == ["tests/test_a.py::test_x"] and session.lessons == []


def test_a_line_that_runs_a_check_again_until_it_is_green_opens_nothing() -> None:
    again = "./break.sh; go test ./cart -run TestSum | head -3; ./mend.sh; go test ./cart -run TestSum | tail -1"
    session = Session().run(f"{GO_PROOF}ok  \tshop/cart\t0.1s\n", again, exit_code=0, ended="ok")
    assert session.state.open == ()
    session.run(f"{GO_PROOF}{GO_PROOF}", again, exit_code=0, ended="ok")
    assert [red.test for red in session.state.open] == ["TestSum"]


def _raced(*names: str) -> str:
    said = "called `Result::unwrap()` on an `Err` value: Unset"
    ran = "".join(f"test env::tests::{name} ... FAILED\n" for name in names)
    told = "".join(
        f"---- env::tests::{name} stdout ----\nthread 'env::tests::{name}' panicked at src/env.rs:9:5:\n{said}\n\n"
        for name in names
    )
    counts = f"{4 - len(names)} passed; {len(names)} failed; 0 ignored; 0 measured; 0 filtered out"
    return f"running 4 tests\n{ran}\nfailures:\n\n{told}\ntest result: FAILED. {counts}\n"


def test_tests_that_race_end_no_failure_by_failing_in_turn() -> None:
    session = Session()
    for at, names in enumerate((("a",), ("b", "c"), ("a",), ("c",))):
        session.run(_raced(*names), "cargo test", ended="failed", exit_code=101)
        session.edit(f"fn draw() {{ {at} }}", f"fn draw() {{ {at + 1} }}", f"{ROOT}/src/ui.rs")
    assert session.lessons == []
    session.run(_raced("a"), "cargo test", ended="failed", exit_code=101)
    session.edit("fn with_env() {}", "fn with_env() { lock() }", f"{ROOT}/src/env.rs")
    passed = "running 4 tests\n\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
    session.run(passed, "cargo test", ended="ok", exit_code=0)
    (lesson,) = session.lessons
    assert [place.symbol for place in lesson.places] == ["with_env"]
    assert "regression" not in lesson.tags and "ui.rs" not in lesson.detail


@pytest.mark.parametrize(
    ("command", "ends"), [("go test ./...", True), ("go test ./... | head -50", False), ("go test ./... | grep FAIL", False)]
)
def test_a_part_of_what_failed_does_not_say_what_passed(command: str, ends: bool) -> None:
    other = GO_PROOF.replace("TestSum", "TestTax").replace("got 1, want 2", "no tax")
    session = (
        Session().run(GO_PROOF, command, ended="failed", exit_code=1).edit("func Sum() {}", "func Sum() { }", f"{ROOT}/a.go")
    )
    session.run(other, command, ended="failed", exit_code=1)
    assert bool(session.lessons) is ends
    assert [red.test for red in session.state.open] == (["TestTax"] if ends else ["TestSum", "TestTax"])


@pytest.mark.parametrize(
    ("green", "ends"),
    [("go test ./...", False), ("make test", False), ("go test -tags slow ./...", True)],
)
def test_a_test_behind_a_tag_of_go_passes_only_where_it_was_built(green: str, ends: bool) -> None:
    session = Session().run(GO_PROOF, "go test -tags=slow ./...", ended="failed", exit_code=1)
    session.edit("func Sum() {}", "func Sum() { }", f"{ROOT}/a.go").run("ok  \tshop/cart\t0.1s\n", green, ended="ok", exit_code=0)
    assert bool(session.lessons) is ends


def test_what_the_compiler_said_of_an_edit_that_git_took_back_is_no_lesson() -> None:
    unused = '# shop/cart\n./a.go:3:2: "os" imported and not used\nFAIL\tshop/cart [build failed]\nFAIL\n'
    session = Session().run("ok  \tshop/cart\t0.1s\n", "go test ./...", ended="ok", exit_code=0)
    session.edit("func Sum() {}", "func Sum() { os() }", f"{ROOT}/a.go").run(unused, "go test ./...", ended="failed", exit_code=1)
    session.tell("after", tool="shell", command="git checkout -- a.go", ended="ok", exit_code=0, call="back")
    session.run("ok  \tshop/cart\t0.1s\n", "go test ./...", ended="ok", exit_code=0)
    assert session.lessons == []


def test_a_test_that_passes_while_another_that_failed_with_it_still_does_is_mended() -> None:
    both = "FAILED t.py::test_a - KeyError: 'day'\nFAILED t.py::test_b - KeyError: 'day'\n2 failed in 0.1s\n"
    session = Session().run(both).edit().run("FAILED t.py::test_b - KeyError: 'day'\n1 failed, 1 passed in 0.1s\n")
    assert [lesson.tests for lesson in session.lessons] == [("t.py::test_a",)]


def test_scripts_that_are_fed_to_an_interpreter_are_not_one_check() -> None:
    session = Session()
    session.run(
        "Traceback\n\nError: Timed out\n    at wait (src/v.js:62:9)\n", "node <<'E'\nwait()\nE", ended="failed", exit_code=1
    )
    session.edit(path=f"{ROOT}/src/v.js").run("1\n", "node <<'E'\nconsole.log(1)\nE")
    assert session.lessons == [] and session.state.passed == session.state.failed == 0


def test_another_error_of_the_same_check_is_as_old_as_itself() -> None:
    first, other = "src/a.ts(1,2): error TS2345: Not assignable.\n", "src/b.ts(3,4): error TS2322: Type is wrong.\n"
    session = Session().run(first, "npm run check-types", ended="failed", exit_code=2)
    session.edit(path=f"{ROOT}/src/b.ts").run(other, "npm run check-types", ended="failed", exit_code=2)
    assert [(red.error, red.edits, red.at) for red in session.state.open] == [("TS2322", 1, 3000)]
    session.edit("b = 1", "b = 2", f"{ROOT}/src/b.ts").run("done\n", "npm run check-types")
    assert session.lessons == []  # the session's own slip


TIMED_OUT = (
    "FAIL src/a.test.ts\n  ● probe › times out\n\n    Error: Timeout of 2000ms exceeded.\n\n"
    "      at Object.<anonymous> (src/a.test.ts:5:3)\n\nTests:       1 failed, 3 passed, 4 total\n"
)


@pytest.mark.parametrize(("red", "green", "ends"), [("npx jest a", "npx jest", True), ("npx jest", "npx jest a", False)])
def test_what_passes_without_an_edit_is_gone_where_as_much_was_run(red: str, green: str, ends: bool) -> None:
    session = Session().run(TIMED_OUT, red).run("PASS src/a.test.ts\nTests:       4 passed, 4 total\n", green)
    assert (session.state.open == ()) is ends
    assert session.lessons == []


def test_a_bundler_that_counts_errors_tells_of_the_first_and_is_a_compiler() -> None:
    told = (
        "> Build error occurred\nError: Bundling failed with 1 errors:\n./app/page.tsx:9:11\nExpression expected\n   9 | </div>\n\n"
        "    at <unknown> (./app/page.tsx:9:11)\n"
    )
    session = Session().edit(path=f"{ROOT}/app/page.tsx").run(told, "npm run build", ended="failed", exit_code=1)
    assert [(red.message, red.frames[0][0]) for red in session.state.open] == [("Expression expected", "app/page.tsx")]
    session.edit("</div>", "", f"{ROOT}/app/page.tsx").run("done\n", "npm run build")
    assert session.lessons == []


def test_a_new_test_of_code_that_the_session_has_written_teaches_nothing_whatever_was_asked() -> None:
    session = Session().tell("prompt", text="A mail for the payment error")
    session.edit("", "def parse(text):\n    return 1\n", f"{ROOT}/mails/parse.py", call="w1")
    state = session.state
    session.state = state.replace(changes=tuple(one.replace(whole=True) for one in state.changes))
    session.edit("", "def test_x():\n    assert parse('1') == 2\n", f"{ROOT}/tests/test_a.py").run(RED)
    session.edit(path=f"{ROOT}/mails/parse.py").run(GREEN)
    assert session.lessons == []


@pytest.mark.parametrize(
    ("red", "green", "closed"),
    [
        ("pytest", "pytest tests/", True),
        ("pytest tests/test_a.py", "pytest ./tests/", True),
        ("pytest tests/test_a.py", "pytest tests/unit/", False),
        ("cd backend && pytest", "cd backend && pytest tests/test_a.py::test_x", True),
        ("cd backend && pytest", "cd backend && pytest tests/test_b.py", False),
        ("pytest", "cd backend && pytest tests/test_a.py", False),  # of that name in another folder
    ],
)
def test_a_folder_is_taken_in_however_it_is_spelt(red: str, green: str, closed: bool) -> None:
    assert bool(Session().run(RED, red).edit().run(GREEN, green).lessons) is closed


@pytest.mark.parametrize(("green", "ends"), [("./a/...", True), ("./...", True), ("./b/...", False)])
def test_all_of_a_folder_of_go_takes_in_what_lies_below(green: str, ends: bool) -> None:
    session = Session().run(GO_RED, "go test ./a/sem", ended="failed", exit_code=1)
    session.edit("func Sum() int { return 0 }", "func Sum() int { return 2 }", f"{ROOT}/a.go").run(GO_GREEN, f"go test {green}")
    assert (not session.state.open) is ends


RUST_RED = (
    "running 2 tests\ntest cart::tests::sums ... FAILED\ntest cart::tests::starts ... ok\n\nfailures:\n\n"
    "---- cart::tests::sums stdout ----\n\nthread 'cart::tests::sums' panicked at src/cart.rs:20:9:\nbad day\n\n\n"
    "failures:\n    cart::tests::sums\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"
)
RUST_GREEN = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
RUST_TEST = "    #[test]\n    fn sums() {\n        assert_eq!(sum(), 1);\n    }\n"


@pytest.mark.parametrize(
    ("old", "new", "symbols", "teaches"),
    [
        (RUST_TEST, RUST_TEST.replace("1", "2"), (), False),
        (RUST_TEST, RUST_TEST.replace("1", "2"), ("tests.sums",), False),
        (
            "assert_eq!(sum(), 1);",
            "assert_eq!(sum(), 2);",
            ("tests.others",),
            False,
        ),  # of tests alone, after the session's own edit
        ("#[tokio::test]\nasync fn other() {\n    1\n}\n", "#[tokio::test]\nasync fn other() {\n    2\n}\n", (), False),
        (
            '#[tokio::test(flavor = "x")]\nasync fn y() {}\n',
            '#[tokio::test(flavor = "x")]\nasync fn z() {}\n' + "\n" * 600,
            ("z", "w"),
            False,
        ),
        ("    total();\n    assert_eq!(sum(), 1);\n", "    total();\n    assert_eq!(sum(), 2);\n", (), False),
        ("#[cfg(test)]\nmod checks {\n    use a;\n", "#[cfg(test)]\nmod checks {\n    use b;\n", (), False),
        (
            "#[cfg(test)]\nuse a;\n\nfn total() -> u8 {\n    1\n}\n",
            "#[cfg(test)]\nuse a;\n\nfn total() -> u8 {\n    2\n}\n",
            (),
            True,
        ),
        ("#[inline]\nfn total() -> u8 {\n    1\n}\n", "#[inline]\nfn total() -> u8 {\n    2\n}\n", (), True),
        ("fn total() -> u8 {\n    1\n}\n", "fn total() -> u8 {\n    2\n}\n", ("Cart.total",), True),
    ],
)
def test_tests_that_stand_in_a_source_file_are_tests(old: str, new: str, symbols: tuple[str, ...], teaches: bool) -> None:
    state, found = State(root=ROOT), []
    told = [
        Event(
            "after", "c", "s", 1, ROOT, tool="edit", ended="ok", edits=(Edit("src/lib.rs", "fn a() { 1 }\n", "fn a() { 2 }\n"),)
        ),
        Event("after", "c", "s", 2, ROOT, tool="shell", command="cargo test", ended="failed", exit_code=101, output=RUST_RED),
        Event("after", "c", "s", 3, ROOT, tool="edit", ended="ok", edits=(Edit("src/cart.rs", old, new),)),
        Event("after", "c", "s", 4, ROOT, tool="shell", command="cargo test", ended="ok", exit_code=0, output=RUST_GREEN),
    ]
    for event in told:
        state, learnt = step(state, event, (lambda edit: symbols) if symbols else None)
        found += learnt
    assert bool(found) is teaches and not state.open


@pytest.mark.parametrize(("asked", "teaches"), [("Let carts have days", False), ("Fix the days of carts", True)])
def test_a_new_test_in_a_source_file_is_a_new_test(asked: str, teaches: bool) -> None:
    source = "fn total() -> u8 {\n    1\n}\n"
    tests = f"\n#[cfg(test)]\nmod tests {{\n{RUST_TEST}}}\n"
    session = Session().tell("prompt", text=asked).edit(source, source.replace("1", "3") + tests, f"{ROOT}/src/cart.rs")
    session.run(RUST_RED, "cargo test", ended="failed", exit_code=101)
    session.edit(source, source.replace("1", "2"), f"{ROOT}/src/cart.rs").run(RUST_GREEN, "cargo test", ended="ok", exit_code=0)
    assert bool(session.lessons) is teaches and not session.state.open


TEST_FILE = f"{ROOT}/tests/test_a.py"


@pytest.mark.parametrize(
    ("test_edit", "at", "told"),
    [
        (("", "def test_x():\n    assert parse('1') == 2\n"), 0, False),  # new in the session
        (("def test_x():\n    a = 1\n", "def test_x():\n    a = 2\n"), 1, False),  # rewritten between the two fixes
        (("def test_z():\n    a = 1\n", "def test_z():\n    a = 2\n"), 1, True),
    ],
)
def test_a_failure_that_comes_back_is_not_told_of_a_test_that_the_session_wrote(
    test_edit: tuple[str, str], at: int, told: bool
) -> None:
    session = Session().tell("prompt", text="Fix the parser")
    if at == 0:
        session.edit(*test_edit, path=TEST_FILE)
    session.run(RED)
    if at == 1:
        session.edit(*test_edit, path=TEST_FILE)
    session.edit(new="def parse(text):\n    return 3\n").run(RED).edit(new="def parse(text):\n    return 4\n").run(RED)
    assert bool(session.lessons) is told


@pytest.mark.parametrize("written", [True, False])
def test_where_one_test_of_a_new_file_misses_a_name_the_others_are_ahead_too(written: bool) -> None:
    session = Session().tell("prompt", text="Fix the parser")
    if written:
        tests = "from a import parse\n\n\ndef test_x():\n    assert parse('1') == 2\n"
        session.tell("after", tool="write", edits=(Edit(TEST_FILE, "", tests, "whole"),), ended="ok", call="w")
    missing = "ERROR tests/test_a.py - ImportError: cannot import name 'parse' from 'a'\n1 error in 0.12s\n"
    session.run(missing, ended="failed", exit_code=1).edit("", "def parse(text):\n    return 1\n").run(RED)
    session.edit().run(GREEN)
    assert ("`parse`: ValueError: bad day" in session.texts) is not written


@pytest.mark.parametrize(("asked", "teaches"), [("Say more in the tests of the parser", False), ("Fix the parser", True)])
def test_what_fails_after_edits_of_tests_alone_teaches_only_where_something_was_to_be_repaired(asked: str, teaches: bool) -> None:
    session = Session().tell("prompt", text=asked).run(GREEN)
    session.edit("def helper():\n    return 1\n", "def helper():\n    return 2\n", f"{ROOT}/tests/helpers.py")
    session.run(RED).edit().run(GREEN)
    assert bool(session.lessons) is teaches


@pytest.mark.parametrize(
    ("line", "open_"),
    [
        ("mypy src && pytest -q", ["tests/test_a.py::test_x"]),
        ("npm run build && mypy src && pytest -q 2>&1 | tail -5", ["tests/test_a.py::test_x"]),
        ("mypy src; pytest -q", ["", "tests/test_a.py::test_x"]),
    ],
)
def test_what_stands_before_tests_that_reported_has_passed(line: str, open_: list[str]) -> None:
    said = 'Traceback (most recent call last):\n  File "a.py", line 1, in parse\nValueError: bad day\n'
    session = Session().run(said + RED, line)
    assert sorted(red.test for red in session.state.open) == open_


def test_what_stands_before_tests_that_reported_ends_what_it_had_failed_with() -> None:
    failed = "src/a.py:3: error: Incompatible return value type  [return-value]\n"
    session = Session().run(failed, "mypy src", ended="failed", exit_code=1).edit().run(RED, "mypy src && pytest -q")
    assert [red.kind for red in session.state.open] == ["test"]


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/test.yml",
        ".gitlab-ci.yml",
        "azure-pipelines.yml",
        "backend/.circleci/config.yml",
        "Jenkinsfile",
        ".gitignore",
    ],
)
def test_what_a_service_is_told_to_run_helps_no_test_here(path: str) -> None:
    session = Session().run(RED).edit("  run: a", "  run: b", f"{ROOT}/{path}").run(GREEN)
    assert session.lessons == [] and not session.state.open


@pytest.mark.parametrize(("path", "teaches"), [("src/other.ts", False), ("src/cart.ts", True), ("package.json", True)])
def test_a_failure_that_names_no_test_teaches_where_it_went_through_what_was_edited(path: str, teaches: bool) -> None:
    said = "TypeError: bad day\n    at total (/home/dev/shop/src/cart.ts:7:20)\n    at main (/home/dev/shop/src/main.ts:3:13)\n"
    session = Session().run(said, "npm test", ended="failed", exit_code=1).edit("a = 1", "a = 2", f"{ROOT}/{path}")
    session.run("ok\n", "npm test", ended="ok", exit_code=0)
    assert bool(session.lessons) is teaches


@pytest.mark.parametrize(("path", "teaches"), [("package.json", False), ("mise.toml", False), ("src/a.py", True)])
def test_settings_get_no_credit_beside_edits_of_tests(path: str, teaches: bool) -> None:
    session = Session().run(RED).edit('"day": 1', '"day": 2', f"{ROOT}/{path}")
    session.edit("def other():\n    pass\n", "def other():\n    return 1\n", f"{ROOT}/tests/test_b.py").run(GREEN)
    assert bool(session.lessons) is teaches


@pytest.mark.parametrize(("places", "teaches"), [(2, True), (6, False)])
def test_of_many_places_in_a_file_that_a_failure_names_nobody_knows_which_helped(places: int, teaches: bool) -> None:
    said = "src/cart.ts(7,20): error TS2339: Property 'day' does not exist on type 'Cart'.\n"
    session = Session().run(said, "npx tsc --noEmit", ended="failed", exit_code=2)
    for n in range(places):
        session.edit(f"function f{n}() {{\n  return 1\n}}\n", f"function f{n}() {{\n  return 2\n}}\n", f"{ROOT}/src/cart.ts")
    session.run("", "npx tsc --noEmit", ended="ok", exit_code=0)
    assert bool(session.lessons) is teaches


@pytest.mark.parametrize(("path", "teaches"), [("pytest.ini", True), ("src/a.py", False)])
def test_a_missing_module_that_settings_brought_in_is_a_lesson(path: str, teaches: bool) -> None:
    missing = "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'shop'\n1 error in 0.12s\n"
    session = Session().edit(path=f"{ROOT}/shop/a.py").run(missing, ended="failed", exit_code=2)
    session.edit("testpaths = tests", "testpaths = tests\npythonpath = src", f"{ROOT}/{path}").run(GREEN)
    assert bool(session.lessons) is teaches


def test_a_compiler_that_objects_to_a_file_of_settings_objects_to_settings() -> None:
    said = "vite.config.ts(7,3): error TS2769: No overload matches this call.\n"
    session = Session().edit().run(said, "npm run build", ended="failed", exit_code=2)
    session.edit("from 'vite'", "from 'vitest/config'", f"{ROOT}/vite.config.ts")
    session.run("", "npm run build", ended="ok", exit_code=0)
    (lesson,) = session.lessons
    assert lesson.text == "`vite.config.ts`: TS2769: No overload matches this call."


def test_texts_that_begin_alike_take_nothing_back() -> None:
    """Of a long text only the beginning is kept: whether the rest is as it was before nobody knows."""
    start = "".join(f"line {n}\n" for n in range(100))
    session = Session().edit(start + "a = 1\n", start + "a = 2\n").run(RED)
    session.edit(start + "a = 2\n", start + "a = 3\n").run(GREEN)
    assert not any(change.undone or change.undoes for change in session.state.changes)
    assert all("taken back" not in text for text in session.texts)


SCRIPT_RED = "Traceback (most recent call last):\n{}ValueError: bad day\n"
OF_SCRIPT = '  File "scripts/try.py", line 3, in main\n'
OF_CODE = '  File "src/shop.py", line 3, in parse\n'


@pytest.mark.parametrize(
    ("trace", "mended", "teaches"),
    [
        (OF_SCRIPT, "scripts/try.py", False),
        (OF_SCRIPT + OF_CODE, "src/shop.py", True),
        (OF_SCRIPT + OF_CODE, "scripts/try.py", False),
    ],
)
def test_a_script_of_the_session_teaches_where_it_led_to_older_code(trace: str, mended: str, teaches: bool) -> None:
    """Also where the agent stands in a folder below the project's top."""
    session = Session()
    session.tell(
        "after", tool="write", ended="ok", call="w", edits=(Edit(f"{ROOT}/api/scripts/try.py", "", "main()\n", kind="whole"),)
    )
    trace = trace.replace('"scripts', '"api/scripts').replace('"src', '"api/src')
    session.run(SCRIPT_RED.format(trace), "cd api && python scripts/try.py", ended="failed", exit_code=1)
    session.edit(path=f"{ROOT}/api/{mended}").run("ok\n", "cd api && python scripts/try.py", ended="ok", exit_code=0)
    assert bool(session.lessons) is teaches


@pytest.mark.parametrize(("kind", "teaches"), [("str", True), ("Cart", False)])
def test_a_value_that_is_not_what_it_was_taken_for_is_no_renaming(kind: str, teaches: bool) -> None:
    red = f"FAILED tests/test_a.py::test_x - AttributeError: '{kind}' object has no attribute 'total'\n1 failed in 0.12s\n"
    session = Session().run(GREEN).edit("a.sum()", "a.total()", f"{ROOT}/src/b.py").run(red)
    session.edit("price(a)", "price(load(a))", f"{ROOT}/src/a.py").run(GREEN)
    assert bool(session.lessons) is teaches


def test_what_a_command_writes_outside_of_the_project_is_no_edit_of_it() -> None:
    written = (Edit("/tmp/web.log", "", "", kind="whole"),)
    session = Session().tell("after", tool="shell", command="npm start > /tmp/web.log", ended="ok", call="s", edits=written)
    assert session.state.edited == 0 and session.state.world > 0


INDEX = "Error: Unable to index files:\n- ./a.ts: Unexpected token\n{}\n    at run (/home/dev/shop/lib/main.ts:1:2)\n"
MORE, FEWER, OTHER = map(INDEX.format, ("- ./b.ts: Unexpected token\n- ./c.ts: No end\n", "", "- ./d.ts: No end\n"))
TESTS = "FAILED tests/test_a.py::test_x - ValueError: bad day\n{} failed, 9 passed in 0.12s\n"
TYPES = "lib/a.py:3: error: Incompatible return value\nFound {} errors in 2 files\n"


@pytest.mark.parametrize(
    ("command", "outputs", "comes_back"),
    [
        ("npm run build", (MORE, MORE, MORE), True),
        ("npm run build", (MORE, FEWER, FEWER), False),
        ("npm run build", (MORE, OTHER, FEWER), False),
        ("pytest -q", tuple(map(TESTS.format, (1, 1, 1))), True),
        ("mypy lib", tuple(map(TYPES.format, (12, 12, 12))), True),
        ("mypy lib", tuple(map(TYPES.format, (12, 8, 5))), False),
    ],
)
def test_what_is_mended_bit_by_bit_has_not_come_back(command: str, outputs: tuple[str, ...], comes_back: bool) -> None:
    session = Session()
    for n, output in enumerate(outputs):
        session.run(output, command, ended="failed", exit_code=1)
        session.edit(f"def parse(text):\n    return {n}\n", f"def parse(text):\n    return {n + 1}\n", f"{ROOT}/lib/main.ts")
    assert [lesson.tags for lesson in session.lessons] == ([("repeated",)] if comes_back else [])


def test_fewer_failing_tests_are_progress_though_one_of_them_fails_as_before() -> None:
    def run(failing: int) -> str:
        names = "".join(f"FAILED tests/test_a.py::test_{n} - ValueError: bad day {'abc'[n % 3]}\n" for n in range(failing))
        return f"{names}{failing} failed, 9 passed in 0.12s\n"

    session = Session()
    for n, failing in enumerate((30, 24, 18)):
        session.run(run(failing)).edit(f"def parse(text):\n    return {n}\n", f"def parse(text):\n    return {n + 1}\n")
    assert session.lessons == []


FILE_RED = "ℹ tests 1\nℹ fail 1\n\ntest at tests/rbac.test.ts:1:1\n✖ tests/rbac.test.ts (34ms)\n  'test failed'\n"


@pytest.mark.parametrize(
    ("command", "output", "stays"),
    [
        ("npm run test:rbac", "> shop@1.0.0 test:rbac\n> tsx tests/rbac.test.ts\n\nℹ tests 2\nℹ pass 2\nℹ fail 0\n", False),
        ("npx tsx tests/rbac.test.ts", "ok\n", False),
        ("npx vitest run tests/rbac.test.ts", " Test Files  1 passed (1)\n      Tests  1 passed (1)\n", False),
        ("npm run test:cart", "> shop@1.0.0 test:cart\n> tsx tests/cart.test.ts\n\nℹ tests 2\nℹ pass 2\nℹ fail 0\n", True),
        ("npm run test:rbac", "> tsx tests/rbac.test.ts\nℹ tests 1\nℹ fail 1\n✖ adds (1ms)\n  TypeError: x is null\n", False),
    ],
)
def test_a_file_that_failed_as_a_whole_is_gone_when_anything_runs_its_tests(command: str, output: str, stays: bool) -> None:
    session = Session().run(FILE_RED, "node --test tests/rbac.test.ts", ended="failed", exit_code=1)
    assert [red.test for red in session.state.open] == ["tests/rbac.test.ts"]
    failed = "✖" in output
    session.run(output, command, ended="failed" if failed else "ok", exit_code=int(failed))
    assert ("tests/rbac.test.ts" in [red.test for red in session.state.open]) is stays


@pytest.mark.parametrize(
    ("command", "output", "told"),
    [
        ("npm run build", 'error: script "build" exited with code 1\n', False),
        ("npm run build", "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at run (/home/dev/shop/src/db.ts:1:2)\n", False),
        ("npm run build", "KeyError: no day\n    at run (/home/dev/shop/src/db.ts:1:2)\n", False),
        ("npm run build 2>&1 | tail -1", 'error: script "build" exited with code 1\n', True),  # what stood above it nobody knows
        ("npm run build", "", True),
        ("npm run lint:types", "error: bad\n", True),
    ],
)
def test_of_a_check_without_tests_only_what_failed_last_is_told(command: str, output: str, told: bool) -> None:
    said = "TypeError: bad day\n    at total (/home/dev/shop/src/cart.ts:7:20)\n"
    session = Session().run(said, "npm run build", ended="failed", exit_code=1).edit()
    assert "bad day" in summary.of(session.state)
    session.run(output, command, ended="failed", exit_code=1)
    assert ("bad day" in summary.of(session.state)) is told


def test_tests_that_a_run_did_not_reach_still_fail() -> None:
    session = Session().run(RED).edit().run("Error: connect ECONNREFUSED 127.0.0.1:5432\n", ended="failed", exit_code=1)
    assert "bad day" in summary.of(session.state)


@pytest.mark.parametrize(
    "said",
    [
        "pytest : The term 'pytest' is not recognized as the name of a cmdlet, function, script file, or operable program.",
        "The token '&&' is not a valid statement separator in this version.",
        "File run.ps1 cannot be loaded because running scripts is disabled on this system.",
        "Get-Content : Cannot find path 'C:\\shop\\a.txt' because it does not exist.",
    ],
)
def test_what_powershell_does_not_find_or_understand_is_routine(said: str) -> None:
    session = Session().run(said, "powershell -Command 'python tool.py'", ended="failed", exit_code=1)
    assert session.state.failed == 0 and not session.state.open
