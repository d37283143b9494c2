"""What is measured: the product through its public API, and plain designs to hold it against. All answer with positions."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import apsw

import hardwon
from hardwon.types import Block, Change, Query, Scope

K = 20
_ASKED_TERMS = 40  # the rarest of a question's terms, as more cost time and find nothing

_WORD = re.compile(r"[A-Za-z0-9_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STOP = """
    a an and are as at be been but by can could did do does for from had has have he her his how if in into is it its more not
    of on or our she should so than that the their them then there these they this those to too up us was we were what when
    where which while who why will with would you your
"""
_STOP_WORDS = frozenset(_STOP.split())


class Design(Protocol):
    """Something that remembers changes in order and answers questions about those that it has seen."""

    name: str

    def add(self, changes: Sequence[Change]) -> None:
        """Remember the changes that follow."""

    def ask(self, text: str, now: int) -> list[int]:
        """The positions of at most K changes, best first."""


class Recent:
    """The newest changes, whatever was asked: shows how much of a figure is owed to series of commits."""

    name = "most recent"

    def __init__(self) -> None:
        self.count = 0

    def add(self, changes: Sequence[Change]) -> None:
        """Count on."""
        self.count += len(changes)

    def ask(self, text: str, now: int) -> list[int]:
        """The last ones."""
        return list(range(self.count - 1, max(-1, self.count - 1 - K), -1))


class FullText:
    """SQLite's FTS5 with its own bm25(), all columns alike: what most memory tools do. Words are split here beforehand."""

    def __init__(self, name: str, *, whole: bool) -> None:
        """``whole``: index all six fields; else the message only."""
        self.name = name
        self._whole = whole
        self._columns = 6 if whole else 1
        self._seen: Counter[str] = Counter()
        self._count = 0
        self._db = apsw.Connection(":memory:")
        names = ", ".join(f"c{column}" for column in range(self._columns))
        self._db.execute(f"CREATE VIRTUAL TABLE memory USING fts5 ({names}, tokenize = \"ascii tokenchars '_='\")")

    def add(self, changes: Sequence[Change]) -> None:
        """Index the fields' terms."""
        marks = ", ".join("?" * (self._columns + 1))
        names = ", ".join(f"c{column}" for column in range(self._columns))
        with self._db:
            for change in changes:
                fields = [terms(text) for text in self._texts(change)]
                self._seen.update(set().union(*fields))
                values = (self._count, *(" ".join(field) for field in fields))
                self._db.execute(f"INSERT INTO memory (rowid, {names}) VALUES ({marks})", values)
                self._count += 1

    def _texts(self, change: Change) -> list[str]:
        if not self._whole:
            return [f"{change.subject}\n{change.body}"]
        words = (change.files, change.functions, change.added, change.removed)
        return [change.subject, change.body, *(" ".join(field) for field in words)]

    def ask(self, text: str, now: int) -> list[int]:
        """Any of the rarest terms; the newest of equals."""
        known = sorted(set(terms(text)) & self._seen.keys(), key=lambda term: (self._seen[term], term))
        if not known:
            return []
        asked = " OR ".join(f'"{term}"' for term in known[:_ASKED_TERMS])
        rows = self._db.execute("SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank, rowid DESC LIMIT ?", (asked, K))
        return [row[0] for row in rows]


def terms(text: str) -> list[str]:
    """Lower-case parts of words, and the whole of a word with several parts behind a mark; made apart from the product's."""
    found = []
    for word in _WORD.findall(text):
        parts = [part.lower() for part in _PART.findall(word)]
        found += [part for part in parts if len(part) > 1 and part not in _STOP_WORDS]
        if len(parts) > 1 or "_" in word:
            found.append("=" + word.lower())
    return found


class Product:
    """Hardwon through its public API. The clock stands at the time of whatever is asked."""

    name = "hardwon"

    def __init__(self, folder: str) -> None:
        self.now = 0
        self.folder = folder
        self.engine = hardwon.open_store(os.path.join(folder, "memory.db"), clock=lambda: self.now)
        self.scope = Scope()
        self._positions: dict[str, int] = {}

    def add(self, changes: Sequence[Change]) -> None:
        """Keep them as history is kept."""
        for change in changes:
            self._positions[change.sha] = len(self._positions)
        if changes:
            self.now = changes[-1].at
            self.engine.add_changes(changes)

    def ask(self, text: str, now: int) -> list[int]:
        """Recall without a floor and with room for all."""
        return self.positions(self.block(text, now))

    def block(self, text: str, now: int, k: int = K, floor: float = 0.0) -> Block:
        """The whole answer."""
        self.now = now
        return self.engine.recall(Query(text=text, k=k, budget=1_000_000, floor=floor), self.scope)

    def positions(self, block: Block) -> list[int]:
        """Where in the stream the hits stand."""
        return [self._positions[hit.memory.commit] for hit in block.hits]


def plain_designs() -> Iterable[Design]:
    """The baselines, in the order of the table."""
    return (
        Recent(),
        FullText("FTS5 bm25, message", whole=False),
        FullText("FTS5 bm25, all fields", whole=True),
    )
