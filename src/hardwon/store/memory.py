"""A store in memory: the same promises but durability. For tests, and the measure of how narrow the protocol is."""

from __future__ import annotations

from copy import copy
from threading import RLock

from hardwon.errors import Busy
from hardwon.store.journal import GENESIS, content_digest, event_hash, tick
from hardwon.store.rows import last_part, reference_digits, same_symbol
from hardwon.types import Corpus, Document, Event, Experience, Filter, Link, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Literal

    from hardwon.types import Action, Change, Finding, Lexical, Memory, Occurrence, Origin


class State:
    """Everything that is kept. A transaction works on a copy and swaps it in, so a view keeps what it began with."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.keys: dict[str, int] = {}
        self.memories: dict[int, Memory] = {}
        self.twins: dict[int, bytes] = {}
        self.changes: dict[int, Change] = {}
        self.lexical: dict[int, Lexical] = {}
        self.events: list[Event] = []
        self.versions: list[Version] = []
        self.occurrences: list[tuple[int, Occurrence]] = []
        self.links: dict[tuple[int, str, str], int | None] = {}

    def copy(self) -> State:
        """A state whose containers can be changed; the values in them are frozen."""
        twin = copy(self)
        for name, value in vars(self).items():
            setattr(twin, name, value.copy())
        return twin


class MemoryReader:
    """One consistent view (see store/base.py for what each call promises)."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in this order."""
        return self.memories(self.keys(ids))

    def keys(self, ids: Sequence[str]) -> list[int]:
        """The store's keys of these ids."""
        return [self._state.keys[identifier] for identifier in ids if identifier in self._state.keys]

    def memories(self, keys: Sequence[int]) -> list[Memory]:
        """The memories of these keys, in this order."""
        return [self._state.memories[key] for key in keys if key in self._state.memories]

    def lookup(self, reference: str) -> list[str]:
        """Ids that a person's reference means."""
        number, digits = reference_digits(reference)
        memories = self._state.memories.values()
        by_number = [m.id for m in memories if number is not None and m.number == number]
        if not digits:
            return by_number
        by_commit = [m.id for m in memories if m.kind == "change" and m.commit.startswith(digits)]
        by_id = [m.id for m in memories if m.id.replace("-", "").startswith(digits)]
        return (by_commit or by_id or by_number)[:5]

    def twin(self, key: bytes) -> Memory | None:
        """The memory that says the same at the same place."""
        for row in reversed(self._state.memories):
            memory = self._state.memories[row]
            if self._state.twins.get(row) == key and memory.status in ("active", "resolved", "inactive"):
                return memory
        return None

    def find(self, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, newest first."""
        found = [memory for memory in self._state.memories.values() if matches(memory, where)]
        found.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        return found if limit < 0 else found[:limit]

    def count(self, where: Filter) -> int:
        """How many match."""
        return len(self.find(where, -1))

    def anchored(self, path: str, symbol: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a path or a symbol, newest first."""

        def fits(memory: Memory) -> bool:
            return any(
                (path and anchor.path == path)
                or (symbol and last_part(anchor.symbol) == last_part(symbol) and same_symbol(anchor.symbol, symbol))
                for anchor in memory.anchors
            )

        return [memory for memory in self.find(where, -1) if fits(memory)][:limit]

    def failed_changes(self, path: str, limit: int) -> list[Memory]:
        """Changes that touched the path and were taken back."""
        where = Filter(kinds=("change",), statuses=("active",), outcomes=("failed",))
        found = self.find(where, -1)
        return [m for m in found if not path or path in self._state.changes[self._state.keys[m.id]].files][:limit]

    def change(self, memory: str) -> Change | None:
        """What history says of a change."""
        found = self._state.changes.get(self._state.keys.get(memory, -1))
        return found.replace(added=(), removed=(), relations=()) if found else None

    def experiences(self, symbol: str, path: str, exact: bool) -> list[Experience]:
        """Lessons' and attempts' occurrences, in order of arrival."""
        found = []
        for event, occurrence in self._state.occurrences:
            memory = self.get([occurrence.memory])[0]
            if memory.kind not in ("lesson", "attempt") or memory.status in ("forgotten", "rejected", "quarantined"):
                continue
            for anchor in memory.anchors:
                fits = anchor.symbol == symbol if exact else symbol.lower() in anchor.symbol.lower()
                if anchor.symbol and fits and (not path or anchor.path == path) and occurrence.outcome in ("failed", "worked"):
                    found.append(
                        Experience(
                            anchor.symbol, anchor.path, memory.id, occurrence.at, event, occurrence.outcome, occurrence.status
                        )
                    )
        return found

    def often_failed(self, least: int) -> list[tuple[str, str]]:
        """Every (symbol, path) with at least so many active failures."""
        counts: dict[tuple[str, str], int] = {}
        for item in self.experiences("", "", False):
            if (item.outcome, item.status) == ("failed", "active"):
                counts[item.symbol, item.path] = counts.get((item.symbol, item.path), 0) + 1
        return sorted(place for place, count in counts.items() if count >= least)

    def occurrences(self, memory: str) -> list[Occurrence]:
        """Each time that the memory happened, oldest first."""
        return [occurrence for _, occurrence in self._state.occurrences if occurrence.memory == memory]

    def versions(self, memory: str) -> list[Version]:
        """Every state of its content, oldest first."""
        return [version for version in self._state.versions if version.memory == memory]

    def events(self, memory: str = "", after: int = 0, limit: int = -1) -> list[Event]:
        """Journal entries in order of arrival."""
        found = [e for e in self._state.events if e.seq > after and memory in ("", e.memory)]
        return found if limit < 0 else found[:limit]

    def links(self, memory: str) -> list[Link]:
        """Relations from and to the memory."""
        return [link for link in self._links() if memory in (link.source, link.target)]

    def relations(self, kinds: Sequence[str]) -> list[Link]:
        """Every tied relation of these kinds."""
        found = [link for link in self._links() if link.kind in kinds and link.target]
        return sorted(found, key=lambda link: (link.target or "", self.get([link.source])[0].created_at, link.source))

    def _links(self) -> list[Link]:
        memories = self._state.memories
        rows = [
            Link(memories[source].id, kind, reference, memories[target].id if target is not None else None)
            for (source, kind, reference), target in self._state.links.items()
        ]
        return sorted(rows, key=lambda link: (self.get([link.source])[0].created_at, link.kind, link.reference))

    def corpus(self) -> Corpus:
        """Size of the index."""
        rows = [lexical.lengths for lexical in self._state.lexical.values()]
        return Corpus(len(rows), tuple(map(sum, zip(*rows, strict=True))))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many memories each term occurs."""
        counts = {term: sum(term in lexical.counts for lexical in self._state.lexical.values()) for term in terms}
        return {term: count for term, count in counts.items() if count}

    def candidates(self, weights: Mapping[str, int], where: Filter, limit: int) -> list[int]:
        """Keys with the greatest sum of the weights of the terms that match."""
        sums = {
            key: sum(weight for term, weight in weights.items() if term in lexical.counts)
            for key, lexical in self._state.lexical.items()
        }
        return self._newest([key for key, weight in sums.items() if weight], where, limit, sums)

    def with_term(self, term: str, where: Filter, limit: int) -> list[int]:
        """Keys that hold the term, newest first."""
        return self._newest([key for key, lexical in self._state.lexical.items() if term in lexical.counts], where, limit, {})

    def _newest(self, keys: list[int], where: Filter, limit: int, weights: Mapping[int, int]) -> list[int]:
        memories = self._state.memories
        allowed = [key for key in keys if matches(memories[key], where)]
        allowed.sort(key=lambda key: (weights.get(key, 0), memories[key].created_at, memories[key].id), reverse=True)
        return allowed[:limit]

    def documents(self, keys: Sequence[int], terms: Sequence[str]) -> list[Document]:
        """What the exact score needs of these candidates."""
        found = []
        for key in keys:
            lexical = self._state.lexical.get(key)
            if lexical:
                counts = {term: lexical.counts[term] for term in terms if term in lexical.counts}
                found.append(Document(key, self._state.memories[key].created_at, lexical.size, lexical.lengths, counts))
        return found

    def known_commits(self) -> set[str]:
        """Hashes of all commits that are already changes here."""
        return {change.sha for change in self._state.changes.values()}

    def figures(self) -> dict[str, int]:
        """Counts for ``status``."""
        counts: dict[str, int] = {}
        for memory in self._state.memories.values():
            counts[memory.kind] = counts.get(memory.kind, 0) + 1
        terms = {term for lexical in self._state.lexical.values() for term in lexical.counts}
        state = self._state
        return dict(sorted(counts.items())) | {
            "memories": len(state.memories), "events": len(state.events), "versions": len(state.versions),
            "occurrences": len(state.occurrences), "links": len(state.links), "terms": len(terms),
        }  # fmt: skip

    def setting(self, name: str) -> str:
        """A value that the store keeps about itself."""
        return self._state.settings.get(name, "")


class MemoryWriter(MemoryReader):
    """A transaction (see store/base.py for what each call promises)."""

    def next_number(self) -> int:
        """A short alias that was never given before."""
        number = int(self.setting("next_number") or 1)
        self.set_setting("next_number", str(number + 1))
        return number

    def put(self, memory: Memory, twin: bytes = b"", lexical: Lexical | None = None) -> None:
        """Insert or replace the current row with its anchors."""
        key = self._state.keys.setdefault(memory.id, len(self._state.keys) + 1)
        self._state.memories[key] = memory
        if twin:
            self._state.twins[key] = twin
        if lexical is not None:
            self._state.lexical[key] = lexical

    def log(self, action: Action, memory: Memory, origin: Origin, at: int, salt: bytes = b"", payload: str = "") -> Event:
        """Append to the journal; with a salt the memory's content becomes a version of its own."""
        replica = self.setting("replica")
        own = [event for event in self._state.events if event.replica == replica]
        seq, clock, previous = (own[-1].replica_seq, own[-1].clock, own[-1].hash) if own else (0, 0, GENESIS)
        digest = content_digest(memory, salt) if salt else b""
        clock = tick(at, clock)
        hashed = event_hash(previous, replica, seq + 1, clock, at, origin, action, memory.id, memory.version, payload, digest)
        event = Event(
            len(self._state.events) + 1, replica, seq + 1, clock, at, origin, action, memory.id, memory.version, payload,
            digest, previous, hashed,
        )  # fmt: skip
        self._state.events.append(event)
        if salt:
            self._add_version(memory, at)
        return event

    def _add_version(self, memory: Memory, at: int) -> None:
        rows = self._state.versions
        for i, row in enumerate(rows):
            if row.memory == memory.id and row.superseded_at is None:
                rows[i] = row.replace(superseded_at=at)
        rows.append(Version(memory.id, memory.version, content_of(memory), at, None))

    def occur(self, occurrence: Occurrence, event: int) -> None:
        """Add an occurrence that the event tells of."""
        self._state.occurrences.append((event, occurrence))

    def settle_occurrences(self, memory: str, statuses: Mapping[int, str]) -> None:
        """Give a memory's occurrences their status, by the sequence of the event that told of each."""
        for i, (event, occurrence) in enumerate(self._state.occurrences):
            if occurrence.memory == memory and event in statuses:
                self._state.occurrences[i] = (event, occurrence.replace(status=statuses[event]))

    def add_change(self, memory: Memory, change: Change, lexical: Lexical) -> bool:
        """Insert a change that is not journaled; False when its commit is known already."""
        if change.sha in self.known_commits():
            return False
        self.put(memory, b"", lexical)
        key = self._state.keys[memory.id]
        self._state.changes[key] = change
        for relation in change.relations:
            self._state.links.setdefault((key, relation.kind, relation.target), None)
        return True

    def resolve_links(self) -> list[Link]:
        """Tie open references of changes to changes that are now known."""
        tied = []
        for (source, kind, reference), target in list(self._state.links.items()):
            if target is not None:
                continue
            fits = [key for key, change in self._state.changes.items() if _is_named(change, reference)]
            if len(fits) == 1 and fits[0] != source:
                self._state.links[source, kind, reference] = fits[0]
                tied.append(Link(self._state.memories[source].id, kind, reference, self._state.memories[fits[0]].id))
        return tied

    def clear_index(self) -> None:
        """Forget everything that is derived for search."""
        self._state.lexical.clear()

    def set_setting(self, name: str, value: str) -> None:
        """Keep a value about the store itself."""
        self._state.settings[name] = value


class MemoryStore:
    """A repository's memory that ends with the process."""

    def __init__(self) -> None:
        self._state = State()
        self._lock = RLock()

    def read(self) -> _View:
        """A view of what is committed."""
        return _View(self)

    def write(self, timeout: float = 30.0) -> _Transaction:
        """A transaction; one at a time."""
        return _Transaction(self, timeout)

    def checkpoint(self, timeout: float = 30.0) -> None:
        """Nothing to move."""

    def check(self) -> list[Finding]:
        """Nothing can be damaged here."""
        return []

    def close(self) -> None:
        """Nothing to let go of."""


class _View:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __enter__(self) -> MemoryReader:
        return MemoryReader(self._store._state)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        return False


class _Transaction:
    def __init__(self, store: MemoryStore, timeout: float) -> None:
        self._store = store
        self._timeout = timeout

    def __enter__(self) -> MemoryWriter:
        if not self._store._lock.acquire(timeout=self._timeout):
            raise Busy(f"another thread has been writing for more than {self._timeout:g} s", remedy="try again")
        self._state = self._store._state.copy()
        return MemoryWriter(self._state)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if error is None:
            self._store._state = self._state
        self._store._lock.release()
        return False


def content_of(memory: Memory) -> Memory:
    """What a version keeps of a memory."""
    content: Memory = type(memory)(
        id=memory.id, number=None, kind=memory.kind, outcome=memory.outcome, text=memory.text, detail=memory.detail,
        code=memory.code, because=memory.because, rejected=memory.rejected, tags=memory.tags, anchors=memory.anchors,
        visibility=memory.visibility, valid_from=memory.valid_from, valid_until=memory.valid_until,
        expires_at=memory.expires_at, version=memory.version,
    )  # fmt: skip
    return content


def matches(memory: Memory, where: Filter) -> bool:
    """A filter, word by word."""
    return (
        (not where.statuses or memory.status in where.statuses)
        and (not where.kinds or memory.kind in where.kinds)
        and (not where.outcomes or memory.outcome in where.outcomes)
        and (not where.trusts or memory.trust in where.trusts)
        and (not where.ids or memory.id in where.ids)
        and all(tag in memory.tags for tag in where.tags)
        and (not where.session or memory.origin.session == where.session)
        and (not where.client or memory.origin.client == where.client)
        and (not where.who or memory.origin.who == where.who)
        and (where.before is None or memory.created_at < where.before)
        and (
            where.alive_at is None or all(end is None or end > where.alive_at for end in (memory.expires_at, memory.valid_until))
        )
    )


def _is_named(change: Change, reference: str) -> bool:
    if reference.startswith("#"):
        return change.pull_request == int(reference[1:])
    return change.sha.startswith(reference)
