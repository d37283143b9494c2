"""Records of transcripts, one JSON object a line, read leniently and in bounded memory; and what was met on the way, in numbers."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from itertools import islice

from hardwon.importers.source import open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Characters of one text that go on: what is said, and what a call printed. The end of an output tells most, so more of it is kept.
LONGEST_TEXT = 65_536
_HEAD, _TAIL = 16_384, 49_152
_MOST_NAMES = 40  # of unknown records that are told apart
_OTHERS = "others"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  # datetime.UTC is another name for it
_LATEST = 253_402_300_799_999  # the end of the year 9999, in milliseconds


class Tally:
    """What was met in a source. ``records``: objects that were read; ``unknown``: those of kinds that nobody here knows, by kind;
    ``broken``: lines that are no object; ``too_long``: lines, files and values that are not read for their size; ``cut``: files whose
    last line is not finished; ``rewound``: records that a person took back by going on from an earlier point."""

    def __init__(self) -> None:
        self.records = 0
        self.broken = 0
        self.too_long = 0
        self.cut = 0
        self.rewound = 0
        self.unknown: dict[str, int] = {}

    def miss(self, kind: object) -> None:
        """One more record of a kind that is not known."""
        name = "".join(char for char in str(kind)[:60] if char.isprintable()) or "(none)"
        if name not in self.unknown and len(self.unknown) >= _MOST_NAMES:
            name = _OTHERS
        self.unknown[name] = self.unknown.get(name, 0) + 1


def objects(path: str, tally: Tally, most: int | None = None) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines, at most those of its first ``most`` lines. InvalidInput for what cannot be opened."""
    source = open_file(path)
    try:
        failed = False
        for _, line in islice(source.lines(), most):
            tally.broken += failed
            failed = False
            if line is None:
                tally.too_long += 1
                continue
            raw = line.strip(b"\0 \t")  # a file that was not synced before a power loss ends in zeros
            if not raw:
                continue
            found = parsed(raw)
            if isinstance(found, dict):
                tally.records += 1
                yield found
            else:
                failed = True
        tally.cut += failed  # the last line is being written, or its writer was killed
    finally:
        source.close()


def count_lines(path: str) -> int:
    """How many lines a file has now; InvalidInput for what cannot be opened."""
    source = open_file(path)
    try:
        return sum(1 for _ in source.lines())
    finally:
        source.close()


def parsed(raw: bytes | str) -> Any:
    """The value of a JSON text, None for what is none. Broken UTF-8 becomes U+FFFD; control characters in texts are let through."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


# --- values, whatever their types turn out to be


def inner(record: Any, *names: str) -> dict[str, Any]:
    """The object at the end of a path of keys; {} where there is none."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record if isinstance(record, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; [] for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def word(record: Any, *names: str) -> str:
    """The first text among these keys that is not empty."""
    for name in names:
        value = record.get(name) if isinstance(record, dict) else None
        if isinstance(value, str) and value:
            return value
    return ""


def whole_number(value: Any) -> int | None:
    """The value where it is a whole number (as text, too), None else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else None
    if isinstance(value, str) and len(value) < 17 and value.lstrip("-").isdecimal():
        return int(value)
    return None


def millis(value: Any, before: int) -> int:
    """A time as milliseconds since 1970: RFC 3339 (without a zone it is UTC), or a number of seconds or milliseconds; ``before`` for
    what is none."""
    if isinstance(value, str) and len(value) < 64:
        try:
            found = datetime.fromisoformat(value)
            found = found if found.tzinfo else found.replace(tzinfo=timezone.utc)  # noqa: UP017
            at = int((found - _EPOCH).total_seconds() * 1000)
        except (ValueError, OverflowError):
            return before
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST * 1000:
        at = int(value * 1000 if abs(value) < 1e11 else value)  # seconds until the year 5138
    else:
        return before
    return at if 0 < at <= _LATEST else before


def plain(value: Any) -> str:
    """The words of a text, or of a list of blocks of which some are text."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        found = [one if isinstance(one, str) else word(one, "text") for one in value]
        return "\n".join(one for one in found if one)
    return ""


def clipped(text: str) -> str:
    """A text with its middle left out where it is too long."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:_HEAD]}\n[…]\n{text[-_TAIL:]}"
