"""What the head of a declaration tells of types: of its parameters, of what it returns, of what it builds on. Pure and light.

Heads are ``Symbol.signature``: one line, perhaps cut off. Types come back as a dotted name, ``""`` for what is none: an optional or
boxed type as the type inside, a union of several as nothing, for it may be any of them.
"""

from __future__ import annotations

from hardwon.code.calling import GO, JAVA, PYTHON, RUST, SCRIPT, C
from hardwon.code.names import without_generics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN, _CLOSE = "([{<", ")]}>"
_WRAPPER_WORDS = """
Optional Option Type type Box Arc Rc Cow Ref RefCell Mutex RwLock Pin Promise Awaitable Coroutine shared_ptr unique_ptr weak_ptr
Readonly Partial Required Annotated Final ClassVar
"""
_WRAPPERS = frozenset(_WRAPPER_WORDS.split())
_EMPTY = frozenset(("None", "null", "undefined", "nil"))
_MODIFIER_WORDS = """
public private protected internal static final abstract readonly const mut dyn impl struct enum class union virtual inline extern
async export default declare override native synchronized volatile unsigned signed explicit constexpr friend ref pub unsafe
typename register
"""
_MODIFIERS = frozenset(_MODIFIER_WORDS.split())


def parameter(head: str, name: str, language: str) -> str | None:
    """The type of the parameter (or named result, or Go's receiver) of that name; "" where none is told, None where there is no such
    parameter."""
    for group in _groups(head):
        waiting = False  # Go: ``a, b int`` gives its type to both
        for piece in _pieces(group):
            found, type_text = _named(piece.strip(), language)
            if found == name:
                if type_text or language != GO:
                    return plain(type_text)
                waiting = True
            elif waiting and type_text:
                return plain(type_text)
        if waiting:
            return ""
    return None


def returns(head: str, name: str, language: str) -> str:
    """The type that a function of that name gives; "" where none is told."""
    if language in (JAVA, C):
        before = head.partition(f"{name}(")[0] if f"{name}(" in head else ""
        words = before.replace("::", ".").rpartition(">.")[2].split()
        return plain(" ".join(word for word in words if word not in _MODIFIERS).removesuffix("."))
    rest = _behind_parameters(head, language)
    if language in (PYTHON, RUST):
        rest = rest.partition("->")[2]
        return plain(rest.partition("{")[0].partition(" where ")[0].strip().removesuffix(":"))
    if language == SCRIPT:
        return plain(rest.lstrip()[1:].partition("=>")[0].partition("{")[0]) if rest.lstrip().startswith(":") else ""
    rest = rest.partition("{")[0].strip()
    if rest.startswith("("):
        first = next(_pieces(rest[1:].removesuffix(")")), "").strip()
        return plain(first.rpartition(" ")[2])
    return plain(rest)


def holds(head: str, name: str, language: str) -> tuple[str, str]:
    """The type that a constant's head writes, and the expression that it holds; "" for what is not there."""
    before, found, rest = head.partition(name)
    if not found:
        return "", ""
    if language in (JAVA, C):
        return plain(" ".join(word for word in before.split() if word not in _MODIFIERS)), rest.partition("=")[2].strip(" ;")
    place = _equals(rest)
    told = rest[:place].strip()
    if language != GO:
        told = told.removeprefix("?").removeprefix("!").removeprefix(":")
    expression = rest[place + 1 :].strip(" ;")
    if expression.startswith("/*"):  # a mark for bundlers
        expression = expression.partition("*/")[2].strip()
    return plain(told), expression


def _equals(text: str) -> int:
    """Where the sign of assignment stands, outside brackets; the text's length where it does not."""
    depth = 0
    for place, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and text[place - 1 : place] not in ("-", "="):
            depth -= 1
        elif char == "=" and depth <= 0 and text[place + 1 : place + 2] not in (">", "="):
            return place
    return len(text)


def bases(head: str, language: str) -> list[str]:
    """The types that a class or interface builds on, as written."""
    if language == PYTHON:
        listed = next(iter(_groups(head)), "")
        return [base for piece in _pieces(listed) if "=" not in piece and (base := plain(piece.strip()))]
    body = without_generics(head).partition("{")[0]
    if language == C:
        return [base for piece in body.partition(":")[2].split(",") if (base := plain(piece))] if " : " in body else []
    found = []
    for word in (" extends ", " implements "):
        listed = body.partition(word)[2].partition(" implements ")[0].partition(" permits ")[0]
        found += [base for piece in listed.split(",") if (base := plain(piece))]
    return found


def plain(text: str) -> str:
    """The one type that a text means, as a dotted name; "" where it is none or several."""
    text = text.strip().strip("\"'")
    options = [one for one in _pieces(text, "|") if one.strip() not in _EMPTY]
    if len(options) != 1:
        return ""
    text = options[0].strip().lstrip("&*[].").strip()
    while text:
        word, _, rest = text.partition(" ")
        if word not in _MODIFIERS and not word.startswith("'"):
            break
        text = rest.lstrip(" &*[]")
    ends = [place for mark in "<[(" if (place := text.find(mark)) > 0]
    if ends:
        name, inner = text[: min(ends)], text[min(ends) + 1 :]
        if _last(name) in _WRAPPERS:
            return plain(next(_pieces(inner.rstrip(" >])*&")), ""))
        text = name
    name = text.replace("::", ".").rstrip(" *&?![]").strip()
    return name if name and all(part.isidentifier() or part.replace("$", "_").isidentifier() for part in name.split(".")) else ""


def _last(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2].strip()


def _named(piece: str, language: str) -> tuple[str, str]:
    """A parameter's name and its type as written."""
    piece = _before_default(piece).strip().lstrip("*&.").strip()
    if language == GO:
        name, _, type_text = piece.partition(" ")
        return name, type_text.strip()
    if language in (JAVA, C):
        words = piece.replace("*", " * ").replace("&", " & ").split()
        return (words[-1].rstrip("[]"), " ".join(words[:-1])) if words else ("", "")
    name, _, type_text = piece.partition(":")
    words = name.split()
    return (words[-1].rstrip("?") if words else ""), type_text.strip()


def _before_default(piece: str) -> str:
    place = piece.find("=")
    return piece if place < 0 or piece[place + 1 : place + 2] == ">" else piece[:place]


def _groups(head: str) -> list[str]:
    """What stands in the outermost round brackets; the last one may be cut off."""
    found, depth, start = [], 0, 0
    for place, char in enumerate(head):
        if char == "(":
            depth += 1
            if depth == 1:
                start = place + 1
        elif char == ")" and depth:
            depth -= 1
            if depth == 0:
                found.append(head[start:place])
    return [*found, head[start:]] if depth else found


def _behind_parameters(head: str, language: str) -> str:
    """What follows the parameters: the second brackets of a Go method, the first of anything else."""
    wanted = 2 if language == GO and head.startswith("func (") else 1
    depth = 0
    for place, char in enumerate(head):
        depth += (char == "(") - (char == ")")
        if char == ")" and depth == 0:
            wanted -= 1
            if not wanted:
                return head[place + 1 :]
    return ""


def _pieces(text: str, separator: str = ",") -> Iterator[str]:
    """The parts between separators that stand in no brackets."""
    depth = start = 0
    for place, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and text[place - 1 : place] not in ("-", "="):
            depth -= 1
        elif char == separator and depth <= 0:
            yield text[start:place]
            start = place + 1
    if text[start:].strip():
        yield text[start:]
