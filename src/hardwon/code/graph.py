"""Who calls whom, who imports whom, what changes together: the surroundings of a symbol, and how far a change of it reaches.

Nothing of it is kept: edges are resolved from the index when somebody asks, each with how sure it is. Only edges from
``resolve.CERTAIN`` on are followed; the rest are counted, and said to be possible.
"""

from __future__ import annotations

from hardwon.code.calling import CONSTRUCTORS, GO, MOST_SITES, RUST, C, family, sites
from hardwon.code.names import dotted, last_part, same_symbol
from hardwon.code.resolve import CERTAIN, Resolver
from hardwon.code.scope import CLASSES, FOREIGN, outwards
from hardwon.code.test_names import is_test
from hardwon.types import Impact, Neighbour, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Call, Import, Symbol

MOST_NODES, DEEPEST = 2000, 10
# Calls that are looked at: for a whole impact, and for the surroundings of a place, which recall waits for. What has more is said to be
# cut short.
MOST_OF_IMPACT, MOST_AROUND = 3000, 120
SURE = 0.8
# A call of a method of a base class reaches the methods that override it, or one of the others that do.
_OVERRIDDEN = 0.7
_MOST_MEMBERS = 60
MOST_PLACES = 5
# How near the surroundings are to the place itself (1.0), for recall; a second step along calls counts half.
CALLER, CALLEE, IMPORTER, TOGETHER = 0.5, 0.35, 0.3, 0.4
MOST_NEIGHBOURS = 20
_LEAST_WEIGHT = 0.1
_OFTEN = 5  # commits in which two files changed together, from which on that is a habit
_INDEXES = frozenset(("__init__", "index", "mod", "lib", "main"))


class Edge(Value):
    """A caller (``symbol`` is "" for the code at a file's top) or a callee, and how sure that is."""

    path: str
    symbol: str
    certainty: float


class Graph:
    """The edges of one view of the index."""

    def __init__(self, reader: CodeReader, most: int = MOST_OF_IMPACT) -> None:
        """``most``: calls that may be looked at for ``callers`` and ``callees``, all in all."""
        self.reader = reader
        self.resolver = Resolver(reader)
        self.looked_at = 0  # calls, over all questions
        self._until = most
        self._callers: dict[tuple[str, str], tuple[list[Edge], bool]] = {}

    # Calls

    def callers(self, path: str, symbol: str) -> list[Edge]:
        """The declarations that call one, surest first; what calls from a function inside another counts for the outer."""
        return self._callers_of(path, symbol)[0]

    def callers_from(self, path: str, symbol: str, found: Iterable[tuple[str, Call]]) -> list[Edge]:
        """The callers among calls that may mean a symbol (code/calling.py)."""
        return self._from_sites(path, symbol, found)[0]

    def _callers_of(self, path: str, symbol: str) -> tuple[list[Edge], bool]:
        """The callers, and whether some were left out."""
        key = (path, symbol)
        if key not in self._callers:
            left = min(MOST_SITES, self._until - self.looked_at)
            self._callers[key] = self._from_sites(path, symbol, sites(self.reader, path, symbol, left))
        return self._callers[key]

    def _from_sites(self, path: str, symbol: str, found_at: Iterable[tuple[str, Call]]) -> tuple[list[Edge], bool]:
        wanted = self._called_as(path, symbol)
        best: dict[tuple[str, str], float] = {}
        left = min(MOST_SITES, self._until - self.looked_at)
        for site, call in found_at:
            left -= 1
            if left < 0:
                break
            self.looked_at += 1
            found = [one.certainty * wanted.get((one.path, one.symbol), 0.0) for one in self.resolver.targets(site, call)]
            sure = max(found, default=0.0)
            caller = (site, self._outer(site, call.caller))
            if sure and caller != (path, symbol):
                best[caller] = max(sure, best.get(caller, 0.0))
        edges = [Edge(*caller, sure) for caller, sure in best.items()]
        return sorted(edges, key=lambda one: (-one.certainty, one.path, one.symbol)), left < 0

    def _called_as(self, path: str, symbol: str) -> dict[tuple[str, str], float]:
        """The declarations whose calls reach this one, and how surely: itself, its class if it is a constructor, what it overrides."""
        wanted = {(path, symbol): 1.0}
        owner, _, name = symbol.rpartition(".")
        if name in CONSTRUCTORS:
            wanted[path, owner] = 1.0
        if family(path) == C:  # declared in a header, defined elsewhere
            same = [one for one in self.resolver.scopes.named(name, C) if one.symbol.qualified == symbol]
            wanted.update(((one.path, symbol), 1.0) for one in same)
        around = self.resolver.scopes.symbols(path).get(owner)
        if around is not None and around.kind in CLASSES:
            base = self.resolver.scopes.inherited(path, around, name)
            if base is not None and base is not FOREIGN and base.symbol is not None:
                wanted.setdefault((base.path, base.symbol.qualified), _OVERRIDDEN)
        return wanted

    def callees(self, path: str, symbol: str) -> list[Edge]:
        """The declarations that one calls, surest first, for each call the likeliest."""
        best: dict[tuple[str, str], float] = {}
        for call in self.reader.calls_in(path):
            if self.looked_at >= self._until or (call.caller != symbol and not call.caller.startswith(f"{symbol}.")):
                continue
            self.looked_at += 1
            for one in self.resolver.targets(path, call)[:1]:
                if (one.path, one.symbol) != (path, symbol):
                    best[one.path, one.symbol] = max(one.certainty, best.get((one.path, one.symbol), 0.0))
        edges = [Edge(*callee, sure) for callee, sure in best.items()]
        return sorted(edges, key=lambda one: (-one.certainty, one.path, one.symbol))

    def _outer(self, path: str, caller: str) -> str:
        """The outermost function around a place: who calls that one, runs what is declared in it."""
        symbols = self.resolver.scopes.symbols(path)
        found = caller
        for scope in outwards(caller):
            symbol = symbols.get(scope)
            if symbol is not None and symbol.kind in CLASSES:
                break
            if symbol is not None and symbol.kind in ("function", "method"):
                found = scope
        return found

    # Files

    def importers(self, path: str, limit: int = 100) -> list[str]:
        """The files that import a file (in Go: its folder), sorted."""
        stem, folder = path.rpartition("/")[2].partition(".")[0], path.rpartition("/")[0]
        words = {stem} if family(path) != GO else set()
        if stem in _INDEXES or family(path) in (GO, RUST):
            words.add(folder.rpartition("/")[2])
        found: set[str] = set()
        for word in sorted(words - {""}):
            for file, taken in self.reader.importers_of(word):
                if file != path and file not in found and family(file) == family(path) and self._takes(file, taken, path):
                    found.add(file)
        return sorted(found)[:limit]

    def _takes(self, file: str, taken: Import, path: str) -> bool:
        modules = self.resolver.scopes.modules
        if path in modules.files(file, taken.module):
            return True
        thing = self.resolver.scopes.taken(file, taken)
        return path in thing.files

    # How far a change reaches

    def places(self, symbol: str, file: str = "") -> list[tuple[str, str]]:
        """Where a symbol is declared, as a person spells it: in that file, or anywhere; what tests declare only where nothing else
        has the name."""
        found = [
            (one.path, one.symbol.qualified)
            for one in self.reader.named(last_part(symbol, fold=False))
            if same_symbol(one.symbol.qualified, symbol) and file in ("", one.path)
        ]
        exact = [place for place in found if place[1] == dotted(symbol)] or found
        kept = [place for place in exact if not is_test(place[0])] or exact
        return list(dict.fromkeys(kept))[:MOST_PLACES]

    def impact(self, places: Iterable[tuple[str, str]]) -> Impact:
        """What depends on a symbol, directly and through others; ``places`` are the files and names of its declarations. A class stands
        for its members too; what calls inside it does not count."""
        seeds = [seed for place in places for seed in self._seeds(*place)]
        inside = set(seeds)
        self._until = self.looked_at + MOST_OF_IMPACT
        direct: dict[tuple[str, str], float] = {}
        cut = False
        for seed in seeds:
            edges, short = self._callers_of(*seed)
            cut = cut or short
            for edge in edges:
                node = (edge.path, edge.symbol)
                if node not in inside:
                    direct[node] = max(edge.certainty, direct.get(node, 0.0))
        followed = [node for node, sure in direct.items() if sure >= CERTAIN]
        depths, short = self._reach(followed, inside)
        files = dict.fromkeys(node[0] for node, _ in sorted(depths.items(), key=lambda item: (item[1], item[0])))
        return Impact(
            direct=len(followed),
            dependents=len(depths),
            depth=max(depths.values(), default=0),
            files=tuple(files),
            certain=sum(sure >= SURE for sure in direct.values()),
            possible=len(direct) - len(followed),
            truncated=cut or short,
        )

    def _seeds(self, path: str, symbol: str) -> list[tuple[str, str]]:
        symbols = self.resolver.scopes.symbols(path)
        members = [name for name in symbols if name.startswith(f"{symbol}.")] if _is_class(symbols.get(symbol)) else []
        return [(path, symbol), *((path, name) for name in members[:_MOST_MEMBERS])]

    def _reach(
        self, followed: Iterable[tuple[str, str]], inside: set[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], int], bool]:
        """The dependents by how many steps away they are, and whether it was cut short."""
        depths = dict.fromkeys(followed, 1)
        layer, cut = list(depths), len(depths) > MOST_NODES
        for depth in range(2, DEEPEST + 2):
            after: list[tuple[str, str]] = []
            for node in layer:
                if len(depths) >= MOST_NODES or self.looked_at >= self._until:
                    return depths, True
                edges, short = self._callers_of(*node) if node[1] else ([], False)
                cut = cut or short
                for edge in edges:
                    caller = (edge.path, edge.symbol)
                    if edge.certainty >= CERTAIN and caller not in depths and caller not in inside:
                        if depth > DEEPEST:
                            return depths, True
                        depths[caller] = depth
                        after.append(caller)
            layer = after
        return depths, cut

    # Surroundings

    def neighbours(self, path: str, symbol: str) -> list[Neighbour]:
        """What lies around a place, nearest first, at most 20: callers, callees and theirs, files that import this one or change with
        it."""
        found: dict[tuple[str, str], Neighbour] = {}
        self._until = self.looked_at + MOST_AROUND
        first: list[Neighbour] = []
        for step, weight, word in self._steps() if symbol else ():
            first += [Neighbour(one.path, one.symbol, weight, word) for one in self._likely(step(path, symbol))]
        if path:
            first += [Neighbour(file, "", IMPORTER, "imports this file") for file in self.importers(path, MOST_NEIGHBOURS)]
            first += self._together(path)
        for near in first:
            _keep(found, near)
        for near in first if len(found) < MOST_NEIGHBOURS else ():
            for step, weight, word in self._steps():
                # Who calls a caller depends on the place too; who calls what it calls does not.
                if near.symbol and near.why == word and self.looked_at < self._until:
                    for one in self._likely(step(near.path, near.symbol)):
                        _keep(found, Neighbour(one.path, one.symbol, weight / 2, f"{word}, two steps"))
        kept = [one for one in found.values() if (one.path, one.symbol) not in ((path, symbol), (path, ""))]
        kept.sort(key=lambda one: (-one.weight, self.resolver.scopes.is_test(one.path), one.path, one.symbol))
        return kept[:MOST_NEIGHBOURS]

    def _steps(self) -> tuple[tuple[Callable[[str, str], list[Edge]], float, str], ...]:
        return (self.callers, CALLER, "caller"), (self.callees, CALLEE, "called")

    def _likely(self, edges: list[Edge]) -> list[Edge]:
        """The edges to follow, those of code before those of tests."""
        likely = [edge for edge in edges if edge.certainty >= CERTAIN and edge.symbol]
        return sorted(likely, key=lambda one: self.resolver.scopes.is_test(one.path))[:MOST_NEIGHBOURS]

    def _together(self, path: str) -> list[Neighbour]:
        """The files that change with one, by how often of the times that the most frequent one does."""
        together = self.reader.cochanged(path, MOST_NEIGHBOURS)
        often = max(_OFTEN, max((count for _, count in together), default=0))
        near = [Neighbour(file, "", TOGETHER * count / often, "changes together") for file, count in together]
        return [one for one in near if one.weight >= _LEAST_WEIGHT]


def _keep(found: dict[tuple[str, str], Neighbour], one: Neighbour) -> None:
    known = found.get((one.path, one.symbol))
    if known is None or known.weight < one.weight:
        found[one.path, one.symbol] = one


def _is_class(symbol: Symbol | None) -> bool:
    return symbol is not None and symbol.kind in CLASSES
