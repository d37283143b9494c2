"""Confirmed memories travel through the repository itself: one file each, merged by git, believed in a clone once it is approved."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.engine import opening
from hardwon.engine.sharing import share
from hardwon.errors import InvalidInput
from hardwon.importers.shared import FOLDER
from hardwon.types import Draft, Filter, Origin, Revision, Scope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hardwon.engine.core import Engine
    from hardwon.engine.sharing import ShareReport
    from tests.gitmaker import GitRepo

PERSON, AGENT = Scope(Origin("person")), Scope(Origin("agent", "codex", "s1"))


def put(engine: Engine, where: Filter = Filter(), *, dry_run: bool = False) -> ShareReport:  # noqa: B008
    def write(path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    return share(engine, where, write, dry_run=dry_run)


@pytest.fixture
def shop(repo: GitRepo, open_at: Callable[[str], Engine]) -> Engine:
    repo.commit("start", {"a.py": "x = 1\n"})
    return open_at(repo.path)


def cloned(repo: GitRepo, where: Path) -> Engine:
    """A clone of somebody else's, who has a memory of their own."""
    subprocess.run(["git", "clone", "-q", repo.path, str(where)], check=True, capture_output=True)
    return opening.create(str(where), f"{where}.home")


def test_a_confirmed_memory_is_shared_and_comes_into_a_clone_as_an_import(repo: GitRepo, shop: Engine, tmp_path: Path) -> None:
    kept = shop.record(Draft(text="Sessions live in Redis", kind="decision", because="cookies were too large"), PERSON)
    shop.record(Draft(text="Only a claim", kind="decision"), AGENT)
    shop.record(Draft(text="My own", kind="rule", visibility="private"), PERSON)
    report = put(shop)
    assert report.written == (f"{FOLDER}/{kept.id}.json",) and put(shop).unchanged == 1
    repo.git("add", "-A")
    repo.git("commit", "-qm", "share")
    other = cloned(repo, tmp_path / "clone")
    taken = other.ingest_shared(AGENT)
    assert (taken.new, other.ingest_shared(AGENT).known) == (1, 1)
    memory = other.show(kept.id, PERSON)[0]
    assert (memory.trust, memory.text, memory.because) == ("imported", "Sessions live in Redis", "cookies were too large")
    assert not other.brief(AGENT).hits  # until it is approved there
    other.approve(kept.id, PERSON)
    assert [hit.memory.id for hit in other.brief(AGENT).hits] == [kept.id]


def test_the_same_memory_makes_the_same_file_however_often_it_happened(shop: Engine, repo: GitRepo) -> None:
    kept = shop.record(Draft(text="The pool runs dry", kind="lesson", outcome="failed", session="s9"), PERSON)
    put(shop)
    path = os.path.join(repo.path, FOLDER, f"{kept.id}.json")
    with open(path, encoding="utf-8") as file:
        first = file.read()
    shop.record(Draft(text="The pool runs dry", kind="lesson", outcome="failed", session="s10"), PERSON)
    assert put(shop).unchanged == 1 and "s9" not in first
    assert not {"origin", "aliases", "occurrences", "seen"}.intersection(json.loads(first))


def test_newer_words_follow_and_a_clone_gets_them(repo: GitRepo, shop: Engine, tmp_path: Path) -> None:
    kept = shop.record(Draft(text="Retry twice", kind="rule"), PERSON)
    put(shop)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "share")
    other = cloned(repo, tmp_path / "clone")
    other.ingest_shared(AGENT)
    shop.revise(kept.id, Revision(text="Retry three times"), PERSON)
    assert put(shop).written == (f"{FOLDER}/{kept.id}.json",)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "share again")
    subprocess.run(["git", "-C", str(tmp_path / "clone"), "pull", "-q"], check=True)
    assert other.ingest_shared(AGENT).repeated == 1
    assert other.show(kept.id, PERSON)[0].text == "Retry three times"


def test_two_branches_that_share_other_memories_merge(repo: GitRepo, shop: Engine) -> None:
    first = shop.record(Draft(text="First", kind="rule"), PERSON)
    second = shop.record(Draft(text="Second", kind="rule"), PERSON)
    for branch, kept in (("one", first), ("two", second)):
        repo.git("checkout", "-q", "-B", branch, "main")
        put(shop, Filter(ids=(kept.id,)))
        repo.git("add", "-A")
        repo.git("commit", "-qm", branch)
    repo.git("merge", "-q", "--no-edit", "one")
    assert len(os.listdir(os.path.join(repo.path, FOLDER))) == 2


def test_an_unresolved_conflict_and_a_foreign_name_are_told_and_the_rest_goes_in(shop: Engine, repo: GitRepo) -> None:
    kept = shop.record(Draft(text="Fine", kind="rule"), PERSON)
    put(shop)
    folder = os.path.join(repo.path, FOLDER)
    for name, text in (("a.json", "<<<<<<< HEAD\n{}\n"), ("b.json", '{"text": "no id"}'), ("c.json", "no json")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    report = shop.ingest_shared(AGENT)
    assert (report.bad, report.known) == (3, 1)
    assert "conflict" in report.troubles[0].what
    assert put(shop).removed == () and shop.show(kept.id, PERSON)[0].status == "active"


@pytest.mark.parametrize("what", ["forgotten", "rejected", "private"])
def test_what_is_set_aside_here_loses_its_file_and_unknown_files_stay(shop: Engine, repo: GitRepo, what: str) -> None:
    kept = shop.record(Draft(text="Old", kind="rule"), PERSON)
    put(shop)
    stranger = os.path.join(repo.path, FOLDER, "01a22c77-a3df-7e2c-bad0-f4a1b4c48f43.json")
    with open(stranger, "w", encoding="utf-8") as file:
        file.write(json.dumps({"hardwon": 1, "id": "01a22c77-a3df-7e2c-bad0-f4a1b4c48f43", "text": "of somebody else"}))
    if what == "forgotten":
        shop.forget(Filter(ids=(kept.id,)), PERSON, dry_run=False)
    elif what == "rejected":
        shop.reject(kept.id, PERSON)
    else:
        with shop.write() as writer:
            (memory,) = writer.get([kept.id])
            writer.put(memory.replace(visibility="private"))
    assert put(shop, dry_run=True).removed == put(shop).removed == (f"{FOLDER}/{kept.id}.json",)
    assert os.listdir(os.path.dirname(stranger)) == [os.path.basename(stranger)]


def test_a_file_that_was_changed_in_the_repository_is_not_overwritten(shop: Engine, repo: GitRepo) -> None:
    kept = shop.record(Draft(text="Retry twice", kind="rule"), PERSON)
    put(shop)
    path = os.path.join(repo.path, FOLDER, f"{kept.id}.json")
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    data["text"] = "Retry five times"
    data["versions"].append({"version": 2, "recorded_at": "2030-01-01T00:00:00Z"})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file)
    assert put(shop).conflicts == (f"{FOLDER}/{kept.id}.json",)


def test_a_folder_that_is_a_link_is_neither_read_nor_written(shop: Engine, repo: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.makedirs(os.path.join(repo.path, ".hardwon"))
    os.symlink(tmp_path / "elsewhere", os.path.join(repo.path, FOLDER))
    shop.record(Draft(text="Fine", kind="rule"), PERSON)
    with pytest.raises(InvalidInput):
        put(shop)
    assert shop.ingest_shared(AGENT).new == 0 and not os.listdir(tmp_path / "elsewhere")


def test_the_verbs_share_and_take_in(project: Path, call: Callable[..., Any]) -> None:
    call("record", "--kind", "rule", "Only a claim")
    assert call("share", "--json").data["written"] == []
    assert "approve" in call("share").out
    assert call("ingest", "shared", "--json").data["new"] == 0


# --- a passage in a file of instructions


def test_the_passage_replaces_itself_and_nothing_else(shop: Engine, repo: GitRepo, call: Callable[..., Any]) -> None:
    path = os.path.join(repo.path, "AGENTS.md")
    before = b"# Mine\r\n\r\nKeep this.\r\n"
    with open(path, "wb") as file:
        file.write(before)
    os.chmod(path, 0o640)
    kept = shop.record(Draft(text="Run --> the <!-- migrations", kind="rule"), PERSON)
    shop.record(Draft(text="A claim", kind="rule"), AGENT)
    done = call("-C", repo.path, "export", path, "--format", "agents-md", "--json")
    assert done.data["memories"] == 1
    with open(path, "rb") as file:
        written = file.read()
    assert written.startswith(before) and b"Run -- > the < !-- migrations" in written and b"A claim" not in written
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert call("-C", repo.path, "export", path, "--format", "agents-md", "--json").data["changed"] is False
    assert call("-C", repo.path, "export", path, "--format", "agents-md").out.strip() == f"{path} is up to date"
    shop.reject(kept.id, PERSON)
    call("-C", repo.path, "export", path, "--format", "agents-md")
    with open(path, "rb") as file:
        assert file.read() == before


def test_where_there_is_nothing_to_write_no_file_is_made_and_it_is_said(
    shop: Engine, repo: GitRepo, call: Callable[..., Any]
) -> None:
    shop.record(Draft(text="A claim", kind="rule", tags=("ci",)), AGENT)
    words = ("-C", repo.path, "export", "--format", "agents-md", "new.md")
    done = call(*words)
    assert (done.code, done.out.startswith("nothing to write: no rule, decision, how-to or lesson is confirmed or proven")) == (
        0,
        True,
    )
    assert "no memory that matches" in call(*words, "--tag", "ci").out
    assert not os.path.exists(os.path.join(repo.path, "new.md"))
    for name in ("nofolder/new.md", "a.py/new.md"):
        done = call("-C", repo.path, "export", "--format", "agents-md", name)
        assert done.code == 2 and name in done.err
        done = call("-C", repo.path, "export", name)
        assert done.code == 2 and name in done.err
