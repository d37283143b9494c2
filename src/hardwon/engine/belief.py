"""Steps of trust that no person made: written with their evidence, and what a person should look at again."""

from __future__ import annotations

from hardwon.engine.record import signed
from hardwon.types import Value
from hardwon.upkeep import evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Memory, Origin
    from hardwon.upkeep.evidence import Verdict

# A setting of the store: ids of confirmed memories that were doubted. The journal tells why, and whether they still are.
DOUBTED = "doubted"
# Memories a transaction: few enough that other writers hardly wait.
SLICE = 50


class Judged(Value):
    """What was judged: ids of memories that rose to proven, fell to claimed, were flagged for a person, and whose commit was seen on
    the default branch for the first time."""

    risen: tuple[str, ...] = ()
    fallen: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    landed: tuple[str, ...] = ()

    def joined(self, other: Judged) -> Judged:
        """Both."""
        return Judged(*(getattr(self, name) + getattr(other, name) for name in self._fields))


class Step(Value):
    """What is to be written of one memory, as it was when it was judged."""

    memory: Memory
    verdict: Verdict
    evidence: Mapping[str, Any]


def take(engine: Engine, steps: list[Step], origin: Origin) -> Judged:
    """Write steps, in slices of one transaction each. A memory that somebody changed meanwhile is left to the next judging."""
    judged = Judged()
    for start in range(0, len(steps), SLICE):
        with engine.write() as writer:
            for one in steps[start : start + SLICE]:
                judged = judged.joined(_take(engine, writer, one, signed(origin)))
    return judged


def _take(engine: Engine, writer: Writer, one: Step, origin: Origin) -> Judged:
    known = next(iter(writer.get([one.memory.id])), None)
    was = one.memory
    if known is None or (known.trust, known.version, known.status) != (was.trust, was.version, was.status):
        return Judged()
    now: Memory = known.replace(trust=one.verdict.trust)
    if now != known:
        writer.put(now)
    writer.log("trust", now, origin, engine.clock(), payload=evidence.payload(known.trust, now.trust, one.evidence))
    if one.verdict.flagged:
        _mark(writer, known.id)
        return Judged(flagged=(known.id,))
    if now == known:
        return Judged(landed=(known.id,))
    return Judged(risen=(known.id,)) if now.trust == "proven" else Judged(fallen=(known.id,))


def _mark(writer: Writer, identifier: str) -> None:
    known = writer.setting(DOUBTED).split()
    if identifier not in known:
        writer.set_setting(DOUBTED, " ".join([*known, identifier]))


def settled(writer: Writer, identifier: str) -> None:
    """A person has looked at it."""
    known = writer.setting(DOUBTED).split()
    if identifier in known:
        writer.set_setting(DOUBTED, " ".join(one for one in known if one != identifier))


def doubted(reader: Reader, now: int) -> list[tuple[Memory, dict[str, Any]]]:
    """The confirmed memories that a person should look at again, and what speaks against each."""
    found = []
    for memory in reader.get(reader.setting(DOUBTED).split()):
        over = memory.expires_at is not None and memory.expires_at <= now
        if memory.trust == "confirmed" and memory.status == "active" and not over:
            against = evidence.doubt(reader.events(memory.id))
            if against:
                found.append((memory, against))
    return found


def doubted_before(reader: Reader, memory: Memory, doubt: Mapping[str, Any]) -> bool:
    """Whether that very doubt was told of the memory: a person who approved it since is not asked twice."""
    told = (found for _, _, _, found in evidence.steps(reader.events(memory.id)))
    return any(dict(one) == dict(doubt) for one in told)
