"""Which tests cannot be relied on: those that were seen to fail and to pass on the very same files. Pure.

``tree`` names a state of the files, and the job where several run the same tests in surroundings of their own: what fails on one system and
passes on another is no flaky test.
"""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_SEEN = 8  # runs of a test that are kept
# A test that was found flaky and has not been so since may have been mended.
LASTS_MS = 90 * 86_400_000


class Seen(Value):
    """One run of one test. ``at`` in milliseconds."""

    tree: str
    passed: bool
    at: int


def noted(seen: Sequence[Seen], run: Seen) -> tuple[Seen, ...]:
    """The runs of a test with one more, oldest first. Of equal ones in a row only the first and the last stay: a test that fails for
    weeks must not push out the tree on which it passed."""
    kept = [*seen, run]
    if len(kept) > 2 and all(one.tree == run.tree and one.passed == run.passed for one in kept[-3:]):
        del kept[-2]
    return tuple(kept[-MOST_SEEN:])


def goes_both_ways(seen: Iterable[Seen], tree: str, *, passed: bool) -> bool:
    """Whether a test that ends so now had ended otherwise on the same tree; "" is a tree that is not known."""
    return bool(tree) and any(run.tree == tree and run.passed != passed for run in seen)


def is_flaky(flaky_at: int, now: int) -> bool:
    """Whether a test that was last found flaky then (0: never) still counts as such."""
    return bool(flaky_at) and now - flaky_at < LASTS_MS
