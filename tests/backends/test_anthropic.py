"""The memory tool in the real SDK's tool runner, with a model that is written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

anthropic = pytest.importorskip("anthropic", reason="the package anthropic is not installed (make backends)")
httpx = pytest.importorskip("httpx2", reason="comes with anthropic")

import hardwon  # noqa: E402
from hardwon.doors.backends.anthropic_memory import HardwonAsyncMemoryTool, HardwonMemoryTool  # noqa: E402

COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "The deploy runs on Fridays.\n"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "Fridays", "new_str": "Mondays"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "# Notes\n"},
    {"command": "view", "path": "/memories/notes.md", "view_range": [1, 2]},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/deploy.md"},
    {"command": "delete", "path": "/memories/none.md"},
]


class Model:
    """Answers one command of COMMANDS after the other, then ends; keeps what it was told."""

    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] = []

    def __call__(self, request: Any) -> Any:
        body = json.loads(request.content)
        self.tools = body.get("tools", self.tools)  # what goes on with a conversation names them no more
        said = body["messages"][-1]["content"]
        if isinstance(said, list):
            self.results += [block for block in said if block["type"] == "tool_result"]
        turn = len(self.results)
        done = turn >= len(COMMANDS)
        content: list[dict[str, Any]] = [{"type": "text", "text": "done"}]
        if not done:
            content = [{"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": COMMANDS[turn]}]
        message = {
            "id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_sequence": None,
            "stop_reason": "end_turn" if done else "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return httpx.Response(200, json=message)

    def texts(self) -> list[str]:
        found = []
        for result in self.results:
            content = result["content"]
            found.append(content if isinstance(content, str) else "".join(block["text"] for block in content))
        return found


def check(model: Model, project: Path) -> None:
    assert model.tools == [{"type": "memory_20250818", "name": "memory"}]
    texts = model.texts()
    assert texts[0] == "/memories is empty"
    assert texts[4].endswith("     1\t# Notes\n     2\tThe deploy runs on Mondays.")
    assert "is no path of a memory" in texts[5]
    assert "there is nothing at /memories/none.md" in texts[7]
    assert [bool(result.get("is_error")) for result in model.results] == [False] * 5 + [True, False, True]
    with hardwon.open(str(project)) as memory:
        (hit,) = memory.recall("when does the deploy run?", tags=["memory-tool"]).hits
        assert "Mondays" in hit.memory.metadata


def test_the_tool_runner_uses_it(project: Path) -> None:
    model = Model()
    client = anthropic.Anthropic(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(model)))
    with hardwon.open(str(project)) as memory:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=100, messages=[{"role": "user", "content": "go"}], tools=[HardwonMemoryTool(memory)]
        )
        runner.until_done()
        check(model, project)
        tool = HardwonMemoryTool(memory)
        assert tool.clear_all_memory() == "1 files were deleted"


def test_the_asynchronous_runner_uses_it(project: Path) -> None:
    import anyio

    model = Model()

    async def answer(request: Any) -> Any:
        return model(request)

    async def talk() -> None:
        client = anthropic.AsyncAnthropic(api_key="none", http_client=httpx.AsyncClient(transport=httpx.MockTransport(answer)))
        with hardwon.open(str(project)) as memory:
            tool = HardwonAsyncMemoryTool(memory)
            await client.beta.messages.tool_runner(
                model="m", max_tokens=100, messages=[{"role": "user", "content": "go"}], tools=[tool]
            ).until_done()
            check(model, project)
            assert await tool.clear_all_memory() == "1 files were deleted"

    anyio.run(talk)
