"""The files of a working tree as they lie there now. Light: for the quick path."""

from __future__ import annotations

import os

from hardwon.code.source import LARGEST


class Files:
    """The working tree as it is now: what anchors are judged by."""

    def __init__(self, root: str) -> None:
        self._root = root

    def content(self, path: str) -> bytes | None:
        """A file's content; None where there is no such file. OSError for one that cannot be read, or is too large."""
        try:
            descriptor = os.open(os.path.join(self._root, path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise OSError(str(error)) from error
        try:
            size = os.fstat(descriptor).st_size
            if size > LARGEST:
                raise OSError(f"{path} has more than {LARGEST} bytes")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(LARGEST + 1)
        finally:
            os.close(descriptor)
