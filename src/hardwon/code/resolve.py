"""Whom a call means: the declarations that it may reach, and how sure that is. From names alone, at question time.

No type is inferred but those that a declaration's head writes down, and what a class is called. A receiver of unknown type leaves the
method's name, which says little: the rules below would rather give nothing than a guess that looks like knowledge.
"""

from __future__ import annotations

from hardwon.code import heads
from hardwon.code.calling import GO, JAVA, PYTHON, RUST, SCRIPT, C, family
from hardwon.code.common_names import common
from hardwon.code.outline import Call
from hardwon.code.scope import CLASSES, FOREIGN, Scopes, Thing, outwards
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.index import CodeReader, Declared

# How sure each way is to be right (docs/code-index.md measures them). What reaches CERTAIN is followed by the graph.
CERTAIN = 0.5
SAME_FILE, IMPORTED, OWN, TYPED, EMBEDDED, ALIKE, UNIQUE, GUESS = 0.95, 0.9, 0.95, 0.85, 0.7, 0.6, 0.55, 0.4
_MOST = 20  # targets of one call
_SELVES = {PYTHON: ("self", "cls"), SCRIPT: ("this",), JAVA: ("this",), C: ("this",), RUST: ("self", "Self"), GO: ()}
_LITERALS = ('"', "'", "`", "[", "{")
_SHORTEST_ALIKE = 3  # letters of a variable that may be called after its class
_LONGEST_SHORT = 4  # and of one that shortens its name
_VOWELS = frozenset("aeiou")


class Target(Value):
    """A declaration that a call may mean. ``certainty`` is from 0 to 1; ``why`` one of ``same file``, ``same package``, ``import``,
    ``receiver``, ``receiver's name``, ``unique name``, ``name only``."""

    path: str
    symbol: str
    certainty: float
    why: str


class Resolver:
    """Answers for one view of the index; what it looked up it keeps, so that many calls of one file cost little more than one."""

    def __init__(self, reader: CodeReader) -> None:
        self.scopes = Scopes(reader)
        self._holding: set[tuple[str, str]] = set()
        self._guesses: dict[tuple[str, str, str], list[Target]] = {}

    def targets(self, path: str, call: Call) -> list[Target]:
        """The declarations that a call in the file ``path`` may mean, surest first; none for what is not of this tree, or not to be
        told."""
        language = family(path)
        if not language or not call.name:
            return []
        found = self._member(path, call, language) if call.receiver else self._bare(path, call, language)
        return sorted(found, key=lambda one: (-one.certainty, one.path, one.symbol))[:_MOST]

    # A name alone

    def _bare(self, path: str, call: Call, language: str) -> list[Target]:
        scopes = self.scopes
        thing = scopes.local(path, call.caller, call.name)
        if thing is FOREIGN:
            return []  # a parameter that is called: whatever was handed over
        if thing is None and language in (JAVA, C, RUST):
            thing = self._own_member(path, call, language)
        thing = thing or scopes.top(path, call.name, call.line)
        if thing is None and language in (C, RUST):
            return self._linked(path, call, language)
        if thing is None or thing.symbol is None:
            return []
        if thing.path == path:
            return [_target(thing, SAME_FILE, "same file")]
        return [_target(thing, IMPORTED, "import" if thing.imported else "same package")]

    def _own_member(self, path: str, call: Call, language: str) -> Thing | None:
        """A member of the class around, inherited ones too, that is called without saying ``this``."""
        owner = self._owner(path, call.caller, language) if language != RUST else None
        found = self.scopes.method(owner.path, owner.symbol, call.name) if owner and owner.symbol else None
        return found if found is not FOREIGN else None

    def _linked(self, path: str, call: Call, language: str) -> list[Target]:
        """A function of C, C++ or Rust by its name alone: what is linked together shares its names."""
        found = [one for one in self._visible(path, call.name, language) if one.symbol.kind in ("function", "class", "constant")]
        if language == RUST:
            found = [one for one in found if one.symbol.qualified == call.name]
        elif bodies := [one for one in found if not is_header(one.path)]:
            found = bodies  # a header's line is no second function
        return _shared(found, IMPORTED if language == C else UNIQUE, "unique name")

    # A name behind a receiver

    def _member(self, path: str, call: Call, language: str) -> list[Target]:
        parts = split(call.receiver)
        thing, sure = self._meant(path, call, parts, language) if parts else (None, 0.0)
        if thing is FOREIGN:
            return []
        if thing is not None:
            found = self.scopes.member(thing, call.name)
            if found is None and (held := self._held(thing, language)) is not None:
                thing = held
                found = self.scopes.member(thing, call.name)
            if found is FOREIGN or thing is FOREIGN:
                return []
            if found is not None and found.symbol is not None:
                return [_target(found, IMPORTED, "import") if thing.files else _target(found, sure, "receiver")]
            if thing.symbol is not None and language == GO:
                return self._embedded(thing, call.name)
            if thing.files or (thing.symbol is not None and thing.symbol.kind in CLASSES):
                return []
        return self._by_name(path, call, parts[-1][0] if parts else "", language)

    def _meant(self, path: str, call: Call, parts: Sequence[tuple[str, bool]], language: str) -> tuple[Thing | None, float]:
        """What an expression stands for: a module, a class (or something of that class), FOREIGN; None where it cannot be told."""
        name, called = parts[0]
        rest = parts[1:]
        sure = TYPED
        if name == "super":
            thing = self._base(path, call, language)
        elif name in _SELVES[language] and (owner := self._owner(path, call.caller, language)) is not None:
            thing, sure = owner, OWN
        else:
            thing, rest = self._head(path, call, parts, language)
            if called and thing is not None and len(rest) == len(parts) - 1:
                thing = self._result(thing, language)
        for name, called in rest:
            if thing is None or thing is FOREIGN:
                break
            found = self.scopes.member(thing, name)
            if found is None and (held := self._held(thing, language)) is not None:
                found = self.scopes.member(held, name)
            thing, sure = found, TYPED
            if called and thing is not None and thing is not FOREIGN:
                thing = self._result(thing, language)
        return thing, sure

    def _head(
        self, path: str, call: Call, parts: Sequence[tuple[str, bool]], language: str
    ) -> tuple[Thing | None, Sequence[tuple[str, bool]]]:
        """What the first parts of an expression mean, and the parts that are left."""
        name, caller = parts[0][0], call.caller
        for scope in outwards(caller):
            around = self.scopes.symbols(path).get(scope)
            type_text = heads.parameter(around.signature, name, language) if around is not None else None
            if type_text is not None:
                return self.scopes.type_at(path, scope, type_text), parts[1:]
        thing = self.scopes.local(path, caller, name) or self.scopes.top(path, name, call.line)
        if thing is None and language in (PYTHON, RUST):
            return self._dotted(path, parts, language)
        if thing is None and language in (JAVA, C) and name[:1].isupper():
            thing = self.scopes.type_at(path, caller, name)
            return (thing if thing is not FOREIGN or language == JAVA else None), parts[1:]
        return thing, parts[1:]

    def _dotted(
        self, path: str, parts: Sequence[tuple[str, bool]], language: str
    ) -> tuple[Thing | None, Sequence[tuple[str, bool]]]:
        """``a.b.f`` after ``import a.b``; ``crate::a::f`` without any import."""
        names = [name for name, _ in parts]
        separator = "." if language == PYTHON else "::"
        if language == RUST:  # a path needs no import
            files = self.scopes.modules.files(path, "::".join(names))
            return (Thing(files=files, imported=True), ()) if files else (None, parts[1:])
        modules = [taken.module for taken in self.scopes.imports(path) if not taken.name]
        for length in range(len(names), 0, -1):
            prefix = separator.join(names[:length])
            if any(module == prefix or module.startswith(prefix + separator) for module in modules):
                files = self.scopes.modules.files(path, prefix)
                return (Thing(files=files, imported=True) if files else FOREIGN), parts[length:]
        return None, parts[1:]

    def _owner(self, path: str, caller: str, language: str) -> Thing | None:
        """The class around a place."""
        symbols = self.scopes.symbols(path)
        for scope in outwards(caller):
            symbol = symbols.get(scope)
            if symbol is not None and symbol.kind in CLASSES:
                return Thing(path=path, symbol=symbol)
        parent = caller.rpartition(".")[0]
        if not parent:
            return None
        if (symbol := symbols.get(parent)) is not None:
            return Thing(path=path, symbol=symbol)
        return self.scopes.type_at(path, "", parent.rpartition(".")[2]) if language in (C, RUST) else None

    def _base(self, path: str, call: Call, language: str) -> Thing | None:
        """What ``super`` reaches: here the one base that declares the method called."""
        owner = self._owner(path, call.caller, language)
        if owner is None or owner.symbol is None:
            return FOREIGN
        found = self.scopes.inherited(owner.path, owner.symbol, call.name)
        if found is None or found.symbol is None:
            return FOREIGN
        parent = self.scopes.symbols(found.path).get(found.symbol.qualified.rpartition(".")[0])
        return Thing(path=found.path, symbol=parent) if parent is not None else FOREIGN

    def _result(self, thing: Thing, language: str) -> Thing | None:
        """What calling something gives: of a class itself, of a function what its head says."""
        symbol = thing.symbol
        if symbol is None or symbol.kind in CLASSES:
            return thing if symbol is not None else None
        told = heads.returns(symbol.signature, symbol.name, language)
        if told in ("Self", "this"):
            return self._owner(thing.path, symbol.qualified, language)
        if not told:
            return None
        return self.scopes.type_at(thing.path, symbol.qualified, told)

    def _held(self, thing: Thing, language: str) -> Thing | None:
        """What a constant holds, by its head: the type that it writes, or what the expression gives; FOREIGN for a literal."""
        symbol = thing.symbol
        if symbol is None or symbol.kind != "constant" or (thing.path, symbol.qualified) in self._holding:
            return None
        told, expression = heads.holds(symbol.signature, symbol.name, language)
        if told:
            return self.scopes.type_at(thing.path, symbol.qualified, told)
        if expression[:1] in _LITERALS or expression[:1].isdigit():
            return FOREIGN
        self._holding.add((thing.path, symbol.qualified))
        try:
            parts = split(expression.partition("{")[0] if language == GO else expression)
            around = symbol.qualified.rpartition(".")[0]
            return self._meant(thing.path, Call(around, "", "", symbol.first), parts, language)[0] if parts else None
        finally:
            self._holding.discard((thing.path, symbol.qualified))

    def _embedded(self, thing: Thing, name: str) -> list[Target]:
        """A method that a Go type has from one that it embeds: which, no head tells; the one of its package that has such a method."""
        package = thing.path.rpartition("/")[0]
        found = [
            one
            for one in self.scopes.named(name, GO)
            if one.path.rpartition("/")[0] == package and "." in one.symbol.qualified and not self.scopes.is_test(one.path)
        ]
        return _shared(found, EMBEDDED, "receiver")

    # The method's name alone

    def _by_name(self, path: str, call: Call, variable: str, language: str) -> list[Target]:
        """Methods of that name, where nothing is known of the receiver but what it is called."""
        # Who asks matters for what tests declare themselves, and for Go's packages.
        own = any(one.path == path for one in self.scopes.named(call.name, language))
        key = (call.name, variable, path if own else path.rpartition("/")[0] if language == GO else language)
        if key not in self._guesses:
            self._guesses[key] = self._guess(path, call, variable, language)
        return self._guesses[key]

    def _guess(self, path: str, call: Call, variable: str, language: str) -> list[Target]:
        found = [one for one in self._visible(path, call.name, language) if "." in one.symbol.qualified]
        alike = [one for one in found if is_alike(variable, one.symbol.owner)] or [
            one for one in found if language == GO and self._is_usual(path, one, variable)
        ]
        if alike:
            return _shared(self._most_basic(alike), ALIKE, "receiver's name")
        if common(call.name):
            return []
        return _shared(self._most_basic(found), UNIQUE, "unique name")

    def _is_usual(self, path: str, one: Declared, variable: str) -> bool:
        """Whether a Go method calls its receiver by that name too: within a package the name of a variable stands for its type."""
        told = heads.parameter(one.symbol.signature, variable, GO)
        return told == one.symbol.owner and one.path.rpartition("/")[0] == path.rpartition("/")[0]

    def _most_basic(self, found: list[Declared]) -> list[Declared]:
        """Of methods of one name, the one whose class the others' build on; all of them where there is no such one."""
        if not 1 < len(found) <= _MOST:
            return found
        names = {one.symbol.owner for one in found}
        basic = []
        for one in found:
            owner = self.scopes.symbols(one.path).get(one.symbol.qualified.rpartition(".")[0])
            built_on = self.scopes.bases(one.path, owner) if owner is not None else ()
            if not names.intersection(base.rpartition(".")[2] for base in built_on):
                basic.append(one)
        return basic if len({(one.path, one.symbol.qualified) for one in basic}) == 1 else found

    def _visible(self, path: str, name: str, language: str) -> list[Declared]:
        """What the tree declares under a name; what tests declare only for their own file."""
        return [one for one in self.scopes.named(name, language) if one.path == path or not self.scopes.is_test(one.path)]


def _target(thing: Thing, certainty: float, why: str) -> Target:
    assert thing.symbol is not None  # noqa: S101 - for mypy: callers look first
    return Target(thing.path, thing.symbol.qualified, certainty, why)


def _shared(found: Sequence[Declared], certainty: float, why: str) -> list[Target]:
    """One target as sure as that; several share less than that, and none of them is certain."""
    places = {(one.path, one.symbol.qualified) for one in found}
    if len(places) == 1:
        return [Target(path, symbol, certainty, why) for path, symbol in places]
    share = GUESS / max(1, len(places))
    return [Target(path, symbol, share, "name only") for path, symbol in sorted(places)[:_MOST]]


def is_header(path: str) -> bool:
    """Whether a file of C or C++ is made to be included."""
    return path.rpartition(".")[2].lower() in ("h", "hh", "hpp", "hxx", "h++")


def is_alike(variable: str, type_name: str) -> bool:
    """Whether a variable is called after a class: its whole name, its first or last word, its beginning or its
    consonants (``doc`` of ``Document``, ``ctx`` of ``Context``)."""
    small, large = variable.strip("_$").casefold(), type_name.strip("_$").casefold()
    if len(small) < _SHORTEST_ALIKE or not large:
        return False
    if large.endswith(small) or small.endswith("_" + large):
        return True
    rest = type_name.strip("_$")[len(small) : len(small) + 1]
    if large.startswith(small) and (rest.isupper() or rest == "_"):
        return True
    return len(small) <= _LONGEST_SHORT and small[-1] not in _VOWELS and (large.startswith(small) or _is_of(small, large))


def _is_of(consonants: str, word: str) -> bool:
    letters = iter(word)
    return (
        consonants[0] == word[0] and not _VOWELS.intersection(consonants[1:]) and all(letter in letters for letter in consonants)
    )


def split(expression: str) -> list[tuple[str, bool]]:
    """The parts of ``a.b(x)->c``: names, and whether each is called; empty for what is no such chain (an index, a text, an operator)."""
    text = expression.removeprefix("await ").removeprefix("new ").replace("->", ".").replace("::", ".")
    text = text.replace("?.", ".").replace("!.", ".").lstrip("&*")
    parts: list[tuple[str, bool]] = []
    name, depth, called = "", 0, False
    for char in f"{text}.":
        if char == "(":
            depth += 1
            called = True
        elif char == ")":
            depth -= 1
        elif depth:
            continue
        elif char == ".":
            if not name.strip().replace("$", "_").replace("#", "_").isidentifier():
                return []
            parts.append((name.strip(), called))
            name, called = "", False
        elif called and not char.isspace():
            return []
        else:
            name += char
    return [] if depth else parts
