"""Detached heads, worktrees and clones."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, lines, rare


@case
def detached_at_an_old_commit(s: Story) -> None:
    begin(s)
    s.commit("new.py")
    s.note("new")
    s.on("HEAD~1", "--detach")
    s.check("at the old one", "main")
    s.on("main", "--detach")
    s.check("at the new one", "main new")


@rare
def recorded_while_detached(s: Story) -> None:
    begin(s)
    s.on("HEAD", "--detach")
    s.commit("spike.py")
    s.note("spike")
    s.check("there", "main spike")
    at = s.head()
    s.on("main")
    s.check("on main", "main")
    s.git("branch", "kept", at)
    s.git("merge", "-q", "--no-ff", "--no-edit", "kept")
    s.check("merged", "main spike")


@case
def two_worktrees(s: Story) -> None:
    begin(s)
    tree = s.path.parent / "tree"
    s.git("worktree", "add", "-q", "-b", "feature", str(tree))
    s.commit("f.py", cwd=tree)
    s.note("f", cwd=tree)
    s.check("in the first", "main")
    s.check("in the second", "main f", cwd=tree)
    s.commit("more.py")
    s.note("more")
    s.check("in the second, after", "main f", cwd=tree)
    s.git("merge", "-q", "--no-edit", "feature")
    s.check("merged", "main f more")


@case
def a_worktree_is_removed(s: Story) -> None:
    begin(s)
    tree = s.path.parent / "tree"
    s.git("worktree", "add", "-q", "-b", "feature", str(tree))
    s.commit("f.py", lines("f_one", "f_two", "f_three"), cwd=tree)
    s.note("f", cwd=tree)
    s.git("worktree", "remove", "--force", str(tree))
    s.git("branch", "-q", "-D", "feature")
    s.check("given up", "main")


@rare
def a_detached_worktree(s: Story) -> None:
    begin(s)
    tree = s.path.parent / "tree"
    s.git("worktree", "add", "-q", "--detach", str(tree))
    s.commit("spike.py", cwd=tree)
    s.note("spike", cwd=tree)
    s.check("there", "main spike", cwd=tree)
    s.check("in the first", "main")


@case
def a_shallow_clone(s: Story) -> None:
    begin(s)
    s.commit("new.py")
    clone = s.path.parent / "clone"
    s.git("clone", "-q", "--depth", "1", f"file://{s.path}", str(clone))
    s.git("checkout", "-q", "-b", "feature", cwd=clone)
    s.commit("f.py", cwd=clone)
    s.note("f", cwd=clone)
    s.check("what lies beyond the edge counts as there", "main f", cwd=clone)
    s.git("checkout", "-q", "main", cwd=clone)
    s.check("on its main", "main", cwd=clone)
    s.git("fetch", "-q", "--unshallow", cwd=clone)
    s.check("with all of history", "main", cwd=clone)


@case
def another_clone_that_is_behind(s: Story) -> None:
    begin(s)
    clone = s.path.parent / "clone"
    s.git("clone", "-q", str(s.path), str(clone))
    feature(s, "f")
    s.on("main")
    s.git("merge", "-q", "--ff-only", "feature")
    s.check("here", "main f")
    s.check("there, before it is fetched", "main", cwd=clone)
    s.git("pull", "-q", "--ff-only", cwd=clone)
    s.check("there, after", "main f", cwd=clone)


@rare
def pulled_from_a_remote(s: Story) -> None:
    begin(s)
    clone = s.path.parent / "clone"
    s.git("clone", "-q", str(s.path), str(clone))
    feature(s, "f")
    s.on("main")
    s.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "feature", cwd=clone)
    s.check("merged there", "main f", cwd=clone)
    s.check("not merged here", "main")


@rare
def merged_at_the_remote_and_fetched(s: Story) -> None:
    begin(s)
    s.git("clone", "-q", "--bare", ".", "../origin.git")
    s.git("remote", "add", "origin", "../origin.git")
    s.git("fetch", "-q", "origin")
    feature(s, "f")
    s.git("push", "-q", "origin", "feature")
    other = s.path.parent / "other"
    s.git("clone", "-q", "../origin.git", str(other))
    s.git("merge", "-q", "--squash", "origin/feature", cwd=other)
    s.git("commit", "-qm", "The feature (#3)", cwd=other)
    s.git("push", "-q", "origin", "main", cwd=other)
    s.on("main")
    s.check("before the pull", "main")
    s.git("pull", "-q", "--ff-only", "origin", "main")
    s.check("after", "main f", at_once="main")
