"""Finding the lines of a symbol again in a text that nobody parsed: compared without blanks, by digests. Light: for the quick path."""

from __future__ import annotations

from zlib import crc32

from hardwon.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.outline import Symbol

    Line = tuple[int, bytes]

# Lines that one search may compare, so that a text of a hundred thousand equal lines does not hold anybody up.
_MOST_COMPARED = 500_000
# How a line ends that holds a declaration, or begins its body; nothing that ends so is an annotation of what follows.
_ENDS = (b";", b"{", b"}", b",")


def folded(content: bytes) -> list[tuple[int, Line]]:
    """The lines that are not blank, and their numbers from 1: of each how far it is indented, and its text without blanks. Line ends
    of every system."""
    text = content.expandtabs(8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # Blanks are taken out of the whole text at once: half the time of doing it line by line.
    pairs = zip(text.split(b"\n"), text.translate(None, b" \v\f").split(b"\n"), strict=True)
    return [(number, (len(line) - len(line.lstrip()), bare)) for number, (line, bare) in enumerate(pairs, 1) if bare]


def measure(lines: Sequence[Line]) -> tuple[int, int, bytes]:
    """Head, rows and span of a symbol's folded lines, as ``Symbol`` keeps them."""
    return (crc32(lines[0][1]) if lines else 0), len(lines), _digest(lines)


class Text:
    """A text in which symbols are looked for by their lines."""

    def __init__(self, content: bytes) -> None:
        self._lines = folded(content)
        self._bare = [line for _, line in self._lines]
        self._at: dict[int, list[int]] = {}
        for place, line in enumerate(self._bare):
            self._at.setdefault(crc32(line[1]), []).append(place)

    def find(self, symbol: Symbol, copies: int = 1) -> tuple[int, int] | None:
        """First and last line of the place where the symbol's lines stand, the nearest to where it was; None where they do not.

        ``copies``: of how many symbols these were the lines. Where fewer places have them, nobody knows which of those was edited.
        """
        places = [place for place in self._at.get(symbol.head, ()) if place + symbol.rows <= len(self._bare)]
        places.sort(key=lambda place: abs(self._lines[place][0] - symbol.first))
        found = None
        for place in places[: max(1, _MOST_COMPARED // max(1, symbol.rows))]:
            if self._is_annotated(place) or self._goes_on(place, symbol.rows):
                continue  # a decorator above it or a line at its end is a part of it, and was none
            if symbol.rows and _digest(self._bare[place : place + symbol.rows]) == symbol.span:
                found = found or (self._lines[place][0], self._lines[place + symbol.rows - 1][0])
                copies -= 1
                if copies <= 0:
                    return found
        return None

    def _goes_on(self, place: int, rows: int) -> bool:
        """Whether the line after so many is indented as if it belonged to what begins with the first."""
        after = place + rows
        return after < len(self._bare) and self._bare[after][0] > self._bare[place][0]

    def _is_annotated(self, place: int) -> bool:
        """Whether the line before is a decorator, annotation or attribute: a symbol that has one begins with it. Not where a declaration
        follows in the same line: ``@Override public void f() {}``."""
        if place == 0:
            return False
        before = self._bare[place - 1][1]
        return before.startswith((b"@", b"#[")) and not before.endswith(_ENDS) and not before.partition(b"//")[0].endswith(_ENDS)

    def lines_of(self, passage: bytes) -> tuple[int, int] | None:
        """First and last line of the only place where a passage stands, blanks aside; None where it stands nowhere, or twice. It may begin
        and end within a line, as what an edit replaces does, but of whole lines that fit no others are looked for."""
        words = [line for _, (_, line) in folded(passage)]
        if not words:
            return None
        places = self._at.get(crc32(words[0]), ())[: max(2, _MOST_COMPARED // len(words))]
        found = [place for place in places if [line for _, line in self._bare[place : place + len(words)]] == words]
        found = found or self._around(words)
        if len(found) != 1:
            return None
        return self._lines[found[0]][0], self._lines[found[0] + len(words) - 1][0]

    def _around(self, words: list[bytes]) -> list[int]:
        """The places of lines within which the words begin and end: at most two."""
        first, inner, last = words[0], words[1:-1], words[-1]
        if len(words) == 1:
            places = (place for place, (_, line) in enumerate(self._bare) for _ in range(line.count(first)))
        else:
            begin = [place for place, (_, line) in enumerate(self._bare[: 1 - len(words)]) if line.endswith(first)]
            places = (
                place
                for place in begin[: max(2, _MOST_COMPARED // len(words))]
                if self._bare[place + len(words) - 1][1].startswith(last)
                and [line for _, line in self._bare[place + 1 : place + len(words) - 1]] == inner
            )
        return [place for place, _ in zip(places, range(2), strict=False)]


def _digest(lines: Sequence[Line]) -> bytes:
    """Over the lines with their indentation below the first: a line that leaves its block changes what Python does."""
    base = lines[0][0] if lines else 0
    return blake2b(b"\n".join(b"%d %b" % (indent - base, line) for indent, line in lines), digest_size=8).digest()


def moved(symbols: Sequence[Symbol], text: Text) -> list[Symbol]:
    """Symbols of an earlier text at their lines in a later one. What was edited itself is where its neighbours leave room for it."""
    places = [text.find(symbol) for symbol in symbols]
    return [
        symbol.replace(first=first, last=last)
        for number, symbol in enumerate(symbols)
        for first, last in (places[number] or _between(symbols, places, number),)
    ]


def _between(symbols: Sequence[Symbol], places: Sequence[tuple[int, int] | None], number: int) -> tuple[int, int]:
    """Where an edited symbol probably is: moved by as many lines as its nearest found neighbours before and after it were."""
    symbol = symbols[number]
    found = [(other, place) for other, place in zip(symbols, places, strict=True) if place]
    before = [place[1] - other.last for other, place in found if other.last < symbol.first]
    after = [place[0] - other.first for other, place in found if other.first > symbol.last]
    first = symbol.first + (before[-1] if before else 0)
    return first, max(first, symbol.last + (after[0] if after else before[-1] if before else 0))
