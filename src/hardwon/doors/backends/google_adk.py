"""A memory service of Google's Agent Development Kit: what was said in sessions, found again by words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session

from hardwon.doors.api import Repository
from hardwon.doors.backends.collection import Collection, Entry, Put

_MOST = 10


class HardwonMemoryService(BaseMemoryService):
    """``Runner(agent=…, memory_service=HardwonMemoryService(hardwon.open(".")))``. An app and a user have a namespace of their own."""

    def __init__(self, repository: Repository, most: int = _MOST) -> None:
        """``most``: memories that a search gives back."""
        self._collection = Collection(repository, "google-adk")
        self._most = most

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep what was said in a session; what is known of it is not kept twice."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what some events say; those without text are passed over."""
        said = [(event.id, _of_event(event, session_id, custom_metadata)) for event in events if _said(event.content)]
        await asyncio.to_thread(self._put_new, (app_name, user_id), said)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry], custom_metadata: Mapping[str, object] | None = None
    ) -> None:
        """Keep memories as they are; those with an id replace what it named before."""
        more = dict(custom_metadata or {})
        own = [
            (entry.id or str(uuid4()), entry.model_copy(update={"custom_metadata": entry.custom_metadata | more}))
            for entry in memories
        ]
        await asyncio.to_thread(self._put, (app_name, user_id), own)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What shares words with a query, best first; nothing where nothing does."""
        found = await asyncio.to_thread(self._collection.search, (app_name, user_id), query, self._most)
        return SearchMemoryResponse(memories=[_as_memory(entry) for entry in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Take a memory out of every answer; an id that names none is passed over."""
        if memory_id:
            await asyncio.to_thread(self._collection.delete, [((app_name, user_id), memory_id)])

    def _put_new(self, namespace: tuple[str, ...], entries: Sequence[tuple[str, MemoryEntry]]) -> None:
        """A session comes again and again as it grows: what was deleted of it stays away."""
        self._put(namespace, [(key, entry) for key, entry in entries if not self._collection.was_deleted(namespace, key)])

    def _put(self, namespace: tuple[str, ...], entries: Iterable[tuple[str, MemoryEntry]]) -> None:
        puts = [
            Put(namespace, key, entry.model_dump(mode="json", exclude_none=True), _said(entry.content)) for key, entry in entries
        ]
        if puts:
            self._collection.put(puts)


def _of_event(event: Event, session_id: str | None, more: Mapping[str, object] | None) -> MemoryEntry:
    assert event.content is not None  # noqa: S101 - one without is passed over
    at = datetime.fromtimestamp(event.timestamp, UTC).isoformat()
    metadata = dict(more or {}) | ({"session_id": session_id} if session_id else {})
    return MemoryEntry(id=event.id, content=event.content, author=event.author, timestamp=at, custom_metadata=metadata)


def _said(content: Any) -> str:
    """The text of a content; "" for one without."""
    return "\n".join(part.text for part in (content.parts if content else None) or () if part.text)


def _as_memory(entry: Entry) -> MemoryEntry:
    memory = MemoryEntry.model_validate(entry.value)
    memory.id = entry.key
    return memory
