"""Calls of tools as Codex tells them, from their begin to whatever tells their end.

A command's exit code may be told by the item of the call, by the words of its output, or by the output of a later call that waited
for it. So the end of a call is held back until something tells it, and told as unknown at the latest when the file ends. Where agents
call tools by scripts, some versions tell each call by an item, and some by nothing but the script: of a script nothing is told before
its output.
"""

from __future__ import annotations

import re

from hardwon.importers.transcripts import calls, codex_scripts
from hardwon.importers.transcripts.codex_output import LONGEST_HEAD, body, changes, ending, is_over, taken_apart
from hardwon.importers.transcripts.records import clipped, inner, parsed, plain, whole_number, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Ended, Moment
    from hardwon.importers.transcripts.calls import Call
    from hardwon.importers.transcripts.codex_scripts import Result, Script
    from hardwon.importers.transcripts.records import Tally

    Told = tuple[Moment, dict[str, Any]]  # what an event says of a call: its moment, and the fields that the call gives it

_CELL = re.compile(r"^Script running with cell ID (\d{1,12})\b")
_RUNNING = re.compile(r"^Process running with session ID (\d{1,12})\b", re.MULTILINE)
_STATUSES: dict[str, Ended] = {"completed": "ok", "declined": "denied", "failed": "failed"}
_MOST_ENDED = 64  # calls that are remembered after their end, as an item of theirs may follow
_MOST_FILES = 200  # of one change
_OF_SCRIPT = "exec-"  # begins the ids of calls that a script made
_READ_OF_SCRIPTS = frozenset(("exec_command", "write_stdin", "apply_patch"))
_MOST_SCRIPTS = 500  # without an end


class Calls:
    """The calls of one file. Each method takes what one record says, and tells what is known by it."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._calls: dict[str, Call] = {}
        self._held: dict[str, tuple[str, Ended, int | None]] = {}  # ends of which the exit code is not known yet
        self._waits: dict[str, str] = {}  # commands that go on in the background, by the number of their process
        self._waiting: dict[str, str] = {}  # calls that wait for one of those
        self._codes: dict[str, tuple[Ended, int | None]] = {}  # ends that were told before the output
        self._done: dict[str, None] = {}  # calls that ended lately: an item of theirs may follow
        self._scripts: dict[str, tuple[Script | None, Call]] = {}  # that nothing has told yet but themselves
        self._several: dict[str, tuple[Script, ...]] = {}  # the commands of those that run several at once
        self._cells: dict[str, str] = {}  # scripts that go on, by the number by which a later call waits for them
        self._printed: dict[str, str] = {}  # what commands in the background printed so far
        self._polled = ""  # the command in the background of which a script has shown no more than words
        self._has_items = False  # for commands: then no script has to tell of its own

    def begin(self, item: dict[str, Any], kind: str) -> Iterator[Told]:
        """An item that begins a call."""
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
            cell = self._cells.pop(str(given["cell_id"]))
            script = self._scripts.pop(cell, None)
            if script is not None:
                self._scripts[identifier] = script
                if cell in self._several:
                    self._several[identifier] = self._several.pop(cell)
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
        yield "before", call

    def output(self, identifier: str, output: Any) -> Iterator[Told]:
        """What a call printed, which may be its end."""
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
        if ended != "unknown" or is_over(text) or self._calls[identifier]["tool"] != "shell":
            yield from self._release(identifier)

    def _release(self, identifier: str) -> Iterator[Told]:
        text, ended, code = self._held.pop(identifier)
        call = self._calls.pop(identifier, None)
        self._codes.pop(identifier, None)
        self._printed.pop(identifier, None)
        self._done = {**dict.fromkeys(list(self._done)[-_MOST_ENDED:]), identifier: None}
        if call is not None:
            yield "after", {"ended": ended, "exit_code": code, "output": clipped(text), **call}

    def rest(self) -> Iterator[Told]:
        """The ends that were held back."""
        for identifier in list(self._held):
            yield from self._release(identifier)

    # --- scripts

    def _begin_script(self, source: str, identifier: str) -> Iterator[Told]:
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
        if script is None and (several := codex_scripts.read_several(source)):
            self._several[identifier] = several
        for kept in (self._scripts, self._several):
            if len(kept) > _MOST_SCRIPTS:
                del kept[next(iter(kept))]

    def _end_script(self, identifier: str, output: Any) -> Iterator[Told]:
        blocks = [plain(one) for one in output] if isinstance(output, list) else [plain(output)]
        if cell := _CELL.match(blocks[0] if blocks else ""):
            self._cells[cell[1]] = identifier
            if len(self._cells) > _MOST_SCRIPTS:
                del self._cells[next(iter(self._cells))]
            return
        script, call = self._scripts.pop(identifier)
        several = self._several.pop(identifier, ())
        if script is None:
            told_of = codex_scripts.results(several, blocks) if several else []
            if not told_of:
                self._tally.miss("custom_tool_call/exec")
            for number, (one, told) in enumerate(zip(several, told_of, strict=False)):
                given = one.given if isinstance(one.given, dict) else {"input": one.given}
                yield from self._of_script(calls.begun(one.tool, given, f"{identifier}-{number}"), told)
            return
        told = codex_scripts.result(script, blocks)
        if script.tool == "write_stdin":
            yield from self._polls(_process(script), told)
            return
        yield from self._of_script(call, told)

    def _of_script(self, call: Call, told: Result) -> Iterator[Told]:
        name = call["call"]
        calls.keep(self._calls, call)
        yield "before", call
        if told.session:
            self._waits[told.session] = name
            self._print(name, told.output)
        else:
            yield from self._end_of_script(name, told, told.output)

    def _polls(self, process: str, told: Result) -> Iterator[Told]:
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
        if len(self._printed) > _MOST_ENDED:
            del self._printed[next(iter(self._printed))]

    def _end_of_script(self, name: str, told: Result, output: str) -> Iterator[Told]:
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

    # --- ends that stand in a record of their own

    def executed(self, told: dict[str, Any], *, is_item: bool) -> Iterator[Told]:
        """A command's end, in an item or a notice of its own: it may come before the output of its call, or after. Of what a script ran
        nothing else tells."""
        of_script = is_item or word(told, "call_id").startswith(_OF_SCRIPT)
        yield from self._whole_command(told) if of_script and not self._knows(told) else self._ended(told)

    def _ended(self, told: dict[str, Any]) -> Iterator[Told]:
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

    def _whole_command(self, item: dict[str, Any]) -> Iterator[Told]:
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

    def changed(self, item: dict[str, Any]) -> Iterator[Told]:
        """A change of files in an item of its own, which a script of the agent made, or one of its call told before."""
        if not self._knows(item):
            yield from self._whole_change(item, is_item=True)

    def _whole_change(self, item: dict[str, Any], *, is_item: bool) -> Iterator[Told]:
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

    def _whole(self, call: Call, ended: Ended, code: int | None, output: str) -> Iterator[Told]:
        self._done = {**dict.fromkeys(list(self._done)[-_MOST_ENDED:]), call["call"]: None}
        yield "before", call
        yield "after", {"ended": ended, "exit_code": code, "output": clipped(output), **call}

    def aborted(self) -> Iterator[Told]:
        """The person stopped the turn: what was at work has no end of its own."""
        yield from self.rest()
        for _, call in self._scripts.values():
            if call:
                calls.keep(self._calls, call)
                yield "before", call
        self._scripts.clear()
        for identifier in list(self._calls):
            self._held[identifier] = ("", "interrupted", None)
            yield from self._release(identifier)

    def patched(self, payload: dict[str, Any]) -> Iterator[Told]:
        """A notice that a patch was applied, or was not."""
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
