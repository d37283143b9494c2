"""Where the power may fail: one folder with a store in it, the engine on it, and what was acknowledged of it."""

from __future__ import annotations

import os
from random import Random

from hardwon.engine.core import Engine
from hardwon.proof.observation import HOME, STORE
from hardwon.proof.operations import REPOSITORY
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.store.sqlite import SqliteStore
    from hardwon.types import Draft

PATIENCE = 5.0  # seconds for the writers' lock, which nobody else has here
WORDS = (
    "pool", "retry", "token", "cache", "upload", "schema", "queue", "lock", "index", "page", "merge", "branch", "parser", "timeout",
    "worker", "socket", "header", "packet", "cursor", "buffer",
)  # fmt: skip
_BEGAN = 1_700_000_000_000


class World:
    """The folder, the engine on it, and the facts: for each memory that was acknowledged its text and status."""

    def __init__(self, root: str, rng: Random, make_store: Callable[[str, Callable[[], int], bytes], SqliteStore]) -> None:
        """``make_store`` opens the store at a path, with a clock and a key (b"" for none): on the recorded disk."""
        self.root = root
        self.rng = rng
        self.facts: dict[str, tuple[str, str]] = {}
        self.drafts: dict[str, Draft] = {}
        self.commits = 0
        self.made = 0  # commits that were made up so far; those that no ref of a repository reaches go when one is read
        self.damaged = False
        self.names: list[str] = []
        self.waiting: dict[str, str] = {}  # id and text of what is in the spool
        self.forgotten: list[str] = []  # whose last change was that they were forgotten
        self.erased: list[str] = []  # texts of which no byte is to be found any more
        self.gone: set[str] = set()  # ids of memories that were erased
        self.saved: tuple[dict[str, tuple[str, str]], int] | None = None  # the facts and commits that the backup has
        self.key = b""
        self._now = _BEGAN
        self._make_store = make_store
        self.engine = self._opened()

    @property
    def path(self) -> str:
        """The store's file."""
        return os.path.join(self.root, STORE)

    def clock(self) -> int:
        """Milliseconds that go on by a random step."""
        self._now += self.rng.randrange(1, 3000)
        return self._now

    def _opened(self) -> Engine:
        store = self._make_store(self.path, self.clock, self.key)
        engine = Engine(store, REPOSITORY, None, self.clock, self.rng.randbytes, PATIENCE)
        engine.erasure_key = os.path.join(self.root, HOME, "erasure.key")
        return engine

    def reopen(self) -> None:
        """As the next process does."""
        self.engine.close()
        self.engine = self._opened()

    def text(self, words: int = 8) -> str:
        """Something new to say."""
        return f"{' '.join(self.rng.choices(WORDS, k=words))} {self.rng.randrange(10**6)}"

    def active(self) -> list[str]:
        """Ids of the recorded memories that are active."""
        return [identifier for identifier, (_, status) in self.facts.items() if status == "active"]

    def some(self) -> str:
        """One of them, "" where there is none. (Recording one here would make two transactions of an operation that is one.)"""
        known = self.active()
        return self.rng.choice(known) if known else ""

    def note(self, identifier: str, text: str, status: str = "active") -> None:
        """What has to be readable from now on."""
        self.facts[identifier] = (text, status)
        if identifier in self.forgotten:
            self.forgotten.remove(identifier)

    def unkept(self, store: SqliteStore) -> list[str]:
        """The facts that a store does not bear out, a sentence each."""
        with store.read() as reader:
            found = {memory.id: (memory.text, memory.status) for memory in reader.get(list(self.facts))}
            commits = reader.figures()["change"] if self.commits else 0
        wrong = [
            f"{identifier} was acknowledged as {fact}, and is {found.get(identifier, 'not there')}"
            for identifier, fact in self.facts.items()
            if found.get(identifier) != fact
        ]
        return wrong + ([f"{self.commits} commits were acknowledged, {commits} are there"] if commits != self.commits else [])


class Operation(Value):
    """One kind of thing that is done. ``share``: how often, among the others; ``steps``: it commits more than once, and a power loss may
    leave it after any of its commits; ``then``: what has to come next, for another operation would do it first on its way."""

    name: str
    run: Callable[[World], None]
    share: int = 1
    steps: bool = False
    then: tuple[Operation, ...] = ()
