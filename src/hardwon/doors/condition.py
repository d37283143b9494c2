"""``init`` and ``status``: making a memory, and what a person wants to know about it. Off the quick path."""

from __future__ import annotations

import os
import sys
import time

from hardwon.doors import render
from hardwon.errors import HardwonError, InvalidInput
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hardwon.doors.handle import Answer, Call
    from hardwon.engine.core import Engine
    from hardwon.types import IngestReport

_INTERRUPTED = 130
_LIMIT = 100_000
_LONG_LOG = 16 << 20  # a commit that finds more than a megabyte moves it, unless a reader or the disk hinders it


def init(call: Call) -> Answer:
    """Register, make the store, read the history with a progress bar."""
    from hardwon.doors.handle import Answer
    from hardwon.engine.opening import create

    request = call.request
    name = request.text("name") or request.text("project")
    engine = create(call.cwd, call.settings.home, name, wait=call.settings.wait)
    call.adopt(engine)
    if name and name != engine.home.entry.name:
        known = engine.home.entry.name
        raise InvalidInput(
            f"this repository is registered as {known!r}", field="name", remedy=f"use -p {known}, or leave the name out"
        )
    started = time.monotonic()
    stopped = False
    report = None
    if request.flag("rebuild"):
        with Bar("indexing") as bar:
            engine.rebuild(bar.step)
    if not request.flag("no-history") and engine.home.checkout.git_dir:
        limit = request.number("limit", _LIMIT)
        with Bar("reading history") as bar:
            try:
                report = engine.ingest_history(limit, bar.step)
            except KeyboardInterrupt:
                stopped = True
        if stopped:
            engine.settle_history()
    seconds = time.monotonic() - started
    data = _init_data(engine, report, seconds, stopped)
    return Answer(_init_text(engine, report, seconds, stopped), data, _INTERRUPTED if stopped else 0)


def _init_data(engine: Engine, report: IngestReport | None, seconds: float, stopped: bool) -> dict[str, Any]:
    entry = engine.home.entry
    counted = dict(vars(report)) if report else {}
    return {
        "id": entry.id, "name": entry.name, "origin": entry.origin, "store": _path(engine), "bytes": store_bytes(_path(engine)),
        "history": counted, "interrupted": stopped, "seconds": round(seconds, 2), "memories": engine.figures(),
    }  # fmt: skip


def _init_text(engine: Engine, report: IngestReport | None, seconds: float, stopped: bool) -> str:
    entry, checkout = engine.home.entry, engine.home.checkout
    lines = [f"this is {entry.name}" + (f" ({entry.origin})" if entry.origin else f" ({checkout.root})")]
    figures = engine.figures()
    if report and report.seen:
        lines.append(
            f"read {render.plural(report.added, 'commit', 'commits')} in {seconds:.1f} s"
            + (f"; {report.known:,} known before" if report.known else "")
        )
        if report.failed:
            lines.append(
                f"{render.plural(report.failed, 'change', 'changes')} taken back later; "
                f"{render.plural(figures['links'], 'reference', 'references')} between changes"
            )
        if report.redacted:
            what = render.plural(report.redacted, "secret or random token", "secrets and random tokens")
            lines.append(f"{what} left out before anything was stored")
    elif stopped:
        lines.append(f"interrupted: {figures.get('change', 0):,} commits are kept, `hardwon init` goes on from there")
    elif not checkout.git_dir:
        lines.append("this folder is not in git: a memory of its own, without a history")
    lines.append(f"store: {_path(engine)} ({store_bytes(_path(engine)) / 1e6:.1f} MB)")
    if figures["memories"]:
        lines.append('next: hardwon recall "why …"')
    return "\n".join(lines)


def status(call: Call) -> Answer:
    """Which store, why, how large, how far the history was read, and whether it is well."""
    from hardwon.doors.handle import Answer

    engine = call.engine
    place = engine.home
    figures = engine.figures()
    findings = _findings(engine)
    path = _path(engine)
    data = {
        "ok": not any(item.level == "error" for item in findings),
        "findings": [dict(vars(item)) for item in findings],
        "name": place.entry.name,
        "id": place.entry.id,
        "origin": place.entry.origin,
        "why": place.why,
        "root": place.checkout.root,
        "branch": place.checkout.branch,
        "head": place.checkout.head,
        "store": path,
        "bytes": store_bytes(path),
        "engine": _engine_version(),
        "memories": figures,
        "mode": {"lexical": True, "vectors": False, "degraded": []},
    }
    rows = [
        ("memory", place.entry.name), ("found by", place.why), ("origin", place.entry.origin or "none"), ("folder", place.checkout.root),
        ("branch", place.checkout.branch or ("detached" if place.checkout.git_dir else "not in git")),
        ("store", f"{path} ({store_bytes(path) / 1e6:.1f} MB)"),
        ("engine", data["engine"]), *figures.items(),
    ]  # fmt: skip
    text = render.table(rows, call.paint)
    if findings:
        text += "\n" + render.findings(findings, call.paint)
    return Answer(text, data, 0 if data["ok"] else 1)


def _findings(engine: Engine) -> list[Finding]:
    """Short checks only; ``verify`` looks at everything."""
    found = []
    place = engine.home
    path = _path(engine)
    if os.stat(path).st_mode & 0o077:
        found.append(Finding("warning", "others may read the store", path, f"chmod 600 {path}"))
    log = path + "-wal"
    if os.path.exists(log) and os.path.getsize(log) > _LONG_LOG:
        size = f"{os.path.getsize(log) / 1e6:.0f} MB of log could not be moved into the store"
        found.append(Finding("warning", size, log, "end whoever reads it for long, and look at the disk: `hardwon verify`"))
    if place.checkout.git_dir and place.checkout.head:
        try:
            missing = engine.unread_commits()
        except HardwonError as error:
            found.append(Finding("warning", f"git did not answer: {error.message}", "history", error.remedy))
        else:
            if missing:
                found.append(Finding("note", f"{missing:,} commits are not read yet", "history", "run `hardwon init`"))
    return found


def _path(engine: Engine) -> str:
    from hardwon.store.sqlite import SqliteStore

    return engine.store.path if isinstance(engine.store, SqliteStore) else ""


def store_bytes(path: str) -> int:
    """Size of a store with its side files."""
    return sum(os.path.getsize(path + end) for end in ("", "-wal", "-shm") if os.path.exists(path + end))


def _engine_version() -> str:
    import apsw

    return f"SQLite {apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}"


class Bar:
    """A progress bar on a terminal; silence elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._progress: Any = None
        self._task: Any = None
        self.step: Callable[[int, int], None] = self._silent

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task(self._title, total=None)
            self._progress.start()
            self.step = self._shown
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def _silent(self, done: int, of: int) -> None:
        """Not a terminal: nothing is drawn."""

    def _shown(self, done: int, of: int) -> None:
        self._progress.update(self._task, completed=done, total=of)
