"""Databases of the first code-memory tool (cm.py): lessons on symbols, every project in one file. Read, never written.

Equal lessons of one symbol become one memory with several occurrences, which keep their own status: counts, row of failures and
risk stay what they were. Words come as bytes and are decoded here, for SQLite does not check them.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from datetime import datetime, timezone

import apsw

from hardwon.errors import InvalidInput
from hardwon.importers.passages import headline
from hardwon.importers.source import Incoming, open_file, unusable
from hardwon.types import Anchor, ExportedMemory, Memory, Occurrence, Origin, Value, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    from hardwon.types import Outcome, Status

CLIENT = "cm.py"
_NEWEST = 2  # the user_version that we know
_OURS = 0x48574F4E  # a store of Hardwon
_WAL = 2  # byte 18 of the header
_LONGEST = 32 << 20  # bytes of one value
_TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # needed columns, and those that older versions lack
    "symbols": (("id", "project", "name"), ("file",)),
    "experiences": (("id", "symbol_id", "type", "lesson"), ("detail", "session_id", "status", "created_at")),
}
_OUTCOMES: dict[str, Outcome] = {"fail": "failed", "success": "worked", "ok": "worked"}
_STATUSES: tuple[Status, ...] = ("active", "resolved", "inactive")
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.TooBigError, apsw.FullError)


class Row(Value):
    """One experience, in order of time; ``at`` is in milliseconds."""

    id: int
    outcome: Outcome
    lesson: str
    detail: str
    session: str
    status: Status
    at: int


class Database:
    """An open database, as a context; InvalidInput says why a file is none of cm.py's."""

    def __init__(self, path: str) -> None:
        source = open_file(path)
        header = source.head[:100]
        source.close()  # before SQLite opens the file: closing it later would drop the locks of this process
        if not header.startswith(b"SQLite format 3\0"):
            raise unusable(path, "is no SQLite database")
        self._path = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
        self._name = path
        self._folder = ""
        self._state = _state(self._path)
        try:
            self._db = self._open(len(header) > 18 and header[18] == _WAL)
            self._columns = self._check()
        except (apsw.Error, InvalidInput) as error:
            self.close()
            if isinstance(error, apsw.Error):
                raise unusable(path, f"cannot be read: {error}") from error
            raise

    def __enter__(self) -> Database:
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
        connection.set_busy_timeout(5000)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.pragma("query_only", 1)
        return connection

    def _check(self) -> dict[str, set[str]]:
        """The columns of its tables; InvalidInput for the database of another program, or of a later cm.py."""
        if self._db.pragma("application_id") == _OURS:
            raise InvalidInput(
                f"{self._name} is a store of Hardwon itself",
                field="file",
                remedy="`hardwon export FILE` there, and import that file",
            )
        version = self._db.pragma("user_version")
        columns = {}
        for table, (needed, _) in _TABLES.items():
            # A plain table: a view or a virtual table would run what its maker wants.
            plain = self._db.execute(
                "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0", (table,)
            ).get
            columns[table] = {row[1] for row in self._db.execute(f"PRAGMA table_info({table})")}
            if not plain or not columns[table].issuperset(needed):
                raise InvalidInput(
                    f"{self._name} is a database, but not one of cm.py: it has no table {table}({', '.join(needed)})", field="file",
                    remedy="only databases of cm.py can be imported",
                )  # fmt: skip
        if version > _NEWEST:
            raise InvalidInput(
                f"{self._name} was made by a later cm.py (user_version {version}, known are up to {_NEWEST})", field="file",
                remedy="export from it with that cm.py, or upgrade Hardwon",
            )  # fmt: skip
        return columns

    def changed(self) -> bool:
        """Whether somebody wrote to the file while it was read as if nobody could."""
        return not self._folder and not os.path.exists(self._path + "-shm") and _state(self._path) != self._state

    def symbols(self) -> dict[int, tuple[str, str, str]]:
        """Project, file and name of each symbol."""
        rows = self._rows("symbols", "id")
        return {row["id"]: (_text(row["project"]), _path(_text(row["file"])), _text(row["name"]).strip()) for row in rows}

    def experiences(self) -> Iterator[dict[str, Any]]:
        """Every experience, symbol by symbol."""
        return self._rows("experiences", "symbol_id, id")

    def _rows(self, table: str, order: str) -> Iterator[dict[str, Any]]:
        needed, optional = _TABLES[table]
        names = [name for name in (*needed, *optional) if name in self._columns[table]]
        wanted = ", ".join(name if name.endswith("id") and name != "session_id" else f"CAST({name} AS BLOB)" for name in names)
        empty = dict.fromkeys(optional)
        for row in self._db.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}"):  # noqa: S608 - our own names
            yield empty | dict(zip(names, row, strict=True))


def _state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns, os.path.exists(path + "-wal")


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


def _path(file: str) -> str:
    """A file as anchors name it: with slashes, without ``.`` and ``..``, from the repository's root as far as one can tell."""
    if not file.strip():
        return ""
    parts = posixpath.normpath(file.strip().replace("\\", "/")).split("/")
    if parts[0].endswith(":"):
        parts = parts[1:]
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def projects(path: str) -> dict[str, int]:
    """The projects of a database, with the number of their experiences."""
    with Database(path) as database:
        try:
            symbols = database.symbols()
            counts = dict.fromkeys((project for project, _, _ in symbols.values()), 0)
            for row in database.experiences():
                if row["symbol_id"] in symbols:
                    counts[symbols[row["symbol_id"]][0]] += 1
        except _DAMAGED as error:
            raise unusable(path, f"is damaged: {error}") from error
    return counts


def read(path: str, project: str) -> Iterator[Incoming]:
    """The lessons of a project, symbol by symbol; what cannot be read any more, or changed meanwhile, is told at the end."""
    began = os.stat(path).st_mtime_ns // 1_000_000
    with Database(path) as database:
        try:
            symbols = database.symbols()
            batch: list[Row] = []
            last: Any = None
            for raw in database.experiences():
                if raw["symbol_id"] != last:
                    yield from _symbol(project, symbols, last, batch)
                    last, batch = raw["symbol_id"], []
                if raw["symbol_id"] in symbols and symbols[raw["symbol_id"]][0] == project:
                    row = _row(raw, batch[-1].at if batch else began)
                    if row is None:
                        yield Incoming(
                            f"experience {raw['id']}", wrong=f"its type is {_text(raw['type'])[:40]!r}, not fail or success"
                        )
                    else:
                        batch.append(row)
            yield from _symbol(project, symbols, last, batch)
        except _DAMAGED as error:
            yield Incoming("database", wrong=f"it cannot be read from here on: {error}")
        if database.changed():
            yield Incoming("database", wrong="it was written to while it was read: import it again")


def _row(raw: dict[str, Any], before: int) -> Row | None:
    outcome = _OUTCOMES.get(_text(raw["type"]).strip().lower())
    if outcome is None:
        return None
    said = _text(raw["lesson"]).strip() or outcome
    lesson, detail = headline(said, _text(raw["detail"]))
    status: Any = _text(raw["status"]).strip().lower() or "active"
    at = to_millis(_text(raw["created_at"]))
    return Row(
        raw["id"], outcome, lesson, detail, _text(raw["session_id"]).strip(), status if status in _STATUSES else "inactive",
        before if at is None else at,
    )  # fmt: skip


def to_millis(text: str) -> int | None:
    """A time of cm.py in milliseconds, None for what is none.

    It writes local times without a zone, as ``2026-07-24T09:30:00.125``; with a blank in the place of the T it is SQLite's own
    CURRENT_TIMESTAMP, which is UTC.
    """
    text = text.strip()
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None and " " in text:
            found = found.replace(tzinfo=timezone.utc)  # noqa: UP017
        at = int(found.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at >= 0 else None


def _symbol(project: str, symbols: dict[int, tuple[str, str, str]], symbol: Any, rows: list[Row]) -> Iterator[Incoming]:
    """The lessons of one symbol, each text once."""
    if not rows:
        return
    _, file, name = symbols[symbol]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in _in_order(rows):
        groups.setdefault((row.outcome, " ".join(row.lesson.casefold().split())), []).append(row)
    for group in groups.values():
        yield Incoming(f"experience {group[0].id}", _memory(project, Anchor(file, name), group))


def _in_order(rows: list[Row]) -> list[Row]:
    """By time; what has the very same time is parted by a millisecond, in the order of the ids, so that no reader mixes it."""
    ordered: list[Row] = []
    for row in sorted(rows, key=lambda row: (row.at, row.id)):
        ordered.append(row.replace(at=ordered[-1].at + 1) if ordered and row.at <= ordered[-1].at else row)
    return ordered


def _memory(project: str, anchor: Anchor, rows: list[Row]) -> ExportedMemory:
    first, last = rows[0], rows[-1]
    statuses = [row.status for row in rows]
    origins = [Origin("agent", CLIENT, row.session, "import") for row in rows]
    said = Memory(
        "", None, "lesson", first.outcome, first.lesson, anchors=(anchor,), status="active" if "active" in statuses else last.status,
        trust="claimed", origin=origins[0], created_at=first.at, updated_at=last.at, valid_from=first.at,
    )  # fmt: skip
    versions: list[Version] = []
    for row in rows:  # another detail is another version, as if it had been recorded here
        if not versions or (row.detail and row.detail != versions[-1].content.detail):
            versions.append(Version("", len(versions) + 1, said.replace(detail=row.detail), row.at, None))
    occurrences = tuple(
        Occurrence("", row.at, row.outcome, row.status, origin) for row, origin in zip(rows, origins, strict=True)
    )
    names = tuple(alias(project, row.id) for row in rows)
    return ExportedMemory(versions[-1].content, tuple(versions), occurrences, (), names)


def alias(project: str, number: int) -> str:
    """The name under which an experience of cm.py is still found: ``cm:payments/12``."""
    return f"cm:{project}/{number}"
