"""Two ways to talk to the MCP door: inside this process, and to a server of its own. ``python -m tests.mcptalk`` prints the tools anew."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hardwon import settings
from hardwon.doors import mcp_protocol as protocol
from hardwon.doors.mcp_methods import Methods
from hardwon.doors.tools import TOOLS, described

OLD, NEW = "2025-11-25", "2026-07-28"
SNAPSHOT = Path(__file__).parent / "mcp_tools.json"
_META = "io.modelcontextprotocol/"


def request(
    identifier: Any, method: str, params: dict[str, Any] | None = None, era: str = OLD, client: str = "tester"
) -> dict[str, Any]:
    """A request as a client of that era sends it."""
    sent = dict(params or {})
    if era == NEW:
        info = {"name": client, "version": "1"}
        sent["_meta"] = {f"{_META}protocolVersion": NEW, f"{_META}clientCapabilities": {}, f"{_META}clientInfo": info}
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": sent}


def hello(version: str = OLD, client: str = "tester") -> dict[str, Any]:
    """What a client of the old era begins with."""
    info = {"name": client, "version": "1"}
    return request(0, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": info})


class Talk:
    """A connection in this process. What nobody foresaw is raised here, not told."""

    def __init__(self, folder: Path | str, era: str = OLD, client: str = "tester", project: str = "") -> None:
        self.era, self.client, self.count = era, client, 0
        self.faults: list[BaseException] = []
        self.connection = protocol.Connection(Methods(settings.load(), str(folder), project).service(), self.faults.append)
        if era != NEW:
            self.connection.answers(hello(era, client))

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer, as a client reads it."""
        self.count += 1
        answer = self.connection.answers(request(self.count, method, params, self.era, self.client))
        if self.faults:
            raise self.faults[0]
        read: dict[str, Any] = json.loads(protocol.write(answer))
        assert read["id"] == self.count
        return read

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result."""
        found: dict[str, Any] = self.send(method, **params)["result"]
        return found

    def refused(self, method: str, **params: Any) -> dict[str, Any]:
        """The protocol's error."""
        found: dict[str, Any] = self.send(method, **params)["error"]
        return found

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """What a tool did, as structured content; it has to have worked."""
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert not result["isError"], result["content"]
        found: dict[str, Any] = result["structuredContent"]
        return found

    def wrong(self, name: str, **arguments: Any) -> str:
        """What a tool says that could not do it."""
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert result["isError"], result
        assert "structuredContent" not in result
        text: str = result["content"][0]["text"]
        return text


class Server:
    """A process of its own, spoken to in lines."""

    def __init__(self, folder: Path | str, *words: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hardwon", *words, "mcp"], cwd=folder, env={**os.environ, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        )  # fmt: skip
        self._held = b""

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: Any) -> None:
        """Lines, in one write; bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(
            b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages)
        )

    def read(self, patience: float = 60.0) -> Any:
        """The next line; AssertionError where none comes."""
        assert self.process.stdout
        ends = time.monotonic() + patience
        while b"\n" not in self._held:
            ready = select.select([self.process.stdout], [], [], max(0.0, ends - time.monotonic()))[0]
            piece = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            assert piece, "no answer"
            self._held += piece
        line, _, self._held = self._held.partition(b"\n")
        return json.loads(line)

    def ask(self, message: Any) -> Any:
        """One message, one answer."""
        self.send(message)
        return self.read()

    def tool(self, name: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.ask(request(name, "tools/call", {"name": name, "arguments": arguments}))["result"]

    def end(self, patience: float = 60.0) -> tuple[int, bytes, bytes]:
        """Close its input; exit code, and what it still says."""
        out, err = self.process.communicate(timeout=patience)
        return self.process.returncode, self._held + out, err


if __name__ == "__main__":
    print(json.dumps([described(tool) for tool in TOOLS], indent=1, ensure_ascii=False))
