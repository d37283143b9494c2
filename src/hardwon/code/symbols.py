"""A file of code into its outline: symbols with their lines and fingerprints, calls, imports. Off the quick path: it loads parsers.

Broken code yields what parses. A file takes at most TIME, however it is written: nothing here walks a tree by recursion, and what is
nested deeper or longer than people write is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from time import thread_time

from hardwon.code import captured, declared, spans
from hardwon.code.grammar import Loaded, load
from hardwon.code.imported import imports
from hardwon.code.outline import Call, Import, Outline, Symbol
from hardwon.code.source import language_of, skipped_content, skipped_path
from hardwon.code.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from hardwon.code.captured import Captured, Use
    from hardwon.code.declared import Above, Placed

    Range = tuple[int, int]

__all__ = ["TIME", "outline"]

TIME = 2.0  # seconds of the processor for one file; what takes longer is skipped as ``large``
MOST_CALLS = 50_000
MOST_DEEP = 1000  # levels of the tree that are asked: the time of a query grows with the square of them
_MOST_SIGNS, _MOST_BROKEN = 10_000, 1_000_000  # tokens of one node that are no names; children of all nodes with errors
_QUOTES_ALIKE = frozenset(("python", "javascript", "typescript", "tsx"))
_SELDOM = 32  # the clock is a call of the system, and the parser asks every hundred steps
LONGEST_LINE = 200  # characters of a signature or a doc line
_HEAD = 2000  # bytes that a signature is made of
_BOM = b"\xef\xbb\xbf"
# What a header has that is not C. At the beginning of a line: comments speak of classes too.
_CPP = rb"^[ \t]*(?:namespace\s+[\w:]+\s*\{|template\s*<|class\s+\w[^;\n]*$|using\s+\w|(?:public|private|protected)\s*:)"

# Unfinished generics and arrows, hundreds of them: at the end of the text the parser's memory grows with the square of their number
# (a gigabyte for 2,000), within one step that cannot be stopped. Found by trial in Java and C. There are others, which end a child
# (code/workers.py); these cost less.
_EXPLOSIVE = (rb"<(?:\s?+\w++\s?+<){199}", rb"=>(?:\s?+\w++\s?+=>){199}")  # a literal first: .5 ms a megabyte


def outline(path: str, content: bytes) -> Outline:
    """What ``content`` declares and uses; ``path`` (with slashes, from the root) says the language and whether it is worth reading."""
    language = language_of(path)
    skipped = skipped_path(path, len(content)) or skipped_content(content)
    if skipped:
        return Outline(language, skipped)
    # The one form of line ends that all positions below count in.
    source = content.removeprefix(_BOM)
    if b"\r" in source:
        source = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if language == "c" and path.endswith((".h", ".H")) and re.search(_CPP, source, re.MULTILINE):
        language = "cpp"
    if any(re.search(pattern, source) for pattern in _EXPLOSIVE):
        return Outline(language, "large")
    try:
        return _File(language, source, thread_time() + TIME).outline()
    except TooSlow:
        return Outline(language, "large")


class TooSlow(Exception):
    """The time for one file is over."""


class _File:
    """One text on its way to an outline. TooSlow from any step, after ``deadline`` (seconds of this thread)."""

    def __init__(self, language: str, source: bytes, deadline: float) -> None:
        self.language, self.source, self.deadline = language, source, deadline
        self.loaded = load(language)
        self.lines = list(accumulate(map(len, source.splitlines(keepends=True)), initial=0))
        self.folded = spans.folded(source)
        self.numbers = [number for number, _ in self.folded]

    def outline(self) -> Outline:
        tree = _parsed(self.loaded, self.source, self.deadline)
        _refuse_rubble(tree)
        self._check()
        found = self._captured(tree)
        above = declared.Above(self.source, found.comments, found.attributes)
        placed = declared.place(found, self.source, self.loaded.grammar, above)
        read = self._tokens(found)
        taken = [Import(*one, self._line(position)) for position, one in imports(found, self.language, self.source)]
        aliases = {one.alias for one in taken}
        # ``const a = require("a")`` is an import and no constant.
        placed = [one for one in placed if not (one.kind == "constant" and one.qualified in aliases)]
        return Outline(
            self.language,
            broken=tree.root_node.has_error,
            lines=len(self.lines) - self.source.endswith(b"\n") if self.source else 0,
            symbols=tuple(self._symbol(one, found, above, read) for one in placed if one.is_symbol),
            calls=tuple(self._calls(found.uses, placed)),
            imports=tuple(taken),
        )

    def _captured(self, tree: Tree) -> Captured:
        from tree_sitter import QueryCursor

        # It cannot be stopped: matches() crashes with a progress callback (tree-sitter 0.26.1). It is linear in the size of the tree.
        cursor = QueryCursor(self.loaded.query)
        cursor.set_max_start_depth(MOST_DEEP)
        matches = cursor.matches(tree.root_node)
        self._check()
        return captured.sort_out(matches, self.loaded.roles, self.source)

    def _tokens(self, found: Captured) -> Tokens:
        read = Tokens(
            self.source, (*found.comments, *found.docstrings.values()), self.loaded.grammar.ended, self.language in _QUOTES_ALIKE
        )
        read.join(self.source, _outside(found.strings, sorted(found.docstrings.values())))
        read.keep(self.source, found.kept)
        read.mark(found.blocks)
        self._check()
        return read

    def _check(self) -> None:
        if thread_time() > self.deadline:
            raise TooSlow

    def _line(self, position: int) -> int:
        return bisect_right(self.lines, position)

    def _symbol(self, one: Placed, found: Captured, above: Above, read: Tokens) -> Symbol:
        self._check()
        first, last = self._line(one.start), self._line(one.end - 1)
        low, high = bisect_left(self.numbers, first), bisect_right(self.numbers, last)
        head, rows, span = spans.measure([line for _, line in self.folded[low:high]])
        name = one.qualified.rpartition(".")[2]
        fingerprint, count = read.fingerprint(one.start, one.end, name.lstrip("~").encode())
        docstring = found.docstrings.get(one.node.id)
        doc = self.source[docstring[0] : docstring[1]][:_HEAD].lstrip(b"rRuUbBfF") if docstring else above.comment(one.start)
        return Symbol(
            one.qualified, one.kind, first, last, self._signature(one), _first_line(doc), fingerprint, count, head, rows, span
        )

    def _signature(self, one: Placed) -> str:
        """The head of a declaration in one line: up to its body, of a constant its first line."""
        end = _body_start(one.node) or one.end
        text = self.source[one.own : max(end, one.own)][:_HEAD]
        if one.kind == "constant":
            text = text.partition(b"\n")[0]
        elif one.kind in ("class", "interface") or one.role == "macro":
            text = text.partition(b"{")[0]
        return _cut(" ".join(text.decode("utf-8", "replace").split()).rstrip(" {:;"))

    def _calls(self, uses: list[Use], placed: list[Placed]) -> list[Call]:
        calls: list[Call] = []
        stack: list[Placed] = []
        symbols = [one for one in placed if one.is_symbol]
        symbols.reverse()
        source, lines = self.source, self.lines
        for start, end, begin in sorted(uses)[:MOST_CALLS]:
            while symbols and symbols[-1].start <= start:
                stack.append(symbols.pop())
            while stack and stack[-1].end <= start:
                stack.pop()
            if end - start <= declared.LONGEST_NAME:
                name = source[start:end].decode("utf-8", "replace")
                held = captured.receiver(source[begin:start]) if begin < start else ""
                calls.append(Call(stack[-1].qualified if stack else "", name, held, bisect_right(lines, start)))
        return calls


def _refuse_rubble(tree: Tree) -> None:
    """TooSlow for a tree in which ten thousand signs that mean nothing stand side by side: at each of them a query looks at all that
    follow, and it cannot be stopped. Only nodes with errors are visited."""
    todo = [tree.root_node] if tree.root_node.has_error else []
    left = _MOST_BROKEN
    while todo:
        node = todo.pop()
        left -= node.child_count
        if left < 0 or node.child_count > _MOST_SIGNS + 2 * node.named_child_count:
            raise TooSlow
        todo += [child for child in node.children if child.has_error]


def _outside(strings: list[Range], docstrings: list[Range]) -> list[Range]:
    """The strings that do not lie in a docstring."""
    if not docstrings:
        return strings
    starts = [start for start, _ in docstrings]
    return [one for one in strings if not (place := bisect_right(starts, one[0])) or docstrings[place - 1][1] <= one[0]]


def _parsed(loaded: Loaded, source: bytes, deadline: float) -> Tree:
    from tree_sitter import Parser

    asked = 0

    def is_over(_position: int, _failed: bool) -> bool:
        nonlocal asked
        asked += 1
        return not asked % _SELDOM and thread_time() > deadline

    # A parser can be stopped only where it reads by a callback; that costs nothing here (measured: 6.0 MB/s, without 5.0 to 6.2).
    try:
        return Parser(loaded.language).parse(
            lambda position, _point: source[position : position + 65536], progress_callback=is_over
        )
    except ValueError:  # it was stopped
        raise TooSlow from None


def _body_start(node: Node) -> int:
    """Where the body of a declaration begins, 0 for one without."""
    body = node.child_by_field_name("body")
    if body is not None:
        return body.start_byte
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None:
        return 0
    if value.type in ("object", "preproc_arg"):
        return value.start_byte
    body = value.child_by_field_name("body")
    return body.start_byte if body is not None else 0


def _first_line(prose: bytes) -> str:
    """The first line of a comment or docstring that says something, without its signs."""
    for line in prose.decode("utf-8", "replace").splitlines():
        text = line.strip().strip("/*#!\"'").strip()
        if text:
            return _cut(text)
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1].rstrip() + "…"
