"""What was erased in one state of a store, taken out of an earlier one that is to follow it: a restore brings no erased words back."""

from __future__ import annotations

from itertools import chain

from hardwon.engine.erase import PENDING, Erasure, empty_earlier, finish, take_out
from hardwon.engine.erased import KEYS, note_keys
from hardwon.engine.record import signed
from hardwon.search import terms
from hardwon.store.keys import erasure_key
from hardwon.store.mending.mend import NIL
from hardwon.store.mending.salvage import event_of, memory_of
from hardwon.store.rows import to_text
from hardwon.types import Change, Filter, Memory, Occurrence, Value
from hardwon.upkeep.erasure import emptied, saying, sayings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.store.mending.salvage import Salvage
    from hardwon.types import Origin, Scope

# The owner of words of which it is not known any more whose they were: no memory has that id.
NOBODY = to_text(NIL)
# The reason where the journal tells none: a commit that was left out because its message had been erased under another hash.
_UNTOLD = "other"


class Gone(Value):
    """A memory that was erased: what is left of it, the code of the reason, the digests of what it had said; of a commit its hash."""

    memory: Memory
    reason: str
    digests: tuple[bytes, ...]
    sha: str = ""


class Known(Value):
    """Everything that a state of a store knows as erased; ``others``: digests of which a repair could not tell whose they were; ``keys``
    tells which keys the digests were made with, ``clean`` whether its files are known to be rid of those words."""

    gone: tuple[Gone, ...] = ()
    others: tuple[bytes, ...] = ()
    keys: tuple[str, ...] = ()
    clean: bool = False


def known(reader: Reader) -> Known:
    """What was erased in this state."""
    digests: dict[str, list[bytes]] = {}
    for digest, owner in reader.digests():
        digests.setdefault(owner, []).append(digest)
    gone = []
    for memory in reader.find(Filter(statuses=("forgotten",)), -1):
        if memory.erased:
            told = (event.payload for event in reversed(reader.events(memory.id)) if event.action == "erased")
            gone.append(_gone(memory, next(told, _UNTOLD), digests))
    return Known(tuple(gone), tuple(chain(*digests.values())), tuple(reader.setting(KEYS).split()), not reader.setting(PENDING))


def salvaged(found: Salvage) -> Known:
    """The same, from what is intact of a damaged store."""
    events = {row["seq"]: event_of(row) for row in found.tables["events"]}
    reasons = {event.memory: event.payload for event in events.values() if event.action == "erased"}
    rows = {to_text(bytes(row["id"])): memory_of(row, []) for row in found.tables["memories"]}
    digests: dict[str, list[bytes]] = {}
    for row in found.tables["erased"]:
        event = events.get(row["event"])
        digests.setdefault(event.memory if event else NOBODY, []).append(bytes(row["digest"]))
    nothing = Memory("", None, "fact", None, "", status="forgotten")
    gone = [_gone(rows.get(one) or nothing.replace(id=one), reason, digests) for one, reason in reasons.items() if one != NOBODY]
    return Known(tuple(gone), tuple(chain(*digests.values())), tuple(found.settings().get(KEYS, "").split()))


def _gone(memory: Memory, reason: str, digests: dict[str, list[bytes]]) -> Gone:
    """One of them, with its digests, which are taken out of those of all."""
    sha = memory.commit if memory.kind == "change" else ""
    return Gone(memory, reason, tuple(digests.pop(memory.id, ())), sha)


def again(engine: Engine, later: Known, scope: Scope) -> Erasure:
    """Erase in an earlier state what a later one knows as erased, and keep out what that keeps out; in one transaction, then every
    trace of it. ``ids``: what was here and is gone now.

    The reason is the one of then, whoever restores: a person decided it once. Notes that say the same go as well, though the later
    state may not have had them so any more. InvalidInput for a store without a place for the key.
    """
    if not later.gone and not later.others:
        return Erasure(())
    key = erasure_key.obtain(engine.erasure_key, engine.entropy, engine.wait)
    with engine.write() as writer:
        done = _Again(engine, writer, later, key, scope).run()
    if done.settles:
        engine.settle_history()
    if done.wrote:
        finish(engine)
    return Erasure(tuple(done.ids), bool(done.ids), done.same, done.derived)


class _Again:
    """The transaction, and what it came to."""

    def __init__(self, engine: Engine, writer: Writer, later: Known, key: bytes, scope: Scope) -> None:
        self._engine, self._writer, self._key = engine, writer, key
        self._origin: Origin = signed(scope.origin)
        self._now = engine.clock()
        self._later = later
        self._here = {memory.id: memory for memory in writer.get([item.memory.id for item in later.gone])}
        commits = {item.sha: writer.lookup(item.sha) for item in later.gone if item.sha}
        self._commits = {sha: writer.get(found)[0] for sha, found in commits.items() if found}  # under the id of another clone
        self._reasons = dict.fromkeys(later.others, _UNTOLD)
        self._reasons |= {digest: item.reason for item in later.gone for digest in item.digests}
        self.ids: list[str] = []
        self.same = self.derived = 0
        self.wrote = self.settles = False

    def run(self) -> _Again:
        fresh = {digest for digest in self._reasons if not self._writer.erased(digest)}
        if fresh or any(not memory.erased for memory in (*self._here.values(), *self._commits.values())):
            for item in self._later.gone:
                self._follow(item, fresh)
            if others := [digest for digest in self._later.others if digest in fresh]:
                self._writer.erase(NOBODY, self._log(Memory(NOBODY, None, "fact", None, "", version=0), _UNTOLD), others)
            for memory, reason in self._saying_the_same():
                self._take_out(memory, reason)
                self.same += 1
            empty_earlier(self._writer, lambda words: erasure_key.digest(self._key, saying(words)) in self._reasons)
            note_keys(self._writer, *self._later.keys, erasure_key.check_of(self._key))
        return self

    def _follow(self, item: Gone, fresh: set[bytes]) -> None:
        """One erased memory: it goes here too; where it is unknown or gone already, its digests are kept."""
        memory = self._here.get(item.memory.id) or self._commits.get(item.sha)
        digests = [digest for digest in item.digests if digest in fresh]
        if memory is None and digests:
            self._remember(item, digests)
        elif memory is not None and not memory.erased:
            self._take_out(memory, item.reason, digests)
        elif memory is not None and digests:
            told = (event.seq for event in reversed(self._writer.events(memory.id)) if event.action == "erased")
            seq = next(told, 0) or self._log(memory, item.reason)
            self._writer.erase(memory.id, seq, digests)
            self.wrote = True

    def _take_out(self, memory: Memory, reason: str, digests: Iterable[bytes] = ()) -> None:
        take_out(self._engine, self._writer, memory, self._key, (reason, self._origin, self._now), digests)
        self.ids.append(memory.id)
        self.derived += memory.number is None
        self.settles |= memory.kind == "change"
        self.wrote = True

    def _saying_the_same(self) -> list[tuple[Memory, str]]:
        """Notes whose words are now the ones that were erased, with the reason of then."""
        found = []
        for memory in self._writer.find(Filter(derived=False), -1):
            forms = () if memory.erased else {saying(memory), *sayings([memory])}
            reasons = (self._reasons.get(erasure_key.digest(self._key, form)) for form in forms)
            if reason := next(filter(None, reasons), None):
                found.append((memory, reason))
        return found

    def _remember(self, item: Gone, digests: list[bytes]) -> None:
        """A memory that is not here, as one that was erased: so that nothing which says the same comes in, and its number stays given."""
        writer, left = self._writer, emptied(item.memory).replace(version=1, seen=1, replaced_by=None)
        if item.sha:
            writer.add_change(left, Change(item.sha, left.created_at, ""), terms.of_memory(left))
        else:
            if left.number is not None and writer.lookup(f"#{left.number}"):
                left = left.replace(number=writer.next_number())
            writer.put(left, b"", terms.of_memory(left))
        if left.number is not None:
            event = writer.log("imported", left, self._origin, self._now, self._engine.entropy(16), left.status)
            writer.occur(Occurrence(left.id, left.created_at, left.outcome, left.status, left.origin), event.seq)
        writer.erase(left.id, self._log(left, item.reason), digests)
        self.wrote = True

    def _log(self, memory: Memory, reason: str) -> int:
        return self._writer.log("erased", memory, self._origin, self._now, payload=reason).seq
