"""What a file declares, by parsers that are not the product's: Python's ``ast``, Go's ``go/parser``, the TypeScript compiler.

The ground truth of ``truth.py``. Two codes are the same when their *meaning* is: the parsed code without layout, comments,
docstrings and the declaration's own name. Where a file declares a name more than once (overloads, the two halves of a property, an
interface and the value of the same name), all of them together are the declaration: who speaks of the name speaks of all.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import subprocess
import tempfile
import tokenize
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parsers")
_OWN = "\1own"
# Kinds that somebody would tie a memory to; constants are only looked at as what something became.
SAMPLED = frozenset({"function", "method", "class", "interface", "type"})


class Declaration(NamedTuple):
    """A declared name: ``meaning`` is a digest, ``words`` the tokens without its own name, ``count`` how many declarations it is."""

    qualified: str
    kind: str
    first: int
    last: int
    meaning: str
    words: tuple[str, ...]
    count: int = 1

    @property
    def name(self) -> str:
        """The last part."""
        return self.qualified.rpartition(".")[2]


Declared = Mapping[str, Declaration]


class Parser(Protocol):
    """A language. ``suffixes``: which files are its own."""

    suffixes: tuple[str, ...]

    def declared(self, path: str, text: bytes) -> Declared | None:
        """Declarations by qualified name; None for a text that the parser does not take."""

    def close(self) -> None:
        """Let go of processes."""


def joined(found: Iterable[Declaration]) -> Declared:
    """Declarations by name, those of one name made one."""
    result: dict[str, Declaration] = {}
    for one in found:
        before = result.get(one.qualified)
        if before is None:
            result[one.qualified] = one
            continue
        kind = before.kind if before.kind != "constant" else one.kind
        words = before.words + one.words
        both = digest((before.meaning, one.meaning))
        first, last = min(before.first, one.first), max(before.last, one.last)
        result[one.qualified] = Declaration(one.qualified, kind, first, last, both, words, before.count + 1)
    return result


def digest(parts: Sequence[str]) -> str:
    """Of words in order."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


class Python:
    """Python's own parser. What it does not take (a file of Python 2) is no file for it."""

    suffixes = (".py",)

    def declared(self, path: str, text: bytes) -> Declared | None:
        """See ``Parser``."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = ast.parse(text)
            tokens = [token for token in tokenize.tokenize(io.BytesIO(text).readline) if token.type not in _LAYOUT]
        except (SyntaxError, ValueError, tokenize.TokenError, RecursionError):
            return None
        if b"u'" in text or b'u"' in text:
            _forget_prefixes(module)
        prose = _strip_prose(module)
        spoken = _Spoken([(token.start[0], token.string) for token in tokens if token.start not in prose])
        found: list[Declaration] = []
        _walk(module, "", spoken, found, inside="")
        return joined(found)

    def close(self) -> None:
        """Nothing to let go of."""


_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _forget_prefixes(module: ast.Module) -> None:
    """``u'x'`` is ``'x'``."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant):
            node.kind = None


def _strip_prose(module: ast.Module) -> set[tuple[int, int]]:
    """Take docstrings out of the tree; where they stood (line, column in characters)."""
    prose: set[tuple[int, int]] = set()
    for node in (module, *_statements(module, deep=True)):
        if isinstance(node, (*_DEFINITIONS, ast.Module)) and node.body and ast.get_docstring(node, clean=False) is not None:
            prose.add((node.body[0].lineno, node.body[0].col_offset))
            node.body = node.body[1:]
    return prose


def _statements(node: ast.AST, *, deep: bool) -> Iterator[ast.AST]:
    """The statements in a node: only these can hold a definition, and looking into expressions takes most of the time."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, part, None)
        for child in inner if isinstance(inner, list) else ():
            yield child
            if deep:
                yield from _statements(child, deep=True)


class _Spoken:
    """The words of a file, by line."""

    def __init__(self, words: Sequence[tuple[int, str]]) -> None:
        self._lines = [line for line, _ in words]
        self._words = [word for _, word in words]

    def between(self, first: int, last: int) -> list[str]:
        """Those of some lines."""
        return self._words[bisect_left(self._lines, first) : bisect_right(self._lines, last)]


def _walk(node: ast.AST, outer: str, spoken: _Spoken, found: list[Declaration], inside: str) -> None:
    for child in _statements(node, deep=False):
        if not isinstance(child, _DEFINITIONS):
            _walk(child, outer, spoken, found, inside)
            continue
        qualified = f"{outer}.{child.name}" if outer else child.name
        kind = "class" if isinstance(child, ast.ClassDef) else "method" if inside == "class" else "function"
        first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
        last = child.end_lineno or child.lineno
        words = tuple(_OWN if text == child.name else text for text in spoken.between(first, last))
        found.append(Declaration(qualified, kind, first, last, _meaning(child), words))
        _walk(child, qualified, spoken, found, "class" if kind == "class" else "function")


def _meaning(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """A digest of the tree, which knows neither layout nor kinds of quotes. Its own name is written as a name nowhere else is."""
    written = ast.dump(node, annotate_fields=False)
    return digest((written.replace(f"'{node.name}'", f"'{_OWN}'"),))


class Process:
    """A parser that is a program: one JSON request a line in, one answer a line out."""

    def __init__(self, command: Sequence[str], suffixes: tuple[str, ...]) -> None:
        self.suffixes = suffixes
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def declared(self, path: str, text: bytes) -> Declared | None:
        """See ``Parser``."""
        out, back = self._process.stdin, self._process.stdout
        assert out is not None and back is not None
        out.write(json.dumps({"path": path, "text": text.decode("utf-8", "replace")}).encode() + b"\n")
        out.flush()
        answer = json.loads(back.readline())
        return None if answer["broken"] else joined(map(_declaration, answer["declarations"]))

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _declaration(told: dict[str, Any]) -> Declaration:
    words = tuple(told["words"].split("\0")) if told["words"] else ()
    return Declaration(told["qualified"], told["kind"], told["first"], told["last"], told["meaning"], words)


def go() -> Process:
    """Go's own parser; needs the ``go`` command, and builds the program in the folder for temporary files."""
    source = os.path.join(_FOLDER, "declarations.go")
    with open(source, "rb") as file:
        name = f"declarations-{hashlib.sha256(file.read()).hexdigest()[:16]}"
    program = os.path.join(tempfile.gettempdir(), name)
    if not os.path.exists(program):
        subprocess.run(["go", "build", "-o", program, source], check=True)
    return Process([program], (".go",))


def typescript(package: str) -> Process:
    """The TypeScript compiler's parser; needs ``node`` and the folder of the package ``typescript``."""
    suffixes = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
    return Process(["node", os.path.join(_FOLDER, "declarations.cjs"), os.path.abspath(package)], suffixes)
