"""What the memory answers: to a question, before an edit, at the start of a session, to the person who reviews."""

from __future__ import annotations

from hardwon.engine import writing
from hardwon.engine.core import REBUILDING
from hardwon.engine.naming import spelt, with_files
from hardwon.errors import InvalidInput
from hardwon.types import Filter, Hit, Mode, Proposal, Signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.search.dense import Dense
    from hardwon.store.base import Reader
    from hardwon.types import Block, Memory, Query, Risk, Scope

_LISTED = 200
# What came from elsewhere and was not approved shall not cast doubt on what was learnt here.
_UNHEARD = ("imported", "quarantined")
_ACTIVE = Filter(statuses=("active",))


def recall(engine: Engine, query: Query, scope: Scope) -> Block:
    """Ranked memories for a question; a listing, newest first, where there is only a filter."""
    from hardwon.search.narrow import check
    from hardwon.search.pack import pack
    from hardwon.search.rank import rank

    if query.k < 1:
        raise InvalidInput(f"at most {query.k} memories is none", field="k", remedy="ask for 1 and more")
    now = engine.clock()
    narrow = query.where.replace(paths=tuple(map(engine.relative, query.where.paths)))
    asked = query.replace(file=engine.relative(query.file), symbol=spelt(query.symbol))
    where = _living(narrow, now)
    dense, told = _by_meaning(engine, asked, narrow) if asked.vectors else (None, [])
    with engine.store.read() as reader:
        check(reader, narrow)
        if asked.text.strip() or asked.file or asked.symbol:
            found = rank(reader, asked, where, now, dense)
        else:  # of nothing, nothing
            listed = reader.find(where, asked.k) if narrow != Filter() else []
            found = [Hit(memory, 1.0, (Signal("listed", 1.0),)) for memory in listed if not memory.erased]
        hits = [_dressed(reader, hit) for hit in found]
        unfinished = reader.setting(REBUILDING)
    degraded = (*told, *(("the index was not finished: run `hardwon init`",) if unfinished else ()), *writing.degraded(engine))
    return pack(hits, query.budget, Mode(vectors=dense is not None, degraded=degraded))


def _by_meaning(engine: Engine, query: Query, narrow: Filter) -> tuple[Dense | None, list[str]]:
    """The question's vector, made before the answer's view is opened; and what could not take part."""
    from hardwon.engine.vectors import dense
    from hardwon.search.narrow import check

    with engine.store.read() as reader:
        check(reader, narrow)  # before anything is embedded and kept for a question that is refused
    return dense(engine, query)


def _living(where: Filter, now: int) -> Filter:
    """What is active and holds now, unless the asker named statuses; expired ones are asked for by name."""
    statuses = where.statuses or ("active",)
    narrowed: Filter = where.replace(statuses=statuses, alive_at=None if "expired" in statuses else where.alive_at or now)
    return narrowed


def _dressed(reader: Reader, hit: Hit) -> Hit:
    """A hit whose change names its files as anchors, and whose memory names those that contradict it."""
    if hit.memory.kind == "change":
        return Hit(with_files(reader, hit.memory), hit.score, hit.why)
    links = [link for link in reader.links(hit.memory.id) if link.kind == "contradicts"]
    others = {other for link in links for other in (link.source, link.target) if other and other != hit.memory.id}
    living = [memory for memory in reader.get(sorted(others)) if memory.status == "active" and memory.trust not in _UNHEARD]
    return Hit(hit.memory, hit.score, hit.why, tuple(memory.called for memory in living))


def before(engine: Engine, file: str, symbol: str, scope: Scope, budget: int) -> Block:
    """The lessons of the place that is about to be edited."""
    from hardwon.search.pack import pack
    from hardwon.search.place import choose
    from hardwon.upkeep import trust

    if not file and not symbol:
        raise InvalidInput("a file or a symbol is needed", field="file", remedy="give --file or --symbol")
    path, symbol = engine.relative(file), spelt(symbol)
    alive = _ACTIVE.replace(alive_at=engine.clock())

    def verdict(memory: Memory, at_symbol: bool) -> str:
        return trust.unasked(memory, scope.origin, at_symbol)

    with engine.store.read() as reader:
        written = reader.anchored("", symbol, alive, _LISTED) if symbol else []
        known = {memory.id for memory in written}
        written += [memory for memory in reader.anchored(path, "", alive, _LISTED) if memory.id not in known]
        failed = [with_files(reader, memory) for memory in reader.failed_changes(path, 5)] if path else []
    hits = choose(written, failed, path, symbol, verdict, trust.UNVERIFIED_LIMIT)
    return pack(hits, budget, Mode(degraded=writing.degraded(engine)))


def brief(engine: Engine, scope: Scope, budget: int) -> Block:
    """What a session should know at its start."""
    from hardwon.engine.risks import exactly
    from hardwon.search.opening import Material, choose, recent
    from hardwon.search.pack import pack
    from hardwon.upkeep import risk, trust

    now = engine.clock()
    alive = _ACTIVE.replace(alive_at=now)
    with engine.store.read() as reader:
        places = reader.often_failed(risk.LEAST_FAILS)
        groups = {(symbol, path): exactly(reader, symbol, path) for symbol, path in places}
        risky = [item for item in risk.assess_all(groups, now) if item.score >= risk.INJECT_AT][:5]
        newest = max((memory.created_at for memory in reader.find(alive.replace(kinds=("change",)), 1)), default=now)
        # An author's clock may be ahead: what was taken back lately is seen from now at the latest.
        failed = recent(reader.failed_changes("", 5), min(newest, now))
        material = Material(
            rules=tuple(reader.find(alive.replace(kinds=("rule", "decision")), 20)),
            attempts=tuple(reader.find(alive.replace(kinds=("attempt",), outcomes=("open",)), 10)),
            summaries=tuple(filter(None, (reader.last(alive.replace(kinds=("summary",))),))),
            lessons=tuple(memory for item in risky for memory in _failures(reader, item, alive)),
            taken_back=tuple(with_files(reader, memory) for memory in failed),
        )
    hits = choose(material, lambda memory: trust.unasked(memory, scope.origin), trust.UNVERIFIED_LIMIT)
    return pack(hits, budget, Mode(degraded=writing.degraded(engine)))


def _failures(reader: Reader, item: Risk, alive: Filter) -> list[Memory]:
    """The newest failure of a symbol in its file: one of each, so that one bad symbol does not crowd the others out."""
    found = reader.anchored("", item.symbol, alive.replace(outcomes=("failed",)), _LISTED)
    return [m for m in found if any((a.symbol, a.path) == (item.symbol, item.file) for a in m.anchors)][:1]


def review(engine: Engine, scope: Scope, limit: int) -> list[Proposal]:
    """What waits for a person: memories that nobody confirmed, newest first."""
    from hardwon.search.similar import similar
    from hardwon.upkeep.trust import UNCONFIRMED

    where = _ACTIVE.replace(trusts=UNCONFIRMED, statuses=("active", "quarantined"), alive_at=engine.clock())
    with engine.store.read() as reader:
        return [Proposal(memory, tuple(similar(reader, memory))) for memory in reader.find(where, limit)]
