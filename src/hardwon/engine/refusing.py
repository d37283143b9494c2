"""Just before a tool runs: the lessons of what it touches, and whether the call is refused because of them.

A call is refused once for each symbol in a session, with all that is known; the retry passes. The mark is committed before the answer, so
that of two calls at once only one is stopped; where it cannot be written, the lessons are a warning.
"""

from __future__ import annotations

from hardwon.agents.hearing import hears_beside_refusal
from hardwon.engine.advice import Advice
from hardwon.engine.anchors import judged
from hardwon.engine.before import Look, look
from hardwon.engine.code_index import Opened
from hardwon.engine.session_file import beat, beat_of, begun_as, noted, trouble
from hardwon.engine.touching import touched
from hardwon.errors import StoreError
from hardwon.types import SymbolReport, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.store.sessions.writes import WorkWrites
    from hardwon.types import Memory, Scope

BUDGET = 190  # tokens: clients show at most 800 characters beside a tool call
# A symbol that any session was refused for is not stood up for again so soon, unless it failed since.
_AGAIN_MS = 7 * 86_400_000


class _Risky(Value):
    """A place (``path``, ``symbol``) that a call should not touch unwarned."""

    path: str
    symbol: str
    report: SymbolReport

    @property
    def last_fail(self) -> int:
        return self.report.risk.last_fail or 0


def before(engine: Engine, event: Event, scope: Scope, deny: str) -> Advice:
    """What to say of a call that is about to run, or why it is refused."""
    begun = _begun(engine, event) if event.tool == "shell" and event.call else ()
    with Opened(engine):
        about = touched(engine, event)
        found = look(engine, scope, about.places) if about.places else Look()
        risky = _risky(engine, event, scope, found, about.whole, deny) if found.hits and deny != "off" else []
    if not found.hits:
        if not begun:
            beat(engine, event)
        return Advice(degraded=(*found.degraded, *begun))
    from hardwon.engine.telling import Telling  # most calls have nothing to be told

    telling = Telling(engine, event)
    refused: list[_Risky] = []
    warned: set[str] = set()  # said in any case, for the call cannot be refused
    if risky and engine.work is not None:
        try:
            refused = _marked(engine, event, risky)
        except StoreError as error:
            telling.note(error)
            warned = {memory.id for one in risky for memory in one.report.memories}
    refusal, reports = _worded(refused)
    said = {memory.id for report in reports for memory in report.memories}
    # What a client does not hand on beside a refusal is left to the retry.
    hits = [hit for hit in found.hits if hit.memory.id not in said] if not refused or hears_beside_refusal(event.client) else []
    block = telling.block(hits, BUDGET, also=said, anyway=warned)
    return Advice(block, refusal, reports, (*found.degraded, *begun, *telling.degraded))


def _worded(refused: Sequence[_Risky]) -> tuple[str, tuple[SymbolReport, ...]]:
    """Why the call is refused, riskiest first, and what of it is said so; nothing where it is not."""
    if not refused:
        return "", ()
    from hardwon.search.stopped import stopped

    return stopped(sorted((one.report for one in refused), key=lambda report: -report.risk.score))


def _begun(engine: Engine, event: Event) -> tuple[str, ...]:
    """Note when a command begins: what is edited while it runs it may not have seen. What could not be done."""
    file = engine.work
    if file is None:
        return ()
    now = engine.clock()

    def note(writer: WorkWrites) -> None:
        writer.hears(writer.touch(event.client, event.session, now), begun_as(event), event.at, 0)
        writer.beat(beat_of(event, now))

    try:
        noted(file, engine, note)
    except StoreError as error:
        return (trouble(error),)
    return ()


def _risky(engine: Engine, event: Event, scope: Scope, found: Look, whole: Sequence[str], deny: str) -> list[_Risky]:
    """The symbols that the call touches and that it is refused for (upkeep/refusal.py)."""
    from hardwon.upkeep import refusal, risk

    places = refusal.failed_at(found.hits, found.places, whole)
    if not places:
        return []
    from hardwon.engine.risks import exactly, living
    from hardwon.engine.visibility import sight

    now = engine.clock()
    kept: list[_Risky] = []
    with engine.store.read() as reader:
        hidden = sight(engine, reader).records
        groups = {(symbol, path): exactly(reader, symbol, path, hidden) for path, symbol in places}
        for (symbol, path), group in living(engine, reader, groups).items():
            item = risk.assess(symbol, path, group, now)
            if not refusal.may_be(deny, item):
                continue
            memories = _sayable(engine, reader, scope, {one.memory for one in group if one.status == "active"})
            if memories and refusal.is_due(deny, event, item, memories):
                kept.append(_Risky(path, symbol, SymbolReport(item, tuple(memories))))
    return kept


def _sayable(engine: Engine, reader: Reader, scope: Scope, ids: set[str]) -> list[Memory]:
    """Memories that may be said unasked at their symbol, failures first, then the newest."""
    from hardwon.upkeep import trust

    found = [
        memory
        for memory in judged(engine, reader.get(sorted(ids)))
        if trust.unasked(memory, scope.origin, at_symbol=True) != "no"
    ]
    found.sort(key=lambda memory: (memory.outcome != "failed", -memory.updated_at, -(memory.number or 0)))
    return found


def _marked(engine: Engine, event: Event, risky: Sequence[_Risky]) -> list[_Risky]:
    """Those for which the call is refused, marked; StoreError where no mark can be written."""
    file = engine.work
    if file is None:
        return []
    now = engine.clock()

    def mark(writer: WorkWrites) -> list[_Risky]:
        session = writer.touch(event.client, event.session, now)
        known = writer.last_refusals([(one.path, one.symbol) for one in risky], now - _AGAIN_MS)
        return [
            one
            for one in risky
            if known.get((one.path, one.symbol), -1) < one.last_fail
            and writer.refuse(session, (one.path, one.symbol), one.last_fail, now)
        ]

    return noted(file, engine, mark)
