"""What must not come out of, or get into, what is known of the code: others' words, secrets, and whatever lies where a file was."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from hardwon.code.anchor import _around, within
from hardwon.code.diff import parse
from hardwon.code.ground import Files
from hardwon.code.names import ending, same_symbol
from hardwon.code.outline import Call, Import, Outline, Symbol
from hardwon.store.code.without_secrets import without_secrets
from hardwon.types import Anchor, Draft, Filter, Origin, Query, Scope
from tests.conftest import git
from tests.growth import TIMES, takes_the_square
from tests.test_anchors import LONG, Ground

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardwon.engine.core import Engine

PERSON = Scope(Origin("person", "shell"))
AGENT = Scope(Origin("agent", "claude-code", "s1"))
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.fixture
def engine(ground: Ground) -> Iterator[Engine]:
    engine = ground.engine()
    engine.refresh_code()
    yield engine
    engine.close()


# --- explain


def test_explain_keeps_silent_of_what_was_set_aside_or_belongs_to_another_branch(ground: Ground, engine: Engine) -> None:
    engine.ingest_history()
    commit = git(ground.root, "rev-parse", "HEAD").strip()

    def decide(text: str) -> str:
        known = engine.record(Draft(text, kind="decision", anchors=(Anchor("calc.py", "add"),)), PERSON).id
        engine.link(known, commit, "supports", PERSON)
        return known

    engine.forget(Filter(ids=(decide("was forgotten"),)), PERSON, dry_run=False)
    engine.reject(decide("was rejected"), PERSON)
    git(ground.root, "checkout", "-q", "-b", "side")
    ground.commit("side")
    decide("of the side")
    git(ground.root, "checkout", "-q", "main")
    decide("holds")
    found = engine.explain("calc.py", (1, 2), AGENT)
    assert [hit.memory.text for hit in found.memories] == ["holds"]
    assert [other.text for change in found.changes for _, other in change.links if other] == ["holds"]
    assert "holds" in found.told.block
    assert not any(word in found.told.block for word in ("forgotten", "rejected", "side"))


def test_explain_does_not_tell_from_git_what_was_taken_out_of_the_memory(ground: Ground, engine: Engine) -> None:
    engine.ingest_history()
    commit = git(ground.root, "rev-parse", "HEAD").strip()
    known = engine.identify(commit)
    engine.erase(Filter(ids=(known,)), "secret", PERSON, dry_run=False)
    (change,) = engine.explain("calc.py", None, AGENT).changes
    assert (change.commit.sha, change.commit.subject, change.commit.body) == (commit, "", "")
    assert change.memory is not None and change.memory.erased


def test_a_message_that_is_read_from_git_has_neither_secrets_nor_escapes(ground: Ground, engine: Engine) -> None:
    ground.write("calc.py", "x = 1\n")
    ground.commit(f"use {TOKEN} \x1b[31mnow\x1b[0m\u202e please\u200b\n\npassword: Tr0ub4dor&3xyz\x1b]0;title\x07\n")
    (change,) = engine.explain("calc.py", None, AGENT).changes
    said = f"{change.commit.subject}\n{change.commit.body}"
    assert change.commit.subject == "use [redacted:github-token] now please"
    assert "Tr0ub4dor" not in said and said.replace("\n", "").isprintable()


# --- a diff


def test_odd_names_in_a_diff_do_not_silence_the_others(ground: Ground, engine: Engine) -> None:
    engine.record(Draft("adding overflows", kind="lesson", outcome="failed", anchors=(Anchor("calc.py", "add"),)), AGENT)
    names = ("../../etc/passwd", "new\\nline.py", "tab\\tx.py", "/etc/passwd", "C:/x.py", "calc.py")
    diff = "".join(f'--- "a/{name}"\n+++ "b/{name}"\n@@ -2 +2 @@\n-a\n+b\n' for name in names)
    block = engine.before("", "", AGENT, diff=parse(diff))
    assert [hit.memory.text for hit in block.hits] == ["adding overflows"]
    assert [told for told in block.mode.degraded if told.startswith("diff: 5 of its files")]


def test_paths_of_a_diff_begin_at_the_root_wherever_it_is_read(ground: Ground, tmp_path: Path) -> None:
    ground.write("sub/calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    ground.commit("a namesake")
    from hardwon.engine.opening import create

    with_cwd = create(os.path.join(ground.root, "sub"), ground.home, "calc")
    try:
        with_cwd.refresh_code()
        for path, text in (("../calc.py", "of the root"), ("calc.py", "of the folder")):
            with_cwd.record(Draft(text, anchors=(Anchor(path, "add"),)), AGENT)
        ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 7"))
        block = with_cwd.before("", "", AGENT, diff=parse(git(ground.root, "diff")))
    finally:
        with_cwd.close()
    assert [hit.memory.text for hit in block.hits] == ["of the root"]


def test_a_diff_of_too_many_files_says_so(engine: Engine) -> None:
    diff = "".join(f"--- a/d/f{n}.py\n+++ b/d/f{n}.py\n@@ -1 +1 @@\n-a\n+b\n" for n in range(1_500))
    told = engine.before("", "", AGENT, diff=parse(diff)).mode.degraded
    assert "diff: only the first 1,000 of 1,500 files were looked at: give a part of it" in told


@pytest.mark.slow
def test_lines_of_a_whole_long_file_take_no_square(ground: Ground, engine: Engine) -> None:
    few, many = 500, TIMES * 500
    for count in (few, many):
        ground.write(f"of{count}.py", "\n\n".join(f"def f{n}(x):\n    return x + {n}" for n in range(count)) + "\n")
    ground.commit("many")
    engine.refresh_code()
    for count in (few, many):
        for n in range(60):
            engine.record(Draft(f"lesson {n}", anchors=(Anchor(f"of{count}.py", f"f{n}"),)), AGENT)

    def asked(file: str) -> None:
        assert len(engine.before(file, "", AGENT, 4000, lines=(1, 20_000)).hits) == 60

    assert not takes_the_square(asked, "of{}.py".format, few)  # eleven seconds for ``within`` alone, before it knew better


def test_the_innermost_symbols_are_those_that_hold_the_lines() -> None:
    def plain(symbols: list[Symbol], first: int, last: int) -> list[Symbol]:
        touched = [one for one in symbols if one.first <= last and one.last >= first]
        return [
            one
            for one in touched
            if not any(
                other is not one and one.first <= other.first and other.last <= one.last and _around(other, one, first, last)
                for other in touched
            )
        ]

    spans = [(a, b) for a in range(1, 6) for b in range(a, 6)]
    symbols = [Symbol(f"s{a}{b}", "function", a, b, "", "", "", 1) for a, b in spans]
    for first, last in spans:
        for some in (symbols, symbols[::2], symbols[::3], symbols[1::4]):
            assert within(some, first, last) == plain(some, first, last)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("validate", "auth.Service.validate"),
        ("Service#validate()", "auth::Service.validate"),
        ("VALIDATE", "a/b.validate"),
        ("p->next", "next"),
        ("draw", "Shape<T>draw"),
        ("f()", "a::f()"),
    ],
)
def test_spellings_of_one_symbol_end_alike(one: str, other: str) -> None:
    assert same_symbol(one, other) and ending(one) == ending(other)


# --- secrets


def test_the_index_holds_no_secret_of_the_code(ground: Ground, engine: Engine) -> None:
    ground.write(
        "conf.py",
        f'def connect(host, password="Tr0ub4dor&3xyz", token="{TOKEN}"):\n    """Log in with password: Tr0ub4dor&3xyz."""\n'
        f'    return Client("{TOKEN}").get(host)\n',
    )
    ground.commit("conf")
    engine.refresh_code()
    assert engine.code is not None
    with engine.code.read() as code:
        (symbol,) = code.symbols(code.blob_at("conf.py")) or ()
        calls = code.calls_in("conf.py")
    kept = " ".join((symbol.signature, symbol.doc, *(call.receiver for call in calls)))
    assert "redacted:" in symbol.signature and "redacted:" in symbol.doc
    assert TOKEN not in kept and "Tr0ub4dor" not in kept
    # Its code is known as well as any other's.
    engine.record(Draft("connect waits", anchors=(Anchor("conf.py", "connect"),)), AGENT)
    assert engine.recall(Query("connect waits"), AGENT).hits[0].memory.anchors[0].state == "same"


def test_an_outline_without_secrets_stays_as_it_is() -> None:
    symbol = Symbol("a.f", "function", 1, 2, "def f(x=1)", "Add.", "00", 9)
    clean = Outline("python", symbols=(symbol,), calls=(Call("a.f", "g", "self.x", 2),), imports=(Import("os", "", "", 1),))
    assert without_secrets(clean) is clean
    url = clean.replace(imports=(Import("https://u:passw0rdX@example.org/x.js", "default", "a", 1),))
    assert "passw0rdX" not in without_secrets(url).imports[0].module


def test_an_edited_file_with_a_secret_is_not_left_with_the_index(ground: Ground, engine: Engine) -> None:
    assert engine.code is not None
    for text, left in ((f'    key = "{TOKEN}"\n    return key\n', 0), ("    return 5\n", 1)):
        ground.write("calc.py", LONG.format(name="add") + "\n\ndef fresh():\n" + text)
        engine.record(Draft(f"fresh {left}", anchors=(Anchor("calc.py", "fresh"),)), AGENT)
        with engine.code.write() as writer:
            assert len(writer.held()) == left


# --- what lies where a file was


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    (tmp_path / "folder.py").mkdir()
    assert files.content("folder.py") is None and files.content("none.py") is None
    os.mkfifo(tmp_path / "pipe.py")
    pipe = os.open(tmp_path / "pipe.py", os.O_RDWR | os.O_NONBLOCK)
    os.write(pipe, b"for somebody else")
    os.symlink("/dev/zero", tmp_path / "zero.py")
    os.symlink("loop.py", tmp_path / "loop.py")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.py"))
        for name in ("pipe.py", "zero.py", "loop.py", "s.py"):
            with pytest.raises(OSError, match=r".*"):
                files.content(name)
    assert os.read(pipe, 100) == b"for somebody else"
    os.close(pipe)


def test_code_whose_file_became_a_folder_is_gone(ground: Ground, engine: Engine) -> None:
    engine.record(Draft("adding overflows", anchors=(Anchor("calc.py", "add"),)), AGENT)
    os.remove(os.path.join(ground.root, "calc.py"))
    os.makedirs(os.path.join(ground.root, "calc.py"))
    engine.refresh_code()
    assert engine.recall(Query("adding overflows"), AGENT).hits[0].memory.anchors[0].state == "gone"


def test_who_changed_a_file_of_any_name_on_a_merged_branch_is_told(ground: Ground, engine: Engine) -> None:
    names = (":colon.py", "[id].py", "*.py", "--option.py")
    for number, name in enumerate(names):
        ground.write(name, LONG.format(name=f"f{number}").replace("* 2", f"* {number + 3}"))
    ground.commit("names")
    engine.refresh_code()
    for number, name in enumerate(names):
        engine.record(Draft(f"lesson {number} of them", anchors=(Anchor(name, f"f{number}"),)), AGENT)
    git(ground.root, "checkout", "-q", "-b", "side")
    for number, name in enumerate(names):
        ground.write(name, LONG.format(name=f"f{number}").replace("* 2", f"* {number + 30}"))
    edited = ground.commit("edit")
    git(ground.root, "checkout", "-q", "main")
    ground.write("other.py", "x = 1\n")
    ground.commit("main goes on")
    git(ground.root, "merge", "-q", "--no-ff", "-m", "merge", "side")
    engine.refresh_code()
    hits = engine.recall(Query("lesson of them"), AGENT).hits
    assert {(one.path, one.state, one.changed_by) for hit in hits for one in hit.memory.anchors} == {
        (name, "changed", edited) for name in names
    }


# --- items of programs


def test_an_item_that_is_sent_again_stays_pinned_to_what_it_spoke_of(ground: Ground, engine: Engine) -> None:
    item = Draft("adding overflows", anchors=(Anchor("calc.py", "add"),))
    engine.upsert([("k", item)], AGENT)
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 9"))
    ground.commit("edit")
    engine.refresh_code()

    def state() -> str | None:
        return engine.recall(Query("adding overflows"), AGENT).hits[0].memory.anchors[0].state

    assert state() == "changed"
    assert engine.upsert([("k", item)], AGENT)[0].action == "unchanged" and state() == "changed"
    assert engine.upsert([("k", item.replace(detail="even now"))], AGENT)[0].action == "revised" and state() == "same"


# --- branches with names that agents give


def test_branches_with_a_random_word_in_their_name_are_told_apart(ground: Ground, engine: Engine) -> None:
    names = ("claude/fix-login-bug-011CUqL8XkZpQ2Rt9VbNmYwE", "claude/add-feature-01JZ8H4K2M9P3Q5R7S8T0V1W2X")
    for name in names:
        git(ground.root, "checkout", "-q", "-b", name, "main")
        engine.record(Draft(f"lesson of {name[7:10]}"), AGENT)  # before the branch has a commit of its own
        ground.write("x.py", f"x = {len(name)}\n")
        ground.commit(name)

    def seen() -> set[str]:
        return {hit.memory.text for hit in engine.recall(Query("lesson of"), AGENT).hits}

    for _ in range(2):
        for name in names:
            git(ground.root, "checkout", "-q", name)
            assert seen() == {f"lesson of {name[7:10]}"}
        git(ground.root, "checkout", "-q", "main")
        assert seen() == set()
        engine.refresh_branches()
    assert not engine.find_secrets()
    git(ground.root, "checkout", "-q", "-b", f"fix/{TOKEN}")
    engine.record(Draft("one more"), AGENT)
    assert TOKEN not in engine.recall(Query("one more"), AGENT).hits[0].memory.branch
