"""Vectors of memories: making them, asking by them, and comparing the ways to search them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from functools import lru_cache

from hardwon import settings as configuration
from hardwon.errors import InvalidInput, NotFound, StoreError, Unavailable
from hardwon.search.embed import BUNDLED_MODEL, digest, load, require_numpy, text_of
from hardwon.store import files
from hardwon.types import STATUSES, Filter, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hardwon.engine.core import Engine
    from hardwon.search.dense import Dense
    from hardwon.search.embed import Embedder
    from hardwon.settings import Settings
    from hardwon.store.vectors import VectorIndex
    from hardwon.types import Memory, Query

# What people and agents wrote; history and documents are embedded when asked for: 10,000 of them take CPU minutes.
_NOTES = Filter(
    derived=False,
    statuses=tuple(status for status in STATUSES if status not in ("rejected", "forgotten", "quarantined")),
)
_HISTORY = _NOTES.replace(derived=True)
# Memories a transaction; each is written in milliseconds, what takes time is embedding them before.
_SLICE = 64
_LISTED = 2048
# Vectors of other models that go in one transaction.
_SUPERSEDED = 1000
# What a question embeds on its way, and how long it waits for the writers' lock to keep it (seconds).
_CATCH_UP, _CATCH_UP_WAIT = 64, 2.0


class EmbedReport(Value):
    """What ``reembed`` did: ``embedded`` now with ``model``; ``waiting`` notes and ``waiting_history`` that have no vector yet;
    ``superseded`` vectors of other models that were removed."""

    model: str
    embedded: int
    waiting: int
    waiting_history: int
    superseded: int = 0


class ModeReport(Value):
    """One way to search, measured: ``recall`` is the share of the exact first ``k`` that it found (0 to 1); ``p50`` and ``p95``
    milliseconds of wall time a question, opening the index included; ``build`` seconds; ``disk`` bytes of what is derived.
    ``failed`` says why it could not be measured, else ""."""

    mode: str
    recall: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    build: float = 0.0
    disk: int = 0
    failed: str = ""


class BenchReport(Value):
    """A comparison on the store's own vectors: how many of them, of which model, asked how."""

    model: str
    vectors: int
    dimensions: int
    k: int
    queries: int
    seed: int
    modes: tuple[ModeReport, ...]


@lru_cache(maxsize=1)
def _loaded(options: Settings) -> Embedder:
    """One model a process: loading takes half a second and 100 MB."""
    return load(options)


def embedder(options: Settings | None = None) -> Embedder:
    """The embedder that the settings mean (this process's by default); Unavailable says what is missing."""
    chosen = options or configuration.load()
    return _loaded(
        configuration.Settings("", embed_model=chosen.embed_model, embed_url=chosen.embed_url, embed_name=chosen.embed_name)
    )


def waiting(engine: Engine, options: Settings | None = None) -> tuple[int, int]:
    """How many notes, and how many changes and documents, have no vector of the model in use; loads no bundled model."""
    chosen = options or configuration.load()
    model = embedder(chosen).model if chosen.embed_model or chosen.embed_url else BUNDLED_MODEL
    return _waiting(engine, model)


def _waiting(engine: Engine, model: str) -> tuple[int, int]:
    with engine.store.read() as reader:
        return reader.count_without_vector(model, _NOTES), reader.count_without_vector(model, _HISTORY)


def reembed(
    engine: Engine,
    history: bool = False,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    options: Settings | None = None,
) -> EmbedReport:
    """Embed what has no vector of the model in use: notes, newest first, then history if asked for; at most ``limit``.

    Each slice is kept when it is done, so that an interrupt loses at most one; ``progress(done, of)`` after each. Vectors of other
    models go once nothing waits any more. Unavailable without an embedder.
    """
    chosen = embedder(options)
    notes, older = _waiting(engine, chosen.model)
    total = notes + older * history
    total = total if limit is None else min(limit, total)
    done = embedded = 0
    for where in (_NOTES, _HISTORY)[: 1 + history]:
        for memories in _slices(engine, chosen.model, where, total - done):
            embedded += _embed(engine, chosen, memories, engine.wait)
            done += len(memories)
            if progress:
                progress(done, total)
    notes, older = _waiting(engine, chosen.model)
    superseded = 0 if notes or (history and older) else _supersede(engine, chosen.model)
    return EmbedReport(chosen.model, embedded, notes, older, superseded)


def _slices(engine: Engine, model: str, where: Filter, limit: int) -> Iterator[list[Memory]]:
    """What waits, newest first, listed anew after some thousand; each at most once, whatever others do meanwhile."""
    seen: set[int] = set()
    while len(seen) < limit:
        with engine.store.read() as reader:
            listed = reader.keys_without_vector(model, where, len(seen) + _LISTED)
        keys = [key for key in listed if key not in seen][: limit - len(seen)]
        if not keys:
            return
        seen.update(keys)
        for begin in range(0, len(keys), _SLICE):
            with engine.store.read() as reader:
                memories = reader.memories(keys[begin : begin + _SLICE])
            yield memories


def _embed(engine: Engine, chosen: Embedder, memories: Sequence[Memory], wait: float) -> int:
    """Embed outside of any transaction, keep in one; what was revised or removed meanwhile waits for the next time."""
    texts = {memory.id: text_of(memory) for memory in memories}
    vectors = dict(zip(texts, chosen.embed(list(texts.values())), strict=True))
    with engine.store.write(wait) as writer:
        same = [memory.id for memory in writer.get(list(texts)) if text_of(memory) == texts[memory.id]]
        writer.put_vectors(chosen.model, [(identifier, digest(texts[identifier]), vectors[identifier]) for identifier in same])
    return len(same)


def _supersede(engine: Engine, model: str) -> int:
    gone = 0
    while True:
        with engine.write() as writer:
            some = writer.supersede_vectors(model, _SUPERSEDED)
        if not some:
            break
        gone += some
    if gone:
        discard(engine, unused=True)
    return gone


def discard(engine: Engine, *, unused: bool = False) -> None:
    """Remove the indexes beside the store; with ``unused`` only those of models without vectors. They are made anew when asked.

    To be called after an erasure: sign bits of what was erased lie in them until then.
    """
    from hardwon.store.beside import beside, is_beside

    path = engine.store.path
    if not path:
        return
    with engine.store.read() as reader:
        kept = tuple(beside(path, model, "") for model in reader.vector_models()) if unused else ()
    folder = os.path.dirname(path)
    for name in os.listdir(folder):
        whole = os.path.join(folder, name)
        if is_beside(path, name) and not (kept and whole.startswith(kept)):
            _remove(whole)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    files.disk.unlink(path)


def dense(engine: Engine, query: Query, options: Settings | None = None) -> tuple[Dense | None, list[str]]:
    """The question's vector with an index to look in, for ``rank``; and what could not take part, one line each, a list that
    grows while the question is answered.

    To be called before the view is opened. Embeds what waits first, a little of it. None, with a line, where there is no embedder;
    None without one where the question has no words.
    """
    chosen = options or configuration.load()
    try:
        return _dense(engine, query, chosen)
    except Unavailable as error:
        return None, [f"asked without vectors: {error.message} ({error.remedy})"]


def _dense(engine: Engine, query: Query, options: Settings) -> tuple[Dense | None, list[str]]:
    from hardwon.intake.redact import redact

    text = redact(query.text)[0].strip()
    if not text:
        return None, []
    chosen = embedder(options)  # tells what is missing; only then what needs it is loaded
    from hardwon.search.dense import Dense

    (vector,) = chosen.embed([text])
    told = _catch_up(engine, chosen)
    with engine.store.read() as reader:
        population = reader.vector_models().get(chosen.model, 0)
    index, why = _index_or_flat(engine, chosen.model, population, options.vectors)
    told += why
    return Dense(chosen.model, vector, index, population, told), told


def _catch_up(engine: Engine, chosen: Embedder) -> list[str]:
    """Embed the newest notes that wait; whatever hinders it, the question is answered."""
    try:
        for memories in _slices(engine, chosen.model, _NOTES, _CATCH_UP):
            _embed(engine, chosen, memories, min(_CATCH_UP_WAIT, engine.wait))
    except StoreError as error:
        return [f"new notes were not embedded: {error.message}"]
    notes, _ = _waiting(engine, chosen.model)
    return [f"{notes} notes wait to be embedded: run `hardwon reembed`"] if notes else []


def _index_or_flat(engine: Engine, model: str, population: int, setting: str) -> tuple[VectorIndex, list[str]]:
    from hardwon.store.vectors import FlatIndex

    try:
        # Beside an encrypted store nothing is derived: sign bits and clusters tell of the words. All vectors are compared instead.
        return index("" if engine.recipient else engine.store.path, model, population, setting, wait=engine.wait), []
    except Unavailable as error:
        return FlatIndex(model), [f"{setting} cannot be used, all vectors were compared: {error.message} ({error.remedy})"]


def index(
    path: str, model: str, population: int, setting: str, exact_limit: int | None = None, wait: float = 30.0
) -> VectorIndex:
    """The index that a setting means (settings.VECTOR_INDEXES), for so many vectors; Unavailable when its package is missing.

    Derived files lie beside ``path``; without one only the flat index is possible. ``exact_limit``, ``wait``: see ``SignIndex``.
    """
    from hardwon.store.vectors import EXACT_LIMIT, FlatIndex

    limit = EXACT_LIMIT if exact_limit is None else exact_limit
    name, _, mode = setting.partition(":")
    if not path or name == "flat" or (name == "auto" and population <= limit):
        return FlatIndex(model)
    if name == "srvdb":
        from hardwon.store.srvdb import SrvdbIndex

        return SrvdbIndex(model, path, mode or "flat", limit)
    from hardwon.store.sidecar import SignIndex

    return SignIndex(model, path, limit, wait)


# Comparison


def bench(
    engine: Engine,
    modes: Sequence[str] = ("flat", "signs"),
    k: int = 10,
    queries: int = 100,
    seed: int = 1,
    options: Settings | None = None,
) -> BenchReport:
    """Compare ways to search with the exact one, on the store's own vectors, with derived files in a folder of its own.

    Questions are vectors of the store turned by a random angle (cosine .8), for what is asked resembles what is kept without being
    it. NotFound where no memory has a vector, Unavailable without numpy.
    """
    if k < 1 or queries < 1:
        raise InvalidInput("a comparison needs a question and a hit", field="k" if k < 1 else "queries", remedy="give 1 and more")
    require_numpy()
    with engine.store.read() as reader:
        counts = reader.vector_models()
        model = _benched(counts, options or configuration.load())
        asked = _turned(reader.vectors(model, Filter()), counts[model], queries, seed)
    if engine.recipient and set(modes) - {"flat"}:
        raise InvalidInput(
            "this memory is encrypted: nothing is derived beside it", field="mode", remedy="only flat can be measured"
        )
    found = [_measured(engine, model, counts[model], mode, asked, k) for mode in dict.fromkeys(("flat", *modes))]
    truth = found[0][1]
    reports = tuple(report.replace(recall=_recall(truth, hits)) for report, hits in found)
    return BenchReport(model, counts[model], len(asked[0]) // 4, k, len(asked), seed, reports)


def _benched(counts: dict[str, int], options: Settings) -> str:
    """The space to compare in: the bundled model's, else the one with the most vectors."""
    if not counts:
        raise NotFound("no memory has a vector", remedy="run `hardwon reembed` first")
    own = not options.embed_model and not options.embed_url and BUNDLED_MODEL in counts
    return BUNDLED_MODEL if own else max(counts, key=lambda model: (counts[model], model))


def _turned(rows: Iterator[tuple[int, bytes]], count: int, queries: int, seed: int) -> list[bytes]:
    """``queries`` of the vectors (all, where there are fewer), each turned to a cosine of .8."""
    import numpy as np

    source = np.random.default_rng(seed)
    chosen = set(source.choice(count, min(queries, count), replace=False).tolist())
    turned = []
    for vector in (np.frombuffer(raw, "<f4") for place, (_, raw) in enumerate(rows) if place in chosen):
        noise = source.normal(size=len(vector))
        noise -= (noise @ vector) * vector
        turned.append((0.8 * vector + 0.6 * noise / np.linalg.norm(noise)).astype("<f4").tobytes())
    return turned


def _measured(
    engine: Engine, model: str, population: int, mode: str, asked: Sequence[bytes], k: int
) -> tuple[ModeReport, list[set[int]]]:
    with tempfile.TemporaryDirectory() as folder, engine.store.read() as reader:
        try:
            chosen = index(os.path.join(folder, "store"), model, population, mode, exact_limit=0 if mode != "auto" else None)
            begun = time.perf_counter()
            chosen.refresh(reader, len(asked[0]) // 4)
            built = time.perf_counter() - begun
            hits, times = [], []
            for vector in asked:
                begun = time.perf_counter()
                hits.append({key for key, _ in chosen.nearest(reader, vector, Filter(), k)})
                times.append(1000 * (time.perf_counter() - begun))
        except (Unavailable, StoreError) as error:
            return ModeReport(mode, failed=error.message), []
        times.sort()
        half, most = times[len(times) // 2], times[min(len(times) - 1, int(0.95 * len(times)))]
        return ModeReport(mode, 0.0, half, most, built if chosen.name != "flat" else 0.0, _size(folder)), hits


def _recall(truth: Sequence[set[int]], hits: Sequence[set[int]]) -> float:
    """The mean share of the exact hits that were found."""
    if not hits:
        return 0.0
    return sum(len(exact & found) / max(1, len(exact)) for exact, found in zip(truth, hits, strict=True)) / len(hits)


def _size(folder: str) -> int:
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(folder) for name in names)
