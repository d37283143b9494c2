"""What writers were told to be kept, compared with what a store holds: nothing acknowledged is missing, and nothing is there by half.

A writer that was killed had one call under way; of that, all may be there or nothing.
"""

from __future__ import annotations

from hardwon.proof.writer import COMMITS, detail_of, sha_of, text_of
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hardwon.engine.core import Engine
    from hardwon.types import Memory


class Held:
    """What one memory was acknowledged to be: how often it happened, how often it was revised, whether it is forgotten."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 1
        self.times = 0
        self.forgotten = False


class Account:
    """What one writer was told."""

    def __init__(self, name: str, lines: Iterable[str] = ()) -> None:
        self.name = name
        self.memories: dict[str, Held] = {}
        self.commits: set[int] = set()
        self.count = 0
        self.errors: list[str] = []
        for line in lines:
            self.add(line)

    def add(self, line: str) -> None:
        """One whole line of the writer's (see proof/writer.py)."""
        word, *rest = line.split()
        if word == "error":
            self.errors.append(rest[0])
            return
        self.count += 1
        if word == "changes":
            first, count = map(int, rest)
            self.commits.update(range(first, first + count))
            return
        held = self.memories.setdefault(rest[0], Held(int(rest[1])))
        if word == "again":
            held.seen += 1
        elif word == "revised":
            held.times = int(rest[2])
        elif word == "forgot":
            held.forgotten = True


def broken(accounts: Iterable[Account], engine: Engine) -> Iterator[str]:
    """What is missing, altered or too much, a sentence each."""
    known = list(accounts)
    with engine.store.read() as reader:
        found = {memory.id: memory for memory in reader.find(Filter(), -1)}
        commits = reader.known_commits()
    for account in known:
        for identifier, held in account.memories.items():
            yield from _differs(account.name, held, found.get(identifier))
        for number in sorted(account.commits):
            if sha_of(account.name, number) not in commits:
                yield f"commit {number} of {account.name} was acknowledged and is not there"
    told = sum(len(account.memories) for account in known)
    lessons = sum(memory.kind == "lesson" for memory in found.values())
    if lessons > told + len(known):
        yield f"{lessons} memories are there, {told} were acknowledged, and {len(known)} writers can have had one more each"
    if len(commits) % COMMITS:
        yield "of the commits of one transaction a part is there"


def _differs(name: str, held: Held, memory: Memory | None) -> Iterator[str]:
    called = f"memory {held.number} of {name}"
    if memory is None:
        yield f"{called} was acknowledged and is not there"
        return
    under_way = (text_of(name, held.number, held.times), text_of(name, held.number, held.times + 1))
    if memory.text not in under_way or memory.detail != detail_of(name, held.number).strip():
        yield f"{called} says something else: {memory.text!r}"
    if held.forgotten and memory.status != "forgotten":
        yield f"{called} was forgotten and is {memory.status}"
    if not held.seen <= memory.seen <= held.seen + 1:
        yield f"{called} happened {held.seen} times, and {memory.seen} are told"
