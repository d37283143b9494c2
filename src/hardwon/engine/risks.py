"""How risky symbols are: their occurrences from the store, the rule from ``upkeep``."""

from __future__ import annotations

from hardwon.engine.anchors import former, judged
from hardwon.engine.code_index import Opened
from hardwon.engine.naming import spelt
from hardwon.engine.visibility import sight
from hardwon.types import SymbolReport
from hardwon.upkeep import risk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Experience, Risk

    Groups = dict[tuple[str, str], list[Experience]]


def query(engine: Engine, symbol: str, file: str, everything: bool, top: int | None) -> list[SymbolReport]:
    """Lessons and risk of the symbols that match (partly), by risk and impact (upkeep/risk.py); without a symbol of all; at most
    ``top``."""
    from hardwon.engine.impact import with_impact  # not for the risk of single symbols, before an edit

    with Opened(engine), engine.store.read() as reader:
        hidden = () if everything else sight(engine, reader).records
        groups = risk.by_symbol(_experiences(engine, reader, spelt(symbol), engine.relative(file), hidden))
        groups = groups if everything else living(engine, reader, groups)
        found = [item for item in risk.assess_all(groups, engine.clock()) if everything or item.fails or item.successes]
        found = with_impact(engine, found)
        reports = [_report(reader, item, groups[item.symbol, item.file], everything) for item in found[:top]]
        seen = {one.id: one for one in judged(engine, [memory for report in reports for memory in report.memories])}
    return [report.replace(memories=tuple(seen[memory.id] for memory in report.memories)) for report in reports]


def _experiences(engine: Engine, reader: Reader, symbol: str, path: str, hidden: Sequence[str]) -> list[Experience]:
    """What happened to the symbols of that name, and to those that have got it since, or have come to that file."""
    found = list(reader.experiences(symbol, path, False, hidden))
    for old, name in former(engine, path, symbol):
        if name:
            found += exactly(reader, name, old, hidden)
    return list(dict.fromkeys(found))


def living(engine: Engine, reader: Reader, groups: Groups) -> Groups:
    """The occurrences of code that is there: what is known of code that is gone counts only for who asks for everything."""
    if engine.code is None:
        return groups
    with engine.code.read() as code:
        lost = set(code.lost())
    kept = dict(groups)
    for symbol, path in list(kept) if lost else ():
        if (path, symbol) in lost:
            group = kept.pop((symbol, path))
            astray = {one.id for one in judged(engine, reader.get(sorted({one.memory for one in group}))) if one.is_astray}
            if left := [one for one in group if one.memory not in astray]:
                kept[symbol, path] = left
    return kept


def _report(reader: Reader, item: Risk, group: list[Experience], everything: bool) -> SymbolReport:
    memories = [m for m in reader.get(sorted({e.memory for e in group})) if everything or m.status == "active"]
    memories.sort(key=lambda memory: (memory.updated_at, memory.number or 0), reverse=True)
    return SymbolReport(item, tuple(memories))


def risks(engine: Engine, file: str) -> list[Risk]:
    """The risk of every symbol that has active lessons, by risk and impact."""
    from hardwon.engine.impact import with_impact

    with Opened(engine):
        with engine.store.read() as reader:
            hidden = sight(engine, reader).records
            groups = living(engine, reader, risk.by_symbol(reader.experiences("", engine.relative(file), False, hidden)))
        found = [item for item in risk.assess_all(groups, engine.clock()) if item.fails or item.successes]
        return with_impact(engine, found)


def risk_of(engine: Engine, identifier: str) -> SymbolReport:
    """The risk of the symbol that a lesson was written for, as it stands now."""
    with engine.store.read() as reader:
        memory = reader.get([identifier])[0]
        anchor = memory.anchors[0]
        same = exactly(reader, anchor.symbol, anchor.path, sight(engine, reader).records)
    return SymbolReport(risk.assess(anchor.symbol, anchor.path, same, engine.clock()), (memory,))


def exactly(reader: Reader, symbol: str, path: str, hidden: Sequence[str]) -> list[Experience]:
    """Occurrences of this symbol in this file, but at no ``hidden`` place; an empty path means lessons without a file, not any file."""
    return [item for item in reader.experiences(symbol, path, True, hidden) if item.path == path]
