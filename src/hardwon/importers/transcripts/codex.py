"""Rollouts of Codex, in the forms that its versions wrote: records in an envelope with items that sum up each call, the same without
them, and before that the bare items behind a first line of their own. Where agents call tools by scripts, some versions tell each call by
an item, and some by nothing but the script.

A command's exit code may be told by the item of the call, by the words of its output, or by the output of a later call that waited
for it. So the end of a call is held back until something tells it, and told as unknown at the latest when the file ends.
"""

from __future__ import annotations

import re

from hardwon.capture.event import Event
from hardwon.capture.prose import requested
from hardwon.importers.transcripts import calls, codex_scripts
from hardwon.importers.transcripts.codex_output import LONGEST_HEAD, body, changes, ending, taken_apart
from hardwon.importers.transcripts.records import clipped, inner, millis, objects, parsed, plain, whole_number, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Ended
    from hardwon.importers.transcripts.calls import Call
    from hardwon.importers.transcripts.codex_scripts import Result, Script
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
    "<subagent_notification>", "<skill>", "<hook_prompt", "<permissions instructions>", "<collaboration_mode>", "<goal_context>",
    "Warning: apply_patch was requested via ",
)  # fmt: skip
_CELL = re.compile(r"^Script running with cell ID (\d{1,12})\b")
_RUNNING = re.compile(r"^Process running with session ID (\d{1,12})\b", re.MULTILINE)
_MOST_PROMPTS = 64  # that are remembered, for each is told twice
_STATUSES: dict[str, Ended] = {"completed": "ok", "declined": "denied", "failed": "failed"}
_MOST_FILES = 200  # of one change
_OF_SCRIPT = "exec-"  # begins the ids of calls that a script made
_READ_OF_SCRIPTS = frozenset(("exec_command", "write_stdin", "apply_patch"))
_MOST_SCRIPTS = 500  # without an end


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
        self._calls: dict[str, Call] = {}
        self._held: dict[str, tuple[str, Ended, int | None]] = {}  # ends of which the exit code is not known yet
        self._waits: dict[str, str] = {}  # commands that go on in the background, by the number of their process
        self._waiting: dict[str, str] = {}  # calls that wait for one of those
        self._codes: dict[str, tuple[Ended, int | None]] = {}  # ends that were told before the output
        self._done: dict[str, None] = {}  # calls that ended lately: an item of theirs may follow
        self._scripts: dict[str, tuple[Script | None, Call]] = {}  # that nothing has told yet but themselves
        self._cells: dict[str, str] = {}  # scripts that go on, by the number by which a later call waits for them
        self._printed: dict[str, str] = {}  # what commands in the background printed so far
        self._polled = ""  # the command in the background of which a script has shown no more than words
        self._has_items = False  # for commands: then no script has to tell of its own
        self._said: list[tuple[str, str]] = []
        self._told: dict[str, str] = dict.fromkeys(("session", "cwd", "branch", "version", "agent", "model", "turn"), "")
        self._at = 1

    def take(self, record: dict[str, Any]) -> Iterator[Event]:
        """What one record tells."""
        self._at = millis(record.get("timestamp"), self._at)
        kind, payload = word(record, "type"), inner(record, "payload")
        if kind in _ITEMS and "payload" not in record:  # the first form: a bare item
            yield from self._item(record)
        elif not kind and word(record, "record_type"):
            return
        elif not kind and word(record, "id") and "timestamp" in record:
            yield self._begin_session(record)
        elif kind == "session_meta":
            yield self._begin_session(payload)
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
        yield from self._release_all()

    def _event(self, moment: Any, **fields: Any) -> Event:
        told: dict[str, Any] = {**self._told, **fields}
        return Event(moment, CLIENT, told.pop("session"), self._at, **told)

    def _begin_session(self, meta: dict[str, Any]) -> Event:
        own, whole = word(meta, "id"), word(meta, "session_id")
        source = inner(meta, "source", "subagent")
        parent = word(meta, "parent_thread_id") or word(inner(source, "thread_spawn"), "parent_thread_id")
        git = inner(meta, "git")
        self._told |= {
            "session": whole or parent or own or self._told["session"], "agent": own if source or parent else "",
            "cwd": word(meta, "cwd") or self._told["cwd"], "version": word(meta, "cli_version"), "branch": word(git, "branch"),
        }  # fmt: skip
        return self._event("start", source="startup")

    # --- what was said

    def _prompt(self, text: str) -> Iterator[Event]:
        text = text.strip()
        self._told["cwd"] = self._told["cwd"] or folder_of(text)
        text = requested(text)
        if text and not text.startswith(_NOT_SAID) and not self._told["agent"] and self._is_news("prompt", text):
            yield self._event("prompt", text=clipped(text))

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
            yield from self._begin(item, kind)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._output(word(item, "call_id"), item.get("output"))
        elif kind not in _ITEMS:
            self._tally.miss(f"response_item/{kind}")

    def _begin(self, item: dict[str, Any], kind: str) -> Iterator[Event]:
        name, identifier = word(item, "name"), word(item, "call_id", "id")
        if kind == "local_shell_call":
            name, given = "shell", inner(item, "action")
        elif kind == "custom_tool_call":
            given = {"input": word(item, "input")}
        else:
            found = parsed(word(item, "arguments"))
            given = found if isinstance(found, dict) else {"input": word(item, "arguments")}
        if name == "exec" and kind == "custom_tool_call":
            yield from self._begin_script(word(given, "input"), identifier)
            return
        if name == "wait" and str(given.get("cell_id")) in self._cells:
            script = self._scripts.pop(self._cells.pop(str(given["cell_id"])), None)
            if script is not None:
                self._scripts[identifier] = script
            return
        if name == "write_stdin":
            process = given.get("session_id")
            if str(process) in self._waits:
                self._waiting[identifier] = str(process)
            return
        space = word(item, "namespace")
        called = f"{space}__{name}" if space.startswith("mcp__") and not name.startswith("mcp__") else name
        call = calls.begun(called, given, identifier)
        calls.keep(self._calls, call)
        yield self._event("before", **call)

    def _output(self, identifier: str, output: Any) -> Iterator[Event]:
        if identifier in self._scripts:
            yield from self._end_script(identifier, output)
            return
        text, told = taken_apart(output)
        running = _RUNNING.search(text[:LONGEST_HEAD])
        if identifier in self._waiting:
            process = self._waiting.pop(identifier)
            if running or process not in self._waits:
                return
            identifier = self._waits.pop(process)
        elif running and identifier in self._calls:
            self._waits[running[1]] = identifier
            return
        if identifier not in self._calls:
            return
        ended, code = ending(text, told)
        if ended == "unknown" and identifier in self._codes:
            ended, code = self._codes.pop(identifier)
        self._held[identifier] = (self._printed.pop(identifier, "") + body(text), ended, code)
        if ended != "unknown" or self._calls[identifier]["tool"] != "shell":
            yield from self._release(identifier)

    def _release(self, identifier: str) -> Iterator[Event]:
        text, ended, code = self._held.pop(identifier)
        call = self._calls.pop(identifier, None)
        self._codes.pop(identifier, None)
        self._printed.pop(identifier, None)
        self._done = {**dict.fromkeys(list(self._done)[-_MOST_PROMPTS:]), identifier: None}
        if call is not None:
            yield self._event("after", ended=ended, exit_code=code, output=clipped(text), **call)

    def _release_all(self) -> Iterator[Event]:
        for identifier in list(self._held):
            yield from self._release(identifier)

    # --- scripts

    def _begin_script(self, source: str, identifier: str) -> Iterator[Event]:
        """A script that calls tools. Nothing is told of it before its output, as an item may tell its call better."""
        script = codex_scripts.read(source)
        if script is not None and script.tool not in _READ_OF_SCRIPTS:
            return
        process = _process(script) if script else ""
        if self._polled in self._held and self._waits.get(process) != self._polled:
            yield from self._release(self._polled)
        call: Call = {}
        if script is None:
            if not codex_scripts.runs_something(source):
                return
        elif script.tool == "write_stdin":
            if process not in self._waits:
                return
        else:
            given = script.given if isinstance(script.given, dict) else {"input": script.given}
            call = calls.begun(script.tool, given, identifier)
            script = script if call["command"] or call["edits"] else None
        if self._has_items and (script is None or script.tool == "exec_command"):
            return
        self._scripts[identifier] = (script, call if script else {})
        if len(self._scripts) > _MOST_SCRIPTS:
            del self._scripts[next(iter(self._scripts))]

    def _end_script(self, identifier: str, output: Any) -> Iterator[Event]:
        blocks = [plain(one) for one in output] if isinstance(output, list) else [plain(output)]
        if cell := _CELL.match(blocks[0] if blocks else ""):
            self._cells[cell[1]] = identifier
            if len(self._cells) > _MOST_SCRIPTS:
                del self._cells[next(iter(self._cells))]
            return
        script, call = self._scripts.pop(identifier)
        if script is None:
            self._tally.miss("custom_tool_call/exec")
            return
        told = codex_scripts.result(script, blocks)
        if script.tool == "write_stdin":
            yield from self._polls(_process(script), told)
            return
        name = call["call"]
        calls.keep(self._calls, call)
        yield self._event("before", **call)
        if told.session:
            self._waits[told.session] = name
            self._print(name, told.output)
        else:
            yield from self._end_of_script(name, told, told.output)

    def _polls(self, process: str, told: Result) -> Iterator[Event]:
        """A script that waited for a command in the background: words alone do not tell whether that is over."""
        name = self._waits.get(process, "")
        if name not in self._calls:
            return
        printed = self._printed.pop(name, "") + told.output
        if told.code is not None or told.has_failed:
            del self._waits[process]
            yield from self._end_of_script(name, told, printed)
        elif told.session:
            self._held.pop(name, None)
            self._print(name, printed)
        else:
            self._polled = name
            self._print(name, printed)
            self._held[name] = (clipped(printed), "unknown", None)

    def _print(self, name: str, printed: str) -> None:
        self._printed[name] = clipped(printed)
        if len(self._printed) > _MOST_PROMPTS:
            del self._printed[next(iter(self._printed))]

    def _end_of_script(self, name: str, told: Result, output: str) -> Iterator[Event]:
        """The end of a call that a script made. What a command printed tells nothing of it, unlike the words of Codex."""
        is_patch = self._calls[name]["tool"] == "edit"
        ended: Ended = "unknown"
        if told.code is not None:
            ended = "failed" if told.code else "ok"
        elif told.has_failed or is_patch:
            ended, _ = ending(output, {"success": not told.has_failed} if is_patch else {})
        self._held[name] = (output, ended, told.code)
        yield from self._release(name)

    def _overtakes(self, call: Call, *, is_item: bool) -> str:
        """Take back the script whose call an item tells, as the item tells more; the id of one that is in the background, "" for none.
        Where no script is known to have made the call, it is of the first of those that are not understood."""
        for name in self._waits.values():
            if is_item and call["command"] and name in self._calls and self._calls[name]["command"] == call["command"]:
                return name
        several = [
            name for name, (_, own) in self._scripts.items() if own and own["tool"] == call["tool"]
        ]  # the one with the same command, or else the first: commands may be told in other words
        same = [name for name in several if self._scripts[name][1]["command"] == call["command"]]
        unread = [name for name, (script, _) in self._scripts.items() if script is None and is_item]
        for name in (same or several or unread)[:1]:
            del self._scripts[name]
        return ""

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
            is_of_script = word(payload, "call_id").startswith(_OF_SCRIPT) and not self._knows(payload)
            yield from self._whole_command(payload) if is_of_script else self._executed(payload)
        elif kind == "turn_aborted":
            yield from self._aborted()
        elif kind == "patch_apply_end":
            yield from self._patched(payload)
        elif kind not in _SILENT_NOTICES:
            self._tally.miss(f"event_msg/{kind}")

    def _completed(self, item: dict[str, Any]) -> Iterator[Event]:
        kind = word(item, "type")
        if kind == "UserMessage":
            yield from self._prompt(plain(item.get("content")))
        elif kind == "AgentMessage":
            yield from self._words(plain(item.get("content")))
        elif kind == "CommandExecution":
            yield from self._executed(item) if self._knows(item) else self._whole_command(item)
        elif kind == "FileChange":
            if not self._knows(item):
                yield from self._whole_change(item)
        elif kind not in _SILENT_ITEMS:
            self._tally.miss(f"item/{kind}")

    def _executed(self, told: dict[str, Any]) -> Iterator[Event]:
        """A command's end, in an item or a notice of its own: it may come before the output of its call, or after."""
        identifier, code = word(told, "call_id", "id"), whole_number(told.get("exit_code"))
        status = word(told, "status").lower()
        if status == "declined":
            ended: Ended = "denied"
        elif code is None:
            return
        else:
            ended = "failed" if code else "ok"
        if identifier in self._held:
            self._held[identifier] = (self._held[identifier][0], ended, code)
            yield from self._release(identifier)
        elif identifier in self._calls:
            self._codes[identifier] = (ended, code)

    def _knows(self, item: dict[str, Any]) -> bool:
        identifier = word(item, "call_id", "id")
        return identifier in self._calls or identifier in self._done

    def _whole_command(self, item: dict[str, Any]) -> Iterator[Event]:
        """A command that a script of the agent ran: nothing but this item tells of it."""
        code = whole_number(item.get("exit_code"))
        declined = word(item, "status").lower() == "declined"
        ended: Ended = "denied" if declined else "unknown" if code is None else "failed" if code else "ok"
        call = calls.begun("shell", {"command": item.get("command"), "cwd": item.get("cwd")}, word(item, "call_id", "id"))
        output = word(item, "aggregated_output", "stdout", "stderr")
        self._has_items = True
        if name := self._overtakes(call, is_item=True):
            self._held[name] = (output, ended, code)
            yield from self._release(name)
        else:
            yield from self._whole(call, ended, code, output)

    def _whole_change(self, item: dict[str, Any], *, is_item: bool = True) -> Iterator[Event]:
        status = word(item, "status").lower()
        ended: Ended = _STATUSES.get(status, "unknown")
        files = inner(item, "changes")
        told = tuple(edit for path in list(files)[:_MOST_FILES] for edit in changes(path, inner(files, path)))
        paths = tuple(dict.fromkeys(path for edit in told for path in (edit.path, edit.target) if path))
        call = {
            "tool": "edit", "tool_name": "apply_patch", "call": word(item, "call_id", "id"), "command": "", "edits": told, "paths": paths,
        }  # fmt: skip
        self._overtakes(call, is_item=is_item)
        yield from self._whole(call, ended, None, word(item, "stderr", "stdout"))

    def _whole(self, call: Call, ended: Ended, code: int | None, output: str) -> Iterator[Event]:
        self._done = {**dict.fromkeys(list(self._done)[-_MOST_PROMPTS:]), call["call"]: None}
        yield self._event("before", **call)
        yield self._event("after", ended=ended, exit_code=code, output=clipped(output), **call)

    def _aborted(self) -> Iterator[Event]:
        """The person stopped the turn: what was at work has no end of its own."""
        yield from self._release_all()
        for _, call in self._scripts.values():
            if call:
                calls.keep(self._calls, call)
                yield self._event("before", **call)
        self._scripts.clear()
        for identifier in list(self._calls):
            self._held[identifier] = ("", "interrupted", None)
            yield from self._release(identifier)

    def _patched(self, payload: dict[str, Any]) -> Iterator[Event]:
        identifier = word(payload, "call_id")
        if identifier and not self._knows(payload) and inner(payload, "changes"):  # a script of the agent did it
            status = word(payload, "status") or ("completed" if payload.get("success") is True else "failed")
            yield from self._whole_change({**payload, "status": status}, is_item=False)
        elif isinstance(payload.get("success"), bool) and identifier in self._calls and identifier not in self._held:
            self._codes[identifier] = ("ok" if payload["success"] else "failed", None)


def _process(script: Script) -> str:
    """The number of the process for which a script waits."""
    number = whole_number(inner({"given": script.given}, "given").get("session_id"))
    return "" if number is None else str(number)


def folder_of(text: str) -> str:
    """The folder that the context names which Codex gives the agent; the first form tells it nowhere else."""
    for begin, end in (("<cwd>", "</cwd>"), ("Current working directory: ", "\n")):
        _, mark, rest = text.partition(begin)
        if mark and text.startswith("<environment_context>"):
            return rest.partition(end)[0].strip()[:4096]
    return ""
