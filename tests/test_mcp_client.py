"""The official client against the real process, in both eras. Slow, because loading the client takes two seconds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcptalk import NEW, OLD

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.slow


def talked(project: Path, home: Path, mode: str, what: Callable[[Any], Awaitable[Any]]) -> Any:
    """What a conversation of the official client with a server of its own comes to."""
    import anyio
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    place = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hardwon", "mcp"],
        cwd=str(project),
        env={"HARDWON_HOME": str(home), "HARDWON_CLIENT": ""},
    )

    async def conversation() -> Any:
        with (project.parent / "stderr").open("w+") as told:
            async with Client(stdio_client(place, errlog=told), mode=mode) as client:
                found = await what(client)
            told.seek(0)
            assert told.read() == ""
            return found

    return anyio.run(conversation)


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_client_settles_on_its_era(project: Path, home: Path, mode: str) -> None:
    async def what(client: Any) -> Any:
        return client.protocol_version, client.server_info.name, client.instructions

    version, name, instructions = talked(project, home, mode, what)
    assert version == (NEW if mode == "auto" else OLD)
    assert name == "hardwon"
    assert "`before`" in instructions


def test_everything_is_listed_and_used(project: Path, home: Path, mode: str) -> None:
    async def what(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["recall", "before", "outcome", "remember", "show", "forget", "status"]
        recall = tools[0]
        assert recall.annotations.read_only_hint is True
        assert recall.meta == {"anthropic/alwaysLoad": True}
        assert recall.output_schema["type"] == "object"

        kept = await client.call_tool(
            "outcome", {"symbol": "Pool.get", "outcome": "failed", "lesson": "dry", "file": "src/db.py"}
        )
        assert kept.structured_content["number"] == 1
        found = await client.call_tool("before", {"file": "src/db.py"})
        assert found.structured_content["hits"][0]["id"] == "#1"
        found = await client.call_tool("recall", {"task": "why do we retry uploads twice?"})
        assert found.structured_content["hits"]
        assert found.content[0].text.startswith("<hardwon-memory")
        for name, arguments in (
            ("remember", {"text": "Run the migrations first", "kind": "rule"}),
            ("show", {"id": "1"}),
            ("status", {}),
            ("forget", {"id": "1"}),
        ):
            done = await client.call_tool(name, arguments)
            assert not done.is_error, done

        wrong = await client.call_tool("recall", {"tusk": "x"})
        assert wrong.is_error
        assert "it takes task" in wrong.content[0].text

        assert [str(one.uri) for one in (await client.list_resources()).resources] == ["hardwon://brief", "hardwon://rules"]
        assert (await client.list_resource_templates()).resource_templates[0].uri_template == "hardwon://memory/{id}"
        assert "migrations" in (await client.read_resource("hardwon://rules")).contents[0].text
        assert "migrations" in (await client.read_resource("hardwon://memory/2")).contents[0].text
        assert len((await client.list_prompts()).prompts) == 3
        assert "migrations" in (await client.get_prompt("start")).messages[0].content.text

    talked(project, home, mode, what)


def test_errors_of_the_protocol_arrive_as_such(project: Path, home: Path, mode: str) -> None:
    from mcp import MCPError

    async def what(client: Any) -> None:
        for ask in (
            lambda: client.call_tool("approve", {"id": "1"}), lambda: client.get_prompt("none"),
            lambda: client.read_resource("hardwon://memory/99"),
        ):  # fmt: skip
            with pytest.raises(MCPError):
                await ask()
        assert not (await client.call_tool("status", {})).is_error

    talked(project, home, mode, what)


def test_calls_at_once_are_all_answered(project: Path, home: Path, mode: str) -> None:
    import anyio

    async def what(client: Any) -> None:
        numbers: list[int] = []

        async def one(number: int) -> None:
            done = await client.call_tool("remember", {"text": f"fact {number}"})
            numbers.append(done.structured_content["number"])

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)
        assert sorted(numbers) == list(range(1, 21))

    talked(project, home, mode, what)


def test_every_message_is_as_the_protocol_has_it(project: Path) -> None:
    """The types of the official package check each result, by version."""
    from mcp_types import methods

    from tests.mcptalk import Talk

    for era in (OLD, NEW):
        talk = Talk(project, era)
        talk.tool("remember", text="Run the migrations first", kind="rule")
        for method, params in (
            ("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}), ("prompts/list", {}),
            ("prompts/get", {"name": "start"}), ("resources/read", {"uri": "hardwon://rules"}),
            ("tools/call", {"name": "recall", "arguments": {"task": "migrations"}}),
            ("tools/call", {"name": "recall", "arguments": {}}),
            *([("server/discover", {})] if era == NEW else [("ping", {}), ("logging/setLevel", {"level": "info"})]),
        ):  # fmt: skip
            result = talk.ask(method, **params)
            assert methods.serialize_server_result(method, era, result) == result, method
