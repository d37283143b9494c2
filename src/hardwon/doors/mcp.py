"""``hardwon mcp``: the server that a coding agent's client starts, and talks to over its standard input and output."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter, deque

from hardwon.doors import mcp_protocol as protocol
from hardwon.doors.mcp_lines import LONGEST, Lines
from hardwon.doors.mcp_methods import Methods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hardwon.doors.handle import Answer, Call

_TOO_LONG = protocol.Refusal(protocol.INVALID_REQUEST, f"a message has at most {LONGEST:,} bytes")


def mcp(call: Call) -> Answer:
    """Serve one client until it closes the pipe or is gone."""
    project = call.request.text("project")
    if project:  # one that is misspelt never comes to be; who starts us is told at once
        from hardwon.engine.opening import locate

        locate(call.cwd, call.settings.home, project)
    if sys.stdin.isatty():
        print("hardwon: an MCP server; clients start it themselves (see docs/mcp.md). Ctrl-D ends it.", file=sys.stderr)
    lines = Lines(*_own_streams())
    lines.obey_signals()
    methods = Methods(call.settings, call.cwd, project)
    # A command ends before cycles matter; this lives on: what it consists of is never looked through, what comes is, as usual.
    gc.freeze()
    gc.set_threshold(10_000)
    try:
        serve(protocol.Connection(methods.service(), _report), lines)
    except BrokenPipeError:
        pass  # nobody reads us any more
    raise SystemExit(0)


def serve(connection: protocol.Connection, lines: Lines) -> None:
    """Answer what comes, in order. A request that was taken back before its turn is passed over; one that is under way is not, for it is
    done within milliseconds."""
    waiting = _Waiting()
    while waiting.take(lines.wait()):
        while waiting.take(lines.more()):
            message, taken_back = waiting.next()
            if taken_back:
                continue
            answer = connection.answers(message)
            if answer is not None:
                lines.write(protocol.write(answer))


class _Waiting:
    """Messages that came and had no turn yet, and which requests they take back: kept as they come and go, for a client may send
    thousands at once."""

    def __init__(self) -> None:
        self._messages: deque[Any] = deque()
        self._taken_back: Counter[protocol.Id | None] = Counter()

    def take(self, lines: Sequence[bytes | None]) -> bool:
        """Put lines behind what waits; whether anything does."""
        for message in map(_read, lines):
            self._messages.append(message)
            if (identifier := protocol.cancelled(message)) is not None:
                self._taken_back[identifier] += 1
        return bool(self._messages)

    def next(self) -> tuple[Any, bool]:
        """The first message, and whether it is a request that one behind it takes back."""
        message = self._messages.popleft()
        if (identifier := protocol.cancelled(message)) is not None:
            self._taken_back[identifier] -= 1
        return message, isinstance(message, dict) and "method" in message and self._taken_back.get(_id(message), 0) > 0


def _read(line: bytes | None) -> Any:
    return _TOO_LONG if line is None else protocol.read(line)


def _id(message: dict[str, Any]) -> Any:
    identifier = message.get("id")
    return identifier if protocol.is_id(identifier) else None


def _own_streams() -> tuple[int, int]:
    """Descriptors of the protocol's own. Nothing else shall read from it or write into it: not a print, not git, no library."""
    source, sink = os.dup(0), os.dup(1)
    for descriptor in (source, sink):
        os.set_blocking(descriptor, True)  # some runtimes hand on pipes that are not
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error either
        os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink


def _report(fault: BaseException) -> None:
    """An exception that nobody foresaw, to standard error, which clients keep in a log: without secrets."""
    from traceback import format_exception

    from hardwon.intake.redact import redact

    print(redact("".join(format_exception(fault)))[0], file=sys.stderr, flush=True)
