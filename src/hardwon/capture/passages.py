"""What a changed passage itself tells: the declarations in it, and what of it differs. Pure and light.

For clients and files of which no index knows the symbols. Only the name of a declaration is told, not that of the class around it.
"""

from __future__ import annotations

from hardwon.capture.changed_lines import alike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LINES = 400  # of a passage that are looked at
_DIFF = 12  # lines of either side that a difference shows
_LINE = 160  # characters of such a line
# Words before a declared name, and what may stand before them.
_DECLARING = frozenset(
    ("def", "class", "function", "func", "fn", "struct", "enum", "trait", "interface", "type", "module", "sub", "impl")
)
_BEFORE = frozenset(
    (
        "async", "export", "default", "public", "private", "protected", "static", "final", "abstract", "pub", "unsafe",
        "const", "extern",
        "override", "inline", "virtual", "open", "internal", "data", "sealed", "suspend", "declare", "pub(crate)",
        "pub(super)", "@override",
    )
)  # fmt: skip
_NOT_NAMES = frozenset(
    (
        "if", "for", "while", "switch", "catch", "return", "else", "with", "match", "new", "throw", "await", "do", "try",
        "extends", "implements",
    )
)  # fmt: skip
# Nor are these names of methods: a function without a name, and what else has parentheses before a brace.
_NOT_METHODS = _NOT_NAMES | {
    "def", "class", "function", "func", "fn", "elseif", "elsif", "foreach", "unless", "case", "Ok", "Err", "Some", "None",
}  # fmt: skip


def symbols(text: str, most: int = 3) -> tuple[str, ...]:
    """The names that a passage declares, in its order."""
    found: dict[str, None] = {}
    for line in text.split("\n", _LINES)[:_LINES]:
        name = _declared(line)
        if name:
            found[name] = None
            if len(found) == most:
                break
    return tuple(found)


def touched(old: str, new: str, most: int = 3) -> tuple[str, ...]:
    """The declarations of a passage that its change touches: those in the lines that differ, else the one that they stand in; () where the
    passage does not show it."""
    before, after = old.split("\n", _LINES)[:_LINES], new.split("\n", _LINES)[:_LINES]
    first, last = alike(before, after)
    inside = symbols("\n".join(after[first : len(after) - last]), most) or symbols(
        "\n".join(before[first : len(before) - last]), most
    )
    above = symbols("\n".join(after[:first]), _LINES)
    opened = bool(inside) and _declared(next(filter(str.strip, (*after[first:], *before[first:])), "")) == inside[0]
    return inside if opened or not above else tuple(dict.fromkeys((above[-1], *inside)))[:most]


def symbols_above(lines: Sequence[str]) -> tuple[str, ...]:
    """The declaration that stands above the last of some lines and less far in than it; () where none does."""
    depth = _depth(lines[-1]) if lines else 0
    for line in reversed(lines[-_LINES:-1]):
        if line.strip() and _depth(line) < depth:
            depth = _depth(line)
            if found := symbols(line):
                return found
    return ()


def _depth(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _declared(line: str) -> str:
    """The name that a line declares; "" for a line that declares none."""
    words = line[:300].split()
    at = 0
    while at < len(words) and words[at] in _BEFORE:
        at += 1
    if at >= len(words):
        return ""
    word = words[at]
    rest = " ".join(words[at + 1 :])
    if word in _DECLARING:
        if word in ("func", "fn") and rest.startswith("("):  # Go: func (c *Cart) Add(...)
            receiver, _, rest = rest[1:].partition(")")
            owner = receiver.split()[-1].lstrip("*").partition("[")[0] if receiver.split() else ""
            name = _name(rest.strip())
            return f"{owner}.{name}" if owner and name else name
        if word == "type" and "=" not in rest and "struct" not in rest and "interface" not in rest:
            return ""
        if word == "impl":
            rest = rest.partition(" for ")[2] or rest
        if word == "enum" and rest.startswith(("class ", "struct ")):  # C++, Kotlin
            rest = rest.partition(" ")[2]
        return _name(rest.lstrip("*"))
    if (at and words[at - 1] == "const") or word in ("let", "var"):
        target = rest if word in ("let", "var") else " ".join(words[at:])
        return _name(target) if "=>" in target or "function" in target else ""
    return _method(line)


def _method(line: str) -> str:
    """A method of a class in JavaScript, Java or C: ``name(…) {``, with types before it."""
    bare = line.strip()
    if not bare.endswith("{") or "(" not in bare or bare.startswith(("}", "//", "*", "#")):
        return ""
    if bare.count("(") > bare.count(")") or bare.endswith("=> {"):  # a call that is handed a function; an arm of a match
        return ""
    head = bare.partition("(")[0].split()
    if not head or "=" in bare.partition("(")[0] or head[0] in _NOT_METHODS or head[-1] in _NOT_METHODS or "." in head[-1]:
        return ""
    return _name(head[-1].lstrip("*&"))


def _name(text: str) -> str:
    end = 0
    while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
        end += 1
    name = text[:end]
    return name if name and not name[0].isdigit() and name not in _NOT_NAMES else ""


def is_prose(path: str) -> bool:
    """Whether a file is text that no program reads, or that one has written of its run."""
    return path.lower().endswith((".md", ".rst", ".txt", ".adoc", ".org", ".log", "license", "changelog", "authors"))


def difference(old: str, new: str) -> str:
    """What a change of a passage takes out and puts in, as ``-`` and ``+`` lines without those that stay; short."""
    before, after = old.split("\n"), new.split("\n")
    first, last = alike(before, after)
    out = _shown("-", before[first : len(before) - last]) + _shown("+", after[first : len(after) - last])
    return "\n".join(out)


def _shown(sign: str, lines: Sequence[str]) -> list[str]:
    kept = [f"{sign}{line[:_LINE].rstrip()}" for line in lines if line.strip()][:_DIFF]
    return [*kept, f"{sign}…"] if len([line for line in lines if line.strip()]) > _DIFF else kept
