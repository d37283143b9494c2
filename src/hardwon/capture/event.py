"""What happens in an agent's session, in one form for every client: hooks tell it as it happens, transcripts afterwards."""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    # start: a session begins or goes on; prompt: a person (or a program in their place) says something; before and after: a tool call;
    # said: the agent's own words; compact: the client is about to shorten the context; stop: a turn has ended; end: the session has.
    Moment = Literal["start", "prompt", "before", "after", "said", "compact", "stop", "end"]
    Tool = Literal["", "shell", "edit", "write", "read", "search", "mcp", "task", "other"]
    # denied: a person or a rule refused the call; interrupted: somebody stopped it. Neither says anything of the code.
    Ended = Literal["ok", "failed", "denied", "interrupted", "unknown"]
    EditKind = Literal["change", "whole", "delete", "move"]
else:
    Moment = Tool = Ended = EditKind = str

PROGRAM = "program"


class Edit(Value):
    """One passage of one file that a tool changes. ``old`` and ``new`` are the texts before and after, "" for what is not known or not
    there; ``kind``: ``change`` of a passage, ``whole`` file written, ``delete``, ``move`` (to ``target``); ``lines``: the first and
    last of the passage before, counted from 1, where that is known without reading the file."""

    path: str
    old: str = ""
    new: str = ""
    kind: EditKind = "change"
    lines: tuple[int, int] | None = None
    target: str = ""


class Event(Value):
    """One moment of a session. Times are milliseconds since 1970 UTC; paths are as the client spells them, and relative to ``cwd``.

    ``agent`` is the subagent's id, "" for the main one; ``turn`` and ``call`` are the client's ids of a turn and of a tool call.
    ``source``: why a session started (startup, resume, clear, compact, fork), was compacted, or ended; of a prompt ``PROGRAM`` where the
    client says that no person sits before it: it is what was asked, and nobody's rule or decision.
    ``text``: what was said (prompt, said), or the agent's last words (stop).
    ``tool_name`` is the client's own name of a tool, ``tool`` ours. ``paths``: every file that the call names, edited ones too.
    ``ended``, ``exit_code`` and ``output`` tell how a call went; an exit code is None where the client does not tell it.
    ``again``: this stop comes of a hook that had the agent go on, so that another one would loop.
    """

    moment: Moment
    client: str
    session: str
    at: int
    cwd: str = ""
    agent: str = ""
    turn: str = ""
    source: str = ""
    text: str = ""
    tool: Tool = ""
    tool_name: str = ""
    call: str = ""
    command: str = ""
    edits: tuple[Edit, ...] = ()
    paths: tuple[str, ...] = ()
    ended: Ended = "unknown"
    exit_code: int | None = None
    output: str = ""
    again: bool = False
    transcript: str = ""
    version: str = ""
    model: str = ""
    branch: str = ""
