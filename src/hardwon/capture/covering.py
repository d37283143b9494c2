"""Which failures a run that passed took in, by what it was told to run."""

from __future__ import annotations

from hardwon.capture.commands import is_elsewhere, tags_of
from hardwon.capture.helping import same_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.commands import Work
    from hardwon.capture.state import Green, Red

# What runs a project's own tests, whichever runner does it; and the runners that take a part of a file's name for it.
_ALL_TESTS = frozenset(("npm", "yarn", "pnpm", "bun", "make", "just", "task", "tox", "nox", "turbo", "nx", "mise"))
# What the names of scripts say whose tests are not among those that "test" alone runs.
_APART = frozenset(("integration", "e2e", "ci", "smoke", "acceptance", "functional", "browser", "system"))
# What stands before a command that npm, pnpm, Yarn and Bun run, and before a file of which Jest and Vitest tell.
_ECHO = ("> ", "$ ", "PASS ", " ✓ ", "✓ ", "FAIL ", " FAIL ")
_FIRST = 60_000  # characters of an output
_BY_PART = frozenset(("jest", "vitest", "npm", "yarn", "pnpm", "bun"))


def closes(green: Green, red: Red) -> bool:
    """Whether a run that passed says that an open failure is gone."""
    if green.check == red.check:
        return True
    if green.kind != red.kind or red.kind != "test" or is_elsewhere(green.check, red.check):
        return False
    if red.test:
        return red.test in green.names or (
            _is_built_alike(green, red) and covers(green, red.test, red.file, red.runner, red.targets, red.folder)
        )
    return green.runner == red.runner and not green.targets and not green.narrow


def _is_built_alike(green: Green, red: Red) -> bool:
    """Whether a run may have built the test at all: Go's tags leave out what is not asked for."""
    tags = tags_of(red.shown)
    return not tags or tags == tags_of(green.shown) or (green.runner == red.runner and green.runner != "go")


def _is_apart(runner: str) -> bool:
    """Whether a script by its name runs tests that "test" alone leaves out."""
    script = runner.partition(" ")[2]
    return not _APART.isdisjoint(script.replace("-", ":").replace("_", ":").split(":"))


def _is_runner_of(green: Green, runner: str) -> bool:
    """Whether a run may take in tests that another command ran: by the same runner, by what runs all of a project's tests, or by name
    where the other one did that."""
    program = runner.partition(" ")[0]
    if program == green.runner and _is_apart(runner):
        return False
    if green.runner == runner or green.runner in _ALL_TESTS:
        return True
    return program in _ALL_TESTS and bool(green.targets or green.narrow or green.names)


def covers(green: Green, test: str, file: str, runner: str, targets: tuple[str, ...], folder: str = "") -> bool:
    """Whether a run that passed took in a test, by what it was told to run. ``folder``: where the test ran; a report may name it from
    there, and a target from the project's top."""
    if not _is_runner_of(green, runner):
        return False
    if green.narrow and not _is_picked(green, test):
        return False
    if not green.targets:
        return True
    named = [name for name in (file, test, test.partition("[")[0]) if name]
    own = [*named, *targets, *(f"{folder}/{name}" for name in named if folder)]
    if green.runner in _BY_PART and any(
        one in file for target in green.targets for one in (target, target.removeprefix(f"{folder}/"))
    ):
        return True
    return any(is_within(one, target) for target in green.targets for one in own)


def runs_file(work: Work, output: str, file: str) -> bool:
    """Whether a run names a file of tests: the command, the command behind it that a runner of scripts prints, or a report by file."""
    words = {*work.targets, *work.shown.split()}
    for line in output[:_FIRST].split("\n"):
        if line.startswith(_ECHO):
            words.update(line.split())
    return any(same_file(word.removeprefix("./"), file.removeprefix("./")) for word in words)


def is_within(one: str, target: str) -> bool:
    """Whether a file, test or target is what another names, or lies in it (``internal/...`` of Go is all of a folder)."""
    one, target = one.removesuffix("/..."), target.removesuffix("/...")
    return one == target or one.startswith((f"{target}/", f"{target}::", f"{target}["))


def _is_picked(green: Green, test: str) -> bool:
    """Whether a pattern takes a test in: as a part of its name, its beginning or its end. Go has one for each level of names."""
    for pattern in green.narrow.split("|"):
        if green.runner != "go":
            wanted, own = [pattern], [test]
        else:
            wanted, own = pattern.split("/"), test.split("/")
        if len(wanted) <= len(own) and all(map(_fits, wanted, own)):
            return True
    return False


def _fits(pattern: str, name: str) -> bool:
    plain = pattern.strip("^$")
    if pattern.startswith("^") and not name.startswith(plain):
        return False
    if pattern.endswith("$") and not name.endswith(plain):
        return False
    return plain in name and (plain == name or not (pattern.startswith("^") and pattern.endswith("$")))
