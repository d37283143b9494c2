"""A second look at a file that one read made look damaged.

A read that ends early gives zeros for what it did not get, and the engine then calls the page malformed. Peers have thrown good stores
away for that. So nothing is called damaged that a connection of its own, with nothing in its cache, reads through.
"""

from __future__ import annotations

from time import monotonic

import apsw

from hardwon.errors import HardwonError
from hardwon.store.connection import Access, open_connection

# Seconds for the second look: of a file that takes longer the first answer is believed.
PATIENCE = 5.0
_STEPS = 100_000  # of SQLite's virtual machine between two looks at the time


def is_intact(path: str, access: Access) -> bool:
    """Whether SQLite's own check reads the whole file and finds nothing. False too where it cannot be read now, or not in time."""
    try:
        connection = open_connection(path, readonly=True, access=access)
    except HardwonError:
        return False
    deadline = monotonic() + PATIENCE
    try:
        connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS)
        return bool(connection.execute("PRAGMA quick_check(1)").get == "ok")
    except apsw.Error:
        return False
    finally:
        connection.close()
