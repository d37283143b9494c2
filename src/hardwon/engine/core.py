"""What can be done with a repository's memory: each verb joins the rooms and decides nothing itself."""

from __future__ import annotations

import os
import time

from hardwon.code import paths
from hardwon.engine.maintenance import Maintenance
from hardwon.errors import InvalidInput, NotFound
from hardwon.types import SymbolReport, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal

    from hardwon.capture.event import Event as SessionEvent
    from hardwon.code.diff import FileChange
    from hardwon.code.repo import Checkout
    from hardwon.engine.advice import Advice
    from hardwon.engine.code_index import TreeIndex
    from hardwon.engine.erase import Erasure
    from hardwon.engine.explain import Explanation
    from hardwon.intake.bulk import Redactor
    from hardwon.store.base import Reader, Store, Transaction
    from hardwon.store.identity import Entry
    from hardwon.store.sessions.workfile import WorkFile
    from hardwon.types import (
        Block,
        Difference,
        Draft,
        Event,
        Filter,
        LinkKind,
        Memory,
        Occurrence,
        Proposal,
        Query,
        Reason,
        Receipt,
        Revision,
        Risk,
        Scope,
        Selection,
        Status,
        Version,
    )

# A setting of the store while its index is made anew.
REBUILDING = "rebuilding"


def wall_clock() -> int:
    """Milliseconds since 1970, from the system."""
    return time.time_ns() // 1_000_000


class Place(Value):
    """Where a call works: the checkout, the registered repository, and why it was taken for that one."""

    checkout: Checkout
    entry: Entry
    why: str
    cwd: str


class Engine(Maintenance):
    """One repository's memory. Not for use by two threads in one transaction; reads and writes of several threads are fine."""

    def __init__(
        self,
        store: Store,
        repository: str,
        place: Place | None = None,
        clock: Callable[[], int] = wall_clock,
        entropy: Callable[[int], bytes] = os.urandom,
        wait: float = 30.0,
        cache: str = "",
        erasure_key: str = "",
    ) -> None:
        """``repository`` is the registered id; ``wait`` the seconds to queue for the lock; ``cache`` a folder for what can be made
        again, without which text in bulk is looked at by the quick rules only; ``erasure_key`` the file of the secret by which erased
        words are recognised (by default beside the store's)."""
        self.store = store
        self.repository = repository
        self.namespace: tuple[object, str] | None = None  # of derived ids, and of which file: see engine/namespace.py
        self.place = place
        self.clock = clock
        self.entropy = entropy
        self.wait = wait
        self.cache = cache
        self.erasure_key = erasure_key or (store.path and f"{store.path}.erasure.key")
        self._bulk: Redactor | None = None
        self._code: TreeIndex | None = None
        self._work: WorkFile | None = None

    @property
    def code(self) -> TreeIndex | None:
        """The index of the code at hand, seen from this working tree; None outside any, and for a store without a file."""
        if self._code is None and self.place is not None and self.store.path:
            from hardwon.engine.code_index import tree_index

            self._code = tree_index(self)
        return self._code

    @property
    def work(self) -> WorkFile | None:
        """The file of what sessions are doing; None for a store without a file."""
        if self._work is None and self.store.path:
            from hardwon.engine.session_file import session_file

            self._work = session_file(self)
        return self._work

    @property
    def recipient(self) -> str:
        """The public half of an encrypted store's key, to which what waits in the spool is sealed; "" for a plain one."""
        return self.store.recipient

    @property
    def bulk(self) -> Redactor:
        """What takes secrets out of text that enters in bulk, or through a door that lives long."""
        if self._bulk is None:
            from hardwon.intake.bulk import Redactor

            self._bulk = Redactor(self.cache)
        return self._bulk

    @property
    def home(self) -> Place:
        """The registered place; InvalidInput for a store that was opened outside the registry."""
        if self.place is None:
            raise InvalidInput("this store is not registered for a folder", remedy="open it with hardwon.open()")
        return self.place

    @property
    def standing(self) -> tuple[str, str]:
        """The branch and the commit that are checked out at this moment; "" for what there is not."""
        from hardwon.code import repo

        return repo.standing(self.place.checkout) if self.place else ("", "")

    def close(self) -> None:
        """Let go of files."""
        if self._code is not None:
            self._code.close()
        if self._work is not None:
            self._work.close()
        self.store.close()

    # Sessions

    def on_event(self, event: SessionEvent, scope: Scope, deny: str = "risk") -> Advice:
        """Take note of one moment of an agent's session, and say what the agent should know then. ``deny``: when a call is refused (one
        of settings.DENIALS). What the store or the file of sessions could not do is told in the answer, not raised."""
        from hardwon.engine.sessions import on_event

        return on_event(self, event, scope, deny)

    # Writing

    def record(self, draft: Draft, scope: Scope) -> Receipt:
        """Keep a memory, or one more occurrence of a known one; returns after the commit. Refused where a person rejected it."""
        from hardwon.engine.record import record

        return record(self, draft, scope)

    def revise(self, reference: str, revision: Revision, scope: Scope) -> Receipt:
        """Change a memory's words; the old ones stay as a version. InvalidInput where the writer is believed less than it."""
        from hardwon.engine.curate import revise

        return revise(self, reference, revision, scope)

    def set_status(self, reference: str, status: Status, scope: Scope) -> Receipt:
        """Give a memory another status (resolved, inactive, active), with its occurrences."""
        from hardwon.engine.curate import set_status

        return set_status(self, reference, status, scope)

    def forget(self, where: Filter, scope: Scope, *, dry_run: bool) -> Selection:
        """Mark everything that matches as forgotten, in one transaction; InvalidInput for a filter that names nothing."""
        from hardwon.engine.curate import forget

        return forget(self, where, scope, dry_run=dry_run)

    def erase(self, where: Filter, reason: Reason, scope: Scope, *, dry_run: bool) -> Erasure:
        """Take the words of everything that matches, and of what says the same, out of every file, for good; InvalidInput for anybody
        but a person. What hinders the last steps is told in the answer, not raised."""
        from hardwon.engine.erase import erase

        return erase(self, where, reason, scope, dry_run=dry_run)

    def link(self, source: str, target: str, kind: LinkKind, scope: Scope) -> Receipt:
        """Relate two memories; what ``replaces`` another takes its place."""
        from hardwon.engine.curate import link

        return link(self, source, target, kind, scope)

    def approve(self, reference: str, scope: Scope) -> Receipt:
        """A person vouches for a memory: confirmed, and active again if it was rejected."""
        from hardwon.engine.curate import approve

        return approve(self, reference, scope)

    def reject(self, reference: str, scope: Scope) -> Receipt:
        """A person turns a memory down: what says the same stays out until it is approved."""
        from hardwon.engine.curate import reject

        return reject(self, reference, scope)

    def feedback(self, reference: str, word: Literal["useful", "useless"], scope: Scope) -> Receipt:
        """Whoever read a memory found it useful or useless."""
        from hardwon.engine.curate import feedback

        return feedback(self, reference, word, scope)

    def undo(self, reference: str, scope: Scope) -> list[Receipt]:
        """Take back the last change of a memory that stands; of this actor's last stroke where ``reference`` is empty."""
        from hardwon.engine.undo import undo

        return undo(self, reference, scope)

    def upsert(self, items: Iterable[tuple[str, Draft]], scope: Scope) -> list[Receipt]:
        """Keep drafts under ids of the caller's own: a known id gets the new content as its next version."""
        from hardwon.engine.keyed import upsert

        return upsert(self, items, scope)

    def delete(self, names: Sequence[str], scope: Scope) -> Selection:
        """Forget the items with these ids of the caller's own."""
        from hardwon.engine.keyed import delete

        return delete(self, names, scope)

    def relative(self, path: str) -> str:
        """A file as the store names it: relative to the repository, with slashes; "" stays ""."""
        if not path or self.place is None:
            return path
        return paths.relative_file(path, self.place.checkout, self.place.cwd)

    def write(self) -> Transaction:
        """A transaction on the store, queued for at most ``wait`` seconds; what waits in the spool is taken in before."""
        from hardwon.engine.guarded import Guarded

        return Guarded(self)

    # Reading

    def recall(self, query: Query, scope: Scope) -> Block:
        """Ranked memories for a question, and the block that an agent gets; empty when nothing fits. InvalidInput where a filter
        names what does not occur."""
        from hardwon.engine.answer import recall

        return recall(self, query, scope)

    def recall_unasked(self, query: Query, scope: Scope) -> Block:
        """What a text brings to mind to somebody who did not ask: under the rules of a prompt's hook, each memory once in the session that
        the asker names; mostly empty."""
        from hardwon.engine.prompting import unasked

        return unasked(self, query, scope)

    def recall_failure(self, query: Query, log: str, scope: Scope) -> Block:
        """Memories about the failures whose stack traces a log holds, earlier fixes and causes first; ``query`` may narrow it and say
        more in words. InvalidInput for an empty log."""
        from hardwon.engine.failure import recall

        return recall(self, query, log, scope)

    def explain(self, file: str, lines: tuple[int, int] | None, scope: Scope, budget: int = 1500) -> Explanation:
        """The commits that made lines of a file (all where ``lines`` is None), what became of them, and what was recorded about the
        place. InvalidInput for a file or lines that are not there or that git cannot know; GitFailed with git's words."""
        from hardwon.engine.explain import explain

        return explain(self, file, lines, budget)

    def before(
        self,
        file: str,
        symbol: str,
        scope: Scope,
        budget: int = 500,
        lines: tuple[int, int] | None = None,
        diff: Sequence[FileChange] = (),
    ) -> Block:
        """The lessons of what is about to be edited and of its callers, failures first; empty when there are none. ``lines`` are the
        first and last of ``file``; ``diff`` is a change of several files (code/diff.py)."""
        from hardwon.engine.before import before

        return before(self, file, symbol, scope, budget, lines, diff)

    def lines_of(self, file: str, passage: str) -> tuple[int, int] | None:
        """The lines of the text that an edit is going to replace, for ``before``; None where it stands nowhere, or more than once."""
        from hardwon.engine.before import lines_of

        return lines_of(self, file, passage)

    def uncommitted(self) -> str:
        """What is edited here and not committed, as a unified diff for ``before``; "" outside git and before the first commit."""
        from hardwon.engine.before import uncommitted

        return uncommitted(self)

    def brief(self, scope: Scope, budget: int = 1500) -> Block:
        """What a session should know at its start: rules, the last run, open attempts, risky symbols, changes taken back."""
        from hardwon.engine.answer import brief

        return brief(self, scope, budget)

    def review(self, scope: Scope, limit: int = 20) -> list[Proposal]:
        """What waits for a person: memories that nobody confirmed, newest first, each with those that say much the same."""
        from hardwon.engine.answer import review

        return review(self, scope, limit)

    def query(
        self, symbol: str, file: str, scope: Scope, *, everything: bool = False, top: int | None = None
    ) -> list[SymbolReport]:
        """Lessons and risk of the symbols that match (partly), riskiest first; without a symbol of all; at most ``top``."""
        from hardwon.engine.risks import query

        return query(self, symbol, file, everything, top)

    def risks(self, file: str, scope: Scope) -> list[Risk]:
        """The risk of every symbol that has active lessons, riskiest first."""
        from hardwon.engine.risks import risks

        return risks(self, file)

    def risk_of(self, identifier: str) -> SymbolReport:
        """The risk of the symbol that a lesson was written for, as it stands now."""
        from hardwon.engine.risks import risk_of

        return risk_of(self, identifier)

    def named(self, reader: Reader, reference: str) -> Memory:
        """The memory that a reference means; NotFound says so where it still waits in the spool."""
        from hardwon.engine.naming import named

        try:
            return named(reader, reference)
        except NotFound as error:
            from hardwon.engine.spooling import explained

            raise explained(self, reference, error) from error

    def identify(self, reference: str) -> str:
        """The id that a person's reference means; NotFound when none or several."""
        with self.store.read() as reader:
            return self.named(reader, reference).id

    def unread_commits(self, limit: int = 100_000) -> int:
        """How many commits of the branch at hand are not memories yet."""
        from hardwon.engine import history

        return history.unread(self, limit)

    def show(self, reference: str, scope: Scope) -> tuple[Memory, list[Occurrence], list[Any]]:
        """A memory, each time it happened, and its links with the memories at their other ends."""
        from hardwon.engine.anchors import judged
        from hardwon.engine.naming import with_files

        with self.store.read() as reader:
            memory = judged(self, [with_files(reader, self.named(reader, reference))])[0]
            links = []
            for link in reader.links(memory.id):
                other = link.target if link.source == memory.id else link.source
                links.append((link, reader.get([other])[0] if other else None))
            return memory, reader.occurrences(memory.id), links

    def history(self, reference: str, scope: Scope) -> tuple[Memory, list[Version], list[Event]]:
        """A memory's versions and the journal's entries about it."""
        with self.store.read() as reader:
            memory = self.named(reader, reference)
            return memory, reader.versions(memory.id), reader.events(memory.id)

    def diff(self, reference: str, older: int | None, newer: int | None, scope: Scope) -> Difference:
        """What changed between two versions of a memory: by default the last, and the one before the newer."""
        from hardwon.engine.curate import diff

        return diff(self, reference, older, newer)

    def figures(self) -> dict[str, int]:
        """Counts of what is kept."""
        with self.store.read() as reader:
            return reader.figures()
