"""What the adapters share, without the programs that they are for: values under keys, and files."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.doors.backends.collection import Collection, Put, words_of
from hardwon.doors.backends.files import Files
from hardwon.errors import HardwonError, InvalidInput, NotFound
from hardwon.types import Draft
from tests.hostile import contents

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hardwon.Repository]:
    """One memory for the module, outside git."""
    place = tmp_path_factory.mktemp("backends")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARDWON_HOME", str(place / "home"))
        (place / "folder").mkdir()
        with hardwon.open(str(place / "folder"), make=True) as memory:
            yield memory


@pytest.fixture
def values(store: hardwon.Repository, request: pytest.FixtureRequest) -> Collection:
    """Values that no other test sees."""
    return Collection(store, f"test-{abs(hash(request.node.nodeid)) % 10**9}")


@pytest.fixture
def files(store: hardwon.Repository) -> Iterator[Files]:
    made = Files(store)
    yield made
    made.clear()


# Values


def test_a_value_is_found_by_its_key_and_its_words(values: Collection) -> None:
    values.put([Put(("users", "ann"), "tea", {"likes": "green tea", "cups": 3}, "likes green tea")])
    entry = values.get(("users", "ann"), "tea")
    assert entry is not None
    assert (entry.namespace, entry.key, entry.value) == (("users", "ann"), "tea", {"likes": "green tea", "cups": 3})
    for prefix in ((), ("users",), ("users", "ann")):
        (found,) = values.search(prefix, "which tea is liked?", 10)
        assert found.value == entry.value
        assert 0 < (found.score or 0) <= 1
        assert [one.key for one in values.listed(prefix)] == ["tea"]
    for prefix in (("users", "an"), ("user",), ("ann",), ("users", "ann", "tea")):
        assert values.search(prefix, "tea", 10) == values.listed(prefix) == []
    assert values.get(("users",), "ann") is None
    assert values.get(("users", "ann"), "coffee") is None


def test_a_key_that_is_put_again_is_replaced_and_keeps_its_versions(values: Collection, store: hardwon.Repository) -> None:
    for cups in (1, 2, 2, 3):
        values.put([Put(("a",), "tea", {"cups": cups})])
    entry = values.get(("a",), "tea")
    assert entry is not None and entry.value == {"cups": 3}
    assert len(values.listed(("a",))) == 1
    assert store.show(entry.memory).memory.version == 3


def test_what_is_deleted_is_gone_and_may_come_again(values: Collection) -> None:
    values.put(Put(("a",), str(number), number, f"number {number}") for number in range(3))
    assert values.delete([(("a",), "1"), (("a",), "9")]) == 1
    assert [entry.value for entry in values.listed(("a",))] == [0, 2]
    assert values.was_deleted(("a",), "1") and not values.was_deleted(("a",), "0") and not values.was_deleted(("a",), "9")
    assert values.search(("a",), "number 1", 10) == [] or all(one.value != 1 for one in values.search(("a",), "number 1", 10))
    values.put([Put(("a",), "1", 7)])
    entry = values.get(("a",), "1")
    assert entry is not None and entry.value == 7


def test_two_interfaces_and_two_keys_are_never_the_same(store: hardwon.Repository, values: Collection) -> None:
    other = Collection(store, "other")
    for namespace, key in ((("a", "b"), "c"), (("a",), "b"), ((), "a"), (("a/b",), "c"), (("a", "b", "c"), "d")):
        values.put([Put(namespace, key, [*namespace, key])])
    assert other.listed() == []
    assert [entry.value for entry in values.listed()] == [["a", "b", "c"], ["a", "b"], ["a"], ["a/b", "c"], ["a", "b", "c", "d"]]
    assert [entry.key for entry in values.listed(("a", "b"))] == ["c", "d"]


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@example("\x1b", ["\u200b"], "\x1b")
@example("", [" "], "\n")
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(_JSON, st.lists(st.text(min_size=1, max_size=10), max_size=3), st.text(min_size=1, max_size=20))
def test_any_json_comes_back_as_it_was(values: Collection, value: Any, namespace: list[str], key: str) -> None:
    values.put([Put(tuple(namespace), key, value, words_of(value))])
    entry = values.get(tuple(namespace), key)
    assert entry is not None
    assert entry.value == value
    assert (entry.namespace, entry.key) == (tuple(namespace), key)


@pytest.mark.parametrize("value", [{1: 2}, {"a": float("nan")}, {"a": {1, 2}}, b"bytes", object(), {"a": "x" * 60_000}])
def test_what_is_no_json_or_too_long_is_refused_and_nothing_of_its_batch_is_kept(values: Collection, value: Any) -> None:
    with pytest.raises(InvalidInput):
        values.put([Put((), "good", 1), Put((), "bad", value)])
    assert values.listed() == []


def test_secrets_do_not_get_in_and_what_is_left_is_json(store: hardwon.Repository, values: Collection) -> None:
    secret = "hunter2secret9"
    values.put(
        [
            Put(
                (),
                "a",
                {"password": secret, "text": f'she said "password={secret}"', "deep": [{"db_password": secret}]},
                f"password={secret}",
            )
        ]
    )
    entry = values.get((), "a")
    assert entry is not None
    assert entry.value.keys() == {"password", "text", "deep"}
    held = b"".join(contents(Path(store.home)).values())
    assert secret.encode() not in held


def test_values_of_programs_are_claims(store: hardwon.Repository, values: Collection) -> None:
    values.put([Put((), "a", 1, "a claim of a program")])
    (entry,) = values.listed()
    memory = store.show(entry.memory).memory
    assert (memory.origin.who, memory.trust) == ("agent", "claimed")


def test_several_threads_may_put(values: Collection) -> None:
    threads = [threading.Thread(target=values.put, args=([Put(("t",), str(number), number)],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(entry.value for entry in values.listed(("t",))) == list(range(8))


# Files


def test_a_file_is_made_seen_changed_moved_and_deleted(files: Files) -> None:
    assert files.view("/memories") == "/memories is empty"
    files.create("/memories/notes.md", "one\ntwo\nthree\n")
    assert files.view("/memories/notes.md") == "/memories/notes.md:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t"
    assert files.view("/memories/notes.md", [2, 3]).splitlines()[1:] == ["     2\ttwo", "     3\tthree"]
    assert files.view("/memories/notes.md", [3, -1]).splitlines()[1:] == ["     3\tthree", "     4\t"]
    said = files.str_replace("/memories/notes.md", "two", "zwei\nund")
    assert "     2\tzwei" in said and "     3\tund" in said
    files.insert("/memories/notes.md", 0, "zero\n")
    files.insert("/memories/notes.md", 5, "end")
    assert [line[7:] for line in files.view("/memories/notes.md").splitlines()[1:]] == [
        "zero",
        "one",
        "zwei",
        "und",
        "three",
        "end",
        "",
    ]
    files.rename("/memories/notes.md", "/memories/kept/notes.md")
    assert "/memories/kept/notes.md" in files.view("/memories")
    with pytest.raises(NotFound):
        files.view("/memories/notes.md")
    files.delete("/memories/kept")
    assert files.view("/memories") == "/memories is empty"


def test_a_file_holds_no_others_however_they_come(files: Files) -> None:
    for name in ("a.md", "b.md", "d/e.md"):
        files.create(f"/memories/{name}", "text")
    ways = [
        lambda: files.create("/memories/b.md/c", "text"), lambda: files.rename("/memories/a.md", "/memories/b.md/c"),
        lambda: files.rename("/memories/d", "/memories/b.md/d/e"),
    ]  # fmt: skip
    for way in ways:
        with pytest.raises(InvalidInput, match=r"b\.md is a file"):
            way()
    assert [line.split("\t")[1] for line in files.view("/memories").splitlines()[1:]] == [
        "/memories/a.md", "/memories/b.md", "/memories/d/", "/memories/d/e.md",
    ]  # fmt: skip


def test_what_only_has_a_collections_tag_is_no_value(values: Collection, store: hardwon.Repository) -> None:
    values.put([Put((), "k", "v", "some words")])
    for metadata in ("", "{}", '{"namespace": 1, "key": "k", "value": 1}'):
        store.engine.record(Draft(f"some words {len(metadata)}", tags=(values._tag(()),), metadata=metadata), store.scope)
    assert [entry.value for entry in values.listed()] == ["v"]
    assert {entry.value for entry in values.search((), "some words", 9)} == {"v"}


def test_a_folder_tells_two_levels_and_sizes(files: Files) -> None:
    for name in ("a.md", "b/c.md", "b/d/e.md", "b/d/f.md"):
        files.create(f"/memories/{name}", "é" * 5)
    assert files.view("/memories").splitlines()[1:] == [
        "10\t/memories/a.md",
        "30\t/memories/b/",
        "10\t/memories/b/c.md",
        "20\t/memories/b/d/",
    ]
    assert files.view("/memories/b/").splitlines()[1:] == [
        "10\t/memories/b/c.md", "20\t/memories/b/d/", "10\t/memories/b/d/e.md", "10\t/memories/b/d/f.md",
    ]  # fmt: skip
    files.rename("/memories/b/d", "/memories/x")
    assert "/memories/x/e.md" in files.view("/memories/x")
    assert files.clear() == "4 files were deleted"


def test_what_cannot_be_is_told_and_changes_nothing(files: Files) -> None:
    files.create("/memories/notes.md", "a\nb\na\n")
    files.create("/memories/b/c.md", "x")
    before = files.view("/memories"), files.view("/memories/notes.md")
    for work in (
        lambda: files.create("/memories/notes.md", "other"), lambda: files.create("/memories/b", "a folder"),
        lambda: files.create("/memories/notes.md/below", "x"), lambda: files.create("/memories", "x"),
        lambda: files.str_replace("/memories/notes.md", "a", "z"), lambda: files.str_replace("/memories/notes.md", "none", "z"),
        lambda: files.str_replace("/memories/notes.md", "", "z"), lambda: files.str_replace("/memories/b", "a", "z"),
        lambda: files.insert("/memories/notes.md", 4, "x"), lambda: files.insert("/memories/notes.md", -1, "x"),
        lambda: files.insert("/memories/none.md", 0, "x"), lambda: files.delete("/memories"), lambda: files.delete("/memories/none"),
        lambda: files.rename("/memories/none", "/memories/y"), lambda: files.rename("/memories/b", "/memories/b/d"),
        lambda: files.rename("/memories/b", "/memories/notes.md"), lambda: files.rename("/memories", "/memories/y"),
        lambda: files.view("/memories/notes.md", [0, 2]), lambda: files.view("/memories/notes.md", [3, 2]),
        lambda: files.view("/memories/notes.md", [1]), lambda: files.create("/memories/long.md", "x" * 60_000),
    ):  # fmt: skip
        with pytest.raises(HardwonError):
            work()
    assert (files.view("/memories"), files.view("/memories/notes.md")) == before


@pytest.mark.parametrize(
    "path",
    ["", "/", "notes.md", "/etc/passwd", "/memoriesx/a", "memories/a", "/memories/../etc/passwd", "/memories/a/../../b", "/memories/./a",
     "/memories//a", "/memories/%2e%2e/a", "/memories/a%2fb", "/memories/..%2f", "/memories\\..\\a", "/memories/a\\b", "/memories/a\nb",
     "/memories/a\0", "/memories/" + "x" * 201, "/memories" + "/x" * 30, "//memories/a"],
)  # fmt: skip
def test_no_path_leads_out(files: Files, path: str) -> None:
    for work in (
        lambda: files.view(path),
        lambda: files.create(path, "x"),
        lambda: files.delete(path),
        lambda: files.rename("/memories/a", path),
    ):
        with pytest.raises(InvalidInput):
            work()


def test_each_change_of_a_file_is_a_version(files: Files, store: hardwon.Repository) -> None:
    files.create("/memories/deploy.md", "the deploy runs on Fridays")
    files.str_replace("/memories/deploy.md", "Fridays", "Mondays")
    (hit,) = store.recall("when does the deploy run?", kinds=["fact"], tags=["memory-tool"]).hits
    assert [version.content.detail or version.content.text for version in store.history(hit.memory.id).versions] == [
        "memory-tool: /memories/deploy.md the deploy runs on Fridays", "memory-tool: /memories/deploy.md the deploy runs on Mondays",
    ]  # fmt: skip
