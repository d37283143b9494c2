"""Which registered repository a checkout belongs to.

By the folder that git keeps its data in, then by the remote, then (without any remote) by the root commits. A folder's own name
never decides; forks and namesakes stay apart; what is not certain is asked, not guessed. docs/identity.md tells it to people.

The rules themselves are pure: what they need beyond the checkout's facts, a ``Lineage`` answers.
"""

from __future__ import annotations

import os

from hardwon.code.repo import addresses, same_folder
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.code.lineage import Lineage
    from hardwon.code.repo import Checkout

LONGEST_NAME = 64  # characters of a name
_LISTED = 10  # names in a message
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX = frozenset("0123456789abcdef")


class Folder(Value):
    """A registered folder, and what lay there then: ``path`` is git's common folder, or a plain folder (a real path); ``remote``
    the normalised origin; ``roots`` the root commits, as far as known. So that another repository in its place is noticed."""

    path: str
    remote: str = ""
    roots: tuple[str, ...] = ()


class KeyNote(Value):
    """How a store's key is found and known, never the key. ``place``: ``file PATH``, ``keyring NAME`` or ``environment``; ``none`` for
    no encryption. ``recipient`` is its public half (``age1…``), ``check`` a digest by which it is known again."""

    place: str
    recipient: str = ""
    check: str = ""


class Entry(Value):
    """A store and the repository it belongs to.

    ``origins`` are the normalised remotes whose clones belong to it, oldest first; ``roots`` root commits of all that it had;
    ``created_at`` milliseconds. ``keys``: none of a plain store, one of an encrypted one; two while the key is changed, the old one
    first, and either may be in force.
    """

    id: str
    name: str
    folders: tuple[Folder, ...] = ()
    origins: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    created_at: int = 0
    keys: tuple[KeyNote, ...] = ()

    @property
    def origin(self) -> str:
        """The remote that it was registered with; "" for none."""
        return self.origins[0] if self.origins else ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its folders."""
        return tuple(folder.path for folder in self.folders)


class Match(Value):
    """What the registry knows of a checkout.

    ``why`` is ``folder``, ``origin`` or ``root commits`` with an entry; without one ``none``, ``ambiguous`` (several fit, or one
    may) or ``changed`` (the folder is known, but another repository may lie there now). ``candidates`` are the entries to ask about.
    """

    entry: Entry | None
    why: str
    candidates: tuple[Entry, ...] = ()


def match(entries: tuple[Entry, ...], checkout: Checkout, lineage: Lineage | None = None) -> Match:
    """The entry of a checkout, or why there is none. Without ``lineage`` neither history nor local sources decide anything."""
    return (
        _by_folder(entries, checkout, lineage)
        or _by_origin(entries, checkout, lineage)
        or _by_roots(entries, checkout, lineage)
        or Match(None, "none")
    )


def _by_folder(entries: tuple[Entry, ...], checkout: Checkout, lineage: Lineage | None) -> Match | None:
    for path in _places(checkout):
        owners = _owners(entries, path)
        if len(owners) > 1:
            return Match(None, "ambiguous", owners)
        if owners:
            return _still(owners[0], path, entries, checkout, lineage)
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


def _owners(entries: tuple[Entry, ...], path: str) -> tuple[Entry, ...]:
    exact = tuple(entry for entry in entries if any(folder.path == path for folder in entry.folders))
    return exact or tuple(entry for entry in entries if any(same_folder(folder.path, path) for folder in entry.folders))


def _still(entry: Entry, path: str, entries: tuple[Entry, ...], checkout: Checkout, lineage: Lineage | None) -> Match:
    """Whether a known folder still holds what was registered there: by its remote, else by its commits, else the remote again."""
    here = Match(entry, "folder", (entry,))
    known = next(folder for folder in entry.folders if same_folder(folder.path, path))
    if not checkout.common_dir or (checkout.origin and checkout.origin in (known.remote, *entry.origins)):
        return here
    held = lineage.holds(known.roots or entry.roots) if lineage else None
    claimed = _claiming(tuple(other for other in entries if other.id != entry.id), (checkout.origin,))
    if held or (held is None and (not checkout.origin or not (known.remote or claimed))):
        return here
    elsewhere = None if held is None else _by_origin(entries, checkout, lineage) or _by_roots(entries, checkout, lineage)
    if elsewhere and elsewhere.entry:
        return elsewhere  # another repository for certain, and a known one
    return Match(None, "changed", (entry, *claimed))


def _since_plain(entries: tuple[Entry, ...], checkout: Checkout) -> Match | None:
    """A folder that was registered before ``git init`` made a repository of it; a clone in its place has a remote, and is asked."""
    owners = _owners(entries, checkout.root)
    if not owners:
        return None
    if len(owners) == 1 and not checkout.has_remote:
        return Match(owners[0], "folder", owners)
    return Match(None, "changed", owners)


def _by_origin(entries: tuple[Entry, ...], checkout: Checkout, lineage: Lineage | None) -> Match | None:
    """By the remote, and where that is a folder on this machine, by whose that is and by its own remote in turn; by being the
    remote of a known clone."""
    if owners := _claiming(entries, checkout.others):
        return Match(None, "ambiguous", owners)  # perhaps only its upstream
    if lineage and (sources := lineage.sources()):
        for source in sources:
            near = tuple(dict.fromkeys(entry for path in (source.common_dir, source.root) for entry in _owners(entries, path)))
            owners = (
                _kin(near, lineage)
                or _claiming(entries, (checkout.origin,))
                or _kin(_claiming(entries, (source.origin,)), lineage)
            )
            if owners:
                return _one(owners, "origin")
    elif owners := _claiming(entries, (checkout.origin,)):
        return _one(owners, "origin")
    if checkout.common_dir and (owners := _claiming(entries, addresses(checkout))):
        return _one(owners, "origin")
    return None


def _kin(entries: tuple[Entry, ...], lineage: Lineage) -> tuple[Entry, ...]:
    """Those whose history the checkout may have: in a folder that a clone was made from, another repository may lie by now."""
    return tuple(entry for entry in entries if lineage.holds(entry.roots) is not False)


def _claiming(entries: tuple[Entry, ...], remotes: tuple[str, ...]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if any(remote and remote in entry.origins for remote in remotes))


def _by_roots(entries: tuple[Entry, ...], checkout: Checkout, lineage: Lineage | None) -> Match | None:
    """By root commits; with a remote they would join a fork to its source. Some shared but not all, and histories of one
    beginning that both went on, are a question."""
    if lineage is None or not checkout.common_dir or (checkout.has_remote and not lineage.is_cut_off()):
        return None
    akin = tuple(entry for entry in entries if not entry.origins and lineage.holds(entry.roots))
    own = lineage.roots() if akin else ()
    if not own:
        return None
    same = tuple(entry for entry in akin if own in (entry.roots, *(folder.roots for folder in entry.folders)))
    if len(same) == 1 and _continues(same[0], lineage):
        return Match(same[0], "root commits", same)
    return Match(None, "ambiguous", same or akin)


def _continues(entry: Entry, lineage: Lineage) -> bool:
    """Whether the checkout is a copy of one of the entry's folders, or they are all gone: then it was moved."""
    answers = {lineage.continues(folder.path, folder.roots) for folder in entry.folders}
    return True in answers or False not in answers


def _one(owners: tuple[Entry, ...], why: str) -> Match:
    return Match(owners[0], why, owners) if len(owners) == 1 else Match(None, "ambiguous", owners)


def related(entries: tuple[Entry, ...], entry: Entry, checkout: Checkout, lineage: Lineage) -> tuple[Entry, ...]:
    """The other entries that have the checkout's remote, or whose history begins alike: forks, copies that were kept apart, or the
    same project under another remote."""
    others = (other for other in entries if other.id != entry.id)
    return tuple(other for other in others if checkout.origin in other.origins or lineage.holds(other.roots))


# --- what a person has to decide


def settled(match: Match, entries: tuple[Entry, ...], checkout: Checkout, name: str | None) -> Entry | None:
    """The entry that a registration means, None for a new one; InvalidInput where a person has to decide."""
    if name is None:
        if match.entry is None and match.candidates:
            raise question(match)
        return match.entry
    for entry in match.candidates if match.entry or match.why == "ambiguous" else ():
        if entry.name == name:
            return entry
    if match.entry is not None and folder_of(checkout) in match.entry.paths:
        raise InvalidInput(
            f"this folder is registered as {match.entry.name!r}",
            field="name",
            remedy=f"Use -p {match.entry.name}, or give it a memory of its own with `hardwon init --split {name}`.",
        )
    check_free(entries, name)
    return None


def question(match: Match) -> InvalidInput:
    """The error for a match that only a person can settle: who may be meant, and the command for each answer."""
    first, several = match.candidates[0].name, len(match.candidates) > 1
    if match.why == "changed":
        message = f"this folder was registered as {first}, but another repository may lie here now"
        message += ", or its remote belongs to another memory" if several else ""
    else:
        message = (
            "this folder may belong to more than one memory" if several else "this folder may belong to a memory that is known"
        )
    message += ": " + "; ".join(shown(entry) for entry in match.candidates[:_LISTED])
    return InvalidInput(
        message,
        field="project",
        remedy=f"If it does, `hardwon init --link {first}`; for a memory of its own, `hardwon init --split NAME`; once only, -p {first}.",
    )


def shown(entry: Entry) -> str:
    """An entry for people: its name, and what tells it from others."""
    place = entry.origin or (entry.folders[0].path if entry.folders else "")
    return f"{entry.name} ({place})" if place else entry.name


# --- what is kept


def settle(entries: tuple[Entry, ...], target: Entry, folder: Folder, remotes: tuple[str, ...]) -> tuple[Entry, ...]:
    """The entries with ``folder`` in ``target``, a known or a new one, and in no other.

    Of the remotes it gets those that no other entry has by right of a folder that it keeps: a folder that is split off leaves
    its remote to the other clones, and takes it along when it was the last.
    """
    others = tuple(_without(entry, folder, remotes) for entry in entries if entry.id != target.id)
    taken = {remote for entry in others for remote in (*entry.origins, *(_address(known.path) for known in entry.folders))}
    known = next((old for old in target.folders if old.path == folder.path), None)
    fresh = folder.replace(roots=known.roots) if known and not folder.roots else folder  # what cannot be told now stays
    changed: Entry = target.replace(
        folders=tuple(fresh if old is known else old for old in target.folders) if known else (*target.folders, fresh),
        origins=tuple(dict.fromkeys((*target.origins, *(remote for remote in remotes if remote not in taken)))),
        roots=tuple(sorted({*target.roots, *fresh.roots})),
    )
    where = {entry.id: entry for entry in (*others, changed)}
    return tuple(where.pop(entry.id) for entry in entries) + tuple(where.values())


def _address(path: str) -> str:
    """The remote of a clone that is made from a registered folder."""
    return "file:" + path.replace(os.sep, "/").removesuffix("/.git")


def _without(entry: Entry, folder: Folder, remotes: tuple[str, ...]) -> Entry:
    kept = tuple(known for known in entry.folders if known.path != folder.path)
    held = {known.remote for known in kept}
    origins = tuple(origin for origin in entry.origins if origin not in remotes or origin in held)
    same = len(kept) == len(entry.folders) and origins == entry.origins
    return entry if same else entry.replace(folders=kept, origins=origins)


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
            field="name",
            remedy=f"Use 1 to {LONGEST_NAME} of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit.",
        )


def check_free(entries: tuple[Entry, ...], name: str) -> None:
    """InvalidInput for a name that is taken."""
    if any(entry.name == name for entry in entries):
        raise InvalidInput(
            f"the name {name!r} is another memory's",
            field="name",
            remedy=f"Choose another name, or join this folder to it with `hardwon init --link {name}`.",
        )


def is_id(text: str) -> bool:
    """Whether a text is a UUID in lower case."""
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and _HEX.issuperset("".join(parts))


def check_id(text: str) -> None:
    """InvalidInput for a text that is no id: ids become names of files."""
    if not is_id(text):
        raise InvalidInput(f"{text[:40]!r} is not an id", field="id", remedy="An id is a UUID in lower case.")
