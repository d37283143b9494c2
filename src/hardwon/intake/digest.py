"""BLAKE2b without OpenSSL.

``hashlib`` loads OpenSSL for algorithms that nobody here asks for: 2.5 ms on the quick path. Its own ``blake2b`` is this very
type on CPython; where the inner module has another name, hashlib serves.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - other interpreters
    from hashlib import blake2b

__all__ = ["blake2b"]
