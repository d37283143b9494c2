"""Which languages call each other, and the calls that may mean a symbol, found by name alone. Light: most often nothing is to resolve."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Call

PYTHON, SCRIPT, GO, RUST, JAVA, C = "python", "script", "go", "rust", "java", "c"
_FAMILIES = {
    PYTHON: "py pyi pyw",
    SCRIPT: "js jsx mjs cjs ts tsx mts cts",
    GO: "go",
    RUST: "rs",
    JAVA: "java",
    C: "c h cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cppm ixx",
}
_BY_EXTENSION = {extension: family for family, extensions in _FAMILIES.items() for extension in extensions.split()}
CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__", "constructor"))
MOST_SITES = 1000  # calls of one symbol that are looked at; of more it is said that they were cut short


def family(path: str) -> str:
    """The languages whose code can call each other: ``python``, ``script`` (JavaScript, TypeScript), ``go``, ``rust``, ``java``,
    ``c`` (with C++); "" for any other file."""
    extension = path[path.rfind(".") + 1 :]
    return _BY_EXTENSION.get(extension) or _BY_EXTENSION.get(extension.lower(), "")


def sites(reader: CodeReader, path: str, symbol: str, most: int = MOST_SITES) -> Iterator[tuple[str, Call]]:
    """The calls that may mean a symbol: those of its name, some more than ``most``, and of the names that files took it under."""
    owner, _, name = symbol.rpartition(".")
    if name in CONSTRUCTORS and owner:
        name = owner.rpartition(".")[2]
    language = family(path)
    for site in reader.calls_to(name, max(0, most) + 1):
        if family(site.path) == language:
            yield site.path, site.call
    for file, taken in reader.importers_of(name):
        if taken.name == name and taken.alias not in ("", name) and family(file) == language:
            for call in reader.calls_in(file):
                if call.name == taken.alias:
                    yield file, call


def among(reader: CodeReader, path: str, symbol: str, choose: Callable[[set[str]], set[str]]) -> list[tuple[str, Call]]:
    """Those of the calls that stand in a declaration with a name, or in one with such a name, which ``choose`` picks from all of
    these: who knows whom to look for is spared to resolve the other calls."""
    found = list(sites(reader, path, symbol))
    chosen = choose({name for _, call in found for name in call.caller.split(".") if name})
    return [site for site in found if chosen.intersection(site[1].caller.split("."))] if chosen else []
