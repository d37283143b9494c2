"""Places and changes as the command line tells them: lines, diffs, logs, ``FILE:LINE``; and the verb ``before``, which is about them."""

from __future__ import annotations

import os

from hardwon.doors.handle import as_block
from hardwon.errors import InvalidInput
from hardwon.types import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.code.diff import FileChange
    from hardwon.doors.handle import Answer, Call
    from hardwon.doors.parse import Request
    from hardwon.engine.core import Engine
    from hardwon.engine.explain import Explanation
    from hardwon.types import Scope

_DIFF, _LOG = 10_000_000, 2_000_000  # bytes


def before(call: Call) -> Answer:
    """The lessons of a place or of a change."""
    request = call.request
    changed = request.text("diff")
    if changed:
        from hardwon.doors import inputs

        changed = inputs.read(changed, "diff", _DIFF) or "\n"
    file, symbol, budget = request.text("file"), request.text("symbol"), request.number("budget", 500)
    return as_block(call, edited(call.engine, file, symbol, request.text("lines"), changed, call.scope, budget))


def edited(engine: Engine, file: str, symbol: str, lines: str, diff: str, scope: Scope, budget: int) -> Block:
    """The lessons of what is edited; none for a diff that changes nothing."""
    said = _lines(lines) if lines else None
    changes: tuple[FileChange, ...] = ()
    if diff:
        from hardwon.code.diff import parse

        changes = parse(diff)
        if not (changes or file or symbol):
            return Block()
    return engine.before(file, symbol, scope, budget, said, changes)


def explained(engine: Engine, place: str, scope: Scope, budget: int) -> Explanation:
    """The decisions behind a place as it is written."""
    home = engine.home
    file, lines = split(place, is_there(home.cwd, home.checkout.root))
    return engine.explain(file, lines, scope, budget)


def _lines(text: str) -> tuple[int, int]:
    found = range_of(text)
    if found is None:
        raise InvalidInput(f"--lines takes A-B, not {text[:60]!r}", field="lines", remedy="such as 12-40, or 12")
    return found


def range_of(text: str) -> tuple[int, int] | None:
    """``A-B``, ``A,B`` or ``A`` as the first and last of lines, from 1; None for what is none."""
    first, between, last = text.strip().replace(",", "-").partition("-")
    start, end = _line(first), _line(last if between else first)
    return (start, end) if 0 < start <= end else None


def _line(word: str) -> int:
    word = word.strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0


def log(request: Request) -> str:
    """The end of the log that --error names."""
    from hardwon.doors import inputs

    if request.text("error") == request.text("task") == "-":
        raise InvalidInput(
            "the task and the log cannot both come from standard input",
            field="error",
            remedy="give one of them as a file or text",
        )
    return inputs.ending(request.text("error"), "error", _LOG)


def split(text: str, exists: Callable[[str], bool]) -> tuple[str, tuple[int, int] | None]:
    """``FILE``, ``FILE:LINE``, ``FILE:A-B`` or, as compilers write it, ``FILE:LINE:COLUMN`` as a file and its lines.

    A file of that very name comes first, for names may hold colons; what stands behind a drive (``C:\\x.py``) is no line. InvalidInput
    for lines in a wrong order.
    """
    if exists(text):
        return text, None
    name, colon, tail = text.rstrip(":").rpartition(":")
    if not colon or not name or not _numbers(tail):
        return text, None
    before, colon, line = name.rpartition(":")
    if colon and before and _numbers(line) and not exists(name):
        name, tail = before, line  # the last one is the column
    found = range_of(tail)
    if found is None:
        raise InvalidInput(f"{tail[:60]!r} is no range of lines", field="place", remedy="such as src/db.py:12 or src/db.py:12-40")
    return name, found


def _numbers(word: str) -> bool:
    return bool(word) and word.isascii() and not word.strip("0123456789-,") and word[:1].isdigit()


def is_there(cwd: str, root: str) -> Callable[[str], bool]:
    """Whether a file of that name is there, seen from the working folder or from the repository's top."""

    def exists(name: str) -> bool:
        try:
            return any(os.path.isfile(os.path.join(base, name)) for base in (cwd, root))
        except ValueError:
            return False

    return exists
