"""Commits that are picked, sent, or amended."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@case
def cherry_picked(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    s.on("main")
    s.commit("other.py")
    s.git("cherry-pick", "feature~1")
    s.check("one of two", "main f", at_once="main")


@rare
def cherry_picked_with_its_name(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.commit("other.py")
    s.git("cherry-pick", "-x", "feature")
    s.git("branch", "-q", "-D", "feature")
    s.check("after", "main f", at_once="main")


@rare
def cherry_picked_in_a_row(s: Story) -> None:
    begin(s)
    feature(s, "f", "g", "h", "i")
    s.on("main")
    s.commit("other.py")
    s.git("cherry-pick", "feature~3..feature~1")
    s.check("two of four", "main g h", at_once="main")


@rare
def cherry_picked_with_a_conflict(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "mine", "third"))
    s.note("f")
    s.on("main")
    s.commit("app.py", lines("first", "theirs", "third"))
    s.git("cherry-pick", "feature", may_fail=True)
    s.write("app.py", lines("first", "both", "third"))
    s.git("add", "-A")
    s.git("-c", "core.editor=true", "cherry-pick", "--continue")
    s.check("after", "main f", at_once="main")


@case
def picked_for_a_release(s: Story) -> None:
    begin(s)
    s.git("branch", "release")
    s.commit("fix.py", lines("fix_one", "fix_two", "fix_three"))
    s.note("fix")
    s.commit("new.py", lines("new_one", "new_two", "new_three"))
    s.note("new")
    s.on("release")
    s.check("before", "main")
    s.git("cherry-pick", "main~1")
    s.check("after", "main fix", at_once="main")
    s.on("main")
    s.check("on main", "main fix new")


@rare
def sent_by_mail(s: Story) -> None:
    begin(s)
    feature(s, "f")
    patch = s.git("format-patch", "--stdout", "main..feature") + "\n"
    s.on("main")
    s.commit("other.py")
    (s.path.parent / "patch").write_text(patch)
    s.git("am", "-q", str(s.path.parent / "patch"))
    s.check("after", "main f", at_once="main")


@case
def amended_message(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.git("commit", "-q", "--amend", "-m", "Other words")
    s.check("on the branch", "main f")
    s.on("main")
    s.check("not merged", "main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f")


@rare
def amended_content(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.commit("f.py", lines("f_one", "f_other"), "Other words", None, "--amend")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("merged", "main f")


@case
def amended_by_somebody_else_at_another_time(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.commit("f.py", lines("all", "new"), "Other words", None, "--amend", "--reset-author", "--date=now")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.git("branch", "-q", "-d", "feature")
    s.check("merged", "main f")
