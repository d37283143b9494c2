"""What the MCP door costs: from its start to the list of tools, against a bare interpreter, and each call of a tool.

Starts are made in turns with ``python -c pass`` of the same environment and counted in CPU time, user and system: a client shows an agent
no tools before the list is there. Calls are made one after the other in one process; nothing is kept open between them, so that each
pays for opening the memory anew. ``--sdk`` adds a server made with the official package, whose only tool does nothing, started in the
same turns.

Examples::

    python bench/mcp_server.py --memories 2000 --rounds 10
    python bench/mcp_server.py --memories 20000 --rounds 30 --json mcp.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import filler
from common import median, percentile, report, say, table, write_json
from hardwon.doors.tool_answers import MOST, tokens
from speed import Bench, fill

_OLD, _NEW = "2025-11-25", "2026-07-28"
_META = {"io.modelcontextprotocol/protocolVersion": _NEW, "io.modelcontextprotocol/clientCapabilities": {}}
_HELLO: dict[str, Any] = {"protocolVersion": _OLD, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_CLIENTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    _OLD: [("initialize", _HELLO), ("tools/list", {})],
    _NEW: [("server/discover", {"_meta": _META}), ("tools/list", {"_meta": _META})],
}
_SDK = """
from mcp.server import MCPServer
server = MCPServer("bench")
@server.tool()
def nothing(text: str) -> str:
    return ""
server.run("stdio")
"""


class Server:
    """A server that is spoken to in lines; ``command`` starts it."""

    def __init__(self, command: list[str], bench: Bench) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=bench.work,
            env=bench.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._count = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The answer to a request."""
        assert self._process.stdin and self._process.stdout
        self._count += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def cpu(self) -> float:
        """CPU seconds so far, to 10 ms (the system's clock); 0 where the system does not tell."""
        try:
            with open(f"/proc/{self._process.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> float:
        """CPU seconds of its whole life."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        _, _, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = 0
        return usage.ru_utime + usage.ru_stime


def start(command: list[str], bench: Bench, client: str) -> tuple[float, float]:
    """CPU seconds of a server that is asked for its tools and ends; and the wall seconds until it has told them."""
    begun = time.perf_counter()
    server = Server(command, bench)
    for method, params in _CLIENTS[client]:
        server.ask(method, params)
    wall = time.perf_counter() - begun
    return server.end(), wall


def starts(bench: Bench, rounds: int, sdk: bool) -> dict[str, dict[str, float]]:
    """Figures of each kind of start, by turns."""
    own, bare = [bench.command, "mcp"], [sys.executable, "-c", "pass"]
    cpu: dict[str, list[float]] = {}
    wall: dict[str, list[float]] = {}
    for _ in range(rounds):
        cpu.setdefault("bare interpreter", []).append(Server(bare, bench).end())
        for client in _CLIENTS:
            one, until = start(own, bench, client)
            cpu.setdefault(f"hardwon mcp, {client}", []).append(one)
            wall.setdefault(f"hardwon mcp, {client}", []).append(until)
        if sdk:
            one, until = start([sys.executable, "-c", _SDK], bench, _OLD)
            cpu.setdefault("official package", []).append(one)
            wall.setdefault("official package", []).append(until)
    base = median(cpu["bare interpreter"])
    return {
        name: {
            "cpu_ms": round(1000 * median(values), 1), "times_bare": round(median(values) / base, 2),
            "wall_ms": round(1000 * median(wall.get(name, [])), 1),
        }
        for name, values in cpu.items()
    }  # fmt: skip


def calls(bench: Bench, texts: list[str], places: list[tuple[str, str]]) -> dict[str, dict[str, float]]:
    """Figures of each tool, on one server."""
    server = Server([bench.command, "mcp"], bench)
    server.ask("initialize", _HELLO)
    server.tool("remember", {"text": "the first record loads the second layer of secret rules"})
    arguments = {
        "recall": [{"task": text} for text in texts],
        "before": [{"file": path, "symbol": symbol} for path, symbol in places],
        "show": [{"id": number + 1} for number in range(len(places))],
        "outcome": [{"symbol": name, "file": path, "outcome": "failed", "lesson": f"{name} fails"} for path, name in places],
    }
    figures = {}
    for name, asked in arguments.items():
        walls, sizes, begun = [], [], server.cpu()
        for one in asked:
            at = time.perf_counter()
            result = server.tool(name, one)
            walls.append(time.perf_counter() - at)
            sizes.append(tokens(result["content"][0]["text"], result.get("structuredContent", "")))
        figures[name] = {
            "calls": len(asked), "cpu_ms": round(1000 * (server.cpu() - begun) / len(asked), 2),
            "p50_ms": round(1000 * median(walls), 2), "p95_ms": round(1000 * percentile(walls, 0.95), 2),
            "tokens_p50": median(sizes), "tokens_most": max(sizes),
        }  # fmt: skip
    server.end()
    return figures


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """All figures."""
    bench = Bench(folder, options.command)
    known = list(filler.changes([], options.memories * 4 // 5, options.seed))
    lessons = list(filler.lessons(known, options.memories // 5, options.seed))
    say(f"{options.memories:,} memories …")
    engine = bench.engine()
    fill(engine, known, len(lessons), options.seed)
    engine.close()
    places = [(draft.anchors[0].path, draft.anchors[0].symbol) for draft in lessons[: options.calls] if draft.anchors]
    say(f"{options.rounds} rounds of starts …")
    started = starts(bench, options.rounds, options.sdk)
    say(f"{options.calls} calls of each tool …")
    return {"starts": started, "calls": calls(bench, [one.subject for one in known[: options.calls]], places)}


def main() -> int:
    """Measure what the arguments name; 1 where a gate does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sdk", action="store_true", help="also a server made with the official package (extra `test`)")
    parser.add_argument("--command", default=os.path.join(os.path.dirname(sys.executable), "hardwon"))
    parser.add_argument("--gate", type=float, help="end with 1 where a start costs more bare interpreters than this")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hardwon-bench-") as folder:
        figures = measure(options, folder)
    rows = [[name, *one.values()] for name, one in figures["starts"].items()]
    print(table(["start", "CPU ms", "times bare", "ms to the list"], rows))
    rows = [[name, *one.values()] for name, one in figures["calls"].items()]
    print(table(["tool", "calls", "CPU ms", "p50 ms", "p95 ms", "tokens, p50", "tokens, most"], rows))
    write_json(options.json, report("mcp", options.seed, [], {"memories": options.memories, **figures}))
    own = [one["times_bare"] for name, one in figures["starts"].items() if name.startswith("hardwon")]
    missed = bool(options.gate) and max(own) > options.gate
    large = max(one["tokens_most"] for one in figures["calls"].values()) > MOST
    return int(missed or large)


if __name__ == "__main__":
    sys.exit(main())
