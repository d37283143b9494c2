"""Which folder belongs to which store.

One text file, ``registry`` in the Hardwon home, a word and its value a line; no JSON, whose import costs the quick path more than
the whole look-up. Readers take no lock: the file is replaced as a whole. Writers hold a kernel lock (gone with its process) from
reading to the durable rename, so that no entry is lost between two of them. Which entry a checkout belongs to is decided in
``identity``.
"""

from __future__ import annotations

import errno
import os

from hardwon.errors import Damaged, DiskFull, InvalidInput, NotFound, ReadOnly, SchemaNewer, StoreError
from hardwon.store.identity import (
    LONGEST_NAME,
    Entry,
    check_id,
    check_name,
    folder_of,
    free_name,
    is_id,
    is_name,
    joined,
    match,
    settled,
)
from hardwon.store.lock import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from hardwon.code.repo import Checkout
    from hardwon.store.identity import Match, Roots

_HEADER = "hardwon registry "
_VERSION = 1
_END = "end"
_PATIENCE = 10.0  # seconds to wait for the lock; it is held for milliseconds


class Registry:
    """The registry in the folder ``home``. Reading never writes, and never makes the folder.

    All methods raise Damaged or SchemaNewer for a file that cannot be used (it is left as it is), StoreError for one that cannot
    be read; those that write also Busy, DiskFull and ReadOnly.
    """

    def __init__(self, home: str) -> None:
        self.home = os.path.abspath(home)
        self._path = os.path.join(self.home, "registry")

    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first; () where there is no registry yet."""
        try:
            with open(self._path, "rb") as file:
                content = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise _failed(error, self._path, "read") from error
        return _parsed(content, self._path)

    def named(self, name: str) -> Entry:
        """The entry of that name; InvalidInput, with the names that exist, where there is none."""
        entries = self.entries()
        for entry in entries:
            if entry.name == name:
                return entry
        known = ", ".join(sorted(entry.name for entry in entries))
        raise InvalidInput(
            f"no project is called {name[:LONGEST_NAME]!r}",
            field="project",
            remedy=f"Known: {known}." if known else "There are none yet; run `hardwon init` in a repository.",
        )

    def find(self, checkout: Checkout, roots: Roots = None) -> Match:
        """The entry of a checkout: by folder, then by origin, then (without any remote) by root commits.

        ``roots`` are the checkout's root commits, or a function that finds them, called only where they decide. With None they
        decide nothing: a known folder whose origin differs is ``changed``.
        """
        return match(self.entries(), checkout, roots)

    def register(self, checkout: Checkout, name: str | None = None, roots: tuple[str, ...] = (), *, id: str, now: int) -> Entry:
        """A new entry for the checkout, durable on return; the one it has, where another process was quicker.

        ``id`` is the new store's, ``now`` milliseconds. Without ``name`` one is derived. InvalidInput for a name that is wrong or
        another repository's, for a folder that is registered under another name, and (without ``name``) where it is not certain
        which entry the checkout belongs to.
        """
        check_id(id)
        if name is not None:
            check_name(name)
        with _Lock(self.home):
            entries = self.entries()
            found = match(entries, checkout, roots)
            known = settled(found, entries, checkout, name)
            if known is not None:
                below = found.why == "folder" and not checkout.common_dir  # a plain folder's own subfolders need no mention
                return self._joined(entries, known, checkout, roots, adopt=not below)
            if any(entry.id == id for entry in entries):
                raise InvalidInput(f"the id {id} is in use", field="id", remedy="Make a new one.")
            chosen = name or free_name(checkout, {entry.name for entry in entries})
            entry = Entry(id, chosen, (folder_of(checkout),), checkout.origin, tuple(sorted(set(roots))), now)
            self._save(joined(entries, entry))
            return entry

    def attach(self, entry: Entry, checkout: Checkout, roots: tuple[str, ...] = ()) -> Entry:
        """The entry, durably joined with the checkout: NotFound where it is gone.

        The folder is added, and taken from any other entry; origin and ``roots``, where there are any, replace the entry's.
        """
        with _Lock(self.home):
            entries = self.entries()
            for known in entries:
                if known.id == entry.id:
                    return self._joined(entries, known, checkout, roots, adopt=True)
        raise NotFound(f"the project {entry.name!r} is not registered any more", field="project", remedy="Run `hardwon init`.")

    def store_path(self, entry: Entry) -> str:
        """Where the entry's store lies, or is to be made."""
        check_id(entry.id)
        return os.path.join(self.home, "stores", entry.id + ".db")

    def _joined(
        self, entries: tuple[Entry, ...], entry: Entry, checkout: Checkout, roots: tuple[str, ...], *, adopt: bool
    ) -> Entry:
        """The entry with the checkout's facts, saved if that changed anything; ``adopt`` adds the folder."""
        folder = folder_of(checkout)
        changed: Entry = entry.replace(
            folders=entry.folders if folder in entry.folders or not adopt else (*entry.folders, folder),
            origin=checkout.origin or entry.origin,
            roots=tuple(sorted(set(roots))) or entry.roots,
        )
        after = joined(entries, changed)
        if after != entries:
            self._save(after)
        return changed

    def _save(self, entries: tuple[Entry, ...]) -> None:
        data = _written(entries)
        part = self._path + ".part"  # one name is enough under the lock, and a crash leaves at most one
        try:
            _write(part, data)
            os.replace(part, self._path)
            _sync_folder(self.home)
        except OSError as error:
            raise _failed(error, self._path, "write") from error


def _written(entries: tuple[Entry, ...]) -> bytes:
    lines = [f"{_HEADER}{_VERSION}"]
    for entry in entries:
        lines += [f"id {entry.id}", f"name {entry.name}", f"origin {_escaped(entry.origin)}", f"created_at {entry.created_at}"]
        lines += [f"root {root}" for root in entry.roots]
        lines += [f"folder {_escaped(folder)}" for folder in entry.folders]
    return ("\n".join([*lines, _END]) + "\n").encode("utf-8", "surrogateescape")


def _parsed(content: bytes, path: str) -> tuple[Entry, ...]:
    try:
        first, *lines = content.decode("utf-8", "surrogateescape").split("\n")
        version = int(first.removeprefix(_HEADER)) if first.startswith(_HEADER) else 0
        if version > _VERSION:
            raise SchemaNewer(f"{path} was made by a later Hardwon", remedy="Upgrade Hardwon.")
        if version != _VERSION or lines.pop() != "" or lines.pop() != _END:  # else the file was cut
            raise _damaged(path)
        entries = _entries(lines)
    except (ValueError, IndexError) as error:
        raise _damaged(path) from error
    if not all(is_id(entry.id) and is_name(entry.name) for entry in entries):
        raise _damaged(path)
    if len({entry.id for entry in entries}) < len(entries) or len({entry.name for entry in entries}) < len(entries):
        raise _damaged(path)
    return entries


def _entries(lines: list[str]) -> tuple[Entry, ...]:
    """Entries from their lines; ValueError or IndexError for anything that ``_written`` does not write."""
    entries: list[Entry] = []
    for line in lines:
        word, value = line.split(" ", 1)
        if word == "id":
            entries.append(Entry(value, ""))
            continue
        entry = entries[-1]
        if word == "root":
            entries[-1] = entry.replace(roots=(*entry.roots, value))
        elif word == "folder":
            entries[-1] = entry.replace(folders=(*entry.folders, _unescaped(value)))
        elif word == "created_at":
            entries[-1] = entry.replace(created_at=int(value))
        elif word in ("name", "origin"):
            entries[-1] = entry.replace(**{word: _unescaped(value)})
        else:
            raise ValueError(word)
    return tuple(entries)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _unescaped(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")  # a path holds no NUL


def _damaged(path: str) -> Damaged:
    return Damaged(
        f"{path} is not what was written",
        remedy="It is left untouched, and so are the stores beside it. Restore it from a backup, or correct it by hand.",
    )


def _write(path: str, data: bytes) -> None:
    """The file, whole and on the disk, or no file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        os.unlink(path)
        raise


def _sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_home(home: str) -> None:
    if os.path.isdir(home):
        return
    os.makedirs(home, 0o700, exist_ok=True)
    _sync_folder(os.path.dirname(home))


def _failed(error: OSError, path: str, verb: str) -> StoreError:
    kind: type[StoreError] = StoreError
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        kind = DiskFull
    elif verb == "write" and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        kind = ReadOnly
    return kind(f"cannot {verb} {path}: {error.strerror or error}", remedy="Check the folder, or set HARDWON_HOME to another.")


class _Lock:
    """The writers' lock in ``home``, as a context; the folder is made if need be. Busy after ten seconds."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._lock = FileLock(os.path.join(home, "registry.lock"))

    def __enter__(self) -> None:
        try:
            _make_home(self._home)
            self._lock.acquire(_PATIENCE)
        except OSError as error:
            raise _failed(error, self._lock.path, "write") from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()
