"""The words of a hook: what is told to an agent, within the room that the moment has."""

from __future__ import annotations

from hardwon.agents.answers import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Moment
    from hardwon.engine.advice import Advice

# Characters. Claude Code puts what is over 10,000 into a file, Codex cuts at some 2,500 tokens, Cursor drops it.
ROOM: dict[Moment, int] = {"start": 6_000, "prompt": 2_000}
_ROOM_OF_TOOLS = 800


def words(advice: Advice, moment: Moment) -> Say:
    """What to say at a moment; silence where there is nothing."""
    block = advice.block.block if advice.block else ""
    return Say(fitted(block, ROOM.get(moment, _ROOM_OF_TOOLS)) if block else "", advice.refusal)


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
