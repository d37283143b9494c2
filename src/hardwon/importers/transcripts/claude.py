"""Transcripts of Claude Code: one record a line, chained by ``uuid`` and ``parentUuid`` into a graph.

A person who goes back to an earlier point and goes on from there makes a branch; what they left behind is not told. Parallel calls
make branches too, which are all told, so only prompts are compared: of several that answer the same message the last one stands, where
nothing was added to the others once it stood there. Else two clients went on from there, or the client wrote the same prompt twice.

A session that is gone on with may write its last part into its file once more, under other names. That copy is not told again.
"""

from __future__ import annotations

import re
from itertools import pairwise

from hardwon.capture.event import Event
from hardwon.importers.transcripts import calls
from hardwon.importers.transcripts.records import (
    Tally,
    clipped,
    count_lines,
    inner,
    items,
    millis,
    objects,
    plain,
    whole_number,
    word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from hardwon.capture.event import Ended
    from hardwon.importers.transcripts.calls import Call

CLIENT = "claude-code"
# Records that say nothing of what happened, or say it again.
_SILENT = frozenset((
    "summary", "file-history-snapshot", "queue-operation", "last-prompt", "api-request-shape", "api-request-blob", "progress",
    "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "mode", "permission-mode", "pr-link",
    "content-replacement", "turn_end", "api-request", "atis-latch", "tools-used", "cost-state",
    "worktree-state", "attribution-snapshot", "file-history-delta", "bridge-session",
))  # fmt: skip
# What the client itself writes in the person's place.
_NOT_SAID = (
    "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<user-memory-input>",
    "[Request interrupted by user", "Caveat: The messages below were generated", "<teammate-message", "<agent-message",
    "Another Claude session sent a message:\n<",
)  # fmt: skip
_EXIT = re.compile(r"\s*(?:<[a-z_]+>)?(?:Error: )?Exit code (-?\d{1,6})\b")
_DENIED = (
    "The user doesn't want to proceed with this tool use", "The user doesn't want to take this action", "User rejected tool use",
    "Permission to use ", "Claude requested permissions to ", "This command requires approval", "Hook PreToolUse:", "PreToolUse:",
)  # fmt: skip
_RANDOM = 16  # characters of an id from which on no other call has it; proxies that count calls give shorter ones
_INTERRUPTED = ("[Request interrupted by user", "Interrupted by user", "The user interrupted", "Tool use was cancelled")


def read(path: str, tally: Tally) -> Iterator[Event]:
    """What a transcript tells, in its order. InvalidInput for a file that cannot be opened."""
    lines = count_lines(path)  # it may grow meanwhile
    lost = _rewound(path, lines)
    reader = _Reader(tally)
    for record in objects(path, tally, lines):
        if lost and _key(record.get("uuid")) in lost:
            tally.rewound += 1
        else:
            yield from reader.take(record)


# --- the graph


def _rewound(path: str, lines: int) -> set[int]:
    """The records that were left behind, by the hash of their uuid."""
    above: dict[int, int] = {}  # each record's nearest message above
    messages: set[int] = set()
    prompts: dict[int, dict[int, list[int]]] = {}  # under each message, by their names: one that is written twice has one name
    for record in objects(path, Tally(), lines):
        uuid = _key(record.get("uuid"))
        if not uuid:
            continue
        parent = _key(record.get("parentUuid") or record.get("logicalParentUuid"))
        above[uuid] = parent if parent in messages else above.get(parent, 0)
        if record.get("type") in ("user", "assistant"):
            messages.add(uuid)
        if above[uuid] and _is_prompt(record):
            prompts.setdefault(above[uuid], {}).setdefault(_name(record, _words(record)), []).append(uuid)
    lost = _left(above, [list(several.values()) for several in prompts.values() if len(several) > 1])
    if lost:
        for uuid, parent in above.items():  # in the file's order, in which parents come first
            if parent in lost:
                lost.add(uuid)
    return lost


def _left(above: dict[int, int], prompts: Sequence[Sequence[Sequence[int]]]) -> set[int]:
    """Of prompts that answer the same message those below which nothing stands in the file after the next one."""
    if not prompts:
        return set()
    numbers = {uuid: number for number, uuid in enumerate(above)}
    ends = numbers.copy()  # of the last record below each
    for uuid, parent in reversed(above.items()):
        if parent in ends:
            ends[parent] = max(ends[parent], ends[uuid])
    both = (pair for several in prompts for pair in pairwise(several))
    return {uuid for left, behind in both if max(ends[one] for one in left) < numbers[behind[0]] for uuid in left}


def _name(record: dict[str, Any], words: str) -> int:
    """What a message is known again by where it is written once more: the time and the words. 0 where neither time nor place is told."""
    when = word(record, "timestamp") or word(record, "parentUuid")
    return hash((when, words)) if when else 0


def _key(uuid: object) -> int:
    return hash(uuid) if isinstance(uuid, str) and uuid else 0


def _is_prompt(record: dict[str, Any]) -> bool:
    """Whether a person typed it."""
    if record.get("type") != "user" or record.get("isMeta") or record.get("isCompactSummary") or record.get("isSidechain"):
        return False
    if any(block.get("type") == "tool_result" for block in items(inner(record, "message").get("content"))):
        return False
    return bool(_words(record))


def _words(record: dict[str, Any]) -> str:
    """What a person said in a record."""
    return _said(plain(inner(record, "message").get("content")))


def _said(text: str) -> str:
    """What a person said, of what stands in their place: of a slash command its words, of the client's own notes nothing."""
    text = text.strip()
    if text.startswith(("<command-name>", "<command-message>")):
        said, ended, _ = text.partition("<command-args>")[2].partition("</command-args>")
        return said.strip() if ended else ""
    return "" if text.startswith(_NOT_SAID) else text


# --- the records


class _Reader:
    """The records of one file, in order."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._calls: dict[str, Call] = {}
        self._at = 1
        self._begun = ""
        self._told: dict[str, Any] = {}
        self._model = ""
        self._names: set[int] = set()  # of what was told

    def take(self, record: dict[str, Any]) -> Iterator[Event]:
        """What one record tells."""
        kind = word(record, "type")
        self._at = millis(record.get("timestamp"), self._at)
        if kind in ("user", "assistant", "system", "attachment"):
            self._note(record)
            if self._told["session"] != self._begun and not self._told["agent"]:
                self._begun = self._told["session"]
                yield self._event("start", source="startup")
        if kind == "user":
            yield from self._user(record)
        elif kind == "assistant":
            yield from self._assistant(record)
        elif kind == "system":
            if record.get("subtype") == "compact_boundary":
                yield self._event("compact", source=word(inner(record, "compactMetadata"), "trigger"))
        elif kind == "attachment":
            yield from self._attachment(record)
        elif kind not in _SILENT:
            self._tally.miss(kind)

    def _note(self, record: dict[str, Any]) -> None:
        """What the record says of where and in which session it happened."""
        side = bool(record.get("isSidechain"))
        self._told = {
            "session": word(record, "sessionId", "session_id"), "cwd": word(record, "cwd"), "branch": word(record, "gitBranch"),
            "version": word(record, "version"), "agent": (word(record, "agentId") or "sidechain") if side else "",
            "turn": word(record, "promptId"),
        }  # fmt: skip

    def _event(self, moment: Any, **fields: Any) -> Event:
        told = {**self._told, "model": self._model, **fields}
        return Event(moment, CLIENT, told.pop("session"), self._at, **told)

    def _user(self, record: dict[str, Any]) -> Iterator[Event]:
        content = inner(record, "message").get("content")
        result = record.get("toolUseResult")
        for block in items(content):
            if block.get("type") == "tool_result":
                yield from self._result(block, result)
        if _is_prompt(record) and self._is_news(_name(record, _words(record))):
            yield self._event("prompt", text=clipped(_words(record)))

    def _is_news(self, name: int) -> bool:
        """Whether what has this name was not told yet; it is now."""
        is_news = not name or name not in self._names
        self._names.add(name)
        return is_news

    def _attachment(self, record: dict[str, Any]) -> Iterator[Event]:
        """Of what the client adds only what the person typed while the agent was at work: hooks' words are not the person's."""
        attachment = inner(record, "attachment")
        if attachment.get("type") == "queued_command" and word(attachment, "commandMode") != "task-notification":
            text = _said(plain(attachment.get("prompt")))
            if text and self._is_news(_name(record, text)):
                yield self._event("prompt", text=clipped(text))

    def _assistant(self, record: dict[str, Any]) -> Iterator[Event]:
        message = inner(record, "message")
        if record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            return
        self._model = word(message, "model") or self._model
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else items(content):
            kind = block.get("type")
            if kind == "text":
                text = word(block, "text")
                if text.strip() and self._is_news(_name(record, text)):
                    yield self._event("said", text=clipped(text))
            elif kind == "tool_use":
                yield from self._begin(block)
            elif kind not in ("thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"):
                self._tally.miss(f"assistant/{kind}")

    def _begin(self, block: dict[str, Any]) -> Iterator[Event]:
        name, identifier = word(block, "name"), word(block, "id")
        if len(identifier) >= _RANDOM and not self._is_news(hash(identifier)):
            return
        # Where it began: the record of its end has the folder that it went to (`cd api && make`), which no second run begins in.
        call = {"cwd": self._told["cwd"]} | calls.begun(name, inner(block, "input"), identifier)
        calls.keep(self._calls, call)
        yield self._event("before", **call)

    def _result(self, block: dict[str, Any], result: Any) -> Iterator[Event]:
        identifier = word(block, "tool_use_id")
        call = self._calls.pop(identifier, None)
        if call is None:
            return  # copied out of another session, or of a call that was left behind
        text = plain(block.get("content"))
        ended, code = _ending(call, text, block, result)
        if not text and isinstance(result, dict):
            text = "\n".join(filter(None, (word(result, "stdout"), word(result, "stderr"))))
        yield self._event("after", ended=ended, exit_code=code, output=clipped(text), **call)


def _ending(call: Call, text: str, block: dict[str, Any], result: Any) -> tuple[Ended, int | None]:
    """How a call ended, and its exit code where that is told."""
    told = text.lstrip()
    if told.startswith(_DENIED) or result == "User rejected tool use":
        return "denied", None
    if told.startswith(_INTERRUPTED) or (isinstance(result, dict) and result.get("interrupted") is True):
        return "interrupted", None
    if block.get("is_error"):
        found = _EXIT.match(told)
        return "failed", whole_number(found[1]) if found else None
    if call["tool"] != "shell":
        return "ok", None
    if isinstance(result, dict) and (result.get("backgroundTaskId") or result.get("returnCodeInterpretation")):
        return "unknown" if result.get("backgroundTaskId") else "ok", None
    return "ok", 0
