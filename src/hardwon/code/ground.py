"""The files of a working tree as they lie there now. Light: for the quick path."""

from __future__ import annotations

import os
import stat

LARGEST = 1 << 20  # bytes of a file that is read as code


class Files:
    """The working tree as it is now: what anchors are judged by."""

    def __init__(self, root: str) -> None:
        self._root = root

    def is_gone(self, path: str) -> bool:
        """Whether there is no such file, but a folder perhaps; False where that cannot be told."""
        try:
            return stat.S_ISDIR(os.stat(os.path.join(self._root, path)).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False

    def content(self, path: str, largest: int = LARGEST) -> bytes | None:
        """A file's content; None where there is no such file, but a folder perhaps. OSError for one that cannot be read, has more than
        ``largest`` bytes, lies outside of the tree where links lead, or is none that keeps what it says (a pipe, a device: reading takes
        from others what they wait for)."""
        if leads_out(self._root, path):
            raise OSError(f"{path} leads out of the working tree")
        try:
            descriptor = os.open(os.path.join(self._root, path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise OSError(str(error)) from error
        try:
            state = os.fstat(descriptor)
            if stat.S_ISDIR(state.st_mode):
                return None
            if not stat.S_ISREG(state.st_mode):
                raise OSError(f"{path} is no regular file")
            if state.st_size > largest:
                raise OSError(f"{path} has more than {largest} bytes")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(largest + 1)
        finally:
            os.close(descriptor)


def leads_out(root: str, path: str) -> bool:
    """Whether a path (relative, with slashes) leads out of a folder, by a link or by its own parts: what lies there is not the
    repository's, whoever made the link."""
    at = root
    for part in path.split("/"):
        at = f"{at}/{part}"
        try:
            is_plain = part != ".." and not stat.S_ISLNK(os.lstat(at).st_mode)
        except (OSError, ValueError):
            return False  # there is nothing to be read
        if not is_plain:
            real, top = os.path.realpath(os.path.join(root, path)), os.path.realpath(root)
            return real != top and not real.startswith(top.rstrip(os.sep) + os.sep)
    return False
