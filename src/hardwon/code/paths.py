"""Paths as people and agents write them: into one form relative to the repository, and into text that can be kept."""

from __future__ import annotations

import os

from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.code.repo import Checkout

LONGEST = 4096  # characters of a path or URL


def relative_file(value: str, checkout: Checkout, cwd: str) -> str:
    """``value`` as a path relative to the repository's root, with slashes.

    A relative value is read from ``cwd`` first and from the root second: the first of the two that exists, else the first whose
    folder exists, else the first. InvalidInput (field ``file``) for what leaves the repository or cannot name a file.
    """
    path = _checked(value).replace("\\", "/")
    path = path.removeprefix("//?/")
    root = checkout.root.replace("\\", "/")
    absolute = path.startswith("/") or has_drive(path)
    places = [path] if absolute else [f"{_real(cwd)}/{path}", f"{root}/{path}"]
    found = [inner for place in places if (inner := _inside(place, root)) is not None and not has_drive(inner)]
    if not found:
        raise _refused(value, "lies outside the repository", f"Name a file below {checkout.root}.")
    chosen = found[0] if len(found) == 1 else _likelier(found, checkout.root)
    if not chosen:
        raise _refused(value, "names the repository itself, not a file", "Name a file in it, such as src/a.py.")
    if not is_text(chosen):
        raise _refused(value, "is not valid UTF-8", "Rename the file or folder.")
    return chosen


def _checked(value: str) -> str:
    if len(value) > LONGEST:
        raise _refused(value, f"is longer than {LONGEST:,} characters", "Give the path alone.")
    if not value.strip():
        raise _refused(value, "is empty", "Name a file, such as src/a.py.")
    if has_control(value):
        raise _refused(value, "contains control characters", "Give the path as one plain line.")
    if not is_text(value):
        raise _refused(value, "is not valid UTF-8", "Rename the file or folder.")
    return value


def _refused(value: str, why: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"file {shown(value)} {why}", field="file", remedy=remedy)


def _likelier(found: list[str], root: str) -> str:
    for inner in found:
        if os.path.exists(os.path.join(root, inner)):
            return inner
    for inner in found:
        if os.path.exists(os.path.join(root, os.path.dirname(inner))):
            return inner
    return found[0]


def _inside(place: str, root: str) -> str | None:
    """``place`` relative to ``root``, as it is written or, where that lies outside, as its symbolic links lead; None outside."""
    inner = _below(place, root)
    if inner is None and _is_native(place):
        # The folder's links first: a link that is itself a file of the repository keeps its name.
        folder, _, name = place.rpartition("/")
        inner = _below(f"{_real(folder or '/')}/{name}", root)
        if inner is None:
            inner = _below(_real(place), root)
    return inner


def _below(place: str, root: str) -> str | None:
    parts, top = _folded(place), _folded(root)
    head = parts[: len(top)]
    if top and has_drive(top[0]):  # Windows folds case
        head, top = [part.lower() for part in head], [part.lower() for part in top]
    return "/".join(parts[len(top) :]) if head == top else None


def _folded(path: str) -> list[str]:
    out: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del out[-1:]
        elif part not in ("", "."):
            out.append(part)
    return out


def _real(path: str) -> str:
    """The real path with slashes; ``path`` itself where this system cannot tell (a Windows path elsewhere)."""
    if not _is_native(path):
        return path.replace("\\", "/")
    try:
        return os.path.realpath(path).replace("\\", "/")
    except (OSError, ValueError):
        return path.replace("\\", "/")


def _is_native(path: str) -> bool:
    return os.sep != "/" or not has_drive(path)


def has_drive(path: str) -> bool:
    """Whether the path begins with a drive of Windows: ``C:``, ``C:/x``."""
    return path[1:2] == ":" and path[:1].isalpha() and path[:1].isascii() and path[2:3] in ("", "/", "\\")


# --- text


def has_control(text: str) -> bool:
    """Whether the text holds control characters or ends of lines."""
    return any(char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" for char in text)


def is_text(text: str) -> bool:
    """Whether the text can be kept: bytes that are no UTF-8 come as surrogates, which neither SQLite nor JSON takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(text: str) -> str:
    """The text as it can be kept, with U+FFFD for what is no UTF-8."""
    return text if is_text(text) else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def shown(value: str) -> str:
    """The value for a message: quoted, escaped and of at most 80 characters."""
    return ascii(value if len(value) <= 80 else value[:79] + "…")
