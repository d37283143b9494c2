"""No text takes longer than its length, whoever wrote it.

A hook's deadline cannot stop a regular expression, which holds the interpreter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.agents import blocks, edits, jsonc, outcomes, patches, payload, tomltext
from hardwon.agents.shell_edits import changed
from hardwon.capture import (
    command_name,
    lesson,
    ours,
    outcome,
    passages,
    powershell,
    prose,
    results,
    routine,
    speech,
    windows,
    worktrees,
)
from hardwon.capture.commands import works
from hardwon.capture.shell import split
from hardwon.code import diff
from hardwon.code.stack import frames
from hardwon.code.stack.signature import signature
from hardwon.code.traces import parse
from hardwon.importers import ci_log, headings, message, notes
from hardwon.importers.manifests import golang, java, javascript
from hardwon.importers.manifests import python as of_python
from hardwon.importers.transcripts import claude, codex_output, codex_scripts, gemini
from hardwon.intake import shape
from hardwon.intake.redact import redact
from hardwon.search import terms
from tests.growth import LENGTH, repeated, takes_the_square

if TYPE_CHECKING:
    from collections.abc import Callable

STAMP = "2026-01-01T00:00:00.0000000Z "
READERS: dict[str, Callable[[str], Any]] = {
    "redact": redact, "strip": lambda text: ours.strip(f"hardwon {text}"),
    "strip block": lambda text: ours.strip(f"<hardwon-memory> {text}"),
    "strip meant": lambda text: ours.strip(f"hardwon {text}", meant=True),
    "strip whole": lambda text: ours.strip(f"hardwon {text}", whole=True),
    "is_command": lambda text: ours.is_command(f"hardwon {text}"), "person": lambda text: speech.heard(text, person=True),
    "agent": lambda text: speech.heard(f"We decided {text}", person=False), "unwrapped": prose.unwrapped, "stable": lesson.stable,
    "signature": lambda text: signature("E", text), "traces": parse, "readied": frames.readied, "routine": routine.of_text,
    "of_failure": lambda text: routine.of_failure("E", text), "changed": changed, "sed": lambda text: changed(f"sed -i {text}"),
    "powershell": powershell.translated, "cmd": lambda text: windows.handed_on("cmd", ("cmd", "/c", text)),
    "changed by powershell": lambda text: changed(f"Set-Content a.py {text}"),
    "works": works, "split": split, "worktrees": lambda text: worktrees.added(f"git worktree add {text}", "/"), "names": command_name.names,
    **{f"results of {sign}": lambda text, sign=sign: results.read(f"{sign}\n{text}") for sign in (
        "Tests:  ", "Test Files ", " passing\n  1 passing\n  1 failing", "# tests ", " pass",
    )},
    "results": results.read, "failure": results.failure, "readable": outcome.readable, "symbols": passages.symbols,
    "exit_code": outcomes.exit_code, "denial": outcomes.is_denial, "patch": patches.parse, "replacements": patches.replacements,
    "is_patch": edits.is_patch, "diff": lambda text: diff.parse(f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n{text}"), "unquoted": diff.unquoted,
    "jsonc": jsonc.read, "toml": tomltext.read, "blocks": blocks.find, "payload": lambda text: payload.parse(text.encode()),
    "log": ci_log.read, "steps": lambda text: ci_log.read(f"{STAMP}##[group]Run x\n{STAMP}##[error]{text}"),
    "markdown": lambda text: headings.read(text, "markdown"), "rst": lambda text: headings.read(text, "rst"),
    "asciidoc": lambda text: headings.read(text, "asciidoc"), "message": message.split_message,
    "relations": lambda text: message.relations("a" * 40, f"Fix\n\nThis reverts commit {text}"),
    "pull request": lambda text: message.pull_request(text, text), "front": lambda text: notes.front_matter(f"---\n{text}"),
    "requirements": lambda text: list(of_python.requirements(text)), "setup.cfg": lambda text: list(of_python.setup_cfg(text)),
    "gradle": lambda text: list(java.build_gradle(text)), "go.mod": lambda text: list(golang.go_mod(text)),
    "yarn": lambda text: list(javascript.yarn_lock(text)), "pnpm": lambda text: list(javascript.pnpm_lock(text)),
    "slash command": lambda text: claude._said(f"<command-name>{text}"),
    "untrusted": lambda text: gemini._WRAPPED.match(f"<untrusted_context>{text}"),
    "script": lambda text: codex_scripts.read_several(f"const a = {text}"),
    "scripts at once": lambda text: codex_scripts.read_several(f"const a = await Promise.all([tools.exec_command({{cmd: 'a'}}), {text}"),
    "sandbox": lambda text: codex_output.is_over(f"failed in sandbox {text}") or codex_output.ending(f"failed in sandbox: {text}", {}),
    "terms": terms.text_terms, "fold": shape.fold, "hides": shape.hides, "clean": lambda text: shape.clean_text(text, "text", 10**7),
}  # fmt: skip

SIGNS = [
    "\\",
    '"',
    "'",
    "`",
    " ",
    "\t",
    "\n",
    "\r",
    "=",
    ":",
    "/",
    "-",
    "_",
    "a",
    "A",
    "1",
    ".",
    ",",
    ";",
    "&",
    "%",
    "$",
    "|",
    "*",
    "#",
    "@",
    "!",
    "~",
]
NESTED = ["(", ")", "[", "]", "{", "}", "<", ">", "$(", "${", "<<", "((", "[(", "<!--", "/*", "```\n"]
WORDS = [
    "\\n", "\\u00", "\r\n", " \n", "aB1", "a b ", "a\n", "a.b.", "a/b/", "a=", "a: ", "1.", "- ", "# ", "\x1b[", "\x1b]", "\x00", "é", "中",
    "password=", "token: ", "Bearer ", "-----BEGIN ", "https://a:b@", "secret is ", "eyJ", "passwort ", "don't ", "we decided ", "because ",
    "Error: ", "at x (", '  File "a", line 1, in x\n', "E   ", "<a>", "</a>", "&amp;", "&#", "%3c", "\\u003c", "hardwon: ", "· ",
    "<hook_prompt> ", "</system-reminder>", "<hardwon-memory>", "</hardwon-memory>", "[#1 · lesson · ", "<!-- hardwon:begin -->",
    "FAILED a::b - ", "--- FAIL: x\n", "goroutine 1 ", "thread 'a' panicked at ", "Traceback (most recent call last):\n", "##[group]",
    "@@ -1 +1 @@\n", "diff --git a/a b/a\n", "*** Update File: a\n", "sed -i ", "bash -c '", "&& ", "fixes #1 ", "(#1)", "<command-args>",
    "[a](b", "| a ", "tests/a.py::b ", "a.java:1)", "/a/b/c.js:1:1\n", " FAIL  a.ts > b\n", "❯ a.ts:1:2\n", "✖ a (1ms)\n",
    "not ok 1 - a\n", "(fail) a\n", "  ● a\n", "  1) a\n", "a.ts:1:2: error: b:\n",
    "<<E\n", "\nProcess Group PGID: 1", "</untrusted_context>",
]  # fmt: skip


def slow(read: Callable[[str], Any], units: list[str], length: int = LENGTH) -> list[str]:
    """The units of which a text takes longer than its length."""
    return [unit for unit in units if any(takes_the_square(read, repeated(unit, end), length) for end in ("", "x"))]


@pytest.mark.slow
def test_the_square_is_seen_and_the_length_is_not_taken_for_it() -> None:
    assert takes_the_square(re.compile("a*a*b").match, repeated("a"), 6_000)
    assert not takes_the_square(lambda text: [sign for sign in text if sign > "a"], repeated("a"), 1_000_000)


@pytest.mark.parametrize(
    "reader", ["strip", "strip meant", "redact", "failure", "traces", "routine", "works", "changed", "powershell", "cmd"]
)
def test_a_run_of_one_sign_takes_no_longer_than_its_length(reader: str) -> None:
    assert not slow(READERS[reader], ["\\", '"', "\r", "\n", " ", "(", "a"], 4_000)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_no_text_takes_longer_than_its_length(reader: str) -> None:
    assert not slow(READERS[reader], [*SIGNS, *NESTED, *WORDS])
