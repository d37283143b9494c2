"""Reading a long history: time, memory and size against the bare ``git log -p``, and that a killed ingest ends in the same store.

The repository is made (seeded, the same each time) or given. Each ingest runs in a process of its own; its peak memory is told
apart from git's. With ``--kills`` it is ended by SIGKILL at random moments and started again, and the store that comes out is
compared, table by table and by what it recalls, with that of an undisturbed run.

Examples::

    python bench/ingest.py --commits 100000 --json ingest.json
    python bench/ingest.py --repository ~/src/curl
    python bench/ingest.py --commits 3000 --kills 20 --gate peak=300 --gate ratio=3
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import apsw

from common import report, run, say, table, write_json
from hardwon.engine.core import Engine
from hardwon.engine.opening import create
from hardwon.store.rows import decode_postings
from hardwon.types import Query, Scope

_RSS_UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10
_QUESTIONS = 20
_CLOCK = 1_800_000_000_000
_GATES = {"peak": "peak_mb", "ratio": "ratio_wall"}


def opened(repository: str, home: str) -> Engine:
    """The repository's memory, with ids and times that are the same each time."""
    return create(repository, home, clock=lambda: _CLOCK, entropy=bytes)


def work(repository: str, home: str, limit: int) -> None:
    """One ingest in this process; its figures as JSON on standard output."""
    begun, cpu = time.perf_counter(), time.process_time()
    engine = opened(repository, home)
    found = engine.ingest_history(limit)
    figures = {
        **vars(found),
        "seconds": round(time.perf_counter() - begun, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "git_cpu_seconds": round(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]), 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _RSS_UNIT, 1),
        "git_peak_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _RSS_UNIT, 1),
        "store_mb": round(os.path.getsize(store_of(engine)) / 1e6, 1),
    }
    print(json.dumps(figures), flush=True)


def store_of(engine: Engine) -> str:
    """The path of the store."""
    path: str = engine.store.path  # type: ignore[attr-defined]
    return path


def start(repository: str, home: str, limit: int) -> subprocess.Popen[str]:
    """An ingest in a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), "--worker", home, "--repository", repository, "--limit", str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Its figures."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the ingest ended with {process.returncode}")
    figures: dict[str, Any] = json.loads(out)
    return figures


def measured(repository: str, folder: str, limit: int) -> dict[str, Any]:
    """An ingest against git alone, and an ingest with nothing to do."""
    log = ["git", "-C", repository, "log", "-p", "-U0", "-M", "--no-merges", "-n", str(limit)]
    run(log)  # so that neither pays for a cold disk
    bare = run(log)
    say(f"git log -p: {bare.wall:.1f} s")
    home = os.path.join(folder, "home")
    first, again = (finish(start(repository, home, limit)) for _ in range(2))
    return {
        **first,
        "git_log_seconds": round(bare.wall, 2),
        "git_log_cpu_seconds": round(bare.cpu, 2),
        "ratio_wall": round(first["seconds"] / bare.wall, 2),
        "again_seconds": again["seconds"],
        "again_peak_mb": again["peak_mb"],
    }


def killed(repository: str, folder: str, limit: int, kills: int, seed: int) -> dict[str, Any]:
    """The same store after so many kills as without any; the moments are drawn from the time of the undisturbed run."""
    whole = os.path.join(folder, "undisturbed")
    seconds = finish(start(repository, whole, limit))["seconds"]
    home = os.path.join(folder, "killed")
    source = random.Random(seed)
    done, found = 0, []
    while done < kills:
        process = start(repository, home, limit)
        # Each try goes on where the last one was ended: the moments are spread over what is left, its end included.
        wait = source.uniform(0.05, max(0.5, seconds * 2.5 / (kills - done + 1)))
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        done += process.returncode < 0
        say(f"after {wait:.2f} s {f'kill {done}' if process.returncode < 0 else 'it had ended'}: {kept(home)} commits are kept")
        if process.returncode == 0 and done < kills:  # each kill shall meet an ingest that has something to do
            found += differences(repository, whole, home)
            shutil.rmtree(home)
    finish(start(repository, home, limit))
    return {"kills": done, "undisturbed_seconds": seconds, "differences": found + differences(repository, whole, home)}


def kept(home: str) -> int:
    """How many commits a store holds."""
    folder = os.path.join(home, "stores")
    paths = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []
    for path in paths:
        if path.endswith(".db"):
            connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
            try:
                return int(connection.execute("SELECT count(*) FROM changes").get)
            except apsw.SQLError:  # killed before there were tables
                return 0
            finally:
                connection.close()
    return 0


def differences(repository: str, one: str, other: str) -> list[str]:
    """What two stores do not have in common, and what ``verify`` finds; keys and order of arrival aside."""
    engines = [opened(repository, home) for home in (one, other)]
    left, right = (dict(contents(store_of(engine))) for engine in engines)
    found = [name for name in sorted(left.keys() | right.keys()) if left.get(name) != right.get(name)]
    for engine in engines:
        found += [f"verify: {finding.what}" for finding in engine.verify()]
    subjects = [row[0] for row in apsw.Connection(store_of(engines[0])).execute("SELECT text FROM memories ORDER BY id")]
    for text in random.Random(1).sample(subjects, min(_QUESTIONS, len(subjects))):
        answers = [[(hit.memory.id, hit.score) for hit in engine.recall(Query(text=text), Scope()).hits] for engine in engines]
        if sorted(answers[0]) != sorted(answers[1]):
            found.append(f"recall: {text}")
    for engine in engines:
        engine.close()
    return found


def contents(path: str) -> Iterator[tuple[str, str]]:
    """A digest of each table, its rows named by what they mean."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    columns = ", ".join(f"m.{row[1]}" for row in connection.execute("PRAGMA table_info(memories)") if row[1] != "key")
    texts = {
        "memories": f"SELECT {columns} FROM memories m ORDER BY id",
        "changes": "SELECT sha, pull_request, lines_added, lines_removed, files, functions FROM changes ORDER BY sha",
        "links": "SELECT s.id, l.kind, l.reference, t.id FROM links l JOIN memories s ON s.key = l.source "
        "LEFT JOIN memories t ON t.key = l.target ORDER BY 1, 2, 3",
        "terms": "SELECT term, documents FROM terms WHERE documents > 0 ORDER BY term",
        "corpus": "SELECT * FROM corpus ORDER BY name",
        "settings": "SELECT * FROM settings ORDER BY name",
        "events": "SELECT count(*) FROM events",
    }
    for name, sql in texts.items():
        yield name, _digest(connection.execute(sql))
    terms = dict(connection.execute("SELECT id, term FROM terms"))
    rows = connection.execute(
        "SELECT m.id, d.at, d.size, d.lengths, d.postings FROM documents d JOIN memories m ON m.key = d.memory ORDER BY m.id"
    )
    yield "documents", _digest((*row[:4], _counts(row[4], terms)) for row in rows)
    some = sorted((term, key) for key, term in terms.items())[:: max(1, len(terms) // 500)]
    matches = "SELECT m.id FROM search s JOIN memories m ON m.key = s.rowid WHERE search MATCH ? ORDER BY m.id"
    yield "search", _digest((term, *connection.execute(matches, (str(key),))) for term, key in some)
    connection.close()


def _counts(postings: bytes, terms: dict[int, str]) -> list[tuple[str, int]]:
    ids, counts = decode_postings(postings)
    return sorted((terms[one], count) for one, count in zip(ids, counts, strict=True))


def _digest(rows: Any) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(repr(row).encode())
    return digest.hexdigest()


def failing(figures: dict[str, Any], gates: list[str]) -> list[str]:
    """The gates that do not hold."""
    found = [f"differs after kills: {name}" for name in figures.get("differences", ())]
    for gate in gates:
        name, _, most = gate.partition("=")
        value = figures.get(_GATES[name])
        if value is not None and value > float(most):
            found.append(f"{_GATES[name]} is {value}, at most {most} is allowed")
    return found


def parse(words: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=10_000, help="of the repository that is made")
    parser.add_argument("--repository", help="a clone to read instead")
    parser.add_argument("--limit", type=int, default=100_000, help="how many of the newest commits are read")
    parser.add_argument("--kills", type=int, default=0, help="kill an ingest so many times instead of measuring one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gate", action="append", default=[], metavar="NAME=MOST", help=f"fail beyond it: {', '.join(_GATES)}")
    parser.add_argument("--json", help="write a report there")
    parser.add_argument("--worker", metavar="HOME", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Measure, or kill, and print."""
    options = parse(words)
    if options.worker:
        work(options.repository, options.worker, options.limit)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        repository = options.repository or made(os.path.join(folder, "repository"), options.commits, options.seed)
        if options.kills:
            figures = killed(repository, folder, options.limit, options.kills, options.seed)
        else:
            figures = measured(repository, folder, options.limit)
    print(table(("figure", "value"), figures.items()))
    write_json(options.json, report("ingest", options.seed, [], {"repository": options.repository or "made", **figures}))
    failed = failing(figures, options.gate)
    for line in failed:
        say(line)
    return 1 if failed else 0


def made(path: str, commits: int, seed: int) -> str:
    """The synthetic repository."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from tests.gitgrower import make_large

    begun = time.perf_counter()
    make_large(path, commits, seed)
    say(f"made a repository of {commits} commits in {time.perf_counter() - begun:.1f} s")
    return path


if __name__ == "__main__":
    sys.exit(main())
