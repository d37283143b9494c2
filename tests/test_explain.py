"""The verb ``explain``, with real git: the commits behind lines, what became of them, and what was recorded about them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import hardwon
from hardwon.doors.places import range_of, split
from hardwon.errors import InvalidInput
from tests.conftest import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result
    from tests.gitmaker import GitRepo

V1 = "def upload(part):\n    send(part)\n    return True\n\n\ndef other():\n    return 1\n"
V2 = V1.replace("    send(part)\n", "    for attempt in range(2):\n        send(part, attempt)\n")
V3 = V2.replace("range(2)", "range(3)")


@pytest.fixture
def story(repo: GitRepo, call: Callable[..., Result]) -> GitRepo:
    """A line with three states, a rename in between, a pull request, and a memory of it all."""
    repo.names["made"] = repo.commit("upload: send parts", {"src/upload.py": V1})
    repo.names["twice"] = repo.commit(
        "upload: try twice (#7)\n\nThe gateway drops the first request after a restart.\n", {"src/upload.py": V2}
    )
    repo.rename("src/upload.py", "src/sending.py")
    repo.names["renamed"] = repo.commit("call it sending")
    repo.names["thrice"] = repo.commit(f"upload: try three times\n\nFixes: {repo.names['twice'][:12]}\n", {"src/sending.py": V3})
    made = call("init", cwd=repo.path)
    assert made.code == 0, made
    return repo


def changes(found: Result) -> list[tuple[str, str]]:
    return [(one["commit"], one["role"]) for one in found.data["changes"]]


def test_a_line_tells_who_made_it_and_who_changed_it_before(story: GitRepo, call: Callable[..., Result]) -> None:
    found = call("explain", "src/sending.py:2", "--json", cwd=story.path)
    assert found.code == 0, found
    names = story.names
    assert changes(found) == [(names["thrice"], "lines"), (names["twice"], "earlier"), (names["made"], "earlier")]
    assert found.data["place"] == {"path": "src/sending.py", "first": 2, "last": 2, "symbol": "upload", "uncommitted": 0}
    twice = found.data["changes"][1]
    assert twice["pull_request"] == 7 and "drops the first request" in twice["body"] and twice["memory"]["kind"] == "change"
    assert [(link["kind"], link["text"]) for link in found.data["changes"][0]["links"]] == [("fixes", "upload: try twice (#7)")]
    assert names["thrice"][:10] in found.data["block"]
    around = call("explain", "src/sending.py:4", "--json", cwd=story.path)
    assert changes(around) == [(names["made"], "lines"), (names["thrice"], "symbol"), (names["twice"], "symbol")]


def test_a_renamed_file_is_followed(story: GitRepo, call: Callable[..., Result]) -> None:
    found = call("explain", "src/sending.py:6", "--json", cwd=story.path)
    assert changes(found)[0] == (story.names["made"], "lines")
    assert found.data["changes"][0]["path"] == "src/upload.py"
    page = call("explain", "src/sending.py:6", cwd=story.path)
    assert "as src/upload.py" in page.out and "upload: send parts" in page.out


def test_ranges_and_whole_files(story: GitRepo, call: Callable[..., Result]) -> None:
    whole = call("explain", "src/sending.py", "--json", cwd=story.path)
    assert [one["lines"] for one in whole.data["changes"]] == [6, 1, 1]
    assert whole.data["place"]["last"] == 8 and whole.data["place"]["symbol"] == ""
    part = call("explain", "src/sending.py:2-3", "--json", cwd=story.path)
    assert {sha for sha, role in changes(part) if role == "lines"} == {story.names["thrice"], story.names["twice"]}
    assert call("explain", "sending.py:2:9", "--json", cwd=os.path.join(story.path, "src")).data["place"]["first"] == 2


def test_white_space_alone_made_nothing(story: GitRepo, call: Callable[..., Result]) -> None:
    story.commit("reindent", {"src/sending.py": V3.replace("    ", "\t")})
    assert changes(call("explain", "src/sending.py:2", "--json", cwd=story.path))[0] == (story.names["thrice"], "lines")


def test_what_was_recorded_comes_with_it_decisions_first(story: GitRepo, call: Callable[..., Result]) -> None:
    call("fail", "upload", "the second try doubles parts", "--file", "src/sending.py", cwd=story.path)
    call("record", "--kind", "decision", "Three tries, then give up", "--because", "the gateway needs 20 s", "--rejected", "endless tries",
         "--file", "src/sending.py", "--symbol", "upload", cwd=story.path)  # fmt: skip
    call("record", "Files here are sorted", "--file", "src/sending.py", cwd=story.path)
    call("fail", "upload", "of another file", "--file", "lib/upload.py", cwd=story.path)
    call("record", "Nothing to do with it", cwd=story.path)
    found = call("explain", "src/sending.py:3", "--json", cwd=story.path)
    told = [(one["memory"]["text"], one["why"][0]["signal"]) for one in found.data["memories"]]
    assert told == [
        ("Three tries, then give up", "symbol"),
        ("the second try doubles parts", "symbol"),
        ("Files here are sorted", "file"),
    ]
    assert "endless tries" in call("explain", "src/sending.py:3", cwd=story.path).out
    assert "Three tries" in found.data["block"]


def test_of_a_line_in_a_symbol_the_files_other_symbols_do_not_speak(story: GitRepo, call: Callable[..., Result]) -> None:
    for words in (["--symbol", "other"], ["--symbol", "upload"], []):
        about = " ".join(words) or "the file"
        assert call("record", f"of {about}", "--file", "src/sending.py", *words, cwd=story.path).code == 0

    def told(place: str) -> list[str]:
        return [one["memory"]["text"] for one in call("explain", place, "--json", cwd=story.path).data["memories"]]

    assert told("src/sending.py:2") == ["of --symbol upload", "of the file"]
    assert len(told("src/sending.py")) == 3
    renamed = V3.replace("def upload", "def send_twice")
    story.names["renamed again"] = story.commit("a better name", {"src/sending.py": renamed})
    assert call("ingest", "code", cwd=story.path).code == 0
    assert sorted(told("src/sending.py:2")) == ["of --symbol upload", "of the file"]


def test_what_is_linked_to_the_change_comes_too(story: GitRepo, call: Callable[..., Result]) -> None:
    call("record", "--kind", "decision", "Retries belong to the client", cwd=story.path)
    linked = call("link", "1", story.names["twice"], "--supports", cwd=story.path)
    assert linked.code == 0, linked
    found = call("explain", "src/sending.py:3", "--json", cwd=story.path)
    assert [(one["memory"]["text"], one["why"][0]["signal"]) for one in found.data["memories"]] == [
        ("Retries belong to the client", "linked to the change")
    ]


def test_what_was_taken_back_says_so(repo: GitRepo, call: Callable[..., Result]) -> None:
    repo.commit("start", {"a.py": "a = 1\n"})
    bad = repo.commit("cache it", {"a.py": "a = cached()\n"})
    back = repo.revert(bad, "It outlives a change of password.")
    call("init", cwd=repo.path)
    found = call("explain", "a.py:1", "--json", cwd=repo.path)
    assert changes(found)[:2] == [(back, "lines"), (bad, "earlier")]
    assert [(link["kind"], link["text"]) for link in found.data["changes"][0]["links"]] == [("reverts", "cache it")]


def test_lines_that_are_not_committed(story: GitRepo, call: Callable[..., Result]) -> None:
    story.write({"src/sending.py": V3.replace("return True", "return False  # mine")})
    found = call("explain", "src/sending.py:4", "--json", cwd=story.path)
    assert found.data["place"]["uncommitted"] == 1
    names = story.names  # those of the symbol around it, most lines first
    assert changes(found) == [(names[one], "symbol") for one in ("made", "thrice", "twice")]
    assert "1 line is not committed yet" in call("explain", "src/sending.py:4", cwd=story.path).out
    story.write({"src/added.py": "x = 1\n"})
    story.git("add", "src/added.py")
    assert call("explain", "src/added.py", "--json", cwd=story.path).data["place"]["uncommitted"] == 1


def test_the_symbol_of_an_edited_file_is_found_where_its_lines_stand_now(story: GitRepo, call: Callable[..., Result]) -> None:
    """Nobody has parsed the file since: the numbers of the index are those of another text."""
    story.write({"src/sending.py": "import os\n" * 6 + V3})
    for line, symbol in ((8, "upload"), (13, "other"), (14, "other"), (3, "")):
        assert call("explain", f"src/sending.py:{line}", "--json", cwd=story.path).data["place"]["symbol"] == symbol, line


def test_a_rename_that_is_not_committed(story: GitRepo, call: Callable[..., Result]) -> None:
    story.rename("src/sending.py", "src/third.py")
    found = call("explain", "src/third.py:2", "--json", cwd=story.path)
    assert changes(found)[0] == (story.names["thrice"], "lines")


def test_commits_that_the_memory_lacks_are_read_from_git(repo: GitRepo, call: Callable[..., Result]) -> None:
    repo.commit("one\n\nThe reason of one.", {"a.py": "a = 1\n"})
    call("init", cwd=repo.path)
    newer = repo.commit("two\n\nThe reason of two.", {"a.py": "a = 2\n"})
    found = call("explain", "a.py:1", "--json", cwd=repo.path)
    assert found.data["changes"][0]["commit"] == newer and found.data["changes"][0]["memory"] is None
    assert found.data["changes"][0]["body"] == "The reason of two."
    assert "not in the memory, read from git" in call("explain", "a.py:1", cwd=repo.path).out


def test_the_first_commit_is_no_edge_but_that_of_a_shallow_clone_is(
    story: GitRepo, call: Callable[..., Result], tmp_path: Path
) -> None:
    assert not any(one["boundary"] for one in call("explain", "src/sending.py", "--json", cwd=story.path).data["changes"])
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{story.path}", str(tmp_path / "s")], check=True)
    call("init", cwd=tmp_path / "s")
    found = call("explain", "src/sending.py:6", "--json", cwd=tmp_path / "s")
    assert found.data["changes"][0]["boundary"] is True
    assert "shallow clone ends here" in call("explain", "src/sending.py:6", cwd=tmp_path / "s").out


WRONG = [
    ("src/none.py", "there is no file"), ("src/none.py:3", "there is no file"), ("src", "is a folder"),
    ("src/sending.py:99", "has 8 lines"),
    ("src/sending.py:3-2", "no range"), ("src/sending.py:0", "no range"), ("empty.py", "is empty"), ("pic.bin", "is no text"),
    ("new.py:1", "git does not know"), ("../out.py", "outside"), ("/etc/hostname", "outside"),
]  # fmt: skip


def test_places_that_cannot_be_explained(story: GitRepo, call: Callable[..., Result]) -> None:
    story.commit("more", {"empty.py": "", "pic.bin": b"\0\1\2"})
    story.write({"new.py": "x = 1\n"})
    for place, words in WRONG:
        found = call("explain", place, "--json", cwd=story.path)
        assert found.code == 2, (place, found)
        assert words in found.error["message"] and found.error["remedy"] and found.error["field"] in ("place", "file")


def test_a_pipe_in_place_of_a_file_is_not_waited_for(story: GitRepo, call: Callable[..., Result]) -> None:
    os.remove(os.path.join(story.path, "src/sending.py"))
    os.mkfifo(os.path.join(story.path, "src/sending.py"))
    found = call("explain", "src/sending.py:2", "--json", cwd=story.path)
    assert (found.code, found.error["field"]) == (2, "place")
    assert found.error["message"] == "src/sending.py is no regular file"


def test_outside_git(tmp_path: Path, call: Callable[..., Result]) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("a\n")
    call("init", cwd=tmp_path / "plain")
    found = call("explain", "a.py:1", "--json", cwd=tmp_path / "plain")
    assert found.code == 2 and "no git repository" in found.error["message"]


def test_odd_names(repo: GitRepo, call: Callable[..., Result]) -> None:
    names = ["a:12", "b:1.py", "[x]*.py", "sp ace.py", "ü.py", "-n.py"]
    made = repo.commit("odd", dict.fromkeys(names, "one\ntwo\n"))
    call("init", cwd=repo.path)
    for name in names:
        found = call("explain", "--json", "--", f"{name}:2", cwd=repo.path)
        assert found.data["place"]["path"] == name and found.data["place"]["first"] == 2, name
        assert changes(found) == [(made, "lines")], name
    assert call("explain", "a:12", "--json", cwd=repo.path).data["place"]["last"] == 2


def test_exit_code_and_python(story: GitRepo, call: Callable[..., Result], home: Path) -> None:
    assert call("explain", "src/sending.py:2", "--exit-code", cwd=story.path).code == 0
    story.write({"fresh.py": "x = 1\n"})
    story.git("add", "fresh.py")
    assert call("explain", "fresh.py", "--exit-code", cwd=story.path).code == 3
    with hardwon.open(story.path, home=str(home)) as memory:
        found = memory.explain("src/sending.py:2")
        assert found.symbol == "upload" and found.changes[0].commit.sha == story.names["thrice"]
        with pytest.raises(InvalidInput):
            memory.explain("src/sending.py:77")


def test_other_branches_do_not_speak(story: GitRepo, call: Callable[..., Result]) -> None:
    story.branch("spike")
    story.commit("spike", {"src/sending.py": V3 + "\n\ndef spike():\n    return 2\n"})
    call("record", "only true on the spike", "--file", "src/sending.py", cwd=story.path)
    (told,) = call("explain", "src/sending.py:2", "--json", cwd=story.path).data["memories"]
    assert told["memory"]["text"] == "only true on the spike"
    story.checkout("main")
    call("ingest", "git", cwd=story.path)
    assert call("explain", "src/sending.py:2", "--json", cwd=story.path).data["memories"] == []


@pytest.mark.parametrize(
    ("text", "there", "expected"),
    [
        ("a.py", ["a.py"], ("a.py", None)),
        ("a.py:12", ["a.py"], ("a.py", (12, 12))),
        ("a.py:12-40", ["a.py"], ("a.py", (12, 40))),
        ("a.py:12,40", ["a.py"], ("a.py", (12, 40))),
        ("a.py:12:5", ["a.py"], ("a.py", (12, 12))),
        ("a.py:12:", ["a.py"], ("a.py", (12, 12))),
        ("a:12", ["a:12"], ("a:12", None)),
        ("a:12:3", ["a:12"], ("a:12", (3, 3))),
        ("C:\\x\\a.py:12", [], ("C:\\x\\a.py", (12, 12))),
        ("C:\\x\\a.py", [], ("C:\\x\\a.py", None)),
        ("C:/x/a.py:3-4", [], ("C:/x/a.py", (3, 4))),
        ("a.py:word", [], ("a.py:word", None)),
        (":12", [], (":12", None)),
        ("gone.py:7", [], ("gone.py", (7, 7))),
    ],
)
def test_split(text: str, there: list[str], expected: tuple[str, tuple[int, int] | None]) -> None:
    assert split(text, there.__contains__) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", (3, 3)), ("3-5", (3, 5)), ("3,5", (3, 5)), (" 3 - 5 ", (3, 5)), ("5-3", None), ("0", None), ("-3", None), ("3-", None),
     ("", None),
     ("x", None), ("3-5-7", None), ("²", None), ("9" * 12, None)],
)  # fmt: skip
def test_range_of(text: str, expected: tuple[int, int] | None) -> None:
    assert range_of(text) == expected


def test_before_takes_lines_and_diffs(story: GitRepo, call: Callable[..., Result], tmp_path: Path) -> None:
    call("fail", "upload", "the second try doubles parts", "--file", "src/sending.py", cwd=story.path)
    call("fail", "other", "other trouble", "--file", "src/sending.py", cwd=story.path)

    def texts(*words: str, stdin: str = "") -> list[str]:
        found = call("before", *words, "--json", stdin=stdin, cwd=story.path)
        assert found.code == 0, found
        return [hit["memory"]["text"] for hit in found.data["hits"] if hit["memory"]["kind"] == "lesson"]

    assert texts("--file", "src/sending.py", "--lines", "7-8") == ["other trouble"]
    assert texts("--file", "src/sending.py", "--lines", "2") == ["the second try doubles parts"]
    story.write({"src/sending.py": V3.replace("return 1", "return 2")})
    diff = git(tmp_path, "-C", story.path, "diff") + "\n"
    assert texts("--diff", "-", stdin=diff) == ["other trouble"]
    (tmp_path / "x.patch").write_text(diff)
    assert texts("--diff", str(tmp_path / "x.patch")) == ["other trouble"]
    assert texts("--diff", "-", stdin="") == []
    with hardwon.open(story.path) as memory:
        assert [hit.memory.text for hit in memory.before(diff=diff).hits if hit.memory.kind == "lesson"] == ["other trouble"]
    for words, field in ((["--diff", "-"], "diff"), (["--file", "a", "--lines", "x"], "lines"), (["--diff", "/nope"], "diff")):
        wrong = call("before", *words, "--json", stdin="garbage\n", cwd=story.path)
        assert (wrong.code, wrong.error["field"]) == (2, field)
