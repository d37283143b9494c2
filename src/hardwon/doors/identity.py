"""Which memory a folder has, and why, in words: what ``init`` and ``status`` say of it. Off the quick path."""

from __future__ import annotations

from time import gmtime, strftime

from hardwon.code.repo import addresses, shallow_since
from hardwon.store.identity import shown
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.repo import Checkout
    from hardwon.engine.core import Place
    from hardwon.store.identity import Entry


def reason(place: Place) -> str:
    """Why this memory: what it was found by."""
    name = place.entry.name
    if place.why == "origin":
        return _by_origin(place)
    if place.why == "folder":
        return "the folder: " + _registered_path(place) + " is registered"
    return {
        "root commits": "the root commits: it has no remote, and begins with the same commits",
        "name": f"the name: -p {name}",
        "new": "it is new",
        "linked": f"you linked it: --link {name}",
        "split": f"you split it off: --split {name}",
    }[place.why]


def _by_origin(place: Place) -> str:
    checkout, known = place.checkout, place.entry.origins
    if checkout.origin in known:
        return f"the remote: clones of {checkout.origin} belong to it"
    if any(address in known for address in addresses(checkout)):
        return "the remote: a known clone was made from this repository"
    return f"the remote: it was cloned from {checkout.origin.removeprefix('file:')}, which belongs to it"


def _registered_path(place: Place) -> str:
    checkout = place.checkout
    return checkout.common_dir if checkout.common_dir in place.entry.paths or not checkout.root else checkout.root


def done(place: Place) -> str:
    """What ``init`` did about the memory, in one line; "" where everything was known already."""
    entry, checkout = place.entry, place.checkout
    where = "this repository, with all its worktrees," if checkout.common_dir else "this folder"
    return {
        "new": f"new memory: {shown(entry)}",
        "origin": f"{where} joined {shown(entry)}: {reason(place)}",
        "root commits": f"{where} joined {shown(entry)}: {reason(place)}",
        "linked": f"{where} now has the memory {shown(entry)}",
        "split": f"{where} now has a memory of its own: {shown(entry)}; what was recorded before stays where it is",
    }.get(place.why, f"known as {shown(entry)}")


def commands(entry: Entry, akin: Sequence[Entry]) -> list[tuple[str, str]]:
    """How the folder gets another memory: rows for a table."""
    other = akin[0].name if akin else "NAME"
    rows = [("related", "; ".join(map(shown, akin)) + " (the same remote, or the same first commits)")] if akin else []
    return [
        *rows,
        ("to join", f"hardwon init --link {other}  (have this folder use that memory)"),
        ("to split", f"hardwon init --split NEW-NAME  (a memory of its own instead of {entry.name}'s)"),
    ]


def shallow(checkout: Checkout) -> list[Finding]:
    """A note for a clone whose history was cut off."""
    if not checkout.shallow:
        return []
    since = shallow_since(checkout)
    when = f"history before {strftime('%Y-%m-%d', gmtime(since))}" if since is not None else "earlier history"
    remedy = "`git fetch --unshallow`, then `hardwon init`"
    return [Finding("note", f"shallow clone: {when} is not here", "history", remedy)]
