"""A made history for ``truth.py`` of which everything is known: a check of the bench's own truth, and of the whole path without data."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from followed import Followed, Truth
from made_code import Function, Maker, State, seen, text_of

COMMITS = 90
_BEGIN, _STEP = 1_600_000_000, 7_200
# How often a commit does what.
_WORK = (
    *(["edit"] * 8), *(["lay_out"] * 3), "indent", *(["rename"] * 3), *(["move"] * 3), *(["add"] * 3), *(["delete"] * 2),
    *(["rename_file"] * 2),
)  # fmt: skip


class Made:
    """A repository in a folder, and its state after each commit, oldest first."""

    def __init__(self, folder: str, seed: int, suffix: str = ".py") -> None:
        self.folder = folder
        maker = Maker(seed)
        first = {path.rpartition(".")[0] + suffix: held for path, held in maker.first(6, 7).items()}
        self.states: list[State] = [first]
        while len(self.states) < COMMITS:
            changed = getattr(maker, maker.random.choice(_WORK))(self.states[-1])
            if changed is not None and changed != self.states[-1]:
                self.states.append(changed)
        self._git("init", "-q", "-b", "main", ".")
        for number, state in enumerate(self.states):
            self._commit(number, state)

    def check(self, judged: Iterable[tuple[Followed, int, Truth]]) -> None:
        """Raise where the bench's truth is not what was made. What is short or was moved and edited at once may be taken for gone."""
        for followed, stop, truth in judged:
            held = self.states[followed.number][followed.path]
            one = next(one for one in held if one.name == followed.pinned.qualified)
            known = seen(one, followed.path, self.states[stop])
            said = (truth.state, truth.path, truth.qualified)
            if said != known and not (truth.state == "gone" and self._hard(one, followed.number, stop)):
                raise RuntimeError(f"{followed.path}:{one.name} is {known}, taken for {truth}")

    def _hard(self, one: Function, number: int, stop: int) -> bool:
        return len(one.statements) < 3 and number < stop

    def _commit(self, number: int, state: State) -> None:
        for path in set(self.states[number - 1] if number else ()) - set(state):
            os.remove(os.path.join(self.folder, path))
        for path, held in state.items():
            os.makedirs(os.path.join(self.folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
                file.write(text_of(path, held))
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", f"Change {number}", at=_BEGIN + number * _STEP)

    def _git(self, *words: str, at: int = _BEGIN) -> None:
        os.makedirs(self.folder, exist_ok=True)
        who = {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in _PERSON.items()}
        dates = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
        command = ["git", "-C", self.folder, "-c", "commit.gpgsign=false", "-c", "gc.auto=0", *words]
        subprocess.run(command, check=True, env={**os.environ, **who, **dates})


_PERSON = {"NAME": "A", "EMAIL": "a@example.org"}
