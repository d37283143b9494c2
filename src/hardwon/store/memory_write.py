"""Writes to the store in memory, inside the transaction that store/memory.py opened."""

from __future__ import annotations

from hardwon.store.ids import is_id
from hardwon.store.journal import GENESIS, content_digest, event_hash, tick
from hardwon.store.matching import is_named
from hardwon.store.memory_read import MemoryReader
from hardwon.types import LINKS, RELATIONS, Change, Event, Link, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardwon.types import Action, Lexical, Memory, Occurrence, Origin


class MemoryWriter(MemoryReader):
    """A transaction (see store/base.py for what each call promises)."""

    def next_number(self) -> int:
        """A short alias that was never given before."""
        number = int(self.setting("next_number") or 1)
        self.set_setting("next_number", str(number + 1))
        return number

    def put(self, memory: Memory, twin: bytes = b"", lexical: Lexical | None = None) -> None:
        """Insert or replace the current row with its anchors."""
        key = self._state.keys.setdefault(memory.id, max(self._state.keys.values(), default=0) + 1)
        said = self._state.memories.get(key, memory)
        self._state.memories[key] = memory
        if twin:
            self._state.twins[key] = twin
        if lexical is not None:
            self._state.lexical[key] = lexical
            if (said.text, said.because, said.detail) != (memory.text, memory.because, memory.detail):
                self._forget_vectors(lambda _, owner: owner == key)

    def log(
        self,
        action: Action,
        memory: Memory,
        origin: Origin,
        at: int,
        salt: bytes = b"",
        payload: str = "",
        recorded_at: int | None = None,
    ) -> Event:
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
            self._add_version(memory, at if recorded_at is None else recorded_at)
        return event

    def _add_version(self, memory: Memory, at: int) -> None:
        rows = self._state.versions
        for i, row in enumerate(rows):
            if row.memory == memory.id and row.superseded_at is None:
                rows[i] = row.replace(superseded_at=at)
        rows.append(Version(memory.id, memory.version, content_of(memory), at, None))

    def erase_versions(self, memory: str, below: int) -> None:
        """Empty the content of the versions before that number."""
        emptied = {"text": "", "detail": "", "code": "", "because": "", "rejected": (), "tags": (), "anchors": (), "metadata": ""}
        for i, row in enumerate(self._state.versions):
            if row.memory == memory and row.version < below:
                self._state.versions[i] = row.replace(content=row.content.replace(**emptied))

    def erase(self, memory: str, event: int, digests: Sequence[bytes]) -> None:
        """Empty what belongs to a memory whose row is empty, and keep the digests of what it said."""
        state, key = self._state, self._state.keys[memory]
        self.erase_versions(memory, state.memories[key].version + 1)
        state.twins.pop(key, None)
        self._forget_vectors(lambda _, owner: owner == key)
        state.links = {place: target for place, target in state.links.items() if place[0] != key}
        state.aliases = {alias: owner for alias, owner in state.aliases.items() if owner != key or is_id(alias)}
        if key in state.changes:
            state.changes[key] = Change(state.changes[key].sha, state.memories[key].created_at, "")
        for i, (told, occurrence) in enumerate(state.occurrences):
            if occurrence.memory == memory:
                state.occurrences[i] = (told, occurrence.replace(branch=""))
        state.erased = dict.fromkeys(digests, memory) | state.erased  # who said it first

    def alias(self, name: str, memory: str) -> None:
        """Give a memory another name, or a name another memory."""
        self._state.aliases[name] = self._state.keys[memory]

    def link(self, source: str, kind: str, target: str) -> None:
        """Relate two memories."""
        self._state.links.setdefault((self._state.keys[source], kind, target), self._state.keys.get(target))

    def unlink(self, source: str, kind: str, target: str) -> None:
        """Take a relation of two memories away."""
        self._state.links.pop((self._state.keys[source], kind, target), None)

    def drop(self, ids: Sequence[str]) -> list[str]:
        """Remove derived memories, but those that the journal speaks of."""
        state, gone = self._state, []
        told = {event.memory for event in state.events}
        told |= {state.memories[key].id for (_, kind, _), key in state.links.items() if key is not None and kind in LINKS}
        for identifier in ids:
            key = state.keys.get(identifier)
            if key is None or state.memories[key].number is not None or identifier in told:
                continue
            for table in (state.memories, state.twins, state.changes, state.lexical):
                table.pop(key, None)
            del state.keys[identifier]
            self._forget_vectors(lambda _, owner: owner not in state.memories)
            state.links = {place: None if target == key else target for place, target in state.links.items() if place[0] != key}
            state.aliases = {alias: owner for alias, owner in state.aliases.items() if owner != key}
            gone.append(identifier)
        return gone

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

    def refresh_change(self, memory: Memory, change: Change, lexical: Lexical) -> None:
        """Replace a change's files, functions, sizes and index."""
        self.put(memory, b"", lexical)
        key = self._state.keys[memory.id]
        self._state.changes[key] = self._state.changes[key].replace(
            lines_added=change.lines_added, lines_removed=change.lines_removed, files=change.files, functions=change.functions
        )

    def resolve_links(self) -> list[Link]:
        """Tie open references of changes to the one change that each names now, and open those that name several."""
        tied = []
        for (source, kind, reference), target in list(self._state.links.items()):
            if kind not in RELATIONS:
                continue
            named = [key for key, change in self._state.changes.items() if is_named(change, reference)]
            fits = [key for key in named if self._state.memories[key].status != "expired"] or named
            if len(fits) != 1:
                self._state.links[source, kind, reference] = None
            elif target is None and fits[0] != source:
                self._state.links[source, kind, reference] = fits[0]
                tied.append(Link(self._state.memories[source].id, kind, reference, self._state.memories[fits[0]].id))
        return tied

    def put_vectors(self, model: str, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
        """Keep vectors: id, digest of the text, vector; unknown ids are passed over."""
        for identifier, digest, vector in rows:
            for key in self.keys([identifier]):
                self._state.vectors[model, key] = (digest, vector)
                self._stamp_vectors()

    def supersede_vectors(self, model: str, limit: int) -> int:
        """Remove at most ``limit`` of other models' vectors of memories that have one of this."""
        owners = {key for space, key in self._state.vectors if space == model}
        gone = [(space, key) for space, key in self._state.vectors if space != model and key in owners][:limit]
        return self._forget_vectors(lambda space, key: (space, key) in gone)

    def _forget_vectors(self, meant: Callable[[str, int], bool]) -> int:
        kept = {place: value for place, value in self._state.vectors.items() if not meant(*place)}
        gone = len(self._state.vectors) - len(kept)
        self._state.vectors = kept
        if gone:
            self._stamp_vectors()
        return gone

    def _stamp_vectors(self) -> None:
        """A count does: there are no copies of this store."""
        self.set_setting("vectors", str(int(self.setting("vectors") or 0) + 1))

    def clear_index(self) -> None:
        """Forget everything that is derived for search."""
        self._state.lexical.clear()

    def set_setting(self, name: str, value: str) -> None:
        """Keep a value about the store itself."""
        self._state.settings[name] = value


def content_of(memory: Memory) -> Memory:
    """What a version keeps of a memory."""
    content: Memory = type(memory)(
        id=memory.id, number=None, kind=memory.kind, outcome=memory.outcome, text=memory.text, detail=memory.detail,
        code=memory.code, because=memory.because, rejected=memory.rejected, tags=memory.tags, anchors=memory.anchors,
        visibility=memory.visibility, valid_from=memory.valid_from, valid_until=memory.valid_until,
        expires_at=memory.expires_at, version=memory.version, metadata=memory.metadata,
    )  # fmt: skip
    return content
