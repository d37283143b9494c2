"""Whether the code that a memory speaks of still is what it was: pinned when something is recorded, judged whenever it is recalled.

Nothing is parsed here. A file is read and named as git names its content; what that content declares is in the index, whatever branch
or worktree brought it there. A content that is not there was edited since: then the lines of the symbol are looked for, and where
they do not stand any more the answer is ``unknown``, never a guess.
"""

from __future__ import annotations

from hardwon.code.names import dotted, last_part, same_symbol
from hardwon.digest import blake2b, git_blob
from hardwon.types import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.code.ground import Files
    from hardwon.code.index import CodeReader, Declared, Trail
    from hardwon.code.outline import Symbol
    from hardwon.code.spans import Text
    from hardwon.types import AnchorState

# Code of fewer tokens (a getter, a delegation) stands in many places: that it is found elsewhere does not tell that it moved there.
SHORT = 30


class Place:
    """What is known of one file as it lies there: its content, its blob, and what that declares."""

    def __init__(self, content: bytes, code: CodeReader, length: int) -> None:
        self.content = content
        self.blob = git_blob(content, length)
        if b"\r\n" in content and not code.knows(self.blob):  # git may keep it with other line ends than it lies there
            plain = git_blob(content.replace(b"\r\n", b"\n"), length)
            self.blob = plain if code.knows(plain) else self.blob
        self._code = code
        self._symbols: list[Symbol] | None = None
        self._is_looked_up = False
        self._text: Text | None = None

    @property
    def symbols(self) -> list[Symbol] | None:
        """What it declares, looked up when first asked for; None where nobody parsed it yet."""
        if not self._is_looked_up:
            self._is_looked_up = True
            self._symbols = None if self._code.skipped(self.blob) else self._code.symbols(self.blob)
        return self._symbols

    @property
    def is_broken(self) -> bool:
        """Whether it was parsed in part only, so that it may declare more."""
        return bool(self.symbols) and self._code.is_broken(self.blob)

    @property
    def text(self) -> Text:
        """Its lines, to look for symbols among them."""
        if self._text is None:
            from hardwon.code.spans import Text  # most files are as they were parsed

            self._text = Text(self.content)
        return self._text

    def is_blob(self, blob: str) -> bool:
        """Whether it has this content, but for line ends."""
        if self.blob == blob:
            return True
        return b"\r\n" in self.content and git_blob(self.content.replace(b"\r\n", b"\n"), len(blob)) == blob


class Judge:
    """Judges anchors against one view of the index and the files as they are. ``head`` is the commit that is checked out."""

    def __init__(self, code: CodeReader, ground: Files, head: str) -> None:
        self._code = code
        self._ground = ground
        self._length = len(head) or 40
        self._is_current = bool(code.indexed_at) and code.commit == head
        self._places: dict[str, Place | None] = {}

    # Pinning

    def pin(self, anchor: Anchor) -> tuple[Anchor, bytes]:
        """The anchor with the content and code that it speaks of, as they are now; and the content where the index has to have it
        parsed before it can tell the code."""
        try:
            place = self.place(anchor.path) if anchor.path else None
        except OSError:
            return anchor, b""
        if place is None:
            return self._pin_by_name(anchor), b""
        pinned: Anchor = anchor.replace(blob=place.blob)
        if not anchor.symbol:
            return pinned, b""
        if found := meant(self.symbols_at(anchor.path), anchor.symbol):
            return pinned.replace(fingerprint=code_of(found)), b""
        return pinned, place.content if place.symbols is None else b""

    def _pin_by_name(self, anchor: Anchor) -> Anchor:
        """A symbol without a file, if only one is called so."""
        found = self._declared(anchor.symbol) if anchor.symbol and not anchor.path else []
        codes = {one.symbol.fingerprint for one in found}
        pinned: Anchor = anchor.replace(fingerprint=codes.pop()) if len(codes) == 1 else anchor
        return pinned

    def symbols_at(self, path: str) -> list[Symbol]:
        """What a file declares as it lies there: parsed, or as far as the lines of what was parsed before stand in it unchanged."""
        place = self.place(path)
        if place is None:
            return []
        if place.symbols is not None:
            return place.symbols
        known = self._code.symbols(self._code.blob_at(path)) or []
        return [symbol for symbol in known if place.text.find(symbol)]

    def declared_at(self, path: str) -> list[Symbol]:
        """What a file declares at which lines now, as well as that is known: an edited symbol is where its neighbours leave room for it.
        Of a file that is gone, what it declared. OSError where it cannot be read."""
        place = self.place(path)
        if place is not None and place.symbols is not None:
            return place.symbols
        known = self._code.symbols(self._code.blob_at(path)) or []
        if place is None:
            return known
        from hardwon.code.spans import moved

        return moved(known, place.text)

    def place(self, path: str) -> Place | None:
        """A file as it lies there; None where there is none. OSError where it cannot be read."""
        if path not in self._places:
            content = self._ground.content(path)
            self._places[path] = None if content is None else Place(content, self._code, self._length)
        return self._places[path]

    # Judging

    def judged(self, anchor: Anchor) -> Anchor:
        """The anchor with its state, and where it is now."""
        try:
            if not anchor.path:
                return self._anywhere(anchor) if anchor.symbol else anchor
            return self._symbol(anchor) if anchor.symbol else self._file(anchor)
        except OSError:
            return self._told(anchor, "unknown")

    def _file(self, anchor: Anchor) -> Anchor:
        place = self.place(anchor.path)
        trail = self._trail(anchor)
        if place is None:
            if trail is None:
                return self._told(anchor, "gone" if anchor.blob and self._is_settled(anchor) else "unknown")
            if not trail.path or (there := self.place(trail.path)) is None:
                return self._told(anchor, "gone" if self._is_settled(anchor) else "unknown", trail)
            return self._told(anchor, "moved" if there.is_blob(anchor.blob) else "changed", trail)
        if not anchor.blob:
            return self._told(anchor, "unknown")
        return self._told(anchor, "same") if place.is_blob(anchor.blob) else self._told(anchor, "changed", trail)

    def _symbol(self, anchor: Anchor) -> Anchor:
        place = self.place(anchor.path)
        if place is not None and anchor.blob and place.is_blob(anchor.blob):
            return self._untouched(anchor, place)
        trail = self._trail(anchor)
        code = anchor.fingerprint or self._pinned_code(anchor) or (trail.fingerprint if trail else "")
        if place is not None and place.symbols is None:
            return self._edited(anchor, place, code, trail)
        return self._sought(anchor, place, code, trail) if code else self._never_seen(anchor, place, trail)

    def _sought(self, anchor: Anchor, place: Place | None, code: str, trail: Trail | None) -> Anchor:
        """Of a file that is gone, or was parsed as it is: the symbol's code decides, at its place or where it went."""
        found = self._at_its_place(anchor, place)
        if found and code_of(found) == code:
            return self._told(anchor, "same")
        if place is not None and place.is_broken and not found:
            return self._told(anchor, "unknown")  # it may stand where the parser lost its way
        elsewhere = self._elsewhere(anchor, code, trail)
        # Its code in another place, and other code under its name: it moved, if that is long enough to tell.
        if found and (elsewhere is None or elsewhere.state != "moved"):
            return self._told(anchor, "changed", trail)
        return elsewhere or self._told(anchor, "gone" if self._is_settled(anchor) else "unknown", trail)

    def _never_seen(self, anchor: Anchor, place: Place | None, trail: Trail | None) -> Anchor:
        """Of a symbol that nobody ever saw in its file (a misspelling, a language without a grammar) nothing is known but the file: it is
        gone with that, and with nothing else."""
        if place is not None or (trail is not None and trail.path):
            return self._told(anchor, "unknown", trail)
        return self._told(anchor, "gone" if anchor.blob and self._is_settled(anchor) else "unknown", trail)

    def _at_its_place(self, anchor: Anchor, place: Place | None) -> list[Symbol]:
        """The symbols of its name in its file: of the very name that it had, if that is known, for one in other letters is another."""
        declared = place.symbols or () if place is not None else ()
        then = self._then(anchor)
        return [one for one in declared if one.qualified == then[0].qualified] if then else meant(declared, anchor.symbol)

    def _then(self, anchor: Anchor) -> list[Symbol]:
        """What the content that it was pinned to declares of it."""
        return meant(self._code.symbols(anchor.blob) or (), anchor.symbol) if anchor.blob else []

    def _is_settled(self, anchor: Anchor) -> bool:
        """Whether the index has seen the files as they are, so that what it does not know is nowhere: it stands at HEAD, and does not
        take the file for one that is there still."""
        return self._is_current and (self.place(anchor.path) is not None or not self._code.blob_at(anchor.path))

    def _untouched(self, anchor: Anchor, place: Place) -> Anchor:
        """Of a file that is what it was, the symbol is as well, unless it never was there: its code was found when it was pinned, or is
        looked for now."""
        if not anchor.fingerprint and place.symbols is not None and not meant(place.symbols, anchor.symbol):
            return self._told(anchor, "unknown")
        return self._told(anchor, "same")

    def _pinned_code(self, anchor: Anchor) -> str:
        """The fingerprint that the symbol had, by the content that it was pinned to."""
        return code_of(self._then(anchor))

    def _edited(self, anchor: Anchor, place: Place, code: str, trail: Trail | None) -> Anchor:
        """Of a file that nobody parsed as it is: the symbol's own lines decide."""
        then = self._then(anchor)
        if then and _stand(place, then, self._code.symbols(anchor.blob) or ()):
            return self._told(anchor, "same")
        last = self._code.symbols(self._code.blob_at(anchor.path)) or ()
        indexed = [one for one in last if one.qualified == then[0].qualified] if then else meant(last, anchor.symbol)
        if code and indexed and _stand(place, indexed, last):
            return self._told(anchor, "same") if code_of(indexed) == code else self._told(anchor, "changed", trail)
        return self._told(anchor, "unknown")

    def _elsewhere(self, anchor: Anchor, code: str, trail: Trail | None) -> Anchor | None:
        """Where it went: as git's history tells, or where the same code stands now. None where neither is known."""
        if trail is not None and trail.path:
            there = self.place(trail.path)
            symbols = there.symbols if there else None
            if symbols is None:
                return self._told(anchor, "unknown", trail)
            found = [symbol for symbol in symbols if symbol.qualified == trail.symbol]
            if found:
                return self._told(anchor, "moved" if code_of(found) == code else "changed", trail)
        alike = self._alike(anchor, code) if trail is None and code else []
        if len(alike) == 1:  # of several nobody knows which it was, if not a copy of it
            moved: Anchor = anchor.replace(state="moved", now_path=alike[0][0], now_symbol=alike[0][1])
            return moved
        return self._told(anchor, "gone", trail) if trail is not None and self._is_settled(anchor) else None

    def _alike(self, anchor: Anchor, code: str) -> list[tuple[str, str]]:
        """Path and symbol of the same code as the files are now, if it is long enough to tell; only those of its own name, if there are
        such. Of the index are taken the files only: where it is behind, the code may be called otherwise by now."""
        then = self._code.symbols(anchor.blob) or () if anchor.blob else ()
        copies = {(anchor.path, one.qualified) for one in then if one.fingerprint == code}
        paths = dict.fromkeys([*([anchor.path] if anchor.path else ()), *(one.path for one in self._code.like(code))])
        places = [
            (path, symbol.qualified)
            for path in paths
            for symbol in self._declares(path)
            if symbol.fingerprint == code and symbol.tokens >= SHORT and (path, symbol.qualified) not in copies
        ]
        name = last_part(anchor.symbol)
        return [one for one in places if last_part(one[1]) == name] or places

    def _declares(self, path: str) -> Sequence[Symbol]:
        """What a file declares, if it was parsed as it is now."""
        place = self.place(path)
        return place.symbols or () if place is not None else ()

    def _anywhere(self, anchor: Anchor) -> Anchor:
        """A symbol without a file: wherever the index knows it."""
        if not anchor.fingerprint or not self._code.indexed_at:
            return self._told(anchor, "unknown")
        found = self._declared(anchor.symbol)
        if any(one.symbol.fingerprint == anchor.fingerprint for one in found):
            return self._told(anchor, "same") if self._holds(found, anchor) else self._told(anchor, "unknown")
        if moved := self._elsewhere(anchor, anchor.fingerprint, None):
            return moved
        if not self._is_current:
            return self._told(anchor, "unknown")
        return self._told(anchor, "changed" if found else "gone")

    def _holds(self, found: Iterable[Declared], anchor: Anchor) -> bool:
        """Whether one of the files that declared it so still does."""
        code = anchor.fingerprint
        paths = (one.path for one in found if one.symbol.fingerprint == code)
        return any(symbol.fingerprint == code for path in paths for symbol in self.symbols_at(path))

    def _declared(self, symbol: str) -> list[Declared]:
        found = self._code.named(last_part(symbol, fold=False))
        return [one for one in found if same_symbol(one.symbol.qualified, symbol)]

    def _trail(self, anchor: Anchor) -> Trail | None:
        return self._code.trail(anchor.path, anchor.symbol, anchor.blob, anchor.commit)

    def _told(self, anchor: Anchor, state: AnchorState, trail: Trail | None = None) -> Anchor:
        if trail is None:
            plain: Anchor = anchor.replace(state=state)
            return plain
        moved = state != "gone" and self._is_there(anchor, trail)
        told: Anchor = anchor.replace(
            state=state,
            now_path=trail.path if moved else "",
            now_symbol=trail.symbol if moved else "",
            changed_by=trail.changed_by if state in ("changed", "gone") else "",
            changed_at=trail.changed_at if state in ("changed", "gone") else None,
        )
        return told

    def _is_there(self, anchor: Anchor, trail: Trail) -> bool:
        """Whether a trail leads to another place, and that still is one: the files may be of another commit than when it was found, and
        a pointer to what is not there is worse than none."""
        if not trail.path:
            return False
        if not trail.symbol:
            return trail.path != anchor.path and self.place(trail.path) is not None
        then = self._then(anchor)
        if (trail.path, trail.symbol) == (anchor.path, then[0].qualified if then else dotted(anchor.symbol)):
            return False
        return any(symbol.qualified == trail.symbol for symbol in self.symbols_at(trail.path))


def _stand(place: Place, symbols: Iterable[Symbol], declared: Sequence[Symbol]) -> bool:
    """Whether the lines of symbols stand in a file, and as often as its content of then (what that ``declared``) had them."""
    return all(
        place.text.find(
            symbol, sum((one.head, one.rows, one.span) == (symbol.head, symbol.rows, symbol.span) for one in declared)
        )
        for symbol in symbols
    )


def meant(symbols: Iterable[Symbol], name: str) -> list[Symbol]:
    """The declarations that a person's spelling means in a file: the very name first, then by its end. All of that name: overloads,
    the two halves of a property, a type and the value that is called like it."""
    symbols = list(symbols)
    exact = dotted(name)
    if found := [symbol for symbol in symbols if symbol.qualified == exact]:
        return found
    found = [symbol for symbol in symbols if same_symbol(symbol.qualified, name)]
    found.sort(
        key=lambda symbol: (
            last_part(symbol.qualified, fold=False) != last_part(name, fold=False),
            symbol.qualified.count("."),
            -symbol.tokens,
        )
    )
    return [symbol for symbol in symbols if symbol.qualified == found[0].qualified] if found else []


def code_of(declarations: Sequence[Symbol]) -> str:
    """The fingerprint of all declarations of one name in a file; "" of none."""
    if len(declarations) < 2:
        return declarations[0].fingerprint if declarations else ""
    joined = "".join(symbol.fingerprint for symbol in sorted(declarations, key=lambda symbol: symbol.first))
    return blake2b(joined.encode(), digest_size=8).hexdigest()


def within(symbols: Iterable[Symbol], first: int, last: int) -> list[Symbol]:
    """The symbols that lines belong to: those that overlap them and hold no other that does so around all of the lines."""
    touched = [symbol for symbol in symbols if symbol.first <= last and symbol.last >= first]
    return [
        symbol
        for symbol in touched
        # One that lies in the lines as a whole has none around the same part of them: without this, a whole file takes the square.
        if (first <= symbol.first and symbol.last <= last)
        or not any(
            other is not symbol
            and symbol.first <= other.first
            and other.last <= symbol.last
            and _around(other, symbol, first, last)
            for other in touched
        )
    ]


def _around(inner: Symbol, outer: Symbol, first: int, last: int) -> bool:
    """Whether the part of the lines that lies in the outer symbol lies in the inner one."""
    return (
        inner.first <= max(first, outer.first)
        and inner.last >= min(last, outer.last)
        and (inner.first, inner.last) != (outer.first, outer.last)
    )
