"""What becomes of a change that no ref of its repository reaches any more, or reaches again. Pure.

Most such changes go: they are derived, and come back when a ref does. One that somebody spoke of stays, but what it tells is no
part of the living history, so it is ``expired``: the world went on, nobody judged it. ``inactive`` and ``rejected`` are a person's
words, ``replaced`` names what took its place, and none of that happened here. It is not journaled, for another clone may well
reach the commit.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.types import Status


def unreached(status: Status) -> Status:
    """The status of a change that is kept though no ref reaches it; what was decided about it stands."""
    return "expired" if status == "active" else status


def reached(status: Status) -> Status:
    """The status of a change that a ref reaches: nothing else than losing its ref makes one expire."""
    return "active" if status == "expired" else status
