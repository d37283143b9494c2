"""The session in the real runner, with a model that is written down, and beside the SDK's own session on SQLite."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents.memory", reason="the package openai-agents is not installed (make backends)")

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

import hardwon
from hardwon.doors.backends.openai_agents import HardwonSession

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hardwon.Repository]:
    with hardwon.open(str(tmp_path), make=True) as opened:
        yield opened


class Echo(Model):
    """Says how many items it was given, and keeps them."""

    def __init__(self) -> None:
        self.given: list[list[Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.given.append(list(input))
        text = ResponseOutputText(text=f"heard {len(input)}", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id=f"msg_{len(self.given)}", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def test_it_is_a_session(memory: hardwon.Repository) -> None:
    assert isinstance(HardwonSession("s", memory), Session)


def test_the_runner_carries_a_conversation_on(memory: hardwon.Repository) -> None:
    model = Echo()
    agent = Agent(name="a", model=model)
    settings = RunConfig(tracing_disabled=True)

    async def talk() -> None:
        await Runner.run(agent, "my name is Ann", session=HardwonSession("user-7", memory), run_config=settings)
        await Runner.run(agent, "what is my name?", session=HardwonSession("user-7", memory), run_config=settings)
        await Runner.run(agent, "somebody else", session=HardwonSession("user-8", memory), run_config=settings)

    asyncio.run(talk())
    assert [len(items) for items in model.given] == [1, 3, 1]
    assert model.given[1][0]["content"] == "my name is Ann"
    assert "heard 1" in str(model.given[1][1])


ITEMS: list[Any] = [
    {"role": "user", "content": "  spaces, \ttabs \u200b and\nlines  "},
    {"role": "assistant", "content": [{"type": "output_text", "text": "日本語 🙂", "annotations": []}], "type": "message"},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": "\\"quoted\\""}'},
    {"type": "function_call_output", "call_id": "c1", "output": "1" * 30_000},
]


def test_it_does_what_the_session_on_sqlite_does(memory: hardwon.Repository, tmp_path: Path) -> None:
    async def steps(session: Any) -> list[Any]:
        seen: list[Any] = [await session.get_items(), await session.pop_item()]
        await session.add_items([])
        await session.add_items(ITEMS)
        seen += [await session.get_items(), await session.get_items(limit=2), await session.get_items(limit=99)]
        seen += [await session.pop_item(), await session.get_items()]
        await session.add_items(ITEMS[:1])
        seen += [await session.get_items()]
        await session.clear_session()
        await session.clear_session()
        seen += [await session.get_items()]
        await session.add_items(ITEMS[1:2])
        return [*seen, await session.get_items()]

    mine = asyncio.run(steps(HardwonSession("s", memory)))
    theirs = asyncio.run(steps(SQLiteSession("s", tmp_path / "theirs.db")))
    assert mine == theirs


def test_a_limit_may_be_set_once(memory: hardwon.Repository) -> None:
    async def work() -> None:
        session = HardwonSession("s", memory, SessionSettings(limit=1))
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS[-1:]
        assert await session.get_items(limit=2) == ITEMS[-2:]

    asyncio.run(work())


def test_two_sessions_at_once_keep_everything_in_order(memory: hardwon.Repository, tmp_path: Path) -> None:
    async def work() -> list[Any]:
        with hardwon.open(str(tmp_path)) as other:
            one, two = HardwonSession("s", memory), HardwonSession("s", other)
            await asyncio.gather(
                *(one.add_items([{"role": "user", "content": f"one {n}"}]) for n in range(10)),
                *(two.add_items([{"role": "user", "content": f"two {n}"}]) for n in range(10)),
            )
            return await one.get_items()

    items = [item["content"] for item in asyncio.run(work())]
    assert len(items) == len(set(items)) == 20


def test_what_was_begun_is_finished_although_the_caller_is_cancelled(memory: hardwon.Repository) -> None:
    async def work() -> int:
        session = HardwonSession("s", memory)
        task = asyncio.create_task(session.add_items(ITEMS))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await session.add_items([])  # waits for the one before
        return len(await session.get_items())

    assert asyncio.run(work()) in (0, len(ITEMS))
