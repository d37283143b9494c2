"""What vectors bring, and what they cost: ranking with and without them on a real history, and indexes side by side.

``--commits``: as bench/gitrecall.py, each question asked with words alone and with vectors as well. ``--scale N``: N made-up
vectors in clusters, like those of texts, in a store of their own; the exact scan, sign bits and SrvDB's modes on the same questions.
``--paraphrases``: fifty notes, twenty questions that say the same in other words, fifteen that no note answers.

Examples::

    python bench/vectors.py --commits curl-5k.jsonl.gz --links links.tsv --repo curl
    python bench/vectors.py --paraphrases
    python bench/vectors.py --scale 20000 --mode flat --mode signs --mode srvdb:flat --mode srvdb:hnsw
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import gitrecall
import hardwon
import stream
from common import report, say, table, write_json
from designs import Product
from hardwon.engine import vectors
from hardwon.search.dense import Dense
from hardwon.search.embed import Embedder, digest, text_of
from hardwon.search.rank import rank
from hardwon.settings import Settings
from hardwon.store.vectors import FlatIndex
from hardwon.types import Draft, Filter, Lexical, Memory, Origin, Query, Scope
from paraphrases import OTHERS, PAIRS, STRANGERS

_K = 20
_CLUSTER = 200  # vectors around one centre
_SPREAD = 0.8  # of a vector around its centre, in the centre's own measure


class WithVectors(Product):
    """The product with a vector for each change, asked by both."""

    name = "hardwon with vectors"

    def __init__(self, folder: str, embedder: Embedder) -> None:
        super().__init__(folder)
        self._embedder = embedder
        self._population = 0
        self._asked: dict[str, bytes] = {}

    def add(self, changes: Sequence[Any]) -> None:
        """Keep them, with their vectors."""
        super().add(changes)
        where = Filter(kinds=("change",))
        with self.engine.store.read() as reader:
            waiting = reader.memories(reader.keys_without_vector(self._embedder.model, where, -1))
        texts = [text_of(memory) for memory in waiting]
        made = self._embedder.embed(texts)
        with self.engine.store.write() as writer:
            rows = [(memory.id, digest(text), vector) for memory, text, vector in zip(waiting, texts, made, strict=True)]
            writer.put_vectors(self._embedder.model, rows)
        self._population += len(waiting)

    def ask(self, text: str, now: int) -> list[int]:
        """By words and meaning, without a floor."""
        self.now = now
        (vector,) = self._embedder.embed([text])
        dense = Dense(self._embedder.model, vector, FlatIndex(self._embedder.model), self._population)
        query = Query(text=text, k=_K, floor=0.0)
        with self.engine.store.read() as reader:
            hits = rank(reader, query, Filter(statuses=("active",), alive_at=now), now, dense)
        return [self._positions[hit.memory.commit] for hit in hits]


def ranking(options: argparse.Namespace) -> dict[str, Any]:
    """nDCG@10 with and without vectors, in one replay."""
    changes = stream.load(options.commits)
    links = stream.listed_links(changes, options.links, options.repo) if options.links else stream.found_links(changes)
    asked = stream.questions(changes, links)[: options.last]
    say(f"{len(changes)} commits, {len(asked)} questions")
    with tempfile.TemporaryDirectory() as folder:
        designs = [
            Product(os.path.join(folder, "words")),
            WithVectors(os.path.join(folder, "both"), vectors.embedder(Settings(""))),
        ]
        answers = gitrecall.replay(changes, asked, designs)
    results = gitrecall.compared(answers, [design.name for design in designs], options.seed)
    print(gitrecall.printed(results))
    return results


def filled(path: str, count: int, dimensions: int, seed: int) -> hardwon.Engine:
    """A store with vectors in clusters."""
    source = np.random.default_rng(seed)
    centres = source.normal(size=(max(1, count // _CLUSTER), dimensions))
    engine = hardwon.open_store(path)
    for begin in range(0, count, 5000):
        some = range(begin, min(begin + 5000, count))
        matrix = centres[source.integers(0, len(centres), len(some))] + _SPREAD * source.normal(size=(len(some), dimensions))
        matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype("<f4")
        ids = [f"00000000-0000-7000-8000-{number:012x}" for number in some]
        with engine.store.write() as writer:
            for number, identifier in zip(some, ids, strict=True):
                memory = Memory(identifier, number + 1, "fact", None, f"fact {number}", origin=Origin("test"), created_at=number)
                writer.put(memory, b"", Lexical({}, (0,) * 6))
            writer.put_vectors("made-up", [(name, bytes(16), row.tobytes()) for name, row in zip(ids, matrix, strict=True)])
    return engine


def scale(options: argparse.Namespace) -> dict[str, Any]:
    """Indexes side by side."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        engine = filled(os.path.join(folder, "memory.db"), options.scale, options.dimensions, options.seed)
        say(f"{options.scale} vectors in {time.perf_counter() - begun:.0f} s")
        found = vectors.bench(engine, options.mode or ("flat", "signs"), options.k, options.queries, options.seed, Settings(""))
        engine.close()
    head = ("mode", f"recall@{found.k}", "ms p50", "ms p95", "build s", "disk MB")
    rows = [
        (m.mode, m.failed) if m.failed else
        (m.mode, f"{m.recall:.3f}", f"{m.p50:.1f}", f"{m.p95:.1f}", f"{m.build:.2f}", f"{m.disk / 1e6:.1f}")
        for m in found.modes
    ]  # fmt: skip
    print(table(head, rows))
    return {"modes": [dict(vars(mode)) for mode in found.modes]}


def paraphrases(options: argparse.Namespace) -> dict[str, Any]:
    """How many of the questions find their note among the first three, and how many strangers get an answer."""
    with tempfile.TemporaryDirectory() as folder:
        engine = hardwon.open_store(os.path.join(folder, "memory.db"))
        for text in (*(answer for _, answer in PAIRS), *OTHERS):
            engine.record(Draft(text=text), Scope())
        vectors.reembed(engine, options=Settings(""))
        found = {}
        for name, both in (("words", False), ("words and vectors", True)):
            answers = [_told(engine, question, both) for question, _ in PAIRS]
            strangers = [_told(engine, question, both) for question in STRANGERS]
            found[name] = {
                "questions": len(PAIRS),
                "hit@3": sum(answer in told[:3] for (_, answer), told in zip(PAIRS, answers, strict=True)),
                "answered": sum(map(bool, answers)),
                "strangers": len(STRANGERS),
                "strangers answered": sum(map(bool, strangers)),
            }
        engine.close()
    print(table(("asked by", *found["words"]), [(name, *figures.values()) for name, figures in found.items()]))
    return found


def _told(engine: hardwon.Engine, question: str, both: bool) -> list[str]:
    query, now = Query(text=question), engine.clock()
    dense = vectors.dense(engine, query, Settings(""))[0] if both else None
    with engine.store.read() as reader:
        return [hit.memory.text for hit in rank(reader, query, Filter(statuses=("active",), alive_at=now), now, dense)]


def main(words: Sequence[str] | None = None) -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--commits", metavar="FILE", help="commits as JSON lines, oldest first, perhaps compressed")
    what.add_argument("--paraphrases", action="store_true", help="made-up notes and questions in other words")
    what.add_argument("--scale", type=int, metavar="N", help="so many made-up vectors")
    parser.add_argument("--links", metavar="FILE", help="links as TSV; without it they are found in the messages")
    parser.add_argument("--repo", default="", metavar="NAME", help="the repository's name in the file of links")
    parser.add_argument("--last", type=int, metavar="RANK", help="last question of the sample (default: all)")
    parser.add_argument("--mode", action="append", metavar="MODE", help="an index to compare; may be repeated")
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    options = parser.parse_args(words)
    figures = scale(options) if options.scale else paraphrases(options) if options.paraphrases else ranking(options)
    write_json(options.json, report("vectors", options.seed, [options.commits, options.links], figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
