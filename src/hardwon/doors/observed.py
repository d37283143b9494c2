"""What a command that we ran ourselves tells of tests: by a report that it wrote, else by what it printed."""

from __future__ import annotations

import os
import shlex

from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.capture.commands import Work
    from hardwon.capture.outcome import TestOutcome
    from hardwon.code.edits import WorkingTree
    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.outcomes import RunOfTests

_STEP_MS = 2_000  # file systems keep times of a second or two only


def of_command(call: Call, engine: Engine, tree: WorkingTree, began: int, code: int, output: str) -> RunOfTests | None:
    """The run; None where it was none of tests or a build, or teaches nothing."""
    from hardwon.capture.commands import works
    from hardwon.engine.outcomes import RunOfTests

    words = call.request.texts("command")
    checks = [
        work for work in works(shlex.join(words), engine.home.checkout.prefix) if work.kind in ("test", "build", "types", "lint")
    ]
    job, report = call.request.text("job"), call.request.text("junit")
    if report:
        return RunOfTests(here(engine, _of_report(call, report, began, exists(engine))), tree, began, "ran", job)
    if not checks:
        return None
    check = checks[-1]
    if code and _is_routine(check, code, output):
        return None
    told, green, counts = _of_output(check, code, output)
    if check.kind != "test" and code:
        told = told or _of_build(check, output)
    if not told and not green:
        return None
    return RunOfTests(here(engine, told), tree, began, "ran", job, checks=_key(check, job), complete=green, counts=counts)


def _is_routine(check: Work, code: int, output: str) -> bool:
    from hardwon.capture.routine import reason

    return bool(reason(check, code, "failed", output))


def _key(check: Work, job: str) -> str:
    from hardwon.digest import blake2b

    return blake2b(f"{check.key}\0{job}".encode("utf-8", "replace"), digest_size=12).hexdigest()


def _of_output(check: Work, code: int, output: str) -> tuple[tuple[TestOutcome, ...], bool, tuple[int, int] | None]:
    """What the output says test by test; whether it says that all passed, which the exit code has to say as well; its counts."""
    from hardwon.capture import results
    from hardwon.capture.outcome import of_results
    from hardwon.capture.routine import of_failure

    found = results.read(output) if check.kind == "test" else None
    if found is None:
        return (), False, None
    green = code == 0 and found.verdict is True and found.passed > 0 and not check.narrow and not check.stops
    told = of_results(found, of_failure)
    agree = (code != 0) == bool(found.failed or found.broken)
    return (told if agree else ()), green, (found.passed, found.failed)


def _of_build(check: Work, output: str) -> tuple[TestOutcome, ...]:
    from hardwon.capture import results
    from hardwon.capture.outcome import TestOutcome, cut, written

    found = results.failure(output)
    if found is None:
        return ()
    log = cut(written(found))
    return (TestOutcome(check.shown[:200], "failed", found.file, found.kind, found.message, log, check.kind),)


def _of_report(call: Call, name: str, began: int, there: Callable[[str], bool]) -> tuple[TestOutcome, ...]:
    """The tests of a report that this very run wrote: one that lay there before says nothing of it."""
    from hardwon.importers import junit

    path = os.path.join(call.cwd, os.path.expanduser(name))
    try:
        written = os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        raise InvalidInput(
            f"the command wrote no report {name[:200]!r}", field="junit", remedy="name the file that it writes"
        ) from None
    if written < began - _STEP_MS:
        raise InvalidInput(
            f"{name[:200]!r} is older than this run", field="junit", remedy="name the file that the command writes"
        )
    with open(path, "rb") as file:
        return junit.read(file, there).tests


def exists(engine: Engine) -> Callable[[str], bool]:
    """Whether a path is a file, from the folder that we stand in or from the repository's top."""
    checkout = engine.home.checkout
    places = [os.path.join(checkout.root, checkout.prefix), checkout.root]
    return lambda path: any(os.path.isfile(os.path.join(place, path)) for place in places)


def here(engine: Engine, outcomes: Iterable[TestOutcome]) -> tuple[TestOutcome, ...]:
    """Outcomes of tests that ran in the folder that we stand in, named as from the repository's top."""
    from hardwon.capture.outcome import placed

    checkout = engine.home.checkout
    return placed(outcomes, checkout.prefix, lambda path: os.path.isfile(os.path.join(checkout.root, path)))
