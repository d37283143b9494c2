"""The words of a hook: what is told to an agent, within the room that the moment has."""

from __future__ import annotations

from hardwon.agents.answers import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Moment
    from hardwon.engine.advice import Advice
    from hardwon.types import Risk, SymbolReport

# Characters. Claude Code puts what is over 10,000 into a file, Codex cuts at some 2,500 tokens, Cursor drops it.
ROOM: dict[Moment, int] = {"start": 6_000, "prompt": 2_000}
_ROOM_OF_TOOLS = 800
ROOM_OF_REFUSAL = 2_000
_LESSONS = 6  # of one symbol
_DETAIL = 200
_CLOSING = "If the call is still right with this in mind, repeat it: it will not be stopped again in this session."


def words(advice: Advice, moment: Moment) -> Say:
    """What to say at a moment; silence where there is nothing."""
    block = advice.block.block if advice.block else ""
    context = fitted(block, ROOM.get(moment, _ROOM_OF_TOOLS)) if block else ""
    if not (advice.refuse and advice.reports):
        return Say(context)
    return Say(context, refusal(advice.reports))


def refusal(reports: tuple[SymbolReport, ...]) -> str:
    """Why a call is stopped: each symbol with its risk and its lessons, framed like every block of ours."""
    from hardwon.search.pack import CLOSING, TAG

    opening = f'<{TAG} note="Hardwon stopped this call once: what it changes has failed here before.">'
    room = ROOM_OF_REFUSAL - len(opening) - len(CLOSING) - len(_CLOSING) - 3
    lines: list[str] = []
    for report in reports:
        for line in _of_symbol(report):
            if len(line) + 1 > room:
                return "\n".join((opening, *lines, _CLOSING, CLOSING))
            lines.append(line)
            room -= len(line) + 1
    return "\n".join((opening, *lines, _CLOSING, CLOSING))


def _of_symbol(report: SymbolReport) -> list[str]:
    from hardwon.search.pack import describe

    told = [_head(report.risk)]
    lessons = [memory for memory in report.memories if memory.status == "active"]
    lessons.sort(key=lambda memory: memory.outcome != "failed")  # stable: the newest failures first, then what worked
    for memory in lessons[:_LESSONS]:
        detail = memory.detail if len(memory.detail) <= _DETAIL else memory.detail[: _DETAIL - 1].rstrip() + "…"
        told += describe(memory.replace(detail=detail)).splitlines()
    return told


def _head(risk: Risk) -> str:
    times = f"{risk.fails} failure{'s' * (risk.fails != 1)}, {risk.successes} success{'es' * (risk.successes != 1)}"
    place = " in ".join(filter(None, (risk.symbol, risk.file)))
    return _one_line(f"{place}: risk {risk.score:.1f} ({risk.level}), {times}")


def _one_line(text: str) -> str:
    from hardwon.search.pack import TAG

    return " ".join(text.split()).replace(f"<{TAG}", f"‹{TAG}").replace(f"</{TAG}", f"‹/{TAG}")


def fitted(block: str, most: int) -> str:
    """A block within ``most`` characters: its last memories are left out, the frame stays whole; "" where not even one fits."""
    if len(block) <= most:
        return block
    opening, *lines, closing = block.splitlines()
    entries: list[list[str]] = []
    for line in lines:
        if line[:1].isspace() and entries:
            entries[-1].append(line)  # what belongs to a memory is indented below it
        else:
            entries.append([line])
    room = most - len(opening) - len(closing) - 2
    kept: list[str] = []
    for entry in entries:
        text = "\n".join(entry)
        if len(text) + 1 > room:
            text = entry[0]  # its head without its details
        if len(text) + 1 > room:
            break
        kept.append(text)
        room -= len(text) + 1
    if not kept and entries:
        kept = [entries[0][0][: room - 1].rstrip() + "…"]
    return "\n".join((opening, *kept, closing)) if room > 0 or kept else ""
