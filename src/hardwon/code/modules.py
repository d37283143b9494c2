"""Which files of a tree an import means, by the conventions of its language. Paths only: no file is opened, nothing is parsed."""

from __future__ import annotations

from posixpath import dirname, join, normpath

from hardwon.code.calling import GO, JAVA, PYTHON, RUST, SCRIPT, C, family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.code.index import CodeReader

_SCRIPTS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_HOSTED = 3  # elements of a Go module's name: host, owner, repository


class Modules:
    """The files behind the modules that a tree's files import. Each question is asked once."""

    def __init__(self, reader: CodeReader) -> None:
        self._reader = reader
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        self._there: dict[str, bool] = {}
        self._folders: dict[str, tuple[str, ...]] | None = None
        self._go_names: tuple[str, ...] | None = None
        self._rules: dict[str, Callable[[str, str], Iterable[str]]] = {
            PYTHON: self._python, SCRIPT: self._script, GO: self._go, RUST: self._rust, JAVA: self._java, C: self._c,
        }  # fmt: skip

    def files(self, path: str, module: str) -> tuple[str, ...]:
        """The files that ``module``, imported by the file ``path``, stands for: one, or in Go and Java those of a folder; none for a
        module that is not of this tree."""
        language = family(path)
        key = (dirname(path) if language != RUST else path, f"{language}:{module}")
        if key not in self._known:
            rule = self._rules.get(language)
            self._known[key] = tuple(rule(path, module)) if rule else ()
        return self._known[key]

    def exists(self, path: str) -> bool:
        """Whether this tree has that file."""
        if path not in self._there:
            self._there[path] = bool(self._reader.blob_at(path))
        return self._there[path]

    def in_folder(self, folder: str, language: str) -> tuple[str, ...]:
        """The files of a language that stand in a folder, not below it."""
        if self._folders is None:
            grouped: dict[str, list[str]] = {}
            for path in self._reader.paths():
                grouped.setdefault(dirname(path), []).append(path)
            self._folders = {folder: tuple(paths) for folder, paths in grouped.items()}
        return tuple(path for path in self._folders.get(folder, ()) if family(path) == language)

    # Python

    def _python(self, path: str, module: str) -> Iterable[str]:
        bare = module.lstrip(".")
        tail = bare.replace(".", "/")
        if bare != module:
            folder = dirname(path)
            for _ in range(len(module) - len(bare) - 1):
                folder = dirname(folder)
            return self._first(join(folder, tail) if tail else folder, "/__init__.py", ".py", ".pyi")
        beside = self._first(join(dirname(path), tail), ".py", "/__init__.py") if not self._in_package(dirname(path)) else []
        return beside or self._rooted(tail, path)

    def _rooted(self, tail: str, path: str) -> list[str]:
        """The module's file below a folder that is no package itself, so that it can be on Python's path; the nearest to the asker."""
        found = []
        for ending in (f"{tail}/__init__.py", f"{tail}.py", f"{tail}.pyi"):
            for one in self._reader.ending(ending):
                root = one[: -len(ending)].rstrip("/")
                if not self._in_package(root):
                    found.append(one)
            if found:
                break
        return nearest(found, path)

    def _in_package(self, folder: str) -> bool:
        return self.exists(join(folder, "__init__.py"))

    # JavaScript and TypeScript

    def _script(self, path: str, module: str) -> Iterable[str]:
        if module.startswith("."):
            return self._script_at(normpath(join(dirname(path), module)))
        for prefix in ("@/", "~/", "#/"):  # the usual aliases of the folder of sources
            if module.startswith(prefix):
                rest = module.removeprefix(prefix)
                return self._ending_script([f"src/{rest}", rest], path)
        scoped = module.startswith("@")
        name, _, rest = (module.partition("/")[2] if scoped else module).partition("/")
        # A package of the same repository, by the name of its folder.
        places = [f"{name}/src/{rest}", f"{name}/{rest}"] if rest else [f"{name}/src", f"{name}/lib", name]
        return self._ending_script(places, path, index_only=not rest)

    def _script_at(self, place: str) -> list[str]:
        if place == ".":
            return self._first("", *(f"index{ending}" for ending in _SCRIPTS))
        for written in _WRITTEN:
            if place.endswith(written):
                if found := self._first(place.removesuffix(written), *_SCRIPTS):
                    return found
                return self._first(place, "")
        return self._first(place, *_SCRIPTS, *(f"/index{ending}" for ending in _SCRIPTS))

    def _ending_script(self, places: Iterable[str], path: str, *, index_only: bool = False) -> list[str]:
        for place in places:
            for ending in (*(() if index_only else (".ts", ".tsx", ".js")), "/index.ts", "/index.tsx", "/index.js"):
                if found := self._reader.ending(place + ending):
                    return nearest(found, path)
        return []

    # Go

    def _go(self, path: str, module: str) -> Iterable[str]:
        del path
        for name in self._own_go_names():
            if module == name or module.startswith(f"{name}/"):
                return self.in_folder(module[len(name) + 1 :], GO)
        parts = module.split("/")
        if "." not in parts[0]:
            return ()
        folder = "/".join(parts[_HOSTED:])
        return self.in_folder(folder, GO) if folder else ()

    def _own_go_names(self) -> tuple[str, ...]:
        """The names of this tree's modules, longest first, as told by imports that end in one of its folders: go.mod is no code, and
        not in the index."""
        if self._go_names is None:
            self.in_folder("", GO)
            folders = [folder for folder in self._folders or {} if folder and self.in_folder(folder, GO)]
            counts: dict[str, int] = {}
            for folder in sorted(folders, key=lambda folder: (folder.count("/"), folder))[:40]:
                for _, taken in self._reader.importers_of(folder.rpartition("/")[2], 20):
                    name = taken.module.removesuffix(f"/{folder}")
                    if name != taken.module and "." in name.partition("/")[0]:
                        counts[name] = counts.get(name, 0) + 1
            # A library may have a folder of the same name as one of ours; ours is imported more often and by more folders.
            best = max(counts.values(), default=0)
            self._go_names = tuple(sorted((name for name, count in counts.items() if count * 2 >= best), key=len, reverse=True))
        return self._go_names

    # Rust

    def _rust(self, path: str, module: str) -> Iterable[str]:
        parts = [part for part in module.split("::") if part]
        if not parts:
            return ()
        folder = self._rust_folder(path)
        if parts[0] == "crate":
            return self._rust_below(self._crate(path), parts[1:])
        if parts[0] in ("self", "super"):
            while parts and parts[0] == "super":
                folder, parts = dirname(folder), parts[1:]
            return self._rust_below(folder, parts[1:] if parts[:1] == ["self"] else parts)
        if found := self._rust_below(folder, parts):
            return found
        for name in (parts[0], parts[0].replace("_", "-"), parts[0].rpartition("_")[2]):
            if roots := nearest(self._reader.ending(f"{name}/src/lib.rs"), path):
                return self._rust_below(dirname(roots[0]), parts[1:])
        return ()

    def _rust_below(self, folder: str, parts: list[str]) -> list[str]:
        """The file of a module below a folder; the deepest that stands, for what follows may be declared in it."""
        for length in range(len(parts), 0, -1):
            if found := self._first(join(folder, *parts[:length]), ".rs", "/mod.rs"):
                return found
        return self._first(folder, "/lib.rs", "/main.rs", "/mod.rs", ".rs") if not parts or parts[0][:1].isupper() else []

    def _rust_folder(self, path: str) -> str:
        """The folder of a file's child modules."""
        name = path.rpartition("/")[2]
        return dirname(path) if name in ("mod.rs", "lib.rs", "main.rs") else path.removesuffix(".rs")

    def _crate(self, path: str) -> str:
        folder = dirname(path)
        while folder and not (self.exists(f"{folder}/lib.rs") or self.exists(f"{folder}/main.rs")):
            folder = dirname(folder)
        return folder

    # Java, C and C++

    def _java(self, path: str, module: str) -> Iterable[str]:
        parts = module.removesuffix(".*").split(".")
        for length in range(len(parts), max(0, len(parts) - 3), -1):  # a class, a class in it, or a member
            if found := self._reader.ending("/".join(parts[:length]) + ".java"):
                return nearest(found, path)
        return ()

    def _c(self, path: str, module: str) -> Iterable[str]:
        beside = normpath(join(dirname(path), module))
        return [beside] if self.exists(beside) else nearest(self._reader.ending(normpath(module).lstrip("./")), path)

    def _first(self, place: str, *endings: str) -> list[str]:
        for ending in endings:
            if self.exists(place + ending):
                return [place + ending]
        return []


def nearest(paths: Iterable[str], to: str) -> list[str]:
    """The path that shares most folders with another, then the shortest; at most one."""
    here = to.split("/")[:-1]

    def far(path: str) -> tuple[int, int, str]:
        folders = path.split("/")[:-1]
        shared = next(
            (place for place, (one, two) in enumerate(zip(here, folders, strict=False)) if one != two),
            min(len(here), len(folders)),
        )
        return -shared, len(folders), path

    return sorted(paths, key=far)[:1]
