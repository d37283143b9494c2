"""What stands in the log behind the point up to which SQLite reads it.

SQLite takes a write-ahead log as far as its checksums are right, and passes over the rest in silence: after a crash that rest is a
transaction that was never acknowledged, after damage it may be any number that were. Our commits are synced one by one, so what a crash
leaves torn is the last transaction; a commit behind it cannot have been begun before it was on the disk. Two commits behind a broken
frame are therefore damage, one may be either.

The file is read through SQLite's own VFS: a descriptor of Python's, closed, would take this process's POSIX locks on the file away.
"""

from __future__ import annotations

import apsw

from hardwon.store.log_format import FRAME, HEADER, MAGIC, checksum, number, sums
from hardwon.types import Finding, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = 4096  # where a damaged header does not tell: what stores are made with
_REPAIR = "`hardwon repair` keeps what can be read; `hardwon restore` brings a backup back"


class Tail(Value):
    """``frames`` of the log's present generation, of which the first ``read`` are what SQLite takes; ``broken`` the number of the first
    that is not what was written (0 for none, counted from 1), ``commits`` how many transactions end there or behind it."""

    frames: int
    read: int
    broken: int
    commits: int
    header: bool


def findings(path: str, vfs: str = "") -> list[Finding]:
    """What is wrong with the log of the store at ``path``; nothing for a whole one, an empty one or none."""
    tail = read(path, vfs)
    if tail is None:
        return []
    log = path + "-wal"
    if not tail.header:
        what = f"the log's header is not what was written: {tail.commits:,} transactions behind it are not read"
        return [Finding("error", what, log, _REPAIR)] if tail.commits else []
    if not tail.broken or not tail.commits:
        return []
    where = f"{log}, frames {tail.broken:,} to {tail.frames:,}"
    if tail.commits == 1:
        what = "the last transaction in the log is not whole: a crash cut it short before it was acknowledged, or it was damaged since"
        return [Finding("note", what, where, "nothing is to be done after a crash; the next commit writes over it")]
    what = (
        f"the log is damaged: {tail.commits:,} transactions are not read any more, all but perhaps the last had been acknowledged"
    )
    return [Finding("error", what, where, _REPAIR)]


def is_longer(path: str, vfs: str, read: int) -> bool:
    """Whether a commit of the log's present generation stands behind the ``read`` frames that SQLite takes, or may: looks at headers
    only."""
    file = _opened(path, vfs)
    if file is None:
        return False
    try:
        header = file.xRead(HEADER, 0)
        page, _, whole = _head(header)
        if not whole:
            return True
        step = FRAME + page
        for offset in range(HEADER + read * step, file.xFileSize() - step + 1, step):
            frame = file.xRead(FRAME, offset)
            if frame[8:16] == header[16:24] and number(frame, 4):
                return True
        return False
    finally:
        file.xClose()


def read(path: str, vfs: str = "") -> Tail | None:
    """Look through the log of the store at ``path``; None where there is none, or nothing in it."""
    file = _opened(path, vfs)
    if file is None:
        return None
    try:
        return _tail(file, file.xFileSize())
    finally:
        file.xClose()


def _opened(path: str, vfs: str) -> apsw.VFSFile | None:
    """The log; None where there is none, or no frame in it."""
    try:
        file = apsw.VFSFile(vfs or "unix", path + "-wal", [apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_READONLY, 0])
    except (apsw.CantOpenError, apsw.IOError):
        return None
    if file.xFileSize() <= HEADER + FRAME:
        file.xClose()
        return None
    return file


def _head(header: bytes) -> tuple[int, bool, bool]:
    """Bytes of a page, whether checksums are of little-endian words, and whether the header is what was written."""
    magic, page = number(header, 0), number(header, 8)
    little = not magic & 1
    if page < 512 or page > 65536 or page & (page - 1):
        return _PAGE, little, False
    return page, little, magic | 1 == MAGIC | 1 and checksum(header[:24], (0, 0), little=little) == sums(header, 24)


def _tail(file: apsw.VFSFile, size: int) -> Tail | None:
    header = file.xRead(HEADER, 0)
    if len(header) < HEADER:
        return None
    page, little, whole = _head(header)
    return _follow(_frames(file, size, page), header[16:24], sums(header, 24), little, whole)


def _follow(frames: Iterator[bytes], salts: bytes, before: tuple[int, int], little: bool, whole: bool) -> Tail | None:
    """Go along the chain of checksums. Behind a broken frame it is taken up from the sums that the frame before tells."""
    read = broken = commits = last = 0
    for at, frame in enumerate(frames, start=1):
        mine = frame[8:16] == salts
        told = sums(frame, 16)
        right = mine and checksum(frame[FRAME:], checksum(frame[:8], before, little=little), little=little) == told
        before = told
        if not right and not broken:
            broken = at
        if mine:
            last = at
            if number(frame, 4):
                if broken or not whole:
                    commits += 1
                else:
                    read = at
    if not last:
        return None  # the frames of an earlier generation, which are in the file already
    return Tail(last, read if whole else 0, broken if broken <= last else 0, commits, whole)


def _frames(file: apsw.VFSFile, size: int, page: int) -> Iterator[bytes]:
    step = FRAME + page
    for offset in range(HEADER, size - step + 1, step):
        frame = file.xRead(step, offset)
        if len(frame) < step:  # cut off by a checkpoint since its size was asked
            return
        yield frame
