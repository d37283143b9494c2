"""What became of code since a commit: followed through renames of files, of symbols, and moves between files, step by step.

A symbol is followed by its name for as long as its file has it. Where a step takes it away, what came up new in the same step is
compared with it (code/successor.py). So each comparison spans one commit, in which little changes, instead of years.
"""

from __future__ import annotations

from hardwon.code.anchor import SHORT, code_of
from hardwon.code.index import Trail
from hardwon.code.successor import Successors, whole
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Symbol
    from hardwon.code.steps import Entry, Step
    from hardwon.code.successor import Source


# The evidence of what lies, in part at least, in the working tree only: no commit has that place, so nothing is followed from there.
UNCOMMITTED = "not committed"


class Start(Value):
    """Where a symbol is followed from: its file and name ("" for the file itself), the fingerprint and the blob that it was pinned to."""

    path: str
    symbol: str
    fingerprint: str
    blob: str = ""


def may_be_outdated(trail: Trail, changed: Collection[str], code: CodeReader) -> bool:
    """Whether what was found may be another now: the place changed, what changed it was not committed then, or code that was gone has
    come up again."""
    if not trail.path:
        return bool(changed) and bool(trail.fingerprint) and bool(code.like(trail.fingerprint, 1))
    return trail.path in changed or trail.evidence == UNCOMMITTED


def goes_on(trail: Trail | None) -> bool:
    """Whether code can be followed from where it was left. What was gone and has come up again is followed from its beginning, and so is
    what was left where no commit has it."""
    return trail is None or bool(trail.path and trail.evidence != UNCOMMITTED)


class Tracker:
    """Follows anchors through the same steps: each content is read once, and the steps that touch a file are found by its path."""

    def __init__(self, steps: Sequence[Step], source: Source, inside: Callable[[Step, str], Sequence[Step]]) -> None:
        """``steps`` oldest first; ``inside`` gives the single commits of a merge that touched a file."""
        self._steps = steps
        self._source = source
        self._successors = Successors(source)
        self._inside = inside
        self._touching: dict[str, list[tuple[int, Entry]]] = {}
        self._made: dict[str, list[Entry]] = {}
        for number, step in enumerate(steps):
            for entry in step.entries:
                if entry.old_path:
                    self._touching.setdefault(entry.old_path, []).append((number, entry))
                if entry.new_path:
                    self._made.setdefault(entry.new_path, []).append(entry)

    def follow(self, start: Start, known: Trail | None = None) -> Trail:
        """Where it is after the last step. ``known``: what was found of it before the first one."""
        path, symbol = (known.path, known.symbol) if known else (start.path, start.symbol)
        changed: tuple[str, int | None] | None = (known.changed_by, known.changed_at) if known and known.changed_at else None
        evidence = known.evidence if known else ""
        number, committed = 0, True
        while path:
            stays = self._stays(path, symbol, number)
            if changed is None:
                changed = self._first_change(start, path, symbol, stays)
            if len(stays) == len(self._after(path, number)):
                break
            at, entry = self._after(path, number)[len(stays)]
            step = self._steps[at]
            path, symbol, told = self._next(step, entry, symbol)
            evidence = told or evidence
            committed = committed and bool(step.commit)
            if path:
                changed = changed or self._if_changed(start, path, symbol, at)
            else:
                changed = changed or (self._who(step, entry, lambda blob, where: blob == ""), step.at)
            number = at + 1
        if changed == ("", None) or not committed:
            evidence = UNCOMMITTED
        return Trail(path, symbol if path else "", *(changed or ("", None)), evidence, start.fingerprint)

    def _after(self, path: str, number: int) -> list[tuple[int, Entry]]:
        return [(at, entry) for at, entry in self._touching.get(path, ()) if at >= number]

    def _stays(self, path: str, symbol: str, number: int) -> list[tuple[int, Entry]]:
        """The next steps that touch the file and leave the symbol in it."""
        touches = self._after(path, number)
        end = next((place for place, (_, entry) in enumerate(touches) if entry.new_path != path), len(touches))
        edits = touches[:end]
        if not symbol or not edits or self._has(edits[-1][1], symbol):
            return edits
        return edits[: _first(edits, lambda entry: not self._has(entry, symbol))]

    def _has(self, entry: Entry, symbol: str) -> bool:
        return self._find(entry.new_blob, entry.new_path, symbol) is not None

    def _find(self, blob: str, path: str, symbol: str) -> Symbol | None:
        """The symbol of that very name: ``openFile`` that became ``OpenFile`` was renamed."""
        return whole([one for one in self._source.symbols(blob, path) if one.qualified == symbol])

    # What changed it

    def _first_change(
        self, start: Start, path: str, symbol: str, stays: Sequence[tuple[int, Entry]]
    ) -> tuple[str, int | None] | None:
        if not stays or not self._differs(start, stays[-1][1].new_blob, path, symbol):
            return None
        at, entry = stays[_first(stays, lambda entry: self._differs(start, entry.new_blob, path, symbol))]
        step = self._steps[at]
        return self._who(step, entry, lambda blob, where: self._differs(start, blob, where, symbol)), step.at

    def _if_changed(self, start: Start, path: str, symbol: str, at: int) -> tuple[str, int | None] | None:
        step = self._steps[at]
        entry = next((entry for entry in step.entries if entry.new_path == path), None)
        if entry is None or not self._differs(start, entry.new_blob, path, symbol):
            return None
        return step.commit, step.at

    def _differs(self, start: Start, blob: str, path: str, symbol: str) -> bool:
        if not symbol:
            return blob != start.blob
        if not start.fingerprint:
            return False
        found = [one for one in self._source.symbols(blob, path) if one.qualified == symbol]
        return bool(found) and code_of(found) != start.fingerprint

    def _who(self, step: Step, entry: Entry, did: Callable[[str, str], bool]) -> str:
        """The commit itself; of a merge, the one that it brought of which ``did`` (by blob and path) holds first."""
        for inner in self._inside(step, entry.old_path) if len(step.parents) > 1 else ():
            for change in inner.entries:
                if change.old_path == entry.old_path and did(change.new_blob, change.new_path):
                    return inner.commit
        return step.commit

    # Where it went

    def _next(self, step: Step, entry: Entry, symbol: str) -> tuple[str, str, str]:
        """Path and symbol after a step that renamed or removed the file, or took the symbol out of it; and how that was told."""
        if not symbol:
            return entry.new_path, "", "file renamed" if entry.new_path else ""
        if entry.new_path and self._has(entry, symbol):
            return entry.new_path, symbol, "file renamed"
        lost = self._find(entry.old_blob, entry.old_path, symbol)
        if lost is None:
            return "", "", ""
        return self._successors.find(step, entry, lost) or self._moved_in_steps(lost)

    def _moved_in_steps(self, lost: Symbol) -> tuple[str, str, str]:
        """The place of the same code that came up in another commit than the one that took it away. A copy that was there before the
        first step stays a copy."""
        if lost.tokens < SHORT:
            return "", "", ""
        for path, symbol in self._source.like(lost.fingerprint):
            for entry in self._made.get(path, ()):
                before = self._source.symbols(entry.old_blob, entry.old_path) if entry.old_blob else ()
                if not any(one.fingerprint == lost.fingerprint for one in before):
                    return path, symbol, "same code, moved over several commits"
        return "", "", ""


def _first(touches: Sequence[tuple[int, Entry]], holds: Callable[[Entry], bool]) -> int:
    """The place of the first of which it holds, by bisection: of the last it does, and it is taken not to end once it began."""
    low, high = 0, len(touches) - 1
    while low < high:
        middle = (low + high) // 2
        if holds(touches[middle][1]):
            high = middle
        else:
            low = middle + 1
    return low
