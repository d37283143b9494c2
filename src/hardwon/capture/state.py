"""What is known of a session while it goes on: edits, failures that are open, what passed. Plain JSON and back, and bounded."""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST = 64_000  # bytes of a state as JSON
_VERSION = 1
# How many of each are kept, the newest.
EDITS, OPEN, GREENS, PENDING, SEEN, ASKED, DECIDED, TOLD, AHEAD = 60, 24, 24, 32, 96, 12, 16, 40, 16
PASSAGE = 600  # characters of each side of an edit


class Change(Value):
    """An edit that was made: the ``number``-th of the session. ``path`` from the project's top where it lies below; ``symbols`` that it
    touches; ``old`` and ``new`` cut short; ``undone``: it was taken back since; ``undoes``: the number of the first one that it takes
    back, else 0; ``turn``: the prompts before it; ``agent`` who made it."""

    number: int
    at: int
    path: str
    symbols: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    old: str = ""
    new: str = ""
    agent: str = ""
    undone: bool = False
    undoes: int = 0
    whole: bool = False
    turn: int = 0


class Red(Value):
    """A failure that is open. ``check`` is the key of the command that showed it, ``test`` the test's name ("" where none is named),
    ``edits`` how many edits had been made when it was first seen, ``world`` how often anything else had changed; ``last`` the edits
    at the last time; ``tries``: the edit counts at which it came back after new edits; ``green_edits``: the edits at the last run of this
    session on which the same had passed, -1 where it had not; ``places`` (path, symbol) as they were told when it was raised;
    ``compiled``: a compiler said it, and nothing ran; ``raced``: another test has shown it in this one's place; ``folder``: where the
    command ran."""

    check: str
    kind: str
    runner: str
    shown: str
    targets: tuple[str, ...]
    test: str
    error: str
    message: str
    signature: str
    file: str
    frames: tuple[tuple[str, int, str], ...]
    passage: str
    at: int
    edits: int
    world: int
    last: int
    tries: tuple[int, ...] = ()
    green_edits: int = -1
    places: tuple[tuple[str, str], ...] = ()
    narrow: str = ""
    compiled: bool = False
    raced: bool = False
    folder: str = ""


class Green(Value):
    """A check that passed last: ``edits`` and ``world`` as for a failure; ``names`` of tests that it told to have passed; ``but``: those of
    its tests that failed all the same; ``shown``: the whole command."""

    check: str
    runner: str
    targets: tuple[str, ...]
    narrow: str
    edits: int
    world: int
    at: int
    names: tuple[str, ...] = ()
    kind: str = "test"
    but: tuple[str, ...] = ()
    shown: str = ""


class Said(Value):
    """Something that was decided or asked for in the session: ``kind`` decision, rule or wrong."""

    kind: str
    text: str
    at: int
    subject: str = ""


class State(Value):
    """A session so far. ``root``: the folder that paths are relative to; ``edited`` counts edits, ``world`` whatever else changed files or
    the machine, ``turn`` the prompts; ``pending``: calls under way as (call, edits, world) at their beginning; ``seen``: calls that
    were told, so that being told twice counts once; ``asked`` prompts, cut short; ``files``: (path, symbols) of all edits; ``told``: texts
    of lessons; ``words``: the agent's last ones; ``ahead``: files of tests that missed names of code that was not written yet."""

    root: str = ""
    started: int = 0
    ended: int = 0
    edited: int = 0
    world: int = 0
    turn: int = 0
    changes: tuple[Change, ...] = ()
    open: tuple[Red, ...] = ()
    greens: tuple[Green, ...] = ()
    pending: tuple[tuple[str, int, int], ...] = ()
    seen: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    decided: tuple[Said, ...] = ()
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()
    told: tuple[str, ...] = ()
    words: str = ""
    passed: int = 0
    failed: int = 0
    branch: str = ""
    ahead: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The state as JSON of at most 64,000 bytes: what is oldest goes first."""
        from hardwon.quick_json import dumps

        state = self
        while True:
            row = {"version": _VERSION, **{name: _plain(getattr(state, name)) for name in self._fields}}
            text = dumps(row, ascii_only=False)
            if len(text.encode("utf-8", "replace")) <= LARGEST:
                return text.encode("utf-8", "replace").decode("utf-8")
            state = _smaller(state)

    @classmethod
    def from_json(cls, text: str) -> State:
        """What ``to_json`` wrote; an empty state for what it did not write, or another version did."""
        from hardwon.quick_json import loads

        try:
            row = loads(text.encode("utf-8", "replace"))
            if not isinstance(row, dict) or row.pop("version", None) != _VERSION:
                return cls()
            return _read(cls, row)
        except (ValueError, TypeError):
            return cls()


_INNER: dict[str, type[Value]] = {"changes": Change, "open": Red, "greens": Green, "decided": Said}


def _read(cls: type[State], row: dict[str, Any]) -> State:
    values: dict[str, Any] = {}
    for name, default in cls._defaults.items():
        if name not in row:
            continue
        value = _tupled(row[name])
        if name in _INNER:
            value = tuple(_made(_INNER[name], one) for one in value)
        if type(value) is not type(default):
            raise ValueError(f"{name} is no {type(default).__name__}")
        values[name] = value
    return cls(**values)


def _made(kind: type[Value], row: tuple[Any, ...]) -> Value:
    if not len(kind._fields) - len(kind._defaults) <= len(row) <= len(kind._fields):
        raise ValueError(f"a {kind.__name__} has {len(kind._fields)} values")
    made = kind(*row)
    for name in kind._fields:
        default, value = kind._defaults.get(name), getattr(made, name)
        if default is not None and type(value) is not type(default):
            raise ValueError(f"{name} is no {type(default).__name__}")
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        return [_plain(getattr(value, name)) for name in value._fields]
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _tupled(value: Any) -> Any:
    return tuple(_tupled(one) for one in value) if isinstance(value, list) else value


def _smaller(state: State) -> State:
    """Half of what takes the most room gone, the oldest."""
    sizes = {
        name: len(repr(getattr(state, name))) for name, default in State._defaults.items() if isinstance(default, (tuple, str))
    }
    name = max(sizes, key=lambda one: sizes[one])
    value = getattr(state, name)
    smaller: State = state.replace(**{name: value[-(len(value) // 2) :] if len(value) > 1 else type(value)()})
    return smaller
