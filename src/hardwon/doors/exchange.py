"""``export`` and ``import``: memories out to files and streams, and in from them."""

from __future__ import annotations

import os
import stat
import sys

from hardwon.doors import render
from hardwon.doors.condition import Bar
from hardwon.doors.handle import Answer, narrowed
from hardwon.doors.shown import in_one_line, shown
from hardwon.errors import InvalidInput
from hardwon.importers import source as sources
from hardwon.types import Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.exchange import ImportReport
    from hardwon.importers.source import Incoming, Source
    from hardwon.types import ExportedMemory, Filter

_COUNTS = ("new", "known", "repeated", "refused", "conflicts", "bad", "waiting", "open_links", "redacted")
_SHOWN = 20  # troubles in the answer for a person


# Out


class Exported(Value):
    """What an export wrote: ``memories``, ``verdicts`` on what comes from the repository, ``bytes``."""

    file: str
    format: str
    memories: int
    verdicts: int
    bytes: int


def export(call: Call) -> Answer:
    """Write memories to a file or to standard output."""
    request = call.request
    path, form, private = request.text("file"), request.text("format") or sources.JSONL, request.flag("private")
    if form == sources.AGENTS_MD:
        from hardwon.doors import agents_file

        return agents_file.export(call)
    if path not in ("", "-"):
        full = os.path.join(call.cwd, os.path.expanduser(path))
        done = write(call.engine, call.settings.home, full, form, narrowed(call), private=private, force=request.flag("force"))
        also = f" and {render.plural(done.verdicts, 'verdict', 'verdicts')} on commits" if done.verdicts else ""
        return Answer(f"wrote {render.plural(done.memories, 'memory', 'memories')}{also} to {path}", dict(vars(done)))
    if request.flag("json"):
        raise InvalidInput(
            "an export to standard output is JSON already", field="json", remedy="leave --json out, or name a file"
        )
    held = ""
    for place, piece in enumerate(_pieces(form, _Counted(call.engine, narrowed(call), private=private))):
        if place:
            print(shown(held))
        held = piece  # the last one is printed as the answer
    return Answer(held, None)


def write(engine: Engine, home: str, path: str, form: str, where: Filter, *, private: bool, force: bool) -> Exported:
    """An export into a file, which appears whole or not at all; ``home`` is the folder that no export may be written into."""
    from hardwon.store.replacement import Replacement

    if form == sources.AGENTS_MD:
        raise InvalidInput(
            "agents-md is a passage of another file", field="format", remedy="`hardwon export AGENTS.md --format agents-md`"
        )

    counted = _Counted(engine, where, private=private)
    size = Replacement(path, home, force=force).write(_pieces(form, counted))
    return Exported(path, form, counted.memories, counted.verdicts, size)


class _Counted:
    """The memories of an export, counted as they pass."""

    def __init__(self, engine: Engine, where: Filter, *, private: bool) -> None:
        self._engine, self._where, self._private = engine, where, private
        self.memories = 0
        self.verdicts = 0

    def __iter__(self) -> Iterator[ExportedMemory]:
        from hardwon.engine.exchange import export as stream

        for item in stream(self._engine, self._where, private=self._private):
            if item.versions:
                self.memories += 1
            else:
                self.verdicts += 1
            yield item


def _pieces(form: str, items: Iterable[ExportedMemory]) -> Iterator[str]:
    """The lines (or notes) of an export, without their ends."""
    if form == sources.MARKDOWN:
        from hardwon.importers.notes import write

        yield from write(items)
    elif form == sources.SERVER_MEMORY:
        from hardwon.importers.server_memory import write as graph

        yield from graph(items)
    elif form == sources.MIF:
        from hardwon.importers.mif import write as document

        yield from document(items)
    else:
        from hardwon.importers.lines import HEADER, to_line

        yield HEADER
        yield from map(to_line, items)


# In


class Wish(Value):
    """How something is to be taken in: on whose behalf, as what format ("" for what it looks like), and how far it is believed."""

    scope: Scope
    format: str = ""
    keep_trust: bool = False
    dry_run: bool = False


def import_(call: Call) -> Answer:
    """Take in a file, a folder of notes, or standard input."""
    request = call.request
    path = request.text("file")
    wish = Wish(call.scope, request.text("format"), request.flag("keep-trust"), request.flag("dry-run"))
    if path == "-":
        _refuse_projects(call)
        return told(_stream(call.engine, sources.Source(sys.stdin.buffer, "standard input"), wish))
    full = os.path.join(call.cwd, os.path.expanduser(path))
    if form := database_format(full, wish, call.settings.home):
        return _databases(call, full, form, wish)
    _refuse_projects(call)
    return told(take(call.engine, full, wish))


def _refuse_projects(call: Call) -> None:
    """InvalidInput where projects are chosen of what has none: all of it would come in."""
    for name in ("only", "project-map"):
        if call.request.texts(name):
            raise InvalidInput(
                f"--{name} is for databases, and this has no projects", field=name,
                remedy=f"leave --{name} out; -p names the memory",
            )  # fmt: skip


def database_format(path: str, wish: Wish, home: str) -> str:
    """Whose database a path is, "" for what is none. InvalidInput for what cannot be read, or lies in Hardwon's own folder."""
    # Closing a store's file after a look at it would drop the locks that this process has on it.
    if _real(path).startswith(_real(home) + os.sep):
        raise InvalidInput(
            f"{path[:200]!r} lies in Hardwon's own folder",
            field="file",
            remedy="`hardwon export FILE -p NAME`, and import that file",
        )
    if _is_folder(path):
        return ""
    source = sources.open_file(path)
    try:
        form = wish.format or sources.recognise(source)
    finally:
        source.close()
    if form not in sources.DATABASES or wish.format:
        return form if form in sources.DATABASES else ""
    from hardwon.importers.database import tables

    return sources.CLAUDE_MEM if "session_summaries" in tables(path) else sources.CODE_MEMORY


def take(engine: Engine, path: str, wish: Wish) -> ImportReport:
    """A file that is no database, or a folder of notes."""
    if _is_folder(path):
        from hardwon.importers.notes import read_folder

        return _run(engine, read_folder(path), None, wish)
    source = sources.open_file(path)
    try:
        return _stream(engine, source, wish)
    finally:
        source.close()


def take_folders(engine: Engine, folders: Iterable[str], wish: Wish) -> ImportReport:
    """Several folders of notes as one import; what they share is one."""
    from hardwon.importers.notes import read_folder

    return _run(engine, (one for folder in folders for one in read_folder(folder)), None, wish)


def take_project(engine: Engine, path: str, project: str, wish: Wish, form: str = sources.CODE_MEMORY) -> ImportReport:
    """One project of a database."""
    return _run(engine, _database(form).read(path, project), None, wish)


def _database(form: str) -> Any:
    """What reads databases of that kind: it has ``projects(path)`` and ``read(path, project)``."""
    from hardwon.importers import claude_mem, code_memory

    return claude_mem if form == sources.CLAUDE_MEM else code_memory


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:
        return ""  # no name of a file; opening it tells


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False  # opening it tells what is wrong


def _stream(engine: Engine, source: Source, wish: Wish) -> ImportReport:
    form = wish.format or sources.recognise(source)
    if form in sources.DATABASES:
        raise sources.unusable(source.name, "is a database: it cannot come as a stream")
    return _run(engine, _offered(source, form), source, wish)


def _offered(source: Source, form: str) -> Iterator[Incoming]:
    if form == sources.MARKDOWN:
        from hardwon.importers import notes

        return notes.read(source)
    if form == sources.JSONL:
        from hardwon.importers import lines

        return lines.read(source.lines())
    from hardwon.importers import beads, mem0, mif, server_memory

    readers = {sources.SERVER_MEMORY: server_memory, sources.MEM0: mem0, sources.BEADS: beads, sources.MIF: mif}
    found: Iterator[Incoming] = readers[form].read(source)
    return found


def _run(engine: Engine, incoming: Iterator[Incoming], source: Source | None, wish: Wish) -> ImportReport:
    from hardwon.engine.exchange import import_memories

    with Bar("importing") as bar:

        def step(entries: int) -> None:
            if source is not None and source.size:
                bar.step(source.position, source.size)

        return import_memories(
            engine, incoming, wish.scope, keep_trust=wish.keep_trust, dry_run=wish.dry_run, redact=engine.bulk.redact_draft,
            progress=step,
        )  # fmt: skip


def _databases(call: Call, path: str, form: str, wish: Wish) -> Answer:
    """Every project of a database, each to its own memory."""
    from hardwon.engine.projects import open_target
    from hardwon.settings import key_source

    reports: list[tuple[str, str, ImportReport]] = []
    settings = call.settings
    for target in _targets(call, _database(form).projects(path)):
        engine = open_target(
            target, call.cwd, settings.home, settings.wait, cache=settings.cache, dry=wish.dry_run, keys=key_source()
        )
        try:
            report = take_project(engine, path, target.project, wish, form)
        finally:
            engine.close()
        reports.append((target.project, target.name, report))
    data = {"projects": [{"project": project, "name": name, **_data(report)} for project, name, report in reports]}
    texts = [f"{project} -> {name}: {_text(report)}" for project, name, report in reports]
    bad = any(report.bad for _, _, report in reports)
    return Answer("\n".join(texts) or "the database holds no project", data, 1 if bad else 0)


def _targets(call: Call, projects: dict[str, int]) -> list[Any]:
    from hardwon.engine.projects import Target, targets

    request = call.request
    only = request.texts("only") or tuple(projects)
    unknown = [name for name in only if name not in projects]
    if unknown:
        raise InvalidInput(
            f"the database has no project {unknown[0][:60]!r}",
            field="only",
            remedy="what there is: " + ", ".join(sorted(projects)[:20]),
        )
    named = request.text("project")
    if named and len(only) == 1:
        return [Target(only[0], named, False)]
    if named:
        raise InvalidInput(
            f"the database has {len(only)} projects, and -p names one memory", field="project",
            remedy="choose one with --only, or say where each goes: --project-map OLD=NAME",
        )  # fmt: skip
    return targets(call.settings.home, _here(call), only, dict(map(_mapping, request.texts("project-map"))))


def _here(call: Call) -> str:
    """The name of this folder's memory, "" where it has none."""
    from hardwon.engine.opening import locate

    try:
        return locate(call.cwd, call.settings.home).entry.name
    except InvalidInput:
        return ""


def _mapping(text: str) -> tuple[str, str]:
    project, equals, name = text.rpartition("=")
    if not (project and equals and name):
        raise InvalidInput(
            f"--project-map {text[:60]!r} is not OLD=NAME", field="project-map", remedy="--project-map shop=payments"
        )
    return project, name


def told(report: ImportReport) -> Answer:
    """What an import did."""
    return Answer(_text(report), _data(report), 1 if report.bad else 0)


def _data(report: ImportReport) -> dict[str, Any]:
    troubles = [{"where": one.where, "kind": one.kind, "what": one.what} for one in report.troubles]
    return {**{name: getattr(report, name) for name in _COUNTS}, "dry_run": report.dry, "troubles": troubles}


def _text(report: ImportReport) -> str:
    """The counts that are not zero, and what did not go in as it stood."""
    words = {
        "new": "new", "known": "known", "repeated": "known ones that got more", "refused": "refused", "conflicts": "left as they are here",
        "bad": "cannot be used", "waiting": "wait for their commit", "open_links": "links lead to nothing yet",
        "redacted": "secrets taken out",
    }  # fmt: skip
    of_one = {
        "repeated": "known one that got more", "waiting": "waits for its commit", "open_links": "link leads to nothing yet",
        "redacted": "secret taken out",
    }  # fmt: skip
    found = [(name, getattr(report, name)) for name in _COUNTS]
    counts = [f"{n:,} {of_one.get(name, words[name]) if n == 1 else words[name]}" for name, n in found if n]
    lines = [("would import: " if report.dry else "imported: ") + (", ".join(counts) or "nothing")]
    told = report.troubles[:_SHOWN]
    lines += [in_one_line(f"  {one.where}: {one.what}") for one in told]
    left = report.bad + report.refused + report.conflicts + report.waiting + report.open_links - len(told)
    return "\n".join([*lines, f"  and {left:,} more (--json lists up to 1,000)"] if left > 0 else lines)
