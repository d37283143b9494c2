"""What people and programs call memories, symbols and changes, in the terms of the store."""

from __future__ import annotations

from hardwon.errors import InvalidInput, NotFound
from hardwon.types import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.base import Reader
    from hardwon.types import Memory

# How an item's own id begins as another name of its memory: a program's "12" is not memory number 12.
OWN = "own:"


def named(reader: Reader, reference: str) -> Memory:
    """The memory that a person's reference means: a number, an id, a commit, another name; NotFound when none or several."""
    name = reference.strip()
    other = reader.aliased(own_name(name.removeprefix(OWN)) if name.startswith(OWN) else name)
    try:
        found = reader.lookup(reference)
    except InvalidInput:
        if not other:
            raise
        found = []
    # Another name comes with an import, from anywhere: it shall not stand for what is named by a number, an id or a commit.
    if other and not found:
        found = [other]
    if not found:
        raise NotFound(f"no memory is called {reference}", field="id", remedy="`hardwon recall` and `hardwon query` show ids")
    if len(found) > 1:
        raise NotFound(f"{reference} means more than one memory", field="id", remedy="give more digits")
    return reader.get(found)[0]


def own_name(name: str) -> str:
    """How a program's own id is kept; one that looks like a secret (a random word may) as its digest."""
    from hardwon.intake.redact import redact

    if not redact(name)[1]:
        return OWN + name
    from hardwon.digest import blake2b

    return OWN + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def spelt(symbol: str) -> str:
    """A symbol that is asked about, in the spelling in which it would be kept."""
    if symbol.isascii() and symbol.isprintable():
        return symbol.strip()
    from hardwon.intake.shape import clean_text

    return clean_text(symbol, "symbol", len(symbol) + 1)


def with_files(reader: Reader, memory: Memory) -> Memory:
    """A change with the files that it touched as its anchors; any other memory as it is."""
    change = reader.change(memory.id) if memory.kind == "change" else None
    if change is None:
        return memory
    dressed: Memory = memory.replace(anchors=tuple(Anchor(path, "", change.sha) for path in change.files))
    return dressed
