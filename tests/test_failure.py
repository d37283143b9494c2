"""``recall --error``: a log's failures to what was learnt about them, in real repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import hardwon
from hardwon.search.same_failure import recognise, signatures
from hardwon.types import Hit, Memory
from tests.growth import repeated, takes_the_square

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result
    from tests.gitmaker import GitRepo

FILES = {
    "src/shop/cart.py": "class Cart:\n    def add(self, item):\n        self.items[item.key] = item\n\n"
    "    def total(self):\n        return sum(self.items)\n",
    "src/shop/api.py": "from shop.cart import Cart\n\n\ndef post(request):\n    Cart().add(request.item)\n",
    "lib/utils.py": "def helper():\n    return 1\n",
    "web/src/list.ts": "export function load(user) {\n  return user.id;\n}\n",
    "cmd/main.go": "package main\n\nfunc run() {\n\tpanic(1)\n}\n",
    "java/com/acme/Repo.java": "package com.acme;\n\nclass Repo {\n  void load() {\n  }\n}\n",
    "core/src/lib.rs": "pub struct Svc;\n\nimpl Svc {\n    pub fn at(&self) {}\n}\n",
}
TRACE = """Traceback (most recent call last):
  File "{root}src/shop/api.py", line 5, in post
    Cart().add(request.item)
  File "{root}src/shop/cart.py", line 3, in add
    self.items[item.key] = item
  File "/usr/lib/python3.11/site-packages/lib/utils.py", line 1, in helper
    x
{error}
"""
TOLD = "AttributeError: 'Cart' object has no attribute 'items'"


@pytest.fixture
def shop(repo: GitRepo, call: Callable[..., Result]) -> GitRepo:
    """Code in five languages, indexed, with some lessons."""
    repo.commit("Start the shop", FILES)
    repo.names["fix"] = repo.commit(
        "cart: make the items before they are used\n\nAttributeError: 'Cart' object has no attribute 'items'\n",
        {"src/shop/cart.py": FILES["src/shop/cart.py"].replace("class Cart:\n", "class Cart:\n    items = {}\n\n")},
    )
    for number in range(12):
        repo.commit(f"docs: page {number} about colours and attributes", {f"docs/{number}.md": f"# Page {number}\n"})
    made = call("init", cwd=repo.path)
    assert made.code == 0, made
    for words in (
        ("fail", "Cart.add", "items are shared by all carts", "--file", "src/shop/cart.py"),
        ("fail", "post", "requests without an item", "--file", "src/shop/api.py"),
        ("fail", "helper", "never call it twice", "--file", "lib/utils.py"),
        ("fail", "load", "users may be null", "--file", "web/src/list.ts"),
        ("fail", "run", "needs a config first", "--file", "cmd/main.go"),
        ("fail", "Repo.load", "close it afterwards", "--file", "java/com/acme/Repo.java"),
        ("fail", "Svc.at", "the index is not checked", "--file", "core/src/lib.rs"),
    ):
        assert call(*words, cwd=repo.path).code == 0
    return repo


def texts(found: Result) -> list[str]:
    assert found.code == 0, found
    return [hit["memory"]["text"] for hit in found.data["hits"]]


def scores(found: Result) -> dict[str, float]:
    return {hit["memory"]["text"]: hit["score"] for hit in found.data["hits"]}


def signals(found: Result) -> dict[str, set[str]]:
    return {hit["memory"]["text"]: {one["signal"] for one in hit["why"]} for hit in found.data["hits"]}


ROOTS = ("", "/app/", "/builds/shop/shop/", "C:\\work\\shop\\", "{here}/")
OF_LANGUAGES = [
    ("TypeError: x is null\n    at load (webpack:///./src/list.ts?1:2:10)\n    at node:internal/x:1:1\n", "users may be null"),
    ("TypeError: x is null\n    at load (/usr/src/app/web/src/list.ts:2:10)\n", "users may be null"),
    ("panic: 1\n\ngoroutine 1 [running]:\nmain.run(...)\n\t/build/cmd/main.go:4\n", "needs a config first"),
    (
        "java.io.IOException: x\n\tat java.base/java.io.A.b(A.java:1)\n\tat com.acme.Repo.load(Repo.java:4)\n",
        "close it afterwards",
    ),
    ("thread 'main' panicked at core/src/lib.rs:4:9:\nboom\n", "the index is not checked"),
]


def test_lessons_of_the_frames_come_innermost_first(shop: GitRepo, call: Callable[..., Result]) -> None:
    for root in ROOTS:
        log = TRACE.format(root=root.format(here=shop.path), error=TOLD)
        if root.startswith("C:"):
            log = log.replace("src/shop/", "src\\shop\\")
        found = call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path)
        told = texts(found)
        assert told[0] == "cart: make the items before they are used", root  # an earlier fix that names the very exception
        assert told.index("items are shared by all carts") < told.index("requests without an item")
        assert "never call it twice" not in told  # a frame of a library, though a file of ours ends alike
        assert "stack frame" in signals(found)["items are shared by all carts"]


def test_frames_of_each_language_find_their_symbol(shop: GitRepo, call: Callable[..., Result]) -> None:
    for log, lesson in OF_LANGUAGES:
        found = call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path)
        assert texts(found)[0] == lesson and "stack frame" in signals(found)[lesson], log


def test_lines_of_a_file_that_nobody_parsed_since_its_edit_mean_what_stands_there_now(
    shop: GitRepo, call: Callable[..., Result]
) -> None:
    """A frame without a function, above whose lines others came."""
    shop.write({"core/src/lib.rs": "use std::fs;\n" * 6 + FILES["core/src/lib.rs"]})
    log = "thread 'main' panicked at core/src/lib.rs:10:9:\nboom\n"
    found = call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path)
    assert "stack frame" in signals(found)["the index is not checked"]


def test_lines_that_moved_do_not_mislead(shop: GitRepo, call: Callable[..., Result]) -> None:
    log = TRACE.format(root="", error="OSError: gone").replace("line 3, in add", "line 9, in add")
    assert texts(call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path))[0] == "items are shared by all carts"


def test_the_very_failure_comes_first_whatever_its_values(shop: GitRepo, call: Callable[..., Result]) -> None:
    before = TRACE.format(root="/srv/", error="ValueError: invalid literal for int() with base 10: 'abc'")
    again = TRACE.format(root="/app/", error="ValueError: invalid literal for int() with base 10: 'x-99'").replace(
        "line 3", "line 5"
    )
    call("record", "--kind", "attempt", "--outcome", "worked", "Strip the price first", "-d", before, cwd=shop.path)
    call("record", "Prices are an int, never an invalid literal of a float", cwd=shop.path)
    found = call("recall", "--error", "-", "--json", stdin=again, cwd=shop.path)
    assert texts(found)[0] == "Strip the price first" and "same failure" in signals(found)["Strip the price first"]
    other = again.replace("ValueError: invalid literal for int()", "ValueError: too many values")
    assert "same failure" not in signals(call("recall", "--error", "-", "--json", stdin=other, cwd=shop.path)).get(
        "Strip the price first", set()
    )


def test_a_line_of_the_message_is_enough_to_know_it(shop: GitRepo, call: Callable[..., Result]) -> None:
    call("fail", "Shop.open", "KeyError: 'price'", "-d", "the feed lacks it on Sundays", cwd=shop.path)
    log = TRACE.format(root="", error="KeyError: 'price'")
    found = call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path)
    assert texts(found)[0] == "KeyError: 'price'" and "same failure" in signals(found)["KeyError: 'price'"]


def test_the_root_cause_counts_first(shop: GitRepo, call: Callable[..., Result]) -> None:
    log = (
        'Traceback (most recent call last):\n  File "src/shop/cart.py", line 3, in add\nKeyError: 1\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "src/shop/api.py", line 5, in post\nRuntimeError: no\n'
    )
    told = texts(call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path))
    assert told.index("items are shared by all carts") < told.index("requests without an item")


@pytest.mark.slow
def test_with_words_filters_and_blocks(shop: GitRepo, call: Callable[..., Result], tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_bytes(b"\0\xff noise\n" * 300_000 + TRACE.format(root="", error=TOLD).encode())
    assert "items are shared by all carts" in texts(call("recall", "--error", str(log), "--json", cwd=shop.path))
    log.write_bytes(TRACE.format(root="", error=TOLD).encode())
    with_words = scores(call("recall", "requests without an item", "--error", str(log), "--json", cwd=shop.path))
    assert (
        with_words["requests without an item"]
        > scores(call("recall", "--error", str(log), "--json", cwd=shop.path))["requests without an item"]
    )
    only = call("recall", "--error", str(log), "--json", "--kind", "change", cwd=shop.path)
    assert {hit["memory"]["kind"] for hit in only.data["hits"]} == {"change"}
    assert call("recall", "--error", str(log), "--block", cwd=shop.path).out.startswith("<hardwon-memory")
    assert len(texts(call("recall", "--error", str(log), "--json", "-k", "2", cwd=shop.path))) == 2
    with hardwon.open(shop.path) as memory:
        assert memory.recall(error=TRACE.format(root="", error=TOLD), k=1).hits[0].memory.kind == "change"


def test_nothing_fits_nothing_comes(shop: GitRepo, call: Callable[..., Result]) -> None:
    log = 'Traceback (most recent call last):\n  File "/opt/elsewhere/zebra.py", line 1, in quux\nXyzzyError: plugh\n'
    assert texts(call("recall", "--error", "-", "--json", stdin=log, cwd=shop.path)) == []
    assert call("recall", "--error", "-", "--exit-code", stdin=log, cwd=shop.path).code == 3


def test_a_log_without_a_trace_is_asked_by_its_last_lines_and_says_so(shop: GitRepo, call: Callable[..., Result]) -> None:
    found = call("recall", "--error", "-", "--json", stdin="start\nfatal: the cart has no items\n", cwd=shop.path)
    assert "cart: make the items before they are used" in texts(found)
    assert any("no stack trace" in line for line in found.data["mode"]["degraded"])


def test_wrong_input(shop: GitRepo, call: Callable[..., Result]) -> None:
    for words, stdin in (
        (["--error", "-"], ""), (["--error", "-"], " \n "), (["--error", "/no/such.log"], ""), (["-", "--error", "-"], "x"),
        (["--error"], ""),
    ):  # fmt: skip
        found = call("recall", *words, "--json", stdin=stdin, cwd=shop.path)
        assert (found.code, found.error["field"]) == (2, "error"), words


def test_without_an_index_and_outside_git(tmp_path: Path, call: Callable[..., Result]) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "cart.py").write_text("def add():\n    pass\n")
    call("init", cwd=tmp_path / "plain")
    call("fail", "add", "mind the zebra", "--file", "cart.py", cwd=tmp_path / "plain")
    log = 'Traceback (most recent call last):\n  File "/app/cart.py", line 2, in add\nOSError: gone\n'
    found = call("recall", "--error", "-", "--json", stdin=log, cwd=tmp_path / "plain")
    assert texts(found) == ["mind the zebra"]


def test_recognising_is_pure_and_keeps_to_the_floor() -> None:
    memory = Memory("a", 1, "lesson", "failed", "x", detail="KeyError: 'a'")
    weak, other = Hit(memory, 0.001), Hit(Memory("b", 2, "lesson", None, "y"), 0.012)
    from hardwon.code.traces import parse

    traces = parse("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n")
    assert [hit.memory.id for hit in recognise([other, weak], traces, 10, None)] == ["a", "b"]
    assert recognise([other], traces, 10, None) == []
    assert recognise([], traces, 10, None) == []
    assert [hit.memory.id for hit in recognise([other, weak], traces, 1, 0.0)] == ["a"]
    assert recognise([weak], (), 10, None) == []


def test_looking_into_memories_is_bounded() -> None:
    def looked_into(detail: str) -> set[str]:
        return signatures(Memory("a", 1, "lesson", "failed", "x", detail=detail))

    assert looked_into("A: b\n" * 4_000) == {"A: b"}
    assert not takes_the_square(looked_into, repeated("A: b\n"), 20_000)
