"""Whether what reads a text takes longer than the text's length: told by a ratio within one process, never by a limit in seconds.

A limit in seconds fails on a machine that is slow or busy, and lets the square of a short text through. Here the same reader reads a text
and one of :data:`TIMES` its length: what goes by the length takes TIMES as long, what goes by its square TIMES times TIMES. :data:`MOST`
lies between them, three times from either, and a pair above it is measured anew before it counts: the least of each is what the text costs,
the rest is what the machine did meanwhile (neighbours on the same core, collections of a heap that other tests have filled).
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Any, TypeVar

from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
LENGTH = 12_000
TIMES = 8
MOST = 24
MEASURED = 0.005  # seconds; less is told neither from noise nor from the cost of a call
ATTEMPTS = 4


def _cost(read: Callable[[T], Any], text: T) -> float:
    began = time.process_time()
    try:
        read(text)
    except (HardwonError, ValueError):
        pass
    return time.process_time() - began


def takes_the_square(read: Callable[[T], Any], make: Callable[[int], T], length: int = LENGTH) -> bool:
    """Whether ``read`` takes the square of the length of what ``make`` makes of a length, mostly a text of so many characters.

    False where a text of ``length`` costs less than :data:`MEASURED`.
    """
    short, long = make(length), make(TIMES * length)
    enabled = gc.isenabled()
    gc.disable()
    try:
        if (least := _cost(read, short)) < MEASURED:
            return False
        most = float("inf")
        for _ in range(ATTEMPTS):
            most = min(most, _cost(read, long))
            if most <= MOST * least:
                return False
            least = min(least, _cost(read, short))
        return True
    finally:
        if enabled:
            gc.enable()


def repeated(unit: str, end: str = "", start: str = "") -> Callable[[int], str]:
    """Makes texts of a length: ``unit`` again and again between ``start`` and ``end``."""
    return lambda length: start + unit * (length // len(unit)) + end
