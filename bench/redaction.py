"""How many planted secrets the rules find, what they take out of text that holds none, and what a kilobyte costs.

    python bench/redaction.py --seed 7 --gate found=0.95 --gate marks=10
    python bench/redaction.py --corpus curl=PATH --history PATH --json report.json

600 secrets of six shapes (``planted.py``), text without any (``benign.py``: the standard library, lock files, hashes, CI logs, and
what the options add). Both for the quick rules alone and together with the scanner. ``found``: the least share, overall and in each
shape; ``marks``: the most false marks in a megabyte of any corpus.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import benign
from common import report, say, table, write_json
from hardwon.intake.bulk import Redactor
from hardwon.intake.redact import redact
from planted import SHAPES, leaks, plant

Redact = Callable[[str], tuple[str, int]]
_HISTORY = 5_000  # commits of --history


def found(redact: Redact, seed: int, each: int) -> dict[str, float]:
    """The share of each shape's planted secrets of which nothing is left, and of all."""
    kept = dict.fromkeys(SHAPES, 0)
    for planted in plant(seed, each):
        kept[planted.shape] += not leaks(planted, redact(planted.text)[0])
    return {shape: count / each for shape, count in kept.items()} | {"all": sum(kept.values()) / (each * len(SHAPES))}


def marks(redact: Redact, texts: Iterable[str]) -> dict[str, float]:
    """False marks a megabyte, and CPU milliseconds a kilobyte."""
    size = count = 0
    cpu = 0.0
    for text in texts:
        begun = time.process_time()
        count += redact(text)[1]
        cpu += time.process_time() - begun
        size += len(text.encode(errors="replace"))
    return {"megabytes": size / 1e6, "marks": count / (size / 1e6), "ms_per_kb": cpu * 1e3 / (size / 1024)}


def corpora(options: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Name and texts of each corpus."""
    for name, make in benign.GENERATED.items():
        yield name, list(make(options.seed))
    for name, path in options.corpus:
        yield name, list(benign.folder(path))
    for path in options.history:
        yield f"history of {os.path.basename(os.path.abspath(path).removesuffix('/repo'))}", list(benign.messages(path, _HISTORY))


def missed(results: Mapping[str, Any], gates: Sequence[tuple[str, float]]) -> list[str]:
    """The gates that the rules do not pass, in words."""
    failures = []
    for layer, result in results.items():
        for name, wanted in gates:
            if name == "found":
                failures += [f"{layer}: {shape} found {share:.3f}" for shape, share in result["found"].items() if share < wanted]
            else:
                failures += [
                    f"{layer}: {item['marks']:.1f} marks a MB in {corpus}"
                    for corpus, item in result["benign"].items()
                    if item["marks"] > wanted
                ]
    return failures


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures, by layer: the quick rules, and both."""
    both = Redactor(options.cache)
    say(both.load() or "the scanner is loaded")
    layers: dict[str, Redact] = {"quick": redact} if both.degraded else {"quick": redact, "both": both.redact}
    results: dict[str, Any] = {
        name: {"found": found(layer, options.seed, options.each), "benign": {}} for name, layer in layers.items()
    }
    for corpus, texts in corpora(options):
        for name, layer in layers.items():
            results[name]["benign"][corpus] = marks(layer, texts)
    return results


def shown(results: Mapping[str, Any]) -> str:
    """The figures as two tables."""
    layers = list(results)
    first = table(
        ["found", *layers],
        ([shape, *(f"{results[layer]['found'][shape]:.3f}" for layer in layers)] for shape in (*SHAPES, "all")),
    )
    rows = []
    for corpus, item in results["quick"]["benign"].items():
        each = [results[layer]["benign"][corpus] for layer in layers]
        rows.append(
            [
                corpus,
                f"{item['megabytes']:.1f}",
                *(f"{one['marks']:.1f}" for one in each),
                *(f"{one['ms_per_kb']:.3f}" for one in each),
            ]
        )
    head = ["no secrets in", "MB", *(f"marks a MB, {layer}" for layer in layers), *(f"ms a KB, {layer}" for layer in layers)]
    return first + "\n\n" + table(head, rows)


def _pair(text: str) -> tuple[str, str]:
    name, sign, path = text.partition("=")
    if not sign or not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{text} is not NAME=FOLDER")
    return name, path


def _gate(text: str) -> tuple[str, float]:
    name, _, wanted = text.partition("=")
    try:
        value = float(wanted)
    except ValueError:
        value = -1
    if name not in ("found", "marks") or value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not found=SHARE or marks=NUMBER")
    return name, value


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="How well secrets are found, and what else is taken for one.")
    parser.add_argument("--seed", type=int, default=7, help="of everything that is made at random (7)")
    parser.add_argument("--each", type=int, default=100, help="planted secrets of each shape (100)")
    parser.add_argument(
        "--corpus", type=_pair, action="append", default=[], metavar="NAME=FOLDER", help="more text without secrets"
    )
    parser.add_argument(
        "--history", action="append", default=[], metavar="REPOSITORY", help="`git log --stat` of it as text without secrets"
    )
    parser.add_argument(
        "--cache",
        default=os.path.join(os.path.expanduser("~"), ".cache", "hardwon-bench"),
        help="where the scanner keeps its rules",
    )
    parser.add_argument(
        "--gate", type=_gate, action="append", default=[], metavar="NAME=NUMBER", help="fail if found is below, or marks above"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 1 if a gate was missed."""
    options = parse(arguments)
    results = measure(options)
    print(shown(results))
    write_json(options.json, report("redaction", options.seed, (), {"each": options.each, "results": results}))
    failures = missed(results, options.gate)
    for failure in failures:
        say(f"gate missed: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
