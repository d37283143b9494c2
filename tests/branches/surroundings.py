"""Everything around a branch."""

from __future__ import annotations

from tests.branches.story import Story, begin, case, feature, rare


@case
def recorded_before_the_first_commit(s: Story) -> None:
    s.init()
    s.note("first")
    s.commit("app.py")
    s.check("after", "first")
    feature(s, "f")
    s.check("on a branch", "first f")
    s.on("main")
    s.check("on main", "first")


@case
def in_a_subfolder(s: Story) -> None:
    begin(s)
    s.commit("src/deep/a.py")
    feature(s, "f")
    s.check("below", "main f", cwd=s.path / "src" / "deep")
    s.on("main")
    s.check("below, on main", "main", cwd=s.path / "src" / "deep")


@rare
def with_packed_references(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.git("pack-refs", "--all", "--prune")
    s.git("gc", "-q")
    s.check("on the branch", "main f")
    s.on("main")
    s.check("on main", "main")


@rare
def names_of_all_kinds(s: Story) -> None:
    begin(s)
    for number, name in enumerate(("fix/db/pool", "größe", "a'b\"c", "{x}", "at@b", "日本")):
        feature(s, f"w{number}", name=name)
        s.check(f"on {name}", f"main w{number}")
        s.on("main")
    s.check("on main", "main")
    s.git("merge", "-q", "--no-edit", "größe", "日本")
    s.check("two merged", "main w1 w5")


@rare
def with_something_in_the_stash(s: Story) -> None:
    begin(s)
    feature(s, "f")
    s.write("f.py", "work in progress")
    s.git("stash", "-q")
    s.on("main")
    s.check("on main", "main")
    s.git("stash", "pop", may_fail=True)
    s.check("popped", "main")


@case
def without_logs(s: Story) -> None:
    s.git("config", "core.logAllRefUpdates", "false")
    begin(s)
    feature(s, "f")
    s.on("main")
    s.check("on main", "main")
    s.git("merge", "-q", "--squash", "feature")
    s.git("commit", "-qm", "The feature")
    s.check("squashed", "main f", at_once="main")


@rare
def damaged_logs(s: Story) -> None:
    begin(s)
    feature(s, "f")
    (s.path / ".git" / "logs" / "HEAD").write_bytes(b"\xff\0no log\n" * 100)
    s.on("main")
    s.check("on main", "main")
    s.git("merge", "-q", "--no-edit", "feature")
    s.check("merged", "main f")


@rare
def many_moves_without_a_look(s: Story) -> None:
    begin(s)
    for word in ("a", "b", "c"):
        feature(s, word, name=f"branch-{word}")
        s.on("main")
    s.git("merge", "-q", "--no-edit", "branch-a")
    s.commit("x.py")
    s.note("x")
    s.on("branch-b")
    s.git("merge", "-q", "--no-edit", "main")
    s.check("b with main", "main a b x")
    s.on("branch-c")
    s.check("c", "main c")
