"""Databases of the first code-memory tool (cm.py): lessons on symbols, every project in one file. Read, never written.

Equal lessons of one symbol become one memory with several occurrences, which keep their own status: counts, row of failures and
risk stay what they were. Words come as bytes and are decoded here, for SQLite does not check them.
"""

from __future__ import annotations

import os
import posixpath
from datetime import datetime, timezone

from hardwon.errors import InvalidInput
from hardwon.importers import database
from hardwon.importers.database import DAMAGED, text
from hardwon.importers.passages import headline
from hardwon.importers.source import Incoming, unusable
from hardwon.types import Anchor, ExportedMemory, Memory, Occurrence, Origin, Value, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.types import Outcome, Status

CLIENT = "cm.py"
_NEWEST = 2  # the user_version that we know
_TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # needed columns, and those that older versions lack
    "symbols": (("id", "project", "name"), ("file",)),
    "experiences": (("id", "symbol_id", "type", "lesson"), ("detail", "session_id", "status", "created_at")),
}
_OUTCOMES: dict[str, Outcome] = {"fail": "failed", "success": "worked", "ok": "worked"}
_STATUSES: tuple[Status, ...] = ("active", "resolved", "inactive")


class Row(Value):
    """One experience, in order of time; ``at`` is in milliseconds."""

    id: int
    outcome: Outcome
    lesson: str
    detail: str
    session: str
    status: Status
    at: int


class Database(database.Database):
    """An open database, as a context; InvalidInput says why a file is none of cm.py's."""

    def __init__(self, path: str) -> None:
        super().__init__(path, {name: needed for name, (needed, _) in _TABLES.items()}, CLIENT)
        version = self.version
        if version > _NEWEST:
            self.close()
            raise InvalidInput(
                f"{path} was made by a later cm.py (user_version {version}, known are up to {_NEWEST})", field="file",
                remedy="export from it with that cm.py, or upgrade Hardwon",
            )  # fmt: skip

    def symbols(self) -> dict[int, tuple[str, str, str]]:
        """Project, file and name of each symbol."""
        rows = self._rows("symbols", "id")
        return {row["id"]: (text(row["project"]), _path(text(row["file"])), text(row["name"]).strip()) for row in rows}

    def experiences(self) -> Iterator[dict[str, Any]]:
        """Every experience, symbol by symbol."""
        return self._rows("experiences", "symbol_id, id")

    def _rows(self, table: str, order: str) -> Iterator[dict[str, Any]]:
        needed, optional = _TABLES[table]
        names = [name for name in (*needed, *optional) if name in self.columns[table]]
        wanted = ", ".join(name if name.endswith("id") and name != "session_id" else f"CAST({name} AS BLOB)" for name in names)
        empty = dict.fromkeys(optional)
        for row in self.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}"):  # noqa: S608 - our own names
            yield empty | dict(zip(names, row, strict=True))


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
        except DAMAGED as error:
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
                            f"experience {raw['id']}", wrong=f"its type is {text(raw['type'])[:40]!r}, not fail or success"
                        )
                    else:
                        batch.append(row)
            yield from _symbol(project, symbols, last, batch)
        except DAMAGED as error:
            yield Incoming("database", wrong=f"it cannot be read from here on: {error}")
        if database.changed():
            yield Incoming("database", wrong="it was written to while it was read: import it again")


def _row(raw: dict[str, Any], before: int) -> Row | None:
    outcome = _OUTCOMES.get(text(raw["type"]).strip().lower())
    if outcome is None:
        return None
    said = text(raw["lesson"]).strip() or outcome
    lesson, detail = headline(said, text(raw["detail"]))
    status: Any = text(raw["status"]).strip().lower() or "active"
    at = to_millis(text(raw["created_at"]))
    return Row(
        raw["id"], outcome, lesson, detail, text(raw["session_id"]).strip(), status if status in _STATUSES else "inactive",
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
