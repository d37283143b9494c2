"""What people read on a terminal, without what drives it.

Names of tests and files, messages of commits, lines of other tools' configuration: all of it comes from elsewhere, and may hold
sequences that colour, move, clear or rename what is on the screen, or turn round what is read. They are shown instead of sent, as JSON
writes them, so that JSON stays what it is.
"""

from __future__ import annotations

# C0 but for newline and tab, DEL, C1, and what turns the direction of writing.
_DRIVES = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_STAND_INS = {code: f"\\u{code:04x}" for code in _DRIVES}
_OF_A_LINE = {**_STAND_INS, 0x0A: "\\n", 0x09: " "}
_BEGIN = "\033["
_COLOURS = ("0m", "1m", "2m", "31m", "32m", "33m")  # as render.Paint writes them


def shown(text: str, colours: bool = False) -> str:
    """The text as it can be printed; with ``colours`` those that we write stay."""
    if text.replace("\n", "").isprintable():
        return text
    first, *rest = text.split(_BEGIN) if colours else [text]
    parts = [_plain(first)]
    for part in rest:
        colour = next((one for one in _COLOURS if part.startswith(one)), "")
        parts.append(_BEGIN + _plain(part) if colour else _plain(_BEGIN + part))
    return "".join(parts)


def in_one_line(text: str) -> str:
    """The same of what has to stay one line."""
    return text.translate(_OF_A_LINE)


def _plain(text: str) -> str:
    """Without anything that drives a terminal; the ends of lines of Windows do not."""
    return "\r\n".join(part.translate(_STAND_INS) for part in text.split("\r\n"))
