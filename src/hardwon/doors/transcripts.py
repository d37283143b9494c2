"""``ingest transcripts``, and the offer of it: sessions that agents' clients kept on this machine."""

from __future__ import annotations

import os

from hardwon.doors import render
from hardwon.doors.condition import Bar
from hardwon.doors.handle import Answer, agreed
from hardwon.doors.shown import in_one_line
from hardwon.doors.verbs import TRANSCRIPTS
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.transcripts import ClientReport, TranscriptReport
    from hardwon.importers.transcripts.finding import Found, Roots, Transcript

_SHOWN = 10  # files that could not be read, in the answer for a person
_LEAST_TOLD = 3  # kinds of unknown records
_KINDS = {
    "lesson": "lessons", "attempt": "attempts", "decision": "decisions", "rule": "rules", "fact": "facts", "summary": "summaries",
    "howto": "how-tos",
}  # fmt: skip


def ingest(call: Call) -> Answer:
    """Take in the sessions that are named, or all of this repository's."""
    request = call.request
    dry = request.flag("dry-run")
    named = [os.path.join(call.cwd, os.path.expanduser(name)) for name in request.texts("file")]
    sessions = found(call.engine, named, request.texts("client"), _since(call))
    with Bar("reading transcripts") as bar:
        report = call.engine.ingest_transcripts(sessions, bar.step, dry_run=dry)
    degraded = [call.engine.bulk.degraded] if call.engine.bulk.degraded else []
    text = "\n".join([*lines(report), *degraded, *(["nothing was written"] if dry else [])])
    return Answer(text, data(report) | {"degraded": degraded}, 1 if report.unreadable else 0)


def ingest_notes(call: Call) -> Answer:
    """Take in what clients noted of this repository by themselves, as an import."""
    from hardwon.doors import exchange

    folders = folders_of_notes(call.engine)
    wish = exchange.Wish(call.scope, dry_run=call.request.flag("dry-run"))
    done = exchange.told(exchange.take_folders(call.engine, folders, wish))
    text = done.text if folders else "no client keeps notes of this repository here"
    answer: Answer = done.replace(text=text, data={"source": "notes", "folders": folders, **(done.data or {})})
    return answer


def folders_of_notes(engine: Engine) -> list[str]:
    """The folders, not empty, in which clients keep notes of this repository."""
    from hardwon.engine.transcripts import ground
    from hardwon.importers.transcripts import finding

    return [folder for folder in finding.notes(ground(engine), roots()) if _holds_notes(folder)]


def _holds_notes(folder: str) -> bool:
    return any(name.lower().endswith(".md") for _, _, names in os.walk(folder) for name in names)


def found(engine: Engine, files: Sequence[str], clients: tuple[str, ...] = (), since: int = 0) -> Found:
    """The sessions of the files that are named, else of this repository, of the clients that are asked for (all by default). A file that
    is no transcript is passed over and told; InvalidInput where none of them is one."""
    if not files:
        return engine.find_transcripts(roots(), clients or TRANSCRIPTS, since)
    from hardwon.engine.transcripts import ground
    from hardwon.importers.transcripts import finding

    if len(clients) > 1:
        raise InvalidInput("a file is of one client", field="client", remedy="name one, or none to have it found out")
    here = ground(engine)
    transcripts: list[Transcript] = []
    wrong: list[tuple[str, InvalidInput]] = []
    for path in files:
        try:
            transcripts += finding.named(path, here, clients[0] if clients else "")
        except InvalidInput as error:
            wrong.append((path, error))
    if len(wrong) == len(files):
        raise wrong[0][1]
    return finding.Found(
        tuple(one for one in finding.together(transcripts) if one.modified >= since),
        tuple((path, error.message) for path, error in wrong),
    )


def roots() -> Roots:
    """Where the clients of the user keep their sessions."""
    from hardwon.importers.transcripts.finding import Roots
    from hardwon.settings import places

    here = places()
    return Roots((here.claude, os.path.join(here.config, "claude")), here.codex, here.gemini, here.opencode)


def offered(sessions: Found) -> str:
    """How many sessions of which clients were found, in words; "" for none."""
    counts: dict[str, int] = {}
    for one in sessions.transcripts:
        counts[one.client] = counts.get(one.client, 0) + 1
    told = ", ".join(f"{count:,} of {client}" for client, count in sorted(counts.items()))
    return (
        f"{render.plural(len(sessions.transcripts), 'session', 'sessions')} of agents in this repository ({told})" if told else ""
    )


def at_init(call: Call, told: dict[str, Any]) -> list[str]:
    """What `init` says of transcripts; ``told``: its data, which gets their number. They are read only after a person's yes."""
    sessions = found(call.engine, ())
    told["transcripts"] = len(sessions.transcripts)
    words = offered(sessions)
    if not words:
        return []
    if not call.can_ask() or not agreed(f"{words} can be read for what they taught. Read them now?"):
        return [f"{words} can be read: hardwon ingest transcripts"]
    with Bar("reading transcripts") as bar:
        return lines(call.engine.ingest_transcripts(sessions, bar.step))


def _since(call: Call) -> int:
    seconds = call.request.number("since", 0)
    return call.engine.clock() + seconds * 1000 if seconds < 0 else seconds * 1000


# --- told


def lines(report: TranscriptReport) -> list[str]:
    """What it came to, a client a line, then what could not be read."""
    told = [_line(one, report.dry) for one in report.clients]
    if not told and not report.unreadable:
        told = ["no sessions of agents were found for this repository"]
    shown = report.unreadable[:_SHOWN]
    told += [in_one_line(f"  could not be read: {path}: {why}") for path, why in shown]
    if len(report.unreadable) > len(shown):
        told.append(f"  and {len(report.unreadable) - len(shown):,} more")
    if report.foreign:
        told.append(f"  {render.plural(report.foreign, 'file', 'files')} of other users left alone")
    return told


def _line(one: ClientReport, dry: bool) -> str:
    new = [f"{count:,} {_KINDS.get(kind, kind) if count != 1 else kind}" for kind, count in sorted(one.created.items())]
    counts = [
        *new,
        *_of((one.repeated, "that happened again"), (one.revised, "revised"), (one.known, "known"), (one.refused, "kept out")),
    ]
    was = f"; {one.unchanged:,} read before" if one.unchanged else ""
    verb = "would teach" if dry else "taught"
    told = f"{render.plural(one.sessions, 'session', 'sessions')}, {render.plural(one.events, 'event', 'events')}"
    line = f"{one.client}: {told}{was}"
    if one.sessions:
        line += f": {verb} " + (", ".join(counts) or "nothing new")
    extra = [
        f"{render.plural(count, thing, f'{thing}s')} {what}".rstrip()
        for count, thing, what in (
            (one.redacted, "secret", "taken out"), (one.rewound, "record", "taken back by a person"), (one.broken, "broken line", ""),
            (one.too_long, "line", "too long"), (one.cut, "file", "not finished"),
        )
        if count
    ]  # fmt: skip
    if one.unknown:
        names = sorted(one.unknown, key=lambda name: -one.unknown[name])[:_LEAST_TOLD]
        count = sum(one.unknown.values())
        kinds = "an unknown kind" if len(one.unknown) == 1 else "unknown kinds"
        extra.append(f"{render.plural(count, 'record', 'records')} of {kinds} ({', '.join(names)})")
    return in_one_line(line + (f" ({'; '.join(extra)})" if extra else ""))


def _of(*pairs: tuple[int, str]) -> list[str]:
    return [f"{count:,} {what}" for count, what in pairs if count]


def data(report: TranscriptReport) -> dict[str, Any]:
    """The report for --json."""
    clients = [{**vars(one), "created": dict(one.created), "unknown": dict(one.unknown)} for one in report.clients]
    unreadable = [{"file": path, "why": why} for path, why in report.unreadable]
    return {
        "source": "transcripts", "dry_run": report.dry, "clients": clients, "unreadable": unreadable, "foreign": report.foreign,
    }  # fmt: skip
