"""What is merged."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@case
def an_unmerged_branch(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.check("on the branch", "main f")
    s.on("main")
    s.check("on main", "main")


@case
def merged_by_fast_forward(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.check("before", "main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("after", "main f")


@case
def merged_by_a_merge_commit(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.commit("other.py")
    s.check("before", "main")
    s.git("merge", "-q", "--no-ff", "-m", "Merge", "feature")
    s.check("after", "main f")


@case
def merged_by_an_octopus(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    feature(s, "g", name="second")
    s.on("main")
    feature(s, "h", name="third")
    s.on("main")
    s.check("before", "main")
    s.git("merge", "-q", "-m", "Three", "feature", "second")
    s.check("after", "main f g")


@case
def merged_with_a_conflict(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "ours", "third"))
    s.note("f")
    s.on("main")
    s.commit("app.py", lines("first", "theirs", "third"))
    s.git("merge", "feature", may_fail=True)
    s.write("app.py", lines("first", "both", "third"))
    s.git("commit", "-qam", "Merge feature")
    s.check("after", "main f")


@rare
def merged_by_strategy_ours(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "-s", "ours", "-m", "Ours", "feature")
    s.check("after", "main f")


@rare
def main_merged_into_the_branch(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.commit("later.py")
    s.note("late")
    s.on("feature")
    s.check("before it is merged in", "main f")
    s.git("merge", "-q", "--no-edit", "main")
    s.check("on the branch", "main f late")
    s.on("main")
    s.check("on main", "main late")


@rare
def merged_again_after_it_went_on(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    s.on("feature")
    s.commit("more.py")
    s.note("more")
    s.on("main")
    s.check("merged once", "main f")
    s.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    s.check("merged twice", "main f more")


@rare
def merged_criss_cross(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.commit("m2.py")
    s.note("m2")
    side = s.head()
    s.git("merge", "-q", "--no-edit", "feature")
    s.on("feature")
    s.git("merge", "-q", "--no-edit", side)
    s.commit("f2.py")
    s.note("f2")
    s.check("on the branch", "main f m2 f2")
    s.on("main")
    s.check("on main", "main f m2")


@case
def a_merge_is_reverted(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    s.git("revert", "--no-edit", "-m", "1", "HEAD")
    s.check("reverted", "main f")
    s.git("revert", "--no-edit", "HEAD")
    s.check("the revert reverted", "main f")


@case
def merged_and_deleted(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    s.git("branch", "-q", "-d", "feature")
    s.check("after", "main f")


@rare
def an_unrelated_history_is_merged(s: Story) -> None:
    begin(s)
    s.git("checkout", "-q", "--orphan", "pages")
    s.git("rm", "-rqf", ".")
    s.commit("index.html", "a page")
    s.note("page")
    s.check("on the orphan", "page")
    s.on("main")
    s.check("on main", "main")
    s.git("merge", "-q", "--allow-unrelated-histories", "--no-edit", "pages")
    s.check("merged", "main page")
