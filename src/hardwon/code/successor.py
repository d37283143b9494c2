"""Which symbol succeeds one that a commit took away: the same code, the same name, or code that is alike, of what came up in it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from hardwon.code.anchor import SHORT, code_of
from hardwon.code.names import last_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from hardwon.code.outline import Symbol
    from hardwon.code.steps import Entry, Step

    class Source(Protocol):
        """Contents and what they declare, whatever commit they are of."""

        def symbols(self, blob: str, path: str) -> Sequence[Symbol]:
            """What a blob declares; nothing where it cannot be read."""

        def text(self, blob: str) -> bytes:
            """Its content; b"" where it cannot be read."""

        def like(self, fingerprint: str) -> Sequence[tuple[str, str]]:
            """Path and symbol of the same code after the last step."""


# How alike two bodies have to be (the share of their tokens that both have in one order) to be one symbol under a new name: in its
# own file, in another one, and where the name stayed.
ALIKE_HERE, ALIKE_ELSEWHERE, ALIKE_NAMESAKE = 0.6, 0.7, 0.4
# The same of a function of fewer than ``SHORT`` tokens that went into a class, a namespace or another function.
ALIKE_SHORT = 0.85
# A file that is gone, and one of its name that came up: one file, if it declares this share of the names.
SAME_FILE = 0.5
# Files of one step that are searched for what it took away: of its name, and others.
_MOST_FILES = 200
_MOST_TOKENS = 3_000  # of a body that are compared
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_CALLED = frozenset(("function", "method"))


class Successors:
    """Finds successors by what the contents of one history declare."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def find(self, step: Step, entry: Entry, lost: Symbol) -> tuple[str, str, str] | None:
        """Path and name of the symbol that ``lost`` became when ``step`` took it out of ``entry``'s file, and how that was told."""
        if moved := self._moved_file(step, entry, lost):
            return moved
        arrivals = list(self._arrivals(step, entry))
        equal = sum(candidate.fingerprint == lost.fingerprint for _, candidate, _ in arrivals)
        ranked = [
            (rank, new_entry.new_path, candidate.qualified, told)
            for new_entry, candidate, fresh in arrivals
            for rank, told in (self._likeness(entry, lost, new_entry, candidate, equal if fresh else 0),)
            if rank
        ]
        return max(ranked, key=lambda one: one[0])[1:] if ranked else None

    def _moved_file(self, step: Step, entry: Entry, lost: Symbol) -> tuple[str, str, str] | None:
        """The symbol of the same name in a file of the same name that came up where this one went. Git pairs each new file with one
        old one only, and of two copies that were melded with the other."""
        if entry.new_path:
            return None
        old = {symbol.qualified for symbol in self._source.symbols(entry.old_blob, entry.old_path)}
        shares = []
        for other in _of_its_name(step, entry):
            new = {symbol.qualified for symbol in self._source.symbols(other.new_blob, other.new_path)}
            if other.old_path != other.new_path and lost.qualified in new and len(old & new) >= SAME_FILE * len(old):
                shares.append((len(old & new), _common_end(entry.old_path, other.new_path), other.new_path))
        return (max(shares)[2], lost.qualified, "file moved") if shares else None

    def _arrivals(self, step: Step, entry: Entry) -> Iterator[tuple[Entry, Symbol, bool]]:
        """What came up new in a step: in the file itself, in those of its name, in others. And, not fresh, what a file that was moved
        brought to its new place."""
        rest = [other for other in _others(step, entry) if _name(other.new_path) != _name(entry.old_path)]
        for one in [entry, *_of_its_name(step, entry), *rest[:_MOST_FILES]]:
            if not one.new_blob:
                continue
            before = self._source.symbols(one.old_blob, one.old_path) if one.old_blob else ()
            known = {symbol.qualified for symbol in before}
            new: dict[str, list[Symbol]] = {}
            for symbol in self._source.symbols(one.new_blob, one.new_path):
                if symbol.qualified not in known or (one is not entry and one.old_path != one.new_path):
                    new.setdefault(symbol.qualified, []).append(symbol)
            for name, declarations in new.items():
                if together := whole(declarations):
                    yield one, together, name not in known

    def _likeness(self, entry: Entry, lost: Symbol, new_entry: Entry, candidate: Symbol, equal: int) -> tuple[float, str]:
        """How surely a symbol is the lost one (0: it is not), and why. ``equal``: how many new ones have its code; 0 for one that was
        there before under another path, and has to have the whole name."""
        namesake = last_part(candidate.qualified) == last_part(lost.qualified)
        here = new_entry is entry
        if not equal and candidate.fingerprint == lost.fingerprint:
            return (3.0, "same code") if candidate.qualified == lost.qualified else (0.0, "")
        whole_name = candidate.qualified == lost.qualified
        if candidate.fingerprint == lost.fingerprint and (namesake or (equal == 1 and (here or lost.tokens >= SHORT))):
            return 4.0 + namesake + here + whole_name / 2, "same code"
        stands_for_it = whole_name or (here and (namesake or _container(candidate) == _container(lost)))
        # Of methods every second class has one that is called so and does next to the same.
        is_known = stands_for_it or (namesake and not _container(lost))
        if not _comparable(lost, candidate, SHORT // 3 if is_known else SHORT):
            return 0.0, ""
        alike = self._alike(entry, lost, new_entry, candidate)
        least = ALIKE_NAMESAKE if namesake else ALIKE_HERE if here else ALIKE_ELSEWHERE
        if not stands_for_it and min(candidate.tokens, lost.tokens) < SHORT:
            least = ALIKE_SHORT
        if alike < least:
            return 0.0, ""
        return alike + namesake + whole_name / 2, f"{'same name, ' if namesake else ''}{round(alike * 100)} % of its code"

    def _alike(self, entry: Entry, lost: Symbol, new_entry: Entry, candidate: Symbol) -> float:
        old = self._tokens(self._source.text(entry.old_blob), lost)
        new = self._tokens(self._source.text(new_entry.new_blob), candidate)
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        # The bound costs next to nothing, and most pairs do not reach it.
        return matcher.ratio() if matcher.quick_ratio() >= ALIKE_NAMESAKE else 0.0

    def _tokens(self, text: bytes, symbol: Symbol) -> list[bytes]:
        lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[symbol.first - 1 : symbol.last]
        return _TOKEN.findall(b"\n".join(lines))[:_MOST_TOKENS]


def _comparable(lost: Symbol, candidate: Symbol, fewest: int) -> bool:
    """Whether likeness could tell anything of them. Few tokens are alike by chance in every test and delegation: ``fewest`` are asked
    of both, more where neither the place nor the name speaks for it."""
    if (candidate.kind in _CALLED) != (lost.kind in _CALLED) or min(candidate.tokens, lost.tokens) < fewest:
        return False
    return lost.tokens / 3 <= candidate.tokens <= lost.tokens * 3


def _container(symbol: Symbol) -> str:
    """What it is declared in; "" for the file itself."""
    return symbol.qualified.rpartition(".")[0]


def whole(declarations: Sequence[Symbol]) -> Symbol | None:
    """All declarations of one name as one symbol, at the lines of the longest."""
    if len(declarations) < 2:
        return declarations[0] if declarations else None
    longest = max(declarations, key=lambda one: one.tokens)
    together: Symbol = longest.replace(fingerprint=code_of(declarations), tokens=sum(one.tokens for one in declarations))
    return together


def _others(step: Step, entry: Entry) -> list[Entry]:
    """What else a step brought."""
    return [
        other
        for other in step.entries
        if other is not entry and other.new_blob and (other.new_blob != other.old_blob or other.new_path != other.old_path)
    ]


def _of_its_name(step: Step, entry: Entry) -> list[Entry]:
    return [other for other in _others(step, entry) if _name(other.new_path) == _name(entry.old_path)][:_MOST_FILES]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _common_end(one: str, other: str) -> int:
    """How many of the last folders two paths share."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next(
        (count for count, (first, second) in enumerate(pairs) if first != second), min(one.count("/"), other.count("/")) + 1
    )
