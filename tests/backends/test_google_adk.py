"""The memory service in the real kit: sessions of its own service are kept, and found by its own tool."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("google.adk.memory", reason="the package google-adk is not installed (make backends)")

from google.adk.agents import BaseAgent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

import hardwon
from hardwon.doors.backends.google_adk import HardwonMemoryService

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

WHO = {"app_name": "shop", "user_id": "ann"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hardwon.Repository]:
    with hardwon.open(str(tmp_path), make=True) as opened:
        yield opened


class Clerk(BaseAgent):
    """Says the same whatever it is asked, and what it finds in its memory."""

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Event, None]:
        found = await ctx.memory_service.search_memory(**WHO, query=ctx.user_content.parts[0].text)
        text = "; ".join(part.text for one in found.memories for part in one.content.parts) or "nothing is known"
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=said("model", text))


def said(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


def test_what_a_session_said_the_next_one_finds(memory: hardwon.Repository) -> None:
    async def talk() -> list[str]:
        service, sessions = HardwonMemoryService(memory), InMemorySessionService()
        runner = Runner(app_name="shop", agent=Clerk(name="clerk"), session_service=sessions, memory_service=service)
        answers = []
        for words in ("I drink green tea only", "which tea do I drink?"):
            session = await sessions.create_session(app_name="shop", user_id="ann")
            async for event in runner.run_async(user_id="ann", session_id=session.id, new_message=said("user", words)):
                answers += [part.text for part in event.content.parts]
            whole = await sessions.get_session(app_name="shop", user_id="ann", session_id=session.id)
            await service.add_session_to_memory(whole)
        return answers

    first, second = asyncio.run(talk())
    assert first == "nothing is known"
    assert "I drink green tea only" in second


def events(*texts: str) -> list[Event]:
    return [
        Event(author="user", invocation_id="i", id=f"e{number}", content=said("user", text)) for number, text in enumerate(texts)
    ]


def found(service: HardwonMemoryService, query: str, **who: str) -> list[tuple[str | None, str]]:
    response = asyncio.run(service.search_memory(**(WHO | who), query=query))
    return [(one.id, one.content.parts[0].text) for one in response.memories]


def test_events_are_kept_once_and_apart_by_user(memory: hardwon.Repository) -> None:
    service = HardwonMemoryService(memory)
    for _ in range(2):
        asyncio.run(service.add_events_to_memory(**WHO, events=events("green tea", "a red bicycle"), session_id="s"))
    assert found(service, "tea") == [("e0", "green tea")]
    assert found(service, "tea", user_id="bob") == []
    assert found(service, "tea", app_name="other") == []
    assert found(service, "submarine") == []
    (entry,) = asyncio.run(service.search_memory(**WHO, query="bicycle")).memories
    assert (entry.author, entry.custom_metadata) == ("user", {"session_id": "s"})
    assert entry.timestamp and entry.timestamp.endswith("+00:00")


def test_what_was_deleted_does_not_come_back_with_its_session(memory: hardwon.Repository) -> None:
    service = HardwonMemoryService(memory)
    asyncio.run(service.add_events_to_memory(**WHO, events=events("green tea")))
    asyncio.run(service.delete_memory(**WHO, memory_id="e0"))
    asyncio.run(service.delete_memory(**WHO, memory_id="none"))
    asyncio.run(service.delete_memory(**WHO))
    asyncio.run(service.add_events_to_memory(**WHO, events=events("green tea", "black tea")))
    assert found(service, "tea") == [("e1", "black tea")]


def test_memories_may_be_given_as_they_are(memory: hardwon.Repository) -> None:
    service = HardwonMemoryService(memory)
    given = [MemoryEntry(content=said("user", "prefers window seats"), id="seat", author="ann", custom_metadata={"x": 1}),
             MemoryEntry(content=said("user", "is allergic to nuts"))]  # fmt: skip
    asyncio.run(service.add_memory(**WHO, memories=given, custom_metadata={"y": 2}))
    (entry,) = asyncio.run(service.search_memory(**WHO, query="window")).memories
    assert (entry.id, entry.author, entry.custom_metadata) == ("seat", "ann", {"x": 1, "y": 2})
    asyncio.run(service.add_memory(**WHO, memories=[given[0].model_copy(update={"content": said("user", "prefers the aisle")})]))
    assert found(service, "window aisle") == [("seat", "prefers the aisle")]
    assert len(found(service, "nuts")) == 1


def test_what_has_no_text_is_passed_over(memory: hardwon.Repository) -> None:
    service = HardwonMemoryService(memory)
    call = types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="f", args={}))])
    without = [Event(author="a", invocation_id="i"), Event(author="a", invocation_id="i", content=call)]
    asyncio.run(service.add_events_to_memory(**WHO, events=without))
    assert memory.stats().memories["memories"] == 0
