"""Which edits may have helped against a failure: not those that only had something printed, nor those that wrote the test anew."""

from __future__ import annotations

from hardwon.capture.state import PASSAGE
from hardwon.code.test_names import is_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.capture.state import Change, Red

# How lines begin that only print something, or write it to a log. What ends the program after it does more.
_PRINTING = (
    "print(", "print ", "pprint(", "println(", "printf(", "print!(", "println!(", "eprint!(", "eprintln!(", "dbg!(", "debug_print(",
    "fmt.print", "fmt.fprint", "fprintf(stderr", "std::cerr", "std::cout", "system.out.", "system.err.", "sys.stderr.write(",
    "console.log(", "console.debug(", "console.info(", "console.warn(", "console.error(", "console.trace(", "console.write",
    "process.stderr.write(", "t.log", "log.print", "log.debug", "log.info", "log.warn", "log.trace", "log.error", "log.d(", "log.i(",
    "logger.debug", "logger.info", "logger.warn", "logger.trace", "logger.error", "logging.debug", "logging.info", "logging.warn",
    "logging.error", "slog.debug", "slog.info", "slog.warn", "slog.error", "debug.writeline(", "debug.log(", "nslog(", "error_log(",
    "var_dump(", "print_r(", "puts ", "pp ", "warn ",
)  # fmt: skip
_REMARKS = ("//", "# ", "/*", "* ", "*/", "-- ")


def helping(changes: Iterable[Change]) -> list[Change]:
    """The edits that stand as they were made and did more than to have something printed."""
    return [change for change in changes if not change.undone and not change.undoes and not is_debugging(change)]


def is_debugging(change: Change) -> bool:
    """Whether an edit did nothing but add or remove lines that print something. What was cut off nobody knows, nor what a changed line
    printed for."""
    if change.whole or max(len(change.old), len(change.new)) >= PASSAGE:
        return False
    before, after = _lines(change.old), _lines(change.new)
    gone, come = before - after, after - before
    differ = [line for line in (*gone, *come) if not line.startswith(_REMARKS)]
    return not (gone and come) and bool(differ) and all(line.lower().startswith(_PRINTING) for line in differ)


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.split("\n")} - {""}


def is_rewritten(red: Red, fixes: Sequence[Change]) -> bool:
    """Whether the test that failed may have been made to pass by writing it anew: an edit of its own function, or one of its file of which
    nobody knows how far it went. Where the failure does not say in which file it is, that may be any."""
    if red.kind != "test" and not any(is_test(path) for path, _, _ in red.frames):
        return False
    function = function_of(red)
    return any(
        may_hold(change.path, red)
        and (bool(function and _touches(change, function)) or (is_test(change.path) and (change.whole or not change.symbols)))
        for change in fixes
    )


def may_hold(path: str, red: Red) -> bool:
    """Whether the test that failed may stand in a file: in that which its failure names, or which it was compiled from; else in any of
    tests."""
    files = [one for one in (red.file, *(place for place, _, _ in red.frames)) if is_test(one)]
    if any(same_file(path, one) for one in (*files, red.file)):
        return True
    return is_test(path) and (not files or _stem(path) in map(_stem, files))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def is_known_in_part(change: Change) -> bool:
    """Whether an edit wrote more than what is kept of it, so that nobody knows all that it touches."""
    return len(change.new) >= PASSAGE and len(change.symbols) != 1


def _touches(change: Change, function: str) -> bool:
    named = any(symbol.rpartition(".")[2] == function for symbol in change.symbols)
    return named or says(change.old, function) or says(change.new, function)


def function_of(red: Red) -> str:
    """The last part of a test's name, as it stands in its file."""
    name = red.test.partition("[")[0].rpartition("::")[2].rpartition(" > ")[2].rpartition(" › ")[2]
    return name.rpartition(".")[2].partition("/")[0]


def says(text: str, name: str) -> bool:
    """Whether a name stands in a text, and not only as a part of a longer one."""
    at = text.find(name)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
        if not any(char.isalnum() or char == "_" for char in around):
            return True
        at = text.find(name, at + 1)
    return False


def same_file(one: str, other: str) -> bool:
    """Whether two paths may name one file: equal, or one is the end of the other."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")
