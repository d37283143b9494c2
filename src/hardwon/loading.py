"""Hardwon's own modules found and loaded with fewer questions to the system: for the command, which loads some sixty and ends.

Python asks of each module which of six kinds of file it is, lists its folder, and does the arithmetic in Python; that takes a third of
what ``before`` costs beyond a bare interpreter. A module of this package that was compiled before, and whose source is still what was
compiled, by time and size as Python itself checks it, is taken from there. Everything else (the first run, an edited source, a package
in an archive, other settings of Python) is left to Python. Only the command turns it on: a program that uses Hardwon keeps its own.
"""

from __future__ import annotations

import _frozen_importlib_external as external
import sys
from _frozen_importlib import ModuleSpec
from marshal import loads
from posix import O_CLOEXEC, O_RDONLY, close, open, read, stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

_PACKAGE = "hardwon."
_LARGEST = 1 << 16  # bytes of a compiled file that is taken, so that one call reads it
_HEAD = 16  # bytes of a compiled file: magic, flags (0: checked by time), time and size of the source


class Loader(external.SourceFileLoader):
    """Python's own, which has the code already."""

    code: CodeType

    def get_code(self, fullname: str) -> CodeType:
        """The code that was found."""
        return self.code


class Finder:
    """To be put before Python's own finders."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module of this package is, with its code; None for all that Python shall look for itself."""
        if not path or not name.startswith(_PACKAGE):
            return None
        folder, last = path[0], name.rpartition(".")[2]
        found = _compiled(name, f"{folder}/{last}.py", f"{folder}/__pycache__/{last}{_ENDING}")
        if found is None:
            folder = f"{folder}/{last}"
            found = _compiled(name, f"{folder}/__init__.py", f"{folder}/__pycache__/__init__{_ENDING}")
            if found is not None:
                found.submodule_search_locations = [folder]
        return found


_ENDING = f".{sys.implementation.cache_tag}.pyc"


def _compiled(name: str, source: str, compiled: str) -> ModuleSpec | None:
    try:
        is_now = stat(source)
        raw = _read(compiled)
    except OSError:
        return None
    head = external.MAGIC_NUMBER + b"\0\0\0\0" + _word(int(is_now.st_mtime)) + _word(is_now.st_size)
    if raw[:_HEAD] != head or len(raw) == _LARGEST:
        return None
    loader = Loader(name, source)
    loader.code = loads(memoryview(raw)[_HEAD:])  # noqa: S302 - what Python itself would load
    spec = ModuleSpec(name, loader, origin=source)
    spec.has_location = True
    spec.cached = compiled
    return spec


def _read(path: str) -> bytes:
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try:
        return read(descriptor, _LARGEST)
    finally:
        close(descriptor)


def _word(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


def install() -> None:
    """Turn it on, where Python's settings are the usual ones."""
    if sys.pycache_prefix is None and not sys.flags.optimize and sys.implementation.cache_tag:
        sys.meta_path.insert(0, Finder)
