"""Declarations into symbols: which count, how they nest, and what they are called."""

from __future__ import annotations

from hardwon.code.names import without_generics
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from hardwon.code.captured import Captured, Declaration
    from hardwon.code.grammar import Grammar

# More than any file that people wrote has; what is beyond is left out, so that a hostile file cannot fill the index.
MOST_SYMBOLS, MOST_DEEP, LONGEST_NAME = 5000, 20, 200
_MOST_ABOVE = 100  # comments and attributes above one declaration
_KINDS = {
    "macro": "function", "prototype": "function", "member": "method", "assigned": "function", "assigned_class": "class",
    "default": "function", "default_class": "class",
}  # fmt: skip
# Roles that name what is inside without being symbols: an object inside an object, Rust's impl.
_NAMELESS = frozenset(("holder", "owner"))
_TYPES = frozenset(("class", "interface", "owner"))
_FUNCTIONS = frozenset(("function", "method"))
# Objects of JavaScript whose properties are the file's own.
_OWN = frozenset(("exports", "module", "prototype", "this", "self", "window", "globalThis", "global"))
_SIGNS = frozenset("_$#~-/@:")


class Placed(Value):
    """A declaration in its place: ``start`` and ``end`` with its attributes, ``own`` where itself begins (bytes); ``kind`` as in Symbol, or
    holder or owner, which only name what is inside; ``role`` and ``node`` of the declaration."""

    start: int
    own: int
    end: int
    kind: str
    role: str
    qualified: str
    node: Node

    @property
    def is_symbol(self) -> bool:
        """Whether it is more than a name for what it holds."""
        return self.kind not in _NAMELESS


class _Candidate(Value):
    start: int
    own: int
    end: int
    declaration: Declaration
    parts: tuple[str, ...]


def place(captured: Captured, source: bytes, grammar: Grammar, above: Above) -> list[Placed]:
    """The declarations that count, by position, an outer one before those in it."""
    candidates = sorted(
        _candidates(captured, source, grammar, above), key=lambda one: (one.start, -one.end, one.declaration.pattern)
    )
    placed: list[Placed] = []
    stack: list[Placed] = []
    seen: set[tuple[int, int, tuple[str, ...]]] = set()
    for one in candidates:
        key = (one.declaration.node.start_byte, one.declaration.node.end_byte, one.parts)
        if key in seen:  # by another pattern
            continue
        seen.add(key)
        # Two names of one node (``int a, b``) stand beside each other.
        while stack and (stack[-1].end <= one.start or stack[-1].node.id == one.declaration.node.id):
            stack.pop()
        if len(stack) >= MOST_DEEP:
            continue
        new = _placed(one, stack, grammar)
        if new is None:
            continue
        placed.append(new)
        stack.append(new)
        if len(placed) >= MOST_SYMBOLS:
            break
    return _without_repeats(placed, grammar.overloads)


def _candidates(captured: Captured, source: bytes, grammar: Grammar, above: Above) -> Iterable[_Candidate]:
    for one in captured.declarations:
        parts = _parts(one, source, grammar)
        if not parts or (one.role == "constant" and grammar.capitals and not _is_constant(one, source, parts[-1])):
            continue
        first = _own_start(one.node, captured, source)
        own = above.past(first)
        end = one.node.end_byte
        while source[end - 1 : end].isspace():
            end -= 1
        yield _Candidate(above.start(first), own, end, one, parts)


def _own_start(node: Node, captured: Captured, source: bytes) -> int:
    """Where a declaration begins with the words before it that belong to it: ``export``, ``const``, ``template<…>``, ``type``."""
    start, inner = node.start_byte, node
    while (wrap := captured.wraps.get(inner.id)) is not None:
        between = source[wrap.start_byte : inner.start_byte]
        # ``const (`` of Go, and the second name of ``const a = 1, b = 2``, do not belong to the one declaration.
        alone = wrap.type.startswith(("export", "template")) or between.strip().isalpha()
        if not alone:
            break
        start, inner = wrap.start_byte, wrap
    return start


def _placed(one: _Candidate, stack: list[Placed], grammar: Grammar) -> Placed | None:
    """The candidate among those around it; None where it does not count there."""
    role = one.declaration.role
    naming = next((item for item in reversed(stack) if item.kind != "type"), None)
    around = naming.kind if naming else ""
    if role in ("member", "holder") and around in _FUNCTIONS:
        return None
    if role in ("constant", "prototype") and around in _FUNCTIONS:
        return None
    kind = _KINDS.get(role, role)
    if (role in ("function", "prototype") and (around in _TYPES or len(one.parts) > 1)) or (
        role == "assigned" and len(one.parts) > 1
    ):
        kind = "method"
    qualified = ".".join((*((naming.qualified,) if naming else ()), *one.parts))
    if len(qualified) > 2 * LONGEST_NAME:
        return None
    return Placed(one.start, one.own, one.end, kind, role, qualified, one.declaration.node)


def _without_repeats(placed: list[Placed], overloads: bool) -> list[Placed]:
    """Without declarations of what is defined in the file as well, and without one that lies in another of the same name (a struct
    in its typedef)."""
    defined = {one.qualified for one in placed if one.role not in ("prototype", *_NAMELESS)}
    found: list[Placed] = []
    latest: dict[str, int] = {}  # where the last one of a name ended
    for one in placed:
        if one.role == "prototype" and one.qualified in defined and not overloads:
            continue
        if one.is_symbol:
            if latest.get(one.qualified, 0) > one.start:
                continue
            latest[one.qualified] = one.end
        found.append(one)
    return found


# --- names


def _parts(one: Declaration, source: bytes, grammar: Grammar) -> tuple[str, ...]:
    """The parts of a declaration's own name, () for one that cannot be named."""
    if one.name is None:
        return ("default",)
    if one.name.end_byte - one.name.start_byte > LONGEST_NAME:
        return ()
    text = source[one.name.start_byte : one.name.end_byte].decode("utf-8", "replace")
    if "operator" in text and grammar.separator == "::":
        parts = _operator(text)
        if parts:
            return parts
    text = without_generics(text.strip("()[]'\"` \n\t"), grammar.generic)
    if one.role in ("assigned", "assigned_class"):
        parts = tuple(part for part in map(str.strip, text.split(".")) if part not in _OWN) or _own_name(one.node, source)
    elif one.role == "owner":
        parts = (_last_word(text),)
    elif one.role in ("module", "function", "prototype", "class"):
        parts = tuple(part.strip() for part in text.split(grammar.separator) if part.strip())
    else:
        parts = (text.rpartition(".")[2] if text.startswith("Symbol.") else text,)
    if one.inside is not None:
        receiver = source[one.inside.start_byte : min(one.inside.end_byte, one.inside.start_byte + LONGEST_NAME)]
        parts = (without_generics(receiver.decode("utf-8", "replace"), grammar.generic).strip("*& \n\t"), *parts)
    return parts if parts and all(map(_is_name, parts)) else ()


def _operator(text: str) -> tuple[str, ...]:
    """``A::operator==`` and ``operator bool() const``; () where it is another name with that word in it."""
    path, _, sign = text.partition("operator")
    if path and not path.endswith(("::", " ")):
        return ()
    sign = " ".join(sign.split())
    if sign[:1].isalnum() and text.partition("operator")[2][:1].isalnum():
        return ()
    if not sign.startswith("()"):
        sign = sign.partition("(")[0]
    spaced = f" {sign}" if sign[:1].isalpha() else sign
    owners = without_generics(path).strip().removesuffix("::")
    return (*(part.strip() for part in owners.split("::") if part.strip()), f"operator{spaced}".strip().replace(".", ""))


def _own_name(node: Node, source: bytes) -> tuple[str, ...]:
    """The name that a function has itself: ``module.exports = function create() {}``."""
    value = node.child_by_field_name("right")
    name = value.child_by_field_name("name") if value else None
    return (source[name.start_byte : name.end_byte].decode("utf-8", "replace"),) if name else ()


def _last_word(text: str) -> str:
    """The type of ``impl Trait for &mut a::B``."""
    words = "".join(char if char.isalnum() or char == "_" else " " for char in text).split()
    return words[-1] if words else ""


def _is_name(part: str) -> bool:
    return 0 < len(part) <= LONGEST_NAME and all(char.isalnum() or char in _SIGNS for char in part)


def _is_constant(one: Declaration, source: bytes, name: str) -> bool:
    """Whether a field or an assignment is meant as a constant: by its name, in Java by its modifiers too."""
    if name.strip("_") != name.strip("_").upper() or not name.strip("_")[:1].isalpha():
        return False
    if one.node.type != "field_declaration":
        return True
    head = source[one.node.start_byte : one.node.start_byte + LONGEST_NAME].split(b"=")[0]
    return b"static" in head and b"final" in head


# --- what stands above


class Above:
    """The comments and attributes of a file, to be asked what stands just above a declaration."""

    def __init__(self, source: bytes, comments: list[tuple[int, int]], attributes: list[tuple[int, int]]) -> None:
        self._source = source
        self._by_end = {_trimmed(source, end): (start, False) for start, end in comments}
        self._by_start = dict(attributes)
        self._by_end |= {_trimmed(source, end): (start, True) for start, end in attributes}

    def start(self, position: int) -> int:
        """Where a declaration begins whose own text begins at ``position``: at the first of its attributes."""
        first = position
        for start, is_attribute in self._upwards(position):
            if is_attribute:
                first = start
        return first

    def past(self, position: int) -> int:
        """Where the text behind the attributes begins that stand at ``position``: ``@D() export class``."""
        while (end := self._by_start.get(position)) is not None:
            position = end
            while self._source[position : position + 1].isspace():
                position += 1
        return position

    def comment(self, position: int) -> bytes:
        """The comment above ``position``, from its first line on; b"" where there is none."""
        top = b""
        for start, is_attribute in self._upwards(position):
            if not is_attribute:
                top = self._source[start : start + 2000]
        return top

    def _upwards(self, position: int) -> Iterable[tuple[int, bool]]:
        """What stands above ``position`` without code between: where it begins, and whether it is an attribute."""
        source = self._source
        for _ in range(_MOST_ABOVE):
            end = _trimmed(source, position)
            found = self._by_end.get(end)
            if found is None:
                return
            apart = source.count(b"\n", end, position) > 1
            position, is_attribute = found
            line = max(source.rfind(b"\n", 0, position) + 1, position - LONGEST_NAME)
            alone = not source[line:position].strip()
            if not is_attribute and not alone:
                if not self._by_end.get(_trimmed(source, position), (0, False))[1]:
                    return  # a comment behind code speaks of that code; behind an attribute it is in nobody's way
            elif apart and not is_attribute:
                return
            else:
                yield found


def _trimmed(source: bytes, end: int) -> int:
    while end and source[end - 1 : end].isspace():
        end -= 1
    return end
