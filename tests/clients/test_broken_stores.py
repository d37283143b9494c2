"""With a store that cannot be used, a client's turn ends as if Hardwon were not there; and nothing is lost that was kept before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from hardwon.store.lock import FileLock
from tests.clients.test_turns import NEW, OLD, RULE, make_risky
from tests.clients.world import approved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.clients.world import World


def data(world: World) -> Path:
    """Hardwon's folder."""
    return world.store.parent


def database(world: World) -> Path:
    """The store of the repository."""
    (found,) = world.store.glob("*.db")
    return found


@contextmanager
def locked(world: World) -> Iterator[None]:
    """Another process holds the lock of the writers, of each file that has one."""
    held = [FileLock(str(path)) for path in world.store.glob("*.lock")]
    held += [FileLock(f"{path}.lock") for path in world.store.glob("*.db") if not os.path.exists(f"{path}.lock")]
    for lock in held:
        lock.acquire(10)
    try:
        yield
    finally:
        for lock in held:
            lock.release()


@contextmanager
def full(world: World) -> Iterator[None]:
    """The file system of the store has not a byte left."""
    place, aside = data(world), data(world).with_name("aside")
    shutil.copytree(place, aside)
    size = sum(path.stat().st_size for path in aside.rglob("*") if path.is_file()) + 300_000
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    try:
        shutil.copytree(aside, place, dirs_exist_ok=True)
        with (place / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(b"x" * 4096)
            except OSError:
                pass
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def absent(world: World) -> Iterator[None]:
    """The repository has no memory, nor has any other."""
    shutil.rmtree(data(world))
    yield
    assert not data(world).exists(), "a folder was made for a repository that has no memory"


@contextmanager
def damaged(world: World) -> Iterator[None]:
    """Garbage in the middle of the file, and no log to help."""
    path = database(world)
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for at in range(100, size, 512):
            file.seek(at)
            file.write(b"\xa5" * 64)
    yield


@contextmanager
def keyless(world: World) -> Iterator[None]:
    """The store is encrypted, and its key is elsewhere."""
    world.hardwon("init", "--encrypt", "--yes")
    (key,) = (data(world) / "keys").iterdir()
    key.unlink()
    yield


WAYS: tuple[Callable[[World], AbstractContextManager[None]], ...] = (locked, full, absent, damaged, keyless)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_turn_ends_normally(wired: World, way: Callable[[World], AbstractContextManager[None]]) -> None:
    approved(wired, RULE)
    make_risky(wired)
    wired.extra.clear()  # the usual deadlines
    shop = wired.path("shop.py")
    edit = wired.client.edit(shop, OLD, NEW)
    test = wired.client.shell(f"{sys.executable} -m pytest -q -p no:cacheprovider test_prices.py")
    tool = wired.client.mcp("hardwon", "recall", {"task": "whole cents or a float"})
    with way(wired):
        note = wired.hardwon("record", "A note that finds no place", "--json", env={"HARDWON_WAIT": "0"}, fails=True)
        assert '"created"' not in note, "the store can be used after all"
        turn, _ = wired.play("Make the total of a cart whole cents.", [[wired.client.read(shop)], [tool], [edit], [edit], [test]])
        assert NEW in wired.text("shop.py"), turn
        assert "Traceback" not in turn.err, turn
