"""What all benches share: facts of the machine, percentiles, intervals, processes with their CPU time, JSON reports."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

# Starts and measures a command. A process of its own, because a child's peak memory begins with that of who starts it.
_LAUNCHER = """
import os, sys, time
null = os.open(os.devnull, os.O_RDWR)
out = os.dup(1)
for number in range(3):
    os.dup2(null, number)
begun = time.perf_counter()
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
wall = time.perf_counter() - begun
os.write(out, f"{usage.ru_utime + usage.ru_stime} {wall} {usage.ru_maxrss} {status}".encode())
"""
_RSS_UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10


class Run(NamedTuple):
    """One finished process: CPU seconds (user and system, with its children), wall seconds, peak resident MB, exit code."""

    cpu: float
    wall: float
    peak_mb: float
    code: int


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


def sha256(path: str) -> str:
    """The digest of a file, as hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def machine() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "sqlite_of_python": sqlite3.sqlite_version,
        "load": [round(load, 2) for load in os.getloadavg()],
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()


def report(bench: str, seed: int, data: Iterable[str], figures: Mapping[str, Any]) -> dict[str, Any]:
    """A document for ``--json``: the figures with everything that is needed to repeat them."""
    files = {os.path.basename(path): sha256(path) for path in data if path}
    return {"bench": bench, **machine(), "seed": seed, "data": files, **figures}


def write_json(path: str | None, document: Mapping[str, Any]) -> None:
    """Write a report where one was asked for."""
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2, ensure_ascii=False)
            file.write("\n")


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of all do not exceed; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))] if ordered else 0.0


def median(values: Sequence[float]) -> float:
    """The middle value (of an even number the mean of two)."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if not ordered:
        return 0.0
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def interval(values: Sequence[float], seed: int, rounds: int = 2000) -> tuple[float, float]:
    """The bootstrap 95 % interval of the mean."""
    if not values:
        return 0.0, 0.0
    source = random.Random(seed)
    means = sorted(mean(source.choices(values, k=len(values))) for _ in range(rounds))
    return means[round(0.025 * (rounds - 1))], means[round(0.975 * (rounds - 1))]


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: str | None = None) -> Run:
    """Run a command with its output thrown away, and count what it cost."""
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    done = subprocess.run(launcher, capture_output=True, text=True, env=environment, cwd=cwd, check=True)
    cpu, wall, peak, status = done.stdout.split()
    return Run(float(cpu), float(wall), int(peak) / _RSS_UNIT, os.waitstatus_to_exitcode(int(status)))


def syncs(command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: str | None = None) -> int | None:
    """How many fsync and fdatasync calls a command makes; None where strace is missing or may not trace."""
    tracer = shutil.which("strace")
    if not tracer:
        return None
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        done = run([tracer, "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", log, *command], environment, cwd)
        if done.code or not os.path.exists(log):
            return None
        with open(log, encoding="utf-8", errors="replace") as file:
            return sum(bool(re.search(r"\bf(?:data)?sync\(", line)) for line in file)


def size_of(folder: str) -> int:
    """Bytes of all files in a folder."""
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(folder) for name in names)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
