"""How well calls are resolved, measured on calls of real repositories whose targets were found by reading the code.

Each file of ``bench/calls`` holds 200 calls of one repository at one commit: 140 drawn from the code and 60 from its tests, examples and
benches (seeded, uniform within each), with the declaration that each means, ``external`` for one outside the repository, or
``dynamic`` for what was handed over. Several declarations (``|``) are right where the type at hand is an interface or a base. The
targets were written down before the rules were run on them. Odd lines are for development, even ones are held out.

``precision``: right among the calls that are resolved with certainty .5 and more; ``recall``: right among those that have a target in
the repository.

Examples::

    python bench/calls.py --clone ~/src/click --labels bench/calls/click.tsv
    python bench/calls.py --clone ~/src/gin --labels bench/calls/gin.tsv --wrong
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from common import machine, say, table, write_json
from hardwon.code.index import CodeReader
from hardwon.code.outline import Call
from hardwon.code.resolve import CERTAIN, Resolver, Target
from hardwon.code.source import language_of
from hardwon.code.symbols import outline
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.connection import PLAIN

_TREE = "bench"


class Label(NamedTuple):
    """A call and what it means; ``held`` out of development."""

    path: str
    line: int
    written: str
    targets: tuple[str, ...]
    held: bool

    @property
    def inside(self) -> bool:
        """Whether the repository declares what is called."""
        return self.targets not in (("external",), ("dynamic",))


def labels(path: str) -> tuple[str, str, list[Label]]:
    """Repository, commit and calls of a file of labels."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    repository, commit = lines[0].removeprefix("# ").split()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    found = [
        Label(name, int(line), written, tuple(target.split("|")), number % 2 == 0)
        for number, (name, line, written, target) in enumerate(rows, 1)
    ]
    return repository, commit, found


def read_tree(clone: str, commit: str) -> Iterable[tuple[str, str, bytes]]:
    """Path, blob and content of each file of code of a commit."""
    listed = subprocess.run(["git", "-C", clone, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout
    for entry in listed.decode("utf-8", "replace").split("\0"):
        facts, _, path = entry.partition("\t")
        if path and language_of(path) and facts.split()[1] == "blob":
            blob = facts.split()[2]
            content = subprocess.run(["git", "-C", clone, "cat-file", "blob", blob], capture_output=True, check=True).stdout
            yield path, blob, content


def make_index(folder: str, files: Iterable[tuple[str, str, bytes]]) -> CodeIndex:
    """An index of those files in a folder."""
    index = CodeIndex(os.path.join(folder, "bench.code"), lambda: PLAIN)
    with index.write(_TREE) as writer:
        paths = {}
        for path, blob, content in files:
            writer.add(blob, outline(path, content))
            paths[path] = blob
        writer.set_files(paths, "", 1)
    return index


def answers(reader: CodeReader, wanted: Iterable[Label]) -> list[tuple[Label, Target | None]]:
    """Each call with the likeliest target, None where there is none that is likely."""
    resolver = Resolver(reader)
    out: list[tuple[Label, Target | None]] = []
    for label in wanted:
        found = [target for call in matching(reader, label) for target in resolver.targets(label.path, call)[:1]]
        out.append((label, found[0] if found and found[0].certainty >= CERTAIN else None))
    return out


def matching(reader: CodeReader, label: Label) -> list[Call]:
    """The call of a line that a label means: by its name, then by what stands before it."""
    receiver, _, name = label.written.rpartition(".")
    here = [call for call in reader.calls_in(label.path) if call.line == label.line and call.name == name]
    exact = [call for call in here if call.receiver == receiver] or [
        call for call in here if bool(call.receiver) == bool(receiver)
    ]
    return (exact or here)[:1]


def is_right(label: Label, target: Target) -> bool:
    """Whether a target is one of those that a person found."""
    return any(_same(wanted, target) for wanted in label.targets)


def _same(wanted: str, target: Target) -> bool:
    path, _, symbol = wanted.rpartition(":")
    one, other = f".{symbol}", f".{target.symbol}"
    return path == target.path and (one.endswith(other) or other.endswith(one))


def judge(found: Iterable[tuple[Label, Target | None]]) -> dict[str, Any]:
    """Counts and shares."""
    found = list(found)
    resolved = [(label, target) for label, target in found if target is not None]
    right = sum(is_right(label, target) for label, target in resolved)
    inside = sum(label.inside for label, _ in found)
    foreign = sum(not label.inside for label, _ in resolved)
    return {
        "calls": len(found), "inside": inside, "resolved": len(resolved), "right": right, "foreign_resolved": foreign,
        "precision": right / len(resolved) if resolved else 0.0, "recall": right / inside if inside else 0.0,
        "precision_interval": proportion(right, len(resolved)),
        "recall_interval": proportion(right, inside),
    }  # fmt: skip


def proportion(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share: the bootstrap has none where all or nothing was right."""
    if not of:
        return 0.0, 1.0
    z = 1.96
    share, spread = hits / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def measure(clone: str, path: str, wrong: bool) -> dict[str, Any]:
    """All figures of one repository."""
    repository, commit, wanted = labels(path)
    with tempfile.TemporaryDirectory(prefix="hardwon-bench-") as folder:
        begun = time.process_time()
        index = make_index(folder, read_tree(clone, commit))
        indexed = time.process_time() - begun
        with index.read(_TREE) as reader:
            figures = reader.figures()
            begun = time.process_time()
            found = answers(reader, wanted)
            asked = time.process_time() - begun
        index.close()
    for label, target in found if wrong else ():
        missed = label.inside if target is None else not is_right(label, target)
        if missed and not label.held:
            said = f"{target.path}:{target.symbol} {target.certainty:.2f} {target.why}" if target else "-"
            print(f"{label.path}:{label.line}\t{label.written}\twanted {'|'.join(label.targets)}\tsaid {said}")
    halves = {
        "development": judge(one for one in found if not one[0].held),
        "held out": judge(one for one in found if one[0].held),
    }
    return {
        "repository": repository, "commit": commit, "index": figures, "index_seconds": round(indexed, 2),
        "milliseconds_per_call": round(asked / len(found) * 1000, 3), "halves": halves,
    }  # fmt: skip


def main() -> int:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--clone", action="append", default=[], help="a clone that has the labels' commit; once for each --labels"
    )
    parser.add_argument("--labels", action="append", default=[], help="a file of bench/calls")
    parser.add_argument("--wrong", action="store_true", help="print the calls of the development half that went wrong")
    parser.add_argument("--json", help="a file for the figures")
    given = parser.parse_args()
    if not given.clone or len(given.clone) != len(given.labels):
        parser.error("one --clone for each --labels")
    results = []
    for clone, path in zip(given.clone, given.labels, strict=True):
        say(f"{path} …")
        results.append(measure(clone, path, given.wrong))
    rows = [
        [one["repository"], half, *(str(figures[key]) for key in ("calls", "inside", "resolved", "right", "foreign_resolved")),
         f"{figures['precision']:.3f}", f"{figures['recall']:.3f}"]
        for one in results for half, figures in one["halves"].items()
    ]  # fmt: skip
    print(table(["repository", "half", "calls", "inside", "resolved", "right", "foreign", "precision", "recall"], rows))
    if given.json:
        write_json(given.json, {"machine": machine(), "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
