"""Rollouts of Codex, in the forms that its versions wrote: records in an envelope with items that sum up each call, the same without
them, and before that the bare items behind a first line of their own.

A session that was forked, by the person or for a subagent, begins with a copy of the other one, with the times of the copying. The copy
is passed over: it stands in the file of the other, with its own times, and told as this one's it would have happened twice.
"""

from __future__ import annotations

import re

from hardwon.capture.event import PROGRAM, Event
from hardwon.capture.prose import requested
from hardwon.importers.transcripts.codex_calls import Calls
from hardwon.importers.transcripts.records import clipped, inner, millis, objects, plain, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.importers.transcripts.codex_calls import Told
    from hardwon.importers.transcripts.records import Tally

CLIENT = "codex"
_ITEMS = frozenset((
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call",
    "web_search_call", "image_generation_call", "ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger",
    "context_compaction", "tool_search_call", "tool_search_output", "additional_tools", "agent_message", "other",
))  # fmt: skip
_SILENT_RECORDS = frozenset(
    ("world_state", "token_usage_record", "ghost_snapshot", "inter_agent_communication", "inter_agent_communication_metadata")
)
# Notices of what the records themselves tell; those of commands and patches in their own form are read below.
_SILENT_NOTICES = frozenset((
    "task_started", "turn_started", "task_complete", "turn_complete", "token_count", "agent_reasoning", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "item_started", "exec_command_begin", "patch_apply_begin", "mcp_tool_call_begin",
    "mcp_tool_call_end", "web_search_begin", "web_search_end", "plan_update", "background_event", "stream_error", "warning", "error",
    "turn_diff", "view_image_tool_call", "thread_name_updated", "thread_rolled_back", "undo_started", "undo_completed",
    "entered_review_mode", "exited_review_mode", "session_configured", "collab_agent_spawn_begin", "collab_agent_spawn_end",
    "hook_started", "hook_completed", "context_compacted",
    "thread_settings_applied", "sub_agent_activity", "deprecation_notice", "model_reroute",
))  # fmt: skip
_SILENT_ITEMS = frozenset((
    "Reasoning", "Plan", "WebSearch", "ImageView", "Sleep", "ImageGeneration", "McpToolCall", "ContextCompaction", "HookPrompt",
    "DynamicToolCall", "CollabAgentToolCall", "SubAgentActivity",
))  # fmt: skip
# What Codex itself puts in the person's place.
_NOT_SAID = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>",
    "<subagent_notification>", "<codex_delegation>", "<skill>", "<hook_prompt", "<permissions instructions>", "<collaboration_mode>",
    "<goal_context>", "Warning: apply_patch was requested via ",
)  # fmt: skip
_MOST_PROMPTS = 64  # that are remembered, for each is told twice
_BY_TIME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")  # ids that sort by when they were made
_PAUSE = 500  # milliseconds after which nobody copies any more: hundreds of records are copied in fewer


def read(path: str, tally: Tally) -> Iterator[Event]:
    """What a rollout tells, in its order. InvalidInput for a file that cannot be opened."""
    reader = _Reader(tally)
    for record in objects(path, tally):
        yield from reader.take(record)
    yield from reader.rest()


class _Reader:
    """The records of one file, in order."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._calls = Calls(tally)
        self._said: list[tuple[str, str]] = []
        self._told: dict[str, str] = dict.fromkeys(("session", "cwd", "branch", "version", "agent", "model", "turn"), "")
        self._at = self._began = 1  # began: when the session tells first who it is
        self._own = self._from = ""  # the ids of the session, and of the one that it was forked from
        self._is_fresh = True  # nothing but who the session is was told
        self._is_copy = self._has_turns = self._is_over = self._is_program = False  # over: the copy, for good

    def take(self, record: dict[str, Any]) -> Iterator[Event]:
        """What one record tells."""
        before, self._at = self._at, millis(record.get("timestamp"), self._at)
        kind, payload = word(record, "type"), inner(record, "payload")
        if kind == "session_meta":
            if not self._is_of_another(payload):
                yield self._begin_session(payload)
            return
        self._is_fresh = False
        if self._is_copied(word(payload, "turn_id"), self._at - max(before, self._began)):
            return
        if kind in _ITEMS and "payload" not in record:  # the first form: a bare item
            yield from self._item(record)
        elif not kind and word(record, "record_type"):
            return
        elif not kind and word(record, "id") and "timestamp" in record:
            yield self._begin_session(record)
        elif kind == "turn_context":
            self._told["cwd"] = word(payload, "cwd") or self._told["cwd"]
            self._told["model"] = word(payload, "model") or self._told["model"]
            self._told["turn"] = word(payload, "turn_id")
        elif kind == "response_item":
            yield from self._item(payload)
        elif kind == "event_msg":
            yield from self._notice(payload)
        elif kind == "compacted":
            yield self._event("compact")
        elif kind not in _SILENT_RECORDS:
            self._tally.miss(kind)

    def rest(self) -> Iterator[Event]:
        """The ends of calls that nothing told more of."""
        yield from self._of_calls(self._calls.rest())

    def _event(self, moment: Any, **fields: Any) -> Event:
        told: dict[str, Any] = {**self._told, **fields}
        return Event(moment, CLIENT, told.pop("session"), self._at, **told)

    def _of_calls(self, told: Iterator[Told]) -> Iterator[Event]:
        for moment, fields in told:
            yield self._event(moment, **fields)

    def _is_of_another(self, meta: dict[str, Any]) -> bool:
        """Whether this says who another session is, a copy of which begins here or goes on."""
        own = word(meta, "id")
        self._is_copy = bool(own and self._own and own != self._own) and (self._is_copy or self._is_fresh)
        return self._is_copy

    def _is_copied(self, turn: str, passed: int) -> bool:
        """Whether a record is of the copy. It ends with the first pause, and where turns have ids, with one that is younger than the
        session; an older one after a pause says that the copying only took a while."""
        if self._is_over:
            return False
        if _BY_TIME.fullmatch(turn) and _BY_TIME.fullmatch(self._own):
            self._has_turns, self._is_over = True, turn > self._own
            self._is_copy = self._is_copy or bool(self._from)
        elif self._is_copy and passed >= _PAUSE:
            self._is_copy, self._is_over = False, not self._has_turns
        self._is_copy = self._is_copy and not self._is_over
        return self._is_copy

    def _begin_session(self, meta: dict[str, Any]) -> Event:
        own, whole = word(meta, "id"), word(meta, "session_id")
        source = inner(meta, "source")
        parent = word(meta, "parent_thread_id") or word(inner(source, "subagent", "thread_spawn"), "parent_thread_id")
        git = inner(meta, "git")
        is_agent = bool(parent or "subagent" in source)
        self._own, self._from = own or self._own, word(meta, "forked_from_id")
        self._began = self._at
        self._is_program = meta.get("source") in ("exec", "mcp") or "internal" in source
        self._told |= {
            "session": whole or parent or own or self._told["session"], "agent": own if is_agent else "",
            "cwd": word(meta, "cwd") or self._told["cwd"], "version": word(meta, "cli_version"), "branch": word(git, "branch"),
        }  # fmt: skip
        return self._event("start", source="startup")

    # --- what was said

    def _prompt(self, text: str) -> Iterator[Event]:
        text = text.strip()
        self._told["cwd"] = self._told["cwd"] or folder_of(text)
        text = requested(text)
        if text and not text.startswith(_NOT_SAID) and not self._told["agent"] and self._is_news("prompt", text):
            yield self._event("prompt", source=PROGRAM if self._is_program else "", text=clipped(text))

    def _words(self, text: str) -> Iterator[Event]:
        if text.strip() and self._is_news("said", text.strip()):
            yield self._event("said", text=clipped(text))

    def _is_news(self, moment: str, text: str) -> bool:
        """Whether a text is said now: each is told as an item and as a notice, one right after the other."""
        if (moment, text) in self._said:
            self._said.remove((moment, text))
            return False
        self._said = [*self._said[-_MOST_PROMPTS:], (moment, text)]
        return True

    # --- items

    def _item(self, item: dict[str, Any]) -> Iterator[Event]:
        kind = word(item, "type")
        if kind == "message":
            role, text = word(item, "role"), plain(item.get("content"))
            if role == "user":
                yield from self._prompt(text)
            elif role == "assistant":
                yield from self._words(text)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield from self._of_calls(self._calls.begin(item, kind))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._of_calls(self._calls.output(word(item, "call_id"), item.get("output")))
        elif kind not in _ITEMS:
            self._tally.miss(f"response_item/{kind}")

    # --- notices

    def _notice(self, payload: dict[str, Any]) -> Iterator[Event]:
        kind = word(payload, "type")
        if kind == "item_completed":
            yield from self._completed(inner(payload, "item"))
        elif kind == "user_message":
            yield from self._prompt(word(payload, "message"))
        elif kind == "agent_message":
            yield from self._words(word(payload, "message"))
        elif kind == "exec_command_end":
            yield from self._of_calls(self._calls.executed(payload, is_item=False))
        elif kind == "turn_aborted":
            yield from self._of_calls(self._calls.aborted())
        elif kind == "patch_apply_end":
            yield from self._of_calls(self._calls.patched(payload))
        elif kind not in _SILENT_NOTICES:
            self._tally.miss(f"event_msg/{kind}")

    def _completed(self, item: dict[str, Any]) -> Iterator[Event]:
        kind = word(item, "type")
        if kind == "UserMessage":
            yield from self._prompt(plain(item.get("content")))
        elif kind == "AgentMessage":
            yield from self._words(plain(item.get("content")))
        elif kind == "CommandExecution":
            yield from self._of_calls(self._calls.executed(item, is_item=True))
        elif kind == "FileChange":
            yield from self._of_calls(self._calls.changed(item))
        elif kind not in _SILENT_ITEMS:
            self._tally.miss(f"item/{kind}")


def folder_of(text: str) -> str:
    """The folder that the context names which Codex gives the agent; the first form tells it nowhere else."""
    for begin, end in (("<cwd>", "</cwd>"), ("Current working directory: ", "\n")):
        _, mark, rest = text.partition(begin)
        if mark and text.startswith("<environment_context>"):
            return rest.partition(end)[0].strip()[:4096]
    return ""
