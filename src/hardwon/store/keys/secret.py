"""The keys of encrypted stores: one age X25519 identity each, from which the raw key of the file is derived.

The same secret so opens the store, its age-encrypted backups and what was sealed to it, and any tool that speaks age can use it. The
raw key is one keyed BLAKE2b of it: the identity holds 256 random bits, so that a slow derivation would protect nothing and cost each
command half a second. A passphrase was rejected for that reason.
"""

from __future__ import annotations

from hardwon.digest import blake2b
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_PREFIX = "AGE-SECRET-KEY-1"
_LENGTH = 74  # characters of an X25519 identity: the prefix, 52 of the key, 6 of its checksum
_ALPHABET = frozenset("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")  # Bech32
_RAW = b"hardwon store 1"
_CHECK = b"hardwon check 1"


class Secret:
    """An identity. No Value: those are printed and compared, and nothing shows this but ``reveal``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """InvalidInput, without the text, for what is no identity; a mistyped one of the right shape is found by its check."""
        text = text.strip().upper()
        if len(text) != _LENGTH or not text.startswith(_PREFIX) or not _ALPHABET.issuperset(text[len(_PREFIX) :]):
            raise InvalidInput("this is no key", field="key", remedy="a key is one line that begins with AGE-SECRET-KEY-1")
        self._text = text

    def __repr__(self) -> str:
        return "Secret(not shown)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")

    def reveal(self) -> str:
        """The identity's text, for writing it where it is kept and for age."""
        return self._text

    def raw(self) -> bytes:
        """The 32 bytes that the store's pages are encrypted with."""
        return self._derived(_RAW, 32)

    def check(self) -> str:
        """Sixteen bytes in hex by which the key is known again and from which it cannot be told: the registry keeps them."""
        return self._derived(_CHECK, 16).hex()

    def _derived(self, purpose: bytes, size: int) -> bytes:
        return blake2b(purpose, digest_size=size, key=self._text[len(_PREFIX) :].encode()).digest()


def parse(text: str) -> tuple[Secret, ...]:
    """The identities of a key file, a line each; empty lines and comments (``#``) are passed over. InvalidInput for anything else."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(Secret(line) for line in lines if line and not line.startswith("#"))


def written(secret: Secret, recipient: str) -> str:
    """A key file as ``age-keygen`` writes it, so that ``age -d -i`` takes it."""
    return f"# public key: {recipient}\n{secret.reveal()}\n"
