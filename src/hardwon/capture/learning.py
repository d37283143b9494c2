"""What a failure has taught once it is gone: which edits made it go, which code it was about, and whether that is worth telling."""

from __future__ import annotations

from hardwon.capture import lesson
from hardwon.capture.lesson import Lesson, Place
from hardwon.capture.state import PASSAGE, Change, Green, Red, State
from hardwon.code.test_names import is_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LESSONS = 3  # of one run
_MOST_PLACES = 3
_WIDE = 5  # places edited at once, of which nobody can tell which one helped
# What goes wrong while something is being written, and is set right at once.
_TRIVIAL = frozenset(
    (
        "SyntaxError", "IndentationError", "TabError", "NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError",
        "ReferenceError",
        "TS2304", "TS2305", "TS2307", "TS1005", "TS1128", "TS6133", "E0425", "E0432", "E0433", "E0412", "E0423",
    )
)  # fmt: skip
# What a test says of code that is not written yet.
_MISSING = (
    "has no attribute", "cannot import name", "no module named", "is not a function", "is not a constructor", "undefined:",
    "cannot find symbol",
    "no method named", "cannot find value", "cannot find function", "not implemented", "notimplemented", "is not defined",
    "unexpected keyword argument",
    "does not exist on type", "unresolved import", "undefined method", "uninitialized constant", "cannot find module",
    "does not provide an export",
)  # fmt: skip
# How words begin by which a person asks for something to be repaired ("red" alone: it is in "shared"), and what says so anywhere.
_REPAIR = (
    "fix", "bug", "debug", "hotfix", "broke", "break", "wrong", "fail", "error", "crash", "regress", "incorrect", "repair", "issue",
    "problem", "kaputt", "fehler", "falsch",
)  # fmt: skip
_REPAIR_SAID = (
    "doesn't", "does not", "should not", "shouldn't", "버그", "오류", "고쳐", "错误", "修复", "问题",
)  # fmt: skip

# By which a test is told not to run, or not to count.
_NOT_RUN = ("skip", "xfail", "@ignore", "@disabled", "#[ignore", ".only(", "xit(", "xtest(", "xdescribe(", ".todo(", "pending")


def close(state: State, closed: Sequence[Red], green: Green, at: int) -> tuple[State, list[Lesson]]:
    """The state without failures that a run says are gone, and what that taught."""
    gone: list[Red] = []
    lessons: list[Lesson] = []
    groups: dict[str, list[Red]] = {}
    for red in closed:
        if green.edits < red.last:
            continue  # it began before the failure was last seen
        if green.edits == red.last:
            if green.check == red.check:
                gone.append(red)
                lessons += [lesson.flaky(red, at)] if _is_flaky(red, green) else _checked_out(state, red, at)
            continue
        gone.append(red)
        groups.setdefault(_cause(red), []).append(red)
    told = _together([one for reds in groups.values() if (one := _learnt(state, reds, green, at)) is not None])
    after: State = state.replace(open=tuple(red for red in state.open if red not in gone))
    return after, [*lessons, *told[:MOST_LESSONS]]


def _checked_out(state: State, red: Red, at: int) -> list[Lesson]:
    """Green without an edit because git took the last ones back."""
    undone = _undone(state, red)
    places = places_of(red, undone) if undone and red.kind == "test" else []
    return [lesson.taken_back(red, undone, places, at)] if places else []


def _together(lessons: list[Lesson]) -> list[Lesson]:
    """One lesson for failures that the edit of one place ended: the one that says most, with the tests of all. The widest first."""
    by_place: dict[object, list[Lesson]] = {}
    for at, one in enumerate(lessons):
        alone = len(one.places) == 1 and one.kind == "lesson"
        by_place.setdefault((one.places[0].path, one.places[0].symbol) if alone else at, []).append(one)
    found: list[Lesson] = []
    for group in by_place.values():
        best = min(group, key=lambda one: ("` fails" in one.text, -len(one.tests), one.text))
        found.append(best.replace(tests=tuple(sorted({test for one in group for test in one.tests}))[:12]))
    return sorted(found, key=lambda one: -len(one.tests))


def _cause(red: Red) -> str:
    """What two failures have in common that are one; what a comparison found may be the same of many."""
    told = red.signature and not lesson.is_opaque(red.error)
    return red.signature if told else red.test or red.check


def _is_flaky(red: Red, green: Green) -> bool:
    return (
        bool(red.test)
        and red.kind == "test"
        and red.world == green.world
        and red.edits == green.edits
        and red.shown == green.shown
    )


def _undone(state: State, red: Red) -> list[Change]:
    """The edits of code before a failure, since it had passed, that were taken back."""
    return [one for one in state.changes if one.undone and red.green_edits < one.number <= red.edits and not is_test(one.path)]


def _learnt(state: State, reds: Sequence[Red], green: Green, at: int) -> Lesson | None:
    """What one failure taught whose tests pass again after edits; None where that is nothing."""
    red = reds[0]
    between = [change for change in state.changes if red.last < change.number <= green.edits]
    fixes = [change for change in between if not change.undone and not change.undoes]
    known = red.green_edits >= 0 and not _is_new(state, red)
    broke = [change for change in state.changes if known and red.green_edits < change.number <= red.edits]
    undone = _undone(state, red)
    if _is_slip(state, red):
        return None
    blamed = [change for change in broke if not is_test(change.path)]
    alone = not [one for one in fixes if not is_test(one.path)] and any(change.undoes for change in between)
    if undone and (alone or (blamed and all(change.undone or change.undoes for change in blamed))):
        places = places_of(red, undone)
        return lesson.taken_back(red, undone, places, at) if places else None
    if not fixes or not (red.test or red.message) or _is_routine(state, red, fixes):
        return None
    if red.test and all(one.test not in green.names and _is_silenced(one, fixes) for one in reds):
        return None
    places = places_of(red, fixes)
    if red.places:
        kept = [place for place in places if (place.path, place.symbol) in red.places]
        places = kept or places
    return lesson.fixed(reds, fixes, places, broke, at) if places else None


def _is_slip(state: State, red: Red) -> bool:
    """Whether it came of the session's own writing, and the next edit set it right: a typing error, a name that was not yet there."""
    trivial = red.error.rpartition(".")[2] in _TRIVIAL or red.kind in ("build", "types") or _is_renamed(state, red)
    return red.edits > 0 and not red.tries and trivial


def _is_routine(state: State, red: Red, fixes: Sequence[Change]) -> bool:
    """Whether a failure and its end are a matter of course: a test ahead of its code, an expectation brought up to date, a script made
    for once."""
    said = f"{red.error}: {red.message}".lower()
    if red.kind == "test" and _is_new(state, red) and (any(words in said for words in _MISSING) or not _is_repair(state)):
        return True
    if red.edits and all(is_test(change.path) for change in fixes):
        return True
    if red.kind == "run":
        return not red.frames or _is_scratch(state, red)
    return False


def _is_silenced(red: Red, fixes: Sequence[Change]) -> bool:
    """Whether the test does not fail any more because it was taken out, or told not to run."""
    function = _function(red)
    for change in fixes:
        if not (is_test(change.path) or (red.file and same_file(change.path, red.file))):
            continue
        own = bool(red.file) and same_file(change.path, red.file)
        if own and not change.old and not change.new:
            return True  # deleted, or changed in a way that nobody knows
        if function and function in change.old and function not in change.new and len(change.new) < PASSAGE:
            return True
        if own and change.whole and function and function not in change.new and len(change.new) < PASSAGE:
            return True
        old, new = change.old.lower(), change.new.lower()
        if any(new.count(word) > old.count(word) for word in _NOT_RUN):
            return True
    return False


def _function(red: Red) -> str:
    """The last part of a test's name, as it stands in its file."""
    name = red.test.partition("[")[0].rpartition("::")[2].rpartition(" > ")[2]
    return name.rpartition(".")[2].partition("/")[0]


def _is_new(state: State, red: Red) -> bool:
    """Whether the failing test was written in this session, after what it is in had passed last."""
    function = red.test.partition("[")[0].rpartition("::")[2].rpartition(".")[2]
    written = [change for change in state.changes if red.green_edits < change.number <= red.edits and is_test(change.path)]
    return any(not function or function in change.symbols or function in change.new or change.whole for change in written)


def _is_repair(state: State) -> bool:
    """Whether the person asked for something to be repaired, or nothing is known of what they asked: a test that is written first then
    shows what is wrong, and not what is to be made."""
    asked = " ".join(state.asked[-3:]).lower()
    words = "".join(char if char.isalnum() else " " for char in asked).split()
    named = any(word.startswith(_REPAIR) or word == "red" for word in words)
    return not asked or named or any(said in asked for said in _REPAIR_SAID)


def _is_renamed(state: State, red: Red) -> bool:
    """Whether a name is missing that the session's own edits took away or brought in: in the middle of renaming it, or misremembered."""
    if not any(words in red.message for words in _MISSING[:2]):
        return False
    name = red.message.rpartition("attribute '")[2] or red.message.partition("name '")[2]
    name = name.partition("'")[0]
    own = [change for change in state.changes if red.green_edits < change.number <= red.edits]
    return len(name) > 1 and any((name in change.old) != (name in change.new) for change in own)


def _is_scratch(state: State, red: Red) -> bool:
    words = red.shown.split()
    if "-c" in words or "-e" in words or "-" in words or "<<" in red.shown or "/tmp/" in red.shown:  # noqa: S108 - read in a command
        return True
    return any(change.whole and not change.old and any(word.endswith(change.path) for word in words) for change in state.changes)


def places_of(red: Red, changes: Sequence[Change]) -> list[Place]:
    """The code that a failure was about: of what was edited, what the failure went through, else all of it; [] where too much was."""
    code = [change for change in changes if not is_test(change.path)] or list(changes)
    through = [change for change in code if any(same_file(change.path, path) for path, _, _ in red.frames)]
    inside = [change for change in through if _went_through(change, red)]
    places: dict[tuple[str, str], Place] = {}
    for change in inside or through or code:
        symbol = _symbol(change, red)
        places[(change.path, symbol)] = Place(change.path, symbol, change.lines, change.new[:PASSAGE])
    if len(places) > _WIDE and not through:
        return []
    return list(places.values())[:_MOST_PLACES]


def _symbol(change: Change, red: Red) -> str:
    """Which symbol of an edit a failure was about: the one that it went through, else the first."""
    functions = [function for path, _, function in red.frames if function and same_file(change.path, path)]
    if not change.symbols:
        return functions[0] if functions and not is_test(change.path) else ""
    names = {function.rpartition(".")[2] for function in functions}
    return next((symbol for symbol in change.symbols if symbol.rpartition(".")[2] in names), change.symbols[0])


def _went_through(change: Change, red: Red) -> bool:
    names = {symbol.rpartition(".")[2] for symbol in change.symbols}
    return any(
        same_file(change.path, path) and function.rpartition(".")[2] in names for path, _, function in red.frames if function
    )


def same_file(one: str, other: str) -> bool:
    """Whether two paths may name one file: equal, or one is the end of the other."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")
