"""What git's hooks have told and nobody has seen to yet: lines of a file in git's own folder, to which a shell appends.

Their number and words do not matter, for what is to be done is read from git. They are set aside before the work begins and go when it
is done: one that comes meanwhile stays for the next time, and after a crash the work is done again, which changes nothing.
"""

from __future__ import annotations

import os

from hardwon.code.hook_block import EVENTS, FOLDER
from hardwon.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.code.repo import Checkout

_TAKEN = "events.taken"


def folder(checkout: Checkout) -> str:
    """Where they lie; "" outside git."""
    return os.path.join(checkout.common_dir, FOLDER) if checkout.common_dir else ""


def waiting(checkout: Checkout) -> bool:
    """Whether something was told that nobody has seen to. Two questions to the system: any call can afford it."""
    place = folder(checkout)
    return bool(place) and any(_size(os.path.join(place, name)) for name in (EVENTS, _TAKEN))


def since(checkout: Checkout) -> int | None:
    """When the oldest that waits was told, at the latest, in milliseconds; None where nothing waits."""
    place = folder(checkout)
    times = []
    for name in (EVENTS, _TAKEN) if place else ():
        try:
            times.append(os.stat(os.path.join(place, name)).st_mtime_ns // 1_000_000)
        except OSError:
            continue
    return min(times, default=None)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def take(checkout: Checkout) -> None:
    """Set them aside, before the work."""
    place = folder(checkout)
    if not place:
        return
    try:
        files.disk.replace(os.path.join(place, EVENTS), os.path.join(place, _TAKEN))
    except FileNotFoundError:
        return


def drop(checkout: Checkout) -> None:
    """Those that were set aside are seen to."""
    place = folder(checkout)
    if place and os.path.isdir(place):
        files.disk.unlink(os.path.join(place, _TAKEN))


def prepare(checkout: Checkout) -> None:
    """Make the folder: from now on hooks tell."""
    files.disk.make_folder(folder(checkout), 0o755)


def remove(checkout: Checkout) -> None:
    """Take the folder away with what waits in it; what is not ours keeps it."""
    place = folder(checkout)
    for name in (EVENTS, _TAKEN):
        if os.path.isdir(place):
            files.disk.unlink(os.path.join(place, name))
    try:
        os.rmdir(place)
    except OSError:
        return  # it is not there, or something else is in it
