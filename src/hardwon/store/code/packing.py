"""Symbols, calls and imports of a file as one value each: lines of fields, compressed, for they repeat a lot. (Not JSON, whose loading
costs the quick path half an interpreter start.)"""

from __future__ import annotations

from zlib import compress, decompress

from hardwon.code.outline import Call, Import, Symbol
from hardwon.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What a key of the table ``uses`` is for.
DECLARES, CALLS, IMPORTS, PRINT = "d", "c", "i", "f"

_FIELD, _ROW = "\x1f", "\n"
_LEVEL = 1  # of zlib: higher ones save a tenth of the bytes and take twice the time


def key_of(what: str, word: str) -> int:
    """The key under which a blob is found by a word: 48 bits of a digest, so that words need no table. Two words with one key do no
    harm, since the packed value is looked at before anything is told."""
    return int.from_bytes(blake2b(f"{what}{word}".encode(), digest_size=6).digest(), "big")


def pack_symbols(symbols: Iterable[Symbol]) -> bytes:
    """As ``symbols`` reads them."""
    return _packed(
        (
            one.qualified, one.kind, f"{one.first}", f"{one.last}", one.signature, one.doc, one.fingerprint, f"{one.tokens}",
            f"{one.head}", f"{one.rows}", one.span.hex(),
        )
        for one in symbols
    )  # fmt: skip


def symbols(raw: bytes, name: str = "", fingerprint: str = "") -> list[Symbol]:
    """By line, those of one line as they were given; only those of a name or a fingerprint, where it is given. ValueError, zlib.error
    for a value that was changed."""
    rows = _rows(raw)
    if name:
        rows = [row for row in rows if row[0].rpartition(".")[2] == name]
    if fingerprint:
        rows = [row for row in rows if row[6] == fingerprint]
    found = [_symbol(row) for row in rows]
    found.sort(key=lambda one: one.first)
    return found


def _symbol(row: Sequence[str]) -> Symbol:
    qualified, kind, first, last, signature, doc, fingerprint, tokens, head, rows, span = row
    return Symbol(
        qualified,
        kind,
        int(first),
        int(last),
        signature,
        doc,
        fingerprint,
        int(tokens),
        int(head),
        int(rows),
        bytes.fromhex(span),
    )


def pack_calls(calls: Iterable[Call]) -> bytes:
    """As ``calls`` reads them; the name comes first."""
    return _packed((one.name, one.receiver, one.caller, f"{one.line}") for one in calls)


def calls(raw: bytes, name: str | None = None) -> list[Call]:
    """By line; only those of a name. ValueError, zlib.error for a value that was changed."""
    text = _text(raw)
    start = "" if name is None else name + _FIELD
    if start not in text:
        return []
    rows = (line.split(_FIELD) for line in text.split(_ROW) if line.startswith(start)) if text else ()
    found = [Call(caller, called, receiver, int(line)) for called, receiver, caller, line in rows]
    found.sort(key=lambda one: one.line)
    return found


def pack_imports(imports: Iterable[tuple[str, Import]]) -> bytes:
    """As ``imports`` reads them; each with the last part of its module."""
    return _packed((word, one.module, one.name, one.alias, f"{one.line}") for word, one in imports)


def imports(raw: bytes, wanted: str = "") -> list[tuple[str, Import]]:
    """By line, each with the last part of its module; only those where that or the name is as given. ValueError, zlib.error for a value
    that was changed."""
    rows = (row for row in _rows(raw) if not wanted or wanted in (row[0], row[2]))
    found = [(word, Import(module, name, alias, int(line))) for word, module, name, alias, line in rows]
    found.sort(key=lambda one: one[1].line)
    return found


def _packed(rows: Iterable[tuple[str, ...]]) -> bytes:
    made = list(rows)
    text = _ROW.join([_FIELD.join(row) for row in made])
    if made and (text.count(_FIELD) != len(made) * (len(made[0]) - 1) or text.count(_ROW) != len(made) - 1):
        text = _ROW.join([_FIELD.join([one_line(field) for field in row]) for row in made])
    return compress(tidy(text).encode(), _LEVEL) if made else b""


def _rows(raw: bytes) -> list[list[str]]:
    text = _text(raw)
    return [line.split(_FIELD) for line in text.split(_ROW)] if raw else []


def _text(raw: bytes) -> str:
    return decompress(raw).decode() if raw else ""


def one_line(text: str) -> str:
    """A field without the characters that part fields: no name in any code has them."""
    return text.replace(_FIELD, " ").replace(_ROW, " ")


def tidy(text: str) -> str:
    """A text that can be kept: half a pair, of a name in bytes that are no UTF-8, is replaced. Both sides do it, so that it is found."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def word_of(text: str) -> str:
    """A name as it stands in a packed value."""
    return tidy(one_line(text))
