"""Configuration files of the clients, on the disk: read with care, replaced in one step, and remembered as they were before us.

What was before lies in ``HARDWON_HOME/configuration``: a list (``files.json``) and a copy of each changed file, readable by its owner only
and gone with the installation. Where a file is still as we left it, taking us out gives back that copy to the byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat

from hardwon.errors import Damaged, InvalidInput, ReadOnly
from hardwon.store import files
from hardwon.store.lock import FileLock
from hardwon.types import Value

_LIST = "files.json"
_LARGEST = 64 << 20


class Known(Value):
    """What is remembered of one file: ``owners`` (``client:scope``), the digest of what we left, and the name of the copy of what was
    before ("" where there was no file)."""

    owners: tuple[str, ...]
    after: str
    copy: str = ""


class Change(Value):
    """One file: ``before`` and ``after`` are its bytes, None for no file; ``base``: as it was without us; ``mode``: the rights of a
    new one."""

    path: str
    before: bytes | None
    after: bytes | None
    base: bytes | None
    owners: tuple[str, ...]
    about: tuple[str, ...] = ()
    mode: int = 0o644

    @property
    def action(self) -> str:
        """created, changed, removed or unchanged."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"


def digest(content: bytes) -> str:
    """The digest that a file is known again by."""
    return hashlib.sha256(content).hexdigest()


def read(path: str) -> bytes | None:
    """A file's bytes, through links; None where there is none. InvalidInput where something else has its place, or it is huge."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise ReadOnly(f"{path} may not be read", field=path, remedy="see to its permissions") from error
    except OSError as error:  # a loop of links, a folder above that is a file
        raise InvalidInput(f"{path} cannot be read: {error.strerror}", field=path, remedy="move it away") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{path} is not a file", field=path, remedy="move it away")
        if status.st_size > _LARGEST:
            raise InvalidInput(f"{path} is larger than 64 MB", field=path, remedy="make the entries by hand: docs/install.md")
        pieces = []
        while piece := os.read(descriptor, 1 << 20):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def text(path: str, content: bytes) -> str:
    """A file's text; InvalidInput where it is not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", field=path, remedy="save it as UTF-8; nothing was changed") from error


def check_writable(path: str) -> None:
    """ReadOnly where a file may not be replaced: a file or folder that nobody may write is meant so, by a tool that keeps it."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not (os.stat(target).st_mode & 0o222 and os.access(target, os.W_OK)):
        raise ReadOnly(
            f"{path} is read-only", field=path, remedy="make it writable, or have the tool that keeps it add the entries"
        )
    folder = os.path.dirname(target)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InvalidInput(f"{folder} is not a folder", field=folder, remedy="move it away")
    if not (os.stat(folder).st_mode & 0o222 and os.access(folder, os.W_OK | os.X_OK)):
        raise ReadOnly(f"the folder {folder} is read-only", field=folder, remedy="make it writable")


class Shelf:
    """The list of what we changed, with the copies of what was before. ``with shelf:`` keeps others from changing it meanwhile."""

    def __init__(self, home: str, wait: float) -> None:
        """``wait``: seconds to wait for another one."""
        self._home, self._wait = home, wait
        self._lock = FileLock(os.path.join(home, "configuration.lock"))
        self.folder = os.path.join(home, "configuration")
        self.known: dict[str, Known] = {}
        self.folders: list[str] = []  # those that were made for files of ours
        self._load()

    def __enter__(self) -> Shelf:
        """Busy where another one goes on changing it."""
        files.disk.make_folder(self._home)
        self._lock.acquire(self._wait)
        self._load()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _load(self) -> None:
        content = read(os.path.join(self.folder, _LIST))
        try:
            whole = json.loads(content) if content else {"files": {}, "folders": []}
            self.folders = [str(one) for one in whole["folders"]]
            self.known = {path: Known(tuple(row["owners"]), row["after"], row["copy"]) for path, row in whole["files"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            where = os.path.join(self.folder, _LIST)
            raise Damaged(
                f"{where} is not what was written", field=where, remedy="move it away: entries are found without it"
            ) from error

    def base(self, path: str, content: bytes | None) -> tuple[bool, bytes | None]:
        """Whether a file is as we left it, and what it was before us as far as that is known."""
        row = self.known.get(path)
        if row is None:
            return False, None
        before = read(os.path.join(self.folder, row.copy)) if row.copy else None
        if row.copy and before is None:
            return False, None
        return content is not None and digest(content) == row.after, before

    def apply(self, changes: list[Change]) -> None:
        """Make the changes, all or none: what was done is taken back where one of them fails."""
        done: list[Change] = []
        for change in changes:
            if change.action != "unchanged":
                check_writable(change.path)
        try:
            for change in changes:
                if change.owners:
                    self._remember(change)
                done.append(change)
                self._make(change)
                if not change.owners:
                    self._forget(change.path)
        except BaseException:
            for change in reversed(done):
                self._undo(change)
            raise
        finally:
            self._tidy()

    def _make(self, change: Change) -> None:
        if change.action == "unchanged":
            return
        if read(change.path) != change.before:
            raise InvalidInput(f"{change.path} was changed meanwhile", field=change.path, remedy="nothing was changed; try again")
        if change.after is None:
            files.disk.unlink(os.path.realpath(change.path))
            return
        files.rewrite(change.path, change.after, mode=change.mode)

    def _undo(self, change: Change) -> None:
        if read(change.path) == change.after and change.action != "unchanged":
            if change.before is None:
                files.disk.unlink(os.path.realpath(change.path))
                self._forget(change.path)
            else:
                files.rewrite(change.path, change.before)

    def _remember(self, change: Change) -> None:
        """Written before the file is: after a crash in between the file is found to be other than what we left, which is right."""
        copy = f"{digest(change.path.encode())[:20]}.before" if change.base is not None else ""
        row = Known(change.owners, digest(change.after or b""), copy)
        if row == self.known.get(change.path) and read(change.path) is not None:
            return
        self.folders += [folder for folder in _missing_folders(change.path) if folder not in self.folders]
        files.disk.make_folder(self.folder)
        if change.base is not None:
            files.write_whole(os.path.join(self.folder, copy), [change.base])
        self.known[change.path] = row
        self._save()

    def _forget(self, path: str) -> None:
        row = self.known.pop(path, None)
        if row is None:
            return
        self._save()
        if row.copy:
            files.disk.unlink(os.path.join(self.folder, row.copy))

    def _tidy(self) -> None:
        """Remove the folders that were made for files that are gone; where somebody else's files came into one, it is theirs."""
        paths = [os.path.realpath(path) for path in self.known]
        left = [folder for folder in self.folders if any(path.startswith(folder + os.sep) for path in paths)]
        for folder in sorted(set(self.folders) - set(left), key=len, reverse=True):
            _remove_folder(folder)
        if left != self.folders:
            self.folders = left
            self._save()
        if not self.known:
            _remove_folder(self.folder)

    def _save(self) -> None:
        rows = {path: {**vars(row), "owners": list(row.owners)} for path, row in self.known.items()}
        target = os.path.join(self.folder, _LIST)
        if not rows and not self.folders:
            files.disk.unlink(target)
            return
        whole = {"files": rows, "folders": self.folders}
        files.write_whole(target, [json.dumps(whole, ensure_ascii=False, indent=1).encode()])


def _missing_folders(path: str) -> tuple[str, ...]:
    """The folders that have to be made for a file, the outermost first."""
    missing = []
    folder = os.path.dirname(os.path.realpath(path))
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def _remove_folder(folder: str) -> None:
    """A folder that was made for us, where nothing else came into it."""
    try:
        os.rmdir(folder)
    except OSError:
        pass
