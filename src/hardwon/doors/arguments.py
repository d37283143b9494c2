"""Arguments of the Python door: what a method's annotations say is checked before anything is done, as the command line is parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import wraps
from inspect import Parameter, isfunction, signature

from hardwon.doors.parse import plain
from hardwon.doors.verbs import FORMATS_IN, FORMATS_OUT, TRANSCRIPTS
from hardwon.errors import InvalidInput
from hardwon.types import KINDS, LINKS, OUTCOMES, REASONS, STATUSES, TRUSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Class = TypeVar("Class", bound=type)
    Check = Callable[[str, Any], None]

_MOST = 1_000_000_000
_FAR = 100 * 31_536_000  # seconds
_LATEST = 253_402_300_800_000  # the year 10000, in milliseconds
# Texts that are one line without control characters, as on the command line.
_NAMES = frozenset(("file", "files", "session", "source", "only", "place", "lines", "commit", "job"))
_TIMES = frozenset(("since", "until"))


def checked(of: Class) -> Class:
    """The class, each public method of which refuses (InvalidInput) what its annotations do not allow."""
    for name, method in vars(of).items():
        if isfunction(method) and not name.startswith("_"):
            setattr(of, name, _checking(method))
    return of


def _checking(method: Callable[..., Any]) -> Callable[..., Any]:
    takes = signature(method)
    checks = {name: _CHECKS[parameter.annotation] for name, parameter in takes.parameters.items() if name != "self"}
    several = {name for name, parameter in takes.parameters.items() if parameter.kind is Parameter.VAR_POSITIONAL}

    @wraps(method)
    def check_first(*words: Any, **named: Any) -> Any:
        for name, value in takes.bind(*words, **named).arguments.items():
            if name == "self":
                continue
            for one in value if name in several else (value,):
                checks[name](name, one)
        return method(*words, **named)

    return check_first


def _refuse(name: str, value: Any, wanted: str) -> None:
    raise InvalidInput(f"{name} cannot be {ascii(value)[:80]}", field=name, remedy=f"give {wanted}")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        _refuse(name, value, "a text")
    if value and name in _NAMES:
        plain(value, name, name)


def _reference(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        _refuse(name, value, "a number, an id, a commit or another name of a memory")


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        _refuse(name, value, "True or False")


def _number(name: str, value: Any) -> None:
    least, most = (0, _LATEST) if name in _TIMES else (1, _MOST)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        what = "milliseconds since 1970" if name in _TIMES else "a whole number above 0"
        _refuse(name, value, what)


def _seconds(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _FAR:
        _refuse(name, value, "seconds, more than none and at most a hundred years")


def _mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        _refuse(name, value, "a mapping")


def _items(name: str, value: Any) -> None:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        _refuse(name, value, "several (id, text, metadata)")


def _texts(name: str, value: Any) -> None:
    _several(name, value)
    for one in value:
        _text(name, one)


def _several(name: str, value: Any) -> None:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):  # one text would count as its letters
        _refuse(name, value, "a list")


def _word(words: Sequence[str]) -> Check:
    def check(name: str, value: Any) -> None:
        if value not in words:
            _refuse(name, value, "one of: " + ", ".join(filter(None, words)))

    return check


def _words(words: Sequence[str]) -> Check:
    one = _word(words)

    def check(name: str, value: Any) -> None:
        _several(name, value)
        for item in value:
            one(name, item)

    return check


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


# What is recorded may be of any kind but a change, which only git tells of.
_CHECKS: dict[str, Check] = {
    "str": _text,
    "str | None": _or_none(_text),
    "str | int": _reference,
    "bool": _flag,
    "int": _number,
    "int | None": _or_none(_number),
    "float | None": _or_none(_seconds),
    "Mapping[str, Any] | None": _or_none(_mapping),
    "Sequence[str]": _texts,
    "Sequence[str] | None": _or_none(_texts),
    "Kind": _word(tuple(kind for kind in KINDS if kind != "change")),
    "Outcome | None": _or_none(_word(OUTCOMES)),
    "LinkKind": _word(LINKS),
    "Reason": _word(REASONS),
    "Sequence[Kind]": _words(KINDS),
    "Sequence[Outcome]": _words(OUTCOMES),
    "Sequence[Status]": _words(STATUSES),
    "Sequence[Trust]": _words(TRUSTS),
    "Sequence[TranscriptClient]": _words(TRANSCRIPTS),
    "FormatIn": _word(("", *FORMATS_IN)),
    "FormatOut": _word(tuple(form for form in FORMATS_OUT if form != "agents-md")),
    "Iterable[tuple[str, str, Mapping[str, Any]]]": _items,
}
