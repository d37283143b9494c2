"""Which files of a repository are read as code: by path, by size and by a look at their beginning. Light: no parser is loaded."""

from __future__ import annotations

from hardwon.code.ground import LARGEST

__all__ = ["LARGEST", "language_of", "skipped_content", "skipped_path"]

_LOOKED_AT = 8000  # bytes in which a NUL means binary, as git does
_HEAD = 2048  # bytes in which a generator says so
# People break lines; minifiers do not. The longest average among 3,000 files that people wrote was 120.
_MINIFIED_LINE, _MINIFIED_FROM = 500, 4000

_ENDINGS = {
    "python": ("py", "pyi", "pyw"),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "typescript": ("ts", "mts", "cts"),
    "tsx": ("tsx",),
    "go": ("go",),
    "rust": ("rs",),
    "java": ("java",),
    "c": ("c", "h"),
    "cpp": ("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tpp", "cppm", "ixx"),
}
_LANGUAGES = {ending: language for language, endings in _ENDINGS.items() for ending in endings}
_VENDORED = frozenset(
    (
        "vendor", "node_modules", "third_party", "thirdparty", "third-party", "3rdparty", "bower_components", "site-packages",
        ".venv", "venv", ".tox", ".nox", "__pypackages__", "Pods",
    )
)  # fmt: skip
# Folders whose name alone does not tell: of ``build`` only what build tools write into it, for many projects keep their own build
# scripts there; ``dist`` where scripts are bundled, for elsewhere it is short for "distributed"; ``external`` at the top.
_BUILT = frozenset(("lib", "classes", "generated", "intermediates"))
_BUNDLED = frozenset(("javascript", "typescript", "tsx"))
_GENERATED_ENDINGS = ("_pb2", "_pb2_grpc", ".pb", ".pb.gw", ".min", "-min", ".bundle", "_generated", ".generated", "_gen.pb")
_COMMENT_SIGNS = (b"//", b"#", b"/*", b"*", b"--", b"<!--", b'"""')
_HANDS_OFF = (b"do not edit", b"don't edit", b"do not modify", b"not be edited", b"not edit this", b"automatically generated")


def language_of(path: str) -> str:
    """The language of a file by its name, "" for one without a grammar. A header ``.h`` is ``c`` until its text is seen."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return _LANGUAGES.get(ending if ending == "C" else ending.lower(), "") if stem and dot else ""


def skipped_path(path: str, size: int = 0) -> str:
    """Why a file is not worth reading, by its path (with slashes, from the root) and its size in bytes: ``language``, ``vendored``,
    ``generated`` or ``large``; "" where nothing speaks against it."""
    language = language_of(path)
    if not language:
        return "language"
    folders = path.split("/")
    name = folders.pop()
    if _is_vendored(folders, language):
        return "vendored"
    if name.rpartition(".")[0].endswith(_GENERATED_ENDINGS) or name.startswith("zz_generated"):
        return "generated"
    return "large" if size > LARGEST else ""


def skipped_content(content: bytes) -> str:
    """Why a text is not read, by itself: ``binary``, ``large`` or ``generated`` (its head says so, or it is minified), else ""."""
    if b"\0" in content[:_LOOKED_AT]:
        return "binary"
    if len(content) > LARGEST:
        return "large"
    lines = content.count(b"\n") + content.count(b"\r") + 1
    if len(content) > _MINIFIED_FROM and len(content) / lines > _MINIFIED_LINE:
        return "generated"
    return "generated" if any(map(_says_generated, content[:_HEAD].splitlines())) else ""


def _is_vendored(folders: list[str], language: str) -> bool:
    if not _VENDORED.isdisjoint(folders) or folders[:1] == ["external"]:
        return True
    if "dist" in folders and language in _BUNDLED:
        return True
    return "build" in folders[:-1] and not _BUILT.isdisjoint(folders[folders.index("build") + 1 :][:1])


def _says_generated(line: bytes) -> bool:
    """Whether a line is a comment in which a generator speaks of this file."""
    line = line.strip()
    if not line.startswith(_COMMENT_SIGNS):
        return False
    if b"@generated" in line and b"`@generated" not in line:
        return True
    if b"GENERATED CODE" in line or b"GENERATED FILE" in line:
        return True
    folded = line.lower()
    return b"generated" in folded and any(words in folded for words in _HANDS_OFF)
