"""A ``Session`` of the OpenAI Agents SDK: the items of a conversation, in order.

Conversations are many words of little worth to a repository. Give them a memory of their own: ``hardwon.open(folder, make=True)``
with a folder outside of any repository.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from agents.items import TResponseInputItem
from agents.memory import SessionSettings
from agents.memory.session_settings import resolve_session_limit

from hardwon.doors.api import Repository
from hardwon.doors.backends.collection import Collection, Entry, Put, words_of

_T = TypeVar("_T")


class HardwonSession:
    """``Runner.run(agent, "…", session=HardwonSession("user-7", memory))``."""

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, repository: Repository, session_settings: SessionSettings | None = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._collection = Collection(repository, "openai-agents")
        self._namespace = (session_id,)
        self._lock = Lock()
        self._last = 0

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items of the conversation, oldest first; at most the newest ``limit``."""
        most = resolve_session_limit(limit, self.session_settings)
        items = await self._in_thread(lambda: [entry.value for entry in self._items()])
        return items if most is None else items[max(0, len(items) - max(0, most)) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end, all of them or none."""
        await self._in_thread(lambda: self._collection.put(self._put(item) for item in items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item away; None where there is none."""
        return await self._in_thread(self._pop)

    async def clear_session(self) -> None:
        """Take all items away."""
        await self._in_thread(lambda: self._collection.remove(self._items()))

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        """The store waits for its lock and for the disk: not in the loop. What was begun is brought to its end, also where the caller is
        cancelled, one after the other."""

        def alone() -> _T:
            with self._lock:
                return work()

        return await asyncio.shield(asyncio.to_thread(alone))

    def _items(self) -> list[Entry]:
        return sorted(self._collection.listed(self._namespace), key=lambda entry: entry.key)

    def _put(self, item: Any) -> Put:
        """An item under a key that sorts behind all before it, of other processes too."""
        self._last = max(self._last + 1, time.time_ns())
        return Put(self._namespace, f"{self._last:020d}-{os.urandom(4).hex()}", item, words_of(item.get("content", "")))

    def _pop(self) -> Any:
        items = self._items()
        if not items:
            return None
        self._collection.remove(items[-1:])
        return items[-1].value
