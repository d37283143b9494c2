"""Anthropic's memory tool (``memory_20250818``) on a repository's memory, for the tool runner of their SDK: blocking, and not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from hardwon.doors.api import Repository
from hardwon.doors.backends.files import Files
from hardwon.errors import HardwonError


class HardwonMemoryTool(BetaAbstractMemoryTool):
    """``client.beta.messages.tool_runner(…, tools=[HardwonMemoryTool(hardwon.open("."))])``."""

    def __init__(self, repository: Repository, **options: Any) -> None:
        """``options`` are those of the SDK's class."""
        super().__init__(**options)
        self._files = Files(repository)

    def view(self, command: Any) -> str:
        """A file or a folder."""
        return _told(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: Any) -> str:
        """A new file."""
        return _told(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: Any) -> str:
        """A passage of a file."""
        return _told(lambda: self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: Any) -> str:
        """More lines in a file."""
        return _told(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: Any) -> str:
        """A file or folder less."""
        return _told(lambda: self._files.delete(command.path))

    def rename(self, command: Any) -> str:
        """Another path."""
        return _told(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Nothing left."""
        return _told(self._files.clear)


class HardwonAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the asynchronous client; the store is waited for in threads."""

    def __init__(self, repository: Repository, **options: Any) -> None:
        """``options`` are those of the SDK's class."""
        super().__init__(**options)
        self._tool = HardwonMemoryTool(repository)

    async def view(self, command: Any) -> str:
        """A file or a folder."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: Any) -> str:
        """A new file."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: Any) -> str:
        """A passage of a file."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: Any) -> str:
        """More lines in a file."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: Any) -> str:
        """A file or folder less."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: Any) -> str:
        """Another path."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Nothing left."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _told(work: Callable[[], str]) -> str:
    """What was done; an error as the SDK's, which tells it to the model."""
    try:
        return work()
    except HardwonError as error:
        raise ToolError("\n".join(filter(None, (error.message, error.remedy)))) from error
