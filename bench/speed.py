"""What a call costs: cold commands against a bare interpreter, warm recall, syncs of a record, reading a history.

Cold commands are run in turns with ``python -c pass`` of the same environment, and counted in CPU time (user and system, children
included): wall time says little on a machine that does other things. The store holds changes (real ones from ``--commits``, else
invented) and lessons.

Examples::

    python bench/speed.py --memories 2000 --rounds 5
    python bench/speed.py --commits curl.jsonl.gz --memories 20000 --json speed.json
    python bench/speed.py --memories 500 --rounds 3 --clone ~/src/curl --newest 5000
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import filler
import hardwon
import stream
from common import Run, median, percentile, report, run, say, size_of, syncs, table, write_json
from hardwon.engine.core import Engine
from hardwon.types import Change, Draft, Filter, Memory, Query, Scope

_LESSONS = 0.2  # share of the memories that are lessons
_WARM = 200  # questions asked in one process
_RECORDS = 20  # records made by the traced process
_RECORDER = (
    "import sys, hardwon; from hardwon import Draft, Scope\n"
    "engine = hardwon.open_store(sys.argv[1])\n"
    "for number in range(int(sys.argv[2])): engine.record(Draft(f'fact {number}'), Scope())"
)


class Bench:
    """A repository with its memory, and the environment in which commands find it."""

    def __init__(self, folder: str, command: str) -> None:
        self.command = command
        self.work = os.path.join(folder, "work")
        self.home = os.path.join(folder, "home")
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "HARDWON_HOME": self.home}
        os.makedirs(self.work)
        subprocess.run(["git", "init", "-q", self.work], check=True)
        self.run("init", "--no-history")

    def run(self, *words: str) -> Run:
        """One command, which must succeed."""
        done = run([self.command, "-C", self.work, *words], self.environment)
        if done.code:
            raise RuntimeError(f"{self.command} {' '.join(words)} ended with {done.code}")
        return done

    def engine(self) -> Engine:
        """The same memory, in this process."""
        return hardwon.open(self.work, home=self.home).engine


def fill(engine: Engine, known: Sequence[Change], count: int, seed: int) -> dict[str, float]:
    """Changes and lessons; how quickly they were kept."""
    begun, wall = time.process_time(), time.perf_counter()
    engine.add_changes(known)
    cpu, wall = time.process_time() - begun, time.perf_counter() - wall
    begun, recorded = time.process_time(), time.perf_counter()
    for draft in filler.lessons(known, count, seed):
        engine.record(draft, Scope())
    recorded_cpu, recorded = time.process_time() - begun, time.perf_counter() - recorded
    return {
        "changes_per_cpu_second": round(len(known) / max(cpu, 1e-9)),
        "changes_per_second": round(len(known) / max(wall, 1e-9)),
        "record_cpu_ms": round(1000 * recorded_cpu / max(count, 1), 2),
        "record_ms": round(1000 * recorded / max(count, 1), 2),
    }


def commands(memories: Sequence[Memory], known: Sequence[Change], number: int) -> dict[str, list[str]]:
    """The cold commands of one round; no two rounds ask the same."""
    anchor = memories[number % len(memories)].anchors[0]
    task = known[-1 - number * 7 % len(known)].subject or "why is it so"
    place = ["--file", anchor.path, "--symbol", anchor.symbol]
    return {
        "before": ["before", *place],
        "fail": ["fail", anchor.symbol, f"round {number} went wrong", "--file", anchor.path],
        "recall": ["recall", task],
        "query": ["query", anchor.symbol],
        "record": ["record", f"round {number}: migrations run before the tests", "--kind", "rule"],
        "brief": ["brief"],
    }


def cold(bench: Bench, known: Sequence[Change], rounds: int, seed: int) -> dict[str, Any]:
    """CPU of each command beside a bare interpreter, in turns; the first round only warms the caches."""
    engine = bench.engine()
    with engine.store.read() as reader:
        memories = [memory for memory in reader.find(Filter(kinds=("lesson",)), 500) if memory.anchors]
    engine.close()
    source = random.Random(seed)
    runs: dict[str, list[Run]] = {}
    for number in range(rounds + 1):
        asked = list(commands(memories, known, number).items())
        source.shuffle(asked)
        for name, words in asked:
            bare, done = run([sys.executable, "-c", "pass"], bench.environment), bench.run(*words)
            if number:
                runs.setdefault("python -c pass", []).append(bare)
                runs.setdefault(name, []).append(done)
        say(f"round {number} of {rounds}")
    return _against(runs, "python -c pass")


def _against(runs: dict[str, list[Run]], bare: str) -> dict[str, Any]:
    middle = median([one.cpu for one in runs[bare]])
    least = min(one.cpu for one in runs[bare])
    return {
        name: {
            "cpu_ms_median": round(1000 * median([one.cpu for one in done]), 1),
            "cpu_ms_min": round(1000 * min(one.cpu for one in done), 1),
            "ratio_of_medians": round(median([one.cpu for one in done]) / middle, 2),
            "ratio_of_minima": round(min(one.cpu for one in done) / least, 2),
            "peak_mb": round(max(one.peak_mb for one in done), 1),
        }
        for name, done in runs.items()
    }


def warm(engine: Engine, known: Sequence[Change], seed: int) -> dict[str, Any]:
    """Recall in one process: CPU and wall milliseconds, for long and short questions."""
    asked = random.Random(seed).sample(list(known), min(_WARM, len(known)))
    found: dict[str, Any] = {}
    for name, texts in (
        ("message", [stream.cleaned(f"{change.subject}\n{change.body}", ()) for change in asked]),
        ("subject", [change.subject for change in asked]),
    ):
        times = [_timed(engine, text) for text in texts if text]
        for kind, values in zip(("cpu", "wall"), zip(*times, strict=True), strict=True):
            for share in (50, 95):
                found[f"{name}_{kind}_ms_p{share}"] = round(percentile(values, share / 100), 2)
    return found


def _timed(engine: Engine, text: str) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    engine.recall(Query(text=text), Scope())
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)


def synced(bench: Bench, folder: str) -> dict[str, Any]:
    """Syncs of a record: by a cold command, and by each record of a process that makes several."""
    path = os.path.join(folder, "synced", "memory.db")
    engine = hardwon.open_store(path)
    engine.record(Draft("the first"), Scope())
    engine.close()
    command = [bench.command, "-C", bench.work, "fail", "Traced.call", "traced", "--file", "src/traced.py"]
    few, many = (syncs([sys.executable, "-c", _RECORDER, path, str(count)]) for count in (1, 1 + _RECORDS))
    warm_syncs = None if few is None or many is None else round((many - few) / _RECORDS, 2)
    return {"cold_fail": syncs(command, bench.environment), "warm_record": warm_syncs}


def ingest(command: str, clone: str, newest: int, folder: str) -> dict[str, Any]:
    """``init`` on a clone against the bare ``git log`` that it cannot do without."""
    log = ["git", "-C", clone, "log", "-p", "-U0", "-M", "--no-merges", "-n", str(newest)]
    run(log)  # so that neither pays for a cold disk
    bare = run(log)
    home = os.path.join(folder, "ingested")
    done = run(
        [command, "-C", clone, "init", "--limit", str(newest)],
        {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "HARDWON_HOME": home},
    )
    if done.code:
        raise RuntimeError(f"init ended with {done.code}")
    return {
        "commits": newest,
        "git_log_seconds": round(bare.wall, 2),
        "git_log_cpu_seconds": round(bare.cpu, 2),
        "init_seconds": round(done.wall, 2),
        "init_cpu_seconds": round(done.cpu, 2),
        "ratio_wall": round(done.wall / bare.wall, 2),
        "ratio_cpu": round(done.cpu / bare.cpu, 2),
        "git_log_peak_mb": round(bare.peak_mb, 1),
        "init_peak_mb": round(done.peak_mb, 1),  # of its largest process, which may be git
        "store_bytes": size_of(home),
    }


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """All parts, in order."""
    bench = Bench(folder, options.product)
    written = round(options.memories * _LESSONS)
    real = stream.load(options.commits) if options.commits else []
    known = list(filler.changes(real, options.memories - written, options.seed))
    engine = bench.engine()
    say(f"filling the store: {len(known)} changes, {written} lessons")
    found: dict[str, Any] = {"memories": len(known) + written, "real_changes": min(len(real), len(known))}
    found["fill"] = fill(engine, known, written, options.seed)
    found["store_bytes"] = size_of(bench.home)
    found["warm_recall"] = warm(engine, known, options.seed)
    engine.close()
    found["cold"] = cold(bench, known, options.rounds, options.seed)
    found["syncs"] = synced(bench, folder)
    if options.clone:
        found["ingest"] = ingest(options.product, os.path.abspath(options.clone), options.newest, folder)
    return found


def printed(found: dict[str, Any]) -> str:
    """The figures as Markdown."""
    head = ("command", "CPU ms median", "min", "ratio of medians", "of minima", "peak MB")
    parts = [table(head, [(name, *cells.values()) for name, cells in found["cold"].items()])]
    parts += [table((name, ""), found[name].items()) for name in ("fill", "warm_recall", "syncs", "ingest") if name in found]
    return "\n\n".join(parts)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = os.path.join(os.path.dirname(sys.executable), "hardwon")
    parser.add_argument(
        "--product", default=beside, metavar="COMMAND", help="the product's command (default: this environment's)"
    )
    parser.add_argument("--memories", type=int, default=20_000, metavar="N", help="size of the store (default: %(default)s)")
    parser.add_argument("--commits", metavar="FILE", help="commits as JSON lines, for the store")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="cold runs of each command (default: %(default)s)")
    parser.add_argument("--clone", metavar="PATH", help="a clone whose history is read by init")
    parser.add_argument("--newest", type=int, default=5_000, metavar="N", help="commits of the clone (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run."""
    options = arguments(words)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, folder)
    print(printed(found))
    write_json(options.json, report("speed", options.seed, [options.commits], found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
