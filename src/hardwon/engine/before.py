"""What an edit should know: the lessons of the symbols that it touches, of their callers, and of their files."""

from __future__ import annotations

import os

from hardwon.code.anchor import within
from hardwon.code.moves import Moves
from hardwon.engine import writing
from hardwon.engine.anchors import judge, judged, unsure
from hardwon.engine.code_index import Opened
from hardwon.engine.naming import spelt, with_files
from hardwon.engine.visibility import sight
from hardwon.errors import InvalidInput
from hardwon.types import Filter, Mode, Neighbour, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardwon.code.anchor import Judge
    from hardwon.code.diff import FileChange
    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Symbol
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Block, Hit, Memory, Scope

    Lines = tuple[int, int]

# Memories of one file, of one symbol or of a file as a whole, of one caller: a block holds some ten.
_LISTED, _OF_SYMBOL, _OF_CALLER = 200, 50, 10
_ACTIVE = Filter(statuses=("active",))
# Symbols of one edit whose callers are looked for: a change of a whole file would ask for everything.
_MOST_SYMBOLS = 20
# Files of one diff, and separate lines of one file, for which lessons are looked for (measured: 1 ms a file). A file of
# which more lines are named is edited as a whole.
_MOST_FILES, _MOST_RANGES = 1_000, 1_000
_MOST_CALLERS = 20
_LONGEST_DIFF = 10_000_000  # bytes


class Look(Value):
    """What was found of an edit: the ``places`` that it touches (weight 1) and those around, the ``hits``, and what could not be told."""

    places: tuple[Neighbour, ...] = ()
    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()


def before(
    engine: Engine, file: str, symbol: str, scope: Scope, budget: int, lines: Lines | None, diff: Sequence[FileChange]
) -> Block:
    """The lessons of the places that are about to be edited."""
    from hardwon.search.pack import pack

    if not (file or symbol or diff):
        raise InvalidInput("a file or a symbol is needed", field="file", remedy="give --file, --symbol or --diff")
    if lines and not file:
        raise InvalidInput("lines are of a file", field="lines", remedy="give --file as well")
    path, name = engine.relative(file), spelt(symbol)
    with Opened(engine):
        found = _look(engine, scope, [Neighbour(path, name, 1.0, "")] if path or name else [], lines, diff)
    return pack(found.hits, budget, Mode(degraded=found.degraded))


def look(engine: Engine, scope: Scope, touched: Sequence[Neighbour]) -> Look:
    """The lessons of places that a call touches."""
    return _look(engine, scope, list(touched), None, ())


def _look(engine: Engine, scope: Scope, touched: list[Neighbour], lines: Lines | None, diff: Sequence[FileChange]) -> Look:
    from hardwon.search.place import choose
    from hardwon.upkeep import trust

    named, passed = _readable(engine, diff)
    with engine.store.read() as reader:
        places, former = _places(engine, touched, lines, named, reader.spoken_of)
        view = sight(engine, reader)
        where = view.narrowed(_ACTIVE.replace(alive_at=engine.clock(), trusts=trust.HEARD))
        written = _written(reader, places, former, where)
        failed = [
            with_files(reader, memory)
            for one in dict.fromkeys(place.path for place in places if place.path and place.weight == 1)
            for memory in reader.failed_changes(one, 5, view.commits)
        ]

    def verdict(memory: Memory, at_place: bool) -> str:
        return trust.unasked(memory, scope.origin, at_place)

    hits = choose(
        judged(engine, written), {memory.id: memory for memory in failed}.values(), places, verdict, trust.UNVERIFIED_LIMIT
    )
    degraded = (*passed, *view.degraded, *unsure(engine, hits), *writing.degraded(engine))
    return Look(tuple(places), tuple(hits), degraded)


def _readable(engine: Engine, diff: Sequence[FileChange]) -> tuple[list[FileChange], list[str]]:
    """The parts of a diff that lessons are looked for, and what has to be said of the others."""
    looked_at = [_in_tree(engine, one) for one in diff[:_MOST_FILES]]
    named = [change for change in looked_at if change.path]
    told = []
    if len(diff) > _MOST_FILES:
        told.append(f"diff: only the first {_MOST_FILES:,} of {len(diff):,} files were looked at: give a part of it")
    if len(named) < len(looked_at):
        told.append(f"diff: {len(looked_at) - len(named)} of its files cannot be in this repository by their names")
    return named, told


def _in_tree(engine: Engine, change: FileChange) -> FileChange:
    """One file's part of a diff with paths as the store names them, "" for those that it cannot: one odd name shall not silence the
    lessons of a whole review."""
    relative: FileChange = change.replace(**{side: _rooted(engine, getattr(change, side)) for side in ("old_path", "new_path")})
    return relative


def _rooted(engine: Engine, path: str) -> str:
    """A path of a diff: git names files from the root, wherever it was called, unless it was told not to."""
    if not path or engine.place is None:
        return path
    from hardwon.code.paths import relative_file

    checkout, found = engine.place.checkout, ""
    for folder in dict.fromkeys((checkout.root, engine.place.cwd)):
        try:
            here = relative_file(path, checkout, folder)
        except InvalidInput:
            continue
        if os.path.lexists(os.path.join(checkout.root, here)):
            return here
        found = found or here
    return found


def _written(reader: Reader, places: Sequence[Neighbour], former: Sequence[tuple[str, str]], where: Filter) -> list[Memory]:
    """Memories written for the places, and for those from which code has come to them."""
    found: dict[str, Memory] = {}
    named = {place.symbol: _OF_SYMBOL if place.weight == 1 else _OF_CALLER for place in reversed(places) if place.symbol}
    named |= {symbol: _OF_SYMBOL for _, symbol in former if symbol}
    for symbol, limit in named.items():
        found |= {memory.id: memory for memory in reader.anchored("", symbol, where, limit)}
    edited = {
        place.path: not place.symbol
        for place in sorted(places, key=lambda one: not one.symbol)
        if place.path and place.weight == 1
    }
    edited |= {path: False for path, symbol in former if not symbol}
    for path, whole in edited.items():
        of_it = reader.anchored(path, "", where, _LISTED) if whole else reader.of_file(path, where, _OF_SYMBOL)
        found |= {memory.id: memory for memory in of_it}
    return list(found.values())


def _places(
    engine: Engine,
    touched: list[Neighbour],
    lines: Lines | None,
    diff: Sequence[FileChange],
    spoken_of: Callable[[set[str]], set[str]],
) -> tuple[list[Neighbour], list[tuple[str, str]]]:
    """What is edited (weight 1) and what calls it, best first; and where code of the edited files was before it came there. ``lines`` are
    of the file of the one place that is touched."""
    path = touched[0].path if lines else ""
    touched = [] if lines else touched
    index = engine.code
    if index is None:
        named = [path] if lines else [change.path for change in diff]
        return touched + [Neighbour(one, "", 1.0, "") for one in dict.fromkeys(named)], []
    with index.read() as code:
        if lines or diff:
            judging = judge(engine, code)
            if lines:
                touched += at_lines(judging, path, [lines])
            for change in diff:
                touched += _of_change(judging, code, change)
        touched = list(dict.fromkeys(touched))
        moves = Moves(code.moves())
        former = list(dict.fromkeys(came for place in touched for came in moves.to(place.path, place.symbol)))
        return touched + _callers(code, touched, spoken_of), former


def lines_of(engine: Engine, file: str, passage: str) -> Lines | None:
    """First and last line of the only place where a text stands in a file as it lies there, blanks aside: what an edit is going to
    replace. None where it stands nowhere, or more than once, or the file cannot be read."""
    path = engine.relative(file)
    if engine.code is None or not path:
        return None
    with engine.code.read() as code:
        try:
            place = judge(engine, code).place(path)
        except OSError:
            return None
        return place.text.lines_of(passage.encode("utf-8", "surrogateescape")) if place else None


def uncommitted(engine: Engine) -> str:
    """The diff from the last commit to the files as they lie there, of what is tracked; its end may be cut off. "" where git has none."""
    from hardwon.code import git

    if engine.place is None or not engine.place.checkout.git_dir:
        return ""
    options = ("--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--unified=0")
    done = git.run(engine.place.checkout.root, ["diff", *options, "HEAD", "--"], index=True)
    return done.stdout[:_LONGEST_DIFF].decode("utf-8", "replace") if done.returncode == 0 else ""


def at_lines(judging: Judge, path: str, ranges: Sequence[Lines]) -> list[Neighbour]:
    """The symbols that lines of a file belong to, as it lies there; the file alone where none is known."""
    try:
        declared = judging.declared_at(path)
    except OSError:
        declared = []
    named = [symbol.qualified for first, last in ranges for symbol in within(declared, first, last)]
    return [Neighbour(path, symbol, 1.0, "") for symbol in dict.fromkeys(named)] or [Neighbour(path, "", 1.0, "")]


def _of_change(judging: Judge, code: CodeReader, change: FileChange) -> list[Neighbour]:
    """The symbols that one file's part of a diff touches: by the side of it that is known, the new one where it lies there now."""
    old, new = change.old_path, change.new_path
    if max(len(change.old_lines), len(change.new_lines)) > _MOST_RANGES:
        return [Neighbour(new or old, "", 1.0, "")]
    for path, blob, ranges in ((new, change.new_blob, change.new_lines), (old, change.old_blob, change.old_lines)):
        if path and blob and ranges and (known := _by_blob(judging, code, path, blob)) is not None:
            named = [symbol.qualified for first, count in ranges for symbol in within(known, first, first + max(0, count - 1))]
            return [Neighbour(path, symbol, 1.0, "") for symbol in dict.fromkeys(named)] or [Neighbour(path, "", 1.0, "")]
    path = new or old
    # Neither side's symbols are known: the lines are looked up in the file as it lies there, which is the new side unless it is the old.
    ranges = (change.old_lines if _lies_there(judging, path, change.old_blob) else change.new_lines) or change.old_lines
    found = at_lines(judging, path, [(first, first + max(0, count - 1)) for first, count in ranges]) if ranges else []
    return found or [Neighbour(path, "", 1.0, "")]


def _by_blob(judging: Judge, code: CodeReader, path: str, blob: str) -> list[Symbol] | None:
    """What the content with that (abbreviated) name declares, if it is the file's as it lies there, or as it was indexed."""
    if _lies_there(judging, path, blob) and (place := judging.place(path)) is not None:
        return place.symbols
    indexed = code.blob_at(path)
    return code.symbols(indexed) if indexed.startswith(blob) else None


def _lies_there(judging: Judge, path: str, blob: str) -> bool:
    """Whether a file lies there with the content of that (abbreviated) name."""
    try:
        place = judging.place(path)
    except OSError:
        return False
    return place is not None and bool(blob) and place.blob.startswith(blob)


def _callers(code: CodeReader, touched: Sequence[Neighbour], spoken_of: Callable[[set[str]], set[str]]) -> list[Neighbour]:
    """The direct callers of what is edited; ``spoken_of`` tells which of some names any memory is about."""
    named = [place for place in touched if place.symbol][:_MOST_SYMBOLS] if code.indexed_at else []
    if not named:
        return []
    from hardwon.code.calling import among

    places = [place for one in named for place in _resolved(code, one)]
    calls = {place: sites for place in places if (sites := among(code, *place, spoken_of))}
    if not calls:  # most often: then nothing is loaded that resolves calls
        return []
    from hardwon.code.graph import CALLER as WEIGHT
    from hardwon.code.graph import MOST_AROUND, Graph
    from hardwon.search.pack import CALLER

    graph = Graph(code, MOST_AROUND)
    known = {(place.path, place.symbol) for place in touched}
    found: list[Neighbour] = []
    for (path, symbol), sites in calls.items():
        for edge in graph.callers_from(path, symbol, sites):
            if edge.symbol and (edge.path, edge.symbol) not in known:
                known.add((edge.path, edge.symbol))
                found.append(Neighbour(edge.path, edge.symbol, WEIGHT * edge.certainty, f"{CALLER} {symbol}"))
    found.sort(key=lambda one: (-one.weight, one.path, one.symbol))
    return found[:_MOST_CALLERS]


def _resolved(code: CodeReader, place: Neighbour) -> list[tuple[str, str]]:
    """The declarations that a place may mean, at most three: a name that stands for more means nothing certain."""
    from hardwon.code.names import last_part, same_symbol

    declared = [
        (one.path, one.symbol.qualified)
        for one in code.named(last_part(place.symbol, fold=False))
        if same_symbol(one.symbol.qualified, place.symbol) and place.path in ("", one.path)
    ]
    return declared if len(declared) <= 3 else []
