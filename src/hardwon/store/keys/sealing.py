"""Sealing what is written while an encrypted store cannot be: in the age format, to the public recipient of the store's key.

Whoever seals needs no secret, so a hook can put a record aside although the key is not at hand; who drains it has the key. A file of
its own format was rejected: `age -d -i KEYFILE` of any vendor opens these.
"""

from __future__ import annotations

from hardwon.errors import Damaged, InvalidInput, Unavailable, WrongKey
from hardwon.store.keys.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def seal(recipient: str, plain: bytes) -> bytes:
    """``plain`` for the holder of the recipient's key only, some 200 bytes longer; each time other bytes.

    InvalidInput for what is no recipient (``age1…``), Unavailable without the extra ``encryption``.
    """
    age = library()
    try:
        known = age.x25519.Recipient.from_str(recipient)
    except age.RecipientError as error:
        raise InvalidInput(
            f"{recipient[:80]!r} is no age recipient", field="recipient", remedy="it begins with age1: the public half of a key"
        ) from error
    sealed: bytes = age.encrypt(plain, [known])
    return sealed


def unseal(identity: Secret | Sequence[Secret], sealed: bytes) -> bytes:
    """What was sealed to the identity's recipient, or to that of one of several. WrongKey where it was sealed to another, Damaged where
    it is not what was sealed."""
    age = library()
    held = [identity] if isinstance(identity, Secret) else identity
    try:
        plain: bytes = age.decrypt(sealed, [_identity(secret) for secret in held])
    except age.DecryptError as error:
        if "No matching keys" in str(error):
            raise WrongKey("this was sealed to another key", remedy="see docs/encryption.md: keys that were replaced") from None
        raise Damaged("what was sealed is not intact", remedy="it is kept as it is") from None
    return plain


def new_identity() -> str:
    """The text of a new X25519 identity, from the system's randomness."""
    return str(library().x25519.Identity.generate())


def recipient_of(secret: Secret) -> str:
    """The public half, ``age1…``; InvalidInput where the key was mistyped."""
    return str(_identity(secret).to_public())


def _identity(secret: Secret) -> Any:
    age = library()
    try:
        return age.x25519.Identity.from_str(secret.reveal())
    except age.IdentityError:
        raise InvalidInput(
            "this is no key: its checksum is wrong", field="key", remedy="look for a letter that is another"
        ) from None


def library() -> Any:
    """pyrage, loaded when something is sealed and not before."""
    try:
        import pyrage
    except ImportError as error:
        raise Unavailable(
            "keys need the extra `encryption`", field="encrypt", remedy="pip install 'hardwon[encryption]'"
        ) from error
    return pyrage
