"""A repository with a memory, a home with a client that ``hardwon install`` has wired, and the scripted model: what a test plays in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients import run, table
from tests.clients.model import MAIN, Model, Script
from tests.clients.wire import Say
from tests.gitmaker import GitRepo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.clients.model import Reply, Request
    from tests.clients.run import Turn
    from tests.clients.table import Client, Place

SHOP = '''\
def total(cart):
    """The price of what is in a cart, in cents."""
    return sum(item.price for item in cart)


def count(cart):
    return len(cart)
'''
PRICES = "def price(item, tax):\n    return item * (1 + tax)\n"
TEST = "from prices import price\n\n\ndef test_price_is_whole_cents():\n    assert price(199, 0.07) == 213\n"
HISTORY = (
    ("Start the shop", {"shop.py": SHOP, "README.md": "# Shop\n"}),
    (
        "Round prices after the tax, not before\n\nRounding the net price first lost a cent on every third order of the shops.",
        {"prices.py": PRICES, "test_prices.py": TEST},
    ),
)
LAST_WORDS = "That is all for today."
# On a busy machine a hook would run out of time; whether it is in time is measured elsewhere. OpenCode's plugin waits two seconds.
PATIENT = {"HARDWON_HOOK_MS": "20000"}


@dataclass
class World:
    """``place``: home, repository and model of one test. ``extra``: what else the client's environment has."""

    client: Client
    place: Place
    model: Model
    extra: dict[str, str] = field(default_factory=lambda: dict(PATIENT))

    @property
    def store(self) -> Path:
        """The folder of Hardwon's stores."""
        return self.place.home / ".local" / "share" / "hardwon" / "stores"

    def path(self, name: str) -> str:
        """A file of the repository, as a client names it."""
        return str(self.place.repo / name)

    def text(self, name: str) -> str:
        """What a file of the repository holds."""
        return (self.place.repo / name).read_text()

    def hardwon(self, *words: str, env: dict[str, str] | None = None, fails: bool = False) -> str:
        """The installed command, as an agent would call it; its standard output. It has to succeed, unless it ``fails``."""
        program = os.path.join(os.path.dirname(sys.executable), "hardwon")
        done = subprocess.run(
            [program, *words],
            cwd=self.place.repo,
            env={**run.environment(self.client, self.place), **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        assert fails or done.returncode == 0, f"hardwon {' '.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def data(self, *words: str) -> Any:
        """The same, as JSON."""
        return json.loads(self.hardwon(*words, "--json"))

    def play(
        self, prompt: str, replies: list[Reply], parts: dict[str, list[Reply]] | None = None, goes_on: bool = False
    ) -> tuple[Turn, list[Request]]:
        """One turn: what the client did, and the requests of the main conversation. The model says LAST_WORDS at the end."""
        before = len(self.model.of())
        self.model.begin(Script({MAIN: [*replies, [Say(LAST_WORDS)]], **(parts or {})}))
        turn = run.run(self.client, self.place, prompt, goes_on, self.extra)
        requests = self.model.of()[before:]
        assert not turn.killed and turn.code == 0 and LAST_WORDS in turn.out, turn
        assert len(requests) >= len(replies) + 1, (turn, [request.step for request in requests])
        return turn, requests

    def command(self, *words: str) -> Turn:
        """Another command of the client."""
        return run.command(self.client, self.place, words, self.extra)


def worlds(client: Client, base: Path, commands: Path, cache: Path) -> Iterator[World]:
    """A world in ``base``: the client is set up, nothing of Hardwon is there yet."""
    home = base / "home"
    home.mkdir()
    repo = GitRepo(base / "shop")
    for message, files in HISTORY:
        repo.write(files)
        repo.git("add", "-A")
        repo.git("commit", "-qm", message)
    with Model(Script()) as model:
        place = table.Place(home, base / "shop", model.url, commands, cache)
        client.configure(place)
        yield World(client, place, model)


def approved(world: World, text: str) -> None:
    """A rule that a person has made. They do so at a terminal, where the command asks; a test has none."""
    from hardwon.engine.opening import open_engine
    from hardwon.types import Draft, Origin, Scope

    engine = open_engine(str(world.place.repo), str(world.store.parent), cache=str(world.place.cache / "hardwon"))
    try:
        engine.record(Draft(text, kind="rule"), Scope(Origin("person", tool="cli")))
    finally:
        engine.close()


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def some(*names: str) -> pytest.MarkDecorator:
    """For a test that is of some clients rather than all."""
    chosen = [client for client in table.CLIENTS if client.label in names]
    return pytest.mark.parametrize("world", chosen, ids=[client.label for client in chosen], indirect=True)
