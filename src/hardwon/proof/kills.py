"""Kills: 4 to 16 processes write to one store, each is killed with SIGKILL at a moment that the seed chooses, and the store is opened
again: everything that they had been told is there, with its content, and ``verify`` finds nothing.

Half of the rounds kill all at once; in the other half one after the other dies while the rest goes on. Where ``strace`` is installed
the kill also falls on the n-th call of a kind (writing, syncing, cutting, renaming), and calls fail on the way: EIO for a sync, which
must not be acknowledged, and ENOSPC for a write, which must be told as a full disk.

The control forgets some of what was acknowledged, as a store would that had lost it.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

from hardwon.engine import opening
from hardwon.proof.acknowledged import Account, broken
from hardwon.proof.report import Control, Outcome, Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.engine.core import Engine
    from hardwon.proof.report import Plan, Progress

_FEWEST, _MOST = 4, 16
_ENDLESS = 1_000_000
# A store is left behind once it holds so many memories: the check after each round should stay short beside the writing.
_LARGEST = 2500
# The most seconds that a round writes. Its mean is half of that, so that some fifty acknowledgements come to each kill.
_LONGEST = 8.0
_SHARE = 0.25  # of the time, for the calls that strace makes fail
_CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", "rename", "unlink")
_STEPS = 40  # calls to the engine of a writer under strace
_HIGHEST = {"pwrite64": 400, "fdatasync": 60}
_CONTROL = 5


class Tally:
    """What has happened so far."""

    def __init__(self) -> None:
        self.rounds = self.kills = self.acknowledged = self.reopened = self.calls = self.refused = 0
        self.slowest = 0.0
        self.violations: list[Violation] = []

    def figures(self) -> dict[str, int | float]:
        """For the report."""
        return {
            "kills": self.kills, "rounds": self.rounds, "acknowledged": self.acknowledged, "calls": self.calls,
            "refused": self.refused, "slowest_reopen_ms": round(self.slowest * 1000, 1),
        }  # fmt: skip


def run(plan: Plan, progress: Progress) -> Outcome:
    """Rounds of kills until the time is over or ``plan.count`` processes were killed."""
    began = time.monotonic()
    tally, source = Tally(), random.Random(plan.seed)
    traced = tracer()
    ends = began + plan.seconds * (1 - _SHARE if traced else 1)
    store = _store(plan, 0)
    accounts: list[Account] = []
    while not tally.rounds or (time.monotonic() < ends and not 0 < plan.count <= tally.kills):
        if sum(len(account.memories) for account in accounts) > _LARGEST:
            shutil.rmtree(os.path.dirname(store))
            store, accounts = _store(plan, tally.rounds), []
        accounts += round_of_kills(store, source, tally)
        _look(plan, store, accounts, tally)
        progress(tally.kills, plan.count)
    control = _control(store, accounts)
    while traced and (time.monotonic() - began < plan.seconds or not tally.calls) and not 0 < plan.count // 10 <= tally.calls:
        fail_a_call(plan, source, tally, traced)
    skipped = () if traced else ("kills at the n-th system call: strace is not installed, or may not trace",)
    seconds = round(time.monotonic() - began, 1)
    return Outcome("kills", plan.seed, seconds, tally.figures(), tuple(tally.violations), (control,), skipped)


def _store(plan: Plan, number: int) -> str:
    folder = os.path.join(plan.folder, f"kills-{number}")
    os.makedirs(folder)
    path = os.path.join(folder, "proof.db")
    opening.open_store(path).close()
    return path


def start(path: str, name: str, seed: int, count: int, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """A writer (see proof/writer.py), with its acknowledgements on a pipe."""
    command = [*before, sys.executable, "-m", "hardwon.proof.writer", path, name, str(seed), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)


def told(process: subprocess.Popen[str]) -> list[str]:
    """The whole lines that a writer has sent; a last one without its end was acknowledged to nobody."""
    output = process.communicate()[0]
    return output.split("\n")[:-1]


def round_of_kills(
    path: str, source: random.Random, tally: Tally, *, longest: float = _LONGEST, most: int = _MOST
) -> list[Account]:
    """Several writers, at most so many, killed within ``longest`` seconds of writing; what each was told."""
    names = [f"w{tally.rounds}x{number}" for number in range(source.randint(_FEWEST, most))]
    seed = source.randrange(1 << 32)
    writers = {name: start(path, name, seed, _ENDLESS) for name in names}
    first = {name: _first_line(writer) for name, writer in writers.items()}
    longest = source.uniform(0, longest)
    at_once = source.random() < 0.5
    moments = sorted(0.0 if at_once else source.uniform(0, longest) for _ in names)
    begun = time.monotonic() + (longest if at_once else 0)
    for name, moment in zip(source.sample(names, len(names)), moments, strict=True):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        writers[name].send_signal(signal.SIGKILL)
    accounts = [Account(name, [*first[name], *told(writers[name])]) for name in names]
    ended = [name for name, writer in writers.items() if writer.returncode != -signal.SIGKILL]
    for account in accounts:
        account.errors += ["ended by itself"] * (account.name in ended)
    tally.rounds += 1
    tally.kills += len(writers) - len(ended)
    tally.acknowledged += sum(account.count for account in accounts)
    return accounts


def _first_line(writer: subprocess.Popen[str]) -> list[str]:
    """It is writing once this has come."""
    line = writer.stdout.readline() if writer.stdout else ""
    return [line.strip()] if line.endswith("\n") else []


def _look(plan: Plan, store: str, accounts: Sequence[Account], tally: Tally) -> None:
    """Open the store again, and compare."""
    begun = time.perf_counter()
    engine = opening.open_store(store)
    engine.figures()
    tally.slowest = max(tally.slowest, time.perf_counter() - begun)
    problems = [*broken(accounts, engine), *_damage(engine)]
    problems += [f"{account.name} was refused: {kind}" for account in accounts for kind in account.errors]
    engine.close()
    _note(plan, store, problems, f"round {tally.rounds}", tally)


def _damage(engine: Engine) -> list[str]:
    """What ``verify`` finds. Notes are not damage: a writer that dies while it commits leaves a transaction in the log by half, which
    was acknowledged to nobody."""
    return [f"verify: {item.what} ({item.where})" for item in engine.verify() if item.level != "note"]


def _note(plan: Plan, store: str, problems: Sequence[str], operation: str, tally: Tally) -> None:
    if problems:
        kept = os.path.join(plan.folder, f"violation-{tally.rounds}-{tally.calls}")
        shutil.copytree(os.path.dirname(store), kept, dirs_exist_ok=True)
        again = f"hardwon torture --kills --seed {plan.seed}"
        tally.violations += [Violation(what, operation, tally.kills, kept, again) for what in problems]


def _control(store: str, accounts: Sequence[Account]) -> Control:
    """Acknowledgements of what was never written, as many as a store would have lost."""
    engine = opening.open_store(store)
    found = 0
    for number in range(_CONTROL):
        lost = Account("lost", [f"new 00000000-0000-7000-8000-00000000000{number} {number}"])
        found += any("not there" in problem for problem in broken([*accounts, lost], engine))
    engine.close()
    return Control("acknowledged and never written", _CONTROL, found)


# System calls


def tracer() -> str:
    """strace, where it is installed and may trace; "" elsewhere."""
    found = shutil.which("strace")
    if not found:
        return ""
    done = subprocess.run([found, "-o", os.devnull, "true"], capture_output=True, check=False)
    return found if done.returncode == 0 else ""


def fail_a_call(plan: Plan, source: random.Random, tally: Tally, traced: str) -> None:
    """One writer, killed at, or refused, a call of the seed's choice."""
    call = source.choice(_CALLS)
    number = source.randint(1, _HIGHEST.get(call, 12))
    ways = ["signal=SIGKILL", *{"fdatasync": ["error=EIO"], "pwrite64": ["error=ENOSPC"]}.get(call, [])]
    inject(plan, call, source.choice(ways), number, source.randrange(1 << 32), tally, traced)


def inject(plan: Plan, call: str, way: str, number: int, seed: int, tally: Tally, traced: str) -> Account:
    """One writer whose ``number``-th ``call`` ends so (``signal=SIGKILL``, ``error=EIO``); what it was told."""
    tally.calls += 1
    store = _store(plan, _ENDLESS + tally.calls)
    rule = [traced, "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{way}:when={number}"]
    process = start(store, "traced", seed, _STEPS, rule)
    account = Account("traced", told(process))
    tally.acknowledged += account.count
    tally.kills += process.returncode not in (0, None)
    tally.refused += len(account.errors)
    engine = opening.open_store(store)
    problems = [*broken([account], engine), *_damage(engine)]
    problems += _wrongly_refused(account, way)
    engine.close()
    _note(plan, store, problems, f"{call} {number}: {way}", tally)
    shutil.rmtree(os.path.dirname(store))
    return account


def _wrongly_refused(account: Account, way: str) -> list[str]:
    """A call that failed once refuses one call of the engine at most, with the right name."""
    right = {"error=EIO": "store_error", "error=ENOSPC": "disk_full"}.get(way)
    wrong = [f"{way} was told as {kind}" for kind in account.errors if kind != right]
    return [*wrong, *(["the writer did not go on"] if len(account.errors) > 1 else [])]
