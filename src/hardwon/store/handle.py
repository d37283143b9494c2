"""One connection to a store, with what goes with it for as long as it is open."""

from __future__ import annotations

import os
from time import monotonic

import apsw

from hardwon.store.connection import LONG_READ

_STEPS = 1_000_000  # of SQLite's virtual machine, after which a statement that lasts is looked at again; some ten milliseconds


class Handle:
    """A connection, how many of its views or transactions are open, and the term ids that it remembers."""

    def __init__(self, connection: apsw.Connection, file: tuple[int, int] | None) -> None:
        """``file``: which one was opened, as ``file_at`` tells it."""
        self.connection = connection
        self.file = file
        self.depth = 0
        self.begun, self.log_seen = 0.0, -1
        self.suspect = False  # it met a failure that may have left its memory wrong: not used again
        self._ids_of: dict[str, int] = {}
        self._data_version = -1

    def begin(self, statement: str) -> None:
        """Begin what is not begun; an interrupt may have left something open, which nobody waits for any more."""
        if self.depth == 0:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            self.connection.execute(statement)
            self.begun, self.log_seen = monotonic(), -1
        self.depth += 1

    def roll_back(self) -> None:
        """Undo what is open, whatever it is. The engine itself may have done so already (a full disk does that)."""
        self.depth = 0
        self._data_version = -1
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except apsw.Error:  # out of memory, even for that: closing it rolls back without
            self.suspect = True
            self.connection.close()

    def watch(self, path: str) -> None:
        """Have a view that lasts give way to writers (see store/ceiling.py): asked at each statement, and within long ones."""

        def goes_on(*_: object) -> bool:
            if self.depth and monotonic() - self.begun > LONG_READ:
                from hardwon.store.ceiling import give_way

                self.log_seen = give_way(path, self.log_seen)
            return True

        self.connection.exec_trace = goes_on
        self.connection.set_progress_handler(lambda: not goes_on(), _STEPS)

    def term_ids(self) -> dict[str, int]:
        """Term ids known from earlier transactions of this connection; forgotten when another has written, for it may have
        dropped some (data_version tells, and only within one connection)."""
        version = self.connection.pragma("data_version")
        if version != self._data_version:
            self._data_version = version
            self._ids_of = {}
        return self._ids_of


def file_at(path: str) -> tuple[int, int] | None:
    """Which file a path names, None for none."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
