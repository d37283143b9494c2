"""History at its worst: shallow, partial, damaged, hostile and rewritten repositories, two readers at once, kills. Real git."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.engine import changes as engine_changes
from hardwon.engine import history, opening
from hardwon.errors import GitFailed
from hardwon.importers.history import read_commits
from hardwon.importers.refs import list_commits, unreached, walk
from hardwon.types import Change, Draft, Filter, IngestReport, Origin, Query, Relation, Scope
from tests.gitgrower import make_large
from tests.gitmaker import GitRepo, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.engine.core import Engine
    from hardwon.types import Memory

NOW = 1_800_000_000_000
PERSON = Scope(Origin("person", "", "", "cli"))


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "repo")


def engine_of(path: str, home: Path, wait: float = 30.0) -> Engine:
    """The folder's memory; the same ids and times each time."""
    return opening.create(path, str(home), clock=lambda: NOW, entropy=bytes, wait=wait)


def ingest(repo: GitRepo | str, home: Path) -> tuple[Engine, IngestReport]:
    engine = engine_of(repo if isinstance(repo, str) else repo.path, home)
    return engine, engine.ingest_history()


def memories(engine: Engine, **where: Any) -> dict[str, Memory]:
    """Changes by commit."""
    with engine.store.read() as reader:
        return {memory.commit: memory for memory in reader.find(Filter(kinds=("change",), **where), -1)}


def change_of(engine: Engine, sha: str) -> Change:
    with engine.store.read() as reader:
        [found] = reader.lookup(sha)
        change = reader.change(found)
    assert change is not None
    return change


def recalled(engine: Engine, text: str) -> set[str]:
    return {hit.memory.commit for hit in engine.recall(Query(text=text, k=50, budget=100_000, floor=0.0), PERSON).hits}


def made(repo: GitRepo, *lines: str, body: str = "x\n", tree: str = "") -> str:
    """A commit with headers of one's choice, which no porcelain would write; the branch is not moved."""
    head = [f"tree {tree or repo.git('write-tree')}", *lines]
    text = ("\n".join(head) + "\n\n" + body).encode("utf-8", "surrogateescape")
    return repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text)


def whole(engine: Engine) -> None:
    """Nothing is wrong with the store, and its index speaks of nothing that is gone."""
    assert engine.verify() == []


PEOPLE = ("author A <a@b> 5 +0000", "committer A <a@b> 5 +0000")


# --- which commits -------------------------------------------------------------------------------------------------------


def test_the_commits_of_all_parents_of_an_octopus_are_read(repo: GitRepo, home: Path) -> None:
    repo.commit("base", {"a.txt": "a\n"})
    for name in ("one", "two", "three"):
        repo.branch(name)
        repo.commit(f"work on {name}", {f"{name}.txt": f"{name}\n"})
        repo.checkout("main")
    repo.git("merge", "-q", "-m", "Merge branches", "one", "two", "three")
    assert repo.git("show", "-s", "--format=%P", "HEAD").count(" ") == 2
    engine, report = ingest(repo, home)
    assert (report.seen, report.added) == (4, 4)
    assert {memory.text for memory in memories(engine).values()} == {
        "base",
        *(f"work on {name}" for name in ("one", "two", "three")),
    }


def test_the_window_is_told(repo: GitRepo, home: Path) -> None:
    for number in range(5):
        repo.commit(f"change {number}")
    engine = engine_of(repo.path, home)
    assert not engine.ingest_history(5).windowed
    later = engine.ingest_history(2)
    assert (later.seen, later.windowed, later.dropped) == (2, True, 0)
    assert len(memories(engine)) == 5


def test_an_ingest_with_nothing_to_do_writes_nothing(repo: GitRepo, home: Path) -> None:
    repo.commit("one")
    engine, _ = ingest(repo, home)
    before = contents(home)
    assert engine.ingest_history() == IngestReport(seen=1, added=0, known=1)
    assert contents(home) == before


def contents(home: Path) -> dict[str, str]:
    """A digest of every file of the stores; but for shared memory, in which readers note where they are."""
    files = [path for path in sorted((home / "stores").iterdir()) if not path.name.endswith("-shm")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


# --- shallow and partial clones ------------------------------------------------------------------------------------------


@pytest.fixture
def line(repo: GitRepo) -> GitRepo:
    """Eight commits, each with a file and a name of its own."""
    for number in range(8):
        repo.commit(f"change number {number}", {f"f{number}.py": f"name_{number} = 1\n" * 3})
    return repo


def clone(repo: GitRepo, path: Path, *how: str) -> GitRepo:
    subprocess.run(["git", "clone", "-q", *how, f"file://{repo.path}", str(path)], env=environment({}), check=True)
    return GitRepo(path)


def test_the_edge_of_a_shallow_clone_has_its_message_only(line: GitRepo, tmp_path: Path, home: Path) -> None:
    shallow = clone(line, tmp_path / "shallow", "--depth=3")
    engine, report = ingest(shallow, home)
    assert (report.seen, report.added, report.shallow, report.unreadable) == (3, 3, 1, 0)
    edge = change_of(engine, line.made[5])
    assert (edge.subject, edge.files, edge.lines_added) == ("change number 5", (), 0)
    assert change_of(engine, line.made[6]).files == ("f6.py",)
    assert engine.ingest_history().added == 0
    assert engine.unread_commits() == 0


def test_a_clone_that_is_deepened_has_the_rest_read_and_the_edge_completed(line: GitRepo, tmp_path: Path, home: Path) -> None:
    shallow = clone(line, tmp_path / "shallow", "--depth=2")
    engine, _ = ingest(shallow, home)
    for depth, added in (("2", 2), ("--unshallow", 4)):
        shallow.git("fetch", "-q", f"--deepen={depth}" if depth.isdigit() else depth)
        report = engine.ingest_history()
        assert (report.added, report.completed, report.dropped) == (added, 1, 0)
    assert [change_of(engine, sha).files for sha in line.made] == [(f"f{number}.py",) for number in range(8)]
    assert line.made[6] in recalled(engine, "name_6")
    assert engine.ingest_history().completed == 0
    whole(engine)


def test_a_full_clone_beside_a_shallow_one_completes_its_edge(line: GitRepo, tmp_path: Path, home: Path) -> None:
    line.git("remote", "add", "origin", f"file://{line.path}")
    shallow = clone(line, tmp_path / "shallow", "--depth=2")
    ingest(shallow, home)
    engine, report = ingest(line, home)
    assert (report.added, report.completed) == (6, 1)
    assert change_of(engine, line.made[6]).files == ("f6.py",)


def test_a_shallow_clone_drops_what_was_amended_there_but_nothing_beyond_its_edge(
    line: GitRepo, tmp_path: Path, home: Path
) -> None:
    copy = clone(line, tmp_path / "copy")
    engine, _ = ingest(copy, home)
    copy.git("fetch", "-q", "--depth=2")
    copy.made = line.made[:]
    old = copy.commit("a hasty change", {"g.py": "hasty = 1\n"})
    engine.ingest_history()
    copy.git("commit", "-q", "--amend", "-m", "a considered change", env=copy._dates(None))
    assert engine.ingest_history().dropped == 1
    assert set(memories(engine)) == {*line.made, copy.head()}
    assert old not in memories(engine)


def test_a_partial_clone_is_read_without_its_contents_and_without_the_network(line: GitRepo, tmp_path: Path, home: Path) -> None:
    line.git("config", "uploadpack.allowFilter", "true")
    partial = clone(line, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    partial.git("config", "protocol.ext.allow", "always")
    partial.git("remote", "set-url", "origin", f"ext::touch {tmp_path}/asked")
    engine, report = ingest(partial, home)
    assert (report.added, report.unreadable) == (8, 8)
    assert change_of(engine, line.made[3]).files == ("f3.py",)
    assert not (tmp_path / "asked").exists()
    partial.git("remote", "set-url", "origin", f"file://{line.path}")
    partial.git("checkout", "-q", "main")
    assert not recalled(engine, "name_7 name_7")
    engine.rebuild()
    assert change_of(engine, line.made[7]).lines_added == 3
    whole(engine)


@pytest.mark.slow
def test_of_many_that_lack_something_those_that_do_not_are_read_whole(repo: GitRepo) -> None:
    for number in range(60):
        repo.commit(f"change {number}", {f"f{number}.py": f"name_{number} = 1\n"})
    for number in range(60):
        if number % 7:
            sha = repo.git("rev-parse", f"HEAD:f{number}.py")
            Path(repo.path, ".git/objects", sha[:2], sha[2:]).unlink()
    changes = list(read_commits(repo.path, repo.made))
    assert [change.sha for change in changes] == repo.made
    assert [change.files for change in changes] == [(f"f{number}.py",) for number in range(60)]
    assert [change.extent for change in changes] == ["names" if number % 7 else "whole" for number in range(60)]


def test_borrowed_objects_are_read_and_their_loss_is_told(line: GitRepo, tmp_path: Path, home: Path) -> None:
    shared = tmp_path / "shared"
    subprocess.run(["git", "clone", "-q", "--shared", line.path, str(shared)], env=environment({}), check=True)
    engine, report = ingest(str(shared), home)
    assert report.added == 8
    os.rename(line.path, line.path + "-moved")
    with pytest.raises(GitFailed):
        engine.ingest_history()
    assert len(memories(engine)) == 8


# --- objects -------------------------------------------------------------------------------------------------------------


def damage(repo: GitRepo, name: str) -> None:
    """Turns a loose object into noise."""
    sha = repo.git("rev-parse", name)
    path = Path(repo.path, ".git/objects", sha[:2], sha[2:])
    path.chmod(0o644)
    path.write_bytes(b"noise" * 9)


@pytest.mark.parametrize(("name", "files"), [("{}:f4.py", ("f4.py",)), ("{}^{{tree}}", ())])
def test_a_damaged_object_costs_its_commits_their_contents(line: GitRepo, home: Path, name: str, files: tuple[str, ...]) -> None:
    damage(line, name.format(line.made[4]))
    engine, report = ingest(line, home)
    assert (report.added, report.broken) == (8, "")
    assert 1 <= report.unreadable <= 2
    assert change_of(engine, line.made[4]).files == files
    assert [change_of(engine, sha).lines_added for sha in line.made[:4] + line.made[6:]] == [3] * 6


def test_a_damaged_commit_ends_the_walk_and_loses_nothing(line: GitRepo, home: Path) -> None:
    engine, _ = ingest(line, home)
    line.commit("newer", {"n.py": "n\n"})
    damage(line, line.made[4])
    report = engine.ingest_history()
    assert (report.added, report.dropped) == (1, 0)
    assert line.made[4] in report.broken
    assert len(memories(engine)) == 9


def test_replaced_and_grafted_commits_are_read_as_they_are(line: GitRepo, home: Path) -> None:
    other = made(line, *PEOPLE, body="forged words\n")
    line.git("replace", line.made[3], other)
    Path(line.path, ".git/info/grafts").write_text(f"{line.made[6]} {line.made[0]}\n")
    engine, report = ingest(line, home)
    assert report.added == 8
    assert change_of(engine, line.made[3]).subject == "change number 3"
    line.git("replace", "-d", line.made[3])
    assert engine.ingest_history().dropped == 0


def test_notes_and_a_mailmap_change_nothing(line: GitRepo, home: Path) -> None:
    line.git("notes", "add", "-m", "a noted word", line.made[2])
    line.commit("map", {".mailmap": "Other Name <other@example.org> <ada@example.org>\n"})
    engine, report = ingest(line, home)
    assert report.added == 9
    assert memories(engine)[line.made[2]].author == "Ada Example"
    assert memories(engine)[line.made[2]].detail == ""


def test_a_repository_with_sha256_names(tmp_path: Path, home: Path) -> None:
    os.makedirs(tmp_path / "repo")
    subprocess.run(["git", "init", "-q", "-b", "main", "--object-format=sha256", str(tmp_path / "repo")], check=True)
    repo = GitRepo(tmp_path / "repo")
    target = repo.commit("cache logins", {"a.py": "cached = 1\n"})
    assert len(target) == 64
    revert = repo.revert(target, "They went stale.")
    engine, report = ingest(repo, home)
    assert (report.added, report.failed) == (2, 1)
    assert memories(engine)[target].because.startswith(f"taken back by {revert[:10]}")
    assert read_relations(repo, revert) == [Relation("reverts", target)]


def read_relations(repo: GitRepo, sha: str) -> list[Relation]:
    [change] = read_commits(repo.path, [sha])
    return list(change.relations)


# --- what a commit may hold ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stamp",
    [
        "0",
        "-5",
        "2147483648",
        "4102444800",
        "9223372036854775808",
        "18446744073709551621",
        "1" + "0" * 30,
        "abc",
        "",
        "5 +9999999",
    ],
)
def test_any_time_is_borne(repo: GitRepo, home: Path, stamp: str) -> None:
    zone = "" if " " in stamp else " +0000"
    sha = made(repo, f"author A <a@b> {stamp}{zone}", f"committer A <a@b> {stamp}{zone}", body="timeless words\n")
    repo.git("update-ref", "refs/heads/main", sha)
    engine, report = ingest(repo, home)
    assert report.added == 1
    assert 0 <= memories(engine)[sha].created_at <= 253_402_300_799_000
    assert sha in recalled(engine, "timeless words")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "body", "text"),
    [
        ((), "first\n\nbefore\0after", "first"),
        ((), "\0", ""),
        (("encoding ISO-8859-1",), "Gr\udcf6\udcdfe\n", "Größe"),
        (("encoding nonsense",), "Gr\udcf6 x\n", "Gr\ufffd x"),
        ((), "\udcff\udcfe words\n", "\ufffd\ufffd words"),
        (("encoding UTF-16",), "plain words\n", None),
        ((), "one\r\ntwo\r\n\r\nthree\r\n", "one two"),
        ((), "hid\u202eden \u200bwords\n", "hidden words"),
        ((), "\x1b[31mred\x1b[0m words\n", "red words"),
    ],
)
def test_messages_in_other_encodings_and_with_anything_in_them(
    repo: GitRepo, home: Path, header: tuple[str, ...], body: str, text: str | None
) -> None:
    sha = made(repo, *PEOPLE, *header, body=body)
    after = made(repo, f"parent {sha}", *PEOPLE, body="after it\n")
    repo.git("update-ref", "refs/heads/main", after)
    engine, report = ingest(repo, home)
    assert report.added == 2
    assert memories(engine)[after].text == "after it"
    if text is not None:
        assert memories(engine)[sha].text == (text or sha[:10])


NAMES = (
    "-rf", "--upload-pack=touch pwned", "$(touch pwned)", "`touch pwned`", "; touch pwned", "new\nline", 'q"uo\'te', "\u202egnp.exe",
    "a\u0301\u00e1", "CON", "nul.", " lead and trail ", "%x00%H", ":(top)x", "*.py", "..", "a\\b", "\x01\x7f", "n" * 4096,
)  # fmt: skip


def test_hostile_names_of_files_are_names(repo: GitRepo, home: Path) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"word_in_it = 1\n")
    rows = b"".join(f"100644 blob {blob}\t{name}\0".encode() for name in NAMES)
    tree = repo.git("mktree", "-z", stdin=rows)
    sha = made(repo, *PEOPLE, tree=tree)
    repo.git("update-ref", "refs/heads/main", sha)
    [read] = read_commits(repo.path, [sha])
    assert set(read.files) == set(NAMES)
    engine, _ = ingest(repo, home)
    files = change_of(engine, sha).files
    assert len(files) == len(NAMES)
    assert all(name.isprintable() for name in files)
    assert not list(Path(repo.path).glob("**/pwned"))
    assert not Path("pwned").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["--upload-pack=touch", "$(touch)", "`touch`", "'q\"", "-x", "\u202eniam", "b" * 200, "a/b;c&d"])
def test_hostile_names_of_branches_are_names(repo: GitRepo, home: Path, name: str) -> None:
    sha = repo.commit("one", {"a.py": "x\n"})
    repo.git("update-ref", f"refs/heads/{name}", sha)
    repo.git("symbolic-ref", "HEAD", f"refs/heads/{name}")
    engine, report = ingest(repo, home)
    assert report.added == 1
    kept = memories(engine)[sha].branch
    assert kept.isprintable()
    assert kept.strip("?") == name.strip("\u202e")
    repo.commit("two", {"a.py": "y\n"})
    repo.git("update-ref", "-d", "refs/heads/main")
    assert engine.ingest_history().dropped == 0


def test_submodules_modes_and_line_ends(repo: GitRepo, home: Path) -> None:
    repo.commit("base", {"run.sh": "echo_it\n", "dos.txt": b"first_line\r\nsecond_line\r\n", "logo.png": b"\x89PNG\0\0one"})
    for target in ("a" * 40, "b" * 40):
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{target},lib/inner")
        submodule = repo.commit(f"inner at {target[:7]}")
    repo.git("update-index", "--chmod=+x", "run.sh")
    mode = repo.commit("executable")
    repo.git("checkout", "-q", "-f", "HEAD")
    lines = repo.commit("line ends", {"dos.txt": b"first_line\nsecond_line\n"})
    binary = repo.commit("logo", {"logo.png": b"\x89PNG\0\0two"})
    changes = {change.sha: change for change in read_commits(repo.path, repo.made)}
    assert (changes[submodule].files, changes[submodule].added, changes[submodule].removed) == (("lib/inner",), (), ())
    assert (changes[mode].files, changes[mode].lines_added) == (("run.sh",), 0)
    assert changes[lines].added == changes[lines].removed == ("first_line", "second_line")
    assert (changes[binary].files, changes[binary].lines_added) == (("logo.png",), 0)
    assert ingest(repo, home)[1].added == 6


TRAPS = """
[diff]
    external = TRAP
[diff "odd"]
    textconv = TRAP
    command = TRAP
    cachetextconv = true
[filter "odd"]
    clean = TRAP
    smudge = TRAP
    process = TRAP
    required = true
[merge "odd"]
    driver = TRAP %A
[core]
    pager = TRAP
    fsmonitor = TRAP
    hooksPath = .git/hooks
    editor = TRAP
    sshCommand = TRAP
    askPass = TRAP
    alternateRefsCommand = TRAP
[gpg]
    program = TRAP
[log]
    showSignature = true
[credential]
    helper = TRAP
[pager]
    log = TRAP
    rev-list = TRAP
    diff-tree = TRAP
[alias]
    rev-list = !TRAP
    diff-tree = !TRAP
[remote "origin"]
    uploadpack = TRAP
    url = ext::TRAP
"""


def test_nothing_that_a_repository_configures_is_run(repo: GitRepo, home: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    repo.commit("base", {"a.bin": "one\n", ".gitattributes": "* diff=odd filter=odd merge=odd\n"})
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    repo.git("reset", "-q", "--hard", made(repo, f"parent {repo.made[-1]}", *PEOPLE, signature))
    repo.commit("more", {"a.bin": "two\n"})
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        shutil.copy(trap, os.path.join(repo.path, ".git/hooks", name))
    with open(os.path.join(repo.path, ".git/config"), "a", encoding="utf-8") as config:
        config.write(TRAPS.replace("TRAP", str(trap)))
    engine, report = ingest(repo, home)
    assert (report.added, report.unreadable) == (3, 0)
    Path(repo.path, ".git/refs/heads/main").write_text(repo.made[0] + "\n")
    assert engine.ingest_history().dropped == 2
    history.preview(engine, 100)
    assert not (tmp_path / "sprung").exists()


def test_what_is_too_large_is_capped_and_told(repo: GitRepo, home: Path) -> None:
    repo.commit("small", {"a.py": "small\n"})
    repo.commit("many files", {f"d/{number:03}.txt": "x\n" for number in range(60)})
    repo.commit("a large diff", {"large.txt": "a_line_of_text\n" * 40_000})
    repo.commit("a long message\n\n" + "word " * 40_000, {"b.py": "after_it\n"})
    repo.commit("p" * 3_000, {"c.py": "x\n"})
    engine, report = ingest(repo, home)
    assert (report.added, report.capped) == (5, 3)
    found = {memory.text: change_of(engine, sha) for sha, memory in memories(engine).items()}
    assert len(found["many files"].files) == 40
    assert found["a large diff"].lines_added == 40_000
    assert found["a long message"].files == ("b.py",)
    assert len(found["p" * 1_000].body) == 2_000


def test_a_message_of_many_megabytes_is_held_in_part(repo: GitRepo) -> None:
    sha = made(repo, *PEOPLE, body="subject\n\n" + "word " * 3_000_000)
    repo.commit("next", {"a.py": "name_here\n"})
    import tracemalloc

    tracemalloc.start()
    first, second = read_commits(repo.path, [sha, repo.made[-1]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (first.subject, first.extent, second.added) == ("subject", "capped", ("name_here",))
    assert peak < 6_000_000


# --- git itself ----------------------------------------------------------------------------------------------------------


def test_an_ingest_without_git_is_told_and_keeps_what_is_there(
    line: GitRepo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = ingest(line, home)
    monkeypatch.setenv("PATH", line.path)
    with pytest.raises(GitFailed, match="could not be started") as caught:
        engine.ingest_history()
    assert "install git" in caught.value.remedy
    assert len(memories(engine)) == 8


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_refused_with_the_way_out(line: GitRepo, home: Path) -> None:
    engine, _ = ingest(line, home)
    for folder, _, names in os.walk(line.path):
        for name in (folder, *(os.path.join(folder, name) for name in names)):
            os.chown(name, 12_345, 12_345)
    with pytest.raises(GitFailed, match="dubious ownership") as caught:
        engine.ingest_history()
    assert f"safe.directory {line.path}" in caught.value.remedy
    assert unreached(os.path.join(line.path, ".git"), line.made) is None


# --- rewritten history ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(line: GitRepo, home: Path) -> Iterator[Engine]:
    """The memory of ``line``, read."""
    engine, _ = ingest(line, home)
    yield engine
    engine.close()


def amend(repo: GitRepo, message: str) -> str:
    repo.git("commit", "-q", "--amend", "-m", message, env=repo._dates(None))
    return repo.head()


def test_an_amended_commit_leaves_no_duplicate(line: GitRepo, kept: Engine) -> None:
    new = amend(line, "change number 7, said better")
    report = kept.ingest_history()
    assert (report.added, report.dropped) == (1, 1)
    assert set(memories(kept)) == {*line.made[:7], new}
    assert recalled(kept, "change number 7 name_7") & {line.made[7], new} == {new}
    whole(kept)


def test_rebased_commits_leave_no_duplicates(line: GitRepo, kept: Engine) -> None:
    line.git("checkout", "-q", "-b", "topic", line.made[3])
    line.commit("topic begins", {"t.py": "topic_begins\n"})
    line.commit("topic ends", {"t.py": "topic_begins\ntopic_ends\n"})
    kept.ingest_history()
    old = line.made[-2:]
    line.git("rebase", "-q", "main", env=line._dates(None))
    report = kept.ingest_history()
    assert (report.added, report.dropped) == (2, 2)
    assert len(memories(kept)) == 10
    assert not memories(kept).keys() & set(old)
    whole(kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    "keep",
    [
        ["branch", "other", "{}"],
        ["tag", "v1", "{}"],
        ["tag", "-a", "-m", "x", "v1", "{}"],
        ["update-ref", "refs/remotes/origin/main", "{}"],
        ["update-ref", "refs/pull/7/head", "{}"],
        ["worktree", "add", "-q", "--detach", "../worktree", "{}"],
        ["update-ref", "refs/stash", "{}"],
    ],
)
def test_what_some_ref_reaches_stays(line: GitRepo, kept: Engine, keep: list[str]) -> None:
    line.git(*(word.format(line.made[7]) for word in keep))
    line.git("reset", "-q", "--hard", line.made[4])
    assert kept.ingest_history().dropped == 0
    assert len(memories(kept)) == 8
    if keep[0] == "worktree":
        line.git("worktree", "remove", "--force", "../worktree")
        assert kept.ingest_history().dropped == 3


def test_an_older_stash_keeps_what_it_was_made_on(line: GitRepo, kept: Engine) -> None:
    line.write({"f0.py": "first try\n"})
    line.git("stash")
    line.git("reset", "-q", "--hard", line.made[2])
    line.write({"f0.py": "second try\n"})
    line.git("stash")
    assert kept.ingest_history().dropped == 0
    line.git("stash", "drop", "stash@{1}")
    assert kept.ingest_history().dropped == 5


def test_backups_of_a_rewritten_branch_keep_nothing(line: GitRepo, kept: Engine) -> None:
    line.git("update-ref", "refs/original/refs/heads/main", line.made[7])
    line.git("reset", "-q", "--hard", line.made[4])
    assert kept.ingest_history().dropped == 3


def test_another_checkout_drops_nothing(line: GitRepo, kept: Engine) -> None:
    line.checkout(line.made[2])
    assert kept.ingest_history().dropped == 0
    line.git("checkout", "-q", "--orphan", "fresh")
    line.git("rm", "-rfq", ".")
    assert kept.ingest_history().dropped == 0
    line.commit("fresh start", {"new.py": "x\n"})
    report = kept.ingest_history()
    assert (report.added, report.dropped) == (1, 0)
    assert len(memories(kept)) == 9


def test_a_branch_that_comes_back_is_read_again(line: GitRepo, kept: Engine) -> None:
    line.git("reset", "-q", "--hard", line.made[4])
    assert kept.ingest_history().dropped == 3
    line.git("reset", "-q", "--hard", line.made[7])
    assert kept.ingest_history().added == 3
    assert set(memories(kept)) == set(line.made)
    whole(kept)


def speak(engine: Engine, sha: str) -> None:
    """A person's word about a change, as any verb would journal it."""
    with engine.write() as writer:
        [memory] = writer.get(writer.lookup(sha))
        writer.put(memory.replace(trust="confirmed"))
        writer.log("trust", memory, PERSON.origin, NOW, payload="history>confirmed")


def test_what_somebody_spoke_of_stays_but_is_not_recalled(line: GitRepo, kept: Engine) -> None:
    speak(kept, line.made[6])
    line.git("reset", "-q", "--hard", line.made[4])
    report = kept.ingest_history()
    assert (report.dropped, report.silent) == (2, 1)
    assert memories(kept)[line.made[6]].status == "expired"
    assert memories(kept)[line.made[6]].trust == "confirmed"
    assert line.made[6] not in recalled(kept, "change number 6 name_6")
    assert kept.ingest_history() == IngestReport(seen=5, added=0, known=5)
    line.git("reset", "-q", "--hard", line.made[7])
    report = kept.ingest_history()
    assert (report.added, report.restored) == (2, 1)
    assert memories(kept)[line.made[6]].status == "active"
    assert line.made[6] in recalled(kept, "change number 6 name_6")
    whole(kept)


def test_what_was_decided_about_a_change_stands(line: GitRepo, kept: Engine) -> None:
    speak(kept, line.made[7])
    with kept.write() as writer:
        writer.put(writer.get(writer.lookup(line.made[7]))[0].replace(status="rejected"))
    line.git("reset", "-q", "--hard", line.made[4])
    assert kept.ingest_history().silent == 0
    assert memories(kept)[line.made[7]].status == "rejected"
    line.git("reset", "-q", "--hard", line.made[7])
    kept.ingest_history()
    assert memories(kept)[line.made[7]].status == "rejected"


def test_a_change_that_a_memory_is_tied_to_stays(line: GitRepo, kept: Engine) -> None:
    note = kept.record(Draft("the seventh change was a mistake"), PERSON)
    with kept.write() as writer:
        writer.link(note.id, "contradicts", writer.lookup(line.made[6])[0])
    line.git("reset", "-q", "--hard", line.made[4])
    assert kept.ingest_history().silent == 1
    with kept.store.read() as reader:
        assert [link.target for link in reader.links(note.id)] == reader.lookup(line.made[6])


def test_a_revert_that_was_dropped_gives_its_target_back(line: GitRepo, kept: Engine) -> None:
    line.revert(line.made[5], "It was wrong.")
    fixed = line.commit(f"fix names\n\nFixes: {line.made[3][:12]}\n", {"f3.py": "fixed\n"})
    assert kept.ingest_history().failed == 1
    target, mended = line.made[5], line.made[3]
    assert memories(kept)[target].outcome == "failed"
    assert fixed[:10] in memories(kept)[mended].because
    line.git("reset", "-q", "--hard", line.made[7])
    assert kept.ingest_history().failed == 0
    assert (memories(kept)[target].outcome, memories(kept)[target].because) == (None, "")
    assert memories(kept)[mended].because == ""
    whole(kept)


def test_a_revert_that_only_somebodys_word_keeps_takes_nothing_back(line: GitRepo, kept: Engine) -> None:
    revert = line.revert(line.made[5], "It was wrong.")
    kept.ingest_history()
    speak(kept, revert)
    line.git("reset", "-q", "--hard", line.made[7])
    report = kept.ingest_history()
    assert (report.silent, report.failed) == (1, 0)
    line.git("reset", "-q", "--hard", revert)
    assert kept.ingest_history().failed == 1


def test_a_rewritten_revert_takes_the_place_of_the_old_one(line: GitRepo, kept: Engine) -> None:
    line.revert(line.made[5], "It was wrong.")
    kept.ingest_history()
    message = line.git("show", "-s", "--format=%B").replace("wrong", "too slow")
    new = amend(line, message)
    report = kept.ingest_history()
    assert (report.added, report.dropped, report.failed) == (1, 1, 1)
    assert memories(kept)[line.made[5]].because.startswith(f"taken back by {new[:10]}")
    assert "too slow" in memories(kept)[line.made[5]].because


# --- several folders -----------------------------------------------------------------------------------------------------


@pytest.fixture
def second(line: GitRepo, tmp_path: Path, kept: Engine, home: Path) -> GitRepo:
    """Another clone that belongs to the same memory."""
    line.git("remote", "add", "origin", "https://example.org/line.git")
    kept = engine_of(line.path, home)
    copy = clone(line, tmp_path / "second")
    copy.git("remote", "set-url", "origin", "https://example.org/line.git")
    assert engine_of(copy.path, home).repository == kept.repository
    return copy


def test_what_another_folder_reaches_stays(line: GitRepo, second: GitRepo, home: Path) -> None:
    line.git("reset", "-q", "--hard", line.made[4])
    line.git("reflog", "expire", "--expire=now", "--all")
    line.git("gc", "-q", "--prune=now")
    engine, report = ingest(line, home)
    assert (report.dropped, report.unseen) == (0, ())
    second.git("reset", "-q", "--hard", line.made[4])
    second.git("update-ref", "-d", "refs/remotes/origin/main")
    second.git("update-ref", "--no-deref", "-d", "refs/remotes/origin/HEAD")
    assert engine.ingest_history().dropped == 3


@pytest.mark.slow
@pytest.mark.parametrize("how", ["moved", "emptied", "damaged", "within another"])
def test_a_folder_that_cannot_be_asked_is_no_reason_to_drop(line: GitRepo, second: GitRepo, home: Path, how: str) -> None:
    if how == "moved":
        os.rename(second.path, second.path + "-moved")
    elif how == "emptied":  # as where a disk is not mounted
        shutil.rmtree(second.path)
        os.mkdir(second.path)
    elif how == "damaged":
        Path(second.path, ".git/packed-refs").unlink(missing_ok=True)
        Path(second.path, ".git/refs/heads/main").write_text("1" * 40 + "\n")
    else:
        shutil.rmtree(os.path.join(second.path, ".git"))
        GitRepo(os.path.dirname(second.path)).commit("outer")
    line.git("reset", "-q", "--hard", line.made[4])
    engine, report = ingest(line, home)
    assert report.dropped == 0
    assert report.unseen == (os.path.join(second.path, ".git"),)
    assert len(memories(engine)) == 8


# --- references ----------------------------------------------------------------------------------------------------------


def test_what_references_mean_does_not_depend_on_the_order_of_arrival(tmp_path: Path) -> None:
    prefix = "abcdef1"
    found = [
        Change(sha=prefix + "0" * 33, at=1, subject="one (#5)", pull_request=5),
        Change(sha=prefix + "1" * 33, at=2, subject="two (#5)", pull_request=5),
        Change(sha="2" * 40, at=3, subject="three", relations=(Relation("reverts", prefix), Relation("fixes", "#5"))),
    ]
    told = []
    for number, order in enumerate(([0, 2, 1], [0, 1, 2], [2, 1, 0])):
        engine = opening.open_store(str(tmp_path / f"{number}.db"), clock=lambda: NOW, entropy=bytes)
        for place in order:
            engine.add_changes([found[place]])
            engine.settle_history()
        with engine.store.read() as reader:
            told.append(
                (reader.relations(("reverts", "fixes")), {sha: memory.outcome for sha, memory in memories(engine).items()})
            )
        engine.close()
    assert told[0] == told[1] == told[2]
    assert told[0][0] == []


# --- two at once, interruptions ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Some 1,500 commits."""
    return make_large(tmp_path_factory.mktemp("long") / "repo", 1_500)


_WORKER = (
    "import json, sys; from hardwon.engine import opening\n"
    "engine = opening.create(sys.argv[1], sys.argv[2])\n"
    "print(json.dumps(vars(engine.ingest_history())))"
)


def worker(path: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _WORKER, path, str(home)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_two_at_once_do_everything_once(long: str, home: Path) -> None:
    both = [worker(long, home) for _ in range(2)]
    reports = []
    for process in both:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        reports.append(json.loads(out))
    assert sorted(report["added"] for report in reports) == [0, 1_500]
    engine, report = ingest(long, home)
    assert (report.added, report.known) == (0, 1_500)
    whole(engine)


def test_one_that_stands_still_holds_nobody_up(line: GitRepo, home: Path) -> None:
    engine = engine_of(line.path, home, wait=0.1)
    other = engine.store.queue("history")
    other.acquire(1)
    try:
        assert engine.ingest_history().added == 8
    finally:
        other.release()


def test_the_second_reads_what_the_first_left_over(line: GitRepo, home: Path) -> None:
    engine = engine_of(line.path, home)
    turn = engine.store.queue("history")
    turn.acquire(1)
    found: list[IngestReport] = []
    waiting = threading.Thread(target=lambda: found.append(engine_of(line.path, home).ingest_history()))
    waiting.start()
    engine.add_changes(read_commits(line.path, line.made[:5]))
    turn.release()
    waiting.join(30)
    assert len(memories(engine)) == 8
    assert found[0].added == 3


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_done_and_the_next_goes_on(long: str, home: Path) -> None:
    def interrupt(done: int, of: int) -> None:
        if done >= 600:
            raise KeyboardInterrupt

    engine = engine_of(long, home)
    with pytest.raises(KeyboardInterrupt):
        engine.ingest_history(100_000, interrupt)
    engine.settle_history()
    assert len(memories(engine)) == 600
    report = engine.ingest_history()
    assert (report.added, report.known) == (900, 600)
    whole(engine)


@pytest.mark.slow
def test_an_ingest_that_is_killed_again_and_again_ends_in_the_same_store() -> None:
    bench = Path(__file__).parents[1] / "bench" / "ingest.py"
    done = subprocess.run(
        [sys.executable, str(bench), "--commits", "2000", "--kills", "6", "--seed", "7"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# --- a look before -------------------------------------------------------------------------------------------------------

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_preview_tells_what_an_ingest_does_and_writes_nothing(line: GitRepo, home: Path) -> None:
    engine, _ = ingest(line, home)
    line.git("reset", "-q", "--hard", line.made[5])
    line.commit(f"use the token {SECRET}", {f"keys/{SECRET}.py": f"token = '{SECRET}'\n"}, author=f"{SECRET} <a@b>")
    line.commit("many files", {f"d/{number:03}.txt": "x\n" for number in range(60)})
    before = contents(home)
    told = history.preview(engine, 100_000)
    assert contents(home) == before
    assert (told.added, told.known, told.capped, told.dropped) == (2, 6, 1, 2)
    assert told.redacted == 4  # in the message, the line, the file's name and the author's
    assert engine.ingest_history() == told
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in (home / "stores").iterdir())


def test_a_preview_without_git_is_empty(tmp_path: Path, home: Path) -> None:
    assert history.preview(engine_of(str(tmp_path), home), 100) == IngestReport(0, 0, 0)


def test_another_redactor_can_be_given(line: GitRepo, home: Path) -> None:
    def shout(text: str) -> tuple[str, int]:
        return text.replace("number", "[redacted:word]"), text.count("number")

    engine = engine_of(line.path, home)
    assert history.preview(engine, 100, choose=lambda _: shout).redacted == 8
    assert history.ingest(engine, 100, None, lambda _: shout).redacted == 8
    assert all("[redacted:word]" in memory.text for memory in memories(engine).values())


# --- the parts -----------------------------------------------------------------------------------------------------------


def test_the_walk_tells_of_its_edge_and_its_end(line: GitRepo, tmp_path: Path) -> None:
    shallow = clone(line, tmp_path / "shallow", "--depth=2")
    assert walk(shallow.path).edge == {line.made[6]}
    assert walk(line.path).edge == frozenset()
    assert walk(line.path, 8).windowed is False
    assert walk(line.path, 7).windowed is True
    assert walk(line.path, 7).shas == tuple(list_commits(line.path, 7)) == tuple(reversed(line.made[1:]))


def test_what_no_ref_reaches_is_told_for_known_and_unknown_hashes(line: GitRepo) -> None:
    folder = os.path.join(line.path, ".git")
    assert unreached(folder, [*line.made, "a" * 40]) == {"a" * 40}
    assert unreached(folder, []) == set()
    line.git("reset", "-q", "--hard", line.made[5])
    assert unreached(folder, line.made) == set(line.made[6:])


def test_a_plain_folder_reaches_nothing(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "file").write_text("x")
    assert unreached(str(tmp_path / "plain"), ["a" * 40]) == {"a" * 40}
    assert unreached(str(tmp_path / "nowhere"), ["a" * 40]) is None


@pytest.mark.slow
def test_the_slices_are_small(long: str) -> None:
    sizes = [len(batch) for batch in engine_changes.batches(read_commits(long, list_commits(long, 450)))]
    assert sizes == [100, 100, 100, 100, 50]
