"""Branches that come in as one commit."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@case
def squashed(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    s.on("main")
    s.check("before", "main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature (#7)")
    s.check("after", "main f g", at_once="main")


@rare
def squashed_where_main_went_on(s: Story) -> None:
    begin(s)
    feature(s, "f", "g")
    s.on("main")
    s.commit("other.py")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature (#7)")
    s.commit("another.py")
    s.check("after", "main f g", at_once="main")


@case
def squashed_with_changes_to_the_same_lines(s: Story) -> None:
    """The sum of two commits is in none of them."""
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "draft", "third"))
    s.note("f")
    s.commit("app.py", lines("first", "final", "third"))
    s.note("g")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.check("after", "main f g", at_once="main")


@case
def squashed_with_edits(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.commit("f.py", lines("f_one", "f_two", "f_three", "added_by_hand"), "The feature, and more")
    s.check("after", "main f", at_once="main")


@case
def squashed_after_it_merged_main(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.commit("other.py")
    s.on("feature")
    s.git("merge", "-q", "--no-edit", "main")
    s.commit("g.py")
    s.note("g")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.check("after", "main f g", at_once="main")


@case
def squashed_and_deleted(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "draft", "third"))
    s.note("f")
    s.commit("app.py", lines("first", "final", "third"))
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.git("branch", "-q", "-D", "feature")
    s.check("after", "main f", at_once="main")


@rare
def squashed_and_collected(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.look()
    s.git("branch", "-q", "-D", "feature")
    s.git("reflog", "expire", "--expire=now", "--all")
    s.git("gc", "-q", "--prune=now")
    s.check("after", "main f")


@case
def squashed_and_gone_on(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.on("feature")
    s.commit("g.py", lines("g_one", "g_two", "g_three"))
    s.note("g")
    s.on("main")
    s.check("the rest is not merged", "main f", at_once="main")


@case
def squashed_from_another_clone_with_a_list(s: Story) -> None:
    """A service lists the subjects, and somebody resolved conflicts in its editor."""
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "mine", "third"), "Compute mine")
    s.note("f")
    s.commit("app.py", lines("first", "mine_too", "third"), "Compute it twice")
    s.note("g")
    s.on("main")
    s.commit("app.py", lines("first", "theirs", "third"))
    s.commit("app.py", lines("first", "resolved", "third"), "The feature (#9)\n\n* Compute mine\n\n* Compute it twice\n")
    s.check("after", "main f g", at_once="main")


@rare
def squashed_by_git_with_its_own_message(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.write("f.py", lines("all", "is", "otherwise"))
    s.git("add", "-A")
    s.git("commit", "-q", "--no-edit")
    s.check("after", "main f", at_once="main")


@rare
def a_branch_of_a_squashed_branch(s: Story) -> None:
    begin(s)
    feature(s, "f")
    feature(s, "g", name="second")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The first feature")
    s.check("after", "main f", at_once="main")


@case
def a_squash_seen_from_a_branch_of_before(s: Story) -> None:
    begin(s)
    s.git("branch", "old")
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.look()
    s.on("old")
    s.check("before the squash", "main")
    s.git("merge", "-q", "--ff-only", "main")
    s.check("with the squash", "main f")
