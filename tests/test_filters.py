"""Filters: two thousand random combinations against a plain model, on both stores; unknown values name what there is."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.engine.core import Engine
from hardwon.engine.opening import prepare
from hardwon.errors import InvalidInput
from hardwon.search import terms
from hardwon.store.ids import uuid5, uuid7
from hardwon.store.memory import MemoryStore
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Change, Filter, Memory, Origin, Query, Scope

if TYPE_CHECKING:
    from pathlib import Path

    from hardwon.store.base import Store

NOW = 1_800_000_000_000
DAY = 86_400_000
COMBINATIONS = int(2000 * float(os.environ.get("HARDWON_SCALE", "1")))
FOLDERS = ("src", "src/net", "src/network", "docs", "tests/unit", "")
NAMES = ("a.py", "b.PY", "c.rs", "Makefile", "d.tar.gz", "ä.py", "e%f.py", "g_h.c", ".bashrc")
WORDS = ("retry", "upload", "session", "cache", "token", "parser")
POOL: dict[str, tuple[Any, ...]] = {
    "kinds": ("lesson", "decision", "fact", "change", "rule"),
    "outcomes": ("failed", "worked", "open"),
    "statuses": ("active", "resolved", "inactive", "rejected", "forgotten"),
    "trusts": ("confirmed", "history", "claimed", "imported"),
    "tags": ("auth", "ops", "été", 'quo"te', "100%"),
    "branches": ("main", "feature/x", "feature_x"),
    "extensions": (".py", "PY", "gz", "c", ".rs"),
    "paths": ("src", "src/net", "src/net/", "docs/a.py", "tests", "e%f.py"),
    "authors": ("ann", "ANN", "Björn", "ö", "Lee_", "%"),
    "session": ("s1", "s2"),
    "client": ("codex", "gemini"),
    "who": ("person", "agent", "history"),
}
AUTHORS = ("Ann Smith", "Björn", "Lee_Roy", "")


def paths_of(memory: Memory, change: Change | None) -> list[str]:
    return [anchor.path for anchor in memory.anchors] + list(change.files if change else ())


def ascii_lower(text: str) -> str:
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in text)


def model(memory: Memory, change: Change | None, where: Filter) -> bool:
    """What a filter means, written down once more and plainly."""
    files = paths_of(memory, change)
    tests = [
        not where.ids or memory.id in where.ids,
        where.derived is None or where.derived == (memory.number is None),
        not where.kinds or memory.kind in where.kinds,
        not where.outcomes or memory.outcome in where.outcomes,
        not where.statuses or memory.status in where.statuses,
        not where.trusts or memory.trust in where.trusts,
        set(where.tags) <= set(memory.tags),
        not where.branches or memory.branch in where.branches,
        not where.session or memory.origin.session == where.session,
        not where.client or memory.origin.client == where.client,
        where.who is None or memory.origin.who == where.who,
        where.since is None or memory.created_at >= where.since,
        where.before is None or memory.created_at < where.before,
    ]
    if where.extensions:
        endings = ["." + ascii_lower(one).lstrip(".") for one in where.extensions]
        tests.append(any(ascii_lower(path)[-len(ending) :] == ending for path in files for ending in endings))
    if where.paths:
        folders = [one.rstrip("/") for one in where.paths]
        tests.append(any(path == folder or path[: len(folder) + 1] == folder + "/" for path in files for folder in folders))
    if where.authors:
        tests.append(any(ascii_lower(one) in ascii_lower(memory.author) for one in where.authors))
    if where.alive_at is not None:
        tests.append(memory.expires_at is None or memory.expires_at > where.alive_at)
        tests.append(memory.valid_until is None or memory.valid_until > where.alive_at)
    return all(tests)


def random_memory(rng: random.Random, number: int) -> tuple[Memory, Change | None]:
    files = tuple(
        "/".join(part for part in (rng.choice(FOLDERS), rng.choice(NAMES)) if part) for _ in range(rng.choice((0, 1, 1, 2, 3)))
    )
    kind = rng.choice(POOL["kinds"])
    at = NOW - rng.randrange(0, 100) * DAY
    base = Memory(
        id=uuid7(at, rng.randbytes(10)), number=number, kind=kind, outcome=rng.choice((None, *POOL["outcomes"])),
        text=" ".join(rng.choices(WORDS, k=3)), status=rng.choice(POOL["statuses"]), trust=rng.choice(POOL["trusts"]),
        tags=tuple(rng.sample(POOL["tags"], rng.randrange(0, 4))), author=rng.choice(AUTHORS), branch=rng.choice(("", *POOL["branches"])),
        origin=Origin(rng.choice(POOL["who"]), rng.choice(("", *POOL["client"])), rng.choice(("", *POOL["session"]))),
        created_at=at, updated_at=at, expires_at=rng.choice((None, None, NOW - DAY, NOW + DAY)),
        valid_until=rng.choice((None, None, None, NOW - DAY, NOW + DAY)),
    )  # fmt: skip
    if kind != "change":
        return base.replace(anchors=tuple(Anchor(path, rng.choice(("", "A.run"))) for path in dict.fromkeys(files))), None
    sha = rng.randbytes(20).hex()
    made = base.replace(id=uuid5("0" * 32, sha), number=None, commit=sha)
    return made, Change(sha, at, made.text, files=tuple(dict.fromkeys(files)))


def filled(store: Store, rows: list[tuple[Memory, Change | None]]) -> None:
    prepare(store, "0" * 8 + "-0000-0000-0000-" + "0" * 12, NOW, lambda n: b"x" * n)
    with store.write() as writer:
        for memory, change in rows:
            if change is not None:
                writer.add_change(memory, change, terms.of_change(change))
            else:
                writer.put(memory, b"", terms.of_memory(memory))


def random_filter(rng: random.Random, rows: list[tuple[Memory, Change | None]]) -> Filter:
    chosen: dict[str, Any] = {}
    for field in rng.sample(sorted(POOL), rng.choice((1, 1, 2, 2, 3, 4, 6))):
        single = field in ("session", "client", "who")
        chosen[field] = rng.choice(POOL[field]) if single else tuple(rng.sample(POOL[field], rng.choice((1, 1, 2))))
    if rng.random() < 0.2:
        chosen["ids"] = tuple(memory.id for memory, _ in rng.sample(rows, 40))
    if rng.random() < 0.2:
        chosen["derived"] = rng.random() < 0.3
    for field in ("since", "before", "alive_at"):
        if rng.random() < 0.2:
            chosen[field] = NOW - rng.randrange(-1, 100) * DAY
    return Filter(**chosen)


@pytest.fixture(scope="module")
def rows() -> list[tuple[Memory, Change | None]]:
    rng = random.Random(7)
    return [random_memory(rng, number) for number in range(1, 401)]


@pytest.fixture(scope="module", params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, rows: Any) -> Store:
    path: Path = tmp_path_factory.mktemp("filters") / "a.db"
    made: Store = SqliteStore(str(path)) if request.param == "sqlite" else MemoryStore()
    filled(made, rows)
    return made


@pytest.mark.parametrize("share", [0.2, pytest.param(1.0, marks=pytest.mark.slow)])
def test_random_combinations_mean_what_they_say(store: Store, rows: list[tuple[Memory, Change | None]], share: float) -> None:
    rng = random.Random(int(11 * share))
    hit = 0
    # The real engine is what is to be proved; the one in memory is slower, and needs only to be as good a model in other tests.
    combinations = int(COMBINATIONS * share) // (1 if isinstance(store, SqliteStore) else 8)
    with store.read() as reader:
        for _ in range(combinations):
            where = random_filter(rng, rows)
            expected = [memory for memory, change in rows if model(memory, change, where)]
            expected.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
            assert [memory.id for memory in reader.find(where, -1)] == [memory.id for memory in expected], where
            assert reader.count(where) == len(expected)
            hit += bool(expected)
    assert hit > combinations / 3  # else most of them would prove nothing


@pytest.mark.slow
def test_a_question_finds_exactly_what_its_filter_lets_through(store: Store, rows: list[tuple[Memory, Change | None]]) -> None:
    rng = random.Random(13)
    engine = Engine(store, "0" * 32, clock=lambda: NOW)
    asked = 0
    for _ in range(COMBINATIONS // (10 if isinstance(store, SqliteStore) else 40)):
        where = random_filter(rng, rows).replace(alive_at=None)
        where = where.replace(authors=tuple(one for one in where.authors if one != "%"))  # nobody's name has it: an error
        word = rng.choice(WORDS)
        expected = {
            memory.id
            for memory, change in rows
            if word in memory.text and model(memory, change, where.replace(statuses=where.statuses or ("active",), alive_at=NOW))
        }
        found = engine.recall(Query(word, where=where, k=1000, budget=10**6, floor=0.0), Scope()).hits
        assert {hit.memory.id for hit in found} == expected, where
        asked += bool(expected)
    assert asked > COMBINATIONS / 200


@pytest.mark.parametrize(
    ("field", "name", "says"),
    [
        ("tags", "tag", "auth"),
        ("branches", "branch", "main"),
        ("extensions", "ext", ".py"),
        ("paths", "path", "src"),
        ("authors", "author", "Ann Smith"),
        ("kinds", "kind", "lesson"),
        ("statuses", "status", "active"),
    ],
)
def test_an_unknown_value_is_an_error_that_lists_what_there_is(store: Store, field: str, name: str, says: str) -> None:
    engine = Engine(store, "0" * 32, clock=lambda: NOW)
    with pytest.raises(InvalidInput) as error:
        engine.recall(Query("retry", where=Filter().replace(**{field: ("nowhere-to-be-found",)})), Scope())
    assert error.value.field == name
    assert says in error.value.remedy


def test_a_path_ends_at_a_border(store: Store) -> None:
    with store.read() as reader:
        for memory in reader.find(Filter(paths=("src/net",)), -1):
            change = reader.change(memory.id)
            files = [anchor.path for anchor in memory.anchors] + list(change.files if change else ())
            assert any(path.startswith("src/net/") for path in files)


def test_both_stores_list_the_same_values(tmp_path: Path, rows: list[tuple[Memory, Change | None]]) -> None:
    listed = []
    for store in (SqliteStore(str(tmp_path / "a.db")), MemoryStore()):
        filled(store, rows)
        with store.read() as reader:
            listed.append({field: reader.values(field, 100) for field in POOL if field not in ("session", "client", "who")})
    assert listed[0] == listed[1]
