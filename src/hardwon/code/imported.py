"""What a file imports: one function a language, from the node of a statement to modules, names and aliases."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tree_sitter import Node

    from hardwon.code.captured import Captured

    Taken = tuple[str, str, str]  # module, name, alias

MOST_IMPORTS, _LONGEST = 5000, 400  # a file; characters of a name


def imports(captured: Captured, language: str, source: bytes) -> Iterator[tuple[int, Taken]]:
    """Position (bytes) and what is taken, statement by statement, by position; at most MOST_IMPORTS."""
    read, text = _READERS[language], _Text(source)
    found = [(node.start_byte, one) for node in captured.imports[:MOST_IMPORTS] for one in read(node, text)]
    for asked, named, taken in list(captured.required.values())[:MOST_IMPORTS]:
        found += [(asked.start_byte, one) for one in _required(asked, named, taken, text)]
    found.sort(key=lambda item: item[0])
    for position, (module, name, alias) in found[:MOST_IMPORTS]:
        if module and max(len(module), len(name), len(alias)) <= _LONGEST:
            yield position, (module, name, alias)


class _Text:
    """The text of nodes, without blanks. (A node's own ``text`` reads the whole file again where it was parsed piece by piece.)"""

    def __init__(self, source: bytes) -> None:
        self._source = source

    def of(self, node: Node | None) -> str:
        if node is None:
            return ""
        text = self._source[node.start_byte : min(node.end_byte, node.start_byte + 2 * _LONGEST)]
        return "".join(text.decode("utf-8", "replace").split())

    def unquoted(self, node: Node | None) -> str:
        return self.of(node).strip("\"'`<>")

    def field(self, node: Node, name: str) -> str:
        return self.of(node.child_by_field_name(name))


def _python(node: Node, text: _Text) -> Iterator[Taken]:
    module = "__future__" if node.type == "future_import_statement" else text.field(node, "module_name")
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield module, "*", ""
    for one in node.children_by_field_name("name"):
        aliased = one.type == "aliased_import"
        name, alias = (text.field(one, "name"), text.field(one, "alias")) if aliased else (text.of(one), "")
        if module:
            yield module, name, alias or name
        else:
            yield name, "", alias or name


def _ecma(node: Node, text: _Text) -> Iterator[Taken]:
    module = text.unquoted(node.child_by_field_name("source"))
    if node.type == "export_statement":
        yield from _exported(node, module, text)
        return
    clauses = [child for child in node.named_children if child.type in ("import_clause", "import_require_clause")]
    if not clauses:
        yield module, "", ""
    for clause in clauses:
        if clause.type == "import_require_clause":
            yield text.unquoted(clause.child_by_field_name("source")), "", text.of(clause.named_children[0])
            continue
        for one in clause.named_children:
            if one.type == "identifier":
                yield module, "default", text.of(one)
            elif one.type == "namespace_import":
                yield module, "*", text.of(one.named_children[-1]) if one.named_children else ""
            elif one.type == "named_imports":
                yield from _specified(one, module, text)


def _exported(node: Node, module: str, text: _Text) -> Iterator[Taken]:
    clauses = [child for child in node.named_children if child.type in ("export_clause", "namespace_export")]
    if not clauses:
        yield module, "*", ""
    for clause in clauses:
        if clause.type == "export_clause":
            yield from _specified(clause, module, text)
        else:
            yield module, "*", text.of(clause.named_children[-1]) if clause.named_children else ""


def _specified(clause: Node, module: str, text: _Text) -> Iterator[Taken]:
    for one in clause.named_children:
        if name := text.unquoted(one.child_by_field_name("name")):
            yield module, name, text.unquoted(one.child_by_field_name("alias")) or name


def _required(source: Node, named: Node | None, taken: Node | None, text: _Text) -> Iterator[Taken]:
    """``const a = require("m")``, ``const {a, b: c} = require("m")``, ``const a = require("m").b``, ``import("m")``."""
    module = text.unquoted(source)
    if named is None or named.type == "identifier":
        yield module, text.of(taken), text.of(named)
        return
    for one in named.named_children:
        if one.type == "shorthand_property_identifier_pattern":
            yield module, text.of(one), text.of(one)
        elif one.type == "pair_pattern":
            yield module, text.field(one, "key"), text.field(one, "value")


def _go(node: Node, text: _Text) -> Iterator[Taken]:
    module = text.unquoted(node.child_by_field_name("path"))
    alias = text.field(node, "name")
    if alias == "_":
        yield module, "", ""
    elif alias == ".":
        yield module, "*", ""
    else:
        yield module, "", alias or _package(module)


def _package(module: str) -> str:
    """The name that a package most likely has: the last part of its path that is no version."""
    parts = module.split("/")
    if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit():
        parts.pop()
    name, _, version = parts[-1].rpartition(".")
    return name if name and version[:1] == "v" and version[1:].isdigit() else parts[-1]


def _rust(node: Node, text: _Text) -> Iterator[Taken]:
    if node.type == "extern_crate_declaration":
        name = text.field(node, "name")
        yield name, "", text.field(node, "alias") or name
        return
    # A tree of paths, taken apart without recursion: it can be nested as deep as a file is long.
    todo = [("", child) for child in (node.child_by_field_name("argument"),) if child is not None]
    while todo and len(todo) < MOST_IMPORTS:
        path, one = todo.pop()
        if one.type == "use_list":
            todo += [(path, child) for child in reversed(one.named_children)]
        elif one.type == "scoped_use_list":
            inner = one.child_by_field_name("list")
            todo += [(_joined(path, text.field(one, "path")), inner)] if inner is not None else []
        elif one.type == "use_wildcard":
            yield _joined(path, text.of(one).removesuffix("*").removesuffix("::")), "*", ""
        elif one.type == "use_as_clause":
            yield _used(path, text.field(one, "path"), text.field(one, "alias"))
        elif not one.type.endswith("comment"):
            yield _used(path, text.of(one), "")


def _joined(path: str, inner: str) -> str:
    return "::".join(part for part in (path, inner) if part)[: _LONGEST + 1]


def _used(path: str, inner: str, alias: str) -> Taken:
    whole = path if inner == "self" and path else _joined(path, inner)
    module, _, name = whole.rpartition("::")
    if inner == "self" or not module:
        return whole, "", "" if alias == "_" else alias or name
    return module, name, "" if alias == "_" else alias or name


def _java(node: Node, text: _Text) -> Iterator[Taken]:
    children = node.named_children
    path = next((text.of(child) for child in children if child.type in ("scoped_identifier", "identifier")), "")
    static = any(child.type == "static" for child in node.children)
    if any(child.type == "asterisk" for child in children):
        yield path, "*", ""
    elif static:
        module, _, name = path.rpartition(".")
        yield module, name, name
    else:
        yield path, "", path.rpartition(".")[2]


def _c(node: Node, text: _Text) -> Iterator[Taken]:
    if node.type == "preproc_include":
        yield text.unquoted(node.child_by_field_name("path")), "", ""
        return
    path = next((text.of(child) for child in node.named_children), "")
    if any(child.type == "namespace" for child in node.children):
        yield path, "*", ""
    else:
        module, _, name = path.rpartition("::")
        yield module, name, name


_READERS: Mapping[str, Callable[[Node, _Text], Iterator[Taken]]] = {
    "python": _python,
    "javascript": _ecma,
    "typescript": _ecma,
    "tsx": _ecma,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _c,
    "cpp": _c,
}
