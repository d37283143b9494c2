"""Spellings of symbols. Pure, and light enough for the quick path."""

from __future__ import annotations

_BORDERS = ".:#/>"


def same_symbol(one: str, other: str) -> bool:
    """Whether two spellings may name one symbol: equal, or one is the end of the other at a border (``validate``, ``A.validate``,
    ``a::A#validate``)."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    longer, shorter = longer.casefold(), shorter.casefold()
    if longer == shorter or (longer.endswith(shorter) and longer[-len(shorter) - 1] in _BORDERS):
        return True
    longer, shorter = sorted((dotted(longer), dotted(shorter)), key=len, reverse=True)
    return bool(shorter) and (longer == shorter or longer.endswith("." + shorter))


def ending(symbol: str) -> str:
    """What two spellings of one symbol have in common, to look for them by: equal for all that ``same_symbol`` takes for one."""
    name = symbol.casefold().removesuffix("()").rstrip(_BORDERS)
    return name[max(map(name.rfind, _BORDERS)) + 1 :]


def dotted(symbol: str) -> str:
    """A symbol with dots between its parts, whatever language it was written in, without the parentheses of a call:
    ``auth::Service#validate()`` as ``auth.Service.validate``."""
    return _with_dots(symbol).removesuffix("()").strip(".")


def last_part(symbol: str, *, fold: bool = True) -> str:
    """``validate`` of ``AuthService.validate``, ``auth::Service::validate`` or ``Service#validate``, case folded unless told not to."""
    last = _with_dots(symbol).rpartition(".")[2]
    return last.casefold() if fold else last


def without_generics(text: str, opening: str = "<") -> str:
    """A name without type arguments, however they are nested."""
    if opening not in text:
        return text
    closing = ">" if opening == "<" else "]"
    kept, depth = [], 0
    for char in text:
        if char == opening:
            depth += 1
        elif char == closing and depth:
            depth -= 1
        elif not depth:
            kept.append(char)
    return "".join(kept)


def _with_dots(symbol: str) -> str:
    for separator in ("::", "#", "/", "->"):
        symbol = symbol.replace(separator, ".")
    return symbol
