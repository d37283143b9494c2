"""The tools, resources and prompts of the MCP door on a real memory: what they take, what they say, and how much."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import hardwon
from hardwon.agents.introduced import client
from hardwon.doors import mcp_methods, tools
from hardwon.doors.tool_answers import MOST, TELLS, tokens
from hardwon.doors.tools import TOOLS, Tool, described, fields
from hardwon.doors.verbs import BY_NAME
from hardwon.errors import InvalidInput
from hardwon.search.pack import TAG
from hardwon.types import Origin
from tests.conftest import git
from tests.hostile import BAD_BYTES, ESCAPE, MEGABYTE, Kept, contents, kept
from tests.mcptalk import NEW, OLD, SNAPSHOT, Talk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

__all__ = ["kept"]  # the fixture

by_name = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
PERSON = Origin("person", "", "", "test")


@pytest.fixture(params=[OLD, NEW])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def talk(project: Path) -> Talk:
    return Talk(project)


@pytest.fixture
def asking(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """A memory that all share who only ask."""
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    return Talk(kept.project)


def test_what_was_kept_is_not_called_a_failure_when_what_follows_it_fails(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hardwon.doors import background
    from hardwon.errors import Damaged

    def damaged(*_: object) -> bool:
        raise Damaged("the index of the code is damaged", remedy="make it anew")

    monkeypatch.setattr(background, "refresh_soon", damaged)
    assert talk.tool("remember", text="the pool is never shared")["action"] == "created"
    assert "the index of the code is damaged" in capsys.readouterr().err


# The table


def test_the_tools_are_those_that_were_agreed_on() -> None:
    """What agents see. After a wanted change: ``python -m tests.mcptalk > tests/mcp_tools.json``."""
    assert [described(tool) for tool in TOOLS] == json.loads(SNAPSHOT.read_text())


@by_name
def test_a_tool_is_described_for_who_has_to_choose_it(tool: Tool) -> None:
    shown = described(tool)
    assert tool.name in TELLS
    assert shown["description"].startswith("Call this ")
    assert len(shown["description"].encode()) < 500
    assert shown["title"] == shown["annotations"]["title"]
    hints = {name: shown["annotations"][name] for name in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")}
    assert all(isinstance(hint, bool) for hint in hints.values())
    assert not hints["openWorldHint"]
    assert hints["readOnlyHint"] == (tool.name in ("recall", "before", "show", "status"))
    assert hints["destructiveHint"] == (tool.name == "forget")
    for one in ("inputSchema", "outputSchema"):
        Draft202012Validator.check_schema(shown[one])
        assert shown[one]["type"] == "object"


@by_name
def test_what_a_tool_takes_is_what_its_verb_takes(tool: Tool) -> None:
    verb = BY_NAME[tool.verb]
    options = {option.name: option for option in verb.options}
    arguments = {argument.name for argument in verb.arguments}
    for name in tool.takes:
        assert name in options or name in arguments
    for option in fields(tool).values():
        if option.name in options and option not in tool.own:
            assert (option.form, option.choices, option.many) == (
                options[option.name].form, options[option.name].choices, options[option.name].many,
            )  # fmt: skip


def test_a_change_of_the_verb_is_one_of_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    verb = BY_NAME["recall"]
    changed = tuple(one.replace(help="Another help.", choices=("this",)) if one.name == "kind" else one for one in verb.options)
    monkeypatch.setattr(tools, "row", lambda name: verb.replace(options=changed))
    shown = described(TOOLS[0])["inputSchema"]["properties"]["kind"]
    assert shown == {"type": "array", "items": {"type": "string", "enum": ["this"]}, "description": "Another help."}


def test_nothing_of_the_command_line_is_told_to_an_agent() -> None:
    said = json.dumps([described(tool) for tool in TOOLS]) + mcp_methods.INSTRUCTIONS
    for word in ("standard input", "may be repeated", "--", "-d"):
        assert word not in said


def test_the_instructions_fit_and_say_what_to_call_when() -> None:
    text = mcp_methods.INSTRUCTIONS
    assert len(text.encode()) <= 2_048
    for tool in ("recall", "before", "outcome", "remember", "show", "forget"):
        assert f"`{tool}`" in text


def test_the_first_line_of_the_instructions_says_it_all() -> None:
    first = mcp_methods.INSTRUCTIONS.splitlines()[0]
    assert len(first) <= 248  # what Codex shows of a server before one of its tools was looked for
    for tool in ("recall", "before", "outcome", "remember"):
        assert f"`{tool}`" in first


def test_recall_is_always_loaded() -> None:
    assert [tool.name for tool in TOOLS if tool.meta.get("anthropic/alwaysLoad")] == ["recall"]


def test_nobody_can_approve_or_erase_here() -> None:
    assert {tool.verb for tool in TOOLS} & {"approve", "reject", "restore", "repair", "rekey"} == set()
    assert fields(next(tool for tool in TOOLS if tool.name == "forget")).keys() == {"id", "repository"}


# Used


def test_the_lists_are_the_same_each_time(tmp_path: Path, era: str) -> None:
    talk = Talk(tmp_path, era)
    for method, key in (
        ("tools/list", "tools"), ("resources/list", "resources"), ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ):  # fmt: skip
        first = talk.ask(method)
        assert first == talk.ask(method)
        assert first[key]
        assert "nextCursor" not in first


def test_what_one_session_learns_the_next_is_told(project: Path, era: str) -> None:
    one, next_one = Talk(project, era), Talk(project, era)
    failed = one.tool(
        "outcome",
        symbol="Pool.get",
        outcome="failed",
        lesson="the pool runs dry",
        file="src/db.py",
        detail="return it in a finally",
    )
    assert (failed["action"], failed["level"], failed["number"]) == ("created", "low", 1)
    kept = one.tool("remember", text="Sessions live in Redis", kind="decision", because="cookies were too large", tag="auth")
    assert (kept["action"], kept["number"]) == ("created", 2)

    warned = next_one.tool("before", file="src/db.py", symbol="Pool.get")
    assert warned["hits"] == [{"id": "#1", "kind": "lesson", "score": warned["hits"][0]["score"], "outcome": "failed"}]
    assert "return it in a finally" in warned["block"]
    assert warned["block"].startswith(f"<{TAG} ")
    assert "cookies were too large" in next_one.tool("recall", task="where do sessions live?")["block"]
    assert "cookies were too large" in next_one.tool("show", id=2)["page"]
    assert one.tool("outcome", symbol="Pool.get", outcome="worked")["action"] == "created"


def test_text_and_structure_say_the_same(talk: Talk) -> None:
    talk.tool("remember", text="Sessions live in Redis", kind="decision")
    result = talk.ask("tools/call", name="recall", arguments={"task": "where do sessions live?"})
    assert result["content"][0]["type"] == "text"
    assert result["content"][0]["text"].startswith(result["structuredContent"]["block"])


def test_history_answers_without_anything_recorded(asking: Talk) -> None:
    found = asking.tool("recall", task="why do we retry uploads twice?")
    assert found["hits"][0]["kind"] == "change"
    assert "drops the first request" in found["block"]
    commit = found["hits"][0]["id"]
    assert "Retry uploads twice" in asking.tool("show", id=commit)["page"]
    assert "Retry uploads twice" in asking.ask("resources/read", uri=f"hardwon://memory/{commit}")["contents"][0]["text"]


def test_nothing_that_fits_is_an_answer(asking: Talk) -> None:
    result = asking.ask("tools/call", name="recall", arguments={"task": "zebra quantum marmalade"})
    assert result["structuredContent"] == {"block": "", "hits": [], "left_out": 0, "degraded": []}
    assert result["content"][0]["text"] == "nothing is remembered that fits"
    assert asking.tool("before", file="src/new.py")["hits"] == []


def test_a_failure_is_recalled_by_what_it_printed(talk: Talk) -> None:
    talk.tool("outcome", symbol="Pool.get", outcome="failed", lesson="KeyError when the pool is empty", file="src/db.py")
    log = 'Traceback (most recent call last):\n  File "src/db.py", line 3, in get\n    return self.free.pop()\nKeyError: empty\n'
    assert talk.tool("recall", error=log)["hits"][0]["id"] == "#1"


def test_a_diff_is_given_as_a_text(talk: Talk, project: Path) -> None:
    talk.tool("outcome", symbol="upload", outcome="failed", lesson="a third attempt makes doubles", file="src/upload.py")
    (project / "src/upload.py").write_text("def upload(part):\n    for attempt in range(3):\n        send(part, attempt)\n")
    assert talk.tool("before", diff=git(project, "diff"))["hits"][0]["id"] == "#1"
    assert "a third attempt" in talk.ask("prompts/get", name="review")["messages"][0]["content"]["text"]


@pytest.mark.slow
def test_who_speaks_here_is_an_agent_by_the_name_of_its_client(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARDWON_CLIENT")
    monkeypatch.setenv("HARDWON_SESSION", "s7")
    for number, (said, known) in enumerate(
        (("Visual Studio Code", "vscode"), ("codex-mcp-client", "codex"), ("person", "person")), 1
    ):
        Talk(project, client=said).tool("remember", text=f"fact {number}")
        with hardwon.open(str(project)) as memory:
            kept = memory.show(number).memory
        assert (kept.origin.who, kept.origin.client, kept.origin.tool) == ("agent", known, "mcp")
        assert (kept.origin.session, kept.trust) == ("s7", "claimed")


def test_clients_are_known_by_the_names_they_give_themselves() -> None:
    said = {
        "claude-code": "claude-code", "Claude Code": "claude-code", "codex-mcp-client": "codex", "gemini-cli-mcp-client-x": "gemini",
        "opencode": "opencode", "cursor-vscode": "cursor", "Visual Studio Code - Insiders": "vscode", "Zed": "zed", "amplify": "amplify",
        "claude-ai": "claude-desktop", "": "", "x\n\x1b[31mÄ/1.0": "x-31m/1.0", "a" * 500: "a" * 60,
    }  # fmt: skip
    assert {name: client(name) for name in said} == said


def test_secrets_are_taken_out_by_both_layers(talk: Talk, project: Path, home: Path) -> None:
    quick, bulk = "hunter2secret!", "https://hooks.slack.com/services/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"
    kept = talk.tool("remember", text=f"the password is {quick}", detail=f"posts to {bulk}", code=f"URL = {bulk!r}")
    assert kept["redacted"] >= 3
    held = b"".join(contents(home).values())
    assert quick.encode() not in held
    assert bulk[-24:].encode() not in held
    assert (
        "secret"
        in talk.ask("tools/call", name="remember", arguments={"text": f"again: password is {quick}"})["content"][0]["text"]
    )


@pytest.mark.slow
def test_the_second_layer_is_loaded_by_the_first_record_and_not_before(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardwon.intake import bulk

    bulk._scanner.cache_clear()
    made: list[str] = []
    real = bulk.Scanner
    monkeypatch.setattr(bulk, "Scanner", lambda folder: made.append(folder) or real(folder))
    talk.ask("tools/list")
    talk.tool("recall", task="retry uploads")
    talk.tool("before", file="src/db.py")
    assert made == []
    talk.tool("remember", text="a fact")
    talk.tool("remember", text="another fact")
    assert len(made) == 1
    bulk._scanner.cache_clear()


def test_private_spans_and_our_own_text_stay_out(talk: Talk) -> None:
    block = talk.tool("recall", task="why do we retry uploads twice?")["block"]
    talk.tool("remember", text=f"a note <private>nobody's business</private> {block}")
    page = talk.tool("show", id=1)["page"]
    assert "a note" in page
    assert "nobody's business" not in page
    assert "drops the first request" in block and "drops the first request" not in page
    assert "text" in talk.wrong("remember", text=block)
    assert page.count(f"<{TAG} ") == page.count(f"</{TAG}>") == 1


# Forgetting


def test_one_memory_is_forgotten_softly(talk: Talk, call: Callable[..., Result]) -> None:
    talk.tool("remember", text="Sessions live in Redis")
    done = talk.tool("forget", id="#1")
    assert (done["matched"], done["forgotten"]) == (1, 1)
    assert talk.tool("recall", task="Sessions live in Redis")["hits"] == [
        hit for hit in talk.tool("recall", task="Sessions live in Redis")["hits"] if hit["id"] != "#1"
    ]
    assert talk.wrong("forget", id=1)
    assert call("undo", "1").code == 0
    assert talk.tool("recall", task="Sessions live in Redis")["hits"][0]["id"] == "#1"


def test_what_a_person_vouches_for_an_agent_cannot_forget(talk: Talk, project: Path) -> None:
    with hardwon.open(str(project), origin=PERSON) as memory:
        number = memory.record("Sessions live in Redis", kind="rule").number
    said = talk.wrong("forget", id=number)
    assert "confirmed" in said and "ask the person" in said
    for arguments in (
        {},
        {"id": ""},
        {"id": None},
        {"id": "*"},
        {"id": ["1", "2"]},
        {"session": "s"},
        {"tag": "x"},
        {"id": "1", "erase": True},
    ):
        talk.wrong("forget", **arguments)
    assert talk.tool("status")["memories"]["rule"] == 1


# Size


@pytest.fixture(scope="module")
def long(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory whose memories are as long as they may be, in ASCII, in three bytes a character, and full of what JSON escapes."""
    place = tmp_path_factory.mktemp("long")
    project = Path(shutil.copytree(template, place / "shop", symlinks=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARDWON_HOME", str(place / "home"))
        patch.chdir(project)
        with hardwon.open(".", make=True, origin=PERSON) as memory:
            for number, letter in enumerate('ab日語"\\'):
                words = f"upload {number} " + f"{letter} word {letter * 5} " * 150
                memory.record(
                    words[:1_900],
                    kind="decision",
                    detail=(words * 20)[:19_000],
                    because=(words * 3)[:3_900],
                    rejected=(words[:1_900],) * 5,
                    code=(f"{letter} = 1\n" * 20_000)[:49_000],
                    tags=("long", *(f"tag{count}" for count in range(10))),
                    file="src/upload.py",
                    symbol="upload",
                )
            for number in range(40):
                memory.fail(
                    "upload", f"upload failed for reason {number}: " + "reason " * 60, file="src/upload.py", detail="do " * 200
                )
    return project


@pytest.fixture
def talk_long(long: Path, monkeypatch: pytest.MonkeyPatch) -> Talk:
    monkeypatch.setenv("HARDWON_HOME", str(long.parent / "home"))
    return Talk(long)


def size(talk: Talk, name: str, **arguments: Any) -> int:
    result = talk.ask("tools/call", name=name, arguments=arguments)
    return tokens(result["content"][0]["text"], result.get("structuredContent", ""))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("recall", {"task": "upload reason failed"}), ("recall", {"task": "upload word", "k": 1000}),
        ("recall", {"kind": ["decision"], "k": 20}), ("recall", {"tag": ["long"]}),
        ("before", {"file": "src/upload.py"}), ("before", {"symbol": "upload"}), ("status", {}),
        ("recall", {"tag": "none" * 200}), ("recall", {"nonsense" * 1000: 1}), ("show", {"id": "9" * 900}),
    ],
    ids=range(10),
)  # fmt: skip
def test_an_answer_is_never_larger_than_an_agent_can_afford(talk_long: Talk, name: str, arguments: dict[str, Any]) -> None:
    assert 0 < size(talk_long, name, **arguments) <= MOST


def test_what_has_no_room_is_counted_and_comes_by_its_id(talk_long: Talk) -> None:
    found = talk_long.tool("before", symbol="upload")
    assert found["left_out"] > 0
    assert len(found["hits"]) >= 3
    listed = talk_long.tool("recall", tag="long", kind="decision", k=20)
    assert len(listed["hits"]) + listed["left_out"] == 6
    assert len(listed["hits"]) >= 2


@pytest.mark.slow
def test_a_long_memory_comes_whole_in_parts(talk_long: Talk, long: Path) -> None:
    for number in (3, 5):  # of three bytes a character, and full of what JSON escapes
        with hardwon.open(str(long)) as memory:
            kept = memory.show(number).memory
        told, start = "", None
        while not told or start is not None:
            result = talk_long.ask("tools/call", name="show", arguments={"id": number, "start": start})
            part = result["structuredContent"]
            assert tokens(result["content"][0]["text"], part) <= MOST
            told += "\n".join(part["page"].split("\n")[1:-1]) + "\n"
            start = part["next"]
        squeezed = "".join(told.split())
        for text in (kept.text, kept.detail, kept.because, kept.code):
            assert "".join(text.split()) in squeezed
        assert part["trust"] == "confirmed"


# What cannot be


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("recall", {}, "needs a task"), ("recall", {"task": ""}, "needs a task"), ("recall", {"tusk": "x"}, "it takes task"),
        ("recall", {"task": ["x"]}, "a text"), ("recall", {"task": {"a": 1}}, "a text"), ("recall", {"task": True}, "a text"),
        ("recall", {"task": 7}, "a text"), ("recall", {"task": MEGABYTE}, "at most"), ("recall", {"task": "x", "k": 0}, "above 0"),
        ("recall", {"task": "x", "k": "ten"}, "above 0"), ("recall", {"task": "x", "k": 1.5}, "above 0"),
        ("recall", {"task": "x", "k": True}, "above 0"), ("recall", {"task": "x", "k": 10**30}, "above 0"),
        ("recall", {"task": "x", "kind": "nonsense"}, "one of change"), ("recall", {"task": "x", "kind": [["rule"]]}, "a text"),
        ("recall", {"task": "x", "kind": ["rule"] * 101}, "at most 100"),
        ("recall", {"task": "x", "since": "maybe"}, "`since` takes a date"),
        ("recall", {"task": "x", "file": "../../etc/passwd"}, "repository"), ("recall", {"task": "x", "file": "a\nb"}, "one line"),
        ("recall", {"task": "x", "file": ESCAPE}, "one line"), ("recall", {"task": "x", "file": BAD_BYTES}, "one line"),
        ("recall", {"task": "x", "file": "f" * 1_001}, "at most"), ("recall", {"task": "x", "tag": ["nobody"]}, "nobody"),
        ("recall", {"task": "x", "repository": "nowhere"}, "nowhere"), ("recall", {"task": "x", "repository": "/no/such/folder"}, "folder"),
        ("recall", {"task": "x", "repository": ".."}, "hardwon init"), ("recall", {"task": "x", "repository": 7}, "7"),
        ("before", {}, "file"), ("before", {"lines": "1-2"}, "file"), ("before", {"file": "a.py", "lines": "two"}, "12-40"),
        ("before", {"file": "a.py", "lines": "9-2"}, "`lines` takes A-B"), ("before", {"lines": "3"}, "give `file`"),
        ("before", {"file": "/etc/passwd"}, "repository"),
        ("outcome", {}, "symbol"), ("outcome", {"symbol": "A.b"}, "outcome"), ("outcome", {"symbol": "A.b", "outcome": "failed"}, "lesson"),
        ("outcome", {"symbol": "A.b", "outcome": "open", "lesson": "x"}, "failed, worked"),
        ("outcome", {"symbol": " ", "outcome": "worked"}, "symbol"), ("outcome", {"symbol": "a\0b", "outcome": "worked"}, "symbol"),
        ("remember", {}, "text"), ("remember", {"text": " "}, "text"), ("remember", {"text": "x" * 30_000}, "text"),
        ("remember", {"text": "x", "kind": "change"}, "one of"), ("remember", {"text": "x", "private": "perhaps"}, "true or false"),
        ("remember", {"text": "x", "expires": "soon"}, "30d"), ("remember", {"text": "x", "who": "person"}, "it takes"),
        ("remember", {"text": "x", "code": "y" * 60_000}, "code"), ("remember", {"text": "x", "trust": "confirmed"}, "it takes"),
        ("show", {}, "id"), ("show", {"id": "99"}, "99"), ("show", {"id": "1 OR 1=1"}, "id"), ("show", {"id": "../1"}, "id"),
        ("show", {"id": "1", "start": 10**6}, "ends before"), ("show", {"id": "1", "start": -1}, "above 0"),
        ("forget", {"id": "99"}, "99"), ("forget", {"id": "1", "yes": True}, "it takes"), ("status", {"all": 1}, "it takes"),
    ],
    ids=lambda value: str(value)[:40] if not isinstance(value, dict) else ascii(value)[:60],
)  # fmt: skip
def test_what_is_wrong_is_told_with_what_to_do_and_nothing_is_touched(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any], said: str
) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    before = contents(kept.home)
    text = Talk(kept.project).wrong(name, **arguments)
    assert said in text
    assert "Traceback" not in text
    assert "--" not in re.sub("`[^`]*`", "", text), "an option, where an argument is meant"
    assert len(text) < 1_000
    assert contents(kept.home) == before


_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["30d", "2026-01-31", "12", "rule"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)


@by_name
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_whatever_is_given_becomes_a_request_of_its_verb_or_is_refused(tool: Tool, data: st.DataObject) -> None:
    taken = fields(tool)
    arguments = data.draw(st.dictionaries(st.sampled_from(list(taken)) | st.text(max_size=6), _ANY, max_size=4))
    try:
        request, repository = tools.request(tool, arguments)
    except InvalidInput as error:
        assert error.message and error.remedy and error.field in (*taken, "arguments", *tool.takes)
        return
    assert isinstance(repository, str)
    known = {option.name: option for option in taken.values()}
    for name, value in request.given.items():
        several = value if known[name].many else [value]
        kind = {"number": int, "age": int, "moment": int, "flag": bool}.get(known[name].form, str)
        assert isinstance(several, list) and all(type(one) is kind for one in several)


def test_arguments_are_read_generously_where_they_are_plain(talk: Talk) -> None:
    assert talk.tool("remember", text="one", tag="ci", file=None, kind=None, private="false")["number"] == 1
    assert talk.tool("recall", kind="fact", k="3")["hits"][0]["id"] == "#1"
    assert talk.tool("recall", kind=["fact"], k=3.0, tag=[])["hits"][0]["id"] == "#1"
    assert talk.tool("show", id=1)["id"] == talk.tool("show", id="#1")["id"] == "#1"
    assert talk.ask("tools/call", name="status")["structuredContent"]["ok"]
    assert talk.ask("tools/call", name="status", arguments=None)["structuredContent"]["ok"]


def test_a_hyphen_is_a_text_and_reads_nothing(talk: Talk) -> None:
    """On the command line it stands for standard input, which here is the protocol."""
    talk.tool("remember", text="-", code="-", detail="-")
    assert "-" in talk.tool("show", id=1)["page"]
    assert talk.tool("recall", task="-")["hits"] == []
    assert "no unified diff" in talk.wrong("before", file="src/db.py", diff="-")
    assert talk.tool("recall", task="x", error="-")["hits"] == []


@pytest.mark.slow
def test_no_argument_names_a_file_to_be_read(talk: Talk, project: Path) -> None:
    (project / "secret.txt").write_text("def leaked(): pass\n")
    talk.tool("remember", text="a fact", code="secret.txt")
    assert "leaked" not in talk.tool("show", id=1)["page"]
    assert "no unified diff" in talk.wrong("before", diff="secret.txt")
    talk.tool("recall", error="secret.txt", task="x")


def test_what_is_not_there_is_an_error_of_the_protocol(asking: Talk) -> None:
    for params in ({"name": "approve"}, {"name": "erase"}, {}, {"name": 7}, {"name": "recall", "arguments": []}):
        assert asking.refused("tools/call", **params)["code"] == -32602
    for params in (
        {"name": "no"}, {}, {"name": "start", "arguments": {"x": "y"}}, {"name": "start", "arguments": 7},
        {"name": "record-lesson", "arguments": {"symbol": 7}}, {"name": "record-lesson", "arguments": {"symbol": "a\nb"}},
    ):  # fmt: skip
        assert asking.refused("prompts/get", **params)["code"] == -32602


# Where


@pytest.mark.slow
def test_another_repository_is_named_by_folder_or_name(
    project: Path, tmp_path: Path, template: Path, call: Callable[..., Result]
) -> None:
    other = Path(shutil.copytree(template, tmp_path / "other", symlinks=True))
    git(other, "commit", "-q", "--amend", "--allow-empty", "-m", "other", at=1_600_000_000)
    assert call("init", "--split", "payments", cwd=other).code == 0
    talk = Talk(project)
    for repository in ("payments", str(other), f"{other}/src", "../other"):
        assert talk.tool("status", repository=repository)["name"] == "payments"
    assert talk.tool("remember", text="Of the other", repository="payments")["number"] == 1
    assert talk.tool("recall", kind="fact", repository="payments")["hits"][0]["id"] == "#1"
    assert talk.tool("recall", kind="fact")["hits"] == []
    named = Talk(project, project="payments")
    assert named.tool("status")["name"] == "payments"
    assert named.tool("status", repository=str(project))["name"] == "shop"


def test_without_a_memory_it_says_how_to_make_one_and_finds_it_then(bare: Path, call: Callable[..., Result], home: Path) -> None:
    talk = Talk(bare)
    assert talk.ask("tools/list")["tools"]
    for name, arguments in (("recall", {"task": "x"}), ("remember", {"text": "x"}), ("status", {})):
        assert "hardwon init" in talk.wrong(name, **arguments)
    assert "hardwon init" in talk.refused("resources/read", uri="hardwon://brief")["message"]
    assert not home.exists()
    assert call("init", cwd=bare).code == 0
    assert talk.tool("recall", task="why do we retry uploads twice?")["hits"]


@pytest.mark.slow
def test_what_becomes_of_the_store_meanwhile_is_seen(
    talk: Talk, project: Path, call: Callable[..., Result], tmp_path: Path
) -> None:
    assert talk.tool("remember", text="First")["number"] == 1
    assert call("record", "Second").code == 0
    assert "Second" in talk.tool("show", id=2)["page"]
    assert call("backup", str(tmp_path / "kept.db")).code == 0
    assert talk.tool("remember", text="Third")["number"] == 3
    assert call("restore", str(tmp_path / "kept.db"), "--yes").code == 0
    assert talk.wrong("show", id=3)
    assert talk.tool("remember", text="Fourth")["action"] == "created"
    assert call("init", "--encrypt", "--yes").code == 0
    assert "First" in talk.tool("show", id=1)["page"]
    assert call("rekey", "--yes").code == 0
    assert talk.tool("remember", text="Fifth")["action"] == "created"
    assert call("verify").code == 0


@pytest.mark.slow
def test_a_branch_that_is_checked_out_meanwhile_is_seen(talk: Talk, project: Path) -> None:
    git(project, "checkout", "-qb", "feature")
    talk.tool("remember", text="Only here")
    git(project, "checkout", "-q", "main")
    assert talk.tool("status")["branch"] == "main"
    git(project, "checkout", "-q", "feature")
    assert talk.tool("status")["branch"] == "feature"
    assert "branch: feature" in talk.tool("show", id=1)["page"]


@pytest.mark.slow
def test_a_folder_that_is_gone_is_told(project: Path) -> None:
    talk = Talk(project)
    shutil.move(project, project.parent / "moved")
    assert "is not a folder" in talk.wrong("recall", task="x")
    assert talk.tool("recall", task="why do we retry uploads twice?", repository=str(project.parent / "moved"))["hits"]


@pytest.mark.slow
def test_a_damaged_store_is_told_and_the_process_goes_on(talk: Talk, home: Path) -> None:
    (store,) = (home / "stores").glob("*.db")
    for side in home.glob("stores/*.db-*"):
        side.unlink()
    store.write_bytes(b"no database at all" * 1_000)
    assert "hardwon" in talk.wrong("recall", task="why do we retry uploads twice?")
    assert talk.ask("tools/list")["tools"]


# Resources and prompts


def test_resources_are_read(project: Path, era: str) -> None:
    talk = Talk(project, era)
    uris = [one["uri"] for one in talk.ask("resources/list")["resources"]]
    assert uris == ["hardwon://brief", "hardwon://rules"]
    assert talk.ask("resources/templates/list")["resourceTemplates"][0]["uriTemplate"] == "hardwon://memory/{id}"
    assert "No rule" in talk.ask("resources/read", uri="hardwon://rules")["contents"][0]["text"]
    talk.tool("remember", text="Run the migrations first", kind="rule")
    for uri in ("hardwon://rules", "hardwon://memory/1", "hardwon://memory/%231", "hardwon://memory/#1"):
        (content,) = talk.ask("resources/read", uri=uri)["contents"]
        assert content["uri"] == uri
        assert "Run the migrations first" in content["text"]
        assert content["text"].startswith(f"<{TAG} ")


@pytest.mark.parametrize(
    "uri",
    ["hardwon://", "hardwon://brief/", "hardwon://brief/../rules", "hardwon://memory", "hardwon://memory/", "hardwon://memory/../../etc/passwd",
     "hardwon://memory/..%2f..%2fetc", "hardwon://memory/1/2", "hardwon://memory/1?x=1", "hardwon://memory/own:x", "hardwon://memory/99",
     "file:///etc/passwd", "brief", "", "HARDWON://brief", "hardwon://memory/" + "1" * 1000, "hardwon://memory/1\n", "hardwon://memory/\u0661"],
)  # fmt: skip
def test_what_is_no_resource_is_refused(kept: Kept, asking: Talk, uri: str) -> None:
    for era, code in ((OLD, -32002), (NEW, -32602)):
        assert Talk(kept.project, era).refused("resources/read", uri=uri)["code"] == code


def test_a_resource_is_named_by_a_text(asking: Talk) -> None:
    for params in ({}, {"uri": 7}, {"uri": None}, {"uri": ["hardwon://brief"]}):
        assert asking.refused("resources/read", **params)["code"] == -32602


def test_prompts_are_messages(project: Path, era: str) -> None:
    talk = Talk(project, era)
    assert [one["name"] for one in talk.ask("prompts/list")["prompts"]] == ["start", "review", "record-lesson"]
    talk.tool("remember", text="Run the migrations first", kind="rule")

    def text(name: str, **arguments: str) -> str:
        result = talk.ask("prompts/get", name=name, arguments=arguments)
        (message,) = result["messages"]
        assert message["role"] == "user"
        said: str = message["content"]["text"]
        return said

    assert "Run the migrations first" in text("start")
    assert "nothing to review" in text("review")
    (project / "src/db.py").write_text("free = []\n")
    assert "No lesson is known" in text("review")
    said = text("record-lesson", symbol="Pool.get", lesson="the pool {runs} dry")
    assert "`Pool.get`" in said and "the pool {runs} dry" in said


@pytest.mark.slow
def test_every_structured_answer_is_as_it_was_announced(talk: Talk) -> None:
    schemas = {tool.name: Draft202012Validator(described(tool)["outputSchema"]) for tool in TOOLS}
    for name, arguments in (
        ("remember", {"text": "Run the migrations first", "file": "no/such.py"}),
        ("remember", {"text": "run the migrations  first"}),
        ("outcome", {"symbol": "Pool.get", "outcome": "failed", "lesson": "dry", "file": "src/db.py"}),
        ("outcome", {"symbol": "Pool.get", "outcome": "worked"}),
        ("recall", {"task": "why do we retry uploads twice?"}), ("recall", {"task": "zebra"}), ("before", {"symbol": "Pool.get"}),
        ("show", {"id": 1}), ("status", {}), ("forget", {"id": 1}),
    ):  # fmt: skip
        schemas[name].validate(talk.tool(name, **arguments))


def test_what_is_remembered_may_speak_of_our_tag_and_what_is_left_out_is_told(talk: Talk) -> None:
    said = f"We wrap blocks in `<{TAG}>` tags because clients escape everything else"
    kept = talk.tool("remember", text=said, kind="decision")
    assert (kept["action"], kept["why"]) == ("created", "")
    assert said.replace(f"<{TAG}", f"‹{TAG}") in talk.tool("show", id=kept["id"])["page"]  # which cannot close the fence
    block = talk.tool("recall", task="why do we wrap blocks in tags")["block"]
    assert f"<{TAG} " in block
    pasted = talk.tool("remember", text=f"The pool runs dry at noon. {block}", detail=block)
    page = talk.tool("show", id=pasted["id"])["page"]
    assert "left out" in pasted["why"] and "The pool runs dry at noon" in page and "clients escape" not in page
