"""What the index of the code costs: reading a repository the first time, a refresh after a commit, ``before`` in a large store.

The files are those of one clone or several, each under a folder of its own. Where they are too few, they are copied under other folders,
each with a comment of its own, so that no two are one content; equal names are then more frequent than in any repository, so that
several clones tell more. Cold commands run in turns with ``python -c pass``, and are counted in CPU time (user and system, children
included).

Examples::

    python bench/code.py --clone ~/src/click --clone ~/src/sympy --files 5000 --memories 20000 --json code.json
    python bench/code.py --clone ~/src/zod --files 500 --memories 1000 --rounds 5
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

import hardwon
from common import Run, median, report, run, say, table, write_json
from hardwon.code.source import LARGEST, language_of, skipped_content, skipped_path
from hardwon.engine.core import Engine
from hardwon.types import Anchor, Draft, Origin, Scope
from speed import _against

_COMMENTS = {"python": "#"}
_COMMIT = 10  # files of the commit after which the index is brought up to date


def sources(clones: Sequence[str]) -> list[tuple[str, bytes]]:
    """The files of code of clones, that Hardwon would read: path (with the clone's name before it where there are several), content."""
    found = []
    for clone in clones:
        prefix = os.path.basename(os.path.abspath(clone)) if len(clones) > 1 else ""
        for folder, folders, names in os.walk(clone):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in sorted(names):
                file = os.path.join(folder, name)
                path = os.path.join(prefix, os.path.relpath(file, clone))
                if language_of(path) and not skipped_path(path) and os.path.isfile(file):
                    with open(file, "rb") as opened:
                        content = opened.read()
                    if content and len(content) < LARGEST and not skipped_content(content):
                        found.append((path, content))
    return found


def make(clones: Sequence[str], work: str, count: int, seed: int) -> tuple[int, int, int]:
    """A repository of so many files of code: files, those of them that are copies, bytes of all."""
    found = sources(clones)
    # Of more files than are wanted a part of each clone is taken, not all of the first ones.
    chosen = sorted(random.Random(seed).sample(found, count)) if len(found) > count else found
    size = 0
    for number in range(count):
        path, content = chosen[number % len(chosen)]
        copy = number // len(chosen)
        mark = _COMMENTS.get(language_of(path), "//")
        content = content if not copy else content + f"\n{mark} copy {copy}\n".encode()
        target = os.path.join(work, f"copy{copy}" if copy else "", path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
        size += len(content)
    git(work, "init", "-q")
    git(work, "add", "-A", "-f")
    git(work, "commit", "-qm", "all of it")
    return count, max(0, count - len(chosen)), size


def git(work: str, *words: str) -> None:
    """Git, which must succeed."""
    named = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", work, *named, *words], check=True, stdout=subprocess.DEVNULL)


def fill(engine: Engine, count: int, seed: int) -> list[Anchor]:
    """Lessons on symbols of the index, chosen by the seed; the places."""
    source = random.Random(seed)
    index = engine.code
    assert index is not None
    places: list[Anchor] = []
    with index.read() as code:
        files = sorted(code.files().items())
        while len(places) < count:
            path, blob = source.choice(files)
            named = code.symbols(blob) or []
            places += [Anchor(path, symbol.qualified) for symbol in source.sample(named, min(3, len(named)))]
    scope = Scope(Origin("agent", "bench", "s1"))
    for number, anchor in enumerate(places[:count]):
        outcome = "failed" if number % 3 else "worked"
        engine.record(Draft(f"lesson {number} of what was tried here", "lesson", outcome, anchors=(anchor,)), scope)
        if number % 2000 == 0:
            say(f"recorded {number}")
    return places[:count]


def timed(engine: Engine) -> tuple[float, float, Any]:
    """Clock and CPU seconds of a refresh, those of git and of the processes that parse included, and its report."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    found = engine.refresh_code()
    return time.perf_counter() - wall, sum(os.times()[:4]) - cpu, found


def edit(work: str, paths: Sequence[str], number: int) -> None:
    """A commit that changes these files."""
    for path in paths:
        with open(os.path.join(work, path), "a", encoding="utf-8") as file:
            file.write(f"\n{_COMMENTS.get(language_of(path), '//')} edit {number}\n")
    git(work, "commit", "-qam", f"edit {number}")


def cold(
    work: str, environment: dict[str, str], command: str, places: Sequence[Anchor], rounds: int, seed: int
) -> dict[str, Any]:
    """CPU of ``before`` in its forms and of ``recall`` and ``fail``, beside a bare interpreter, in turns."""
    source = random.Random(seed)
    runs: dict[str, list[Run]] = {}
    for number in range(rounds + 1):
        anchor = source.choice(places)
        asked = {
            "before --file --symbol": ["before", "--file", anchor.path, "--symbol", anchor.symbol],
            "before --file": ["before", "--file", anchor.path],
            "before --lines": ["before", "--file", anchor.path, "--lines", "10-20"],
            "recall": ["recall", f"what was tried in {anchor.symbol}"],
            "recall --symbol": ["recall", "what was tried", "--symbol", anchor.symbol, "--file", anchor.path],
            "fail": ["fail", anchor.symbol, f"round {number} went wrong", "--file", anchor.path],
        }
        for name, words in asked.items():
            bare = run([sys.executable, "-c", "pass"], environment)
            done = run([command, "-C", work, *words], environment)
            if done.code:
                raise RuntimeError(f"{' '.join(words)} ended with {done.code}")
            if number:
                runs.setdefault("python -c pass", []).append(bare)
                runs.setdefault(name, []).append(done)
    return _against(runs, "python -c pass")


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """All of it."""
    work, home = os.path.join(folder, "work"), os.path.join(folder, "home")
    os.makedirs(work)
    files, copies, size = make(options.clone, work, options.files, options.seed)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "HARDWON_HOME": home}
    subprocess.run([options.command, "-C", work, "init", "--no-history"], check=True, env=environment, stdout=subprocess.DEVNULL)
    engine = hardwon.open(work, home=home).engine
    index = engine.code
    assert index is not None
    index.file.drop()
    wall, cpu, found = timed(engine)
    with index.read() as code:
        figures = code.figures()
    say(f"indexed {found.parsed} files in {wall:.1f} s")
    idle = timed(engine)[0]
    places = fill(engine, options.memories, options.seed)
    say("following them for the first time")
    first = timed(engine)[0]
    refreshed = []
    paths = sorted({anchor.path for anchor in places})
    source = random.Random(options.seed)
    for number in range(options.refreshes):
        edit(work, source.sample(paths, min(_COMMIT, len(paths))), number)
        engine.close()
        engine = hardwon.open(work, home=home).engine
        refreshed.append(timed(engine)[:2])
    engine.close()
    return {
        "files": files, "copies": copies, "bytes": size, "index": figures,
        "first_index": {
            "seconds": round(wall, 2), "cpu_seconds": round(cpu, 2), "mb_per_second": round(size / 1e6 / wall, 2),
            "mb_per_cpu_second": round(size / 1e6 / cpu, 2),
        },
        "refresh_idle_seconds": round(idle, 3), "first_following_seconds": round(first, 2),
        "refresh_after_commit": {
            "files": _COMMIT, "median_seconds": round(median([one for one, _ in refreshed]), 3),
            "median_cpu_seconds": round(median([one for _, one in refreshed]), 3),
        },
        "cold": cold(work, environment, options.command, places, options.rounds, options.seed),
    }  # fmt: skip


def printed(found: dict[str, Any]) -> str:
    """The figures for reading."""
    first, after = found["first_index"], found["refresh_after_commit"]
    lines = [
        f"{found['files']:,} files ({found['copies']:,} of them copies), {found['bytes'] / 1e6:.1f} MB",
        f"index {found['index']['bytes'] / 1e6:.1f} MB",
        f"first index: {first['seconds']} s, {first['mb_per_second']} MB/s ({first['mb_per_cpu_second']} MB per CPU second)",
        f"refresh with nothing to do: {found['refresh_idle_seconds']} s; after a commit of {after['files']} files: "
        f"{after['median_seconds']} s ({after['median_cpu_seconds']} s CPU); all memories for the first time: "
        f"{found['first_following_seconds']} s",
    ]
    rows = [(name, one["cpu_ms_median"], one["ratio_of_medians"], one["ratio_of_minima"]) for name, one in found["cold"].items()]
    return "\n".join([*lines, table(("command", "CPU ms", "x bare", "x bare, minima"), rows)])


def main(words: Sequence[str] | None = None) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--clone", required=True, action="append", metavar="PATH", help="a working tree; may be given several times"
    )
    parser.add_argument("--files", type=int, default=5_000, metavar="N", help="files of code (default: %(default)s)")
    parser.add_argument("--memories", type=int, default=20_000, metavar="N", help="lessons (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="cold runs of each command (default: %(default)s)")
    parser.add_argument("--refreshes", type=int, default=7, metavar="N", help="commits of ten files (default: %(default)s)")
    parser.add_argument("--keep", metavar="FOLDER", help="where the repository and its memory are made, and stay")
    parser.add_argument("--command", default=os.path.join(os.path.dirname(sys.executable), "hardwon"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    options = parser.parse_args(words)
    if options.keep:
        os.makedirs(options.keep)
        found = measure(options, options.keep)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(options, folder)
    print(printed(found))
    write_json(options.json, report("code", options.seed, (), found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
