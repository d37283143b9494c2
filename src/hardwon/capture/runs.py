"""Commands of a session that have ended: whether a check passed, which failures that opens, and which it ends."""

from __future__ import annotations

from hardwon.capture import lesson, routine
from hardwon.capture.commands import is_elsewhere, works
from hardwon.capture.covering import closes, covers, runs_file
from hardwon.capture.edited import placed, slashed
from hardwon.capture.helping import is_debugging, is_of_tests, is_read_by_no_check, is_rewritten
from hardwon.capture.learning import close, is_flaky, is_new, is_of_a_compiler, places_of, together, with_ahead
from hardwon.capture.mutating import after_git, changes, is_aside, meddles
from hardwon.capture.quoted import passage
from hardwon.capture.report import REST, is_file
from hardwon.capture.state import GREENS, OPEN, TOLD, Green, Red

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.commands import Work
    from hardwon.capture.event import Event
    from hardwon.capture.lesson import Lesson
    from hardwon.capture.results import Failing, Results
    from hardwon.capture.state import Change, State

_MOST_LESSONS = 3  # of one event
_OTHERWISE = ("path", "network", "environment")  # of what a check failed that ran, and teaches nothing
_LAST_LINES = 12  # in which the last report of a line stands that runs one check twice


def ended(state: State, event: Event, since: int, world: int) -> tuple[State, tuple[Lesson, ...]]:
    """A shell command that has ended."""
    folder = placed(event.cwd, "", state.root) if event.cwd and slashed(event.cwd) != state.root else ""
    done = works(event.command, folder)
    lessons: list[Lesson] = []
    meddled = aside = False
    again = _again_green(event, done)
    for at, work in enumerate(done):
        told = event.replace(output=again[work.key]) if work.key in again else event
        later = work.key in again and any(one.key == work.key for one in done[at + 1 :])
        if work.kind in ("test", "build", "types", "run") and not (work.inline or aside or later):
            alone = len([one for one in done if one.kind == work.kind]) == 1
            passed = _led_to_a_report(done, at, event)
            state, learnt = _checked(state, told, work, alone, since, world, meddled, passed)
            lessons += learnt
        aside = is_aside(work, aside)
        meddled = meddled or meddles(work)
        if work.kind == "git":
            state = after_git(state, work, event)
        if changes(work):
            world = -1  # what comes behind it on the line meets other files, or another machine
    if any(changes(work) for work in done) and event.ended != "denied":
        state = state.replace(world=state.world + 1)
    joined = together(lessons)
    fresh = tuple(one for one in joined if one.text not in state.told or one.outcome == "failed")[:_MOST_LESSONS]
    state = state.replace(told=(*state.told, *(one.text for one in fresh))[-TOLD:])
    return state, fresh


def _led_to_a_report(done: Sequence[Work], at: int, event: Event) -> bool:
    """Whether a check stands before tests that reported, which ran only because it had passed (``mypy && pytest``)."""
    behind = at
    while behind + 1 < len(done) and done[behind].chained:
        behind += 1
    return behind > at and done[at].kind != "test" and any(_results(one, event.output) for one in done[at + 1 : behind + 1])


def _again_green(event: Event, done: Sequence[Work]) -> dict[str, str]:
    """The checks that a line runs more than once and whose last report is green, with that report: red first, on purpose."""
    keys = [work.key for work in done if work.kind == "test"]
    twice = {key for key in keys if keys.count(key) > 1}
    if not twice:
        return {}
    from hardwon.capture import results

    lines = event.output.rstrip().split("\n")[-_LAST_LINES:]
    for at in range(len(lines) - 1, -1, -1):
        text = "\n".join(lines[at:])
        told = results.read(text)
        if told is not None and told.verdict is not None:
            return dict.fromkeys(twice, text) if told.verdict else {}
    return {}


def _checked(
    state: State, event: Event, work: Work, alone: bool, since: int, world: int, meddled: bool, passed: bool
) -> tuple[State, list[Lesson]]:
    code = event.exit_code if event.exit_code is not None else {"ok": 0, "failed": 1}.get(event.ended)
    project = _project(state)
    if event.ended in ("denied", "interrupted"):
        return state, []
    if work.kind == "test" and not work.harmless:
        world = -1  # it writes anew what is expected: like no other state of the files
    results = _results(work, event.output)
    verdict = passed or _verdict(work, results, code, alone, event)
    if verdict is None:
        return state, []
    if verdict:
        counted: State = state.replace(passed=state.passed + 1)
        return _green(counted, work, results, event, since, world)
    why = routine.reason(work, event.exit_code, event.ended, event.output, project)
    if why:
        return (_replaced(state, work, event) if why in _OTHERWISE else state), []
    counted = state.replace(failed=state.failed + 1)
    return _red(counted, work, results, event, since, world, meddled)


def _replaced(state: State, work: Work, event: Event) -> State:
    """The state in which nobody knows any more why a check failed that names no tests: its last run said something else, which teaches
    nothing or cannot be read. The failure stays open without its words, so that what comes next is as old as it is; tests that a run
    did not reach keep theirs, and of an output that was piped on nobody knows what it said."""
    if work.kind == "test" or not work.certain or not event.output.strip() or "truncated" in event.output:
        return state
    left = tuple(
        red.replace(error="", message="", signature="", frames=(), passage="", tries=(), compiled=False)
        if not red.test and red.check == work.key
        else red
        for red in state.open
    )
    replaced: State = state.replace(open=left)
    return replaced


def _results(work: Work, output: str) -> Results | None:
    if work.kind != "test" or not output.strip():
        return None
    from hardwon.capture import results

    return results.read(output)


def _verdict(work: Work, results: Results | None, code: int | None, alone: bool, event: Event) -> bool | None:
    """Whether a check passed; None where that cannot be told."""
    if results is not None:
        if results.verdict and code not in (0, None) and work.certain:
            return None  # something else than a test: a threshold of coverage, a warning
        return results.verdict
    if not alone or (event.ended == "unknown" and event.exit_code is None):
        return None
    if code == 0:
        return True if work.certain and not _ran_nothing(work, event.output) else None
    return False if work.certain or event.output.strip() else None


def _ran_nothing(work: Work, output: str) -> bool:
    return work.kind == "test" and bool(routine.of_text(output))


def _project(state: State) -> frozenset[str]:
    """Names of folders and modules that the session has edited."""
    found: set[str] = set()
    for path, _ in state.files:
        parts = path.split("/")
        found.update(parts[:-1])
        found.add(parts[-1].partition(".")[0])
    return frozenset(found - {""})


def _red(
    state: State, work: Work, results: Results | None, event: Event, since: int, world: int, meddled: bool
) -> tuple[State, list[Lesson]]:
    lessons: list[Lesson] = []
    passed = _passed_besides(work, results, event, since, world) if results is not None and not meddled else None
    open_before = state.open
    failures = _failures(work, results, event.output)
    fewer = results is not None and results.counted and results.failed < _failing_before(state, work)
    if not failures and not meddled:
        state = _replaced(state, work, event)
    if passed is not None:
        state = _still_shown(state, failures, since)
        closed = [
            red
            for red in state.open
            if red.test and red.test not in passed.but and red.last <= since and closes(passed, red)
            and not (red.raced and _shows(failures, red)) and not _has_moved(state, red, failures, since)
        ]  # fmt: skip
        state, lessons = close(state, closed, passed, event.at)
    moved = fewer or len(state.open) < len(open_before)
    for failing in failures:
        if routine.of_failure(failing.kind, failing.message, _project(state)):
            state = state if failing.name else _replaced(state, work, event)
            continue
        if meddled and not any(_is_same(red, work, failing) and _is_one(red, failing) for red in state.open):
            continue
        state, learnt = _one_red(state, work, failing, event, since, world, moved)
        lessons += learnt
    if results is not None and not results.broken and any(one.name and not is_file(one.name) for one in failures):
        state = _without_files(state, work, event, since)
    return with_green(state, passed) if passed is not None else state, lessons


def _failing_before(state: State, work: Work) -> int:
    """How many tests are known to have failed at the last run of a check."""
    known = [len(green.but) for green in state.greens if green.check == work.key]
    return max(len([red for red in state.open if red.test and red.check == work.key]), *known, 0)


def _without_files(state: State, work: Work, event: Event, since: int) -> State:
    """The state without files that failed as a whole, and whose tests have been run now, whoever ran them."""
    files = [red for red in state.open if red.last <= since and is_file(red.test)]
    gone = [red for red in files if runs_file(work, event.output, red.test)]
    left: State = state.replace(open=tuple(red for red in state.open if red not in gone)) if gone else state
    return left


def _still_shown(state: State, failures: Sequence[Failing], since: int) -> State:
    """The state in which a failure is as good as seen again that now a test shows which did not before: tests that race fail in turn."""
    known = {one.test for one in state.open}
    fresh = [one for one in failures if one.name not in known]
    shown = tuple(
        red.replace(last=since, raced=True)
        if red.test and red.last < since and _shows(failures if red.raced else fresh, red)
        else red
        for red in state.open
    )
    seen: State = state.replace(open=shown)
    return seen


def _shows(failures: Sequence[Failing], red: Red) -> bool:
    """Whether another test fails as this one did."""
    return any(one.name != red.test and _is_one(red, one) for one in failures)


def _has_moved(state: State, red: Red, failures: Sequence[Failing], since: int) -> bool:
    """Whether a test that did not fail before fails now as this one did, in the same file: nobody can tell whether anything was mended."""
    known = {one.test for one in state.open}
    return red.last < since and any(one.name not in known and _is_alike(red, one) for one in failures)


def _is_one(red: Red, failing: Failing) -> bool:
    """Whether two failures are one by what they say; a comparison that did not hold says nothing of that."""
    opaque = lesson.is_opaque(failing.kind, failing.message) or failing.message.startswith("assertion")
    return bool(failing.signature) and red.signature == failing.signature and not opaque


def _is_alike(red: Red, failing: Failing) -> bool:
    if failing.signature and red.signature == failing.signature:
        return True
    return bool(failing.file and failing.kind) and (red.file, red.error) == (failing.file, failing.kind)


def _failures(work: Work, results: Results | None, output: str) -> Sequence[Failing]:
    if results is not None and results.failing:
        return results.failing[:12]
    from hardwon.capture import results as reading

    if results is not None and work.kind == "test":
        return (reading.Failing(""),)
    found = reading.failure(output)
    return (found,) if found is not None else ()


def _one_red(
    state: State, work: Work, failing: Failing, event: Event, since: int, world: int, moved: bool
) -> tuple[State, list[Lesson]]:
    known = next((red for red in state.open if _is_same(red, work, failing)), None)
    if known is None:
        red, learnt = _new_red(state, work, failing, event, since, world)
    else:
        red, learnt = _again_red(state, known, work, failing, event, since, world, moved)
    others = tuple(one for one in state.open if one is not known)
    kept: State = state.replace(open=(*others, red)[-OPEN:])
    return with_ahead(kept, red), learnt


def _new_red(state: State, work: Work, failing: Failing, event: Event, since: int, world: int) -> tuple[Red, list[Lesson]]:
    """A failure that was not open yet; flaky where the very same passed just now."""
    green = _last_green(state, work, failing)
    own = [one for one in state.open if one.test != failing.name and one.kind == work.kind]
    if green and any(one.test in green.but and _is_alike(one, failing) for one in own):
        green = None  # another test showed it then
    one_before = next((one for one in own if one.test and _is_one(one, failing)), None)
    first = one_before.edits if one_before else since
    last_green = one_before.green_edits if one_before else green.edits if green else -1
    file, said = failing.file[:300].removeprefix("./"), passage(event.output, failing)
    red = Red(
        work.key, work.kind, work.runner, work.shown, work.targets, failing.name, failing.kind[:100], failing.message[:300],
        failing.signature, file, _frames(failing, event, state), said, event.at, first, world, since, (),
        last_green, (), work.narrow, failing.compiled, bool(one_before and one_before.raced), work.folder,
    )  # fmt: skip
    return red, [lesson.flaky(red, event.at)] if green and is_flaky(red, green) else []


def _again_red(
    state: State, known: Red, work: Work, failing: Failing, event: Event, since: int, world: int, moved: bool
) -> tuple[Red, list[Lesson]]:
    """A failure that is still open; a lesson where edits that were to mend it have not, twice."""
    # Edits that made something else pass were not meant for this one, and of one that comes and goes nobody knows what was.
    tried = not (moved or known.raced) and [
        change for change in state.changes if known.last < change.number <= since and not change.undone and _is_of_code(change)
    ]
    same = bool(failing.signature) and known.signature == failing.signature
    red = known.replace(
        last=max(known.last, since), tries=(*known.tries, since)[-8:] if tried and same else known.tries, check=work.key, shown=work.shown,
        targets=work.targets, narrow=work.narrow, world=world, folder=work.folder,
        **({} if same else {"error": failing.kind[:100], "message": failing.message[:300], "signature": failing.signature,
                            "frames": _frames(failing, event, state), "passage": passage(event.output, failing),
                            "compiled": failing.compiled}),
    )  # fmt: skip
    if failing.signature and known.signature and not same:
        red = red.replace(tries=())
    if failing.signature and known.signature and _headline(failing.signature) != _headline(known.signature):
        green = _last_green(state, work, failing)
        red = red.replace(at=event.at, edits=since, green_edits=green.edits if green else -1)  # another failure of the same check
    if len(red.tries) < 2 or known.places or (red.edits and is_of_a_compiler(red)):
        return red, []
    made = [change for change in state.changes if known.edits < change.number <= since]
    if red.kind == "test" and (is_new(state, red) or is_rewritten(red, made)):
        return red, []  # nobody can tell yet whether the code is wrong or the test
    fixes = list(filter(_is_of_code, made))
    places = places_of(red, fixes)
    if not places:
        return red, []
    learnt = lesson.came_back(red, fixes, places, event.at)
    return red.replace(places=tuple((place.path, place.symbol) for place in places)), [learnt]


def _headline(signature: str) -> str:
    """What a signature says without the digest of what follows: equal for a failure that is being mended bit by bit."""
    return signature.partition(REST)[0]


def _is_of_code(change: Change) -> bool:
    """Whether an edit may have been meant to mend code."""
    return not (is_of_tests(change) or is_debugging(change) or is_read_by_no_check(change.path))


def _frames(failing: Failing, event: Event, state: State) -> tuple[tuple[str, int, str], ...]:
    """The innermost places of a trace, as the repository names them."""
    return tuple((placed(path, event.cwd, state.root), line, function) for path, line, function in failing.frames[:12])


def _is_same(red: Red, work: Work, failing: Failing) -> bool:
    if red.test or failing.name:
        return red.test == failing.name and red.kind == work.kind
    return red.check == work.key


def _last_green(state: State, work: Work, failing: Failing) -> Green | None:
    for green in reversed(state.greens):
        if green.kind != work.kind or failing.name in green.but or is_elsewhere(green.check, work.key):
            continue
        if (
            green.check == work.key
            or failing.name in green.names
            or (failing.name and covers(green, failing.name, failing.file, work.runner, work.targets, work.folder))
        ):
            return green
    return None


def _green(state: State, work: Work, results: Results | None, event: Event, since: int, world: int) -> tuple[State, list[Lesson]]:
    names = (results.passing if results else ())[:40]
    green = Green(work.key, work.runner, work.targets, work.narrow, since, world, event.at, names, work.kind, (), work.shown)
    closed = [red for red in state.open if closes(green, red)]
    state, lessons = close(state, closed, green, event.at)
    return with_green(_without_files(state, work, event, since), green), lessons


def _passed_besides(work: Work, results: Results, event: Event, since: int, world: int) -> Green | None:
    """What a red run says to pass: all that it covers and does not name. None where it does not tell which failed, or did not get to
    all."""
    failing = tuple(one.name for one in results.failing)
    if work.stops or results.broken or not failing or results.failed > len(failing) or not all(failing):
        return None
    if not results.counted and (not work.certain or "truncated" in event.output):
        return None  # Go names those that failed and does not count them: of a part of that nobody knows who passed
    return Green(
        work.key,
        work.runner,
        work.targets,
        work.narrow,
        since,
        world,
        event.at,
        results.passing[:40],
        work.kind,
        failing[:40],
        work.shown,
    )


def with_green(state: State, green: Green) -> State:
    """The state with the last pass of a check."""
    others = (one for one in state.greens if one.check != green.check)
    kept: State = state.replace(greens=(*others, green)[-GREENS:])
    return kept
