"""What the hooks' payloads of each client are read as, and what each client is answered: recorded cases, and payloads of any kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import quick_json
from hardwon.agents import outcomes, patches, payload
from hardwon.agents.answers import Answer, Say
from hardwon.agents.edits import changed
from hardwon.agents.hearing import hears, hears_beside_refusal
from hardwon.agents.shell_edits import changed as by_command
from hardwon.agents.table import CLIENTS, row
from hardwon.capture.event import Edit, Event
from tests import hook_answers, hook_payloads
from tests.growth import repeated, takes_the_square

NOW = 1_764_410_400_000


def plain(value: Any) -> Any:
    """A value as JSON has it, without what is as by default."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Event | Edit):
        told = {name: plain(getattr(value, name)) for name in value._fields}
        return {name: item for name, item in told.items() if name not in value._defaults or item != plain(value._defaults[name])}
    return value


def told(answer: Answer) -> dict[str, Any]:
    """An answer as the recorded cases have it."""
    said: dict[str, Any] = {"stdout": json.loads(answer.stdout)} if answer.stdout else {}
    if answer.stderr:
        said["stderr"] = answer.stderr
    return said | ({"exit": answer.exit} if answer.exit else {})


@pytest.mark.parametrize(("name", "case"), hook_payloads.cases(), ids=[name for name, _ in hook_payloads.cases()])
def test_a_payload_is_read_and_answered_as_recorded(name: str, case: dict[str, Any]) -> None:
    client = row(name.partition("/")[0])
    assert client is not None
    raw = case["payload"]
    event = payload.read(payload.parse(json.dumps(raw).encode()), client, case.get("environment", {}), NOW)
    if case["event"] is None:
        assert event is None
        return
    assert event is not None and event.at == NOW
    assert {key: item for key, item in plain(event).items() if key != "at"} == case["event"]
    assert told(payload.answer(raw, client, event, Say())) == case["silent"]
    assert told(payload.answer(raw, client, event, Say("C"))) == case["context"]
    if event.moment == "before":
        assert told(payload.answer(raw, client, event, Say("", "R"))) == case["refusal"]
        both = told(payload.answer(raw, client, event, Say("C", "R")))
        assert both == case["refusal_with_context"]
        said = both.get("stdout", {})
        said = said.get("hookSpecificOutput", said).values()
        assert any(str(one).endswith("C") for one in said) == hears_beside_refusal(event.client)


@pytest.mark.parametrize(("name", "case"), hook_payloads.cases(), ids=[name for name, _ in hook_payloads.cases()])
def test_context_is_answered_just_where_the_client_hands_it_on(name: str, case: dict[str, Any]) -> None:
    event = case["event"]
    if event is None or name in ("cursor/subagentStart", "cursor/afterFileEdit") or "copilot" in name:
        return
    told = case["context"].get("stdout", {})
    assert ("C" in [*told.values(), *told.get("hookSpecificOutput", {}).values()]) == hears(event["client"], event["moment"])


REAL = sorted((Path(__file__).parent / "golden" / "payloads").glob("*/*.json"))
# Moments of which nothing is made: what they tell comes with another one too.
_OF_NO_USE = ("PostToolBatch", "PostCompact", "Notification", "PermissionRequest")


@pytest.mark.parametrize(
    "file", [file for file in REAL if file.parent.name != "opencode"], ids=lambda file: f"{file.parent.name}/{file.stem}"
)
def test_what_the_real_clients_sent_is_understood(file: Path) -> None:
    name = "codex" if file.parent.name.startswith("codex") else file.parent.name
    client, raw = row(name), json.loads(file.read_text(encoding="utf-8"))
    assert client is not None
    value = raw.get("payload", raw)
    event = payload.read(value, client, {}, NOW)
    if file.stem.startswith(_OF_NO_USE):
        assert event is None
        return
    assert event is not None and event.client == name and event.cwd
    _is_bounded(event)
    if event.moment in ("before", "after"):
        assert event.tool not in ("", "other") and event.tool_name
        assert bool(event.command) == (event.tool == "shell") and (event.edits or event.tool not in ("edit", "write"))
    if event.moment == "after" and name != "codex":
        assert event.ended in ("ok", "failed")
    said = payload.answer(value, client, event, Say("context", "why" if event.moment == "before" else ""))
    out = said.stdout + "\n" if said.stdout else ""
    assert not hook_answers.problem(name, hook_answers.event_name(name, value), out, said.stderr, said.exit)


def test_every_client_with_a_dialect_has_cases() -> None:
    assert {name for name in CLIENTS if (client := row(name)) and client.dialect} == set(hook_payloads.CLIENTS)


@pytest.mark.parametrize("client", hook_payloads.CLIENTS)
def test_whatever_comes_the_answer_is_one_that_the_client_takes(client: str) -> None:
    known = row(client)
    assert known is not None
    read = 0
    for seed in range(300):  # test_hooks.py has two thousand, as processes
        raw = hook_payloads.spoilt(client, seed)
        answer = payload.nothing(known)
        value: Any = None
        try:
            value = payload.parse(raw)
            event = payload.read(value, known, {}, NOW)
        except ValueError:
            event = None
        if event is not None:
            read += 1
            refusal = "why" if event.moment == "before" and seed % 2 else ""
            answer = payload.answer(value, known, event, Say("context" if seed % 3 else "", refusal))
            _is_bounded(event)
        out = answer.stdout + "\n" if answer.stdout else ""
        client_of = event.client if event else client
        name = hook_answers.event_name(client_of, value)
        assert not hook_answers.problem(client_of, name, out, answer.stderr, answer.exit), (seed, raw[:300], answer)
    assert read > 100


def _is_bounded(event: Event) -> None:
    assert event.session and len(event.session) <= 200
    assert len(event.output) <= 66_000 and len(event.command) <= 66_000 and len(event.text) <= 66_000
    assert len(event.edits) <= 201 and len(event.paths) <= 500
    repr(event).encode()  # no half of a surrogate pair


def test_quick_json_reads_and_writes_what_json_does() -> None:
    for text in ('{"a": [1, -2.5e3, true, null, "\\u00e9\\n\\ud83d\\ude00"]}', " [] ", '"x"', "1e999", '\ufeff{"b": NaN}'):
        expected = json.loads(text.lstrip("\ufeff"), parse_constant=lambda _: None)
        assert quick_json.loads(text.encode()) == expected
    told = {"a": 'q"\\\n\u2028é😀', "b": True, "c": {"d": "x"}}
    assert json.loads(quick_json.dumps(told)) == told
    assert quick_json.dumps(told).isascii()


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"nul", b"{} {}", b"[" * 1_000_000, b'{"a":' * 200_000, b"1" * 10_000, b"\xff", b"{'a': 1}"]
)
def test_what_is_no_json_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError):
        payload.parse(raw)


@given(st.text())
def test_any_text_survives_quick_json(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    assert json.loads(quick_json.dumps({"a": clean}))["a"] == clean


COMMANDS: list[tuple[str, list[Edit]]] = [
    ("echo hi > out.txt", [Edit("out.txt", new="hi", kind="whole")]),
    ("echo hi >> 'my file.txt'", [Edit("my file.txt", new="hi")]),
    ("pytest -q 2>&1 | tee log.txt", [Edit("log.txt", kind="whole")]),
    ("make > /dev/null 2>&1", []),
    ("cat > a.py <<'EOF'\nx = 1\ny > 2\nEOF", [Edit("a.py", new="x = 1\ny > 2\n", kind="whole")]),
    ("cat <<EOF >> a.py\nx = 1\nEOF\npython a.py", [Edit("a.py", new="x = 1\n")]),
    ("sed -i 's/old/new/' a.py b.py", [Edit("a.py", "old", "new"), Edit("b.py", "old", "new")]),
    ("sed -i.bak -e '3,7d' a.py", [Edit("a.py", lines=(3, 7))]),
    ("sed -i '' 's/a.*b/c/g' a.py", [Edit("a.py")]),
    ("sed -n '1,5p' a.py", []),
    ("sed -Ei '12s|x|y|' a.py", [Edit("a.py", "x", "y", lines=(12, 12))]),
    ("perl -i -pe 's/x/y/' a.py", [Edit("a.py", "x", "y")]),
    ("perl -ne 'print if /x/' a.py", []),
    ("mv a.py b.py", [Edit("a.py", kind="move", target="b.py")]),
    ("mv -f a.py c.py lib", [Edit("a.py", kind="move", target="lib/a.py"), Edit("c.py", kind="move", target="lib/c.py")]),
    ("cp -r a.py lib/", [Edit("lib/a.py", kind="whole")]),
    ("rm -rf build old.py", [Edit("build", kind="delete"), Edit("old.py", kind="delete")]),
    ("rm -rf $BUILD *.pyc", []),
    ("git rm --cached a.py", [Edit("a.py", kind="delete")]),
    ("git -C sub mv a.py b.py", [Edit("sub/a.py", kind="move", target="sub/b.py")]),
    ("git restore a.py", [Edit("a.py", kind="whole")]),
    ("git restore --staged a.py", []),
    ("git checkout main", []),
    ("git checkout HEAD -- a.py", [Edit("a.py", kind="whole")]),
    (
        "cd auth && echo x > a.py; cd /tmp; echo y > b.py",
        [Edit("auth/a.py", new="x", kind="whole"), Edit("/tmp/b.py", new="y", kind="whole")],
    ),
    ("bash -lc \"sed -i 's/x/y/' a.py\"", [Edit("a.py", "x", "y")]),
    ("sudo env A=1 tee -a /etc/hosts", [Edit("/etc/hosts")]),
    ("[[ a > b ]] && (( 3 > 2 ))", []),
    ("git commit -m \"$(cat <<'EOF'\nfix > it\nEOF\n)\"", []),
]


@pytest.mark.parametrize(("command", "edits"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_tells_which_files_it_changes(command: str, edits: list[Edit]) -> None:
    assert list(by_command(command)) == edits


def test_a_folder_of_the_call_goes_before_relative_paths_only() -> None:
    assert [edit.path for edit in by_command("echo x > a; echo y > /b; echo z > ~/c", "sub")] == ["sub/a", "/b", "~/c"]


PATCH = """*** Begin Patch
*** Update File: a.py
@@ def f():
 keep
-old
+new
@@
-x
+y
*** End of File
*** End Patch
*** Update File: not.py"""


def test_each_passage_of_a_patch_is_an_edit_with_its_context() -> None:
    assert patches.parse(PATCH) == (Edit("a.py", "keep\nold", "keep\nnew"), Edit("a.py", "x", "y"))


def test_a_patch_is_found_in_every_form_in_which_agents_hand_it_over() -> None:
    expected = patches.parse(PATCH)
    assert changed("edit", "apply_patch", {"command": PATCH}) == expected
    assert changed("edit", "apply_patch", {"input": PATCH}) == expected
    assert changed("shell", "Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}) == expected
    assert changed("shell", "shell", {"command": ["apply_patch", PATCH]}) == expected
    assert changed("shell", "shell", {"command": ["bash", "-lc", f"cd sub && apply_patch <<'EOF'\n{PATCH}\nEOF"]}) == tuple(
        edit.replace(path="sub/a.py") for edit in expected
    )


@given(st.text(alphabet="*@+- \nabUpdateFile:BeginPatch", max_size=400))
def test_any_patch_is_read_without_an_error(text: str) -> None:
    for edit in patches.parse(f"*** Begin Patch\n{text}"):
        assert edit.path
    patches.replacements(text)


OUTPUTS = [
    ("Exit code 1\nFAILED", 1),
    ("ok\nExit Code: 127", 127),
    ("Process exited with code 0\nOutput:\nfine", 0),
    ("[The command completed with exit code -1.]", -1),
    ("text that speaks of an exit code 1 in the middle of a sentence that goes on", None),
    ("exit", None),
    ("Exit code: 99999999999999999999", None),
    ("", None),
    ("Exit code \u0663", None),
]


@pytest.mark.parametrize(("output", "code"), OUTPUTS)
def test_an_exit_code_is_found_where_clients_write_it(output: str, code: int | None) -> None:
    assert outcomes.exit_code(output) == code


@pytest.mark.slow
@pytest.mark.parametrize("word", ["sed -i {}", "tee {}", "tee x{}", "echo y {}"])
@pytest.mark.parametrize("mark", [">x", "<x", "x ", ">>x", "<<x"])
def test_a_command_costs_no_more_than_its_length(word: str, mark: str) -> None:
    """Of one that is twice as long, twice as much: a client waits for a hook for some tenths of a second."""
    assert not takes_the_square(by_command, lambda length: word.format(repeated(mark)(length)), 40_000)


POWERSHELL: list[tuple[str, list[Edit]]] = [
    (r"Set-Content -Path src\a.py -Value 'x = 1'", [Edit("src/a.py", new="x = 1", kind="whole")]),
    ("set-content a.py 'x = 1' -NoNewline", [Edit("a.py", new="x = 1", kind="whole")]),
    ("'it''s $1' | Set-Content -Encoding utf8 a.py", [Edit("a.py", new="it's $1", kind="whole")]),
    (
        "@'\nlet a = `${b}`;\nit's\n'@ | Set-Content -LiteralPath 'a.ts'",
        [Edit("a.ts", new="let a = `${b}`;\nit's\n", kind="whole")],
    ),
    ('@"\nx = 1\n"@ | Out-File a.py', [Edit("a.py", new="x = 1\n", kind="whole")]),
    ("'x','y' | Out-File -FilePath a.txt", [Edit("a.txt", new="x\ny", kind="whole")]),
    ("'x' | Out-File -Append a.txt", [Edit("a.txt", new="x")]),
    ('Add-Content a.txt "x`ny"', [Edit("a.txt", new="x\ny")]),
    ("(Get-Content a.py) -replace 'old','new' | Set-Content a.py", [Edit("a.py", "old", "new")]),
    ("(Get-Content a.py -Raw) -replace 'o.*d','new' | Set-Content a.py", [Edit("a.py")]),
    ("(Get-Content a.py -Raw).Replace('old', 'new') | Set-Content a.py", [Edit("a.py")]),
    ("Get-Content b.py | Set-Content a.py", [Edit("a.py")]),
    ('Set-Content a.py "x = $x"', [Edit("a.py")]),
    ("'x' > a.txt", [Edit("a.txt", new="x", kind="whole")]),
    ("npm test 2>$null > out.txt", [Edit("out.txt", kind="whole")]),
    (r"cd web; Set-Content ui\a.py 'x'", [Edit("web/ui/a.py", new="x", kind="whole")]),
    ("Remove-Item -Recurse -Force build, old.py", [Edit("build", kind="delete"), Edit("old.py", kind="delete")]),
    (r"Move-Item a.py lib\ ", [Edit("a.py", kind="move", target="lib/a.py")]),
    ("New-Item -ItemType File -Path a.py -Value 'x'", [Edit("a.py", new="x", kind="whole")]),
    ("@'\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n'@ | apply_patch", [Edit("a.py", kind="delete")]),
    # What is not known for sure.
    ("$p = 'a.py'; Set-Content $p 'x'", []),
    ("Set-Content \"$root/a.py\" 'x'", []),
    ("Set-Content (Join-Path src a.py) 'x'", []),
    ("Get-ChildItem *.py | ForEach-Object { Set-Content a.py 'x' }", []),
    ("Remove-Item *.pyc", []),
    ("Set-Content a.py 'x' -WhatIf", []),
    ("New-Item -ItemType Directory lib", []),
    ("Write-Output 'Set-Content a.py x'", []),
    ('Write-Host "a > b"', []),
    ("if ($a -gt 3) { Get-Content a.py }", []),
    ("npm test 2>&1 | Out-Null", []),
    ("'x' > $null", []),
]


@pytest.mark.parametrize(("text", "edits"), POWERSHELL, ids=[text for text, _ in POWERSHELL])
def test_a_command_of_powershell_tells_which_files_it_changes(text: str, edits: list[Edit]) -> None:
    assert list(changed("shell", "shell", {"command": ["powershell.exe", "-NoLogo", "-Command", text]})) == edits


@pytest.mark.parametrize(
    "text",
    ["Set-Content a.py 'x'", "@'\nit's\n'@ | Set-Content a.py", "Set-Location lib; Remove-Item a.py", "'x' | Out-File a.py"],
)
def test_powershell_is_known_by_its_own_commands_where_no_program_names_it(text: str) -> None:
    assert by_command(text) == changed("shell", "shell", {"command": ["pwsh", "-Command", text]}) != ()


@pytest.mark.parametrize("command", ["docker exec web sh -c 'echo x > a.py'", "docker compose run web bash -c 'rm a.py'"])
def test_files_of_a_container_are_not_ours(command: str) -> None:
    assert by_command(command) == ()


def test_a_shell_behind_a_wrapper_changes_our_files() -> None:
    assert by_command("nix develop -c bash -c 'echo x > a.py'") == (Edit("a.py", new="x", kind="whole"),)


@pytest.mark.parametrize(
    ("command", "after", "began"),
    [
        ("cd api && make", "/shop/api", "/shop"),
        ("cd ./api/src/; make", "/shop/api/src", "/shop"),
        ('cd "api" && make', "/shop/api", "/shop"),
        ("cd api", "/shop/api", "/shop"),
        ("make", "/shop/api", "/shop/api"),
        ("cd /shop/api && make", "/shop/api", "/shop/api"),
        ("cd .. && make", "/shop", "/shop"),
        ("cd nowhere && make", "/shop/api", "/shop/api"),  # it did not get there
        ("cd $API && make", "/shop/api", "/shop/api"),
        ("cd api\nmake", "/shop/api", "/shop"),
        ("cd api || exit 1; make", "/shop/api", "/shop"),
        ("cd api 2>/dev/null && make", "/shop/api", "/shop"),
        ("cd api>/dev/null&&make", "/shop/api", "/shop"),
        ("cd 'the api' && make", "/shop/the api", "/shop"),
    ],
)
def test_a_command_began_where_it_was_called_and_not_where_it_went(command: str, after: str, began: str) -> None:
    """Claude Code tells the folder in which the session is by the end: a second run from there would be another check."""
    client = row("claude-code")
    assert client is not None
    told = {"session_id": "s", "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": command}}
    for name, more, cwd in (
        ("PreToolUse", {}, after),
        ("PostToolUse", {"tool_response": {"stdout": "", "stderr": ""}}, began),
        ("PostToolUseFailure", {"error": "Exit code 1"}, began),
    ):
        event = payload.read({**told, **more, "hook_event_name": name, "cwd": after}, client, {}, NOW)
        assert event is not None and event.cwd == cwd


@pytest.mark.parametrize(
    "command",
    [
        "make > nul",
        "make 2>nul",
        "make > NUL:",
        "cmd /c 'npm test >nul 2>&1'",
        r"cmd.exe /c 'echo x > %TEMP%\out.json'",
        "cmd /c 'copy a.py %OUT%'",
        "cp a.py b.py %OUT%",
        'mv a.py b.py "$OUT"',
        "rm -f con",
        "pwsh -c 'npm test > NUL'",
        "pwsh -c 'npm test > $NULL'",
        "Set-Content nul 'x'",
        "'x' | Out-File CON:",
        "Set-Content %TEMP%/a.txt 'x'",
        "Set-Content /dev/stdout 'x'",
        "Set-Content a.py,b.py 'x'",
    ],
)
def test_what_is_no_file_or_no_known_one_is_not_changed(command: str) -> None:
    assert by_command(command) == ()


@pytest.mark.parametrize(
    "command",
    [
        "Write-Output $content | Set-Content a.py",
        'Write-Output "x = $x" | Set-Content a.py',
        "Write-Output (Get-Date) | Out-File a.py",
        "echo $content | Set-Content a.py",
        "Set-Content a.py -Value $content",
        "New-Item -ItemType File a.py -Value $content",
        "pwsh -c '\"abc$x\" > a.py'",
        "pwsh -c 'Write-Output $x > a.py'",
        "pwsh -c '$x > a.py'",
        "pwsh -c '(Get-Content a.py).Replace(1, 2) > a.py'",
        'echo "x = $x" > a.py',
        "echo `date` > a.py",
        "printf '%s\\n' \"$x\" > a.py",
        'printf "$x" > a.py',
        "cat > a.py <<EOF\nx = $x\nEOF",
        "tee a.py <<-E\n\tx = $(date)\n\tE",
        "cmd /c 'echo %VERSION% > a.py'",
    ],
)
def test_a_text_that_is_computed_is_not_what_a_file_holds(command: str) -> None:
    assert by_command(command) == (Edit("a.py"),)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("Write-Output 'costs $5' | Set-Content a.py", "costs $5"),
        ("Write-Output x | Set-Content a.py", "x"),
        ("pwsh -c 'echo x > a.py'", "x"),
        ("cat > a.py <<'EOF'\nx = $x\nEOF", "x = $x\n"),
        ("cat > a.py <<\\E\nx = `x`\nE", "x = `x`\n"),
        ("cat > a.py <<EOF\nx = 100%\nEOF", "x = 100%\n"),
        ("echo 100% > a.py", "100%"),
        ("New-Item -ItemType File a.py", ""),
    ],
)
def test_a_text_that_stands_in_a_command_is_what_a_file_holds(command: str, text: str) -> None:
    assert by_command(command) == (Edit("a.py", new=text, kind="whole"),)


@pytest.mark.parametrize(
    "wrapped",
    ["op run -- {}", "sudo {}", "direnv exec . {}", "uv run {}", "op run -- sudo -E {}", 'bash -c "{}"', "mise exec -- {}"],
)
@pytest.mark.parametrize("container", ["docker exec web", "docker compose exec web", "podman exec web", "docker run shop"])
def test_files_of_a_container_behind_a_wrapper_are_not_ours(wrapped: str, container: str) -> None:
    assert by_command(wrapped.format(f"{container} sh -c 'rm -rf src'")) == ()
    assert by_command(wrapped.format("sh -c 'rm -rf src'")) == (Edit("src", kind="delete"),)


@pytest.mark.parametrize(
    ("project", "after", "began"),
    [
        ("/home/u/foo", "/home/u/foo", "/home/u/foo"),  # the client went back to its top, of which foo/foo has the name
        ("/home/u/foo/", "/home/u/foo", "/home/u/foo"),
        ("/home/u/foo", "/home/u/foo/foo", "/home/u/foo"),
        ("/home/u/foo", "/home/u/foo/src/foo", "/home/u/foo/src"),
        ("/home/u/foo", "/home/u/foo-2/foo", "/home/u/foo-2/foo"),
        ("", "/home/u/foo", "/home/u"),
    ],
)
def test_no_command_began_above_the_project(project: str, after: str, began: str) -> None:
    client = row("claude-code")
    assert client is not None
    event = payload.read(
        {
            "hook_event_name": "PostToolUse", "session_id": "s", "cwd": after, "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": {"command": "cd foo && sed -i s/a/b/ core.py"}, "tool_response": {"stdout": "", "stderr": ""},
        },
        client, {"CLAUDE_PROJECT_DIR": project} if project else {}, NOW,
    )  # fmt: skip
    assert event is not None and event.cwd == began


@pytest.mark.parametrize("name", ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "TaskStop"])
def test_lists_of_tasks_are_no_subagents(name: str) -> None:
    client = row("claude-code")
    assert client is not None
    told = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/shop", "tool_name": name, "tool_input": {"taskId": "1"}}
    event = payload.read(told, client, {}, NOW)
    assert event is None or event.tool == "other"
