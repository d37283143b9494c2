"""What several parts of this room do with files and folders."""

from __future__ import annotations

import os


def sync(path: str) -> None:
    """Have the system write a file, or a folder's entries, to the disk; OSError where it cannot."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
