"""What a failure has taught once it is gone: which edits made it go, which code it was about, and whether that is worth telling."""

from __future__ import annotations

from hardwon.capture import lesson
from hardwon.capture.asked import is_repair
from hardwon.capture.covering import is_within
from hardwon.capture.helping import (
    function_of,
    helping,
    holds_tests,
    is_known_in_part,
    is_of_tests,
    is_rewritten,
    may_hold,
    same_file,
    says,
)
from hardwon.capture.lesson import Lesson, Place
from hardwon.capture.state import AHEAD, PASSAGE, Change, Green, Red, State
from hardwon.code.test_names import is_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_PLACES = 3
_TELLING = 4  # characters of a symbol's name that a test may be named after
_WIDE = 5  # places edited at once, of which nobody can tell which one helped
# What goes wrong while something is being written, and is set right at once.
_TRIVIAL = frozenset(
    (
        "SyntaxError", "IndentationError", "TabError", "NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError",
        "ReferenceError",
        "TS2304", "TS2305", "TS2307", "TS1005", "TS1128", "TS6133", "E0425", "E0432", "E0433", "E0412", "E0423",
    )
)  # fmt: skip
_BUILT_IN = ("str", "bytes", "int", "float", "bool", "list", "tuple", "dict", "set", "NoneType")
# What a test says of code that is not written yet.
_MISSING = (
    "has no attribute", "cannot import name", "no module named", "is not a function", "is not a constructor", "undefined:",
    "cannot find symbol",
    "no method named", "cannot find value", "cannot find function", "not implemented", "notimplemented", "is not defined",
    "unexpected keyword argument",
    "does not exist on type", "unresolved import", "undefined method", "uninitialized constant", "cannot find module",
    "does not provide an export", "failed to resolve import", "failed to load url",
)  # fmt: skip
# How the names of files end that say with what is built: a compiler that objects to them objects to versions and settings.
_SETTINGS = (
    ".json", ".toml", ".yaml", ".yml", ".lock", ".mod", ".sum", ".cfg", ".ini", ".xml", ".gradle", ".properties", ".csproj",
    "gemfile", "makefile", "cmakelists.txt", "dockerfile",
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
            if green.check == red.check or _is_as_wide(green, red):
                gone.append(red)
            if green.check == red.check:
                lessons += [lesson.flaky(red, at)] if is_flaky(red, green) else _checked_out(state, red, at)
            continue
        gone.append(red)
        groups.setdefault(_cause(red), []).append(red)
    lessons += [one for reds in groups.values() if (one := _learnt(state, reds, green, at)) is not None]
    after: State = state.replace(open=tuple(red for red in state.open if red not in gone))
    return after, lessons


def _is_as_wide(green: Green, red: Red) -> bool:
    """Whether a run took in all that the one did that showed a failure: what passes alone may still fail among others."""
    if green.narrow and green.narrow != red.narrow:
        return False
    if not green.targets:
        return True
    inside = [own for own in red.targets if any(is_within(own, one) for one in green.targets)]
    return bool(red.targets) and len(inside) == len(red.targets)


def _checked_out(state: State, red: Red, at: int) -> list[Lesson]:
    """Green without an edit because git took the last ones back."""
    undone = _undone(state, red)
    if not undone or red.kind != "test" or _is_slip(state, red, undone):
        return []
    places = places_of(red, undone)
    return [lesson.taken_back(red, undone, places, at)] if places else []


def together(lessons: Sequence[Lesson]) -> list[Lesson]:
    """One lesson for failures that the same edits ended, or did not end: the one that says most, with the tests of all. The widest
    first."""
    by_places: dict[object, list[Lesson]] = {}
    for at, one in enumerate(lessons):
        where = tuple((place.path, place.symbol) for place in one.places)
        by_places.setdefault((one.kind, bool(one.green_at), where) if one.kind in ("lesson", "attempt") else at, []).append(one)
    found: list[Lesson] = []
    for group in by_places.values():
        best = min(group, key=lambda one: ("` fails" in one.text, -len(one.tests), one.text))
        found.append(lesson.joined(best, [one for one in group if one is not best]))
    return sorted(found, key=lambda one: -len(one.tests))


def _cause(red: Red) -> str:
    """What two failures have in common that are one; what a comparison found may be the same of many."""
    told = red.signature and not lesson.is_opaque(red.error)
    return red.signature if told else red.test or red.check


def is_flaky(red: Red, green: Green) -> bool:
    """Whether a test failed and passed though nothing was changed in between."""
    alike = red.world == green.world >= 0 and red.shown == green.shown
    return bool(red.test) and red.kind == "test" and alike and red.edits == green.edits


def _undone(state: State, red: Red) -> list[Change]:
    """The edits of code before a failure, since it had passed, that were taken back."""
    return [one for one in state.changes if one.undone and red.green_edits < one.number <= red.edits and not is_of_tests(one)]


def _learnt(state: State, reds: Sequence[Red], green: Green, at: int) -> Lesson | None:
    """What one failure taught whose tests pass again after edits; None where that is nothing."""
    between = [change for change in state.changes if reds[0].last < change.number <= green.edits]
    fixes = helping(between)
    reds = [one for one in reds if not is_rewritten(one, fixes)]
    if not reds or _is_slip(state, reds[0], fixes):
        return None
    red = reds[0]
    known = red.green_edits >= 0 and not is_new(state, red)
    broke = [change for change in state.changes if known and red.green_edits < change.number <= red.edits]
    undone = _undone(state, red)
    blamed = [change for change in broke if not is_of_tests(change)]
    alone = not [one for one in fixes if not is_of_tests(one)] and any(change.undoes for change in between)
    if undone and (alone or (blamed and all(change.undone or change.undoes for change in blamed))):
        places = places_of(red, undone)
        return lesson.taken_back(red, undone, places, at) if places else None
    if not fixes or not (red.test or red.message) or _is_elsewhere(red, fixes) or _is_routine(state, red, fixes):
        return None
    silenced = red.test and all(one.test not in green.names and _is_silenced(one, fixes) for one in reds)
    if silenced or _are_settings_beside_tests(fixes):
        return None
    places = places_of(red, fixes)
    if red.places:
        kept = [place for place in places if (place.path, place.symbol) in red.places]
        places = kept or places
    if not (red.error or red.message or any(place.symbol for place in places)):
        return None  # neither why nor where
    return lesson.fixed(reds, fixes, places, broke, at) if places else None


def _is_slip(state: State, red: Red, fixes: Sequence[Change]) -> bool:
    """Whether it came of the session's own writing, and was set right in its course: a typing error, a name that was not yet there, what
    the compiler did not take. What a compiler says of versions is none."""
    if not red.edits:
        return False
    settings = bool(fixes) and all(_is_settings(change.path) for change in fixes)
    if is_of_a_compiler(red) and not settings:
        return True
    trivial = not settings and (red.compiled or red.error.rpartition(".")[2] in _TRIVIAL)
    return (trivial or _is_renamed(state, red)) and not red.tries


def is_of_a_compiler(red: Red) -> bool:
    """Whether a compiler said it, or a check of types; not what was raised by code as it was loaded."""
    if red.error == "Error" and red.kind in ("build", "types"):
        return True  # what a bundler raises when it has not built
    raised = red.error.endswith(("Error", "Exception")) and red.error != "TSError"
    return (red.compiled or red.kind in ("build", "types")) and not raised


def _is_routine(state: State, red: Red, fixes: Sequence[Change]) -> bool:
    """Whether a failure and its end are a matter of course: a test ahead of its code, an expectation brought up to date, a script made
    for once."""
    of_file = any(same_file(file, _file_of(red)) for file in state.ahead)
    ahead = of_file or _is_missing(red) or not is_repair(state.asked) or _is_in_the_making(state, red, fixes)
    if red.kind == "test" and ((ahead and is_new(state, red)) or _is_of_other_tests(state, red)):
        return True
    if red.edits and all(is_of_tests(change) for change in fixes):
        return True
    if red.kind == "run":
        return not red.frames or (is_scratch(state, red) and not _is_of_older_code(state, red, fixes))
    return False


def _is_of_older_code(state: State, red: Red, fixes: Sequence[Change]) -> bool:
    """Whether a script that the session has written led to a fault in code that was there before, and that was mended."""
    own = written(state)
    older = [one.path for one in fixes if one.path not in own]
    return is_script_of(state, red) and any(same_file(one, path) for one in older for path, _, _ in red.frames)


def _is_settings(path: str) -> bool:
    """Whether a file says with what is built and how (``package.json``, ``vite.config.ts``)."""
    return path.lower().endswith(_SETTINGS) or ".config." in path.rpartition("/")[2].lower()


def _is_missing(red: Red) -> bool:
    said = f"{red.error}: {red.message}".lower()
    return any(words in said for words in _MISSING)


def _file_of(red: Red) -> str:
    """The file of a test that failed, or the one that could not be loaded; "" for an unknown one."""
    return red.file or lesson.file_of(red.test) or (red.test if "." in red.test and is_test(red.test) else "")


def with_ahead(state: State, red: Red) -> State:
    """The state in which a file of tests that the session has written is known to be ahead of its code: one of its tests, or the file
    as a whole, misses a name. What else of it fails then is ahead as well."""
    file = _file_of(red)
    if red.kind != "test" or not file or file in state.ahead or not (_is_missing(red) and _is_of_a_new_file(state, red, file)):
        return state
    known: State = state.replace(ahead=(*state.ahead, file)[-AHEAD:])
    return known


def _is_of_a_new_file(state: State, red: Red, file: str) -> bool:
    own = [one for one in state.changes if one.number <= red.edits and is_of_tests(one) and same_file(one.path, file)]
    return any(one.whole and not one.old for one in own) or is_new(state, red)


def _is_of_other_tests(state: State, red: Red) -> bool:
    """Whether nothing but tests was edited between the last pass and the failure, for a wish and not for a fault."""
    since = [one for one in state.changes if 0 <= red.green_edits < one.number <= red.edits and not one.undone]
    return bool(since) and all(map(is_of_tests, since)) and not is_repair(state.asked)


def _is_elsewhere(red: Red, fixes: Sequence[Change]) -> bool:
    """Whether what failed names no test, and went through code of the project of which nothing was edited."""
    own = [path for path, _, _ in red.frames if is_own(path)]
    if any(map(is_test, own)):
        return False  # what was compared there may have come from anywhere
    settings = any(_is_settings(change.path) for change in fixes)
    return not red.test and bool(own) and not settings and not any(same_file(one.path, path) for one in fixes for path in own)


def _are_settings_beside_tests(fixes: Sequence[Change]) -> bool:
    """Whether no code was edited but settings, and tests as well: of the two the tests are more likely to have helped."""
    code = [one for one in fixes if not is_of_tests(one)]
    return 0 < len(code) < len(fixes) and all(_is_settings(one.path) for one in code)


def is_own(path: str) -> bool:
    """Whether a place of a trace is code of the project."""
    outside = path.startswith(("/", "<", "[", "node:", "file:")) or path[1:2] == ":"
    return bool(path) and not outside and "node_modules/" not in path and "site-packages/" not in path


def _is_in_the_making(state: State, red: Red, fixes: Sequence[Change]) -> bool:
    """Whether the code that was mended was written in this session as well, before it failed."""
    made = {change.path for change in state.changes if change.whole and not change.old and change.number <= red.edits}
    code = [change for change in fixes if not is_of_tests(change)]
    return bool(code) and all(change.path in made for change in code)


def _is_silenced(red: Red, fixes: Sequence[Change]) -> bool:
    """Whether the test does not fail any more because it was taken out, or told not to run."""
    function = function_of(red)
    for change in fixes:
        if not (is_of_tests(change) or (red.file and same_file(change.path, red.file))):
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


def is_new(state: State, red: Red) -> bool:
    """Whether the failing test was written in this session, after what it is in had passed last; of one in a table its row. It may have
    been where an edit of its file is known in part only."""
    function, row = function_of(red), red.test.rpartition("::")[2].partition("/")[2]
    names = [name for name in (function, row, row.replace("_", " ")) if name]
    written = [change for change in state.changes if red.green_edits < change.number <= red.edits and holds_tests(change)]
    return any(
        any(symbol.rpartition(".")[2] == function for symbol in change.symbols)
        or any(says(change.new, name) for name in names)
        or ((not names or change.whole or is_known_in_part(change)) and may_hold(change, red))
        for change in written
    )


def _is_renamed(state: State, red: Red) -> bool:
    """Whether a name is missing that the session's own edits took away or brought in: in the middle of renaming it, or misremembered."""
    if not any(words in red.message for words in _MISSING[:2]):
        return False
    if any(f"'{kind}' object" in red.message for kind in _BUILT_IN):
        return False  # a value is not what it was taken for
    name = red.message.rpartition("attribute '")[2] or red.message.partition("name '")[2]
    name = name.partition("'")[0]
    own = [change for change in state.changes if red.green_edits < change.number <= red.edits]
    return len(name) > 1 and any((name in change.old) != (name in change.new) for change in own)


def is_scratch(state: State, red: Red) -> bool:
    """Whether what failed was written for once: on the command line, in a temporary folder, or as a whole in this session."""
    words = red.shown.split()
    if "-c" in words or "-e" in words or "-" in words or "/tmp/" in red.shown:  # noqa: S108 - read in a command
        return True
    return is_script_of(state, red)


def is_script_of(state: State, red: Red) -> bool:
    """Whether what failed is a script that this session has written."""
    words = (*red.shown.split(), *red.targets)
    return any(same_file(word.removeprefix("./"), path) for word in words for path in written(state))


def written(state: State) -> set[str]:
    """The files that this session has written as a whole, where none was before."""
    return {change.path for change in state.changes if change.whole and not change.old}


def places_of(red: Red, changes: Sequence[Change]) -> list[Place]:
    """The code that a failure was about: of what was edited, what the failure went through, else what its test is named after, else all of
    it; [] where too much was."""
    code = [change for change in changes if not is_of_tests(change)] or list(changes)
    through = [change for change in code if any(same_file(change.path, path) for path, _, _ in red.frames)]
    inside = [change for change in through if _went_through(change, red)]
    places: dict[tuple[str, str], Place] = {}
    for change in inside or through or code:
        symbol = _symbol(change, red)
        places[(change.path, symbol)] = Place(change.path, symbol, change.lines, change.new[:PASSAGE])
    named = [place for place in places.values() if _is_named_after(red, place.symbol)]
    touched = {(change.path, symbol) for change in code for symbol in change.symbols or ("",)}
    if len(touched) > _WIDE and not inside and not named:
        return []
    return (named or list(places.values()))[:_MOST_PLACES]


def _symbol(change: Change, red: Red) -> str:
    """Which symbol of an edit a failure was about: the one that it went through, or its test is named after, else the first."""
    functions = [function for path, _, function in red.frames if function and same_file(change.path, path)]
    if not change.symbols:
        return functions[0] if functions and not is_of_tests(change) else ""
    names = {function.rpartition(".")[2] for function in functions}
    through = (symbol for symbol in change.symbols if symbol.rpartition(".")[2] in names)
    return next(through, "") or next((one for one in change.symbols if _is_named_after(red, one)), change.symbols[0])


def _is_named_after(red: Red, symbol: str) -> bool:
    """Whether a test has the whole name of a symbol in its own, however the two are spelt."""
    name = " ".join(_words(symbol.rpartition(".")[2]))
    test = " ".join(_words(red.test.rpartition("::")[2])).removeprefix("test ")
    return len(name) >= _TELLING and f" {name} " in f" {test} "


def _words(name: str) -> list[str]:
    """``http``, ``server``, ``of``, ``shop`` of ``HTTPServer_ofShop``."""
    spaced = ""
    for at, char in enumerate(name):
        begins = char.isupper() and (not name[at - 1 : at].isupper() or name[at + 1 : at + 2].islower())
        spaced += f" {char}" if begins else char if char.isalnum() else " "
    return spaced.lower().split()


def _went_through(change: Change, red: Red) -> bool:
    names = {symbol.rpartition(".")[2] for symbol in change.symbols}
    return any(
        same_file(change.path, path) and function.rpartition(".")[2] in names for path, _, function in red.frames if function
    )
