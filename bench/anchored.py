"""The product under ``truth.py``: memories tied to code, recorded and read through the engine as an agent's door would."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.engine import opening
from hardwon.types import Anchor, Draft, Filter, Memory, Origin, Query, Scope

_SCOPE = Scope(Origin("agent", "bench"))


class Shown(NamedTuple):
    """What a memory's anchor was said to be: its state, where it is now ("" where nothing was said), and who changed it."""

    state: str
    path: str
    symbol: str
    changed_by: str


class Spent(NamedTuple):
    """Seconds on the wall, and of CPU with that of git."""

    wall: float
    cpu: float


class Subject:
    """A clone of its own and its memory. The engine is opened anew at each stop, as a command would."""

    def __init__(self, clone: str, folder: str, only: Sequence[str] = ()) -> None:
        """``only``: patterns of the files that are checked out; all without any."""
        self.clone, self._home = os.path.join(folder, "clone"), os.path.join(folder, "home")
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", clone, self.clone], check=True)
        if only:
            subprocess.run(["git", "-C", self.clone, "sparse-checkout", "set", "--no-cone", *only], check=True)
        self._made = False

    def go(self, commit: str) -> None:
        """Make the working tree that of a commit."""
        # A branch that moves on: what was recorded at an ancestor stays in sight.
        subprocess.run(["git", "-C", self.clone, "checkout", "-q", "-f", "-B", "main", commit], check=True)
        if not self._made:
            opening.create(self.clone, self._home).close()
            self._made = True

    def refresh(self) -> Spent:
        """Bring the index up to date; what it took."""
        engine = opening.open_engine(self.clone, self._home)
        begun, before = time.perf_counter(), sum(os.times()[:4])
        engine.refresh_code()
        spent = Spent(time.perf_counter() - begun, sum(os.times()[:4]) - before)
        engine.close()
        return spent

    def record(self, places: Sequence[tuple[str, str]], when: str) -> list[str]:
        """One memory for each path and symbol, at the commit ``when``; their ids."""
        engine = opening.open_engine(self.clone, self._home)
        made = []
        for path, symbol in places:
            text = f"Learnt at {when[:10]}: take care with {symbol} in {path}"  # no text twice: it would be one memory
            draft = Draft(text, "lesson", "failed", anchors=(Anchor(path, symbol),))
            made.append(engine.record(draft, _SCOPE).id)
        engine.close()
        return made

    def shown(self, ids: Sequence[str]) -> list[Shown]:
        """What is said of the first anchor of each memory, when it is shown."""
        engine = opening.open_engine(self.clone, self._home)
        states = [_shown(engine.show(memory, _SCOPE)[0]) for memory in ids]
        engine.close()
        return states

    def recalled(self, ids: Sequence[str], seed: int, most: int = 50) -> list[tuple[str, Shown]]:
        """What is said of some of them when they are recalled by id, in a block."""
        engine = opening.open_engine(self.clone, self._home)
        chosen = sorted(random.Random(seed).sample(list(ids), min(most, len(ids))))
        block = engine.recall(Query(where=Filter(ids=tuple(chosen)), k=most, budget=100_000), _SCOPE)
        engine.close()
        return [(hit.memory.id, _shown(hit.memory)) for hit in block.hits]


def _shown(memory: Memory) -> Shown:
    anchor = memory.anchors[0]
    return Shown(anchor.state, anchor.now_path, anchor.now_symbol, anchor.changed_by)
