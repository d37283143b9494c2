"""Which folder belongs to which store.

One text file, ``registry`` in the Hardwon home, a word and its value a line; no JSON, whose import costs the quick path more than
the whole look-up. Readers take no lock: the file is replaced as a whole. Writers hold a kernel lock (gone with its process) from
reading to the durable rename, so that no entry is lost between two of them. Which entry a checkout belongs to is decided in
``identity``.
"""

from __future__ import annotations

import errno
import os
from stat import S_ISREG

from hardwon.errors import Busy, Damaged, DiskFull, InvalidInput, ReadOnly, SchemaNewer, StoreError
from hardwon.store.identity import (
    LONGEST_NAME,
    Entry,
    Folder,
    KeyNote,
    check_free,
    check_id,
    check_name,
    folder_of,
    free_name,
    is_id,
    is_name,
    match,
    settle,
    settled,
)
from hardwon.store.lock import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from hardwon.code.lineage import Lineage
    from hardwon.code.repo import Checkout
    from hardwon.store.identity import Match

_HEADER = "hardwon registry "
# 1 knew one remote an entry, and not what lay in each folder; 2 no keys. A file without keys is written as 2, so that an older Hardwon
# beside this one goes on until there is something that it would misread.
_PLAIN_VERSION = 2
_VERSION = 3
_END = "end"
_LONGEST = 32 << 20  # bytes; a hundred thousand repositories have less
PATIENCE = 10.0  # seconds to wait for the lock, unless told otherwise; it is held for milliseconds


class Registry:
    """The registry in the folder ``home``. Reading never writes, and never makes the folder.

    All methods raise Damaged or SchemaNewer for a file that cannot be used (it is left as it is), StoreError for one that cannot
    be read; those that write also Busy, DiskFull and ReadOnly.
    """

    def __init__(self, home: str, wait: float = PATIENCE) -> None:
        """``wait``: most seconds that a change waits for another process's."""
        self.home = os.path.abspath(home)
        self._wait = min(wait, PATIENCE)
        self._path = os.path.join(self.home, "registry")

    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first; () where there is no registry yet."""
        try:
            content = _content(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise _failed(error, self._path, "read") from error
        return _parsed(content, self._path)

    def named(self, name: str) -> Entry:
        """The entry of that name; InvalidInput, with the names that exist, where there is none."""
        return _named(self.entries(), name)

    def find(self, checkout: Checkout, lineage: Lineage | None = None) -> Match:
        """The entry of a checkout: by folder, then by origin, then (without any remote) by root commits.

        ``lineage`` is asked only for what decides. Without it history decides nothing: a known folder whose origin differs is
        ``changed``, and clones of local folders are not followed.
        """
        return match(self.entries(), checkout, lineage)

    def register(
        self, checkout: Checkout, lineage: Lineage | None = None, name: str | None = None, *, id: str, now: int
    ) -> Entry:
        """A new entry for the checkout, or the one it has, with its folder and facts as they are now; durable on return.

        ``id`` is the new store's, ``now`` milliseconds. Without ``name`` one is derived. InvalidInput for a name that is wrong or
        another repository's, for a folder that is registered under another name, and (without ``name``) where it is not certain
        which entry the checkout belongs to.
        """
        check_id(id)
        if name is not None:
            check_name(name)
        facts = _facts(checkout, lineage)
        with _Lock(self.home, self._wait):
            entries = self.entries()
            found = match(entries, checkout, lineage)
            known = settled(found, entries, checkout, name)
            if known is None:
                chosen = name or free_name(checkout, {entry.name for entry in entries})
                return self._keep(entries, _new(entries, id, chosen, now), facts)
            if found.why == "folder" and not checkout.common_dir:
                return known  # a plain folder's own subfolders need no mention
            return self._keep(entries, known, facts)

    def link(self, name: str, checkout: Checkout, lineage: Lineage | None = None) -> Entry:
        """The entry of that name, durably joined with the checkout's folder, which leaves any other entry; InvalidInput for a name
        that is not known. Its remote comes along unless another entry keeps a folder with it. Done already, it changes nothing.
        """
        facts = _facts(checkout, lineage)
        with _Lock(self.home, self._wait):
            entries = self.entries()
            return self._keep(entries, _named(entries, name), facts)

    def split(self, name: str, checkout: Checkout, lineage: Lineage | None = None, *, id: str, now: int) -> Entry:
        """A new entry of that name for the checkout's folder, which leaves any other; no store is touched.

        InvalidInput for a name that is wrong or taken; by this very folder's entry, it changes nothing.
        """
        check_id(id)
        check_name(name)
        facts = _facts(checkout, lineage)
        with _Lock(self.home, self._wait):
            entries = self.entries()
            own = next((entry for entry in entries if entry.name == name and folder_of(checkout) in entry.paths), None)
            return self._keep(entries, own or _new(entries, id, name, now), facts)

    def add(self, name: str, *, id: str, now: int) -> Entry:
        """The entry of that name; a new one, without a folder, where there is none: for what is imported before its repository is
        here. ``link`` joins a folder to it later."""
        check_id(id)
        check_name(name)
        with _Lock(self.home, self._wait):
            entries = self.entries()
            for entry in entries:
                if entry.name == name:
                    return entry
            entry = _new(entries, id, name, now)
            self._save((*entries, entry))
            return entry

    def entry(self, id: str) -> Entry:
        """The entry of that id; StoreError where it is gone."""
        for entry in self.entries():
            if entry.id == id:
                return entry
        raise StoreError(f"the registry knows no store {id}", remedy="see `hardwon status`")

    def set_keys(self, known: Entry, keys: tuple[KeyNote, ...]) -> Entry:
        """Durably note how the key of an entry's store is found; the entry as it is now. Busy where another process has changed that
        since it was ``known``."""
        with _Lock(self.home, self._wait):
            entry = self.entry(known.id)
            if entry.keys != known.keys:
                raise Busy(f"another process is changing the key of {entry.name}", field="key", remedy="try again")
            after: Entry = entry.replace(keys=keys)
            self._save(tuple(after if other.id == entry.id else other for other in self.entries()))
            return after

    def refresh(self) -> None:
        """Learn the remotes that registered folders have got since; those that hold something else by now are passed over."""
        from hardwon.code import repo
        from hardwon.code.lineage import Lineage

        with _Lock(self.home, self._wait):
            for entry in self.entries():
                for folder in entry.folders:
                    there = repo.at(folder.path)
                    if there is None or there.origin in ("", folder.remote) or folder_of(there) != folder.path:
                        continue
                    entries = self.entries()
                    owner = match(entries, there, Lineage(there)).entry
                    if owner and owner.id == entry.id:
                        self._keep(entries, owner, _facts(there, None))

    def store_path(self, entry: Entry) -> str:
        """Where the entry's store lies, or is to be made."""
        check_id(entry.id)
        return os.path.join(self.home, "stores", entry.id + ".db")

    def _keep(self, entries: tuple[Entry, ...], entry: Entry, facts: tuple[Folder, tuple[str, ...]]) -> Entry:
        """The entry with a checkout's folder and remotes, saved if that changed anything."""
        after = settle(entries, entry, *facts)
        if after != entries:
            self._save(after)
        return next(known for known in after if known.id == entry.id)

    def _save(self, entries: tuple[Entry, ...]) -> None:
        from hardwon.store import files

        try:
            files.write_whole(self._path, [_written(entries)])
        except OSError as error:
            raise _failed(error, self._path, "write") from error


def _facts(checkout: Checkout, lineage: Lineage | None) -> tuple[Folder, tuple[str, ...]]:
    """What is kept of a checkout: its folder, and its remotes, where it is a clone of a clone all on the way. Asked before the lock
    is taken: git may need seconds for the root commits of a large repository."""
    folder = Folder(folder_of(checkout), checkout.origin, lineage.roots() if lineage else ())
    sources = lineage.sources() if lineage else ()
    return folder, tuple(filter(None, (checkout.origin, *(source.origin for source in sources))))


def _new(entries: tuple[Entry, ...], id: str, name: str, now: int) -> Entry:
    if any(entry.id == id for entry in entries):
        raise InvalidInput(f"the id {id} is in use", field="id", remedy="Make a new one.")
    check_free(entries, name)
    return Entry(id, name, created_at=now)


def _named(entries: tuple[Entry, ...], name: str) -> Entry:
    for entry in entries:
        if entry.name == name:
            return entry
    known = ", ".join(sorted(entry.name for entry in entries))
    raise InvalidInput(
        f"no project is called {name[:LONGEST_NAME]!r}",
        field="project",
        remedy=f"Known: {known}." if known else "There are none yet; run `hardwon init` in a repository.",
    )


# --- the file


def _written(entries: tuple[Entry, ...]) -> bytes:
    lines = [f"{_HEADER}{_VERSION if any(entry.keys for entry in entries) else _PLAIN_VERSION}"]
    for entry in entries:
        lines += [f"id {entry.id}", f"name {entry.name}", f"created_at {entry.created_at}"]
        for key in entry.keys:
            lines += [f"key {_escaped(key.place)}", f"recipient {key.recipient}", f"check {key.check}"]
        lines += [f"origin {_escaped(origin)}" for origin in entry.origins]
        lines += [f"root {root}" for root in entry.roots]
        for folder in entry.folders:
            lines += [f"folder {_escaped(folder.path)}", f"remote {_escaped(folder.remote)}"]
            lines += [f"root {root}" for root in folder.roots]
    return ("\n".join([*lines, _END]) + "\n").encode("utf-8", "surrogateescape")


def _parsed(content: bytes, path: str) -> tuple[Entry, ...]:
    try:
        first, *lines = content.decode("utf-8", "surrogateescape").split("\n")
        version = int(first.removeprefix(_HEADER)) if first.startswith(_HEADER) else 0
        if version > _VERSION:
            raise SchemaNewer(f"{path} was made by a later Hardwon", remedy="Upgrade Hardwon.")
        if version < 1 or lines.pop() != "" or lines.pop() != _END:  # else the file was cut
            raise _damaged(path)
        entries = tuple(_entry(block) for block in _blocks(lines))
    except (ValueError, IndexError, KeyError) as error:
        raise _damaged(path) from error
    if not all(is_id(entry.id) and is_name(entry.name) for entry in entries):
        raise _damaged(path)
    if len({entry.id for entry in entries}) < len(entries) or len({entry.name for entry in entries}) < len(entries):
        raise _damaged(path)
    return entries


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each entry; the first one is its id."""
    starts = [at for at, line in enumerate(lines) if line.startswith("id ")]
    if lines and starts[:1] != [0]:
        raise ValueError(lines[0])
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start:end]


def _entry(lines: list[str]) -> Entry:
    """An entry from its lines; ValueError, IndexError or KeyError for anything that ``_written`` never wrote."""
    once: dict[str, str] = {}
    origins: list[str] = []
    roots: list[str] = []
    folders: list[tuple[str, list[str], list[str]]] = []  # path, remotes, roots
    keys: list[KeyNote] = []
    for line in lines:
        word, value = line.split(" ", 1)
        if word == "root":
            (folders[-1][2] if folders else roots).append(value)
        elif word == "folder":
            folders.append((_unescaped(value), [], []))
        elif word == "remote":
            folders[-1][1].append(_unescaped(value))
        elif word == "origin":
            origins.append(_unescaped(value))
        elif word in ("id", "name", "created_at"):
            once[word] = value
        elif word == "key":
            keys.append(KeyNote(_unescaped(value)))
        elif word in ("recipient", "check"):
            keys[-1] = keys[-1].replace(**{word: value})
        else:
            raise ValueError(word)
    remotes = tuple(filter(None, origins))  # the first version wrote an empty line for none
    known = tuple(Folder(path, "".join((remote or remotes)[:1]), tuple(own)) for path, remote, own in folders)
    return Entry(once["id"], once["name"], known, remotes, tuple(roots), int(once["created_at"]), tuple(keys))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")  # a path holds no NUL


def _damaged(path: str) -> Damaged:
    return Damaged(
        f"{path} is not what was written",
        remedy="It is left untouched, and so are the stores beside it. Restore it from a backup, or correct it by hand.",
    )


def _content(path: str) -> bytes:
    """What the file holds; Damaged for what is no file, and for more than a registry can have."""
    # Without O_NONBLOCK, opening a pipe would wait for somebody to write.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        content = file.read(_LONGEST + 1) if S_ISREG(os.fstat(file.fileno()).st_mode) else None
    if content is None or len(content) > _LONGEST:
        raise _damaged(path)
    return content


def _make_home(home: str) -> None:
    if os.path.isdir(home):
        return
    from hardwon.store import files

    files.disk.make_folder(home)
    files.disk.sync_folder(os.path.dirname(home))


def _failed(error: OSError, path: str, verb: str) -> StoreError:
    kind: type[StoreError] = StoreError
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        kind = DiskFull
    elif verb == "write" and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        kind = ReadOnly
    return kind(f"cannot {verb} {path}: {error.strerror or error}", remedy="Check the folder, or set HARDWON_HOME to another.")


class _Lock:
    """The writers' lock in ``home``, as a context; the folder is made if need be. Busy after ``wait`` seconds."""

    def __init__(self, home: str, wait: float) -> None:
        self._home = home
        self._wait = wait
        self._lock = FileLock(os.path.join(home, "registry.lock"))

    def __enter__(self) -> None:
        try:
            _make_home(self._home)
            self._lock.acquire(self._wait)
        except OSError as error:
            raise _failed(error, self._lock.path, "write") from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()
