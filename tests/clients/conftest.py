"""Every test of this folder is of the real clients, and runs once for each of them that it is for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients import packages, table
from tests.clients.world import worlds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.world import World

HERE = Path(__file__).parent
CACHE = packages.cache(dict(os.environ))  # read before the tests get an environment of their own


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.clients)


@pytest.fixture(scope="session")
def commands() -> Path:
    """The folder of the clients' commands; the test is skipped where they cannot be installed."""
    try:
        return packages.installed(CACHE)
    except packages.Unavailable as reason:
        pytest.skip(f"the clients cannot be installed: {reason}")


@pytest.fixture(params=table.CLIENTS, ids=lambda client: client.label)
def world(request: pytest.FixtureRequest, tmp_path: Path, commands: Path) -> Iterator[World]:
    """A client, a home, a repository, a model: nothing of Hardwon yet."""
    yield from worlds(request.param, tmp_path, commands, CACHE / "xdg")


@pytest.fixture
def wired(world: World) -> World:
    """The same, with a memory and with the client wired, as a user would do it."""
    world.hardwon("init")
    world.hardwon("install", world.client.name, "--yes")
    return world
