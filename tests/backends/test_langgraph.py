"""The store does what LangGraph's own in-memory store does, for whatever sequence of operations."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langgraph.store.base", reason="the package langgraph-checkpoint is not installed (make backends)")

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import hardwon
from hardwon.doors.backends.langgraph import HardwonStore

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hardwon.Repository]:
    place = tmp_path_factory.mktemp("langgraph")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARDWON_HOME", str(place / "home"))
        (place / "folder").mkdir()
        with hardwon.open(str(place / "folder"), make=True) as opened:
            yield opened


@pytest.fixture
def store(memory: hardwon.Repository) -> HardwonStore:
    made = HardwonStore(memory)
    clear(made)
    return made


def clear(store: HardwonStore) -> None:
    for item in store.search((), limit=10_000):
        store.delete(item.namespace, item.key)


NAMES = st.sampled_from(["a", "b", "c"])
NAMESPACES = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
VALUES = st.dictionaries(st.sampled_from(["n", "word", "deep"]), st.integers(-3, 3) | st.sampled_from(["x", "y"]), max_size=3)
FILTERS = st.none() | st.dictionaries(
    st.sampled_from(["n", "word"]),
    st.sampled_from(["x", 1, {"$eq": 1}, {"$ne": 1}]),
    max_size=2,
)
CONDITIONS = st.none() | st.lists(
    st.builds(
        MatchCondition, st.sampled_from(["prefix", "suffix"]), st.lists(NAMES | st.just("*"), min_size=1, max_size=2).map(tuple)
    ),
    max_size=2,
).map(tuple)
OPS = st.one_of(
    st.builds(PutOp, NAMESPACES, NAMES, st.none() | VALUES, index=st.none(), ttl=st.none()),
    st.builds(GetOp, NAMESPACES, NAMES, refresh_ttl=st.just(True)),
    st.builds(
        SearchOp, st.just(()) | NAMESPACES, FILTERS, st.integers(1, 20), st.just(0), query=st.none(), refresh_ttl=st.just(True)
    ),
    st.builds(ListNamespacesOp, CONDITIONS, st.none() | st.integers(1, 3), st.just(1_000), st.just(0)),
)


def shown(result: Any) -> Any:
    if isinstance(result, list):
        return sorted((shown(one) for one in result), key=repr)
    return (result.namespace, result.key, result.value) if hasattr(result, "key") else result


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    phases=[Phase.generate],
)
@given(st.lists(st.lists(OPS, min_size=1, max_size=5), min_size=1, max_size=6))
def test_it_does_what_the_store_in_memory_does(store: HardwonStore, batches: list[list[Any]]) -> None:
    clear(store)
    own = InMemoryStore()
    for ops in batches:
        living = own.search((), limit=1_000)
        for op, mine, theirs in zip(ops, store.batch(ops), own.batch(ops), strict=True):
            if isinstance(op, ListNamespacesOp):  # theirs also names those in which something was only looked for
                assert shown(mine) == shown(holding(living).batch([op])[0]), op
            elif isinstance(op, SearchOp) and len(theirs) == op.limit:
                assert len(mine) == len(theirs)  # which of more are cut off is nobody's promise
            else:
                assert shown(mine) == shown(theirs), op


def holding(items: Any) -> InMemoryStore:
    """A store in memory with these items and no other namespaces."""
    made = InMemoryStore()
    for item in items:
        made.put(item.namespace, item.key, item.value)
    return made


def test_words_find_what_was_put_best_first(store: HardwonStore) -> None:
    store.put(("users", "ann"), "tea", {"text": "likes green tea with honey"})
    store.put(("users", "ann"), "bike", {"text": "rides a red bicycle to work", "kind": "habit"})
    store.put(("users", "bob"), "tea", {"text": "likes black tea"})
    store.put(("users", "ann"), "hidden", {"text": "likes tea in secret"}, index=False)
    store.put(("users", "ann"), "field", {"title": "coffee", "text": "tea tea tea"}, index=["title"])
    found = store.search(("users", "ann"), query="which tea?")
    assert found[0].key == "tea" and found[0].score is not None
    assert {item.key for item in found} == {"tea"}
    assert [item.key for item in store.search(("users", "ann"), query="bicycle", filter={"kind": "habit"})] == ["bike"]
    assert [item.key for item in store.search(("users", "ann"), query="coffee")] == ["field"]
    assert store.search(("nobody",), query="tea") == []
    item = store.get(("users", "ann"), "hidden")
    assert item is not None and item.value == {"text": "likes tea in secret"}
    assert item.created_at.tzinfo is not None and item.created_at <= item.updated_at


def test_comparisons_order_values(store: HardwonStore) -> None:
    for score in (1, 2, 3):
        store.put(("s",), str(score), {"score": score, "deep": {"in": score}})
    for wanted, keys in (
        ({"score": {"$gt": 1}}, "23"), ({"score": {"$gte": 2, "$lt": 3}}, "2"), ({"score": {"$lte": 1}}, "1"), ({"deep": {"in": 3}}, "3"),
        ({"none": {"$gt": 1}}, ""),
    ):  # fmt: skip
        assert "".join(item.key for item in store.search(("s",), filter=wanted)) == keys
    with pytest.raises(hardwon.HardwonError):
        store.search(("s",), filter={"score": {"$near": 1}})


def test_what_was_put_is_there_for_the_next_process(
    store: HardwonStore, memory: hardwon.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_HOME", memory.home)
    store.put(("a",), "b", {"c": 1})
    with hardwon.open(memory.engine.home.checkout.root) as again:
        item = HardwonStore(again).get(("a",), "b")
    assert item is not None and item.value == {"c": 1}


def test_it_works_without_blocking(store: HardwonStore) -> None:
    async def work() -> None:
        await asyncio.gather(*(store.aput(("many",), str(number), {"n": number}) for number in range(10)))
        assert len(await store.asearch(("many",), limit=20)) == 10
        await store.adelete(("many",), "3")
        assert await store.aget(("many",), "3") is None
        assert await store.alist_namespaces(prefix=("many",)) == [("many",)]

    asyncio.run(work())


def test_a_time_to_live_is_refused_and_not_ignored(store: HardwonStore) -> None:
    with pytest.raises(NotImplementedError):
        store.put(("a",), "b", {"c": 1}, ttl=5)
