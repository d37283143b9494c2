"""Branches that are deleted, reset, renamed."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@case
def deleted_unmerged(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("branch", "-q", "-D", "feature")
    s.check("after", "main")


@case
def deleted_and_collected(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("branch", "-q", "-D", "feature")
    s.git("reflog", "expire", "--expire=now", "--all")
    s.git("gc", "-q", "--prune=now")
    s.check("after", "main")


@rare
def deleted_but_tagged(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.git("tag", "v1")
    s.on("main")
    s.git("branch", "-q", "-D", "feature")
    s.check("on main", "main")
    s.on("v1")
    s.check("at the tag", "main f")


@case
def reset_and_gone_on(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.git("reset", "-q", "--hard", "main")
    s.commit("g.py")
    s.note("g")
    s.check("on its own branch it stays", "main f g")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("elsewhere it is gone", "main g")


@rare
def main_was_reset(s: Story) -> None:
    begin(s)
    s.commit("wrong.py")
    s.note("wrong")
    s.git("reset", "-q", "--hard", "HEAD~1")
    feature(s, "f")
    s.check("on a branch made after", "main f")
    s.on("main")
    s.check("on main", "main wrong")


@rare
def pushed_by_force(s: Story) -> None:
    begin(s)
    s.git("clone", "-q", "--bare", ".", "../origin.git")
    s.git("remote", "add", "origin", "../origin.git")
    feature(s, "f")
    s.git("push", "-q", "origin", "feature")
    s.git("commit", "-q", "--amend", "-m", "Otherwise", "--date=now")
    s.git("push", "-qf", "origin", "feature")
    s.on("main")
    s.check("not merged", "main")
    s.git("fetch", "-q")
    s.git("merge", "-q", "--ff-only", "origin/feature")
    s.check("merged", "main f")


@case
def renamed(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.git("branch", "-m", "feature", "better")
    s.check("under its new name", "main f")
    s.on("main")
    s.check("on main", "main")
    s.git("merge", "-q", "--no-ff", "--no-edit", "better")
    s.check("merged", "main f")


@rare
def renamed_and_squashed(s: Story) -> None:
    begin(s)
    s.on("feature", "-b")
    s.commit("app.py", lines("first", "draft", "third"))
    s.note("f")
    s.git("branch", "-m", "feature", "better")
    s.commit("app.py", lines("first", "final", "third"))
    s.on("main")
    s.git("merge", "-q", "--squash", "better")
    s.git("commit", "-qm", "The feature")
    s.check("after", "main f", at_once="main")


@case
def deleted_and_made_anew(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.on("main")
    s.git("branch", "-q", "-D", "feature")
    s.on("feature", "-b")
    s.commit("g.py")
    s.note("g")
    s.check("the name decides", "main f g")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.git("branch", "-q", "-d", "feature")
    s.check("what was not merged stays away", "main g")
