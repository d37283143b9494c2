"""What was learnt in a session that is over, into the memory: as it was then, each thing once, and nothing that was taken out since.

Three things tell that something is known already: the event of the session that it was learnt from, by which it is named; what hooks
recorded while the session went on; and the same words at the same place, which are one more occurrence.
"""

from __future__ import annotations

from hardwon.digest import blake2b
from hardwon.engine import record
from hardwon.engine.capturing import TOOL as TOOL_OF_HOOKS
from hardwon.engine.naming import own_name
from hardwon.intake import merge
from hardwon.intake.redact import redact_branch
from hardwon.intake.shape import fold, shape
from hardwon.search import terms
from hardwon.store.ids import uuid7
from hardwon.types import Filter, Occurrence
from hardwon.upkeep import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from hardwon.engine.core import Engine
    from hardwon.engine.then import Then
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Draft, Memory, Origin

    # created; repeated: one more occurrence of a known one; revised: a summary that says more now; known; refused.
    Fate = Literal["created", "repeated", "revised", "known", "refused"]

ALIAS = "learnt:"
_MOST_FORGOTTEN = 100_000
_MOST_OF_SESSION = 1_000
# Kinds that are learnt from what happened, and how near to each other the hook and the transcript tell of one such.
_BY_TIME = ("lesson", "attempt", "fact")
_NEAR_MS = 30_000


class Retelling:
    """One run over past sessions. What is forgotten is looked up once: nothing that says the same comes back."""

    def __init__(self, engine: Engine, then: Then) -> None:
        self._engine = engine
        self._then = then
        self.now = engine.clock()
        self.redacted = 0
        self._forgotten: dict[str, list[Memory]] | None = None
        self._counts: dict[tuple[bytes, str, str], int] = {}
        self._live: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
        self._planned: set[bytes] = set()  # of a dry run, which writes nothing

    def cleaned(self, draft: Draft) -> Draft:
        """The draft without secrets, by both layers of rules, and in our shape. InvalidInput for one that cannot be kept."""
        bulk = self._engine.bulk
        raw, first = bulk.redact_draft(draft)
        clean, second = bulk.redact_draft(shape(raw))
        self.redacted += first + second
        return clean

    def is_known(self, reader: Reader, name: str) -> bool:
        """Whether something was learnt from the event of that name before."""
        return bool(reader.aliased(ALIAS + name))

    def submission(self, draft: Draft, at: int, origin: Origin, branch: str, *, known: bool) -> record.Submission:
        """A clean draft as it would have been recorded at that time; of what is known already, where the code stood is not asked."""
        clean = redact_branch(branch)
        if known:
            return record.Submission("", at, draft, record.signed(origin), clean)
        pinned = draft.replace(anchors=self._then.pinned(draft.anchors, at)) if draft.anchors else draft
        identifier = uuid7(at, self._engine.entropy(10))
        return record.Submission(identifier, at, pinned, record.signed(origin), clean, self._then.commit(branch, at))

    def lesson(self, reader: Reader, said: record.Submission, name: str, writer: Writer | None) -> tuple[Fate, str]:
        """Take in what was learnt from the event of that name, and the memory's id; written only where there is a writer."""
        alias = ALIAS + name
        if known := reader.aliased(alias):
            self._count(said)
            return "known", known
        if not said.id:  # it was known a moment ago
            return "known", ""
        if record.kept_out(self._engine, reader, said.draft) is not None or self._is_forgotten(reader, said.draft):
            return "refused", ""
        fate, identifier = self._beside(reader, said, writer)
        if fate == "created" and writer is not None:
            self._create(writer, said, merge.twin_key(said.draft), alias)
            return fate, said.id
        if identifier and writer is not None:
            writer.alias(alias, identifier)
        return fate, identifier

    def _beside(self, reader: Reader, said: record.Submission, writer: Writer | None) -> tuple[Fate, str]:
        """What it is beside what is known: the same, once more, or new; what happened once more is written."""
        key = merge.twin_key(said.draft)
        nth = self._count(said)
        twin = reader.twin(key)
        if twin is not None and trust.lasts(twin, said.origin.who, said.at):
            if nth <= self._told(reader, twin, said):
                return "known", twin.id
            if writer is not None:
                self._repeat(writer, twin, said)
            return "repeated", twin.id
        if heard := self._heard(reader, said):
            return "known", heard
        planned = key in self._planned
        self._planned.add(key)
        return ("repeated" if planned and writer is None else "created"), ""

    def item(self, reader: Reader, said: record.Submission, name: str, writer: Writer | None) -> Fate:
        """A memory that the session has one of (its summary): what is told later takes the place of what was told before."""
        alias = own_name(name)
        known = reader.get([found]) if (found := reader.aliased(alias)) else []
        if not known:
            if record.kept_out(self._engine, reader, said.draft) is not None or self._is_forgotten(reader, said.draft):
                return "refused"
            if writer is not None:
                self._create(writer, said, b"", alias)
            return "created"
        memory = known[0]
        if memory.status != "active" or not trust.may_change(memory, said.origin.who):
            return "refused" if memory.status in ("forgotten", "rejected") else "known"
        revised: Memory = memory.replace(text=said.draft.text, detail=said.draft.detail, tags=said.draft.tags)
        if revised == memory or said.at < memory.updated_at:
            return "known"
        if record.kept_out(self._engine, reader, said.draft) is not None:
            return "refused"
        if writer is not None:
            revised = revised.replace(version=memory.version + 1, updated_at=said.at)
            writer.put(revised, b"", terms.of_memory(revised))
            writer.log("revised", revised, said.origin, self.now, self._engine.entropy(16))
        return "revised"

    def _count(self, said: record.Submission) -> int:
        """The how-manieth time this is that the session told it."""
        key = (merge.twin_key(said.draft), said.origin.client, said.origin.session)
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key]

    def _told(self, reader: Reader, twin: Memory, said: record.Submission) -> int:
        """How many times it was recorded of this session."""
        own = said.origin
        return sum(one.origin.client == own.client and one.origin.session == own.session for one in reader.occurrences(twin.id))

    def _heard(self, reader: Reader, said: record.Submission) -> str:
        """The memory that a hook recorded of the same failure, "" for none: at the time it may have known the code by other names, so
        that its words differ. What was decided has the words of who decided, and is told by those."""
        if said.draft.kind not in _BY_TIME:
            return ""
        key = (said.origin.client, said.origin.session)
        if key not in self._live:
            where = Filter(session=key[1], client=key[0], who="agent", derived=False)
            recorded = [one for one in reader.find(where, _MOST_OF_SESSION) if one.origin.tool == TOOL_OF_HOOKS]
            self._live[key] = [
                (memory.id, memory.kind, one.at)
                for memory in recorded
                for one in reader.occurrences(memory.id)
                if (one.origin.client, one.origin.session) == key
            ]
        near = [one for one in self._live[key] if one[1] == said.draft.kind and abs(one[2] - said.at) <= _NEAR_MS]
        if not near:
            return ""
        found = min(near, key=lambda one: abs(one[2] - said.at))
        self._live[key].remove(found)
        return found[0]

    def _is_forgotten(self, reader: Reader, draft: Draft) -> bool:
        if self._forgotten is None:
            self._forgotten = {}
            for memory in reader.find(Filter(statuses=("forgotten",), derived=False), _MOST_FORGOTTEN):
                self._forgotten.setdefault(fold(memory.text), []).append(memory)
        return any(merge.same_value(memory, draft) for memory in self._forgotten.get(fold(draft.text), ()))

    def _create(self, writer: Writer, said: record.Submission, key: bytes, alias: str) -> None:
        memory = record.new_memory(said, writer.next_number())
        writer.put(memory, key, terms.of_memory(memory))
        # The journal says when it came here; what it says was learnt at the time that the memory tells.
        event = writer.log("created", memory, said.origin, self.now, self._engine.entropy(16))
        record.occur(writer, memory, said, event)
        writer.alias(alias, memory.id)

    def _repeat(self, writer: Writer, known: Memory, said: record.Submission) -> None:
        """One more occurrence. What happened after the memory was last touched counts as if it were recorded now; what happened before
        changes neither what it says nor how it stands."""
        if said.at > known.updated_at:
            believed, trusted = trust.after_repeat(known.trust, said.origin.who, merge.says_all(known, said.draft))
            memory: Memory = merge.repeat(known, said.draft, said.at, believed=believed).replace(trust=trusted)
        else:
            memory = known.replace(seen=known.seen + 1)
        fresh = memory.version > known.version
        writer.put(memory, b"" if not fresh else merge.twin_key(memory), terms.of_memory(memory) if fresh else None)
        salt = self._engine.entropy(16) if fresh else b""
        event = writer.log("repeated", memory, said.origin, self.now, salt, said.id)
        one = Occurrence(memory.id, said.at, memory.outcome, memory.status, said.origin, said.branch, said.commit)
        writer.occur(one, event.seq)


def name_of(*words: str) -> str:
    """The name of an event that something was learnt from: says nothing of the words that it is made of."""
    return blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=16).hexdigest()
