"""Why a call is stopped, in words: each symbol with its risk and its lessons, framed like every block of ours."""

from __future__ import annotations

from hardwon.search.pack import CLOSING, TAG, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.types import Memory, Risk, SymbolReport

ROOM = 2_000  # characters
_LESSONS = 6  # of one symbol
_DETAIL, _HEAD = 200, 400
_OPENING = f'<{TAG} note="Hardwon stopped this call once: what it changes has failed here before.">'
_LAST = "If the call is still right with this in mind, repeat it: it will not be stopped again in this session."


def stopped(reports: Sequence[SymbolReport]) -> tuple[str, tuple[SymbolReport, ...]]:
    """The text, and of the reports what stands in it: a lesson for which there is no room is neither. Only the very first one is cut, for
    nobody is stopped without a reason."""
    room = ROOM - len(_OPENING) - len(_LAST) - len(CLOSING) - 3
    lines: list[str] = []
    told: list[SymbolReport] = []
    for report in reports:
        head = _head(report.risk)
        left = room - len(head) - 1
        written, shown = _lessons(report, left, needed=not told)
        if shown:
            lines += [head, *written]
            told.append(report.replace(memories=shown))
            room = left - sum(len(entry) + 1 for entry in written)
    return "\n".join((_OPENING, *lines, _LAST, CLOSING)), tuple(told)


def _lessons(report: SymbolReport, room: int, *, needed: bool) -> tuple[list[str], tuple[Memory, ...]]:
    """The lessons of a symbol that fit, as text and as they are; failures first, then what worked."""
    lessons = sorted((one for one in report.memories if one.status == "active"), key=lambda one: one.outcome != "failed")
    written: list[str] = []
    shown: list[Memory] = []
    for memory in lessons:
        detail = memory.detail if len(memory.detail) <= _DETAIL else memory.detail[: _DETAIL - 1].rstrip() + "…"
        text = describe(memory.replace(detail=detail))
        if len(text) >= room and needed and not shown:
            text = text.partition("\n")[0][: room - 2].rstrip() + "…"
        if len(text) < room and len(shown) < _LESSONS:
            written.append(text)
            shown.append(memory)
            room -= len(text) + 1
    return written, tuple(shown)


def _head(risk: Risk) -> str:
    times = f"{risk.fails} failure{'s' * (risk.fails != 1)}, {risk.successes} success{'es' * (risk.successes != 1)}"
    place = " in ".join(filter(None, (risk.symbol, risk.file)))[:_HEAD]
    return _one_line(f"{place}: risk {risk.score:.1f} ({risk.level}), {times}")


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace(f"<{TAG}", f"‹{TAG}").replace(f"</{TAG}", f"‹/{TAG}")
