"""``hardwon mcp``: the server that a coding agent's client starts, and talks to over its standard input and output."""

from __future__ import annotations

import gc
import os
import sys

from hardwon.doors import mcp_protocol as protocol
from hardwon.doors.mcp_lines import LONGEST, Lines
from hardwon.doors.mcp_methods import Methods

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    while waiting := [_read(line) for line in lines.wait()]:
        while waiting:
            waiting += [_read(line) for line in lines.more()]
            message = waiting.pop(0)
            taken_back = {identifier for one in waiting if (identifier := protocol.cancelled(one)) is not None}
            if isinstance(message, dict) and "method" in message and _id(message) in taken_back:
                continue
            answer = connection.answers(message)
            if answer is not None:
                lines.write(protocol.write(answer))


def _read(line: bytes | None) -> Any:
    return _TOO_LONG if line is None else protocol.read(line)


def _id(message: dict[str, Any]) -> Any:
    identifier = message.get("id")
    return identifier if protocol.is_id(identifier) else None


def _own_streams() -> tuple[int, int]:
    """Descriptors of the protocol's own. Nothing else shall read from it or write into it: not a print, not git, no library."""
    source, sink = os.dup(0), os.dup(1)
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
