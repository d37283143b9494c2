"""One pass of a language's query over a tree, sorted out: declarations, uses, imports, prose."""

from __future__ import annotations

from hardwon.code.grammar import DECLARING, USING
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    Use = tuple[int, int, int]  # where a name begins and ends, and where its receiver begins (the name too, without one)

_DECLARING, _USING = frozenset(DECLARING), frozenset(USING)
_LOOKED_BACK = 80  # bytes before a name inside a macro's arguments
_LONGEST_CALLEE = 400  # bytes
_OF_PATHS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.:"
RECEIVER = 80  # characters


class Declaration(Value):
    """What a pattern of the query takes for a declaration: its ``role`` (grammar.DECLARING), its node, the node of its name, and that of
    the type whose method it is."""

    role: str
    pattern: int
    node: Node
    name: Node | None
    inside: Node | None


class Captured:
    """What the query found in one file. Ranges and positions are bytes; ``required`` are calls that import: the text asked for,
    what it is called here (a name, a pattern or None), and the one thing taken of it."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []
        self.uses: list[Use] = []
        self.imports: list[Node] = []
        self.required: dict[int, tuple[Node, Node | None, Node | None]] = {}
        self.wraps: dict[int, Node] = {}  # by the id of the node that is wrapped
        self.attributes: list[tuple[int, int]] = []
        self.comments: list[tuple[int, int]] = []
        self.strings: list[tuple[int, int]] = []
        self.docstrings: dict[int, tuple[int, int]] = {}  # by the id of the declaration's node
        self.blocks: list[tuple[int, int]] = []
        self.kept: set[int] = set()


def sort_out(matches: list[tuple[int, dict[str, list[Node]]]], roles: Sequence[str], source: bytes) -> Captured:
    """The matches of a query as what they are for; ``roles`` by number of the pattern."""
    found = Captured()
    uses, strings = found.uses, found.strings
    for pattern, captures in matches:
        role = roles[pattern]
        if role == "call":  # the two that come by the ten thousand first
            node = captures["call"][0]
            callee = captures.get("callee")
            uses.append((node.start_byte, node.end_byte, callee[0].start_byte if callee else node.start_byte))
        elif role == "string":
            node = captures["string"][0]
            strings.append((node.start_byte, node.end_byte))
        elif role in _DECLARING:
            name, inside = captures.get("name"), captures.get("in")
            (node,) = captures[role]
            found.declarations.append(Declaration(role, pattern, node, name[0] if name else None, inside[0] if inside else None))
        elif role in _USING:
            uses += _uncommon_use(role, captures, source)
        else:
            _other(found, role, captures, source)
    return found


def _other(found: Captured, role: str, captures: dict[str, list[Node]], source: bytes) -> None:
    node = captures[role][0]
    span = (node.start_byte, node.end_byte)
    if role == "comment":
        found.comments.append(span)
    elif role == "string":
        found.strings.append(span)
    elif role == "block":
        found.blocks.append(span)
    elif role == "import":
        found.imports.append(node)
    elif role == "wrap":
        found.wraps.setdefault(captures["wrapped"][0].id, node)
    elif role == "attribute":
        found.attributes.append(span)
    elif role == "docstring":
        found.docstrings[captures["documented"][0].id] = span
    elif role == "keep":
        found.kept.add(node.start_byte)
    elif role == "require" and source[node.start_byte : node.end_byte] in (b"require", b"import"):
        _required(found, captures)


def _required(found: Captured, captures: dict[str, list[Node]]) -> None:
    source = captures["source"][0]
    named, taken = captures.get("as"), captures.get("taken")
    # The same call is met twice, with and without the name that it gets.
    if named or source.id not in found.required:
        found.required[source.id] = (source, named[0] if named else None, taken[0] if taken else None)


def _uncommon_use(role: str, captures: dict[str, list[Node]], source: bytes) -> list[Use]:
    callee = captures.get("callee")
    node = captures[role][0]
    start, end = node.start_byte, node.end_byte
    if role == "callee":
        # A name of C++ with its path, of which the parser gives no parts that are alike: ``a::b<T>::c``.
        path = source[start : min(end, start + _LONGEST_CALLEE)].partition(b"<" if source[end - 1 : end] == b">" else b"\0")[0]
        begin = start + path.rfind(b"::") + 2
        return [(begin, start + len(path), start)] if path.rfind(b"::") >= 0 else []
    if role == "component" and not callee and not source[start : start + 1].isupper():
        return []  # an element of HTML
    if role == "loose":
        before = source[max(0, start - _LOOKED_BACK) : start]
        return [(start, end, start - len(before) + len(before.rstrip(_OF_PATHS)))]
    return [(start, end, callee[0].start_byte if callee else start)]


def receiver(text: bytes) -> str:
    """What stands before a name, in one line and without what joins it to the name: ``a?.b``, ``a!.b``, ``p->b``, ``A::b``."""
    text = text[:_LONGEST_CALLEE].rstrip()
    text = text[:-2] if text.endswith((b"::", b"->")) else text.removesuffix(b".").rstrip(b"?!")
    plain = " ".join(text.decode("utf-8", "replace").split())
    return plain if len(plain) <= RECEIVER else plain[:RECEIVER].rstrip()
