"""The Python door: ``hardwon.open(".")`` gives a repository's memory, each verb a method with the options of the command."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hardwon.doors.arguments import checked
from hardwon.doors.items import Items, as_json
from hardwon.doors.sources import Sources
from hardwon.errors import InvalidInput
from hardwon.intake.shape import LIMITS, clean_text
from hardwon.types import Anchor, Draft, Filter, Origin, Query, Revision, Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any, Self

    from hardwon.doors.condition import Condition
    from hardwon.engine.backup import Backup
    from hardwon.engine.core import Engine
    from hardwon.engine.encryption import KeyReport
    from hardwon.engine.erase import Erasure
    from hardwon.engine.explain import Explanation
    from hardwon.engine.repair import RepairReport
    from hardwon.engine.restore import Restoration
    from hardwon.engine.secrets import Held
    from hardwon.engine.vectors import BenchReport, EmbedReport
    from hardwon.types import (
        Block,
        Difference,
        Event,
        Finding,
        Kind,
        Link,
        LinkKind,
        Memory,
        Occurrence,
        Outcome,
        Proposal,
        Reason,
        Receipt,
        Risk,
        Selection,
        Status,
        SymbolReport,
        Trust,
        Version,
    )

CLIENT = "python"


class MemoryPage(Value):
    """One memory in full: each time that it happened, and its relations with the memories at their other ends."""

    memory: Memory
    occurrences: tuple[Occurrence, ...]
    links: tuple[tuple[Link, Memory | None], ...]


class MemoryHistory(Value):
    """How a memory came to be what it is: its versions and the journal's entries, oldest first."""

    memory: Memory
    versions: tuple[Version, ...]
    events: tuple[Event, ...]


class Stats(Value):
    """A summary: symbols with lessons, their failures and successes, counts of what is kept, the riskiest symbols."""

    symbols: int
    fails: int
    successes: int
    memories: Mapping[str, int]
    riskiest: tuple[Risk, ...]


@checked
class Repository(Items, Sources):
    """A repository's memory. Methods are the verbs; ids are numbers (``12``, ``"#12"``), ids, commits or other names.

    Everything that a writing method acknowledged is on the disk when it returns. One instance may be used by several threads.
    What is written is marked as an agent's (unverified) unless ``origin`` says that a person is calling. An argument of another type
    or range than is said here is InvalidInput, before anything is done.
    """

    def __init__(self, engine: Engine, origin: Origin | None = None, home: str = "") -> None:
        """For an engine that is open already; ``hardwon.open`` is the usual way. ``home`` is the folder of the registry."""
        self.engine = engine
        self.home = home or _home()
        self.scope = Scope(origin or Origin("agent", CLIENT, "", "python"))

    def close(self) -> None:
        """Let go of files; idempotent."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # Writing

    def record(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        outcome: Outcome | None = None,
        file: str = "",
        symbol: str = "",
        detail: str = "",
        code: str = "",
        tags: Sequence[str] = (),
        because: str = "",
        rejected: Sequence[str] = (),
        expires: float | None = None,
        private: bool = False,
        session: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Keep a memory; ``expires`` in seconds from now, ``metadata`` anything that JSON holds."""
        draft = Draft(
            text=text, kind=kind, outcome=outcome, detail=detail, code=code, because=because, rejected=tuple(rejected),
            anchors=_place(file, symbol), tags=tuple(tags), visibility="private" if private else "shared",
            expires_at=self._later(expires), session=session, metadata=as_json(metadata),
        )  # fmt: skip
        return self.engine.record(draft, self.scope)

    def fail(self, symbol: str, lesson: str, *, detail: str = "", file: str = "", session: str = "") -> Receipt:
        """Something went wrong on a symbol, and what it taught."""
        return self._lesson(symbol, lesson, "failed", detail, file, session)

    def ok(self, symbol: str, lesson: str = "worked", *, detail: str = "", file: str = "", session: str = "") -> Receipt:
        """Something worked on a symbol."""
        return self._lesson(symbol, lesson, "worked", detail, file, session)

    def _lesson(self, symbol: str, lesson: str, outcome: Outcome, detail: str, file: str, session: str) -> Receipt:
        symbol = clean_text(symbol, "symbol", LIMITS["symbol"])
        if not symbol:
            raise InvalidInput("the symbol is empty", field="symbol", remedy="name a function, method or class")
        draft = Draft(lesson, "lesson", outcome, detail, anchors=(Anchor(file, symbol),), session=session)
        return self.engine.record(draft, self.scope)

    def resolve(self, id: str | int) -> Receipt:
        """A lesson no longer counts for risk: its cause is gone."""
        return self.engine.set_status(str(id), "resolved", self.scope)

    def deactivate(self, id: str | int) -> Receipt:
        """A lesson no longer counts for risk."""
        return self.engine.set_status(str(id), "inactive", self.scope)

    def revise(
        self,
        id: str | int,
        text: str | None = None,
        *,
        detail: str | None = None,
        because: str | None = None,
        rejected: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        code: str | None = None,
        file: str | None = None,
        symbol: str | None = None,
        expires: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Change a memory's words; None leaves a field as it is."""
        placed = None if file is None and symbol is None else _place(file or "", symbol or "")
        revision = Revision(
            text=text, detail=detail, because=because, rejected=_tuple(rejected), tags=_tuple(tags), code=code, anchors=placed,
            expires_at=self._later(expires), metadata=None if metadata is None else as_json(metadata),
        )  # fmt: skip
        return self.engine.revise(str(id), revision, self.scope)

    def link(self, id: str | int, other: str | int, kind: LinkKind) -> Receipt:
        """Say how one memory stands to another: ``replaces``, ``contradicts`` or ``supports``."""
        return self.engine.link(str(id), str(other), kind, self.scope)

    def approve(self, id: str | int) -> Receipt:
        """Vouch for a memory; InvalidInput unless ``origin`` is a person."""
        return self.engine.approve(str(id), self.scope)

    def reject(self, id: str | int) -> Receipt:
        """Turn a memory down; InvalidInput unless ``origin`` is a person."""
        return self.engine.reject(str(id), self.scope)

    def useful(self, id: str | int) -> Receipt:
        """Say that a memory helped."""
        return self.engine.feedback(str(id), "useful", self.scope)

    def useless(self, id: str | int) -> Receipt:
        """Say that a memory did not help."""
        return self.engine.feedback(str(id), "useless", self.scope)

    def undo(self, id: str | int = "") -> tuple[Receipt, ...]:
        """Take back the last change of a memory; without one, the last stroke of this origin."""
        return tuple(self.engine.undo(str(id), self.scope))

    def forget(
        self,
        *ids: str | int,
        session: str = "",
        source: str = "",
        tags: Sequence[str] = (),
        older_than: float | None = None,
        dry_run: bool = False,
    ) -> Selection:
        """Forget what matches all that is given; ``older_than`` in seconds. ``undo()`` brings it back."""
        where = Filter(
            ids=tuple(self.engine.identify(str(id)) for id in ids), session=session, client=source, tags=tuple(tags),
            before=None if older_than is None else self.engine.clock() - int(older_than * 1000),
        )  # fmt: skip
        return self.engine.forget(where, self.scope, dry_run=dry_run)

    def erase(
        self,
        *ids: str | int,
        session: str = "",
        source: str = "",
        tags: Sequence[str] = (),
        older_than: float | None = None,
        reason: Reason = "other",
        dry_run: bool = False,
    ) -> Erasure:
        """Take what matches all that is given, and what says the same, out of every file for good, whatever its status; only where
        ``origin`` is a person. The answer tells what still holds it."""
        where = Filter(
            ids=tuple(self.engine.identify(str(id)) for id in ids), session=session, client=source, tags=tuple(tags),
            before=None if older_than is None else self.engine.clock() - int(older_than * 1000),
        )  # fmt: skip
        return self.engine.erase(where, reason, self.scope, dry_run=dry_run)

    # Reading

    def recall(
        self,
        task: str = "",
        *,
        file: str = "",
        symbol: str = "",
        kinds: Sequence[Kind] = (),
        outcomes: Sequence[Outcome] = (),
        statuses: Sequence[Status] = (),
        trusts: Sequence[Trust] = (),
        tags: Sequence[str] = (),
        branches: Sequence[str] = (),
        extensions: Sequence[str] = (),
        paths: Sequence[str] = (),
        authors: Sequence[str] = (),
        since: int | None = None,
        until: int | None = None,
        k: int = 10,
        budget: int = 1500,
        vectors: bool = False,
        all_branches: bool = False,
        error: str = "",
        unasked: bool = False,
    ) -> Block:
        """What is remembered about a task, best first; empty when nothing fits. ``since`` and ``until`` in milliseconds since 1970,
        ``budget`` the tokens of the block; ``all_branches``: also what belongs to branches that are not part of what is checked out.
        ``error``: the text of a log; then what was learnt about the failures in it. ``unasked``: only what may be said to somebody who did
        not ask, as before each turn of an agent. InvalidInput for a filter value that nothing has."""
        where = Filter(
            kinds=tuple(kinds), outcomes=tuple(outcomes), statuses=tuple(statuses), trusts=tuple(trusts), tags=tuple(tags),
            branches=tuple(branches), extensions=tuple(extensions), paths=tuple(paths), authors=tuple(authors),
            since=since, before=until,
        )  # fmt: skip
        query = Query(task, file, symbol, where, k, budget, None, vectors, (), all_branches)
        if unasked:
            if error or not task.strip():
                raise InvalidInput(
                    "unasked needs a task, and takes no error", field="unasked", remedy="give the words of the prompt"
                )
            return self.engine.recall_unasked(query, self.scope)
        return self.engine.recall_failure(query, error, self.scope) if error else self.engine.recall(query, self.scope)

    def before(self, *, file: str = "", symbol: str = "", lines: str = "", diff: str = "", budget: int = 500) -> Block:
        """The lessons of what is about to be edited, failures first. ``lines``: ``A-B`` of the file; ``diff``: a unified diff as text."""
        from hardwon.doors import places

        return places.edited(self.engine, file, symbol, lines, diff, self.scope, budget)

    def explain(self, place: str, *, budget: int = 1500) -> Explanation:
        """The decisions behind ``FILE``, ``FILE:LINE`` or ``FILE:A-B``: the commits that made its lines, what became of them, and what was
        recorded about it."""
        from hardwon.doors import places

        return places.explained(self.engine, place, self.scope, budget)

    def brief(self, *, budget: int = 1500) -> Block:
        """What a session should know at its start."""
        return self.engine.brief(self.scope, budget)

    def query(self, symbol: str = "", *, file: str = "", top: int | None = None, all: bool = False) -> tuple[SymbolReport, ...]:
        """Lessons and risk of the symbols that match, riskiest first; ``all``: also of resolved and inactive lessons."""
        return tuple(self.engine.query(symbol, file, self.scope, everything=all, top=top))

    def stats(self, *, file: str = "", top: int = 10) -> Stats:
        """A summary of what is kept."""
        risks = self.engine.risks(file, self.scope)
        fails, successes = sum(risk.fails for risk in risks), sum(risk.successes for risk in risks)
        return Stats(len(risks), fails, successes, self.engine.figures(), tuple(risks[:top]))

    def show(self, id: str | int) -> MemoryPage:
        """One memory in full; NotFound names what was asked for."""
        memory, occurrences, links = self.engine.show(str(id), self.scope)
        return MemoryPage(memory, tuple(occurrences), tuple(links))

    def history(self, id: str | int) -> MemoryHistory:
        """How a memory came to be what it is."""
        memory, versions, events = self.engine.history(str(id), self.scope)
        return MemoryHistory(memory, tuple(versions), tuple(events))

    def diff(self, id: str | int, older: int | None = None, newer: int | None = None) -> Difference:
        """What changed between two versions of a memory, by default its last two."""
        return self.engine.diff(str(id), older, newer, self.scope)

    def review(self, *, limit: int = 20) -> tuple[Proposal, ...]:
        """What waits for a person's verdict."""
        return tuple(self.engine.review(self.scope, limit))

    def verify(self) -> tuple[Finding, ...]:
        """Everything that is wrong with the store; empty when all is well."""
        return tuple(self.engine.verify())

    def status(self) -> Condition:
        """Which memory this is, why, how large, and whether it is well."""
        from hardwon.doors.condition import condition

        return condition(self.engine, self.home)

    # The store as a whole

    def reembed(self, *, history: bool = False, limit: int | None = None) -> EmbedReport:
        """Make the vectors that are missing; Unavailable without the extra ``vectors``."""
        return self.engine.reembed(history=history, limit=limit)

    def rekey(self, *, key_file: str = "", keyring: bool = False, decrypt: bool = False) -> KeyReport:
        """Encrypt the memory with another key, kept in ``key_file``, in the system's ``keyring``, or where the old one was; with
        ``decrypt``, with none. InvalidInput for one that is not encrypted: `hardwon init --encrypt` does that."""
        from hardwon.doors import encryption

        return encryption.changed(self.engine, self.home, os.path.abspath(key_file) if key_file else "", keyring, decrypt)

    def backup(
        self,
        path: str = "",
        *,
        keep: int = 7,
        encrypt: Sequence[str] = (),
        passphrase_file: str = "",
        force: bool = False,
    ) -> Backup:
        """Copy the whole memory into a checked file, by default the next of the ``keep`` newest below HARDWON_HOME/backups;
        ``encrypt``: age recipients."""
        from hardwon.doors import backup

        lock = backup.lock(tuple(encrypt), passphrase_file)
        return backup.made(self.engine, self.home, os.path.abspath(path) if path else "", lock, keep=keep, force=force)

    def restore(
        self,
        path: str,
        *,
        keep_newer: bool = False,
        identity: str = "",
        passphrase_file: str = "",
        force: bool = False,
        dry_run: bool = False,
    ) -> Restoration:
        """Put a backup (a path, or the name of one below HARDWON_HOME/backups) into the memory's place; what was there is kept."""
        from hardwon.doors import backup

        opener = backup.opener(identity, passphrase_file)
        return backup.brought_back(
            self.engine, self.home, path, opener, self.scope, keep_newer=keep_newer, force=force, dry_run=dry_run
        )

    def repair(self, *, dry_run: bool = False) -> RepairReport:
        """Keep what is intact of a damaged memory, and name what is lost; nothing is done where nothing is damaged."""
        from hardwon.engine.repair import repair

        return repair(self.engine, self.scope, dry_run=dry_run)

    def bench(self, modes: Sequence[str] = ("flat", "signs"), *, k: int = 10, queries: int = 100, seed: int = 1) -> BenchReport:
        """Compare ways to search vectors with the exact one, on this memory."""
        from hardwon import settings
        from hardwon.doors.bench import known
        from hardwon.engine import vectors

        return vectors.bench(self.engine, known(modes), k, queries, seed, settings.load())

    def find_secrets(self) -> tuple[Held, ...]:
        """Which memories hold what today's rules would take out; never the secrets."""
        return tuple(self.engine.find_secrets())

    def _later(self, seconds: float | None) -> int | None:
        return None if seconds is None else self.engine.clock() + int(seconds * 1000)


def open_repository(
    path: str = ".", *, project: str = "", home: str = "", make: bool = False, origin: Origin | None = None
) -> Repository:
    """The memory of a folder's repository (or of a registered ``project``), as ``hardwon.open(".")``.

    NoStore before ``hardwon init``, unless ``make``: then it is made, and its history is read; the code is not before ``ingest_code``.
    ``home`` stands for HARDWON_HOME.
    """
    from hardwon import settings
    from hardwon.engine import opening

    options, keys = settings.load(), settings.key_source()
    place, where = os.path.abspath(path), home or options.home
    if make:
        engine = opening.create(place, where, project, wait=options.wait, cache=options.cache, keys=keys)
        engine.ingest_history()
    else:
        engine = opening.open_engine(place, where, project, wait=options.wait, cache=options.cache, keys=keys)
    return Repository(engine, origin or Origin("agent", options.client or CLIENT, options.session, "python"), where)


def _home() -> str:
    from hardwon import settings

    return settings.load().home


def _place(file: str, symbol: str) -> tuple[Anchor, ...]:
    return (Anchor(file, symbol),) if file or symbol else ()


def _tuple(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
