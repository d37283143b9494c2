"""Runs of tests as files tell of them (``ingest junit``, ``ingest log``), and what came of any run, in words."""

from __future__ import annotations

import os

from hardwon.doors import render, shapes
from hardwon.doors.handle import Answer
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.outcomes import FailureNote, OutcomeReport
    from hardwon.types import Hit

_SHOWN = 20  # failures that people are shown
_FLAKY = 5  # tests that somebody is told of who asked for something else
_LINE = 160  # characters


def junit(call: Call) -> Answer:
    """Reports in JUnit's XML."""
    from hardwon.doors.test_files import reports_at, take_reports

    request, told, notes = call.request, [], []
    files = reports_at(request.texts("file"), call.cwd)
    for one in take_reports(call.engine, files, request.text("commit"), request.text("job"), call.scope):
        told.append({"file": one.file, "broken": one.broken, "left_out": one.left_out, **data(one.outcome)})
        notes += [f"{one.file}: {line}" for line in _wrong(one.broken, one.left_out)]
        notes += lines(one.outcome, one.file if len(files) > 1 else "")
    return Answer("\n".join(notes), {"source": "junit", "reports": told})


def _wrong(broken: str, left_out: int) -> list[str]:
    found = [f"it breaks off, and was read as far as it goes: {broken}"] if broken else []
    return found + ([f"{left_out:,} tests beyond the most that are read were left out"] if left_out else [])


def log(call: Call) -> Answer:
    """The log of a job of CI: its failing steps, tests and traces."""
    from hardwon.doors.test_files import take_log

    request = call.request
    names = request.texts("file")
    if len(names) != 1:
        raise InvalidInput("one log at a time", field="file", remedy="hardwon ingest log build.log, or - for standard input")
    path = names[0] if names[0] == "-" else os.path.join(call.cwd, os.path.expanduser(names[0]))
    found = take_log(call.engine, path, request.text("commit"), request.text("job"), call.scope)
    steps = [{"name": name, "said": said} for name, said in found.steps]
    said = [f"failed: {name}" + (f": {said}" if said else "") for name, said in found.steps]
    told = [*said, *lines(found.outcome)] if found.recognised else ["no failed step and no report of tests was recognised in it"]
    about = {"source": "log", "kind": found.kind, "recognised": found.recognised, "steps": steps}
    return Answer("\n".join(told), about | data(found.outcome))


def lines(report: OutcomeReport, name: str = "") -> list[str]:
    """What a run came to, for people."""
    counts = [f"{report.passed:,} passed", f"{report.failed:,} failed"] + (
        [f"{report.skipped:,} skipped"] if report.skipped else []
    )
    found = [(f"{name}: " if name else "") + ", ".join(counts) + (" (read before)" if report.again else "")]
    for note in report.failures[:_SHOWN]:
        found += failure(note)
    if len(report.failures) > _SHOWN:
        found.append(f"and {len(report.failures) - _SHOWN:,} failures more")
    found += [f"passes again: {test}" for test, _ in report.fixed[:_SHOWN]]
    return found + [f"flaky: {test}" for test in report.flaky[:_SHOWN]]


def failure(note: FailureNote) -> list[str]:
    """A failure, and what is known of it."""
    more = f" and {note.count - 1:,} more" if note.count > 1 else ""
    said = f": {note.said}" if note.said else ""
    return [f"{note.tests[0]}{more}{said}"[: _LINE * 2], *(f"  {line}" for line in known(note.hits))]


def known(hits: tuple[Hit, ...]) -> list[str]:
    """Memories of the same failure, a line or two each."""
    found = []
    for hit in hits:
        memory = hit.memory
        how = {"worked": "fixed before", "failed": "seen before"}.get(memory.outcome or "", "known")
        found.append(f"{how}: {memory.called} {render.when(memory.updated_at)} {memory.text}"[:_LINE])
        change = next((line for line in memory.detail.splitlines() if line.startswith("changed between")), "")
        advice = change or (memory.detail.partition("\n")[0] if memory.outcome != "failed" else "")
        if advice:
            found.append(f"  {advice}"[: _LINE * 2])
    return found


def worth_a_line(report: OutcomeReport) -> list[str]:
    """What is known of the failures of a run, and which of its tests are flaky. All else is silence: the runner has said it."""
    found = []
    for note in report.failures:
        if note.hits:
            found += [f"{note.tests[0]}:", *(f"  {line}" for line in known(note.hits))]
    return found + [f"{test} is flaky: it has failed and passed on the same files" for test in report.flaky[:_FLAKY]]


def data(report: OutcomeReport) -> dict[str, Any]:
    """The same for programs."""
    return {
        "passed": report.passed, "failed": report.failed, "skipped": report.skipped, "again": report.again,
        "failures": [
            {
                "tests": list(note.tests), "count": note.count, "said": note.said, "signature": note.signature, "new": note.new,
                "memory": note.memory or None, "known": [shapes.memory(hit.memory) for hit in note.hits],
            }
            for note in report.failures
        ],
        "fixed": [{"test": test, "memory": memory or None} for test, memory in report.fixed],
        "flaky": list(report.flaky),
        "proven": list(report.observation.judged.risen),
    }  # fmt: skip


def flaky(call: Call) -> Answer:
    """``stats --flaky``: tests that go both ways."""
    engine = call.engine
    found = engine.flaky_tests()
    with engine.store.read() as reader:
        memories = {one.id: one for one in reader.get(sorted({fix for test in found for fix in test.fixes}))}
    rows, told = [], []
    for test in found:
        fixes = [memories[fix] for fix in test.fixes if fix in memories]
        told.append(
            {
                "test": test.test, "file": test.file, "at": shapes.moment(test.at), "failed": test.failed, "passed": test.passed,
                "signature": test.signature, "fixes": [shapes.memory(one) for one in fixes],
            }
        )  # fmt: skip
        rows.append(f"{test.test}  {test.failed} failed, {test.passed} passed of the last runs; {render.when(test.at)}")
        rows += [f"  {test.signature}"] if test.signature else []
        rows += [f"  fixed before: {one.called} {one.text}"[:_LINE] for one in fixes]
    return Answer("\n".join(rows) or "no test is known to be flaky", {"flaky": told})
