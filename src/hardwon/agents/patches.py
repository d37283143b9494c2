"""Patches as agents write them: the ``*** Begin Patch`` form, and passages between SEARCH and REPLACE marks."""

from __future__ import annotations

from hardwon.agents.edits import PATCH
from hardwon.capture.event import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_END = "*** End Patch"
_MOST = 200


def parse(text: str) -> tuple[Edit, ...]:
    """The edits of a patch, one for each of its passages. Passages hold their context lines, so that they can be found in the file; what
    is not understood is left out."""
    edits: list[Edit] = []
    for head, path, target, lines in _files(text):
        if head == "Delete":
            edits.append(Edit(path, kind="delete"))
        elif head == "Add":
            edits.append(Edit(path, new="\n".join(line[1:] for line in lines if line[:1] == "+"), kind="whole"))
        else:
            edits += [Edit(path, old, new) for old, new in _passages(lines)]
            if target:
                edits.append(Edit(path, kind="move", target=target))
        if len(edits) >= _MOST:
            break
    return tuple(edits[:_MOST])


def _files(text: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """(Update, Add or Delete; path; new path; lines) of each file that a patch names."""
    head = path = target = ""
    lines: list[str] = []
    for line in text[text.find(PATCH) :].splitlines():
        if line.startswith("*** "):
            word, _, rest = line[4:].partition(" File: ")
            if rest and word in ("Update", "Add", "Delete"):
                if path:
                    yield head, path, target, lines
                head, path, target, lines = word, rest.strip(), "", []
                continue
            if line.startswith("*** Move to: "):
                target = line[13:].strip()
                continue
            if line.startswith(_END):
                break
        lines.append(line)
    if path:
        yield head, path, target, lines


def _passages(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The texts before and after of each part between ``@@`` lines."""
    old: list[str] = []
    new: list[str] = []
    for line in (*lines, "@@"):
        if line.startswith("@@"):
            if old != new:
                yield "\n".join(old), "\n".join(new)
            old, new = [], []
        elif line.startswith("***"):
            continue
        elif line[:1] == "-":
            old.append(line[1:])
        elif line[:1] == "+":
            new.append(line[1:])
        else:
            old.append(line[1:])
            new.append(line[1:])


def replacements(text: str) -> list[tuple[str, str]]:
    """The pairs of a text with blocks ``------- SEARCH``, ``=======``, ``+++++++ REPLACE`` (also with ``<<<<<<<`` and ``>>>>>>>``)."""
    pairs: list[tuple[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    into: list[str] | None = None
    for line in text.splitlines():
        mark = line.strip()
        if mark.endswith(" SEARCH") and mark[:5] in ("-----", "<<<<<"):
            old, new = [], []
            into = old
        elif into is old and mark.startswith("=====") and not mark.strip("="):
            into = new
        elif into is new and mark.endswith(" REPLACE") and mark[:5] in ("+++++", ">>>>>"):
            pairs.append(("\n".join(old), "\n".join(new)))
            into = None
            if len(pairs) >= _MOST:
                break
        elif into is not None:
            into.append(line)
    return pairs
