"""Reading git: every test runs the real thing on a small repository."""

from __future__ import annotations

import os
import signal
import time
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.errors import GitFailed, InvalidInput
from hardwon.importers.history import read_commits
from hardwon.importers.message import pull_request, relations, revert_reason, split_message
from hardwon.importers.refs import list_commits
from hardwon.types import RELATIONS, Change, Relation
from tests.gitmaker import GitRepo, make_history
from tests.growth import repeated, takes_the_square

A, B, C = "1234abc", "deadbeef1", "0123456789abcdef0123456789abcdef01234567"
SELF = "f" * 39 + "0"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "repo")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return make_history(tmp_path_factory.mktemp("history"))


def read(repo: GitRepo, *shas: str) -> list[Change]:
    return list(read_commits(repo.path, shas or list_commits(repo.path)))


def last(repo: GitRepo) -> Change:
    [change] = read(repo, repo.made[-1])
    return change


# --- which commits -------------------------------------------------------------------------------------------------------


def test_commits_are_listed_newest_first_without_merges(history: GitRepo) -> None:
    listed = list_commits(history.path)
    merges = history.git("rev-list", "--merges", "HEAD").split()
    assert set(listed) == set(history.made) - set(merges)
    assert len(merges) == 1
    assert listed[0] == history.made[-1]
    assert listed[-1] == history.names["root"]
    assert list_commits(history.path, limit=3) == listed[:3]


def test_a_repository_without_commits_has_none(repo: GitRepo) -> None:
    assert list_commits(repo.path) == []
    assert list(read_commits(repo.path, [])) == []


def test_a_folder_below_the_root_serves_as_well(repo: GitRepo) -> None:
    sha = repo.commit("one", {"deep/er/a.py": "x = 1\n"})
    below = os.path.join(repo.path, "deep", "er")
    assert list_commits(below) == [sha]
    assert [change.files for change in read_commits(below, [sha])] == [("deep/er/a.py",)]


def test_no_repository_is_an_error_that_helps(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="not a git repository") as caught:
        list_commits(str(tmp_path))
    assert caught.value.remedy
    with pytest.raises(GitFailed, match="not a git repository"):
        list(read_commits(str(tmp_path), ["a" * 40]))
    with pytest.raises(GitFailed, match="No such file"):
        list_commits(str(tmp_path / "missing"))


def test_a_broken_branch_is_no_empty_repository(repo: GitRepo) -> None:
    repo.commit("one")
    Path(repo.path, ".git/refs/heads/main").write_text("1" * 40 + "\n")
    with pytest.raises(GitFailed):
        list_commits(repo.path)


def test_git_that_is_missing_is_told(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", repo.path)
    with pytest.raises(GitFailed, match="could not be started") as caught:
        list_commits(repo.path)
    assert "install git" in caught.value.remedy
    with pytest.raises(GitFailed):
        list(read_commits(repo.path, ["a" * 40]))


def test_only_full_hashes_are_read_and_unknown_ones_are_left_out(repo: GitRepo) -> None:
    sha = repo.commit("one")
    for bad in (sha[:12], "HEAD", "--all", ""):
        with pytest.raises(InvalidInput):
            read_commits(repo.path, [bad])
    assert [change.sha for change in read_commits(repo.path, ["a" * 40, sha, "b" * 40])] == [sha]


# --- what a change holds -------------------------------------------------------------------------------------------------


def test_every_field_of_a_change(repo: GitRepo) -> None:
    repo.commit("base", {"src/a.c": "int main(void)\n{\n\told_call(one);\n\treturn 0;\n}\n"})
    message = "a: call better\n\nWhy: it was slow.\n\nCloses #4\nReviewed-by: Bob <b@example.org>\n"
    files = {"src/a.c": "int main(void)\n{\n\tnew_call(one, one);\n\tnew_call(two);\n\treturn 0;\n}\n"}
    sha = repo.commit(message, files, at=1_234_567, author="Zoë Ünal <z@example.org>")
    [change] = read_commits(repo.path, [sha], branch="topic")
    assert change == Change(
        sha=sha,
        at=1_234_567_000,
        subject="a: call better",
        body="Why: it was slow.\n\nCloses #4",
        author="Zoë Ünal",
        branch="topic",
        files=("src/a.c",),
        functions=("int main(void)",),
        added=("new_call", "one", "two"),
        removed=("old_call", "one"),
        lines_added=2,
        lines_removed=1,
    )


def test_commits_come_in_the_order_asked_for(history: GitRepo) -> None:
    some = [*history.made[7:20:3], history.made[2], history.made[30], history.made[2]]
    assert [change.sha for change in read(history, *some)] == some


def test_counts_agree_with_git(history: GitRepo) -> None:
    for change in read(history)[::5]:
        rows = history.git("-c", "diff.context=0", "show", "--format=", "--numstat", change.sha).split("\n")
        added, removed = (sum(int(row.split("\t")[side]) for row in rows if row) for side in (0, 1))
        assert (change.lines_added, change.lines_removed) == (added, removed)


def test_known_links_are_found(history: GitRepo) -> None:
    found = {change.sha: change.relations for change in read(history)}
    expected = {sha: (Relation(kind, target),) for sha, kind, target in history.links}  # type: ignore[arg-type]
    assert {sha: links for sha, links in found.items() if links} == expected
    [revert] = read(history, history.names["cache_revert"])
    assert (
        revert_reason(revert) == "Cached logins outlive a change of password, so locked-out users stayed signed in for an hour."
    )
    [squashed] = read(history, history.names["squashed"])
    assert squashed.pull_request == 41


def test_a_root_commit_adds_all_its_lines(repo: GitRepo) -> None:
    repo.commit("root", {"b.py": "alpha = 1\nbeta = 2", "a.py": ""})
    change = last(repo)
    assert change.files == ("a.py", "b.py")
    assert (change.added, change.lines_added) == (("alpha", "beta"), 2)


def test_an_empty_commit_and_an_empty_message(repo: GitRepo) -> None:
    repo.commit("", at=7)
    assert last(repo) == Change(sha=repo.made[-1], at=7_000, subject="", author="Ada Example")


def test_a_rename_counts_under_its_new_name(repo: GitRepo) -> None:
    repo.commit("base", {"old name.py": "first = 1\nsecond = 2\nthird = 3\nfourth = 4\n"})
    repo.rename("old name.py", "new/name.py")
    repo.commit("move", {"new/name.py": "first = 1\nsecond = 2\nthird = 3\nfifth = 5\n"})
    change = last(repo)
    assert change.files == ("new/name.py",)
    assert (change.added, change.removed) == (("fifth",), ("fourth",))


def test_a_deletion_keeps_the_old_name(repo: GitRepo) -> None:
    repo.commit("base", {"gone.py": "alpha = 1\n", "stays.py": ""})
    repo.commit("drop", {"gone.py": None})
    change = last(repo)
    assert change.files == ("gone.py",)
    assert (change.removed, change.lines_removed, change.lines_added) == (("alpha",), 1, 0)


def test_a_binary_file_is_named_but_has_no_lines(repo: GitRepo) -> None:
    repo.commit("image", {"logo.png": b"\x89PNG\0\0" + bytes(range(256))})
    change = last(repo)
    assert change.files == ("logo.png",)
    assert (change.lines_added, change.added) == (0, ())


def test_a_merge_has_its_message_only(history: GitRepo) -> None:
    merge = history.git("rev-list", "--merges", "HEAD")
    [change] = read(history, merge)
    assert change.subject == "Merge branch 'stable'"
    assert (change.files, change.lines_added) == ((), 0)


def test_content_that_is_not_utf8_is_decoded_as_far_as_it_goes(repo: GitRepo) -> None:
    repo.commit("latin", {"a.c": "int größe(void)\n{\n\treturn 1;\n\n\n}\n".encode("latin-1")})
    repo.commit("more", {"a.c": "int größe(void)\n{\n\treturn 1;\n\n\nval_\xfcber_x;\n}\n".encode("latin-1")})
    change = last(repo)
    assert change.functions == ("int gr",)
    assert change.added == ("val_", "ber_x")


def test_a_message_in_another_encoding_is_read(repo: GitRepo) -> None:
    repo.git("config", "i18n.commitEncoding", "ISO-8859-1")
    repo.commit("Größe\n\nüber".encode("latin-1"))
    assert (last(repo).subject, last(repo).body) == ("Größe", "über")


def test_a_nul_in_text_far_down_a_file_is_harmless(repo: GitRepo) -> None:
    repo.commit("text", {"a.txt": b"line_of_text\n" * 1000 + b"\0\nx\0y\n" + b"\0" * 5 + b"\nafter_nul\n"})
    repo.commit("next")
    first, second = read(repo, *repo.made)
    assert (first.lines_added, first.added) == (1004, ("line_of_text", "after_nul"))
    assert second.subject == "next"


def test_lines_that_look_like_the_heads_of_a_diff_are_lines(repo: GitRepo) -> None:
    tricky = "++ b/fake.py\n-- a/fake.py\n@@ -1,9 +1,9 @@ fake()\n:100644 100644 aaa bbb M\tfake\ndiff --git a/f b/f\n"
    repo.commit("base", {"a.txt": tricky})
    repo.commit("drop", {"a.txt": "++ c/other\n"})
    first, second = read(repo, *repo.made)
    assert (first.files, first.lines_added, first.functions) == (("a.txt",), 5, ())
    assert (second.files, second.lines_added, second.lines_removed) == (("a.txt",), 1, 5)


def test_a_message_that_looks_like_a_diff_is_a_message(repo: GitRepo) -> None:
    body = f":100644 100644 aaa bbb M\tfake\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1,7 @@ fake()\n+fake_name\n{SELF}\x01%x00\\0"
    repo.commit(f"subject\n\n{body}", {"real.py": "real_name = 1\n"})
    change = last(repo)
    assert (change.body, change.files, change.functions) == (body, ("real.py",), ())
    assert (change.added, change.lines_added) == (("real_name",), 1)


def test_times_before_1970_and_far_ahead_are_clipped(repo: GitRepo) -> None:
    tree = repo.git("write-tree")
    shas = []
    for stamp in ("0", "99999999999999", "-5"):
        text = f"tree {tree}\nauthor A <a@b> {stamp} +0000\ncommitter A <a@b> 5 +0000\n\nx\n"
        shas.append(repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text.encode()))
    early, late, negative = (change.at for change in read(repo, *shas))
    assert (early, negative) == (0, 0)
    assert 0 <= late <= 253_402_300_799_000


# --- names of files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a b.py", 'q"uote.py', "back\\slash", "tab\there", "new\nline", "ünï/日本.py", "\x7f\x01", ":c", " x "]
)
def test_unusual_names(repo: GitRepo, name: str) -> None:
    repo.commit("name", {name: "x\n"})
    assert last(repo).files == (name,)
    repo.commit("drop", {name: None})
    assert last(repo).files == (name,)


def test_a_name_that_is_not_utf8(repo: GitRepo) -> None:
    repo.commit("name", {os.fsdecode(b'caf\xe9 "x".py'): "x\n"})
    assert last(repo).files == ('caf\ufffd "x".py',)


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return GitRepo(tmp_path_factory.mktemp("spare"))


_PARTS = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(parts=st.lists(_PARTS, min_size=1, max_size=6))
def test_any_name_comes_back(spare: GitRepo, parts: list[str]) -> None:
    names = sorted({f"{len(spare.made)}/n{part}" for part in parts}, key=str.encode)
    spare.commit("names", {name: f"{number}\n" for number, name in enumerate(names)})
    assert last(spare).files == tuple(names)


@settings(max_examples=25, deadline=None)
@given(message=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200))
def test_any_message_keeps_its_frame(spare: GitRepo, message: str) -> None:
    spare.commit(message, {"a.txt": f"line_{len(spare.made)}\n"})
    spare.commit("after")
    first, second = read(spare, *spare.made[-2:])
    assert first.files == ("a.txt",)
    assert first.lines_added == 1
    assert (first.subject, first.body) == split_message(message)
    assert second.subject == "after"


# --- limits --------------------------------------------------------------------------------------------------------------


def test_limits_of_files_functions_and_identifiers(repo: GitRepo) -> None:
    bodies = [f"def function_{n:03}():\n    a\n    b\n    c\n" for n in range(60)]
    repo.commit("base", {"m.py": "".join(bodies)})
    changed = [body.replace("    b\n", f"    {f'name_{n:03} ' * 9}{f'often_{n % 7} ' * 2}\n") for n, body in enumerate(bodies)]
    repo.commit("many", {"m.py": "".join(changed), **{f"f{n:02}.txt": f"word_{n}_{n}\n" * 8 for n in range(50)}})
    change = last(repo)
    assert change.files == tuple(f"f{n:02}.txt" for n in range(40))
    assert change.functions == tuple(f"def function_{n:03}():" for n in range(40))
    assert change.added[:8] == (*(f"often_{n}" for n in range(4)), "often_4", "often_5", "often_6", "name_000")
    repo.commit("wide", {"w.py": "".join(f"n{n:04}\n" for n in range(500)) + "n0499\nn0499\nn0003\n"})
    assert last(repo).added == ("n0499", "n0003", *(f"n{n:04}" for n in range(399) if n != 3))[:400]
    assert last(repo).lines_added == 503


def test_long_lines_give_no_identifiers(repo: GitRepo) -> None:
    lines = [
        "short_line",
        "just_under " + "x" * 388,
        "ünder " + "ü" * 393,
        "at_limit " + "x" * 391,
        "huge " * 200_000,
        "after_huge",
    ]
    repo.commit("lines", {"a.js": "\n".join(lines) + "\n"})
    change = last(repo)
    assert change.lines_added == 6
    assert set(change.added) == {"short_line", "just_under", "x" * 388, "nder"}


def test_of_a_great_diff_the_start_is_read_and_all_is_counted(repo: GitRepo) -> None:
    head = "first_name = 1\n" * 10
    files = {"a.py": head + "filler_line\n" * 900_000 + "late_name\n", "z.py": "last_name = 2\n" * 5}
    repo.commit("great", files)
    tracemalloc.start()
    change = last(repo)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert change.lines_added == 900_016
    assert change.files == ("a.py", "z.py")
    assert change.added == ("filler_line", "first_name")
    assert peak < 4_000_000


def test_great_changes_in_many_hunks_are_counted(repo: GitRepo) -> None:
    old = "".join(f"old_{n}\nkept_{n} {'x' * 40}\n" for n in range(20_000))
    repo.commit("base", {"a.txt": old})
    repo.commit("all", {"a.txt": old.replace("old_", "new_more\nnew_")})
    change = last(repo)
    assert (change.lines_added, change.lines_removed) == (40_000, 20_000)
    assert len(change.functions) == 40
    assert change.functions[0].startswith("kept_0 ")


def test_a_great_message_is_cut_and_does_not_hide_the_diff(repo: GitRepo) -> None:
    repo.commit("subject\n\n" + "word " * 200_000, {"a.py": "name_here\n"})
    change = last(repo)
    assert len(change.body) <= 4_000
    assert (change.files, change.added) == (("a.py",), ("name_here",))


def test_more_hashes_than_a_pipe_holds(repo: GitRepo) -> None:
    sha = repo.commit("one", {"a.py": "x\n"})
    assert sum(1 for _ in read_commits(repo.path, [sha] * 3_000)) == 3_000


# --- a hostile world -----------------------------------------------------------------------------------------------------

HOSTILE = """
[diff]
    noprefix = true
    mnemonicPrefix = true
    external = /bin/false
    renames = false
    renameLimit = 1
    algorithm = patience
    suppressBlankEmpty = true
    submodule = log
    context = 7
    interHunkContext = 9
    orderFile = /dev/null/missing
    relative = true
    indentHeuristic = false
    ignoreSubmodules = all
    wsErrorHighlight = all
    colorMoved = zebra
    wordRegex = .
[diff "odd"]
    textconv = tr a-z A-Z <
    command = /bin/false
    xfuncname = "^(never)$"
    binary = true
[log]
    showSignature = true
    showRoot = false
    diffMerges = first-parent
    decorate = full
    date = relative
    mailmap = true
    follow = true
[color]
    ui = always
    diff = always
[core]
    abbrev = 4
    quotePath = true
    pager = /bin/false
    attributesFile = ATTRIBUTES
    commentChar = ":"
[format]
    pretty = oneline
    notes = true
[notes]
    displayRef = *
[i18n]
    logOutputEncoding = ISO-8859-1
[mailmap]
    file = MAILMAP
[user]
    useConfigOnly = true
"""


def test_the_users_settings_change_nothing(repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("root ünï", {"a/ä b.py": "def one():\n    alpha\n\n    beta\n\n\n    gamma\n", "b.py": "same = 1\n" * 20})
    repo.rename("b.py", "c.py")
    repo.commit("change\n\nbody", {"a/ä b.py": "def one():\n    alpha2\n\n    beta\n\n\n    gamma2\n", "c.py": "same = 1\n" * 21})
    repo.git("notes", "add", "-m", "a note", "HEAD")
    plain = read(repo)
    assert plain[0].files == ("a/ä b.py", "c.py")
    (tmp_path / "attributes").write_text("*.py diff=odd\n")
    (tmp_path / "mailmap").write_text("Other Name <other@example.org> <ada@example.org>\n")
    hostile = HOSTILE.replace("ATTRIBUTES", str(tmp_path / "attributes")).replace("MAILMAP", str(tmp_path / "mailmap"))
    (tmp_path / "config").write_text(hostile)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert read(repo) == plain
    with open(os.path.join(repo.path, ".git", "config"), "a", encoding="utf-8") as config:
        config.write(hostile)
    assert read(repo) == plain
    assert list(read_commits(os.path.join(repo.path, "a"), list_commits(repo.path))) == plain


def test_variables_of_an_outer_git_change_nothing(history: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = history.made[15:25]
    plain = read(history, *some)
    other = GitRepo(tmp_path / "other")
    for name, value in {
        "GIT_DIR": os.path.join(other.path, ".git"),
        "GIT_WORK_TREE": other.path,
        "GIT_INDEX_FILE": "/dev/full",
        "GIT_OBJECT_DIRECTORY": str(tmp_path),
        "GIT_EXTERNAL_DIFF": "/bin/false",
        "GIT_DIFF_OPTS": "-u9",
        "GIT_PAGER": "/bin/false",
        "GIT_TRACE": "1",
        "LC_ALL": "de_DE.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    assert list_commits(history.path, 5) == history.git("rev-list", "--no-merges", "-n5", "HEAD").split()
    assert read(history, *some) == plain


def test_a_damaged_index_does_not_matter(repo: GitRepo) -> None:
    repo.commit("one", {"a.py": "alpha\n"})
    Path(repo.path, ".git/index").write_bytes(b"damaged")
    assert last(repo).added == ("alpha",)


def lose(repo: GitRepo, name: str) -> None:
    """Deletes an object, as a partial clone lacks it."""
    sha = repo.git("rev-parse", name)
    Path(repo.path, ".git/objects", sha[:2], sha[2:]).unlink()


def test_a_lost_file_costs_its_commit_the_lines_only(repo: GitRepo) -> None:
    for number in range(6):
        repo.commit(f"change {number}", {"a.py": f"name_{number}\n", f"b{number}.py": f"other_{number}\n"})
    whole = read(repo, *repo.made)
    lose(repo, f"{repo.made[2]}:b2.py")
    changes = read(repo, *repo.made)
    assert [change.sha for change in changes] == repo.made
    assert [change for change in changes if change.subject != "change 2"] == [*whole[:2], *whole[3:]]
    assert (changes[2].subject, changes[2].files) == ("change 2", ("a.py", "b2.py"))


def test_lost_files_one_after_another_and_with_renames(repo: GitRepo) -> None:
    repo.commit("base", {f"f{n}.py": f"line_{n}\n" * 20 for n in range(20)})
    for number in range(20):
        repo.rename(f"f{number}.py", f"g{number}.py")
        repo.commit(f"move {number}", {f"g{number}.py": f"line_{number}\n" * 21})
    for number in range(5, 15):
        lose(repo, f"{repo.made[number]}:g{number - 1}.py")
    changes = read(repo, *repo.made)
    assert [change.sha for change in changes] == repo.made
    assert changes[7].files == ("f6.py", "g6.py")
    assert changes[20].lines_added == 1


def test_a_lost_folder_leaves_the_message(repo: GitRepo) -> None:
    for number in range(4):
        repo.commit(f"change {number}", {f"d/{number}.py": f"name_{number}\n"})
    lose(repo, f"{repo.made[1]}^{{tree}}")
    changes = read(repo, *repo.made)
    assert [change.subject for change in changes] == [f"change {n}" for n in range(4)]
    assert (changes[1].files, changes[3].files) == ((), ("d/3.py",))
    assert changes[3].added == ("name_3",)


# --- processes -----------------------------------------------------------------------------------------------------------


def gits() -> list[int]:
    """This process's children that are git, dead ones included."""
    found = []
    for name in os.listdir("/proc"):
        try:
            text = Path("/proc", name, "stat").read_text() if name.isdigit() else ""
        except OSError:
            continue
        if text and int(text.rpartition(")")[2].split()[1]) == os.getpid() and "(git" in text:
            found.append(int(name))
    return found


linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="counts processes in /proc")


@pytest.fixture
def bulky(repo: GitRepo) -> GitRepo:
    """More output than pipes hold, so that git is still running when the first change is out."""
    for number in range(12):
        repo.commit(f"bulk {number}", {f"{number}.txt": "".join(f"word_{number}_{n}\n" for n in range(12_000))})
    return repo


@linux
def test_a_closed_iterator_leaves_no_git(bulky: GitRepo) -> None:
    changes = read_commits(bulky.path, bulky.made)
    assert next(changes).subject == "bulk 0"
    assert len(gits()) == 1
    changes.close()  # type: ignore[attr-defined]
    assert gits() == []
    for _ in islice(read_commits(bulky.path, bulky.made), 2):
        pass
    assert gits() == []
    assert len(read(bulky)) == 12
    assert gits() == []


@linux
def test_a_git_that_is_killed_is_started_again(bulky: GitRepo) -> None:
    read_so_far = []
    for change in read_commits(bulky.path, bulky.made):
        read_so_far.append(change)
        if len(read_so_far) in (2, 5):
            for process in gits():
                os.kill(process, signal.SIGKILL)
            time.sleep(0.01)
    assert [change.sha for change in read_so_far] == bulky.made
    assert sum(change.lines_added == 12_000 for change in read_so_far) >= 10


# --- messages ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "subject", "body"),
    [
        ("one\n\ntwo\n", "one", "two"),
        ("\n\n one \n two\n\nthree\n\n\n\n\nfour\n", "one two", "three\n\nfour"),
        ("cc: set flags", "cc: set flags", ""),
        ("s\r\n\r\nb\r\n", "s", "b"),
        ("s\nSigned-off-by: A <a@b>", "s", ""),
        ("s\n\nb\n\nSIGNED-OFF-BY: A <a@b>\nCc: x\nco-authored-by: y\nTested-by: z\nThanks-to: q\nBug-found-by: w\n", "s", "b"),
        ("s\n\nStand by: me\nFixes: x\nLink: y", "s", "Stand by: me\nFixes: x\nLink: y"),
        ("", "", ""),
    ],
)
def test_subject_and_body(message: str, subject: str, body: str) -> None:
    assert split_message(message) == (subject, body)


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("Fix it (#12)", 12),
        ("Fix it (#12) (#34)", 34),
        ("[3.12] gh-1: Fix it (GH-56)", 56),
        ("Merge pull request #123 from a/b", 123),
        ("Merged in topic (pull request #7)", 7),
        ("x\n\nPR-URL: https://github.com/nodejs/node/pull/4567", 4567),
        ("x\n\nPR #9", 9),
        ("x\n\nPull request: #9.", 9),
        ("PR #9: add x", 9),
        ("x\n\nSee merge request group/sub/proj!88", 88),
        ("x\n\nCloses #12", None),
        ("Fix #12", None),
        ("Revert PR #12", None),
        ("Add a note for PR #12", None),
        ("x\n\nPR #12 broke this, see (#13)", None),
        ('Revert "Merge pull request #5 from a/b"', None),
        ('Revert "Fix it (#12)"', None),
        ('Revert "Fix it (#12)" (#14)', 14),
        ("x (#99999999999999999999)", None),
    ],
)
def test_pull_requests(message: str, number: int | None) -> None:
    assert pull_request(*split_message(message)) == number


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (f'Revert "x"\n\nThis reverts commit {C}.', [("reverts", C)]),
        (f'Revert "Revert "x""\n\nThis reverts commit {C}.', [("reverts", C)]),
        (f'Reapply "x"\n\nThis reverts commit {C}.', [("reverts", C)]),
        (f"x\n\nThis reverts commit {C}, reversing\nchanges made to {B}.", [("reverts", C), ("mentions", B)]),
        (f"x\n\nReverts {A} and {B}", [("reverts", A), ("reverts", B)]),
        (f"revert {A}: too slow", [("reverts", A)]),
        (f"x: partially revert {A}", [("reverts", A)]),
        (f"Revert the change introduced in {A}", [("reverts", A)]),
        (f"x\n\nThis was reverted in {A}.", [("mentions", A)]),
        (f"x\n\nso that we need not revert {A}", [("mentions", A)]),
        (f"x\n\nThis reverts to the rules of {A}", [("mentions", A)]),
        (f"x\n\n(cherry picked from commit {C})", [("picks", C)]),
        (f"x\n\n[ Upstream commit {C} ]", [("picks", C)]),
        (f"x\n\ncommit {C} upstream.", [("picks", C)]),
        (f'x\n\nFixes: {A} ("y: introduce since (broken)")', [("fixes", A)]),
        (f"x\n\nFixes {A}", [("fixes", A)]),
        (f"x\n\nIt was fixed in {A}", [("mentions", A)]),
        (f"x\n\nFollow-up to {A}\nFollowup to {B}", [("follows", A), ("follows", B)]),
        (f"x\n\nRegressed in {A}", [("regression", A)]),
        (f"x\n\nA crash introduced by commit\n{C}.", [("regression", C)]),
        (f"x\n\nbroken since {A}", [("regression", A)]),
        (f"x\n\ncaused by {A}; bug from {B}", [("regression", A), ("regression", B)]),
        (f"x\n\n{A} broke this", [("regression", A)]),
        (f"x\n\nno longer needed since {A}", [("mentions", A)]),
        (f"x\n\nFixes a crash. See {A} for more.", [("mentions", A)]),
        (f"x\n\nSee {A}\n\nFixes: {A}\nFollow-up to {A}", [("fixes", A)]),
        ("x\n\nReverts owner/repo#123", [("reverts", "#123")]),
        ("x\n\nReverts #12", [("reverts", "#12")]),
        ("x\n\nThis reverts merge request !12", [("reverts", "#12")]),
        ('Revert "x (#12)" (#13)', [("reverts", "#12")]),
        ('Revert "Merge pull request #12 from a/b"', [("reverts", "#12")]),
        (f"x\n\nReverts #12\n\nThis reverts commit {C}.", [("reverts", C)]),
        (f"x\n\n{SELF} {SELF[:9]} is this", []),
        ("x\n\n1234567 abcdefa 20240101 facade 0x1234abcd", []),
        ("x\n\n550e8400-e29b-41d4-a716-4466554400ab\nChange-Id: I8473b95934b5732ac55d26311a706c9c2bde9940", []),
        ("Fix #12", []),
    ],
)
def test_relations(message: str, found: list[tuple[str, str]]) -> None:
    assert [(link.kind, link.target) for link in relations(SELF, message)] == found


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"This reverts commit {C}.", ""),
        (
            f"This reverts commit {C}.\n\nIt broke\nthe build.\n\nFixes: #3\nChange-Id: I12\nSigned-off-by: A <a@b>",
            "It broke the build.",
        ),
        (f"This reverts commit {C} because it leaks.", "because it leaks."),
        (f"This reverts commit {C}, reversing\nchanges made to {B}.\n\nToo slow.", "Too slow."),
        (f'This reverts commit {A} ("x: y", 2024-01-01).\n\nNo.', "No."),
        ("Reverts owner/repo#123\n\nNot yet.", "Not yet."),
        (f"This reverts commit {C}.\n\nReason for revert: flaky\n\nOriginal change's description:\n> x", "flaky"),
        (f"Too slow.\n\nThis reverts commits {A}, {B} and {C}.", "Too slow."),
    ],
)
def test_reasons_of_reverts(body: str, reason: str) -> None:
    change = Change(sha=SELF, at=0, subject='Revert "x"', body=split_message(f"s\n\n{body}")[1])
    assert revert_reason(change) == reason
    assert revert_reason(change.replace(subject="x", relations=())) == ""
    assert revert_reason(change.replace(subject="x", relations=(Relation("reverts", C),))) == reason


def test_a_long_reason_is_cut_at_a_word() -> None:
    reason = revert_reason(Change(sha=SELF, at=0, subject="Revert x", body="wordy " * 200))
    assert len(reason) <= 400
    assert reason.endswith(" wordy…")


_TOKENS = st.sampled_from(
    [A, B, C, "#12", "revert", "reverts", "fixes", "this", "commit", ":", ",", ".", "\n", "(", ")", '"', "since", "PR"]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_TOKENS | st.text(max_size=8), max_size=30).map(" ".join))
def test_messages_of_any_kind_are_borne(message: str) -> None:
    subject, body = split_message(message)
    assert "\n" not in subject
    assert len(body) <= 4_000
    links = relations(SELF, message)
    assert len(set(links)) == len({link.target for link in links}) == len(links)
    assert {link.kind for link in links} <= set(RELATIONS)
    change = Change(sha=SELF, at=0, subject=subject, body=body, relations=links, pull_request=pull_request(subject, body))
    assert len(revert_reason(change)) <= 400


def test_a_hostile_message_takes_no_longer_than_its_length() -> None:
    def read(message: str) -> None:
        subject, body = split_message(message)
        relations(SELF, message)
        revert_reason(Change(sha=SELF, at=0, subject=subject, body=body, pull_request=pull_request(subject, body)))

    for unit in ("reverts  ", "#11", "https://a,", f"{A} ", f"\n{A}", 'Revert "', "closes #1 ", " \t", "a/", "PR ", "-by"):
        assert not takes_the_square(read, repeated(unit, "x", "Revert x\n\nCloses "), 20_000), unit


def test_the_maker_is_deterministic(history: GitRepo, tmp_path: Path) -> None:
    again = GitRepo(tmp_path / "again")
    first = history.names["root"]
    text = history.git("show", "-s", "--format=%B", first)
    files = {
        name: history.git("show", f"{first}:{name}") + "\n" for name in history.git("ls-tree", "-r", "--name-only", first).split()
    }
    assert again.commit(text + "\n", files) == first
