"""The decisions behind a place: which commits made its lines, what became of them, and what was recorded about it."""

from __future__ import annotations

import os

from hardwon.code.ground import Files
from hardwon.engine import writing
from hardwon.engine.anchors import former, judge, judged
from hardwon.engine.naming import with_files
from hardwon.engine.visibility import as_seen, sight
from hardwon.errors import InvalidInput
from hardwon.types import Change, Filter, Hit, Mode, Signal, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.code.blame import Blamed, Commit
    from hardwon.code.outline import Symbol
    from hardwon.code.repo import Checkout
    from hardwon.engine.core import Engine
    from hardwon.engine.visibility import Sight
    from hardwon.store.base import Reader
    from hardwon.types import Block, Link, Memory

    Lines = tuple[int, int]

_LARGEST = 10_000_000  # bytes of a file
_BINARY = 8_000  # bytes in which a NUL tells that a file is no text
_OF_LINES, _OF_SYMBOL, _EARLIER = 10, 5, 5  # commits of each role
_RECORDED = 10
_LISTED = 100
_ACTIVE = Filter(statuses=("active", "resolved"))
_ROLES = ("lines", "earlier", "symbol")


class Explained(Value):
    """A commit behind a place. ``role``: it made the ``lines``, changed one of them ``earlier``, or made others of the ``symbol`` around
    them; ``count`` of the lines that stand there are its own (0 for an earlier one); ``path``: what the file was called there.
    ``memory`` is None where the commit is not in the memory: it was read from git now. ``links``: how it stands to others, with the
    memory at the other end, and whether the relation comes from there; ``boundary``: a shallow clone ends at it, so that an older one
    may have made the lines."""

    commit: Commit
    role: str
    count: int
    path: str
    memory: Memory | None = None
    pull_request: int | None = None
    links: tuple[tuple[Link, Memory | None], ...] = ()
    boundary: bool = False


class Explanation(Value):
    """What is behind lines ``first`` to ``last`` of a file, which belong to ``symbol`` ("" for none, or the whole file). ``uncommitted``
    counts those that no commit has; ``left_out`` the commits that made too few lines to be told; ``told`` is the block, of what the
    memory holds."""

    path: str
    first: int
    last: int
    symbol: str
    uncommitted: int
    changes: tuple[Explained, ...]
    memories: tuple[Hit, ...]
    left_out: int
    told: Block


def explain(engine: Engine, file: str, lines: Lines | None, budget: int = 1500) -> Explanation:
    """The decisions behind a place."""
    from hardwon.code.blame import blame
    from hardwon.search.pack import pack

    checkout = engine.home.checkout
    if not checkout.git_dir:
        raise InvalidInput(
            "this folder is in no git repository: there is no history to ask",
            field="place",
            remedy="`hardwon recall --file` knows more",
        )
    path = engine.relative(file)
    first, last = _range(_lines_of(checkout.root, path), path, lines)
    _tracked(checkout.root, path)
    around = _around(engine, path, first, last) if lines else None
    blamed = blame(checkout.root, path, first, last, shallow=checkout.shallow)
    uncommitted = sum(len(one.lines) for one in blamed if one.commit is None)
    found, left_out = _behind(checkout, path, blamed, lines, around)
    symbol = around.qualified if around else ""
    with engine.store.read() as reader:
        view = sight(engine, reader)
        where = view.narrowed(_ACTIVE.replace(alive_at=engine.clock()))
        changes = _known(reader, view, where, checkout.root, found)
        recorded = _recorded(engine, reader, where.replace(derived=False), path, symbol, changes)
        held = [one.memory for one in changes if one.memory is not None and not one.memory.erased]
        told = [with_files(reader, memory) for memory in held if memory.status in _ACTIVE.statuses]
    hits = [*(Hit(memory, 1.0, (Signal("made it", 1.0),)) for memory in told), *recorded]
    block = pack(hits, budget, Mode(degraded=(*view.degraded, *writing.degraded(engine))))
    return Explanation(path, first, last, symbol, uncommitted, tuple(changes), tuple(recorded), left_out, block)


# --- the place


def _lines_of(root: str, path: str) -> int:
    """How many lines a file has; InvalidInput for one that is not there or that has none to be told."""
    if os.path.isdir(os.path.join(root, path)):
        raise _refused(f"{path} is a folder", "name a file in it")
    try:
        content = Files(root).content(path, _LARGEST)
    except OSError as error:
        if error.errno is None:  # no file that people write: too large, or a pipe, which would be waited for
            raise _refused(str(error), "name a file that people write") from error
        raise _refused(f"{path} cannot be read: {error.strerror}", "see to its permissions") from error
    if content is None:
        raise _refused(f"there is no file {path}", "see how it is written, or ask `hardwon recall --path` about one that is gone")
    if b"\0" in content[:_BINARY]:
        raise _refused(f"{path} is no text: it has no lines to explain", "name a file of code or text")
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def _range(count: int, path: str, lines: Lines | None) -> Lines:
    if not count:
        raise _refused(f"{path} is empty", "name a file with lines")
    if lines is None:
        return 1, count
    if lines[1] > count:
        raise _refused(f"{path} has {count} lines, not {lines[1]}", f"name lines from 1 to {count}")
    return lines


def _tracked(root: str, path: str) -> None:
    from hardwon.code.git import run

    # As a literal name: brackets and stars in it are no pattern.
    if not run(root, ["--literal-pathspecs", "ls-files", "--", path], index=True).stdout:
        raise _refused(
            f"git does not know {path}", "commit it first; what was recorded about it is told by `hardwon before --file`"
        )


def _refused(what: str, remedy: str) -> InvalidInput:
    return InvalidInput(what, field="place", remedy=remedy)


def _around(engine: Engine, path: str, first: int, last: int) -> Symbol | None:
    """The innermost symbol that holds all of the lines, where the index knows one."""
    index = engine.code
    if index is None:
        return None
    with index.read() as code:
        try:
            declared = judge(engine, code).declared_at(path)
        except OSError:
            return None
    holding = [symbol for symbol in declared if symbol.first <= first and last <= symbol.last]
    return min(holding, key=lambda symbol: symbol.last - symbol.first, default=None)


# --- the commits


def _behind(
    checkout: Checkout, path: str, blamed: Sequence[Blamed], lines: Lines | None, around: Symbol | None
) -> tuple[list[Explained], int]:
    """The commits behind a place by their roles, each once; and how many made too few lines to be told."""
    from hardwon.code.blame import blame, earlier

    found: dict[str, Explained] = {}
    left_out = _add(found, blamed, "lines", _OF_LINES)
    made = next((one for one in blamed if one.commit is not None), None)
    if lines is not None and made is not None and made.commit is not None:
        line = made.lines[0][0]
        for commit in earlier(checkout.root, made.commit.sha, made.path, line, _EARLIER + 1):
            found.setdefault(commit.sha, Explained(commit, "earlier", 0, made.path))
    if around is not None and lines != (around.first, around.last):
        _add(found, blame(checkout.root, path, around.first, around.last, shallow=checkout.shallow), "symbol", _OF_SYMBOL)
    return sorted(found.values(), key=lambda one: _ROLES.index(one.role)), left_out


def _add(found: dict[str, Explained], blamed: Iterable[Blamed], role: str, most: int) -> int:
    """Keep the commits that made most lines; how many were left out."""
    new: dict[str, Explained] = {}
    for one in blamed:
        if one.commit is None or one.commit.sha in found:
            continue
        sha = one.commit.sha
        if sha in new:  # its lines came from two files
            new[sha] = new[sha].replace(count=new[sha].count + len(one.lines))
        else:
            new[sha] = Explained(one.commit, role, len(one.lines), one.path, boundary=one.boundary)
    order = sorted(new.items(), key=lambda item: -item[1].count)
    found.update(order[:most])
    return max(0, len(order) - most)


def _known(reader: Reader, view: Sight, where: Filter, root: str, found: Sequence[Explained]) -> list[Explained]:
    """The commits with what the memory holds of them; of the others with the message that git has."""
    from hardwon.code.blame import commits

    out = []
    for one in found:
        ids = reader.lookup(one.commit.sha)
        memory = next((memory for memory in reader.get(ids) if memory.kind == "change"), None)
        out.append(one if memory is None else _remembered(reader, view, where, one, memory))
    bare = [one.commit.sha for one in out if one.memory is None and one.role != "earlier"]
    whole = {commit.sha: commit for commit in commits(root, bare)}
    return [
        one.replace(commit=_clean(whole.get(one.commit.sha, one.commit) if one.memory is None else one.commit)) for one in out
    ]


def _clean(commit: Commit) -> Commit:
    """What git says of a commit, as it would be kept: without secrets, and without what a reader cannot see."""
    from hardwon.engine.changes import clean, quick

    kept, _ = clean(Change(commit.sha, commit.at, commit.subject, commit.body, commit.author), quick)
    cleaned: Commit = commit.replace(subject=kept.subject, body=kept.body, author=kept.author)
    return cleaned


def _remembered(reader: Reader, view: Sight, where: Filter, one: Explained, memory: Memory) -> Explained:
    """A commit with its memory, and the links to what can be seen from here. Words that somebody took out of the memory are not told
    from git either."""
    change = reader.change(memory.id)
    if memory.erased or memory.status == "forgotten":
        silent: Explained = one.replace(
            commit=one.commit.replace(subject="", body=""), memory=memory.replace(text="", detail="", because="")
        )
        return silent
    ends = [(link, link.target if link.source == memory.id else link.source) for link in reader.links(memory.id)]
    others = reader.matching(reader.keys(sorted({other for _, other in ends if other})), where)
    seen = {other.id: other for other in reader.memories(others)}
    told: Explained = one.replace(
        memory=as_seen(reader, view, memory),
        links=tuple((link, seen.get(other or "")) for link, other in ends if not other or other in seen),
        pull_request=change.pull_request if change else None,
    )
    return told


# --- what was recorded


def _recorded(engine: Engine, reader: Reader, where: Filter, path: str, symbol: str, changes: Sequence[Explained]) -> list[Hit]:
    """What was recorded about the symbol, the file, what the file was called before, and the commits: decisions first."""
    from hardwon.search.behind import decisions_first, speaks_of

    earlier = former(engine, path, symbol) if symbol else []
    paths = dict.fromkeys((path, *(old for old, _ in earlier), *(one.path for one in changes if one.path)))
    why: dict[str, Signal] = {}
    memories: dict[str, Memory] = {}
    for memory in reader.anchored("", symbol, where, _LISTED) if symbol else ():
        if any(anchor.path in ("", *paths) for anchor in memory.anchors):
            memories[memory.id], why[memory.id] = memory, Signal("symbol", 0.9)
    for linked in (other for one in changes for _, other in one.links if other is not None and other.number is not None):
        memories.setdefault(linked.id, linked)
        why.setdefault(linked.id, Signal("linked to the change", 0.9))
    for one in paths:
        for memory in reader.anchored(one, "", where, _LISTED):
            if symbol and not any(speaks_of(anchor, paths, symbol, earlier) for anchor in memory.anchors):
                continue
            memories.setdefault(memory.id, memory)
            why.setdefault(memory.id, Signal("file", 0.6))
    hits = [
        Hit(memory, why[memory.id].points, (why[memory.id],)) for memory in judged(engine, memories.values()) if not memory.erased
    ]
    return sorted(hits, key=decisions_first)[:_RECORDED]
