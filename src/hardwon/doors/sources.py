"""What comes in from elsewhere and what goes out: a part of the Python door."""

from __future__ import annotations

import os

from hardwon.doors.arguments import checked
from hardwon.errors import InvalidInput
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from hardwon.doors.exchange import Exported
    from hardwon.doors.test_files import ReadLog, ReadReport
    from hardwon.engine.core import Engine
    from hardwon.engine.derived import DerivedReport
    from hardwon.engine.exchange import ImportReport
    from hardwon.engine.indexing import CodeReport
    from hardwon.engine.refreshing import RefreshReport
    from hardwon.engine.sharing import ShareReport
    from hardwon.engine.test_history import FlakyTest
    from hardwon.engine.transcripts import TranscriptReport
    from hardwon.types import IngestReport, Kind, Outcome, Scope, Status, Trust

    FormatIn = Literal["", "jsonl", "cm", "server-memory", "markdown", "mif", "claude-mem", "mem0", "beads"]
    FormatOut = Literal["jsonl", "markdown", "server-memory", "mif"]
    TranscriptClient = Literal["claude-code", "codex", "gemini", "opencode", "transcript"]


@checked
class Sources:
    """Exports, imports, the files of the repository, and everything that `ingest` reads."""

    engine: Engine
    home: str
    scope: Scope

    def export(
        self,
        path: str,
        *,
        format: FormatOut = "jsonl",
        private: bool = False,
        force: bool = False,
        kinds: Sequence[Kind] = (),
        statuses: Sequence[Status] = (),
        tags: Sequence[str] = (),
        since: int | None = None,
    ) -> Exported:
        """Write memories to a file, which appears whole or not at all."""
        from hardwon.doors.exchange import write

        where = Filter(kinds=tuple(kinds), statuses=tuple(statuses), tags=tuple(tags), since=since)
        return write(self.engine, self.home, os.path.abspath(path), format, where, private=private, force=force)

    def import_(
        self,
        path: str,
        *,
        format: FormatIn = "",
        only: str = "",
        keep_trust: bool = False,
        dry_run: bool = False,
    ) -> ImportReport:
        """Take in an export, notes, what another tool keeps, or the project ``only`` of a database of one."""
        from hardwon.doors import exchange

        wish = exchange.Wish(self.scope, format, keep_trust, dry_run)
        full = os.path.abspath(path)
        form = exchange.database_format(full, wish, self.home)
        if not form:
            if only:
                raise InvalidInput("only a database has projects", field="only", remedy="leave it out")
            return exchange.take(self.engine, full, wish)
        if not only:
            raise InvalidInput("a database may hold several projects", field="only", remedy="say which with only=…")
        return exchange.take_project(self.engine, full, only, wish, form)

    def share(
        self,
        *ids: str | int,
        kinds: Sequence[Kind] = (),
        outcomes: Sequence[Outcome] = (),
        trusts: Sequence[Trust] = (),
        tags: Sequence[str] = (),
        paths: Sequence[str] = (),
        dry_run: bool = False,
    ) -> ShareReport:
        """Put memories, by default all that are confirmed, into files of the repository, and remove the files of those that were
        set aside here."""
        from hardwon.doors import sharing

        where = Filter(
            ids=tuple(self.engine.identify(str(id)) for id in ids), kinds=tuple(kinds), outcomes=tuple(outcomes), trusts=tuple(trusts),
            tags=tuple(tags), paths=tuple(paths),
        )  # fmt: skip
        return sharing.put(self.engine, where, dry_run=dry_run)

    def ingest_shared(self, *, dry_run: bool = False) -> ImportReport:
        """Take in what others have shared through the repository: imported, until a person approves it here."""
        return self.engine.ingest_shared(self.scope, dry_run=dry_run)

    def ingest_junit(self, *files: str, commit: str = "", job: str = "") -> tuple[ReadReport, ...]:
        """Record how tests went by reports in JUnit's XML, or folders with such. ``commit``: the one on which they ran, by default
        what lies here if nothing was edited since; ``job`` keeps apart what runs in several surroundings."""
        from hardwon.doors import test_files

        # Standard input is the program's that calls us.
        found = test_files.reports_at(["./-" if file == "-" else file for file in files], os.getcwd())
        return tuple(test_files.take_reports(self.engine, found, commit, job, self.scope))

    def ingest_log(self, file: str, *, commit: str = "", job: str = "") -> ReadLog:
        """Record the failing steps and tests of a CI job's log."""
        from hardwon.doors import test_files

        return test_files.take_log(self.engine, os.path.abspath(file), commit, job, self.scope)

    def flaky_tests(self) -> tuple[FlakyTest, ...]:
        """The tests that were seen to fail and to pass on the same files."""
        return tuple(self.engine.flaky_tests())

    def ingest_git(self, *, limit: int = 100_000, dry_run: bool = False) -> IngestReport:
        """Read the commits that are not known yet."""
        return self.engine.preview_history(limit) if dry_run else self.engine.ingest_history(limit)

    def ingest_docs(self, *, dry_run: bool = False) -> DerivedReport:
        """Bring the passages of the repository's own documents up to date."""
        return self.engine.ingest_documents(dry_run=dry_run)

    def ingest_deps(self, *, dry_run: bool = False) -> DerivedReport:
        """Bring the facts on dependencies, and upgrades that were taken back, up to date."""
        return self.engine.ingest_dependencies(dry_run=dry_run)

    def ingest_transcripts(
        self, *files: str, clients: Sequence[TranscriptClient] = (), since: int | None = None, dry_run: bool = False
    ) -> TranscriptReport:
        """Take in what earlier sessions of agents taught: the named transcripts, or all of this repository that clients keep on this
        machine, of some ``clients`` only, written to at ``since`` (milliseconds since 1970) or later."""
        from hardwon.doors import transcripts

        found = transcripts.found(self.engine, files, tuple(clients), since or 0)
        return self.engine.ingest_transcripts(found, dry_run=dry_run)

    def ingest_notes(self, *, dry_run: bool = False) -> ImportReport:
        """Take in what clients noted of this repository by themselves: imported, until a person approves it."""
        from hardwon.doors import exchange, transcripts

        folders = transcripts.folders_of_notes(self.engine)
        return exchange.take_folders(self.engine, folders, exchange.Wish(self.scope, dry_run=dry_run))

    def ingest_code(self) -> CodeReport:
        """Bring the index of the code up to date with the working tree, and find what became of the code that memories speak of. A
        report of nothing outside any working tree."""
        return self.engine.refresh_code(thorough=True)

    def ingest_prs(self, *, limit: int = 200) -> DerivedReport | None:
        """Read what was said in merged pull requests; None where no program is there to be asked, or it does not answer."""
        return self.engine.ingest_requests(limit)[1]

    def refresh(self, *, limit: int = 100_000) -> RefreshReport:
        """Bring all that is made of the repository up to date; ``rounds`` is 0 where another process is at it."""
        from hardwon.doors.transcripts import roots

        return self.engine.refresh(limit, roots())
