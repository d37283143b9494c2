"""``refresh``: all that is made of the repository, brought up to date, here or in the background; and what became of it there."""

from __future__ import annotations

import json
import os

from hardwon.doors import background, render, reports, transcripts
from hardwon.doors.handle import Answer
from hardwon.doors.shapes import moment
from hardwon.errors import HardwonError, NoStore
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.refreshing import RefreshReport

_LIMIT = 100_000


def refresh(call: Call) -> Answer:
    """Commits, code and branches."""
    if call.request.flag("background"):
        if not background.detach():
            return Answer("refreshing in the background", {"background": True})
        return _unseen(call)
    from hardwon.doors.condition import Bar

    with Bar("reading history and code") as bar:
        report = call.engine.refresh(call.request.number("limit", _LIMIT), transcripts.roots(), bar.step)
    _note(call, call.engine, None)
    if not report.rounds:
        return Answer("another process is at it", _data(report), 0)
    lines = [*reports.history(report.history), *reports.code(report.code)]
    lines += [f"{one.source}: {line}" for one in report.derived for line in reports.derived(one)]
    lines += transcripts.lines(report.transcripts) if report.transcripts.clients else []
    return Answer("\n".join(lines) or "there is nothing to read here", _data(report), 1 if report.transcripts.failed else 0)


def _data(report: RefreshReport) -> dict[str, Any]:
    code = vars(report.code) | {"skipped": dict(report.code.skipped)}
    derived = {one.source: dict(vars(one)) for one in report.derived}
    return {
        "background": False, "rounds": report.rounds, "history": dict(vars(report.history)), "code": code, "derived": derived,
        "transcripts": transcripts.data(report.transcripts),
    }  # fmt: skip


def _unseen(call: Call) -> Answer:
    """The same where nobody reads what is said: an error is noted for ``status``. Without a memory there is nothing to do."""
    try:
        engine = call.engine
    except NoStore:
        return Answer("", None, quiet=True)
    try:
        report = engine.refresh(call.request.number("limit", _LIMIT), transcripts.roots())
    except (HardwonError, OSError) as error:
        _note(call, engine, error)
        return Answer("", None, 1)
    failed = report.transcripts.failed
    _note(call, engine, HardwonError(report.transcripts.unreadable[-1][1]) if failed else None)
    return Answer("", None, 1 if failed else 0, quiet=True)


def _note(call: Call, engine: Engine, error: HardwonError | OSError | None) -> None:
    """Keep why it failed, or that it did not."""
    from hardwon.store import files

    path = _place(call, engine)
    if error is None:
        files.disk.unlink(path)
        return
    from hardwon.intake.redact import redact

    said = getattr(error, "message", "") or str(error)
    note = {"at": engine.clock(), "kind": getattr(error, "kind", "system"), "message": redact(said)[0][:500]}
    try:
        files.disk.make_folder(os.path.dirname(path))
        files.write_whole(path, [json.dumps(note).encode()], durable=False)
    except OSError:
        return  # status tells of a folder that cannot be written by itself


def _place(call: Call, engine: Engine) -> str:
    return os.path.join(call.settings.home, "refresh", engine.home.entry.id)


def findings(home: str, engine: Engine) -> list[Finding]:
    """What ``status`` says of it: a failure in the background, and what git's hooks told that nobody has seen to."""
    from hardwon.store import git_events

    found = []
    path = os.path.join(home, "refresh", engine.home.entry.id)
    try:
        with open(path, encoding="utf-8") as file:
            note = json.load(file)
        what = f"bringing the memory up to date in the background failed at {moment(note['at'])}: {note['message']}"
        found.append(Finding("warning", what, str(note["kind"]), "run `hardwon refresh`, which says more"))
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError):
        found.append(
            Finding("warning", "what became of the last refresh in the background cannot be read", path, "remove the file")
        )
    since = git_events.since(engine.home.checkout)
    if since is not None and engine.clock() - since > background.LONGEST * 1000:
        what = f"git's hooks told of changes at {render.when(since)}, and nobody has seen to them"
        found.append(Finding("note", what, git_events.folder(engine.home.checkout), "run `hardwon refresh`"))
    return found
