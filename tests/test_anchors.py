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
BEGUN = LONG.format(name="add") + "\n\n" + SHORT.format(name="one")


class Ground:
    """A repository with a memory of its own."""

    def __init__(self, tmp_path) -> None:
        self.root = str(tmp_path / "repo")
        self.home = str(tmp_path / "home")
        os.makedirs(self.root)
        os.makedirs(self.home)
        git(self.root, "init", "-q", "-b", "main")
        self.write("calc.py", BEGUN)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"calc.py": "", "sums.py": BEGUN}, ("sums.py", "add")),
        ({"calc.py": LONG.format(name="plus")}, ("calc.py", "plus")),
        ({"calc.py": SHORT.format(name="one"), "lib/sums.py": LONG.format(name="add")}, ("lib/sums.py", "add")),
    ],
    ids=["a renamed file", "a renamed function", "a function in another file"],
)
def test_what_moved_is_followed(ground, files, place):
    number = ground.record()
    for path, text in files.items():
        ground.write(path, text)
        if not text:
            os.unlink(os.path.join(ground.root, path))
    ground.commit("move")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path, anchor.now_symbol) == ("moved", *place)


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


@pytest.mark.parametrize("line", ["return total + len(second)", "total = 0"])
def test_a_line_that_only_changes_its_block_is_an_edit(ground, line):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="add").replace(f"    {line}\n", f"        {line}\n"))
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
    assert ground.state(number) == "unknown"  # the index stands at the other branch


def test_line_ends_do_not_count(ground):
    number = ground.record()
    ground.write("calc.py", BEGUN.replace("\n", "\r\n"))
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


def test_a_memory_comes_before_an_edit_of_the_name_that_its_code_got(ground):
    number = ground.record()
    ground.write("calc.py", LONG.format(name="sum_up") + "\n\n" + SHORT.format(name="one"))
    ground.refresh()
    ground.commit("rename")
    ground.refresh()
    engine = ground.engine()
    for file, symbol in (("calc.py", "sum_up"), ("", "sum_up"), ("calc.py", "add")):
        assert [hit.memory.number for hit in engine.before(file, symbol, AGENT).hits] == [number], symbol
    assert [hit.memory.number for hit in engine.before("calc.py", "", AGENT, lines=(2, 3)).hits] == [number]
    assert engine.before("calc.py", "one", AGENT).hits == ()
    engine.close()


def test_a_name_that_its_file_never_declared_is_not_called_gone(ground):
    ground.write("run.sh", "build() { make; }\n")
    ground.commit("script")
    ground.refresh()
    misspelt, script = ground.record(symbol="ad"), ground.record("run.sh", "build")
    ground.write("calc.py", LONG.format(name="add").replace("* 2", "* 3"))
    git(ground.root, "mv", "run.sh", "make.sh")
    ground.commit("edit")
    ground.refresh()
    assert [ground.state(number) for number in (misspelt, script)] == ["unknown", "unknown"]
    assert ground.anchor(script).now_path == "make.sh"
    git(ground.root, "mv", "calc.py", "sums.py")
    ground.commit("move")
    ground.refresh()
    assert (ground.state(misspelt), ground.anchor(misspelt).now_path) == ("unknown", "sums.py")
    os.remove(os.path.join(ground.root, "make.sh"))
    commit = ground.commit("remove")
    ground.refresh()
    assert (ground.state(script), ground.anchor(script).changed_by) == ("gone", commit)


def test_a_memory_is_found_by_the_place_to_which_its_code_moved(ground):
    number = ground.record(text="empty lists")
    ground.write("calc.py", SHORT.format(name="one"))
    ground.write("lib/sums.py", LONG.format(name="add_up"))
    ground.commit("move")
    ground.refresh()
    engine = ground.engine()
    log = f'Traceback (most recent call last):\n  File "{ground.root}/lib/sums.py", line 5, in add_up\n    x\nZeroDivisionError: no\n'
    for block in (
        engine.recall(Query(symbol="add_up"), AGENT),
        engine.recall(Query(symbol="add_up", file="lib/sums.py"), AGENT),
        engine.recall(Query(file="lib/sums.py"), AGENT),
        engine.recall_failure(Query(), log, AGENT),
    ):
        assert [hit.memory.number for hit in block.hits if hit.memory.number] == [number]
        assert any("moved here" in signal.signal for signal in block.hits[0].why)
    assert not any(hit.memory.number for hit in engine.recall(Query(symbol="one"), AGENT).hits)
    engine.close()


def test_what_is_not_there_is_told_when_it_is_recorded(ground):
    engine = ground.engine()
    ground.write("run.sh", "build() { make; }\n")

    def missing(path: str, symbol: str) -> tuple[tuple[str, str], ...]:
        draft = Draft(f"on {path} {symbol}", "lesson", "failed", anchors=(Anchor(path, symbol),))
        return engine.record(draft, PERSON).missing

    assert missing("calc.py", "ad") == (("calc.py", "ad"),)
    assert missing("clac.py", "add") == (("clac.py", ""),)
    for path, symbol in (("calc.py", "add"), ("calc.py", ""), ("run.sh", "build"), ("", "add"), ("", "nothing")):
        assert missing(path, symbol) == ()
    ground.write("calc.py", SHORT.format(name="two"))
    assert missing("calc.py", "two") == ()  # nobody parsed it yet
    engine.close()


def test_a_file_that_is_no_code_is_followed_through_renames_until_it_goes(ground):
    ground.write("README.md", "words\n" * 20)
    ground.commit("readme")
    ground.refresh()
    number = ground.record("README.md", "")
    ground.refresh()
    for old, new in (("README.md", "READ.md"), ("READ.md", "docs/index.md")):
        os.makedirs(os.path.join(ground.root, "docs"), exist_ok=True)
        git(ground.root, "mv", old, new)
        ground.commit("rename")
        assert ground.state(number) == "unknown"
        ground.refresh()
        assert (ground.state(number), ground.anchor(number).now_path) == ("moved", new)
    os.remove(os.path.join(ground.root, "docs/index.md"))
    commit = ground.commit("remove")
    ground.refresh()
    assert (ground.state(number), ground.anchor(number).changed_by) == ("gone", commit)


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


def test_a_place_is_named_only_while_it_is_there(ground):
    """Another commit is checked out than the one for which the place was found, and the index is behind."""
    number = ground.record()
    git(ground.root, "checkout", "-q", "-b", "side")
    ground.write("calc.py", SHORT.format(name="one"))
    ground.write("lib/sums.py", LONG.format(name="add").replace("len(second)", "len(first)"))
    ground.commit("move and change")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path) == ("changed", "lib/sums.py")
    git(ground.root, "checkout", "-q", "main")
    ground.write("calc.py", LONG.format(name="add").replace("total += one", "total += one + one"))
    ground.commit("change it here")
    assert ground.anchor(number).now_path == ""
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path) == ("changed", "")


def test_the_place_of_a_file_is_named_only_while_it_is_there(ground):
    number = ground.record(symbol="")
    git(ground.root, "checkout", "-q", "-b", "side")
    git(ground.root, "mv", "calc.py", "sums.py")
    ground.commit("rename")
    ground.refresh()
    assert ground.anchor(number).now_path == "sums.py"
    git(ground.root, "mv", "sums.py", "adding.py")
    ground.commit("rename again")
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path) == ("unknown", "")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path) == ("moved", "adding.py")


def test_what_was_recorded_under_a_new_name_is_found_under_the_old_one(ground):
    """Recorded while the index knew the new name; the old one is checked out again, and its content was parsed before."""
    ground.record(text="keeps the old content in the index")
    git(ground.root, "checkout", "-q", "-b", "side")
    ground.write("calc.py", LONG.format(name="plus") + "\n\n" + SHORT.format(name="one"))
    ground.commit("rename")
    ground.refresh()
    number = ground.record(symbol="plus", text="of the new name")
    git(ground.root, "checkout", "-q", "main")
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path, anchor.now_symbol) == ("moved", "calc.py", "add")


def test_a_copy_that_stood_beside_it_is_not_where_it_moved(ground):
    ground.write("calc.py", LONG.format(name="add") + "\n\n" + LONG.format(name="plus"))
    ground.commit("copy")
    ground.refresh()
    number = ground.record()
    ground.write("calc.py", LONG.format(name="plus"))
    ground.commit("remove")
    assert ground.state(number) == "unknown"
    ground.refresh()
    assert ground.state(number) == "gone"


def test_a_short_body_is_not_followed_by_likeness_to_another_class(ground):
    """A delegation of a name that many classes have."""
    body = (
        "class {name}:\n    def usage(self, context):\n        maker = context.maker()\n        return maker.text(self, {more})\n"
    )
    ground.write("src/base.py", body.format(name="Base", more="None") + "\n\n" + LONG.format(name="rest"))
    ground.commit("base")
    ground.refresh()
    number = ground.record("src/base.py", "Base.usage")
    ground.write("src/base.py", LONG.format(name="rest"))
    ground.write("tests/check.py", body.format(name="Other", more="context"))
    ground.commit("remove, and add a test")
    ground.refresh()
    assert ground.state(number) == "gone"


def test_of_equal_code_the_whole_name_decides(ground):
    """Two inner functions of one name and code, moved to another file together."""
    inner = "\n".join("    " + line for line in LONG.format(name="run").splitlines())
    text = f"def first():\n{inner}\n    return run\n\n\ndef second():\n{inner}\n    return run, 2\n"
    ground.write("a.py", text)
    ground.commit("two")
    ground.refresh()
    number = ground.record("a.py", "second.run")
    ground.write("a.py", "x = 1\n")
    ground.write("lib/b.py", "import sys\n\n\n" + text + "\n\n" + SHORT.format(name="more") * 9)
    ground.commit("move")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_symbol) == ("moved", "second.run")


def test_a_rename_that_was_indexed_before_its_commit_is_followed_on(ground):
    """Renamed and indexed, then moved as well: one commit has both, and none the place between."""
    number = ground.record()
    ground.write("calc.py", LONG.format(name="plus"))
    ground.refresh()
    assert ground.anchor(number).now_symbol == "plus"
    ground.write("calc.py", SHORT.format(name="one"))
    ground.write("lib/sums.py", LONG.format(name="sum_up"))
    ground.commit("rename and move")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path, anchor.now_symbol) == ("moved", "lib/sums.py", "sum_up")


def test_a_line_at_the_end_of_a_body_is_an_edit(ground):
    """All lines that it had still stand there, one after the other."""
    number = ground.record()
    ground.write("calc.py", LONG.format(name="add") + "    return None\n\n\n" + SHORT.format(name="one"))
    assert ground.state(number) == "unknown"
    ground.commit("append")
    assert ground.state(number) == "unknown"
    ground.refresh()
    assert ground.state(number) == "changed"


def test_an_equal_body_of_another_symbol_is_not_taken_for_it(ground):
    """Two inner functions with the same lines, of which one is edited and not indexed."""
    inner = "    def run():\n        return 1\n"
    text = f"def first():\n{inner}    return run\n\n\ndef second():\n{inner}    return run, 2\n"
    ground.write("a.py", text)
    ground.commit("two")
    ground.refresh()
    number = ground.record("a.py", "second.run")
    ground.write("a.py", text + "\n\nx = 1\n")
    assert ground.state(number) == "same"
    ground.write("a.py", text.replace("return 1\n    return run, 2", "return 3\n    return run, 2"))
    assert ground.state(number) == "unknown"


def test_a_short_function_that_went_into_a_class_is_followed(ground):
    body = "def scale(value, factor):\n    return [one * factor for one in {what}]\n"
    ground.write("a.py", body.format(what="value") + "\n\n" + LONG.format(name="rest"))
    ground.commit("one")
    ground.refresh()
    number = ground.record("a.py", "scale")
    ground.write("a.py", LONG.format(name="rest"))
    ground.write("b.py", "class Tools:\n    " + body.format(what="list(value)").replace("\n    ", "\n        "))
    ground.commit("move into a class")
    ground.refresh()
    anchor = ground.anchor(number)
    assert (anchor.state, anchor.now_path, anchor.now_symbol) == ("changed", "b.py", "Tools.scale")
