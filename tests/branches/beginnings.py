"""What is recorded where branches part."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@case
def recorded_before_the_first_commit_of_a_branch(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.note("plan")
    s.commit("f.py")
    s.check("on the branch", "main plan")
    s.on("main")
    s.check("on main", "main")
    s.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    s.check("merged", "main plan")


@case
def a_plan_of_a_branch_that_was_given_up(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.note("plan")
    s.commit("f.py")
    s.on("main")
    s.git("branch", "-q", "-D", "feature")
    s.check("after", "main")


@case
def a_plan_of_a_branch_that_was_squashed(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.note("plan")
    s.commit("f.py", lines("f_one", "f_two", "f_three"))
    s.commit("g.py", lines("g_one", "g_two", "g_three"))
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.check("after", "main plan", at_once="main")


@rare
def a_plan_of_a_branch_that_was_amended_and_merged(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.note("plan")
    s.commit("f.py")
    s.git("commit", "-q", "--amend", "-m", "Otherwise", "--date=now")
    s.on("main")
    s.check("before", "main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.git("branch", "-q", "-d", "feature")
    s.check("after", "main plan")


@case
def a_plan_on_a_branch_without_commits(s: Story) -> None:
    """Nothing tells it from one of main, whose commit it has."""
    begin(s)
    s.on("feature", "-b")
    s.note("plan")
    s.on("main")
    s.check("on main", "main plan")


@rare
def two_branches_of_one_commit(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.git("branch", "twin")
    s.on("twin")
    s.note("t")
    s.check("on the twin", "main f t")
    s.on("feature")
    s.check("on the first", "main f t")
    s.on("main")
    s.check("on main", "main")


@case
def recorded_on_main_where_a_branch_began(s: Story) -> None:
    begin(s)
    s.git("branch", "feature")
    s.note("late")
    s.commit("later.py")
    s.note("later")
    s.on("feature")
    s.check("what main knew there", "main late")


@rare
def seen_from_an_older_branch(s: Story) -> None:
    begin(s)
    s.git("branch", "old")
    s.commit("new.py")
    s.note("new")
    s.on("old")
    s.check("on the old branch", "main")
    s.on("main")
    s.check("on main", "main new")


@case
def main_went_on_after_a_fast_forward(s: Story) -> None:
    """The branch goes on too: what it brought to main before is not its beginning."""
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.on("feature")
    s.commit("g.py")
    s.note("g")
    s.on("main")
    s.check("on main", "main f")


@case
def recorded_again_on_main(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("branch", "-q", "-D", "feature")
    s.check("on the branch only", "main")
    s.note("f")
    s.check("said on main too", "main f")
