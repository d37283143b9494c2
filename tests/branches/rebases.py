"""Branches that are made anew."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@rare
def rebased_and_merged(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    s.on("main")
    s.commit("other.py")
    s.git("rebase", "-q", "main", "feature")
    s.check("on the branch", "main f g", at_once="main f g")
    s.on("main")
    s.check("not merged yet", "main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f g")


@case
def rebased_and_merged_without_a_look(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.commit("other.py")
    s.git("rebase", "-q", "main", "feature")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.git("branch", "-q", "-d", "feature")
    s.check("merged", "main f", at_once="main")


@case
def rebased_with_a_squash(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    s.rebase("main", "2s/^pick/squash/")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f g", at_once="main")


@case
def rebased_with_a_fixup(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.commit("f.py", lines("f_one", "f_mended", "f_three"))
    s.note("fix")
    s.rebase("main", "2s/^pick/fixup/")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f fix", at_once="main")


@rare
def rebased_with_autosquash(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    target = s.git("rev-parse", "HEAD~1")
    s.write("f.py", lines("f_one", "f_mended", "f_three"))
    s.git("commit", "-qa", f"--fixup={target}")
    s.note("fix")
    s.git("rebase", "-q", "-i", "--autosquash", "main")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f g fix", at_once="main")


@rare
def rebased_with_a_reword(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    s.git("-c", "core.editor=sed -i s/Change/Rework/", "commit", "-q", "--amend", "-m", "Reworked g")
    s.on("main")
    s.commit("other.py")
    s.git("rebase", "-q", "main", "feature")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f g", at_once="main")


@case
def rebased_with_a_drop(s: Story) -> None:
    begin(s)
    feature(s, "f", "g", "h")
    s.rebase("main", "2s/^pick/drop/")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("what was dropped stays away", "main f h", at_once="main f")
    s.on("feature")
    s.check("but on its branch it shows", "main f g h")


@rare
def rebased_onto_another(s: Story) -> None:
    begin(s)
    feature(s, "f")
    feature(s, "g", name="second")
    s.git("rebase", "-q", "--onto", "main", "feature", "second")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "second")
    s.check("only the second", "main g", at_once="main")


@case
def rebased_with_a_conflict(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "mine", "third"))
    s.note("f")
    s.on("main")
    s.commit("app.py", lines("first", "theirs", "third"))
    s.git("rebase", "-q", "main", "feature", may_fail=True)
    s.write("app.py", lines("first", "both", "third"))
    s.git("add", "-A")
    s.git("-c", "core.editor=true", "rebase", "--continue")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f", at_once="main")
