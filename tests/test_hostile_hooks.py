"""Hostile input to `hook`, which refuses nothing aloud: it ends with 0 and without a word, tells it in its log, and changes nothing."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.doors import advice, cli, hook_log  # noqa: F401 - loaded before the forks
from hardwon.engine import opening, sessions  # noqa: F401
from tests.conftest import Result
from tests.hostile import BAD_BYTES, ESCAPE, MEGABYTE, Kept, all_of, contents, kept, make_kept

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Result]

__all__ = ["kept"]  # the fixture

LEAST = 25


def hooked(words: tuple[str, ...], raw: bytes, cwd: Path) -> Result:
    """The command in a process of its own, which is forked from this one: a hook reads and writes its descriptors, not Python's streams."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(raw)
        given.seek(0)
        child = os.fork()
        if not child:
            code = 99
            try:
                for number, file in enumerate((given, out, err)):
                    os.dup2(file.fileno(), number)
                os.chdir(cwd)
                code = cli.main(list(words))
            except SystemExit as end:
                code = int(end.code or 0)
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return Result(code, out.read().decode(), err.read().decode())


def edit(folder: Path, **more: Any) -> bytes:
    """A call that would be told of the lesson of its file."""
    given = {"file_path": str(folder / "auth/service.py"), "old_string": "text that stands nowhere", "new_string": ""}
    payload = {"session_id": "s", "cwd": str(folder), "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": "t"}
    return json.dumps(payload | {"tool_input": given} | more).encode()


CLIENTS: tuple[tuple[str, ...], ...] = (
    (), ("",), (" ",), ("nobody",), ("CODEX",), ("claude",), ("claude-code; rm -rf /",), ("../codex",), ("--", "codex;"), ("a\nb",),
    (ESCAPE,), ("a\0b",), (BAD_BYTES,), (MEGABYTE,), ("٣",), ("zed",), ("aider",), ("--json",), ("-x",), ("git",), ("all",),
    ("'; DROP TABLE memories; --",),
)  # fmt: skip
MEMORIES: tuple[tuple[str, ...], ...] = tuple(
    ("claude-code", "-p", name) for name in ("nobody", "../shop", "shop' OR 'a'='a", ESCAPE, BAD_BYTES, MEGABYTE, ".", "a\0b")
)
FOLDERS: tuple[tuple[str, ...], ...] = tuple(
    ("claude-code", "-C", name) for name in ("/nonexistent", "/etc/passwd", "/dev/null", "src/db.py", MEGABYTE, BAD_BYTES, ESCAPE)
)


@pytest.mark.slow
def test_words_that_are_none_are_told_in_the_log_and_nothing_is_touched(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({*CLIENTS, *MEMORIES, *FOLDERS}) >= LEAST
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    log, before, files = kept.home / hook_log.NAME, contents(kept.home), set(kept.project.rglob("*"))

    def silent(words: tuple[str, ...], *, told: bool) -> None:
        done = hooked(("hook", *words), edit(kept.project), kept.project)
        assert (done.code, done.out, done.err) == (0, "", ""), done
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        assert len(lines) == told, lines
        assert all(line.isprintable() and len(line) < 300 for line in lines)
        assert contents(kept.home) == before, "something was written"

    named = {ascii(words)[:60]: (words, True) for words in (*CLIENTS, *MEMORIES)} | {
        ascii(words)[:60]: (words, False) for words in FOLDERS
    }
    all_of({name: lambda words=words, told=told: silent(words, told=told) for name, (words, told) in named.items()})  # type: ignore[misc]
    assert set(kept.project.rglob("*")) == files


# Payloads that no client sends; most are told in the log, what may be a version of tomorrow is passed over. test_hooks.py has thousands.
PAYLOADS: dict[str, Any] = {
    "nothing": b"", "no JSON": b"{", "a list": b"[]", "a text": b'"x"', "null": b"null", "deep": b"[" * 100_000, "bytes": b"\xff\xfe\0",
    "a number": b"1e999", "no event": {"hook_event_name": ""}, "an event that is none": {"hook_event_name": "'; --"},
    "an event of another type": {"hook_event_name": ["PreToolUse"]}, "a folder that is gone": {"cwd": "/nonexistent"},
    "a folder that is none": {"cwd": "/dev/null"}, "a relative folder": {"cwd": "."}, "a folder with a NUL": {"cwd": "/a\0b"},
    "no tool": {"tool_name": None},
    "a tool that reads": {"tool_name": "Read"}, "a tool of another type": {"tool_name": 7},
    "another repository": {"cwd": "/"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("client", ["claude-code", "gemini", "cursor"])
def test_payloads_that_are_none_write_nothing_but_the_log(kept: Kept, monkeypatch: pytest.MonkeyPatch, client: str) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    before = {name: held for name, held in contents(kept.home).items() if name != hook_log.NAME}

    def passed(payload: Any) -> None:
        raw = payload if isinstance(payload, bytes) else edit(kept.project, **payload)
        done = hooked(("hook", client), raw, kept.project)
        assert done.code == 0
        assert not done.err
        assert done.out.strip() in ("", "{}"), done
        (kept.home / hook_log.NAME).unlink(missing_ok=True)
        assert contents(kept.home) == before, "something was written"

    all_of({name: lambda payload=payload: passed(payload) for name, payload in PAYLOADS.items()})  # type: ignore[misc]


def test_options_before_the_verb_mean_the_same_and_nothing_else_is_printed(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_kept(template, tmp_path)
    monkeypatch.setenv("HARDWON_HOME", str(made.home))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shop = (made.project, edit(made.project, session_id="a")), (elsewhere, edit(made.project, session_id="b"))
    for number, words in enumerate(
        (("--json",), ("-p", "shop"), ("-C", str(made.project)), ("-C", os.path.relpath(made.project, elsewhere)))
    ):
        cwd, raw = shop[0] if words == ("--json",) else shop[1]
        done = hooked((*words, "hook", "claude-code"), raw.replace(b'"b"', f'"b{number}"'.encode()), cwd)
        assert done.code == 0
        assert "tokens expire early" in json.loads(done.out)["hookSpecificOutput"]["additionalContext"], words
    assert hooked(("-p", "nobody", "hook", "claude-code"), edit(made.project), elsewhere).out == ""
