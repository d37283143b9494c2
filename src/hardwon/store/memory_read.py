"""Questions to the store in memory, and what it keeps."""

from __future__ import annotations

from copy import copy

from hardwon.code.names import last_part, same_symbol
from hardwon.store.matching import is_of_strangers, matches, values_of
from hardwon.store.rows import reference_digits
from hardwon.types import Corpus, Document, Event, Experience, Filter, Link, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hardwon.types import Anchor, Change, Lexical, Memory, Occurrence


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
        self.aliases: dict[str, int] = {}
        self.vectors: dict[tuple[str, int], tuple[bytes, bytes]] = {}
        self.erased: dict[bytes, str] = {}

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

    def rejected(self) -> list[Memory]:
        """Every memory that a person rejected."""
        return [memory for memory in self._state.memories.values() if memory.status == "rejected"]

    def has_erased(self) -> bool:
        """Whether anything was erased."""
        return bool(self._state.erased)

    def erased(self, digest: bytes) -> str:
        """The id of the memory whose erased words have this digest."""
        return self._state.erased.get(digest, "")

    def digests(self) -> list[tuple[bytes, str]]:
        """Every digest of erased words, with the id of the memory whose they were."""
        return list(self._state.erased.items())

    def aliases(self, memory: str) -> list[str]:
        """The other names of a memory, sorted."""
        key = self._state.keys.get(memory)
        return sorted(alias for alias, owner in self._state.aliases.items() if owner == key)

    def aliased(self, alias: str) -> str:
        """The id of the memory that has this other name."""
        key = self._state.aliases.get(alias)
        return "" if key is None else self._state.memories[key].id

    def feedback(self) -> dict[int, tuple[int, int]]:
        """How many found it useful and useless, by key."""
        found = self._state.memories.items()
        return {key: (memory.useful, memory.useless) for key, memory in found if memory.useful or memory.useless}

    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """What a filter may name, with its number of memories."""
        counts: dict[str, int] = {}
        for key, memory in self._state.memories.items():
            for value in set(values_of(field, memory, self._files(key))):
                counts[value] = counts.get(value, 0) + 1
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]

    def of_file(self, path: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a file as a whole, newest first."""
        whole = [one for one in self.find(where, -1) if any(a.path and a.path == path and not a.symbol for a in one.anchors)]
        return whole if limit < 0 else whole[:limit]

    def placed(self, after: int, paths: Collection[str]) -> list[tuple[int, Anchor]]:
        """Anchors of recorded memories above a number, and of those that speak of these paths."""
        held = [memory for memory in self._state.memories.values() if memory.status in ("active", "resolved", "inactive")]
        found = [
            (memory.number, memory.anchors)
            for memory in held
            if memory.number is not None and (memory.number > after or any(a.path and a.path in paths for a in memory.anchors))
        ]
        return [(number, anchor) for number, anchors in sorted(found, key=lambda one: one[0]) for anchor in anchors]

    def pinned(self) -> set[str]:
        """The blobs that anchors were pinned to."""
        return {a.blob for memory in self._state.memories.values() for a in memory.anchors if a.blob}

    def spoken_of(self, names: set[str]) -> set[str]:
        """Those of the names that are the last part of a symbol that any memory is about."""
        held = {last_part(one.symbol) for memory in self._state.memories.values() for one in memory.anchors if one.symbol}
        return {name for name in names if name.casefold() in held}

    def touched_together(self, most: int) -> list[list[str]]:
        """The files of each living change that touched two and more, at most ``most``."""
        active = [key for key, memory in self._state.memories.items() if memory.status == "active"]
        found = [self._state.changes[key].files for key in active if key in self._state.changes]
        return [list(files) for files in found if 2 <= len(files) <= most]

    def _files(self, key: int) -> tuple[str, ...]:
        """The files that a memory speaks of, and those that a change touched."""
        change = self._state.changes.get(key)
        anchors = (anchor.path for anchor in self._state.memories[key].anchors if anchor.path)
        return (*anchors, *(change.files if change else ()))

    def _matches(self, key: int, where: Filter) -> bool:
        memory = self._state.memories[key]
        return matches(memory, where, self._files(key)) and not self._is_hidden(memory, where)

    def _is_hidden(self, memory: Memory, where: Filter) -> bool:
        """Whether it is a change of a hidden commit, or was recorded at hidden places only."""
        if memory.kind == "change" and memory.commit in where.hidden_commits:
            return True
        places = [f"{memory.commit}:{memory.branch}", *(_place(occurrence) for occurrence in self.occurrences(memory.id))]
        return memory.number is not None and bool(where.hidden_records) and set(places) <= set(where.hidden_records)

    def find(self, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, newest first."""
        found = [memory for key, memory in self._state.memories.items() if self._matches(key, where)]
        found.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        return found if limit < 0 else found[:limit]

    def last(self, where: Filter) -> Memory | None:
        """The match that was recorded last."""
        return max((one for one in self.find(where, -1) if one.number is not None), key=lambda one: one.number or 0, default=None)

    def ids(self, where: Filter, *, derived: bool) -> list[str]:
        """Ids of the memories that match, oldest first."""
        told = {event.memory for event in self._state.events}
        found = [m for m in self.find(where, -1) if (m.number is None) == derived and (not derived or m.id in told)]
        return [memory.id for memory in reversed(found)]

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

        found = [memory for memory in self.find(where, -1) if fits(memory)]
        return found if limit < 0 else found[:limit]

    def failed_changes(self, path: str, limit: int, hidden: Sequence[str] = ()) -> list[Memory]:
        """Changes that touched the path and were taken back."""
        where = Filter(kinds=("change",), statuses=("active",), outcomes=("failed",), hidden_commits=tuple(hidden))
        found = self.find(where, -1)
        if hidden:
            sources = {link.target: set[str]() for link in self._links()}
            for link in self._links():
                sources[link.target].update(m.commit for m in self.get([link.source]) if m.kind == "change")
            found = [memory for memory in found if sources.get(memory.id, set()) - set(hidden)]
        return [m for m in found if not path or path in self._state.changes[self._state.keys[m.id]].files][:limit]

    def change(self, memory: str) -> Change | None:
        """What history says of a change."""
        found = self._state.changes.get(self._state.keys.get(memory, -1))
        return found.replace(added=(), removed=(), relations=()) if found else None

    def experiences(self, symbol: str, path: str, exact: bool, hidden: Sequence[str] = ()) -> list[Experience]:
        """Lessons' and attempts' occurrences, in order of arrival."""
        found = []
        told = {event.seq for event in self._state.events if event.action == "imported"}
        for event, occurrence in self._state.occurrences:
            memory = self.get([occurrence.memory])[0]
            if memory.kind not in ("lesson", "attempt") or memory.status in ("forgotten", "rejected", "quarantined"):
                continue
            if _place(occurrence) in hidden or is_of_strangers(memory, occurrence):
                continue
            for anchor in memory.anchors:
                fits = anchor.symbol == symbol if exact else symbol.lower() in anchor.symbol.lower()
                if anchor.symbol and fits and (not path or anchor.path == path) and occurrence.outcome in ("failed", "worked"):
                    place, happened = (anchor.symbol, anchor.path, memory.id), (occurrence.at, event)
                    found.append(Experience(*place, *happened, occurrence.outcome, occurrence.status, event in told))
        return found

    def often_failed(self, least: int, hidden: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Every (symbol, path) with at least so many active failures."""
        counts: dict[tuple[str, str], int] = {}
        for item in self.experiences("", "", False, hidden):
            if (item.outcome, item.status) == ("failed", "active"):
                counts[item.symbol, item.path] = counts.get((item.symbol, item.path), 0) + 1
        return sorted(place for place, count in counts.items() if count >= least)

    def recordings(self, after: int = 0) -> list[tuple[str, str, bool]]:
        """Where memories were recorded that events after this sequence tell of."""
        found: dict[tuple[str, str], bool] = {}
        imported = {event.seq for event in self._state.events if event.action == "imported"}
        for seq, occurrence in self._state.occurrences:
            if seq > after and occurrence.commit:
                place = (occurrence.commit, occurrence.branch)
                found[place] = found.get(place, False) or seq in imported
        return [(commit, branch, came) for (commit, branch), came in sorted(found.items())]

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

    def latest_events(self, limit: int) -> list[Event]:
        """The newest journal entries, newest first."""
        return self._state.events[::-1][:limit]

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
        allowed = [key for key in keys if self._matches(key, where)]
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

    def judged_changes(self) -> list[str]:
        """The ids of all changes with an outcome or a reason."""
        return [
            memory.id
            for memory in self._state.memories.values()
            if memory.kind == "change" and (memory.outcome or memory.because)
        ]

    def vectors(self, model: str, where: Filter) -> Iterator[tuple[int, bytes]]:
        """Key and vector of every memory that matches, by key."""
        return iter(self.vectors_of(model, self.vector_keys(model, where, -1)))

    def vector_keys(self, model: str, where: Filter, limit: int) -> list[int]:
        """Keys of the memories that match and have a vector, by key."""
        found = sorted(key for space, key in self._state.vectors if space == model and self._matches(key, where))
        return found if limit < 0 else found[:limit]

    def vectors_of(self, model: str, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        """Key and vector of those of these keys that have one, by key."""
        kept = self._state.vectors
        return [(key, kept[model, key][1]) for key in sorted(set(keys)) if (model, key) in kept]

    def vector_digests(self, model: str) -> dict[int, bytes]:
        """Which text each vector was made of, by key."""
        return {key: digest for (space, key), (digest, _) in self._state.vectors.items() if space == model}

    def vector_models(self) -> dict[str, int]:
        """How many vectors there are of each model."""
        spaces = [space for space, _ in self._state.vectors]
        return {space: spaces.count(space) for space in sorted(set(spaces))}

    def matching(self, keys: Sequence[int], where: Filter) -> list[int]:
        """Those of these keys whose memories match, in this order."""
        return [key for key in keys if key in self._state.memories and self._matches(key, where)]

    def keys_without_vector(self, model: str, where: Filter, limit: int) -> list[int]:
        """Keys of the memories that match and have no vector of the model, newest first."""
        waiting = [
            memory.id for memory in self.find(where, -1) if (model, self._state.keys[memory.id]) not in self._state.vectors
        ]
        return self.keys(waiting if limit < 0 else waiting[:limit])

    def count_without_vector(self, model: str, where: Filter) -> int:
        """How many match and have no vector of the model."""
        return len(self.keys_without_vector(model, where, -1))

    def known_commits(self) -> set[str]:
        """Hashes of all commits that are already changes here."""
        return {change.sha for change in self._state.changes.values()}

    def commits_since(self, key: int) -> list[tuple[int, str]]:
        """Keys and commits of the changes kept after that one."""
        return [(one, change.sha) for one, change in sorted(self._state.changes.items()) if one > key]

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


def _place(occurrence: Occurrence) -> str:
    """Where something happened, as a filter names it."""
    return f"{occurrence.commit}:{occurrence.branch}"
