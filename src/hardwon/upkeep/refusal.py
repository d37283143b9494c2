"""Which calls are refused before they run: those at symbols that have failed too often, or that try again what failed. Pure."""

from __future__ import annotations

from hardwon.capture.command_name import MARK
from hardwon.code.names import same_symbol
from hardwon.upkeep.risk import INJECT_AT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.event import Event
    from hardwon.types import Anchor, Hit, Memory, Neighbour, Risk

_LEAST_CODE = 12  # characters of a passage that is compared with what failed before


def failed_at(hits: Sequence[Hit], places: Sequence[Neighbour], whole: Sequence[str]) -> list[tuple[str, str]]:
    """Path and symbol, as lessons name them, of the failures at the very symbols that a call touches (``places`` of weight 1), or in the
    files that it takes away or writes anew (``whole``)."""
    at = [place for place in places if place.weight == 1 and place.symbol]
    named: dict[tuple[str, str], None] = {}
    for hit in hits:
        if hit.memory.outcome == "failed" and hit.memory.kind in ("lesson", "attempt"):
            for anchor in hit.memory.anchors:
                if anchor.symbol and (_is_in(anchor, whole) or any(_is_at(anchor, place) for place in at)):
                    named[anchor.path, anchor.symbol] = None
    return list(named)


def _is_in(anchor: Anchor, files: Sequence[str]) -> bool:
    return (anchor.now_path or anchor.path) in files


def _is_at(anchor: Anchor, place: Neighbour) -> bool:
    if anchor.path and place.path and place.path not in (anchor.path, anchor.now_path):
        return False
    return any(same_symbol(name, place.symbol) for name in {anchor.now_symbol, anchor.symbol} if name)


def may_be(deny: str, risk: Risk) -> bool:
    """Whether a call at a symbol of that risk can be refused at all. ``deny``: one of settings.DENIALS."""
    return deny == "repeat" or (deny == "risk" and risk.score >= INJECT_AT)


def is_due(deny: str, event: Event, risk: Risk, memories: Sequence[Memory]) -> bool:
    """Whether a call is refused for a symbol; ``memories``: what may be said of it."""
    return may_be(deny, risk) and (deny == "risk" or _repeats(event, risk, memories))


def _repeats(event: Event, risk: Risk, memories: Sequence[Memory]) -> bool:
    """Whether this very call failed before: the command, if that has not worked since; or an edit that writes what a lesson of the symbol
    tells of."""
    if risk.symbol.startswith(MARK):
        return risk.last_fail is not None and (risk.last_success is None or risk.last_success < risk.last_fail)
    written = [text for edit in event.edits if len(text := _folded(edit.new)) >= _LEAST_CODE]
    # Of a failure that was set right the code is what helped (capture/lesson.py).
    tried = [_folded(memory.code) for memory in memories if memory.outcome == "failed" and "fix" not in memory.tags]
    return any(text in code or code in text for text in written for code in tried if len(code) >= _LEAST_CODE)


def _folded(code: str) -> str:
    """Code without white space; of a diff what it adds."""
    lines = code.splitlines()
    if any(line.startswith("+") for line in lines):
        lines = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
    return "".join("".join(lines).split())
