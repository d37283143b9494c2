"""A block of ours between two marks, in a Markdown file that belongs to somebody else."""

from __future__ import annotations


def marks(name: str = "") -> tuple[str, str]:
    """The lines that begin and end a block; each block of a file has a name of its own, "" for the instructions."""
    middle = f"{name}:" if name else ""
    return f"<!-- hardwon:{middle}begin -->", f"<!-- hardwon:{middle}end -->"


def find(text: str, name: str = "") -> tuple[int, int] | None:
    """Where the block begins, and where it ends behind its last mark; None where there is none, or half of one."""
    begin, end = marks(name)
    start = text.find(begin)
    stop = text.find(end, start)
    return (start, stop + len(end)) if start >= 0 and stop >= 0 else None


def put(text: str, content: str, name: str = "") -> str:
    """The text with the block: in place of the one that is there, else at the end behind an empty line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    begin, end = marks(name)
    block = newline.join((begin, *content.strip().splitlines(), end))
    place = find(text, name)
    if place:
        return text[: place[0]] + block + text[place[1] :]
    gap = "" if not text.strip("\ufeff") else newline if text.endswith("\n") else newline * 2
    return text + gap + block + newline


def remove(text: str, name: str = "") -> str:
    """The text without the block and the empty line before it."""
    place = find(text, name)
    if not place:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    before, behind = text[: place[0]], text[place[1] :].removeprefix(newline)
    return before.removesuffix(newline) + behind if before.endswith(newline * 2) else before + behind
