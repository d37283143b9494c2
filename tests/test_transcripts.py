"""Transcripts of agents' clients: read into events, in the shape that each client and version writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.capture import ours
from hardwon.capture.episode import State, step
from hardwon.errors import InvalidInput
from hardwon.importers import database
from hardwon.importers import source as sources
from hardwon.importers.transcripts import finding, opencode, reading
from hardwon.importers.transcripts.finding import Ground, Roots, Transcript
from hardwon.importers.transcripts.records import Tally, millis
from hardwon.search.pack import CLOSING, OPENING
from tests import transcriptmaker as made
from tests.transcriptmaker import FORMS, Maker, Step, client_of, edit, hook, prompt, said, shell, tool, write

if TYPE_CHECKING:
    from hardwon.capture.event import Event

REAL = Path(__file__).parent / "transcripts"
SHOP = "/home/ann/shop"


def roots(home: Path) -> Roots:
    return Roots(
        (str(home / ".claude"),), str(home / ".codex"), str(home / ".gemini"), str(home / ".local" / "share" / "opencode")
    )


def found(home: Path, cwd: Path | str) -> list[Transcript]:
    return list(finding.find(Ground((str(cwd),)), roots(home)).transcripts)


def events(transcript: Transcript) -> tuple[list[Event], Tally]:
    tally = Tally()
    return list(reading.read(transcript, tally)), tally


def told(form: str, tmp_path: Path, steps: list[Step]) -> tuple[list[Event], Tally]:
    """What a session of that form tells."""
    cwd = tmp_path / "shop"
    cwd.mkdir(exist_ok=True)
    path = Maker(tmp_path, cwd).write(form, steps)
    several = finding.named(str(path), Ground((str(cwd),))) if form == "transcript" else found(tmp_path, cwd)
    assert len(several) == 1
    return events(several[0])


def moments(several: list[Event]) -> list[tuple[str, ...]]:
    return [
        (one.moment, one.tool, one.ended, str(one.exit_code)) if one.moment == "after" else (one.moment, one.tool or one.text)
        for one in several
    ]


# --- what each form tells


@pytest.mark.parametrize("form", FORMS)
def test_each_form_tells_the_same_session(form: str, tmp_path: Path) -> None:
    several, tally = told(form, tmp_path, made.fix(tmp_path / "shop"))
    first, last = "Make the test of the total pass, please.", "The total is right now."
    edited = ("after", "edit", "ok", "0" if form in ("codex", "codex-envelope", "codex-first") else "None")
    assert moments(several) == [
        ("start", ""), ("prompt", first), ("said", "I run the tests first."), ("before", "shell"), ("after", "shell", "failed", "1"),
        ("before", "edit"), edited, ("before", "shell"), ("after", "shell", "ok", "0"), ("said", last),
    ]  # fmt: skip
    assert {one.client for one in several} == {client_of(form)}
    assert len({one.session for one in several}) == 1
    assert {one.cwd for one in several if one.moment != "start"} == {str(tmp_path / "shop")}
    (change,) = next(one for one in several if one.moment == "after" and one.tool == "edit").edits
    assert (change.path, change.kind) == (str(tmp_path / "shop" / "shop.py"), "change")
    assert (change.old.split("\n")[-1], change.new.split("\n")[-1]) == ("    return sum(cart)", "    return sum(cart) + 1")
    failed = next(one for one in several if one.ended == "failed")
    assert failed.command == "python3 -m pytest -q"
    assert "FAILED test_shop.py::test_total - assert 3 == 4" in failed.output
    times = [one.at for one in several if form != "codex-first"]
    assert times == sorted(times)
    assert (tally.unknown, tally.broken, tally.cut, tally.rewound) == ({}, 0, 0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_refused_command_has_not_failed(form: str, tmp_path: Path) -> None:
    several, _ = told(form, tmp_path, [prompt("Clean up"), Step("denied", "rm -rf build")])
    ended = [one.ended for one in several if one.moment == "after"]
    assert ended == (["failed"] if form == "transcript" else ["denied"])


@pytest.mark.parametrize("form", [one for one in FORMS if one not in ("codex-first", "gemini-json", "transcript")])
def test_subagents_belong_to_their_session_and_their_prompts_are_no_persons(form: str, tmp_path: Path) -> None:
    cwd = tmp_path / "shop"
    cwd.mkdir()
    maker = Maker(tmp_path, cwd)
    session, agent = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
    maker.write(form, [prompt("Count the files"), said("There are three.")], session)
    maker.write(form, [prompt("Count them for me"), shell("ls | wc -l", "3\n"), said("Three.")], session, agent=agent)
    (one,) = found(tmp_path, cwd)
    several, _ = events(one)
    assert one.session == session
    assert {event.session for event in several} == {session}
    assert [event.text for event in several if event.moment == "prompt"] == ["Count the files"]
    assert [(event.agent, event.command) for event in several if event.moment == "after"] == [(agent, "ls | wc -l")]


# --- Claude Code


def claude(tmp_path: Path, records: list[dict[str, Any]], tail: str = "") -> tuple[list[Event], Tally]:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records) + tail)
    return events(Transcript("claude-code", "s", (str(path),)))


def test_what_a_person_went_back_from_is_not_told(tmp_path: Path) -> None:
    maker = Maker(tmp_path, SHOP)
    first = maker.claude_records([prompt("Add a cache"), said("Ready")], "s")
    left = maker.claude_records([prompt("Use Redis"), shell("redis-cli ping", "PONG")], "s", parent=first[-1]["uuid"])
    kept = maker.claude_records([prompt("Use SQLite"), said("Done")], "s", parent=first[-1]["uuid"])
    several, tally = claude(tmp_path, [*first, *left, *kept])
    assert [one.text for one in several if one.moment in ("prompt", "said")] == ["Add a cache", "Ready", "Use SQLite", "Done"]
    assert not [one for one in several if one.command]
    assert tally.rewound == len(left)


def test_parallel_calls_are_all_told(tmp_path: Path) -> None:
    maker = Maker(tmp_path, SHOP)
    first = maker.claude_records([prompt("Look"), shell("ls", "a"), shell("pwd", "/")], "s")
    # Both calls first, then their results, each a child of its own call.
    _, call1, result1, call2, result2 = first
    call2["parentUuid"], result1["parentUuid"], result2["parentUuid"] = call1["uuid"], call1["uuid"], call2["uuid"]
    rest = maker.claude_records([said("Seen"), prompt("Good")], "s", parent=result2["uuid"])
    several, tally = claude(tmp_path, [first[0], call1, call2, result1, result2, *rest])
    assert [one.command for one in several if one.moment == "after"] == ["ls", "pwd"]
    assert tally.rewound == 0


def test_a_session_goes_on_after_compaction_and_its_summary_is_nobodys_words(tmp_path: Path) -> None:
    maker = Maker(tmp_path, SHOP)
    before = maker.claude_records([prompt("Add a cache"), said("Ready")], "s")
    boundary = {**before[-1], "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None,
                "logicalParentUuid": before[-1]["uuid"], "compactMetadata": {"trigger": "auto"}}  # fmt: skip
    told_again = {
        **before[0],
        "uuid": "c",
        "parentUuid": "b",
        "isCompactSummary": True,
        "message": {"role": "user", "content": "We decided it."},
    }
    after = maker.claude_records([prompt("Go on")], "s", parent="c")
    several, _ = claude(tmp_path, [*before, boundary, told_again, *after])
    assert [(one.moment, one.text or one.source) for one in several] == [
        ("start", "startup"), ("prompt", "Add a cache"), ("said", "Ready"), ("compact", "auto"), ("prompt", "Go on"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "<command-name>/fix</command-name>\n<command-args>the login, never with sleep</command-args>",
            ["the login, never with sleep"],
        ),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", []),
        ("<local-command-stdout>Set model</local-command-stdout>", []),
        ("<bash-input>ls</bash-input>", []),
        ("[Request interrupted by user for tool use]", []),
        ([{"type": "text", "text": "Look at this"}, {"type": "image", "source": {"data": "aGVsbG8="}}], ["Look at this"]),
    ],
)
def test_what_the_client_writes_in_a_persons_place_is_not_theirs(content: Any, words: list[str], tmp_path: Path) -> None:
    record = Maker(tmp_path, SHOP).claude_records([prompt("x")], "s")[0]
    record["message"]["content"] = content
    several, _ = claude(tmp_path, [record])
    assert [one.text for one in several if one.moment == "prompt"] == words


def test_unknown_records_are_counted_and_a_cut_last_line_is_no_damage(tmp_path: Path) -> None:
    records = [
        {"type": "telepathy", "sessionId": "s"},
        {"type": ["odd"]},
        *Maker(tmp_path, SHOP).claude_records([prompt("Hi")], "s"),
    ]
    several, tally = claude(tmp_path, records, '{"type": "assistant", "mess')
    assert [one.text for one in several if one.moment == "prompt"] == ["Hi"]
    assert (tally.unknown, tally.broken, tally.cut) == ({"telepathy": 1, "(none)": 1}, 0, 1)


# --- Codex


def codex(tmp_path: Path, records: list[dict[str, Any]]) -> list[Event]:
    path = tmp_path / "rollout.jsonl"
    head = {"timestamp": "2026-05-04T10:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": SHOP}}
    path.write_text("".join(json.dumps(one) + "\n" for one in [head, *records]))
    return events(Transcript("codex", "s", (str(path),)))[0]


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-05-04T10:00:01Z", "type": "response_item", "payload": payload}


def notice(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-05-04T10:00:02Z", "type": "event_msg", "payload": payload}


CALL = item(type="function_call", name="exec_command", arguments='{"cmd": "make"}', call_id="c1")


@pytest.mark.parametrize(
    ("records", "ended"),
    [
        ([item(type="function_call_output", call_id="c1", output="no word of an end")], ("unknown", None)),
        (
            [
                item(type="function_call_output", call_id="c1", output="text"),
                notice(type="exec_command_end", call_id="c1", exit_code=2),
            ],
            ("failed", 2),
        ),
        (
            [
                notice(type="exec_command_end", call_id="c1", exit_code=0),
                item(type="function_call_output", call_id="c1", output="x"),
            ],
            ("ok", 0),
        ),
        (
            [item(type="function_call_output", call_id="c1", output="Exit code: 3\nWall time: 0 seconds\nOutput:\nbad")],
            ("failed", 3),
        ),
        ([item(type="function_call_output", call_id="c1", output="aborted by user after 3.1s")], ("interrupted", None)),
        ([notice(type="turn_aborted", reason="interrupted")], ("interrupted", None)),
    ],
)
def test_the_end_of_a_command_is_taken_from_whatever_tells_it(records: list[dict[str, Any]], ended: Any, tmp_path: Path) -> None:
    after = [one for one in codex(tmp_path, [CALL, *records]) if one.moment == "after"]
    assert [(one.ended, one.exit_code) for one in after] == [ended]


def test_a_command_in_the_background_ends_with_the_call_that_waited_for_it(tmp_path: Path) -> None:
    running = "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n"
    ended = "Chunk ID: 2\nWall time: 9.0 seconds\nProcess exited with code 1\nOutput:\nFAILED test_a.py::test_b\n"
    several = codex(tmp_path, [
        CALL, item(type="function_call_output", call_id="c1", output=running),
        item(type="function_call", name="write_stdin", arguments='{"session_id": 7, "chars": ""}', call_id="c2"),
        item(type="function_call_output", call_id="c2", output=ended),
    ])  # fmt: skip
    (after,) = [one for one in several if one.moment == "after"]
    assert (after.call, after.command, after.ended, after.exit_code) == ("c1", "make", "failed", 1)
    assert after.output == "FAILED test_a.py::test_b\n"


def test_what_a_script_of_the_agent_runs_is_told_by_its_items(tmp_path: Path) -> None:
    (transcript,) = finding.find(Ground((SHOP,)), Roots(codex=str(REAL / "codex-0.171.0-scripts"))).transcripts
    several, tally = events(transcript)
    assert ("python3 -m pytest -q -p no:cacheprovider", "failed", 1) in [
        (one.command, one.ended, one.exit_code) for one in several if one.moment == "after"
    ]
    assert [change.path for one in several if one.moment == "after" for change in one.edits][:1] == [f"{SHOP}/shop.py"]
    assert tally.unknown == {}


def script(source: str, *printed: str, head: str = "Script completed", name: str = "x1") -> list[dict[str, Any]]:
    """A script of the agent, and what came of it."""
    blocks = [f"{head}\nWall time 0.1 seconds\nOutput:\n", *printed]
    output = [{"type": "input_text", "text": one} for one in blocks]
    return [
        item(type="custom_tool_call", name="exec", call_id=name, input=source),
        item(type="custom_tool_call_output", call_id=name, output=output),
    ]


MAKE = 'const r = await tools.exec_command({cmd: "make", "workdir": "/home/ann/shop/lib"}); '
PATCH = "*** Begin Patch\n*** Update File: shop.py\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize(
    ("rest", "printed", "ended"),
    [
        ("text(r.output);", ["Exit code: 3\nfailed to say"], ("unknown", None)),
        ("text(r.output);", ['{"exit_code": 1, "output": "a file"}'], ("unknown", None)),
        ("text(JSON.stringify(r));", ['{"chunk_id":"a","exit_code":2,"output":"bad"}'], ("failed", 2)),
        ("text(r);", ['{"chunk_id":"a","exit_code":0,"output":"good"}'], ("ok", 0)),
        ("text({exit_code: r.exit_code, output: r.output});", ['{"exit_code":4,"output":"bad"}'], ("failed", 4)),
        ("text(r.output); text(`exit=${r.exit_code}`)", ["words", "exit=1"], ("failed", 1)),
        ("text(r.output); text(`code (${r.exit_code})\\n`)", ["words", "code (0)\n"], ("ok", 0)),
        ("text(r.output); text(`exit=${r.exit_code}`)", ["exit=1 or so"], ("unknown", None)),
    ],
)
def test_the_one_call_of_a_script_is_told_and_its_end_where_the_script_shows_it(
    rest: str, printed: list[str], ended: Any, tmp_path: Path
) -> None:
    before, after = codex(tmp_path, script(MAKE + rest, *printed))[1:]
    assert (before.moment, before.command, before.cwd) == ("before", "make", "/home/ann/shop/lib")
    assert (after.call, after.command, after.ended, after.exit_code) == ("x1", "make", *ended)
    assert after.output


def test_what_a_script_shows_of_a_call_without_the_end_of_it_is_its_output(tmp_path: Path) -> None:
    rest = 'let {output, ...rest} = await tools.exec_command({cmd: "make"}); text(rest); text(output)'
    (after,) = [
        one for one in codex(tmp_path, script(rest, '{"chunk_id":"a","exit_code":1}', "1 failed\n")) if one.moment == "after"
    ]
    assert (after.ended, after.exit_code, after.output) == ("failed", 1, "1 failed\n")


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ("{cmd: 'it\\'s \\x41\\u0042\\u{43}\\ud83d\\ude00\\n'}", "it's ABC😀\n"),
        ("{cmd: `echo \\`a\\` \\${b}\nc`}", "echo `a` ${b}\nc"),
        ("{cmd: String.raw`grep '\\d'`, tty: false, rule: [1, -2.5, null,],}", "grep '\\d'"),
        ("{cmd: command}", "make all"),
        ("{// why\n command: 'x', sub: {a: {}},}", "x"),
        ("{cmd: `make ${target}`}", ""),
        ("{cmd: 'make ' + target}", ""),
        ("{cmd: command.trim()}", ""),
        ("{cmd: other}", ""),
        ("{...given, cmd: 'x'}", ""),
        ("given", ""),
        ("{cmd: 'x'", ""),
    ],
)
def test_a_script_is_read_as_far_as_it_is_written_out(given: str, command: str, tmp_path: Path) -> None:
    source = f"// the build\nconst command = 'make all';\ntext(await tools.exec_command({given}));"
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in script(source, "x")))
    several, tally = events(Transcript("codex", "s", (str(path),)))
    assert [one.command for one in several if one.moment == "after"] == [command] * bool(command)
    assert tally.unknown == ({} if command else {"custom_tool_call/exec": 1})


@pytest.mark.parametrize(
    "source",
    [
        'for (const cmd of ["a", "b"]) { text(await tools.exec_command({cmd: "x"})); }',
        'const a = await tools.exec_command({cmd: "a"}); const b = await tools.exec_command({cmd: "b"});',
        'const all = await Promise.all(["a"].map(cmd => tools.exec_command({cmd})));',
        'const t = tools; const r = await t["exec_command"]({cmd: "a"});',
        "text(await tools.exec_command({}));",
    ],
)
def test_scripts_that_do_more_than_one_written_out_call_are_counted(source: str, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in script(source, "x")))
    several, tally = events(Transcript("codex", "s", (str(path),)))
    assert (several, tally.unknown) == ([], {"custom_tool_call/exec": 1})


@pytest.mark.parametrize(
    "rest", ["text(JSON.stringify(r));", "text(r.output); if (r.session_id) text(`SESSION=${r.session_id}`);"]
)
def test_a_command_that_a_script_left_in_the_background_ends_with_the_script_that_shows_its_end(
    rest: str, tmp_path: Path
) -> None:
    whole = "JSON" in rest
    begun = ['{"chunk_id":"a","session_id":71234,"output":"one\\n"}'] if whole else ["one\n", "SESSION=71234"]
    poll = 'const r = await tools.write_stdin({session_id: 71234, chars: ""}); '
    several = codex(tmp_path, [
        *script(MAKE + rest, *begun), *script(poll + "text(r.output)", "two\n", name="x2"),
        *script(poll + "text(r)", '{"chunk_id":"b","exit_code":1,"output":"three\\n"}', name="x3"),
    ])  # fmt: skip
    (after,) = [one for one in several if one.moment == "after"]
    assert (after.call, after.ended, after.exit_code, after.output) == ("x1", "failed", 1, "one\ntwo\nthree\n")


def test_a_command_in_the_background_that_only_words_are_shown_of_ends_unknown_before_the_next_script(tmp_path: Path) -> None:
    poll = 'const r = await tools.write_stdin({session_id: 71234, chars: ""}); text(r.output)'
    several = codex(tmp_path, [
        *script(MAKE + "text(r)", '{"chunk_id":"a","session_id":71234,"output":""}'), *script(poll, "1 passed\n", name="x2"),
        *script('const r = await tools.exec_command({cmd: "ls"}); text(r.output)', "lib\n", name="x3"),
    ])  # fmt: skip
    assert [(one.command, one.ended, one.output) for one in several if one.moment == "after"] == [
        ("make", "unknown", "1 passed\n"), ("ls", "unknown", "lib\n"),
    ]  # fmt: skip


def test_a_script_that_goes_on_ends_with_the_call_that_waited_for_it(tmp_path: Path) -> None:
    call, _ = script(MAKE + "text(r)")
    running = "Script running with cell ID 5\nWall time 1.0 seconds\nOutput:\n"
    ended = [
        {"type": "input_text", "text": "Script completed\nWall time 2.0 seconds\nOutput:\n"},
        {"type": "input_text", "text": '{"chunk_id":"a","exit_code":2,"output":"bad"}'},
    ]
    wait = {"type": "function_call", "name": "wait", "arguments": '{"cell_id": "5"}'}
    several = codex(tmp_path, [
        call, item(type="custom_tool_call_output", call_id="x1", output=running),
        item(**wait, call_id="w1"), item(type="function_call_output", call_id="w1", output=running),
        item(**wait, call_id="w2"), item(type="function_call_output", call_id="w2", output=ended),
    ])  # fmt: skip
    assert [(one.moment, one.call, one.ended, one.exit_code) for one in several[1:]] == [
        ("before", "x1", "unknown", None), ("after", "x1", "failed", 2),
    ]  # fmt: skip


def test_an_edit_of_a_script_is_told_once_by_its_notice_or_else_by_the_script(tmp_path: Path) -> None:
    source = f"const patch = {json.dumps(PATCH)};\ntext(await tools.apply_patch(patch));\n"
    call, output = script(source, "{}")
    change = {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None}
    done = notice(
        type="patch_apply_end", call_id="exec-1", success=True, changes={f"{SHOP}/shop.py": change}, stdout="Success.", stderr=""
    )
    for records, path in ([call, done, output], f"{SHOP}/shop.py"), ([call, output], "shop.py"), ([done], f"{SHOP}/shop.py"):
        before, after = codex(tmp_path, records)[1:]
        assert (before.moment, after.ended, [(one.path, one.old, one.new) for one in after.edits]) == (
            "before",
            "ok",
            [(path, "a", "b")],
        )
    failed = codex(tmp_path, script(source, "Script error:\nno such lines", head="Script failed"))[-1]
    assert (failed.moment, failed.ended, failed.output) == ("after", "failed", "no such lines")


def test_a_command_of_a_script_is_told_once_where_an_item_tells_it_before_or_after_the_script_does(tmp_path: Path) -> None:
    told = {
        "type": "CommandExecution",
        "id": "exec-1",
        "command": ["/bin/bash", "-lc", "make"],
        "status": "failed",
        "exit_code": 2,
    }
    told_by_item = notice(type="item_completed", item={**told, "aggregated_output": "bad"})
    told_by_notice = notice(**{**told, "type": "exec_command_end", "call_id": "exec-1", "aggregated_output": "bad"})
    call, output = script(MAKE + "text(r.output)", "bad")
    going = script(MAKE + "text(r)", '{"chunk_id":"a","session_id":71234,"output":""}')
    for records in (
        [call, told_by_item, output],
        [call, told_by_notice, output],
        [*going, told_by_item],
        [told_by_item, call, output],
    ):
        after = [one for one in codex(tmp_path, records) if one.moment == "after"]
        assert [(one.command, one.ended, one.exit_code, one.output) for one in after] == [("make", "failed", 2, "bad")]


def test_a_script_that_the_person_stopped_was_interrupted(tmp_path: Path) -> None:
    call, _ = script(MAKE + "text(r.output)")
    several = codex(tmp_path, [call, notice(type="turn_aborted", reason="interrupted")])
    assert [(one.moment, one.ended) for one in several[1:]] == [("before", "unknown"), ("after", "interrupted")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "# Context from my IDE setup:\n\n## Active file: shop.py\n\n## Active selection of the file:\nnever\n"
            "## My request for Codex:\nUse ## here\n",
            ["Use ## here"],
        ),
        ("# Files mentioned by the user:\n\n## a.png: /a.png\n\n## My request for Codex:\nLook", ["Look"]),
        ("# Context from my IDE setup:\n\n## Open tabs:\n- shop.py\n", []),
        ("# A plan\n\nWrite `## My request for Codex:` there", ["# A plan\n\nWrite `## My request for Codex:` there"]),
        ("Warning: apply_patch was requested via a shell. Use the tool.", []),
        ("<codex_delegation>\n  <input>Never use tabs.</input>\n</codex_delegation>", []),
    ],
)
def test_what_an_editor_or_codex_puts_around_a_request_is_not_said(text: str, words: list[str], tmp_path: Path) -> None:
    several = codex(tmp_path, [
        item(type="message", role="user", content=[{"type": "input_text", "text": text}]), notice(type="user_message", message=text),
    ])  # fmt: skip
    assert [one.text for one in several if one.moment == "prompt"] == words


# --- Gemini CLI


def test_the_last_line_of_a_message_stands_and_a_rewind_takes_back(tmp_path: Path) -> None:
    path = tmp_path / "chats" / "session-1.jsonl"
    path.parent.mkdir()
    common = {"timestamp": "2026-05-04T10:00:00Z"}
    records = [
        {"sessionId": "s", "projectHash": "h", "startTime": "2026-05-04T10:00:00Z"},
        {"id": "1", "type": "user", "content": "Use Redis", **common},
        {"id": "2", "type": "gemini", "content": "half", **common},
        {"id": "2", "type": "gemini", "content": "whole", **common},
        {"$rewindTo": "1"},
        {"id": "3", "type": "user", "content": "Use SQLite", **common},
        {"id": "4", "type": "gemini", "content": "hal", **common},
        {"id": "4", "type": "gemini", "content": "half and whole", **common},
        {"id": "5", "type": "wonder", **common},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    several, tally = events(Transcript("gemini", "s", (str(path),)))
    assert [one.text for one in several if one.moment in ("prompt", "said")] == ["Use SQLite", "half and whole"]
    assert (tally.rewound, tally.unknown) == (3, {"wonder": 1})


# --- OpenCode


def test_a_session_that_was_reverted_ends_there(tmp_path: Path) -> None:
    path = Maker(tmp_path, SHOP).write("opencode", [prompt("Use Redis"), said("Done"), prompt("Never mind")], "ses_1")
    db = apsw.Connection(str(path))
    db.execute("UPDATE session SET revert = ?", (json.dumps({"messageID": "msg_0003ses_1"}),))
    db.close()
    (one,) = found(tmp_path, SHOP)
    several, tally = events(one)
    assert [event.text for event in several if event.moment in ("prompt", "said")] == ["Use Redis"]
    assert tally.rewound > 0


def test_calls_of_one_name_are_two_calls(tmp_path: Path) -> None:
    several = [prompt("Test it"), shell("make", "bad", 1), shell("make", "good", 0)]
    path = Maker(tmp_path, SHOP).write("opencode", several, "ses_1")
    db = apsw.Connection(str(path))
    db.execute(
        "UPDATE part SET data = json_set(data, '$.callID', 'functions.bash:0') WHERE json_extract(data, '$.type') = 'tool'"
    )
    names = [str(name) for (name,) in db.execute("SELECT id FROM part WHERE json_extract(data, '$.type') = 'tool' ORDER BY id")]
    db.close()
    (one,) = found(tmp_path, SHOP)
    after = [event for event in events(one)[0] if event.moment == "after"]
    assert [(event.call, event.exit_code) for event in after] == [("functions.bash:0", 1), (names[1], 0)]


@pytest.mark.parametrize("state", ["idle", "open", "writing", "killed"])
def test_a_database_is_read_and_nothing_is_left_beside_it(state: str, tmp_path: Path) -> None:
    path = Maker(tmp_path, SHOP).write("opencode", [prompt("Hello")], "ses_1")
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute("UPDATE session SET title = 'other'")
    if state == "writing":
        db.execute("BEGIN IMMEDIATE; UPDATE session SET title = 'not committed'")
    elif state == "killed":
        log = Path(f"{path}-wal").read_bytes()
        db.close()
        Path(f"{path}-wal").write_bytes(log)
    elif state == "idle":
        db.close()
    before = sorted((one.name, one.read_bytes() if one.suffix == ".db" else b"") for one in path.parent.iterdir())
    (one,) = found(tmp_path, SHOP)
    assert [event.text for event in events(one)[0] if event.moment == "prompt"] == ["Hello"]
    assert sorted((one.name, one.read_bytes() if one.suffix == ".db" else b"") for one in path.parent.iterdir()) == before


def test_a_database_that_is_locked_or_damaged_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_PATIENCE", 50)
    path = Maker(tmp_path, SHOP).write("opencode", [prompt("Hello"), *[said("x" * 3_000)] * 20], "ses_1")
    lock = apsw.Connection(str(path))
    lock.pragma("journal_mode", "delete")
    lock.execute("BEGIN EXCLUSIVE")
    locked = finding.find(Ground((SHOP,)), roots(tmp_path))
    assert [(name, "locked" in why) for name, why in locked.unreadable] == [(str(path), True)]
    lock.execute("ROLLBACK")
    lock.close()
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 :] = bytes(len(raw) - len(raw) // 2)
    path.write_bytes(raw)
    damaged = finding.find(Ground((SHOP,)), roots(tmp_path))
    tallies = [events(one)[1] for one in damaged.transcripts]
    assert damaged.unreadable or [one for one in tallies if one.broken]


# --- real ones


@pytest.mark.parametrize(
    ("place", "client", "kinds"),
    [
        (Roots((str(REAL / "claude-code-2.1.332"),)), "claude-code", {"prompt", "said", "before", "after", "start", "compact"}),
        (Roots(codex=str(REAL / "codex-0.171.0")), "codex", {"prompt", "said", "before", "after", "start", "compact"}),
        (Roots(gemini=str(REAL / "gemini-0.61.0")), "gemini", {"prompt", "said", "before", "after", "start"}),
        (Roots(opencode=str(REAL / "opencode-1.18.33")), "opencode", {"prompt", "said", "before", "after", "start", "compact"}),
    ],
)
def test_transcripts_of_the_real_clients_are_understood_whole(place: Roots, client: str, kinds: set[str], tmp_path: Path) -> None:
    if client == "gemini":
        here = tmp_path / "gemini"
        here.mkdir()
        (here / "tmp").symlink_to(REAL / "gemini-0.61.0" / "tmp")
        (here / "projects.json").write_text(json.dumps({"projects": {SHOP: "shop"}}))
        place = Roots(gemini=str(here))
    (transcript,) = finding.find(Ground((SHOP,)), place).transcripts
    several, tally = events(transcript)
    assert {one.moment for one in several} == kinds
    assert (tally.unknown, tally.broken, tally.cut) == ({}, 0, 0)
    prompts = [one.text for one in several if one.moment == "prompt"]
    assert prompts[0] == "Make the test of the total pass, please."
    runs = [(one.ended, one.exit_code) for one in several if one.moment == "after" and "pytest" in one.command]
    assert runs == [("failed", 1), ("ok", 0)]
    assert {one.agent for one in several if one.command == "ls | wc -l"} != {""}


# --- finding


def test_sessions_of_subfolders_and_worktrees_are_found_and_those_of_neighbours_are_not(tmp_path: Path) -> None:
    shop, tree = tmp_path / "shop", tmp_path / "wt-fix"
    for form in ("claude-code", "codex", "gemini", "opencode"):
        for number, cwd in enumerate((shop, shop / "api", tree, tmp_path / "shop-old", tmp_path / "other")):
            home = tmp_path / "homes" / form / str(number)
            Maker(home, cwd).write(form, [prompt("Hello")], f"{number}0000000-1111-4111-8111-111111111111")
            several = finding.find(Ground((str(shop), str(tree))), roots(home)).transcripts
            assert [one.cwd for one in several] == ([str(cwd)] if number < 3 else []), form


def test_a_session_of_another_clone_is_found_by_its_remote(tmp_path: Path) -> None:
    path = Maker(tmp_path, tmp_path / "elsewhere").write("codex", [prompt("Hello")], "s1")
    text = path.read_text().replace('"branch": "main"', '"branch": "main", "repository_url": "git@github.com:Ann/Shop.git"')
    path.write_text(text)
    assert found(tmp_path, tmp_path / "shop") == []
    ground = Ground((str(tmp_path / "shop"),), "github.com/ann/shop")
    assert [one.session for one in finding.find(ground, roots(tmp_path)).transcripts] == ["s1"]


def test_gemini_names_a_project_by_a_hash_a_marker_or_its_list(tmp_path: Path) -> None:
    from hashlib import sha256

    shop = str(tmp_path / "shop")
    path = Maker(tmp_path, shop).write("gemini", [prompt("Hello")], "s1")
    (tmp_path / ".gemini" / "projects.json").unlink()
    assert found(tmp_path, shop) == []
    folder = path.parent.parent
    (folder / ".project_root").write_text(shop)
    assert [one.cwd for one in found(tmp_path, shop)] == [shop]
    (folder / ".project_root").write_text(str(tmp_path / "other"))
    assert found(tmp_path, shop) == []
    (folder / ".project_root").unlink()
    folder.rename(folder.parent / sha256(shop.encode()).hexdigest())
    assert [one.cwd for one in found(tmp_path, shop)] == [shop]


def test_links_and_files_that_cannot_be_read_are_passed_over_and_told(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    path = Maker(tmp_path, shop).write("claude-code", [prompt("Hello")], "s1")
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(path.read_bytes())
    (path.parent / "s2.jsonl").symlink_to(outside)
    (path.parent / "s3.jsonl").mkdir()
    os.mkfifo(path.parent / "s4.jsonl")
    assert [one.session for one in found(tmp_path, shop)] == ["s1"]
    with pytest.raises(InvalidInput, match="is a link"):
        finding.named(str(path.parent / "s2.jsonl"), Ground((str(shop),)))


def test_files_of_other_users_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = tmp_path / "shop"
    Maker(tmp_path, shop).write("claude-code", [prompt("Hello")], "s1")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    result = finding.find(Ground((str(shop),)), roots(tmp_path))
    assert (result.transcripts, result.foreign) == ((), 1)


def test_only_sessions_since_a_time_are_found(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    path = Maker(tmp_path, shop).write("claude-code", [prompt("Hello")], "s1")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    ground = Ground((str(shop),))
    assert len(finding.find(ground, roots(tmp_path), since=1_700_000_000_000).transcripts) == 1
    assert len(finding.find(ground, roots(tmp_path), since=1_700_000_000_001).transcripts) == 0


# --- recognising


@pytest.mark.parametrize("form", FORMS)
def test_a_named_file_is_recognised_by_what_it_holds(form: str, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    path = Maker(tmp_path, shop).write(form, made.fix(shop))
    if form not in ("opencode", "opencode-json"):
        moved = tmp_path / f"anything{path.suffix}"
        path.rename(moved)
        path = moved
    several = finding.named(str(path), Ground((str(shop),)))
    assert [one.client for one in several] == [client_of(form)]
    assert [one.text for one in events(several[0])[0] if one.moment == "prompt"] == ["Make the test of the total pass, please."]


def exported(tmp_path: Path, steps: list[Step], *, indent: int | None, session: str = "ses_1") -> Path:
    """A session as OpenCode exports it, made of its older files."""
    storage = Maker(tmp_path, tmp_path / "elsewhere").write("opencode-json", steps, session)
    messages = []
    for path in sorted((storage / "message" / session).iterdir()):
        message = json.loads(path.read_text())
        parts = [json.loads(one.read_text()) for one in sorted((storage / "part" / message["id"]).iterdir())]
        messages.append({"info": message, "parts": parts})
    (info,) = (storage / "session").rglob(f"{session}.json")
    made_of = {"info": json.loads(info.read_text()), "messages": messages}
    path = tmp_path / f"{session}.json"
    path.write_text(json.dumps(made_of, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_of_opencode_tells_what_its_database_tells(indent: int | None, tmp_path: Path) -> None:
    steps = made.fix(tmp_path / "elsewhere")
    path = exported(tmp_path, steps, indent=indent)
    (whole,) = finding.named(str(path), Ground((SHOP,)))  # a file that is named is read whichever folder it tells
    (stored,) = found(tmp_path, tmp_path / "elsewhere")
    assert (whole.client, whole.session, whole.size) == ("opencode", "ses_1", path.stat().st_size)
    assert moments(events(whole)[0]) == moments(events(stored)[0])


def test_exports_of_a_session_and_of_its_subagents_are_one(tmp_path: Path) -> None:
    own = exported(tmp_path, [prompt("Mend it."), said("I ask for help.")], indent=2)
    deeper = tmp_path / "deeper.json"
    below = tmp_path / "below.json"
    told = json.loads(own.read_text())
    for path, name, parent in ((below, "ses_2", "ses_1"), (deeper, "ses_3", "ses_2")):
        path.write_text(json.dumps(told | {"info": told["info"] | {"id": name, "parentID": parent}}))
    other = Maker(tmp_path, SHOP).write("transcript", [prompt("Hello")], "mine")
    several = [one for path in (deeper, other, below, own) for one in finding.named(str(path), Ground((SHOP,)))]
    alone, whole = finding.together(several)
    assert (alone.client, whole.session, whole.paths[0]) == ("transcript", "ses_1", str(own))
    found_in = events(whole)[0]
    assert {(event.session, event.agent) for event in found_in} == {("ses_1", ""), ("ses_1", "ses_2"), ("ses_1", "ses_3")}
    assert [event.text for event in found_in if event.moment == "prompt"] == ["Mend it."]


def test_an_export_that_is_cut_is_told_and_one_without_ids_is_read(tmp_path: Path) -> None:
    path = exported(tmp_path, made.fix(SHOP), indent=2)
    whole = path.read_text()
    told = json.loads(whole)
    for one in told["messages"]:
        del one["info"]["id"]
        for part in one["parts"]:
            del part["id"], part["messageID"]
    path.write_text(json.dumps(told))
    (transcript,) = finding.named(str(path), Ground((SHOP,)))
    assert [event.text for event in events(transcript)[0] if event.moment == "prompt"] == [
        "Make the test of the total pass, please."
    ]
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match="no whole export"):
        finding.named(str(path), Ground((SHOP,)))


@pytest.mark.parametrize("form", ["opencode", "opencode-json", "export"])
def test_a_message_has_no_more_parts_than_are_held(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode, "_MOST_PARTS", 1)
    if form == "export":
        path = exported(tmp_path, [made.said("Hello"), made.said("there")], indent=None)
        several, tally = events(finding.named(str(path), Ground((SHOP,)))[0])
    else:
        several, tally = told(form, tmp_path, [made.said("Hello"), made.said("there")])
    assert ([event.moment for event in several], tally.too_long) == (["start"], 2)


@pytest.mark.parametrize("form", ["opencode", "opencode-json"])
def test_the_parts_of_a_message_are_bounded_in_bytes(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode, "_MOST_OF_MESSAGE", 2_000)
    several, tally = told(form, tmp_path, [made.said("Hello"), made.said("x" * 3_000), made.said("there")])
    assert ([event.text for event in several if event.moment == "said"], tally.too_long) == (["Hello", "there"], 1)


def test_messages_that_have_one_name_read_its_parts_once(tmp_path: Path) -> None:
    storage = Maker(tmp_path, SHOP).write("opencode-json", [made.said("Hello"), made.said("there")], "ses_1")
    first, second = sorted((storage / "message" / "ses_1").iterdir())
    second.write_text(first.read_text())
    several, tally = events(found(tmp_path, SHOP)[0])
    assert ([event.text for event in several if event.moment == "said"], tally.broken) == (["Hello"], 1)


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"a": 1}\n', b"\x89PNG\r\n\x1a\n\0\0", b'[1, 2]\n{"role": 7}\n'])
def test_what_is_no_transcript_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="no transcript"):
        finding.named(str(path), Ground((SHOP,)))


# --- damage


LINES = ("claude-code", "codex", "codex-envelope", "gemini", "transcript")


@pytest.mark.parametrize("form", LINES)
def test_damage_in_the_middle_costs_its_own_lines_only(form: str, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    path = Maker(tmp_path, shop).write(form, made.fix(shop))
    lines = path.read_bytes().splitlines(keepends=True)
    deep = b"[" * 100_000 + b"]" * 100_000 + b"\n"
    damage = [
        b"\0\0\0\0\n",
        b"not json\n",
        b'{"type": "user", "message": {"content": "\xff\xfe"}}\n',
        deep,
        b'{"type": 1e999}\n',
        b"null\n",
    ]
    path.write_bytes(b"".join([*lines[:3], *damage, *lines[3:]]) + b"\0\0\0\0\0")
    transcript = Transcript(client_of(form), "s", (str(path),), str(shop), 1)
    several, tally = events(transcript)
    assert [one.ended for one in several if one.moment == "after" and one.tool == "shell"] == ["failed", "ok"]
    assert tally.broken == 3


@pytest.mark.parametrize("form", LINES)
def test_a_line_that_is_too_long_is_passed_over(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LONGEST_LINE", 20_000)
    shop = tmp_path / "shop"
    path = Maker(tmp_path, shop).write(form, [prompt("Hello"), shell("cat big", "x" * 100_000), said("Bye")])
    several, tally = events(Transcript(client_of(form), "s", (str(path),), str(shop), 1))
    assert [one.text for one in several if one.moment in ("prompt", "said")] == ["Hello", "Bye"]
    assert tally.too_long > 0


# The kernel's mark of this program's own memory: what getrusage tells begins with that of the process which started it.
READING = """
import sys
from hardwon.importers.transcripts import claude
from hardwon.importers.transcripts.records import Tally
tally = Tally()
count = sum(1 for _ in claude.read(sys.argv[1], tally))
with open("/proc/self/status") as status:
    most = next(line.split()[1] for line in status if line.startswith("VmHWM:"))
print(count, tally.records, tally.too_long, most)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc")
def test_half_a_gigabyte_is_read_in_bounded_memory(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "big.jsonl"
    maker = Maker(tmp_path, SHOP)
    record = json.dumps(maker.claude_records([shell("cat log", "line of a log\n" * 3_000)], "s")[-1]) + "\n"
    with path.open("w") as file:
        file.write(json.dumps(maker.claude_records([prompt("Hello")], "s")[0]) + "\n")
        for number in range(500 * (1 << 20) // len(record)):
            file.write(record.replace('"uuid": "', f'"uuid": "{number}'))
        file.write('{"type": "user", "x": "' + "y" * (100 << 20) + '"}\n')
    out = subprocess.run([sys.executable, "-c", READING, str(path)], check=True, capture_output=True, text=True).stdout.split()
    assert int(out[2]) == 1
    assert int(out[1]) > 5_000
    assert int(out[3]) < 300 << 10  # kilobytes


KEYS = (
    "type", "payload", "message", "content", "uuid", "parentUuid", "toolUseResult", "item", "id", "call_id", "name", "arguments", "output",
    "role", "toolCalls", "args", "result", "status", "timestamp", "$set", "$rewindTo", "attachment", "session", "text",
)  # fmt: skip
KINDS = (
    "user", "assistant", "response_item", "event_msg", "session_meta", "gemini", "system", "tool_use", "function_call", "item_completed",
)  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)


@given(ODD, st.sampled_from(LINES))
@settings(deadline=None, max_examples=60)
def test_no_record_is_so_odd_that_reading_ends(odd: Any, form: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        shaped = [odd] + [
            {"type": kind, "payload": odd, "message": odd, "item": odd, "content": odd, "role": "user", "id": "1"}
            for kind in KINDS
        ]
        path.write_text("".join(json.dumps(one) + "\n" for one in shaped))
        for event in reading.read(Transcript(client_of(form), "s", (str(path),), SHOP, 1), Tally()):
            assert isinstance(event.text, str)


# --- times


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-05-04T10:00:00.250Z", 1_777_888_800_250), ("2026-05-04T12:00:00+02:00", 1_777_888_800_000),
        ("2026-05-04T10:00:00", 1_777_888_800_000),
        (1_777_888_800, 1_777_888_800_000), (1_777_888_800_250, 1_777_888_800_250), (1_777_888_800.25, 1_777_888_800_250),
        ("yesterday", 7), (None, 7), (-5, 7), (float("nan"), 7), (float("inf"), 7), (True, 7), (1 << 80, 7), ("9" * 100, 7),
        ("0001-01-01T00:00:00Z", 7),
    ],
)  # fmt: skip
def test_times_of_all_forms_are_understood_and_others_are_those_before(value: Any, at: int) -> None:
    assert millis(value, 7) == at


# --- nothing of ours


BLOCK = f"{OPENING}\n[#12 · lesson failed · claimed] `Cart.add`: never call it twice\n{CLOSING}"
SECRET_OF_OURS = "never call it twice"
TOOLS = ("mcp__hardwon__recall", "mcp__plugin_hardwon_hardwon__remember")
COMMANDS = (
    "hardwon recall 'cart'",
    "python -m hardwon fail Cart.add 'never call it twice'",
    "cd x && uvx hardwon brief",
    "bash -c 'hardwon status'",
)


def _shapes(text: str, block: str) -> st.SearchStrategy[Step]:
    around = st.tuples(st.sampled_from(["", "Look: ", "> "]), st.sampled_from(["", "\nGo on.", "\n\n"]))
    embedded = around.map(lambda ends: f"{ends[0]}{block}{ends[1]}")
    return st.one_of(
        embedded.map(prompt), embedded.map(said), embedded.map(hook), embedded.map(lambda words: shell("cat notes", words)),
        embedded.map(lambda words: shell("cat notes", words, 1)), embedded.map(lambda words: write("/home/ann/shop/notes.py", words)),
        embedded.map(lambda words: edit("/home/ann/shop/a.py", words, "x = 1")),
        st.sampled_from(TOOLS).map(lambda name: tool(name, text, text)),
        st.sampled_from(COMMANDS).map(lambda command: shell(command, text)),
        st.sampled_from(COMMANDS).map(lambda command: shell(command, text, 1)),
    )  # fmt: skip


def nothing_of_ours(form: str, data: st.DataObject) -> None:
    """Our blocks, commands and tools anywhere in a session: none of them is told, and all the rest is."""
    import tempfile

    steps = data.draw(st.lists(_shapes(SECRET_OF_OURS, BLOCK), min_size=1, max_size=5))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        path = Maker(home, SHOP).write(form, [prompt("Begin"), *steps, said("End")], "s1")
        several = finding.named(str(path), Ground((SHOP,))) if form == "transcript" else found(home, SHOP)
        heard = [one for transcript in several for one in events(transcript)[0]]
    assert "Begin" in [one.text for one in heard]
    assert "End" in [one.text for one in heard]
    for one in heard:
        words = [one.text, one.command, one.output, *(part for change in one.edits for part in (change.old, change.new))]
        assert not [word for word in words if SECRET_OF_OURS in word or ours.holds(word)]
        assert not ours.is_tool(one.tool_name)
        assert not ours.is_command(one.command)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
@settings(deadline=None, max_examples=10)
def test_nothing_that_we_inject_or_run_is_told_by_any_reader(form: str, data: st.DataObject) -> None:
    nothing_of_ours(form, data)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
@settings(deadline=None, max_examples=300)
def test_nothing_that_we_inject_or_run_is_told_in_many_more_sessions(form: str, data: st.DataObject) -> None:
    nothing_of_ours(form, data)


# --- who speaks, and what is said twice


def rollout(tmp_path: Path, records: list[dict[str, Any]]) -> list[Event]:
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return events(Transcript("codex", "s", (str(path),)))[0]


def of_session(name: str, second: float = 0.0, **more: Any) -> dict[str, Any]:
    return at(second, type="session_meta", payload={"id": name, "cwd": SHOP, **more})


def at(second: float, **record: Any) -> dict[str, Any]:
    return {**record, "timestamp": f"2026-05-04T10:00:{second:06.3f}Z"}


def asked(text: str, second: float = 0.0) -> dict[str, Any]:
    return at(second, type="event_msg", payload={"type": "user_message", "message": text})


def turned(name: str, second: float = 0.0) -> dict[str, Any]:
    return at(second, type="event_msg", payload={"type": "task_started", "turn_id": name})


def called(name: str, second: float = 0.0) -> list[dict[str, Any]]:
    begun = {"type": "function_call", "name": "shell", "arguments": '{"command": "make"}', "call_id": name}
    ended = {"type": "function_call_output", "call_id": name, "output": "Exit code: 1\nOutput:\nx"}
    return [at(second, type="response_item", payload=one) for one in (begun, ended)]


OLDER, PARENT_TURN, OWN, OWN_TURN = (f"019f0000-000{n}-7000-8000-000000000000" for n in range(4))
SPAWNED = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": OLDER, "depth": 1}}}}
COPIED = [
    of_session(OLDER),
    turned(PARENT_TURN),
    asked("Never use tabs."),
    *called("c1"),
    at(0.004, type="compacted", payload={}),
]


@pytest.mark.parametrize(
    ("meta", "records", "session", "agent", "prompts", "commands"),
    [
        # a subagent that was given the words of its parent
        (SPAWNED, [*COPIED, turned(OWN_TURN, 0.01), asked("Review it", 0.02), *called("c2", 0.03)], OLDER, OWN, [], ["c2"]),
        (SPAWNED, [of_session(OLDER), asked("Never use tabs.")], OLDER, OWN, [], []),
        ({}, [*COPIED, turned(OWN_TURN, 0.01), asked("Go on", 0.02), *called("c2", 0.03)], OWN, "", ["Go on"], ["c2"]),
        (
            {"forked_from_id": OLDER},
            [*COPIED[1:], turned(OWN_TURN, 0.01), asked("Go on"), turned(PARENT_TURN), *called("c2")],
            OWN, "", ["Go on"], ["c2"],
        ),
        # a copy of a copy
        ({}, [*COPIED, of_session("other"), *called("c2"), turned(OWN_TURN), *called("c3")], OWN, "", [], ["c3"]),
        # turns without ids: until nothing is written for a while
        ({}, [COPIED[0], *COPIED[2:], asked("Go on", 1.1), *called("c2", 1.2)], OWN, "", ["Go on"], ["c2"]),
        # and where they have, until then too
        (
            {"forked_from_id": OLDER},
            [*COPIED, asked("Go on", 1.1), turned(OWN_TURN, 1.2), *called("c2", 1.3)],
            OWN, "", ["Go on"], ["c2"],
        ),
        ({}, [*COPIED, asked("Go on", 1.1), turned("7", 1.2), *called("c2", 1.3)], OWN, "", ["Go on"], ["c2"]),
        # copying that took a while
        (
            {"forked_from_id": OLDER},
            [*COPIED, turned(PARENT_TURN, 1.1), asked("Use spaces", 1.1), turned(OWN_TURN, 2), asked("Go on", 2), *called("c2", 2)],
            OWN, "", ["Go on"], ["c2"],
        ),
        # the same session, gone on with
        (
            {},
            [asked("Go on"), *called("c1"), of_session(OWN, 9), asked("And on", 9), *called("c2", 9)],
            OWN, "", ["Go on", "And on"], ["c1", "c2"],
        ),
        # no copy: nothing says so
        ({"forked_from_id": OLDER}, [turned(OWN_TURN), asked("Go on"), *called("c1")], OWN, "", ["Go on"], ["c1"]),
    ],
)  # fmt: skip
def test_a_fork_of_a_session_tells_what_came_after_and_who_it_is_itself(
    meta: dict[str, Any],
    records: list[dict[str, Any]],
    session: str,
    agent: str,
    prompts: list[str],
    commands: list[str],
    tmp_path: Path,
) -> None:
    several = rollout(tmp_path, [of_session(OWN, **meta), *records])
    assert {(one.session, one.agent) for one in several} == {(session, agent)}
    assert [one.text for one in several if one.moment == "prompt"] == prompts
    assert [one.call for one in several if one.moment == "after"] == commands
    assert not [one for one in several if one.moment == "compact"]


@pytest.mark.parametrize(
    ("meta", "sources"),
    [
        ({"source": "cli"}, [""]),
        ({"source": "vscode"}, [""]),
        ({"source": None}, [""]),
        ({"source": "exec"}, ["program"]),
        ({"source": "mcp"}, ["program"]),
        ({"source": {"internal": "memory_consolidation"}}, ["program"]),
        ({"source": {"subagent": "review"}}, []),
        ({"source": {"subagent": {"other": "guardian"}}}, []),
    ],
)
def test_what_a_program_or_an_agent_asks_for_is_no_persons_word(meta: dict[str, Any], sources: list[str], tmp_path: Path) -> None:
    several = rollout(tmp_path, [of_session(OWN, **meta), turned(OWN_TURN), asked("Never use tabs.")])
    assert [one.source for one in several if one.moment == "prompt"] == sources


@pytest.mark.parametrize(
    ("output", "ended", "printed"),
    [
        ("failed in sandbox: E  assert 1 == 2\n", "failed", "E  assert 1 == 2\n"),
        ("failed in sandbox: ", "failed", ""),
        (
            "failed in sandbox: sandbox error: command was killed by a signal",
            "unknown",
            "sandbox error: command was killed by a signal",
        ),
        ("failed in sandbox: cannot set capabilities: Operation not permitted\n", "unknown", None),
        ("failed in sandbox: \nthread 'main' panicked at linux-sandbox/src/run.rs:53:5:\nno", "unknown", None),
        (
            "failed in sandbox Seatbelt with execution error: sandbox denied exec error, exit code: 1, stdout: , stderr: no",
            "unknown",
            None,
        ),
        ("failed in sandbox None with execution error: command timed out", "unknown", None),
    ],
)
def test_a_command_that_failed_in_the_sandbox_ends_there(output: str, ended: str, printed: str | None, tmp_path: Path) -> None:
    later = at(30, type="response_item", payload={"type": "message", "role": "assistant", "content": [{"text": "Now what"}]})
    several = codex(tmp_path, [CALL, item(type="function_call_output", call_id="c1", output=output), later])
    assert [one.moment for one in several] == ["start", "before", "after", "said"]
    assert (several[2].ended, several[2].exit_code) == (ended, None)
    assert printed is None or several[2].output == printed


def message(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "session": "s", **more}


def bash(command: str, name: str = "tool_0_bash", **more: Any) -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    return message("assistant", "", tool_calls=[{"id": name, "function": {"name": "bash", "arguments": arguments}}], **more)


def at_once(*commands: str, name: str = "tool_0_bash", **more: Any) -> dict[str, Any]:
    return message("assistant", "", tool_calls=[one for command in commands for one in bash(command, name)["tool_calls"]], **more)


def result(text: str, name: str = "tool_0_bash", **more: Any) -> dict[str, Any]:
    return message("tool", text, tool_call_id=name, **more)


@pytest.mark.parametrize(
    ("records", "ends"),
    [
        (
            [bash("make"), result("1"), bash("make test"), result("2"), bash("make"), result("3")],
            [("make", "1"), ("make test", "2"), ("make", "3")],
        ),
        ([at_once("make", "make test"), result("1"), result("2")], [("make", "1"), ("make test", "2")]),
        ([at_once("make", "make"), result("1"), result("2")], [("make", "1"), ("make", "2")]),
        ([at_once("make", "make", timestamp=1.7e9), result("1"), result("2")], [("make", "1"), ("make", "2")]),
        # the first has no result: the next is not its own
        ([bash("make"), bash("make test"), result("2")], [("make test", "2")]),
        ([at_once("make", "make test"), result("1"), bash("ls"), result("3")], [("make", "1"), ("ls", "3")]),
        ([bash("make", ""), bash("make test", ""), result("2", "")], [("make test", "2")]),
        # the first was interrupted
        ([bash("make"), message("user", "Stop. Test it."), bash("make test"), result("2")], [("make test", "2")]),
        # the same call, written twice
        ([bash("make"), bash("make"), result("1")], [("make", "1")]),
        ([bash("make", timestamp=1.7e9), result("1"), bash("make", timestamp=1.7e9), result("1")], [("make", "1")]),
        ([bash("make", timestamp=1.7e9), result("1"), bash("make", timestamp=1.8e9), result("2")], [("make", "1"), ("make", "2")]),
        # written as a block and in the list
        ([bash("make") | {"content": [{"type": "tool_use", "id": "tool_0_bash", "name": "bash", "input": {"command": "make"}}]},
          result("1")], [("make", "1")]),
        # all of one time: where it ended otherwise it ran once more
        ([bash("make", timestamp=1.7e9), result("1"), bash("make", timestamp=1.7e9), result("2"), bash("make", timestamp=1.7e9),
          result("2")], [("make", "1"), ("make", "2")]),
        ([bash("make"), result("1"), bash("ls", session="t"), result("2", session="t")], [("make", "1"), ("ls", "2")]),
        ([bash("make", ""), result("1", ""), bash("ls", ""), result("2", "")], [("make", "1"), ("ls", "2")]),
    ],
)  # fmt: skip
def test_calls_of_one_name_in_other_transcripts_are_as_many_calls(
    records: list[dict[str, Any]], ends: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    several, _ = events(Transcript("transcript", "s", (str(path),)))
    after = [one for one in several if one.moment == "after"]
    assert [(one.command, one.output) for one in after] == ends
    names = [(one.session, one.call) for one in after if one.call]
    assert len(set(names)) == len(names)
    assert [one.call for one in after][:1] == [records[0]["tool_calls"][0]["id"]] or len(ends) == 1
    assert events(Transcript("transcript", "s", (str(path),)))[0] == several
    path.write_text("".join(json.dumps(one) + "\n" for one in [*records, bash("ls")]))
    assert events(Transcript("transcript", "s", (str(path),)))[0][: len(several)] == several


@pytest.mark.parametrize(("source", "kinds"), [("cli", ["rule", "decision", "attempt"]), ("exec", []), ("mcp", [])])
def test_what_a_program_asks_for_teaches_nothing_and_what_failed_for_it_does(
    source: str, kinds: list[str], tmp_path: Path
) -> None:
    def ran(name: str, command: str, output: str, code: int) -> list[dict[str, Any]]:
        printed = f"Exit code: {code}\nWall time: 1 seconds\nOutput:\n{output}"
        arguments = json.dumps({"command": command})
        return [
            item(type="function_call", name="shell", arguments=arguments, call_id=name),
            item(type="function_call_output", call_id=name, output=printed),
        ]

    patch = f"*** Begin Patch\n*** Update File: {SHOP}/shop.py\n@@ def parse(text):\n-    return 1\n+    return 2\n*** End Patch"
    records = [
        of_session(OWN, source=source),
        asked("The test is red, mend it. Never use tabs in this project."),
        asked("Let's use SQLite instead of Postgres because it needs no server."),
        *ran("c1", "pytest -q", "FAILED tests/test_a.py::test_x - ValueError: bad day\n1 failed, 2 passed in 0.12s\n", 1),
        item(type="custom_tool_call", name="apply_patch", input=patch, call_id="c2"),
        item(type="custom_tool_call_output", call_id="c2", output="Exit code: 0\nOutput:\nSuccess. Updated"),
        *ran("c3", "pytest -q", "3 passed in 0.12s\n", 0),
        asked("That's wrong, it breaks the import of old files."),
    ]
    state, learnt = State(root=SHOP), []
    for event in rollout(tmp_path, records):
        state, lessons = step(state, event)
        learnt += lessons
    assert sorted(one.kind for one in learnt) == sorted(["lesson", *kinds])
    assert len(state.asked) == 3


TWO = 'const rs = await Promise.all([\n  tools.exec_command({cmd: "make"}), // first\n  tools.exec_command({cmd: "make test"}),\n]); '


@pytest.mark.parametrize(
    ("source", "printed", "ends"),
    [
        (
            TWO + "rs.forEach(text)",
            ['{"chunk_id":"a","exit_code":0,"output":"good"}', '{"chunk_id":"b","exit_code":2,"output":"bad"}'],
            [("make", "ok", 0, "good"), ("make test", "failed", 2, "bad")],
        ),
        (
            TWO + "for (const r of rs) text(JSON.stringify({exit_code: r.exit_code, output: r.output}));",
            ['{"exit_code":1,"output":"bad"}', '{"exit_code":0,"output":"good"}'],
            [("make", "failed", 1, "bad"), ("make test", "ok", 0, "good")],
        ),
        (
            TWO + "rs.forEach(r => text(r.output))",
            ["", "2 passed"],
            [("make", "unknown", None, ""), ("make test", "unknown", None, "2 passed")],
        ),
    ],
)  # fmt: skip
def test_commands_that_a_script_runs_at_once_are_told_where_it_shows_each_result(
    source: str, printed: list[str], ends: list[tuple[str, str, int | None, str]], tmp_path: Path
) -> None:
    several = codex(tmp_path, script(source, *printed))
    after = [one for one in several if one.moment == "after"]
    assert [(one.command, one.ended, one.exit_code, one.output) for one in after] == ends
    assert [one.call for one in several[1:]] == ["x1-0", "x1-0", "x1-1", "x1-1"]
    going = [item(type="function_call", name="wait", arguments='{"cell_id": "9"}', call_id="w1")]
    begun, ended = script(source, *printed)
    cell = script(source, head="Script running with cell ID 9")[1]
    waited = {**ended, "payload": {**ended["payload"], "call_id": "w1"}}
    late = [one for one in codex(tmp_path, [begun, cell, *going, waited]) if one.moment == "after"]
    assert [(one.command, one.ended) for one in late] == [one[:2] for one in ends]


@pytest.mark.parametrize(
    ("source", "printed", "head"),
    [
        (TWO + "rs.forEach(r => text(r.output))", ["only one"], "Script completed"),
        (TWO + "rs.forEach(r => text(r.output))", ["1", "2"], "Script failed"),
        (TWO + "text(rs[1].output); text(rs[0].output)", ["2", "1"], "Script completed"),
        (TWO + "rs.reverse().forEach(r => text(r.output))", ["2", "1"], "Script completed"),
        (TWO + "for (const r of rs) for (const one of r.output.split(' ')) text(one)", ["1", "1"], "Script completed"),
        (TWO + "for (const r of rs) { text(r.output); text(`exit=${r.exit_code}`); }", ["1", "exit=1"], "Script completed"),
        (TWO.replace('{cmd: "make test"}', "{cmd}") + "rs.forEach(text)", ["1", "2"], "Script completed"),
        (TWO.replace('{cmd: "make test"}', "{}") + "rs.forEach(text)", ["1", "2"], "Script completed"),
        (
            TWO.replace('exec_command({cmd: "make"})', "write_stdin({session_id: 1})") + "rs.forEach(text)",
            ["1", "2"],
            "Script completed",
        ),
        (TWO.partition("]")[0], ["1", "2"], "Script completed"),
    ],
)
def test_commands_at_once_whose_results_cannot_be_told_apart_are_counted(
    source: str, printed: list[str], head: str, tmp_path: Path
) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in script(source, *printed, head=head)))
    several, tally = events(Transcript("codex", "s", (str(path),)))
    assert (several, tally.unknown) == ([], {"custom_tool_call/exec": 1})


# --- Claude Code: what is written twice, and what nobody said


def again(records: list[dict[str, Any]], parent: str | None, **more: Any) -> list[dict[str, Any]]:
    """Records as Claude Code writes them once more when a session is gone on with: other names, words as blocks."""
    copies = []
    for number, record in enumerate(records):
        content = record["message"]["content"]
        words = [{"type": "text", "text": content}] if isinstance(content, str) else content
        name = f"{record['uuid']}-{len(more)}{number}"
        copies.append(record | {"uuid": name, "parentUuid": parent, "message": record["message"] | {"content": words}} | more)
        parent = name
    return copies


@pytest.mark.parametrize(
    ("order", "words", "rewound"),
    [
        ("a a2 d", ["a", "did a", "d", "did d"], 0),  # written twice
        ("a a3 d", ["a", "did a", "d", "did d"], 0),  # and at once, before what came of the first
        ("a b", ["b", "did b"], 2),
        ("a a4", ["a", "did a"], 2),  # said once more, later
        ("a a2 b", ["b", "did b"], 4),
        ("a b a5", ["a", "did a", "b", "did b", "and a", "did and a"], 0),  # two clients went on from there
    ],
)
def test_a_prompt_is_left_behind_only_where_another_was_said_and_nothing_came_below_it_any_more(
    order: str, words: list[str], rewound: int, tmp_path: Path
) -> None:
    maker = Maker(tmp_path, SHOP)
    first = maker.claude_records([prompt("Begin"), said("Begun")], "s")
    end = first[-1]["uuid"]

    def branch(text: str, parent: str) -> list[dict[str, Any]]:
        return maker.claude_records([prompt(text), said(f"did {text}")], "s", parent=parent)

    a, b = branch("a", end), branch("b", end)
    copy = again(a, end)
    parts = {
        "a": a, "b": b, "a2": copy, "a3": copy, "a4": branch("a", end), "a5": branch("and a", a[-1]["uuid"]),
        "d": branch("d", copy[-1]["uuid"]),
    }  # fmt: skip
    records = [*first, *(record for name in order.split() for record in parts[name])]
    if "a3" in order:
        records = [*first, a[0], copy[0], a[1], copy[1], *parts["d"]]
    several, tally = claude(tmp_path, records)
    assert [one.text for one in several if one.moment in ("prompt", "said")] == ["Begin", "Begun", *words]
    assert tally.rewound == rewound


def test_what_a_session_that_goes_on_writes_once_more_is_told_once(tmp_path: Path) -> None:
    maker = Maker(tmp_path, SHOP)
    change = edit(f"{SHOP}/a.py", "x = 1", "x = 2")
    looks = [shell(f"ls {number}", "") for number in range(120)]
    first = maker.claude_records([prompt("Look"), shell("ls", "a"), said("Seen"), change, *looks], "s")
    rest = maker.claude_records([prompt("Go on"), shell("pwd", "/")], "s", parent="copied")
    once, _ = claude(tmp_path, [*first, *rest])
    for copy in (again(first, None), again(first, None, sessionId="t"), again(first, None, timestamp=rest[0]["timestamp"])):
        copy[-1]["uuid"] = "copied"
        several, tally = claude(tmp_path, [*first, *copy, *rest])
        calls = [(one.moment, one.call) for one in several if one.call]
        assert calls == [(one.moment, one.call) for one in once if one.call]
        assert tally.rewound == 0
        if "timestamp" not in {one for one in copy[0] if copy[0][one] != first[0][one]}:
            assert [one.text for one in several if one.text] == [one.text for one in once if one.text]


def test_calls_that_a_proxy_counts_are_as_many_calls(tmp_path: Path) -> None:
    records = Maker(tmp_path, SHOP).claude_records([shell("make", "1"), shell("make test", "2")], "s")
    for record in records:
        for block in record["message"]["content"]:
            block |= {name: "call_1" for name in ("id", "tool_use_id") if name in block}
    several, _ = claude(tmp_path, records)
    assert [(one.command, one.output) for one in several if one.moment == "after"] == [("make", "1"), ("make test", "2")]


FAILED = "FAILED tests/test_a.py::test_x - ValueError: bad day\n1 failed, 2 passed in 0.12s\n"
PASSED = "3 passed in 0.12s\n"


def learnt(several: list[Event]) -> list[str]:
    state, kinds = State(root=SHOP), []
    for event in several:
        state, lessons = step(state, event)
        kinds += [one.kind for one in lessons]
    return kinds


def test_a_command_is_told_in_the_folder_that_it_began_in(tmp_path: Path) -> None:
    run = "cd api && pytest -q"
    change = edit(f"{SHOP}/api/a.py", "def parse(text):\n    return 1\n", "def parse(text):\n    return 2\n")
    records = Maker(tmp_path, SHOP).claude_records([shell(run, FAILED, 1), change, shell(run, PASSED)], "s")
    records[-1]["cwd"] = f"{SHOP}/api"
    several, _ = claude(tmp_path, records)
    assert {one.cwd for one in several} == {SHOP}
    assert learnt(several) == ["lesson"]


@pytest.mark.parametrize(
    ("name", "output", "kinds"),
    [
        ("Task", "Mended it.", []),
        ("Agent", "Looked at it.", []),
        ("task", "", []),
        ("runSubagent", "", []),
        ("Task", "The user doesn't want to proceed with this tool use.", ["fact"]),
        ("TaskUpdate", "Updated task #1", ["fact"]),
        ("TaskCreate", "Task #1 created", ["fact"]),
        ("TodoWrite", "Todos have been modified", ["fact"]),
        ("Read", "x = 1", ["fact"]),
    ],
)
def test_what_a_subagent_did_unheard_may_have_changed_anything(name: str, output: str, kinds: list[str], tmp_path: Path) -> None:
    records = Maker(tmp_path, SHOP).claude_records(
        [shell("pytest -q", FAILED, 1), shell("x", output), shell("pytest -q", PASSED)], "s"
    )
    block = records[2]["message"]["content"][0]
    block["name"], block["input"] = name, {"description": "Mend it", "prompt": "Mend the test"}
    several, _ = claude(tmp_path, records)
    assert learnt(several) == kinds


@pytest.mark.parametrize(
    "text",
    [
        'Another Claude session sent a message:\n<teammate-message teammate_id="lead">\nNever use tabs.\n</teammate-message>',
        'Another Claude session sent a message:\n<agent-message from="review">\nNever use tabs.\n</agent-message>',
        '<agent-message from="review">\nNever use tabs.\n</agent-message>',
        '<teammate-message teammate_id="lead">\nNever use tabs.\n</teammate-message>',
    ],
)
def test_what_another_session_says_is_no_persons(text: str, tmp_path: Path) -> None:
    for content in (text, [{"type": "text", "text": text}]):
        record = Maker(tmp_path, SHOP).claude_records([prompt("x")], "s")[0]
        record["message"]["content"] = content
        assert [one.moment for one in claude(tmp_path, [record])[0]] == ["start"]
    record["message"]["content"] = "Another Claude session sent a message: look at it"
    assert [one.moment for one in claude(tmp_path, [record])[0]] == ["start", "prompt"]


def test_records_that_tell_of_no_work_are_silent(tmp_path: Path) -> None:
    kinds = ("file-history-delta", "bridge-session")
    assert claude(tmp_path, [{"type": kind, "sessionId": "s"} for kind in kinds])[1].unknown == {}


def test_subagents_that_lie_beside_their_session_belong_to_it(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    session, gone = "b1111111-1111-4111-8111-111111111111", "02222222-1111-4111-8111-111111111111"
    maker = Maker(tmp_path, shop)
    own = maker.write("claude-code", [prompt("Count the files"), said("Three.")], session)
    below = maker.write("claude-code", [prompt("Count"), shell("ls c", "3\n")], session, agent="c")
    beside = []
    for name, of, cwd in (("a", session, shop), ("f", session, tmp_path / "elsewhere"), ("e", gone, shop), ("d", gone, shop)):
        path = Maker(tmp_path, cwd).write("claude-code", [prompt("Count"), shell(f"ls {name}", "3\n")], of, agent=name)
        beside.append(path.rename(own.parent / path.name))
    other = Maker(tmp_path, tmp_path / "shop-old").write("claude-code", [prompt("Count")], "s3", agent="x")
    other.rename(own.parent / other.name)
    (own.parent / f"{session}.jsonl").touch()
    both = {one.session: one.paths for one in found(tmp_path, shop)}
    assert both == {
        session: (str(own), str(beside[0]), str(beside[1]), str(below)), gone: (str(beside[3]), str(beside[2])),
    }  # fmt: skip
    (whole,) = (one for one in found(tmp_path, shop) if one.session == session)
    several, _ = events(whole)
    assert {(one.session, one.agent) for one in several if one.moment == "after"} == {(session, name) for name in "acf"}
    assert [one.text for one in several if one.moment == "prompt"] == ["Count the files"]


@pytest.mark.parametrize(
    ("of", "other", "together"),
    [
        ("shop", "shop/api", True),  # the session began at the top, its subagent worked below it
        ("shop/api", "shop", True),
        ("shop", "shop", True),
        ("shop-old", "shop", False),  # a session of another repository
    ],
)
def test_subagents_in_another_folder_belong_to_the_session_that_they_name(
    of: str, other: str, together: bool, tmp_path: Path
) -> None:
    own = Maker(tmp_path, tmp_path / of).write("claude-code", [prompt("Count the files"), said("Three.")], "s1")
    beside = []
    for name in ("a", "b"):
        path = Maker(tmp_path, tmp_path / other).write("claude-code", [prompt("Count"), shell("ls", "3\n")], "s1", agent=name)
        folder = own.parent.parent / "".join(char if char.isalnum() else "-" for char in str(tmp_path / other))
        folder.mkdir(exist_ok=True)
        beside.append(str(path.rename(folder / path.name)))
    several = found(tmp_path, tmp_path / "shop")
    assert [(one.session, one.paths) for one in several] == [("s1", ((str(own), *beside) if together else tuple(beside)))]
