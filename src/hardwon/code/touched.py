"""Which symbols of a file two contents have different: whether a change touches the code that a memory speaks of."""

from __future__ import annotations

from hardwon.code.names import same_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hardwon.code.outline import Outline


def fingerprints(path: str, content: bytes | None, outline: Callable[[str, bytes], Outline]) -> dict[str, str] | None:
    """The fingerprint of each symbol by its qualified name, of several of one name all of them; {} of no file; None where the file is
    in no language that is known here, or too large to be read. ``outline`` parses (code/workers.py)."""
    if content is None:
        return {}
    found = outline(path, content)
    if found.skipped:
        return None
    told: dict[str, str] = {}
    for symbol in found.symbols:
        told[symbol.qualified] = told.get(symbol.qualified, "") + symbol.fingerprint
    return told


def differing(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> list[str] | None:
    """The symbols that came, went, or have other code; None where that is not known of one of the two."""
    if before is None or after is None:
        return None
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def touches(symbol: str, changed: Iterable[str] | None) -> bool:
    """Whether a change of a file touches a symbol in it, "" meaning the file; where symbols are not known, the file has to do."""
    return changed is None or not symbol or any(same_symbol(one, symbol) for one in changed)
