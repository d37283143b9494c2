"""The product beside the design that it grew from: the same work for both, in one run, in turns.

Counts CPU of each command (user and system, from a cold process), synced writes of each record, the size of the store, and what is
lost when a writer is killed. Takes turns because the machine may be busy: only figures of one run may be held against each other.

Examples::

    python bench/against_seed.py
    python bench/against_seed.py --fails 200 --symbols 40 --kills 50 --json seed.json
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import cm_baseline
import hardwon
from common import Run, median, report, run, say, size_of, syncs, table, write_json
from hardwon.types import Anchor, Draft, Filter, Scope

_TRACED = 5  # records that are traced for their syncs
_HERE = os.path.dirname(os.path.abspath(__file__))


class Side(NamedTuple):
    """One of the two: its name, its command line, the environment of its processes, the folder of its store."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    folder: str


def sides(folder: str, product: str) -> tuple[Side, Side]:
    """Both, each with an empty store; they work in ``folder``/work."""
    seed, home = os.path.join(folder, "seed"), os.path.join(folder, "home")
    os.makedirs(seed)
    os.makedirs(os.path.join(folder, "work"))
    script = os.path.join(_HERE, "cm_baseline.py")
    base = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "HARDWON_HOME": home}
    return (
        Side("cm_baseline", (sys.executable, script, "--db", os.path.join(seed, "cm.db"), "-p", "bench"), base, seed),
        Side("hardwon", (product,), base, home),
    )


def _run(side: Side, words: Sequence[str], folder: str) -> Run:
    done = run([*side.command, *words], side.environment, os.path.join(folder, "work"))
    if done.code:
        raise RuntimeError(f"{side.name} {' '.join(words)} ended with {done.code}")
    return done


def work(fails: int, symbols: int, seed: int) -> list[tuple[str, list[str]]]:
    """The commands: failures on symbols, then what is known of each symbol, then the counts."""
    source = random.Random(seed)
    names = [f"Service{number}.method{number % 7}" for number in range(symbols)]
    listed = []
    for number in range(fails):
        place = source.randrange(symbols)
        words = [names[place], f"attempt {number}: the timeout was not handled", "--file", f"src/service{place}.py"]
        listed.append(("fail", ["fail", *words, "--detail", "retry with a longer one"]))
    listed += [("query", ["query", name]) for name in names]
    listed += [("query --top", ["query", "--top", "10"]), ("stats", ["stats"])] * 5
    return listed


def compare(both: Sequence[Side], commands: Sequence[tuple[str, list[str]]], folder: str) -> dict[str, dict[str, list[Run]]]:
    """Runs of each command by side and kind, in turns; who begins changes each time."""
    runs: dict[str, dict[str, list[Run]]] = {side.name: {} for side in both}
    bare: list[Run] = []
    for number, (kind, words) in enumerate(commands):
        for side in both if number % 2 else both[::-1]:
            runs[side.name].setdefault(kind, []).append(_run(side, words, folder))
        bare.append(run([sys.executable, "-c", "pass"], both[0].environment))
        if number % 50 == 49:
            say(f"command {number + 1} of {len(commands)}")
    runs["bare interpreter"] = {"pass": bare}
    return runs


def traced(side: Side, folder: str) -> float | None:
    """Syncs for each record, as a mean; None where they cannot be counted."""
    counts = []
    for number in range(_TRACED):
        words = ["fail", "Traced.call", f"traced {number}", "--file", "src/traced.py"]
        count = syncs([*side.command, *words], side.environment, os.path.join(folder, "work"))
        if count is None:
            return None
        counts.append(count)
    return sum(counts) / len(counts)


# Kills: a writer prints each lesson after it was acknowledged, and is killed at a random moment.


def lesson(number: int) -> str:
    """A text of its own for each record."""
    return f"lesson {number} of this writer"


def write(side: str, path: str, start: int) -> None:
    """Record for ever, and say so after each; what the killed process runs."""
    remember = _writer(side, path)
    number = start
    while True:
        remember(lesson(number))
        os.write(1, f"{number}\n".encode())
        number += 1


def _writer(side: str, path: str) -> Callable[[str], object]:
    if side == "cm_baseline":
        db = cm_baseline.connect(path)
        return lambda text: cm_baseline.record(db, "bench", "fail", "Killed.call", text)
    engine = hardwon.open_store(path)
    anchors = (Anchor("src/killed.py", "Killed.call"),)
    return lambda text: engine.record(Draft(text, kind="lesson", outcome="failed", anchors=anchors), Scope())


def kept(side: str, path: str) -> set[str]:
    """All lessons that a store holds, read by a new connection."""
    if side == "cm_baseline":
        return {row["lesson"] for row in cm_baseline.connect(path).execute("SELECT lesson FROM experiences")}
    engine = hardwon.open_store(path)
    with engine.store.read() as reader:
        texts = {memory.text for memory in reader.find(Filter(kinds=("lesson",)), -1)}
    engine.close()
    return texts


def kill(side: str, path: str, start: int, seconds: float) -> list[int]:
    """One writer, killed after it has written for some time; the numbers that it acknowledged."""
    command = [sys.executable, os.path.abspath(__file__), "--writer", side, path, str(start)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines = [first, *process.stdout.readlines()]
    return [int(line) for line in lines if line.endswith(b"\n")]


def kills(folder: str, trials: int, seed: int) -> dict[str, dict[str, int]]:
    """Acknowledged and lost records of both, in turns."""
    source = random.Random(seed)
    found: dict[str, dict[str, int]] = {}
    said: dict[str, list[int]] = {"cm_baseline": [], "hardwon": []}
    paths = {side: os.path.join(folder, "kills", f"{side}.db") for side in said}
    os.makedirs(os.path.join(folder, "kills"))
    for trial in range(trials):
        seconds = source.uniform(0.0, 0.3)
        for side, numbers in said.items():
            numbers.extend(kill(side, paths[side], trial * 1_000_000, seconds))
        if trial % 10 == 9:
            say(f"kill {trial + 1} of {trials}")
    for side, numbers in said.items():
        lost = {lesson(number) for number in numbers} - kept(side, paths[side])
        found[side] = {"kills": trials, "acknowledged": len(numbers), "lost": len(lost)}
    return found


def summed(runs: dict[str, list[Run]]) -> dict[str, dict[str, float]]:
    """CPU milliseconds of each kind of command."""
    return {
        kind: {
            "processes": len(done),
            "cpu_ms_median": round(1000 * median([one.cpu for one in done]), 1),
            "cpu_ms_min": round(1000 * min(one.cpu for one in done), 1),
            "peak_mb": round(max(one.peak_mb for one in done), 1),
        }
        for kind, done in runs.items()
    }


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Everything, for both."""
    both = sides(folder, options.product)
    _run(both[1], ["init"], folder)
    commands = work(options.fails, options.symbols, options.seed)
    cost = {name: summed(runs) for name, runs in compare(both, commands, folder).items()}
    found: dict[str, Any] = {"commands": cost}
    found["store_bytes"] = {side.name: size_of(side.folder) for side in both}
    found["syncs_per_record"] = {side.name: traced(side, folder) for side in both}
    found["kills"] = kills(folder, options.kills, options.seed) if options.kills else {}
    return found


def printed(found: dict[str, Any]) -> str:
    """The comparison as Markdown."""
    names = ("cm_baseline", "hardwon")
    bare = found["commands"]["bare interpreter"]["pass"]
    rows: list[tuple[object, ...]] = [
        ("bare interpreter, CPU ms (median / min)", *[f"{bare['cpu_ms_median']} / {bare['cpu_ms_min']}"] * 2)
    ]
    for kind in found["commands"]["hardwon"]:
        cells = [found["commands"][name][kind] for name in names]
        rows.append((f"{kind}, CPU ms (median / min)", *(f"{cell['cpu_ms_median']} / {cell['cpu_ms_min']}" for cell in cells)))
    peaks = [max(cell["peak_mb"] for cell in found["commands"][name].values()) for name in names]
    rows.append(("peak memory, MB", *peaks))
    rows.append(("store, bytes", *(found["store_bytes"][name] for name in names)))
    rows.append(("synced writes a record", *("not counted" if (n := found["syncs_per_record"][m]) is None else n for m in names)))
    if found["kills"]:
        cells = [found["kills"][name] for name in names]
        rows.append(("kill -9: kills / acknowledged / lost", *(" / ".join(map(str, cell.values())) for cell in cells)))
    return table(("", *names), rows)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = os.path.join(os.path.dirname(sys.executable), "hardwon")
    parser.add_argument(
        "--product", default=beside, metavar="COMMAND", help="the product's command (default: this environment's)"
    )
    parser.add_argument("--fails", type=int, default=100, metavar="N", help="failures to record (default: %(default)s)")
    parser.add_argument("--symbols", type=int, default=20, metavar="M", help="on so many symbols (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="writers to kill, of each (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--writer", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run; 1 if the product lost an acknowledged record."""
    options = arguments(words)
    if options.writer:
        side, path, start = options.writer
        write(side, path, int(start))
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, folder)
    print(printed(found))
    write_json(options.json, report("against_seed", options.seed, [], found))
    return 1 if found["kills"] and found["kills"]["hardwon"]["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
