"""Hostile input to every verb: a clear error that names the field, and nothing is touched; what only looks hostile is kept."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hardwon.doors import cli
from hardwon.doors.verbs import BY_NAME, VERBS
from tests.conftest import Result, git
from tests.hostile import BAD_BYTES, ESCAPE, LESSON, MEGABYTE, Kept, all_of, contents, counted, kept, told, told_as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Result]

__all__ = ["kept"]  # the fixture

LEAST = 25  # refused inputs of each verb
CODES = {"invalid_input": 2, "not_found": 1}


class Case(NamedTuple):
    """Words that are refused, and the error that is right: its kind and the field that it names."""

    words: tuple[str, ...]
    field: str
    kind: str = "invalid_input"
    stdin: bytes = b""


Cases = list[tuple[str, Case]]


def cases(verb: str, field: str, *all_words: tuple[str, ...], kind: str = "invalid_input") -> Cases:
    return [(verb, Case(words, field, kind)) for words in all_words]


def each(verb: str, field: str, before: tuple[str, ...], *values: str, after: tuple[str, ...] = ()) -> Cases:
    return cases(verb, field, *((*before, value, *after) for value in values))


def given(verb: str, field: str, stdin: bytes, *words: str) -> Cases:
    return [(verb, Case(words, field, stdin=stdin))]


_PLACES = (
    "../x", "../../etc/passwd", "/etc/passwd", "a/../../x", "a\\..\\..\\x", "a\nb", "a\0b", ESCAPE, BAD_BYTES, "", ".",
)  # fmt: skip
_NAMES = ("", "  ", "a\nb", "a\0b", ESCAPE, BAD_BYTES, "a\u2028b", "\x85", "\x7f")
_NUMBERS = ("-1", "0", "1.5", "1e9", "9" * 40, "ten", "", "٣", "NaN", "1;--")
_AGES = ("", "1", "-1d", "1.5d", "9999999d", "tomorrow", "d", "٣d")
_MOMENTS = (
    *_AGES,
    "2026-13-01",
    "2026-01-32",
    "1969-12-31",
    "99999-01-01",
    "2026-01-01T25:00",
    "now",
    ESCAPE,
    BAD_BYTES,
    MEGABYTE,
)
_UNKNOWN_IDS = ("99", "#99", "999999999999999", "abcdef0123", "00000000-0000-7000-8000-000000000000")
_NO_LINES = ("", " ", "1\n2", "1\0", ESCAPE, BAD_BYTES)
_NO_IDS = (
    "1 OR 1=1", "'; DROP TABLE memories; --", '" OR ""="', "1.5", "-0", "../1", "%", "abc", "٣", "²", "#", "##1",
    "9" * 5_000, MEGABYTE, "NEAR(a b)", "*", "1e3", "0x1", "{}",
)  # fmt: skip


def bad_files(verb: str, *before: str) -> Cases:
    long = "path" if verb in ("record", "fail", "ok", "revise") else "file"  # what is kept has a limit, told by the draft's field
    return [*each(verb, "file", (*before, "--file"), *_PLACES), *each(verb, long, (*before, "--file"), MEGABYTE)]


def bad_numbers(verb: str, option: str, *before: str) -> Cases:
    return each(verb, option.lstrip("-"), (*before, option), *_NUMBERS)


def bad_names(verb: str, option: str, *before: str) -> Cases:
    return each(verb, option.lstrip("-"), (*before, option), *_NAMES)


def bad_ages(verb: str, option: str, *before: str) -> Cases:
    return each(verb, option.lstrip("-"), (*before, option), *_AGES)


def bad_ids(verb: str, *after: str, before: tuple[str, ...] = (), argument: str = "id") -> Cases:
    unknown = [(verb, Case((*before, word, *after), "id", "not_found")) for word in _UNKNOWN_IDS]
    return each(verb, argument, before, *_NO_LINES, after=after) + each(verb, "id", before, *_NO_IDS, after=after) + unknown


def bad_filters(verb: str, *before: str) -> Cases:
    closed = [
        item
        for option in ("kind", "outcome", "status", "trust")
        for item in each(verb, option, (*before, f"--{option}"), "nonsense", "", "ACTIVE", "rule,fact", ESCAPE, "'; --", MEGABYTE)
    ]
    opened = [
        item
        for option in ("tag", "branch", "ext", "path", "author")
        for item in (
            *bad_names(verb, f"--{option}", *before),
            *each(
                verb, option, (*before, f"--{option}"), "no-such-one", "x' OR 1=1 --", "%", "*", "*.py OR 1", "日本", "q" * 3_000
            ),
        )
    ]
    times = [item for option in ("since", "until") for item in each(verb, option, (*before, f"--{option}"), *_MOMENTS)]
    return [*closed, *opened, *times]


def everywhere(verb: str, *valid: str) -> Cases:
    """What no verb takes."""
    return [
        *cases(verb, "option", (*valid, "--nonsense"), (*valid, "-Z"), (*valid, "-Zx"), (*valid, "--" + MEGABYTE)),
        *cases(verb, "option", (*valid, "--" + ESCAPE), (*valid, "--" + BAD_BYTES), (*valid, "---json"), (*valid, "--no-json")),
        *cases(verb, "option", (*valid, "--help=1"), (*valid, "--JSON"), (*valid, "-'; --")),
        *cases(verb, "json", (*valid, "--json=yes"), (*valid, "--json=")),
        *cases(verb, "project", (*valid, "-p")),
        *each(verb, "project", (*valid, "-p"), "", " ", "a\nb", "a\0b", ESCAPE, BAD_BYTES),
        *each(verb, "name" if verb == "init" else "project", (*valid, "-p"), "../../etc", "shop' OR 'a'='a", MEGABYTE, ".",
            "x" * 65, "Ümläut", "a b"),
        *cases(verb, "folder", (*valid, "-C")),
        *each(verb, "folder", (*valid, "-C"), "/nonexistent/folder", "/etc/passwd", "a\0b", MEGABYTE, BAD_BYTES, "src/db.py",
            "/dev/null"),
    ]  # fmt: skip


def of_lessons(verb: str) -> Cases:
    return [
        *everywhere(verb, *LESSON),
        *bad_files(verb, *LESSON),
        *bad_names(verb, "--session", *LESSON),
        *cases(verb, "symbol", (), *((word, "x") for word in ("", " ", "\u200b", "\u3164", "a\nb", "a\0b"))),
        *cases(verb, "symbol", *((word, "x") for word in (ESCAPE, BAD_BYTES, MEGABYTE, "s" * 301))),
        *cases(verb, "arguments", ("A", "b", "c")),
        *cases(verb, "text", ("A", MEGABYTE), ("A", "y" * 2_001), ("A", "\u200b"), ("A", ESCAPE)),
        *cases(verb, "lesson", ("A", ""), ("A", " \n")),
        *cases(verb, "detail", ("A", "b", "-d", MEGABYTE), ("A", "b", "-d")),
        *cases(verb, "session", ("A", "b", "--session", "s" * 201)),
    ]


def of_an_id(verb: str, *after: str) -> Cases:
    return [
        *everywhere(verb, "1", *after),
        *bad_ids(verb, *after),
        *cases(verb, "arguments", ("1", "2", *after) if not after else ("1", *after, "2", "3")),
    ]


HOSTILE: Cases = [
    *everywhere("init"),
    *cases("init", "arguments", ("extra",)),
    *each("init", "name", ("--name",), "Ümläut", "a b", "../x", "x" * 65, *_NAMES),
    *each("init", "link", ("--link",), *_NAMES),
    *each("init", "split", ("--split",), *_NAMES),
    *each("init", "project", ("--link",), "nobody", "../x", "x" * 65),
    *each("init", "name", ("--split",), "../x", "a b", "x" * 65),
    *cases("init", "link", ("--name", "a", "--link", "b"), ("--link", "a", "--split", "b"), ("-p", "a", "--link", "b")),
    *cases("init", "split", ("--name", "a", "--split", "b")),
    *bad_numbers("init", "--limit"),
    *cases("init", "encrypt", ("--encrypt=1",)), *cases("init", "yes", ("--encrypt",), ("--encrypt", "--keyring")),
    *cases("init", "keyring", ("--keyring",), ("--encrypt", "--yes", "--keyring", "--key-file", "a.key")),
    *each("init", "key-file", ("--encrypt", "--yes", "--key-file"), *_NAMES),
    *cases("init", "key-file", ("--key-file", "a.key")),
    *each("init", "key", ("--encrypt", "--yes", "--key-file"), "/etc/passwd", "/dev/null", "/dev/zero", "/etc", "/proc/self/environ"),
    *everywhere("record", "a text"),
    *cases("record", "text", (), ("",), (" ", "\t\n"), ("\u200b\u2060",), (ESCAPE,), (MEGABYTE,), ("x" * 2_001,), ("--kind", "rule")),
    *given("record", "text", b"", "-"), *given("record", "text", b"a\0b", "-"), *given("record", "text", MEGABYTE.encode(), "-"),
    *given("record", "text", b"\x1b[31m\n", "-"), *given("record", "code", b"a\0b", "x", "--code", "-"),
    *given("record", "code", b"y" * 100_000, "x", "--code", "-"), *given("record", "code", b"x", "-", "--code", "-"),
    *each("record", "kind", ("x", "--kind"), "change", "KIND; --", ""),
    *each("record", "outcome", ("x", "--outcome"), "-1", ""),
    *each("record", "code", ("x", "--code"), "no/such/file", "/etc", "/dev/zero", "a\0b", "auth"),
    *bad_ages("record", "--expires", "x"),
    *cases("record", "detail", ("x", "--detail", MEGABYTE)),
    *cases("record", "because", ("x", "--because", MEGABYTE)),
    *cases("record", "rejected", ("x", "--rejected", MEGABYTE)),
    *each("record", "tag", ("x", "--tag"), "two words", "x" * 65, "a,b;--", *_NAMES),
    *each("record", "session", ("x", "--session"), "s" * 201, *_NAMES),
    *each("record", "symbol", ("x", "--symbol"), "s" * 301, *_NAMES),
    *bad_files("record", "x"),
    *of_lessons("fail"), *of_lessons("ok"),
    *cases("fail", "lesson", ("A",)),
    *everywhere("query", "A.b"),
    *each("query", "symbol", (), "", " ", "a\0b", ESCAPE, BAD_BYTES, "A\nB"),
    *cases("query", "arguments", ("A", "B")), *cases("query", "all", ("A", "--all=1")), *cases("query", "option", ("A", "--injct")),
    *bad_numbers("query", "--top"), *bad_files("query", "A.b"),
    *(case for verb in ("resolve", "deactivate", "undo", "show", "history", "useful", "useless") for case in of_an_id(verb)),
    *cases("undo", "id", ("  ",)),
    *everywhere("stats"),
    *each("stats", "symbol", (), "", "a\0b", ESCAPE, BAD_BYTES, "A\nB"), *cases("stats", "arguments", ("A", "B")),
    *bad_numbers("stats", "--top"), *bad_files("stats"),
    *everywhere("recall", "a task"),
    *cases("recall", "task", (), ("",), (" \n",)),
    *given("recall", "task", b"", "-"), *given("recall", "task", b"a\0b", "-"), *given("recall", "task", MEGABYTE.encode(), "-"),
    *bad_numbers("recall", "-k", "x"), *bad_numbers("recall", "--budget", "x"), *bad_names("recall", "--symbol", "x"),
    *bad_files("recall", "x"), *bad_filters("recall", "x"), *bad_filters("recall", "x", "--vectors"), *bad_filters("recall"),
    *cases("recall", "vectors", ("x", "--vectors=1"), ("x", "--vectors=")), *cases("recall", "block", ("x", "--block=1")),
    *cases("recall", "explain", ("x", "--explain=all")), *cases("recall", "exit-code", ("x", "--exit-code=3")),
    *everywhere("before", "--symbol", "A.b"),
    *cases("before", "file", ()), *cases("before", "arguments", ("A.b",)), *cases("before", "symbol", ("--symbol",)),
    *bad_numbers("before", "--budget", "--symbol", "A.b"), *bad_names("before", "--symbol"), *bad_files("before"),
    *cases("before", "lines", ("--file", "a.py", "--lines", "x"), ("--file", "a.py", "--lines", "9-3"), ("--file", "a.py", "--lines", "0"),
           ("--symbol", "A.b", "--lines", "1-2")),
    *cases("before", "diff", ("--diff", "/nope"), ("--diff", "auth"), ("--diff", "auth/service.py"), ("--diff=",), ("--diff",)),
    *cases("recall", "error", ("--error", "/nope"), ("--error", "auth"), ("--error",), ("--error", "-"), ("-", "--error", "-")),
    *everywhere("explain", "auth/service.py"),
    *cases("explain", "place", (), ("",), ("no.py",), ("no.py:3",), ("auth",), ("auth/service.py:99",), ("auth/service.py:0",),
           ("auth/service.py:3-1",), ("a\nb.py",), (f"{ESCAPE}.py",)),
    *cases("explain", "file", ("../out.py",), ("/etc/hostname",), ("x" * 5_000,)),
    *cases("explain", "arguments", ("auth/service.py", "extra")), *bad_numbers("explain", "--budget", "auth/service.py"),
    *everywhere("brief"),
    *cases("brief", "arguments", ("extra",)), *cases("brief", "budget", ("--budget",)), *bad_numbers("brief", "--budget"),
    *everywhere("forget", "1", "--yes"),
    *bad_ids("forget", "--yes"),
    *cases("forget", "id", (), ("--yes",), ("--dry-run",)), *cases("forget", "yes", ("1",), ("--tag", "x", "--yes=1")),
    *cases("forget", "id", ("1", "99x", "--yes"), ("1", "", "--yes")),
    *(case for option in ("--session", "--source", "--tag") for case in bad_names("forget", option, "--yes")),
    *bad_ages("forget", "--older-than", "--yes"),
    *cases("forget", "who", ("1", "--erase", "--yes"), ("1", "--erase"), ("1", "--erase", "--reason", "secret", "-y")),
    *each("forget", "reason", ("1", "--erase", "--yes", "--reason"), "", "why", "SECRET", "a text of mine", ESCAPE),
    *cases("forget", "reason", ("1", "--reason", "secret", "--yes"), ("1", "--erase", "--reason")),
    *cases("forget", "id", ("--erase", "--dry-run"), ("99x", "--erase", "--dry-run")), *cases("forget", "erase", ("1", "--erase=1")),
    *everywhere("revise", "1", "other words"),
    *bad_ids("revise", "other words"),
    *cases("revise", "id", ()), *cases("revise", "text", ("1",), ("1", "\u200b"), ("1", ESCAPE), ("1", MEGABYTE), ("1", "x" * 2_001)),
    *cases("revise", "words", ("1", ""), ("1", " ", "\n"), ("1", "-d", "x", "")),
    *given("revise", "words", b"a\0b", "1", "-"), *given("revise", "words", MEGABYTE.encode(), "1", "-"),
    *given("revise", "text", b"", "1", "-"), *given("revise", "code", b"x", "1", "-", "--code", "-"),
    *cases("revise", "detail", ("1", "-d", MEGABYTE), ("1", "-d")), *cases("revise", "because", ("1", "--because", MEGABYTE)),
    *each("revise", "code", ("1", "--code"), "no/such/file", "/etc", "/dev/zero", "a\0b"),
    *each("revise", "tag", ("1", "--tag"), "two words", "x" * 65, *_NAMES), *bad_names("revise", "--symbol", "1"),
    *bad_files("revise", "1"), *bad_ages("revise", "--expires", "1"),
    *cases("revise", "option", ("1", "--text", "x"), ("1", "x", "--kind", "rule")),
    *everywhere("diff", "1"),
    *bad_ids("diff"), *bad_numbers("diff", "--from", "1"), *bad_numbers("diff", "--to", "1"),
    *cases("diff", "from", ("1", "--from", "99")), *cases("diff", "to", ("1", "--to", "99")), *cases("diff", "arguments", ("1", "2")),
    *everywhere("link", "2", "1", "--supports"),
    *bad_ids("link", "1", "--supports"), *bad_ids("link", "--supports", before=("1",), argument="other"),
    *cases("link", "kind", ("1", "2"), ("1", "2", "--replaces", "--supports")), *cases("link", "supports", ("1", "2", "--supports=yes")),
    *cases("link", "id", ()), *cases("link", "other", ("1",), ("1", "", "--supports"), ("1", "1", "--supports")),
    *cases("link", "arguments", ("1", "2", "3", "--supports")), *cases("link", "option", ("1", "2", "--mentions")),
    *(case for verb in ("approve", "reject") for case in everywhere(verb, "1")),
    *(case for verb in ("approve", "reject") for case in each(verb, "id", (), "", " ", "1\n2", "1\0", ESCAPE, BAD_BYTES)),
    *(case for verb in ("approve", "reject") for case in cases(verb, "id", (), ("1", ""))),
    *(case for verb in ("approve", "reject") for case in each(verb, "who", (), "1", "99", "1 OR 1=1", "abc", "#1", MEGABYTE)),
    *cases("approve", "option", ("1", "--yes"), ("1", "-y")), *cases("reject", "who", ("1", "--yes"), ("1", "2", "-y")),
    *everywhere("review"), *bad_numbers("review", "--limit"), *cases("review", "arguments", ("1",), ("all",)),
    *everywhere("ingest", "docs"),
    *each("ingest", "source", (), "nonsense", "GIT", "git,docs", "git;--", "../docs", "--", "junitx", MEGABYTE, *_NAMES),
    *cases("ingest", "file", ("git", "docs"), ("junit",), ("junit", "no/such.xml"), ("log",), ("log", "no/such.log"), ("log", "a", "b")),
    *bad_names("ingest", "--commit", "junit"), *bad_names("ingest", "--job", "junit"), *cases("ingest", "dry-run", ("prs", "--dry-run")),
    *each("ingest", "file", ("junit",), "/dev/zero", "/dev/null", "/proc/self/mem", "src", "notes.jsonl", "src/db.py", "a\0b", BAD_BYTES,
          MEGABYTE, "../../nowhere.xml", ESCAPE),
    *each("ingest", "file", ("log",), "/dev/zero", "/dev/null", "/proc/self/mem", "src", "a\0b", MEGABYTE),
    *each("ingest", "file", ("transcripts",), "no/such.jsonl", "/dev/zero", "/dev/null", "src", "notes.jsonl", "src/db.py", "a\0b",
          MEGABYTE),
    *each("ingest", "client", ("transcripts", "--client"), "nobody", "CODEX", "", ESCAPE),
    *each("ingest", "since", ("transcripts", "--since"), *_MOMENTS),
    *each("ingest", "commit", ("junit", "report.xml", "--commit"), "nowhere", "--all", "HEAD~99", "; rm", "..", "x" * 2_000),
    *cases("ingest", "file", ("shared", "notes.jsonl"), ("code", "src"), ("deps", "src")),
    *cases("ingest", "dry-run", ("code", "--dry-run"), ("junit", "report.xml", "--dry-run"), ("log", "notes.jsonl", "--dry-run")),
    *cases("ingest", "source", ()), *bad_numbers("ingest", "--limit", "git"),
    *cases("ingest", "dry-run", ("docs", "--dry-run=1")),
    *everywhere("import", "notes.jsonl", "--dry-run"),
    *each("import", "file", (), "missing", "/dev/zero", "/dev/null", "/dev/stdin/x", "src", "x" * 5_000, "/proc/self/mem",
        "/etc/passwd/x",
          "x'; DROP TABLE memories; --", "~nobody-at-all/x", MEGABYTE, *_NAMES),
    *each("import", "format", ("notes.jsonl", "--format"), "", "JSONL", "csv", "sqlite", ESCAPE),
    *given("import", "file", b"", "-"), *given("import", "file", b"\0" * 1_000, "-"), *given("import", "file", b"SQLite format 3\0", "-"),
    *given("import", "file", b"\x1f\x8b\x08", "-"), *given("import", "hardwon", b'{"hardwon": 99}\n', "-"),
    *cases("import", "file", ()), *cases("import", "arguments", ("notes.jsonl", "more.jsonl")),
    *bad_names("import", "--only", "notes.jsonl"), *bad_names("import", "--project-map", "notes.jsonl"),
    *cases("import", "keep-trust", ("notes.jsonl", "--keep-trust"), ("notes.jsonl", "--keep-trust=1"), ("notes.jsonl",
        "--keep-trust", "--dry-run")),
    *cases("import", "only", ("notes.jsonl", "--only", "shop")), *cases("import", "project-map", ("notes.jsonl", "--project-map", "a=b")),
    *everywhere("export", "out.jsonl"),
    *each("export", "file", (), "src", "/dev/null", "/dev/full", "/dev/zero", "src/db.py", "no/such/folder/x", "x" * 300, "x" * 5_000,
          "/etc/passwd/x", "src/db.py/x", ".", "/", MEGABYTE, *_NAMES),
    *each("export", "format", ("out.jsonl", "--format"), "", "csv", "cm", "JSONL", ESCAPE),
    *cases("export", "arguments", ("a", "b")), *cases("export", "json", ("--json",), ("-", "--json")),
    *cases("export", "force", ("out.jsonl", "--force=1")), *bad_filters("export", "out.jsonl"),
    *everywhere("share", "--dry-run"), *bad_ids("share", "--dry-run"), *bad_filters("share", "--dry-run"),
    *cases("share", "option", ("--yes",), ("--force",), ("--private",), ("--to", "x")), *cases("share", "dry-run", ("--dry-run=1",)),
    *everywhere("reembed"),
    *bad_numbers("reembed", "--limit"), *cases("reembed", "arguments", ("all",), ("1",)), *cases("reembed", "history", ("--history=1",)),
    *everywhere("rekey"), *cases("rekey", "arguments", ("all",), ("1",)), *cases("rekey", "option", ("--force",), ("--key", "x")),
    *each("rekey", "key-file", ("--key-file",), *_NAMES), *cases("rekey", "keyring", ("--keyring=1",)),
    *cases("rekey", "decrypt", ("--decrypt=1",)),
    *cases("rekey", "key-file", ("--decrypt", "--key-file", "a.key"), ("--decrypt", "--yes", "--key-file", "a.key")),
    *cases("rekey", "keyring", ("--decrypt", "--keyring"), ("--keyring", "--key-file", "a.key")),
    *cases("rekey", "project", (), ("--yes",), ("--decrypt",), ("--decrypt", "--yes"), ("--keyring",), ("--key-file", "/etc/passwd")),
    *everywhere("compact"), *cases("compact", "arguments", ("all",), ("1",)), *cases("compact", "option", ("--yes",), ("--force",)),
    *cases("compact", "full", ("--full=1",), ("--full=",)),
    *everywhere("bench", "vectors"),
    *each("bench", "what", (), "nonsense", "VECTORS", "words", "vectors; --", MEGABYTE, *_NAMES), *cases("bench", "what", ()),
    *cases("bench", "arguments", ("vectors", "words")), *each("bench", "mode", ("vectors", "--mode"), "", "hnsw", "srvdb:",
        "FLAT", ESCAPE),
    *(case for option in ("-k", "--queries", "--seed") for case in bad_numbers("bench", option, "vectors")),
    *everywhere("status"), *cases("status", "arguments", ("extra",), ("1",)), *cases("status", "option", ("--top", "3"), ("--fix",)),
    *everywhere("torture"), *cases("torture", "arguments", ("extra",), ("power-loss",)),
    *(case for option in ("--seconds", "--images", "--seed") for case in bad_numbers("torture", option)),
    *cases("torture", "images", ("--images", "5"), ("--kills", "--images", "5"), ("--power-loss", "--faults", "--images", "5")),
    *each("torture", "report", ("--report",), "a.txt", "src", "src/db.py", "nowhere/a.html", "/etc/passwd", "/dev/null", "", "a\nb"),
    *cases("torture", "power-loss", ("--power-loss=1",)), *cases("torture", "project", ("-p", "shop"), ("-p", "payments")),
    *everywhere("verify"),
    *cases("verify", "arguments", ("extra",), ("1",)), *cases("verify", "option", ("--repair",), ("--secret",)),
    *everywhere("backup"),
    *cases("backup", "arguments", ("a.db", "b.db")), *bad_numbers("backup", "--keep"), *cases("backup", "keep", ("out.db", "--keep", "3")),
    *each("backup", "file", (), "src", "/dev/null", "/dev/full", "src/db.py", "no/such/folder/x", "x" * 5_000, "/etc/passwd/x", ".", "/",
          MEGABYTE, *_NAMES),
    *each("backup", "encrypt", ("out.db", "--encrypt"), "nobody", "AGE1", "age1", "ssh-ed25519 AAAA", "age1; rm", MEGABYTE, *_NAMES),
    *each("backup", "passphrase-file", ("out.db", "--passphrase-file"), "no/such/file", "/dev/zero", "/dev/null", "src", MEGABYTE, *_NAMES),
    *everywhere("restore", "out.db", "--yes"),
    *each("restore", "file", ("--yes",), "missing", "/dev/zero", "/dev/null", "src", "src/db.py", "x" * 5_000, "../../etc/passwd",
          "/etc/passwd", MEGABYTE, *_NAMES),
    *cases("restore", "file", ()), *cases("restore", "arguments", ("a", "b", "--yes")), *cases("restore", "yes", ("src/db.py",)),
    *each("restore", "identity", ("src/db.py", "--yes", "--identity"), "no/such/file", "/dev/zero", "src", MEGABYTE, *_NAMES),
    *each("restore", "key", ("src/db.py", "--yes", "--identity"), "src/db.py"),
    *each("restore", "passphrase-file", ("src/db.py", "--yes", "--passphrase-file"), "no/such/file", "/dev/zero", "src", MEGABYTE, *_NAMES),
    *cases("restore", "keep-newer", ("src/db.py", "--keep-newer=1")), *cases("restore", "dry-run", ("src/db.py", "--dry-run=no")),
    *everywhere("mcp"), *cases("mcp", "arguments", ("extra",), ("serve", "now")),
    *everywhere("run", "true"), *cases("run", "command", (), ("",)), *bad_names("run", "--job", "true"),
    *bad_names("run", "--junit", "true"),
    *everywhere("refresh"), *cases("refresh", "arguments", ("now",), ("a", "b")), *bad_numbers("refresh", "--limit"),
    *cases("refresh", "background", ("--background=1",)),
    *everywhere("install", "claude-code", "--dry-run"), *cases("install", "arguments", ("codex", "gemini"), ("git", "hooks")),
    *each("install", "client", (), "claude", "nobody", "CODEX", "../codex", "codex; rm", MEGABYTE, *_NAMES),
    *each("install", "scope", ("codex", "--scope"), "", "system", "USER", ESCAPE),
    *each("install", "scope", ("hermes", "--scope"), "project"),
    *each("install", "write-plugin", ("--write-plugin",), "src", *_NAMES),
    *everywhere("uninstall", "claude-code", "--dry-run"), *cases("uninstall", "arguments", ("codex", "gemini"), ("git", "hooks")),
    *each("uninstall", "client", (), "claude", "nobody", "CODEX", "codex; rm", MEGABYTE, *_NAMES), *cases("uninstall", "client", ()),
    *each("uninstall", "scope", ("codex", "--scope"), "", "system", "USER", ESCAPE),
    *everywhere("doctor"), *cases("doctor", "arguments", ("codex",), ("1",)), *cases("doctor", "option", ("--fix",), ("--yes",)),
    *everywhere("repair"),
    *cases("repair", "arguments", ("all",), ("1",)), *cases("repair", "dry-run", ("--dry-run=1",)),
    *cases("repair", "option", ("--yes",), ("--force",), ("--keep", "3"), ("--to", "x")),
    *cases("verify", "redact", ("--redact",), ("--redact", "--yes"), ("--redact=1",)), *cases("verify", "secrets", ("--secrets=1",)),
]  # fmt: skip


# A hook is no command of a person: it refuses nothing aloud, and has test_hostile_hooks.py.
APART = {"hook"}


def test_each_verb_meets_many_different_inputs() -> None:
    assert {name for name, _ in HOSTILE} == BY_NAME.keys() - APART
    for verb in (verb for verb in VERBS if verb.name not in APART):
        assert len({case for name, case in HOSTILE if name == verb.name}) >= LEAST, verb.name


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS if verb.name not in APART])
def test_hostile_input_is_refused_and_nothing_is_touched(
    kept: Kept, call: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    rows, before, files = counted(kept), contents(kept.home), set(kept.project.rglob("*"))

    def refused(case: Case) -> None:
        nonlocal before
        text = call(verb, *case.words, stdin=case.stdin, cwd=kept.project)
        assert text.code == CODES[case.kind], text
        if "--json" not in case.words:
            told(text)
        data = call(verb, *case.words, "--json", stdin=case.stdin, cwd=kept.project)
        told_as_json(data)
        assert (data.error["kind"], data.error["field"]) == (case.kind, case.field), data
        assert data.code == text.code
        was, before = before, contents(kept.home)
        assert before == was, "something was written"

    named = {
        f"{verb} {' '.join(ascii(word[:60]) for word in case.words)} <{case.stdin[:20]!a}": case
        for name, case in HOSTILE
        if name == verb
    }
    all_of({name: lambda case=case: refused(case) for name, case in named.items()})  # type: ignore[misc]
    assert counted(kept) == rows
    assert set(kept.project.rglob("*")) == files
    assert call("verify", cwd=kept.project).code == 0


def test_invalid_bytes_and_much_input_are_refused_by_the_real_command(kept: Kept, run: Command) -> None:
    before = contents(kept.home)
    there = {"HARDWON_HOME": str(kept.home)}
    for words in (["query", BAD_BYTES], ["fail", BAD_BYTES, "x"], ["show", BAD_BYTES], ["fail", "A", "x", "--file", BAD_BYTES]):
        told(refused := run(*words, env=there, cwd=kept.project))
        assert refused.code == 2
    told(run("record", "-", stdin=MEGABYTE, env=there, cwd=kept.project))
    told(run("record", "x", "--code", "-", stdin=MEGABYTE, env=there, cwd=kept.project))
    told(run("recall", "x" * 100_000, "--nonsense", env=there, cwd=kept.project))
    for variable in ("HARDWON_SESSION", "HARDWON_CLIENT"):
        told(run("fail", "A", "x", env={**there, variable: BAD_BYTES}, cwd=kept.project))
    assert contents(kept.home) == before


# What looks hostile and is a memory like any other: kept to the letter.


@pytest.mark.slow
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


def test_a_verdict_of_an_agent_reads_nothing(kept: Kept, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A yes on standard input is no person's."""
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    for words in (["approve", "1"], ["reject", "1"], ["reject", "1", "--yes"]):
        assert call(*words, "--json", stdin=b"y\n" * 9, cwd=kept.project).error["field"] == "who"
    refused = call("forget", "1", "--json", stdin=b"y\n", cwd=kept.project)
    assert (refused.code, refused.error["field"]) == (2, "yes")


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
