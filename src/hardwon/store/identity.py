"""Which registered repository a checkout belongs to. Pure.

By the folder that git keeps its data in, then by the remote, then (without any remote) by the root commits. A folder's own name
never decides; forks and namesakes stay apart; what is not certain is asked, not guessed.
"""

from __future__ import annotations

import os

from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.code.repo import Checkout

    Roots = tuple[str, ...] | Callable[[], tuple[str, ...]] | None

LONGEST_NAME = 64  # characters of a name
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX = frozenset("0123456789abcdef")


class Entry(Value):
    """A store and the repository it belongs to.

    ``folders`` are common folders of git, or plain folders (real paths); ``origin`` is a normalised remote; ``roots`` the
    repository's root commits, as far as known; ``created_at`` milliseconds.
    """

    id: str
    name: str
    folders: tuple[str, ...] = ()
    origin: str = ""
    roots: tuple[str, ...] = ()
    created_at: int = 0


class Match(Value):
    """What the registry knows of a checkout.

    ``why`` is ``folder``, ``origin`` or ``root commits`` with an entry; without one ``none``, ``ambiguous`` (several fit) or
    ``changed`` (the folder is known, but another repository may lie there now). ``candidates`` are the entries to ask about.
    """

    entry: Entry | None
    why: str
    candidates: tuple[Entry, ...] = ()


def match(entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match:
    """The entry of a checkout, or why there is none."""
    return _by_folder(entries, checkout, roots) or _by_origin(entries, checkout) or _by_roots(entries, checkout, roots)


def _by_folder(entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match | None:
    for folder in _places(checkout):
        owners = tuple(entry for entry in entries if folder in entry.folders)
        if len(owners) > 1:
            return Match(None, "ambiguous", owners)
        if owners:
            return _still(owners[0], entries, checkout, roots)
    if checkout.common_dir == os.path.join(checkout.root, ".git"):
        return _since_plain(entries, checkout)
    return None


def _places(checkout: Checkout) -> list[str]:
    """The folders that decide, nearest first: git's common folder, or outside git the folder and all above it."""
    if checkout.common_dir:
        return [checkout.common_dir]
    places = [checkout.root]
    while (above := os.path.dirname(places[-1])) != places[-1]:
        places.append(above)
    return places


def _still(entry: Entry, entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match:
    """Whether a known folder still holds the entry's repository; its origin is the only thing that is quick to compare."""
    if not checkout.origin or checkout.origin == entry.origin:
        return Match(entry, "folder", (entry,))
    others = tuple(other for other in entries if other.id != entry.id and other.origin == checkout.origin)
    if others:
        return Match(None, "changed", (entry, *others))
    if entry.origin and set(entry.roots).isdisjoint(_known(roots)):
        return Match(None, "changed", (entry,))
    return Match(entry, "folder", (entry,))


def _since_plain(entries: tuple[Entry, ...], checkout: Checkout) -> Match | None:
    """A folder that was registered before ``git init`` made a repository of it; a clone in its place has a remote, and is asked."""
    owners = tuple(entry for entry in entries if checkout.root in entry.folders)
    if not owners:
        return None
    if len(owners) == 1 and not checkout.has_remote:
        return Match(owners[0], "folder", owners)
    return Match(None, "changed", owners)


def _by_origin(entries: tuple[Entry, ...], checkout: Checkout) -> Match | None:
    owners = tuple(entry for entry in entries if checkout.origin and entry.origin == checkout.origin)
    return _one(owners, "origin") if owners else None


def _by_roots(entries: tuple[Entry, ...], checkout: Checkout, roots: Roots) -> Match:
    """By root commits; with a remote they would join a fork to its source. Some shared, but not all, is a question."""
    pool = [entry for entry in entries if entry.roots and not entry.origin]
    if not pool or not checkout.common_dir or checkout.has_remote:
        return Match(None, "none")
    own = set(_known(roots))
    if same := tuple(entry for entry in pool if set(entry.roots) == own):
        return _one(same, "root commits")
    akin = tuple(entry for entry in pool if not own.isdisjoint(entry.roots))
    return Match(None, "ambiguous", akin) if akin else Match(None, "none")


def _one(owners: tuple[Entry, ...], why: str) -> Match:
    return Match(owners[0], why, owners) if len(owners) == 1 else Match(None, "ambiguous", owners)


def _known(roots: Roots) -> tuple[str, ...]:
    return roots() if callable(roots) else roots or ()


def settled(match: Match, entries: tuple[Entry, ...], checkout: Checkout, name: str | None) -> Entry | None:
    """The entry that a registration means, None for a new one; InvalidInput where a person has to decide."""
    if name is None:
        if match.entry is None and len(match.candidates) > 1:
            known = ", ".join(entry.name for entry in match.candidates)
            raise InvalidInput(
                f"this repository may be any of {known}",
                field="project",
                remedy="Say which one with -p NAME, or give a new name to keep it apart.",
            )
        return match.entry
    fitting = match.candidates if match.entry or match.why == "ambiguous" else ()
    for entry in fitting:
        if entry.name == name:
            return entry
    if match.entry is not None and folder_of(checkout) in match.entry.folders:
        raise InvalidInput(
            f"this folder is registered as {match.entry.name!r}", field="project", remedy=f"Use -p {match.entry.name}."
        )
    if any(entry.name == name for entry in entries):
        raise InvalidInput(f"the name {name!r} is another repository's", field="project", remedy="Choose another name.")
    return None


def joined(entries: tuple[Entry, ...], changed: Entry) -> tuple[Entry, ...]:
    """The entries with one changed or added; a folder belongs to one entry only."""
    out = []
    for entry in entries:
        kept = tuple(folder for folder in entry.folders if folder not in changed.folders)
        out.append(changed if entry.id == changed.id else entry if kept == entry.folders else entry.replace(folders=kept))
    return tuple(out) if any(entry.id == changed.id for entry in entries) else (*out, changed)


def folder_of(checkout: Checkout) -> str:
    """The folder by which a checkout is known: where git keeps its data, else the folder itself."""
    return checkout.common_dir or checkout.root


# --- names and ids


def free_name(checkout: Checkout, taken: set[str]) -> str:
    """A name from the origin's last part, else from the repository's folder, with ``-2``, ``-3`` … where it is taken."""
    folder = folder_of(checkout)
    if os.path.basename(folder) == ".git":
        folder = os.path.dirname(folder)
    wanted = checkout.origin.rpartition("/")[2] or os.path.basename(folder)
    base = "".join(char if char in _NAME else "-" for char in wanted.lower().removesuffix(".git")).strip("-._") or "project"
    name, count = base[:LONGEST_NAME].rstrip("-._"), 1
    while name in taken:
        count += 1
        suffix = f"-{count}"
        name = base[: LONGEST_NAME - len(suffix)].rstrip("-._") + suffix
    return name


def is_name(name: str) -> bool:
    """Whether a text can name a project."""
    return 1 <= len(name) <= LONGEST_NAME and _NAME.issuperset(name) and name[0] not in "._-"


def check_name(name: str) -> None:
    """InvalidInput for a text that cannot name a project."""
    if not is_name(name):
        raise InvalidInput(
            f"{name[:LONGEST_NAME]!r} cannot be a project's name",
            field="project",
            remedy=f"Use 1 to {LONGEST_NAME} of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit.",
        )


def is_id(text: str) -> bool:
    """Whether a text is a UUID in lower case."""
    return len(text) == 36 and all(char == "-" if place in (8, 13, 18, 23) else char in _HEX for place, char in enumerate(text))


def check_id(text: str) -> None:
    """InvalidInput for a text that is no id: ids become names of files."""
    if not is_id(text):
        raise InvalidInput(f"{text[:40]!r} is not an id", field="id", remedy="An id is a UUID in lower case.")
