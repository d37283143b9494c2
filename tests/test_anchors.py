"""Whether the code that memories speak of still is what it was: pinned, judged, followed, with real git and real files."""

from __future__ import annotations

import os

import pytest

from hardwon.engine.core import Engine
from hardwon.engine.opening import create
from hardwon.types import Anchor, Draft, Origin, Query, Scope
from tests.conftest import git

PERSON = Scope(Origin("person", "shell"))
AGENT = Scope(Origin("agent", "claude-code", "s1"))
LONG = '''def {name}(first, second):
    """Add things."""
    total = 0
    for one in first:
        if one in second:
            total += one * 2
        else:
            total -= one
    return total + len(second)
'''
SHORT = "def {name}():\n    return 1\n"


class Ground:
    """A repository with a memory of its own."""

    def __init__(self, tmp_path) -> None:
        self.root = str(tmp_path / "repo")
        self.home = str(tmp_path / "home")
        os.makedirs(self.root)
        os.makedirs(self.home)
        git(self.root, "init", "-q", "-b", "main")
        self.write("calc.py", LONG.format(name="add") + "\n\n" + SHORT.format(name="one"))
        self.commit("begin")
        self.made = False

    def write(self, path: str, text: str | bytes) -> None:
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def commit(self, message: str) -> str:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", message)
        return git(self.root, "rev-parse", "HEAD").strip()

    def engine(self) -> Engine:
        return create(self.root, self.home, "calc")

    def refresh(self) -> None:
        engine = self.engine()
        engine.refresh_code()
        engine.close()

    def record(self, path: str = "calc.py", symbol: str = "add", text: str = "adding fails on empty lists") -> int:
        engine = self.engine()
        receipt = engine.record(Draft(text, "lesson", "failed", anchors=(Anchor(path, symbol),)), PERSON)
        engine.close()
        assert receipt.number
        return receipt.number

    def anchor(self, number: int) -> Anchor:
        engine = self.engine()
        memory, _, _ = engine.show(str(number), PERSON)
        engine.close()
        return memory.anchors[0]

    def state(self, number: int) -> str:
        return self.anchor(number).state


@pytest.fixture
def ground(tmp_path):
    made = Ground(tmp_path)
    made.refresh()
    return made


def test_what_was_not_touched_is_the_same(ground):
    number = ground.record()
    assert ground.state(number) == "same"


def test_an_anchor_is_pinned_with_content_and_code(ground):
    anchor = ground.anchor(ground.record())
    assert len(anchor.blob) == 40 and len(anchor.fingerprint) == 16 and len(anchor.commit) == 40


def test_white_space_comments_and_other_functions_change_nothing(ground):
    number = ground.record()
    text = LONG.format(name="add").replace("    total = 0\n", "    # the sum\n    total = 0\n\n")
    ground.write("calc.py", "import os\n\n\n" + text + "\n\ndef one():\n    return 2\n")
    ground.commit("comment")
    ground.refresh()
    assert ground.state(number) == "same"


def test_a_change_is_told_with_the_commit_that_made_it(ground):
    number = ground.record()
    ground.write("other.py", "x = 1\n")
    ground.commit("other")
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    sha = ground.commit("triple")
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 4"))
    ground.commit("four times")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.changed_by) == ("changed", sha)
    assert anchor.changed_at


def test_of_a_merge_the_commit_that_changed_it_is_told(ground):
    number = ground.record()
    git(ground.root, "checkout", "-q", "-b", "side")
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    sha = ground.commit("triple")
    git(ground.root, "checkout", "-q", "main")
    ground.write("other.py", "x = 1\n")
    ground.commit("other")
    git(ground.root, "merge", "-q", "--no-ff", "-m", "merge", "side")
    ground.refresh()
    assert ground.anchor(number).changed_by == sha


def test_a_renamed_file_is_followed(ground):
    number = ground.record()
    git(ground.root, "mv", "calc.py", "sums.py")
    ground.commit("rename")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path, anchor.now_symbol) == ("moved", "sums.py", "add")


def test_a_renamed_function_is_followed(ground):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="plus"))
    ground.commit("rename")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path, anchor.now_symbol) == ("moved", "calc.py", "plus")


def test_a_function_that_moved_to_another_file_is_followed(ground):
    number = ground.record()
    ground.write("calc.py", SHORT.format(name="one"))
    ground.write("lib/sums.py", LONG.format(name="add"))
    ground.commit("move")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path) == ("moved", "lib/sums.py")


def test_renamed_and_edited_in_one_commit_is_changed_in_its_new_place(ground):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="plus").replace("* 2", "* 3"))
    sha = ground.commit("rename and edit")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_symbol, anchor.changed_by) == ("changed", "plus", sha)


def test_what_was_removed_is_gone_with_the_commit(ground):
    number = ground.record()
    ground.write("calc.py", SHORT.format(name="one"))
    sha = ground.commit("remove")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.changed_by) == ("gone", sha)


def test_a_short_body_elsewhere_is_no_move(ground):
    number = ground.record(symbol="one")
    ground.write("calc.py", LONG.format(name="add"))
    ground.commit("remove")
    ground.write("other.py", SHORT.format(name="two"))
    ground.commit("something alike")
    ground.refresh()
    assert ground.state(number) == "gone"


def test_a_short_body_moves_with_its_file(ground):
    number = ground.record(symbol="one")
    git(ground.root, "mv", "calc.py", "sums.py")
    ground.commit("rename")
    ground.refresh()
    assert ground.state(number) == "moved"


def test_an_edit_that_nobody_indexed_is_never_called_the_same(ground):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    assert ground.state(number) == "unknown"
    ground.refresh()
    assert ground.state(number) == "changed"
    assert ground.anchor(number).changed_by == ""


def test_an_edit_is_told_with_its_commit_once_it_has_one(ground):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    ground.refresh()
    sha = ground.commit("triple")
    ground.refresh()
    assert ground.anchor(number).changed_by == sha


def test_an_edit_beside_it_leaves_it_the_same_without_an_index(ground):
    number = ground.record()
    ground.write("calc.py", "import os\n" + LONG.format(name="add") + "\n\ndef one():\n    return 5\n")
    assert ground.state(number) == "same"


def test_a_line_that_leaves_its_block_is_an_edit(ground):
    number = ground.record()
    ground.write(
        "calc.py", LONG.format(name="add").replace("        else:\n            total -= one\n", "        total -= one\n")
    )
    assert ground.state(number) == "unknown"


def test_what_was_pinned_to_an_edit_is_known_once_it_was_parsed(ground):
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 7"))
    number = ground.record()
    assert ground.anchor(number).fingerprint == ""
    assert ground.state(number) == "same"
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 8"))
    ground.commit("another edit")
    ground.refresh()
    assert ground.state(number) == "changed"
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 7"))
    assert ground.state(number) == "same"


def test_another_branch_has_its_own_states(ground):
    number = ground.record()
    git(ground.root, "checkout", "-q", "-b", "side")
    ground.write("calc.py", SHORT.format(name="one"))
    ground.commit("remove")
    ground.refresh()
    assert ground.state(number) == "gone"
    git(ground.root, "checkout", "-q", "main")
    assert ground.state(number) == "same"
    ground.refresh()
    assert ground.state(number) == "same"
    git(ground.root, "checkout", "-q", "side")
    assert ground.state(number) in ("gone", "unknown")


def test_line_ends_do_not_count(ground):
    number = ground.record()
    ground.write("calc.py", (LONG.format(name="add") + "\n\n" + SHORT.format(name="one")).replace("\n", "\r\n"))
    assert ground.state(number) == "same"
    ground.commit("windows")
    ground.refresh()
    assert ground.state(number) == "same"


def test_a_symbol_without_a_file_is_found_by_its_name(ground):
    number = ground.record(path="")
    assert ground.state(number) == "same"
    git(ground.root, "mv", "calc.py", "sums.py")
    ground.commit("rename")
    ground.refresh()
    assert ground.state(number) == "same"
    ground.write("sums.py", LONG.format(name="add").replace("* 2", "* 3"))
    ground.commit("edit")
    ground.refresh()
    assert ground.state(number) == "changed"


def test_a_file_without_a_symbol(ground):
    number = ground.record(symbol="")
    assert ground.state(number) == "same"
    ground.write("calc.py", SHORT.format(name="one"))
    assert ground.state(number) == "changed"
    os.unlink(os.path.join(ground.root, "calc.py"))
    ground.commit("remove")
    ground.refresh()
    assert ground.state(number) == "gone"


def test_without_an_index_an_unchanged_file_is_the_same_and_nothing_else_is_told(tmp_path):
    ground = Ground(tmp_path)
    number = ground.record()
    assert ground.state(number) == "same"
    ground.write("calc.py", LONG.format(name="add"))
    assert ground.state(number) == "unknown"


def test_what_is_gone_stays_out_of_blocks_and_is_marked_for_who_asks(ground):
    number = ground.record()
    ground.write("calc.py", SHORT.format(name="one"))
    ground.commit("remove")
    ground.refresh()
    engine = ground.engine()
    block = engine.recall(Query("adding fails on empty lists"), PERSON)
    assert [hit.memory.number for hit in block.hits] == [number]
    assert block.hits[0].memory.anchors[0].state == "gone"
    assert "adding fails" not in block.block
    assert engine.before("calc.py", "add", PERSON).hits == ()
    engine.close()


def test_what_repeats_is_pinned_anew(ground):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    ground.commit("triple")
    ground.refresh()
    assert ground.state(number) == "changed"
    assert ground.record() == number
    assert ground.state(number) == "same"


def test_a_memory_comes_before_an_edit_of_the_place_to_which_its_code_moved(ground):
    number = ground.record()
    ground.write("calc.py", SHORT.format(name="one"))
    ground.write("lib/sums.py", LONG.format(name="add"))
    ground.commit("move")
    ground.refresh()
    engine = ground.engine()
    block = engine.before("lib/sums.py", "", AGENT, lines=(3, 4))
    assert [hit.memory.number for hit in block.hits] == [number]
    assert "now lib/sums.py" in block.block
    engine.close()


def test_lessons_of_code_that_is_gone_count_for_risk_only_where_everything_is_asked_for(ground):
    ground.record()
    ground.write("calc.py", SHORT.format(name="one"))
    ground.commit("remove")
    ground.refresh()
    engine = ground.engine()
    assert engine.query("add", "", PERSON) == []
    assert engine.risks("", PERSON) == []
    assert [report.risk.fails for report in engine.query("add", "", PERSON, everything=True)] == [1]
    ground.write("calc.py", LONG.format(name="add"))
    assert [report.risk.fails for report in engine.query("add", "", PERSON)] == [1]
    engine.close()
