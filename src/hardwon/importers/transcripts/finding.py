"""The transcripts of one repository, among all that the clients keep on this machine.

Clients keep them by the folder that a session was started in: the repository, one of its worktrees, or a folder below. The folder that a
file itself names decides; names of folders, which several paths may share, only tell where to look. Nothing is read through a link
that lies among the files, and nothing of another user.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from itertools import islice

from hardwon.code.remote import normalise_remote
from hardwon.code.siblings import real
from hardwon.errors import InvalidInput
from hardwon.importers.source import open_file
from hardwon.importers.transcripts import claude, codex, gemini, opencode, reading
from hardwon.importers.transcripts.folders import MOST_FILES, entries, first_line, folders, settings
from hardwon.importers.transcripts.records import inner, items, parsed, word
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from hardwon.importers.transcripts.opencode import Session

CLIENTS = (claude.CLIENT, codex.CLIENT, gemini.CLIENT, opencode.CLIENT)
_FIRST_LINES = 60  # in which a session says where it is
_AGENT = "agent-"  # with which Claude Code begins the name of a subagent's file
_LONGEST_NAME = 200  # of a folder's name that Claude Code makes of a path; the rest becomes a hash


class Roots(Value):
    """Where the clients keep what they write, each "" where it is not known: ``claude``: its configuration folders, ``codex``: CODEX_HOME,
    ``gemini``: ``~/.gemini``, ``opencode``: its data folder."""

    claude: tuple[str, ...] = ()
    codex: str = ""
    gemini: str = ""
    opencode: str = ""


class Ground(Value):
    """A repository: the tops of its working trees, as real paths, and its remote as it is compared ("" for none)."""

    tops: tuple[str, ...]
    origin: str = ""

    def holds(self, folder: str) -> bool:
        """Whether a folder is one of the working trees or lies in one, by its name or as its links lead."""
        if not folder:
            return False
        plain = folder.rstrip("/\\") or folder
        return self._below(plain) or self._below(real(plain))

    def _below(self, folder: str) -> bool:
        return any(folder == top or folder.startswith(top + os.sep) for top in self.tops)


class Transcript(Value):
    """A session as it lies on the disk. ``paths``: the file of the agent, then those of its subagents; ``cwd``: the folder it was started
    in; ``modified``: the last change, in milliseconds; ``size``: bytes. ``parts``: of a database, the sessions that belong to it."""

    client: str
    session: str
    paths: tuple[str, ...]
    cwd: str = ""
    modified: int = 0
    size: int = 0
    parts: tuple[Session, ...] = ()


class Found(Value):
    """What was found, oldest first; ``unreadable``: what looks like a transcript of this repository and could not be read, with why;
    ``foreign``: how many files belong to another user."""

    transcripts: tuple[Transcript, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    foreign: int = 0


class _Search:
    """One look through what the clients keep."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.found: list[Transcript] = []
        self.unreadable: list[tuple[str, str]] = []
        self.foreign = 0

    def files(self, folder: str, ends: tuple[str, ...]) -> Iterator[str]:
        """The files of a folder with one of these ends, links and other users' files left out."""
        for entry in entries(folder):
            if entry.name.endswith(ends) and self.is_mine(entry.path):
                yield entry.path

    def is_mine(self, path: str) -> bool:
        """Whether a path is a regular file of the user who asks."""
        try:
            state = os.lstat(path)
        except (OSError, ValueError):
            return False
        if not stat.S_ISREG(state.st_mode):
            return False
        if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
            self.foreign += 1
            return False
        return True

    def records(self, path: str, most: int) -> list[dict[str, Any]]:
        """The first objects of a file of lines; what hinders is kept for telling."""
        try:
            source = open_file(path)
            try:
                found = [parsed(raw) for _, raw in islice(source.lines(), most) if raw]
            finally:
                source.close()
        except InvalidInput as error:
            self.unreadable.append((path, error.message))
            return []
        return [one for one in found if isinstance(one, dict)]


def find(ground: Ground, roots: Roots, clients: Iterable[str] = CLIENTS, since: int = 0) -> Found:
    """The sessions of a repository that were written to at ``since`` (milliseconds) or later."""
    search = _Search(ground)
    wanted = frozenset(clients)
    for client, look in _LOOKS:
        if client in wanted:
            look(search, roots)
    kept = sorted((one for one in search.found if one.modified >= since), key=lambda one: (one.modified, one.session))
    return Found(tuple(kept), tuple(search.unreadable), search.foreign)


def notes(ground: Ground, roots: Roots) -> tuple[str, ...]:
    """The folders of notes that Claude Code keeps for a repository by itself, beside its sessions there. Of Codex there are none that
    belong to one repository."""
    search = _Search(ground)
    found = []
    for root in dict.fromkeys(map(real, filter(None, roots.claude))):
        for name in dict.fromkeys(_folder_name(top) for top in ground.tops):
            folder = os.path.join(root, "projects", name)
            memory = os.path.join(folder, "memory")
            if os.path.isdir(memory) and not os.path.islink(memory) and _is_here(search, folder):
                found.append(memory)
    return tuple(found)


def _is_here(search: _Search, folder: str) -> bool:
    """Whether the sessions of a folder are this repository's, for another path may have the same name; no session says nothing."""
    told = [_told_of(search, path) for path in search.files(folder, (".jsonl",))]
    return not told or any(map(search.ground.holds, told))


def _told_of(search: _Search, path: str, name: str = "cwd") -> str:
    return next((word(one, name) for one in search.records(path, _FIRST_LINES) if word(one, name)), "")


# --- Claude Code: projects/FOLDER/SESSION.jsonl, and SESSION/subagents/agent-….jsonl, which lay beside it before


def _claude(search: _Search, roots: Roots) -> None:
    names = [_folder_name(top) for top in search.ground.tops]
    places = []
    for root in dict.fromkeys(map(real, filter(None, roots.claude))):
        for folder in folders(os.path.join(root, "projects")):
            base = os.path.basename(folder)
            if any(base == name or base.startswith((name + "-", name[:_LONGEST_NAME])) for name in names):
                places.append(folder)
    for (session, folder), paths in _sessions(search, places).items():
        cwd = next(filter(None, (_told_of(search, path) for path in paths)), "")
        if search.ground.holds(cwd):
            _add(search, claude.CLIENT, session, (*paths, *_subagents(search, os.path.join(folder, session))), cwd)


def _sessions(search: _Search, places: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """The files of these folders by their session and its folder: its own, then those of its subagents. Older versions put them beside
    it, or into the folder of where a subagent worked; into another repository's session none of ours is drawn."""
    own: dict[tuple[str, str], list[str]] = {}
    beside = []
    for folder in places:
        for path in search.files(folder, (".jsonl",)):
            name = os.path.basename(path).removesuffix(".jsonl")
            if name.startswith(_AGENT):
                beside.append((_told_of(search, path, "sessionId") or name, folder, path))
            else:
                own[name, folder] = [path]
    homes = dict(reversed(own))
    for session, folder, path in beside:
        home = folder if (session, folder) in own else homes.setdefault(session, folder)
        is_ours = home == folder or search.ground.holds(_told_of(search, own[session, home][0]))
        own.setdefault((session, home if is_ours else folder), []).append(path)
    return own


def _folder_name(path: str) -> str:
    """What Claude Code calls the folder of a working directory."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in path)


def _subagents(search: _Search, folder: str) -> list[str]:
    found = []
    for place, names, _ in os.walk(os.path.join(folder, "subagents")):
        names[:] = sorted(name for name in names if not os.path.islink(os.path.join(place, name)))
        found += [path for path in search.files(place, (".jsonl",)) if os.path.basename(path).startswith(_AGENT)]
    return found[:MOST_FILES]


# --- Codex: sessions/YYYY/MM/DD/rollout-….jsonl


def _codex(search: _Search, roots: Roots) -> None:
    if not roots.codex:
        return
    own: dict[str, list[tuple[str, str]]] = {}  # the session, its files: those of its subagents name it too
    count = 0
    for top in ("sessions", "archived_sessions"):
        for place, names, _ in os.walk(os.path.join(real(roots.codex), top)):
            names[:] = sorted(name for name in names if not os.path.islink(os.path.join(place, name)))
            for path in search.files(place, (".jsonl",)):
                count += 1
                if count <= MOST_FILES and (told := _of_rollout(search, path)):
                    own.setdefault(told[0], []).append((path, told[1]))
    for session, files in own.items():
        _add(search, codex.CLIENT, session, tuple(path for path, _ in files), files[0][1])


def _of_rollout(search: _Search, path: str) -> tuple[str, str] | None:
    """The session and folder of a rollout of this repository; None for another one's."""
    for record in search.records(path, 1):
        meta = inner(record, "payload") or record
        if not word(meta, "id"):
            return None
        cwd = word(meta, "cwd") or _told_cwd(search, path)
        remote = normalise_remote(word(inner(meta, "git"), "repository_url"))
        known = bool(search.ground.origin) and remote == search.ground.origin
        if search.ground.holds(cwd) or known:
            source = inner(meta, "source", "subagent", "thread_spawn")
            return word(meta, "session_id", "parent_thread_id") or word(source, "parent_thread_id") or word(meta, "id"), cwd
    return None


def _told_cwd(search: _Search, path: str) -> str:
    """The folder that the first form tells only in the context that it gives the agent."""
    for record in search.records(path, _FIRST_LINES):
        for block in items(record.get("content")):
            if folder := codex.folder_of(word(block, "text")):
                return folder
    return ""


# --- Gemini CLI: tmp/PROJECT/chats/session-….jsonl, PROJECT a name out of projects.json or the hash of the folder


def _gemini(search: _Search, roots: Roots) -> None:
    if not roots.gemini:
        return
    root = real(roots.gemini)
    listed = inner(settings(os.path.join(root, "projects.json")), "projects")
    known = [path for path in listed if isinstance(path, str) and search.ground.holds(path)]
    places = {str(listed[path]): path for path in known}
    places |= {sha256(path.encode("utf-8", "replace")).hexdigest(): path for path in (*search.ground.tops, *known)}
    for folder in folders(os.path.join(root, "tmp")):
        owner = first_line(os.path.join(folder, ".project_root"))
        cwd = owner if search.ground.holds(owner) else "" if owner else places.get(os.path.basename(folder), "")
        if cwd:
            _chats(search, os.path.join(folder, "chats"), cwd)


def _chats(search: _Search, folder: str, cwd: str) -> None:
    """The chats of a project; a session that was gone on with may have several files."""
    own: dict[str, list[str]] = {}
    for path in search.files(folder, (".jsonl", ".json")):
        own.setdefault(_chat_session(search, path), []).append(path)
    for session, paths in own.items():
        if session:
            below = list(search.files(os.path.join(folder, session), (".jsonl", ".json")))
            _add(search, gemini.CLIENT, session, (*paths, *below), cwd)


def _chat_session(search: _Search, path: str) -> str:
    if path.endswith(".jsonl"):
        return next((word(one, "sessionId") for one in search.records(path, _FIRST_LINES) if word(one, "sessionId")), "")
    return word(settings(path, gemini.MOST_BYTES), "sessionId")


# --- OpenCode: opencode.db, and storage/ before it


def _opencode(search: _Search, roots: Roots) -> None:
    if not roots.opencode:
        return
    root = real(roots.opencode)
    seen: set[str] = set()
    for name in ("opencode.db", "storage"):
        path = os.path.join(root, name)
        if name == "storage" and not os.path.isdir(os.path.join(path, "session")):
            continue
        if name == "opencode.db" and not search.is_mine(path):
            continue
        try:
            for one in of_database(path):
                if one.session not in seen and search.ground.holds(one.cwd):
                    seen.add(one.session)
                    search.found.append(one)
        except InvalidInput as error:
            search.unreadable.append((path, error.message))


def of_database(path: str) -> list[Transcript]:
    """The sessions of OpenCode's database, or of its folder, each with those of its subagents."""
    sessions = opencode.sessions(path)
    ends = opencode.roots(sessions)
    groups: dict[str, list[Session]] = {}
    for session in sorted(sessions, key=lambda one: one.id != ends[one.id]):
        groups.setdefault(ends[session.id], []).append(session)
    found = []
    for root, parts in groups.items():
        modified = max(part.updated for part in parts)
        found.append(Transcript(opencode.CLIENT, root, (path,), parts[0].directory, modified, 0, tuple(parts)))
    return found


# --- files that somebody names


def named(path: str, ground: Ground, client: str = "") -> list[Transcript]:
    """The session of a file, whichever folder it tells; of a database, or a folder of OpenCode's older form, those of this repository.
    InvalidInput where it is no transcript."""
    if os.path.isdir(os.path.join(path, "session")):
        return [one for one in of_database(path) if ground.holds(one.cwd)]
    if (client or reading.recognise(path)) == opencode.CLIENT:
        found = of_database(path)
        if found and found[0].parts[0].form == "export":
            state = os.stat(path)
            return [one.replace(size=state.st_size, modified=one.modified or state.st_mtime_ns // 1_000_000) for one in found]
        return [one for one in found if ground.holds(one.cwd)]
    client = client or reading.recognise(path)
    session, cwd = reading.first(path, client)
    state = os.stat(path)
    return [Transcript(client, session, (path,), cwd, state.st_mtime_ns // 1_000_000, state.st_size)]


def together(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """Named transcripts, those that OpenCode exported of one session and of its subagents as one, as they are in its database."""
    exported = {one.parts[0].id: one for one in reversed(transcripts) if one.parts and one.parts[0].form == "export"}
    ends = opencode.roots([one.parts[0] for one in exported.values()])
    groups: dict[str, list[Transcript]] = {}
    for name, one in sorted(exported.items(), key=lambda pair: pair[0] != ends[pair[0]]):
        groups.setdefault(ends[name], []).append(one)
    whole = [
        several[0].replace(
            session=root, paths=tuple(one.paths[0] for one in several), parts=tuple(one.parts[0] for one in several),
            modified=max(one.modified for one in several), size=sum(one.size for one in several),
        )
        for root, several in groups.items()
    ]  # fmt: skip
    known = {id(one) for one in exported.values()}
    return [*(one for one in transcripts if id(one) not in known), *whole]


# --- the disk


def _add(search: _Search, client: str, session: str, paths: tuple[str, ...], cwd: str) -> None:
    states = []
    for path in paths:
        try:
            states.append(os.stat(path, follow_symlinks=False))
        except OSError as error:
            search.unreadable.append((path, error.strerror or str(error)))
            return
    modified = max(state.st_mtime_ns for state in states) // 1_000_000
    search.found.append(Transcript(client, session, paths, cwd, modified, sum(state.st_size for state in states)))


_LOOKS = ((claude.CLIENT, _claude), (codex.CLIENT, _codex), (gemini.CLIENT, _gemini), (opencode.CLIENT, _opencode))
