"""What encryption at rest costs: the same writes and questions on a plain and on an encrypted store, in turns, in one run.

Two repositories with the same memories, one of them encrypted. Warm: records and recalls of one process, in blocks that take turns and
whose order is drawn anew, counted in CPU time and wall time an operation. Cold: commands in processes of their own.

Examples::

    python bench/encryption.py --memories 2000 --rounds 5 --cold 5
    python bench/encryption.py --commits curl.jsonl.gz --memories 20000 --json encryption.json
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import filler
import stream
from common import Run, median, report, say, size_of, table, write_json
from hardwon.engine.core import Engine
from hardwon.types import Draft, Query, Scope
from speed import Bench, fill

_SHARE_OF_LESSONS = 0.2
_BLOCK = 20  # operations of one kind on one store before the other has its turn
WAYS = ("plain", "encrypted")

Operation = Callable[[Engine, int], object]


def stores(options: argparse.Namespace, folder: str) -> dict[str, Bench]:
    """The two memories, filled alike."""
    lessons = round(options.memories * _SHARE_OF_LESSONS)
    real = stream.load(options.commits) if options.commits else []
    known = list(filler.changes(real, options.memories - lessons, options.seed))
    made = {}
    for way in WAYS:
        os.makedirs(os.path.join(folder, way))
        made[way] = Bench(os.path.join(folder, way), options.product)
        if way == "encrypted":
            made[way].run("init", "--no-history", "--encrypt", "--yes")
        engine = made[way].engine()
        say(f"{way}: {fill(engine, known, lessons, options.seed)}")
        engine.close()
    return made


def operations(engine: Engine, seed: int) -> dict[str, Operation]:
    """What is measured; the number of a call makes it another one than those before."""
    subjects = [change.text for change in _changes(engine)]
    source = random.Random(seed)
    asked = [source.choice(subjects) for _ in range(10_000)]
    return {
        "record": lambda store, number: store.record(Draft(f"round {number}: migrations run before the tests"), Scope()),
        "recall": lambda store, number: store.recall(Query(text=asked[number % len(asked)]), Scope()),
    }


def _changes(engine: Engine) -> Iterator[Any]:
    from hardwon.types import Filter

    with engine.store.read() as reader:
        yield from reader.find(Filter(kinds=("change",)), 2000)


def warm(made: dict[str, Bench], rounds: int, seed: int) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """CPU and wall milliseconds an operation, of each block of each way."""
    engines = {way: bench.engine() for way, bench in made.items()}
    wanted = operations(engines["plain"], seed)
    found: dict[str, dict[str, list[tuple[float, float]]]] = {name: {way: [] for way in WAYS} for name in wanted}
    source = random.Random(seed)
    for number in range(rounds + 1):
        turns = [(name, way) for name in wanted for way in WAYS]
        source.shuffle(turns)
        for name, way in turns:
            cost = _block(wanted[name], engines[way], number * _BLOCK)
            if number:  # the first round fills the caches
                found[name][way].append(cost)
    for engine in engines.values():
        engine.close()
    return found


def _block(operation: Operation, engine: Engine, first: int) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    for number in range(first, first + _BLOCK):
        operation(engine, number)
    each = 1000 / _BLOCK
    return each * (time.process_time() - cpu), each * (time.perf_counter() - wall)


def cold(made: dict[str, Bench], rounds: int, seed: int) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """The same of commands: CPU with children, and wall."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    source = random.Random(seed)
    for number in range(rounds + 1):
        words = {
            "before": ("before", "--file", "src/a.py", "--symbol", f"Pool.get{number % 3}"),
            "fail": ("fail", f"Pool.get{number % 3}", f"round {number} went wrong", "--file", "src/a.py"),
            "recall (command)": ("recall", f"round {number} migrations"),
        }
        turns = [(name, way) for name in words for way in WAYS]
        source.shuffle(turns)
        for name, way in turns:
            done: Run = made[way].run(*words[name])
            if number:
                found.setdefault(name, {way: [] for way in WAYS})[way].append((1000 * done.cpu, 1000 * done.wall))
    return found


def compared(found: dict[str, dict[str, list[tuple[float, float]]]]) -> dict[str, dict[str, float]]:
    """Medians of both ways, and by how much the encrypted one is dearer."""
    rows: dict[str, dict[str, float]] = {}
    for name, ways in found.items():
        for place, kind in enumerate(("cpu", "wall")):
            plain, encrypted = (median([cost[place] for cost in ways[way]]) for way in WAYS)
            rows[f"{name}, {kind}"] = {
                "plain_ms": round(plain, 2), "encrypted_ms": round(encrypted, 2), "more_percent": round(100 * (encrypted / plain - 1), 1),
            }  # fmt: skip
    return rows


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = os.path.join(os.path.dirname(sys.executable), "hardwon")
    parser.add_argument(
        "--product", default=beside, metavar="COMMAND", help="the product's command (default: this environment's)"
    )
    parser.add_argument("--memories", type=int, default=20_000, metavar="N", help="size of each store (default: %(default)s)")
    parser.add_argument("--commits", metavar="FILE", help="commits as JSON lines, for the stores")
    parser.add_argument(
        "--rounds", type=int, default=40, metavar="N", help=f"blocks of {_BLOCK} operations (default: %(default)s)"
    )
    parser.add_argument("--cold", type=int, default=15, metavar="N", help="runs of each command (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run."""
    options = arguments(words)
    with tempfile.TemporaryDirectory() as folder:
        made = stores(options, folder)
        figures = compared({**warm(made, options.rounds, options.seed), **cold(made, options.cold, options.seed)})
        sizes = {way: size_of(bench.home) for way, bench in made.items()}
    print(table(("", "plain ms", "encrypted ms", "more %"), [(name, *row.values()) for name, row in figures.items()]))
    print(f"\nbytes: {sizes['plain']:,} plain, {sizes['encrypted']:,} encrypted")
    write_json(options.json, report("encryption", options.seed, [options.commits], {"costs": figures, "bytes": sizes}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
