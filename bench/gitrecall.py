"""How well recall finds, measured on real histories: each question sees only the commits before it.

A later commit that names an earlier one by hash is a question; the commits that it names are the answer. The history is replayed
in order, each question is asked before its own commit is remembered, and all statistics are those of the past. The headline is
nDCG@10 (binary) with a bootstrap interval over questions, for the full message and for its subject alone.

Examples::

    python bench/gitrecall.py --smoke
    python bench/gitrecall.py --commits curl.jsonl.gz --links links.tsv --repo curl --last 250
    python bench/gitrecall.py --clone ~/src/curl --newest 16000 --first 251 --last 750 --json curl.json
    python bench/gitrecall.py --clone ~/src/curl --newest 16000 --save curl.jsonl.gz --last 0
    python bench/gitrecall.py --commits curl.jsonl.gz --calibrate --foreign pytest.jsonl.gz --baselines none
    python bench/gitrecall.py --smoke --gate full=0.7 --gate subject=0.4
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import calibration
import smoke
import stream
from common import interval, mean, percentile, report, say, size_of, table, write_json
from designs import Design, Product, plain_designs
from hardwon.types import Change
from stream import Asked

VARIANTS = ("full", "subject")
_RECALLS = (1, 5, 10, 20)
_SLICE = 1000  # commits remembered between two words about progress


class Answers:
    """What one design answered: ranked positions, and the CPU milliseconds of each question, by variant."""

    def __init__(self) -> None:
        self.ranked: dict[str, list[tuple[Asked, list[int]]]] = {variant: [] for variant in VARIANTS}
        self.milliseconds: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        self.added = 0.0
        self.added_wall = 0.0


def replay(changes: Sequence[Change], asked: Sequence[Asked], designs: Sequence[Design]) -> dict[str, Answers]:
    """Every design's answers to all questions, in the order of time."""
    answers = {design.name: Answers() for design in designs}
    done = 0
    for number, question in enumerate(sorted(asked, key=lambda question: question.position), 1):
        for design in designs:
            _add(design, changes[done : question.position], answers[design.name])
            _ask(design, question, changes[question.position].at, answers[design.name])
        if question.position // _SLICE > done // _SLICE:
            say(f"commit {question.position} of {len(changes)}, question {number} of {len(asked)}")
        done = question.position
    for design in designs:
        _add(design, changes[done:], answers[design.name])
    return answers


def _add(design: Design, changes: Sequence[Change], answers: Answers) -> None:
    cpu, wall = time.process_time(), time.perf_counter()
    design.add(changes)
    answers.added += time.process_time() - cpu
    answers.added_wall += time.perf_counter() - wall


def _ask(design: Design, question: Asked, now: int, answers: Answers) -> None:
    for variant in VARIANTS:
        text = getattr(question, variant)
        if not text:
            continue
        begun = time.process_time()
        ranked = design.ask(text, now)
        answers.milliseconds[variant].append(1000 * (time.process_time() - begun))
        answers.ranked[variant].append((question, ranked))


def ndcg(relevant: frozenset[int], ranked: Sequence[int], k: int = 10) -> float:
    """Normalised discounted cumulative gain with binary relevance."""
    gain = sum(1 / math.log2(place + 2) for place, position in enumerate(ranked[:k]) if position in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def recall_at(relevant: frozenset[int], ranked: Sequence[int], k: int) -> float:
    """The share of what is relevant that stands among the first k."""
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def reciprocal(relevant: frozenset[int], ranked: Sequence[int]) -> float:
    """One over the place of the first relevant one; 0 without any."""
    return next((1 / place for place, position in enumerate(ranked, 1) if position in relevant), 0.0)


def figures(answers: Answers, variant: str, seed: int) -> dict[str, Any]:
    """The metrics of one design for one variant."""
    pairs = [(question.relevant, ranked) for question, ranked in answers.ranked[variant]]
    gains = [ndcg(*pair) for pair in pairs]
    recalls = {f"R@{k}": round(mean([recall_at(*pair, k) for pair in pairs]), 4) for k in _RECALLS}
    hits = [float(bool(relevant.intersection(ranked[:5]))) for relevant, ranked in pairs]
    times = answers.milliseconds[variant]
    return {
        "questions": len(pairs),
        **recalls,
        "hit@5": round(mean(hits), 4),
        "MRR": round(mean([reciprocal(*pair) for pair in pairs]), 4),
        "nDCG@10": round(mean(gains), 4),
        "interval": [round(bound, 4) for bound in interval(gains, seed)],
        "cpu_ms_p50": round(percentile(times, 0.5), 2),
        "cpu_ms_p95": round(percentile(times, 0.95), 2),
    }


def compared(answers: dict[str, Answers], names: Sequence[str], seed: int) -> dict[str, Any]:
    """All designs and variants."""
    return {variant: {name: figures(answers[name], variant, seed) for name in names} for variant in VARIANTS}


def printed(results: dict[str, Any]) -> str:
    """The figures as Markdown."""
    parts = []
    head = ("design", *(f"R@{k}" for k in _RECALLS), "hit@5", "MRR", "nDCG@10", "95 %", "CPU ms p50 / p95")
    for variant, designs in results.items():
        rows = []
        for name, found in designs.items():
            low, high = found["interval"]
            cells = [f"{found[key]:.3f}" for key in head[1:8]]
            rows.append((name, *cells, f"{low:.3f} to {high:.3f}", f"{found['cpu_ms_p50']:.1f} / {found['cpu_ms_p95']:.1f}"))
        questions = next(iter(designs.values()))["questions"]
        parts.append(f"{variant}, {questions} questions\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def weighed(product: Product, answers: Answers, count: int) -> dict[str, Any]:
    """What remembering costs."""
    size = size_of(product.folder)
    return {
        "changes": count,
        "changes_per_cpu_second": round(count / max(answers.added, 1e-9), 1),
        "changes_per_second": round(count / max(answers.added_wall, 1e-9), 1),
        "store_bytes": size,
        "store_bytes_per_change": round(size / max(count, 1)),
    }


def measure(changes: Sequence[Change], asked: Sequence[Asked], options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Replay, figures, and the calibration if it was asked for."""
    product = calibration.Watched(folder) if options.calibrate else Product(folder)
    plain = plain_designs() if options.baselines == "all" else ()
    designs = [*plain, product]
    answers = replay(changes, asked, designs)
    results = compared(answers, [design.name for design in designs], options.seed)
    print(printed(results))
    cost = weighed(product, answers[product.name], len(changes))
    print(f"\n{cost}")
    found: dict[str, Any] = {"results": results, "cost": cost}
    if isinstance(product, calibration.Watched):
        foreign = calibration.foreign_questions(options.foreign, len(asked), options.seed) if options.foreign else []
        found["calibration"] = calibration.calibrate(product, asked, foreign, changes, options.seed, options.form)
        print("\n" + calibration.printed(found["calibration"]))
    return found


def history(options: argparse.Namespace, folder: str) -> tuple[list[Change], stream.Links]:
    """The stream that was asked for, with its links."""
    if options.smoke:
        repository = os.path.join(folder, "repository")
        known = smoke.generate(repository, options.seed)
        changes = stream.clone(repository, smoke.COMMITS)
        links = stream.found_links(changes)
        smoke.check(changes, links, known)
        return changes, links
    changes = stream.clone(options.clone, options.newest) if options.clone else stream.load(options.commits)
    if options.links:
        return changes, stream.listed_links(changes, options.links, options.repo)
    return changes, stream.found_links(changes)


def missed(results: dict[str, Any], gates: Sequence[tuple[str, float]]) -> list[str]:
    """The gates that the product does not pass, in words."""
    reached = {variant: results[variant][Product.name]["nDCG@10"] for variant in VARIANTS}
    return [
        f"{variant}: nDCG@10 {reached[variant]:.3f}, wanted {least:.3f}" for variant, least in gates if reached[variant] < least
    ]


def gate(text: str) -> tuple[str, float]:
    """``full=0.55``."""
    variant, _, least = text.partition("=")
    if variant not in VARIANTS:
        raise argparse.ArgumentTypeError(f"{variant!r} is none of {', '.join(VARIANTS)}")
    return variant, float(least)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--commits", metavar="FILE", help="commits as JSON lines, oldest first, perhaps compressed")
    source.add_argument("--clone", metavar="PATH", help="a clone, whose newest commits are read")
    source.add_argument("--smoke", action="store_true", help="a small repository that is generated here")
    parser.add_argument("--newest", type=int, default=16_000, metavar="N", help="commits of a clone (default: %(default)s)")
    parser.add_argument("--links", metavar="FILE", help="links as TSV; without it they are found in the messages")
    parser.add_argument("--repo", default="", metavar="NAME", help="the repository's name in the file of links")
    parser.add_argument("--first", type=int, default=1, metavar="RANK", help="first question of the sample (default: 1)")
    parser.add_argument("--last", type=int, metavar="RANK", help="last question of the sample (default: all)")
    parser.add_argument("--baselines", choices=("all", "none"), default="all", help="designs beside the product")
    parser.add_argument("--calibrate", action="store_true", help="fit the score's probability and try floors")
    parser.add_argument("--form", choices=calibration.FORMS, default="log-share", help="form of the fit (default: %(default)s)")
    parser.add_argument("--foreign", metavar="FILE", help="commits of another repository, to ask what has no answer here")
    parser.add_argument("--gate", type=gate, action="append", default=[], metavar="VARIANT=LEAST", help="fail below this nDCG@10")
    parser.add_argument("--save", metavar="FILE", help="keep the stream of a clone as JSON lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run; 1 if a gate was missed."""
    options = arguments(words)
    with tempfile.TemporaryDirectory() as folder:
        changes, links = history(options, folder)
        if options.save:
            stream.save(options.save, changes)
        usable = stream.questions(changes, links)
        asked = usable[options.first - 1 : options.last]
        say(f"{len(changes)} commits, {len(usable)} usable questions, {len(asked)} asked")
        if not asked:
            return 0
        found = measure(changes, asked, options, os.path.join(folder, "store"))
    sample = {"first": options.first, "last": options.first + len(asked) - 1, "usable": len(usable)}
    source = {"commits": len(changes), "newest": changes[-1].sha, "sample": sample}
    write_json(options.json, report("gitrecall", options.seed, [options.commits, options.links, options.foreign], source | found))
    failures = missed(found["results"], options.gate)
    for failure in failures:
        say(f"gate missed: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
