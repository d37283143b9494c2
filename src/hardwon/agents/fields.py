"""Fields of a payload that others wrote: of whatever type and size they are, the answer is of the type that is asked for, and bounded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WORD = 200  # characters of a name or an id; a session's name is kept so long (intake/shape.py)
PATH = 4_096
SAID = 65_536  # of what is said, run or printed
PASSAGE = 131_072  # of a text that an edit replaces or writes
MANY = 200  # items of a list


def text(payload: Mapping[str, object], *names: str, most: int = SAID) -> str:
    """The first of these fields that is a text and not empty, its first ``most`` characters; "" for none."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return clean(value[:most])
    return ""


def word(payload: Mapping[str, object], *names: str) -> str:
    """A name or an id: one line; numbers are taken too."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64:
            return str(value)
        if isinstance(value, str) and value.strip():
            return " ".join(clean(value[:WORD]).split())
    return ""


def path(payload: Mapping[str, object], *names: str) -> str:
    """A path as it is written; "" for one that is longer than any system takes, or has line breaks."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value.strip():
            found = clean(value[: PATH + 1])
            return "" if len(found) > PATH or "\n" in found else found
    return ""


def mapping(payload: Mapping[str, object], *names: str) -> dict[str, object]:
    """The first of these fields that is an object, or a text that holds one (some clients write arguments so); else an empty one."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, dict):
            return value
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            from hardwon.quick_json import loads

            try:
                held = loads(value.encode("utf-8", "replace"))
            except ValueError:
                continue
            if isinstance(held, dict):
                return held
    return {}


def mappings(payload: Mapping[str, object], *names: str) -> list[dict[str, object]]:
    """The objects in the first of these fields that is a list."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, list):
            return [item for item in value[:MANY] if isinstance(item, dict)]
    return []


def texts(payload: Mapping[str, object], *names: str) -> list[str]:
    """The texts in the first of these fields that is a list."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, list):
            return [clean(item[:PATH]) for item in value[:MANY] if isinstance(item, str) and item]
    return []


def number(payload: Mapping[str, object], *names: str) -> int | None:
    """The first of these fields that is a whole number of 32 bits."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31:
            return value
    return None


def flag(payload: Mapping[str, object], *names: str) -> bool:
    """Whether one of these fields is true, and nothing that only looks so."""
    return any(payload.get(name) is True for name in names)


def clean(value: str) -> str:
    """Without NUL, and without halves of surrogate pairs, which no database takes."""
    if value.isascii():
        return value.replace("\0", "") if "\0" in value else value
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def ends(value: str, most: int = SAID) -> str:
    """A long output cut in its middle: a quarter of what is kept from its beginning, the rest from its end, where failures are told."""
    if len(value) <= most:
        return clean(value)
    head = most // 4
    return clean(f"{value[:head]}\n…\n{value[head - most :]}")


def spoken(value: object, depth: int = 3) -> str:
    """The text of what a tool gave back: a text, parts of text in a list, or an object with them; "" for anything else."""
    if isinstance(value, str):
        return ends(value)
    if depth and isinstance(value, list):
        return ends("\n".join(filter(None, (spoken(item, depth - 1) for item in value[:MANY]))))
    if depth and isinstance(value, dict):
        streams = [value[name] for name in ("stdout", "stderr") if isinstance(value.get(name), str) and value[name]]
        if streams:
            return ends("\n".join(streams))
        for name in ("output", "text", "content", "result", "llmContent", "textResultForLlm", "error", "message"):
            if value.get(name):
                return spoken(value[name], depth - 1)
    return ""
