"""Values out of JSON that others wrote, each of the type that is asked for; InvalidInput says what is wrong with one."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone

from hardwon.errors import InvalidInput
from hardwon.importers.source import LONGEST_LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  # datetime.UTC is another name for it
_MILLISECOND = timedelta(milliseconds=1)
_MOST = 10_000  # of what is counted: each is an entry of the journal


def parsed(raw: bytes | None) -> dict[str, Any]:
    """A line as an object; InvalidInput says what is wrong with it."""
    if raw is None:
        raise bad(f"the line is longer than {LONGEST_LINE >> 20} MB")
    value = parsed_value(raw)
    if not isinstance(value, dict):
        raise bad(f"not an object, but {_called(value)}")
    return value


def parsed_value(raw: bytes) -> Any:
    """JSON proper, of any type: no NaN, no key twice; InvalidInput says what is wrong with it."""
    try:
        return json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise bad(f"not UTF-8: {error}") from error
    except RecursionError as error:
        raise bad("nested too deeply") from error
    except ValueError as error:
        raise bad(f"not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def is_identifier(text: str) -> bool:
    """Whether a text is a UUID in lower case, as memories have."""
    return bool(_UUID.fullmatch(text))


class Fields:
    """An object of a line; each call answers with the default where a key is missing or null, and InvalidInput for a wrong type."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def has(self, name: str) -> bool:
        """Whether the key is there."""
        return name in self._data

    def flag(self, name: str) -> bool:
        """A truth value."""
        return bool(self._of(name, bool, False))

    def text(self, name: str) -> str:
        """A text."""
        return str(self._of(name, str, ""))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(Fields({name: item}).text(name) for item in self._list(name))

    def count(self, name: str) -> int:
        """A whole number from 0 to 10,000."""
        value = self._of(name, int, 0)
        if isinstance(value, bool) or not 0 <= value <= _MOST:
            raise bad(f"{name} is not a number from 0 to {_MOST:,}")
        return int(value)

    def word(self, name: str, words: tuple[str, ...], default: Any) -> Any:
        """A word of a closed set."""
        value = self._of(name, str, default)
        if value is not default and value not in words:
            raise bad(f"{name} cannot be {value[:60]!r}")
        return value

    def identifier(self, name: str) -> str:
        """A UUID in lower case, or ""."""
        value = self.text(name)
        if value and not is_identifier(value):
            raise bad(f"{name} {value[:60]!r} is not a UUID in lower case")
        return value

    def moment(self, name: str) -> int | None:
        """A time with its zone, in milliseconds."""
        value = self._of(name, str, None)
        return None if value is None else to_millis(value, name)

    def metadata(self) -> str:
        """The caller's own object, as text."""
        value = self._data.get("metadata")
        if value is None or isinstance(value, str):
            return value or ""
        if not isinstance(value, dict):
            raise bad(f"metadata must be an object, not {_called(value)}")
        return json.dumps(value)

    def inner(self, name: str) -> Fields:
        """An object inside."""
        return Fields(self._of(name, dict, {}))

    def inners(self, name: str) -> list[Fields]:
        """A list of objects."""
        return [Fields({name: item}).inner(name) for item in self._list(name)]

    def _list(self, name: str) -> list[Any]:
        found = self._of(name, list, [])
        if any(item is None for item in found):
            raise bad(f"{name} lists null")
        return list(found)

    def _of(self, name: str, kind: type, default: Any) -> Any:
        value = self._data.get(name)
        if value is None:
            return default
        if not isinstance(value, kind):
            raise bad(f"{name} must be {_NAMES[kind]}, not {_called(value)}")
        return value


_NAMES: dict[type, str] = {
    str: "text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip


def _called(value: Any) -> str:
    return _NAMES[type(value)]


def to_millis(text: str, name: str) -> int:
    """An RFC 3339 time as milliseconds since 1970; InvalidInput for one without a zone or out of the years 1970 to 9999."""
    try:
        found = datetime.fromisoformat(text)
        at = (found - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError, TypeError) as error:  # TypeError: without a zone
        raise bad(f"{name} {text[:60]!r} is not a time such as 2026-07-24T09:30:00.125Z") from error
    if at < 0:
        raise bad(f"{name} {text[:60]!r} is before 1970")
    return at


def moment(at: int | None) -> str | None:
    """RFC 3339 in UTC, to the millisecond."""
    if at is None:
        return None
    return (_EPOCH + timedelta(milliseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"


def bad(what: str) -> InvalidInput:
    """The error for a line that cannot be used."""
    return InvalidInput(what, field="line", remedy="correct the line, or leave it out")
