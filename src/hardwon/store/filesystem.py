"""Which kind of file system a folder lies on: on a network one SQLite's log cannot keep its promise.

The log's index is memory that processes share, on one machine only, and network file systems answer a lock or a sync before it holds.
"""

from __future__ import annotations

import os

from hardwon.errors import InvalidInput

# Where Linux tells the mounts of this process (proc(5)); elsewhere there is none, and nothing is known.
MOUNTS = "/proc/self/mountinfo"
_NETWORK = frozenset((
    "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "orangefs", "prl_fs", "pvfs2", "smb3", "smbfs", "vboxsf", "vmhgfs",
))  # fmt: skip
_NETWORK_FUSE = (
    "ceph", "davfs", "gcsfuse", "glusterfs", "goofys", "gvfsd", "hdfs", "mfs", "moosefs", "rclone", "s3fs", "seaweedfs",
    "sshfs", "vmhgfs",
)  # fmt: skip


# 9p is how WSL shows the drives of Windows and how virtual machines show folders of their host; a sandbox may have its own disk on it.
_NETWORK_9P = ("drvfs", "trans=virtio", "trans=tcp", "trans=rdma")


def network_at(path: str, mounts: str = "") -> str:
    """The type of the network file system that a path (existing or not) lies on; "" for a local one, and where that is not known.

    FUSE file systems are taken for local ones, but those that are known to be none.
    """
    kind, options = _mounted(path, mounts or MOUNTS)
    if kind.startswith("fuse."):
        return kind if any(name in kind for name in _NETWORK_FUSE) else ""
    if kind == "9p":
        return kind if any(option in options for option in _NETWORK_9P) else ""
    return kind if kind in _NETWORK else ""


def _mounted(path: str, mounts: str) -> tuple[str, str]:
    """Type of the file system, and its source with its own options."""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return "", ""
    place = os.path.realpath(path)
    best, found = "", ("", "")
    for line in lines:
        fields = line.split(" ")
        if "-" not in fields[6:]:
            continue
        point = _unescaped(fields[4])
        # Of two mounts on one point the later hides the earlier.
        if len(point) >= len(best) and (place + "/").startswith(point.rstrip("/") + "/"):
            best, after = point, fields.index("-", 6) + 1
            found = fields[after], " ".join(fields[after + 1 :])
    return found


def refuse_network(folder: str) -> None:
    """InvalidInput where a store in this folder could lose what it acknowledged."""
    kind = network_at(folder)
    if kind:
        raise InvalidInput(
            f"{folder} lies on a network file system ({kind}), where what was acknowledged can be lost",
            field="HARDWON_HOME",
            remedy="set HARDWON_HOME to a folder on a local disk",
        )


def _unescaped(point: str) -> str:
    """Spaces and the like stand as octal numbers in the table."""
    for code, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, letter)
    return point
