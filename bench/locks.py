"""How long a writer waits for the others: our queue on a kernel lock, against SQLite's own polling (busy_timeout).

    python bench/locks.py [--writers 8] [--rounds 6] [--seconds 4] [--seed 1] [--json FILE]

The same engine records the same kind of lessons in both ways, in as many processes; the ways take turns, round by round, in one run, so
that both meet the same machine. A wait is the whole call, from before ``record`` to its return. Told are commits a second, and the
median, 99th percentile and longest wait; of the rounds of a way, the median (of the longest also the worst).

Polling: the lock is left out, and BEGIN IMMEDIATE meets SQLite's busy handler with a timeout that no round reaches. That is how most
programs share one SQLite file.

What it came to, with the ways that were tried, is in docs/decisions/0014. It wants a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import common

WAYS = ("queue", "polling")
_TIMEOUT_MS = 600_000


class NoLock:
    """What stands for the lock where nobody queues."""

    def release(self) -> None:
        """Nothing to give back."""


def write(way: str, path: str, name: str, seconds: float) -> None:
    """One writer: a line when it is ready; from the line that it is sent then, one with the milliseconds of each call that was
    acknowledged."""
    from hardwon.store import connection, sqlite

    if way == "polling":
        connection.BUSY_MS = _TIMEOUT_MS
        sqlite.SqliteStore._acquire = lambda _self, _timeout: NoLock()  # type: ignore[method-assign,assignment,return-value]
    import hardwon
    from hardwon.types import Anchor

    engine = hardwon.open_store(path, wait=_TIMEOUT_MS / 1000)
    engine.figures()
    print("ready", flush=True)
    sys.stdin.readline()
    number, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        number += 1
        place = Anchor(f"{name}.py", f"{name}.run{number % 7}")
        draft = hardwon.Draft(f"{name} lesson {number}", "lesson", "failed", detail="what was tried " * 10, anchors=(place,))
        begun = time.perf_counter()
        engine.record(draft, hardwon.Scope())
        sys.stdout.write(f"{(time.perf_counter() - begun) * 1000:.3f}\n")
        sys.stdout.flush()


def measure(way: str, writers: int, seconds: float) -> dict[str, float]:
    """One round on a store of its own."""
    import hardwon

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "bench.db")
        hardwon.open_store(path).close()
        command = [sys.executable, __file__, "--writer", way, path]
        processes = [
            subprocess.Popen([*command, f"w{number}", str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for number in range(writers)
        ]
        for process in processes:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise SystemExit(f"a writer did not start ({way})")
        for process in processes:
            if process.stdin is not None:
                process.stdin.write("go\n")
                process.stdin.flush()
        waits = [float(line) for process in processes for line in process.communicate()[0].splitlines()]
        if any(process.returncode for process in processes):
            raise SystemExit(f"a writer failed ({way})")
        engine = hardwon.open_store(path)
        if engine.verify() or engine.figures()["lesson"] != len(waits):
            raise SystemExit(f"something was lost ({way})")
        engine.close()
    return {
        "commits_per_second": len(waits) / seconds, "p50_ms": common.percentile(waits, 0.5), "p99_ms": common.percentile(waits, 0.99),
        "longest_ms": max(waits),
    }  # fmt: skip


def main() -> None:
    """Rounds in turn, and what they came to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1, help="decides which way begins each round")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--writer", nargs=4, metavar=("WAY", "PATH", "NAME", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        way, path, name, seconds = options.writer
        write(way, path, name, float(seconds))
        return
    chance = random.Random(options.seed)
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for number in range(options.rounds):
        for way in chance.sample(WAYS, len(WAYS)):
            found[way].append(measure(way, options.writers, options.seconds))
            common.say(f"round {number + 1}, {way}: {found[way][-1]}")
    figures: dict[str, Any] = {way: summary(rounds) for way, rounds in found.items()}
    rows = [[way, *(f"{value:,.1f}" for value in figures[way].values())] for way in WAYS]
    print(common.table(["way", *figures["queue"]], rows))
    queue, polling = figures["queue"], figures["polling"]
    ratio = polling["worst_ms"] / queue["worst_ms"]
    print(
        f"\nlongest wait {ratio:.1f} times shorter, throughput {queue['commits_per_second'] / polling['commits_per_second']:.2f} times"
    )
    common.write_json(options.json, common.report("locks", options.seed, (), {**figures, "writers": options.writers}))


def summary(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The median of the rounds, and of the longest waits the worst."""
    medians = {name: common.median([one[name] for one in rounds]) for name in rounds[0]}
    return {**medians, "worst_ms": max(one["longest_ms"] for one in rounds)}


if __name__ == "__main__":
    main()
