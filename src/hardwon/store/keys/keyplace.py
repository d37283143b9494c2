"""Where keys are kept: in a file, or in the system's keyring. An age identity file either way, which may hold several.

A key is never written over: what is kept where another one was goes into ``….old`` first, since backups may need it.
"""

from __future__ import annotations

import errno
import os
import stat

from hardwon.errors import DiskFull, HardwonError, InvalidInput, KeyMissing, ReadOnly, StoreError, Unavailable
from hardwon.store import files
from hardwon.store.connection import NO_SPACE
from hardwon.store.keys.secret import Secret, parse, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEW, OLD = ".new", ".old"
_SERVICE = "hardwon"
# What file systems answer that know no second names: EPERM, ENOSYS, EOPNOTSUPP; EMLINK where a file has too many.
_NO_LINKS = {1, 31, 38, 95}
_LONGEST = 1 << 16  # bytes of a key file; a thousand keys have less


class KeyFile:
    """A file that only its owner reads. ``text`` is how the registry names it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = f"file {path}"

    def read(self) -> tuple[Secret, ...]:
        """The keys there; () where nothing is. KeyMissing where it may not be read, InvalidInput where something else is: a link too,
        for what it leads to may be another's to change."""
        try:
            state = os.lstat(self.path)
            if not stat.S_ISREG(state.st_mode):
                raise self._unusable("is a link" if stat.S_ISLNK(state.st_mode) else "is not a file")
            # What was put there since the look is refused by the flags, not waited on.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise KeyMissing(
                f"the key file {self.path} cannot be read: {error.strerror}", field="key", remedy="check its owner and mode"
            ) from error
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(_LONGEST + 1)
        return self._parsed(content)

    def _parsed(self, content: bytes) -> tuple[Secret, ...]:
        try:
            found = parse(content.decode("ascii")) if len(content) <= _LONGEST else ()
        except (InvalidInput, UnicodeDecodeError):
            found = ()
        if not found:  # not chained: the cause would show what the file holds
            raise self._unusable("holds no key")
        return found

    def write(self, content: str) -> None:
        """Put a key file's content there, durable on return."""
        try:
            files.write_whole(self.path, [content.encode()])
        except OSError as error:
            raise _refused(error, self.path) from error

    def begin(self, content: str) -> None:
        """As ``write``, where nothing is yet; what another process has put there meanwhile stays. The folder is made, for its owner."""
        folder = os.path.dirname(self.path)
        beside = f"{self.path}.{os.urandom(8).hex()}"
        disk = files.disk
        try:
            if not os.path.isdir(folder):
                disk.make_folder(folder)
                disk.sync_folder(os.path.dirname(folder))
            files.write_whole(beside, [content.encode()])
            try:
                self._name(beside)
            finally:
                disk.unlink(beside)
            disk.sync_folder(folder)
        except OSError as error:
            raise _refused(error, self.path) from error

    def _name(self, beside: str) -> None:
        """Give what lies beside the place its name, where nothing has it yet."""
        try:
            files.disk.link(beside, self.path)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if not os.path.lexists(self.path):  # a file system without second names: two at once may both get here
                files.disk.replace(beside, self.path)

    def remove(self) -> None:
        """Leave nothing there."""
        try:
            files.disk.unlink(self.path)
        except OSError as error:
            raise _refused(error, self.path) from error

    def _unusable(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"the key file {self.path} {what}", field="key", remedy="name a file whose one line begins with AGE-SECRET-KEY-1"
        )

    def is_open_to_others(self) -> bool:
        """Whether more than its owner may read it."""
        try:
            return bool(os.lstat(self.path).st_mode & 0o077)
        except OSError:
            return False


class KeyringItem:
    """A password of the system's keyring, used as a ``KeyFile`` is. Importing ``keyring`` takes a tenth of a second, which only those
    pay who chose it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = f"keyring {name}"

    def read(self) -> tuple[Secret, ...]:
        """The keys there; () where nothing is. KeyMissing where the keyring does not answer, InvalidInput where it holds no key."""
        content = self._asked("get_password")
        try:
            return parse(content) if content else ()
        except InvalidInput:
            raise InvalidInput(
                f"what the keyring holds for {_SERVICE} {self.name} is no key", field="key", remedy="put the key back there"
            ) from None

    def write(self, content: str) -> None:
        """Put a key file's content there; how durable that is, is the keyring's."""
        self._asked("set_password", content)

    def begin(self, content: str) -> None:
        """As ``write``, where nothing is yet; the keyring knows no such step, so that two at a time may write over one another."""
        if not self.read():
            self.write(content)

    def remove(self) -> None:
        """Leave nothing there."""
        if self._asked("get_password"):
            self._asked("delete_password")

    def _asked(self, what: str, *more: str) -> Any:
        keyring = _keyring()
        try:
            return getattr(keyring, what)(_SERVICE, self.name, *more)
        except keyring.errors.KeyringError as error:  # its texts are of the service, not of the password
            raise KeyMissing(
                f"the system's keyring cannot be used: {str(error).partition('. ')[0][:200] or type(error).__name__}",
                field="key",
                remedy="unlock it, or keep the key elsewhere: --key-file, HARDWON_KEY or HARDWON_KEY_FILE",
            ) from None


def place(text: str) -> KeyFile | KeyringItem | None:
    """The place that the registry names so; None for what is kept elsewhere (the environment), or is none."""
    kind, _, where = text.partition(" ")
    if kind == "file":
        return KeyFile(where)
    return KeyringItem(where) if kind == "keyring" else None


def archive(at: KeyFile | KeyringItem, secret: Secret, recipient: str) -> None:
    """Add a key that was replaced to those that lie beside its place; done already, it changes nothing."""
    beside = place(at.text + OLD)
    if beside is None:
        return
    kept = beside.read()
    if secret.check() not in {other.check() for other in kept}:
        beside.write("".join(f"{other.reveal()}\n" for other in kept) + written(secret, recipient))


def archived(text: str) -> tuple[Secret, ...]:
    """The keys that were replaced at a place, oldest first."""
    beside = place(text.removesuffix(NEW) + OLD)
    return beside.read() if beside else ()


def _keyring() -> Any:
    try:
        import keyring
        import keyring.errors
    except ImportError as error:
        raise Unavailable(
            "the system's keyring needs the extra `encryption`", field="keyring", remedy="pip install 'hardwon[encryption]'"
        ) from error
    return keyring


def _refused(error: OSError, path: str) -> HardwonError:
    kind: type[StoreError] = StoreError
    if error.errno in NO_SPACE:
        kind = DiskFull
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        kind = ReadOnly
    return kind(f"the key file {path} cannot be written: {error.strerror}", field="key", remedy="name another with --key-file")
