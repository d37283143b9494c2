"""Code that was written to break a parser: no crash, bounded time, in every language. Each language in a process of its own, with a limit
of memory, for what breaks here is C."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon.code.source import LARGEST, skipped_content
from hardwon.code.symbols import MOST_CALLS, outline
from hardwon.code.workers import PROCESSOR

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS = {
    "python": "py", "javascript": "js", "typescript": "ts", "tsx": "tsx", "go": "go", "rust": "rs", "java": "java", "c": "c", "cpp": "cpp",
}  # fmt: skip
BEFORE = {
    "python": b"x = ", "go": b"package m\nvar x = ", "rust": b"fn f(){ let x = ", "java": b"class A { int x = ", "c": b"int x = ",
    "cpp": b"int x = ",
}  # fmt: skip
NESTED = {
    "python": b"def f(): ",
    "go": b"func() {",
    "rust": b"fn f(){",
    "java": b"class A{",
    "c": b"int f(){",
    "cpp": b"namespace a{",
}
SIBLINGS = {
    "python": b"def f(): pass\n",
    "go": b"func f() {}\n",
    "rust": b"fn f(){}\n",
    "java": b"void f(){}\n",
    "c": b"int f(){}\n",
}
OPENED = (
    b"(",
    b"[",
    b"{",
    b"A<",
    b"f(",
    b"-",
    b"!",
    b"if(a)",
    b"`${",
    b'"',
    b"/*",
    b"*",
    b"a.",
    b"a::",
    b"a?b:",
    b"<a>",
    b"if a:",
)
CLOSED = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"f(", b")"), (b"A<", b">"))


def deep(language: str, many: int) -> Iterator[bytes]:
    """What is nested that deep."""
    before = BEFORE.get(language, b"x = ")
    for opened, closed in CLOSED:
        yield before + opened * many + b"1" + closed * many + b";\n"
    yield from (before + opened * many for opened in OPENED)
    yield NESTED.get(language, b"function f(){") * many
    yield before + b"a.b()" + b".c()" * many
    yield b"template<class T> " * many + b"class A{};"
    yield b"int " + b"(" * many + b"f" + b")" * many + b"(void);"
    yield b"use a::{" * many
    yield b"const a = {" + b"b: {" * many + b"f() {}"


def wide(language: str, many: int) -> Iterator[bytes]:
    """What is repeated that often, and texts that are none."""
    before = BEFORE.get(language, b"x = ")
    yield SIBLINGS.get(language, b"function f(){}\n") * many
    yield from (
        before + one * many for one in (b"f(x);\n", b'f("a b", "c");\n', b'"abc\n', b"f(a, ", b" ", b";", b",)", b"\\", b"\\\n")
    )
    yield from (
        one * many
        for one in (b"\n", b"\r", b"\r\n", b"\xff", b"// a\n# b\n/* c */\n", b"@a\n#[a]\n", b"#if A\n", b"import a, b\n")
    )
    yield bytes(range(1, 256)) * (many // 256 + 1)
    yield b"def " + b"a" * many + b"(): pass\nfunction " + b"b" * many + b"(){}"
    yield "def имя(): pass\nfunction 名前() {}\n".encode() * (many // 40 + 1)
    yield "def f(): pass\n".encode("utf-16")
    yield b"\xef\xbb\xbf"
    yield b""


def feed(language: str, many: int, minified: bool) -> None:
    """All of it through ``outline``; run in a process of its own."""
    from time import thread_time

    from hardwon.code import symbols

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    if minified:  # what is taken for minified would not be parsed at all
        symbols.skipped_content = lambda content: "large" if len(content) > LARGEST else ""
    outline(f"a.{ENDINGS[language]}", b"x")  # loads the grammar
    for make in (deep, wide) if minified else (deep,):  # a million of anything wide is cut to what a hundred thousand are
        for number, content in enumerate(make(language, many)):
            print(make.__name__, number, content[:20], flush=True)
            before = thread_time()
            outline(f"a.{ENDINGS[language]}", content[:LARGEST])
            # A step that is not stopped may be under way when the time is over: what bounds it is the limit of the child that parses.
            assert thread_time() - before < PROCESSOR, (make.__name__, number, thread_time() - before)


def fed(language: str, many: int, minified: bool = True) -> None:
    command = f"from tests.test_symbols_hostile import feed; feed({language!r}, {many}, {minified})"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, timeout=1200, check=False, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-200:], done.stderr[-2000:])


@pytest.mark.slow
@pytest.mark.parametrize("language", ENDINGS)
def test_hostile_code_is_survived(language: str) -> None:
    fed(language, 400)


@pytest.mark.slow
@pytest.mark.parametrize("language", ENDINGS)
def test_a_hundred_thousand_levels_are_survived(language: str) -> None:
    fed(language, 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("language", ENDINGS)
def test_a_million_levels_are_survived(language: str) -> None:
    fed(language, 1_000_000, minified=False)


def test_a_line_of_five_megabytes_is_not_read() -> None:
    assert outline("a.js", b"a" * 5_000_000).skipped == "large"
    assert skipped_content(b"var a;" * 100_000) == "generated"


@pytest.mark.slow
def test_symbols_and_calls_of_one_file_are_bounded() -> None:
    found = outline("a.py", b"def f(): g()\n" * 8_000)
    assert found.skipped in ("", "large")
    assert len(found.symbols) <= 5000
    assert len(found.calls) <= MOST_CALLS
    nested = outline("a.py", b"".join(b" " * depth + b"def f():\n" for depth in range(60)) + b" " * 60 + b"pass\n")
    assert len(nested.symbols) == 20
    assert outline("a.js", b"function " + b"a" * 1000 + b"() {}").symbols == ()
