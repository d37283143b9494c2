"""Transcripts as the clients write them, out of one script: what was said, run and edited. The shapes are those of tests/transcripts."""

from __future__ import annotations

import json
import os
import uuid
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FORMS = (
    "claude-code", "codex", "codex-envelope", "codex-scripts", "codex-first", "gemini", "gemini-json", "opencode", "opencode-json",
    "transcript",
)  # fmt: skip
START = datetime(2026, 5, 4, 10, 0, tzinfo=timezone.utc)  # noqa: UP017


class Step:
    """One step of a session. ``kind``: prompt, said, shell, edit, write, tool (of that name), hook (its words), denied (a command)."""

    def __init__(
        self, kind: str, text: str = "", *, output: str = "", code: int = 0, path: str = "", old: str = "", name: str = ""
    ) -> None:
        self.kind, self.text, self.output, self.code, self.path, self.old, self.name = kind, text, output, code, path, old, name


def prompt(text: str) -> Step:
    return Step("prompt", text)


def said(text: str) -> Step:
    return Step("said", text)


def shell(command: str, output: str = "", code: int = 0) -> Step:
    return Step("shell", command, output=output, code=code)


def edit(path: str, old: str, new: str) -> Step:
    return Step("edit", new, path=path, old=old)


def write(path: str, content: str) -> Step:
    return Step("write", content, path=path)


def tool(name: str, text: str, output: str = "") -> Step:
    return Step("tool", text, output=output, name=name)


def hook(text: str) -> Step:
    return Step("hook", text)


def client_of(form: str) -> str:
    """The client that a form is of."""
    return form if form in ("claude-code", "opencode", "transcript") else form.partition("-")[0]


class Maker:
    """Writes sessions below a home folder, where their client would keep them."""

    def __init__(self, home: Path, cwd: Path | str, branch: str = "main") -> None:
        self.home, self.cwd, self.branch = home, str(cwd), branch
        self._at = START
        self._ids = 0

    def write(
        self, form: str, steps: Sequence[Step], session: str = "", *, agent: str = "", start: datetime | None = None
    ) -> Path:
        """The file of a session, of the main agent or of a subagent."""
        self._at = start or START
        self._ids = 0
        session = session or str(uuid.uuid5(uuid.NAMESPACE_URL, f"{form} {self.cwd} {len(steps)}"))
        return getattr(self, "_" + form.replace("-", "_"))(steps, session, agent)

    def _tick(self) -> str:
        self._at += timedelta(seconds=2)
        return self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _millis(self) -> int:
        self._tick()
        return int(self._at.timestamp() * 1000)

    def _id(self, head: str = "") -> str:
        self._ids += 1
        return f"{head}{self._ids:04d}"

    def _lines(self, path: Path, records: Iterable[dict[str, Any]]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records))
        return path

    def _random(self) -> str:
        """An id as the makers of models make them: it looks like a secret."""
        letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        number = int.from_bytes(sha256(f"{self._at} {self._id()}".encode()).digest(), "big")
        return "".join(letters[number >> (6 * place) & 63 if number >> (6 * place) & 63 < 62 else place] for place in range(22))

    # --- Claude Code

    def _claude_code(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        folder = self.home / ".claude" / "projects" / "".join(c if c.isascii() and c.isalnum() else "-" for c in self.cwd)
        path = folder / session / "subagents" / f"agent-{agent}.jsonl" if agent else folder / f"{session}.jsonl"
        return self._lines(path, self.claude_records(steps, session, agent))

    def claude_records(
        self, steps: Sequence[Step], session: str, agent: str = "", parent: str | None = None
    ) -> list[dict[str, Any]]:
        """Records, each a child of the one before."""
        found: list[dict[str, Any]] = []

        def add(kind: str, **fields: Any) -> str:
            nonlocal parent
            identifier = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}{agent}{self._id()}"))
            common = {
                "parentUuid": parent, "isSidechain": bool(agent), "userType": "external", "cwd": self.cwd, "sessionId": session,
                "version": "2.1.332", "gitBranch": self.branch, "type": kind, "uuid": identifier, "timestamp": self._tick(),
            }  # fmt: skip
            found.append(common | ({"agentId": agent} if agent else {}) | fields)
            parent = identifier
            return identifier

        def call(name: str, given: dict[str, Any], output: str, result: Any, *, error: bool = False) -> None:
            identifier = "toolu_01" + self._random()
            block = {"type": "tool_use", "id": identifier, "name": name, "input": given}
            add("assistant", message={"id": "msg", "role": "assistant", "model": "claude-sonnet", "content": [block]})
            told = {"type": "tool_result", "tool_use_id": identifier, "content": output, "is_error": error}
            add("user", message={"role": "user", "content": [told]}, toolUseResult=result)

        for step in steps:
            if step.kind == "prompt":
                add("user", message={"role": "user", "content": step.text})
            elif step.kind == "said":
                text = {"type": "text", "text": step.text}
                add("assistant", message={"id": "msg", "role": "assistant", "model": "claude-sonnet", "content": [text]})
            elif step.kind == "hook":
                add(
                    "attachment",
                    attachment={"type": "hook_additional_context", "content": [step.text], "hookEvent": "UserPromptSubmit"},
                )
            elif step.kind == "shell" and step.code:
                output = f"Exit code {step.code}\n{step.output}"
                call("Bash", {"command": step.text}, output, f"Error: {output}", error=True)
            elif step.kind == "shell":
                call("Bash", {"command": step.text}, step.output, {"stdout": step.output, "stderr": "", "interrupted": False})
            elif step.kind == "denied":
                call("Bash", {"command": step.text}, "The user doesn't want to proceed with this tool use. The tool use was rejected.",
                     "User rejected tool use", error=True)  # fmt: skip
            elif step.kind == "edit":
                given = {"file_path": step.path, "old_string": step.old, "new_string": step.text}
                call("Edit", given, f"The file {step.path} has been updated.", {"filePath": step.path})
            elif step.kind == "write":
                call(
                    "Write",
                    {"file_path": step.path, "content": step.text},
                    "File created",
                    {"type": "create", "filePath": step.path},
                )
            else:
                call(step.name, {"query": step.text}, step.output, {})
        return found

    # --- Codex

    def _codex_path(self, session: str, agent: str) -> Path:
        day = self._at.strftime("%Y/%m/%d")
        return self.home / ".codex" / "sessions" / day / f"rollout-{self._at:%Y-%m-%dT%H-%M-%S}-{agent or session}.jsonl"

    def _codex(self, steps: Sequence[Step], session: str, agent: str, *, ordinal: bool = True, scripts: bool = False) -> Path:
        path = self._codex_path(session, agent)
        found: list[dict[str, Any]] = []

        def add(kind: str, payload: dict[str, Any]) -> None:
            found.append(
                {"timestamp": self._tick(), **({"ordinal": len(found)} if ordinal else {}), "type": kind, "payload": payload}
            )

        def item(**fields: Any) -> None:
            add("event_msg", {"type": "item_completed", "item": fields})

        meta: dict[str, Any] = {
            "id": agent or session, "timestamp": self._tick(), "cwd": self.cwd, "cli_version": "0.171.0", "source": "cli",
            "git": {"commit_hash": "0" * 40, "branch": self.branch},
        }  # fmt: skip
        if ordinal:
            meta["session_id"] = session
        if agent:
            meta |= {
                "parent_thread_id": session,
                "source": {"subagent": {"thread_spawn": {"parent_thread_id": session, "depth": 1}}},
            }
        add("session_meta", meta)
        add("turn_context", {"cwd": self.cwd, "model": "gpt-6"})
        context = f"<environment_context>\n  <cwd>{self.cwd}</cwd>\n</environment_context>"
        add("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": context}]})
        for step in steps:
            if step.kind == "prompt":
                add("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": step.text}]})
                if ordinal:
                    item(type="UserMessage", id=self._id(), content=[{"type": "text", "text": step.text}])
                else:
                    add("event_msg", {"type": "user_message", "message": step.text, "images": []})
            elif step.kind == "said":
                if ordinal:
                    item(type="AgentMessage", id=self._id(), content=[{"type": "Text", "text": step.text}])
                else:
                    add("event_msg", {"type": "agent_message", "message": step.text})
                add(
                    "response_item",
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": step.text}]},
                )
            elif step.kind == "hook":
                text = [{"type": "input_text", "text": step.text}]
                kinds = {"content_item_kinds": ["hooks.additional_context"]}
                add(
                    "response_item",
                    {
                        "type": "message",
                        "role": "developer",
                        "content": text,
                        "internal_chat_message_metadata_passthrough": kinds,
                    },
                )
            else:
                if scripts and step.kind != "tool":
                    self._codex_script(step, add)
                else:
                    self._codex_call(step, add, item, ordinal=ordinal)
        return self._lines(path, found)

    def _codex_call(self, step: Step, add: Any, item: Any, *, ordinal: bool) -> None:
        identifier = "call_" + self._random()
        if step.kind in ("edit", "write"):
            patch = patch_of(step)
            add(
                "response_item",
                {"type": "custom_tool_call", "call_id": identifier, "name": "apply_patch", "input": patch, "status": "completed"},
            )
            output = f"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM {step.path}\n"
            add("response_item", {"type": "custom_tool_call_output", "call_id": identifier, "output": output})
            return
        if step.kind == "tool":
            add(
                "response_item",
                {
                    "type": "function_call",
                    "name": step.name,
                    "arguments": json.dumps({"query": step.text}),
                    "call_id": identifier,
                },
            )
            add("response_item", {"type": "function_call_output", "call_id": identifier, "output": step.output})
            return
        name = "exec_command" if ordinal else "shell"
        given: dict[str, Any] = {"cmd": step.text} if ordinal else {"command": ["bash", "-lc", step.text]}
        add("response_item", {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": identifier})
        if step.kind == "denied":
            add(
                "response_item",
                {"type": "function_call_output", "call_id": identifier, "output": "exec command rejected by user"},
            )
        elif ordinal:
            status = "failed" if step.code else "completed"
            item(type="CommandExecution", id=identifier, command=["/bin/bash", "-lc", step.text], status=status,
                 aggregated_output=step.output, exit_code=step.code)  # fmt: skip
            head = f"Chunk ID: 01f836\nWall time: 1.2 seconds\nProcess exited with code {step.code}\nOriginal token count: 9"
            output = f"{head}\nOutput:\n{step.output}"
            add("response_item", {"type": "function_call_output", "call_id": identifier, "output": output})
        else:
            told = json.dumps({"output": step.output, "metadata": {"exit_code": step.code, "duration_seconds": 0.5}})
            add("response_item", {"type": "function_call_output", "call_id": identifier, "output": told})

    def _codex_script(self, step: Step, add: Any) -> None:
        """A call by a script, as versions make it that have no item for it."""
        given, identifier = json.dumps(step.text), "call_" + self._random()
        source = f"const done = await tools.exec_command({{cmd: {given}, yield_time_ms: 1000}});\ntext(JSON.stringify(done));\n"
        printed = json.dumps({"chunk_id": "0a1b2c", "wall_time_seconds": 0.5, "exit_code": step.code, "output": step.output})
        head = "Script completed"
        if step.kind in ("edit", "write"):
            source, printed = f"const change = {json.dumps(patch_of(step))};\ntext(await tools.apply_patch(change));\n", "{}"
        elif step.kind == "denied":
            head, printed = "Script failed", "Script error:\nexec_command failed: rejected by user"
        add("response_item", {"type": "custom_tool_call", "call_id": identifier, "name": "exec", "input": source})
        blocks = [
            {"type": "input_text", "text": f"{head}\nWall time 0.5 seconds\nOutput:\n"},
            {"type": "input_text", "text": printed},
        ]
        add("response_item", {"type": "custom_tool_call_output", "call_id": identifier, "output": blocks})

    def _codex_envelope(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        return self._codex(steps, session, agent, ordinal=False)

    def _codex_scripts(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        return self._codex(steps, session, agent, ordinal=False, scripts=True)

    def _codex_first(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        path = self._codex(steps, session, agent, ordinal=False)
        bare: list[dict[str, Any]] = [
            {"id": session, "timestamp": self._tick(), "instructions": None, "git": {"branch": self.branch}}
        ]
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if record["type"] == "response_item" and record["payload"].get("role") != "developer":
                bare += [record["payload"], {"record_type": "state"}]
        return self._lines(path, bare)

    # --- Gemini CLI

    def _gemini_messages(self, steps: Sequence[Step]) -> Iterable[dict[str, Any]]:
        for step in steps:
            if step.kind in ("prompt", "hook"):
                text = step.text if step.kind == "prompt" else f"<hook_context>{step.text}</hook_context>"
                yield {"id": str(uuid.uuid4()), "timestamp": self._tick(), "type": "user", "content": [{"text": text}]}
                continue
            message: dict[str, Any] = {
                "id": str(uuid.uuid4()),
                "timestamp": self._tick(),
                "type": "gemini",
                "content": "",
                "model": "gemini-2.5",
            }
            if step.kind == "said":
                yield message | {"content": step.text}
                continue
            yield message
            name, given, output, status = self._gemini_call(step)
            identifier = f"{name}__{self._id()}"
            response = [{"functionResponse": {"id": identifier, "name": name, "response": {"output": output}}}]
            call = {
                "id": identifier,
                "name": name,
                "args": given,
                "result": response,
                "status": status,
                "timestamp": self._tick(),
            }
            yield message | {"toolCalls": [call]}

    def _gemini_call(self, step: Step) -> tuple[str, dict[str, Any], str, str]:
        if step.kind == "edit":
            return (
                "replace",
                {"file_path": step.path, "old_string": step.old, "new_string": step.text},
                "Successfully modified",
                "success",
            )
        if step.kind == "write":
            return "write_file", {"file_path": step.path, "content": step.text}, "Successfully created", "success"
        if step.kind == "tool":
            return step.name.replace("mcp__", "mcp_").replace("__", "_"), {"query": step.text}, step.output, "success"
        if step.kind == "denied":
            return "run_shell_command", {"command": step.text}, "", "cancelled"
        code = f"\nExit Code: {step.code}" if step.code else ""
        output = f"<untrusted_context>\nOutput: {step.output}{code}\nProcess Group PGID: 28862\n</untrusted_context>"
        return "run_shell_command", {"command": step.text}, output, "success"

    def _gemini_head(self, session: str, agent: str) -> dict[str, Any]:
        root = self.home / ".gemini"
        root.mkdir(parents=True, exist_ok=True)
        (root / "projects.json").write_text(json.dumps({"projects": {self.cwd: "shop"}}))
        kind = "subagent" if agent else "main"
        at = self._tick()
        return {"sessionId": agent or session, "projectHash": "0" * 64, "startTime": at, "lastUpdated": at, "kind": kind}

    def _gemini(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        chats = self.home / ".gemini" / "tmp" / "shop" / "chats"
        path = chats / session / f"{agent}.jsonl" if agent else chats / f"session-2026-05-04T10-00-{session[:8]}.jsonl"
        head = self._gemini_head(session, agent)
        setting = {
            "$set": {
                "messages": [
                    {"id": "c", "timestamp": self._tick(), "type": "user", "content": [{"text": "<session_context>\nThis"}]}
                ]
            }
        }
        records: list[dict[str, Any]] = [head, setting]
        for message in self._gemini_messages(steps):
            records += [message, {"$set": {"lastUpdated": message["timestamp"]}}]
        return self._lines(path, records)

    def _gemini_json(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        path = self.home / ".gemini" / "tmp" / "shop" / "chats" / f"session-2026-05-04T10-00-{session[:8]}.json"
        head = self._gemini_head(session, agent)
        last = {message["id"]: message for message in self._gemini_messages(steps)}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(head | {"messages": list(last.values())}, indent=2))
        return path

    # --- OpenCode

    def _opencode_rows(self, steps: Sequence[Step]) -> Iterable[tuple[str, int, dict[str, Any], list[dict[str, Any]]]]:
        for step in steps:
            identifier = self._id("msg_")
            at = self._millis()
            if step.kind in ("prompt", "hook"):
                text = {"id": self._id("prt_"), "type": "text", "text": step.text, "synthetic": step.kind == "hook"}
                yield identifier, at, {"role": "user", "time": {"created": at}, "model": {"modelID": "m"}}, [text]
                continue
            data = {"role": "assistant", "time": {"created": at}, "modelID": "m", "path": {"cwd": self.cwd, "root": self.cwd}}
            parts: list[dict[str, Any]] = [{"id": self._id("prt_"), "type": "step-start", "snapshot": "0" * 40}]
            if step.kind == "said":
                parts.append({"id": self._id("prt_"), "type": "text", "text": step.text})
            else:
                parts.append({"id": self._id("prt_"), "type": "tool", "callID": self._id("call_"), **self._opencode_tool(step)})
            yield identifier, at, data, parts

    def _opencode_tool(self, step: Step) -> dict[str, Any]:
        times = {"start": self._millis(), "end": self._millis()}
        state: dict[str, Any] = {"status": "completed", "output": step.output, "title": "", "metadata": {}, "time": times}
        if step.kind in ("shell", "denied"):
            state |= {
                "input": {"command": step.text, "description": "Run it"},
                "metadata": {"exit": step.code, "output": step.output},
            }
            if step.kind == "denied":
                error = "The user rejected permission to use this specific tool call."
                state = {"status": "error", "input": {"command": step.text}, "error": error, "time": times}
            return {"tool": "bash", "state": state}
        if step.kind == "edit":
            return {
                "tool": "edit",
                "state": state | {"input": {"filePath": step.path, "oldString": step.old, "newString": step.text}},
            }
        if step.kind == "write":
            return {"tool": "write", "state": state | {"input": {"filePath": step.path, "content": step.text}}}
        return {"tool": step.name.replace("mcp__", "").replace("__", "_"), "state": state | {"input": {"query": step.text}}}

    def _opencode(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        path = self.home / ".local" / "share" / "opencode" / "opencode.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        db = apsw.Connection(str(path))
        db.pragma("journal_mode", "wal")
        db.execute(OPENCODE_TABLES)
        name = agent or session
        with db:
            db.execute("DELETE FROM part WHERE session_id = ?", (name,))
            db.execute("DELETE FROM message WHERE session_id = ?", (name,))
            last = 0
            for identifier, at, data, parts in self._opencode_rows(steps):
                own = f"{identifier}{name}"
                last = at
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (own, name, at, at, json.dumps(data)))
                for part in parts:
                    row = (part["id"] + name, own, name, at, at, json.dumps({k: v for k, v in part.items() if k != "id"}))
                    db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
            row = (
                name,
                "0" * 40,
                session if agent else None,
                "slug",
                self.cwd,
                "A session",
                "1.18.33",
                int(START.timestamp() * 1000),
                last,
            )
            names = "id, project_id, parent_id, slug, directory, title, version, time_created, time_updated"
            db.execute(f"INSERT OR REPLACE INTO session ({names}) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)  # fmt: skip
        db.close()
        return path

    def _opencode_json(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        storage = self.home / ".local" / "share" / "opencode" / "storage"
        name = agent or session

        def put(value: dict[str, Any], *place: str) -> None:
            path = storage.joinpath(*place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))

        last = 0
        for identifier, at, data, parts in self._opencode_rows(steps):
            own, last = f"{identifier}{name}", at
            put(data | {"id": own, "sessionID": name}, "message", name, f"{own}.json")
            for part in parts:
                put(part | {"messageID": own, "sessionID": name}, "part", own, f"{part['id']}.json")
        told = {
            "id": name,
            "version": "0.9",
            "projectID": "0" * 40,
            "directory": self.cwd,
            "title": "A session",
            "time": {"created": 1, "updated": last},
        }
        put(told | ({"parentID": session} if agent else {}), "session", "0" * 40, f"{name}.json")
        return storage

    # --- anything else

    def _transcript(self, steps: Sequence[Step], session: str, agent: str) -> Path:
        records: list[dict[str, Any]] = []
        for step in steps:
            common = {"timestamp": self._tick(), "session": session, "cwd": self.cwd}
            if step.kind in ("prompt", "said"):
                records.append(common | {"role": "user" if step.kind == "prompt" else "assistant", "content": step.text})
            elif step.kind == "hook":
                records.append(common | {"role": "system", "content": step.text})
            else:
                identifier = self._id("call_")
                name, given = {
                    "edit": ("edit", {"file_path": step.path, "old_string": step.old, "new_string": step.text}),
                    "write": ("write", {"file_path": step.path, "content": step.text}),
                    "tool": (step.name, {"query": step.text}),
                }.get(step.kind, ("bash", {"command": step.text}))
                function = {"name": name, "arguments": json.dumps(given)}
                records.append(
                    common | {"role": "assistant", "content": None, "tool_calls": [{"id": identifier, "function": function}]}
                )
                told = {"exit_code": step.code} if step.kind == "shell" else {"is_error": step.kind == "denied"}
                records.append(common | {"role": "tool", "tool_call_id": identifier, "content": step.output, **told})
        return self._lines(self.home / "notes" / f"{session}.jsonl", records)


def patch_of(step: Step) -> str:
    """An edit as a patch of Codex."""
    if step.kind == "write":
        body = "\n".join(f"+{line}" for line in step.text.split("\n"))
        return f"*** Begin Patch\n*** Add File: {step.path}\n{body}\n*** End Patch"
    lines = [f"-{line}" for line in step.old.split("\n")] + [f"+{line}" for line in step.text.split("\n")]
    return f"*** Begin Patch\n*** Update File: {step.path}\n@@\n" + "\n".join(lines) + "\n*** End Patch"


def fix(cwd: Path | str) -> list[Step]:
    """A session that teaches one lesson: a test fails, an edit mends it."""
    red = (
        "F                                                     [100%]\n=================================== FAILURES ============\n"
        "__________________________________ test_total ____________\n\n    def test_total():\n>       assert total([1, 2]) == 4\n"
        "E       assert 3 == 4\nE        +  where 3 = total([1, 2])\n\ntest_shop.py:5: AssertionError\n"
        "=========================== short test summary info ======\nFAILED test_shop.py::test_total - assert 3 == 4\n1 failed in 0.33s\n"
    )
    path = os.path.join(str(cwd), "shop.py")
    return [
        prompt("Make the test of the total pass, please."),
        said("I run the tests first."),
        shell("python3 -m pytest -q", red, 1),
        edit(path, "def total(cart):\n    return sum(cart)", "def total(cart):\n    return sum(cart) + 1"),
        shell("python3 -m pytest -q", ".                           [100%]\n1 passed in 0.16s\n"),
        said("The total is right now."),
    ]


OPENCODE_TABLES = """
CREATE TABLE IF NOT EXISTS session (
    id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL, title text NOT NULL,
    version text NOT NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE IF NOT EXISTS message (
    id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE TABLE IF NOT EXISTS part (
    id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL
);
CREATE INDEX IF NOT EXISTS part_message_id_id_idx ON part (message_id, id);
"""
