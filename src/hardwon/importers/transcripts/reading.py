"""One session out of the files that its client wrote of it: the agent's and its subagents' events, by time, without anything of ours."""

from __future__ import annotations

from heapq import merge

from hardwon.capture import ours
from hardwon.errors import InvalidInput
from hardwon.importers.source import open_file, unusable
from hardwon.importers.transcripts import claude, codex, gemini, generic, opencode
from hardwon.importers.transcripts.records import Tally, inner, items, parsed, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Event
    from hardwon.importers.transcripts.finding import Transcript

_LOOKED_AT = 40  # lines of a file whose client is not known


def read(transcript: Transcript, tally: Tally) -> Iterator[Event]:
    """The events of a session, in the order of their times as far as its files keep it. InvalidInput for what cannot be opened."""
    streams = [_clean(events) for events in _streams(transcript, tally)]
    if len(streams) == 1:
        yield from streams[0]
    else:
        yield from merge(*streams, key=lambda event: event.at)


def _clean(events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        kept = ours.clean(event)
        if kept is not None and not (kept.moment in ("prompt", "said") and not kept.text.strip()):
            yield kept


def _streams(transcript: Transcript, tally: Tally) -> Iterator[Iterator[Event]]:
    client = transcript.client
    if client == opencode.CLIENT and len(transcript.paths) > 1:  # exports, a session each
        for path, session in zip(transcript.paths, transcript.parts, strict=True):
            yield opencode.read(path, session, transcript.session, tally)
        return
    for path in transcript.paths:
        if client == claude.CLIENT:
            yield claude.read(path, tally)
        elif client == codex.CLIENT:
            yield codex.read(path, tally)
        elif client == gemini.CLIENT:
            yield gemini.read(path, tally, transcript.cwd)
        elif client == opencode.CLIENT:
            for session in transcript.parts:
                yield opencode.read(path, session, transcript.session, tally)
        else:
            yield generic.read(path, tally, transcript.modified)


# --- what a file is


def recognise(path: str) -> str:
    """The client that wrote a file, by what it holds. InvalidInput where it is no transcript."""
    source = open_file(path)
    try:
        if source.head.startswith(b"SQLite format 3\0"):
            return opencode.CLIENT
        if opencode.is_export(source.head):
            return opencode.CLIENT
        for number, raw in source.lines():
            found = parsed(raw) if raw is not None else None
            if isinstance(found, dict) and (client := _whose(found)):
                return client
            if number >= _LOOKED_AT:
                break
        if path.endswith(".json") and b'"messages"' in source.head and b'"sessionId"' in source.head:
            return gemini.CLIENT
    finally:
        source.close()
    raise unusable(path, "is no transcript that can be read (docs/transcripts.md says which can)")


def _whose(record: dict[str, Any]) -> str:
    """The client that writes such records; "" where one cannot tell."""
    kind = word(record, "type")
    if word(record, "sessionId") and word(record, "projectHash"):
        return gemini.CLIENT
    if kind == "session_meta" or (kind in ("response_item", "event_msg", "turn_context") and inner(record, "payload")):
        return codex.CLIENT
    if word(record, "record_type") or (word(record, "id") and "instructions" in record and "timestamp" in record and not kind):
        return codex.CLIENT
    if word(record, "uuid") or (word(record, "sessionId") and kind) or (kind == "summary" and word(record, "leafUuid")):
        return claude.CLIENT
    if word(record, "role") in generic.ROLES and ("content" in record or items(record.get("tool_calls"))):
        return generic.CLIENT
    return ""


def first(path: str, client: str) -> tuple[str, str]:
    """The session that a file is of, and the folder that it tells, "" for none; InvalidInput for a file without a session."""
    reader = {claude.CLIENT: claude.read, codex.CLIENT: codex.read, gemini.CLIENT: gemini.read}.get(client)
    events = reader(path, Tally()) if reader else generic.read(path, Tally(), 1)
    for event in events:
        if event.session:
            return event.session, event.cwd
    raise InvalidInput(f"{path[:200]!r} tells of no session", field="file", remedy="name another file")
