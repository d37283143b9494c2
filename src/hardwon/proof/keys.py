"""The key of the stores that the proofs encrypt: one a process, made anew, for none may stand in a file of ours."""

from __future__ import annotations

from functools import cache

from hardwon.errors import Unavailable
from hardwon.settings import KeySource
from hardwon.store.keys.sealing import new_identity, recipient_of
from hardwon.store.keys.secret import Secret


@cache
def secret() -> Secret | None:
    """The key; None without the extra ``encryption``."""
    try:
        return Secret(new_identity())
    except Unavailable:
        return None


def recipient() -> str:
    """Its public half; "" without the extra."""
    known = secret()
    return recipient_of(known) if known else ""


def source() -> KeySource:
    """As if the environment brought it."""
    known = secret()
    return KeySource(identity=known.reveal() if known else "")
