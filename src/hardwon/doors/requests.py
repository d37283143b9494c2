"""``ingest prs``: what was said in merged pull requests, in words."""

from __future__ import annotations

from hardwon.doors import render, reports
from hardwon.doors.condition import Bar
from hardwon.doors.handle import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.handle import Call

_LIMIT = 200


def ingest(call: Call) -> Answer:
    """The texts of merged requests; nothing, and why, where nobody can be asked."""
    engine = call.engine
    with Bar("asking for pull requests"):
        asked, report = engine.ingest_requests(call.request.number("limit", _LIMIT))
    data = {"source": "prs", "program": asked.program, "trouble": asked.trouble, **(vars(report) if report else {})}
    if report is None:
        return Answer(f"no pull requests were read: {asked.trouble}", data)
    told = reports.counts((report.added, "added"), (report.changed, "changed"), (report.refused, "rejected before"))
    read = render.plural(report.memories, "pull request", "pull requests")
    return Answer(f"{read} with a text, by {asked.program}: {told or 'everything is as it was'}", data)
