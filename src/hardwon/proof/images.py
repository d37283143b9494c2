"""What may lie on a disk after the power failed: the model, and images drawn from it.

Of a file, everything up to its last sync is there. What was written, cut, lengthened or allocated since may be there not at all,
wholly, as a prefix, as any subset, in another order; the last write torn at any 512 bytes, or with garbage in its place. Only the
bytes of a write can be hurt, not its neighbours: SQLite relies on that too (SQLITE_IOCAP_POWERSAFE_OVERWRITE).

Of a folder, every entry up to its last sync is there. Of those made, renamed, linked and removed since, a prefix is: a new file may
have no name yet, a removed one still have its own, and a rename not have happened, whatever was synced of the file's content. That is
what POSIX promises, and less than what ext4, XFS and btrfs do.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from itertools import pairwise

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from hardwon.proof.recorder import Event, Recording

SECTOR = 512
# How what is not synced comes out. entries: names are there, contents are not; missing: the other way round.
KINDS = ("none", "all", "prefix", "subset", "reordered", "torn", "garbage", "entries", "missing")
# At events after which more is decided than by one of many equal writes, an image of every kind is drawn.
_DECISIVE = frozenset({"sync", "syncfolder", "enter", "remove", "truncate", "folder", "allocate"})


class Image(Value):
    """A disk after a power loss: ``files`` by path below the recorded folder, with their content; ``folders`` likewise."""

    kind: str
    files: dict[str, bytes]
    folders: tuple[str, ...]

    @property
    def digest(self) -> bytes:
        """Equal images have equal digests (128 bits)."""
        running = blake2b(digest_size=16)
        for path in sorted(self.files):
            running.update(f"{path}\0".encode("utf-8", "surrogateescape") + _digest(self.files[path]))
        running.update("\0".join(sorted(self.folders)).encode())
        return running.digest()


# Digests of contents that come again and again, as the very same object: a megabyte takes a millisecond.
_DIGESTS: dict[int, tuple[bytes, bytes]] = {}
_HELD = 16


def _digest(content: bytes) -> bytes:
    known = _DIGESTS.get(id(content))
    if known is not None and known[0] is content:
        return known[1]
    if len(_DIGESTS) >= _HELD:
        _DIGESTS.clear()
    digest = blake2b(content, digest_size=16).digest()
    _DIGESTS[id(content)] = (content, digest)
    return digest


class DiskState:
    """The disk along a recording: what is certain, and what is pending since the last sync of each file and folder."""

    def __init__(self, recording: Recording) -> None:
        self._root = recording.root
        self._certain: dict[int, bytes] = {}
        self._pending: dict[int, list[Event]] = {}
        # folder: name: number of the file, -1 for a folder
        self._entries: dict[str, dict[str, int]] = {self._root: {}}
        self._moves: dict[str, list[Event]] = {}
        for path in recording.folders[1:]:  # each after the one above it
            folder, name = os.path.split(path)
            self._entries[folder][name] = -1
            self._entries[path] = {}
        for path, (number, content) in recording.base.items():
            folder, name = os.path.split(path)
            self._entries[folder][name] = number
            self._certain[number] = content

    def apply(self, event: Event) -> None:
        """One event further."""
        if event.kind == "sync":
            self._certain[event.file] = self.content(event.file, self._pending.pop(event.file, []))
        elif event.kind == "syncfolder":
            self._entries[event.folder] = self._names(event.folder, self._moves.pop(event.folder, []))
        elif event.kind in ("enter", "remove", "folder"):
            self._moves.setdefault(event.folder, []).append(event)
        else:
            self._pending.setdefault(event.file, []).append(event)

    @property
    def is_certain(self) -> bool:
        """Whether there is only one way in which the disk can come out."""
        return not self._pending and not self._moves

    def content(self, file: int, changes: Iterable[Event]) -> bytes:
        """A file's certain content with some changes on top, in that order."""
        raw = bytearray(self._certain.get(file, b""))
        for change in changes:
            if change.kind == "write":
                if len(raw) < change.at:
                    raw += bytes(change.at - len(raw))
                raw[change.at : change.at + len(change.data)] = change.data
            elif len(raw) < change.at:
                raw += bytes(change.at - len(raw))
            elif change.kind == "truncate":
                del raw[change.at :]
        return bytes(raw)

    def _names(self, folder: str, moves: Iterable[Event]) -> dict[str, int]:
        """A folder's certain entries with some changes on top."""
        names = dict(self._entries.get(folder, {}))
        for move in moves:
            if move.old or move.kind == "remove":
                names.pop(move.old or move.name, None)
            if move.kind != "remove":
                names[move.name] = -1 if move.kind == "folder" else move.file
        return names

    def image(self, kind: str, rng: Random) -> Image:
        """The disk in one of the ways in which it may come out."""
        hurt = rng.choice([*self._pending, -1]) if kind in ("torn", "garbage") else -1
        files: dict[str, bytes] = {}
        folders: list[str] = []
        known: dict[int, bytes] = {}  # a file with two names has one content
        waiting = [self._root]
        while waiting:
            folder = waiting.pop()
            for name, number in self._names(folder, _moved(self._moves.get(folder, []), kind, rng)).items():
                path = os.path.join(folder, name)
                if number < 0:
                    folders.append(os.path.relpath(path, self._root))
                    waiting.append(path)
                    continue
                if number not in known:
                    pending = self._pending.get(number, [])
                    how = kind if number == hurt or kind not in ("torn", "garbage") else "prefix"
                    known[number] = (
                        self.content(number, _survivors(pending, how, rng)) if pending else self._certain.get(number, b"")
                    )
                files[os.path.relpath(path, self._root)] = known[number]
        return Image(kind, files, tuple(folders))


def _moved(moves: list[Event], kind: str, rng: Random) -> list[Event]:
    """Which of a folder's changes happened: always a prefix."""
    if kind in ("all", "entries"):
        return moves
    return [] if kind == "none" else moves[: rng.randint(0, len(moves))]


def _survivors(pending: list[Event], kind: str, rng: Random) -> list[Event]:
    """Which of a file's changes came through, in the order in which they did."""
    if kind in ("none", "entries"):
        return []
    if kind in ("all", "missing"):
        return pending
    if kind in ("subset", "reordered"):
        share = rng.random()
        chosen = [change for change in pending if rng.random() < share]
        if kind == "reordered":
            rng.shuffle(chosen)
        return chosen
    length = rng.randint(0, len(pending))
    if kind == "prefix" or not length or pending[length - 1].kind != "write":
        return pending[:length]
    return pending[: length - 1] + _hurt(pending[length - 1], kind, rng)


def _hurt(write: Event, kind: str, rng: Random) -> list[Event]:
    """What is left of a write that was going on: some of its sectors, or garbage in some."""
    pieces = _sectors(write)
    if kind == "torn":
        return [piece for piece in pieces if rng.random() < 0.5]
    return [piece.replace(data=rng.randbytes(len(piece.data))) if rng.random() < 0.5 else piece for piece in pieces]


def _sectors(write: Event) -> list[Event]:
    """A write as those of single sectors."""
    end = write.at + len(write.data)
    cuts = sorted({write.at, end, *range(write.at - write.at % SECTOR + SECTOR, end, SECTOR)})
    return [write.replace(at=a, data=write.data[a - write.at : b - write.at]) for a, b in pairwise(cuts)]


def images(state: DiskState, event: Event | None, rng: Random, few: int = 2) -> Iterator[Image]:
    """Images of a state of the disk, which ``event`` has led to: one of each kind where that decides something, else ``few``."""
    if state.is_certain:
        yield state.image("none", rng)
        return
    kinds = KINDS if event is None or event.kind in _DECISIVE else rng.sample(KINDS, few)
    for kind in kinds:
        yield state.image(kind, rng)
