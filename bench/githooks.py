"""What a commit costs with our hook and without, against a bare interpreter, in turns: CPU of git and of all that it waits for.

The process in the background, which reads the commit later, is not waited for by git and so not in the CPU of the commit; its own is told
apart. Aim: with the hook a commit costs at most one bare interpreter more.

Example::

    python bench/githooks.py --rounds 40 --json githooks.json
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Any

from common import Run, median, report, run, say, table, write_json

_GIT = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")


def measure(folder: str, command: str, rounds: int) -> dict[str, Any]:
    """CPU and wall time of a commit in three repositories: without hooks, with an empty one of each kind, with ours."""
    environment = {**os.environ, "HARDWON_HOME": os.path.join(folder, "home"), "HARDWON_BACKGROUND": "on"}
    environment.pop("CI", None)
    work = {name: os.path.join(folder, name) for name in ("no hook", "an empty hook", "our hook", "our hook, process started")}
    for name, place in work.items():
        _make(place, environment)
        if name == "an empty hook":
            _script(os.path.join(place, ".git/hooks/post-commit"))
        elif name.startswith("our hook"):
            for words in (("init",), ("install", "git", "--yes")):
                subprocess.run([command, "-C", place, *words], env=environment, check=True, capture_output=True)
    runs: dict[str, list[Run]] = {}
    for number in range(rounds + 1):
        for name, place in work.items():
            if name == "our hook":  # a line waits already, so that no process is started
                with open(os.path.join(place, ".git/hardwon/events"), "a", encoding="ascii") as file:
                    file.write("waits\n")
            elif name.startswith("our hook"):
                _wait(place)
            done = run(["git", "-C", place, *_GIT, "commit", "--allow-empty", "-qm", f"number {number}"], environment)
            if number:
                runs.setdefault(name, []).append(done)
        bare = run([sys.executable, "-c", "pass"], environment)
        if number:
            runs.setdefault("python -c pass", []).append(bare)
        say(f"round {number} of {rounds}")
    _wait(work["our hook, process started"])
    plain = work["no hook"]
    subprocess.run([command, "-C", plain, "init"], env=environment, check=True, capture_output=True)
    refresh = [run([command, "-C", plain, "refresh"], environment) for _ in range(max(5, rounds // 4))]
    if any(one.code for one in (*refresh, *(one for several in runs.values() for one in several))):
        raise RuntimeError("a command failed")
    return _figures({**runs, "hardwon refresh, nothing new": refresh})


def _make(place: str, environment: dict[str, str]) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", place], env=environment, check=True)
    with open(os.path.join(place, "a.py"), "w", encoding="ascii") as file:
        file.write(f"def f():\n    return {os.path.basename(place)!r}\n")  # else all of them would have the same first commit
    subprocess.run(["git", "-C", place, "add", "."], env=environment, check=True)
    subprocess.run(["git", "-C", place, *_GIT, "commit", "-qm", "first"], env=environment, check=True)


def _script(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n:\n")
    os.chmod(path, 0o755)


def _wait(place: str) -> None:
    """Until what was told is seen to, so that the next commit starts a process again."""
    import time

    end = time.monotonic() + 60
    names = [os.path.join(place, ".git/hardwon", name) for name in ("events", "events.taken")]
    while any(os.path.exists(name) for name in names) and time.monotonic() < end:
        time.sleep(0.05)


def _figures(runs: dict[str, list[Run]]) -> dict[str, Any]:
    bare, plain = (median([one.cpu for one in runs[name]]) for name in ("python -c pass", "no hook"))
    return {
        name: {
            "cpu_ms_median": round(1000 * median([one.cpu for one in done]), 1),
            "wall_ms_median": round(1000 * median([one.wall for one in done]), 1),
            "more_than_no_hook_in_interpreters": round((median([one.cpu for one in done]) - plain) / bare, 2),
        }
        for name, done in runs.items()
    }


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--command", default=os.path.join(os.path.dirname(sys.executable), "hardwon"))
    parser.add_argument("--json")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hardwon-bench-") as folder:
        figures = measure(folder, chosen.command, chosen.rounds)
    rows = [(name, *one.values()) for name, one in figures.items()]
    print(table(("", "CPU ms", "wall ms", "more than no hook, in interpreters"), rows))
    write_json(chosen.json, report("githooks", 0, [], figures))


if __name__ == "__main__":
    main()
