"""A repository under way while agents record: after every step each memory's state is what a model says, whatever was done.

The model (bench/made_code.py) knows every function by a number of its own. Real git, the real engine; the program is drawn from a seed.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from hardwon.engine import opening
from hardwon.types import Anchor, Draft, Origin, Query, Scope
from tests.gitmaker import GitRepo, environment

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from made_code import Function, Maker, Seen, State, seen, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SCOPE = Scope(Origin("agent", "tester"))
# What a step does, as often as it stands here. The first line changes files and commits nothing.
CHANGES = (
    *(["edit"] * 5), *(["lay_out"] * 3), *(["indent"] * 2), *(["rename"] * 3), *(["move"] * 3), "add", *(["delete"] * 2), "rename_file",
)  # fmt: skip
STEPS = (
    *(["change"] * 9), *(["commit"] * 4), *(["refresh"] * 3), *(["settle"] * 4), *(["record"] * 2), "revert", "switch", "switch", "merge",
)  # fmt: skip
SHORT = 3  # statements: with fewer, a function may be too short to be known again


class Pinned(NamedTuple):
    """A memory: the function that it was recorded on, where, at which commit, and whether its file was committed as it was."""

    memory: str
    function: Function
    path: str
    commit: str
    clean: bool


class World:
    """A repository, its memory, and the model of both. ``told`` is what was done, for the reader of a failure."""

    def __init__(self, where: Path, home: Path, seed: int) -> None:
        self.repo, self.home, self.maker = GitRepo(where), str(home), Maker(seed)
        self.repo.git("config", "merge.directoryRenames", "false")
        self.random = random.Random(f"steps {seed}")
        self.now: State = {}
        self.commits: dict[str, State] = {}
        self.branch = "main"
        self.tips: dict[str, str] = {}
        self.pinned: list[Pinned] = []
        self.hard: set[int] = set()  # functions whose place and code changed in one commit: they may be taken for gone
        self.indexed: tuple[str, State] | None = None
        self.told: list[str] = [f"seed {seed}"]
        self._write(self.maker.first())
        self.commit()
        opening.create(self.repo.path, self.home).close()
        self.refresh()
        for _ in range(6):
            self.told.append("record")
            self.record()

    @property
    def head(self) -> str:
        return self.tips[self.branch]

    @property
    def clean(self) -> bool:
        return self.now == self.commits[self.head]

    @property
    def behind(self) -> bool:
        return self.indexed != (self.head, self.now)

    def step(self) -> None:
        """Do something."""
        what = self.random.choice(STEPS)
        self.told.append(what)
        getattr(self, what)()

    def change(self) -> None:
        what = self.random.choice(CHANGES)
        self.told[-1] += f" {what}"
        changed = getattr(self.maker, what)(self.now)
        if changed is not None:
            self._write(changed)

    def commit(self) -> None:
        self.repo.git("add", "-A")
        self._stand(self.repo.commit(f"Change {len(self.repo.made)}"))

    def refresh(self) -> None:
        engine = opening.open_engine(self.repo.path, self.home)
        try:
            engine.refresh_code()
            self.indexed = (self.head, self.now)
            self._compare_index(engine)
        finally:
            engine.close()

    def settle(self) -> None:
        """Commit, and bring the index up to date."""
        self.commit()
        self.refresh()

    def record(self) -> None:
        path = self.random.choice(sorted(self.now))
        one = self.random.choice(self.now[path])
        number = len(self.pinned)
        engine = opening.open_engine(self.repo.path, self.home)
        try:
            draft = Draft(f"Lesson {number} on {one.name}", "lesson", "failed", anchors=(Anchor(path, one.name),))
            memory = engine.record(draft, SCOPE).id
        finally:
            engine.close()
        self.told[-1] += f" {number}: {path}:{one.name} ({one.number})"
        committed = self.commits[self.head].get(path) == self.now[path]
        self.pinned.append(Pinned(memory, one, path, self.head, committed))
        self.maker.favourites.add(one.number)

    def revert(self) -> None:
        """Take the last commit back."""
        if not self.clean or self.head not in self._parents or len(self._parents[self.head]) != 1:
            return
        before = self.commits[self._parents[self.head][0]]
        self.repo.git("revert", "--no-edit", self.head, env={"GIT_EDITOR": "true"}) if before != self.now else self.commit()
        self.now = before
        self._stand(self.repo.head())

    def switch(self) -> None:
        """To another branch, perhaps a new one."""
        if not self.clean:
            return
        name = self.random.choice(("main", "side", "other"))
        self.told[-1] += f" {name}"
        if name not in self.tips:
            self.repo.branch(name)
            self.tips[name] = self.head
        self.repo.checkout(name)
        self._passed(self.now, self.commits[self.tips[name]])
        self.branch, self.now = name, self.commits[self.tips[name]]

    def merge(self) -> None:
        """Another branch into this one, where no file was changed in both."""
        others = sorted(set(self.tips) - {self.branch})
        if not self.clean or not others:
            return
        other = self.random.choice(others)
        self.told[-1] += f" {other}"
        base = self.repo.git("merge-base", self.head, self.tips[other])
        if self.tips[other] == base:
            return
        merged = _merged(self.commits[base], self.now, self.commits[self.tips[other]])
        if merged is None:
            self.told[-1] += " (not)"
            return
        self.repo.merge(other)
        self.now = merged
        for path, held in merged.items():
            assert Path(self.repo.path, path).read_text() == text_of(path, held), "the model of a merge is wrong"
        self._stand(self.repo.head())

    def check(self) -> None:
        """Every memory's state against the model."""
        engine = opening.open_engine(self.repo.path, self.home)
        try:
            for number, pinned in enumerate(self.pinned):
                anchor = engine.show(pinned.memory, SCOPE)[0].anchors[0]
                known = seen(pinned.function, pinned.path, self.now)
                allowed = self._allowed(pinned, known)
                about = f"memory {number} is {known}, shown as {anchor}; behind: {self.behind}\n" + "\n".join(self.told)
                assert anchor.state in allowed, about
                if anchor.state == known.state and (anchor.state == "moved" or anchor.now_path):
                    said = (anchor.now_path or anchor.path, anchor.now_symbol or anchor.symbol)
                    assert said == (known.path, known.name), about
                if anchor.now_path:
                    there = {one.name for one in self.now.get(anchor.now_path, ())}
                    assert anchor.now_symbol in there, about
                    assert (anchor.now_path, anchor.now_symbol) != (pinned.path, pinned.function.name), about
        finally:
            engine.close()

    def _allowed(self, pinned: Pinned, known: Seen) -> set[str]:
        allowed = {known.state}
        at_home = (known.path, known.name) == (pinned.path, pinned.function.name)
        followed = self._is_ancestor(pinned.commit) and pinned.clean and self.clean
        if self.behind:
            allowed.add("unknown")
        if known.state == "changed" and not at_home and (pinned.function.number in self.hard or not followed):
            allowed |= {"gone", "unknown"}
        if known.state == "moved" and (len(pinned.function.statements) < SHORT or not followed):
            allowed |= {"gone", "unknown"}
        if known.state == "gone" and not followed:
            allowed.add("unknown")
        return allowed

    def _is_ancestor(self, commit: str) -> bool:
        command = ["git", "-C", self.repo.path, "merge-base", "--is-ancestor", commit, self.head]
        return subprocess.run(command, check=False, env=environment({})).returncode == 0

    def _compare_index(self, engine: opening.Engine) -> None:
        """The index holds what the model holds."""
        assert engine.code is not None
        with engine.code.read() as reader:
            assert reader.commit == self.head
            assert [path for path in reader.paths() if path.endswith((".py", ".go"))] == sorted(self.now), self.told
            for path, held in self.now.items():
                found = reader.symbols(reader.blob_at(path))
                assert found is not None and [one.qualified for one in found] == [one.name for one in held], (path, self.told)

    @property
    def _parents(self) -> Mapping[str, list[str]]:
        return {self.head: self.repo.git("rev-list", "--parents", "-n1", self.head).split()[1:]}

    def _stand(self, sha: str) -> None:
        if self.branch in self.tips:
            self._passed(self.commits[self.head], self.now)
        self.tips[self.branch], self.commits[sha] = sha, self.now

    def _passed(self, before: State, after: State) -> None:
        there = {one.number: (path, one) for path, held in after.items() for one in held}
        for path, held in before.items():
            for one in held:
                new_path, new = there.get(one.number, ("", one))
                if new_path and (new_path, new.name) != (path, one.name) and new.code != one.code:
                    self.hard.add(one.number)

    def _write(self, state: State) -> None:
        files: dict[str, str | bytes | None] = {
            path: text_of(path, held) for path, held in state.items() if held != self.now.get(path)
        }
        self.repo.write(files | dict.fromkeys(path for path in self.now if path not in state))
        self._passed(self.now, state)
        self.now = state


def _merged(base: State, ours: State, theirs: State) -> State | None:
    """Three states of files made one; None where a file is different in all of them."""
    result = {}
    for path in {*base, *ours, *theirs}:
        three = base.get(path), ours.get(path), theirs.get(path)
        if three[1] != three[0] != three[2] and three[1] != three[2]:
            return None
        held = three[2] if three[1] == three[0] else three[1]
        if held is not None:
            result[path] = held
    numbers = [one.number for held in result.values() for one in held]
    return result if len(numbers) == len(set(numbers)) else None


def play(where: Path, home: Path, seed: int, steps: int) -> None:
    world = World(where, home, seed)
    for _ in range(steps):
        world.step()
        world.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_states_are_those_of_the_model(tmp_path: Path, home: Path, seed: int) -> None:
    play(tmp_path / "repo", home, seed, steps=20)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1100, 10))
def test_states_are_those_of_the_model_whatever_is_done(tmp_path: Path, home: Path, first: int) -> None:
    for seed in range(first, first + 10):
        play(tmp_path / f"repo{seed}", home / str(seed), seed, steps=30)


# Twenty commits a minute while three processes record, recall and bring the index up to date.

MINUTE = 60.0
PAUSE = 3.0


class Said(NamedTuple):
    """What a process recorded: a memory, its path and symbol, and what HEAD was before and after."""

    memory: str
    path: str
    symbol: str
    before: str
    after: str


def agent(repo: str, home: str, states: str, seed: int, until: float, out: multiprocessing.SimpleQueue[Said | str]) -> None:
    """Record and recall until the time is over. Every memory goes to ``out``, and a text for whatever was wrong."""
    source, mine = random.Random(seed), list[Said]()
    while time.time() < until:
        try:
            state = pickled(states, head_of(repo))
            if state is not None:
                mine.append(said := agent_records(repo, home, state, source))
                out.put(said)
            for wrong in agent_reads(repo, home, states, mine):
                out.put(wrong)
            if source.random() < 0.2:
                engine = opening.open_engine(repo, home)
                engine.refresh_code()
                engine.close()
        except Exception as error:  # noqa: BLE001 - whatever happens is told to the test
            out.put(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        time.sleep(source.random() / 5)


def agent_records(repo: str, home: str, state: State, source: random.Random) -> Said:
    path = source.choice(sorted(path for path in state if state[path]))
    one = source.choice(state[path])
    before = head_of(repo)
    engine = opening.open_engine(repo, home)
    text = f"Lesson {source.random()} on {one.name}"
    memory = engine.record(Draft(text, "lesson", "failed", anchors=(Anchor(path, one.name),)), SCOPE).id
    block = engine.recall(Query(symbol=one.name, file=path, k=5), SCOPE)
    engine.close()
    if memory not in {hit.memory.id for hit in block.hits} and head_of(repo) == before:
        raise AssertionError(f"{path}:{one.name} was recorded and is not recalled: {block.hits}")
    return Said(memory, path, one.name, before, head_of(repo))


def agent_reads(repo: str, home: str, states: str, mine: list[Said]) -> list[str]:
    """Memories that are shown as true and are not, while nothing was under way."""
    head = head_of(repo)
    state = pickled(states, head)
    if state is None or git_status(repo):
        return []
    engine = opening.open_engine(repo, home)
    shown = [(said, engine.show(said.memory, SCOPE)[0].anchors[0]) for said in mine[-20:]]
    engine.close()
    if head_of(repo) != head or git_status(repo):
        return []
    wrong = []
    for said, anchor in shown:
        pinned = pinned_function(states, said, anchor.blob)
        if pinned and anchor.state in {"same", "moved"} and seen(pinned, said.path, state).state in {"changed", "gone"}:
            wrong.append(f"{said} is {seen(pinned, said.path, state)}, shown as {anchor}")
    return wrong


def pinned_function(states: str, said: Said, blob: str) -> Function | None:
    """What stood there when it was recorded: in the file of that blob, as another commit may have come in between."""
    for head in (said.before, said.after):
        for one in (pickled(states, head) or {}).get(said.path, ()):
            text = text_of(said.path, (pickled(states, head) or {})[said.path]).encode()
            if one.name == said.symbol and blob == hashlib.sha1(b"blob %d\0%s" % (len(text), text)).hexdigest():
                return one
    return None


def pickled(states: str, head: str) -> State | None:
    try:
        with open(os.path.join(states, head), "rb") as file:
            state: State = pickle.load(file)
            return state
    except OSError:
        return None


def head_of(repo: str) -> str:
    return subprocess.run(
        ["git", "-C", repo, "rev-parse", "HEAD"], check=True, capture_output=True, text=True, env=environment({})
    ).stdout.strip()


def git_status(repo: str) -> str:
    """What is not committed. Without locks: git's own refresh of its index would stop the one that commits."""
    command = ["git", "--no-optional-locks", "-C", repo, "status", "--porcelain"]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment({})).stdout


@pytest.mark.slow
def test_twenty_commits_a_minute_while_agents_record(tmp_path: Path, home: Path) -> None:
    world, states = World(tmp_path / "repo", home, seed=77), tmp_path / "states"
    states.mkdir()
    keep(world, states)
    context, until = multiprocessing.get_context("spawn"), time.time() + MINUTE
    out: multiprocessing.SimpleQueue[Said | str] = context.SimpleQueue()
    told: list[Said | str] = []
    agents = [
        context.Process(target=agent, args=(world.repo.path, str(home), str(states), seed, until, out)) for seed in range(3)
    ]
    for one in agents:
        one.start()
    while time.time() < until:
        world.told.append("")
        for _ in range(3):
            world.change()
        world.commit()
        keep(world, states)
        done = time.time() + PAUSE
        while time.time() < done:
            while not out.empty():
                told.append(out.get())
            time.sleep(0.05)
    while any(one.is_alive() for one in agents) or not out.empty():
        told += [out.get()] if not out.empty() else []
    assert [one for one in told if isinstance(one, str)] == []
    said = [one for one in told if isinstance(one, Said)]
    assert len(world.repo.made) >= MINUTE / PAUSE / 2 and len(said) > 30
    world.refresh()
    engine = opening.open_engine(world.repo.path, str(home))
    for one in said:
        anchor = engine.show(one.memory, SCOPE)[0].anchors[0]
        pinned = pinned_function(str(states), one, anchor.blob)
        if pinned is not None:
            world.pinned.append(Pinned(one.memory, pinned, one.path, anchor.commit, clean=True))
    engine.close()
    assert len(world.pinned) > len(said) / 2
    world.check()


def keep(world: World, states: Path) -> None:
    """What the model says of a commit, for those who look at it from other processes."""
    states.joinpath(world.head + ".part").write_bytes(pickle.dumps(dict(world.now)))
    states.joinpath(world.head + ".part").rename(states / world.head)
