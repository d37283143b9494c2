"""A made repository of Python and Go functions of which everything is known: what was edited, renamed, moved, deleted, laid out anew.

A *state* is which file holds which functions. Each function has a number of its own for life, so that what became of it is known
without looking for it. Every statement has names that no other has, so that equal code, or only similar one, is never a chance.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

_LIKED = 0.6
SHORT = 1  # statements of a function that is too short to be known again by its code alone
_ROOTS = ("load", "send", "parse", "merge", "check", "store", "fetch", "score", "split", "close", "apply", "print")


class Function(NamedTuple):
    """``statements`` and how many of them, after the first, stand in a condition (``guarded``, at most 2) are its code; ``layout`` is a
    seed of comments, blank lines and breaks."""

    number: int
    name: str
    statements: tuple[str, ...]
    guarded: int
    layout: int = 0

    @property
    def code(self) -> tuple[object, ...]:
        """What it means, without its name and layout."""
        return self.statements, self.guarded


State = Mapping[str, tuple[Function, ...]]


class Seen(NamedTuple):
    """What is true of a function that was pinned: same, moved, changed or gone, and where it is."""

    state: str
    path: str = ""
    name: str = ""


def seen(pinned: Function, path: str, state: State) -> Seen:
    """What became of a function that was at a path."""
    found = {one.number: (where, one) for where, held in state.items() for one in held}.get(pinned.number)
    if found is None:
        return Seen("gone")
    where, now = found
    if now.code != pinned.code:
        return Seen("changed", where, now.name)
    return Seen("same" if (where, now.name) == (path, pinned.name) else "moved", where, now.name)


def text_of(path: str, held: tuple[Function, ...]) -> str:
    """A file as it is written."""
    python = path.endswith(".py")
    head = ['"""Made for a test."""\n'] if python else ["package made\n"]
    return "\n".join([*head, *(_python(one) if python else _go(one) for one in held)])


def _python(one: Function) -> str:
    layout = random.Random(one.layout)
    value, other = f"value{one.number}", f"other{one.number}"
    lines = [f"def {one.name}({value}, {other}):", *_noise(layout, "    # ")]
    for place, text in enumerate(one.statements):
        if place == 1 and one.guarded:
            lines.append(f"    if {value} > {other}:")
        lines += _laid(layout, "        " if 1 <= place <= one.guarded else "    ", text, "#")
    return "\n".join([*lines, f"    return {value}", "", ""])


def _go(one: Function) -> str:
    layout = random.Random(one.layout)
    value, other = f"value{one.number}", f"other{one.number}"
    lines = [f"func {one.name}({value} int, {other} int) int {{", *_noise(layout, "\t// ")]
    for place, text in enumerate(one.statements):
        if place == 1 and one.guarded:
            lines.append(f"\tif {value} > {other} {{")
        lines += _laid(layout, "\t\t" if 1 <= place <= one.guarded else "\t", text, "//")
        if place and place == one.guarded:
            lines.append("\t}")
    return "\n".join([*lines, f"\treturn {value}", "}", ""])


def _noise(layout: random.Random, lead: str) -> list[str]:
    return [f"{lead}Note {layout.randrange(1000)}"] if layout.random() < 0.4 else []


def _laid(layout: random.Random, lead: str, text: str, mark: str) -> list[str]:
    """A statement in one or more lines. Breaks are after an opening bracket and a comma, where both languages let them be."""
    lines = [""] if layout.random() < 0.2 else []
    inner = lead + ("    " if mark == "#" else "\t")
    broken = layout.random() < 0.25 and "(" in text
    laid = text.replace("(", f"(\n{inner}").replace(", ", f",\n{inner}") if broken else text
    if layout.random() < 0.2:
        laid = laid.replace(" + ", "+")
    tail = f"  {mark} {layout.randrange(1000)}" if layout.random() < 0.2 else ""
    return [*lines, *(lead + laid + tail).split("\n")]


class Maker:
    """Makes and changes functions by chance. All methods give a new state, or None where they cannot be done."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.favourites: set[int] = set()  # numbers of functions that are changed more often than others
        self._next = 100

    def first(self, files: int = 4, functions: int = 4) -> State:
        """A state to begin with."""
        state: dict[str, tuple[Function, ...]] = {}
        for place in range(files):
            state[self._path(".go" if place % 2 else ".py")] = tuple(self._function() for _ in range(functions))
        return state

    def edit(self, state: State) -> State | None:
        """Another statement, one more or one less."""
        return self._one(state, lambda one: one._replace(statements=self._edited(one.statements)))

    def indent(self, state: State) -> State | None:
        """A statement enters or leaves the condition: in Python nothing but white space changes."""
        path, one = self._pick(state)
        if not one.guarded:
            return None
        changed = one._replace(guarded=3 - one.guarded)
        return {**state, path: tuple(changed if other == one else other for other in state[path])}

    def lay_out(self, state: State) -> State | None:
        """Comments, blank lines and breaks."""
        return self._one(state, lambda one: one._replace(layout=self.number()))

    def rename(self, state: State) -> State | None:
        """Another name."""
        return self._one(state, lambda one: one._replace(name=self._name()))

    def delete(self, state: State) -> State | None:
        """Take one away."""
        path, one = self._pick(state)
        return {**state, path: tuple(other for other in state[path] if other != one)} if len(state[path]) > 1 else None

    def add(self, state: State) -> State | None:
        """A new one, somewhere in a file."""
        path, _ = self._pick(state)
        place = self.random.randrange(len(state[path]) + 1)
        return {**state, path: (*state[path][:place], self._function(), *state[path][place:])}

    def move(self, state: State) -> State | None:
        """Into another file of its language."""
        path, one = self._pick(state)
        others = [other for other in state if other != path and other.endswith(path[-3:])]
        if not others or len(state[path]) < 2:
            return None
        other = self.random.choice(others)
        return {**state, path: tuple(left for left in state[path] if left != one), other: (*state[other], one)}

    def rename_file(self, state: State) -> State | None:
        """Another path for a file."""
        path, _ = self._pick(state)
        fresh = self._path(path[-3:])
        return {fresh if name == path else name: held for name, held in state.items()}

    def number(self) -> int:
        """A number that was not used."""
        self._next += self.random.randrange(1, 9)
        return self._next

    def _one(self, state: State, change: Callable[[Function], Function]) -> State:
        path, one = self._pick(state)
        return {**state, path: tuple(change(other) if other == one else other for other in state[path])}

    def _pick(self, state: State) -> tuple[str, Function]:
        liked = [(path, one) for path, held in sorted(state.items()) for one in held if one.number in self.favourites]
        if liked and self.random.random() < _LIKED:
            return self.random.choice(liked)
        path = self.random.choice(sorted(path for path in state if state[path]))
        return path, self.random.choice(state[path])

    def _function(self) -> Function:
        size = SHORT if self.random.random() < 0.15 else self.random.randint(4, 7)
        guarded = self.random.randrange(3) if size > SHORT else 0
        return Function(self.number(), self._name(), tuple(self._statement() for _ in range(size)), guarded)

    def _edited(self, statements: tuple[str, ...]) -> tuple[str, ...]:
        place, chance = self.random.randrange(len(statements)), self.random.random()
        fresh = () if chance < 0.2 and len(statements) > 4 else (self._statement(),)
        return (*statements[:place], *fresh, *statements[place + (chance < 0.7) :])

    def _statement(self) -> str:
        result, left, called, given = (f"{self.random.choice(_ROOTS)}{self.number()}" for _ in range(4))
        return f"{result} = {left} + {called}({given}, {self.number()})"

    def _name(self) -> str:
        return f"{self.random.choice(_ROOTS)}_{self.number()}"

    def _path(self, suffix: str) -> str:
        return f"{self.random.choice(('app', 'lib'))}/{self.random.choice(_ROOTS)}{self.number()}{suffix}"
