"""A command line into a request, straight from the table of verbs: what was said, not yet what is meant.

Our own hundred lines, because click costs three interpreter starts and argparse one (docs/decisions/0002); click still writes
the help pages and the completion, from the same table.
"""

from __future__ import annotations

from hardwon.doors.verbs import GLOBALS, NAMES, row
from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardwon.doors.verbs import Argument, Option, Verb

_AGES = {"m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31_536_000}
_FAR = 100 * 31_536_000


class Request(Value):
    """``verb`` is None where only help was asked for. ``given`` holds what was said, by the name of the option or argument."""

    verb: Verb | None
    given: Mapping[str, object]
    help: bool = False
    version: bool = False

    def text(self, name: str) -> str:
        """A text, "" when it was not given."""
        return str(self.given.get(name) or "")

    def texts(self, name: str) -> tuple[str, ...]:
        """Everything that was given for a repeatable one."""
        found = self.given.get(name, ())
        return tuple(found) if isinstance(found, list) else ()

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return bool(self.given.get(name))

    def number(self, name: str, default: int) -> int:
        """A number, or the default; ages are in seconds."""
        found = self.given.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) else default


def parse(words: Sequence[str]) -> Request:
    """The request that the words make; InvalidInput says which word is wrong."""
    given: dict[str, object] = {}
    rest = list(reversed(words))  # the next one last: taking the first of a list moves all the others
    verb: Verb | None = None
    positional: list[str] = []
    options_end = False
    while rest:
        word = rest.pop()
        if options_end or word == "-" or not word.startswith("-") or _is_negative_number(word):
            if verb is None and word == "help":
                return Request(_verb(rest[-1]) if rest else None, given, help=True)
            if verb is None:
                verb = _verb(word)
            else:
                positional.append(word)
        elif word == "--":
            options_end = True
        elif word in ("--help", "-h"):
            return Request(verb, given, help=True)
        elif word in ("--version", "-V") and verb is None:
            return Request(None, given, version=True)
        else:
            _take_option(word, rest, verb, given)
    if verb is None:
        return Request(None, given, help=True)
    _take_arguments(verb, positional, given)
    return Request(verb, given)


def _is_negative_number(word: str) -> bool:
    return word[1:].isdigit()


def _verb(word: str) -> Verb:
    found = row(word)
    if found is None:
        raise InvalidInput(f"there is no verb {word[:60]!r}", field="verb", remedy=_nearest(word, list(NAMES)))
    return found


def _take_option(word: str, rest: list[str], verb: Verb | None, given: dict[str, object]) -> None:
    known = GLOBALS + (verb.options if verb else ())
    name, equals, value = word.partition("=")
    attached = ""
    if not name.startswith("--") and len(name) > 2:
        name, attached = name[:2], word[2:]
    option = next((item for item in known if name in (f"--{item.name}", f"-{item.short}") and name != "-"), None)
    if option is None:
        names = [f"--{item.name}" for item in known]
        what = f"`{verb.name}` has no option" if verb else "there is no option before the verb called"
        raise InvalidInput(f"{what} {name[:60]!r}", field="option", remedy=_nearest(name, names))
    if option.form == "flag":
        if equals or attached:
            raise InvalidInput(f"--{option.name} takes no value", field=option.name, remedy=f"write --{option.name} alone")
        given[option.name] = True
        return
    text = attached or value
    if not attached and not equals:
        if not rest or _is_option(rest[-1], known):
            raise InvalidInput(f"--{option.name} needs a value", field=option.name, remedy=f"--{option.name} {option.metavar}")
        text = rest.pop()
    _store(option, convert(option, text), given)


def _is_option(word: str, known: tuple[Option, ...]) -> bool:
    """Whether a word is an option, so that it is not the value that another one lacks; a value of that form is given with ``=``."""
    name = word.partition("=")[0]
    return word == "--" or any(name in (f"--{item.name}", f"-{item.short}") for item in known if name != "-")


def _store(option: Option, value: object, given: dict[str, object]) -> None:
    if option.many:
        several = given.setdefault(option.name, [])
        if isinstance(several, list):
            several.append(value)
    else:
        given[option.name] = value


def convert(option: Option, text: str) -> object:
    """The value that a text means for an option; InvalidInput where it cannot be one."""
    if option.form == "number":
        if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) <= 1_000_000_000 and len(text) < 12):
            raise InvalidInput(
                f"--{option.name} takes a whole number above 0, not {text[:60]!r}",
                field=option.name,
                remedy=f"--{option.name} 10",
            )
        return int(text)
    if option.form == "age":
        return _age(option, text)
    if option.form == "moment":
        return _moment(option, text)
    if option.form == "name":
        return plain(text, f"--{option.name}", option.name)
    if option.choices and text not in option.choices:
        raise InvalidInput(
            f"--{option.name} cannot be {text[:60]!r}", field=option.name, remedy="one of: " + ", ".join(option.choices)
        )
    return text


def plain(text: str, what: str, field: str) -> str:
    """A name as it is. InvalidInput for an empty one (an unset variable of a script: it would widen what is meant), for control
    characters and line breaks, and for bytes that are no UTF-8: no name here holds them."""
    if not text.strip():
        raise InvalidInput(f"{what} is empty", field=field, remedy="leave it out, or give it a value")
    if not text.isprintable() and any(
        char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" or "\ud800" <= char <= "\udfff" for char in text
    ):
        raise InvalidInput(
            f"{what} is not one line of plain text: {text[:60]!a}", field=field, remedy="leave out line breaks and escapes"
        )
    return text


def _age(option: Option, text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if unit in _AGES and number.isascii() and number.isdigit() and len(number) < 7 and 0 < int(number) * _AGES[unit] <= _FAR:
        return int(number) * _AGES[unit]
    raise InvalidInput(f"--{option.name} takes an age, not {text[:60]!r}", field=option.name, remedy="such as 12h, 30d, 8w or 1y")


def _moment(option: Option, text: str) -> int:
    """An age as the negative of its seconds, a date (with or without a time of day, UTC) as its seconds since 1970."""
    if text[-1:] in _AGES:
        return -_age(option, text)
    from datetime import UTC, datetime

    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or not 1970 <= at.year <= 9000:
        raise InvalidInput(
            f"--{option.name} takes a date or an age, not {text[:60]!r}",
            field=option.name,
            remedy="such as 2026-01-31, 30d or 12h",
        )
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def _take_arguments(verb: Verb, words: list[str], given: dict[str, object]) -> None:
    rest = list(words)
    for argument in verb.arguments:
        taken, rest = _take_argument(argument, rest)
        if argument.required and not any(map(str.strip, taken)):
            raise InvalidInput(f"`{verb.name}` needs {argument.name.upper()}", field=argument.name, remedy=verb.examples[0])
        if argument.form == "name":
            for word in taken:
                plain(word, argument.name.upper(), argument.name)
        elif taken and not any(map(str.strip, taken)):
            plain("", argument.name.upper(), argument.name)
        if argument.many and not argument.joined:
            given[argument.name] = taken
        elif taken:
            given[argument.name] = " ".join(taken)
    if rest:
        raise InvalidInput(f"`{verb.name}` does not take {rest[0][:60]!r}", field="arguments", remedy=verb.examples[0])


def _take_argument(argument: Argument, words: list[str]) -> tuple[list[str], list[str]]:
    return (words, []) if argument.many else (words[:1], words[1:])


def _nearest(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word[:60], names, 1)
    return f"did you mean {close[0]}?" if close else "one of: " + ", ".join(names)
