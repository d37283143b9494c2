"""``ingest``: what the repository itself tells, read again whenever it is asked for."""

from __future__ import annotations

from hardwon.doors import reports, taken
from hardwon.doors.condition import Bar
from hardwon.doors.handle import Answer
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.handle import Call

SOURCES = ("git", "docs", "deps", "code", "prs", "junit", "log", "transcripts", "notes", "shared")
_LIMIT = 100_000


def ingest(call: Call) -> Answer:
    """Commits, documents, dependencies or code."""
    source = call.request.text("source")
    if source not in SOURCES:
        raise InvalidInput(
            f"there is nothing called {source[:60]!r} to ingest", field="source", remedy="one of: " + ", ".join(SOURCES)
        )
    taken.check_ingest(call.request, source)
    engine, dry = call.engine, call.request.flag("dry-run")
    if source == "transcripts":
        from hardwon.doors import transcripts

        return transcripts.ingest(call)
    if source in ("junit", "log", "prs"):
        return _from_elsewhere(call, source)
    if source == "notes":
        from hardwon.doors import transcripts

        return transcripts.ingest_notes(call)
    if source == "shared":
        from hardwon.doors import sharing

        return sharing.ingest(call)
    if source == "code":
        return _code(call)
    with Bar(f"reading {source}") as bar:
        if source == "git":
            read = engine.preview_history if dry else engine.ingest_history
            report = read(call.request.number("limit", _LIMIT), bar.step)
            lines = reports.history(report, dry=dry) or ["there is no history to read here"]
        else:
            again = engine.ingest_documents if source == "docs" else engine.ingest_dependencies
            found = again(bar.step, dry_run=dry)
            lines = reports.derived(found, dry=dry)
    degraded = [engine.bulk.degraded] if engine.bulk.degraded else []
    data = {"source": source, "dry_run": dry, **vars(report if source == "git" else found), "degraded": degraded}
    return Answer("\n".join([*lines, *degraded, *(["nothing was written"] if dry else [])]), data)


def _from_elsewhere(call: Call, source: str) -> Answer:
    """What is not in the repository itself: reports of tests, logs, texts of pull requests."""
    if source == "prs":
        from hardwon.doors import requests

        return requests.ingest(call)
    from hardwon.doors import outcomes

    return outcomes.junit(call) if source == "junit" else outcomes.log(call)


def _code(call: Call) -> Answer:
    with Bar("reading code") as bar:
        report = call.engine.refresh_code(bar.step, thorough=True)
    data = {"source": "code", **vars(report), "skipped": dict(report.skipped)}
    return Answer("\n".join(reports.code(report) or ["there is no code to read here"]), data)
