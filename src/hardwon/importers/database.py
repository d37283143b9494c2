"""SQLite databases of other programs: read, never written, and nothing is made beside them. Nothing in one is trusted."""

from __future__ import annotations

import os
import shutil
import tempfile

import apsw

from hardwon.errors import InvalidInput
from hardwon.importers.source import open_file, unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

OURS = 0x48574F4E  # the application_id of a store of Hardwon
ERROR = apsw.Error  # whatever hinders: damage, a lock, a table that changed meanwhile
DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.TooBigError, apsw.FullError)
_WAL = 2  # byte 18 of the header
_LONGEST = 32 << 20  # bytes of one value
_PATIENCE = 5000  # milliseconds that a reader waits for a writer


class Database:
    """An open database, as a context; ``columns``: those of each table that was asked for. InvalidInput says why a file cannot be read."""

    def __init__(self, path: str, tables: Mapping[str, Sequence[str]], whose: str) -> None:
        """``tables``: those that have to be there, with the columns that they need; ``whose``: what such a database is called."""
        source = open_file(path)
        header = source.head[:100]
        source.close()  # before SQLite opens the file: closing it later would drop the locks of this process
        if not header.startswith(b"SQLite format 3\0"):
            raise unusable(path, "is no SQLite database")
        self._path = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
        self._folder = ""
        self._state = _state(self._path)
        try:
            self._db = self._open(len(header) > 18 and header[18] == _WAL)
            self.columns = self._check(path, tables, whose)
        except (apsw.Error, OSError, InvalidInput) as error:
            self.close()
            if isinstance(error, InvalidInput):
                raise
            raise unusable(path, f"cannot be read: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, and of the copy if one was made."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._folder:
            shutil.rmtree(self._folder)
            self._folder = ""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> apsw.Cursor:
        """Rows of a question."""
        return self._db.execute(sql, tuple(values))

    @property
    def version(self) -> int:
        """The version that its program gave its tables."""
        return int(self._db.pragma("user_version"))

    def changed(self) -> bool:
        """Whether somebody wrote to the file while it was read as if nobody could."""
        return not self._folder and not os.path.exists(self._path + "-shm") and _state(self._path) != self._state

    def _open(self, wal: bool) -> apsw.Connection:
        """Read-only, without a file made beside it: a log without its index is read in a copy, for opening it would make one."""
        path, extra = self._path, ""
        if wal and not os.path.exists(path + "-wal"):
            extra = "?immutable=1"  # nobody is writing; ``changed`` tells if somebody began meanwhile
        elif wal and not os.path.exists(path + "-shm"):
            self._folder = tempfile.mkdtemp(prefix="hardwon-import-")
            for end in ("", "-wal"):
                shutil.copyfile(path + end, os.path.join(self._folder, "copy.db" + end), follow_symlinks=False)
            path = os.path.join(self._folder, "copy.db")
        flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
        flags |= apsw.SQLITE_OPEN_READWRITE if self._folder else apsw.SQLITE_OPEN_READONLY
        uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + extra
        connection = apsw.Connection(uri, flags=flags)
        connection.set_busy_timeout(_PATIENCE)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.pragma("query_only", 1)
        return connection

    def _check(self, name: str, tables: Mapping[str, Sequence[str]], whose: str) -> dict[str, set[str]]:
        """The columns of its tables; InvalidInput for the database of another program."""
        if self._db.pragma("application_id") == OURS:
            raise InvalidInput(
                f"{name} is a store of Hardwon itself",
                field="file",
                remedy="`hardwon export FILE` there, and import that file",
            )
        columns = {}
        for table, needed in tables.items():
            # A plain table: a view or a virtual table would run what its maker wants.
            plain = self._db.execute(
                "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0", (table,)
            ).get
            columns[table] = {row[1] for row in self._db.execute(f"PRAGMA table_info({table})")}
            if not plain or not columns[table].issuperset(needed):
                raise InvalidInput(
                    f"{name} is a database, but not one of {whose}: it has no table {table}({', '.join(needed)})", field="file",
                    remedy=f"only databases of {whose} can be imported",
                )  # fmt: skip
        return columns


def _state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns, os.path.exists(path + "-wal")


def text(raw: bytes | str | None) -> str:
    """A value that came as bytes, for SQLite does not check what it keeps as text."""
    return raw if isinstance(raw, str) else (raw or b"").decode("utf-8", "replace")


def tables(path: str) -> frozenset[str]:
    """The names of the plain tables of a database: by them it is known whose it is. InvalidInput as for ``Database``."""
    with Database(path, {}, "a known tool") as opened:
        try:
            return frozenset(
                row[0] for row in opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
            )
        except DAMAGED as error:
            raise unusable(path, f"is damaged: {error}") from error
