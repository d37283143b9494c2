"""Hostile input to every verb, hostile surroundings, and two thousand strange questions: a clear error, and nothing is touched."""

from __future__ import annotations

import io
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import pytest

import hardwon
from hardwon.doors import cli
from hardwon.doors.verbs import BY_NAME, VERBS
from hardwon.types import Anchor, Draft, Origin, Query, Scope
from tests.conftest import COMMITS, Result, git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., Result]

MEGABYTE = "x" * 1_000_000
BAD_BYTES = os.fsdecode(b"\xff\xfe")
ESCAPE = "\x1b]0;title\x07\x1b[31m"
TABLES = (
    "settings",
    "events",
    "versions",
    "memories",
    "anchors",
    "occurrences",
    "links",
    "changes",
    "terms",
    "documents",
    "corpus",
)


class Case(NamedTuple):
    """Words that are refused, with the exit codes that are right."""

    words: tuple[str, ...]
    stdin: bytes = b""
    codes: tuple[int, ...] = (2,)


def cases(verb: str, *all_of: tuple[str, ...] | Case) -> list[tuple[str, Case]]:
    return [(verb, item if isinstance(item, Case) else Case(item)) for item in all_of]


_PLACES = (
    "../x",
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../x",
    "a\\..\\..\\x",
    "a\nb",
    "a\0b",
    ESCAPE,
    BAD_BYTES,
    "",
    MEGABYTE,
    ".",
)


def bad_files(verb: str, *before: str) -> list[tuple[str, Case]]:
    return cases(verb, *((*before, "--file", place) for place in _PLACES))


def bad_ids(verb: str, *after: str) -> list[tuple[str, Case]]:
    unknown = ("99", "#99", "999999999999999", "abcdef0123", "00000000-0000-7000-8000-000000000000")
    nonsense = (
        "", " ", "1 OR 1=1", "'; DROP TABLE memories; --", '" OR ""="', "1.5", "-0", "../1", "%", "abc", "1\n2", "1\0", ESCAPE,
        BAD_BYTES, "٣", "²", "#", "##1", "9" * 5_000, MEGABYTE, "NEAR(a b)", "*", "1e3", "0x1", "--", "{}",
    )  # fmt: skip
    found = cases(verb, *((word, *after) for word in nonsense if word != "--"))
    return found + cases(verb, *(Case((word, *after), codes=(1,)) for word in unknown))


def bad_numbers(verb: str, option: str, *before: str) -> list[tuple[str, Case]]:
    return cases(verb, *((*before, option, word) for word in ("-1", "0", "1.5", "1e9", "9" * 40, "ten", "", "٣", "NaN", "1;--")))


def bad_names(verb: str, option: str, *before: str) -> list[tuple[str, Case]]:
    return cases(
        verb, *((*before, option, word) for word in ("", "  ", "a\nb", "a\0b", ESCAPE, BAD_BYTES, "a\u2028b", "\x85", "\x7f"))
    )


def everywhere(verb: str, *valid: str) -> list[tuple[str, Case]]:
    """What no verb takes."""
    return cases(
        verb,
        (*valid, "--nonsense"),
        (*valid, "--"[:1] + "Z"),
        (*valid, "--json=yes"),
        (*valid, "-p"),
        (*valid, "-p", ""),
        (*valid, "-p", "../../etc"),
        (*valid, "-p", "shop' OR 'a'='a"),
        (*valid, "-p", ESCAPE),
        (*valid, "-p", BAD_BYTES),
        (*valid, "-p", MEGABYTE),
        (*valid, "-C", "/nonexistent/folder"),
        (*valid, "-C", "/etc/passwd"),
        (*valid, "-C", "a\0b"),
        (*valid, "-C", MEGABYTE),
        (*valid, "--" + MEGABYTE),
        (*valid, "--" + ESCAPE),
    )


_LESSON = ("A.b", "a lesson")
_LONG = (MEGABYTE, "y" * 5_000)

HOSTILE: list[tuple[str, Case]] = [
    *everywhere("init"),
    *cases("init", ("extra",), ("--name", "Ümläut"), ("--name", "a b"), ("--name", "../x"), ("--name", "x" * 65)),
    *bad_names("init", "--name"),
    *bad_numbers("init", "--limit"),
    *everywhere("record", "a text"),
    *cases("record", (), ("",), (" ", "\t\n"), ("\u200b\u2060",), (ESCAPE,), (MEGABYTE,), ("x" * 2_001,), ("--kind", "rule")),
    *cases("record", Case(("-",)), Case(("-",), b"a\0b"), Case(("-",), MEGABYTE.encode()), Case(("-",), b"\x1b[31m\n")),
    *cases("record", ("x", "--kind", "change"), ("x", "--kind", "KIND; --"), ("x", "--outcome", "-1"), ("x", "--outcome", "")),
    *cases("record", ("x", "--code", "no/such/file"), ("x", "--code", "/etc"), ("x", "--code", "/dev/zero"), ("x", "--code", "a\0b")),
    *cases("record", Case(("x", "--code", "-"), b"a\0b"), Case(("x", "--code", "-"), b"y" * 100_000)),
    *cases("record", *(("x", "--expires", age) for age in ("", "1", "-1d", "1.5d", "9999999d", "tomorrow", "d"))),
    *cases("record", *(("x", option, word) for option in ("--detail", "--because", "--rejected") for word in (MEGABYTE,))),
    *cases("record", ("x", "--tag", "two words"), ("x", "--tag", "x" * 65), ("x", "--tag", "a,b;--"), ("x", "--session", "s" * 201)),
    *cases("record", ("x", "--symbol", "s" * 301)),
    *bad_names("record", "--symbol", "x"),
    *bad_names("record", "--session", "x"),
    *bad_names("record", "--tag", "x"),
    *bad_files("record", "x"),
    *(case for verb in ("fail", "ok") for case in everywhere(verb, *_LESSON)),
    *(case for verb in ("fail", "ok") for case in bad_files(verb, *_LESSON)),
    *(case for verb in ("fail", "ok") for case in bad_names(verb, "--session", *_LESSON)),
    *(case for verb in ("fail", "ok") for case in cases(verb, *((word, "x") for word in ("", " ", "\u200b", "\u3164", "a\nb", "a\0b")))),
    *(case for verb in ("fail", "ok") for case in cases(verb, *((word, "x") for word in (ESCAPE, BAD_BYTES, MEGABYTE, "s" * 301)))),
    *(case for verb in ("fail", "ok") for case in cases(verb, (), ("A", "b", "c"), *(("A", word) for word in _LONG))),
    *(case for verb in ("fail", "ok") for case in cases(verb, ("A", "b", "-d", MEGABYTE), ("A", "b", "--session", "s" * 201))),
    *cases("fail", ("A",), ("A", ""), ("A", " \n"), ("A", "\u200b"), ("A", ESCAPE)),
    *everywhere("query", "A.b"),
    *cases("query", ("",), (" ",), ("a\0b",), (ESCAPE,), (BAD_BYTES,), ("A\nB",), ("A", "B"), ("A", "--all=1"), ("A", "--injct")),
    *bad_numbers("query", "--top"),
    *bad_files("query", "A.b"),
    *(case for verb in ("resolve", "deactivate", "undo", "show", "history") for case in bad_ids(verb)),
    *(case for verb in ("resolve", "deactivate", "undo", "show", "history") for case in everywhere(verb, "1")),
    *(case for verb in ("resolve", "deactivate", "undo", "show", "history") for case in cases(verb, (), ("1", "2"))),
    *everywhere("stats"),
    *cases("stats", ("",), ("a\0b",), (ESCAPE,), (BAD_BYTES,), ("A", "B"), ("A\nB",)),
    *bad_numbers("stats", "--top"),
    *bad_files("stats"),
    *everywhere("recall", "a task"),
    *cases("recall", (), ("",), (" \n",), Case(("-",)), Case(("-",), b"a\0b"), Case(("-",), MEGABYTE.encode())),
    *cases("recall", ("x", "--kind", "nonsense"), ("x", "--kind", ""), ("x", "--kind", "rule,fact")),
    *bad_numbers("recall", "-k", "x"),
    *bad_numbers("recall", "--budget", "x"),
    *bad_names("recall", "--tag", "x"),
    *bad_names("recall", "--symbol", "x"),
    *bad_files("recall", "x"),
    *everywhere("before", "--symbol", "A.b"),
    *cases("before", (), ("A.b",), ("--symbol",)),
    *bad_numbers("before", "--budget", "--symbol", "A.b"),
    *bad_names("before", "--symbol"),
    *bad_files("before"),
    *everywhere("brief"),
    *cases("brief", ("extra",), ("--budget",)),
    *bad_numbers("brief", "--budget"),
    *everywhere("forget", "1", "--yes"),
    *bad_ids("forget", "--yes"),
    *cases("forget", (), ("--yes",), ("1",), ("--dry-run",), ("1", "99x", "--yes"), ("--tag", "x", "--yes=1")),
    *(case for option in ("--session", "--source", "--tag") for case in bad_names("forget", option, "--yes")),
    *cases("forget", *(("--yes", "--older-than", age) for age in ("", "1", "-1d", "1.5d", "9999999d", "tomorrow", "d", "٣d"))),
    *everywhere("status"),
    *cases("status", ("extra",), ("--top", "3"), ("1",)),
    *everywhere("verify"),
    *cases("verify", ("extra",), ("--repair",), ("1",)),
]  # fmt: skip


class Kept(NamedTuple):
    """A repository with a memory of some things, shared by all cases: none of them may change it."""

    project: Path
    home: Path
    store: Path


@pytest.fixture(scope="module")
def kept(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    place = tmp_path_factory.mktemp("hostile")
    project = Path(shutil.copytree(template, place / "shop", symlinks=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARDWON_HOME", str(place / "home"))
        patch.setenv("HARDWON_CLIENT", "tester")
        patch.chdir(project)
        for words in (
            ["init"],
            ["fail", "A.b", "tokens expire", "--file", "auth/service.py", "--session", "s1"],
            ["record", "Run the migrations first", "--kind", "rule", "--tag", "ci"],
        ):
            assert cli.main(words) == 0
    (store,) = (place / "home" / "stores").glob("*.db")
    yield Kept(project, place / "home", store)


def state(kept: Kept) -> dict[str, Any]:
    """The journal's head, the row counts, and every byte that is kept."""
    connection = apsw.Connection(str(kept.store), flags=apsw.SQLITE_OPEN_READONLY)
    found: dict[str, Any] = {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in TABLES}
    found["head"] = connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").get
    connection.close()
    for file in (kept.store, Path(f"{kept.store}-wal"), kept.home / "registry"):
        found[file.name] = file.read_bytes() if file.exists() else b""
    found["files"] = {item.name for item in kept.home.rglob("*") if not item.name.endswith(("-shm", "-wal", ".lock"))}
    return found


def told(result: Result) -> None:
    """A message and a remedy, short and fit for a terminal; nothing else."""
    assert "Traceback" not in result.err
    assert result.err.startswith("hardwon: "), result
    assert "\n  " in result.err, result
    assert len(result.err) < 1_500, len(result.err)
    assert all(char.isprintable() or char == "\n" for char in result.err), ascii(result.err)


def told_as_json(result: Result) -> None:
    assert result.out == ""
    assert result.error.keys() == {"kind", "field", "message", "remedy"}
    assert result.error["kind"]
    assert result.error["message"]
    assert result.error["remedy"], result


def names() -> list[str]:
    return [f"{verb}-{number}" for number, (verb, _) in enumerate(HOSTILE)]


def test_each_verb_meets_ten_and_more() -> None:
    for verb in VERBS:
        assert sum(name == verb.name for name, _ in HOSTILE) >= 10, verb.name
    assert {name for name, _ in HOSTILE} <= set(BY_NAME)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_hostile_input_is_refused_and_nothing_is_touched(
    kept: Kept, call: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    before = state(kept)
    wrong = []
    for name, case in HOSTILE:
        if name != verb:
            continue
        shown = [ascii(word[:60]) for word in case.words]
        try:
            told(refused := call(verb, *case.words, stdin=case.stdin, cwd=kept.project))
            assert refused.code in case.codes, refused
            told_as_json(call("--json", verb, *case.words, stdin=case.stdin, cwd=kept.project))
            assert state(kept) == before
        except Exception as error:  # noqa: BLE001 - all of a verb's cases are told together
            wrong.append(f"{verb} {' '.join(shown)}: {type(error).__name__} {str(error)[:400]}")
    assert not wrong, "\n\n".join(wrong)
    assert call("verify", cwd=kept.project).code == 0


def test_invalid_bytes_and_much_input_are_refused_by_the_real_command(kept: Kept, run: Command) -> None:
    before = state(kept)
    there = {"HARDWON_HOME": str(kept.home)}
    for words in (["query", BAD_BYTES], ["fail", BAD_BYTES, "x"], ["show", BAD_BYTES], ["fail", "A", "x", "--file", BAD_BYTES]):
        told(refused := run(*words, env=there, cwd=kept.project))
        assert refused.code == 2
    told(run("record", "-", stdin=MEGABYTE, env=there, cwd=kept.project))
    told(run("record", "x", "--code", "-", stdin=MEGABYTE, env=there, cwd=kept.project))
    told(run("recall", "x" * 100_000, "--nonsense", env=there, cwd=kept.project))
    for variable in ("HARDWON_SESSION", "HARDWON_CLIENT"):
        told(run("fail", "A", "x", env={**there, variable: BAD_BYTES}, cwd=kept.project))
    assert state(kept) == before


# What looks hostile and is a memory like any other: kept to the letter.


@pytest.mark.parametrize(
    "text",
    [
        "'; DROP TABLE memories; --",
        '" OR "a"="a" NEAR(b c) AND * NOT ^d',
        "../../etc/hosts %2e%2e/%2e%2e",
        "${HOME} $(rm -rf /) `id` {0} %s %n",
        "<script>alert(1)</script>",
        '{"json": [1, null]}',
        "日本語のテキスト 🙂 \u202f",
        "a -- b /* c */",
        "--yes",
        "1",
    ],
)
def test_strange_texts_are_kept_to_the_letter(project: Path, call: Command, text: str) -> None:
    assert call("fail", "A.b", "-d", text, "--file", "a.py", "--", text).code == 0
    assert call("record", "--because", text, "--rejected", text, "--", text).code == 0
    for reference in ("1", "2"):
        shown = call("show", reference, "--json").data
        assert shown["text"] == text.strip()
    assert shown["because"] == text.strip()
    assert call("verify").code == 0


def test_symbols_may_be_spelled_as_any_language_does(project: Path, call: Command) -> None:
    for symbol in ("operator()", "a::b<c>", "Foo#bar", "x' OR 1=1", "%", "_", "日本.語", "a b", '"quoted"', "-"):
        assert call("fail", "--file", "a.py", "--", symbol, "broke").code == 0, symbol
        found = call("query", "--json", "--", symbol).data["symbols"]
        assert symbol in {item["symbol"] for item in found}, symbol
        assert call("before", f"--symbol={symbol}", "--json").data["hits"], symbol
    assert len(call("query", "--json").data["symbols"]) == 10


def test_a_history_cannot_write_to_the_terminal_or_into_the_block(project: Path, call: Command) -> None:
    """Names of files and authors come from whoever wrote the repository."""
    (project / "src" / f"zebra{ESCAPE}.py").write_text("zebra = 1\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", f"Add a zebra {ESCAPE}", f"--author=E{ESCAPE} <e@example.org>")
    call("init")
    for words in (
        ["recall", "add zebra"],
        ["recall", "add zebra", "--block"],
        ["show", git(project, "rev-parse", "HEAD")],
        ["brief"],
    ):
        out = call(*words).out
        assert "zebra" in out or words == ["brief"]
        assert all(char.isprintable() or char == "\n" for char in out), ascii(out)


# Hostile surroundings


def spoil_home_file(kept: Kept, home: Path) -> None:
    home.write_text("a file, not a folder")


def spoil_registry(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    (home / "registry").write_bytes(os.urandom(4_000))


def spoil_registry_cut(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    content = (home / "registry").read_bytes()
    (home / "registry").write_bytes(content[:-5])


def spoil_registry_newer(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    content = (home / "registry").read_bytes()
    (home / "registry").write_bytes(content.replace(b"hardwon registry 1", b"hardwon registry 9"))


def spoil_registry_folder(kept: Kept, home: Path) -> None:
    (home / "registry").mkdir(parents=True)


def spoil_store_garbage(kept: Kept, home: Path) -> None:
    only_file(kept, home).write_bytes(random.Random(1).randbytes(50_000))


def spoil_store_text(kept: Kept, home: Path) -> None:
    only_file(kept, home).write_text("this is not a database\n" * 1_000)


def spoil_store_cut(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    content = store.read_bytes()
    store.write_bytes(content[: len(content) // 2])


def spoil_store_stub(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.write_bytes(store.read_bytes()[:100])


def spoil_store_newer(kept: Kept, home: Path) -> None:
    connection = apsw.Connection(str(only_file(kept, home)))
    connection.pragma("user_version", 999)
    connection.close()


def spoil_store_other(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.unlink()
    connection = apsw.Connection(str(store))
    connection.execute("CREATE TABLE somebody_elses (value)")
    connection.close()


def spoil_store_folder(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.unlink()
    store.mkdir()


def only_file(kept: Kept, home: Path) -> Path:
    """A copy of the store, all of it in its one file."""
    shutil.copytree(kept.home, home)
    store = home / "stores" / kept.store.name
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for end in ("-wal", "-shm", ".lock"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    return store


def environment(name: str, value: str) -> Callable[[Kept, Path], dict[str, str]]:
    def spoil(kept: Kept, home: Path) -> dict[str, str]:
        shutil.copytree(kept.home, home)
        return {name: value}

    spoil.__name__ = f"spoil_{name}_{value[:6]!a}"
    return spoil


# What is spoilt, and the kinds of error that are right.
SURROUNDINGS: list[Any] = [
    (spoil_home_file, {"invalid_input"}),
    (spoil_registry, {"damaged"}),
    (spoil_registry_cut, {"damaged"}),
    (spoil_registry_newer, {"schema_newer"}),
    (spoil_registry_folder, {"store_error"}),
    (spoil_store_garbage, {"damaged"}),
    (spoil_store_text, {"damaged"}),
    (spoil_store_cut, {"damaged"}),
    (spoil_store_stub, {"damaged"}),
    (spoil_store_newer, {"schema_newer"}),
    (spoil_store_other, {"damaged", "no_store"}),
    (spoil_store_folder, {"read_only", "store_error"}),
    (environment("HARDWON_WAIT", "abc"), {"invalid_input"}),
    (environment("HARDWON_WAIT", "-1"), {"invalid_input"}),
    (environment("HARDWON_WAIT", "nan"), {"invalid_input"}),
    (environment("HARDWON_WAIT", "9" * 400), {"invalid_input"}),
    (environment("HARDWON_BUDGET", "0"), {"invalid_input"}),
    (environment("HARDWON_BUDGET", "inf"), {"invalid_input"}),
    (environment("HARDWON_BUDGET", ESCAPE), {"invalid_input"}),
    (environment("HARDWON_SESSION", ESCAPE), {"invalid_input"}),
    (environment("HARDWON_CLIENT", "a\nb"), {"invalid_input"}),
]

# A valid command line of each verb.
VALID: dict[str, tuple[str, ...]] = {
    "init": (), "record": ("a text",), "fail": _LESSON, "ok": _LESSON, "query": ("A.b",), "resolve": ("1",), "deactivate": ("1",),
    "stats": (), "recall": ("tokens expire",), "before": ("--symbol", "A.b"), "brief": (), "show": ("1",), "history": ("1",),
    "forget": ("1", "--yes"), "undo": ("1",), "status": (), "verify": (),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "kinds"), SURROUNDINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_hostile_surroundings_are_told_and_left_as_they_are(
    kept: Kept,
    tmp_path: Path,
    call: Command,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Kept, Path], Any],
    kinds: set[str],
) -> None:
    assert VALID.keys() == BY_NAME.keys()
    home = tmp_path / "spoilt"
    more = spoil(kept, home) or {}
    for name, value in {"HARDWON_HOME": str(home), **more}.items():
        monkeypatch.setenv(name, value)
    before = contents(home)
    wrong = []
    for verb, words in VALID.items():
        try:
            refused = call(verb, *words, "--json", cwd=kept.project)
            assert refused.code != 0, refused
            told_as_json(refused)
            assert refused.error["kind"] in kinds, refused
            told(call(verb, *words, cwd=kept.project))
            assert contents(home) == before
        except Exception as error:  # noqa: BLE001 - all verbs are told together
            wrong.append(f"{verb}: {type(error).__name__} {str(error)[:600]}")
    assert not wrong, "\n\n".join(wrong)


def contents(home: Path) -> dict[str, bytes]:
    """What is there, but for locks and what SQLite makes beside a store."""
    if home.is_file():
        return {"": home.read_bytes()}
    files = (file for file in home.rglob("*") if file.is_file() and not file.name.endswith(("-shm", "-wal", ".lock")))
    return {str(file.relative_to(home)): file.read_bytes() for file in files}


@pytest.mark.parametrize("verb", sorted(VALID.keys() - {"init"}))
def test_a_store_that_is_gone_names_init(
    kept: Kept, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    home = tmp_path / "home"
    store = only_file(kept, home)
    store.unlink()
    monkeypatch.setenv("HARDWON_HOME", str(home))
    refused = call(verb, *VALID[verb], "--json", cwd=kept.project)
    assert refused.code == 2
    assert refused.error["kind"] == "no_store"
    assert "hardwon init" in refused.error["remedy"]
    assert not store.exists()
    assert call("init", cwd=kept.project).code == 0
    assert call("status", "--json", cwd=kept.project).data["memories"]["memories"] == len(COMMITS) + 1


def test_an_undo_of_nothing_is_told_with_a_remedy(kept: Kept, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    told(call("undo", "1", cwd=kept.project))


# Two thousand questions


_PIECES = (
    "login", "token", "pool.get", "AuthService", "src/db.py", "why", "-", "--", "'", '"', ":", ";", "AND", "OR", "NOT", "NEAR", "NEAR/3",
    "*", "^", "(", ")", "((", "{", "}", "[", "]", "\\", "/", "%", "_", "$", "#12", "@", "=", "<", ">", "|", "&", "!", "~", "`", "+",
    "日本語", "修正", "한국어", "ไทย", "🙂", "👩‍👩‍👧", "\u200d", "\u202e", "\u0301", "İ", "ß", "\n", "\t", "\r\n", "\0", "\x1b[31m",
    "\ud800", "\udfff",
    "text:login", "rowid", "bm25(search)", "snake_case_word", "camelCaseWord", "terms MATCH 'x'", "1", "0x1f", "1e308", "NaN", "NULL",
    "a" * 500,
)  # fmt: skip


def questions(count: int, seed: int) -> Iterator[str]:
    """Strange questions, the same ones every time."""
    chance = random.Random(seed)
    yield ""
    yield "login token " * 9_000  # 100 KB
    yield "日" * 34_000
    yield '"' * 100_000
    yield " ".join(f"word{number}" for number in range(15_000))
    for _ in range(count - 5):
        pieces = [chance.choice(_PIECES) for _ in range(chance.randint(1, 12))]
        if chance.random() < 0.3:
            pieces.append(
                "".join(chr(chance.choice((chance.randint(1, 0xD7FF), chance.randint(0xE000, 0x10FFFF)))) for _ in range(20))
            )
        yield chance.choice(("", " ")).join(pieces)


def test_two_thousand_strange_questions_are_answered(tmp_path: Path) -> None:
    engine = hardwon.open_store(str(tmp_path / "store.db"), clock=lambda: 1_700_000_000_000, entropy=random.Random(3).randbytes)
    scope = Scope(Origin("agent", "tester", "", "test"))
    for number in range(60):
        text = f"login token {number} of the pool expires; 日本語 修正 snake_case_word {number}"
        engine.record(Draft(text, "lesson", "failed", anchors=(Anchor(f"src/f{number}.py", f"AuthService.m{number}"),)), scope)
    asked, answered, begun, slowest = 0, 0, time.perf_counter(), 0.0
    for question in questions(2_000, 7):
        start = time.perf_counter()
        block = engine.recall(Query(question, k=5), scope)
        slowest = max(slowest, time.perf_counter() - start)
        assert len(block.hits) <= 5
        assert all(0 <= hit.score <= 1 for hit in block.hits)
        assert block.tokens <= 1_500
        asked += 1
        answered += bool(block.hits)
    assert asked == 2_000
    assert 0 < answered < asked
    assert time.perf_counter() - begun < 30
    assert slowest < 2
    assert engine.verify() == []
    engine.close()


def test_strange_places_are_answered(tmp_path: Path) -> None:
    """A place that no memory has, however it is spelled, is silence."""
    engine = hardwon.open_store(str(tmp_path / "store.db"))
    scope = Scope(Origin("agent", "tester", "", "test"))
    engine.record(Draft("a lesson", "lesson", "failed", anchors=(Anchor("a.py", "A.b"),)), scope)
    for name in ("'", '"', "%", "A.*", "*", "a' OR 'b", "日", "::", "#", ".", "->", "b" * 5_000):
        if name not in ("b" * 5_000,):
            assert engine.before(name, "", scope).hits == ()
        assert engine.before("", name, scope).hits == (), name
        assert engine.recall(Query("", symbol=name), scope).hits == ()
        assert engine.recall(Query("", file=name), scope).hits == ()
    engine.close()


def test_standard_input_is_read_once_and_bounded(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An endless input is cut off, not swallowed."""

    class Endless(io.RawIOBase):
        taken = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = b"y" * len(buffer)
            self.taken += len(buffer)
            return len(buffer)

    endless = Endless()
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(endless)))
    assert cli.main(["record", "-"]) == 2
    assert "longer than" in capsys.readouterr().err
    assert endless.taken < 2_000_000
