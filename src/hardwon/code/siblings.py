"""The working trees of one repository: the one at hand, those beside it, and clones that are registered for it. Starts no git."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.code.repo import Checkout

_SMALL = 4_096  # bytes of a file that names a folder
_MOST = 1_000


def tops(checkout: Checkout, registered: Iterable[str] = ()) -> tuple[str, ...]:
    """The tops of the working trees, as real paths, that at hand first; ``registered``: folders of the memory, or their ``.git``."""
    found = [checkout.root, *_of(checkout.common_dir)]
    for folder in registered:
        found += _of(folder) if os.path.basename(folder) == ".git" else [folder]
    return tuple(dict.fromkeys(path for path in found if path))


def _of(common: str) -> list[str]:
    """The tops of the working trees that share git's data in ``common``, as far as they are told there."""
    if not common:
        return []
    found = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    folder = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(folder))[:_MOST]
    except OSError:
        return found
    for name in names:
        pointer = _read(os.path.join(folder, name, "gitdir"))
        if os.path.basename(pointer) == ".git":
            found.append(real(os.path.join(folder, name, os.path.dirname(pointer))))
    return found


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_SMALL)).strip()
    except OSError:
        return ""


def real(path: str) -> str:
    """A path as its links lead; as it is where the system cannot tell, or it can be none."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
