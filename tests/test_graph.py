"""Callers, callees, importers, how far a change reaches, and what recall and risk make of it; on real parsers and a real index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.code import graph as graph_module
from hardwon.code.graph import Graph
from hardwon.doors import render, shapes
from hardwon.doors.render import Paint
from hardwon.engine.impact import around, impact
from hardwon.engine.opening import create
from hardwon.search.channels import Candidates
from hardwon.search.rank import Scored, widened
from hardwon.types import Anchor, Document, Draft, Impact, Neighbour, Origin, Query, Risk, Scope
from hardwon.upkeep.risk import by_impact
from tests.codetree import reading
from tests.conftest import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hardwon.engine.core import Engine
    from tests.conftest import Result

PERSON = Scope(Origin("person", "shell"))
TREE = {
    "shop/__init__.py": "from .store import Store\n",
    "shop/store.py": (
        "from .base import Base\n\n\n"
        "class Store(Base):\n"
        "    def __init__(self):\n        self.load()\n\n"
        "    def load(self):\n        read_file('x')\n\n"
        "    def save(self):\n        self.load()\n\n\n"
        "def read_file(name):\n    return open(name).read()\n"
    ),
    "shop/base.py": "class Base:\n    def load(self):\n        pass\n",
    "shop/app.py": (
        "from shop import Store\nfrom .store import read_file as rf\n\n\n"
        "def main(base: 'Base'):\n    def inner():\n        store = Store()\n        return store\n\n    return inner()\n\n\n"
        "def peek():\n    rf('y')\n\n\n"
        "def loop(n):\n    return back(n)\n\n\ndef back(n):\n    return loop(n)\n\n\n"
        "def guess(thing):\n    thing.save_all_of_it()\n\n\n"
        "main(None)\n"
    ),
    "shop/use_base.py": "from .base import Base\n\n\ndef through(base: Base):\n    base.load()\n",
    "shop/a.py": "class A:\n    def rebalance(self):\n        pass\n",
    "shop/b.py": "class B:\n    def rebalance(self):\n        pass\n",
    "shop/c.py": "def unsure(x):\n    x.rebalance()\n",
}


def edges(found: list) -> list[tuple[str, str]]:
    return sorted((edge.path, edge.symbol) for edge in found)


def test_callers_and_callees(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        graph = Graph(reader)
        assert edges(graph.callers("shop/store.py", "read_file")) == [("shop/app.py", "peek"), ("shop/store.py", "Store.load")]
        # The constructor is called by whoever makes one; a function inside another counts for the outer.
        assert edges(graph.callers("shop/store.py", "Store")) == [("shop/app.py", "main")]
        assert edges(graph.callers("shop/store.py", "Store.__init__")) == [("shop/app.py", "main")]
        assert edges(graph.callees("shop/store.py", "Store.save")) == [("shop/store.py", "Store.load")]
        assert edges(graph.callees("shop/app.py", "main")) == [("shop/app.py", "main.inner"), ("shop/store.py", "Store")]
        assert ("shop/app.py", "") in edges(graph.callers("shop/app.py", "main"))


def test_a_call_of_a_base_reaches_what_overrides_it_less_surely(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        sure = {edge.symbol: edge.certainty for edge in Graph(reader).callers("shop/store.py", "Store.load")}
    assert sure["Store.save"] > sure["through"] >= 0.5


def test_importers(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        graph = Graph(reader)
        assert graph.importers("shop/store.py") == ["shop/__init__.py", "shop/app.py"]
        assert graph.importers("shop/__init__.py") == ["shop/app.py"]
        assert graph.importers("shop/base.py") == ["shop/store.py", "shop/use_base.py"]
        assert graph.importers("shop/c.py") == []


def test_impact_counts_what_depends_through_others(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        graph = Graph(reader)
        found = graph.impact([("shop/store.py", "read_file")])
        # Store.load and peek; from there Store.__init__, Store.save and, if it is handed a Store, through; then main, then the code at
        # the top that runs it.
        assert (found.direct, found.certain, found.possible, found.truncated) == (2, 2, 0, False)
        assert (found.dependents, found.depth) == (7, 4)
        assert found.files == ("shop/app.py", "shop/store.py", "shop/use_base.py")
        assert graph.impact([("shop/app.py", "loop")]) == Impact(1, 1, 1, ("shop/app.py",), 1)  # a circle ends
        assert graph.impact([("shop/app.py", "peek")]) == Impact()


def test_a_class_stands_for_its_members_and_not_for_itself(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        found = Graph(reader).impact([("shop/store.py", "Store")])
    assert (found.direct, found.files) == (2, ("shop/app.py", "shop/use_base.py"))  # main makes one, through may call its load


def test_callers_by_name_only_are_counted_and_not_followed(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        found = Graph(reader).impact([("shop/a.py", "A.rebalance")])
    assert (found.direct, found.dependents, found.possible) == (0, 0, 1)


def test_a_long_chain_is_cut_and_says_so(tmp_path: Path) -> None:
    chain = "".join(f"def f{n}():\n    f{n + 1}()\n\n\n" for n in range(30)) + "def f30():\n    pass\n"
    with reading(tmp_path, {"chain.py": chain}) as reader:
        found = Graph(reader).impact([("chain.py", "f30")])
    assert (found.dependents, found.depth, found.truncated) == (10, 10, True)


def test_many_callers_are_cut_and_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MOST_SITES", 20)
    tree = {
        "hub.py": "def hub():\n    pass\n",
        "far.py": "from hub import hub\n" + "".join(f"def g{n}():\n    hub()\n" for n in range(50)),
    }
    with reading(tmp_path, tree) as reader:
        found = Graph(reader).impact([("hub.py", "hub")])
    assert (found.direct, found.truncated) == (20, True)


def test_where_a_symbol_is(tmp_path: Path) -> None:
    with reading(tmp_path, TREE) as reader:
        graph = Graph(reader)
        assert graph.places("Store.load") == [("shop/store.py", "Store.load")]
        assert sorted(graph.places("load")) == [("shop/base.py", "Base.load"), ("shop/store.py", "Store.load")]
        assert graph.places("load", "shop/base.py") == [("shop/base.py", "Base.load")]
        assert graph.places("shop::store::Store#save()") == []
        assert graph.places("Store::save") == [("shop/store.py", "Store.save")]
        assert graph.places("nothing") == []


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_impact_agrees_with_a_search_of_the_plain_graph(
    tmp_path_factory: pytest.TempPathFactory, calls: set[tuple[int, int]]
) -> None:
    count = 12
    text = "".join(
        f"def f{n}():\n    pass\n" + "".join(f"    f{to}()\n" for at, to in sorted(calls) if at == n) for n in range(count)
    )
    depth = {0: 0}
    layer = [0]
    while layer:
        layer = [at for at in range(count) if at not in depth and any((at, to) in calls for to in layer)]
        step = max(depth.values()) + 1
        depth |= dict.fromkeys(layer, step)
    beyond = {node: steps for node, steps in depth.items() if node}
    with reading(tmp_path_factory.mktemp("graph"), {"m.py": text}) as reader:
        found = Graph(reader).impact([("m.py", "f0")])
    kept = {node: steps for node, steps in beyond.items() if steps <= graph_module.DEEPEST}
    assert (found.dependents, found.depth) == (len(kept), max(kept.values(), default=0))
    assert found.direct == sum(steps == 1 for steps in kept.values())


# Surroundings


def test_neighbours_fall_with_the_distance(tmp_path: Path) -> None:
    together = [("shop/store.py", "docs/store.md", 10), ("shop/store.py", "shop/a.py", 5), ("shop/store.py", "shop/b.py", 1)]
    with reading(tmp_path, TREE | {"docs/store.md": "# Store\n"}, together) as reader:
        found = {(one.path, one.symbol): one for one in Graph(reader).neighbours("shop/store.py", "Store.load")}
    assert found["shop/store.py", "Store.save"] == Neighbour("shop/store.py", "Store.save", 0.5, "caller")
    assert found["shop/store.py", "read_file"] == Neighbour("shop/store.py", "read_file", 0.35, "called")
    assert found["shop/app.py", "main"] == Neighbour("shop/app.py", "main", 0.25, "caller, two steps")
    assert found["shop/app.py", ""] == Neighbour("shop/app.py", "", 0.3, "imports this file")
    assert found["docs/store.md", ""] == Neighbour("docs/store.md", "", 0.4, "changes together")
    assert found["shop/a.py", ""].weight == pytest.approx(0.2)
    assert ("shop/b.py", "") not in found  # once is chance
    assert ("shop/store.py", "Store.load") not in found
    assert ("shop/store.py", "") not in found


def test_at_most_twenty_and_code_before_tests(tmp_path: Path) -> None:
    tree = {"hub.py": "def hub():\n    pass\n"}
    tree |= {f"far{n}.py": f"from hub import hub\ndef g{n}():\n    hub()\n" for n in range(15)}
    tree |= {f"tests/test_{n}.py": f"from hub import hub\ndef test_{n}():\n    hub()\n" for n in range(15)}
    with reading(tmp_path, tree) as reader:
        found = Graph(reader).neighbours("hub.py", "hub")
    assert len(found) == 20
    assert [one.path for one in found[:15]] == sorted(f"far{n}.py" for n in range(15))


# Recall


def scored(key: int, odds: float) -> Scored:
    return Scored(Document(key, 0, 0, (), {}), odds, {}, 0.0, 0.0, 0.0, ())


@given(
    st.lists(st.floats(-12, 5), min_size=1, max_size=8), st.lists(st.floats(-12, 5), max_size=8), st.floats(0.05, 1.0), st.booleans()
)  # fmt: skip
def test_no_place_around_passes_what_was_written_for_the_place_and_was_ahead(
    direct: list[float], others: list[float], weight: float, named: bool
) -> None:
    items = [scored(number, odds) for number, odds in enumerate([*direct, *others])]
    keys = frozenset(range(len(direct)))
    near = {number: Neighbour("a.py", "f" if named else "", weight, "caller") for number in range(len(direct), len(items))}
    found = widened(items, Candidates(tuple(range(len(items))), keys, frozenset(), frozenset(), near, frozenset()))
    for before, after in zip(items, found, strict=True):
        assert after.odds >= before.odds
        for one in direct:
            assert before.odds > one or after.odds <= one
    assert widened(items, Candidates((), keys, frozenset(), frozenset(), {}, frozenset())) is items


class Shop:
    """A repository of TREE with a memory and an index."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = str(folder / "shop"), str(folder / "home")
        os.makedirs(self.root)
        git(folder / "shop", "init", "-q")
        for path, text in TREE.items():
            full = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        git(folder / "shop", "add", "-A")
        git(folder / "shop", "commit", "-qm", "begin")
        self.engine = create(self.root, self.home, "shop")

    def lesson(self, text: str, symbol: str, path: str, times: int = 1) -> None:
        for number in range(times):
            words = f"{text} {number}" if times > 1 else text
            draft = Draft(words, "lesson", "failed", anchors=(Anchor(path, symbol),))
            self.engine.record(draft, PERSON)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.engine.close()


def texts(engine: Engine, query: Query) -> list[str]:
    return [hit.memory.text for hit in engine.recall(query, PERSON).hits]


def test_recall_at_a_symbol_brings_the_lessons_of_its_surroundings_behind_its_own(shop: Shop) -> None:
    shop.lesson("empty files break the reader", "read_file", "shop/store.py")
    shop.lesson("load twice and the cache is stale", "Store.load", "shop/store.py")
    shop.lesson("of another world", "unsure", "shop/c.py")
    query = Query(symbol="read_file", k=10)
    assert texts(shop.engine, query) == ["empty files break the reader"]
    shop.engine.refresh_code()
    block = shop.engine.recall(query, PERSON)
    assert [hit.memory.text for hit in block.hits] == ["empty files break the reader", "load twice and the cache is stale"]
    assert "caller" in {signal.signal for signal in block.hits[1].why}
    assert block.hits[0].score > block.hits[1].score > 0.1
    asked = Query(text="cache stale", symbol="read_file", file="shop/store.py")
    assert set(texts(shop.engine, asked)) == {"empty files break the reader", "load twice and the cache is stale"}


def test_a_question_without_a_place_is_answered_as_before(shop: Shop) -> None:
    shop.lesson("empty files break the reader", "read_file", "shop/store.py")
    shop.lesson("load twice and the cache is stale", "Store.load", "shop/store.py")
    query = Query(text="stale cache of the reader")
    without = shapes.block(shop.engine.recall(query, PERSON))
    shop.engine.refresh_code()
    with_index = shapes.block(shop.engine.recall(query, PERSON))
    assert [(hit["memory"]["id"], hit["score"], hit["why"]) for hit in with_index["hits"]] == [
        (hit["memory"]["id"], hit["score"], hit["why"]) for hit in without["hits"]
    ]


# Risk


def test_risk_shows_the_impact_and_keeps_its_score(shop: Shop) -> None:
    shop.lesson("breaks", "read_file", "shop/store.py", 2)
    shop.lesson("fails", "peek", "shop/app.py", 2)
    assert impact(shop.engine, "read_file", "") is None
    without = shop.engine.query("", "", PERSON)
    assert [report.risk.impact for report in without] == [None, None]
    assert [report.risk.symbol for report in without] == ["peek", "read_file"]
    shop.engine.refresh_code()
    found = shop.engine.query("", "", PERSON)
    assert [(report.risk.symbol, report.risk.score) for report in found] == [
        ("read_file", without[1].risk.score),
        ("peek", without[0].risk.score),
    ]
    reach = found[0].risk.impact
    assert reach is not None
    assert reach.dependents == 7
    assert found[1].risk.impact == Impact()
    assert [risk.symbol for risk in shop.engine.risks("", PERSON)] == ["read_file", "peek"]
    assert shapes.symbol(found[0])["impact"] == {
        "direct": 2, "dependents": 7, "depth": 4, "file_count": 3, "files": ["shop/app.py", "shop/store.py", "shop/use_base.py"],
        "certain": 2, "possible": 0, "truncated": False,
    }  # fmt: skip
    assert impact(shop.engine, "read_file", "shop/store.py") == reach
    assert impact(shop.engine, "nothing", "") is None


def test_what_the_command_says(project: Path, call: Callable[..., Result]) -> None:
    (project / "src" / "use.py").write_text("from upload import upload\n\n\ndef send_all(parts):\n    upload(parts)\n")
    assert call("fail", "upload", "loses parts", "--file", "src/upload.py").code == 0
    assert (
        call("query", "upload", "--json").data["symbols"][0]["impact"]["direct"] == 0
    )  # the index does not know the new file yet
    assert "impact: no known callers" in call("query", "upload").out
    assert call("ingest", "code").code == 0
    said = call("query", "upload").out
    assert "impact: 1 direct caller; 1 dependent in 1 file" in said
    assert call("query", "upload", "--json").data["symbols"][0]["impact"]["direct"] == 1
    assert "1 dependent" in call("stats").out
    assert call("stats", "--json").data["riskiest"][0]["impact"]["files"] == ["src/use.py"]


def test_a_renamed_symbol_is_found_by_both_names_with_its_impact(project: Path, call: Callable[..., Result]) -> None:
    body = "".join(f"    total += parts[{number}] * {number}\n" for number in range(12))
    (project / "src" / "sums.py").write_text(f"def add_up(parts):\n    total = 0\n{body}    return total\n")
    (project / "src" / "use.py").write_text("from sums import add_up\n\n\ndef send_all(parts):\n    add_up(parts)\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "sums")
    assert call("ingest", "code").code == 0
    assert call("fail", "add_up", "loses parts", "--file", "src/sums.py").code == 0
    for name in ("sums.py", "use.py"):
        text = (project / "src" / name).read_text()
        (project / "src" / name).write_text(text.replace("add_up", "sum_all"))
    git(project, "commit", "-q", "-a", "-m", "rename")
    assert call("ingest", "code").code == 0
    for name in ("add_up", "sum_all"):
        said = call("query", name).out
        assert "impact: 1 direct caller; 1 dependent in 1 file" in said, name
        assert "loses parts (now sum_all)" in said, name
    lesson = call("query", "sum_all", "--json").data["symbols"][0]["experiences"][0]
    assert lesson["anchors"][0]["now"] == {"path": "src/sums.py", "symbol": "sum_all"}


def test_the_order_is_by_level_then_by_score_and_dependents() -> None:
    def risk(symbol: str, score: float, level: str, dependents: int | None) -> Risk:
        return Risk(symbol, "", score, level, 1, 0, impact=None if dependents is None else Impact(dependents=dependents))

    given = [
        risk("high", 15.5, "high", 0), risk("caution", 14.0, "caution", 1000), risk("a", 9.0, "normal", 0), risk("b", 6.0, "normal", 20),
        risk("c", 6.0, "normal", None), risk("low", 1.0, "low", 2000),
    ]  # fmt: skip
    assert [one.symbol for one in by_impact(given)] == ["high", "caution", "b", "a", "c", "low"]
    unknown = [one.replace(impact=None) for one in given]
    assert by_impact(unknown) == unknown


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Impact(), "no known callers"),
        (Impact(possible=3), "no known callers (perhaps 3 callers, by name only)"),
        (Impact(1, 1, 1, ("a.py",), 1), "1 direct caller; 1 dependent in 1 file"),
        (
            Impact(2, 1300, 10, ("a.py", "b.py"), 1, 4, True),
            "2 direct callers, perhaps 4 more; 1,300+ dependents in 2 files, up to 10 calls away",
        ),
    ],
)
def test_words_of_an_impact(value: Impact, words: str) -> None:
    assert render.impact(value) == words
    assert Paint(False)("dim", words) == words


def test_nothing_around_without_a_place_or_an_index(shop: Shop) -> None:
    assert around(shop.engine, Query(text="x")) == ()
    assert around(shop.engine, Query(symbol="read_file")) == ()
    shop.engine.refresh_code()
    assert around(shop.engine, Query(text="x")) == ()
    assert around(shop.engine, Query(symbol="read_file"))[0].why == "caller"
    assert {one.why for one in around(shop.engine, Query(symbol="nowhere", file="shop/base.py"))} == {"imports this file"}
