"""Texts of configuration: what is put in can be taken out, whatever the text looks like, and nothing else changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.agents import blocks, jsonc, tomltext, yamltext
from hardwon.agents.parts import Entry, Part, put, take
from hardwon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = st.sampled_from(["hooks", "mcpServers", "model", "a b", "ключ", "//", "x,}", '"', "\\", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.lists(st.dictionaries(NAMES, VALUES, max_size=2), max_size=2)
HOOKS = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Other"]), ITEMS),
        "mcpServers": st.dictionaries(st.sampled_from(["files", "hardwork"]), st.dictionaries(NAMES, VALUES, max_size=2)),
        "model": st.text(max_size=5),
        "env": VALUES,
    },
)
LINE = "/opt/hardwon hook claude-code"
PART = Part(
    "/x/settings.json",
    "json",
    ("hooks", "tools"),
    (
        Entry(("hooks", "Stop"), {"hooks": [{"type": "command", "command": LINE, "timeout": 10}]}, "hook", "claude-code"),
        Entry(
            ("hooks", "PreToolUse"), {"matcher": "Bash", "hooks": [{"type": "command", "command": LINE}]}, "hook", "claude-code"
        ),
        Entry(("mcpServers", "hardwon"), {"command": "/opt/hardwon", "args": ["mcp"]}),
    ),
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """An object as people and programs write it: comments, trailing commas, white space and line ends of all kinds."""
    data = draw(HOOKS)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    blank = st.sampled_from(["", " ", "\t", newline, newline + "    ", " /* , } */ ", f" // no ] here{newline}"])
    trailing = draw(st.booleans())

    def one(value: Any) -> str:
        if isinstance(value, (dict, list)) and value:
            signs = "{}" if isinstance(value, dict) else "[]"
            items = (
                [f"{json.dumps(key, ensure_ascii=False)}{draw(blank)}:{draw(blank)}{one(item)}" for key, item in value.items()]
                if isinstance(value, dict)
                else [one(item) for item in value]
            )
            inner = ",".join(f"{draw(blank)}{item}{draw(blank)}" for item in items)
            return signs[0] + inner + ("," if trailing else "") + draw(blank) + signs[1]
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    return draw(st.sampled_from(["", "\ufeff"])) + draw(blank) + one(data) + draw(blank)


@settings(max_examples=40)
@given(written())
def test_json_of_any_look_keeps_all_that_is_not_ours(text: str) -> None:
    data = jsonc.read(text)
    ours = put(PART, text)
    held = jsonc.read(ours)
    assert held["mcpServers"]["hardwon"]["command"] == "/opt/hardwon"
    assert all(held["hooks"][entry.path[1]].count(entry.value) == 1 for entry in PART.entries[:2])
    assert put(PART, ours) == ours
    left = take(PART, ours, text)
    assert jsonc.read(left) == data
    assert comments(left) == comments(ours) == comments(text)


def comments(text: str) -> int:
    """How many of those that ``written`` puts in."""
    return text.count("/* , } */") + text.count("// no ] here")


@settings(max_examples=40)
@given(written())
def test_json_that_has_nothing_of_ours_is_not_touched_by_taking_out(text: str) -> None:
    assert take(PART, text) == text
    assert take(PART, text, text) == text


@given(st.text(max_size=40))
def test_any_text_is_changed_rightly_or_refused(text: str) -> None:
    for form, entry in (("json", PART.entries[2]), ("toml", Entry(("mcp_servers", "hardwon"), {"command": "c", "args": ["mcp"]})),
                        ("yaml", Entry(("extensions", "hardwon"), {"cmd": "c"}))):  # fmt: skip
        part = Part("/x", form, ("tools",), (entry,))  # type: ignore[arg-type]
        try:
            done = put(part, text)
        except InvalidInput:
            continue
        assert put(part, done) == done
        read = {"json": jsonc.read, "toml": tomltext.read, "yaml": yamltext.read}[form]
        assert read(take(part, done, text)) == read(text)


@given(st.text(alphabet="abc# \n<!->", max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_a_block_goes_in_once_and_out_again(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    ours = blocks.put(text, "one\ntwo")
    assert blocks.put(ours, "one\ntwo") == ours
    assert blocks.put(ours, "three").count(blocks.marks()[0]) == 1
    if not text or text.endswith(newline):
        assert blocks.remove(ours) == text
    assert blocks.remove(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, 2, 3]}', '{"a": [1, 3]}'),
        ('{"a": [\n  1,\n  2, // two\n  3\n]}', '{"a": [\n  1,\n  // two\n  3\n]}'),
        ('{"a": [1, 2]}', '{"a": [1]}'),
        ('{"a": [2, 1]}', '{"a": [1]}'),
        ('{"a": [2]}', '{"a": []}'),
        ('{"a": [\n  1,\n  2,\n]}', '{"a": [\n  1,\n]}'),
        ('{"a": [\n  1, // one\n  2\n]}', '{"a": [\n  1 // one\n]}'),
        ('{"a": [\n  // two\n  2, 3\n]}', '{"a": [\n  // two\n  3\n]}'),
    ],
)
def test_an_item_goes_with_its_comma_and_nothing_else(text: str, expected: str) -> None:
    done = jsonc.take_items(text, ("a",), lambda item: item == 2)
    assert done == expected
    jsonc.read(done)


@pytest.mark.parametrize(
    ("text", "line"), [('{\n"a": 1\n"b": 2}', 3), ('{"a": 1,, "b": 2}', 1), ("{\n/* open", 2), ('{"a": tru}', 1), ("{'a': 1}", 1)]
)
def test_an_error_names_the_line(text: str, line: int) -> None:
    with pytest.raises(InvalidInput, match=f"line {line}"):
        jsonc.read(text)


def test_toml_moved_around_by_its_client_loses_only_our_tables() -> None:
    ours = '[mcp_servers.hardwon]\ncommand = "c"\nargs = ["mcp"]\n\n[mcp_servers.hardwon.tools.recall]\napproval_mode = "approve"\n\n'
    text = f'model = "x"\n\n{ours}# mine\n[projects."/a"]\ntrust_level = "trusted"\n'
    assert tomltext.remove(text, ("mcp_servers", "hardwon")) == text.replace(ours, "")


@pytest.mark.parametrize("depth", [90, 150, 900, 100_000])
@pytest.mark.parametrize(
    "made",
    [
        lambda depth: "a=" + "[" * depth, lambda depth: f"[x]\na={'[' * depth}{']' * depth}\n[servers.hardwon]\ncommand='x'\n",
        lambda depth: "a=" + "{b=" * depth + "1" + "}" * depth, lambda depth: "a." * depth + "b=1", lambda depth: "[" + "a." * depth + "b]",
    ],
)  # fmt: skip
def test_toml_of_any_depth_is_changed_or_refused(made: Callable[[int], str], depth: int) -> None:
    text = made(depth)
    ours = ("servers", "hardwon")
    for change in (lambda: tomltext.put(text, ours, {"command": "y"}), lambda: tomltext.remove(text, ours)):
        try:
            assert tomltext.read(change()) is not None
        except InvalidInput as error:
            assert len(error.message) < 200


def test_yaml_lists_of_files_take_one_more() -> None:
    for text, expected in (
        ("", ["N"]),
        ("read: A.md\n", ["N", "A.md"]),
        ("read: [A.md, B.md]\n", ["N", "A.md", "B.md"]),
        ("read:\n- A.md\n", ["N", "A.md"]),
        ("read:\n  - A.md # why\nmodel: x\n", ["N", "A.md"]),
    ):
        done = yamltext.put_item(text, ("read",), "N")
        assert yamltext.read(done)["read"] == expected
        assert yamltext.put_item(done, ("read",), "N") == done
        assert yamltext.remove_item(done, ("read",), "N", yamltext.read(text)) == text


YAML_VALUES = st.recursive(
    st.sampled_from([1, True, None, "a", "two\nlines\n", "x: y", "# no", "é", "", "'q'"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)
YAML_DATA = st.fixed_dictionaries(
    {},
    optional={
        "k": YAML_VALUES,
        "extensions": st.none() | st.dictionaries(st.sampled_from(["developer", "x"]), YAML_VALUES, max_size=2),
        "read": st.sampled_from(["A.md", ["A.md"], ["A.md", "B.md"], []]),
        "z": YAML_VALUES,
    },
)


@settings(max_examples=40)
@given(YAML_DATA, st.sampled_from([True, False, None]), st.sampled_from([2, 4]), st.booleans(), st.booleans())
def test_yaml_in_block_and_flow_keeps_all_that_is_not_ours(
    data: dict[str, Any], flow: bool | None, indent: int, crlf: bool, comments: bool
) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, indent=indent, sort_keys=False, allow_unicode=True)
    text = f"# head\n{text}# tail\n" if comments else text
    text = text.replace("\n", "\r\n") if crlf else text
    entries = (Entry(("extensions", "hardwon"), {"cmd": "/x", "args": ["mcp"]}), Entry(("read",), "N.md", "item"))
    part = Part("/x", "yaml", ("tools",), entries)
    ours = put(part, text)
    assert put(part, ours) == ours
    assert yamltext.read(ours)["extensions"]["hardwon"]["cmd"] == "/x" and "N.md" in yamltext.read(ours)["read"]
    assert yamltext.read(take(part, ours, text)) == yamltext.read(text)
