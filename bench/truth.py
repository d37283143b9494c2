"""Whether what is said of the code is true: memories tied to symbols of real repositories at old commits, read again at later ones.

A clone is led through its history along the first parents. At five commits memories are recorded through the engine, on symbols drawn
evenly from all declarations (of tests at most a third); at each later stop the index is brought up to date and every memory is shown.
Its state is held against what git's renames and the language's own parser say (``followed.py``, ``declarations.py``), which share no code
with the product. At the last stop the states are also read before the index is brought up to date.

Stale served as true: shown as ``same`` or ``moved``, while the code is changed or gone; as a share of all memories.

Examples::

    python bench/truth.py --smoke --gate stale=0.01
    python bench/truth.py --clone ~/src/click --language python --anchors 1000 --seed 1 --report click.tsv
    python bench/truth.py --clone ~/src/gin --language go --anchors 1000 --from 900 --json gin.json
    python bench/truth.py --clone ~/src/zod --language typescript --typescript node_modules/typescript --to v4.0.0
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import declarations
import smoke_truth
from anchored import Shown, Spent, Subject
from common import median, percentile, report, say, write_json
from declarations import SAMPLED, Declaration, Parser
from followed import Followed, History
from judged import Judgement, blamed, confusion, figures, printed, write_report

_RECORDS = 5  # commits at which memories are made
_CHECKS = 4  # further stops, the newest commit among them
_SPREAD = 0.6  # the share of the way in which memories are made
# Paths of tests. Not simply "test" in them: all of pytest's own code would be taken for its tests.
_TEST = re.compile(r"(^|/)(__tests?__|tests?|testing|testdata|spec)/|(^|/)(conftest|test_[^/]*)\.py$|[._](test|spec)\.[a-z]+$")


class Replay(NamedTuple):
    """What a replay gave: judgements at all stops, those at the last one before the index was brought up to date, and seconds."""

    judged: list[Judgement]
    behind: list[Judgement]
    disagreeing: int  # memories that are recalled with another state than they are shown with
    refreshes: list[Spent]
    stops: list[int]


def stops(history: History, first: int, seed: int) -> tuple[list[int], list[int]]:
    """The numbers of the commits at which memories are made, and of the further stops."""
    source, last = random.Random(seed), len(history.commits) - 1
    part = (last - first) * _SPREAD / _RECORDS
    made = sorted({min(last - 1, int(first + part * (place + source.random() / 2))) for place in range(_RECORDS)})
    rest = (last - made[-1]) / _CHECKS
    return made, sorted({round(made[-1] + rest * place) for place in range(1, _CHECKS + 1)})


def chosen(
    history: History, number: int, count: int, source: random.Random, without: tuple[str, ...]
) -> list[tuple[str, Declaration]]:
    """Declarations at a commit, drawn evenly; of tests at most a third, none of paths that begin with ``without``."""
    pairs = [
        (path, one)
        for path, blob in sorted(history.files(number).items())
        for one in (history.declared(path, blob) or {}).values()
        if one.kind in SAMPLED and not path.startswith(without)
    ]
    source.shuffle(pairs)
    tests = [pair for pair in pairs if _TEST.search(pair[0])]
    others = [pair for pair in pairs if not _TEST.search(pair[0])]
    of_tests = min(len(tests), count // 3)
    return others[: count - of_tests] + tests[:of_tests]


def replay(clone: str, history: History, options: argparse.Namespace, folder: str) -> Replay:
    """Lead a clone through the history; what was said at each stop, and what is true."""
    made, later = stops(history, options.first, options.seed)
    history.read(made[0])
    only = [f"*{suffix}" for suffix in history.parser.suffixes] if options.sparse else []
    subject, source = Subject(clone, folder, only), random.Random(options.seed)
    ids: list[str] = []
    followed: list[Followed] = []
    result = Replay([], [], 0, [], [*made, *later])
    for stop in result.stops:
        subject.go(history.commits[stop])
        if stop == result.stops[-1]:
            result.behind.extend(_judged(followed, stop, subject.shown(ids)))
        result.refreshes.append(subject.refresh())
        judged = _judged(followed, stop, subject.shown(ids))
        result.judged.extend(judged)
        result = result._replace(disagreeing=result.disagreeing + _disagreeing(subject, ids, judged, options.seed))
        if stop in made:
            new = chosen(history, stop, math.ceil(options.anchors / len(made)), source, tuple(options.without))
            ids.extend(subject.record([(path, one.qualified) for path, one in new], history.commits[stop]))
            followed.extend(Followed(history, stop, path, one) for path, one in new)
        say(f"commit {stop} of {len(history.commits)}: {len(ids)} memories, refreshed in {result.refreshes[-1].cpu:.2f} s of CPU")
    return result


def _judged(followed: Sequence[Followed], stop: int, shown: Sequence[Shown]) -> list[Judgement]:
    return [Judgement(one, stop, one.truth(stop), said) for one, said in zip(followed, shown, strict=True)]


def _disagreeing(subject: Subject, ids: Sequence[str], judged: Sequence[Judgement], seed: int) -> int:
    """How many of a sample are recalled with another state than they are shown with, or with none while they are not the same."""
    if not ids:
        return 0
    known = {memory: one.shown for memory, one in zip(ids, judged, strict=True)}
    return sum(known[memory] != said for memory, said in subject.recalled(ids, seed))


def parser_of(options: argparse.Namespace) -> Parser:
    """The parser of the language that was asked for."""
    if options.language == "go":
        return declarations.go()
    if options.language == "typescript":
        return declarations.typescript(options.typescript)
    return declarations.Python()


def first_commit(history: History, wanted: str) -> int:
    """Where to begin: so many commits before the newest, or a share of the history."""
    count = len(history.commits)
    back = round(count * float(wanted)) if "." in wanted else int(wanted)
    return max(0, count - 1 - back)


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Replay and figures."""
    made = smoke_truth.Made(os.path.join(folder, "made"), options.seed) if options.smoke else None
    clone = made.folder if made else options.clone
    parser = parser_of(options)
    history = History(clone, parser, options.to)
    history.recover(options.parsed)
    options.first = first_commit(history, options.since)
    found = replay(clone, history, options, folder)
    if made:
        made.check((one.followed, one.stop, one.truth) for one in found.judged)
    last = [one for one in found.judged if one.stop == found.stops[-1]]
    parts = {"last stop": last, "all stops": found.judged, "last stop, index behind": found.behind}
    results = {name: figures(judged) for name, judged in parts.items()}
    shares, misses = blamed(history, last, options.seed)
    results["last stop"].update(shares)
    for name, judged in parts.items():
        print(f"\n{name}: {len(judged)} judgements\n\n{confusion(judged)}\n\n{printed(results[name])}")
    seconds = {kind: _seconds([getattr(spent, kind) for spent in found.refreshes]) for kind in ("cpu", "wall")}
    print(f"\nseconds of a refresh: {seconds}; recalled with another state than shown: {found.disagreeing}")
    write_report(options.report, history, [*found.judged, *(one for one in found.behind if one.stale)], misses)
    history.close(options.parsed)
    parser.close()
    commits = [history.commits[stop] for stop in found.stops]
    return {"stops": commits, "results": results, "refresh_seconds": seconds, "disagreeing": found.disagreeing}


def _seconds(spent: Sequence[float]) -> dict[str, float]:
    """The first one reads everything; the others what became of all memories since the last stop."""
    later = {"median": median(spent[1:]), "slowest": percentile(spent[1:], 1.0)}
    return {name: round(value, 3) for name, value in {"first": spent[0], **later}.items()}


def missed(results: dict[str, Any], gates: Sequence[tuple[str, float]]) -> list[str]:
    """The gates that are not passed, in words: at most so much is stale or unknown, at least so much of anything else."""
    failures = []
    for name, bound in gates:
        for part in ("last stop", "all stops", *(("last stop, index behind",) if name == "stale" else ())):
            reached = results[part][name]["share"]
            bad = reached is not None and (reached > bound if name in {"stale", "unknown"} else reached < bound)
            failures += [f"{part}: {name} {reached:.4f}, wanted {bound:.4f}"] if bad else []
    return failures


def gate(text: str) -> tuple[str, float]:
    """``stale=0.01``."""
    name, _, bound = text.partition("=")
    return name, float(bound)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--clone", metavar="PATH", help="a clone with its whole history")
    source.add_argument("--smoke", action="store_true", help="a small repository that is made here, of which everything is known")
    parser.add_argument("--language", choices=("python", "go", "typescript"), default="python")
    parser.add_argument("--typescript", metavar="FOLDER", default="node_modules/typescript", help="the package, for its parser")
    parser.add_argument("--anchors", type=int, default=1000, metavar="N", help="memories in all (default: %(default)s)")
    parser.add_argument(
        "--from", dest="since", default="0.7", metavar="N", help="begin so many commits back, or a share (default: 0.7)"
    )
    parser.add_argument("--to", default="HEAD", metavar="COMMIT", help="the last commit (default: HEAD)")
    parser.add_argument(
        "--without", action="append", default=[], metavar="PATH", help="no memories on what begins so (generated code)"
    )
    parser.add_argument(
        "--sparse", action="store_true", help="check out only files of the language (of a clone without large ones)"
    )
    parser.add_argument("--gate", type=gate, action="append", default=[], metavar="FIGURE=BOUND", help="fail beyond this")
    parser.add_argument("--report", metavar="FILE", help="write the disagreements there, one a line")
    parser.add_argument("--parsed", metavar="FILE", default="", help="keep there what was parsed, for the next run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run; 1 if a gate was missed."""
    options = arguments(words)
    if options.smoke:
        options.anchors, options.since = min(options.anchors, 80), "0.95"
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, folder)
    asked = {name: getattr(options, name) for name in ("clone", "language", "anchors", "since", "to", "without", "sparse")}
    write_json(options.json, report("truth", options.seed, [], asked | found))
    failures = missed(found["results"], options.gate)
    for failure in failures:
        say(f"gate missed: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
