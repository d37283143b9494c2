"""The verbs that bring a memory up to date with its repository, and keep its store in order: those that may take their time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardwon.code.edits import WorkingTree
    from hardwon.engine.belief import Judged
    from hardwon.engine.branches import BranchReport
    from hardwon.engine.core import Engine
    from hardwon.engine.derived import DerivedReport
    from hardwon.engine.exchange import ImportReport
    from hardwon.engine.indexing import CodeReport
    from hardwon.engine.outcomes import OutcomeReport, RunOfTests
    from hardwon.engine.refreshing import RefreshReport
    from hardwon.engine.secrets import Held
    from hardwon.engine.test_history import FlakyTest
    from hardwon.engine.test_runs import Observation
    from hardwon.engine.transcripts import TranscriptReport
    from hardwon.engine.vectors import EmbedReport
    from hardwon.importers.pull_requests import Requests
    from hardwon.importers.transcripts.finding import Found, Roots
    from hardwon.types import Change, Finding, IngestReport, Scope
    from hardwon.upkeep.evidence import TestRun


class Maintenance:
    """The part of ``Engine`` (engine/core.py) that history, the index of the code and the store's own upkeep have to do with."""

    @property
    def _engine(self) -> Engine:
        """The engine that this is a part of."""
        return self  # type: ignore[return-value]  # nothing else is made of this class

    def add_changes(self, changes: Iterable[Change], progress: Callable[[int], None] | None = None) -> tuple[int, int]:
        """Keep commits as memories, in slices of one transaction each; known ones are passed over. (added, redacted)."""
        from hardwon.engine import history

        return history.add_changes(self._engine, changes, progress)

    def settle_history(self) -> int:
        """Tie references between changes and write what became of each; how many stand as taken back."""
        from hardwon.engine import history

        return history.settle(self._engine)

    def ingest_history(
        self, limit: int = 100_000, progress: Callable[[int, int], None] | None = None, *, branches: bool = True
    ) -> IngestReport:
        """Read the commits that are not known yet, newest first. What was written stays when it is interrupted. ``branches``: look at all
        branches thereafter; not needed before ``refresh_code``, which does so too."""
        from hardwon.engine import history

        report = history.ingest(self._engine, limit, progress, self._engine.bulk.choose)
        if branches:
            self.refresh_branches()
        return report

    def preview_history(self, limit: int = 100_000, progress: Callable[[int, int], None] | None = None) -> IngestReport:
        """What an ingest would read, leave out and drop, without writing."""
        from hardwon.engine import history

        return history.preview(self._engine, limit, progress, self._engine.bulk.choose)

    def ingest_documents(self, progress: Callable[[int, int], None] | None = None, *, dry_run: bool = False) -> DerivedReport:
        """Bring the passages of the repository's own documents up to date."""
        from hardwon.engine import derived

        return derived.ingest_documents(self._engine, progress, dry_run, self._engine.bulk.redact)

    def ingest_dependencies(self, progress: Callable[[int, int], None] | None = None, *, dry_run: bool = False) -> DerivedReport:
        """Bring the facts on dependencies, and upgrades that were taken back, up to date."""
        from hardwon.engine import derived

        return derived.ingest_dependencies(self._engine, progress, dry_run, self._engine.bulk.redact)

    def ingest_requests(self, limit: int = 200) -> tuple[Requests, DerivedReport | None]:
        """Keep what was said in merged pull requests, where a program is there to be asked; else why not, and None."""
        from hardwon.engine import derived
        from hardwon.importers import pull_requests

        checkout = self._engine.home.checkout
        asked = pull_requests.ask(checkout.root, checkout.origin, limit)
        if asked.trouble:
            return asked, None
        return asked, derived.add(self._engine, "prs", asked.derived, self._engine.bulk.redact)

    def ingest_shared(self, scope: Scope, *, dry_run: bool = False) -> ImportReport:
        """Take in what others have shared through the repository's files: imported, until it is approved here."""
        from hardwon.engine.sharing import ingest

        return ingest(self._engine, scope, dry_run=dry_run)

    def working_tree(self) -> WorkingTree:
        """What lies in the working tree now; to be asked before tests begin. Without a commit where that cannot be told."""
        from hardwon.code.edits import WorkingTree, working_tree

        return working_tree(self._engine.place.checkout) if self._engine.place else WorkingTree()

    def observe(self, runs: Sequence[TestRun], scope: Scope) -> Observation:
        """Take note of test runs, and judge by them the memories of the code that changed between a failure and a pass."""
        from hardwon.engine.test_runs import observe

        return observe(self._engine, runs, scope)

    def take_outcomes(self, run: RunOfTests, scope: Scope) -> OutcomeReport:
        """Record how a run of tests went, and tell what is known of what failed in it (engine/outcomes.py)."""
        from hardwon.engine.outcomes import take

        return take(self._engine, run, scope)

    def flaky_tests(self) -> list[FlakyTest]:
        """The tests that were seen to fail and to pass on the same files, the latest first."""
        from hardwon.engine.test_history import flaky_tests

        return flaky_tests(self._engine)

    def flaky_through(self, symbol: str) -> list[str]:
        """The names of flaky tests that failed in a symbol, which may be given in part."""
        from hardwon.engine.test_history import flaky_through

        return flaky_through(self._engine, symbol)

    def find_transcripts(self, roots: Roots, clients: Iterable[str], since: int = 0) -> Found:
        """The sessions of this repository that agents' clients keep on this machine."""
        from hardwon.engine.transcripts import find

        return find(self._engine, roots, clients, since)

    def ingest_transcripts(
        self, found: Found, progress: Callable[[int, int], None] | None = None, *, dry_run: bool = False
    ) -> TranscriptReport:
        """Take in what sessions taught that are over; idempotent, and not twice what hooks recorded in them. Whoever asks for it, it was
        an agent who learnt it."""
        from hardwon.engine.transcripts import ingest

        return ingest(self._engine, found, dry_run=dry_run, progress=progress)

    def judge(self) -> Judged:
        """Judge memories by what became of their commits, as every ingest of history does."""
        from hardwon.engine.judging import judge

        return judge(self._engine)

    def refresh_code(self, progress: Callable[[int, int], None] | None = None, *, thorough: bool = False) -> CodeReport:
        """Bring the index of the code up to date with the working tree, and find what became of the code that memories speak of.
        ``thorough``: look for damage in the index before."""
        from hardwon.engine.indexing import refresh

        report = refresh(self._engine, progress, thorough=thorough)
        self.refresh_branches()
        return report

    def silent(self) -> int:
        """How many active memories belong to branches that are not part of what is checked out."""
        from hardwon.engine.visibility import silent

        return silent(self._engine)

    def refresh_branches(self) -> BranchReport:
        """Look at all branches: by which commits each of them has what was recorded elsewhere."""
        from hardwon.engine.branches import refresh

        return refresh(self._engine)

    def refresh(
        self, limit: int = 100_000, roots: Roots | None = None, progress: Callable[[int, int], None] | None = None
    ) -> RefreshReport:
        """Bring all that is made of the repository up to date: commits, code, branches; and with ``roots`` what hooks have heard of
        sessions, by what clients wrote there. ``rounds`` is 0 where another process is at it."""
        from hardwon.engine.refreshing import refresh

        return refresh(self._engine, limit, roots, progress)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Make the index anew from what is kept and from git; how many memories were indexed."""
        from hardwon.engine import history

        return history.rebuild(self._engine, progress, self._engine.bulk.choose)

    def find_secrets(self, progress: Callable[[int, int], None] | None = None) -> list[Held]:
        """Every memory that holds what the rules of today would take out; never the secrets themselves."""
        from hardwon.engine import secrets

        return secrets.find(self._engine, self._engine.bulk.choose, progress)

    def take_out_secrets(self, scope: Scope) -> int:
        """Rewrite those memories, and erase their earlier versions, for good; how many."""
        from hardwon.engine import secrets

        return secrets.take_out(self._engine, scope, self._engine.bulk.choose)

    def reembed(
        self, *, history: bool = False, limit: int | None = None, progress: Callable[[int, int], None] | None = None
    ) -> EmbedReport:
        """Make the vectors that are missing; Unavailable without an embedder."""
        from hardwon.engine import vectors

        return vectors.reembed(self._engine, history, limit, progress)

    def compact(self, progress: Callable[[int, int], None] | None = None, *, full: bool = False) -> tuple[int, int]:
        """Give back the space of what is gone, in slices of some milliseconds; bytes before and after. ``full``: more of it, by
        writing the whole file anew while writers wait. An erasure that was cut short is brought to its end before."""
        from hardwon.engine.erase import finish, is_pending

        if is_pending(self._engine):
            finish(self._engine)
        return self._engine.store.compact(self._engine.wait, progress, full=full)

    def persist(self) -> None:
        """Return when everything that was written lies in the store's own file, synced. What was acknowledged is durable without."""
        self._engine.store.checkpoint(self._engine.wait)

    def verify(self) -> list[Finding]:
        """Everything that is wrong with the store and with what waits beside it; never writes."""
        from hardwon.engine.spooling import spool_of

        spool = spool_of(self._engine)
        found = [*self._engine.store.check(), *(spool.check() if spool else ())]
        if not any(item.level == "error" for item in found):
            from hardwon.engine import code_index, erased, session_file

            found += [*erased.findings(self._engine), *code_index.findings(self._engine), *session_file.findings(self._engine)]
        return found

    def check_quickly(self) -> list[Finding]:
        """What a few milliseconds tell of the store: whether its journal was longer once, or its log ends in damage."""
        return self._engine.store.check_quickly()
