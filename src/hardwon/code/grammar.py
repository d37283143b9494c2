"""The languages whose code is parsed: one row each, and their parsers and queries, loaded once a process.

Nothing but ``imported.py`` depends on a language's node types besides. Another language is a row here, a file in ``grammars/`` and a
function in ``imported.py``.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Language, Query

_FOLDER = os.path.join(os.path.dirname(__file__), "grammars")
# Captures of a declaration, by what it becomes; those of a name that is used; the others.
DECLARING = (
    "class", "interface", "type", "module", "constant", "function", "method", "macro", "prototype", "member", "holder", "owner",
    "assigned", "assigned_class", "default", "default_class",
)  # fmt: skip
USING = ("call", "component", "loose", "callee")
ROLES = (*DECLARING, "require", *USING, "import", "wrap", "attribute", "docstring", "comment", "string", "block", "keep")


class Grammar(Value):
    """One language.

    ``package`` and ``entry``: the module and function that give its grammar; ``queries``: files of ``grammars/``, taken together;
    ``separator``: what stands between the parts of a qualified name; ``ended``: the end of a line says what a semicolon says;
    ``capitals``: only names in capital letters are constants; ``generic``: the bracket that opens type arguments; ``overloads``: what
    is declared beside a definition is a part of what its name means, and no announcement of it.
    """

    package: str
    queries: tuple[str, ...]
    entry: str = "language"
    separator: str = "."
    ended: bool = False
    capitals: bool = False
    generic: str = "<"
    overloads: bool = False


GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar("tree_sitter_python", ("python",), ended=True, capitals=True, generic="["),
    "javascript": Grammar("tree_sitter_javascript", ("ecma", "javascript", "jsx"), ended=True),
    "typescript": Grammar("tree_sitter_typescript", ("ecma", "typescript"), "language_typescript", ended=True, overloads=True),
    "tsx": Grammar("tree_sitter_typescript", ("ecma", "typescript", "jsx"), "language_tsx", ended=True, overloads=True),
    "go": Grammar("tree_sitter_go", ("go",), ended=True, generic="["),
    "rust": Grammar("tree_sitter_rust", ("rust",), separator="::"),
    "java": Grammar("tree_sitter_java", ("java",), capitals=True),
    "c": Grammar("tree_sitter_c", ("c",)),
    "cpp": Grammar("tree_sitter_cpp", ("c", "cpp"), separator="::"),
}


class Loaded(Value):
    """A grammar ready for use: its parser's language, its query, and what each of the query's patterns is for, by its number: the first
    of ROLES that it captures."""

    grammar: Grammar
    language: Language
    query: Query
    roles: Sequence[str]


@cache
def load(language: str) -> Loaded:
    """The grammar of a language of the table, from its package on first use."""
    from tree_sitter import Language, Query

    row = GRAMMARS[language]
    parser = Language(getattr(import_module(row.package), row.entry)())
    texts: list[str] = []
    for name in row.queries:
        with open(os.path.join(_FOLDER, f"{name}.scm"), encoding="utf-8") as file:
            texts += [line for line in file if not line.startswith(";")]
    query = Query(parser, "".join(texts))
    return Loaded(row, parser, query, _roles(query, "".join(texts).encode()))


def _roles(query: Query, text: bytes) -> list[str]:
    patterns = [text[query.start_byte_for_pattern(n) : query.end_byte_for_pattern(n)] for n in range(query.pattern_count)]
    captures = [{word.rstrip(b")") for word in pattern.split() if word.startswith(b"@")} for pattern in patterns]
    return [next(role for role in ROLES if b"@" + role.encode() in found) for found in captures]
