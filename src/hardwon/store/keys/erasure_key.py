"""The secret that recognises erased texts: a file of its own, outside every store and every backup.

The store keeps a keyed digest of each erased text. A plain one would prove a guess: whoever has the store could try every name and
every likely password. BLAKE2b takes a key by construction, so that HMAC's second pass is not needed.
"""

from __future__ import annotations

import os
import stat

from hardwon.digest import blake2b
from hardwon.errors import DiskFull, StoreError
from hardwon.store import files
from hardwon.store.connection import NO_SPACE
from hardwon.store.lock import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 32


def read(path: str) -> bytes:
    """The 32 bytes, b"" where there is no such file, or one that cannot be it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        found = os.read(descriptor, SIZE + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)
    return found if len(found) == SIZE else b""


def obtain(path: str, entropy: Callable[[int], bytes], timeout: float) -> bytes:
    """The key; made, durably and once, where there is none yet. StoreError where that cannot be done, and nothing is erased then."""
    known = read(path)
    if known:
        return known
    lock = FileLock(path + ".lock")
    try:
        files.disk.make_folder(os.path.dirname(path))
        lock.acquire(timeout)
        if os.path.lexists(path) and not read(path):
            raise StoreError(
                f"{path} is not the key that Hardwon made there",
                remedy="put the right one back from a copy, or move this one away",
            )
        return read(path) or _make(path, entropy(SIZE))
    except OSError as error:
        if error.errno in NO_SPACE:
            raise DiskFull(f"no room left for {path}", remedy="free some space and try again") from error
        raise StoreError(f"{path} cannot be made: {error.strerror}", remedy="check the owner and mode of the folder") from error
    finally:
        lock.release()


def _make(path: str, key: bytes) -> bytes:
    files.write_whole(path, [key])
    return key


def digest(key: bytes, saying: str) -> bytes:
    """What the store keeps of an erased text, 32 bytes."""
    return blake2b(saying.encode("utf-8", "surrogatepass"), key=key, digest_size=32).digest()


def check_of(key: bytes) -> str:
    """Tells one key from another, and tells nothing of it."""
    return blake2b(b"hardwon erasure key", key=key, digest_size=8).hexdigest()
