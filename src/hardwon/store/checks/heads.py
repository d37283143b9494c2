"""How far the journal had come, kept outside the store: a file that was put back from an earlier time, or lost its end, is whole in
itself, and only this tells.

One line a repository, at ``HARDWON_HOME/heads/ID``: the last entry of the store's own replica. Written by whoever commits, at most once
a minute, for a commit shall not pay for a second file each time; and after work that ended with a checkpoint. Not synced: an older head is
normal and proves what it says all the same, one that a crash left torn fails its checksum and is written anew. A head that the store
does not contain stays as it is until a person decides, or the next commit would wipe out the only trace.
"""

from __future__ import annotations

import os
from zlib import crc32

import apsw

from hardwon.store import files
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.connection import Access

_MAGIC = "hardwon-head-1"
_MOST = 4096  # bytes; a head has some 200


class Head(Value):
    """The last entry of a replica: its number there (``replica_seq``), its hash as hex, its order of arrival here, and when it was
    written (milliseconds since 1970)."""

    replica: str
    replica_seq: int
    hash: str
    seq: int
    at: int


def note(path: str, connection: apsw.Connection) -> None:
    """Write the head of what is committed, unless the one that is there tells of more; the caller holds the writers' lock.

    Not a word where that fails: the commit is done, and ``verify`` tells that there is no head.
    """
    try:
        known = read(path)
        if known is None or contains(connection, known):
            write(path, connection)
    except (OSError, apsw.Error, ValueError):  # ValueError: a name in the journal that is no text any more
        return


def write(path: str, connection: apsw.Connection) -> None:
    """Let the file tell the store's head as it is now, whatever it told before: after a restore or a repair that a person wanted."""
    head = of(connection)
    if head is None:
        files.disk.unlink(path)
        return
    files.disk.make_folder(os.path.dirname(path))
    files.write_whole(path, [encode(head)], durable=False)


def tell(path: str, store: str, access: Access) -> None:
    """The same for the store in that file, which nobody here has open. StoreError where it cannot be read, OSError for the head."""
    from hardwon.store.connection import open_connection, translate

    connection = open_connection(store, readonly=True, access=access)
    try:
        write(path, connection)
    except apsw.Error as error:
        raise translate(error, store, connection.system_errno, access) from error
    finally:
        connection.close()


def forget(path: str) -> None:
    """Let the file tell nothing, durably, before another journal takes the store's place: after a power loss in between, a head of the
    one that was replaced would tell of a rollback that a person wanted. OSError."""
    if os.path.exists(path):
        files.disk.unlink(path)
        files.disk.sync_folder(os.path.dirname(path))


def of(connection: apsw.Connection) -> Head | None:
    """The store's own head; None while its journal is empty."""
    row = connection.execute(
        "SELECT replica, replica_seq, lower(hex(hash)), seq, at FROM events "
        "WHERE replica = (SELECT value FROM settings WHERE name = 'replica') ORDER BY replica_seq DESC LIMIT 1"
    ).fetchone()
    return Head(*row) if row else None


def contains(connection: apsw.Connection, head: Head) -> bool:
    """Whether the journal has that entry, unchanged."""
    found = connection.execute(
        "SELECT lower(hex(hash)) FROM events WHERE replica = ? AND replica_seq = ?", (head.replica, head.replica_seq)
    ).fetchone()
    return found is not None and bool(found[0] == head.hash)


def encode(head: Head) -> bytes:
    """The line, with a checksum at its end."""
    line = f"{_MAGIC} {head.replica} {head.replica_seq} {head.hash} {head.seq} {head.at}"
    return f"{line} {crc32(line.encode()):08x}\n".encode()


def decode(raw: bytes) -> Head:
    """The head that a line tells; ValueError for anything else."""
    line, _, check = raw.decode("ascii").rstrip("\n").rpartition(" ")
    magic, replica, replica_seq, hashed, seq, at = line.split(" ")
    if magic != _MAGIC or check != f"{crc32(line.encode()):08x}":
        raise ValueError("this is not the head of a journal")
    return Head(replica, int(replica_seq), hashed, int(seq), int(at))


def read(path: str) -> Head | None:
    """What the file tells; None for none, a torn one, or one that cannot be read.

    To be called before the snapshot that it is compared with begins: a commit in between writes a newer one.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return decode(os.read(descriptor, _MOST))
    except (ValueError, OSError):
        return None
    finally:
        os.close(descriptor)
