"""Transcripts of anything else: a line a message, ``{"role": …, "content": …}`` (docs/transcripts.md)."""

from __future__ import annotations

import os

from hardwon.capture.event import Event
from hardwon.importers.transcripts import calls
from hardwon.importers.transcripts.records import clipped, inner, items, millis, objects, parsed, plain, whole_number, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Ended
    from hardwon.importers.transcripts.calls import Call
    from hardwon.importers.transcripts.records import Tally

CLIENT = "transcript"
ROLES = ("user", "assistant", "tool", "system", "developer")


def read(path: str, tally: Tally, modified: int) -> Iterator[Event]:
    """What a file of messages tells; where it names no session the file is one, and where it tells no times they are ``modified``
    (milliseconds). InvalidInput for a file that cannot be opened."""
    name = os.path.basename(path).rpartition(".")[0] or os.path.basename(path)
    reader = _Reader(tally, name, modified)
    for record in objects(path, tally):
        yield from reader.take(record)


class _Reader:
    """The messages of one file, in order."""

    def __init__(self, tally: Tally, session: str, at: int) -> None:
        self._tally = tally
        self._calls: dict[str, Call] = {}
        self._told = {"client": CLIENT, "session": session, "cwd": "", "model": "", "branch": ""}
        self._begun = ""
        self._at = at

    def take(self, record: dict[str, Any]) -> Iterator[Event]:
        """What one message tells."""
        role = word(record, "role")
        if role not in ROLES:
            self._tally.miss(role or word(record, "type"))
            return
        self._at = millis(record.get("timestamp", record.get("created_at", record.get("time"))), self._at)
        for name in self._told:
            self._told[name] = word(record, name, f"{name}_id") or self._told[name]
        if self._told["session"] != self._begun:
            self._begun = self._told["session"]
            yield self._event("start", source="startup")
        content = record.get("content")
        if role in ("user", "assistant"):
            yield from self._blocks(role, content)
            for call in items(record.get("tool_calls")):
                yield self._begin(call)
        elif role == "tool":
            yield from self._result(record)

    def _event(self, moment: Any, **fields: Any) -> Event:
        told: dict[str, Any] = {**self._told, **fields}
        return Event(moment, told.pop("client"), told.pop("session"), self._at, **told)

    def _blocks(self, role: str, content: Any) -> Iterator[Event]:
        for block in items(content):
            if block.get("type") == "tool_use":
                yield self._begin(block)
            elif block.get("type") == "tool_result":
                yield from self._result(block)
        text = plain(content)
        if text.strip():
            yield self._event("prompt" if role == "user" else "said", text=clipped(text))

    def _begin(self, block: dict[str, Any]) -> Event:
        function = inner(block, "function") or block
        arguments = function.get("arguments", function.get("input"))
        given = parsed(arguments) if isinstance(arguments, str) else arguments
        told = given if isinstance(given, dict) else {"input": plain(arguments)}
        call = calls.begun(word(function, "name"), told, word(block, "id"))
        calls.keep(self._calls, call)
        return self._event("before", **call)

    def _result(self, block: dict[str, Any]) -> Iterator[Event]:
        identifier = word(block, "tool_call_id", "tool_use_id")
        call = self._calls.pop(identifier, None)
        if call is None:
            return
        code = whole_number(block.get("exit_code"))
        failed = bool(block.get("is_error")) or bool(code)
        ended: Ended = "failed" if failed else "ok" if code == 0 or "is_error" in block else "unknown"
        output = clipped(plain(block.get("content")))
        yield self._event("after", ended=ended, exit_code=code, output=output, **call)
