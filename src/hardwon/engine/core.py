"""What can be done with a repository's memory: each verb joins the rooms and decides nothing itself."""

from __future__ import annotations

import os
import time

from hardwon.code import paths
from hardwon.errors import InvalidInput, NotFound
from hardwon.types import Anchor, Block, Filter, Hit, IngestReport, Mode, Scope, Selection, Signal, SymbolReport, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from hardwon.code.repo import Checkout
    from hardwon.store.base import Reader, Store, Transaction, Writer
    from hardwon.store.identity import Entry
    from hardwon.types import Change, Draft, Event, Experience, Finding, Memory, Occurrence, Query, Receipt, Risk, Status, Version

_LISTED = 200
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


class Engine:
    """One repository's memory. Not for use by two threads in one transaction; reads and writes of several threads are fine."""

    def __init__(
        self,
        store: Store,
        repository: str,
        place: Place | None = None,
        clock: Callable[[], int] = wall_clock,
        entropy: Callable[[int], bytes] = os.urandom,
        wait: float = 30.0,
    ) -> None:
        """``repository`` is the registered id (the namespace of derived ids); ``wait`` the seconds to queue for the lock."""
        self.store = store
        self.repository = repository
        self.place = place
        self.clock = clock
        self.entropy = entropy
        self.wait = wait

    @property
    def home(self) -> Place:
        """The registered place; InvalidInput for a store that was opened outside the registry."""
        if self.place is None:
            raise InvalidInput("this store is not registered for a folder", remedy="open it with hardwon.open()")
        return self.place

    def close(self) -> None:
        """Let go of files."""
        self.store.close()

    # Writing

    def record(self, draft: Draft, scope: Scope) -> Receipt:
        """Keep a memory, or one more occurrence of a known one; returns after the commit."""
        from hardwon.intake import merge
        from hardwon.intake.redact import redact, redact_draft
        from hardwon.intake.shape import shape
        from hardwon.types import Receipt
        from hardwon.upkeep import trust

        # Twice: hidden characters can cut a secret apart, and shaping joins it again.
        raw, first = redact_draft(draft)
        clean, second = redact_draft(shape(raw))
        redacted = first + second
        clean = self._pin(clean)
        now = self.clock()
        key = merge.twin_key(clean)
        origin = scope.origin.replace(
            session=clean.session or redact(scope.origin.session)[0], client=redact(scope.origin.client)[0]
        )
        with self.write() as writer:
            known = writer.twin(key)
            if known is None:
                memory = self._new_memory(clean, origin, now, writer.next_number())
                event = self._keep(writer, "created", memory, origin, key, fresh=True)
            else:
                believed, trusted = trust.after_repeat(known.trust, origin.who, merge.says_all(known, clean))
                memory = merge.repeat(known, clean, now, believed=believed).replace(trust=trusted)
                event = self._keep(writer, "repeated", memory, origin, b"", fresh=memory.version > known.version)
            self._occur(writer, memory, origin, event)
        why = "" if known is None else f"seen {memory.seen} times"
        return Receipt(memory.id, memory.number, event.action, redacted, event.seq, why)

    def _new_memory(self, draft: Draft, origin: Any, now: int, number: int) -> Memory:
        from hardwon.store.ids import uuid7
        from hardwon.types import Memory
        from hardwon.upkeep import trust

        checkout = self.place.checkout if self.place else None
        return Memory(
            id=uuid7(now, self.entropy(10)), number=number, kind=draft.kind, outcome=draft.outcome, text=draft.text,
            detail=draft.detail, code=draft.code, because=draft.because, rejected=draft.rejected, anchors=draft.anchors,
            tags=draft.tags, trust=trust.initial(origin.who), visibility=draft.visibility, origin=origin,
            branch=checkout.branch if checkout else "", commit=checkout.head if checkout else "",
            created_at=now, updated_at=now, valid_from=now, expires_at=draft.expires_at,
        )  # fmt: skip

    def _keep(self, writer: Writer, action: Any, memory: Memory, origin: Any, twin: bytes, fresh: bool) -> Event:
        from hardwon.search import terms

        writer.put(memory, twin, terms.of_memory(memory) if fresh else None)
        return writer.log(action, memory, origin, memory.updated_at, self.entropy(16) if fresh else b"")

    def _occur(self, writer: Writer, memory: Memory, origin: Any, event: Event) -> None:
        from hardwon.types import Occurrence

        checkout = self.place.checkout if self.place else None
        branch, commit = (checkout.branch, checkout.head) if checkout else ("", "")
        writer.occur(Occurrence(memory.id, memory.updated_at, memory.outcome, "active", origin, branch, commit), event.seq)

    def _pin(self, draft: Draft) -> Draft:
        head = self.place.checkout.head if self.place else ""
        pinned: Draft = draft.replace(
            anchors=tuple(Anchor(self.relative(anchor.path), anchor.symbol, head) for anchor in draft.anchors)
        )
        return pinned

    def _named(self, symbol: str) -> str:
        """A symbol that is asked about, in the spelling in which it would be kept."""
        if symbol.isascii() and symbol.isprintable():
            return symbol.strip()
        from hardwon.intake.shape import clean_text

        return clean_text(symbol, "symbol", len(symbol) + 1)

    def relative(self, path: str) -> str:
        """A file as the store names it: relative to the repository, with slashes; "" stays ""."""
        if not path or self.place is None:
            return path
        return paths.relative_file(path, self.place.checkout, self.place.cwd)

    def set_status(self, reference: str, status: Status, scope: Scope) -> Receipt:
        """Give a memory another status (resolved, inactive, forgotten, active), with its occurrences."""
        from hardwon.types import Receipt

        with self.write() as writer:
            memory = _one(writer, reference)
            if memory.status == status:
                return Receipt(memory.id, memory.number, "unchanged", why=f"it is {status} already")
            if memory.status == "forgotten":
                raise InvalidInput("this memory is forgotten", field="id", remedy=f"`hardwon undo {reference}` brings it back")
            event = self._change_status(writer, memory, status, scope)
        return Receipt(memory.id, memory.number, status, seq=event.seq)

    def _change_status(self, writer: Writer, memory: Memory, status: Status, scope: Scope, *, undo: bool = False) -> Event:
        from hardwon.upkeep.revise import UNDO, occurrence_statuses

        writer.put(memory.replace(status=status))
        event = writer.log("status", memory, scope.origin, self.clock(), payload=f"{memory.status}>{status}" + UNDO * undo)
        writer.settle_occurrences(memory.id, occurrence_statuses(writer.events(memory.id)))
        return event

    def undo(self, reference: str, scope: Scope) -> Receipt:
        """Take back the last change of status of a memory (resolve, deactivate, forget) that still stands."""
        from hardwon.intake import merge
        from hardwon.types import Receipt
        from hardwon.upkeep.revise import standing

        with self.write() as writer:
            memory = _one(writer, reference)
            changes = standing(writer.events(memory.id))
            if not changes:
                raise InvalidInput(
                    "there is no change of status of this memory to take back",
                    field="id",
                    remedy=f"see `hardwon history {reference}`",
                )
            twin = writer.twin(merge.twin_key(memory)) if memory.status == "forgotten" else None
            if twin is not None:
                raise InvalidInput(
                    f"#{twin.number} says the same and was recorded since", field="id", remedy="nothing needs to be undone"
                )
            before: Any = changes[-1].payload.partition(">")[0]
            event = self._change_status(writer, memory, before, scope, undo=True)
        return Receipt(memory.id, memory.number, before, seq=event.seq, why=f"it was {memory.status}")

    def forget(self, where: Filter, scope: Scope, *, dry_run: bool) -> Selection:
        """Mark everything that matches as forgotten, in one transaction; InvalidInput for a filter that names nothing."""
        from hardwon.upkeep.purge import meant

        wanted = meant(where)
        if dry_run:
            with self.store.read() as reader:
                return Selection(tuple(memory.id for memory in reader.find(wanted, -1)), False)
        with self.write() as writer:
            memories = writer.find(wanted, -1)
            for memory in memories:
                self._change_status(writer, memory, "forgotten", scope)
        return Selection(tuple(memory.id for memory in memories), True)

    def write(self) -> Transaction:
        """A transaction on the store, queued for at most ``wait`` seconds."""
        return self.store.write(self.wait)

    # History

    def add_changes(self, changes: Iterable[Change], progress: Callable[[int], None] | None = None) -> tuple[int, int]:
        """Keep commits as memories, in slices of one transaction each; known ones are passed over. (added, redacted)."""
        from hardwon.engine import history

        return history.add_changes(self, changes, progress)

    def settle_history(self) -> int:
        """Tie references between changes and write what became of each; how many stand as taken back."""
        from hardwon.engine import history

        return history.settle(self)

    def ingest_history(self, limit: int = 100_000, progress: Callable[[int, int], None] | None = None) -> IngestReport:
        """Read the commits that are not known yet, newest first. What was written stays when it is interrupted."""
        from hardwon.engine import history

        return history.ingest(self, limit, progress)

    # Reading

    def recall(self, query: Query, scope: Scope) -> Block:
        """Ranked memories for a question, and the block that an agent gets; empty when nothing fits."""
        from hardwon.search.pack import pack
        from hardwon.search.rank import rank

        now = self.clock()
        if query.k < 1:
            raise InvalidInput(f"at most {query.k} memories is none", field="k", remedy="ask for 1 and more")
        asked = query.replace(file=self.relative(query.file), symbol=self._named(query.symbol))
        where = Filter(statuses=("active",), kinds=query.kinds, tags=query.tags, alive_at=now)
        with self.store.read() as reader:
            if asked.text.strip() or asked.file or asked.symbol:
                found = rank(reader, asked, where, now)
            else:  # a listing, newest first, of what the filters let through; of nothing, nothing
                listed = reader.find(where, asked.k) if asked.kinds or asked.tags else []
                found = [Hit(memory, 1.0, (Signal("listed", 1.0),)) for memory in listed]
            hits = [self._dressed(reader, hit) for hit in found]
            unfinished = reader.setting(REBUILDING)
        degraded = ("the index was not finished: run `hardwon init`",) if unfinished else ()
        return pack(hits, query.budget, Mode(degraded=degraded))

    def _dressed(self, reader: Reader, hit: Hit) -> Hit:
        """A hit whose change names its files as anchors."""
        memory = self._with_files(reader, hit.memory)
        return Hit(memory, hit.score, hit.why)

    def _with_files(self, reader: Reader, memory: Memory) -> Memory:
        if memory.kind != "change":
            return memory
        change = reader.change(memory.id)
        if change is None:
            return memory
        dressed: Memory = memory.replace(anchors=tuple(Anchor(path, "", change.sha) for path in change.files))
        return dressed

    def before(self, file: str, symbol: str, scope: Scope, budget: int = 500) -> Block:
        """The lessons of the place that is about to be edited, failures first; empty when there are none."""
        from hardwon.search.pack import pack
        from hardwon.search.place import choose
        from hardwon.upkeep import trust

        if not file and not symbol:
            raise InvalidInput("a file or a symbol is needed", field="file", remedy="give --file or --symbol")
        path, symbol = self.relative(file), self._named(symbol)
        alive = Filter(statuses=("active",), alive_at=self.clock())

        def verdict(memory: Memory, at_symbol: bool) -> str:
            return trust.unasked(memory, scope.origin, at_symbol)

        with self.store.read() as reader:
            written = reader.anchored("", symbol, alive, _LISTED) if symbol else []
            known = {memory.id for memory in written}
            written += [memory for memory in reader.anchored(path, "", alive, _LISTED) if memory.id not in known]
            failed = [self._with_files(reader, memory) for memory in reader.failed_changes(path, 5)] if path else []
        return pack(choose(written, failed, path, symbol, verdict, trust.UNVERIFIED_LIMIT), budget, Mode())

    def brief(self, scope: Scope, budget: int = 1500) -> Block:
        """What a session should know at its start: rules, the last run, open attempts, risky symbols, changes taken back."""
        from hardwon.search.opening import Material, choose, recent
        from hardwon.search.pack import pack
        from hardwon.upkeep import risk, trust

        now = self.clock()
        alive = Filter(statuses=("active",), alive_at=now)
        with self.store.read() as reader:
            places = reader.often_failed(risk.LEAST_FAILS)
            groups = {(symbol, path): self._exactly(reader, symbol, path) for symbol, path in places}
            risky = [item for item in risk.assess_all(groups, now) if item.score >= risk.INJECT_AT][:5]
            newest = max((memory.created_at for memory in reader.find(alive.replace(kinds=("change",)), 1)), default=now)
            failed = recent(reader.failed_changes("", 5), newest)
            material = Material(
                rules=tuple(reader.find(alive.replace(kinds=("rule", "decision")), 20)),
                attempts=tuple(reader.find(alive.replace(kinds=("attempt",), outcomes=("open",)), 10)),
                summaries=tuple(reader.find(alive.replace(kinds=("summary",)), 1)),
                lessons=tuple(memory for item in risky for memory in self._failures(reader, item, alive)),
                taken_back=tuple(self._with_files(reader, memory) for memory in failed),
            )
        hits = choose(material, lambda memory: trust.unasked(memory, scope.origin), trust.UNVERIFIED_LIMIT)
        return pack(hits, budget, Mode())

    def _failures(self, reader: Reader, item: Risk, alive: Filter) -> list[Memory]:
        """The newest failure of a symbol in its file: one of each, so that one bad symbol does not crowd the others out."""
        found = reader.anchored("", item.symbol, alive.replace(outcomes=("failed",)), _LISTED)
        return [m for m in found if any((a.symbol, a.path) == (item.symbol, item.file) for a in m.anchors)][:1]

    def _exactly(self, reader: Reader, symbol: str, path: str) -> list[Experience]:
        """Occurrences of this symbol in this file; an empty path means lessons without a file, not any file."""
        return [item for item in reader.experiences(symbol, path, True) if item.path == path]

    def query(
        self, symbol: str, file: str, scope: Scope, *, everything: bool = False, top: int | None = None
    ) -> list[SymbolReport]:
        """Lessons and risk of the symbols that match (partly), riskiest first; without a symbol of all; at most ``top``."""
        from hardwon.upkeep import risk

        with self.store.read() as reader:
            groups = risk.by_symbol(reader.experiences(self._named(symbol), self.relative(file), False))
            risks = [item for item in risk.assess_all(groups, self.clock()) if everything or item.fails or item.successes]
            return [self._report(reader, item, groups[item.symbol, item.file], everything) for item in risks[:top]]

    def _report(self, reader: Reader, item: Risk, group: list[Experience], everything: bool) -> SymbolReport:
        memories = [m for m in reader.get(sorted({e.memory for e in group})) if everything or m.status == "active"]
        memories.sort(key=lambda memory: (memory.updated_at, memory.number or 0), reverse=True)
        return SymbolReport(item, tuple(memories))

    def risks(self, file: str, scope: Scope) -> list[Risk]:
        """The risk of every symbol that has active lessons, riskiest first."""
        from hardwon.upkeep import risk

        with self.store.read() as reader:
            groups = risk.by_symbol(reader.experiences("", self.relative(file), False))
        return [item for item in risk.assess_all(groups, self.clock()) if item.fails or item.successes]

    def risk_of(self, identifier: str) -> SymbolReport:
        """The risk of the symbol that a lesson was written for, as it stands now."""
        from hardwon.upkeep import risk

        with self.store.read() as reader:
            memory = reader.get([identifier])[0]
            anchor = memory.anchors[0]
            same = self._exactly(reader, anchor.symbol, anchor.path)
        return SymbolReport(risk.assess(anchor.symbol, anchor.path, same, self.clock()), (memory,))

    def identify(self, reference: str) -> str:
        """The id that a person's reference means; NotFound when none or several."""
        with self.store.read() as reader:
            return _one(reader, reference).id

    def unread_commits(self, limit: int = 100_000) -> int:
        """How many commits of the branch at hand are not memories yet."""
        from hardwon.engine import history

        return history.unread(self, limit)

    def show(self, reference: str, scope: Scope) -> tuple[Memory, list[Occurrence], list[Any]]:
        """A memory, each time it happened, and its links with the memories at their other ends."""
        with self.store.read() as reader:
            memory = self._with_files(reader, _one(reader, reference))
            links = []
            for link in reader.links(memory.id):
                other = link.target if link.source == memory.id else link.source
                links.append((link, reader.get([other])[0] if other else None))
            return memory, reader.occurrences(memory.id), links

    def history(self, reference: str, scope: Scope) -> tuple[Memory, list[Version], list[Event]]:
        """A memory's versions and the journal's entries about it."""
        with self.store.read() as reader:
            memory = _one(reader, reference)
            return memory, reader.versions(memory.id), reader.events(memory.id)

    def figures(self) -> dict[str, int]:
        """Counts of what is kept."""
        with self.store.read() as reader:
            return reader.figures()

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Make the index anew from what is kept and from git; how many memories were indexed."""
        from hardwon.engine import history

        return history.rebuild(self, progress)

    def verify(self) -> list[Finding]:
        """Everything that is wrong with the store; never writes."""
        return self.store.check()


def _one(reader: Reader, reference: str) -> Memory:
    found = reader.lookup(reference)
    if not found:
        raise NotFound(f"no memory is called {reference}", field="id", remedy="`hardwon recall` and `hardwon query` show ids")
    if len(found) > 1:
        raise NotFound(f"{reference} means more than one memory", field="id", remedy="give more digits")
    return reader.get(found)[0]
