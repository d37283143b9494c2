"""Network file systems are told from local ones, and no memory is made on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon.store import filesystem
from hardwon.store.filesystem import network_at
from tests.conftest import Result

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = """\
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /home rw - nfs4 server:/home rw
24 23 0:22 / /home/ann/local rw - xfs /dev/sdb1 rw
25 22 0:23 / /mnt/c rw - 9p C:\\134 rw,aname=drvfs;path=C:\\,trans=fd
30 22 0:28 / /box rw - 9p none rw,trans=fd,rfdno=4
31 22 0:29 / /host rw - 9p host rw,trans=virtio
26 22 0:24 / /mnt/with\\040space rw,nosuid master:3 - fuse.sshfs host:/ rw
27 22 0:25 / /over rw - nfs server:/x rw
28 22 0:26 / /over rw - tmpfs tmpfs rw
29 22 0:27 / /mnt/usb rw - fuseblk /dev/sdc1 rw
a line that is no mount
"""


@pytest.fixture
def mounts(tmp_path: Path) -> str:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    return str(table)


@pytest.mark.parametrize(
    ("path", "network"),
    [
        ("/var/lib", ""),
        ("/home/bob/.local/share/hardwon", "nfs4"),
        ("/home/ann/local/hardwon", ""),
        ("/home/ann/locality", "nfs4"),
        ("/homes", ""),
        ("/mnt/c/Users/ann", "9p"),
        ("/host/x", "9p"),
        ("/box/x", ""),
        ("/mnt/with space/x", "fuse.sshfs"),
        ("/over/x", ""),
        ("/mnt/usb", ""),
    ],
)
def test_the_nearest_mount_decides(mounts: str, path: str, network: str) -> None:
    assert network_at(path, mounts) == network


def test_without_a_table_nothing_is_known_and_nothing_refused(tmp_path: Path) -> None:
    assert network_at("/home/x", str(tmp_path / "none")) == ""


def test_a_link_is_followed_to_where_it_leads(mounts: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/mnt/c/data")
    assert network_at(str(tmp_path / "link" / "deep" / "er"), mounts) == "9p"


def test_no_memory_is_made_on_a_network_file_system_and_one_that_lies_there_is_told(
    bare: Path, home: Path, tmp_path: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text("22 1 0:20 / / rw - nfs4 server:/ rw\n")
    with monkeypatch.context() as patch:
        patch.setattr(filesystem, "MOUNTS", str(table))
        said = call("init", "--json")
        assert (said.code, said.error["kind"], said.error["field"]) == (2, "invalid_input", "HARDWON_HOME"), said
        assert not home.exists()
    assert call("init").code == 0
    monkeypatch.setattr(filesystem, "MOUNTS", str(table))
    said = call("status", "--json")
    assert said.code == 1
    assert any("network" in item["what"] and item["level"] == "error" for item in said.data["findings"])
