"""Texts that come from files and from standard input."""

from __future__ import annotations

import os
import sys

from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from hardwon.doors.parse import Request

_LONGEST_INPUT = 200_000
_SLICE = 1_000_000


def snippet(request: Request, beside: str) -> str:
    """The code that --code names. InvalidInput where it and the argument ``beside`` both are standard input."""
    if request.text("code") == request.text(beside) == "-":
        raise InvalidInput(
            "the text and the code cannot both come from standard input", field="code", remedy="give one of them as a file"
        )
    return read(request.text("code"), "code")


def read(name: str, field: str, longest: int = _LONGEST_INPUT) -> str:
    """A text from a file or from standard input (``-``); InvalidInput for what is no text or has more than ``longest`` bytes."""
    raw = _bytes(name, field, lambda file: file.read(longest + 1))
    if len(raw) > longest or b"\0" in raw:
        what = "holds NUL bytes" if b"\0" in raw else f"is longer than {longest} bytes"
        raise InvalidInput(f"{name[:200]!r} {what}", field=field, remedy="give a text file, or a part of it")
    return raw.decode("utf-8", "replace")


def ending(name: str, field: str, longest: int) -> str:
    """The last ``longest`` bytes of a file or of standard input (``-``) as a text, whatever they are: a log."""
    return _bytes(name, field, lambda file: _last(file, longest)).decode("utf-8", "replace").replace("\0", "")


def _last(file: BinaryIO, longest: int) -> bytes:
    if file.seekable():
        file.seek(max(0, file.seek(0, os.SEEK_END) - longest))
        return file.read(longest)
    kept = b""
    while piece := file.read(_SLICE):
        kept = (kept + piece)[-longest:]
    return kept


def _bytes(name: str, field: str, take: Callable[[BinaryIO], bytes]) -> bytes:
    """What is taken of a file or of standard input; InvalidInput where it cannot be read."""
    try:
        return take(sys.stdin.buffer) if name == "-" else _of_file(os.path.expanduser(name), take)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"{name[:200]!r} cannot be read: {getattr(error, 'strerror', None) or error}",
            field=field,
            remedy="give a text file, or - for standard input",
        ) from error


def _of_file(path: str, take: Callable[[BinaryIO], bytes]) -> bytes:
    """What is taken of a file, or of a pipe that somebody writes into (``<(git diff)``)."""
    # Without O_NONBLOCK, opening a pipe would wait for somebody to write; where somebody does, reading may wait for them.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        os.set_blocking(file.fileno(), True)
        raw = take(file)
        if not raw and not os.path.isfile(path):
            raise ValueError("it holds nothing")
    return raw
