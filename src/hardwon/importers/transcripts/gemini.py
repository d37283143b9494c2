"""Chats of Gemini CLI: lines of messages and of changes to them, and before that one JSON document.

A message is written again whenever something of it is new (the results of its tools): the last line with its id stands.
``$rewindTo`` takes back a message and all after it.
"""

from __future__ import annotations

import os
import re

from hardwon.capture.event import Event
from hardwon.importers.source import open_file
from hardwon.importers.transcripts import calls
from hardwon.importers.transcripts.records import Tally, clipped, count_lines, inner, items, millis, objects, parsed, plain, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Ended

CLIENT = "gemini"
MOST_BYTES = 64 << 20  # of a chat of the old form, which has to be parsed as a whole
_SILENT = ("info", "error", "warning", "about", "help", "stats", "model_stats", "quit", "compression")
_CONTEXT = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)
_EXIT = re.compile(r"^Exit Code: (-?\d{1,9}|\(none\))\s*$", re.MULTILINE)
_WRAPPED = re.compile(r"\A\s*<untrusted_context>\n?(.*?)\n?(?:Process Group PGID: \d+\n?)?</untrusted_context>\s*\Z", re.DOTALL)
_NOT_ENDED = ("Command was cancelled", "Command moved to background", "Command was automatically cancelled")
_OLD_HEAD = re.compile(r"\ACommand: .*\nDirectory: .*\n(?:Stdout|Output): ")


def read(path: str, tally: Tally, cwd: str = "") -> Iterator[Event]:
    """What a chat tells; ``cwd``: the folder of its project, which it does not tell itself. InvalidInput for what cannot be opened."""
    if path.endswith(".json"):
        yield from _document(path, tally, cwd)
        return
    lines = count_lines(path)
    standing, kept = _standing(path, lines)
    reader = _Reader(tally, cwd, _parent(path))
    for place, record in enumerate(objects(path, tally, lines)):
        if "$set" in record or "$rewindTo" in record:
            reader.note(inner(record, "$set"))
        elif word(record, "sessionId") and "id" not in record:
            reader.note(record)
            for message in items(record.get("messages")):
                yield from reader.message(message)
        elif standing.get(word(record, "id")) == place:
            yield from reader.message(record)
        elif word(record, "id") in kept:
            continue  # it is written again below
        elif word(record, "id"):
            tally.rewound += 1
        else:
            tally.miss(word(record, "type"))


def _standing(path: str, lines: int) -> tuple[dict[str, int], set[str]]:
    """The record that stands for each message, by its id, and all ids that were not taken back."""
    standing: dict[str, int] = {}
    for place, record in enumerate(objects(path, Tally(), lines)):
        if back := word(record, "$rewindTo"):
            names = list(standing)
            gone = names[names.index(back) :] if back in standing else names
            for name in gone:
                del standing[name]
        elif "$set" not in record and (name := word(record, "id")):
            standing[name] = place
    return standing, set(standing)


def _document(path: str, tally: Tally, cwd: str) -> Iterator[Event]:
    source = open_file(path)
    try:
        if source.size > MOST_BYTES:
            tally.too_long += 1
            return
        raw = b"\n".join(line or b"" for _, line in source.lines())
    finally:
        source.close()
    found = parsed(raw)
    if not isinstance(found, dict) or not isinstance(found.get("messages"), list):
        tally.broken += 1
        return
    reader = _Reader(tally, cwd, _parent(path))
    reader.note(found)
    for message in items(found["messages"]):
        tally.records += 1
        yield from reader.message(message)


def _parent(path: str) -> str:
    """The session that a subagent's chat belongs to: it lies in a folder of that name."""
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return "" if folder == "chats" else folder


class _Reader:
    """The messages of one chat, in order."""

    def __init__(self, tally: Tally, cwd: str, parent: str) -> None:
        self._tally = tally
        self._parent = parent
        self._told = {"session": "", "cwd": cwd, "model": "", "agent": ""}
        self._at = 1
        self._begun = False

    def note(self, record: dict[str, Any]) -> None:
        """What the chat says of itself."""
        self._told["session"] = self._told["session"] or word(record, "sessionId")
        self._at = millis(record.get("startTime"), self._at)
        if record.get("kind") == "subagent":
            self._told["agent"] = self._told["session"]
            self._told["session"] = self._parent or self._told["session"]

    def _event(self, moment: Any, at: int = 0, **fields: Any) -> Event:
        told = {**self._told, **fields}
        return Event(moment, CLIENT, told.pop("session"), at or self._at, **told)

    def message(self, record: dict[str, Any]) -> Iterator[Event]:
        """What one message tells."""
        self._at = millis(record.get("timestamp"), self._at)
        kind = word(record, "type")
        if not self._begun:
            self._begun = True
            yield self._event("start", source="startup")
        text = _CONTEXT.sub("", plain(record.get("content"))).strip()
        if kind == "user":
            if text and not self._told["agent"] and not text.startswith(("<session_context>", "This is the Gemini CLI.")):
                yield self._event("prompt", text=clipped(text), turn=word(record, "id"))
        elif kind == "gemini":
            self._told["model"] = word(record, "model") or self._told["model"]
            if text:
                yield self._event("said", text=clipped(text), turn=word(record, "id"))
            for call in items(record.get("toolCalls")):
                yield from self._call(call)
        elif kind not in _SILENT:
            self._tally.miss(kind)

    def _call(self, told: dict[str, Any]) -> Iterator[Event]:
        call = calls.begun(word(told, "name"), inner(told, "args"), word(told, "id"))
        yield self._event("before", **call)
        status = word(told, "status")
        if status not in ("success", "error", "cancelled"):
            return  # it was at work when the chat was written last
        text = _answer(told.get("result"))
        ended: Ended = {"success": "ok", "error": "failed", "cancelled": "denied"}[status]  # type: ignore[assignment]  # of Ended
        code = None
        if call["tool"] == "shell" and ended != "denied":
            ended, code, text = _shell(text, ended)
        elif ended == "failed" and "denied by policy" in text[:300].lower():
            ended = "denied"
        at = millis(told.get("timestamp"), self._at)
        yield self._event("after", at, ended=ended, exit_code=code, output=clipped(text), **call)


def _answer(result: Any) -> str:
    """The words of a function's response."""
    found = []
    for part in items(result) or items([result]):
        response = inner(part, "functionResponse", "response")
        found.append(word(response, "output", "error", "content") or plain(response.get("output")) or word(part, "text"))
    text = "\n".join(filter(None, found)) or plain(result)
    wrapped = _WRAPPED.match(text)
    return wrapped[1] if wrapped else text


def _shell(text: str, ended: Ended) -> tuple[Ended, int | None, str]:
    """How a command ended, told by the last lines of its answer: newer versions write the code only where it is not 0."""
    codes = _EXIT.findall(text)
    body = _EXIT.sub("", _OLD_HEAD.sub("", text).removeprefix("Output: ")).rstrip()
    if codes and codes[-1] != "(none)":
        code = int(codes[-1])
        return ("failed" if code else "ok"), code, body
    if codes:
        return "unknown", None, body
    if ended == "ok" and not text.startswith(_NOT_ENDED):
        return "ok", 0, body
    return ("interrupted" if text.startswith("Command was") else "unknown" if ended == "ok" else ended), None, body
