"""What a file of code declares and uses, as values. No parser is loaded by them: the quick path reads them from the index."""

from __future__ import annotations

from hardwon.types import Value


class Symbol(Value):
    """A declaration in one file.

    ``qualified``: its names from the outermost, joined by dots in every language (``AuthService.validate``; a Go method and a
    function of a Rust ``impl`` have their type before them); ``kind``: function, method, class, interface, type, module or
    constant. ``first`` and ``last``: its lines, from 1, both of them its own, decorators included. ``signature`` and ``doc`` are one
    line each, of at most 200 characters.

    ``fingerprint``: 16 hexadecimal digits of its code without its own name, white space and comments; ``tokens``: how many tokens
    that is. ``head``, ``rows`` and ``span`` find its lines again in a text that nobody parsed (code/spans.py): the digest of the first
    line that is not blank, how many such lines there are, the digest of all of them (8 bytes).
    """

    qualified: str
    kind: str
    first: int
    last: int
    signature: str
    doc: str
    fingerprint: str
    tokens: int
    head: int = 0
    rows: int = 0
    span: bytes = b""

    @property
    def name(self) -> str:
        """The last part of its qualified name."""
        return self.qualified.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The last part of the name around its own: of a method its class; "" for what stands in no other."""
        return self.qualified.rpartition(".")[0].rpartition(".")[2]


class Call(Value):
    """A call as it is written: ``self.store.get(x)`` has the name ``get`` and the receiver ``self.store``; ``new A()`` and ``A{}`` call
    ``A``. ``caller`` is the qualified name of the innermost declaration around it, "" at the file's top."""

    caller: str
    name: str
    receiver: str
    line: int


class Import(Value):
    """A name that a file takes from elsewhere. ``module`` as it is written (``..pkg.mod``, ``./util``, ``java.util.List``,
    ``crate::a::b``, ``dir/file.h``); ``name`` what is taken of it ("" the module itself, ``*`` everything); ``alias`` what it is called
    here, "" where it has no name of its own."""

    module: str
    name: str
    alias: str
    line: int


class Outline(Value):
    """What one text declares and uses. ``skipped`` says in one word why it was not read (``binary``, ``large``, ``generated``,
    ``vendored``, ``language``), "" where it was; ``broken``: the parser met errors, so that parts may be missing."""

    language: str
    skipped: str = ""
    broken: bool = False
    lines: int = 0
    symbols: tuple[Symbol, ...] = ()
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
