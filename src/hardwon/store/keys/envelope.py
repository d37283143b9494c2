"""Backup files in the age format, so that any tool that speaks age opens them: for the holder of a key, or of a passphrase."""

from __future__ import annotations

import os

from hardwon.errors import Damaged, InvalidInput, WrongKey
from hardwon.store import files
from hardwon.store.keys.sealing import library
from hardwon.store.keys.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

_MAGIC = b"age-encryption.org/v1\n"
_SCRYPT = b"-> scrypt "
_SHORTEST = 12  # characters of a passphrase


class Passphrase:
    """What a person chose. No Value: those are printed and compared, and nothing shows this but ``reveal``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """InvalidInput, without the text, for one that is too short to protect anything."""
        text = text.rstrip("\r\n")
        if len(text) < _SHORTEST or "\n" in text:
            raise InvalidInput(
                f"a passphrase is one line of {_SHORTEST} characters or more",
                field="passphrase-file",
                remedy="choose a longer one",
            )
        self._text = text

    def __repr__(self) -> str:
        return "Passphrase(not shown)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")

    def reveal(self) -> str:
        """The text, for age."""
        return self._text


class Opener:
    """What may open a backup: identities, a passphrase. No Value, for the same reason."""

    __slots__ = ("identities", "passphrase")

    def __init__(self, identities: Sequence[Secret] = (), passphrase: Passphrase | None = None) -> None:
        self.identities = identities
        self.passphrase = passphrase


class Lock:
    """For whom a backup is encrypted: recipients (``age1…``), or whoever knows a passphrase; neither: it is not."""

    __slots__ = ("passphrase", "recipients")

    def __init__(self, recipients: Sequence[str] = (), passphrase: Passphrase | None = None) -> None:
        """InvalidInput for both at once, which the format does not allow, and for a recipient that is none; Unavailable without age."""
        if recipients and passphrase:
            raise InvalidInput("a backup is for recipients or for a passphrase", field="encrypt", remedy="leave one of them out")
        self.passphrase = passphrase
        self.recipients = [_recipient(text) for text in recipients]
        if self:
            library()

    def __bool__(self) -> bool:
        return bool(self.recipients or self.passphrase)


def _recipient(text: str) -> Any:
    age = library()
    try:
        return age.x25519.Recipient.from_str(text)
    except age.RecipientError as error:
        raise InvalidInput(
            f"{text[:80]!r} is no age recipient", field="encrypt", remedy="it begins with age1: the public half of a key"
        ) from error


class _Out:
    """A file that age writes to, through the disk; keeps the error that age would hide."""

    def __init__(self, path: str) -> None:
        self._descriptor = files.disk.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        self.size = 0
        self.failed: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            files.disk.write(self._descriptor, bytes(data), self.size)
        except OSError as error:
            self.failed = error
            raise
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Synced, then let go."""
        try:
            if self.failed is None:
                files.disk.sync(self._descriptor)
        finally:
            files.disk.close(self._descriptor)


def kind(path: str) -> str:
    """``passphrase`` or ``key`` for a file in the age format, by what it is opened; "" for any other. OSError as the system says."""
    with open(path, "rb") as file:
        head = file.read(len(_MAGIC) + len(_SCRYPT))
    if not head.startswith(_MAGIC):
        return ""
    return "passphrase" if head.endswith(_SCRYPT) else "key"


def seal(source: str, target: str, lock: Lock) -> None:
    """Encrypt a file into a new one, which is on the disk on return. With a passphrase it is read into memory as a whole, for the library
    knows no stream of that kind. OSError where the system refuses; there is no new file then."""
    age = library()

    def fill(out: _Out) -> None:
        with open(source, "rb") as plain:
            if lock.passphrase:
                out.write(age.passphrase.encrypt(plain.read(), lock.passphrase.reveal()))
            else:
                age.encrypt_io(plain, out, lock.recipients)

    _write(target, fill)


def unseal(source: str, target: str, opener: Opener) -> None:
    """Decrypt a file into a new one. WrongKey where nothing at hand opens it, Damaged where it is not what was sealed."""
    by = kind(source)
    if by == "passphrase" and opener.passphrase is None:
        raise WrongKey(
            "this backup was made with a passphrase",
            field="passphrase-file",
            remedy="name the file that holds it: --passphrase-file",
        )
    _write(target, lambda out: _open(source, out, opener, by))


def _write(target: str, fill: Callable[[_Out], None]) -> None:
    """A new file, or none; the system's error where that was the reason, whatever the library made of it."""
    out = _Out(target)
    try:
        try:
            fill(out)
        finally:
            out.close()
    except BaseException as error:
        files.disk.unlink(target)
        if out.failed is not None and error is not out.failed:
            raise out.failed from error
        raise


def _open(source: str, out: _Out, opener: Opener, by: str) -> None:
    age = library()
    try:
        with open(source, "rb") as sealed:
            if by == "passphrase" and opener.passphrase:
                out.write(age.passphrase.decrypt(sealed.read(), opener.passphrase.reveal()))
            else:
                age.decrypt_io(sealed, out, [age.x25519.Identity.from_str(one.reveal()) for one in opener.identities])
    except age.DecryptError as error:
        if by == "passphrase" or "No matching keys" in str(error):
            raise WrongKey(
                "nothing at hand opens this backup",
                field="identity",
                remedy="name the file of its key: --identity, --passphrase-file",
            ) from None
        raise _garbled(source) from None
    except OSError as error:
        if out.failed is None and error.errno is None:  # age's own, for content that is not what was sealed
            raise _garbled(source) from None
        raise


def _garbled(source: str) -> Damaged:
    return Damaged(f"{source} is not what was sealed", remedy="take another backup; this one is kept as it is")
