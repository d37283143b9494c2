"""What is ours is never captured: our blocks in any wrapping, commands that run us, our tools."""

from __future__ import annotations

import html
import json
from textwrap import indent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hardwon.capture import ours
from hardwon.capture.episode import State, step
from hardwon.capture.event import Edit, Event
from hardwon.search.pack import CLOSING, OPENING, TAG, pack
from hardwon.types import Anchor, Hit, Memory, Mode

MARK = "zebrafish"


def block(*texts: str) -> str:
    memories = [
        Memory(f"id{n}", n, "lesson", "failed", text, detail=f"{MARK} in the detail", anchors=(Anchor("a.py", "f"),))
        for n, text in enumerate(texts, 1)
    ]
    return pack([Hit(memory, 0.9) for memory in memories], 100_000, Mode()).block


BLOCK = block(f"first {MARK}", f"second {MARK}")


def quoted(text: str) -> str:
    return indent(text, "> ")


def indented(text: str) -> str:
    return indent(text, "        ")


def in_json(text: str) -> str:
    return json.dumps({"output": text})


def in_go_json(text: str) -> str:
    return in_json(text).replace("<", "\\u003c").replace(">", "\\u003e")


def reminded(text: str) -> str:
    return f"<system-reminder>\nSessionStart hook additional context: {text}\n</system-reminder>"


def as_context(text: str) -> str:
    return f"<hook_context>{text}</hook_context>"


def wrapped(text: str) -> str:
    """Hard-wrapped at 37 columns, as a narrow terminal does."""
    return "\n".join(line[at : at + 37] for line in text.split("\n") for at in range(0, max(1, len(line)), 37))


def wrapped_and_quoted(text: str) -> str:
    return quoted(wrapped(text))


WAYS = (
    html.escape,
    quoted,
    in_json,
    in_go_json,
    reminded,
    as_context,
    wrapped,
    wrapped_and_quoted,
    indented,
    str.upper,
)


def test_the_tag_is_the_one_that_blocks_are_framed_with() -> None:
    assert ours.TAG == TAG
    assert OPENING.startswith(f"<{TAG} ")
    assert f"</{TAG}>" == CLOSING


@pytest.mark.parametrize("way", WAYS)
def test_a_block_is_taken_out_and_what_stands_around_it_stays(way) -> None:
    left = ours.strip(f"before\n{way(BLOCK)}\nafter")
    assert MARK not in left.lower()
    assert "before" in left and "after" in left


@example([in_json, indented, wrapped, in_json], "", "", 1)
@settings(max_examples=120)
@given(st.lists(st.sampled_from(WAYS), max_size=4), st.text(max_size=40), st.text(max_size=40), st.integers(1, 3))
def test_nothing_of_a_block_survives_any_nesting_of_wrappings(ways, before, after, times) -> None:
    text = "\n".join([BLOCK] * times)
    for way in ways:
        text = way(text)
    for meant in (False, True):
        assert MARK not in ours.strip(f"{before}{text}{after}", meant=meant).lower()


@settings(max_examples=120)
@given(st.lists(st.sampled_from(WAYS[:-1]), max_size=2), st.integers(0, 10_000), st.booleans())
def test_nothing_of_a_block_survives_that_was_cut_at_one_end(ways, at, from_start) -> None:
    text = BLOCK
    for way in ways:
        text = way(text)
    # Where the cut goes through the only tag that would be left, what remains is told by the entries' heads alone.
    first, last = text.lower().find("[#1 "), text.rfind("/")
    at %= max(1, last - 2)
    cut = text[at:] if from_start else text[: max(at, 0)]
    if not from_start and "hardwon-memory" not in "".join(cut.replace(">", "").split())[:400]:
        return
    assert first
    for meant in (False, True):
        assert MARK not in ours.strip(f"x {cut}" if not from_start else f"{cut} x", meant=meant).lower()


def test_an_entry_is_known_by_its_head_where_both_tags_were_cut_off() -> None:
    middle = BLOCK[BLOCK.index("[#1") : BLOCK.index(CLOSING)]
    assert "first" not in ours.strip(f"said:\n{middle}")


SPOKEN_OF = (
    "We wrap blocks in `<hardwon-memory>` tags because clients escape them",
    "The tag <hardwon-memory> opens it and </hardwon-memory> closes it, so both are looked for",
    "A reply that ends in `</hardwon-memory>` is not cut",
    "`&lt;hardwon-memory&gt;` is what the page shows\nand below it more is said",
    "<hardwon-memory> and <hardwon-memory> again: neither is a block",
)


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_what_an_agent_says_on_purpose_may_speak_of_our_tags(text: str) -> None:
    assert ours.strip(text, meant=True) == text
    left = ours.strip(f"{text}\n{BLOCK}\nand so on", meant=True)
    assert MARK not in left and text in left and left.endswith("and so on")


def test_two_blocks_leave_what_stands_between_them() -> None:
    assert ours.strip(f"{BLOCK} please fix it {BLOCK}").strip() == "please fix it"


@pytest.mark.parametrize(
    "text",
    ["", "plain", "a < b > c", "import hardwon.types", "we use hardwon here", "cd hardwon-memory-tests", "x · y", "<hardwon>"],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert ours.strip(text) == text


def test_hostile_text_takes_no_longer_than_its_length() -> None:
    for text in (
        "<hardwon-memory" * 20_000,
        "<" * 200_000 + "hardwon-memory",
        "&amp;" * 50_000 + "lt;hardwon-memory",
        "h\n" * 100_000 + "ardwon",
        "[#1 · lesson" * 20_000,
        "hardwon " + "\\" * 100_000 + "x",
    ):
        for meant in (False, True):
            ours.strip(text, meant=meant)


OURS = [
    "hardwon status",
    "/home/a/.venv/bin/hardwon hook claude-code",
    "HARDWON_HOME=/tmp/x hardwon recall 'a b'",
    "python -m hardwon fail X y",
    "python3.11 -Im hardwon status",
    "uvx hardwon@latest brief",
    "uvx --from 'hardwon[vectors]' hardwon brief",
    "uv run --with x hardwon recall",
    "pipx run hardwon",
    "poetry run hardwon ok X",
    "bash -lc 'cd x && hardwon ok X'",
    "sudo -u me env A=1 hardwon status",
    "cat log | hardwon recall --error -",
    "echo $(hardwon brief)",
    "pytest -q; hardwon fail X 'y'",
    "if hardwon status; then ls; fi",
    "git diff | xargs -0 hardwon before --diff",
    "ssh host 'hardwon status'",
    "C:\\Tools\\hardwon.exe status",
    "timeout 5 hardwon recall x",
    "python -c 'import hardwon; hardwon.open()'",
    "(hardwon stats)",
    "hardwon\tstats",
    "exec hardwon mcp",
]
NOT_OURS = [
    "cd hardwon && pytest",
    "grep -r hardwon src",
    "cat hardwon.toml",
    "pip install hardwon",
    "ls ~/.hardwon",
    "git clone https://example.com/hardwon",
    "pytest tests/test_hardwon.py",
    "python hardwon_report.py",
    "vim hardwon.md",
]


@pytest.mark.parametrize("command", OURS)
def test_commands_that_run_us_are_ours(command: str) -> None:
    assert ours.is_command(command)


@pytest.mark.parametrize("command", NOT_OURS)
def test_commands_that_only_name_us_are_not(command: str) -> None:
    assert not ours.is_command(command)


@pytest.mark.parametrize(
    "name",
    [
        "mcp__hardwon__recall",
        "mcp_hardwon_remember",
        "mcp__plugin_hardwon_hardwon__before",
        "hardwon_recall",
        "hardwon.recall",
        "hardwon/show",
        "MCP:hardwon:status",
    ],
)
def test_our_tools_are_ours(name: str) -> None:
    assert ours.is_tool(name)


@pytest.mark.parametrize("name", ["", "Bash", "mcp__github__create_issue", "mcp__hardwonlike__x", "apply_patch"])
def test_other_tools_are_not(name: str) -> None:
    assert not ours.is_tool(name)


@settings(max_examples=60)
@given(st.sampled_from(OURS), st.sampled_from(["ok", "failed", "unknown"]), st.sampled_from([None, 0, 1]))
def test_the_fold_learns_nothing_from_what_we_run_or_say(command, ended, code) -> None:
    out = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed in 0.1s\n"
    told = [
        Event("after", "c", "s", 1, tool="shell", command=command, ended=ended, exit_code=code, output=out),
        Event("after", "c", "s", 2, tool="mcp", tool_name="mcp__hardwon__recall", output=f"Never use {MARK}."),
        Event("prompt", "c", "s", 3, text=f"{BLOCK}\nNever use {MARK}s."),
        Event("stop", "c", "s", 4, text=in_json(BLOCK)),
        Event("after", "c", "s", 5, tool="edit", edits=(Edit("a.md.py", "", f"{BLOCK}\n"),), ended="ok"),
    ]
    state, lessons = State(), []
    for one in told:
        state, learnt = step(state, one)
        lessons += learnt
    assert [lesson.text for lesson in lessons] == [f"Never use {MARK}s"]
    assert "first" not in state.to_json() and not state.open and not state.greens


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("H=hardwon; $H recall x", True),
        ('H=/usr/bin/hardwon && "${H}" recall x', True),
        ("$(which hardwon) status", True),
        ('"$(command -v /opt/bin/hardwon)" status', True),
        ("P=src/hardwon.py; pytest $P", False),
        ("H=hardwon-tests; $H", False),
        ("$RUN tests/test_hardwon.py", False),
        ("echo $(ls hardwon)", False),
        ('"" hardwon', False),
    ],
)
def test_a_name_that_the_shell_puts_in_is_looked_through(command: str, own: bool) -> None:
    assert ours.is_command(command) is own
