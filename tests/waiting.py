"""Waiting for what other processes do: they begin and end when the machine lets them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_for(condition: Callable[[], bool], seconds: float = 60, pause: float = 0.02) -> bool:
    """Whether it is so, at last: asked again and again for as long."""
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(pause)
    return True
