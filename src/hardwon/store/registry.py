"""Which folder belongs to which store.

One text file, ``registry`` in the Hardwon home, a word and its value a line; no JSON, whose import costs the quick path more than the
whole look-up.Readers take no lock: the file is replaced as a whole. Writers hold a kernel lock
(gone with its process) from reading to the durable rename, so that no entry is lost between two of them.
A folder's own name never decides; what is not certain is asked, not guessed.
"""

from __future__ import annotations

import errno
import os

from hardwon.errors import Damaged, DiskFull, InvalidInput, NotFound, ReadOnly, SchemaNewer, StoreError
from hardwon.store.lock import FileLock
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from hardwon.code.repo import Checkout

    Roots = tuple[str, ...] | Callable[[], tuple[str, ...]] | None

_HEADER = "hardwon registry "
_VERSION = 1
_END = "end"
_PATIENCE = 10.0  # seconds to wait for the lock; it is held for milliseconds
_LONGEST = 64  # characters of a name
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX = frozenset("0123456789abcdef")


class Entry(Value):
    """A store and the repository it belongs to.

    ``folders`` are common folders of git, or plain folders (real paths); ``origin`` is a normalised remote; ``roots`` the
    repository's root commits, as far as known; ``created_at`` milliseconds.
    """

    id: str
    name: str
    folders: tuple[str, ...] = ()
    origin: str = ""
    roots: tuple[str, ...] = ()
    created_at: int = 0


class Match(Value):
    """What the registry knows of a checkout.

    ``why`` is ``folder``, ``origin`` or ``root commits`` with an entry; without one ``none``, ``ambiguous`` (several fit) or
    ``changed`` (the folder is known, but another repository may lie there now). ``candidates`` are the entries to ask about.
    """

    entry: Entry | None
    why: str
    candidates: tuple[Entry, ...] = ()


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
            f"no project is called {name[:_LONGEST]!r}",
            field="project",
            remedy=f"Known: {known}." if known else "There are none yet; run `hardwon init` in a repository.",
        )

    def find(self, checkout: Checkout, roots: Roots = None) -> Match:
        """The entry of a checkout: by folder, then by origin, then (without any remote) by root commits.

        ``roots`` are the checkout's root commits, or a function that finds them, called only where they decide. With None they
        decide nothing: a known folder whose origin differs is ``changed``.
        """
        return _match(self.entries(), checkout, roots)

    def register(self, checkout: Checkout, name: str | None = None, roots: tuple[str, ...] = (), *, id: str, now: int) -> Entry:
        """A new entry for the checkout, durable on return; the one it has, where another process was quicker.

        ``id`` is the new store's, ``now`` milliseconds. Without ``name`` one is derived. InvalidInput for a name that is wrong or
        another repository's, for a folder that is registered under another name, and (without ``name``) where it is not certain
        which entry the checkout belongs to.
        """
        _check_id(id)
        if name is not None:
            _check_name(name)
        with _Lock(self.home):
            entries = self.entries()
            match = _match(entries, checkout, roots)
            known = _settled(match, entries, checkout, name)
            if known is not None:
                below = match.why == "folder" and not checkout.common_dir  # a plain folder's own subfolders need no mention
                return self._joined(entries, known, checkout, roots, adopt=not below)
            if any(entry.id == id for entry in entries):
                raise InvalidInput(f"the id {id} is in use", field="id", remedy="Make a new one.")
            chosen = name or _free_name(checkout, {entry.name for entry in entries})
            entry = Entry(id, chosen, (_folder(checkout),), checkout.origin, tuple(sorted(set(roots))), now)
            self._save(_with(entries, entry))
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
        _check_id(entry.id)
        return os.path.join(self.home, "stores", entry.id + ".db")

    def _joined(
        self, entries: tuple[Entry, ...], entry: Entry, checkout: Checkout, roots: tuple[str, ...], *, adopt: bool
    ) -> Entry:
        """The entry with the checkout's facts, saved if that changed anything; ``adopt`` adds the folder."""
        folder = _folder(checkout)
        joined: Entry = entry.replace(
            folders=entry.folders if folder in entry.folders or not adopt else (*entry.folders, folder),
            origin=checkout.origin or entry.origin,
            roots=tuple(sorted(set(roots))) or entry.roots,
        )
        after = _with(entries, joined)
        if after != entries:
            self._save(after)
        return joined

    def _save(self, entries: tuple[Entry, ...]) -> None:
        data = _written(entries)
        part = self._path + ".part"  # one name is enough under the lock, and a crash leaves at most one
        try:
            _write(part, data)
            os.replace(part, self._path)
            _sync_folder(self.home)
        except OSError as error:
            raise _failed(error, self._path, "write") from error


# --- matching, pure


def _match(entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match:
    return _by_folder(entries, checkout, roots) or _by_origin(entries, checkout) or _by_roots(entries, checkout, roots)


def _by_folder(entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match | None:
    for folder in _places(checkout):
        owners = tuple(entry for entry in entries if folder in entry.folders)
        if len(owners) > 1:
            return Match(None, "ambiguous", owners)
        if owners:
            return _still(owners[0], entries, checkout, roots)
    if checkout.common_dir == os.path.join(checkout.root, ".git"):
        return _since_plain(entries, checkout)
    return None


def _places(checkout: Checkout) -> list[str]:
    """The folders that decide, nearest first: git's common folder, or outside git the folder and all above it."""
    if checkout.common_dir:
        return [checkout.common_dir]
    places = [checkout.root]
    while (above := os.path.dirname(places[-1])) != places[-1]:
        places.append(above)
    return places


def _still(entry: Entry, entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match:
    """Whether a known folder still holds the entry's repository; its origin is the only thing that is quick to compare."""
    if not checkout.origin or checkout.origin == entry.origin:
        return Match(entry, "folder", (entry,))
    others = tuple(other for other in entries if other.id != entry.id and other.origin == checkout.origin)
    if others:
        return Match(None, "changed", (entry, *others))
    if entry.origin and set(entry.roots).isdisjoint(_known(roots)):
        return Match(None, "changed", (entry,))
    return Match(entry, "folder", (entry,))


def _since_plain(entries: tuple[Entry, ...], checkout: Checkout) -> Match | None:
    """A folder that was registered before ``git init`` made a repository of it; a clone in its place has a remote, and is asked."""
    owners = tuple(entry for entry in entries if checkout.root in entry.folders)
    if not owners:
        return None
    if len(owners) == 1 and not checkout.has_remote:
        return Match(owners[0], "folder", owners)
    return Match(None, "changed", owners)


def _by_origin(entries: tuple[Entry, ...], checkout: Checkout) -> Match | None:
    owners = tuple(entry for entry in entries if checkout.origin and entry.origin == checkout.origin)
    return _one(owners, "origin") if owners else None


def _by_roots(entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match:
    """By root commits; with a remote they would join a fork to its source. Some shared, but not all, is a question."""
    pool = [entry for entry in entries if entry.roots and not entry.origin]
    if not pool or not checkout.common_dir or checkout.has_remote:
        return Match(None, "none")
    own = set(_known(roots))
    if same := tuple(entry for entry in pool if set(entry.roots) == own):
        return _one(same, "root commits")
    akin = tuple(entry for entry in pool if not own.isdisjoint(entry.roots))
    return Match(None, "ambiguous", akin) if akin else Match(None, "none")


def _one(owners: tuple[Entry, ...], why: str) -> Match:
    return Match(owners[0], why, owners) if len(owners) == 1 else Match(None, "ambiguous", owners)


def _known(roots: Roots) -> tuple[str, ...]:
    return roots() if callable(roots) else roots or ()


def _settled(match: Match, entries: tuple[Entry, ...], checkout: Checkout, name: str | None) -> Entry | None:
    """The entry that a registration means, None for a new one; InvalidInput where a person has to decide."""
    if name is None:
        if match.entry is None and len(match.candidates) > 1:
            known = ", ".join(entry.name for entry in match.candidates)
            raise InvalidInput(
                f"this repository may be any of {known}",
                field="project",
                remedy="Say which one with -p NAME, or give a new name to keep it apart.",
            )
        return match.entry
    fitting = match.candidates if match.entry or match.why == "ambiguous" else ()
    for entry in fitting:
        if entry.name == name:
            return entry
    if match.entry is not None and _folder(checkout) in match.entry.folders:
        raise InvalidInput(
            f"this folder is registered as {match.entry.name!r}", field="project", remedy=f"Use -p {match.entry.name}."
        )
    if any(entry.name == name for entry in entries):
        raise InvalidInput(f"the name {name!r} is another repository's", field="project", remedy="Choose another name.")
    return None


def _with(entries: tuple[Entry, ...], changed: Entry) -> tuple[Entry, ...]:
    """The entries with one changed or added; a folder belongs to one entry only."""
    out = []
    for entry in entries:
        kept = tuple(folder for folder in entry.folders if folder not in changed.folders)
        out.append(changed if entry.id == changed.id else entry if kept == entry.folders else entry.replace(folders=kept))
    return tuple(out) if any(entry.id == changed.id for entry in entries) else (*out, changed)


def _folder(checkout: Checkout) -> str:
    return checkout.common_dir or checkout.root


# --- names and ids


def _free_name(checkout: Checkout, taken: set[str]) -> str:
    """A name from the origin's last part, else from the repository's folder, with ``-2``, ``-3`` … where it is taken."""
    folder = _folder(checkout)
    if os.path.basename(folder) == ".git":
        folder = os.path.dirname(folder)
    wanted = checkout.origin.rpartition("/")[2] or os.path.basename(folder)
    base = "".join(char if char in _NAME else "-" for char in wanted.lower().removesuffix(".git")).strip("-._") or "project"
    name, count = base[:_LONGEST].rstrip("-._"), 1
    while name in taken:
        count += 1
        suffix = f"-{count}"
        name = base[: _LONGEST - len(suffix)].rstrip("-._") + suffix
    return name


def _is_name(name: str) -> bool:
    return 1 <= len(name) <= _LONGEST and _NAME.issuperset(name) and name[0] not in "._-"


def _check_name(name: str) -> None:
    if not _is_name(name):
        raise InvalidInput(
            f"{name[:_LONGEST]!r} cannot be a project's name",
            field="project",
            remedy=f"Use 1 to {_LONGEST} of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit.",
        )


def _is_id(text: str) -> bool:
    return len(text) == 36 and all(char == "-" if place in (8, 13, 18, 23) else char in _HEX for place, char in enumerate(text))


def _check_id(text: str) -> None:
    # The id becomes a file's name.
    if not _is_id(text):
        raise InvalidInput(f"{text[:40]!r} is not an id", field="id", remedy="An id is a UUID in lower case.")


# --- the file


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
    if not all(_is_id(entry.id) and _is_name(entry.name) for entry in entries):
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
