"""Sessions of OpenCode: a SQLite database of sessions, messages and their parts, before that a folder of JSON files of the same, and what
``opencode export`` writes of one session."""

from __future__ import annotations

import os

from hardwon.capture.event import Event
from hardwon.errors import InvalidInput
from hardwon.importers.database import ERROR, Database, text
from hardwon.importers.source import open_file
from hardwon.importers.transcripts import calls
from hardwon.importers.transcripts.records import clipped, inner, items, millis, parsed, whole_number, word
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hardwon.capture.event import Ended
    from hardwon.importers.transcripts.records import Tally

CLIENT = "opencode"
_TABLES = {
    "session": ("id", "directory"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "data"),
}
_LONGEST_VALUE = 16 << 20  # bytes
_LONGEST_EXPORT = 64 << 20
_MOST_PARTS = 2_000  # of one message, which is held as a whole
_MOST_OF_MESSAGE = 32 << 20  # bytes of its parts
_DEEPEST = 20  # sessions inside one another
_SILENT = ("reasoning", "step-start", "step-finish", "snapshot", "patch", "file", "agent", "subtask", "retry", "compaction")
# A part in the order of its session: message, its time and data, then the part's own data.
_PARTS = """
SELECT CAST(m.id AS BLOB), m.time_created,
    CASE WHEN length(CAST(m.data AS BLOB)) <= ?1 THEN CAST(m.data AS BLOB) END,
    CAST(p.id AS BLOB), CASE WHEN length(CAST(p.data AS BLOB)) <= ?1 THEN CAST(p.data AS BLOB) END
FROM message m LEFT JOIN part p ON p.message_id = m.id
WHERE m.session_id = ?2 ORDER BY m.time_created, m.id, p.id
"""


class Session(Value):
    """A session. ``parent`` is the session that it was started from, as a subagent; times are milliseconds; ``revert``: the message from
    which on it was taken back, "" for none; ``form``: what it lies in, a ``database``, a ``folder`` of the older form, or an ``export``."""

    id: str
    directory: str
    parent: str = ""
    version: str = ""
    title: str = ""
    updated: int = 0
    revert: str = ""
    form: str = "database"


def is_export(head: bytes) -> bool:
    """Whether a file that begins so is what ``opencode export`` writes."""
    return b"".join(head[:200].removeprefix(b"\xef\xbb\xbf").split()).startswith(b'{"info":{')


def _form(path: str) -> str:
    """What a path is: the folder of the older form, an export, or else meant as the database."""
    if os.path.isdir(path):
        return "folder"
    source = open_file(path)
    try:
        return "export" if is_export(source.head) else "database"
    finally:
        source.close()


# --- the database


def sessions(path: str) -> list[Session]:
    """The sessions of a database, or of a folder of the older form, or the one of an export; InvalidInput for what is none of these."""
    form = _form(path)
    if form != "database":
        return list(_stored_sessions(path)) if form == "folder" else [_as_stored(inner(_exported(path), "info"), form)]
    with Database(path, _TABLES, "OpenCode") as database:
        names = ("parent_id", "version", "title", "time_updated", "revert")
        known = [name if name in database.columns["session"] else "NULL" for name in names]
        wanted = ", ".join(f"CAST({name} AS BLOB)" for name in ("id", "directory", *known))
        try:
            rows = [[text(one) for one in row] for row in database.execute(f"SELECT {wanted} FROM session ORDER BY id")]  # noqa: S608
        except ERROR as error:
            raise _unreadable(path, error) from error
    return [_session(*row) for row in rows if row[0]]


def _session(name: str, directory: str, parent: str, version: str, title: str, updated: str, revert: str) -> Session:
    return Session(name, directory, parent, version, title, whole_number(updated) or 0, word(parsed(revert), "messageID"))


def read(path: str, session: Session, root: str, tally: Tally) -> Iterator[Event]:
    """What a session tells; ``root``: the id of the session that it belongs to, its own where it is no subagent's."""
    reader = _Reader(tally, session, root)
    if session.form != "database":
        several = _stored(path, session.id, tally) if session.form == "folder" else _of_export(path, session.id, tally)
        for message, parts in several:
            yield from reader.message(message, parts)
        return
    with Database(path, _TABLES, "OpenCode") as database:
        try:
            for message, parts in _grouped(database, session.id, tally):
                yield from reader.message(message, parts)
        except ERROR:
            tally.broken += 1
        if database.changed():
            tally.cut += 1  # somebody wrote to it meanwhile: what is missing comes the next time


def _grouped(database: Database, session: str, tally: Tally) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each message with its parts, one message at a time."""
    last: bytes = b""
    message: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    size = 0
    for identifier, created, said, part, data in database.execute(_PARTS, (_LONGEST_VALUE, session)):
        if identifier != last:
            if last:
                yield message, parts
            last, parts, size = identifier, [], 0
            message = _object(said, tally) | {"id": text(identifier), "created": created}
        if part is None:
            continue
        size += len(data or b"")
        if len(parts) >= _MOST_PARTS or size > _MOST_OF_MESSAGE:
            tally.too_long += 1
            continue
        parts.append(_object(data, tally) | {"id": text(part)})
    if last:
        yield message, parts


def _object(raw: bytes | None, tally: Tally) -> dict[str, Any]:
    if raw is None:
        tally.too_long += 1
        return {}
    found = parsed(raw)
    if isinstance(found, dict):
        tally.records += 1
        return found
    tally.broken += 1
    return {}


def _unreadable(path: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{path[:200]!r} cannot be read: {error}",
        field="file",
        remedy="end OpenCode, or name what `opencode export ID > FILE` writes",
    )


def roots(found: list[Session]) -> dict[str, str]:
    """The session that each belongs to in the end: its own id, or for a subagent's the id of the one that all of it began with."""
    parents = {session.id: session.parent for session in found}
    ends = {}
    for name in parents:
        root = name
        for _ in range(_DEEPEST):
            if not parents.get(root):
                break
            root = parents[root]
        ends[name] = root
    return ends


# --- the older form: storage/session/PROJECT/ID.json, storage/message/SESSION/ID.json, storage/part/MESSAGE/ID.json


def _stored_sessions(folder: str) -> Iterator[Session]:
    top = os.path.join(folder, "session")
    for project in _names(top):
        for name in _names(os.path.join(top, project)):
            told = _file(os.path.join(top, project, name))
            if word(told, "id"):
                yield _as_stored(told, "folder")


def _as_stored(told: dict[str, Any], form: str) -> Session:
    return Session(
        word(told, "id"), word(told, "directory"), word(told, "parentID"), word(told, "version"), word(told, "title"),
        millis(inner(told, "time").get("updated"), 0), word(inner(told, "revert"), "messageID"), form,
    )  # fmt: skip


def _stored(folder: str, session: str, tally: Tally) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if not _is_name(session):
        return
    messages = os.path.join(folder, "message", session)
    known: set[str] = set()
    for name in _names(messages):  # their ids sort by time
        message = _file(os.path.join(messages, name))
        identifier = word(message, "id")
        if not _is_name(identifier) or identifier in known:
            tally.broken += 1
            continue
        known.add(identifier)
        tally.records += 1
        parts = list(_stored_parts(os.path.join(folder, "part", identifier), tally))
        tally.broken += sum(not part for part in parts)
        yield message | {"created": inner(message, "time").get("created")}, parts


def _stored_parts(folder: str, tally: Tally) -> Iterator[dict[str, Any]]:
    """The parts of a message, as many as are held at once."""
    size = 0
    names = _names(folder)
    for number, name in enumerate(names):
        path = os.path.join(folder, name)
        size += _size(path)
        if number >= _MOST_PARTS or size > _MOST_OF_MESSAGE:
            tally.too_long += len(names) - number
            return
        yield _file(path)


def _size(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0


def _is_name(text: str) -> bool:
    return bool(text) and len(text) < 200 and not set(text) & set("/\\\0") and not text.startswith(".")


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _file(path: str) -> dict[str, Any]:
    """A small file as an object; {} for what is none, or cannot be read."""
    try:
        source = open_file(path)
        try:
            found = parsed(source.text(_LONGEST_VALUE))
        finally:
            source.close()
    except InvalidInput:
        return {}
    return found if isinstance(found, dict) else {}


# --- what `opencode export` writes: {"info": SESSION, "messages": [{"info": MESSAGE, "parts": [PART, …]}, …]}


def _exported(path: str) -> dict[str, Any]:
    """An export as it stands; InvalidInput for what is none, or not whole."""
    source = open_file(path)
    try:
        found = parsed(source.text(_LONGEST_EXPORT))
    finally:
        source.close()
    if not word(inner(found, "info"), "id") or not isinstance(found.get("messages"), list):
        raise InvalidInput(
            f"{path[:200]!r} is no whole export of a session", field="file", remedy="write it anew: opencode export ID"
        )
    return found  # type: ignore[no-any-return]  # an object, as inner has found


def _of_export(path: str, session: str, tally: Tally) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for number, one in enumerate(items(_exported(path).get("messages"))):
        message, parts = inner(one, "info"), items(one.get("parts"))
        tally.records += 1 + len(parts)
        tally.too_long += max(0, len(parts) - _MOST_PARTS)
        identifier = word(message, "id") or f"{session}/{number}"
        told = [{"messageID": identifier, **part} for part in parts[:_MOST_PARTS]]
        yield message | {"id": identifier, "created": inner(message, "time").get("created")}, told


# --- what it says


class _Reader:
    """The messages of one session, in order."""

    def __init__(self, tally: Tally, session: Session, root: str) -> None:
        self._tally = tally
        self._session = session
        self._told: dict[str, Any] = {
            "cwd": session.directory, "agent": "" if root == session.id else session.id, "version": session.version, "model": "",
        }  # fmt: skip
        self._root = root
        self._at = 1
        self._names: set[str] = set()  # of calls
        self._begun = self._is_over = False

    def message(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Event]:
        """What a message and its parts tell."""
        self._is_over = self._is_over or (bool(self._session.revert) and word(message, "id") == self._session.revert)
        if self._is_over:
            self._tally.rewound += 1 + len(parts)
            return
        self._at = millis(message.get("created"), self._at)
        self._told["cwd"] = word(inner(message, "path"), "cwd") or self._told["cwd"]
        self._told["model"] = word(message, "modelID") or word(inner(message, "model"), "modelID") or self._told["model"]
        if not self._begun:
            self._begun = True
            yield self._event("start", source="startup")
        role = word(message, "role")
        if role == "assistant" and message.get("summary") is True:
            yield self._event("compact")
            return
        for part in parts:
            yield from self._part(role, part)

    def _event(self, moment: Any, at: int = 0, **fields: Any) -> Event:
        return Event(moment, CLIENT, self._root, at or self._at, **{**self._told, **fields})

    def _part(self, role: str, part: dict[str, Any]) -> Iterator[Event]:
        kind = word(part, "type")
        if kind == "text":
            said = word(part, "text").strip()
            if said and not part.get("synthetic") and not part.get("ignored"):
                if role == "assistant":
                    yield self._event("said", text=clipped(said), turn=word(part, "messageID"))
                elif role == "user" and not self._told["agent"]:
                    yield self._event("prompt", text=clipped(_unquoted(said)), turn=word(part, "messageID"))
        elif kind == "tool":
            yield from self._tool(part)
        elif kind not in _SILENT:
            self._tally.miss(kind)

    def _name(self, part: dict[str, Any]) -> str:
        """The id of a call. Some models number their calls anew in each message: one that was met before goes by its part's own id."""
        name = word(part, "callID")
        if name in self._names:
            name = word(part, "id") or f"{name}#{len(self._names)}"
        if name:
            self._names.add(name)
        return name

    def _tool(self, part: dict[str, Any]) -> Iterator[Event]:
        state = inner(part, "state")
        call = calls.begun(word(part, "tool"), inner(state, "input"), self._name(part))
        times = inner(state, "time")
        yield self._event("before", millis(times.get("start"), self._at), **call)
        status = word(state, "status")
        if status not in ("completed", "error"):
            return  # at work, or it was when OpenCode ended
        error = word(state, "error")
        code = whole_number(inner(state, "metadata").get("exit"))
        ended: Ended = "failed" if status == "error" or code else "ok"
        if error.startswith(("The user rejected permission", "The user has specified a rule which prevents")):
            ended = "denied"
        elif error.startswith(("Tool execution aborted", "Tool execution was interrupted")):
            ended = "interrupted"
        elif call["tool"] == "shell" and status == "completed" and code is None:
            ended = "unknown"
        output = clipped(error or word(state, "output"))
        yield self._event(
            "after",
            millis(times.get("end"), self._at),
            ended=ended,
            exit_code=code,
            output=output,
            **call,
        )


def _unquoted(text: str) -> str:
    """What a person said: `opencode run` puts its words into quotes, as JSON does."""
    if len(text) < 2 or not text[0] == text[-1] == '"':
        return text
    inside = text[1:-1]
    if '"' not in inside:
        return inside
    said = parsed(text)
    return said if isinstance(said, str) else text
