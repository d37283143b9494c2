"""What a name means at a place of a file: its own declarations, what it imports, what builds on what. From the index alone."""

from __future__ import annotations

from posixpath import dirname, join

from hardwon.code import heads
from hardwon.code.calling import GO, JAVA, PYTHON, RUST, SCRIPT, C, family
from hardwon.code.modules import Modules
from hardwon.code.test_names import is_test
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.code.index import CodeReader, Declared
    from hardwon.code.outline import Import, Symbol

CLASSES = frozenset(("class", "interface", "type"))
# Which of several declarations of one name is meant by a call.
_RANK = {"function": 0, "method": 0, "class": 1, "constant": 2, "module": 3, "interface": 4, "type": 5}
_DEEPEST = 6  # steps along re-exports and base classes
_WIDEST = 40  # files that are looked through for one name behind ``*``


class Thing(Value):
    """What a name or an expression means: ``files`` of a module; or a declaration at ``path``; or, with neither, something that is not
    of this tree."""

    files: tuple[str, ...] = ()
    path: str = ""
    symbol: Symbol | None = None
    imported: bool = False


FOREIGN = Thing()


class Scopes:
    """Names at places of one tree. What was looked up is kept for the next question."""

    def __init__(self, reader: CodeReader) -> None:
        self.reader = reader
        self.modules = Modules(reader)
        self._symbols: dict[str, dict[str, Symbol]] = {}
        self._imports: dict[str, list[Import]] = {}
        self._by_name: dict[str, dict[str, list[Import]]] = {}
        self._wild: dict[str, list[Import]] = {}
        self._named: dict[tuple[str, str], list[Declared]] = {}
        self._tests: dict[str, bool] = {}
        self._bases: dict[tuple[str, str], list[str]] = {}
        self._globals: dict[tuple[str, str, int], Thing | None] = {}

    def symbols(self, path: str) -> dict[str, Symbol]:
        """What a file declares, by qualified name; of several of one name the one that a call would mean."""
        if path not in self._symbols:
            blob = self.reader.blob_at(path)
            kept: dict[str, Symbol] = {}
            for symbol in (self.reader.symbols(blob) if blob else None) or ():
                known = kept.get(symbol.qualified)
                if known is None or _RANK.get(symbol.kind, 9) < _RANK.get(known.kind, 9):
                    kept[symbol.qualified] = symbol
            self._symbols[path] = kept
        return self._symbols[path]

    def imports(self, path: str) -> list[Import]:
        """What a file imports."""
        if path not in self._imports:
            self._imports[path] = self.reader.imports_of(path)
            by_name: dict[str, list[Import]] = {}
            for taken in self._imports[path]:
                if not _is_wild(taken):
                    by_name.setdefault(_called(taken, family(path)), []).append(taken)
            self._by_name[path] = by_name
            self._wild[path] = [taken for taken in self._imports[path] if _is_wild(taken) or family(path) == C]
        return self._imports[path]

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests."""
        if path not in self._tests:
            self._tests[path] = is_test(path)
        return self._tests[path]

    def named(self, name: str, language: str) -> list[Declared]:
        """What the tree declares under that last part of a name, in one language."""
        if (name, language) not in self._named:
            self._named[name, language] = [one for one in self.reader.named(name) if family(one.path) == language]
        return self._named[name, language]

    def local(self, path: str, caller: str, name: str) -> Thing | None:
        """What a bare name means inside a declaration, as far as it is one around the place; FOREIGN for a parameter."""
        symbols, language = self.symbols(path), family(path)
        for scope in outwards(caller):
            around = symbols.get(scope)
            found = symbols.get(f"{scope}.{name}")
            # In Java and C++ a class's members are in sight in it; elsewhere only what functions declare is.
            if found is not None and (around is None or around.kind not in CLASSES or language in (JAVA, C)):
                return Thing(path=path, symbol=found)
            if around is not None and heads.parameter(around.signature, name, language) is not None:
                return FOREIGN
        return None

    def top(self, path: str, name: str, line: int = 0, depth: int = 0) -> Thing | None:
        """What a name means at a file's top; None where the file does not say, FOREIGN where it is imported from outside the tree.
        ``line``: where it is used, for a name that several functions import as different things."""
        self.imports(path)
        said = self._by_name[path].get(name, ())
        above = [taken for taken in said if taken.line <= line] if len(said) > 1 else said
        chosen = above[-1] if above else said[0] if said else None
        key = (path, name, chosen.line if chosen else 0)
        if key not in self._globals:
            self._globals[key] = None  # against circles of imports
            self._globals[key] = self._top(path, name, chosen, depth)
        return self._globals[key]

    def _top(self, path: str, name: str, chosen: Import | None, depth: int) -> Thing | None:
        own = self.symbols(path).get(name)
        if own is not None:
            return Thing(path=path, symbol=own)
        if depth > _DEEPEST:
            return None
        if chosen is not None:
            return self.taken(path, chosen, depth)
        return self._starred(path, name, depth) or self._beside(path, name)

    def _starred(self, path: str, name: str, depth: int) -> Thing | None:
        """What comes by ``*``, by Go's dot, by an include."""
        looked = 0
        for taken in self._wild[path]:
            for file in self.modules.files(path, taken.module):
                looked += 1
                if looked > _WIDEST:
                    return None
                found = self.exported(file, name, depth + 1) if file != path else None
                if found is not None and found is not FOREIGN:
                    return _imported(found)
        return None

    def _beside(self, path: str, name: str) -> Thing | None:
        """What other files of the same package declare: Go and Java see it without an import."""
        language = family(path)
        if language not in (GO, JAVA):
            return None
        for one in self.named(name, language):
            if dirname(one.path) == dirname(path) and one.symbol.qualified == name and one.path != path:
                return Thing(path=one.path, symbol=one.symbol)
        return None

    def taken(self, path: str, taken: Import, depth: int = 0) -> Thing:
        """What an import means: a module's files, a declaration, FOREIGN."""
        files = self.modules.files(path, taken.module)
        if not taken.name or taken.name == "*":
            if family(path) == JAVA and files:
                return self._java_class(files[0], taken.module) or FOREIGN
            if family(path) == RUST and files and (found := self._in_files(files, taken.module.rpartition("::")[2], depth)):
                return _imported(found)
            return Thing(files=files, imported=True) if files else FOREIGN
        found = self._in_files(files, taken.name, depth) or self._below(path, taken)
        if found is None and taken.name == "default":
            # A class or function by its own name, the file's or the one that it gets here.
            names = (taken.alias, *(file.rpartition("/")[2].partition(".")[0] for file in files))
            found = next((one for name in names if (one := self._in_files(files, name, depth))), None)
        return _imported(found) if found is not None and found is not FOREIGN else FOREIGN

    def _below(self, path: str, taken: Import) -> Thing | None:
        """``from package import module``, ``use crate::module``: what is taken is a module itself."""
        separator = {PYTHON: ".", RUST: "::", JAVA: "."}.get(family(path))
        if separator is None:
            return None
        joined = taken.module + ("" if taken.module.endswith(".") and family(path) == PYTHON else separator) + taken.name
        files = self.modules.files(path, joined)
        if files and family(path) == JAVA:
            return self._java_class(files[0], joined)
        return Thing(files=files) if files else None

    def _java_class(self, file: str, module: str) -> Thing | None:
        """The class or member that a Java import names, in the file of its outermost class."""
        stem = file.rpartition("/")[2].removesuffix(".java")
        _, _, inner = f".{module}".rpartition(f".{stem}")
        found = self.symbols(file).get(stem + inner)
        return Thing(path=file, symbol=found, imported=True) if found is not None else None

    def _in_files(self, files: Iterable[str], name: str, depth: int) -> Thing | None:
        for file in files:
            if (found := self.exported(file, name, depth + 1)) is not None:
                return found
        return None

    def exported(self, file: str, name: str, depth: int = 0) -> Thing | None:
        """What a module's file offers under a name: declared there or taken from elsewhere."""
        if family(file) in (GO, JAVA, C, RUST):
            own = self.symbols(file).get(name)
            if own is None and family(file) in (C, RUST):  # in a namespace, in a module of the same file
                own = next((one for one in self.symbols(file).values() if one.name == name and one.kind != "method"), None)
            if own is not None or family(file) != RUST:
                return Thing(path=file, symbol=own) if own is not None else None
        return self.top(file, name, depth=depth)

    def member(self, thing: Thing, name: str) -> Thing | None:
        """What ``thing.name`` means; None where it cannot be told."""
        if thing.files:
            found = self._in_files(thing.files, name, 0)
            if found is None and family(thing.files[0]) == PYTHON:
                file = thing.files[0]
                files = self.modules.files(join(dirname(file), "x.py"), f".{name}") if file.endswith("__init__.py") else ()
                found = Thing(files=files) if files else None
            return _imported(found) if found is not None and found is not FOREIGN else found
        if thing.symbol is None:
            return None
        return self.method(thing.path, thing.symbol, name)

    def method(self, path: str, symbol: Symbol, name: str, depth: int = 0) -> Thing | None:
        """A member of a class, its own or of what it builds on; FOREIGN where it builds on what is not of this tree."""
        found = self.symbols(path).get(f"{symbol.qualified}.{name}")
        if found is not None:
            return Thing(path=path, symbol=found)
        language = family(path)
        if language in (GO, RUST, C):  # a type's methods may stand in other files
            for one in self.named(name, language):
                if one.symbol.owner == symbol.name and (language != GO or dirname(one.path) == dirname(path)):
                    return Thing(path=one.path, symbol=one.symbol)
        return self.inherited(path, symbol, name, depth)

    def bases(self, path: str, symbol: Symbol) -> list[str]:
        """What a class builds on, as written."""
        key = (path, symbol.qualified)
        if key not in self._bases:
            self._bases[key] = heads.bases(symbol.signature, family(path))
        return self._bases[key]

    def inherited(self, path: str, symbol: Symbol, name: str, depth: int = 0) -> Thing | None:
        """A member that a class has from what it builds on."""
        foreign = False
        for base in self.bases(path, symbol) if depth <= _DEEPEST else ():
            thing = self.type_at(path, symbol.qualified, base)
            if thing is None or thing.symbol is None:
                foreign = True
            elif thing.symbol is not symbol:
                found = self.method(thing.path, thing.symbol, name, depth + 1)
                if found is FOREIGN:
                    foreign = True
                elif found is not None:
                    return found
        return FOREIGN if foreign else None

    def type_at(self, path: str, caller: str, name: str) -> Thing | None:
        """The type that a dotted name means at a place; FOREIGN where it is not of this tree, None for no name."""
        first, *rest = name.split(".")
        if not first:
            return None
        thing = self.local(path, caller, first)
        if thing is None or thing is FOREIGN:
            thing = self.top(path, first)
        if thing is None and rest and family(path) == RUST:
            files = self.modules.files(path, "::".join(name.split(".")[:-1]))
            thing, rest = (Thing(files=files), rest[-1:]) if files else (None, rest)
        if thing is None and family(path) in (C, RUST):
            thing = self._anywhere(path, first)
        for part in rest:
            thing = self.member(thing, part) if thing is not None and thing is not FOREIGN else thing
        return thing if thing is not None and (thing.symbol is not None or thing is FOREIGN) else FOREIGN

    def _anywhere(self, path: str, name: str) -> Thing | None:
        """A type of C, C++ or Rust by its name alone: who includes whom is deeper than we look."""
        found = [one for one in self.named(name, family(path)) if one.symbol.kind in CLASSES]
        return Thing(path=found[0].path, symbol=found[0].symbol) if len({one.symbol.qualified for one in found}) == 1 else None


def outwards(caller: str) -> Iterable[str]:
    """``a.b.c``, ``a.b``, ``a``."""
    while caller:
        yield caller
        caller = caller.rpartition(".")[0]


def _is_wild(taken: Import) -> bool:
    """Whether an import brings names that it does not say: a ``*`` that has no name of its own."""
    return taken.name == "*" and not taken.alias


def _imported(thing: Thing) -> Thing:
    return Thing(thing.files, thing.path, thing.symbol, imported=True)


def _called(taken: Import, language: str) -> str:
    """What an import is called in its file."""
    if taken.alias:
        return taken.alias
    if taken.name:
        return taken.name
    separator = {GO: "/", RUST: "::", SCRIPT: "\0", C: "\0"}.get(language, ".")
    return taken.module.rpartition(separator)[2]
