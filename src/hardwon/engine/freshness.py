"""Whether what is made of the repository is up to date. Quick to load: every start of a session asks."""

from __future__ import annotations

import os

from hardwon.store import git_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine

# The line for bringing it up to date, which one process at a time does.
LINE = "refresh"


def lock_of(engine: Engine) -> str:
    """The file of that line: its time says when somebody began last."""
    return f"{engine.store.path}.{LINE}.lock"


def began(engine: Engine) -> float:
    """When one began last, in seconds since 1970; 0 where none ever did."""
    try:
        return os.stat(lock_of(engine)).st_mtime
    except OSError:
        return 0.0


def is_behind(engine: Engine) -> bool:
    """Whether there is something to do: git's hooks told of it, the index of the code is of another commit, or sessions went on since and
    are over now. Cheap."""
    from hardwon.engine.code_index import state
    from hardwon.engine.session_file import QUIET_MS, quiet

    if engine.place is None:
        return False
    if git_events.waiting(engine.place.checkout):
        return True
    index = state(engine)
    if index is not None and index.behind:
        return True
    return bool(quiet(engine, int(began(engine) * 1000) - QUIET_MS))  # those that were quiet by then were read
