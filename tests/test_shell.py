"""Shell commands taken apart."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hardwon.capture.programs import program, unwrapped
from hardwon.capture.shell import LIMIT, flat, handed_on, split

WORDS = [
    ("pytest -q tests/a.py::b", [("pytest", "-q", "tests/a.py::b")]),
    ("a && b || c; d | e |& f & g\nh", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",), ("g",), ("h",)]),
    ("echo 'a b' \"c d\" e\\ f $'g\\nh' i'j'\"k\"", [("echo", "a b", "c d", "e f", "g\nh", "ijk")]),
    ('echo "a \\"b\\" \\$c \\d"', [("echo", 'a "b" $c \\d')]),
    ("if ! grep -q x y; then make; else exit 1; fi", [("grep", "-q", "x", "y"), ("make",), ("exit", "1")]),
    ("for f in a b; do sed -n p $f; done", [("for", "f", "in", "a", "b"), ("sed", "-n", "p", "$f")]),
    ("(cd a; ls) && { make; }", [("cd", "a"), ("ls",), ("make",)]),
    ("make # all && rm -rf /", [("make",)]),
    ("make \\\n  all", [("make", "all")]),
    ("echo a#b", [("echo", "a#b")]),
    ("cat <<EOF | sort\nrm x\nEOF\nls", [("cat",), ("sort",), ("ls",)]),
    ("cat <<-'E'\n\tx\n\tE\nls", [("cat",), ("ls",)]),
    ("cat <<E\nno end", [("cat",)]),
    ("[[ a > b && c ]] && ls", [("[[", "a", "b", "c", "]]"), ("ls",)]),
    ("echo 'no end", [("echo", "no end")]),
    ("", []),
    (";;&&", []),
]


@pytest.mark.parametrize(("command", "words"), WORDS, ids=[command for command, _ in WORDS])
def test_words_of_each_command(command: str, words: list[tuple[str, ...]]) -> None:
    assert [one.words for one in split(command)] == words


def test_what_joins_commands_is_told() -> None:
    assert [one.joined for one in split("a && b || c; d | e\nf & g")] == ["", "&&", "||", ";", "|", ";", "&"]


def test_redirections_and_assignments_are_no_words() -> None:
    (one,) = split("A=1 B='x y' make 2>err.txt >>out <in >&2 <<<word all")
    assert one.words == ("make", "all")
    assert one.assignments == (("A", "1"), ("B", "x y"))
    assert [(item.operator, item.target, item.descriptor) for item in one.redirects] == [
        (">", "err.txt", 2),
        (">>", "out", None),
        ("<", "in", None),
        (">&", "2", None),
        ("<<<", "word", None),
    ]


def test_a_heredoc_within_a_substitution_keeps_its_text_and_its_quotes() -> None:
    first, second = split('git commit -m "$(cat <<\'EOF\'\nit\'s "so" (really)\nEOF\n)" && git push')
    assert first.inner[0].redirects[0].body == 'it\'s "so" (really)\n'
    assert second.words == ("git", "push")


def test_commands_inside_commands_are_found() -> None:
    found = [one.words[0] for one in flat(split("x=$(a `b`) && bash -lc 'c; eval \"d\"' <(e)")) if one.words]
    assert found == ["a", "b", "bash", "e", "c", "eval", "d"]


def test_a_program_is_found_behind_what_runs_it() -> None:
    assert unwrapped(("sudo", "-u", "x", "env", "A=1", "timeout", "-k", "3", "10", "nice", "-n5", "make", "all")) == (
        "make",
        "all",
    )
    assert unwrapped(("env",)) == ()
    assert program("C:\\tools\\git.EXE") == "git"
    assert handed_on(split("bash <<'E'\nls\nE")[0]) == "ls\n"


@given(st.text(alphabet="ab'\"$()`\\\n ;&|<>E[]#{}=-2", max_size=200))
@example("$(" * 50)
@example("<<E <<E\nE\n")
def test_nothing_that_is_typed_raises(command: str) -> None:
    for one in flat(split(command)):
        assert one.words or one.assignments or one.redirects or one.inner


HOSTILE = [
    "$(",
    "`",
    '"$(',
    "<<a ",
    "((",
    "a;",
    "x",
    "<<EOF\n",
    "'",
    "\\",
    "[[ a ",
    "<<E\nEEE",
    'eval "$(',
    "bash -c '",
    "{ ",
    "<<-E\n\t",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_a_hostile_text_of_full_size_is_read_to_an_end(part: str) -> None:
    found = split(part * (2 * LIMIT // len(part)))  # what grows faster than the text would take minutes here
    assert len(found) <= 2_001
    assert sum(1 for _ in flat(found)) < 10_000
