"""A process that writes without end and says what was acknowledged; it is there to be killed.

``python -m hardwon.proof.writer PATH NAME SEED COUNT``: the store, the writer's name, the seed of its choices, and how many calls it
makes. Each line on standard output was written after the call had returned:

    new ID N              memory N of this writer is kept
    again ID N            … and happened once more
    revised ID N TIMES    … and its words were changed for the TIMES-th time
    forgot ID N           … and is forgotten
    changes FIRST COUNT   commits are kept
    error KIND            the call was refused: nothing is acknowledged
"""

from __future__ import annotations

import hashlib
import random
import sys

from hardwon.errors import HardwonError
from hardwon.types import Anchor, Change, Draft, Filter, Origin, Revision, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine

# How often each call is made, in hundredths; what is left records something new.
_AGAIN, _REVISE, _FORGET, _INGEST = 8, 8, 4, 3
COMMITS = 3
_WAIT = 120.0  # seconds that a writer queues: longer than any round


def text_of(name: str, number: int, times: int = 0) -> str:
    """What memory ``number`` of a writer says after so many revisions."""
    return f"{name} learnt lesson {number}" + (f", and put it otherwise {times} times" if times else "")


def sha_of(name: str, number: int) -> str:
    """The commit that a writer makes up."""
    return hashlib.blake2b(f"{name} {number}".encode(), digest_size=20).hexdigest()


def detail_of(name: str, number: int) -> str:
    """The rest of the content, of a length that changes from one to the next."""
    return f"{name} {number} " + "of all that was tried " * (number % 40)


class Writer:
    """One writer with what it knows to be kept, as (id, number, revisions) of each that is not forgotten."""

    def __init__(self, engine: Engine, name: str, seed: int) -> None:
        self._engine = engine
        self._name = name
        self._source = random.Random(f"{seed} {name}")
        self._scope = Scope(Origin("person", "proof", name, "torture"))
        self._kept: list[tuple[str, int, int]] = []
        self._next = 0
        self._commits = 0

    def step(self) -> str:
        """One call; the line that acknowledges it."""
        chance = self._source.randrange(100)
        if chance < _INGEST:
            return self._ingest()
        if not self._kept or chance >= _INGEST + _AGAIN + _REVISE + _FORGET:
            return self._new()
        place = self._source.randrange(len(self._kept))
        if chance < _INGEST + _AGAIN:
            return self._again(place)
        return self._revise(place) if chance < _INGEST + _AGAIN + _REVISE else self._forget(place)

    def _draft(self, number: int, times: int = 0) -> Draft:
        place = Anchor(f"{self._name}.py", f"{self._name}.run{number % 7}")
        return Draft(
            text_of(self._name, number, times), "lesson", "failed", detail=detail_of(self._name, number), anchors=(place,)
        )

    def _new(self) -> str:
        number, self._next = self._next, self._next + 1
        receipt = self._engine.record(self._draft(number), self._scope)
        self._kept.append((receipt.id, number, 0))
        return f"new {receipt.id} {number}"

    def _again(self, place: int) -> str:
        identifier, number, times = self._kept[place]
        self._engine.record(self._draft(number, times), self._scope)
        return f"again {identifier} {number}"

    def _revise(self, place: int) -> str:
        identifier, number, times = self._kept[place]
        self._engine.revise(identifier, Revision(text=text_of(self._name, number, times + 1)), self._scope)
        self._kept[place] = (identifier, number, times + 1)
        return f"revised {identifier} {number} {times + 1}"

    def _forget(self, place: int) -> str:
        identifier, number, _ = self._kept.pop(place)
        self._engine.forget(Filter(ids=(identifier,)), self._scope, dry_run=False)
        return f"forgot {identifier} {number}"

    def _ingest(self) -> str:
        first, self._commits = self._commits, self._commits + COMMITS
        made = [
            Change(sha_of(self._name, number), 1_700_000_000_000 + number * 1000, f"{self._name} changed {number}", author="Ann")
            for number in range(first, first + COMMITS)
        ]
        self._engine.add_changes(made)
        return f"changes {first} {COMMITS}"


def main(path: str, name: str, seed: int, count: int) -> None:
    """Write, and say so."""
    from hardwon.engine import opening

    writer = Writer(opening.open_store(path, wait=_WAIT), name, seed)
    for _ in range(count):
        try:
            line = writer.step()
        except HardwonError as error:
            line = f"error {error.kind}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
