"""Names of what is derived from a store and lies beside it. Apart from store/vectors.py, so that it can be removed without numpy."""

from __future__ import annotations

import os
from hashlib import sha256


def beside(path: str, model: str, suffix: str) -> str:
    """The name of what is derived from a store for one model."""
    return f"{path}.{sha256(model.encode()).hexdigest()[:12]}.{suffix}"


def is_beside(path: str, name: str) -> bool:
    """Whether a file's name is one that ``beside`` gives for this store, or a part of it."""
    rest = name.removeprefix(os.path.basename(path) + ".")
    model, _, suffix = rest.partition(".")
    return rest != name and len(model) == 12 and suffix.startswith(("signs", "srvdb"))
