"""Everything that is made of the repository, brought up to date at once: its commits and what became of them, its code, its branches, what
others put into its files, its documents and dependencies where they were read before, and the sessions that hooks have heard.

One process at a time: who comes second leaves it to the first, which looks again before it ends.
"""

from __future__ import annotations

import os

from hardwon.engine.freshness import LINE, lock_of
from hardwon.engine.indexing import CodeReport
from hardwon.engine.transcripts import TranscriptReport, heard, ingest
from hardwon.errors import Busy
from hardwon.store import git_events
from hardwon.types import IngestReport, Origin, Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.engine.core import Engine
    from hardwon.engine.derived import DerivedReport
    from hardwon.importers.transcripts.finding import Roots

    Progress = Callable[[int, int], None]

_SHARED = Scope(Origin("import", "", "", "refresh"))  # on whose behalf memories of the repository's own files come in
_ROUNDS = 20  # how often what came meanwhile is seen to; thereafter the next call is left something


class RefreshReport(Value):
    """What was done, of the last round. ``rounds`` is 0 where another process was at it. ``derived``: documents and dependencies, each
    where it was read before; ``transcripts``: sessions that hooks have heard, completed by what their clients wrote."""

    rounds: int = 0
    history: IngestReport = IngestReport(0, 0, 0)
    code: CodeReport = CodeReport()
    derived: tuple[DerivedReport, ...] = ()
    transcripts: TranscriptReport = TranscriptReport()


def refresh(engine: Engine, limit: int, roots: Roots | None = None, progress: Progress | None = None) -> RefreshReport:
    """Read the commits that are not known, index the code, look at all branches; again while git's hooks tell of more. ``roots``: where
    clients keep their sessions, if those are to be read too. Errors are raised; what the hooks told then waits for the next time."""
    checkout = engine.home.checkout
    report = RefreshReport()
    for number in range(1, _ROUNDS + 1):
        line = engine.store.queue(LINE)
        try:
            line.acquire(0)
        except Busy:
            break
        try:
            report = _round(engine, number, limit, roots, progress)
        finally:
            line.release()
        # Asked without the lock: who told meanwhile may have found it taken, and gone.
        if not git_events.waiting(checkout):
            break
    return report


def _round(engine: Engine, number: int, limit: int, roots: Roots | None, progress: Progress | None) -> RefreshReport:
    checkout = engine.home.checkout
    os.utime(lock_of(engine))  # by which others see that it began
    git_events.take(checkout)
    history = engine.ingest_history(limit, progress, branches=False)
    code = engine.refresh_code(progress)
    engine.ingest_shared(_SHARED)
    derived = _derived(engine, progress)
    git_events.drop(checkout)
    sessions = ingest(engine, heard(engine, roots)) if roots else TranscriptReport()
    return RefreshReport(number, history, code, derived, sessions)


def _derived(engine: Engine, progress: Progress | None) -> tuple[DerivedReport, ...]:
    """Documents and dependencies follow the commit as well, where somebody had them read."""
    with engine.store.read() as reader:
        known = {name for name in ("docs", "deps") if reader.setting(f"derived_{name}")}
    again = {"docs": engine.ingest_documents, "deps": engine.ingest_dependencies}
    return tuple(again[name](progress) for name in sorted(known))
