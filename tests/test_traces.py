"""Stack traces in logs: what is read of them, whether a failure is known again, and that no log can hold it up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.code.stack.frames import MOST_FRAMES
from hardwon.code.stack.signature import signature
from hardwon.code.traces import MOST, parse
from tests.failures import CASES, Told
from tests.growth import TIMES, takes_the_square

NOISE = "\n".join(
    ["> app@1.0.0 start", "Listening on http://localhost:8080", "warn: at least one file (a.py:12) is old", "user@host:~/x$ make -j4",
     "src/a.py:3:1: E302 expected 2 blank lines", "meet at noon (room 5:30)", "INFO at startup", "at: 12", "GET /x 200 12ms", ""]
)  # fmt: skip


def told(text: str) -> list[Told]:
    return [
        (trace.language, trace.kind, trace.message, [(frame.path, frame.line, frame.function) for frame in trace.frames])
        for trace in parse(text)
    ]


@pytest.mark.parametrize("name", CASES)
def test_what_is_read(name: str) -> None:
    text, expected = CASES[name]
    assert told(text) == expected


@pytest.mark.parametrize("name", CASES)
def test_noise_around_it_changes_nothing(name: str) -> None:
    text, expected = CASES[name]
    if name != "pytest summary alone":
        assert told(f"{NOISE}\n{text}\n{NOISE}") == expected


@pytest.mark.parametrize("name", [name for name in CASES if "JSON" not in name])
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    text, expected = CASES[name]
    assert told(text.replace("\r\n", "\n").replace("\n", "\r\n")) == expected
    assert told("\n".join(f"\x1b[2m{line}\x1b[0m" for line in text.split("\n"))) == expected


@pytest.mark.parametrize(
    "name", [name for name in CASES if name.startswith(("python", "node", "java", "rust", "go")) and "JSON" not in name]
)
def test_prefixes_of_logs_change_nothing(name: str) -> None:
    text, expected = CASES[name]
    for prefix in ("2026-11-30T08:00:00.123Z ", "[2026-11-30 08:00:00] ", "app-1  | ", "2026-11-30T08:00:00Z stderr F "):
        lines = [prefix + line if line else line for line in text.split("\n")]
        assert told("\n".join(lines)) == expected


def test_there_are_enough_of_each_language() -> None:
    counts: dict[str, int] = {}
    for _, expected in CASES.values():
        for language in {one[0] for one in expected}:
            counts[language] = counts.get(language, 0) + 1
    assert len(CASES) >= 60 and min(counts.values()) >= 8 and len(counts) == 5


def test_a_log_without_a_failure() -> None:
    assert parse(NOISE) == parse("") == ()


SAME = [
    ("ValueError", "invalid literal for int() with base 10: 'abc'", "invalid literal for int() with base 10: 'x-9'"),
    ("OSError", "[Errno 2] No such file or directory: '/tmp/a1/x'", "[Errno 2] No such file or directory: '/tmp/b2/y'"),
    ("RuntimeError", "object at 0x7f0012345678 is gone", "object at 0x7fabcdef0000 is gone"),
    ("Error", "connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.0.0.7:6432"),
    ("Error", "job 3f2a9c1e-1111-4222-8333-123456789abc failed", "job 9b2a9c1e-aaaa-4bbb-8ccc-0123456789ab failed"),
    ("Error", "at 2026-11-30T09:00:00Z: took 31.5 s", "at 2025-01-02T10:11:12Z: took 2 s"),
    ("Error", "commit 4f1e2a9c7 is unknown", "commit 9c1d0e2aa1 is unknown"),
    ("panic", "runtime error: index out of range [5] with length 3", "runtime error: index out of range [17] with length 12"),
    ("HTTPError", "404 for url: https://a.example.org/v1/users/17", "404 for url: https://a.example.org/v1/users/18"),
    ("Error", "cannot read C:\\Users\\ann\\a.txt", "cannot read C:\\Users\\bob\\b.txt"),
    ("Error", 'user "ann" is locked', 'user "bob" is locked'),
    ("Error", "mail to ann@example.org bounced", "mail to bob.b@example.com bounced"),
    ("Error", "cannot open src/a/b/c.py", "cannot open lib/x/y/z.py"),
]
DIFFERENT = [
    ("KeyError", "'user_id'", "'name'"),
    ("AttributeError", "'NoneType' object has no attribute 'foo'", "'NoneType' object has no attribute 'bar'"),
    (
        "TypeError",
        "Cannot read properties of undefined (reading 'user')",
        "Cannot read properties of undefined (reading 'items')",
    ),
    ("ModuleNotFoundError", "No module named 'numpy'", "No module named 'pandas'"),
    ("ValueError", "too many values to unpack", "not enough values to unpack"),
    ("panic", "called `Option::unwrap()` on a `None` value", "called `Result::unwrap()` on an `Err` value: 5"),
    ("Error", "ENOENT: no such file or directory, open 'x'", "EACCES: permission denied, open 'x'"),
]


@pytest.mark.parametrize(("kind", "one", "other"), SAME)
def test_one_failure_in_two_runs_has_one_signature(kind: str, one: str, other: str) -> None:
    assert signature(kind, one) == signature(kind, other) != signature("Other", one)


@pytest.mark.parametrize(("kind", "one", "other"), DIFFERENT)
def test_different_failures_have_different_signatures(kind: str, one: str, other: str) -> None:
    assert signature(kind, one) != signature(kind, other)


def test_no_two_cases_share_a_signature_but_for_the_same_failure() -> None:
    found: dict[str, set[str]] = {}
    for text, _ in CASES.values():
        for trace in parse(text):
            if trace.kind and trace.message:
                found.setdefault(trace.signature, set()).add(trace.message)
    shared = {sign: messages for sign, messages in found.items() if len(messages) > 1}
    assert set(shared) <= {"panic: runtime error: index out of range [<n>] with length <n>"}, shared


def test_of_many_frames_the_innermost_are_kept() -> None:
    text = (
        "Traceback (most recent call last):\n"
        + "".join(f'  File "a.py", line {n}, in f\n' for n in range(1, 1001))
        + "ValueError: x\n"
    )
    (trace,) = parse(text)
    assert len(trace.frames) == MOST_FRAMES and trace.frames[0].line == 1000


def test_of_many_failures_some_are_kept() -> None:
    text = "".join(f'Traceback (most recent call last):\n  File "a.py", line {n}, in f\nValueError: {n}\n' for n in range(1, 500))
    assert len(parse(text)) == MOST


def test_of_a_long_log_the_end_is_read() -> None:
    text = "x" * 79 + "\n"
    assert [trace.kind for trace in parse(text * 50_000 + CASES["python during"][0])] == ["ValueError", "AttributeError"]


HOSTILE = {
    "dots": "a." * 1_000_000,
    "a line of at": "    at " + "(" * 900_000,
    "frames of nothing": "    at x\n" * 300_000,
    "frames without a head": "    at f (/a.js:1:1)\n" * 80_000,
    "java words": ("com." * 400 + "\n") * 1_000 + "\tat com.a.B.c(B.java:1)\n",
    "java heads": "Caused by: a.B: x\n" * 100_000,
    "java frame and cause": "\tat a.B.c(B.java:1)\nCaused by: a.C: x\n" * 40_000,
    "tracebacks": "Traceback (most recent call last):\n" * 50_000,
    "groups": "".join("  " * n + "| Exception Group Traceback (most recent call last):\n" for n in range(1_500)),
    "bars": "  + Exception Group Traceback (most recent call last):\n"
    + '  |   File "a.py", line 1, in f\n  | E: x\n' + "    | x\n" * 200_000,
    "files": '  File "a.py", line 1\n' * 90_000,
    "panics": "panic: x\n" * 200_000,
    "panic and routine": "panic: x\ngoroutine 1 [running]:\n" * 60_000,
    "routines": "goroutine 1 [running]:\n" * 80_000,
    "fails": "--- FAIL: T (0.00s)\n" * 100_000,
    "go said": "--- FAIL: T (0.00s)\n" + "".join(" " * (4 + n % 100) + "a.go:1: x\n" for n in range(30_000)),
    "go blank": "=== RUN   T\n" + ("    a.go:1:\n" + "\n" * 90) * 20_000 + "--- FAIL: T (0.00s)\n",
    "go turns": "=== CONT  T\n    a.go:1: x\n--- FAIL: U (0.00s)\n" * 35_000,
    "go turns of many": "".join(f"=== RUN   T{n}\n    a.go:1: want\n" for n in range(60_000)) + "--- FAIL: T (0.00s)\n" * 1_000,
    "go labels": "--- FAIL: T (0.00s)\n" + ("    a.go:1:\n" + "        \tError:      \tx\n" * 90) * 800,
    "rust": " panicked at '\n" * 120_000,
    "rust backtraces": "stack backtrace:\n" * 110_000,
    "angle brackets": "thread 'm' panicked at 'x', a.rs:1:1\nstack backtrace:\n   0: "
    + "<" * 1_900 + "\n" + "             at a.rs:1:1\n" * 70_000,
    "pytest": "E   x\n" * 300_000,
    "pytest places": "a.py:1: \n" * 200_000,
    "pytest defs": "    def f(\n" * 100 + "a.py:1: ValueError\n" * 100_000,
    "at signs": "a@b/c:1\n" * 250_000,
    "gecko": "f@http://a/b.js:1:1\n" * 90_000,
    "escapes": "\x1b[" * 900_000,
    "escape strings": "\x1b]" * 900_000,
    "prefixes": ("2026-11-30 09:00:00 [x] " * 80 + "\n") * 900,
    "brackets": ("[" * 1_900 + "\n") * 1_000,
    "pipes": ("a" * 60 + " " * 20) * 24_000,
    "digits": "panic: " + "1" * 1_900_000,
    "quotes": ("panic: " + "'" * 1_900 + "\n\n") * 1_000,
    "slashes": ("panic: " + "a/" * 900 + "\n\n") * 1_000,
    "hex": ("panic: " + "abcdef0" * 250 + "\n\n") * 1_000,
    "mails": ("panic: " + "a.b+c-" * 300 + "\n\n") * 1_000,
    "escaped lines": "\\n" * 1_000_000,
    "jest": ("  ● x\n" + "\n" * 20 + "      at f (a.js:1:1)\n") * 30_000,
    "causes": ("    at f (/a.js:1:1) {\n  [cause]: Error: x\n") * 40_000,
    "stack of tests": "  stack: |-\n" * 150_000,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_log_takes_no_longer_than_its_length(name: str) -> None:
    assert not takes_the_square(parse, lambda length: HOSTILE[name][:length], min(150_000, len(HOSTILE[name]) // TIMES))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_no_log_crashes_it(data: st.DataObject) -> None:
    lines = [line for text, _ in CASES.values() for line in text.split("\n")]
    drawn = data.draw(st.lists(st.one_of(st.sampled_from(lines), st.text(max_size=20)), max_size=40))
    for trace in parse("\n".join(drawn)):
        assert len(trace.frames) <= MOST_FRAMES and trace.signature == signature(trace.kind, trace.message)
