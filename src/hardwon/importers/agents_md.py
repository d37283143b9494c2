"""Memories as a passage for a file of instructions (AGENTS.md), which a client gives to its agent at each start. Written only: what
such files say is read as documents of the repository."""

from __future__ import annotations

from hardwon.importers.passages import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hardwon.types import ExportedMemory, Kind, Memory, Trust

# What goes there where nobody asks for something else: what holds, and only as far as it may be said unasked.
KINDS: tuple[Kind, ...] = ("rule", "decision", "howto", "lesson")
TRUSTS: tuple[Trust, ...] = ("confirmed", "proven")
# Characters. Every session pays for them, and clients cut what is longer.
LIMIT = 8_000
_LINE = 400
_TITLES: dict[Kind, str] = {
    "rule": "Rules", "decision": "Decisions", "howto": "How things are done", "lesson": "Lessons", "fact": "Facts", "attempt": "Attempts",
    "summary": "Sessions", "doc": "Documents",
}  # fmt: skip


def write(items: Iterable[ExportedMemory]) -> Iterator[str]:
    """The lines, by kind, in the order in which the memories came; what does not fit is counted."""
    kept: dict[Kind, list[str]] = {}
    room, left = LIMIT, 0
    for item in items:
        if not item.versions:
            continue
        line = _line(item.memory)
        if len(line) > room:
            left += 1
            continue
        room -= len(line) + 1
        kept.setdefault(item.memory.kind, []).append(line)
    for kind, title in _TITLES.items():
        if kind in kept:
            yield f"### {title}"
            yield ""
            yield from kept[kind]
            yield ""
    if left:
        yield f"{left} more: `hardwon recall`."


def _line(memory: Memory) -> str:
    places = ", ".join(f"`{anchor.symbol or anchor.path}`" for anchor in memory.anchors[:2] if anchor.symbol or anchor.path)
    said = [f"- {_plain(memory.text)}"]
    if memory.because:
        said.append(f"because {_plain(memory.because)}")
    if memory.rejected:
        said.append(f"not: {_plain('; '.join(memory.rejected))}")
    if memory.detail and memory.kind in ("lesson", "howto"):
        said.append(_plain(memory.detail))
    return "; ".join(said) + (f" ({places})" if places else "")


def _plain(text: str) -> str:
    """One line, which can neither end the block nor begin another one."""
    return shortened(" ".join(text.replace("<!--", "< !--").replace("-->", "-- >").split()), _LINE)
