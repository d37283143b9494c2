"""Which edits may have helped against a failure: not those that only had something printed, nor those that wrote the test anew."""

from __future__ import annotations

from hardwon.capture.changed_lines import alike
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
# Where a service looks for what it is to run, and how such files are called; those of git and of editors.
_CI_FOLDERS = (
    "/.github/workflows",
    "/.circleci",
    "/.gitlab/ci",
    "/.buildkite",
    "/.woodpecker",
    "/.forgejo/workflows",
    "/.gitea/workflows",
)
_CI_NAMES = (
    ".gitlab-ci.", ".travis.", "azure-pipelines.y", "jenkinsfile", "bitbucket-pipelines.y", "appveyor.y", ".appveyor.", ".drone.",
    ".woodpecker.", "cloudbuild.y", "codecov.y", ".codecov.", "dependabot.y", ".gitignore", ".gitattributes", ".editorconfig",
)  # fmt: skip
_RUST_TESTS = ("#[cfg(test)", "#[test", "#[rstest", "#[case", "#[wasm_bindgen_test", "#[quickcheck", "#[should_panic")
_REMARKS = ("//", "# ", "/*", "* ", "*/", "-- ")


def helping(changes: Iterable[Change]) -> list[Change]:
    """The edits that stand as they were made and did more than to have something printed, or a service run something."""
    return [
        change
        for change in changes
        if not (change.undone or change.undoes or is_debugging(change) or is_read_by_no_check(change.path))
    ]


def is_read_by_no_check(path: str) -> bool:
    """Whether a file is for others than a check on this machine: it tells a service what to run, or git and an editor what to do."""
    name = path.lower().rpartition("/")[2]
    return f"/{path.lower()}".rpartition("/")[0].endswith(_CI_FOLDERS) or name.startswith(_CI_NAMES)


def is_of_tests(change: Change) -> bool:
    """Whether an edit is one of tests: of a file that holds them, or of nothing but the tests in a source file of Rust."""
    if is_test(change.path):
        return True
    if not change.path.endswith(".rs"):
        return False
    inner = [_is_inner_test(change, one) for one in change.symbols]
    told = [one for one in inner if one is not None]  # what was cut off is like the rest
    return _is_below_tests(change) or (bool(told) and all(told))


def holds_tests(change: Change) -> bool:
    """Whether tests may be among what an edit wrote or took out."""
    inner = change.path.endswith(".rs") and any(
        mark in text for text in (change.new, change.old) for mark in ("#[test", "test]\n", "::test(")
    )
    return inner or is_of_tests(change)


def _is_below_tests(change: Change) -> bool:
    """Whether all that an edit touches stands below the mark of a module of tests, or begins with it, or with what a test asserts."""
    before, after = change.old.split("\n"), change.new.split("\n")
    first, last = alike(before, after)
    lines = after if len(after) - last > first else before
    start = next((at for at in range(first, len(lines)) if lines[at].strip()), first)
    asserts = not change.symbols and "".join(lines[start : start + 1]).strip().startswith("assert")
    return asserts or any(_opens_tests(lines, at) for at in range(min(start + 1, len(lines))))


def _opens_tests(lines: Sequence[str], at: int) -> bool:
    """Whether a line is the mark of a module of tests, and not that of a single thing that only tests use."""
    below = next((line for line in lines[at + 1 : at + 9] if not line.strip().startswith("#[")), "")
    return lines[at].strip().startswith(_RUST_TESTS[0]) and says(below, "mod") and "{" in below


def _is_inner_test(change: Change, symbol: str) -> bool | None:
    """Whether a symbol is a module of tests, lies in one, or stands under the mark of a test; None where it is not in what was kept."""
    *modules, name = symbol.replace("::", ".").split(".")
    if any(one in ("test", "tests") or one.endswith(("_test", "_tests")) for one in modules) or name == "tests":
        return True
    marks: list[str] = []
    for line in (line.strip() for text in (change.new, change.old) for line in text.split("\n")):
        if line.startswith("#["):
            marks.append(line)
        elif says(line, f"fn {name}") or says(line, f"mod {name}"):
            return any(mark.startswith(_RUST_TESTS) or "test]" in mark or "::test(" in mark for mark in marks)
        elif line:
            marks = []
    return None if len(change.new) >= PASSAGE else False


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
        may_hold(change, red)
        and (holds_tests(change) or not change.path.endswith(".rs"))
        and (bool(function and _touches(change, function)) or (is_of_tests(change) and (change.whole or not change.symbols)))
        for change in fixes
    )


def may_hold(change: Change, red: Red) -> bool:
    """Whether the test that failed may stand where an edit was made: in the file which its failure names, or which it was compiled from;
    else in any of tests."""
    path = change.path
    files = [one for one in (red.file, *(place for place, _, _ in red.frames)) if is_test(one)]
    inside = [place for place, _, _ in red.frames if path.endswith(".rs")]
    if any(same_file(path, one) for one in (*files, *inside, red.file)):
        return True
    return is_of_tests(change) and (not files or _stem(path) in map(_stem, files))


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
