"""``share``: what is confirmed, as files of the repository; ``ingest shared`` reads those of others."""

from __future__ import annotations

from hardwon.doors import render
from hardwon.doors.handle import Answer, narrowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.sharing import ShareReport
    from hardwon.types import Filter

_LISTED = 20


def share(call: Call) -> Answer:
    """Write the files of what is confirmed, and remove those of what was set aside."""
    engine, request = call.engine, call.request
    identifiers = tuple(engine.identify(reference) for reference in request.texts("id"))
    report = put(engine, narrowed(call).replace(ids=identifiers), dry_run=request.flag("dry-run"))
    data = {
        "written": list(report.written), "removed": list(report.removed), "unchanged": report.unchanged,
        "conflicts": list(report.conflicts), "secrets": list(report.secrets), "dry_run": report.dry,
    }  # fmt: skip
    would = "would be " if report.dry else ""
    lines = [
        f"{render.plural(len(names), 'file', 'files')} {would}{done}"
        for names, done in ((report.written, "written"), (report.removed, "removed"))
        if names
    ]
    lines += [f"  {name}" for name in (*report.written, *report.removed)[:_LISTED]]
    lines += [f"left as it is, for it says what no version here says: {name}" for name in report.conflicts]
    lines += [f"left out, for it seems to hold a secret: {name}" for name in report.secrets]
    if report.written and not report.dry:
        lines.append("commit .hardwon/ to share them")
    if not lines:
        lines.append(
            "nothing to share: approve memories first (`hardwon review`)" if not report.unchanged else "nothing has changed"
        )
    return Answer("\n".join(lines), data, 1 if report.conflicts or report.secrets else 0)


def put(engine: Engine, where: Filter, *, dry_run: bool) -> ShareReport:
    """What is confirmed and matches, into the repository's files; each appears whole or not at all."""
    from hardwon.doors.configuration import check_writable
    from hardwon.engine.sharing import share as share_
    from hardwon.store.files import rewrite

    def write(path: str, text: str) -> None:
        check_writable(path)
        rewrite(path, text.encode())

    return share_(engine, where, write, dry_run=dry_run)


def ingest(call: Call) -> Answer:
    """Take in what others have shared through the repository."""
    from hardwon.doors.exchange import told

    answer = told(call.engine.ingest_shared(call.scope, dry_run=call.request.flag("dry-run")))
    return Answer(answer.text, {"source": "shared", **answer.data}, answer.exit)


def at_init(call: Call, data: dict[str, Any]) -> list[str]:
    """What others have shared comes in when the memory is made; nothing is said where there is nothing. Adds its counts to ``data``."""
    report = call.engine.ingest_shared(call.scope)
    data["shared"] = {"new": report.new, "known": report.known + report.repeated, "bad": report.bad}
    lines = []
    if report.new:
        lines.append(
            f"{render.plural(report.new, 'shared memory', 'shared memories')} came in, imported: `hardwon review` to approve them"
        )
    if report.bad:
        lines.append(
            f"{render.plural(report.bad, 'shared file', 'shared files')} cannot be used: `hardwon ingest shared` tells why"
        )
    return lines
