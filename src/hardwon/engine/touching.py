"""What a tool call touches: symbols and files of this repository, and the names of commands."""

from __future__ import annotations

import os

from hardwon.capture.changed_lines import differing, narrowed
from hardwon.code.ground import Files
from hardwon.engine.anchors import judge
from hardwon.engine.before import at_lines
from hardwon.errors import InvalidInput
from hardwon.types import Neighbour, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.capture.event import Edit, Event
    from hardwon.code.anchor import Judge
    from hardwon.engine.core import Engine

    Lines = tuple[int, int]

_MOST_EDITS = 50  # of one call
_LARGEST = 2_000_000  # bytes of a file that is compared with what is to be written
_MOST_NAMES = 20  # symbols of one edit


class Touched(Value):
    """``places``: what is touched, with weight 1; ``whole``: files that go or are written anew, with everything in them."""

    places: tuple[Neighbour, ...] = ()
    whole: tuple[str, ...] = ()


def touched(engine: Engine, event: Event) -> Touched:
    """What a call that is about to run touches; files outside of the repository are left out."""
    named: dict[tuple[str, str], None] = {}
    whole: dict[str, None] = {}
    for edit in event.edits[:_MOST_EDITS]:
        path = inside(engine, event, edit.path)
        target = inside(engine, event, edit.target) if edit.target else ""
        named |= dict.fromkeys((one, "") for one in (target,) if one)
        if path:
            ranges = _ranges(engine, path, edit)
            if ranges == []:
                continue
            found = _symbols(engine, path, ranges or (), "" if edit.kind == "whole" else edit.old or edit.new)
            named |= dict.fromkeys((path, symbol) for symbol in found or ("",))
            if ranges is None and edit.kind != "change":
                whole[path] = None
    named |= dict.fromkeys(("", name) for name in _commands(event))
    return Touched(_places(named), tuple(whole))


def touched_since(engine: Engine, event: Event) -> tuple[Neighbour, ...]:
    """What a call that has just run has touched."""
    named: dict[tuple[str, str], None] = {}
    for edit in event.edits[:_MOST_EDITS]:
        if path := inside(engine, event, edit.path):
            named |= dict.fromkeys((path, symbol) for symbol in symbols_of(engine, event, edit) or ("",))
    return _places(named | dict.fromkeys(("", name) for name in _commands(event)))


def _commands(event: Event) -> tuple[str, ...]:
    if event.tool != "shell" or not event.command:
        return ()
    from hardwon.capture.command_name import names

    return names(event.command)


def _places(named: Iterable[tuple[str, str]]) -> tuple[Neighbour, ...]:
    return tuple(Neighbour(path, symbol, 1.0, "") for path, symbol in named)


def symbols_of(engine: Engine, event: Event, edit: Edit) -> tuple[str, ...]:
    """The symbols that an edit which was just made touches."""
    path = inside(engine, event, edit.path)
    found = engine.lines_of(path, edit.new) if path and edit.kind == "change" and edit.new else None
    ranges = [found or edit.lines] if found or edit.lines else []
    return _symbols(engine, path, [one for one in ranges if one], f"{edit.old}\n{edit.new}")


def inside(engine: Engine, event: Event, path: str) -> str:
    """A file that an event names, relative to the repository; "" for one outside, or that can be none."""
    try:
        return engine.relative(_absolute(event.cwd, path))
    except InvalidInput:
        return ""


def _absolute(cwd: str, path: str) -> str:
    # The client's folder, where it tells one: a session may have gone into a subfolder since the engine was opened.
    return path if not cwd or os.path.isabs(path) or "\\" in path else os.path.join(cwd, path)


def _symbols(engine: Engine, path: str, ranges: Sequence[Lines], passage: str) -> tuple[str, ...]:
    """The symbols that lines of a file belong to, as it lies there: by the index of the code, else by what the passage declares, else by
    the declaration above it."""
    found: tuple[str, ...] = ()
    if ranges and (judging := _judge(engine)) is not None:
        found = tuple(place.symbol for place in at_lines(judging, path, ranges) if place.symbol)
    if not found and (passage or ranges):
        found = _by_text(engine, path, ranges, passage)
    return found[:_MOST_NAMES]


def _by_text(engine: Engine, path: str, ranges: Sequence[Lines], passage: str) -> tuple[str, ...]:
    from hardwon.capture.passages import symbols as declared_in  # not loaded where the index knows

    return declared_in(passage) or (_declared_above(engine, path, ranges[0][0]) if ranges else ())


def _judge(engine: Engine) -> Judge | None:
    """What knows the files; the caller holds the index open (``Opened``), so that this costs little."""
    if engine.code is None:
        return None
    with engine.code.read() as code:
        return judge(engine, code)


def _ranges(engine: Engine, path: str, edit: Edit) -> list[Lines] | None:
    """First and last of the lines that an edit changes; None where they are not known or it is all of them."""
    if edit.kind == "change":
        if edit.old and (found := engine.lines_of(path, edit.old)):
            return [narrowed(found, edit.old, edit.new)]
        return [edit.lines] if edit.lines else None
    if edit.kind == "whole" and (there := _read(engine, path)) is not None:
        return differing(there.splitlines(), edit.new.splitlines())
    return None


def _read(engine: Engine, path: str) -> str | None:
    """A file as it lies there; None for none, and for one that is too large to be compared or cannot be read."""
    if engine.place is None:
        return None
    try:
        content = Files(engine.place.checkout.root).content(path, _LARGEST)
    except OSError:
        return None
    return content.decode("utf-8", "replace") if content is not None else None


def _declared_above(engine: Engine, path: str, first: int) -> tuple[str, ...]:
    """The declaration that stands above a line of a file and less far in: of a language without a grammar that is what it belongs to."""
    from hardwon.capture.passages import symbols_above

    text = _read(engine, path)
    return symbols_above(text.splitlines()[:first]) if text else ()
