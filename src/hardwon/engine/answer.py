"""What the memory answers: to a question, before an edit, at the start of a session, to the person who reviews."""

from __future__ import annotations

from hardwon.engine import writing
from hardwon.engine.anchors import judged, judged_hits, unsure
from hardwon.engine.code_index import Opened
from hardwon.engine.core import REBUILDING
from hardwon.engine.naming import spelt, with_files
from hardwon.engine.visibility import EVERYTHING, as_seen, sight
from hardwon.errors import InvalidInput
from hardwon.types import UNHEARD, Filter, Hit, Mode, Proposal, Signal
from hardwon.upkeep.trust import HEARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.engine.visibility import Sight
    from hardwon.search.dense import Dense
    from hardwon.store.base import Reader
    from hardwon.types import Block, Memory, Query, Risk, Scope

_LISTED = 200
_ACTIVE = Filter(statuses=("active",))


def recall(engine: Engine, query: Query, scope: Scope) -> Block:
    """Ranked memories for a question; a listing, newest first, where there is only a filter."""
    with Opened(engine):
        return _recall(engine, query)


def _recall(engine: Engine, query: Query) -> Block:
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
    if asked.file or asked.symbol:
        from hardwon.engine.impact import around

        asked = asked.replace(around=(*asked.around, *around(engine, asked)))
    if asked.file or asked.symbol or asked.around:
        from hardwon.engine.impact import before_now

        asked = asked.replace(around=(*asked.around, *before_now(engine, asked)))
    with engine.store.read() as reader:
        check(reader, narrow)
        view = EVERYTHING if asked.all_branches else sight(engine, reader)
        where = view.narrowed(where)
        if asked.text.strip() or asked.file or asked.symbol:
            found = rank(reader, asked, where, now, dense)
        else:  # of nothing, nothing
            listed = reader.find(where, asked.k) if narrow != Filter() else []
            found = [Hit(memory, 1.0, (Signal("listed", 1.0),)) for memory in listed if not memory.erased]
        hits = [_dressed(reader, view, hit) for hit in found]
        unfinished = ("the index was not finished: run `hardwon init`",) if reader.setting(REBUILDING) else ()
    hits = judged_hits(engine, hits)
    degraded = (*told, *view.degraded, *unsure(engine, hits), *unfinished, *writing.degraded(engine))
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


def _dressed(reader: Reader, view: Sight, hit: Hit) -> Hit:
    """A hit whose change names its files as anchors, and whose memory names those that contradict it, as far as they can be seen."""
    if hit.memory.kind == "change":
        return Hit(with_files(reader, as_seen(reader, view, hit.memory)), hit.score, hit.why)
    links = [link for link in reader.links(hit.memory.id) if link.kind == "contradicts"]
    others = {other for link in links for other in (link.source, link.target) if other and other != hit.memory.id}
    speaking = reader.matching(reader.keys(sorted(others)), view.narrowed(_ACTIVE)) if others else []
    # What came from elsewhere and was not approved shall not cast doubt on what was learnt here.
    living = [memory for memory in reader.memories(speaking) if memory.trust not in UNHEARD]
    return Hit(hit.memory, hit.score, hit.why, tuple(memory.called for memory in living))


def brief(engine: Engine, scope: Scope, budget: int) -> Block:
    """What a session should know at its start."""
    with Opened(engine):
        return _brief(engine, scope, budget)


def _brief(engine: Engine, scope: Scope, budget: int) -> Block:
    from hardwon.engine.risks import exactly, living
    from hardwon.search.opening import Material, choose, recent
    from hardwon.search.pack import pack
    from hardwon.upkeep import risk, trust

    now = engine.clock()
    with engine.store.read() as reader:
        view = sight(engine, reader)
        alive = view.narrowed(_ACTIVE.replace(alive_at=now, trusts=HEARD))
        places = reader.often_failed(risk.LEAST_FAILS, view.records)
        groups = living(engine, reader, {(symbol, path): exactly(reader, symbol, path, view.records) for symbol, path in places})
        risky = [item for item in risk.assess_all(groups, now) if item.score >= risk.INJECT_AT][:5]
        newest = max((memory.created_at for memory in reader.find(alive.replace(kinds=("change",)), 1)), default=now)
        # An author's clock may be ahead: what was taken back lately is seen from now at the latest.
        failed = recent(reader.failed_changes("", 5, view.commits), min(newest, now))
        rules = reader.find(alive.replace(kinds=("rule", "decision")), 20)
        attempts = reader.find(alive.replace(kinds=("attempt",), outcomes=("open",)), 10)
        summaries = list(filter(None, (reader.last(alive.replace(kinds=("summary",))),)))
        lessons = [memory for item in risky for memory in _failures(reader, item, alive)]
        taken_back = tuple(with_files(reader, memory) for memory in failed)
    seen = {one.id: one for one in judged(engine, [*rules, *attempts, *summaries, *lessons])}
    told = [tuple(seen[memory.id] for memory in group) for group in (rules, attempts, summaries, lessons)]
    material = Material(told[0], told[1], told[2], told[3], taken_back)

    def verdict(memory: Memory) -> str:
        return trust.unasked(memory, scope.origin)

    hits = choose(material, verdict, trust.UNVERIFIED_LIMIT)
    return pack(hits, budget, Mode(degraded=(*view.degraded, *writing.degraded(engine))))


def _failures(reader: Reader, item: Risk, alive: Filter) -> list[Memory]:
    """The newest failure of a symbol in its file: one of each, so that one bad symbol does not crowd the others out."""
    found = reader.anchored("", item.symbol, alive.replace(outcomes=("failed",)), _LISTED)
    return [m for m in found if any((a.symbol, a.path) == (item.symbol, item.file) for a in m.anchors)][:1]


def review(engine: Engine, scope: Scope, limit: int) -> list[Proposal]:
    """What waits for a person: what they confirmed and something speaks against now, then memories that nobody confirmed, newest
    first."""
    from hardwon.engine.belief import doubted
    from hardwon.search.similar import similar
    from hardwon.upkeep.trust import UNCONFIRMED

    now = engine.clock()
    where = _ACTIVE.replace(trusts=UNCONFIRMED, statuses=("active", "quarantined"), alive_at=now)
    with engine.store.read() as reader:
        waiting = [*doubted(reader, now), *((memory, {}) for memory in reader.find(where, limit))]
        return [Proposal(memory, tuple(similar(reader, memory)), against) for memory, against in waiting[:limit]]
