"""What comes before an edit: by lines, by a diff, by the callers of what is edited."""

from __future__ import annotations

import os
import subprocess

import pytest

from hardwon.code.diff import parse
from hardwon.types import Anchor, Block, Draft, Origin, Scope
from tests.conftest import git
from tests.test_anchors import AGENT, PERSON, Ground

CODE = '''import os


class Store:
    def get(self, key):
        """One value."""
        if key is None:
            raise KeyError(key)
        return os.environ[key]

    def put(self, key, value):
        os.environ[key] = value
        self.get(key)


def load(path):
    store = Store()
    return store.get(path)
'''
OTHER = """from pkg.store import load


def start():
    return load("/etc")
"""


@pytest.fixture
def ground(tmp_path):
    made = Ground(tmp_path)
    made.write("pkg/store.py", CODE)
    made.write("pkg/main.py", OTHER)
    made.commit("store")
    made.refresh()
    return made


def lesson(ground: Ground, symbol: str, path: str = "pkg/store.py", scope: Scope = PERSON, text: str = "") -> int:
    engine = ground.engine()
    receipt = engine.record(
        Draft(text or f"a lesson on {symbol or path}", "lesson", "failed", anchors=(Anchor(path, symbol),)), scope
    )
    engine.close()
    assert receipt.number
    return receipt.number


def before(ground: Ground, file: str = "", symbol: str = "", **more) -> Block:
    engine = ground.engine()
    try:
        return engine.before(file, symbol, more.pop("scope", AGENT), **more)
    finally:
        engine.close()


def numbers(block: Block) -> list[int | None]:
    return [hit.memory.number for hit in block.hits]


def test_lines_are_mapped_to_the_symbol_that_they_belong_to(ground):
    get, put = lesson(ground, "Store.get"), lesson(ground, "Store.put")
    assert numbers(before(ground, "pkg/store.py", lines=(7, 8))) == [get, put]  # put calls get
    assert numbers(before(ground, "pkg/store.py", lines=(12, 12))) == [put]
    assert numbers(before(ground, "pkg/store.py", lines=(7, 12))) == [put, get]


def test_lines_of_a_file_that_was_edited_since_are_mapped_by_the_lines_that_stayed(ground):
    get, put = lesson(ground, "Store.get"), lesson(ground, "Store.put")
    ground.write("pkg/store.py", CODE.replace("import os\n", "import os\nimport sys\nimport re\n"))
    assert numbers(before(ground, "pkg/store.py", lines=(9, 10))) == [get, put]
    ground.write("pkg/store.py", CODE.replace("        if key is None:\n", "        # none\n        if not key:\n"))
    assert numbers(before(ground, "pkg/store.py", lines=(8, 8))) == [get, put]
    assert numbers(before(ground, "pkg/store.py", lines=(13, 13))) == [put]


def test_lines_outside_every_symbol_mean_the_file(ground):
    get, whole = lesson(ground, "Store.get"), lesson(ground, "")
    assert numbers(before(ground, "pkg/store.py", lines=(1, 2))) == [whole, get]
    assert numbers(before(ground, "pkg/store.py", lines=(7, 8))) == [get, whole]


def test_lessons_of_callers_come_after_those_of_the_symbol_itself(ground):
    get, load = lesson(ground, "Store.get"), lesson(ground, "load")
    block = before(ground, "pkg/store.py", "Store.get")
    assert numbers(block) == [get, load]
    assert block.hits[1].why[0].signal == "caller of Store.get"
    assert "a lesson on load\n    about a caller of Store.get\n" in block.block
    assert block.block.count("a caller of") == 1
    assert block.hits[1].score < block.hits[0].score


def test_of_two_callers_the_surer_one_comes_first(ground):
    """``self.get`` in the same class means it more surely than ``store.get`` of what a constructor gave."""
    put, load = lesson(ground, "Store.put"), lesson(ground, "load")
    block = before(ground, "pkg/store.py", "Store.get")
    assert numbers(block) == [put, load]
    assert block.hits[0].why[0].points > block.hits[1].why[0].points


def test_what_an_agent_claimed_of_a_caller_is_the_askers_own_or_stays_away(ground):
    other = Scope(Origin("agent", "codex", "s9"))
    own = lesson(ground, "load", scope=AGENT)
    lesson(ground, "start", "pkg/main.py", scope=other)
    assert numbers(before(ground, "pkg/store.py", "Store.get")) == [own]
    assert numbers(before(ground, "pkg/store.py", "load")) == [own]
    assert numbers(before(ground, "pkg/store.py", "load", scope=Scope(Origin("agent", "gemini", "s3")))) == [own]


def diff_of(ground: Ground, *words: str) -> str:
    return subprocess.run(["git", "-C", ground.root, "diff", *words], capture_output=True, text=True, check=True).stdout


def test_a_diff_of_the_working_tree_brings_the_lessons_of_what_it_touches(ground):
    get, load, start = lesson(ground, "Store.get"), lesson(ground, "load"), lesson(ground, "start", "pkg/main.py")
    ground.write("pkg/store.py", CODE.replace("return os.environ[key]", "return os.environ.get(key)"))
    ground.write("pkg/main.py", OTHER.replace('"/etc"', '"/usr"'))
    block = before(ground, diff=parse(diff_of(ground)))
    assert set(numbers(block)) == {get, start, load}
    assert block.hits[-1].memory.number == load  # a caller only


def test_a_diff_of_a_commit_is_mapped_by_the_side_that_lies_there(ground):
    get = lesson(ground, "Store.get")
    ground.write("pkg/store.py", "import sys\n" * 20 + CODE.replace("return os.environ[key]", "return os.environ.get(key)"))
    ground.commit("edit")
    assert numbers(before(ground, diff=parse(diff_of(ground, "HEAD~1", "HEAD")))) == [get]
    ground.refresh()
    assert numbers(before(ground, diff=parse(diff_of(ground, "HEAD~1", "HEAD", "--", "pkg/store.py")))) == [get]


def test_a_diff_is_mapped_by_what_lies_there_though_the_index_stands_elsewhere(ground):
    """What lies there was parsed before; neither side of the diff is the file of the index."""
    load, _ = lesson(ground, "load"), lesson(ground, "Store.put")
    ground.write("pkg/store.py", "import sys\n" * 20 + CODE.replace("store = Store()", "store = Store(path)"))
    edited = ground.commit("edit")
    ground.refresh()
    ground.write("pkg/store.py", "import re\n" + CODE)
    ground.commit("go on")
    ground.refresh()
    git(ground.root, "checkout", "-q", edited)
    assert numbers(before(ground, diff=parse(diff_of(ground, "HEAD~1", "HEAD")))) == [load]


def test_a_diff_that_renames_or_removes_files(ground):
    get, start = lesson(ground, "Store.get"), lesson(ground, "start", "pkg/main.py")
    git(ground.root, "mv", "pkg/store.py", "pkg/kept.py")
    ground.write("pkg/kept.py", CODE.replace("return os.environ[key]", "return os.environ.get(key)"))
    os.unlink(os.path.join(ground.root, "pkg/main.py"))
    git(ground.root, "add", "-A")
    assert numbers(before(ground, diff=parse(diff_of(ground, "--cached", "-M")))) == [start, get]


def test_nothing_applies_nothing_comes(ground):
    lesson(ground, "Store.get")
    found = before(ground, "pkg/main.py", "start")
    assert (found.hits, found.block, found.tokens) == ((), "", 0)


def test_a_symbol_of_another_file_with_the_same_name_is_not_meant(ground):
    ground.write("pkg/second.py", CODE)
    ground.commit("second")
    ground.refresh()
    first, second = lesson(ground, "Store.put"), lesson(ground, "Store.put", "pkg/second.py", text="another one")
    assert numbers(before(ground, "pkg/store.py", "Store.put")) == [first]
    assert set(numbers(before(ground, "", "Store.put"))) == {first, second}


def test_the_old_text_of_an_edit_tells_its_lines(ground):
    get = lesson(ground, "Store.get")
    engine = ground.engine()
    lines = engine.lines_of("pkg/store.py", "if key is None:\n  raise KeyError(key)")
    assert lines == (7, 8)
    assert numbers(engine.before("pkg/store.py", "", AGENT, lines=lines)) == [get]
    assert engine.lines_of("pkg/store.py", "key)") is None  # within several lines, or in one twice
    assert engine.lines_of("pkg/store.py", "is None:\n  raise KeyError(") == lines  # what an edit replaces may begin anywhere
    assert engine.lines_of("pkg/store.py", "import os\n\n\nclass Store:") == (1, 4)
    ground.write("pkg/store.py", CODE + CODE)
    assert engine.lines_of("pkg/store.py", "raise KeyError(key)") is None  # twice
    assert engine.lines_of("pkg/none.py", "raise KeyError(key)") is None
    engine.close()
