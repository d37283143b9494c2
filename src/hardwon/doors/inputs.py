"""Texts that come from files and from standard input."""

from __future__ import annotations

import os
import sys

from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.parse import Request

_LONGEST_INPUT = 200_000


def snippet(request: Request, beside: str) -> str:
    """The code that --code names. InvalidInput where it and the argument ``beside`` both are standard input."""
    if request.text("code") == request.text(beside) == "-":
        raise InvalidInput(
            "the text and the code cannot both come from standard input", field="code", remedy="give one of them as a file"
        )
    return read(request.text("code"), "code")


def _file_bytes(path: str) -> bytes:
    """The beginning of a file, or of a pipe that somebody writes into (``<(git diff)``)."""
    # Without O_NONBLOCK, opening a pipe would wait for somebody to write; where somebody does, reading may wait for them.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        os.set_blocking(file.fileno(), True)
        raw = file.read(_LONGEST_INPUT + 1)
        if not raw and not os.path.isfile(path):
            raise ValueError("it holds nothing")
    return raw


def read(name: str, field: str) -> str:
    """A text from a file or from standard input (``-``); InvalidInput for what is no text or too long."""
    try:
        raw = sys.stdin.buffer.read(_LONGEST_INPUT + 1) if name == "-" else _file_bytes(os.path.expanduser(name))
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"{name[:200]!r} cannot be read: {getattr(error, 'strerror', None) or error}",
            field=field,
            remedy="give a text file, or - for standard input",
        ) from error
    if len(raw) > _LONGEST_INPUT or b"\0" in raw:
        what = "holds NUL bytes" if b"\0" in raw else f"is longer than {_LONGEST_INPUT} bytes"
        raise InvalidInput(f"{name[:200]!r} {what}", field=field, remedy="give a text file, or a part of it")
    return raw.decode("utf-8", "replace")
