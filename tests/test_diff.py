"""Unified diffs as values: against git itself, in every form that it prints, and against texts that are none."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hardwon.code.diff import LONGEST, FileChange, parse
from hardwon.errors import InvalidInput
from tests.gitmaker import GitRepo, make_history
from tests.growth import repeated, takes_the_square

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = "".join(f"line {n}\n" for n in range(1, 41))
AFTER = (
    BEFORE.replace("line 3\n", "line three\n").replace("line 10\nline 11\n", "").replace("line 30\n", "line 30\nnew a\nnew b\n")
)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "r")
    made.commit("one", {"src/a.py": BEFORE, "b.txt": "x\ny\n", "old name.py": BEFORE})
    return made


def one(text: str) -> FileChange:
    (found,) = parse(text)
    return found


def test_ranges_are_the_touched_lines_and_not_those_around_them(repo: GitRepo) -> None:
    repo.write({"src/a.py": AFTER})
    found = one(repo.git("diff"))
    assert (found.old_path, found.new_path) == ("src/a.py", "src/a.py")
    assert found.old_lines == ((3, 1), (10, 2), (30, 0))
    assert found.new_lines == ((3, 1), (9, 0), (29, 2))
    head = repo.git("rev-parse", "HEAD:src/a.py")
    assert head.startswith(found.old_blob) and len(found.old_blob) >= 7
    assert repo.git("hash-object", "src/a.py").startswith(found.new_blob)


@pytest.mark.parametrize("context", ["-U0", "-U3", "-U1000"])
def test_ranges_do_not_depend_on_the_context(repo: GitRepo, context: str) -> None:
    repo.write({"src/a.py": AFTER})
    found = one(repo.git("diff", context))
    assert found.old_lines == ((3, 1), (10, 2), (30, 0))
    assert found.new_lines == ((3, 1), (9, 0), (29, 2))


@pytest.mark.parametrize(
    "options",
    [
        ["--no-prefix"], ["--src-prefix=old/", "--dst-prefix=new/"], ["-c", "diff.mnemonicPrefix=true"], ["--full-index"],
        ["--src-prefix=x/", "--dst-prefix=a-longer-one/"], ["--color=always"], ["--patience"], ["--binary"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_prefixes_and_options(repo: GitRepo, options: list[str]) -> None:
    repo.write({"src/a.py": AFTER, "b.txt": "x\nz\n"})
    command = [*options, "diff"] if options[0] == "-c" else ["diff", *options]
    printed = repo.git(*command)
    if options == ["--color=always"]:
        with pytest.raises(InvalidInput):
            parse(printed)
        return
    assert [(change.old_path, change.new_path) for change in parse(printed)] == [("b.txt", "b.txt"), ("src/a.py", "src/a.py")]


def test_new_deleted_renamed_copied_and_mode_only(repo: GitRepo) -> None:
    repo.write({"src/fresh.py": "a\nb\n", "empty.py": ""})
    os.remove(os.path.join(repo.path, "b.txt"))
    repo.rename("old name.py", "dir/new name.py")
    os.chmod(os.path.join(repo.path, "src/a.py"), 0o755)
    repo.git("add", "-A")
    found = {(change.old_path, change.new_path): change for change in parse(repo.git("diff", "--cached", "-M"))}
    assert set(found) == {
        ("b.txt", ""), ("", "src/fresh.py"), ("", "empty.py"), ("old name.py", "dir/new name.py"), ("src/a.py", "src/a.py"),
    }  # fmt: skip
    assert found["b.txt", ""].old_lines == ((1, 2),) and found["b.txt", ""].new_lines == ((0, 0),)
    assert found["b.txt", ""].old_blob and not found["b.txt", ""].new_blob
    assert found["", "src/fresh.py"].new_lines == ((1, 2),) and found["", "src/fresh.py"].old_lines == ((0, 0),)
    assert found["src/a.py", "src/a.py"].old_lines == ()
    assert found["b.txt", ""].path == "b.txt" and found["", "empty.py"].path == "empty.py"


def test_copies_and_changed_renames(repo: GitRepo) -> None:
    repo.write({"copy.py": BEFORE.replace("line 5\n", "line five\n"), "src/a.py": BEFORE + "more\n"})
    repo.git("add", "-A")
    repo.git("mv", "b.txt", "c.txt")
    found = {(change.old_path, change.new_path): change for change in parse(repo.git("diff", "--cached", "-C", "-C"))}
    copied = next(change for change in found.values() if change.new_path == "copy.py")
    assert copied.old_path in ("src/a.py", "old name.py") and copied.old_lines == ((5, 1),)
    assert ("b.txt", "c.txt") in found


ODD = [
    "ä ö.py",
    "tab\there.py",
    'quo"te.py',
    "back\\slash.py",
    "new\nline.py",
    " lead.py",
    "a/b.py",
    "日本.py",
    "é/x y.py",
    "b b/b b",
    "\\101.py",
]


@pytest.mark.parametrize("quoting", ["true", "false"])
def test_odd_names(tmp_path: Path, quoting: str) -> None:
    repo = GitRepo(tmp_path / "r")
    repo.commit("one", dict.fromkeys(ODD, "a\n"))
    repo.write(dict.fromkeys(ODD, "b\n"))
    changed = parse(repo.git("-c", f"core.quotepath={quoting}", "diff"))
    assert {change.old_path for change in changed} == {change.new_path for change in changed} == set(ODD)
    assert all((change.old_lines, change.new_lines) == (((1, 1),), ((1, 1),)) for change in changed)
    for name in ODD:
        os.chmod(os.path.join(repo.path, name), 0o755)
    repo.write(dict.fromkeys(ODD, "a\n"))
    changed = parse(repo.git("-c", f"core.quotepath={quoting}", "diff"))  # the mode alone: no lines with --- and +++
    assert {change.new_path for change in changed} == set(ODD) and not any(change.new_lines for change in changed)


def test_binary_files(repo: GitRepo) -> None:
    repo.commit("two", {"pic.bin": bytes(range(256)) * 4})
    repo.write({"pic.bin": bytes(range(255, -1, -1)) * 4, "b.txt": "y\n"})
    for options in ([], ["--binary"]):
        text, pic = parse(repo.git("diff", *options))
        assert (pic.path, pic.old_lines, pic.new_lines) == ("pic.bin", (), ())
        assert (text.path, text.old_lines) == ("b.txt", ((1, 1),))


def test_no_newline_at_the_end_and_lines_that_look_like_headers(repo: GitRepo) -> None:
    repo.commit("two", {"n.txt": "a\n-- b\n++ c\nend"})
    repo.write({"n.txt": "a\n@@ -1 +1 @@\ndiff --git a/x b/x\nend\n"})
    changed = one(repo.git("diff", "--", "n.txt"))
    assert (changed.old_lines, changed.new_lines) == (((2, 3),), ((2, 3),))
    assert one(repo.git("diff", "--", "n.txt").replace("\n", "\r\n")) == changed


def test_several_commits_and_mails(repo: GitRepo) -> None:
    repo.commit("two\n\n--- a/no.py\n+++ b/no.py\nis no diff", {"src/a.py": AFTER})
    repo.commit("three", {"src/a.py": BEFORE, "b.txt": "z\n"})
    names = ["src/a.py", "b.txt", "src/a.py"]
    assert sorted(change.path for change in parse(repo.git("log", "-p", "-2"))) == sorted(names)
    assert sorted(change.path for change in parse(repo.git("format-patch", "--stdout", "-2"))) == sorted(names)
    assert [change.path for change in parse(repo.git("show", "HEAD"))] == ["b.txt", "src/a.py"]
    assert parse(repo.git("log", "-3", "--format=medium")) == ()
    for change in parse(repo.git("format-patch", "--stdout", "-1")):
        if change.path == "b.txt":
            assert (change.old_lines, change.new_lines) == (((1, 2),), ((1, 1),))  # the mail's own end, "-- ", is no line of it


def test_a_merge_is_seen_from_its_first_parent(repo: GitRepo) -> None:
    repo.branch("side")
    repo.commit("side", {"b.txt": "x\nside\n"})
    repo.checkout("main")
    repo.commit("main", {"b.txt": "x\nmain\n"})
    subprocess.run(["git", "-C", repo.path, "merge", "-q", "side"], capture_output=True, check=False)
    repo.commit("merged", {"b.txt": "x\nmain\nside\n"})
    changed = one(repo.git("show", "--cc", "HEAD"))
    assert changed.path == "b.txt" and changed.old_blob and changed.new_blob
    assert changed.new_lines == ((3, 1),) and changed.old_lines == ((2, 0),)
    assert one(repo.git("show", "-c", "HEAD")).new_lines == ((3, 1),)


def test_plain_diff(tmp_path: Path) -> None:
    for folder, text in (("one", BEFORE), ("two", AFTER)):
        (tmp_path / folder / "src").mkdir(parents=True)
        (tmp_path / folder / "src" / "a.py").write_text(text)
    (tmp_path / "two" / "src" / "n.py").write_text("x\n")
    run = ["diff", "-ruN", "one", "two"]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    changed, new = parse(printed)
    assert (changed.old_path, changed.new_path, changed.old_lines) == ("src/a.py", "src/a.py", ((3, 1), (10, 2), (30, 0)))
    assert new.new_path.endswith("n.py") and new.old_path == ""
    backup = "--- lib/x.py.orig\t2020-01-01 10:00:00\n+++ lib/x.py\t2020-01-02 10:00:00\n@@ -1 +1,2 @@ def f():\n a\n+b\n"
    assert (one(backup).old_path, one(backup).new_lines) == ("lib/x.py", ((2, 1),))


@pytest.mark.parametrize(
    "text",
    [
        "garbage",
        "--- a\n+++ b\n",
        "@@ -1 +1 @@\n-a\n+b\n",
        "{}",
        "*** a\n--- b\n***************\n*** 1 ****\n! x\n--- 1 ----\n! y\n",
    ],
)
def test_what_is_no_diff_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as told:
        parse(text)
    assert told.value.field == "diff" and "git diff" in told.value.remedy


def test_nothing_changed_is_nothing() -> None:
    assert parse("") == parse("\n\n") == parse("commit 1234567890\nAuthor: a\n\n    m\n") == ()


def test_a_diff_that_is_cut_off_says_what_it_has(repo: GitRepo) -> None:
    repo.write({"src/a.py": AFTER})
    printed = repo.git("diff")
    for cut in range(0, len(printed), 7):
        try:
            found = parse(printed[:cut])
        except InvalidInput:
            continue
        assert len(found) <= 1
    assert one(printed[: printed.index("-line 10")]).old_lines == ((3, 1),)


def test_too_long() -> None:
    with pytest.raises(InvalidInput):
        parse("x" * (LONGEST + 1))


@pytest.mark.slow
def test_hostile_texts_take_linear_time() -> None:
    for start, unit, end in (
        ("diff --git ", "a ", ""), ("", "diff --git a/x b/x\n", ""), ("", "@@ -1 +1 @@\n", ""), ('+++ "', "\\", ""),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,999999999 +1,999999999 @@\n", "+a\n", ""), ("diff --git a/x b/x\n", "@", ""),
        ("diff --git a/x b/x\n@@@@@@" + " -1" * 5 + " +1 @@@@@@\n", "+++++a\n", ""),
        ('--- "', "\\303", '"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n'),
    ):  # fmt: skip
        assert not takes_the_square(parse, repeated(unit, end, start), 125_000), unit


_PIECES = st.sampled_from(
    ["diff --git a/x b/x\n", "diff --cc x\n", "--- a/x\n", "+++ b/x\n", "--- /dev/null\n", "@@ -1,2 +1,3 @@ f\n",
     "@@@ -1,2 -1,2 +1,3 @@@\n", "@@ -0,0 +1 @@\n", "+a\n", "-a\n", " a\n", "\n", "\\ No newline\n", "index 1234567..89abcde 100644\n",
     "index 1,2..3\n", "rename from x\n", "rename to y\n", "new file mode 100644\n", "deleted file mode 100644\n",
     "Binary files a/x and b/x differ\n", 'diff --git "a/\\3" "b/\\"\n', "commit 1234567\n", "\r\n", "@@ -1 +1\n", "@@ @@\n",
     "diff --git \n", "--- \n", "+++ \n", '--- "a\n', "GIT binary patch\n"]
)  # fmt: skip


@example("diff --git  0\ndeleted file mode")
@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.lists(st.one_of(_PIECES, st.text(max_size=8))).map("".join)))
def test_no_text_crashes_it(text: str) -> None:
    try:
        found = parse(text)
    except InvalidInput:
        return
    for change in found:
        assert change.path
        assert all(first >= 0 and count >= 0 for first, count in (*change.old_lines, *change.new_lines))


@pytest.mark.slow
def test_a_history_agrees_with_what_git_counts(tmp_path: Path) -> None:
    repo = make_history(tmp_path / "r")
    found = parse(repo.git("log", "-p", "--first-parent", "-m", "--format=commit %H%n%n%w(0,4,4)%B"))
    counts = [line.split("\t") for line in repo.git("log", "--numstat", "--first-parent", "-m", "--format=").splitlines() if line]
    assert len(found) == len(counts) > 50
    assert sum(count for change in found for _, count in change.new_lines) == sum(int(row[0]) for row in counts)
    assert sum(count for change in found for _, count in change.old_lines) == sum(int(row[1]) for row in counts)
