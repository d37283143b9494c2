"""Names of what is derived from a store and lies beside it. Apart from store/vectors.py, so that it can be removed without numpy."""

from __future__ import annotations

import os


def beside(path: str, model: str, suffix: str) -> str:
    """The name of what is derived from a store for one model."""
    from hashlib import sha256

    return f"{path}.{sha256(model.encode()).hexdigest()[:12]}.{suffix}"


# What is in the names of files that were put aside for a person to decide on: the store as it was before an upgrade, a repair or a
# restore, and files that were not finished. (What the spool could not give to the store is told by the spool.)
_ASIDE = (".kept-", ".before-step-", ".part")
_SIDES = ("-wal", "-shm", "-journal", ".lock")
_UNFINISHED = ".hardwon-"


def unfinished(path: str) -> str:
    """How the names of files in the making begin that are to take the place of this one."""
    return f"{_UNFINISHED}{os.path.basename(path)}-"


def aside(path: str) -> list[str]:
    """The paths of files that were put aside beside a store, sorted by name; their logs and locks are left out."""
    folder, base = os.path.split(path)
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    ours = (name for name in names if name.startswith((base + ".", unfinished(path))) and not name.endswith(_SIDES))
    return sorted(os.path.join(folder, name) for name in ours if any(word in name for word in _ASIDE))


def is_beside(path: str, name: str) -> bool:
    """Whether a file's name is one that ``beside`` gives for this store, or a part of it."""
    rest = name.removeprefix(os.path.basename(path) + ".")
    model, _, suffix = rest.partition(".")
    return rest != name and len(model) == 12 and suffix.startswith(("signs", "srvdb"))
