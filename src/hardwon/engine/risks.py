"""How risky symbols are: their occurrences from the store, the rule from ``upkeep``."""

from __future__ import annotations

from hardwon.engine.naming import spelt
from hardwon.types import SymbolReport
from hardwon.upkeep import risk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Experience, Risk


def query(engine: Engine, symbol: str, file: str, everything: bool, top: int | None) -> list[SymbolReport]:
    """Lessons and risk of the symbols that match (partly), riskiest first; without a symbol of all; at most ``top``."""
    with engine.store.read() as reader:
        groups = risk.by_symbol(reader.experiences(spelt(symbol), engine.relative(file), False))
        found = [item for item in risk.assess_all(groups, engine.clock()) if everything or item.fails or item.successes]
        return [_report(reader, item, groups[item.symbol, item.file], everything) for item in found[:top]]


def _report(reader: Reader, item: Risk, group: list[Experience], everything: bool) -> SymbolReport:
    memories = [m for m in reader.get(sorted({e.memory for e in group})) if everything or m.status == "active"]
    memories.sort(key=lambda memory: (memory.updated_at, memory.number or 0), reverse=True)
    return SymbolReport(item, tuple(memories))


def risks(engine: Engine, file: str) -> list[Risk]:
    """The risk of every symbol that has active lessons, riskiest first."""
    with engine.store.read() as reader:
        groups = risk.by_symbol(reader.experiences("", engine.relative(file), False))
    return [item for item in risk.assess_all(groups, engine.clock()) if item.fails or item.successes]


def risk_of(engine: Engine, identifier: str) -> SymbolReport:
    """The risk of the symbol that a lesson was written for, as it stands now."""
    with engine.store.read() as reader:
        memory = reader.get([identifier])[0]
        anchor = memory.anchors[0]
        same = exactly(reader, anchor.symbol, anchor.path)
    return SymbolReport(risk.assess(anchor.symbol, anchor.path, same, engine.clock()), (memory,))


def exactly(reader: Reader, symbol: str, path: str) -> list[Experience]:
    """Occurrences of this symbol in this file; an empty path means lessons without a file, not any file."""
    return [item for item in reader.experiences(symbol, path, True) if item.path == path]
