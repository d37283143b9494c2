"""What an ingest did, in words."""

from __future__ import annotations

from hardwon.doors.render import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.derived import DerivedReport
    from hardwon.engine.indexing import CodeReport
    from hardwon.types import IngestReport

_SKIPPED = {"failed": "that could not be parsed", "large": "too large", "language": "without a grammar"}
_WHAT = {"docs": ("passage", "passages"), "deps": ("memory", "memories")}


def history(report: IngestReport, *, dry: bool = False) -> list[str]:
    """What reading the history came to, a line each; none where there is no history."""
    if not report.seen and not report.known:
        return []
    verb = "would read" if dry else "read"
    known = f"; {report.known:,} known before" if report.known else ""
    lines = [f"{verb} {plural(report.added, 'commit', 'commits')}{known}"]
    if report.failed:
        lines.append(f"{plural(report.failed, 'change', 'changes')} taken back later")
    lines += [text.format(plural(count, "commit", "commits")) for count, text in _told(report) if count]
    lines += [text.format(plural(count, "memory", "memories")) for count, text in _believed(report) if count]
    if report.redacted:
        what = plural(report.redacted, "secret or random token", "secrets and random tokens")
        lines.append(f"{what} {'would be ' if dry else ''}left out before anything is stored")
    if report.unseen:
        lines.append(f"nothing was dropped: these folders of the repository could not be asked: {', '.join(report.unseen)}")
    if report.windowed:
        lines.append("there are more commits than that: `--limit N` reads further back")
    if report.broken:
        lines.append(f"git could not walk the whole history: {report.broken}")
    return lines


def _told(report: IngestReport) -> tuple[tuple[int, str], ...]:
    return (
        (report.capped, "{} too large to be read whole: message, names of files and the beginning are kept"),
        (report.unreadable, "of {} git lacks contents (a partial clone, or damage): message and names are kept"),
        (report.shallow, "{} at the edge of this shallow clone: only the message is kept"),
        (report.completed, "{} of earlier that could be read whole now"),
        (report.dropped, "{} that no branch or tag reaches any more left the memory"),
        (report.silent, "{} that no branch or tag reaches any more stay for what was said of them, and are not recalled"),
        (report.restored, "{} came back to a branch or tag"),
    )


def _believed(report: IngestReport) -> tuple[tuple[int, str], ...]:
    return (
        (report.proven, "{} proven: their commits have stood for a month"),
        (report.unproven, "{} no longer proven: their commits were taken back"),
        (report.doubted, "{} in doubt that you had confirmed: see `hardwon review`"),
    )


def derived(report: DerivedReport, *, dry: bool = False) -> list[str]:
    """What reading documents or dependencies came to, a line each."""
    lines = [f"{plural(report.files, 'file', 'files')} looked at: {plural(report.memories, *_WHAT[report.source])}"]
    told = counts((report.added, "added"), (report.changed, "changed"), (report.removed, "removed"), (report.expired, "expired"))
    lines.append(("would be " if dry else "") + told if told else "everything is as it was")
    if report.redacted:
        lines.append(
            f"{plural(report.redacted, 'secret', 'secrets')} {'would be ' if dry else ''}left out before anything is stored"
        )
    left = counts(
        (report.too_large, "too large"), (report.unreadable, "unreadable"), (report.broken, "broken"), (report.refused, "rejected before"),
        (report.cut, "beyond the limits"),
    )  # fmt: skip
    if left:
        lines.append(f"left out: {left}")
    if report.overtaken:
        lines.append("another ingest began meanwhile and does the rest")
    return lines


def counts(*pairs: tuple[int, str]) -> str:
    """Those of some counts that are not 0, with what they count."""
    return ", ".join(f"{count:,} {what}" for count, what in pairs if count)


def code(report: CodeReport) -> list[str]:
    """What indexing the code came to, a line each; none where there is no code."""
    if not report.files and not report.skipped:
        return []
    skipped = ", ".join(f"{count:,} {_SKIPPED.get(reason, reason)}" for reason, count in report.skipped)
    parsed = f"{report.parsed:,} read now" if report.parsed else "nothing new to read"
    lines = [f"{plural(report.files, 'file', 'files')} of code: {parsed}" + (f"; left out: {skipped}" if skipped else "")]
    if report.broken:
        lines.append(f"{plural(report.broken, 'file', 'files')} with errors of syntax: what could be read of them is known")
    if report.anchors:
        lines.append(f"looked for {plural(report.anchors, 'place', 'places')} that memories speak of and that changed or went")
    return lines
