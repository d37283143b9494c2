"""Text into terms, made alike for memories and for questions.

A word gives its parts (``loadUserName`` -> load, user, name) and, when it has more than one, the whole behind a mark
(``=loadusername``): dropping the wholes costs .015 nDCG@10 on real histories, dropping the parts far more. Paths and dotted
names give their whole besides (``/lib/url.c``, ``.auth.validate``). Scripts without spaces give pairs of characters.
"""

from __future__ import annotations

import re

from hardwon.types import Lexical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.types import Change, Memory

# The order is the order of the packed counts.
FIELDS = ("subject", "body", "path", "context", "added", "removed")
SUBJECT, BODY, PATH, CONTEXT, ADDED, REMOVED = range(6)

_BITS = 5
_MOST = (1 << _BITS) - 1  # counts saturate: at k1 = 1.2 the 32nd use of a word adds nothing that ranks
_LONGEST = 64

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = re.compile(r"\w+(?:[./-]\w+)*[./]\w+")
# Scripts written without spaces: kana, CJK ideographs, Thai, Lao, Khmer. (Hangul has spaces, but its particles cling: pairs too.)
_UNSPACED = r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"

_STOP = """
    a about after all also am an and any are as at be because been before being both but by can could did do does doing done
    each else for from get got had has have he her here him his how i if in into is it its just let like make made may me
    might more most must my no nor not now of off on once only or other our out over own per same she should so some such
    than that the their them then there these they this those through to too under until up us use used using very via was
    we were what when where which while who whom why will with would you your
"""
STOP_WORDS = frozenset(_STOP.split())

_cache: dict[str, tuple[str, ...]] = {}
_CACHE_LIMIT = 100_000


def word_terms(word: str) -> tuple[str, ...]:
    """The terms of one word (no spaces or punctuation in it)."""
    found = _cache.get(word)
    if found is None:
        found = tuple(_split(word))
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        _cache[word] = found
    return found


def _split(word: str) -> list[str]:
    if not word.isascii():
        return _split_other(word)
    parts = [part.lower() for part in _PART.findall(word)]
    terms = [part[:_LONGEST] for part in parts if len(part) > 1 and part not in STOP_WORDS]
    if (len(parts) > 1 or "_" in word) and len(word) <= _LONGEST:
        terms.append("=" + word.lower())
    return terms


def _split_other(word: str) -> list[str]:
    folded = _plain_latin(word.casefold())
    terms = []
    for run in re.findall(_UNSPACED, folded):
        terms += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    rest = re.sub(_UNSPACED, " ", folded).split()
    return terms + [part[:_LONGEST] for part in rest if len(part) > 1 and part not in STOP_WORDS]


def _plain_latin(word: str) -> str:
    """Without the accents of Latin letters: people leave them out when they ask. Other scripts stay as they are."""
    if not any("\u00c0" <= char <= "\u024f" for char in word):
        return word
    from unicodedata import combining, normalize

    return "".join(char for char in normalize("NFD", word) if not combining(char))


def text_terms(text: str) -> list[str]:
    """The terms of a text, repeated as often as they occur."""
    terms: list[str] = []
    for word in _WORD.findall(text):
        terms += word_terms(word)
    if "/" in text or "." in text:
        terms += [name_term(name) for name in _NAME.findall(text) if len(name) <= 2 * _LONGEST]
    return terms


def name_term(name: str) -> str:
    """The whole of a path or a dotted name as a term."""
    return ("/" if "/" in name else ".") + name.lower()


def path_term(path: str) -> str:
    """The term by which a path brings its own candidates; also of a file at the top, which has no slash."""
    return "/" + path.lower()


def _path_terms(path: str) -> list[str]:
    terms: list[str] = [path_term(path)]
    for word in _WORD.findall(path):
        terms += word_terms(word)
    return terms


def _all(texts: Iterable[str]) -> list[str]:
    terms: list[str] = []
    for text in texts:
        terms += text_terms(text)
    return terms


def _identifiers(words: Iterable[str]) -> list[str]:
    terms: list[str] = []
    for word in words:
        terms += word_terms(word)
    return terms


def of_change(change: Change) -> Lexical:
    """What is indexed of a commit."""
    fields = (
        text_terms(change.subject),
        text_terms(change.body),
        [term for path in change.files for term in _path_terms(path)],
        _all(change.functions),
        _identifiers(change.added),
        _identifiers(change.removed),
    )
    return _pack(fields, change.lines_added)


def of_memory(memory: Memory) -> Lexical:
    """What is indexed of a memory that somebody wrote.

    Its detail and reasons are its substance, as the added identifiers are a commit's, and share their field and weight; code, of
    which most words are incidental, takes the place of a commit's body. A passage's lines count as a commit's added ones do: without
    that, commits of the same words stood before nearly every passage (docs/ingest.md).
    """
    fields: tuple[list[str], ...] = (
        text_terms(memory.text),
        _identifiers(_WORD.findall(memory.code)),
        [term for anchor in memory.anchors if anchor.path for term in _path_terms(anchor.path)],
        _all((*(anchor.symbol for anchor in memory.anchors), *memory.tags)),
        _all((memory.detail, memory.because, *memory.rejected)),
        [],
    )
    return _pack(fields, memory.detail.count("\n") + 1 if memory.kind == "doc" else 0)


def _pack(fields: Sequence[list[str]], size: int) -> Lexical:
    counts: dict[str, int] = {}
    for field, terms in enumerate(fields):
        shift = field * _BITS
        one, full = 1 << shift, _MOST << shift
        for term in terms:
            packed = counts.get(term, 0)
            if packed & full != full:
                counts[term] = packed + one
    return Lexical(counts, tuple(map(len, fields)), size)


def unpack(packed: int) -> list[tuple[int, int]]:
    """(field, count) of the fields that hold the term."""
    found = []
    field = 0
    while packed:
        count = packed & _MOST
        if count:
            found.append((field, count))
        packed >>= _BITS
        field += 1
    return found
