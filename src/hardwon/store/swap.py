"""Putting another file in the place of a store, while other processes may have the old one open, so that no crash loses either.

A restore, a repair and a new key end so. The steps are written down first (``PATH.swap``), and whoever opens the store next
finishes them; each may be done twice. The old store keeps all its content under another name: nothing suspect is ever deleted.

1. the note, synced;
2. the old file and its log get a second name (``kept``), synced;
3. the log and its index lose their first name, synced: else SQLite would read the old log on top of the new file;
4. the new file takes the place, synced;
5. the note goes.
"""

from __future__ import annotations

import os

from hardwon.errors import StoreError
from hardwon.store import files

_END = "\n"
NOTE = ".swap"


def swap(path: str, new: str, kept: str) -> None:
    """Let ``new``, a whole and synced store without a log in the same folder, take the place of ``path``; the old one is ``kept``.

    The caller holds the writers' lock, and has no connection open. StoreError where the system refuses; what was done is finished
    by the next who opens the store, or was not begun.
    """
    for name in (new, kept):
        if os.path.dirname(name) != os.path.dirname(path) or _END in name:
            raise StoreError(f"{name!r} does not lie beside {path}", remedy="name a file of the same folder")
    files.write_whole(path + NOTE, [f"{os.path.basename(new)}{_END}{os.path.basename(kept)}{_END}".encode()])
    finish(path)


def unfinished(path: str) -> bool:
    """Whether a swap was begun and is not done."""
    return os.path.exists(path + NOTE)


def finish(path: str) -> None:
    """Do what is left of a swap; nothing where none was begun. The caller holds the writers' lock."""
    folder = os.path.dirname(path)
    try:
        with open(path + NOTE, "rb") as note:
            new, kept = (os.path.join(folder, name) for name in note.read().decode().split(_END)[:2])
    except FileNotFoundError:
        return
    disk = files.disk
    if os.path.exists(new):
        for end in ("", "-wal"):
            if os.path.exists(path + end) and not os.path.exists(kept + end):
                disk.link(path + end, kept + end)
        disk.sync_folder(folder)
        for end in ("-wal", "-shm"):
            disk.unlink(path + end)
        disk.sync_folder(folder)
        disk.replace(new, path)
        disk.sync_folder(folder)
    disk.unlink(path + NOTE)
    disk.sync_folder(folder)
