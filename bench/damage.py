"""What `hardwon verify` finds of damage: single bits flipped in live cells, b-tree by b-tree, and pages zeroed.

A store with every kind of row is made; each case changes one bit (or one page) of the file while nobody has it open, checks it, and puts
it back. Cases are drawn twice: from all live cells by their size, and alike from every b-tree, for by size two large tables stand for
all. Indexes are counted apart: they are derived and hold no acknowledged word.

Examples::

    python bench/damage.py --flips 2000 --seed 1
    python bench/damage.py --flips 2000 --seed 1 --memories 300 --json damage.json
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

import hardwon
from common import report, say, table, write_json
from hardwon.errors import HardwonError
from hardwon.store.checks.check import findings
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Change, Draft, Origin, Relation, Revision, Scope

_SCOPE = Scope(Origin("agent", "bench", "s1"))
_PERSON = Scope(Origin("person", "bench", "s2"))
_WORDS = ("pool", "retry", "token", "cache", "upload", "session", "timeout", "schema", "index", "café", "naïve", "線")
_HEADER = 100
_LEAVES = {0x0D: "table", 0x0A: "index"}


class Cell(NamedTuple):
    """The bytes of one row in a leaf page: which b-tree, whether that is an index of another, and from where to where in the file."""

    tree: str
    index: bool
    start: int
    end: int


def make(path: str, memories: int, seed: int) -> None:
    """A store with rows in every table, all in its file, and no log."""
    chance = random.Random(seed)
    engine = hardwon.open_store(path)
    text = lambda n: " ".join(chance.choices(_WORDS, k=n)) + f" {chance.randrange(10**6)}"  # noqa: E731
    engine.add_changes(
        Change(
            f"{n:040x}", 1_700_000_000_000 + n, text(5), text(30), "Ann", files=(f"src/{n % 7}.py",), functions=(f"def f{n % 9}",),
            added=tuple(f"name_{chance.randrange(500)}" for _ in range(20)), lines_added=n, pull_request=n or None,
            relations=(Relation("fixes", f"{n - 1:040x}"),) if n else (),
        )
        for n in range(memories)
    )  # fmt: skip
    engine.settle_history()
    receipts = []
    for n in range(memories):
        anchors = (Anchor(f"src/{n % 7}.py", f"A{n % 11}.run"), Anchor("", f"f{n % 9}"))
        kind: Any = ("lesson", "decision", "rule", "fact")[n % 4]
        draft = Draft(
            text(6), kind, "failed" if kind == "lesson" else None, text(8 if n % 20 else 900), "x = 1\n" * (n % 5), text(4), (text(3),),
            anchors, ("ci", f"t{n % 5}"),
        )  # fmt: skip
        receipts.append(engine.record(draft, _SCOPE))
        if n % 3 == 0:
            engine.record(draft, _PERSON)
        if n % 4 == 0:
            engine.revise(receipts[-1].id, Revision(text=text(7)), _PERSON)
        if n % 5 == 0 and n:
            engine.link(receipts[-1].id, receipts[-2].id, "supports", _SCOPE)
    engine.upsert([(f"item-{n}", Draft(text(5))) for n in range(memories // 2)], _SCOPE)
    with engine.store.write() as writer:
        rows = [(receipt.id, b"d" * 16, chance.randbytes(384 * 4)) for receipt in receipts[: memories // 4]]
        writer.put_vectors("model", rows)
    engine.compact()
    engine.close()
    remove_log(path)


def remove_log(path: str) -> None:
    """After a checkpoint there is nothing in it."""
    assert not os.path.exists(path + "-wal") or os.path.getsize(path + "-wal") == 0
    for end in ("-wal", "-shm"):
        if os.path.exists(path + end):
            os.unlink(path + end)


def pages(path: str) -> list[tuple[str, int, str]]:
    """(b-tree, page, type) of every page in use, in the order of keys; type is leaf, internal or overflow."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    found = connection.execute("SELECT name, pageno, pagetype FROM dbstat ORDER BY name, path").fetchall()
    connection.close()
    return found


def indexes(path: str) -> set[str]:
    """The names of b-trees that are indexes of tables."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
    connection.close()
    return names


def cells(path: str) -> list[Cell]:
    """Every cell of every leaf page."""
    derived = indexes(path)
    with open(path, "rb") as file:
        raw = file.read()
    size = int.from_bytes(raw[16:18], "big")
    usable = size - raw[20]
    return [
        Cell(tree, tree in derived, start, end)
        for tree, number, kind in pages(path)
        if kind == "leaf"
        for start, end in _cells_of(raw, (number - 1) * size, _HEADER if number == 1 else 0, usable)
    ]


def _cells_of(raw: bytes, page: int, skip: int, usable: int) -> Iterator[tuple[int, int]]:
    kind = _LEAVES[raw[page + skip]]
    count = int.from_bytes(raw[page + skip + 3 : page + skip + 5], "big")
    for n in range(count):
        at = page + skip + 8 + 2 * n
        start = page + int.from_bytes(raw[at : at + 2], "big")
        payload, after = _varint(raw, start)
        if kind == "table":
            _, after = _varint(raw, after)
        yield start, after + _local(payload, usable, kind)


def _local(payload: int, usable: int, kind: str) -> int:
    """Bytes of a payload that lie in the leaf itself, with the number of the page where it goes on."""
    most = usable - 35 if kind == "table" else (usable - 12) * 64 // 255 - 23
    if payload <= most:
        return payload
    least = (usable - 12) * 32 // 255 - 23
    spill = least + (payload - least) % (usable - 4)
    return (spill if spill <= most else least) + 4


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = raw[at + n]
        if n == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    raise AssertionError


def found_by(path: str) -> list[str]:
    """The checks that find something in a store, in their order; ``open`` where it is refused before."""
    try:
        with SqliteStore(path, make=False) as store, store.read():
            return list(dict.fromkeys(name for name, _ in findings(store.connection(readonly=True))))
    except HardwonError as error:
        return [f"open ({error.kind})"]


class Case(NamedTuple):
    """One flipped bit: where, what found it, and whether any value that SQLite reads is another one than before."""

    cell: Cell
    at: int
    bit: int
    found: list[str]
    felt: bool = True

    @property
    def missed(self) -> bool:
        """Something is another, and nobody says so."""
        return self.felt and not self.found


def flips(path: str, count: int, seed: int, *, alike: bool = True) -> list[Case]:
    """Single bits: ``alike`` from every b-tree, else from all live cells by their size."""
    chance = random.Random(seed)
    trees: dict[str, list[Cell]] = {}
    everything = cells(path)
    for cell in everything:
        trees.setdefault(cell.tree if alike else "", []).append(cell)
    names = sorted(trees)
    sizes = {name: [cell.end - cell.start for cell in tree] for name, tree in trees.items()}
    cases = []
    for n in range(count):
        name = names[n % len(names)]
        cell = chance.choices(trees[name], sizes[name])[0]
        at, bit = chance.randrange(cell.start, cell.end), chance.randrange(8)
        cases.append(_flipped(path, cell, at, bit))
    return cases


def _flipped(path: str, cell: Cell, at: int, bit: int) -> Case:
    def change(old: bytes) -> bytes:
        return bytes((old[0] ^ 1 << bit,))

    found = with_bytes(path, at, change, 1, found_by)
    # The place of a row number in its record is not read, and a row number that nobody names may be any.
    felt = bool(found) or with_bytes(path, at, change, 1, values) != values(path)
    return Case(cell, at, bit, found, felt)


def values(path: str) -> dict[str, Any]:
    """Everything that can be read of a store's tables."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")]
        return {name: connection.execute(f"SELECT * FROM {name} NOT INDEXED").fetchall() for name in tables}
    finally:
        connection.close()


def zeroed(path: str) -> list[tuple[str, int, str, list[str]]]:
    """(b-tree, page, type, what found it) of every page that is in use, zeroed alone."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(18)[16:18], "big")
    return [(*one, with_bytes(path, (one[1] - 1) * size, lambda old: bytes(len(old)), size, found_by)) for one in pages(path)]


def with_bytes(path: str, at: int, change: Callable[[bytes], bytes], count: int, look: Callable[[str], Any]) -> Any:
    """What is seen while some bytes of the file are others; they are put back."""
    with open(path, "r+b") as file:
        file.seek(at)
        old = file.read(count)
        file.seek(at)
        file.write(change(old))
    try:
        return look(path)
    finally:
        for end in ("-wal", "-shm"):
            if os.path.exists(path + end):
                os.unlink(path + end)
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(old)


def _show(name: str, cases: list[Case]) -> dict[str, Any]:
    rows = []
    for tree in sorted({case.cell.tree for case in cases}):
        mine = [case for case in cases if case.cell.tree == tree]
        by = Counter(one for case in mine for one in case.found)
        felt = [case for case in mine if case.felt]
        most = ", ".join(f"{one} {count}" for one, count in by.most_common(4))
        rows.append([tree, len(mine), len(felt), sum(bool(case.found) for case in felt), most])
    by = Counter(one for case in cases for one in case.found)
    felt, hit = sum(case.felt for case in cases), sum(bool(case.found) for case in cases)
    print(
        f"\n{name}: {hit} of {felt} found ({100 * hit / max(1, felt):.2f} %); {len(cases) - felt} more changed nothing that is read\n"
    )
    print(table(["b-tree", "flips", "felt", "found", "by"], rows))
    print("by check:", ", ".join(f"{one} {count}" for one, count in by.most_common()))
    return {"flips": len(cases), "felt": felt, "found": hit, "trees": {row[0]: row[1:] for row in rows}}


def _show_both(name: str, cases: list[Case]) -> dict[str, Any]:
    shown = {
        "tables": _show(f"{name}, tables", [case for case in cases if not case.cell.index]),
        "indexes": _show(f"{name}, indexes", [case for case in cases if case.cell.index]),
    }
    for case in cases:
        if case.missed:
            print(
                f"missed: {case.cell.tree}, byte {case.at - case.cell.start} of {case.cell.end - case.cell.start}, bit {case.bit}"
            )
    return shown


def main() -> int:
    """Make the store, damage it, print the tables; 1 where a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=2000)
    parser.add_argument("--memories", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-pages", action="store_true", help="do not zero pages")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.db")
        make(path, options.memories, options.seed)
        size = os.path.getsize(path)
        begun = time.monotonic()
        assert found_by(path) == [], found_by(path)
        say(f"{size / 1e6:.1f} MB, {(time.monotonic() - begun) * 1000:.0f} ms a check")
        result = {
            "by size": _show_both("by size", flips(path, options.flips, options.seed, alike=False)),
            "alike": _show_both("alike from every b-tree", flips(path, options.flips, options.seed)),
        }
        blank = [] if options.no_pages else zeroed(path)
        seen = sum(bool(found) for *_, found in blank)
        print(f"\nzeroed pages: {seen} of {len(blank)} found")
    result["zeroed"] = {"pages": len(blank), "found": seen}  # type: ignore[assignment]
    if options.json:
        write_json(options.json, report("damage", options.seed, (), result))
    live = result["by size"]["tables"]
    return 0 if live["found"] >= 0.99 * live["felt"] and seen == len(blank) else 1


if __name__ == "__main__":
    sys.exit(main())
