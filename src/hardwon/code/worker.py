"""The child that parses: texts in, outlines out, within limits of memory and of time. It ends with the process that started it.

Of each frame: four bytes of length, lowest first, then a value of ``marshal`` (the parent is the same interpreter; half the time and
two thirds of the bytes of ``pickle``). In: path and content. Out: first of all "" once it is ready; then for each text, in their order,
the fields of its ``Outline`` as tuples; a text in place of either says why nothing can be parsed.
"""

from __future__ import annotations

import marshal
import operator
import os
import resource
import signal
import struct
import sys

from hardwon.code.outline import Call, Import, Symbol
from hardwon.code.symbols import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, BinaryIO

    from hardwon.code.outline import Outline
    from hardwon.types import Value

_LENGTH = struct.Struct("<I")


def serve(memory: int, processor: int) -> None:
    """Answer until there is nothing more to read: the parent has closed the pipe, or is gone. ``memory``: bytes of address space;
    ``processor``: seconds of it for one text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; what becomes of us is for the parent to say
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed by accident is no answer
    try:
        import tree_sitter  # noqa: F401 - so that it is known now whether there is one

        _tell(answers, "")
        while (request := _next(sys.stdin.buffer)) is not None:
            _allow(processor)
            _tell(answers, _plain(outline(*request)))
    except ImportError as error:
        _tell(answers, str(error) or "a module is missing")
    except BrokenPipeError:
        pass  # the parent is gone
    os._exit(0)  # an answer that nobody reads any more would be told of at the exit


def _next(questions: BinaryIO) -> tuple[str, bytes] | None:
    head = questions.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    packed = questions.read(_LENGTH.unpack(head)[0])
    if len(packed) < _LENGTH.unpack(head)[0]:
        return None
    path, content = marshal.loads(packed)  # noqa: S302 - from our parent, of the same interpreter
    return path, content


def _tell(answers: BinaryIO, told: str | tuple[Any, ...]) -> None:
    packed = marshal.dumps(told)
    answers.write(_LENGTH.pack(len(packed)))
    answers.write(packed)
    answers.flush()


def _plain(found: Outline) -> tuple[Any, ...]:
    rows = (_rows(kind, part) for kind, part in ((Symbol, found.symbols), (Call, found.calls), (Import, found.imports)))
    return (found.language, found.skipped, found.broken, found.lines, *rows)


def _rows(kind: type[Value], values: Iterable[Value]) -> list[tuple[Any, ...]]:
    fields = operator.itemgetter(*kind._fields)
    return [fields(one.__dict__) for one in values]


def _allow(seconds: int) -> None:
    """From now on, so much time of the processor; the kernel ends us after it, in whatever step."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _limit(what: int, wanted: int) -> None:
    """Lower a limit of ours; where a lower one is set from outside, that stays. Systems that do not know it (memory on macOS) let it be."""
    _, hard = resource.getrlimit(what)
    try:
        resource.setrlimit(what, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    except (ValueError, OSError):
        pass
