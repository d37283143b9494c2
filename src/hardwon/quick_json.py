"""JSON on the quick path, without the json package: that one imports re, and both cost as much as half an interpreter start.

The parser is CPython's own in C, the one that json uses; where there is none, json itself is loaded (docs/decisions/0019).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BLANK = " \t\r\n"
_CONSTANTS = {"NaN": None, "Infinity": None, "-Infinity": None}


class _Context:
    """What the parser asks for, as json.JSONDecoder has it."""

    strict = False  # line breaks within strings are taken
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.get
    memo: dict[str, str] = {}  # noqa: RUF012 - of one call: the process ends after it


def loads(raw: bytes) -> object:
    """What a document says; bytes that are no UTF-8 become U+FFFD. ValueError where it is no JSON, or nested too deeply."""
    text = raw.decode("utf-8", "replace").lstrip("\ufeff" + _BLANK)
    try:
        value, end = _scanner()(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text[end:].strip(_BLANK):
        raise ValueError("more than one JSON value")
    return value


def _scanner() -> Callable[[str, int], tuple[object, int]]:
    try:
        from _json import make_scanner
    except ImportError:
        from json import JSONDecoder

        return JSONDecoder(strict=False).raw_decode  # another Python than CPython
    scanner: Callable[[str, int], tuple[object, int]] = make_scanner(_Context)  # type: ignore[arg-type]
    return scanner


def dumps(value: Mapping[str, object], *, ascii_only: bool = True) -> str:
    """An object of texts, numbers, truth values, null, lists and objects of these, on one line; TypeError for anything else."""
    return _written(value, ascii_only)


def _written(item: object, ascii_only: bool) -> str:
    if item is None or isinstance(item, bool):
        return {True: "true", False: "false", None: "null"}[item]
    if isinstance(item, str):
        return _quoted(item, ascii_only)
    if isinstance(item, int):
        return str(item)
    if isinstance(item, (list, tuple)):
        return f"[{', '.join(_written(one, ascii_only) for one in item)}]"
    if isinstance(item, dict):
        pairs = (f"{_quoted(name, ascii_only)}: {_written(one, ascii_only)}" for name, one in item.items())
        return "{" + ", ".join(pairs) + "}"
    raise TypeError(f"{type(item).__name__} is not written here")


def _quoted(text: str, ascii_only: bool) -> str:
    try:
        from _json import encode_basestring, encode_basestring_ascii
    except ImportError:
        from json import dumps as written

        return written(text, ensure_ascii=ascii_only)
    quoted: str = encode_basestring_ascii(text) if ascii_only else encode_basestring(text)
    return quoted
