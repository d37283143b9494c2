"""BLAKE2b and SHA-1 without OpenSSL.

``hashlib`` loads OpenSSL for algorithms that nobody here asks for: 2.5 ms on the quick path. Its own ``blake2b`` is this very
type on CPython; where the inner module has another name, hashlib serves.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - other interpreters
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["blake2b", "git_blob"]


def git_blob(content: bytes, length: int = 40) -> str:
    """The name that git gives to a file's content, in hexadecimal digits: by SHA-1, or by SHA-256 where names have 64."""
    header = b"blob %d\0" % len(content)
    if length == 64:
        from hashlib import sha256

        return sha256(header + content).hexdigest()
    named: str = _sha1()(header + content, usedforsecurity=False).hexdigest()
    return named


def _sha1() -> Any:
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:  # pragma: no cover - other interpreters
        from hashlib import sha1
    return sha1
