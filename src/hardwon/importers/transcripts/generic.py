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

    # A call that waits for its result, with the turn and the message that it is of, and whether it may be one that was told already.
    Waiting = tuple[int, int, bool, Call]

CLIENT = "transcript"
ROLES = ("user", "assistant", "tool", "system", "developer")
_MOST_WAITING = 2_000  # ids of calls without an end
_MOST_OF_ID = 50  # calls that wait under one
_NEVER = (0, 0, 0, 0)


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
        self._waiting: dict[str, list[Waiting]] = {}  # calls by their given id
        # Of each session's id: when a call was told last, in which message, and the hashes of the call and of its end.
        self._met: dict[int, tuple[int, int, int, int]] = {}
        self._turn = self._count = 0  # what was asked so far; calls of an id that was met before
        self._message = 0  # a list of calls counts as one of its own: some write those of the content once more there
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
            self._message += 1
            yield from self._blocks(role, content)
            self._message += 1
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
        call, written once more. Results come in the order of a message's calls; a call that has none when the next message makes one of
        its id has ended, for its result would be taken for that one's."""
        function = inner(block, "function") or block
        arguments = function.get("arguments", function.get("input"))
        given = parsed(arguments) if isinstance(arguments, str) else arguments
        told = given if isinstance(given, dict) else {"input": plain(arguments)}
        identifier = word(block, "id")
        call = calls.begun(word(function, "name"), told, identifier)
        time, message, last, _ = self._met.get(self._key(identifier), _NEVER)
        waiting = self._waiting.get(identifier, [])
        is_same = bool(identifier) and message != self._message and last == _hash(call)
        if is_same and any(turn == self._turn for turn, _, _, _ in waiting):
            return
        waiting = [one for one in waiting if one[1] == self._message]
        is_again = is_same and 0 < time == self._time
        self._waiting.pop(identifier, None)
        self._waiting[identifier] = [*waiting, (self._turn, self._message, is_again, call)][-_MOST_OF_ID:]
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        if not is_again:
            yield self._named(call, identifier, self._time, self._message)

    def _key(self, identifier: str) -> int:
        return hash((self._told["session"], identifier))

    def _named(self, call: Call, identifier: str, time: int, message: int) -> Event:
        """The beginning of a call, by the name that it goes by."""
        if identifier:
            key = self._key(identifier)
            self._count += key in self._met
            call["call"] = f"{self._count}#{identifier}" if key in self._met else identifier
            self._met[key] = time, message, _hash(call), 0
        return self._event("before", **call)

    def _result(self, block: dict[str, Any]) -> Iterator[Event]:
        identifier = word(block, "tool_call_id", "tool_use_id")
        waiting = self._waiting.get(identifier)
        if not waiting:
            return
        _, message, is_again, call = waiting.pop(0)
        if not waiting:
            del self._waiting[identifier]
        code = whole_number(block.get("exit_code"))
        failed = bool(block.get("is_error")) or bool(code)
        ended: Ended = "failed" if failed else "ok" if code == 0 or "is_error" in block else "unknown"
        output = clipped(plain(block.get("content")))
        key, end = self._key(identifier), hash((ended, code, output))
        if is_again:  # of the same time as the one before: the same run, unless it ended otherwise
            time, _, _, before = self._met.get(key, _NEVER)
            if end == before:
                return
            yield self._named(call, identifier, time, message)
        if key in self._met:
            self._met[key] = (*self._met[key][:3], end)
        yield self._event("after", ended=ended, exit_code=code, output=output, **call)


def _hash(call: Call) -> int:
    return hash((call["tool_name"], call["command"], call["edits"], call["paths"]))
