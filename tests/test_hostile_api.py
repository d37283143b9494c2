"""The Python door: a wrong type or value for any method is InvalidInput, NotFound or TypeError in clear words, and writes nothing."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hardwon
from hardwon.errors import InvalidInput, NoStore, NotFound
from hardwon.types import Origin
from tests.conftest import Result
from tests.hostile import BAD_BYTES, ESCAPE, MEGABYTE, Kept, all_of, contents, kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., Result]

__all__ = ["kept"]  # the fixture

HALF = "\ud800"  # of a pair


class Strange:
    """An object of somebody's."""


NO_TEXT: tuple[Any, ...] = (None, 7, 1.5, True, b"bytes", ["a"], {"a": 1}, Strange(), object)
NO_ID: tuple[Any, ...] = (
    None, 1.5, b"1", [1], {"id": 1}, Strange(), True, "", " ", "x", "1 OR 1=1", HALF, "\0", ESCAPE, BAD_BYTES, MEGABYTE, -1, 10**30,
    99, "99", "#99", "abcdef0123",
)  # fmt: skip
NO_TEXTS: tuple[Any, ...] = ("one text", 7, None, b"x", [None], [7], [b"x"], {"a": 1}, Strange())
NO_NUMBER: tuple[Any, ...] = ("7", None, 1.5, float("nan"), float("inf"), [1], b"1", Strange(), 0, -1)
NO_PATH: tuple[Any, ...] = (None, 7, b"x", ["x"], "a\0b", HALF, "/dev/zero", "/proc/self/mem", "src", "", MEGABYTE)
NO_TIME: tuple[Any, ...] = ("yesterday", float("nan"), float("inf"), -(10**30), 10**30, [1], b"1", Strange())


def each(name: str, values: tuple[Any, ...], *before: Any, **more: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    return [(before, {**more, name: value}) for value in values]


def first(values: tuple[Any, ...], *after: Any, **more: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    return [((value, *after), more) for value in values]


_WORDS = ("", " ", "\u200b", MEGABYTE)
_PLACE = ("../x", "/etc/passwd", "a\0b", "x" * 5_000)
FILTERS = [
    *(case for name in ("kinds", "outcomes", "statuses", "trusts") for case in each(name, (*NO_TEXTS, ["nonsense"]))),
    *(case for name in ("tags", "branches", "extensions", "paths", "authors") for case in each(name, (*NO_TEXTS, ["nowhere"], [HALF]))),
    *(case for name in ("since", "until") for case in each(name, ("yesterday", 1.5, [1], Strange()))),
]  # fmt: skip
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "record": [
        *first((*NO_TEXT, *_WORDS)),
        *(c for name in ("detail", "because", "code", "session", "file", "symbol") for c in each(name, (7, b"x", ["x"], Strange()), "x")),
        *each("kind", ("nonsense", "change", None, 7, ["fact"]), "x"), *each("outcome", ("maybe", 7, ["failed"]), "x"),
        *each("tags", NO_TEXTS[:1] + NO_TEXTS[1:2] + NO_TEXTS[3:], "x"), *each("rejected", ("one", 7, [7]), "x"),
        *each("expires", (*NO_TIME, -5, 0), "x"), *each("file", _PLACE, "x"), *each("metadata", ({"a": Strange()}, [1], "x", 7), "x"),
    ],
    "fail": [*first(NO_TEXT, "x"), *first((*_WORDS, "a\nb"), "x"), *(((("A", value)), {}) for value in (*NO_TEXT, *_WORDS)),
             *each("file", (*_PLACE, 7, b"x"), "A", "x"), *each("detail", (7, b"x", MEGABYTE), "A", "x"), *each("session", (7,
                 "a\nb"), "A", "x")],
    "ok": [*first(NO_TEXT, "x"), *first((*_WORDS, "a\nb"), "x"), *each("file", (*_PLACE, 7, b"x"), "A"), *each("detail",
        (7, MEGABYTE), "A")],
    **{name: first(NO_ID) for name in ("resolve", "deactivate", "useful", "useless", "show", "history", "approve", "reject")},
    "undo": first(tuple(value for value in NO_ID if value != "")),
    "revise": [*first(NO_ID, "words"), *(((1, value), {}) for value in (7, b"x", ["x"], Strange(), *_WORDS)),
               *each("tags", ("one", 7, [7], [b"x"]), 1), *each("rejected", ("one", 7, [7]), 1), *each("detail", (7, MEGABYTE), 1),
               *each("file", (*_PLACE, 7), 1), *each("expires", (*NO_TIME, 0), 1), *each("metadata", ({"a": Strange()}, 7), 1),
                   ((1,), {})],
    "link": [*first(NO_ID, 1, "supports"), *(((1, value, "supports"), {}) for value in NO_ID),
             *(((1, 2, value), {}) for value in ("", "nonsense", "reverts", None, 7, ["supports"], "mentions")), ((1, 1,
                 "supports"), {})],
    "forget": [*first(NO_ID), ((), {}), *each("tags", ("one", 7, [7], [HALF])), *each("session", (7, b"x", HALF, "a\nb")),
               *each("source", (7, b"x", HALF)), *each("older_than", NO_TIME)],
    "erase": [*first(NO_ID), ((), {}), *each("tags", ("one", 7, [7], [HALF])), *each("session", (7, b"x", HALF, "a\nb")),
              *each("older_than", NO_TIME), *each("reason", ("", "why", 7, None), 1)],
    "recall": [*first((7, 1.5, b"x", ["x"], Strange())), *(((("x",)), more) for _, more in FILTERS), *each("k", NO_NUMBER, "x"),
               *each("budget", NO_NUMBER, "x"), *each("file", (7, b"x", *_PLACE), "x"), *each("symbol", (7, b"x", ["x"]), "x")],
    "before": [((), {}), *each("file", (7, b"x", ["x"], *_PLACE)), *each("symbol", (7, b"x", ["x"])),
        *each("budget", NO_NUMBER, symbol="A.b")],
    "explain": first((7, None, b"x", ["x"], "", "a\0b", HALF, "missing.py", "src", MEGABYTE, "src/a.py:0", "src/a.py:9-3", "src/a.py:x:y")),
    "brief": each("budget", NO_NUMBER),
    "query": [*first((7, b"x", ["x"])), *each("file", (7, b"x", *_PLACE)), *each("top", ("7", 1.5, [1], 0, -1))],
    "stats": [*each("file", (7, b"x", *_PLACE)), *each("top", NO_NUMBER)],
    "diff": [*first(NO_ID), *(((1, value, 2), {}) for value in ("1", 1.5, 0, -1, 99, [1])),
        *(((1, 1, value), {}) for value in ("2", 0, -1, 99))],
    "review": each("limit", NO_NUMBER),
    "export": [*first(NO_PATH), *each("format", ("csv", "", 7, None, ["jsonl"]), "out.jsonl"), *each("tags",
        ("one", 7, ["nowhere"]), "out.jsonl"),
               *each("kinds", ("rule", ["nonsense"], 7), "out.jsonl"), *each("statuses", ("active", ["nonsense"]), "out.jsonl"),
               *each("since", ("yesterday", [1]), "out.jsonl")],
    "import_": [*first((*NO_PATH, "missing", "/dev/null")), *each("format", ("csv", 7, ["jsonl"]), "notes.jsonl"),
        (("notes.jsonl",), {"keep_trust": True}),
                *each("only", ("shop", 7), "notes.jsonl")],
    "ingest_git": each("limit", NO_NUMBER),
    "ingest_prs": each("limit", NO_NUMBER),
    "refresh": each("limit", NO_NUMBER),
    "ingest_transcripts": [*first((*NO_PATH, "missing", "notes.jsonl", "src/db.py")), *each("clients", (*NO_TEXTS, ["nobody"], [ESCAPE])),
                           *each("since", NO_TIME[:1] + NO_TIME[1:2] + NO_TIME[5:])],
    "ingest_junit": [((), {}), *first((*NO_PATH, "missing", "notes.jsonl", "src/db.py", "/dev/null")),
                     *each("commit", (7, None, b"x", "nowhere", "--all", ESCAPE, HALF, MEGABYTE, "a b"), "report.xml"),
                     *each("job", (7, None, b"x", ESCAPE, HALF, "a\0b"), "report.xml")],
    "ingest_log": [*first((*NO_PATH, "missing", "/dev/null")),
                   *each("commit", (7, None, b"x", "nowhere", "--all", ESCAPE, HALF), "notes.jsonl"),
                   *each("job", (7, ESCAPE), "notes.jsonl")],
    "share": [*first(NO_ID), *each("kinds", (*NO_TEXTS, ["nonsense"])), *each("outcomes", (["nonsense"], 7)),
              *each("trusts", (["nonsense"], "confirmed")), *each("tags", (*NO_TEXTS, ["nowhere"], [HALF])),
              *each("paths", (*NO_TEXTS, ["nowhere"], [HALF], ["../x"]))],
    "reembed": each("limit", ("7", 1.5, [1], 0, -1)),
    "bench": [*first(("flat", ["nonsense"], 7, [7], None)), *each("k", NO_NUMBER), *each("queries", NO_NUMBER), *each("seed",
        ("1", None, [1]))],
    "ingest": [*first((7, None, [1], [("a",)], [("a", "b")], [("a", 7, {})], [(7, "b", {})], [("a", "b", 7)], [("a",
        "", {})], [("", "b", {})],
                       [("a\nb", "c", {})], [("x" * 301, "c", {})], [(HALF, "c", {})], [("a", "b", {"c": Strange()})], "text", [None])),
               *each("kind", ("nonsense", "change", 7, None), [("a", "b", {})])],
    "recall_memory": [*first((None, 7, b"x", ["x"])), *each("k", NO_NUMBER, "x")],
    "delete": first((7, None, [7], [None], [b"x"], "one id", [HALF])),
    "rekey": [((), {}), ((), {"decrypt": True}), *each("key_file", (*NO_PATH[1:], "missing")), *each("keyring", (True, 7))],
    "backup": [*first((*NO_PATH[1:-2], "no/such/folder/a.db", MEGABYTE, "kept.db/x")), *each("keep", NO_NUMBER),
               *each("encrypt", ("age1", 7, None, ["nobody"], [7], [""]), "out.db"),
               *each("passphrase_file", (7, "missing", "/dev/zero", "src", MEGABYTE), "out.db")],
    # A disk that refuses to read (/proc/self/mem) is the store's own error.
    "restore": [*first((*(value for value in NO_PATH if value != "/proc/self/mem"), "missing", "/dev/null", "notes.jsonl",
                        "../../etc/passwd")),
                *each("identity", (7, "missing", "/dev/zero", "notes.jsonl", MEGABYTE), "kept.db", dry_run=True),
                *each("passphrase_file", (7, "missing", "/dev/zero", "src", MEGABYTE), "kept.db", dry_run=True)],
}  # fmt: skip
# Without arguments there is nothing that could be wrong.
FREE = {
    "close",
    "persist",
    "compact",
    "verify",
    "repair",
    "status",
    "find_secrets",
    "take_out_secrets",
    "ingest_docs",
    "ingest_deps",
    "ingest_code",
    "ingest_notes",
    "ingest_shared",
    "flaky_tests",
}


@pytest.fixture
def opened(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Iterator[hardwon.Repository]:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    monkeypatch.chdir(kept.project)
    with hardwon.open(".", origin=Origin("person")) as memory:
        yield memory


def test_every_method_is_met() -> None:
    methods = {name for name, _ in inspect.getmembers(hardwon.Repository, inspect.isfunction) if not name.startswith("_")}
    assert methods - FREE == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_wrong_types_and_values_are_refused_and_nothing_is_written(kept: Kept, opened: hardwon.Repository, name: str) -> None:
    memory = opened
    opened.reembed()
    if name == "import_":  # a person may keep the trust
        memory = hardwon.Repository(opened.engine, Origin("agent", "tester"), opened.home)
    before = contents(kept.home)

    def refused(words: tuple[Any, ...], more: dict[str, Any]) -> None:
        nonlocal before
        try:
            getattr(memory, name)(*words, **more)
        except (InvalidInput, NotFound, TypeError) as error:
            assert 0 < len(str(error)) < 1_000
            assert isinstance(error, TypeError) or error.remedy
        else:
            raise AssertionError("it was taken")
        finally:
            was, before = before, contents(kept.home)
        assert before == was, "something was written"

    shown = {f"{name}{ascii(words)[:80]} {ascii(more)[:80]}": (words, more) for words, more in CALLS[name]}
    all_of({label: lambda case=case: refused(*case) for label, case in shown.items()})  # type: ignore[misc]
    assert not (kept.project / "out.jsonl").exists()
    assert memory.verify() == ()


@pytest.mark.parametrize("path", [None, 7, b".", ["."], "a\0b", HALF, "/nonexistent/folder", "/etc/passwd", "", MEGABYTE])
def test_no_memory_is_opened_at_a_place_that_is_none(
    kept: Kept, path: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises((InvalidInput, TypeError)):
        hardwon.open(path)
    if path != "":  # the folder at hand, as everywhere in Python
        with pytest.raises((InvalidInput, TypeError)):
            hardwon.open(path, make=True)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("project", [7, b"shop", "nobody", "../shop", "a\0b", HALF, MEGABYTE])
def test_a_project_that_is_none_is_told(kept: Kept, project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    with pytest.raises((InvalidInput, TypeError)):
        hardwon.open(str(kept.project), project=project)


def test_a_closed_memory_opens_again_or_says_so(opened: hardwon.Repository) -> None:
    opened.close()
    opened.close()
    assert opened.show(1).memory.number == 1


def test_a_home_that_is_none_is_told(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (str(tmp_path / "file"), str(tmp_path / "file" / "x"), str(tmp_path / "nothing")):
        with pytest.raises((NoStore, InvalidInput)):
            hardwon.open(str(kept.project), home=home)
