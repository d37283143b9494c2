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
_MOST_WAITING = 2_000  # ids of calls without an end
_MOST_OF_ID = 50  # calls that wait under one


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
        self._waiting: dict[str, list[tuple[int, Call]]] = {}  # calls by their given id, with the turn that they are of
        self._met: dict[int, tuple[int, int]] = {}  # of each session's id: when a call was told last, and its hash
        self._turn = self._count = 0  # what was asked so far; calls of an id that was met before
        self._told = {"client": CLIENT, "session": session, "cwd": "", "model": "", "branch": ""}
        self._begun = ""
        self._at = at
        self._time = 0  # that the message at hand tells, 0 for none

    def take(self, record: dict[str, Any]) -> Iterator[Event]:
        """What one message tells."""
        role = word(record, "role")
        if role not in ROLES:
            self._tally.miss(role or word(record, "type"))
            return
        self._time = millis(record.get("timestamp", record.get("created_at", record.get("time"))), 0)
        self._at = self._time or self._at
        for name in self._told:
            self._told[name] = word(record, name, f"{name}_id") or self._told[name]
        if self._told["session"] != self._begun:
            self._begun = self._told["session"]
            yield self._event("start", source="startup")
        content = record.get("content")
        if role in ("user", "assistant"):
            yield from self._blocks(role, content)
            for call in items(record.get("tool_calls")):
                yield from self._begin(call)
        elif role == "tool":
            yield from self._result(record)

    def _event(self, moment: Any, **fields: Any) -> Event:
        told: dict[str, Any] = {**self._told, **fields}
        return Event(moment, told.pop("client"), told.pop("session"), self._at, **told)

    def _blocks(self, role: str, content: Any) -> Iterator[Event]:
        for block in items(content):
            if block.get("type") == "tool_use":
                yield from self._begin(block)
            elif block.get("type") == "tool_result":
                yield from self._result(block)
        text = plain(content)
        if text.strip():
            self._turn += role == "user"
            yield self._event("prompt" if role == "user" else "said", text=clipped(text))

    def _begin(self, block: dict[str, Any]) -> Iterator[Event]:
        """A call. Some models number theirs anew in each message: one whose id was met before goes by another name, unless it is the same
        call, written once more. Results come in the order of the calls; a call that has none when the person speaks has ended."""
        function = inner(block, "function") or block
        arguments = function.get("arguments", function.get("input"))
        given = parsed(arguments) if isinstance(arguments, str) else arguments
        told = given if isinstance(given, dict) else {"input": plain(arguments)}
        identifier = word(block, "id")
        call = calls.begun(word(function, "name"), told, identifier)
        name = self._name(identifier, hash((call["tool_name"], call["command"], call["edits"], call["paths"])))
        if name is None:
            return
        call["call"] = name
        waiting = [one for one in self._waiting.pop(identifier, []) if one[0] == self._turn]
        self._waiting[identifier] = [*waiting, (self._turn, call)][-_MOST_OF_ID:]
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        yield self._event("before", **call)

    def _name(self, identifier: str, which: int) -> str | None:
        """What a call goes by; None where it was told already."""
        if not identifier:
            return ""
        key = hash((self._told["session"], identifier))
        time, last = self._met.get(key, (0, None))
        waits = any(turn == self._turn for turn, _ in self._waiting.get(identifier, ()))
        if which == last and (waits or 0 < time == self._time):
            return None
        self._count += last is not None
        self._met[key] = self._time, which
        return identifier if last is None else f"{self._count}#{identifier}"

    def _result(self, block: dict[str, Any]) -> Iterator[Event]:
        identifier = word(block, "tool_call_id", "tool_use_id")
        waiting = self._waiting.get(identifier)
        if not waiting:
            return
        _, call = waiting.pop(0)
        if not waiting:
            del self._waiting[identifier]
        code = whole_number(block.get("exit_code"))
        failed = bool(block.get("is_error")) or bool(code)
        ended: Ended = "failed" if failed else "ok" if code == 0 or "is_error" in block else "unknown"
        output = clipped(plain(block.get("content")))
        yield self._event("after", ended=ended, exit_code=code, output=output, **call)
